"""Where all true means of an experiment are, at all times together, with probability 1 - delta (docs/regions.md)."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from prepex._checks import Floats
from prepex._kernels.course import Course
from prepex._kernels.laws.fresh import LawFresh
from prepex.errors import InputError
from prepex.region import intervals, radius
from prepex.run import Setting


class Tried(Protocol):
    """What regions are made of: an `Experiment` has it."""

    delta: float

    @property
    def setting(self) -> Setting:
        """What its course is made of."""

    @property
    def course(self) -> Course | None:
        """Its numbers, once every arm was tried."""

    @property
    def counts(self) -> Any:
        """Outcomes of each arm (K,)."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Where all true means are, in inner units (logarithms of a LogNormal) and the user's signs.

    centre       of each region                                    (K, L)
    covariance   of ellipsoids with `size` as their radius         (1 or K, L, L); None: boxes
    ends         of boxes                                          (K, L, 2)
    """

    centre: Floats
    covariance: Floats | None
    size: Floats | None
    ends: Floats

    @classmethod
    def of(cls, experiment: Tried, delta: float | None = None) -> "Regions":
        """At the experiment's delta, or another one that was fixed before looking."""
        setting, risk = experiment.setting, experiment.delta if delta is None else delta
        course = experiment.course
        if course is None:
            raise InputError("every arm must have been tried before there are regions, got some that were not")
        centre = course.M + course.origin
        if setting.laws is None:
            size = radius(experiment.counts, centre.shape[1], risk)
            covariance = setting.covariances
            half = size[:, None] * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
            return cls(centre, covariance, size, np.stack([centre - half, centre + half], axis=2))
        if not isinstance(course.fresh, LawFresh) or not setting.certified:
            raise InputError("threshold must be certified for there to be regions of this family")
        ends = intervals(course, risk)
        # Nothing is known where the outcomes after the pilot say nothing.
        ends = np.where(np.isnan(ends), np.array([-np.inf, np.inf]), ends)
        return cls(centre, None, None, ends)

    def along(self, facets: Floats) -> tuple[Floats, Floats]:
        """(low, high) along rows of facets in the user's signs, each (K, m)."""
        if self.covariance is not None and self.size is not None:
            middle = self.centre @ facets.T
            spread = np.sqrt(np.einsum("fi,kij,fj->kf", facets, self.covariance, facets))
            half = self.size[:, None] * spread
            return middle - half, middle + half
        plus, minus = np.maximum(facets, 0.0), np.minimum(facets, 0.0)
        with np.errstate(invalid="ignore"):
            low = _dot(self.ends[:, :, 0], plus) + _dot(self.ends[:, :, 1], minus)
            high = _dot(self.ends[:, :, 1], plus) + _dot(self.ends[:, :, 0], minus)
        return low, high


def _dot(ends: Floats, weights: Floats) -> Floats:
    """Sums in which 0 times infinity is 0."""
    terms = np.where(weights[None] == 0.0, 0.0, ends[:, None, :] * weights[None])
    return np.asarray(terms.sum(axis=2))
