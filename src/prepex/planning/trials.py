"""Simulated studies from the first pull to the stop, each with a truth of its own, in one process or several.

A study's randomness is that of (seed, its number): the same for every design, and whoever runs it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex._checks import Floats
from prepex._kernels import engine
from prepex._kernels.laws.reward import pay_law
from prepex._kernels.own import play_own
from prepex._kernels.play import play
from prepex.foresight.onward import noise_from, roots_of, stops_at
from prepex.judge import Judge
from prepex.planning.belief import without_noise
from prepex.posterior_draws import Draws
from prepex.problem import Problem
from prepex.run import Setting
from prepex.settings import Settings

PIECE = 2048


class Trial(NamedTuple):
    """One study: pulls at each delta (0: not stopped), whether its answer was wrong, and its counts at the end."""

    pulls: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Job:
    """Studies of one design on some truths."""

    settings: Settings
    setting: Setting
    deltas: tuple[float, ...]
    truths: Draws
    seed: int
    first: int
    most: int


def jobs_of(settings: Settings, deltas: tuple[float, ...], truths: Draws, seed: int, most: int, size: int) -> list[Job]:
    """Parts of at most so many studies."""
    setting = replace(settings, family=without_noise(settings.family)).setting()
    starts = range(0, len(truths.means), size)
    parts = (Draws(*(array[start : start + size] for array in truths)) for start in starts)
    return [Job(settings, setting, deltas, part, seed, start, most) for start, part in zip(starts, parts, strict=True)]


def run_all(jobs: list[Job], n_jobs: int, progress: Callable[[int], None] | None) -> Iterator[list[Trial]]:
    """What came of them, in their order."""
    if n_jobs == 1:
        results: Iterable[Any] = map(run_job, jobs)
    else:
        from joblib import Parallel, delayed

        # The first makes the machine code, once for all.
        kinds = {(type(job.setting.laws), job.setting.rule.name, job.setting.threshold.name): job for job in jobs}
        for job in kinds.values():
            run_job(replace(job, truths=Draws(*(array[:1] for array in job.truths)), most=job.setting.shape[0] + 1))
        results = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(run_job)(job) for job in jobs)
    for found in results:
        if progress is not None:
            progress(len(found))
        yield found


@engine.waiting()
def run_job(job: Job) -> list[Trial]:
    """Its studies, one after the other."""
    return [
        run_one(job, job.first + number, truth, variances)
        for number, (truth, variances) in enumerate(zip(*job.truths, strict=True))
    ]


def run_one(job: Job, number: int, truth: Floats, variances: Floats) -> Trial:
    """One study until every delta is reached, or for the most pulls."""
    own, key = np.random.SeedSequence((job.seed, number)).spawn(2)
    setting = replace(job.setting, key=int(key.generate_state(1, np.uint64)[0]))
    K, L, _ = setting.shape
    roots, draw = roots_of(setting, variances), noise_from(setting, own)
    first = draw(K)
    for k in range(K):
        if setting.laws is None:
            first[k] = truth[k] + roots[k if len(roots) > 1 else 0] @ first[k]
        else:
            pay_law(setting.laws.codes, truth[k], roots[0, k], first[k])
    course = setting.open(first, job.deltas[0])
    stops = stops_at(setting, *job.deltas)
    loop: Any = play_own if setting.rule.stops_itself else play
    scratch = np.zeros(1, np.int64), np.zeros(K, np.int64), np.zeros(L)
    pulls, done, truth = K, False, np.ascontiguousarray(truth)
    # The first look takes no noise, but the loop wants to see a row.
    while not done and pulls < job.most:
        rows = draw(min(PIECE, job.most - pulls))
        done, used = loop(course, truth, roots, rows, stops, *scratch)
        pulls += int(used)
    judge = _judge(job.settings, setting, truth)
    wrong = [time > 0 and not judge.right(answer) for time, answer in zip(stops.time[0], stops.answer[0], strict=True)]
    return Trial(stops.time[0], np.array(wrong), course.near.inst.N.astype(np.int64))


def _judge(settings: Settings, setting: Setting, truth: Floats) -> Judge:
    labels = settings.labels
    problem = Problem(
        setting.units.outer(truth),
        family=without_noise(settings.family),
        cone=settings.cone,
        arms=labels.arms,
        objectives=labels.objectives,
        minimise=labels.minimise,
    )
    return Judge.of(problem, settings.tolerance, settings.limits)
