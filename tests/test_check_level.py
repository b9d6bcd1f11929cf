"""Certificates where numbers are level, or known without noise: genuine ones pass their check, forged ones do not.

Outcomes of one digit have means that are level but for a rounding; outcomes without noise are level for good.
"""

import json

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Exact, Experiment, Gaussian, Limit, LogNormal, Product, Study
from prepex.stopping import Certified
from prepex.study.certificate import make_certificate
from prepex.study.check import CLOSE, Result, _check_answer, check
from prepex.study.check_compare import compare_data
from prepex.study.check_evidence import solvable
from prepex.study.check_facts import Design, Facts, middle, running_means
from prepex.study.check_form import require_form
from prepex.study.config import Config


def problems(experiment, rows):
    """What the check says, given the outcomes of the log; and without them."""
    made = make_certificate(Config.make("x", experiment, None, None), experiment, 0, "0" * 64)
    given = json.loads(json.dumps(made, allow_nan=False))
    design, result = require_form(given), Result()
    facts = Facts.observed([(arm, row, 1) for arm, row in rows], design)
    with np.errstate(all="ignore"):
        compare_data(given, design, facts, result)
        _check_answer(given, design, facts, result, CLOSE)
    return result.problems + check(given).problems


def finished(tmp_path, means, sd, **options):
    """(certificate, lines) of a study at its end; the second objective has no noise."""
    family = Product([Gaussian(variance=sd**2), Exact()])
    study = Study.create(tmp_path / "x.db", "x", arms=[*means], objectives=("u", "v"), family=family, **options)
    rng = np.random.default_rng(0)
    while not study.done:
        ticket = study.ask()
        study.tell(ticket.token, [means[ticket.arm][0] + sd * rng.normal(), means[ticket.arm][1]])
    study.export(tmp_path / "log.jsonl")
    certificate = json.loads(json.dumps(study.certificate()))
    study.close()
    return certificate, (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)


def exchanged(certificate, arm, evidence):
    """The arm's place in the answer is the other one."""
    for entry in certificate["arms"]:
        if entry["name"] == arm:
            entry["pareto"] = not entry["pareto"]
    names = [entry["name"] for entry in certificate["arms"] if entry["pareto"]]
    answer = certificate["answer"] | {"arms": names}
    return certificate | {"answer": answer, "evidence": evidence}


@pytest.mark.parametrize("threshold", ["heuristic", "kaufmann_koolen"])
def test_an_option_far_away_does_not_make_the_others_level(tmp_path, threshold):
    # b has the better price, which has no noise: it is in the answer, however far a third option is.
    means = {"a": (5.0, 1.0), "b": (0.0, 2.0), "far": (-50.0, -1e14)}
    certificate, lines = finished(tmp_path, means, 0.1, threshold=threshold)
    assert certificate["answer"]["arms"] == ["a", "b"] and check(certificate, lines).ok
    for evidence in (certificate["evidence"], None):
        assert not check(exchanged(certificate, "b", evidence), lines).ok


@pytest.mark.parametrize("threshold", ["heuristic", "kaufmann_koolen"])
def test_what_breaks_a_limit_without_noise_is_not_in_the_answer(tmp_path, threshold):
    means = {"a": (5.0, 1.0), "b": (9.0, 2.0), "far": (-50.0, 1e14)}
    options = {"threshold": threshold, "minimise": ["v"], "at_most": {"v": 1.5}}
    certificate, lines = finished(tmp_path, means, 0.03, **options)
    assert certificate["answer"]["arms"] == ["a"] and check(certificate, lines).ok
    said = check(exchanged(json.loads(json.dumps(certificate)), "b", 1.0), lines).problems
    assert said == ["pareto: not so of b"]


def test_the_evidence_of_an_option_that_breaks_a_limit_without_noise_is_none():
    """Behind the comparison of the answer: the evidence alone says so, too."""
    from prepex.study.check_evidence import Stars

    options = {"threshold": "heuristic", "minimise": ["v"], "at_most": {"v": 1.5}}
    experiment = Experiment(("a", "b"), ("u", "v"), family=Product([Gaussian(variance=1.0), Exact()]), **options)
    rows = [(0, [5.0, 1.0]), (1, [9.0, 2.0]), (0, [5.5, 1.0])]
    experiment.tell_many(rows)
    design = Design.read(json.loads(json.dumps(experiment.settings())))
    stars = Stars(design, Facts.observed([(arm, row, 1) for arm, row in rows], design))
    assert stars.breaking(0) == np.inf and stars.breaking(1) == 0.0


