"""`prepex plan`: how many trials a study will take, before it starts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prepex.cli.shared import (
    AtLeastOption,
    AtMostOption,
    Format,
    FormatOption,
    LimitOption,
    ToleranceOption,
    errors,
    escape,
)
from prepex.cli.source import CONE_HELP
from prepex.errors import InputError
from prepex.spoken import FAMILY_HELP, full_keys, full_limits, parse_limits, parse_tolerance
from prepex.unit_names import in_full

if TYPE_CHECKING:
    from prepex.planning.plan import Plan

WHAT_IF_HELP = (
    "delta=0.1, tolerance=strength=1, noise=2 (times the variance), threshold=heuristic or cone=angle:110; may be "
    "repeated; none: nothing"
)


def plan(
    guess: Annotated[
        Path | None,
        typer.Argument(
            help='A CSV file: the first column names the options, the others are guessed means ("X sd": how uncertain).'
        ),
    ] = None,
    pilot: Annotated[
        str | None, typer.Option(help="In place of a guess: a study of the storage, with outcomes.")
    ] = None,
    uncertainty: Annotated[
        list[str] | None,
        typer.Option(help="OBJECTIVE=SIZE, a standard deviation of the guess, or a share as in 10%; or one for all."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Trials that there are: which delta or tolerance is affordable?")
    ] = None,
    what_if: Annotated[list[str] | None, typer.Option(help=WHAT_IF_HELP)] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(help="guess, near-tie, 'no difference', worst; may be repeated. Default: all.")
    ] = None,
    calibrate: Annotated[
        float | None, typer.Option(help="An error: find the delta of the threshold that keeps it in all scenarios.")
    ] = None,
    objective: Annotated[
        list[str] | None, typer.Option(help="A column of the guess to use (default: all numeric).")
    ] = None,
    minimise: Annotated[list[str] | None, typer.Option(help="An objective that is a cost; may be repeated.")] = None,
    variance: Annotated[
        str | None,
        typer.Option(help="Noise variance: a number, or unknown(4) if the study must estimate it; one each."),
    ] = None,
    family: Annotated[list[str] | None, typer.Option(help=f"OBJECTIVE=FAMILY, one of {FAMILY_HELP}.")] = None,
    cone: Annotated[str | None, typer.Option("--cone", help=CONE_HELP)] = None,
    tolerance: ToleranceOption = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    limit: LimitOption = None,
    delta: Annotated[float | None, typer.Option(help="The risk of a wrong answer; 0.05, or the pilot's.")] = None,
    rule: Annotated[str | None, typer.Option(help="frappe, information, prets, tns or uniform.")] = None,
    threshold: Annotated[str | None, typer.Option(help="certified, heuristic or kaufmann_koolen.")] = None,
    max_pulls: Annotated[int | None, typer.Option(help="The study's own budget; see --budget.")] = None,
    name: Annotated[str, typer.Option(help="Of the study, for the command at the end.")] = "NAME",
    runs: Annotated[int, typer.Option(help="Simulated studies of the guess; a quarter for what-ifs.")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed gives the same plan, with any number of jobs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1: one for each core.")] = -1,
    report: Annotated[Path | None, typer.Option(help="Write one self-contained HTML file.")] = None,
    storage: Annotated[str, typer.Option(envvar="PREPEX_STORAGE", help="Of the pilot.")] = "prepex.db",
    format: FormatOption = Format.table,
) -> None:
    """How many trials will a study take? From a guess of the means, or a pilot: trials, errors, what-ifs, budgets."""
    with errors():
        from prepex.cli.waiting import progress
        from prepex.planning.plan import plan as make_plan

        source, names, more = _source(guess, pilot, storage, objective, variance, family, cone)
        options: dict[str, Any] = {
            "delta": delta,
            "threshold": threshold,
            "max_pulls": max_pulls,
            "tolerance": full_keys("tolerance", parse_tolerance(tolerance or ()), names),
            "minimise": tuple(in_full(name, names) for name in minimise) if minimise else None,
        }
        limits = full_limits(parse_limits(at_most or (), at_least or (), limit or ()), names)
        options |= {key: value for key, value in limits.items() if value}
        options = {key: value for key, value in (options | more).items() if value is not None}
        if rule is not None:
            from prepex.cli.source import make_rules

            options["sampling"] = make_rules([rule], "complete")[0]
        if report is not None and not report.parent.is_dir():
            raise InputError(f"report must be in a folder that exists, got {str(report)!r}")
        with progress("simulated studies", quiet=format is Format.json) as (start, advance):
            found = make_plan(
                source,
                uncertainty=full_keys("uncertainty", _uncertainty(uncertainty), names),
                budget=budget,
                scenarios=scenario,
                what_if=_what_ifs(what_if, names),
                calibrate_to=calibrate,
                objectives=None if pilot else names,
                n_runs=runs,
                seed=seed,
                n_jobs=jobs,
                begin=start,
                progress=advance,
                **options,
            )
        show(found, name, as_json=format is Format.json)
        if report is not None:
            found.report(report, name=name)
            typer.echo(f"wrote {report}", err=True)


def _source(
    guess: Path | None,
    pilot: str | None,
    storage: str,
    objectives: Sequence[str] | None,
    variance: str | None,
    families: Sequence[str] | None,
    cone: str | None,
) -> tuple[Any, tuple[str, ...], dict[str, Any]]:
    """Where the guess comes from, its objectives, and the options that need them."""
    from prepex.cli.source import parse_cone
    from prepex.spoken import choose_family, parse_variances

    if (guess is None) == (pilot is None):
        raise InputError(f"a plan needs a guess (a CSV file) or --pilot, got {'neither' if guess is None else 'both'}")
    header: Sequence[str] = ()
    if pilot is not None:
        from prepex.study.study import Study

        source: Any = Study.open(storage, pilot).experiment_now()
        names = source.labels.objectives
        header = [""] * len(names)
    else:
        from prepex.instances import read_table

        table = read_table(Path(str(guess)))
        known = dict(zip(table.objectives, table.families, strict=True))
        chosen = [in_full(name, table.objectives) for name in objectives or ()]
        names = tuple(chosen or [name for name in table.objectives if not name.endswith(" sd")])
        source, header = guess, [known.get(name, "") for name in names]
    more: dict[str, Any] = {}
    numbers = parse_variances(variance) if variance else None
    if pilot is None or variance or families:
        more["family"] = choose_family(names, header, families or (), numbers)
        if more["family"] is None:
            raise InputError("variance must be given with --variance, or families with --family, got neither")
    if cone:
        more["cone"] = parse_cone(cone, names)
    return source, names, more


def _uncertainty(given: Sequence[str] | None) -> Any:
    """As a tolerance is written."""
    try:
        return parse_tolerance(given or ())
    except InputError as error:
        raise InputError(str(error).replace("tolerance", "uncertainty", 1)) from None


def _what_ifs(given: Sequence[str] | None, objectives: Sequence[str]) -> dict[str, list[Any]] | None:
    """What --what-if says; None: the usual ones."""
    from prepex.cli.source import parse_cone
    from prepex.tables import plain_number

    if given is None:
        return None
    found: dict[str, list[Any]] = {}
    for option in given:
        if option.strip() == "none":
            continue
        what, equals, text = (part.strip() for part in option.partition("="))
        if not equals or not text:
            raise InputError(f"what_if must read WHAT=VALUE, as in {WHAT_IF_HELP}, got {option!r}")
        value: Any = text
        if what in ("delta", "noise"):
            value = plain_number(text)
            if value is None:
                raise InputError(f"what_if of {what} must be a number, got {option!r}")
        elif what == "tolerance":
            sizes = parse_tolerance([part for part in text.split(";") if part.strip()])
            value = full_keys("tolerance", sizes, objectives)
        elif what == "cone":
            value = parse_cone(text, objectives)
        found.setdefault(what, []).append(value)
    return found


def show(found: "Plan", name: str, *, as_json: bool) -> None:
    """The short form, the table, what the budget affords, and the command."""
    from rich.table import Table

    from prepex.cli.show import console, show_json
    from prepex.foresight.forecast import percent
    from prepex.planning.report import afford_words, calibration_words, error_words, pulls, wrong

    command = found.command(name)
    if as_json:
        rows = [
            row.document | {"by_arm": dict(zip(found.settings.labels.arms, row.by_arm, strict=True))}
            for row in found.rows
        ]
        affordable = found.afford and {"delta": found.afford.delta, "tolerance": found.afford.tolerance}
        calibrated = found.calibration and {"wanted": found.calibration.wanted, "delta": found.calibration.delta}
        show_json(
            {"words": found.words, "rows": rows, "afford": affordable, "calibration": calibrated, "command": command}
        )
        return
    console.print(escape(found.words), soft_wrap=True)
    table = Table(box=None, header_style="bold")
    chance = ["within budget"] if found.budget is not None else []
    for column in ("design", "scenario", "median", "9 of 10 within", "wrong", "99 % bound", *chance):
        table.add_column(column, justify="left" if column in ("design", "scenario") else "right")
    for row in found.rows:
        numbers = [pulls(row, row.median), pulls(row, row.q90), wrong(row), percent(row.error_upper)]
        numbers += [] if row.chance is None else [percent(row.chance)]
        table.add_row(escape(row.design), escape(row.scenario), *numbers)
    console.print(table)
    busiest = sorted(zip(found.row.by_arm, found.settings.labels.arms, strict=True), reverse=True)[:10]
    console.print(
        escape("Trials by option, on average: " + ", ".join(f"{arm} {n:,.0f}" for n, arm in busiest)), soft_wrap=True
    )
    errs = error_words(found) if found.budget is not None else ""
    for words in (errs, afford_words(found), calibration_words(found)):
        if words:
            console.print(escape(words), soft_wrap=True)
    if command is None:
        console.print(
            escape(
                f"No shell command can say {found.unsayable}. Start it in Python: "
                "Study.create(storage, name, plan.study_settings)"
            ),
            soft_wrap=True,
        )
    else:
        console.print(escape(found.start_words), soft_wrap=True)
        # As it is: to be copied.
        typer.echo(f"  {command}")
