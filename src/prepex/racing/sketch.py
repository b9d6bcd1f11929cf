"""The options in a terminal: the first two objectives, the answer by letters, all others as dots."""

import math
from collections.abc import Sequence

from prepex.racing.view import View

OTHER = "·"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _by_factors(values: Sequence[float]) -> bool:
    """Do they ask for a log scale?"""
    return min(values) > 0.0 and max(values) / min(values) > 5.0


def _scale(values: Sequence[float], size: int) -> list[int]:
    """Places from 0 to size - 1."""
    low, high = min(values), max(values)
    if _by_factors(values):
        values = [math.log(value) for value in values]
        low, high = min(values), max(values)
    if high == low:
        return [size // 2] * len(values)
    return [round((value - low) / (high - low) * (size - 1)) for value in values]


def sketch(view: View, width: int = 60, height: int = 12) -> list[str]:
    """Lines, the last ones say what the marks are; none for fewer than two objectives, or options without values."""
    rows = [row for row in view.rows if len(row.values) > 1 and row.values[0] is not None and row.values[1] is not None]
    if len(rows) < 2 or width < 20:
        return []
    points = [[value.mean for value in row.values[:2] if value is not None] for row in rows]
    across = _scale([point[0] for point in points], width)
    up = _scale([point[1] for point in points], height)
    front = {row.option for row in view.front}
    grid = [[" "] * width for _ in range(height)]
    legend, letters = [], iter(LETTERS)
    for row, x, y in sorted(zip(rows, across, up, strict=True), key=lambda entry: entry[0].option in front):
        mark = OTHER
        if row.option in front:
            mark = next(letters, "*")
            legend.append(f"{mark} {row.option}")
        grid[height - 1 - y][x] = mark
    first, second = view.objectives[:2]
    ends = [_ends([row.values[q] for row in rows]) for q in range(2)]
    lines = [f"{second} {ends[1][1]}"]
    lines += ["|" + "".join(line).rstrip() for line in grid]
    logs = [name for q, name in enumerate((first, second)) if _by_factors([point[q] for point in points])]
    scale = f" (log scale: {' and '.join(logs)})" if logs else ""
    foot = f"{first} {ends[0][0]} ... {ends[0][1]}{scale}"
    lines += ["+" + "-" * width, f"{second} {ends[1][0]}; {foot}"]
    left = [f"{OTHER} other options"] if len(legend) < len(rows) else []
    return lines + _in_lines(legend + left, width)


def _in_lines(entries: Sequence[str], width: int) -> list[str]:
    """As many in a line as it has room for.

    >>> _in_lines(["a gzip", "b xz", "c zstd"], 14)
    ['a gzip, b xz', 'c zstd']
    """
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + len(entry) + 2 <= width:
            lines[-1] += f", {entry}"
        else:
            lines.append(entry)
    return lines


def _ends(values: Sequence[object]) -> tuple[str, str]:
    from prepex.racing.amounts import with_unit
    from prepex.racing.view import Value

    found = sorted((value for value in values if isinstance(value, Value)), key=lambda value: value.mean)
    return with_unit(found[0].mean, found[0].unit), with_unit(found[-1].mean, found[-1].unit)
