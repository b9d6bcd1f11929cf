"""The log of a study, for check.py: its chain of hashes, that prepex would have written every event, and the outcomes
in the order in which they count. Nothing but Python.

Legend
    pull      the position of the event that asked for it, or imported it
    queue     pulls that keep their place, in order; the first is not told in full
    block     (arm, means, n): the outcomes of a pull, one or a summary of n
"""

import hashlib
import json
import math
import re
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Any

from prepex.study.check_read import (
    LARGEST,
    LONGEST,
    LONGEST_EVENT,
    MOST,
    RefusedError,
    choice,
    fields,
    number,
    parse,
    refuse,
    same,
    text,
    whole,
)
from prepex.study.check_settings import in_support, require_settings

Block = tuple[int, list[float], int]
KINDS = ("config", "asked", "told", "corrected", "voided", "expired", "imported", "extended")
EVENT = ("position", "previous", "kind", "time", "actor", "version", "pull", "data", "hash")
# What the data of an event says, by its kind, and what it may say as well.
DATA = {
    "config": ("format", "name", "settings", "lease"),
    "asked": ("token", "arm"),
    "told": ("token", "outcome"),
    "corrected": ("token", "outcome", "reason"),
    "voided": ("token", "reason"),
    "expired": ("token",),
    "imported": ("token", "arm", "outcome", "source"),
    "extended": ("max_pulls", "reason"),
}
MORE = {"config": ("max_waiting",), "asked": ("key", "wanted", "worker"), "imported": ("digest", "n")}
# Seconds that a lease lasts at most.
LONGEST_LEASE = 1e9
MICRO, BEGIN = timedelta(microseconds=1), datetime(1, 1, 1, tzinfo=UTC)
# A clock that was ahead by more than this may be set back.
DAY = timedelta(days=1) // MICRO
GENESIS = "0" * 64
HEX, TIME = re.compile("[0-9a-f]{64}"), re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", re.ASCII)
TAIL, WORKER = re.compile("-[0-9a-f]{8}"), re.compile("[0-9a-f]{8}:[0-9]{1,20}:[0-9]{0,20}:[0-9]{1,20}")


