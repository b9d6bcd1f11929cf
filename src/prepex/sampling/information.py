"""Information-directed sampling: pull an arm in proportion to what it says about the closest alternative.

    P(pull k) = N_k g_k / Z(N),  g = dZ/dN: these sum to one, because Z is homogeneous.
When the certified margin decides the stop, its binding test (i over j) takes the place of the closest alternative:
    P(pull i) = N_j / (N_i + N_j),  else j,
and if j is dominated by several, i is the one furthest ahead of it, which needs the fewest pulls to show it.
No step size, no inner problem. An arm with fewer than sqrt(t / K) pulls goes first; beyond 15
pulls, one with fewer than half of that.

The probabilities are those of Information-Directed Selection (Qin and You, "Dual-Directed Algorithm Design for
Efficient Pure Exploration", arXiv 2310.19319), who prove what it does in best-arm identification and its kin. What
differs: the alternative is always the closest one, never drawn from a posterior; it is one of a Pareto set under a
cone, and may move many arms; the certified test in its place and the least number of pulls are ours. That the rule is
optimal here is not proven.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from prepex._kernels.course import INFORMATION
from prepex.errors import InputError
from prepex.sampling.rule import Rule


@dataclass(frozen=True)
class InformationDirected(Rule):
    """The natural fast rule. `follow`: "evidence", "margin", or "auto", whichever decides the stop.

    >>> InformationDirected().follows_margin(certified=True)
    True
    """

    follow: Literal["auto", "evidence", "margin"] = "auto"

    code: ClassVar[int] = INFORMATION
    title: ClassVar[str] = "InformationDirected"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.follow not in ("auto", "evidence", "margin"):
            raise InputError(f"follow must be 'auto', 'evidence' or 'margin', got {self.follow!r}")

    def follows_margin(self, certified: bool) -> bool:
        """Does the sampling look at the certified margin, if that decides the stop?"""
        return self.follow == "margin" or (self.follow == "auto" and certified)
