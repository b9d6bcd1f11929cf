"""The margin of the certified stopping rule, and the test that binds it.

For a facet w and arms i, j with scores x_k = w . M_k and variances s_k^2 = w' cov_k w of one reward,

    A_k(u; rho) = g(z) + 1/2 log(rho / (N_k + rho)),   z = N_k u / (s_k sqrt(N_k + rho)),
    g(z) = log 2 Phi(z) + z^2 / 2,
    e_w(i over j) = min_x log 1/J sum_rho exp(A_i(x_i - x; rho) + A_j(x - x_j; rho)),       -inf if x_i <= x_j:

evidence against w . mu_i <= w . mu_j, valid at any time and under any sampling (docs/certified.md). The margin is

    min over i in P of       min_{j != i}   max_w e_w(i over j) - price[IN_FRONT, i],
             i not in P of   max_{j in P}   min_w e_w(j over i) - price[AS_RIVAL, j] - price[OUT_OF_FRONT, i].

Without a pilot the prices make log(K m) and log(K (K - 1)).

Every arm first gets a lower bound; then the arms are solved, the lowest bound first, until no bound is below the
smallest solved test. An e is computed only as far as it matters: inside a window (low, high).

Legend
    rho       the grid, ascending                                       (J,)
    shrink    1/2 log(rho / (N_k + rho))                                (K, J)
    soft      (N_k + rho) / N_k^2, so that z^2 = u^2 / (s_k^2 soft)     (K, J)
    price     of a test of arm i in P, of arm i not in P, of rival j    (3, K)
    bound     a lower bound of arm k's test                             (K,)
    rival     the j that gives it                                       (K,)
    binding   better, worse, facet and kind of the binding test         (4,)
    y         x_i - x, the variable of the minimisation;  gap = x_i - x_j
"""

import math
from typing import NamedTuple

import numpy as np

from prepex._kernels.instance import Floats, Instance, Int, Ints
from prepex._kernels.jit import kernel, part

BETTER, WORSE, WHERE, KIND = 0, 1, 2, 3
IN_FRONT, OUT_OF_FRONT, AS_RIVAL = 0, 1, 2

# g'(0): the mean of |X|, X standard normal; also its density and its hazard rate at 0.
SLOPE = math.sqrt(2.0 / math.pi)
LOG_4 = math.log(4.0)
# The Mills ratio (1 - Phi(v)) / phi(v) as a quotient of polynomials, ascending: relative error 2e-15 for v in [0, 8].
ABOVE = (
    1.2533141373154992,
    1.5117741219924652,
    0.9078709250177256,
    0.33635338136713555,
    0.08189889220386927,
    0.013043814851396196,
    0.0012610427142813031,
    5.763060475764844e-05,
)
BELOW = (
    1.0,
    2.0041057921618206,
    1.8234212640587513,
    0.9871594685445081,
    0.34928955210913215,
    0.08315943572651263,
    0.013101468797329223,
    0.0012610420218439557,
    5.7630614526211367e-05,
)
# Beyond these Phi is 1 to 1e-12, or a continued fraction is more precise.
CERTAIN, REMOTE, DEPTH = 7.0, -8.0, 30
# The minimum is found to this share of 1 + |e|; after PATIENCE Newton steps every other step halves the bracket.
PRECISION, PATIENCE, STEPS = 1e-12, 12, 120
# The start: at most this many steps, fewer once a step moves z by less than this.
WARM_UP, CLOSE = 6, 0.02


class Grid(NamedTuple):
    """The grid of mixture constants and what depends on them and on an arm's weight alone."""

    rho: Floats
    shrink: Floats
    soft: Floats


class Scratch(NamedTuple):
    """What `margin` notes about every arm."""

    bound: Floats
    rival: Ints


