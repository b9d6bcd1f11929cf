"""A reference for means or outcomes, subtracted before facet scores are formed.

What is compared are differences between arms. Far from zero their digits are lost in a score w . M, and kept in
w . (M - c): near c the subtraction is exact (Sterbenz). Plain numpy, so that it needs no compiler.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The middle value is taken unless it costs this many times more digits than 0 does: values of many magnitudes.
COSTLY = 1e3


def reference(rows: Floats) -> Floats:
    """The reference (L,) of rows (K, L): in every column one of its values, the (lower) middle one, or 0.

    0 where the column has differences so small that they are seen from 0 only.

    >>> reference(np.array([[1e8, 3.0], [1e8 + 1.0, 1.0], [1e8 + 2.0, 2.0]]))
    array([1.00000001e+08, 2.00000000e+00])
    >>> reference(np.array([[1e-20], [2e-20], [1.0], [2.0], [3.0]]))
    array([0.])
    """
    ordered = np.sort(rows, axis=0)
    found = np.zeros(rows.shape[1])
    for q, column in enumerate(ordered.T):
        middle = float(column[(len(column) - 1) // 2])
        cost = _digits(column, middle)
        if cost <= COSTLY * _digits(column, 0.0) and np.isfinite(cost):
            found[q] = middle
    return found


def _digits(column: Floats, centre: float) -> float:
    """The largest size of two neighbours, seen from the centre, in units of their difference."""
    with np.errstate(over="ignore"):
        size, gap = np.abs(column - centre), np.diff(column)
        apart = gap > 0.0
        return float(np.max((size[1:] + size[:-1])[apart] / gap[apart], initial=0.0))


def facet_scores(rows: Floats, facets: Floats) -> Floats:
    """rows W' (K, m), term by term as the kernels sum it: equal rows have equal scores, bit for bit.

    A matrix product of BLAS may round one of two equal rows up and the other down.
    """
    total = np.zeros((len(rows), len(facets)))
    for q in range(rows.shape[1]):
        total += rows[:, q : q + 1] * facets[:, q]
    return total
