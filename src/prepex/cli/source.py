"""From the words of a command line to a Problem."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from prepex.cone import Cone, Worth, one
from prepex.errors import InputError
from prepex.instances import INSTANCES, Table, load, read_table
from prepex.problem import Problem
from prepex.sampling import RULES, Rule
from prepex.spoken import choose_family, parse_variances
from prepex.tables import comma_hint, plain_number
from prepex.unit_names import in_full, plain_names

CONE_HELP = (
    "orthant, angle:120, facets:1,0;0.5,1, rays:1,0;0,1, tradeoffs:A=0.5..2 B (one A is worth 0.5 to 2 B; "
    "several separated by ;) or file:NAME, which `prepex cone` wrote"
)


def parse_numbers(name: str, text: str) -> tuple[float, ...]:
    """'1, 2.5' as numbers."""
    numbers = [plain_number(entry.strip()) for entry in text.split(",")]
    if None in numbers:
        raise InputError(f"{name} must be numbers separated by commas, got {text!r}")
    return tuple(value for value in numbers if value is not None)


def parse_cone(text: str, objectives: Sequence[str]) -> Cone:
    """A cone in the grammar of CONE_HELP; objectives may be named without their units.

    >>> parse_cone("tradeoffs:strength=0.5..1 cost", ("strength [MPa]", "cost [EUR]")).objectives
    ('strength [MPa]', 'cost [EUR]')
    """
    kind, _, argument = text.partition(":")
    makers: dict[str, Callable[[], Cone]] = {
        "orthant": lambda: Cone.orthant(len(objectives)),
        "angle": lambda: Cone.angle(_parse_angle(argument)),
        "facets": lambda: Cone.from_facets(_parse_rows("cone facets", argument)),
        "rays": lambda: Cone.from_rays(_parse_rows("cone rays", argument)),
        "tradeoffs": lambda: Cone.tradeoffs(
            tuple(objectives), *(_parse_worth(part, objectives) for part in argument.split(";"))
        ),
    }
    if kind == "file":
        from prepex.cli.cone import read_statements

        return _in_full(read_statements(Path(argument)), objectives).ordered(objectives)
    if kind not in makers:
        raise InputError(f"cone must be {CONE_HELP}, got {text!r}")
    if kind == "orthant" and argument:
        raise InputError(f"cone orthant takes no argument, got {text!r}")
    cone = makers[kind]()
    if cone.n_objectives != len(objectives):
        raise InputError(f"cone must be over {len(objectives)} objectives, got {text!r} over {cone.n_objectives}")
    return cone


def _in_full(cone: Cone, objectives: Sequence[str]) -> Cone:
    """One whose objectives were named without their units, or that was saved so."""
    if cone.objectives is None or set(cone.objectives) == set(objectives):
        return cone
    whole = dict(zip(plain_names(objectives), objectives, strict=True))
    full = tuple(whole.get(name, name) for name in cone.objectives)
    return replace(cone, objectives=full, name=cone.name and f"{cone.name.partition('(')[0]}({', '.join(full)})")


def read_problem(
    source: str,
    *,
    cone: str | None = None,
    variance: str | None = None,
    families: Sequence[str] = (),
    objectives: Sequence[str] = (),
    minimise: Sequence[str] = (),
    order_only: bool = False,
) -> Problem:
    """An instance by name, or the means in a CSV file with the given families. `order_only`: for a Pareto set of
    means, which needs none. A bound on a user's file is meaningless without the noise: no silent guess."""
    if _is_file(source):
        table = read_table(source, objectives=tuple(objectives) or None)
        if not objectives:
            _refuse_beside_means(table, source, [*minimise, *(option.partition("=")[0].strip() for option in families)])
        order = parse_cone(cone, table.objectives) if cone else Cone.orthant(len(table.objectives))
        numbers = None if variance is None else parse_variances(variance)
        if order_only:
            numbers = None if all(table.families) or len(families) == len(table.objectives) else parse_variances("1")
        family = choose_family(table.objectives, table.families, families, numbers)
        laws = family.laws(1, len(table.objectives)) if family is not None else None
        if laws is not None and laws.unknown and laws.noise is None and not order_only:
            raise InputError(
                "family of a simulation must say what the variance truly is: unknown(2.0), or of the logarithm: "
                "lognormal(0.01), got no number"
            )
        if family is None:
            raise InputError(
                "variance must be given for a CSV file: --variance 0.5, or one per objective: --variance 0.5,2; "
                "or a family: --family cured=bernoulli"
            )
        return Problem(
            table.means,
            family=family,
            cone=order,
            arms=table.arms,
            objectives=table.objectives,
            minimise=[in_full(name, table.objectives) for name in minimise],
        )
    if variance or objectives or minimise or families:
        raise InputError(
            f"variance, family, objective and minimise are for a CSV file of your own, got instance {source!r}"
        )
    problem = load(source)
    return problem.with_cone(parse_cone(cone, problem.labels.objectives)) if cone else problem


