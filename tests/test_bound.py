"""The characteristic time: check values, an independent solver, certified bounds."""

import numpy as np
import pytest

from prepex import Cone, Gaussian, Problem, characteristic_time, evidence, one, solvers
from prepex import bound as bound_module
from prepex._kernels.room import make_pieces
from prepex.bound import binary_kl
from prepex.instances import correlated, covboost, snw

import reference
from cases import random_case


def test_covboost():
    bound = characteristic_time(covboost())
    assert bound.time == pytest.approx(2103.751, rel=1e-5)
    assert 0 <= bound.gap <= 1e-6
    assert bound.allocation[[8, 14, 18]] == pytest.approx([0.1435, 0.3466, 0.3777], abs=2e-4)
    assert round(bound.floor(0.1)) == 3698
    assert round(bound.floor(0.01)) == 9474


@pytest.mark.parametrize(("rho", "time"), [(-0.5, 89.8158), (0.0, 121.2630), (0.5, 147.2654)])
def test_correlated(rho, time):
    assert characteristic_time(correlated(rho)).time == pytest.approx(time, rel=1e-6)


def random_problem(seed, cone, noise):
    rng = np.random.default_rng(seed)
    case = random_case(rng, cone=cone, noise=noise, n_pareto=2, n_objectives=2, n_dominated=2)
    return case, Problem(case.means, family=Gaussian(covariance=case.covariance), cone=Cone(case.facets))


@pytest.mark.parametrize(
    ("seed", "cone", "noise"),
    [(0, "orthant", "diagonal"), (1, "acute", "correlated"), (2, "obtuse", "per_arm"), (3, "orthant", "per_arm")],
)
def test_small_instances_against_slsqp(seed, cone, noise):
    case, problem = random_problem(seed, cone, noise)
    slow = reference.characteristic_time(case.facets, case.covariances, case.means)
    bound = characteristic_time(problem)
    assert bound.time == pytest.approx(slow, rel=1e-4)
    assert bound.lower <= slow * (1 + 1e-9), "no allocation beats the certified bound"


def test_the_bounds_are_certified():
    rng = np.random.default_rng(5)
    for seed in range(6):
        _, problem = random_problem(10 + seed, ("orthant", "many", "obtuse")[seed % 3], "correlated")
        bound = characteristic_time(problem, 1e-5)
        assert bound.lower <= bound.time <= bound.upper and bound.gap <= 1e-5
        assert bound.allocation.sum() == pytest.approx(1.0) and bound.allocation.min() > 0

        def value(weights, problem=problem):
            return evidence(problem.means, weights, family=problem.family, cone=problem.cone).value

        assert value(bound.allocation) == pytest.approx(1 / bound.upper, rel=1e-9)
        for weights in rng.dirichlet(np.ones(problem.n_arms), size=50):
            assert value(weights) <= (1 / bound.lower) * (1 + 1e-12)


def test_two_arms_one_objective_in_closed_form():
    problem = Problem([[1.0], [0.5]], family=Gaussian(variance=2.0), cone=Cone.orthant(1))
    bound = characteristic_time(problem)
    assert bound.time == pytest.approx(8 * 2.0 / 0.5**2, rel=1e-6)  # w = 1/2 each
    assert bound.allocation == pytest.approx([0.5, 0.5], abs=1e-3)


def test_one_arm_and_ties():
    single = characteristic_time(Problem([[1.0, 2.0]], family=Gaussian(variance=1.0), cone=Cone.orthant(2)))
    assert single.time == 0.0 and single.floor(0.1) == 0.0 and single.gap == 0.0
    tie = characteristic_time(Problem([[1.0, 2.0]] * 2, family=Gaussian(variance=1.0), cone=Cone.orthant(2)))
    assert tie.time == np.inf and tie.floor(0.1) == np.inf


def test_a_tie_hidden_by_rounding_is_a_tie():
    problem = covboost()
    cone = Cone.tradeoffs(problem.labels.objectives, one("nt50").is_worth(between=(0.5, 2), of="anti_spike_igg"))
    assert characteristic_time(problem.with_cone(cone)).time == np.inf  # two scores of 14.235, equal but for rounding


