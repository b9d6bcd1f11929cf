"""Which column is what: the option, the objectives, and, where rows are means, their counts and spreads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from prepex._checks import Floats, Ints
from prepex.analysis.reading import ROW_NAMES, Column, Columns, decimals
from prepex.errors import InputError
from prepex.numerals import plural
from prepex.tables import plain_number

# Names that a column of options mostly has.
ARM = (
    "arm", "arms", "option", "design", "variant", "treatment", "config", "configuration", "candidate", "alternative",
    "method", "group", "condition", "recipe", "formulation", "algorithm", "model", "product", "sample", "setting",
    "option name", "name", "variante", "proben", "probe", "rezeptur", "legierung", "gruppe", "behandlung",
)  # fmt: skip
# Numbers of a trial, which measure nothing.
TRIAL = (
    "index", "id", "row", "trial", "run", "rep", "replicate", "repetition", "seed", "iteration", "block", "nr", "no",
    "number", "batch", "day", "timestamp", "date", "line", "zeile", "lfd. nr.", "lfd nr", "wiederholung",
)  # fmt: skip
COUNT = ("n", "count", "counts", "trials", "replicates", "repeats", "anzahl", "n_trials")
SPREAD = {"sd": "sd", "std": "sd", "stdev": "sd", "stddev": "sd", "se": "se", "sem": "se", "stderr": "se"} | {
    "var": "variance",
    "variance": "variance",
    "s": "sd",
    "stabw": "sd",
}
# What pandas' describe adds.
DESCRIBE = ("min", "max", "25%", "50%", "75%", "median")
COSTS = re.compile(
    r"cost|price|error|loss|time|latency|weight|mass|toxic|risk|energy|fail|defect|kosten|preis|zeit|gewicht|fehler|"
    r"duration|runtime|memory|emission|pain",
    re.IGNORECASE,
)

# Digits of a number that a double has no more of.
MOST_DIGITS = 17

Names = Literal["ask", "merge", "keep"]


@dataclass(frozen=True, eq=False)
class Trials:
    """What was measured, in the order of the table.

    arms      names, in the order of their first row
    who       the arm of each row, by its place                                             (n,)
    values    of each objective                                                             (n, L)
    sizes     of how many trials a row is the mean; None: rows are trials                   (n,)
    spreads   standard deviations of single trials, where rows are means; nan: not given    (n, L)
    unused    columns that are no objectives, and why: the end of a message
    digits    behind the decimal mark, as the values were written, where rows are means; None: all of them   (n, L)
    places    where each row stands, where rows are means                                   (n,)
    """

    arms: tuple[str, ...]
    objectives: tuple[str, ...]
    who: Ints
    values: Floats
    sizes: Ints | None
    spreads: Floats | None
    notes: tuple[str, ...]
    unused: Mapping[str, str] = field(default_factory=dict)
    digits: Ints | None = None
    places: tuple[str, ...] = ()

    @property
    def counts(self) -> Ints:
        """Trials of each arm (K,)."""
        weights = None if self.sizes is None else self.sizes
        return np.bincount(self.who, weights=weights, minlength=len(self.arms)).astype(np.int64)


def find_trials(
    table: Columns, *, arm: str | Sequence[str] | None, objectives: Sequence[str] | None, names: Names = "ask"
) -> Trials:
    """Every row with an option and all objectives; notes say which columns were taken, and which rows were not.

    >>> from prepex.analysis.reading import read_columns
    >>> found = find_trials(read_columns({"arm": ["a", "b", "a"], "gain": [1, 2, None]}), arm=None, objectives=None)
    >>> found.arms, found.counts.tolist(), found.notes
    (('a', 'b'), [1, 1], ('1 row without a value of gain is left out.',))
    """
    notes = list(table.notes)
    arm = table.arm if arm is None else arm
    objectives = table.objectives if objectives is None else objectives
    who = _arm_columns(table, arm, notes)
    count = _count_column(table, who, objectives)
    chosen, spreads = _objective_columns(table, who, count, objectives)
    taken = [*who, *chosen, *([count] if count else []), *(column for _, column in spreads if column is not None)]
    unused = [column for column in table.columns if column not in taken]
    for column in unused:
        if objectives is None and column.grouped:
            raise InputError(table.no_number(column))
    notes += _unused_notes(unused, given=objectives is not None)
    labels = [", ".join(cells) for cells in zip(*(column.text for column in who), strict=True)]
    missing = np.array([not all(cells) for cells in zip(*(column.text for column in who), strict=True)])
    values = np.column_stack([column.numbers for column in chosen if column.numbers is not None])
    keep = ~missing
    if missing.any():
        notes.append(f"{plural(int(missing.sum()), 'row')} without an option {_are(missing.sum())} left out.")
    for column in chosen:
        gone = keep & np.isnan(np.asarray(column.numbers))
        if gone.any():
            notes.append(
                f"{plural(int(gone.sum()), 'row')} without a value of {column.name} {_are(gone.sum())} left out."
            )
            keep &= ~gone
    if not keep.any():
        raise InputError(f"{table.source} must have a row with all of {_listed(chosen)}, got none")
    sizes = None
    if count is not None:
        sizes = _sizes(table, count, keep)
    kept = np.flatnonzero(keep)
    arms, places = _arms([labels[k] for k in kept], names, notes)
    return Trials(
        arms=arms,
        objectives=tuple(column.name for column in chosen),
        who=places,
        values=np.ascontiguousarray(values[kept]),
        sizes=None if sizes is None else sizes[kept],
        spreads=None if sizes is None else _spreads(spreads, sizes)[kept],
        notes=tuple(notes),
        unused={column.name: _why_unused(table, column) for column in unused}
        | {column.name: "it names the options" for column in who},
        digits=None if sizes is None else _digits(chosen, kept),
        places=() if sizes is None else tuple(table.place(int(row)) for row in kept),
    )


def _digits(columns: Sequence[Column], kept: Any) -> Ints:
    """As many as were written; of what is no plain number as many as there can be."""
    found = [[decimals(column.text[row]) for column in columns] for row in kept]
    return np.array([[MOST_DIGITS if d is None else d for d in row] for row in found], dtype=np.int64)


def _unused_notes(unused: Sequence[Column], *, given: bool) -> list[str]:
    """Every column that nothing is taken from is said."""
    words = [column for column in unused if column.numbers is None]
    numbers = [column for column in unused if column.numbers is not None]
    they = "it" if len(numbers) == 1 else "they"
    notes = (
        [f"Not used: {_listed(numbers)}{'' if given else f' (with --objective {they} would be)'}."] if numbers else []
    )
    if words:
        notes.append(f"Not used: {_listed(words)} ({'has' if len(words) == 1 else 'have'} cells that are no numbers).")
    return notes


def _why_unused(table: Columns, column: Column) -> str:
    if column.numbers is None:
        return table.no_number(column)
    return f"it is not used; --objective {column.name!r} does (name every objective so)"


def _are(n: Any) -> str:
    return "is" if n == 1 else "are"


def _listed(columns: Sequence[Column]) -> str:
    return ", ".join(repr(column.name) for column in columns)


def _arm_columns(table: Columns, arm: str | Sequence[str] | None, notes: list[str]) -> tuple[Column, ...]:
    if arm is not None:
        given = [arm] if isinstance(arm, str) else list(arm)
        if not given:
            raise InputError("arm must name a column, got none")
        return tuple(table.find("arm", name) for name in given)
    named = [column for column in table.columns if column.plain_name.casefold() in ARM]
    text = [column for column in table.columns if column.numbers is None and any(column.text) and not column.grouped]
    own = [column for column in text if column.name != ROW_NAMES]
    if len(named) == 1:
        return (named[0],)
    if named and len([column for column in named if column.numbers is None]) == 1:
        return (next(column for column in named if column.numbers is None),)
    # Text that is another in every row, beside text that comes again, is a remark.
    again = [column for column in own if len(set(column.text)) < len(column.text)]
    for candidates in (own, again, text):
        if len(candidates) == 1:
            if candidates[0].name != ROW_NAMES:
                notes.append(f"Options are named by the column {candidates[0].name!r}.")
            return (candidates[0],)
    offered = named or own or list(table.columns)
    several = " --arm ".join(repr(column.name) for column in offered[:2])
    listed = ", ".join(f"{c.name!r} ({plural(len(set(c.text)), 'different value')})" for c in offered[:8])
    raise InputError(
        f"arm must say which column of {table.source} names the option: {listed}; several together are given one by "
        f"one, as in --arm {several}"
    )


def is_count(column: Column) -> bool:
    """Is it called as numbers of trials are?"""
    return column.numbers is not None and column.plain_name.casefold() in COUNT


def beside_means(columns: Sequence[Column]) -> list[Column]:
    """Of columns of numbers, those that are called like counts of trials, or like the spread of another.

    >>> columns = [Column(name, ("1",), np.ones(1)) for name in ("n", "cost", "cost_sd", "time_sd")]
    >>> [column.name for column in beside_means(columns)]
    ['n', 'cost_sd']
    """
    return [column for column in columns if is_count(column) or _spread_of(column, columns) is not None]


def _count_column(table: Columns, who: Sequence[Column], objectives: Sequence[str] | None) -> Column | None:
    """How many trials a row is the mean of, if there is such a column and it is no objective."""
    wanted = {str(name) for name in objectives or ()}
    for column in table.columns:
        if is_count(column) and column not in who:
            return None if {column.name, column.plain_name} & wanted else column
    return None


def _objective_columns(
    table: Columns, who: Sequence[Column], count: Column | None, objectives: Sequence[str] | None
) -> tuple[list[Column], list[tuple[str, Column | None]]]:
    """The objectives, and of each the kind of its spread and where it stands."""
    if objectives is not None:
        given = [objectives] if isinstance(objectives, str) else list(objectives)
        chosen = [table.find("objectives", name) for name in given]
        if len(set(chosen)) < len(chosen):
            raise InputError(f"objectives must be different columns, got {_listed(chosen)}")
    else:
        chosen = [c for c in table.columns if c.numbers is not None and c not in who and c is not count]
    for column in chosen:
        if column.numbers is None:
            raise InputError(f"objectives must be columns of numbers, got {column.name!r}: {table.no_number(column)}")
        if column in who:
            raise InputError(f"arm and the objectives must be columns of their own, got {column.name!r} twice")
    spread_of: dict[str, tuple[str, Column]] = {}
    if count is not None:
        for column in table.columns:
            found = _spread_of(column, chosen)
            if found is not None:
                spread_of.setdefault(found[0].name, (found[1], column))
    if objectives is None:
        used = {column.name for _, column in spread_of.values()}
        counting = [c for c in chosen if c.name not in used and _counts_rows(c)]
        dropped = [
            c for c in chosen if _is_number_of_trial(c) or (count is not None and c.plain_name.casefold() in DESCRIBE)
        ]
        rest = [c for c in chosen if c.name not in used and c not in dropped]
        # 1, 2, 3, ... counts rows, unless there is nothing else to look at.
        chosen = [c for c in rest if c not in counting] or rest
    if not chosen:
        for column in table.columns:
            if column.grouped and column not in who:
                raise InputError(table.no_number(column))
        raise InputError(
            f"{table.source} must have a column of numbers for each objective, got {_listed(table.columns)}"
        )
    return chosen, [spread_of.get(column.name, ("sd", None)) for column in chosen]


def _is_number_of_trial(column: Column) -> bool:
    """Is it called so?"""
    return column.name == ROW_NAMES or column.plain_name.casefold() in TRIAL


def _counts_rows(column: Column) -> bool:
    values = np.asarray(column.numbers)
    steps = len(values) > 2 and bool(np.array_equal(values - values[0], np.arange(len(values))))
    return steps and values[0] in (0.0, 1.0)


def _spread_of(column: Column, chosen: Sequence[Column]) -> tuple[Column, str] | None:
    """Of which objective this column has the spread, and its kind: strength_sd, sd_strength, 'strength sd', sd."""
    if column.numbers is None:
        return None
    words = re.split(r"[\s_.\-]+", column.plain_name)
    for place in (-1, 0):
        kind = SPREAD.get(words[place].casefold())
        if kind is None or (len(words) == 1 and place == 0):
            continue
        rest = "_".join(words[:-1] if place else words[1:]).casefold()
        for other in chosen:
            own = re.split(r"[\s_.\-]+", other.plain_name.casefold())
            bare = [word for word in own if word not in ("mean", "avg", "average")]
            if other is not column and (rest == "_".join(own) or rest == "_".join(bare)):
                return other, kind
    return None


def _sizes(table: Columns, count: Column, keep: Any) -> Ints:
    values = np.where(keep, np.asarray(count.numbers), 1.0)
    bad = np.flatnonzero(~(values >= 1.0) | (values != np.floor(values)))
    if bad.size:
        at = int(bad[0])
        raise InputError(
            f"{table.source}, line {table.lines[at]}: {count.name} must be a whole number, 1 or more, got "
            f"{count.text[at]!r}"
        )
    return values.astype(np.int64)


def _spreads(columns: Sequence[tuple[str, Column | None]], sizes: Ints) -> Floats:
    """As standard deviations of one trial."""
    found = np.full((len(sizes), len(columns)), np.nan)
    for q, (kind, column) in enumerate(columns):
        if column is not None:
            given = np.asarray(column.numbers)
            if np.any(given < 0.0):
                raise InputError(f"{column.name} must be at least 0, got {given[given < 0.0][0]:g}")
            found[:, q] = {"sd": given, "se": given * np.sqrt(sizes), "variance": np.sqrt(given)}[kind]
    return found


def _arms(labels: Sequence[str], names: Names, notes: list[str]) -> tuple[tuple[str, ...], Ints]:
    """Names in the order of their first row, and the place of each row's. Nearly equal ones are refused."""
    if names not in ("ask", "merge", "keep"):
        raise InputError(f"names must be 'ask', 'merge' or 'keep', got {names!r}")
    alike: dict[str, str] = {}
    stands: dict[str, str] = {}
    for label in dict.fromkeys(labels):
        key = " ".join(label.split()).casefold()
        value = plain_number(key)
        key = key if value is None else repr(value)
        first = alike.setdefault(key, label)
        if first != label and names == "ask":
            raise InputError(
                "options must differ by more than white space, case or how a number is written, "
                f"got {first!r} and {label!r}: are they the same? names='merge' (--names merge) takes them for one, "
                "names='keep' for two"
            )
        stands[label] = first if names == "merge" else label
    if names == "merge" and len(set(stands.values())) < len(stands):
        merged = [f"{label!r} as {first!r}" for label, first in stands.items() if label != first]
        notes.append(f"Taken for the same option: {', '.join(merged)}.")
    arms = tuple(dict.fromkeys(" ".join(first.split()) if names == "merge" else first for first in stands.values()))
    place = {
        label: arms.index(" ".join(first.split()) if names == "merge" else first) for label, first in stands.items()
    }
    return arms, np.array([place[label] for label in labels], dtype=np.int64)
