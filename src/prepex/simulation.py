"""Many seeded runs of (problem, rule, thresholds, deltas).

A run is one compiled loop over noise drawn in advance; one trajectory serves all deltas, and all thresholds that the
rule's sampling does not follow. Run r of a rule has its own SeedSequence (seed, r), so results do not depend on
the number of workers, nor on which rules or deltas are asked for.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from prepex import _checks
from prepex._checks import Floats
from prepex._kernels import engine
from prepex._kernels.course import Course
from prepex._kernels.laws.reward import pay_law
from prepex._kernels.ledger import standing
from prepex._kernels.own import play_own
from prepex._kernels.play import MANY, PYTHON, Stops, play
from prepex.bound import characteristic_time
from prepex.errors import InputError
from prepex.family import Family, draw_noise
from prepex.judge import Judge
from prepex.limits import Limit, Sides, limits_of
from prepex.problem import Problem
from prepex.run import Setting
from prepex.runs import Record, Runs
from prepex.sampling import Oracle, Rule
from prepex.settings import hastened, require_avoidable
from prepex.standing import Standing
from prepex.stopping import Certified, Own, Posterior, Threshold, as_threshold
from prepex.tolerance import Tolerance, as_given, check_tolerance

CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Job:
    """One trajectory: its setting, the thresholds it serves, and how long it may take."""

    setting: Setting
    truth: Floats
    thresholds: tuple[Threshold, ...]
    deltas: tuple[float, ...]
    moments: tuple[int, ...]
    batch: int
    max_pulls: int
    seed: tuple[int, ...]
    run: int
    rule: str
    judge: Judge
    family: Family
    avoid: bool


def simulate(
    problem: Problem,
    *,
    sampling: Rule | Sequence[Rule],
    threshold: Any = "heuristic",
    deltas: float | Sequence[float] = 0.1,
    n_runs: int = 100,
    first_run: int = 0,
    seed: int = 0,
    n_jobs: int = 1,
    max_pulls: int = 1_000_000,
    moments: Iterable[int] = (),
    batch: int = 1,
    tolerance: Tolerance = None,
    at_most: Sides = None,
    at_least: Sides = None,
    limits: Iterable[Limit] = (),
    avoid_infeasible: bool = False,
    progress: Callable[[int], None] | None = None,
    begin: Callable[[int], None] | None = None,
    arrived: Callable[[Runs], None] | None = None,
) -> Runs:
    """Simulate and collect stopping times and answers.

    sampling    one rule or several; `Oracle()` is told the optimal allocation
    threshold   one or several: names, thresholds, or functions of (counts, delta) (slow: checked in Python), each
                with a name of its own; PSIPS, APE and Auer stop by their own test, "own", whatever is given
    moments     times at which the current answer is compared with the truth, for error curves; a run goes on
                at least to the last of them
    first_run   runs first_run, first_run + 1, ... of the seed: a simulation may be cut into parts
    n_jobs      processes; inside `prepex.cluster.dask` or `joblib.parallel_config`, workers of that backend
    batch       pulls that are chosen before any of their rewards is seen
    tolerance   differences that do not matter, as in Experiment: an answer is wrong if it is not right within it
    at_most, at_least, limits   what an option must satisfy, as in Experiment
    avoid_infeasible   as in Experiment, for the certified threshold; slow: looked at in Python before every pull
    progress    called with the number of runs just finished; `begin`, once, with the number to come; `arrived`, with
                the runs of a rule and its thresholds as soon as they are done

    >>> from prepex.instances import correlated
    >>> from prepex.sampling import InformationDirected
    >>> runs = simulate(correlated(0.0), sampling=InformationDirected(), deltas=0.1, n_runs=5, seed=1)
    >>> [row["stopped"] for row in runs.rows()]
    [True, True, True, True, True]
    """
    _checks.instance("problem", problem, Problem)
    rules = _checks.listed("sampling", [sampling] if isinstance(sampling, Rule) else sampling, "rules")
    rules = tuple(_checks.instance("sampling", rule, Rule).ordered(problem.labels.arms) for rule in rules)
    several = isinstance(threshold, list | tuple)
    thresholds = _checks.listed("threshold", [as_threshold(t) for t in (threshold if several else [threshold])], "")
    for name, entries in (("sampling", rules), ("threshold", thresholds)):
        _check_names(name, [entry.name for entry in entries])
    without = [rule.name for rule in rules if not rule.stops_itself]
    if without and any(isinstance(t, Own) for t in thresholds):
        raise InputError(f"threshold must not be 'own' for a rule without a test of its own, got {', '.join(without)}")
    risks = _checks.listed(
        "deltas",
        [_checks.number("deltas", d, low=0.0, high=1.0) for d in np.atleast_1d(np.asarray(deltas, dtype=object))],
        "risks",
    )
    for rule in rules:
        rule.check_delta("deltas", min(risks))
    times = tuple(sorted(_checks.whole("moments", m, low=problem.n_arms) for m in moments))
    if times and times[-1] > max_pulls:
        raise InputError(f"moments must be at most {max_pulls} = max_pulls, got {times[-1]}")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs must be a number of processes, or -1 for all cores, got {n_jobs!r}")
    _checks.whole("n_runs", n_runs, low=1)
    _checks.whole("first_run", first_run, low=0)
    _checks.seed(seed)
    _checks.whole("max_pulls", max_pulls, low=problem.n_arms)
    if _checks.whole("batch", batch, low=1) > max_pulls:
        raise InputError(f"batch must be at most {max_pulls} = max_pulls, got {batch}")
    laws = problem.family.laws(*problem.means.shape)
    if laws is not None and laws.unknown and laws.noise is None:
        raise InputError(
            "noise must be given to simulate an unknown variance: Gaussian(variance='unknown', noise=...), "
            f"LogNormal(noise=...), got {problem.family!r}"
        )
    eps = check_tolerance(tolerance, problem.cone, problem.labels, problem.units)
    bounds = limits_of(problem.labels, at_most=at_most, at_least=at_least, limits=limits, family=problem.family)
    judge = Judge.of(problem, eps, bounds)
    if _checks.instance("avoid_infeasible", avoid_infeasible, bool):
        for threshold in thresholds:
            require_avoidable(bounds, threshold)
        thresholds = tuple(hastened(threshold, True) for threshold in thresholds)
    jobs: list[Job] = []
    for rule in rules:
        name = rule.name
        if isinstance(rule, Oracle) and rule.allocation is None:
            every = () if bounds is None else bounds.given
            best = characteristic_time(problem, tolerance=eps, limits=every).allocation
            rule = replace(rule, allocation=tuple(best.tolist()))
        # Which options are left alone depends on the threshold and on delta: a trajectory serves one of each.
        groups = [(threshold,) for threshold in thresholds] if avoid_infeasible else _groups(rule, thresholds)
        apart = rule.samples_for_delta or avoid_infeasible
        for group, served in product(groups, [(d,) for d in risks] if apart else [risks]):
            for run in range(first_run, first_run + n_runs):
                key = int(np.random.SeedSequence((seed, run, 1)).generate_state(1, np.uint64)[0])
                setting = Setting.make(problem.family, problem.cone, problem.labels, rule, group[0], key, eps, bounds)
                truth = np.array(problem.inner_means)
                size = batch, max_pulls, (seed, run, 0), run
                jobs.append(
                    Job(setting, truth, group, served, times, *size, name, judge, problem.family, avoid_infeasible)
                )
    if begin:
        begin(len(jobs))
    said = None if eps is None else as_given(eps, problem.units)
    records: list[Record] = []
    for record in _parallel(jobs, n_jobs, progress):
        records.append(record)
        # Records come in the order of their jobs, the runs of one kind together.
        if arrived and len(records) % n_runs == 0:
            arrived(Runs(problem, record.deltas, tuple(records[-n_runs:]), said, bounds))
    return Runs(problem, risks, tuple(records), said, bounds)


def _check_names(name: str, called: list[str]) -> None:
    """Rows are told apart by names: two alike would be pooled."""
    twice = next((entry for index, entry in enumerate(called) if entry in called[:index]), None)
    if twice is not None:
        way = "; give functions names: UserThreshold(function, name=...)" if twice.startswith("user") else ""
        raise InputError(f"{name} must have different names, got {twice!r} twice{way}")


def _groups(rule: Rule, thresholds: tuple[Threshold, ...]) -> list[tuple[Threshold, ...]]:
    """Thresholds that one trajectory serves: all, unless the sampling follows the certified margin for one only."""
    if rule.stops_itself:
        return [(Own(),)]
    certified = tuple(t for t in thresholds if isinstance(t, Certified))
    # A prior is part of a course: each has one of its own.
    believed = [(t,) for t in thresholds if isinstance(t, Posterior)]
    others = tuple(t for t in thresholds if not isinstance(t, Certified | Posterior))
    if rule.follows_margin(True) != rule.follows_margin(False):
        return [group for group in (*((t,) for t in certified), others, *believed) if group]
    # The certified one first: its presence in the setting is what makes the margin be computed.
    return [group for group in (certified[:1] + others, *((t,) for t in certified[1:]), *believed) if group]


def _parallel(jobs: list[Job], n_jobs: int, progress: Callable[[int], None] | None) -> Iterable[Record]:
    # One run of each kind tells what is to be compiled, before any worker needs it.
    kinds: dict[tuple[str, ...], Job] = {}
    for job in jobs:
        kinds.setdefault(_kind(job), job)
    calls = ((_loop(job), _first_call(job)) for job in kinds.values())
    if n_jobs == 1:
        # The first rule runs as soon as it can, while what the others need is being compiled.
        with closing(engine.in_turn(calls)) as turns:
            for job in jobs:
                if job is kinds[_kind(job)]:
                    next(turns)
                yield one_run(job)
                if progress:
                    progress(1)
        return
    engine.prepare(calls)
    from joblib import Parallel, delayed

    # Small tasks travel together; the result does not depend on how.
    size = max(1, min(25, len(jobs) // (8 * max(n_jobs, 1)) or 1))
    parts = [jobs[start : start + size] for start in range(0, len(jobs), size)]
    for records in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_several)(part) for part in parts):
        yield from records
        if progress:
            progress(len(records))


def _kind(job: Job) -> tuple[str, ...]:
    """Jobs alike in this need the same machine code."""
    return job.setting.rule.name, *(threshold.name for threshold in job.thresholds)


def _several(jobs: list[Job]) -> list[Record]:
    return [one_run(job) for job in jobs]


def _loop(job: Job) -> Callable[..., Any]:
    return play_own if job.setting.rule.stops_itself else play


def _first_call(job: Job) -> tuple[Any, ...]:
    """What the loop is called with: a course after one pull of each arm, and no noise yet."""
    setting, truth = job.setting, job.truth
    K, L = truth.shape
    roots, _ = noise_of(setting, np.random.default_rng(0))
    course = setting.open(truth, job.deltas[0])
    scratch = np.zeros(job.batch, np.int64), np.zeros(K, np.int64), np.zeros(L)
    return course, truth, roots, np.empty((0, L)), _stops(job), *scratch


@engine.waiting()
def one_run(job: Job) -> Record:
    """One trajectory until every threshold is crossed at every delta, or `max_pulls`."""
    setting, truth = job.setting, job.truth
    K, L = truth.shape
    rng = np.random.default_rng(np.random.SeedSequence(job.seed))
    roots, draw = noise_of(setting, rng)
    first = draw(K)
    for k in range(K):
        pay_first(setting, truth, roots, k, first[k])
    course = setting.open(first, job.deltas[0])
    loop = _loop(job)
    stops = _stops(job)
    user = not all(threshold.compiled for threshold in job.thresholds)
    arms, pending, shift = np.zeros(job.batch, np.int64), np.zeros(K, np.int64), np.zeros(L)
    # Of this thread's own processor time: what else the machine does is not the rule's cost.
    pulls, seconds, done = K, 0.0, False
    noise = np.empty((0, L))
    # No row of noise, no pull: but the kernel is compiled or loaded now, and not on the clock.
    loop(course, truth, roots, noise, stops, arms, pending, shift)
    while not done and pulls + job.batch <= job.max_pulls:
        if len(noise) < job.batch:
            noise = np.concatenate([noise, draw(max(CHUNK, job.batch))])
        room = job.batch if user or job.avoid else min(len(noise), job.max_pulls - pulls)
        if job.avoid:
            pending[:] = 0
            pending[list(Standing(setting, course, job.family, job.deltas[0]).avoided())] = MANY
        began = time.thread_time()
        done, used = loop(course, truth, roots, noise[:room], stops, arms, pending, shift)
        seconds += time.thread_time() - began
        pulls += int(used)
        noise = noise[used:]
        if user:
            done = _watch_user(job, course, stops) and done
    return Record(
        rule=job.rule,
        thresholds=tuple(t.name for t in job.thresholds),
        deltas=job.deltas,
        run=job.run,
        time=stops.time,
        answer=stops.answer,
        wrong=np.array([not job.judge.right(answer) for answer in stops.then], dtype=np.bool_),
        moments=job.moments,
        n_pulls=pulls,
        seconds=seconds,
    )


def noise_of(setting: Setting, rng: np.random.Generator) -> tuple[Floats, Callable[[int], Floats]]:
    """What turns noise into rewards, and noise: so many rows (n, L)."""
    K, L, _ = setting.shape
    if setting.laws is None:
        # With the signs, an objective has the same noise whether it is minimised or its negative maximised.
        roots: Floats = np.linalg.cholesky(setting.covariances).astype(np.float64) * setting.labels.signs
        return roots, lambda rows: rng.standard_normal((rows, L))
    laws = setting.laws
    deviations = np.ascontiguousarray(np.broadcast_to(laws.deviations, (K, L)))[None]
    return deviations, lambda rows: draw_noise(laws, rng, rows)


def pay_first(setting: Setting, truth: Floats, roots: Floats, k: int, reward: Floats) -> None:
    """Noise becomes a reward of arm k, in place."""
    if setting.laws is None:
        reward[:] = truth[k] + roots[k if len(roots) > 1 else 0] @ reward
    else:
        pay_law(setting.laws.codes, truth[k], roots[0, k], reward)


def _stops(job: Job) -> Stops:
    K, D, T = len(job.truth), len(job.deltas), len(job.thresholds)
    level = np.array(
        [[t.level(d, job.setting.shape) if t.compiled else np.inf for d in job.deltas] for t in job.thresholds]
    )
    return Stops(
        code=np.array([t.code if t.compiled else PYTHON for t in job.thresholds], dtype=np.int64),
        level=level,
        time=np.zeros((T, D), dtype=np.int64),
        answer=np.zeros((T, D, K), dtype=np.bool_),
        moment=np.array(job.moments, dtype=np.int64),
        then=np.zeros((len(job.moments), K), dtype=np.bool_),
    )


def _watch_user(job: Job, course: Course, stops: Stops) -> bool:
    """The thresholds that the kernels do not know, after every batch."""
    inst = course.near.inst
    for i, threshold in enumerate(job.thresholds):
        if not threshold.compiled:
            for d, delta in enumerate(job.deltas):
                needed = threshold.at(inst.N.copy(), delta, job.setting.shape)
                if stops.time[i, d] == 0 and standing(course.near) >= needed:
                    stops.time[i, d] = course.whole[0]
                    stops.answer[i, d] = inst.mask
    return bool(np.all(stops.time > 0))
