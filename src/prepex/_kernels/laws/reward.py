"""Rewards from noise that was drawn in advance: standard normal, standard exponential or uniform (family.noise)."""

import math

import numpy as np

from prepex._kernels.instance import Floats, Int, Ints
from prepex._kernels.jit import kernel
from prepex._kernels.laws.law import BERNOULLI, EXACT, EXPONENTIAL, GAUSSIAN, POISSON, STUDENT, count_cost
from prepex._kernels.laws.penalty import rest


@kernel
def poisson_from(mean: float, u: float) -> float:
    """Intervals of [0, 1) go to the outcomes nearest to the mean first: about sqrt(mean) steps, no tail to sum."""
    if mean <= 0.0:
        return 0.0
    high = np.floor(mean)
    # mean^high exp(-mean) / high!, by Stirling's formula: its parts are as large as the mean times its logarithm.
    up = math.exp(-mean)
    if high > 0.0:
        up = math.exp(-count_cost(high, mean - high, mean) - rest(high)) / math.sqrt(2.0 * math.pi * high)
    low, down = high, up
    left = u - up
    while left >= 0.0:
        high += 1.0
        up *= mean / high
        left -= up
        if left < 0.0:
            return high
        if low > 0.0:
            down *= low / mean
            low -= 1.0
            left -= down
            if left < 0.0:
                return low
        # All that is left is rounding.
        if up < 1e-300 and (low <= 0.0 or down < 1e-300):
            return np.floor(mean)
    return high


@kernel
def pay_law(law: Ints, mean: Floats, deviation: Floats, reward: Floats) -> None:
    """Noise becomes a reward, in place. `deviation`: of the Gaussian objectives."""
    for q in range(law.size):
        if law[q] == BERNOULLI:
            reward[q] = 1.0 if reward[q] < mean[q] else 0.0
        elif law[q] == POISSON:
            reward[q] = poisson_from(mean[q], reward[q])
        elif law[q] == EXPONENTIAL:
            reward[q] = mean[q] * reward[q]
        elif law[q] == GAUSSIAN or law[q] == STUDENT:
            reward[q] = mean[q] + deviation[q] * reward[q]
        elif law[q] == EXACT:
            reward[q] = mean[q]
        else:
            reward[q] = np.nan


def reward_of(law: Int, mean: float, deviation: float, noise: float) -> float:
    """One objective's reward, from Python."""
    out = np.array([noise])
    pay_law(np.array([law], dtype=np.int64), np.array([mean]), np.array([deviation]), out)
    return float(out[0])
