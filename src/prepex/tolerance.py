"""Differences that do not matter: a tolerance, and what it comes to on the facets of a cone.

The answer is right within a tolerance eps >= 0 (L,) if no option in it is beaten by another by eps or more, and every
option left out is matched by one in it up to eps: `w_f . (M_a - M_i) >= -s_f` on every facet f, s_f = w_f . eps.
Where outcomes are compared by their logarithms a tolerance is a share: "5%" is eps = log(1.05), a factor either way.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex import _checks, _named
from prepex._checks import Floats
from prepex.cone import Cone
from prepex.errors import InputError, shown
from prepex.labels import Labels
from prepex.numerals import number
from prepex.tables import plain_number
from prepex.units import Units

Bools = NDArray[np.bool_]
Size = float | str
Tolerance = Size | Sequence[Size] | Mapping[str, Size] | None


class Eps(tuple[float, ...]):
    """A tolerance as it is compared, and kept in documents: logarithms of factors where outcomes are."""


def check_tolerance(tolerance: Tolerance, cone: Cone, labels: Labels, units: Units) -> Eps | None:
    """One number for each objective, in its units, or of its logarithm; None without a tolerance, or where all are 0.

    One number is for all objectives; one that a mapping leaves out has 0.

    >>> labels = Labels.make((2, 2), objectives=("strength", "time"), minimise=("time",))
    >>> check_tolerance({"strength": 0.5, "time": "5%"}, Cone.orthant(2), labels, Units(logs=(1,)))
    (0.5, 0.04879016416943201)
    """
    if tolerance is None:
        return None
    given = tolerance if isinstance(tolerance, Eps) else _sizes(tolerance, labels, units)
    eps = _checks.real_array("tolerance", given, ("n_objectives", len(labels.objectives)))
    for name, size in zip(labels.objectives, eps, strict=True):
        if size < 0.0:
            raise InputError(f"tolerance must be at least 0, got {size:g} for {name!r}")
    slack: Floats = cone.facets @ eps
    # A tolerance on a border of the cone may be a rounding outside.
    if np.any(slack < -1e-12 * np.abs(eps).max(initial=0.0)):
        raise InputError(
            f"tolerance must be a difference that the cone calls better, got {eps.tolist()}: "
            f"{int(np.sum(slack < 0))} of {len(slack)} facets say it is worse; make the smaller entries larger"
        )
    return Eps(eps.tolist()) if eps.any() else None


def _sizes(tolerance: Any, labels: Labels, units: Units) -> Any:
    """Numbers, those of `units.logs` from shares; whatever has the wrong shape, as it is."""
    given = tolerance
    if isinstance(tolerance, bytes | bytearray | memoryview):
        # Their entries are numbers, which nobody means.
        raise InputError(f"tolerance must be numbers, one for each objective or one for all, got {shown(tolerance)}")
    named = _named.by_name("tolerance", tolerance, labels.objectives)
    if named is not None:
        given = [named.get(name, 0.0) for name in labels.objectives]
    elif isinstance(tolerance, np.ndarray) and tolerance.ndim == 0:
        given = [tolerance.item()] * len(labels.objectives)
    elif isinstance(tolerance, int | float | str | np.number):
        given = [tolerance] * len(labels.objectives)
    if not isinstance(given, Sequence | np.ndarray) or len(given) != len(labels.objectives):
        return given
    return [_size(size, name, q in units.logs) for q, (size, name) in enumerate(zip(given, labels.objectives))]


def _size(size: Any, name: str, by_factor: bool) -> Any:
    """As it is compared."""
    if isinstance(size, str):
        share = plain_number(size.removesuffix("%").strip()) if size.endswith("%") else None
        if share is None or share < 0.0 or not by_factor:
            expected = 'a share of at least 0%, as in "5%"' if by_factor else "a number, in its units"
            if size.endswith("%") and not by_factor:
                expected += f" (a share is for a LogNormal objective: --family {name}=lognormal)"
            raise InputError(f"tolerance of {name!r} must be {expected}, got {size!r}")
        return math.log1p(share / 100.0)
    if by_factor and isinstance(size, int | float | np.number) and size != 0:
        raise InputError(
            f'tolerance of {name!r} must be a share, as in "5%" (outcomes of a LogNormal are compared by factors), '
            f"got {size!r}"
        )
    return size


def as_given(eps: Sequence[float], units: Units) -> tuple[Size, ...]:
    """As a user would give it: shares where outcomes are compared by their logarithms.

    >>> as_given((0.5, math.log(1.05)), Units(logs=(1,)))
    (0.5, '5%')
    """
    sizes = [f"{number(100.0 * math.expm1(size), 12)}%" if q in units.logs else size for q, size in enumerate(eps)]
    return tuple(sizes)


def slack_of(tolerance: Tolerance, cone: Cone, labels: Labels, units: Units) -> Floats | None:
    """s_f (m,); None without a tolerance.

    >>> labels = Labels.make((2, 2), objectives=("strength", "cost"), minimise=("cost",))
    >>> slack_of({"strength": 0.5}, Cone.orthant(2), labels, Units())
    array([0.5, 0. ])
    """
    eps = check_tolerance(tolerance, cone, labels, units)
    return None if eps is None else np.asarray(np.maximum(cone.facets @ np.array(eps), 0.0))


def in_words(tolerance: Sequence[Size], objectives: Sequence[str]) -> str:
    """What `as_given` gives as part of a sentence.

    >>> in_words((0.5, 0.0, "5%"), ("strength", "cost", "time"))
    '0.5 in strength and 5% in time'
    """
    pairs = [(_short(size), name) for size, name in zip(tolerance, objectives)]
    sizes = [f"{size} in {name}" for size, name in pairs if size not in ("0", "0%")]
    return " and ".join((", ".join(sizes[:-1]), sizes[-1]) if len(sizes) > 1 else sizes)


def _short(size: Size) -> str:
    return f"{number(float(size[:-1]))}%" if isinstance(size, str) else number(size)


def right_within(scores: Floats, answer: Bools, slack: Floats, feasible: Bools | None = None) -> bool:
    """Is an answer (K,) right for arms with these facet scores (K, m), within s > 0? The other one, s = 0, is P.

    With limits its members must be feasible, and only feasible arms beat them or need to be matched.

    >>> scores = np.array([[1.0], [0.9], [0.0]])
    >>> [right_within(scores, np.array(mask), np.array([0.2])) for mask in ([1, 0, 0], [0, 1, 0], [1, 1, 1])]
    [True, True, False]
    """
    mask = np.asarray(answer, dtype=bool)
    ahead = scores[:, None] - scores[None]  # (j, i): how far j is ahead of i
    beats, matches = np.all(ahead >= slack, axis=2), np.all(ahead >= -slack, axis=2)
    np.fill_diagonal(beats, False)
    able = np.ones_like(mask) if feasible is None else feasible
    matched = bool(matches[np.ix_(mask, ~mask & able)].any(axis=0).all())
    return matched and not beats[np.ix_(able, mask)].any() and bool(able[mask].all())


def near_ties(scores: Floats, answer: Bools, slack: Floats) -> list[tuple[int, int]]:
    """Pairs (an arm of the answer, another) that differ by no more than the slack on any facet.

    >>> near_ties(np.array([[1.0], [0.9], [0.0]]), np.array([True, False, False]), np.array([0.2]))
    [(0, 1)]
    """
    close = np.all(np.abs(scores[:, None] - scores[None]) <= slack, axis=2)
    K = len(scores)
    return [
        (i, j) for i in range(K) for j in range(K) if i != j and answer[i] and close[i, j] and (i < j or not answer[j])
    ]


def covered(scores: Floats, answer: Bools, slack: Floats) -> list[tuple[int, int]]:
    """(i, j) of the answer: j falls behind i by no more than the slack on any facet, and is ahead by more on some. An
    answer without i would be right within the tolerance, too.

    >>> covered(np.array([[10.0, 1.0], [3.0, 1.1]]), np.array([True, True]), np.array([1.0, 1.0]))
    [(1, 0)]
    """
    ahead = scores[None] - scores[:, None]  # (i, j): how far j is ahead of i
    over = np.all(ahead >= -slack, axis=2) & np.any(ahead > slack, axis=2) & np.outer(answer, answer)
    return [(int(i), int(np.argmax(over[i]))) for i in np.flatnonzero(over.any(axis=1))]