def default_grid() -> Floats:
    """4, 64, 1024, 16384, the middle ones twice: effects of 1/2 to 1/128 of a standard deviation.

    A finer grid pays more for its number (log J) than it gains by being closer to the best constant; a constant
    that is named twice weighs twice.
    """
    return np.array([4.0, 64.0, 64.0, 1024.0, 1024.0, 16384.0])


def equal_prices(K: int, m: int) -> Floats:
    """Every arm has the same share of delta, every facet and every rival the same part of it."""
    price = np.empty((3, K))
    price[IN_FRONT], price[OUT_OF_FRONT], price[AS_RIVAL] = np.log(K * m), np.log(K), np.log(max(K - 1, 1))
    return price


def make_grid(weights: Floats, rho: Floats) -> Grid:
    """The grid at the given weights."""
    N = np.array(weights, dtype=np.float64)[:, None]
    rho = np.sort(np.array(rho, dtype=np.float64))
    return Grid(rho, 0.5 * np.log(rho / (N + rho)), (N + rho) / N**2)


def make_scratch(K: int) -> Scratch:
    """Room for K arms."""
    return Scratch(np.zeros(K), np.zeros(K, dtype=np.int64))


@kernel
def write_grid(grid: Grid, k: Int, weight: float) -> None:
    """Arm k now has this weight."""
    for r in range(grid.rho.size):
        grid.shrink[k, r] = 0.5 * np.log(grid.rho[r] / (weight + grid.rho[r]))
        grid.soft[k, r] = (weight + grid.rho[r]) / (weight * weight)


@kernel
def glr(S: Floats, V: Floats, i: Int, j: Int, f: Int) -> float:
    """The likelihood ratio of x_i > x_j against x_i = x_j; zero if x_i <= x_j."""
    gap = max(S[i, f] - S[j, f], 0.0)
    return 0.5 * gap * gap / (V[i, f] + V[j, f])


@kernel
def survey(inst: Instance, grid: Grid, i: Int, j: Int, f: Int) -> tuple[float, Int, float, float, float]:
    """What e_f(i over j) is without Phi: (lower bound, its rho, its y, left and right end of a bracket).

    Bound: the best single rho. For z >= 0, g(z) >= z^2 / 2, so inside [x_j, x_i] the sum is at least
    gap^2 / (2 (a + b)), a and b the s_k^2 soft_k of i and j. Let a <= b (else exchange the arms). The minimum is
    not below x_j, where the slope is at most g'(0) / sqrt(b) - g'(z) / sqrt(a) <= 0; it is above x_i only if the
    slope there is negative, g'(0) sqrt(b / a) > g'(z), z = gap / sqrt(b), and g'(z) >= z, g'(0) + (1 - 2 / pi) z.
    Above x_i, |X| is stochastically below an exponential of its hazard rate at 0, so g(-v) >= -log(1 + v / g'(0)),
    and the least y^2 / 2 - log(1 + (y - z) / q) over y >= z, q = g'(0) sqrt(a / b), is at the root of a quadratic.

    Bracket: the minimiser for the mixture is among those for one rho. With a <= b that one is at most the quadratics'
    minimiser gap a / (a + b), as h = phi / Phi falls; above x_i, g'(-v) <= 1 / v keeps it within sqrt(b) / g'(0).
    """
    V, N, shrink, soft = inst.V, inst.N, grid.shrink, grid.soft
    gap = inst.S[i, f] - inst.S[j, f]
    if not gap > 0.0:
        return -np.inf, np.int64(0), 0.0, 0.0, 0.0
    own, other = V[i, f] * N[i], V[j, f] * N[j]
    best, peak, start, left, right = -np.inf, np.int64(0), 0.0, np.inf, -np.inf
    for r in range(grid.rho.size):
        a, b = own * soft[i, r], other * soft[j, r]
        share = gap / (a + b)
        middle, value = share * a, 0.5 * gap * share
        small, large = min(a, b), max(a, b)
        square, mixing = gap * gap / large, shrink[i, r] + shrink[j, r]
        beyond = 0.0
        if large > small * max(1.0 + 0.2 * square, 1.57 * square):
            beyond = np.sqrt(large) / SLOPE
            if value + mixing > best:
                z, q = np.sqrt(square), SLOPE * np.sqrt(small / large)
                y = max(0.5 * (z - q + np.sqrt((z - q) * (z - q) + 4.0)), z)
                value = min(value, 0.5 * y * y - np.log(1.0 + (y - z) / q))
        left = min(left, -beyond if a <= b else middle)
        right = max(right, middle if a <= b else gap + beyond)
        value += mixing
        if value > best:
            best, peak, start = value, np.int64(r), middle
    return best - np.log(grid.rho.size), peak, start, left, right


