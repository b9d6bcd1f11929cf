"""The closest alternatives of means at given weights: from the user's means to a ledger and back."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prepex._checks import Floats
from prepex._kernels.centre import facet_scores
from prepex._kernels.instance import Instance, Ints, inverse_of, make_known, root_of, with_limits
from prepex._kernels.laws.instance import make_instance
from prepex._kernels.laws.law import divergence
from prepex._kernels.laws.point import arm_cost_law, moved
from prepex._kernels.ledger import Ledger, collect, open_ledger, refresh
from prepex._kernels.room import CAPPED, CENTRE, CHANGED, SIZE, Y, make_pieces, most_constraints
from prepex.family import in_domain
from prepex.labels import Labels
from prepex.limits import Limits
from prepex.numerals import apart
from prepex.units import Units

# Nats an outcome: no arm moves by more than a fiftieth of a standard deviation, or what comes to that.
NEARLY = 0.5 * 0.02**2


@dataclass(frozen=True, eq=False)
class Alternative:
    """The closest instance in which one arm's status is another.

    kind          "add": `arm` becomes Pareto optimal; "remove": `hub`, also Pareto optimal, dominates `arm`;
                  "break": `arm`, which is Pareto optimal, breaks a limit, and `hub` is `arm`.
                  With a tolerance: "add": no Pareto optimal arm matches `arm` within it any more; "remove": `hub` beats
                  `arm`, which is Pareto optimal, by more than it
    value         sum_k N_k d(M_k, M'_k)
    arms, means   the arms that move, and where to, in the user's signs and units
    constraints   the facets that hold them: pairs (arm, facet), each w_facet . (M'_hub - M'_arm) = 0, or the tolerance
    limits        the limits that `hub` is just at, by number
    gradient      d(M_k, M'_k)                     (K,)
    lenient       is there a tolerance?
    infeasible    does the hub break a limit now?
    """

    kind: Literal["add", "remove", "break"]
    arm: int
    hub: int
    value: float
    arms: tuple[int, ...]
    means: Floats
    constraints: tuple[tuple[int, int], ...]
    limits: tuple[int, ...]
    gradient: Floats
    lenient: bool = field(repr=False)
    infeasible: bool = field(repr=False)
    rules: Limits | None = field(repr=False)
    labels: Labels = field(repr=False)
    before: Floats = field(repr=False)
    units: Units = field(default=Units(), repr=False)

    @property
    def capped(self) -> bool:
        """Is `value` only a lower bound, because it is reached where a law is not convex?"""
        return bool(self.arms) and not self.constraints and not self.limits

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
        change = self._change()
        if self.capped:
            far = self.labels.arms[self.arms[0]]
            return (
                f"{change}, but by no small change: it takes at least as much as a mean of {far} that is off by the "
                "spread of its single trials"
            )
        if not self.arms:
            return f"{change} by the smallest change: it is on the border now"
        moves = []
        for k, new, listed in zip(self.arms, self.means, self._moved(), strict=True):
            parts = []
            for q in np.flatnonzero(listed):
                after, before = apart(float(new[q]), float(self.before[k, q]))
                parts.append(f"{self.labels.objectives[q]} at {after} instead of {before}")
            if parts:
                moves.append(f"{self.labels.arms[k]} had {', '.join(parts)}")
        if not moves:
            return f"{change} by a change too small for the numbers to show: they are nearly tied"
        tied = "; they are nearly tied" if self.gradient.max() < NEARLY else ""
        return f"{change} if {' and '.join(moves)}{tied}"

    def _change(self) -> str:
        """Who would be what."""
        name, hub = self.labels.arms[self.arm], self.labels.arms[self.hub]
        if self.kind == "break":
            broken = "a limit" if self.rules is None or not self.limits else self.rules.words[self.limits[0]]
            return f"{name} would break the limit {broken}"
        if self.kind == "add":
            feasible = f"{name} would become feasible and " if self.infeasible else ""
            if self.lenient:
                return f"{feasible}no Pareto optimal option would match {name} within the tolerance"
            return f"{feasible or f'{name} would become '}Pareto optimal"
        feasible = "be feasible and " if self.infeasible else ""
        if self.lenient:
            return f"{hub} would {feasible}beat {name} by more than the tolerance"
        return f"{name} would be dominated by {hub}"

    def _moved(self) -> NDArray[np.bool_]:
        """Which coordinates of the arms have moved, by more than rounding, (arms, L).

        Against the range of each objective, and the largest such move: whatever the units and the origin.
        """
        old = self.before[list(self.arms)]
        same = np.abs(self.means - old) <= 4.0 * np.spacing(np.maximum(np.abs(old), np.abs(self.means)))
        before = self.units.inner(self.before)
        shift = np.where(same, 0.0, np.abs(self.units.inner(self.means) - before[list(self.arms)]))
        span = np.ptp(before, axis=0) + shift.max(axis=0)
        share = np.divide(shift, span, out=np.zeros_like(shift), where=span > 0.0)
        return np.asarray(share > 1e-6 * share.max())

    def __str__(self) -> str:
        return self.words


class Solver(ABC):
    """An open ledger, and the way from means to facet scores and back. `spare`: its room for a search's options."""

    ledger: Ledger
    weights: Floats
    value: float
    units = Units()

    def __init__(
        self,
        means: Floats,
        origin: Floats,
        labels: Labels,
        facets: Floats,
        slack: Floats | None,
        limits: Limits | None,
    ) -> None:
        self.means, self.origin = means, origin
        self.labels, self.limits, self.n_facets = labels, limits, len(facets)
        # Of all rows: the facets, then the limits.
        self.facets, self.slack, self.level = with_limits(
            facets,
            np.zeros(len(facets)) if slack is None else slack,
            None if limits is None else limits.rows,
            None if limits is None else limits.level,
            origin,
        )
        self.scores = facet_scores(means, self.facets) - self.level
        self.spare = 256

    @abstractmethod
    def _instance(self, weights: Floats) -> Instance:
        """The means at these weights."""

    @abstractmethod
    def _point(self, hub: int, link: Ints, y: Floats) -> tuple[list[int], Floats, Floats]:
        """From the constraints and multipliers of a star: the arms that move, their means, and d(M, M') (K,)."""

    def _alternative(self, hub: int, arm: int, value: float, link: Ints, y: Floats) -> Alternative:
        """A star in the user's units."""
        arms, means, gradient = self._point(hub, link, y)
        means = self.units.outer(means)
        gradient.flags.writeable = means.flags.writeable = False
        K, capped = len(self.means), len(link) > 0 and link[0, 1] == CAPPED
        held = [] if capped else [(int(a), int(f)) for a, f in link]
        centre = arm if hub >= K else hub
        return Alternative(
            kind="break" if hub >= K else "add" if arm == hub else "remove",
            arm=arm,
            hub=centre,
            value=value,
            arms=tuple(arms),
            means=means,
            constraints=tuple(pair for pair in held if pair[1] < self.n_facets),
            limits=tuple(f - self.n_facets for _, f in held if f >= self.n_facets),
            gradient=gradient,
            lenient=bool(self.slack.any()),
            infeasible=bool(np.any(self.scores[centre, self.n_facets :] < 0.0)),
            rules=self.limits,
            labels=self.labels,
            before=self.units.outer(self.means + self.origin),
            units=self.units,
        )

    def _open(self, weights: Floats) -> None:
        self.weights = weights
        self.ledger = open_ledger(self._instance(weights), self.spare)
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
        hub, arm, size = (int(whole[i]) for i in (CENTRE, CHANGED, SIZE))
        return self._alternative(hub, arm, self.value, star.link[:size], star.real[:size, Y])

    def collect(self, slack: float, at_most: int) -> tuple[Ints, Floats]:
        """Integers and reals of the cheapest pieces within `slack`, unsorted (see `_kernels.room.Pieces`)."""
        capacity = min(at_most, 64)
        while True:
            K, m = self.scores.shape
            pieces = make_pieces(capacity, most_constraints(K, m, m - self.n_facets))
            count = int(collect(self.ledger, slack, pieces))
            if count < 0:
                self.spare *= 8
                self._open(self.weights)
            elif count == capacity < at_most:
                capacity = min(at_most, 4 * capacity)
            else:
                return pieces.whole[:count], pieces.real[:count]

    def pieces(self, slack: float, at_most: int) -> tuple[Alternative, ...]:
        """The pieces within `slack`, cheapest first; if there are more than `at_most`, the cheapest of them."""
        whole, real = self.collect(slack, at_most)
        found = []
        for row in np.argsort(real[:, 0], kind="stable"):
            hub, arm, size = (int(entry) for entry in whole[row, :3])
            link = whole[row, 3 : 3 + 2 * size].reshape(size, 2)
            found.append(self._alternative(hub, arm, float(real[row, 0]), link, real[row, 1 : 1 + size]))
        return tuple(found)


class GaussianSolver(Solver):
    """Gaussian rewards of known covariance in the user's units, less `origin` (L,); signs in the facets."""

    def __init__(
        self,
        means: Floats,
        origin: Floats,
        weights: Floats,
        covariances: Floats,
        facets: Floats,
        labels: Labels,
        slack: Floats | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(means, origin, labels, facets, slack, limits)
        self.covariances = covariances
        # A product B B' is symmetric, and exactly zero where the objectives separate.
        half = self.facets @ root_of(covariances)
        self._gram = half @ np.swapaxes(half, 1, 2)
        self._prec = inverse_of(covariances)
        self._open(weights)

    def _instance(self, weights: Floats) -> Instance:
        return make_known(
            self._gram,
            self.scores,
            weights,
            facets=self.facets,
            prec=self._prec,
            slack=self.slack,
            level=self.level,
            n_facets=self.n_facets,
        )

    def _point(self, hub: int, link: Ints, y: Floats) -> tuple[list[int], Floats, Floats]:
        """M'_hub = M_hub + cov (sum_c y_c w_c) / N_hub,  M'_a = M_a - cov_a (sum_{c: a} y_c w_c) / N_a."""
        K = len(self.means)
        push = np.zeros_like(self.means)
        for (a, f), multiplier in zip(link, y, strict=True):
            if hub < K:
                push[hub] += multiplier * self.facets[f]
            if a < K:
                push[a] -= multiplier * self.facets[f]
        arms = [k for k in sorted({hub, *(int(a) for a in link[:, 0])}) if k < K] if len(link) else []
        gradient = np.zeros(len(self.means))
        means = np.zeros((len(arms), self.means.shape[1]))
        for position, k in enumerate(arms):
            covariance = self.covariances[k if len(self.covariances) > 1 else 0]
            shift = covariance @ push[k] / self.weights[k]
            gradient[k] = 0.5 * shift @ push[k] / self.weights[k]
            means[position] = self.means[k] + shift + self.origin
        return arms, means, gradient


class LawSolver(Solver):
    """Objectives with laws of their own: codes (L,), scale (K, L), signs in the facets.

    In inner units, less `origin` (L,), which is 0 but for Gaussian objectives.
    """

    def __init__(
        self,
        means: Floats,
        origin: Floats,
        weights: Floats,
        codes: Ints,
        scale: Floats,
        facets: Floats,
        labels: Labels,
        slack: Floats | None = None,
        limits: Limits | None = None,
        units: Units | None = None,
    ) -> None:
        super().__init__(means, origin, labels, facets, slack, limits)
        self.codes, self.scale = codes, scale
        self.units = units or Units()
        self._open(weights)

    def real_gradient(self, piece: Alternative) -> Floats | None:
        """In place of a capped piece one arm moves alone, far enough. None if no such move stays in the domain."""
        if not piece.capped:
            return piece.gradient
        m, rows, scores = self.n_facets, len(self.facets), self.scores
        if piece.kind == "break":
            return self._broken(piece.arm)
        if piece.kind == "remove":
            # The hub must be level on every facet.
            ahead = [[gap] for gap in (scores[piece.arm] - scores[piece.hub] + self.slack)[:m]]
            facets = [[f] for f in range(m)]
        else:
            # It must be level with every arm of the Pareto set on one facet at least.
            ahead = [list((scores[a] - scores[piece.hub] + self.slack)[:m]) for a in self.pareto_set]
            facets = [list(range(m))] * len(ahead)
        outside = piece.hub not in self.pareto_set
        if outside:
            # And meet the limits.
            ahead += [[-scores[piece.hub, row]] for row in range(m, rows)]
            facets += [[row] for row in range(m, rows)]
        best: Floats | None = None
        inside = np.linalg.lstsq(self.facets[:m], np.ones(m), rcond=None)[0]
        for push in [inside, *np.diag(np.sign(self.facets[:m].sum(axis=0)))]:
            with np.errstate(divide="ignore", invalid="ignore"):
                rise = self.facets @ push
                needed = [
                    min(gap / rise[f] if rise[f] > 0 else (0.0 if gap <= 0 else np.inf) for gap, f in zip(gaps, on))
                    for gaps, on in zip(ahead, facets)
                ]
            length = max(0.0, *needed)
            for k, sign in ((piece.hub, 1.0), (piece.arm, -1.0)):
                if not np.isfinite(length) or (sign < 0 and (piece.kind == "add" or (outside and rows > m))):
                    continue
                cost = self._divergence(k, self.means[k] + sign * length * push)
                if best is None or self.weights[k] * cost < self.weights @ best:
                    best = np.zeros(len(self.means))
                    best[k] = cost
        return None if best is None or not np.isfinite(best).all() else best

    def _broken(self, k: int) -> Floats | None:
        """The cheapest move of arm k straight through a limit."""
        costs = [
            self._divergence(k, self.means[k] - self.scores[k, row] * self.facets[row])
            for row in range(self.n_facets, len(self.facets))
        ]
        found = np.zeros(len(self.means))
        found[k] = min(costs)
        return found if np.isfinite(found[k]) else None

    def _divergence(self, k: int, x: Floats) -> float:
        """d(M_k, x), infinite outside the domain."""
        total = 0.0
        for code, mu, y, scale in zip(self.codes, self.means[k], x, self.scale[k], strict=True):
            if not in_domain(int(code), float(y)):
                return np.inf
            total += float(divergence(np.int64(code), mu, y, scale))
        return total

    def _instance(self, weights: Floats) -> Instance:
        return make_instance(
            self.codes,
            self.scale,
            self.facets,
            self.means,
            weights,
            slack=self.slack,
            level=self.level,
            n_facets=self.n_facets,
        )

    def _point(self, hub: int, link: Ints, y: Floats) -> tuple[list[int], Floats, Floats]:
        inst, star, point = self.ledger.inst, self.ledger.search.star, self.ledger.search.lab.point
        size = len(link)
        star.link[:size], star.real[:size, Y] = link, y
        capped = size > 0 and link[0, 1] == CAPPED
        K = len(self.means)
        arms = sorted(k for k in {*(() if capped or not size else (hub,)), *(int(a) for a in link[:, 0])} if k < K)
        gradient, means = np.zeros(len(self.means)), np.zeros((len(arms), self.means.shape[1]))
        for position, k in enumerate(arms):
            gradient[k] = arm_cost_law(inst, np.int64(hub), star, np.int64(size), np.int64(k), point)
            if not capped:
                moved(inst, np.int64(hub), star, np.int64(size), np.int64(k), point)
            means[position] = (self.means[k] if capped else point) + self.origin
        return arms, means, gradient
