"""Strict reading, for check.py: JSON that prepex could have written.

Whatever is odd is refused: unknown or repeated fields, other types (True is no number, 1.0 no count), numbers that are
not finite, names that are not known. Nothing but Python and numpy.
"""

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

# Characters of a document, and of one event of a log after the first.
LONGEST, LONGEST_EVENT = 50_000_000, 1_000_000
# Lists and objects within each other.
DEEPEST = 12
# Outcomes, and whatever else is squared; variances, and what is positive.
LARGEST, SMALLEST = 1e100, 1e-100
# Squares, and what is computed with them: any number.
FINITE = math.nextafter(math.inf, 0.0)
# Outcomes in one summary; any other count; a seed.
MOST, COUNT, SEED = 1_000_000, 2**53 - 1, 2**128 - 1
# Characters of a name.
LONGEST_NAME = 1000


class RefusedError(ValueError):
    """Prepex would not have written this."""


def refuse(where: str, expected: str, got: Any) -> NoReturn:
    """What was expected, what came."""
    shown = repr(got)
    raise RefusedError(f"{where}: must be {expected}, got {shown if len(shown) <= 80 else shown[:77] + '...'}")


def plain(text: str, most: int = 400) -> str:
    r"""Printable: what a file says must not steer a terminal or turn the reading direction.

    >>> plain("red \x1b[31m, backwards \u202e")
    'red \\x1b[31m, backwards \\u202e'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: most + 1])
    return shown if len(text) <= most else shown[:most] + "..."


# JSON


def parse(text: str | bytes, most: int = LONGEST) -> Any:
    """A document; no repeated key, no number that is not finite, not too deep, not too long.

    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    prepex.study.check_read.RefusedError: key 'a': must be there once, got 'twice'
    """
    if len(text) > most:
        refuse("text", f"at most {most:,} characters", len(text))
    try:
        given = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)
    except RefusedError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise RefusedError(f"not JSON: {str(error)[:80] or 'too deep'}") from None
    _require_shallow(given)
    return given


def _no_constant(name: str) -> NoReturn:
    refuse("number", "finite", name)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        refuse("number", "finite", text)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        refuse(f"key {Counter(name for name, _ in pairs).most_common(1)[0][0]!r}", "there once", "twice")
    return found


def _require_shallow(given: Any) -> None:
    level = [given]
    for _ in range(DEEPEST):
        level = [part for node in level for part in _parts(node)]
        if not level:
            return
    refuse("text", f"at most {DEEPEST} lists or objects within each other", "more")


def _parts(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return [part for part in node.values() if isinstance(part, dict | list)]
    return [part for part in node if isinstance(part, dict | list)] if isinstance(node, list) else ()


def same(a: Any, b: Any) -> bool:
    """Equal in type and value, all the way down: True is not 1, and 1 is not 1.0.

    >>> same({"a": [1, 2.0]}, {"a": [1, 2.0]}), same(1, 1.0), same(True, 1)
    (True, False, False)
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


# Leaves


def fields(where: str, value: Any, needed: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """An object with these fields and no others."""
    if type(value) is not dict:
        refuse(where, "an object", value)
    missing = [name for name in needed if name not in value]
    if missing:
        refuse(where, f"an object with {missing[0]!r}", "none")
    for name in value:
        if name not in needed and name not in optional:
            refuse(where, "an object without other fields", name)
    return value


def listing(where: str, value: Any, size: int | None = None) -> list[Any]:
    """A list, of so many."""
    if type(value) is not list or (size is not None and len(value) != size):
        refuse(where, "a list" if size is None else f"a list of {size}", value)
    return value


def text(where: str, value: Any, most: int = 10_000) -> str:
    """A string."""
    if type(value) is not str or len(value) > most:
        refuse(where, f"text of at most {most} characters", value)
    return value


def choice(where: str, value: Any, known: Iterable[str]) -> str:
    """One of the known words."""
    if type(value) is not str or value not in known:
        refuse(where, f"one of {', '.join(known)}", value)
    return value


def whole(where: str, value: Any, low: int = 0, high: int = COUNT) -> int:
    """An integer."""
    if type(value) is not int or not low <= value <= high:
        refuse(where, f"a whole number from {low} to {high}", value)
    return value


def number(where: str, value: Any, low: float = -LARGEST, high: float = LARGEST, *, whole_too: bool = False) -> float:
    """A real number between low and high; at zero it must be beyond. `whole_too`: 1 stands for 1.0."""
    good = type(value) is float or (whole_too and type(value) is int and abs(value) < COUNT)
    if not good or not low <= value <= high or (low == 0.0 and value == 0.0):
        refuse(where, f"a number {'above 0' if low == 0.0 else f'from {low:g}'} to {high:g}", value)
    return float(value)


def numbers(where: str, value: Any, shape: Sequence[int | None], low: float = -LARGEST, high: float = LARGEST) -> Any:
    """An array of real numbers; None: of any length but 0."""
    rows = listing(where, value, shape[0])
    if not rows:
        refuse(where, "a list of numbers", value)
    if len(shape) == 1:
        return np.array([number(where, entry, low, high) for entry in rows])
    return np.array([numbers(where, row, shape[1:], low, high) for row in rows])


def words(where: str, value: Any) -> list[str]:
    """Different names, which a terminal can show."""
    given = [text(where, entry, LONGEST_NAME) for entry in listing(where, value)]
    for name in given:
        if not name.isprintable():
            refuse(where, "names of printable characters", name)
    if len({unicodedata.normalize("NFC", name).strip() for name in given}) < len(given):
        refuse(where, "names that differ, by more than spaces around them or how letters are composed", given)
    return given
