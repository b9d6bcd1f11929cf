"""FraPPE: one Frank-Wolfe step a pull, on the pieces within r_t; then C-tracking."""

import math

import numpy as np

from prepex._kernels.course import PULLS, ROOM, Course
from prepex._kernels.game import solve_game
from prepex._kernels.instance import Int
from prepex._kernels.jit import part
from prepex._kernels.ledger import add_weight, collect, put_gradient, refresh


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
