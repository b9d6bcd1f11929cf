"""Elimination (Auer, Chiang, Ortner & Drugan, 2016), exact form (epsilon = 0), on facet scores of unit variance.

All active arms are pulled once a round, beta_i = sqrt(2 log(4 K m N_i^2 / delta) / N_i). Then
    reject   i that some j is above by more than beta_i + beta_j on every facet
    accept   i that is above every other active j by beta_i + beta_j on some facet,
             once no active arm that is not sure yet could be dominated by i.
"""

from dataclasses import dataclass
from typing import ClassVar

from prepex._kernels.course import AUER
from prepex.sampling.rule import Rule


@dataclass(frozen=True)
class Auer(Rule):
    """Elimination in rounds; stops by itself, and samples for one delta.

    >>> Auer().proven
    True
    """

    code: ClassVar[int] = AUER
    title: ClassVar[str] = "Auer"
    own: ClassVar[str] = "a union over all K m scalars and all sample sizes (Auer et al., 2016)"
    proven: ClassVar[bool] = True
    samples_for_delta: ClassVar[bool] = True
