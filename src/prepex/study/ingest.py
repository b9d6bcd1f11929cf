"""Outcomes from users and CSV files, checked."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prepex import _checks
from prepex.family import Family
from prepex.labels import Labels

# Columns by which a table of summaries gives itself away.
SUMMARY = ("n", "count", "counts", "mean", "sd", "std", "se", "variance")


def outcome_values(outcome: Any, objectives: tuple[str, ...], family: Family) -> dict[str, float]:
    """By name, some or all; or a list of all. Values that the family cannot give are refused.

    >>> from prepex import Bernoulli
    >>> objectives = ("cured", "toxic")
    >>> outcome_values([1, 0], objectives, Bernoulli()), outcome_values({"toxic": 1}, objectives, Bernoulli())
    ({'cured': 1.0, 'toxic': 0.0}, {'toxic': 1.0})
    """
    values = _named(outcome, objectives)
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


def read_outcomes(
    path: str | os.PathLike[str], arm: str, labels: Labels, family: Family
) -> list[tuple[int, tuple[float, ...]]]:
    """(arm, outcome) of every row; an error names the line."""
    rows = []
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or ()
        for needed in (arm, *labels.objectives):
            if needed not in columns:
                hint = ""
                if any(name.lower() in SUMMARY for name in columns):
                    hint = "; summaries cannot be imported, only single outcomes: the pilot takes them in their order"
                raise ValueError(f"{path} must have a column {needed!r}, got {', '.join(columns) or 'none'}{hint}")
        extra = [name for name in columns if name.lower() in SUMMARY and name not in (arm, *labels.objectives)]
        if extra:
            raise ValueError(
                f"{path} must have one row for each outcome, got a column {extra[0]!r}, which looks like summaries: "
                "the pilot takes single outcomes in their order; rename or remove the column if it is something else"
            )
        for row in reader:
            try:
                number = _checks.member("arm", row[arm], labels.arms)
                values = tuple(_parsed(name, row[name]) for name in labels.objectives)
                family.check_values(dict(zip(labels.objectives, values, strict=True)), labels.objectives)
            except ValueError as error:
                raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
            rows.append((number, values))
    if not rows:
        raise ValueError(f"{path} must have at least one outcome, got none")
    return rows


def _parsed(name: str, text: str | None) -> float:
    """A number; the check complains about anything else."""
    try:
        value = float(text or "")
    except ValueError:
        return _value(name, text or "")
    return value if abs(value) <= _checks.LARGEST else _value(name, value)
