"""AdaHedge (de Rooij et al., 2014) for gains: exponential weights whose rate follows from the gap paid so far.

    w ~ exp(eta G),  eta = log K / gap;   after the gains g:   gap += 1/eta log sum_k w_k exp(eta g_k) - <w, g>,  G += g

G are the sums of gains; while the gap is zero eta is infinite, and w is uniform over the best.
"""

import numpy as np

from prepex._kernels.instance import Floats
from prepex._kernels.jit import kernel


@kernel
def hedge_weights(total: Floats, gap: float, w: Floats) -> None:
    """Write w for the sums of gains `total` and the gap so far."""
    K = total.size
    most = total[0]
    for k in range(1, K):
        most = max(most, total[k])
    mass = 0.0
    for k in range(K):
        if gap > 0.0:
            w[k] = np.exp(np.log(K) / gap * (total[k] - most))
        else:
            w[k] = 1.0 if total[k] == most else 0.0
        mass += w[k]
    for k in range(K):
        w[k] /= mass


@kernel
def hedge_learn(total: Floats, gap: float, w: Floats, gains: Floats) -> float:
    """Take the gains of a round that was played with w; returns the new gap."""
    K = total.size
    mean, most = 0.0, -np.inf
    for k in range(K):
        mean += w[k] * gains[k]
        if w[k] > 0.0:
            most = max(most, gains[k])
    mixed = most
    if gap > 0.0 and K > 1:
        eta = np.log(K) / gap
        mass = 0.0
        for k in range(K):
            mass += w[k] * np.exp(eta * (gains[k] - most))
        mixed = most + np.log(mass) / eta
    for k in range(K):
        total[k] += gains[k]
    return gap + max(mixed - mean, 0.0)
