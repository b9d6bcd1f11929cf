"""The options with their states: points for one to three objectives, parallel coordinates for more."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from prepex._checks import Floats
from prepex.analysis.analyse import Analysis, Arm
from prepex.drawing import figure_class, log_axis, place_names, staircase
from prepex.family import LogNormal

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
MOST_LINES = 16


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
    return f"{_plain(found.objectives[q])} ({way} is better{scale})"


def _plain(name: str, most: int = 32) -> str:
    """A short name that matplotlib does not take for a formula."""
    return (name if len(name) <= most else name[: most - 1] + "…").replace("$", r"\$")


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
        if logs[q]:
            log_axis(axis)
    for arm in sorted(found.arms, key=lambda arm: ("out", None, "open", "in").index(arm.state)):
        colour, marker, _ = STYLE[arm.state]
        errors = [np.array(_error(arm, q, logs[q]))[:, None] for q in pair]
        point = [[arm.mean[q]] for q in pair]
        quiet = arm.state == "out"
        axes.errorbar(
            *point, xerr=errors[0], yerr=errors[1], fmt=marker, color=colour, markersize=4 if quiet else 6,
            elinewidth=0.8, alpha=0.6 if quiet else 1.0, markerfacecolor=colour if arm.front else "white",
        )  # fmt: skip
    axes.set(xlabel=_title(found, pair[0]), ylabel=_title(found, pair[1]))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    if front:
        _front(axes, found)
    named = [arm for arm in found.arms if len(found.arms) <= MOST_NAMES or arm.state != "out"][:MOST_NAMES]
    points = np.array([[arm.mean[q] for q in pair] for arm in named])
    if len(points):
        place_names(axes, points, [_plain(arm.name, 20) for arm in named])


def _front(axes: Any, found: Analysis) -> None:
    """The border of what the front dominates, under the cone of the analysis."""
    if found.given is None:
        return
    from prepex.units import Units

    settings = found.given.settings
    units = Units(tuple(q for q, log in enumerate(_logs(found)) if log))
    points: Floats = units.inner(np.array([arm.mean for arm in found.arms if arm.front]))
    x, y = axes.get_xlim(), axes.get_ylim()
    corners = units.inner(np.array([x, y]).T.copy())
    facets = settings.cone.facets * settings.labels.signs
    if not len(points):
        return
    far = 20.0 * float(np.ptp(corners, axis=0).sum())
    line = staircase(points, facets, far)
    # No further than the picture: a logarithm's end may be no number.
    reach = np.ptp(corners, axis=0)
    line = np.clip(line, corners.min(axis=0) - reach, corners.max(axis=0) + reach) if units.logs else line
    axes.plot(*units.outer(line).T, color=STYLE["in"][0], linestyle=":", linewidth=1.2, zorder=0.5)
    axes.set(xlim=x, ylim=y)


def _rows(found: Analysis) -> "Figure":
    figure = figure_class()(figsize=(7.2, 1.4 + 0.28 * len(found.arms)), layout="constrained")
    axes = figure.add_subplot()
    log = _logs(found)[0]
    if log:
        log_axis(axes.xaxis)
    for k, arm in enumerate(found.arms):
        colour, marker, _ = STYLE[arm.state]
        error = np.array(_error(arm, 0, log))[:, None]
        fill = colour if arm.front else "white"
        axes.errorbar(arm.mean[0], k, xerr=error, fmt=marker, color=colour, markerfacecolor=fill, capsize=2)
    axes.set_yticks(range(len(found.arms)), [_plain(arm.name) for arm in found.arms], fontsize=8)
    axes.set_ylim(len(found.arms) - 0.4, -0.6)
    axes.set_xlabel(_title(found, 0))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.25, linewidth=0.6)
    _legend(figure, found.arms)
    return figure


def _parallel(found: Analysis) -> "Figure":
    """A line an option, an axis an objective, better upwards everywhere."""
    L, logs = len(found.objectives), _logs(found)
    figure = figure_class()(figsize=(max(7.2, 1.7 * L + 2.0), 5.0), layout="constrained")
    axes = figure.add_subplot()
    means = np.array([arm.mean for arm in found.arms])
    inner = np.where(logs, np.log(np.where(logs, means, 1.0)), means)
    low, high = inner.min(axis=0), inner.max(axis=0)
    height = (inner - low) / np.where(high > low, high - low, 1.0)
    down = np.array([name in found.minimise for name in found.objectives])
    height = np.where(down, 1.0 - height, height)
    for arm, line in sorted(
        zip(found.arms, height, strict=True), key=lambda e: ("out", None, "open", "in").index(e[0].state)
    ):
        colour, marker, _ = STYLE[arm.state]
        quiet = not arm.front
        axes.plot(
            range(L), line, color=colour, marker=marker, markersize=3 if quiet else 5,
            linewidth=0.7 if quiet else 1.6, alpha=0.45 if quiet else 0.95,
        )  # fmt: skip
    for q in range(L):
        best, worst = (low[q], high[q]) if down[q] else (high[q], low[q])
        ends = [float(np.exp(v)) if logs[q] else float(v) for v in (best, worst)]
        axes.axvline(q, color="0.8", linewidth=0.8, zorder=0)
        for at, value in ((1.04, ends[0]), (-0.07, ends[1])):
            axes.annotate(f"{value:.4g}", (q, at), ha="center", fontsize=8, color="0.35", annotation_clip=False)
    axes.set_xticks(range(L), [_plain(_title(found, q), 40) for q in range(L)], rotation=18, ha="right", fontsize=8)
    axes.set(yticks=[], ylim=(-0.1, 1.1), xlim=(-0.25, L - 1 + 0.9))
    named = [(arm, line[-1]) for arm, line in zip(found.arms, height, strict=True) if arm.front][:MOST_LINES]
    if named:
        points = np.array([[L - 1.0, at] for _, at in named])
        place_names(axes, points, [_plain(arm.name, 20) for arm, _ in named])
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.set_ylabel("better upwards")
    _legend(figure, found.arms)
    return figure


def _legend(figure: Any, arms: Sequence[Arm]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for state, (colour, marker, words) in STYLE.items():
        n = sum(arm.state == state for arm in arms)
        if n:
            label = f"{words}: {n}"
            handles.append(Line2D([], [], color=colour, marker=marker, linestyle="none", label=label))
    handles.append(
        Line2D([], [], color="0.3", marker="o", linestyle="none", markerfacecolor="0.3", label="looks optimal (filled)")
    )
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=9)
