"""The loop of a race: as many trials out as there are workers, whoever runs them."""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from prepex.numerals import plural
from prepex.racing.amounts import span
from prepex.racing.book import Book
from prepex.racing.opening import Task
from prepex.racing.trial import Result

# Seconds between two looks at the clock and the screen.
TICK = 0.25
# The same while a run is timed.
SELDOM = 5.0


class Runner(Protocol):
    """Runs trials."""

    def start(self, task: Task) -> "Future[Result]":
        """Begin one."""

    def stop(self) -> bool:
        """Nothing more is wanted. Are those that are running ended?"""


@dataclass(frozen=True)
class Budget:
    """Most outcomes of the race in all, and seconds of this run of it; None: no end."""

    outcomes: int | None = None
    seconds: float | None = None

    @property
    def words(self) -> str | None:
        """For people; None: no end.

        >>> Budget(outcomes=500, seconds=45.0).words
        '500 runs, 45 s each time it is started'
        """
        runs = [] if self.outcomes is None else [plural(self.outcomes, "run")]
        times = [] if self.seconds is None else [f"{span(self.seconds)} each time it is started"]
        return ", ".join(runs + times) or None

    def over(self, book: Book, began: float) -> bool:
        """Is it spent?"""
        if self.seconds is not None and time.monotonic() - began >= self.seconds:
            return True
        return self.outcomes is not None and sum(map(_count, book.values.values())) + book.out >= self.outcomes


def _count(values: dict[str, list[float]]) -> int:
    return len(next(iter(values.values()), ()))


def run(book: Book, runner: Runner, *, jobs: int, budget: Budget, look: Callable[[int], None] | None = None) -> bool:
    """Until it is settled, or the budget is spent. Is it settled?

    look   called now and then with the number of trials that are running
    """
    running: dict[Future[Result], Task] = {}
    began = looked = time.monotonic()
    try:
        while True:
            while len(running) < jobs and not book.done and not budget.over(book, began):
                tasks = book.next(1)
                if not tasks:
                    break
                running[runner.start(tasks[0])] = tasks[0]
                _take_done(book, running, 0.0)
            if not running or (book.done and runner.stop()):
                break
            _take_done(book, running, TICK)
            book.require_variation()
            # What computes beside a run that is timed would slow it down: between two runs, or seldom.
            now = time.monotonic()
            if look is not None and (book.timed is None or not running or now - looked > SELDOM):
                look(len(running))
                looked = now
        return book.done
    finally:
        runner.stop()


def _take_done(book: Book, running: "dict[Future[Result], Task]", patience: float) -> None:
    done, _ = wait(running, timeout=patience, return_when=FIRST_COMPLETED)
    # In the order in which they were asked for: a book that is read again says the same.
    for future in [future for future in running if future in done]:
        book.take(running.pop(future), future.result())
