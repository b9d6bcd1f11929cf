"""An instance at given weights, seen through the facets of the cone, and its Pareto set.

Legend
    K, L, m   arms, objectives, facets
    gram      W cov W': covariance of the facet scores of one reward, shared (A = 1) or per arm   (A, m, m)
    N         weights (pull counts, or proportions)                 (K,)
    S         facet scores M W'                                     (K, m)
    V         variance of an estimated facet score, w' cov w / N    (K, m)
    mask      is the arm Pareto optimal?                            (K,)
    front     the Pareto arms, ascending, in the first size[0] places   (K,)
    plain     gram is diagonal for every arm (orthant and independent objectives)

In facet scores cone dominance is coordinatewise, and the closest alternative needs nothing else.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex._kernels.jit import kernel, part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Int = int | np.int64


class Instance(NamedTuple):
    """All that the closest alternative depends on."""

    gram: Floats
    N: Floats
    S: Floats
    V: Floats
    mask: Bools
    front: Ints
    size: Ints
    plain: bool


@part
def law(gram: Floats, k: Int) -> Int:
    """The row of gram (or of a covariance) that belongs to arm k."""
    return k if gram.shape[0] > 1 else 0


@part
def compare(S: Floats, i: Int, j: Int) -> Int:
    """+1 if i dominates j, -1 if j dominates i, 0 if neither (equal arms: 0)."""
    above, below = 0, 0
    for f in range(S.shape[1]):
        if S[i, f] > S[j, f]:
            above = 1
        elif S[i, f] < S[j, f]:
            below = 1
        if above + below == 2:
            break
    return above - below


@kernel
def find_front(S: Floats, mask: Bools, front: Ints) -> Int:
    """Pareto filter: each arm meets only the arms not dominated so far. Returns |P|."""
    K = S.shape[0]
    n = 0
    for k in range(K):
        mask[k] = True
        i = 0
        while i < n:
            order = compare(S, front[i], k)
            if order > 0:
                mask[k] = False
                break
            if order < 0:
                mask[front[i]] = False
                n -= 1
                front[i] = front[n]
            else:
                i += 1
        if mask[k]:
            front[n] = k
            n += 1
    n = 0
    for k in range(K):
        if mask[k]:
            front[n] = k
            n += 1
    return n
