"""The only place that raises on bad input: what was given, what was expected, what came."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Squares of larger numbers overflow.
LARGEST = 1e100
# Outcomes in one summary.
LARGEST_SUMMARY = 1_000_000


def real_array(name: str, value: Any, *shape: tuple[str, int | None]) -> Floats:
    """A read-only float copy of `value` with the given shape: (dimension's name, its size or None if free)."""
    words = ", ".join(dimension if size is None else f"{size} = {dimension}" for dimension, size in shape)
    expected = f"({words},)" if len(shape) == 1 else f"({words})"
    try:
        raw = np.asarray(value)
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape {expected}, got {_short(value)}") from None
    if raw.dtype.kind in "USb":  # text and truth values convert to numbers, but were hardly meant as such
        raise ValueError(f"{name} must be numbers of shape {expected}, got {_short(value)}")
    fits = array.ndim == len(shape) and all(
        size is None or size == got for got, (_, size) in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have shape {expected}, got {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty: shape {expected}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[at]} at position {at}")
    if np.abs(array).max() > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:g} in size, got {array.flat[np.abs(array).argmax()]:g}")
    array.flags.writeable = False
    return array


def positive(name: str, array: Floats) -> Floats:
    """Every entry above zero."""
    if not np.all(array > 0):
        at = tuple(int(i) for i in np.argwhere(~(array > 0))[0])
        raise ValueError(f"{name} must be positive, got {array[at]} at position {at}")
    return array


def number(name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, closed: bool = False) -> float:
    """A finite number strictly between low and high (`closed`: low allowed)."""
    left = "[" if closed else "("
    expected = "finite" if math.isinf(low) and math.isinf(high) else f"in {left}{low:g}, {high:g})"
    try:
        real = float(value)
        if isinstance(value, bool | str):
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number {expected}, got {_short(value)}") from None
    if not math.isfinite(real) or not (low < real < high or (closed and real == low)):
        raise ValueError(f"{name} must be {expected}, got {value}")
    return real


def whole(name: str, value: Any, *, low: int) -> int:
    """An integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}, got {_short(value)}")
    return int(value)


def summary_size(value: Any) -> int:
    """How many outcomes a summary has."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= LARGEST_SUMMARY:
        raise ValueError(f"n must be a whole number from 1 to {LARGEST_SUMMARY:,}, got {_short(value)}")
    return int(value)


def names(name: str, value: Iterable[Any] | None, count: int, default: str) -> tuple[str, ...]:
    """`count` different names; by default "arm 0", "arm 1", ..."""
    if value is None:
        return tuple(f"{default} {k}" for k in range(count))
    if isinstance(value, str):
        raise ValueError(f"{name} must be a sequence of {count} names, got the single string {value!r}")
    if not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a sequence of {count} names, got {_short(value)}")
    given = tuple(str(entry) for entry in value)
    if len(given) != count:
        raise ValueError(f"{name} must be {count} names, one for each {default}, got {len(given)}")
    for entry in given:
        if given.count(entry) > 1:
            raise ValueError(f"{name} must be different from each other, got {entry!r} {given.count(entry)} times")
    return given


def listed(name: str, value: Any, what: str) -> tuple[Any, ...]:
    """A non-empty sequence of different entries."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a sequence of {what}, got {_short(value)}")
    entries = tuple(value)
    if not entries:
        raise ValueError(f"{name} must have at least one entry, got none")
    for index, entry in enumerate(entries):
        if entry in entries[:index]:
            raise ValueError(f"{name} must be different from each other, got {_short(entry)} twice")
    return entries


def member(name: str, value: Any, known: Sequence[str]) -> int:
    """The position of `value` (a name or an index) in `known`."""
    if isinstance(value, str) and value in known:
        return known.index(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < len(known):
        return int(value)
    raise ValueError(f"{name} must be one of {', '.join(map(repr, known))} or an index, got {_short(value)}")


def instance(name: str, value: Any, kind: type) -> Any:
    """An object of the given class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {_short(value)}")
    return value


def covariance(name: str, array: Floats) -> Floats:
    """Symmetric positive definite matrices, one or a stack."""
    for index, matrix in enumerate(array.reshape(-1, *array.shape[-2:])):
        where = f" (arm {index})" if array.ndim == 3 else ""
        if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12 * np.abs(matrix).max()):
            raise ValueError(f"{name}{where} must be symmetric, got {matrix.tolist()}")
        least = float(np.linalg.eigvalsh(matrix)[0])
        if least <= 1e-12 * np.abs(matrix).max():
            raise ValueError(f"{name}{where} must be positive definite, got smallest eigenvalue {least:.3g}")
    return array


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
