"""Looking at a study with other eyes: under another cone, and a dialogue that finds one. Nothing of it is written.

Cones order what is compared: benefits, logarithms where a family is compared by factors. Statements come in the user's
units and signs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prepex.agreement import fitted
from prepex.any_cone import WHY_OPEN
from prepex.cone import Cone
from prepex.dialogue import Dialogue
from prepex.errors import InputError
from prepex.experiment import Experiment
from prepex.preferences import ClashError, Statement
from prepex.study.study import Study
from prepex.units import Units

# Sizes of numbers and differences that can be compared without loss.
SMALLEST, LARGEST = 1e-50, 1e50
# One statement: two outcomes, each in the order of the objectives, and whether the first is clearly better.
Said = tuple[Sequence[float], Sequence[float], bool]


def under(study: Study, cone: Cone) -> dict[str, Any]:
    """In, out or open under a cone, which options look optimal, and what the cone and the states say in words."""
    states, experiment = study.under(cone), study.experiment_now()
    labels, order = experiment.labels, fitted(cone, experiment.labels, experiment.setting.units)
    mask = order.pareto_mask(experiment.setting.units.inner(experiment.means) * labels.signs)
    share = f"{100.0 * (1.0 - experiment.delta):g} %"
    return {
        "states": states,
        "looks": [name for name, optimal in zip(labels.arms, mask.tolist(), strict=True) if optimal],
        "words": cone_words(order, experiment),
        "promise": f"All that is ever said here, under all cones together, is right with a probability of at least "
        f"{share}, however many you look at. The study's own answer and its certificate are untouched. "
        f"Limits and tolerances are not looked at. {WHY_OPEN}",
    }


def dialogue(study: Study, said: Sequence[Said]) -> dict[str, Any]:
    """What to ask next, after these statements; if they clash, which of them do, and nothing else."""
    experiment = study.experiment_now()
    labels, units = experiment.labels, experiment.setting.units
    if not (experiment.counts > 0).all():
        raise InputError("every arm must have been tried before two can be compared, got some that were not")
    try:
        talk = Dialogue(
            units.inner(experiment.means),
            arms=labels.arms,
            objectives=labels.objectives,
            minimise=labels.minimise,
            statements=[_inside(entry, units, len(labels.objectives)) for entry in said],
        )
    except ClashError as error:
        return {"clash": list(error.statements), "question": None, "left": [], "words": "", "facets": []}
    pair = talk.question()
    places = [] if pair is None else [labels.arms.index(name) for name in pair]
    return {
        "clash": [],
        "question": [{"arm": labels.arms[k], "mean": experiment.means[k].tolist()} for k in places] or None,
        "left": list(talk.left),
        "words": cone_words(talk.cone, experiment),
        "facets": talk.cone.facets.tolist(),
    }


def cone_words(cone: Cone, experiment: Experiment) -> str:
    """What it gives up for what; of objectives that are compared by factors, in logarithms."""
    labels, logs = experiment.labels, experiment.setting.units.logs
    names = ", ".join(labels.objectives[q] for q in logs)
    note = f" Of {names}, differences of logarithms: 0.1 is about 10 %." if logs else ""
    return cone.words(labels.objectives, minimise=labels.minimise) + note


def _inside(entry: Said, units: Units, n_objectives: int) -> Statement:
    """As outcomes are compared."""
    one, other, clear = entry
    for side in (one, other):
        if len(side) != n_objectives:
            raise InputError(f"a statement must have {n_objectives} = n_objectives values a side, got {len(side)}")
        if any(side[q] <= 0.0 for q in units.logs):
            raise InputError("values of a log-normal objective must be positive, got one that is not")
    rows = units.inner(np.array([one, other], dtype=np.float64))
    apart = np.abs(rows[0] - rows[1])
    if np.abs(rows).max() > LARGEST or np.any((apart > 0.0) & (apart < SMALLEST)):
        raise InputError(
            f"values of a statement must be at most {LARGEST:g} in size, and differ by {SMALLEST:g} at least"
        )
    return Statement(tuple(rows[0].tolist()), tuple(rows[1].tolist()), clear)
