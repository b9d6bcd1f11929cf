"""Times and sizes as people write them."""

import re
from typing import Any

from prepex import _checks
from prepex.errors import InputError, shown
from prepex.numerals import number, scaled
from prepex.tables import plain_number

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"b": 1.0} | {
    f"{letter}{end}": base**power
    for power, letter in enumerate("kmgt", start=1)
    for end, base in (("b", 1000.0), ("ib", 1024.0))
}
UNITS = {"s": SECONDS, "B": BYTES, "": {}}
EXAMPLES = {"s": "a time, as in 30s, 10m or 1.5h", "B": "a size, as in 500kB, 2GB or 1GiB", "": "a number"}


def amount(name: str, given: Any, unit: str) -> float:
    """A number, or one with a unit, in seconds ("s"), bytes ("B") or as it is ("").

    >>> amount("timeout", "1.5m", "s"), amount("at_most", "2GB", "B"), amount("at_most", 3, "")
    (90.0, 2000000000.0, 3.0)
    """
    if not isinstance(given, str):
        return _checks.number(name, given)
    found = re.fullmatch(r"\s*([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*", given)
    value = plain_number(found[1]) if found else None
    scale = None if found is None else {"": 1.0, **UNITS[unit]}.get(found[2].lower())
    if value is None or scale is None:
        raise InputError(f"{name} must be {EXAMPLES[unit]}, got {shown(given)}")
    return value * scale


def with_unit(value: float, unit: str, digits: int = 3) -> str:
    """For people.

    >>> with_unit(0.01234, "s"), with_unit(75.0, "s"), with_unit(2.5e6, "B"), with_unit(0.5, "")
    ('12.3 ms', '75 s', '2.5 MB', '0.5')
    """
    size, word = scaled(value, unit)
    shown = number(value / size, max(digits, 4) if word in ("", "B") else digits)
    return f"{shown} {word}" if word else shown


def span(seconds: float) -> str:
    """How long, roughly.

    >>> span(3.2), span(75), span(4020)
    ('3 s', '1 min 15 s', '1 h 07 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
