"""The tests of families beyond the known Gaussian, for check.py: by definition (docs/certified.md, step 6), numpy only.

Legend
    law       gaussian, bernoulli, poisson, exponential; student and shared: a Gaussian of unknown variance
    W         facets for outcomes in the user's signs (m, L)
    Sample    n (K,), means and squares around them of objectives (K, L) and of facet scores (K, m)
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.study.check_penalty import TEMPER, normal_gamma, penalty_of_law

Floats = NDArray[np.float64]
UNKNOWN = ("student", "shared")
BLIND = 1e150
# Means that a law can have.
RANGES = {"bernoulli": (0.0, 1.0), "poisson": (0.0, math.inf), "exponential": (0.0, math.inf)}
# In place of an infinite cost.
CERTAIN = 1e6
# Powers of 2 that a multiplier may have.
FURTHEST = 1000


def scores(rows: Floats, W: Floats) -> Floats:
    """rows W' (n, m), term by term: equal rows have equal scores, which a product of matrices may round up or down."""
    total = np.zeros((len(rows), len(W)))
    for q in range(W.shape[1]):
        total += rows[:, q : q + 1] * W[:, q]
    return total


@dataclass
class Sample:
    """Outcomes of all arms, as far as the tests look at them."""

    n: Floats
    mean: Floats
    square: Floats
    score: Floats
    line: Floats

    @classmethod
    def of(cls, arm: NDArray[np.int64], values: Floats, size: Floats, K: int, W: Floats) -> "Sample":
        """From outcomes, and summaries of `size` outcomes as so many copies; nan for an arm without any."""
        n = np.bincount(arm, weights=size, minlength=K).astype(float)
        found: list[Floats] = [n]
        for rows in (values, scores(values, W)):
            mean, square = np.full((K, rows.shape[1]), np.nan), np.zeros((K, rows.shape[1]))
            for k in np.flatnonzero(n):
                own, weight = rows[arm == k], size[arm == k]
                mean[k] = own[0] + weight @ (own - own[0]) / n[k]
                square[k] = weight @ (own - mean[k]) ** 2
            found += [mean, square]
        return cls(*found)

    @classmethod
    def read(cls, arms: Sequence[Mapping[str, Any]], part: str) -> "Sample":
        """As a certificate states it; squares only where a variance is not known."""
        n, mean, score = (np.array([arm[part][name] for arm in arms], dtype=float) for name in ("n", "means", "scores"))
        square, line = np.zeros_like(mean), np.zeros_like(score)
        if "squares" in arms[0][part]:
            square, line = (np.array([arm[part][name] for arm in arms]) for name in ("squares", "score_squares"))
        return cls(n, mean, square, score, line)

    def less(self, origin: Floats, W: Floats) -> "Sample":
        """The same, of outcomes less `origin`."""
        return Sample(self.n, self.mean - origin, self.square, self.score - W @ origin, self.line)


def read_laws(family: Mapping[str, Any], L: int) -> list[tuple[str, float]] | None:
    """(law, variance) of every objective, or of its logarithm; None for a Gaussian of known covariance alone."""
    if family["name"] == "LogNormal":
        return [("shared" if family.get("shared") else "student", 0.0)] * L
    if family["name"] == "Product":
        return [(read_laws(one, 1) or [("gaussian", float(one["variance"]))])[0] for one in family["families"]]
    if family["name"] != "Gaussian":
        return [(family["name"].lower(), 0.0)] * L
    if family.get("variance") != "unknown":
        return None
    return [("shared" if family.get("shared") else "student", 0.0)] * L


def variances(laws: Sequence[tuple[str, float]], W: Floats, pilot: Sample) -> Floats:
    """Of one outcome's facet score, as the pilot estimates it (K, m)."""
    free = pilot.n.sum() - pilot.n.size
    own = np.empty_like(pilot.mean)
    for q, (law, known) in enumerate(laws):
        mu, least = pilot.mean[:, q], 0.25 / (pilot.n + 1.0)
        total = pilot.square[:, q].sum()
        with np.errstate(divide="ignore"):
            spread = np.where((pilot.n > 2) & (pilot.square[:, q] > 0), pilot.square[:, q] / pilot.n, np.inf)
        own[:, q] = {
            "gaussian": np.full_like(mu, known),
            "bernoulli": np.maximum(mu * (1.0 - mu), least),
            "poisson": np.maximum(mu, least),
            "exponential": mu * mu,
            "exact": np.zeros_like(mu),
            "student": spread,
            "shared": np.full_like(mu, total / free if free >= 2 and total > 0 else BLIND),
        }[law]
    return np.array([[sum(w[q] ** 2 * row[q] for q in np.flatnonzero(w)) for w in W] for row in own])


