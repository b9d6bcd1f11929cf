"""Summaries: as good as their outcomes, never cut by the pilot, never looked at half way, and kept like any outcome."""

import csv
import io
import json

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Experiment, Exponential, Gaussian, Poisson, Product, Study
from prepex.experiment import EarlySummaryError
from prepex.sampling import APE, PSIPS, Auer, FraPPE
from prepex.stopping import Certified
from prepex.study import session
from prepex.study import state as states
from prepex.study.check import check
from prepex.study.events import GENESIS, seal

FAMILIES = {
    "gaussian": Gaussian(covariance=[[0.5, 0.2], [0.2, 0.3]]),
    "own covariances": Gaussian(covariance=[[[1.0, 0.1], [0.1, 0.3]], np.eye(2), [[0.5, -0.2], [-0.2, 0.5]]]),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "exponential": Exponential(),
    "product": Product([Bernoulli(), Gaussian(variance=0.4)]),
}
TRUTH = np.array([[0.7, 0.3], [0.4, 0.6], [0.3, 0.25]])


def draw(rng, family, arm, n):
    """n outcomes (n, 2)."""
    p = TRUTH[arm]
    if isinstance(family, Bernoulli):
        return (rng.random((n, 2)) < p).astype(float)
    if isinstance(family, Poisson):
        return rng.poisson(p, (n, 2)).astype(float)
    if isinstance(family, Exponential):
        return rng.exponential(p, (n, 2))
    if isinstance(family, Product):
        return np.column_stack([rng.random(n) < p[0], rng.normal(p[1], 0.6, n)])
    return rng.normal(p, 0.6, (n, 2))


def experiment(family, **options):
    given = {"delta": 1e-12, "minimise": (1,), "threshold": Certified(pilot=2), "cone": Cone.angle(100), **options}
    return Experiment(3, 2, family=family, **given)


def after_pilot(family, rng, **options):
    """Two in the same state, the pilot just over."""
    pair = experiment(family, **options), experiment(family, **options)
    for arm in (0, 1, 2, 0, 1, 2):
        outcome = draw(rng, family, arm, 1)[0]
        for one in pair:
            one.tell(arm, outcome)
    return pair


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("threshold", [Certified(pilot=2), "heuristic"], ids=["certified", "heuristic"])
def test_a_summary_is_as_good_as_its_outcomes(name, threshold):
    family, rng = FAMILIES[name], np.random.default_rng(1)
    one, other = after_pilot(family, rng, threshold=threshold)
    for arm, n in ((0, 170), (1, 190), (2, 2), (0, 1), (2, 180), (0, 5)):
        outcomes = draw(rng, family, arm, n)
        one.tell_many([(arm, outcome) for outcome in outcomes])
        other.tell_summary(arm, n, outcomes.mean(axis=0))
        assert other.n_pulls == one.n_pulls and other.counts.tolist() == one.counts.tolist()
        np.testing.assert_allclose(other.means, one.means, rtol=1e-12)
        assert other.reached == pytest.approx(one.reached, rel=1e-9, abs=1e-9)
        assert other.needed == pytest.approx(one.needed, rel=1e-12)
        assert other.evidence.value == pytest.approx(one.evidence.value, rel=1e-9, abs=1e-9)
    assert np.isfinite(one.reached) and not one.done
    # What comes afterwards is the same as well.
    for arm in (0, 1, 2):
        outcome = draw(rng, family, arm, 1)[0]
        one.tell(arm, outcome)
        other.tell(arm, outcome)
    assert other.reached == pytest.approx(one.reached, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_snapshots_documents_and_long_logs_give_the_same_state(name):
    family, rng = FAMILIES[name], np.random.default_rng(2)
    one, other = after_pilot(family, rng)
    arms, rows, sizes = [], [], []
    for n in rng.choice([1, 1, 2, 50], size=40):
        arm = int(rng.integers(3))
        arms.append(arm)
        sizes.append(int(n))
        rows.append(draw(rng, family, arm, int(n)).mean(axis=0))
    for arm, row, n in zip(arms, rows, sizes, strict=True):
        one.tell_summary(arm, n, row)
        again = experiment(family)
        again.restore(one.snapshot())
        assert again.snapshot() == one.snapshot() and again.n_pulls == one.n_pulls
    exact = [[told.reward[0], told.reward[1]] for told in one._progress.log[6:]]
    other.tell_log(arms, exact, sizes)
    assert other.snapshot() == one.snapshot() and other.ask(3) == one.ask(3)
    again = Experiment.from_json(one.to_json())
    assert again.snapshot() == one.snapshot() and again.to_json() == one.to_json()


@pytest.mark.parametrize(
    ("sampling", "threshold"),
    [(FraPPE(), "heuristic"), (FraPPE(), "certified"), (PSIPS(), "own"), (APE(), "own"), (Auer(), "own")],
    ids=["frappe", "frappe certified", "psips", "ape", "auer"],
)
def test_every_rule_goes_on_after_a_summary(sampling, threshold):
    rng, family = np.random.default_rng(3), Gaussian(variance=0.36)
    one = experiment(family, sampling=sampling, threshold=threshold, delta=0.1, minimise=(), cone=Cone.orthant(2))
    for arm in (0, 1, 2) * 4:
        one.tell(arm, draw(rng, family, arm, 1)[0])
    for arm in (2, 0, 1):
        one.tell_summary(arm, 100_000, TRUTH[arm])
    assert one.done and one.recommendation.n_pulls in (200_012, 300_012)
    assert one.recommendation.arms == ("arm 0", "arm 1") and one.ask() in one.labels.arms
    again = Experiment.from_settings(one.settings())
    again.restore(one.snapshot())
    assert again.ask(4) == one.ask(4) and again.snapshot() == one.snapshot()


def crossing():
    """After the pilot, b seen well: one arm is missing; its mean first looks decided, then not."""
    one = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), delta=0.1, threshold=Certified(pilot=1))
    one.tell_many([("a", [0.0]), ("b", [0.0])])
    one.tell_many([("b", [0.0])] * 60)
    one.tell_many([("a", [-1.2])] * 4)
    return one


