"""The order in which outcomes enter, against a second implementation, on random histories."""

import json

import numpy as np
import pytest

from prepex.study.check import Result
from prepex.study.check_log import list_outcomes, read_log
from prepex.study.events import GENESIS, linked, read_line, seal
from prepex.study.line import Line, list_entries

OBJECTIVES = ("u", "v")


def random_history(rng, n):
    """Events that a study might write: told in parts, expired, late, voided and corrected at any time."""
    events, open_, told = [], {}, {}

    def add(kind, pull, **data):
        previous = events[-1].hash if events else GENESIS
        made = {"time": "", "actor": "", "version": "1"}
        events.append(seal(len(events), previous, kind, pull=pull, data=data, **made))

    add("config", None)
    while len(events) < n:
        here, choice = len(events), rng.random()
        if choice < 0.35 or not open_:
            open_[here] = {"lapsed": False}
            told[here] = {}
            add("asked", here, token=str(here), arm=int(rng.integers(3)))
        elif choice < 0.4:
            told[here] = {name: float(rng.normal()) for name in OBJECTIVES}
            summary = {"n": int(rng.integers(2, 6))} if rng.random() < 0.5 else {}
            add("imported", here, token=str(here), arm=int(rng.integers(3)), outcome=dict(told[here]), **summary)
        elif choice < 0.8:
            pull = int(rng.choice(list(open_)))
            left = [name for name in OBJECTIVES if name not in told[pull]]
            chosen = left if rng.random() < 0.6 else left[:1]
            outcome = {name: float(rng.normal()) for name in chosen}
            told[pull].update(outcome)
            add("told", pull, token=str(pull), outcome=outcome)
            if len(told[pull]) == 2:
                del open_[pull]
        elif choice < 0.87:
            pull = int(rng.choice(list(open_)))
            if not open_[pull]["lapsed"]:
                open_[pull]["lapsed"] = True
                add("expired", pull, token=str(pull))
        elif choice < 0.93:
            pull = int(rng.choice(list(told)))
            open_.pop(pull, None)
            del told[pull]
            add("voided", pull, token=str(pull), reason="x")
        else:
            known = [pull for pull in told if told[pull]]
            if known:
                pull = int(rng.choice(known))
                outcome = {next(iter(told[pull])): float(rng.normal())}
                told[pull].update(outcome)
                add("corrected", pull, token=str(pull), outcome=outcome, reason="x")
    return events


def test_two_implementations_agree_on_random_histories():
    rng = np.random.default_rng(0)
    for _ in range(200):
        events = random_history(rng, int(rng.integers(5, 120)))
        entries = list_entries(Line(OBJECTIVES, 3), linked(events))
        result = Result()
        plain = read_log([event.line + "\n" for event in events], result)
        assert result.ok, result.problems
        expected = [(entry.arm, list(entry.outcome)) for entry in entries.values() for _ in range(entry.n)]
        assert list_outcomes(plain, list(OBJECTIVES)) == expected


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
    import dataclasses

    events = random_history(np.random.default_rng(3), 3)
    events[1] = dataclasses.replace(events[1], **change)
    with pytest.raises(ValueError, match=message):
        list(linked(events))
