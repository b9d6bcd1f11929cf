"""The settings of a study from words: of a command line, or of answers to questions."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from prepex.cli.source import make_rules, parse_cone, parse_numbers
from prepex.spoken import choose_family

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def read_arms(arms: Sequence[str] | None, path: Path | None) -> list[str] | None:
    """Named one by one, or the first column of a CSV file with a header."""
    if path is None:
        return list(arms) if arms else None
    if arms:
        raise ValueError("arms must come from --arm or from --arms-from, got both")
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise ValueError(f"{path} must have a header and at least one option, got {len(rows)} lines")
    return [row[0].strip() for row in rows[1:]]


def parse_lease(text: str) -> float:
    """Seconds.

    >>> parse_lease("90s"), parse_lease("1.5h"), parse_lease("20")
    (90.0, 5400.0, 20.0)
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "s")
    try:
        return float(number) * UNITS[unit]
    except ValueError:
        raise ValueError(f"lease must be a time such as 90s, 30m, 24h or 2d, got {text!r}") from None


def outcome(words: Sequence[str]) -> dict[str, float] | list[float]:
    """'a=1 b=2' by name, or '1 2' in order.

    >>> outcome(["gain=1.5"]), outcome(["1.5", "2"])
    ({'gain': 1.5}, [1.5, 2.0])
    """
    if not any("=" in word for word in words):
        return [_number(word) for word in words]
    found: dict[str, float] = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        if not equals or name in found:
            raise ValueError(f"values must be objective=value, each objective once, got {word!r}")
        found[name] = _number(value)
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"values must be numbers, got {text!r}") from None


def ask(known: dict[str, Any]) -> dict[str, Any]:
    """Ask in a terminal for what is not known yet."""
    answers = dict(known)
    answers["name"] = typer.prompt("Name of the study")
    if not answers["arms"]:
        given = typer.prompt("Options to try (separated by commas, or a CSV file whose first column names them)")
        path = Path(given)
        answers["arms"] = read_arms(None, path) if path.suffix == ".csv" else _listed(given)
    if not answers["objectives"]:
        answers["objectives"] = _listed(typer.prompt("What is measured (separated by commas)"))
        answers["minimise"] = _listed(typer.prompt("Which of them are costs (none: just Enter)", default=""))
    if not answers["variance"] and not answers["family"]:
        typer.echo("How are outcomes spread? The variance of one measurement, or a word: unknown or shared (a variance")
        typer.echo(
            "to be estimated, for each option or for all), bernoulli (0 or 1), poisson (counts), exponential (times)."
        )
        answers["family"] = [f"{name}={_spread(typer.prompt(f'  {name}'))}" for name in answers["objectives"]]
    if not answers["cone"]:
        answers["cone"] = typer.prompt("Preference cone", default="orthant")
    answers["delta"] = typer.prompt("Risk of a wrong answer", default=answers["delta"], type=float)
    budget = typer.prompt("Most pulls (no limit: just Enter)", default="")
    answers["max_pulls"] = _whole(budget) if budget else None
    lease = typer.prompt("When does a pull give up its place, as in 24h (never: just Enter)", default="")
    answers["lease"] = lease or None
    return answers


def _spread(text: str) -> str:
    """A number is the variance of a Gaussian."""
    try:
        return f"gaussian({float(text)!r})"
    except ValueError:
        return text


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"max_pulls must be a whole number, got {text!r}") from None


def _listed(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def settings(words: dict[str, Any], *, rule: str, threshold: str, seed: int) -> dict[str, Any]:
    """The arguments of Study.create."""
    for name, option in (("arms", "--arm or --arms-from"), ("objectives", "--objective")):
        if not words[name]:
            raise ValueError(f"{name} must be given with {option}, got none")
    objectives = tuple(words["objectives"])
    variance = parse_numbers("variance", words["variance"]) if words["variance"] else None
    family = choose_family(objectives, [""] * len(objectives), words["family"], variance)
    if family is None:
        raise ValueError("variance must be given with --variance, or families with --family, got neither")
    return {
        "name": words["name"],
        "arms": tuple(words["arms"]),
        "objectives": objectives,
        "minimise": tuple(words["minimise"]),
        "family": family,
        "cone": parse_cone(words["cone"], objectives) if words["cone"] else None,
        "delta": words["delta"],
        "sampling": make_rules([rule], "complete")[0],
        "threshold": threshold,
        "seed": seed,
        "max_pulls": words["max_pulls"],
        "lease": None if words["lease"] is None else parse_lease(words["lease"]),
    }
