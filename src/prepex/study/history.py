"""The evidence along a study: what it had reached, and what it needed, after 1, 2, ... outcomes.

Legend
    entry     an outcome, or a summary of several, that counts, in its place of the order (line.py)
    point     (n, reached, needed) after n outcomes; reached is None before it means anything
    stride    entries between two points: a power of two, so that a longer study keeps every other point
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from prepex.experiment import Experiment

# Most points.
POINTS = 200


class Point(NamedTuple):
    """One place on the curve."""

    n: int
    reached: float | None
    needed: float


class Past(NamedTuple):
    """The curve, and the outcomes it has followed."""

    points: tuple[Point, ...]
    n_pulls: int


class Curve:
    """Points at every `stride`-th entry. It is part of a state, so that nothing is told twice to look back.

    >>> curve = Curve()
    >>> list(curve.stops(3)), list(curve.stops(2 * POINTS))[:2], curve.stride
    ([1, 1, 1], [2, 2], 2)
    """

    def __init__(self) -> None:
        self.stride, self.points, self.entries = 1, list[Point](), 0

    def stops(self, more: int) -> Iterator[int]:
        """So many entries are told next: in parts of these sizes, with a `look` after each."""
        while self.entries + more > POINTS * self.stride:
            self.stride *= 2
            # Those at a multiple of the new stride.
            self.points = self.points[1::2]
        at = self.entries
        while more:
            size = min(self.stride - at % self.stride, more)
            yield size
            at, more = at + size, more - size

    def look(self, experiment: Experiment, more: int) -> None:
        """So many entries were told to the experiment."""
        self.entries += more
        if self.entries % self.stride == 0:
            self.points.append(_look(experiment))

    def past(self, experiment: Experiment) -> Past:
        """All points up to now, and the last."""
        latest = [_look(experiment)] if self.entries % self.stride else []
        return Past((*self.points, *latest), experiment.n_pulls)

    def to_document(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"entries": self.entries, "stride": self.stride, "points": [list(point) for point in self.points]}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Curve":
        """Back."""
        curve = cls()
        curve.entries, curve.stride = given["entries"], given["stride"]
        curve.points = [Point(*point) for point in given["points"]]
        return curve


def _look(experiment: Experiment) -> Point:
    reached = experiment.reached
    return Point(experiment.n_pulls, float(reached) if np.isfinite(reached) else None, float(experiment.needed))
