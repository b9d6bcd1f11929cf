"""The closest point of a star, for known Gaussians: a hub arm j and constraints c, each w_c . (M'_j - M'_a) >= slack_c,
or a limit of the hub, g_c . M'_j >= h_c: as one against an arm of known mean, which is infinitely stiff.

    v = max_{y >= 0} b.y - y'Qy/2,
    b_c = w_c . (M_a - M_j) + slack_c,
    Q_cc' = w_c' cov_j w_c' / N_j + [a_c = a_c'] w_c' cov_a w_c' / N_a.

Solved by Lawson-Hanson active sets, exact to rounding, as a system over the active *facets*, never over arms:
    settle       one constraint an arm (a piece of Add): the arms held to a facet pool into one
    remove_known a constraint for every facet, all on one arm (Remove)
    break_known  a single one, on an arm that breaks a limit (Break): the hub is the arm of known mean
Rows may depend on each other and disagree (three limits of two objectives, objectives without noise): one that enters
then takes the place of another (`exchange`), or there is no point at all and v is infinite.

The legend of the arrays is in room.py.
"""

import numpy as np

from prepex._kernels.instance import (
    Floats,
    Int,
    KnownInstance,
    covariance_row,
    gap,
    limit_gap,
    n_limits,
    spread,
    surely_equal,
)
from prepex._kernels.jit import kernel, part
from prepex._kernels.room import (
    ARM,
    BASE,
    FACET,
    GAP,
    HUB,
    LAG,
    LOAD,
    RATE,
    SHIFT,
    STIFF,
    TRIAL,
    Desk,
    Search,
    Star,
    Y,
    restore,
)

# A constraint violated by less than this share of its own size is met: rounding, not geometry.
ROUNDING = 1e-13
# Of dependent rows: a multiplier that changes by less than this share of the largest one does not, and a constraint
# violated by less is met.
DEPENDENT = 1e-9
MET, NOWHERE = -2, -1


@kernel
def solve_active(A: Floats, x: Floats, n: Int) -> bool:
    """Solve A x = x in place for the leading n x n block (lower triangle given).

    False if it is singular: x is then a vector with A x = 0.
    """
    for p in range(n):
        for q in range(p + 1):
            s = A[p, q]
            for r in range(q):
                s -= A[p, r] * A[q, r]
            if q < p:
                A[p, q] = s / A[q, q]
            elif s <= ROUNDING * A[p, p]:
                for r in range(n - 1, -1, -1):
                    x[r] = 1.0 if r == p else 0.0
                    if r < p:
                        s = -A[p, r]
                        for u in range(r + 1, p):
                            s -= A[u, r] * x[u]
                        x[r] = s / A[r, r]
                return False
            else:
                A[p, p] = np.sqrt(s)
        s = x[p]
        for r in range(p):
            s -= A[p, r] * x[r]
        x[p] = s / A[p, p]
    for p in range(n - 1, -1, -1):
        s = x[p]
        for r in range(p + 1, n):
            s -= A[r, p] * x[r]
        x[p] = s / A[p, p]
    return True


@kernel
def retreat(real: Floats, n: Int, enter: Int) -> Int:
    """Lawson-Hanson step from Y towards TRIAL, stopping where a multiplier reaches zero.

    Returns that constraint, or -1 when the whole step stays positive.
    """
    alpha, drop = 1.0, -1
    for c in range(n):
        y, trial = real[c, Y], real[c, TRIAL]
        if (y > 0.0 or c == enter) and trial <= 0.0:
            ratio = y / (y - trial) if y > 0.0 else 0.0
            if drop < 0 or ratio < alpha:
                alpha, drop = ratio, c
    for c in range(n):
        if real[c, Y] > 0.0 or c == enter:
            if drop < 0:
                real[c, Y] = real[c, TRIAL]
            else:
                real[c, Y] = max(real[c, Y] + alpha * (real[c, TRIAL] - real[c, Y]), 0.0)
    if drop >= 0:
        real[drop, Y] = 0.0
    return drop


