"""What the certified tests of an instance with laws may use: the outcomes after the pilot, and their penalties.

A mean that is not known costs a penalty: the largest log-likelihood of the arm's outcomes less the logarithm of their
likelihood mixed over a conjugate prior, which the pilot sets (docs/certified.md). It does not depend on the mean that
is tested, so e = cost of the pair - penalties (margin.py).

    law           prior of the parameter; n outcomes with mean m and squares ss in the pilot, t = 1/2
    GAUSSIAN      mean ~ Normal(m, scale / (t n))
    BERNOULLI     mean ~ Beta(1/2 + t n m, 1/2 + t n (1 - m))
    POISSON       mean ~ Gamma(1/2 + t n m, rate t n)
    EXPONENTIAL   1 / mean ~ Gamma(1/2 + t n, rate t n m)
    STUDENT       mean ~ Normal(m, variance / (t n)),  1 / variance ~ Gamma(1/2 + t (n-1) / 2, rate (v + t ss) / 2),
                  v the variance in the pilot of all arms

Legend
    inst      the outcomes that count; its Pareto set is that of all outcomes
    pulls, mean, square    n, m, ss of the pilot          (K,), (K, L), (K, L)
    spread    v                                           (L,)
    penalty   of an objective of an arm                   (K, L)
"""

import math
from typing import NamedTuple

import numpy as np

from prepex._kernels.instance import Floats, Int
from prepex._kernels.jit import kernel
from prepex._kernels.laws.instance import LawInstance, put_mean, squares, weigh
from prepex._kernels.laws.law import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON, STUDENT

# The pilot's likelihood enters the prior with this power: half of it forgives a pilot that was off.
TEMPER = 0.5


class LawFresh(NamedTuple):
    """Outcomes after the pilot, and what the pilot left."""

    inst: LawInstance
    N: Floats
    pulls: Floats
    mean: Floats
    square: Floats
    spread: Floats
    penalty: Floats
    shift: Floats


def make_fresh(near: LawInstance) -> LawFresh:
    """No outcome counts yet."""
    K, L = near.M.shape
    scale = np.where(near.law == STUDENT, 0.0, near.scale)
    inst = near._replace(
        N=np.zeros(K),
        M=np.zeros((K, L)),
        S=np.zeros_like(near.S),
        V=np.full_like(near.V, np.inf),
        cap=np.zeros(K),
        scale=np.ascontiguousarray(scale),
    )
    zeros = np.zeros((K, L))
    return LawFresh(inst, inst.N, np.zeros(K), zeros, zeros.copy(), np.zeros(L), zeros.copy(), np.zeros(L))


@kernel
def xlogy(x: float, y: float) -> float:
    """x log y, 0 at x = 0."""
    return x * np.log(y) if x > 0.0 else 0.0


@kernel
def log_beta(a: float, b: float) -> float:
    """log B(a, b)."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@kernel
def gamma_mixture(a: float, b: float, events: float, time: float) -> float:
    """log of the integral of rate^events exp(-rate time) over rate ~ Gamma(a, rate b)."""
    return a * np.log(b) - math.lgamma(a) + math.lgamma(a + events) - (a + events) * np.log(b + time)


@kernel
def student_penalty(n: float, mean: float, ss: float, n0: float, m0: float, ss0: float, spread: float) -> float:
    """Of a Gaussian of unknown variance; infinite while the outcomes say nothing about it."""
    if n < 3.0 or ss <= 0.0 or spread <= 0.0:
        return np.inf
    kappa, alpha, beta = TEMPER * n0, 0.5 + 0.5 * TEMPER * (n0 - 1.0), 0.5 * (spread + TEMPER * ss0)
    after = beta + 0.5 * ss + 0.5 * kappa * n / (kappa + n) * (mean - m0) * (mean - m0)
    mixed = math.lgamma(alpha + 0.5 * n) - math.lgamma(alpha) + alpha * np.log(beta)
    mixed += 0.5 * np.log(kappa / (kappa + n)) - (alpha + 0.5 * n) * np.log(after)
    return -0.5 * n * (np.log(ss / n) + 1.0) - mixed


@kernel
def penalise(fresh: LawFresh, k: Int) -> None:
    """Penalties of arm k: largest log-likelihood - log mixed likelihood, for every objective."""
    inst = fresh.inst
    n, n0 = inst.N[k], fresh.pulls[k]
    for q in range(inst.law.size):
        law, x, m0 = inst.law[q], inst.M[k, q], fresh.mean[k, q]
        if law == GAUSSIAN:
            rho = TEMPER * n0
            out = 0.5 * np.log((n + rho) / rho) + 0.5 * n * rho / (n + rho) * (x - m0) * (x - m0) / inst.scale[k, q]
        elif law == BERNOULLI:
            a, b = 0.5 + TEMPER * n0 * m0, 0.5 + TEMPER * n0 * (1.0 - m0)
            out = xlogy(n * x, x) + xlogy(n - n * x, 1.0 - x)
            out -= log_beta(a + n * x, b + n - n * x) - log_beta(a, b)
        elif law == POISSON:
            out = xlogy(n * x, x) - n * x - gamma_mixture(0.5 + TEMPER * n0 * m0, TEMPER * n0, n * x, n)
        elif law == EXPONENTIAL:
            out = -n * (np.log(x) + 1.0) - gamma_mixture(0.5 + TEMPER * n0, TEMPER * n0 * m0, n, n * x)
        else:
            ss = squares(inst, k, q)
            out = student_penalty(n, x, ss, n0, m0, fresh.square[k, q], fresh.spread[q])
        fresh.penalty[k, q] = out


@kernel
def begin_fresh(fresh: LawFresh, near: LawInstance) -> None:
    """The pilot is over: what it says becomes the prior."""
    K, L = near.M.shape
    for q in range(L):
        total, free = 0.0, 0.0
        for k in range(K):
            fresh.pulls[k] = near.N[k]
            fresh.mean[k, q] = near.M[k, q]
            if near.law[q] == STUDENT:
                fresh.square[k, q] = squares(near, k, q)
                total += fresh.square[k, q]
                free += near.N[k] - 1.0
        fresh.spread[q] = total / free if free > 0.0 else 0.0


@kernel
def add_law_fresh(fresh: LawFresh, a: Int, reward: Floats) -> None:
    """A reward of arm a that the certified margin may use."""
    inst, shift = fresh.inst, fresh.shift
    count = inst.N[a] + 1.0
    for q in range(shift.size):
        shift[q] = (reward[q] - inst.M[a, q]) / count
        inst.M[a, q] += shift[q]
    put_mean(inst, a, inst.M[a], shift, count)
    inst.N[a] = count
    weigh(inst, a)
    penalise(fresh, a)
