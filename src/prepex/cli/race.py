"""`prepex race`: commands as options, run until it is settled which are worth keeping."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from prepex import _checks
from prepex.cli.shared import errors, printable
from prepex.cli.source import CONE_HELP
from prepex.errors import InputError
from prepex.extras import need

if TYPE_CHECKING:
    from prepex.racing.book import Book
    from prepex.racing.options import Template
    from prepex.racing.plan import Plan
    from prepex.racing.screen import Screen
    from prepex.racing.view import View

# Between the place of a command and the text of its --with.
MARK = "\x1f"
STORAGE, NAME = "race.db", "race"
# Options that say where, and are no part of a plan.
APART = ("storage", "study", "report", "export")


def bind(args: Sequence[str], flags: Sequence[str]) -> list[str]:
    r"""The same arguments, each `--with` marked with the place of the command that stands before it (-1: none).

    >>> bind(["a {x}", "--with", "x=1..3", "--jobs", "2", "b"], ["--show"])
    ['a {x}', '--with', '0\x1fx=1..3', '--jobs', '2', 'b']
    """
    found: list[str] = []
    place, rest = -1, iter(args)
    for arg in rest:
        name, equals, value = arg.partition("=")
        if arg == "--":
            found += [arg, *rest]
        elif not arg.startswith("-") or arg == "-":
            place += 1
            found.append(arg)
        elif name in ("--with", "-w"):
            text = value if equals else next(rest, None)
            found += [name] if text is None else [name, f"{place}{MARK}{text}"]
        else:
            found.append(arg)
            if not equals and arg not in flags and (arg.startswith("--") or len(arg) == 2):
                found += [value for value in [next(rest, None)] if value is not None]
    return found


class RaceCommand(TyperCommand):
    """Knows which command a --with belongs to."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Bound, then as usual."""
        flags = [name for param in self.params if getattr(param, "is_flag", False) for name in param.opts]
        flags += [name for param in self.params if getattr(param, "is_flag", False) for name in param.secondary_opts]
        return super().parse_args(ctx, bind(args, [*flags, *ctx.help_option_names]))


Many = list[str] | None


