"""The evidence Z of an instance with laws that changes one arm at a time.

As in _kernels/ledger.py every arm k has a lower bound `key` on the cheapest alternative in which it changes its
status, and only arms whose bound is below the smallest solved value are solved. What keeps a bound valid here:
    i in P       Remove(i, j) depends on i and j only. When j moves, the key falls to the new bound of that pair.
    j not in P   Add(j) is at least as dear as to escape one arm a of P, its witness: `base`. It holds until a or j
                 moves. A solved value falls back to it when any arm of P moves.
Weights that grow only make alternatives dearer. While every bound is positive no arm has changed its status.
New estimates of shared variances multiply every cost by `drift` at least, and so every bound.

Legend
    base      lower bound of Add(j) by its witness, nan if not known        (K,)
    witness   that arm of P                                                 (K,)
    own       does this ledger keep the means and scales? `far` shares those of `near`
    The others are those of _kernels/ledger.py.
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.branch import Pieces, Search, make_pieces, make_search, record
from prepex._kernels.instance import Floats, Int, Ints, find_front
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance, any_shared, make_instance, pool_variances, put_mean, weigh
from prepex._kernels.laws.pair import facet_bound, facet_cost
from prepex._kernels.laws.point import COLUMNS, Lab, arm_cost, first_of, make_lab, remove_law
from prepex._kernels.laws.search import search_law
from prepex._kernels.ledger import CENTRE, CHANGED, PAPER, ROUND, SIZE, STALE, STRETCH, VALUE
from prepex._kernels.star import ARM, FACET, Star, Y, keep_star


class LawLedger(NamedTuple):
    """An instance, and what is known about its closest alternatives."""

    inst: LawInstance
    search: Search
    lab: Lab
    none: Pieces
    key: Floats
    base: Floats
    witness: Ints
    rival: Ints
    seen: Ints
    best: Star
    gradient: Floats
    real: Floats
    whole: Ints
    own: bool


def open_law_ledger(inst: LawInstance, spare: int = 256, paper: bool = False, own: bool = True) -> LawLedger:
    """What is known of `inst` at first: nothing. Call `refresh_law` next."""
    K, m = inst.S.shape
    n = max(K, m) + 1
    lab = make_lab(n, m, inst.law.size)
    star = Star(np.zeros((n, 2), np.int64), np.zeros((n, COLUMNS)))
    return LawLedger(
        inst=inst,
        search=make_search(K, m, spare)._replace(star=star, desk=lab.desk),
        lab=lab,
        none=make_pieces(0, 0),
        key=np.full(K, -np.inf),
        base=np.full(K, np.nan),
        witness=np.full(K, -1, dtype=np.int64),
        rival=np.full(K, -1, dtype=np.int64),
        seen=np.zeros(K, dtype=np.int64),
        best=Star(np.zeros((n, 2), np.int64), np.zeros((n, COLUMNS))),
        gradient=np.zeros(K),
        real=np.zeros(2),
        whole=np.array([-1, 0, 0, 1, 0, K, int(paper)]),
        own=own,
    )


def share_means(near: LawLedger, paper: bool = False) -> LawLedger:
    """A ledger at other weights whose means are those of `near`."""
    inst = near.inst
    apart = {name: getattr(inst, name).copy() for name in ("N", "V", "cap", "mask", "front", "size")}
    return open_law_ledger(inst._replace(**apart), paper=paper, own=False)


def open_means(law: Ints, scale: Floats, facets: Floats, means: Floats, weights: Floats, spare: int) -> LawLedger:
    """A ledger of these means and weights."""
    return open_law_ledger(make_instance(law, scale, facets, means, weights), spare)


@part
def law_pair_bound(inst: LawInstance, i: Int, j: Int) -> float:
    """A lower bound of Remove(i, j): its dearest single facet. Zero iff j already dominates or equals i."""
    bound = 0.0
    for f in range(inst.S.shape[1]):
        if inst.S[i, f] > inst.S[j, f]:
            bound = max(bound, facet_bound(inst, i, j, f))
    return bound


@part
def escape_bound(inst: LawInstance, a: Int, j: Int) -> float:
    """A lower bound of what it takes for j to escape a on some facet."""
    bound = np.inf
    for f in range(inst.S.shape[1]):
        bound = min(bound, facet_bound(inst, a, j, f))
        if bound == 0.0:
            break
    return bound


@part
def follow_drift(ledger: LawLedger) -> None:
    """Estimates of shared variances follow an outcome, and the bounds follow them."""
    inst, key, base = ledger.inst, ledger.key, ledger.base
    if ledger.own:
        pool_variances(inst)
    for k in range(key.size):
        if not ledger.own:
            weigh(inst, np.int64(k))
        if key[k] > 0.0:
            key[k] *= inst.drift[0] * (1.0 - 1e-12)
        base[k] *= inst.drift[0] * (1.0 - 1e-12)
    ledger.whole[STALE] = 1


@kernel
def move_law(ledger: LawLedger, a: Int, mean: Floats, shift: Floats, weight: float) -> None:
    """Arm a has moved by `shift` to `mean` and its weight has grown to `weight`."""
    inst, key, base = ledger.inst, ledger.key, ledger.base
    if ledger.own:
        put_mean(inst, a, mean, shift, weight)
    inst.N[a] = weight
    weigh(inst, a)
    if any_shared(inst):
        follow_drift(ledger)
    key[a], base[a] = -np.inf, np.nan
    if inst.mask[a]:
        for k in range(key.size):
            if inst.mask[k]:
                if k != a:
                    key[k] = min(key[k], law_pair_bound(inst, np.int64(k), a))
            else:
                if ledger.witness[k] == a:
                    base[k] = escape_bound(inst, a, np.int64(k))
                key[k] = base[k] if base[k] > 0.0 else -np.inf
    if inst.mask[a] or ledger.whole[CHANGED] == a:
        ledger.whole[STALE] = 1


@kernel
def add_law_weight(ledger: LawLedger, a: Int, more: float) -> None:
    """Arm a weighs more; its mean stays."""
    ledger.inst.N[a] += more
    weigh(ledger.inst, a)
    if ledger.inst.mask[a] or ledger.whole[CHANGED] == a:
        ledger.whole[STALE] = 1


@kernel
def forget(ledger: LawLedger) -> None:
    """Nothing known is kept."""
    whole = ledger.whole
    for k in range(ledger.key.size):
        ledger.key[k], ledger.base[k] = -np.inf, np.nan
        ledger.rival[k], ledger.gradient[k] = -1, 0.0
    whole[CHANGED], whole[SIZE], whole[STALE] = -1, 0, 1
    ledger.real[VALUE] = np.inf


@kernel
def put_law_weights(ledger: LawLedger, near: LawLedger, weights: Floats) -> None:
    """The means of `near` at these weights."""
    inst, other = ledger.inst, near.inst
    for k in range(weights.size):
        inst.N[k] = weights[k]
        weigh(inst, np.int64(k))
        inst.mask[k] = other.mask[k]
        inst.front[k] = other.front[k]
    inst.size[0] = other.size[0]
    forget(ledger)


@kernel
def discounted(ledger: LawLedger) -> float:
    """Z, less what a shared variance that is only estimated may be off: n/2 log(1 + 2 Z / n), n outcomes in all."""
    inst, Z = ledger.inst, ledger.real[VALUE]
    if not any_shared(inst):
        return float(Z)
    n = 0.0
    for k in range(inst.N.size):
        n += inst.N[k]
    return 0.5 * n * np.log1p(2.0 * Z / n)


@part
def cheapest_law_remove(ledger: LawLedger, i: Int, limit: float, paper: bool) -> tuple[float, Int, Int]:
    """Cheapest Remove(i, j) over j in P, last time's rival first: (value, constraints, j), or (bound, -1, rival).

    `paper`: over j outside P instead, as the FraPPE paper has it.
    """
    inst, s, rival = ledger.inst, ledger.search, ledger.rival[i]
    best, lowest, hub = limit, np.inf, np.int64(-1)
    n: Int = np.int64(-1)
    for p in range(-1, inst.N.size if paper else inst.size[0]):
        j = rival if p < 0 else np.int64(p) if paper else inst.front[p]
        if j < 0 or j == i or (p >= 0 and j == rival) or inst.mask[j] == paper:
            continue
        v = law_pair_bound(inst, i, j)
        if v < best:
            v = remove_law(inst, i, j, s.star, ledger.lab)
        if v < best:
            best, hub, n = v, np.int64(j), keep_star(s.star, inst.S.shape[1], s.leaf)
        else:
            lowest = min(lowest, v)
    if n < 0:
        best, hub = lowest, np.int64(rival)
    return best, n, hub


@part
def find_witness(ledger: LawLedger, j: Int, limit: float) -> None:
    """The arm of P that is dearest to escape, by its bound; if that is below the limit, what it exactly costs."""
    inst = ledger.inst
    most, arm = -1.0, np.int64(-1)
    for p in range(inst.size[0]):
        bound = escape_bound(inst, inst.front[p], j)
        if bound > most:
            most, arm = bound, inst.front[p]
    if most < limit:
        exact = np.inf
        for f in range(inst.S.shape[1]):
            exact = min(exact, facet_cost(inst, arm, j, np.int64(f)))
        most = max(exact, most)
    ledger.base[j], ledger.witness[j] = most * (1.0 - 1e-12), arm


@part
def solve_law_arm(ledger: LawLedger, k: Int, limit: float) -> None:
    """The cheapest change of arm k's status: exact below `limit`, else a bound. The cheapest so far becomes Z."""
    inst, s, best, gradient, whole = ledger.inst, ledger.search, ledger.best, ledger.gradient, ledger.whole
    hub: Int = np.int64(k)
    n: Int = np.int64(-1)
    paper = whole[PAPER] == 1
    if inst.mask[k]:
        v, n, hub = cheapest_law_remove(ledger, k, STRETCH * limit, paper)
        ledger.rival[k] = hub
    elif paper:
        v = np.inf
    else:
        if limit < np.inf and not ledger.base[k] >= limit:
            find_witness(ledger, k, limit)
        v = ledger.base[k]
        if not v >= limit:
            v, n = search_law(inst, k, limit, s, ledger.none, ledger.none.real.shape[0], ledger.lab)
    ledger.key[k] = v * (1.0 - 1e-12)
    if n >= 0 and v < ledger.real[VALUE]:
        for c in range(whole[SIZE]):
            gradient[best.link[c, ARM]] = 0.0
        gradient[whole[CENTRE]] = 0.0
        keep_star(s.leaf, n, best)
        for c in range(-1, n):
            a = hub if c < 0 else best.link[c, ARM]
            gradient[a] = arm_cost(inst, hub, best, n, a, ledger.lab.point)
        ledger.real[VALUE] = v
        whole[CHANGED], whole[CENTRE], whole[SIZE] = k, hub, n


