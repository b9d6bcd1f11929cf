"""The cheapest way for an arm j outside the answer to enter it: branch and bound over facet choices.

Add(j): j meets every limit, and for every a of the front some facet f has w_f . (M'_j - M'_a) >= slack_f. A node is a
partial choice, a star with all limits, whose value v bounds every completion from below. One more constraint (a, f)
makes it dearer, and by weak duality the model knows by how much at least (`child_bound`): for a known Gaussian
    v + left^2 / (2 (V_af + V_jf)),    left = w_f . (M_a - M'_j) + slack_f,
so a node costs at least the maximum over arms of the minimum over facets, and most children are never solved.

One depth-first search serves two purposes:
    minimising   the cheapest leaf
    collecting   every closest point of a facet choice below a limit. Behind a leaf it goes on with the choices
                 that its point does not meet; a choice already explored is forbidden to its later siblings,
                 so every complete choice is covered once. There may be exponentially many: when the room for
                 them is full the limit falls to the dearest one kept, so the cheapest are what remains.
"""

import numpy as np

from prepex._kernels.instance import Instance, Int, escaped, gap, n_limits, spread
from prepex._kernels.jit import by_model, kernel, part
from prepex._kernels.laws import point
from prepex._kernels.room import (
    ARM,
    CAPPED,
    CURSOR,
    FACET,
    HUB,
    LEAST,
    OPTION,
    PLACE,
    START,
    WAY,
    Pieces,
    Search,
    Y,
    keep_star,
    lowered,
    record,
)
from prepex._kernels.star import cap_known, child_bound_known, node_bound_known, start_known, take_known

start = by_model(known=start_known, laws=point.start_law)
cap_of = by_model(known=cap_known, laws=point.cap_law)
node_bound = by_model(known=node_bound_known, laws=point.node_bound_law)
child_bound = by_model(known=child_bound_known, laws=point.child_bound_law)
take = by_model(known=take_known, laws=point.take_law)


@part
def hardest_arm(inst: Instance, j: Int, s: Search) -> tuple[Int, float]:
    """Of the arms that the hub has not escaped, the place in the front of the dearest one, and its least cost.

    (-1, 0) at a leaf.
    """
    front, vec, taken, forbidden = inst.front, s.desk.vec, s.taken, s.forbidden
    pick, dearest = np.int64(-1), 0.0
    for p in range(inst.size[0]):
        if taken[p]:
            continue
        a = front[p]
        cheapest = np.inf
        for f in range(inst.n_facets):
            left = gap(inst, a, j, f) - vec[HUB, f]
            if forbidden[p, f]:
                continue
            if escaped(inst, a, j, f, left):
                cheapest = 0.0
                break
            if left > 0.0:
                cheapest = min(cheapest, 0.5 * left * left / spread(inst, a, j, f))
        if cheapest > dearest:
            pick, dearest = np.int64(p), cheapest
    return pick, dearest


@part
def offer(inst: Instance, j: Int, p: Int, v: float, best: float, s: Search, d: Int, cap: float) -> float:
    """Put the facets of the front's p-th arm among level d's options; returns the least bound of those too dear.

    -1 if the stack is full.
    """
    vec, option, level, forbidden = s.desk.vec, s.option, s.level, s.forbidden
    a, base, end, missed = inst.front[p], level[START, d], level[START, d + 1], np.inf
    for f in range(inst.n_facets):
        left = gap(inst, a, j, f) - vec[HUB, f]
        if left <= 0.0 or forbidden[p, f]:
            continue
        least = child_bound(inst, j, a, np.int64(f), v, left, s, d, cap)
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
def clear(s: Search, d: Int) -> None:
    """Leave no mark of the levels 0 to d: no arm taken, no facet forbidden."""
    for e in range(d + 1):
        for at in range(s.level[START, e], s.level[START, e + 1], OPTION):
            p = int(s.option[at + PLACE])
            s.taken[p] = False
            s.forbidden[p, int(s.option[at + WAY])] = False


@kernel
def search(inst: Instance, j: Int, limit: float, s: Search, pieces: Pieces, count: Int) -> tuple[float, Int]:
    """Depth-first over the facet choices of Add(j), pruned at `limit`; collecting iff `pieces` has room.

    Minimising: (value, constraints in s.leaf), or (a lower bound >= limit, -1).
    Collecting: (limit, new count), or (limit, -1) if the stack was too small.
    """
    front, nP, base = inst.front, inst.size[0], n_limits(inst)
    option, level, taken = s.option, s.level, s.taken
    collecting = pieces.real.shape[0] > 0
    best, lowest = limit, np.inf
    found: Int = np.int64(-1)
    cap, capped_by = cap_of(inst, j)
    v = start(inst, j, s, cap)
    level[START, 0] = 0
    d, opening = 0, True
    if v > 0.0 and v >= best:
        # Too dear to meet the limits alone.
        d, lowest = -1, v
    while d >= 0:
        if opening:
            opening = False
            level[START, d + 1] = level[START, d]
            level[CURSOR, d] = level[START, d]
            for c in range(base + d if d < s.saved.shape[0] else 0):
                s.saved[d, c] = s.star.real[c, Y]
            pick, hardest = hardest_arm(inst, j, s)
            # As dear as an arm's cap: no more is known about anything below.
            full = v >= cap
            if pick < 0 or full:
                leaf = keep_star(s.star, base + d, s.leaf)
                if full:
                    s.leaf.link[0, ARM], s.leaf.link[0, FACET], s.leaf.real[0, Y] = capped_by, CAPPED, 1.0
                    leaf = np.int64(1)
                if collecting:
                    count = record(pieces, count, j, j, v, s.leaf, leaf)
                    best = lowered(pieces, count, best)
                else:
                    best, found = v, leaf
            bound = node_bound(inst, v, hardest)
            if full or bound >= best:
                lowest = min(lowest, bound)
                continue
            for p in range(nP):
                if not taken[p] and (pick < 0 or p == pick):
                    lowest = min(lowest, offer(inst, j, np.int64(p), v, best, s, d, cap))
            if lowest < 0.0:
                clear(s, d)
                return limit, np.int64(-1)
        elif level[CURSOR, d] > level[START, d]:
            level[CURSOR, d] -= OPTION
            at = level[CURSOR, d]
            p, v = int(option[at + PLACE]), option[at + LEAST]
            if v < best:
                v = take(inst, j, front[p], int(option[at + WAY]), s, d, cap, v)
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
