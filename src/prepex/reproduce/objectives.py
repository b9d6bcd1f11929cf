"""Time a round against the number of objectives, and what the Pareto filter takes of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._kernels.instance import find_front
from prepex.alternatives import solver
from prepex.reproduce import style
from prepex.reproduce.algorithms import ALGORITHMS, chosen
from prepex.reproduce.arms import ALL, timed_runs, timing_table
from prepex.reproduce.cell import Cell, Row, select
from prepex.reproduce.figure import Figure, Result, Table
from prepex.reproduce.measure import clocked
from prepex.reproduce.scaling import draw, exponent, growing, medians

FILTER, EVIDENCE = "Pareto filter from scratch", "evidence from scratch"


@dataclass(frozen=True)
class Settings:
    """The paper's numbers of objectives."""

    repeats: int
    rounds: int
    slow_rounds: int
    n_arms: int = 25
    n_objectives: tuple[int, ...] = (2, 6, 10, 14)
    algorithms: tuple[str, ...] = ALL


def parts(n_arms: int, n_objectives: int, repeats: int, seed: int) -> list[Row]:
    """The Pareto filter alone, and the whole evidence of noisy means, both from scratch."""
    problem = growing(n_arms, n_objectives, seed)
    rng = np.random.default_rng(np.random.SeedSequence((seed, n_objectives, 2)))
    means = problem.means + 0.1 * rng.standard_normal(problem.means.shape)
    scores = np.ascontiguousarray(means @ problem.cone.facets.T)
    mask, front, counts = np.zeros(n_arms, np.bool_), np.zeros(n_arms, np.int64), np.full(n_arms, 100.0)
    actions = {
        FILTER: lambda: find_front(scores, mask, front),
        EVIDENCE: lambda: solver(means, counts, problem.family, problem.cone, problem.labels),
    }
    shape = {"n_arms": n_arms, "n_objectives": n_objectives, "n_pareto": len(problem.pareto_set)}
    return [
        {"vary": "objectives", "rule": name} | shape | {"repeat": repeat, "rounds": 1, "us_per_round": time}
        for name, action in actions.items()
        for repeat, time in enumerate(clocked(action, repeats=repeats))
    ]


def cells(settings: Settings, seed: int) -> list[Cell]:
    """One an algorithm and number of objectives, and one for the parts; all timed."""
    found = []
    for length in settings.n_objectives:
        given = settings.n_arms, length, settings.repeats, seed
        found.append(Cell("objectives", f"parts-{length}", parts, given, weight=0.3, timed=True))
        for algorithm in chosen(*settings.algorithms):
            rounds = settings.slow_rounds if algorithm.slow else settings.rounds
            work = "objectives", settings.n_arms, length, algorithm.rule, rounds, settings.repeats, seed
            found.append(Cell("objectives", f"{algorithm.key}-{length}", timed_runs, work, weight=0.5, timed=True))
    return found


def shares(settings: Settings, rows: list[Row]) -> list[tuple[int, float, float, float]]:
    """(L, filter, evidence from scratch, FraPPE round), medians in microseconds."""
    frappe = ALGORITHMS["frappe"].rule.name
    found = []
    for length in settings.n_objectives:
        front, evidence, whole = (
            _median(select(rows, rule=name, n_objectives=length)) for name in (FILTER, EVIDENCE, frappe)
        )
        found.append((length, front, evidence, whole))
    return found


def _median(rows: list[Row]) -> float:
    return float(np.median([row["us_per_round"] for row in rows]))


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """Rounds on the left, the filter's share on the right."""
    sizes, times = medians(rows, ALGORITHMS["frappe"], "n_objectives")
    found = shares(settings, rows)
    part = [front / whole for _, front, _, whole in found]
    does = "would dominate" if max(part) > 0.5 else "would not dominate"
    lines = tuple(
        (str(length), f"{front:.2f}", f"{evidence:.1f}", f"{whole:.2f}", f"{front / whole:.1%}")
        for length, front, evidence, whole in found
    )
    return Result(
        verdict=(
            f"Computed anew in every round, the Pareto set {does} here: it takes {min(part):.0%} to "
            f"{max(part):.0%} of the "
            f"time of a FraPPE round, which grows with L^{exponent(sizes, times):.2f}."
        ),
        measured=(
            "In prepex the Pareto set is kept up to date from pull to pull; the filter is timed on its own, with the "
            "overhead of a call from Python.",
            f"Times are over the first {settings.rounds:,} rounds ({settings.slow_rounds:,} of PSIPS and "
            "AcceleratedPreTS).",
        ),
        picture=_picture(settings, rows, found),
        tables=(
            Table(
                "The Pareto computation, µs (medians)",
                ("L", "Pareto filter", "evidence from scratch, in Python", "a FraPPE round", "filter / round"),
                lines,
            ),
            timing_table("Microseconds a round against L", "n_objectives", rows, settings.algorithms),
        ),
    )


def _picture(settings: Settings, rows: list[Row], found: list[tuple[int, float, float, float]]) -> Any:
    figure = style.sheet(11.0, 4.8)
    left, right = figure.subplots(1, 2)
    draw(left, rows, chosen(*settings.algorithms), "n_objectives")
    left.set_title(f"a round, K = {settings.n_arms}")
    lengths = [entry[0] for entry in found]
    for index, (label, look) in enumerate(
        {FILTER: ("#009E73", "s"), EVIDENCE: ("#D55E00", "D"), "a whole FraPPE round": ("#0072B2", "o")}.items()
    ):
        times = [entry[index + 1] for entry in found]
        right.plot(lengths, times, color=look[0], marker=look[1], markersize=4, label=label)
    right.set_title("the Pareto computation and what contains it")
    for axes in (left, right):
        axes.set_yscale("log")
        style.plain_log(axes.yaxis)
        axes.set_xticks(settings.n_objectives)
        axes.set_xlabel("number of objectives L")
        axes.set_ylabel("µs (log scale)")
        style.tidy(axes)
    # Room for a legend above the lines.
    right.set_ylim(top=12 * right.get_ylim()[1])
    right.legend(frameon=False, fontsize=9, loc="upper left")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


FIGURE = Figure(
    name="objectives",
    title="Time a round against the number of objectives",
    paper=(
        "Figure 7 shows FraPPE's time an iteration for L = 2, 6, 10, 14 (K = 25, same front, 10 runs) below "
        "the order of "
        "log(K)^max(1, L - 2): the Pareto set computation dominates that of the allocation."
    ),
    settings={
        "small": Settings(repeats=3, rounds=1000, slow_rounds=100),
        "default": Settings(repeats=10, rounds=5000, slow_rounds=300),
        "paper": Settings(repeats=10, rounds=50_000, slow_rounds=2000),
    },
    cells=cells,
    assemble=assemble,
)