@kernel
def remote(z: float) -> tuple[float, float, float]:
    """(exp g, g', g'') far below 0, from 1 / Mills ratio = v + 1 / (v + 2 / (v + ...)), v = -z."""
    tail = -z
    for n in range(DEPTH, 2, -1):
        tail = n / tail - z
    rest = 2.0 / tail
    first = 1.0 / (rest - z)
    return SLOPE / (first - z), first, first * (rest - first)


@part
def mills(v: float) -> float:
    """(1 - Phi(v)) / phi(v) for v in [0, 8]."""
    above = ABOVE[7]
    below = BELOW[8] * v + BELOW[7]
    for n in range(6, -1, -1):
        above = above * v + ABOVE[n]
        below = below * v + BELOW[n]
    return above / below


@kernel
def half_normal(z: float) -> tuple[float, float, float, float]:
    """g at z: (p, square, g', g'') with exp g = p exp(square)."""
    if z > CERTAIN:
        p, square, first, second = 2.0, 0.5 * z * z, z, 1.0
    elif z > REMOTE:
        ratio = mills(abs(z))
        square = 0.5 * max(z, 0.0) * z
        density = SLOPE * np.exp(-square)
        p = 2.0 - density * ratio if z > 0.0 else density * ratio
        hazard = density / p
        first = z + hazard
        second = 1.0 - hazard * first
    else:
        square = 0.0
        p, first, second = remote(z)
    return p, square, first, second


@kernel
def e_value(inst: Instance, grid: Grid, i: Int, j: Int, f: Int, low: float, high: float) -> float:
    """e_f(i over j), exactly if it is between low and high; else a bound of it that is not between them.

    Safeguarded Newton on the convex function of y = x_i - x.
    """
    S, V, N, shrink, soft = inst.S, inst.V, inst.N, grid.shrink, grid.soft
    J = grid.rho.size
    gap = S[i, f] - S[j, f]
    if not gap > 0.0:
        return -np.inf
    # At the pooled mean Phi <= 1, and z^2 / 2 sums to at most the likelihood ratio.
    value = LOG_4 + glr(S, V, i, j, f) + shrink[i, J - 1] + shrink[j, J - 1]
    if value <= low:
        return value
    lower, r, y, left, right = survey(inst, grid, i, j, f)
    if lower >= high:
        return lower
    own, other = V[i, f] * N[i], V[j, f] * N[j]
    # A start: a few steps for one rho cost less than one step for all.
    c, d = 1.0 / np.sqrt(own * soft[i, r]), 1.0 / np.sqrt(other * soft[j, r])
    for _ in range(WARM_UP):
        _, _, slope, bend = half_normal(c * y)
        _, _, slope_j, bend_j = half_normal(d * (gap - y))
        step = (c * slope - d * slope_j) / (c * c * bend + d * d * bend_j)
        y = min(max(y - step, left), right)
        if abs(step) * (c + d) < CLOSE:
            break
    for turn in range(STEPS):
        # total = sum_rho exp(T - shift), and the sums of T' and T'^2 + T'' under the same weights.
        shift, total, first, second = -np.inf, 0.0, 0.0, 0.0
        for r in range(J):
            c, d = 1.0 / np.sqrt(own * soft[i, r]), 1.0 / np.sqrt(other * soft[j, r])
            p, square, slope, bend = half_normal(c * y)
            q, square_j, slope_j, bend_j = half_normal(d * (gap - y))
            power = square + square_j + shrink[i, r] + shrink[j, r]
            weight = p * q
            if power > shift:
                scale = np.exp(shift - power)
                total, first, second = total * scale, first * scale, second * scale
                shift = power
            else:
                weight *= np.exp(power - shift)
            slope = c * slope - d * slope_j
            total += weight
            first += weight * slope
            second += weight * (slope * slope + c * c * bend + d * d * bend_j)
        value = shift + np.log(total / J)
        first /= total
        second = second / total - first * first
        if value <= low:
            return value
        # The tangent, followed to the end of the bracket.
        if first > 0.0:
            right = y
            lower = max(lower, value - first * (y - left))
        else:
            left = y
            lower = max(lower, value + first * (right - y))
        if lower >= high:
            return lower
        if first * first <= 2.0 * second * PRECISION * (1.0 + abs(value)):
            return value
        y -= first / second
        if not left < y < right or (turn >= PATIENCE and turn % 2 == 0):
            y = 0.5 * (left + right)
            if y <= left or y >= right:
                break
    return lower


