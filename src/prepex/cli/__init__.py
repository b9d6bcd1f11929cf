"""The command line: `prepex analyse`, `plan`, `race`, `run`, `bound`, `pareto`, `reproduce`, `instances`, `study ...`,
`verify` and `serve`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prepex import __version__
from prepex.cli import analyse, cone, plan, race, study, token
from prepex.cli.shared import AtLeastOption, AtMostOption, Format, FormatOption, LimitOption, ToleranceOption, errors
from prepex.cli.source import CONE_HELP
from prepex.cli.waiting import announce, working
from prepex.errors import InputError
from prepex.extras import need
from prepex.numerals import plural
from prepex.spoken import FAMILY_HELP, full_keys, full_limits, parse_limits, parse_tolerance

if TYPE_CHECKING:
    from prepex.runs import Runs

app = typer.Typer(
    help="Pareto sets of noisy multi-objective experiments, under your own preference cone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(study.app, name="study")
app.command("analyse")(analyse.command)
app.command("race", cls=race.RaceCommand)(race.race)
app.command("cone")(cone.command)
app.command("plan")(plan.plan)
app.command("token")(token.token)
app.command("tokens")(token.tokens)


Source = Annotated[str, typer.Argument(help="An instance (see `prepex instances`) or a CSV file of means.")]
ConeOption = Annotated[str | None, typer.Option("--cone", help=CONE_HELP)]
Variance = Annotated[
    str | None,
    typer.Option(
        help="Noise variance of a CSV file's objectives: a number, or to simulate unknown(2): one, or one each."
    ),
]
FamilyOption = Annotated[
    list[str] | None,
    typer.Option("--family", help="OBJECTIVE=FAMILY for a CSV file: " + FAMILY_HELP + "; may be repeated."),
]
Objective = Annotated[list[str] | None, typer.Option(help="A column of the CSV file to use (default: all numeric).")]
Minimise = Annotated[list[str] | None, typer.Option(help="An objective of the CSV file that is a cost.")]


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
    tolerance: ToleranceOption = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    limit: LimitOption = None,
    format: FormatOption = Format.table,
) -> None:
    """The characteristic time T*, the optimal allocation, and the floor of every correct algorithm."""
    from prepex.bound import binary_kl, characteristic_time
    from prepex.cli import show
    from prepex.cli.source import read_problem
    from prepex.judge import Judge
    from prepex.limits import limits_of

    with errors():
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
        with working("computing the characteristic time", quiet=format is Format.json):
            limits = full_limits(parse_limits(at_most or (), at_least or (), limit or ()), problem.labels.objectives)
            eps = full_keys("tolerance", parse_tolerance(tolerance or ()), problem.labels.objectives)
            found = characteristic_time(problem, tol, tolerance=eps, **limits)
        judge = Judge.of(problem, limits=limits_of(problem.labels, **limits, family=problem.family))
        if format is Format.json:
            show.show_json(show.bound_document(problem, found, deltas, judge))
        else:
            show.show_bound(problem, found, deltas, judge)


@app.command()
def pareto(
    source: Source,
    cone: Annotated[list[str] | None, typer.Option("--cone", help=CONE_HELP + "; may be repeated")] = None,
    objective: Objective = None,
    minimise: Minimise = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    limit: LimitOption = None,
    mixtures: Annotated[
        bool, typer.Option("--mixtures", help="Also: which stay optimal when options may be mixed in shares.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw two objectives to this png, svg or pdf file.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """The Pareto set of known means, under one cone or several; with limits, of the options that meet them."""
    from prepex.cli import show
    from prepex.cli.mixtures import find_mixed
    from prepex.cli.source import parse_cone, read_problem
    from prepex.judge import Judge
    from prepex.limits import limits_of

    with errors():
        problem = read_problem(source, objectives=objective or (), minimise=minimise or (), order_only=True)
        cones = [parse_cone(text, problem.labels.objectives) for text in cone or ["orthant"]]
        given = full_limits(parse_limits(at_most or (), at_least or (), limit or ()), problem.labels.objectives)
        limits = limits_of(problem.labels, **given, family=problem.family)
        judges = [Judge.of(problem.with_cone(order), limits=limits) for order in cones]
        pairs = list(zip(cones, judges, strict=True))
        mixed = [find_mixed(problem, order, judge) for order, judge in pairs] if mixtures else None
        if plot is not None:
            from prepex.plot import fronts

            fronts(problem, cones, **given, path=plot)
            typer.echo(f"wrote {plot}", err=True)
        if format is Format.json:
            documents = [show.problem_document(problem, order, judge) for order, judge in pairs]
            for entry, found in zip(documents, mixed or (), strict=mixtures):
                entry["mixtures"] = found.document(problem)
            show.show_json(documents)
        else:
            show.show_pareto(problem, cones, judges, limits, mixed)


@app.command()
def run(
    source: Source,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help="frappe, information, prets, tns, oracle, uniform, psips, ape or auer; may be repeated. "
            "By default information, frappe and uniform."
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            help="certified, posterior, heuristic (default; a study's is certified), kaufmann_koolen; may be repeated."
        ),
    ] = None,
    delta: Annotated[
        list[float] | None, typer.Option(help="A risk; may be repeated. Default 0.1 (a study's is 0.05).")
    ] = None,
    runs: Annotated[int, typer.Option(help="Simulated runs of each rule.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same results, with any number of jobs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    max_pulls: Annotated[int, typer.Option(help="A run that has not stopped by then is censored.")] = 1_000_000,
    batch: Annotated[int, typer.Option(help="Pulls chosen before any of their rewards is seen.")] = 1,
    tol: Annotated[
        float, typer.Option(help="Relative gap of T*, whose lower end makes the floor; with many arms 0.01 is quicker.")
    ] = 1e-4,
    alternatives: Annotated[
        str, typer.Option(help="complete, or paper: the FraPPE paper's as we read them, no guarantee.")
    ] = "complete",
    cone: ConeOption = None,
    variance: Variance = None,
    family: FamilyOption = None,
    objective: Objective = None,
    minimise: Minimise = None,
    tolerance: ToleranceOption = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    limit: LimitOption = None,
    avoid_infeasible: Annotated[
        bool, typer.Option("--avoid-infeasible", help="As in a study; for the certified threshold, and slower.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Write all runs to this csv, json or parquet file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the stopping times to this png, svg or pdf file.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Simulate sampling rules and thresholds: stopping times, error rates, and the floor."""
    from prepex.bound import check_tol
    from prepex.cli import show
    from prepex.cli.source import check_outputs, make_rules, read_problem
    from prepex.simulation import simulate

    with errors():
        problem = read_problem(
            source,
            cone=cone,
            variance=variance,
            families=family or (),
            objectives=objective or (),
            minimise=minimise or (),
        )
        check_outputs(save, plot)
        check_tol(tol)
        rules = make_rules(rule or ["information", "frappe", "uniform"], alternatives)
        thresholds = threshold or ["heuristic"]
        names = problem.labels.objectives
        title = f"{plural(runs, 'run')} of {plural(len(rules), 'rule')}"
        with _progress(title, several=len(rules) > 1, quiet=format is Format.json) as watched:
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
                tolerance=full_keys("tolerance", parse_tolerance(tolerance or ()), names),
                **full_limits(parse_limits(at_most or (), at_least or (), limit or ()), names),
                avoid_infeasible=avoid_infeasible,
                **watched,
            )
        if save is not None:
            found.save(save)
        # After the runs, which do not need it: with many arms it takes longer than they do.
        with working("computing the floor", quiet=format is Format.json):
            found.bound(tol)
        if format is Format.json:
            show.show_json(show.runs_document(found, tol))
        else:
            show.show_runs(found, tol)
            if not threshold and not delta:
                typer.echo("A study is stricter by default. To simulate one: --threshold certified --delta 0.05")
        if plot is not None:
            from prepex.plot import stopping_times

            stopping_times(found, path=plot, tol=tol)
            typer.echo(f"wrote {plot}", err=True)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="all, or some of: fronts polar covboost error correlation arms objectives table prets."),
    ] = None,
    size: Annotated[
        str, typer.Option(help="small (minutes), default (a quarter of an hour) or paper (hours).")
    ] = "default",
    jobs: Annotated[int, typer.Option(help="Processes; -1: one for each core.")] = -1,
    out: Annotated[Path | None, typer.Option(help="Folder of the results; default reproduction-SIZE.")] = None,
    seed: Annotated[
        int, typer.Option(help="The same seed gives the same stopping times, with any number of jobs.")
    ] = 0,
    force: Annotated[bool, typer.Option("--force", help="Forget another run's results in the folder.")] = False,
    backend: Annotated[str, typer.Option(help="loky: processes here; dask: a cluster.")] = "loky",
    scheduler: Annotated[str | None, typer.Option(help="Address of the Dask scheduler, tcp://host:8786.")] = None,
) -> None:
    """The figures and the table of the FraPPE paper, with a report. Ctrl-C, and the same command, continue it."""
    from prepex.cli.watch import Watch
    from prepex.reproduce import reproduce as work

    folder = out or Path(f"reproduction-{size}")
    watch = Watch()
    with errors():
        try:
            with watch:
                report = work(
                    *(names or ()),
                    size=size,
                    out=folder,
                    seed=seed,
                    n_jobs=jobs,
                    force=force,
                    backend=backend,
                    scheduler=scheduler,
                    begin=watch.begin,
                    done=watch.done,
                )
        except KeyboardInterrupt:
            typer.echo(f"\nStopped: {watch.progress}. The same command continues.", err=True)
            raise typer.Exit(130) from None
    typer.echo(f"wrote {report}")


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


