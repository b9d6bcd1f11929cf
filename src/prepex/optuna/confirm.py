"""The front of an Optuna study, settled: its trials and their near rivals are evaluated again, as options of a race.

What the study measured chose the candidates, and the lucky ones among them most (the winner's curse), so it does not
count any more: everything that is said about a candidate rests on new evaluations.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from prepex import __version__, _checks
from prepex.cone import Cone
from prepex.errors import InputError, InputTypeError, shown
from prepex.extras import need
from prepex.family import Family
from prepex.numerals import number, plural
from prepex.optuna.candidates import Candidates, find_candidates, listed
from prepex.racing.answer import Raced
from prepex.racing.calls import race
from prepex.tolerance import Tolerance

# The attribute of the study, and of the trials in the result.
ATTRIBUTE = "prepex"
# Evaluations of each candidate, on average, that are made at most unless a budget is given.
EACH = 30


@dataclass(frozen=True, eq=False)
class Confirmed:
    """The front after new evaluations. Print it for the same in words.

    front      numbers of the trials on it: settled at delta if `status` is "certified"; else as it looks, and `states`
               says which are settled
    naive      numbers of the trials on the front of the study's own values
    status     "certified": as the front of the candidates wrong with probability at most delta, proven; "running": the
               budget ended first
    states     of each candidate: "in", "out" or "open"
    means      of each candidate, over the new evaluations: objective to mean
    counts     new evaluations of each candidate
    trials     the candidates as Optuna's frozen trials, with what came as the user attribute "prepex"
    raced      the race that it came from
    """

    front: tuple[int, ...]
    naive: tuple[int, ...]
    status: str
    states: dict[int, str]
    means: dict[int, dict[str, float]]
    counts: dict[int, int]
    delta: float
    trials: tuple[Any, ...]
    notes: tuple[str, ...]
    raced: Raced

    @property
    def settled(self) -> bool:
        """Is the front certified?"""
        return self.raced.settled

    @property
    def n_evaluations(self) -> int:
        """New evaluations, in all."""
        return sum(self.counts.values())

    @property
    def dropped(self) -> tuple[int, ...]:
        """Trials of the naive front that are not on the confirmed one."""
        return tuple(k for k in self.naive if k not in self.front)

    @property
    def added(self) -> tuple[int, ...]:
        """Trials of the confirmed front that were not on the naive one."""
        return tuple(k for k in self.front if k not in self.naive)

    def __str__(self) -> str:
        names = list(next(iter(self.means.values())))
        best = "The front" if self.settled else "What looks like the front"
        lines = [
            f"{best} of {plural(len(self.trials), 'candidate')} after {plural(self.n_evaluations, 'new evaluation')}: "
            f"{listed(self.front)} ({'certified' if self.settled else 'not settled'} at delta {self.delta:g}).",
            f"Dropped from the front of the study's own values: {listed(self.dropped)}. Added: {listed(self.added)}.",
        ]
        if not self.settled:
            lines.append(f"Still open: {listed([k for k, state in self.states.items() if state == 'open'])}.")
        for k in self.front:
            values = ", ".join(f"{name} {number(self.means[k][name])}" for name in names)
            lines.append(f"  trial {k}: {values} ({plural(self.counts[k], 'evaluation')})")
        return "\n".join([*lines, *self.notes])


def confirm(
    study: Any,
    objective: Callable[[Any], Any],
    *,
    candidates: int = 20,
    tolerance: Tolerance = None,
    delta: float = 0.05,
    family: Mapping[str, Family] | None = None,
    cone: Cone | None = None,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    failed: Mapping[str, float] | None = None,
    on_failure: str = "stop",
    storage: str | os.PathLike[str] | None = None,
    seed: int = 0,
    write: bool = True,
) -> Confirmed:
    """Evaluate the front's trials of an Optuna study and their near rivals again, until their front is settled.

    study            of Optuna, with several objectives
    objective        its objective: called with a FixedTrial that has a trial's parameters, and another `number` each
                     time, so that noise that is seeded by it is new
    candidates       how many trials: those on the front, however many they are, and those that are nearest to it
    tolerance        differences that do not matter, by the study's metric names or one for all. Give one: trials close
                     together on the front are hard to tell apart, and take many evaluations
    max_evaluations  end without an answer then; by default 30 for each candidate
    family           of objectives where the usual one does not fit; as in `race`, the first rounds decide: without
                     noise, 0 or 1, else Gaussian of unknown variance
    storage          a file: it goes on where it was when it is called again
    write            what came goes into the study, as its user attribute "prepex". (Optuna lets nobody change a trial
                     that has ended; `Confirmed.trials` are copies that have it as attributes of their own.)

    cone, delta, executor, jobs, failed, on_failure, max_seconds, seed: as in `race`.

    The study's own values choose the candidates and do not count further. What is certified is the front of the
    candidates: of the trials left out nothing is said.
    """
    need("optuna", "studies of Optuna need", "optuna")
    if not callable(objective):
        raise InputTypeError(f"objective must be a function of a trial, got {shown(objective)}")
    wanted = _checks.whole("candidates", candidates, low=2)
    if cone is not None:
        _checks.instance("cone", cone, Cone)
    chosen = find_candidates(study, wanted, cone)
    names = {f"trial {trial.number}": trial for trial in chosen.trials}
    least = 3 * len(names)
    budget = EACH * len(names) if max_evaluations is None else max_evaluations
    if _checks.whole("max_evaluations", budget, low=1) < least:
        raise InputError(f"max_evaluations must be at least {least}, 3 for each candidate, got {budget}")
    raced = race(
        {name: partial(_evaluate, objective, trial.params, chosen.objectives) for name, trial in names.items()},
        objectives=chosen.objectives,
        minimise=chosen.minimise,
        executor=executor,
        jobs=jobs,
        family=family,
        tolerance=tolerance,
        cone=cone,
        delta=delta,
        max_trials=budget,
        max_seconds=max_seconds,
        seed=seed,
        failed=failed,
        on_failure=on_failure,
        storage=storage,
    )
    found = _confirmed(chosen, raced)
    if _checks.flag("write", write):
        study.set_user_attr(ATTRIBUTE, _document(found))
    return found


def _evaluate(objective: Callable[[Any], Any], params: Mapping[str, Any], names: Sequence[str], seed: int) -> Any:
    """One new evaluation of a trial's parameters."""
    from optuna.trial import FixedTrial

    # As an Optuna sampler seeds: below 2^31 any generator takes it.
    returned = objective(FixedTrial(dict(params), number=seed % 2**31))
    values = list(returned) if isinstance(returned, Sequence) and not isinstance(returned, str) else [returned]
    if len(values) != len(names):
        raise InputError(f"objective must return {len(names)} values as in the study, got {shown(returned)}")
    return dict(zip(names, map(float, values), strict=True))


