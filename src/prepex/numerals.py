"""Numbers as people read them: enough digits and no more, counts with their nouns, and how many more there are.

The dashboard writes the same (server/static/words.js).
"""

import math
from collections.abc import Sequence

# Beyond these powers of ten a number is written with an exponent.
SMALLEST, LARGEST = -5, 15
# A double has no more digits than this.
MOST = 17


def number(value: float, digits: int = 4) -> str:
    """At least so many significant digits, all of those before the point, and no zeros behind the last.

    >>> number(1234567.8), number(0.25), number(14.98123), number(3e-10), number(-0.0)
    ('1,234,568', '0.25', '14.98', '3e-10', '0')
    """
    if not math.isfinite(value) or value == 0.0:
        return f"{abs(value) if value == 0.0 else value:g}"
    power = _power(value, digits)
    if SMALLEST <= power < LARGEST:
        return _stripped(f"{value:,.{max(digits - 1 - power, 0)}f}")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{_stripped(mantissa)}e{exponent}"


def apart(one: float, other: float, digits: int = 4) -> tuple[str, str]:
    """Two numbers, with so many digits that they differ, and that their difference has two of its own.

    >>> apart(0.25, 1.0), apart(14.9812345, 14.9812399), apart(2.9999, 3.0)
    (('0.25', '1'), ('14.9812345', '14.9812399'), ('2.9999', '3'))
    """
    gap = abs(one - other)
    if not math.isfinite(gap) or gap == 0.0:
        return number(one, digits), number(other, digits)
    last = _power(gap, 2) - 1
    needed = [max(digits, _power(value, digits) - last + 1) if value else digits for value in (one, other)]
    while True:
        shown = number(one, min(needed[0], MOST)), number(other, min(needed[1], MOST))
        if shown[0] != shown[1] or min(needed) >= MOST:
            return shown
        needed = [digits + 1 for digits in needed]


def measured(value: float, error: float, digits: int = 2, sure: float = math.inf) -> str:
    """A number and its error to the same place: at least so many significant digits of the error. The number has more
    places where it is known better than that: the first digit of `sure` is its last then.

    >>> measured(21318.4, 322.1), measured(0.12345, 0.0042, digits=1), measured(9.312, 0.12)
    ('21,318 ± 322', '0.123 ± 0.004', '9.31 ± 0.12')
    >>> measured(1.2345e-9, 3e-11), measured(5.0, float("nan")), measured(-0.0074, 1.0, sure=0.014)
    ('(1.234 ± 0.030)e-09', '5', '-0.01 ± 1.0')
    """
    if not math.isfinite(error):
        return number(value)
    (shown, spread), end = _aligned((value, error), error, digits)
    if 0.0 < sure < error:
        (finer, _), other = _aligned((value, error), sure, 1)
        shown = finer if other == end and len(finer) > len(shown) else shown
    return f"({shown} ± {spread}){end}" if end else f"{shown} ± {spread}"


def within(value: float, low: float, high: float, digits: int = 2) -> str:
    """A number and the ends of its interval to the same place: at least so many significant digits of its width.

    >>> within(0.51234, 0.4, 0.6321), within(1234.5, 1100.0, 1400.0), within(2e9, 1.5e9, 2.25e9)
    ('0.51 [0.40, 0.63]', '1,234 [1,100, 1,400]', '2,000,000,000 [1,500,000,000, 2,250,000,000]')
    """
    (middle, start, stop), end = _aligned((value, low, high), high - low, digits)
    return f"({middle} [{start}, {stop}]){end}" if end else f"{middle} [{start}, {stop}]"


def by_factor(value: float, low: float, high: float, digits: int = 2) -> str:
    """A positive number, and a factor, rounded up, within which the ends of its interval are.

    >>> by_factor(2.1, 2.0, 2.2), by_factor(0.012345, 0.0123, 0.0124), by_factor(3.0, 1.0, 70.0)
    ('2.1 within a factor 1.05', '0.012345 within a factor 1.0045', '3 within a factor 24')
    """
    factor = max(high / value, value / low) if value > 0.0 and low > 0.0 else math.inf
    if not 1.0 < factor < math.inf:
        return number(value)
    power = _power(factor - 1.0, 1)
    unit = 10.0 ** (power - digits + 1)
    rounded = 1.0 + math.ceil((1.0 - 1e-9) * (factor - 1.0) / unit) * unit
    places = max(digits - 1 - power, 0)
    shown = _stripped(f"{rounded:,.{places}f}") if power < LARGEST else f"{rounded:.{digits - 1}e}"
    return f"{number(value, min(max(3, digits - power), MOST))} within a factor {shown}"


def scaled(value: float, unit: str) -> tuple[float, str]:
    """(how much one of it is, its name): the unit in which a time ("s") or a size ("B") is written.

    >>> scaled(0.0615, "s"), scaled(2.5e6, "B"), scaled(1234.0, "B"), scaled(0.5, "")
    ((0.001, 'ms'), (1000000.0, 'MB'), (1.0, 'B'), (1.0, ''))
    """
    # What rounds to the next unit is in it.
    if unit == "s":
        return next((one for one in ((1.0, "s"), (1e-3, "ms")) if abs(value) >= 0.9995 * one[0]), (1e-6, "µs"))
    if unit == "B":
        sizes = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
        found = (one for one in sizes if abs(value) >= 10.0 * one[0] or (abs(value) >= one[0] and one[0] > 1e3))
        return next(found, (1.0, "B"))
    return 1.0, unit


def plural(n: int, one: str, many: str | None = None) -> str:
    """How many, and of what.

    >>> plural(1, "outcome"), plural(1200, "outcome"), plural(2, "study", "studies")
    ('1 outcome', '1,200 outcomes', '2 studies')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def first_few(words: Sequence[str], most: int = 5) -> str:
    """The first of them, and how many more there are.

    >>> first_few(("a", "b", "c"), 2), first_few(("a", "b"), 2)
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _aligned(values: tuple[float, ...], size: float, digits: int) -> tuple[list[str], str]:
    """The values to the place of the last wanted digit of `size`, and a common power of ten, "" for none."""
    top = max(abs(value) for value in values)
    if not math.isfinite(top) or top == 0.0:
        return [number(value) for value in values], ""
    power = _power(top, 1)
    shift = 0 if SMALLEST <= power < LARGEST else power
    last = _power(size, digits) - digits + 1 if size > 0.0 else power - 3
    places = min(max(shift - last, 0), MOST - 1 + shift - power)
    # Plus zero: what rounds to nothing has no sign.
    rounded = [round(value / 10.0**shift, places) + 0.0 for value in values]
    return [f"{value:,.{places}f}" for value in rounded], f"e{shift:+03d}" if shift else ""


def _power(value: float, digits: int) -> int:
    """The power of ten of the first digit, after rounding to so many."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def _stripped(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
