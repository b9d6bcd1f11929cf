"""Runs of families beyond the known Gaussian: the rules, live against compiled, bad rewards, documents."""

import numpy as np
import pytest

from prepex import (
    Bernoulli,
    Cone,
    Experiment,
    Exponential,
    Gaussian,
    Poisson,
    Problem,
    Product,
    characteristic_time,
    simulate,
)
from prepex._kernels.laws.reward import reward_of
from prepex.family import draw_noise
from prepex.instances import bernoulli
from prepex.sampling import APE, PSIPS, AcceleratedPreTS, Auer, FraPPE, InformationDirected, TnS, Uniform
from prepex.stopping import Certified

MIXED = Problem(
    [[0.8, 0.0, 2.0], [0.3, 1.5, 3.0], [0.4, -0.5, 4.0], [0.2, 0.5, 6.0]],
    family=Product([Bernoulli(), Gaussian(variance=0.5), Poisson()]),
    cone=Cone.orthant(3),
    objectives=("cured", "gain", "visits"),
    minimise=("visits",),
)
UNKNOWN = Problem(
    [[1.0, 0.0], [0.0, 1.0], [-0.5, -0.5]], family=Gaussian(variance="unknown", noise=0.3), cone=Cone.orthant(2)
)
TIMES = Problem([[1.0, 3.0], [3.0, 1.0], [4.0, 6.0]], family=Exponential(), cone=Cone.angle(110), minimise=(0, 1))
SHARED = Problem(
    [[1.0, 0.0, 0.6], [0.0, 1.0, 0.4], [-0.5, -0.5, 0.3]],
    family=Product([Gaussian(variance="unknown", shared=True, noise=0.3)] * 2 + [Bernoulli()]),
    cone=Cone.from_facets([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.3, 0.0, 1.0]]),
)
PROBLEMS = {
    "bernoulli": bernoulli(),
    "cone": bernoulli(Cone.angle(110)),
    "mixed": MIXED,
    "unknown": UNKNOWN,
    "shared": SHARED,
    "times": TIMES,
}
RULES = {
    "frappe": FraPPE(),
    "information": InformationDirected(),
    "prets": AcceleratedPreTS(gap=0.1),
    "tns": TnS(),
    "uniform": Uniform(),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_rule_finds_the_set(name):
    runs = simulate(
        PROBLEMS[name], sampling=list(RULES.values()), threshold=["heuristic", "certified"], n_runs=3, seed=5
    )
    assert all(row["stopped"] for row in runs.rows())
    assert sum(not row["correct"] for row in runs.rows()) <= 1


def test_results_do_not_depend_on_the_number_of_workers():
    several = [simulate(MIXED, sampling=FraPPE(), n_runs=4, seed=6, n_jobs=jobs).rows() for jobs in (1, 2)]
    assert [row["stopping_time"] for row in several[0]] == [row["stopping_time"] for row in several[1]]


def test_rewards_have_the_distribution_they_should():
    rng = np.random.default_rng(7)
    for mean in (0.2, 3.7, 40.0, 900.0):
        draws = np.array([reward_of(2, mean, 0.0, u) for u in rng.random(4000)])
        assert draws.mean() == pytest.approx(mean, abs=5 * np.sqrt(mean / 4000))
        assert draws.var() == pytest.approx(mean, rel=0.15)
        assert np.all(draws == np.floor(draws)) and draws.min() >= 0
    laws = MIXED.family.laws(4, 3)
    rows = draw_noise(laws, np.random.default_rng(8), 6)
    again = np.random.default_rng(8)
    assert np.array_equal(rows, np.vstack([draw_noise(laws, again, 2) for _ in range(3)]))


@pytest.mark.parametrize(
    ("family", "reward", "message"),
    [
        (Bernoulli(), [0.5, 1.0], "reward of 'cured' must be 0 or 1 for Bernoulli, got 0.5"),
        (Poisson(), [1.0, -1.0], "reward of 'toxic' must be 0, 1, 2, ... for Poisson, got -1"),
        (Poisson(), [1.5, 1.0], "reward of 'cured' must be 0, 1, 2, ... for Poisson, got 1.5"),
        (Exponential(), [1.0, -2.0], "reward of 'toxic' must be positive for Exponential, got -2"),
    ],
)
def test_a_reward_outside_the_support_changes_nothing(family, reward, message):
    experiment = Experiment(3, ("cured", "toxic"), family=family)
    experiment.tell(0, [1.0, 1.0])
    before = experiment.to_json()
    with pytest.raises(ValueError, match=message):
        experiment.tell_many([(1, [1.0, 1.0]), (2, reward)])
    assert experiment.to_json() == before


@pytest.mark.parametrize(
    "family",
    [
        Bernoulli(),
        Product([Poisson(), Gaussian(variance=2.0)]),
        Gaussian(variance="unknown"),
        Product([Exponential(), Gaussian(variance="unknown", noise=1.0)]),
        Gaussian(variance="unknown", shared=True),
    ],
)
def test_documents_resume(family):
    experiment = Experiment(3, 2, family=family, cone=Cone.angle(100), seed=2)
    rng = np.random.default_rng(9)
    for _ in range(40):
        experiment.tell(experiment.ask(), rng.integers(0, 2, 2) + (0.0 if family.laws(1, 2).codes[0] != 3 else 1.0))
    again = Experiment.from_json(experiment.to_json())
    assert repr(again.family) == repr(family) and again.ask() == experiment.ask()
    assert again.reached == experiment.reached and again.why() == experiment.why()


def test_yes_and_no_may_be_truth_values():
    told = [Experiment(2, 2, family=Bernoulli()) for _ in range(2)]
    told[0].tell_many([(0, [True, False]), (1, np.array([False, False]))])
    told[1].tell_many([(0, [1, 0]), (1, [0, 0])])
    assert np.array_equal(told[0].means, told[1].means)


def test_all_successes_do_not_stop_early():
    experiment = Experiment(3, 2, family=Bernoulli(), delta=0.1)
    for _ in range(60):
        experiment.tell(experiment.ask(), [1.0, 1.0])
    assert not experiment.done and experiment.evidence.value == 0.0


def test_unknown_variance_waits_for_degrees_of_freedom():
    experiment = Experiment(2, 1, family=Gaussian(variance="unknown"), threshold="heuristic", delta=0.5)
    for n in range(2):
        for arm, value in ((0, 100.0), (1, 0.0)):
            experiment.tell(arm, [value + 0.001 * n])
    assert not experiment.done and experiment.evidence.value == 0.0
    for shared in (False, True):
        constant = Experiment(2, 1, family=Gaussian(variance="unknown", shared=shared))
        for _ in range(40):
            constant.tell(constant.ask(), [1.0 if constant.ask() == "arm 0" else 0.0])
        assert not constant.done


def test_a_shared_variance_waits_for_degrees_of_freedom_too():
    experiment = Experiment(3, 1, family=Gaussian(variance="unknown", shared=True), threshold="heuristic", delta=0.5)
    for arm, value in ((0, 100.0), (1, 0.0), (2, -3.0), (0, 100.1)):
        experiment.tell(arm, [value])
    assert not experiment.done and experiment.reached < 1e-9


def test_a_shared_variance_costs_less_than_one_for_each_arm():
    means = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6], [-0.5, -0.5]]
    stops = []
    for shared in (False, True):
        family = Gaussian(variance="unknown", noise=0.3, shared=shared)
        problem = Problem(means, family=family, cone=Cone.orthant(2))
        stops.append(simulate(problem, sampling=InformationDirected(), threshold="certified", n_runs=20, seed=3))
    assert stops[1].summary()[0].mean < stops[0].summary()[0].mean


