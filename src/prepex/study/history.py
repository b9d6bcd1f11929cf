"""The evidence along a study: what it had reached, and what it needed, after 1, 2, ... outcomes.

Legend
    entry     an outcome, or a summary of several, that counts, in its place of the order (line.py)
    point     (n, reached, needed) after n outcomes; reached is None before it means anything
    mark      the entries at a point
    stride    entries between two points: a power of two, so that a longer study keeps every other point
"""

import threading
import time
from array import array
from collections.abc import Iterable, Iterator
from itertools import compress, islice
from typing import NamedTuple

import numpy as np

from prepex.experiment import Experiment
from prepex.study.config import Config
from prepex.study.events import Event
from prepex.study.line import Entry, Line
from prepex.study.log import Log
from prepex.study.state import tell_all

# Most points; events or entries that are taken between two looks at the clock.
POINTS, SLICE = 200, 4096
# From here on a compiled loop takes the entries.
LONG = 1024


class Point(NamedTuple):
    """One place on the curve."""

    n: int
    reached: float | None
    needed: float


class Past(NamedTuple):
    """The curve, the outcomes it has followed, and whether these are all."""

    points: tuple[Point, ...]
    n_pulls: int
    complete: bool


class History:
    """Follows a log. It has an Experiment of its own, so that each entry is told once, however often one looks.

    >>> from prepex import Gaussian
    >>> from prepex.study.line import Entry
    >>> settings = Experiment(2, 1, family=Gaussian(variance=1.0), threshold="heuristic").settings()
    >>> history = History(Config("dose", settings, None))
    >>> history.enter([Entry(1, 0, (1.0,)), Entry(2, 1, (0.0,)), Entry(3, 0, (1.2,))])
    >>> history.advance()
    True
    >>> [(point.n, point.reached is not None) for point in history.points]
    [(1, False), (2, True), (3, True)]
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.experiment = config.experiment()
        labels = self.experiment.labels
        self.line = Line(labels.objectives, len(labels.arms))
        self.position, self.head = -1, ""
        self.stride, self.points, self._marks = 1, list[Point](), list[int]()
        self._pulls, self._arms, self._values, self._sizes = array("q"), array("q"), array("d"), array("q")
        self._told = 0

    @property
    def n_entries(self) -> int:
        """Entries that were read."""
        return len(self._pulls)

    def read(self, events: Iterable[Event], patience: float = np.inf) -> bool:
        """Take events that follow the last one, for so many seconds; True when there are no more."""
        rest, end = iter(events), time.monotonic() + patience
        while chunk := list(islice(rest, SLICE)):
            for event in chunk:
                self._read(event)
            self.position, self.head = chunk[-1].position, chunk[-1].hash
            if time.monotonic() > end:
                return False
        return True

    def _read(self, event: Event) -> None:
        if not self.line.changes_the_past(event):
            self.enter(self.line.apply(event))
            return
        # Amended: what came after it is told again.
        at, width = self._pulls.index(event.pull or 0), len(self.line.objectives)
        if event.kind == "voided":
            del self._pulls[at], self._arms[at], self._sizes[at], self._values[at * width : (at + 1) * width]
        else:
            for name, value in event.data["outcome"].items():
                self._values[at * width + self.line.objectives.index(name)] = value
        # Points may be ahead of what was told since an amendment just before this one.
        self._keep([mark <= at for mark in self._marks])
        if at < self._told:
            self.experiment, self._told = self.config.experiment(), 0

    def enter(self, entries: Iterable[Entry]) -> None:
        """Note entries; `advance` tells them."""
        for entry in entries:
            self._pulls.append(entry.pull)
            self._arms.append(entry.arm)
            self._sizes.append(entry.n)
            self._values.extend(entry.outcome)

    def _keep(self, kept: list[bool]) -> None:
        self.points, self._marks = list(compress(self.points, kept)), list(compress(self._marks, kept))

    def advance(self, patience: float = np.inf) -> bool:
        """Tell the entries that were read, for so many seconds; True when all are told."""
        end = time.monotonic() + patience
        for stop in self._stops():
            self._tell(stop)
            if stop % self.stride == 0 and (not self._marks or self._marks[-1] < stop):
                self.points.append(_look(self.experiment))
                self._marks.append(stop)
            if time.monotonic() > end and stop < self.n_entries:
                return False
        # What was told is kept here already.
        self.experiment.restore(self.experiment.snapshot())
        return True

    def _stops(self) -> Iterator[int]:
        while self.n_entries > POINTS * self.stride:
            self.stride *= 2
        self._keep([mark % self.stride == 0 for mark in self._marks])
        at = self._told
        while at < self.n_entries:
            at = min(at - at % self.stride + self.stride, at + SLICE, self.n_entries)
            yield at

    def _tell(self, stop: int) -> None:
        start, width = self._told, len(self.line.objectives)
        rows = np.array(self._values[start * width : stop * width]).reshape(-1, width)
        tell_all(self.experiment, self._arms[start:stop], rows, self._sizes[start:stop], LONG)
        self._told = stop

    def past(self, end: int) -> Past:
        """What is known, of a log that ends at the position `end`."""
        latest = [_look(self.experiment)] if self._told % self.stride else []
        whole = self.position == end and self._told == self.n_entries
        return Past((*self.points, *latest), self.experiment.n_pulls, whole)


class Lookback:
    """A History kept between looks. Threads take turns; those that write need not wait."""

    def __init__(self) -> None:
        self._history: History | None = None
        self._lock = threading.Lock()

    def look(self, log: Log, patience: float) -> Past:
        """Go on to the end of the log, for about so many seconds at most."""
        with self._lock:
            found, end = self._history, time.monotonic() + patience
            if found is None or log.hash_at(found.position) != found.head:
                first = log.at(0)
                assert first is not None
                found = self._history = History(Config.read(first.data))
            if found.read(log.since(found.position), patience):
                found.advance(end - time.monotonic())
            return found.past(log.position)


def _look(experiment: Experiment) -> Point:
    reached = experiment.reached
    return Point(experiment.n_pulls, float(reached) if np.isfinite(reached) else None, float(experiment.needed))
