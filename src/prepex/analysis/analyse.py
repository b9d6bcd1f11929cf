"""From a table of measurements to what it says, and what to measure next.

The rows are told to an experiment: first one of each arm, then the next of each, and so on. Which rows come first is
decided by their arms alone, so the certificate holds for a table as for a live experiment; it is looked at once, at the
end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from prepex import _checks
from prepex._checks import Floats, Ints
from prepex.analysis.guess import Guess, guess_families
from prepex.analysis.optuna_storage import is_database, read_storage
from prepex.analysis.reading import Columns, read_columns
from prepex.analysis.redraw import REDRAWN, drawn_anew
from prepex.analysis.roles import COSTS, Names, Trials, find_trials
from prepex.analysis.shares import are_shares, as_counted, no_share, whole_sums
from prepex.any_cone import Regions, State, least_tolerance, states_under
from prepex.cone import Cone, one
from prepex.errors import InputError, shown
from prepex.experiment import Experiment
from prepex.family import Bernoulli, Exact, Family, Gaussian, Product
from prepex.foresight.forecast import Forecast
from prepex.limits import Limit, Sides
from prepex.numerals import plural
from prepex.settings import Settings
from prepex.spoken import parse_family
from prepex.standing import Standing
from prepex.stopping import Certified
from prepex.tolerance import Tolerance
from prepex.unit_names import full_name
from prepex.whole_file import write_whole

# That a forecast may take on a slow core: cut by counted work, the same on every machine.
SECONDS = 2.0
# Trials that are proposed.
NEXT = 10
# Arms up to which the closest change of each is looked for.
MOST_CHANGES = 60
# Rates between objectives, as factors on either side of even, that a wider cone may have.
FACTORS = (100.0, 50.0, 20.0, 10.0, 5.0, 3.0, 2.0, 1.5)
# Said where there is nothing to go on from.
SINGLE = "the table must have several trials of an option to go on from it, got one of each"

Families = Family | str | Mapping[str, Family | str] | None


@dataclass(frozen=True)
class Arm:
    """An option in the table.

    mean, spread   of each objective: geometric mean and a factor where it is log-normal; nan of a single trial
    state          "in", "out" or "open" at delta; None where nothing can be said at all
    front          does it look Pareto optimal?
    probability    of being optimal, under a flat prior; None where there is none
    change         the closest change of its status, in words
    """

    name: str
    n: int
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    state: State | None
    front: bool
    probability: float | None
    change: str | None


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a table says. Print it, or `report`, `plot`, `to_frame`, `to_document`; `experiment` goes on from it.

    arms         each option with its numbers and how it stands
    families     what was assumed of each objective, and why
    notes        what was done to the table, and what to know about it
    next_trials  options to try next, in order
    tolerance    differences that would settle everything already, if they did not matter; None if nothing does
    rates        the same of exchange rates between objectives, in words
    wait         may a forecast wait for a compiler? The command line does, and says so
    """

    source: str
    objectives: tuple[str, ...]
    minimise: tuple[str, ...]
    delta: float
    arms: tuple[Arm, ...]
    families: tuple[Guess, ...]
    notes: tuple[str, ...]
    guarantee: str
    next_trials: tuple[str, ...] = ()
    tolerance: dict[str, float | str] | None = None
    rates: str | None = None
    given: "_Given | None" = field(default=None, repr=False)
    wait: bool = field(default=False, repr=False)

    @property
    def pareto_set(self) -> tuple[str, ...]:
        """The options that look Pareto optimal."""
        return tuple(arm.name for arm in self.arms if arm.front)

    @property
    def states(self) -> dict[str, State | None]:
        """Of each option."""
        return {arm.name: arm.state for arm in self.arms}

    @property
    def settled(self) -> bool:
        """Is every option in or out?"""
        return all(arm.state in ("in", "out") for arm in self.arms)

    @cached_property
    def forecast(self) -> Forecast | None:
        """Trials still needed, from runs of the rule from here on: a median with a range. None where all is settled,
        where nothing can be said yet, and without `wait` while machine code is being made."""
        if self.given is None or self.settled:
            return None
        return self.given.told.forecast(seconds=SECONDS, wait=self.wait)

    def experiment(self) -> Experiment:
        """A live experiment that has been told the table: ask it, tell it, until it is done.

        Its certificate covers the table and what follows, if no row was left out because of its outcome and nothing
        else was chosen by looking at outcomes (docs: analyse).
        """
        if self.given is None:
            raise InputError(SINGLE)
        return self.given.experiment()

    def outcomes(self) -> list[dict[str, Any]]:
        """The rows in the order in which `experiment` was told them: what a study imports."""
        if self.given is None:
            return []
        names = self.given.settings.labels.arms
        rows = zip(self.given.who.tolist(), self.given.sizes.tolist(), self.given.rows.tolist(), strict=True)
        sized = bool((self.given.sizes > 1).any())
        return [
            {"arm": names[k], **({"n": n} if sized else {}), **dict(zip(self.objectives, row, strict=True))}
            for k, n, row in rows
        ]

    def under(self, cone: Cone) -> dict[str, State]:
        """In, out or open under another cone. What is said of any number of cones is right together, with
        probability 1 - delta, whenever they are chosen; so it needs more data than what is said of the first cone."""
        if self.given is None:
            raise InputError(SINGLE)
        experiment = self.given.told
        _checks.instance("cone", cone, Cone)
        order = _renamed(cone, self.objectives).ordered(self.objectives)
        found = states_under(Regions.of(experiment), order, experiment.labels.signs)
        return dict(zip(experiment.labels.arms, found, strict=True))

    def to_document(self) -> dict[str, Any]:
        """As JSON can write it."""
        from prepex.analysis.text import document

        return document(self)

    def to_frame(self) -> Any:
        """A row for each option, as a DataFrame of pandas."""
        from prepex.analysis.text import frame

        return frame(self)

    def report(self, path: str | PathLike[str]) -> None:
        """One HTML file with everything in it."""
        from prepex.analysis.page import make_page

        write_whole(_checks.target("path", path), make_page(self))

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """The options with their states; saved if `path` is given (png, svg, pdf)."""
        from prepex.analysis.picture import draw
        from prepex.drawing import save

        figure = draw(self)
        if path is not None:
            save(figure, str(path))
        return figure

    def _repr_html_(self) -> str:
        from prepex.analysis.page import make_note

        return make_note(self)

    def __repr__(self) -> str:
        from prepex.analysis.text import in_short

        return f"Analysis({self.source}: {in_short(self)})"

    def __str__(self) -> str:
        from prepex.analysis.text import in_words

        return in_words(self)


