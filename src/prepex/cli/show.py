"""What the commands print: rich tables for people, JSON for scripts."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from prepex.bound import Bound
from prepex.cli.mixtures import Mixed
from prepex.cli.shared import escape
from prepex.cone import Cone
from prepex.instances import INSTANCES
from prepex.judge import Judge
from prepex.limits import Limits
from prepex.numerals import measured, number, plural
from prepex.problem import Problem
from prepex.runs import Runs, Summary, summarise
from prepex.sampling import RULES
from prepex.stopping import THRESHOLDS
from prepex.tolerance import in_words

NO_FLOOR = "With a tolerance several answers are right: it is no floor."
# Thresholds that need no warning here: a rule's own test has one of its own.
PROVEN = {name for name, kind in THRESHOLDS.items() if kind.proven} | {"own"}
# Wide enough for the tables where there is no terminal to fit.
console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)


def show_json(document: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, indent=2))


def problem_document(problem: Problem, cone: Cone, judge: Judge) -> dict[str, Any]:
    """What the problem is, and its Pareto set under the cone, as the judge, who knows limits, says it is."""
    mask = judge.pareto
    return {
        "n_arms": problem.n_arms,
        "objectives": list(problem.labels.objectives),
        "minimise": list(problem.labels.minimise),
        "cone": {"name": repr(cone), "facets": cone.facets.tolist()},
        "pareto_set": [int(k) for k in mask.nonzero()[0]],
        "pareto_names": [problem.labels.arms[k] for k in mask.nonzero()[0]],
    }


def bound_document(problem: Problem, bound: Bound, deltas: list[float], judge: Judge) -> dict[str, Any]:
    """The lower bound in full."""
    return problem_document(problem, problem.cone, judge) | {
        "family": repr(problem.family),
        "characteristic_time": _finite(bound.time),
        "certified": [_finite(bound.lower), _finite(bound.upper)],
        "gap": bound.gap,
        **_goals(bound, deltas),
        "allocation": dict(zip(problem.labels.arms, bound.allocation.tolist(), strict=True)),
        "binding": [alternative.words for alternative in bound.alternatives],
    }


def _goals(bound: Bound, deltas: Sequence[float]) -> dict[str, Any]:
    """T* at each delta: a floor, or with a tolerance, where several answers are right, only a rate."""
    if bound.lenient:
        return {"rates": [{"delta": delta, "pulls": _finite(-bound.time * math.log(delta))} for delta in deltas]}
    return {"floors": [{"delta": delta, "pulls": _finite(bound.floor(delta))} for delta in deltas]}


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if np.isfinite(value) else None


def show_bound(problem: Problem, bound: Bound, deltas: list[float], judge: Judge, *, limit: int = 8) -> None:
    """The floor above the table, then who should be pulled how often, and against what."""
    _show_pareto_line(problem, judge)
    if not np.isfinite(bound.time):
        console.print("T* is infinite: two arms tie exactly, so no number of pulls separates them.")
        if not bound.lenient:
            console.print("With a --tolerance, differences that do not matter, it is finite.")
    elif bound.time == 0:
        alone = len(problem.labels.arms) == 1
        why = "with a single arm there is nothing to find out" if alone else "no pull is needed to know the answer"
        console.print(f"T* = 0: {why}.")
    else:
        console.print(f"T* = [bold]{bound.time:,.7g}[/] pulls  (certified gap {bound.gap:.1e})")
    title = "rate T* log(1/delta)" if bound.lenient else "floor T* kl(delta, 1-delta)"
    floors = Table("delta", title, box=None, header_style="bold")
    for delta in deltas:
        pulls = -bound.time * math.log(delta) if bound.lenient else bound.floor(delta)
        floors.add_row(f"{delta:g}", f"{pulls:,.0f} pulls")
    console.print(floors)
    if bound.lenient:
        console.print(NO_FLOOR)
    if not np.isfinite(bound.time) or bound.time == 0:
        return
    order = np.argsort(-bound.allocation, kind="stable")
    shares = Table("arm", "", "share", "Pareto", *map(escape, problem.labels.objectives), box=None, header_style="bold")
    shares.columns[2].justify = "right"
    for k in order[:limit]:
        numbers = map(number, problem.means[k])
        star = "yes" if judge.pareto[k] else "" if judge.feasible[k] else "breaks a limit"
        shares.add_row(str(k), escape(problem.labels.arms[k]), f"{bound.allocation[k]:.4f}", star, *numbers)
    console.print("\n[bold]Optimal allocation[/]")
    console.print(shares)
    rest = problem.n_arms - limit
    if rest > 0:
        console.print(f"  and {plural(rest, 'more arm')} with {bound.allocation[order[limit:]].sum():.4f} together")
    console.print("\n[bold]Binding alternatives[/] (equally hard to rule out)")
    for alternative in bound.alternatives[:3]:
        console.print(f"  - {escape(alternative.words)}")
    if len(bound.alternatives) > 3:
        console.print(f"  and {len(bound.alternatives) - 3} more (--format json lists all)")


def show_pareto(
    problem: Problem,
    cones: list[Cone],
    judges: list[Judge],
    limits: Limits | None = None,
    mixed: Sequence[Mixed] | None = None,
) -> None:
    """One column of marks for each cone; only arms in some Pareto set."""
    masks = [judge.pareto for judge in judges]
    signs = [f"{escape(o)} ({'min' if o in problem.labels.minimise else 'max'})" for o in problem.labels.objectives]
    table = Table("arm", "", *signs, *(escape(repr(cone)) for cone in cones), box=None, header_style="bold")
    for k in np.any(masks, axis=0).nonzero()[0]:
        numbers = (number(value, 5) for value in problem.means[k])
        marks = ["yes" if mask[k] else "" for mask in masks]
        for place, found in enumerate(mixed or ()):
            marks[place] += ", unless mixed" if k in found.beaten else ""
        table.add_row(str(k), escape(problem.labels.arms[k]), *numbers, *marks)
    console.print(table)
    among = plural(problem.n_arms, "arm")
    if limits is not None:
        console.print(f"Limits: {escape(', '.join(limits.words))}")
        among = f"the {plural(int(judges[0].feasible.sum()), 'arm')} that meet them"
    for place, (cone, mask) in enumerate(zip(cones, masks, strict=True)):
        n = int(mask.sum())
        verb = "is" if n == 1 else "are"
        stay = ""
        if mixed is not None:
            kept = len(mixed[place].stays)
            stays = "stays" if kept == 1 else "stay"
            stay = f"; {kept} of them {stays} so when options are mixed in shares"
        console.print(f"{escape(repr(cone))}: {n} of {among} {verb} Pareto optimal{stay}")
        for line in () if mixed is None else mixed[place].lines(problem):
            console.print(f"  - {escape(line)}")


def runs_document(runs: Runs, tol: float) -> dict[str, Any]:
    """The summary of a simulation; T* to the relative gap `tol`."""
    bound = runs.bound(tol)
    return problem_document(runs.problem, runs.problem.cone, runs.judge) | {
        "family": repr(runs.problem.family),
        "characteristic_time": _finite(bound.time),
        "certified": [_finite(bound.lower), _finite(bound.upper)],
        **({} if runs.tolerance is None else {"tolerance": list(runs.tolerance)}),
        **({} if runs.limits is None else {"limits": list(runs.limits.words)}),
        **_goals(bound, runs.deltas),
        "summary": [
            {key: _finite(value) if isinstance(value, float) else value for key, value in asdict(cell).items()}
            for cell in runs.summary(tol)
        ],
    }


def show_runs(runs: Runs, tol: float) -> None:
    """The floor above the table, and the error rate beside every mean."""
    _show_pareto_line(runs.problem, runs.judge)
    if runs.limits is not None:
        console.print(f"Limits: {escape(', '.join(runs.limits.words))}")
    digits = max(3, 1 - math.floor(math.log10(tol)))
    time = f"{runs.bound(tol).time:,.{digits}g}"
    if runs.tolerance is None:
        console.print(f"T* = {time}; the floor of any correct algorithm is T* kl(delta, 1-delta)")
    else:
        size = in_words(runs.tolerance, runs.problem.labels.objectives)
        console.print(f"Tolerance: {escape(size)}. An answer is an error if it is not right within it.")
        console.print(f"T* = {time}, the rate: T* log(1/delta). {NO_FLOOR}")
    summaries = runs.summary(tol)
    for delta, threshold in dict.fromkeys((cell.delta, cell.threshold) for cell in summaries):
        cells = [cell for cell in summaries if (cell.delta, cell.threshold) == (delta, threshold)]
        console.print(
            f"\n[bold]delta {delta:g}, threshold {escape(threshold)}[/], {plural(cells[0].n_runs, 'run')}; "
            + (
                f"floor [bold]{runs.floor(delta, tol):,.0f}[/] pulls"
                if runs.tolerance is None
                else f"rate [bold]{runs.rate(delta, tol):,.0f}[/] pulls"
            )
        )
        table = Table("rule", box=None, header_style="bold")
        compared = "/ floor" if runs.tolerance is None else "/ rate"
        for name in ("mean pulls ± s.e.", "median", "errors", "99 % upper", compared, "us/round"):
            table.add_column(name, justify="right", no_wrap=True)
        for cell in cells:
            table.add_row(*_run_row(cell))
        console.print(table)
    below = any(cell.below_floor for cell in summaries)
    if below:
        console.print("[red]*[/] below the floor: no correct algorithm can do this. Look at the errors.")
    if any("no guarantee" in cell.rule for cell in summaries):
        console.print("'paper alternatives' are our reconstruction, for comparison only: there is no guarantee.")
    unproven = sorted({cell.threshold for cell in summaries if _kind(cell.threshold) not in PROVEN})
    if unproven:
        console.print(f"No proof bounds the error of the threshold {escape(', '.join(unproven))}.")
    proven = {kind.title for kind in RULES.values() if kind.proven}
    own = [cell.rule for cell in summaries if cell.threshold == "own"]
    bare = dict.fromkeys(escape(rule) for rule in own if _kind(rule) not in proven)
    if bare:
        console.print(f"No proof bounds the error of the own stopping test of {', '.join(bare)} at a given delta.")


def arrived_lines(runs: Runs) -> list[str]:
    """What the runs of one rule came to, without the floor, which is not known yet."""
    cells: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in runs.rows():
        cells.setdefault((row["threshold"], row["delta"]), []).append(row)
    lines = []
    for (threshold, delta), rows in cells.items():
        rule, mean, _, errors, *_ = _run_row(summarise(rows, floor=math.nan, us_per_round=math.nan))
        lines.append(f"{rule}: {mean} pulls, {errors} errors (threshold {escape(threshold)}, delta {delta:g})")
    return lines


def _kind(name: str) -> str:
    """A rule's or threshold's name without its parameters."""
    return name.partition("(")[0]


def _run_row(cell: Summary) -> tuple[str, ...]:
    finished = cell.n_runs - cell.n_censored
    wrong = round(cell.error_rate * finished) if finished else 0
    # With a tolerance there is no floor to compare with.
    ratio = cell.ratio_to_floor
    if math.isnan(cell.floor) and cell.rate > 0:
        ratio = cell.mean / cell.rate
    return (
        escape(cell.rule),
        measured(cell.mean, cell.standard_error, digits=1) + (" [red]*[/]" if cell.below_floor else ""),
        f"{cell.median:,.0f}",
        f"{wrong}/{finished}" + (f", {cell.n_censored} censored" if cell.n_censored else ""),
        f"{cell.error_upper:.3f}",
        "-" if not np.isfinite(ratio) or cell.n_censored else f"{ratio:.2f}",
        f"{cell.us_per_round:.1f}",
    )


def show_instances() -> None:
    """The catalogue."""
    table = Table("instance", "what", "source", box=None, header_style="bold")
    for entry in INSTANCES.values():
        table.add_row(entry.usage, entry.about, entry.cite)
    console.print(table)


def _show_pareto_line(problem: Problem, judge: Judge) -> None:
    names = [f"{k} {escape(problem.labels.arms[k])}" for k in judge.pareto.nonzero()[0]]
    shown = "; ".join(names[:12]) + (f"; and {len(names) - 12} more" if len(names) > 12 else "")
    setting = escape(f"{problem.family!r}, {problem.cone!r}")
    console.print(f"{plural(problem.n_arms, 'arm')}, {plural(problem.n_objectives, 'objective')}, {setting}")
    among = "" if judge.feasible.all() else f" of the {int(judge.feasible.sum())} that meet the limits"
    console.print(f"Pareto set{among} ({len(names)}): [bold]{shown}[/]")
