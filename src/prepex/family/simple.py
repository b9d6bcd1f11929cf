"""Families without parameters, and a family for each objective."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks
from prepex.errors import InputError, shown
from prepex.family.base import Family, sum_of_laws
from prepex.family.gaussian import Gaussian, LogNormal
from prepex.family.laws import BERNOULLI, EXACT, EXPONENTIAL, GAUSSIAN, POISSON, STUDENT, Laws


class Simple(Family):
    """A family without parameters: the same law for every objective."""

    code: ClassVar[int]

    def laws(self, n_arms: int, n_objectives: int) -> Laws:
        """The same law for every objective."""
        name = type(self).__name__
        return Laws(np.full(n_objectives, self.code), np.ones(n_objectives), (name,) * n_objectives)

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other), summed over objectives: the information per pull of `arm` against mean `other`."""
        return sum_of_laws(self, mean, other, arm)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


@dataclass(frozen=True, eq=False, repr=False)
class Bernoulli(Simple):
    """Outcomes 0 or 1; the mean is the chance of a 1.

    >>> round(Bernoulli().divergence([0.5], [0.25]), 4)
    0.1438
    """

    code: ClassVar[int] = BERNOULLI


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Simple):
    """Counts 0, 1, 2, ...

    >>> round(Poisson().divergence([2.0], [1.0]), 4)
    0.3863
    """

    code: ClassVar[int] = POISSON


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Simple):
    """Positive outcomes, such as times, with an exponential distribution; the parameter is the mean.

    >>> round(Exponential().divergence([2.0], [1.0]), 4)
    0.3069
    """

    code: ClassVar[int] = EXPONENTIAL


@dataclass(frozen=True, eq=False, repr=False)
class Exact(Simple):
    """An objective without noise, such as a price: the first outcome of an arm is the truth.

    >>> from prepex import Gaussian, Product
    >>> Product([Gaussian(variance=1.0), Exact()]).divergence([0.0, 3.0], [1.0, 3.0]), Exact().divergence([1.0], [2.0])
    (0.5, inf)
    """

    code: ClassVar[int] = EXACT


@dataclass(frozen=True, eq=False, init=False)
class Product(Family):
    """A family for each objective, independent given the arm.

    >>> Product([Bernoulli(), Gaussian(variance=2.0), Poisson()])
    Product([Bernoulli(), Gaussian(variance=2.0), Poisson()])
    """

    families: tuple[Family, ...]

    def __init__(self, families: Sequence[Family]) -> None:
        if isinstance(families, str) or not isinstance(families, Sequence) or not families:
            raise InputError(f"families must be a sequence, one for each objective, got {shown(families)}")
        given = tuple(families)
        for family in given:
            _checks.instance("families", family, Family)
            if isinstance(family, Product):
                raise InputError("families must be one for each objective, got a Product among them")
            if isinstance(family, Gaussian | LogNormal) and not family.single:
                raise InputError(f"families must be of one objective each, got {family!r}")
        object.__setattr__(self, "families", given)

    def __repr__(self) -> str:
        return f"Product([{', '.join(map(repr, self.families))}])"

    def laws(self, n_arms: int, n_objectives: int) -> Laws:
        """One each."""
        if len(self.families) != n_objectives:
            raise InputError(f"families must be {n_objectives} = n_objectives, got {len(self.families)}")
        codes, scale, names = [], np.ones(n_objectives), []
        noise, shared = np.ones((n_arms, n_objectives)), np.zeros(n_objectives, dtype=np.bool_)
        told, logs = True, []
        for q, family in enumerate(self.families):
            single = family.laws(n_arms, 1)
            if single is None:
                assert isinstance(family, Gaussian)
                codes.append(GAUSSIAN)
                names.append(repr(family))
                scale[q] = noise[:, q] = family.covariances(1, 1)[0, 0, 0]
            else:
                codes.append(int(single.codes[0]))
                names.append(single.names[0])
                scale[q] = single.scale[0]
                shared[q] = single.shared[0]
                logs += [q] if single.logs else []
                if single.unknown:
                    told = told and single.noise is not None
                    if single.noise is not None:
                        noise[:, q] = single.noise[:, 0]
        given = (STUDENT in codes or shared.any()) and told
        return Laws(np.array(codes), scale, tuple(names), noise if given else None, shared, tuple(logs))

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other), summed over objectives: the information per pull of `arm` against mean `other`.

        >>> Product([Gaussian(variance=2.0), Poisson()]).divergence([0.0, 1.0], [2.0, 1.0])
        1.0
        """
        return sum_of_laws(self, mean, other, arm)
