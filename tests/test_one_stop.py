"""A compiled run is the live run: the same arms, stop and answer, for every rule, family and threshold."""

import numpy as np
import pytest
from test_law_runs import PROBLEMS

from prepex import Cone, Experiment, Gaussian, Problem, simulate
from prepex.run import Setting
from prepex.sampling import (
    APE,
    PSIPS,
    AcceleratedPreTS,
    Auer,
    FraPPE,
    InformationDirected,
    Oracle,
    TnS,
    Uniform,
)
from prepex.simulation import noise_of, pay_first

MEANS = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0], [0.3, -0.3]])
ALL = PROBLEMS | {
    "gaussian": Problem(MEANS, family=Gaussian(variance=1.0), cone=Cone.angle(120)),
    "far": Problem(
        1e6 + MEANS, family=Gaussian(covariance=[[1.0, 0.4], [0.4, 0.8]]), cone=Cone.orthant(2), minimise=(1,)
    ),
}
RULES = (
    FraPPE(),
    InformationDirected(),
    InformationDirected(follow="evidence"),
    AcceleratedPreTS(gap=0.2),
    TnS(),
    Uniform(),
)
# With a question each rule is run with the threshold that it is used with most.
ASKED = {"heuristic": (FraPPE(), TnS()), "certified": (InformationDirected(),)}
SEED, DELTA = 4, 0.3


def live_run(problem, rule, threshold, **asked):
    """An experiment that is told the rewards of run 0 of a simulation."""
    labels = problem.labels
    key = int(np.random.SeedSequence((SEED, 0, 1)).generate_state(1, np.uint64)[0])
    experiment = Experiment(
        labels.arms,
        labels.objectives,
        family=problem.family,
        cone=problem.cone,
        minimise=labels.minimise,
        sampling=rule,
        threshold=threshold,
        delta=DELTA,
        **asked,
    )
    object.__setattr__(experiment.setting, "key", key)
    setting = Setting.make(problem.family, problem.cone, labels, rule, experiment.setting.threshold, key)
    roots, draw = noise_of(setting, np.random.default_rng(np.random.SeedSequence((SEED, 0, 0))))
    truth = np.array(problem.means)

    def tell(arm):
        row = draw(1)[0]
        pay_first(setting, truth, roots, arm, row)
        experiment.tell(arm, row)

    for arm in range(problem.n_arms):
        tell(arm)
    while not experiment.done and experiment.n_pulls < 20_000:
        tell(labels.arms.index(experiment.ask()))
    return experiment


def compare(problem, rule, threshold, **asked):
    given = {"deltas": DELTA, "n_runs": 1, "seed": SEED, **asked}
    (row,) = simulate(problem, sampling=rule, threshold=threshold, **given).rows()
    live = live_run(problem, rule, threshold, **asked)
    assert live.done and row["stopping_time"] == live.recommendation.n_pulls
    assert tuple(problem.labels.arms[k] for k in row["recommended"]) == live.recommendation.arms
    return live


@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
@pytest.mark.parametrize("name", ALL)
def test_a_compiled_run_is_the_live_run(name, threshold):
    problem = ALL[name]
    for rule in (*RULES, Oracle(allocation=tuple(np.arange(2.0, 2.0 + problem.n_arms)))):
        live = compare(problem, rule, threshold)
        assert live.recommendation.status == threshold
        if threshold == "certified":
            # The first pull at which every test holds: not one before it, and no pull goes by without a look.
            assert live.reached >= live.needed


@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
@pytest.mark.parametrize("name", ALL)
def test_a_compiled_run_is_the_live_run_with_a_tolerance(name, threshold):
    problem = ALL[name]
    # Some of what the arms differ by, and what the cone calls better.
    size = 0.2 * np.ptp(problem.means, axis=0)
    for rule in ASKED[threshold]:
        live = compare(problem, rule, threshold, tolerance=size)
        assert live.recommendation.status == threshold


@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
@pytest.mark.parametrize("name", ALL)
def test_a_compiled_run_is_the_live_run_with_a_limit(name, threshold):
    problem = ALL[name]
    # Between the two middle arms: some meet it, and some do not.
    values = np.sort(problem.means[:, 0])
    middle = len(values) // 2
    limit = {problem.labels.objectives[0]: 0.5 * (values[middle - 1] + values[middle])}
    for rule in ASKED[threshold]:
        live = compare(problem, rule, threshold, at_least=limit)
        assert live.recommendation.status == threshold and live.recommendation.reasons


@pytest.mark.parametrize("rule", [PSIPS(), APE(), Auer()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", ["gaussian", "far"])
def test_a_compiled_run_of_a_rule_with_its_own_stop_is_the_live_run(name, rule):
    compare(ALL[name], rule, "own")


def test_a_compiled_run_avoids_what_the_live_run_avoids():
    means = [[1.0, 0.1], [1.1, 1.6], [0.7, 0.15]]
    problem = Problem(means, family=Gaussian(variance=0.04), cone=Cone.orthant(2), minimise=(1,))
    asked = {"at_most": {"objective 1": 0.5}}
    live = compare(problem, Uniform(), "certified", **asked, avoid_infeasible=True)
    # In turns, but for the one that was left alone.
    assert live.counts[1] < live.counts[0] - 1
    compare(problem, InformationDirected(), "certified", **asked, avoid_infeasible=True)
