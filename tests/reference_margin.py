"""Slow, obvious definitions of the certified margin: every pair, every facet, scipy's minimiser; and of what a pilot
deals, in loops over arms, facets and limits."""

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


def log_mean(x, xs, counts, variances, rhos, weights=None):
    """The function of x whose minimum is e; weights of the constants, equal ones if not given."""
    x = np.expand_dims(x, -1)
    weights = np.full(len(rhos), 1.0 / len(rhos)) if weights is None else weights
    up = log_mixture(xs[0] - x, counts[0], variances[0], rhos)
    down = log_mixture(x - xs[1], counts[1], variances[1], rhos)
    return logsumexp(up + down, b=weights, axis=-1)


def e_value(xs, counts, variances, rhos, weights=None):
    """e(i over j) for arms i, j = 0, 1 of xs, counts, variances."""
    if xs[0] <= xs[1]:
        return -np.inf
    wide = 3 * max(np.sqrt(variances[k] * (counts[k] + max(rhos))) / counts[k] for k in range(2))
    # The origin at x_i, so that a tiny gap keeps its digits.
    gap = xs[0] - xs[1]

    def value(x):
        return log_mean(x, (0.0, -gap), counts, variances, rhos, weights)

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


def lone_e(x, count, variance, rhos, weights=None):
    """e of "the score is above 0" for a mean x of `count` values; of "below 0" if x is negative."""
    weights = np.full(len(rhos), 1.0 / len(rhos)) if weights is None else weights
    return -np.inf if x == 0 else float(logsumexp(log_mixture(abs(x), count, variance, rhos), b=weights))


def answer(scores, n_facets):
    """The Pareto set of the arms whose scores of the limits, after those of the facets, are at least 0."""
    feasible = [k for k in range(len(scores)) if (scores[k, n_facets:] >= 0).all()]
    return [feasible[k] for k in pareto(scores[feasible, :n_facets])]


class Dealt:
    """What a pilot fixes: shares, weights, the answer that is tested around. `var`: of the means of the scores."""

    def __init__(self, scores, counts, var, n_facets, slack, closed=True):
        self.S, self.N, self.var, self.m, self.slack, self.closed = scores, counts, var, n_facets, slack, closed
        self.K, self.rows = scores.shape
        self.front = answer(scores, n_facets)
        self.decided = [self.decide(k) for k in range(self.K)]
        doubt = np.exp(-2 * np.array(self.decided))
        rival = np.where(np.isin(np.arange(self.K), self.front), 1.0, doubt)
        self.share = 0.9 * doubt / doubt.sum() + 0.1 / self.K
        self.part = 0.9 * rival / rival.sum() + 0.1 / self.K

    def ahead(self, i, j, f):
        gap, spread = self.S[i, f] + self.slack[f] - self.S[j, f], self.var[i, f] + self.var[j, f]
        return min(gap**2 / (2 * spread), 300.0) if gap > 0 else 0.0

    def meets(self, k, c):
        return min(self.S[k, c] ** 2 / (2 * self.var[k, c]), 300.0) if self.S[k, c] > 0 else 0.0

    def breaks(self, k, c):
        return min(self.S[k, c] ** 2 / (2 * self.var[k, c]), 300.0) if self.S[k, c] < 0 else 0.0

    def signed(self, gap, spread):
        """How surely the gap is above 0; negative: below."""
        return float(np.sign(gap) * min(gap**2 / (2 * spread), 300.0))

    def appeals(self, gaps):
        """What reasons deserve of an average, each given as (gap, spread) of all that it takes."""
        if not self.closed:
            return np.ones(len(gaps))
        surely = [min([300.0, *(self.signed(*one) for one in parts)]) for parts in gaps]
        return np.array([(1 + r) ** 2 if r > 0 else (1 - r) ** -2 for r in surely])

    def gap(self, i, j, f):
        return self.S[i, f] + self.slack[f] - self.S[j, f], self.var[i, f] + self.var[j, f]

    def over(self, j, i):
        """How surely j dominates i, and may."""
        facets = [self.ahead(j, i, f) for f in range(self.m)]
        return min([300.0, *facets, *(self.meets(j, c) for c in range(self.m, self.rows))])

    def broken(self, k):
        return max([0.0, *(self.breaks(k, c) for c in range(self.m, self.rows))])

    def dominated(self, i):
        return max([0.0, *(self.over(j, i) for j in self.front)])

    def decide(self, i):
        if i not in self.front:
            return max(self.broken(i), self.dominated(i))
        found = [300.0, *(self.meets(i, c) for c in range(self.m, self.rows))]
        others = [j for j in range(self.K) if j != i]
        return min(found + [max(self.broken(j), *(self.ahead(i, j, f) for f in range(self.m))) for j in others])

    def lean(self, k):
        """What the limits have of the test of an arm outside the answer."""
        if self.rows == self.m:
            return 0.0
        if self.K == 1:
            return 1.0
        return 0.95 if self.broken(k) > self.dominated(k) else 0.05

    def mixed(self, appeals):
        """Weights that sum to one: nine tenths by appeal, a tenth equal."""
        return 0.9 * appeals / appeals.sum() + 0.1 / len(appeals)

    def breaking(self, k):
        """Of k's limits, each a reason on its own."""
        return [[(-self.S[k, c], self.var[k, c])] for c in range(self.m, self.rows)]

    def of_facets(self, i, j):
        """v: of the facets, then of j's limits."""
        return self.mixed(self.appeals([[self.gap(i, j, f)] for f in range(self.m)] + self.breaking(j)))

    def of_limits(self, i):
        return self.lean(i) * self.mixed(self.appeals(self.breaking(i)))

    def of_rivals(self, i):
        """{j: pi_ij}"""
        others = [j for j in range(self.K) if j != i]
        if not self.closed:
            weights = [self.part[j] / (1 - self.part[i]) for j in others]
        else:
            needs = [
                [self.gap(j, i, f) for f in range(self.m)]
                + [(self.S[j, c], self.var[j, c]) for c in range(self.m, self.rows)]
                for j in others
            ]
            weights = self.mixed(self.appeals(needs) * self.part[others])
        return {j: (1 - self.lean(i)) * weight for j, weight in zip(others, weights, strict=True)}

    def of_grid(self, k, rhos, base):
        """p_rho in the tests of arm k."""
        if not self.closed:
            return base
        best = 1.5 * self.N[k] / max(self.decided[k], 0.25)
        likely = base * np.exp(-0.5 * (np.log(rhos / best) / 1.5) ** 2)
        return 0.9 * likely / likely.sum() + 0.1 * base

    def plain_price(self, k):
        return -np.log(self.share[k])

    def closed_price(self, k, front):
        """Of arm k's test as one of all, for the answer `front`; SPARE = 0.1."""
        off = {*front} ^ {*self.front}
        if not self.closed:
            return self.plain_price(k)
        if np.any(self.slack):
            return np.log(1 / 0.9) if not off else np.log(1 / (0.1 * self.share[k]))
        if k not in off:
            return np.log((len(off) + 1) / 0.9)
        return np.log(1 / self.share[k]) if len(off) == 1 else np.log(1 / (0.1 * self.share[k]))


