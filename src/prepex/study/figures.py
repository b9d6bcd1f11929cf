"""The pictures of a report, as SVG text: means with their regions, evidence over time, pulls of each arm.

They draw what the dashboard draws, from the same document (picture.py).
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.drawing import (
    draw_border,
    draw_limit,
    figure_class,
    legend,
    log_axis,
    on_pair,
    place_names,
    plain,
    plain_axis,
)
from prepex.markup import svg_of
from prepex.parallel import Look, draw_parallel
from prepex.study.history import Past
from prepex.units import Units

# To be read on light and dark grounds.
FRONT, OTHER, NEEDED = "#2478b4", "#8a949e", "#c4552b"
# Pairs of objectives in one picture, and arms with names beside their points; more have numbers.
MOST_PAIRS, MOST_NAMES = 10, 30
# Arms whose regions are all drawn; objectives that are drawn in pairs.
MOST_REGIONS, MOST_AXES = 30, 3


def draw_means(picture: dict[str, Any]) -> str:
    """A row for each arm under one objective; else a plot for each pair of objectives."""
    names = picture["design"]["objectives"]
    tried = [(k, arm) for k, arm in enumerate(picture["arms"]) if arm["mean"] is not None]
    if not tried:
        return ""
    if len(names) > MOST_AXES:
        return _svg(_parallel(picture, [arm for _, arm in tried]))
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
        # Of many arms the regions of the front and its rivals alone can be read.
        if len(tried) <= MOST_REGIONS or arm["front"] or not arm["decided"]:
            edge = region(arm, k, design["covariance"], pair)
            axes.fill(*edge.T, facecolor=colour, edgecolor=colour, alpha=0.12)
        point = [arm["mean"][q] for q in pair]
        axes.plot(*point, "o", markersize=6 if arm["front"] else 4, **_mark(arm))
    _scale(axes, design, pair)
    for limit in design["limits"]:
        _draw_limit(axes, limit, pair)
    axes.set(xlabel=_title(design, pair[0]), ylabel=_title(design, pair[1]))
    if len(names) == 2:
        front = np.array([arm["mean"] for _, arm in tried if arm["front"]])
        draw_border(axes, front, np.array(design["facets"]), _units(design), color=FRONT)
    # Those of the front first: the others have names where there is room.
    shown = sorted((entry for entry in tried if named or entry[1]["front"]), key=lambda entry: not entry[1]["front"])
    points = np.array([[arm["mean"][q] for q in pair] for _, arm in shown])
    words = [plain(arm["name"], 24) if named else str(k + 1) for k, arm in shown]
    place_names(
        axes,
        points,
        words,
        others=np.array([[arm["mean"][q] for q in pair] for _, arm in tried]),
        beyond=60.0 if len(names) == 2 else 0.0,
    )


def _mark(arm: dict[str, Any]) -> dict[str, str]:
    """Filled: decided, blue in and grey out; empty: open. As everywhere."""
    colour = NEEDED if not arm["decided"] else FRONT if arm["front"] else OTHER
    return {"markeredgecolor": colour, "markerfacecolor": colour if arm["decided"] else "white"}


def _parallel(picture: dict[str, Any], tried: list[Any]) -> Any:
    """Beyond three objectives, coloured by state."""
    design = picture["design"]
    names, colours = design["objectives"], {"in": FRONT, "out": OTHER, "open": NEEDED}
    figure = _figure(max(7.0, 1.7 * len(names) + 2.0), 5.0)
    looks = [Look(plain(arm["name"], 20), colours[arm["state"]], "o", arm["front"]) for arm in tried]
    draw_parallel(
        figure.add_subplot(),
        np.array([arm["mean"] for arm in tried]),
        looks,
        [_title(design, q) for q in range(len(names))],
        down=[name in design["minimise"] for name in names],
        logs=[name in design["logs"] for name in names],
    )
    counts = {state: sum(arm["state"] == state for arm in tried) for state in colours}
    handles = [figure.axes[0].plot([], [], color=colours[state], marker="o")[0] for state, n in counts.items() if n]
    legend(figure, handles, [f"{state}: {n}" for state, n in counts.items() if n])
    return figure


def _draw_limit(axes: Any, limit: dict[str, Any], pair: tuple[int, int]) -> None:
    """A line, if the limit is on these two objectives alone."""
    weights = on_pair(limit["weights"], pair)
    if weights is not None:
        draw_limit(axes, weights, limit["value"], color=NEEDED)


def _rows(axes: Any, picture: dict[str, Any], tried: list[tuple[int, Any]]) -> None:
    for k, arm in tried:
        colour = FRONT if arm["front"] else OTHER
        low, high = (arm["interval"] or [arm["mean"] * 2])[0]
        around = [[arm["mean"][0] - low], [high - arm["mean"][0]]]
        axes.errorbar(arm["mean"], [k], xerr=around, fmt="o", color=colour, capsize=3, **_mark(arm))
    _name_rows(axes, picture["arms"])
    _scale(axes, picture["design"], (0,))
    for limit in picture["design"]["limits"]:
        axes.axvline(limit["value"] / limit["weights"][0], color=NEEDED, linewidth=1.2, linestyle="--")
    axes.set_xlabel(_title(picture["design"], 0))


def _name_rows(axes: Any, arms: list[dict[str, Any]]) -> None:
    axes.set_yticks(range(len(arms)), [plain(arm["name"], 40) for arm in arms], fontsize=8)
    axes.set_ylim(len(arms) - 0.4, -0.6)


def _title(design: dict[str, Any], q: int) -> str:
    name = design["objectives"][q]
    scale = ", log scale" if name in design["logs"] else ""
    unit = design.get("units", {}).get(name)
    shown = f"{plain(name, 40)} [{plain(unit, 12)}]" if unit else plain(name, 40)
    return f"{shown} ({'less' if name in design['minimise'] else 'more'} is better{scale})"


def _units(design: dict[str, Any]) -> Units:
    return Units(tuple(design["objectives"].index(name) for name in design["logs"]))


def _scale(axes: Any, design: dict[str, Any], shown: Sequence[int]) -> None:
    """Logarithmic where outcomes are compared so."""
    for axis, q in zip((axes.xaxis, axes.yaxis), shown):
        if design["objectives"][q] in design["logs"]:
            log_axis(axis)
        else:
            plain_axis(axis)


def _figure(width: float, height: float) -> Any:
    return figure_class()(figsize=(width, height), layout="constrained")


def _svg(figure: Any) -> str:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
    return svg_of(figure)
