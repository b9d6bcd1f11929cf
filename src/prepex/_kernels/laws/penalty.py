"""What a mean that is not known costs: the largest log-likelihood less the log of the likelihood mixed over a prior.

Written out, each is a difference of numbers as large as the outcomes' sum times its logarithm, and the digits that
count are lost: at 10^12 outcomes in all the difference, a few units, is rounding. With Stirling's formula,
    log Gamma(z) = (z - 1/2) log z - z + 1/2 log(2 pi) + rest(z),
the large parts meet in closed form. What is left of them is what it costs to move the outcomes' mean and the prior's to
the mean of both, and that is a sum of divergences, none of them negative. For a prior that is worth b outcomes with
mean y, and n outcomes with mean x, at z = (n x + b y) / (n + b):

    POISSON       n d(x, z) + b d(y, z)  +  1/2 log(1 + n x / a) + rest(a) - rest(a + n x),          a = b y
    EXPONENTIAL   n d(x, z) + b d(y, z)  +  1/2 log(1 + n / b) + rest(b) - rest(b + n)
    BERNOULLI     n d(x, z) + b d(y, z)  +  1/2 log((1 + n x / a) (1 + n (1 - x) / c) / (1 + n / b))
                                         +  rest(a) + rest(c) - rest(b) - those after the outcomes,  a = b y,  c = b - a

A variance is the mean of squares, whose law is that of EXPONENTIAL with n / 2 in place of n: the same once more, and
what the means add to the squares.
"""

import math

from prepex._kernels.jit import kernel
from prepex._kernels.laws.law import EXPONENTIAL, count_cost, divergence

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
# From here on the series is exact to 1e-14.
FAR = 10.0


@kernel
def rest(z: float) -> float:
    """log Gamma(z) less Stirling's formula."""
    if z < FAR:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - HALF_LOG_2PI
    q = 1.0 / (z * z)
    return (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q / 1188)))) / z


@kernel
def bernoulli_penalty(n: float, x: float, weight: float, m0: float) -> float:
    """mean ~ Beta(1/2 + weight m0, 1/2 + weight (1 - m0))."""
    a, c, b = 0.5 + weight * m0, 0.5 + weight * (1.0 - m0), 1.0 + weight
    yes, no = n * x, n * (1.0 - x)
    # n (z - x) = b (y - z) is what the counts move by, towards their shares.
    moved = n * (weight * (m0 - x) + 0.5 - x) / (n + b)
    share, part = n / (n + b), b / (n + b)
    cost = count_cost(yes, moved, share * (a + yes)) + count_cost(a, -moved, part * (a + yes))
    cost += count_cost(no, -moved, share * (c + no)) + count_cost(c, moved, part * (c + no))
    cost += 0.5 * (math.log1p(yes / a) + math.log1p(no / c) - math.log1p(n / b))
    return cost + rest(a) + rest(c) - rest(b) - rest(a + yes) - rest(c + no) + rest(b + n)


@kernel
def poisson_penalty(n: float, x: float, b: float, m0: float) -> float:
    """mean ~ Gamma(1/2 + b m0, rate b)."""
    a, total = 0.5 + b * m0, n * x
    moved = n * (b * (m0 - x) + 0.5) / (n + b)
    share, part = n / (n + b), b / (n + b)
    cost = count_cost(total, moved, share * (a + total)) + count_cost(a, -moved, part * (a + total))
    return cost + 0.5 * math.log1p(total / a) + rest(a) - rest(a + total)


@kernel
def exponential_penalty(n: float, x: float, b: float, y: float) -> float:
    """1 / mean ~ Gamma(b, rate b y)."""
    z = x + b * (y - x) / (n + b)
    cost = n * divergence(EXPONENTIAL, x, z, 1.0) + b * divergence(EXPONENTIAL, y, z, 1.0)
    return cost + 0.5 * math.log1p(n / b) + rest(b) - rest(b + n)


@kernel
def variance_penalty(n: float, ss: float, moved: float, alpha: float, beta: float) -> float:
    """Of n outcomes with squares ss around their means, 1 / variance ~ Gamma(alpha, rate beta).

    `moved`: what the squares grow by if the prior's means join them.
    """
    cost = exponential_penalty(0.5 * n, ss / n, alpha, beta / alpha)
    return cost + (alpha + 0.5 * n) * math.log1p(0.5 * moved / (beta + 0.5 * ss))
