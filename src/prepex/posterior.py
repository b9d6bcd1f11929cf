"""What the outcomes say of each arm: its probability of being optimal, by draws of true means from their posterior.

The prior is that of a `Posterior` threshold, else flat (prior.py). Draws are seeded by the rule's key and the number of
pulls: the same experiment gives the same numbers.

Legend
    S         facet scores of a draw, then those of the limits, as in _kernels/instance.py     (n, K, rows)
    optimal   the arm meets the limits, and no arm that does beats it by the tolerance or more   (n, K)
    wrong     of the answer in hand: a member that is not optimal, another arm that must not be left out   (n, K)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex._kernels.course import Course
from prepex._kernels.instance import Instance
from prepex.family import BERNOULLI, EXACT, EXPONENTIAL, POISSON, STUDENT
from prepex.prior import Prior, numbers, whitened
from prepex.run import Setting
from prepex.tolerance import Bools

# Draws, so many at a time; fewer when comparing arms, two on a facet, takes more than so often.
DRAWS, PART, MOST = 2000, 200, 400_000_000


@dataclass(frozen=True, eq=False)
class Belief:
    """What draws from the posterior say, in all.

    probability   that an arm is optimal                                                     (K,)
    wrong         that the answer in hand is not right
    sure          the arms whose statuses hold together with probability at least 1 - delta   (K,)
    n_draws       how many there were
    """

    probability: Floats
    wrong: float
    sure: Bools
    n_draws: int


def believe(setting: Setting, course: Course, prior: Prior | None, delta: float) -> Belief | None:
    """None where the posterior is no distribution yet: a variance is unknown, and nothing was seen to vary."""
    draw = _draws_of(setting, course, prior)
    if draw is None:
        return None
    inst = course.near.inst
    rng = np.random.default_rng(np.random.SeedSequence((setting.key, int(course.whole[0]), 3)))
    found: list[tuple[Bools, Bools]] = []
    work = 0
    while len(found) * PART < DRAWS and work < MOST:
        *judged, rivals = _judge(inst, draw(rng, PART))
        found.append((judged[0], judged[1]))
        work += PART * rivals * rivals * inst.n_facets
    optimal, wrong = (np.concatenate([pair[at] for pair in found]) for at in (0, 1))
    # The most certain first, as many as hold together.
    order = np.argsort(wrong.mean(axis=0), kind="stable")
    together = np.logical_or.accumulate(wrong[:, order], axis=1).mean(axis=0)
    sure = np.zeros(len(order), dtype=bool)
    sure[order[together <= delta]] = True
    return Belief(optimal.mean(axis=0), float(together[-1]), sure, len(wrong))


def _judge(inst: Instance, S: Floats) -> tuple[Bools, Bools, int]:
    """(optimal, wrong) of draws S, and how many arms had to be compared."""
    on, mask = inst.n_facets, np.asarray(inst.mask)
    slack, able = inst.slack[:on], np.all(S[:, :, on:] >= 0.0, axis=2)
    ties = bool(np.any(np.all(inst.V[:, :on] == 0.0, axis=1)))
    under, rivals = beaten(np.ascontiguousarray(S[:, :, :on].transpose(2, 0, 1)), able, slack, ties)
    optimal = able & ~under
    if not inst.lenient:
        return optimal, optimal != mask, rivals
    wrong = ~optimal
    outside = np.flatnonzero(~mask)
    left_out = able[:, outside]
    for a in np.flatnonzero(mask):
        matched = np.all(S[:, [a], :on] - S[:, outside, :on] >= -slack, axis=2) & able[:, [a]]
        left_out = left_out & ~matched
    wrong[:, outside] = left_out
    return optimal, wrong, rivals


def beaten(S: Floats, able: Bools, slack: Floats, ties: bool = True) -> tuple[Bools, int]:
    """Which arms a feasible one beats: (n, K), from scores by facet (m, n, K), `able` (n, K); and how many compared.

    `ties`: two arms may be equal, which is not to be beaten.

    >>> S = np.array([[[1.0, 0.0, 0.5]], [[1.0, 0.0, 2.0]]])
    >>> beaten(S, np.array([[True, True, True]]), np.zeros(2))[0].tolist()
    [[False, True, False]]
    """
    m, n, K = S.shape
    found = np.zeros((n, K), dtype=bool)
    # Below another arm in every draw: no need to compare in each, nor does it beat any that the other does not.
    low, high = S.min(axis=1), S.max(axis=1)
    always = np.flatnonzero(able.all(axis=0))
    hopeless = np.zeros(K, dtype=bool)
    for a in always[np.argsort(-low[:, always].sum(axis=0), kind="stable")][:64]:
        hopeless |= np.all(low[:, [a]] - high > slack[:, None], axis=0)
    found[:, hopeless] = True
    left = np.flatnonzero(~hopeless)
    S, able = np.ascontiguousarray(S[:, :, left]), able[:, left]
    under = np.zeros((n, left.size), dtype=bool)
    for j in range(left.size):
        by_j = np.ones((n, left.size), dtype=bool)
        for f in range(m):
            by_j &= S[f, :, [j]].T - S[f] >= slack[f] if slack[f] else S[f] <= S[f, :, [j]].T
        by_j[:, j] = False
        if ties:
            by_j &= np.any(S[:, :, [j]] > S, axis=0)
        under |= by_j & able[:, [j]]
    found[:, left] = under
    return found, left.size


def _draws_of(setting: Setting, course: Course, prior: Prior | None) -> Any:
    """A function of (generator, n) that draws scores (n, K, rows); None if there is no posterior yet."""
    inst = course.near.inst
    if setting.laws is None:
        white = whitened(prior, setting.covariances)
        size = inst.N[:, None] + white.pull  # (K, L), or of one covariance
        away = np.einsum("aij,aj->ai", white.back, course.M - (white.mean - course.origin))
        mean = course.M - np.einsum("aij,aj->ai", white.axes, white.pull / size * away)

        def known(rng: np.random.Generator, n: int) -> Floats:
            z = rng.standard_normal((n, *mean.shape)) / np.sqrt(size)
            moved = z @ white.axes[0].T if len(white.axes) == 1 else np.einsum("aij,naj->nai", white.axes, z)
            return np.asarray((mean + moved) @ inst.W.T - inst.level)

        return known
    parts = [_objective(inst, q, row, course.origin[q]) for q, row in enumerate(numbers(prior, setting.laws))]
    if any(part is None for part in parts):
        return None

    def of_laws(rng: np.random.Generator, n: int) -> Floats:
        means = np.stack([part(rng, n) for part in parts if part is not None], axis=2)
        return np.asarray(means @ inst.W.T - inst.level)

    return of_laws


def _objective(inst: Any, q: int, prior: Floats, origin: float) -> Any:
    """A function of (generator, n) that draws means (n, K) of one objective, less the origin; None if it cannot."""
    N, x, law, (a, b, weight, square) = inst.N, inst.M[:, q], int(inst.law[q]), prior
    K = len(N)
    if law == EXACT:
        return lambda rng, n: np.broadcast_to(x, (n, K))
    if law == BERNOULLI:
        return lambda rng, n: rng.beta(a + N * x, b + N * (1.0 - x), (n, K))
    if law == POISSON:
        return lambda rng, n: rng.gamma(a + N * x, 1.0, (n, K)) / (b + N)
    if law == EXPONENTIAL:
        return lambda rng, n: (b + N * x) / rng.gamma(a + N, 1.0, (n, K))
    if law != STUDENT and not inst.shared[q]:
        size = N + b * inst.scale[:, q]
        middle = x - b * inst.scale[:, q] / size * (x - (a - origin))
        return lambda rng, n: middle + np.sqrt(inst.scale[:, q] / size) * rng.standard_normal((n, K))
    own = inst.square[:, q] if inst.shared[q] else np.where(N > 2.0, inst.scale[:, q] * N, -inst.scale[:, q])
    away, size = x - (a - origin), N + b
    middle, squares = x - b / size * away, own + b * N / size * away * away
    if inst.shared[q]:
        free, total = N.sum() + (weight if b > 0.0 else -K), square + squares.sum()
        free, total = np.full(K, free), np.full(K, total)
    else:
        free, total = N + weight, square + squares
    if not (np.all(free > 0.0) and np.all(total > 0.0)):
        return None

    def student(rng: np.random.Generator, n: int) -> Floats:
        sizes = (n, 1) if inst.shared[q] else (n, K)
        variance = total / rng.chisquare(free[: sizes[1]], sizes)
        return np.asarray(middle + np.sqrt(variance / size) * rng.standard_normal((n, K)))

    return student
