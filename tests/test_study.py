"""Durable studies: tokens, the order of outcomes, corrections, leases, files, and bad input."""

import json
import sqlite3
import threading

import numpy as np
import pytest

from prepex import Cone, Experiment, Gaussian, InputError, Study
from prepex.sampling import APE, PSIPS, FraPPE
from prepex.stopping import Certified
from prepex.study import clock as clock_module
from prepex.study import session as module
from prepex.study.check_log import Record

TRUTH = {"a": (1.0, 0.0), "b": (0.0, -1.0), "c": (-0.5, 0.5)}


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "trials.db")
    url = request.getfixturevalue("postgres")
    if Study.list(url):
        for overview in Study.list(url):
            Study.delete(url, overview.name, confirm=overview.name)
    return url


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "trials.db")


def create(storage, name="dose", **options):
    given = {"family": Gaussian(variance=(0.3, 0.2)), "minimise": ("v",), "delta": 0.1, **options}
    return Study.create(storage, name, arms=tuple("abc"), objectives=("u", "v"), **given)


def draw(rng, arm):
    return (np.array(TRUTH[arm]) + 0.5 * rng.standard_normal(2)).tolist()


def told(study, rng, n):
    for _ in range(n):
        ticket = study.ask()
        if ticket is not None:
            study.tell(ticket.token, draw(rng, ticket.arm))


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""

    class Clock:
        minutes = 0

        def __call__(self):
            return f"2030-01-01T{self.minutes // 60:02d}:{self.minutes % 60:02d}:00.000000+00:00"

    clock = Clock()
    monkeypatch.setattr(clock_module, "database_time", lambda _: clock())
    return clock


def test_a_whole_study_is_certified_like_the_experiment_alone(storage):
    study, rng = create(storage), np.random.default_rng(0)
    alone = Experiment(tuple("abc"), ("u", "v"), family=Gaussian(variance=(0.3, 0.2)), minimise=("v",), delta=0.1)
    while (ticket := study.ask(actor="site A")) is not None:
        outcome = draw(rng, ticket.arm)
        assert alone.ask() == ticket.arm
        alone.tell(ticket.arm, outcome)
        study.tell(ticket.token, outcome)
    assert study.done and study.recommendation == alone.recommendation
    assert study.recommendation.status == "certified" and study.recommendation.arms == ("a", "b")
    assert study.why() == alone.why()
    assert Study.open(storage, "dose").recommendation == alone.recommendation
    assert study.verify().ok
    assert study.ask(3) == []


def test_telling_twice_is_once_and_another_value_is_refused(storage):
    study = create(storage)
    ticket = study.ask()
    assert study.tell(ticket.token, [1.0, 2.0]).new
    again = study.tell(ticket.token, {"u": 1.0})
    assert not again.new and again.missing == ()
    before = study.status()
    with pytest.raises(ValueError, match=r"u = 1.0, got u = 1.5; to change it, correct it with a reason"):
        study.tell(ticket.token, [1.5, 2.0])
    assert study.status() == before and before.n_pulls == 1


def test_outcomes_enter_in_the_order_of_the_pulls(place):
    study = create(place)
    tickets = study.ask(4, actor="site B")
    for ticket in tickets[1:]:
        study.tell(ticket.token, [0.0, 0.0])
    status = study.status()
    assert (status.n_pulls, status.waiting, status.out) == (0, 3, 1)
    assert status.blocker.token == tickets[0].token and status.blocker.actor == "site B"
    assert f"3 told outcomes wait for the pull {tickets[0].token} of a, asked for by site B" in study.why()
    study.tell(tickets[0].token, [1.0, 0.0])
    assert study.status().n_pulls == 4 and study.status().blocker is None


def test_objectives_may_arrive_one_by_one(storage):
    study = create(storage)
    first, second, _ = study.ask(3)
    receipt = study.tell(first.token, {"v": 2.0})
    assert receipt.new and receipt.missing == ("u",)
    study.tell(second.token, {"u": 1.0})
    status = Study.open(storage, "dose").status()
    assert status.incomplete == {"a": 1, "b": 1} and status.n_pulls == 0 and status.out == 3
    with pytest.raises(ValueError, match=r"v = 2.0, got v = 3.0"):
        study.tell(first.token, {"u": 1.0, "v": 3.0})
    assert study.tell(first.token, {"u": 1.0, "v": 2.0}).missing == ()
    assert study.status().means["a"] == (1.0, 2.0) and study.status().incomplete == {"b": 1}


