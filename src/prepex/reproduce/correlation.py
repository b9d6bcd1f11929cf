"""The correlated instance: pulls against the correlation of the objectives."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex.bound import characteristic_time
from prepex.instances import correlated
from prepex.numerals import measured, plural
from prepex.reproduce import style
from prepex.reproduce.algorithms import Algorithm, chosen
from prepex.reproduce.cell import Cell, Row, chunks, select
from prepex.reproduce.figure import Figure, Result, Table
from prepex.reproduce.measure import stopping
from prepex.runs import Summary, summarise
from prepex.sampling import Rule

Points = dict[str, dict[float, Summary]]


@dataclass(frozen=True)
class Settings:
    """Runs at each correlation; the correlations are the paper's grid without its ends, where the noise is singular."""

    runs: int
    rhos: tuple[float, ...] = tuple(round(0.1 * step, 1) for step in range(-9, 10))
    delta: float = 0.01
    max_pulls: int = 1_000_000
    algorithms: tuple[str, ...] = ("frappe", "psips")


def correlated_runs(rho: float, rule: Rule, delta: float, first: int, count: int, seed: int, limit: int) -> list[Row]:
    """Runs at one correlation, each row with its floor."""
    problem = correlated(rho)
    bound = characteristic_time(problem)
    known = {"rho": rho, "characteristic_time": bound.time, "floor": bound.floor(delta)}
    return [known | row for row in stopping(problem, rule, (delta,), first, count, seed, limit)]


def cells(settings: Settings, seed: int) -> list[Cell]:
    """Chunks of the runs at each correlation."""
    found = []
    for algorithm in chosen(*settings.algorithms):
        # Stops about a hundred times sooner than on Cov-Boost.
        seconds = algorithm.seconds / 100
        for rho in settings.rhos:
            for first, count in chunks(settings.runs, seconds):
                given = rho, algorithm.rule, settings.delta, first, count, seed, settings.max_pulls
                name = f"{algorithm.key}-{rho:+.1f}-{first}+{count}"
                found.append(Cell("correlation", name, correlated_runs, given, weight=0.1 + count * seconds))
    return found


def points(settings: Settings, rows: list[Row]) -> Points:
    """By algorithm and correlation."""
    found: Points = {}
    for algorithm in chosen(*settings.algorithms):
        for rho in settings.rhos:
            mine = select(rows, rule=algorithm.rule.name, rho=rho)
            if mine:
                pace = 1e6 * sum(row["seconds"] for row in mine) / max(sum(row["n_pulls"] for row in mine), 1)
                cell = summarise(mine, floor=mine[0]["floor"], us_per_round=pace)
                found.setdefault(algorithm.name, {})[rho] = cell
    return found


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """Means with a band of one standard deviation, above the floor."""
    found = points(settings, rows)
    times = {row["rho"]: row["characteristic_time"] for row in rows}
    return Result(
        verdict=verdict(found),
        measured=tuple(
            f"{name}: mean pulls from {min(c.mean for c in cells.values()):,.0f} to "
            f"{max(c.mean for c in cells.values()):,.0f} over the correlations, "
            f""
            f"{sum(_wrong(cell) for cell in cells.values())} "
            f"wrong of {plural(sum(c.n_runs for c in cells.values()), 'run')}."
            for name, cells in found.items()
        ),
        picture=_picture(settings, found),
        tables=(_table(settings, found, times),),
    )


def verdict(found: Points) -> str:
    """At how many correlations FraPPE is ahead of PSIPS, in mean and in spread."""
    ours, other = found["FraPPE"], found.get("PSIPS", {})
    if not other:
        return f"FraPPE's mean is between {_least(ours):.2f} and {_most(ours):.2f} times the floor."
    shared = [rho for rho in ours if rho in other]
    fewer = sum(ours[rho].mean < other[rho].mean for rho in shared)
    narrower = sum(_deviation(ours[rho]) < _deviation(other[rho]) for rho in shared)
    ratios = [other[rho].mean / ours[rho].mean for rho in shared]
    below = sum(cell.below_floor for cells in found.values() for cell in cells.values())
    flag = f"{below} means lie below the floor" if below else "no mean lies clearly below the floor"
    wrong = [f"{sum(map(_wrong, c.values()))} of {sum(x.n_runs for x in c.values())}" for c in (ours, other)]
    return (
        f"FraPPE needs fewer pulls than PSIPS at {fewer} of {len(shared)} correlations (PSIPS needs "
        f"{min(ratios):.1f} to "
        f"{max(ratios):.1f} times as many) and has the smaller standard deviation at {narrower}; wrong are "
        f"{wrong[0]} runs of FraPPE and "
        f"{wrong[1]} of PSIPS; {flag}."
    )


