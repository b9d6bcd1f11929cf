"""Limits through every door: settings, answers with reasons, simulations, studies, HTTP, the command line, pictures."""

import json

import numpy as np
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from prepex import (
    Bernoulli,
    Cone,
    Exact,
    Experiment,
    Gaussian,
    Limit,
    Problem,
    Product,
    Settings,
    Study,
    plot,
    simulate,
)
from prepex.cli import app as commands
from prepex.errors import InputError
from prepex.judge import Judge
from prepex.limits import limits_of
from prepex.reasons import FEASIBLE
from prepex.sampling import FraPPE, InformationDirected, Oracle
from prepex.server.app import make_app
from prepex.spoken import parse_limit
from prepex.stopping import Certified
from prepex.study.check import check

import reference
from cases import sweep

KNOWN = {"family": Gaussian(variance=0.04)}
NAMES = {"objectives": ("gain", "harm"), "minimise": ("harm",)}
# Good and harmless, better but harmful, worse than the first.
MEANS = np.array([[1.0, 0.1], [2.0, 0.9], [0.5, 0.4]])
LIMITED = {"at_most": {"harm": 0.5}}


def trial(*, means=MEANS, n_pulls=2000, seed=0, delta=0.1, **options):
    """A live experiment with noise of variance 0.04."""
    rng = np.random.default_rng(seed)
    arms = tuple(f"dose {k}" for k in range(len(means)))
    given = {**NAMES, "delta": delta, **KNOWN, **options}
    experiment = Experiment(arms, given.pop("objectives"), **given)
    while not experiment.done and experiment.n_pulls < n_pulls:
        arm = experiment.choose(1, np.zeros(len(arms), dtype=np.int64))[0]
        experiment.tell(arm, means[arm] + 0.2 * rng.normal(size=2))
    return experiment


# The answer and its reasons


@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_the_answer_is_the_pareto_set_of_what_is_feasible(threshold):
    experiment = trial(**LIMITED, threshold=threshold)
    answer = experiment.recommendation
    assert answer.status == threshold and answer.arms == ("dose 0",)
    assert answer.reasons == {
        "dose 0": FEASIBLE,
        "dose 1": "infeasible: breaks harm at most 0.5",
        "dose 2": "dominated by dose 0",
    }
    words = experiment.why()
    assert "Pareto optimal among those that meet the limits: dose 0." in words.replace("Looked ", "")
    assert "Breaks a limit: dose 1 (harm at most 0.5)." in words
    assert trial(threshold=threshold).recommendation.arms == ("dose 0", "dose 1")
    assert trial(threshold=threshold).recommendation.reasons == {}


@pytest.mark.parametrize("threshold", ["certified", "heuristic"])
def test_the_answer_may_be_empty(threshold):
    experiment = trial(at_most={"harm": -0.5}, threshold=threshold)
    answer = experiment.recommendation
    assert answer.status == threshold and answer.arms == () and len(answer.reasons) == 3
    assert "meets every limit." in experiment.why()
    assert "Breaks a limit: dose 0 (harm at most -0.5), dose 1" in experiment.why()
    running = trial(at_most={"harm": -0.5}, n_pulls=12)
    assert "No option looks as if it meets every limit." in running.why()


def test_the_stronger_reason_is_given():
    # Dose 2 breaks the limit by a hair, and is far behind dose 0; dose 1 the other way round.
    means = np.array([[3.0, 0.0], [2.95, 5.0], [0.0, 0.53]])
    experiment = trial(means=means, **LIMITED)
    assert experiment.recommendation.reasons["dose 2"] == "dominated by dose 0"
    assert experiment.recommendation.reasons["dose 1"] == "infeasible: breaks harm at most 0.5"


def test_the_weakest_test_may_be_of_a_limit():
    means = np.array([[1.0, 0.42], [2.0, 2.0], [0.0, 3.0]])
    words = trial(means=means, **LIMITED, n_pulls=60).why()
    assert "The weakest test: dose 0 meets harm at most 0.5." in words
    means = np.array([[1.0, 0.0], [2.0, 0.52], [0.0, 3.0]])
    assert "The weakest test: dose 1 breaks harm at most 0.5." in trial(means=means, **LIMITED, n_pulls=60).why()


