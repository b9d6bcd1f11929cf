"""Preference cones: which trade-offs count as better.

A cone C = {x : W x >= 0} orders outcomes: y is at least as good as x when y - x is in C. Everything is maximised.
A larger cone calls more arms dominated, so the Pareto set shrinks.

Legend
    facets   W, unit rows, none redundant    (m, L)
    rays     generators, unit rows           (r, L)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prepex import _checks, _named, markup
from prepex._checks import Floats
from prepex._given import are_positions
from prepex.cone_words import AS_GOOD, COUNTED, as_html, rates_in_words
from prepex.errors import InputError, InputTypeError, shown
from prepex.facets import (
    SAME,
    angle_facets,
    dual_rays,
    frozen,
    irredundant,
    require_own_name,
    require_pointed,
    require_pointed_hull,
    require_solid,
    unit_rows,
)
from prepex.numerals import plural
from prepex.preferences import Statement, checked, differences, require_agreement, scale_of
from prepex.trade_offs import Worth, one, rays_of

__all__ = ["Cone", "Worth", "one"]


@dataclass(frozen=True, eq=False)
class Cone:
    """A polyhedral preference cone, pointed and with an interior.

    Made by `orthant`, `angle`, `from_facets`, `from_rays` or `tradeoffs`.

    facets       W, unit rows: the cone is {x : facets @ x >= 0}    (m, L)
    name         how it was made, for tables; may be empty
    objectives   the names of the columns of `facets`, if it was made from names: what it is given to goes by them
    statements   what was said about pairs of outcomes, if it was made from that
    minimise     which objectives are costs, where that is known: of a cone from preferences; else None

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
    # Are its columns labelled 0, 1, 2, ...? Positions, unless objectives have such names.
    _numbered: bool = field(default=False, repr=False)
    minimise: tuple[str, ...] | None = field(default=None, repr=False)
    # For words: what was said to be better, in benefits, and the sizes of such differences in each objective.
    _said: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)
    _scale: tuple[float, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        given = self.facets
        is_matrix = isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype == np.float64 and given.size > 0
        if not is_matrix or not np.allclose(np.linalg.norm(given, axis=1), 1.0, rtol=0.0, atol=SAME):
            raise InputTypeError(
                "a cone must be made by Cone.orthant(2), Cone.angle(120), Cone.from_facets([[1, 0.5], [0.5, 1]]), "
                f"Cone.from_rays([[1, 0], [0, 1]]) or Cone.tradeoffs(...), got Cone({shown(given)})"
            )
        require_solid("facets", given)
        require_pointed(given)
        require_own_name(self.name, given)
        if given.flags.writeable:
            object.__setattr__(self, "facets", frozen(given))

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
        return frozen(dual_rays(self.facets))

    def ordered(self, objectives: Sequence[str]) -> "Cone":
        """The same cone over these objectives, in this order. Objectives that it does not know are refused.

        >>> cone = Cone.tradeoffs(("cost", "gain"), one("cost").is_worth(at_least=2, of="gain"))
        >>> cone.ordered(("gain", "cost")).contains([-2.0, 1.0])
        True
        """
        if len(objectives) != self.n_objectives:
            raise InputError(f"cone must be over {len(objectives)} = n_objectives, got one over {self.n_objectives}")
        named = self._numbered and not _named.stand_for_positions([*range(self.n_objectives)], objectives)
        own = self._places() if named else self.objectives
        if own is None or own == tuple(objectives):
            return self
        order = _named.order("objectives of the cone", own, objectives)
        known = tuple(objectives)
        name = self.name and f"{self.name.partition('(')[0]}({', '.join(known)})"
        said = tuple(
            Statement(tuple(s.one[k] for k in order), tuple(s.other[k] for k in order), s.clear)
            for s in self.statements
        )
        costs = None if self.minimise is None else tuple(name for name in known if name in self.minimise)
        rows = None if self._said is None else tuple(tuple(row[k] for k in order) for row in self._said)
        scale = None if self._scale is None else tuple(self._scale[k] for k in order)
        return Cone(frozen(self.facets[:, order]), name, known, said, minimise=costs, _said=rows, _scale=scale)

    def knowing(self, objectives: Sequence[str], minimise: Sequence[str], d: Floats) -> "Cone":
        """The same, of which it is known that its statements are about these objectives, in their order, and differ by
        `d` (n, L), better less worse, in benefits.

        >>> from prepex import better
        >>> said = (better((60, 15), (55, 12)),)
        >>> cone = Cone(Cone.angle(120).facets, "preferences(gain, cost)", statements=said)
        >>> cone.knowing(("gain", "cost"), ("cost",), np.array([[5.0, -3.0]])).minimise
        ('cost',)
        """
        rows = tuple(tuple(row) for row, entry in zip(d.tolist(), self.statements, strict=True) if entry.clear)
        scale = tuple(scale_of(d).tolist())
        return replace(self, objectives=tuple(objectives), minimise=tuple(minimise), _said=rows, _scale=scale)

    def _places(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.n_objectives)))

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
        told = self.words()
        if COUNTED not in told:
            # The facets and the picture know no costs, whatever the words do.
            told += f" Below, {COUNTED[0].lower()}{COUNTED[1:]}" if self.minimise else f" {COUNTED}"
        return as_html(repr(self), told, self.facets, self.rays if self.n_objectives == 2 else None, self._heads())

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
        return cls(frozen(np.eye(n_objectives)), f"orthant({n_objectives})")

    @classmethod
    def angle(cls, degrees: float) -> "Cone":
        """Two objectives: the cone of this opening angle around the diagonal. 90 is the orthant.

        >>> Cone.angle(60).contains([1.0, 0.0])
        False
        """
        degrees = _checks.number("degrees", degrees, low=0.0, high=180.0)
        if degrees == 90.0:  # exactly the orthant, with no rounding of cos(pi / 2)
            return cls(frozen(np.eye(2)), "angle(90)")
        return cls(frozen(angle_facets(degrees)), f"angle({degrees:g})")

    @classmethod
    def from_facets(cls, facets: ArrayLike) -> "Cone":
        """The cone {x : facets @ x >= 0}. Rows may have any length; redundant ones are dropped.

        Columns go by name where they have names, as in a DataFrame.

        >>> Cone.from_facets([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]).facets
        array([[1., 0.],
               [0., 1.]])
        """
        plain, names, numbered = _columns("facets", facets)
        rows = unit_rows("facets", plain)
        require_solid("facets", rows)
        require_pointed(rows)
        return cls(frozen(irredundant(rows)), objectives=names, _numbered=numbered)

    @classmethod
    def from_rays(cls, rays: ArrayLike) -> "Cone":
        """The cone of all non-negative combinations of `rays`. Columns go by name where they have names.

        >>> Cone.from_rays([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).n_facets
        2
        """
        plain, names, numbered = _columns("rays", rays)
        rows = unit_rows("rays", plain)
        require_pointed_hull(rows)
        return cls(frozen(dual_rays(rows)), objectives=names, _numbered=numbered)

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
        rays = rays_of(worths, known)
        try:
            cone = cls.from_rays(rays)
        except ValueError:
            raise InputError(
                "trade-offs must leave room for some rates, got bounds that contradict each other"
            ) from None
        rows = tuple(tuple(row) for row in rays[len(known) :].tolist())
        return cls(cone.facets, f"tradeoffs({', '.join(known)})", known, _said=rows)

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
        >>> print(cone.words())
        Accepts up to 0.6 more cost for 1 more strength. Nothing else is given up.
        """
        named = _checks.listed("objectives", objectives, "names")
        known = _checks.names("objectives", named, len(named), "objective")
        costs = {_checks.member("minimise", name, known) for name in _checks.one_or_several(minimise)}
        factors = {_checks.member("logs", name, known) for name in _checks.one_or_several(logs)}
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
        known_costs = tuple(known[q] for q in sorted(costs))
        made = cls(frozen(facets), f"preferences({', '.join(known)})", known, said)
        return made.knowing(known, known_costs, d)

    def words(self, objectives: Sequence[str] | None = None, *, minimise: Iterable[str | int] | None = None) -> str:
        """What the cone calls better, in plain words: how much of one objective is given up for another.

        `minimise` says which objectives are costs; a cone from preferences knows them. Where nobody says it, the words
        say how it is counted.

        >>> print(Cone.orthant(2).words(("strength", "cost")))
        Better is only what is at least as good in everything.
        >>> print(Cone.angle(120).words(("strength", "speed"), minimise=()))
        Accepts up to 0.268 less speed for 1 more strength. Accepts up to 0.268 less strength for 1 more speed.
        >>> print(Cone.angle(120).words(("strength", "speed"))[-50:])
        Every objective is counted so that more is better.
        """
        known, costs = self.named(objectives, minimise)
        scale = None if self._scale is None else np.array(self._scale)
        rows = None if self._said is None else np.array(self._said).reshape(-1, self.n_objectives)
        said = rates_in_words(self.facets, known, costs or set(), scale, rows)
        return said if costs is not None or said == AS_GOOD else f"{said} {COUNTED}"

    def named(
        self, objectives: Sequence[str] | None = None, minimise: Iterable[str | int] | None = None
    ) -> tuple[tuple[str, ...], set[int] | None]:
        """The names of the objectives, and which of them are costs: those given, else those it was made with; None
        where neither says it.

        >>> Cone.orthant(2).named(), Cone.orthant(2).named(("gain", "cost"), ("cost",))
        ((('objective 0', 'objective 1'), None), (('gain', 'cost'), {1}))
        """
        L = self.n_objectives
        known = _checks.names("objectives", tuple(objectives or self._heads()), L, "objective")
        if minimise is not None:
            return known, {_checks.member("minimise", name, known) for name in _checks.one_or_several(minimise)}
        if self.minimise is None or self.objectives is None:
            return known, None
        return known, {self.objectives.index(name) for name in self.minimise}

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

        plain, names, numbered = _columns("points", points)
        known = self.objectives
        if numbered and known is not None and not _named.stand_for_positions([*range(self.n_objectives)], known):
            names = self._places()
        if names is not None and known is not None:
            plain = np.asarray(plain)[:, _named.order("points", names, known)]
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
            if labels is not None and not _named.stand_for_positions(labels, known or ()):
                if known is None:
                    own = tuple(map(str, labels))
                    known = self._places() if {*own} == {*self._places()} else own
                points = points.take(_named.order(name, labels, known), axis=-1)
            found.append(points)
        return found


def _columns(name: str, rows: ArrayLike) -> tuple[Any, tuple[str, ...] | None, bool]:
    """(rows, the names of their columns or None, are they labelled 0, 1, 2, ... instead?)."""
    plain, axes = _named.unlabelled(name, rows)
    if len(axes) != 2 or axes[1] is None:
        return plain, None, False
    if are_positions(axes[1]):
        return plain, None, True
    return plain, _checks.names(f"columns of {name}", axes[1], len(axes[1]), "objective"), False
