"""Options mixed in shares: which stay optimal, and the mixture that beats the others.

A mixture with shares p beats option i iff it is at least as good on every facet and better on one. So i stays optimal
iff this linear program has the value 0:
    max  t + 1/m sum_f g_f   subject to   D'p = g,   g >= t >= 0,   sum_k p_k = 1,   p >= 0.
Any increasing objective would decide the same; this one, least gain and mean gain, prefers a gain on every facet.
Mixtures of Pareto optimal options are enough: each of the others is beaten by one.

Whether D'p >= 0 has a solution does not change if options and facets are counted in units of their own. The mixture is
found in units of the front's range; where an option far away makes the others look like rounding in these units, each
option's lead is counted in units of itself, and a facet on which a loss looked like rounding in units of that loss.

Legend
    x   the options                                                (K, L)
    D   leads over option i: differences of the facet scores       (K, m)
    T   the terms that they are sums of, in absolute values        (K, m)
    p   shares                                                     (K,)
    g   gains of the mixture over option i, t the least            (m,)
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from prepex._checks import Floats

# Gains, in units of the terms that they are sums of: less than REAL is none, more than ROUNDING below 0 is a loss.
REAL, ROUNDING = 1e-9, 1e-12
# The least range of a facet's scores, in units of the terms that they are sums of.
CANCELLED = 0.01
# How often units are chosen anew; each time some facet's unit becomes smaller by 1e10, the solver's own tolerance.
TRIES = 40


def beating(x: Floats, facets: Floats, front: NDArray[np.bool_], rows: Iterable[int]) -> dict[int, Floats]:
    """Of those of `rows` that some mixture beats, the shares (K,) of the one that gains most. `front`: the Pareto
    optimal rows of x.

    >>> x = np.array([[0.0, 1.0], [1.0, 0.0], [0.4, 0.4], [0.0, 0.4]])
    >>> beating(x, np.eye(2), np.array([True, True, True, False]), [0, 2])
    {2: array([0.5, 0.5, 0. , 0. ])}
    """
    found = {}
    for i in rows:
        shares = np.zeros(len(x))
        ahead, terms = (x - x[i]) @ facets.T, np.abs(x - x[i]) @ np.abs(facets).T
        mixed = _best(ahead[front], terms[front])
        if mixed is not None:
            shares[front] = mixed
        elif not front[i]:
            # Dominated by less than what counts among mixtures: then by an option alone.
            shares[np.argmax(front & np.all(ahead >= 0.0, axis=1))] = 1.0
        else:
            continue
        found[i] = shares
    return found


def _best(ahead: Floats, terms: Floats) -> Floats | None:
    """The shares of the mixture with the leads `ahead` that gains most; None if none gains without a loss."""
    # A range that is rounding, of terms that cancel, is no unit.
    units = _positive(np.maximum(np.ptp(ahead, axis=0), CANCELLED * terms.max(axis=0)))
    shares = _solve(ahead / units)
    if np.any(_gains(shares, ahead, terms)) and not np.any(_losses(shares, ahead, terms)):
        return shares
    units = _positive(terms.max(axis=0))
    for _ in range(TRIES):
        own = _positive((terms / units).max(axis=1))
        weights = _solve(ahead / units / own[:, None]) / own
        lost = _losses(weights, ahead, terms)
        if not np.any(lost):
            return weights / weights.sum() if np.any(_gains(weights, ahead, terms)) else None
        # Below the solver's tolerance, and yet a loss.
        units[lost] = (weights @ terms)[lost]
    return None


def _positive(units: Floats) -> Floats:
    return np.where(units > 0.0, units, 1.0)


def _gains(shares: Floats, ahead: Floats, terms: Floats) -> NDArray[np.bool_]:
    return shares @ ahead > REAL * (shares @ terms)


def _losses(shares: Floats, ahead: Floats, terms: Floats) -> NDArray[np.bool_]:
    return shares @ ahead < -ROUNDING * (shares @ terms)


def _solve(ahead: Floats) -> Floats:
    """The shares of the linear program above; of no mixture if the solver finds none."""
    from scipy.optimize import linprog

    K, m = ahead.shape
    # Unknowns: p, then g - t, then t; all of them at least 0.
    found = linprog(
        -np.concatenate([np.zeros(K), np.full(m, 1.0 / m), [2.0]]),
        A_eq=np.vstack(
            [
                np.hstack([ahead.T, -np.eye(m), -np.ones((m, 1))]),
                np.concatenate([np.ones(K), np.zeros(m + 1)]),
            ]
        ),
        b_eq=np.append(np.zeros(m), 1.0),
        # A corner of the polytope: few shares, exact to rounding.
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        return np.zeros(K)
    shares = np.where(found.x[:K] > ROUNDING, found.x[:K], 0.0)
    return shares / shares.sum()
