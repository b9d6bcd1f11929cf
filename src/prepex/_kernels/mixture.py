"""The certified tests of known Gaussians: of two arms on a facet, and of one arm and a limit.

For a facet w and arms i, j with scores x_k = w . M_k, x_i raised by the slack, and variances s_k^2 = w' cov_k w of one
reward,

    A_k(u; rho) = g(z) + 1/2 log(rho / (N_k + rho)),   z = N_k u / (s_k sqrt(N_k + rho)),
    g(z) = log 2 Phi(z) + z^2 / 2,
    e_w(i over j) = min_x log sum_rho p_rho exp(A_i(x_i - x; rho) + A_j(x - x_j; rho)),       -inf if x_i <= x_j:

evidence against w . mu_i <= w . mu_j, valid at any time and under any sampling (docs/certified.md). An e is computed
only as far as it matters: inside a window (low, high). Of an arm and a limit g . mu >= h, on the side where x_k is,

    e = log sum_rho p_rho exp A_k(|x_k - h|; rho).

Legend
    rho       the grid, ascending                                       (J,)
    weight    log p_rho in the tests of arm k's status, which the pilot sets             (K, J)
    shrink    1/2 log(rho / (N_k + rho))                                (K, J)
    soft      (N_k + rho) / N_k^2, so that z^2 = u^2 / (s_k^2 soft)     (K, J)
    y         x_i - x, the variable of the minimisation;  gap = x_i - x_j
"""

import math
from typing import NamedTuple

import numpy as np

from prepex._kernels.alone import has_limits
from prepex._kernels.deal import EQUAL
from prepex._kernels.instance import Floats, Int, KnownInstance, gap, ratio, weigh_known
from prepex._kernels.jit import kernel, part

# Kinds of a test: of an arm in the answer, and of one outside it (margin.py).
IN_FRONT, OUT_OF_FRONT = 0, 1

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
# The constant that suits an arm of n outcomes in the pilot that decide it by c: about OUTLOOK n / c, c at least FAINT,
# within a factor of exp(BREADTH).
OUTLOOK, FAINT, BREADTH = 1.5, 0.25, 1.5
# The start: at most this many steps, fewer once a step moves z by less than this.
WARM_UP, CLOSE = 6, 0.02


class Grid(NamedTuple):
    """The grid of mixture constants and what depends on them and on an arm's weight alone."""

    rho: Floats
    weight: Floats
    shrink: Floats
    soft: Floats


class KnownFresh(NamedTuple):
    """The outcomes that the certified tests may use, with the answer of all outcomes."""

    inst: KnownInstance
    grid: Grid
    N: Floats
    alone: Floats

    @property
    def with_laws(self) -> bool:
        """Which model it is of."""
        return False


def default_grid() -> Floats:
    """4, 32, 256, 2048, 16384: effects of 1/2 to 1/128 of a standard deviation; what is named twice weighs twice."""
    return np.array([4.0, 32.0, 256.0, 2048.0, 16384.0])


def make_grid(weights: Floats, rho: Floats) -> Grid:
    """The grid at the given weights (K,) of the arms; each constant once, however often it is named."""
    N = np.array(weights, dtype=np.float64)[:, None]
    rho, named = np.unique(np.array(rho, dtype=np.float64), return_counts=True)
    weight = np.tile(np.log(named / named.sum()), (len(N), 1))
    return Grid(rho, weight, 0.5 * np.log(rho / (N + rho)), (N + rho) / N**2)


def make_known_fresh(near: KnownInstance, rho: Floats, pilot: bool) -> KnownFresh:
    """The first outcome of each arm counts, unless it belongs to a pilot."""
    inst = near._replace(**{name: getattr(near, name).copy() for name in ("N", "S", "V", "mask", "front", "size")})
    if pilot:
        inst.N[:], inst.S[:], inst.V[:] = 0.0, 0.0, np.inf
    return known_fresh(inst, rho, np.ones(len(inst.N)))


def known_fresh(inst: KnownInstance, rho: Floats, weights: Floats) -> KnownFresh:
    """All outcomes of the instance count."""
    K, m = inst.S.shape
    fresh = KnownFresh(inst, make_grid(weights, rho), inst.N, np.zeros((K, m - inst.n_facets)))
    for k in range(K):
        test_limits(fresh, np.int64(k))
    return fresh


