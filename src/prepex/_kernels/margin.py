"""The margin of the certified stopping rule, and the test that binds it.

    min over i in the answer of   min_{j != i}   max_w e_w(i over j) - price[IN_FRONT, i],
             i outside it of      max_{j in P}   min_w e_w(j over i) - price[AS_RIVAL, j] - price[OUT_OF_FRONT, i],

e the evidence of the model's test (mixture.py, laws/test.py). Without a pilot the prices make log(K m) and
log(K (K - 1)). With limits (alone.py) the test of an arm
    in the answer is the least of     min_c e_c(i) - price[ALONE, i],
                                      min_{j != i} max(max_w e_w(i over j), max_c e_-c(j)) - price[IN_FRONT, i],
    outside it the largest of         max_c e_-c(i) - price[BROKEN, i],
                                      max_{j in P} min(min_w e_w(j over i), min_c e_c(j)) - its prices.
Every arm first has an outlook, a lower bound and the likely rival; then the arms are solved, the lowest
bound first, until no bound is below the smallest solved test.

Legend
    price     of a test of arm i in the answer, of arm i outside it, of rival j; with limits ALONE, BROKEN   (3 or 5, K)
    bound     a lower bound of arm k's test                             (K,)
    rival     the j that gives it                                       (K,)
    binding   better, worse, row and kind of the binding test           (4,)
              A row that is a limit is a test of one arm: of the arm itself, named twice; of the other, which must break
              it (IN_FRONT) or meet it (OUT_OF_FRONT)
"""

from typing import Any, NamedTuple

import numpy as np

from prepex._kernels.alone import has_limits, strongest_broken, weakest_met
from prepex._kernels.instance import Floats, Instance, Int, Ints, gap, noiseless, ratio
from prepex._kernels.jit import by_model, kernel, part
from prepex._kernels.laws.fresh import CERTAIN, add_law_fresh, end_law_pilot
from prepex._kernels.laws.test import e_law, outlook_law
from prepex._kernels.mixture import (
    ALONE,
    AS_RIVAL,
    BROKEN,
    IN_FRONT,
    OUT_OF_FRONT,
    add_known_fresh,
    e_known,
    end_known_pilot,
    outlook_known,
)

BETTER, WORSE, WHERE, KIND = 0, 1, 2, 3
# A test this close to its goal, relative, may be there but for rounding.
CLOSE_CALL = 1e-9

e_value = by_model(known=e_known, laws=e_law)
outlook = by_model(known=outlook_known, laws=outlook_law)
add_fresh = by_model(known=add_known_fresh, laws=add_law_fresh)
end_pilot = by_model(known=end_known_pilot, laws=end_law_pilot)
# KnownFresh or LawFresh: the outcomes that the tests may use.
Fresh = Any


class Scratch(NamedTuple):
    """What `margin` notes about every arm."""

    bound: Floats
    rival: Ints


def equal_prices(K: int, m: int, n_limits: int = 0) -> Floats:
    """Every arm has the same share of delta, every facet and every rival the same part of it, all limits half of it."""
    price = np.empty((5 if n_limits else 3, K))
    price[IN_FRONT], price[OUT_OF_FRONT], price[AS_RIVAL] = np.log(K * m), np.log(K), np.log(max(K - 1, 1))
    if n_limits:
        price[IN_FRONT], price[ALONE] = np.log(K * (m + n_limits)), np.log(K)
        # One arm alone has no rival to share with.
        price[OUT_OF_FRONT], price[BROKEN] = np.log(2 * K), np.log((2 if K > 1 else 1) * K * n_limits)
    return price


def make_scratch(K: int) -> Scratch:
    """Room for K arms."""
    return Scratch(np.zeros(K), np.zeros(K, dtype=np.int64))


@part
def e_dominates(fresh: Fresh, j: Int, i: Int, f: Int, low: float, high: float) -> float:
    """e_f(j over i) for j to dominate i: where nothing is noise, to be level is enough."""
    if noiseless(fresh.inst, j, i, f) and gap(fresh.inst, j, i, f) == 0.0:
        return CERTAIN
    return float(e_value(fresh, j, i, f, low, high))


@part
def test_front(fresh: Fresh, i: Int, rival: Int, limit: float) -> tuple[float, Int, Int]:
    """(min_{j != i} max(max_f e_f(i over j), max_c e_-c(j)), j, f or the row of c), the rival first; j = -1 if it is
    not below the limit."""
    inst = fresh.inst
    K, m = inst.N.size, inst.n_facets
    best = limit
    worse: Int = np.int64(-1)
    where: Int = np.int64(-1)
    for place in range(-1, K):
        j = rival if place < 0 else np.int64(place)
        if j < 0 or j == i or (j == rival and place >= 0):
            continue
        most, start = -1.0, np.int64(0)
        for f in range(m):
            found = ratio(inst, i, j, f)
            if found > most:
                most, start = found, np.int64(f)
        value, facet = -np.inf, start
        if has_limits(inst):
            value, facet = strongest_broken(fresh, j)
        for turn in range(m):
            if value >= best:
                break
            # The facet of the largest ratio first, in exchange for facet 0.
            c = start if turn == 0 else (np.int64(0) if turn == start else np.int64(turn))
            e = e_value(fresh, i, j, c, value, best)
            if e > value or (e == value and turn == 0):
                value, facet = e, c
        if value < best:
            best, worse, where = value, j, facet
    return best, worse, where


