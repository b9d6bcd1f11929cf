"""Rewards of a simulated run, from noise that was drawn in advance."""

from typing import Any

from prepex._kernels.instance import Floats, Int, covariance_row
from prepex._kernels.jit import by_model, kernel, part
from prepex._kernels.laws.reward import pay_law


@kernel
def pay_known(near: Any, truth: Floats, roots: Floats, a: Int, reward: Floats) -> None:
    """Noise becomes a reward of arm a, in place, from the last entry: a root is lower triangular."""
    own = covariance_row(roots, a)
    for p in range(truth.shape[1] - 1, -1, -1):
        value = truth[a, p]
        for q in range(p + 1):
            value += roots[own, p, q] * reward[q]
        reward[p] = value


@part
def pay_laws(near: Any, truth: Floats, roots: Floats, a: Int, reward: Floats) -> None:
    """roots[0, a] are deviations of the Gaussian objectives."""
    pay_law(near.inst.law, truth[a], roots[0, a], reward)


pay = by_model(known=pay_known, laws=pay_laws)
