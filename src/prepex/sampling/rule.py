"""What every sampling rule is: a name, and the few numbers that the kernels need."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from prepex import _checks
from prepex.errors import InputError
from prepex.naming import described

Alternatives = Literal["complete", "paper"]


@dataclass(frozen=True)
class Rule:
    """A sampling rule: which arm to pull next.

    alternatives   "complete" (the default), or "paper": only Remove(i, j) with i Pareto optimal and j not, our
                   reconstruction of the paper's Algorithm 1. For comparison only: there is no guarantee.
    """

    alternatives: Alternatives = "complete"

    code: ClassVar[int]
    title: ClassVar[str]
    # Of a rule that stops by itself: the theorem behind its own test, or that there is none.
    own: ClassVar[str] = ""
    proven: ClassVar[bool] = False
    samples_for_delta: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "title" not in cls.__dict__:
            cls.title = cls.__name__

    def __post_init__(self) -> None:
        if self.alternatives not in ("complete", "paper"):
            raise InputError(f"alternatives must be 'complete' or 'paper', got {self.alternatives!r}")

    @property
    def name(self) -> str:
        """As in tables: parameters that are not the default ones are part of it; one without a guarantee says so.

        >>> from prepex.sampling import FraPPE, InformationDirected
        >>> InformationDirected(follow="evidence").name
        "InformationDirected(follow='evidence')"
        >>> FraPPE(alternatives="paper").name
        'FraPPE (paper alternatives: no guarantee)'
        """
        called = described(self.title, self, without=("alternatives",))
        return called if self.alternatives == "complete" else f"{called} (paper alternatives: no guarantee)"

    def ordered(self, arms: tuple[str, ...]) -> "Rule":
        """The same rule with what it was given by the names of arms in their order."""
        return self

    def check_delta(self, name: str, delta: float) -> None:
        """Refuse a risk that the rule's own test cannot look at."""

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
