"""How the study of a race begins: the first rounds, the families that they decide, and what is imported first.

All of it is read off the journal, so that a race that was killed anywhere begins its study the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex.family import Exact, Family, Gaussian
from prepex.racing.journal import Journal
from prepex.racing.measures import decide
from prepex.racing.question import Question

Rows = list[tuple[str, Mapping[str, float]]]


@dataclass(frozen=True)
class Task:
    """One trial to run.

    kind     "first" (of the first rounds), "pull" (of the study), "reference" or "warmup", which count nowhere
    number   of its kind: with the seed of the race it makes the seed of the trial
    attempt  how often it failed before: a trial that is tried again draws another seed, and with it another input
    """

    option: str
    kind: str
    number: int
    token: str = ""
    attempt: int = 0

    def seed(self, seed: int) -> int:
        """Of this trial, the same whenever the same attempt is run again.

        >>> Task("a", "pull", 3).seed(0) == Task("a", "pull", 3).seed(0) != Task("a", "pull", 4).seed(0)
        True
        >>> Task("a", "pull", 3).seed(0) != Task("a", "pull", 3, attempt=1).seed(0)
        True
        """
        kinds = ("first", "pull", "reference", "warmup")
        drawn = [seed, kinds.index(self.kind), self.number, *([self.attempt] if self.attempt else [])]
        return int(np.random.SeedSequence(drawn).generate_state(1)[0])


class Opening:
    """Of one race, from its journal."""

    def __init__(self, question: Question, name: str, journal: Journal) -> None:
        self.question, self._name, self.journal = question, name, journal
        self.told: dict[int, dict[str, Any]] = {entry["number"]: entry for entry in journal.of("first")}
        self._begun = set(self.told)

    @property
    def size(self) -> int:
        """Trials of the first rounds; none where every family is known."""
        return self.question.rounds * len(self.question.options) if self.question.open_families else 0

    @property
    def complete(self) -> bool:
        """Are they all there?"""
        return len(self.told) >= self.size

    @property
    def name(self) -> str:
        """Of the study: another one when a measure turns out to vary."""
        varies = [entry["objective"] for entry in self.journal.of("varies")]
        return f"{self._name} ({', '.join(varies)} varies)" if varies else self._name

    def next(self) -> Task | None:
        """The next trial of the first rounds: every option once a round, in an order of its own."""
        K = len(self.question.options)
        for turn in range(self.size // K):
            order = np.random.default_rng(np.random.SeedSequence([self.question.seed, 7, turn])).permutation(K)
            for at, k in enumerate(order.tolist()):
                if turn * K + at not in self._begun:
                    self._begun.add(turn * K + at)
                    return Task(self.question.options[k], "first", turn * K + at)
        return None

    def add(self, task: Task, values: Mapping[str, float]) -> None:
        """What came of one."""
        self.told[task.number] = {"option": task.option, "values": dict(values)}
        self.journal.add("first", number=task.number, option=task.option, values=dict(values))

    def rows(self) -> Rows:
        """What the study begins with."""
        varies = self.journal.last("varies")
        if varies is not None:
            return [(option, values) for option, values in varies["rows"]]
        return [(self.told[n]["option"], self.told[n]["values"]) for n in range(self.size)]

    def families(self) -> dict[str, Family]:
        """Of the objectives that the first rounds decide."""
        found: dict[str, Family] = {}
        varies = {entry["objective"] for entry in self.journal.of("varies")}
        for name in self.question.open_families:
            seen: dict[str, list[float]] = {}
            for entry in self.told.values():
                seen.setdefault(entry["option"], []).append(entry["values"][name])
            family = decide([*seen.values()])
            # The value of a failure may be another one: as any other value, it lets noise in when it comes.
            if isinstance(family, Exact) and name in varies:
                family = Gaussian(variance="unknown")
            found[name] = family
        noisy = any(not isinstance(family, Exact) for family in (*found.values(), *self._declared()))
        if not noisy and self._tied():
            # What a few runs repeat may vary in the next: a guess must not say that two options are level for good.
            found = dict.fromkeys(found, Gaussian(variance="unknown"))
        return found

    def _declared(self) -> list[Family]:
        return [family for family in self.question.families.values() if family is not None]

    def _tied(self) -> bool:
        """Are two options level in everything?"""
        names, rows = self.question.objectives, self.told.values()
        values = {entry["option"]: tuple(entry["values"][name] for name in names) for entry in rows}
        return len(set(values.values())) < len(values)
