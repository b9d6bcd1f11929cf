"""An instance at given weights, seen through the facets of the cone, and its Pareto set.

In facet scores cone dominance is coordinatewise, and the closest alternative needs nothing else. Two numbers say all
about a constraint "hub j is level with arm a on facet f": its `gap` b_c, and its `spread` Q_cc.

Legend, of every model
    K, L, m   arms, objectives, facets
    W         facets                                                (m, L)
    N         weights (pull counts, or proportions)                 (K,)
    S         facet scores M W'                                     (K, m)
    V         variance of an estimated facet score, w' cov w / N    (K, m)
    slack     what a difference may be on a facet without mattering (m,)
    lenient   is there any slack? Then an arm may change its status before any alternative is reached, and an arm of
              the answer may be beaten by one outside it
    mask      the answer: is the arm in it?                         (K,)
    front     who must be escaped to enter it, ascending, in the first size[0] places   (K,)
Of known Gaussians
    gram      W cov W': covariance of the facet scores of one reward, shared (A = 1) or per arm   (A, m, m)
    prec      inverse covariances                                   (A, L, L)
    plain     gram is diagonal for every arm (orthant and independent objectives)
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex._kernels.jit import kernel, part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Int = int | np.int64
# KnownInstance or LawInstance; what is written once works on either.
Instance = Any


class KnownInstance(NamedTuple):
    """Gaussian rewards of known covariance: all that the closest alternative depends on."""

    W: Floats
    gram: Floats
    prec: Floats
    N: Floats
    S: Floats
    V: Floats
    slack: Floats
    mask: Bools
    front: Ints
    size: Ints
    plain: bool
    lenient: bool

    @property
    def with_laws(self) -> bool:
        """Which model it is of."""
        return False


def make_known(
    gram: Floats,
    scores: Floats,
    weights: Floats,
    *,
    facets: Floats | None = None,
    prec: Floats | None = None,
    slack: Floats | None = None,
) -> KnownInstance:
    """Fresh, C-contiguous arrays; the caller's are not kept. Without facets the scores are the means."""
    K, m = scores.shape
    gram = np.array(gram, dtype=np.float64, order="C")
    N = np.array(weights, dtype=np.float64)
    inst = KnownInstance(
        W=np.array(np.eye(m) if facets is None else facets, dtype=np.float64, order="C"),
        gram=gram,
        prec=np.array(np.linalg.pinv(gram, hermitian=True) if prec is None else prec, dtype=np.float64, order="C"),
        N=N,
        S=np.array(scores, dtype=np.float64, order="C"),
        V=np.ascontiguousarray(np.diagonal(gram, axis1=1, axis2=2) / N[:, None]),
        slack=np.zeros(m) if slack is None else np.array(slack, dtype=np.float64),
        mask=np.zeros(K, dtype=np.bool_),
        front=np.zeros(K, dtype=np.int64),
        size=np.zeros(1, dtype=np.int64),
        plain=not bool(np.any(gram[:, ~np.eye(m, dtype=bool)])),
        lenient=slack is not None and bool(np.any(slack)),
    )
    inst.size[0] = find_front(inst.S, inst.mask, inst.front)
    return inst


def apart(inst: Instance) -> Instance:
    """The same means with weights, and all that hangs on them, of its own."""
    own = ("N", "V", "cap", "mask", "front", "size")
    return inst._replace(**{name: getattr(inst, name).copy() for name in own if name in inst._fields})


@part
def covariance_row(gram: Floats, k: Int) -> Int:
    """The row of gram (or of a covariance) that belongs to arm k."""
    return k if gram.shape[0] > 1 else 0


@part
def gap(inst: Instance, a: Int, j: Int, f: Int) -> float:
    """b_c of the constraint that hub j is level with arm a on facet f: w . (M_a - M_j) + slack."""
    return inst.S[a, f] - inst.S[j, f] + inst.slack[f]


@part
def spread(inst: Instance, a: Int, j: Int, f: Int) -> float:
    """Q_cc of that constraint: the variance of the estimated gap."""
    return inst.V[a, f] + inst.V[j, f]


@part
def ratio(inst: Instance, a: Int, j: Int, f: Int) -> float:
    """The likelihood ratio, as a Gaussian's, of a gap above 0 against none; zero if it is not."""
    ahead = max(gap(inst, a, j, f), 0.0)
    return 0.5 * ahead * ahead / spread(inst, a, j, f)


@part
def weigh_known(inst: KnownInstance, k: Int) -> None:
    """V of arm k at its weight."""
    own = covariance_row(inst.gram, k)
    for f in range(inst.S.shape[1]):
        inst.V[k, f] = inst.gram[own, f, f] / inst.N[k]


@part
def score(inst: Instance, k: Int, mean: Floats) -> None:
    """Facet scores of arm k at this mean."""
    for f in range(inst.W.shape[0]):
        total = 0.0
        for q in range(mean.size):
            total += inst.W[f, q] * mean[q]
        inst.S[k, f] = total


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
