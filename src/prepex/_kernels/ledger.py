"""The evidence Z of an instance that changes one arm at a time.

For every arm k the ledger keeps a lower bound on the cheapest alternative in which k changes its status (leaves
or enters P), and solves only those arms whose bound is below the smallest solved value.

Why the bounds stay valid for free. sqrt(2 v) is the distance from M to a set of alternatives in the norm
|X|^2 = sum_k N_k x_k' prec_k x_k, and the set does not depend on M or N. Weights only grow, so the norm only
grows; and when arm a moves by x, every distance falls by at most sqrt(N_a x' prec_a x) (triangle inequality).
Only arms of P enter everyone's alternatives: their drift is summed in one number, and `key` = distance + drift
at the time it was found stays put. An arm outside P enters no alternative but its own.
While every bound is positive no arm has changed its status, so P itself needs no check either.

Legend
    key       lower bound of sqrt(2 v) of arm k, plus the drift at that time         (K,)
    seen      the round in which arm k was last solved                               (K,)
    load      the hub's multipliers by facet in the last leaf of Add(k), or nan      (K, m)
    rival     the j of the cheapest Remove(k, j) of last time, or -1                 (K,)
    best      the star that attains Z;  gradient  its dZ/dN                          (K,)
    none      no room for pieces: a search given this minimises
    real      VALUE: Z; DRIFT
    whole     CHANGED: the arm whose status changes (-1: none), CENTRE: the star's hub, SIZE: its constraints,
              STALE: it must be solved again, ROUND, UNSEEN: the first arm not looked at since P changed,
              PAPER: only the alternatives of the FraPPE paper, for reproduction
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.branch import Pieces, Search, make_pieces, make_search, record, search
from prepex._kernels.instance import Floats, Instance, Int, Ints, find_front, law
from prepex._kernels.jit import kernel, part
from prepex._kernels.star import (
    ARM,
    FACET,
    HUB,
    Star,
    Y,
    add_gradient,
    keep_star,
    pair_bound,
    remove_pair,
)

VALUE, DRIFT = 0, 1
CHANGED, CENTRE, SIZE, STALE, ROUND, UNSEEN, PAPER = 0, 1, 2, 3, 4, 5, 6

# An arm is solved exactly up to this multiple of the incumbent: dearer ones are left alone for a while.
STRETCH = 1.5


class Ledger(NamedTuple):
    """An instance, and what is known about its closest alternatives."""

    inst: Instance
    search: Search
    none: Pieces
    key: Floats
    seen: Ints
    load: Floats
    rival: Ints
    best: Star
    gradient: Floats
    real: Floats
    whole: Ints


def open_ledger(gram: Floats, scores: Floats, weights: Floats, spare: int = 256, paper: bool = False) -> Ledger:
    """Fresh, C-contiguous arrays for the kernels; the caller's are not kept. Call `refresh` next."""
    K, m = scores.shape
    N = np.array(weights, dtype=np.float64)
    inst = Instance(
        gram=np.array(gram, dtype=np.float64, order="C"),
        N=N,
        S=np.array(scores, dtype=np.float64, order="C"),
        V=np.ascontiguousarray(np.diagonal(gram, axis1=1, axis2=2) / N[:, None]),
        mask=np.zeros(K, dtype=np.bool_),
        front=np.zeros(K, dtype=np.int64),
        size=np.zeros(1, dtype=np.int64),
        plain=not bool(np.any(gram[:, ~np.eye(m, dtype=bool)])),
    )
    inst.size[0] = find_front(inst.S, inst.mask, inst.front)
    n = max(K, m) + 1
    return Ledger(
        inst=inst,
        search=make_search(K, m, spare),
        none=make_pieces(0, 0),
        key=np.full(K, -np.inf),
        seen=np.zeros(K, dtype=np.int64),
        load=np.full((K, m), np.nan),
        rival=np.full(K, -1, dtype=np.int64),
        best=Star(np.zeros((n, 2), dtype=np.int64), np.zeros((n, 4))),
        gradient=np.zeros(K),
        real=np.zeros(2),
        whole=np.array([-1, 0, 0, 1, 0, 0, int(paper)]),
    )


