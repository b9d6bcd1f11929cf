"""Options of a race: commands, and templates whose parameters take several values."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from prepex.errors import InputError, shown

# Filled in at every trial, not once for an option.
PER_TRIAL = ("seed", "input")
# {{word}} for braces that stay; ${word} is the shell's.
_FIELD = re.compile(r"\{\{(\w+)\}\}|(?<!\$)\{([A-Za-z_]\w*)\}")
MOST_OPTIONS = 2000


@dataclass(frozen=True)
class Option:
    """A command with the values of its parameters; {seed} and {input} are filled in at every trial."""

    name: str
    command: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    prepare: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Template:
    """A command with parameters in braces, and the values that they take."""

    command: str
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    name: str | None = None
    prepare: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)


def fields(text: str) -> list[str]:
    """The parameters of a template.

    >>> fields("gzip -{level} ${HOME}/{input} | awk '{print $1}' {{this}}")
    ['level', 'input']
    """
    return [found[2] for found in _FIELD.finditer(text) if found[2]]


def fill(text: str, values: Mapping[str, str], *, keep: Iterable[str] = ()) -> str:
    """With their values in place; those of `keep` stay as they are.

    >>> fill("gzip -{level} {{x}} {input}", {"level": "6"}, keep=("input",))
    'gzip -6 {{x}} {input}'
    >>> fill("gzip -6 {{x}} {input}", {"input": "data"})
    'gzip -6 {x} data'
    """
    kept = set(keep)

    def put(found: re.Match[str]) -> str:
        if found[1]:
            # Braces that stay are doubled until the last filling.
            return found[0] if kept else "{" + found[1] + "}"
        return found[0] if found[2] in kept else values[found[2]]

    return _FIELD.sub(put, text)


def parse_values(name: str, given: Any) -> list[str]:
    """The values of a parameter: a list, "1..9", "0..20..5" or "a,b,c".

    >>> parse_values("level", "1..4"), parse_values("size", "0..20..10"), parse_values("mode", "fast, slow")
    (['1', '2', '3', '4'], ['0', '10', '20'], ['fast', 'slow'])
    """
    if isinstance(given, str):
        found = re.fullmatch(r"\s*(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?\s*", given)
        if found:
            first, last = int(found[1]), int(found[2])
            step = int(found[3]) if found[3] else (1 if last >= first else -1)
            if step == 0 or (last - first) * step < 0 or abs((last - first) // step) >= 10**6:
                raise InputError(f"values of {name!r} must be a range that has some, as in 1..9, got {given!r}")
            return [str(value) for value in range(first, last + (1 if step > 0 else -1), step)]
        given = [entry.strip() for entry in given.split(",")]
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        given = [given]
    values = [_plain(name, entry) for entry in given]
    if not values or not all(values):
        raise InputError(f"values of {name!r} must be a range or a list, as in 1..9 or a,b,c, got {shown(given)}")
    if len(set(values)) < len(values):
        raise InputError(f"values of {name!r} must differ, got {shown(values)}")
    return values


def _plain(name: str, entry: Any) -> str:
    if isinstance(entry, bool) or not isinstance(entry, str | int | float):
        raise InputError(f"values of {name!r} must be words or numbers, got {shown(entry)}")
    return str(entry)


def parse_with(text: str) -> tuple[str, list[str]]:
    """What --with says.

    >>> parse_with("level=1..3")
    ('level', ['1', '2', '3'])
    """
    name, equals, values = text.partition("=")
    name = name.strip()
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise InputError(f"with must read PARAMETER=VALUES, as in level=1..9 or mode=a,b, got {text!r}")
    if name in PER_TRIAL:
        raise InputError(f"with must not be of {name!r}, which every trial fills in itself, got {text!r}")
    return name, parse_values(name, values)


def expand(template: Template) -> list[Option]:
    """An option for each combination of values."""
    texts = [template.command, template.name or "", template.prepare or "", *template.env.values()]
    used = {name for text in texts for name in fields(text)}
    unknown = sorted(used - set(template.values) - set(PER_TRIAL))
    if unknown:
        known = ", ".join(map(repr, template.values)) or "none"
        raise InputError(
            f"parameters of {template.command!r} must be given by --with or be seed or input (given: {known}), got "
            f"{{{unknown[0]}}}; braces that are part of the command are doubled: {{{{{unknown[0]}}}}}"
        )
    idle = [name for name in template.values if name not in used]
    if idle:
        raise InputError(f"{template.command!r} must use the parameter {idle[0]!r}, got it nowhere as {{{idle[0]}}}")
    size = int(np.prod([len(values) for values in template.values.values()], dtype=object))
    if size > 10**6:
        raise InputError(f"combinations of {template.command!r} must be at most 1,000,000, got {size:,}")
    made = []
    for chosen in itertools.product(*template.values.values()):
        values = dict(zip(template.values, chosen, strict=True))
        put = partial(fill, values=values, keep=PER_TRIAL)
        made.append(
            Option(
                name=re.sub(r"\{\{(\w+)\}\}", r"{\1}", put(template.name or template.command)),
                command=put(template.command),
                parameters=values,
                prepare=None if template.prepare is None else put(template.prepare),
                env={key: put(value) for key, value in template.env.items()},
            )
        )
    return made


def make_options(templates: Sequence[Template], *, sample: int | None = None, seed: int = 0) -> tuple[Option, ...]:
    """All options of a race, or `sample` of them drawn at random.

    >>> made = make_options([Template("gzip -{level} x", {"level": ["1", "9"]}), Template("cat x", name="plain")])
    >>> [option.name for option in made]
    ['gzip -1 x', 'gzip -9 x', 'plain']
    """
    found = [option for template in templates for option in expand(template)]
    if sample is not None and sample < len(found):
        rng = np.random.default_rng(np.random.SeedSequence([seed, 0x5A]))
        found = [found[k] for k in sorted(rng.choice(len(found), size=sample, replace=False).tolist())]
    seen: dict[str, Option] = {}
    for option in found:
        if not option.name.strip() or not option.name.isprintable():
            raise InputError(
                f"name of an option must be printable words, got {shown(option.name)}: give it one with -n"
            )
        if option.name in seen:
            other = seen[option.name].command
            raise InputError(
                f"names of options must differ, got {option.name!r} twice: for {other!r} and {option.command!r}"
            )
        seen[option.name] = option
    if len(found) < 2:
        raise InputError(f"a race must have at least 2 options, got {len(found)}")
    if len(found) > MOST_OPTIONS:
        raise InputError(f"a race must have at most {MOST_OPTIONS:,} options, got {len(found):,}: --sample draws some")
    return tuple(found)