def decimals(rng, K, L):
    """Outcomes of one digit: many means are level."""
    rows = np.round(rng.integers(0, 4, (5 * K, L)) * 0.1, 1) + rng.choice([0.0, 100.1])
    return [(k % K, np.round(row, 1).tolist()) for k, row in enumerate(rows)]


def test_means_of_the_pilot_that_are_level_but_for_a_rounding():
    rng, level = np.random.default_rng(3), 0
    for _ in range(80):
        K, L = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        covariance = 0.5 * np.eye(L) + 0.2
        families = Gaussian(variance=1.0), Gaussian(variance="unknown"), Gaussian(covariance=covariance)
        options = {"at_most": {"objective 0": round(0.1 * float(rng.integers(0, 4)), 1)}} if rng.random() < 0.5 else {}
        options |= {"tolerance": 0.1} if rng.random() < 0.3 else {}
        options |= {"cone": Cone.angle(120)} if L == 2 and rng.random() < 0.5 else {}
        options |= {"minimise": (0,)} if rng.random() < 0.3 else {}
        experiment = Experiment(K, L, family=families[rng.integers(3)], threshold=Certified(pilot=3), **options)
        experiment.tell_many(rows := decimals(rng, K, L))
        rows = rows[: experiment.recommendation.n_pulls]
        experiment = Experiment.of(experiment._settings)
        experiment.tell_many(rows)
        found = problems(experiment, rows)
        assert not found, (found, json.dumps(experiment.settings()), rows)
        design = Design.read(json.loads(json.dumps(experiment.settings())))
        level += Facts.observed([(arm, row, 1) for arm, row in rows], design).level_pilot(design)
    assert level > 20


def test_means_of_a_pilot_are_those_of_the_engine():
    rng = np.random.default_rng(4)
    for minimise in ((), (1,)):
        for _ in range(20):
            rows = decimals(rng, 3, 2)
            experiment = Experiment(3, 2, family=Gaussian(variance=1.0), minimise=minimise)
            experiment.tell_many(rows)
            design = Design.read(json.loads(json.dumps(experiment.settings())))
            arm, values = np.array([arm for arm, _ in rows]), np.array([row for _, row in rows])
            origin = design.origin(values[:3])
            assert np.array_equal(origin, experiment.course.origin)
            assert np.array_equal(running_means(arm, values - origin, 3), experiment.course.M)
    assert middle(np.array([1e-20, 2e-20, 1.0, 2.0, 3.0])) == 0.0


@pytest.mark.parametrize("threshold", ["heuristic", Certified(pilot=2)])
def test_few_outcomes_of_an_unknown_variance_beside_what_has_no_noise(threshold):
    """Nothing is known of a variance yet; what has no noise is known, alone or in a sum with what has."""
    rng, seen = np.random.default_rng(5), 0
    noisy = Gaussian(variance="unknown"), Gaussian(variance="unknown", shared=True), LogNormal(), Bernoulli()
    for _ in range(70):
        K, place = int(rng.integers(2, 5)), int(rng.integers(4))
        price = rng.integers(0, 3, K).astype(float)
        cone = [Cone.orthant(2), Cone.angle(60), Cone.angle(120)][rng.integers(3)]
        options = {"tolerance": {"v": 0.5}} if rng.random() < 0.3 and cone.name == "orthant(2)" else {}
        if rng.random() < 0.6:
            limits = [Limit({"v": 1.0}, at_most=1.0)]
            if place != 2:
                limits += [Limit({"u": 1.0, "v": -1.0}, at_least=-2.0), Limit({"u": 1.0, "v": 1.0}, at_most=1.5)]
            options["limits"] = limits[: int(rng.integers(1, 4))]
        family = Product([noisy[place], Exact()])
        experiment = Experiment(K, ("u", "v"), family=family, cone=cone, threshold=threshold, delta=0.3, **options)
        rows = []
        for turn in range(int(rng.integers(K, 4 * K))):
            if experiment.done:
                break
            arm = turn % K if turn < K else int(rng.integers(K))
            u = float(rng.integers(0, 2)) if place == 3 else float(np.round(np.exp(rng.normal()), 1) + 0.1)
            rows.append((arm, [u, float(price[arm])]))
            experiment.tell(*rows[-1])
        found = problems(experiment, rows)
        assert not found, (found, json.dumps(experiment.settings()), rows)
        seen += experiment.course is not None and not np.isfinite(experiment.reached)
    assert seen > 4


