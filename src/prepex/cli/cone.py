"""`prepex cone FILE`: a dialogue that finds a preference cone, and what a cone says in words."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from prepex.cli.analyse import ArmOption, DecimalOption, NamesOption
from prepex.cli.shared import errors, printable
from prepex.errors import InputError
from prepex.numerals import number, plural
from prepex.whole_file import write_whole

KEYS = "left (l), right (r), neither is clearly better (n), take one back (u), stop (s)"


def command(
    path: Annotated[str, typer.Argument(help="A CSV file with options: their means, or one line a trial.")],
    arm: ArmOption = None,
    objective: Annotated[list[str] | None, typer.Option(help="A column to use (default: all of numbers).")] = None,
    minimise: Annotated[list[str] | None, typer.Option(help="An objective that is a cost; may be repeated.")] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(help="An objective compared by factors, as a LogNormal is; may be repeated."),
    ] = None,
    names: NamesOption = "ask",
    decimal: DecimalOption = None,
    statements: Annotated[Path | None, typer.Option(help="Go on from this file, which --save wrote.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write what was said to this file, for --cone file:NAME.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the cone of 2 or 3 objectives to this file.")] = None,
) -> None:
    """Which of two options would you rather have? Questions about real options, until your cone is known."""
    with errors():
        talk = _open(path, arm, objective, minimise, log, statements, names=names, decimal=decimal)
        _converse(talk)
        labels, cone = talk.labels, talk.cone
        note = f" Of {', '.join(log)}, differences of logarithms: 0.1 is about 10 %." if log else ""
        typer.echo(printable(f"\nYour cone: {cone.words(minimise=labels.minimise)}{note}"))
        typer.echo(printable(f"{plural(len(talk.left), 'option is', 'options are')} left: {', '.join(talk.left)}"))
        if save is not None:
            write_whole(save, json.dumps(to_document(talk), indent=1) + "\n")
            typer.echo(f"wrote {save}: use it as --cone file:{save}")
        if plot is not None:
            from prepex.plot import draw_cone

            draw_cone(cone, minimise=labels.minimise, path=plot)
            typer.echo(f"wrote {plot}")


def _open(
    path: str,
    arm: Any,
    objective: Any,
    minimise: Any,
    log: Any,
    statements: Path | None,
    *,
    names: Any,
    decimal: str | None,
) -> Any:
    import numpy as np

    from prepex.agreement import fitted
    from prepex.analysis.reading import read_columns
    from prepex.analysis.roles import find_trials
    from prepex.dialogue import Dialogue
    from prepex.unit_names import full_name

    trials = find_trials(
        read_columns(path, decimal=decimal), arm=arm or None, objectives=objective or None, names=names
    )
    weights = np.ones(len(trials.who)) if trials.sizes is None else trials.sizes
    sums = np.zeros((len(trials.arms), len(trials.objectives)))
    np.add.at(sums, trials.who, trials.values * weights[:, None])
    means = sums / np.bincount(trials.who, weights=weights)[:, None]
    costs = [full_name(name, trials.objectives, "minimise") for name in minimise or ()]
    factors = [full_name(name, trials.objectives, "log") for name in log or ()]
    given: Any = {"arms": trials.arms, "objectives": trials.objectives, "minimise": costs, "logs": factors}
    talk = Dialogue(means, **given)
    if statements is None:
        return talk
    said = fitted(read_statements(statements), talk.labels, talk.units).statements
    return Dialogue(means, **given, statements=said)


def to_document(talk: Any) -> dict[str, Any]:
    """What was said, as a file."""
    from prepex import document

    names = talk.labels.objectives
    return {
        "format": "prepex preferences 1",
        "objectives": list(names),
        "minimise": list(talk.labels.minimise),
        **({"logs": [names[q] for q in talk.units.logs]} if talk.units.logs else {}),
        "statements": document.of_cone(talk.cone).get("statements", []),
    }


def read_statements(path: Path, objectives: Any = None) -> Any:
    """The cone of a file that `to_document` wrote."""
    from prepex import document
    from prepex.cone import Cone
    from prepex.preferences import Statement

    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cone must be a file that `prepex cone --save` wrote, got {str(path)!r}: {error}") from None
    if not isinstance(given, dict) or given.get("format") != "prepex preferences 1":
        raise InputError(f"cone must be a file that `prepex cone --save` wrote, got {str(path)!r}")
    with document.damaged():
        said = [Statement(entry["one"], entry["other"], entry["clear"]) for entry in given["statements"]]
        signs = {"minimise": given["minimise"], "logs": given.get("logs", ())}
        cone = Cone.from_preferences(given["objectives"], said, **signs)
    return cone if objectives is None else cone.ordered(objectives)


def _converse(talk: Any) -> None:
    from prepex.preferences import ClashError, in_words

    while (pair := talk.question()) is not None:
        typer.echo(f"\n{plural(len(talk.left), 'option')} left. Which would you rather have?")
        _show_pair(talk, pair)
        answer = _ask()
        if answer == "s":
            return
        if answer == "u":
            if talk.statements:
                typer.echo(printable(f"Taken back: {in_words(talk.take_back(), talk.labels.objectives)}"))
            continue
        try:
            talk.say(*pair, {"l": "left", "r": "right", "n": "neither"}[answer])
        except ClashError as error:
            typer.echo(printable(f"That contradicts what you said: {error}"))
            _take_back(talk, [place for place in error.statements if place < len(talk.statements)])
    typer.echo("\nNo further answer would change which options are left.")


def _ask() -> str:
    while True:
        try:
            text = input(f"{KEYS}: ").strip().lower()
        except EOFError:
            return "s"
        if text[:1] in ("l", "r", "n", "u", "s"):
            return text[0]


def _take_back(talk: Any, places: list[int]) -> None:
    """One of the statements that clash, or none: then the new answer is not kept."""
    listed = ", ".join(str(place + 1) for place in places)
    try:
        text = input(f"Take back which of {listed}, or none (Enter)? ").strip()
    except EOFError:
        return
    if text.isdecimal() and int(text) - 1 in places:
        talk.take_back(int(text) - 1)


def _show_pair(talk: Any, pair: tuple[str, str]) -> None:
    """Two options side by side, in their units."""
    rows: list[tuple[str, ...]] = [("", *pair)]
    places = [talk.labels.arms.index(name) for name in pair]
    for q, name in enumerate(talk.labels.objectives):
        way = "less is better" if name in talk.labels.minimise else "more is better"
        rows.append((f"{name} ({way})", *(number(float(talk.means[k, q])) for k in places)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        typer.echo(printable("  " + "   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))))
