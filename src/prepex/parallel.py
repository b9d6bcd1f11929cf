"""Parallel coordinates: a line an option, an axis an objective, better upwards everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.drawing import place_names

# Options with names beside the last axis.
MOST_NAMED = 16


@dataclass(frozen=True)
class Look:
    """How an option is drawn: `loud` ones over the others, thicker, and with their names."""

    name: str
    colour: str
    marker: str
    loud: bool


def draw_parallel(
    axes: Any,
    values: Floats,
    looks: Sequence[Look],
    titles: Sequence[str],
    *,
    down: Sequence[bool],
    logs: Sequence[bool],
) -> None:
    """values (K, L) in the user's units; `down`: less is better; `logs`: compared by logarithms."""
    L = len(titles)
    inner = np.where(logs, np.log(np.where(logs, values, 1.0)), values)
    low, high = inner.min(axis=0), inner.max(axis=0)
    # Options that are all alike lie in the middle.
    height = np.where(high > low, (inner - low) / np.where(high > low, high - low, 1.0), 0.5)
    height = np.where(down, 1.0 - height, height)
    for k in sorted(range(len(looks)), key=lambda k: looks[k].loud):
        look = looks[k]
        axes.plot(
            range(L), height[k], color=look.colour, marker=look.marker, markersize=5 if look.loud else 3,
            linewidth=1.6 if look.loud else 0.7, alpha=0.95 if look.loud else 0.45, zorder=3 if look.loud else 2,
        )  # fmt: skip
    for q in range(L):
        best, worst = (low[q], high[q]) if down[q] else (high[q], low[q])
        axes.axvline(q, color="0.7", linewidth=0.8, zorder=0)
        ends = ((1.05, best), (-0.05, worst)) if high[q] > low[q] else ((1.05, best),)
        for at, end in ends:
            shown = f"{float(np.exp(end)) if logs[q] else float(end):.4g}"
            side = "bottom" if at > 1.0 else "top"
            axes.annotate(shown, (q, at), ha="center", va=side, fontsize=8, color="0.35", annotation_clip=False)
    axes.set_xticks(range(L), titles, rotation=18, ha="right", fontsize=8)
    axes.set(yticks=[], ylim=(-0.14, 1.14), xlim=(-0.25, L - 1 + 0.22 * L), ylabel="better upwards")
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    named = [k for k, look in enumerate(looks) if look.loud][:MOST_NAMED]
    if named:
        points = np.array([[L - 1.0, height[k, -1]] for k in named])
        place_names(axes, points, [looks[k].name for k in named], right_only=True)