def test_a_lease_ends_and_a_late_report_is_taken_once(storage, clock):
    study = create(storage, lease=600.0)
    late, other = study.ask(2)
    assert late.until == "2030-01-01T00:10:00.000000+00:00"
    study.tell(other.token, [1.0, 1.0])
    assert study.status().waiting == 1
    clock.minutes = 11
    again = study.ask()
    assert again.arm == late.arm, "its arm is back in the pool"
    status = study.status()
    assert (status.n_pulls, status.waiting, status.lapsed, status.out) == (1, 0, 1, 1)
    receipt = study.tell(late.token, [3.0, 3.0])
    assert receipt.new and receipt.late
    assert not study.tell(late.token, [3.0, 3.0]).new
    assert study.status().counts == {"a": 1, "b": 1, "c": 0} and study.status().late == 1
    assert study.verify().ok


def test_a_report_after_its_lease_is_late_even_if_nobody_asked_meanwhile(place, clock):
    study = create(place, lease=60.0)
    ticket = study.ask()
    clock.minutes = 2
    assert study.tell(ticket.token, {"u": 1.0}).late
    assert study.tell(ticket.token, {"v": 1.0}).late
    assert study.status().n_pulls == 1 and study.status().lapsed == 0


def test_a_correction_replays_with_the_outcome_in_its_place(storage):
    study, rng = create(storage, threshold=Certified(pilot=2)), np.random.default_rng(1)
    outcomes, tokens = [], []
    for n in range(30):
        ticket = study.ask()
        outcomes.append((ticket.arm, draw(rng, ticket.arm)))
        tokens.append(ticket.token)
        study.tell(ticket.token, [9.0, 9.0] if n == 4 else outcomes[-1][1])
    other = Study.open(storage, "dose")
    assert other.status().n_pulls == 30
    study.correct(tokens[4], outcomes[4][1], reason="the file was read wrongly", actor="ada")
    study.void(tokens[7], reason="the freezer failed before the measurement")
    del outcomes[7]
    alone = Experiment(
        *(tuple("abc"), ("u", "v")),
        family=Gaussian(variance=(0.3, 0.2)),
        minimise=("v",),
        delta=0.1,
        threshold=Certified(pilot=2),
    )
    alone.tell_many(outcomes)
    for opened in (study, other, Study.open(storage, "dose")):
        status = opened.status()
        assert status.n_pulls == 29 and status.corrected == 1 and status.voided == 1
        assert status.means == {k: tuple(row) for k, row in zip("abc", alone.means.tolist(), strict=True)}
        assert status.reached == alone.reached
        assert opened.verify().ok
    assert study.ask().arm == alone.ask()
    with pytest.raises(ValueError, match="voided because: the freezer failed"):
        study.tell(tokens[7], [1.0, 1.0])
    with pytest.raises(ValueError, match="voided because"):
        study.correct(tokens[7], [1.0, 1.0], reason="x")


def test_corrections_and_voids_of_what_has_not_entered(place):
    study = create(place)
    first, second, third = study.ask(3)
    study.tell(second.token, {"u": 1.0})
    study.correct(second.token, {"u": 2.0}, reason="typo")
    study.correct(second.token, {"u": 2.0}, reason="typo again, which changes nothing")
    study.tell(second.token, {"v": 0.0})
    study.correct(second.token, {"v": 4.0}, reason="typo")
    study.void(first.token, reason="never started")
    study.void(first.token, reason="never started")
    status = study.status()
    assert status.means["b"] == (2.0, 4.0) and status.n_pulls == 1 and status.corrected == 2 and status.voided == 1
    with pytest.raises(ValueError, match=f"must have been told before it is corrected, got no 'u' of '{third.token}'"):
        study.correct(third.token, {"u": 1.0}, reason="typo")
    assert study.verify().ok


def test_many_pulls_are_told_together_or_not_at_all(place):
    study = create(place)
    a, b = study.ask(2)
    with pytest.raises(ValueError, match="token must be one that this study handed out"):
        study.tell_many([(a.token, [1.0, 1.0]), (b.token, [1.0, 1.0]), ("9-ffff", [1.0, 1.0])])
    assert study.status().n_pulls == 0 and study.status().events == 3
    receipts = study.tell_many([(a.token, {"u": 1.0}), (a.token, {"v": 1.0}), (b.token, [1.0, 1.0])])
    assert [receipt.missing for receipt in receipts] == [("v",), (), ()]
    assert study.status().n_pulls == 2


