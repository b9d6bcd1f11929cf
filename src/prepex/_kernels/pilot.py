"""What a pilot buys: shares of delta where the arms are hard to tell apart (docs/certified.md).

The outcomes of the pilot set the prices of the tests and are then left out of them.

Legend
    doubt     exp(-2 c_i), c_i the likelihood ratio with which the pilot decides arm i's status        (K,)
    share     of delta for arm i;  part  of that share for rival j                                    (K,)
    lean      what the limits have of an arm's share if it is outside the answer; the rivals have the rest
"""

import numpy as np

from prepex._kernels.alone import has_limits
from prepex._kernels.instance import Floats, Instance, Int, broken_ratio, met_ratio, over_ratio, ratio
from prepex._kernels.jit import kernel, part
from prepex._kernels.margin import Fresh, end_pilot
from prepex._kernels.mixture import ALONE, AS_RIVAL, BROKEN, IN_FRONT, OUT_OF_FRONT

# A ratio beyond this says no more, and exp(-2 c) of it is still a number.
CERTAIN = 300.0
# This much of delta, and of every share, is dealt equally whatever the pilot says.
EQUAL = 0.1


@part
def decided(inst: Instance, i: Int) -> float:
    """c_i: min_j max_f of the ratios for i in P, max_{j in P} min_f for the others; with limits, as in margin.py."""
    K, m = inst.N.size, inst.n_facets
    if inst.mask[i]:
        low = met_ratio(inst, i)
        for j in range(K):
            if j != i:
                most = broken_ratio(inst, np.int64(j))
                for f in range(m):
                    most = max(most, ratio(inst, i, j, f))
                low = min(low, most)
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


@kernel
def set_prices(inst: Instance, doubt: Floats, price: Floats) -> None:
    """share ~ doubt, part ~ doubt or 1 if in the pilot's P, each mixed with equal ones; the prices are their -log."""
    K, m = inst.N.size, inst.n_facets
    shares, parts = 0.0, 0.0
    for k in range(K):
        doubt[k] = np.exp(-2.0 * min(decided(inst, k), CERTAIN))
        shares += doubt[k]
        parts += 1.0 if inst.mask[k] else doubt[k]
    for k in range(K):
        share = (1.0 - EQUAL) * doubt[k] / shares + EQUAL / K
        part_k = (1.0 - EQUAL) * (1.0 if inst.mask[k] else doubt[k]) / parts + EQUAL / K
        # An arm is no rival of its own: the parts of the others sum to 1 - part_k.
        price[IN_FRONT, k] = np.log(m / share)
        price[OUT_OF_FRONT, k] = np.log((1.0 - part_k) / share)
        price[AS_RIVAL, k] = -np.log(part_k)
        if has_limits(inst):
            n_limits = inst.S.shape[1] - m
            lean = 1.0
            if K > 1:
                lean = 0.5 * EQUAL
                if broken_ratio(inst, np.int64(k)) > dominated(inst, np.int64(k)):
                    lean = 1.0 - 0.5 * EQUAL
                price[OUT_OF_FRONT, k] = np.log((1.0 - part_k) / (share * (1.0 - lean)))
            price[IN_FRONT, k] = np.log((m + n_limits) / share)
            price[ALONE, k] = -np.log(share)
            price[BROKEN, k] = np.log(n_limits / (share * lean))


@kernel
def leave_pilot(fresh: Fresh, near: Instance, doubt: Floats, price: Floats) -> None:
    """All that the pilot is for, after its last pull."""
    set_prices(near, doubt, price)
    end_pilot(fresh, near)
