"""Outcomes from users and CSV files, checked."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from prepex import _checks, _named
from prepex._checks import Floats
from prepex.errors import InputError, InputTypeError, shown
from prepex.exact import refuse
from prepex.family import Family
from prepex.labels import Labels
from prepex.numerals import first_few
from prepex.study.state import State
from prepex.tables import Sheet, plain_number

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
    """By name (a mapping or a Series), some or all; or a list of all. n > 1: they are means.

    Values that the family cannot give are refused.

    >>> from prepex import Bernoulli
    >>> objectives = ("cured", "toxic")
    >>> outcome_values([1, 0], objectives, Bernoulli()), outcome_values({"toxic": 1}, objectives, Bernoulli())
    ({'cured': 1.0, 'toxic': 0.0}, {'toxic': 1.0})
    """
    return _possible(_checked(_numbers(outcome, objectives, family), objectives), objectives, family, n)


def _numbers(outcome: Any, objectives: tuple[str, ...], family: Family) -> Any:
    """True and False of yes-or-no objectives as numbers; what has names as a dictionary."""
    named = _named.by_name("outcome", outcome, objectives)
    if named is None:
        return family.as_numbers(outcome, len(objectives))
    given = family.as_numbers([named.get(name) for name in objectives], len(objectives))
    return named | {name: value for name, value in zip(objectives, given, strict=True) if name in named}


def _possible(values: dict[str, float], objectives: tuple[str, ...], family: Family, n: int) -> dict[str, float]:
    if n > 1:
        return family.summary_values(values, objectives, n)
    family.check_values(values, objectives)
    return values


def _checked(outcome: Any, objectives: tuple[str, ...]) -> dict[str, float]:
    if isinstance(outcome, dict):
        if not outcome:
            raise InputError(f"outcome must have some of {_checks.quoted(objectives)}, got none")
        return {name: _value(name, value) for name, value in outcome.items()}
    checked = _checks.real_array("outcome", outcome, ("n_objectives", len(objectives)), known=objectives)
    return dict(zip(objectives, checked.tolist(), strict=True))


def _value(name: str, value: Any) -> float:
    return float(_checks.real_array(f"outcome {name!r}", [value], ("value", 1))[0])


def sure_values(state: State, besides: int | None = None) -> Floats:
    """What is known without noise (K, L): in advance, by outcomes that have entered, and by those in the line.

    `besides`: a pull whose own values do not count.
    """
    experiment = state.experiment
    sure, objectives = experiment.sure, experiment.labels.objectives
    for number, pull in state.line.pulls.items():
        for q in experiment.exact if number != besides else ():
            if objectives[q] in pull.values and np.isnan(sure[pull.arm, q]):
                sure[pull.arm, q] = pull.values[objectives[q]]
    return sure


def require_sure(values: dict[str, float], sure: Floats, arm: str, objectives: tuple[str, ...]) -> None:
    """Values of what has no noise must be those that are known."""
    for name, first in zip(objectives, sure.tolist(), strict=True):
        if not np.isnan(first) and values.get(name, first) != first:
            refuse(name, arm, first, values[name])


def read_outcomes(sheet: Sheet, arm: str, labels: Labels, family: Family, sure: Floats | None = None) -> list[Row]:
    """Every row of a table; an error names the line. Columns of what is known of all arms may be missing."""
    if sure is not None and not np.isnan(sure).all():
        sheet = _completed(sheet, arm, labels, sure)
    if not isinstance(arm, str):
        raise InputTypeError(f"arm must be the name of a column, got {shown(arm)}")
    # Cells have no spaces around them.
    own, columns = tuple(name.strip() for name in (arm, *labels.objectives)), sheet.columns
    for name in own:
        if own.count(name) > 1:
            raise InputError(
                f"arm and the objectives must be columns of their own, got {shown(name)} {own.count(name)} times"
            )
    for needed in own:
        if needed not in columns:
            hint = f"; {HINT}" if any(name.lower() in SUMMARY for name in columns) else ""
            raise InputError(f"{sheet.source} must have a column {shown(needed)}, got {', '.join(columns)}{hint}")
    extra = [name for name in columns if name.lower() in SUMMARY and name not in (*own, SIZE)]
    if extra:
        raise InputError(
            f"{sheet.source} must have outcomes or their means, got a column {extra[0]!r}, which looks like summaries "
            f"of another kind: {HINT}; rename or remove the column if it is something else"
        )
    if not sheet.rows:
        raise InputError(f"{sheet.source} must have at least one outcome, got none")
    sized = SIZE in columns and SIZE not in own
    sizes = sheet.column(SIZE) if sized else ["1"] * len(sheet.rows)
    places = {name.strip(): index for index, name in enumerate(labels.arms)}
    table = sheet.numbers(own[1:])
    # All at once; if one is refused, each by itself, so that the error names its line.
    plain = not sized and _all_possible(table, labels.objectives, family)
    rows = []
    for row, name, size, numbers in zip(sheet.rows, sheet.column(own[0]), sizes, table, strict=True):
        if name not in places:
            raise sheet.error(row.line, f"{own[0]} must be one of {_some(labels.arms)}, got {name!r}")
        if plain:
            rows.append(Row(places[name], dict(zip(labels.objectives, numbers, strict=True)), 1, row.line))
            continue
        try:
            values = {name: _value(name, number) for name, number in zip(labels.objectives, numbers, strict=True)}
            n = _size(size)
            rows.append(Row(places[name], _possible(values, labels.objectives, family, n), n, row.line))
        except InputError as error:
            raise sheet.error(row.line, str(error)) from None
    return rows


def _completed(sheet: Sheet, arm: str, labels: Labels, sure: Floats) -> Sheet:
    """With the columns of objectives that are known of all arms and not there."""
    wanted = [q for q in range(sure.shape[1]) if not np.isnan(sure[:, q]).any()]
    missing = [q for q in wanted if labels.objectives[q].strip() not in sheet.columns]
    if not missing or arm.strip() not in sheet.columns:
        return sheet
    places = {name.strip(): index for index, name in enumerate(labels.arms)}
    rows = []
    for row, name in zip(sheet.rows, sheet.column(arm.strip()), strict=True):
        # An arm that is not known is refused where rows are read.
        more = [repr(float(sure[places[name], q])) if name in places else "0" for q in missing]
        rows.append(row._replace(cells=(*row.cells, *more)))
    columns = (*sheet.columns, *(labels.objectives[q].strip() for q in missing))
    return replace(sheet, columns=columns, rows=tuple(rows))


def _all_possible(table: list[list[float]], objectives: tuple[str, ...], family: Family) -> bool:
    try:
        shape = ("rows", len(table)), ("n_objectives", len(objectives))
        family.check_rewards(_checks.real_array("outcomes", table, *shape), objectives)
    except InputError:
        return False
    return True


def _some(names: tuple[str, ...]) -> str:
    """All of a few."""
    return first_few([*map(repr, names)], 20)


def _size(text: str) -> int:
    """A count; the check complains about anything else."""
    value = plain_number(text)
    if value is None:
        return _checks.summary_size(text)
    return _checks.summary_size(int(value) if value.is_integer() else value)