@dataclass(frozen=True, eq=False)
class _Given:
    """What an experiment is made of: settings, and rows in the order in which they are told."""

    settings: Settings
    who: Ints
    rows: Floats
    sizes: Ints

    def experiment(self) -> Experiment:
        made = Experiment.of(self.settings)
        # By position: a name may be a number.
        made._replay(self.who, self.rows, self.sizes if (self.sizes > 1).any() else None)
        return made

    @cached_property
    def told(self) -> Experiment:
        """One that is only looked at: nobody tells it more."""
        return self.experiment()


def analyse(
    data: Any,
    *,
    arm: str | Sequence[str] | None = None,
    objectives: Sequence[str] | None = None,
    minimise: Iterable[str] = (),
    family: Families = None,
    cone: Cone | None = None,
    delta: float = 0.05,
    tolerance: Tolerance = None,
    at_most: Sides = None,
    at_least: Sides = None,
    limits: Iterable[Limit] = (),
    names: Names = "ask",
    decimal: str | None = None,
    pilot: int | None = None,
    seed: int = 0,
    study: str | None = None,
) -> Analysis:
    """Which options are on the front, how sure that is, and what to measure next.

    data         the path of a file, a data frame, a mapping of columns or a list of rows: one row a trial, or means
                 with a column `n` and spreads (`strength_sd`). Or the SQLite file of Optuna, which also says what is
                 minimised; `study` names the one that is meant, if there are several
    arm          the column that names the option, or several; guessed if there is one candidate
    objectives   columns of numbers; by default all that are no numbers of a trial
    minimise     objectives that are costs
    family       of all objectives, or by name: a Family or a word of the command line ("bernoulli"); else guessed
    names        options that differ by white space, case or how a number is written: "ask" (refuse), "merge" or "keep"
    decimal      the decimal mark of a file, "." or ",", where it could be either
    pilot        first trials of each option that only set priors; by default a sixth of the least, from 2 to 20

    Other arguments as of `Experiment`.

    >>> rows = {"arm": ["a", "b", "c"] * 40, "gain": [3.0, 1.0, 0.1, 3.2, 1.1, 0.3] * 20}
    >>> found = analyse(rows, family={"gain": "gaussian(0.04)"})
    >>> found.pareto_set, found.states
    (('a',), {'a': 'in', 'b': 'out', 'c': 'out'})
    """
    least: tuple[str, ...] = (minimise,) if isinstance(minimise, str) else tuple(minimise)
    if isinstance(data, Trials):
        trials = data
    else:
        table = read_table(data, decimal=decimal, study=study)
        trials = find_trials(table, arm=arm, objectives=objectives, names=names)
        least = least or tuple(name for name in table.minimise if name in trials.objectives)
    source = str(data) if isinstance(data, str | PathLike) else "the table"
    own = trials.objectives
    costs = tuple(full_name(entry, own, "minimise", trials.unused) for entry in least)
    guesses, notes = _families(trials, family), list(trials.notes)
    notes += _cost_notes(own, costs)
    options: dict[str, Any] = {
        "minimise": costs,
        "cone": None if cone is None else _renamed(cone, own),
        "delta": delta,
        "tolerance": _by_full_name(tolerance, own, "tolerance", trials.unused),
        "at_most": _by_full_name(at_most, own, "at_most", trials.unused),
        "at_least": _by_full_name(at_least, own, "at_least", trials.unused),
        "limits": tuple(_limit(limit, own, trials.unused) for limit in limits),
        "seed": seed,
    }
    base = {"source": source, "objectives": own, "minimise": costs, "delta": delta, "families": tuple(guesses)}
    if int(trials.counts.max()) == 1 and any(_unknown(guess.family) for guess in guesses):
        return _means_only(trials, options, base, notes)
    if trials.sizes is not None:
        families = [guess.family for guess in guesses]
        trials, rounded = as_counted(trials, families)
        trials = drawn_anew(trials, families, seed)
        notes += [*rounded, REDRAWN]
    given = _given(trials, guesses, options, pilot, notes)
    return _look(trials, given, base, notes)


