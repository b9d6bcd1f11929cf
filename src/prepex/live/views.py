"""An experiment as a table and as a picture."""

from typing import Any

from prepex.errors import InputError
from prepex.live.progress import Progress
from prepex.option_table import OptionTable


def table_of(progress: Progress, *, signs: bool = False) -> OptionTable:
    """A row for each option: trials, means, state, probability of being optimal."""
    labels, answer, counts = progress.labels, progress.answer, progress.counts.tolist()
    means = [
        [mean if n else None for n, mean in zip(counts, column, strict=True)] for column in progress.means.T.tolist()
    ]
    heads = labels.signed if signs else labels.objectives
    return OptionTable(
        labels.arms,
        [("n", counts), *zip(heads, means, strict=True)],
        [name in answer.arms for name in labels.arms],
        answer.states,
        answer.probabilities,
    )


def picture_of(progress: Progress) -> Any:
    """The means of the options that were tried, with their states, as a figure."""
    from prepex.option_picture import Option, Scene, draw_options, lines_of

    labels, setting, answer = progress.labels, progress.setting, progress.answer
    none = [(0.0, 0.0)] * len(labels.objectives)
    means, counts = progress.means, progress.counts
    options = [
        Option(name, means[k].tolist(), none, answer.states[k], name in answer.arms)
        for k, name in enumerate(labels.arms)
        if counts[k]
    ]
    if not options:
        raise InputError("an outcome must have been told before there is something to draw, got none")
    facets, lines = setting.cone.facets * labels.signs, lines_of(setting.limits, labels.objectives)
    return draw_options(options, Scene(labels.objectives, labels.minimise, setting.units.logs, facets, lines))
