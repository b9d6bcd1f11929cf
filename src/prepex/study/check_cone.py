"""The cone of a study, for check.py: such as prepex would have accepted. Nothing but Python and numpy."""

import math
import re
from functools import lru_cache
from typing import Any

import numpy as np

from prepex.study.check_read import fields, numbers, refuse, text, whole

# Every pair of arms is looked at on every facet.
MOST_FACETS = 1000
# Directions nearer than this are the same.
SAME = 1e-9


def require_cone(given: Any, L: int) -> None:
    """As written: unit normals, an inside, no line within; the name, and the statements it was made of."""
    fields("cone", given, ("facets", "name"), ("statements",))
    rows = numbers("facets", given["facets"], (None, L))
    _require_rows(tuple(map(tuple, rows.tolist())), text("cone", given["name"]))
    if "statements" in given:
        _require_statements(given["statements"], L)


@lru_cache(maxsize=16)
def _require_rows(rows: tuple[tuple[float, ...], ...], name: str) -> None:
    """Those of a cone, and of its name; many certificates have the same."""
    facets = np.array(rows)
    L = facets.shape[1]
    whole("facets", len(facets), 1, MOST_FACETS)
    if np.any(np.abs(np.linalg.norm(facets, axis=1) - 1.0) > SAME) or np.linalg.matrix_rank(facets, tol=SAME) < L:
        refuse("facets", "unit rows of a pointed cone", rows)
    if _depth(facets) <= SAME:
        refuse("facets", "those of a cone with an interior", rows)
    _require_cone_name(name, facets)


def _require_statements(given: Any, L: int) -> None:
    """What was said about pairs of outcomes: kept, and well formed."""
    if type(given) is not list or not given:
        refuse("statements", "a list of what was said", given)
    for entry in given:
        fields("statement", entry, ("one", "other", "clear"))
        for side in ("one", "other"):
            numbers(side, [entry[side]], (1, L))
        if type(entry["clear"]) is not bool:
            refuse("clear", "true or false", entry["clear"])


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


def _require_cone_name(name: str, facets: Any) -> None:
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
        good = (
            bool(re.fullmatch(r"(tradeoffs|preferences)\(.*\)", name)) and name.isprintable() and facets.min() >= -SAME
        )
    if not good:
        refuse("cone", "named as it was made", name)
