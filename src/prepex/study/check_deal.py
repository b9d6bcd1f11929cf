"""How delta is dealt, for check.py, by definition and numpy only: shares, weights of what tests average, prices.

Legend
    K, m, c   arms, facets, limits
    S, V      scores in the pilot, those of limits above what they ask for, and the variances of their means (K, m + c)
    decided   the likelihood ratio with which the pilot decides an arm's status, at most 300 (K,)
    front     the answer of the pilot (K,)
    share     of delta, of the plain union (K,);  part: of rivals (K,);  lean: of limits (K,)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

# A tenth of every average and share is dealt equally, and of closed testing a tenth stays with the shares.
EQUAL, SPARE, SURE = 0.1, 0.1, 300.0


def pareto(S: Floats, free: Bools) -> Bools:
    """Which rows, of those that are free of broken limits, no other of them dominates."""
    others = S[free]
    beaten = [np.any((row <= others).all(axis=1) & (row < others).any(axis=1)) for row in S]
    return free & ~np.array(beaten, dtype=bool)


def _ratio(gap: Floats, spread: Floats) -> Floats:
    """The likelihood ratio of a gap against none, with the gap's sign; infinite if it is known without error."""
    found = np.where(spread > 0, 0.5 * gap**2 / np.where(spread > 0, spread, 1.0), np.inf)
    return np.where(gap > 0, found, np.where(gap < 0, -found, 0.0))


def _appeal(ratio: Floats) -> Floats:
    """What a reason deserves of an average: more by evidence for it, less by evidence against it."""
    return np.asarray((1.0 + np.minimum(np.abs(ratio), SURE)) ** np.where(ratio > 0, 2.0, -2.0))


