"""Slow, obvious definitions for families beyond the known Gaussian: scipy's minimisers, all facet choices.

A law is (name, scale): "gaussian", "bernoulli", "poisson", "exponential", "student" (unknown variance), or "exact"
(without noise: it stays where it is).
"""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import linprog, minimize
from scipy.special import xlogy
from scipy.stats import beta as beta_law
from scipy.stats import gamma, norm
from scipy.stats import t as student_t

import reference

LOW = {"bernoulli": 1e-12, "poisson": 1e-12, "exponential": 1e-12}
HIGH = {"bernoulli": 1 - 1e-12}


def divergence(law, mu, x, scale):
    """d(mu, x)."""
    if law == "gaussian":
        return (mu - x) ** 2 / (2 * scale)
    if law == "student":
        return 0.5 * np.log1p((mu - x) ** 2 / scale)
    if law == "bernoulli":
        return xlogy(mu, mu) - xlogy(mu, x) + xlogy(1 - mu, 1 - mu) - xlogy(1 - mu, 1 - x)
    if law == "poisson":
        return xlogy(mu, mu) - xlogy(mu, x) + x - mu
    return mu / x - 1 - np.log(mu / x)


def slope(law, mu, x, scale):
    """d/dx d(mu, x)."""
    if law == "gaussian":
        return (x - mu) / scale
    if law == "student":
        return (x - mu) / (scale + (x - mu) ** 2)
    if law == "bernoulli":
        return (x - mu) / (x * (1 - x))
    if law == "poisson":
        return 1 - mu / x
    return (x - mu) / x**2


def curvature(law, mu, x, scale):
    """d^2/dx^2 d(mu, x)."""
    if law == "gaussian":
        return 1 / scale
    if law == "student":
        return (scale - (x - mu) ** 2) / (scale + (x - mu) ** 2) ** 2
    if law == "bernoulli":
        return mu / x**2 + (1 - mu) / (1 - x) ** 2
    if law == "poisson":
        return mu / x**2
    return (2 * mu - x) / x**3


def polish(x, rows, right, gradient, hessian):
    """Newton on the optimality conditions with the constraints that SLSQP found tight: its last digits are missing."""
    close = rows @ x - right < 1e-5 * (1 + np.abs(x).max())
    tight, level = rows[close], right[close]
    point = x.copy()
    for _ in range(20):
        system = np.block([[np.diag(hessian(point)), -tight.T], [tight, np.zeros((len(tight), len(tight)))]])
        step = np.linalg.lstsq(system, -np.concatenate([gradient(point), tight @ point - level]), rcond=None)[0]
        point = point + step[: x.size]
        if np.abs(step[: x.size]).max() <= 1e-15 * np.abs(point).max():
            break
    good = np.all(np.isfinite(point)) and np.abs(point - x).max() < 1e-3 * (1 + np.abs(x).max())
    return point if good and np.min(rows @ point - right) > -1e-9 and np.min(step[x.size :], initial=0.0) > -1e-6 else x


def point_near(start, rows, right, low, high):
    """A point that meets all constraints, near the start, by linear programming; None if there is none."""
    n = start.size
    wanted = np.vstack([np.hstack([-rows, np.zeros((len(rows), n))]), np.kron([[1, -1], [-1, -1]], np.eye(n))])
    answer = linprog(
        np.append(np.zeros(n), np.ones(n)),
        A_ub=wanted,
        b_ub=np.concatenate([-right, start, -start]),
        bounds=[*zip(np.where(low > -1, low, None), np.where(high < 2, high, None)), *[(0.0, None)] * n],
    )
    return answer.x[:n] if answer.status == 0 else None


