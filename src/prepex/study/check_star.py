"""Steps to the closest point of a star, for check_evidence.py: how soft a mean is, and the best step in a local one."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# A mean of 0 or 1 does not move until it is pushed hard: how soft it is taken to be, that a step may know where to go;
# and in steps that come late, which this may have made short.
STUCK, LATE_STUCK = 1e-6, 1e-18
# Stands for a Poisson mean of 0 in a tilt, as the dual has no maximum there.
NEVER = 1e-9
# Constraints of which all sets are tried.
FEW = 6


def softness(law: str, mu: float, x: float, var: float, stuck: float = STUCK) -> float:
    """1 / d''(x)."""
    if law == "exact":
        return 0.0
    if law == "gaussian":
        return var
    if law == "bernoulli":
        bend = (mu / (x * x) if mu > 0 and x > 0 else 0.0) + ((1 - mu) / (1 - x) ** 2 if mu < 1 and x < 1 else 0.0)
        return 1.0 / bend if bend > 0 and 0 < x < 1 else stuck
    if law == "poisson":
        return x * x / max(mu, NEVER)
    if law == "exponential":
        return x**3 / (2.0 * mu - x) if 2.0 * mu - x > 1e-9 * mu else STUCK * mu * mu
    square = (x - mu) ** 2
    return (var + square) ** 2 / (var - square) if var - square > 1e-9 * var else STUCK * var


def solvable(rows: Floats, lacks: Floats) -> bool:
    """Is there an x with rows x >= lacks?"""
    from scipy.optimize import linprog

    size = np.maximum(np.abs(rows).max(axis=1), 1e-300)
    unit = max(float(np.abs(lacks / size).max()), 1e-300)
    bounds = [(None, None)] * rows.shape[1]
    found = linprog(np.zeros(rows.shape[1]), -rows / size[:, None], -lacks / size / unit, bounds=bounds)
    return bool(found.status == 0)


def nonnegative(Q: Floats, b: Floats) -> Floats:
    """argmax_{y >= 0} b . y - y'Qy / 2, by Lawson and Hanson's active set."""
    y, use = np.zeros(b.size), np.zeros(b.size, dtype=bool)
    if not b.size:
        return y
    for _ in range(10 * b.size + 10):
        slope = np.where(use, -np.inf, b - Q @ y)
        new = int(slope.argmax())
        if not slope[new] > 1e-13 * (abs(b[new]) + np.abs(Q[new] * y).sum()):
            break
        use[new] = True
        while use.any():
            trial = np.zeros(b.size)
            trial[use] = np.linalg.lstsq(Q[np.ix_(use, use)], b[use], rcond=None)[0]
            if trial[use].min() > 0:
                y = trial
                break
            bad = use & (trial <= 0)
            share = float((y[bad] / np.maximum(y[bad] - trial[bad], 1e-300)).min())
            y = y + share * (trial - y)
            use &= ~(bad & (y <= 1e-15 * (1.0 + np.abs(y).max())))
            if share == 0.0 and not use[new]:
                return _ascended(Q, b, y)
            y[~use] = 0.0
    return _ascended(Q, b, y)


def _ascended(Q: Floats, b: Floats, y: Floats) -> Floats:
    """The same, coordinate by coordinate: where constraints depend on each other an active set may end too early."""
    if _steep(Q, b, y) and b.size <= FEW:
        # All sets at once: coordinate by coordinate takes for ever where some directions hardly bend.
        y = max((y, *_on_all_sets(Q, b)), key=lambda point: float(b @ point - 0.5 * point @ Q @ point))
    size = np.diag(Q)
    for _ in range(20_000 if b.size > FEW else 100):
        if not _steep(Q, b, y):
            break
        for k in np.flatnonzero(size > 0):
            y[k] = max(y[k] + (b[k] - Q[k] @ y) / size[k], 0.0)
    return y


def _steep(Q: Floats, b: Floats, y: Floats) -> bool:
    """Does it still rise?"""
    slope = b - Q @ y
    return bool(np.any(np.where(y > 0, np.abs(slope), slope) > 1e-12 * (np.abs(b) + np.abs(Q) @ y)))


def _on_all_sets(Q: Floats, b: Floats) -> list[Floats]:
    """Where the slope is zero on some coordinates and the others are zero, if nothing is negative."""
    found, root = [], np.sqrt(np.maximum(np.diag(Q), 1e-300))
    for chosen in range(1, 2**b.size):
        use = np.flatnonzero([chosen >> k & 1 for k in range(b.size)])
        scaled = Q[np.ix_(use, use)] / np.outer(root[use], root[use])
        y = np.zeros(b.size)
        y[use] = np.linalg.lstsq(scaled, b[use] / root[use], rcond=0.0)[0] / root[use]
        if np.all(y >= 0) and np.all(np.isfinite(y)):
            found.append(y)
    return found
