"""Slow, obvious definitions: the judges of the fast code. Nothing here imports prepex."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog, minimize, nnls


def dominates(facets, better, worse):
    """`better` dominates `worse`: W (better - worse) >= 0 and not equal."""
    difference = facets @ better - facets @ worse
    return bool(np.all(difference >= 0) and np.any(difference > 0))


def pareto_set(facets, means):
    """The arms that no other arm dominates."""
    n_arms = len(means)
    return tuple(
        i for i in range(n_arms) if not any(dominates(facets, means[j], means[i]) for j in range(n_arms) if j != i)
    )


def answer(facets, means, limits):
    """The arms that meet every limit (G, h), G M >= h, and that no such arm dominates."""
    G, h = limits
    feasible = [i for i in range(len(means)) if np.all(G @ means[i] >= h)]
    return tuple(i for i in feasible if not any(dominates(facets, means[j], means[i]) for j in feasible if j != i))


@dataclass(frozen=True)
class Piece:
    """A convex set of alternatives and its closest point."""

    kind: str
    arm: int
    hub: int
    value: float
    means: np.ndarray
    gradient: np.ndarray


def closest_point(facets, roots, means, counts, hub, constraints, slack=None, own=()):
    """min sum_k N_k d(M_k, M'_k) s.t. w_f . (M'_hub - M'_a) >= slack_f (0) for (a, f) in constraints,
    and g . M'_hub >= h for (g, h) in own. Infinite if nothing meets them: a covariance may be zero on objectives.
    `roots`: those of cov_k / N_k.

    As least distance programming (Lawson & Hanson, ch. 23): whiten the moved arms, then min |x|^2 s.t. G x >= h
    is one non-negative least squares problem.
    """
    arms = sorted({hub} | {a for a, _ in constraints})
    n_objectives = means.shape[1]
    # x_k = (cov_k / N_k)^(-1/2) (M'_k - M_k), so that the cost is |x|^2 / 2.
    rows, right = [], []
    nowhere = np.inf, means, np.full(len(means), np.inf)
    wanted = [(a, facets[f], 0.0 if slack is None else slack[f]) for a, f in constraints]
    for a, w, level in [*wanted, *((None, g, h) for g, h in own)]:
        row = np.zeros((len(arms), n_objectives))
        row[arms.index(hub)] += roots[hub].T @ w
        if a is not None:
            row[arms.index(a)] -= roots[a].T @ w
        scale, lacks = np.linalg.norm(row), level - w @ (means[hub] - (0.0 if a is None else means[a]))
        if scale > 0:
            rows.append(row.ravel() / scale)
            right.append(lacks / scale)
        elif lacks > 0:
            return nowhere
    G, h = np.array(rows).reshape(len(rows), len(arms) * n_objectives), np.array(right)
    x = np.zeros(G.shape[1])
    size = np.max(h, initial=0.0)
    if size > 0:  # otherwise the instance itself meets every constraint
        E, target = np.vstack([G.T, h / size]), np.append(np.zeros(G.shape[1]), 1.0)
        multipliers, rest = nnls(E, target, maxiter=10_000)
        if rest < 1e-9:
            return nowhere
        residual = E @ multipliers - target
        active = multipliers > 1e-13 * multipliers.max()
        # Polish on the active set: the pseudo-inverse forgives dependent rows.
        x = np.linalg.pinv(G[active]) @ h[active]
        if np.min(G @ x - h) < -1e-9 * size:
            x = -size * residual[:-1] / residual[-1]
    moved = means.astype(float).copy()
    gradient = np.zeros(len(means))
    for position, k in enumerate(arms):
        part = x.reshape(len(arms), n_objectives)[position]
        moved[k] = means[k] + roots[k] @ part
        gradient[k] = 0.5 * part @ part / counts[k]
    return 0.5 * x @ x, moved, gradient


def root(covariance):
    """B with B B' = covariance, which may be zero on some objectives."""
    noisy = np.diag(covariance) > 0
    found = np.zeros_like(covariance)
    found[np.ix_(noisy, noisy)] = np.linalg.cholesky(covariance[np.ix_(noisy, noisy)])
    return found


def right_within(facets, means, answer, slack, limits=None):
    """Is no arm of the answer beaten by the slack or more, and every other arm matched by one of it up to the slack?

    With limits (G, h): does every arm of it meet them? Arms that do not neither beat nor need a match.
    """
    scores, able = means @ facets.T, list(range(len(means)))
    if limits is not None:
        able = [k for k in able if np.all(limits[0] @ means[k] >= limits[1])]
        if not set(answer) <= set(able):
            return False
    others = [k for k in able if k not in answer]
    beaten = any(np.all(scores[j] - scores[i] >= slack) for i in answer for j in able if j != i)
    return not beaten and all(any(np.all(scores[a] - scores[i] >= -slack) for a in answer) for i in others)


def right_with_limits(facets, means, answer, slack, rows, level):
    """The same among the arms with rows . mean >= level; without slack, is it their Pareto set?"""
    feasible = [k for k in range(len(means)) if np.all(rows @ means[k] >= level)]
    inside = [feasible.index(k) for k in answer if k in feasible]
    if len(inside) < len(answer):
        return False
    if np.any(slack):
        return right_within(facets, means[feasible], inside, slack)
    return tuple(inside) == pareto_set(facets, means[feasible])


def pieces(facets, covariances, means, counts, slack=None, limits=None):
    """Every convex piece of Alt(M), by enumeration over all facet choices; with slack, of what is wrong within it."""

    roots = [root(covariance / n) for covariance, n in zip(covariances, counts, strict=True)]

    def closest(hub, constraints, own=()):
        return closest_point(facets, roots, means, counts, hub, constraints, slack, own)

    return enumerated(facets, means, closest, slack, limits)


def enumerated(facets, means, closest, slack, limits):
    """All pieces, `closest` (hub, constraints, own) finds the points."""
    if limits is None:
        limits = np.zeros((0, means.shape[1])), np.zeros(0)
    own = list(zip(*limits, strict=True))
    pareto = answer(facets, means, limits)
    n_facets = len(facets)
    found = []
    for i, (g, h) in product(pareto, own):
        # An arm on its limit meets it: where nothing moves it beyond, it breaks nothing.
        beyond = closest(i, [], [(-g, -h + 1e-6)])
        found.append(Piece("break", i, i, *(closest(i, [], [(-g, -h)]) if beyond[0] < np.inf else beyond)))

    def moves(k):
        """The facets on which something moves the arm, up or down."""
        ways = [(sign * facets[f], sign * facets[f] @ means[k] + 1e-6) for f in range(n_facets) for sign in (1.0, -1.0)]
        return np.isfinite([closest(k, [], [way])[0] for way in ways]).reshape(n_facets, 2).any(axis=1)

    for i, j in product(pareto, pareto if slack is None else range(len(means))):
        # Equal arms that nothing moves: neither dominates the other, ever.
        equal = np.array_equal(means[i], means[j]) and not np.any(moves(i) | moves(j))
        if i != j and not equal:
            constraints = [(i, f) for f in range(n_facets)]
            found.append(Piece("remove", i, j, *closest(j, constraints, () if j in pareto else own)))
    size = np.zeros(n_facets) if slack is None else slack
    for j in set(range(len(means))) - set(pareto):
        # Where nothing moves the arm, to be level is not to escape.
        moved = moves(j)
        for choice in product(range(n_facets), repeat=len(pareto)):
            constraints = list(zip(pareto, choice, strict=True))
            if all(moved[f] or facets[f] @ (means[j] - means[a]) > size[f] + 1e-9 for a, f in constraints):
                found.append(Piece("add", j, j, *closest(j, constraints, own)))
    return found


def evidence(facets, covariances, means, counts):
    """The cheapest piece, or None for a single arm."""
    found = pieces(facets, covariances, means, counts)
    return min(found, key=lambda piece: piece.value) if found else None


def characteristic_time(facets, covariances, means, slack=None, limits=None):
    """T* on a small instance: max_w F(w) as a smooth program over all pieces, by SLSQP from several starts."""
    n_arms = len(means)

    def cuts(weights):
        found = pieces(facets, covariances, means, np.maximum(weights, 1e-9), slack, limits)
        return np.array([p.value for p in found]), np.array([p.gradient for p in found])

    scale = max(cuts(np.full(n_arms, 1.0 / n_arms))[0].min(), 1e-12)
    best = 0.0
    for start in range(3):
        first = np.random.default_rng(start).dirichlet(np.full(n_arms, 5.0))
        solution = minimize(
            lambda x: -x[-1],
            np.append(first, 0.0),
            jac=lambda x: np.append(np.zeros(n_arms), -1.0),
            bounds=[(1e-9, 1.0)] * n_arms + [(0.0, None)],
            constraints=[
                {"type": "eq", "fun": lambda x: x[:-1].sum() - 1.0},
                {
                    "type": "ineq",
                    "fun": lambda x: cuts(x[:-1])[0] / scale - x[-1],
                    "jac": lambda x: np.hstack([cuts(x[:-1])[1] / scale, -np.ones((len(cuts(x[:-1])[0]), 1))]),
                },
            ],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-13},
        )
        weights = np.maximum(solution.x[:-1], 1e-9)
        best = max(best, cuts(weights / weights.sum())[0].min())
    return 1.0 / best


