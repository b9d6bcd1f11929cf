"""The threshold `posterior`, for check.py: for Gaussians of known covariance the bound of docs/posterior.md by
definition, for other laws the probability of a wrong answer by draws of this check's own.

Legend
    S, V    posterior means and variances of scores, facets then limits     (K, m)
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.study.check_facts import Design, Facts

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Document = Mapping[str, Any]
# Draws, and comparisons of two arms that they may take.
DRAWS, MOST = 20_000, 200_000_000


def bound(design: Design, facts: Facts, front: Bools, prior: Document | None) -> float:
    """Of the posterior probability that `front` is wrong: known covariance."""
    S, V = scores(design, facts, prior)
    m, K, s = design.n_facets, len(S), design.slack
    meets = np.min(tails(-S[:, m:], V[:, m:], False), axis=1, initial=1.0)
    breaks = np.sum(tails(S[:, m:], V[:, m:], True), axis=1)
    total = float(breaks[front].sum())
    for i in range(K):
        spread = V[i] + V
        if front[i]:
            beaten = np.min(tails((S[i] - S + s)[:, :m], spread[:, :m], False), axis=1)
            level = ~s[:m].any() & np.all((spread == 0.0) & (S[i] == S), axis=1, where=np.arange(S.shape[1]) < m)
            beaten = np.where(level, 0.0, np.minimum(beaten, meets))
            total += float(np.delete(beaten, i).sum())
        else:
            left = tails((S - S[i] + s)[:, :m], spread[:, :m], True).sum(axis=1)
            total += float(min(meets[i], np.min(left[front], initial=np.inf)))
    return total


def tails(gap: Floats, spread: Floats, level: bool) -> Floats:
    """That what looks `gap` above 0 is not. Without noise it is or is not; 0 counts as above if `level`."""
    found = np.zeros(gap.shape)
    for at in np.ndindex(*gap.shape):
        if spread[at] > 0.0:
            found[at] = 0.5 * math.erfc(gap[at] / math.sqrt(2.0 * spread[at]))
        else:
            found[at] = 0.0 if gap[at] > 0.0 or (level and gap[at] == 0.0) else 1.0
    return found


def scores(design: Design, facts: Facts, prior: Document | None) -> tuple[Floats, Floats]:
    """(S, V): precisions of prior and outcomes add."""
    n, x, W = facts.whole.n, facts.whole.mean, design.W
    S, V = np.zeros((len(n), len(W))), np.zeros((len(n), len(W)))
    own, centre = np.zeros(design.covariance.shape[1:]), np.zeros(x.shape[1])
    if prior is not None:
        centre = np.array(prior["mean"], dtype=float) - facts.origin
        if prior["covariance"] is not None:
            own = np.linalg.inv(np.array(prior["covariance"], dtype=float))
        else:
            own = np.diag([0.0 if spread is None else spread**-2 for spread in prior["spread"]])
    for k, cov in enumerate(design.covariance):
        noisy = np.flatnonzero(np.diagonal(cov) > 0.0)
        inner, mean, spread = np.ix_(noisy, noisy), x[k].copy(), np.zeros_like(cov)
        if noisy.size:
            outcomes = n[k] * np.linalg.inv(cov[inner])
            spread[inner] = np.linalg.inv(outcomes + own[inner])
            mean[noisy] -= spread[inner] @ own[inner] @ (x[k] - centre)[noisy]
        S[k], V[k] = W @ mean, np.einsum("fp,pq,fq->f", W, spread, W)
    return S - design.levels(facts.origin), V


def drawn(design: Design, facts: Facts, front: Bools, prior: Document | None) -> tuple[float, float] | None:
    """(share of draws for which `front` is wrong, its standard error); None if the posterior is no distribution."""
    K, m, s = len(front), design.n_facets, design.slack
    n = max(200, min(DRAWS, MOST // (K * K * m)))
    rng = np.random.default_rng(0)
    means = [_objective(design, facts, q, prior, rng, n) for q in range(len(design.objectives))]
    if any(part is None for part in means):
        return None
    S = np.stack([part for part in means if part is not None], axis=2) @ design.W.T - design.levels(facts.origin)
    able, wrong = np.all(S[:, :, m:] >= 0.0, axis=2), np.zeros(n, dtype=bool)
    for i in range(K):
        ahead = S[:, :, :m] - S[:, [i], :m]
        if front[i]:
            beats = np.all(ahead >= s[:m], axis=2) & np.any(ahead > 0.0, axis=2) & able
            beats[:, i] = False
            wrong |= beats.any(axis=1) | ~able[:, i]
        else:
            matched = np.all(ahead[:, front] >= -s[:m], axis=2)
            if not s[:m].any():
                matched &= np.any(ahead[:, front] > 0.0, axis=2)
            wrong |= able[:, i] & ~matched.any(axis=1)
    share = float(wrong.mean())
    return share, math.sqrt(max(share, 1.0 / n) / n)


def _objective(
    design: Design, facts: Facts, q: int, prior: Document | None, rng: np.random.Generator, n: int
) -> Floats | None:
    """Means (n, K) of an objective, less the origin, from its posterior."""
    assert design.laws is not None
    (law, var), N, x = design.laws[q], facts.whole.n, facts.whole.mean[:, q]
    K = N.size
    mean, spread = (0.0, None) if prior is None else (float(prior["mean"][q]), prior["spread"][q])
    # Nothing known of an objective: an infinite spread.
    flat, wide = spread is None, math.inf if spread is None else float(spread)
    if law == "exact":
        return np.broadcast_to(x, (n, K))
    if law == "bernoulli":
        size = 2.0 if flat else mean * (1.0 - mean) / wide**2 - 1.0
        a, b = (1.0, 1.0) if flat else (mean * size, (1.0 - mean) * size)
        return rng.beta(a + N * x, b + N * (1.0 - x), (n, K))
    if law == "poisson":
        a, b = (1.0, 0.0) if flat else (mean**2 / wide**2, mean / wide**2)
        return np.asarray(rng.gamma(a + N * x, 1.0, (n, K)) / (b + N))
    if law == "exponential":
        a = 0.0 if flat else 2.0 + (mean / wide) ** 2
        return np.asarray((N * x + (0.0 if flat else mean * (a - 1.0))) / rng.gamma(a + N, 1.0, (n, K)))
    away = x - ((math.log(mean) if design.logs[q] and not flat else mean) - facts.origin[q])
    if law == "gaussian":
        c = var / wide**2
        return np.asarray(x - c / (c + N) * away + np.sqrt(var / (c + N)) * rng.standard_normal((n, K)))
    noise, weight = (0.0, 0.0) if flat or prior is None else (float(prior["noise"][q]), float(prior["weight"]))
    c = (noise / wide) ** 2
    square = facts.whole.square[:, q] + c * N / (c + N) * away**2
    free, total = N - 1.0 if flat else N + weight, square + weight * noise**2
    if law == "shared":
        pooled = N.sum() - K if flat else N.sum() + weight
        free, total = np.array([pooled]), np.array([square.sum() + weight * noise**2])
    if not (np.all(free > 0.0) and np.all(total > 0.0)):
        return None
    variance = total / rng.chisquare(free, (n, free.size))
    return np.asarray(x - c / (c + N) * away + np.sqrt(variance / (c + N)) * rng.standard_normal((n, K)))