def read_table(data: Any, *, decimal: str | None = None, study: str | None = None) -> Columns:
    """A file of either kind, or what `read_columns` takes."""
    if is_database(data):
        return read_storage(data, study)
    if study is not None:
        raise InputError(f"study is for the SQLite file of Optuna, got it with {shown(data)}")
    return read_columns(data, decimal=decimal)


# What is assumed


def _families(trials: Trials, family: Families) -> list[Guess]:
    """As given; the others guessed, or of means by what stands beside them."""
    names = trials.objectives
    if isinstance(family, Product):
        if len(family.families) != len(names):
            raise InputError(f"families must be {len(names)} = n_objectives, got {len(family.families)}")
        family = dict(zip(names, family.families, strict=True))
    given = family if isinstance(family, Mapping) else {} if family is None else dict.fromkeys(names, family)
    known: dict[str, Guess] = {}
    for key, value in given.items():
        name = full_name(key, names, "family", trials.unused)
        chosen = parse_family(name, value) if isinstance(value, str) else _checks.instance("family", value, Family)
        known[name] = Guess(chosen, "as given")
    if trials.sizes is not None:
        return [known[name] if name in known else _of_summaries(trials, q) for q, name in enumerate(names)]
    guessed = guess_families(trials.who, trials.values, len(trials.arms))
    return [known.get(name, guess) for name, guess in zip(names, guessed, strict=True)]


