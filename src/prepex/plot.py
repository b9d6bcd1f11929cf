"""Pictures. Needs matplotlib: `pip install "prepex[plot]"`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex.agreement import fitted
from prepex.cone import Cone
from prepex.cone_words import COUNTED
from prepex.drawing import STYLES, draw_border, draw_limit, figure_class, legend, log_axis, place_names, plain
from prepex.drawing import save as save
from prepex.errors import InputError
from prepex.judge import Judge
from prepex.limits import Limit, Sides, limits_of
from prepex.numerals import plural
from prepex.problem import Problem
from prepex.runs import FLOOR_TOL, Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Arms with names beside their points.
MOST_NAMES = 30
RATE = "rate T* log(1/delta), no floor"


def fronts(
    problem: Problem,
    cones: Sequence[Cone] | None = None,
    *,
    at_most: Sides = None,
    at_least: Sides = None,
    limits: Iterable[Limit] = (),
    path: str | Path | None = None,
) -> "Figure":
    """The arms of a two-objective problem, and its Pareto sets under one or more cones. Saved if `path` is given.

    With limits, as in `evidence`, the Pareto sets are of the arms that meet them, and each limit is a line.

    >>> from prepex.instances import snw
    >>> figure = fronts(snw(), [Cone.angle(90), Cone.angle(120)])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['206 arms', 'Pareto set, angle(90): 26', 'Pareto set, angle(120): 14']
    """
    _checks.instance("problem", problem, Problem)
    if problem.n_objectives != 2:
        raise InputError(f"problem must have 2 objectives to be drawn, got {problem.n_objectives}")
    new_figure = figure_class()
    if isinstance(cones, Cone):
        cones = [cones]
    chosen = [problem.cone] if cones is None else list(_checks.listed("cones", cones, "cones"))
    for cone in chosen:
        if _checks.instance("cones", cone, Cone).n_objectives != 2:
            raise InputError(f"cones must be over 2 objectives, got {cone!r}")
    figure = new_figure(figsize=(7.2, 5.0), layout="constrained")
    axes = figure.add_subplot()
    means = problem.means
    bounds = limits_of(problem.labels, at_most=at_most, at_least=at_least, limits=limits, family=problem.family)
    axes.scatter(*means.T, s=14, color="0.72", linewidths=0, label=plural(problem.n_arms, "arm"), zorder=1)
    for index, cone in enumerate(chosen):
        colour, marker, size = STYLES[index % len(STYLES)]
        front = means[Judge.of(problem.with_cone(cone), limits=bounds).pareto]
        label = f"Pareto set, {cone.name or f'cone {index + 1}'}: {len(front)}"
        first = index == 0
        axes.scatter(
            *front.T,
            s=size,
            marker=marker,
            facecolors="none" if first else colour,
            edgecolors=colour,
            linewidths=1.4 if first else 0.0,
            label=label,
            zorder=3 + index,
        )
    for q, (name, axis) in enumerate(zip(problem.labels.objectives, (axes.xaxis, axes.yaxis), strict=True)):
        scale = ", log scale" if q in problem.units.logs else ""
        axis.set_label_text(f"{name} ({'less' if name in problem.labels.minimise else 'more'} is better{scale})")
        if scale:
            log_axis(axis)
    if bounds is not None:
        for words, limit in zip(bounds.words, bounds.to_document(problem.labels.objectives), strict=True):
            value = limit["at_most"] if "at_most" in limit else limit["at_least"]
            draw_limit(axes, limit["weights"], value, label=words)
    sets = [Judge.of(problem.with_cone(cone), limits=bounds).pareto for cone in chosen]
    for index, (cone, mask) in enumerate(zip(chosen, sets, strict=True)):
        facets = fitted(cone, problem.labels, problem.units).facets * problem.labels.signs
        draw_border(axes, means[mask], facets, problem.units, color=STYLES[index % len(STYLES)][0])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    legend(figure, *axes.get_legend_handles_labels())
    # The members first: the others only where there is room, and where there are few.
    members = [k for k in range(problem.n_arms) if any(mask[k] for mask in sets)]
    rest = [k for k in range(problem.n_arms) if k not in members] if problem.n_arms <= MOST_NAMES else []
    shown = [*members, *rest] if len(members) <= MOST_NAMES else []
    place_names(axes, means[shown], [plain(problem.labels.arms[k], 24) for k in shown], others=means)
    if path is not None:
        save(figure, path)
    return figure


def stopping_times(runs: Runs, *, path: str | Path | None = None, tol: float = FLOOR_TOL) -> "Figure":
    """Box plots of the stopping times, one panel a delta, with the floor and each error rate. Saved if `path` is given.

    `tol` is the relative gap of the T* behind the floor, as of `Runs.summary`.

    >>> from prepex import simulate
    >>> from prepex.instances import correlated
    >>> from prepex.sampling import Uniform
    >>> figure = stopping_times(simulate(correlated(), sampling=Uniform(), n_runs=5))
    >>> figure.axes[0].get_title()
    'delta = 0.1'
    """
    _checks.instance("runs", runs, Runs)
    summaries = runs.summary(tol)
    rows = list(runs.rows())
    labels = list(dict.fromkeys((cell.rule, cell.threshold) for cell in summaries))
    height = 1.2 + 0.5 * len(labels)
    figure = figure_class()(figsize=(4.2 * len(runs.deltas) + 2.2, height), layout="constrained")
    panels = figure.subplots(1, len(runs.deltas), sharey=True, squeeze=False)[0]
    for axes, delta in zip(panels, runs.deltas, strict=True):
        for place, key in enumerate(labels):
            cell = next(c for c in summaries if (c.rule, c.threshold, c.delta) == (*key, delta))
            mine = [r for r in rows if (r["rule"], r["threshold"], r["delta"]) == (*key, delta)]
            times = [row["stopping_time"] for row in mine]
            axes.boxplot(
                times,
                positions=[place],
                orientation="horizontal",
                widths=0.6,
                flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.5"},
                showmeans=True,
                medianprops={"color": "black"},
            )
            note = f"error {cell.error_rate:.1%}" + (f", {cell.n_censored} censored" if cell.n_censored else "")
            axes.annotate(
                note,
                (1.0, place),
                xycoords=("axes fraction", "data"),
                xytext=(-3, 9),
                textcoords="offset points",
                ha="right",
                fontsize=7.5,
                color="0.35",
            )
        strict = runs.tolerance is None
        line, words = (
            (runs.floor(delta, tol), "floor T* kl(delta, 1-delta)") if strict else (runs.rate(delta, tol), RATE)
        )
        axes.axvline(line, color=STYLES[1][0], linewidth=1.2, linestyle="-" if strict else ":", label=words)
        axes.plot([], [], marker="^", color="C2", linestyle="none", label="mean")
        axes.plot([], [], marker=".", color="0.5", linestyle="none", label="runs far from the others")
        axes.set_yticks(range(len(labels)), [f"{rule}\n({threshold})" for rule, threshold in labels])
        axes.set_ylim(len(labels) - 0.4, -0.7)
        axes.set_xlim(left=0)
        axes.locator_params(axis="x", nbins=5)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(f"delta = {delta:g}")
        axes.set_xlabel("pulls until the stop")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", alpha=0.25, linewidth=0.6)
    handles, names = panels[0].get_legend_handles_labels()
    legend(figure, handles, names)
    if path is not None:
        save(figure, path)
    return figure


def error_curves(runs: Runs, *, path: str | Path | None = None) -> "Figure":
    """The share of runs whose answer was wrong at each moment, by rule. Saved if `path` is given.

    >>> from prepex import simulate
    >>> from prepex.instances import correlated
    >>> from prepex.sampling import Uniform
    >>> figure = error_curves(simulate(correlated(), sampling=Uniform(), n_runs=5, moments=(10, 100, 300)))
    >>> figure.axes[0].get_ylabel()
    'probability of a wrong Pareto set'
    """
    _checks.instance("runs", runs, Runs)
    if not runs.records[0].moments:
        raise InputError("runs must have been simulated with moments= to have error curves, got none")
    figure = figure_class()(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    for rule, (moments, wrong) in runs.error_curve().items():
        axes.plot(moments, wrong, linewidth=1.4, label=rule)
    axes.set_xlabel("pulls")
    axes.set_ylabel("probability of a wrong Pareto set")
    axes.set_ylim(0, 1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.legend(frameon=False)
    if path is not None:
        save(figure, path)
    return figure


def draw_cone(
    cone: Cone,
    objectives: Sequence[str] | None = None,
    *,
    minimise: Iterable[str | int] | None = None,
    path: str | Path | None = None,
) -> "Figure":
    """The cone of two or three objectives: changes that are better than nothing, and in the plane those that are worse.

    `minimise` as for `Cone.words`: a cone from preferences knows it; where nobody says it, the title does.

    >>> draw_cone(Cone.angle(120), ("strength", "speed")).axes[0].get_xlabel()
    'change of strength'
    """
    L = _checks.instance("cone", cone, Cone).n_objectives
    if L not in (2, 3):
        raise InputError(f"cone must be over 2 or 3 objectives to be drawn, got {L}")
    names, costs = cone.named(objectives, minimise)
    signs = np.array([-1.0 if q in (costs or ()) else 1.0 for q in range(L)])
    figure = figure_class()(figsize=(5.4, 5.0), layout="constrained")
    rays = cone.rays * signs
    # Each axis in units of its own: exchange rates far from 1 would make a cone as thin as a line.
    unit = np.abs(rays).max(axis=0)
    if L == 2:
        axes = figure.add_subplot()
        _draw_wedge(axes, rays, unit)
        axes.set(xlabel=f"change of {names[0]}", ylabel=f"change of {names[1]}")
    else:
        axes = figure.add_subplot(projection="3d")
        _draw_solid(axes, rays / np.linalg.norm(rays / unit, axis=1, keepdims=True))
        axes.set(xlabel=names[0], ylabel=names[1], zlabel=names[2], title="changes that are better")
    if costs is None:
        figure.suptitle(COUNTED, fontsize=9, color="0.35")
    if path is not None:
        save(figure, path)
    return figure


def _draw_wedge(axes: Any, rays: Floats, unit: Floats) -> None:
    """What is better and what is worse in the plane, `unit` (2,) the half of each axis."""
    ends = rays / unit
    ends = ends / np.linalg.norm(ends, axis=1, keepdims=True)
    # Half way between the rays, however wide they are apart.
    middle = ends.sum(axis=0) / np.linalg.norm(ends.sum(axis=0))
    for side, words, colour in ((1.0, "better", STYLES[0][0]), (-1.0, "worse", STYLES[1][0])):
        corners = np.vstack([[0.0, 0.0], 4.0 * ends[0], 4.0 * middle, 4.0 * ends[1]])
        axes.fill(*(side * corners * unit).T, color=colour, alpha=0.25)
        axes.annotate(words, 0.7 * side * middle * unit, ha="center", va="center", color=colour)
    across = 0.7 * np.array([middle[1], -middle[0]])
    axes.annotate("neither", across * unit, ha="center", va="center", color="0.4")
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlim=(-unit[0], unit[0]), ylim=(-unit[1], unit[1]))


def _draw_solid(axes: Any, rays: Any) -> None:
    """The sides of a cone in space, from the origin to the ends of its rays, in order around its middle."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    middle = rays.mean(axis=0)
    first, second = np.linalg.svd(middle[None])[2][1:]
    order = np.argsort(np.arctan2(rays @ second, rays @ first))
    ends = rays[order]
    sides = [np.array([np.zeros(3), one, other]) for one, other in zip(ends, np.roll(ends, -1, axis=0), strict=True)]
    axes.add_collection3d(Poly3DCollection([*sides, ends], facecolor=STYLES[0][0], edgecolor="0.3", alpha=0.25))
    low, high = np.minimum(rays.min(axis=0), 0.0), np.maximum(rays.max(axis=0), 0.0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
