"""The state of a study at a position of its log: the Line and the Experiment together, and checkpoints of both."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from prepex import __version__
from prepex.experiment import EarlySummaryError, Experiment
from prepex.study.config import Config
from prepex.study.events import Event
from prepex.study.line import Entry, Line, list_entries

# From here on a compiled loop takes the outcomes; it is worth its compilation.
LONG = 20_000
# A checkpoint with more pulls than this would cost more than it saves.
MOST_PULLS = 50_000


class PastChangedError(Exception):
    """An outcome that had entered was amended, or the log is another one: the state must be computed anew."""


class State:
    """All that a log says, up to its event `position` with the hash `head`."""

    def __init__(self, config: Config, first: Event) -> None:
        self.config = config
        self.experiment = config.experiment()
        labels = self.experiment.labels
        self.line = Line(labels.objectives, len(labels.arms))
        self.position, self.head, self.time = first.position, first.hash, first.time

    @classmethod
    def replay(cls, events: Iterable[Event]) -> "State":
        """From the whole log."""
        rest = iter(events)
        first = next(rest, None)
        if first is None or first.kind != "config":
            raise ValueError("log must begin with a config, got none")
        state = cls(Config.read(first.data), first)
        state.enter(list_entries(state.line, state.noted(rest)).values())
        state.forget()
        return state

    def forget(self) -> None:
        """The outcomes are in the log: no need to keep them in memory as well."""
        self.experiment.restore(self.experiment.snapshot())

    def noted(self, events: Iterable[Event]) -> Iterable[Event]:
        """The same events; the state's position follows."""
        for event in events:
            yield event
            self.position, self.head, self.time = event.position, event.hash, max(self.time, event.time)

    def apply(self, events: Iterable[Event]) -> None:
        """What has happened since. An event that changes the past is refused, and the state is then of no use."""
        entered: list[Entry] = []
        for event in self.noted(events):
            # Another log under the same name (deleted and made anew) does not continue this one.
            if event.previous != self.head or self.line.changes_the_past(event):
                raise PastChangedError
            entered += self.line.apply(event)
        self.enter(entered)

    def enter(self, entries: Iterable[Entry]) -> None:
        """Tell the experiment. A summary in the pilot is refused, in the line too: others must never find it stuck."""
        _tell(self.experiment, list(entries))
        if self.experiment.missing_before_summary and any(pull.n > 1 for pull in self.line.pulls.values()):
            raise EarlySummaryError("a summary that waits must come after the pilot, got one that would not")

    # Checkpoints

    @property
    def worth_saving(self) -> bool:
        """Is it small?"""
        return len(self.line.pulls) <= MOST_PULLS

    def save(self) -> bytes:
        """A checkpoint: this state, bit for bit."""
        head = {"version": __version__, "line": self.line.to_document(), "time": self.time}
        return json.dumps(head).encode() + b"\n" + self.experiment.snapshot()

    @classmethod
    def load(cls, first: Event, position: int, head: str, saved: bytes) -> "State":
        """Back. A checkpoint of another version, or a damaged one, raises ValueError."""
        text, _, snapshot = saved.partition(b"\n")
        try:
            given = json.loads(text)
            if given["version"] != __version__:
                raise ValueError(f"checkpoint must be of version {__version__}, got {given['version']}")
            state = cls(Config.read(first.data), first)
            state.line.load(given["line"])
            state.experiment.restore(snapshot)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"checkpoint must be as it was written, got a damaged one: {error!r}") from None
        state.position, state.head, state.time = position, head, given["time"]
        return state

    def fresh_experiment(self, entries: Iterable[Entry]) -> Experiment:
        """Another experiment of this study, told these entries."""
        experiment = self.config.experiment()
        _tell(experiment, list(entries))
        return experiment


def _tell(experiment: Experiment, entries: list[Entry]) -> None:
    arms, rows, sizes = ([getattr(entry, name) for entry in entries] for name in ("arm", "outcome", "n"))
    tell_all(experiment, arms, rows, sizes, LONG)


def tell_all(experiment: Experiment, arms: Any, rows: Any, sizes: Sequence[int], long: int) -> None:
    """Outcomes and summaries in this order; so many, or more, by a compiled loop."""
    if len(sizes) >= long:
        experiment.tell_log(arms, rows, sizes)
        return
    for single, group in groupby(zip(arms, rows, sizes, strict=True), key=lambda told: told[2] == 1):
        if single:
            experiment.tell_many([(arm, row) for arm, row, _ in group])
        else:
            for arm, row, n in group:
                experiment.tell_summary(arm, n, row)
