"""An instance at given weights, seen through the facets of the cone, and its Pareto set.

In facet scores cone dominance is coordinatewise, and the closest alternative needs nothing else. Two numbers say all
about a constraint "hub j is level with arm a on facet f": its `gap` b_c, and its `spread` Q_cc.

Legend, of every model
    K, L, m   arms, objectives, rows: the facets of the cone, n_facets of them, then the limits
    W         rows; an arm meets a limit g iff g . M >= h           (m, L)
    level     h of a limit, 0 of a facet                            (m,)
    N         weights (pull counts, or proportions)                 (K,)
    S         scores M W' - level: of a limit, below 0 iff it is broken   (K, m)
    V         variance of an estimated score, w' cov w / N          (K, m)
    slack     what a difference may be on a facet without mattering; 0 of a limit   (m,)
    lenient   is there any slack? Then an arm may change its status before any alternative is reached, and an arm of
              the answer may be beaten by one outside it
    mask      the answer: is the arm in it? Feasible, and dominated by no feasible arm   (K,)
    front     who must be escaped to enter it, ascending, in the first size[0] places   (K,)
Of known Gaussians
    gram      W cov W': covariance of the scores of one reward, shared (A = 1) or per arm   (A, m, m)
    prec      inverse covariances                                   (A, L, L)
    plain     gram is diagonal on the facets for every arm (orthant and independent objectives)
"""

from fractions import Fraction
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
    level: Floats
    mask: Bools
    front: Ints
    size: Ints
    n_facets: int
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
    level: Floats | None = None,
    n_facets: int | None = None,
) -> KnownInstance:
    """Fresh, C-contiguous arrays; the caller's are not kept. Without facets the scores are the means.

    Everything is of all rows: of the facets, n_facets (all of them if not given), then of the limits.
    """
    K, m = scores.shape
    n_facets = m if n_facets is None else n_facets
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
        level=np.zeros(m) if level is None else np.array(level, dtype=np.float64),
        mask=np.zeros(K, dtype=np.bool_),
        front=np.zeros(K, dtype=np.int64),
        size=np.zeros(1, dtype=np.int64),
        n_facets=n_facets,
        plain=not bool(np.any(gram[:, :n_facets, :n_facets][:, ~np.eye(n_facets, dtype=bool)])),
        lenient=slack is not None and bool(np.any(slack)),
    )
    inst.size[0] = find_answer(inst)
    return inst


def with_limits(
    facets: Floats, slack: Floats, limits: Floats | None, level: Floats | None, origin: Floats
) -> tuple[Floats, Floats, Floats]:
    """(W, slack, level) of all rows, for means less `origin`. `limits` and `level`: of the limits, None without any."""
    if limits is None or level is None or not len(limits):
        return facets, slack, np.zeros(len(facets))
    rows = np.ascontiguousarray(np.vstack([facets, limits]))
    below = np.array([_exactly(g, origin, h) for g, h in zip(limits, level)])
    return rows, np.append(slack, np.zeros(len(limits))), np.append(np.zeros(len(facets)), below)


def _exactly(row: Floats, origin: Floats, level: float) -> float:
    """level - row . origin, rounded once: far from zero it is a small difference of large numbers."""
    terms = (Fraction(float(g)) * Fraction(float(x)) for g, x in zip(row, origin))
    return float(Fraction(float(level)) - sum(terms))


def root_of(covariances: Floats) -> Floats:
    """Lower triangular B with B B' = covariance (A, L, L); zero on objectives without noise."""
    return _where_noisy(np.linalg.cholesky, covariances)


def inverse_of(covariances: Floats) -> Floats:
    """(A, L, L); zero on objectives without noise: they never move."""
    return _where_noisy(np.linalg.inv, covariances)


def _where_noisy(function: Any, covariances: Floats) -> Floats:
    """Of the rows and columns of objectives with noise; zero elsewhere."""
    found = np.zeros(covariances.shape)
    noisy = np.flatnonzero(np.diagonal(covariances, axis1=1, axis2=2).any(axis=0))
    inner = np.ix_(np.arange(len(found)), noisy, noisy)
    found[inner] = function(covariances[inner])
    return found


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
def limit_gap(inst: Instance, j: Int, row: Int) -> float:
    """b_c of the constraint that hub j meets a limit: a star's constraint against an arm of known mean."""
    return -inst.S[j, row]


@part
def n_limits(inst: Instance) -> Int:
    """How many limits there are."""
    return inst.S.shape[1] - inst.n_facets


@part
def escaped(inst: Instance, a: Int, j: Int, f: Int, left: float) -> bool:
    """Does a not dominate arm j, which lacks `left` on facet f? Where nothing is noise, to be level is not enough."""
    return left < 0.0 or (left == 0.0 and spread(inst, a, j, f) > 0.0)


