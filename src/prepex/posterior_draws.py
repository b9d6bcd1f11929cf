"""Truths that the outcomes so far leave possible: draws from the posterior under a flat prior.

    law           prior                      posterior of the mean, n outcomes with mean x
    known noise   flat                       Normal(x, covariance / n)
    GAUSSIAN      flat                       Normal(x, variance / n)
    STUDENT       1 / variance               variance ~ squares / chi-square(n - 1), then Normal(x, variance / n)
      shared      1 / variance               the same with the squares of all arms, and their degrees of freedom
    BERNOULLI     Beta(1/2, 1/2)             Beta(n x + 1/2, n (1 - x) + 1/2)
    POISSON       mean^(-1/2)                Gamma(n x + 1/2) / n
    EXPONENTIAL   1 / mean                   n x / Gamma(n)
    EXACT         known                      x

Means are as courses see them: logarithms where an objective is compared by them (units.py).

Legend
    counts      outcomes of each arm                                                     (K,)
    means       their means                                                              (K, L)
    squares     sums of squares around them, of objectives of unknown variance; else 0    (K, L)
"""

from typing import NamedTuple

import numpy as np

from prepex._checks import Floats
from prepex._kernels.course import Course
from prepex.family import BERNOULLI, EXACT, EXPONENTIAL, GAUSSIAN, POISSON, STUDENT
from prepex.run import Setting


class Seen(NamedTuple):
    """All that a posterior rests on."""

    counts: Floats
    means: Floats
    squares: Floats


class Draws(NamedTuple):
    """Possible truths: means (n, K, L), and variances of one outcome (n, K, L); these only where they are unknown,
    of other objectives 1."""

    means: Floats
    variances: Floats


def seen(course: Course) -> Seen:
    """What a course has seen."""
    inst = course.near.inst
    means = course.M + course.origin
    squares = np.zeros(means.shape)
    if inst.with_laws:
        # Before three outcomes the scale of an arm is minus its sum of squares.
        own = np.where(inst.N[:, None] > 2.0, inst.scale * inst.N[:, None], -inst.scale)
        squares = np.where(inst.shared, inst.square, np.where(inst.law == STUDENT, own, 0.0))
    return Seen(inst.N.copy(), means, squares)


def draw_means(setting: Setting, given: Seen, n_draws: int, rng: np.random.Generator, *, lent: float = 0.0) -> Draws:
    """Draws from the posterior of the true means, and of variances that are unknown.

    `lent`: outcomes that a variance of one arm borrows from the others, at their common variance. Without any, an arm
    with one outcome has no finite variance, and one with few may have any.

    >>> from prepex import Experiment, Gaussian
    >>> experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
    >>> experiment.tell_many([(0, [3.0]), (1, [0.0])] * 100)
    >>> draws = draw_means(experiment.setting, seen(experiment.course), 1000, np.random.default_rng(0))
    >>> draws.means.shape, draws.means.mean(axis=0).round(1).tolist(), draws.means.std(axis=0).round(1).tolist()
    ((1000, 2, 1), [[3.0], [-0.0]], [[0.1], [0.1]])
    """
    n, means = given.counts, given.means
    shape = n_draws, *means.shape
    variances = np.ones(shape)
    if setting.laws is None:
        from prepex._kernels.instance import root_of

        root = root_of(setting.covariances)
        noise = rng.standard_normal(shape) / np.sqrt(n)[:, None]
        # (A, L, L) on (n, K, L), with A = 1 or K.
        return Draws(means + np.squeeze(root @ noise[..., None], axis=-1), variances)
    found, laws = np.empty(shape), setting.laws
    for q, code in enumerate(laws.codes):
        x = means[:, q]
        size = n_draws, len(n)
        if code == BERNOULLI:
            found[..., q] = rng.beta(n * x + 0.5, n * (1.0 - x) + 0.5, size)
        elif code == POISSON:
            found[..., q] = rng.gamma(n * x + 0.5, size=size) / n
        elif code == EXPONENTIAL:
            found[..., q] = n * x / rng.gamma(n, size=size)
        elif code == EXACT:
            found[..., q] = x
        else:
            assert code in (GAUSSIAN, STUDENT)
            variance = np.broadcast_to(laws.scale[q], size)
            if code == STUDENT or laws.shared[q]:
                variance = _variances(given, q, n_draws, rng, lent, shared=bool(laws.shared[q]))
                variances[..., q] = variance
            found[..., q] = x + np.sqrt(variance / n) * rng.standard_normal(size)
    return Draws(found, variances)


def _variances(given: Seen, q: int, n_draws: int, rng: np.random.Generator, lent: float, *, shared: bool) -> Floats:
    """(n, K): squares over chi-square; infinite where there is nothing to know a variance from."""
    squares, free = given.squares[:, q], given.counts - 1.0
    everyone, all_free = float(squares.sum()), float(free.sum())
    if shared:
        squares, free = np.array([everyone]), np.array([all_free])
    elif lent > 0.0:
        squares = squares + lent * (everyone / all_free if all_free > 0.0 else 0.0)
        free = free + lent
    known = (free > 0.0) & (squares > 0.0)
    drawn = rng.chisquare(np.where(known, free, 1.0), (n_draws, len(free)))
    return np.broadcast_to(np.where(known, squares / drawn, np.inf), (n_draws, len(given.counts)))
