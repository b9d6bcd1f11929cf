"""`prepex study ...`: durable studies from a shell, for people and scripts."""

import getpass
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prepex import _checks
from prepex.cli.analyse import DecimalOption, NamesOption, PilotOption
from prepex.cli.shared import (
    AtLeastOption,
    AtMostOption,
    Format,
    FormatOption,
    LimitOption,
    ToleranceOption,
    errors,
    printable,
)
from prepex.cli.source import CONE_HELP
from prepex.errors import InputError
from prepex.numerals import plural
from prepex.spoken import FAMILY_HELP, PRIOR_HELP, VARIANCE_HELP, parse_limits, parse_prior
from prepex.whole_file import write_whole

if TYPE_CHECKING:
    from prepex.settings import Settings
    from prepex.study.study import Study

app = typer.Typer(help="Durable live studies: ask, tell, and a certificate at the end.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The name of the study.")]
Token = Annotated[str, typer.Argument(help="The token of the pull.")]
Values = Annotated[list[str], typer.Argument(help="objective=value, some or all; or all values, in order.")]
Place = Annotated[str, typer.Option("--storage", envvar="PREPEX_STORAGE", help="An SQLite file or a PostgreSQL URL.")]
Actor = Annotated[str | None, typer.Option(help="Who does it, for the log; by default your user name.")]
Reason = Annotated[str, typer.Option(help="Why; it stays in the log.")]
DEFAULT = "prepex.db"
# Rows that somebody may want to read.
MOST_PULLS = 200
# Events up to which `status` checks the noise, too.
MOST_CHECKED = 20_000
# A negative number is a value, not an option.
NEGATIVE_VALUES = {"ignore_unknown_options": True}


def _open(storage: str, name: str) -> "Study":
    from prepex.study.study import Study

    return Study.open(storage, name)


def _exists(storage: str) -> bool:
    return "://" in storage or Path(storage).exists()


def _who(actor: str | None) -> str:
    if actor is not None:
        return actor
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _why_none(study: "Study") -> str:
    """Why there is nothing to hand out, and how to go on."""
    name = shlex.quote(study.name)
    if not study.done:
        return f"The rest of the budget is out: tell or void those (prepex study pulls {name}). {study.why()}"
    stays = "This is the study's answer; outcomes of pulls that are still out may be told and do not change it."
    if study.recommendation.status == "inconclusive":
        stays = f"Its budget is spent: prepex study extend {name} --max-pulls N --reason WHY gives it more."
    return f"{study.why()} {stays} Write it down: prepex study report {name} report.html"


