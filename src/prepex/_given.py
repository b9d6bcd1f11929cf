"""Which of a user's objects come with names: mappings, named tuples, rows of a database, what pandas has.

Nothing of the kind may be taken by position without a word: see `_named`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# What numbers mostly come in; looked at first, as outcomes are told one by one.
_NUMBERS = frozenset((float, int, np.float64, np.int64))
_LISTS = frozenset((list, tuple))
_PLAIN = frozenset((np.ndarray, str)) | _LISTS | _NUMBERS


def pairs(value: Any) -> list[tuple[Any, Any]] | None:
    """(name, entry) of a mapping, a Series, a named tuple or a row of a database; None of anything else.

    >>> from collections import namedtuple
    >>> pairs({"gain": 1.0}), pairs(namedtuple("Row", "gain cost")(1.0, 2.0)), pairs([1.0])
    ([('gain', 1.0)], [('gain', 1.0), ('cost', 2.0)], None)
    """
    if type(value) in _PLAIN:
        return None
    if isinstance(value, Mapping):
        return list(value.items())
    if is_series(value):
        return list(zip(value.index, value, strict=True))
    if isinstance(value, Sequence) and hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if hasattr(value, "keys") and hasattr(value, "__getitem__") and not hasattr(value, "columns"):
        return [(key, value[key]) for key in value.keys()]  # noqa: SIM118 - a row of sqlite3 iterates over its values
    return None


def is_series(value: Any) -> bool:
    """A Series of pandas."""
    return hasattr(value, "to_dict") and hasattr(value, "index") and not hasattr(value, "columns")


def index_of(value: Any) -> Any:
    """The labels of the rows of a Series or a DataFrame; None where there are none."""
    return value.index if hasattr(value, "to_dict") and hasattr(value, "index") else None


def rows_of(value: Any) -> list[Any] | None:
    """The entries of a list and the like, if some of them are more than numbers."""
    # The commonest first: to ask for an abstract class is slow.
    if type(value) not in _LISTS and (isinstance(value, str | bytes) or not isinstance(value, Sequence)):
        return None
    return None if _NUMBERS.issuperset(map(type, value)) else list(value)


def names_in(value: Any) -> list[Any]:
    """The first names that are found, on the outside or within; none if all is by position.

    Labels 0, 1, 2, ... are positions, as pandas gives them to what has no names.

    >>> names_in([[1.0, 2.0]]), names_in([{"gain": 1.0}])
    ([], ['gain'])
    """
    if type(value) in _NUMBERS or type(value) is np.ndarray:
        return []
    if type(value) in _LISTS and _NUMBERS.issuperset(map(type, value)):
        return []
    if hasattr(value, "columns"):
        return _unlike_positions(list(value.columns)) or _unlike_positions(list(getattr(value, "index", ())))
    given = pairs(value)
    if given is not None:
        found = _unlike_positions([name for name, _ in given])
        return found or next(filter(None, (names_in(entry) for _, entry in given)), [])
    rows = rows_of(value)
    return [] if rows is None else next(filter(None, map(names_in, rows)), [])


def _unlike_positions(labels: list[Any]) -> list[Any]:
    return [] if are_positions(labels) else labels


def are_positions(labels: list[Any]) -> bool:
    """Are they 0, 1, 2, ...?"""
    return are_whole(labels) and labels == list(range(len(labels)))


def are_whole(labels: list[Any]) -> bool:
    """Are they whole numbers?"""
    return all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels)
