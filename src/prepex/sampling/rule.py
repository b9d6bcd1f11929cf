"""What every sampling rule is: a name, and the few numbers that the kernels need."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from prepex import _checks

Alternatives = Literal["complete", "paper"]


@dataclass(frozen=True)
class Rule:
    """A sampling rule: which arm to pull next.

    alternatives   "complete" (the default), or "paper": only Remove(i, j) with i Pareto optimal and j not, as the
                   paper's algorithm has it. For reproduction only: there is no guarantee.
    """

    alternatives: Alternatives = "complete"

    code: ClassVar[int]
    title: ClassVar[str]
    # Of a rule that stops by itself: the theorem behind its own test, or that there is none.
    own: ClassVar[str] = ""
    proven: ClassVar[bool] = False
    samples_for_delta: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.alternatives not in ("complete", "paper"):
            raise ValueError(f"alternatives must be 'complete' or 'paper', got {self.alternatives!r}")

    @property
    def name(self) -> str:
        """As in tables; a rule without a guarantee says so.

        >>> from prepex.sampling import FraPPE
        >>> FraPPE(alternatives="paper").name
        'FraPPE (paper alternatives: no guarantee)'
        """
        return self.title if self.alternatives == "complete" else f"{self.title} (paper alternatives: no guarantee)"

    @property
    def tolerance(self) -> float:
        """Of the rules that solve for an allocation."""
        return 0.0

    @property
    def tries(self) -> int:
        """Of the rule that draws from a posterior."""
        return 0

    @property
    def stops_itself(self) -> bool:
        """Has it a stopping test of its own, `threshold="own"`?"""
        return bool(self.own)

    def follows_margin(self, certified: bool) -> bool:
        """Does the sampling look at the certified margin, if that decides the stop?"""
        return False


def check_gap(value: float) -> float:
    """A relative gap."""
    return _checks.number("gap", value, low=0.0, high=1.0)