@part
def test_dominated(fresh: Fresh, toll: Floats, i: Int, rival: Int, limit: float) -> tuple[float, Int, Int]:
    """(max_{j in P} min(min_f e_f(j over i), min_c e_c(j)) - toll_j, j, f or the row of c), the rival first; at least
    the limit if not below it."""
    inst = fresh.inst
    m = inst.n_facets
    best = -np.inf
    better: Int = rival
    where: Int = np.int64(-1)
    for place in range(-1, inst.size[0]):
        j = rival if place < 0 else inst.front[place]
        if (j == rival and place >= 0) or best >= limit:
            continue
        least, start = np.inf, np.int64(0)
        for f in range(m):
            found = ratio(inst, j, i, f)
            if found < least:
                least, start = found, np.int64(f)
        value, facet = np.inf, start
        if has_limits(inst):
            value, facet = weakest_met(fresh, j)
            value -= toll[j]
        for turn in range(m):
            if value <= best:
                break
            c = start if turn == 0 else (np.int64(0) if turn == start else np.int64(turn))
            e = e_dominates(fresh, j, i, c, best + toll[j], min(value, limit) + toll[j]) - toll[j]
            if e < value:
                value, facet = e, c
        if value > best or where < 0:
            best, better, where = value, j, facet
    return best, better, where


@part
def test_arm(fresh: Fresh, price: Floats, k: Int, rival: Int, limit: float) -> tuple[float, Int, Int]:
    """Arm k's test less its price, with the other arm and the row; the other is -1 if it is not below the limit, and k
    itself if one of its own limits decides."""
    limits = has_limits(fresh.inst)
    best = limit
    other: Int = np.int64(-1)
    row: Int = np.int64(-1)
    if fresh.inst.mask[k]:
        if limits:
            least, where = weakest_met(fresh, k)
            if least - price[ALONE, k] < best:
                best, other, row = least - price[ALONE, k], k, where
        own = price[IN_FRONT, k]
        value, worse, facet = test_front(fresh, k, rival, best + own)
        if worse >= 0:
            best, other, row = value - own, worse, facet
    else:
        best = -np.inf
        if limits:
            most, where = strongest_broken(fresh, k)
            best, other, row = most - price[BROKEN, k], k, where
        if rival >= 0 and best < limit:
            own = price[OUT_OF_FRONT, k]
            value, better, facet = test_dominated(fresh, price[AS_RIVAL], k, rival, limit + own)
            if value - own > best or other < 0:
                best, other, row = value - own, better, facet
    return best, other, row


@kernel
def margin(fresh: Fresh, guide: Instance, price: Floats, scratch: Scratch, binding: Ints) -> float:
    """The margin, and in `binding` the test that attains it. One arm without limits: infinity, and -1 everywhere.

    `guide` has all outcomes, `fresh` those that count: where the latter show no dominator yet, the guide names it.
    """
    mask, bound = fresh.inst.mask, scratch.bound
    K = mask.size
    last = np.int64(-1)
    if binding[BETTER] >= 0:
        last = binding[WORSE] if binding[KIND] == OUT_OF_FRONT else binding[BETTER]
    binding[:] = -1
    best = np.inf
    if K == 1 and not has_limits(fresh.inst):
        return best
    for k in range(K):
        bound[k], scratch.rival[k] = outlook(fresh, guide, price, np.int64(k), last)
    for _ in range(K):
        low = np.int64(0)
        for k in range(1, K):
            if bound[k] < bound[low]:
                low = np.int64(k)
        if bound[low] >= best:
            break
        bound[low] = np.inf
        value, other, facet = test_arm(fresh, price, low, scratch.rival[low], best)
        if value < best and other >= 0:
            best = value
            binding[BETTER] = low if mask[low] else other
            binding[WORSE] = other if mask[low] else low
            binding[WHERE] = facet
            binding[KIND] = IN_FRONT if mask[low] else OUT_OF_FRONT
    return best


@part
def with_price(goal: float, price: float) -> float:
    """What a test must be for the goal, but for rounding."""
    return goal + price - CLOSE_CALL * (1.0 + abs(goal) + price)


@kernel
def may_reach(fresh: Fresh, price: Floats, binding: Ints, goal: float) -> bool:
    """Can the margin be at least `goal`? No, if the test that bound it last is below: one test in place of all."""
    if binding[BETTER] < 0:
        return True
    inst = fresh.inst
    out = binding[KIND] == OUT_OF_FRONT
    k, other = (binding[WORSE], binding[BETTER]) if out else (binding[BETTER], binding[WORSE])
    limits = has_limits(inst)
    if inst.mask[k]:
        if limits and weakest_met(fresh, k)[0] < with_price(goal, price[ALONE, k]):
            return False
        need = with_price(goal, price[IN_FRONT, k])
        if limits and (other == k or strongest_broken(fresh, other)[0] >= need):
            return True
        for f in range(inst.n_facets):
            if e_value(fresh, k, other, np.int64(f), need, need) >= need:
                return True
        return False
    if limits and strongest_broken(fresh, k)[0] >= with_price(goal, price[BROKEN, k]):
        return True
    if inst.size[0] == 0:
        return False
    need = with_price(goal, price[OUT_OF_FRONT, k])
    rival = other if inst.mask[other] else inst.front[0]
    return test_dominated(fresh, price[AS_RIVAL], k, rival, need)[0] >= need


@kernel
def settle_tests(fresh: Fresh, guide: Instance, price: Floats, scratch: Scratch) -> None:
    """Write every arm's test, less its price, into scratch.bound: the numbers whose least is the margin.

    No goal is given to the tests: a test that stops at `goal + price` comes back as a rounding less than the goal.
    """
    for k in range(fresh.inst.mask.size):
        scratch.bound[k] = np.inf
        if fresh.inst.mask.size > 1 or has_limits(fresh.inst):
            rival = outlook(fresh, guide, price, np.int64(k), np.int64(-1))[1]
            scratch.bound[k] = test_arm(fresh, price, np.int64(k), rival, np.inf)[0]
