"""Tables of means in CSV files: the package's own data, and a user's."""

import re
from dataclasses import dataclass
from pathlib import Path

from prepex import _checks
from prepex._checks import Floats
from prepex.errors import InputError
from prepex.tables import Sheet, parse_sheet, plain_number, read_sheet
from prepex.unit_names import in_full

# A word after a colon is a family, known or misspelt; parse_family knows which. "dose: mg/kg" is no word.
_FAMILY = re.compile(r"(.+):\s*([a-z]{3,}(?:\(.*\))?)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Table:
    """Means of arms: the columns that are all numbers are objectives, the others together name the arm.

    families   what the header says after a colon, as in `cured:bernoulli`; empty where it says nothing
    """

    arms: tuple[str, ...]
    objectives: tuple[str, ...]
    means: Floats
    families: tuple[str, ...] = ()


def read_table(path: str | Path, *, objectives: tuple[str, ...] | None = None) -> Table:
    """Read a CSV file with a header line, and comment lines that start with '#' above it; ',', ';' or tab separates.

    Where ';' or a tab separates, decimals may be written with a comma.

    By default every numeric column is an objective and the text columns name the arm.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "means.csv"
    >>> _ = path.write_text("design,speed,cost\\nA,3.0,1.5\\nB,2.0,0.5\\n")
    >>> table = read_table(path)
    >>> table.arms, table.objectives
    (('A', 'B'), ('speed', 'cost'))
    """
    return _table(read_sheet(path), objectives)


def parse_table(text: str, *, source: str, objectives: tuple[str, ...] | None = None) -> Table:
    """The table in a text; `source` is named in errors."""
    return _table(parse_sheet(text, source), objectives)


def _table(sheet: Sheet, objectives: tuple[str, ...] | None) -> Table:
    source, body = sheet.source, sheet.rows
    if not body:
        raise InputError(f"{source} must hold a header line and a line for each arm, got a header alone")
    if all(plain_number(name) is not None for name in sheet.columns):
        shown = sheet.separator.join(sheet.columns)
        raise sheet.error(sheet.top, f"must be the names of the columns, got {shown!r}")
    if "" in sheet.columns:
        raise sheet.error(sheet.top, f"column {sheet.columns.index('') + 1} must have a name, got none")
    named = [_FAMILY.fullmatch(name) for name in sheet.columns]
    header = [found[1].strip() if found else name for name, found in zip(sheet.columns, named, strict=True)]
    families = [found[2] if found else "" for found in named]
    numeric = [all(map(sheet.is_number, sheet.column(name))) for name in sheet.columns]
    if objectives is None:
        _refuse_mixed(sheet, header)
        chosen = [column for column, number in enumerate(numeric) if number]
    else:
        chosen = [_column(name, header, numeric) for name in objectives]
    if not chosen:
        raise InputError(f"{source} must have a column of numbers for each objective, got columns {', '.join(header)}")
    means = sheet.numbers([sheet.columns[column] for column in chosen])
    labels = [column for column, number in enumerate(numeric) if not number]
    arms = tuple(", ".join(row.cells[i] for i in labels) if labels else f"arm {k}" for k, row in enumerate(body))
    return Table(
        _checks.names(f"arms in {source}", arms, len(arms), "arm"),
        _checks.names(f"objectives in {source}", [header[column] for column in chosen], len(chosen), "objective"),
        _checks.real_array(f"means in {source}", means, ("n_arms", None), ("n_objectives", None)),
        tuple(families[column] for column in chosen),
    )


def _column(name: str, header: list[str], numeric: list[bool]) -> int:
    """Where it is. A column of text is no objective, and not offered as one."""
    found = _checks.position(in_full(name, header), header)
    if found is None:
        offered = _checks.quoted(known for known, number in zip(header, numeric, strict=True) if number)
        raise InputError(f"objectives must be columns of numbers, {offered or 'of which there are none'}, got {name!r}")
    return found


def _refuse_mixed(sheet: Sheet, header: list[str]) -> None:
    """A column is an objective or a name: one bad cell must not turn the one into the other. The first may be both."""
    for column, (name, shown) in enumerate(zip(sheet.columns, header, strict=True)):
        cells = sheet.column(name)
        bad = [index for index, cell in enumerate(cells) if not sheet.is_number(cell)]
        line = sheet.rows[bad[0]].line if bad else 0
        if bad and all(plain_number(cell, comma=True) is not None for cell in cells):
            raise sheet.error(line, f"{shown} must use decimal points, got {cells[bad[0]]!r}")
        if 0 < len(bad) < len(cells) and column > 0:
            raise sheet.error(line, f"{shown} must be a number as in other lines, got {cells[bad[0]]!r}")
