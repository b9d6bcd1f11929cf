"""The matrix game against linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog

from prepex._kernels.game import solve_game


@pytest.mark.parametrize("rounded", [False, True], ids=["generic", "ties"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_random_games(rounded, scale):
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows, columns = rng.integers(1, 10, 2)
        payoff = rng.normal(size=(rows, columns))
        if rounded:
            payoff = np.round(payoff)
        table = np.zeros((rows + 3, columns + 2))
        table[:rows, :columns] = scale * payoff
        mix = np.zeros(rows + 2)
        value = solve_game(table, rows, columns, np.zeros((2, 20), dtype=np.int64), mix) / scale
        mixture = mix[:rows]
        assert mixture.min() >= 0 and mixture.sum() == pytest.approx(1.0, abs=1e-12)
        answer = linprog(
            np.append(np.zeros(rows), -1.0),
            A_ub=np.hstack([-payoff.T, np.ones((columns, 1))]),
            b_ub=np.zeros(columns),
            A_eq=np.append(np.ones(rows), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * rows + [(None, None)],
        )
        assert value == pytest.approx(-answer.fun, abs=1e-7)
        assert (mixture @ payoff).min() == pytest.approx(value, abs=1e-9)