def test_a_combination_of_objectives():
    means = np.array([[4.0, 3.0], [5.0, 1.0], [1.0, 0.5]])
    given = {"objectives": ("cost", "time"), "minimise": ()}
    experiment = trial(means=means, limits=[Limit({"cost": 1, "time": 2}, at_most=8)], **given)
    assert experiment.recommendation.arms == ("dose 1",)
    assert experiment.recommendation.reasons["dose 0"] == "infeasible: breaks cost + 2 time at most 8"


# Not to try further what is certified to break a limit


def test_options_that_are_certified_to_break_a_limit_are_left_alone():
    # Dose 1 is hard to place on the front, and easy to see as harmful.
    means = np.array([[1.0, 0.1], [1.02, 1.5], [0.95, 0.12]])
    free = trial(means=means, **LIMITED, n_pulls=800, threshold=Certified(pilot=3))
    kind = trial(means=means, **LIMITED, n_pulls=800, avoid_infeasible=True)
    assert kind._progress.standing().broken() == {1}
    assert kind.counts[1] < 0.5 * free.counts[1]
    # Asking twice gives the same, and n at once what n times one would.
    assert kind.choose(3, [0, 0, 0]) == kind.choose(3, [0, 0, 0])
    assert 1 not in kind.choose(20, [0, 0, 0])
    # Nothing is certified during a pilot: it is short if nobody said how long it is to be, and the document says so.
    assert kind.settings()["threshold"]["pilot"] == 3
    again = Experiment.from_json(kind.to_json())
    assert again.settings()["avoid_infeasible"] is True and again.choose(5, [0, 0, 0]) == kind.choose(5, [0, 0, 0])


def test_the_pilot_is_short_unless_it_was_given():
    given = {"at_most": {"harm": 0.5}, "family": Gaussian(variance=1.0), "avoid_infeasible": True}
    made = Settings.make(3, ("gain", "harm"), **given)
    assert made.threshold == Certified(pilot=3) and Settings.from_document(made.to_document()).threshold.pilot == 3
    assert Settings.make(3, ("gain", "harm"), **given, threshold=Certified(pilot=6)).threshold.pilot == 6
    assert Settings.make(3, ("gain", "harm"), **given | {"avoid_infeasible": False}).threshold == Certified()
    # A document from before has the pilot that it had.
    old = made.to_document() | {
        "threshold": Settings.make(2, 1, family=Gaussian(variance=1.0)).to_document()["threshold"]
    }
    assert Settings.from_document(old).threshold == Certified() and Settings.from_document(old).avoid_infeasible


@pytest.mark.parametrize("rule", [FraPPE(), InformationDirected(follow="evidence"), Oracle(allocation=(0.1, 0.8, 0.1))])
def test_whatever_the_rule(rule):
    means = np.array([[1.0, 0.1], [1.02, 2.0], [0.95, 0.12]])
    asked = {"avoid_infeasible": True, "sampling": rule}
    kind = trial(means=means, **LIMITED, n_pulls=200, **asked)
    assert kind._progress.standing().broken() == {1} and 1 not in kind.choose(30, [0, 0, 0])


def test_where_all_break_a_limit_it_ends():
    assert trial(at_most={"harm": -0.5}, avoid_infeasible=True).recommendation.arms == ()


@pytest.mark.parametrize("options", [{}, {**LIMITED, "threshold": "heuristic"}])
def test_avoiding_needs_a_limit_and_a_proof(options):
    with pytest.raises(InputError, match="avoid_infeasible must come with a limit and the certified threshold"):
        trial(avoid_infeasible=True, **options)


