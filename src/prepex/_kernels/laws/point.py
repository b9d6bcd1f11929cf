"""The closest point of a star (see _kernels/star.py) when the objectives have laws of their own.

With facets of one objective each (`plain`) the hub and the arms pool, objective by objective (pools.py); else the dual
is maximised by Newton's method (newton.py). Here is what ledger and search ask of the model.

The legend of the arrays is in room.py.
"""

import math

import numpy as np

from prepex._kernels.instance import Floats, Int, gap, limit_gap, meets_limit, n_limits, spread, surely_equal
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import BERNOULLI, divergence, tilt, tilted
from prepex._kernels.laws.newton import newton, settle_law
from prepex._kernels.laws.pair import limit_cost, pushed
from prepex._kernels.laws.pools import pool_cost, pooled, settle_pools
from prepex._kernels.room import ARM, CAPPED, FACET, HUB, Lab, Search, Star, Y, restore

# The largest number below 1.
BELOW_ONE = math.nextafter(1.0, 0.0)


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
        return np.inf if value == 0.0 and surely_equal(inst, i, j) else value
    m = rows if held else m
    if not apart:
        # Exactly 0, and not what is left of the dual of a Poisson mean of 0: it tells that i is dominated now.
        return np.inf if surely_equal(inst, i, j) else value
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
            member = k == hub
            for c in range(n):
                member = member or (link[c, ARM] == k and link[c, FACET] == f)
            x = pooled(inst, hub, star, n, f, np.int64(-1)) if member else S[hub, f]
            held = member and (x != S[hub, f] if k == hub else S[k, f] + inst.slack[f] > x)
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
        if inst.law[q] == BERNOULLI and M[k, q] < 1.0:
            # By rounding alone it is 1, which would cost infinitely much.
            out[q] = min(out[q], BELOW_ONE)


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
        value += tilt(law[q], M[j, q], s, x, scale[j, q])[0] + s * (x - M[j, q])
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
        before = pool_cost(inst, j, s.star, n, f, np.int64(-1)) if v > 0.0 else 0.0
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
