"""The cheapest way for an arm j outside P to become Pareto optimal: branch and bound over facet choices.

Add(j): for every a in P some facet f with w_f . (M'_j - M'_a) >= 0. A node is a partial choice, a star, whose
value v bounds every completion from below. By weak duality, one more constraint (a, f) makes it at least
    v + left^2 / (2 (V_af + V_jf)),    left = w_f . (M_a - M'_j),
so a node costs at least the maximum over arms of the minimum over facets, and most children are never solved.

One depth-first search serves two purposes:
    minimising   the cheapest leaf
    collecting   every closest point of a facet choice below a limit. Behind a leaf it goes on with the choices
                 that its point does not meet; a choice already explored is forbidden to its later siblings,
                 so every complete choice is covered once.
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.instance import Bools, Floats, Instance, Int, Ints, law
from prepex._kernels.jit import kernel, part
from prepex._kernels.star import ARM, FACET, GAP, HUB, RATE, SHIFT, Desk, Star, Y, keep_star, settle

START, CURSOR = 0, 1
# An option is three numbers on a stack.
PLACE, WAY, LEAST, OPTION = 0, 1, 2, 3
# Multipliers are saved down to this level; below it a node starts again from none, slower but as exact.
SAVED_LEVELS = 64


class Search(NamedTuple):
    """Scratch space.

    star, leaf   the node's constraints, and the best leaf's
    option       stack of (PLACE in P, WAY: a facet, LEAST: its lower bound), dearest first within a level
    saved        multipliers of the nodes on the path                      (SAVED_LEVELS, SAVED_LEVELS)
    level        START: where a level's options begin; CURSOR: those from here on are done     (2, K + 2)
    taken        is the p-th Pareto arm in the node's star?                                    (K,)
    forbidden    facets that the p-th Pareto arm may not use (collecting only)                 (K, m)
    """

    star: Star
    leaf: Star
    desk: Desk
    option: Floats
    saved: Floats
    level: Ints
    taken: Bools
    forbidden: Bools


class Pieces(NamedTuple):
    """Collected stars, one a row of each: (hub, arm whose status changes, number of constraints, then arm and
    facet of each), and (value, then the multiplier of each)."""

    whole: Ints
    real: Floats


def make_search(K: int, m: int, spare: int = 256) -> Search:
    """Room for stars of max(K, m) constraints. Minimising never needs spare options; collecting may."""
    n, levels = max(K, m) + 1, min(K, SAVED_LEVELS) + 1
    return Search(
        star=Star(np.zeros((n, 2), np.int64), np.zeros((n, 4))),
        leaf=Star(np.zeros((n, 2), np.int64), np.zeros((n, 4))),
        desk=Desk(np.zeros((m, m)), np.zeros((m, m)), np.zeros((4, m))),
        option=np.zeros(((K + 1) * m + spare) * OPTION),
        saved=np.zeros((levels, levels)),
        level=np.zeros((2, K + 2), np.int64),
        taken=np.zeros(K, np.bool_),
        forbidden=np.zeros((K, m), np.bool_),
    )


def make_pieces(capacity: int, width: int) -> Pieces:
    """Room for `capacity` stars of `width` constraints; with none, a search minimises."""
    return Pieces(np.zeros((capacity, 3 + 2 * width), np.int64), np.zeros((capacity, 1 + width)))


@part
def record(pieces: Pieces, count: Int, hub: Int, changed: Int, value: float, leaf: Star, n: Int) -> Int:
    """Append the star unless it is there already; past the capacity only count. Returns the new count."""
    link, whole, real = leaf.link, pieces.whole, pieces.real
    known = False
    for r in range(min(count, real.shape[0])):
        same = whole[r, 0] == hub and whole[r, 1] == changed and whole[r, 2] == n
        if same and abs(real[r, 0] - value) <= 1e-10 * value:
            found = 0
            for c in range(n):
                for d in range(n):
                    if whole[r, 3 + 2 * c] == link[d, ARM] and whole[r, 4 + 2 * c] == link[d, FACET]:
                        found += 1
            known = known or found == n
    if not known and count < real.shape[0]:
        whole[count, 0] = hub
        whole[count, 1] = changed
        whole[count, 2] = n
        real[count, 0] = value
        for c in range(n):
            whole[count, 3 + 2 * c] = link[c, ARM]
            whole[count, 4 + 2 * c] = link[c, FACET]
            real[count, 1 + c] = leaf.real[c, Y]
    return count if known else count + 1


@part
def hardest_arm(inst: Instance, j: Int, s: Search) -> tuple[Int, float]:
    """Of the arms that still dominate the hub, the place in P of the one dearest to escape, and its least cost.

    (-1, 0) at a leaf.
    """
    S, V, front, vec, taken, forbidden = inst.S, inst.V, inst.front, s.desk.vec, s.taken, s.forbidden
    pick, dearest = np.int64(-1), 0.0
    for p in range(inst.size[0]):
        if taken[p]:
            continue
        a = front[p]
        cheapest = np.inf
        for f in range(S.shape[1]):
            left = S[a, f] - vec[HUB, f]
            if forbidden[p, f]:
                continue
            if left <= 0.0:
                cheapest = 0.0
                break
            cheapest = min(cheapest, 0.5 * left * left / (V[a, f] + V[j, f]))
        if cheapest > dearest:
            pick, dearest = np.int64(p), cheapest
    return pick, dearest


@part
def offer(inst: Instance, j: Int, p: Int, v: float, best: float, s: Search, d: Int) -> float:
    """Put the facets of the p-th Pareto arm among level d's options; returns the least bound of those too dear.

    -1 if the stack is full.
    """
    S, V, vec, option, level, forbidden = inst.S, inst.V, s.desk.vec, s.option, s.level, s.forbidden
    a, base, end, missed = inst.front[p], level[START, d], level[START, d + 1], np.inf
    for f in range(S.shape[1]):
        left = S[a, f] - vec[HUB, f]
        if left <= 0.0 or forbidden[p, f]:
            continue
        least = v + 0.5 * left * left / (V[a, f] + V[j, f])
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
def take(inst: Instance, j: Int, a: Int, f: Int, s: Search, d: Int) -> float:
    """The child of the node at level d: its star and the constraint (a, f). Returns its value."""
    link, real, vec, gram, S = s.star.link, s.star.real, s.desk.vec, inst.gram, inst.S
    for c in range(d):
        real[c, Y] = s.saved[d, c] if d < s.saved.shape[0] else 0.0
    link[d, ARM] = a
    link[d, FACET] = f
    real[d, GAP] = S[a, f] - S[j, f]
    real[d, RATE] = 1.0 / inst.V[a, f]
    v = settle(s.star, d + 1, gram[law(gram, j)], inst.N[j], s.desk)
    for g in range(S.shape[1]):
        vec[HUB, g] = S[j, g] + vec[SHIFT, g]
    return v


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
    S, front, nP, m = inst.S, inst.front, inst.size[0], inst.S.shape[1]
    option, level, taken, vec = s.option, s.level, s.taken, s.desk.vec
    collecting = pieces.real.shape[0] > 0
    best, lowest = limit, np.inf
    found: Int = np.int64(-1)
    for f in range(m):
        vec[HUB, f] = S[j, f]
    level[START, 0] = 0
    d, v, opening = 0, 0.0, True
    while d >= 0:
        if opening:
            opening = False
            level[START, d + 1] = level[START, d]
            level[CURSOR, d] = level[START, d]
            for c in range(d if d < s.saved.shape[0] else 0):
                s.saved[d, c] = s.star.real[c, Y]
            pick, cost = hardest_arm(inst, j, s)
            if pick < 0:
                leaf = keep_star(s.star, d, s.leaf)
                if collecting:
                    count = record(pieces, count, j, j, v, s.leaf, leaf)
                else:
                    best, found = v, leaf
            if v + cost >= best:
                lowest = min(lowest, v + cost)
                continue
            for p in range(nP):
                if not taken[p] and (pick < 0 or p == pick):
                    lowest = min(lowest, offer(inst, j, p, v, best, s, d))
            if lowest < 0.0:
                clear(s, d)
                return limit, np.int64(-1)
        elif level[CURSOR, d] > level[START, d]:
            level[CURSOR, d] -= OPTION
            at = level[CURSOR, d]
            p, v = int(option[at + PLACE]), option[at + LEAST]
            if v < best:
                v = take(inst, j, front[p], int(option[at + WAY]), s, d)
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