@part
def law_front_changed(ledger: LawLedger) -> bool:
    """Z = 0 is the border of an alternative: a tie, or an arm has changed its status and all must be seen anew."""
    inst, before = ledger.inst, ledger.search.taken
    changed = False
    for k in range(before.size):
        before[k] = inst.mask[k]
    inst.size[0] = find_front(inst.S, inst.mask, inst.front)
    for k in range(before.size):
        changed = changed or before[k] != inst.mask[k]
        before[k] = False
    if changed:
        forget(ledger)
        ledger.whole[ROUND] += 1
    return changed


@kernel
def refresh_law(ledger: LawLedger, slack: float) -> float:
    """Bring Z, its star and gradient, and P up to date after moves. Returns Z.

    Solve the arm that attained Z, then arms in the order of their bounds until no bound is below Z + slack.
    """
    key, seen, real, whole = ledger.key, ledger.seen, ledger.real, ledger.whole
    K = key.size
    whole[ROUND] += 1
    if whole[PAPER] == 1:
        # The bounds hold for the complete alternatives only: look at everything again.
        ledger.inst.size[0] = find_front(ledger.inst.S, ledger.inst.mask, ledger.inst.front)
        forget(ledger)
    if whole[STALE] == 1:
        real[VALUE] = np.inf
    while True:
        k, limit = whole[CHANGED], np.inf
        if whole[STALE] == 0 or k < 0:
            k, limit = np.int64(-1), np.nextafter(real[VALUE] + slack, np.inf)
            least = limit
            for i in range(K):
                if key[i] < least and seen[i] != whole[ROUND] and i != whole[CHANGED]:
                    least, k = key[i], np.int64(i)
        whole[STALE] = 0
        if k >= 0:
            seen[k] = whole[ROUND]
            solve_law_arm(ledger, k, limit)
        elif real[VALUE] > 0.0 or whole[PAPER] == 1 or not law_front_changed(ledger):
            break
    return float(real[VALUE])