def test_a_budget_is_never_handed_out_twice(place, clock):
    study = create(place, max_pulls=4, lease=60.0)
    tickets = study.ask(10)
    assert len(tickets) == 4 and study.ask(new=True) is None and not study.done
    for ticket in tickets[:3]:
        study.tell(ticket.token, [0.0, 0.0])
    clock.minutes = 2
    (last,) = study.ask(5)
    study.tell(last.token, [0.0, 0.0])
    assert study.done and study.recommendation.status == "inconclusive"


def test_import_of_historic_outcomes(storage, tmp_path):
    study, rng = create(storage), np.random.default_rng(2)
    rows = [(arm, draw(rng, arm)) for arm in "abcabcaab"]
    path = tmp_path / "old.csv"
    path.write_text("arm,v,note,u\n" + "".join(f"{arm},{v!r},x,{u!r}\n" for arm, (u, v) in rows))
    assert study.import_csv(path, actor="ada") == 9
    alone = study._session.state.config.experiment()
    alone.tell_many(rows)
    status = Study.open(storage, "dose").status()
    assert status.imported == 9 and status.n_pulls == 9
    assert status.means == {k: tuple(row) for k, row in zip("abc", alone.means.tolist(), strict=True)}
    assert study.verify().ok


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,u\na,1\n", "must have a column 'v', got arm, u$"),
        ("arm,mean,sd\na,1,2\n", "the means of a summary stand in the columns of the objectives"),
        ("arm,u,v,n\na,1,2,30\n", "line 2: a summary must come .* 9 more single outcomes must enter first"),
        ("arm,u,v,count\na,1,2,30\n", "got a column 'count', which looks like summaries of another kind"),
        ("arm,u,v\n", "must have at least one outcome"),
        ("", "must have a header line, got an empty file"),
        ("arm,u,v\na,1,2\nx,1,2\n", "line 3: arm must be one of 'a', 'b', 'c', got 'x'"),
        ("arm,u,v\na,1,nan\n", "line 2: v must be a number such as 0.31, in plain digits, got 'nan'"),
        ("arm,u,v\na,1\n", "line 2: must have 3 columns as the header, got 2: is a cell missing"),
        ("arm,u,v\na,1,ja\n", "line 2: v must be a number such as 0.31, in plain digits, got 'ja'"),
    ],
)
def test_bad_files_change_nothing(place, tmp_path, text, message):
    study, path = create(place), tmp_path / "old.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        study.import_csv(path)
    assert study.status().events == 1


@pytest.mark.parametrize(
    ("sampling", "threshold", "delta"),
    [(None, "heuristic", 1e-9), (FraPPE(), "heuristic", 1e-9), (PSIPS(), "own", 1e-3), (APE(), "own", 1e-9)],
    ids=["information", "frappe", "psips", "ape"],
)
def test_a_checkpoint_is_the_replay_bit_for_bit(place, monkeypatch, sampling, threshold, delta):
    monkeypatch.setattr(module, "EVERY", 7)
    study, rng = create(place, sampling=sampling, threshold=threshold, delta=delta), np.random.default_rng(3)
    for _ in range(4):
        told(study, rng, 25)
        study.ask(2)
        fresh = Study.open(place, "dose")
        assert fresh.status() == study.status()
        assert fresh._session.state.experiment.snapshot() == study._session.state.experiment.snapshot()
        assert fresh.verify().ok
        with sqlite3.connect(place) as connection:
            assert connection.execute("SELECT count(*) FROM prepex_checkpoints").fetchone() == (1,)
        connection.close()


def test_a_damaged_checkpoint_is_not_used(place, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 10)
    study, rng = create(place), np.random.default_rng(4)
    told(study, rng, 20)
    expected = study.status()
    for damage in ("head = 'x'", "saved = x'00'", "position = 999999", "digest = 'x'"):
        connection = sqlite3.connect(place)
        with connection:
            connection.execute(f"UPDATE prepex_checkpoints SET {damage}")
        connection.close()
        again = Study.open(place, "dose")
        assert again.status() == expected
        assert any("checkpoint" in problem for problem in again.verify().problems)
    # Even one that lies with the right digest is found by a full replay.
    other = create(place, "other")
    told(other, rng, 20)
    connection = sqlite3.connect(place)
    with connection:
        saved, digest = connection.execute(
            "SELECT saved, digest FROM prepex_checkpoints JOIN prepex_studies ON study = id WHERE name = 'other'"
        ).fetchone()
        position, head = connection.execute("SELECT position, head FROM prepex_studies WHERE name = 'dose'").fetchone()
        row = (position, head, digest, saved)
        connection.execute(
            "UPDATE prepex_checkpoints SET position = ?, head = ?, digest = ?, saved = ? WHERE study = 1", row
        )
    connection.close()
    assert not Study.open(place, "dose").verify().ok