def _wrong(cell: Summary) -> int:
    stopped = cell.n_runs - cell.n_censored
    return round(cell.error_rate * stopped) if stopped else 0


def _deviation(cell: Summary) -> float:
    return cell.standard_error * float(np.sqrt(cell.n_runs))


def _least(cells: dict[float, Summary]) -> float:
    return min(cell.ratio_to_floor for cell in cells.values())


def _most(cells: dict[float, Summary]) -> float:
    return max(cell.ratio_to_floor for cell in cells.values())


def _table(settings: Settings, found: Points, times: dict[float, float]) -> Table:
    lines = []
    for rho in settings.rhos:
        cells = [mine[rho] for mine in found.values() if rho in mine]
        if cells:
            line = [f"{rho:+.1f}", f"{times[rho]:.1f}", f"{cells[0].floor:,.0f}"]
            for cell in cells:
                flag = (" *" if cell.below_floor else "") + (f", {cell.n_censored} censored" if cell.n_censored else "")
                line += [f"{measured(cell.mean, cell.standard_error, digits=1)}{flag}", f"{cell.error_rate:.1%}"]
            lines.append(tuple(line))
    header = ["rho", "T*", "floor"]
    for name in found:
        header += [f"{name}, mean ± s.e.", "errors"]
    notes = ("* below the floor",) if any("*" in entry for line in lines for entry in line) else ()
    return Table(f"Correlated instance, delta = {settings.delta:g}", tuple(header), tuple(lines), notes=notes)


def _picture(settings: Settings, found: Points) -> Any:
    figure = style.sheet(8.4, 4.8)
    axes = figure.add_subplot()
    for algorithm in chosen(*settings.algorithms):
        if algorithm.name in found:
            _band(axes, algorithm, found[algorithm.name])
    cells = next(iter(found.values()))
    rhos = sorted(cells)
    floor = "floor T*(rho) kl(delta, 1-delta)"
    axes.plot(rhos, [cells[rho].floor for rho in rhos], color=style.ACCENT, linewidth=1.4, label=floor)
    axes.set_yscale("log")
    style.plain_log(axes.yaxis, between=True)
    axes.set_xlabel("correlation rho of the two objectives")
    axes.set_ylabel("pulls until the stop (log scale)")
    style.tidy(axes)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def _band(axes: Any, algorithm: Algorithm, cells: dict[float, Summary]) -> None:
    rhos = sorted(cells)
    mean = np.array([cells[rho].mean for rho in rhos])
    low, high = (np.array([getattr(cells[rho], q) for rho in rhos]) for q in ("q10", "q90"))
    axes.fill_between(rhos, low, high, color=algorithm.colour, alpha=0.15, linewidth=0)
    label = f"{algorithm.name}: mean, 10 to 90 %"
    axes.plot(rhos, mean, color=algorithm.colour, linestyle=algorithm.line, marker="o", markersize=3.5, label=label)


FIGURE = Figure(
    name="correlation",
    title="Correlated objectives: pulls against the correlation",
    paper=(
        "Figure 4 shows mean stopping times at delta 0.01, 1,000 runs at each correlation from -1 to 1 in "
        "steps of 0.1: "
        "FraPPE needs fewer pulls than PSIPS at every correlation, and its standard deviation is narrower."
    ),
    settings={
        "small": Settings(runs=4, rhos=(-0.9, -0.5, 0.0, 0.5, 0.9)),
        "default": Settings(runs=50),
        "paper": Settings(runs=1000),
    },
    cells=cells,
    assemble=assemble,
)
