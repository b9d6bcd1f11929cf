"""`prepex analyse FILE`: what a table of measurements says already."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from prepex.cli.shared import AtLeastOption, AtMostOption, Format, FormatOption, LimitOption, ToleranceOption, errors
from prepex.cli.source import CONE_HELP
from prepex.cli.waiting import working
from prepex.errors import InputError
from prepex.spoken import FAMILY_HELP, parse_limits, parse_tolerance

ArmOption = Annotated[
    list[str] | None, typer.Option("--arm", help="The column that names the option; repeat it if several do.")
]
NamesOption = Annotated[
    str,
    typer.Option(
        "--names", help="Options that differ by white space, case or how a number is written: ask, merge or keep."
    ),
]

DecimalOption = Annotated[
    str | None, typer.Option("--decimal", help="The decimal mark, . or , where it could be either.")
]
PilotOption = Annotated[
    int | None,
    typer.Option("--pilot", help="First trials of each option that only set priors (default: a sixth, 2 to 20)."),
]


def read(
    path: str,
    *,
    arm: list[str] | None,
    objective: list[str] | None,
    minimise: list[str] | None,
    family: list[str] | None,
    cone: str | None,
    tolerance: list[str] | None,
    at_most: list[str] | None,
    at_least: list[str] | None,
    limit: list[str] | None,
    names: str,
    decimal: str | None = None,
    study: str | None = None,
    **options: Any,
) -> Any:
    """The analysis, from the words of a command line."""
    from prepex.analysis.analyse import analyse, read_table
    from prepex.analysis.roles import find_trials
    from prepex.cli.source import parse_cone

    table = read_table(path, decimal=decimal, study=study)
    trials = find_trials(table, arm=arm or None, objectives=objective or None, names=cast(Any, names))
    order = None if cone is None else parse_cone(cone, trials.objectives)
    found = analyse(
        trials,
        minimise=minimise or [name for name in table.minimise if name in trials.objectives],
        family=_families(family or []),
        cone=order,
        tolerance=parse_tolerance(tolerance or ()),
        **parse_limits(at_most or (), at_least or (), limit or ()),
        **options,
    )
    return replace(found, source=str(path), wait=True)


def _families(options: list[str]) -> Any:
    """OBJECTIVE=FAMILY, or one for all."""
    if len(options) == 1 and "=" not in options[0]:
        return options[0]
    found = {}
    for option in options:
        name, equals, word = option.rpartition("=")
        if not equals or name.strip() in found:
            raise InputError(f"family must read OBJECTIVE=FAMILY, each objective once, got {option!r}")
        found[name.strip()] = word.strip()
    return found


def command(
    path: Annotated[
        str,
        typer.Argument(
            help="A CSV file: one line a trial, or means with a column n and spreads. Or the SQLite file of Optuna."
        ),
    ],
    arm: ArmOption = None,
    objective: Annotated[list[str] | None, typer.Option(help="A column to use (default: all of numbers).")] = None,
    minimise: Annotated[list[str] | None, typer.Option(help="An objective that is a cost; may be repeated.")] = None,
    family: Annotated[
        list[str] | None, typer.Option("--family", help="OBJECTIVE=FAMILY, in place of the guess: " + FAMILY_HELP + ".")
    ] = None,
    cone: Annotated[str | None, typer.Option("--cone", help=CONE_HELP)] = None,
    delta: Annotated[float, typer.Option(help="The risk that something said is wrong.")] = 0.05,
    tolerance: ToleranceOption = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    limit: LimitOption = None,
    names: NamesOption = "ask",
    decimal: DecimalOption = None,
    pilot: PilotOption = None,
    study: Annotated[
        str | None, typer.Option("--study", help="Which study of an Optuna file, if it has several.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write everything to this HTML file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the options to this png, svg or pdf file.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Which options of a table are on the front, how sure that is, and what to measure next."""
    with errors():
        with working("analysing", quiet=format is Format.json):
            found = read(
                path, arm=arm, objective=objective, minimise=minimise, family=family, cone=cone, delta=delta,
                tolerance=tolerance, at_most=at_most, at_least=at_least, limit=limit, names=names, decimal=decimal,
                pilot=pilot, study=study,
            )  # fmt: skip
            _ = found.forecast  # computed once, and here: it takes the longest
        if report is not None:
            found.report(report)
            typer.echo(f"wrote {report}", err=True)
        if plot is not None:
            found.plot(plot)
            typer.echo(f"wrote {plot}", err=True)
        if format is Format.json:
            from prepex.cli.show import show_json

            show_json(found.to_document())
        else:
            _show(found)


def _show(found: Any) -> None:
    from rich.table import Table

    from prepex.analysis import text
    from prepex.cli.shared import escape
    from prepex.cli.show import console

    table = Table(*map(escape, text.heads(found)), box=None, header_style="bold")
    table.columns[1].justify = "right"
    style = {"in": "bold", "out": "dim", "open": "yellow"}
    for arm, row in zip(found.arms, text.rows(found), strict=True):
        table.add_row(*map(escape, row), style=style.get(arm.state))
    console.print(table)
    console.print()
    for words in text.sentences(found):
        console.print(escape(words), soft_wrap=False)
    for words in filter(None, (text.asked(found), text.legend(found))):
        console.print(escape(words), soft_wrap=False)
    closest = text.changes(found)
    if closest:
        console.print("\n[bold]The closest change of each option[/]")
        for words in closest:
            console.print(f"- {escape(words)}")
    console.print("\n[bold]What was assumed[/]")
    for name, guess in zip(found.objectives, found.families, strict=True):
        console.print(f"- {escape(name)}: {escape(guess.words)}")
    for words in found.notes if found.given is not None else ():
        console.print(f"- {escape(words)}")
    console.print(escape(found.guarantee))
