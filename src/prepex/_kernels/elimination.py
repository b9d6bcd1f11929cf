"""APE and Auer's elimination: confidence intervals of facet scores, standardised to unit variance.

Legend
    scale     sqrt of the largest variance of a facet score among the arms      (m,)
    risk      log(1 / delta)
    phase     ACTIVE, ACCEPTED or REJECTED (Auer)                               (K,)
"""

import numpy as np

from prepex._kernels.course import FIRST, ROUND, SECOND, Course
from prepex._kernels.instance import Floats, Int
from prepex._kernels.jit import kernel, part

ACTIVE, ACCEPTED, REJECTED = 0, 1, 2


@part
def most_ahead(S: Floats, scale: Floats, i: Int, j: Int) -> float:
    """max_m (S_i - S_j)_m."""
    high = -np.inf
    for f in range(scale.size):
        high = max(high, (S[i, f] - S[j, f]) / scale[f])
    return high


@part
def least_ahead(S: Floats, scale: Floats, i: Int, j: Int) -> float:
    """min_m (S_i - S_j)_m."""
    low = np.inf
    for f in range(scale.size):
        low = min(low, (S[i, f] - S[j, f]) / scale[f])
    return low


@kernel
def ape_radius(n: float, risk: float) -> float:
    """beta(n) = sqrt((2 log(1/delta) + 3 max(0, log log(1/delta)) + log(1 + log n)) / n)."""
    extra = 3.0 * max(0.0, np.log(risk)) if risk > 0.0 else 0.0
    return np.sqrt((2.0 * risk + extra + np.log(1.0 + np.log(n))) / n)


@kernel
def ape_index(course: Course, i: Int, radius: Floats) -> float:
    """z(i): how surely arm i is where it seems to be, in or out of P."""
    S, scale = course.near.inst.S, course.scale
    z = np.inf if course.near.inst.mask[i] else -np.inf
    for j in range(radius.size):
        if j != i:
            if course.near.inst.mask[i]:
                z = min(z, most_ahead(S, scale, i, j) - radius[i] - radius[j])
            else:
                z = max(z, least_ahead(S, scale, j, i) - radius[i] - radius[j])
    return z


@kernel
def ape_stops(course: Course, risk: float) -> bool:
    """Is every z >= 0? Else the arms b = argmin z and c = argmin_{j != b} max_m (S_b - S_j)_m - beta_j are noted."""
    inst, radius = course.near.inst, course.best
    K = inst.N.size
    for k in range(K):
        radius[k] = ape_radius(inst.N[k], risk)
    weakest, low = np.int64(0), np.inf
    for k in range(K):
        z = ape_index(course, np.int64(k), radius)
        if z < low:
            weakest, low = np.int64(k), z
    other, least = weakest, np.inf
    for j in range(K):
        if j != weakest:
            value = most_ahead(inst.S, course.scale, weakest, np.int64(j)) - radius[j]
            if value < least:
                other, least = np.int64(j), value
    course.whole[FIRST], course.whole[SECOND] = weakest, other
    return low >= 0.0


@kernel
def auer_radius(n: float, risk: float, scalars: float) -> float:
    """sqrt(2 log(4 K m n^2 / delta) / n): a union over K m scalars and all n, two-sided."""
    return np.sqrt(2.0 * (np.log(4.0 * scalars * n * n) + risk) / n)


@kernel
def auer_step(course: Course, risk: float) -> None:
    """Eliminate and accept, once all active arms have been pulled once more."""
    inst, phase, radius, scale = course.near.inst, course.phase, course.best, course.scale
    S = inst.S
    K, m = inst.N.size, inst.n_facets
    fewest = np.inf
    for k in range(K):
        if phase[k] == ACTIVE:
            fewest = min(fewest, inst.N[k])
    if fewest <= course.whole[ROUND] or fewest == np.inf:
        return
    course.whole[ROUND] = np.int64(fewest)
    for k in range(K):
        radius[k] = auer_radius(inst.N[k], risk, float(K * m))
    sure = course.target  # 1: not dominated by any arm that is left, for sure
    for i in range(K):
        sure[i] = 0.0
        if phase[i] == ACTIVE:
            for j in range(K):
                if phase[j] == ACTIVE and least_ahead(S, scale, j, i) > radius[i] + radius[j]:
                    sure[i] = -1.0
    for i in range(K):
        if sure[i] < 0.0:
            phase[i] = REJECTED
    for i in range(K):
        if phase[i] == ACTIVE:
            sure[i] = 1.0
            for j in range(K):
                if j != i and phase[j] == ACTIVE and most_ahead(S, scale, i, j) < radius[i] + radius[j]:
                    sure[i] = 0.0
    for j in range(K):
        if phase[j] == ACTIVE and sure[j] == 1.0:
            # It stays as long as it may still be needed to eliminate another.
            needed = False
            for i in range(K):
                if phase[i] == ACTIVE and sure[i] == 0.0:
                    needed = needed or most_ahead(S, scale, i, j) <= radius[i] + radius[j]
            if not needed:
                sure[j] = 2.0
    for j in range(K):
        if phase[j] == ACTIVE and sure[j] == 2.0:
            phase[j] = ACCEPTED


@kernel
def auer_stops(course: Course) -> bool:
    """Is no arm left?"""
    for k in range(course.phase.size):
        if course.phase[k] == ACTIVE:
            return False
    return True
