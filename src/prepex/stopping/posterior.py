"""Stop when the posterior probability of a wrong answer is at most delta.

Theorem. For any sampling rule: if the true means are drawn from the prior, the answer is wrong with probability at most
delta. It is an average over the prior, no statement about each truth: at near-ties it errs more often, and a tolerance
takes that away. The documentation has the proof.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from prepex._checks import Floats
from prepex._kernels.belief import PriorNumbers, no_prior
from prepex._kernels.play import POSTERIOR
from prepex.errors import InputError
from prepex.family import GAUSSIAN, STUDENT, Family, Gaussian
from prepex.labels import Labels
from prepex.prior import Prior, numbers, whitened
from prepex.stopping.threshold import Threshold


def with_prior(threshold: str, prior: Any) -> Any:
    """A threshold by its name and, for `posterior`, its prior.

    >>> with_prior("certified", None), with_prior("heuristic", {"gain": (1.0, 2.0)})
    Traceback (most recent call last):
    ...
    prepex.InputError: prior must come with the threshold posterior, got 'heuristic'
    """
    if not prior:
        return threshold
    if threshold != "posterior":
        raise InputError(f"prior must come with the threshold posterior, got {threshold!r}")
    return Posterior(prior=prior)


@dataclass(frozen=True)
class Posterior(Threshold):
    """The posterior probability of a wrong answer is at most delta.

    prior   a Prior, {objective: (mean, spread)}, or None: flat

    >>> Posterior().proven, Posterior().theorem
    (True, 'the tower property: averaged over the prior, any sampling rule')
    >>> Posterior(prior={"strength": (60, 10)}).prior.mean
    {'strength': 60.0}
    """

    prior: Any = None

    code: ClassVar[int] = POSTERIOR
    title: ClassVar[str] = "posterior"
    proven: ClassVar[bool] = True
    theorem: ClassVar[str] = "the tower property: averaged over the prior, any sampling rule"

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", Prior.of(self.prior))

    def ordered(self, labels: Labels, family: Family) -> "Posterior":
        """With the prior in the order of the objectives, checked against their family."""
        return self if self.prior is None else replace(self, prior=self.prior.ordered(labels, family))

    def level(self, delta: float, shape: tuple[int, int, int]) -> float:
        """log(1 / delta)."""
        return -math.log(delta)

    def growth(self, counts: Floats, shape: tuple[int, int, int]) -> float:
        """Nothing: the posterior pays for nothing."""
        return 0.0

    def as_numbers(self, family: Family, n_arms: int, n_objectives: int) -> PriorNumbers:
        """What the kernels know of the prior."""
        laws = family.laws(n_arms, n_objectives)
        if laws is None:
            assert isinstance(family, Gaussian)
            white = whitened(self.prior, family.covariances(n_arms, n_objectives))
            none = no_prior(n_objectives)
            return none._replace(
                flat=self.prior is None, axes=white.axes, back=white.back, pull=white.pull, mean=white.mean
            )
        centred = np.isin(laws.codes, (GAUSSIAN, STUDENT)).astype(np.float64)
        return no_prior(n_objectives)._replace(law=numbers(self.prior, laws), centred=centred)