def test_limits_that_contradict_each_other_for_a_price():
    # At the price 3 the other must be at least 2, and at most 0.
    rows, lacks = np.array([[1.0], [-1.0]]), np.array([2.0, 0.0])
    assert not solvable(rows, lacks) and solvable(rows, -lacks) and solvable(1e-9 * rows, -1e-9 * lacks)


def test_a_level_pilot_without_the_log_is_said():
    experiment = Experiment(2, 1, family=Gaussian(variance=1.0), threshold=Certified(pilot=3))
    rows = [(0, [0.1]), (1, [0.2]), (0, [0.2]), (1, [0.2]), (0, [0.3]), (1, [0.2]), (0, [0.5]), (1, [0.1])]
    experiment.tell_many(rows)
    design = Design.read(json.loads(json.dumps(experiment.settings())))
    assert Facts.observed([(arm, row, 1) for arm, row in rows], design).level_pilot(design)
    rows[4] = 0, [0.4]
    assert not Facts.observed([(arm, row, 1) for arm, row in rows], design).level_pilot(design)


def test_evidence_without_end_is_written_as_a_number():
    # No chance makes up for this difference of prices on the second facet.
    options = {"family": Product([Bernoulli(), Exact()]), "cone": Cone.angle(120), "delta": 0.3}
    experiment = Experiment(("a", "b"), ("u", "v"), threshold=Certified(pilot=2), **options)
    rows = [(0, [0.0, 0.0]), (1, [0.0, 2.0])] + [(0, [0.0, 0.0]), (1, [1.0, 2.0])] * 2
    experiment.tell_many(rows)
    assert experiment.done and not problems(experiment, rows)


def told(experiment, values, most=300):
    """Rows of (arm, outcome) until the experiment ends, or so many."""
    rows = []
    while not experiment.done and len(rows) < most:
        arm = experiment.labels.arms.index(experiment.ask())
        rows.append((arm, values[arm]))
        experiment.tell(*rows[-1])
    return rows


@pytest.mark.parametrize("threshold", [Certified(), Certified(closed=False)], ids=("closed", "plain"))
@pytest.mark.parametrize("limited", [False, True])
def test_options_that_are_equal_without_noise_are_both_in_the_answer(threshold, limited):
    """Neither dominates the other, and that is known: the experiment ends."""
    values = [[1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [5.0, -9.0]]
    options = {"at_least": {"v": -2.0}} if limited else {}
    experiment = Experiment(("a", "b", "c", "d"), ("u", "v"), family=Exact(), threshold=threshold, **options)
    rows = told(experiment, values)
    assert experiment.done and experiment.recommendation.arms == (("a", "b") if limited else ("a", "b", "d"))
    # The pilot sees that nothing is in doubt: it is not longer than it must be.
    assert len(rows) == threshold.pilot_pulls(4) + 4
    assert not problems(experiment, rows)
    made = make_certificate(Config.make("x", experiment, None, None), experiment, 0, "0" * 64)
    given = json.loads(json.dumps(made))
    for wrong in ("a", "b"):
        assert not check(exchanged(given, wrong, given["evidence"])).ok
        exchanged(given, wrong, given["evidence"])


def test_options_that_are_equal_but_for_noise_are_not_known_to_be():
    experiment = Experiment(("a", "b"), ("u", "v"), family=Product([Gaussian(variance=1.0), Exact()]))
    told(experiment, [[1.0, 2.0], [1.0, 2.0]], most=60)
    assert not experiment.done and experiment.reached < 0


def test_a_wrong_test_is_named_in_words():
    experiment = Experiment(("a", "b"), ("u",), family=Gaussian(variance=1.0), threshold=Certified(pilot=1))
    experiment.tell_many([(0, [9.0]), (1, [0.0]), (0, [8.0]), (1, [0.5])])
    made = make_certificate(Config.make("x", experiment, None, None), experiment, 0, "0" * 64)
    made["arms"][1]["test"]["e"] += 1.0
    said = next(line for line in check(made).problems if line.startswith("test of b"))
    assert "a over b on facet 0, e " in said and "Test(" not in said and "{" not in said
