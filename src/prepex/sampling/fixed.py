"""Rules that do not learn where to sample: a fixed allocation, tracked.

pull argmin_k N_k - (t + 1) w_k
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from prepex import _checks, _given, _named
from prepex._kernels.course import FIXED
from prepex.sampling.rule import Rule


@dataclass(frozen=True)
class Uniform(Rule):
    """Round robin.

    >>> Uniform().name
    'Uniform'
    """

    code: ClassVar[int] = FIXED
    title: ClassVar[str] = "Uniform"


@dataclass(frozen=True)
class Oracle(Rule):
    """Tracks the optimal allocation of the truth. A simulation knows it; elsewhere give `allocation` (K,).

    >>> Oracle().name
    'Oracle'
    """

    allocation: tuple[float, ...] | None = None

    code: ClassVar[int] = FIXED
    title: ClassVar[str] = "Oracle"

    def __post_init__(self) -> None:
        super().__post_init__()
        # One that has names is put in order when the arms are known.
        plain = isinstance(self.allocation, Sequence | np.ndarray) and not isinstance(self.allocation, str)
        if plain and _given.pairs(self.allocation) is None:
            given = _checks.real_array("allocation", self.allocation, ("n_arms", None))
            object.__setattr__(self, "allocation", tuple(given.tolist()))

    def ordered(self, arms: tuple[str, ...]) -> "Oracle":
        """The allocation arm by arm: names would be lost where it is written down.

        >>> Oracle(allocation={"b": 3.0, "a": 1.0}).ordered(("a", "b")).allocation
        (1.0, 3.0)
        """
        if self.allocation is None:
            return self
        named = _named.in_order("allocation", self.allocation, arms)
        given = _checks.real_array("allocation", named, ("n_arms", len(arms)))
        return replace(self, allocation=tuple(given.tolist()))
