"""Numbers that come with names: mappings, named tuples, Series and DataFrames of pandas, which is not imported here.

Names decide, never the order in which they come. Labels 0, 1, 2, ... that are no names stand for positions, as pandas
gives them to what has no names (see `_checks.position`).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from prepex import _checks, _given
from prepex._given import are_positions, are_whole, is_series, pairs, rows_of
from prepex.errors import InputError, shown

# Of each dimension of a table; None where it has none.
Axes = tuple[list[Any] | None, ...]


def by_name(name: str, value: Any, known: Sequence[str]) -> dict[str, Any] | None:
    """Some or all of the known names with their values, in the known order; None if `value` has no names.

    >>> by_name("reward", {"cost": 2.0, "gain": 1.0}, ("gain", "cost"))
    {'gain': 1.0, 'cost': 2.0}
    """
    given = pairs(value)
    return None if given is None else _matched(name, given, known)


def _matched(name: str, given: Iterable[tuple[Any, Any]], known: Sequence[str]) -> dict[str, Any]:
    found: dict[int, Any] = {}
    for key, entry in given:
        at = _checks.position(key, known)
        if at is None:
            raise InputError(
                f"{name} must be of {_checks.quoted(known)}, got {key!r}{_hint(key) or _checks.meant(key, known)}"
            )
        if at in found:
            raise InputError(f"{name} must have each name once, got {known[at]!r} twice")
        found[at] = entry
    return {known[at]: found[at] for at in sorted(found)}


def _hint(key: Any) -> str:
    """What pandas adds to the rows of a DataFrame, or makes of names that Python cannot have."""
    if key == "Index":
        return ": leave it out, as in itertuples(index=False)"
    if isinstance(key, str) and key[:1] == "_" and key[1:].isdecimal():
        return ": itertuples has no better name for some columns; to_dict('records') has"
    return ""


def in_order(name: str, value: Any, known: Sequence[str]) -> Any:
    """The values of what has names in the order of the known ones, all of which it must have; else `value` itself.

    >>> in_order("reward", {"cost": 2.0, "gain": 1.0}, ("gain", "cost")), in_order("reward", [1.0, 2.0], ("a", "b"))
    ([1.0, 2.0], [1.0, 2.0])
    """
    given = pairs(value)
    return value if given is None else _all(name, given, known)


def _all(name: str, given: Iterable[tuple[Any, Any]], known: Sequence[str]) -> list[Any]:
    found = _matched(name, given, known)
    missing = [entry for entry in known if entry not in found]
    if missing:
        raise InputError(f"{name} must have {_checks.quoted(known)}, got no {_checks.quoted(missing)}")
    return list(found.values())


def pair(name: str, entry: Any, parts: tuple[str, str]) -> tuple[Any, Any]:
    """Two things, in this order or by these names.

    >>> pair("outcomes", ("a", [1.0]), ("arm", "reward"))
    ('a', [1.0])
    """
    if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 2:
        raise InputError(f"{name} must be pairs ({', '.join(parts)}), got {shown(entry)}")
    first, second = in_order(f"each pair of {name}", entry, parts)
    return first, second


def require_same_rows(name: str, value: Any, other_name: str, other: Any) -> None:
    """Refuse a Series or DataFrame beside another one whose rows have other labels: which belongs to which?"""
    index, beside = _given.index_of(value), _given.index_of(other)
    if index is not None and beside is not None and not index.equals(beside):
        raise InputError(
            f"{name} and {other_name} must have the same index, got {shown(list(index))} and {shown(list(beside))}; "
            "to pair them by position, say to_numpy()"
        )


def columns_in_order(name: str, value: Any, known: Sequence[str]) -> Any:
    """The columns of a DataFrame, or of a list of rows that have names, in the order of these; else `value` itself.

    >>> columns_in_order("rewards", [{"cost": 2.0, "gain": 1.0}], ("gain", "cost"))
    [[1.0, 2.0]]
    """
    if hasattr(value, "columns"):
        return np.asarray(value)[:, order(name, value.columns, known)]
    rows = None if pairs(value) is not None else rows_of(value)
    if rows is None:
        return value
    named = [pairs(row) for row in rows]
    if not any(row is not None for row in named):
        return value
    return [_all(name, _all_named(name, row), known) for row in named]


def _all_named(name: str, row: list[tuple[Any, Any]] | None) -> list[tuple[Any, Any]]:
    if row is None:
        raise InputError(f"{name} must be rows that have names or rows that have none, got both")
    return row


def of_table(
    name: str, value: Any, arms: Iterable[Any] | None, objectives: Iterable[Any] | None
) -> tuple[Any, Iterable[Any] | None, Iterable[Any] | None]:
    """(means, arms, objectives) of a table: its rows are arms, its columns objectives, by name where it has names.

    Names that are given put rows and columns in their order; else those of the table are taken: of a DataFrame, of a
    list of rows that have names, or of a mapping from arms to rows. Anything without names is handed back as it came.

    >>> of_table("means", {"a": {"x": 1.0, "y": 2.0}, "b": {"y": 4.0, "x": 3.0}}, None, None)[1:]
    (('a', 'b'), ('x', 'y'))
    """
    plain, axes = unlabelled(name, value)
    rows = axes[0] if axes and axes[0] is not None else _titles(value, arms)
    columns = axes[1] if len(axes) > 1 else None
    if rows is None and columns is None:
        return value, arms, objectives
    table = _as_array(plain)
    found: list[Any] = []
    for axis, kind, labels, names in ((0, "arms", rows, arms), (1, "objectives", columns, objectives)):
        if names is None:
            found.append(None if labels is None or _unnamed(labels, None) else tuple(labels))
            continue
        # A table of another shape is refused for that later.
        known = _checks.names(kind, names, table.shape[axis], kind[:-1]) if axis < table.ndim else ()
        if labels is not None and not _unnamed(labels, known):
            table = table.take(order(name, labels, known), axis=axis)
        found.append(known)
    return table, found[0], found[1]


def _titles(value: Any, arms: Iterable[Any] | None) -> list[Any] | None:
    """The names that rows of a DataFrame keep when they are taken out of it, if these are arms."""
    rows = rows_of(value)
    if not rows or not all(is_series(row) and row.name is not None for row in rows):
        return None
    titles = [row.name for row in rows]
    known = titles if arms is None else [*map(str, arms)]
    return titles if {*map(str, titles)} & {*map(str, known)} and len({*map(str, titles)}) == len(titles) else None


def unlabelled(name: str, value: Any) -> tuple[Any, Axes]:
    """(the numbers alone, the names along each dimension). Parts that have the same names in other orders are aligned.

    >>> unlabelled("variance", {"gain": 1.0, "cost": 2.0})
    ([1.0, 2.0], (['gain', 'cost'],))
    """
    if hasattr(value, "columns"):
        # A DataFrame of another library may have no names for rows.
        index = _given.index_of(value)
        return np.asarray(value), (None if index is None else list(index), list(value.columns))
    given, rows = pairs(value), rows_of(value)
    if given is None and rows is None:
        return value, ()
    labels, entries = (None, rows or []) if given is None else ([key for key, _ in given], [part for _, part in given])
    parts = [unlabelled(name, entry) for entry in entries]
    first: Axes = parts[0][1] if parts else ()
    if not any(axis is not None for _, axes in parts for axis in axes):
        return (value if labels is None else entries), (labels, *first)
    return [_aligned(name, plain, axes, first) for plain, axes in parts], (labels, *first)


def _aligned(name: str, plain: Any, axes: Axes, to: Axes) -> Any:
    """With the names of another part, in its order."""
    if [axis is None for axis in axes] != [axis is None for axis in to]:
        raise InputError(f"{name} must be rows that have names or rows that have none, got both")
    table = _as_array(plain)
    for axis, (labels, known) in enumerate(zip(axes, to, strict=True)):
        if labels is not None and known is not None:
            table = table.take(order(name, labels, [*map(str, known)]), axis=axis)
    return table.tolist()


def _as_array(plain: Any) -> Any:
    """Truth values stay what they are."""
    return plain if isinstance(plain, np.ndarray) else np.array(plain, dtype=object)


def order(name: str, labels: Iterable[Any], known: Sequence[str]) -> list[int]:
    """Where each known name is among the labels."""
    return _all(name, ((label, at) for at, label in enumerate(labels)), known)


def stand_for_positions(labels: list[Any], known: Sequence[str]) -> bool:
    """Are they 0, 1, 2, ..., and none of these a name?

    >>> stand_for_positions([0, 1], ("gain", "cost")), stand_for_positions([0, 1], ("1", "0"))
    (True, False)
    """
    return are_positions(labels) and not {*map(str, labels)} & {*known}


def _unnamed(labels: list[Any], names: Sequence[str] | None) -> bool:
    """Are they numbers that say nothing: 0, 1, 2, ..., or, where names are given, the numbers of rows in some file?"""
    return are_positions(labels) if names is None else are_whole(labels) and not {*map(str, labels)} & {*names}
