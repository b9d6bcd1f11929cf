"""Time a round against the number of arms."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex.reproduce import style
from prepex.reproduce.algorithms import ALGORITHMS, chosen
from prepex.reproduce.cell import Cell, Row, select
from prepex.reproduce.figure import Figure, Result, Table
from prepex.reproduce.measure import paced
from prepex.reproduce.scaling import draw, exponent, growing, medians
from prepex.sampling import Rule

ALL = ("frappe", "information", "psips", "ape", "tns", "prets", "uniform", "auer")


@dataclass(frozen=True)
class Settings:
    """The paper's numbers of arms, and further ones with a third of the repeats.

    A run has `per_arm` rounds for each arm (of a slow algorithm: `slow_per_arm`): the cost of a round changes as a run
    goes on, so all sizes are timed over the same part of it.
    """

    repeats: int
    per_arm: int
    slow_per_arm: int
    further: tuple[int, ...]
    n_arms: tuple[int, ...] = (5, 10, 20, 30, 40)
    n_objectives: int = 2
    algorithms: tuple[str, ...] = ALL


def timed_runs(
    vary: str, n_arms: int, n_objectives: int, rule: Rule, rounds: int, repeats: int, seed: int
) -> list[Row]:
    """Rows of `paced` that say which figure they belong to."""
    return [{"vary": vary} | row for row in paced(growing(n_arms, n_objectives, seed), rule, rounds, repeats, seed)]


def cells(settings: Settings, seed: int) -> list[Cell]:
    """One an algorithm and number of arms, all timed."""
    found = []
    for n_arms in (*settings.n_arms, *settings.further):
        for algorithm in chosen(*settings.algorithms):
            if n_arms > algorithm.reach:
                continue
            rounds = n_arms * (settings.slow_per_arm if algorithm.slow else settings.per_arm)
            repeats = settings.repeats if n_arms in settings.n_arms else max(2, settings.repeats // 3)
            given = "arms", n_arms, settings.n_objectives, algorithm.rule, rounds, repeats, seed
            found.append(Cell("arms", f"{algorithm.key}-{n_arms}", timed_runs, given, weight=0.5, timed=True))
    return found


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """The paper's range beside the whole range."""
    frappe = ALGORITHMS["frappe"]
    sizes, times = medians(rows, frappe, "n_arms")
    near = [(size, time) for size, time in zip(sizes, times, strict=True) if size in settings.n_arms]
    slope, whole = exponent(*zip(*near, strict=True)), exponent(sizes, times)
    kind = "sub-linear" if max(slope, whole) < 1 else "not sub-linear"
    return Result(
        verdict=(
            f"A FraPPE round grows with K^{slope:.2f} from K = {near[0][0]} to {near[-1][0]} and with "
            f"K^{whole:.2f} up to "
            f"{sizes[-1]:,}: {kind} over the range measured."
        ),
        measured=(
            f"A FraPPE round takes {near[0][1]:.1f} µs at K = {near[0][0]}, {near[-1][1]:.1f} µs at K = "
            f"{near[-1][0]} and "
            f"{times[-1]:.1f} µs at K = {sizes[-1]:,} (median of {settings.repeats} runs, one process).",
            f"Times are over the first {settings.per_arm} rounds an arm ({settings.slow_per_arm} of PSIPS and "
            "AcceleratedPreTS): the same part of a run at every K.",
        ),
        picture=_picture(settings, rows),
        tables=(timing_table("Microseconds a round against K", "n_arms", rows, settings.algorithms),),
    )


def timing_table(title: str, axis: str, rows: list[Row], algorithms: tuple[str, ...]) -> Table:
    """Mean and median of each size and algorithm."""
    sizes = sorted({row[axis] for row in rows})
    lines = []
    for algorithm in chosen(*algorithms):
        mine = select(rows, rule=algorithm.rule.name)
        line = [algorithm.name]
        for size in sizes:
            times = [row["us_per_round"] for row in select(mine, **{axis: size})]
            line.append(f"{np.mean(times):.1f} ({np.median(times):.1f})" if times else "")
        lines.append(tuple(line))
    letter = {"n_arms": "K", "n_objectives": "L"}[axis]
    return Table(
        title, ("algorithm", *(f"{letter} = {size:,}" for size in sizes)), tuple(lines), notes=("Mean (median).",)
    )


def _picture(settings: Settings, rows: list[Row]) -> Any:
    figure = style.sheet(11.0, 4.8)
    near, far = figure.subplots(1, 2)
    frappe = ALGORITHMS["frappe"]
    mine = select(rows, rule=frappe.rule.name)
    times = [[row["us_per_round"] for row in select(mine, n_arms=size)] for size in settings.n_arms]
    near.errorbar(
        settings.n_arms, [np.mean(t) for t in times], yerr=[np.std(t) for t in times],
        color=frappe.colour, marker="o", markersize=4, capsize=3, label="mean ± s.d.",
    )  # fmt: skip
    near.plot(settings.n_arms, [np.median(t) for t in times], color="0.3", linestyle="--", label="median")
    near.set_ylim(bottom=0)
    near.set_title("FraPPE, the paper's range")
    near.legend(frameon=False, loc="lower right")
    draw(far, rows, chosen(*settings.algorithms), "n_arms")
    far.set_xscale("log")
    far.set_yscale("log")
    style.plain_log(far.xaxis)
    style.plain_log(far.yaxis)
    far.set_title("all algorithms, log scales")
    for axes in (near, far):
        axes.set_xlabel("number of arms K")
        axes.set_ylabel("µs a round")
        style.tidy(axes)
    figure.legend(*far.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


FIGURE = Figure(
    name="arms",
    title="Time a round against the number of arms",
    paper=(
        "Figure 6 shows FraPPE's time an iteration for K = 5, 10, 20, 30, 40 (L = 2, correlation 0.9, same "
        "front, 10 runs): "
        "sub-linear in K."
    ),
    settings={
        "small": Settings(repeats=3, per_arm=40, slow_per_arm=5, further=(100,)),
        "default": Settings(repeats=10, per_arm=40, slow_per_arm=20, further=(100, 200, 500, 1000, 2000)),
        "paper": Settings(repeats=10, per_arm=400, slow_per_arm=100, further=(100, 200, 500, 1000, 2000)),
    },
    cells=cells,
    assemble=assemble,
)
