"""The simulated truth: means, family and cone, with the user's names and signs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from prepex import _checks, _named, markup
from prepex._checks import Floats
from prepex.agreement import fitted
from prepex.cone import Cone
from prepex.family import Family, Gaussian
from prepex.labels import Labels
from prepex.numerals import plural
from prepex.units import Units


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """K arms whose mean outcomes are known: what a simulation pulls from and a lower bound is computed for.

    `means` (K, L) and the covariance are in the user's units, geometric means of a LogNormal; objectives named in
    `minimise` are costs. The cone orders benefits: every objective counted so that more is better. The rows and columns
    of a DataFrame are the arms and the objectives, by name.

    >>> problem = Problem(
    ...     [[3.0, 1.0], [1.0, 0.2], [0.5, 2.0]],
    ...     family=Gaussian(variance=1.0), cone=Cone.orthant(2),
    ...     arms=("fast", "cheap", "bad"), objectives=("speed", "cost"), minimise=("cost",),
    ... )
    >>> problem.pareto_set, problem.pareto_names
    ((0, 1), ('fast', 'cheap'))
    """

    means: Floats
    family: Family
    cone: Cone
    labels: Labels

    def __init__(
        self,
        means: ArrayLike,
        *,
        family: Family,
        cone: Cone,
        arms: Iterable[str] | None = None,
        objectives: Iterable[str] | None = None,
        minimise: Iterable[str | int] = (),
    ) -> None:
        _checks.instance("cone", cone, Cone)
        _checks.instance("family", family, Family)
        means, arms, objectives = _named.of_table("means", means, arms, objectives)
        checked = _checks.real_array("means", means, ("n_arms", None), ("n_objectives", cone.n_objectives))
        made = Labels.make(checked.shape, arms, objectives, minimise)
        family = family.ordered(made.arms, made.objectives)
        cone = fitted(cone, made, family.units(len(made.objectives)))
        if isinstance(family, Gaussian) and not family.unknown:
            family.covariances(*checked.shape)
        family.check_means(checked, made.objectives)
        for name, value in (
            ("means", checked),
            ("family", family),
            ("cone", cone),
            ("labels", made),
        ):
            object.__setattr__(self, name, value)

    def with_cone(self, cone: Cone) -> "Problem":
        """The same problem under another cone.

        >>> problem = Problem([[1.0, 0.0], [0.0, 0.5]], family=Gaussian(variance=1.0), cone=Cone.orthant(2))
        >>> problem.with_cone(Cone.angle(150)).pareto_set
        (0,)
        """
        labels = self.labels
        return Problem(
            self.means,
            family=self.family,
            cone=cone,
            arms=labels.arms,
            objectives=labels.objectives,
            minimise=labels.minimise,
        )

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.means.shape[0])

    @property
    def n_objectives(self) -> int:
        """L."""
        return int(self.means.shape[1])

    @property
    def units(self) -> Units:
        """Which objectives are compared by their logarithms."""
        return self.family.units(self.n_objectives)

    @property
    def inner_means(self) -> Floats:
        """The means as they are compared: logarithms of those of a LogNormal."""
        return _checks.frozen(self.units.inner(self.means))

    @property
    def benefits(self) -> Floats:
        """The means as they are compared, with every objective counted so that more is better."""
        return _checks.frozen(self.inner_means * self.labels.signs)

    @property
    def pareto_set(self) -> tuple[int, ...]:
        """The arms no other arm dominates."""
        return tuple(int(k) for k in self.cone.pareto_mask(self.benefits).nonzero()[0])

    @property
    def pareto_names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.labels.arms[k] for k in self.pareto_set)

    def to_frame(self) -> Any:
        """The means, and which options are Pareto optimal, as a DataFrame of pandas.

        >>> problem = Problem([[1.0, 0.0], [0.0, -0.5]], family=Gaussian(variance=1.0), cone=Cone.orthant(2))
        >>> problem.to_frame()["pareto"].tolist()
        [True, False]
        """
        return self._table().to_frame()

    def _repr_html_(self) -> str:
        return markup.block(repr(self), self._table(signs=True).to_html())

    def _table(self, *, signs: bool = False) -> markup.Rows:
        labels, mask = self.labels, self.cone.pareto_mask(self.benefits).tolist()
        heads = labels.signed if signs else labels.objectives
        columns = [*zip(heads, self.means.T.tolist(), strict=True), ("pareto", mask)]
        return markup.Rows("option", labels.arms, columns, ["in" if optimal else "out" for optimal in mask])

    def __repr__(self) -> str:
        size = f"{plural(self.n_arms, 'arm')}, {plural(self.n_objectives, 'objective')}"
        return f"Problem({size}, {self.family!r}, {self.cone!r})"
