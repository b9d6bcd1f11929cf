"""Laws of a single objective: d(mu, x), its tilted minimum, and its curvature.

    law           d(mu, x)                                     argmin_x d(mu, x) + s x
    GAUSSIAN      (mu - x)^2 / (2 scale)                       mu - scale s
    BERNOULLI     mu log(mu/x) + (1-mu) log((1-mu)/(1-x))      root in [0, 1] of s x^2 - (1 + s) x + mu
    POISSON       mu log(mu/x) + x - mu                        mu / (1 + s)
    EXPONENTIAL   mu/x - 1 - log(mu/x)                         root of s x^2 + x - mu,  kept at x <= 2 mu
    STUDENT       1/2 log(1 + (mu - x)^2 / scale)              root u = x - mu of s u^2 + u + s scale,  |u|^2 <= scale
    EXACT         0 if x = mu, else infinite                   mu

EXACT is an objective without noise. STUDENT is the Gaussian of unknown variance, `scale` its estimate. It and
EXPONENTIAL are convex in x only where they are kept; every point beyond costs more than BORDER (`instance.py` makes it
a bound). A code that is none of these gives nan everywhere; `make_instance` lets none in.
"""

import math

import numpy as np

from prepex._kernels.instance import Int
from prepex._kernels.jit import kernel

GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL, STUDENT, EXACT = LAWS = 0, 1, 2, 3, 4, 5
# d(mu, x) where convexity ends.
BORDER_EXPONENTIAL = math.log(2.0) - 0.5
BORDER_STUDENT = 0.5 * math.log(2.0)
LOG_2 = math.log(2.0)
# Stands for a Poisson mean of 0 in a tilt (the dual has no maximum there, only a supremum); for a slope of 0.
NEVER = 1e-9
# A mean that is as good as 0, and too small to divide by.
NOTHING = 1e-200
STUCK = 1e-6
# Nearer than this to the border of convexity the tilted minimum is kept there.
KEPT = 1e-9
# Nearer to 0 than this `excess` is a series.
NEAR = 0.1


@kernel
def excess(v: float) -> float:
    """v - log(1 + v), with all its digits: near 0 the two sides agree in all but the last of theirs.

    With y = v / (2 + v): log(1 + v) = 2 (y + y^3/3 + y^5/5 + ...) and v - 2 y = v y.
    """
    if abs(v) > NEAR:
        return v - math.log1p(v) if -1.0 < v < np.inf else np.inf
    y = v / (2.0 + v)
    z = y * y
    rest = 1 / 3 + z * (1 / 5 + z * (1 / 7 + z * (1 / 9 + z * (1 / 11 + z * (1 / 13 + z / 15)))))
    return y * (v - 2.0 * z * rest)


@kernel
def count_cost(mu: float, u: float, x: float) -> float:
    """mu log(mu / x) + u, where x = mu + u: the more exact of the two is used."""
    if mu <= NOTHING:
        return u
    if abs(u) <= NEAR * mu:
        return mu * excess(u / mu)
    return u - mu * math.log(x / mu) if x > 0.0 else np.inf


@kernel
def divergence(law: Int, mu: float, x: float, scale: float) -> float:
    """d(mu, x)."""
    return moved_by(law, mu, x - mu, x, scale)


@kernel
def moved_by(law: Int, mu: float, u: float, x: float, scale: float) -> float:
    """d(mu, x), where u = x - mu is known better than that. Terms that are not negative: nothing cancels."""
    if law == GAUSSIAN:
        return 0.5 * u * u / scale
    if law == STUDENT:
        return 0.5 * np.log1p(u * u / scale)
    if u == 0.0:
        return 0.0
    if law == EXACT:
        return np.inf
    if law == BERNOULLI:
        return count_cost(mu, u, x) + count_cost(1.0 - mu, -u, 1.0 - x)
    if law == POISSON:
        return count_cost(mu, u, x)
    if law != EXPONENTIAL:
        return np.nan
    if abs(u) <= NEAR * x:
        return excess(-u / x)
    # A mean far below x: 1 - u / x has lost its digits, mu / x has not.
    ratio = mu / x
    return -u / x - math.log(ratio) if 0.0 < ratio < np.inf else np.inf


@kernel
def bent(law: Int, mu: float, x: float, scale: float) -> tuple[float, float]:
    """(d', d'') in x at a point inside the domain, for the laws that are convex everywhere."""
    if law == GAUSSIAN:
        return (x - mu) / scale, 1.0 / scale
    first, second = 1.0, 0.0
    if mu > 0.0:
        first, second = 1.0 - mu / x, mu / (x * x)
    if law == BERNOULLI:
        first -= 1.0
        if mu < 1.0:
            no = (1.0 - mu) / (1.0 - x)
            first, second = first + no, second + no / (1.0 - x)
    return first, second


