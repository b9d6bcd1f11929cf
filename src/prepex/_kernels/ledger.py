"""The evidence Z of an instance that changes one arm at a time.

For every arm k the ledger keeps a lower bound on the cheapest alternative in which k changes its status (leaves
or enters the answer), and solves only those arms whose bound is below the smallest solved value. How bounds stay valid
while arms move is the model's affair: aging.py for known Gaussians, laws/aging.py for other laws.
While every bound is positive no arm has changed its status, so the Pareto set itself needs no check either; with slack
it does (`lenient`), by what the arm that moved could have changed.

Legend
    key       lower bound of what it takes to change arm k's status, in the model's unit (`reach`)    (K,)
    seen      the round in which arm k was last solved                               (K,)
    rival     the j of the cheapest Remove(k, j) of last time, or -1                 (K,)
              Break(k, c) is a star whose hub is K + c: an arm of known mean, that has no gradient
    rest      with slack: a lower bound, as `key`, of Remove(k, j) for all j but the rival       (K,)
    by        of an arm outside the answer: one of it that dominates the arm, or the arm itself if it breaks a limit;
              -1 if nobody has looked                                                (K,)
    best      the star that attains Z;  gradient  its dZ/dN                          (K,)
    none      no room for pieces: a search given this minimises
    own       does this ledger keep the means? `far` shares those of `near`
    load, base, witness   what the model remembers of Add(k)                         (K, m), (K,), (K,)
    real      VALUE: Z; DRIFT
    whole     CHANGED: the arm whose status changes (-1: none), CENTRE: the star's hub, SIZE: its constraints,
              STALE: it must be solved again, ROUND, UNSEEN: the first arm not looked at since all was forgotten,
              PAPER: only the alternatives of the FraPPE paper, for reproduction, MOVED: the arm that did since the
              answer was last looked at
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels import aging
from prepex._kernels.aging import STRETCH
from prepex._kernels.instance import Floats, Instance, Int, Ints, apart, compare, feasible, find_answer, weigh_known
from prepex._kernels.jit import by_model, kernel, part
from prepex._kernels.laws import aging as law_aging
from prepex._kernels.laws.instance import weigh_law
from prepex._kernels.laws.pair import pair_bound_law
from prepex._kernels.laws.point import arm_cost_law, break_law, remove_law
from prepex._kernels.room import (
    ARM,
    CENTRE,
    CHANGED,
    DRIFT,
    FACET,
    MOVED,
    NONE,
    PAPER,
    ROUND,
    SEVERAL,
    SIZE,
    STALE,
    UNSEEN,
    VALUE,
    Pieces,
    Search,
    Star,
    Y,
    first_of,
    keep_star,
    lowered,
    make_pieces,
    make_search,
    make_star,
    most_constraints,
    record,
    touch,
)
from prepex._kernels.search import search
from prepex._kernels.star import arm_cost_known, break_known, pair_bound_known, remove_known

weigh = by_model(known=weigh_known, laws=weigh_law)
pair_bound = by_model(known=pair_bound_known, laws=pair_bound_law)
remove = by_model(known=remove_known, laws=remove_law)
break_limit = by_model(known=break_known, laws=break_law)
arm_cost = by_model(known=arm_cost_known, laws=arm_cost_law)
move = by_model(known=aging.move_known, laws=law_aging.move_law)
reach = by_model(known=aging.reach_known, laws=law_aging.reach_law)
cheapest_add = by_model(known=aging.cheapest_add_known, laws=law_aging.cheapest_add_law)
standing = by_model(known=aging.standing_known, laws=law_aging.standing_law)


class Ledger(NamedTuple):
    """An instance, and what is known about its closest alternatives."""

    inst: Instance
    search: Search
    none: Pieces
    key: Floats
    seen: Ints
    rival: Ints
    rest: Floats
    by: Ints
    load: Floats
    base: Floats
    witness: Ints
    best: Star
    gradient: Floats
    real: Floats
    whole: Ints
    own: bool

    @property
    def with_laws(self) -> bool:
        """Is it of other laws than known Gaussians?"""
        return bool(self.inst.with_laws)

    @property
    def compiled_for(self) -> type:
        """What decides which machine code it needs."""
        return type(self.inst)


def open_ledger(inst: Instance, spare: int = 256, paper: bool = False, own: bool = True) -> Ledger:
    """What is known of an instance at first: nothing. Call `refresh` next."""
    (K, m), L = inst.S.shape, inst.W.shape[1]
    limits = m - inst.n_facets
    return Ledger(
        inst=inst,
        search=make_search(K, m, L, spare, limits),
        none=make_pieces(0, 0),
        key=np.full(K, -np.inf),
        seen=np.zeros(K, dtype=np.int64),
        rival=np.full(K, -1, dtype=np.int64),
        rest=np.full(K, -np.inf),
        by=np.full(K, -1, dtype=np.int64),
        load=np.full((K, m), np.nan),
        base=np.full(K, np.nan),
        witness=np.full(K, -1, dtype=np.int64),
        best=make_star(most_constraints(K, m, limits) + 1),
        gradient=np.zeros(K),
        real=np.zeros(2),
        whole=np.array([-1, 0, 0, 1, 0, 0, int(paper), SEVERAL]),
        own=own,
    )


def share_means(near: Ledger, paper: bool = False) -> Ledger:
    """A ledger at other weights whose means are those of `near`."""
    return open_ledger(apart(near.inst), paper=paper, own=False)


@part
def forget(ledger: Ledger) -> None:
    """Nothing known is kept."""
    whole = ledger.whole
    for k in range(ledger.key.size):
        ledger.key[k], ledger.base[k], ledger.load[k, 0] = -np.inf, np.nan, np.nan
        ledger.rival[k], ledger.rest[k], ledger.gradient[k] = -1, -np.inf, 0.0
    whole[CHANGED], whole[SIZE], whole[STALE], whole[UNSEEN] = -1, 0, 1, 0
    ledger.real[VALUE], ledger.real[DRIFT] = np.inf, 0.0


@kernel
def add_weight(ledger: Ledger, a: Int, more: float) -> None:
    """Arm a weighs more; its mean stays."""
    ledger.inst.N[a] += more
    weigh(ledger.inst, a)
    touch(ledger, a)


@kernel
def put_weights(ledger: Ledger, near: Ledger, weights: Floats) -> None:
    """The means of `near`, which this ledger shares, at these weights."""
    inst, other = ledger.inst, near.inst
    for k in range(weights.size):
        inst.N[k] = weights[k]
        weigh(inst, np.int64(k))
        inst.mask[k] = other.mask[k]
        inst.front[k] = other.front[k]
        ledger.by[k] = -1
    inst.size[0] = other.size[0]
    ledger.whole[MOVED] = NONE
    forget(ledger)


@kernel
def refresh(ledger: Ledger, slack: float) -> float:
    """Bring Z, its star and gradient, and the answer up to date after moves. Returns Z.

    Solve the arm that attained Z, look at those not seen since all was forgotten, then solve arms in the order of their
    bounds until no bound is below Z + slack (which `collect` then need not look at).
    """
    key, seen, real, whole = ledger.key, ledger.seen, ledger.real, ledger.whole
    K = key.size
    whole[ROUND] += 1
    if whole[PAPER] == 1:
        # The bounds hold for the complete alternatives only: look at everything again.
        ledger.inst.size[0] = find_answer(ledger.inst)
        forget(ledger)
    elif ledger.inst.lenient:
        if not same_answer(ledger, whole[MOVED]):
            front_changed(ledger)
        whole[MOVED] = NONE
    if whole[STALE] == 1:
        real[VALUE] = np.inf
    while True:
        k, limit = whole[CHANGED], np.inf
        if whole[STALE] == 0 or k < 0:
            if whole[UNSEEN] < K:
                k, limit = whole[UNSEEN], 0.0
                whole[UNSEEN] += 1
            else:
                k, limit = np.int64(-1), np.nextafter(real[VALUE] + slack, np.inf)
                least = reach(ledger, limit)
                for i in range(K):
                    if key[i] < least and seen[i] != whole[ROUND] and i != whole[CHANGED]:
                        least, k = key[i], np.int64(i)
        whole[STALE] = 0
        if k >= 0:
            if limit > 0.0:
                seen[k] = whole[ROUND]
            solve_arm(ledger, k, limit)
        elif real[VALUE] > 0.0 or whole[PAPER] == 1 or not front_changed(ledger):
            break
    return float(real[VALUE])


@part
def kept_out(inst: Instance, k: Int) -> Int:
    """What keeps arm k out of the answer: itself, if it breaks a limit, or who dominates it; -1 if nothing does."""
    by: Int = np.int64(-1) if feasible(inst.S, inst.n_facets, k) else np.int64(k)
    for p in range(inst.size[0]):
        if by < 0 and compare(inst.S, inst.n_facets, inst.front[p], k) > 0:
            by = inst.front[p]
    return by


@part
def same_answer(ledger: Ledger, a: Int) -> bool:
    """Is the answer what it was before arm a, and no other, moved?

    One of it must stay feasible and level with the rest of it, neither above nor below; an arm that it kept out must be
    kept out still. One outside it must be kept out, and then changes nothing for others.
    """
    inst, by = ledger.inst, ledger.by
    if a < 0:
        return bool(a == NONE)
    same, inside = True, inst.mask[a]
    if inside:
        same = feasible(inst.S, inst.n_facets, a)
        for p in range(inst.size[0]):
            same = same and compare(inst.S, inst.n_facets, a, inst.front[p]) == 0
    for k in range(0 if inside else a, by.size if inside else a + 1):
        if same and not inst.mask[k] and (k == a or by[k] == a or by[k] < 0):
            by[k] = kept_out(inst, np.int64(k))
            same = by[k] >= 0
    return bool(same)


@part
def follow_answer(ledger: Ledger) -> None:
    """The answer alone, after moves: Z and its star stay as they are until `refresh` is called."""
    if not same_answer(ledger, ledger.whole[MOVED]):
        front_changed(ledger)
    ledger.whole[MOVED] = NONE


@part
def front_changed(ledger: Ledger) -> bool:
    """Has an arm changed its status, so that all must be seen anew? Z = 0 may also be a tie."""
    inst, before = ledger.inst, ledger.search.taken
    changed = False
    for k in range(before.size):
        before[k] = inst.mask[k]
    inst.size[0] = find_answer(inst)
    for k in range(before.size):
        changed = changed or before[k] != inst.mask[k]
        before[k] = False
        ledger.by[k] = -1
    if changed:
        forget(ledger)
        ledger.whole[ROUND] += 1
    return changed


@part
def solve_arm(ledger: Ledger, k: Int, limit: float) -> None:
    """The cheapest change of arm k's status: exact below `limit`, else a bound. The cheapest so far becomes Z."""
    inst, s, best, gradient, whole = ledger.inst, ledger.search, ledger.best, ledger.gradient, ledger.whole
    hub: Int = np.int64(k)
    n: Int = np.int64(-1)
    v = np.inf
    if inst.mask[k]:
        v, n, hub = cheapest_remove(ledger, k, STRETCH * limit)
    elif whole[PAPER] == 0:
        v, n = cheapest_add(ledger, k, limit)
    ledger.key[k] = reach(ledger, v) * (1.0 - 1e-12)
    if inst.lenient and inst.mask[k]:
        ledger.key[k] = min(ledger.key[k], ledger.rest[k])
    if n >= 0 and v < ledger.real[VALUE]:
        for c in range(-1, whole[SIZE]):
            a = whole[CENTRE] if c < 0 else best.link[c, ARM]
            if a < gradient.size:
                gradient[a] = 0.0
        keep_star(s.leaf, n, best)
        for c in range(-1, n):
            a = hub if c < 0 else best.link[c, ARM]
            if a < gradient.size:
                gradient[a] = arm_cost(inst, hub, best, n, a, s.lab.point)
        ledger.real[VALUE] = v
        whole[CHANGED], whole[CENTRE], whole[SIZE] = k, hub, n


