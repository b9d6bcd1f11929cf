"""What a figure is: its work, and how the finished work becomes a picture, tables and a verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prepex.reproduce.cell import Cell, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

SIZES = ("small", "default", "paper")


@dataclass(frozen=True)
class Table:
    """Text cells; `above` stands over the table, `notes` below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    above: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Result:
    """What was found, computed from the rows alone."""

    verdict: str
    measured: tuple[str, ...]
    picture: "Picture" = field(repr=False)
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure or table of the paper.

    paper      what the paper says
    settings   for each size, a dataclass of numbers and text
    cells      (settings, seed) -> the work
    assemble   (settings, rows of all cells in order) -> the result
    """

    name: str
    title: str
    paper: str
    settings: Mapping[str, Any]
    cells: Callable[[Any, int], Sequence[Cell]]
    assemble: Callable[[Any, list[Row]], Result]
