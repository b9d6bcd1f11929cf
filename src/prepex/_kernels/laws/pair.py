"""One row: what it costs to bring hub j level with arm a on facet f, or an arm alone to a limit.

    cost(a, j, f) = min N_a d(M_a, x_a) + N_j d(M_j, x_j)   s.t.  w_f . (x_j - x_a) >= slack_f.

A facet that looks at one objective pools the two means, with slack by a root (`level_cost`). Else the dual is a concave
function of one multiplier y:
    D(y) = sum_k N_k psi_k + y gap,   psi_k = min_x d(M_k, x) + s_k . (x - M_k),
    s_a = y w / N_a,   s_j = -y w / N_j,   D'(y) = w . (x_a - x_j) + slack.
By weak duality D(y) is a lower bound for every y >= 0.
"""

import numpy as np

from prepex._kernels.instance import Int, escaped, gap, spread
from prepex._kernels.jit import kernel, part
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.laws.law import (
    BERNOULLI,
    EXPONENTIAL,
    POISSON,
    bent,
    count_cost,
    farthest,
    inside,
    most_variance,
    moved_by,
    tilt,
    tilted,
)

# Newton steps, and the share of the gap that may stay open: the value is then exact to its square, but for a mean that
# has less than that left of its range; so also what it may be worth, as a share of the value.
STEPS, CLOSED, WORTH = 60, 1e-9, 1e-8
# Means of 0 and 1, which do not move, make such steps too short: then the slope's sign is bisected, for so many times
# the steps, unless what is left is this share of the value.
LATE, SETTLED = 4, 1e-12


@kernel
def pushed(inst: LawInstance, k: Int, f: Int, push: float) -> tuple[float, float, float]:
    """Arm k with slopes push w_f: (sum d, w . (x - M), w . softness w)."""
    law, scale, w, M = inst.law, inst.scale, inst.W[f], inst.M
    cost, moved, soft = 0.0, 0.0, 0.0
    for q in range(law.size):
        if w[q] != 0.0:
            x = tilted(law[q], M[k, q], push * w[q], scale[k, q])
            if x == np.inf:
                return np.inf, np.inf if push < 0.0 else -np.inf, np.inf
            own, bend = tilt(law[q], M[k, q], push * w[q], x, scale[k, q])
            cost += own
            moved += w[q] * (x - M[k, q])
            soft += w[q] * w[q] * bend
    return cost, moved, soft


@part
def range_of(inst: LawInstance, k: Int, row: Int, way: float) -> float:
    """How far the score of arm k can rise (way > 0) or fall, before all means are at the ends of their ranges."""
    total = 0.0
    for q in range(inst.law.size):
        w = inst.W[row, q]
        if w != 0.0:
            total += w * farthest(inst.law[q], inst.M[k, q], way * w)
    return total


@kernel
def root_from(c: float, b: float, a: float, small: float, start: float) -> float:
    """A root in [0, 1] of c t^3 - b t^2 + a t - small, negative at 0 and positive at 1: Newton, kept between."""
    t, low, high = start, 0.0, 1.0
    for _ in range(STEPS):
        h = ((c * t - b) * t + a) * t - small
        if h < 0.0:
            low = t
        else:
            high = t
        slope = (3.0 * c * t - 2.0 * b) * t + a
        new = t - h / slope if slope > 0.0 else -1.0
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - t) <= 1e-15:
            break
        t = new
    return t


@kernel
def student_pair(n: float, A: float, m: float, B: float) -> float:
    """min_t n/2 log(1 + (1-t)^2 / A) + m/2 log(1 + t^2 / B): not convex, but its slope is a cubic over something > 0.

    Of three roots the outer ones are the minima; Newton from either end goes to the nearest.
    """
    best = np.inf
    for end in range(2):
        t = root_from(n + m, n + 2.0 * m, n * B + m * A + m, n * B, float(end))
        best = min(best, 0.5 * n * np.log1p((1.0 - t) * (1.0 - t) / A) + 0.5 * m * np.log1p(t * t / B))
    return best


@kernel
def lone_cost(inst: LawInstance, a: Int, j: Int, q: Int) -> float:
    """The exact cost of bringing two arms level on objective q of a one-parameter law: they pool."""
    N, law = inst.N, inst.law[q]
    above, below, first, second = inst.M[a, q], inst.M[j, q], inst.scale[a, q], inst.scale[j, q]
    x = (N[a] * above + N[j] * below) / (N[a] + N[j])
    # Pooling in floating point may fall outside by a rounding.
    x = min(max(x, min(above, below)), max(above, below))
    # The distances from the pool have more digits than the difference of two large means.
    apart, total = above - below, N[a] + N[j]
    down, up = -apart * N[j] / total, apart * N[a] / total
    if law == BERNOULLI:
        # A chance next to 1 is known by what it lacks.
        no = (N[a] * (1.0 - above) + N[j] * (1.0 - below)) / total
        cost = N[a] * (count_cost(above, down, x) + count_cost(1.0 - above, -down, no))
        return cost + N[j] * (count_cost(below, up, x) + count_cost(1.0 - below, -up, no))
    return N[a] * moved_by(law, above, down, x, first) + N[j] * moved_by(law, below, up, x, second)