@app.command()
def create(
    name: Annotated[str | None, typer.Argument(help="The name of the study; leave it out to be asked.")] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(help="An option to try; repeat it for each. With --from: as of `prepex analyse`, a column."),
    ] = None,
    begin: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Begin with a table of outcomes, read as by `prepex analyse`, whose options are taken."
        ),
    ] = None,
    arm_column: Annotated[
        list[str] | None, typer.Option(help="With --from: the column that names the option, as --arm is there.")
    ] = None,
    names: NamesOption = "ask",
    decimal: DecimalOption = None,
    pilot: PilotOption = None,
    table_study: Annotated[
        str | None, typer.Option("--study", help="With --from: which study of an Optuna file, if it has several.")
    ] = None,
    arms_from: Annotated[Path | None, typer.Option(help="A CSV file whose first column names the options.")] = None,
    objective: Annotated[list[str] | None, typer.Option(help="What is measured; repeat it for each.")] = None,
    minimise: Annotated[list[str] | None, typer.Option(help="An objective that is a cost; may be repeated.")] = None,
    variance: Annotated[str | None, typer.Option(help=f"Noise variance: {VARIANCE_HELP}. Default: unknown.")] = None,
    family: Annotated[list[str] | None, typer.Option(help=f"OBJECTIVE=FAMILY, one of {FAMILY_HELP}.")] = None,
    cone: Annotated[str | None, typer.Option("--cone", help=CONE_HELP)] = None,
    tolerance: ToleranceOption = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    limit: LimitOption = None,
    known_from: Annotated[
        Path | None,
        typer.Option(help="A CSV file of options and values of objectives of the family exact, which are not told."),
    ] = None,
    avoid_infeasible: Annotated[
        bool, typer.Option("--avoid-infeasible", help="No more of an option once it is certified to break a limit.")
    ] = False,
    delta: Annotated[float, typer.Option(help="The risk of a wrong answer (`prepex run` simulates 0.1).")] = 0.05,
    rule: Annotated[str, typer.Option(help="frappe, information, prets, tns or uniform.")] = "information",
    threshold: Annotated[
        str, typer.Option(help="certified, posterior, heuristic or kaufmann_koolen (`prepex run` simulates heuristic).")
    ] = "certified",
    prior: Annotated[list[str] | None, typer.Option(help=f"{PRIOR_HELP}.")] = None,
    seed: Annotated[int, typer.Option(help="Of the rule's own randomness.")] = 0,
    max_pulls: Annotated[int | None, typer.Option(help="Stop by budget; see also `extend`.")] = None,
    lease: Annotated[str | None, typer.Option(help="When a pull gives up its place: 90s, 30m, 24h, 2d.")] = None,
    max_waiting: Annotated[int | None, typer.Option(help="Told outcomes that may wait for a pull before them.")] = None,
    guess: Annotated[
        Path | None,
        typer.Option(help="A CSV file of guessed means: says first how many trials it will take (see `prepex plan`)."),
    ] = None,
    actor: Actor = None,
    storage: Place = DEFAULT,
    format: FormatOption = Format.table,
) -> None:
    """Create a study. Without a name, in a terminal, it asks for everything."""
    with errors():
        from prepex.cli import study_show, wizard
        from prepex.cli.waiting import working
        from prepex.stopping import with_prior
        from prepex.study.study import Study

        if begin is not None:
            from prepex.cli.begin import begin_study

            if name is None or arms_from or variance or known_from:
                raise InputError("with --from, name must be given, and options and noise come from the table")
            if arm and arm_column:
                raise InputError("with --from, the column of options must come from --arm or --arm-column, got both")
            with working("analysing the table", quiet=format is Format.json):
                study, imported = begin_study(
                    begin, storage, name, actor=_who(actor), lease=lease, max_waiting=max_waiting,
                    options={"max_pulls": max_pulls, "avoid_infeasible": avoid_infeasible}, arm=arm or arm_column,
                    objective=objective, minimise=minimise, family=family, cone=cone, delta=delta, seed=seed,
                    tolerance=tolerance, at_most=at_most, at_least=at_least, limit=limit, names=names,
                    decimal=decimal, pilot=pilot, study=table_study,
                )  # fmt: skip
            study_show.created(study.picture(), storage, as_json=format is Format.json, imported=imported)
            return
        how = {"arm-column": arm_column, "names": names, "decimal": decimal, "pilot": pilot, "study": table_study}
        _refuse_reading({option: value for option, value in how.items() if value not in (None, "ask")})
        words: dict[str, Any] = {
            "name": name,
            "arms": wizard.read_arms(arm, arms_from),
            "objectives": objective,
            "minimise": minimise or [],
            "variance": variance,
            "family": family or [],
            "cone": cone,
            "tolerance": tolerance or [],
            "limits": parse_limits(at_most or (), at_least or (), limit or ()),
            "avoid_infeasible": avoid_infeasible,
            "known": None if known_from is None else wizard.read_known(known_from, objective or ()),
            "delta": delta,
            "max_pulls": max_pulls,
            "lease": lease,
        }
        if name is None:
            if not sys.stdin.isatty():
                raise InputError("name must be given where there is no terminal to ask on, got none")
            words = wizard.ask(words, [overview.name for overview in Study.list(storage)] if _exists(storage) else [])
        chosen = with_prior(threshold, parse_prior(prior or ()))
        settings = wizard.settings(words, rule=rule, threshold=chosen, seed=seed)
        if guess is not None:
            settings = _planned(guess, settings, quiet=format is Format.json)
        study = Study.create(storage, actor=_who(actor), max_waiting=max_waiting, **settings)
        wizard.warn_of_budget(_fixed(settings))
        study_show.created(study.picture(), storage, as_json=format is Format.json)


def _refuse_reading(given: dict[str, Any]) -> None:
    """Options that say how a table is read, where there is none."""
    for option in given:
        raise InputError(f"--{option} says how the table of --from is read, got it without --from")


def _fixed(settings: dict[str, Any]) -> "Settings":
    """Without what is only a study's."""
    from prepex.settings import Settings

    return Settings.make(**{key: value for key, value in settings.items() if key not in ("name", "lease")})


