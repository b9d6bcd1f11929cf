"""APE (Kone, Kaufmann & Richert, 2023): adaptive Pareto exploration, exact form, on facet scores of unit variance.

    beta(n) = sqrt((2 log(1/delta) + 3 max(0, log log(1/delta)) + log(1 + log n)) / n)
    z(i) = min_{j != i} max_m (S_i - S_j)_m - beta_i - beta_j   for i in P
           max_{j != i} min_m (S_j - S_i)_m - beta_i - beta_j   for the others
Stop when all z >= 0. Else b = argmin z, c = argmin_{j != b} max_m (S_b - S_j)_m - beta_j: pull the less pulled of b, c.
"""

from dataclasses import dataclass
from typing import ClassVar

from prepex._kernels.course import APE as CODE
from prepex.sampling.rule import Rule


@dataclass(frozen=True)
class APE(Rule):
    """Adaptive Pareto exploration; stops by itself, and samples for one delta.

    >>> APE().samples_for_delta
    True
    """

    code: ClassVar[int] = CODE
    title: ClassVar[str] = "APE"
    own: ClassVar[str] = "none at these intervals, the ones of its authors' experiments: no union over arms and facets"
    samples_for_delta: ClassVar[bool] = True
