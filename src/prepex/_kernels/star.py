"""The closest point of a star: a hub arm j and constraints c, each w_c . (M'_j - M'_a) >= 0.

    v = max_{y >= 0} b.y - y'Qy/2,
    b_c = w_c . (M_a - M_j),
    Q_cc' = w_c' cov_j w_c' / N_j + [a_c = a_c'] w_c' cov_a w_c' / N_a.

Solved by Lawson-Hanson active sets, exact to rounding, as a system over the active *facets*, never over arms:
    settle       one constraint an arm (a piece of Add): the arms held to a facet pool into one
    remove_pair  a constraint for every facet, all on one arm (Remove)

Legend, per constraint (a row of Star)
    ARM, FACET   the arm a and the facet w
    GAP          b_c
    RATE         N_a / (w' cov_a w): the arm's stiffness
    Y            the multiplier;  TRIAL  its value if no sign mattered
Legend, per facet (a row of Desk.vec)
    HUB          w . M'_j at the current node
    SHIFT        w . (M'_j - M_j) = (gram_j q)_w / N_j, q the multipliers summed by facet
    LOAD         q;  STIFF  sum of RATE over the active arms held to the facet (0: none)
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.instance import Floats, Instance, Int, Ints, law
from prepex._kernels.jit import kernel, part

ARM, FACET = 0, 1
GAP, RATE, Y, TRIAL = 0, 1, 2, 3
HUB, SHIFT, LOAD, STIFF = 0, 1, 2, 3

# A constraint violated by less than this share of its own size is met: rounding, not geometry.
ROUNDING = 1e-13


class Star(NamedTuple):
    """Constraints, one a row: (ARM, FACET) and (GAP, RATE, Y, TRIAL)."""

    link: Ints
    real: Floats


class Desk(NamedTuple):
    """Scratch space over the facets: Q, the system of the active ones, and the vectors HUB, SHIFT, LOAD, STIFF."""

    quad: Floats
    system: Floats
    vec: Floats


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
    """SHIFT of a hub held by its active constraints, those on one facet acting as one:

    (gram / N + diag(1 / STIFF)) q = sum(RATE GAP) / STIFF on the facets in use,  SHIFT = gram q / N.
    """
    link, real, vec, A = star.link, star.real, desk.vec, desk.system
    m = gram.shape[0]
    for f in range(m):
        vec[STIFF, f] = 0.0
        vec[SHIFT, f] = 0.0
    for c in range(n):
        if real[c, Y] > 0.0 or c == enter:
            f = link[c, FACET]
            vec[STIFF, f] += real[c, RATE]
            vec[SHIFT, f] += real[c, RATE] * real[c, GAP]
    rows = 0
    for f in range(m):
        if vec[STIFF, f] > 0.0:
            columns = 0
            for g in range(f):
                if vec[STIFF, g] > 0.0:
                    A[rows, columns] = gram[f, g] / N
                    columns += 1
            A[rows, rows] = gram[f, f] / N + 1.0 / vec[STIFF, f]
            vec[LOAD, rows] = vec[SHIFT, f] / vec[STIFF, f]
            rows += 1
    solve_active(A, vec[LOAD], rows)
    for f in range(m):
        vec[SHIFT, f] = 0.0
    rows = 0
    for g in range(m):
        if vec[STIFF, g] > 0.0:
            for f in range(m):
                vec[SHIFT, f] += gram[f, g] * vec[LOAD, rows] / N
            rows += 1


@kernel
def settle(star: Star, n: Int, gram: Floats, N: float, desk: Desk) -> float:
    """Closest point of a star with one constraint an arm; writes Y and SHIFT, returns v.

    The first n - 1 multipliers must be the optimum without the last constraint: the parent's solution.
    """
    link, real, vec = star.link, star.real, desk.vec
    enter = n - 1
    real[enter, Y] = 0.0
    stalled = False
    while enter >= 0 and not stalled:
        while True:
            pool(star, n, enter, gram, N, desk)
            for c in range(n):
                real[c, TRIAL] = real[c, RATE] * (real[c, GAP] - vec[SHIFT, link[c, FACET]])
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
    v = 0.0
    for c in range(n):
        v += 0.5 * real[c, Y] * real[c, GAP]
    return v


@part
def pair_system(star: Star, enter: Int, desk: Desk) -> bool:
    """Q TRIAL = GAP on the active facets of a pair; False if Q is singular there."""
    real, A, Q, vec = star.real, desk.system, desk.quad, desk.vec
    m = Q.shape[0]
    rows = 0
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
def solve_pair(star: Star, desk: Desk) -> None:
    """max_{y >= 0} b.y - y'Qy/2 over the facets of a pair, from the given Y >= 0."""
    real, Q = star.real, desk.quad
    m = Q.shape[0]
    enter = np.int64(-1)
    stalled, restarted = False, False
    while not stalled:
        while True:
            if not pair_system(star, enter, desk):
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
def remove_pair(inst: Instance, i: Int, j: Int, star: Star, desk: Desk) -> float:
    """Closest point of Remove(i, j): hub j, a constraint on arm i for every facet. Writes the star, returns v."""
    gram, N, S, V = inst.gram, inst.N, inst.S, inst.V
    link, real, Q = star.link, star.real, desk.quad
    m = S.shape[1]
    of_i, of_j = law(gram, i), law(gram, j)
    for c in range(m):
        link[c, ARM] = i
        link[c, FACET] = c
        real[c, GAP] = S[i, c] - S[j, c]
        # Optimal if the facets are independent, and a start that mostly has the right facets if not.
        real[c, Y] = max(real[c, GAP], 0.0) / (V[i, c] + V[j, c])
        for d in range(m):
            Q[c, d] = gram[of_i, c, d] / N[i] + gram[of_j, c, d] / N[j]
    if not inst.plain:
        solve_pair(star, desk)
    v = 0.0
    for c in range(m):
        v += 0.5 * real[c, Y] * real[c, GAP]
    return v


@part
def pair_bound(S: Floats, V: Floats, i: Int, j: Int) -> float:
    """A lower bound of Remove(i, j): its dearest single facet. Zero iff j already dominates or equals i."""
    bound = 0.0
    for f in range(S.shape[1]):
        gap = S[i, f] - S[j, f]
        if gap > 0.0:
            bound = max(bound, 0.5 * gap * gap / (V[i, f] + V[j, f]))
    return bound


@part
def keep_star(star: Star, n: Int, leaf: Star) -> Int:
    """Copy the constraints that hold the star (Y > 0) into leaf; returns how many."""
    kept = 0
    for c in range(n):
        if star.real[c, Y] > 0.0:
            leaf.link[kept, ARM] = star.link[c, ARM]
            leaf.link[kept, FACET] = star.link[c, FACET]
            leaf.real[kept, Y] = star.real[c, Y]
            kept += 1
    return kept


@part
def add_gradient(inst: Instance, hub: Int, star: Star, n: Int, out: Floats) -> None:
    """Add dv/dN_k = d(M_k, M'_k) of the star's arms to `out`, which is zero there.

    d(M_k, M'_k) = q' gram_k q / (2 N_k^2), q the multipliers that push arm k.
    """
    gram, N, link = inst.gram, inst.N, star.link
    for c in range(n):
        a = link[c, ARM]
        for d in range(n):
            product = 0.5 * star.real[c, Y] * star.real[d, Y]
            f, g = link[c, FACET], link[d, FACET]
            out[hub] += product * gram[law(gram, hub), f, g] / (N[hub] * N[hub])
            if link[d, ARM] == a:
                out[a] += product * gram[law(gram, a), f, g] / (N[a] * N[a])
