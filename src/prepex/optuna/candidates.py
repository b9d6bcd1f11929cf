"""Which trials of an Optuna study are worth a second look: its front, and those that are nearly on it.

Legend
    S      facet scores of the trials' own values, in units of the front's range on each facet          (n, m)
    behind how much a trial lacks on its best facet to escape the trial of the front that is most ahead  (n,)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex.cone import Cone
from prepex.errors import InputError, InputTypeError, shown
from prepex.numerals import plural

# What a race measures or tables call so, whatever the study means by it.
TAKEN = ("time", "cpu", "n", "option")


@dataclass(frozen=True, eq=False)
class Candidates:
    """Trials to evaluate again.

    trials      Optuna's, one for each set of parameters, in the order of their numbers
    naive       numbers of those on the front of the study's own values
    notes       what was left out, in words
    """

    trials: tuple[Any, ...]
    naive: tuple[int, ...]
    objectives: tuple[str, ...]
    minimise: tuple[str, ...]
    notes: tuple[str, ...]


def find_candidates(study: Any, wanted: int, cone: Cone | None) -> Candidates:
    """The front's trials, and as many of those behind it as make `wanted` in all, the nearest first."""
    objectives, minimise = _objectives(study)
    order = Cone.orthant(len(objectives)) if cone is None else cone
    trials, values, notes = _complete(study, len(objectives))
    signs = np.array([-1.0 if name in minimise else 1.0 for name in objectives])
    order = order.ordered(objectives)
    front = order.pareto_mask(values * signs)
    n_front = int(front.sum())
    if n_front > wanted:
        notes.append(f"The front has {n_front} trials, more than candidates = {wanted}: all of them are taken.")
    behind = np.where(front, -1.0, _behind(order, values * signs, front))
    # The nearest first, the earlier one of two that are as near.
    chosen = sorted(np.argsort(behind, kind="stable")[: max(wanted, n_front)].tolist())
    if len(chosen) < 2:
        raise InputError("study must have 2 or more trials with different parameters to compare, got 1")
    return Candidates(
        tuple(trials[k] for k in chosen),
        tuple(trials[k].number for k in np.flatnonzero(front)),
        objectives,
        minimise,
        tuple(notes),
    )


def _objectives(study: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(names, those that are minimised)."""
    directions = getattr(study, "directions", None)
    if directions is None or not hasattr(study, "trials"):
        raise InputTypeError(f"study must be a study of Optuna, got {shown(study)}")
    if len(directions) < 2:
        raise InputError(
            "study must have several objectives, got one: a front needs two. To settle which trials of one objective "
            "are best, race them: prepex.race"
        )
    given = study.metric_names or [f"objective {q}" for q in range(len(directions))]
    names = tuple(f"{name} value" if name in TAKEN else name for name in given)
    return names, tuple(name for name, way in zip(names, directions, strict=True) if way.name == "MINIMIZE")


def _complete(study: Any, n_objectives: int) -> tuple[list[Any], Floats, list[str]]:
    """(the trials that ended with values, one for each set of parameters, their values, what was left out)."""
    left: dict[str, int] = {}
    first: dict[str, tuple[Any, list[Floats]]] = {}
    again = 0
    for trial in study.trials:
        values = trial.values if trial.state.name == "COMPLETE" else None
        if values is None or len(values) != n_objectives or not np.all(np.isfinite(values)):
            state = trial.state.name.lower()
            word = {"complete": "without finite values", "fail": "failed"}.get(state, state)
            left[word] = left.get(word, 0) + 1
            continue
        seen = first.setdefault(repr(sorted(trial.params.items())), (trial, []))[1]
        again += len(seen) > 0
        seen.append(np.asarray(values, dtype=np.float64))
    others = ", ".join(f"{n} {word}" for word, n in left.items())
    if not first:
        raise InputError(f"study must have trials that ended with values, got {others or 'no trials'}")
    notes = [f"Trials left out: {others}."] if left else []
    if again:
        notes.append(f"{plural(again, 'trial')} with the parameters of an earlier one: they count as one option.")
    return (
        [trial for trial, _ in first.values()],
        np.array([np.mean(seen, axis=0) for _, seen in first.values()]),
        notes,
    )


def _behind(cone: Cone, benefits: Floats, front: Any) -> Floats:
    """How far each is behind the front (n,)."""
    scores: Floats = (benefits - benefits[front].mean(axis=0)) @ cone.facets.T
    size = np.ptp(scores[front], axis=0)
    size = np.where(size > 0.0, size, np.maximum(np.ptp(scores, axis=0), 1e-300))
    ahead = (scores[front][:, None, :] - scores[None, :, :]) / size
    return np.asarray(ahead.min(axis=2).max(axis=0))


def listed(numbers: Sequence[int]) -> str:
    """Trials in a sentence.

    >>> listed([3, 5, 8]), listed([])
    ('trials 3, 5, 8', 'none')
    """
    if not numbers:
        return "none"
    return f"{'trial' if len(numbers) == 1 else 'trials'} {', '.join(map(str, numbers))}"
