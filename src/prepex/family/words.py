"""Families as people say them."""

from collections.abc import Sequence

import numpy as np

from prepex.family.base import Family
from prepex.family.gaussian import Gaussian, LogNormal
from prepex.family.simple import Bernoulli, Exact, Exponential, Poisson, Product
from prepex.numerals import number

_SIMPLE: dict[type[Family], str] = {
    Bernoulli: "Bernoulli (0 or 1)",
    Poisson: "Poisson (counts)",
    Exponential: "exponential (positive)",
    Exact: "exact (without noise)",
}


def family_words(family: Family, objectives: Sequence[str]) -> str:
    """What outcomes of these objectives are assumed to be.

    >>> family_words(Product([Gaussian(variance="unknown"), LogNormal()]), ("strength", "time"))
    'strength: Gaussian of unknown variance; time: log-normal (compared by factors)'
    >>> family_words(Gaussian(variance=2.0), ("strength",)), family_words(Bernoulli(), ("cured", "hurt"))
    ('Gaussian of variance 2', 'Bernoulli (0 or 1), each objective')
    >>> family_words(Gaussian(variance=[1.0, 4.0]), ("gain", "cost"))
    'Gaussian of variance 1 (gain), 4 (cost)'
    >>> family_words(LogNormal(noise=0.04), ("time",))
    'log-normal (compared by factors), simulated with variance of the logarithm 0.04'
    """
    if isinstance(family, Product):
        return "; ".join(f"{name}: {_one(entry)}" for name, entry in zip(objectives, family.families, strict=True))
    known = family if isinstance(family, Gaussian) and not family.unknown else None
    if known is not None and known.covariance is None and np.asarray(known.variance).ndim == 1:
        sizes = zip(np.asarray(known.variance).tolist(), objectives, strict=True)
        return f"Gaussian of variance {', '.join(f'{number(size)} ({name})' for size, name in sizes)}"
    alone = len(objectives) == 1 or (known is not None and not known.single)
    return _one(family) + ("" if alone else ", each objective")


def _one(family: Family) -> str:
    if isinstance(family, Gaussian):
        if family.unknown:
            return f"Gaussian of unknown variance{', the same for all options' if family.shared else ''}{_told(family)}"
        if family.single:
            return f"Gaussian of variance {number(float(np.asarray(family.variance)))}"
        return f"Gaussian of known {'variances' if family.covariance is None else 'covariance'}"
    if isinstance(family, LogNormal):
        shared = ", one spread for all options" if family.shared else ""
        return f"log-normal (compared by factors{shared}){_told(family)}"
    return _SIMPLE.get(type(family), repr(family))


def _told(family: Gaussian | LogNormal) -> str:
    """What a simulation is told of an unknown variance."""
    if family.noise is None:
        return ""
    size = np.asarray(family.noise, dtype=np.float64)
    what = "variance of the logarithm" if isinstance(family, LogNormal) else "variance"
    return f", simulated with {what} {number(float(size)) if size.ndim == 0 else size.tolist()}"
