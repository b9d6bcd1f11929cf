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

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex._checks import Floats
from prepex.cone import Cone
from prepex.family import Family, Gaussian
from prepex.labels import Labels
from prepex.solvers import Alternative, GaussianSolver, LawSolver, Solver


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


def evidence(
    means: ArrayLike,
    counts: ArrayLike,
    *,
    family: Family,
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
    _checks.instance("family", family, Family)
    M = _checks.real_array("means", means, ("n_arms", None), ("n_objectives", cone.n_objectives))
    N = _checks.positive("counts", _checks.real_array("counts", counts, ("n_arms", M.shape[0])))
    labels = Labels.make(M.shape, arms, objectives, minimise)
    family.check_means(M, labels.objectives)
    return found_by(solver(M, N, family, cone, labels))


def solver(means: Floats, weights: Floats, family: Family, cone: Cone, labels: Labels) -> Solver:
    """Open a ledger. Inputs are checked already."""
    laws = family.laws(*means.shape)
    if laws is not None:
        if laws.unknown and laws.noise is None:
            raise ValueError("noise must be given where outcomes are not: the variances, known or estimated")
        scale = np.broadcast_to(laws.scale if laws.noise is None else laws.noise, means.shape)
        return LawSolver(means, weights, laws.codes, scale, cone.facets * labels.signs, labels)
    assert isinstance(family, Gaussian)
    signs = labels.signs
    covariances = family.covariances(*means.shape) * np.outer(signs, signs)
    return GaussianSolver(means * signs, weights, covariances, cone.facets, labels)


def found_by(solver: Solver) -> Evidence:
    """The evidence at the solver's weights."""
    best = solver.best()
    gradient = best.gradient if best else np.zeros(len(solver.weights))
    gradient.flags.writeable = False
    return Evidence(solver.value, solver.pareto_set, gradient, best, solver)