@kernel
def exchange(real: Floats, n: Int, enter: Int) -> Int:
    """A step along TRIAL, which moves nothing, so that `enter` is held in place of another constraint.

    Returns that one; MET if the dual does not grow on the way: no constraint is violated but by rounding; NOWHERE if it
    grows without end: there is no point that meets all.
    """
    most, gain, size = 0.0, 0.0, 0.0
    for c in range(n):
        if real[c, Y] > 0.0 or c == enter:
            most = max(most, abs(real[c, TRIAL]))
    sign = 1.0 if real[enter, TRIAL] > 0.0 else -1.0
    alpha, drop = np.inf, NOWHERE
    for c in range(n):
        if real[c, Y] > 0.0 or c == enter:
            real[c, TRIAL] = sign * real[c, TRIAL] if abs(real[c, TRIAL]) > DEPENDENT * most else 0.0
            gain += real[c, TRIAL] * real[c, GAP]
            size += abs(real[c, TRIAL] * real[c, GAP])
            if real[c, TRIAL] < 0.0 and real[c, Y] < -alpha * real[c, TRIAL]:
                alpha, drop = real[c, Y] / -real[c, TRIAL], c
    if not gain > DEPENDENT * size:
        return MET
    if drop != NOWHERE:
        for c in range(n):
            if real[c, Y] > 0.0 or c == enter:
                real[c, Y] = max(real[c, Y] + alpha * real[c, TRIAL], 0.0)
        real[drop, Y] = 0.0
    return drop


@part
def pool(star: Star, n: Int, enter: Int, gram: Floats, N: float, desk: Desk) -> bool:
    """SHIFT of a hub held by its active constraints, those on one facet acting as one, and the multipliers TRIAL:

    (gram / N + diag(1 / STIFF)) q = BASE + LAG on the facets in use,  SHIFT = gram q / N,
    TRIAL = RATE (GAP - SHIFT), and SHIFT = BASE + LAG - q / STIFF.

    An arm can be 1e16 times stiffer than the hub, or infinitely so, and move by less than the last digit of
    GAP - SHIFT: that difference is never formed. False if the rows in use depend on each other: TRIAL is then a change
    of the multipliers that moves nothing.
    """
    link, real, vec, A = star.link, star.real, desk.vec, desk.system
    m = gram.shape[0]
    for f in range(m):
        vec[STIFF, f] = 0.0
        vec[LAG, f] = 0.0
        vec[SHIFT, f] = 0.0
    for c in range(n):
        if real[c, Y] > 0.0 or c == enter:
            f, rate = link[c, FACET], real[c, RATE]
            vec[STIFF, f] += rate
            # SHIFT holds the largest RATE for now.
            if rate > vec[SHIFT, f]:
                vec[SHIFT, f] = rate
                vec[BASE, f] = real[c, GAP]
    for c in range(n):
        if real[c, Y] > 0.0 or c == enter:
            f = link[c, FACET]
            if real[c, RATE] < np.inf:
                vec[LAG, f] += real[c, RATE] * (real[c, GAP] - vec[BASE, f])
    rows: Int = np.int64(0)
    for f in range(m):
        if vec[STIFF, f] > 0.0:
            columns = 0
            for g in range(f):
                if vec[STIFF, g] > 0.0:
                    A[rows, columns] = gram[f, g] / N
                    columns += 1
            A[rows, rows] = gram[f, f] / N + 1.0 / vec[STIFF, f]
            vec[LAG, f] /= vec[STIFF, f]
            vec[LOAD, rows] = vec[BASE, f] + vec[LAG, f]
            rows += 1
    regular = solve_active(A, vec[LOAD], rows)
    for f in range(m - 1, -1, -1):
        vec[SHIFT, f] = 0.0
        if vec[STIFF, f] > 0.0:
            rows -= 1
            vec[LOAD, f] = vec[LOAD, rows]
    for g in range(m):
        if vec[STIFF, g] > 0.0:
            for f in range(m):
                vec[SHIFT, f] += gram[f, g] * vec[LOAD, g] / N
    for c in range(n):
        if real[c, Y] > 0.0 or c == enter:
            f, rate = link[c, FACET], real[c, RATE]
            share = rate / vec[STIFF, f] if rate < np.inf else 1.0
            ahead = rate * ((real[c, GAP] - vec[BASE, f]) - vec[LAG, f]) if regular and rate < np.inf else 0.0
            real[c, TRIAL] = ahead + share * vec[LOAD, f]
    return regular


