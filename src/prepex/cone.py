"""Preference cones: which trade-offs count as better.

A cone C = {x : W x >= 0} orders outcomes: y is at least as good as x when y - x is in C. Everything is maximised.
A larger cone calls more arms dominated, so the Pareto set shrinks.

Legend
    facets   W, unit rows, none redundant    (m, L)
    rays     generators, unit rows           (r, L)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prepex import _checks, _named, markup
from prepex._checks import Floats
from prepex._given import are_positions
from prepex.errors import InputError, InputTypeError, shown
from prepex.numerals import number, plural
from prepex.preferences import SAME, Statement, checked, differences, dual_rays, require_agreement, scale_of


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
            raise InputError("is_worth needs either between=(low, high), or at_least= and/or at_most=")
        if between is not None and (not isinstance(between, Sequence) or isinstance(between, str) or len(between) != 2):
            raise InputError(f"between must be a pair (low, high), got {shown(between)}")
        # No lower bound is 0, but a 0 that is written out, or anything else, is looked at.
        one_sided = (0.0 if at_least is None else at_least, np.inf if at_most is None else at_most)
        low, high = one_sided if between is None else between
        low = _checks.number("the lower rate", low, low=0.0, closed=True)
        if not isinstance(high, float) or high != np.inf:
            high = _checks.number("the upper rate", high, low=0.0)
        if low > high:
            raise InputError(f"the rates must be given as low, high, got {low:g} and {high:g}")
        if low == high:
            raise InputError(
                f"the rates must leave room, low < high, got {low:g} twice: "
                f"with a fixed rate {self.objective!r} and {of!r} are one objective, so add them up instead"
            )
        for objective in (self.objective, of):
            # A name, or a number that is one.
            if not isinstance(objective, str | int | np.integer) or isinstance(objective, bool):
                raise InputTypeError(f"a trade-off must name two objectives, got {shown(objective)}")
        return Worth(self.objective, low, float(high), of)


@dataclass(frozen=True, eq=False)
class Cone:
    """A polyhedral preference cone, pointed and with an interior.

    Made by `orthant`, `angle`, `from_facets`, `from_rays` or `tradeoffs`.

    facets       W, unit rows: the cone is {x : facets @ x >= 0}    (m, L)
    name         how it was made, for tables; may be empty
    objectives   the names of the columns of `facets`, if it was made from names: what it is given to goes by them
    statements   what was said about pairs of outcomes, if it was made from that

    >>> cone = Cone.angle(120)
    >>> cone.dominates([2.0, 0.9], [1.0, 1.0])
    True
    >>> Cone.orthant(2).dominates([2.0, 0.9], [1.0, 1.0])
    False
    """

    facets: Floats
    name: str = field(default="")
    objectives: tuple[str, ...] | None = field(default=None)
    statements: tuple[Statement, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        given = self.facets
        is_matrix = isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype == np.float64 and given.size > 0
        if not is_matrix or not np.allclose(np.linalg.norm(given, axis=1), 1.0, rtol=0.0, atol=SAME):
            raise InputTypeError(
                "a cone must be made by Cone.orthant(2), Cone.angle(120), Cone.from_facets([[1, 0.5], [0.5, 1]]), "
                f"Cone.from_rays([[1, 0], [0, 1]]) or Cone.tradeoffs(...), got Cone({shown(given)})"
            )
        _require_solid("facets", given)
        _require_pointed(given)
        _require_own_name(self.name, given)
        if given.flags.writeable:
            object.__setattr__(self, "facets", _frozen(given))

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
        return _frozen(dual_rays(self.facets))

    def ordered(self, objectives: Sequence[str]) -> "Cone":
        """The same cone over these objectives, in this order. Objectives that it does not know are refused.

        >>> cone = Cone.tradeoffs(("cost", "gain"), one("cost").is_worth(at_least=2, of="gain"))
        >>> cone.ordered(("gain", "cost")).contains([-2.0, 1.0])
        True
        """
        if len(objectives) != self.n_objectives:
            raise InputError(f"cone must be over {len(objectives)} = n_objectives, got one over {self.n_objectives}")
        if self.objectives is None or self.objectives == tuple(objectives):
            return self
        order = _named.order("objectives of the cone", self.objectives, objectives)
        known = tuple(objectives)
        name = self.name and f"{self.name.partition('(')[0]}({', '.join(known)})"
        said = tuple(
            Statement(tuple(s.one[k] for k in order), tuple(s.other[k] for k in order), s.clear)
            for s in self.statements
        )
        return Cone(_frozen(self.facets[:, order]), name, known, said)

    def to_frame(self) -> Any:
        """The facets, a row each, as a DataFrame of pandas.

        >>> Cone.orthant(2).to_frame().shape
        (2, 2)
        """
        return markup.frame(dict(zip(self._heads(), self.facets.T.tolist(), strict=True)))

    def _heads(self) -> tuple[str, ...]:
        return self.objectives or tuple(f"objective {q}" for q in range(self.n_objectives))

    def _repr_html_(self) -> str:
        """Facets, words, and for two objectives a picture: up and right are better."""
        rows = [[f"facet {k + 1}", *row] for k, row in enumerate(self.facets.tolist())]
        wedge = markup.wedge(self.rays.tolist(), self._heads()) if self.n_objectives == 2 else ""
        told = self.words() + (" Every objective is counted so that more is better." if self.name else "")
        table = markup.table(["", *self._heads()], rows)
        return markup.block(repr(self), markup.line(told), wedge, table)

    def __repr__(self) -> str:
        size = f"{plural(self.n_facets, 'facet')} in {plural(self.n_objectives, 'objective')}"
        return f"Cone.{self.name}" if self.name else f"Cone({size})"

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
        return cls(_frozen(_angle_facets(degrees)), f"angle({degrees:g})")

    @classmethod
    def from_facets(cls, facets: ArrayLike) -> "Cone":
        """The cone {x : facets @ x >= 0}. Rows may have any length; redundant ones are dropped.

        Columns go by name where they have names, as in a DataFrame.

        >>> Cone.from_facets([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]).facets
        array([[1., 0.],
               [0., 1.]])
        """
        plain, names = _columns("facets", facets)
        rows = _unit_rows("facets", plain)
        _require_solid("facets", rows)
        _require_pointed(rows)
        return cls(_frozen(_irredundant(rows)), objectives=names)

    @classmethod
    def from_rays(cls, rays: ArrayLike) -> "Cone":
        """The cone of all non-negative combinations of `rays`. Columns go by name where they have names.

        >>> Cone.from_rays([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).n_facets
        2
        """
        plain, names = _columns("rays", rays)
        rows = _unit_rows("rays", plain)
        if np.linalg.matrix_rank(rows, tol=SAME) < rows.shape[1]:
            raise InputError(
                f"rays must make a cone with an interior, got rays that span only "
                f"{np.linalg.matrix_rank(rows, tol=SAME)} of {rows.shape[1]} dimensions"
            )
        if _depth(rows) <= SAME:
            raise InputError("rays must make a pointed cone, got rays whose combinations contain a whole line")
        return cls(_frozen(dual_rays(rows)), objectives=names)

    @classmethod
    def tradeoffs(cls, objectives: "tuple[str, ...] | list[str]", *worths: Worth) -> "Cone":
        """More of everything is better, and the exchange rates between objectives are bounded.

        An option is at least as good as another iff it is worth at least as much at every rate within the bounds.
        For a minimised objective, a unit is a unit saved. What the cone is given to must have these objectives, in any
        order.

        >>> cone = Cone.tradeoffs(
        ...     ("efficacy", "safety"),
        ...     one("efficacy").is_worth(between=(0.5, 2), of="safety"),
        ... )
        >>> cone.dominates([3.0, 1.0], [2.0, 1.4])  # one efficacy for 0.4 safety: always worth it
        True
        """
        named = _checks.listed("objectives", objectives, "names")
        known = _checks.names("objectives", named, len(named), "objective")
        # A price vector p >= 0 with low p_of <= p_unit <= high p_of: its dual cone is spanned by these rows.
        rows = list(np.eye(len(known)))
        for worth in worths:
            _checks.instance("each trade-off", worth, Worth)
            unit, of = (_checks.member("objective of a trade-off", name, known) for name in (worth.unit, worth.of))
            if unit == of:
                raise InputError(f"a trade-off must name two objectives, got {worth.unit!r} twice")
            for rate, sign in ((worth.low, 1.0), (worth.high, -1.0)):
                if 0.0 < rate < np.inf:
                    row = np.zeros(len(known))
                    row[unit], row[of] = sign, -sign * rate
                    rows.append(row)
        try:
            cone = cls.from_rays(np.array(rows))
        except ValueError:
            raise InputError(
                "trade-offs must leave room for some rates, got bounds that contradict each other"
            ) from None
        return cls(cone.facets, f"tradeoffs({', '.join(known)})", known)

    @classmethod
    def from_preferences(
        cls,
        objectives: "tuple[str, ...] | list[str]",
        statements: Iterable[Statement],
        *,
        minimise: Iterable[str | int] = (),
        logs: Iterable[str | int] = (),
    ) -> "Cone":
        """The smallest cone that agrees with statements about pairs of outcomes, `better(a, b)` and `neither(a, b)`.

        Outcomes are in your units and signs: `minimise` says which objectives are costs. More of everything (less of a
        cost) is better whatever is said. `logs` are objectives that are compared by factors, as of a LogNormal.
        Statements that clash are refused by a smallest set of them.

        >>> from prepex import better
        >>> cone = Cone.from_preferences(
        ...     ("strength", "cost"), [better((60, 15), (55, 12))], minimise=("cost",)
        ... )
        >>> print(cone.words(minimise=("cost",)))
        Accepts up to 0.6 more cost for 1 more strength. Nothing else is given up.
        """
        named = _checks.listed("objectives", objectives, "names")
        known = _checks.names("objectives", named, len(named), "objective")
        costs = {_checks.member("minimise", name, known) for name in _names_of(minimise)}
        factors = {_checks.member("logs", name, known) for name in _names_of(logs)}
        signs = np.array([-1.0 if q in costs else 1.0 for q in range(len(known))])
        said = checked(statements, known)
        d = differences(said, signs, sorted(factors))
        require_agreement(said, d, known)
        # In units in which the differences have a size: a tolerance on directions must not hide small ones.
        scale = scale_of(d)
        clear = [k for k, entry in enumerate(said) if entry.clear]
        cone = cls.from_rays(np.vstack([np.eye(len(known)), d[clear] / scale]))
        facets = np.maximum(cone.facets, 0.0)
        if clear:
            # What was said lies on the border: a hair inside, so that no rounding takes it back.
            facets = facets + 1e-12 * facets.mean(axis=0)
        facets = facets / scale
        facets /= np.linalg.norm(facets, axis=1, keepdims=True)
        return cls(_frozen(facets), f"preferences({', '.join(known)})", known, said)

    def words(self, objectives: Sequence[str] | None = None, *, minimise: Iterable[str | int] = ()) -> str:
        """What the cone calls better, in plain words: how much of one objective is given up for another.

        >>> print(Cone.orthant(2).words(("strength", "cost")))
        Better is only what is at least as good in everything.
        >>> print(Cone.angle(120).words(("strength", "speed")))
        Accepts up to 0.268 less speed for 1 more strength. Accepts up to 0.268 less strength for 1 more speed.
        """
        L = self.n_objectives
        known = tuple(objectives or self.objectives or (f"objective {q}" for q in range(L)))
        known = _checks.names("objectives", known, L, "objective")
        costs = {_checks.member("minimise", name, known) for name in _names_of(minimise)}
        return _rates_in_words(self.facets, known, costs)

    def contains(self, points: ArrayLike) -> Any:
        """Is each point (..., L) in the cone? The border counts, to rounding.

        >>> Cone.orthant(2).contains([[1.0, 0.0], [1.0, -1.0]])
        array([ True, False])
        """
        (x,) = self._points(points=points)
        inside = np.all(x @ self.facets.T >= -1e-12 * np.linalg.norm(x, axis=-1, keepdims=True), axis=-1)
        return bool(inside) if inside.ndim == 0 else inside

    def dominates(self, better: ArrayLike, worse: ArrayLike) -> Any:
        """Does `better` dominate `worse`, both (..., L)? Equal points do not dominate each other.

        >>> Cone.orthant(2).dominates([1.0, 1.0], [1.0, 0.0])
        True
        """
        # The difference first: far from zero a difference of scores would be rounding.
        high, low = self._points(better=better, worse=worse)
        ahead = (high - low) @ self.facets.T
        answer = np.all(ahead >= 0.0, axis=-1) & np.any(ahead > 0.0, axis=-1)
        return bool(answer) if answer.ndim == 0 else answer

    def pareto_mask(self, points: ArrayLike, *, mixtures: bool = False) -> NDArray[np.bool_]:
        """Which rows of `points` (K, L) no other row dominates; with `mixtures`, no mixture of rows in shares either.

        A mixture must be better by a billionth of the front's range on some facet, beyond any rounding.

        >>> Cone.orthant(2).pareto_mask([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
        array([ True,  True, False])
        >>> Cone.orthant(2).pareto_mask([[1.0, 0.0], [0.0, 1.0], [0.4, 0.4]], mixtures=True)
        array([ True,  True, False])
        """
        x, mask = self._front(points)
        if _checks.flag("mixtures", mixtures):
            from prepex.mixtures import beating

            mask[list(beating(x, self.facets, mask, np.flatnonzero(mask).tolist()))] = False
        return _checks.frozen(mask)

    def beating_mixtures(self, points: ArrayLike, arms: Iterable[str] | None = None) -> dict[str, dict[str, float]]:
        """Of each row of `points` (K, L) that does not stay optimal when options are mixed, the shares of the mixture
        that beats it by most: by the least and the mean gain on its facets. Rows go by `arms`, or by their own names.

        >>> Cone.orthant(2).beating_mixtures([[1.0, 0.0], [0.0, 1.0], [0.4, 0.4]], arms=("a", "b", "c"))
        {'c': {'a': 0.5, 'b': 0.5}}
        """
        from prepex.mixtures import beating

        table, rows, _ = _named.of_table("points", points, arms, self.objectives)
        x, mask = self._front(table)
        names = _checks.names("arms", rows, len(x), "arm")
        return {
            names[i]: {names[k]: float(shares[k]) for k in np.flatnonzero(shares)}
            for i, shares in beating(x, self.facets, mask, range(len(x))).items()
        }

    def _front(self, points: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
        """(`points` from a reference in their midst, which of them no other dominates)."""
        from prepex._kernels.centre import facet_scores, reference
        from prepex._kernels.instance import find_front

        plain, names = _columns("points", points)
        if names is not None and self.objectives is not None:
            plain = np.asarray(plain)[:, _named.order("points", names, self.objectives)]
        given = _checks.real_array("points", plain, ("n_points", None), ("n_objectives", self.n_objectives))
        x = np.asarray(given - reference(given))
        mask = np.zeros(len(x), dtype=np.bool_)
        find_front(facet_scores(x, self.facets), mask, np.zeros(len(x), dtype=np.int64))
        return x, mask

    def _points(self, **given: ArrayLike) -> list[Floats]:
        """Points (..., L). Names go by those of the cone; if it has none, by those of the first that has some."""
        found, known = [], self.objectives
        for name, value in given.items():
            plain, axes = _named.unlabelled(name, value)
            points = np.asarray(plain, dtype=np.float64)
            if not np.all(np.isfinite(points)):
                raise InputError(f"{name} must be finite, got {points.ravel()[~np.isfinite(points.ravel())][0]}")
            if points.shape[-1:] != (self.n_objectives,):
                raise InputError(
                    f"{name} must have shape (..., {self.n_objectives} = n_objectives), got {points.shape}"
                )
            labels = axes[-1] if len(axes) == points.ndim else None
            if labels is not None and not are_positions(labels):
                known = tuple(map(str, labels)) if known is None else known
                points = points.take(_named.order(name, labels, known), axis=-1)
            found.append(points)
        return found


def _columns(name: str, rows: ArrayLike) -> tuple[Any, tuple[str, ...] | None]:
    """(rows, the names of their columns or None)."""
    plain, axes = _named.unlabelled(name, rows)
    if len(axes) != 2 or axes[1] is None or are_positions(axes[1]):
        return plain, None
    return plain, _checks.names(f"columns of {name}", axes[1], len(axes[1]), "objective")


def _frozen(rows: Floats) -> Floats:
    rows = np.ascontiguousarray(rows) + 0.0  # no negative zeros
    rows.flags.writeable = False
    return rows


def _unit_rows(name: str, value: ArrayLike) -> Floats:
    rows = _checks.real_array(name, value, (f"n_{name}", None), ("n_objectives", None))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if np.any(lengths == 0):
        raise InputError(f"{name} must be directions, got a zero row at position {int(np.argmin(lengths))}")
    return np.asarray(rows / lengths)


def _angle_facets(degrees: float) -> Floats:
    lean = np.radians(degrees / 2 - 45)
    return np.array([[np.cos(lean), np.sin(lean)], [np.sin(lean), np.cos(lean)]])


def _require_own_name(name: str, facets: Floats) -> None:
    """A name says how the cone was made, and reports print it: it must not be that of another cone."""
    kind, _, inside = name.partition("(") if isinstance(name, str) else (None, "", "")
    fits = name == ""
    if kind == "orthant":
        fits = name == f"orthant({facets.shape[1]})" and np.array_equal(facets, np.eye(facets.shape[1]))
    elif kind == "angle" and facets.shape == (2, 2):
        try:
            degrees = float(inside.removesuffix(")"))
        except ValueError:
            degrees = np.nan
        degrees = degrees if 0.0 < degrees < 180.0 else np.nan
        # The name has six digits of the angle.
        off = np.abs(facets - _angle_facets(degrees)).max()
        fits = name == f"angle({degrees:g})" and bool(off <= 5e-6 * np.radians(degrees) + SAME)
    elif kind in ("tradeoffs", "preferences"):
        fits = name.endswith(")") and name.isprintable() and bool(facets.min() >= -SAME)
    if not fits:
        raise InputError(
            "name must be empty, or that of Cone.orthant, angle, tradeoffs or from_preferences with these facets, "
            f"got {shown(name)}"
        )


def _require_pointed(rows: Floats) -> None:
    if np.linalg.matrix_rank(rows, tol=SAME) < rows.shape[1]:
        line = np.linalg.svd(rows)[2][-1]
        raise InputError(
            "facets must make a pointed cone, got one that contains the whole line along "
            f"{_vector(line)}: no facet distinguishes its two directions"
        )


def _depth(rows: Floats) -> float:
    """max_x min_i rows_i . x over |x|_inf <= 1: positive iff {x : rows x >= 0} has an interior.

    At least what the sum of the rows has, which is enough where that is positive, and fast.
    """
    ahead = rows.sum(axis=0)
    found = float((rows @ ahead).min() / max(np.abs(ahead).max(), 1e-300))
    if found > SAME:
        return found
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
    # Mostly the sum of the facets is inside: no solver, and not the time to load one.
    if (rows @ rows.sum(axis=0)).min() > SAME:
        return
    from scipy.optimize import linprog

    if _depth(rows) > SAME:
        return
    for direction in (*np.eye(rows.shape[1]), *-np.eye(rows.shape[1])):
        answer = linprog(-direction, A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
        if -answer.fun > SAME:
            raise InputError(
                f"{name} must make a cone with an interior, got one that is flat: "
                f"it contains {_vector(answer.x)} but no ball around any of its points"
            )
    raise InputError(f"{name} must make a cone with an interior, got an empty one: only the origin meets every facet")


def _irredundant(rows: Floats) -> Floats:
    """Drop each row that is a non-negative combination of the others (the last of equal rows)."""
    from scipy.optimize import nnls

    kept = list(range(len(rows)))
    for i in reversed(range(len(rows))):
        others = [k for k in kept if k != i]
        if others and nnls(rows[others].T, rows[i])[1] <= SAME:
            kept = others
    return np.asarray(rows[kept])


def _names_of(given: Any) -> tuple[Any, ...]:
    """One name, or several."""
    return (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)


def _rates_in_words(facets: Floats, names: Sequence[str], costs: set[int]) -> str:
    """For each pair of objectives, how much of the one is given up at most for one of the other."""
    L = len(names)
    more = ["less" if q in costs else "more" for q in range(L)]
    less = ["more" if q in costs else "less" for q in range(L)]
    found, given_up = [], set()
    for a in range(L):
        if facets[:, a].min() < -SAME:
            others = [b for b in range(L) if b != a]
            needs = []
            for b in others:
                short = facets[:, a] < -SAME
                if np.all(facets[short, b] > SAME):
                    rate = float((-facets[short, a] / facets[short, b]).max())
                    needs.append(f"{number(rate, 3)} {more[b]} {names[b]}")
            with_it = f": for 1 it takes at least {' or '.join(needs)}" if needs else ""
            found.append(f"{more[a].capitalize()} {names[a]} alone is not better{with_it}.")
            continue
        for b in range(L):
            cost = facets[:, b] > SAME
            if b == a or not cost.any():
                continue
            rate = float((facets[cost, a] / facets[cost, b]).min())
            if rate > SAME:
                given_up.add(b)
                found.append(f"Accepts up to {number(rate, 3)} {less[b]} {names[b]} for 1 {more[a]} {names[a]}.")
    if not found:
        return "Better is only what is at least as good in everything."
    if len(given_up) < L and given_up:
        found.append("Nothing else is given up.")
    return " ".join(found)


def _vector(x: Floats) -> str:
    return "(" + ", ".join(f"{entry:.3g}" for entry in x) + ")"