@kernel
def level_cost(inst: LawInstance, a: Int, j: Int, f: Int) -> float:
    """cost(a, j, f) on a facet of one objective of a convex law, with slack: the root of the slope in how far j rises.

    Newton, kept between, from where the pool without slack would be; a falls by what of the gap is left.
    """
    q, N, ahead = inst.axis[f], inst.N, gap(inst, a, j, f)
    law, sign, scale = inst.law[q], inst.W[f, q], inst.scale
    above, below = inst.M[a, q], inst.M[j, q]
    low, high = 0.0, ahead
    if law == BERNOULLI or law == POISSON:
        # What a falls to, or j, is not below 0; a chance that rises is not above 1.
        top = 1.0 if law == BERNOULLI else np.inf
        low = max(low, ahead - (above if sign > 0.0 else top - above))
        high = min(high, top - below if sign > 0.0 else below)
    if low > high:
        return np.inf
    rise = ahead * N[a] / (N[a] + N[j])
    if not low < rise < high:
        rise = 0.5 * (low + high)
    for _ in range(STEPS):
        if not low < rise < high:
            break
        first, second = bent(law, below, below + sign * rise, scale[j, q])
        other, bend = bent(law, above, above + sign * (rise - ahead), scale[a, q])
        slope = sign * (N[j] * first + N[a] * other)
        if slope < 0.0:
            low = rise
        else:
            high = rise
        new = rise - slope / (N[j] * second + N[a] * bend)
        if new != rise and not low < new < high:
            new = 0.5 * (low + high)
        # What is left is the square of such a step.
        done = abs(new - rise) <= CLOSED * min(new, ahead - new)
        rise = new
        if done:
            break
    up, down = sign * rise, sign * (rise - ahead)
    cost = N[a] * moved_by(law, above, down, above + down, scale[a, q])
    return cost + N[j] * moved_by(law, below, up, below + up, scale[j, q])


@kernel
def test_cost(inst: LawInstance, a: Int, j: Int, f: Int) -> float:
    """`facet_cost`, exact where the facet looks at one objective of a one-parameter law."""
    pools = inst.axis[f] >= 0 and inst.slack[f] == 0.0
    return lone_cost(inst, a, j, inst.axis[f]) if pools else facet_cost(inst, a, j, f)


@kernel
def facet_cost(inst: LawInstance, a: Int, j: Int, f: Int) -> float:
    """cost(a, j, f); 0 if j is level or ahead already."""
    N, ahead = inst.N, gap(inst, a, j, f)
    if not ahead > 0.0:
        return 0.0
    if inst.plain and inst.slack[f] == 0.0:
        return lone_cost(inst, a, j, inst.axis[f])
    if spread(inst, a, j, f) == 0.0:
        return np.inf
    if inst.plain:
        return level_cost(inst, a, j, f)
    cap = min(inst.cap[a], inst.cap[j])
    if cap <= 0.0:
        return 0.0
    best = 0.0
    left, right = 0.0, np.inf
    y = ahead / spread(inst, a, j, f)
    for turn in range(LATE * STEPS):
        cost_a, moved_a, soft_a = pushed(inst, a, f, y / N[a])
        cost_j, moved_j, soft_j = pushed(inst, j, f, -y / N[j])
        slope = ahead + moved_a - moved_j
        if slope > -np.inf:
            best = max(best, N[a] * cost_a + N[j] * cost_j + y * slope)
        if (abs(slope) <= CLOSED * ahead and abs(y * slope) <= WORTH * best) or best >= cap:
            break
        if slope > 0.0:
            left = y
        else:
            right = y
        if turn == STEPS:
            if abs(y * slope) <= SETTLED * best:
                break
            if range_of(inst, j, f, 1.0) - range_of(inst, a, f, -1.0) <= ahead:
                return cap
        step = slope / (soft_a / N[a] + soft_j / N[j])
        y = y + step if slope > -np.inf else right
        if turn >= STEPS or not left < y < right:
            y = 0.5 * (left + right) if right < np.inf else 2.0 * left
        if y <= left or y >= right:
            break
    return min(best, cap)


