"""The options of an analysis with their states; bars are standard errors."""

from typing import TYPE_CHECKING

import numpy as np

from prepex.analysis.analyse import Analysis, Arm
from prepex.family import LogNormal
from prepex.option_picture import Option, Scene, draw_options, lines_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(found: Analysis) -> "Figure":
    """One figure."""
    logs = [q for q, guess in enumerate(found.families) if isinstance(guess.family, LogNormal)]
    facets, limits = None, None
    if found.given is not None:
        settings = found.given.settings
        facets, limits = settings.cone.facets * settings.labels.signs, settings.limits
    names = range(len(found.objectives))
    options = [
        Option(arm.name, arm.mean, [_error(arm, q, q in logs) for q in names], arm.state, arm.front)
        for arm in found.arms
    ]
    lines = lines_of(limits, found.objectives)
    return draw_options(options, Scene(found.objectives, found.minimise, logs, facets, lines))


def _error(arm: Arm, q: int, log: bool) -> tuple[float, float]:
    """The standard error of a mean, below and above it."""
    spread = arm.spread[q]
    if not np.isfinite(spread) or arm.n < 2:
        return 0.0, 0.0
    if log:
        factor = float(np.exp(np.log(spread) / np.sqrt(arm.n)))
        return arm.mean[q] * (1.0 - 1.0 / factor), arm.mean[q] * (factor - 1.0)
    return (spread / np.sqrt(arm.n),) * 2