def test_a_study_of_an_older_version_replays(place, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 10)
    study, rng = create(place), np.random.default_rng(4)
    told(study, rng, 20)
    monkeypatch.setattr("prepex.study.state.__version__", "99")
    assert Study.open(place, "dose").status() == study.status()
    assert Study.open(place, "dose").verify().ok


def test_what_is_told_after_the_stop_is_not_in_the_certificate(place):
    study, rng = create(place), np.random.default_rng(0)
    spare = study.ask(3)
    for ticket in spare:
        study.tell(ticket.token, draw(rng, ticket.arm))
    while not study.done:
        tickets = study.ask(5)
        for ticket in tickets:
            study.tell(ticket.token, draw(rng, ticket.arm))
    answer = study.recommendation
    certificate = study.certificate()
    assert study.status().n_pulls >= answer.n_pulls
    assert certificate["answer"]["n_pulls"] == answer.n_pulls == sum(arm["n"] for arm in certificate["arms"])
    json.dumps(certificate, allow_nan=False)


def test_an_exported_log_restores_the_study(storage, tmp_path):
    study, rng = create(tmp_path / "first.db"), np.random.default_rng(6)
    told(study, rng, 12)
    study.ask(2)
    study.export(tmp_path / "log.jsonl")
    again = Study.restore(storage, tmp_path / "log.jsonl")
    assert again.status() == study.status() and again.verify().ok
    with pytest.raises(ValueError, match="which exists already"):
        Study.restore(storage, tmp_path / "log.jsonl")
    text = (tmp_path / "log.jsonl").read_text()
    for damaged in (text.replace('"arm":1', '"arm":2', 1), text.split("\n", 1)[1], "", "x\n"):
        (tmp_path / "bad.jsonl").write_text(damaged)
        with pytest.raises(ValueError, match="must"):
            Study.restore(tmp_path / "other.db", tmp_path / "bad.jsonl")
    assert Study.list(tmp_path / "other.db") == []


def test_list_and_delete(storage):
    create(storage, "one")
    create(storage, "two", delta=0.2)
    assert [(entry.name, entry.delta, entry.events) for entry in Study.list(storage)] == [
        ("one", 0.1, 1),
        ("two", 0.2, 1),
    ]
    with pytest.raises(ValueError, match="confirm must be the name of the study, 'one', got 'yes'"):
        Study.delete(storage, "one", confirm="yes")
    opened = Study.open(storage, "one")
    Study.delete(storage, "one", confirm="one")
    assert [entry.name for entry in Study.list(storage)] == ["two"]
    with pytest.raises(ValueError, match="one that has been deleted"):
        opened.ask()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "dose"}, "name must be new in this storage, got 'dose', which exists already"),
        ({"name": " "}, "name must be 1 to 200 printable characters"),
        ({"lease": 0.0}, r"lease must be in \(0, 1e\+09\), got 0.0"),
        ({"threshold": lambda counts, delta: 1.0}, "named ones to be written, got a function"),
        ({"delta": 2.0}, "delta must be in"),
        ({"actor": "\n"}, "actor must be at most 200 printable characters"),
        ({"cone": Cone.orthant(3)}, "cone must be over 2"),
    ],
)
def test_bad_settings(place, options, message):
    create(place)
    with pytest.raises((ValueError, TypeError), match=message):
        create(place, **{"name": "new", **options})
    assert len(Study.list(place)) == 1


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ({"x": 1.0}, "outcome must be of 'u', 'v', got 'x'"),
        ({}, "outcome must have some of 'u', 'v', got none"),
        ([1.0], "outcome must have shape"),
        ([1.0, float("inf")], "outcome must be finite"),
        ({"u": float("nan")}, "outcome 'u' must be finite"),
        ({"u": "1"}, "outcome 'u' must be numbers"),
        ({"u": 1e200}, "outcome 'u' must be at most 1e\\+100"),
        (None, "outcome must"),
    ],
)
def test_bad_outcomes(place, outcome, message):
    study = create(place)
    ticket = study.ask()
    with pytest.raises(ValueError, match=message):
        study.tell(ticket.token, outcome)
    assert study.status().events == 2


def test_bad_tokens_reasons_and_numbers(place):
    study = create(place)
    ticket = study.ask()
    for token in ("x", "", "1", "1-", "999-abcd", "0-abcd", None, 3, ticket.token + "0", "1-00000000"):
        with pytest.raises(ValueError, match="token must be one that this study handed out"):
            study.tell(token, [1.0, 1.0])
    for reason in ("", " ", None, "x" * 3000):
        with pytest.raises(ValueError, match="reason must be 1 to 2000 characters"):
            study.void(ticket.token, reason=reason)
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        study.ask(0)
    with pytest.raises(ValueError, match="n must leave at most 1024 = max_pending pulls out, got 1024 more than 1"):
        study.ask(1024, new=True)