@pytest.mark.parametrize("family", [Gaussian(variance=0.04), Gaussian(variance="unknown")])
def test_what_a_known_price_rules_out_is_left_alone_at_once(family):
    """Two outcomes, however long the pilot: one of every option at first, and one after the pilot for the tests."""
    rng, means = np.random.default_rng(5), (1.0, 2.0, 0.7)
    experiment = Experiment(
        ("a", "b", "c"),
        ("gain", "price"),
        family=Product([family, Exact()]),
        minimise=("price",),
        at_most={"price": 10},
        known={"price": {"a": 3.0, "b": 30.0, "c": 3.0}},
        threshold=Certified(pilot=8),
        avoid_infeasible=True,
    )
    while not experiment.done and experiment.n_pulls < 500:
        arm = experiment.ask()
        if 3 <= experiment.n_pulls < 24:
            assert arm != "b"
        experiment.tell(arm, {"gain": means["abc".index(arm)] + 0.2 * rng.normal()})
    assert experiment.recommendation.status == "certified" and experiment.recommendation.arms == ("a",)
    assert experiment.counts[1] == 2 and experiment.counts.min() == 2


# Simulations


@pytest.mark.parametrize("options", [{"threshold": "certified"}, {**LIMITED, "threshold": ["certified", "heuristic"]}])
def test_simulated_avoiding_needs_a_limit_and_a_proof(options):
    problem = Problem(MEANS, cone=Cone.orthant(2), **KNOWN, **NAMES)
    with pytest.raises(InputError, match="avoid_infeasible must come with a limit and the certified threshold"):
        simulate(problem, sampling=FraPPE(), avoid_infeasible=True, **options)


def test_the_judge_agrees_with_the_slow_one():
    rng = np.random.default_rng(0)
    verdicts = []
    for case in sweep(per_cell=1, seed=41):
        L = case.facets.shape[1]
        eps = rng.exponential(0.5, L)
        if np.any(case.facets @ eps < 0):
            continue
        limits = [Limit({f"objective {q}": w for q, w in enumerate(rng.normal(size=L))}, at_least=rng.normal())]
        problem = Problem(case.means, family=Gaussian(covariance=case.covariance), cone=Cone(case.facets))
        found = limits_of(problem.labels, limits=limits)
        for tolerance in (None, eps):
            judge = Judge.of(problem, tolerance, found)
            for _ in range(10):
                answer = judge.pareto ^ (rng.random(len(case.means)) < 0.15)
                given = case.facets, case.means
                if tolerance is None:
                    slow = tuple(np.flatnonzero(answer)) == reference.answer(*given, (found.rows, found.level))
                else:
                    limits_given = case.facets @ eps, (found.rows, found.level)
                    slow = reference.right_within(*given, np.flatnonzero(answer).tolist(), *limits_given)
                assert judge.right(answer) == slow
                verdicts.append(slow)
    assert 0.1 < np.mean(verdicts) < 0.95


def test_simulated_answers_are_judged_with_limits():
    problem = Problem(MEANS, cone=Cone.orthant(2), **KNOWN, **NAMES)
    given = {"deltas": 0.1, "n_runs": 5, "max_pulls": 5000, "threshold": ["heuristic", "certified"]}
    runs = simulate(problem, sampling=[InformationDirected(), Oracle()], **given, **LIMITED)
    rows = list(runs.rows())
    assert all(row["stopped"] and row["correct"] and row["recommended"] == (0,) for row in rows)
    assert all(cell.floor > 0 for cell in runs.summary())
    empty = simulate(problem, sampling=FraPPE(), **given, at_most={"harm": -1.0}, limits=[])
    assert all(row["correct"] and row["recommended"] == () for row in empty.rows())


# Keeping it


def test_documents_are_as_they_were_without_limits():
    plain = Experiment(2, 2, **KNOWN).settings()
    assert "limits" not in plain and "avoid_infeasible" not in plain
    for nothing in ({"at_most": {}}, {"limits": []}, {"at_least": None}, {"avoid_infeasible": False}):
        assert Experiment(2, 2, **KNOWN, **nothing).settings() == plain


