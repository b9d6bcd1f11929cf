"""Options mixed in shares: which stay optimal, and the mixture that beats the others.

A mixture with shares p beats option i iff it is at least as good on every facet and better on one. So i stays optimal
iff this linear program has the value 0:
    max  t + 1/m sum_f g_f   subject to   S'p - g = S_i,   g >= t >= 0,   sum_k p_k = 1,   p >= 0.
Any increasing objective would decide the same; this one, least gain and mean gain, prefers a gain on every facet.
Mixtures of Pareto optimal options are enough: each of the others is beaten by one.

Legend
    x   the options, from a reference in their midst               (K, L)
    S   facet scores, each facet in units of the front's range     (K, m)
    p   shares                                                     (K,)
    g   gains of the mixture over option i, t the least            (m,)
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from prepex._checks import Floats
from prepex._kernels.centre import facet_scores

# Gains, in units of the front's range on a facet: less than REAL is none, and more than ROUNDING below 0 is a loss.
REAL, ROUNDING = 1e-9, 1e-12
# The least range of a facet's scores, in units of the terms that they are sums of.
CANCELLED = 0.01


def beating(x: Floats, facets: Floats, front: NDArray[np.bool_], rows: Iterable[int]) -> dict[int, Floats]:
    """Of those of `rows` that some mixture beats, the shares (K,) of the one that gains most. `front`: the Pareto
    optimal rows of x.

    >>> x = np.array([[0.0, 1.0], [1.0, 0.0], [0.4, 0.4], [0.0, 0.4]])
    >>> beating(x, np.eye(2), np.array([True, True, True, False]), [0, 2])
    {2: array([0.5, 0.5, 0. , 0. ])}
    """
    scores = facet_scores(x, facets)
    low = scores[front].min(axis=0)
    # A range that is rounding, of terms that cancel, is no unit.
    size = np.maximum(scores[front].max(axis=0) - low, CANCELLED * (np.abs(x) @ np.abs(facets).T).max(axis=0))
    scaled = (scores - low) / np.where(size > 0.0, size, 1.0)
    found = {}
    for i in rows:
        shares = np.zeros(len(scores))
        mixed = _best(scaled[front], scaled[i])
        if mixed is not None:
            shares[front] = mixed
        elif not front[i]:
            # Dominated by less than what counts among mixtures: then by an option alone.
            shares[np.argmax(front & np.all(scores >= scores[i], axis=1))] = 1.0
        else:
            continue
        found[i] = shares
    return found


def _best(scores: Floats, row: Floats) -> Floats | None:
    """The shares of the mixture of `scores` that gains most over `row` (m,); None if none beats it."""
    from scipy.optimize import linprog

    K, m = scores.shape
    # Unknowns: p, then g - t, then t; all of them at least 0.
    found = linprog(
        -np.concatenate([np.zeros(K), np.full(m, 1.0 / m), [2.0]]),
        A_eq=np.vstack(
            [
                np.hstack([scores.T, -np.eye(m), -np.ones((m, 1))]),
                np.concatenate([np.ones(K), np.zeros(m + 1)]),
            ]
        ),
        b_eq=np.append(row, 1.0),
        # A corner of the polytope: few shares, exact to rounding.
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        return None
    shares = np.where(found.x[:K] > ROUNDING, found.x[:K], 0.0)
    shares /= shares.sum()
    gain = shares @ scores - row
    return shares if gain.min() >= -ROUNDING and gain.max() > REAL else None