def test_the_floor_holds_where_a_law_is_not_convex():
    """Two arms far apart: T* by brute force lies between the bounds, and the floor is by the lower one."""
    problem = Problem([[3.0], [0.0]], family=Gaussian(variance="unknown", noise=1.0), cone=Cone.orthant(1))
    bound = characteristic_time(problem)
    shares, x = np.linspace(0.01, 0.99, 99)[:, None], np.linspace(0, 3, 3001)
    exact = 1 / np.max(np.min(shares * np.log1p((3 - x) ** 2) / 2 + (1 - shares) * np.log1p(x**2) / 2, axis=1))
    assert bound.lower <= exact * (1 + 1e-4) and exact <= bound.upper and bound.gap > 0.1
    assert bound.floor(0.1) == pytest.approx(bound.lower * 1.7578, rel=1e-4)
    near = Problem([[0.3], [0.0]], family=Gaussian(variance="unknown", noise=1.0), cone=Cone.orthant(1))
    assert characteristic_time(near).gap < 1e-5


def test_unknown_variance_costs_more_than_a_known_one():
    known = characteristic_time(Problem(UNKNOWN.means, family=Gaussian(variance=0.3), cone=UNKNOWN.cone)).time
    assert characteristic_time(UNKNOWN).time > known


@pytest.mark.parametrize("rule", [PSIPS(), APE(), Auer()])
def test_gaussian_baselines_refuse(rule):
    with pytest.raises(ValueError, match="is for Gaussian rewards of known covariance, got Bernoulli"):
        simulate(bernoulli(), sampling=rule, n_runs=1)


def test_what_a_family_cannot_do_is_refused():
    with pytest.raises(ValueError, match="pilot must be at least 1 round"):
        Experiment(2, 1, family=Bernoulli(), threshold=Certified(pilot=0))
    with pytest.raises(ValueError, match="noise must be given to simulate"):
        simulate(Problem([[1.0], [0.0]], family=Gaussian(variance="unknown"), cone=Cone.orthant(1)), sampling=Uniform())
    with pytest.raises(ValueError, match="one-parameter families"):
        Experiment(2, 1, family=Gaussian(variance="unknown"), threshold="kaufmann_koolen")
