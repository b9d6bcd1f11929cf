"""Rules that do not learn where to sample: a fixed allocation, tracked.

pull argmin_k N_k - (t + 1) w_k
"""

from dataclasses import dataclass
from typing import ClassVar

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
