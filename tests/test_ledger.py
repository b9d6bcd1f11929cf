"""The incremental ledger: after any sequence of moves it holds what a fresh one would find."""

import numpy as np
import pytest

from prepex._kernels import ledger as kernels
from prepex._kernels.branch import make_pieces, make_search

from cases import CONES, NOISES, random_case


def open_ledger(case, means, counts):
    covariance = case.covariance.reshape(-1, means.shape[1], means.shape[1])
    half = case.facets @ np.linalg.cholesky(covariance)
    return kernels.open_ledger(half @ np.swapaxes(half, 1, 2), means @ case.facets.T, counts)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("noise", NOISES)
def test_random_walk_equals_a_fresh_start_at_every_step(cone, noise):
    rng = np.random.default_rng(CONES.index(cone) * 10 + NOISES.index(noise))
    changes = 0
    for _ in range(4):
        case = random_case(rng, cone=cone, noise=noise, n_pareto=4, n_objectives=3, n_dominated=5)
        means, counts = case.means.copy(), np.ones(len(case.means))
        covariance = case.covariance.reshape(-1, 3, 3)
        prec, roots = np.linalg.inv(covariance), np.linalg.cholesky(covariance)
        ledger = open_ledger(case, means, counts)
        kernels.refresh(ledger, 0.0)
        for _ in range(150):
            before = ledger.inst.mask.copy()
            for _ in range(rng.integers(1, 3)):
                a = int(rng.integers(len(means)))
                law = a if len(covariance) > 1 else 0
                reward = case.means[a] + roots[law] @ rng.normal(size=3)
                counts[a] += 1
                shift = (reward - means[a]) / counts[a]
                means[a] += shift
                kernels.move(ledger, case.facets, prec, a, means[a], shift, counts[a])
            value = kernels.refresh(ledger, 0.0)
            fresh = open_ledger(case, means, counts)
            assert value == pytest.approx(kernels.refresh(fresh, 0.0), rel=1e-9, abs=1e-14)
            assert np.array_equal(ledger.inst.mask, fresh.inst.mask)
            np.testing.assert_allclose(ledger.inst.S, fresh.inst.S, rtol=1e-12, atol=1e-14)
            if value > 0:
                assert counts @ ledger.gradient == pytest.approx(value, rel=1e-9)
                assert ledger.gradient.min() >= 0
            changes += int(not np.array_equal(before, ledger.inst.mask))
    assert changes > 20, "the walk must cross the border of the Pareto set often"


def test_weights_may_grow_without_a_move():
    rng = np.random.default_rng(7)
    case = random_case(rng, cone="many", noise="per_arm", n_pareto=3, n_objectives=3, n_dominated=3)
    weights = case.counts.copy()
    ledger = open_ledger(case, case.means, weights)
    kernels.refresh(ledger, 0.0)
    for _ in range(100):
        a = int(rng.integers(len(weights)))
        weights[a] += rng.exponential()
        prec = np.linalg.inv(case.covariance)
        kernels.move(ledger, case.facets, prec, a, case.means[a], np.zeros(3), weights[a])
        fresh = open_ledger(case, case.means, weights)
        assert kernels.refresh(ledger, 0.0) == pytest.approx(kernels.refresh(fresh, 0.0), rel=1e-9)


def test_ties_made_and_broken():
    case = random_case(
        np.random.default_rng(8), cone="orthant", noise="diagonal", n_pareto=2, n_objectives=2, n_dominated=1
    )
    means, counts = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]]), np.ones(3)
    prec = np.linalg.inv(case.covariance)[None]
    ledger = open_ledger(case, means, counts)
    assert kernels.refresh(ledger, 0.0) > 0
    for target in ([0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [1.0, 1.0], [-1.0, -1.0]):
        shift = np.array(target) - means[2]
        means[2] = target
        counts[2] += 1
        kernels.move(ledger, case.facets, prec, 2, means[2], shift, counts[2])
        value = kernels.refresh(ledger, 0.0)
        fresh = open_ledger(case, means, counts)
        assert value == pytest.approx(kernels.refresh(fresh, 0.0), abs=1e-15)
        assert np.array_equal(ledger.inst.mask, fresh.inst.mask)


def test_a_deep_tree_does_not_need_saved_multipliers():
    """Below the levels that are saved, a node starts from no multipliers: slower, the same value."""
    rng = np.random.default_rng(9)
    sphere = np.abs(rng.normal(size=(40, 4)))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    means, counts = np.vstack([sphere, np.zeros(4)]), np.ones(41)
    plain = kernels.open_ledger(np.eye(4)[None], means, counts)
    shallow = plain._replace(search=make_search(41, 4)._replace(saved=np.zeros((2, 2))))
    assert kernels.refresh(shallow, 0.0) == pytest.approx(
        kernels.refresh(kernels.open_ledger(np.eye(4)[None], means, counts), 0.0), rel=1e-12
    )


def test_collecting_says_when_it_runs_out_of_room():
    rng = np.random.default_rng(10)
    means, counts = rng.normal(size=(12, 3)), np.ones(12)
    ledger = kernels.open_ledger(np.eye(3)[None], means, counts)
    kernels.refresh(ledger, 0.0)
    count = kernels.collect(ledger, 3.0, make_pieces(2000, 13))
    assert count > 2
    assert kernels.collect(ledger, 3.0, make_pieces(2, 13)) >= 2
    tight = ledger._replace(search=ledger.search._replace(option=np.zeros(6)))
    assert kernels.collect(tight, 3.0, make_pieces(2000, 13)) == -1
    # Nothing is left behind: the next call with room is right again.
    assert not ledger.search.taken.any() and not ledger.search.forbidden.any()
    assert kernels.collect(ledger, 3.0, make_pieces(2000, 13)) == count
