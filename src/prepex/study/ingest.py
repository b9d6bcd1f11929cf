"""Outcomes from users and CSV files, checked."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prepex import _checks
from prepex.family import Family
from prepex.labels import Labels

# The column with how many outcomes a row is the mean of.
SIZE = "n"
# Columns by which another kind of table of summaries gives itself away.
SUMMARY = ("n", "count", "counts", "mean", "sd", "std", "se", "variance")
HINT = f"the means of a summary stand in the columns of the objectives, how many outcomes it has in a column {SIZE!r}"


class Row(NamedTuple):
    """An outcome of a file, or the mean of n, and its line."""

    arm: int
    outcome: dict[str, float]
    n: int
    line: int


def outcome_values(outcome: Any, objectives: tuple[str, ...], family: Family, n: int = 1) -> dict[str, float]:
    """By name, some or all; or a list of all. Values that the family cannot give are refused. n > 1: they are means.

    >>> from prepex import Bernoulli
    >>> objectives = ("cured", "toxic")
    >>> outcome_values([1, 0], objectives, Bernoulli()), outcome_values({"toxic": 1}, objectives, Bernoulli())
    ({'cured': 1.0, 'toxic': 0.0}, {'toxic': 1.0})
    """
    return _possible(_named(_numbers(outcome, objectives, family), objectives), objectives, family, n)


def _numbers(outcome: Any, objectives: tuple[str, ...], family: Family) -> Any:
    """True and False of yes-or-no objectives as numbers."""
    if not isinstance(outcome, Mapping):
        return family.as_numbers(outcome, len(objectives))
    given = family.as_numbers([outcome.get(name) for name in objectives], len(objectives))
    return dict(outcome) | {name: value for name, value in zip(objectives, given, strict=True) if name in outcome}


def _possible(values: dict[str, float], objectives: tuple[str, ...], family: Family, n: int) -> dict[str, float]:
    if n > 1:
        return family.summary_values(values, objectives, n)
    family.check_values(values, objectives)
    return values


def _named(outcome: Any, objectives: tuple[str, ...]) -> dict[str, float]:
    if isinstance(outcome, Mapping):
        if not outcome:
            raise ValueError(f"outcome must have some of {', '.join(map(repr, objectives))}, got none")
        for name in outcome:
            if name not in objectives:
                raise ValueError(f"outcome must be of {', '.join(map(repr, objectives))}, got {name!r}")
        given = {name: outcome[name] for name in objectives if name in outcome}
        return {name: _value(name, value) for name, value in given.items()}
    checked = _checks.real_array("outcome", outcome, ("n_objectives", len(objectives)))
    return dict(zip(objectives, checked.tolist(), strict=True))


def _value(name: str, value: Any) -> float:
    return float(_checks.real_array(f"outcome {name!r}", [value], ("value", 1))[0])


def read_outcomes(path: str | os.PathLike[str], arm: str, labels: Labels, family: Family) -> list[Row]:
    """Every row; an error names the line."""
    rows, own = [], (arm, *labels.objectives)
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or ()
        for needed in own:
            if needed not in columns:
                hint = f"; {HINT}" if any(name.lower() in SUMMARY for name in columns) else ""
                raise ValueError(f"{path} must have a column {needed!r}, got {', '.join(columns) or 'none'}{hint}")
        extra = [name for name in columns if name.lower() in SUMMARY and name not in (*own, SIZE)]
        if extra:
            raise ValueError(
                f"{path} must have outcomes or their means, got a column {extra[0]!r}, which looks like summaries of "
                f"another kind: {HINT}; rename or remove the column if it is something else"
            )
        sized = SIZE in columns and SIZE not in own
        for row in reader:
            try:
                number = _checks.member("arm", row[arm], labels.arms)
                n = _size(row[SIZE]) if sized else 1
                values = {name: _parsed(name, row[name]) for name in labels.objectives}
                values = _possible(values, labels.objectives, family, n)
            except ValueError as error:
                raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
            rows.append(Row(number, values, n, reader.line_num))
    if not rows:
        raise ValueError(f"{path} must have at least one outcome, got none")
    return rows


def _size(text: str | None) -> int:
    """A count; the check complains about anything else."""
    try:
        value = float(text or "")
    except ValueError:
        return _checks.summary_size(text)
    return _checks.summary_size(int(value) if value.is_integer() else value)


def _parsed(name: str, text: str | None) -> float:
    """A number; the check complains about anything else."""
    try:
        value = float(text or "")
    except ValueError:
        return _value(name, text or "")
    return value if abs(value) <= _checks.LARGEST else _value(name, value)
