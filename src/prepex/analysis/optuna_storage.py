"""The trials of an Optuna study in an SQLite file, as a table. Read only, and without Optuna.

Optuna itself would add its tables to a database that is not its own.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from prepex.analysis.reading import Column, Columns
from prepex.errors import InputError
from prepex.numerals import plural

MAGIC = b"SQLite format 3\x00"
# Tables that are read.
TABLES = {"studies", "study_directions", "study_system_attributes", "trials", "trial_values", "trial_params"}
# Where Optuna keeps the names of the objectives.
NAMES = "study:metric_names"


def is_database(data: Any) -> bool:
    """Is it the path of an SQLite file?"""
    if not isinstance(data, str | PathLike):
        return False
    try:
        with Path(fspath(data)).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def read_storage(path: str | PathLike[str], study: str | None = None) -> Columns:
    """A row for each trial with values. Trials with the same parameters are one option, called by the first."""
    source = str(path)
    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as database:
            _require_optuna(database, source)
            key, name = _study(database, source, study)
            return _table(database, source, key, name)
    except sqlite3.Error as error:
        raise InputError(f"{source} must be a database that can be read, got: {error}") from None


def _require_optuna(database: sqlite3.Connection, source: str) -> None:
    found = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not found >= TABLES:
        own = "a storage of prepex: see `prepex study report`" if "prepex_events" in found else "one without its tables"
        raise InputError(f"{source} must be a table in a CSV file or a storage of Optuna (3 or newer), got {own}")


def _study(database: sqlite3.Connection, source: str, wanted: str | None) -> tuple[int, str]:
    """Its number and its name."""
    known = {name: key for key, name in database.execute("SELECT study_id, study_name FROM studies ORDER BY study_id")}
    if not known:
        raise InputError(f"{source} must have a study, got none")
    listed = ", ".join(map(repr, list(known)[:8])) + (" and more" if len(known) > 8 else "")
    if wanted is None and len(known) > 1:
        raise InputError(f"study must say which one of {source} is meant (--study NAME): {listed}")
    name = next(iter(known)) if wanted is None else wanted
    if name not in known:
        raise InputError(f"study must be one of {source}: {listed}, got {name!r}")
    return known[name], name


def _table(database: sqlite3.Connection, source: str, key: int, name: str) -> Columns:
    of = "FROM study_directions WHERE study_id = ? ORDER BY objective"
    ways = [row[0] for row in database.execute(f"SELECT direction {of}", (key,))]
    objectives = _objectives(database, key, len(ways))
    of = "FROM trials WHERE study_id = ? ORDER BY number"
    trials = list(database.execute(f"SELECT trial_id, number, state {of}", (key,)))
    values = _by_trial(database, "objective, CASE value_type WHEN 'FINITE' THEN value END", "trial_values", key)
    params = _by_trial(database, "param_name, param_value", "trial_params", key)
    first: dict[Any, str] = {}
    arms: list[str] = []
    rows: list[list[float]] = []
    lines: list[int] = []
    left: dict[str, int] = {}
    for at, (trial, number, state) in enumerate(trials):
        own = dict(values.get(trial, ()))
        row = [own.get(q) for q in range(len(ways))]
        if state != "COMPLETE" or None in row:
            word = "without finite values" if state == "COMPLETE" else {"FAIL": "failed"}.get(state, state.lower())
            left[word] = left.get(word, 0) + 1
            continue
        arms.append(first.setdefault(tuple(sorted(params.get(trial, [("", number)]))), f"trial {number}"))
        rows.append([float(value) for value in row if value is not None])
        lines.append(at)
    if not rows:
        raise InputError(
            f"study {name!r} of {source} must have trials that ended with values, got {_words(left) or 'none'}"
        )
    notes = [f"Study {name!r} of Optuna: {plural(len(rows), 'trial')}, {_directions(objectives, ways)}."]
    if left:
        notes.append(f"Left out: {_words(left)}.")
    table = np.array(rows)
    # Whatever the objectives are called.
    arm = "arm" if "arm" not in objectives else "the arm"
    columns = [Column(arm, arms, None)]
    columns += [Column(o, [f"{v:g}" for v in table[:, q]], table[:, q]) for q, o in enumerate(objectives)]
    costs = tuple(o for o, way in zip(objectives, ways, strict=True) if way == "MINIMIZE")
    return Columns(source, tuple(columns), lines, notes, arm, objectives, costs)


def _objectives(database: sqlite3.Connection, key: int, n: int) -> tuple[str, ...]:
    found = database.execute(
        'SELECT value_json FROM study_system_attributes WHERE study_id = ? AND "key" = ?', (key, NAMES)
    ).fetchone()
    return tuple(map(str, json.loads(found[0]))) if found else tuple(f"objective {q}" for q in range(n))


def _by_trial(database: sqlite3.Connection, what: str, table: str, key: int) -> dict[int, list[tuple[Any, Any]]]:
    found: dict[int, list[tuple[Any, Any]]] = {}
    query = f"SELECT trial_id, {what} FROM {table} WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)"
    for trial, *pair in database.execute(query, (key,)):
        found.setdefault(trial, []).append((pair[0], pair[1]))
    return found


def _words(left: dict[str, int]) -> str:
    return ", ".join(f"{n} {word}" for word, n in left.items())


def _directions(objectives: Iterable[str], ways: Sequence[str]) -> str:
    return ", ".join(f"{way.lower()} {name}" for name, way in zip(objectives, ways, strict=True))
