"""What a pilot buys: shares and weights of delta where the arms are hard to tell apart (docs/certified.md).

The outcomes of the pilot set prices and weights (deal.py), the grid or the priors of the tests, and are then left out
of them.

Legend
    decided   c_i, the likelihood ratio with which the pilot decides arm i's status, at most CERTAIN     (K,)
    doubt     exp(-2 c_i)
    lean      what the limits have of an arm's test if it is outside the answer; the rivals have the rest
"""

import numpy as np

from prepex._kernels.alone import has_limits
from prepex._kernels.deal import CERTAIN, CLOSED, EQUAL, SEEN, Deal, rival_appeal
from prepex._kernels.instance import Floats, Instance, Int, broken_ratio, met_ratio, over_ratio, ratio, surely_equal
from prepex._kernels.jit import kernel, part
from prepex._kernels.margin import Fresh, end_pilot

# A pilot that decides every arm by this likelihood ratio is long enough: a tenth of what the tests will take.
ENOUGH = 0.5


@part
def decide(inst: Instance, i: Int) -> float:
    """c_i: min_j max_f of the ratios for i in P, max_{j in P} min_f for the others; with limits, as in margin.py."""
    K, m = inst.N.size, inst.n_facets
    if inst.mask[i]:
        low = met_ratio(inst, i)
        for j in range(K):
            if j != i:
                most = broken_ratio(inst, np.int64(j))
                for f in range(m):
                    most = max(most, ratio(inst, i, j, f))
                low = min(low, CERTAIN if surely_equal(inst, i, j) else most)
        return low
    return max(broken_ratio(inst, i), dominated(inst, i))


@part
def dominated(inst: Instance, i: Int) -> float:
    """max_{j in P} min_f of the ratios, those of j's own limits among them."""
    high = 0.0
    for p in range(inst.size[0]):
        least = met_ratio(inst, inst.front[p])
        for f in range(inst.n_facets):
            least = min(least, over_ratio(inst, inst.front[p], i, f))
        high = max(high, least)
    return high


@part
def decide_all(inst: Instance, decided: Floats) -> float:
    """Every c_i, and the least of them."""
    least = CERTAIN
    for k in range(decided.size):
        decided[k] = min(decide(inst, np.int64(k)), CERTAIN)
        least = min(least, decided[k])
    return least


@kernel
def set_deal(inst: Instance, decided: Floats, deal: Deal) -> None:
    """share ~ doubt, part ~ doubt or 1 if in the pilot's P, each mixed with equal ones; and what the weights need."""
    K, shares, parts = inst.N.size, 0.0, 0.0
    decide_all(inst, decided)
    for k in range(K):
        doubt = np.exp(-2.0 * decided[k])
        shares += doubt
        parts += 1.0 if inst.mask[k] else doubt
    deal.flag[SEEN] = 1
    for k in range(K):
        doubt = np.exp(-2.0 * decided[k])
        deal.share[k] = (1.0 - EQUAL) * doubt / shares + EQUAL / K
        deal.part[k] = (1.0 - EQUAL) * (1.0 if inst.mask[k] else doubt) / parts + EQUAL / K
        deal.mask[k] = inst.mask[k]
        for r in range(inst.S.shape[1]):
            deal.S[k, r], deal.V[k, r] = inst.S[k, r], inst.V[k, r]
        if has_limits(inst) and K > 1:
            broken = broken_ratio(inst, np.int64(k)) > dominated(inst, np.int64(k))
            deal.lean[k] = 1.0 - 0.5 * EQUAL if broken else 0.5 * EQUAL
    for i in range(K):
        deal.whole[i] = 0.0
        for j in range(K):
            if j != i:
                deal.whole[i] += rival_appeal(deal, inst, np.int64(i), np.int64(j))


@kernel
def leave_pilot(fresh: Fresh, near: Instance, decided: Floats, deal: Deal, length: Int, longest: Int) -> Int:
    """The pull with which the pilot ends, after `length` pulls: this one, and then all that it is for is done; or a
    later one, if some arm is not decided at all and it may be longer."""
    if length < longest and decide_all(near, decided) < ENOUGH:
        return np.int64(min(2 * length, longest))
    set_deal(near, decided, deal)
    end_pilot(fresh, near, decided, deal.flag[CLOSED] == 1)
    return np.int64(length)
