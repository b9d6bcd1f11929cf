"""Tables of means in CSV files: the package's own data, and a user's."""

import csv
import re
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from prepex import _checks
from prepex._checks import Floats

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
    """Read a CSV file with a header line; '#' starts a comment line; ',', ';' or tab separates.

    By default every numeric column is an objective and the text columns name the arm.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "means.csv"
    >>> _ = path.write_text("design,speed,cost\\nA,3.0,1.5\\nB,2.0,0.5\\n")
    >>> table = read_table(path)
    >>> table.arms, table.objectives
    (('A', 'B'), ('speed', 'cost'))
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"file must exist, got {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"file must be a readable UTF-8 text, got {str(path)!r}: {error}") from None
    return parse_table(text, source=str(path), objectives=objectives)


def parse_table(text: str, *, source: str, objectives: tuple[str, ...] | None = None) -> Table:
    """The table in a text; `source` is named in errors."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    if len(lines) < 2:
        raise ValueError(f"{source} must hold a header line and a line for each arm, got {len(lines)} lines")
    header_text = lines[0][1]
    separator = max(",;\t", key=header_text.count)
    rows = list(csv.reader(StringIO("\n".join(line for _, line in lines)), delimiter=separator))
    named = [_FAMILY.fullmatch(name.strip()) for name in rows[0]]
    header = [found[1].strip() if found else name.strip() for name, found in zip(rows[0], named, strict=True)]
    families = [found[2] if found else "" for found in named]
    body = [[cell.strip() for cell in row] for row in rows[1:]]
    for (number, _), row in zip(lines[1:], body, strict=False):
        if len(row) != len(header):
            raise ValueError(f"{source}, line {number}: must have {len(header)} columns as the header, got {len(row)}")
    if all(_is_number(name) for name in header):
        raise ValueError(f"{source}, line {lines[0][0]}: must be the names of the columns, got {header_text.strip()!r}")
    if objectives is None:
        _refuse_mixed(source, [number for number, _ in lines[1:]], header, body)
    numeric = [name for index, name in enumerate(header) if all(_is_number(row[index]) for row in body)]
    chosen = numeric if objectives is None else [header[_checks.member("objectives", o, header)] for o in objectives]
    if not chosen:
        raise ValueError(f"{source} must have a column of numbers for each objective, got columns {', '.join(header)}")
    columns = [header.index(name) for name in chosen]
    means = np.empty((len(body), len(columns)))
    for position, ((number, _), row) in enumerate(zip(lines[1:], body, strict=False)):
        for place, column in enumerate(columns):
            if not _is_number(row[column]):
                raise ValueError(f"{source}, line {number}: {header[column]} must be a number, got {row[column]!r}")
            means[position, place] = float(row[column])
    labels = [index for index in range(len(header)) if header[index] not in numeric]
    arms = tuple(", ".join(row[i] for i in labels) if labels else f"arm {k}" for k, row in enumerate(body))
    return Table(
        _checks.names(f"arms in {source}", arms, len(arms), "arm"),
        _checks.names(f"objectives in {source}", chosen, len(chosen), "objective"),
        _checks.real_array(f"means in {source}", means, ("n_arms", None), ("n_objectives", None)),
        tuple(families[column] for column in columns),
    )


def _refuse_mixed(source: str, numbers: list[int], header: list[str], body: list[list[str]]) -> None:
    """A column is an objective or a name: one bad cell must not turn the one into the other. The first may be both."""
    for column in range(len(header)):
        cells = [row[column] for row in body]
        bad = [index for index, cell in enumerate(cells) if not _is_number(cell)]
        if bad and all(_is_number(cell.replace(",", ".")) for cell in cells):
            raise ValueError(
                f"{source}, line {numbers[bad[0]]}: {header[column]} must use decimal points, got {cells[bad[0]]!r}"
            )
        if 0 < len(bad) < len(cells) and column > 0:
            raise ValueError(
                f"{source}, line {numbers[bad[0]]}: {header[column]} must be a number as in other lines, "
                f"got {cells[bad[0]]!r}"
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
