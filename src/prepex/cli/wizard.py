"""The settings of a study from words: of a command line, or of answers to questions."""

import contextlib
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from prepex import _checks
from prepex.cli.source import make_rules, parse_cone
from prepex.errors import InputError
from prepex.family import Gaussian
from prepex.labels import Labels
from prepex.limits import LimitOptions, limits_of
from prepex.spoken import (
    choose_family,
    full_keys,
    full_limits,
    parse_family,
    parse_limits,
    parse_tolerance,
    parse_variances,
)
from prepex.tables import plain_number, read_sheet
from prepex.tolerance import check_tolerance
from prepex.unit_names import in_full
from prepex.units import Units

if TYPE_CHECKING:
    from prepex.settings import Settings

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def read_arms(arms: Sequence[str] | None, path: Path | None) -> list[str] | None:
    """Named one by one, or the first column of a CSV file with a header."""
    if path is None:
        return _one_by_one("arm", arms) if arms else None
    if arms:
        raise InputError("arms must come from --arm or from --arms-from, got both")
    sheet = read_sheet(path)
    if not sheet.rows:
        raise InputError(f"{path} must have a header and at least one option, got a header alone")
    for row in sheet.rows:
        if not row.cells[0]:
            raise sheet.error(
                row.line, f"{sheet.columns[0] or 'the first column'} must name an option, got an empty cell"
            )
    return [row.cells[0] for row in sheet.rows]


def read_known(path: Path, objectives: Sequence[str]) -> dict[str, dict[str, float]]:
    """The first column names options, others are objectives; further columns are not read."""
    sheet = read_sheet(path)
    chosen = [name for name in objectives if name in sheet.columns[1:]]
    if not chosen:
        raise InputError(f"{path} must have a column of {', '.join(objectives) or 'an objective'}, got none")
    arms = [row.cells[0] for row in sheet.rows]
    numbers = sheet.numbers(tuple(chosen))
    return {name: {arm: row[at] for arm, row in zip(arms, numbers, strict=True)} for at, name in enumerate(chosen)}


def _one_by_one(option: str, names: Sequence[str]) -> list[str]:
    """A comma may be part of a name, so it is not for us to cut there."""
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1:
            repeated = " ".join(
                f"--{option} {part!r}" if " " in part else f"--{option} {part}" for part in parts if part
            )
            elsewhere = "; a name that has a comma may come from --arms-from" if option == "arm" else ""
            raise InputError(f"{option} must be one name: {repeated}, got {name!r}{elsewhere}")
    return list(names)


def parse_lease(text: str) -> float:
    """Seconds. Without a unit it could be hours as well.

    >>> parse_lease("90s"), parse_lease("1.5h")
    (90.0, 5400.0)
    """
    value = plain_number(text[:-1].strip()) if text.endswith(tuple(UNITS)) else None
    if value is None:
        raise InputError(
            "lease must be a time with its unit: seconds, minutes, hours or days, as in 90s, 30m, 24h or 2d, "
            f"got {text!r}"
        )
    return value * UNITS[text[-1]]


def outcome(words: Sequence[str]) -> dict[str, float] | list[float]:
    """'a=1 b=2' by name, or '1 2' in order.

    >>> outcome(["gain=1.5"]), outcome(["1.5", "2"])
    ({'gain': 1.5}, [1.5, 2.0])
    """
    if not any("=" in word for word in words):
        return [_number("values", word) for word in words]
    found: dict[str, float] = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        if not equals or name in found:
            raise InputError(f"values must be objective=value, each objective once, got {word!r}")
        found[name] = _number(f"value of {name!r}", value)
    return found


def _number(what: str, text: str) -> float:
    value = plain_number(text.strip())
    if value is None and (text.startswith("--") or (text.startswith("-") and text[1:2].isalpha())):
        raise InputError(
            f"{what} must be numbers, got {text!r}, which is no option of this command either (see --help)"
        )
    if value is None:
        raise InputError(f"{what} must be a number such as 0.31, with a decimal point, got {text!r}")
    return value


def ask(known: dict[str, Any], taken: Sequence[str] = ()) -> dict[str, Any]:
    """Ask in a terminal for what is not known yet. Every answer is checked at once; a bad one is asked for again."""
    answers = dict(known)
    answers["name"] = _prompt("Name of the study", lambda text: _new(text, taken))
    if not answers["arms"]:
        words = "Options to try (separated by commas, or a CSV file whose first column names them)"
        answers["arms"] = _prompt(words, _arms)
    if not answers["objectives"]:
        answers["objectives"] = _prompt(
            "What is measured (separated by commas)", lambda text: _several("objectives", text)
        )
        words = "Which of them are costs (none: just Enter)"
        answers["minimise"] = _prompt(words, lambda text: _some(text, answers["objectives"]), default="")
    if not answers["variance"] and not answers["family"]:
        typer.echo("How are outcomes spread? The variance of one measurement, or a word: unknown or shared (a variance")
        typer.echo("to be estimated, for each option or for all), lognormal (positive, compared by factors: times,")
        typer.echo("sizes), bernoulli (0 or 1), poisson (counts), exponential (waiting times), exact (no noise).")
        answers["family"] = [
            f"{name}={_prompt(f'  {name}', partial(_spread, name), default='unknown')}"
            for name in answers["objectives"]
        ]
    if not answers["cone"]:
        words = "Preference cone: orthant (more of everything is better), angle:120, facets:1,0.5/0.5,1, ..."
        answers["cone"] = _prompt(words, lambda text: _cone(text, answers["objectives"]), default="orthant")
    if not answers["tolerance"]:
        words = "Differences that do not matter, as in strength=0.5, time=5% (all matter: just Enter)"
        answers["tolerance"] = _prompt(words, lambda text: _tolerance(text, answers), default="")
    if not any(answers["limits"].values()):
        words = "Limits that an option must keep to, as in toxicity <= 0.3, cost + 2 time <= 10 (none: just Enter)"
        answers["limits"] = _prompt(words, lambda text: _limits(text, answers), default="")
    answers["delta"] = _prompt("Risk of a wrong answer, between 0 and 1", _risk, default=str(answers["delta"]))
    least = len(answers["arms"])
    answers["max_pulls"] = _prompt("Most pulls (no limit: just Enter)", lambda text: _budget(text, least), default="")
    words = "When does a pull give up its place, as in 24h (never: just Enter)"
    answers["lease"] = _prompt(words, _lease, default="")
    return answers


