"""The one class of errors that a user's mistake raises. Everything else that is raised is a bug."""

from typing import Any


class InputError(ValueError):
    """Bad input: the message names the argument, what was expected and what came.

    >>> from prepex import Cone
    >>> Cone.angle(200)
    Traceback (most recent call last):
    prepex.InputError: degrees must be in (0, 180), got 200
    """

    __module__ = "prepex"


class InputTypeError(InputError, TypeError):
    """Bad input of the wrong type: a ValueError as every bad input, and a TypeError."""

    __module__ = "prepex"


def shown(value: Any) -> str:
    """What came, in a message: at most 80 characters.

    >>> shown("a"), len(shown("a" * 1000)), shown(10**10_000)
    ("'a'", 80, 'an int that cannot be shown')
    """
    try:
        text = repr(value)
    except Exception:  # an integer of 10,000 digits, or a stranger's class
        kind = type(value).__name__
        text = f"a{'n' if kind[:1] in 'aeiou' else ''} {kind} that cannot be shown"
    return text if len(text) <= 80 else text[:77] + "..."
