"""A checkpoint that does not belong to the log is noticed when the study is opened, and the log is read instead."""

import json
import logging
import sqlite3
from contextlib import closing

import pytest

from prepex import Gaussian, Study
from prepex.study import session
from prepex.study.log import _seal_of

FIELDS = "position, head, digest, saved"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "EVERY", 10)
    return str(tmp_path / "trials.db")


def work(study, n, shift=0.0):
    for k in range(n):
        ticket = study.ask()
        study.tell(ticket.token, [shift + k % 3, 0.5 * k % 2])


def create(place, name, n=20, shift=0.0):
    study = Study.create(place, name, arms=3, objectives=2, family=Gaussian(variance=1.0), delta=1e-9)
    work(study, n, shift)
    return study


def taken(place, name):
    """(position, head, digest, saved)"""
    with closing(sqlite3.connect(place)) as connection:
        query = f"SELECT {FIELDS} FROM prepex_checkpoints JOIN (SELECT id, name FROM prepex_studies) ON study = id"
        return connection.execute(f"{query} WHERE name = ?", (name,)).fetchone()


def put(place, name, position, head, digest, saved):
    with closing(sqlite3.connect(place)) as connection, connection:
        mine = "study = (SELECT id FROM prepex_studies WHERE name = ?)"
        command = f"UPDATE prepex_checkpoints SET ({FIELDS}) = (?, ?, ?, ?) WHERE {mine}"
        connection.execute(command, (position, head, digest, saved, name))


def edited(saved, change):
    text, _, snapshot = saved.partition(b"\n")
    document = json.loads(text)
    change(document)
    return json.dumps(document).encode() + b"\n" + snapshot


def told_more(document):
    document["line"]["tally"]["asked"] += 1


def cut(document):
    del document["curve"]


def from_another_study(own, early, other):
    """With its seal, as a restored backup of one table would leave it."""
    return own[0], own[1], other[2], other[3]


def sealed_for_this_log(own, early, other):
    return own[0], own[1], _seal_of(own[0], own[1], other[3]), other[3]


def of_an_earlier_place(own, early, other):
    return own[0], own[1], _seal_of(own[0], own[1], early[3]), early[3]


def with_numbers_of_another(own, early, other):
    """Its own words, another study's numbers: only their sum gives it away."""
    saved = own[3].partition(b"\n")[0] + b"\n" + early[3].partition(b"\n")[2]
    return own[0], own[1], _seal_of(own[0], own[1], saved), saved


def with_another_count(own, early, other):
    saved = edited(own[3], told_more)
    return own[0], own[1], _seal_of(own[0], own[1], saved), saved


def with_a_part_missing(own, early, other):
    saved = edited(own[3], cut)
    return own[0], own[1], _seal_of(own[0], own[1], saved), saved


def half_written(own, early, other):
    return own[0], own[1], _seal_of(own[0], own[1], own[3][:-9]), own[3][:-9]


def behind_the_end(own, early, other):
    return 10**6, own[1], _seal_of(10**6, own[1], own[3]), own[3]


@pytest.mark.parametrize(
    "stray",
    [
        from_another_study,
        sealed_for_this_log,
        of_an_earlier_place,
        with_numbers_of_another,
        with_another_count,
        with_a_part_missing,
        half_written,
        behind_the_end,
    ],
    ids=lambda stray: stray.__name__,
)
def test_a_stray_checkpoint_is_noticed_on_open(place, stray, caplog):
    study = create(place, "dose")
    early = taken(place, "dose")
    work(study, 8)
    # As many events as the other: nothing but whose it is tells them apart.
    create(place, "other", 28, shift=5.0).close()
    expected, own = study.status(), taken(place, "dose")
    study.close()
    assert own[0] > early[0]
    put(place, "dose", *stray(own, early, taken(place, "other")))
    with caplog.at_level(logging.WARNING, "prepex"), Study.open(place, "dose") as again:
        assert again.status() == expected
        (record,) = caplog.records
        said = record.getMessage()
        assert said.startswith("Study 'dose': checkpoint must") and said.endswith("The whole log is read instead.")
        assert "\n" not in said
        assert any("checkpoint must" in problem for problem in again.verify().problems)
        # The next to write puts a right one in its place.
        again.ask()
        assert again.verify().ok
    caplog.clear()
    with Study.open(place, "dose") as another:
        assert another.status().n_pulls == expected.n_pulls and not caplog.records


def test_nothing_is_said_of_a_checkpoint_that_fits(place, caplog, monkeypatch):
    study = create(place, "dose")
    study.void(study.ask().token, reason="lost")
    study.ask(2)
    with caplog.at_level(logging.WARNING, "prepex"):
        assert Study.open(place, "dose").status() == study.status()
        # Of another version: that is no accident.
        monkeypatch.setattr("prepex.study.state.__version__", "99")
        assert Study.open(place, "dose").status() == study.status()
    assert not caplog.records
