"""The certified margin with limits: against full enumeration, its shares of delta, and what it samples."""

import numpy as np
import pytest
from test_margin import check_margin, fresh_of, with_pilot

from prepex._kernels import margin as kernels
from prepex._kernels import mixture
from prepex._kernels.deal import make_deal, rival_weight, weigh_broken, weigh_front
from prepex._kernels.instance import make_known
from prepex._kernels.mixture import IN_FRONT, OUT_OF_FRONT
from prepex._kernels.pilot import set_deal

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


def run_margin(inst):
    """(margin, (better, worse, row)) without a pilot."""
    K, rows = inst.S.shape
    binding = np.full(4, -1)
    fresh, deal = fresh_of(inst), make_deal(K, rows, inst.n_facets, True)
    value = kernels.margin(fresh, inst, deal, kernels.make_scratch(K, rows), binding)
    return value, tuple(int(entry) for entry in binding[:3])


@pytest.mark.parametrize("closed", [True, False], ids=("closed", "plain"))
@pytest.mark.parametrize("lenient", [False, True], ids=("exact", "tolerance"))
def test_margin_against_enumeration(lenient, closed):
    rng, kinds = np.random.default_rng(int(lenient)), {"own": 0, "other": 0, "pair": 0, "empty": 0}
    for _ in range(150):
        inst, variances = random_instance(rng, lenient)
        m = inst.n_facets
        fresh, deal, dealt = with_pilot(rng, inst, variances, closed=closed)
        check_margin(fresh, inst, deal, dealt, variances)
        scratch, binding = kernels.make_scratch(*inst.S.shape), np.full(4, -1)
        value = kernels.margin(fresh, inst, deal, scratch, binding)
        if np.isfinite(value):
            better, worse, row = binding[:3]
            kinds["pair" if row < m else "own" if better == worse else "other"] += 1
        kinds["empty"] += not inst.mask.any()
    assert min(kinds.values()) > 1, kinds


@pytest.mark.parametrize("lenient", [False, True], ids=("exact", "tolerance"))
def test_a_look_at_the_last_binding_test_never_denies_a_margin_that_is_reached(lenient):
    rng, denied = np.random.default_rng(5), 0
    for _ in range(200):
        inst, variances = random_instance(rng, lenient)
        fresh, deal, _ = with_pilot(rng, inst, variances)
        K, rows = inst.S.shape
        scratch = kernels.make_scratch(K, rows)
        value = kernels.margin(fresh, inst, deal, scratch, np.full(4, -1))
        for kind in (IN_FRONT, OUT_OF_FRONT):
            arms = rng.integers(K, size=2)
            row = inst.n_facets if arms[0] == arms[1] else rng.integers(rows)
            scratch.last[:] = np.array([*arms, row, kind])
            for goal in (value, value - 1.0):
                assert not np.isfinite(goal) or kernels.may_reach(fresh, inst, deal, scratch, goal)
            denied += not kernels.may_reach(fresh, inst, deal, scratch, max(value, 0.0) + 3.0)
    assert denied > 60


def test_what_a_pilot_deals_sums_to_one():
    rng = np.random.default_rng(3)
    for trial in range(200):
        inst, _ = random_instance(rng, bool(trial % 2))
        (K, rows), m = inst.S.shape, inst.n_facets
        deal, weight = make_deal(K, rows, m, trial % 3 > 0), np.zeros(rows)
        if trial % 5:
            set_deal(inst, np.zeros(K), deal)
            dealt = reference.Dealt(inst.S, inst.N, inst.V, m, inst.slack, trial % 3 > 0)
            np.testing.assert_allclose(deal.share, dealt.share, rtol=1e-9)
            np.testing.assert_allclose(deal.lean, [dealt.lean(k) for k in range(K)])
        assert deal.share.sum() == pytest.approx(1.0, rel=1e-12)
        for i in range(K):
            weigh_broken(deal, inst, i, weight)
            # Of an arm outside the answer: all limits and all rivals together.
            rivals = {j: rival_weight(deal, inst, i, j) for j in range(K) if j != i}
            assert weight[m:].sum() + sum(rivals.values()) == pytest.approx(1.0, rel=1e-12)
            if trial % 5:
                np.testing.assert_allclose(weight[m:], dealt.of_limits(i), rtol=1e-9)
                assert K == 1 or rivals == pytest.approx(dealt.of_rivals(i), rel=1e-9)
            for j in rivals:
                weigh_front(deal, inst, i, j, weight)
                assert weight.sum() == pytest.approx(1.0, rel=1e-12)
                if trial % 5:
                    np.testing.assert_allclose(weight, dealt.of_facets(i, j), rtol=1e-9)


def test_one_arm_and_a_limit():
    for score, inside in ((1.0, True), (-1.0, False)):
        inst = make_known(np.eye(2)[None], np.array([[0.0, score]]), np.array([50.0]), n_facets=1)
        value, test = run_margin(inst)
        assert bool(inst.mask[0]) is inside and test == (0, 0, 1)
        assert value == pytest.approx(reference.lone_e(score, 50.0, 1.0, RHO), rel=1e-12)


def test_an_arm_on_its_limit_is_never_decided():
    inst = make_known(np.eye(2)[None], np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([500.0, 500.0]), n_facets=1)
    value, test = run_margin(inst)
    assert value == -np.inf and test == (0, 0, 1)
