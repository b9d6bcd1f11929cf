"""The closest point of a star (see _kernels/star.py) when the objectives have laws of their own.

Facets of one objective each (`plain`): the hub pools with the arms held above it, objective by objective; exact for
every one-parameter family. Else the dual is smooth and concave in the multipliers y >= 0,
    D(y) = sum_k N_k d(M_k, x_k) + sum_c y_c left_c,   left_c = w_c . (x_a - x_hub) = dD/dy_c,
    x_k the tilted minimum with slopes  -sum_c y_c w_c / N_hub  (the hub),  sum_{c: a} y_c w_c / N_a  (the others),
and every Newton step is the star of a Gaussian with covariances diag(1 / d''(x)), which star.py solves exactly.
By weak duality D bounds the star's value from below at every y. So does min(D, cap), where D is that of the
problem kept to the region in which the laws are convex, and cap what any point outside costs.

Legend (Lab)
    x, soft   where the arms of the constraints are, and 1 / d'' there; last row: the hub      (n + 1, L)
    load      sum_c y_c w_c                                                                    (L,)
    point     scratch for one arm                                                              (L,)
    OLD, LEFT further columns of Star.real: y before the step, dD/dy
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.instance import Floats, Int
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import divergence, softness, tilted
from prepex._kernels.star import (
    ARM,
    FACET,
    GAP,
    HUB,
    RATE,
    ROUNDING,
    SHIFT,
    TRIAL,
    Desk,
    Star,
    Y,
    pool,
    retreat,
    solve_pair,
)

OLD, LEFT, COLUMNS = 4, 5, 6
# A step that promises less than this share of D is the last; the others are halved until D grows enough.
PRECISION, STEPS, HALVINGS, GROWTH = 1e-11, 100, 60, 1e-4
# In place of a facet: the star is as dear as this arm's cap.
CAPPED = -1


class Lab(NamedTuple):
    """Scratch space of the closest point."""

    desk: Desk
    gram: Floats
    x: Floats
    soft: Floats
    load: Floats
    point: Floats


def make_lab(n: int, m: int, L: int) -> Lab:
    """Room for stars of n constraints."""
    desk = Desk(np.zeros((m, m)), np.zeros((m, m)), np.zeros((4, m)))
    return Lab(desk, np.zeros((m, m)), np.zeros((n + 1, L)), np.zeros((n + 1, L)), np.zeros(L), np.zeros(L))


@kernel
def pooled(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """Score of the hub pooled with the arms held above it on facet f, `extra` (-1: none) among them.

    From the pool of all arms above the hub, those below the pool drop out: its mean rises to the right one.
    """
    N, S, link = inst.N, inst.S, star.link
    x, members = S[hub, f], -1
    while True:
        weight, total, count = N[hub], N[hub] * S[hub, f], 0
        top = S[hub, f]
        for c in range(-1, n):
            if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
                continue
            a = extra if c < 0 else link[c, ARM]
            if S[a, f] > x:
                weight += N[a]
                total += N[a] * S[a, f]
                top = max(top, S[a, f])
                count += 1
        if count == members or count == 0:
            break
        members = count
        x = min(max(total / weight, x), top)
    return x


@kernel
def pool_cost(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """What that pool costs."""
    N, S, link, q = inst.N, inst.S, star.link, inst.axis[f]
    law, sign = inst.law[q], inst.W[f, q]
    x = pooled(inst, hub, star, n, f, extra)
    if x <= S[hub, f]:
        return 0.0
    cost = N[hub] * divergence(law, inst.M[hub, q], sign * x, inst.scale[hub, q])
    for c in range(-1, n):
        if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
            continue
        a = extra if c < 0 else link[c, ARM]
        if S[a, f] > x:
            cost += N[a] * divergence(law, inst.M[a, q], sign * x, inst.scale[a, q])
    return cost


@part
def is_pair(star: Star, n: Int) -> bool:
    """Are all constraints on one arm?"""
    return bool(n > 1 and star.link[0, ARM] == star.link[1, ARM])


@kernel
def dual(inst: LawInstance, hub: Int, star: Star, n: Int, lab: Lab) -> float:
    """D at Y; writes x, soft, load and LEFT. -inf outside its domain."""
    pair = is_pair(star, n)
    law, scale, W, N, M = inst.law, inst.scale, inst.W, inst.N, inst.M
    link, real, x, soft, load = star.link, star.real, lab.x, lab.soft, lab.load
    L, own = law.size, x.shape[0] - 1
    for q in range(L):
        load[q] = 0.0
        for c in range(n):
            load[q] += real[c, Y] * W[link[c, FACET], q]
    value = 0.0
    for r in range(-1, 1 if pair else n):
        k, row = (hub, own) if r < 0 else (link[r, ARM], r)
        for q in range(L):
            push = -load[q] if r < 0 else load[q] if pair else real[r, Y] * W[link[r, FACET], q]
            at = tilted(law[q], M[k, q], push / N[k], scale[k, q])
            if at == np.inf:
                return -np.inf
            x[row, q] = at
            soft[row, q] = max(softness(law[q], M[k, q], at, scale[k, q]), 1e-30)
            value += N[k] * divergence(law[q], M[k, q], at, scale[k, q])
    for c in range(n):
        left = 0.0
        row = 0 if pair else c
        for q in range(L):
            left += W[link[c, FACET], q] * (x[row, q] - x[own, q])
        real[c, LEFT] = left
        value += real[c, Y] * left
    return value


@part
def local_star(inst: LawInstance, hub: Int, star: Star, n: Int, pair: bool, lab: Lab) -> None:
    """The Gaussian star around the current point: GAP = left + Q y, with RATE and gram, or Q of a pair."""
    W, N, link, real, soft = inst.W, inst.N, star.link, star.real, lab.soft
    m, L = W.shape
    own = soft.shape[0] - 1
    for f in range(m):
        for g in range(m):
            entry, other = 0.0, 0.0
            for q in range(L):
                entry += W[f, q] * W[g, q] * soft[own, q]
                other += W[f, q] * W[g, q] * soft[0, q]
            lab.gram[f, g] = entry
            if pair:
                lab.desk.quad[f, g] = entry / N[hub] + other / N[link[0, ARM]]
    for c in range(n):
        f, a = link[c, FACET], link[c, ARM]
        real[c, OLD] = real[c, Y]
        gap = real[c, LEFT]
        if pair:
            for d in range(n):
                gap += lab.desk.quad[f, d] * real[d, Y]
        else:
            own_soft = 0.0
            for q in range(L):
                own_soft += W[f, q] * W[f, q] * soft[c, q]
                gap += W[f, q] * soft[own, q] * lab.load[q] / N[hub]
            real[c, RATE] = N[a] / own_soft
            gap += real[c, Y] / real[c, RATE]
        real[c, GAP] = gap


@part
def settle_from(star: Star, n: Int, gram: Floats, N: float, desk: Desk) -> None:
    """`settle` of star.py from any Y >= 0."""
    link, real, vec = star.link, star.real, desk.vec
    enter = np.int64(-1)
    stalled = False
    while not stalled:
        while True:
            pool(star, n, enter, gram, N, desk)
            for c in range(n):
                real[c, TRIAL] = real[c, RATE] * (real[c, GAP] - vec[SHIFT, link[c, FACET]])
            drop = retreat(real, n, enter)
            if drop < 0:
                break
            stalled = drop == enter
            enter = np.int64(-1)
        worst, enter = 0.0, np.int64(-1)
        for c in range(n):
            if real[c, Y] <= 0.0:
                shift = vec[SHIFT, link[c, FACET]]
                left = real[c, GAP] - shift
                if left > worst and left > ROUNDING * (abs(real[c, GAP]) + abs(shift)):
                    worst, enter = left, np.int64(c)
        if enter < 0:
            break


@kernel
def newton(inst: LawInstance, hub: Int, star: Star, n: Int, cap: float, lab: Lab) -> float:
    """max_y D(y) from the given Y by projected Newton, or at least `cap`. Leaves Y, x and LEFT at the answer."""
    real, pair = star.real, is_pair(star, n)
    value = dual(inst, hub, star, n, lab)
    if value < 0.0:
        for c in range(n):
            real[c, Y] = 0.0
        value = dual(inst, hub, star, n, lab)
    for _ in range(STEPS):
        if value >= cap:
            break
        local_star(inst, hub, star, n, pair, lab)
        if pair:
            solve_pair(star, lab.desk)
        else:
            settle_from(star, n, lab.gram, inst.N[hub], lab.desk)
        slope = 0.0
        for c in range(n):
            real[c, TRIAL] = real[c, Y] - real[c, OLD]
            slope += real[c, LEFT] * real[c, TRIAL]
        share, better, last = 1.0, -np.inf, slope <= PRECISION * value
        for _ in range(HALVINGS):
            for c in range(n):
                real[c, Y] = max(real[c, OLD] + share * real[c, TRIAL], 0.0)
            better = dual(inst, hub, star, n, lab)
            if last or better >= value + GROWTH * share * slope:
                break
            share *= 0.5
        # The last step gains nothing but digits of x: it may lose a rounding.
        if better < value - (1e-11 * value if last else 0.0):
            for c in range(n):
                real[c, Y] = real[c, OLD]
            dual(inst, hub, star, n, lab)
            break
        value = max(better, value)
        if last:
            break
    return value


@kernel
def settle_pools(inst: LawInstance, hub: Int, star: Star, n: Int, lab: Lab) -> None:
    """The pools of a plain star: writes HUB and Y."""
    S, link, real, vec = inst.S, star.link, star.real, lab.desk.vec
    for f in range(S.shape[1]):
        vec[HUB, f] = pooled(inst, hub, star, n, f, np.int64(-1))
    for c in range(n):
        a, f = link[c, ARM], link[c, FACET]
        real[c, Y] = max(inst.N[a] * (S[a, f] - vec[HUB, f]), 0.0)


@kernel
def settle_law(inst: LawInstance, hub: Int, star: Star, n: Int, cap: float, lab: Lab) -> float:
    """Closest point of a star with one constraint an arm that is not plain, from the given Y; writes Y and HUB."""
    W, vec = inst.W, lab.desk.vec
    m, L = W.shape
    value = newton(inst, hub, star, n, cap, lab)
    own = lab.x.shape[0] - 1
    for f in range(m):
        vec[HUB, f] = 0.0
        for q in range(L):
            vec[HUB, f] += W[f, q] * lab.x[own, q]
    return min(value, cap)


@kernel
def remove_law(inst: LawInstance, i: Int, j: Int, star: Star, lab: Lab) -> float:
    """Closest point of Remove(i, j): hub j, a constraint on arm i for every facet. Writes the star, returns v."""
    link, real, S, V = star.link, star.real, inst.S, inst.V
    m = S.shape[1]
    cap = min(inst.cap[i], inst.cap[j])
    value, apart = 0.0, False
    for c in range(m):
        link[c, ARM] = i
        link[c, FACET] = c
        gap = max(S[i, c] - S[j, c], 0.0)
        apart = apart or gap > 0.0
        real[c, Y] = gap if inst.plain or gap == 0.0 else gap / (V[i, c] + V[j, c])
    if inst.plain:
        for c in range(m):
            if real[c, Y] > 0.0:
                value += pool_cost(inst, j, star, m, np.int64(c), np.int64(-1))
        return value
    if not apart:
        # Exactly 0, and not what is left of the dual of a Poisson mean of 0: it tells that i is dominated now.
        return value
    if cap > 0.0:
        value = newton(inst, j, star, m, cap, lab)
    if value >= cap:
        for c in range(m):
            real[c, Y] = 0.0
        link[0, ARM] = i if inst.cap[i] <= inst.cap[j] else j
        link[0, FACET] = CAPPED
        real[0, Y] = 1.0
        value = cap
    return value


@kernel
def moved(inst: LawInstance, hub: Int, star: Star, n: Int, k: Int, out: Floats) -> None:
    """Where arm k, the hub or one of the star's, is at the closest point, from the star's constraints and Y."""
    W, S, M, link, real = inst.W, inst.S, inst.M, star.link, star.real
    m, L = W.shape
    for q in range(L):
        out[q] = 0.0 if not inst.plain else M[k, q]
    if inst.plain:
        for f in range(m):
            x = pooled(inst, hub, star, n, f, np.int64(-1))
            held = k == hub
            for c in range(n):
                held = held or (link[c, ARM] == k and link[c, FACET] == f and S[k, f] > x)
            if held and x > S[hub, f]:
                out[inst.axis[f]] = W[f, inst.axis[f]] * x
        return
    for c in range(n):
        if link[c, FACET] >= 0 and (k == hub or link[c, ARM] == k):
            for q in range(L):
                out[q] += real[c, Y] * W[link[c, FACET], q]
    for q in range(L):
        push = -out[q] if k == hub else out[q]
        out[q] = tilted(inst.law[q], M[k, q], push / inst.N[k], inst.scale[k, q]) if push != 0.0 else M[k, q]


@kernel
def arm_cost(inst: LawInstance, hub: Int, star: Star, n: Int, k: Int, point: Floats) -> float:
    """d(M_k, M'_k) of the hub or an arm of the star. A star at its cap costs what that arm's border costs."""
    if n == 0:
        return 0.0
    if star.link[0, FACET] == CAPPED:
        return inst.cap[k] / inst.N[k] if k == star.link[0, ARM] else 0.0
    cost = 0.0
    moved(inst, hub, star, n, k, point)
    for q in range(point.size):
        cost += divergence(inst.law[q], inst.M[k, q], point[q], inst.scale[k, q])
    return cost


@part
def first_of(star: Star, hub: Int, c: Int) -> bool:
    """Is the arm of constraint c (-1: the hub) not one before it?"""
    first = True
    for d in range(-1, c):
        first = first and star.link[c, ARM] != (hub if d < 0 else star.link[d, ARM])
    return first
