"""What the certified tests of an instance with laws may use: the outcomes after the pilot, and their penalties.

A mean that is not known costs a penalty: the largest log-likelihood of the arm's outcomes less the logarithm of their
likelihood mixed over a conjugate prior, which the pilot sets (docs/certified.md). It does not depend on the mean that
is tested, so e = cost of the pair - penalties (test.py).

    law           prior of the parameter; n outcomes with mean m and squares ss in the pilot, t = 1/2
    GAUSSIAN      mean ~ Normal(m, scale / (t n))
    BERNOULLI     mean ~ Beta(1/2 + t n m, 1/2 + t n (1 - m))
    POISSON       mean ~ Gamma(1/2 + t n m, rate t n)
    EXPONENTIAL   1 / mean ~ Gamma(1/2 + t n, rate t n m)
    STUDENT       mean ~ Normal(m, variance / (t n)),  1 / variance ~ Gamma(1/2 + t (n-1) / 2, rate (v + t ss) / 2),
                  v the variance in the pilot of all arms

A facet whose objectives are all Gaussian, not all of known variance, looks at one Gaussian stream, w . X, correlated
or not: STUDENT's statistic and prior for it, or, if every unknown variance is shared by the arms, those of two arms
with one variance:
    SHARED        means as STUDENT's,  1 / variance ~ Gamma(1/2 + t F / 2, rate v (1 + t F) / 2),
                  F the outcomes beyond one an arm in the pilot

Legend
    inst      the outcomes that count; its Pareto set is that of all outcomes. A shared variance is STUDENT's here
    kind      PARTS: a facet is tested by the sum over its objectives; OWN, SHARED: as a stream      (m,)
    pulls, mean, square    n, m, ss of the pilot          (K,), (K, L), (K, L)
    spread    v                                           (L,)
    free      F                                           (1,)
    penalty   of an objective of an arm                   (K, L)
    middle, square_f, spread_f, penalty_f   the same of the streams                     (K, m), (K, m), (m,), (K, m)
    alone     evidence of an arm's side of each limit (_kernels/alone.py)                (K, C)
"""

import math
from typing import NamedTuple

import numpy as np

from prepex._kernels.alone import has_limits
from prepex._kernels.instance import Bools, Floats, Int, Ints
from prepex._kernels.jit import kernel
from prepex._kernels.laws.instance import LawInstance, pools, put_mean, squares, weigh_law
from prepex._kernels.laws.law import BERNOULLI, EXACT, EXPONENTIAL, GAUSSIAN, POISSON, STUDENT
from prepex._kernels.laws.pair import limit_cost
from prepex._kernels.laws.penalty import bernoulli_penalty, exponential_penalty, poisson_penalty, variance_penalty

# The pilot's likelihood enters the prior with this power: half of it forgives a pilot that was off.
TEMPER = 0.5
# In place of an infinite cost: a mean that the outcomes rule out, and what is known without noise.
CERTAIN = 1e6
PARTS, OWN, SHARED = 0, 1, 2


class LawFresh(NamedTuple):
    """Outcomes after the pilot, and what the pilot left."""

    inst: LawInstance
    kind: Ints
    N: Floats
    pulls: Floats
    mean: Floats
    square: Floats
    spread: Floats
    free: Floats
    penalty: Floats
    middle: Floats
    square_f: Floats
    spread_f: Floats
    penalty_f: Floats
    shift: Floats
    alone: Floats

    @property
    def with_laws(self) -> bool:
        """Which model it is of."""
        return True


