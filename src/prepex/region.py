"""Regions that hold the true means of all arms at all times, with a stated confidence (docs/regions.md).

After n outcomes of an arm with mean M and known covariance S the region is the ellipsoid
    {x : (M - x)' S^-1 (M - x) <= r^2},   r^2 the root q of
    log 1/J sum_rho (rho / (n + rho))^(L/2) exp(n^2 q / 2 (n + rho)) = log(K / delta).
Other families have an interval for each objective, once the pilot of `certified` has set their priors:
    {x : n d(M, x) <= log(K L / delta) + penalty}.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels.course import Course
from prepex._kernels.laws.fresh import LawFresh
from prepex._kernels.laws.law import BERNOULLI, EXACT, EXPONENTIAL, POISSON, STUDENT, divergence
from prepex.errors import InputError

# Fixed before any data: a constant is sharpest near n of about ten times itself.
GRID = (1.0, 16.0, 256.0, 4096.0, 65536.0)


def radius(counts: ArrayLike, n_objectives: int, delta: float) -> Floats:
    """The radius r of each arm's ellipsoid in standard deviations of one outcome (K,); inf for an arm without any.

    K is the number of `counts`: give those of all arms. Regions from a part of them hold for this part alone, and only
    if it was chosen before the outcomes.

    >>> radius([1, 100, 10_000], n_objectives=2, delta=0.05).round(3)
    array([5.052, 0.416, 0.042])
    >>> float(radius([0], n_objectives=1, delta=0.05)[0])
    inf
    """
    n = _checks.real_array("counts", counts, ("n_arms", None))[:, None]
    if not np.all(n >= 0):
        raise InputError(f"counts must be at least 0, got {n.min():g}")
    L = _checks.whole("n_objectives", n_objectives, low=1)
    level = np.log(len(n) / _checks.number("delta", delta, low=0.0, high=1.0))
    rho = np.array(GRID)
    # Each constant alone allows r^2 up to (level - offset) / slope; the mean over all of them lies between.
    slope = n**2 / (2.0 * (n + rho))
    offset = L / 2.0 * np.log(rho / (n + rho)) - np.log(len(rho))
    tried = n[:, 0] > 0
    found = np.full(len(n), np.inf)
    if tried.any():
        found[tried] = np.sqrt(_root(slope[tried], offset[tried], level))
    return _checks.frozen(found)


def _root(slope: Floats, offset: Floats, level: float) -> Floats:
    """q with log sum exp(offset + slope q) = level: convex and increasing, so Newton from above descends to it."""
    q = np.min((level - offset) / slope, axis=1)
    for _ in range(50):
        terms = offset + slope * q[:, None]
        top = terms.max(axis=1)
        weights = np.exp(terms - top[:, None])
        value = top + np.log(weights.sum(axis=1))
        step = (value - level) * weights.sum(axis=1) / (weights * slope).sum(axis=1)
        q = q - step
        if np.all(np.abs(step) <= 1e-14 * q):
            break
    return q


def intervals(course: Course, delta: float) -> Floats:
    """Ends of the interval of every mean (K, L, 2); nan before the outcomes after the pilot say anything.

    For families beyond the known Gaussian.
    """
    fresh = course.fresh
    assert isinstance(fresh, LawFresh)
    inst = fresh.inst
    K, L = inst.M.shape
    level = np.log(K * L / delta)
    found = np.full((K, L, 2), np.nan)
    for k in range(K):
        for q in range(L):
            scale, law, mean = inst.scale[k, q], inst.law[q], inst.M[k, q]
            if inst.N[k] > 0 and np.isfinite(fresh.penalty[k, q]) and (law != STUDENT or scale > 0):
                if law == EXACT:
                    found[k, q] = mean
                    continue
                room = (level + fresh.penalty[k, q]) / inst.N[k]

                def price(x: float, law: int = law, mean: float = mean, scale: float = scale) -> float:
                    return float(divergence(np.int64(law), mean, x, scale))

                low = 0.0 if law in (BERNOULLI, POISSON, EXPONENTIAL) else -np.inf
                high = 1.0 if law == BERNOULLI else np.inf
                found[k, q] = _end(price, mean, low, room), _end(price, mean, high, room)
    return found + course.origin[:, None]


def _end(price: Callable[[float], float], mean: float, border: float, room: float) -> float:
    """Where the price, which grows from 0 at the mean to the border, reaches `room`, or the border."""
    from scipy.optimize import brentq

    if mean == border or room <= 0.0:
        return mean
    side = 1.0 if border > mean else -1.0
    reach = abs(border - mean) if np.isfinite(border) else 1e-6 * (1.0 + abs(mean))
    while not np.isfinite(border) and price(mean + side * reach) < room:
        reach *= 2.0

    def missing(distance: float) -> float:
        # At the border of a domain the price is infinite or not a number: any value above 0 says as much.
        over = price(mean + side * distance) - room
        return over if over < 1.0 else 1.0

    if missing(reach) <= 0.0:
        return mean + side * reach
    return mean + side * float(brentq(missing, 0.0, reach, xtol=1e-300, rtol=1e-14, maxiter=1000))
