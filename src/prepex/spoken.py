"""Families in the words of a command line or of a table's header."""

import re
from collections.abc import Sequence

from prepex.family import Bernoulli, Exponential, Family, Gaussian, Poisson, Product

FAMILY_HELP = "bernoulli, poisson, exponential, gaussian(VARIANCE), unknown, shared, or to simulate unknown(VARIANCE)"
_PLAIN = {"bernoulli": Bernoulli, "poisson": Poisson, "exponential": Exponential}


def parse_family(name: str, text: str) -> Family:
    """The family of objective `name`.

    `unknown` and `shared`: of a variance that the experiment must estimate, for each arm or for all together. To
    simulate it, say what it truly is.

    >>> parse_family("cost", "gaussian(2.0)")
    Gaussian(variance=2.0)
    >>> parse_family("cost", "unknown(2.0)")
    Gaussian(variance='unknown', noise=2.0)
    """
    word = text.strip().lower()
    if word in _PLAIN:
        return _PLAIN[word]()
    if word in ("unknown", "shared"):
        return Gaussian(variance="unknown", shared=word == "shared")
    given = re.fullmatch(r"(gaussian|unknown|shared)\((.+)\)", word)
    try:
        if given and given[1] == "gaussian":
            return Gaussian(variance=float(given[2]))
        if given:
            return Gaussian(variance="unknown", noise=float(given[2]), shared=given[1] == "shared")
    except ValueError:
        pass
    raise ValueError(f"family of {name!r} must be {FAMILY_HELP}, variances positive, got {text!r}")


def choose_family(
    objectives: Sequence[str], header: Sequence[str], options: Sequence[str], variances: tuple[float, ...] | None
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
            raise ValueError(f"family must read OBJECTIVE=FAMILY with an objective of {known}, got {option!r}")
        if name.strip() in said:
            raise ValueError(f"family of {name.strip()!r} must be given once, got {words[name.strip()]!r} and {text!r}")
        said.add(name.strip())
        words[name.strip()] = text
    if variances is not None and words and all(words.values()):
        raise ValueError("variance must be left out where every objective has a family, got both")
    if variances is not None and len(variances) not in (1, len(objectives)):
        raise ValueError(f"variance must be one number or {len(objectives)}, got {len(variances)}")
    if not any(words.values()):
        return None if variances is None else Gaussian(variance=variances[0] if len(variances) == 1 else variances)
    families: list[Family] = []
    for index, (name, text) in enumerate(words.items()):
        if text:
            families.append(parse_family(name, text))
        elif variances is not None:
            families.append(Gaussian(variance=variances[index if len(variances) > 1 else 0]))
        else:
            raise ValueError(f"family of {name!r} must be given: --family {name}=bernoulli, or --variance")
    return Product(families)
