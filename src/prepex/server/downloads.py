"""Files to download, made piece by piece: little memory, and no transaction stays open for a slow client."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from prepex.study.answers import Observation
from prepex.study.events import GENESIS
from prepex.study.log import NoStudyError
from prepex.study.study import Study

# Events, or positions of the log, in one piece.
PIECE = 1000
COLUMNS = ("pull", "arm", "state", "asked", "asked by", "told", "told by", "n")


def log_lines(study: Study) -> Iterator[str]:
    """The exported log, as `prepex study export` writes it, up to its end at the beginning."""
    after, head = -1, GENESIS
    while True:
        piece = list(study.events(after, PIECE))
        if piece and piece[0].previous != head:
            raise NoStudyError("study must stay what it was, got another one of the same name")
        yield "".join(event.line + "\n" for event in piece)
        if len(piece) < PIECE:
            return
        after, head = piece[-1].position, piece[-1].hash


def table(study: Study) -> Iterator[str]:
    """One row for each pull, in the order of the log; an outcome that does not count is left out.

    A row with n above 1 is an imported summary: the means of n outcomes.
    """
    first = next(iter(study.events(-1, 1)))
    objectives = first.data["settings"]["labels"]["objectives"]
    yield _lines([[*COLUMNS, *objectives]])
    position, end = 0, 0
    while position <= end:
        rows, end = study.observations(position, position + PIECE - 1, of=first.hash)
        yield _lines([_row(row, objectives) for row in rows])
        position += PIECE


def _row(row: Observation, objectives: Sequence[str]) -> list[Any]:
    known = [row.pull, row.arm, row.state, row.asked, row.asked_by, row.told or "", row.told_by or "", row.n]
    return known + [row.values.get(name, "") for name in objectives]


def _lines(rows: Sequence[Sequence[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([[_cell(value) for value in row] for row in rows])
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Text that a spreadsheet does not take for a formula.

    >>> _cell("=1+1"), _cell("low"), _cell(-1.5)
    ("'=1+1", 'low', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
