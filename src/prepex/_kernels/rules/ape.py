"""APE: confidence intervals of facet scores; the arm that is least sure, against the one it is least ahead of.

Legend
    risk      log(1 / delta)
"""

import numpy as np

from prepex._kernels.course import FIRST, SECOND, Course
from prepex._kernels.instance import Floats, Int, Ints
from prepex._kernels.jit import kernel, part
from prepex._kernels.rules.ahead import least_ahead, most_ahead


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


@part
def propose_ape(course: Course, pending: Ints) -> Int:
    """The less pulled of the two arms."""
    N, first, second = course.near.inst.N, course.whole[FIRST], course.whole[SECOND]
    return first if N[first] + pending[first] <= N[second] + pending[second] else second