@dataclass
class Deal:
    """Shares and weights, fixed when the pilot ended; without a pilot all equal."""

    closed: bool
    seen: bool
    slack: Floats
    S: Floats
    V: Floats
    decided: Floats
    front: Bools
    share: Floats
    part: Floats
    lean: Floats
    n: Floats

    @classmethod
    def of(cls, S: Floats, N: Floats, var: Floats, slack: Floats, closed: bool) -> "Deal":
        """From the pilot's statistics; N = 0: there was none."""
        (K, rows), m = S.shape, slack.size
        nobody, equal = np.zeros(K, dtype=bool), np.full(K, 1.0 / K)
        half = np.full(K, 0.0 if rows == m else 0.5 if K > 1 else 1.0)
        if not N.any():
            flat = np.zeros((K, rows))
            return cls(closed, False, slack, flat, flat, np.zeros(K), nobody, equal, equal, half, N)
        deal = cls(closed, True, slack, S, var / N[:, None], np.zeros(K), nobody, equal, equal, half, N)
        deal._decide()
        return deal

    def _decide(self) -> None:
        """Who is in the pilot's answer, how surely, and what follows for shares."""
        (K, rows), m = self.S.shape, self.slack.size
        over = self.S[:, m:]
        front = pareto(self.S[:, :m], np.asarray((over >= 0).all(axis=1)))
        met, broken = self._limits(1.0).min(axis=1, initial=np.inf), self._limits(-1.0).max(axis=1, initial=0.0)
        decided, beaten = np.empty(K), np.zeros(K)
        for i in range(K):
            others = np.flatnonzero((np.arange(K) != i) if front[i] else front)
            here = np.full(others.size, i)
            if front[i]:
                most = np.maximum(self._ahead(here, others).max(axis=1), broken[others])
                most = np.where(self._equal(here, others), np.inf, most)
                decided[i] = min(most.min(initial=np.inf), met[i])
            else:
                beaten[i] = self._over(others, here).max(initial=0.0)
                decided[i] = max(beaten[i], broken[i])
        self.front, self.decided = front, np.minimum(decided, SURE)
        doubt = np.exp(-2.0 * self.decided)
        rival = np.where(front, 1.0, doubt)
        self.share = (1.0 - EQUAL) * doubt / doubt.sum() + EQUAL / K
        self.part = (1.0 - EQUAL) * rival / rival.sum() + EQUAL / K
        if rows > m and K > 1:
            self.lean = np.where(broken > beaten, 1.0 - EQUAL / 2.0, EQUAL / 2.0)

    def _ahead(self, i: Ints, j: Ints) -> Floats:
        """Ratios of i ahead of j, negative where it is behind (n, m)."""
        m = self.slack.size
        return _ratio(self.S[i, :m] - self.S[j, :m] + self.slack, self.V[i, :m] + self.V[j, :m])

    def _equal(self, i: Ints, j: Ints) -> Bools:
        """Known to be equal on every facet, without noise (n,)."""
        m = self.slack.size
        same = (self.S[i, :m] - self.S[j, :m] + self.slack == 0) & (self.V[i, :m] + self.V[j, :m] == 0)
        return np.asarray(same.all(axis=1))

    def _over(self, j: Ints, i: Ints) -> Floats:
        """Ratios of j dominating i, and meeting its limits (n,): without noise to be level is enough."""
        m = self.slack.size
        level = (self.V[j, :m] + self.V[i, :m] == 0) & (self.S[j, :m] - self.S[i, :m] + self.slack >= 0)
        facets = np.where(level, np.inf, self._ahead(j, i)).min(axis=1, initial=np.inf)
        return np.minimum(facets, self._limits(1.0)[j].min(axis=1, initial=np.inf))

    def _limits(self, side: float) -> Floats:
        """Ratios of every arm on one side of its limits, negative where it is on the other (K, c)."""
        m = self.slack.size
        over, V = side * self.S[:, m:], self.V[:, m:]
        return np.where((over == 0) & (V == 0) & (side > 0), np.inf, _ratio(over, V))

    def _mixed(self, weight: Floats) -> Floats:
        """Rows that sum to one, a tenth of them equal (n, r)."""
        if not (self.closed and self.seen):
            weight = np.ones_like(weight)
        return (1.0 - EQUAL) * weight / weight.sum(axis=1, keepdims=True) + EQUAL / max(weight.shape[1], 1)

    def facets(self, i: Ints, j: Ints) -> Floats:
        """Of facets and of j's limits in the test of i, in the answer, against j (n, m + c)."""
        return self._mixed(_appeal(np.hstack([self._ahead(i, j), self._limits(-1.0)[j]])))

    def limits(self) -> Floats:
        """Of an arm's own limits in its test if it is outside the answer (K, c)."""
        return self.lean[:, None] * self._mixed(_appeal(self._limits(-1.0)))

    def rivals(self, i: int) -> Floats:
        """Of its rivals in the test of arm i, outside the answer (K,); 0 for itself."""
        K = self.share.size
        others = np.flatnonzero(np.arange(K) != i)
        weight = np.zeros(K)
        if not self.closed:
            weight[others] = self.part[others] / (1.0 - self.part[i])
        else:
            own = _appeal(self._over(others, np.full(others.size, i))) * self.part[others]
            weight[others] = self._mixed(own[None])[0]
        return (1.0 - self.lean[i]) * weight

    def grid(self, rho: Floats, named: Floats) -> Floats:
        """log p_rho in the tests of every arm (K, J)."""
        base = np.tile(named / named.sum(), (self.share.size, 1))
        if self.closed and self.seen:
            best = 1.5 * self.n / np.maximum(self.decided, 0.25)
            off = np.log(rho / best[:, None]) / 1.5
            # The nearest constant may be far: never all weights 0.
            lean = base * np.exp(0.5 * (off**2).min(axis=1, keepdims=True) - 0.5 * off**2)
            base = (1.0 - EQUAL) * lean / lean.sum(axis=1, keepdims=True) + EQUAL * base
        return np.asarray(np.log(base))

    def prices(self, front: Bools) -> tuple[Floats, Floats]:
        """(on its own, as one of all) of every arm's test, for this answer."""
        plain = -np.log(self.share)
        if not (self.closed and self.seen):
            return plain, plain
        off = front != self.front
        h = int(off.sum())
        if self.slack.any():
            return plain, np.full(plain.size, -np.log(1.0 - SPARE)) if h == 0 else plain - np.log(SPARE)
        own = plain if h == 1 else plain - np.log(SPARE)
        return plain, np.where(off, own, np.log((h + 1.0) / (1.0 - SPARE)))
