"""The arrays that kernels work in, which never allocate: stars, the search over facet choices, collected pieces.

Legend, per constraint (a row of Star)
    ARM, FACET   the arm a and the facet w; of a limit c that the hub must meet, K + c and its row
    GAP          b_c
    RATE         N_a / (w' cov_a w): the arm's stiffness; infinite of a limit
    Y            the multiplier;  TRIAL  its value if no sign mattered
    OLD, LEFT    y before a Newton step, and the slope of the dual (laws only)
Legend, per facet (a row of Desk.vec)
    HUB          w . (M'_j - M_j) at the current node: never a difference of large numbers
    SHIFT        w . (M'_j - M_j) = (gram_j q)_w / N_j, q the multipliers summed by row
    LOAD         q;  STIFF  sum of RATE over the active arms held to the facet (0: none)
    BASE         GAP of the stiffest of them;  LAG  the mean of GAP - BASE, weighted by RATE
"""

from typing import Any, NamedTuple

import numpy as np

from prepex._kernels.instance import Bools, Floats, Int, Ints
from prepex._kernels.jit import part

ARM, FACET = 0, 1
GAP, RATE, Y, TRIAL, OLD, LEFT, COLUMNS = 0, 1, 2, 3, 4, 5, 6
HUB, SHIFT, LOAD, STIFF, BASE, LAG = 0, 1, 2, 3, 4, 5
# In place of a facet: the star is as dear as this arm's cap.
CAPPED = -1
# Of a ledger (ledger.py): its reals, and its whole numbers.
VALUE, DRIFT = 0, 1
CHANGED, CENTRE, SIZE, STALE, ROUND, UNSEEN, PAPER, MOVED = 0, 1, 2, 3, 4, 5, 6, 7
# In place of an arm: none has moved; several have, or nobody knows.
NONE, SEVERAL = -1, -2
# Of a level of the search.
START, CURSOR = 0, 1
# An option is three numbers on a stack.
PLACE, WAY, LEAST, OPTION = 0, 1, 2, 3
# Multipliers are saved down to this level; below it a node starts again from none, slower but as exact.
SAVED_LEVELS = 64


class Star(NamedTuple):
    """Constraints, one a row: (ARM, FACET), and GAP to LEFT."""

    link: Ints
    real: Floats


class Desk(NamedTuple):
    """Scratch space over the rows: Q, the system of the active ones, and the vectors HUB to LAG."""

    quad: Floats
    system: Floats
    vec: Floats


class Lab(NamedTuple):
    """Scratch space of the closest point when objectives have laws.

    gram      of the Gaussian around the current point                                         (m, m)
    x, soft   where the arms of the constraints are, and 1 / d'' there; last row: the hub      (n + 1, L)
    load      sum_c y_c w_c                                                                    (L,)
    point     scratch for one arm                                                              (L,)
    """

    gram: Floats
    x: Floats
    soft: Floats
    load: Floats
    point: Floats


class Search(NamedTuple):
    """Scratch space of the search.

    star, leaf   the node's constraints, and the best leaf's
    option       stack of (PLACE in the front, WAY: a facet, LEAST: its lower bound), dearest first within a level
    saved        multipliers of the nodes on the path                      (SAVED_LEVELS, SAVED_LEVELS + limits)
    level        START: where a level's options begin; CURSOR: those from here on are done     (2, K + 2)
    taken        is the p-th arm of the front in the node's star?                              (K,)
    forbidden    facets that the p-th arm of the front may not use (collecting only)           (K, m)
    """

    star: Star
    leaf: Star
    desk: Desk
    lab: Lab
    option: Floats
    saved: Floats
    level: Ints
    taken: Bools
    forbidden: Bools


class Pieces(NamedTuple):
    """Collected stars, one a row of each: (hub, arm whose status changes, number of constraints, then arm and
    facet of each), and (value, then the multiplier of each)."""

    whole: Ints
    real: Floats


def make_star(n: int) -> Star:
    """Room for n constraints."""
    return Star(np.zeros((n, 2), np.int64), np.zeros((n, COLUMNS)))


def most_constraints(K: int, m: int, limits: int) -> int:
    """Of a star: Remove has every row at most, Add an arm each and the limits."""
    return max(K + limits, m)


