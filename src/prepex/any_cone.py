"""In, out or open under any cone and any tolerance, chosen after looking at the data.

The regions of prepex.region hold all true means at all times together, with probability 1 - delta, so whatever follows
from them does too: under every cone at once. What is said of one cone that was fixed in advance needs less data.

Legend
    low, high   ends of w_f . mu_k over the region of arm k, for every facet f    (K, m)
    in          against every j some facet has low_i > high_j
    out         some j has low_j >= high_i on every facet
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from prepex._checks import Floats
from prepex._kernels.laws.fresh import LawFresh
from prepex.cone import Cone
from prepex.errors import InputError
from prepex.experiment import Experiment
from prepex.family import Gaussian
from prepex.region import intervals, radius

State = Literal["in", "out", "open"]


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
    def of(cls, experiment: Experiment, delta: float | None = None) -> "Regions":
        """At the experiment's delta, or another one that was fixed before looking."""
        labels, risk = experiment.labels, experiment.delta if delta is None else delta
        shape = len(labels.arms), len(labels.objectives)
        course = experiment.course
        if course is None:
            raise InputError("every arm must have been tried before there are regions, got some that were not")
        centre = course.M + course.origin
        if experiment.setting.laws is None:
            assert isinstance(experiment.family, Gaussian)
            size = radius(experiment.counts, shape[1], risk)
            covariance = experiment.family.covariances(*shape)
            half = size[:, None] * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
            return cls(centre, covariance, size, np.stack([centre - half, centre + half], axis=2))
        if not isinstance(course.fresh, LawFresh) or not experiment.setting.certified:
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


def states_under(regions: Regions, cone: Cone, signs: Floats) -> tuple[State, ...]:
    """Of each arm; `signs` (L,) turn minimised objectives around."""
    low, high = regions.along(cone.facets * signs)
    surely_better = low[:, None, :] - high[None, :, :]
    out = np.all(surely_better >= 0.0, axis=2) & np.any(surely_better > 0.0, axis=2)
    safe = np.any(surely_better > 0.0, axis=2)
    K = len(low)
    np.fill_diagonal(safe, True)
    np.fill_diagonal(out, False)
    return tuple("out" if out[:, k].any() else "in" if safe[k].all() else "open" for k in range(K))


def least_tolerance(regions: Regions, cone: Cone, signs: Floats, unit: Floats) -> float:
    """The smallest c such that the Pareto set of the centres is surely right within the tolerance c * unit (L,).

    A member must not be beaten by more than the tolerance, another arm must be matched within it by a member: each is
    a maximum or minimum over differences on facets, divided by the tolerance's size there.
    """
    facets = cone.facets * signs
    low, high = regions.along(facets)
    size = cone.facets @ unit
    mask = cone.pareto_mask(regions.centre * signs)
    # ahead[j, i]: how far j may be ahead of i on the facet on which it is least so, in units of the tolerance.
    ahead = ((high[:, None, :] - low[None, :, :]) / size).min(axis=2)
    behind = ((high[None, :, :] - low[:, None, :]) / size).max(axis=2)
    worst = 0.0
    for i in range(len(mask)):
        if mask[i]:
            others = [j for j in range(len(mask)) if j != i]
            need = ahead[others, i].max() if others else 0.0
        else:
            need = behind[mask, i].min()
        worst = max(worst, float(need))
    return worst