def average(terms, closed=True):
    """(log sum v exp e over those with e > 0, or the largest v exp e alone if it is more, what the largest is of):
    terms are (e, v, what)."""
    e, v = np.array([term[0] for term in terms]), np.array([term[1] for term in terms])
    with np.errstate(divide="ignore"):
        each = e + np.log(v)
    value, what = each.max(), terms[int(each.argmax())][2]
    if closed and np.any(e > 0):
        value = max(value, logsumexp(each[e > 0]))
    return float(value), what


def arm_tests(front, e, meets, breaks, m, dealt):
    """Every arm's test before its price as (value, (better, worse, row)); e(i, j, f, k) in the test of arm k, meets(k)
    and breaks(k): [(e, row), ...]."""
    tests = []
    for i in range(dealt.K):
        if i in front:
            own = [(value, (i, i, row)) for value, row in meets(i)]
            for j in range(dealt.K):
                if j != i:
                    reasons = [(e(i, j, f, i), f) for f in range(m)] + breaks(j)
                    parts = zip(reasons, dealt.of_facets(i, j), strict=True)
                    own.append(average([(value, v, (i, j, row)) for (value, row), v in parts], dealt.closed))
            tests.append(min(own))
        else:
            terms = []
            if breaks(i):
                parts = zip(breaks(i), dealt.of_limits(i), strict=True)
                terms = [(value, p, (i, i, row)) for (value, row), p in parts]
            rivals = dealt.of_rivals(i) if dealt.K > 1 else {}
            for j in front:
                value, row = min([(e(j, i, f, i), f) for f in range(m)] + meets(j))
                terms.append((value, rivals[j], (j, i, row)))
            tests.append(average(terms, dealt.closed) if terms else (-np.inf, None))
    return tests


def gaussian_tests(front, scores, counts, variances, rhos, dealt):
    """The same of known Gaussians, with limits in the columns after the facets; variances (K, rows) of one reward."""
    rhos, named = np.unique(rhos, return_counts=True)
    base, m = named / named.sum(), dealt.m

    def e(i, j, f, k):
        xs = (scores[i, f] + dealt.slack[f], scores[j, f])
        return e_value(xs, counts[[i, j]], variances[[i, j], f], rhos, dealt.of_grid(k, rhos, base))

    def lone(k, side):
        weights = dealt.of_grid(k, rhos, base)
        found = [(lone_e(scores[k, r], counts[k], variances[k, r], rhos, weights), r) for r in range(m, dealt.rows)]
        return [(value if side * scores[k, r] > 0 else -np.inf, r) for value, r in found]

    return arm_tests(front, e, lambda k: lone(k, 1), lambda k: lone(k, -1), m, dealt)


def margin(tests, dealt, front):
    """(The least of the tests less their prices, what it is of)."""
    return min((value - dealt.closed_price(k, front), what) for k, (value, what) in enumerate(tests))
