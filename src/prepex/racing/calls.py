"""Functions in place of commands: `race` and `race_async`."""

import asyncio
import inspect
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from prepex import _checks
from prepex.cone import Cone
from prepex.errors import InputError, shown
from prepex.extras import need
from prepex.family import Family, LogNormal
from prepex.limits import Limit
from prepex.racing.answer import Raced
from prepex.racing.grid import options_of
from prepex.racing.loop import Budget, run
from prepex.racing.opening import Task
from prepex.racing.question import ROUNDS, Question
from prepex.racing.returned import CLOCKS, measure, raised, read
from prepex.racing.trial import Result
from prepex.tolerance import Tolerance

# Of the study, where none is given.
NAME = "race"
# Seconds between two looks.
LOOK = 1.0
# Of a function that was called in place of a coroutine function.
NOTHING_TO_AWAIT = object()


def race(
    options: Any,
    *,
    objectives: Sequence[str] | None = None,
    minimise: Sequence[str] = (),
    executor: Executor | None = None,
    jobs: int | None = None,
    inputs: Sequence[Any] | None = None,
    family: Mapping[str, Family] | None = None,
    tolerance: Tolerance = None,
    at_most: Mapping[str, float] | None = None,
    at_least: Mapping[str, float] | None = None,
    limits: Sequence[Limit] = (),
    cone: Cone | None = None,
    delta: float = 0.05,
    max_trials: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    rounds: int = ROUNDS,
    failed: Mapping[str, float] | None = None,
    on_failure: str = "stop",
    storage: str | os.PathLike[str] | None = None,
    name: str = NAME,
    look: Callable[[Raced], None] | None = None,
) -> Raced:
    """Call functions, by turns, until it is settled which of them are worth keeping.

    options      functions by name, or a function with a `grid`. Each returns a number, a tuple in the order of the
                 objectives, or a mapping; nothing, where only "time" or "cpu" are asked for. One that has a parameter
                 `seed` is given another number in every trial, the same for the same `seed` of the race
    objectives   names; "time" and "cpu", in seconds, are measured unless the function returns them
    executor     any `concurrent.futures.Executor`: processes, threads, `dask.distributed.Client(...).get_executor()`;
                 by default one call after the other, here. `jobs`: how many are out at once, by default its workers
    inputs       every trial is given one, drawn at random, as the first argument: the answer is about their mean
    family       of objectives where the usual one does not fit: times are LogNormal; of all others the first `rounds`
                 decide: without noise if every option repeats its own, Bernoulli if all are 0 or 1, else Gaussian
    failed       values that count for a trial that raises; else `on_failure`, "stop" or "retry", up to 3 times, with
                 another seed and input
    storage      a file: the race goes on where it was when it is called again; by default nothing is kept
    max_trials, max_seconds   end without an answer then
    look         called now and then with how it stands

    tolerance, at_most, at_least, limits, cone, delta: as in `Experiment`.

    >>> import random
    >>> def draw(mean, seed):
    ...     return random.Random(seed).gauss(mean, 0.3)
    >>> found = race({"low": partial(draw, 1.0), "high": partial(draw, 2.0)}, objectives=("gain",), seed=1)
    >>> found.status, found.answer
    ('certified', ('high',))
    """
    functions = options_of(options)
    _require_plain(functions)
    question = _question(
        functions, objectives, minimise=minimise, family=family, tolerance=tolerance, at_most=at_most,
        at_least=at_least, limits=limits, cone=cone, delta=delta, seed=seed, rounds=rounds, failed=failed,
        on_failure=on_failure,
    )  # fmt: skip
    runner = Calls(functions, question, executor, inputs)
    budget = _budget(max_trials, max_seconds, len(functions))
    workers = (1 if executor is None else _workers(executor)) if jobs is None else _checks.whole("jobs", jobs, low=1)
    with _book(question, storage, name) as (book, kept):
        seen = None if look is None else partial(_glance, book, look, [0.0])
        run(book, runner, jobs=workers, budget=budget, look=seen)
        return Raced.of(book, kept)


