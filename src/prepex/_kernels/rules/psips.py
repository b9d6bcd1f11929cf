"""PSIPS: posterior draws with another Pareto set, to stop and to sample.

A draw moves arm k by sqrt(spread / N_k) cov^{1/2} z_k, z_k standard normal, so its facet scores by
sqrt(spread / N_k) half z_k. Most arms cannot matter: arm k is *easy* if, with every |z| at most `calm`, some arm of P
still dominates it wherever both are. If all easy arms and all of P are calm, the easy arms change nothing and need
not be drawn: one uniform number tells whether they are all calm. Otherwise everything is drawn. Nothing is
approximate: the easy arms are drawn given that they are, or are not, all calm.

Legend
    label     row 0: the hard arms, P first; row 1: the easy ones
    draw      z                                                     (K, L)
    drawn     the facet scores of the draw                          (K, m)
    stream    (1,) uint64, set anew from (key, t, purpose)
"""

import math

import numpy as np
from numpy.typing import NDArray

from prepex._kernels.course import CALM, CALM_CHANCE, PULLS, STEEP, TRIES, Course, uniform
from prepex._kernels.instance import Int, compare, covariance_row
from prepex._kernels.jit import kernel, part
from prepex._kernels.rules.hedge import hedge_learn, hedge_weights

SAMPLE, STOP = 1, 2


@part
def seed_stream(course: Course, purpose: Int) -> None:
    """The random numbers of this round and purpose."""
    z = course.key[0] + np.uint64(course.whole[PULLS]) * np.uint64(0x9E3779B97F4A7C15)
    course.stream[0] = z ^ (np.uint64(purpose) * np.uint64(0xD1B54A32D192ED03))