@part
def bound_front(inst: Instance, grid: Grid, i: Int) -> tuple[float, Int]:
    """(min_{j != i} of a bound of max_f e_f(i over j), j): the bound at the facet of the largest likelihood ratio."""
    S, V = inst.S, inst.V
    low, rival = np.inf, np.int64(-1)
    for j in range(S.shape[0]):
        if j != i:
            most, facet = -1.0, np.int64(0)
            for f in range(S.shape[1]):
                ratio = glr(S, V, i, j, f)
                if ratio > most:
                    most, facet = ratio, np.int64(f)
            value = survey(inst, grid, i, j, facet)[0]
            if value < low or rival < 0:
                low, rival = value, np.int64(j)
    return low, rival


@part
def bound_dominated(inst: Instance, guide: Instance, grid: Grid, toll: Floats, i: Int) -> tuple[float, Int]:
    """(min_f of a bound of e_f(j over i) - toll_j, j) for the j in P with the guide's largest ratio less toll."""
    S, V = guide.S, guide.V
    most, rival = -np.inf, np.int64(-1)
    for p in range(inst.size[0]):
        least = np.inf
        for f in range(S.shape[1]):
            least = min(least, glr(S, V, inst.front[p], i, f))
        if least - toll[inst.front[p]] > most:
            most, rival = least - toll[inst.front[p]], inst.front[p]
    low = np.inf
    for f in range(S.shape[1]):
        low = min(low, survey(inst, grid, rival, i, f)[0])
    return low - toll[rival], rival


@part
def test_front(inst: Instance, grid: Grid, i: Int, rival: Int, limit: float) -> tuple[float, Int, Int]:
    """(min_{j != i} max_f e_f(i over j), j, f), the rival first; j = -1 if it is not below the limit."""
    S, V = inst.S, inst.V
    K, m = S.shape
    best = limit
    worse: Int = np.int64(-1)
    where: Int = np.int64(-1)
    for place in range(-1, K):
        j = rival if place < 0 else np.int64(place)
        if j == i or (j == rival and place >= 0):
            continue
        most, start = -1.0, np.int64(0)
        for f in range(m):
            ratio = glr(S, V, i, j, f)
            if ratio > most:
                most, start = ratio, np.int64(f)
        value, facet = -np.inf, start
        for turn in range(m):
            # The facet of the largest ratio first, in exchange for facet 0.
            c = start if turn == 0 else (np.int64(0) if turn == start else np.int64(turn))
            e = e_value(inst, grid, i, j, c, value, best)
            if e > value:
                value, facet = e, c
            if value >= best:
                break
        if value < best:
            best, worse, where = value, j, facet
    return best, worse, where


