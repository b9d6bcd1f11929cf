"""Opening a course: what a live experiment and a simulation have in common."""

from dataclasses import dataclass

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels import course as kernels
from prepex._kernels.course import Course
from prepex.cone import Cone
from prepex.family import Gaussian
from prepex.labels import Labels
from prepex.sampling import Oracle, Rule
from prepex.stopping import Certified, Own, Threshold


@dataclass(frozen=True, eq=False)
class Setting:
    """All that is fixed before the first pull. Benefits: every objective counted so that more is better."""

    cone: Cone
    covariances: Floats
    labels: Labels
    rule: Rule
    threshold: Threshold
    key: int

    @classmethod
    def make(
        cls, family: Gaussian, cone: Cone, labels: Labels, rule: Rule, threshold: Threshold, key: int
    ) -> "Setting":
        """Flip the minimised objectives."""
        shape = len(labels.arms), len(labels.objectives)
        covariances = family.covariances(*shape) * np.outer(labels.signs, labels.signs)
        return cls(cone, covariances, labels, rule, threshold, key)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(K, L, m)."""
        return len(self.labels.arms), len(self.labels.objectives), self.cone.n_facets

    @property
    def certified(self) -> bool:
        """Does the certified margin decide the stop?"""
        return isinstance(self.threshold, Certified)

    @property
    def own(self) -> bool:
        """Does the rule's own test decide the stop?"""
        return isinstance(self.threshold, Own)

    def open(self, first: Floats, delta: float) -> Course:
        """The course after one pull of each arm, with these benefits (K, L); some rules sample for one delta."""
        follow = kernels.FOLLOW_NOTHING
        if self.rule.follows_margin(self.certified):
            follow = kernels.FOLLOW_MARGIN
        elif self.certified:
            follow = kernels.FOLLOW_EVIDENCE
        threshold = self.threshold if isinstance(self.threshold, Certified) else Certified()
        plan = kernels.Plan(
            rule=self.rule.code,
            follow=follow,
            paper=self.rule.alternatives == "paper",
            aim=self.aim(),
            tolerance=self.rule.tolerance,
            rho=np.array(threshold.grid),
            pilot=threshold.pilot_pulls(self.shape[0]),
            key=self.key,
            risk=-np.log(delta),
            tries=self.rule.tries,
        )
        return kernels.open_course(self.cone.facets, self.covariances, first, plan)

    def aim(self) -> Floats:
        """The allocation that a fixed rule tracks, and every other starts from."""
        K = self.shape[0]
        if isinstance(self.rule, Oracle):
            if self.rule.allocation is None:
                raise ValueError("Oracle needs allocation= where the truth is not known")
            given = _checks.real_array("allocation", self.rule.allocation, ("n_arms", K))
            return np.asarray(_checks.positive("allocation", given) / given.sum())
        return np.full(K, 1.0 / K)
