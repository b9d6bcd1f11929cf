"""Divergences and penalties at counts and means so large that the textbook forms lose every digit."""

import numpy as np
import pytest
import reference_digits as digits

from prepex import Bernoulli, Cone, Experiment, Exponential, Gaussian, InputError, Poisson, Problem
from prepex._kernels.laws.fresh import student_penalty
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.laws.law import BERNOULLI, EXPONENTIAL, POISSON, divergence
from prepex._kernels.laws.pair import lone_cost
from prepex._kernels.laws.penalty import bernoulli_penalty, exponential_penalty, poisson_penalty
from prepex._kernels.laws.reward import poisson_from
from prepex.stopping import Certified
from prepex.study import check_laws
from prepex.study.certificate import make_certificate
from prepex.study.check import check
from prepex.study.config import Config

CODES = {"bernoulli": BERNOULLI, "poisson": POISSON, "exponential": EXPONENTIAL}


def penalty(law, n, x, n0, m0):
    """The engine's."""
    weight = 0.5 * n0
    if law == "bernoulli":
        return bernoulli_penalty(n, x, weight, m0)
    if law == "poisson":
        return poisson_penalty(n, x, weight, m0)
    return exponential_penalty(n, x, 0.5 + weight, weight * m0 / (0.5 + weight))


def sample(rng, law):
    """(n, mean, n of the pilot, its mean): of one law, at every size, sometimes at the border of the domain."""
    n, n0 = (float(np.floor(10.0 ** rng.uniform(0, top))) for top in (9, 6))
    if law == "bernoulli":
        chance = 10.0 ** rng.uniform(-9, -0.1)
        chance = 1.0 - chance if rng.random() < 0.5 else chance
        return n, rng.binomial(int(n), chance) / n, n0, rng.binomial(int(n0), chance) / n0
    mean = 10.0 ** (rng.uniform(-2, 15.5) if law == "poisson" else rng.uniform(-50, 50))
    spread = np.sqrt(mean) if law == "poisson" else mean
    x, m0 = (max(mean + rng.normal() * spread / np.sqrt(size), 0.1 * mean) for size in (n, n0))
    return n, 0.0 if law == "poisson" and rng.random() < 0.05 else x, n0, m0


@pytest.mark.parametrize("law", CODES)
def test_penalties_keep_their_digits_at_every_size(law):
    rng = np.random.default_rng(1)
    for _ in range(400):
        given = sample(rng, law)
        exact = digits.penalty(law, *given)
        assert abs(penalty(law, *given) - exact) <= 1e-9 * max(1.0, 1e-5 * exact), given
        assert abs(check_laws.penalty_of_law(law, *given) - exact) <= 1e-9 * max(1.0, 1e-5 * exact), given


def test_the_penalty_of_a_mean_of_1e9_after_a_million_outcomes():
    """Written out, the parts of it are 2e16, and their difference was off by up to 9."""
    given = "poisson", 1e6, 1e9 + 20.0, 10.0, 1e9 - 4000.0
    exact = digits.penalty(*given)
    assert 5.0 < exact < 10.0
    assert penalty(*given) == pytest.approx(exact, abs=1e-9)
    assert check_laws.penalty_of_law(*given) == pytest.approx(exact, abs=1e-9)


def test_the_penalty_of_an_unknown_variance_keeps_its_digits():
    rng = np.random.default_rng(2)
    for _ in range(300):
        n, n0 = float(np.floor(3 + 10.0 ** rng.uniform(0, 9))), float(np.floor(2 + 10.0 ** rng.uniform(0, 6)))
        mean, spread = rng.normal() * 10.0 ** rng.uniform(-8, 8), 10.0 ** rng.uniform(-8, 8)
        x, m0 = (mean + spread * rng.normal() / np.sqrt(size) for size in (n, n0))
        ss, ss0 = (spread**2 * size * max(0.1, 1 + rng.normal() / np.sqrt(size)) for size in (n, n0 - 1))
        given = n, x, ss, n0, m0, ss0, spread**2
        exact = digits.student_penalty(*given)
        assert abs(student_penalty(*given) - exact) <= 1e-9, given
        found = check_laws.Tests.unknown(n, x - m0, ss, n0, ss0, spread**2)
        assert abs(found - exact) <= 1e-9 + 1e-14 * (abs(mean) / spread) * np.sqrt(n0), given


@pytest.mark.parametrize("law", CODES)
def test_divergences_of_close_means_keep_their_digits(law):
    rng = np.random.default_rng(3)
    for _ in range(1000):
        mu = rng.uniform(0.001, 0.999) if law == "bernoulli" else 10.0 ** rng.uniform(-3, 15)
        x = mu * (1.0 + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-15, 0.5))
        x = min(max(x, 1e-9), 1.0 - 1e-9) if law == "bernoulli" else max(x, 1e-3 * mu)
        exact = digits.divergence(law, mu, x)
        assert divergence(CODES[law], mu, x, 1.0) == pytest.approx(exact, rel=1e-12, abs=0.0)
        assert check_laws.divergence(law, mu, x, 1.0) == pytest.approx(exact, rel=1e-12, abs=0.0)