def _refuse_beside_means(table: Table, source: str, said: Sequence[str]) -> None:
    """Counts and spreads of a summary are no objectives, unless somebody says so: by name, or by a family."""
    from prepex.analysis.reading import Column
    from prepex.analysis.roles import beside_means

    cells = dict(zip(table.objectives, table.means.T, strict=True))
    named = {in_full(name, table.objectives) for name in said}
    named |= {name for name, family in zip(table.objectives, table.families, strict=True) if family}
    found = [c.name for c in beside_means([Column(name, (), x) for name, x in cells.items()]) if c.name not in named]
    others = [name for name in table.objectives if name not in found]
    if found and others:
        only = " ".join(f"--objective {name!r}" for name in others)
        one = len(found) == 1
        raise InputError(
            f"objectives of {source} must be clear: {', '.join(map(repr, found))} {'looks' if one else 'look'} like "
            f"{'a count or a spread' if one else 'counts and spreads'}, as `prepex analyse` reads them. Name every "
            f"objective, as in {only}, or use `prepex analyse`"
        )


def make_rules(names: Sequence[str], alternatives: str) -> list[Rule]:
    """Sampling rules by name; the alternatives matter to those that look at them."""
    unknown = [name for name in names if name not in RULES]
    if unknown:
        raise InputError(f"rule must be one of {', '.join(RULES)}, got {unknown[0]!r}")
    return [RULES[name](alternatives=alternatives) for name in names]  # type: ignore[arg-type]


def check_outputs(save: Path | None, plot: Path | None) -> None:
    """Refuse a bad file name, and what is not installed, before hours of simulation, not after."""
    from prepex import drawing, runs

    if save is not None and runs.check_ending(save, runs.FORMATS).suffix == ".parquet":
        runs.need_parquet()
    if plot is not None:
        runs.check_ending(plot, drawing.FORMATS)
        drawing.figure_class()
    for path in (save, plot):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"path must be in a folder that exists, got {str(path)!r}")


def _is_file(source: str) -> bool:
    if source.partition(":")[0] in INSTANCES:
        return False
    looks_like_one = Path(source).suffix != "" or "/" in source or Path(source).exists()
    return looks_like_one


def _parse_angle(text: str) -> float:
    value = plain_number(text.strip())
    if value is None:
        raise InputError(f"cone angle must be a number of degrees, as in angle:120, got {text!r}")
    return value


def _parse_rows(name: str, text: str) -> list[tuple[float, ...]]:
    rows = [parse_numbers(name, row) for row in text.split(";")]
    if len({len(row) for row in rows}) != 1:
        raise InputError(f"{name} must be rows of equal length, got {text!r}")
    return rows


def _parse_worth(text: str, objectives: Sequence[str]) -> Worth:
    """'A=0.5..2 B': one A is worth 0.5 to 2 B; either rate may be left out, and so may units in names."""
    unit, equals, rest = text.partition("=")
    rates, _, of = rest.strip().partition(" ")
    low, dots, high = rates.partition("..")
    if not (equals and dots and of.strip() and (low or high)):
        raise InputError(f"a trade-off must read A=0.5..2 B, got {text!r}")
    numbers = [_parse_rate(rate, text) if rate else None for rate in (low, high)]
    unit, of = (in_full(name.strip(), objectives) for name in (unit, of))
    return one(unit).is_worth(at_least=numbers[0], at_most=numbers[1], of=of)


def _parse_rate(rate: str, text: str) -> float:
    value = plain_number(rate.strip())
    if value is None:
        raise InputError(f"a trade-off must have numbers as rates{comma_hint(rate)}, got {text!r}")
    return value
