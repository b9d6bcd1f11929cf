"""Names with a unit in brackets or behind a slash, and how people call them: without it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from prepex import _checks
from prepex.errors import InputError

# A unit at the end of a name, in brackets, or behind a slash as ISO 80000 writes it.
_UNIT = re.compile(r"(.+?)\s*[\[(<]\s*([^\[\]()<>]*)\s*[\])>]|(.+?)\s+/\s+\S+")


def plain_name(name: str) -> str:
    """Without its unit.

    >>> plain_name("strength [MPa]"), plain_name("mass / g"), plain_name("cost")
    ('strength', 'mass', 'cost')
    """
    found = _UNIT.fullmatch(name)
    return (found[1] or found[3]) if found else name


def with_unit(name: str, unit: str) -> str:
    """With its unit in brackets, unless it has one.

    >>> with_unit("strength", "MPa"), with_unit("strength", "[MPa]"), with_unit("mass / g", "g"), with_unit("time", " ")
    ('strength [MPa]', 'strength [MPa]', 'mass / g', 'time')
    """
    bare = unit.strip().removeprefix("[").removeprefix("(").removesuffix("]").removesuffix(")").strip()
    return f"{name} [{bare}]" if bare and plain_name(name) == name else name


def plain_names(known: Sequence[str]) -> list[str]:
    """All of them without their units, if they are still different from each other; else as they are.

    >>> plain_names(("cost [EUR]", "mass / g")), plain_names(("cost [EUR]", "cost [h]"))
    (['cost', 'mass'], ['cost [EUR]', 'cost [h]'])
    """
    plain = [plain_name(name) for name in known]
    return plain if len(set(plain)) == len(plain) else list(known)


def full_name(name: Any, known: Sequence[str], what: str, unused: Mapping[str, str] = {}) -> str:
    """An objective by its name, or by that without its unit; `unused`: other columns, and why they are none.

    >>> full_name("cost", ("strength [MPa]", "cost [EUR]"), "minimise")
    'cost [EUR]'
    """
    if name in known:
        return str(name)
    fitting = _called(name, known)
    if len(fitting) == 1:
        return fitting[0]
    others = [name] if name in unused else _called(name, list(unused))
    if not fitting and len(others) == 1:
        raise InputError(
            f"{what} must name objectives, of {_checks.quoted(known)}, got the column {others[0]!r}: "
            f"{unused[others[0]]}"
        )
    hint = _checks.meant(name, [plain_name(entry) for entry in known])
    raise InputError(f"{what} must name objectives, of {_checks.quoted(known)}, got {name!r}{hint}")


def in_full(name: Any, known: Sequence[str]) -> Any:
    """The same where it is clear; else the name as it is, to be refused by who knows better why.

    >>> in_full("cost", ("cost [EUR]",)), in_full("price", ("cost [EUR]",)), in_full(0, ("cost [EUR]",))
    ('cost [EUR]', 'price', 0)
    """
    fitting = [] if name in known or not isinstance(name, str) else _called(name, known)
    return fitting[0] if len(fitting) == 1 else name


def _called(name: Any, known: Sequence[str]) -> list[str]:
    """Those of this name without their unit."""
    return [entry for entry in known if plain_name(entry) == str(name).strip()]