def test_divergences_at_the_border_of_the_domain():
    assert divergence(BERNOULLI, 0.0, 0.5, 1.0) == divergence(BERNOULLI, 1.0, 0.5, 1.0) == pytest.approx(np.log(2))
    assert divergence(BERNOULLI, 0.5, 0.0, 1.0) == divergence(BERNOULLI, 0.5, 1.0, 1.0) == np.inf
    assert divergence(POISSON, 0.0, 3.0, 1.0) == 3.0 and divergence(POISSON, 3.0, 0.0, 1.0) == np.inf
    assert divergence(POISSON, 1e-310, 2.0, 1.0) == 2.0
    assert divergence(EXPONENTIAL, 1e100, 1e-310, 1.0) == np.inf


@pytest.mark.parametrize("law", CODES)
def test_the_cost_of_a_pair_keeps_its_digits(law):
    rng = np.random.default_rng(4)
    for _ in range(300):
        (n, x, _, _), m = sample(rng, law), float(np.floor(10.0 ** rng.uniform(0, 9)))
        spread = np.sqrt(x * (1 - x)) if law == "bernoulli" else np.sqrt(x) if law == "poisson" else x
        y = x - spread * rng.uniform(0, 9) / np.sqrt(n)
        if y <= 0 or x == y:
            continue
        inst = make_instance(np.array([CODES[law]]), np.ones((2, 1)), np.eye(1), np.array([[x], [y]]), np.array([n, m]))
        exact = digits.pooled_cost(law, n, x, m, y)
        assert lone_cost(inst, 0, 1, 0) == pytest.approx(exact, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("mean", [1e9, 1e13])
def test_equal_arms_of_huge_counts_are_not_told_apart(mean):
    """Each run is wrong with probability at most 0.05, in truth about 0.01: more than 6 of 60 cannot be chance."""
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(60):
        experiment = Experiment(2, 1, family=Poisson(), delta=0.05, threshold=Certified(pilot=5))
        arms = np.tile([0, 1], 400)
        experiment.tell_log(arms, rng.poisson(mean, (arms.size, 1)).astype(float))
        wrong += experiment.done
    assert wrong <= 6


@pytest.mark.parametrize("cone", [None, Cone.angle(100)], ids=("orthant", "angle"))
def test_certificates_of_huge_counts_are_checked_to_the_same_digits(cone):
    """Counts far from 0 are Gaussian: in standard deviations, the margin does not depend on the mean."""
    margins = []
    arms = np.tile([0, 1, 2], 30)
    noise = np.random.default_rng(6).normal(size=(arms.size, 2))
    away = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])[arms] + noise
    for mean in (1e9, 1e11, 1e13, 1e15):
        experiment = Experiment(3, 2, family=Poisson(), cone=cone, delta=1e-9, threshold=Certified(pilot=3))
        experiment.tell_log(arms, np.round(mean + np.sqrt(mean) * away))
        result = check(make_certificate(Config.make("x", experiment, None), experiment, 0, "0" * 64))
        assert result.ok, result.problems
        margins.append(experiment.reached)
    assert margins == pytest.approx([margins[0]] * 4, abs=1e-3) and np.isfinite(margins[0])


@pytest.mark.parametrize("mean", [0.3, 7.5, 1e4, 1e7])
def test_the_law_of_simulated_counts(mean):
    """The middle outcome's share, on which all others are built, by the intervals of [0, 1) that go to it."""
    middle = np.floor(mean)
    low, high = 0.0, 1.0
    for _ in range(60):
        half = 0.5 * (low + high)
        low, high = (half, high) if poisson_from(mean, half) == middle else (low, half)
    from scipy.stats import poisson

    assert low == pytest.approx(poisson.pmf(middle, mean), rel=1e-8)


def test_counts_beyond_what_a_double_holds_are_refused():
    experiment = Experiment(2, 1, family=Poisson())
    experiment.tell("arm 0", [2.0**53])
    with pytest.raises(InputError, match=r"objective 0.* at most 2\^53 \(larger counts cannot be told apart\)"):
        experiment.tell("arm 0", [2.0**53 + 2])
    with pytest.raises(InputError, match=r"at most 2\^53"):
        Problem([[1e17]], family=Poisson(), cone=Cone.orthant(1))
    with pytest.raises(InputError, match=r"at most 2\^53"):
        Poisson().summary_values({"x": 1e17}, ("x",), 5)
    assert Exponential().summary_values({"x": 1e17}, ("x",), 5) == {"x": 1e17}
    for family in (Bernoulli(), Gaussian(variance=1.0)):
        family.check_values({"x": 1.0}, ("x",))


def test_a_summary_of_large_counts_is_taken_as_whole():
    """Mean times n is whole up to the rounding of the mean, which is more than the digits that a user leaves out."""
    total = 3 * 10**13 + 1
    assert Poisson().summary_values({"x": total / 7}, ("x",), 7) == {"x": total / 7}
    with pytest.raises(InputError, match="with all its digits"):
        Poisson().summary_values({"x": 1000.3}, ("x",), 7)
