"""The large kernels that others call through a table of addresses, so that each is compiled once and on its own.

Numba links what a kernel calls into its machine code: without doors the branch and bound would be compiled again for
every kernel above it, and a simulation would compile the steps of all rules to use one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from prepex._kernels import ledger, margin, search, star
from prepex._kernels.course import FOLLOW, FOLLOW_NOTHING, FRAPPE, PRETS, RULE, TNS, Course
from prepex._kernels.laws import point
from prepex._kernels.rules.frappe import frappe_step
from prepex._kernels.rules.prets import prets_step
from prepex._kernels.rules.tns import tns_step

# The order is that of the table.
DOORS: tuple[Any, ...] = (
    star.remove_known,
    point.remove_law,
    search.search,
    ledger.refresh,
    ledger.collect,
    margin.margin,
    frappe_step,
    tns_step,
    prets_step,
)
STEPS = {FRAPPE: frappe_step, TNS: tns_step, PRETS: prets_step}
INT, FLOAT = np.int64(0), 0.0


def behind(first: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The doors that a kernel with this first argument may go through, each with arguments of the right types."""
    if isinstance(first, Course):
        near, rule = first.near, int(first.whole[RULE])
        if rule in STEPS:
            yield STEPS[rule], (first,)
            yield ledger.collect, (near, FLOAT, first.pieces)
        if first.whole[FOLLOW] != FOLLOW_NOTHING:
            yield margin.margin, (first.fresh, near.inst, first.price, first.scratch, first.binding)
        yield from behind(near)
    elif isinstance(first, ledger.Ledger):
        inst, room = first.inst, first.search
        yield search.search, (inst, INT, FLOAT, room, first.none, INT)
        yield ledger.refresh, (first, FLOAT)
        yield point.remove_law if inst.with_laws else star.remove_known, (inst, INT, INT, room)
