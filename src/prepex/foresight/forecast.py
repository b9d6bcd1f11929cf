"""How many more pulls, and how sure that is.

Truths are drawn from the posterior of the outcomes so far, under a flat prior, and the rule is run on from the present
state for each of them. Nothing is extrapolated: near-ties, tolerances, limits and budgets are in the runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from prepex._kernels.course import Course
from prepex.foresight.onward import PER_SECOND, at_hand, run_on
from prepex.numerals import number, plural
from prepex.posterior_draws import draw_means, seen
from prepex.run import Setting

# With 39 runs, the 4th, 20th and 36th of their sorted lengths: a further run of the same kind falls between the
# outer two with a chance of exactly 80 %.
N_DRAWS = 39
# Seconds that a forecast may take, where nothing else is said: as work of a slow core, and on the clock.
SECONDS = 2.0
# Runs are followed for at most so many times the pulls so far (and this many more): beyond, it is "very many".
FARTHEST, AT_LEAST = 50, 2000
# Outcomes' worth of the common variance that an arm borrows for its own, where variances are unknown: with two or three
# outcomes it could be anything.
LENT = 2.0
# Outcomes a day from which on a date says nothing.
QUICK = 1000.0


@dataclass(frozen=True)
class Forecast:
    """Pulls from now to the stop, from runs of the rule itself.

    n_pulls      outcomes so far: the forecast is made here
    median       of the runs; None: more than `followed`
    low, high    10 and 90 % of them: the range holds 80 %
    followed     every run has stopped or was followed for at least so many pulls; None: all have stopped
    budget       the experiment's, in pulls from the start; None: none
    chance       to stop within it, not by it, from the runs; None: no budget, or not known
    lengths      of the runs, sorted; those that were not followed to their stop are left out
    n_runs       how many there were
    rate         outcomes a day, lately; None: not known
    dates        at this rate, of low, median and high; None where there is none
    seconds      the clock cut the runs off after so many; None: it did not, and the same seed gives the same forecast
    never        why no number of pulls would be enough, and what to do, in words; None: nothing says so

    >>> made = Forecast.of(100, [10, 30, 20], 3, None, budget=125)
    >>> made.median, made.chance
    (20, 0.6666666666666666)
    """

    n_pulls: int
    median: int | None
    low: int | None
    high: int | None
    followed: int | None
    budget: int | None
    chance: float | None
    lengths: tuple[int, ...]
    n_runs: int
    rate: float | None = None
    dates: tuple[str | None, str | None, str | None] = (None, None, None)
    never: str | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, n_pulls: int, lengths: Any, n_runs: int, followed: int | None, budget: int | None = None) -> "Forecast":
        """From the lengths of the runs that have stopped."""
        # Of those that were followed further than others nothing is known that could be compared.
        far = np.inf if followed is None else followed
        known = sorted(int(length) for length in lengths if length <= far)
        low, median, high = (_ranked(known, n_runs, share) for share in (0.1, 0.5, 0.9))
        chance = None
        if budget is not None and (len(known) == n_runs or far >= budget - n_pulls):
            chance = sum(n_pulls + length <= budget for length in known) / n_runs
        return cls(n_pulls, median, low, high, followed, budget, chance, tuple(known), n_runs)

    @classmethod
    def impossible(cls, n_pulls: int, never: str, budget: int | None = None) -> "Forecast":
        """Of what no number of pulls would settle.

        >>> Forecast.impossible(100, "It never varies.").words
        'It never varies.'
        """
        return cls(n_pulls, None, None, None, None, budget, None, (), 0, never=never)

    @property
    def words(self) -> str:
        """As a sentence.

        >>> Forecast.of(100, range(10, 400, 10), 39, None).words
        'About 200 more pulls (80 % range: 40 to 360).'
        >>> Forecast.of(100, [50] * 10, 39, 500).words
        'More than 500 more pulls, but with a chance of 26 % fewer.'
        >>> Forecast.of(100, [50] * 30, 39, 500).words
        'About 50 more pulls (80 % range: 50 to many more).'
        >>> replace(Forecast.of(100, [], 39, 500), seconds=2.0).words
        'More than 500 more pulls. The runs were stopped after 2 s.'
        """
        if self.never is not None:
            return self.never
        text = self._pulls()
        if self.seconds is not None:
            text += f" The runs were stopped after {number(self.seconds)} s."
        if self.chance is not None and self.budget is not None:
            text += f" Chance to stop within the budget of {self.budget:,}: {percent(self.chance)}."
        if self.rate is not None and self.rate < QUICK and self.dates[1] is not None:
            low, median, high = (None if date is None else date[:10] for date in self.dates)
            until = "later" if high is None else high
            ends = "" if low == median == high else f" ({low} to {until})"
            text += f" At the recent rate, {number(self.rate, 2)} outcomes a day: {median}{ends}."
        return text

    def at_rate(self, rate: float | None, now: datetime) -> "Forecast":
        """With the dates at which it ends if so many outcomes a day come in from now on.

        >>> from datetime import UTC
        >>> start = datetime(2030, 1, 1, tzinfo=UTC)
        >>> Forecast.of(100, range(10, 400, 10), 39, None).at_rate(20.0, start).words[46:]
        'At the recent rate, 20 outcomes a day: 2030-01-11 (2030-01-03 to 2030-01-19).'
        """
        if rate is None or self.never is not None:
            return self
        dates = [_date(now, pulls, rate) for pulls in (self.low, self.median, self.high)]
        return replace(self, rate=rate, dates=(dates[0], dates[1], dates[2]))

    def __str__(self) -> str:
        return self.words

    def _pulls(self) -> str:
        far = self.followed or 0
        if self.median is None:
            early = len(self.lengths) / self.n_runs
            fewer = f", but with a chance of {percent(early)} fewer" if early > 0.0 else ""
            return f"More than {plural(far, 'more pull')}{fewer}."
        low = self.median if self.low is None else self.low
        ends = f"{low:,} to {'many more' if self.high is None else f'{self.high:,}'}"
        return f"About {plural(self.median, 'more pull')} (80 % range: {ends})."

    def to_document(self) -> dict[str, Any]:
        """As JSON can write it, without the single runs."""
        names = [entry.name for entry in fields(self) if entry.name != "lengths"]
        return {name: getattr(self, name) for name in names} | {"words": self.words}


def _date(now: datetime, pulls: int | None, rate: float) -> str | None:
    """When so many pulls are done; None where it is not known, or beyond all calendars."""
    if pulls is None:
        return None
    try:
        return (now + timedelta(days=pulls / rate)).isoformat(timespec="seconds")
    except OverflowError:
        return None


def percent(share: float) -> str:
    """A chance, never rounded to a certainty that it is not.

    >>> percent(0.256), percent(0.001), percent(0.999), percent(1.0)
    ('26 %', 'below 1 %', 'above 99 %', '100 %')
    """
    if 0.0 < share < 0.01:
        return "below 1 %"
    return "above 99 %" if 0.99 < share < 1.0 else f"{100.0 * share:.0f} %"


def _ranked(lengths: list[int], n_runs: int, share: float) -> int | None:
    """The length at this share of n_runs + 1; None if it is among those that have not stopped."""
    place = share * (n_runs + 1)
    below = min(max(math.floor(place), 1), n_runs)
    above = min(below + 1, n_runs)
    if below > len(lengths):
        return None
    part = place - below if above <= len(lengths) else 0.0
    return round(lengths[below - 1] + max(part, 0.0) * (lengths[min(above, len(lengths)) - 1] - lengths[below - 1]))


def forecast(
    setting: Setting,
    course: Course,
    delta: float,
    *,
    budget: int | None = None,
    seed: int = 0,
    n_runs: int = N_DRAWS,
    seconds: float = SECONDS,
    wait: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Forecast | None:
    """Of a course that has not stopped; None where nothing can be said: a threshold that only Python knows, a variance
    that nothing is known of, or without `wait` machine code that is not made yet (it is being made then).

    `seconds` is what a slow core needs for the work after which the runs are cut off: so the same seed gives the same
    forecast on any machine. Where even so the clock is first, they end then, and the forecast says it."""
    if not setting.threshold.compiled:
        return None
    n_pulls = int(course.near.inst.N.sum())
    sequence = np.random.SeedSequence((seed, n_pulls))
    truths = draw_means(setting, seen(course), n_runs, np.random.default_rng(sequence), lent=LENT)
    if not (np.isfinite(truths.means).all() and np.isfinite(truths.variances).all()):
        return None
    most = FARTHEST * n_pulls + AT_LEAST
    if budget is not None:
        most = max(most, budget - n_pulls)
    given = setting, course, delta, truths, (seed, n_pulls, 1)
    if not wait and not at_hand(*given[:4]):
        return None
    found = run_on(*given, most=most, effort=PER_SECOND * seconds, seconds=seconds, progress=progress)
    left = found.times[~found.stopped]
    followed = int(left.min()) if left.size else None
    made = Forecast.of(n_pulls, found.times[found.stopped], n_runs, followed, budget)
    return replace(made, seconds=float(seconds)) if found.late else made
