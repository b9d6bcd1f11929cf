"""The command line: `prepex run`, `prepex bound`, `prepex pareto`, `prepex instances`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from prepex import __version__
from prepex.cli.family import FAMILY_HELP
from prepex.cli.source import CONE_HELP

app = typer.Typer(
    help="Pareto sets of noisy multi-objective experiments, under your own preference cone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


class Format(StrEnum):
    """How to print."""

    table = "table"
    json = "json"


Source = Annotated[str, typer.Argument(help="An instance (see `prepex instances`) or a CSV file of means.")]
ConeOption = Annotated[str | None, typer.Option("--cone", help=CONE_HELP)]
Variance = Annotated[str | None, typer.Option(help="Noise variance of a CSV file's objectives: one, or one each.")]
FamilyOption = Annotated[
    list[str] | None,
    typer.Option("--family", help="OBJECTIVE=FAMILY for a CSV file: " + FAMILY_HELP + "; may be repeated."),
]
Objective = Annotated[list[str] | None, typer.Option(help="A column of the CSV file to use (default: all numeric).")]
Minimise = Annotated[list[str] | None, typer.Option(help="An objective of the CSV file that is a cost.")]
FormatOption = Annotated[Format, typer.Option("--format", help="Table for people, json for scripts.")]


@contextmanager
def _errors() -> Iterator[None]:
    """Bad input ends with one clear line, not a traceback."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        typer.secho(f"Error: {error}", err=True, fg=typer.colors.RED)
        raise typer.Exit(2) from None


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"prepex {__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Pareto sets of noisy multi-objective experiments, under your own preference cone."""


@app.command()
def bound(
    source: Source,
    cone: ConeOption = None,
    delta: Annotated[list[float] | None, typer.Option(help="A risk; may be repeated. Default 0.1 0.05 0.01.")] = None,
    tol: Annotated[float, typer.Option(help="Relative gap at which to stop.")] = 1e-6,
    variance: Variance = None,
    family: FamilyOption = None,
    objective: Objective = None,
    minimise: Minimise = None,
    format: FormatOption = Format.table,
) -> None:
    """The characteristic time T*, the optimal allocation, and the floor of every correct algorithm."""
    from prepex.bound import binary_kl, characteristic_time
    from prepex.cli import show
    from prepex.cli.source import read_problem

    with _errors():
        deltas = delta or [0.1, 0.05, 0.01]
        for entry in deltas:
            binary_kl(entry)
        problem = read_problem(
            source,
            cone=cone,
            variance=variance,
            families=family or (),
            objectives=objective or (),
            minimise=minimise or (),
        )
        with _working("computing the characteristic time", quiet=format is Format.json):
            found = characteristic_time(problem, tol)
        if format is Format.json:
            show.show_json(show.bound_document(problem, found, deltas))
        else:
            show.show_bound(problem, found, deltas)


@app.command()
def pareto(
    source: Source,
    cone: Annotated[list[str] | None, typer.Option("--cone", help=CONE_HELP + "; may be repeated")] = None,
    objective: Objective = None,
    minimise: Minimise = None,
    plot: Annotated[Path | None, typer.Option(help="Draw two objectives to this png, svg or pdf file.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """The Pareto set of known means, under one cone or several."""
    from prepex.cli import show
    from prepex.cli.source import parse_cone, read_problem

    with _errors():
        problem = read_problem(source, objectives=objective or (), minimise=minimise or (), order_only=True)
        cones = [parse_cone(text, problem.labels.objectives) for text in cone or ["orthant"]]
        if plot is not None:
            from prepex.plot import fronts

            fronts(problem, cones, path=plot)
            typer.echo(f"wrote {plot}", err=True)
        if format is Format.json:
            show.show_json([show.problem_document(problem, order) for order in cones])
        else:
            show.show_pareto(problem, cones)


@app.command()
def run(
    source: Source,
    rule: Annotated[
        list[str] | None,
        typer.Option(help="frappe, information, prets, tns, oracle, uniform, psips, ape or auer; may be repeated."),
    ] = None,
    threshold: Annotated[
        list[str] | None, typer.Option(help="certified, heuristic or kaufmann_koolen; may be repeated.")
    ] = None,
    delta: Annotated[list[float] | None, typer.Option(help="A risk; may be repeated. Default 0.1.")] = None,
    runs: Annotated[int, typer.Option(help="Simulated runs of each rule.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same results, with any number of jobs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    max_pulls: Annotated[int, typer.Option(help="A run that has not stopped by then is censored.")] = 1_000_000,
    batch: Annotated[int, typer.Option(help="Pulls chosen before any of their rewards is seen.")] = 1,
    alternatives: Annotated[
        str, typer.Option(help="complete, or paper: the FraPPE paper's, for reproduction only, no guarantee.")
    ] = "complete",
    cone: ConeOption = None,
    variance: Variance = None,
    family: FamilyOption = None,
    objective: Objective = None,
    minimise: Minimise = None,
    save: Annotated[Path | None, typer.Option(help="Write all runs to this csv, json or parquet file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the stopping times to this png, svg or pdf file.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Simulate sampling rules and thresholds: stopping times, error rates, and the floor."""
    from prepex.cli import show
    from prepex.cli.source import check_outputs, make_rules, read_problem
    from prepex.simulation import simulate

    with _errors():
        problem = read_problem(
            source,
            cone=cone,
            variance=variance,
            families=family or (),
            objectives=objective or (),
            minimise=minimise or (),
        )
        check_outputs(save, plot)
        rules = make_rules(rule or ["information", "frappe", "uniform"], alternatives)
        thresholds = threshold or ["heuristic"]
        with _progress(f"{runs} runs of {len(rules)} rules", quiet=format is Format.json) as (start, advance):
            found = simulate(
                problem,
                sampling=rules,
                threshold=thresholds,
                deltas=delta or [0.1],
                n_runs=runs,
                seed=seed,
                n_jobs=jobs,
                max_pulls=max_pulls,
                batch=batch,
                progress=advance,
                begin=start,
            )
        if save is not None:
            found.save(save)
        if format is Format.json:
            show.show_json(show.runs_document(found))
        else:
            show.show_runs(found)
        if plot is not None:
            from prepex.plot import stopping_times

            stopping_times(found, path=plot)
            typer.echo(f"wrote {plot}", err=True)


@app.command()
def instances(format: FormatOption = Format.table) -> None:
    """The benchmark problems that come with prepex."""
    from prepex.cli import show
    from prepex.instances import INSTANCES

    if format is Format.json:
        show.show_json(
            [{"name": name, "usage": e.usage, "about": e.about, "cite": e.cite} for name, e in INSTANCES.items()]
        )
    else:
        show.show_instances()


@contextmanager
def _progress(what: str, *, quiet: bool) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """A bar with the time left on a terminal, silence elsewhere: (set the total, advance)."""
    if quiet or not sys.stderr.isatty():
        yield (lambda total: None), (lambda finished: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield (lambda total: bar.update(task, total=total)), (lambda finished: bar.advance(task, finished))


@contextmanager
def _working(what: str, *, quiet: bool) -> Iterator[None]:
    """A spinner on a terminal, silence elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
