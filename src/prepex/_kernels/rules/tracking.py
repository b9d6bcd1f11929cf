"""Pulls that follow an allocation: uniform, the oracle's, and those that a rule's step leaves in `aim`.

D-tracking   argmin_k N_k - (t + 1) aim_k
C-tracking   argmin_k N_k - target_k, target the sum of all allocations so far
"""

import numpy as np

from prepex._kernels.course import PULLS, Course
from prepex._kernels.instance import Int, Ints
from prepex._kernels.jit import part


@part
def least_pulled(course: Course, pending: Ints) -> Int:
    """The arm with the fewest pulls, those that are out among them."""
    N = course.near.inst.N
    least: Int = np.int64(0)
    for k in range(N.size):
        if N[k] + pending[k] < N[least] + pending[least]:
            least = np.int64(k)
    return least


@part
def track_aim(course: Course, pending: Ints, ahead: Int) -> Int:
    """D-tracking."""
    N, aim, t = course.near.inst.N, course.aim, course.whole[PULLS] + ahead
    choice: Int = np.int64(0)
    lowest = np.inf
    for k in range(N.size):
        behind = N[k] + pending[k] - (t + 1.0) * aim[k]
        if behind < lowest:
            choice, lowest = np.int64(k), behind
    return choice


@part
def track_sums(course: Course, pending: Ints, ahead: Int) -> Int:
    """C-tracking; pulls that are out have the present allocation."""
    N, aim, target = course.near.inst.N, course.aim, course.target
    choice: Int = np.int64(0)
    lowest = np.inf
    for k in range(N.size):
        behind = N[k] + pending[k] - target[k] - ahead * aim[k]
        if behind < lowest:
            choice, lowest = np.int64(k), behind
    return choice
