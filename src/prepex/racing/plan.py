"""A race of commands, checked: from the words of a shell or of a TOML file."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prepex import _checks
from prepex.cone import Cone
from prepex.errors import InputError, shown
from prepex.family import Family
from prepex.racing.amounts import amount
from prepex.racing.loop import Budget
from prepex.racing.measures import Measure, check_paths, parse_measure
from prepex.racing.options import Option, Template, fields, make_options, parse_values
from prepex.racing.question import ROUNDS, Question
from prepex.spoken import parse_family, parse_limit

# What a TOML file may say; the same words as options of the command, with "-" or "_".
KEYS = (
    "option", "minimise", "maximise", "measure", "family", "tolerance", "at_most", "at_least", "limit", "cone", "delta",
    "budget", "prepare", "warmup", "jobs", "timeout", "shell", "env", "input", "seed", "sample", "rounds", "failed",
    "on_failure", "storage", "study", "report", "export",
)  # fmt: skip
OPTION_KEYS = ("command", "name", "with", "prepare", "env")


@dataclass(frozen=True)
class Plan:
    """Options, measures, how trials are run, and what is asked."""

    options: tuple[Option, ...]
    measures: tuple[Measure, ...]
    question: Question
    folder: Path
    shell: bool = True
    timeout: float | None = None
    warmup: int = 0
    jobs: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)

    @property
    def spec(self) -> dict[str, Any]:
        """What must be the same for a race to go on."""
        return {
            "options": {
                option.name: [option.command, option.prepare, dict(option.env)]
                if option.prepare or option.env
                else option.command
                for option in self.options
            },
            "measures": {measure.name: f"{measure.kind}:{measure.argument}" for measure in self.measures},
            "shell": self.shell,
            "timeout": self.timeout,
            "env": dict(self.env),
            "inputs": list(self.inputs),
            "failed": dict(self.question.failed),
            "on failure": self.question.on_failure,
        }


def read_toml(path: Path) -> dict[str, Any]:
    """The file, its keys as Python writes them."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} must be a TOML file, got one that cannot be read: {error}") from None
    found = {key.replace("-", "_"): value for key, value in given.items()}
    unknown = [key for key in found if key not in KEYS]
    if unknown:
        raise InputError(f"{path} must have keys of {', '.join(KEYS)}, got {unknown[0]!r}")
    return found


def read_templates(given: Any, prepare: str | None) -> list[Template]:
    """The [[option]] tables of a file."""
    if not isinstance(given, list) or not all(isinstance(entry, Mapping) for entry in given):
        raise InputError(f"option must be tables, [[option]] with command = ..., got {shown(given)}")
    made = []
    for entry in given:
        unknown = [key for key in entry if key not in OPTION_KEYS]
        if unknown or not isinstance(entry.get("command"), str):
            raise InputError(
                f"an [[option]] must have a command, and maybe name, with, prepare, env, got {shown(entry)}"
            )
        values = {name: parse_values(name, listed) for name, listed in _table("with", entry.get("with")).items()}
        own = entry.get("prepare", prepare)
        made.append(Template(entry["command"], values, entry.get("name"), own, _texts("env", entry.get("env"))))
    return made


def make_plan(
    templates: Sequence[Template],
    *,
    minimise: Sequence[str] = (),
    maximise: Sequence[str] = (),
    measure: Mapping[str, str] | None = None,
    family: Mapping[str, str] | None = None,
    tolerance: Mapping[str, Any] | str | float | None = None,
    at_most: Mapping[str, Any] | None = None,
    at_least: Mapping[str, Any] | None = None,
    limit: Sequence[str] = (),
    cone: Cone | None = None,
    delta: float = 0.05,
    budget: str | int | None = None,
    warmup: int = 0,
    jobs: int | None = None,
    timeout: str | float | None = None,
    shell: bool = True,
    env: Mapping[str, str] | None = None,
    input: Sequence[str] = (),
    seed: int = 0,
    sample: int | None = None,
    rounds: int = ROUNDS,
    failed: Mapping[str, Any] | None = None,
    on_failure: str = "stop",
    folder: Path = Path(),
) -> Plan:
    """Everything checked, before anything is run."""
    seed = _checks.seed(seed)
    options = make_options(
        templates, sample=None if sample is None else _checks.whole("sample", sample, low=2), seed=seed
    )
    measures = _measures(minimise, maximise, _texts("measure", measure), options)
    units = {entry.name: entry.unit for entry in measures}
    families: dict[str, Family | None] = {entry.name: entry.family for entry in measures}
    for name, word in _texts("family", family).items():
        families[_known("family", name, units)] = parse_family(name, word)
    inputs = _inputs(input, options, folder)
    question = Question(
        options=tuple(option.name for option in options),
        objectives=tuple(units),
        minimise=tuple(minimise),
        families=families,
        cone=cone,
        delta=_checks.number("delta", delta, low=0.0, high=1.0),
        tolerance=_tolerance(tolerance, units),
        at_most=_amounts("at_most", at_most, units),
        at_least=_amounts("at_least", at_least, units),
        limits=[parse_limit(text) for text in limit],
        seed=seed,
        rounds=_checks.whole("rounds", rounds, low=2),
        failed=_amounts("failed", failed, units),
        on_failure=on_failure,
        units=units,
    )
    timed = any(entry.kind in ("time", "cpu") for entry in measures)
    return Plan(
        options=options,
        measures=measures,
        question=question,
        folder=folder,
        shell=_checks.instance("shell", shell, bool),
        timeout=None if timeout is None else _positive("timeout", timeout),
        warmup=_checks.whole("warmup", warmup, low=0),
        jobs=(1 if timed else os.cpu_count() or 1) if jobs is None else _checks.whole("jobs", jobs, low=1),
        env=_texts("env", env),
        inputs=inputs,
        budget=_budget(budget, len(options)),
    )