def test_it_never_stops_inside_a_summary():
    # Copies of +1.2 take a below, level with, and above b: it ends undecided or decided, but looked at once only.
    single, whole = crossing(), crossing()
    start = single.n_pulls
    while not single.done:
        single.tell("a", [1.2])
    stop = single.n_pulls - start
    whole.tell_summary("a", 3 * stop, [1.2])
    assert whole.done and whole.recommendation.n_pulls == whole.n_pulls == start + 3 * stop
    # A summary at whose end nothing is decided, though so many copies of it, fewer than all, would have been.
    mean, n = [0.0], 0
    looks = crossing()
    looks.tell_many([("a", [-1.2])] * 3)
    assert not looks.done
    before = looks.snapshot()
    reached = []
    for n in range(1, 400):
        again = crossing()
        again.restore(before)
        again.tell_summary("a", n, mean)
        reached.append(again.reached)
    assert max(reached) > reached[-1], "the margin goes up and down again"
    again = crossing()
    again.delta = float(np.exp(-0.5 * (max(reached) + reached[-1])))
    again.restore(before)
    again.tell_summary("a", 399, mean)
    assert not again.done, "some of its copies would have been enough"
    step = crossing()
    step.delta = again.delta
    step.restore(before)
    step.tell_many([("a", mean)] * 399)
    assert step.done and step.recommendation.n_pulls < step.n_pulls


def test_before_the_pilot_is_over():
    one = experiment(Bernoulli())
    assert one.missing_before_summary == 6
    for told, arm in enumerate((0, 0, 1, 1, 0)):
        with pytest.raises(EarlySummaryError, match=f"{6 - told} more outcomes must come first"):
            one.tell_summary(0, 10, [0.5, 0.5])
        one.tell(arm, [1, 0])
    with pytest.raises(EarlySummaryError, match="got one before: 1 more outcome must come first"):
        one.tell_summary(0, 10, [0.5, 0.5])
    with pytest.raises(EarlySummaryError, match="1 more outcome"):
        one.tell_log([0, 2], [[0.5, 0.5], [1.0, 1.0]], [10, 1])
    assert one.n_pulls == 5
    one.tell_log([2, 0], [[1.0, 1.0], [0.5, 0.5]], [1, 10])
    assert one.n_pulls == 16 and one.missing_before_summary == 0
    other = experiment(Bernoulli(), threshold="heuristic")
    other.tell_many([(0, [1, 0])] * 9)
    assert other.missing_before_summary == 2


