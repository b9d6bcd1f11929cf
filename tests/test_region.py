"""Regions that hold at all times: by simulation, against a fixed-time region, and against their definition."""

import numpy as np
import pytest
from scipy.stats import binom, chi2

from prepex import Bernoulli, Experiment, Exponential, Gaussian, Poisson, Product
from prepex.region import GRID, intervals, radius
from prepex.stopping import Certified

RUNS, TIMES = 2000, 1000


def distances(rng, covariance):
    """Mahalanobis distances of the mean from the truth after 1, 2, ... outcomes, in RUNS runs."""
    root = np.linalg.cholesky(covariance)
    noise = rng.standard_normal((RUNS, TIMES, len(covariance))) @ root.T
    mean = noise.cumsum(axis=1) / np.arange(1, TIMES + 1)[:, None]
    return np.sqrt(np.einsum("rti,ij,rtj->rt", mean, np.linalg.inv(covariance), mean))


def test_the_regions_hold_at_all_times():
    """At this delta Ville's bound is nearly sharp, and a fixed-time region fails in most runs."""
    delta, covariance = 0.5, np.array([[1.0, 0.6], [0.6, 2.0]])
    seen = distances(np.random.default_rng(0), covariance)
    n = np.arange(1, TIMES + 1)
    allowed = np.array([radius([count], 2, delta)[0] for count in n])
    wrong = (seen > allowed).any(axis=1).sum()
    # A correct region exceeds this count with probability below 1e-9.
    assert wrong <= binom.isf(1e-9, RUNS, delta)
    assert wrong > 0.05 * RUNS, "not empty words either"
    fixed = np.sqrt(chi2.isf(delta, 2) / n)
    assert (seen > fixed).any(axis=1).mean() > 0.9


def test_the_risk_is_shared_by_the_arms():
    """Four arms with an outcome each in turn: one wrong anywhere, at any time, is a wrong run."""
    delta, arms = 0.5, 4
    seen = [distances(np.random.default_rng(arm), np.eye(1)) for arm in range(1, arms + 1)]
    allowed = np.array([radius([count] * arms, 1, delta)[0] for count in range(1, TIMES + 1)])
    wrong = np.any([(arm > allowed).any(axis=1) for arm in seen], axis=0).sum()
    alone = np.array([radius([count], 1, delta)[0] for count in range(1, TIMES + 1)])
    spoiled = np.any([(arm > alone).any(axis=1) for arm in seen], axis=0).sum()
    assert 0.05 * RUNS < wrong <= binom.isf(1e-9, RUNS, delta) < spoiled


@pytest.mark.parametrize("n", [1, 7, 1000, 10**7])
@pytest.mark.parametrize("n_objectives", [1, 2, 5])
def test_the_border_is_where_the_mixture_reaches_the_level(n, n_objectives):
    rho = np.array(GRID)
    q = radius([n, n], n_objectives, 0.05)[0] ** 2
    mixture = np.mean((rho / (n + rho)) ** (n_objectives / 2) * np.exp(n**2 * q / (2 * (n + rho))))
    assert np.log(mixture) == pytest.approx(np.log(2 / 0.05))


LAWS = {
    "bernoulli": (Bernoulli(), lambda rng, mean: float(rng.random() < mean)),
    "poisson": (Poisson(), lambda rng, mean: float(rng.poisson(mean))),
    "exponential": (Exponential(), lambda rng, mean: rng.exponential(mean)),
    "unknown": (Gaussian(variance="unknown"), lambda rng, mean: rng.normal(mean, 2.0)),
}


@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_other_families_hold_at_all_times(law):
    family, draw = LAWS[law]
    rng, delta, wrong, mean, widths = np.random.default_rng(5), 0.5, 0, 0.3, []
    for _ in range(60):
        experiment = Experiment(2, 1, family=family, threshold=Certified(pilot=2), delta=delta, seed=1)
        missed = False
        for t in range(100):
            experiment.tell(t % 2, [draw(rng, mean)])
            if t > 9:
                ends = intervals(experiment.course, delta)
                missed = missed or bool(np.any((ends[..., 0] > mean) | (ends[..., 1] < mean)))
        wrong += missed
        widths.append(np.ptp(ends[0, 0]))
    assert wrong <= binom.isf(1e-9, 60, delta)
    # Not empty words: far from all that the domain allows.
    assert np.median(widths) < {"bernoulli": 0.7, "poisson": 0.8, "exponential": 0.8, "unknown": 4.0}[law]


def test_the_ends_of_an_interval_cost_what_is_allowed():
    experiment, rng = Experiment(2, 2, family=Product([Bernoulli(), Poisson()])), np.random.default_rng(6)
    for t in range(60):
        experiment.tell(t % 2, [float(rng.random() < 0.4), float(rng.poisson(3.0))])
    fresh = experiment.course.fresh
    for k, q in np.ndindex(2, 2):
        low, high = intervals(experiment.course, 0.1)[k, q]
        n, mean = fresh.inst.N[k], fresh.inst.M[k, q]
        for end in (low, high):
            d = (Bernoulli(), Poisson())[q].divergence([mean], [end])
            assert n * d == pytest.approx(np.log(4 / 0.1) + fresh.penalty[k, q], rel=1e-6)
        assert low < mean < high


def test_more_outcomes_smaller_regions():
    found = radius(np.arange(0, 5000), 3, 0.05)
    assert np.isinf(found[0]) and np.all(np.diff(found[1:]) < 0)
    assert radius([10], 2, 0.01)[0] > radius([10], 2, 0.1)[0]