def _of_summaries(trials: Trials, q: int) -> Guess:
    """Rows are means: shares of yes, or Gaussian with the spreads that stand beside them."""
    assert trials.sizes is not None and trials.spreads is not None
    spreads = trials.spreads[:, q]
    if np.isnan(spreads).all():
        if are_shares(trials, q):
            return Guess(Bernoulli(), "shares of whole numbers of trials")
        raise InputError(_no_spreads(trials, q))
    if np.isnan(spreads).any() or np.any(spreads <= 0.0):
        raise InputError(f"spreads of {trials.objectives[q]!r} must be positive in every row, got one that is not")
    return Guess(Gaussian(variance="unknown"), "means with their spreads")


def _no_spreads(trials: Trials, q: int) -> str:
    """What to do about means that have no spreads and are no shares."""
    name = trials.objectives[q]
    words = f"spreads of {name!r} must be given beside its means, as a column '{name}_sd' (or _se, _var)"
    bad = whole_sums(trials, q)[1]
    if bad is None:
        return f"{words}, or its family: --family '{name}=poisson' if they are means of counts"
    if np.all((trials.values[:, q] >= 0.0) & (trials.values[:, q] <= 1.0)):
        return f"{words}; or, if they are shares of yes, corrected: {no_share(trials, q, bad)}"
    return f"{words}, or the variance of single trials, if it is known: --family '{name}=gaussian(VARIANCE)'"


def _unknown(family: Family) -> bool:
    laws = family.laws(1, 1)
    return laws is not None and laws.unknown


def _cost_notes(objectives: Sequence[str], costs: Sequence[str]) -> list[str]:
    """A name that sounds like a cost is maximised only if nobody says otherwise."""
    found = [name for name in objectives if name not in costs and COSTS.search(name)]
    if not found:
        return []
    return [
        f"More is taken for better. Is less of {' or of '.join(found)} better? Then say so: --minimise {found[0]!r}"
    ]