@app.command()
def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate that `prepex study certificate` wrote.")],
    log: Annotated[Path | None, typer.Option(help="The exported log: recompute everything from the outcomes.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Check a certificate with an independent implementation. Exit status 1: something is wrong; 2: no certificate."""
    import json

    from prepex.study.check import check
    from prepex.study.check_read import LONGEST

    with errors():
        with _given("certificate", certificate).open("rb") as file:
            text = file.read(LONGEST + 1)
        if b"prepex certificate" not in text:
            kind = "the log of a study: give it by --log" if b'"prepex study' in text else "a file of another kind"
            raise InputError(f"certificate must be what `prepex study certificate` wrote, got {kind}")
        # ASCII; whatever else there is has the wrong hash.
        lines = None
        if log is not None:
            lines = _given("log", log).read_bytes().decode("latin-1").splitlines(keepends=True)
        result = check(text, lines)
    if format is Format.json:
        typer.echo(json.dumps({"ok": result.ok, "problems": result.problems, "notes": result.notes}, indent=2))
    else:
        for line in result.notes:
            typer.echo(line)
        for line in result.problems:
            typer.secho(f"Problem: {line}", err=True, fg=typer.colors.RED)
        words = {
            "certified": "",
            "posterior": ", and its error is bounded on average over the prior, not for each truth",
            "heuristic": ", but its study stopped by a threshold without proof: it certifies no answer",
        }
        stopped = words.get(result.status, f", but its study is {result.status}: it certifies no answer")
        right = "fits itself (give its log to check the outcomes)" if lines is None else "is right"
        typer.echo(f"the certificate {right}{stopped}" if result.ok else "the certificate is NOT right")
    raise typer.Exit(0 if result.ok else 1)


def _given(name: str, path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"{name} must be a file, got {'a folder' if path.is_dir() else 'none'}: {str(path)!r}")
    return path


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on; beyond this machine only with --keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=1, max=65535)] = 8000,
    keys: Annotated[Path | None, typer.Option(help="A file of bearer tokens that `prepex token` wrote.")] = None,
    storage: study.Place = study.DEFAULT,
) -> None:
    """Serve the studies of a storage: an HTTP interface and a dashboard."""
    with errors():
        # The one that has the others in it.
        need("server", "the server needs", "sqlalchemy", "alembic", "fastapi", "uvicorn", "plotly")
        from prepex.server.access import Keys
        from prepex.server.app import serve as run_server

        run_server(storage, host=host, port=port, keys=None if keys is None else Keys(keys))


@contextmanager
def _progress(what: str, *, several: bool, quiet: bool) -> Iterator[dict[str, Any]]:
    """What `simulate` is watched by: a bar with the time left on a terminal, silence elsewhere.

    Who has to wait for a compiler sees what each of several rules came to as soon as it is there.
    """
    from rich.console import Console

    from prepex._kernels import engine
    from prepex.cli import show

    def arrived(runs: "Runs") -> None:
        if several and engine.here.told and not quiet:
            for line in show.arrived_lines(runs):
                console.print(line, soft_wrap=True)

    console = Console(stderr=True, highlight=False)
    if quiet or not sys.stderr.isatty():
        announce(lambda text: typer.echo(text, err=True))
        yield {"arrived": arrived}
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        announce(console.print)
        task = bar.add_task(what, total=None)
        yield {
            "begin": lambda total: bar.update(task, total=total),
            "progress": lambda finished: bar.advance(task, finished),
            "arrived": arrived,
        }
