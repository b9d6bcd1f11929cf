"""What all pictures are drawn with: figures, names beside points, legends, fronts and limits.

Matplotlib is imported only when a figure is made.
"""

import math
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prepex._checks import Floats
from prepex.errors import InputError
from prepex.extras import need
from prepex.numerals import number
from prepex.runs import check_ending
from prepex.units import Units

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
# Colour-blind safe (Okabe & Ito), and told apart by marker and size as well.
STYLES = (("#0072B2", "o", 60), ("#D55E00", "D", 24), ("#009E73", "^", 24), ("#CC79A7", "s", 24))


def plain(name: str, most: int = 32) -> str:
    """A short name that matplotlib does not take for a formula.

    >>> plain("a very long name of an option", 12), plain("5 $")
    ('a very long…', '5 \\\\$')
    """
    return (name if len(name) <= most else name[: most - 1] + "…").replace("$", r"\$")


def log_axis(axis: Any) -> None:
    """A logarithmic axis with plain, round numbers beside it."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    from prepex._ticks import RoundNumbers

    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    axis.set_major_locator(RoundNumbers())
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def plain_axis(axis: Any) -> None:
    """Large numbers with commas, as elsewhere."""
    from prepex._ticks import Thousands

    axis.set_major_formatter(Thousands())


def save(figure: "Figure", path: str | Path) -> None:
    """Write the figure; the ending of `path` gives the format (png, svg, pdf)."""
    check_ending(path, FORMATS)
    try:
        figure.savefig(path, dpi=160)
    except (OSError, ValueError) as error:
        raise InputError(f"path must be a writable png, svg or pdf file, got {str(path)!r}: {error}") from None


def figure_class() -> Any:
    """Matplotlib's Figure, without pyplot, and such that a notebook shows it."""
    need("plot", "plots need", "matplotlib")
    from prepex._figure import Picture

    return Picture


