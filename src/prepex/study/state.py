"""The state of a study at a position of its log: the Line and the Experiment together, and checkpoints of both."""

import json
from collections.abc import Iterable
from contextlib import nullcontext
from typing import NamedTuple

from prepex import __version__
from prepex._kernels import engine
from prepex.errors import InputError
from prepex.experiment import EarlySummaryError, Experiment
from prepex.study import words
from prepex.study.calm import calm
from prepex.study.config import Config
from prepex.study.events import Event
from prepex.study.history import Curve
from prepex.study.line import Entry, Line, list_entries
from prepex.study.log import Log, StrayCheckpointError

# From here on a compiled loop takes the outcomes; it is worth its compilation.
LONG = 20_000
# A checkpoint with more pulls than this would cost more than it saves.
MOST_PULLS = 50_000


class PastChangedError(Exception):
    """An outcome that had entered was amended, or the log is another one: the state must be computed anew."""


class Jump(NamedTuple):
    """The latest place of the log at which the time moved by more than a day."""

    position: int
    before: str
    after: str


class State:
    """All that a log says, up to its event `position` with the hash `head`."""

    def __init__(self, config: Config, first: Event) -> None:
        self.config = config
        self.experiment = config.experiment()
        labels = self.experiment.labels
        self.line, self.curve = Line(labels.objectives, len(labels.arms)), Curve()
        self.position, self.head, self.time = first.position, first.hash, first.time
        self.jump: Jump | None = None

    @classmethod
    @calm()
    def replay(cls, events: Iterable[Event]) -> "State":
        """From the whole log."""
        rest = iter(events)
        first = next(rest, None)
        if first is None or first.kind != "config":
            raise InputError("log must begin with a config, got none")
        state = cls(Config.read(first.data), first)
        entries = list_entries(state.line, state.noted(rest)).values()
        state.line.settle()
        # A budget that was extended counts from the beginning.
        state.experiment = state.config.experiment()
        state.enter(entries)
        state.forget()
        return state

    def forget(self) -> None:
        """The outcomes are in the log: no need to keep them in memory as well."""
        self.experiment.restore(self.experiment.snapshot())

    def noted(self, events: Iterable[Event]) -> Iterable[Event]:
        """The same events; the state's position follows."""
        for event in events:
            yield event
            if event.kind == "extended":
                self.config = self.config.extended(event.data["max_pulls"])
            if event.time[:10] != self.time[:10]:
                self._notice(event)
            self.position, self.head, self.time = event.position, event.hash, event.time

    def _notice(self, event: Event) -> None:
        """More than a day since the event before, or back: the clock has jumped, or nobody was here."""
        apart = words.apart(event.time, self.time)
        if abs(apart) > words.DAY:
            self.jump = Jump(event.position, self.time, event.time)
        if apart < -words.DAY:
            self.line.set_back(event.position, event.time)

    def apply(self, events: Iterable[Event]) -> None:
        """What has happened since. An event that changes the past is refused, and the state is then of no use."""
        entered: list[Entry] = []
        for event in self.noted(events):
            # Another log under the same name (deleted and made anew) does not continue this one.
            if event.previous != self.head or self.line.changes_the_past(event):
                raise PastChangedError
            entered += self.line.apply(event)
        self.line.settle()
        self.enter(entered)

    def enter(self, entries: Iterable[Entry]) -> None:
        """Tell the experiment. A summary in the pilot is refused, in the line too: others must never find it stuck."""
        told = list(entries)
        long, at = len(told) >= LONG, 0
        # Its parts are small, and would be interpreted one after the other.
        with engine.waiting() if long else nullcontext():
            for size in self.curve.stops(len(told)):
                _tell(self.experiment, told[at : at + size], long)
                self.curve.look(self.experiment, size)
                at += size
        if self.experiment.missing_before_summary and any(pull.n > 1 for pull in self.line.pulls.values()):
            raise EarlySummaryError("a summary that waits must come after the pilot, got one that would not")

    # Checkpoints

    @property
    def worth_saving(self) -> bool:
        """Is it small?"""
        return len(self.line.pulls) <= MOST_PULLS

    def save(self) -> bytes:
        """A checkpoint: this state, bit for bit."""
        head = {
            "version": __version__,
            # Whose it is: bytes that were put in the place of others give themselves away.
            "of": [self.position, self.head],
            "line": self.line.to_document(),
            "curve": self.curve.to_document(),
            "time": self.time,
            "jump": self.jump,
            "max_pulls": self.experiment.max_pulls,
        }
        return json.dumps(head).encode() + b"\n" + self.experiment.snapshot()

    @classmethod
    def load(cls, first: Event, position: int, head: str, saved: bytes) -> "State":
        """Back. A checkpoint of another version raises InputError; one that is of another log or place, or is damaged,
        or does not add up, raises StrayCheckpointError."""
        text, _, snapshot = saved.partition(b"\n")
        try:
            given = json.loads(text)
            version, of = given["version"], given["of"]
        except Exception as error:  # whatever is wrong with it, the log is there
            raise StrayCheckpointError(f"checkpoint must be as it was written, got a damaged one: {error!r}") from None
        if version != __version__:
            raise InputError(f"checkpoint must be of version {__version__}, got {version}")
        if of != [position, head]:
            raise StrayCheckpointError(f"checkpoint must be of event {position} of this log, got one of {of}")
        try:
            config = Config.read(first.data)
            if given["max_pulls"] != config.settings["max_pulls"]:
                config = config.extended(given["max_pulls"])
            state = cls(config, first)
            state.line.load(given["line"])
            state.jump = given["jump"] and Jump(*given["jump"])
            state.curve = Curve.read(given["curve"])
            state.experiment.restore(snapshot)
            words.apart(given["time"], first.time)  # a time that there is
            fits = state._adds_up()
        except Exception as error:
            raise StrayCheckpointError(f"checkpoint must be as it was written, got a damaged one: {error!r}") from None
        if not fits:
            raise StrayCheckpointError("checkpoint must add up, got one whose outcomes are not those of its pulls")
        state.position, state.head, state.time = position, head, given["time"]
        return state

    @classmethod
    def resume(cls, first: Event | None, log: Log) -> "State | None":
        """From the checkpoint of the log and what came after; None if there is none."""
        saved = log.checkpoint()
        if saved is None or first is None:
            return None
        state = cls.load(first, *saved)
        state.apply(log.since(state.position))
        return state

    def _adds_up(self) -> bool:
        """Has every outcome that was asked for or imported entered, or is it in the line, or was it voided?"""
        tally, n = self.line.tally, self.experiment.n_pulls
        gone = tally["asked"] + tally["imported"] - sum(pull.n for pull in self.line.pulls.values()) - n
        # A summary is voided once, with all its outcomes.
        fits = gone == tally["voided"] or (tally["imported"] > 0 and gone > tally["voided"])
        return fits and int(self.experiment.counts.sum()) == n

    def fresh_experiment(self, entries: Iterable[Entry]) -> Experiment:
        """Another experiment of this study, told these entries."""
        experiment, told = self.config.experiment(), list(entries)
        _tell(experiment, told, len(told) >= LONG)
        return experiment


def _tell(experiment: Experiment, entries: list[Entry], long: bool) -> None:
    """Outcomes and summaries in this order; by a compiled loop where there are many."""
    _, arms, rows, sizes = zip(*entries, strict=True)
    experiment._replay(arms, rows, sizes, compiled=long)