def divergence(law: str, mu: float, x: float, var: float) -> float:
    """d(mu, x)."""
    if law == "exact":
        return 0.0 if x == mu else math.inf
    if law == "gaussian":
        return 0.5 * (x - mu) / var * (x - mu)
    if law in UNKNOWN:
        return 0.5 * math.log1p((x - mu) ** 2 / var)
    if law == "bernoulli":
        return _surplus(mu, x, x - mu) + _surplus(1.0 - mu, 1.0 - x, mu - x)
    return _surplus(mu, x, x - mu) if law == "poisson" else _surplus(x, mu, mu - x) / x


def _surplus(a: float, b: float, more: float) -> float:
    """a log(a / b) + more, where b = a + more; if they are close, by Taylor's series, as all else cancels."""
    if a <= 0:
        return more
    if b <= 0:
        return math.inf
    if abs(more) > 0.05 * a:
        return a * math.log(a / b) + more
    return a * sum((-more / a) ** k / k for k in range(2, 16))


def tilted(law: str, mu: float, s: float, var: float) -> float:
    """argmin_x d(mu, x) + s x, kept where d is convex."""
    if law == "exact":
        return mu
    if law == "gaussian":
        return mu - var * s
    if law == "poisson":
        return mu / (1.0 + s) if s > -1.0 else math.inf
    if law == "exponential":
        return 2.0 * mu / (1.0 + math.sqrt(max(1.0 + 4.0 * s * mu, 0.0)))
    if law == "bernoulli":
        # The root of (1 + s)^2 - 4 s mu, as a sum of two squares.
        b, other = (1.0 + s, -s * mu) if s < 0 else (1.0 - s, s * (1.0 - mu))
        b, root = 1.0 + s, math.hypot(b, 2.0 * math.sqrt(other))
        return min(max(2.0 * mu / (b + root) if b > 0 else (b - root) / (2.0 * s), 0.0), 1.0)
    inside = 1.0 - 4.0 * s * s * var
    return mu - (2.0 * s * var / (1.0 + math.sqrt(inside)) if inside > 0 else math.copysign(math.sqrt(var), s))


@np.errstate(all="ignore")
def peak(at: Callable[[float], tuple[float, float]]) -> float:
    """Where over y >= 0 a concave function is largest; at(y) gives value and slope. y has the unit of 1 / outcome,
    which may be any: its power of 2 is found first. Infinite if the function grows without end."""
    least, most = -FURTHEST, FURTHEST
    if at(2.0**most)[1] > 0:
        return math.inf
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if at(2.0**middle)[1] > 0 else (least, middle)
    low, high = 2.0**least if least > -FURTHEST else 0.0, 2.0**most
    for _ in range(60):
        y = 0.5 * (low + high)
        low, high = (y, high) if at(y)[1] > 0 else (low, y)
    return low


def _top(at: Callable[[float], tuple[float, float]]) -> float:
    """The largest value of such a function."""
    y = peak(at)
    return at(y)[0] if y < math.inf else y


def to_border(
    laws: Sequence[tuple[str, float]], n: float, means: Sequence[float], g: Floats, off: float, level: float, cap: float
) -> float:
    """min of n d(mean, x) with g . x = level, off = g . mean - level; never more than cap, if several laws are seen."""
    seen = [int(q) for q in np.flatnonzero(g)]
    if off == 0.0 or cap <= 0.0:
        return 0.0
    if len(seen) == 1:
        (law, var), x = laws[seen[0]], float(level / g[seen[0]])
        low, high = RANGES.get(law, (-math.inf, math.inf))
        return n * divergence(law, means[seen[0]], x, var) if low < x < high else math.inf
    side = math.copysign(1.0, off)
    # The end of its range that an objective is pushed to.
    ranges = {q: RANGES.get(laws[q][0], (-math.inf, math.inf)) for q in seen}
    ends = [means[q] if laws[q][0] == "exact" else ranges[q][int(side * g[q] < 0)] for q in seen]
    if side * sum(g[q] * (end - means[q]) for q, end in zip(seen, ends)) > -abs(off):
        return math.inf

    def at(y: float) -> tuple[float, float]:
        value, slope = 0.0, abs(off)
        for q in seen:
            x = tilted(laws[q][0], means[q], side * y * g[q] / n, laws[q][1])
            if not math.isfinite(x):
                return -math.inf, -math.inf
            value += n * divergence(laws[q][0], means[q], x, laws[q][1])
            slope += side * g[q] * (x - means[q])
        return value + y * slope, slope

    return min(max(_top(at), 0.0), cap)


