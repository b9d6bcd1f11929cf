"""A certified test that is held: it never denies a margin that is reached, and mostly nothing has to be found anew."""

import numpy as np
import pytest
from test_limit_margin import random_instance
from test_margin import with_pilot

from prepex._kernels import hold as holding
from prepex._kernels import margin as kernels
from prepex._kernels import mixture
from prepex._kernels.instance import find_answer, make_known

import reference_margin as reference

RHO = mixture.default_grid()


def pull(rng, inst, fresh, truth, variances, a, size):
    """An outcome of arm a, or the mean of some; `fresh` has the counts and scores of `inst`."""
    mixture.add_known_fresh(fresh, np.int64(a), rng.normal(truth[a], np.sqrt(variances[a] / size)), size)
    inst.size[0] = find_answer(inst)


@pytest.mark.parametrize("lenient", [False, True], ids=("exact", "tolerance"))
def test_a_test_that_is_held_never_denies_a_margin_that_is_reached(lenient):
    rng, denied, found, reached, looks = np.random.default_rng(6 + lenient), 0, 0, 0, 0
    for _ in range(25):
        inst, variances = random_instance(rng, lenient)
        truth = inst.S.copy()
        fresh, deal, _ = with_pilot(rng, inst, variances)
        K, rows = inst.S.shape
        scratch, plain = (kernels.make_scratch(K, rows) for _ in range(2))
        goal = max(kernels.margin(fresh, inst, deal, scratch, np.full(4, -1)), 0.0) + rng.choice([0.3, 1.0, 3.0])
        for _ in range(60):
            pull(rng, inst, fresh, truth, variances, rng.integers(K), size=float(rng.choice([1.0, 1.0, 20.0])))
            value = kernels.margin(fresh, inst, deal, plain, np.full(4, -1))
            before = scratch.held.N.copy()
            may = kernels.may_reach(fresh, inst, deal, scratch, goal)
            assert may or value < goal
            looks += 1
            denied += not may
            found += not may and not np.array_equal(before, scratch.held.N)
            reached += value >= goal
            if may:
                kernels.margin(fresh, inst, deal, scratch, np.full(4, -1))
    assert reached > 50 and denied > 0.3 * looks and found < 0.5 * denied, (reached, looks, denied, found)


def grown(D, N, more, d, rho, variance):
    """By how much log 2 Phi exp(...) of one arm grows when d is added to the sum D of N outcomes by `more` of them."""
    before, after = (reference.lone_e(total / n, n, variance, [rho]) for total, n in ((D, N), (D + d, N + more)))
    return after - before


def test_a_gain_bounds_what_outcomes_add():
    rng, close, violated = np.random.default_rng(3), 0, 0
    for _ in range(400):
        (N, more), variance = np.floor(10 ** rng.uniform(0, 4, 2)), 10 ** rng.uniform(-1, 1)
        drift = rng.exponential(0.2)
        D, d = (rng.normal(n * drift, np.sqrt(n)) * np.sqrt(variance) for n in (N, more))
        if D <= 0 or D + d <= 0:
            continue
        held = holding.make_held(1, 1)
        held.N[0, 0], held.S[0, 0, 0] = N, D / N
        inst = make_known(np.array([[[variance]]]), np.array([[(D + d) / (N + more)]]), np.array([N + more]))
        bound = holding.gain(held, 0, inst, 0, 0, D / N, 1.0)
        for rho in (4.0, 256.0, 16384.0):
            true = grown(D, N, more, d, rho, variance)
            assert true <= bound + 1e-9 * (1.0 + abs(bound))
            close += true > 0.8 * bound > 0.1
            violated += true > 0.8 * bound + 1e-9
    # It is near the truth, so that a bound a little smaller would be none.
    assert close > 30 and violated > 30
