"""A simulated run: rewards from noise drawn in advance, and the first time each threshold is crossed.

Legend
    truth, roots   true means, and roots of the covariances (A, L, L): reward = truth + root z      (K, L)
    noise          standard normal, one row a pull                                                  (n, L)
    code           HEURISTIC, KAUFMANN_KOOLEN, CERTIFIED, POSTERIOR, OWN (own.py), or PYTHON: not watched here (T,)
    level          what the evidence must reach, but for what grows with the counts                 (T, D)
    time, answer   first time it does (0: not yet), and the Pareto set then                         (T, D), (T, D, K)
    moment, then   times at which the current answer is noted, and the answers                     (G,), (G, K)
"""

from typing import NamedTuple

import numpy as np

from prepex._kernels.course import PULLS, READY, SPENT, Course
from prepex._kernels.instance import Bools, Floats, Int, Ints
from prepex._kernels.jit import kernel, part
from prepex._kernels.ledger import standing
from prepex._kernels.observe import margin_from, observe_rule
from prepex._kernels.posterior import surety
from prepex._kernels.propose import propose_rule
from prepex._kernels.reward import pay
from prepex._kernels.rules.tracking import least_pulled

PYTHON, HEURISTIC, KAUFMANN_KOOLEN, CERTIFIED, OWN, POSTERIOR = -1, 0, 1, 2, 3, 4
# Of an arm that is not to be tried further, as many pulls seem to be out: more than any run has.
MANY = 2**50

observe, propose = part(observe_rule), part(propose_rule)


class Stops(NamedTuple):
    """What is watched in a run."""

    code: Ints
    level: Floats
    time: Ints
    answer: Bools
    moment: Ints
    then: Bools


@part
def check_moments(course: Course, stops: Stops) -> bool:
    """Note the Pareto set of the means if now is the time; True when no such time is left."""
    mask, t = course.near.inst.mask, course.whole[PULLS]
    past = True
    for g in range(stops.moment.size):
        if stops.moment[g] == t:
            for k in range(mask.size):
                stops.then[g, k] = mask[k]
        past = past and stops.moment[g] <= t
    return past


@part
def watch_posterior(course: Course, stops: Stops, i: Int) -> None:
    """The largest deltas first: a smaller one is not looked at before they are crossed."""
    looking = True
    while looking:
        lowest = np.inf
        for d in range(stops.level.shape[1]):
            if stops.time[i, d] == 0:
                lowest = min(lowest, stops.level[i, d])
        looking = lowest < np.inf and surety(course, lowest, 1.0) >= lowest
        if looking:
            for d in range(stops.level.shape[1]):
                if stops.level[i, d] == lowest:
                    stops.time[i, d] = course.whole[PULLS]
                    for k in range(course.near.inst.mask.size):
                        stops.answer[i, d, k] = course.near.inst.mask[k]


@part
def watch(course: Course, stops: Stops) -> bool:
    """Note the thresholds crossed now; True when nothing is left to wait for."""
    K, t = course.near.inst.mask.size, course.whole[PULLS]
    done = True
    for i in range(stops.code.size):
        have, mask = standing(course.near), course.near.inst.mask
        if stops.code[i] == CERTIFIED:
            lowest = np.inf
            for d in range(stops.level.shape[1]):
                if stops.time[i, d] == 0:
                    lowest = min(lowest, stops.level[i, d])
            have = margin_from(course, lowest)
            if course.scratch.own[0] == 1:
                # With a tolerance the answer that is certified may be the pilot's.
                mask = course.deal.mask
        elif stops.code[i] == HEURISTIC:
            have -= np.log(1.0 + np.log(t))
        elif stops.code[i] == KAUFMANN_KOOLEN:
            have -= 3.0 * course.M.shape[1] * course.real[SPENT]
        elif stops.code[i] == POSTERIOR:
            watch_posterior(course, stops, np.int64(i))
            have = -np.inf
        else:
            have = -np.inf  # watched from Python
        for d in range(stops.level.shape[1]):
            if stops.time[i, d] == 0:
                if have >= stops.level[i, d]:
                    stops.time[i, d] = t
                    for k in range(K):
                        stops.answer[i, d, k] = mask[k]
                else:
                    done = False
    return check_moments(course, stops) and done


@kernel
def play(
    course: Course, truth: Floats, roots: Floats, noise: Floats, stops: Stops, arms: Ints, pending: Ints, shift: Floats
) -> tuple[bool, Int]:
    """Pull until nothing is left to wait for or the noise is used up: (finished?, rows of noise used).

    `arms` (B,) is room for a batch: B arms are proposed before any of their rewards is seen.
    """
    used: Int = np.int64(0)
    done = False
    while not done and used + arms.size <= noise.shape[0]:
        size = arms.size
        if course.whole[READY] == 0:
            # The first pulls of all arms are in: no new one, only everything that follows from them.
            size, arms[0] = 1, -1
        else:
            for b in range(size):
                arms[b] = propose(course, pending, np.int64(b))
                if pending[arms[b]] >= MANY:
                    # The rule's next test is of such an arm: the least tried one in its place.
                    arms[b] = least_pulled(course, pending)
                pending[arms[b]] += 1
        for b in range(size):
            a = arms[b]
            reward = noise[used]
            if a >= 0:
                pay(course.near, truth, roots, a, reward)
                pending[a] -= 1
                used += 1
            observe(course, a, reward, 1.0, shift)
            done = watch(course, stops) or done
    return done, used
