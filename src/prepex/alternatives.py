"""Evidence: how far the data are from any instance with another Pareto set.

    Z(N) = min over alternatives M' of sum_k N_k d(M_k, M'_k),
    alternatives = U Remove(i, j) U U Add(j), and with limits U Break(i, c).

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

from prepex import _checks, _named, markup
from prepex._checks import Floats
from prepex._kernels.centre import reference
from prepex.agreement import fitted
from prepex.cone import Cone
from prepex.errors import InputError
from prepex.family import GAUSSIAN, STUDENT, Family, Gaussian
from prepex.labels import Labels
from prepex.limits import Limit, Limits, Sides, limits_of
from prepex.numerals import number
from prepex.solvers import Alternative, GaussianSolver, LawSolver, Solver
from prepex.tolerance import Tolerance, slack_of
from prepex.units import Units

# What `pieces` returns without being told how many: more are quickly more than memory holds.
MOST_PIECES = 1_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """The GLR statistic of a Pareto set, and what it is up against.

    value         Z(N); infinite when no alternative exists (a single arm), 0 at an exact tie
    pareto_set    the arms that no other arm dominates in the data; with limits, of those that meet them
    gradient      dZ/dN (K,); sum_k N_k gradient_k = Z
    alternative   the closest one, None if there is none
    """

    value: float
    pareto_set: tuple[int, ...]
    gradient: Floats
    alternative: Alternative | None
    _solver: "Solver" = field(repr=False)

    def _repr_html_(self) -> str:
        closest = "" if self.alternative is None else f"The closest alternative: {self.alternative.words}."
        labels = self._solver.labels
        mask = [k in self.pareto_set for k in range(len(labels.arms))]
        columns = [("Pareto optimal", mask), ("evidence a further pull", self.gradient.tolist())]
        rows = markup.Rows("option", labels.arms, columns, ["in" if optimal else "out" for optimal in mask])
        return markup.block(f"Evidence: {number(self.value)}", markup.line(closest), rows.to_html())

    def pieces(self, slack: float, at_most: int | None = None) -> tuple[Alternative, ...]:
        """The alternatives that are closest in their piece, with value at most `value + slack`, cheapest first.

        A piece is Remove(i, j), Break(i, c), or Add(j) with one facet chosen for each Pareto arm; choices with the same
        closest point are listed once. Their number can grow exponentially with the Pareto set and the slack: with
        `at_most` only the cheapest so many are found; without it, more than 1,000 are refused.

        >>> found = evidence([[2, 0], [0, 2], [-1, -1]], [9, 9, 9], family=Gaussian(variance=1), cone=Cone.orthant(2))
        >>> [(piece.kind, round(piece.value, 2)) for piece in found.pieces(slack=10.0)]
        [('add', 4.5), ('remove', 9.0), ('remove', 9.0)]
        >>> [(piece.kind, round(piece.value, 2)) for piece in found.pieces(slack=10.0, at_most=1)]
        [('add', 4.5)]
        """
        slack = _checks.number("slack", slack, low=0.0, closed=True)
        limit = MOST_PIECES + 1 if at_most is None else _checks.whole("at_most", at_most, low=1)
        if not np.isfinite(self.value):
            return ()
        found = self._solver.pieces(slack, limit)
        if at_most is None and len(found) > MOST_PIECES:
            raise InputError(
                f"slack must leave at most {MOST_PIECES:,} alternatives, got {slack:g}, which leaves more: "
                "choose a smaller one, or at_most=n for the n cheapest"
            )
        return found


def evidence(
    means: ArrayLike,
    counts: ArrayLike,
    *,
    family: Family,
    cone: Cone,
    arms: Iterable[str] | None = None,
    objectives: Iterable[str] | None = None,
    minimise: Iterable[str | int] = (),
    tolerance: Tolerance = None,
    at_most: Sides = None,
    at_least: Sides = None,
    limits: Iterable[Limit] = (),
) -> Evidence:
    """How far the means, each estimated from so many pulls, are from any instance with another Pareto set.

    `means` (K, L) in the user's signs, geometric ones of a LogNormal, `counts` (K,) positive. Names and `minimise` as
    for `Problem`; of a DataFrame of means they are its own. Counts in a mapping or a Series are taken by name.

    >>> found = evidence(
    ...     [[2.0, 1.0], [0.0, 3.0], [1.0, 0.0]], [10, 10, 10],
    ...     family=Gaussian(variance=1.0), cone=Cone.orthant(2), arms=("a", "b", "c"),
    ... )
    >>> found.value, found.pareto_set
    (2.5, (0, 1))

    With a `tolerance` (a number, one for each objective, or a mapping by name, in the units of the objectives; of a
    LogNormal a share, `"5%"`) only instances count for which the Pareto set is not right within it: an option in it is
    beaten by more than that, or one left out is matched by none of it.

    >>> close = [[1.0, 0.0], [1.0, 0.01], [0.0, -1.0]]
    >>> family, cone = Gaussian(variance=1.0), Cone.orthant(2)
    >>> [round(evidence(close, [50, 50, 50], family=family, cone=cone, tolerance=t).value, 4) for t in (0.0, 0.5)]
    [0.0, 3.125]

    With limits, `at_most` and `at_least` for single objectives and `limits` for sums of them, the answer is the Pareto
    set of the options that meet them all. It may be empty.

    >>> found = evidence(
    ...     [[0.5, 0.21], [0.8, 0.6]], [40, 40], family=Gaussian(variance=0.1), cone=cone,
    ...     arms=("low", "high"), objectives=("effect", "toxicity"), minimise=("toxicity",), at_most={"toxicity": 0.3},
    ... )
    >>> found.pareto_set, found.alternative.words
    ((0,), 'low would break the limit toxicity at most 0.3 if low had toxicity at 0.3 instead of 0.21')
    """
    _checks.instance("cone", cone, Cone)
    _checks.instance("family", family, Family)
    means, arms, objectives = _named.of_table("means", means, arms, objectives)
    M = _checks.real_array("means", means, ("n_arms", None), ("n_objectives", cone.n_objectives))
    labels = Labels.make(M.shape, arms, objectives, minimise)
    family = family.ordered(labels.arms, labels.objectives)
    cone = fitted(cone, labels, family.units(len(labels.objectives)))
    counts = _named.in_order("counts", counts, labels.arms)
    N = _checks.positive("counts", _checks.real_array("counts", counts, ("n_arms", M.shape[0])))
    family.check_means(M, labels.objectives)
    slack = slack_of(tolerance, cone, labels, family.units(M.shape[1]))
    bounds = limits_of(labels, at_most=at_most, at_least=at_least, limits=limits, family=family)
    return found_by(solver(M, N, family, cone, labels, slack, bounds))


def solver(
    means: Floats,
    weights: Floats,
    family: Family,
    cone: Cone,
    labels: Labels,
    slack: Floats | None = None,
    limits: Limits | None = None,
) -> Solver:
    """Open a ledger. Inputs are checked already; `slack`: of a tolerance (tolerance.py)."""
    # The one place where minimised objectives are turned around.
    facets = cone.facets * labels.signs
    laws = family.laws(*means.shape)
    if laws is not None:
        units = Units(laws.logs)
        means = units.inner(means)
        if laws.unknown and laws.noise is None:
            raise InputError("noise must be given where outcomes are not: the variances, known or estimated")
        scale = np.broadcast_to(laws.scale if laws.noise is None else laws.noise, means.shape)
        origin = np.where(np.isin(laws.codes, (GAUSSIAN, STUDENT)), reference(means), 0.0)
        return LawSolver(means - origin, origin, weights, laws.codes, scale, facets, labels, slack, limits, units)
    if not isinstance(family, Gaussian):
        raise InputError(f"family must have a law for each objective, or be Gaussian, got {family!r}")
    origin = reference(means * labels.signs) * labels.signs
    covariances = family.covariances(*means.shape)
    return GaussianSolver(means - origin, origin, weights, covariances, facets, labels, slack, limits)


def found_by(solver: Solver) -> Evidence:
    """The evidence at the solver's weights."""
    best = solver.best()
    gradient = best.gradient if best else np.zeros(len(solver.weights))
    gradient.flags.writeable = False
    return Evidence(solver.value, solver.pareto_set, gradient, best, solver)
