"""What a course keeps for the posterior probability of a wrong answer (posterior.py has the legend)."""

from typing import NamedTuple

import numpy as np

from prepex._kernels.instance import Floats, Ints

# Terms of the bound that are looked at first.
WATCHED = 32


class Belief(NamedTuple):
    """A prior, and scratch; nothing of it changes with the outcomes but shortcuts."""

    flat: bool
    half: Floats
    back: Floats
    pull: Floats
    mean: Floats
    law: Floats
    S: Floats
    V: Floats
    watch: Ints
    size: Floats


class PriorNumbers(NamedTuple):
    """A prior as numbers, in the user's units (inner ones, of logarithms); see prior.py.

    axes, back, pull, mean   of known Gaussians;  law  of other laws, where `centred` says whose means have an origin
    """

    flat: bool
    axes: Floats
    back: Floats
    pull: Floats
    mean: Floats
    law: Floats
    centred: Floats


def no_prior(L: int) -> PriorNumbers:
    """Where no posterior is asked for."""
    none = np.zeros((1, L, L))
    return PriorNumbers(True, none, none, np.zeros((1, L)), np.zeros(L), np.zeros((L, 4)), np.zeros(L))


def make_belief(prior: PriorNumbers | None, rows: Floats, origin: Floats, K: int) -> Belief:
    """For a course with these rows (m, L) and this origin (L,)."""
    m, L = rows.shape
    given = no_prior(L) if prior is None else prior
    law = given.law.copy()
    law[:, 0] -= given.centred * origin
    return Belief(
        flat=given.flat,
        half=np.ascontiguousarray(rows @ given.axes),
        back=np.ascontiguousarray(given.back),
        pull=np.ascontiguousarray(given.pull),
        mean=np.ascontiguousarray(given.mean - origin),
        law=np.ascontiguousarray(law),
        S=np.zeros((K, m)),
        V=np.zeros((K, m)),
        watch=np.full((WATCHED, 2), -1, dtype=np.int64),
        size=np.zeros(WATCHED),
    )