@kernel
def move(ledger: Ledger, W: Floats, prec: Floats, a: Int, mean: Floats, shift: Floats, weight: float) -> None:
    """Arm a has moved by `shift` to `mean` and its weight has grown to `weight`. Cheap: `refresh` does the work."""
    inst = ledger.inst
    gram, N, S, V = inst.gram, inst.N, inst.S, inst.V
    m, L = W.shape
    own = law(gram, a)
    square = 0.0
    for p in range(L):
        for q in range(L):
            square += prec[own, p, q] * shift[p] * shift[q]
    # A little more than the drift, so that rounding never makes a bound too good.
    drift = np.sqrt(max(square, 0.0) * N[a]) * (1.0 + 1e-9)
    N[a] = weight
    for f in range(m):
        S[a, f] = 0.0
        for q in range(L):
            S[a, f] += W[f, q] * mean[q]
        V[a, f] = gram[own, f, f] / weight
    if inst.mask[a]:
        ledger.real[DRIFT] += drift
    else:
        ledger.key[a] -= drift
    if inst.mask[a] or ledger.whole[CHANGED] == a:
        ledger.whole[STALE] = 1


@kernel
def refresh(ledger: Ledger, slack: float) -> float:
    """Bring Z, its star and gradient, and P up to date after moves. Returns Z.

    Solve the arm that attained Z, look at those not seen since P changed, then solve arms in the order of their
    bounds until no bound is below Z + slack (which `collect` then need not look at).
    """
    key, seen, real, whole = ledger.key, ledger.seen, ledger.real, ledger.whole
    K = key.size
    whole[ROUND] += 1
    if whole[PAPER] == 1:
        # The bounds hold for the complete alternatives only: look at everything again.
        ledger.inst.size[0] = find_front(ledger.inst.S, ledger.inst.mask, ledger.inst.front)
        whole[CHANGED], whole[SIZE], whole[STALE], whole[UNSEEN] = -1, 0, 1, 0
        for i in range(K):
            ledger.gradient[i] = 0.0
            ledger.rival[i] = -1
    if whole[STALE] == 1:
        real[VALUE] = np.inf
    while True:
        k, limit = whole[CHANGED], np.inf
        if whole[STALE] == 0 or k < 0:
            if whole[UNSEEN] < K:
                k, limit = whole[UNSEEN], 0.0
                whole[UNSEEN] += 1
            else:
                k, limit = np.int64(-1), STRETCH * (real[VALUE] + slack)
                least = np.sqrt(2.0 * (real[VALUE] + slack)) + real[DRIFT]
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
def front_changed(ledger: Ledger) -> bool:
    """Z = 0 is the border of an alternative: a tie, or an arm has changed its status and all must be seen anew."""
    inst, whole, before = ledger.inst, ledger.whole, ledger.search.taken
    changed = False
    for k in range(before.size):
        before[k] = inst.mask[k]
    inst.size[0] = find_front(inst.S, inst.mask, inst.front)
    for k in range(before.size):
        changed = changed or before[k] != inst.mask[k]
        before[k] = False
    if changed:
        for k in range(before.size):
            ledger.gradient[k] = 0.0
            ledger.load[k, 0] = np.nan
            ledger.rival[k] = -1
        ledger.real[VALUE] = np.inf
        whole[CHANGED], whole[SIZE], whole[UNSEEN] = -1, 0, 0
        whole[ROUND] += 1
    return changed


@part
def solve_arm(ledger: Ledger, k: Int, limit: float) -> None:
    """The cheapest change of arm k's status: exact below `limit`, else a bound. The cheapest so far becomes Z."""
    inst, s, best, gradient, whole = ledger.inst, ledger.search, ledger.best, ledger.gradient, ledger.whole
    hub: Int = np.int64(k)
    paper = whole[PAPER] == 1
    if inst.mask[k]:
        v, n, hub = cheapest_remove(inst, k, limit, s, ledger.rival[k], paper)
        ledger.rival[k] = hub
    elif paper:
        v, n = np.inf, np.int64(-1)
    else:
        v, n = cheapest_add(inst, k, limit, s, ledger.none, ledger.load[k])
    ledger.key[k] = np.sqrt(2.0 * v) * (1.0 - 1e-12) + ledger.real[DRIFT]
    if n >= 0 and v < ledger.real[VALUE]:
        for c in range(whole[SIZE]):
            gradient[best.link[c, ARM]] = 0.0
        gradient[whole[CENTRE]] = 0.0
        keep_star(s.leaf, n, best)
        add_gradient(inst, hub, best, n, gradient)
        ledger.real[VALUE] = v
        whole[CHANGED], whole[CENTRE], whole[SIZE] = k, hub, n


