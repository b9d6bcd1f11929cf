"""The large kernels that others call through a table of addresses, so that each is compiled once and on its own.

Numba links what a kernel calls into its machine code: without doors the branch and bound would be compiled again for
every kernel above it, and a simulation would compile the steps of all rules to use one, and the certified test to
stop without it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from prepex._kernels import ledger, margin, mixture, pilot, posterior, room, search, star
from prepex._kernels.course import (
    FOLLOW,
    FOLLOW_MARGIN,
    FOLLOW_NOTHING,
    FOLLOW_POSTERIOR,
    FRAPPE,
    INFORMATION,
    PRETS,
    RULE,
    TNS,
    Course,
)
from prepex._kernels.deal import make_deal
from prepex._kernels.instance import KnownInstance
from prepex._kernels.laws import fresh as law_fresh
from prepex._kernels.laws import point
from prepex._kernels.laws.instance import LawInstance
from prepex._kernels.rules.frappe import frappe_step
from prepex._kernels.rules.information import soonest
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
    margin.may_reach,
    margin.join_front,
    margin.test_out,
    mixture.add_known_fresh,
    law_fresh.add_law_fresh,
    pilot.leave_pilot,
    frappe_step,
    tns_step,
    prets_step,
    posterior.surety_known,
    posterior.surety_law,
    star.settle,
    room.record,
    ledger.front_changed,
    ledger.follow_answer,
    soonest,
)
# Doors that ask for no primitive of the model, but have arguments of its kind: two places, one for each.
OF_EACH_MODEL = {ledger.front_changed, ledger.follow_answer, soonest}
STEPS = {FRAPPE: frappe_step, TNS: tns_step, PRETS: prets_step}
INT, FLOAT = np.int64(0), 0.0


def behind(first: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The doors that a kernel with this first argument may go through, each with arguments of the right types.

    The longest work last, about: a helper begins there, while the kernel itself is compiled.
    """
    if isinstance(first, Course):
        near, rule = first.near, int(first.whole[RULE])
        if first.whole[FOLLOW] == FOLLOW_POSTERIOR:
            yield (posterior.surety_law if first.with_laws else posterior.surety_known), (first, FLOAT, FLOAT)
        elif first.whole[FOLLOW] != FOLLOW_NOTHING:
            fresh, deal, scratch = first.fresh, first.deal, first.scratch
            yield from behind(fresh)
            add = law_fresh.add_law_fresh if first.with_laws else mixture.add_known_fresh
            yield add, (fresh, INT, first.origin, FLOAT)
            yield pilot.leave_pilot, (fresh, near.inst, scratch.bound, deal, INT, INT)
            yield margin.may_reach, (fresh, near.inst, deal, scratch, FLOAT)
            yield margin.margin, (fresh, near.inst, deal, scratch, first.binding)
            if first.whole[FOLLOW] == FOLLOW_MARGIN:
                yield ledger.follow_answer, (near,)
            if first.whole[FOLLOW] == FOLLOW_MARGIN and rule == INFORMATION:
                yield soonest, (near.inst, first.binding)
        if rule in STEPS:
            yield STEPS[rule], (first,)
            yield ledger.collect, (near, FLOAT, first.pieces)
        yield from behind_ledger(near, collects=rule in STEPS)
    elif isinstance(first, ledger.Ledger):
        yield from behind_ledger(first, collects=True)
    elif isinstance(first, KnownInstance | LawInstance):
        yield from behind_search(room.make_search(1, 1), collects=True)
    elif isinstance(first, mixture.KnownFresh | law_fresh.LawFresh):
        deal, scratch = make_deal(1, 1, 1, True), margin.make_scratch(1, 1)
        yield margin.join_front, (first, deal, INT, INT, scratch, FLOAT)
        yield margin.test_out, (first, deal, INT, INT, scratch, FLOAT)


def behind_ledger(first: ledger.Ledger, *, collects: bool) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Those of the evidence, and of its pieces if they are wanted."""
    inst, space = first.inst, first.search
    yield ledger.front_changed, (first,)
    yield point.remove_law if inst.with_laws else star.remove_known, (inst, INT, INT, space)
    yield from behind_search(space, collects=collects)
    yield ledger.refresh, (first, FLOAT)
    yield search.search, (inst, INT, FLOAT, space, first.none, INT)


def behind_search(space: room.Search, *, collects: bool) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Those of stars."""
    if collects:
        yield room.record, (room.make_pieces(0, 0), INT, INT, INT, FLOAT, space.leaf, INT)
    yield star.settle, (space.star, INT, INT, space.desk.quad, FLOAT, space.desk)
