"""The lower bound: no (1 - delta)-correct algorithm stops earlier than T* kl(delta, 1 - delta) on average.

    1 / T* = max_w F(w) over the simplex,  F(w) = Z(w) at the true means.

F is concave, and every piece's gradient g at any w bounds it from above everywhere: F(w') <= <g, w'>. So
    upper   max_w min_g <g, w>, proven by a convex combination of the gradients: its largest entry bounds F
    lower   F at the best w seen
and the two close in. Each new w is the point nearest to the best one that the gradients still allow to be good
(a level step); plain cutting planes would zigzag.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels import engine
from prepex.alternatives import solver
from prepex.errors import InputError
from prepex.limits import Limit, Sides, limits_of
from prepex.problem import Problem
from prepex.solvers import Alternative, Solver
from prepex.tolerance import Tolerance, slack_of

# Share of the gap that a level step asks for, and how far above F a piece may be to count as a cut.
LEVEL = 0.6
SLACK = 0.3
# Pieces are exponentially many in the worst case; the cheapest are the cuts that matter.
CUTS = 64
# Beyond so many cuts, one that has bound nothing in so many steps is dropped. The upper bound that it proved stays.
MANY_CUTS, PATIENCE = 1000, 10
# Rounds in which a level step may find out which constraints bind.
MOST_ROUNDS = 50
# Every w keeps this share of the tolerance in the uniform allocation, so that no arm's weight is zero.
FLOOR = 0.01
# A difference of facet scores below this share of the terms that it is the sum of is none: rounding.
SAME = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Bound:
    """The characteristic time of a problem.

    time          T*
    lower, upper  certified bounds of T*
    gap           upper / lower - 1; 0 when T* is 0 or infinite. Above the tolerance only where alternatives bind that
                  lie where a law is not convex (exponential under a cone, an unknown variance): T* is then known no
                  better, and `time` and `allocation` are those of the larger one
    allocation    the shares of pulls that attain it            (K,)
    alternatives  those that bind there, closest first
    lenient       is there a tolerance?
    """

    time: float
    lower: float
    upper: float
    allocation: Floats
    alternatives: tuple[Alternative, ...] = field(repr=False)
    lenient: bool = field(default=False, repr=False)

    @property
    def gap(self) -> float:
        """How far apart the certified bounds are, relative to the lower one."""
        return self.upper / self.lower - 1.0 if 0 < self.lower < math.inf else 0.0

    def floor(self, delta: float) -> float:
        """T* kl(delta, 1 - delta), by the lower bound of T*: no (1 - delta)-correct algorithm needs less on average.

        >>> from prepex.instances import covboost
        >>> round(characteristic_time(covboost()).floor(0.1))
        3698

        With a tolerance there is none: several answers are right.
        """
        if self.lenient:
            raise InputError(
                "a floor holds where one answer is right: with a tolerance several are, and T* is no floor"
            )
        return self.lower * binary_kl(delta)


def binary_kl(delta: float) -> float:
    """kl(delta, 1 - delta) = (1 - 2 delta) log((1 - delta) / delta) for delta < 1/2, else 0.

    >>> round(binary_kl(0.1), 4)
    1.7578
    """
    delta = _checks.number("delta", delta, low=0.0, high=1.0)
    return (1 - 2 * delta) * math.log((1 - delta) / delta) if delta < 0.5 else 0.0


def check_tol(tol: float) -> float:
    """A relative gap that the bounds can reach."""
    return _checks.number("tol", tol, low=1e-7, high=1.0, closed=True)


@engine.waiting()
def characteristic_time(
    problem: Problem,
    tol: float = 1e-6,
    *,
    tolerance: Tolerance = None,
    at_most: Sides = None,
    at_least: Sides = None,
    limits: Iterable[Limit] = (),
    max_iterations: int = 2000,
) -> Bound:
    """T* and the optimal allocation, to a certified relative gap of at most `tol`, which is at least 1e-7.

    With a `tolerance` (as in `evidence`) T* is what log(1 / delta) is multiplied by as delta falls, but no floor:
    several answers are right then. Limits are as in `evidence`.

    >>> from prepex.instances import correlated
    >>> round(characteristic_time(correlated(0.0)).time, 3)
    121.263
    """
    _checks.instance("problem", problem, Problem)
    tol = check_tol(tol)
    K = problem.n_arms
    uniform = np.full(K, 1.0 / K)
    slack = slack_of(tolerance, problem.cone, problem.labels, problem.units)
    lenient = slack is not None and bool(slack.any())
    bounds = limits_of(problem.labels, at_most=at_most, at_least=at_least, limits=limits, family=problem.family)
    oracle = solver(problem.means, uniform, problem.family, problem.cone, problem.labels, slack, bounds)
    closest = oracle.best()
    if closest is None:
        return Bound(0.0, 0.0, 0.0, uniform, (), lenient)
    if _is_tie(problem, closest, oracle):
        return Bound(math.inf, math.inf, math.inf, uniform, (closest,), lenient)
    bundle = Bundle(oracle, uniform, FLOOR * tol)
    for _ in range(max_iterations):
        bundle.improve_upper()
        if bundle.upper <= bundle.lower * (1.0 + tol):
            break
        bundle.query(bundle.level_step())
    else:
        raise RuntimeError(
            f"characteristic_time did not reach tol={tol:g} in {max_iterations} iterations: "
            f"1/T* is between {bundle.lower:.9g} and {bundle.upper:.9g}"
        )
    allocation = bundle.best
    allocation.flags.writeable = False
    binding = oracle.at(allocation).pieces(1e-4 * bundle.lower, CUTS)
    time = 2.0 / (bundle.lower + bundle.upper)
    return Bound(time, 1.0 / bundle.proven(), 1.0 / bundle.lower, allocation, binding, lenient)


def _is_tie(problem: Problem, closest: Alternative, oracle: Solver) -> bool:
    """Are the scores that the closest alternative must bridge equal to rounding?"""
    benefits, facets, slack = problem.benefits, problem.cone.facets, oracle.slack
    if closest.value > 0.0 and not closest.constraints and not closest.limits:
        return False
    for number in closest.limits:
        assert oracle.limits is not None
        mean = oracle.means[closest.hub] + oracle.origin
        terms = np.append(oracle.limits.rows[number] * mean, -oracle.limits.level[number])
        if abs(terms.sum()) > SAME * np.abs(terms).sum():
            return False
    for arm, facet in closest.constraints:
        terms = facets[facet] * (benefits[arm] - benefits[closest.hub])
        if abs(terms.sum() + slack[facet]) > SAME * np.abs(terms).sum():
            return False
    return True


def max_min(cuts: Floats, scale: float) -> tuple[float, Floats, Floats]:
    """max_w min_g <g, w>, its w, and the multipliers that prove it, whatever the solver's tolerance."""
    from scipy.optimize import linprog

    n, K = cuts.shape
    answer = linprog(
        np.append(np.zeros(K), -1.0),
        A_ub=np.hstack([-cuts / scale, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(K), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * K + [(None, None)],
    )
    multipliers = np.maximum(-answer.ineqlin.marginals, 0.0)
    return float((multipliers @ cuts).max() / multipliers.sum()), answer.x[:K], multipliers


class Bundle:
    """The gradients seen so far, the best allocation, and the bounds they prove."""

    def __init__(self, oracle: Solver, start: Floats, floor: float) -> None:
        self.oracle, self.floor = oracle, floor
        self.cuts = np.empty((0, start.size))
        # For how many steps each cut has bound nothing.
        self.idle = np.empty(0, dtype=np.int64)
        # Cuts by instances that truly have another Pareto set; the same ones, unless a piece is capped.
        self.real: list[Floats] = []
        self.capped = False
        self.best, self.lower, self.upper = start, 0.0, math.inf
        self.centre = start
        self._binding = np.empty(0, dtype=np.int64)
        self.query(start)

    def query(self, allocation: Floats) -> None:
        """F and the gradients of all nearby pieces at `allocation`."""
        allocation = np.maximum(allocation, 0.0)
        allocation = (1.0 - self.floor) * allocation / allocation.sum() + self.floor / allocation.size
        value = self.oracle.at(allocation).value
        if value > self.lower:
            self.best, self.lower = allocation, value
        pieces = self.oracle.pieces(SLACK * value, CUTS)
        self.cuts = np.vstack([self.cuts, [piece.gradient for piece in pieces]])
        self.idle = np.append(self.idle, np.zeros(len(pieces), dtype=np.int64))
        self.capped = self.capped or any(piece.capped for piece in pieces)
        self.real += [cut for piece in pieces if (cut := self.oracle.real_gradient(piece)) is not None]

    def improve_upper(self) -> None:
        """The upper bound by the cuts, and the point that attains it."""
        upper, self.centre, multipliers = max_min(self.cuts, self.lower)
        self.upper = min(self.upper, upper)
        self.idle += 1
        self.idle[multipliers > 0.0] = 0
        self.idle[self._binding] = 0
        keep = (self.idle <= PATIENCE) | (len(self.cuts) <= MANY_CUTS)
        self._binding = (np.cumsum(keep) - 1)[self._binding]
        self.cuts, self.idle = self.cuts[keep], self.idle[keep]

    def proven(self) -> float:
        """An upper bound of 1 / T* by real alternatives only."""
        if not self.capped:
            return self.upper
        return max_min(np.array(self.real), self.lower)[0] if self.real else math.inf

    def level_step(self) -> Floats:
        """The allocation nearest to the best one at which no gradient forbids LEVEL of the gap.

        Least distance programming: min |x|^2 s.t. G x >= h is a non-negative least squares problem
        (Lawson & Hanson, 1974, ch. 23). Distances are relative to sqrt(best), the scale on which F is smooth.
        Where rounding leaves no such step, half way to the cutting-plane point is a fair question too.
        """
        K = self.best.size
        scale = np.sqrt(self.best)
        level = self.lower + LEVEL * (self.upper - self.lower)
        G = np.vstack([self.cuts / self.lower, np.eye(K), np.ones((1, K)), -np.ones((1, K))]) * scale
        h = np.concatenate([(level - self.cuts @ self.best) / self.lower, -self.best, [0.0, 0.0]])
        lengths = np.linalg.norm(G, axis=1)
        # The step is proportional to h: solve for an h of order one, however small the gap.
        size = np.max(h / lengths)
        half_way = 0.5 * (self.best + self.centre)
        if size <= 0.0:
            return half_way
        G, h = G / lengths[:, None], h / lengths / size
        # Few constraints bind: those of last time and the dearest to start with, then whatever the step violates.
        n = len(self.cuts)
        used = np.zeros(len(h), dtype=bool)
        used[[n + K, n + K + 1, int(np.argmax(h))]] = True
        used[self._binding] = True
        for _ in range(MOST_ROUNDS):
            chosen = np.flatnonzero(used)
            step, multipliers = least_distance(G[chosen], h[chosen])
            if step is None:
                break
            missing = h - G @ step
            worst = missing[~used].max(initial=0.0)
            if worst <= 1e-9:
                active = chosen[multipliers > 0.0]
                self._binding = active[active < n]
                return self.best + size * scale * step
            used |= missing > 0.1 * worst
        return half_way


def least_distance(G: Floats, h: Floats) -> tuple[Floats | None, Floats]:
    """min |x| s.t. G x >= h, and the multipliers; no x if there is none, to rounding, or the solver gives up."""
    from scipy.optimize import nnls

    E = np.vstack([G.T, h])
    target = np.append(np.zeros(G.shape[1]), 1.0)
    try:
        multipliers = nnls(E, target, maxiter=50 * E.shape[1])[0]
    except RuntimeError:  # no convergence
        return None, np.zeros(len(h))
    residual = E @ multipliers - target
    return (None if residual[-1] > -1e-12 else -residual[:-1] / residual[-1]), multipliers
