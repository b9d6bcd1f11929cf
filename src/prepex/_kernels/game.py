"""A matrix game, exactly: x = argmax over the simplex of min_c sum_r x_r B[r, c].

The column player's programme max sum(y) s.t. B y <= 1, y >= 0 (B made positive by a shift) is solved by the simplex
method on a condensed tableau; the row player's strategy is its dual. A handful of pivots for the few pieces that
bind: a general solver costs a hundred times the round.

Legend
    table    rows r < R and the objective row R; columns c < C and the right-hand side C   (R + 1, C + 1), or more room
    label    who is basic in a row / not basic in a column: r for the slack of row r, R + c for y_c
"""

import numpy as np

from prepex._kernels.instance import Floats, Int, Ints
from prepex._kernels.jit import kernel

MOST_PIVOTS = 200
# Numbers of order one that differ by less are level, and the first counts: no choice is left to rounding.
LEVEL = 1e-12


@kernel
def solve_game(table: Floats, R: Int, C: Int, label: Ints, x: Floats) -> float:
    """Write the optimal mixture of rows into x[:R] and return the game's value. table[:R, :C] holds B."""
    least, most = np.inf, -np.inf
    for r in range(R):
        for c in range(C):
            least, most = min(least, table[r, c]), max(most, table[r, c])
    scale = most - least if most > least else 1.0
    for r in range(R):
        for c in range(C):
            table[r, c] = (table[r, c] - least) / scale + 1.0
        table[r, C] = 1.0
        label[0, r] = r
    for c in range(C):
        table[R, c] = -1.0
        label[1, c] = R + c
    table[R, C] = 0.0
    for _ in range(MOST_PIVOTS):
        q, steepest = -1, 0.0
        for c in range(C):
            if table[R, c] < steepest - LEVEL:
                q, steepest = c, table[R, c]
        if q < 0:
            break
        p, shortest = -1, np.inf
        for r in range(R):
            if table[r, q] > LEVEL and table[r, C] / table[r, q] < shortest - LEVEL:
                p, shortest = r, table[r, C] / table[r, q]
        pivot = table[p, q]
        for r in range(R + 1):
            if r != p:
                share = table[r, q] / pivot
                for c in range(C + 1):
                    if c != q:
                        table[r, c] -= share * table[p, c]
                table[r, q] = -share
        for c in range(C + 1):
            table[p, c] = 1.0 / pivot if c == q else table[p, c] / pivot
        label[0, p], label[1, q] = label[1, q], label[0, p]
    total = table[R, C]
    for r in range(R):
        x[r] = 0.0
    for c in range(C):
        if label[1, c] < R:
            x[label[1, c]] = max(table[R, c], 0.0) / total
    return float((1.0 / total - 1.0) * scale + least)
