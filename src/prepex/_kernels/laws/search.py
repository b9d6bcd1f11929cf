"""The cheapest way for an arm j outside P to become Pareto optimal: branch.py's search, for laws.

A node is a partial choice of facets, its value a lower bound of every completion. What one more constraint costs is
known exactly where facets look at one objective (one pool changes), and else bounded by weak duality: D with the
new multiplier at a Gaussian's guess.
"""

import numpy as np

from prepex._kernels.branch import (
    CURSOR,
    LEAST,
    OPTION,
    PLACE,
    START,
    WAY,
    Pieces,
    Search,
    clear,
    hardest_arm,
    record,
)
from prepex._kernels.instance import Int
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import divergence, tilted
from prepex._kernels.laws.pair import pushed
from prepex._kernels.laws.point import CAPPED, Lab, pool_cost, settle_law, settle_pools
from prepex._kernels.star import ARM, FACET, HUB, Y, keep_star


@part
def lid(inst: LawInstance, j: Int) -> tuple[float, Int]:
    """(The smallest cap among the hub and P, its arm): what Add(j) can cost at most as far as is known."""
    cap, arm = inst.cap[j], np.int64(j)
    for p in range(inst.size[0]):
        if inst.cap[inst.front[p]] < cap:
            cap, arm = inst.cap[inst.front[p]], inst.front[p]
    return cap, arm


@kernel
def hub_dual(inst: LawInstance, j: Int, f: Int, more: float, lab: Lab) -> float:
    """sum_q min_x d(M_j, x) + s (x - M_j) of the hub, if `more` w_f is added to its load."""
    law, scale, M, N, w = inst.law, inst.scale, inst.M, inst.N[j], inst.W[f]
    value = 0.0
    for q in range(law.size):
        s = -(lab.load[q] + more * w[q]) / N
        x = tilted(law[q], M[j, q], s, scale[j, q])
        if x == np.inf:
            return -np.inf
        value += divergence(law[q], M[j, q], x, scale[j, q]) + s * (x - M[j, q])
    return value


@part
def child_bound(inst: LawInstance, j: Int, a: Int, f: Int, v: float, left: float, s: Search, d: Int, lab: Lab) -> float:
    """What the node at level d, of value v, costs at least with (a, f) in addition."""
    if inst.plain:
        before = pool_cost(inst, j, s.star, d, f, np.int64(-1)) if d > 0 else 0.0
        bound = v + max(pool_cost(inst, j, s.star, d, f, a) - before, 0.0)
    else:
        y = left / (inst.V[a, f] + inst.V[j, f])
        cost, shift, _ = pushed(inst, a, f, y / inst.N[a])
        gain = -np.inf
        if shift > -np.inf:
            gain = inst.N[a] * cost + y * shift + y * (inst.S[a, f] - inst.S[j, f])
            gain += inst.N[j] * (hub_dual(inst, j, f, y, lab) - hub_dual(inst, j, f, 0.0, lab))
        bound = v + max(gain, 0.0) * (1.0 - 1e-9)
    return bound


@part
def offer_law(
    inst: LawInstance, j: Int, p: Int, v: float, best: float, s: Search, d: Int, cap: float, lab: Lab
) -> float:
    """Put the facets of the p-th Pareto arm among level d's options; returns the least bound of those too dear.

    -1 if the stack is full.
    """
    S, vec, option, level, forbidden = inst.S, lab.desk.vec, s.option, s.level, s.forbidden
    a, base, end, missed = inst.front[p], level[START, d], level[START, d + 1], np.inf
    for f in range(S.shape[1]):
        left = S[a, f] - vec[HUB, f]
        if left <= 0.0 or forbidden[p, f]:
            continue
        least = min(child_bound(inst, j, a, np.int64(f), v, left, s, d, lab), cap)
        if least >= best:
            missed = min(missed, least)
            continue
        if end + OPTION > option.size:
            missed = -1.0
            break
        at = end
        while at > base and option[at - OPTION + LEAST] < least:
            for i in range(OPTION):
                option[at + i] = option[at - OPTION + i]
            at -= OPTION
        option[at + PLACE], option[at + WAY], option[at + LEAST] = p, f, least
        end += OPTION
    level[START, d + 1] = end
    level[CURSOR, d] = end
    return missed