def race(
    commands: Annotated[
        Many,
        typer.Argument(help="Commands, with parameters in braces; or one TOML file for all of it.", show_default=False),
    ] = None,
    with_: Annotated[
        Many, typer.Option("--with", "-w", help="PARAMETER=VALUES of the command before it: 1..9, 0..100..10 or a,b,c.")
    ] = None,
    name: Annotated[
        Many, typer.Option("--name", "-n", help="Names, one for each command, may have parameters.")
    ] = None,
    minimise: Annotated[
        Many, typer.Option(help="A measure: time, cpu, memory, output, size:PATH, or what the command prints as JSON.")
    ] = None,
    maximise: Annotated[Many, typer.Option(help="The same where more is better; exit is 1 for success.")] = None,
    measure: Annotated[Many, typer.Option(help="NAME=SOURCE, with json:KEY, regex:EXPRESSION or size:PATH.")] = None,
    family: Annotated[Many, typer.Option(help="MEASURE=FAMILY, where the usual one does not fit.")] = None,
    tolerance: Annotated[Many, typer.Option(help="MEASURE=SIZE that does not matter: time=5%, output=1kB.")] = None,
    at_most: Annotated[Many, typer.Option(help="MEASURE=SIZE that an option must not exceed: memory=2GB.")] = None,
    at_least: Annotated[Many, typer.Option(help="MEASURE=SIZE that an option must reach.")] = None,
    limit: Annotated[Many, typer.Option(help="'cost + 2 loss <= 10': a sum that an option must keep to.")] = None,
    cone: Annotated[str | None, typer.Option(help=CONE_HELP)] = None,
    delta: Annotated[float | None, typer.Option(help="The risk of a wrong answer. By default 0.05.")] = None,
    budget: Annotated[str | None, typer.Option(help="Runs in all, or a time for this call: 500, 10m.")] = None,
    prepare: Annotated[str | None, typer.Option(help="A shell command before every run, not measured.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Runs of each option that do not count, at the start.")] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Runs at once. By default 1 if time is measured, else cores.")
    ] = None,
    timeout: Annotated[str | None, typer.Option(help="A run that takes longer has failed: 30s.")] = None,
    shell: Annotated[
        bool | None, typer.Option("--shell/--no-shell", help="Run commands by /bin/sh. By default shell.")
    ] = None,
    env: Annotated[Many, typer.Option(help="NAME=VALUE for the commands' environment.")] = None,
    input: Annotated[Many, typer.Option(help="Files; every run takes one at random, as {input}.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of {seed}, inputs, the order of the first rounds. By default 0.")
    ] = None,
    sample: Annotated[int | None, typer.Option(help="So many options of a large grid, drawn at random.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Runs of each option to begin with. By default 3.")] = None,
    failed: Annotated[Many, typer.Option(help="MEASURE=VALUE that counts for a run that fails: time=60s.")] = None,
    on_failure: Annotated[
        str | None,
        typer.Option(
            help="Without --failed: stop, or retry, up to 3 times, with another {seed} and {input}. By default stop."
        ),
    ] = None,
    storage: Annotated[
        str | None, typer.Option(help="Where the race is kept. By default race.db, beside a TOML file.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Its name there. By default race, or that of the TOML file.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Run nothing; say how it stands.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report at the end.")] = None,
    export: Annotated[Many, typer.Option(help="json, csv or markdown, to print it, or a file that ends so.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="The answer only.")] = False,
) -> None:
    """Race commands: run them, by turns, until it is settled which are worth keeping.

    prepex race 'gzip -{level} -kc data' --with level=1..9 'xz -{level} -kc data' --with level=0..6 --minimise time
    --minimise output --tolerance time=5%

    The same command goes on with a race that was ended. Exit status: 0 settled, 3 not settled, 130 ended by Ctrl-C.
    """
    given = dict(locals())
    with errors():
        need("study", "races need", "sqlalchemy", "alembic")
        from prepex.racing.export import kind_of

        given |= {"with": given.pop("with_")}
        for target in export or ():
            kind_of(target)
        if show and not commands:
            given = _as_begun(given)
        asked = _asked(given)
        plan, places = _plan(given)
        settled = _run(plan, places, asked, show=show, quiet=quiet)
    raise typer.Exit(0 if settled else 3)


def _asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The command line without what says where, to be kept; a file by its whole path."""
    found = {key: value for key, value in given.items() if key not in (*APART, "show", "quiet")}
    commands = found["commands"] or []
    if len(commands) == 1 and commands[0].endswith(".toml"):
        found["commands"] = [str(Path(commands[0]).resolve())]
    return found


def _as_begun(given: Mapping[str, Any]) -> dict[str, Any]:
    """To be shown without its commands: those that it was last run with, as its journal has them."""
    from prepex.racing.journal import Journal, beside

    storage, name = given["storage"] or STORAGE, given["study"] or NAME
    place = None if "://" in storage else beside(storage, name)
    found = None if place is None else Journal(place, watching=True).last("asked")
    more = [key for key, value in given.items() if value not in (None, (), []) and key not in (*APART, "show", "quiet")]
    needs = "--show must come with the commands of the race, or its TOML file, got none"
    if found is None:
        raise InputError(
            f"{needs}, and none are kept beside {storage} for a race {name!r}: type the command line of the race, and "
            "--show"
        )
    if more:
        raise InputError(f"{needs} but --{more[0].replace('_', '-')}: leave it out, or type the whole command line")
    return {**given, **found["given"], "storage": storage, "study": name}


def _plan(given: dict[str, Any]) -> "tuple[Plan, dict[str, Any]]":
    """From the shell, or from a file and the shell, which wins."""
    from prepex.cli.source import parse_cone
    from prepex.racing.plan import make_plan, read_templates, read_toml

    commands = given.pop("commands") or []
    said = {
        key: value for key, value in given.items() if value is not None and key not in ("show", "quiet", "with", "name")
    }
    for key in ("measure", "family", "at_most", "at_least", "failed", "env"):
        if key in said:
            said[key] = _pairs(key, said[key])
    if "tolerance" in said:
        said["tolerance"] = _tolerances(said["tolerance"])
    if not commands:
        raise InputError("commands must be given, or a TOML file, got none")
    if len(commands) == 1 and commands[0].endswith(".toml"):
        path = Path(commands[0])
        file = read_toml(path)
        templates = read_templates(file.pop("option", None), said.get("prepare", file.get("prepare")))
        folder, name = path.parent, path.stem
        said = _listed(file) | said
        if given["with"] or given["name"]:
            raise InputError("with and name must be in the TOML file, got them beside it")
    else:
        templates, folder, name = (
            _templates(commands, given["with"] or (), given["name"] or (), given["prepare"]),
            Path(),
            NAME,
        )
    places = {key: said.pop(key, None) for key in APART}
    places["storage"] = places["storage"] or str(folder / STORAGE)
    places["study"] = places["study"] or name
    said.pop("prepare", None)
    if "cone" in said:
        said["cone"] = parse_cone(said["cone"], [*said.get("minimise", ()), *said.get("maximise", ())])
    return make_plan(templates, folder=folder, **said), places


def _listed(file: Mapping[str, Any]) -> dict[str, Any]:
    """One name where several could stand is a list of one."""
    several = ("minimise", "maximise", "limit", "input", "export")
    found = dict(file)
    for key in several:
        if isinstance(found.get(key), str):
            found[key] = [found[key]]
        if key in found and not (isinstance(found[key], list) and all(isinstance(entry, str) for entry in found[key])):
            raise InputError(f"{key} must be a list of words, got {found[key]!r}")
    return found


def _templates(
    commands: Sequence[str], with_: Sequence[str], names: Sequence[str], prepare: str | None
) -> "list[Template]":
    from prepex.racing.options import Template, fields, parse_with

    if names and len(names) != len(commands):
        raise InputError(f"names must be as many as commands, {len(commands)}, got {len(names)}")
    values: list[dict[str, list[str]]] = [{} for _ in commands]
    for entry in with_:
        place, _, text = entry.partition(MARK)
        parameter, listed = parse_with(text)
        # Before the first command: of all that have it.
        at = [int(place)] if int(place) >= 0 else [k for k, one in enumerate(commands) if parameter in fields(one)]
        if not at:
            raise InputError(f"with must be of a parameter of some command, got {parameter!r}, which none has")
        for k in at:
            if parameter in values[k]:
                raise InputError(f"with must be given once for {parameter!r} of {commands[k]!r}, got it twice")
            values[k][parameter] = listed
    return [Template(command, values[k], names[k] if names else None, prepare) for k, command in enumerate(commands)]


def _pairs(key: str, options: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name.strip() or name.strip() in found:
            raise InputError(f"{key} must read NAME=VALUE, each name once, got {option!r}")
        found[name.strip()] = value.strip()
    return found


def _tolerances(options: Sequence[str]) -> Any:
    if len(options) == 1 and "=" not in options[0]:
        text = options[0].strip()
        return text if text.endswith("%") else _pairs("tolerance", options)
    return _pairs("tolerance", options)


def _run(plan: "Plan", places: Mapping[str, Any], asked: Mapping[str, Any], *, show: bool, quiet: bool) -> bool:
    from prepex.racing.book import Book
    from prepex.racing.commands import Commands
    from prepex.racing.journal import Journal, beside
    from prepex.racing.loop import run
    from prepex.racing.screen import Screen

    storage = places["storage"]
    local = "://" not in storage
    if local and not Path(storage).parent.is_dir():
        raise InputError(f"storage must be in a folder that exists, got {storage!r}")
    if show and local and not beside(storage, places["study"]).exists():
        from prepex.study.study import Study

        if not Path(storage).exists() or places["study"] not in [one.name for one in Study.list(storage)]:
            raise InputError(f"there must be a race to show, got none of the name {places['study']!r} in {storage}")
    if places["report"] is not None:
        _checks.target("report", places["report"])
    journal = Journal(beside(storage, places["study"]) if local else None, watching=show)
    try:
        book = Book(plan.question, storage, places["study"], plan.spec, journal)
        if not show and journal.last("asked") != {"given": asked}:
            journal.add("asked", given=dict(asked))  # --show goes without it
        with Screen(book, quiet=quiet) as screen:
            if not show and not book.done:
                _say_first(plan, book, screen)
                runner = Commands(plan)
                try:
                    for option in runner.warm_up():
                        screen.warming(option)
                    run(book, runner, jobs=plan.jobs, budget=plan.budget, look=screen.look)
                except KeyboardInterrupt:
                    runner.stop()
                    screen.close()
                    typer.echo("\nEnded. Nothing is lost: the same command goes on.", err=True)
                    raise typer.Exit(130) from None
        _show_end(plan, book, places, quiet=quiet)
        book.close()
        return book.done
    finally:
        journal.close()


def _say_first(plan: "Plan", book: "Book", screen: "Screen") -> None:
    from prepex.numerals import plural
    from prepex.racing.amounts import span

    n = sum(len(next(iter(seen.values()), ())) for seen in book.values.values())
    goes_on = f"goes on after {plural(n, 'run')}" if n else "begins"
    screen.say(f"{len(plan.options)} options, {plan.jobs} at a time; {goes_on}, kept in {book.storage}.")
    if plan.jobs == 1 and book.timed is not None:
        screen.say(
            "One run at a time, as time is measured: runs side by side would slow each other down (--jobs N allows it)."
        )
    if plan.question.tolerance is None and not plan.budget.seconds and not plan.budget.outcomes:
        screen.say(
            "Without a tolerance, options that are level are never told apart: --tolerance time=5% or --budget 10m."
        )
    if plan.budget.seconds:
        screen.say(f"Ends after {span(plan.budget.seconds)} if it is not settled before.")


def _show_end(plan: "Plan", book: "Book", places: Mapping[str, Any], *, quiet: bool) -> None:
    from prepex.racing import export
    from prepex.racing.view import look

    view = look(book, words=True)
    printed = [text for target in places["export"] or () if (text := export.write(view, target)) is not None]
    if printed:
        typer.echo("".join(printed), nl=False)
    else:
        _print(view, quiet=quiet)
    if places["report"] is not None:
        if book.study is None:
            typer.echo("No report: the first rounds are not over.", err=True)
        else:
            book.study.report(places["report"], units=book.question.units, budget=plan.budget.words)
            typer.echo(f"wrote {places['report']}", err=True)


def _print(view: "View", *, quiet: bool) -> None:
    from rich.text import Text

    from prepex.cli.show import console
    from prepex.racing import screen, sketch, words

    width = console.size.width
    if not quiet:
        console.print(screen.table(view, view.rows, width))
        console.print()
        if console.is_terminal:
            for line in sketch.sketch(view, width=min(width - 4, 70)):
                console.print(Text(printable(line)), soft_wrap=True)
            console.print()
    lines = [words.verdict(view), *(f"  {line}" for line in words.answer_words(view))]
    lines += [*view.notes, *words.failure_words(view.failures)]
    lines += () if quiet else words.tie_words(view)
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=not console.is_terminal)
