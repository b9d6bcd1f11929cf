"""The pictures of a report, as SVG text: means with their regions, evidence over time, pulls of each arm.

They draw what the dashboard draws, from the same document (picture.py).
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.drawing import draw_limit, figure_class, log_axis, staircase
from prepex.markup import svg_of
from prepex.study.history import Past
from prepex.units import Units

FRONT, OTHER, NEEDED = "#0b5c94", "#8a949e", "#b3431b"
# Pairs of objectives in one picture, and arms with names beside their points; more have numbers.
MOST_PAIRS, MOST_NAMES = 10, 12


def draw_means(picture: dict[str, Any]) -> str:
    """A row for each arm under one objective; else a plot for each pair of objectives."""
    names = picture["design"]["objectives"]
    tried = [(k, arm) for k, arm in enumerate(picture["arms"]) if arm["mean"] is not None]
    if not tried:
        return ""
    if len(names) == 1:
        figure = _figure(7.0, 1.2 + 0.3 * len(picture["arms"]))
        _rows(figure.add_subplot(), picture, tried)
        return _svg(figure)
    pairs = list(combinations(range(len(names)), 2))[:MOST_PAIRS]
    columns = min(len(pairs), 2)
    lines = -(-len(pairs) // columns)
    figure = _figure(7.0 if columns == 1 else 9.0, (4.6 if columns == 1 else 3.9) * lines)
    for place, pair in enumerate(pairs, 1):
        _pair(figure.add_subplot(lines, columns, place), picture, tried, pair)
    return _svg(figure)


def draw_evidence(picture: dict[str, Any], past: Past) -> str:
    """What was reached and needed after so many outcomes; empty before that means anything."""
    points = [point for point in past.points if point.reached is not None]
    if not points:
        return ""
    figure = _figure(7.0, 3.5)
    axes = figure.add_subplot()
    n = [point.n for point in past.points]
    axes.plot(n, [np.nan if p.reached is None else p.reached for p in past.points], color=FRONT, label="reached")
    axes.plot(n, [point.needed for point in past.points], color=NEEDED, linestyle="--", label="needed")
    if picture["answer"]["done"]:
        axes.axvline(picture["answer"]["n_pulls"], color="0.6", linewidth=1, linestyle=":", label="the stop")
    elif picture["forecast"] and picture["forecast"]["median"] is not None:
        _draw_ahead(axes, picture["forecast"], n[-1], picture["needed"])
    axes.set_xlabel("outcomes")
    heights = {"certified": "certified margin", "posterior": "log(1 / probability of a wrong answer)"}
    axes.set_ylabel(heights.get(picture["design"]["threshold"], "evidence"))
    axes.legend(frameon=False)
    return _svg(figure)


def _draw_ahead(axes: Any, ahead: dict[str, Any], now: int, needed: float) -> None:
    """The range of the stop, and its median, where they are not so far that nothing else could be seen."""
    low, median, high = ahead["low"] or 0, ahead["median"], ahead["high"]
    if median > 4 * now:
        return
    end = min(5 * now, now + (10 * median if high is None else high))
    axes.plot([now + low, end], [needed, needed], color=NEEDED, linewidth=6, alpha=0.3, solid_capstyle="butt")
    axes.plot([now + median], [needed], "D", color=FRONT, markerfacecolor="white", label="forecast (80 % range)")


def draw_counts(picture: dict[str, Any]) -> str:
    """Outcomes of each arm, and the pulls that are out beside them."""
    arms = picture["arms"]
    figure = _figure(7.0, 1.0 + 0.26 * len(arms))
    axes, rows = figure.add_subplot(), np.arange(len(arms))
    told = [arm["n"] for arm in arms]
    axes.barh(rows, told, color=[FRONT if arm["front"] else OTHER for arm in arms], height=0.7)
    axes.barh(rows, [arm["pending"] for arm in arms], left=told, color=NEEDED, height=0.7)
    _name_rows(axes, arms)
    axes.set_xlabel("outcomes" + (", and pulls that are out (orange)" if any(arm["pending"] for arm in arms) else ""))
    return _svg(figure)


def region(arm: dict[str, Any], k: int, covariance: Any, pair: tuple[int, int]) -> Floats:
    """The border of an arm's region on a pair of objectives, (n, 2): an ellipse or a box; empty if there is none."""
    if arm["radius"] is not None:
        return border(arm["mean"], arm["radius"], np.array(covariance[k if len(covariance) > 1 else 0]), pair)
    if arm["interval"] is None:
        return np.empty((0, 2))
    (left, right), (low, high) = (arm["interval"][q] for q in pair)
    return np.array([[left, low], [right, low], [right, high], [left, high]])


