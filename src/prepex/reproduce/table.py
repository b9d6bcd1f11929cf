"""The paper's table of algorithms, with measured exponents beside the stated costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex.reproduce import arms, objectives, style
from prepex.reproduce.algorithms import chosen
from prepex.reproduce.cell import Cell, Row, select
from prepex.reproduce.figure import SIZES, Figure, Result, Table
from prepex.reproduce.scaling import exponent, medians

# Key: (stated cost a round, its exponents in K and L for K > L or None, stated cone, beyond Gaussian rewards).
STATED: dict[str, tuple[str, tuple[int, int] | None, str, str]] = {
    "tns": ("K^(L+1) L^3", None, "positive orthant", "no"),
    "psips": ("K^2 L min(K, L)", (2, 2), "positive orthant", "no"),
    "prets": ("intractable", None, "any", "yes"),
    "frappe": ("K L min(K, L)", (1, 2), "any", "yes"),
}
# In this package every rule takes any polyhedral cone.
FURTHER = ("information", "ape", "uniform", "auer")


@dataclass(frozen=True)
class Settings:
    """Those of the two figures whose clocks it reads."""

    arms: arms.Settings
    objectives: objectives.Settings


Slopes = dict[str, tuple[float, float]]


def cells(settings: Settings, seed: int) -> list[Cell]:
    """The same cells: nothing is timed twice."""
    return [*arms.cells(settings.arms, seed), *objectives.cells(settings.objectives, seed)]


def slopes(rows: list[Row]) -> Slopes:
    """By key: measured exponents of a round in K and in L, for the algorithms that were timed."""
    by_arms, by_objectives = select(rows, vary="arms"), select(rows, vary="objectives")
    return {
        algorithm.key: (
            exponent(*medians(by_arms, algorithm, "n_arms")),
            exponent(*medians(by_objectives, algorithm, "n_objectives")),
        )
        for algorithm in chosen(*STATED, *FURTHER)
        if select(rows, rule=algorithm.rule.name)
    }


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """Stated and measured side by side."""
    found = slopes(rows)
    lines = []
    for algorithm in chosen(*found):
        cost, _, cone, beyond = STATED.get(algorithm.key, ("", None, "", ""))
        measured = [f"{value:.2f}" for value in found[algorithm.key]]
        lines.append((algorithm.name, cost, *measured, cone, "any polyhedral", beyond))
    header = (
        "algorithm", "stated cost a round", "measured exponent in K", "in L", "stated cone", "cone here",
        "stated: beyond Gaussian",
    )  # fmt: skip
    limits = {
        algorithm.name: max(row["n_arms"] for row in select(rows, rule=algorithm.rule.name))
        for algorithm in chosen(*found)
    }
    return Result(
        verdict=verdict(found),
        measured=(
            "Exponents are slopes of log time against log K and log L over "
            + ", ".join(f"K up to {limit:,} ({name})" for name, limit in limits.items())
            + f" and L = {', '.join(map(str, settings.objectives.n_objectives))}: what this code does on these "
            "sizes, not "
            "a worst case.",
            "TnS here is a gradient step a round on the exact evidence, and PreTS the accelerated one: neither is the "
            "program whose cost the paper states.",
        ),
        picture=_picture(found),
        tables=(Table("Algorithms: cost a round, cone, family", header, tuple(lines)),),
    )


def verdict(found: Slopes) -> str:
    """Measured growth against the stated exponents."""
    words = []
    for algorithm in chosen(*found):
        powers = STATED.get(algorithm.key, ("", None))[1]
        if powers:
            measured = found[algorithm.key]
            within = all(have <= most + 0.1 for have, most in zip(measured, powers, strict=True))
            words.append(
                f"a {algorithm.name} round grows with K^{measured[0]:.2f} and L^{measured[1]:.2f}, "
                f"{'within' if within else 'beyond'} the stated K^{powers[0]} L^{powers[1]}"
            )
    text = "; ".join(words)
    return text[0].upper() + text[1:] + "."


def _picture(found: Slopes) -> Any:
    shown = chosen(*found)
    figure = style.sheet(8.4, 1.4 + 0.42 * len(shown))
    axes = figure.add_subplot()
    places = np.arange(len(shown))
    for shift, index, colour, letter in ((-0.18, 0, "#0072B2", "K"), (0.18, 1, "#E69F00", "L")):
        values = [found[algorithm.key][index] for algorithm in shown]
        axes.barh(places + shift, values, height=0.34, color=colour, label=f"measured exponent in {letter}")
        stated = [
            (place + shift, powers[index])
            for place, algorithm in zip(places, shown, strict=True)
            if (powers := STATED.get(algorithm.key, ("", None))[1])
        ]
        heights, marks = [entry[0] for entry in stated], [entry[1] for entry in stated]
        axes.plot(marks, heights, "D", color=colour, markeredgecolor="black", label=f"stated exponent in {letter}")
    axes.axvline(0, color="0.4", linewidth=0.8)
    axes.set_yticks(places, [algorithm.name for algorithm in shown])
    axes.invert_yaxis()
    axes.set_xlabel("exponent of the time a round")
    style.tidy(axes, grid="x")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


FIGURE = Figure(
    name="table",
    title="The table of algorithms",
    paper=(
        "Table 1 compares the cost a round (without the Pareto set), the cones and the families: TnS (Garivier et al.) "
        "O(K^(L+1) L^3), orthant; PSIPS (Kone et al.) O(K^2 L min(K, L)), orthant; PreTS intractable, any cone; FraPPE "
        "O(K L min(K, L)), any cone, beyond Gaussian rewards."
    ),
    settings={size: Settings(arms.FIGURE.settings[size], objectives.FIGURE.settings[size]) for size in SIZES},
    cells=cells,
    assemble=assemble,
)
