"""The geometry of facets: rows W of a cone {x : W x >= 0}.

Legend
    rows   facets, or rays: unit rows    (m, L)
"""

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex._checks import Floats
from prepex.errors import InputError, shown

# Directions closer than this (unit vectors) are the same: rounding, not preference.
SAME = 1e-9
# Characters of a cone's name, which lists its objectives.
LONGEST_NAME = 10_000


def frozen(rows: Floats) -> Floats:
    """A read-only copy, in one layout."""
    rows = np.ascontiguousarray(rows) + 0.0  # no negative zeros
    rows.flags.writeable = False
    return rows


def unit_rows(name: str, value: ArrayLike) -> Floats:
    """Directions, each of length 1."""
    rows = _checks.real_array(name, value, (f"n_{name}", None), ("n_objectives", None))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if np.any(lengths == 0):
        raise InputError(f"{name} must be directions, got a zero row at position {int(np.argmin(lengths))}")
    return np.asarray(rows / lengths)


def angle_facets(degrees: float) -> Floats:
    """Of the cone of this opening angle around the diagonal (2, 2)."""
    lean = np.radians(degrees / 2 - 45)
    return np.array([[np.cos(lean), np.sin(lean)], [np.sin(lean), np.cos(lean)]])


def require_own_name(name: str, facets: Floats) -> None:
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
        off = np.abs(facets - angle_facets(degrees)).max()
        fits = name == f"angle({degrees:g})" and bool(off <= 5e-6 * np.radians(degrees) + SAME)
    elif kind in ("tradeoffs", "preferences"):
        fits = name.endswith(")") and name.isprintable() and bool(facets.min() >= -SAME)
    if fits and len(name) > LONGEST_NAME:
        raise InputError(
            f"names of a cone's objectives must have at most {LONGEST_NAME:,} characters together, got {len(name):,}"
        )
    if not fits:
        raise InputError(
            "name must be empty, or that of Cone.orthant, angle, tradeoffs or from_preferences with these facets, "
            f"got {shown(name)}"
        )


def require_pointed(rows: Floats) -> None:
    """Refuse facets of a cone that contains a line."""
    if np.linalg.matrix_rank(rows, tol=SAME) < rows.shape[1]:
        line = np.linalg.svd(rows)[2][-1]
        raise InputError(
            "facets must make a pointed cone, got one that contains the whole line along "
            f"{_vector(line)}: no facet distinguishes its two directions"
        )


def depth(rows: Floats) -> float:
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


def require_solid(name: str, rows: Floats) -> None:
    """Refuse facets of a cone without an interior."""
    # Mostly the sum of the facets is inside: no solver, and not the time to load one.
    if (rows @ rows.sum(axis=0)).min() > SAME:
        return
    from scipy.optimize import linprog

    if depth(rows) > SAME:
        return
    for direction in (*np.eye(rows.shape[1]), *-np.eye(rows.shape[1])):
        answer = linprog(-direction, A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
        if -answer.fun > SAME:
            raise InputError(
                f"{name} must make a cone with an interior, got one that is flat: "
                f"it contains {_vector(answer.x)} but no ball around any of its points"
            )
    raise InputError(f"{name} must make a cone with an interior, got an empty one: only the origin meets every facet")


def require_pointed_hull(rows: Floats) -> None:
    """Refuse rays whose non-negative combinations are flat, or contain a line."""
    if np.linalg.matrix_rank(rows, tol=SAME) < rows.shape[1]:
        raise InputError(
            f"rays must make a cone with an interior, got rays that span only "
            f"{np.linalg.matrix_rank(rows, tol=SAME)} of {rows.shape[1]} dimensions"
        )
    if depth(rows) <= SAME:
        raise InputError("rays must make a pointed cone, got rays whose combinations contain a whole line")


def irredundant(rows: Floats) -> Floats:
    """Drop each row that is a non-negative combination of the others (the last of equal rows)."""
    from scipy.optimize import nnls

    kept = list(range(len(rows)))
    for i in reversed(range(len(rows))):
        others = [k for k in kept if k != i]
        if others and nnls(rows[others].T, rows[i])[1] <= SAME:
            kept = others
    return np.asarray(rows[kept])


def _vector(x: Floats) -> str:
    return "(" + ", ".join(f"{entry:.3g}" for entry in x) + ")"


def dual_rays(rows: Floats) -> Floats:
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
