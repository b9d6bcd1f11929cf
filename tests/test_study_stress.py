"""Killed writers and crowds of workers, on SQLite and on PostgreSQL. `python -m benchmarks study` is the full size."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benchmarks.study import create, outcome
from prepex import Study

ROOT = Path(__file__).parent.parent


def run(call):
    """In a process of its own: forking a test runner is asking for trouble."""
    script = f"import json; from benchmarks.study import *; print(json.dumps({call}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "worker:" not in done.stderr, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_killed_writers_lose_and_double_nothing(storage):
    found = run(f"kills({storage!r}, 20)")
    assert found["problems"] == [] and found["acknowledged"] >= 13


def test_a_crowd_of_workers(storage):
    found = run(f"crowd({storage!r}, 32, 5)")
    assert found["problems"] == [] and found["failures"] == 0 and found["pulls"] == 160


@pytest.fixture
def written(tmp_path):
    """(study, connection) with 61 events."""
    url = str(tmp_path / "trials.db")
    study = create(url, "x")
    for _ in range(30):
        ticket = study.ask(actor="Ada")
        study.tell(ticket.token, outcome(ticket.token))
    assert study.verify().ok
    with closing(sqlite3.connect(url, isolation_level=None)) as connection:
        yield study, connection


def test_any_flipped_byte_of_the_log_is_found(written):
    study, connection = written
    rng = np.random.default_rng(0)
    for turn in range(200):
        column, position = "hash" if turn % 4 == 0 else "text", int(rng.integers(61))
        where = "WHERE position = ?"
        (text,) = connection.execute(f"SELECT {column} FROM prepex_events {where}", (position,)).fetchone()
        at = int(rng.integers(len(text)))
        wrong = text[:at] + chr(ord(text[at]) ^ (1 << int(rng.integers(7)))) + text[at + 1 :]
        connection.execute(f"UPDATE prepex_events SET {column} = ? {where}", (wrong, position))
        verdict = study.verify() if turn % 2 else Study.open(study._session.storage.url.database, "x").verify()
        assert not verdict.ok, (position, column, at)
        connection.execute(f"UPDATE prepex_events SET {column} = ? {where}", (text, position))
    assert study.verify().ok


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM prepex_events WHERE position = 60",
        "DELETE FROM prepex_events WHERE position = 30",
        "DELETE FROM prepex_events",
        "UPDATE prepex_events SET pull = 1 WHERE position = 9",
        "UPDATE prepex_studies SET head = 'x'",
        "UPDATE prepex_studies SET position = 59",
    ],
)
def test_a_cut_log_and_other_columns_are_found(written, damage):
    study, connection = written
    connection.execute(damage)
    for again in (study, Study.open(study._session.storage.url.database, "x")):
        assert again.verify().problems != ()
