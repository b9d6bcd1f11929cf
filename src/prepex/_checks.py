"""The only place that raises on bad input: what was given, what was expected, what came."""

import math
import os
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex import _given
from prepex.errors import InputError, InputTypeError, shown

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Squares of larger numbers overflow, and those of smaller ones are 0.
LARGEST, SMALLEST = 1e100, 1e-100
# Outcomes in one summary.
LARGEST_SUMMARY = 1_000_000
# Characters of a name.
LONGEST_NAME = 1000
# Names among which one that was misspelt is looked for.
MOST_COMPARED = 2000
# What counts as a number among objects, and what numpy takes for a list of numbers.
_NUMBERS, _BYTES = (Real, Decimal), (bytes, bytearray, memoryview)


def real_array(name: str, value: Any, *shape: tuple[str, int | None], known: Sequence[str] = ()) -> Floats:
    """A read-only float copy of `value` with the given shape: (dimension's name, its size or None if free).

    What has names is refused: whoever takes some puts them in order before. `known`: what the last dimension stands
    for, said where an entry is not finite.
    """
    words = ", ".join(dimension if size is None else f"{size} = {dimension}" for dimension, size in shape)
    expected = f"({words},)" if len(shape) == 1 else f"({words})"
    named = _given.names_in(value)
    if named:
        raise InputError(f"{name} must be numbers in order, without names (as in .to_numpy()), got {_names(named)}")
    try:
        raw = np.asarray(value)
        # Text, truth values, dates and the like convert to numbers, but were hardly meant as such.
        if raw.dtype.kind not in "iufO" or _has_truth_values(value) or isinstance(value, _BYTES):
            raise TypeError
        if raw.dtype.kind == "O" and not all(entry is None or isinstance(entry, _NUMBERS) for entry in raw.flat):
            raise TypeError
        array = np.array(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be numbers of shape {expected}, got {_short(value)}") from None
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(f"{name} must have no masked entries, got {_short(value)}")
    fits = array.ndim == len(shape) and all(
        size is None or size == got for got, (_, size) in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise InputError(f"{name} must have shape {expected}, got {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} must not be empty: shape {expected}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        of = f" ({known[at[-1]]!r})" if known else ""
        raise InputError(f"{name} must be finite, got {array[at]} at position {at}{of}")
    if np.abs(array).max() > LARGEST:
        raise InputError(f"{name} must be at most {LARGEST:g} in size, got {array.flat[np.abs(array).argmax()]:g}")
    array.flags.writeable = False
    return array


def _has_truth_values(value: Any) -> bool:
    """Among numbers: numpy makes 1.0 of True in [True, 0.5]."""
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(entry, bool | np.bool_) for entry in value.flat)
    rows = _given.rows_of(value) if isinstance(value, list | tuple) else None
    if rows is not None:
        kinds = set(map(type, rows))
        if not kinds <= {float, int}:
            return not kinds.isdisjoint({bool, np.bool_}) or any(map(_has_truth_values, rows))
    return False


def variances(name: str, array: Floats) -> Floats:
    """From SMALLEST to LARGEST: their reciprocals are numbers too."""
    bad = np.argwhere(~((positive(name, array) >= SMALLEST) & (array <= LARGEST)))
    if bad.size:
        at = tuple(int(i) for i in bad[0])
        raise InputError(f"{name} must be from {SMALLEST:g} to {LARGEST:g}, got {array[at]:g} at position {at}")
    return array


def sized(name: str, value: Any) -> float:
    """A number whose square is one."""
    found = number(name, value)
    if abs(found) > LARGEST:
        raise InputError(f"{name} must be at most {LARGEST:g} in size, got {found:g}")
    return found


def variance(name: str, value: Any) -> float:
    """A single one."""
    found = number(name, value, low=0.0)
    if not SMALLEST <= found <= LARGEST:
        raise InputError(f"{name} must be from {SMALLEST:g} to {LARGEST:g}, got {found:g}")
    return found


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that could be taken for one."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name} must be True or False, got {_short(value)}")
    return bool(value)


def whole_array(name: str, value: Any, shape: tuple[str, int | None], *, low: int, high: int = 2**53) -> Ints:
    """A read-only array of integers in [low, high] with the given shape: (dimension's name, its size or None)."""
    reals = real_array(name, value, shape)
    bad = np.flatnonzero((reals != np.floor(reals)) | (reals < low) | (reals > high))
    if bad.size:
        limit = f"of at least {low}" if high == 2**53 else f"from {low:,} to {high:,}"
        raise InputError(f"{name} must be integers {limit}, got {reals[bad[0]]:g} at position ({bad[0]},)")
    return frozen(reals.astype(np.int64))


def positive(name: str, array: Floats) -> Floats:
    """Every entry above zero."""
    if not np.all(array > 0):
        at = tuple(int(i) for i in np.argwhere(~(array > 0))[0])
        raise InputError(f"{name} must be positive, got {array[at]} at position {at}")
    return array


def number(name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, closed: bool = False) -> float:
    """A finite number strictly between low and high (`closed`: low allowed)."""
    left = "[" if closed else "("
    expected = "finite" if math.isinf(low) and math.isinf(high) else f"in {left}{low:g}, {high:g})"
    try:
        real = float(value)
        if isinstance(value, bool | str) or (isinstance(value, np.generic) and value.dtype.kind not in "iuf"):
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number {expected}, got {_short(value)}") from None
    if not math.isfinite(real) or not (low < real < high or (closed and real == low)):
        raise InputError(f"{name} must be {expected}, got {value}")
    return real


def whole(name: str, value: Any, *, low: int, high: int = 2**53 - 1) -> int:
    """An integer from `low` to `high`: by default one that every reader of JSON keeps exactly."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InputError(f"{name} must be an integer of at least {low}, got {_short(value)}")
    if value > high:
        raise InputError(f"{name} must be an integer of at most {high}, got {_short(value)}")
    return int(value)


def seed(value: Any) -> int:
    """A seed: as large as numpy's own entropy."""
    return whole("seed", value, low=0, high=2**128 - 1)


def path(name: str, value: Any) -> Path:
    """The name of a file."""
    try:
        found = Path(value)
        os.fsencode(found)
        if "\0" in str(found):
            raise ValueError
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} must be the path of a file, got {_short(value)}") from None
    return found


