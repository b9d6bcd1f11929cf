"""The polar cone: the directions in which arms move to the closest alternative."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.alternatives import evidence
from prepex.cone import Cone
from prepex.family import Gaussian
from prepex.reproduce import style
from prepex.reproduce.cell import Cell, Row, select
from prepex.reproduce.figure import SIZES, Figure, Result, Table

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Settings:
    """Opening angles, and random instances under each."""

    instances: int
    n_arms: int = 8
    angles: tuple[float, ...] = (60.0, 90.0, 120.0)


def moves(angle: float, instances: int, n_arms: int, seed: int) -> list[Row]:
    """The arms that move to the closest alternative of random means: where to, and how far outside of the polar cone.

    The hub moves into the dual cone, the negative of the polar one; all others move into the polar cone.
    """
    cone = Cone.angle(angle)
    rng = np.random.default_rng(np.random.SeedSequence((seed, int(angle))))
    rows = []
    for index in range(instances):
        means = rng.standard_normal((n_arms, 2))
        found = evidence(means, np.full(n_arms, 10), family=Gaussian(variance=1.0), cone=cone).alternative
        if found is None:
            continue
        for arm, place in zip(found.arms, found.means, strict=True):
            step = np.asarray(place) - means[arm]
            inward = -step if arm == found.hub else step
            # y is in the polar cone iff y . r <= 0 for every ray r of the cone.
            outside = float(np.max(cone.rays @ inward))
            role = "hub" if arm == found.hub else "other"
            rows.append(
                {"angle": angle, "instance": index, "arm": int(arm), "role": role}
                | {"step 0": float(step[0]), "step 1": float(step[1]), "outside": outside}
            )
    return rows


def cells(settings: Settings, seed: int) -> list[Cell]:
    """One a cone."""
    return [
        Cell("polar", f"angle-{angle:g}", moves, (angle, settings.instances, settings.n_arms, seed))
        for angle in settings.angles
    ]


def assemble(settings: Settings, rows: list[Row]) -> Result:
    """The cones, their polars, and the steps that were found."""
    worst = max(row["outside"] for row in rows)
    inside = sum(row["outside"] <= TOLERANCE for row in rows)
    kind = "all" if inside == len(rows) else "not all"
    lines = []
    for angle in settings.angles:
        mine = select(rows, angle=angle)
        lines.append(
            (f"{angle:g}", f"{180 - angle:g}", str(len(mine)), str(sum(row["outside"] <= TOLERANCE for row in mine)))
        )
    return Result(
        verdict=(
            f"In {len(rows)} moves of arms to the closest alternative, {kind} ({inside}) lie in the polar cone "
            "(the hub's in "
            f"its negative), the farthest {max(worst, 0.0):.1e} outside."
        ),
        measured=("Unit variances, equal counts, random means: a check of the geometry that the evidence rests on.",),
        picture=_picture(settings, rows),
        tables=(
            Table(
                "Moves to the closest alternative",
                ("cone, degrees", "polar cone, degrees", "moves", "in the polar cone"),
                tuple(lines),
            ),
        ),
    )


def _picture(settings: Settings, rows: list[Row]) -> Any:
    figure = style.sheet(11.0, 4.3)
    panels = figure.subplots(1, len(settings.angles), squeeze=False)[0]
    for axes, angle in zip(panels, settings.angles, strict=True):
        cone = Cone.angle(angle)
        _wedge(axes, cone.rays, "#0072B2", "preference cone")
        _wedge(axes, -cone.facets, "#D55E00", "polar cone")
        for role, sign, look in (("other", 1, "o"), ("hub", -1, "x")):
            steps = np.array([[row["step 0"], row["step 1"]] for row in select(rows, angle=angle, role=role)])
            if len(steps):
                label = "moves of arms" if role == "other" else "moves of hubs, turned round"
                points = 1.6 * sign * steps / max(np.abs(steps).max(), 1e-12)
                axes.plot(*points.T, look, color="black", markersize=3, markeredgewidth=0.7, label=label)
        axes.set_title(f"{angle:g} degrees")
        axes.set_aspect("equal")
        axes.set_xlim(-2.1, 2.1)
        axes.set_ylim(-2.1, 2.1)
        axes.set_xticks([-2, -1, 0, 1, 2])
        axes.set_yticks([-2, -1, 0, 1, 2])
        axes.set_xlabel("objective 0")
        style.tidy(axes)
    panels[0].set_ylabel("objective 1")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _wedge(axes: Any, rays: Floats, colour: str, label: str) -> None:
    corners = 6.0 * np.vstack([rays[0], np.zeros(2), rays[1]])
    axes.fill(*corners.T, color=colour, alpha=0.18, linewidth=0, label=label)
    axes.plot(*corners.T, color=colour, linewidth=1.4)


FIGURE = Figure(
    name="polar",
    title="The preference cone and its polar cone",
    paper=(
        "Figure 2 illustrates a preference cone and its polar cone: the closest instance with another answer "
        "is reached by "
        "moving along the polar cone, which replaces a search over all instances by one over directions."
    ),
    settings={size: Settings(n) for size, n in zip(SIZES, (40, 200, 1000), strict=True)},
    cells=cells,
    assemble=assemble,
)