@part
def rivals(inst: Instance, i: Int, j: Int, paper: bool) -> bool:
    """Is Remove(i, j) an alternative? For j in the answer; with slack, for every j; in FraPPE's paper, for the others.

    Without slack a j outside the answer that dominates i would enter it first, which is an alternative of its own.
    """
    return j != i and (not inst.mask[j] if paper else inst.lenient or inst.mask[j])


@part
def cheapest_remove(ledger: Ledger, i: Int, limit: float) -> tuple[float, Int, Int]:
    """Cheapest Break(i, c), or Remove(i, j) over its rivals, the last one first: (value, constraints, hub), or
    (bound, -1, rival). Notes the rival, and with slack a bound of the others, by which they mostly need not be seen.
    """
    inst, s, rival, paper = ledger.inst, ledger.search, ledger.rival[i], ledger.whole[PAPER] == 1
    best, lowest, hub = limit, np.inf, np.int64(-1)
    n: Int = np.int64(-1)
    for row in range(inst.n_facets, inst.S.shape[1]):
        v = break_limit(inst, i, np.int64(row), s)
        if v < best:
            best, hub, n = v, np.int64(inst.N.size + row - inst.n_facets), keep_star(s.star, np.int64(1), s.leaf)
        else:
            lowest = min(lowest, v)
    every = paper or inst.lenient
    first, rest = np.inf, np.inf
    for p in range(-1, inst.N.size if every else inst.size[0]):
        if p == 0 and inst.lenient and ledger.rest[i] >= reach(ledger, best):
            rest = -np.inf
            break
        j = rival if p < 0 else np.int64(p) if every else inst.front[p]
        if j < 0 or (p >= 0 and j == rival) or not rivals(inst, i, j, paper):
            continue
        v = pair_bound(inst, i, j)
        if v < best:
            v = remove(inst, i, j, s)
        if v < best:
            if 0 <= hub < inst.N.size:
                rest = min(rest, best)
            best, hub, n = v, np.int64(j), keep_star(s.star, inst.S.shape[1], s.leaf)
            ledger.rival[i] = hub
        else:
            lowest = min(lowest, v)
            if p < 0:
                first = v
            else:
                rest = min(rest, v)
    if inst.lenient and rest > -np.inf:
        ledger.rest[i] = reach(ledger, rest if ledger.rival[i] == rival else min(rest, first)) * (1.0 - 1e-12)
    if n < 0:
        best, hub = lowest, np.int64(rival)
    return best, n, hub