def border(mean: Sequence[float], size: float, covariance: Floats, pair: tuple[int, int]) -> Floats:
    """The border of an ellipse, (n, 2)."""
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    root = np.linalg.cholesky(covariance[np.ix_(pair, pair)])
    return np.array([mean[q] for q in pair]) + size * np.stack([np.cos(turn), np.sin(turn)], axis=1) @ root.T


def _pair(axes: Any, picture: dict[str, Any], tried: list[tuple[int, Any]], pair: tuple[int, int]) -> None:
    design = picture["design"]
    names = design["objectives"]
    named = len(names) == 2 and len(tried) <= MOST_NAMES
    for k, arm in tried:
        colour = FRONT if arm["front"] else OTHER
        edge = region(arm, k, design["covariance"], pair)
        axes.fill(*edge.T, facecolor=colour, edgecolor=colour, alpha=0.12)
        point = [arm["mean"][q] for q in pair]
        fill = colour if arm["decided"] else "none"
        axes.plot(*point, "o", markersize=6 if arm["front"] else 4, markeredgecolor=colour, markerfacecolor=fill)
        words = _plain(_short(arm["name"], 24)) if named else str(k + 1) if arm["front"] else ""
        axes.annotate(words, point, xytext=(5, 4), textcoords="offset points", fontsize=8)
    _scale(axes, design, pair)
    for limit in design["limits"]:
        _draw_limit(axes, limit, pair)
    x, y = axes.get_xlim(), axes.get_ylim()
    front = np.array([arm["mean"] for _, arm in tried if arm["front"]])
    if len(names) == 2 and len(front):
        units = _units(design)
        far = 10.0 * float(np.ptp(units.inner(np.array([x, y]).T), axis=0).sum())
        line = staircase(units.inner(front), np.array(design["facets"]), far)
        axes.plot(*units.outer(_nearer(line, units)).T, color=FRONT, linestyle=":", linewidth=1.2)
    axes.set(xlim=x, ylim=y, xlabel=_title(design, pair[0]), ylabel=_title(design, pair[1]))


def _draw_limit(axes: Any, limit: dict[str, Any], pair: tuple[int, int]) -> None:
    """A line, if the limit is on these two objectives alone."""
    weights = [limit["weights"][q] for q in pair]
    if any(weights) and not any(weight for q, weight in enumerate(limit["weights"]) if q not in pair):
        draw_limit(axes, weights, limit["value"], color=NEEDED)


def _rows(axes: Any, picture: dict[str, Any], tried: list[tuple[int, Any]]) -> None:
    for k, arm in tried:
        colour = FRONT if arm["front"] else OTHER
        low, high = (arm["interval"] or [arm["mean"] * 2])[0]
        around = [[arm["mean"][0] - low], [high - arm["mean"][0]]]
        fill = colour if arm["decided"] else "white"
        axes.errorbar(arm["mean"], [k], xerr=around, fmt="o", color=colour, markerfacecolor=fill, capsize=3)
    _name_rows(axes, picture["arms"])
    _scale(axes, picture["design"], (0,))
    for limit in picture["design"]["limits"]:
        axes.axvline(limit["value"] / limit["weights"][0], color=NEEDED, linewidth=1.2, linestyle="--")
    axes.set_xlabel(_title(picture["design"], 0))


def _name_rows(axes: Any, arms: list[dict[str, Any]]) -> None:
    axes.set_yticks(range(len(arms)), [_plain(_short(arm["name"], 40)) for arm in arms], fontsize=8)
    axes.set_ylim(len(arms) - 0.4, -0.6)


def _title(design: dict[str, Any], q: int) -> str:
    name = design["objectives"][q]
    scale = ", log scale" if name in design["logs"] else ""
    return f"{_plain(_short(name, 40))} ({'less' if name in design['minimise'] else 'more'} is better{scale})"


def _units(design: dict[str, Any]) -> Units:
    return Units(tuple(design["objectives"].index(name) for name in design["logs"]))


def _scale(axes: Any, design: dict[str, Any], shown: Sequence[int]) -> None:
    """Logarithmic where outcomes are compared so."""
    for axis, q in zip((axes.xaxis, axes.yaxis), shown):
        if design["objectives"][q] in design["logs"]:
            log_axis(axis)


def _nearer(line: Floats, units: Units) -> Floats:
    """The ends of a line not so far that they are no numbers in the user's units."""
    found = line.copy()
    for end, inside in ((0, 1), (-1, -2)):
        step = line[end] - line[inside]
        reach = np.abs(step[list(units.logs)]).max(initial=0.0)
        found[end] = line[inside] + step * min(1.0, 500.0 / max(reach, 1.0))
    return found


def _plain(name: str) -> str:
    """A name that matplotlib does not take for a formula."""
    return name.replace("$", r"\$")


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _figure(width: float, height: float) -> Any:
    return figure_class()(figsize=(width, height), layout="constrained")


def _svg(figure: Any) -> str:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    return svg_of(figure)