@kernel
def limit_cost(inst: LawInstance, k: Int, row: Int) -> tuple[float, float]:
    """(What it costs to bring arm k alone to the limit of this row, from either side; the multiplier).

    Exact if the row looks at one objective, whatever its law. Infinite if no mean is there.
    """
    N, W, ahead, q = inst.N[k], inst.W[row], abs(inst.S[k, row]), inst.axis[row]
    # Down to it, or up.
    sign = 1.0 if inst.S[k, row] > 0.0 else -1.0
    if inst.V[k, row] == 0.0:
        return np.inf, 1.0
    if ahead == 0.0 or inst.cap[k] <= 0.0:
        return 0.0, 0.0
    if q >= 0:
        x = W[q] * inst.level[row]
        if not inside(inst.law[q], x):
            return np.inf, 1.0
        return N * moved_by(inst.law[q], inst.M[k, q], -W[q] * inst.S[k, row], x, inst.scale[k, q]), 1.0
    if sign * range_of(inst, k, row, -sign) >= -ahead:
        return np.inf, 1.0
    best, left, right = 0.0, 0.0, np.inf
    y = ahead / inst.V[k, row]
    for turn in range(LATE * STEPS):
        cost, moved, soft = pushed(inst, k, row, sign * y / N)
        slope = ahead + sign * moved
        if slope > -np.inf:
            best = max(best, N * cost + y * slope)
        if (abs(slope) <= CLOSED * ahead and abs(y * slope) <= WORTH * best) or best >= inst.cap[k]:
            break
        if slope > 0.0:
            left = y
        else:
            right = y
        if turn == STEPS and abs(y * slope) <= SETTLED * best:
            break
        new = y + slope * N / soft if slope > -np.inf else right
        if turn >= STEPS or not left < new < right:
            new = 0.5 * (left + right) if right < np.inf else 2.0 * left
        if new <= left or new >= right:
            break
        y = new
    return min(best, inst.cap[k]), y


@kernel
def limit_bound(inst: LawInstance, j: Int) -> float:
    """A lower bound of what it takes for j to meet all limits: the dearest one alone, but no more than a star's cap."""
    bound = 0.0
    for row in range(inst.n_facets, inst.S.shape[1]):
        if inst.S[j, row] < 0.0:
            bound = max(bound, limit_cost(inst, j, np.int64(row))[0])
    if bound == 0.0:
        return bound
    cap = inst.cap[j]
    for p in range(inst.size[0]):
        cap = min(cap, inst.cap[inst.front[p]])
    return min(bound, cap) * (1.0 - 1e-12)


@kernel
def widest(inst: LawInstance, k: Int, f: Int, reach: float) -> float:
    """The largest w . variance w of arm k's mean while its score rises by `reach` (falls, if negative)."""
    law, w, M = inst.law, inst.W[f], inst.M[k]
    total = 0.0
    for q in range(law.size):
        if w[q] != 0.0:
            end = M[q] + reach / w[q]
            low, high = min(M[q], end), max(M[q], end)
            if law[q] == BERNOULLI:
                low, high = max(low, 0.0), min(high, 1.0)
            elif law[q] == EXPONENTIAL:
                high = min(high, 2.0 * M[q])
            total += w[q] * w[q] * most_variance(law[q], low, high, inst.scale[k, q])
    return total


@kernel
def facet_bound(inst: LawInstance, a: Int, j: Int, f: Int) -> float:
    """A lower bound of cost(a, j, f) without a logarithm: a Gaussian with the largest variance on the way.

    At the closest point every objective of both arms has moved towards the other's side, so none by more than the gap.
    """
    N, ahead = inst.N, gap(inst, a, j, f)
    if not ahead > 0.0:
        return 0.0
    if inst.plain:
        q, slack = inst.axis[f], inst.slack[f]
        above, below = inst.M[a, q], inst.M[j, q]
        low, high = min(above, below) - slack, max(above, below) + slack
        wide = most_variance(inst.law[q], low, high, max(inst.scale[a, q], inst.scale[j, q]))
        return 0.5 * ahead * ahead * (1.0 - 1e-12) / (wide * (1.0 / N[a] + 1.0 / N[j]))
    cap = min(inst.cap[a], inst.cap[j])
    if cap <= 0.0:
        return 0.0
    wide = widest(inst, a, f, -ahead) / N[a] + widest(inst, j, f, ahead) / N[j]
    return min(0.5 * ahead * ahead * (1.0 - 1e-9) / wide, cap)


@part
def pair_bound_law(inst: LawInstance, i: Int, j: Int) -> float:
    """A lower bound of Remove(i, j): its dearest single row. Zero iff j already dominates or equals i, and may."""
    bound = 0.0 if inst.mask[j] else limit_bound(inst, j)
    for f in range(inst.n_facets):
        if gap(inst, i, j, f) > 0.0:
            bound = max(bound, facet_bound(inst, i, j, np.int64(f)))
    return bound


@part
def escape_bound(inst: LawInstance, a: Int, j: Int) -> float:
    """A lower bound of what it takes for j to escape a on some facet."""
    bound = np.inf
    for f in range(inst.n_facets):
        ahead = gap(inst, a, j, f)
        if ahead > 0.0 or escaped(inst, a, j, f, ahead):
            bound = min(bound, facet_bound(inst, a, j, np.int64(f)))
        if bound == 0.0:
            break
    return bound