def target(name: str, value: Any) -> Path:
    """A file to be written."""
    found = path(name, value)
    if not found.parent.is_dir():
        raise InputError(f"{name} must be in a folder that exists, got {str(found)!r}")
    if found.is_dir():
        raise InputError(f"{name} must be a file to write, got the folder {str(found)!r}")
    return found


def summary_size(value: Any) -> int:
    """How many outcomes a summary has."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= LARGEST_SUMMARY:
        raise InputError(f"n must be a whole number from 1 to {LARGEST_SUMMARY:,}, got {_short(value)}")
    return int(value)


def names(name: str, value: Iterable[Any] | None, count: int, default: str) -> tuple[str, ...]:
    """`count` different names; by default "arm 0", "arm 1", ..."""
    if value is None:
        return tuple(f"{default} {k}" for k in range(count))
    if isinstance(value, str):
        raise InputError(f"{name} must be a sequence of {count} names, got the single string {value!r}")
    if not isinstance(value, Iterable):
        raise InputError(f"{name} must be a sequence of {count} names, got {_short(value)}")
    given = tuple(_as_name(name, entry) for entry in in_some_order(name, value))
    if len(given) != count:
        raise InputError(f"{name} must be {count} names, one for each {default}, got {len(given)}")
    alike: dict[str, str] = {}
    for entry in given:
        if len(entry) > LONGEST_NAME:
            raise InputError(f"{name} must be names of at most {LONGEST_NAME} characters, got one of {len(entry)}")
        if not entry.isprintable():
            # Control characters steer a terminal, others turn the reading direction or cannot be written to a file.
            raise InputError(f"{name} must be names of printable characters, got {shown(entry)}")
        if given.count(entry) > 1:
            raise InputError(f"{name} must be different from each other, got {entry!r} {given.count(entry)} times")
        other = alike.setdefault(unicodedata.normalize("NFC", entry).strip(), entry)
        if other != entry:
            raise InputError(
                f"{name} must differ by more than spaces around them or the way in which letters are composed, "
                f"got {other!a} and {entry!a}"
            )
    return given


def _as_name(name: str, entry: Any) -> str:
    if _is_missing(entry):
        raise InputError(f"{name} must be names, got {_short(entry)}, which stands for a missing one")
    if isinstance(entry, bool | np.bool_):
        # Elsewhere a truth value is no name, as it is a whole number to Python.
        raise InputError(f"{name} must be names, got {_short(entry)}; as a word it is {str(entry)!r}")
    return shown(entry) if (text := _text(entry)) is None else text


def in_some_order(name: str, value: Iterable[Any]) -> Iterable[Any]:
    """The same; a set has no order, and another one each time that Python is started."""
    if isinstance(value, set | frozenset):
        raise InputError(f"{name} must come in an order, as in a list, got a set: {_short(value)}")
    return value


def listed(name: str, value: Any, what: str) -> tuple[Any, ...]:
    """A non-empty sequence of different entries."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a sequence of {what}, got {_short(value)}")
    entries = tuple(in_some_order(name, value))
    if not entries:
        raise InputError(f"{name} must have at least one entry, got none")
    for index, entry in enumerate(entries):
        if isinstance(entry, np.ndarray):
            raise InputError(f"{name} must be {what or 'single entries'}, got an array among them")
        if _is_missing(entry):
            raise InputError(f"{name} must be {what or 'single entries'}, got {_short(entry)} among them")
        if entry in entries[:index]:
            raise InputError(f"{name} must be different from each other, got {_short(entry)} twice")
    return entries


