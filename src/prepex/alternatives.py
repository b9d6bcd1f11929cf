"""Evidence: how far the data are from any instance with another Pareto set.

    Z(N) = min over alternatives M' of sum_k N_k d(M_k, M'_k),   alternatives = U Remove(i, j) U U Add(j).

Legend
    means, counts   M and N                        (K, L), (K,)
    value           Z
    gradient        dZ/dN_k = d(M_k, M'_k)         (K,)
    alternative     the closest M': who would have to move where
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels import ledger as kernels
from prepex._kernels.branch import make_pieces
from prepex._kernels.instance import Ints
from prepex._kernels.star import Y
from prepex.cone import Cone
from prepex.family import Gaussian
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
    def words(self) -> str:
        """The alternative as a sentence.

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


@dataclass(frozen=True, eq=False)
class Evidence:
    """The GLR statistic of a Pareto set, and what it is up against.

    value         Z(N); infinite when no alternative exists (a single arm), 0 at an exact tie
    pareto_set    the arms that no other arm dominates in the data
    gradient      dZ/dN (K,); sum_k N_k gradient_k = Z
    alternative   the closest one, None if there is none
    """

    value: float
    pareto_set: tuple[int, ...]
    gradient: Floats
    alternative: Alternative | None
    _solver: "Solver" = field(repr=False)

    def pieces(self, slack: float) -> tuple[Alternative, ...]:
        """Every alternative that is closest in its piece, with value at most `value + slack`, cheapest first.

        A piece is Remove(i, j), or Add(j) with one facet chosen for each Pareto arm; choices with the same closest
        point are listed once.

        >>> found = evidence([[2, 0], [0, 2], [-1, -1]], [9, 9, 9], family=Gaussian(variance=1), cone=Cone.orthant(2))
        >>> [(piece.kind, round(piece.value, 2)) for piece in found.pieces(slack=10.0)]
        [('add', 4.5), ('remove', 9.0), ('remove', 9.0)]
        """
        slack = _checks.number("slack", slack, low=0.0, closed=True)
        return self._solver.pieces(slack) if np.isfinite(self.value) else ()


class Solver:
    """An open ledger with the geometry that leads from means to facet scores and back."""

    def __init__(self, benefits: Floats, weights: Floats, covariances: Floats, facets: Floats, labels: Labels) -> None:
        self.benefits, self.covariances, self.facets, self.labels = benefits, covariances, facets, labels
        # A product B B' is symmetric, and exactly zero where the objectives separate.
        half = facets @ np.linalg.cholesky(covariances)
        self._gram = half @ np.swapaxes(half, 1, 2)
        self._scores = benefits @ facets.T
        self._open(weights)

    def _open(self, weights: Floats, spare: int = 256) -> None:
        self.weights = weights
        self.ledger = kernels.open_ledger(self._gram, self._scores, weights, spare)
        self.value = float(kernels.refresh(self.ledger, 0.0))

    def at(self, weights: Floats) -> "Solver":
        """The same means at other weights."""
        self._open(weights)
        return self

    @property
    def pareto_set(self) -> tuple[int, ...]:
        """P of the means."""
        return tuple(int(k) for k in self.ledger.inst.mask.nonzero()[0])

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
            pieces = make_pieces(capacity, max(self._scores.shape))
            count = int(kernels.collect(self.ledger, slack, pieces))
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


def evidence(
    means: ArrayLike,
    counts: ArrayLike,
    *,
    family: Gaussian,
    cone: Cone,
    arms: Iterable[str] | None = None,
    objectives: Iterable[str] | None = None,
    minimise: Iterable[str | int] = (),
) -> Evidence:
    """How far the means, each estimated from so many pulls, are from any instance with another Pareto set.

    `means` (K, L) in the user's signs, `counts` (K,) positive. Names and `minimise` as for `Problem`.

    >>> found = evidence(
    ...     [[2.0, 1.0], [0.0, 3.0], [1.0, 0.0]], [10, 10, 10],
    ...     family=Gaussian(variance=1.0), cone=Cone.orthant(2), arms=("a", "b", "c"),
    ... )
    >>> found.value, found.pareto_set
    (2.5, (0, 1))
    """
    _checks.instance("cone", cone, Cone)
    _checks.instance("family", family, Gaussian)
    M = _checks.real_array("means", means, ("n_arms", None), ("n_objectives", cone.n_objectives))
    N = _checks.positive("counts", _checks.real_array("counts", counts, ("n_arms", M.shape[0])))
    labels = Labels.make(M.shape, arms, objectives, minimise)
    return found_by(solver(M, N, family, cone, labels))


def solver(means: Floats, weights: Floats, family: Gaussian, cone: Cone, labels: Labels) -> Solver:
    """Flip the minimised objectives and open a ledger. Inputs are checked already."""
    signs = labels.signs
    covariances = family.covariances(*means.shape) * np.outer(signs, signs)
    return Solver(means * signs, weights, covariances, cone.facets, labels)


def found_by(solver: Solver) -> Evidence:
    """The evidence at the solver's weights."""
    best = solver.best()
    gradient = best.gradient if best else np.zeros(len(solver.weights))
    gradient.flags.writeable = False
    return Evidence(solver.value, solver.pareto_set, gradient, best, solver)
