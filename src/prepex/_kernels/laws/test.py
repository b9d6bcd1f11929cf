"""The certified test of two arms with laws on a facet.

    e_f(i over j) = cost(i, j, f) - penalties of i and j on the objectives of f,   -inf if i is not ahead on f:
evidence against w_f . mu_i <= w_f . mu_j, x_i raised by the slack (docs/certified.md).
A facet of Gaussian objectives of unknown variance is one stream (fresh.py), its cost that of the stream.
"""

import numpy as np

from prepex._kernels.instance import Floats, Int, broken_ratio, gap, met_ratio, noiseless, over_ratio, ratio
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.fresh import CERTAIN, OWN, PARTS, SHARED, LawFresh, shared_penalty
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.pair import facet_bound, student_pair, test_cost
from prepex._kernels.mixture import AS_RIVAL

# Nothing is known of a test before it is solved; the one that bound last goes before all others.
UNKNOWN = -1e300


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
def e_law(fresh: LawFresh, i: Int, j: Int, f: Int, low: float, high: float) -> float:
    """e_f(i over j), exactly if it is below `high`; else a bound of it that is not. Nothing is saved below `low`."""
    inst = fresh.inst
    if not gap(inst, i, j, f) > 0.0:
        return -np.inf
    if noiseless(inst, i, j, f):
        return CERTAIN
    cost = paid(fresh, i, j, f)
    if not cost < np.inf:
        return -np.inf
    if fresh.kind[f] != PARTS:
        return stream_cost(fresh, i, j, f) - cost
    bound = facet_bound(inst, i, j, f) - cost
    return bound if bound >= high else test_cost(inst, i, j, f) - cost


@part
def likely_dominator(guide: LawInstance, toll: Floats, i: Int) -> Int:
    """The j in P that all outcomes name; -1 if there is none."""
    most, rival = -np.inf, np.int64(-1)
    for p in range(guide.size[0]):
        least = met_ratio(guide, guide.front[p])
        for f in range(guide.n_facets):
            least = min(least, over_ratio(guide, guide.front[p], i, f))
        if least - toll[guide.front[p]] > most or rival < 0:
            most, rival = least - toll[guide.front[p]], guide.front[p]
    return rival


@part
def likely_rival(inst: LawInstance, i: Int) -> Int:
    """The arm that i is least ahead of."""
    low, rival = np.inf, np.int64(-1)
    for j in range(inst.N.size):
        if j != i:
            most = broken_ratio(inst, np.int64(j))
            for f in range(inst.n_facets):
                most = max(most, ratio(inst, i, np.int64(j), f))
            if most < low or rival < 0:
                low, rival = most, np.int64(j)
    return rival


@part
def outlook_law(fresh: LawFresh, guide: LawInstance, price: Floats, k: Int, last: Int) -> tuple[float, Int]:
    """(No bound of arm k's test, but the one that bound last goes first and shortens the others; its likely rival)."""
    rival = likely_rival(fresh.inst, k) if fresh.inst.mask[k] else likely_dominator(guide, price[AS_RIVAL], k)
    return -np.inf if k == last else UNKNOWN, rival