def test_bad_storages(tmp_path):
    with pytest.raises(ValueError, match="storage must exist, got no file"):
        Study.open(tmp_path / "none.db", "x")
    with pytest.raises(ValueError, match="folder that exists"):
        create(tmp_path / "none" / "x.db")
    with pytest.raises(ValueError, match="must be SQLite or PostgreSQL, got 'mysql'"):
        Study.open("mysql://x/y", "x")
    with pytest.raises(ValueError, match="must be a file, so that the study outlives the process"):
        create("sqlite://")
    with pytest.raises(ValueError, match="storage must be a file or a database URL"):
        Study.open("://", "x")
    (tmp_path / "text.db").write_text("no database " * 1000)
    with pytest.raises(ValueError, match="must be an undamaged SQLite database"):
        Study.open(tmp_path / "text.db", "x")
    with pytest.raises(OSError, match="cannot be used"):
        Study.open("postgresql://nobody@127.0.0.1:1/none", "x")
    place = str(tmp_path / "trials.db")
    create(place)
    with pytest.raises(ValueError, match=r"name must be a study of this storage \('dose'\), got 'x'"):
        Study.open(place, "x")
    connection = sqlite3.connect(place)
    with connection:
        connection.execute("UPDATE prepex_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(ValueError, match="use a newer prepex"):
        Study.open(place, "dose")


def in_threads(n, work):
    failures = []

    def guarded(k):
        try:
            work(k)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_many_may_create_a_storage_at_once(storage):
    failures = in_threads(8, lambda k: create(storage, f"study {k // 2}").ask())
    assert len(failures) == 4 and all("which exists already" in str(error) for error in failures)
    assert sorted(entry.name for entry in Study.list(storage)) == [f"study {k}" for k in range(4)]


def test_threads_may_share_a_study(storage):
    study, rng = create(storage, delta=1e-9), np.random.default_rng(0)
    assert in_threads(8, lambda k: told(study, rng, 5)) == []
    assert study.status().n_pulls == 40 and study.verify().ok


@pytest.mark.parametrize("threshold", ["certified", "heuristic", "kaufmann_koolen"])
def test_a_fresh_study_knows_what_it_needs(place, threshold):
    study = create(place, threshold=threshold)
    for _ in range(4):
        assert 0 < study.status().needed < 1000 and study.certificate()["needed"] > 0
        study.tell(study.ask().token, [0.0, 0.0])


def test_a_key_stands_for_one_number_of_pulls(place):
    study = create(place, max_pulls=6)
    first = study.ask(actor="A", key="k")
    with pytest.raises(InputError, match=r"n must be 1 as in the first request with the key 'k', got 2; another"):
        study.ask(2, actor="A", key="k")
    two = study.ask(2, actor="A", key="two", new=True)
    with pytest.raises(InputError, match=r"n must be 2 as in the first request with the key 'two', got 1"):
        study.ask(actor="A", key="two")
    # A request that the budget cut short, or that got own pulls first, is the same when it is repeated.
    rest = study.ask(5, actor="A", key="rest", new=True)
    assert len(rest) == 3
    own = create(place, name="own")
    own.ask(actor="A")
    mixed = own.ask(3, actor="A", key="mixed")
    assert len(mixed) == 3
    again = Study.open(place, "dose")
    tokens = [ticket.token for ticket in rest]
    assert [ticket.token for ticket in again.ask(5, actor="A", key="rest", new=True)] == tokens
    assert {ticket.token for ticket in own.ask(3, actor="A", key="mixed")} <= {ticket.token for ticket in mixed}
    with pytest.raises(InputError, match="n must be 5 as in the first request with the key 'rest', got 3"):
        again.ask(3, actor="A", key="rest")
    assert again.ask(actor="A", key="k").token == first.token and len(two) == 2
    assert again.verify().ok
    log = [event.line + "\n" for event in again.events()]
    assert sum("wanted" in json.loads(line)["data"] for line in log) == 3
    Record.read(log)  # refuses what no study writes


def test_voiding_again_keeps_the_first_reason(place):
    study = create(place)
    token = study.ask().token
    assert study.void(token, reason="spilled").new
    before = study.status().head
    again = study.void(token, reason="lost")
    assert (again.new, again.reason) == (False, "spilled") and study.status().head == before
