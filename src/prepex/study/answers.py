"""What a study answers."""

from dataclasses import dataclass
from typing import Any

from prepex import markup
from prepex.experiment import Recommendation
from prepex.foresight.forecast import Forecast
from prepex.numerals import plural
from prepex.option_table import OptionTable


@dataclass(frozen=True)
class Ticket:
    """One pull to do: try `arm`, then tell the outcome with `token`.

    until   end of the lease, if it has one
    again   it was handed out before, to the same actor, and is not told in full yet; or the request had a known key
    """

    token: str
    arm: str
    until: str | None
    again: bool = False


@dataclass(frozen=True)
class Receipt:
    """What a report did.

    new       False: all of it was known already, and nothing changed
    missing   objectives still to come; the pull counts when there are none
    late      the lease had ended; the outcome is taken, once
    waiting   outcomes told in full, of this pull and others, that wait for one asked for before them
    waiting_for   that pull
    """

    token: str
    arm: str
    new: bool
    missing: tuple[str, ...]
    late: bool
    waiting: int = 0
    waiting_for: "Blocker | None" = None


@dataclass(frozen=True)
class Voided:
    """What voiding a pull did.

    new      False: it had been voided before, and nothing changed
    reason   why it does not count: the one of then, if it had been voided before

    >>> str(Voided("3-1", True, "spilled")), str(Voided("3-1", False, "spilled"))
    ('voided 3-1', '3-1 had been voided before, nothing changed; the reason then: spilled')
    """

    token: str
    new: bool
    reason: str

    def __str__(self) -> str:
        if self.new:
            return f"voided {self.token}"
        return f"{self.token} had been voided before, nothing changed; the reason then: {self.reason}"


class Imported(int):
    """How many outcomes were imported.

    summarised   how many of them in summaries
    unused       columns of the file that were not read

    >>> Imported(130, 100), Imported(130, 100).summarised
    (130, 100)
    """

    summarised: int
    unused: tuple[str, ...]

    def __new__(cls, outcomes: int, summarised: int, unused: tuple[str, ...] = ()) -> "Imported":
        """Of one file."""
        made = super().__new__(cls, outcomes)
        made.summarised, made.unused = summarised, unused
        return made


@dataclass(frozen=True)
class Blocker:
    """The pull for which told outcomes wait."""

    token: str
    arm: str
    actor: str
    since: str


@dataclass(frozen=True)
class OpenPull:
    """A pull that has not entered the statistics.

    state          "out", "partly told", "waits" for one before it, or "late": its lease has ended
    told           what was told so far
    since, until   when it was asked for, and the end of its lease
    n              1, or the outcomes of an imported summary
    """

    token: str
    arm: str
    actor: str
    since: str
    until: str | None
    n: int
    told: dict[str, float]
    state: str


@dataclass(frozen=True)
class Status:
    """How a study stands.

    n_pulls      outcomes that have entered;  counts, means: of each arm
    states       of each arm: "in", "out" or "open", as in Experiment
    meaning      what the states are worth, in words
    probabilities   of each arm, of being optimal, as in Experiment; None while they are not known
    chances      what these probabilities are of, in words
    out          pulls handed out and not told in full;  incomplete: those told in part, by arm
    waiting      outcomes told in full that wait for pulls asked for before them;  blocker: for which one
    lapsed       pulls whose lease ended, not told in full
    imported     outcomes; those of a summary count one by one
    reached, needed   as in Experiment; reached is None before it means anything
    forecast     of the outcomes so far, if `Study.forecast` was asked for it here
    events, head   the length of the log, and its last hash
    clock          words about the latest jump of the clock by more than a day; None: there was none
    warning        words about a tolerance that makes all options equal; None: it does not
    """

    name: str
    recommendation: Recommendation
    n_pulls: int
    counts: dict[str, int]
    means: dict[str, tuple[float, ...] | None]
    states: dict[str, str]
    meaning: str
    probabilities: dict[str, float] | None
    chances: str
    objectives: tuple[str, ...]
    reached: float | None
    needed: float
    forecast: Forecast | None
    out: int
    incomplete: dict[str, int]
    waiting: int
    blocker: Blocker | None
    lapsed: int
    voided: int
    corrected: int
    late: int
    imported: int
    events: int
    head: str
    clock: str | None
    warning: str | None

    @property
    def done(self) -> bool:
        """Has it stopped?"""
        return self.recommendation.status != "running"

    def to_frame(self) -> Any:
        """A row for each option: outcomes, means, state, probability of being optimal; as a DataFrame of pandas."""
        return self.table.to_frame()

    @property
    def table(self) -> OptionTable:
        """The options."""
        means = zip(*(mean or (None,) * len(self.objectives) for mean in self.means.values()), strict=True)
        chances = None if self.probabilities is None else list(self.probabilities.values())
        return OptionTable(
            list(self.counts),
            [("n", list(self.counts.values())), *zip(self.objectives, map(list, means), strict=True)],
            [name in self.recommendation.arms for name in self.counts],
            list(self.states.values()),
            chances,
        )

    def _repr_html_(self) -> str:
        title = f"{self.name}: {self.recommendation.status}, {plural(self.n_pulls, 'outcome')}"
        waits = f"{plural(self.waiting, 'outcome')} told and waiting" if self.waiting else ""
        out = f"{plural(self.out, 'pull')} out" if self.out else ""
        parts = [part for part in (out, waits) if part]
        lines = [". ".join(parts), self.forecast.words if self.forecast else "", self.warning or "", self.clock or ""]
        told = markup.line(f"States: {self.meaning}.", soft=True)
        return markup.block(title, *map(markup.line, lines), self.table.to_html(), told)


@dataclass(frozen=True)
class Observation:
    """One pull and what came of it.

    pull            its number: the position at which it was asked for or imported
    state           "told" in full, told "partly", "out", "lapsed" (the lease ended), or "voided"
    n               1, or the outcomes of an imported summary; values are then their means
    values          what was told, as corrected; nothing if it is voided
    asked, told     when, and by whom; `told`: the last report
    """

    pull: int
    arm: str
    state: str
    n: int
    values: dict[str, float]
    asked: str
    asked_by: str
    told: str | None
    told_by: str | None


@dataclass(frozen=True)
class Overview:
    """A study in a list."""

    name: str
    created: str
    n_arms: int
    objectives: tuple[str, ...]
    delta: float
    events: int
