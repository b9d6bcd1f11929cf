"""The certified tests, for check.py, by definition and numpy only: e of pairs and of limits, every arm's test.

Legend
    K, m, c   arms, facets, limits
    N, S      counts (K,) and mean scores (K, m + c) of outcomes: of facets, then of limits
    var       variance of one outcome's score (K, m + c)
    slack     of a tolerance: the score of the better arm of a test is raised by it (m,)
    level     what a limit asks for at least (c,)
    plain, closed   price of an arm's test on its own, and as one of all (K,)
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prepex.study import check_laws
from prepex.study.check_deal import Deal
from prepex.study.check_facts import Design, Facts
from prepex.study.check_laws import Sample

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Pair = tuple[Floats, Floats]
# Pairs of arms that are looked at together: all of them may not fit.
BLOCK = 4096


class Test(NamedTuple):
    """Of one arm's status; e: the log of its average, value: e less its price; the pair and row of the largest term.

    Rows from m on are limits: of the arm itself, if it is named twice, else of the other arm, which breaks it (in
    front) or meets it (out of front)."""

    value: float
    e: float
    better: int
    worse: int
    row: int


class Pairs(Protocol):
    """e of pairs of arms, computed when it is asked for: with many arms a table of all would not fit."""

    n_facets: int

    def of(self, i: Ints, j: Ints, k: Ints) -> Floats:
        """e_f(i over j), in the tests of the arms k, of so many pairs (n, m)."""

    def level(self, i: Ints, j: Ints) -> Bools:
        """Where they are level, and known without noise: enough to dominate (n, m)."""


class Found(NamedTuple):
    """All that a certificate states of tests, and what they are made of."""

    plain: Floats
    closed: Floats
    tests: list[Test | None]
    averages: "Averages"


def log_half_normal(z: Floats) -> Pair:
    """g(z) = log 2 Phi(z) + z^2 / 2, and its slope z + phi(z) / Phi(z)."""
    near = np.maximum(z, -3.0)
    twice_phi = np.array([math.erfc(x) for x in (near * -math.sqrt(0.5)).ravel().tolist()]).reshape(near.shape)
    square = 0.5 * near * near
    value = np.log(twice_phi) + square
    slope = near + math.sqrt(2.0 / math.pi) * np.exp(-square) / twice_phi
    far = z < -3.0
    if far.any():
        # Phi(-v) = phi(v) / (v + 1 / (v + 2 / (v + ...))), and the slope is that fraction less v.
        v = rest = -z[far]
        for k in range(30, 1, -1):
            rest = v + k / rest
        value[far] = 0.5 * math.log(2.0 / math.pi) - np.log(v + 1.0 / rest)
        slope[far] = 1.0 / rest
    return value, slope


def e_values(gap: Floats, counts: Pair, var: Pair, rho: Floats, weight: Floats) -> Floats:
    """min_y log sum_rho p_rho exp(A_i(y) + A_j(gap - y)) for many pairs at once, log p_rho (n, J); -inf where
    gap <= 0."""
    answer = np.full(gap.shape, -np.inf)
    use = gap > 0
    if not use.any():
        return answer
    # z = rate * u, rate = N / (s sqrt(N + rho)); one row for each pair, one column for each rho.
    rate = [(N / np.sqrt(v))[use, None] / np.sqrt(N[use, None] + rho) for N, v in zip(counts, var)]
    cost = weight[use] + sum(0.5 * np.log(rho / (N[use, None] + rho)) for N in counts)
    wide = 3.0 / np.minimum(rate[0].min(axis=1), rate[1].min(axis=1))
    low, high = -wide, gap[use] + wide

    def at(y: Floats) -> Pair:
        up, up_slope = log_half_normal(rate[0] * y[:, None])
        down, down_slope = log_half_normal(rate[1] * (gap[use] - y)[:, None])
        total = up + down + cost
        top = total.max(axis=1)
        share = np.exp(total - top[:, None])
        slope = (share * (rate[0] * up_slope - rate[1] * down_slope)).sum(axis=1) / share.sum(axis=1)
        return top + np.log(share.sum(axis=1)), slope

    for _ in range(46):
        y = 0.5 * (low + high)
        _, slope = at(y)
        low, high = np.where(slope < 0, y, low), np.where(slope < 0, high, y)
    answer[use] = at(0.5 * (low + high))[0]
    return answer


def lone_values(u: Floats, N: Floats, var: Floats, rho: Floats, weight: Floats) -> Floats:
    """log sum_rho p_rho exp A(u) (K, c), log p_rho (K, J), u >= 0; -inf where it is 0."""
    rate = (N[:, None] / np.sqrt(var))[..., None] / np.sqrt(N[:, None, None] + rho)
    total = log_half_normal(rate * u[..., None])[0] + 0.5 * np.log(rho / (N[:, None, None] + rho))
    total = total + weight[:, None, :]
    top = total.max(axis=-1)
    found = top + np.log(np.exp(total - top[..., None]).sum(axis=-1))
    return np.where(u > 0, found, -np.inf)


class Gaps:
    """e of known Gaussians."""

    def __init__(self, late: Sample, var: Floats, rho: Floats, weight: Floats, slack: Floats) -> None:
        self.late, self.var, self.rho, self.weight = late, var[:, : slack.size], rho, weight
        self.slack, self.n_facets = slack, slack.size

    def of(self, i: Ints, j: Ints, k: Ints) -> Floats:
        """e_f(i over j), in the tests of the arms k, of so many pairs (n, m)."""
        n, m = self.late.n, self.n_facets
        F, weight = self.late.score[:, :m], np.repeat(self.weight[k], m, axis=0)
        counts, var = (np.repeat(n[i], m), np.repeat(n[j], m)), (self.var[i].ravel(), self.var[j].ravel())
        return e_values((F[i] - F[j] + self.slack).ravel(), counts, var, self.rho, weight).reshape(-1, m)

    def level(self, i: Ints, j: Ints) -> Bools:
        """All of them are noise."""
        return np.zeros((i.size, self.n_facets), dtype=bool)


class Averages:
    """What the tests of all arms average; `meets` and `breaks`: evidence of the arms and their limits (K, c)."""

    def __init__(self, deal: Deal, pairs: Pairs, meets: Floats, breaks: Floats) -> None:
        self.deal, self.pairs, self.meets, self.breaks, self.m = deal, pairs, meets, breaks, pairs.n_facets

    def join(self, e: Floats, weight: Floats) -> Floats:
        """log sum v exp e over those with e > 0, or the largest v exp e alone if it is more (n,).

        In the plain rule always that one."""
        with np.errstate(divide="ignore"):
            term = e + np.log(weight)
        top = term.max(axis=1, initial=-np.inf)
        if not self.deal.closed:
            return np.asarray(top)
        safe = np.where(np.isfinite(top), top, 0.0)
        total = np.where(e > 0, np.exp(term - safe[:, None]), 0.0).sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.maximum(top, safe + np.log(total))

    def in_front(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """(e of the facets and of j's limits, their weights) of so many tests of arms i against j (n, m + c).

        Of two arms that are equal without noise neither dominates the other."""
        equal = self.pairs.level(i, j).all(axis=1, keepdims=True)
        table = np.where(equal, check_laws.CERTAIN, self.pairs.of(i, j, i))
        return np.hstack([table, self.breaks[j]]), self.deal.facets(i, j)

    def over(self, j: Ints, i: int) -> Floats:
        """e of the facets for arms j to dominate arm i, and of their limits (n, m + c)."""
        here = np.full(j.size, i)
        table = np.where(self.pairs.level(j, here), check_laws.CERTAIN, self.pairs.of(j, here, here))
        return np.hstack([table, self.meets[j]])

    def front_test(self, i: int, paid: float) -> Test:
        """Of an arm of the answer."""
        others = np.flatnonzero(np.arange(len(self.meets)) != i)
        found = list[Test]()
        for first in range(0, others.size, BLOCK):
            j = others[first : first + BLOCK]
            e, weight = self.in_front(np.full(j.size, i), j)
            value = self.join(e, weight)
            n = int(value.argmin())
            row = int((e[n] + np.log(weight[n])).argmax())
            found.append(Test(float(value[n]) - paid, float(value[n]), i, int(j[n]), row))
        if self.meets.shape[1]:
            f = int(self.meets[i].argmin())
            found.append(Test(float(self.meets[i, f]) - paid, float(self.meets[i, f]), i, i, self.m + f))
        return min(found)

    def out_test(self, i: int, front: Ints, paid: float) -> Test:
        """Of an arm outside the answer."""
        every = self.over(front, i) if front.size else np.zeros((0, self.m + self.meets.shape[1]))
        e = np.append(self.breaks[i], every.min(axis=1, initial=np.inf))
        weight = np.append(self.deal.limits()[i], self.deal.rivals(i)[front])
        value = float(self.join(e[None], weight[None])[0])
        with np.errstate(divide="ignore"):
            n = int((e + np.log(weight)).argmax()) - self.meets.shape[1]
        if n < 0:
            return Test(value - paid, value, i, i, self.m + n + self.meets.shape[1])
        return Test(value - paid, value, int(front[n]), i, int(every[n].argmin()))


def compute(design: Design, facts: Facts, front: Bools) -> Found:
    """Prices, and every arm's test; None: no evidence above 0."""
    pilot, late, m = facts.pilot, facts.late, design.n_facets
    assert pilot is not None and late is not None
    var = design.var if design.laws is None else check_laws.variances(design.laws, design.W, pilot)
    slack, level = design.slack[:m], design.levels(facts.origin)
    deal = Deal.of(pilot.score - level, pilot.n, var, slack, design.closed)
    over = late.score[:, m:] - level[m:]
    if design.laws is None:
        rho, named = np.unique(design.rho, return_counts=True)
        weight = deal.grid(rho, named.astype(float))
        pairs: Pairs = Gaps(late, var, rho, weight, slack)
        alone = lone_values(np.abs(over), late.n, var[:, m:], rho, weight)
    else:
        tests = check_laws.Tests(design.laws, design.W, slack, pilot, late)
        pairs, alone = tests, np.full(over.shape, -np.inf)
        for k, c in np.ndindex(over.shape):
            alone[k, c] = tests.alone(k, m + c, float(level[m + c]))
    # Without noise an arm on its limit meets it.
    met = (over > 0) | ((over == 0) & (var[:, m:] == 0))
    averages = Averages(deal, pairs, np.where(met, alone, -np.inf), np.where(over < 0, alone, -np.inf))
    plain, closed = deal.prices(front)
    members = np.flatnonzero(front)
    made = [
        averages.front_test(i, float(paid)) if front[i] else averages.out_test(i, members, float(paid))
        for i, paid in enumerate(closed)
    ]
    return Found(plain, closed, [test if test.e > 0 else None for test in made], averages)
