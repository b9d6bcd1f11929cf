"""A pull: counts, means, evidence, the rule's step, and the certified margin when it is due."""

import numpy as np

from prepex._kernels.course import (
    CHECK,
    FOLLOW,
    FOLLOW_EVIDENCE,
    FOLLOW_MARGIN,
    FRAPPE,
    LONGEST,
    LOOKED,
    MARGIN,
    MISSING,
    PILOT,
    PRETS,
    PULLS,
    READY,
    RULE,
    SPENT,
    TNS,
    Course,
)
from prepex._kernels.instance import Floats, Int, Ints
from prepex._kernels.jit import kernel, part
from prepex._kernels.ledger import follow_answer, move, refresh
from prepex._kernels.margin import BETTER, WORSE, add_fresh, margin, may_reach
from prepex._kernels.pilot import leave_pilot
from prepex._kernels.rules.frappe import frappe_step
from prepex._kernels.rules.prets import prets_step
from prepex._kernels.rules.tns import tns_step

# A rule that follows the margin has it after every pull at first, then once in such a part of the run. The stop
# does not wait for it: `margin_from` looks after every pull.
FOLLOWED = 500


@part
def end_pilot_now(course: Course, longest: Int) -> Int:
    """The pilot is over, or goes on to a pull that is returned."""
    return leave_pilot(
        course.fresh, course.near.inst, course.scratch.bound, course.deal, course.whole[PULLS], np.int64(longest)
    )


@part
def record(course: Course, a: Int, reward: Floats, more: float, shift: Floats) -> None:
    """Counts, means and all that hangs on them, after a reward of arm a (-1: none); the evidence, if it counts.

    `more` rewards with the mean `reward` at once, where only their number and mean count; else 1. The origin is
    subtracted from `reward` in place: whatever looks at it from here on is centred.
    """
    near, far, M, whole = course.near, course.far, course.M, course.whole
    tested = whole[FOLLOW] == FOLLOW_EVIDENCE or whole[FOLLOW] == FOLLOW_MARGIN
    if tested and more > 1.0 and whole[PULLS] < whole[PILOT]:
        # A mean cannot be cut: the pilot ends before it.
        whole[PILOT] = end_pilot_now(course, whole[PULLS])
    if a >= 0:
        count = near.inst.N[a] + more
        for q in range(M.shape[1]):
            reward[q] -= course.origin[q]
            shift[q] = more * (reward[q] - M[a, q]) / count
            M[a, q] += shift[q]
        move(near, a, M[a], shift, count)
        if whole[RULE] == FRAPPE:
            move(far, a, M[a], shift, far.inst.N[a])
        course.real[SPENT] += np.log((1.0 + np.log(count)) / (1.0 + np.log(count - more)))
        if tested and whole[PULLS] >= whole[PILOT]:
            if course.fresh.N[a] == 0.0:
                whole[MISSING] -= 1
            add_fresh(course.fresh, a, reward, more)
        whole[PULLS] += np.int64(more)
    whole[READY] = 1
    if whole[FOLLOW] == FOLLOW_MARGIN and whole[PULLS] > whole[PILOT]:
        # The margin decides what is pulled and when to stop: nobody asks for the evidence.
        follow_answer(near)
    else:
        refresh(near, 0.0)
    if tested and whole[PULLS] == whole[PILOT]:
        whole[PILOT] = end_pilot_now(course, whole[LONGEST])


@part
def find_margin(course: Course, binding: Ints) -> float:
    """The certified margin of a testable course, and its binding test."""
    return margin(course.fresh, course.near.inst, course.deal, course.scratch, binding)


@part
def look(course: Course) -> None:
    """The margin for a rule that follows it, when it is due."""
    whole = course.whole
    if whole[FOLLOW] != FOLLOW_MARGIN or whole[PULLS] < max(whole[PILOT], whole[CHECK]):
        return
    if whole[MISSING] > 0:
        a = 0
        while course.fresh.N[a] > 0.0:
            a += 1
        course.binding[BETTER] = course.binding[WORSE] = a
    else:
        course.real[MARGIN] = find_margin(course, course.binding)
        whole[LOOKED] = whole[PULLS]
        whole[CHECK] = whole[PULLS] + 1 + whole[PULLS] // FOLLOWED


@part
def margin_from(course: Course, level: float) -> float:
    """The certified margin now if it is at least `level`, else something below. Changes nothing but the scratch, which
    then says of which answer it is.

    After every pull, in a simulation as in a live experiment; mostly one test shows that the level is not reached.
    """
    whole = course.whole
    value = -np.inf
    if whole[LOOKED] == whole[PULLS] and (course.real[MARGIN] < level or not course.near.inst.lenient):
        value = course.real[MARGIN]
    elif (
        level < np.inf
        and whole[PULLS] >= whole[PILOT]
        and whole[MISSING] == 0
        and may_reach(course.fresh, course.near.inst, course.deal, course.scratch, level)
    ):
        value = find_margin(course, course.scratch.found)
    return value


@kernel
def observe_plain(course: Course, a: Int, reward: Floats, more: float, shift: Floats) -> None:
    """`more` rewards of arm a (-1: none yet, the first pulls only), for a rule without a step of its own."""
    record(course, a, reward, more, shift)
    look(course)


@kernel
def observe_run(course: Course, arms: Ints, rewards: Floats, sizes: Floats, shift: Floats, level: float) -> Int:
    """Rewards (n, L) of `arms` (n,), one after the other, until the margin reaches `level`: how many were taken.

    For a rule without a step of its own. `sizes` (n,): how many rewards each is the mean of.
    """
    taken: Int = np.int64(0)
    while taken < arms.size:
        record(course, arms[taken], rewards[taken], sizes[taken], shift)
        look(course)
        taken += 1
        if margin_from(course, level) >= level:
            break
    return taken


def observe_rule(course: Course, a: Int, reward: Floats, more: float, shift: Floats) -> None:
    """`more` rewards of arm a (-1: none yet, the first pulls only), then one step. `shift` is scratch (L,)."""
    record(course, a, reward, more, shift)
    if course.whole[RULE] == FRAPPE:
        frappe_step(course)
    elif course.whole[RULE] == TNS:
        tns_step(course)
    elif course.whole[RULE] == PRETS:
        prets_step(course)
    look(course)


# A simulation makes this part of its own loop; a live experiment calls it once a pull.
observe_stepping = kernel(observe_rule)


def steps(course: Course) -> bool:
    """Has the rule a step of its own?"""
    return course.whole[RULE] in (FRAPPE, TNS, PRETS)


def observe(course: Course, a: int, reward: Floats, more: float, shift: Floats) -> None:
    """`more` rewards, from Python. The steps of the rules that have one are compiled only if such a rule is used."""
    (observe_stepping if steps(course) else observe_plain)(course, np.int64(a), reward, more, shift)
