"""The margin of the certified stopping rule, and the test that binds it.

    the least of the arms' tests less their prices; the test of an arm i
    in the answer is      min( min_c e_c(i),  min_{j != i} log( sum_f v_f exp e_f(i over j) + sum_c v_c exp e_-c(j) ) ),
    outside it            log( sum_c p_c exp e_-c(i) + sum_{j in P} pi_ij exp min(min_f e_f(j over i), min_c e_c(j)) ),

e the evidence of the model's tests (mixture.py, laws/test.py, alone.py), certain where two arms are known to be equal
without error: neither dominates the other. Weights and prices as in deal.py. Of the terms
of a sum those with e > 0 count, or the largest alone if that is more; in the plain rule always the largest alone. Every
arm first has an outlook, a lower bound and the likely rival; then the arms are solved, the lowest bound first, until no
bound is below the smallest solved test.

With a tolerance several answers are right: the answer of the pilot is tried as well as the present Pareto set, and the
larger margin counts. `fresh` has the latter between two calls.

Legend
    bound     a lower bound of arm k's test less its price; after settle_tests, that difference itself       (K,)
    plain     after settle_tests: arm k's test less its plain price, which holds for the arm alone, for good  (K,)
    rival     the j that gives the bound                                  (K,)
    weight, term   of an average that is being formed                     (rows,)
    last      the tests that bound at the last look, of the present answer and of the pilot's   (2, 4)
    binding   better, worse, row and kind of the binding test: of the largest term of its average; `found` is room
              for one                                                     (4,)
              A row that is a limit is a test of one arm: of the arm itself, named twice; of the other, which must break
              it (IN_FRONT) or meet it (OUT_OF_FRONT)
    own       1 if the last margin is that of the pilot's answer          (1,)
    held      the tests in `last`, when they were found last (hold.py)
"""

from typing import Any, NamedTuple

import numpy as np

from prepex._kernels.alone import has_limits, strongest_broken, weakest_met
from prepex._kernels.deal import (
    CLOSED,
    SEEN,
    Deal,
    ahead_of,
    closed_price,
    moved,
    plain_price,
    rival_weight,
    weigh_broken,
    weigh_front,
)
from prepex._kernels.hold import Held, hold, make_held, still_below
from prepex._kernels.instance import (
    Floats,
    Instance,
    Int,
    Ints,
    gap,
    met_ratio,
    noiseless,
    over_ratio,
    ratio,
    surely_equal,
)
from prepex._kernels.jit import by_model, kernel, part
from prepex._kernels.laws.fresh import CERTAIN, add_law_fresh, end_law_pilot
from prepex._kernels.laws.test import e_law
from prepex._kernels.mixture import IN_FRONT, OUT_OF_FRONT, add_known_fresh, e_known, end_known_pilot

BETTER, WORSE, WHERE, KIND = 0, 1, 2, 3
# A test this close to its goal, relative, may be there but for rounding.
CLOSE_CALL = 1e-9
# A term smaller than its sum by this factor, as a logarithm, is no part of its digits.
NEGLIGIBLE = 40.0

e_value = by_model(known=e_known, laws=e_law)
add_fresh = by_model(known=add_known_fresh, laws=add_law_fresh)
end_pilot = by_model(known=end_known_pilot, laws=end_law_pilot)
# KnownFresh or LawFresh: the outcomes that the tests may use.
Fresh = Any


class Scratch(NamedTuple):
    """What `margin` notes on its way."""

    bound: Floats
    plain: Floats
    rival: Ints
    weight: Floats
    term: Floats
    last: Ints
    found: Ints
    own: Ints
    held: Held