def test_documents_and_snapshots_keep_them():
    given = {
        "at_most": {"harm": 0.5},
        "at_least": {"gain": 0.0},
        "limits": [Limit({"gain": 1, "harm": -2}, at_least=-3)],
    }
    experiment = trial(**given, n_pulls=60)
    written = experiment.settings()["limits"]
    assert written == [
        {"weights": [0.0, 1.0], "at_most": 0.5},
        {"weights": [1.0, 0.0], "at_least": 0.0},
        {"weights": [1.0, -2.0], "at_least": -3.0},
    ]
    again = Experiment.from_json(experiment.to_json())
    assert again.settings() == experiment.settings()
    assert again.reached == experiment.reached and again.recommendation == experiment.recommendation
    done = trial(**given)
    fresh = Experiment.of(Settings.from_document(json.loads(json.dumps(done.settings()))))
    fresh.restore(done.snapshot())
    assert fresh.recommendation == done.recommendation and fresh.recommendation.reasons and fresh.why() == done.why()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"at_most": {"price": 1}}, "price"),
        ({"at_most": {"harm": float("nan")}}, "harm"),
        ({"at_most": 0.3}, "at_most must be a mapping"),
        ({"at_most": {"harm": 0.1}, "at_least": {"harm": 0.2}}, "must not contradict each other"),
        ({"limits": [Limit({"price": 1}, at_most=2)]}, "limits must be on"),
        ({"limits": ["harm <= 3"]}, "limits must be a Limit"),
        ({"at_least": {"harm": 1.5}, "family": Bernoulli()}, "limits must be possible for"),
        ({"avoid_infeasible": 1, **LIMITED}, "avoid_infeasible must be a bool"),
    ],
)
def test_bad_limits_are_refused_at_every_door(given, message, tmp_path):
    given = {**KNOWN, **given}
    with pytest.raises(InputError, match=message):
        Experiment(2, NAMES["objectives"], **given)
    with pytest.raises(InputError, match=message):
        Study.create(tmp_path / "x.db", "x", arms=2, objectives=NAMES["objectives"], **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"at_most": {"harm": 1.2}},
            "'harm at most 1.2' changes nothing: every mean meets it; a mean of harm is from 0 to 1",
        ),
        ({"at_least": {"gain": 0}}, "'gain at least 0'"),
        ({"limits": [Limit({"gain": 1, "harm": 2}, at_most=3)]}, "'gain \\+ 2 harm at most 3'"),
    ],
)
def test_a_limit_that_no_mean_breaks_is_said(given, words):
    with pytest.warns(UserWarning, match=words):
        Experiment(2, NAMES["objectives"], family=Bernoulli(), **given)
    # Of a Gaussian every number may be the mean.
    Experiment(2, NAMES["objectives"], family=Gaussian(variance=1.0), **given)


# Studies, HTTP, the command line and pictures


def run_study(study, means=MEANS, seed=3):
    rng = np.random.default_rng(seed)
    while (ticket := study.ask()) is not None:
        k = int(ticket.arm.split()[1])
        study.tell(ticket.token, (means[k] + 0.2 * rng.normal(size=2)).tolist())


def test_a_study_with_limits(tmp_path):
    made = {"arms": tuple(f"dose {k}" for k in range(3)), **NAMES, **KNOWN, **LIMITED}
    study = Study.create(tmp_path / "x.db", "x", **made, delta=0.2, avoid_infeasible=True)
    run_study(study)
    assert study.status().recommendation.arms == ("dose 0",)
    study.export(tmp_path / "log.jsonl")
    with (tmp_path / "log.jsonl").open() as log:
        found = check(study.certificate(), log)
    assert found.ok, found.problems
    picture = study.picture()
    assert picture["design"]["limits"] == [{"words": "harm at most 0.5", "weights": [0.0, 1.0], "value": 0.5}]
    assert picture["arms"][1]["reason"] == "infeasible: breaks harm at most 0.5"
    again = Study.open(tmp_path / "x.db", "x")
    assert again.why() == study.why() and again.verify().ok
    study.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "harm at most 0.5" in page and "infeasible: breaks" in page and "among those that meet the limits" in page


def test_a_study_without_an_answer_says_so(tmp_path):
    made = {"arms": tuple(f"dose {k}" for k in range(3)), **NAMES, **KNOWN}
    study = Study.create(tmp_path / "x.db", "x", **made, at_most={"harm": -0.5}, delta=0.2)
    run_study(study)
    assert study.status().recommendation.arms == () and study.done
    study.report(tmp_path / "report.html")
    assert "none meets every limit" in (tmp_path / "report.html").read_text()


