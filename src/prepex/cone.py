"""Preference cones: which trade-offs count as better.

A cone C = {x : W x >= 0} orders outcomes: y is at least as good as x when y - x is in C. Everything is maximised.
A larger cone calls more arms dominated, so the Pareto set shrinks.

Legend
    facets   W, unit rows, none redundant    (m, L)
    rays     generators, unit rows           (r, L)
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prepex import _checks
from prepex._checks import Floats

# Directions closer than this (unit vectors) are the same: rounding, not preference.
SAME = 1e-9


@dataclass(frozen=True)
class Worth:
    """One unit of an objective is worth between `low` and `high` units of another. Made by `one(...).is_worth`."""

    unit: str
    low: float
    high: float
    of: str


class one:  # noqa: N801 - reads as a word: one("efficacy").is_worth(between=(0.5, 2), of="safety")
    """The beginning of a sentence about trade-offs.

    >>> one("efficacy").is_worth(between=(0.5, 2), of="safety")
    Worth(unit='efficacy', low=0.5, high=2.0, of='safety')
    """

    def __init__(self, objective: str) -> None:
        self.objective = objective

    def is_worth(
        self,
        *,
        of: str,
        between: tuple[float, float] | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> Worth:
        """Bound the exchange rate, from both sides (`between`) or from one.

        >>> one("speed").is_worth(at_least=3, of="elegance")
        Worth(unit='speed', low=3.0, high=inf, of='elegance')
        """
        if (between is None) == (at_least is None and at_most is None):
            raise ValueError("is_worth needs either between=(low, high), or at_least= and/or at_most=")
        low, high = (at_least or 0.0, np.inf if at_most is None else at_most) if between is None else between
        low = _checks.number("the lower rate", low, low=0.0, closed=True)
        if high != np.inf:
            high = _checks.number("the upper rate", high, low=0.0)
        if low > high:
            raise ValueError(f"the rates must be given as low, high, got {low:g} and {high:g}")
        if low == high:
            raise ValueError(
                f"the rates must leave room, low < high, got {low:g} twice: "
                f"with a fixed rate {self.objective!r} and {of!r} are one objective, so add them up instead"
            )
        return Worth(str(self.objective), low, float(high), str(of))


@dataclass(frozen=True, eq=False)
class Cone:
    """A polyhedral preference cone, pointed and with an interior.

    Made by `orthant`, `angle`, `from_facets`, `from_rays` or `tradeoffs`.

    facets   W, unit rows: the cone is {x : facets @ x >= 0}    (m, L)
    name     how it was made, for tables; may be empty

    >>> cone = Cone.angle(120)
    >>> cone.dominates([2.0, 0.9], [1.0, 1.0])
    True
    >>> Cone.orthant(2).dominates([2.0, 0.9], [1.0, 1.0])
    False
    """

    facets: Floats
    name: str = field(default="")

    @property
    def n_objectives(self) -> int:
        """L.

        >>> Cone.orthant(3).n_objectives
        3
        """
        return int(self.facets.shape[1])

    @property
    def n_facets(self) -> int:
        """m, which may exceed L.

        >>> Cone.orthant(3).n_facets
        3
        """
        return int(self.facets.shape[0])

    @cached_property
    def rays(self) -> Floats:
        """The extreme directions of improvement, unit rows.

        >>> Cone.orthant(2).rays
        array([[0., 1.],
               [1., 0.]])
        """
        return _frozen(_dual_rays(self.facets))

    def __repr__(self) -> str:
        return f"Cone.{self.name}" if self.name else f"Cone({self.n_facets} facets in {self.n_objectives} objectives)"

    @classmethod
    def orthant(cls, n_objectives: int) -> "Cone":
        """The usual order: better in every objective.

        >>> Cone.orthant(2).facets
        array([[1., 0.],
               [0., 1.]])
        """
        n_objectives = _checks.whole("n_objectives", n_objectives, low=1)
        return cls(_frozen(np.eye(n_objectives)), f"orthant({n_objectives})")

    @classmethod
    def angle(cls, degrees: float) -> "Cone":
        """Two objectives: the cone of this opening angle around the diagonal. 90 is the orthant.

        >>> Cone.angle(60).contains([1.0, 0.0])
        False
        """
        degrees = _checks.number("degrees", degrees, low=0.0, high=180.0)
        if degrees == 90.0:  # exactly the orthant, with no rounding of cos(pi / 2)
            return cls(_frozen(np.eye(2)), "angle(90)")
        lean = np.radians(degrees / 2 - 45)
        facets = np.array([[np.cos(lean), np.sin(lean)], [np.sin(lean), np.cos(lean)]])
        return cls(_frozen(facets), f"angle({degrees:g})")

    @classmethod
    def from_facets(cls, facets: ArrayLike) -> "Cone":
        """The cone {x : facets @ x >= 0}. Rows may have any length; redundant ones are dropped.

        >>> Cone.from_facets([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]).facets
        array([[1., 0.],
               [0., 1.]])
        """
        rows = _unit_rows("facets", facets)
        _require_solid("facets", rows)
        if np.linalg.matrix_rank(rows, tol=SAME) < rows.shape[1]:
            line = np.linalg.svd(rows)[2][-1]
            raise ValueError(
                "facets must make a pointed cone, got one that contains the whole line along "
                f"{_vector(line)}: no facet distinguishes its two directions"
            )
        return cls(_frozen(_irredundant(rows)))

    @classmethod
    def from_rays(cls, rays: ArrayLike) -> "Cone":
        """The cone of all non-negative combinations of `rays`.

        >>> Cone.from_rays([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).n_facets
        2
        """
        rows = _unit_rows("rays", rays)
        if np.linalg.matrix_rank(rows, tol=SAME) < rows.shape[1]:
            raise ValueError(
                f"rays must make a cone with an interior, got rays that span only "
                f"{np.linalg.matrix_rank(rows, tol=SAME)} of {rows.shape[1]} dimensions"
            )
        if _depth(rows) <= SAME:
            raise ValueError("rays must make a pointed cone, got rays whose combinations contain a whole line")
        return cls(_frozen(_dual_rays(rows)))

    @classmethod
    def tradeoffs(cls, objectives: "tuple[str, ...] | list[str]", *worths: Worth) -> "Cone":
        """More of everything is better, and the exchange rates between objectives are bounded.

        An option is at least as good as another iff it is worth at least as much at every rate within the bounds.
        For a minimised objective, a unit is a unit saved.

        >>> cone = Cone.tradeoffs(
        ...     ("efficacy", "safety"),
        ...     one("efficacy").is_worth(between=(0.5, 2), of="safety"),
        ... )
        >>> cone.dominates([3.0, 1.0], [2.0, 1.4])  # one efficacy for 0.4 safety: always worth it
        True
        """
        known = _checks.names("objectives", objectives, len(tuple(objectives)), "objective")
        # A price vector p >= 0 with low p_of <= p_unit <= high p_of: its dual cone is spanned by these rows.
        rows = list(np.eye(len(known)))
        for worth in worths:
            _checks.instance("each trade-off", worth, Worth)
            unit, of = _checks.member("unit", worth.unit, known), _checks.member("of", worth.of, known)
            if unit == of:
                raise ValueError(f"a trade-off must name two objectives, got {worth.unit!r} twice")
            for rate, sign in ((worth.low, 1.0), (worth.high, -1.0)):
                if 0.0 < rate < np.inf:
                    row = np.zeros(len(known))
                    row[unit], row[of] = sign, -sign * rate
                    rows.append(row)
        try:
            cone = cls.from_rays(np.array(rows))
        except ValueError:
            raise ValueError(
                "trade-offs must leave room for some rates, got bounds that contradict each other"
            ) from None
        return cls(cone.facets, f"tradeoffs({', '.join(known)})")

    def contains(self, points: ArrayLike) -> Any:
        """Is each point (..., L) in the cone? The border counts, to rounding.

        >>> Cone.orthant(2).contains([[1.0, 0.0], [1.0, -1.0]])
        array([ True, False])
        """
        x = self._points("points", points)
        inside = np.all(x @ self.facets.T >= -1e-12 * np.linalg.norm(x, axis=-1, keepdims=True), axis=-1)
        return bool(inside) if inside.ndim == 0 else inside

    def dominates(self, better: ArrayLike, worse: ArrayLike) -> Any:
        """Does `better` dominate `worse`, both (..., L)? Equal points do not dominate each other.

        >>> Cone.orthant(2).dominates([1.0, 1.0], [1.0, 0.0])
        True
        """
        above = self._points("better", better) @ self.facets.T
        below = self._points("worse", worse) @ self.facets.T
        answer = np.all(above >= below, axis=-1) & np.any(above > below, axis=-1)
        return bool(answer) if answer.ndim == 0 else answer

    def pareto_mask(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which rows of `points` (K, L) no other row dominates.

        >>> Cone.orthant(2).pareto_mask([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
        array([ True,  True, False])
        """
        from prepex._kernels.instance import find_front

        x = _checks.real_array("points", points, ("n_points", None), ("n_objectives", self.n_objectives))
        mask = np.zeros(len(x), dtype=np.bool_)
        find_front(np.ascontiguousarray(x @ self.facets.T), mask, np.zeros(len(x), dtype=np.int64))
        return mask

    def _points(self, name: str, value: ArrayLike) -> Floats:
        points = np.asarray(value, dtype=np.float64)
        if not np.all(np.isfinite(points)):
            raise ValueError(f"{name} must be finite, got {points.ravel()[~np.isfinite(points.ravel())][0]}")
        if points.shape[-1:] != (self.n_objectives,):
            raise ValueError(f"{name} must have shape (..., {self.n_objectives} = n_objectives), got {points.shape}")
        return points


def _frozen(rows: Floats) -> Floats:
    rows = np.ascontiguousarray(rows) + 0.0  # no negative zeros
    rows.flags.writeable = False
    return rows


def _unit_rows(name: str, value: ArrayLike) -> Floats:
    rows = _checks.real_array(name, value, (f"n_{name}", None), ("n_objectives", None))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if np.any(lengths == 0):
        raise ValueError(f"{name} must be directions, got a zero row at position {int(np.argmin(lengths))}")
    return np.asarray(rows / lengths)


def _depth(rows: Floats) -> float:
    """max_x min_i rows_i . x over |x|_inf <= 1: positive iff {x : rows x >= 0} has an interior."""
    from scipy.optimize import linprog

    n = rows.shape[1]
    answer = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack([-rows, np.ones((len(rows), 1))]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * n + [(None, 1)],
    )
    return float(-answer.fun)


def _require_solid(name: str, rows: Floats) -> None:
    from scipy.optimize import linprog

    if _depth(rows) > SAME:
        return
    for direction in (*np.eye(rows.shape[1]), *-np.eye(rows.shape[1])):
        answer = linprog(-direction, A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
        if -answer.fun > SAME:
            raise ValueError(
                f"{name} must make a cone with an interior, got one that is flat: "
                f"it contains {_vector(answer.x)} but no ball around any of its points"
            )
    raise ValueError(f"{name} must make a cone with an interior, got an empty one: only the origin meets every facet")


def _irredundant(rows: Floats) -> Floats:
    """Drop each row that is a non-negative combination of the others (the last of equal rows)."""
    from scipy.optimize import nnls

    kept = list(range(len(rows)))
    for i in reversed(range(len(rows))):
        others = [k for k in kept if k != i]
        if others and nnls(rows[others].T, rows[i])[1] <= SAME:
            kept = others
    return np.asarray(rows[kept])


def _dual_rays(rows: Floats) -> Floats:
    """Extreme rays of {x : rows x >= 0}, for rows that span the space and lie strictly on one side of a plane.

    The facets of the convex hull of the origin and the rows that go through the origin: their inner normals.
    """
    from scipy.spatial import ConvexHull

    n = rows.shape[1]
    if n == 1:
        return np.sign(rows[:1])
    hull = ConvexHull(np.vstack([np.zeros(n), rows]))
    normals = -hull.equations[np.abs(hull.equations[:, -1]) < SAME, :-1]
    found: list[Floats] = []
    for normal in normals[np.lexsort(normals.T[::-1])]:
        if not any(np.linalg.norm(normal - other) < SAME for other in found):
            found.append(normal)
    return np.array(found)


def _vector(x: Floats) -> str:
    return "(" + ", ".join(f"{entry:.3g}" for entry in x) + ")"
