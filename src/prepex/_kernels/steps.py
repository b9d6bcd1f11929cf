"""The steps of the rules that have one, after every pull: FraPPE, TnS, accelerated PreTS.

Each leaves its allocation in `aim` and, if it is C-tracked, adds it to `target`.
"""

import math

import numpy as np

from prepex._kernels.course import CUTS, PULLS, ROOM, STEEP, TOLERANCE, Course
from prepex._kernels.game import solve_game
from prepex._kernels.instance import Int
from prepex._kernels.jit import part
from prepex._kernels.ledger import add_weight, collect, put_gradient, put_weights, refresh


@part
def play_game(course: Course, count: Int) -> None:
    """aim = argmax_x min_h <x - w, h> over the collected pieces. Only the arms that they move can be worth a pull."""
    pieces, table, slot, mix, aim = course.pieces, course.table, course.slot, course.mix, course.aim
    K = aim.size
    total, rows = 0.0, np.int64(0)
    for k in range(K):
        total += course.far.inst.N[k]
    for c in range(count):
        for d in range(-1, pieces.whole[c, 2]):
            a = pieces.whole[c, 0] if d < 0 else pieces.whole[c, 3 + 2 * d]
            if a < K and slot[a] < 0:
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
    slack = math.pow(t, 0.1) / K  # t r_t: the weights sum to t
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
