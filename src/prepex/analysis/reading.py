"""Files and frames as columns: numbers with nan for missing cells, or text with "" for them.

What was done to the cells on the way is said in `notes`, and what can be read in two ways is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from os import PathLike
from typing import Any

import numpy as np

from prepex._checks import Floats, meant
from prepex.errors import InputError, InputTypeError, shown
from prepex.numerals import plural
from prepex.tables import Sheet, decode_any, parse_sheet, plain_number, read_bytes, ungrouped
from prepex.unit_names import plain_name, with_unit

# Cells that stand for a missing one: spreadsheets in two languages, R, pandas, SQL.
MISSING = frozenset(
    ("", "na", "n/a", "nan", "<na>", "null", "none", "missing", "-", "--", "?", ".", "#n/a", "#na", "#nv", "k.a.")
)
# A number with its unit behind it.
_WITH_UNIT = re.compile(r"([+-]?[\d.,]+(?:[eE][+-]?\d+)?)\s*([^\d\s.,+-][^\d]*)")
# The unnamed column of R and pandas.
ROW_NAMES = "row names"


@dataclass(frozen=True, eq=False)
class Column:
    """A name and its cells: `numbers` (n,) if all are, else None; `text` as they were."""

    name: str
    text: Sequence[str]
    numbers: Floats | None

    @property
    def plain_name(self) -> str:
        """Without a unit in brackets or behind a slash.

        >>> Column("strength [MPa]", (), None).plain_name, Column("mass / g", (), None).plain_name
        ('strength', 'mass')
        """
        return plain_name(self.name)

    def stray(self, *, marked: bool = False) -> int | None:
        """The first row whose cell is neither empty nor a number (`marked`: with marks between thousands), if any."""
        for at, cell in enumerate(self.text):
            if cell and (ungrouped(cell) is not None if marked else plain_number(cell, comma=True) is None):
                return at
        return None

    @property
    def grouped(self) -> bool:
        """Are most cells numbers, some with marks between thousands?"""
        if self.numbers is not None:
            return False
        filled = [cell for cell in self.text if cell]
        marked = sum(ungrouped(cell) is not None for cell in filled)
        numbers = sum(plain_number(cell, comma=True) is not None for cell in filled)
        return marked > 0 and 2 * (marked + numbers) > len(filled)


@dataclass(frozen=True, eq=False)
class Columns:
    """A table: where it is from, its columns, the line of each row, and what was done on the way.

    arm, objectives, minimise   what the source itself says of the columns; None: nothing
    """

    source: str
    columns: tuple[Column, ...]
    lines: Sequence[int]
    notes: list[str] = field(default_factory=list)
    arm: str | None = None
    objectives: tuple[str, ...] | None = None
    minimise: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.lines)

    def place(self, at: int) -> str:
        """Where a row stands; frames have rows from 0 on."""
        return f"{self.source}, {'row' if isinstance(self.lines, range) else 'line'} {self.lines[at]}"

    def no_number(self, column: Column) -> str:
        """In which line a column has no number, and what to write where that can be told."""
        marked = column.grouped
        at = column.stray(marked=marked)
        if at is None:
            return f"{self.source}: {column.name} must be numbers, got empty cells alone"
        cell = column.text[at]
        where = self.place(at)
        if marked:
            return (
                f"{where}: {column.name} must be numbers without a mark between thousands, got {cell!r}: write "
                f"{ungrouped(cell)}, and so in every line"
            )
        return f"{where}: {column.name} must be a number, got {cell!r}"

    def find(self, what: str, name: Any) -> Column:
        """By its name, with or without the unit in brackets or behind a slash."""
        wanted = str(name).strip()
        for exact in (True, False):
            for own in ("name", "plain_name"):
                listed = [(getattr(column, own), column) for column in self.columns]
                fitting = [
                    c for text, c in listed if text == wanted or (not exact and text.casefold() == wanted.casefold())
                ]
                if len(fitting) == 1:
                    return fitting[0]
        known = ", ".join(repr(column.name) for column in self.columns)
        hint = meant(wanted, [getattr(column, own) for own in ("plain_name", "name") for column in self.columns])
        raise InputError(f"{what} must be a column of {self.source}, one of {known}, got {shown(name)}{hint}")


def decimals(text: str) -> int | None:
    """Digits behind the mark; None where it is no number.

    >>> decimals("0.3333"), decimals("0,30"), decimals("1e-3"), decimals("12"), decimals("")
    (4, 2, 3, 0, None)
    """
    try:
        exponent = Decimal(text.strip().replace(",", ".")).as_tuple().exponent
    except InvalidOperation:
        return None
    return max(-exponent, 0) if isinstance(exponent, int) else None


def read_columns(data: Any, *, decimal: str | None = None) -> Columns:
    """A path, a data frame, a mapping of columns or a list of rows with names; `decimal`: the mark in a file, if it is
    not clear from it.

    >>> found = read_columns({"arm": ["a", "b"], "gain": [1.0, None]})
    >>> [(c.name, c.numbers is None) for c in found.columns], found.columns[1].numbers
    ([('arm', True), ('gain', False)], array([ 1., nan]))
    """
    if isinstance(data, str | PathLike):
        return _of_file(data, decimal)
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return _of_frame(data)
    if isinstance(data, Mapping):
        return _of_mapping(data)
    if isinstance(data, Sequence) and data and all(isinstance(row, Mapping) for row in data):
        names = list(dict.fromkeys(key for row in data for key in row))
        return _of_mapping({name: [row.get(name) for row in data] for name in names})
    raise InputTypeError(
        f"data must be the path of a file, a data frame, a mapping of columns or a list of mappings, got {shown(data)}"
    )


# Files


def _of_file(path: str | PathLike[str], decimal: str | None) -> Columns:
    source = str(path)
    if decimal not in (None, ".", ","):
        raise InputError(f"decimal must be '.' or ',', got {shown(decimal)}")
    text, encoding = decode_any(read_bytes(path), source)
    sheet = parse_sheet(text, source, lenient=True)
    notes = []
    if encoding != "utf-8-sig":
        notes.append(f"Read as {encoding}, as it is no UTF-8.")
    if sheet.comments:
        are = "is" if sheet.comments == 1 else "are"
        notes.append(f"{plural(sheet.comments, 'comment line')} (beginning with #) {are} left out.")
    if not sheet.rows:
        raise InputError(f"{source} must have a header line and a line for each trial, got a header alone")
    if sheet.columns and all(plain_number(name, comma=True) is not None for name in sheet.columns):
        raise sheet.error(sheet.top, f"must be the names of the columns, got {sheet.separator.join(sheet.columns)!r}")
    sheet = _without_units_row(_named(sheet), notes)
    comma = _decimal_comma(sheet) if decimal is None else decimal == ","
    lines = [row.line for row in sheet.rows]
    columns = []
    for name in sheet.columns:
        cells = sheet.column(name)
        cells, unit = _without_unit(cells)
        if unit:
            notes.append(f"The cells of {name!r} end in {unit!r}, which is taken for their unit.")
        columns.append(_column(sheet, name, cells, lines, comma=comma))
    return Columns(source, tuple(columns), lines, notes)


def _decimal_comma(sheet: Sheet) -> bool:
    try:
        return sheet.decimal_comma(
            (row.line, name, cell)
            for name in sheet.columns
            if _mostly_numbers(cells := sheet.column(name), sheet)
            for row, cell in zip(sheet.rows, cells, strict=True)
        )
    except InputError as error:
        raise InputError(f"{error}, or say which mark it is: decimal=',' (--decimal ,)") from None


def _named(sheet: Sheet) -> Sheet:
    """The unnamed first column has row names; any other must have a name."""
    columns = list(sheet.columns)
    if columns and columns[0].lower() in ("", "unnamed: 0"):
        columns[0] = ROW_NAMES
    if "" in columns:
        raise sheet.error(sheet.top, f"column {columns.index('') + 1} must have a name, got none")
    return replace(sheet, columns=tuple(columns))


def _without_units_row(sheet: Sheet, notes: list[str]) -> Sheet:
    """Some files have the units in a line of their own below the header."""
    if len(sheet.rows) < 2:
        return sheet
    first, rest = sheet.rows[0], sheet.rows[1:]
    found, numeric = [], 0
    for place, cell in enumerate(first.cells):
        below = [row.cells[place] for row in rest[:50]]
        # Numbers may have their unit behind them as well.
        bare, unit = _without_unit(below)
        numbers = sum(map(sheet.is_number, bare)) > len(below) / 2
        numeric += numbers
        if numbers and (sheet.is_number(cell) or (unit and _without_unit([cell])[1] == unit)):
            return sheet
        if numbers and cell.lower() not in MISSING:
            found.append(cell)
        elif not numbers and cell and cell in below:
            return sheet
    if not found or len(found) < numeric or any(len(cell) > 12 for cell in found):
        return sheet
    notes.append(f"Line {first.line} is taken for units: {', '.join(found)}.")
    named = tuple(
        with_unit(name, cell) if cell in found else name for name, cell in zip(sheet.columns, first.cells, strict=True)
    )
    # Two columns may be told apart by their units, but none may become another.
    return replace(sheet, rows=rest, columns=named if len(set(named)) == len(named) else sheet.columns)


def _mostly_numbers(cells: Sequence[str], sheet: Sheet) -> bool:
    filled = [cell for cell in cells[:2000] if cell.lower() not in MISSING]
    return 2 * sum(map(sheet.is_number, filled)) > len(filled)


def _without_unit(cells: list[str]) -> tuple[list[str], str]:
    """Cells freed of a unit that all of them have behind a number, and this unit."""
    found: list[str] = []
    units = set()
    for cell in cells:
        if cell.lower() in MISSING:
            found.append("")
            continue
        match = _WITH_UNIT.fullmatch(cell)
        if match is None:
            return cells, ""
        units.add(match[2].strip())
        if len(units) > 1:
            return cells, ""
        found.append(match[1])
    return (found, units.pop()) if units else (cells, "")


def _column(sheet: Sheet, name: str, cells: Sequence[str], lines: Sequence[int], *, comma: bool) -> Column:
    """Numbers if nearly all cells are; then one that is none is refused by its line."""
    # Names of options and whole numbers stand in many lines.
    known = {cell: plain_number(cell, comma=comma) for cell in set(cells)}
    numbers = [known[cell] for cell in cells]
    bad = [at for at, number in enumerate(numbers) if number is None and cells[at].lower() not in MISSING]
    filled = len(cells) - numbers.count(None)
    if not bad and filled:
        return Column(name, cells, np.array(numbers, dtype=np.float64))
    if filled > len(bad) and name != ROW_NAMES:
        at = bad[0]
        plain = ungrouped(cells[at])
        if plain is not None:
            raise sheet.error(
                lines[at], f"{name} must be a number without a mark between thousands, got {cells[at]!r}: write {plain}"
            )
        raise sheet.error(
            lines[at],
            f"{name} must be a number as in {filled:,} other lines, got {cells[at]!r}; an empty cell, NA or NaN stands "
            "for a missing value",
        )
    return Column(name, ["" if cell.lower() in MISSING else cell for cell in cells], None)


# Frames


def _of_frame(frame: Any) -> Columns:
    """Of pandas or polars. The index of pandas counts if it has a name."""
    data: dict[Any, Any] = {}
    index: Any = getattr(frame, "index", None)
    names = getattr(index, "names", None) or []
    for level, name in enumerate(names):
        if name is not None:
            data[name] = index.get_level_values(level)
    for name in frame.columns:
        label = " ".join(str(part) for part in name if str(part)) if isinstance(name, tuple) else name
        if label in data:
            raise InputError(f"columns must be different from each other, got {shown(label)} twice")
        data[label] = frame[name]
    return _of_mapping(data, source="the frame")


def _of_mapping(data: Mapping[Any, Any], source: str = "the table") -> Columns:
    columns, sizes = [], {}
    for key, values in data.items():
        name = ROW_NAMES if key in ("", "Unnamed: 0") else str(key).strip()
        array = np.asarray(values)
        if array.ndim != 1:
            raise InputError(f"column {shown(key)} must be a list of cells, got shape {array.shape}")
        sizes[name] = len(array)
        columns.append(_of_array(source, name, array))
    if len(columns) < 2 or not max(sizes.values()):
        raise InputError(f"{source} must have a column of options and one of numbers, with rows, got {len(columns)}")
    if len(set(sizes.values())) > 1:
        raise InputError(f"columns must be of the same length, got {sizes}")
    return Columns(source, tuple(columns), range(len(columns[0].text)))


def _of_array(source: str, name: str, array: Any) -> Column:
    """Numbers stay what they are; of objects, cells of any other kind are refused where most are numbers."""
    if array.dtype.kind in "biuf":
        values = array.astype(np.float64)
        if np.isinf(values).any():
            raise InputError(f"{name} must be finite, got an infinite one in row {np.argmax(np.isinf(values))}")
        shown_as = [f"{value:g}" if value == value else "" for value in values.tolist()]
        return Column(name, [str(entry) for entry in array.tolist()] if array.dtype.kind == "b" else shown_as, values)
    cells: list[str] = []
    values = np.full(len(array), np.nan)
    bad, filled = [], 0
    for place, entry in enumerate(array.tolist()):
        missing = entry is None or entry != entry or type(entry).__name__ in ("NAType", "NaTType")
        text = "" if missing else str(entry)
        number = None
        if isinstance(entry, int | float | np.number) and not missing:
            number = float(entry)
        elif not missing:
            number = plain_number(text.strip())
        if number is not None and np.isfinite(number):
            values[place] = number
            filled += 1
        elif text.strip().lower() not in MISSING:
            bad.append(place)
        else:
            text = ""
        cells.append(text)
    if not bad and filled:
        return Column(name, cells, values)
    if filled > len(bad):
        raise InputError(
            f"{source}, row {bad[0]}: {name} must be a number as in {filled:,} other rows, got {cells[bad[0]]!r}; None "
            "or NaN stands for a missing value"
        )
    return Column(name, cells, None)
