"""The other way round: what a budget affords, and which delta of a rule keeps an error that is wanted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prepex.planning.trials import Trial, jobs_of, run_all
from prepex.posterior_draws import Draws
from prepex.runs import clopper_pearson
from prepex.settings import Settings
from prepex.tolerance import Eps, Size, as_given

DELTAS = (0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
# Of the tolerance, or where there is none of a tenth of the spread of the guess.
FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
# The chance to end within the budget that is called affordable.
SURE = 0.9
# Deltas of the rule that calibration tries, times the wanted one.
LADDER = (8.0, 4.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class Afford:
    """Chances to end within the budget, under the guess; that of the design as planned is the plan's own.

    deltas, tolerances   (value, chance); tolerances as they are given, one number or share an objective
    delta, tolerance     the smallest with a chance of at least 90 %; None: none of them
    """

    budget: int
    deltas: tuple[tuple[float, float], ...]
    tolerances: tuple[tuple[tuple[Size, ...], float], ...]
    # Behind a chance, but for that of the design as planned, which has all.
    n_runs: int = 0

    @property
    def delta(self) -> float | None:
        """The smallest delta that is affordable."""
        return min((delta for delta, chance in self.deltas if chance >= SURE), default=None)

    @property
    def tolerance(self) -> tuple[Size, ...] | None:
        """The smallest tolerance that is affordable."""
        return next((size for size, chance in self.tolerances if chance >= SURE), None)


@dataclass(frozen=True)
class Calibration:
    """Of the rule's delta, for these scenarios alone.

    wanted    the largest error that is wanted
    delta     of the rule, the largest for which every scenario's 99 % upper error bound is at most that; None: none
    bounds    (delta of the rule, the largest bound, the scenario that has it)
    """

    wanted: float
    delta: float | None
    bounds: tuple[tuple[float, float, str], ...]


Run = Callable[[Settings, tuple[float, ...], Draws, int], list[Trial]]


def runner(seed: int, n_jobs: int, progress: Callable[[int], None] | None) -> Run:
    """Studies at several deltas: one trajectory for all of them, unless the rule samples for one."""

    def run(settings: Settings, deltas: tuple[float, ...], truths: Draws, most: int) -> list[Trial]:
        size = max(1, min(25, len(truths.means) // (8 * max(n_jobs, 1)) or 1))
        groups = [(delta,) for delta in deltas] if settings.sampling.samples_for_delta else [deltas]
        found: list[list[Trial]] = []
        for group in groups:
            jobs = jobs_of(settings, group, truths, seed, most, size)
            found.append([trial for part in run_all(jobs, n_jobs, progress) for trial in part])
        return [
            Trial(np.concatenate([t.pulls for t in same]), np.concatenate([t.wrong for t in same]), same[-1].counts)
            for same in zip(*found, strict=True)
        ]

    return run


def afford(
    settings: Settings, truths: Draws, budget: int, unit: Sequence[float], run: Run, *, planned: float
) -> Afford:
    """`unit` (L,): the tolerance that factors multiply, as it is compared; `planned`: the chance of the design as it
    is planned, which is known from more studies."""
    trials = run(settings, DELTAS, truths, budget)
    ended = np.mean([trial.pulls > 0 for trial in trials], axis=0).tolist()
    deltas = tuple(
        (delta, planned if delta == settings.delta else chance) for delta, chance in zip(DELTAS, ended, strict=True)
    )
    tolerances = []
    if any(unit) and not settings.sampling.stops_itself:
        units = settings.setting().units
        for factor in FACTORS:
            eps = Eps(float(f"{factor * size:.2g}") for size in unit)
            if factor == 1.0 and settings.tolerance is not None:
                eps, chance = settings.tolerance, planned
            else:
                tried = run(replace(settings, tolerance=eps), (settings.delta,), truths, budget)
                chance = float(np.mean([trial.pulls[0] > 0 for trial in tried]))
            tolerances.append((as_given(eps, units), chance))
            if chance == 1.0:
                break
    return Afford(budget, deltas, tuple(tolerances), len(truths.means))


def calibrate(settings: Settings, truths: dict[str, Draws], wanted: float, most: int, run: Run) -> Calibration:
    """The largest delta of the rule's threshold that keeps the wanted error in every scenario."""
    deltas = tuple(wanted * factor for factor in LADDER if wanted * factor < 0.5)
    worst = [(-1.0, "")] * len(deltas)
    for name, draws in truths.items():
        trials = run(settings, deltas, draws, most)
        for d in range(len(deltas)):
            wrong = sum(bool(trial.wrong[d]) for trial in trials)
            # One that has not stopped has given no wrong answer.
            bound = clopper_pearson(wrong, len(trials))[1]
            worst[d] = max(worst[d], (bound, name))
    bounds = tuple((delta, bound, name) for delta, (bound, name) in zip(deltas, worst, strict=True))
    # Chance may have a smaller delta err more often: from the smallest up, as long as all hold.
    best = None
    for delta, bound, _ in reversed(bounds):
        if bound > wanted:
            break
        best = delta
    return Calibration(wanted, best, bounds)