def _prompt(words: str, read: Callable[[str], Any], default: str | None = None) -> Any:
    """Ask until the answer can be read."""
    while True:
        given = typer.prompt(words, default=default, show_default=bool(default))
        try:
            return read(given.strip())
        except (ValueError, OSError) as error:
            typer.secho(f"  {error}", fg=typer.colors.RED)


def _new(text: str, taken: Sequence[str]) -> str:
    if text in taken:
        raise InputError(f"name must be new, got {text!r}, which exists")
    return text


def _arms(text: str) -> list[str]:
    path = Path(text)
    if path.suffix == ".csv":
        if not path.is_file():
            raise InputError(f"file must exist, got {text!r}")
        return read_arms(None, path) or []
    return _several("arms", text, least=2)


def _several(name: str, text: str, least: int = 1) -> list[str]:
    found = _listed(text)
    if len(found) < least or len(set(found)) < len(found):
        raise InputError(f"{name} must be at least {least}, all different, got {text!r}")
    return found


def _some(text: str, objectives: Sequence[str]) -> list[str]:
    found = [in_full(name, objectives) for name in _listed(text)]
    for name in found:
        if name not in objectives:
            raise InputError(f"minimise must be of {', '.join(map(repr, objectives))}, got {name!r}")
    return found


def _cone(text: str, objectives: Sequence[str]) -> str:
    parse_cone(text, objectives)
    return text


def _tolerance(text: str, answers: dict[str, Any]) -> list[str]:
    """Checked with the objectives and the cone that were given."""
    objectives = answers["objectives"]
    labels = Labels.make((len(answers["arms"]), len(objectives)), None, objectives, answers["minimise"])
    variance = parse_variances(answers["variance"]) if answers["variance"] else None
    family = choose_family(objectives, [""] * len(objectives), answers["family"], variance)
    units = Units() if family is None else family.units(len(objectives))
    given = full_keys("tolerance", parse_tolerance(_listed(text)), objectives)
    check_tolerance(given, parse_cone(answers["cone"], objectives), labels, units)
    return _listed(text)


def _limits(text: str, answers: dict[str, Any]) -> LimitOptions:
    """Checked with the objectives that were given; whether the families allow them is seen at the end."""
    found = full_limits(parse_limits((), (), _listed(text)), answers["objectives"])
    limits_of(Labels.make((len(answers["arms"]), len(answers["objectives"])), None, answers["objectives"]), **found)
    return found


def _risk(text: str) -> float:
    try:
        return _checks.number("delta", float(text), low=0.0, high=1.0)
    except ValueError:
        raise InputError(f"delta must be a number between 0 and 1, got {text!r}") from None


def _budget(text: str, least: int) -> int | None:
    if text and not (text.isdecimal() and int(text) >= least):
        raise InputError(f"max_pulls must be a whole number of at least {least} = n_arms, got {text!r}")
    return int(text) if text else None


def _lease(text: str) -> str | None:
    if text:
        _checks.number("lease", parse_lease(text), low=0.0)
    return text or None


def _spread(name: str, text: str) -> str:
    """A family; a number is the variance of a Gaussian."""
    with contextlib.suppress(ValueError):
        text = f"gaussian({float(text)!r})"
    parse_family(name, text)
    return text


def _listed(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def warn_of_budget(settings: "Settings") -> None:
    """Of one that its pilot takes most of: it may be extended, so it is said, not refused."""
    if settings.short_budget is not None:
        warnings.warn(f"{settings.short_budget} (`prepex study extend` gives more)", stacklevel=2)


def settings(words: dict[str, Any], *, rule: str, threshold: Any, seed: int) -> dict[str, Any]:
    """The arguments of Study.create."""
    for name, option in (("arms", "--arm or --arms-from"), ("objectives", "--objective")):
        if not words[name]:
            raise InputError(f"{name} must be given with {option}, got none")
    objectives = tuple(_one_by_one("objective", words["objectives"]))
    variance = None if words["variance"] is None else parse_variances(words["variance"])
    family = choose_family(objectives, [""] * len(objectives), words["family"], variance)
    if family is None:
        # Nobody has said how large the noise is: it is estimated.
        family = Gaussian(variance="unknown")
    return {
        "name": words["name"],
        "arms": tuple(words["arms"]),
        "objectives": objectives,
        "minimise": tuple(in_full(name, objectives) for name in _one_by_one("minimise", words["minimise"])),
        "family": family,
        "cone": parse_cone(words["cone"], objectives) if words["cone"] else None,
        "tolerance": full_keys("tolerance", parse_tolerance(words["tolerance"]), objectives),
        **full_limits(words["limits"], objectives),
        "avoid_infeasible": words["avoid_infeasible"],
        "known": words["known"],
        "delta": words["delta"],
        "sampling": make_rules([rule], "complete")[0],
        "threshold": threshold,
        "seed": seed,
        "max_pulls": words["max_pulls"],
        "lease": None if words["lease"] is None else parse_lease(words["lease"]),
    }
