"""Which pulls are out, and in which order the outcomes enter the statistics.

Outcomes enter in the order in which the pulls were asked for, each waiting for those before it: safe whatever the
delays depend on. A pull gives up its place when it is voided or its lease ends; told later, it enters on arrival.
There is no clock and no database here, so a log gives the same entries anywhere.

Legend
    pull      the position of the event that asked for it (or imported it): its place in the order
    queue     pulls that keep their place, in order
    lapsed    its lease has ended
    n         1, or the outcomes of an imported summary, whose outcome is their mean; it enters as a whole
    key       a caller's name for a request, by which it can be repeated
    worker    who asked, where no name was given (worker.py)
    imported  it was no trial of this study
    entry     (pull, arm, outcome, n), as the Experiment is told it
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from heapq import heappop, heappush
from typing import Any, NamedTuple

from prepex.study.events import Event
from prepex.study.words import DAY, moment

# Requests whose keys are remembered.
KEYS = 1000


class Entry(NamedTuple):
    """An outcome that enters."""

    pull: int
    arm: int
    outcome: tuple[float, ...]
    n: int = 1


@dataclass(slots=True)
class Pull:
    """A pull that has not entered."""

    token: str
    arm: int
    actor: str
    time: str
    values: dict[str, float] = field(default_factory=dict)
    lapsed: bool = False
    n: int = 1
    worker: str = ""
    imported: bool = False


class Line:
    """All pulls that have not entered yet, and counts of what has happened.

    >>> from prepex.study.events import seal
    >>> def event(position, kind, pull, **data):
    ...     return seal(position, "", kind, time="", actor="", version="", pull=pull, data=data)
    >>> line = Line(("gain",), n_arms=2)
    >>> line.apply(event(1, "asked", 1, token="x", arm=0)), line.apply(event(2, "asked", 2, token="y", arm=1))
    ([], [])
    >>> line.apply(event(3, "told", 2, outcome={"gain": 5.0}))     # waits for the pull before it
    []
    >>> [entry.arm for entry in line.apply(event(4, "told", 1, outcome={"gain": 3.0}))]
    [0, 1]
    """

    def __init__(self, objectives: tuple[str, ...], n_arms: int) -> None:
        self.objectives, self.n_arms = objectives, n_arms
        self.pulls: dict[int, Pull] = {}
        self.queue: deque[int] = deque()
        # Outcomes of each arm that keep their place: out, partly told, or waiting.
        self.pending = [0] * n_arms
        self.tally = dict.fromkeys(("asked", "imported", "voided", "expired", "late", "corrected"), 0)
        # (actor, key) of the latest requests that had one, and the pulls that they were given.
        self.keys: dict[tuple[str, str], list[int]] = {}
        self._backs: list[tuple[int, str]] = []

    def complete(self, pull: Pull) -> bool:
        """Has every objective been told?"""
        return len(pull.values) == len(self.objectives)

    def out(self) -> int:
        """Pulls that keep their place and are not told in full."""
        return sum(not pull.lapsed and not self.complete(pull) for pull in self.pulls.values())

    def open_pulls(self, actor: str) -> list[int]:
        """Those of an actor that keep their place and are not told in full, in order."""
        mine = ((k, self.pulls[k]) for k in self.queue if self.pulls[k].actor == actor)
        return [k for k, pull in mine if not self.complete(pull)]

    def waiting(self) -> int:
        """Outcomes told in full that wait for a pull before them."""
        return sum(pull.n for pull in self.pulls.values() if self.complete(pull))

    def trials_waiting(self) -> int:
        """Of those, what was asked for here: imports say nothing about how the work goes."""
        return sum(not pull.imported and self.complete(pull) for pull in self.pulls.values())

    def changes_the_past(self, event: Event) -> bool:
        """Does it amend an outcome that has entered, or the budget?"""
        return event.kind == "extended" or (event.kind in ("corrected", "voided") and event.pull not in self.pulls)

    def set_back(self, position: int, time: str) -> None:
        """The clock went back to `time` at this position: pulls that seem to come from the future were asked for then.

        Noted only; `settle` does it, for all of many times at once.
        """
        self._backs.append((position, time))

    def settle(self) -> None:
        """Set the times of pulls back. In groups, which only grow: no pull is moved again and again."""
        if not self._backs:
            return
        later: list[tuple[int, int, list[Pull]]] = []
        asked = deque(self.pulls.items())
        for at, (position, time) in enumerate(self._backs):
            while asked and asked[0][0] <= position:
                number, pull = asked.popleft()
                heappush(later, (-moment(pull.time), number, [pull]))
            moved: list[Pull] = []
            while later and -later[0][0] - moment(time) > 1e6 * DAY:
                group = heappop(later)[2]
                small, moved = sorted((group, moved), key=len)
                moved += small
            if moved:
                # Numbers of pulls are not negative.
                heappush(later, (-moment(time), -1 - at, moved))
        for _, number, group in later:
            for pull in group if number < 0 else ():
                pull.time = self._backs[-1 - number][1]
        self._backs = []

    def apply(self, event: Event) -> list[Entry]:
        """The outcomes that enter with this event, which must not change the past."""
        kind, data = event.kind, event.data
        if kind == "config":
            return []
        assert event.pull is not None
        if kind in ("asked", "imported"):
            values = dict(data.get("outcome", {}))
            n, worker, imported = data.get("n", 1), data.get("worker", ""), kind == "imported"
            if imported and not self.queue:
                # Nothing to wait for; a million of them need no place in the queue.
                self.tally[kind] += n
                return [Entry(event.pull, data["arm"], tuple([values[name] for name in self.objectives]), n)]
            pull = Pull(data["token"], data["arm"], event.actor, event.time, values, False, n, worker, imported)
            self.pulls[event.pull] = pull
            self.queue.append(event.pull)
            if "key" in data:
                self._remember((event.actor, data["key"]), event.pull)
            self.pending[data["arm"]] += n
            self.tally[kind] += n
            return self._release()
        pull = self.pulls[event.pull]
        if kind == "voided":
            self._give_up(event.pull)
            del self.pulls[event.pull]
            self.tally[kind] += 1
        elif kind == "expired":
            self._give_up(event.pull)
            pull.lapsed = True
            self.tally[kind] += 1
        else:
            pull.values.update(data["outcome"])
            self.tally["corrected"] += kind == "corrected"
            if pull.lapsed and self.complete(pull):
                self.tally["late"] += 1
                return [self._enter(event.pull)]
        return self._release()

    def _remember(self, request: tuple[str, str], number: int) -> None:
        self.keys.setdefault(request, []).append(number)
        if len(self.keys) > KEYS:
            del self.keys[next(iter(self.keys))]

    def _give_up(self, number: int) -> None:
        pull = self.pulls[number]
        if not pull.lapsed:
            self.queue.remove(number)
            self.pending[pull.arm] -= pull.n

    def _enter(self, number: int) -> Entry:
        pull = self.pulls.pop(number)
        return Entry(number, pull.arm, tuple(pull.values[name] for name in self.objectives), pull.n)

    def _release(self) -> list[Entry]:
        entered = []
        while self.queue and self.complete(self.pulls[self.queue[0]]):
            number = self.queue.popleft()
            self.pending[self.pulls[number].arm] -= self.pulls[number].n
            entered.append(self._enter(number))
        return entered

    def to_document(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {
            "pulls": {str(number): asdict(pull) for number, pull in self.pulls.items()},
            "queue": list(self.queue),
            "pending": self.pending,
            "tally": self.tally,
            "keys": [[*request, pulls] for request, pulls in self.keys.items()],
        }

    def load(self, given: Mapping[str, Any]) -> None:
        """Back."""
        self.pulls = {int(number): Pull(**pull) for number, pull in given["pulls"].items()}
        self.queue = deque(given["queue"])
        self.pending = list(given["pending"])
        self.tally = dict(given["tally"])
        self.keys = {(actor, key): pulls for actor, key, pulls in given["keys"]}


def amend(line: Line, entries: dict[int, Entry], event: Event) -> None:
    """Change the past: a corrected outcome keeps its place; a voided one leaves it, and others keep theirs."""
    if event.kind == "extended":
        return
    assert event.pull is not None
    entry = entries.pop(event.pull) if event.kind == "voided" else entries[event.pull]
    line.tally[event.kind] += 1
    if event.kind == "corrected":
        known = dict(zip(line.objectives, entry.outcome, strict=True)) | event.data["outcome"]
        outcome = tuple(known[name] for name in line.objectives)
        entries[event.pull] = entry._replace(outcome=outcome)


def list_entries(line: Line, events: Iterable[Event]) -> dict[int, Entry]:
    """Every entry of a whole log, in order, amended ones with what they were corrected to; `line` ends at its end."""
    entries: dict[int, Entry] = {}
    for event in events:
        if line.changes_the_past(event):
            amend(line, entries, event)
            continue
        for entry in line.apply(event):
            entries[entry.pull] = entry
    return entries
