"""The closest point of a star that is not plain: its dual is smooth and concave in the multipliers y >= 0,

    D(y) = sum_k N_k d(M_k, x_k) + sum_c y_c left_c,   left_c = w_c . (x_a - x_hub) + slack_c = dD/dy_c,
    x_k the tilted minimum with slopes  -sum_c y_c w_c / N_hub  (the hub),  sum_{c: a} y_c w_c / N_a  (the others),
and every Newton step is the star of a Gaussian with covariances diag(1 / d''(x)), which star.py solves exactly.
By weak duality D bounds the star's value from below at every y. So does min(D, cap), where D is that of the
problem kept to the region in which the laws are convex, and cap what any point outside costs.

The legend of the arrays is in room.py.
"""

import numpy as np

from prepex._kernels.instance import Int, limit_gap
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import EXACT, divergence, softness, tilted
from prepex._kernels.room import ARM, FACET, GAP, HUB, LEFT, OLD, RATE, TRIAL, Lab, Search, Star, Y
from prepex._kernels.star import settle, solve_pair

# A step that promises less than this share of D is the last; the others are halved until D grows enough.
PRECISION, STEPS, HALVINGS, GROWTH = 1e-11, 100, 60, 1e-4
# Softness of an arm that cannot move: a square of the smallest outcomes.
TINY = 1e-200


@part
def is_pair(star: Star, n: Int) -> bool:
    """Are all constraints on one arm, but for limits, which are last?"""
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
            x[row, q] = at
            soft[row, q] = max(softness(law[q], M[k, q], at, scale[k, q]), TINY)
            value += N[k] * divergence(law[q], M[k, q], at, scale[k, q])
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
def nowhere(inst: LawInstance, hub: Int, n: Int, value: float, s: Search) -> float:
    """What is known when the local star has no point: with objectives without noise neither has the star itself.

    Else a law was bent too far for its digits, and the dual where it is bounds the star.
    """
    for q in range(inst.law.size):
        if inst.law[q] == EXACT:
            return np.inf
    for c in range(n):
        s.star.real[c, Y] = s.star.real[c, OLD]
    dual(inst, hub, s.star, n, s.lab)
    return value


@kernel
def newton(inst: LawInstance, hub: Int, n: Int, cap: float, s: Search) -> float:
    """max_y D(y) from the given Y by projected Newton, or at least `cap`. Leaves Y, x and LEFT at the answer."""
    star, lab = s.star, s.lab
    real, pair = star.real, is_pair(star, n)
    value = dual(inst, hub, star, n, lab)
    if value < 0.0:
        for c in range(n):
            real[c, Y] = 0.0
        value = dual(inst, hub, star, n, lab)
    for _ in range(STEPS):
        if value >= cap:
            break
        local_star(inst, hub, n, pair, s)
        if pair:
            somewhere = solve_pair(star, n, s.desk)
        else:
            somewhere = settle(star, n, np.int64(-1), lab.gram, inst.N[hub], s.desk) < np.inf
        if not somewhere:
            return nowhere(inst, hub, n, value, s)
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
