"""Slow, obvious definitions of the certified margin: every pair, every facet, scipy's minimiser."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import erfcx, log_ndtr, logsumexp


def log_half_normal(z):
    """log 2 Phi(z) + z^2 / 2; by erfcx below 0, where the two terms cancel."""
    return np.where(z < 0, np.log(erfcx(np.maximum(-z, 0) / np.sqrt(2))), np.log(2) + log_ndtr(z) + z**2 / 2)


def log_mixture(u, count, variance, rho):
    """A(u; rho): log of the likelihood ratio, mixed over a half-normal tilt, of `count` values with mean excess u."""
    z = count * u / np.sqrt(variance * (count + rho))
    return log_half_normal(z) + 0.5 * np.log(rho / (count + rho))


def log_mean(x, xs, counts, variances, rhos):
    """The function of x whose minimum is e."""
    x = np.expand_dims(x, -1)
    up = log_mixture(xs[0] - x, counts[0], variances[0], rhos)
    down = log_mixture(x - xs[1], counts[1], variances[1], rhos)
    return logsumexp(up + down, axis=-1) - np.log(len(rhos))


def e_value(xs, counts, variances, rhos):
    """e(i over j) for arms i, j = 0, 1 of xs, counts, variances."""
    if xs[0] <= xs[1]:
        return -np.inf
    wide = 3 * max(np.sqrt(variances[k] * (counts[k] + max(rhos))) / counts[k] for k in range(2))
    # The origin at x_i, so that a tiny gap keeps its digits.
    gap = xs[0] - xs[1]

    def value(x):
        return log_mean(x, (0.0, -gap), counts, variances, rhos)

    # The function is convex: the neighbours of a lattice's best point enclose the minimum.
    low, high = -gap - wide, wide
    for _ in range(4):
        points = np.linspace(low, high, 101)
        best = int(np.argmin(value(points)))
        low, high = points[max(best - 2, 0)], points[min(best + 2, 100)]
    found = minimize_scalar(value, bounds=(low, high), method="bounded", options={"xatol": 1e-12 * (high - low)})
    return float(min(found.fun, value(points).min()))


def pareto(scores):
    return [
        i
        for i in range(len(scores))
        if not any((scores[j] >= scores[i]).all() and (scores[j] > scores[i]).any() for j in range(len(scores)))
    ]


def margin(scores, counts, variances, rhos, price):
    """(margin, (better, worse, facet)); variances (K, m) are those of one reward's facet scores."""
    K, m = scores.shape
    front = pareto(scores)

    def e(i, j, f):
        return e_value(scores[[i, j], f], counts[[i, j]], variances[[i, j], f], rhos)

    tests = []
    for i in range(K):
        if i in front:
            rows = [max((e(i, j, f), (i, j, f)) for f in range(m)) for j in range(K) if j != i]
            value, test = min(rows)
            tests.append((value - price[0][i], test))
        else:
            rows = [min((e(j, i, f) - price[2][j], (j, i, f)) for f in range(m)) for j in front]
            value, test = max(rows)
            tests.append((value - price[1][i], test))
    return min(tests)


def shares(scores, counts, variances):
    """(share of each arm, part of each rival) that a pilot with these statistics gives."""
    K = len(scores)
    front = pareto(scores)

    def ratio(i, j):
        gap = np.maximum(scores[i] - scores[j], 0)
        return gap**2 / (2 * (variances[i] / counts[i] + variances[j] / counts[j]))

    doubt = np.array(
        [
            np.exp(-2 * min(300.0, *(ratio(i, j).max() for j in range(K) if j != i)))
            if i in front
            else np.exp(-2 * min(300.0, max(ratio(j, i).min() for j in front)))
            for i in range(K)
        ]
    )
    rival = np.where(np.isin(np.arange(K), front), 1.0, doubt)
    return 0.9 * doubt / doubt.sum() + 0.1 / K, 0.9 * rival / rival.sum() + 0.1 / K


def lone_e(x, count, variance, rhos):
    """e of "the score is above 0" for a mean x of `count` values; of "below 0" if x is negative."""
    return -np.inf if x == 0 else float(logsumexp(log_mixture(abs(x), count, variance, rhos)) - np.log(len(rhos)))


def statuses_with_limits(scores, n_facets):
    """The Pareto set of the arms whose scores of the limits, after those of the facets, are at least 0."""
    feasible = [k for k in range(len(scores)) if (scores[k, n_facets:] >= 0).all()]
    front = pareto(scores[feasible, :n_facets])
    return [feasible[k] for k in front]


def tests_with_limits(front, e, meets, breaks, m, price):
    """Every arm's test as (value, (better, worse, row)); e(i, j, f), meets(k) and breaks(k): [(e, row), ...]."""
    K, tests = len(price[0]), []
    for i in range(K):
        if i in front:
            own = [(value - price[3][i], (i, i, row)) for value, row in meets(i)]
            for j in range(K):
                if j != i:
                    reasons = [(e(i, j, f), f) for f in range(m)] + breaks(j)
                    value, row = max(reasons)
                    own.append((value - price[0][i], (i, j, row)))
            tests.append(min(own))
        else:
            own = [(value - price[4][i], (i, i, row)) for value, row in breaks(i)]
            for j in front:
                value, row = min([(e(j, i, f), f) for f in range(m)] + meets(j))
                own.append((value - price[2][j] - price[1][i], (j, i, row)))
            tests.append(max(own))
    return tests


def margin_with_limits(scores, counts, variances, rhos, price, n_facets, slack):
    """Every arm's test of known Gaussians, with limits in the columns after the facets."""

    def e(i, j, f):
        xs = (scores[i, f] + slack[f], scores[j, f])
        return e_value(xs, counts[[i, j]], variances[[i, j], f], rhos)

    def lone(k, side):
        rows = range(n_facets, scores.shape[1])
        found = [(lone_e(scores[k, r], counts[k], variances[k, r], rhos), r) for r in rows]
        return [(value if side * scores[k, r] > 0 else -np.inf, r) for value, r in found]

    front = statuses_with_limits(scores, n_facets)
    return tests_with_limits(front, e, lambda k: lone(k, 1), lambda k: lone(k, -1), n_facets, price)


def shares_with_limits(scores, counts, variances, n_facets, slack):
    """(share of each arm, part of each rival, what the limits have of a share) that a pilot gives."""
    K, m = len(scores), n_facets
    front, var = statuses_with_limits(scores, m), variances / counts[:, None]

    def ratio(i, j):
        gap = np.maximum(scores[i, :m] + slack[:m] - scores[j, :m], 0)
        return gap**2 / (2 * (var[i, :m] + var[j, :m]))

    def lone(k, side):
        return np.maximum(side * scores[k, m:], 0) ** 2 / (2 * var[k, m:])

    out = [max((min(ratio(j, i).min(), lone(j, 1).min()) for j in front), default=0.0) for i in range(K)]
    broken = [lone(i, -1).max() for i in range(K)]
    decided = np.array(
        [
            min([lone(i, 1).min(), *(max(ratio(i, j).max(), lone(j, -1).max()) for j in range(K) if j != i)])
            if i in front
            else max(broken[i], out[i])
            for i in range(K)
        ]
    )
    doubt = np.exp(-2 * np.minimum(decided, 300.0))
    rival = np.where(np.isin(np.arange(K), front), 1.0, doubt)
    lean = np.where(np.array(broken) > np.array(out), 0.95, 0.05)
    return 0.9 * doubt / doubt.sum() + 0.1 / K, 0.9 * rival / rival.sum() + 0.1 / K, lean
