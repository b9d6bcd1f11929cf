"""Opening a course: what a live experiment and a simulation have in common."""

from dataclasses import dataclass

import numpy as np

from prepex import _checks, _named
from prepex._checks import Floats
from prepex._kernels import course as kernels
from prepex._kernels.belief import PriorNumbers
from prepex._kernels.course import Course
from prepex.cone import Cone
from prepex.errors import InputError
from prepex.family import BERNOULLI, Family, Gaussian, Laws
from prepex.labels import Labels
from prepex.limits import Limits
from prepex.prior import Prior
from prepex.sampling import RULES, Oracle, Rule
from prepex.stopping import Certified, KaufmannKoolen, Own, Posterior, Threshold
from prepex.tolerance import Tolerance, check_tolerance, slack_of
from prepex.units import Units


def check_rule(rule: Rule) -> None:
    """Refuse a rule that the kernels do not know: they go by its code, and would run another one under its name."""
    for kind in RULES.values():
        if isinstance(rule, kind) and rule.code == kind.code and rule.stops_itself == bool(kind.own):
            return
    raise InputError(
        f"sampling must be one of the rules of prepex ({', '.join(kind.__name__ for kind in RULES.values())}), "
        f"got {type(rule).__name__}"
    )


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
    slack: Floats
    limits: Limits | None = None
    # Of a Posterior threshold's prior.
    numbers: PriorNumbers | None = None

    @classmethod
    def make(
        cls,
        family: Family,
        cone: Cone,
        labels: Labels,
        rule: Rule,
        threshold: Threshold,
        key: int,
        tolerance: Tolerance = None,
        limits: Limits | None = None,
    ) -> "Setting":
        """Refuse what does not go together."""
        slack = slack_of(tolerance, cone, labels, family.units(len(labels.objectives)))
        if slack is None:
            slack = np.zeros(cone.n_facets)
        elif rule.stops_itself and slack.any():
            raise InputError(f"{rule.name} stops by a test of its own, which knows no tolerance")
        if rule.stops_itself and limits is not None:
            raise InputError(f"{rule.name} stops by a test of its own, which knows no limits")
        check_rule(rule)
        numbers = None
        if isinstance(threshold, Posterior):
            if rule.follows_margin(False):
                raise InputError(f"{rule.name} follows the margin of 'certified', got the threshold {threshold.name}")
            threshold = threshold.ordered(labels, family)
            numbers = threshold.as_numbers(family, len(labels.arms), len(labels.objectives))
        shape = len(labels.arms), len(labels.objectives)
        laws = family.laws(*shape)
        if laws is None:
            if not isinstance(family, Gaussian):
                raise InputError(f"family must have a law for each objective, or be Gaussian, got {family!r}")
            return cls(cone, family.covariances(*shape), None, labels, rule, threshold, key, slack, limits, numbers)
        for q, size in enumerate(check_tolerance(tolerance, cone, labels, family.units(shape[1])) or ()):
            if laws.codes[q] == BERNOULLI and size >= 1.0:
                name = labels.objectives[q]
                raise InputError(f"tolerance of {name!r} must be below 1, as its outcomes are 0 or 1, got {size:g}")
        if rule.stops_itself:
            raise InputError(f"{rule.name} is for Gaussian rewards of known covariance, got {family!r}")
        if isinstance(threshold, KaufmannKoolen) and laws.unknown:
            raise InputError("kaufmann_koolen is for one-parameter families, got an unknown variance")
        # The pilot sets the priors; a variance takes two outcomes.
        least = 2 if laws.unknown else 1
        if isinstance(threshold, Certified) and threshold.pilot is not None and threshold.pilot < least:
            words = "at least 2 rounds" if laws.unknown else "at least 1 round"
            raise InputError(f"pilot must be {words} for {family!r}: it sets the priors, got {threshold.pilot}")
        return cls(cone, np.zeros((1, shape[1], shape[1])), laws, labels, rule, threshold, key, slack, limits, numbers)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(K, L, m)."""
        return len(self.labels.arms), len(self.labels.objectives), self.cone.n_facets

    @property
    def facets(self) -> Floats:
        """Of the cone, for outcomes in the user's units: the one place where minimised objectives are turned around."""
        return self.cone.facets * self.labels.signs

    @property
    def units(self) -> Units:
        """Which objectives are compared by their logarithms: courses see nothing else of them."""
        return Units() if self.laws is None else Units(self.laws.logs)

    @property
    def certified(self) -> bool:
        """Does the certified margin decide the stop?"""
        return isinstance(self.threshold, Certified)

    @property
    def posterior(self) -> bool:
        """Does the posterior probability of a wrong answer decide the stop?"""
        return isinstance(self.threshold, Posterior)

    @property
    def prior(self) -> Prior | None:
        """Of the means; None: flat."""
        return self.threshold.prior if isinstance(self.threshold, Posterior) else None

    @property
    def own(self) -> bool:
        """Does the rule's own test decide the stop?"""
        return isinstance(self.threshold, Own)

    def open(self, first: Floats, delta: float) -> Course:
        """The course after one pull of each arm, with these inner outcomes (K, L); some rules sample for one delta."""
        follow = kernels.FOLLOW_NOTHING
        if self.rule.follows_margin(self.certified):
            follow = kernels.FOLLOW_MARGIN
        elif self.certified:
            follow = kernels.FOLLOW_EVIDENCE
        elif self.posterior:
            follow = kernels.FOLLOW_POSTERIOR
        threshold = self.threshold if isinstance(self.threshold, Certified) else Certified()
        plan = kernels.Plan(
            rule=self.rule.code,
            follow=follow,
            paper=self.rule.alternatives == "paper",
            aim=self.aim(),
            tolerance=self.rule.tolerance,
            rho=np.array(threshold.grid),
            pilot=threshold.pilot_pulls(self.shape[0]),
            longest=threshold.longest_pilot(self.shape[0]),
            closed=threshold.closed,
            key=self.key,
            risk=-np.log(delta),
            tries=self.rule.tries,
            slack=self.slack,
            limits=None if self.limits is None else self.limits.rows,
            level=None if self.limits is None else self.limits.level,
            prior=self.numbers,
        )
        if self.laws is not None:
            laws = self.laws
            return kernels.open_law_course(self.facets, laws.codes, laws.scale, laws.shared, first, plan)
        return kernels.open_course(self.facets, self.covariances, self.labels.signs, first, plan)

    def aim(self) -> Floats:
        """The allocation that a fixed rule tracks, and every other starts from."""
        K = self.shape[0]
        if isinstance(self.rule, Oracle):
            if self.rule.allocation is None:
                raise InputError("Oracle needs allocation= where the truth is not known")
            named = _named.in_order("allocation", self.rule.allocation, self.labels.arms)
            given = _checks.real_array("allocation", named, ("n_arms", K))
            return np.asarray(_checks.positive("allocation", given) / given.sum())
        return np.full(K, 1.0 / K)