@part
def cheapest_remove(inst: Instance, i: Int, limit: float, s: Search, rival: Int, paper: bool) -> tuple[float, Int, Int]:
    """Cheapest Remove(i, j) over j in P, last time's rival first: (value, constraints, j), or (bound, -1, rival).

    `paper`: over j outside P instead, as the FraPPE paper has it.
    """
    S, V, front = inst.S, inst.V, inst.front
    best, lowest, hub = limit, np.inf, np.int64(-1)
    n: Int = np.int64(-1)
    for p in range(-1, S.shape[0] if paper else inst.size[0]):
        j = rival if p < 0 else np.int64(p) if paper else front[p]
        if j < 0 or j == i or (p >= 0 and j == rival) or inst.mask[j] == paper:
            continue
        v = pair_bound(S, V, i, j)
        if v < best:
            v = remove_pair(inst, i, j, s.star, s.desk)
        if v < best:
            best, hub, n = v, np.int64(j), keep_star(s.star, S.shape[1], s.leaf)
        else:
            lowest = min(lowest, v)
    if n < 0:
        best, hub = lowest, np.int64(rival)
    return best, n, hub


@part
def cost_at(inst: Instance, j: Int, load: Floats, vec: Floats) -> float:
    """Cost of Add(j) if `load` pushes the hub and every arm of P then pays its cheapest facet: an upper bound."""
    S, V, front, N, gram = inst.S, inst.V, inst.front, inst.N[j], inst.gram[law(inst.gram, j)]
    m = S.shape[1]
    cost = 0.0
    for f in range(m):
        shift = 0.0
        for g in range(m):
            shift += gram[f, g] * load[g] / N
        vec[HUB, f] = S[j, f] + shift
        cost += load[f] * shift
    for p in range(inst.size[0]):
        a = front[p]
        cheapest = np.inf
        for f in range(m):
            left = max(S[a, f] - vec[HUB, f], 0.0)
            cheapest = min(cheapest, left * left / V[a, f])
        cost += cheapest
    return 0.5 * cost


@part
def cheapest_add(inst: Instance, j: Int, limit: float, s: Search, none: Pieces, load: Floats) -> tuple[float, Int]:
    """Cheapest Add(j), searched below what last time's leaf costs now: (value, constraints), or (bound, -1)."""
    ceiling = limit
    if limit > 0.0 and not np.isnan(load[0]):
        ceiling = min(limit, cost_at(inst, j, load, s.desk.vec) * (1.0 + 1e-9))
    v, n = search(inst, j, ceiling, s, none, none.real.shape[0])
    if n >= 0:
        load[:] = 0.0
        for c in range(n):
            load[s.leaf.link[c, FACET]] += s.leaf.real[c, Y]
    return v, n


@kernel
def collect(ledger: Ledger, slack: float, pieces: Pieces) -> Int:
    """Every closest point of an alternative with value at most Z + slack, after `refresh`.

    Returns how many there are, which may be more than `pieces` has room for; -1 if the stack was too small.
    """
    inst, s, key = ledger.inst, ledger.search, ledger.key
    limit = np.nextafter(ledger.real[VALUE] + slack, np.inf)
    reach = np.sqrt(2.0 * limit) + ledger.real[DRIFT]
    count: Int = np.int64(0)
    paper = ledger.whole[PAPER] == 1
    for k in range(key.size):
        if key[k] > reach or (paper and not inst.mask[k]):
            continue
        if not inst.mask[k]:
            _, count = search(inst, k, limit, s, pieces, count)
            if count < 0:
                break
            continue
        for j in range(key.size):
            if j != k and inst.mask[j] != paper and pair_bound(inst.S, inst.V, k, j) < limit:
                v = remove_pair(inst, k, j, s.star, s.desk)
                if v < limit:
                    count = record(pieces, count, j, k, v, s.leaf, keep_star(s.star, inst.S.shape[1], s.leaf))
    return count
