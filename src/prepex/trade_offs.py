"""Sentences about exchange rates between objectives, and the rays of the cone that they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex.errors import InputError, InputTypeError, shown


@dataclass(frozen=True)
class Worth:
    """One unit of an objective is worth between `low` and `high` units of another. Made by `one(...).is_worth`."""

    unit: str
    low: float
    high: float
    of: str


class one:  # noqa: N801 - reads as a word: one("efficacy").is_worth(between=(0.5, 2), of="safety")
    """The beginning of a sentence about trade-offs.

    >>> one("efficacy").is_worth(between=(0.5, 2), of="safety")
    Worth(unit='efficacy', low=0.5, high=2.0, of='safety')
    """

    def __init__(self, objective: str) -> None:
        self.objective = objective

    def is_worth(
        self,
        *,
        of: str,
        between: tuple[float, float] | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> Worth:
        """Bound the exchange rate, from both sides (`between`) or from one.

        >>> one("speed").is_worth(at_least=3, of="elegance")
        Worth(unit='speed', low=3.0, high=inf, of='elegance')
        """
        if (between is None) == (at_least is None and at_most is None):
            raise InputError("is_worth needs either between=(low, high), or at_least= and/or at_most=")
        if between is not None and (not isinstance(between, Sequence) or isinstance(between, str) or len(between) != 2):
            raise InputError(f"between must be a pair (low, high), got {shown(between)}")
        # No lower bound is 0, but a 0 that is written out, or anything else, is looked at.
        one_sided = (0.0 if at_least is None else at_least, np.inf if at_most is None else at_most)
        low, high = one_sided if between is None else between
        low = _checks.number("the lower rate", low, low=0.0, closed=True)
        if not isinstance(high, float) or high != np.inf:
            high = _checks.number("the upper rate", high, low=0.0)
        if low > high:
            raise InputError(f"the rates must be given as low, high, got {low:g} and {high:g}")
        if low == high:
            raise InputError(
                f"the rates must leave room, low < high, got {low:g} twice: "
                f"with a fixed rate {self.objective!r} and {of!r} are one objective, so add them up instead"
            )
        for objective in (self.objective, of):
            # A name, or a number that is one.
            if not isinstance(objective, str | int | np.integer) or isinstance(objective, bool):
                raise InputTypeError(f"a trade-off must name two objectives, got {shown(objective)}")
        return Worth(self.objective, low, float(high), of)


def rays_of(worths: Iterable[Worth], known: Sequence[str]) -> Floats:
    """What is better at every rate within the bounds is spanned by these rows, the objectives `known` themselves first.

    >>> rays_of([one("speed").is_worth(at_least=3, of="elegance")], ("speed", "elegance")).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, -3.0]]
    """
    # A price vector p >= 0 with low p_of <= p_unit <= high p_of: its dual cone is spanned by these rows.
    rows = list(np.eye(len(known)))
    for worth in worths:
        _checks.instance("each trade-off", worth, Worth)
        unit, of = (_checks.member("objective of a trade-off", name, known) for name in (worth.unit, worth.of))
        if unit == of:
            raise InputError(f"a trade-off must name two objectives, got {worth.unit!r} twice")
        for rate, sign in ((worth.low, 1.0), (worth.high, -1.0)):
            if 0.0 < rate < np.inf:
                row = np.zeros(len(known))
                row[unit], row[of] = sign, -sign * rate
                rows.append(row)
    return np.array(rows)
