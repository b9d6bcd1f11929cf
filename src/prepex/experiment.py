"""A live experiment: ask which option to try, tell what came, stop when it is decided.

`tell` is the only door through which the state changes, so the log of what was told replays to the same state, and
asking twice gives the same answer. It never sees a Problem: a live user has no true means.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, ClassVar, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks, _given, _named, document, markup, snapshots
from prepex._checks import Floats, Ints
from prepex._kernels import course as kernels
from prepex._kernels.course import Course
from prepex._kernels.observe import observe, observe_run, steps
from prepex._kernels.own import observe_own, own_answer, propose_own
from prepex._kernels.play import MANY
from prepex._kernels.posterior import surety
from prepex._kernels.propose import propose as propose_next
from prepex.alternatives import Evidence
from prepex.choice import Choice, Source, choose, require_source
from prepex.errors import InputError
from prepex.exact import exact_objectives, filled, require_agreement, table_of
from prepex.foresight.forecast import SECONDS, Forecast, forecast
from prepex.limits import Limit, Sides
from prepex.mean_regions import Regions
from prepex.numerals import plural
from prepex.option_table import OptionTable
from prepex.posterior import Belief, believe
from prepex.reasons import in_words as breaking_words
from prepex.settings import EXTRA_KEYS, KEYS, Named, Options, Settings, with_options
from prepex.standing import MOST_NAMED, Standing, level_at, looks_words, meaning_of, states_words, tied_words
from prepex.stopping import Certified
from prepex.ties import find_tie
from prepex.tolerance import as_given, in_words

State = Literal["in", "out", "open"]


class EarlySummaryError(InputError):
    """A summary would lie in the pilot."""


class Told(NamedTuple):
    """What was told: one outcome, or the mean of n."""

    arm: int
    reward: Floats
    n: int = 1

    @property
    def row(self) -> Any:
        """As a document."""
        if self.n == 1:
            return [self.arm, *self.reward.tolist()]
        return {"arm": self.arm, "n": self.n, "mean": self.reward.tolist()}


@dataclass(frozen=True)
class Recommendation:
    """The answer, and how far it can be trusted.

    With a tolerance it is right within it: every option listed is at most the tolerance behind any other, every option
    left out is matched by a listed one within the tolerance; with limits, among the options that meet them.

    status      "certified": wrong with probability at most delta, proven; "posterior": the same on average over a
                prior; "heuristic": stopped by a threshold without proof; "inconclusive": the budget ended first;
                "running": not yet
    arms        the arms that look Pareto optimal
    decided     the arms whose status is settled at this delta, in or out; undecided: the others
    near_ties   with a tolerance: pairs of an arm of the answer and another that look equal within it
    reasons     with limits: of each arm, why it is in the answer or not
    states      of each arm of the experiment, in its order: "in" the answer or "out" of it for good, or "open"
    probabilities   of each arm, as `Experiment.probabilities`; None where they are not known yet
    """

    status: Literal["certified", "posterior", "heuristic", "inconclusive", "running"]
    arms: tuple[str, ...]
    decided: tuple[str, ...]
    undecided: tuple[str, ...]
    delta: float
    n_pulls: int
    near_ties: tuple[tuple[str, str], ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict, hash=False)
    states: tuple[State, ...] = ()
    probabilities: tuple[float, ...] | None = None
    # Who knows the estimates: no part of the answer, and not written with it.
    _source: ClassVar[Any] = None

    def best(
        self, objective: str | int, *, at_most: Sides = None, at_least: Sides = None, limits: Iterable[Limit] = ()
    ) -> Choice:
        """Of the options listed, the best in one objective among those that meet these limits: "the cheapest option
        with at least 8.3 stars". By estimated means, with what is clear about it and what is not; see `Choice`.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(
        ...     ("inn", "hotel", "palace"), ("stars", "cost"), family=Gaussian(variance=(0.04, 4.0)),
        ...     minimise=("cost",), delta=0.1, seed=1,
        ... )
        >>> while not experiment.done:
        ...     arm = experiment.ask()
        ...     experiment.tell(arm, {"inn": (7.9, 50), "hotel": (8.4, 90), "palace": (9.5, 200)}[arm])
        >>> answer = experiment.recommendation
        >>> answer.best("cost", at_least={"stars": 8.3}).arm
        'hotel'
        >>> print(answer.best("cost", at_least={"stars": 8.3}))  # doctest: +NORMALIZE_WHITESPACE
        hotel: cost 90, the lowest of the 3 options listed with stars at least 8.3. That is not clear yet: hotel may
        miss a limit, and it may be palace instead.
        >>> answer.best("cost", at_least={"stars": 9}).clear
        True
        """
        source = require_source(self._source)
        return source.best(objective, at_most=at_most, at_least=at_least, limits=limits, among=self.arms)

    def asked_of(self, source: Any) -> "Recommendation":
        """The same answer, whose questions go to an experiment or a study."""
        found = copy(self)
        object.__setattr__(found, "_source", source)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_source"}

    def to_frame(self) -> Any:
        """A row for each option, as a DataFrame of pandas.

        >>> answer = Recommendation("certified", ("a",), ("a", "b"), (), 0.1, 40, states=("in", "out"))
        >>> answer.to_frame()["state"].tolist()
        ['in', 'out']
        """
        return self._table().to_frame()

    def _repr_html_(self) -> str:
        meaning = {
            "certified": f"wrong with probability at most {self.delta:g}",
            "posterior": f"wrong with probability at most {self.delta:g}, on average over the prior",
            "heuristic": "stopped by a threshold without proof",
            "inconclusive": "the budget ended first",
            "running": "what looks right now",
        }[self.status]
        looks = "Pareto optimal" if self.status in ("certified", "posterior") else "Looks Pareto optimal"
        title = f"{looks}: {', '.join(self.arms) or 'none'}"
        words = f"{self.status.capitalize()} after {plural(self.n_pulls, 'pull')}: {meaning}."
        return markup.block(title, markup.line(words), self._table().to_html())

    def _table(self) -> OptionTable:
        """The options in the order of the experiment, if the states say which of them are decided; else those decided
        first."""
        settled, rest = iter(self.decided), iter(self.undecided)
        known = sum(state != "open" for state in self.states) == len(self.decided)
        names = (
            [next(rest if state == "open" else settled) for state in self.states]
            if known and self.states
            else [*self.decided, *self.undecided]
        )
        reasons = [("why", [self.reasons.get(name, "") for name in names])] if self.reasons else []
        front = [name in self.arms for name in names]
        return OptionTable(names, reasons, front, self.states if known else (), self.probabilities if known else None)


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
        self._settings, self.setting = settings, settings.setting()
        self.family, self.labels, self.delta, self.seed = (
            settings.family,
            settings.labels,
            settings.delta,
            settings.seed,
        )
        self.max_pulls, self.max_pending = settings.max_pulls, settings.max_pending
        self._exact, self._known = exact_objectives(self.family, self.labels), table_of(settings.known, self.labels)
        # What was told; after `restore` only what was told since.
        self._log: list[Told] = []
        self._n_pulls = self._before = 0
        self._course: Course | None = None
        self._scratch = np.zeros(len(self.labels.objectives))
        self._stopped: Recommendation | None = None
        # What the posterior says, and after how many pulls.
        self._believed: tuple[int, Belief | None] | None = None
        self._forecast: Forecast | None = None
        # What the last look said, of a posterior that is looked at rarely.
        self._seen = -np.inf

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
        wanted = 1 if n is None else _checks.whole("n", n, low=1)
        out = np.zeros(len(self.labels.arms), dtype=np.int64)
        for arm, n_out in self._listed(pending):
            out[_checks.member("pending", arm, self.labels.arms)] += _checks.whole("pending", n_out, low=0)
        if wanted + out.sum() > self.max_pending:
            raise InputError(f"n must leave at most {self.max_pending} = max_pending pulls out, got {wanted} more")
        chosen = [self.labels.arms[arm] for arm in self.choose(wanted, out)]
        return chosen[0] if n is None else chosen

    @staticmethod
    def _listed(pending: Any) -> Iterable[tuple[Any, Any]]:
        """(arm, how many)."""
        # A Series of pandas and the like go by their names, as everywhere.
        named = _given.pairs(pending)
        if named is not None:
            return named
        if isinstance(pending, str | int | np.integer):
            return ((pending, 1),)
        if not isinstance(pending, Iterable):
            raise InputError(f"pending must be arms, or a mapping from arms to how many, got {pending!r}")
        return ((arm, 1) for arm in pending)

    def choose(self, n: int, pending: ArrayLike) -> list[int]:
        """The next n options as indices, when `pending` (K,) pulls of each are out: `ask` without words.

        >>> from prepex import Gaussian
        >>> Experiment(3, 2, family=Gaussian(variance=1.0)).choose(2, [1, 0, 0])
        [1, 2]
        """
        wanted, arms = _checks.whole("n", n, low=0), self.labels.arms
        given = _checks.whole_array("pending", _named.in_order("pending", pending, arms), ("n_arms", len(arms)), low=0)
        out = given.copy()
        chosen = []
        avoided = self._avoided()
        for _ in range(wanted):
            arm = self._next(out, avoided)
            out[arm] += 1
            chosen.append(arm)
        return chosen

    def _avoided(self) -> set[int]:
        """Arms that are certified to break a limit and are not to be tried further."""
        avoid = self._settings.avoid_infeasible and self._course is not None
        return self._standing().avoided() if avoid else set()

    def _next(self, out: Any, avoided: set[int]) -> int:
        if self._course is None:
            return int(np.argmin(self.counts + out))
        propose = propose_own if self.setting.rule.stops_itself else propose_next
        ahead = np.int64(out.sum())
        if avoided:
            # To the rule they look tried beyond all others. Where its next test is of such an arm, the least tried
            # one is in its place.
            out = out.copy()
            out[list(avoided)] += MANY
        arm = int(propose(self._course, out, ahead))
        return int(np.argmin(self.counts + out)) if arm in avoided else arm

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
        n_objectives = len(self.labels.objectives)
        checked: list[Told] = []
        sure = self.sure if self._exact else None
        for entry in _checks.in_some_order("outcomes", outcomes):
            told, came = _named.pair("outcomes", entry, ("arm", "reward"))
            arm = _checks.member("arm", told, self.labels.arms)
            if sure is not None:
                came = filled(came, sure[arm], self.labels.objectives, "reward")
            ordered = _named.in_order("reward", came, self.labels.objectives)
            numbers = self.family.as_numbers(ordered, n_objectives)
            shape = ("n_objectives", n_objectives)
            reward = _checks.real_array("reward", numbers, shape, known=self.labels.objectives)
            self.family.check_reward(reward, self.labels.objectives)
            checked.append(Told(arm, reward))
        if sure is not None and checked:
            arms, rows = np.array([told.arm for told in checked]), np.array([told.reward for told in checked])
            require_agreement(sure, arms, rows, self._exact, self.labels)
        for told in checked:
            self._take(told)

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
        number = _checks.member("arm", arm, self.labels.arms)
        size = _checks.summary_size(n)
        ordered = _named.in_order("mean", mean, self.labels.objectives)
        given = _checks.real_array("mean", ordered, ("n_objectives", len(self.labels.objectives)))
        if size == 1:
            self.tell(self.labels.arms[number], given)
            return
        named = dict(zip(self.labels.objectives, given.tolist(), strict=True))
        exact = self.family.summary_values(named, self.labels.objectives, size)
        require_agreement(self.sure, np.array([number]), given[None], self._exact, self.labels)
        self._require_pilot_over(self.missing_before_summary, size)
        self._take(Told(number, np.array([exact[name] for name in self.labels.objectives]), size))

    @property
    def missing_before_summary(self) -> int:
        """Outcomes that must be told, at least, before a summary may be: of every arm, and all of the pilot.

        >>> from prepex import Gaussian
        >>> Experiment(3, 2, family=Gaussian(variance=1.0)).missing_before_summary
        9
        """
        return self._missing(self.n_pulls, self._course is not None or self.counts > 0)

    def _missing(self, n_pulls: int, tried: Any) -> int:
        threshold, K = self.setting.threshold, len(self.labels.arms)
        pilot = threshold.pilot_pulls(K) if isinstance(threshold, Certified) else 0
        untried = K - int(np.broadcast_to(tried, K).sum())
        return max(pilot - n_pulls, untried, 0)

    def _require_pilot_over(self, missing: int, n: int) -> None:
        if missing:
            more = plural(missing, "more outcome")
            raise EarlySummaryError(
                f"a summary of {n:,} outcomes must come when every arm has been tried and the pilot is over, "
                f"got one before: {more} must come first"
            )

    def _take(self, told: Told) -> None:
        self._log.append(told)
        self._n_pulls += told.n
        self._advance(told)

    def _inner(self, reward: Floats) -> Floats:
        """A copy of an outcome as the course sees it."""
        return self.setting.units.inner(reward.copy())

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
        for name, value in (("rewards", rewards), ("sizes", sizes)):
            _named.require_same_rows("arms", arms, name, value)
        ordered = _named.columns_in_order("rewards", rewards, self.labels.objectives)
        if isinstance(ordered, np.ndarray) and ordered.dtype == bool:
            ordered = self.family.as_numbers(ordered, len(self.labels.objectives))
        self._replay(self._positions(arms), ordered, sizes if _given.index_of(sizes) is None else np.asarray(sizes))

    def _positions(self, arms: Any) -> list[int]:
        """Of names, or of indices where these cannot be confused."""
        if isinstance(arms, str) or not isinstance(arms, Iterable):
            raise InputError(f"arms must be a sequence of names or indices, got {arms!r}")
        known: dict[Any, int] = {}
        found = []
        for arm in _checks.in_some_order("arms", arms):
            # Equal keys need not be the same name: 1 and True, 1 and 1.0.
            key = type(arm), arm if isinstance(arm, Hashable) else None
            if key not in known:
                known[key] = _checks.member("arms", arm, self.labels.arms)
            found.append(known[key])
        return found

    def _replay(self, arms: Any, rewards: Any, sizes: Any = None, *, compiled: bool = True) -> None:
        """Tell rows of a log, arms by index. All are looked at before any is taken; `compiled`: by a quick loop."""
        K, objectives = len(self.labels.arms), self.labels.objectives
        if not len(arms) and np.size(rewards) == 0:
            return
        who = _checks.whole_array("arms", arms, ("n", None), low=0, high=K - 1)
        shape = ("n", who.size), ("n_objectives", len(objectives))
        rows = np.array(_checks.real_array("rewards", rewards, *shape, known=objectives), copy=True)
        counts = np.ones(who.size, dtype=np.int64)
        if sizes is not None:
            counts = _checks.whole_array("sizes", sizes, ("n", who.size), low=1, high=_checks.LARGEST_SUMMARY)
        blocks = np.flatnonzero(counts > 1)
        self.family.check_rewards(rows[counts == 1], objectives)
        for at in blocks:
            named = dict(zip(objectives, rows[at].tolist(), strict=True))
            rows[at] = [*self.family.summary_values(named, objectives, int(counts[at])).values()]
        if blocks.size:
            first = int(blocks[0])
            tried = (self.counts > 0) | (np.bincount(who[:first], minlength=K) > 0)
            self._require_pilot_over(self._missing(self.n_pulls + first, tried), int(counts[first]))
        if self._exact:
            require_agreement(self.sure, who, rows, self._exact, self.labels)
        if compiled:
            self._run_through(who, rows, counts)
        else:
            for arm, row, n in zip(who, rows, counts, strict=True):
                self._take(Told(int(arm), row, int(n)))

    def _run_through(self, who: Ints, rows: Floats, counts: Ints) -> None:
        """What was looked at before: the rows one after the other, as far as possible by a compiled loop."""
        rewards = np.array(self.setting.units.inner(rows), order="C")
        many = counts.astype(np.float64)
        at = 0
        while at < who.size:
            course = self._course
            quick = self.setting.certified or self._stopped is not None
            if course is None or not quick or steps(course) or self.setting.rule.stops_itself:
                self._take(Told(int(who[at]), rows[at], int(counts[at])))
                at += 1
                continue
            end, level = who.size, np.inf
            if self._stopped is None:
                level = self.needed
                if self.max_pulls is not None:
                    # As far as the row that ends the budget.
                    spent = np.cumsum(counts[at:])
                    end = min(end, at + int(np.searchsorted(spent, self.max_pulls - self.n_pulls)) + 1)
            chunk = who[at:end], rewards[at:end], many[at:end]
            taken = int(observe_run(course, *chunk, self._scratch, float(level)))
            added = int(counts[at : at + taken].sum())
            at, self._before, self._n_pulls = at + taken, self._before + added, self._n_pulls + added
            if self._stopped is None:
                self._check()

    def _advance(self, latest: Told) -> None:
        if self._course is not None:
            self._observe(latest.arm, self._inner(latest.reward), latest.n)
        elif np.all(self.counts > 0):
            # The first outcome of each arm opens the course; any others told meanwhile follow in their order.
            first: dict[int, Floats] = {}
            later = []
            for told in self._log:
                if told.arm in first:
                    later.append(told)
                else:
                    first[told.arm] = told.reward
            rows = self.setting.units.inner(np.array([first[k] for k in range(len(self.labels.arms))]))
            self._course = self.setting.open(rows, self.delta)
            self._observe(-1, rows[0], 1)
            for told in later:
                self._observe(told.arm, self._inner(told.reward), 1)
        if self._stopped is None:
            self._check(latest.n)

    def _observe(self, arm: int, benefit: Floats, n: int) -> None:
        course = self._require_course()
        if self.setting.rule.stops_itself:
            observe_own(course, np.int64(arm), benefit, float(n), self._scratch)
        else:
            observe(course, arm, benefit, float(n), self._scratch)

    def _passed(self, course: Course, n: int) -> bool:
        """Is the threshold reached, after n more outcomes?"""
        if not self.setting.posterior:
            return self.reached >= self.needed
        found = float(surety(course, self.needed, float(n)))
        if course.with_laws and found > -np.inf:
            self._seen = found
        return found >= self.needed

    def _check(self, n: int = 1) -> None:
        if self._course is not None and self._passed(self._course, n):
            rule, standing = self.setting.rule, self._standing()
            names = standing.pareto_names
            proven = self.setting.threshold.proven and self._complete
            if self.setting.own:
                proven, answer = rule.proven, np.zeros(len(self.labels.arms), dtype=np.bool_)
                own_answer(self._course, answer)
                names = tuple(self.labels.arms[k] for k in answer.nonzero()[0])
            status: Any = "heuristic" if not proven else "posterior" if self.setting.posterior else "certified"
            given = names, self.labels.arms, (), self.delta, self.n_pulls, standing.near_ties, standing.reasons
            every = set(range(len(self.labels.arms)))
            self._stopped = Recommendation(status, *given, self._states_of(names, every), self._chances())
        elif self.max_pulls is not None and self.n_pulls >= self.max_pulls:
            self._stopped = self._open_answer("inconclusive")

    # What is known

    @property
    def course(self) -> Course | None:
        """The numbers behind it all (`_kernels/course.py`), once every arm was tried. Look, do not touch."""
        return self._course

    @property
    def n_pulls(self) -> int:
        """Outcomes told so far."""
        return self._n_pulls

    @property
    def counts(self) -> Any:
        """Outcomes told of each arm (K,)."""
        if self._course is not None:
            return _checks.frozen(self._course.near.inst.N.astype(np.int64))
        return _checks.frozen(np.bincount([told.arm for told in self._log], minlength=len(self.labels.arms)))

    @property
    def means(self) -> Floats:
        """Mean outcomes (K, L) in the user's signs, geometric ones of a LogNormal; nan for an arm not tried yet.

        >>> from prepex import LogNormal
        >>> experiment = Experiment(1, ("seconds",), family=LogNormal())
        >>> experiment.tell_many([(0, [1.0]), (0, [4.0])])
        >>> experiment.means.round(12).tolist()
        [[2.0]]
        """
        units = self.setting.units
        if self._course is not None:
            return _checks.frozen(units.outer(self._course.M + self._course.origin))
        sums = np.zeros((len(self.labels.arms), len(self.labels.objectives)))
        for told in self._log:
            sums[told.arm] += units.inner(told.reward)
        with np.errstate(invalid="ignore"):
            means = units.outer(sums / self.counts[:, None])
        # What has no noise is the value that was told, not a sum of them that was rounded.
        on = list(self._exact)
        for told in self._log:
            means[told.arm, on] = np.asarray(told.reward)[on]
        return _checks.frozen(means)

    @property
    def reached(self) -> float:
        """What the threshold looks at: the certified margin, the evidence, or 1 if the rule's own test is passed."""
        return -np.inf if self._course is None else self._standing().reached

    @property
    def testable(self) -> bool:
        """Is the pilot over, and every arm tried since?"""
        return self._standing().testable

    @property
    def needed(self) -> float:
        """What it must reach."""
        # Thresholds are of counts of at least one: before that, what it would be after one outcome of each arm.
        return level_at(self.setting, np.maximum(self.counts, 1).astype(np.float64), self.delta)

    @property
    def done(self) -> bool:
        """Has the threshold been reached, or the budget spent?"""
        return self._stopped is not None

    @property
    def recommendation(self) -> Recommendation:
        """The answer at the stop; before it, what looks right now."""
        return (self._stopped or self._open_answer("running")).asked_of(self)

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
        course, labels = self._require_course(), self.labels
        chosen = self.recommendation.arms if among is None else among
        listed = [labels.arms[_checks.member("among", arm, labels.arms)] for arm in chosen]
        known = self.setting.laws is None or self.setting.certified
        regions = Regions.of(self) if known else None
        source = Source(self.setting, course.M + course.origin, regions, self.sure, self.delta)
        return choose(source, listed, self.family, objective, at_most, at_least, limits)

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
        believed = self._belief
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
        return self.recommendation.states

    @property
    def meaning(self) -> str:
        """What the states are worth, in words.

        >>> from prepex import Gaussian
        >>> Experiment(2, 1, family=Gaussian(variance=1.0), delta=0.1).meaning
        'all of them right, now and at any time, with a probability of at least 90 %'
        """
        return meaning_of(self.setting, self.delta)

    @property
    def _belief(self) -> Belief | None:
        """What the posterior says now, drawn once."""
        if self._course is None:
            return None
        if self._believed is None or self._believed[0] != self.n_pulls:
            self._believed = self.n_pulls, believe(self.setting, self._course, self.setting.prior, self.delta)
        return self._believed[1]

    def _chances(self) -> tuple[float, ...] | None:
        believed = self._belief
        return None if believed is None else tuple(believed.probability.tolist())

    def _agreed(self, looks: tuple[str, ...], decided: set[int]) -> set[int]:
        """Those decided; where only evidence speaks, which is of whole sets, the probability of the arm must agree."""
        believed = self._belief
        if self.setting.certified or self.setting.posterior or believed is None:
            return decided
        inside = np.isin(self.labels.arms, looks)
        wrong = np.where(inside, 1.0 - believed.probability, 0.0)
        return {k for k in decided if wrong[k] <= self.delta}

    def _states_of(self, answer: tuple[str, ...], decided: set[int]) -> tuple[State, ...]:
        """Of each arm, where those `decided` are as the answer says."""
        return tuple(
            "open" if k not in decided else "in" if name in answer else "out" for k, name in enumerate(self.labels.arms)
        )

    @property
    def evidence(self) -> Evidence:
        """How far the data are from any other Pareto set. Needs an outcome of every arm."""
        return self._standing().evidence

    def _standing(self) -> Standing:
        return Standing(self.setting, self._require_course(), self.family, self.delta, self._seen)

    @property
    def answer_mask(self) -> Any:
        """Which arms are in the answer (K,): `Standing.answer`."""
        return self._standing().answer

    def _require_course(self) -> Course:
        if self._course is None:
            missing = [name for name, n in zip(self.labels.arms, self.counts, strict=True) if n == 0]
            raise InputError(f"every arm must have been tried, got no outcome yet of {', '.join(missing)}")
        return self._course

    def _open_answer(self, status: Any) -> Recommendation:
        """What looks right now, and which arms are decided."""
        names, standing = self.labels.arms, None if self._course is None else self._standing()
        decided = set() if standing is None else self._decided(standing)
        looks = () if standing is None else standing.pareto_names
        return Recommendation(
            status,
            looks,
            tuple(name for k, name in enumerate(names) if k in decided),
            tuple(name for k, name in enumerate(names) if k not in decided),
            self.delta,
            self.n_pulls,
            () if standing is None else standing.near_ties,
            {} if standing is None else standing.reasons,
            self._states_of(looks, self._agreed(looks, decided)),
            self._chances(),
        )

    def _decided(self, standing: Standing) -> set[int]:
        believed = self._belief
        if self.setting.posterior:
            return set() if believed is None else {int(k) for k in np.flatnonzero(believed.sure)}
        return standing.decided()

    @property
    def exact(self) -> tuple[int, ...]:
        """The objectives without noise, by their places."""
        return self._exact

    @property
    def sure(self) -> Floats:
        """Values (K, L) of objectives without noise, given in advance or told; nan where there are none."""
        sure = self._known.copy()
        if self._exact:
            on, means = list(self._exact), self.means[:, self._exact]
            sure[:, on] = np.where(np.isnan(sure[:, on]), means, sure[:, on])
        return sure

    @property
    def tolerance(self) -> tuple[float | str, ...] | None:
        """Differences that do not matter, one number an objective in its own units, or a share such as "5%" of a
        LogNormal; None: every difference matters."""
        eps = self._settings.tolerance
        return None if eps is None else as_given(eps, self.setting.units)

    @property
    def warning(self) -> str | None:
        """Words about a tolerance that makes the question empty so far; None: there is nothing to warn of.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), tolerance=5.0)
        >>> experiment.tell_many([("a", [1.0]), ("b", [0.0])])
        >>> experiment.warning
        'All options look equal within the tolerance: it is larger than any difference seen so far.'
        """
        if self._course is None or not self._standing().all_equal:
            return None
        return tied_words((), True)[0]

    def why(self) -> str:
        """Why it has not stopped yet, or what it answered, in words.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), delta=0.1)
        >>> experiment.tell_many([("a", [1.0]), ("b", [0.0])])
        >>> print(experiment.why())  # doctest: +ELLIPSIS
        2 pulls. Looks Pareto optimal: a. Open: a (optimal with probability 76 %), b (24 %). The closest ...
        """
        if self._stopped is not None:
            return self._why_stopped(self._stopped)
        pulls = plural(self.n_pulls, "pull")
        if self._course is None:
            left = [arm for arm, n in zip(self.labels.arms, self.counts, strict=True) if n == 0]
            more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
            return f"{pulls}: every option must be tried once first. Not yet: {', '.join(left[:MOST_NAMED])}{more}."
        ahead = "" if self.known_forecast is None else f" {self.known_forecast.words}"
        return f"{pulls}. {self._standing().in_words(self._state_words())}{ahead}{self._tie_words()}"

    def _state_words(self) -> str:
        """Which arms are in, out and open, and how likely the open ones are optimal."""
        answer, sure = self.recommendation, self.setting.threshold.proven and self._complete
        return states_words(self.labels.arms, answer.states, answer.probabilities, self.delta, sure)

    @property
    def _complete(self) -> bool:
        return self.setting.rule.alternatives == "complete"

    def _tie_words(self) -> str:
        """Who is nearly tied, if that is what holds it up."""
        tie = find_tie(self._standing())
        return "" if tie is None else f" {tie.words}"

    def _why_stopped(self, answer: Recommendation) -> str:
        """What ended it and what it answered; after a budget also all that is missing."""
        by_budget, later = answer.status == "inconclusive", self.n_pulls - answer.n_pulls
        cause = f" by the budget of {self.max_pulls:,}" if by_budget else ""
        after = f"Stopped after {plural(answer.n_pulls, 'pull')}"
        parts = [f"{after}{cause}: {answer.status} at delta {self.delta:g}."]
        empty = self.setting.limits is not None and not by_budget
        if (answer.arms or empty) and (later or not by_budget):
            looked = "Pareto optimal" if answer.status in ("certified", "posterior") else "Looked Pareto optimal"
            looked += "" if self.tolerance is None else " within the tolerance"
            parts.append(f"{looks_words(looked, answer.arms, self.setting.limits)}.")
            parts += breaking_words(answer.reasons)
            if self.tolerance is not None and not by_budget:
                size = in_words(self.tolerance, self.labels.objectives)
                meet = "" if self.setting.limits is None else " that meets the limits"
                parts.append(
                    f"Every option listed is at most the tolerance ({size}) behind any other{meet}, every option left "
                    f"out{meet} is matched by a listed one within the tolerance."
                )
            parts += tied_words(answer.near_ties, self.warning is not None)
        if answer.undecided:
            chances, sure = answer.probabilities, self.setting.threshold.proven and self._complete
            parts.append(states_words(self.labels.arms, answer.states, chances, self.delta, sure))
        if later:
            told = "outcome told since then does" if later == 1 else f"{later:,} outcomes told since then do"
            parts.append(f"The {told} not change the answer.")
        if by_budget and self._course is None:
            missing = [name for name, n in zip(self.labels.arms, self.counts, strict=True) if n == 0]
            parts.append(f"Never tried: {', '.join(missing)}.")
        elif by_budget:
            now = f"After {plural(self.n_pulls, 'pull')}: " if later else ""
            parts.append(now + self._standing().in_words() + self._tie_words())
        return " ".join(parts)

    def forecast(
        self, *, seconds: float = SECONDS, wait: bool = True, progress: Callable[[int], None] | None = None
    ) -> Forecast | None:
        """How many more pulls: the rule is run on from here, for truths that the outcomes so far leave possible.

        Kept until the next outcome. The runs are cut off after about so many seconds; the first of all on a machine
        waits for a compiler before that. `progress` is called with the number of runs that have just stopped.
        None: there is nothing to say, as it has stopped, or an option was not tried yet, or nothing is known of a
        variance, or the threshold is a function of yours; or without `wait` the compiler has not been here yet.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance=1.0), threshold="heuristic")
        >>> print(experiment.forecast())
        None
        """
        _checks.number("seconds", seconds, low=0.0)
        if self._course is None or self._stopped is not None:
            return None
        if self.known_forecast is None:
            self.keep_forecast(self.foresee(self._course, seconds=seconds, wait=wait, progress=progress))
        return self.known_forecast

    def foresee(self, course: Course, **options: Any) -> Forecast | None:
        """The forecast of a course of this experiment, or of a copy of it; see `foresight.forecast`."""
        return forecast(self.setting, course, self.delta, budget=self.max_pulls, seed=self.seed, **options)

    @property
    def known_forecast(self) -> Forecast | None:
        """The forecast for the outcomes so far, if it has been asked for."""
        made = self._forecast
        return made if made is not None and made.n_pulls == self.n_pulls and not self.done else None

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
        return self._table().to_frame()

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
        from prepex.option_picture import Option, Scene, draw_options

        labels, setting, answer = self.labels, self.setting, self.recommendation
        none = [(0.0, 0.0)] * len(labels.objectives)
        options = [
            Option(name, self.means[k].tolist(), none, answer.states[k], name in answer.arms)
            for k, name in enumerate(labels.arms)
            if self.counts[k]
        ]
        if not options:
            raise InputError("an outcome must have been told before there is something to draw, got none")
        scene = Scene(labels.objectives, labels.minimise, setting.units.logs, setting.cone.facets * labels.signs)
        figure = draw_options(options, scene)
        if path is not None:
            save(figure, str(path))
        return figure

    def _repr_html_(self) -> str:
        named = self._table(signs=True).to_html()
        states = f"States: {self.meaning}." if self.n_pulls else ""
        return markup.block(repr(self), markup.line(self.why()), named, markup.line(states, soft=True))

    def _table(self, *, signs: bool = False) -> OptionTable:
        labels, answer, counts = self.labels, self.recommendation, self.counts.tolist()
        means = [
            [mean if n else None for n, mean in zip(counts, column, strict=True)] for column in self.means.T.tolist()
        ]
        heads = labels.signed if signs else labels.objectives
        return OptionTable(
            labels.arms,
            [("n", counts), *zip(heads, means, strict=True)],
            [name in answer.arms for name in labels.arms],
            answer.states,
            answer.probabilities,
        )

    # Keeping it

    def to_json(self) -> str:
        """The whole experiment as text: what was fixed, and everything told.

        >>> from prepex import Gaussian
        >>> experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
        >>> experiment.tell("arm 1", [0.1])
        >>> Experiment.from_json(experiment.to_json()).n_pulls
        1
        """
        if self._before:
            raise InputError(f"to_json needs everything told, got only what was told since pull {self._before}")
        log = [told.row for told in self._log]
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
            told = [
                (row["arm"], row["mean"], row["n"]) if isinstance(row, dict) else (row[0], row[1:], 1)
                for row in given["log"]
            ]
            arms, rewards, sizes = ([row[part] for row in told] for part in range(3))
            experiment._replay(arms, rewards, sizes, compiled=False)
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
        head = {
            "n_pulls": self.n_pulls,
            "stopped": None if self._stopped is None else asdict(self._stopped),
            # Before every arm was tried, what was told is the state.
            "log": [told.row for told in self._log] if self._course is None else [],
        } | ({"seen": self._seen} if self.setting.posterior and np.isfinite(self._seen) else {})
        return snapshots.pack(head, [] if self._course is None else kernels.leaves(self._course))

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot of an experiment with the same settings; forget what was told here.

        What was told before the snapshot is not kept: `to_json` then refuses. Restore only what you trust: a snapshot
        has check sums against damage, none against malice. Documents and logs of strangers are read with care.
        """
        with document.damaged():
            given, numbers = snapshots.unpack(snapshot)
            course = None
            if given["arrays"]:
                course = self.setting.open(np.zeros((len(self.labels.arms), len(self.labels.objectives))), self.delta)
                snapshots.write_into(kernels.leaves(course), given, numbers)
            stopped = None
            if given["stopped"] is not None:
                fields: dict[str, Any] = dict(given["stopped"])
                fields |= {name: tuple(fields[name]) for name in ("arms", "decided", "undecided")}
                fields["near_ties"] = tuple((one, other) for one, other in fields.get("near_ties", ()))
                decided = {k for k, name in enumerate(self.labels.arms) if name in fields["decided"]}
                fields["states"] = self._states_of(fields["arms"], decided)
                chances = fields.get("probabilities")
                fields["probabilities"] = None if chances is None else tuple(chances)
                stopped = Recommendation(**fields)
            n_objectives, last = ("n_objectives", len(self.labels.objectives)), len(self.labels.arms) - 1
            log = [
                # By position: a name may be a number.
                Told(_checks.whole("arm", arm, low=0, high=last), _checks.real_array("reward", reward, n_objectives))
                for arm, *reward in given["log"]
            ]
            n_pulls = _checks.whole("n_pulls", given["n_pulls"], low=len(log))
            self._course, self._stopped, self._log = course, stopped, log
            self._n_pulls = n_pulls
            self._before, self._believed = self._n_pulls - len(log), None
            self._forecast = None
            self._seen = float(given.get("seen", -np.inf))

    def __repr__(self) -> str:
        size = f"{plural(len(self.labels.arms), 'arm')}, {plural(self.n_pulls, 'pull')}"
        return f"Experiment({size}, {'running' if self._stopped is None else self._stopped.status})"
