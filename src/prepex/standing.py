"""What a course says: how far it is, which arms are decided, what is missing. Nothing here changes it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex._checks import Floats
from prepex._kernels import course as kernels
from prepex._kernels.course import Course
from prepex._kernels.dispatch import find_margin, standing
from prepex._kernels.laws.fresh import LawFresh
from prepex._kernels.laws.law import STUDENT
from prepex._kernels.laws.ledger import LawLedger
from prepex._kernels.laws.margin import settle_law_tests
from prepex._kernels.margin import AS_RIVAL, IN_FRONT, OUT_OF_FRONT, settle_tests
from prepex._kernels.own import own_stops
from prepex.alternatives import Evidence, found_by, solver
from prepex.family import Family
from prepex.run import Setting
from prepex.solvers import LawSolver
from prepex.stopping import UserThreshold


def level_at(setting: Setting, counts: Floats, delta: float) -> float:
    """What must be reached at these counts."""
    threshold = setting.threshold
    if setting.own:
        return 1.0
    if isinstance(threshold, UserThreshold):
        return threshold.checked(counts, delta)
    return threshold.level(delta, setting.shape) + threshold.growth(counts, setting.shape)


@dataclass(frozen=True, eq=False)
class Standing:
    """A course in which every arm was tried, at one delta."""

    setting: Setting
    course: Course
    family: Family
    delta: float

    @property
    def n_pulls(self) -> int:
        """Outcomes so far."""
        return int(self.course.whole[kernels.PULLS])

    @property
    def pareto_names(self) -> tuple[str, ...]:
        """The arms that look Pareto optimal."""
        return tuple(self.setting.labels.arms[k] for k in self.course.near.inst.mask.nonzero()[0])

    @property
    def testable(self) -> bool:
        """Is the pilot over, and every arm tried since?"""
        whole = self.course.whole
        return bool(whole[kernels.PULLS] >= whole[kernels.PILOT] and whole[kernels.MISSING] == 0)

    @property
    def reached(self) -> float:
        """What the threshold looks at: the certified margin, the evidence, or 1 if the rule's own test is passed."""
        course = self.course
        if self.setting.own:
            return float(own_stops(course, -np.log(self.delta)))
        if not self.setting.certified:
            return float(standing(course.near))
        if not self.testable:
            return -np.inf
        binding = course.binding.copy()
        return float(find_margin(course.fresh, course.near, course.grid, course.price, course.scratch, binding))

    @property
    def needed(self) -> float:
        """What it must reach."""
        return level_at(self.setting, self.course.near.inst.N, self.delta)

    @property
    def evidence(self) -> Evidence:
        """How far the data are from any other Pareto set."""
        near, labels = self.course.near, self.setting.labels
        if isinstance(near, LawLedger):
            inst = near.inst
            return found_by(LawSolver(inst.M.copy(), inst.N.copy(), inst.law, inst.scale, inst.W, labels))
        means = self.course.M * self.setting.signs
        return found_by(solver(means, near.inst.N.copy(), self.family, self.setting.cone, labels))

    def decided(self) -> set[int]:
        """The arms of which no change of status is cheaper than the threshold."""
        if self.setting.own:
            return set()
        if self.setting.certified:
            if not self.testable:
                return set()
            self._settle_tests()
            return {int(k) for k in np.flatnonzero(self.course.scratch.bound >= self.needed)}
        found, limit = self.evidence, self._before_discount(self.needed)
        risky = {piece.arm for piece in found.pieces(max(limit - found.value, 0.0))} if found.value < limit else set()
        return set(range(len(self.setting.labels.arms))) - risky

    @property
    def forecast(self) -> int | None:
        """Pulls still needed if the evidence goes on growing in proportion; None if there is none yet."""
        if self.setting.own:
            return None
        paid, pulls = 0.0, self.n_pulls
        if self.setting.certified:
            if not self.testable:
                return None
            paid, pulls = self._paid(), pulls - int(self.course.whole[kernels.PILOT])
        have, need = self.reached + paid, self.needed + paid
        if not have > 0:
            return None
        return max(int(np.ceil(pulls * (need / have - 1.0))), 0) if np.isfinite(have) else 0

    def why_not_yet(self) -> str:
        """What is missing, in words."""
        parts = [
            f"{self.n_pulls} pulls. Looks Pareto optimal: {', '.join(self.pareto_names)}.",
            f"The closest alternative: {self.evidence.alternative or 'none'}.",
        ]
        if self.setting.own:
            return " ".join([*parts, f"{self.setting.rule.name}'s own test at delta {self.delta:g} is not passed yet."])
        if self.setting.certified and not self.testable:
            pilot = int(self.course.whole[kernels.PILOT])
            parts.append(
                f"The first {pilot:,} pulls only set the shares of the risk; then every option is tried again."
            )
        else:
            what = "certified margin" if self.setting.certified else "evidence"
            if np.isfinite(self.reached):
                have = f"The {what} is {self.reached:.2f}; it"
            else:
                have = f"The {what} cannot be computed yet: {self._nothing()}. It"
            parts.append(f"{have} must reach {self.needed:.2f} at delta {self.delta:g}.")
        if self.setting.certified and self.testable:
            better, worse = (self.setting.labels.arms[k] for k in self.course.binding[:2])
            parts.append(f"The weakest test: {better} over {worse}.")
        left = self.forecast
        rate = "How many more pulls it takes is not known yet."
        return " ".join([*parts, rate if left is None else f"At the current rate about {left:,} more pulls."])

    def _nothing(self) -> str:
        """Why some test says nothing at all."""
        laws = self.setting.laws
        if laws is not None and laws.unknown and self._blind():
            return "a variance is not known before each option has three outcomes, not all equal, after the pilot"
        return "the outcomes of some options are equal so far, so that none is ahead"

    def _blind(self) -> bool:
        """Has some arm no estimate of its variance?"""
        fresh = self.course.fresh
        if not isinstance(fresh, LawFresh):
            return False
        unknown = fresh.inst.law == STUDENT
        return bool(np.any(fresh.inst.N < 3) or np.any(fresh.inst.scale[:, unknown] <= 0))

    def _before_discount(self, level: float) -> float:
        """The evidence at which `reached` is `level`; they differ where a shared variance is estimated."""
        n, laws = self.n_pulls, self.setting.laws
        return level if laws is None or not laws.shared.any() else 0.5 * n * float(np.expm1(2.0 * level / n))

    def _settle_tests(self) -> None:
        """Every arm's certified test, into the course's scratch space."""
        course, fresh = self.course, self.course.fresh
        near: Any = course.near.inst
        if isinstance(fresh, LawFresh):
            settle_law_tests(fresh, near, course.price, self.needed, course.scratch)
        else:
            settle_tests(fresh, near, course.grid, course.price, self.needed, course.scratch)

    def _paid(self) -> float:
        """The price of the binding test."""
        better, worse, _, kind = self.course.binding
        price = self.course.price
        if better < 0:
            return 0.0
        if kind == IN_FRONT:
            return float(price[IN_FRONT, better])
        return float(price[OUT_OF_FRONT, worse] + price[AS_RIVAL, better])
