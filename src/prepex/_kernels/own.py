"""A run of a rule that stops by a test of its own: PSIPS, APE, Auer's elimination."""

import numpy as np

from prepex._kernels.course import APE, AUER, PSIPS, PULLS, READY, RISK, RULE, Course
from prepex._kernels.instance import Bools, Floats, Int, Ints
from prepex._kernels.jit import kernel, part
from prepex._kernels.observe import record
from prepex._kernels.play import Stops, check_moments
from prepex._kernels.reward import pay
from prepex._kernels.rules.ape import ape_stops, propose_ape
from prepex._kernels.rules.auer import ACCEPTED, auer_step, auer_stops, propose_auer
from prepex._kernels.rules.psips import propose_psips, psips_step, psips_stops


@kernel
def propose_own(course: Course, pending: Ints, ahead: Int) -> Int:
    """The next arm when `pending` pulls (K,), `ahead` in all, are out and not told yet."""
    rule = course.whole[RULE]
    choice: Int = np.int64(0)
    if rule == PSIPS:
        choice = propose_psips(course, ahead)
    elif rule == APE:
        choice = propose_ape(course, pending)
    elif rule == AUER:
        choice = propose_auer(course, pending)
    return choice


@kernel
def observe_own(course: Course, a: Int, reward: Floats, more: float, shift: Floats) -> None:
    """`more` rewards of arm a (-1: none yet, the first pulls only), then one step. `shift` is scratch (L,)."""
    record(course, a, reward, more, shift)
    if course.whole[RULE] == PSIPS:
        psips_step(course)
    elif course.whole[RULE] == APE:
        ape_stops(course, course.real[RISK])
    elif course.whole[RULE] == AUER:
        auer_step(course, course.real[RISK])


@kernel
def own_stops(course: Course, risk: float) -> bool:
    """Does the rule stop at delta = exp(-risk)? APE and Auer also sample for one delta, their RISK."""
    stop = False
    if course.whole[RULE] == PSIPS:
        stop = psips_stops(course, risk)
    elif course.whole[RULE] == APE:
        stop = ape_stops(course, risk)
    elif course.whole[RULE] == AUER:
        stop = auer_stops(course)
    return stop


@kernel
def own_answer(course: Course, answer: Bools) -> None:
    """The arms accepted by Auer's elimination; else the Pareto set of the means."""
    for k in range(answer.size):
        answer[k] = course.near.inst.mask[k]
        if course.whole[RULE] == AUER:
            answer[k] = course.phase[k] == ACCEPTED


@part
def watch_own(course: Course, stops: Stops) -> bool:
    """Note the deltas at which the rule stops now; True when nothing is left to wait for."""
    t = course.whole[PULLS]
    done = True
    for d in range(stops.level.shape[1]):
        if stops.time[0, d] == 0:
            if own_stops(course, stops.level[0, d]):
                stops.time[0, d] = t
                own_answer(course, stops.answer[0, d])
            else:
                done = False
    return check_moments(course, stops) and done


@kernel
def play_own(
    course: Course, truth: Floats, roots: Floats, noise: Floats, stops: Stops, arms: Ints, pending: Ints, shift: Floats
) -> tuple[bool, Int]:
    """`play` of a rule with its own stop."""
    used: Int = np.int64(0)
    done = False
    while not done and used + arms.size <= noise.shape[0]:
        size = arms.size
        if course.whole[READY] == 0:
            size, arms[0] = 1, -1
        else:
            for b in range(size):
                arms[b] = propose_own(course, pending, np.int64(b))
                pending[arms[b]] += 1
        for b in range(size):
            a, reward = arms[b], noise[used]
            if a >= 0:
                pay(course.near, truth, roots, a, reward)
                pending[a] -= 1
                used += 1
            observe_own(course, a, reward, 1.0, shift)
            done = watch_own(course, stops) or done
    return done, used
