"""Accelerated PreTS: the optimal allocation of the present means after every pull; then C-tracking."""

import numpy as np

from prepex._kernels.course import CUTS, ROOM, TOLERANCE, Course
from prepex._kernels.game import solve_game
from prepex._kernels.instance import Int
from prepex._kernels.jit import part
from prepex._kernels.ledger import collect, put_gradient, put_weights, refresh


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
