"""One call of a function, where it is made, and what it returned."""

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from prepex import _checks, _given
from prepex.errors import shown
from prepex.racing.measures import SHORTEST
from prepex.racing.trial import Result, last_words

# Measured of a call where the function does not say them itself.
CLOCKS = ("time", "cpu")


def measure(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], objectives: Sequence[str]
) -> Result:
    """One call, where it is made."""
    began, cpu = time.perf_counter(), time.thread_time()
    try:
        returned = function(*args, **named)
    except Exception as error:
        return raised(error, began)
    if inspect.iscoroutine(returned):
        returned.close()  # or Python warns that nobody awaited it
        return Result(problem="it must return a value, got a coroutine: prepex.race_async awaits those", words=None)
    clocks = {"time": time.perf_counter() - began, "cpu": time.thread_time() - cpu}
    return read(returned, objectives, clocks)


def raised(error: BaseException, began: float) -> Result:
    """A call that failed."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Result(problem="it raised an error", words=last_words(words), seconds=time.perf_counter() - began)


def read(returned: Any, objectives: Sequence[str], clocks: Mapping[str, float]) -> Result:
    """What a function returned, by objective.

    >>> read((1, 0.5), ("gain", "loss"), {}).values
    {'gain': 1.0, 'loss': 0.5}
    >>> read("fast", ("gain",), {}).problem
    "it must return a number, a tuple of 1 or a mapping with 'gain', got 'fast'"
    """
    named = _given.pairs(returned)
    wanted = [name for name in objectives if name not in clocks] if named is None else [*objectives]
    found: Any = None
    if named is not None:  # names decide, never the order
        found = dict(named)
    elif returned is None:
        found = {}
    elif isinstance(returned, tuple | list | np.ndarray) and np.ndim(returned) == 1:
        names = wanted if len(returned) == len(wanted) else list(objectives)
        found = dict(zip(names, returned, strict=True)) if len(returned) == len(names) else None
    elif isinstance(returned, Real | np.bool_) and len(wanted or objectives) == 1:
        found = {(wanted or objectives)[0]: returned}
    if found is not None:
        found = {**{name: value for name, value in clocks.items() if name in objectives}, **found}
        missing = [name for name in objectives if name not in found]
        if not missing:
            values = {name: found[name] for name in objectives}
            bad = [name for name, value in values.items() if not _is_number(value)]
            if not bad and any(name in CLOCKS and values[name] < 0 for name in values):
                name = next(name for name in CLOCKS if values.get(name, 0) < 0)
                return Result(problem=f"{name} must be at least 0, got {shown(values[name])}", words=None)
            if not bad:
                return Result(
                    {
                        name: max(float(value), SHORTEST) if name in CLOCKS else float(value)
                        for name, value in values.items()
                    }
                )
            return Result(problem=f"{bad[0]} must be a finite number, got {shown(values[bad[0]])}", words=None)
    listed = _checks.quoted([name for name in objectives if name not in clocks] or list(objectives))
    wants = f"it must return a number, a tuple of {len(wanted)} or a mapping with {listed}"
    return Result(problem=f"{wants}, got {shown(returned)}", words=None)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real | np.bool_) and bool(np.isfinite(float(value)))
    except OverflowError:  # a whole number of 400 digits
        return False
