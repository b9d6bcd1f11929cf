"""Limits: what an option must satisfy, whatever else it offers.

An option is feasible if it meets every limit; the answer is the Pareto set of the feasible ones, and may be empty.

Legend
    rows      g, of about unit length; an option with means M meets a limit iff g . M >= h      (c, L)
    level     h                                                                       (c,)
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from prepex import _checks, _named
from prepex._checks import Floats
from prepex.errors import InputError, shown
from prepex.family import Family, range_of
from prepex.labels import Labels
from prepex.numerals import number

# Sizes of weights and bounds: as large as outcomes may be, and nothing that arithmetic loses.
LEAST, MOST = 1e-100, 1e100


@dataclass(frozen=True, init=False)
class Limit:
    """A sum of objectives, each times its weight, that must be at most or at least a number, in the user's units.

    >>> Limit({"cost": 1, "time": 2}, at_most=10)
    Limit(cost + 2 time at most 10)
    """

    weights: tuple[tuple[Any, float], ...]
    at_most: float | None
    at_least: float | None

    def __init__(
        self, weights: Mapping[str, float], *, at_most: float | None = None, at_least: float | None = None
    ) -> None:
        if not isinstance(weights, Mapping) or not weights:
            raise InputError(f"weights must be a mapping from objectives to numbers, got {shown(weights)}")
        if (at_most is None) == (at_least is None):
            came = "neither" if at_most is None else "both"
            raise InputError(f"a Limit needs exactly one of at_most= and at_least=, got {came}")
        pairs = tuple((name, _checks.number(f"weight of {name!r}", weight)) for name, weight in weights.items())
        for name, weight in pairs:
            if weight and not LEAST <= abs(weight) <= MOST:
                raise InputError(
                    f"weight of {name!r} must be 0, or between {LEAST:g} and {MOST:g} in size, got {weight:g}"
                )
        if not any(weight for _, weight in pairs):
            raise InputError(f"weights must not all be 0, got {shown(weights)}")
        object.__setattr__(self, "weights", pairs)
        for side, given in (("at_most", at_most), ("at_least", at_least)):
            value = None if given is None else _checks.number(side, given)
            if value is not None and abs(value) > MOST:
                raise InputError(f"{side} must be at most {MOST:g} in size, got {value:g}")
            object.__setattr__(self, side, value)

    @property
    def words(self) -> str:
        """The limit as people say it.

        >>> Limit({"toxicity": 1}, at_most=0.3).words, Limit({"gain": 1, "cost": -0.5}, at_least=2).words
        ('toxicity at most 0.3', 'gain - 0.5 cost at least 2')
        """
        text = ""
        for name, weight in self.weights:
            if weight:
                sign = ("- " if weight < 0 else "+ ") if text else ("-" if weight < 0 else "")
                size = "" if abs(weight) == 1.0 else f"{number(abs(weight))} "
                text += f"{' ' if text else ''}{sign}{size}{name}"
        side, value = ("at most", self.at_most) if self.at_least is None else ("at least", self.at_least)
        assert value is not None
        return f"{text} {side} {number(value)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The objectives that are given by name, not by their place."""
        return tuple(name for name, _ in self.weights if isinstance(name, str))

    def renamed(self, names: Mapping[str, str]) -> "Limit":
        """The same with other names of objectives.

        >>> Limit({"cost": 1, "time": 2}, at_most=10).renamed({"cost": "cost [EUR]"})
        Limit(cost [EUR] + 2 time at most 10)
        """
        pairs = [(names.get(name, name) if isinstance(name, str) else name, weight) for name, weight in self.weights]
        if len({name for name, _ in pairs}) < len(pairs):
            raise InputError(f"limits must have each objective once, got {self.words}")
        return Limit(dict(pairs), at_most=self.at_most, at_least=self.at_least)

    def __repr__(self) -> str:
        return f"Limit({self.words})"


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits as the kernels take them, and as they were given."""

    rows: Floats
    level: Floats
    given: tuple[Limit, ...]

    def __len__(self) -> int:
        return len(self.given)

    @property
    def words(self) -> tuple[str, ...]:
        """Each as people say it."""
        return tuple(limit.words for limit in self.given)

    def met(self, means: Floats) -> NDArray[np.bool_]:
        """Which options with these means (K, L) meet them all."""
        return np.asarray(np.all(means @ self.rows.T >= self.level, axis=1))

    def to_document(self, objectives: Sequence[str]) -> list[dict[str, Any]]:
        """As JSON can write it: a weight for each objective, and the side."""
        written = []
        for limit in self.given:
            weights = dict(limit.weights)
            side = {"at_most": limit.at_most} if limit.at_least is None else {"at_least": limit.at_least}
            written.append({"weights": [weights.get(name, 0.0) for name in objectives], **side})
        return written


def read_document(given: Iterable[Mapping[str, Any]], objectives: Sequence[str]) -> list[Limit]:
    """What `to_document` wrote."""
    found = []
    for entry in given:
        weights = {name: weight for name, weight in zip(objectives, entry["weights"], strict=True) if weight}
        found.append(Limit(weights, at_most=entry.get("at_most"), at_least=entry.get("at_least")))
    return found


Sides = Mapping[str, float] | None


class LimitOptions(TypedDict):
    """The arguments that say limits."""

    at_most: Sides
    at_least: Sides
    limits: list[Limit]


def limits_of(
    labels: Labels,
    *,
    at_most: Sides = None,
    at_least: Sides = None,
    limits: Iterable[Limit] = (),
    family: Family | None = None,
) -> Limits | None:
    """The rows of all limits, those of single objectives first; None without any. In the user's signs, as outcomes are.

    Refuses limits that no means of the family can meet together, and warns of one that all of them meet.

    >>> labels = Labels.make((2, 2), objectives=("gain", "toxicity"), minimise=("toxicity",))
    >>> found = limits_of(labels, at_most={"toxicity": 0.3})
    >>> found.rows, found.level, found.words
    (array([[-0., -1.]]), array([-0.3]), ('toxicity at most 0.3',))
    """
    given = [*_sided("at_most", at_most, labels), *_sided("at_least", at_least, labels), *_listed(limits)]
    if not given:
        return None
    rows, level = np.zeros((len(given), len(labels.objectives))), np.zeros(len(given))
    laws = None if family is None else family.laws(len(labels.arms), len(labels.objectives))
    logs = () if laws is None else laws.logs
    for place, limit in enumerate(given):
        for name, weight in limit.weights:
            at = _checks.position(name, labels.objectives)
            if at is None:
                raise InputError(f"limits must be on {_checks.quoted(labels.objectives)}, got one on {name!r}")
            if rows[place, at]:
                raise InputError(f"limits must have each objective once, got {labels.objectives[at]!r} twice")
            rows[place, at] = weight
        bound = limit.at_least if limit.at_most is None else limit.at_most
        assert bound is not None
        bound = _on_scale(limit, rows[place], bound, labels, logs)
        size = _size(rows[place]) * (1.0 if limit.at_most is None else -1.0)
        rows[place], level[place] = rows[place] / size, bound / size
    named = tuple(_with_names(limit, labels) for limit in given)
    found = Limits(_checks.frozen(rows), _checks.frozen(level), named)
    _require_possible(found, labels, family)
    return found


def _with_names(limit: Limit, labels: Labels) -> Limit:
    """The same with objectives by name, where they were given by their place."""
    places = [(_checks.position(name, labels.objectives), weight) for name, weight in limit.weights]
    weights = {labels.objectives[at]: weight for at, weight in places if at is not None}
    return Limit(weights, at_most=limit.at_most, at_least=limit.at_least)


def _size(row: Floats) -> float:
    """What a row is divided by: to be a unit vector if it is of one objective; else a power of two, so that no sum of
    exact numbers is rounded to the other side of its bound."""
    largest = float(np.abs(row).max())
    return largest if np.count_nonzero(row) == 1 else 2.0 ** math.floor(math.log2(largest))


def _on_scale(limit: Limit, row: Floats, bound: float, labels: Labels, logs: Sequence[int]) -> float:
    """The bound on the scale on which the objectives of the row are compared: a geometric mean by its logarithm."""
    on = [q for q in logs if row[q]]
    if not on:
        return bound
    name = labels.objectives[on[0]]
    if np.count_nonzero(row) > 1:
        raise InputError(f"limits on {name!r}, which is compared by factors, must be on it alone, got {limit.words}")
    least = bound / float(row[on[0]])
    if not least > 0.0:
        raise InputError(f"limits on {name!r}, whose outcomes are positive, must be positive, got {limit.words}")
    return float(row[on[0]]) * math.log(least)


def _sided(side: str, given: Sides, labels: Labels) -> list[Limit]:
    if given is None:
        return []
    named = _named.by_name(side, given, labels.objectives)
    if named is None:
        raise InputError(f"{side} must be a mapping from objectives to numbers, got {shown(given)}")
    found = []
    for name, value in named.items():
        bound = _checks.number(f"{side} of {name!r}", value)
        found.append(Limit({name: 1.0}, at_most=bound) if side == "at_most" else Limit({name: 1.0}, at_least=bound))
    return found


def _listed(limits: Iterable[Limit]) -> list[Limit]:
    if isinstance(limits, Limit) or not isinstance(limits, Iterable):
        raise InputError(f"limits must be a list of Limit, got {shown(limits)}")
    found = list(limits)
    for limit in found:
        _checks.instance("limits", limit, Limit)
    return found


def _ranges(labels: Labels, family: Family | None) -> tuple[Floats, Floats]:
    """The least and the largest mean of each objective."""
    laws = None if family is None else family.laws(len(labels.arms), len(labels.objectives))
    codes = [None] * len(labels.objectives) if laws is None else [int(code) for code in laws.codes]
    low, high = np.array([(-np.inf, np.inf) if code is None else range_of(code) for code in codes]).T
    return low, high


def warn_of_idle(limits: Limits, labels: Labels, family: Family) -> None:
    """Say so where no mean breaks a limit: it is kept, and changes nothing."""
    low, high = _ranges(labels, family)
    for row, level, words in zip(limits.rows, limits.level, limits.words, strict=True):
        on = np.flatnonzero(row)
        if np.sum(np.where(row[on] > 0.0, row[on] * low[on], row[on] * high[on])) >= level:
            spans = "; ".join(_span(labels.objectives[q], low[q], high[q]) for q in on)
            warnings.warn(f"the limit {words!r} changes nothing: every mean meets it; {spans}", stacklevel=4)


def _span(name: str, low: float, high: float) -> str:
    """Between which numbers a mean is.

    >>> _span("harm", 0.0, 1.0), _span("faults", 0.0, np.inf)
    ('a mean of harm is from 0 to 1', 'a mean of faults is 0 or more')
    """
    return f"a mean of {name} is " + (f"{low:g} or more" if high == np.inf else f"from {low:g} to {high:g}")


def _require_possible(limits: Limits, labels: Labels, family: Family | None) -> None:
    """Refuse what no means meet, naming limits of which none could be left out."""
    low, high = _ranges(labels, family)
    everything = list(range(len(limits)))
    if _possible(limits, everything, low, high):
        return
    clash = everything
    for place in everything:
        fewer = [other for other in clash if other != place]
        if not _possible(limits, fewer, low, high):
            clash = fewer
    words = _checks.quoted([limits.words[place] for place in clash])
    if _possible(limits, clash, np.full_like(low, -np.inf), np.full_like(high, np.inf)):
        seen = np.flatnonzero(np.any(limits.rows[clash] != 0.0, axis=0) & (np.isfinite(low) | np.isfinite(high)))
        domains = ", ".join(f"{labels.objectives[q]} from {low[q]:g} to {high[q]:g}" for q in seen)
        raise InputError(f"limits must be possible for {family!r} ({domains}), got {words}")
    raise InputError(f"limits must not contradict each other, got {words}")


def _possible(limits: Limits, chosen: list[int], low: Floats, high: Floats) -> bool:
    """Is there a point that meets all of them?"""
    rows, level = limits.rows[chosen], limits.level[chosen]
    single = (rows != 0.0).sum(axis=1) == 1
    low, high = low.copy(), high.copy()
    for g, h in zip(rows[single], level[single], strict=True):
        q = int(np.argmax(g != 0.0))
        low[q], high[q] = (max(low[q], h), high[q]) if g[q] > 0 else (low[q], min(high[q], -h))
    if np.any(low > high):
        return False
    if single.all():
        return True
    from scipy.optimize import linprog

    # The solver's tolerance is absolute: in units of the largest number that is given.
    sizes = np.abs(np.concatenate([level, low, high]))
    unit = max(sizes[np.isfinite(sizes)].max(), _checks.SMALLEST)
    answer = linprog(
        np.zeros(len(low)),
        A_ub=-rows[~single],
        b_ub=-level[~single] / unit,
        bounds=list(zip(low / unit, high / unit, strict=True)),
    )
    return bool(answer.status == 0)