def one_or_several(given: Any) -> tuple[Any, ...]:
    """One name, or several."""
    return (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)


def position(value: Any, known: Sequence[str]) -> int | None:
    """Where `value` is among the names. A whole number that is no name is an index, if no name looks like a number.

    >>> position("b", ("a", "b")), position(1, ("a", "b")), position(1, ("2", "1", "0")), position(7, ("2", "1", "0"))
    (1, 1, 1, None)
    """
    if type(value) is str:
        return known.index(value) if value in known else None
    if isinstance(value, bool | np.bool_) or _is_missing(value):
        return None
    text = _text(value) if isinstance(value, Hashable) else None
    if text is not None and text in known:
        return known.index(text)
    if isinstance(value, int | np.integer) and 0 <= value < len(known) and not _numbered(tuple(known)):
        return int(value)
    return None


def _is_missing(value: Any) -> bool:
    """None, not a number, not a time, or pandas' NA: an empty cell, and never a name."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and bool(value != value)


def _text(value: Any) -> str | None:
    """As a name; an integer of thousands of digits has none."""
    try:
        return str(value)
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _numbered(known: tuple[str, ...]) -> bool:
    """Does some name look like a number?"""
    return any(_looks_like_a_number(name) for name in known)


def _looks_like_a_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def member(name: str, value: Any, known: Sequence[str]) -> int:
    """The position of `value` (a name, or an index where that cannot be confused with a name) in `known`."""
    found = position(value, known)
    if found is None:
        raise InputError(
            f"{name} must be one of {quoted(known)}{_or_index(known)}, got {_short(value)}{meant(value, known)}"
        )
    return found


def _or_index(known: Sequence[str]) -> str:
    return " (as some look like numbers, an index is not taken)" if _numbered(tuple(known)) else " or an index"


def meant(value: Any, known: Iterable[str]) -> str:
    """The end of a message about a name that is not known: which one it is close to, if any.

    >>> meant("cots", ("strength", "cost")), meant("price", ("strength", "cost"))
    ("; did you mean 'cost'?", '')
    """
    from difflib import get_close_matches

    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        return ""
    by_case = {str(name).casefold(): name for name in islice(known, MOST_COMPARED)}
    found = get_close_matches(value.strip().casefold(), by_case, n=1, cutoff=0.7)
    return f"; did you mean {by_case[found[0]]!r}?" if found else ""


def quoted(known: Iterable[str]) -> str:
    """Names in a sentence."""
    return ", ".join(map(repr, known))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only: what is handed out is not a way in."""
    array.flags.writeable = False
    return array


def instance(name: str, value: Any, kind: type) -> Any:
    """An object of the given class."""
    if not isinstance(value, kind):
        raise InputTypeError(f"{name} must be a {kind.__name__}, got {_short(value)}")
    return value


def covariance(name: str, array: Floats) -> Floats:
    """Symmetric positive definite matrices, one or a stack."""
    for index, matrix in enumerate(array.reshape(-1, *array.shape[-2:])):
        where = f" (arm {index})" if array.ndim == 3 else ""
        if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12 * np.abs(matrix).max()):
            raise InputError(f"{name}{where} must be symmetric, got {matrix.tolist()}")
        least = float(np.linalg.eigvalsh(matrix)[0])
        if least <= 1e-12 * np.abs(matrix).max():
            raise InputError(f"{name}{where} must be positive definite, got smallest eigenvalue {least:.3g}")
        variances(f"{name}{where}", np.diagonal(matrix))
    return array


def _names(labels: list[Any]) -> str:
    return f"the names {', '.join(map(_short, labels[:5]))}{', ...' if len(labels) > 5 else ''}"


def _short(value: Any) -> str:
    return shown(value)
