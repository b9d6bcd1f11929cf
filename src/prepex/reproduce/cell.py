"""A cell: the smallest piece of work that is stored, and never done twice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Cell:
    """Calls `work(*arguments)`, a function at the top of its module, so that another process can find it.

    figure, name   where it is stored: cells/<figure>/<name>.json; a chunk of runs says which runs it holds
    weight         about how many seconds it takes: for the order of work and the time left, nothing else
    timed          its clock is the result: run alone, in this process, with the compiled code warm
    """

    figure: str
    name: str
    work: Callable[..., list[Row]]
    arguments: tuple[Any, ...]
    weight: float = 1.0
    timed: bool = False

    @property
    def key(self) -> str:
        """Its place in the folder of cells."""
        return f"{self.figure}/{self.name}"


def chunks(n_runs: int, seconds: float, *, target: float = 15.0) -> list[tuple[int, int]]:
    """Runs 0 to n_runs cut into (first, count) of about `target` seconds each, given the seconds of a run.

    >>> chunks(10, 4.0)
    [(0, 3), (3, 3), (6, 3), (9, 1)]
    """
    size = max(1, int(target / seconds))
    return [(first, min(size, n_runs - first)) for first in range(0, n_runs, size)]


def select(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """The rows with these entries.

    >>> select([{"rule": "a", "n": 1}, {"rule": "b", "n": 2}], rule="b")
    [{'rule': 'b', 'n': 2}]
    """
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]
