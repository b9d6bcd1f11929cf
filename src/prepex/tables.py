"""Tables in text files: one reader for all of them. It never guesses: a cell that could be read in two ways is refused.

A header, then a row for each line, as wide as the header. Commas, semicolons or tabs separate, whichever the header has
most of. Lines above the header that begin with '#' are comments; empty lines are skipped.
`prepex analyse` reads more leniently.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import pairwise
from os import PathLike
from typing import NamedTuple

from prepex import _checks
from prepex.errors import InputError, shown

_POINT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# One and a half with three decimals, or thousands?
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)
# Thousands kept apart by points, commas, blanks or apostrophes, with or without decimals.
_GROUPED = re.compile(
    r"([+-]?[1-9]\d{0,2}(?:(?P<mark>[.,' \u00a0\u202f\u2009\u2019])\d{3})(?:(?P=mark)\d{3})*)"
    r"(?:(?!(?P=mark))([.,]\d*))?"
)
_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
_NAMES = _SEPARATORS | {" ": "spaces"}


def plain_number(text: str, *, comma: bool = False) -> float | None:
    """A decimal number in plain digits, with a point or, if so wanted, with a comma; None if it is none.

    >>> plain_number("-1.5e3"), plain_number("1_000"), plain_number("1,5"), plain_number("1,5", comma=True)
    (-1500.0, None, None, 1.5)
    """
    if "," in text:
        return float(text.replace(",", ".")) if comma and _COMMA.fullmatch(text) else None
    return float(text) if _POINT.fullmatch(text) else None


def comma_hint(text: str) -> str:
    """What to write in place of a decimal comma, for the middle of a message; "" if there is none.

    >>> comma_hint("0,3"), comma_hint("4,5%"), comma_hint("1,500"), comma_hint("0.3")
    (' with a decimal point (0.3)', ' with a decimal point (4.5%)', ' with a decimal point (1.500, or 1500)', '')
    """
    bare = text.strip().removesuffix("%").strip()
    if not _COMMA.fullmatch(bare):
        return ""
    whole = f", or {bare.replace(',', '')}" if _THOUSANDS.fullmatch(bare) else ""
    return f" with a decimal point ({text.strip().replace(',', '.')}{whole})"


def ungrouped(text: str) -> str | None:
    """A number without the marks that keep its thousands apart, as it may be written; None if it has none.

    >>> ungrouped("13.350,02"), ungrouped("1 234 567"), ungrouped("1.234.567"), ungrouped("61,39"), ungrouped("1.500")
    ('13350,02', '1234567', '1234567', None, None)
    """
    found = _GROUPED.fullmatch(text)
    if found is None:
        return None
    whole, mark, rest = found[1], found["mark"], found[3] or ""
    if mark == "." and whole.count(mark) == 1 and not rest:
        return None
    return whole.replace(mark, "") + rest


class Row(NamedTuple):
    """The cells of a line of the file, and its number from 1."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """A table: `columns` are different from each other, every row is as wide as they are, and cells are stripped.

    top        the line of the header
    comments   lines left out as such
    """

    source: str
    separator: str
    top: int
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    comments: int = 0

    def column(self, name: str) -> list[str]:
        """The cells of a column."""
        place = self.columns.index(name)
        return [row.cells[place] for row in self.rows]

    def is_number(self, cell: str) -> bool:
        """Can a cell be read as a number in this file? Where commas separate, they are no decimal commas."""
        return plain_number(cell, comma=self.separator != ",") is not None

    def numbers(self, columns: Sequence[str]) -> list[list[float]]:
        """The numbers in these columns, row by row; an error names the line and the column.

        >>> sheet = parse_sheet("arm;gain\\na;1,5\\nb;2\\n", "old.csv")
        >>> sheet.numbers(["gain"])
        [[1.5], [2.0]]
        """
        places = [(name, self.columns.index(name)) for name in columns]
        comma = self.decimal_comma([(row.line, name, row.cells[place]) for row in self.rows for name, place in places])
        found = []
        for row in self.rows:
            values = [plain_number(row.cells[place], comma=comma) for _, place in places]
            for (name, place), value in zip(places, values, strict=True):
                if value is None:
                    raise self.error(row.line, f"{name} must be a number{_puzzle(row.cells[place])}")
            found.append([value for value in values if value is not None])
        return found

    def decimal_comma(self, cells: Iterable[tuple[int, str, str]]) -> bool:
        """Are decimals written with a comma in this file? One mark for all, and not to be mistaken for thousands."""
        if self.separator == ",":
            return False
        commas, points = [], []
        for line, name, cell in cells:
            if "," in cell and _COMMA.fullmatch(cell):
                commas.append((line, name, cell))
            elif "." in cell and _POINT.fullmatch(cell):
                points.append((line, name, cell))
        if commas and points:
            (line, name, cell), (other, _, unlike) = max(commas[0], points[0]), min(commas[0], points[0])
            mark = "," if "," in cell else "."
            # Thousands with one mark look like three decimals.
            thousands = re.fullmatch(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", cell, re.ASCII)
            hint = f"; if its {mark} keeps thousands apart, write {cell.replace(mark, '')}" if thousands else ""
            raise self.error(
                line, f"{name} must have the decimal mark of line {other}, which has {unlike!r}, got {cell!r}{hint}"
            )
        if commas and all(_THOUSANDS.fullmatch(cell) for _, _, cell in commas):
            line, name, cell = commas[0]
            whole, small = cell.replace(",", ""), cell.replace(",", ".", 1)
            raise self.error(line, f"{name} must be clear: is {cell!r} {small} or {whole}? Write one of these")
        return bool(commas)

    def error(self, line: int, words: str) -> InputError:
        """What is wrong with a line."""
        return InputError(f"{self.source}, line {line}: {words}")


def read_sheet(path: str | PathLike[str]) -> Sheet:
    """The table in a file."""
    return parse_sheet(decode(read_bytes(path), str(path)), str(path))


def read_bytes(path: str | PathLike[str]) -> bytes:
    """What is in a file."""
    place = _checks.path("file", path)
    try:
        return place.read_bytes()
    except FileNotFoundError:
        raise InputError(f"file must exist, got {shown(str(path))}") from None
    except OSError as error:
        raise InputError(f"file must be a readable UTF-8 text, got {shown(str(path))}: {error.strerror}") from None


def decode(data: bytes, source: str) -> str:
    """Its text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"file must be a readable UTF-8 text, got {source!r}, line {where}: {error.reason} (in a spreadsheet, save "
            "it as 'CSV UTF-8')"
        ) from None


