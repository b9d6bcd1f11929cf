"""How a race stands: a row for each option, and what is left."""

import math
from dataclasses import dataclass

import numpy as np

from prepex.family import Exact, LogNormal
from prepex.foresight.forecast import Forecast
from prepex.numerals import measured, plural, scaled
from prepex.racing.amounts import with_unit
from prepex.racing.book import Book
from prepex.study.answers import Status


@dataclass(frozen=True)
class Value:
    """The mean of a measure, geometric where it is log-normal, and its standard error, a share of it there.

    error   None: not known; 0 of what has no noise
    """

    mean: float
    error: float | None
    unit: str
    relative: bool
    exact: bool

    @property
    def words(self) -> str:
        """As a table shows it.

        >>> Value(0.1234, 0.021, "s", True, False).words, Value(1234.0, 0.0, "B", False, True).words
        ('123 ms ± 2.1%', '1,234 B')
        >>> Value(0.30231, 0.003846, "", False, False).words, Value(21500.0, 410.0, "B", False, False).words
        ('0.3023 ± 0.0038', '21.50 ± 0.41 kB')
        """
        shown = with_unit(self.mean, self.unit)
        if self.exact or self.error is None:
            return shown
        if self.relative:
            return f"{shown} ± {100 * self.error:.2g}%"
        if self.error == 0.0:
            return f"{shown} ± 0"
        size, word = scaled(self.mean, self.unit)
        return f"{measured(self.mean / size, self.error / size)} {word}".rstrip()


@dataclass(frozen=True)
class Row:
    """One option. `state` is "in", "out" or "open"; `probability` that it belongs in the answer, where it is known."""

    option: str
    n: int
    values: tuple[Value | None, ...]
    state: str
    probability: float | None
    share: float
    failed: int


@dataclass(frozen=True)
class View:
    """All of it. `status` is None during the first rounds."""

    name: str
    objectives: tuple[str, ...]
    minimise: tuple[str, ...]
    rows: tuple[Row, ...]
    n: int
    status: Status | None
    left: str
    notes: tuple[str, ...]
    failures: dict[str, list[str]]
    done: bool
    why: str

    @property
    def front(self) -> list[Row]:
        """The options of the answer, or of what looks like it."""
        chosen = () if self.status is None else self.status.recommendation.arms
        return [row for row in self.rows if row.option in chosen]


def look(book: Book, *, words: bool = False) -> View:
    """How a race stands now; `words`: with the study's own words, which take longer."""
    question, study = book.question, book.study
    status = None if study is None else study.status()
    total = sum(_count(seen) for seen in book.values.values())
    states = {} if status is None else status.states
    chances = (None if status is None else status.probabilities) or {}
    rows = tuple(
        Row(
            option=option,
            n=_count(book.values[option]),
            values=tuple(_value(book, option, name) for name in question.objectives),
            state=states.get(option, "open"),
            probability=chances.get(option),
            share=_count(book.values[option]) / total if total else 0.0,
            failed=len(book.failures.get(option, ())),
        )
        for option in question.options
    )
    return View(
        name=book.name,
        objectives=question.objectives,
        minimise=question.minimise,
        rows=rows,
        n=total,
        status=status,
        left=_left(book, status),
        notes=tuple(book.notes),
        failures=book.failures,
        done=book.done,
        why=study.why() if words and study is not None else "",
    )


def _count(values: dict[str, list[float]]) -> int:
    return len(next(iter(values.values()), ()))


def _value(book: Book, option: str, name: str) -> Value | None:
    seen = book.values[option].get(name)
    if not seen:
        return None
    family = book.families.get(name) or book.question.families.get(name)
    unit = book.question.units.get(name, "")
    if isinstance(family, Exact):
        return Value(seen[0], 0.0, unit, relative=False, exact=True)
    relative = isinstance(family, LogNormal)
    numbers = np.log(seen) if relative else np.asarray(seen)
    error = float(numbers.std(ddof=1) / math.sqrt(len(seen))) if len(seen) > 1 else None
    mean = float(np.exp(numbers.mean()) if relative else numbers.mean())
    return Value(mean, error, unit, relative, exact=False)


def _left(book: Book, status: Status | None) -> str:
    """How far it is, in words."""
    if status is None:
        return f"first rounds: {len(book.opening.told)} of {book.opening.size} runs"
    if status.done:
        return "settled"
    if status.forecast is not None and status.forecast.never is not None:
        return status.forecast.never.rstrip(".")
    parts = []
    if status.reached is not None:
        parts.append(f"margin {status.reached:.1f} of {status.needed:.1f}")
    if book.ahead is not None:
        parts.append(range_words(book.ahead, status.n_pulls))
    return ", ".join(parts) or "too early to say how many more runs"


def range_words(ahead: Forecast, n_pulls: int) -> str:
    """How many more runs, from a forecast that was made some runs ago.

    >>> range_words(Forecast.of(100, [*range(40, 140)], 100, None), 110)
    '39 to 120 more runs (8 of 10 times)'
    >>> range_words(Forecast.of(100, [], 100, 500), 110)
    'more than 490 more runs'
    """
    since = n_pulls - ahead.n_pulls
    if ahead.low is None or ahead.high is None:
        least = ahead.followed if ahead.low is None else ahead.low
        return (
            "too early to say how many more runs"
            if least is None
            else f"more than {plural(max(least - since, 1), 'more run')}"
        )
    return f"{max(ahead.low - since, 1):,} to {max(ahead.high - since, 1):,} more runs (8 of 10 times)"