@kernel
def settle(star: Star, n: Int, enter: Int, gram: Floats, N: float, desk: Desk) -> float:
    """Closest point of a star with one constraint an arm, from Y >= 0, `enter` (-1: none) added. Writes Y, SHIFT.

    Returns v; infinity if there is no such point.
    """
    link, real, vec = star.link, star.real, desk.vec
    stalled, restarted = False, False
    while not stalled:
        while True:
            if not pool(star, n, enter, gram, N, desk):
                if enter < 0:
                    # Those to start from depend on each other: start from none.
                    stalled, restarted = restarted, True
                    for c in range(n):
                        real[c, Y] = 0.0
                else:
                    drop = exchange(real, n, enter)
                    if drop == NOWHERE:
                        return np.inf
                    stalled = drop == MET
                    enter = np.int64(-1)
                continue
            drop = retreat(real, n, enter)
            if drop < 0:
                break
            # An entering constraint that gains nothing was violated by rounding only.
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
    v = 0.0
    for c in range(n):
        v += 0.5 * real[c, Y] * real[c, GAP]
    return v


@part
def pair_system(star: Star, m: Int, enter: Int, desk: Desk) -> bool:
    """Q TRIAL = GAP on the active rows of a pair; False if Q is singular there, and Q TRIAL = 0."""
    real, A, Q, vec = star.real, desk.system, desk.quad, desk.vec
    rows: Int = np.int64(0)
    for c in range(m):
        if real[c, Y] > 0.0 or c == enter:
            columns = 0
            for d in range(c + 1):
                if real[d, Y] > 0.0 or d == enter:
                    A[rows, columns] = Q[c, d]
                    columns += 1
            vec[LOAD, rows] = real[c, GAP]
            rows += 1
    regular = solve_active(A, vec[LOAD], rows)
    rows = 0
    for c in range(m):
        if real[c, Y] > 0.0 or c == enter:
            real[c, TRIAL] = vec[LOAD, rows]
            rows += 1
    return regular


@part
def solve_pair(star: Star, m: Int, desk: Desk) -> bool:
    """max_{y >= 0} b.y - y'Qy/2 over the m rows of a pair, from the given Y >= 0; False if it grows without end."""
    real, Q = star.real, desk.quad
    enter = np.int64(-1)
    stalled, restarted = False, False
    while not stalled:
        while True:
            if not pair_system(star, m, enter, desk):
                # Dependent rows: of those to start from, drop all; one that enters takes the place of another, but if
                # all are facets (m > L) and noisy it is met already.
                drop: Int = np.int64(MET)
                if enter >= 0:
                    drop = exchange(real, m, enter)
                    if drop == NOWHERE:
                        return False
                if drop >= 0:
                    enter = np.int64(-1)
                    continue
                stalled, restarted = bool(enter >= 0) or restarted, True
                for c in range(m):
                    if enter < 0:
                        real[c, Y] = 0.0
                break
            drop = retreat(real, m, enter)
            if drop < 0:
                break
            stalled = drop == enter
            enter = np.int64(-1)
        worst, enter = 0.0, np.int64(-1)
        for c in range(m):
            if real[c, Y] <= 0.0:
                moved = 0.0
                for d in range(m):
                    moved += Q[c, d] * real[d, Y]
                left = real[c, GAP] - moved
                if left > worst and left > ROUNDING * (abs(real[c, GAP]) + abs(moved)):
                    worst, enter = left, np.int64(c)
        if enter < 0:
            break
    return True