def decode_any(data: bytes, source: str) -> tuple[str, str]:
    """(its text, in which encoding it is): UTF-8, UTF-16 by its mark, or what Windows writes in western Europe.

    >>> decode_any("Stärke;1,5".encode("cp1252"), "old.csv")
    ('Stärke;1,5', 'cp1252')
    """
    encodings = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise InputError(
        f"file must be a readable text, got {source!r}, which is neither UTF-8 nor of another known encoding"
    )


def parse_sheet(text: str, source: str, *, lenient: bool = False) -> Sheet:
    """The table in a text; `source` is named in errors.

    `lenient`: comment lines may stand anywhere, spaces may separate, and the header may lack the column of row names,
    as R writes it. This column is then called "".

    >>> parse_sheet('"x"\\n"a" 1\\n# again\\n"b" 2\\n', "r.txt", lenient=True).columns
    ('', 'x')
    """
    # Universal line ends, as a spreadsheet of any age writes them, and nothing else: a cell may have other breaks.
    lines = list(StringIO(text, newline=""))
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise InputError(f"{source}, line {number}: must be text, got a NUL character: is it a table?")
    comments = sum(line.startswith("#") for line in lines)
    if lenient:
        # Emptied, not removed: the others keep their numbers.
        lines = ["\n" if line.startswith("#") else line for line in lines]
    top = next((k for k, line in enumerate(lines) if line.strip() and line[0] != "#"), len(lines))
    separator = _separator(lines[top]) if top < len(lines) else ","
    if lenient and top < len(lines) and not any(mark in lines[top] for mark in _SEPARATORS):
        separator, lines = " ", _single_spaced(lines)
    records = _records(lines, top, separator, source)
    head = next(records, None)
    if head is None:
        raise InputError(f"{source} must have a header line, got an empty file")
    found = [row for row in records if any(row.cells)]
    if lenient and found and all(len(row.cells) == len(head.cells) + 1 for row in found):
        head = head._replace(cells=("", *head.cells))
    rows = []
    for row in found:
        if lines[row.line - 1].startswith("#"):
            raise InputError(
                f"{source}, line {row.line}: must not begin with '#', got {row.cells[0]!r}: comments stand above the "
                "header, and a name that begins so is put in quotes"
            )
        if len(row.cells) != len(head.cells):
            raise InputError(
                f"{source}, line {row.line}: must have {len(head.cells)} columns as the header, got {len(row.cells)}"
                + _width_hint(row.cells, len(head.cells), separator)
            )
        rows.append(row)
    return _checked(Sheet(source, separator, head.line, head.cells, tuple(rows), comments))


