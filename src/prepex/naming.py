"""Names that tell two things apart: parameters that differ from their default are part of the name."""

import zlib
from dataclasses import MISSING, fields
from typing import Any

# Longer sequences are shortened; a checksum tells them apart.
MOST_ENTRIES = 8


def described(title: str, thing: Any, *, without: tuple[str, ...] = ()) -> str:
    """The title of a dataclass's instance, with the parameters that are not the default ones.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Pen:
    ...     colour: str = "blue"
    ...     width: float = 0.5
    >>> described("pen", Pen()), described("pen", Pen(width=0.7))
    ('pen', 'pen(width=0.7)')
    """
    parameters = []
    for field in fields(thing):
        value = getattr(thing, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.name not in without and value != default:
            parameters.append(f"{field.name}={_short(value)}")
    return f"{title}({', '.join(parameters)})" if parameters else title


def _short(value: Any) -> str:
    if isinstance(value, tuple) and len(value) > MOST_ENTRIES:
        start = ", ".join(repr(entry) for entry in value[:2])
        return f"({start}, ..., {value[-1]!r}: {len(value)} entries, {zlib.crc32(repr(value).encode()):08x})"
    return repr(value)