@kernel
def write_grid(grid: Grid, k: Int, weight: float) -> None:
    """Arm k now has this weight."""
    for r in range(grid.rho.size):
        grid.shrink[k, r] = 0.5 * np.log(grid.rho[r] / (weight + grid.rho[r]))
        grid.soft[k, r] = (weight + grid.rho[r]) / (weight * weight)


@kernel
def test_limits(fresh: KnownFresh, k: Int) -> None:
    """`alone` of arm k."""
    inst, grid = fresh.inst, fresh.grid
    for row in range(inst.n_facets, inst.S.shape[1]):
        one, u = inst.V[k, row] * inst.N[k], abs(inst.S[k, row])
        shift, total = -np.inf, 0.0
        for r in range(grid.rho.size):
            p, square, _, _ = half_normal(u / np.sqrt(one * grid.soft[k, r]))
            power = square + grid.shrink[k, r] + grid.weight[k, r]
            if power > shift:
                total, shift = total * np.exp(shift - power) + p, power
            else:
                total += p * np.exp(power - shift)
        value = shift + np.log(total)
        fresh.alone[k, row - inst.n_facets] = value if u > 0.0 else -np.inf


@kernel
def add_known_fresh(fresh: KnownFresh, a: Int, reward: Floats, more: float) -> None:
    """`more` rewards of arm a, with the mean `reward`, that the certified margin may use."""
    inst = fresh.inst
    inst.N[a] += more
    for f in range(inst.W.shape[0]):
        score = 0.0
        for q in range(inst.W.shape[1]):
            score += inst.W[f, q] * reward[q]
        inst.S[a, f] += more * (score - inst.level[f] - inst.S[a, f]) / inst.N[a]
    weigh_known(inst, a)
    write_grid(fresh.grid, a, inst.N[a])
    if has_limits(inst):
        test_limits(fresh, a)


@part
def end_known_pilot(fresh: KnownFresh, near: KnownInstance, decided: Floats, closed: bool) -> None:
    """The pilot is over: the grid's weights lean to constants that suit how hard each arm was to decide.

    Evidence that was c after n outcomes is some nats after n / c of them, and the best constant is a part of that;
    rather more, as c may be luck. A tenth stays as it was, and all of it in the plain rule.
    """
    rho, weight = fresh.grid.rho, fresh.grid.weight
    for k in range(weight.shape[0] if closed else 0):
        total, best, nearest = 0.0, OUTLOOK * near.N[k] / max(decided[k], FAINT), np.inf
        for r in range(rho.size):
            off = np.log(rho[r] / best) / BREADTH
            nearest = min(nearest, 0.5 * off * off)
        for r in range(rho.size):
            off = np.log(rho[r] / best) / BREADTH
            total += np.exp(weight[k, r] + nearest - 0.5 * off * off)
        for r in range(rho.size):
            off = np.log(rho[r] / best) / BREADTH
            lean = np.exp(weight[k, r] + nearest - 0.5 * off * off) / total
            weight[k, r] = np.log((1.0 - EQUAL) * lean + EQUAL * np.exp(weight[k, r]))