def _separator(header: str) -> str:
    """What the header has most of, outside quotes; a comma least of all: it may be part of a name."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_SEPARATORS, key=lambda mark: (bare.count(mark), -list(_SEPARATORS).index(mark))) if bare else ","


def _single_spaced(lines: list[str]) -> list[str]:
    """One space between cells, however many there were; those in quotes stay."""
    parts = re.compile(r'"[^"]*"|[^\s"]+')
    return [" ".join(parts.findall(line)) + "\n" for line in lines]


def _records(lines: list[str], top: int, separator: str, source: str) -> Iterator[Row]:
    """Each with the number of its first line; a cell in quotes may go over several."""
    reader = csv.reader(lines[top:], delimiter=separator, strict=True)
    while True:
        first = top + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"{source}, line {first}: must be cells separated by {_NAMES[separator]}, got one that cannot be "
                f"read: {error}; is a quote missing?"
            ) from None
        yield Row(first, tuple(map(str.strip, cells)))


def _checked(sheet: Sheet) -> Sheet:
    """Without the empty columns at the right that spreadsheets leave behind."""
    width = len(sheet.columns)
    while width and not sheet.columns[width - 1] and not any(row.cells[width - 1] for row in sheet.rows):
        width -= 1
    columns = sheet.columns[:width]
    for name in columns:
        times = columns.count(name)
        if name and times > 1:
            raise sheet.error(sheet.top, f"columns must be different from each other, got {name!r} {times} times")
    if width == len(sheet.columns):
        return sheet
    return replace(sheet, columns=columns, rows=tuple(Row(row.line, row.cells[:width]) for row in sheet.rows))


def _width_hint(cells: Sequence[str], width: int, separator: str) -> str:
    if len(cells) < width:
        return f": is a cell missing? The {_NAMES[separator]} around an empty one stay"
    split = next((f"{a},{b}" for a, b in pairwise(cells) if re.fullmatch(r"[+-]?\d+,\d+", f"{a},{b}", re.ASCII)), "")
    if separator != ",":
        return ""
    comma = f"is {split} a decimal comma? Write {split.replace(',', '.')}, or separate the columns by semicolons; "
    return f": {comma if split else ''}put a name that has a comma in quotes"


def _puzzle(cell: str) -> str:
    """What is wrong with it, in words for those who wrote the file."""
    if not cell:
        return ", got an empty cell: fill it in, or remove the line if nothing was measured"
    if _COMMA.fullmatch(cell) or _THOUSANDS.fullmatch(cell):
        return f" with a decimal point and no separator of thousands, got {shown(cell)}"
    plain = ungrouped(cell)
    if plain is not None:
        return f" without a mark between thousands, got {shown(cell)}: write {plain}"
    return f" such as 0.31, in plain digits, got {shown(cell)}"