def _confirmed(chosen: Candidates, raced: Raced) -> Confirmed:
    """Everything by the numbers of the trials."""
    numbers = {f"trial {trial.number}": trial.number for trial in chosen.trials}
    found = Confirmed(
        front=tuple(numbers[name] for name in raced.answer),
        naive=chosen.naive,
        status=raced.status,
        states={numbers[name]: state for name, state in raced.states.items()},
        means={numbers[name]: means for name, means in raced.means.items()},
        counts={numbers[name]: n for name, n in raced.counts.items()},
        delta=raced.delta,
        trials=tuple(deepcopy(trial) for trial in chosen.trials),
        notes=(*chosen.notes, *raced.view.notes),
        raced=raced,
    )
    for trial in found.trials:
        trial.set_user_attr(ATTRIBUTE, _entry(found, trial.number))
    return found


def _entry(found: Confirmed, trial: int) -> dict[str, Any]:
    return {
        "on_front": trial in found.front,
        "state": found.states[trial],
        "evaluations": found.counts[trial],
        "means": found.means[trial],
    }


def _document(found: Confirmed) -> dict[str, Any]:
    """As JSON can write it."""
    return {
        "version": __version__,
        "status": found.status,
        "delta": found.delta,
        "front": list(found.front),
        "naive": list(found.naive),
        "trials": {str(trial.number): _entry(found, trial.number) for trial in found.trials},
    }
