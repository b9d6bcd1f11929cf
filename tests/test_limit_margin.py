"""The certified margin with limits: against full enumeration, its shares of delta, and what it samples."""

import numpy as np
import pytest

from prepex._kernels import margin as kernels
from prepex._kernels import mixture
from prepex._kernels.instance import make_known
from prepex._kernels.mixture import ALONE, AS_RIVAL, BROKEN, IN_FRONT, OUT_OF_FRONT
from prepex._kernels.pilot import set_prices

import reference_margin as reference

RHO = mixture.default_grid()


def random_instance(rng, lenient=False):
    """(instance, variances of one reward): near-ties, arms on both sides of every limit, sometimes none feasible."""
    K, m, C = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    counts = np.floor(10 ** rng.uniform(0, 3, K))
    variances = 10 ** rng.uniform(-1, 1, (K, m + C))
    scores = rng.normal(size=(K, m + C)) * 10 ** rng.uniform(-1, 0.5)
    scores[:, m:] += rng.choice([0.3, -0.3, 0.0, -5.0], p=[0.6, 0.2, 0.15, 0.05])
    slack = np.append(rng.uniform(0, 0.4, m), np.zeros(C)) if lenient else np.zeros(m + C)
    gram = np.stack([np.diag(row) for row in variances])
    return make_known(gram, scores, counts, slack=slack, n_facets=m), variances


def run_margin(inst, price):
    """(margin, (better, worse, row), every arm's test)."""
    K = len(inst.N)
    fresh, binding, scratch = mixture.known_fresh(inst, RHO, inst.N), np.full(4, -1), kernels.make_scratch(K)
    value = kernels.margin(fresh, inst, price, scratch, binding)
    kernels.settle_tests(fresh, inst, price, scratch)
    return value, tuple(int(entry) for entry in binding[:3]), scratch.bound.copy()


@pytest.mark.parametrize("lenient", [False, True], ids=("exact", "tolerance"))
def test_margin_against_enumeration(lenient):
    rng, kinds = np.random.default_rng(int(lenient)), {"own": 0, "other": 0, "pair": 0, "empty": 0}
    for trial in range(250):
        inst, variances = random_instance(rng, lenient)
        (K, rows), m = inst.S.shape, inst.n_facets
        price = kernels.equal_prices(K, m, rows - m)
        if trial % 2:
            price = price + rng.uniform(-1, 1, (5, K))
        expected = reference.margin_with_limits(inst.S, inst.N, variances, RHO, price, m, inst.slack)
        value, test, tests = run_margin(inst, price)
        np.testing.assert_allclose(tests, [found for found, _ in expected], rtol=1e-9, atol=1e-9)
        assert value == tests.min()
        if np.isfinite(value):
            assert test in [found for known, found in expected if known <= value + 1e-9 * (1 + abs(value))]
            better, worse, row = test
            kinds["pair" if row < m else "own" if better == worse else "other"] += 1
        kinds["empty"] += not inst.mask.any()
    assert min(kinds.values()) > 4, kinds


@pytest.mark.parametrize("lenient", [False, True], ids=("exact", "tolerance"))
def test_a_look_at_the_last_binding_test_never_denies_a_margin_that_is_reached(lenient):
    rng, denied = np.random.default_rng(5), 0
    for _ in range(300):
        inst, _ = random_instance(rng, lenient)
        price = kernels.equal_prices(len(inst.N), inst.n_facets, inst.S.shape[1] - inst.n_facets)
        value, _, _ = run_margin(inst, price)
        fresh = mixture.known_fresh(inst, RHO, inst.N)
        arms = rng.integers(len(inst.N), size=2)
        for kind in (IN_FRONT, OUT_OF_FRONT):
            probe = np.array([*arms, rng.integers(inst.S.shape[1]), kind])
            if len(inst.N) > 1 and arms[0] == arms[1]:
                probe[2] = inst.n_facets
            for goal in (value, value - 1.0):
                assert not np.isfinite(goal) or kernels.may_reach(fresh, price, probe, goal)
            denied += not kernels.may_reach(fresh, price, probe, max(value, 0.0) + 3.0)
    assert denied > 100


def test_the_prices_of_a_pilot_are_shares_that_sum_to_one():
    rng = np.random.default_rng(3)
    for trial in range(300):
        inst, variances = random_instance(rng, bool(trial % 2))
        (K, rows), m = inst.S.shape, inst.n_facets
        price = np.zeros((5, K))
        set_prices(inst, np.zeros(K), price)
        share, part, lean = reference.shares_with_limits(inst.S, inst.N, variances, m, inst.slack)
        n = rows - m
        np.testing.assert_allclose(np.exp(-price[ALONE]), share, rtol=1e-9)
        np.testing.assert_allclose(np.exp(-price[IN_FRONT]), share / (m + n), rtol=1e-9)
        np.testing.assert_allclose(np.exp(-price[AS_RIVAL]), part, rtol=1e-9)
        for prices in (price, kernels.equal_prices(K, m, n)):
            alone, broken = np.exp(-prices[ALONE]), np.exp(-prices[BROKEN])
            rival, out = np.exp(-prices[AS_RIVAL]), np.exp(-prices[OUT_OF_FRONT])
            assert alone.sum() == pytest.approx(1.0, rel=1e-12)
            np.testing.assert_allclose((m + n) * np.exp(-prices[IN_FRONT]), alone, rtol=1e-12)
            # Of an arm outside the answer: all limits and all rivals together have its share.
            others = [rival[np.arange(K) != i].sum() for i in range(K)]
            dealt = n * broken + (out * others if K > 1 else 0.0)
            np.testing.assert_allclose(dealt, alone, rtol=1e-12)
        if K > 1:
            np.testing.assert_allclose(n * np.exp(-price[BROKEN]), share * lean, rtol=1e-9)


def test_one_arm_and_a_limit():
    for score, inside in ((1.0, True), (-1.0, False)):
        inst = make_known(np.eye(2)[None], np.array([[0.0, score]]), np.array([50.0]), n_facets=1)
        value, test, _ = run_margin(inst, kernels.equal_prices(1, 1, 1))
        assert bool(inst.mask[0]) is inside and test == (0, 0, 1)
        assert value == pytest.approx(reference.lone_e(score, 50.0, 1.0, RHO), rel=1e-12)


def test_an_arm_on_its_limit_is_never_decided():
    inst = make_known(np.eye(2)[None], np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([500.0, 500.0]), n_facets=1)
    value, test, _ = run_margin(inst, kernels.equal_prices(2, 1, 1))
    assert value == -np.inf and test == (0, 0, 1)