@kernel
def collect_law(ledger: LawLedger, slack: float, pieces: Pieces) -> Int:
    """Every closest point of an alternative with value at most Z + slack, after `refresh_law`.

    Returns how many there are, which may be more than `pieces` has room for; -1 if the stack was too small.
    """
    inst, s, key = ledger.inst, ledger.search, ledger.key
    limit = np.nextafter(ledger.real[VALUE] * (1.0 + 1e-12) + slack, np.inf)
    count: Int = np.int64(0)
    paper = ledger.whole[PAPER] == 1
    for k in range(key.size):
        if key[k] > limit or (paper and not inst.mask[k]):
            continue
        if not inst.mask[k]:
            _, count = search_law(inst, np.int64(k), limit, s, pieces, count, ledger.lab)
            if count < 0:
                break
            continue
        for j in range(key.size):
            if j != k and inst.mask[j] != paper and law_pair_bound(inst, np.int64(k), np.int64(j)) < limit:
                v = remove_law(inst, np.int64(k), np.int64(j), s.star, ledger.lab)
                if v < limit:
                    count = record(pieces, count, j, k, v, s.leaf, keep_star(s.star, inst.S.shape[1], s.leaf))
    return count


@kernel
def put_law_gradient(ledger: LawLedger, pieces: Pieces, row: Int, slot: Ints, table: Floats, c: Int) -> None:
    """Add the gradient of a collected piece to column c, arm a in row slot[a]."""
    star, whole, real = ledger.search.star, pieces.whole, pieces.real
    hub, n = whole[row, 0], whole[row, 2]
    for d in range(n):
        star.link[d, ARM], star.link[d, FACET] = whole[row, 3 + 2 * d], whole[row, 4 + 2 * d]
        star.real[d, Y] = real[row, 1 + d]
    for d in range(-1, n):
        if first_of(star, hub, d):
            a = hub if d < 0 else star.link[d, ARM]
            table[slot[a], c] += arm_cost(ledger.inst, hub, star, n, a, ledger.lab.point)
