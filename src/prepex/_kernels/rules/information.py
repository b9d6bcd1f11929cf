"""InformationDirected: pull for the piece that attains the evidence, or for the test that binds the margin."""

import numpy as np

from prepex._kernels.alone import has_limits
from prepex._kernels.course import FOLLOW, FOLLOW_MARGIN, PULLS, Course, uniform
from prepex._kernels.instance import Instance, Int, Ints, broken_ratio, gap, met_ratio
from prepex._kernels.jit import part
from prepex._kernels.margin import BETTER, KIND, WHERE, WORSE
from prepex._kernels.mixture import OUT_OF_FRONT
from prepex._kernels.room import VALUE


@part
def soonest(inst: Instance, binding: Ints) -> tuple[Int, Int]:
    """The arms that the binding test waits for, the better one first; the same twice for a test of one arm.

    Of several that may show that an arm is dominated, not the one with most evidence by now but the one furthest
    ahead, which needs the fewest pulls: the other may be level with it in truth. A broken limit shows it as well. The
    pulls of a pair are shared by two, those of a limit are not.
    """
    V, N = inst.V, inst.N
    better: Int = binding[BETTER]
    worse: Int = binding[WORSE]
    single = binding[WHERE] >= inst.n_facets
    if binding[KIND] == OUT_OF_FRONT:
        most = 4.0 * broken_ratio(inst, worse) / N[worse]
        own = most > 0.0
        for p in range(inst.size[0]):
            a = inst.front[p]
            if a == worse:
                # Outside the pilot's answer, which is the one that is tested, but not of the present one.
                continue
            least = 4.0 * met_ratio(inst, a) / N[a]
            for f in range(inst.n_facets):
                ahead, room = gap(inst, a, worse, f), V[a, f] * N[a] + V[worse, f] * N[worse]
                if V[a, f] < np.inf:
                    # With the benefit of the doubt: an arm of few pulls may be further ahead than it looks.
                    ahead += np.sqrt(V[a, f])
                ahead = max(ahead, 0.0)
                # Without noise to be level is enough.
                if room > 0.0 or gap(inst, a, worse, f) < 0.0:
                    least = min(least, ahead * ahead / room if room > 0.0 else 0.0)
            if least > most:
                better, most, own = a, least, False
        if own:
            better = worse
        elif single and better == binding[BETTER]:
            worse = better
    elif better != worse and has_limits(inst):
        most = 4.0 * broken_ratio(inst, worse) / N[worse]
        single = most > 0.0
        for f in range(inst.n_facets):
            ahead, room = max(gap(inst, better, worse, f), 0.0), V[better, f] * N[better] + V[worse, f] * N[worse]
            single = single and (ahead * ahead < most * room or ahead == 0.0)
        if single:
            better = worse
    return better, worse


@part
def propose_information(course: Course, pending: Ints, ahead: Int, least: Int) -> Int:
    """Arm k with probability N_k g_k / Z; of the binding test (i, j), i with probability N_j / (N_i + N_j)."""
    near, whole, binding = course.near, course.whole, course.binding
    N, fresh, gradient = near.inst.N, course.fresh.N, near.gradient
    K, t = N.size, whole[PULLS] + ahead
    choice: Int = least
    # Enough of every arm early, when a wrong mean could mislead for long; half as eager later.
    if N[least] + pending[least] >= max(min(np.sqrt(t / K), 15.0), 0.5 * np.sqrt(t / K)):
        u = uniform(course.key, whole[PULLS], ahead)
        if whole[FOLLOW] == FOLLOW_MARGIN and binding[BETTER] >= 0:
            i, j = soonest(near.inst, binding)
            choice = i if u * (fresh[i] + fresh[j]) < fresh[j] else j
        elif 0.0 < near.real[VALUE] < np.inf:
            left = u * near.real[VALUE]
            for k in range(K):
                if gradient[k] > 0.0:
                    choice = np.int64(k)
                    left -= N[k] * gradient[k]
                    if left < 0.0:
                        break
    return choice