BAD = [
    (Bernoulli(), 10, [0.33, 0.5], "mean of 'u' must be that of 10 outcomes, each 0 or 1, for Bernoulli, got 0.33"),
    (Bernoulli(), 10, [0.3, 1.1], "mean of 'v' must be that of 10 outcomes, each 0 or 1, for Bernoulli, got 1.1"),
    (Poisson(), 4, [0.25, -0.25], "mean of 'v' must be that of 4 outcomes, each 0, 1, 2, ..., for Poisson, got -0.25"),
    (Poisson(), 4, [0.3, 1.0], "mean of 'u' must be that of 4 outcomes, each 0, 1, 2, ..., for Poisson, got 0.3"),
    (Exponential(), 4, [0.3, 0.0], "mean of 'v' must be that of 4 outcomes, each positive, for Exponential, got 0.0"),
    (Gaussian(variance="unknown"), 4, [0.3, 0.0], "outcomes of 'u' must be told one by one for Gaussian"),
    (Gaussian(variance="unknown", shared=True), 4, [0.3, 0.0], "a mean of 4: the variance is estimated from their squ"),
    (Product([Bernoulli(), Gaussian(variance="unknown")]), 4, [0.5, 0.0], "outcomes of 'v' must be told one by one"),
    (Bernoulli(), 0, [0.5, 0.5], "n must be a whole number from 1 to 1,000,000, got 0"),
    (Bernoulli(), -1, [0.5, 0.5], "n must be a whole number from 1 to 1,000,000, got -1"),
    (Bernoulli(), 0.5, [0.5, 0.5], "n must be a whole number from 1 to 1,000,000, got 0.5"),
    (Bernoulli(), 1_000_001, [0.0, 1.0], "n must be a whole number from 1 to 1,000,000, got 1000001"),
]


@pytest.mark.parametrize(("family", "n", "mean", "message"), BAD)
def test_what_cannot_be_a_summary(tmp_path, family, n, mean, message):
    one = Experiment(2, ("u", "v"), family=family, threshold="heuristic")
    study = Study.create(
        *(tmp_path / "x.db", "x"), arms=("a", "b"), objectives=("u", "v"), family=family, threshold="heuristic"
    )
    for arm in (0, 1):
        one.tell(arm, [1.0, 1.0])
        study.tell(study.ask().token, [1.0, 1.0])
    (tmp_path / "old.csv").write_text(f"arm,u,v,n\na,1,1,1\na,{mean[0]},{mean[1]},{n}\n")
    with pytest.raises(ValueError, match="must") as caught:
        one.tell_summary(0, n, mean)
    assert message in str(caught.value) and one.n_pulls == 2
    with pytest.raises(ValueError, match="line 3") as caught:
        study.import_csv(tmp_path / "old.csv")
    assert message in str(caught.value) and study.status().events == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,u,v,N\na,1,2,30\n", "a column 'N', which looks like summaries of another kind: the means of a summary"),
        ("arm,u,v,n,sd\na,1,2,30,1\n", "a column 'sd', which looks like summaries of another kind"),
        ("arm,u,v,n\na,1,2,\n", "line 2: n must be a whole number"),
        ("arm,u,v,n\na,1,2,many\n", "line 2: n must be a whole number"),
        ("arm,u,v,n\na,1,2,inf\n", "line 2: n must be a whole number"),
        ("arm,u,v,n\na,1,2,nan\n", "line 2: n must be a whole number"),
        ("arm,u,v,n\na,1,,30\n", "line 2: v must be a number, got an empty cell: fill it in"),
        ("arm,u,n\na,1,30\n", "must have a column 'v'"),
    ],
)
def test_bad_files(trial, tmp_path, text, message):
    (tmp_path / "old.csv").write_text(text)
    events = trial.status().events
    with pytest.raises(ValueError, match="must") as caught:
        trial.import_csv(tmp_path / "old.csv")
    assert message in str(caught.value) and trial.status().events == events


# Studies


def create(place, **options):
    given = {"family": Gaussian(variance=0.36), "threshold": Certified(pilot=2), "delta": 1e-9, **options}
    return Study.create(place, "trial", arms=tuple("abc"), objectives=("u", "v"), **given)


