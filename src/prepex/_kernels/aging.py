"""How the bounds of a ledger of known Gaussians stay valid while arms move.

sqrt(2 v) is the distance from M to a set of alternatives in the norm |X|^2 = sum_k N_k x_k' prec_k x_k, and the set
does not depend on M or N. Weights only grow, so the norm only grows; and when arm a moves by x, every distance falls
by at most sqrt(N_a x' prec_a x) (triangle inequality). Only arms of the answer enter everyone's alternatives: their
drift is summed in one number, and `key` = distance + drift at the time it was found stays put. An arm j outside it
enters no alternative but its own; with slack also Remove(i, j), whose new bound then limits that of i.

Legend (see ledger.py)
    load      the hub's multipliers by facet in the last leaf of Add(k), or nan      (K, m)
"""

from typing import Any

import numpy as np

from prepex._kernels.instance import (
    Floats,
    Int,
    KnownInstance,
    covariance_row,
    escaped,
    gap,
    limit_gap,
    score,
    weigh_known,
)
from prepex._kernels.jit import kernel, part
from prepex._kernels.room import DRIFT, FACET, HUB, VALUE, Y, come_near, note_move
from prepex._kernels.search import search
from prepex._kernels.star import pair_bound_known

# A status is looked at exactly up to this multiple of the incumbent: dearer ones are left alone for a while.
STRETCH = 1.5
# Of a rounding, relative.
EPSILON = float(np.finfo(np.float64).eps)


@part
def reach_known(ledger: Any, v: float) -> float:
    """The unit of `key`: distance, plus the drift so far."""
    return np.sqrt(2.0 * v) + ledger.real[DRIFT]


@part
def standing_known(ledger: Any) -> float:
    """What a threshold on the evidence compares: Z."""
    return ledger.real[VALUE]


@kernel
def move_known(ledger: Any, a: Int, mean: Floats, shift: Floats, weight: float) -> None:
    """Arm a has moved by `shift` to `mean` and its weight has grown to `weight`. Cheap: `refresh` does the work."""
    inst, N = ledger.inst, ledger.inst.N
    prec, own, L = inst.prec, covariance_row(inst.gram, a), mean.size
    square, size = 0.0, 0.0
    for p in range(L):
        size += prec[own, p, p] * mean[p] * mean[p]
        for q in range(L):
            square += prec[own, p, q] * shift[p] * shift[q]
    # A little more than the drift, and than the rounding of mean and scores, so that no bound is ever too good.
    drift = np.sqrt(max(square, 0.0) * N[a]) * (1.0 + 1e-9) + EPSILON * (L + 2.0) * np.sqrt(L * size * N[a])
    N[a] = weight
    score(inst, a, mean)
    weigh_known(inst, a)
    if inst.mask[a]:
        ledger.real[DRIFT] += drift
    else:
        ledger.key[a] -= drift
        if inst.lenient:
            for i in range(N.size):
                if inst.mask[i]:
                    near = reach_known(ledger, pair_bound_known(inst, np.int64(i), a)) * (1.0 - 1e-12)
                    come_near(ledger, np.int64(i), a, near)
    note_move(ledger, a)


@part
def cost_at(inst: KnownInstance, j: Int, load: Floats, vec: Floats) -> float:
    """Cost of Add(j) if `load` pushes the hub and each arm of the front pays its cheapest facet: an upper bound.

    Pushed harder if that is what it takes to meet the limits; infinity if it does not help.
    """
    V, front, N, gram = inst.V, inst.front, inst.N[j], inst.gram[covariance_row(inst.gram, j)]
    m = inst.S.shape[1]
    cost, harder = 0.0, 1.0
    for f in range(m):
        shift = 0.0
        for g in range(m):
            if load[g] != 0.0:
                shift += gram[f, g] * load[g] / N
        vec[HUB, f] = shift
        cost += load[f] * shift
        if f >= inst.n_facets and limit_gap(inst, j, f) > harder * shift:
            harder = limit_gap(inst, j, f) / shift if shift > 0.0 else np.inf
    if harder > 1.0:
        cost *= harder * harder
        for f in range(m):
            vec[HUB, f] *= harder
            if f >= inst.n_facets and limit_gap(inst, j, f) > vec[HUB, f] * (1.0 + 1e-12):
                return np.inf
    for p in range(inst.size[0]):
        a = front[p]
        cheapest = np.inf
        for f in range(inst.n_facets):
            left = gap(inst, a, j, f) - vec[HUB, f]
            if escaped(inst, a, j, f, left):
                cheapest = 0.0
            elif left > 0.0:
                cheapest = min(cheapest, left * left / V[a, f])
        cost += cheapest
    return 0.5 * cost


@part
def cheapest_add_known(ledger: Any, j: Int, close: float) -> tuple[float, Int]:
    """Cheapest Add(j), searched below what last time's leaf costs now: (value, constraints), or (bound, -1)."""
    inst, s, none, load = ledger.inst, ledger.search, ledger.none, ledger.load[j]
    limit = STRETCH * close
    ceiling = limit
    if limit > 0.0 and not np.isnan(load[0]):
        ceiling = min(limit, cost_at(inst, j, load, s.desk.vec) * (1.0 + 1e-9))
    v, n = search(inst, j, ceiling, s, none, none.real.shape[0])
    if n < 0 and ceiling < limit:
        # The leaf's own cost was rounded below the minimum: an arm is never lost to a ceiling made here.
        v, n = search(inst, j, limit, s, none, none.real.shape[0])
    if n >= 0:
        load[:] = 0.0
        for c in range(n):
            load[s.leaf.link[c, FACET]] += s.leaf.real[c, Y]
    return v, n
