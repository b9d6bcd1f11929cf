"""Cov-Boost: how many pulls each algorithm needs, and how often it is wrong."""

from dataclasses import dataclass
from typing import Any

from prepex.bound import characteristic_time
from prepex.instances import covboost
from prepex.numerals import measured, plural
from prepex.reproduce import style
from prepex.reproduce.algorithms import PAPER_NOTE, Algorithm, chosen
from prepex.reproduce.cell import Cell, Row, chunks, select
from prepex.reproduce.figure import Figure, Result, Table
from prepex.reproduce.measure import stopping
from prepex.runs import Summary, summarise

# What the paper states for delta 0.1: mean pulls, its own and those it quotes from the papers of others.
STATED_DELTA, STATED = 0.1, {"FraPPE": 3523, "PSIPS": 20456, "TnS": 17909}
# Seconds a run.
LONG = 5.0


@dataclass(frozen=True)
class Settings:
    """Runs of each algorithm, and the pulls at which a run is censored.

    An algorithm that takes long has `long_runs` runs, of which the first `deep_runs` go on to the smaller deltas.
    """

    runs: int
    long_runs: int
    deep_runs: int
    deltas: tuple[float, ...] = (0.1, 0.01)
    max_pulls: int = 1_000_000
    algorithms: tuple[str, ...] = (
        "frappe", "information", "psips", "ape", "tns", "prets", "oracle", "uniform", "auer", "frappe-paper",
    )  # fmt: skip


def cells(settings: Settings, seed: int) -> list[Cell]:
    """Chunks of the runs of each algorithm: all of them see the same seeds."""
    problem, found = covboost(), []
    for algorithm in chosen(*settings.algorithms):
        takes_long = algorithm.seconds > LONG
        deep = settings.deep_runs if takes_long else settings.runs
        parts = [(settings.deltas, algorithm.seconds, part) for part in chunks(deep, algorithm.seconds)]
        if takes_long:
            shorter = algorithm.seconds / 2
            rest = chunks(settings.long_runs - deep, shorter)
            parts += [(settings.deltas[:1], shorter, (deep + first, count)) for first, count in rest]
        for deltas, seconds, (first, count) in parts:
            given = problem, algorithm.rule, deltas, first, count, seed, settings.max_pulls
            name = f"{algorithm.key}-{first}+{count}"
            found.append(Cell("covboost", name, stopping, given, weight=count * seconds))
    return found


def summaries(settings: Settings, rows: list[Row], floors: dict[float, float]) -> dict[tuple[str, float], Summary]:
    """By (rule, delta), for the algorithms that have rows."""
    found = {}
    for algorithm in chosen(*settings.algorithms):
        for delta in settings.deltas:
            mine = select(rows, rule=algorithm.rule.name, delta=delta)
            if mine:
                pace = 1e6 * sum(row["seconds"] for row in mine) / max(sum(row["n_pulls"] for row in mine), 1)
                found[algorithm.name, delta] = summarise(mine, floor=floors[delta], us_per_round=pace)
    return found


def table(delta: float, floor: float, found: dict[tuple[str, float], Summary]) -> Table:
    """The floor above the table; beside every mean its error rate; nothing censored is hidden."""
    cells = {name: cell for (name, risk), cell in found.items() if risk == delta}
    notes = []
    if any(cell.below_floor for cell in cells.values()):
        notes.append("* below the floor: no algorithm that is wrong with probability at most delta can do this.")
    if any(cell.n_censored for cell in cells.values()):
        notes.append("Censored runs count with the pulls at which they were cut off, so their mean is a lower bound.")
    if any(PAPER_NOTE in cell.rule for cell in cells.values()):
        notes.append("The paper's alternatives are our reconstruction, for comparison only: there is no guarantee.")
    return Table(
        title=f"Cov-Boost, delta = {delta:g}",
        above=f"Floor of every algorithm with error at most delta, T* kl(delta, 1 - delta): {floor:,.0f} pulls.",
        header=(
            "algorithm",
            "stops by",
            "runs",
            "mean ± s.e.",
            "median",
            "errors",
            "99 % upper",
            "/ floor",
            "µs/round",
            "remarks",
        ),
        rows=tuple(_line(name, cell) for name, cell in cells.items()),
        notes=tuple(notes),
    )


def _line(name: str, cell: Summary) -> tuple[str, ...]:
    finished = cell.n_runs - cell.n_censored
    wrong = round(cell.error_rate * finished) if finished else 0
    at_least = "≥ " if cell.n_censored else ""
    remarks = [PAPER_NOTE] if PAPER_NOTE in cell.rule else []
    remarks += ["below the floor"] if cell.below_floor else []
    remarks += [f"{cell.n_censored} censored"] if cell.n_censored else []
    return (
        name,
        cell.threshold,
        str(cell.n_runs),
        f"{at_least}{measured(cell.mean, cell.standard_error, digits=1)}{' *' if cell.below_floor else ''}",
        f"{cell.median:,.0f}",
        f"{wrong}/{finished}",
        f"{cell.error_upper:.3f}",
        f"{at_least}{cell.ratio_to_floor:.2f}",
        f"{cell.us_per_round:.1f}",
        ", ".join(remarks),
    )


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """Box plots, a table a delta, and the stated means against the measured ones."""
    bound = characteristic_time(covboost())
    floors = {delta: bound.floor(delta) for delta in settings.deltas}
    found = summaries(settings, rows, floors)
    return Result(
        verdict=verdict(found, floors),
        measured=(f"T* = {bound.time:,.1f}.", *_stated(found, floors)),
        picture=_picture(settings, rows, floors, found),
        tables=tuple(table(delta, floors[delta], found) for delta in settings.deltas),
    )