@part
def test_dominated(
    inst: Instance, grid: Grid, toll: Floats, i: Int, rival: Int, limit: float
) -> tuple[float, Int, Int]:
    """(max_{j in P} min_f e_f(j over i) - toll_j, j, f), the rival first; at least the limit if not below it."""
    S, V = inst.S, inst.V
    m = S.shape[1]
    best = -np.inf
    better: Int = rival
    where: Int = np.int64(-1)
    for place in range(-1, inst.size[0]):
        j = rival if place < 0 else inst.front[place]
        if (j == rival and place >= 0) or best >= limit:
            continue
        least, start = np.inf, np.int64(0)
        for f in range(m):
            ratio = glr(S, V, j, i, f)
            if ratio < least:
                least, start = ratio, np.int64(f)
        value, facet = np.inf, start
        for turn in range(m):
            c = start if turn == 0 else (np.int64(0) if turn == start else np.int64(turn))
            e = e_value(inst, grid, j, i, c, best + toll[j], min(value, limit) + toll[j]) - toll[j]
            if e < value:
                value, facet = e, c
            if value <= best:
                break
        if value > best or where < 0:
            best, better, where = value, j, facet
    return best, better, where


@kernel
def margin(inst: Instance, guide: Instance, grid: Grid, price: Floats, scratch: Scratch, binding: Ints) -> float:
    """The margin, and in `binding` the test that attains it. One arm: infinity, and -1 everywhere.

    `guide` has all outcomes, `inst` those that count: where the latter show no dominator yet, the guide names it.
    """
    mask, bound, toll = inst.mask, scratch.bound, price[AS_RIVAL]
    K = mask.size
    binding[:] = -1
    best = np.inf
    if K == 1:
        return best
    for k in range(K):
        if mask[k]:
            value, rival = bound_front(inst, grid, k)
            bound[k] = value - price[IN_FRONT, k]
        else:
            value, rival = bound_dominated(inst, guide, grid, toll, k)
            bound[k] = value - price[OUT_OF_FRONT, k]
        scratch.rival[k] = rival
    for _ in range(K):
        low = np.int64(0)
        for k in range(1, K):
            if bound[k] < bound[low]:
                low = np.int64(k)
        if bound[low] >= best:
            break
        bound[low] = np.inf
        rival = scratch.rival[low]
        if mask[low]:
            value, other, facet = test_front(inst, grid, low, rival, best + price[IN_FRONT, low])
            value -= price[IN_FRONT, low]
        else:
            value, other, facet = test_dominated(inst, grid, toll, low, rival, best + price[OUT_OF_FRONT, low])
            value -= price[OUT_OF_FRONT, low]
        if value < best and other >= 0:
            best = value
            binding[BETTER] = low if mask[low] else other
            binding[WORSE] = other if mask[low] else low
            binding[WHERE] = facet
            binding[KIND] = IN_FRONT if mask[low] else OUT_OF_FRONT
    return best


@kernel
def settle_tests(inst: Instance, guide: Instance, grid: Grid, price: Floats, goal: float, scratch: Scratch) -> None:
    """Write every arm's test, less its price, into scratch.bound: exact below `goal`, at least `goal` above it."""
    toll = price[AS_RIVAL]
    for k in range(inst.mask.size):
        if inst.mask[k]:
            _, rival = bound_front(inst, grid, k)
            value, _, _ = test_front(inst, grid, k, rival, goal + price[IN_FRONT, k])
            scratch.bound[k] = value - price[IN_FRONT, k]
        else:
            _, rival = bound_dominated(inst, guide, grid, toll, k)
            value, _, _ = test_dominated(inst, grid, toll, k, rival, goal + price[OUT_OF_FRONT, k])
            scratch.bound[k] = value - price[OUT_OF_FRONT, k]
