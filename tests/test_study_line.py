"""The order in which outcomes enter, against a second implementation, on random histories."""

import json
import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from prepex import Experiment, Gaussian
from prepex.study.check_log import Record
from prepex.study.config import Config
from prepex.study.events import GENESIS, linked, read_line, seal
from prepex.study.line import Line, list_entries
from prepex.study.words import as_time, moment

OBJECTIVES = ("u", "v")
LEASE = 20.0


def random_history(rng, n):
    """Events that a study might write: told in parts, expired, late, voided and corrected at any time."""
    events, open_, told = [], {}, {}
    clock = datetime(2030, 1, 1, tzinfo=UTC)

    def add(kind, pull, **data):
        previous = events[-1].hash if events else GENESIS
        made = {"time": clock.isoformat(timespec="microseconds"), "actor": "", "version": "1"}
        if pull is not None:
            data["token"] = f"{pull}-{pull:08x}"
        events.append(seal(len(events), previous, kind, pull=pull, data=data, **made))

    fresh = Experiment(3, OBJECTIVES, family=Gaussian(variance=1.0), threshold="heuristic")
    add("config", None, **Config.make("x", fresh, LEASE).to_document())
    while len(events) < n:
        clock += timedelta(seconds=float(rng.exponential(1.0)))
        for pull in [pull for pull, state in open_.items() if not state["lapsed"]]:
            if (clock - open_[pull]["asked"]).total_seconds() > LEASE:
                open_[pull]["lapsed"] = True
                add("expired", pull)
        here, choice = len(events), rng.random()
        if choice < 0.35 or not open_:
            open_[here] = {"lapsed": False, "asked": clock}
            told[here] = {}
            add("asked", here, arm=int(rng.integers(3)))
        elif choice < 0.4:
            told[here] = {name: float(rng.normal()) for name in OBJECTIVES}
            tried = {entry.arm for entry in list_entries(Line(OBJECTIVES, 3), events).values()}
            summary = {"n": int(rng.integers(2, 6))} if rng.random() < 0.5 and len(tried) == 3 else {}
            origin = {"source": "old.csv", "digest": "0" * 64}
            add("imported", here, arm=int(rng.integers(3)), outcome=dict(told[here]), **origin, **summary)
        elif choice < 0.8:
            pull = int(rng.choice(list(open_)))
            left = [name for name in OBJECTIVES if name not in told[pull]]
            chosen = left if rng.random() < 0.6 else left[:1]
            outcome = {name: float(rng.normal()) for name in chosen}
            told[pull].update(outcome)
            add("told", pull, outcome=outcome)
            if len(told[pull]) == 2:
                del open_[pull]
        elif choice < 0.9:
            pull = int(rng.choice(list(told)))
            open_.pop(pull, None)
            del told[pull]
            add("voided", pull, reason="x")
        else:
            known = [pull for pull in told if told[pull]]
            if known:
                pull = int(rng.choice(known))
                outcome = {next(iter(told[pull])): float(rng.normal())}
                told[pull].update(outcome)
                add("corrected", pull, outcome=outcome, reason="x")
    return events


def test_two_implementations_agree_on_random_histories():
    rng, lapsed = np.random.default_rng(0), 0
    for _ in range(200):
        events = random_history(rng, int(rng.integers(5, 120)))
        entries = list_entries(Line(OBJECTIVES, 3), linked(events))
        record = Record.read(event.line + "\n" for event in events)
        assert record.blocks() == [(entry.arm, list(entry.outcome), entry.n) for entry in entries.values()]
        lapsed += any(event.kind == "expired" for event in events)
    assert lapsed > 50


def test_a_line_saved_at_any_point_goes_on():
    rng = np.random.default_rng(1)
    for _ in range(30):
        events = random_history(rng, 80)
        straight, resumed = Line(OBJECTIVES, 3), Line(OBJECTIVES, 3)
        for event in events:
            again = Line(OBJECTIVES, 3)
            again.load(json.loads(json.dumps(resumed.to_document())))
            resumed = again
            if straight.changes_the_past(event):
                assert resumed.changes_the_past(event)
                continue
            assert straight.apply(event) == resumed.apply(event)
            assert sum(straight.pending) == sum(straight.pulls[number].n for number in straight.queue)
        assert straight.to_document() == resumed.to_document()


def test_a_line_of_text_comes_back():
    event = random_history(np.random.default_rng(2), 2)[1]
    assert read_line(event.line) == event
    for damage in ("", "[]", "{}", event.line.replace(":", ": "), event.line.replace("asked", "askeD")[:-1]):
        with pytest.raises(ValueError, match="event must be as it was written"):
            read_line(damage)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": 7}, "log must have event 1 next, got event 7"),
        ({"kind": "guessed"}, "event 1 must be one of config"),
        ({"previous": "0" * 64}, "event 1 must follow the hash"),
        ({"actor": "someone else"}, "event 1 must have the hash"),
    ],
)
def test_a_broken_chain(change, message):

    events = random_history(np.random.default_rng(3), 3)
    events[1] = events[1]._replace(**change)
    with pytest.raises(ValueError, match=message):
        list(linked(events))


def event(position, kind, pull, time, **data):
    return seal(position, "", kind, time=time, actor="", version="", pull=pull, data=data)


def test_pulls_are_set_back_as_if_one_by_one():
    """In groups, against the definition: at every step back each pull from beyond a day ahead is moved."""
    rng = random.Random(1)
    for _ in range(200):
        line, times, now = Line(("x",), 1), {}, 1_000_000.0
        for position in range(1, 40):
            step = rng.choice([0.0, 10.0, 50_000.0, 200_000.0, -100_000.0, -300_000.0])
            now = max(now + step, 0.0)
            line.apply(event(position, "asked", position, as_time(now), token=str(position), arm=0))
            times[position] = now
            if step < -86_400.0:
                line.set_back(position, as_time(now))
                times = {k: now if time - now > 86_400.0 else time for k, time in times.items()}
            if rng.random() < 0.1:
                line.settle()
        line.settle()
        assert {k: pull.time for k, pull in line.pulls.items()} == {k: as_time(time) for k, time in times.items()}


@pytest.mark.parametrize(
    "back", [lambda k: 3e6 + 1e7 * (k % 2), lambda k: 1e9 - 2e5 * k], ids=["swings", "always back"]
)
def test_a_clock_that_goes_back_often_takes_no_time(monkeypatch, back):
    """Counted, not timed: how often a time is looked at."""
    from prepex.study import line as module

    looked = 0

    def counting(time):
        nonlocal looked
        looked += 1
        return moment(time)

    monkeypatch.setattr(module, "moment", counting)
    line, n = Line(("x",), 1), 2000
    for position in range(1, 2 * n):
        time = as_time(2e9 if position <= n else back(position))
        line.apply(event(position, "asked", position, time, token=str(position), arm=0))
        if position > n and back(position) < back(position - 1):
            line.set_back(position, time)
    line.settle()
    assert len({pull.time for pull in line.pulls.values()}) < 5
    assert looked < 40 * n
