"""A function with a grid of parameters, as options of a race."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from prepex import _checks
from prepex.errors import InputError, shown


def grid(function: Any = None, /, *, sample: int | None = None, seed: int = 0, **values: Iterable[Any]) -> Any:
    """A function with a grid of parameters, as options of a race; also as a decorator.

    sample   so many combinations, drawn at random with `seed`

    >>> @grid(level=(1, 9), fast=(False, True))
    ... def compress(level, fast):
    ...     return 10 / level + fast
    >>> list(options_of(compress))
    ['level=1, fast=False', 'level=1, fast=True', 'level=9, fast=False', 'level=9, fast=True']
    >>> compress(1, fast=True)
    11.0
    """
    if function is None:
        return partial(grid, sample=sample, seed=seed, **values)
    if not callable(function):
        raise InputError(f"function must be one, got {shown(function)}")
    if not values:
        raise InputError("grid must have parameters, as in grid(level=range(1, 10)), got none")
    listed = {name: _checks.listed(name, several, "values") for name, several in values.items()}
    combinations = [dict(zip(listed, chosen)) for chosen in itertools.product(*listed.values())]
    if sample is not None and sample < len(combinations):
        rng = np.random.default_rng(_checks.seed(seed))
        chosen = rng.choice(len(combinations), size=_checks.whole("sample", sample, low=2), replace=False)
        combinations = [combinations[k] for k in sorted(chosen.tolist())]
    # The function itself stays what it is, so that other processes find it by its name.
    function.race_options = {", ".join(f"{k}={v}" for k, v in one.items()): one for one in combinations}
    return function


def options_of(given: Any) -> dict[str, Callable[..., Any]]:
    """Options by name, of a mapping or of a function with a grid."""
    combinations = getattr(given, "race_options", None)
    if combinations is not None:
        return {name: partial(given, **one) for name, one in combinations.items()}
    if not isinstance(given, Mapping) or len(given) < 2:
        raise InputError(f"options must be a mapping from at least 2 names to functions, or a grid, got {shown(given)}")
    for name, function in given.items():
        if not isinstance(name, str) or not callable(function):
            raise InputError(f"options must be functions by name, got {shown(name)}: {shown(function)}")
    return dict(given)
