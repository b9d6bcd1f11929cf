"""A pull: counts, means, evidence, the rule's step, and the certified margin when it is due."""

import numpy as np

from prepex._kernels.course import (
    CHECK,
    FOLLOW,
    FOLLOW_MARGIN,
    FOLLOW_NOTHING,
    FRAPPE,
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
from prepex._kernels.dispatch import add_fresh, end_pilot, find_margin, move, refresh
from prepex._kernels.instance import Floats, Int, Ints
from prepex._kernels.jit import kernel, part
from prepex._kernels.margin import BETTER, WORSE
from prepex._kernels.pilot import set_prices
from prepex._kernels.steps import frappe_step, prets_step, tns_step

# The margin is looked at after every pull at first, then once in such a part of the run: a stop is delayed by no
# more than that. A rule that follows it wants it fresh.
FOLLOWED, WATCHED = 20000, 500


@part
def record(course: Course, a: Int, reward: Floats, more: float, shift: Floats) -> None:
    """Counts, means and all that hangs on them, after a reward of arm a (-1: none); then the evidence.

    `more` rewards with the mean `reward` at once, where only their number and mean count; else 1.
    """
    near, far, M, whole = course.near, course.far, course.M, course.whole
    if a >= 0:
        count = near.inst.N[a] + more
        for q in range(M.shape[1]):
            shift[q] = more * (reward[q] - M[a, q]) / count
            M[a, q] += shift[q]
        move(near, course.W, course.prec, a, M[a], shift, count)
        if whole[RULE] == FRAPPE:
            move(far, course.W, course.prec, a, M[a], shift, far.inst.N[a])
        course.real[SPENT] += np.log((1.0 + np.log(count)) / (1.0 + np.log(count - more)))
        if whole[FOLLOW] != FOLLOW_NOTHING and whole[PULLS] >= whole[PILOT]:
            if course.fresh.N[a] == 0.0:
                whole[MISSING] -= 1
            add_fresh(course.fresh, course.grid, course.W, a, reward, more)
        whole[PULLS] += np.int64(more)
    whole[READY] = 1
    refresh(near, 0.0)
    if whole[PULLS] == whole[PILOT]:
        set_prices(near.inst, course.scratch.bound, course.price)
        end_pilot(course.fresh, near)


@part
def look(course: Course) -> None:
    """The margin, when it is due."""
    whole = course.whole
    if whole[FOLLOW] == FOLLOW_NOTHING or whole[PULLS] < max(whole[PILOT], whole[CHECK]):
        return
    if whole[MISSING] > 0:
        a = 0
        while course.fresh.N[a] > 0.0:
            a += 1
        course.binding[BETTER] = course.binding[WORSE] = a
    else:
        course.real[MARGIN] = find_margin(
            course.fresh, course.near, course.grid, course.price, course.scratch, course.binding
        )
        part_of_run = FOLLOWED if whole[FOLLOW] == FOLLOW_MARGIN else WATCHED
        whole[CHECK] = whole[PULLS] + 1 + whole[PULLS] // part_of_run


@kernel
def observe_plain(course: Course, a: Int, reward: Floats, more: float, shift: Floats) -> None:
    """`more` rewards of arm a (-1: none yet, the first pulls only), for a rule without a step of its own."""
    record(course, a, reward, more, shift)
    look(course)


@kernel
def observe_run(
    course: Course, arms: Ints, rewards: Floats, sizes: Floats, shift: Floats, binding: Ints, level: float
) -> Int:
    """Rewards (n, L) of `arms` (n,), one after the other, until the margin reaches `level`: how many were taken.

    For a rule without a step of its own. `sizes` (n,): how many rewards each is the mean of. `binding` is scratch (4,).
    """
    whole = course.whole
    taken: Int = np.int64(0)
    while taken < arms.size:
        record(course, arms[taken], rewards[taken], sizes[taken], shift)
        look(course)
        taken += 1
        if level < np.inf and whole[PULLS] >= whole[PILOT] and whole[MISSING] == 0:
            value = find_margin(course.fresh, course.near, course.grid, course.price, course.scratch, binding)
            if value >= level:
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