def canonical(document: Any) -> str:
    """JSON in one way only."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(slots=True)
class Stamp:
    """A time of the log, in microseconds since the year 1; `moved`: set back to another."""

    at: int
    moved: "Stamp | None" = None

    def now(self) -> int:
        """As it is understood now. Each step is taken once: however often a clock went back, that takes no time."""
        last, here = self, self
        while last.moved is not None:
            last = last.moved
        while here.moved is not None:
            following, here.moved = here.moved, last
            here = following
        return last.at


@dataclass(slots=True)
class Pull:
    """What is known of one."""

    token: str
    arm: int
    n: int
    time: Stamp
    values: dict[str, float]
    lapsed: bool = False
    void: bool = False
    entered: bool = False


@dataclass
class Record:
    """A log, event by event; whatever prepex would not have written is refused."""

    config: dict[str, Any] = field(default_factory=dict)
    hashes: list[str] = field(default_factory=list)
    pulls: dict[int, Pull] = field(default_factory=dict)
    queue: deque[int] = field(default_factory=deque)
    order: list[int] = field(default_factory=list)
    entered: int = 0
    pending: int = 0
    out: int = 0
    tried: Counter[int] = field(default_factory=Counter)
    last: dict[str, Any] = field(default_factory=dict)
    # The time by which leases must have ended: after a jump ahead the one before it, until the next time.
    sure: int = 0
    # Of the events, and the latest first.
    stamp: Stamp = field(default_factory=lambda: Stamp(0))
    latest: list[tuple[int, int, Stamp]] = field(default_factory=list)

    @classmethod
    def read(cls, lines: Iterable[str]) -> "Record":
        """Of a whole log."""
        record = cls()
        for line in lines:
            record.add(line)
        if not record.hashes:
            refuse("log", "at least a config", "nothing")
        return record

    def add(self, line: str) -> None:
        """One more line."""
        number_ = len(self.hashes)
        try:
            event = self._linked(line)
            if number_ == 0:
                self._begin(event)
            else:
                self._go_on(event)
        except (RefusedError, OverflowError) as error:
            raise RefusedError(f"log, event {number_}: {error}") from None
        self.last = {name: event[name] for name in ("kind", "time", "actor")} | {"source": event["data"].get("source")}
        self.hashes.append(event["hash"])

    def blocks(self) -> list[Block]:
        """What counts, in its order."""
        objectives = self.config["settings"]["labels"]["objectives"]
        counting = (self.pulls[number] for number in self.order)
        return [(pull.arm, [pull.values[q] for q in objectives], pull.n) for pull in counting if not pull.void]

    # The chain

    def _linked(self, line: str) -> dict[str, Any]:
        position = len(self.hashes)
        event = fields("event", parse(line.removesuffix("\n"), LONGEST_EVENT if position else LONGEST), EVENT)
        if not line.endswith("\n") or canonical(event) != line[:-1]:
            refuse("text", "as prepex writes it", line)
        bare = canonical({name: value for name, value in event.items() if name != "hash"})
        if not same(event["position"], position):
            refuse("position", str(position), event["position"])
        if event["previous"] != (self.hashes[-1] if position else GENESIS):
            refuse("previous", "the hash of the event before", event["previous"])
        if event["hash"] != hashlib.sha256(bare.encode()).hexdigest():
            refuse("hash", "that of the event", event["hash"])
        choice("kind", event["kind"], KINDS[:1] if position == 0 else KINDS[1:])
        self._require_time(event["time"])
        if not text("actor", event["actor"], 200).isprintable():
            refuse("actor", "printable", event["actor"])
        if not text("version", event["version"], 50).isprintable() or not event["version"]:
            refuse("version", "one", event["version"])
        return event

    def _require_time(self, given: Any) -> None:
        """To the microsecond, in UTC, and never before the last event."""
        if type(given) is not str or not TIME.fullmatch(given):
            refuse("time", "like 2030-01-01T00:00:00.000000+00:00", given)
        try:
            now = (datetime.fromisoformat(given) - BEGIN) // MICRO
        except ValueError:
            refuse("time", "one that there is", given)
        before, first = self.stamp.at, not self.last
        moved = 0 if first else now - before
        if -DAY <= moved < 0:
            refuse("time", "not before the event before", given)
        if first or moved:
            self.sure = before if moved > DAY else now
            self.stamp = Stamp(now)
        # The clock was far ahead: pulls that seem to come from the future were asked for now.
        while moved < -DAY and self.latest and -self.latest[0][0] - now > DAY:
            heappop(self.latest)[2].moved = self.stamp
        if first or moved:
            heappush(self.latest, (-now, len(self.hashes), self.stamp))

    # The events

    def _begin(self, event: dict[str, Any]) -> None:
        data = fields("data", event["data"], DATA["config"], MORE["config"])
        if event["pull"] is not None:
            refuse("pull", "null", event["pull"])
        choice("format", data["format"], ("prepex study 1",))
        require_name(data["name"])
        require_lease(data["lease"])
        require_settings(data["settings"])
        if "max_waiting" in data:
            whole("max_waiting", data["max_waiting"], 0)
        self.config = data

    def _go_on(self, event: dict[str, Any]) -> None:
        kind, here = event["kind"], len(self.hashes)
        data = fields("data", event["data"], DATA[kind], MORE.get(kind, ()))
        if kind == "extended":
            self._extend(event, data)
            return
        born = kind in ("asked", "imported")
        if type(event["pull"]) is not int or (event["pull"] != here if born else event["pull"] not in self.pulls):
            refuse("pull", "one of this log", event["pull"])
        if kind != "expired" and self.queue and self._over(self.queue[0], self.sure):
            refuse("kind", f"expired, for the lease of pull {self.queue[0]} has ended", kind)
        if born:
            self._open(event, data)
        else:
            pull = self.pulls[event["pull"]]
            if data["token"] != pull.token or type(data["token"]) is not str:
                refuse("token", "that of the pull", data["token"])
            if pull.void:
                refuse(kind, "of a pull that counts", "one that was voided")
            if "reason" in data:
                _require_reason(data["reason"])
            getattr(self, f"_{kind}")(event["pull"], pull, data)
        self._release()
        settings = self.config["settings"]
        if kind == "asked" and self.out > settings["max_pending"]:
            refuse("asked", f"at most {settings['max_pending']} = max_pending pulls", self.out)
        if kind == "asked" and settings["max_pulls"] is not None:
            whole("outcomes and pulls", self.entered + self.pending, 0, settings["max_pulls"])

    def _extend(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        """A longer budget."""
        settings = self.config["settings"]
        if event["pull"] is not None:
            refuse("pull", "null", event["pull"])
        if settings["max_pulls"] is None:
            refuse("extended", "of a study with a budget", "one without")
        whole("max_pulls", data["max_pulls"], settings["max_pulls"] + 1)
        _require_reason(data["reason"])
        self.config = self.config | {"settings": settings | {"max_pulls": data["max_pulls"]}}

    def _require_request(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        """The name of a request, and who made it if no actor is named."""
        if "key" in data and (not text("key", data["key"], 200) or not data["key"].isprintable()):
            refuse("key", "1 to 200 printable characters", data["key"])
        if "wanted" in data:
            whole("wanted", data["wanted"], 2)
        if "worker" in data and (event["actor"] or not WORKER.fullmatch(text("worker", data["worker"], 80))):
            refuse("worker", "machine, process and thread, where no actor is named", data["worker"])

    def _open(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        here, labels = len(self.hashes), self.config["settings"]["labels"]
        token = text("token", data["token"], 50)
        if not token.startswith(str(here)) or not TAIL.fullmatch(token[len(str(here)) :]):
            refuse("token", f"{here}- and eight digits", token)
        arm, n = whole("arm", data["arm"], 0, len(labels["arms"]) - 1), 1
        if event["kind"] == "asked":
            self._require_request(event, data)
        if event["kind"] == "imported":
            self._require_origin(event, data)
            if "n" in data:
                n = whole("n", data["n"], 2, MOST)
                if self._missing():
                    refuse("summary", "after the pilot and an outcome of every arm", "one before the pilot was over")
        pull = Pull(token, arm, n, self.stamp, {})
        self.pulls[here] = pull
        self.queue.append(here)
        self.pending += n
        self.out += 1
        if "outcome" in data:
            self._take(pull, data["outcome"], labels["objectives"])
            if not self._complete(pull):
                refuse("outcome", "of every objective", data["outcome"])

    def _require_origin(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        """A file is named by each of its rows, and its digest stands in the first."""
        text("source", data["source"], 1000)
        if "digest" in data:
            if type(data["digest"]) is not str or not HEX.fullmatch(data["digest"]):
                refuse("digest", "64 hexadecimal digits", data["digest"])
            return
        before = {"kind": "imported", "source": data["source"], "time": event["time"], "actor": event["actor"]}
        if self.last != before:
            refuse("data", "an object with 'digest', at the first row of a file", "none")

    def _take(self, pull: Pull, outcome: Any, allowed: Iterable[str]) -> None:
        """Some objectives, each possible."""
        settings = self.config["settings"]
        objectives = settings["labels"]["objectives"]
        if type(outcome) is not dict or not outcome:
            refuse("outcome", "values by objective", outcome)
        for name, value in outcome.items():
            choice("outcome", name, list(allowed))
            number(f"outcome {name!r}", value, -LARGEST, LARGEST)
            if not in_support(settings["family"], objectives.index(name), value, pull.n):
                refuse(f"outcome {name!r}", "possible in this family", value)
        before = self._complete(pull)
        pull.values.update(outcome)
        if self._complete(pull) and not before and not pull.lapsed:
            self.out -= 1

    def _told(self, place: int, pull: Pull, data: dict[str, Any]) -> None:
        objectives = self.config["settings"]["labels"]["objectives"]
        self._take(pull, data["outcome"], [name for name in objectives if name not in pull.values])
        if pull.lapsed and self._complete(pull):
            self._enter(place, pull)

    def _corrected(self, _: int, pull: Pull, data: dict[str, Any]) -> None:
        known = dict(pull.values)
        self._take(pull, data["outcome"], known)
        if any(known[name] == value for name, value in data["outcome"].items()):
            refuse("outcome", "other than what was told", data["outcome"])

    def _voided(self, place: int, pull: Pull, _: dict[str, Any]) -> None:
        pull.void = True
        if pull.entered:
            self.entered -= pull.n
            self.tried[pull.arm] -= 1
        elif not pull.lapsed:
            self._give_up(place, pull)

    def _expired(self, place: int, pull: Pull, _: dict[str, Any]) -> None:
        if pull.lapsed or self._complete(pull) or not self._over(place, self.stamp.at):
            refuse("expired", "a pull whose lease has ended", place)
        self._give_up(place, pull)
        pull.lapsed = True

    # The order

    def _complete(self, pull: Pull) -> bool:
        return len(pull.values) == len(self.config["settings"]["labels"]["objectives"])

    def _over(self, place: int, time: int) -> bool:
        """Has the lease of a pull ended by then?"""
        lease = self.config["lease"]
        return lease is not None and self.pulls[place].time.now() < time - timedelta(seconds=lease) // MICRO

    def _give_up(self, place: int, pull: Pull) -> None:
        self.queue.remove(place)
        self.pending -= pull.n
        self.out -= not self._complete(pull)

    def _enter(self, place: int, pull: Pull) -> None:
        pull.entered = True
        self.order.append(place)
        self.entered += pull.n
        self.tried[pull.arm] += 1

    def _release(self) -> None:
        while self.queue and self._complete(self.pulls[self.queue[0]]):
            place = self.queue.popleft()
            self.pending -= self.pulls[place].n
            self._enter(place, self.pulls[place])

    def _missing(self) -> int:
        """Outcomes that must come before a summary: of the pilot, and of every arm."""
        settings = self.config["settings"]
        untried = len(settings["labels"]["arms"]) - sum(n > 0 for n in self.tried.values())
        return max(pilot_pulls(settings) - self.entered, untried, 0)


def pilot_pulls(settings: dict[str, Any]) -> int:
    """Outcomes that only set the shares of delta: so many at least."""
    if settings["threshold"]["name"] != "certified":
        return 0
    K, rounds = len(settings["labels"]["arms"]), settings["threshold"]["pilot"]
    most = 8 if settings["threshold"].get("closed", False) else 20
    return K * (min(K, most) if rounds is None else int(rounds))


def require_name(name: Any) -> None:
    """Of a study."""
    if not text("name", name, 200).strip() or not name.isprintable():
        refuse("name", "1 to 200 printable characters", name)


def require_lease(lease: Any) -> None:
    """Seconds, or none."""
    if lease is not None:
        number("lease", lease, 0.0, math.nextafter(LONGEST_LEASE, 0.0))


def _require_reason(reason: Any) -> None:
    if not text("reason", reason, 2000).strip() or not all(c.isprintable() or c in "\n\t" for c in reason):
        refuse("reason", "1 to 2000 printable characters", reason)
