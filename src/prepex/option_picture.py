"""Options with their states: points for one to three objectives, parallel coordinates for more. Needs matplotlib."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from prepex._checks import Floats
from prepex.drawing import draw_border, draw_limit, figure_class, log_axis, on_pair, place_names, plain, plain_axis
from prepex.limits import Limits
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
LIMIT: dict[str, Any] = {"color": "#CC79A7", "linewidth": 1.2, "linestyle": "--"}
# Options with names in a picture; of more, those that are in or open.
MOST_NAMES = 40


@dataclass(frozen=True)
class Option:
    """One of them.

    mean    of each objective
    error   of each mean, below and above it
    state   "in", "out", "open"; None: not known
    front   does it look Pareto optimal?
    """

    name: str
    mean: Sequence[float]
    error: Sequence[tuple[float, float]]
    state: str | None
    front: bool


@dataclass(frozen=True)
class Scene:
    """What they are compared by; `facets` (m, L) are for outcomes in the user's signs, None: no border is drawn.

    limits   weights (L,) and the value that they must reach or keep to, each a line where it is on what is shown
    """

    objectives: Sequence[str]
    minimise: Sequence[str]
    logs: Sequence[int]
    facets: Floats | None
    limits: Sequence[tuple[Sequence[float], float]] = ()

    def title(self, q: int) -> str:
        """Of an axis."""
        way = "less" if self.objectives[q] in self.minimise else "more"
        return f"{plain(self.objectives[q])} ({way} is better{', log scale' if q in self.logs else ''})"


def lines_of(limits: Limits | None, objectives: Sequence[str]) -> list[tuple[Sequence[float], float]]:
    """Limits as a scene takes them."""
    given = [] if limits is None else limits.to_document(objectives)
    return [(entry["weights"], entry["at_most"] if "at_most" in entry else entry["at_least"]) for entry in given]


def draw_options(options: Sequence[Option], scene: Scene) -> "Figure":
    """One figure."""
    L = len(scene.objectives)
    if L == 1:
        return _rows(options, scene)
    if L > 3:
        return _parallel(options, scene)
    pairs = list(combinations(range(L), 2))
    figure = figure_class()(figsize=(7.2, 5.0) if L == 2 else (12.6, 4.4), layout="constrained")
    for place, pair in enumerate(pairs, 1):
        axes = figure.add_subplot(1, len(pairs), place)
        _scatter(axes, options, scene, pair, front=L == 2)
    _legend(figure, options, limits=any(on_pair(weights, pair) for weights, _ in scene.limits for pair in pairs))
    return figure


def _scatter(axes: Any, options: Sequence[Option], scene: Scene, pair: tuple[int, int], *, front: bool) -> None:
    for q, axis in zip(pair, (axes.xaxis, axes.yaxis), strict=True):
        (log_axis if q in scene.logs else plain_axis)(axis)
    for option in sorted(options, key=lambda option: ("out", None, "open", "in").index(option.state)):
        colour, marker, _ = STYLE[option.state]
        errors = [np.array(option.error[q])[:, None] for q in pair]
        quiet = option.state == "out"
        axes.errorbar(
            *([option.mean[q]] for q in pair), xerr=errors[0], yerr=errors[1], fmt=marker, color=colour,
            markersize=7 if option.front else 4, elinewidth=0.8, alpha=0.6 if quiet else 1.0,
            markerfacecolor=_fill(option),
        )  # fmt: skip
    axes.set(xlabel=scene.title(pair[0]), ylabel=scene.title(pair[1]))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    for weights, value in scene.limits:
        own = on_pair(weights, pair)
        if own is not None:
            draw_limit(axes, own, value, **LIMIT)
    best = np.array([option.mean for option in options if option.front])
    if front and scene.facets is not None and len(best):
        draw_border(axes, best, scene.facets, Units(tuple(scene.logs)), color=STYLE["in"][0])
    named = [option for option in options if len(options) <= MOST_NAMES or option.state != "out"][:MOST_NAMES]
    points = np.array([[option.mean[q] for q in pair] for option in named])
    if len(points):
        # Beside one picture there is room, between several there is none.
        place_names(axes, points, [plain(option.name, 20) for option in named], beyond=60.0 if front else 0.0)


def _rows(options: Sequence[Option], scene: Scene) -> "Figure":
    figure = figure_class()(figsize=(7.2, 1.4 + 0.28 * len(options)), layout="constrained")
    axes = figure.add_subplot()
    if scene.logs:
        log_axis(axes.xaxis)
    for k, option in enumerate(options):
        colour, marker, _ = STYLE[option.state]
        axes.errorbar(
            option.mean[0], k, xerr=np.array(option.error[0])[:, None], fmt=marker, color=colour,
            markerfacecolor=_fill(option), capsize=2, markersize=7 if option.front else 4,
        )  # fmt: skip
    axes.set_yticks(range(len(options)), [plain(option.name) for option in options], fontsize=8)
    axes.set_ylim(len(options) - 0.4, -0.6)
    axes.set_xlabel(scene.title(0))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.25, linewidth=0.6)
    for (weight,), value in scene.limits:
        draw_limit(axes, (weight, 0.0), value, **LIMIT)
    _legend(figure, options, limits=bool(scene.limits))
    return figure


def _parallel(options: Sequence[Option], scene: Scene) -> "Figure":
    L = len(scene.objectives)
    figure = figure_class()(figsize=(max(7.2, 1.7 * L + 2.0), 5.0), layout="constrained")
    looks = [Look(plain(option.name, 20), *STYLE[option.state][:2], option.front) for option in options]
    draw_parallel(
        figure.add_subplot(),
        np.array([option.mean for option in options]),
        looks,
        [plain(scene.title(q), 40) for q in range(L)],
        down=[name in scene.minimise for name in scene.objectives],
        logs=[q in scene.logs for q in range(L)],
    )
    _legend(figure, options, "thick")
    return figure


def _fill(option: Option) -> str:
    """Empty marks are open, as in every picture."""
    return "white" if option.state == "open" else STYLE[option.state][0]


def _legend(figure: Any, options: Sequence[Option], mark: str = "large", *, limits: bool = False) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for state, (colour, marker, words) in STYLE.items():
        n = sum(option.state == state for option in options)
        if n:
            label, fill = f"{words}: {n}", "white" if state == "open" else colour
            handles.append(
                Line2D([], [], color=colour, marker=marker, linestyle="none", markerfacecolor=fill, label=label)
            )
    handles.append(Line2D([], [], linestyle="none", label=f"{mark}: looks optimal"))
    if limits:
        handles.append(Line2D([], [], label="limit", **LIMIT))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=9)
