"""Accelerated PreTS (Das, Shukla & Basu, 2025): solve the lower bound at the current means, every round.

    w_t = argmax_w F(w) at the estimated means;   C-tracking of sum_s w_s.

Solved by cutting planes from last round's allocation, to a relative gap of `tolerance`: at most 48 pieces at a point,
the cheapest, and 192 in all; where these do not close the gap, the best allocation so far.
"""

from dataclasses import dataclass
from typing import ClassVar

from prepex._kernels.course import PRETS
from prepex.sampling.rule import Rule, check_gap


@dataclass(frozen=True)
class AcceleratedPreTS(Rule):
    """Track the optimal allocation of the estimated means.

    >>> AcceleratedPreTS(gap=0.01).tolerance
    0.01
    """

    gap: float = 0.05

    code: ClassVar[int] = PRETS
    title: ClassVar[str] = "AcceleratedPreTS"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gap(self.gap)

    @property
    def tolerance(self) -> float:
        """The relative gap at which a round's allocation is good enough."""
        return self.gap