def work(study, n, seed=0):
    rng, tokens = np.random.default_rng(seed), []
    for _ in range(n):
        if (ticket := study.ask()) is not None:
            study.tell(ticket.token, draw(rng, Gaussian(variance=1.0), "abc".index(ticket.arm), 1)[0].tolist())
            tokens.append(ticket.token)
    return tokens


def put(study, folder, *rows):
    text = "arm,u,v,n\n" + "".join(f"{arm},{u!r},{v!r},{n}\n" for arm, u, v, n in rows)
    (folder / "old.csv").write_text(text)
    return study.import_csv(folder / "old.csv", actor="ada")


def tokens_of(study):
    return [event.data["token"] for event in study.events() if event.kind == "imported"]


def consistent(study, place, folder):
    """The same for whoever opens, replays, restores or checks it."""
    fresh = states.State.replay(study.events())
    assert study._session.state.experiment.snapshot() == fresh.experiment.snapshot()
    assert study._session.state.line.to_document() == fresh.line.to_document()
    again = Study.open(place, "trial")
    assert again.status() == study.status() and again.verify().ok and study.verify().ok
    log = folder / f"{study.status().events}.jsonl"
    study.export(log)
    other = folder / f"{study.status().events}.db"
    moved = Study.restore(other, log)
    assert moved.status() == study.status() and moved.verify().ok and moved.history() == study.history()
    certificate = json.loads(json.dumps(study.certificate()))
    result = check(certificate, log.read_text().splitlines(keepends=True))
    assert result.ok, result.problems
    assert check(certificate).ok
    past = study.history()
    assert past == again.history() and past.n_pulls == study.status().n_pulls
    return certificate


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "trial.db")


@pytest.fixture
def trial(place):
    study = create(place)
    work(study, 8)
    return study


@pytest.mark.parametrize("long", [1, 20_000], ids=["compiled", "plain"])
@pytest.mark.parametrize("every", [3, 2000], ids=["checkpoints", "none"])
def test_a_study_with_summaries(trial, place, tmp_path, monkeypatch, long, every):
    monkeypatch.setattr(states, "LONG", long)
    monkeypatch.setattr(session, "EVERY", every)
    given = put(trial, tmp_path, ("a", 0.7, 0.3, 20), ("b", 0.4, 0.6, 1), ("c", 0.3, 0.25, 11))
    assert given == 32 and given.summarised == 31
    status = trial.status()
    assert status.imported == 32 and status.n_pulls == 40 and sum(status.counts.values()) == 40 and status.events == 20
    sizes = [event.data.get("n") for event in trial.events() if event.kind == "imported"]
    assert sizes == [20, None, 11], "single outcomes are written as ever"
    consistent(trial, place, tmp_path)
    alone = trial._session.state.config.experiment()
    for row, _ in zip(trial.observations(1, 99)[0], range(8), strict=False):
        alone.tell(row.arm, [row.values["u"], row.values["v"]])
    alone.tell_many([("a", [0.7, 0.3])] * 20 + [("b", [0.4, 0.6])] + [("c", [0.3, 0.25])] * 11)
    assert status.reached == pytest.approx(alone.reached, rel=1e-9)
    first, _, last = tokens_of(trial)
    trial.correct(first, {"u": 0.9}, reason="another unit")
    assert trial.status().n_pulls == 40 and trial.status().corrected == 1
    consistent(trial, place, tmp_path)
    work(trial, 5, seed=4)
    trial.void(last, reason="of another lot")
    status = trial.status()
    assert status.n_pulls == 34 and status.voided == 1
    consistent(trial, place, tmp_path)
    assert not trial.tell(first, {"u": 0.9}).new
    with pytest.raises(ValueError, match="to change it, correct it with a reason"):
        trial.tell(first, {"u": 1.9})
    rows = {row.pull: row for row in trial.observations(1, 99)[0]}
    assert rows[17].n == 20 and rows[17].values == {"u": 0.9, "v": 0.3} and rows[18].n == rows[1].n == 1
    assert rows[19].state == "voided" and rows[19].n == 11


