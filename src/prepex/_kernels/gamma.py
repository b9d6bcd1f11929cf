"""log Gamma, the same to the last bit interpreted and compiled: Python's own and numba's are two different programs.

Lanczos' approximation with the coefficients of Boost and CPython, relative error near 1e-15:
    log Gamma(x) = log sum(x) - G + (x - 1/2) (log(x + G - 1/2) - 1),   sum a quotient of polynomials.
"""

from math import inf, log

G = 6.024680040776729583740234375
# Ascending.
ABOVE = (
    23531376880.41076,
    42919803642.6491,
    35711959237.35567,
    17921034426.03721,
    6039542586.352028,
    1439720407.3117216,
    248874557.86205417,
    31426415.585400194,
    2876370.6289353725,
    186056.2653952235,
    8071.672002365816,
    210.82427775157935,
    2.5066282746310002,
)
BELOW = (
    0.0,
    39916800.0,
    120543840.0,
    150917976.0,
    105258076.0,
    45995730.0,
    13339535.0,
    2637558.0,
    357423.0,
    32670.0,
    1925.0,
    66.0,
    1.0,
)


def lgamma(x: float) -> float:
    """log Gamma(x), x > 0."""
    if not x > 0.0:
        return inf
    if x == 1.0 or x == 2.0:
        return 0.0
    if x < 1e-20:
        return -log(x)
    above, below = 0.0, 0.0
    for n in range(13):
        if x < 5.0:
            above, below = above * x + ABOVE[12 - n], below * x + BELOW[12 - n]
        else:
            # In powers of 1 / x, which do not overflow.
            above, below = above / x + ABOVE[n], below / x + BELOW[n]
    return log(above / below) - G + (x - 0.5) * (log(x + (G - 0.5)) - 1.0)
