"""Shortcuts through numba: the same results, taken only where numba is as it was, and put back afterwards."""

import numpy as np
from numba import njit
from numba.core import ssa
from numba.core.types import functions

from prepex._kernels import compiler, shortcuts


def smallest_and_sum(values, floor):
    """Several assignments, branches, a loop in a loop, and a part that is used twice."""
    best, total = np.inf, 0.0
    for i in range(values.shape[0]):
        row = np.inf
        for j in range(values.shape[1]):
            if part(values[i, j], floor) < row:
                row = part(values[i, j], floor)
            else:
                total += 1.0
        best, total = min(best, row), total + row
    return best, total


@njit(inline="always", **compiler.OPTIONS)
def part(value, floor):
    if value < floor:
        return floor
    return value * value


def compiled(take):
    made = njit(**compiler.OPTIONS)(smallest_and_sum)
    with compiler.alone(), shortcuts.shortcuts() if take else compiler.uncollected():
        made(np.zeros((1, 1)), 0.0)
    return made


def test_the_results_are_the_same():
    rng, quick, usual = np.random.default_rng(0), compiled(True), compiled(False)
    for _ in range(50):
        values = rng.normal(size=rng.integers(1, 6, size=2))
        assert quick(values, 0.1) == usual(values, 0.1) == smallest_and_sum(values, 0.1)


def test_all_that_is_replaced_is_put_back():
    before = [getattr(short.owner, name) for short in shortcuts.every() for name in short.instead]
    with compiler.alone(), shortcuts.shortcuts():
        with shortcuts.shortcuts():  # a kernel that is compiled for another one
            pass
        inside = [getattr(short.owner, name) for short in shortcuts.every() for name in short.instead]
        taken = {name for short in shortcuts.fitting() for name in short.instead}
    names = [name for short in shortcuts.every() for name in short.instead]
    assert [was is not now for was, now in zip(before, inside)] == [name in taken for name in names]
    assert before == [getattr(short.owner, name) for short in shortcuts.every() for name in short.instead]


def test_a_numba_that_has_changed_is_left_alone(monkeypatch):
    def get_call_type(self, context, args, kws):
        """Another one."""

    fits = {short.owner: short.fits for short in shortcuts.every()}
    monkeypatch.setattr(functions.BaseFunction, "get_call_type", get_call_type)
    monkeypatch.delattr(ssa, "_fresh_vars")
    after = {short.owner: short.fits for short in shortcuts.every()}
    assert not after.pop(functions.BaseFunction) and not after.pop(ssa)
    assert all(fits[owner] == found for owner, found in after.items())
