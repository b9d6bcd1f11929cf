"""The closest point of a star that is not plain: its dual is smooth and concave in the multipliers y >= 0,

    D(y) = sum_k N_k d(M_k, x_k) + sum_c y_c left_c,   left_c = w_c . (x_a - x_hub) + slack_c = dD/dy_c,
    x_k the tilted minimum with slopes  -sum_c y_c w_c / N_hub  (the hub),  sum_{c: a} y_c w_c / N_a  (the others),
and every Newton step is the star of a Gaussian with covariances diag(1 / d''(x)), which star.py solves exactly.
By weak duality D bounds the star's value from below at every y. So does min(D, cap), where D is that of the
problem kept to the region in which the laws are convex, and cap what any point outside costs.

The legend of the arrays is in room.py.
"""

import numpy as np

from prepex._kernels.instance import Int, gap, limit_gap
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import EXACT, farthest, outwards, tilt, tilted
from prepex._kernels.room import ARM, FACET, GAP, HUB, LEFT, OLD, RATE, TRIAL, Lab, Search, Star, Y, first_of
from prepex._kernels.star import DEPENDENT, settle, solve_pair

# A step that promises less than this share of D is the last; the others are halved until D grows enough.
PRECISION, STEPS, HALVINGS, GROWTH = 1e-11, 100, 60, 1e-4
# Softness of an arm that cannot move: a square of the smallest outcomes.
TINY = 1e-200
# Means of 0 and 1, which do not move, make steps too short: those come late that know. They are taken if the slope
# leaves more than this share of D, and promise more than that one.
CLOSED, SETTLED = 1e-12, 1e-9
# Softness of such a mean then, unless it is pushed outwards.
HARD = 1e-16


@part
def is_pair(star: Star, n: Int) -> bool:
    """Are all constraints on one arm, but for limits, which are last?"""
    return bool(n > 1 and star.link[0, ARM] == star.link[1, ARM])


@kernel
def dual(inst: LawInstance, hub: Int, star: Star, n: Int, late: bool, lab: Lab) -> float:
    """D at Y; writes x, soft, load and LEFT. -inf outside its domain. `late`: means that do not move are the
    harder the more they are pushed, as if they were next to the end of their range only."""
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
        if k >= N.size:
            continue
        for q in range(L):
            push = -load[q] if r < 0 else load[q] if pair else real[r, Y] * W[link[r, FACET], q]
            if pair and r == 0:
                # The limits push the hub alone.
                for c in range(inst.n_facets, n):
                    push -= real[c, Y] * W[link[c, FACET], q]
            at = tilted(law[q], M[k, q], push / N[k], scale[k, q])
            if at == np.inf:
                return -np.inf
            cost, bend = tilt(law[q], M[k, q], push / N[k], at, scale[k, q])
            out = outwards(law[q], M[k, q], push / N[k]) if late else -1.0
            if out > -1.0:
                at, cost, bend = M[k, q], 0.0, HARD / ((1.0 + max(out, 0.0)) * (1.0 + max(out, 0.0)))
            x[row, q] = at
            soft[row, q] = max(bend, TINY)
            value += N[k] * cost
    for c in range(n):
        left = 0.0
        row = 0 if pair else c
        if link[c, ARM] < N.size:
            for q in range(L):
                left += W[link[c, FACET], q] * (x[row, q] - x[own, q])
            left += inst.slack[link[c, FACET]]
        else:
            left = limit_gap(inst, hub, link[c, FACET])
            for q in range(L):
                left -= W[link[c, FACET], q] * (x[own, q] - M[hub, q])
        real[c, LEFT] = left
        value += real[c, Y] * left
    return value


@part
def local_star(inst: LawInstance, hub: Int, n: Int, pair: bool, s: Search) -> None:
    """The Gaussian star around the current point: GAP = left + Q y, with RATE and gram, or Q of a pair."""
    W, N, link, real, soft, lab, quad = inst.W, inst.N, s.star.link, s.star.real, s.lab.soft, s.lab, s.desk.quad
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
                quad[f, g] = entry / N[hub]
                if f < inst.n_facets and g < inst.n_facets:
                    quad[f, g] = entry / N[hub] + other / N[link[0, ARM]]
    for c in range(n):
        f, a = link[c, FACET], link[c, ARM]
        real[c, OLD] = real[c, Y]
        ahead = real[c, LEFT]
        if pair:
            for d in range(n):
                ahead += quad[f, d] * real[d, Y]
        else:
            own_soft = 0.0
            for q in range(L):
                own_soft += W[f, q] * W[f, q] * soft[c, q]
                ahead += W[f, q] * soft[own, q] * lab.load[q] / N[hub]
            real[c, RATE] = N[a] / own_soft if a < N.size else np.inf
            ahead += real[c, Y] / real[c, RATE]
        real[c, GAP] = ahead


@part
def lacking(inst: LawInstance, hub: Int, star: Star, c: Int) -> float:
    """The gap of constraint c where nothing has moved."""
    a, f = star.link[c, ARM], star.link[c, FACET]
    return gap(inst, a, hub, f) if a < inst.N.size else limit_gap(inst, hub, f)