def test_the_table_has_the_sizes(trial, tmp_path):
    from prepex.server.downloads import table

    put(trial, tmp_path, ("a", 0.7, 0.3, 20))
    rows = list(csv.DictReader(io.StringIO("".join(table(trial)))))
    assert [row["n"] for row in rows] == ["1"] * 8 + ["20"] and rows[-1]["u"] == "0.7"


def test_files_are_refused_before_the_pilot_is_over(place, tmp_path):
    study = create(place)
    with pytest.raises(
        ValueError, match=r"line 2: a summary must come when .*: 6 more single outcomes must enter first"
    ):
        put(study, tmp_path, ("a", 0.7, 0.3, 20))
    single = [(arm, 0.5, 0.5, 1) for arm in "abcabb"]
    with pytest.raises(ValueError, match=r"line 7: a summary .*got one of 'a' too soon: 1 more single outcome must"):
        put(study, tmp_path, *single[:5], ("a", 0.7, 0.3, 20), single[5])
    assert study.status().events == 1
    assert put(study, tmp_path, *single, ("a", 0.7, 0.3, 20)) == 26
    consistent(study, place, tmp_path)


def test_outcomes_that_wait_have_not_entered(place, tmp_path):
    study = create(place)
    out = study.ask()
    single = [(arm, 0.5, 0.5, 1) for arm in "abcabb"]
    with pytest.raises(ValueError, match="6 more single outcomes"):
        put(study, tmp_path, *single, ("a", 0.7, 0.3, 20))
    study.tell(out.token, [0.0, 0.0])
    assert put(study, tmp_path, *single, ("a", 0.7, 0.3, 20)) == 26


def test_a_summary_waits_for_the_pulls_before_it(trial, place, tmp_path):
    first, second = trial.ask(2)
    put(trial, tmp_path, ("a", 0.7, 0.3, 20))
    status = trial.status()
    assert status.n_pulls == 8 and status.waiting == 20 and status.imported == 20
    assert trial.picture()["pulls"][-1]["n"] == 20 and sum(arm["pending"] for arm in trial.picture()["arms"]) == 22
    consistent(trial, place, tmp_path)
    trial.tell(second.token, [0.0, 0.0])
    trial.correct(tokens_of(trial)[0], [0.8, 0.3], reason="typo")
    trial.void(first.token, reason="never started")
    assert trial.status().n_pulls == 29 and trial.status().waiting == 0
    consistent(trial, place, tmp_path)


def test_a_voided_outcome_must_not_pull_a_summary_into_the_pilot(place, tmp_path):
    study = create(place)
    tokens = work(study, 7)
    put(study, tmp_path, ("a", 0.7, 0.3, 20))
    (summary,) = tokens_of(study)
    study.void(tokens[6], reason="lost")
    before = study.status()
    with pytest.raises(ValueError, match=f"got '{tokens[0]}', without which a summary .* void that summary first"):
        study.void(tokens[0], reason="lost")
    assert study.status() == before
    consistent(study, place, tmp_path)
    study.void(summary, reason="goes with the outcomes before it")
    study.void(tokens[0], reason="lost")
    assert study.status().n_pulls == 5
    consistent(study, place, tmp_path)


def test_nor_one_that_waits(place, tmp_path):
    study = create(place, lease=3600.0)
    tokens = work(study, 6)
    out = study.ask()
    put(study, tmp_path, ("a", 0.7, 0.3, 20))
    with pytest.raises(ValueError, match="void that summary first"):
        study.void(tokens[2], reason="lost")
    study.void(out.token, reason="never started")
    assert study.status().n_pulls == 26
    consistent(study, place, tmp_path)


def test_a_summary_that_comes_between(place, tmp_path, monkeypatch):
    from prepex.study.foresee import Foreseen

    study = create(place)
    tokens, other, prepared = work(study, 6), Study.open(place, "trial"), Foreseen.__init__

    def slow(self, *given):
        prepared(self, *given)
        put(other, tmp_path, ("a", 0.7, 0.3, 20))

    with monkeypatch.context() as patch:
        patch.setattr(Foreseen, "__init__", slow)
        with pytest.raises(ValueError, match="void that summary first"):
            study.void(tokens[2], reason="lost")
    assert study.status().n_pulls == 26
    consistent(study, place, tmp_path)