@kernel
def survey(fresh: KnownFresh, i: Int, j: Int, f: Int, k: Int) -> tuple[float, Int, float, float, float]:
    """What e_f(i over j), in the test of arm k, is without Phi: (lower bound, its rho, its y, ends of a bracket).

    Bound: the best single rho. For z >= 0, g(z) >= z^2 / 2, so inside [x_j, x_i] the sum is at least
    gap^2 / (2 (a + b)), a and b the s_k^2 soft_k of i and j. Let a <= b (else exchange the arms). The minimum is
    not below x_j, where the slope is at most g'(0) / sqrt(b) - g'(z) / sqrt(a) <= 0; it is above x_i only if the
    slope there is negative, g'(0) sqrt(b / a) > g'(z), z = gap / sqrt(b), and g'(z) >= z, g'(0) + (1 - 2 / pi) z.
    Above x_i, |X| is stochastically below an exponential of its hazard rate at 0, so g(-v) >= -log(1 + v / g'(0)),
    and the least y^2 / 2 - log(1 + (y - z) / q) over y >= z, q = g'(0) sqrt(a / b), is at the root of a quadratic.

    Bracket: the minimiser for the mixture is among those for one rho. With a <= b that one is at most the quadratics'
    minimiser gap a / (a + b), as h = phi / Phi falls; above x_i, g'(-v) <= 1 / v keeps it within sqrt(b) / g'(0).
    """
    inst, grid = fresh.inst, fresh.grid
    V, N, shrink, soft = inst.V, inst.N, grid.shrink, grid.soft
    ahead = gap(inst, i, j, f)
    if not ahead > 0.0:
        return -np.inf, np.int64(0), 0.0, 0.0, 0.0
    own, other = V[i, f] * N[i], V[j, f] * N[j]
    best, peak, start, left, right = -np.inf, np.int64(0), 0.0, np.inf, -np.inf
    for r in range(grid.rho.size):
        a, b = own * soft[i, r], other * soft[j, r]
        share = ahead / (a + b)
        middle, value = share * a, 0.5 * ahead * share
        small, large = min(a, b), max(a, b)
        square, mixing = ahead * ahead / large, shrink[i, r] + shrink[j, r] + grid.weight[k, r]
        beyond = 0.0
        if large > small * max(1.0 + 0.2 * square, 1.57 * square):
            beyond = np.sqrt(large) / SLOPE
            if value + mixing > best:
                z, q = np.sqrt(square), SLOPE * np.sqrt(small / large)
                y = max(0.5 * (z - q + np.sqrt((z - q) * (z - q) + 4.0)), z)
                value = min(value, 0.5 * y * y - np.log(1.0 + (y - z) / q))
        left = min(left, -beyond if a <= b else middle)
        right = max(right, middle if a <= b else ahead + beyond)
        value += mixing
        if value > best:
            best, peak, start = value, np.int64(r), middle
    return best, peak, start, left, right


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


@part
def e_known(fresh: KnownFresh, i: Int, j: Int, f: Int, k: Int, low: float, high: float) -> float:
    """e_f(i over j) in the test of arm k, exactly if it is between low and high; else a bound that is not."""
    return minimise_known(fresh, i, j, f, k, low, high)[0]


@kernel
def minimise_known(fresh: KnownFresh, i: Int, j: Int, f: Int, k: Int, low: float, high: float) -> tuple[float, float]:
    """(e_known, the y at which it is, if it is exact): safeguarded Newton on the convex function of y = x_i - x."""
    inst, grid = fresh.inst, fresh.grid
    V, N, shrink, soft = inst.V, inst.N, grid.shrink, grid.soft
    J = grid.rho.size
    ahead = gap(inst, i, j, f)
    if not ahead > 0.0:
        return -np.inf, 0.0
    # At the pooled mean Phi <= 1, and z^2 / 2 sums to at most the likelihood ratio.
    value = LOG_4 + ratio(inst, i, j, f) + shrink[i, J - 1] + shrink[j, J - 1]
    if value <= low:
        return value, 0.0
    lower, r, y, left, right = survey(fresh, i, j, f, k)
    if lower >= high:
        return lower, y
    own, other = V[i, f] * N[i], V[j, f] * N[j]
    # A start: a few steps for one rho cost less than one step for all.
    c, d = 1.0 / np.sqrt(own * soft[i, r]), 1.0 / np.sqrt(other * soft[j, r])
    for _ in range(WARM_UP):
        _, _, slope, bend = half_normal(c * y)
        _, _, slope_j, bend_j = half_normal(d * (ahead - y))
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
            q, square_j, slope_j, bend_j = half_normal(d * (ahead - y))
            power = square + square_j + shrink[i, r] + shrink[j, r] + grid.weight[k, r]
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
        value = shift + np.log(total)
        first /= total
        second = second / total - first * first
        if value <= low:
            return value, y
        # The tangent, followed to the end of the bracket.
        if first > 0.0:
            right = y
            lower = max(lower, value - first * (y - left))
        else:
            left = y
            lower = max(lower, value + first * (right - y))
        if lower >= high:
            return lower, y
        if first * first <= 2.0 * second * PRECISION * (1.0 + abs(value)):
            return value, y
        y -= first / second
        if not left < y < right or (turn >= PATIENCE and turn % 2 == 0):
            y = 0.5 * (left + right)
            if y <= left or y >= right:
                break
    return lower, y