@kernel
def collect(ledger: Ledger, slack: float, pieces: Pieces) -> Int:
    """The closest points of alternatives with value at most Z + slack, after `refresh`: all, or the cheapest.

    Returns how many; if `pieces` is full there may be more. -1 if the stack was too small.
    """
    inst, s, key = ledger.inst, ledger.search, ledger.key
    # A piece that was solved from another start may be a rounding dearer than Z.
    limit = np.nextafter(ledger.real[VALUE] * (1.0 + 1e-12) + slack, np.inf)
    count: Int = np.int64(0)
    paper = ledger.whole[PAPER] == 1
    within, farthest = np.inf, np.inf
    for k in range(key.size):
        if limit < within:
            within, farthest = limit, reach(ledger, limit)
        if key[k] > farthest or (paper and not inst.mask[k]):
            continue
        if not inst.mask[k]:
            _, count = search(inst, np.int64(k), limit, s, pieces, count)
            if count < 0:
                break
            limit = lowered(pieces, count, limit)
            continue
        for row in range(inst.n_facets, inst.S.shape[1]):
            v = break_limit(inst, np.int64(k), np.int64(row), s)
            if v < limit:
                hub = np.int64(key.size + row - inst.n_facets)
                count = record(pieces, count, hub, k, v, s.leaf, keep_star(s.star, np.int64(1), s.leaf))
                limit = lowered(pieces, count, limit)
        single = inst.lenient and ledger.rest[k] > farthest
        for j in range(key.size):
            if single and j != ledger.rival[k]:
                continue
            if rivals(inst, k, j, paper) and pair_bound(inst, np.int64(k), np.int64(j)) < limit:
                v = remove(inst, np.int64(k), np.int64(j), s)
                if v < limit:
                    count = record(pieces, count, j, k, v, s.leaf, keep_star(s.star, inst.S.shape[1], s.leaf))
                    limit = lowered(pieces, count, limit)
    return count


@kernel
def put_gradient(ledger: Ledger, pieces: Pieces, row: Int, slot: Ints, table: Floats, c: Int) -> None:
    """Add the gradient of a collected piece to column c, arm a in row slot[a]."""
    star, whole, real = ledger.search.star, pieces.whole, pieces.real
    hub, n = whole[row, 0], whole[row, 2]
    for d in range(n):
        star.link[d, ARM], star.link[d, FACET] = whole[row, 3 + 2 * d], whole[row, 4 + 2 * d]
        star.real[d, Y] = real[row, 1 + d]
    for d in range(-1, n):
        a = hub if d < 0 else star.link[d, ARM]
        if a < ledger.key.size and first_of(star, hub, d):
            table[slot[a], c] += arm_cost(ledger.inst, hub, star, n, a, ledger.search.lab.point)
