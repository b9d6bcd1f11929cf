"""The next arm, by the rule's code."""

import numpy as np

from prepex._kernels.course import FIXED, FRAPPE, INFORMATION, PRETS, RULE, TNS, Course
from prepex._kernels.instance import Int, Ints
from prepex._kernels.jit import reader
from prepex._kernels.rules.information import propose_information
from prepex._kernels.rules.tns import explored
from prepex._kernels.rules.tracking import least_pulled, track_aim, track_sums


def propose_rule(course: Course, pending: Ints, ahead: Int) -> Int:
    """The next arm when `pending` pulls (K,), `ahead` in all, are out and not told yet."""
    rule = course.whole[RULE]
    choice: Int = np.int64(least_pulled(course, pending))
    if rule == INFORMATION:
        choice = propose_information(course, pending, ahead, choice)
    elif rule == FRAPPE or rule == PRETS:
        choice = track_sums(course, pending, ahead)
    elif rule == FIXED or (rule == TNS and explored(course, pending, ahead, choice)):
        choice = track_aim(course, pending, ahead)
    return choice


# A simulation makes this part of its own loop; a live experiment calls it once a pull.
propose = reader(propose_rule)
