"""Differences that do not matter: a tolerance, and what it comes to on the facets of a cone.

The answer is right within a tolerance eps >= 0 (L,) if no option in it is beaten by another by eps or more, and every
option left out is matched by one in it up to eps: `w_f . (M_a - M_i) >= -s_f` on every facet f, s_f = w_f . eps.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prepex import _checks, _named
from prepex._checks import Floats
from prepex.cone import Cone
from prepex.errors import InputError
from prepex.labels import Labels

Tolerance = float | Sequence[float] | Mapping[str, float] | None


def slack_of(tolerance: Tolerance, cone: Cone, labels: Labels) -> Floats | None:
    """s_f (m,); None without a tolerance. One number is for all objectives; one that a mapping leaves out has 0.

    >>> labels = Labels.make((2, 2), objectives=("strength", "cost"), minimise=("cost",))
    >>> slack_of({"strength": 0.5}, Cone.orthant(2), labels)
    array([0.5, 0. ])
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
    return np.asarray(np.maximum(slack, 0.0))
