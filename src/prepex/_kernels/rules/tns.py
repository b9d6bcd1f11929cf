"""TnS: one step of exponentiated gradients a pull; then D-tracking, with enough pulls of every arm."""

import numpy as np

from prepex._kernels.course import PULLS, STEEP, Course
from prepex._kernels.instance import Int, Ints
from prepex._kernels.jit import part
from prepex._kernels.ledger import put_weights, refresh


@part
def tns_step(course: Course) -> None:
    """w <- w exp(step g) / sum, g the gradient of F at w, step = sqrt(log K) / (sqrt(1 + t) max |g| so far)."""
    far, aim, real = course.far, course.aim, course.real
    K, t = aim.size, course.whole[PULLS]
    put_weights(far, course.near, aim)
    value = refresh(far, 0.0)
    if 0.0 < value < np.inf:
        for k in range(K):
            real[STEEP] = max(real[STEEP], far.gradient[k])
        step = np.sqrt(np.log(K) / (1.0 + t)) / real[STEEP]
        total = 0.0
        for k in range(K):
            aim[k] *= np.exp(step * far.gradient[k])
            total += aim[k]
        for k in range(K):
            # No weight vanishes for good: a factor could not bring it back.
            aim[k] = max(aim[k] / total, 1e-9)


@part
def explored(course: Course, pending: Ints, ahead: Int, least: Int) -> bool:
    """Has every arm sqrt(t) - K / 2 pulls?"""
    N, t = course.near.inst.N, course.whole[PULLS] + ahead
    return N[least] + pending[least] >= np.sqrt(t) - 0.5 * N.size