@part
def ratio(inst: Instance, a: Int, j: Int, f: Int) -> float:
    """The likelihood ratio, as a Gaussian's, of a gap above 0 against none; zero if it is not."""
    ahead = max(gap(inst, a, j, f), 0.0)
    # Without noise there is no spread, and a gap of 0 is none.
    return 0.5 * ahead * ahead / spread(inst, a, j, f) if ahead > 0.0 else 0.0


@part
def noiseless(inst: Instance, a: Int, j: Int, f: Int) -> bool:
    """Is a facet known without error of both arms? Then it is not tested: it holds, or it does not."""
    return spread(inst, a, j, f) == 0.0


@part
def surely_equal(inst: Instance, i: Int, j: Int) -> bool:
    """Are two arms known to be equal on every facet, without error? Then neither dominates the other."""
    equal = True
    for f in range(inst.n_facets):
        equal = equal and noiseless(inst, i, j, f) and gap(inst, i, j, f) == 0.0
    return equal


@part
def over_ratio(inst: Instance, j: Int, i: Int, f: Int) -> float:
    """The same for j to dominate i: where nothing is noise, to be level is enough."""
    return np.inf if noiseless(inst, j, i, f) and gap(inst, j, i, f) >= 0.0 else ratio(inst, j, i, f)


@part
def meets_limit(inst: Instance, k: Int, row: Int) -> bool:
    """Is arm k's score of a limit above 0, or 0 without noise?"""
    return inst.S[k, row] > 0.0 or (inst.S[k, row] == 0.0 and inst.V[k, row] == 0.0)


@part
def lone_ratio(inst: Instance, k: Int, row: Int) -> float:
    """The likelihood ratio, as a Gaussian's, of arm k's score of a limit, above 0 or below, against 0."""
    score = inst.S[k, row]
    return 0.5 * score * score / inst.V[k, row] if inst.V[k, row] > 0.0 else np.inf


@part
def met_ratio(inst: Instance, k: Int) -> float:
    """The least of an arm's limits, 0 if it breaks one; infinity without limits."""
    least = np.inf
    for row in range(inst.n_facets, inst.S.shape[1]):
        least = min(least, lone_ratio(inst, k, np.int64(row)) if meets_limit(inst, k, row) else 0.0)
    return least


@part
def broken_ratio(inst: Instance, k: Int) -> float:
    """The largest of the limits that an arm breaks; 0 if it breaks none."""
    most = 0.0
    for row in range(inst.n_facets, inst.S.shape[1]):
        if inst.S[k, row] < 0.0:
            most = max(most, lone_ratio(inst, k, np.int64(row)))
    return most


@part
def weigh_known(inst: KnownInstance, k: Int) -> None:
    """V of arm k at its weight."""
    own = covariance_row(inst.gram, k)
    for f in range(inst.S.shape[1]):
        inst.V[k, f] = inst.gram[own, f, f] / inst.N[k]


@part
def score(inst: Instance, k: Int, mean: Floats) -> None:
    """Scores of arm k at this mean."""
    for f in range(inst.W.shape[0]):
        total = 0.0
        for q in range(mean.size):
            total += inst.W[f, q] * mean[q]
        inst.S[k, f] = total - inst.level[f]


@part
def compare(S: Floats, n_facets: Int, i: Int, j: Int) -> Int:
    """+1 if i dominates j, -1 if j dominates i, 0 if neither (equal arms: 0)."""
    above, below = 0, 0
    for f in range(n_facets):
        if S[i, f] > S[j, f]:
            above = 1
        elif S[i, f] < S[j, f]:
            below = 1
        if above + below == 2:
            break
    return above - below


@part
def feasible(S: Floats, n_facets: Int, k: Int) -> bool:
    """Does arm k meet every limit?"""
    meets = True
    for row in range(n_facets, S.shape[1]):
        meets = meets and S[k, row] >= 0.0
    return meets


@part
def filter_front(S: Floats, n_facets: Int, mask: Bools, front: Ints) -> Int:
    """Each feasible arm meets only the arms not dominated so far. Returns how many are left."""
    K = S.shape[0]
    n = 0
    for k in range(K):
        mask[k] = feasible(S, n_facets, k)
        i = 0
        while i < n and mask[k]:
            order = compare(S, n_facets, front[i], k)
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


@kernel
def find_front(S: Floats, mask: Bools, front: Ints) -> Int:
    """The Pareto set of facet scores. Returns |P|."""
    return filter_front(S, S.shape[1], mask, front)


@kernel
def find_answer(inst: Instance) -> Int:
    """The answer of an instance: `mask` and `front`. Returns its size."""
    return filter_front(inst.S, inst.n_facets, inst.mask, inst.front)