def closest_point(facets, laws, scales, means, counts, hub, constraints, loose=False, slack=None, own=()):
    """(value, moved means, gradient) of a star, w_f . (M'_hub - M'_a) >= slack_f, and g . M'_hub >= h of each in own:
    SLSQP on the means of its arms.

    `scales` (K, L); `loose`: from several starts, for laws that are not convex.
    """
    arms = sorted({hub} | {a for a, _ in constraints})
    n_objectives = means.shape[1]
    start = means[arms].ravel()
    low = np.array([LOW.get(law, -np.inf) for law in laws] * len(arms))
    high = np.array([HIGH.get(law, np.inf) for law in laws] * len(arms))
    rows = np.zeros((len(constraints) + len(own), len(arms), n_objectives))
    for c, (a, f) in enumerate(constraints):
        rows[c, arms.index(hub)] += facets[f]
        rows[c, arms.index(a)] -= facets[f]
    for c, (g, _) in enumerate(own):
        rows[len(constraints) + c, arms.index(hub)] = g
    rows = rows.reshape(len(rows), -1)
    right = np.array([0.0 if slack is None else slack[f] for _, f in constraints] + [h for _, h in own])
    if np.all(rows @ start >= right):
        return 0.0, means.copy(), np.zeros(len(means))
    weights, scale = np.repeat(counts[arms], n_objectives), scales[arms].ravel()
    # What has no noise stays: the rest is a problem of the other objectives.
    free = np.array([law != "exact" for law in laws] * len(arms))
    right, rows = right - rows[:, ~free] @ start[~free], rows[:, free]
    used = np.any(rows != 0.0, axis=1)
    if np.any(right[~used] > 0.0):
        return np.inf, means, np.full(len(means), np.inf)
    rows, right, whole = rows[used], right[used], start
    start, low, high, weights, scale = start[free], low[free], high[free], weights[free], scale[free]
    names = np.array(laws * len(arms))[free]
    places = {law: np.flatnonzero(names == law) for law in set(names.tolist())}

    def each(function, x):
        found = np.empty(x.size)
        for law, at in places.items():
            found[at] = function(law, start[at], x[at], scale[at])
        return weights * found

    def cost(x):
        return each(divergence, x).sum()

    def gradient(x):
        return each(slope, x)

    best = None
    # Level on every facet first: a feasible start inside the domain.
    middle = np.tile(np.average(means[arms], axis=0, weights=counts[arms]), len(arms))[free]
    if own or not free.all():
        middle = point_near(start, rows, right, low, high)
        if middle is None:
            return np.inf, means, np.full(len(means), np.inf)
    # With limits it is a corner, where SLSQP may give up: from other points, too.
    for share in (1.0,) if not loose and not own and free.all() else (1.0, 0.5, 0.1, 0.97, 0.8, 1.1):
        first = np.clip(share * middle + (1 - share) * start, low + 1e-6 * (low > -1), np.minimum(high, 1e9) - 1e-6)
        answer = minimize(
            lambda x: cost(x) / 10,
            first,
            jac=lambda x: gradient(x) / 10,
            bounds=list(zip(low, high)),
            constraints=[{"type": "ineq", "fun": lambda x: rows @ x - right, "jac": lambda x: rows}],
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-15},
        )
        if np.min(rows @ answer.x - right) > -1e-7:
            # Where costs are convex, two starts that agree are enough.
            agreed = best is not None and not loose and abs(answer.fun - best.fun) <= 1e-9 * abs(best.fun)
            best = answer if best is None or answer.fun < best.fun else best
            if agreed:
                break
    x = best.x
    if not loose:
        x = polish(x, rows, right, gradient, lambda x: each(curvature, x))
    moved = means.astype(float).copy()
    point = whole.copy()
    point[free] = x
    moved[arms] = point.reshape(len(arms), n_objectives)
    per_arm = np.zeros(len(means))
    for k in arms:
        noisy = [q for q in range(n_objectives) if laws[q] != "exact"]
        per_arm[k] = sum(divergence(laws[q], means[k, q], moved[k, q], scales[k, q]) for q in noisy)
    return float(counts @ per_arm), moved, per_arm


def pieces(facets, laws, scales, means, counts, loose=False, slack=None, limits=None):
    """Every convex piece of Alt(M), by enumeration over all facet choices: (kind, arm, hub, value, means, gradient)."""

    def closest(hub, constraints, own=()):
        return closest_point(facets, laws, scales, means, counts, hub, constraints, loose, slack, own)

    return reference.enumerated(facets, means, closest, slack, limits)


def log_mixture(law, outcomes, prior, scale=None):
    """Log of the likelihood of the outcomes, mixed over the prior that a pilot (n, mean, squares, spread) sets.

    Without the factors that no parameter enters. By quadrature, or as the product of predictive densities.
    """
    n, m, squares, spread = prior
    outcomes = np.asarray(outcomes, dtype=float)
    if law == "student":
        kappa, alpha, beta, centre = n / 2, 0.5 + (n - 1) / 4, (spread + squares / 2) / 2, m
        total = 0.0
        for x in outcomes:  # Student predictive, then the conjugate update
            width = np.sqrt(beta * (kappa + 1) / (alpha * kappa))
            total += student_t.logpdf(x, 2 * alpha, centre, width)
            beta += kappa * (x - centre) ** 2 / (2 * (kappa + 1))
            centre = (kappa * centre + x) / (kappa + 1)
            kappa, alpha = kappa + 1, alpha + 0.5
        return total
    if law == "gaussian":
        priors, low, high = norm(m, np.sqrt(scale / (n / 2))), m - 60, m + 60
        log_likelihood = lambda p: norm.logpdf(outcomes, p, np.sqrt(scale)).sum()  # noqa: E731
    elif law == "bernoulli":
        priors, low, high = beta_law(0.5 + n * m / 2, 0.5 + n * (1 - m) / 2), 0.0, 1.0
        log_likelihood = lambda p: xlogy(outcomes, p).sum() + xlogy(1 - outcomes, 1 - p).sum()  # noqa: E731
    elif law == "poisson":
        priors, low, high = gamma(0.5 + n * m / 2, scale=2 / n), 0.0, 50.0
        log_likelihood = lambda p: xlogy(outcomes, p).sum() - p * len(outcomes)  # noqa: E731
    else:
        priors, low, high = gamma(0.5 + n / 2, scale=2 / (n * m)), 0.0, 50.0
        log_likelihood = lambda p: len(outcomes) * np.log(p) - p * outcomes.sum()  # noqa: E731
    grid = np.linspace(low, high, 20001)[1:-1]
    top = max(log_likelihood(p) for p in grid[::50])
    inside = lambda p: np.exp(log_likelihood(p) - top) * priors.pdf(p)  # noqa: E731
    peak = grid[np.argmax([inside(p) for p in grid[::20]]) * 20]
    return top + np.log(quad(inside, low, high, points=[peak], limit=500, epsabs=0, epsrel=1e-10)[0])


def log_likelihood(law, outcomes, mean, scale):
    """The log-likelihood at a mean, without the same factors; `student`: at the best variance."""
    x, n = np.asarray(outcomes, dtype=float), len(outcomes)
    if law == "gaussian":
        return norm.logpdf(x, mean, np.sqrt(scale)).sum()
    if law == "student":
        return -n / 2 * (np.log(2 * np.pi * np.mean((x - mean) ** 2)) + 1)
    if law == "bernoulli":
        return xlogy(x.sum(), mean) + xlogy(n - x.sum(), 1 - mean)
    if law == "poisson":
        return xlogy(x.sum(), mean) - n * mean
    return -n * np.log(mean) - x.sum() / mean