@kernel
def remove_known(inst: KnownInstance, i: Int, j: Int, s: Search) -> float:
    """Closest point of Remove(i, j): hub j, a constraint on arm i for every facet. Writes the star, returns v.

    A hub outside the answer must meet the limits, too: infeasible, it beats nobody. One in it must not: that it breaks
    one is another change of the answer.
    """
    gram, N = inst.gram, inst.N
    link, real, Q = s.star.link, s.star.real, s.desk.quad
    m, rows = inst.n_facets, inst.S.shape[1]
    held = rows > m and not inst.mask[j]
    together = held or not inst.plain
    of_i, of_j = covariance_row(gram, i), covariance_row(gram, j)
    for c in range(rows):
        link[c, ARM] = i if c < m else N.size + c - m
        link[c, FACET] = c
        real[c, GAP] = gap(inst, i, j, c) if c < m else limit_gap(inst, j, c) if held else 0.0
        width = spread(inst, i, j, c) if c < m else inst.V[j, c]
        if real[c, GAP] > 0.0 and width == 0.0:
            # Without noise nothing moves.
            return np.inf
        # Optimal if the facets are independent, and a start that mostly has the right facets if not.
        real[c, Y] = real[c, GAP] / width if real[c, GAP] > 0.0 else 0.0
        for d in range(rows if together else 0):
            Q[c, d] = gram[of_j, c, d] / N[j]
            if c < m and d < m:
                Q[c, d] = gram[of_i, c, d] / N[i] + gram[of_j, c, d] / N[j]
    if together and not solve_pair(s.star, rows if held else m, s.desk):
        return np.inf
    v = 0.0
    for c in range(rows):
        v += 0.5 * real[c, Y] * real[c, GAP]
    return np.inf if v == 0.0 and surely_equal(inst, i, j) else v


@part
def break_known(inst: KnownInstance, i: Int, row: Int, s: Search) -> float:
    """Closest point of Break(i, c): arm i no better than the limit of this row. Writes the star, returns v."""
    ahead, real = max(inst.S[i, row], 0.0), s.star.real
    s.star.link[0, ARM] = i
    s.star.link[0, FACET] = row
    real[0, GAP] = ahead
    real[0, Y] = ahead / inst.V[i, row] if ahead > 0.0 else 0.0
    # Without noise an arm on its limit meets it, and stays.
    return np.inf if inst.V[i, row] == 0.0 and inst.S[i, row] >= 0.0 else 0.5 * real[0, Y] * ahead


@part
def pair_bound_known(inst: KnownInstance, i: Int, j: Int) -> float:
    """A lower bound of Remove(i, j): its dearest single row. Zero iff j already dominates or equals i, and may."""
    bound = 0.0
    for f in range(inst.n_facets):
        ahead = gap(inst, i, j, f)
        if ahead > 0.0:
            bound = max(bound, 0.5 * ahead * ahead / spread(inst, i, j, f))
    if not inst.mask[j]:
        for row in range(inst.n_facets, inst.S.shape[1]):
            if inst.S[j, row] < 0.0:
                bound = max(bound, 0.5 * inst.S[j, row] * inst.S[j, row] / inst.V[j, row])
    return bound


@part
def arm_cost_known(inst: KnownInstance, hub: Int, star: Star, n: Int, k: Int, point: Floats) -> float:
    """d(M_k, M'_k) = q' gram_k q / (2 N_k^2) of the hub or an arm of the star, q the multipliers that push it."""
    N, link, own = inst.N[k], star.link, covariance_row(inst.gram, k)
    cost = 0.0
    for c in range(n):
        for d in range(n):
            if k == hub or (link[c, ARM] == k and link[d, ARM] == k):
                product = 0.5 * star.real[c, Y] * star.real[d, Y]
                cost += product * inst.gram[own, link[c, FACET], link[d, FACET]] / (N * N)
    return cost