@kernel
def next_uniform(stream: NDArray[np.uint64]) -> float:
    """In (0, 1) (splitmix64)."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@kernel
def draw_arm(course: Course, k: Int, spread: float) -> float:
    """Draw arm k and its scores; returns |z|^2."""
    z, drawn, inst = course.draw[k], course.drawn[k], course.near.inst
    L, m = z.size, drawn.size
    size = 0.0
    for q in range(0, L, 2):
        radius = np.sqrt(-2.0 * np.log(next_uniform(course.stream)))
        angle = 2.0 * np.pi * next_uniform(course.stream)
        z[q] = radius * np.cos(angle)
        size += z[q] * z[q]
        if q + 1 < L:
            z[q + 1] = radius * np.sin(angle)
            size += z[q + 1] * z[q + 1]
    own, scale = covariance_row(course.half, k), np.sqrt(spread / inst.N[k])
    for f in range(m):
        shift = 0.0
        for q in range(L):
            shift += course.half[own, f, q] * z[q]
        drawn[f] = inst.S[k, f] + scale * shift
    return size


@kernel
def sort_arms(course: Course, spread: float) -> Int:
    """Hard and easy arms into `label`; returns the number of hard ones."""
    inst, label = course.near.inst, course.label
    K, m = inst.N.size, inst.n_facets
    reach = course.real[CALM] * np.sqrt(spread)
    hard, easy = 0, 0
    for p in range(inst.size[0]):
        label[0, hard] = inst.front[p]
        hard += 1
    for k in range(K):
        if inst.mask[k]:
            continue
        safe = False
        for p in range(inst.size[0]):
            above = True
            for f in range(m):
                a = inst.front[p]
                if inst.S[a, f] - inst.S[k, f] <= reach * (np.sqrt(inst.V[a, f]) + np.sqrt(inst.V[k, f])):
                    above = False
                    break
            if above:
                safe = True
                break
        if safe:
            label[1, easy] = k
            easy += 1
        else:
            label[0, hard] = k
            hard += 1
    return np.int64(hard)


@part
def same_set(course: Course, n_hard: Int, n_easy: Int) -> bool:
    """Has the draw the Pareto set P? No arm of P dominates another, and one of them dominates each other arm."""
    drawn, label, inst = course.drawn, course.label, course.near.inst
    size, m = inst.size[0], inst.n_facets
    same = True
    for c in range(n_hard + n_easy):
        k = label[0, c] if c < n_hard else label[1, c - n_hard]
        under = False
        for p in range(size):
            if p != c and compare(drawn, m, label[0, p], k) > 0:
                under = True
                break
        if under == (c < size):
            same = False
            break
    return same


@part
def draw_easy(course: Course, spread: float, n_easy: Int, calm: bool) -> None:
    """The easy arms, given that they are all calm, or that they are not."""
    bound = course.real[CALM] * course.real[CALM]
    if calm:
        for c in range(n_easy):
            while draw_arm(course, course.label[1, c], spread) > bound:
                pass
    else:
        quiet = True
        while quiet:
            for c in range(n_easy):
                if draw_arm(course, course.label[1, c], spread) > bound:
                    quiet = False


@kernel
def draw_set(course: Course, spread: float, n_hard: Int, whole: bool) -> bool:
    """One posterior draw: has it another Pareto set? If so and `whole`, the easy arms are drawn in any case."""
    n_easy = course.near.inst.N.size - n_hard
    bound = course.real[CALM] * course.real[CALM]
    quiet = True
    for c in range(n_hard):
        size = draw_arm(course, course.label[0, c], spread)
        if c < course.near.inst.size[0] and size > bound:
            quiet = False
    calm = next_uniform(course.stream) < math.pow(course.real[CALM_CHANCE], n_easy)
    seen: Int = np.int64(0)
    if not (quiet and calm):
        draw_easy(course, spread, n_easy, calm)
        seen = n_easy
    same = same_set(course, n_hard, seen)
    if whole and not same and seen < n_easy:
        draw_easy(course, spread, n_easy, calm)
    return not same


@kernel
def psips_stops(course: Course, risk: float) -> bool:
    """Have n draws of the inflated posterior all the Pareto set P? `risk` = log(1 / delta)."""
    t = course.whole[PULLS]
    spread = 1.0 + np.log(max(np.log(t), 1.0)) / risk
    delta = np.exp(-risk)
    n = int(np.ceil((np.log(t) + risk) / -np.log1p(-delta)))
    seed_stream(course, np.int64(STOP))
    n_hard = sort_arms(course, spread)
    for _ in range(n):
        if draw_set(course, spread, n_hard, False):
            return False
    return True


@kernel
def psips_step(course: Course) -> None:
    """AdaHedge over the arms receives 1/2 |M_k - M'_k|^2 = |z_k|^2 / (2 N_k) of the first other draw M'."""
    K, t = course.aim.size, course.whole[PULLS]
    seed_stream(course, np.int64(SAMPLE))
    n_hard = sort_arms(course, 1.0)
    gains = course.best
    for _ in range(int(course.real[TRIES])):
        if draw_set(course, 1.0, n_hard, True):
            for k in range(K):
                size = 0.0
                for q in range(course.draw.shape[1]):
                    size += course.draw[k, q] * course.draw[k, q]
                gains[k] = 0.5 * size / course.near.inst.N[k]
            course.real[STEEP] = hedge_learn(course.target, course.real[STEEP], course.mix, gains)
            break
    hedge_weights(course.target, course.real[STEEP], course.mix)
    for k in range(K):
        course.aim[k] = (1.0 - 1.0 / t) * course.mix[k] + 1.0 / (t * K)


@part
def propose_psips(course: Course, ahead: Int) -> Int:
    """An arm at random, by the allocation."""
    aim = course.aim
    choice: Int = np.int64(0)
    left = uniform(course.key, course.whole[PULLS], ahead)
    for k in range(aim.size):
        if aim[k] > 0.0:
            choice = np.int64(k)
            left -= aim[k]
            if left < 0.0:
                break
    return choice