def in_cone_of(rays, point):
    """Is `point` a non-negative combination of `rays`? By linear programming."""
    answer = linprog(np.zeros(len(rays)), A_eq=np.asarray(rays).T, b_eq=point, bounds=(0, None), method="highs")
    return answer.status == 0


def stays_optimal(facets, means, i):
    """No mixture of the arms beats arm i: some weights, all positive, put no arm above it (Isermann, 1974).

    A linear program over weights, in units in which scores have a range of 1: its value is the least by which the best
    arm is ahead.
    """
    scores = means @ facets.T
    size = np.ptp(scores, axis=0)
    scores = scores / np.where(size > 0, size, 1.0)
    m = scores.shape[1]
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.column_stack([scores - scores[i], -np.ones(len(scores))]),
        b_ub=np.zeros(len(scores)),
        bounds=[(1.0, None)] * m + [(0.0, None)],
        method="highs-ipm",
    )
    return bool(found.fun <= 1e-7)


def stays_optimal_exactly(facets, means, i):
    """The same in two objectives, where mixtures of two arms are enough: by fractions, without rounding.

    A share t of a and 1 - t of b is as good on facet f iff t (S_a - S_b)_f >= (S_i - S_b)_f: an interval of t.
    """
    scores = [[sum(Fraction(w) * Fraction(x) for w, x in zip(row, mean)) for row in facets] for mean in means]
    for a, b in product(scores, scores):
        low, high = Fraction(0), Fraction(1)
        for p, q, own in zip(a, b, scores[i]):
            if p == q:
                low = low if q >= own else Fraction(2)
            elif p > q:
                low = max(low, (own - q) / (p - q))
            else:
                high = min(high, (own - q) / (p - q))
        # A gain is linear in t: some t of the interval has one iff one of its ends does.
        for t in (low, high) if low <= high else ():
            if any(t * p + (1 - t) * q > own for p, q, own in zip(a, b, scores[i])):
                return False
    return True
