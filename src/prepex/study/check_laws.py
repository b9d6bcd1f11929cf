"""The tests of families beyond the known Gaussian, for check.py: by definition (docs/certified.md, step 6), numpy only.

Legend
    law       gaussian, bernoulli, poisson, exponential; student and shared: a Gaussian of unknown variance
    W         facets for outcomes in the user's signs (m, L)
    Sample    n (K,), means and squares around them of objectives (K, L) and of facet scores (K, m)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
UNKNOWN = ("student", "shared")
# The pilot's likelihood enters a prior with this power.
TEMPER = 0.5
BLIND = 1e150


@dataclass
class Sample:
    """Outcomes of all arms, as far as the tests look at them."""

    n: Floats
    mean: Floats
    square: Floats
    score: Floats
    line: Floats

    @classmethod
    def of(cls, arm: NDArray[np.int64], values: Floats, K: int, W: Floats) -> "Sample":
        """From single outcomes; nan for an arm without any."""
        n = np.bincount(arm, minlength=K).astype(float)
        found = [n]
        for rows in (values, values @ W.T):
            mean, square = np.full((K, rows.shape[1]), np.nan), np.zeros((K, rows.shape[1]))
            for k in np.flatnonzero(n):
                mean[k] = rows[arm == k].mean(axis=0)
                square[k] = ((rows[arm == k] - mean[k]) ** 2).sum(axis=0)
            found += [mean, square]
        return cls(*found)

    @classmethod
    def read(cls, arms: Sequence[Mapping[str, Any]], part: str) -> "Sample":
        """As a certificate states it."""
        rows = ([arm[part][name] for arm in arms] for name in ("n", "means", "squares", "scores", "score_squares"))
        return cls(*(np.array(row, dtype=float) for row in rows))


def read_laws(family: Mapping[str, Any], L: int) -> list[tuple[str, float]] | None:
    """(law, variance) of every objective; None for a Gaussian of known covariance alone."""
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
            "student": spread,
            "shared": np.full_like(mu, total / free if free >= 2 and total > 0 else BLIND),
        }[law]
    return np.array([[sum(w[q] ** 2 * row[q] for q in np.flatnonzero(w)) for w in W] for row in own])


def divergence(law: str, mu: float, x: float, var: float) -> float:
    """d(mu, x)."""
    if law == "gaussian":
        return 0.5 * (x - mu) ** 2 / var
    if law in UNKNOWN:
        return 0.5 * math.log1p((x - mu) ** 2 / var)
    if law == "bernoulli":
        return _xlog(mu, x) + _xlog(1.0 - mu, 1.0 - x)
    return _xlog(mu, x) + x - mu if law == "poisson" else mu / x - 1.0 - math.log(mu / x)


def _xlog(mu: float, x: float) -> float:
    return mu * math.log(mu / x) if mu > 0 else 0.0


def tilted(law: str, mu: float, s: float, var: float) -> float:
    """argmin_x d(mu, x) + s x, kept where d is convex."""
    if law == "gaussian":
        return mu - var * s
    if law == "poisson":
        return max(mu, 1e-9) / (1.0 + s) if s > -1.0 else math.inf
    if law == "exponential":
        return 2.0 * mu / (1.0 + math.sqrt(max(1.0 + 4.0 * s * mu, 0.0)))
    if law == "bernoulli":
        b, root = 1.0 + s, math.sqrt(max((1.0 + s) ** 2 - 4.0 * s * mu, 0.0))
        return min(max(2.0 * mu / (b + root) if b > 0 else (b - root) / (2.0 * s), 0.0), 1.0)
    inside = 1.0 - 4.0 * s * s * var
    return mu - (2.0 * s * var / (1.0 + math.sqrt(inside)) if inside > 0 else math.copysign(math.sqrt(var), s))


def _lbeta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _normal_gamma(n: Floats, off: Floats, ss: float, n0: Floats, alpha: float, beta: float) -> float:
    """Largest log-likelihood of Gaussian samples with one variance, less the log of their mixture."""
    kappa, size = TEMPER * n0, float(n.sum())
    after = beta + 0.5 * ss + 0.5 * float((kappa * n / (kappa + n) * off**2).sum())
    mixed = math.lgamma(alpha + 0.5 * size) - math.lgamma(alpha) + alpha * math.log(beta)
    mixed += 0.5 * float(np.log(kappa / (kappa + n)).sum()) - (alpha + 0.5 * size) * math.log(after)
    return -0.5 * size * (math.log(ss / size) + 1.0) - mixed


class Tests:
    """e of every pair and facet."""

    def __init__(self, laws: Sequence[tuple[str, float]], W: Floats, pilot: Sample, late: Sample) -> None:
        self.laws, self.W, self.pilot, self.late = laws, W, pilot, late
        self.free = float(pilot.n.sum() - pilot.n.size)

    def table(self, front: NDArray[np.bool_]) -> Floats:
        """e_f(i over j) for i in front (K, K, m); -inf elsewhere."""
        K, m = self.late.score.shape
        found = np.full((K, K, m), -np.inf)
        for i in np.flatnonzero(front):
            for j in range(K):
                for f in range(m):
                    if self.late.score[i, f] > self.late.score[j, f]:
                        found[i, j, f] = self.test(int(i), j, f)
        return found

    def test(self, i: int, j: int, f: int) -> float:
        """e_f(i over j)."""
        seen = [int(q) for q in np.flatnonzero(self.W[f])]
        names = {self.laws[q][0] for q in seen}
        if names <= {"gaussian", *UNKNOWN} and names & {*UNKNOWN}:
            return self.stream(i, j, f, own="student" in names)
        paid = sum(self.penalty(k, q) for k in (i, j) for q in seen)
        return self.cost(i, j, f, seen) - paid if math.isfinite(paid) else -math.inf

    def stream(self, i: int, j: int, f: int, own: bool) -> float:
        """Of one Gaussian stream w . X of unknown variance."""
        late, pilot, pair = self.late, self.pilot, np.array([i, j])
        n, ss, gap = late.n[pair], late.line[pair, f], late.score[i, f] - late.score[j, f]
        off, n0 = late.score[pair, f] - pilot.score[pair, f], pilot.n[pair]
        spread = pilot.line[:, f].sum() / self.free if self.free > 0 else 0.0
        if spread <= 0:
            return -math.inf
        if not own:
            if n.sum() < 4 or ss.sum() <= 0:
                return -math.inf
            prior = 0.5 + 0.5 * TEMPER * self.free, 0.5 * spread * (1.0 + TEMPER * self.free)
            cost = 0.5 * n.sum() * math.log1p(gap * gap * n[0] * n[1] / n.sum() / ss.sum())
            return cost - _normal_gamma(n, off, float(ss.sum()), n0, *prior)
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
        return _normal_gamma(np.array([n]), np.array([off]), ss, np.array([n0]), *prior)

    def penalty(self, k: int, q: int) -> float:
        """Of an objective of an arm: largest log-likelihood less the log of the mixture."""
        law, var = self.laws[q]
        n, x, n0, m0 = (
            float(v) for v in (self.late.n[k], self.late.mean[k, q], self.pilot.n[k], self.pilot.mean[k, q])
        )
        weight = TEMPER * n0
        if law == "gaussian":
            return 0.5 * math.log((n + weight) / weight) + 0.5 * n * weight / (n + weight) * (x - m0) ** 2 / var
        if law in UNKNOWN:
            spread = self.pilot.square[:, q].sum() / self.free if self.free > 0 else 0.0
            return self.unknown(n, x - m0, self.late.square[k, q], n0, self.pilot.square[k, q], spread)
        if law == "bernoulli":
            a, b = 0.5 + weight * m0, 0.5 + weight * (1.0 - m0)
            top = n * (_xlog(x, 1.0) + _xlog(1.0 - x, 1.0))
            return top - _lbeta(a + n * x, b + n * (1.0 - x)) + _lbeta(a, b)
        events, time = (n * x, n) if law == "poisson" else (n, n * x)
        a, b = (0.5 + weight * m0, weight) if law == "poisson" else (0.5 + weight, weight * m0)
        top = n * _xlog(x, 1.0) - n * x if law == "poisson" else -n * (math.log(x) + 1.0)
        mixed = a * math.log(b) - math.lgamma(a) + math.lgamma(a + events) - (a + events) * math.log(b + time)
        return top - mixed

    def cost(self, i: int, j: int, f: int, seen: Sequence[int]) -> float:
        """min of N_i d + N_j d with j level on facet f: pooled, or the dual by bisection of its slope."""
        late, w = self.late, self.W[f]
        pair = ((i, 1.0), (j, -1.0))
        if len(seen) == 1:
            q = seen[0]
            x = float((late.n[[i, j]] * late.mean[[i, j], q]).sum() / late.n[[i, j]].sum())
            return sum(late.n[k] * divergence(self.laws[q][0], late.mean[k, q], x, self.laws[q][1]) for k, _ in pair)
        scale = {
            (k, q): self.laws[q][1] if self.laws[q][0] not in UNKNOWN else late.square[k, q] / late.n[k]
            for k, _ in pair
            for q in range(w.size)
        }

        def at(y: float) -> tuple[float, float]:
            value, slope = 0.0, 0.0
            for k, sign in pair:
                for q in seen:
                    law, mu, var = self.laws[q][0], float(late.mean[k, q]), scale[k, q]
                    x = tilted(law, mu, sign * y * w[q] / late.n[k], var)
                    if not math.isfinite(x):
                        return -math.inf, -math.inf
                    value += late.n[k] * divergence(law, mu, x, var)
                    slope += sign * w[q] * x
            return value + y * slope, slope

        low, high = 0.0, 1.0
        while at(high)[1] > 0 and high < 1e12:
            low, high = high, 2.0 * high
        for _ in range(100):
            y = 0.5 * (low + high)
            low, high = (y, high) if at(y)[1] > 0 else (low, y)
        # Beyond the region where a law is convex everything costs at least this much for one outcome.
        border = {"exponential": math.log(2.0) - 0.5} | dict.fromkeys(UNKNOWN, 0.5 * math.log(2.0))
        least = min(border.get(law, math.inf) for law, _ in self.laws)
        return min(max(at(low)[0], 0.0), least * float(late.n[[i, j]].min()))