def make_search(K: int, m: int, L: int = 1, spare: int = 256, limits: int = 0) -> Search:
    """Room for stars of K arms and m rows, some of them limits. Minimising needs no spare options; collecting may."""
    n, levels = most_constraints(K, m, limits) + 1, min(K, SAVED_LEVELS) + 1
    return Search(
        star=make_star(n),
        leaf=make_star(n),
        desk=Desk(np.zeros((m, m)), np.zeros((m, m)), np.zeros((6, m))),
        lab=Lab(np.zeros((m, m)), np.zeros((n + 1, L)), np.zeros((n + 1, L)), np.zeros(L), np.zeros(L)),
        option=np.zeros(((K + 1) * m + spare) * OPTION),
        saved=np.zeros((levels, levels + limits)),
        level=np.zeros((2, K + 2), np.int64),
        taken=np.zeros(K, np.bool_),
        forbidden=np.zeros((K, m), np.bool_),
    )


def make_pieces(capacity: int, width: int) -> Pieces:
    """Room for `capacity` stars of `width` constraints; with none, a search minimises."""
    return Pieces(np.zeros((capacity, 3 + 2 * width), np.int64), np.zeros((capacity, 1 + width)))


@part
def keep_star(star: Star, n: Int, leaf: Star) -> Int:
    """Copy the constraints that hold the star (Y > 0) into leaf; returns how many."""
    kept = 0
    for c in range(n):
        if star.real[c, Y] > 0.0:
            leaf.link[kept, ARM] = star.link[c, ARM]
            leaf.link[kept, FACET] = star.link[c, FACET]
            leaf.real[kept, Y] = star.real[c, Y]
            kept += 1
    return kept


@part
def restore(s: Search, d: Int, n: Int) -> None:
    """The n multipliers of the node at level d."""
    for c in range(n):
        s.star.real[c, Y] = s.saved[d, c] if d < s.saved.shape[0] else 0.0


@part
def note_move(ledger: Any, a: Int) -> None:
    """Arm a has another mean."""
    whole = ledger.whole
    whole[MOVED] = a if whole[MOVED] == NONE or whole[MOVED] == a else SEVERAL
    touch(ledger, a)


@part
def come_near(ledger: Any, i: Int, a: Int, near: float) -> None:
    """Arm a, which has moved, may beat i of the answer from `near` on."""
    ledger.key[i] = min(ledger.key[i], near)
    if ledger.rival[i] != a:
        ledger.rest[i] = min(ledger.rest[i], near)


@part
def touch(ledger: Any, a: Int) -> None:
    """Arm a is another: the star that attains Z must be solved again if it may be one of it."""
    whole = ledger.whole
    if ledger.inst.mask[a] or whole[CHANGED] == a or whole[CENTRE] == a:
        whole[STALE] = 1


@part
def first_of(star: Star, hub: Int, c: Int) -> bool:
    """Is the arm of constraint c (-1: the hub) not one before it?"""
    first = True
    for d in range(-1, c):
        first = first and star.link[c, ARM] != (hub if d < 0 else star.link[d, ARM])
    return first


@part
def record(pieces: Pieces, count: Int, hub: Int, changed: Int, value: float, leaf: Star, n: Int) -> Int:
    """Put the star in unless it is there already; in a full table in place of the dearest. Returns the new count."""
    link, whole, real = leaf.link, pieces.whole, pieces.real
    known = False
    for r in range(count):
        same = whole[r, 0] == hub and whole[r, 1] == changed and whole[r, 2] == n
        if same and abs(real[r, 0] - value) <= 1e-10 * value:
            found = 0
            for c in range(n):
                for d in range(n):
                    if whole[r, 3 + 2 * c] == link[d, ARM] and whole[r, 4 + 2 * c] == link[d, FACET]:
                        found += 1
            known = known or found == n
    row = count
    if count == real.shape[0]:
        row = dearest(pieces)
        known = known or value >= real[row, 0]
    if not known:
        whole[row, 0] = hub
        whole[row, 1] = changed
        whole[row, 2] = n
        real[row, 0] = value
        for c in range(n):
            whole[row, 3 + 2 * c] = link[c, ARM]
            whole[row, 4 + 2 * c] = link[c, FACET]
            real[row, 1 + c] = leaf.real[c, Y]
        count = max(count, row + 1)
    return count


@part
def dearest(pieces: Pieces) -> Int:
    """The row of the dearest star of a full table, the last of several."""
    row: Int = np.int64(0)
    for r in range(pieces.real.shape[0]):
        if pieces.real[r, 0] >= pieces.real[row, 0]:
            row = np.int64(r)
    return row


@part
def lowered(pieces: Pieces, count: Int, limit: float) -> float:
    """The value below which a star is wanted: the limit, or in a full table the dearest one's."""
    return min(limit, pieces.real[dearest(pieces), 0]) if count == pieces.real.shape[0] else limit
