"""The closest point of a star (see _kernels/star.py) when the objectives have laws of their own.

Facets of one objective each (`plain`): the hub pools with the arms held above it, objective by objective; exact for
every one-parameter family, and with slack, by a root, for those that are convex. What a pool costs falls and then rises
with its score, so a hub with limits on that objective is at the nearest score that they allow.

Else the dual is smooth and concave in the multipliers y >= 0,
    D(y) = sum_k N_k d(M_k, x_k) + sum_c y_c left_c,   left_c = w_c . (x_a - x_hub) + slack_c = dD/dy_c,
    x_k the tilted minimum with slopes  -sum_c y_c w_c / N_hub  (the hub),  sum_{c: a} y_c w_c / N_a  (the others),
and every Newton step is the star of a Gaussian with covariances diag(1 / d''(x)), which star.py solves exactly.
By weak duality D bounds the star's value from below at every y. So does min(D, cap), where D is that of the
problem kept to the region in which the laws are convex, and cap what any point outside costs.

The legend of the arrays is in room.py.
"""

import numpy as np

from prepex._kernels.instance import Floats, Int, gap, limit_gap, meets_limit, n_limits, spread
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import BERNOULLI, EXACT, GAUSSIAN, POISSON, bent, divergence, inside, softness, tilted
from prepex._kernels.laws.pair import limit_cost, pushed
from prepex._kernels.room import (
    ARM,
    CAPPED,
    FACET,
    GAP,
    HUB,
    LEFT,
    OLD,
    RATE,
    TRIAL,
    Lab,
    Search,
    Star,
    Y,
    restore,
)
from prepex._kernels.star import settle, solve_pair

# A step that promises less than this share of D is the last; the others are halved until D grows enough.
PRECISION, STEPS, HALVINGS, GROWTH = 1e-11, 100, 60, 1e-4
# Softness of an arm that cannot move: a square of the smallest outcomes.
TINY = 1e-200


@kernel
def balance(
    inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int, above: float, top: float, guess: float
) -> float:
    """Score x of the hub, up to top, that balances with the arms of S + slack > `above` at x - slack: Newton."""
    S, M, link, q, slack = inst.S, inst.M, star.link, inst.axis[f], inst.slack[f]
    law, sign = inst.law[q], inst.W[f, q]
    low, high = S[hub, f], top
    if law == BERNOULLI:
        # x and x - slack are chances, or their negatives.
        low, high = max(low, slack if sign > 0.0 else slack - 1.0), min(high, 1.0 if sign > 0.0 else 0.0)
    elif law == POISSON:
        low, high = max(low, slack) if sign > 0.0 else low, high if sign > 0.0 else min(high, 0.0)
    x = guess if low < guess < high else 0.5 * (low + high)
    start, end = low, high
    for _ in range(STEPS):
        if not low < x < high:
            break
        first, second = bent(law, M[hub, q], sign * x, inst.scale[hub, q])
        slope, bend = inst.N[hub] * first, inst.N[hub] * second
        for c in range(-1, n):
            if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
                continue
            a = extra if c < 0 else link[c, ARM]
            if S[a, f] + slack > above:
                first, second = bent(law, M[a, q], sign * (x - slack), inst.scale[a, q])
                slope, bend = slope + inst.N[a] * first, bend + inst.N[a] * second
        slope *= sign
        if slope < 0.0:
            low = x
        else:
            high = x
        new = x - slope / bend
        if not low < new < high:
            new = 0.5 * (low + high)
        # What is left is the square of such a step; next to an end steps are small anyway.
        done = abs(new - x) <= 1e-9 * min(1.0 + abs(x), new - start, end - new)
        x = new
        if done:
            break
    return x


