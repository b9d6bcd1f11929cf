"""The options with their states: points for one to three objectives, parallel coordinates for more."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from prepex.analysis.analyse import Analysis, Arm
from prepex.drawing import draw_border, figure_class, log_axis, place_names, plain, plain_axis
from prepex.family import LogNormal
from prepex.parallel import Look, draw_parallel
from prepex.units import Units

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colour-blind safe (Okabe & Ito), and told apart by the marker as well.
STYLE = {
    "in": ("#0072B2", "o", "in"),
    "open": ("#D55E00", "D", "open"),
    "out": ("#8a949e", "v", "out"),
    None: ("#555555", "o", "not known"),
}
# Options with names in a picture; of more, those that are in or open.
MOST_NAMES = 40


def draw(found: Analysis) -> "Figure":
    """One figure."""
    L = len(found.objectives)
    if L == 1:
        return _rows(found)
    if L > 3:
        return _parallel(found)
    pairs = list(combinations(range(L), 2))
    figure = figure_class()(figsize=(7.2, 5.0) if L == 2 else (12.6, 4.4), layout="constrained")
    for place, pair in enumerate(pairs, 1):
        axes = figure.add_subplot(1, len(pairs), place)
        _scatter(axes, found, pair, front=L == 2)
    _legend(figure, found.arms)
    return figure


def _logs(found: Analysis) -> list[bool]:
    return [isinstance(guess.family, LogNormal) for guess in found.families]


def _title(found: Analysis, q: int) -> str:
    way = "less" if found.objectives[q] in found.minimise else "more"
    scale = ", log scale" if _logs(found)[q] else ""
    return f"{plain(found.objectives[q])} ({way} is better{scale})"


def _error(arm: Arm, q: int, log: bool) -> tuple[float, float]:
    """The standard error of a mean, below and above it."""
    spread = arm.spread[q]
    if not np.isfinite(spread) or arm.n < 2:
        return 0.0, 0.0
    if log:
        factor = float(np.exp(np.log(spread) / np.sqrt(arm.n)))
        return arm.mean[q] * (1.0 - 1.0 / factor), arm.mean[q] * (factor - 1.0)
    return (spread / np.sqrt(arm.n),) * 2


def _scatter(axes: Any, found: Analysis, pair: tuple[int, int], *, front: bool) -> None:
    logs = _logs(found)
    for q, axis in zip(pair, (axes.xaxis, axes.yaxis), strict=True):
        (log_axis if logs[q] else plain_axis)(axis)
    for arm in sorted(found.arms, key=lambda arm: ("out", None, "open", "in").index(arm.state)):
        colour, marker, _ = STYLE[arm.state]
        errors = [np.array(_error(arm, q, logs[q]))[:, None] for q in pair]
        point = [[arm.mean[q]] for q in pair]
        quiet = arm.state == "out"
        axes.errorbar(
            *point, xerr=errors[0], yerr=errors[1], fmt=marker, color=colour, markersize=7 if arm.front else 4,
            elinewidth=0.8, alpha=0.6 if quiet else 1.0, markerfacecolor=_fill(arm),
        )  # fmt: skip
    axes.set(xlabel=_title(found, pair[0]), ylabel=_title(found, pair[1]))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    if front:
        _front(axes, found)
    named = [arm for arm in found.arms if len(found.arms) <= MOST_NAMES or arm.state != "out"][:MOST_NAMES]
    points = np.array([[arm.mean[q] for q in pair] for arm in named])
    if len(points):
        # Beside one picture there is room, between several there is none.
        place_names(axes, points, [plain(arm.name, 20) for arm in named], beyond=60.0 if front else 0.0)


def _front(axes: Any, found: Analysis) -> None:
    """The border of what the front dominates, under the cone of the analysis."""
    if found.given is None:
        return
    settings = found.given.settings
    units = Units(tuple(q for q, log in enumerate(_logs(found)) if log))
    front = np.array([arm.mean for arm in found.arms if arm.front])
    draw_border(axes, front, settings.cone.facets * settings.labels.signs, units, color=STYLE["in"][0])


def _rows(found: Analysis) -> "Figure":
    figure = figure_class()(figsize=(7.2, 1.4 + 0.28 * len(found.arms)), layout="constrained")
    axes = figure.add_subplot()
    log = _logs(found)[0]
    if log:
        log_axis(axes.xaxis)
    for k, arm in enumerate(found.arms):
        colour, marker, _ = STYLE[arm.state]
        error = np.array(_error(arm, 0, log))[:, None]
        axes.errorbar(
            arm.mean[0], k, xerr=error, fmt=marker, color=colour, markerfacecolor=_fill(arm), capsize=2,
            markersize=7 if arm.front else 4,
        )  # fmt: skip
    axes.set_yticks(range(len(found.arms)), [plain(arm.name) for arm in found.arms], fontsize=8)
    axes.set_ylim(len(found.arms) - 0.4, -0.6)
    axes.set_xlabel(_title(found, 0))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.25, linewidth=0.6)
    _legend(figure, found.arms)
    return figure


def _parallel(found: Analysis) -> "Figure":
    L = len(found.objectives)
    figure = figure_class()(figsize=(max(7.2, 1.7 * L + 2.0), 5.0), layout="constrained")
    looks = [Look(plain(arm.name, 20), *STYLE[arm.state][:2], arm.front) for arm in found.arms]
    draw_parallel(
        figure.add_subplot(),
        np.array([arm.mean for arm in found.arms]),
        looks,
        [plain(_title(found, q), 40) for q in range(L)],
        down=[name in found.minimise for name in found.objectives],
        logs=_logs(found),
    )
    _legend(figure, found.arms, "thick")
    return figure


def _fill(arm: Arm) -> str:
    """Empty marks are open, as in every picture."""
    return "white" if arm.state == "open" else STYLE[arm.state][0]


def _legend(figure: Any, arms: Sequence[Arm], mark: str = "large") -> None:
    from matplotlib.lines import Line2D

    handles = []
    for state, (colour, marker, words) in STYLE.items():
        n = sum(arm.state == state for arm in arms)
        if n:
            label, fill = f"{words}: {n}", "white" if state == "open" else colour
            handles.append(
                Line2D([], [], color=colour, marker=marker, linestyle="none", markerfacecolor=fill, label=label)
            )
    handles.append(Line2D([], [], linestyle="none", label=f"{mark}: looks optimal"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=9)