async def race_async(
    options: Mapping[str, Callable[..., Awaitable[Any]]],
    *,
    at_once: int = 8,
    objectives: Sequence[str] | None = None,
    minimise: Sequence[str] = (),
    inputs: Sequence[Any] | None = None,
    max_trials: int | None = None,
    max_seconds: float | None = None,
    storage: str | os.PathLike[str] | None = None,
    name: str = NAME,
    **settings: Any,
) -> Raced:
    """The same for coroutine functions, as of calls over a network: at most `at_once` at a time.

    What to do when a call fails is left to the function: to try again, wait, or raise. Settings as in `race`.

    >>> import random
    >>> async def ask(p, seed):
    ...     await asyncio.sleep(0)
    ...     return random.Random(seed).random() < p
    >>> prompts = {"short": partial(ask, 0.3), "long": partial(ask, 0.9)}
    >>> asyncio.run(race_async(prompts, objectives=("right",), seed=2)).answer
    ('long',)
    """
    functions = options_of(options)
    question = _question(functions, objectives, minimise=minimise, **settings)
    limit = _checks.whole("at_once", at_once, low=1)
    budget = _budget(max_trials, max_seconds, len(functions))
    calls = Calls(functions, question, None, inputs)
    running: dict[asyncio.Task[Result], Task] = {}
    began = time.monotonic()
    with _book(question, storage, name) as (book, kept):
        try:
            while True:
                while len(running) < limit and not book.done and not budget.over(book, began):
                    tasks = book.next(1)
                    if not tasks:
                        break
                    running[asyncio.ensure_future(calls.awaited(tasks[0]))] = tasks[0]
                if not running or book.done:
                    break
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in running if task in done]:
                    book.take(running.pop(task), task.result())
                book.require_variation()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return Raced.of(book, kept)


def _glance(book: Any, look: Callable[[Raced], None], next_time: list[float], running: int) -> None:
    """Show it, if it is time."""
    if time.monotonic() >= next_time[0]:
        look(Raced.of(book, None))
        next_time[0] = time.monotonic() + LOOK


class Calls:
    """Runs trials of functions, by an executor or here."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        question: Question,
        executor: Executor | None,
        inputs: Sequence[Any] | None,
    ) -> None:
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise InputError(f"executor must be a concurrent.futures.Executor, got {shown(executor)}")
        self.functions, self.question, self.executor = functions, question, executor
        self.inputs = None if inputs is None else _checks.listed("inputs", inputs, "what trials are given")
        self._seeded = {name: _takes_seed(function) for name, function in functions.items()}

    def _given(self, task: Task) -> tuple[tuple[Any, ...], dict[str, Any]]:
        seed = task.seed(self.question.seed)
        named = {"seed": seed} if self._seeded[task.option] else {}
        if self.inputs is None:
            return (), named
        rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
        return (self.inputs[int(rng.integers(len(self.inputs)))],), named

    def start(self, task: Task) -> "Future[Result]":
        """Begin one; without an executor it is over when this returns."""
        args, named = self._given(task)
        given = self.functions[task.option], args, named, self.question.objectives
        if self.executor is not None:
            return _told(self.executor.submit(measure, *given))
        future: Future[Result] = Future()
        future.set_result(measure(*given))
        return future

    async def awaited(self, task: Task) -> Result:
        """One call of a coroutine function."""
        args, named = self._given(task)
        began = time.perf_counter()
        try:
            made: Any = self.functions[task.option](*args, **named)
            # No signature tells what a lambda returns, so the first call is looked at.
            returned = await made if inspect.isawaitable(made) else NOTHING_TO_AWAIT
        except Exception as error:
            return raised(error, began)
        if returned is NOTHING_TO_AWAIT:
            raise InputError(
                f"option {task.option!r} must be a coroutine function (async def), got one that returns "
                f"{shown(made)}: prepex.race calls plain functions"
            )
        return read(returned, self.question.objectives, {"time": time.perf_counter() - began})

    def stop(self) -> bool:
        """Calls cannot be ended; those that are out are waited for."""
        return False


def _told(future: "Future[Result]") -> "Future[Result]":
    """The same, where a worker that died is a failed trial too."""
    told: Future[Result] = Future()

    def hand_on(over: "Future[Result]") -> None:
        error = over.exception() if not over.cancelled() else RuntimeError("the call was cancelled")
        told.set_result(over.result() if error is None else raised(error, time.perf_counter()))

    future.add_done_callback(hand_on)
    return told


def _require_plain(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Of options that would never be awaited the first is named, before anything is called."""
    for name, function in functions.items():
        whole: Any = function.func if isinstance(function, partial) else function
        if inspect.iscoroutinefunction(whole) or inspect.iscoroutinefunction(type(whole).__call__):
            raise InputError(
                f"option {name!r} must be a plain function, got a coroutine function (async def): prepex.race_async "
                "calls those"
            )