@kernel
def out_of_reach(inst: LawInstance, hub: Int, star: Star, n: Int, column: Int) -> bool:
    """Does the sum of the constraints, weighed by this column, ask for more than the ends of all ranges give?

    Then no point meets them all: D grows without end along it. What the weights cancel is not moved.
    """
    W, link, real = inst.W, star.link, star.real
    left, lacks = 0.0, 0.0
    for c in range(n):
        lacks += real[c, column] * lacking(inst, hub, star, np.int64(c))
    left = lacks
    for r in range(-1, n):
        k = hub if r < 0 else link[r, ARM]
        if k >= inst.N.size or not first_of(star, hub, np.int64(r)):
            continue
        for q in range(inst.law.size):
            way, size = 0.0, 0.0
            for c in range(n):
                if r < 0 or link[c, ARM] == k:
                    part_of = real[c, column] * W[link[c, FACET], q]
                    way += part_of if r < 0 else -part_of
                    size += abs(part_of)
            if abs(way) > DEPENDENT * size:
                left -= way * farthest(inst.law[q], inst.M[k, q], way)
    return lacks > 0.0 and left >= 0.0


@part
def closed(n: Int, value: float, star: Star) -> bool:
    """Is D as large as it gets, as far as its slope tells?"""
    for c in range(n):
        y, left = star.real[c, Y], star.real[c, LEFT]
        if left > 0.0 if y == 0.0 else abs(y * left) > CLOSED * value:
            return False
    return True


@part
def nowhere(inst: LawInstance, hub: Int, n: Int, value: float, late: bool, s: Search) -> float:
    """What is known when the local star has no point: with objectives without noise neither has the star itself.

    Else a law was bent too far for its digits, and the dual where it is bounds the star.
    """
    for q in range(inst.law.size):
        if inst.law[q] == EXACT:
            return np.inf
    for c in range(n):
        s.star.real[c, Y] = s.star.real[c, OLD]
    dual(inst, hub, s.star, n, late, s.lab)
    return value


@kernel
def climb(inst: LawInstance, hub: Int, n: Int, cap: float, value: float, late: bool, s: Search) -> float:
    """max_y D(y) from the given Y, where it is `value`, by projected Newton. Leaves Y, x and LEFT at the answer."""
    star, lab = s.star, s.lab
    real, pair = star.real, is_pair(star, n)
    for turn in range(STEPS):
        if value >= cap:
            break
        if late and out_of_reach(inst, hub, star, n, np.int64(Y)):
            return np.inf
        local_star(inst, hub, n, pair, s)
        if pair:
            somewhere = solve_pair(star, n, s.desk)
        else:
            somewhere = settle(star, n, np.int64(-1), lab.gram, inst.N[hub], s.desk) < np.inf
        if not somewhere:
            return nowhere(inst, hub, n, value, late, s)
        slope = 0.0
        for c in range(n):
            real[c, TRIAL] = real[c, Y] - real[c, OLD]
            slope += real[c, LEFT] * real[c, TRIAL]
        share, better, last = 1.0, -np.inf, slope <= PRECISION * value
        done = late and turn == 0 and slope <= SETTLED * value
        for _ in range(0 if done else HALVINGS):
            for c in range(n):
                real[c, Y] = max(real[c, OLD] + share * real[c, TRIAL], 0.0)
            better = dual(inst, hub, star, n, late, lab)
            if last or better >= value + GROWTH * share * slope:
                break
            share *= 0.5
        # The last step gains nothing but digits of x: it may lose a rounding.
        if better < value - (1e-11 * value if last else 0.0):
            for c in range(n):
                real[c, Y] = real[c, OLD]
            dual(inst, hub, star, n, late, lab)
            break
        value = max(better, value)
        if last:
            break
    return value


@kernel
def newton(inst: LawInstance, hub: Int, n: Int, cap: float, s: Search) -> float:
    """max_y D(y) from the given Y, or at least `cap`; infinite if no point meets all constraints."""
    star, real = s.star, s.star.real
    value = dual(inst, hub, star, n, False, s.lab)
    if value < 0.0:
        for c in range(n):
            real[c, Y] = 0.0
        value = dual(inst, hub, star, n, False, s.lab)
    value = climb(inst, hub, n, cap, value, False, s)
    if value < cap and not closed(n, value, star):
        dual(inst, hub, star, n, True, s.lab)
        value = climb(inst, hub, n, cap, value, True, s)
    return value


@kernel
def settle_law(inst: LawInstance, hub: Int, n: Int, cap: float, s: Search) -> float:
    """Closest point of a star with one constraint an arm that is not plain, from the given Y; writes Y and HUB."""
    W, vec, lab = inst.W, s.desk.vec, s.lab
    m, L = W.shape
    value = newton(inst, hub, n, cap, s)
    own = lab.x.shape[0] - 1
    for f in range(m):
        vec[HUB, f] = 0.0
        for q in range(L):
            vec[HUB, f] += W[f, q] * (lab.x[own, q] - inst.M[hub, q])
    return min(value, cap)
