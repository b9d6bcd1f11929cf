"""FraPPE against accelerated PreTS, on the clock."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex.instances import covboost
from prepex.problem import Problem
from prepex.reproduce import style
from prepex.reproduce.algorithms import chosen
from prepex.reproduce.cell import Cell, Row, select
from prepex.reproduce.figure import Figure, Result, Table
from prepex.reproduce.measure import stopping
from prepex.sampling import Rule

STATED = 90
PAIR = ("frappe", "prets")


@dataclass(frozen=True)
class Settings:
    """Whole runs on Cov-Boost at one delta."""

    runs: int
    delta: float = 0.1
    max_pulls: int = 1_000_000


def whole_run(problem: Problem, rules: tuple[Rule, ...], delta: float, run: int, seed: int, limit: int) -> list[Row]:
    """One run of each, one after the other: the machine's mood hits both alike."""
    return [row for rule in rules for row in stopping(problem, rule, (delta,), run, 1, seed, limit)]


def cells(settings: Settings, seed: int) -> list[Cell]:
    """One a run, all timed."""
    rules = tuple(algorithm.rule for algorithm in chosen(*PAIR))
    return [
        Cell(
            "prets",
            f"run-{run}",
            whole_run,
            (covboost(), rules, settings.delta, run, seed, settings.max_pulls),
            weight=1.3,
            timed=True,
        )
        for run in range(settings.runs)
    ]


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """Time a round and time a run."""
    names = [algorithm.name for algorithm in chosen(*PAIR)]
    rounds, runs, pulls, lines = [], [], [], []
    for name in names:
        mine = select(rows, rule=name)
        seconds = np.array([row["seconds"] for row in mine])
        n_pulls = np.array([row["n_pulls"] for row in mine])
        rounds.append(1e6 * seconds.sum() / n_pulls.sum())
        runs.append(seconds.mean())
        pulls.append(n_pulls.mean())
        censored = sum(not row["stopped"] for row in mine)
        lines.append((name, f"{rounds[-1]:.1f}", f"{pulls[-1]:,.0f}", f"{runs[-1]:.3f}", str(len(mine)), str(censored)))
    ratio, whole = rounds[1] / rounds[0], runs[1] / runs[0]
    return Result(
        verdict=(
            f"A round of {names[1]} takes {ratio:.0f} times as long as one of {names[0]}, where the paper states "
            f"about {STATED}; a whole run takes {whole:.0f} times as long."
        ),
        measured=(
            "Both are compiled and share all code but the choice of the allocation, so the ratio is that of the rules.",
        ),
        picture=_picture(rows, names, ratio),
        tables=(
            Table(
                f"Cov-Boost, delta = {settings.delta:g}, one process",
                ("algorithm", "µs a round", "mean pulls", "seconds a run", "runs", "censored"),
                tuple(lines),
            ),
        ),
    )


def _picture(rows: list[Row], names: list[str], ratio: float) -> Any:
    figure = style.sheet(8.4, 2.8)
    axes = figure.add_subplot()
    for place, algorithm in enumerate(chosen(*PAIR)):
        mine = select(rows, rule=algorithm.name)
        times = [1e6 * row["seconds"] / row["n_pulls"] for row in mine]
        axes.plot(times, np.full(len(times), place), "o", color=algorithm.colour, alpha=0.5, markersize=6)
        axes.plot([np.median(times)], [place], "|", color="black", markersize=24, markeredgewidth=1.6)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(1.6, -0.6)
    axes.set_xscale("log")
    style.plain_log(axes.xaxis, between=True)
    axes.set_xlabel("µs a round (log scale), one dot a run, the bar is the median")
    axes.set_title(f"ratio of the times a round: {ratio:.0f}")
    style.tidy(axes, grid="x")
    return figure


FIGURE = Figure(
    name="prets",
    title="FraPPE against accelerated PreTS on the clock",
    paper="The appendix states that FraPPE runs roughly 90 times faster than accelerated PreTS, both in Python.",
    settings={"small": Settings(runs=3), "default": Settings(runs=10), "paper": Settings(runs=100)},
    cells=cells,
    assemble=assemble,
)
