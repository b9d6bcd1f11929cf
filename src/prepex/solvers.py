"""The closest alternatives of means at given weights: from the user's means to a ledger and back."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from prepex._checks import Floats
from prepex._kernels import ledger as kernels
from prepex._kernels.branch import make_pieces
from prepex._kernels.dispatch import AnyLedger, collect, refresh
from prepex._kernels.instance import Ints
from prepex._kernels.laws.law import divergence
from prepex._kernels.laws.ledger import LawLedger, open_means
from prepex._kernels.laws.point import CAPPED, arm_cost, moved
from prepex._kernels.star import Y
from prepex.family import in_domain
from prepex.labels import Labels


@dataclass(frozen=True, eq=False)
class Alternative:
    """The closest instance in which one arm's status is another.

    kind          "add": `arm` becomes Pareto optimal; "remove": `hub`, also Pareto optimal, dominates `arm`
    value         sum_k N_k d(M_k, M'_k)
    arms, means   the arms that move, and where to, in the user's signs
    constraints   the facets that hold them: pairs (arm, facet), each w_facet . (M'_hub - M'_arm) = 0
    gradient      d(M_k, M'_k)                     (K,)
    """

    kind: Literal["add", "remove"]
    arm: int
    hub: int
    value: float
    arms: tuple[int, ...]
    means: Floats
    constraints: tuple[tuple[int, int], ...]
    gradient: Floats
    labels: Labels = field(repr=False)
    before: Floats = field(repr=False)

    @property
    def capped(self) -> bool:
        """Is `value` only a lower bound, because it is reached where a law is not convex?"""
        return bool(self.arms) and not self.constraints

    @property
    def words(self) -> str:
        """The alternative as a sentence.

        >>> from prepex import Cone, Gaussian, evidence
        >>> found = evidence(
        ...     [[1.0], [0.0]], [1, 3], family=Gaussian(variance=1), cone=Cone.orthant(1),
        ...     arms=("a", "b"), objectives=("x",),
        ... )
        >>> found.alternative.words
        'b would become Pareto optimal if a had x at 0.25 instead of 1 and b had x at 0.25 instead of 0'
        """
        name = self.labels.arms[self.arm]
        change = (
            f"{name} would become Pareto optimal"
            if self.kind == "add"
            else f"{name} would be dominated by {self.labels.arms[self.hub]}"
        )
        if self.capped:
            far = self.labels.arms[self.arms[0]]
            return f"{change} if the mean of {far} were far off what was seen, which costs at least as much as stated"
        if not self.arms:
            return f"{change} by the smallest change: it is on the border now"
        moves = []
        for k, new in zip(self.arms, self.means, strict=True):
            old = self.before[k]
            parts = [
                f"{objective} at {after:.4g} instead of {before:.4g}"
                for objective, before, after in zip(self.labels.objectives, old, new, strict=True)
                if abs(after - before) > 1e-9 * (1.0 + abs(before))
            ]
            if parts:
                moves.append(f"{self.labels.arms[k]} had {', '.join(parts)}")
        return f"{change} if {' and '.join(moves)}"

    def __str__(self) -> str:
        return self.words


class Solver(ABC):
    """An open ledger, and the way from means to facet scores and back."""

    ledger: AnyLedger
    weights: Floats
    value: float

    def __init__(self, labels: Labels) -> None:
        self.labels = labels

    @abstractmethod
    def _ledger(self, weights: Floats, spare: int) -> AnyLedger:
        """A fresh ledger of the means at these weights."""

    @abstractmethod
    def _alternative(self, hub: int, arm: int, value: float, link: Ints, y: Floats) -> Alternative:
        """From the constraints and multipliers of a star back to means in the user's signs."""

    def _open(self, weights: Floats, spare: int = 256) -> None:
        self.weights = weights
        self.ledger = self._ledger(weights, spare)
        self.value = float(refresh(self.ledger, 0.0))

    def at(self, weights: Floats) -> "Solver":
        """The same means at other weights."""
        self._open(weights)
        return self

    @property
    def pareto_set(self) -> tuple[int, ...]:
        """P of the means."""
        return tuple(int(k) for k in self.ledger.inst.mask.nonzero()[0])

    def real_gradient(self, piece: Alternative) -> Floats | None:
        """d(M, M') of an M' that truly has another Pareto set: the piece's, or of one in place of a capped piece."""
        return piece.gradient

    def best(self) -> Alternative | None:
        """The alternative that attains the evidence."""
        if not np.isfinite(self.value):
            return None
        whole, star = self.ledger.whole, self.ledger.best
        hub, arm, size = (int(whole[i]) for i in (kernels.CENTRE, kernels.CHANGED, kernels.SIZE))
        return self._alternative(hub, arm, self.value, star.link[:size], star.real[:size, Y])

    def collect(self, slack: float) -> tuple[Ints, Floats]:
        """Integers and reals of all pieces within `slack`, unsorted (see `_kernels.branch.Pieces`)."""
        capacity, spare = 64, 256
        while True:
            pieces = make_pieces(capacity, max(self.ledger.inst.S.shape))
            count = int(collect(self.ledger, slack, pieces))
            if 0 <= count <= capacity:
                return pieces.whole[:count], pieces.real[:count]
            if count < 0:
                spare *= 8
                self._open(self.weights, spare)
            else:
                capacity = 2 * count

    def pieces(self, slack: float) -> tuple[Alternative, ...]:
        """All pieces within `slack`, cheapest first."""
        whole, real = self.collect(slack)
        found = []
        for row in np.argsort(real[:, 0], kind="stable"):
            hub, arm, size = (int(entry) for entry in whole[row, :3])
            link = whole[row, 3 : 3 + 2 * size].reshape(size, 2)
            found.append(self._alternative(hub, arm, float(real[row, 0]), link, real[row, 1 : 1 + size]))
        return tuple(found)


class GaussianSolver(Solver):
    """Gaussian rewards of known covariance, every objective counted so that more is better."""

    def __init__(self, benefits: Floats, weights: Floats, covariances: Floats, facets: Floats, labels: Labels) -> None:
        super().__init__(labels)
        self.benefits, self.covariances, self.facets = benefits, covariances, facets
        # A product B B' is symmetric, and exactly zero where the objectives separate.
        half = facets @ np.linalg.cholesky(covariances)
        self._gram = half @ np.swapaxes(half, 1, 2)
        self._scores = benefits @ facets.T
        self._open(weights)

    def _ledger(self, weights: Floats, spare: int) -> AnyLedger:
        return kernels.open_ledger(self._gram, self._scores, weights, spare)

    def _alternative(self, hub: int, arm: int, value: float, link: Ints, y: Floats) -> Alternative:
        """M'_hub = M_hub + cov (sum_c y_c w_c) / N_hub,  M'_a = M_a - cov_a (sum_{c: a} y_c w_c) / N_a."""
        push = np.zeros_like(self.benefits)
        for (a, f), multiplier in zip(link, y, strict=True):
            push[hub] += multiplier * self.facets[f]
            push[a] -= multiplier * self.facets[f]
        arms = sorted({hub, *(int(a) for a in link[:, 0])}) if len(link) else []
        gradient = np.zeros(len(self.benefits))
        means = np.zeros((len(arms), self.benefits.shape[1]))
        for position, k in enumerate(arms):
            covariance = self.covariances[k if len(self.covariances) > 1 else 0]
            shift = covariance @ push[k] / self.weights[k]
            gradient[k] = 0.5 * shift @ push[k] / self.weights[k]
            means[position] = (self.benefits[k] + shift) * self.labels.signs
        gradient.flags.writeable = means.flags.writeable = False
        return Alternative(
            kind="add" if arm == hub else "remove",
            arm=arm,
            hub=hub,
            value=value,
            arms=tuple(arms),
            means=means,
            constraints=tuple((int(a), int(f)) for a, f in link),
            gradient=gradient,
            labels=self.labels,
            before=self.benefits * self.labels.signs,
        )


class LawSolver(Solver):
    """Objectives with laws of their own, in the user's units: codes (L,), scale (K, L), signs in the facets."""

    def __init__(
        self, means: Floats, weights: Floats, codes: Ints, scale: Floats, facets: Floats, labels: Labels
    ) -> None:
        super().__init__(labels)
        self.means, self.codes, self.scale, self.facets = means, codes, scale, facets
        self._open(weights)

    def real_gradient(self, piece: Alternative) -> Floats | None:
        """In place of a capped piece one arm moves alone, far enough. None if no such move stays in the domain."""
        if not piece.capped:
            return piece.gradient
        scores = self.means @ self.facets.T
        if piece.kind == "remove":
            # The hub must be level on every facet.
            ahead = [[gap] for gap in scores[piece.arm] - scores[piece.hub]]
            facets = [[f] for f in range(len(self.facets))]
        else:
            # It must be level with every arm of the Pareto set on one facet at least.
            ahead = [list(scores[a] - scores[piece.hub]) for a in self.pareto_set]
            facets = [list(range(len(self.facets)))] * len(ahead)
        best: Floats | None = None
        inside = np.linalg.lstsq(self.facets, np.ones(len(self.facets)), rcond=None)[0]
        for push in [inside, *np.diag(np.sign(self.facets.sum(axis=0)))]:
            with np.errstate(divide="ignore", invalid="ignore"):
                rise = self.facets @ push
                needed = [
                    min(gap / rise[f] if rise[f] > 0 else (0.0 if gap <= 0 else np.inf) for gap, f in zip(gaps, on))
                    for gaps, on in zip(ahead, facets)
                ]
            length = max(0.0, *needed)
            for k, sign in ((piece.hub, 1.0), (piece.arm, -1.0)):
                if not np.isfinite(length) or (sign < 0 and piece.kind == "add"):
                    continue
                cost = self._divergence(k, self.means[k] + sign * length * push)
                if best is None or self.weights[k] * cost < self.weights @ best:
                    best = np.zeros(len(self.means))
                    best[k] = cost
        return None if best is None or not np.isfinite(best).all() else best

    def _divergence(self, k: int, x: Floats) -> float:
        """d(M_k, x), infinite outside the domain."""
        total = 0.0
        for code, mu, y, scale in zip(self.codes, self.means[k], x, self.scale[k], strict=True):
            if not in_domain(int(code), float(y)):
                return np.inf
            total += float(divergence(np.int64(code), mu, y, scale))
        return total

    def _ledger(self, weights: Floats, spare: int) -> AnyLedger:
        return open_means(self.codes, self.scale, self.facets, self.means, weights, spare)

    def _alternative(self, hub: int, arm: int, value: float, link: Ints, y: Floats) -> Alternative:
        assert isinstance(self.ledger, LawLedger)
        inst, star, point = self.ledger.inst, self.ledger.search.star, self.ledger.lab.point
        size = len(link)
        star.link[:size], star.real[:size, Y] = link, y
        capped = size > 0 and link[0, 1] == CAPPED
        arms = sorted({*(() if capped or not size else (hub,)), *(int(a) for a in link[:, 0])})
        gradient, means = np.zeros(len(self.means)), np.zeros((len(arms), self.means.shape[1]))
        for position, k in enumerate(arms):
            gradient[k] = arm_cost(inst, np.int64(hub), star, np.int64(size), np.int64(k), point)
            if not capped:
                moved(inst, np.int64(hub), star, np.int64(size), np.int64(k), point)
            means[position] = self.means[k] if capped else point
        gradient.flags.writeable = means.flags.writeable = False
        return Alternative(
            kind="add" if arm == hub else "remove",
            arm=arm,
            hub=hub,
            value=value,
            arms=tuple(arms),
            means=means,
            constraints=() if capped else tuple((int(a), int(f)) for a, f in link),
            gradient=gradient,
            labels=self.labels,
            before=self.means,
        )
