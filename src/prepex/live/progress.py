"""What was told, by position, and what it has come to. `tell`, `tell_summary` and `replay` are the only ways in.

Legend
    course   the numbers behind it all, once every arm was tried
    before   outcomes that were told and are not in the log
    seen     what the last look said, of a posterior that is looked at rarely
"""

from typing import Any

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels.course import Course
from prepex._kernels.observe import observe, observe_run, steps
from prepex._kernels.own import observe_own
from prepex._kernels.posterior import surety
from prepex.errors import InputError
from prepex.exact import exact_objectives, require_agreement, table_of
from prepex.live.conclusion import final_answer, open_answer
from prepex.live.recommendation import Recommendation
from prepex.live.told import Rows, Told
from prepex.numerals import plural
from prepex.posterior import Belief, believe
from prepex.run import Setting
from prepex.settings import Settings
from prepex.standing import Standing, level_at
from prepex.stopping import Certified


class EarlySummaryError(InputError):
    """A summary would lie in the pilot."""


class Progress:
    """Of one experiment, from its first outcome on."""

    def __init__(self, settings: Settings, setting: Setting) -> None:
        self.settings, self.setting, self.labels = settings, setting, settings.labels
        self.delta, self.max_pulls = settings.delta, settings.max_pulls
        self.exact, self._known = exact_objectives(settings.family, self.labels), table_of(settings.known, self.labels)
        # After a snapshot only what was told since.
        self.log: list[Told] = []
        self.n_pulls = self.before = 0
        self.course: Course | None = None
        self.stopped: Recommendation | None = None
        self.seen = -np.inf
        self._scratch = np.zeros(len(self.labels.objectives))
        # What the posterior says, and after how many pulls.
        self._believed: tuple[int, Belief | None] | None = None

    def fresh(self) -> "Progress":
        """The same, and nothing told."""
        made = Progress(self.settings, self.setting)
        made.delta, made.max_pulls = self.delta, self.max_pulls
        return made

    # What came

    def tell(self, outcomes: list[Told]) -> None:
        """Outcomes, in this order; all or none are taken."""
        if self.exact and outcomes:
            arms, rows = np.array([told.arm for told in outcomes]), np.array([told.reward for told in outcomes])
            require_agreement(self.sure, arms, rows, self.exact, self.labels)
        for told in outcomes:
            self._take(told)

    def tell_summary(self, told: Told) -> None:
        """The mean of several outcomes."""
        require_agreement(self.sure, np.array([told.arm]), told.reward[None], self.exact, self.labels)
        _require_pilot_over(self.missing_before_summary, told.n)
        self._take(told)

    def replay(self, rows: Rows, *, compiled: bool) -> None:
        """Rows of a log. All are looked at before any is taken; `compiled`: by a quick loop, and they are not kept."""
        who, rewards, counts = rows
        blocks = np.flatnonzero(counts > 1)
        if blocks.size:
            first = int(blocks[0])
            tried = (self.counts > 0) | (np.bincount(who[:first], minlength=len(self.labels.arms)) > 0)
            _require_pilot_over(self._missing(self.n_pulls + first, tried), int(counts[first]))
        if self.exact:
            require_agreement(self.sure, who, rewards, self.exact, self.labels)
        if compiled:
            self._run_through(rows)
        else:
            for at in range(who.size):
                self._take(rows.told(at))

    def _run_through(self, rows: Rows) -> None:
        """What was looked at before: the rows one after the other, as far as possible by a compiled loop."""
        who, counts = rows.arms, rows.sizes
        rewards = np.array(self.setting.units.inner(rows.rewards), order="C")
        many = counts.astype(np.float64)
        at = 0
        while at < who.size:
            course = self.course
            quick = self.setting.certified or self.stopped is not None
            if course is None or not quick or steps(course) or self.setting.rule.stops_itself:
                self._take(rows.told(at))
                at += 1
                continue
            end, level = who.size, np.inf
            if self.stopped is None:
                level = self.needed
                if self.max_pulls is not None:
                    # As far as the row that ends the budget.
                    spent = np.cumsum(counts[at:])
                    end = min(end, at + int(np.searchsorted(spent, self.max_pulls - self.n_pulls)) + 1)
            chunk = who[at:end], rewards[at:end], many[at:end]
            taken = int(observe_run(course, *chunk, self._scratch, float(level)))
            added = int(counts[at : at + taken].sum())
            at, self.before, self.n_pulls = at + taken, self.before + added, self.n_pulls + added
            if self.stopped is None:
                self._check()

    def _take(self, told: Told) -> None:
        self.log.append(told)
        self.n_pulls += told.n
        if self.course is not None:
            self._observe(self.course, told.arm, self._inner(told.reward), told.n)
        elif np.all(self.counts > 0):
            self._open()
        if self.stopped is None:
            self._check(told.n)

    def _open(self) -> None:
        """The first outcome of each arm opens the course; any others told meanwhile follow in their order."""
        first: dict[int, Floats] = {}
        later = []
        for told in self.log:
            if told.arm in first:
                later.append(told)
            else:
                first[told.arm] = told.reward
        rows = self.setting.units.inner(np.array([first[k] for k in range(len(self.labels.arms))]))
        self.course = self.setting.open(rows, self.delta)
        self._observe(self.course, -1, rows[0], 1)
        for told in later:
            self._observe(self.course, told.arm, self._inner(told.reward), 1)

    def _inner(self, reward: Floats) -> Floats:
        """A copy of an outcome as the course sees it."""
        return self.setting.units.inner(reward.copy())

    def _observe(self, course: Course, arm: int, benefit: Floats, n: int) -> None:
        if self.setting.rule.stops_itself:
            observe_own(course, np.int64(arm), benefit, float(n), self._scratch)
        else:
            observe(course, arm, benefit, float(n), self._scratch)

    # Is it the end?

    def _check(self, n: int = 1) -> None:
        if self.course is not None and self._passed(self.course, n):
            self.stopped = final_answer(self.standing(), self.belief, self.n_pulls)
        elif self.max_pulls is not None and self.n_pulls >= self.max_pulls:
            self.stopped = self._open_answer("inconclusive")

    def _passed(self, course: Course, n: int) -> bool:
        """Is the threshold reached, after n more outcomes?"""
        if not self.setting.posterior:
            return self.reached >= self.needed
        found = float(surety(course, self.needed, float(n)))
        if course.with_laws and found > -np.inf:
            self.seen = found
        return found >= self.needed

    @property
    def answer(self) -> Recommendation:
        """The answer at the stop; before it, what looks right now."""
        return self.stopped or self._open_answer("running")

    def _open_answer(self, status: Any) -> Recommendation:
        standing = None if self.course is None else self.standing()
        return open_answer(status, self.setting, self.delta, self.n_pulls, standing, self.belief)

    # What is known

    @property
    def counts(self) -> Any:
        """Outcomes told of each arm (K,)."""
        if self.course is not None:
            return _checks.frozen(self.course.near.inst.N.astype(np.int64))
        return _checks.frozen(np.bincount([told.arm for told in self.log], minlength=len(self.labels.arms)))

    @property
    def untried(self) -> list[str]:
        """The arms without an outcome."""
        return [name for name, n in zip(self.labels.arms, self.counts, strict=True) if n == 0]

    @property
    def means(self) -> Floats:
        """Mean outcomes (K, L) in the user's units and signs; nan for an arm not tried yet."""
        units = self.setting.units
        if self.course is not None:
            return _checks.frozen(units.outer(self.course.M + self.course.origin))
        sums = np.zeros((len(self.labels.arms), len(self.labels.objectives)))
        for told in self.log:
            sums[told.arm] += units.inner(told.reward)
        with np.errstate(invalid="ignore"):
            means = units.outer(sums / self.counts[:, None])
        # What has no noise is the value that was told, not a sum of them that was rounded.
        on = list(self.exact)
        for told in self.log:
            means[told.arm, on] = np.asarray(told.reward)[on]
        return _checks.frozen(means)

    @property
    def sure(self) -> Floats:
        """Values (K, L) of objectives without noise, given in advance or told; nan where there are none."""
        sure = self._known.copy()
        if self.exact:
            on, means = list(self.exact), self.means[:, self.exact]
            sure[:, on] = np.where(np.isnan(sure[:, on]), means, sure[:, on])
        return sure

    @property
    def missing_before_summary(self) -> int:
        """Outcomes that must be told, at least, before a summary may be: of every arm, and all of the pilot."""
        return self._missing(self.n_pulls, self.course is not None or self.counts > 0)

    def _missing(self, n_pulls: int, tried: Any) -> int:
        threshold, K = self.setting.threshold, len(self.labels.arms)
        pilot = threshold.pilot_pulls(K) if isinstance(threshold, Certified) else 0
        untried = K - int(np.broadcast_to(tried, K).sum())
        return max(pilot - n_pulls, untried, 0)

    @property
    def reached(self) -> float:
        """What the threshold looks at."""
        return -np.inf if self.course is None else self.standing().reached

    @property
    def needed(self) -> float:
        """What it must reach."""
        # Thresholds are of counts of at least one: before that, what it would be after one outcome of each arm.
        return level_at(self.setting, np.maximum(self.counts, 1).astype(np.float64), self.delta)

    @property
    def belief(self) -> Belief | None:
        """What the posterior says now, drawn once."""
        if self.course is None:
            return None
        if self._believed is None or self._believed[0] != self.n_pulls:
            self._believed = self.n_pulls, believe(self.setting, self.course, self.setting.prior, self.delta)
        return self._believed[1]

    def standing(self) -> Standing:
        """What the course says now. Needs an outcome of every arm."""
        return Standing(self.setting, self.require_course(), self.settings.family, self.delta, self.seen)

    def require_course(self) -> Course:
        """Refuse to go on before every arm was tried."""
        if self.course is None:
            raise InputError(f"every arm must have been tried, got no outcome yet of {', '.join(self.untried)}")
        return self.course


def _require_pilot_over(missing: int, n: int) -> None:
    if missing:
        more = plural(missing, "more outcome")
        raise EarlySummaryError(
            f"a summary of {n:,} outcomes must come when every arm has been tried and the pilot is over, "
            f"got one before: {more} must come first"
        )
