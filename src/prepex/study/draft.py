"""The events of a transaction that is under way."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from prepex import __version__
from prepex.errors import InputError, shown
from prepex.study import clock, words
from prepex.study.events import Event, seal_text, trusted
from prepex.study.log import Log
from prepex.study.state import PastChangedError, State


class Case:
    """All that is known of one pull."""

    @trusted()
    def __init__(self, events: Sequence[Event]) -> None:
        born = events[0]
        assert born.pull is not None
        self.pull: int = born.pull
        self.arm: int = born.data["arm"]
        self.token: str = born.data["token"]
        # Outcomes; the values are their means.
        self.n: int = born.data.get("n", 1)
        self.values: dict[str, float] = dict(born.data.get("outcome", {}))
        self.lapsed = False
        self.voided: str | None = None
        for event in events[1:]:
            self.values.update(event.data.get("outcome", {}))
            self.lapsed = self.lapsed or event.kind == "expired"
            if event.kind == "voided":
                self.voided = event.data["reason"]

    def require_counting(self) -> None:
        """It must not be voided."""
        if self.voided is not None:
            raise InputError(f"token must not be voided, got {self.token!r}, voided because: {self.voided}")

    def correction(self, values: Mapping[str, float]) -> dict[str, float]:
        """What `values` would change."""
        self.require_counting()
        for name in values:
            if name not in self.values:
                raise InputError(
                    f"outcome must have been told before it is corrected, got no {name!r} of {self.token!r}"
                )
        return {name: value for name, value in values.items() if self.values[name] != value}


def find_case(log: Log, token: str, drafted: Sequence[Event] = ()) -> Case:
    """The pull of a token, with everything that was said about it, in a draft too."""
    known: list[Event] = []
    if isinstance(token, str) and re.match(r"[0-9]{1,15}-", token):
        number = int(token.partition("-")[0])
        if number <= log.position + len(drafted):
            known = log.of_pull(number) + [event for event in drafted if event.pull == number]
    if not known or known[0].data.get("token") != token:
        raise InputError(f"token must be one that this study handed out, got {shown(token)}")
    return Case(known)


class Draft:
    """Events to be written, applied to the state as they are added."""

    def __init__(self, log: Log, state: State, actor: str) -> None:
        self.log, self.state, self.actor = log, state, actor
        self.events: list[Event] = []
        self.texts: list[str] = []
        # The log's time does not run backwards, unless it was far ahead: then a clock was wrong, and is right again.
        now = clock.database_time(log.connection)
        moved = words.apart(now, state.time)
        self.time = now if moved > 0 or moved < -words.DAY else state.time
        # After a jump ahead, leases are judged by the last time that is sure; at the next event they go by the clock.
        self._sure = state.time if moved > words.DAY else self.time
        self.past_changed = False
        self._head = log.head
        self._held: list[Event] | None = None

    @property
    def next(self) -> int:
        """The position of the next event."""
        return self.log.position + len(self.events) + 1

    def add(self, kind: str, pull: int | None, data: Mapping[str, Any]) -> None:
        """One more."""
        made = {"time": self.time, "actor": self.actor, "version": __version__}
        event, text = seal_text(self.next, self._head, kind, pull=pull, data=data, **made)
        self.events.append(event)
        self.texts.append(text)
        self._head = event.hash
        if self._held is not None:
            self._held.append(event)
        elif not self.past_changed:
            try:
                self.state.apply([event])
            except PastChangedError:
                self.past_changed = True

    @contextmanager
    def together(self) -> Iterator[None]:
        """Many events that do not change the past are applied at once."""
        self._held = []
        yield
        held, self._held = self._held, None
        self.state.apply(held)

    def expire(self) -> None:
        """Leases that have ended are events like any other."""
        lease = self.state.config.lease
        if lease is None:
            return
        line, latest = self.state.line, words.later(self._sure, -lease)
        over = [k for k in line.queue if line.pulls[k].time < latest and not line.complete(line.pulls[k])]
        for number in over:
            self.add("expired", number, {"token": line.pulls[number].token})

    def find(self, token: str) -> Case:
        """The pull of a token."""
        return find_case(self.log, token, self.events)

    def same_of(self, case: Case, values: Mapping[str, float]) -> list[tuple[Case, dict[str, float]]]:
        """The other pulls of the same option that count and say something else than `values`, and what is to change."""
        about: dict[int, list[Event]] = {}
        for event in self.log.since(-1) if values else ():
            if event.pull is not None:
                about.setdefault(event.pull, []).append(event)
        found = []
        for number, events in about.items():
            other = Case(events)
            if other.arm == case.arm and number != case.pull and other.voided is None:
                told = {name: value for name, value in values.items() if other.values.get(name, value) != value}
                found += [(other, told)] if told else []
        return found