def make_scratch(K: int, n_rows: int) -> Scratch:
    """Room for K arms and so many facets and limits."""
    return Scratch(
        np.zeros(K),
        np.zeros(K),
        np.zeros(K, dtype=np.int64),
        np.zeros(n_rows),
        np.zeros(n_rows),
        np.full((2, 4), -1, dtype=np.int64),
        np.full(4, -1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        make_held(K, n_rows),
    )


@part
def e_dominates(fresh: Fresh, j: Int, i: Int, f: Int, low: float, high: float) -> float:
    """e_f(j over i) for j to dominate i: where nothing is noise, to be level is enough."""
    if noiseless(fresh.inst, j, i, f) and gap(fresh.inst, j, i, f) == 0.0:
        return CERTAIN
    return float(e_value(fresh, j, i, f, i, low, high))


@part
def furthest(inst: Instance, i: Int, j: Int) -> Int:
    """The facet on which i is ahead of j by the largest likelihood ratio."""
    most, facet = -1.0, np.int64(0)
    for f in range(inst.n_facets):
        found = ratio(inst, i, j, f)
        if found > most:
            most, facet = found, np.int64(f)
    return facet


@kernel
def join_front(fresh: Fresh, deal: Deal, i: Int, j: Int, scratch: Scratch, limit: float) -> tuple[float, Int]:
    """(log(sum_f v_f exp e_f(i over j) + sum_c v_c exp e_-c(j)), the row of the largest term): exact if it is below
    the limit, else a lower bound that is not. With a limit of -inf, the bound of one facet."""
    inst, term, weight = fresh.inst, scratch.term, scratch.weight
    rows, m = term.size, inst.n_facets
    weigh_front(deal, inst, i, j, weight)
    start: Int = furthest(inst, i, j)
    top, where, equal = -np.inf, start, surely_equal(inst, i, j)
    for turn in range(rows):
        # The facet of the largest ratio first, in exchange for facet 0.
        r: Int = np.int64(turn)
        if turn == 0 or turn == start:
            r = start if turn == 0 else np.int64(0)
        paid, e = np.log(weight[r]), -np.inf
        if r < m:
            e = CERTAIN if equal else e_value(fresh, i, j, r, i, min(top - paid, 0.0), limit - paid)
        elif inst.S[j, r] < 0.0:
            e = fresh.alone[j, r - m]
        term[r] = e + paid if e > 0.0 else -np.inf
        if e + paid > top:
            top, where = e + paid, r
        if top >= limit:
            return top, where
    if deal.flag[CLOSED] == 1 and top > -np.inf:
        total = 0.0
        for n in range(rows):
            total += np.exp(term[n] - top)
        top = max(top, top + np.log(total))
    return top, where


@part
def test_front(fresh: Fresh, deal: Deal, i: Int, rival: Int, scratch: Scratch, limit: float) -> tuple[float, Int, Int]:
    """(min_{j != i} of join_front, j, its row), the rival first; j = -1 if it is not below the limit."""
    best = limit
    worse: Int = np.int64(-1)
    where: Int = np.int64(-1)
    for place in range(-1, fresh.inst.N.size):
        j = rival if place < 0 else np.int64(place)
        if j < 0 or j == i or (j == rival and place >= 0):
            continue
        if place >= 0 and join_front(fresh, deal, i, j, scratch, -np.inf)[0] >= best:
            continue
        value, row = join_front(fresh, deal, i, j, scratch, best)
        if value < best:
            best, worse, where = value, j, row
    return best, worse, where


@part
def over(fresh: Fresh, j: Int, i: Int, low: float, high: float) -> tuple[float, Int]:
    """(min(min_f e_f(j over i), min_c e_c(j)), its row): exact if between low and high, else a bound that is not."""
    value, row = weakest_met(fresh, j)
    for f in range(fresh.inst.n_facets):
        if value <= low:
            break
        e = e_dominates(fresh, j, i, np.int64(f), low, min(value, high))
        if e < value:
            value, row = e, np.int64(f)
    return value, row


@kernel
def test_out(fresh: Fresh, deal: Deal, i: Int, rival: Int, scratch: Scratch, limit: float) -> tuple[float, Int, Int]:
    """(log(sum_c p_c exp e_-c(i) + sum_{j in P} pi_ij exp over(j, i)), the j of the largest term, its row): exact if
    it is below the limit. j is i itself if a limit of its own has the largest term, and the rival if there is none."""
    inst, term, m = fresh.inst, scratch.term, fresh.inst.n_facets
    top, total, other = -np.inf, 0.0, rival
    where: Int = np.int64(-1)
    if has_limits(inst):
        weigh_broken(deal, inst, i, scratch.weight)
        where = np.int64(term.size - 1)
        other = i
        for r in range(m, term.size):
            if inst.S[i, r] < 0.0:
                e = fresh.alone[i, r - m]
                one = e + np.log(scratch.weight[r])
                if one > top:
                    total, top, where = total * np.exp(top - one), one, np.int64(r)
                total += np.exp(one - top) if e > 0.0 else 0.0
    if rival >= 0 and top < limit:
        # A single term may be enough.
        paid = np.log(rival_weight(deal, inst, i, rival))
        least, row = over(fresh, rival, i, -np.inf, -np.inf)
        if least + paid >= limit:
            return least + paid, rival, row
        if top == -np.inf:
            other, where = rival, row
    for p in range(inst.size[0]):
        j = inst.front[p]
        if top >= limit or not ahead_of(inst, j, i):
            continue
        paid = np.log(rival_weight(deal, inst, i, j))
        least, row = over(fresh, j, i, top - NEGLIGIBLE - paid, limit - paid)
        one = least + paid
        if one > top:
            total, top, other, where = total * np.exp(top - one), one, j, row
        if one > top - NEGLIGIBLE and least > 0.0:
            total += np.exp(one - top)
    if deal.flag[CLOSED] == 1 and top > -np.inf:
        top = max(top, top + np.log(total))
    return top, other, where


@part
def test_arm(fresh: Fresh, deal: Deal, k: Int, rival: Int, scratch: Scratch, limit: float) -> tuple[float, Int, Int]:
    """Arm k's test before its price, with the other arm and the row; the other is -1 if it is not below the limit, and
    k itself if one of its own limits decides."""
    best = limit
    other: Int = np.int64(-1)
    row: Int = np.int64(-1)
    if fresh.inst.mask[k]:
        if has_limits(fresh.inst):
            least, where = weakest_met(fresh, k)
            if least < best:
                best, other, row = least, k, where
        value, worse, facet = test_front(fresh, deal, k, rival, scratch, best)
        if worse >= 0:
            best, other, row = value, worse, facet
    else:
        best, other, row = test_out(fresh, deal, k, rival, scratch, limit)
    return best, other, row


@part
def outlook(fresh: Fresh, guide: Instance, deal: Deal, k: Int, scratch: Scratch) -> tuple[float, Int]:
    """(A lower bound of arm k's test before its price, the arm that gives it)."""
    inst = fresh.inst
    rival: Int = np.int64(-1)
    if inst.mask[k]:
        low = weakest_met(fresh, k)[0]
        for j in range(inst.N.size):
            if j != k:
                value = join_front(fresh, deal, k, np.int64(j), scratch, -np.inf)[0]
                if value < low or rival < 0:
                    low, rival = min(value, low), np.int64(j)
        return low, rival
    rival = likely_dominator(inst, guide, deal, k)
    low = -np.inf
    if has_limits(inst):
        weigh_broken(deal, inst, k, scratch.weight)
        most, row = strongest_broken(fresh, k)
        low = most + np.log(scratch.weight[row])
    if rival >= 0:
        low = max(low, over(fresh, rival, k, -np.inf, -np.inf)[0] + np.log(rival_weight(deal, inst, k, rival)))
    return low, rival


@part
def likely_dominator(inst: Instance, guide: Instance, deal: Deal, i: Int) -> Int:
    """The arm of the answer that all outcomes name, by its likelihood ratio and weight; -1 if the answer is empty.

    Where the outcomes that count show no dominator yet, the guide, which has all outcomes, does.
    """
    most, rival = -np.inf, np.int64(-1)
    for p in range(inst.size[0]):
        j = inst.front[p]
        least = met_ratio(guide, j)
        for f in range(inst.n_facets):
            least = min(least, over_ratio(guide, j, i, f))
        least += np.log(rival_weight(deal, inst, i, j))
        if least > most or rival < 0:
            most, rival = least, j
    return rival


@part
def take_answer(inst: Instance, deal: Deal, guide: Instance, own: bool) -> None:
    """The answer that is tested: the pilot's own, or that of all outcomes."""
    n = np.int64(0)
    for k in range(inst.mask.size):
        inst.mask[k] = deal.mask[k] if own else guide.mask[k]
        if inst.mask[k]:
            inst.front[n] = k
            n += 1
    inst.size[0] = n


@part
def tries_both(inst: Instance, deal: Deal, guide: Instance) -> bool:
    """Is the pilot's answer another one that may be right as well?"""
    both = inst.lenient and deal.flag[CLOSED] == 1 and deal.flag[SEEN] == 1
    return bool(both and moved(deal, guide.mask) > 0)


@part
def answer_margin(fresh: Fresh, guide: Instance, deal: Deal, scratch: Scratch, binding: Ints) -> float:
    """The margin of the answer that `fresh` has, and in `binding` the test that attains it."""
    inst, bound = fresh.inst, scratch.bound
    K, h = inst.mask.size, moved(deal, inst.mask)
    best = np.inf
    for k in range(K):
        bound[k], scratch.rival[k] = outlook(fresh, guide, deal, np.int64(k), scratch)
        bound[k] -= closed_price(deal, inst, np.int64(k), h)
    for _ in range(K):
        low = np.int64(0)
        for k in range(1, K):
            if bound[k] < bound[low]:
                low = np.int64(k)
        if bound[low] >= best:
            break
        bound[low] = np.inf
        paid = closed_price(deal, inst, low, h)
        # A little above: what is below `best` once the price is subtracted must be exact.
        limit = best + paid + CLOSE_CALL * (1.0 + abs(best) + paid)
        value, other, row = test_arm(fresh, deal, low, scratch.rival[low], scratch, limit)
        if other >= 0 and value - paid < best:
            best = value - paid
            binding[BETTER] = low if inst.mask[low] else other
            binding[WORSE] = other if inst.mask[low] else low
            binding[WHERE] = row
            binding[KIND] = IN_FRONT if inst.mask[low] else OUT_OF_FRONT
    return best


@part
def binds(fresh: Fresh, deal: Deal, scratch: Scratch, own: Int, goal: float) -> bool:
    """Is the test that bound last, for the answer that `fresh` has, still below the goal, by more than rounding?"""
    inst, binding = fresh.inst, scratch.last[own]
    if binding[BETTER] < 0:
        return False
    out = binding[KIND] == OUT_OF_FRONT
    k, other = (binding[WORSE], binding[BETTER]) if out else (binding[BETTER], binding[WORSE])
    price = closed_price(deal, inst, k, moved(deal, inst.mask))
    need = goal + price - CLOSE_CALL * (1.0 + abs(goal) + price)
    if inst.mask[k] and has_limits(inst) and weakest_met(fresh, k)[0] < need:
        return True
    if inst.mask[k] and other == k:
        return False
    if still_below(inst, scratch.held, own, k, other, need):
        return True
    if hold(fresh, deal, k, other, scratch.weight, scratch.held, own) < need:
        return True
    if inst.mask[k]:
        return join_front(fresh, deal, k, other, scratch, need)[0] < need
    rival = other
    if not inst.mask[other]:
        rival = inst.front[0] if inst.size[0] > 0 else np.int64(-1)
    return test_out(fresh, deal, k, rival, scratch, need)[0] < need


@kernel
def margin(fresh: Fresh, guide: Instance, deal: Deal, scratch: Scratch, binding: Ints) -> float:
    """The margin, and in `binding` the test that attains it. One arm without limits: infinity, and -1 everywhere.

    `guide` has all outcomes and their answer, `fresh` those that count. Of two answers the one that was ahead last time
    comes first; mostly the test that bound the other one then shows that it is behind still.
    """
    inst, last = fresh.inst, scratch.last
    binding[:] = -1
    take_answer(inst, deal, guide, False)
    both = tries_both(inst, deal, guide)
    ahead: Int = scratch.own[0] if both else np.int64(0)
    scratch.own[0] = 0
    if inst.mask.size == 1 and not has_limits(inst):
        return np.inf
    best = -np.inf
    for turn in range(2 if both else 1):
        own: Int = ahead if turn == 0 else 1 - ahead
        take_answer(inst, deal, guide, own == 1)
        if turn == 1 and binds(fresh, deal, scratch, own, best):
            break
        scratch.held.value[own] = np.inf
        last[own, :] = -1
        value = answer_margin(fresh, guide, deal, scratch, last[own])
        if turn == 0 or value > best or (value == best and own == 0):
            best, scratch.own[0] = value, own
            for place in range(4):
                binding[place] = last[own, place]
    take_answer(inst, deal, guide, False)
    return best


@kernel
def may_reach(fresh: Fresh, guide: Instance, deal: Deal, scratch: Scratch, goal: float) -> bool:
    """Can the margin be at least `goal`? No, if the test that bound it last is below: one test in place of all."""
    take_answer(fresh.inst, deal, guide, False)
    if not binds(fresh, deal, scratch, np.int64(0), goal):
        return True
    if not tries_both(fresh.inst, deal, guide):
        return False
    take_answer(fresh.inst, deal, guide, True)
    low = binds(fresh, deal, scratch, np.int64(1), goal)
    take_answer(fresh.inst, deal, guide, False)
    return not low


@kernel
def settle_tests(fresh: Fresh, guide: Instance, deal: Deal, scratch: Scratch) -> None:
    """Every arm's test, for the answer of the last margin, less its price of closed testing (bound: the least is the
    margin) and less its price on its own (plain: an arm that has passed has passed for good).

    No goal is given to the tests: a test that stops at `goal + price` comes back as a rounding less than the goal.
    """
    inst = fresh.inst
    take_answer(inst, deal, guide, scratch.own[0] == 1)
    h = moved(deal, inst.mask)
    for k in range(inst.mask.size):
        scratch.bound[k] = scratch.plain[k] = np.inf
        if inst.mask.size > 1 or has_limits(inst):
            rival = outlook(fresh, guide, deal, np.int64(k), scratch)[1]
            value = test_arm(fresh, deal, np.int64(k), rival, scratch, np.inf)[0]
            scratch.bound[k] = value - closed_price(deal, inst, np.int64(k), h)
            scratch.plain[k] = value - plain_price(deal, np.int64(k))
    take_answer(inst, deal, guide, False)