def place_names(
    axes: Any,
    points: Any,
    names: Sequence[str],
    size: float = 8.0,
    *,
    others: Any = None,
    beyond: float = 60.0,
    right_only: bool = False,
) -> None:
    """Names beside their points (n, 2), where they hide neither each other nor a point, nor any of `others`; the last
    ones not at all if there is no room. They may leave the axes on the right by `beyond` points. The axes must have
    their limits."""
    if not len(points):
        return
    figure = axes.figure
    figure.draw_without_rendering()
    place = axes.transData.transform(np.asarray(points, dtype=np.float64))
    frame, scale = axes.get_window_extent(), figure.dpi / 72.0
    taken: list[tuple[float, float, float, float]] = [
        (x - 4 * scale, y - 4 * scale, x + 4 * scale, y + 4 * scale) for x, y in place
    ]
    if others is not None:
        taken += [
            (x - 2 * scale, y - 2 * scale, x + 2 * scale, y + 2 * scale) for x, y in axes.transData.transform(others)
        ]
    for index, (name, (x, y)) in enumerate(zip(names, place, strict=True)):
        # About the size of the text: exact extents would need a drawing each.
        width, height = 0.58 * size * scale * max(len(name), 1), 1.15 * size * scale
        for right, up in (
            (1, 1),
            (1, -1),
            (-1, 1),
            (-1, -1),
            (1, 0),
            (-1, 0),
            (0, 2),
            (0, -2),
            (1, 3),
            (1, -3),
            (-1, 3),
        ):
            if right_only and right <= 0:
                continue
            left = x + 5 * scale if right > 0 else x - 5 * scale - width if right < 0 else x - width / 2
            low = y - height / 2 + up * (height / 2 + 2 * scale)
            box = left, low, left + width, low + height
            # Anchored where it is next to its point, so that it stands there whatever its true width.
            side, start = ("left", 5.0) if right > 0 else ("right", -5.0) if right < 0 else ("center", 0.0)
            inside = (
                frame.x0 <= box[0] and box[2] <= frame.x1 + beyond * scale and frame.y0 <= box[1] and box[3] <= frame.y1
            )
            blocked = (other for k, other in enumerate(taken) if k != index)
            if inside and not any(_overlap(box, other) for other in blocked):
                taken.append(box)
                offset = (start, (low - y) / scale)
                # A name that does not stand next to its point is led to it.
                relative = (0.0 if right > 0 else 1.0 if right < 0 else 0.5, 0.0 if up > 0 else 1.0)
                lead = {"arrowstyle": "-", "color": "0.7", "lw": 0.6, "shrinkA": 0, "shrinkB": 4, "relpos": relative}
                axes.annotate(
                    name, points[index], xytext=offset, textcoords="offset points", fontsize=size, color="0.25",
                    ha=side, va="bottom", annotation_clip=False, arrowprops=lead if abs(up) > 1 else None,
                )  # fmt: skip
                break


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def legend(figure: "Figure", handles: Sequence[Any], names: Sequence[str]) -> None:
    """Above the axes, in as many columns as fit; the figure grows by the rows beyond the first."""
    lines = [textwrap.fill(name, 80) for name in names]
    for columns in range(len(lines), 0, -1):
        made = figure.legend(handles, lines, loc="outside upper center", ncols=columns, frameon=False)
        if columns == 1 or made.get_window_extent().width <= figure.bbox.width:
            break
        made.remove()
    rows = -(-sum(line.count("\n") + 1 for line in lines) // columns)
    figure.set_figheight(figure.get_figheight() + 0.22 * (rows - 1))


def draw_limit(axes: Any, weights: Sequence[float], value: float, **given: Any) -> None:
    """The line on which an option just keeps to a limit, weights (2,) of what the axes show; they reach to it."""
    style = {"color": STYLES[1][0], "linewidth": 1.2, "linestyle": "--", "zorder": 0.5} | given
    (x, y), across, up = weights, axes.get_xlim(), axes.get_ylim()
    if y == 0.0:
        axes.axvline(value / x, **style)
        across = _reach(across, value / x, axes.get_xscale() == "log")
    elif x == 0.0:
        axes.axhline(value / y, **style)
        up = _reach(up, value / y, axes.get_yscale() == "log")
    else:
        axes.plot(across, [(value - x * end) / y for end in across], **style)
    axes.set(xlim=across, ylim=up)


def on_pair(weights: Sequence[float], pair: tuple[int, int]) -> list[float] | None:
    """Of a limit's weights (L,) those of two objectives; None if others are in it too, or neither of these is.

    >>> on_pair([0.0, 1.0, 0.0], (0, 1)), on_pair([1.0, 0.0, 2.0], (0, 1)), on_pair([0.0, 0.0, 2.0], (0, 1))
    ([0.0, 1.0], None, None)
    """
    others = [weight for q, weight in enumerate(weights) if q not in pair]
    own = [weights[q] for q in pair]
    return own if any(own) and not any(others) else None


def _reach(ends: tuple[float, float], line: float, log: bool) -> tuple[float, float]:
    """The ends of an axis, moved so far that a line across it is seen."""
    if log:
        low, high = _reach((math.log(ends[0]), math.log(ends[1])), math.log(line), False)
        return math.exp(low), math.exp(high)
    edge = 0.03 * abs(ends[1] - ends[0])
    return min(ends[0], line - edge), max(ends[1], line + edge)


def staircase(points: Floats, facets: Floats, far: float) -> Floats:
    """The border of what points (n, 2) dominate under a cone with two facets: a staircase in facet scores.

    >>> staircase(np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2), 9.0).tolist()
    [[-9.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, -9.0]]
    """
    scores = points @ facets.T
    scores = scores[np.lexsort((-scores[:, 1], scores[:, 0]))]
    steps = [scores[0] - (far, 0.0), scores[0]]
    for before, after in pairwise(scores):
        steps += [np.array([before[0], after[1]]), after]
    steps.append(scores[-1] - (0.0, far))
    return np.array(steps) @ np.linalg.inv(facets).T


def draw_border(axes: Any, front: Floats, facets: Floats, units: Units, **given: Any) -> None:
    """The border of what a front (n, 2) dominates under a cone: a staircase under the orthant, slanted steps else.

    `facets` (2, 2) are for the user's signs and inner units. The axes keep their limits.
    """
    if not len(front):
        return
    x, y = axes.get_xlim(), axes.get_ylim()
    corners = units.inner(np.array([x, y]).T.copy())
    reach = np.ptp(corners, axis=0)
    line = staircase(units.inner(front), facets, 20.0 * float(reach.sum()) * float(np.abs(facets).max()))
    # No further than the picture: a logarithm's end may be no number.
    line = np.clip(line, corners.min(axis=0) - reach, corners.max(axis=0) + reach) if units.logs else line
    style = {"color": STYLES[0][0], "linestyle": ":", "linewidth": 1.2, "zorder": 0.8} | given
    axes.plot(*units.outer(line).T, **style)
    axes.set(xlim=x, ylim=y)