def make_law_fresh(near: LawInstance) -> LawFresh:
    """No outcome counts yet."""
    (K, L), m = near.M.shape, len(near.W)
    law = np.where(near.shared, STUDENT, near.law)
    inst = near._replace(
        law=law,
        N=np.zeros(K),
        M=np.zeros((K, L)),
        S=np.zeros_like(near.S),
        V=np.full_like(near.V, np.inf),
        cap=np.zeros(K),
        scale=np.ascontiguousarray(np.where(law == STUDENT, 0.0, near.scale)),
        plain=pools(law, near.axis >= 0, near.lenient),
        shared=np.zeros(L, dtype=np.bool_),
        square=np.zeros((K, L)),
        line=np.zeros((K, m)),
        drift=np.ones(1),
        mask=near.mask.copy(),
        front=near.front.copy(),
        size=near.size.copy(),
    )
    return LawFresh(
        inst=inst,
        kind=np.array([_kind(near, w != 0.0) for w in near.W], dtype=np.int64),
        N=inst.N,
        pulls=np.zeros(K),
        mean=np.zeros((K, L)),
        square=np.zeros((K, L)),
        spread=np.zeros(L),
        free=np.zeros(1),
        penalty=np.zeros((K, L)),
        middle=np.zeros((K, m)),
        square_f=np.zeros((K, m)),
        spread_f=np.zeros(m),
        penalty_f=np.zeros((K, m)),
        shift=np.zeros(L),
        alone=np.zeros((K, m - near.n_facets)),
    )


def _kind(near: LawInstance, seen: Bools) -> int:
    """How a facet that sees these objectives is tested."""
    own = seen & (near.law == STUDENT)
    gaussian = (near.law == STUDENT) | (near.law == GAUSSIAN) | (near.law == EXACT)
    if np.any(seen & ~gaussian) or not np.any(own | (seen & near.shared)):
        return PARTS
    return OWN if own.any() else SHARED


@kernel
def student_penalty(n: float, mean: float, ss: float, n0: float, m0: float, ss0: float, spread: float) -> float:
    """Of a Gaussian of unknown variance; infinite while the outcomes say nothing about it."""
    if n < 3.0 or ss <= 0.0 or spread <= 0.0:
        return np.inf
    kappa, alpha, beta = TEMPER * n0, 0.5 + 0.5 * TEMPER * (n0 - 1.0), 0.5 * (spread + TEMPER * ss0)
    moved = kappa * n / (kappa + n) * (mean - m0) * (mean - m0)
    return variance_penalty(n, ss, moved, alpha, beta) + 0.5 * math.log1p(n / kappa)


@kernel
def shared_penalty(fresh: LawFresh, i: Int, j: Int, f: Int) -> float:
    """Of two arms on a stream whose variance they share; infinite while their outcomes say nothing about it."""
    inst, spread, free = fresh.inst, fresh.spread_f[f], fresh.free[0]
    n, ss = inst.N[i] + inst.N[j], inst.line[i, f] + inst.line[j, f]
    if n < 4.0 or ss <= 0.0 or spread <= 0.0:
        return np.inf
    alpha, beta = 0.5 + 0.5 * TEMPER * free, 0.5 * spread * (1.0 + TEMPER * free)
    moved, cost = 0.0, 0.0
    for k in (i, j):
        kappa, off = TEMPER * fresh.pulls[k], inst.S[k, f] - fresh.middle[k, f]
        moved += kappa * inst.N[k] / (kappa + inst.N[k]) * off * off
        cost += 0.5 * math.log1p(inst.N[k] / kappa)
    return cost + variance_penalty(n, ss, moved, alpha, beta)


@kernel
def lone_penalty(fresh: LawFresh, k: Int, row: Int) -> float:
    """Of one arm on a row: as a stream of its own, as one with the prior of a shared variance, or by objectives."""
    inst, n, total = fresh.inst, fresh.inst.N[k], 0.0
    if fresh.kind[row] == OWN:
        return float(fresh.penalty_f[k, row])
    if fresh.kind[row] == SHARED:
        ss, spread, free, kappa = inst.line[k, row], fresh.spread_f[row], fresh.free[0], TEMPER * fresh.pulls[k]
        if n < 3.0 or ss <= 0.0 or spread <= 0.0:
            return np.inf
        alpha, beta = 0.5 + 0.5 * TEMPER * free, 0.5 * spread * (1.0 + TEMPER * free)
        off = inst.S[k, row] - fresh.middle[k, row]
        moved = kappa * n / (kappa + n) * off * off
        return variance_penalty(n, ss, moved, alpha, beta) + 0.5 * math.log1p(n / kappa)
    for q in range(inst.law.size):
        if inst.W[row, q] != 0.0:
            total += fresh.penalty[k, q]
    return total


