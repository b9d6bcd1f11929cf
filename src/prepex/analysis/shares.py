"""Means of counts that a table has rounded: 0.3333 of 30 trials is 10 of them.

Where rows are means of yes or no, or of counts, the sum of a row is a whole number. A mean is taken for the one sum
that gives it when it is rounded to the digits it is written with; what fits none, or several, is refused.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prepex._checks import Floats, Ints
from prepex.analysis.roles import Trials
from prepex.errors import InputError
from prepex.family import Bernoulli, Family, Poisson
from prepex.numerals import first_few, number, plural

# A mean in all digits of a float, times the number of trials, is off by less.
EXACT = 1e-9
# Rows that a note names.
MOST = 3


def sums_of(mean: float, n: int, digits: int | None) -> list[int]:
    """Whole numbers that give this mean of n, rounded to so many digits (None: not rounded); one that gives it as it is
    comes alone.

    >>> sums_of(0.3333, 30, 4), sums_of(0.35, 30, 2), sums_of(0.5, 30, 1), sums_of(0.5, 7, 1)
    ([10], [], [15], [])
    """
    near = round(mean * n)
    if abs(mean * n - near) <= EXACT * max(n, near):
        return [near]
    if digits is None:
        return []
    # A half may have been rounded either way, and as a float it is next to itself.
    half = 0.5 * 10.0**-digits * (1.0 + 1e-9) + 1e-12 * abs(mean)
    return list(range(max(math.ceil((mean - half) * n), 0), math.floor((mean + half) * n) + 1))


def whole_sums(trials: Trials, q: int, *, most: int | None = None) -> tuple[Ints, int | None]:
    """(sums of an objective in each row, None), or (those before, the first row that has none or several of them).

    most: of one trial; 1 where they are yes or no."""
    assert trials.sizes is not None
    found: list[int] = []
    for row, (mean, n) in enumerate(zip(trials.values[:, q].tolist(), trials.sizes.tolist(), strict=True)):
        sums = sums_of(mean, n, None if trials.digits is None else int(trials.digits[row, q])) if mean >= 0.0 else []
        if len(sums) != 1 or (most is not None and sums[0] > most * n):
            return np.array(found, dtype=np.int64), row
        found.append(sums[0])
    return np.array(found, dtype=np.int64), None


def are_shares(trials: Trials, q: int) -> bool:
    """Is every row a share of whole numbers?"""
    return whole_sums(trials, q, most=1)[1] is None


def no_share(trials: Trials, q: int, row: int, family: Family | None = None) -> str:
    """Why a row is no mean of whole numbers, with those that are closest to it."""
    assert trials.sizes is not None
    n, mean, name = int(trials.sizes[row]), float(trials.values[row, q]), trials.objectives[q]
    what = "a mean of counts" if isinstance(family, Poisson) else "a share"
    where = trials.places[row] if trials.places else f"row {row}"
    digits = None if trials.digits is None else int(trials.digits[row, q])
    several = sums_of(mean, n, digits) if mean >= 0.0 else []
    top = math.inf if isinstance(family, Poisson) else n
    near = several[:3] or sorted({k for k in (math.floor(mean * n), math.ceil(mean * n)) if 0 <= k <= top})
    listed = " or ".join(f"{number(k / n, 6)} ({k} of {n})" for k in near or ([0] if mean < 0.0 else [n]))
    closest = f"which could be {listed}: give it with more digits" if len(several) > 1 else f"the nearest is {listed}"
    return (
        f"{where}: {name} of {trials.arms[trials.who[row]]!r} must be {what} of {plural(n, 'trial')}, a whole number "
        f"over {n}, got {number(mean, 6)} = {number(mean * n, 6)} of {n}; {closest}"
    )


def as_counted(trials: Trials, families: Sequence[Family]) -> tuple[Trials, list[str]]:
    """The same with means as the counts that they were rounded from, and what to say of it."""
    assert trials.sizes is not None
    values: Floats = trials.values.copy()
    notes = []
    for q, family in enumerate(families):
        if not isinstance(family, Bernoulli | Poisson):
            continue
        sums, bad = whole_sums(trials, q, most=1 if isinstance(family, Bernoulli) else None)
        if bad is not None:
            raise InputError(no_share(trials, q, bad, family))
        values[:, q] = sums / trials.sizes
        off = np.flatnonzero(np.abs(trials.values[:, q] * trials.sizes - sums) > EXACT * np.maximum(trials.sizes, sums))
        if off.size:
            said = [f"{number(trials.values[k, q], 6)} for {sums[k]} of {trials.sizes[k]}" for k in off]
            notes.append(f"Rounded means of {trials.objectives[q]} are taken for counts: {first_few(said, MOST)}.")
    return replace(trials, values=values), notes
