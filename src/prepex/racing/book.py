"""The book of a race: which trials to run next, and what came of them, in a study that outlives the process.

The first rounds run every option a few times. They are the pilot of the study, whose outcomes the certified tests do
not use: so families may be chosen by looking at them (opening.py).
"""

import csv
import os
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from prepex import _checks
from prepex.errors import InputError
from prepex.family import Exact, Family, Gaussian, LogNormal
from prepex.foresight.forecast import Forecast
from prepex.racing.drift import Watch
from prepex.racing.journal import Journal
from prepex.racing.opening import Opening, Task
from prepex.racing.question import Question
from prepex.racing.same import families_of, require_same_settings, require_same_spec, settings_of
from prepex.racing.trial import Result
from prepex.study.handout import BlockedError
from prepex.study.log import NoStudyError
from prepex.study.study import Study

# Who asks, in the log.
ACTOR = "race"
# Runs of a trial that fails again and again.
ATTEMPTS = 3
# Runs of each option after which a measure that one of them repeats and others do not is given up.
PATIENT_ROUNDS = 10
LAST = 2**53 - 1


class FailedTrialError(InputError):
    """A trial failed, and that is no outcome."""

    __module__ = "prepex"


class Book:
    """Of one race; `spec` is what must be the same when it goes on."""

    def __init__(
        self, question: Question, storage: str | os.PathLike[str], name: str, spec: Mapping[str, Any], journal: Journal
    ) -> None:
        self.question, self.storage, self.name, self.journal = question, storage, name, journal
        self.opening = Opening(question, name, journal)
        self.study: Study | None = None
        self.families: dict[str, Family] = {}
        self.watch = Watch()
        self.values: dict[str, dict[str, list[float]]] = {option: {} for option in question.options}
        self.failures: dict[str, list[str]] = {}
        self._again: list[Task] = []
        # Failures of a trial: since the race was started, and ever.
        self._attempts: Counter[tuple[str, int]] = Counter()
        self._failed: Counter[tuple[str, int]] = Counter()
        # Outcomes that a study without noise cannot take, by token.
        self._held: dict[str, dict[str, Any]] = {}
        self._out = 0
        self._done = False
        # The last forecast, made some outcomes ago.
        self.ahead: Forecast | None = None
        require_same_spec(self.opening, storage, name, spec)
        self._load()

    # Where it stands when it begins

    def _load(self) -> None:
        for entry in self.journal.of("failed"):
            if entry["option"] in self.values:
                self.failures.setdefault(entry["option"], []).append(entry["words"])
            if "trial" in entry:
                self._failed[entry["trial"], entry["number"]] += 1
        self.watch.times = [entry["value"] for entry in self.journal.of("reference")]
        with suppress(NoStudyError):
            if "://" in str(self.storage) or Path(self.storage).exists():
                self.study = Study.open(self.storage, self.opening.name)
        if self.study is not None:
            require_same_settings(self.study, self.question, self.storage, self.name)
        if self.study is not None or self.opening.complete:
            self._begin()
        else:
            for entry in self.opening.told.values():
                self._note(entry["option"], entry["values"])

    def _begin(self) -> None:
        """The study, made if need be, with what it begins with; killed anywhere in here, it is done again."""
        if self.study is None:
            settings = self.question.settings(self.opening.families())
            self.study = Study.create(self.storage, self.opening.name, settings, actor=ACTOR)
        # Without its journal a study that is still empty has a pilot of its own.
        if self.opening.size and self.opening.complete and not self.study.status().imported:
            self._import()
        self.families = families_of(settings_of(self.study), self.question.objectives)
        self.values = {option: {} for option in self.question.options}
        for seen in self.study.observations(0, LAST)[0]:
            if seen.state == "told":
                self._note(seen.arm, seen.values)
        held = {entry["token"]: entry for entry in self.journal.of("held")}
        out = [pull for pull in self.study.pulls() if pull.state in ("out", "partly told", "late")]
        self._held = {pull.token: held[pull.token] for pull in out if pull.token in held}
        self._again = [_task(pull.arm, pull.token) for pull in out if pull.token not in held]
        self._done = self.study.done
        self._choose_reference()
        self._settle_held()

    def _import(self) -> None:
        assert self.study is not None
        names = self.question.objectives
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "first rounds.csv"
            rows = self.opening.rows()
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["option", *names])
                writer.writerows([option, *(repr(float(values[name])) for name in names)] for option, values in rows)
            try:
                self.study.import_csv(path, arm="option", actor=ACTOR)
            except InputError as error:
                # The file is nobody's business: what stood in it is.
                self.study.close()
                line = re.search(r"line (\d+): ", str(error))
                where = "the first rounds" if line is None else f"option {rows[int(line[1]) - 2][0]!r}, first rounds"
                words = str(error).replace(f"{path}, ", "").replace(line[0] if line else "", "")
                raise FailedTrialError(f"{where}: {words.replace(str(path), 'the table')}") from None

    # Trials

    def next(self, n: int) -> list[Task]:
        """At most n more trials to run now."""
        found: list[Task] = []
        while len(found) < n and (task := self._one()) is not None:
            found.append(self._drawn(task))
            self._out += 1
        return found

    def _drawn(self, task: Task) -> Task:
        """The same trial; one that is tried again, now or in a race that goes on, with another seed and input."""
        if self.question.on_failure != "retry":
            return task
        return replace(task, attempt=self._failed[task.kind, task.number])

    def _one(self) -> Task | None:
        if self._again and not self.done:
            return self._again.pop(0)
        if self._held or self.done:
            return None
        if self.watch.due():
            return Task(self.watch.option or "", "reference", len(self.watch.times))
        if self.study is None:
            return self.opening.next()
        try:
            ticket = self.study.ask(actor=ACTOR, new=True)
        except BlockedError:
            return None  # what is out must come back first
        return None if ticket is None else _task(ticket.arm, ticket.token)

    def take(self, task: Task, result: Result) -> None:
        """What came of a trial."""
        self._out -= 1
        if task.kind == "reference":
            self._take_reference(result)
            return
        values = dict(result.values)
        if result.problem is not None:
            values = {**self.question.failed, **values}
            if not self._counts(task, result, values):
                return
        told = {name: float(values[name]) for name in self.question.objectives}
        self._require_possible(task, told, result.words or "")
        if task.kind == "first":
            self.opening.add(task, told)
            self._note(task.option, told)
            if self.opening.complete:
                self._begin()
        else:
            self._tell(task, told)
            self._settle_held()

    def _require_possible(self, task: Task, told: Mapping[str, float], words: str) -> None:
        """Values that no study takes, or that the family of a measure cannot give, as 0.5 where there is yes or no."""
        output = f"; its last words: {words}" if words else ""
        for name, value in told.items():
            family = self.families.get(name) or self.question.families.get(name)
            advice = ""
            try:
                _checks.real_array(name, [value], ("value", 1))
                if family is not None:
                    advice = "; another family may fit"
                    family.check_values({name: value}, (name,))
            except InputError as error:
                raise FailedTrialError(f"option {task.option!r} failed: {error}{advice}{output}") from None
            seen = self.values[task.option].get(name)
            if isinstance(family, Exact) and name not in self.question.open_families and seen and seen[0] != value:
                raise FailedTrialError(
                    f"{name} of option {task.option!r} must be the same in every run, as its family exact says, "
                    f"got {seen[0]!r} and {value!r}{output}"
                )

    def _counts(self, task: Task, result: Result, values: Mapping[str, float]) -> bool:
        """Write a failure down. Does it count, with the values that stand for it?"""
        words = result.failure
        self.failures.setdefault(task.option, []).append(words)
        self.journal.add("failed", option=task.option, words=words, trial=task.kind, number=task.number)
        if self.question.failed and all(name in values for name in self.question.objectives):
            return True
        key = task.kind, task.number
        self._attempts[key] += 1
        self._failed[key] += 1
        if self.question.on_failure == "retry" and self._attempts[key] < ATTEMPTS:
            self._again.append(task)
            return False
        tried = f" {ATTEMPTS} times" if self.question.on_failure == "retry" else ""
        raise FailedTrialError(f"option {task.option!r} failed{tried}: {words}")

    def _tell(self, task: Task, told: dict[str, float]) -> None:
        assert self.study is not None
        for name, family in self.families.items():
            seen = self.values[task.option].get(name)
            if isinstance(family, Exact) and seen and seen[0] != told[name]:
                # Not for this study, which has it without noise: kept until those that are out are back.
                entry = {"token": task.token, "option": task.option, "values": told, "objective": name}
                self.journal.add("held", **entry)
                self._held[task.token] = entry
                return
        self.study.tell(task.token, told, actor=ACTOR)
        self._done = self.study.done
        self._note(task.option, told)
        self._choose_reference()

    def _note(self, option: str, values: Mapping[str, float]) -> None:
        for name in self.question.objectives:
            self.values[option].setdefault(name, []).append(float(values[name]))

    # A measure that looked constant and is not

    def _settle_held(self) -> None:
        """The same race with noise on what varies: a new study of all outcomes so far, in the order of their pulls."""
        if not self._held or self._out or self._again or self.study is None:
            return
        entry = next(iter(self._held.values()))
        name, option = entry["objective"], entry["option"]
        seen = self.values[option][name]
        told = [(row.pull, row.arm, row.values) for row in self.study.observations(0, LAST)[0] if row.state == "told"]
        told += [(_task("", token).number, held["option"], held["values"]) for token, held in self._held.items()]
        rows = [(arm, values) for _, arm, values in sorted(told, key=lambda row: row[0])]
        words = (
            f"{name} of {option!r} was {seen[0]:,.12g} in {len(seen)} runs, then {entry['values'][name]:,.12g}: "
            "it is not constant. From now on it is compared as a number with noise; all outcomes so far are kept."
        )
        self.study.close()
        self.study = None
        self.journal.add("varies", objective=name, words=words, rows=rows)
        self._begin()

    def require_variation(self) -> None:
        """Refuse to go on where a variance will never be known: an option repeats what varies in others."""
        for name, family in self.families.items():
            own = isinstance(family, LogNormal) or (isinstance(family, Gaussian) and family.unknown)
            rows = {option: self.values[option].get(name, []) for option in self.question.options}
            still = [option for option, seen in rows.items() if len(seen) >= PATIENT_ROUNDS and len(set(seen)) == 1]
            if not own or getattr(family, "shared", False) or not still or not self._held_up():
                continue
            if all(len(set(seen)) == 1 for seen in rows.values()):
                continue
            option, seen = still[0], rows[still[0]]
            failed = len(self.failures.get(option, ())) >= len(seen)
            always = ", as it always fails (a race without it tells the others apart)" if failed else ""
            families = f"{name}=lognormal(shared)" if isinstance(family, LogNormal) else f"{name}=shared"
            known = "" if isinstance(family, LogNormal) else f" or {name}=gaussian(VARIANCE)"
            raise InputError(
                f"{name} must vary in every option to be compared as a number of unknown variance, got "
                f"{seen[0]:,.12g} in all {len(seen)} runs of {option!r}{always}, while others vary: leave the option "
                f"out, or say its family, {families} (one variance for all options){known}"
            )

    def _held_up(self) -> bool:
        """Does an option that never varies keep the study from its end?"""
        ahead = None if self.study is None or self.done else self.study.status().forecast
        return ahead is not None and ahead.never is not None

    def look_ahead(self, seconds: float) -> None:
        """A new forecast, if there is machine code for it; it takes about so long."""
        if self.study is not None and not self.done:
            self.ahead = self.study.forecast(seconds=seconds, wait=False) or self.ahead

    @property
    def out(self) -> int:
        """Trials that are running."""
        return self._out

    # The machine

    @property
    def timed(self) -> str | None:
        """The objective that is a time, if there is one."""
        return next((name for name in self.question.objectives if self.question.units.get(name) == "s"), None)

    def _choose_reference(self) -> None:
        """The quickest option, once all were run."""
        name = self.timed
        if name is None or self.watch.option is not None or not all(self.values.values()):
            return
        means = {option: float(np.mean(np.log(seen[name]))) for option, seen in self.values.items()}
        self.watch.option = min(means, key=lambda option: means[option])

    def _take_reference(self, result: Result) -> None:
        name = self.timed
        if result.problem is None and name is not None and name in result.values:
            self.watch.times.append(float(result.values[name]))
            self.journal.add("reference", option=self.watch.option, value=self.watch.times[-1])

    @property
    def notes(self) -> list[str]:
        """What is worth saying at the end."""
        said = [entry["words"] for entry in self.journal.of("varies")]
        return said if self.watch.words is None else [*said, self.watch.words]

    @property
    def done(self) -> bool:
        """Is it settled? Not while there is an outcome that its study cannot take."""
        return self._done and not self._held

    def close(self) -> None:
        """Let go of the study and the journal."""
        if self.study is not None:
            self.study.close()
        self.journal.close()


def _task(option: str, token: str) -> Task:
    return Task(option, "pull", int(token.partition("-")[0]), token)
