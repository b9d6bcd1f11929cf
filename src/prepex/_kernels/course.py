"""A run: pull, update, evidence, next arm. The same kernels serve a live experiment and a simulated run.

`observe` is the only door through which a course changes; `propose` only reads. So a log replays to the same
course, and asking twice gives the same arm.

Legend
    near      ledger at the pull counts N: the evidence that stops
    far       ledger at other weights: the sums of x of FraPPE, the allocation in hand of TnS and PreTS
    M         means                                                              (K, L)
    aim       the allocation that is tracked: fixed, or the rule's latest        (K,)
    target    sum_s x_s of the C-tracking rules                                  (K,)
    pieces    of `far` near its minimum;  table, label, mix: the game over them
    slot      row of an arm in the table, and the arm of a row; every: 0, 1, 2, ...
    cuts      gradients seen by PreTS;  best  its best allocation
    grid, scratch, binding, budget   of the certified margin
    whole     PULLS t, RULE, FOLLOW, CHECK: when the margin is next looked at, READY: seen once
    real      MARGIN, STEEP: max |g| so far (TnS), TOLERANCE (PreTS), SPENT: sum_k log(1 + log N_k),
              GOAL: the least margin of interest, log(1 / delta)
    key       (1,) uint64 of the rule's own randomness
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex._kernels.branch import Pieces, make_pieces
from prepex._kernels.game import solve_game
from prepex._kernels.instance import Floats, Int, Ints, law
from prepex._kernels.jit import kernel, part
from prepex._kernels.ledger import (
    CHANGED,
    DRIFT,
    SIZE,
    STALE,
    UNSEEN,
    VALUE,
    Ledger,
    collect,
    move,
    open_ledger,
    refresh,
)
from prepex._kernels.margin import Grid, Scratch, make_grid, make_scratch, margin, write_grid

PULLS, RULE, FOLLOW, CHECK, READY = 0, 1, 2, 3, 4
MARGIN, STEEP, TOLERANCE, SPENT, GOAL = 0, 1, 2, 3, 4
FIXED, FRAPPE, INFORMATION, TNS, PRETS = 0, 1, 2, 3, 4
FOLLOW_EVIDENCE, FOLLOW_MARGIN, FOLLOW_NOTHING = 0, 1, 2

# Pieces that a game may have, and gradients that a search for an allocation may use.
ROOM, CUTS = 48, 192
# The margin is looked at after every pull at first, then once in such a part of the run: a stop is delayed by no
# more than that. A rule that follows it wants it fresh.
FOLLOWED, WATCHED = 20000, 500
LOG_4 = float(np.log(4.0))


class Course(NamedTuple):
    """Everything about a run."""

    near: Ledger
    far: Ledger
    W: Floats
    prec: Floats
    M: Floats
    aim: Floats
    target: Floats
    pieces: Pieces
    table: Floats
    label: Ints
    mix: Floats
    slot: Ints
    every: Ints
    cuts: Floats
    best: Floats
    grid: Grid
    scratch: Scratch
    binding: Ints
    budget: Floats
    whole: Ints
    real: Floats
    key: NDArray[np.uint64]


def open_course(
    facets: Floats,
    covariances: Floats,
    first: Floats,
    *,
    rule: int,
    follow: int,
    paper: bool,
    aim: Floats,
    tolerance: float,
    goal: float,
    rho: Floats,
    budget: Floats,
    key: int,
) -> Course:
    """A course after the first pull of each arm, whose rewards are `first` (K, L). `observe` arm -1 next."""
    K = first.shape[0]
    half = facets @ np.linalg.cholesky(covariances)
    gram = half @ np.swapaxes(half, 1, 2)
    prec = np.linalg.inv(covariances)
    scores, ones = first @ facets.T, np.ones(K)
    m = len(facets)
    return Course(
        near=open_ledger(gram, scores, ones, paper=paper),
        far=open_ledger(gram, scores, ones, paper=paper),
        W=np.array(facets, order="C"),
        prec=np.ascontiguousarray(0.5 * (prec + np.swapaxes(prec, 1, 2))),
        M=np.array(first, order="C"),
        aim=np.array(aim, order="C"),
        target=np.ones(K),
        pieces=make_pieces(ROOM, max(K, m)),
        table=np.zeros((K + 1, CUTS + 1)),
        label=np.zeros((2, max(K, CUTS) + 1), dtype=np.int64),
        mix=np.zeros(K),
        slot=np.full(2 * K, -1, dtype=np.int64),
        every=np.arange(K),
        cuts=np.zeros((K, CUTS)),
        best=np.zeros(K),
        grid=make_grid(ones, rho),
        scratch=make_scratch(K),
        binding=np.full(3, -1, dtype=np.int64),
        budget=np.array(budget),
        whole=np.array([K, rule, follow, K, 0], dtype=np.int64),
        real=np.array([-np.inf, 0.0, tolerance, 0.0, goal]),
        key=np.array([key], dtype=np.uint64),
    )


@part
def uniform(key: NDArray[np.uint64], t: Int, draw: Int) -> float:
    """The rule's own random number of round t: a hash of (key, t, draw), so that it needs no state (splitmix64)."""
    z = key[0] + np.uint64(t) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(draw) * np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@part
