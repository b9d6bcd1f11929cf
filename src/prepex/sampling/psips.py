"""PSIPS (Kone, Jourdan & Kaufmann, 2025): posterior samples decide where to sample and when to stop.

Posterior M_k ~ Normal(mean_k, cov_k / N_k), from one pull of each arm and plain means.
    stop     log(t / delta) / log(1 / (1 - delta)) draws all have the Pareto set of the means, their covariance
             inflated by 1 + log(max(log t, 1)) / log(1 / delta)
    sample   the first plain draw M' with another Pareto set gives AdaHedge over the arms the gains
             1/2 |M_k - M'_k|^2_{cov_k^-1}; its weights, mixed with 1/K at rate 1/t, are the chances of the next pull.
Paper: draws go on until one differs. Here: at most `max_tries` a round; if none differs the weights stay as they are.
"""

from dataclasses import dataclass
from typing import ClassVar

from prepex import _checks
from prepex._kernels.course import PSIPS as CODE
from prepex.errors import InputError
from prepex.sampling.rule import Rule

LEAST_DELTA = 1e-6


@dataclass(frozen=True)
class PSIPS(Rule):
    """Posterior sampling for Pareto set identification; stops by itself.

    >>> PSIPS().stops_itself
    True
    """

    max_tries: int = 300

    code: ClassVar[int] = CODE
    title: ClassVar[str] = "PSIPS"
    own: ClassVar[str] = "correct as delta goes to 0 (Kone, Jourdan & Kaufmann, 2025); no bound at a given delta"

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.whole("max_tries", self.max_tries, low=1)

    def check_delta(self, name: str, delta: float) -> None:
        """Its test draws log(t / delta) / delta times: below the least delta, a single look would take minutes."""
        if delta < LEAST_DELTA:
            raise InputError(
                f"{name} must be at least {LEAST_DELTA:g} for PSIPS, whose test takes about log(t / delta) / delta "
                f"draws at every pull, got {delta:g}"
            )

    @property
    def tries(self) -> int:
        """Posterior draws a round."""
        return self.max_tries