def _takes_seed(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "seed" in parameters and not (isinstance(function, partial) and "seed" in function.keywords)


def _question(
    functions: Mapping[str, Any],
    objectives: Sequence[str] | None,
    *,
    minimise: Sequence[str] = (),
    family: Mapping[str, Family] | None = None,
    at_most: Mapping[str, float] | None = None,
    at_least: Mapping[str, float] | None = None,
    failed: Mapping[str, float] | None = None,
    **settings: Any,
) -> Question:
    least = [minimise] if isinstance(minimise, str) else list(minimise)
    named = [objectives] if isinstance(objectives, str) else list(least if objectives is None else objectives)
    if not named:
        raise InputError("objectives must be names, as in objectives=('time',), got none")
    families: dict[str, Family | None] = {name: LogNormal() if name in CLOCKS else None for name in named}
    for name, one in (family or {}).items():
        if name not in families:
            raise InputError(f"family must be of {_checks.quoted(named)}, got {shown(name)}")
        families[name] = _checks.instance(f"family of {name!r}", one, Family)
    return Question(
        options=tuple(functions),
        objectives=tuple(named),
        minimise=tuple(dict.fromkeys([*least, *(name for name in CLOCKS if name in named)])),
        families=families,
        at_most=at_most or {},
        at_least=at_least or {},
        failed=failed or {},
        units={name: "s" for name in CLOCKS if name in named},
        **settings,
    )


def _budget(trials: int | None, seconds: float | None, n_options: int) -> Budget:
    return Budget(
        None if trials is None else _checks.whole("max_trials", trials, low=n_options),
        None if seconds is None else _checks.number("max_seconds", seconds, low=0.0),
    )


def _workers(executor: Any) -> int:
    """How many trials an executor works on at once."""
    for name in ("_max_workers", "max_workers", "num_workers"):
        if isinstance(found := getattr(executor, name, None), int) and found > 0:
            return found
    client = getattr(executor, "_client", None)
    if client is not None and callable(getattr(client, "nthreads", None)):
        return max(sum(client.nthreads().values()), 1)
    return os.cpu_count() or 1


@contextmanager
def _book(question: Question, storage: str | os.PathLike[str] | None, name: str) -> Iterator[Any]:
    """(the book, the storage that outlives it), in a folder of its own where nothing is to be kept."""
    need("study", "races need", "sqlalchemy", "alembic")
    from prepex.racing.book import Book
    from prepex.racing.journal import Journal, beside

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder) / "race.db" if storage is None else storage
        local = storage is not None and "://" not in str(storage)
        journal = Journal(beside(str(place), name) if local else None)
        try:
            spec = {"options": dict.fromkeys(question.options, "function")}
            book = Book(question, place, name, spec, journal)
            try:
                yield book, storage
            finally:
                book.close()
        finally:
            journal.close()
