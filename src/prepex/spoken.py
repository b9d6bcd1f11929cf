"""Families in the words of a command line or of a table's header."""

import contextlib
import re
from collections.abc import Sequence

import numpy as np

from prepex.errors import InputError
from prepex.family import Bernoulli, Exponential, Family, Gaussian, LogNormal, Poisson, Product
from prepex.tables import plain_number

FAMILY_HELP = (
    "bernoulli, poisson, exponential, lognormal, lognormal(shared), gaussian(VARIANCE), unknown, shared, "
    "or to simulate unknown(VARIANCE), lognormal(VARIANCE OF THE LOGARITHM)"
)
VARIANCE_HELP = "a number, or unknown or shared if it must be estimated: one, or one for each objective"
_PLAIN = {"bernoulli": Bernoulli, "poisson": Poisson, "exponential": Exponential}


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

    >>> choose_family(("cured", "cost"), ("bernoulli", ""), ("cost=gaussian(2)",), None)
    Product([Bernoulli(), Gaussian(variance=2.0)])
    """
    words, said = dict(zip(objectives, header, strict=True)), set[str]()
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or name.strip() not in words:
            known = ", ".join(map(repr, objectives))
            raise InputError(f"family must read OBJECTIVE=FAMILY with an objective of {known}, got {option!r}")
        if name.strip() in said:
            raise InputError(f"family of {name.strip()!r} must be given once, got {words[name.strip()]!r} and {text!r}")
        said.add(name.strip())
        words[name.strip()] = text
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


def _joined(variances: Sequence[Gaussian]) -> Family:
    """One family for all objectives."""
    if len(variances) == 1:
        return variances[0]
    if any(single.unknown for single in variances):
        return Product(list(variances))
    return Gaussian(variance=[float(np.asarray(single.variance)) for single in variances])
