"""Where a cone meets the objectives of what it is given to: names, signs and scales must be those it was made with.

A cone from preferences keeps its statements in the user's units and signs. With the signs and scales of the objectives
each of them must hold in the cone, and they must imply all that the cone calls better.

Legend
    d    differences of benefits, better less worse, as they are compared      (n, L)
    u    the same as directions, in units in which all have a size             (n, L)
    W    facets in these units, unit rows                                      (m, L)
"""

from collections.abc import Sequence

import numpy as np

from prepex._checks import Floats
from prepex.cone import Cone
from prepex.errors import InputError, shown
from prepex.labels import Labels
from prepex.preferences import ClashError, Statement, checked, differences, in_words, scale_of
from prepex.units import Units

# Rounding of facets, and of what is left of a difference of two outcomes.
ROUNDING, DIGITS = 1e-10, 1e-14
# Facets nearer than this are the same.
NEAR = 1e-6
# Cones whose name lists their objectives.
OF_NAMES = ("tradeoffs", "preferences")


def fitted(cone: Cone, labels: Labels, units: Units) -> Cone:
    """The cone over these objectives, in their order; refused if it was made for others, or with other signs or scales.

    >>> from prepex import better
    >>> cone = Cone.from_preferences(("strength", "cost"), [better((60, 15), (55, 12))], minimise=("cost",))
    >>> labels = Labels.make((2, 2), objectives=("cost", "strength"), minimise=("cost",))
    >>> fitted(cone, labels, Units()).statements[0].one
    (15.0, 60.0)
    """
    order = cone.ordered(labels.objectives)
    kind = order.name.partition("(")[0]
    if kind in OF_NAMES and order.name != f"{kind}({', '.join(labels.objectives)})":
        raise InputError(f"name of a cone must list these objectives, {', '.join(labels.objectives)}, got {order.name}")
    if order.statements:
        _require_statements(order, labels, units)
        if order.minimise is None:
            # Read from a document, which does not say it; now it is known.
            d = differences(checked(order.statements, labels.objectives), labels.signs, units.logs)
            order = order.knowing(labels.objectives, labels.minimise, d)
    return order


def _require_statements(cone: Cone, labels: Labels, units: Units) -> None:
    said = checked(cone.statements, labels.objectives)
    try:
        d = differences(said, labels.signs, units.logs)
    except InputError as error:
        raise InputError(f"cone must be used with the logs that it was made with: {error}") from None
    for entry, holds in zip(said, _hold(cone, said, d, units), strict=True):
        if not holds:
            raise _refusal(labels, units, f"'{in_words(entry, labels.objectives)}' does not hold with these")
    given = {"minimise": labels.minimise, "logs": [labels.objectives[q] for q in units.logs]}
    try:
        own = Cone.from_preferences(labels.objectives, said, **given).facets
    except ClashError as error:
        raise _refusal(labels, units, str(error)) from None
    scale = scale_of(d)
    if not _generate(_unit(cone.facets * scale), _unit(own * scale)):
        first = in_words(said[0], labels.objectives)
        raise _refusal(labels, units, f"its statements, as '{first}', do not say all that it calls better")


def _hold(cone: Cone, said: Sequence[Statement], d: Floats, units: Units) -> list[bool]:
    """Of each statement: is its difference in the cone, or outside on either side if neither outcome is better?"""
    scale = scale_of(d)
    sizes = np.abs(units.inner(np.array([[entry.one, entry.other] for entry in said], dtype=np.float64))).max(axis=1)
    W, length = _unit(cone.facets * scale), np.linalg.norm(d / scale, axis=1, keepdims=True)
    along = d / scale @ W.T
    room = ROUNDING * length + DIGITS * (sizes / scale) @ np.abs(W).T
    found = []
    for entry, row, slack in zip(said, along, room, strict=True):
        inside = bool(np.all(row >= -slack)) if entry.clear else bool(np.all(row >= 0.0) or np.all(row <= 0.0))
        found.append(inside == entry.clear)
    return found


def _generate(rows: Floats, wanted: Floats) -> bool:
    """Is each of the wanted facets a combination of the rows? Then their cone calls nothing else better."""
    from scipy.optimize import nnls

    for facet in wanted:
        if np.linalg.norm(rows - facet, axis=1).min() > NEAR and nnls(rows.T, facet)[1] > NEAR:
            return False
    return True


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _refusal(labels: Labels, units: Units, why: str) -> InputError:
    logs = tuple(labels.objectives[q] for q in units.logs)
    return InputError(
        "cone must be used with the minimise, and the logs of LogNormal objectives, that it was made with, got "
        f"minimise={shown(labels.minimise)}, logs={shown(logs)}: {why}"
    )