class Tests:
    """e of every pair and facet, and of every arm and limit. `slack`: of the facets; limits are the rows of W after."""

    def __init__(
        self, laws: Sequence[tuple[str, float]], W: Floats, slack: Floats, pilot: Sample, late: Sample
    ) -> None:
        self.laws, self.W, self.slack, self.pilot, self.late = laws, W, slack, pilot, late
        self.n_facets = len(slack)
        # Rows without noise: they are not tested, they hold or not.
        noisy = np.array([law != "exact" for law, _ in laws])
        self.exact = ~np.any(W[:, noisy] != 0.0, axis=1)
        self.free = float(pilot.n.sum() - pilot.n.size)

    def of(self, i: NDArray[np.int64], j: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
        """e_f(i over j) of so many pairs (n, m), the same in the tests of any arms k; -inf where i is not ahead."""
        ahead = (self.late.score[i] - self.late.score[j])[:, : self.n_facets] + self.slack > 0
        found = np.full(ahead.shape, -np.inf)
        for pair, f in np.argwhere(ahead).tolist():
            found[pair, f] = CERTAIN if self.exact[f] else min(self.test(int(i[pair]), int(j[pair]), f), CERTAIN)
        return found

    def level(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where i and j are level without noise, as far as matters (n, m)."""
        gap = (self.late.score[i] - self.late.score[j])[:, : self.n_facets] + self.slack
        return (gap == 0) & self.exact[: self.n_facets]

    def test(self, i: int, j: int, f: int) -> float:
        """e_f(i over j)."""
        seen = [int(q) for q in np.flatnonzero(self.W[f])]
        names = {self.laws[q][0] for q in seen}
        if names <= {"gaussian", "exact", *UNKNOWN} and names & {*UNKNOWN}:
            return self.stream(i, j, f, own="student" in names)
        paid = sum(self.penalty(k, q) for k in (i, j) for q in seen)
        return self.cost(i, j, f, seen) - paid if math.isfinite(paid) else -math.inf

    def alone(self, k: int, row: int, level: float) -> float:
        """e of an arm's side of a limit."""
        late, pilot, off = self.late, self.pilot, float(self.late.score[k, row] - level)
        seen = [int(q) for q in np.flatnonzero(self.W[row])]
        names, n = {self.laws[q][0] for q in seen}, float(late.n[k])
        if self.exact[row]:
            return CERTAIN
        if off == 0.0:
            return -math.inf
        if names <= {"gaussian", "exact", *UNKNOWN} and names & {*UNKNOWN}:
            spread = pilot.line[:, row].sum() / self.free if self.free > 0 else 0.0
            ss, moved = float(late.line[k, row]), float(late.score[k, row] - pilot.score[k, row])
            if n < 3 or ss <= 0 or spread <= 0:
                return -math.inf
            paid = self.unknown(n, moved, ss, pilot.n[k], pilot.line[k, row], spread)
            if "student" not in names:
                prior = 0.5 + 0.5 * TEMPER * self.free, 0.5 * spread * (1.0 + TEMPER * self.free)
                paid = normal_gamma(*map(float, (ss, *prior, n, pilot.n[k], moved)))
            return 0.5 * n * math.log1p(off * off * n / ss) - paid
        paid = sum(self.penalty(k, q) for q in seen)
        means, squares = late.mean[k].tolist(), late.square[k] / n
        laws = [(law, float(squares[q]) if law in UNKNOWN else var) for q, (law, var) in enumerate(self.laws)]
        cost = to_border(laws, n, means, self.W[row], off, level, self.least(k))
        return min(cost, CERTAIN) - paid if math.isfinite(paid) else -math.inf

    def stream(self, i: int, j: int, f: int, own: bool) -> float:
        """Of one Gaussian stream w . X of unknown variance."""
        late, pilot, pair = self.late, self.pilot, np.array([i, j])
        n, ss, gap = late.n[pair], late.line[pair, f], late.score[i, f] - late.score[j, f] + self.slack[f]
        off, n0 = late.score[pair, f] - pilot.score[pair, f], pilot.n[pair]
        spread = pilot.line[:, f].sum() / self.free if self.free > 0 else 0.0
        if spread <= 0:
            return -math.inf
        if not own:
            if n.sum() < 4 or ss.sum() <= 0:
                return -math.inf
            prior = 0.5 + 0.5 * TEMPER * self.free, 0.5 * spread * (1.0 + TEMPER * self.free)
            cost = 0.5 * n.sum() * math.log1p(gap * gap * n[0] * n[1] / n.sum() / ss.sum())
            samples = np.column_stack([n, n0, off]).ravel().tolist()
            return cost - normal_gamma(float(ss.sum()), *map(float, prior), *samples)
        if n.min() < 3 or ss.min() <= 0:
            return -math.inf
        A, B = ss / n / gap**2
        slope = [n[0] + n[1], -n[0] - 2.0 * n[1], n[0] * B + n[1] * A + n[1], -n[0] * B]
        roots = np.roots(slope)
        t = np.clip(np.append(roots[np.abs(roots.imag) < 1e-7].real, [0.0, 1.0]), 0.0, 1.0)
        cost = float((0.5 * n[0] * np.log1p((1 - t) ** 2 / A) + 0.5 * n[1] * np.log1p(t**2 / B)).min())
        return cost - sum(
            self.unknown(n[c], off[c], ss[c], n0[c], pilot.line[k, f], spread) for c, k in enumerate((i, j))
        )

    @staticmethod
    def unknown(n: float, off: float, ss: float, n0: float, ss0: float, spread: float) -> float:
        """The penalty of one Gaussian sample of unknown variance."""
        if n < 3 or ss <= 0 or spread <= 0:
            return math.inf
        prior = 0.5 + 0.5 * TEMPER * (n0 - 1.0), 0.5 * (spread + TEMPER * ss0)
        return normal_gamma(*map(float, (ss, *prior, n, n0, off)))

    def penalty(self, k: int, q: int) -> float:
        """Of an objective of an arm: largest log-likelihood less the log of the mixture."""
        law, var = self.laws[q]
        n, x, n0, m0 = (
            float(v) for v in (self.late.n[k], self.late.mean[k, q], self.pilot.n[k], self.pilot.mean[k, q])
        )
        weight = TEMPER * n0
        if law == "exact":
            return 0.0
        if law == "gaussian":
            return 0.5 * math.log1p(n / weight) + 0.5 * n * weight / (n + weight) * (x - m0) ** 2 / var
        if law in UNKNOWN:
            spread = self.pilot.square[:, q].sum() / self.free if self.free > 0 else 0.0
            return self.unknown(n, x - m0, self.late.square[k, q], n0, self.pilot.square[k, q], spread)
        return penalty_of_law(law, n, x, n0, m0)

    def cost(self, i: int, j: int, f: int, seen: Sequence[int]) -> float:
        """min of N_i d + N_j d with j ahead by the slack on facet f: pooled, or the dual by bisection of its slope."""
        late, w = self.late, self.W[f]
        pair = ((i, 1.0), (j, -1.0))
        if len(seen) == 1 and self.slack[f] == 0.0:
            q = seen[0]
            x = float((late.n[[i, j]] * late.mean[[i, j], q]).sum() / late.n[[i, j]].sum())
            return sum(late.n[k] * divergence(self.laws[q][0], late.mean[k, q], x, self.laws[q][1]) for k, _ in pair)
        scale = {
            (k, q): self.laws[q][1] if self.laws[q][0] not in UNKNOWN else late.square[k, q] / late.n[k]
            for k, _ in pair
            for q in range(w.size)
        }

        def at(y: float) -> tuple[float, float]:
            # x less mu, and not x, which may be so large that the difference of two is rounding.
            value, slope = 0.0, ahead
            for k, sign in pair:
                for q in seen:
                    law, mu, var = self.laws[q][0], float(late.mean[k, q]), scale[k, q]
                    x = tilted(law, mu, sign * y * w[q] / late.n[k], var)
                    if not math.isfinite(x):
                        return -math.inf, -math.inf
                    value += late.n[k] * divergence(law, mu, x, var)
                    slope += sign * w[q] * (x - mu)
            return value + y * slope, slope

        ahead = float(self.slack[f]) + sum(float(w[q] * (late.mean[i, q] - late.mean[j, q])) for q in seen)
        return min(max(_top(at), 0.0), self.least(i), self.least(j))

    def least(self, k: int) -> float:
        """What anything costs beyond the region where the laws of arm k are convex; 0 if a variance says nothing."""
        n, found = float(self.late.n[k]), math.inf
        for q, (law, _) in enumerate(self.laws):
            if law == "exponential":
                found = min(found, math.log(2.0) - 0.5)
            elif law in UNKNOWN:
                found = min(found, 0.5 * math.log(2.0) if n > 2 and self.late.square[k, q] > 0 else 0.0)
        return n * found