# What the search asks of a model (search.py).


@part
def start_known(inst: KnownInstance, j: Int, s: Search, cap: float) -> float:
    """The root of a search: the hub meets its limits, which stand before all other constraints. Returns its value."""
    link, real, vec, gram = s.star.link, s.star.real, s.desk.vec, inst.gram
    v, hardest = 0.0, np.int64(-1)
    for f in range(inst.S.shape[1]):
        vec[HUB, f] = 0.0
    for c in range(n_limits(inst)):
        row = inst.n_facets + c
        link[c, ARM] = inst.N.size + c
        link[c, FACET] = row
        real[c, GAP] = limit_gap(inst, j, row)
        real[c, RATE] = np.inf
        real[c, Y] = 0.0
        if real[c, GAP] > 0.0:
            alone = 0.5 * real[c, GAP] * real[c, GAP] / inst.V[j, row]
            if alone > v:
                v, hardest = alone, np.int64(c)
    met = not 0.0 < v < np.inf
    own = covariance_row(gram, j)
    for turn in range(2):
        # Mostly the hub meets all limits once it meets the hardest, or all that it breaks, each for itself.
        if met:
            break
        v, met = 0.0, True
        for f in range(inst.S.shape[1]):
            vec[HUB, f] = 0.0
        for c in range(n_limits(inst)):
            at = inst.n_facets + c
            if c == hardest or (turn == 1 and real[c, GAP] > 0.0):
                real[c, Y] = real[c, GAP] / inst.V[j, at]
                v += 0.5 * real[c, Y] * real[c, GAP]
                for f in range(inst.S.shape[1]):
                    vec[HUB, f] += gram[own, f, at] * real[c, Y] / inst.N[j]
        for c in range(n_limits(inst)):
            left = real[c, GAP] - vec[HUB, inst.n_facets + c]
            met = met and (abs(left) <= ROUNDING * real[c, GAP] if real[c, Y] > 0.0 else left <= 0.0)
    if not met:
        v = settle(s.star, n_limits(inst), np.int64(-1), gram[own], inst.N[j], s.desk)
        for f in range(inst.S.shape[1]):
            vec[HUB, f] = vec[SHIFT, f]
    return v


@part
def cap_known(inst: KnownInstance, j: Int) -> tuple[float, Int]:
    """No point is outside the convex region."""
    return np.inf, j


@part
def node_bound_known(inst: KnownInstance, v: float, hardest: float) -> float:
    """By weak duality a node of value v costs so much more to escape its hardest arm."""
    return v + hardest


@part
def child_bound_known(
    inst: KnownInstance, j: Int, a: Int, f: Int, v: float, left: float, s: Search, d: Int, cap: float
) -> float:
    """What the node at level d, of value v, costs at least with (a, f) in addition."""
    return v + 0.5 * left * left / spread(inst, a, j, f)


@part
def take_known(inst: KnownInstance, j: Int, a: Int, f: Int, s: Search, d: Int, cap: float, least: float) -> float:
    """The child of the node at level d: its star and the constraint (a, f). Returns its value."""
    link, real, vec, gram = s.star.link, s.star.real, s.desk.vec, inst.gram
    n = n_limits(inst) + d
    restore(s, d, n)
    link[n, ARM] = a
    link[n, FACET] = f
    real[n, GAP] = gap(inst, a, j, f)
    real[n, RATE] = 1.0 / inst.V[a, f]
    real[n, Y] = 0.0
    v = settle(s.star, n + 1, n, gram[covariance_row(gram, j)], inst.N[j], s.desk)
    for g in range(inst.S.shape[1]):
        vec[HUB, g] = vec[SHIFT, g]
    return v
