"""Auer's elimination: arms are rejected or accepted for good; the others are pulled in turn.

Legend
    risk      log(1 / delta)
    phase     ACTIVE, ACCEPTED or REJECTED                                      (K,)
"""

import numpy as np

from prepex._kernels.course import ROUND, Course
from prepex._kernels.instance import Int, Ints
from prepex._kernels.jit import kernel, part
from prepex._kernels.rules.ahead import least_ahead, most_ahead

ACTIVE, ACCEPTED, REJECTED = 0, 1, 2


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


@part
def propose_auer(course: Course, pending: Ints) -> Int:
    """The least pulled of the arms that are left; of all, when none is."""
    N = course.near.inst.N
    choice: Int = np.int64(0)
    fewest, over = np.inf, auer_stops(course)
    for k in range(N.size):
        if (over or course.phase[k] == ACTIVE) and N[k] + pending[k] < fewest:
            choice, fewest = np.int64(k), N[k] + pending[k]
    return choice
