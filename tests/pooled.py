"""Errors of many runs, pooled, against delta: how many are too many.

A single cell of 40 runs sees next to nothing. Of `total` runs at most `most(total)` may be wrong: a program whose true
error is delta exceeds that once in a hundred thousand suites, one that errs twice as often nearly always.
"""

from scipy.stats import binom

DELTA = 0.1
BY_CHANCE = 1e-5
SEEN = 0.99


def most(total):
    return int(binom.isf(BY_CHANCE, total, DELTA))


def power(total, error=2 * DELTA):
    """The chance to see such a true error."""
    return float(binom.sf(most(total), total, error))
