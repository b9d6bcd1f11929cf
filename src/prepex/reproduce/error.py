"""Cov-Boost: the probability of a wrong answer over time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.instances import covboost
from prepex.reproduce import style
from prepex.reproduce.algorithms import chosen
from prepex.reproduce.cell import Cell, Row, chunks, select
from prepex.reproduce.figure import Figure, Result, Table
from prepex.reproduce.measure import wrong_at
from prepex.runs import clopper_pearson


@dataclass(frozen=True)
class Settings:
    """Runs of each algorithm (of the slow ones: `slow_runs`), to `horizon` pulls, looked at `n_moments` times."""

    runs: int
    slow_runs: int
    horizon: int
    n_moments: int = 40
    delta: float = 0.01
    algorithms: tuple[str, ...] = (
        "frappe", "information", "psips", "ape", "tns", "prets", "oracle", "uniform", "frappe-paper",
    )  # fmt: skip

    @property
    def moments(self) -> tuple[int, ...]:
        """Evenly spaced."""
        return tuple(int(m) for m in np.linspace(0, self.horizon, self.n_moments + 1)[1:])


def cells(settings: Settings, seed: int) -> list[Cell]:
    """Chunks of the runs of each algorithm."""
    problem, found = covboost(), []
    for algorithm in chosen(*settings.algorithms):
        # A run on Cov-Boost takes tens of thousands of pulls to its stop.
        seconds = algorithm.seconds * settings.horizon / 30_000
        for first, count in chunks(settings.slow_runs if algorithm.slow else settings.runs, seconds):
            given = problem, algorithm.rule, settings.moments, settings.delta, first, count, seed
            name = f"{algorithm.key}-{first}+{count}"
            found.append(Cell("error", name, wrong_at, given, weight=count * seconds))
    return found


def curves(settings: Settings, rows: list[Row]) -> dict[str, tuple[Floats, int]]:
    """By algorithm: the share of wrong answers at each moment, and the number of runs."""
    found = {}
    for algorithm in chosen(*settings.algorithms):
        mine = select(rows, rule=algorithm.rule.name)
        if mine:
            table = np.array([[row[f"at {moment}"] for moment in settings.moments] for row in mine], dtype=float)
            found[algorithm.name] = table.mean(axis=0), len(mine)
    return found


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """Curves, and the error at the last moment."""
    found = curves(settings, rows)
    last = settings.moments[-1]
    lines = []
    for name, (share, runs) in found.items():
        wrong = round(share[-1] * runs)
        lower, upper = clopper_pearson(wrong, runs)
        lines.append((name, f"{share.mean():.3f}", f"{wrong}/{runs}", f"{lower:.3f} to {upper:.3f}"))
    return Result(
        verdict=verdict(found, last),
        measured=(f"Every curve is the share of runs whose current answer is wrong, up to {last:,} pulls.",),
        picture=_picture(settings, found),
        tables=(
            Table(
                "Error over time",
                ("algorithm", "mean share wrong", f"wrong at {last:,}", "99 % bounds"),
                tuple(lines),
                notes=("The mean is over all moments: the area under the curve, on a scale of 0 to 1.",),
            ),
        ),
    )


def verdict(found: dict[str, tuple[Floats, int]], last: int) -> str:
    """FraPPE's curve against the two of the paper, in two standard errors of the difference."""
    ours, runs = found["FraPPE"]
    words = []
    for rival in ("PSIPS", "Uniform"):
        if rival not in found:
            continue
        other, n = found[rival]
        spread = 2 * np.sqrt(ours * (1 - ours) / runs + other * (1 - other) / n)
        lower, higher = np.mean(ours < other - spread), np.mean(ours > other + spread)
        words.append(f"below that of {rival} at {lower:.0%} of the moments and above it at {higher:.0%}")
    compared = " and ".join(words) or "not compared"
    return f"Up to {last:,} pulls, FraPPE's error is clearly (by two standard errors) {compared}."


def _picture(settings: Settings, found: dict[str, tuple[Floats, int]]) -> Any:
    figure = style.sheet(8.4, 4.8)
    axes = figure.add_subplot()
    for algorithm in chosen(*settings.algorithms):
        if algorithm.name in found:
            share, _ = found[algorithm.name]
            axes.plot(
                settings.moments, share, color=algorithm.colour, linestyle=algorithm.line, linewidth=1.6,
                label=algorithm.name,
            )  # fmt: skip
    axes.set_xlabel("pulls")
    axes.set_ylabel("probability of a wrong Pareto set")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    style.tidy(axes)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


FIGURE = Figure(
    name="error",
    title="Cov-Boost: probability of error over time",
    paper=(
        "Figure 5 shows the share of wrong answers over time: FraPPE's falls significantly faster than those "
        "of PSIPS and "
        "of uniform sampling, uniformly over time."
    ),
    settings={
        "small": Settings(runs=40, slow_runs=4, horizon=2000, n_moments=20),
        "default": Settings(runs=200, slow_runs=50, horizon=5000),
        "paper": Settings(runs=1000, slow_runs=1000, horizon=10_000),
    },
    cells=cells,
    assemble=assemble,
)
