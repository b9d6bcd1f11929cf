"""How many trials will it take? Simulated studies with the settings of the study to come."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from prepex import _checks, _named, markup
from prepex._checks import Floats
from prepex.bound import characteristic_time
from prepex.errors import InputError
from prepex.experiment import Experiment
from prepex.family import EXACT, GAUSSIAN, STUDENT
from prepex.foresight.forecast import percent
from prepex.foresight.onward import roots_of
from prepex.instances import read_table
from prepex.numerals import number
from prepex.planning.belief import Belief, from_guess, from_pilot, with_noise, without_noise
from prepex.planning.command import create_command, unsayable
from prepex.planning.designs import AS_PLANNED, Design, make_designs
from prepex.planning.inverse import Afford, Calibration, Run, afford, calibrate, runner
from prepex.planning.scenarios import GUESS, NO_DIFFERENCE, Scenarios, check_names, closest, truths
from prepex.planning.table import Row, make_row
from prepex.posterior_draws import Draws
from prepex.problem import Problem
from prepex.settings import Settings, with_options
from prepex.stopping import Certified
from prepex.tolerance import Eps, as_given, in_words
from prepex.whole_file import write_whole

# Without a budget: the guess is followed so far, other scenarios so many times as far as nine of ten studies of it.
FARTHEST, FURTHER = 200_000, 4
# Studies of another scenario, or of a what-if, for one of the guess as planned; but at least so many.
SHARE, LEAST = 4, 20


@dataclass(frozen=True, eq=False)
class Plan:
    """What simulated studies say of a study to come.

    settings      of the study; `study_settings`: without the noise that was only for the plan, with a calibrated delta
    rows          as planned and for each what-if, under each scenario
    guess         the means that were guessed (K, L)
    budget        pulls that there are; None: not said
    afford        which delta and tolerance the budget affords; None without a budget
    calibration   of the rule's delta, if it was asked for
    uncertainty   standard deviations of the guess (K, L), of a LogNormal a share; None without, and of a pilot
    """

    settings: Settings
    rows: tuple[Row, ...]
    guess: Floats
    budget: int | None
    seed: int
    afford: Afford | None = None
    calibration: Calibration | None = None
    notes: tuple[str, ...] = field(default=())
    uncertainty: Floats | None = field(default=None, repr=False)

    @property
    def row(self) -> Row:
        """The study as planned, under the guess."""
        return self.rows[0]

    @property
    def study_settings(self) -> Settings:
        """For `Study.create`: a study estimates the noise that a plan is told, and ends with its budget; its delta is
        the calibrated one, if one was found."""
        own, found = self.settings.max_pulls, self.calibration
        return replace(
            self.settings,
            family=without_noise(self.settings.family),
            max_pulls=self.budget if own is None else own,
            delta=self.settings.delta if found is None or found.delta is None else found.delta,
        )

    @property
    def start_words(self) -> str:
        """Before the command that starts the study: which delta it has, where there are two to choose from."""
        found, delta = self.calibration, self.study_settings.delta
        if found is None or (delta == self.settings.delta and found.delta is not None):
            return "Start it:"
        if found.delta is None:
            return f"Start it, with delta {delta:g} as planned, as no calibrated one was found:"
        return (
            f"Start it, with the calibrated delta {delta:g} (what is said above is of delta {self.settings.delta:g}; "
            f"--delta {delta:g} plans with it):"
        )

    def command(self, name: str = "NAME") -> str | None:
        """The command that creates the study; None where a shell cannot say it, and `unsayable` says what."""
        return create_command(self.study_settings, name)

    @property
    def unsayable(self) -> str | None:
        """What of the settings no shell command says; None: all of it can be said."""
        return unsayable(self.study_settings)

    @property
    def words(self) -> str:
        """The plan in short."""
        parts = [f"Under the guess: {self.row.words} (99 % bound of the error {percent(self.row.error_upper)})."]
        if self.row.chance is not None:
            parts.append(f"Chance to end within {self.budget:,} trials: {percent(self.row.chance)}.")
        return " ".join([*parts, *self.notes])

    def to_frame(self) -> Any:
        """The rows as a pandas data frame (needs pandas)."""
        rows = [row.document for row in self.rows]
        return markup.frame({name: [row[name] for row in rows] for name in rows[0]})

    def report(self, path: str | os.PathLike[str], *, name: str = "NAME") -> None:
        """Write one self-contained HTML file (needs the extra `prepex[plot]`); `name`: of the study to come."""
        from prepex.planning.report import make_report

        target = _checks.target("path", path)
        write_whole(target, make_report(self, name))

    def _repr_html_(self) -> str:
        from prepex.planning.report import rows_table

        return markup.block("How many trials will it take?", markup.line(self.words), rows_table(self))

    def __repr__(self) -> str:
        return f"Plan({self.words})"


@with_options
def plan(
    guess: Any,
    settings: Settings | None = None,
    *,
    uncertainty: Any = None,
    budget: int | None = None,
    scenarios: Scenarios | None = None,
    what_if: Mapping[str, Sequence[Any]] | None = None,
    calibrate_to: float | None = None,
    n_runs: int = 200,
    seed: int = 0,
    n_jobs: int = 1,
    arms: Sequence[str] | None = None,
    objectives: Sequence[str] | None = None,
    begin: Callable[[int], None] | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Plan:
    """How many trials a study will take, how often it errs, and what would change it, before the first of them.

    guess         means of all options: a table (K, L), a DataFrame, the path of a CSV file (columns "X sd" are the
                  uncertainty of X), or a pilot: an Experiment or a Study with outcomes of every option
    settings      of the study, or options as of `Experiment`. Where a variance is unknown the plan must be told one:
                  Gaussian(variance="unknown", noise=4.0)
    uncertainty   of the guess, as standard deviations: by name, one for all, one an objective, or (K, L); of a
                  LogNormal a share, "10%"
    budget        trials that there are; by default `max_pulls`
    scenarios     of "guess", "near-tie", "no difference", "worst" (of 20 draws), by default all that apply; or a
                  mapping that gives others as means
    what_if       {"delta": [...], "tolerance": [...], "noise": factors of the variance, "threshold": [...],
                  "cone": [...]}; by default what people ask first, {}: nothing
    calibrate_to  an error: find the delta of a threshold without a worst-case proof that keeps it in all scenarios
    n_runs        simulated studies of the guess; a quarter of it for other scenarios and what-ifs
    n_jobs        processes; the result does not depend on it

    >>> from prepex import Gaussian
    >>> found = plan(
    ...     [[1.0], [0.0]], family=Gaussian(variance=1.0), delta=0.1, threshold="heuristic", n_runs=20, what_if={},
    ...     scenarios=["guess"], budget=100,
    ... )
    >>> found.row.scenario, found.row.n_runs, found.row.chance
    ('guess', 20, 1.0)
    """
    belief = _believe(guess, settings, uncertainty, arms, objectives, options)
    made = belief.settings
    n_arms = len(made.labels.arms)
    budget = made.max_pulls if budget is None else _checks.whole("budget", budget, low=1)
    if budget is not None and budget < n_arms:
        raise InputError(f"budget must be at least one trial of each of the {n_arms} options, got {budget}")
    if not made.threshold.compiled:
        raise InputError(f"threshold must be a named one to plan with, got {made.threshold.name}")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs must be a number of processes, or -1 for all cores, got {n_jobs!r}")
    _checks.whole("n_runs", n_runs, low=1)
    _checks.seed(seed)
    wanted = None if calibrate_to is None else _wanted(calibrate_to, made)
    names, designs = check_names(scenarios, belief), make_designs(made, what_if)
    if belief.sure:
        _refuse_tie(belief)
    few = min(n_runs, max(n_runs // SHARE, LEAST))
    drawn = {name: truths(name, means, belief, n_runs if name == GUESS else few, seed) for name, means in names.items()}
    if begin is not None:
        begin(n_runs + few * (len(names) - 1) + few * len(names) * len(designs))
    run = runner(seed, n_jobs, progress)
    rows, far = _rows(made, designs, drawn, few, budget, run)
    quiet = runner(seed, n_jobs, None)
    found = None
    if budget is not None:
        planned = rows[0].chance or 0.0
        found = afford(made, _first(drawn[GUESS], few), budget, _unit(belief), quiet, planned=planned)
    calibrated = None if wanted is None else calibrate(made, drawn, wanted, far, quiet)
    spread = None if belief.sure or belief.pilot is not None else belief.outer_spread
    return Plan(made, tuple(rows), belief.outer_means, budget, seed, found, calibrated, _notes(made, drawn), spread)


def _rows(
    settings: Settings, designs: list[Design], drawn: dict[str, Draws], few: int, budget: int | None, run: Run
) -> tuple[list[Row], int]:
    """As planned first, the guess first of all; and how far studies of other scenarios were followed."""
    rows: list[Row] = []
    far = FARTHEST
    for design in (Design(AS_PLANNED, settings), *designs):
        for name, given in drawn.items():
            some = given if design.name == AS_PLANNED else _first(given, few)
            some = Draws(some.means, design.noise * some.variances)
            # Beyond a budget there is nothing; else a study of another scenario is followed for a while.
            most = far if budget is None else max(budget, min(far, FURTHER * budget))
            if name == NO_DIFFERENCE and design.settings.tolerance is None and budget is None:
                most = min(most, far)
            trials = run(design.settings, (design.settings.delta,), some, most)
            rows.append(make_row(design.name, name, trials, most, budget))
            if len(rows) == 1:
                nine = rows[0].q90
                far = FARTHEST if nine is None else min(FARTHEST, FURTHER * nine)
    return rows, far


def _first(given: Draws, n: int) -> Draws:
    return Draws(given.means[:n], given.variances[:n])


def _believe(
    guess: Any, settings: Settings | None, uncertainty: Any, arms: Any, objectives: Any, options: Any
) -> Belief:
    """Settings and guess together; names come from the guess where they are not given."""
    if settings is not None and (options or arms is not None or objectives is not None):
        raise InputError(f"settings must hold all that is fixed, got them and {', '.join(options) or 'names'}")
    pilot = _pilot(guess)
    if pilot is not None:
        if uncertainty is not None:
            raise InputError("uncertainty must be left out with a pilot, whose outcomes say it, got both")
        return from_pilot(pilot, _pilot_settings(pilot, settings, options))
    if isinstance(guess, str | os.PathLike):
        return _from_file(Path(guess), settings, uncertainty, objectives, options)
    if settings is None:
        table, rows, columns = _named.of_table("guess", guess, arms, objectives)
        shape = _checks.real_array("guess", table, ("n_arms", None), ("n_objectives", None)).shape
        named: Any = [
            size if names is None else tuple(names) for size, names in zip(shape, (rows, columns), strict=True)
        ]
        made = Settings.make(*named, **options)
        return from_guess(table, made, uncertainty)
    return from_guess(guess, settings, uncertainty)


def _pilot(guess: Any) -> Experiment | None:
    """The experiment of a pilot, if it is one."""
    if isinstance(guess, Experiment):
        return guess
    # Without the extra of studies nobody has one.
    copy = getattr(guess, "experiment_now", None)
    return copy() if callable(copy) else None


def _pilot_settings(pilot: Experiment, settings: Settings | None, options: Any) -> Settings:
    """Those of the pilot, but for what is given."""
    if settings is not None:
        return settings
    if not options:
        return pilot.fixed
    document = pilot.fixed.to_document()
    own = {"family": pilot.family, "minimise": pilot.labels.minimise}
    given = Settings.make(pilot.labels.arms, pilot.labels.objectives, **(own | options))
    keys = {"at_most": "limits", "at_least": "limits"}
    changed = {keys.get(key, key) for key in options}
    changed |= {"labels"} if "minimise" in options else set()
    written = given.to_document()
    merged = {key: value for key, value in document.items() if key not in changed}
    return Settings.from_document(merged | {key: written[key] for key in changed if key in written})


def _from_file(path: Path, settings: Settings | None, uncertainty: Any, objectives: Any, options: Any) -> Belief:
    """A CSV file of means; a column "X sd" is the uncertainty of X."""
    table = read_table(path)
    spreads = {name.removesuffix(" sd") for name in table.objectives if name.endswith(" sd")}
    chosen = [name for name in table.objectives if not name.endswith(" sd")]
    wanted = chosen if objectives is None else [str(name) for name in objectives]
    if settings is not None:
        wanted = list(settings.labels.objectives)
    for name in wanted:
        if name not in chosen:
            hint = _checks.meant(name, chosen)
            raise InputError(f"objectives must be columns of {path}, {_checks.quoted(chosen)}, got {name!r}{hint}")
    columns = {name: table.means[:, q] for q, name in enumerate(table.objectives)}
    means = np.stack([columns[name] for name in wanted], axis=1)
    if settings is None:
        settings = Settings.make(table.arms, tuple(wanted), **options)
    elif tuple(table.arms) != settings.labels.arms:
        means = means[_named.order("arms of the guess", table.arms, settings.labels.arms)]
    if spreads:
        if uncertainty is not None:
            raise InputError(f"uncertainty must be given once, got it and columns of {path}")
        uncertainty = np.stack([columns.get(f"{name} sd", np.zeros(len(means))) for name in wanted], axis=1)
        logs = settings.setting().units.logs
        # Of what is compared by factors, a share of the mean.
        uncertainty[:, list(logs)] = np.log1p(uncertainty[:, list(logs)] / means[:, list(logs)])
    return from_guess(means, settings, uncertainty)


def _wanted(given: float, settings: Settings) -> float:
    wanted = _checks.number("calibrate_to", given, low=0.0, high=0.5)
    if isinstance(settings.threshold, Certified):
        raise InputError(
            "calibrate_to must be for a threshold without a worst-case proof, got certified, which has one"
        )
    return wanted


def _unit(belief: Belief) -> Sequence[float]:
    """The tolerance that factors multiply: the study's; or a tenth of the range of the guess, and where there is none
    half a standard deviation of an outcome."""
    settings = belief.settings
    if settings.tolerance is not None:
        return settings.tolerance
    setting = settings.setting()
    deviations = np.abs(roots_of(setting, belief.variances)).max(axis=(0, 1))
    if setting.laws is not None:
        # Of chances and counts the mean says it; without noise there is nothing to tolerate.
        codes = np.asarray(setting.laws.codes)
        deviations = np.where(np.isin(codes, (GAUSSIAN, STUDENT)), deviations, np.where(codes == EXACT, 0.0, 0.2))
    sizes = np.where(np.ptp(belief.means, axis=0) > 0.0, 0.1 * np.ptp(belief.means, axis=0), 0.5 * deviations)
    return [float(f"{size:.2g}") for size in sizes]


def _refuse_tie(belief: Belief) -> None:
    """A guess in which a change of the answer costs nothing would never be decided."""
    settings = belief.settings
    found = closest(belief, belief.means, lenient=True)
    if found.value > 1e-12 * len(belief.means) or found.alternative is None:
        return
    one, other = (settings.labels.arms[k] for k in (found.alternative.arm, found.alternative.hub))
    tied = f"{one!r} and {other!r} tied" if one != other else f"{one!r} on a limit"
    unit = _unit(belief)
    advice = "A tolerance lets it end"
    if settings.tolerance is None and any(unit):
        eps = Eps(unit)
        size = in_words(as_given(eps, settings.setting().units), settings.labels.objectives)
        problem = Problem(
            belief.outer_means,
            family=with_noise(settings.family, belief.variances),
            cone=settings.cone,
            arms=settings.labels.arms,
            objectives=settings.labels.objectives,
            minimise=settings.labels.minimise,
        )
        limits = () if settings.limits is None else settings.limits.given
        rate = characteristic_time(problem, 1e-2, tolerance=eps, limits=limits).time * -np.log(settings.delta)
        advice = f"A tolerance lets it end: with {size} after some {number(rate, 2)} trials at best"
    raise InputError(
        f"guess must differ where it decides, got {tied}: every difference matters, so no number of trials would "
        f"ever settle it. {advice}; or give the guess an uncertainty"
    )


def _notes(settings: Settings, drawn: dict[str, Draws]) -> tuple[str, ...]:
    """What a reader must know."""
    if settings.tolerance is None and NO_DIFFERENCE in drawn:
        return ("Without a tolerance a study of options that do not differ never ends by itself.",)
    return ()