def _given(
    trials: Trials, guesses: Sequence[Guess], options: dict[str, Any], pilot: int | None, notes: list[str]
) -> _Given:
    counts = trials.counts
    families = [guess.family for guess in guesses]
    family: Family = families[0] if len(families) == 1 else Product(families)
    known = [entry for entry in families if isinstance(entry, Gaussian) and not entry.unknown]
    if len(known) == len(families) > 1:
        family = Gaussian(variance=[float(np.asarray(entry.variance)) for entry in known])
    unknown = any(map(_unknown, families))
    # Laws need a pilot for their priors, and an unknown variance one with two trials.
    least = 0 if family.laws(1, len(families)) is None else 2 if unknown else 1
    rounds = max(least, min(20, int(counts.min()) // 6)) if least else 0
    if pilot is not None:
        rounds = _checks.whole("pilot", pilot, low=0)
    if unknown and counts.min() < rounds + 3:
        few = [name for name, n in zip(trials.arms, counts, strict=True) if n < rounds + 3]
        notes.append(
            f"Fewer than {rounds + 3} trials of {_some(few)}: too few to estimate the noise of each option for itself. "
            "If it is the same for all options, say so: --family 'OBJECTIVE=shared'."
        )
    settings = Settings.make(
        trials.arms, trials.objectives, family=family, threshold=Certified(pilot=rounds), **options
    )
    # The first of each arm, the second of each, ...: an order that outcomes have no part in.
    turn = np.empty(len(trials.who), dtype=np.int64)
    order = np.argsort(trials.who, kind="stable")
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    turn[order] = np.arange(len(order)) - starts
    told = np.lexsort((trials.who, turn))
    return _Given(settings, trials.who[told], trials.values[told], np.ones(len(told), dtype=np.int64))


# What it says


def _look(trials: Trials, given: _Given, base: dict[str, Any], notes: list[str]) -> Analysis:
    experiment = given.told
    course, labels = experiment.course, experiment.labels
    assert course is not None
    standing = Standing(experiment.setting, course, experiment.family, experiment.delta)
    mask, decided = standing.answer, standing.decided()
    probability = experiment.probabilities
    changes = _changes(experiment)
    means, spreads = experiment.means, _spreads_of(trials, experiment)
    arms = tuple(
        Arm(
            name=name,
            n=int(trials.counts[k]),
            mean=tuple(means[k].tolist()),
            spread=tuple(spreads[k].tolist()),
            state=("in" if mask[k] else "out") if k in decided else "open",
            front=bool(mask[k]),
            probability=None if probability is None else float(probability[k]),
            change=changes.get(k),
        )
        for k, name in enumerate(labels.arms)
    )
    settled = all(arm.state != "open" for arm in arms)
    promise = (
        f"What is said to be in or out is right for all options together with probability at least "
        f"{1 - base['delta']:g}, if outcomes are as assumed and no row was left out because of its outcome."
    )
    if any(guess.reason != "as given" for guess in base["families"]):
        promise += " The families were guessed from the same data: look at them."
    found = Analysis(**base, arms=arms, notes=tuple(notes), guarantee=promise, given=given)
    if settled:
        return found
    tolerance, rates = _would_settle(experiment, trials)
    return replace(found, next_trials=tuple(experiment.ask(NEXT)), tolerance=tolerance, rates=rates)


def _means_only(trials: Trials, options: dict[str, Any], base: dict[str, Any], notes: list[str]) -> Analysis:
    """One trial of each arm: the front of the values as they are, and what cannot be known."""
    L = len(trials.objectives)
    signs = np.array([-1.0 if name in options["minimise"] else 1.0 for name in trials.objectives])
    cone = Cone.orthant(L) if options["cone"] is None else options["cone"].ordered(trials.objectives)
    mask = cone.pareto_mask(trials.values * signs)
    arms = tuple(
        Arm(name, 1, tuple(trials.values[k].tolist()), (float("nan"),) * L, None, bool(mask[k]), None, None)
        for k, name in enumerate(trials.arms)
    )
    notes.append(
        "There is one trial of each option: how much a second would differ cannot be known, so nothing can be said "
        "about how sure the front is. Try at least some options again; 5 trials of each are a good start. If the noise "
        "is known, say so: --family 'OBJECTIVE=gaussian(VARIANCE)'."
    )
    if any(options[name] for name in ("tolerance", "at_most", "at_least", "limits")):
        notes.append("Tolerances and limits are not looked at.")
    nothing = "Nothing is proven: these are single values."
    return Analysis(**base, arms=arms, notes=tuple(notes), guarantee=nothing, next_trials=trials.arms[:NEXT])


def _changes(experiment: Experiment) -> dict[int, str]:
    """Of each arm, the closest change of its status, in words."""
    K = len(experiment.labels.arms)
    found: dict[int, str] = {}
    if K > MOST_CHANGES or K == 1:
        return found
    evidence = experiment.evidence
    if not np.isfinite(evidence.value):
        return found
    vague: dict[int, str] = {}
    for piece in evidence.pieces(20.0 * evidence.value + 100.0, at_most=20 * K):
        # One whose value is only a bound says little in words.
        (vague if piece.capped else found).setdefault(piece.arm, piece.words)
    decided = set(experiment.recommendation.decided)
    return {k: words for k, words in vague.items() if experiment.labels.arms[k] not in decided} | found


def _spreads_of(trials: Trials, experiment: Experiment) -> Floats:
    """Standard deviations of single trials (K, L), factors where logarithms are compared; nan of one trial."""
    K, L = len(trials.arms), len(trials.objectives)
    units, counts = experiment.setting.units, trials.counts[:, None]
    inner = units.inner(trials.values)
    middle = units.inner(experiment.means)
    squares = np.zeros((K, L))
    np.add.at(squares, trials.who, (inner - middle[trials.who]) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.sqrt(squares / (counts - 1))
    found[:, list(units.logs)] = np.exp(found[:, list(units.logs)])
    return np.where(counts > 1, found, np.nan)


def _would_settle(experiment: Experiment, trials: Trials) -> tuple[dict[str, float | str] | None, str | None]:
    """A tolerance, and bounds of exchange rates, that would settle everything already: by regions, so that choosing
    them now is allowed. None where regions say nothing, and with limits, which they do not look at."""
    if experiment.setting.limits is not None:
        return None, None
    labels, cone, units = experiment.labels, experiment.setting.cone, experiment.setting.units
    regions = Regions.of(experiment)
    scale = np.ptp(regions.centre, axis=0)
    noisy = [not isinstance(f, Exact) for f in _single_families(experiment.family, len(labels.objectives))]
    unit = np.where(scale > 0.0, scale, 1.0) * np.where(noisy, 1.0, 0.0)
    if not np.any(unit) or not np.all(cone.facets @ unit > 0.0):
        return None, None
    size = least_tolerance(regions, cone, labels.signs, unit)
    tolerance: dict[str, float | str] | None = None
    if np.isfinite(size) and 0.0 < size < 1.0:
        tolerance = {}
        for q, name in enumerate(labels.objectives):
            if unit[q] > 0.0:
                room = _rounded_up(size * float(unit[q]))
                tolerance[name] = f"{_rounded_up(100.0 * float(np.expm1(room))):g}%" if q in units.logs else room
    return tolerance, _rates(experiment, regions, np.where(scale > 0.0, scale, 1.0))


def _rates(experiment: Experiment, regions: Regions, scale: Floats) -> str | None:
    """The widest bounds of exchange rates, even on the ranges of the means, under which nothing is open."""
    labels = experiment.labels
    names = labels.objectives
    logs = experiment.setting.units.logs
    if len(names) < 2 or logs or experiment.setting.cone.name[:7] != "orthant":
        return None
    for factor in FACTORS:
        worths, words = [], []
        for a in range(len(names) - 1):
            rate = float(scale[a + 1] / scale[a])
            low, high = (float(f"{value:.3g}") for value in (rate / factor, rate * factor))
            worths.append(one(names[a]).is_worth(between=(low, high), of=names[a + 1]))
            words.append(f"one {names[a]} is worth {low:g} to {high:g} {names[a + 1]}")
        try:
            cone = Cone.tradeoffs(names, *worths)
        except InputError:
            return None
        if "open" not in states_under(regions, cone, labels.signs):
            return " and ".join(words)
    return None


def _single_families(family: Family, n: int) -> list[Family]:
    return list(family.families) if isinstance(family, Product) else [family] * n


def _rounded_up(value: float) -> float:
    """To two digits."""
    if not value > 0.0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(value)) - 1)
    return float(f"{np.ceil(value / unit) * unit:.6g}")


# Names


def _by_full_name(given: Any, known: Sequence[str], what: str, unused: Mapping[str, str]) -> Any:
    if not isinstance(given, Mapping):
        return given
    return {full_name(name, known, what, unused): value for name, value in given.items()}


def _renamed(cone: Cone, known: Sequence[str]) -> Cone:
    """A cone over the names without units is one over the columns."""
    if cone.objectives is None or set(cone.objectives) <= set(known):
        return cone
    full = tuple(full_name(name, known, "objectives of the cone") for name in cone.objectives)
    costs = None if cone.minimise is None else tuple(full[cone.objectives.index(name)] for name in cone.minimise)
    name = cone.name and f"{cone.name.partition('(')[0]}({', '.join(full)})"
    return replace(cone, name=name, objectives=full, minimise=costs)


def _limit(limit: Limit, known: Sequence[str], unused: Mapping[str, str]) -> Limit:
    """A limit on the names without units is one on the columns."""
    if not isinstance(limit, Limit):
        return limit  # refused, with all others of its kind, by who takes limits
    return limit.renamed({name: full_name(name, known, "limits", unused) for name in limit.names})


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {plural(len(names) - 5, 'more option')}" if len(names) > 5 else shown