def test_over_http(tmp_path):
    body = {"arms": ["a", "b"], "objectives": ["gain", "harm"], "variance": 1.0, "minimise": ["harm"]}
    sides = {"at_most": {"harm": 0.3}, "at_least": {"gain": 0.0}}
    sums = {"limits": ["gain + 2 harm <= 9", {"weights": {"gain": 1.0, "harm": -1.0}, "at_least": -4.0}]}
    with TestClient(make_app(str(tmp_path / "x.db")), base_url="http://127.0.0.1:8000") as web:
        answer = web.post("/api/studies", json=body | sides | sums | {"name": "x", "avoid_infeasible": True})
        assert answer.status_code in (200, 201), answer.text
        design = web.get("/api/studies/x/view").json()["design"]
        words = [limit["words"] for limit in design["limits"]]
        assert words == ["harm at most 0.3", "gain at least 0", "gain + 2 harm at most 9", "gain - harm at least -4"]
        assert design["avoid_infeasible"] is True
        for bad, status in (
            ({"at_most": {"price": 1.0}}, 400),
            ({"limits": ["harm"]}, 400),
            ({"limits": [{"weights": {"harm": 1.0}}]}, 400),
            ({"limits": [{"weights": {}, "at_most": 1.0}]}, 422),
            ({"at_least": {"harm": "x"}}, 422),
            ({"avoid_infeasible": True}, 400),
            ({"avoid_infeasible": "yes"}, 422),
        ):
            assert web.post("/api/studies", json=body | bad | {"name": "bad"}).status_code == status, bad


def shown(*words, code=0):
    result = CliRunner().invoke(commands, list(words))
    assert result.exit_code == code, result.output
    return result.output


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"dose {k},{gain},{harm}" for k, (gain, harm) in enumerate(MEANS))
    (tmp_path / "means.csv").write_text(f"arm,gain,harm\n{rows}\n")
    source = "means.csv", "--minimise", "harm", "--variance", "0.04", "--at-most", "harm=0.5"
    words = shown("bound", *source)
    assert "Pareto set of the 2 that meet the limits (1): 0 dose 0" in words and "would become feasible" in words
    assert json.loads(shown("bound", *source, "--format", "json"))["pareto_names"] == ["dose 0"]
    words = shown("run", *source, "--runs", "5", "--rule", "information", "--limit", "gain + harm >= 0")
    assert "Limits: harm at most 0.5, gain + harm at least 0" in words and "0/5" in words
    create = "study", "create", "dose", "--arm", "a", "--arm", "b", "--objective", "gain", "--variance", "1"
    words = shown(*create, "--at-least", "gain=0.5", "--avoid-infeasible")
    assert "limits:        gain at least 0.5" in words
    assert "at_most must read OBJECTIVE=NUMBER" in shown(*create, "--at-most", "gain", code=2)
    assert "limit must read like" in shown(*create, "--limit", "gain < 3", code=2)
    assert "limits must not contradict" in shown(*create, "--limit", "gain <= 3", "--at-least", "gain=4", code=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("toxicity <= 0.3", "toxicity at most 0.3"),
        ("cost + 2 time <= 10", "cost + 2 time at most 10"),
        ("-cost >= -3", "-cost at least -3"),
        ("2*a - 3 * b<=1e-3", "2 a - 3 b at most 0.001"),
        ("- 1.5 x-ray + 2 10 mg >= 4", "-1.5 x-ray + 2 10 mg at least 4"),
    ],
)
def test_limits_in_words(text, words):
    assert parse_limit(text).words == words


@pytest.mark.parametrize("text", ["a", "a <= b", "<= 3", "a + a <= 1", "a < 3", "a <= 1,5", "a <= 1 <= 2"])
def test_words_that_are_no_limit(text):
    with pytest.raises(InputError, match="limit must read like"):
        parse_limit(text)


def test_limits_are_drawn():
    problem = Problem(MEANS, cone=Cone.orthant(2), **KNOWN, **NAMES)
    figure = plot.fronts(problem, at_most={"harm": 0.5}, limits=[Limit({"gain": 1, "harm": 1}, at_most=9)])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Pareto set, orthant(2): 1" in labels and "harm at most 0.5" in labels and "gain + harm at most 9" in labels