def add_weight(ledger: Ledger, a: Int, more: float) -> None:
    """Arm a weighs more; its mean stays."""
    inst = ledger.inst
    inst.N[a] += more
    own = law(inst.gram, a)
    for f in range(inst.S.shape[1]):
        inst.V[a, f] = inst.gram[own, f, f] / inst.N[a]
    if inst.mask[a] or ledger.whole[CHANGED] == a:
        ledger.whole[STALE] = 1


@part
def put_weights(ledger: Ledger, near: Ledger, weights: Floats) -> None:
    """The means of `near` at these weights: nothing known is kept."""
    inst, other = ledger.inst, near.inst
    K, m = inst.S.shape
    for k in range(K):
        inst.N[k] = weights[k]
        own = law(inst.gram, k)
        for f in range(m):
            inst.S[k, f] = other.S[k, f]
            inst.V[k, f] = inst.gram[own, f, f] / weights[k]
        inst.mask[k] = other.mask[k]
        inst.front[k] = other.front[k]
        ledger.rival[k] = -1
        ledger.load[k, 0] = np.nan
        ledger.gradient[k] = 0.0
    inst.size[0] = other.size[0]
    ledger.real[DRIFT] = 0.0
    whole = ledger.whole
    whole[CHANGED], whole[SIZE], whole[STALE], whole[UNSEEN] = -1, 0, 1, 0


@part
def put_gradient(far: Ledger, pieces: Pieces, row: Int, slot: Ints, table: Floats, c: Int) -> None:
    """Add the gradient of a collected piece to column c, arm a in row slot[a]: q' gram q / (2 N^2)."""
    gram, N, whole, real = far.inst.gram, far.inst.N, pieces.whole, pieces.real
    hub = whole[row, 0]
    for d in range(whole[row, 2]):
        a, f = whole[row, 3 + 2 * d], whole[row, 4 + 2 * d]
        for e in range(whole[row, 2]):
            g = whole[row, 4 + 2 * e]
            product = 0.5 * real[row, 1 + d] * real[row, 1 + e]
            table[slot[hub], c] += product * gram[law(gram, hub), f, g] / (N[hub] * N[hub])
            if whole[row, 3 + 2 * e] == a:
                table[slot[a], c] += product * gram[law(gram, a), f, g] / (N[a] * N[a])


@part
def play_game(course: Course, count: Int) -> None:
    """aim = argmax_x min_h <x - w, h> over the collected pieces. Only the arms that they move can be worth a pull."""
    pieces, table, slot, mix, aim = course.pieces, course.table, course.slot, course.mix, course.aim
    K = aim.size
    total, rows = 0.0, 0
    for k in range(K):
        total += course.far.inst.N[k]
    for c in range(count):
        for d in range(-1, pieces.whole[c, 2]):
            a = pieces.whole[c, 0] if d < 0 else pieces.whole[c, 3 + 2 * d]
            if slot[a] < 0:
                slot[a] = rows
                slot[K + rows] = a
                rows += 1
    for c in range(count):
        for r in range(rows):
            table[r, c] = -pieces.real[c, 0] / total  # <w, h> is the piece's value at w
        put_gradient(course.far, pieces, c, slot, table, c)
    solve_game(table, rows, count, course.label, mix)
    for r in range(rows):
        aim[slot[K + r]] = mix[r]
        slot[slot[K + r]] = -1


@part
def frappe_step(course: Course) -> None:
    """x = argmax_x min_{h in H} <x - w, h>, H the gradients within r_t = t^-0.9 / K of F at w, w t = far's weights."""
    far, aim = course.far, course.aim
    K, t = aim.size, course.whole[PULLS]
    root = np.sqrt(t / K)
    slack = t**0.1 / K  # t r_t: the weights sum to t
    value = refresh(far, slack)
    for k in range(K):
        aim[k] = 0.0
    if root == np.floor(root) or not 0.0 < value < np.inf:
        # Forced exploration at t = K n^2, and while the estimate is on a border.
        for k in range(K):
            aim[k] = 1.0 / K
    else:
        count = collect(far, slack, course.pieces)
        if 0 < count <= ROOM:
            play_game(course, count)
        else:
            # Too many pieces for the table: a plain Frank-Wolfe step on the smallest.
            best = 0
            for k in range(K):
                best = k if far.gradient[k] > far.gradient[best] else best
            aim[best] = 1.0
    for k in range(K):
        if aim[k] > 0.0:
            course.target[k] += aim[k]
            add_weight(far, k, aim[k])