def verdict(found: dict[tuple[str, float], Summary], floors: dict[float, float]) -> str:
    """One sentence about FraPPE at the paper's delta, complete and with the paper's alternatives."""
    ours, floor = found["FraPPE", STATED_DELTA], floors[STATED_DELTA]
    words = (
        f"With the complete alternatives FraPPE needs {ours.mean:,.0f} pulls on average at delta {STATED_DELTA:g}, "
        f"{ours.ratio_to_floor:.1f} times the floor, and is wrong in {ours.error_rate:.1%} of the runs"
    )
    for rival in ("PSIPS", "TnS"):
        other = found.get((rival, STATED_DELTA))
        if other:
            many = f"{'at least ' if other.n_censored else ''}{other.mean / ours.mean:.1f}"
            words += f"; {rival} needs {many} times as many"
    theirs = found.get(("FraPPE (paper alternatives)", STATED_DELTA))
    if theirs:
        words += (
            f"; in our reconstruction of the paper's alternatives it stops after {theirs.mean:,.0f} and is wrong in "
            f"{theirs.error_rate:.0%} of the runs"
        )
    if STATED["FraPPE"] < floor:
        words += f"; the stated {STATED['FraPPE']:,} lies below the floor of {floor:,.0f}"
    return words + "."


def _stated(found: dict[tuple[str, float], Summary], floors: dict[float, float]) -> list[str]:
    lines = []
    for name, value in STATED.items():
        cell = found.get((name, STATED_DELTA))
        if cell:
            stated = "stated" if name == "FraPPE" else "quoted from others"
            side = "below" if value < floors[STATED_DELTA] else "above"
            lines.append(
                f"{name}, delta {STATED_DELTA:g}: {stated} {value:,} ({side} the floor {floors[STATED_DELTA]:,.0f}), "
                f"measured {cell.mean:,.0f} in {plural(cell.n_runs, 'run')}."
            )
    stops = [cell for cell in found.values() if cell.delta == min(floors) and PAPER_NOTE not in cell.rule]
    best = min(stops, key=lambda cell: cell.mean)
    lines.append(f"Fewest pulls at delta {min(floors):g} with all alternatives: {best.rule}, {best.mean:,.0f}.")
    return lines


def _picture(
    settings: Settings, rows: list[Row], floors: dict[float, float], found: dict[tuple[str, float], Summary]
) -> Any:
    shown = [a for a in chosen(*settings.algorithms) if (a.name, settings.deltas[0]) in found]
    figure = style.sheet(11.0, 1.3 + 0.46 * len(shown))
    panels = figure.subplots(1, len(settings.deltas), sharey=True, squeeze=False)[0]
    for axes, delta in zip(panels, settings.deltas, strict=True):
        axes.set_xscale("log")
        for place, algorithm in enumerate(shown):
            cell, note = found.get((algorithm.name, delta)), "no runs"
            if cell:
                _box(axes, place, algorithm, select(rows, rule=algorithm.rule.name, delta=delta), settings.max_pulls)
                note = f"{cell.error_rate:.0%} wrong" if cell.n_censored < cell.n_runs else ""
                note += f"\n{cell.n_censored} censored" if cell.n_censored else ""
            axes.annotate(
                note, (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=8, color="0.35"
            )
        axes.axvline(floors[delta], color=style.ACCENT, linewidth=1.3, label="floor T* kl(delta, 1-delta)")
        axes.plot([], [], marker="^", color="0.2", markersize=5, linestyle="none", label="mean")
        axes.set_yticks(range(len(shown)), [algorithm.name for algorithm in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        style.plain_log(axes.xaxis)
        axes.set_title(f"delta = {delta:g}")
        axes.set_xlabel("pulls until the stop (log scale)")
        style.tidy(axes, grid="x")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return figure


def _box(axes: Any, place: int, algorithm: Algorithm, rows: list[Row], limit: int) -> None:
    times = [row["stopping_time"] for row in rows]
    axes.boxplot(
        times,
        positions=[place],
        orientation="horizontal",
        widths=0.6,
        showmeans=True,
        patch_artist=True,
        boxprops={"facecolor": algorithm.colour, "alpha": 0.45, "linewidth": 0.8},
        medianprops={"color": "black"},
        meanprops={"marker": "^", "markerfacecolor": "0.2", "markeredgecolor": "0.2", "markersize": 5},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": algorithm.colour},
    )
    if any(not row["stopped"] for row in rows):
        axes.plot([limit], [place], marker=">", color=style.ACCENT, markersize=7)


FIGURE = Figure(
    name="covboost",
    title="Cov-Boost: pulls until the stop",
    paper=(
        "Figure 3 shows box plots of the stopping times at delta 0.01. For delta 0.1 the text states a mean "
        "of 3,523 pulls "
        "for FraPPE over 100 runs: 5 to 6 times fewer than 20,456 of PSIPS and 17,909 of TnS, which it quotes from "
        "the papers of Kone et al. and Garivier et al. and has not measured itself; and less variability than PSIPS. "
        "The threshold is log((1 + log t) / delta)."
    ),
    settings={
        "small": Settings(runs=6, long_runs=2, deep_runs=0),
        "default": Settings(runs=100, long_runs=100, deep_runs=20),
        "paper": Settings(runs=1000, long_runs=1000, deep_runs=1000),
    },
    cells=cells,
    assemble=assemble,
)