@kernel
def test_limits(fresh: LawFresh, k: Int) -> None:
    """`alone` of arm k: what it costs to bring it to the border, less its penalties."""
    inst, n_facets = fresh.inst, fresh.inst.n_facets
    for row in range(n_facets, inst.S.shape[1]):
        where, off, value = np.int64(row), inst.S[k, row], -np.inf
        paid = lone_penalty(fresh, k, where)
        if inst.V[k, row] == 0.0:
            # Without noise it is met or broken, whatever the other objectives say.
            value = CERTAIN
        elif off != 0.0 and paid < np.inf:
            if fresh.kind[row] == PARTS:
                cost = limit_cost(inst, k, where)[0]
            else:
                cost = 0.5 * inst.N[k] * np.log1p(off * off * inst.N[k] / inst.line[k, row])
            value = min(cost, CERTAIN) - paid
        fresh.alone[k, row - n_facets] = value


@kernel
def penalise(fresh: LawFresh, k: Int) -> None:
    """Penalties of arm k: largest log-likelihood - log mixed likelihood, for every objective and stream of its own."""
    inst = fresh.inst
    n, n0 = inst.N[k], fresh.pulls[k]
    for q in range(inst.law.size):
        law, x, m0 = inst.law[q], inst.M[k, q], fresh.mean[k, q]
        weight, out = TEMPER * n0, np.inf
        if law == GAUSSIAN:
            moved = n * weight / (n + weight) * (x - m0) * (x - m0) / inst.scale[k, q]
            out = 0.5 * math.log1p(n / weight) + 0.5 * moved
        elif law == BERNOULLI:
            out = bernoulli_penalty(n, x, weight, m0)
        elif law == POISSON:
            out = poisson_penalty(n, x, weight, m0)
        elif law == EXPONENTIAL:
            out = exponential_penalty(n, x, 0.5 + weight, weight * m0 / (0.5 + weight))
        elif law == STUDENT:
            ss = squares(inst, k, q)
            out = student_penalty(n, x, ss, n0, m0, fresh.square[k, q], fresh.spread[q])
        elif law == EXACT:
            out = 0.0
        fresh.penalty[k, q] = out
    for f in range(fresh.kind.size):
        if fresh.kind[f] == OWN:
            fresh.penalty_f[k, f] = student_penalty(
                n, inst.S[k, f], inst.line[k, f], n0, fresh.middle[k, f], fresh.square_f[k, f], fresh.spread_f[f]
            )


@kernel
def end_law_pilot(fresh: LawFresh, near: LawInstance, decided: Floats, closed: bool) -> None:
    """The pilot is over: what it says becomes the prior, however it decides the arms."""
    K, L = near.M.shape
    free = -float(K)
    for k in range(K):
        fresh.pulls[k] = near.N[k]
        free += near.N[k]
    fresh.free[0] = free
    for q in range(L):
        total = 0.0
        for k in range(K):
            fresh.mean[k, q] = near.M[k, q]
            if near.shared[q]:
                fresh.square[k, q] = near.square[k, q]
            elif near.law[q] == STUDENT:
                fresh.square[k, q] = squares(near, np.int64(k), np.int64(q))
            total += fresh.square[k, q]
        fresh.spread[q] = total / free if free > 0.0 else 0.0
    for f in range(fresh.kind.size):
        total = 0.0
        for k in range(K):
            fresh.middle[k, f] = near.S[k, f]
            fresh.square_f[k, f] = near.line[k, f]
            total += near.line[k, f]
        fresh.spread_f[f] = total / free if free > 0.0 else 0.0


@kernel
def add_law_fresh(fresh: LawFresh, a: Int, reward: Floats, more: float) -> None:
    """`more` rewards of arm a, with the mean `reward`, that the certified margin may use."""
    inst, shift = fresh.inst, fresh.shift
    count = inst.N[a] + more
    for q in range(shift.size):
        shift[q] = more * (reward[q] - inst.M[a, q]) / count
        inst.M[a, q] += shift[q]
    put_mean(inst, a, inst.M[a], shift, count)
    inst.N[a] = count
    weigh_law(inst, a)
    penalise(fresh, a)
    if has_limits(inst):
        test_limits(fresh, a)