@part
def restore(s: Search, d: Int) -> None:
    """The multipliers of the node at level d."""
    for c in range(d):
        s.star.real[c, Y] = s.saved[d, c] if d < s.saved.shape[0] else 0.0


@part
def take_law(inst: LawInstance, j: Int, a: Int, f: Int, s: Search, d: Int, cap: float, lab: Lab) -> float:
    """The child of the node at level d: its star and the constraint (a, f). Returns its value, 0 if known already."""
    s.star.link[d, ARM] = a
    s.star.link[d, FACET] = f
    value = 0.0
    if inst.plain:
        settle_pools(inst, j, s.star, d + 1, lab)
    else:
        restore(s, d)
        s.star.real[d, Y] = 0.0
        value = settle_law(inst, j, s.star, d + 1, cap, lab)
    return value


@kernel
def search_law(
    inst: LawInstance, j: Int, limit: float, s: Search, pieces: Pieces, count: Int, lab: Lab
) -> tuple[float, Int]:
    """Depth-first over the facet choices of Add(j), pruned at `limit`; collecting iff `pieces` has room.

    Minimising: (value, constraints in s.leaf), or (a lower bound >= limit, -1).
    Collecting: (limit, new count), or (limit, -1) if the stack was too small.
    """
    S, front, nP, m = inst.S, inst.front, inst.size[0], inst.S.shape[1]
    option, level, taken, vec = s.option, s.level, s.taken, lab.desk.vec
    collecting = pieces.real.shape[0] > 0
    best, lowest = limit, np.inf
    found: Int = np.int64(-1)
    cap, capped_by = lid(inst, j)
    for f in range(m):
        vec[HUB, f] = S[j, f]
    for q in range(lab.load.size):
        lab.load[q] = 0.0
    level[START, 0] = 0
    d, v, opening = 0, 0.0, True
    while d >= 0:
        if opening:
            opening = False
            level[START, d + 1] = level[START, d]
            level[CURSOR, d] = level[START, d]
            for c in range(d if d < s.saved.shape[0] else 0):
                s.saved[d, c] = s.star.real[c, Y]
            pick, _ = hardest_arm(inst, j, s)  # type: ignore[arg-type]  # it reads S, V and front only
            full = v >= cap
            if pick < 0 or full:
                leaf = keep_star(s.star, d, s.leaf)
                if full:
                    s.leaf.link[0, ARM], s.leaf.link[0, FACET], s.leaf.real[0, Y] = capped_by, CAPPED, 1.0
                    leaf = np.int64(1)
                if collecting:
                    count = record(pieces, count, j, j, v, s.leaf, leaf)
                else:
                    best, found = v, leaf
            if full or v >= best:
                lowest = min(lowest, v)
                continue
            for p in range(nP):
                if not taken[p] and (pick < 0 or p == pick):
                    lowest = min(lowest, offer_law(inst, j, np.int64(p), v, best, s, d, cap, lab))
            if lowest < 0.0:
                clear(s, d)
                return limit, np.int64(-1)
        elif level[CURSOR, d] > level[START, d]:
            level[CURSOR, d] -= OPTION
            at = level[CURSOR, d]
            p, v = int(option[at + PLACE]), option[at + LEAST]
            if v < best:
                v = max(v, take_law(inst, j, front[p], int(option[at + WAY]), s, d, cap, lab))
            if v < best:
                taken[p] = True
                d, opening = d + 1, True
            else:
                lowest = min(lowest, v)
                s.forbidden[p, int(option[at + WAY])] = collecting
        else:
            for at in range(level[START, d], level[START, d + 1], OPTION):
                s.forbidden[int(option[at + PLACE]), int(option[at + WAY])] = False
            d -= 1
            if d >= 0:
                at = level[CURSOR, d]
                taken[int(option[at + PLACE])] = False
                s.forbidden[int(option[at + PLACE]), int(option[at + WAY])] = collecting
    if collecting:
        return limit, count
    return (best, found) if found >= 0 else (lowest, found)