def test_corrections_must_be_possible(place, tmp_path):
    study = create(place, family=Bernoulli(), threshold="heuristic")
    for _ in range(3):
        study.tell(study.ask().token, [1, 0])
    put(study, tmp_path, ("b", 0.2, 0.333333333, 30))
    (token,) = tokens_of(study)
    for value in (0.25, 1.5, -0.1):
        with pytest.raises(ValueError, match="mean of 'u' must be that of 30 outcomes, each 0 or 1, for Bernoulli"):
            study.correct(token, {"u": value}, reason="typo")
    study.correct(token, {"u": 0.4}, reason="typo")
    assert study.observations(1, 99)[0][-1].values == {"u": 0.4, "v": 1 / 3}
    consistent(study, place, tmp_path)


def test_the_answer_stands_at_the_end_of_a_summary(trial, place, tmp_path):
    put(trial, tmp_path, ("a", 0.7, 0.3, 40_000), ("b", 0.4, 0.6, 40_000), ("c", 0.3, 0.25, 60_000), ("a", 0.7, 0.3, 9))
    answer = trial.recommendation
    assert answer.status == "certified" and answer.arms == ("a", "b") and answer.n_pulls == 140_008
    work(trial, 2)
    certificate = consistent(trial, place, tmp_path)
    assert certificate["answer"]["n_pulls"] == 140_008
    # A certificate that ends inside a summary is none.
    lines = (tmp_path / f"{trial.status().events}.jsonl").read_text().splitlines(keepends=True)
    certificate["answer"]["n_pulls"] -= 5
    certificate["arms"][2]["n"] -= 5
    certificate["arms"][2]["after_pilot"]["n"] -= 5
    assert not check(certificate, lines).ok


def test_the_budget_ends_after_a_whole_summary(place, tmp_path):
    study = create(place, max_pulls=30)
    work(study, 8)
    put(study, tmp_path, ("a", 0.7, 0.3, 20), ("b", 0.4, 0.6, 20), ("c", 0.3, 0.25, 20))
    assert study.recommendation.status == "inconclusive" and study.recommendation.n_pulls == 48 and study.ask() is None
    consistent(study, place, tmp_path)


def rewritten(events, change):
    """The log as someone would have forged it, with good hashes."""
    lines, previous = [], GENESIS
    for event in events:
        made = {name: getattr(event, name) for name in ("time", "actor", "version", "pull")}
        data = change(dict(event.data)) if event.kind == "imported" else event.data
        sealed = seal(event.position, previous, event.kind, data=data, **made)
        previous = sealed.hash
        lines.append(sealed.line + "\n")
    return lines, previous


@pytest.mark.parametrize("n", [21, 19, 1, 0, -20, 20.5, True, 10**9, "20"])
def test_another_size_is_found(trial, tmp_path, n):
    put(trial, tmp_path, ("a", 0.7, 0.3, 20))
    certificate = trial.certificate()
    lines, head = rewritten(trial.events(), lambda data: data | {"n": n})
    certificate["log"]["hash"] = head
    assert not check(certificate, lines).ok
    lines, head = rewritten(trial.events(), lambda data: data)
    certificate["log"]["hash"] = head
    assert check(certificate, lines).ok


def test_a_summary_in_the_pilot_is_found(place, tmp_path):
    study = create(place)
    work(study, 5)
    put(study, tmp_path, ("b", 0.7, 0.3, 1))
    certificate = study.certificate()
    lines, head = rewritten(study.events(), lambda data: data | {"n": 2})
    certificate["log"]["hash"] = head
    assert any("before the pilot was over" in problem for problem in check(certificate, lines).problems)


def test_large_summaries(trial, place, tmp_path):
    put(trial, tmp_path, ("a", 0.7, 0.3, 100_000), ("c", 0.3, 0.25, 100_000), ("b", 0.4, 0.6, 1))
    assert trial.status().n_pulls == 200_009
    consistent(trial, place, tmp_path)


def test_the_command_says_how_many(trial, place, tmp_path):
    from typer.testing import CliRunner

    from prepex.cli import app

    (tmp_path / "old.csv").write_text("arm,u,v,n\na,1,2,30\nb,1,2,1\n")
    words = ["study", "import", "trial", str(tmp_path / "old.csv"), "--storage", place]
    assert "imported 31 outcomes, 30 of them in summaries" in CliRunner().invoke(app, words).output
