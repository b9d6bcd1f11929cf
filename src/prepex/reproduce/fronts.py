"""The Pareto sets of the sorting networks under two cones."""

from dataclasses import dataclass

from prepex import plot
from prepex.cone import Cone
from prepex.instances import snw
from prepex.reproduce.cell import Cell, Row, select
from prepex.reproduce.figure import SIZES, Figure, Result, Table


@dataclass(frozen=True)
class Settings:
    """The opening angles, in degrees."""

    angles: tuple[float, ...] = (90.0, 120.0)


def pareto_rows(angle: float) -> list[Row]:
    """One row an arm."""
    problem = snw(Cone.angle(angle))
    optimal = set(problem.pareto_set)
    return [
        {"angle": angle, "arm": k, "area": float(area), "throughput": float(speed), "pareto": k in optimal}
        for k, (area, speed) in enumerate(problem.means)
    ]


def cells(settings: Settings, seed: int) -> list[Cell]:
    """One a cone; nothing here is random."""
    return [Cell("fronts", f"angle-{angle:g}", pareto_rows, (angle,)) for angle in settings.angles]


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """The fronts in one picture."""
    sets = {angle: {row["arm"] for row in select(rows, angle=angle, pareto=True)} for angle in settings.angles}
    narrow, wide = min(sets), max(sets)
    n_arms = len(select(rows, angle=narrow))
    left = len(sets[narrow] - sets[wide])
    relation = "a subset of" if sets[wide] <= sets[narrow] else "not a subset of"
    return Result(
        verdict=(
            f"The cone decides: of {n_arms} designs {len(sets[narrow])} are Pareto optimal under {narrow:g} "
            "degrees and "
            f"{len(sets[wide])} under {wide:g} degrees, {relation} the former."
        ),
        measured=(
            f"The data set has {n_arms} designs.",
            f"Widening the cone from {narrow:g} to {wide:g} degrees drops {left} designs.",
        ),
        picture=plot.fronts(snw(), [Cone.angle(angle) for angle in settings.angles]),
        tables=(
            Table(
                "Pareto sets",
                ("cone", "Pareto optimal", "of"),
                tuple((f"{angle:g} degrees", str(len(found)), str(n_arms)) for angle, found in sets.items()),
            ),
        ),
    )


FIGURE = Figure(
    name="fronts",
    title="Sorting networks: the Pareto set under two cones",
    paper=(
        "Figure 1 shows the SNW data set (given as 256 designs, 2 objectives): the Pareto optimal designs "
        "under a cone of "
        "90 degrees and under one of 120 degrees differ, so preferences affect optimality."
    ),
    settings={size: Settings() for size in SIZES},
    cells=cells,
    assemble=assemble,
)
