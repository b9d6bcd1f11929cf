"""A pull: counts, means, evidence, the rule's step, and the certified margin when it is due."""

import numpy as np

from prepex._kernels.course import (
    CHECK,
    FOLLOW,
    FOLLOW_EVIDENCE,
    FOLLOW_MARGIN,
    FRAPPE,
    GOAL,
    MARGIN,
    PRETS,
    PULLS,
    READY,
    RULE,
    SPENT,
    TNS,
    Course,
)
from prepex._kernels.instance import Floats, Int
from prepex._kernels.jit import kernel, part
from prepex._kernels.ledger import VALUE, move, refresh
from prepex._kernels.margin import margin, write_grid
from prepex._kernels.steps import frappe_step, prets_step, tns_step

# The margin is looked at after every pull at first, then once in such a part of the run: a stop is delayed by no
# more than that. A rule that follows it wants it fresh.
FOLLOWED, WATCHED = 20000, 500
LOG_4 = float(np.log(4.0))


@part
def record(course: Course, a: Int, reward: Floats, shift: Floats) -> None:
    """Counts, means and all that hangs on them, after a reward of arm a (-1: none); then the evidence."""
    near, far, M, whole = course.near, course.far, course.M, course.whole
    if a >= 0:
        count = near.inst.N[a] + 1.0
        for q in range(M.shape[1]):
            shift[q] = (reward[q] - M[a, q]) / count
            M[a, q] += shift[q]
        move(near, course.W, course.prec, a, M[a], shift, count)
        if whole[RULE] == FRAPPE:
            move(far, course.W, course.prec, a, M[a], shift, far.inst.N[a])
        write_grid(course.grid, a, count)
        course.real[SPENT] += np.log((1.0 + np.log(count)) / (1.0 + np.log(count - 1.0)))
        whole[PULLS] += 1
    whole[READY] = 1
    refresh(near, 0.0)


@part
def look(course: Course) -> None:
    """The margin, when it is due."""
    whole = course.whole
    # margin <= Z + log 4 - the smaller budget: as long as that cannot stop, only a rule that follows it needs it.
    hope = course.near.real[VALUE] + LOG_4 - min(course.budget[0], course.budget[1])
    followed = whole[FOLLOW] == FOLLOW_MARGIN
    wanted = followed or (whole[FOLLOW] == FOLLOW_EVIDENCE and hope >= course.real[GOAL])
    if wanted and whole[PULLS] >= whole[CHECK]:
        course.real[MARGIN] = margin(course.near.inst, course.grid, course.budget, course.scratch, course.binding)
        whole[CHECK] = whole[PULLS] + 1 + whole[PULLS] // (FOLLOWED if followed else WATCHED)


@kernel
def observe_plain(course: Course, a: Int, reward: Floats, shift: Floats) -> None:
    """One reward of arm a (-1: none yet, the first pulls only), for a rule without a step of its own."""
    record(course, a, reward, shift)
    look(course)


def observe_rule(course: Course, a: Int, reward: Floats, shift: Floats) -> None:
    """One reward of arm a (-1: none yet, the first pulls only). `shift` is scratch (L,)."""
    record(course, a, reward, shift)
    if course.whole[RULE] == FRAPPE:
        frappe_step(course)
    elif course.whole[RULE] == TNS:
        tns_step(course)
    elif course.whole[RULE] == PRETS:
        prets_step(course)
    look(course)


# A simulation makes this part of its own loop; a live experiment calls it once a pull.
observe_stepping = kernel(observe_rule)


def observe(course: Course, a: int, reward: Floats, shift: Floats) -> None:
    """One reward, from Python. The steps of the rules that have one are compiled only if such a rule is used."""
    stepping = course.whole[RULE] in (FRAPPE, TNS, PRETS)
    (observe_stepping if stepping else observe_plain)(course, np.int64(a), reward, shift)
