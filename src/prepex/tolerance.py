"""Differences that do not matter: a tolerance, and what it comes to on the facets of a cone.

The answer is right within a tolerance eps >= 0 (L,) if no option in it is beaten by another by eps or more, and every
option left out is matched by one in it up to eps: `w_f . (M_a - M_i) >= -s_f` on every facet f, s_f = w_f . eps.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex import _checks, _named
from prepex._checks import Floats
from prepex.cone import Cone
from prepex.errors import InputError
from prepex.labels import Labels
from prepex.numerals import number

Bools = NDArray[np.bool_]
Tolerance = float | Sequence[float] | Mapping[str, float] | None


def check_tolerance(tolerance: Tolerance, cone: Cone, labels: Labels) -> tuple[float, ...] | None:
    """One number for each objective, in its units; None without a tolerance, or where all are 0.

    One number is for all objectives; one that a mapping leaves out has 0.

    >>> labels = Labels.make((2, 2), objectives=("strength", "cost"), minimise=("cost",))
    >>> check_tolerance({"strength": 0.5}, Cone.orthant(2), labels)
    (0.5, 0.0)
    """
    if tolerance is None:
        return None
    given: Any = tolerance
    named = _named.by_name("tolerance", tolerance, labels.objectives)
    if named is not None:
        given = [named.get(name, 0.0) for name in labels.objectives]
    elif isinstance(tolerance, int | float):
        given = [tolerance] * len(labels.objectives)
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
    return tuple(eps.tolist()) if eps.any() else None


def slack_of(tolerance: Tolerance, cone: Cone, labels: Labels) -> Floats | None:
    """s_f (m,); None without a tolerance.

    >>> labels = Labels.make((2, 2), objectives=("strength", "cost"), minimise=("cost",))
    >>> slack_of({"strength": 0.5}, Cone.orthant(2), labels)
    array([0.5, 0. ])
    """
    eps = check_tolerance(tolerance, cone, labels)
    return None if eps is None else np.asarray(np.maximum(cone.facets @ np.array(eps), 0.0))


def in_words(tolerance: Sequence[float], objectives: Sequence[str]) -> str:
    """As part of a sentence.

    >>> in_words((0.5, 0.0, 2.0), ("strength", "cost", "time"))
    '0.5 in strength and 2 in time'
    """
    sizes = [f"{number(size)} in {name}" for size, name in zip(tolerance, objectives, strict=True) if size > 0.0]
    return " and ".join((", ".join(sizes[:-1]), sizes[-1]) if len(sizes) > 1 else sizes)


def right_within(scores: Floats, answer: Bools, slack: Floats) -> bool:
    """Is an answer (K,) right for arms with these facet scores (K, m), within s > 0? The other one, s = 0, is P.

    >>> scores = np.array([[1.0], [0.9], [0.0]])
    >>> [right_within(scores, np.array(mask), np.array([0.2])) for mask in ([1, 0, 0], [0, 1, 0], [1, 1, 1])]
    [True, True, False]
    """
    mask = np.asarray(answer, dtype=bool)
    ahead = scores[:, None] - scores[None]  # (j, i): how far j is ahead of i
    beats, matches = np.all(ahead >= slack, axis=2), np.all(ahead >= -slack, axis=2)
    np.fill_diagonal(beats, False)
    return not beats[:, mask].any() and bool(matches[np.ix_(mask, ~mask)].any(axis=0).all())


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