@part
def allowed(inst: LawInstance, star: Star, n: Int, f: Int) -> tuple[float, float]:
    """The least and the largest score on facet f, of one objective, that the limits among the constraints leave."""
    low, high = -np.inf, np.inf
    if n_limits(inst) > 0:
        for c in range(n):
            row = star.link[c, FACET]
            if row >= inst.n_facets and inst.axis[row] == inst.axis[f]:
                if inst.W[row, inst.axis[f]] == inst.W[f, inst.axis[f]]:
                    low = max(low, inst.level[row])
                else:
                    high = min(high, -inst.level[row])
    return low, high


@kernel
def free_pool(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """Score of the hub pooled with the arms held above it on facet f, `extra` (-1: none) among them; without limits.

    From the pool of all arms above the hub, those below the pool drop out: its mean rises to the right one.
    """
    N, S, link, slack = inst.N, inst.S, star.link, inst.slack[f]
    x, members = S[hub, f], -1
    while inst.law[inst.axis[f]] != EXACT:
        weight, total, count = N[hub], N[hub] * S[hub, f], 0
        top = S[hub, f]
        for c in range(-1, n):
            if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
                continue
            a = extra if c < 0 else link[c, ARM]
            if S[a, f] + slack > x:
                weight += N[a]
                total += N[a] * (S[a, f] + slack)
                top = max(top, S[a, f] + slack)
                count += 1
        if count == members or count == 0:
            break
        members = count
        if slack > 0.0 and inst.law[inst.axis[f]] != GAUSSIAN:
            x = max(balance(inst, hub, star, n, f, extra, x, top, total / weight), x)
        else:
            x = min(max(total / weight, x), top)
    return x


@part
def pooled(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """The same where the limits allow it."""
    low, high = allowed(inst, star, n, f)
    return min(max(free_pool(inst, hub, star, n, f, extra), low), high)


@kernel
def pool_cost(inst: LawInstance, hub: Int, star: Star, n: Int, f: Int, extra: Int) -> float:
    """What that pool costs; infinity if an objective without noise, or the range of means, does not allow it."""
    N, S, link, q, slack = inst.N, inst.S, star.link, inst.axis[f], inst.slack[f]
    law, sign = inst.law[q], inst.W[f, q]
    x = pooled(inst, hub, star, n, f, extra)
    # With slack the others may have to give way to a hub that cannot rise any more.
    if x <= S[hub, f] and slack == 0.0 and n_limits(inst) == 0:
        return 0.0
    cost = 0.0
    if x != S[hub, f]:
        cost = N[hub] * divergence(law, inst.M[hub, q], sign * x, inst.scale[hub, q])
    for c in range(-1, n):
        if (c < 0 and extra < 0) or (c >= 0 and link[c, FACET] != f):
            continue
        a = extra if c < 0 else link[c, ARM]
        if S[a, f] + slack > x:
            if not inside(law, sign * (x - slack)):
                return np.inf
            cost += N[a] * divergence(law, inst.M[a, q], sign * (x - slack), inst.scale[a, q])
    return cost


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
def settle_pools(inst: LawInstance, hub: Int, n: Int, s: Search) -> None:
    """The pools of a plain star: writes HUB and Y."""
    S, star, link, real, vec = inst.S, s.star, s.star.link, s.star.real, s.desk.vec
    for f in range(inst.n_facets):
        free = free_pool(inst, hub, star, n, f, np.int64(-1))
        low, high = allowed(inst, star, n, f)
        vec[HUB, f] = min(max(free, low), high) - S[hub, f]
        for c in range(n):
            row = link[c, FACET]
            if row == f:
                real[c, Y] = max(inst.N[link[c, ARM]] * (gap(inst, link[c, ARM], hub, f) - vec[HUB, f]), 0.0)
            elif row >= inst.n_facets and inst.axis[row] == inst.axis[f]:
                same = inst.W[row, inst.axis[f]] * inst.W[f, inst.axis[f]]
                vec[HUB, row] = same * vec[HUB, f]
                # The limit holds the hub if it would be beyond it without.
                real[c, Y] = 1.0 if same * (free - S[hub, f]) < limit_gap(inst, hub, row) else 0.0


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


@kernel
def remove_law(inst: LawInstance, i: Int, j: Int, s: Search) -> float:
    """Closest point of Remove(i, j): hub j, a constraint on arm i for every facet. Writes the star, returns v.

    A hub outside the answer must meet the limits, too (see star.py).
    """
    star, link, real = s.star, s.star.link, s.star.real
    m, rows = inst.n_facets, inst.S.shape[1]
    held = rows > m and not inst.mask[j]
    cap = min(inst.cap[i], inst.cap[j])
    value, apart = 0.0, False
    for c in range(rows):
        link[c, ARM] = i if c < m else inst.N.size + c - m
        link[c, FACET] = c
        ahead = max(gap(inst, i, j, c) if c < m else limit_gap(inst, j, c) if held else 0.0, 0.0)
        width = spread(inst, i, j, c) if c < m else inst.V[j, c]
        if ahead > 0.0 and width == 0.0:
            # Without noise nothing moves.
            return np.inf
        apart = apart or ahead > 0.0
        real[c, Y] = ahead if inst.plain or ahead == 0.0 else ahead / width
    if inst.plain:
        for c in range(m):
            if held or real[c, Y] > 0.0:
                value += pool_cost(inst, j, star, rows if held else m, np.int64(c), np.int64(-1))
        if held:
            settle_pools(inst, j, rows, s)
        return value
    m = rows if held else m
    if not apart:
        # Exactly 0, and not what is left of the dual of a Poisson mean of 0: it tells that i is dominated now.
        return value
    if cap > 0.0:
        value = newton(inst, j, m, cap, s)
    if value >= cap:
        for c in range(m):
            real[c, Y] = 0.0
        link[0, ARM] = i if inst.cap[i] <= inst.cap[j] else j
        link[0, FACET] = CAPPED
        real[0, Y] = 1.0
        value = cap
    return value


@part
def break_law(inst: LawInstance, i: Int, row: Int, s: Search) -> float:
    """Closest point of Break(i, c): arm i no better than the limit of this row. Writes the star, returns v."""
    value, y = (0.0, 0.0) if not meets_limit(inst, i, row) else limit_cost(inst, i, row)
    s.star.link[0, ARM] = i
    s.star.link[0, FACET] = row if inst.axis[row] >= 0 or value < inst.cap[i] else CAPPED
    s.star.real[0, Y] = y
    return value


@kernel
def moved(inst: LawInstance, hub: Int, star: Star, n: Int, k: Int, out: Floats) -> None:
    """Where arm k, the hub or one of the star's, is at the closest point, from the star's constraints and Y."""
    W, S, M, link, real = inst.W, inst.S, inst.M, star.link, star.real
    L = W.shape[1]
    for q in range(L):
        out[q] = 0.0 if not inst.plain else M[k, q]
    if hub >= inst.N.size and inst.axis[link[0, FACET]] >= 0:
        for q in range(L):
            out[q] = M[k, q]
        f = link[0, FACET]
        out[inst.axis[f]] = W[f, inst.axis[f]] * inst.level[f]
        return
    if inst.plain:
        for f in range(inst.n_facets):
            x = pooled(inst, hub, star, n, f, np.int64(-1))
            held = k == hub and x != S[hub, f]
            for c in range(n):
                held = held or (link[c, ARM] == k and link[c, FACET] == f and S[k, f] + inst.slack[f] > x)
            # A pool that is no higher than the hub is one by rounding, unless a limit or the range holds it there.
            if held and (x > S[hub, f] or inst.slack[f] > 0.0 or n_limits(inst) > 0):
                out[inst.axis[f]] = W[f, inst.axis[f]] * (x if k == hub else x - inst.slack[f])
        return
    for c in range(n):
        if link[c, FACET] >= 0 and (k == hub or link[c, ARM] == k):
            for q in range(L):
                out[q] += real[c, Y] * W[link[c, FACET], q]
    for q in range(L):
        push = -out[q] if k == hub else out[q]
        out[q] = tilted(inst.law[q], M[k, q], push / inst.N[k], inst.scale[k, q]) if push != 0.0 else M[k, q]


@kernel
def arm_cost_law(inst: LawInstance, hub: Int, star: Star, n: Int, k: Int, point: Floats) -> float:
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


# What the search asks of a model (search.py).


@part
def start_law(inst: LawInstance, j: Int, s: Search, cap: float) -> float:
    """The root of a search: the hub meets its limits, which stand before all other constraints. Returns its value."""
    link, real, n = s.star.link, s.star.real, n_limits(inst)
    v, broken = 0.0, False
    for q in range(s.lab.load.size):
        s.lab.load[q] = 0.0
    for f in range(inst.S.shape[1]):
        s.desk.vec[HUB, f] = 0.0
    for c in range(n):
        row = inst.n_facets + c
        link[c, ARM] = inst.N.size + c
        link[c, FACET] = row
        real[c, Y] = 0.0
        broken = broken or limit_gap(inst, j, row) > 0.0
        if limit_gap(inst, j, row) > 0.0 and inst.V[j, row] == 0.0:
            v = np.inf
    # Where nothing is known of an arm's variance yet, nothing is dear.
    if broken and v == 0.0 and cap > 0.0:
        if inst.plain:
            settle_pools(inst, j, n, s)
            for f in range(inst.n_facets):
                v += pool_cost(inst, j, s.star, n, np.int64(f), np.int64(-1))
        else:
            v = settle_law(inst, j, n, cap, s)
    return v


@part
def cap_law(inst: LawInstance, j: Int) -> tuple[float, Int]:
    """(The smallest cap among the hub and the front, its arm): what Add(j) can cost at most as far as is known."""
    cap, arm = inst.cap[j], np.int64(j)
    for p in range(inst.size[0]):
        if inst.cap[inst.front[p]] < cap:
            cap, arm = inst.cap[inst.front[p]], inst.front[p]
    return cap, arm


@part
def node_bound_law(inst: LawInstance, v: float, hardest: float) -> float:
    """A Gaussian's cost is no bound here."""
    return v


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
def child_bound_law(
    inst: LawInstance, j: Int, a: Int, f: Int, v: float, left: float, s: Search, d: Int, cap: float
) -> float:
    """What the node at level d, of value v, costs at least with (a, f) in addition.

    Known exactly where facets look at one objective (one pool changes); else by weak duality D with the new
    multiplier at a Gaussian's guess.
    """
    if spread(inst, a, j, f) == 0.0:
        return np.inf
    if inst.plain:
        n = n_limits(inst) + d
        before = pool_cost(inst, j, s.star, n, f, np.int64(-1)) if n > 0 else 0.0
        bound = v + max(pool_cost(inst, j, s.star, n, f, a) - before, 0.0)
    else:
        y = left / spread(inst, a, j, f)
        cost, shift, _ = pushed(inst, a, f, y / inst.N[a])
        gain = -np.inf
        if shift > -np.inf:
            gain = inst.N[a] * cost + y * shift + y * gap(inst, a, j, f)
            gain += inst.N[j] * (hub_dual(inst, j, f, y, s.lab) - hub_dual(inst, j, f, 0.0, s.lab))
        bound = v + max(gain, 0.0) * (1.0 - 1e-9)
    return min(bound, cap)


@part
def take_law(inst: LawInstance, j: Int, a: Int, f: Int, s: Search, d: Int, cap: float, least: float) -> float:
    """The child of the node at level d: its star and the constraint (a, f). Returns its value, `least` if plain."""
    n = n_limits(inst) + d
    s.star.link[n, ARM] = a
    s.star.link[n, FACET] = f
    value = 0.0
    if inst.plain:
        settle_pools(inst, j, n + 1, s)
    else:
        restore(s, d, n)
        s.star.real[n, Y] = 0.0
        value = settle_law(inst, j, n + 1, cap, s)
    return max(least, value)
