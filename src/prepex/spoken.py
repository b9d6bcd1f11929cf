"""Families, tolerances and limits in the words of a command line, of a form or of a table's header."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prepex.errors import InputError
from prepex.family import Bernoulli, Exact, Exponential, Family, Gaussian, LogNormal, Poisson, Product
from prepex.limits import Limit, LimitOptions
from prepex.tables import comma_hint, plain_number
from prepex.tolerance import Size
from prepex.unit_names import in_full

FAMILY_HELP = (
    "bernoulli, poisson, exponential, lognormal, lognormal(shared), gaussian(VARIANCE), unknown, shared, exact, "
    "or to simulate unknown(VARIANCE), lognormal(VARIANCE OF THE LOGARITHM)"
)
TOLERANCE_HELP = (
    "OBJECTIVE=SIZE, a difference that does not matter, in its units, or a share as in 5% if it is lognormal; "
    "repeat it, or give one for all"
)
LIMIT_HELP = "'cost + 2 time <= 10': a sum of objectives that an option must keep to; may be repeated"
PRIOR_HELP = (
    "OBJECTIVE=MEAN:SPREAD, with --threshold posterior: what is believed of the true means before the start, "
    "mean and standard deviation; flat where nothing is said; may be repeated"
)
VARIANCE_HELP = "a number, or unknown or shared if it must be estimated: one, or one for each objective"
# A weight, if there is one, and an objective.
_TERM = re.compile(r"(?:(\d[\d.eE]*)(?:\s*\*\s*|\s+))?(.+)")
_PLAIN = {"exact": Exact, "bernoulli": Bernoulli, "poisson": Poisson, "exponential": Exponential}


def parse_family(name: str, text: str) -> Family:
    """The family of objective `name`.

    `unknown` and `shared`: of a variance that the experiment must estimate, for each arm or for all together. To
    simulate it, say what it truly is.

    >>> parse_family("cost", "gaussian(2.0)")
    Gaussian(variance=2.0)
    >>> parse_family("cost", "unknown(2.0)")
    Gaussian(variance='unknown', noise=2.0)
    >>> parse_family("time", "lognormal"), parse_family("time", "lognormal(0.01)")
    (LogNormal(), LogNormal(noise=0.01))
    """
    word = text.strip().lower()
    if word in _PLAIN:
        return _PLAIN[word]()
    if word in ("unknown", "shared"):
        return Gaussian(variance="unknown", shared=word == "shared")
    if word in ("lognormal", "lognormal(shared)"):
        return LogNormal(shared="shared" in word)
    given = re.fullmatch(r"(gaussian|unknown|shared|lognormal)\((.+)\)", word)
    value = plain_number(given[2].strip()) if given else None
    with contextlib.suppress(InputError):
        if given and value is not None:
            if given[1] == "gaussian":
                return Gaussian(variance=value)
            if given[1] == "lognormal":
                return LogNormal(noise=value)
            return Gaussian(variance="unknown", noise=value, shared=given[1] == "shared")
    raise InputError(f"family of {name!r} must be {FAMILY_HELP}, variances positive, got {text!r}")


def choose_family(
    objectives: Sequence[str], header: Sequence[str], options: Sequence[str], variances: Sequence[Gaussian] | None
) -> Family | None:
    """From the header, `--family OBJECTIVE=FAMILY` and `--variance`; the options win. None if nothing is said.

    >>> choose_family(("cured", "cost [EUR]"), ("bernoulli", ""), ("cost=gaussian(2)",), None)
    Product([Bernoulli(), Gaussian(variance=2.0)])
    """
    words, said = dict(zip(objectives, header, strict=True)), set[str]()
    for option in options:
        given, equals, text = option.partition("=")
        name = in_full(given.strip(), objectives)
        if not equals or name not in words:
            known = ", ".join(map(repr, objectives))
            raise InputError(f"family must read OBJECTIVE=FAMILY with an objective of {known}, got {option!r}")
        if name in said:
            raise InputError(f"family of {name!r} must be given once, got {words[name]!r} and {text!r}")
        said.add(name)
        words[name] = text
    if variances is not None and words and all(words.values()):
        raise InputError("variance must be left out where every objective has a family, got both")
    if variances is not None and len(variances) not in (1, len(objectives)):
        raise InputError(f"variance must be one number or {len(objectives)}, got {len(variances)}")
    if not any(words.values()):
        return None if variances is None else _joined(variances)
    families: list[Family] = []
    for index, (name, text) in enumerate(words.items()):
        if text:
            families.append(parse_family(name, text))
        elif variances is not None:
            families.append(variances[index if len(variances) > 1 else 0])
        else:
            raise InputError(f"family of {name!r} must be given: --family {name}=bernoulli, or --variance")
    return Product(families)


def parse_variances(text: str) -> tuple[Gaussian, ...]:
    """What --variance says: one entry for all objectives, or one for each.

    >>> parse_variances("0.5, unknown")
    (Gaussian(variance=0.5), Gaussian(variance='unknown'))
    """
    found = []
    for entry in text.split(","):
        number = plain_number(entry.strip())
        word = f"gaussian({number!r})" if number is not None else entry.strip()
        try:
            family = parse_family("variance", word)
        except InputError:
            family = None
        if not isinstance(family, Gaussian):
            raise InputError(
                f"variance must be {VARIANCE_HELP}, numbers positive and with a decimal point (a comma separates "
                f"objectives), as in 0.5 or 0.5,2, got {text!r}"
            )
        found.append(family)
    return tuple(found)


def parse_tolerance(options: Sequence[str]) -> Size | dict[str, Size] | None:
    """What --tolerance says; None if nothing.

    >>> parse_tolerance(["strength=0.5", "time=5%"]), parse_tolerance(["0.5"]), parse_tolerance([])
    ({'strength': 0.5, 'time': '5%'}, 0.5, None)
    """
    found: dict[str, Size] = {}
    for option in options:
        name, equals, text = (part.strip() for part in option.rpartition("="))
        size = text if text.endswith("%") else plain_number(text)
        comma = comma_hint(text)
        if comma:
            raise InputError(f"tolerance must be a number{comma}, got {option!r}")
        if size is None and re.fullmatch(r"[+-]?[\d.,]+\s*[^\d\s.,%][^%]*", text):
            raise InputError(f"tolerance must be a number without its unit, as in strength=0.5, got {option!r}")
        if size is None or (equals and (not name or name in found)) or (not equals and len(options) > 1):
            raise InputError(
                "tolerance must be one number for all objectives, or OBJECTIVE=SIZE, each objective once, as in "
                f"strength=0.5 or time=5%, got {option!r}"
            )
        if not equals:
            return size
        found[name] = size
    return found or None


def parse_prior(options: Sequence[str]) -> dict[str, tuple[float, float]]:
    """What --prior says: OBJECTIVE=MEAN:SPREAD.

    >>> parse_prior(["strength=60:10"])
    {'strength': (60.0, 10.0)}
    """
    found: dict[str, tuple[float, float]] = {}
    for option in options:
        name, equals, text = (part.strip() for part in option.rpartition("="))
        mean, spread = (plain_number(part.strip()) for part in (text.partition(":")[0], text.partition(":")[2]))
        comma = "".join(comma_hint(part) for part in text.split(":")[:2])
        if comma:
            raise InputError(f"prior must have numbers{comma}, got {option!r}")
        if not equals or not name or name in found or mean is None or spread is None:
            raise InputError(
                f"prior must read OBJECTIVE=MEAN:SPREAD, each objective once, as in strength=60:10, got {option!r}"
            )
        found[name] = mean, spread
    return found


def parse_limits(at_most: Sequence[str], at_least: Sequence[str], limits: Sequence[str]) -> LimitOptions:
    """What --at-most, --at-least and --limit say, as arguments.

    >>> parse_limits(["toxicity=0.3"], [], ["cost + 2 time <= 10"])
    {'at_most': {'toxicity': 0.3}, 'at_least': None, 'limits': [Limit(cost + 2 time at most 10)]}
    """
    sides = [_parse_sides(name, given) for name, given in (("at_most", at_most), ("at_least", at_least))]
    return {"at_most": sides[0], "at_least": sides[1], "limits": [parse_limit(text) for text in limits]}


def _parse_sides(side: str, options: Sequence[str]) -> dict[str, float] | None:
    found: dict[str, float] = {}
    for option in options:
        name, equals, text = (part.strip() for part in option.rpartition("="))
        value = plain_number(text)
        comma = comma_hint(text)
        if comma:
            raise InputError(f"{side} must be a number{comma}, got {option!r}")
        if not equals or not name or name in found or value is None:
            raise InputError(f"{side} must read OBJECTIVE=NUMBER, each objective once, got {option!r}")
        found[name] = value
    return found or None


def parse_limit(text: str) -> Limit:
    """A sum of objectives, each with its weight before it, and what it must keep to.

    >>> parse_limit("toxicity <= 0.3"), parse_limit("gain - 0.5*cost >= 2")
    (Limit(toxicity at most 0.3), Limit(gain - 0.5 cost at least 2))
    """
    given = re.fullmatch(r"([^<>]+)(<=|>=)([^<>=]+)", text.strip())
    bound = plain_number(given[3].strip()) if given else None
    weights: dict[str, float] = {}
    if given and bound is not None:
        # Names may have signs inside: only those with a space on either side, or at the start, are ours.
        parts = re.split(r"(?:^|\s)([+-])\s+", re.sub(r"^\s*([+-])\s*", r"\1 ", given[1].strip()))
        if parts[0].strip():
            parts = ["", "+", *parts]
        for sign, term in zip(parts[1::2], parts[2::2], strict=True):
            found = _TERM.fullmatch(term.strip())
            weight, name = (None, "") if found is None else (plain_number(found[1] or "1"), found[2])
            if weight is None or not name or name in weights:
                break
            weights[name] = -weight if sign == "-" else weight
        else:
            return Limit(weights, at_most=bound) if given[2] == "<=" else Limit(weights, at_least=bound)
    raise InputError(
        "limit must read like 'toxicity <= 0.3' or 'cost + 2 time >= 10', each objective once, with a decimal point in "
        f"numbers, got {text!r}"
    )


def full_keys(what: str, given: Any, objectives: Sequence[str]) -> Any:
    """What was given by objective, by their whole names; anything else as it is.

    >>> full_keys("tolerance", {"cost": 1.0}, ("gain", "cost [EUR]")), full_keys("tolerance", 0.5, ("gain",))
    ({'cost [EUR]': 1.0}, 0.5)
    """
    if not isinstance(given, Mapping):
        return given
    found = {in_full(name, objectives): value for name, value in given.items()}
    if len(found) < len(given):
        raise InputError(f"{what} must have each objective once, got {', '.join(map(repr, given))}")
    return found


def full_limits(given: LimitOptions, objectives: Sequence[str]) -> LimitOptions:
    """Limits on objectives that are named with their units or without.

    >>> full_limits(parse_limits(["cost=3"], [], ["cost + gain <= 5"]), ("gain", "cost [EUR]"))
    {'at_most': {'cost [EUR]': 3.0}, 'at_least': None, 'limits': [Limit(cost [EUR] + gain at most 5)]}
    """
    return {
        "at_most": full_keys("at_most", given["at_most"], objectives),
        "at_least": full_keys("at_least", given["at_least"], objectives),
        "limits": [
            limit.renamed({name: in_full(name, objectives) for name in limit.names}) for limit in given["limits"]
        ],
    }


def _joined(variances: Sequence[Gaussian]) -> Family:
    """One family for all objectives."""
    if len(variances) == 1:
        return variances[0]
    if any(single.unknown for single in variances):
        return Product(list(variances))
    return Gaussian(variance=[float(np.asarray(single.variance)) for single in variances])
