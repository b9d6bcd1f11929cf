"""Opening a course: what a live experiment and a simulation have in common."""

from dataclasses import dataclass

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels import course as kernels
from prepex._kernels.course import Course
from prepex.cone import Cone
from prepex.family import Family, Gaussian, Laws
from prepex.labels import Labels
from prepex.sampling import Oracle, Rule
from prepex.stopping import Certified, KaufmannKoolen, Own, Threshold


@dataclass(frozen=True, eq=False)
class Setting:
    """All that is fixed before the first pull."""

    cone: Cone
    covariances: Floats
    laws: Laws | None
    labels: Labels
    rule: Rule
    threshold: Threshold
    key: int

    @classmethod
    def make(cls, family: Family, cone: Cone, labels: Labels, rule: Rule, threshold: Threshold, key: int) -> "Setting":
        """Flip the minimised objectives."""
        shape = len(labels.arms), len(labels.objectives)
        laws = family.laws(*shape)
        if laws is None:
            assert isinstance(family, Gaussian)
            covariances = family.covariances(*shape) * np.outer(labels.signs, labels.signs)
            return cls(cone, covariances, None, labels, rule, threshold, key)
        if rule.stops_itself:
            raise ValueError(f"{rule.name} is for Gaussian rewards of known covariance, got {family!r}")
        if isinstance(threshold, KaufmannKoolen) and laws.unknown:
            raise ValueError("kaufmann_koolen is for one-parameter families, got an unknown variance")
        if isinstance(threshold, Certified) and threshold.pilot == 0:
            raise ValueError(f"pilot must be at least 1 round for {family!r}: it sets the priors, got 0")
        return cls(cone, np.zeros((1, shape[1], shape[1])), laws, labels, rule, threshold, key)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(K, L, m)."""
        return len(self.labels.arms), len(self.labels.objectives), self.cone.n_facets

    @property
    def signs(self) -> Floats:
        """What outcomes are multiplied by on the way in: laws stay in the user's units, their facets have the signs."""
        return self.labels.signs if self.laws is None else np.ones(len(self.labels.signs))

    @property
    def certified(self) -> bool:
        """Does the certified margin decide the stop?"""
        return isinstance(self.threshold, Certified)

    @property
    def own(self) -> bool:
        """Does the rule's own test decide the stop?"""
        return isinstance(self.threshold, Own)

    def open(self, first: Floats, delta: float) -> Course:
        """The course after one pull of each arm, with these outcomes (K, L); some rules sample for one delta."""
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
        if self.laws is not None:
            facets = self.cone.facets * self.labels.signs
            laws = self.laws
            return kernels.open_law_course(facets, laws.codes, laws.scale, laws.shared, first, plan)
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
