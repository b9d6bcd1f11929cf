"""The closest point of a star, for known Gaussians: a hub arm j and constraints c, each w_c . (M'_j - M'_a) >= slack_c.

    v = max_{y >= 0} b.y - y'Qy/2,
    b_c = w_c . (M_a - M_j) + slack_c,
    Q_cc' = w_c' cov_j w_c' / N_j + [a_c = a_c'] w_c' cov_a w_c' / N_a.

Solved by Lawson-Hanson active sets, exact to rounding, as a system over the active *facets*, never over arms:
    settle       one constraint an arm (a piece of Add): the arms held to a facet pool into one
    remove_known a constraint for every facet, all on one arm (Remove)

The legend of the arrays is in room.py.
"""

import numpy as np

from prepex._kernels.instance import Floats, Int, KnownInstance, covariance_row, gap, spread
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


@kernel
def solve_active(A: Floats, x: Floats, n: Int) -> bool:
    """Solve A x = x in place for the leading n x n block (lower triangle given); False if singular."""
    for p in range(n):
        for q in range(p + 1):
            s = A[p, q]
            for r in range(q):
                s -= A[p, r] * A[q, r]
            if q < p:
                A[p, q] = s / A[q, q]
            elif s <= ROUNDING * A[p, p]:
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


@part
def pool(star: Star, n: Int, enter: Int, gram: Floats, N: float, desk: Desk) -> None:
    """SHIFT of a hub held by its active constraints, those on one facet acting as one, and the multipliers TRIAL:

    (gram / N + diag(1 / STIFF)) q = BASE + LAG on the facets in use,  SHIFT = gram q / N,
    TRIAL = RATE (GAP - SHIFT), and SHIFT = BASE + LAG - q / STIFF.

    An arm can be 1e16 times stiffer than the hub and move by less than the last digit of GAP - SHIFT: that difference
    is never formed.
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
    solve_active(A, vec[LOAD], rows)
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
            real[c, TRIAL] = rate * ((real[c, GAP] - vec[BASE, f]) - vec[LAG, f]) + rate / vec[STIFF, f] * vec[LOAD, f]


@part
def settle_from(star: Star, n: Int, enter: Int, gram: Floats, N: float, desk: Desk) -> None:
    """Closest point of a star with one constraint an arm, from Y >= 0, `enter` (-1: none) added. Writes Y, SHIFT."""
    link, real, vec = star.link, star.real, desk.vec
    stalled = False
    while not stalled:
        while True:
            pool(star, n, enter, gram, N, desk)
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


@kernel
def settle(star: Star, n: Int, gram: Floats, N: float, desk: Desk) -> float:
    """Closest point of a star with one constraint an arm; writes Y and SHIFT, returns v.

    The first n - 1 multipliers must be the optimum without the last constraint: the parent's solution.
    """
    star.real[n - 1, Y] = 0.0
    settle_from(star, n, n - 1, gram, N, desk)
    v = 0.0
    for c in range(n):
        v += 0.5 * star.real[c, Y] * star.real[c, GAP]
    return v


@part
def pair_system(star: Star, m: Int, enter: Int, desk: Desk) -> bool:
    """Q TRIAL = GAP on the active rows of a pair; False if Q is singular there."""
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
def solve_pair(star: Star, m: Int, desk: Desk) -> None:
    """max_{y >= 0} b.y - y'Qy/2 over the m rows of a pair, from the given Y >= 0."""
    real, Q = star.real, desk.quad
    enter = np.int64(-1)
    stalled, restarted = False, False
    while not stalled:
        while True:
            if not pair_system(star, m, enter, desk):
                # Dependent facets (m > L): of those to start from, drop all; one that enters is met already.
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


@kernel
def remove_known(inst: KnownInstance, i: Int, j: Int, s: Search) -> float:
    """Closest point of Remove(i, j): hub j, a constraint on arm i for every facet. Writes the star, returns v."""
    gram, N = inst.gram, inst.N
    link, real, Q = s.star.link, s.star.real, s.desk.quad
    m = inst.n_facets
    of_i, of_j = covariance_row(gram, i), covariance_row(gram, j)
    for c in range(m):
        link[c, ARM] = i
        link[c, FACET] = c
        real[c, GAP] = gap(inst, i, j, c)
        # Optimal if the facets are independent, and a start that mostly has the right facets if not.
        real[c, Y] = max(real[c, GAP], 0.0) / spread(inst, i, j, c)
        for d in range(m):
            Q[c, d] = gram[of_i, c, d] / N[i] + gram[of_j, c, d] / N[j]
    if not inst.plain:
        solve_pair(s.star, m, s.desk)
    v = 0.0
    for c in range(m):
        v += 0.5 * real[c, Y] * real[c, GAP]
    return v


@part
def pair_bound_known(inst: KnownInstance, i: Int, j: Int) -> float:
    """A lower bound of Remove(i, j): its dearest single facet. Zero iff j already dominates or equals i."""
    bound = 0.0
    for f in range(inst.n_facets):
        ahead = gap(inst, i, j, f)
        if ahead > 0.0:
            bound = max(bound, 0.5 * ahead * ahead / spread(inst, i, j, f))
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
def start_known(inst: KnownInstance, s: Search) -> None:
    """Nothing to be made ready."""


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
    restore(s, d)
    link[d, ARM] = a
    link[d, FACET] = f
    real[d, GAP] = gap(inst, a, j, f)
    real[d, RATE] = 1.0 / inst.V[a, f]
    v = settle(s.star, d + 1, gram[covariance_row(gram, j)], inst.N[j], s.desk)
    for g in range(inst.S.shape[1]):
        vec[HUB, g] = vec[SHIFT, g]
    return v
