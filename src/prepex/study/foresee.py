"""A change of the past, computed before it is written.

An amended outcome changes everything after it, so the state must be computed anew from the whole log: some ten
seconds of computing for a million outcomes. That happens here without holding the lock of the study: the state with the
amendment is prepared from the log as it is, and inside the transaction only what came meanwhile is added.
"""

from collections.abc import Mapping
from typing import Any

from prepex.study.calm import calm
from prepex.study.config import Config
from prepex.study.events import Event
from prepex.study.line import Entry, amend, list_entries
from prepex.study.log import Log
from prepex.study.state import State


class Foreseen:
    """The state with one outcome, of those that have entered, amended, or with a longer budget."""

    @calm()
    def __init__(self, log: Log, kind: str, pull: int | None, data: Mapping[str, Any]) -> None:
        rest = log.since(-1)
        first = next(rest)
        self.kind, self.pull, self.data = kind, pull, dict(data)
        self.state = State(Config.read(first.data), first)
        entries = list_entries(self.state.line, self.state.noted(rest))
        if kind == "extended":
            self.state.config = self.state.config.extended(data["max_pulls"])
        self.state.experiment = self.state.config.experiment()
        # An outcome that was voided meanwhile cannot be amended any more.
        self.useful = kind == "extended" or pull in entries
        if self.useful:
            amend(self.state.line, entries, Event(-1, "", kind, "", "", "", pull, data, ""))
            self.state.enter(entries.values())
            self.state.forget()

    def settle(self, log: Log, amendment: Event) -> State | None:
        """The state at the end of the log, which has the amendment now; None if more of the past has changed."""
        state, entered = self.state, list[Entry]()
        wanted = (self.kind, self.pull, self.data)
        if not self.useful or (amendment.kind, amendment.pull, dict(amendment.data)) != wanted:
            return None
        for event in state.noted(log.since(state.position)):
            if event.previous != state.head:
                return None
            if event.position == amendment.position:
                continue
            if state.line.changes_the_past(event):
                return None
            entered += state.line.apply(event)
        state.enter(entered)
        return state
