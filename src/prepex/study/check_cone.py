"""The cone of a study, for check.py: such as prepex would have accepted. Nothing but Python and numpy."""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from prepex.study.check_read import fields, numbers, refuse, text, whole

# Every pair of arms is looked at on every facet.
MOST_FACETS = 1000
# Directions nearer than this are the same.
SAME = 1e-9
# Digits that a difference of two outcomes may lose.
DIGITS = 1e-13


def require_cone(given: Any, objectives: Sequence[str], signs: Any, logs: Any) -> None:
    """As written: unit normals, an inside, no line within; the name, and the statements it was made of. `signs` (L,)
    are -1 for costs, `logs` (L,) say which objectives are compared by their logarithms."""
    fields("cone", given, ("facets", "name"), ("statements",))
    rows = numbers("facets", given["facets"], (None, len(objectives)))
    _require_rows(tuple(map(tuple, rows.tolist())), text("cone", given["name"]), tuple(objectives))
    if "statements" in given:
        _require_statements(given["statements"], rows, signs, logs)


@lru_cache(maxsize=16)
def _require_rows(rows: tuple[tuple[float, ...], ...], name: str, objectives: tuple[str, ...]) -> None:
    """Those of a cone, and of its name; many certificates have the same."""
    facets = np.array(rows)
    L = facets.shape[1]
    whole("facets", len(facets), 1, MOST_FACETS)
    if np.any(np.abs(np.linalg.norm(facets, axis=1) - 1.0) > SAME) or np.linalg.matrix_rank(facets, tol=SAME) < L:
        refuse("facets", "unit rows of a pointed cone", rows)
    if _depth(facets) <= SAME:
        refuse("facets", "those of a cone with an interior", rows)
    _require_cone_name(name, facets, objectives)


def _require_statements(given: Any, facets: Any, signs: Any, logs: Any) -> None:
    """What was said about pairs of outcomes: well formed, and true of this cone with these signs and scales."""
    L = len(signs)
    if type(given) is not list or not given:
        refuse("statements", "a list of what was said", given)
    for entry in given:
        fields("statement", entry, ("one", "other", "clear"))
        for side in ("one", "other"):
            numbers(side, [entry[side]], (1, L))
        if type(entry["clear"]) is not bool:
            refuse("clear", "true or false", entry["clear"])
        if entry["one"] == entry["other"]:
            refuse("statement", "about two different outcomes", entry["one"])
    sides = np.array([[entry["one"], entry["other"]] for entry in given])
    if np.any(sides[:, :, logs] <= 0.0):
        refuse("statements", "of positive outcomes of a LogNormal objective", sides[:, :, logs].min())
    sides[:, :, logs] = np.log(sides[:, :, logs])
    ahead = (sides[:, 0] - sides[:, 1]) * signs
    # Objectives have units: each in that of its largest difference.
    unit = np.abs(ahead).max(axis=0)
    unit[unit == 0.0] = 1.0
    normals = facets * unit
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    lost = DIGITS * np.abs(sides).max(axis=1) / unit @ np.abs(normals).T
    ahead /= unit
    along, room = ahead @ normals.T, lost + SAME * np.linalg.norm(ahead, axis=1, keepdims=True)
    for entry, row, least in zip(given, along, room):
        if entry["clear"] and np.any(row < -least):
            refuse("statement", "one that the cone agrees with, given minimise and the families", entry)
        if not entry["clear"] and (np.all(row >= 0.0) or np.all(row <= 0.0)):
            refuse("statement", "of two outcomes of which the cone calls neither better", entry)


def _depth(facets: Any) -> float:
    """How far inside all facets a point with entries of at most 1 can be: often the sum of the normals is."""
    ahead = facets.sum(axis=0)
    found = float((facets @ ahead).min() / max(np.abs(ahead).max(), 1e-300))
    if found > SAME:
        return found
    from scipy.optimize import linprog

    m, L = facets.shape
    inside = linprog(
        np.append(np.zeros(L), -1.0),
        A_ub=np.hstack([-facets, np.ones((m, 1))]),
        b_ub=np.zeros(m),
        bounds=[(-1, 1)] * L + [(None, 1)],
    )
    return float(-inside.fun)


def _require_cone_name(name: str, facets: Any, objectives: tuple[str, ...]) -> None:
    """A name says how the cone was made: it must be that cone."""
    m, L = facets.shape
    if name in ("", f"orthant({L})"):
        good = not name or np.array_equal(facets, np.eye(L))
    elif found := re.fullmatch(r"angle\(([0-9]{1,9}(\.[0-9]{1,12})?(e-[0-9]{1,3})?)\)", name, re.ASCII):
        # Six digits of the angle are in the name.
        angle = math.radians(float(found[1]))
        lean = 0.5 * angle - 0.25 * math.pi
        rows = np.array([[math.cos(lean), math.sin(lean)], [math.sin(lean), math.cos(lean)]])
        good = (
            f"{float(found[1]):g}" == found[1]
            and (m, L) == (2, 2)
            and np.abs(facets - rows).max() <= 5e-6 * angle + SAME
        )
    else:
        # Rates are not in the name, but more of everything is better whatever they are.
        listed = ", ".join(objectives)
        good = name in (f"tradeoffs({listed})", f"preferences({listed})") and facets.min() >= -SAME
    if not good:
        refuse("cone", "named as it was made", name)
