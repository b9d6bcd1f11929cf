"""The certified test of two arms with laws on a facet.

    e_f(i over j) = cost(i, j, f) - penalties of i and j on the objectives of f,   -inf if i is not ahead on f:
evidence against w_f . mu_i <= w_f . mu_j, x_i raised by the slack (docs/certified.md).
A facet of Gaussian objectives of unknown variance is one stream (fresh.py), its cost that of the stream.
"""

import numpy as np

from prepex._kernels.instance import Int, gap, noiseless
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.fresh import CERTAIN, OWN, PARTS, SHARED, LawFresh, shared_penalty
from prepex._kernels.laws.pair import facet_bound, student_pair, test_cost


@part
def paid(fresh: LawFresh, i: Int, j: Int, f: Int) -> float:
    """Penalties of i and j on facet f."""
    total = 0.0
    if fresh.kind[f] == OWN:
        total = fresh.penalty_f[i, f] + fresh.penalty_f[j, f]
    elif fresh.kind[f] == SHARED:
        total = shared_penalty(fresh, i, j, f)
    else:
        for q in range(fresh.penalty.shape[1]):
            if fresh.inst.W[f, q] != 0.0:
                total += fresh.penalty[i, q] + fresh.penalty[j, q]
    return total


@part
def stream_cost(fresh: LawFresh, i: Int, j: Int, f: Int) -> float:
    """min over the common mean of the likelihood ratio of a Gaussian stream of unknown variance."""
    inst, n, m = fresh.inst, fresh.inst.N[i], fresh.inst.N[j]
    ahead = gap(inst, i, j, f)
    square = ahead * ahead
    first, second = inst.line[i, f], inst.line[j, f]
    if fresh.kind[f] == SHARED:
        return 0.5 * (n + m) * np.log1p(square * n * m / (n + m) / (first + second))
    return student_pair(n, first / n / square, m, second / m / square)


@kernel
def e_law(fresh: LawFresh, i: Int, j: Int, f: Int, k: Int, low: float, high: float) -> float:
    """e_f(i over j), exactly if it is below `high`; else a bound of it that is not. Nothing is saved below `low`, and
    it is the same in the test of any arm k."""
    inst = fresh.inst
    if not gap(inst, i, j, f) > 0.0:
        return -np.inf
    if noiseless(inst, i, j, f):
        return CERTAIN
    cost = paid(fresh, i, j, f)
    if not cost < np.inf:
        return -np.inf
    if fresh.kind[f] != PARTS:
        return min(stream_cost(fresh, i, j, f) - cost, CERTAIN)
    bound = facet_bound(inst, i, j, f) - cost
    return min(bound if bound >= high else test_cost(inst, i, j, f) - cost, CERTAIN)
