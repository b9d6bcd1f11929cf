"""How far one arm is ahead of another, in facet scores standardised to unit variance.

Legend
    scale     sqrt of the largest variance of a facet score among the arms      (m,)
"""

import numpy as np

from prepex._kernels.instance import Floats, Int
from prepex._kernels.jit import part


@part
def most_ahead(S: Floats, scale: Floats, i: Int, j: Int) -> float:
    """max_m (S_i - S_j)_m."""
    high = -np.inf
    for f in range(scale.size):
        high = max(high, (S[i, f] - S[j, f]) / scale[f])
    return high


@part
def least_ahead(S: Floats, scale: Floats, i: Int, j: Int) -> float:
    """min_m (S_i - S_j)_m."""
    low = np.inf
    for f in range(scale.size):
        low = min(low, (S[i, f] - S[j, f]) / scale[f])
    return low
