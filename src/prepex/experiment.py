"""A live experiment: ask which option to try, tell what came, stop when it is decided.

`tell` is the only door through which the state changes, so the log of what was told replays to the same state, and
asking twice gives the same answer. It never sees a Problem: a live user has no true means.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Unpack

from numpy.typing import ArrayLike

from prepex import _checks, document, markup
from prepex._checks import Floats
from prepex._kernels.course import Course
from prepex.alternatives import Evidence
from prepex.choice import Choice, Source, choose
from prepex.errors import InputError
from prepex.foresight.forecast import SECONDS, Forecast, forecast
from prepex.limits import Limit, Sides
from prepex.live.explanation import tolerance_of, warning_of, why
from prepex.live.intake import Intake
from prepex.live.progress import EarlySummaryError, Progress
from prepex.live.proposal import propose_next
from prepex.live.recommendation import Recommendation, State
from prepex.live.saved import log_document, read_log, restored, snapshot
from prepex.live.told import Told
from prepex.live.views import picture_of, table_of
from prepex.mean_regions import Regions
from prepex.numerals import plural
from prepex.run import Setting
from prepex.settings import EXTRA_KEYS, KEYS, Named, Options, Settings, with_options
from prepex.standing import Standing, meaning_of
from prepex.unvaried import never_words, unvaried

# Told: by this name older pickles know it.
__all__ = ["EarlySummaryError", "Experiment", "Recommendation", "Told"]


class Experiment:
    """K options, L outcomes, a cone, and a risk.

    arms, objectives   names, or how many
    sampling           which option to try next; by default InformationDirected()
    threshold          "certified" (default), "posterior" or Posterior(prior=...), "heuristic", "kaufmann_koolen", a
                       function of (counts, delta), or "own" of a rule that stops by itself
    minimise           objectives that are costs
    seed               of the rule's own randomness
    max_pulls          stop by budget: the answer is then "inconclusive" and names what is undecided
    max_pending        most pulls that may be out at once
    tolerance          differences that do not matter, in the units of the objectives: by name, one number for all, or
                       one for each; of a LogNormal a share, "5%"

    >>> from prepex import Gaussian
    >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), delta=0.1, seed=1)
    >>> while not experiment.done:
    ...     arm = experiment.ask()
    ...     experiment.tell(arm, [2.0 if arm == "a" else 0.0])
    >>> experiment.recommendation.arms, experiment.recommendation.status
    (('a',), 'certified')
    """

    @with_options
    def __init__(self, arms: Named, objectives: Named, **options: Unpack[Options]) -> None:
        self._begin(Settings.make(arms, objectives, **options))

    @classmethod
    def of(cls, settings: Settings) -> "Experiment":
        """A new experiment with these settings.

        >>> from prepex import Gaussian
        >>> Experiment.of(Settings.make(2, 1, family=Gaussian(variance=1.0)))
        Experiment(2 arms, 0 pulls, running)
        """
        made = cls.__new__(cls)
        made._begin(settings)
        return made

    def _begin(self, settings: Settings) -> None:
        self.family, self.labels = settings.family, settings.labels
        self.seed, self.max_pending = settings.seed, settings.max_pending
        self._settings, self._intake = settings, Intake(settings.labels, settings.family)
        self._progress = Progress(settings, settings.setting())
        self._forecast: Forecast | None = None

    @property
    def setting(self) -> Setting:
        """What its course is made of, fixed before the first outcome."""
        return self._progress.setting

    @property
    def delta(self) -> float:
        """The risk."""
        return self._progress.delta

    @delta.setter
    def delta(self, delta: float) -> None:
        self._progress.delta = delta

    @property
    def max_pulls(self) -> int | None:
        """The budget, if there is one."""
        return self._progress.max_pulls

    @max_pulls.setter
    def max_pulls(self, max_pulls: int | None) -> None:
        self._progress.max_pulls = max_pulls

    # What to do next

    def ask(self, n: int | None = None, *, pending: Any = ()) -> Any:
        """The option to try next, or a list of the next n. `pending` are pulls that are out and not told yet: arms, as
        often as they are out, or a mapping from arms to how many.

        After the end (`done`) it goes on to propose options, for those who want closer estimates; what is told then
        changes means and counts, and no longer the answer. A `Study`, in contrast, hands out nothing more.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(3, 2, family=Gaussian(variance=1.0))
        >>> experiment.ask(), experiment.ask(2)
        ('arm 0', ['arm 0', 'arm 1'])
        """
        wanted, out = 1 if n is None else _checks.whole("n", n, low=1), self._intake.pending_by_name(pending)
        if wanted + out.sum() > self.max_pending:
            raise InputError(f"n must leave at most {self.max_pending} = max_pending pulls out, got {wanted} more")
        chosen = [self.labels.arms[arm] for arm in propose_next(self._progress, wanted, out)]
        return chosen[0] if n is None else chosen

    def choose(self, n: int, pending: ArrayLike) -> list[int]:
        """The next n options as indices, when `pending` (K,) pulls of each are out: `ask` without words.

        >>> from prepex import Gaussian
        >>> Experiment(3, 2, family=Gaussian(variance=1.0)).choose(2, [1, 0, 0])
        [1, 2]
        """
        return propose_next(self._progress, _checks.whole("n", n, low=0), self._intake.pending(pending))

    # What came

    def tell(self, arm: str | int, reward: ArrayLike) -> None:
        """One outcome of an option. Any option may be told, asked for or not: the certificate allows it.

        The outcome is a list in the order of the objectives, or a mapping or a Series that names them. By name,
        objectives without noise may be left out once they are known; another value than the known one is refused.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(3, ("gain", "cost"), family=Gaussian(variance=1.0), minimise=("cost",))
        >>> experiment.tell("arm 1", [0.3, 2.0])
        >>> experiment.tell("arm 1", {"cost": 2.0, "gain": 0.3})
        >>> experiment.means[1].tolist()
        [0.3, 2.0]
        """
        self.tell_many([(arm, reward)])

    def tell_many(self, outcomes: Iterable[tuple[str | int, ArrayLike]]) -> None:
        """Several outcomes, in this order; all or none are taken.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
        >>> experiment.tell_many([("arm 0", [1.0]), ("arm 1", [0.0])])
        >>> experiment.means.tolist()
        [[1.0], [0.0]]
        """
        self._progress.tell(self._intake.outcomes_by_name(outcomes, self._need_not_be_told()))

    def tell_summary(self, arm: str | int, n: int, mean: ArrayLike) -> None:
        """The mean of n outcomes of an option, as good as the outcomes. The stop is looked at once, after all of them.

        Only after the pilot (`missing_before_summary`), as a mean cannot be cut where it ends; and not with an unknown
        variance, which needs the squares. n must not have been chosen by looking at the outcomes.

        >>> from prepex import Bernoulli
        >>> experiment = Experiment(("a", "b"), ("cured",), family=Bernoulli(), threshold="heuristic")
        >>> experiment.tell_many([("a", [1]), ("b", [0])])
        >>> experiment.tell_summary("a", 9, [2 / 3])
        >>> experiment.n_pulls, experiment.means.round(3).tolist()
        (11, [[0.7], [0.0]])
        """
        told = self._intake.summary_by_name(arm, n, mean, self._need_not_be_told())
        if told.n == 1:
            self._progress.tell([told])
        else:
            self._progress.tell_summary(told)

    @property
    def missing_before_summary(self) -> int:
        """Outcomes that must be told, at least, before a summary may be: of every arm, and all of the pilot.

        >>> from prepex import Gaussian
        >>> Experiment(3, 2, family=Gaussian(variance=1.0)).missing_before_summary
        9
        """
        return self._progress.missing_before_summary

    def tell_log(self, arms: ArrayLike, rewards: ArrayLike, sizes: ArrayLike | None = None) -> None:
        """A long log of outcomes: arms (n,), rewards (n, L).

        As `tell_many`, but much faster, and the outcomes are not kept: `to_json` then refuses. The columns of a
        DataFrame of rewards are taken by name. `sizes` (n,): of how many outcomes each row is the mean, as in
        `tell_summary`; by default 1.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
        >>> experiment.tell_log([0, 1, 0], [[1.0], [0.0], [1.2]])
        >>> experiment.n_pulls
        3
        """
        rows = self._intake.log_by_name(arms, rewards, sizes)
        if rows is not None:
            self._progress.replay(rows, compiled=True)

    def _replay(self, arms: Any, rewards: Any, sizes: Any = None, *, compiled: bool = True) -> None:
        """As `tell_log`, of arms by position alone, as logs keep them: a name may be a number. Not `compiled`: one by
        one, and the outcomes are kept."""
        rows = self._intake.rows(arms, rewards, sizes)
        if rows is not None:
            self._progress.replay(rows, compiled=compiled)

    def _need_not_be_told(self) -> Floats | None:
        """Of objectives without noise (K, L), if there are any."""
        return self._progress.sure if self._progress.exact else None

    # What is known

    @property
    def course(self) -> Course | None:
        """The numbers behind it all (`_kernels/course.py`), once every arm was tried. Look, do not touch."""
        return self._progress.course

    @property
    def n_pulls(self) -> int:
        """Outcomes told so far."""
        return self._progress.n_pulls

    @property
    def counts(self) -> Any:
        """Outcomes told of each arm (K,)."""
        return self._progress.counts

    @property
    def means(self) -> Floats:
        """Mean outcomes (K, L) in the user's signs, geometric ones of a LogNormal; nan for an arm not tried yet.

        >>> from prepex import LogNormal
        >>> experiment = Experiment(1, ("seconds",), family=LogNormal())
        >>> experiment.tell_many([(0, [1.0]), (0, [4.0])])
        >>> experiment.means.round(12).tolist()
        [[2.0]]
        """
        return self._progress.means

    @property
    def reached(self) -> float:
        """What the threshold looks at: the certified margin, the evidence, or 1 if the rule's own test is passed."""
        return self._progress.reached

    @property
    def testable(self) -> bool:
        """Is the pilot over, and every arm tried since?"""
        return self._progress.standing().testable

    @property
    def needed(self) -> float:
        """What it must reach."""
        return self._progress.needed

    @property
    def done(self) -> bool:
        """Has the threshold been reached, or the budget spent?"""
        return self._progress.stopped is not None

    @property
    def recommendation(self) -> Recommendation:
        """The answer at the stop; before it, what looks right now."""
        return self._progress.answer.asked_of(self)

    def best(
        self,
        objective: str | int,
        *,
        at_most: Sides = None,
        at_least: Sides = None,
        limits: Iterable[Limit] = (),
        among: Iterable[str | int] | None = None,
    ) -> Choice:
        """As `Recommendation.best`, by the estimates of now; `among` other options than those of the answer, if given.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0))
        >>> experiment.tell_many([("a", [9.0]), ("b", [0.0])])
        >>> experiment.best("gain", at_most={"gain": 5}, among=("a", "b")).arm
        'b'
        """
        course, setting = self._progress.require_course(), self.setting
        chosen = self._intake.among_by_name(self.recommendation.arms if among is None else among)
        known = setting.laws is None or setting.certified
        regions = Regions.of(self) if known else None
        source = Source(setting, course.M + course.origin, regions, self.sure, self.delta)
        return choose(source, chosen, self.family, objective, at_most, at_least, limits)

    @property
    def probabilities(self) -> Floats | None:
        """Of each arm (K,), the posterior probability that it is Pareto optimal; read-only.

        Within the tolerance, if there is one: that no option is better by the tolerance or more; with limits: that it
        meets them, and no option that does is better. The prior is that of a `Posterior` threshold, else flat. By
        some 2,000 seeded draws, so to about 0.01; kept until the next outcome. None while there is no posterior: before
        every arm was tried, and where a variance is unknown before it can be estimated.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0))
        >>> experiment.probabilities is None
        True
        >>> experiment.tell_many([("a", [1.0]), ("b", [0.0])])
        >>> experiment.probabilities.round(1).tolist()
        [0.8, 0.2]
        """
        believed = self._progress.belief
        return None if believed is None else _checks.frozen(believed.probability)

    @property
    def states(self) -> tuple[State, ...]:
        """Of each arm: "in" the answer, "out" of it, or still "open", at this delta; at the stop those of the answer.

        certified    what is said of all arms, now and at any time, is right with probability at least 1 - delta
        posterior    right together with posterior probability at least 1 - delta, by the draws of `probabilities`
        heuristic    the evidence for the arm has reached the threshold, and the arm is as likely as that to be optimal,
                     or not to be: nothing is proven

        A test of the rule's own (`own`) speaks of all arms at once: they are open until it is passed.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(3, 1, family=Gaussian(variance=1.0), threshold="heuristic")
        >>> experiment.tell_many([(0, [9.0]), (1, [0.0]), (2, [8.5])])
        >>> experiment.states
        ('open', 'out', 'open')
        """
        return self._progress.answer.states

    @property
    def meaning(self) -> str:
        """What the states are worth, in words.

        >>> from prepex import Gaussian
        >>> Experiment(2, 1, family=Gaussian(variance=1.0), delta=0.1).meaning
        'all of them right, now and at any time, with a probability of at least 90 %'
        """
        return meaning_of(self.setting, self.delta)

    @property
    def evidence(self) -> Evidence:
        """How far the data are from any other Pareto set. Needs an outcome of every arm."""
        return self._progress.standing().evidence

    @property
    def answer_mask(self) -> Any:
        """Which arms are in the answer (K,): `Standing.answer`."""
        return self._progress.standing().answer

    @property
    def exact(self) -> tuple[int, ...]:
        """The objectives without noise, by their places."""
        return self._progress.exact

    @property
    def sure(self) -> Floats:
        """Values (K, L) of objectives without noise, given in advance or told; nan where there are none."""
        return self._progress.sure

    @property
    def tolerance(self) -> tuple[float | str, ...] | None:
        """Differences that do not matter, one number an objective in its own units, or a share such as "5%" of a
        LogNormal; None: every difference matters."""
        return tolerance_of(self._progress)

    @property
    def warning(self) -> str | None:
        """Words about a tolerance that makes the question empty so far; None: there is nothing to warn of.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), tolerance=5.0)
        >>> experiment.tell_many([("a", [1.0]), ("b", [0.0])])
        >>> experiment.warning
        'All options look equal within the tolerance: it is larger than any difference seen so far.'
        """
        return warning_of(self._progress)

    def why(self) -> str:
        """Why it has not stopped yet, or what it answered, in words.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), delta=0.1)
        >>> experiment.tell_many([("a", [1.0]), ("b", [0.0])])
        >>> print(experiment.why())  # doctest: +ELLIPSIS
        2 pulls. Looks Pareto optimal: a. Open: a (optimal with probability 76 %), b (24 %). The closest ...
        """
        known = self.known_forecast
        return why(self._progress, "" if known is None else known.words)

    def forecast(
        self, *, seconds: float = SECONDS, wait: bool = True, progress: Callable[[int], None] | None = None
    ) -> Forecast | None:
        """How many more pulls: the rule is run on from here, for truths that the outcomes so far leave possible.

        Kept until the next outcome. The runs are cut off after the work that a slow core does in so many seconds: the
        same seed gives the same forecast on any machine. A machine that is slower still ends after these seconds, and
        the forecast says so. The first of all on a machine waits for a compiler before that. `progress` is called with
        the number of runs that have just stopped.
        None: there is nothing to say, as it has stopped, or an option was not tried yet, or nothing is known of a
        variance, or the threshold is a function of yours; or without `wait` the compiler has not been here yet.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), threshold="heuristic")
        >>> print(experiment.forecast())
        None
        """
        _checks.number("seconds", seconds, low=0.0)
        if self.course is None or self.done:
            return None
        if self.known_forecast is None:
            self.keep_forecast(self.foresee(self.course, seconds=seconds, wait=wait, progress=progress))
        return self.known_forecast

    def foresee(self, course: Course, **options: Any) -> Forecast | None:
        """The forecast of a course of this experiment, or of a copy of it; see `foresight.forecast`."""
        standing = Standing(self.setting, course, self.family, self.delta)
        if unvaried(standing) and standing.reached == -math.inf:
            return None  # runs would lend it a variance that it does not have
        return forecast(self.setting, course, self.delta, budget=self.max_pulls, seed=self.seed, **options)

    @property
    def known_forecast(self) -> Forecast | None:
        """The forecast for the outcomes so far, if it has been asked for, or needs no runs: see `unvaried`."""
        if self.course is None or self.done:
            return None
        if never := never_words(self._progress.standing()):
            return Forecast.impossible(self.n_pulls, never, self.max_pulls)
        made = self._forecast
        return made if made is not None and made.n_pulls == self.n_pulls else None

    def keep_forecast(self, made: Forecast | None) -> None:
        """One that was made elsewhere, from a copy of the state."""
        self._forecast = made

    # Looking at it

    def to_frame(self) -> Any:
        """A row for each option: trials, means, state, probability of being optimal; as a DataFrame of pandas.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0))
        >>> experiment.tell_many([("a", [1.0]), ("b", [0.0])])
        >>> experiment.to_frame()["gain"].to_dict()
        {'a': 1.0, 'b': 0.0}
        """
        return table_of(self._progress).to_frame()

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """The means of the options that were tried, with their states; a figure, saved if `path` is given (png, svg,
        pdf). Needs matplotlib.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain", "cost"), family=Gaussian(variance=1.0), minimise=("cost",))
        >>> experiment.tell_many([("a", [1.0, 3.0]), ("b", [0.0, 2.0])])
        >>> figure = experiment.plot()
        >>> figure.axes[0].get_xlabel(), [text.get_text() for text in figure.legends[0].get_texts()]
        ('gain (more is better)', ['open: 2', 'large: looks optimal'])
        """
        from prepex.drawing import save

        figure = picture_of(self._progress)
        if path is not None:
            save(figure, str(path))
        return figure

    def _repr_html_(self) -> str:
        named = table_of(self._progress, signs=True).to_html()
        states = f"States: {self.meaning}." if self.n_pulls else ""
        return markup.block(repr(self), markup.line(self.why()), named, markup.line(states, soft=True))

    # Keeping it

    def to_json(self) -> str:
        """The whole experiment as text: what was fixed, and everything told.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
        >>> experiment.tell("arm 1", [0.1])
        >>> Experiment.from_json(experiment.to_json()).n_pulls
        1
        """
        log = log_document(self._progress)
        return json.dumps({"format": "prepex experiment 1", **self.settings(), "log": log})

    @property
    def fixed(self) -> Settings:
        """What was fixed at the start."""
        return self._settings

    def settings(self) -> dict[str, Any]:
        """What was fixed at the start, as a document.

        >>> from prepex import Gaussian
        >>> Experiment(2, 1, family=Gaussian(variance=1.0)).settings()["delta"]
        0.05
        """
        return self._settings.to_document()

    @classmethod
    def from_json(cls, text: str) -> "Experiment":
        """The experiment that `to_json` wrote, bit for bit: its log is told again.

        >>> Experiment.from_json("{}")
        Traceback (most recent call last):
        ...
        prepex.InputError: text must be what to_json wrote, got no 'format'
        """
        given = document.read("prepex experiment 1", text, ("format", *KEYS, "log"), EXTRA_KEYS)
        with document.damaged():
            experiment = cls.from_settings(given)
            experiment._replay(*read_log(given["log"]), compiled=False)
        return experiment

    @classmethod
    def from_settings(cls, given: Mapping[str, Any]) -> "Experiment":
        """A new experiment with the settings that `settings` wrote.

        >>> from prepex import Gaussian
        >>> Experiment.from_settings(Experiment(2, 1, family=Gaussian(variance=1.0)).settings())
        Experiment(2 arms, 0 pulls, running)
        """
        return cls.of(Settings.from_document(given))

    def snapshot(self) -> bytes:
        """The numbers of the state, exactly: small, and quick to restore however much was told.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
        >>> experiment.tell_many([("arm 0", [1.0]), ("arm 1", [0.0])])
        >>> again = Experiment(2, 1, family=Gaussian(variance=1.0))
        >>> again.restore(experiment.snapshot())
        >>> again.n_pulls, again.reached == experiment.reached
        (2, True)
        """
        return snapshot(self._progress)

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot of an experiment with the same settings; forget what was told here.

        What was told before the snapshot is not kept: `to_json` then refuses. Restore only what you trust: a snapshot
        has check sums against damage, none against malice. Documents and logs of strangers are read with care.
        """
        self._progress, self._forecast = restored(self._progress, snapshot), None

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_progress" in state:
            self.__dict__.update(state)
            return
        # A pickle of before `Progress`: its numbers were the experiment's own.
        self._begin(state["_settings"])
        for name in ("log", "n_pulls", "before", "course", "stopped", "seen"):
            setattr(self._progress, name, state[f"_{name}"])
        self.delta, self.max_pulls, self._forecast = state["delta"], state["max_pulls"], state["_forecast"]

    def __repr__(self) -> str:
        size = f"{plural(len(self.labels.arms), 'arm')}, {plural(self.n_pulls, 'pull')}"
        stopped = self._progress.stopped
        return f"Experiment({size}, {'running' if stopped is None else stopped.status})"