@pytest.mark.parametrize("a", [1.0, 1e5, 1e6, 1e7, 1e9])
def test_units_do_not_make_ties(a):
    """Only scores that differ by their own rounding are equal, whatever the size of the others."""
    family = Gaussian(variance=[a * a, 1 / a**2])
    problem = Problem([[a, 1 / a], [2 * a, 0.0]], family=family, cone=Cone.orthant(2))
    assert characteristic_time(problem).time == pytest.approx(8.0, rel=1e-5)


def test_small_gaps_do_not_stall():
    bound = characteristic_time(snw(Cone.angle(150)))
    assert bound.gap <= 1e-6 and bound.time == pytest.approx(46110.41, rel=1e-5)
    for problem in (correlated(0.5), correlated(-0.5), covboost()):
        assert characteristic_time(problem, 1e-7).gap <= 1e-7


def test_exponentially_many_alternatives_take_little_memory(monkeypatch):
    """All pieces within the slack of a step would fill 71 GiB."""
    sizes = []

    def watched(*shape):
        pieces = make_pieces(*shape)
        sizes.append(pieces.whole.nbytes + pieces.real.nbytes)
        return pieces

    monkeypatch.setattr(solvers, "make_pieces", watched)
    bundles = []

    class Watched(bound_module.Bundle):
        def improve_upper(self):
            super().improve_upper()
            bundles.append(self.cuts.nbytes)

    monkeypatch.setattr(bound_module, "Bundle", Watched)
    problem = Problem(np.random.default_rng(0).random((200, 4)), family=Gaussian(variance=1.0), cone=Cone.orthant(4))
    bound = characteristic_time(problem, 1e-3)
    assert 0 < bound.gap <= 1e-3
    # To 1e-6 it is 41,751,287.
    assert bound.lower <= 41_751_290 and bound.upper >= 41_751_280
    found = evidence(problem.means, bound.allocation, family=problem.family, cone=problem.cone)
    assert found.value == pytest.approx(1 / bound.upper, rel=1e-9)
    assert max(sizes) < 1e6 and max(bundles) < 4e6


def test_more_alternatives_than_anyone_reads_are_refused_or_cut():
    problem = Problem(np.random.default_rng(0).random((200, 4)), family=Gaussian(variance=1.0), cone=Cone.orthant(4))
    found = evidence(problem.means, np.ones(200), family=problem.family, cone=problem.cone)
    with pytest.raises(ValueError, match=r"slack must leave at most 1,000 alternatives, got 0.1.*at_most=n"):
        found.pieces(0.1)
    few, more = found.pieces(0.1, at_most=20), found.pieces(0.1, at_most=150)
    assert len(few) == 20 and len(more) == 150
    assert [piece.value for piece in few] == pytest.approx([piece.value for piece in more[:20]], rel=1e-9)
    assert few[0].value == pytest.approx(found.value)
    with pytest.raises(ValueError, match="at_most must be an integer of at least 1"):
        found.pieces(0.1, at_most=0)


def test_binary_kl():
    for delta in (0.4, 0.1, 1e-3, 1e-9):
        direct = delta * np.log(delta / (1 - delta)) + (1 - delta) * np.log((1 - delta) / delta)
        assert binary_kl(delta) == pytest.approx(direct, rel=1e-12)
    assert binary_kl(0.7) == 0.0


def test_bad_input():
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\), got 1.5"):
        characteristic_time(correlated()).floor(1.5)
    with pytest.raises(ValueError, match="tol must be in"):
        characteristic_time(correlated(), 0.0)
    with pytest.raises(TypeError, match="problem must be a Problem, got 'covboost'"):
        characteristic_time("covboost")
    with pytest.raises(RuntimeError, match="did not reach tol=1e-06 in 1 iterations"):
        characteristic_time(covboost(), max_iterations=1)
