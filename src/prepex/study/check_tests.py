"""The certified tests, for check.py, by definition and numpy only: prices, e of pairs and of limits, every arm's test.

Legend
    K, m, c   arms, facets, limits
    N, S      counts (K,) and mean scores (K, m + c) of outcomes: of facets, then of limits
    var       variance of one outcome's score (K, m + c)
    slack     of a tolerance: the score of the better arm of a test is raised by it (m,)
    level     what a limit asks for at least (c,)
    price     in front, out of front, as rival (3, K); with limits also alone and broken (5, K)
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prepex.study import check_laws
from prepex.study.check_facts import Design, Facts
from prepex.study.check_laws import Sample

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Pair = tuple[Floats, Floats]
# Pairs of arms that are looked at together: all of them may not fit.
BLOCK = 4096


class Test(NamedTuple):
    """Of one arm's status; value = e less its price. Rows from m on are limits: of the arm itself, if it is named
    twice, else of the other arm, which breaks it (in front) or meets it (out of front)."""

    value: float
    e: float
    better: int
    worse: int
    row: int


class Pairs(Protocol):
    """e of pairs of arms, computed when it is asked for: with many arms a table of all would not fit."""

    n_facets: int

    def of(self, i: Ints, j: Ints) -> Floats:
        """e_f(i over j) of so many pairs (n, m)."""

    def level(self, i: Ints, j: Ints) -> Bools:
        """Where they are level, and known without noise: enough to dominate (n, m)."""


class Found(NamedTuple):
    """All that a certificate states of tests: prices, e of pairs, of limits met and of limits broken (K, c), tests."""

    price: Floats
    pairs: Pairs
    meets: Floats
    breaks: Floats
    tests: list[Test | None]


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


def e_values(gap: Floats, counts: Pair, var: Pair, rho: Floats) -> Floats:
    """min_y log 1/J sum_rho exp(A_i(y) + A_j(gap - y)) for many pairs at once; -inf where gap <= 0."""
    answer = np.full(gap.shape, -np.inf)
    use = gap > 0
    if not use.any():
        return answer
    # z = rate * u, rate = N / (s sqrt(N + rho)); one row for each pair, one column for each rho.
    rate = [(N / np.sqrt(v))[use, None] / np.sqrt(N[use, None] + rho) for N, v in zip(counts, var)]
    cost = sum(0.5 * np.log(rho / (N[use, None] + rho)) for N in counts)
    wide = 3.0 / np.minimum(rate[0].min(axis=1), rate[1].min(axis=1))
    low, high = -wide, gap[use] + wide

    def at(y: Floats) -> Pair:
        up, up_slope = log_half_normal(rate[0] * y[:, None])
        down, down_slope = log_half_normal(rate[1] * (gap[use] - y)[:, None])
        total = up + down + cost
        top = total.max(axis=1)
        weight = np.exp(total - top[:, None])
        slope = (weight * (rate[0] * up_slope - rate[1] * down_slope)).sum(axis=1) / weight.sum(axis=1)
        return top + np.log(weight.mean(axis=1)), slope

    for _ in range(46):
        y = 0.5 * (low + high)
        _, slope = at(y)
        low, high = np.where(slope < 0, y, low), np.where(slope < 0, high, y)
    answer[use] = at(0.5 * (low + high))[0]
    return answer


def lone_values(u: Floats, N: Floats, var: Floats, rho: Floats) -> Floats:
    """log 1/J sum_rho exp A(u) (K, c), u >= 0; -inf where it is 0."""
    rate = (N[:, None] / np.sqrt(var))[..., None] / np.sqrt(N[:, None, None] + rho)
    total = log_half_normal(rate * u[..., None])[0] + 0.5 * np.log(rho / (N[:, None, None] + rho))
    top = total.max(axis=-1)
    found = top + np.log(np.exp(total - top[..., None]).mean(axis=-1))
    return np.where(u > 0, found, -np.inf)


def pareto(S: Floats, free: Bools) -> Bools:
    """Which rows, of those that are free of broken limits, no other of them dominates."""
    others = S[free]
    beaten = [np.any((row <= others).all(axis=1) & (row < others).any(axis=1)) for row in S]
    return free & ~np.array(beaten, dtype=bool)


def _ratio(gap: Floats, spread: Floats) -> Floats:
    """The likelihood ratio of a gap above 0 against none; infinite if it is known without error."""
    ahead = np.maximum(gap, 0.0)
    return np.where(ahead > 0, 0.5 * ahead**2 / np.where(spread > 0, spread, 1.0) / (spread > 0), 0.0)


def pilot_prices(S: Floats, N: Floats, var: Floats, slack: Floats, level: Floats) -> Floats:
    """-log of the shares that a pilot with these statistics gives; no pilot: equal shares."""
    K, m, c = len(S), len(slack), len(level)
    if not N.any():
        equal = [[K * (m + c)] * K, [2 * K if c else K] * K, [max(K - 1, 1)] * K]
        more = [[K] * K, [(2 if K > 1 else 1) * K * c] * K] if c else []
        return np.log(np.array(equal + more, dtype=float))
    V, over = var / N[:, None], S[:, m:] - level
    # Without noise what holds is certain; level holds, but is not ahead.
    sure = V[:, m:] == 0.0
    met = np.where(sure & (over >= 0), np.inf, _ratio(over, V[:, m:])).min(axis=1, initial=np.inf)
    broken = _ratio(-over, V[:, m:]).max(axis=1, initial=0.0)
    S, V = S[:, :m], V[:, :m]
    front = pareto(S, np.asarray((over >= 0).all(axis=1)))
    decided, beaten = np.empty(K), np.zeros(K)
    for i in range(K):
        # How far i is ahead of the others, or those of the front of i.
        others, sign = (np.arange(K) != i, 1.0) if front[i] else (front, -1.0)
        gap, spread = sign * (S[i] - S[others]) + slack, V[i] + V[others]
        ratio = _ratio(gap, spread)
        if front[i]:
            decided[i] = min(np.maximum(ratio.max(axis=1), broken[others]).min(initial=np.inf), met[i])
        else:
            ratio = np.where((spread == 0.0) & (gap >= 0), np.inf, ratio)
            beaten[i] = np.minimum(ratio.min(axis=1), met[others]).max(initial=0.0)
            decided[i] = max(beaten[i], broken[i])
    doubt = np.exp(-2.0 * np.minimum(decided, 300.0))
    rival = np.where(front, 1.0, doubt)
    share = 0.9 * doubt / doubt.sum() + 0.1 / K
    part = 0.9 * rival / rival.sum() + 0.1 / K
    if not c:
        return np.array([np.log(m / share), np.log((1.0 - part) / share), -np.log(part)])
    lean = np.where(broken > beaten, 0.95, 0.05) if K > 1 else np.ones(1)
    out = np.log((1.0 - part) / (share * (1.0 - lean))) if K > 1 else -np.log(share)
    return np.array([np.log((m + c) / share), out, -np.log(part), -np.log(share), np.log(c / (share * lean))])


class Gaps:
    """e of known Gaussians."""

    def __init__(self, late: Sample, var: Floats, rho: Floats, slack: Floats) -> None:
        self.late, self.var, self.rho, self.slack = late, var[:, : slack.size], rho, slack
        self.n_facets = slack.size

    def of(self, i: Ints, j: Ints) -> Floats:
        """e_f(i over j) of so many pairs (n, m)."""
        n, m = self.late.n, self.n_facets
        F = self.late.score[:, :m]
        counts, var = (np.repeat(n[i], m), np.repeat(n[j], m)), (self.var[i].ravel(), self.var[j].ravel())
        return e_values((F[i] - F[j] + self.slack).ravel(), counts, var, self.rho).reshape(-1, m)

    def level(self, i: Ints, j: Ints) -> Bools:
        """All of them are noise."""
        return np.zeros((i.size, self.n_facets), dtype=bool)


def dominating(e: Pairs, i: Ints, j: Ints, table: Floats) -> Floats:
    """e for i to dominate j: where nothing is noise, to be level is enough."""
    return np.where(e.level(i, j), check_laws.CERTAIN, table)


def arm_tests(front: Bools, e: Pairs, meets: Floats, breaks: Floats, price: Floats) -> list[Test | None]:
    """Every arm's test; the margin is the least value. None: no evidence above 0."""
    (K, c), m = meets.shape, e.n_facets
    found: list[Test | None] = [None] * K
    ahead: list[Test | None] = [None] * K
    step = max(BLOCK // K, 1)
    for first in range(0, int(front.sum()), step):
        block = np.flatnonzero(front)[first : first + step]
        i, j = np.repeat(block, K), np.tile(np.arange(K), block.size)
        i, j = i[i != j], j[i != j]
        table = e.of(i, j)
        # i is ahead somewhere, or j breaks a limit; i is ahead everywhere, and meets all limits.
        some, every = np.hstack([table, breaks[j]]), np.hstack([dominating(e, i, j, table), meets[i]])
        most, least = some.argmax(axis=1).tolist(), every.argmin(axis=1).tolist()
        for n, (a, b, f, g) in enumerate(zip(i.tolist(), j.tolist(), most, least)):
            here = Test(float(some[n, f] - price[0, a]), float(some[n, f]), a, b, f)
            ahead[a] = min(ahead[a] or here, here)
            if not front[b] and every[n, g] > 0:
                here = Test(float(every[n, g] - price[2, a] - price[1, b]), float(every[n, g]), a, b, g)
                found[b] = max(found[b] or here, here)
    for k in range(K if c else 0):
        if front[k]:
            f = int(meets[k].argmin())
            here = Test(float(meets[k, f] - price[3, k]), float(meets[k, f]), k, k, m + f)
            ahead[k] = min(ahead[k] or here, here)
        elif breaks[k].max() > 0:
            f = int(breaks[k].argmax())
            here = Test(float(breaks[k, f] - price[4, k]), float(breaks[k, f]), k, k, m + f)
            found[k] = max(found[k] or here, here)
    return [own if own is not None and own.e > 0 else other for own, other in zip(ahead, found)]


def compute(design: Design, facts: Facts, front: Bools) -> Found:
    """Prices, e of pairs on every facet and of every limit, and every arm's test."""
    pilot, late, m = facts.pilot, facts.late, design.n_facets
    assert pilot is not None and late is not None
    var = design.var if design.laws is None else check_laws.variances(design.laws, design.W, pilot)
    slack, level = design.slack[:m], design.levels(facts.origin)[m:]
    price = pilot_prices(pilot.score, pilot.n, var, slack, level)
    over = late.score[:, m:] - level
    if design.laws is None:
        pairs: Pairs = Gaps(late, var, design.rho, slack)
        alone = lone_values(np.abs(over), late.n, var[:, m:], design.rho)
    else:
        tests = check_laws.Tests(design.laws, design.W, slack, pilot, late)
        pairs, alone = tests, np.full(over.shape, -np.inf)
        for k, c in np.ndindex(over.shape):
            alone[k, c] = tests.alone(k, m + c, float(level[c]))
    # Without noise an arm on its limit meets it.
    met = (over > 0) | ((over == 0) & (var[:, m:] == 0))
    meets, breaks = np.where(met, alone, -np.inf), np.where(over < 0, alone, -np.inf)
    return Found(price, pairs, meets, breaks, arm_tests(front, pairs, meets, breaks, price))