@kernel
def tilted(law: Int, mu: float, s: float, scale: float) -> float:
    """argmin_x d(mu, x) + s x; infinite where there is none (a Poisson mean pushed too hard)."""
    if law == GAUSSIAN:
        return mu - scale * s
    if law == BERNOULLI:
        b = 1.0 + s
        root = np.sqrt(max(b * b - 4.0 * s * mu, 0.0))
        if b > 0.0:
            return min(2.0 * mu / (b + root), 1.0)
        return min(max((b - root) / (2.0 * s), 0.0), 1.0)
    if law == POISSON:
        return max(mu, NEVER) / (1.0 + s) if s > -1.0 else np.inf
    if law == EXPONENTIAL:
        return 2.0 * mu / (1.0 + np.sqrt(max(1.0 + 4.0 * s * mu, 0.0)))
    if law == EXACT:
        return mu
    if law != STUDENT:
        return np.nan
    inside = 1.0 - 4.0 * s * s * scale
    if inside <= 0.0:
        return mu - np.sqrt(scale) if s > 0.0 else mu + np.sqrt(scale)
    return mu - 2.0 * s * scale / (1.0 + np.sqrt(inside))


@kernel
def softness(law: Int, mu: float, x: float, scale: float) -> float:
    """1 / d''(x): how fast the tilted minimum moves; next to 0 where it is kept."""
    if law == GAUSSIAN:
        return scale
    if law == BERNOULLI:
        # A mean of 0 or 1 does not move until it is pushed hard; not quite 0, so that a step knows where to go.
        if (mu == 0.0 and x == 0.0) or (mu == 1.0 and x == 1.0):
            return STUCK
        left = x * x / mu if mu > 0.0 else np.inf
        right = (1.0 - x) * (1.0 - x) / (1.0 - mu) if mu < 1.0 else np.inf
        return 1.0 / (1.0 / left + 1.0 / right) if left > 0.0 and right > 0.0 else STUCK
    if law == POISSON:
        return x * x / max(mu, NEVER)
    if law == EXPONENTIAL:
        room = 2.0 * mu - x
        return x * x * x / room if room > KEPT * mu else STUCK * mu * mu
    if law == EXACT:
        return 0.0
    if law != STUDENT:
        return np.nan
    square = (x - mu) * (x - mu)
    room = scale - square
    return (scale + square) * (scale + square) / room if room > KEPT * scale else STUCK * scale


@kernel
def tilt(law: Int, mu: float, s: float, x: float, scale: float) -> tuple[float, float]:
    """(d(mu, x), 1 / d''(x)) at the tilted minimum x.

    A chance that rounds to 1 is known by what it lacks, and what s times that is worth counts as cost.
    """
    if law == BERNOULLI and x == 1.0 and mu < 1.0:
        no = tilted(law, 1.0 - mu, -s, scale)
        cost = count_cost(mu, 1.0 - mu, 1.0) + count_cost(1.0 - mu, no - (1.0 - mu), no) - s * no
        return cost, no * no / (mu * no * no + (1.0 - mu))
    return divergence(law, mu, x, scale), softness(law, mu, x, scale)


@kernel
def outwards(law: Int, mu: float, s: float) -> float:
    """How hard a mean of 0 or 1 is pushed against the end of its range, where it stays; -1 of one that moves."""
    if law != BERNOULLI or 0.0 < mu < 1.0:
        return -1.0
    return max(s if mu == 0.0 else -s, -1.0)


@kernel
def farthest(law: Int, mu: float, way: float) -> float:
    """How far a mean can be moved up (way > 0) or down."""
    end = np.inf if way > 0.0 else -np.inf
    if law == EXACT:
        end = mu
    elif not inside(law, end):
        end = 1.0 if way > 0.0 else 0.0
    return end - mu


@kernel
def variance(law: Int, mu: float, scale: float, weight: float) -> float:
    """Variance of one reward; at the border of the domain, what `weight` outcomes do not rule out."""
    if law == BERNOULLI:
        return max(mu * (1.0 - mu), 0.25 / (weight + 1.0))
    if law == POISSON:
        return max(mu, 0.25 / (weight + 1.0))
    if law == EXPONENTIAL:
        return mu * mu
    if law == EXACT:
        return 0.0
    return scale if law == GAUSSIAN or law == STUDENT else np.nan


@kernel
def most_variance(law: Int, low: float, high: float, scale: float) -> float:
    """The largest variance v at a mean in [low, high]. d(mu, x) = int (u - mu) / v(u) du >= (mu - x)^2 / (2 max v)."""
    if law == BERNOULLI:
        middle = min(max(0.5, low), high)
        return middle * (1.0 - middle)
    if law == POISSON:
        return max(high, NEVER)
    if law == EXPONENTIAL:
        return high * high
    if law == STUDENT:
        # log(1 + z) >= z log 2 where it is convex, z <= 1.
        return scale / LOG_2
    if law == EXACT:
        return 0.0
    return scale if law == GAUSSIAN else np.nan


@kernel
def inside(law: Int, x: float) -> bool:
    """Can a mean be x, or as near to it as one likes?"""
    return not ((law == BERNOULLI or law == POISSON or law == EXPONENTIAL) and x < 0.0) and not (
        law == BERNOULLI and x > 1.0
    )


@kernel
def border(law: Int, scale: float) -> float:
    """What any point outside the convex region costs at least, for one reward. 0: the variance is not known yet."""
    if law == EXPONENTIAL:
        return BORDER_EXPONENTIAL
    if law == STUDENT:
        return BORDER_STUDENT if 0.0 < scale < np.inf else 0.0
    return np.inf if law == GAUSSIAN or law == BERNOULLI or law == POISSON or law == EXACT else np.nan
