"""The work of the cells: simulated runs, errors over time, and clocks."""

import time
from collections.abc import Callable

from prepex.problem import Problem
from prepex.reproduce.cell import Row
from prepex.runs import Record
from prepex.sampling import Rule
from prepex.simulation import simulate


def stopping(
    problem: Problem, rule: Rule, deltas: tuple[float, ...], first: int, count: int, seed: int, max_pulls: int
) -> list[Row]:
    """Runs until the stop: one row a run and delta."""
    runs = simulate(
        problem, sampling=rule, deltas=deltas, first_run=first, n_runs=count, seed=seed, max_pulls=max_pulls
    )
    # A rule that samples for one delta has a trajectory for each.
    pace = {(record.run, delta): record for record in runs.records for delta in record.deltas}
    return [
        row
        | {"recommended": " ".join(map(str, row["recommended"]))}
        | {"n_pulls": record.n_pulls, "seconds": record.seconds}
        for row in runs.rows()
        for record in [pace[row["run"], row["delta"]]]
    ]


def wrong_at(
    problem: Problem, rule: Rule, moments: tuple[int, ...], delta: float, first: int, count: int, seed: int
) -> list[Row]:
    """Runs to the last moment: one row a run, with 1 where the current answer was wrong."""
    runs = simulate(
        problem,
        sampling=rule,
        deltas=delta,
        first_run=first,
        n_runs=count,
        seed=seed,
        max_pulls=moments[-1],
        moments=moments,
    )
    return [
        {"rule": record.rule, "run": record.run}
        | {f"at {moment}": int(wrong) for moment, wrong in zip(moments, record.wrong, strict=True)}
        for record in runs.records
    ]


def paced(problem: Problem, rule: Rule, rounds: int, repeats: int, seed: int) -> list[Row]:
    """Processor time a round, in microseconds, of runs of fixed length; after a short one that does not count."""
    _fixed_run(problem, rule, problem.n_arms + 20, seed, 0)
    rows = []
    for repeat in range(repeats):
        record = _fixed_run(problem, rule, problem.n_arms + rounds, seed, repeat)
        rows.append(
            {
                "rule": rule.name,
                "n_arms": problem.n_arms,
                "n_objectives": problem.n_objectives,
                "n_pareto": len(problem.pareto_set),
                "repeat": repeat,
                "rounds": rounds,
                "us_per_round": 1e6 * record.seconds / (record.n_pulls - problem.n_arms),
            }
        )
    return rows


def _fixed_run(problem: Problem, rule: Rule, last: int, seed: int, run: int) -> Record:
    (record,) = simulate(
        problem, sampling=rule, deltas=0.01, first_run=run, n_runs=1, seed=seed, max_pulls=last, moments=(last,)
    ).records
    return record


def clocked(action: Callable[[], object], *, repeats: int, least: float = 0.005) -> list[float]:
    """Processor time of a call in microseconds, `repeats` times; each over calls that last `least` seconds."""
    action()
    began, calls = time.thread_time(), 0
    while time.thread_time() - began < least:
        action()
        calls += 1
    found = []
    for _ in range(repeats):
        began = time.thread_time()
        for _ in range(calls):
            action()
        found.append(1e6 * (time.thread_time() - began) / calls)
    return found