@part
def tns_step(course: Course) -> None:
    """w <- w exp(step g) / sum, g the gradient of F at w, step = sqrt(log K) / (sqrt(1 + t) max |g| so far)."""
    far, aim, real = course.far, course.aim, course.real
    K, t = aim.size, course.whole[PULLS]
    put_weights(far, course.near, aim)
    value = refresh(far, 0.0)
    if 0.0 < value < np.inf:
        for k in range(K):
            real[STEEP] = max(real[STEEP], far.gradient[k])
        step = np.sqrt(np.log(K) / (1.0 + t)) / real[STEEP]
        total = 0.0
        for k in range(K):
            aim[k] *= np.exp(step * far.gradient[k])
            total += aim[k]
        for k in range(K):
            # No weight vanishes for good: a factor could not bring it back.
            aim[k] = max(aim[k] / total, 1e-9)


@part
def prets_step(course: Course) -> None:
    """aim = argmax_w F(w) to the tolerance: cutting planes, asked half way between the best w and their own."""
    far, aim, cuts, table, mix, best = course.far, course.aim, course.cuts, course.table, course.mix, course.best
    K = aim.size
    lower = 0.0
    columns: Int = np.int64(0)
    while columns < CUTS:
        put_weights(far, course.near, aim)
        value = refresh(far, 0.0)
        if not 0.0 < value < np.inf:
            for k in range(K):
                best[k] = 1.0 / K
            break
        if value > lower:
            lower = value
            for k in range(K):
                best[k] = aim[k]
        count = collect(far, 0.1 * value, course.pieces)
        count = max(min(count, ROOM, CUTS - 1 - columns), 0)
        for k in range(K):
            cuts[k, columns] = far.gradient[k]  # the smallest piece is never left out
            for c in range(count):
                cuts[k, columns + 1 + c] = 0.0
        for c in range(count):
            put_gradient(far, course.pieces, c, course.every, cuts, columns + 1 + c)
        columns += 1 + count
        for k in range(K):
            for c in range(columns):
                table[k, c] = cuts[k, c]
        upper = solve_game(table, K, columns, course.label, mix)
        if upper <= lower * (1.0 + course.real[TOLERANCE]):
            break
        for k in range(K):
            aim[k] = max(0.5 * (best[k] + mix[k]), 1e-9)
    for k in range(K):
        aim[k] = best[k]
        course.target[k] += aim[k]


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


def propose_rule(course: Course, pending: Ints, ahead: Int) -> Int:
    """The next arm when `pending` pulls (K,), `ahead` in all, are out and not told yet."""
    near, aim, target, whole = course.near, course.aim, course.target, course.whole
    N, gradient, binding = near.inst.N, near.gradient, course.binding
    K, t, rule = aim.size, whole[PULLS] + ahead, whole[RULE]
    least: Int = np.int64(0)
    for k in range(K):
        if N[k] + pending[k] < N[least] + pending[least]:
            least = np.int64(k)
    fewest = N[least] + pending[least]
    choice, lowest = np.int64(least), np.inf
    if rule == INFORMATION:
        if fewest >= np.sqrt(t / K):
            u = uniform(course.key, whole[PULLS], ahead)
            if whole[FOLLOW] == FOLLOW_MARGIN:
                if binding[0] >= 0:
                    i, j = binding[0], binding[1]
                    choice = i if u * (N[i] + N[j]) < N[j] else j
            elif 0.0 < near.real[VALUE] < np.inf:
                left = u * near.real[VALUE]
                for k in range(K):
                    if gradient[k] > 0.0:
                        choice = np.int64(k)
                        left -= N[k] * gradient[k]
                        if left < 0.0:
                            break
    elif rule != TNS or fewest >= np.sqrt(t) - 0.5 * K:
        for k in range(K):
            behind = N[k] + pending[k] - (t + 1.0) * aim[k]
            if rule == FRAPPE or rule == PRETS:
                behind = N[k] + pending[k] - target[k] - ahead * aim[k]
            if behind < lowest:
                choice, lowest = np.int64(k), behind
    return choice


# A simulation makes these part of its own loop; a live experiment calls them once a pull.
propose = kernel(propose_rule)
observe_stepping = kernel(observe_rule)


def observe(course: Course, a: int, reward: Floats, shift: Floats) -> None:
    """One reward, from Python. The steps of the rules that have one are compiled only if such a rule is used."""
    stepping = course.whole[RULE] in (FRAPPE, TNS, PRETS)
    (observe_stepping if stepping else observe_plain)(course, np.int64(a), reward, shift)
