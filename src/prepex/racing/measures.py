"""What is measured of a run, and how it is compared.

measure     of a run                                          family
time, cpu   seconds on the wall; of the processor             log-normal
memory      the peak, in bytes                                log-normal
exit        1 if the exit status is 0, else 0                 Bernoulli
output      bytes on standard output                          exact if constant, else Gaussian, variance unknown
size:PATH   bytes of a file when the run is over              the same
regex:...   the number that a regular expression finds last   the same; all 0 or 1: Bernoulli
json:KEY    a number of the JSON object on the last line      the same
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prepex.errors import InputError, shown
from prepex.family import Bernoulli, Exact, Family, Gaussian, LogNormal
from prepex.racing.options import fields

BUILT_IN = ("time", "cpu", "memory", "output", "exit")
KINDS = ("size", "regex", "json")
# A clock that says 0 has not seen the run.
SHORTEST = 1e-9


class UnmeasuredError(Exception):
    """A run that lacks a measure; says which, and what came instead."""


@dataclass(frozen=True)
class Record:
    """What is known of one run. `text` is the end of its standard output."""

    seconds: float
    cpu: float
    memory: float | None
    code: int
    output: int
    text: str


@dataclass(frozen=True)
class Measure:
    """Its name in the race, what it is read from, and a path, a pattern or a key."""

    name: str
    kind: str
    argument: str = ""

    @property
    def unit(self) -> str:
        """Seconds ("s"), bytes ("B"), or none."""
        return {"time": "s", "cpu": "s", "memory": "B", "output": "B", "size": "B"}.get(self.kind, "")

    @property
    def family(self) -> Family | None:
        """None: the first round decides.

        >>> parse_measure("time").family, parse_measure("loss").family
        (LogNormal(), None)
        """
        if self.kind in ("time", "cpu", "memory"):
            return LogNormal()
        return Bernoulli() if self.kind == "exit" else None

    def read(self, record: Record, values: Mapping[str, str], folder: Path) -> float:
        """Of one run; `values` are the parameters of its option, `folder` where it ran."""
        if self.kind in ("time", "cpu"):
            return max(record.seconds if self.kind == "time" else record.cpu, SHORTEST)
        if self.kind == "memory":
            if record.memory is None:
                raise UnmeasuredError("the peak of memory is not known here")
            return record.memory
        if self.kind == "exit":
            return float(record.code == 0)
        if self.kind == "output":
            return float(record.output)
        if self.kind == "size":
            return self._size(values, folder)
        return self._found(record.text) if self.kind == "regex" else self._printed(record.text)

    def _size(self, values: Mapping[str, str], folder: Path) -> float:
        from prepex.racing.options import fill

        path = folder / fill(self.argument, values)
        try:
            return float(path.stat().st_size)
        except OSError:
            raise UnmeasuredError(f"there is no file {str(path)!r} for the measure {self.name!r}") from None

    def _found(self, text: str) -> float:
        matches = [*re.finditer(self.argument, text, re.MULTILINE)]
        if not matches:
            raise UnmeasuredError(f"the expression of {self.name!r}, {self.argument!r}, is not found in its output")
        return _number(self.name, matches[-1][1] if matches[-1].re.groups else matches[-1][0])

    def _printed(self, text: str) -> float:
        line = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise UnmeasuredError(f"the last line must be a JSON object with {self.argument!r}")
        value: Any = document
        for key in [self.argument] if self.argument in document else self.argument.split("."):
            if not isinstance(value, dict) or key not in value:
                known = ", ".join(map(repr, document)) or "nothing"
                raise UnmeasuredError(f"it prints no measure {self.argument!r} (it prints {shown_short(known)})")
            value = value[key]
        return _number(self.name, value)


def shown_short(text: str, most: int = 120) -> str:
    """At most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def _number(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise UnmeasuredError(f"the measure {name!r} must be a number, got {shown(value)}") from None
    if not math.isfinite(found):
        raise UnmeasuredError(f"the measure {name!r} must be a finite number, got {shown(value)}")
    return found


def parse_measure(name: str, source: str | None = None) -> Measure:
    r"""A measure by its name, or from where it is said to come.

    >>> parse_measure("loss"), parse_measure("size:out.gz")
    (Measure(name='loss', kind='json', argument='loss'), Measure(name='size:out.gz', kind='size', argument='out.gz'))
    >>> parse_measure("speed", r"regex:([\d.]+) MB/s")
    Measure(name='speed', kind='regex', argument='([\\d.]+) MB/s')
    """
    text = name if source is None else source
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"measure {name!r} must say where it comes from, got {shown(source)}")
    kind, colon, argument = text.partition(":")
    if text in BUILT_IN:
        return Measure(name, text)
    if colon and kind in KINDS and argument:
        if kind == "regex":
            try:
                groups = re.compile(argument).groups
            except re.error as error:
                raise InputError(f"measure {name!r} must be a regular expression, got {argument!r}: {error}") from None
            if groups > 1:
                raise InputError(f"measure {name!r} must have at most one group, the number, got {argument!r}")
        return Measure(name, kind, argument)
    if source is not None:
        known = ", ".join(BUILT_IN)
        raise InputError(
            f"measure {name!r} must be one of {known}, size:PATH, regex:EXPRESSION or json:KEY, got {shown(source)}"
        )
    return Measure(name, "json", name)


def check_paths(measure: Measure, parameters: Sequence[str], command: str) -> None:
    """A path may use the parameters of every option."""
    if measure.kind != "size":
        return
    unknown = [name for name in fields(measure.argument) if name not in parameters]
    if unknown:
        raise InputError(f"{measure.name!r} must use parameters that {command!r} has, got {{{unknown[0]}}}")


def decide(values: Sequence[Sequence[float]]) -> Family:
    """The family of a measure from the first rounds: some values of each option.

    Only zeros and ones are yes or no. What every option repeats has no noise. The rest is Gaussian.

    >>> decide([[3, 3], [5, 5]]), decide([[1, 1], [0, 0]]), decide([[3, 3], [5, 4]])
    (Exact(), Bernoulli(), Gaussian(variance='unknown'))
    """
    flat = {value for row in values for value in row}
    if flat <= {0.0, 1.0}:
        return Bernoulli()
    if all(len(set(row)) == 1 for row in values):
        return Exact()
    return Gaussian(variance="unknown")