def _planned(guess: Path, settings: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    """Say the plan's short form, and on a terminal ask whether it shall be; the settings, as a study takes them."""
    from prepex.cli.waiting import progress
    from prepex.planning.belief import without_noise
    from prepex.planning.plan import plan

    fixed = _fixed(settings)
    with progress("simulated studies", quiet=quiet) as (start, advance):
        found = plan(guess, fixed, scenarios=["guess"], what_if={}, n_runs=100, begin=start, progress=advance)
    if not quiet:
        typer.echo(printable(found.words))
        if sys.stdin.isatty():
            typer.confirm("Create it?", default=True, abort=True)
    return settings | {"family": without_noise(settings["family"])}


@app.command()
def ask(
    name: Name,
    n: Annotated[int, typer.Option("-n", "--n", help="How many pulls.")] = 1,
    new: Annotated[bool, typer.Option("--new", help="New pulls only, not your own that are still out.")] = False,
    key: Annotated[str | None, typer.Option(help="A name for this request: the same again gives the same.")] = None,
    actor: Actor = None,
    storage: Place = DEFAULT,
    format: FormatOption = Format.table,
) -> None:
    """Which options to try next, each with a token; your own that are out first. Exit status 3: nothing to hand out."""
    with errors():
        from prepex.cli import study_show

        study = _open(storage, name)
        tickets = study.ask(n, actor=_who(actor), new=new, key=key)
        study_show.tickets(tickets, "" if tickets else _why_none(study), as_json=format is Format.json)
    raise typer.Exit(0 if tickets else 3)


@app.command(context_settings=NEGATIVE_VALUES)
def tell(
    name: Name,
    token: Token,
    values: Values,
    actor: Actor = None,
    storage: Place = DEFAULT,
    format: FormatOption = Format.table,
) -> None:
    """What came of a pull. Telling the same twice is once; another value is refused."""
    with errors():
        from prepex.cli import study_show, wizard

        study = _open(storage, name)
        receipt = study.tell(token, wizard.outcome(values), actor=_who(actor))
        study_show.receipt(receipt, as_json=format is Format.json)


@app.command(context_settings=NEGATIVE_VALUES)
def correct(
    name: Name,
    token: Token,
    values: Values,
    reason: Reason,
    actor: Actor = None,
    storage: Place = DEFAULT,
) -> None:
    """Replace what was told, with a reason."""
    with errors():
        from prepex.cli import wizard

        _open(storage, name).correct(token, wizard.outcome(values), reason=reason, actor=_who(actor))
        typer.echo(f"corrected {token}")


@app.command()
def void(name: Name, token: Token, reason: Reason, actor: Actor = None, storage: Place = DEFAULT) -> None:
    """A pull that does not count, with a reason: one that was known without any outcome, this one's or another's."""
    with errors():
        typer.echo(printable(str(_open(storage, name).void(token, reason=reason, actor=_who(actor)))))


@app.command()
def extend(
    name: Name,
    max_pulls: Annotated[int, typer.Option(help="The new budget, in outcomes.")],
    reason: Reason,
    actor: Actor = None,
    storage: Place = DEFAULT,
) -> None:
    """A longer budget, with a reason. A study that ended by its budget goes on."""
    with errors():
        study = _open(storage, name)
        study.extend(max_pulls, reason=reason, actor=_who(actor))
        typer.echo(f"extended to {max_pulls} outcomes: {study.recommendation.status}")


@app.command()
def status(name: Name, storage: Place = DEFAULT, format: FormatOption = Format.table) -> None:
    """How a study stands."""
    with errors():
        from prepex.cli import study_show

        study = _open(storage, name)
        found = study.status()
        noise = study.check_noise() if found.events <= MOST_CHECKED else None
        study_show.status(found, noise, as_json=format is Format.json)


@app.command()
def under(
    name: Name,
    cone: Annotated[str, typer.Option("--cone", help=CONE_HELP)],
    storage: Place = DEFAULT,
    format: FormatOption = Format.table,
) -> None:
    """In, out or open under another cone: all that is ever said so is right together with probability 1 - delta."""
    with errors():
        from prepex.cli.show import show_json
        from prepex.cli.source import parse_cone

        study = _open(storage, name)
        found = study.under(parse_cone(cone, study.status().objectives))
        if format is Format.json:
            show_json(found)
        else:
            from prepex.any_cone import why_open
            from prepex.tolerance import in_words

            settings = study.picture()["design"]
            tolerance = settings["tolerance"]
            said = "" if tolerance is None else in_words(tolerance, settings["objectives"])
            for arm, state in found.items():
                typer.echo(printable(f"{state:5} {arm}"))
            typer.echo(printable(f"\n{why_open(said, bool(settings['limits']))}"))


@app.command()
def noise(name: Name, storage: Place = DEFAULT, format: FormatOption = Format.table) -> None:
    """Is the noise what was declared? The spread seen beside it, and alarms. Exit status 1: there are some."""
    with errors():
        from prepex.cli import study_show

        found = _open(storage, name).check_noise()
        study_show.noise(found, as_json=format is Format.json)
    raise typer.Exit(1 if found.alarms else 0)


@app.command()
def forecast(
    name: Name,
    seconds: Annotated[float, typer.Option(help="How long it may compute, on a slow core; compiling apart.")] = 10.0,
    storage: Place = DEFAULT,
    format: FormatOption = Format.table,
) -> None:
    """How many more outcomes: median, range, date at the recent rate, chance to end within the budget."""
    with errors():
        from prepex.cli import study_show
        from prepex.cli.waiting import progress
        from prepex.foresight.forecast import N_DRAWS

        study = _open(storage, name)
        with progress("running the rule on", quiet=format is Format.json) as (start, advance):
            start(N_DRAWS)
            found = study.forecast(seconds=seconds, progress=advance)
        study_show.forecast(found, study.done, as_json=format is Format.json)


@app.command()
def pulls(
    name: Name,
    every: Annotated[bool, typer.Option("--all", help=f"All of them, not only the first {MOST_PULLS}.")] = False,
    storage: Place = DEFAULT,
    format: FormatOption = Format.table,
) -> None:
    """The pulls that are out, partly told, or wait for one before them."""
    with errors():
        from prepex.cli import study_show

        found = _open(storage, name).pulls()
        study_show.pulls(found, most=None if every else MOST_PULLS, as_json=format is Format.json)


@app.command()
def why(name: Name, storage: Place = DEFAULT) -> None:
    """Why it has not stopped yet, or what it answered, in words."""
    with errors():
        typer.echo(printable(_open(storage, name).why()))


@app.command("import")
def import_(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A CSV file: a column with arms and one for each objective.")],
    arm_column: Annotated[str, typer.Option(help="The column that names the arm.")] = "arm",
    again: Annotated[
        bool, typer.Option("--again", help="The same file was imported before, and counts once more.")
    ] = False,
    actor: Actor = None,
    storage: Place = DEFAULT,
) -> None:
    """Historic outcomes, one row each, in the order in which they were collected; with a column n, means of n."""
    with errors():
        count = _open(storage, name).import_csv(path, arm=arm_column, again=again, actor=_who(actor))
        part = f", {count.summarised} of them in summaries" if count.summarised else ""
        unused = (
            f"; not used: {plural(len(count.unused), 'column')} {_checks.quoted(count.unused)}" if count.unused else ""
        )
        typer.echo(f"imported {plural(count, 'outcome')}{part}{unused}")


@app.command()
def export(
    name: Name,
    path: Annotated[Path, typer.Argument(help="Where to write the log as JSON lines.")],
    storage: Place = DEFAULT,
) -> None:
    """The log, with its hashes."""
    with errors():
        typer.echo(f"wrote {plural(_open(storage, name).export(path), 'event')} to {path}")


@app.command()
def restore(
    path: Annotated[Path, typer.Argument(help="A log that `prepex study export` wrote.")],
    storage: Place = DEFAULT,
) -> None:
    """A study from its exported log: a backup, or a move to another database."""
    with errors():
        from prepex.study.study import Study

        typer.echo(f"restored {Study.restore(storage, path).name}")


@app.command()
def certificate(
    name: Name,
    path: Annotated[Path | None, typer.Argument(help="Where to write it; by default to the terminal.")] = None,
    storage: Place = DEFAULT,
) -> None:
    """The answer with all that it rests on, for `prepex verify`."""
    import json

    with errors():
        text = json.dumps(_open(storage, name).certificate(), indent=1)
        if path is None:
            typer.echo(text)
        else:
            write_whole(_checks.target("path", path), text + "\n")
            typer.echo(f"wrote {path}")


@app.command()
def verify(name: Name, storage: Place = DEFAULT, format: FormatOption = Format.table) -> None:
    """Check the whole log and the state. Exit status 1: something is wrong."""
    with errors():
        from prepex.cli import study_show

        verdict = _open(storage, name).verify()
        study_show.verdict(verdict, as_json=format is Format.json)
    raise typer.Exit(0 if verdict.ok else 1)


@app.command()
def report(
    name: Name,
    path: Annotated[Path, typer.Argument(help="Where to write the HTML file.")],
    storage: Place = DEFAULT,
) -> None:
    """One self-contained HTML file."""
    with errors():
        _open(storage, name).report(path)
        typer.echo(f"wrote {path}")


@app.command("list")
def list_(storage: Place = DEFAULT, format: FormatOption = Format.table) -> None:
    """All studies of a storage."""
    with errors():
        from prepex.cli import study_show
        from prepex.study.study import Study

        study_show.overviews(Study.list(storage), as_json=format is Format.json)


@app.command()
def delete(
    name: Name,
    confirm: Annotated[str, typer.Option(help="The name of the study once more.")],
    storage: Place = DEFAULT,
) -> None:
    """Delete a study with its whole log."""
    with errors():
        from prepex.study.study import Study

        Study.delete(storage, name, confirm=confirm)
        typer.echo(f"deleted {name}")
