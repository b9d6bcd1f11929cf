"""Draws of truths against the quantiles of the posterior, family by family."""

import numpy as np
import pytest
from scipy import stats

from prepex import Bernoulli, Exact, Experiment, Exponential, Gaussian, LogNormal, Poisson, Product
from prepex.posterior_draws import draw_means, seen

N_DRAWS = 20_000
# Of a distribution function at the truth of 20,000 draws: five standard errors.
CLOSE = 5 * 0.5 / np.sqrt(N_DRAWS)


def told(family, rows, n_objectives=1):
    experiment = Experiment(2, n_objectives, family=family, threshold="heuristic")
    experiment.tell_many([(k % 2, row) for k, row in enumerate(rows)])
    return experiment


def drawn(experiment, **options):
    return draw_means(experiment.setting, seen(experiment.course), N_DRAWS, np.random.default_rng(5), **options)


def outcomes(family, n, rng):
    make = {
        "Bernoulli": lambda: rng.random(n) < 0.3,
        "Poisson": lambda: rng.poisson(2.0, n),
        "Exponential": lambda: rng.exponential(2.0, n),
        "LogNormal": lambda: np.exp(rng.standard_normal(n)),
    }
    return make.get(type(family).__name__, lambda: 3.0 + rng.standard_normal(n))().astype(float)


def posterior(family, x):
    """The posterior of the mean of one arm's outcomes, written down from a text book."""
    n, mean = len(x), np.mean(x)
    if isinstance(family, Bernoulli):
        return stats.beta(x.sum() + 0.5, n - x.sum() + 0.5)
    if isinstance(family, Poisson):
        return stats.gamma(x.sum() + 0.5, scale=1.0 / n)
    if isinstance(family, Exponential):
        return stats.invgamma(n, scale=x.sum())
    if isinstance(family, Gaussian) and not family.unknown:
        return stats.norm(mean, np.sqrt(2.0 / n))
    return stats.t(n - 1, mean, np.std(x, ddof=1) / np.sqrt(n))


@pytest.mark.parametrize(
    "family",
    [Gaussian(variance=2.0), Gaussian(variance="unknown"), LogNormal(), Bernoulli(), Poisson(), Exponential()],
    ids=repr,
)
def test_draws_follow_the_posterior_of_each_family(family):
    values = outcomes(family, 24, np.random.default_rng(1))
    found = drawn(told(family, values[:, None]))
    inner = np.log(values) if isinstance(family, LogNormal) else values
    for k in range(2):
        target = posterior(family, inner[k::2])
        for chance in (0.05, 0.25, 0.5, 0.75, 0.95):
            assert np.mean(found.means[:, k, 0] <= target.ppf(chance)) == pytest.approx(chance, abs=CLOSE)


def test_variances_are_drawn_with_the_means():
    values = outcomes(Gaussian(variance="unknown"), 20, np.random.default_rng(2))
    squares = [np.sum((values[k::2] - values[k::2].mean()) ** 2) for k in range(2)]
    own = drawn(told(Gaussian(variance="unknown"), values[:, None]))
    shared = drawn(told(Gaussian(variance="unknown", shared=True), values[:, None]))
    for k in range(2):
        assert np.mean(own.variances[:, k, 0] <= squares[k] / stats.chi2(9).ppf(0.5)) == pytest.approx(0.5, abs=CLOSE)
    both = stats.chi2(18).ppf(0.5)
    assert np.mean(shared.variances[:, 1, 0] <= sum(squares) / both) == pytest.approx(0.5, abs=CLOSE)
    assert np.array_equal(shared.variances[:, 0], shared.variances[:, 1])


def test_correlated_noise_and_what_has_none():
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    rows = np.random.default_rng(3).standard_normal((20, 2))
    found = drawn(told(Gaussian(covariance=covariance), rows, 2))
    assert np.cov(found.means[:, 0].T) * 10 == pytest.approx(covariance, abs=0.1)
    exact = told(Product([Gaussian(variance=1.0), Exact()]), [[0.0, 7.0 + k % 2] for k in range(6)], 2)
    assert np.all(drawn(exact).means[..., 1] == [7.0, 8.0])


def test_an_arm_without_a_variance_borrows_one():
    experiment = Experiment(2, 1, family=Gaussian(variance="unknown"), threshold="heuristic")
    experiment.tell_many([(0, [0.0]), (1, [1.0]), (0, [2.0]), (0, [1.0])])
    assert np.isinf(drawn(experiment).variances[:, 1]).all()
    lent = drawn(experiment, lent=2.0)
    assert np.mean(lent.variances[:, 1, 0] <= 2.0 / stats.chi2(2).ppf(0.5)) == pytest.approx(0.5, abs=CLOSE)