def _measures(
    minimise: Sequence[str], maximise: Sequence[str], sources: Mapping[str, str], options: Sequence[Option]
) -> tuple[Measure, ...]:
    named = [*minimise, *maximise]
    if not named:
        raise InputError("a race must have an objective, as in --minimise time, got none")
    for name in named:
        if not isinstance(name, str) or named.count(name) > 1:
            raise InputError(f"objectives must be names, each given once, got {shown(name)}")
    idle = [name for name in sources if name not in named]
    if idle:
        raise InputError(f"measure {idle[0]!r} must be minimised or maximised, got neither")
    found = tuple(parse_measure(name, sources.get(name)) for name in named)
    for measure in found:
        if measure.kind == "exit" and measure.name in minimise:
            raise InputError("exit must be maximised (it is 1 where a run succeeds), got it minimised")
        for option in options:
            check_paths(measure, [*option.parameters], option.command)
    return found


def _inputs(patterns: Sequence[str], options: Sequence[Option], folder: Path) -> tuple[str, ...]:
    """The files that the patterns find, and {input} where there are some."""
    import glob

    found: list[str] = []
    for pattern in patterns:
        # Not Path.glob, which refuses absolute patterns.
        matched = sorted(glob.glob(pattern, root_dir=folder, recursive=True))  # noqa: PTH207
        if not matched:
            raise InputError(f"input must be files that exist, got {pattern!r}, which none matches")
        found += matched
    for option in options:
        used = "input" in fields(option.command)
        if used and not found:
            raise InputError(
                f"option {option.name!r} has {{input}}, and input must say which: --input 'files/*', got none"
            )
        if found and not used:
            raise InputError(f"option {option.name!r} must have {{input}} in its command where inputs are given")
    return tuple(dict.fromkeys(found))


def _budget(given: str | int | None, n_options: int) -> Budget:
    if given is None:
        return Budget()
    if isinstance(given, str) and given.strip().isdigit():
        given = int(given)
    if isinstance(given, int):
        return Budget(outcomes=_checks.whole("budget", given, low=n_options))
    return Budget(seconds=_positive("budget", given))


def _positive(name: str, given: Any) -> float:
    value = amount(name, given, "s")
    if value <= 0.0:
        raise InputError(f"{name} must be longer than no time, got {shown(given)}")
    return value


def _tolerance(given: Any, units: Mapping[str, str]) -> Any:
    if given is None or not isinstance(given, Mapping):
        return given
    found: dict[str, Any] = {}
    for name, size in given.items():
        share = isinstance(size, str) and size.strip().endswith("%")
        unit = units[_known("tolerance", name, units)]
        found[name] = size.strip() if share else amount(f"tolerance of {name!r}", size, unit)
    return found


def _amounts(name: str, given: Mapping[str, Any] | None, units: Mapping[str, str]) -> dict[str, float]:
    table = _table(name, given)
    return {key: amount(f"{name} of {key!r}", value, units[_known(name, key, units)]) for key, value in table.items()}


def _known(name: str, key: str, units: Mapping[str, str]) -> str:
    if key not in units:
        hint = _checks.meant(key, units)
        raise InputError(f"{name} must be of an objective, {_checks.quoted(tuple(units))}, got {shown(key)}{hint}")
    return key


def _table(name: str, given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{name} must be a table of names and values, got {shown(given)}")
    return given


def _texts(name: str, given: Any) -> dict[str, str]:
    table = _table(name, given)
    for key, value in table.items():
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise InputError(f"{name} of {key!r} must be text, got {shown(value)}")
    return {key: str(value) for key, value in table.items()}
