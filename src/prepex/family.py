"""Families of reward distributions.

    family             outcomes                     d(mu, x)
    Gaussian           real, noise known            (mu - x)' covariance^-1 (mu - x) / 2
    Gaussian(variance="unknown")  real              1/2 log(1 + (mu - x)^2 / variance), summed over objectives
      the same, shared=True       real              as if it were known; a discount when it is compared with a threshold
    Bernoulli          0 or 1                       mu log(mu/x) + (1-mu) log((1-mu)/(1-x))
    Poisson            0, 1, 2, ...                 mu log(mu/x) + x - mu
    Exponential        positive, e.g. a time        mu/x - 1 - log(mu/x)
    LogNormal          positive, e.g. a time        that of a Gaussian of unknown variance, of log mu and log x
    Exact              any number, without noise    0 if x = mu, else infinite
    Product            one of these for each objective

The parameter of a LogNormal objective is its geometric mean: kernels see logarithms (units.py).
Objectives of other families than a Gaussian with a covariance are independent given the arm.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks, _named
from prepex._checks import Floats
from prepex._given import are_positions
from prepex.errors import InputError, shown
from prepex.units import Units

# Codes of _kernels/laws/law.py, which importing this module must not load.
GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL, STUDENT, EXACT = LAWS = 0, 1, 2, 3, 4, 5


@dataclass(frozen=True, eq=False)
class Laws:
    """A law for each objective: codes (L,), variances of the Gaussian ones (L,), and what the user calls them.

    `noise` (K, L): true or estimated variances of Gaussian objectives of unknown variance, None if not given.
    `shared` (L,): is the unknown variance of a Gaussian objective the same for all arms?
    `logs`: the objectives whose law is that of their logarithm.
    """

    codes: Any
    scale: Floats
    names: tuple[str, ...]
    noise: Floats | None = None
    shared: Any = False
    logs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        unknown = [code for code in np.asarray(self.codes).tolist() if code not in LAWS]
        if unknown:
            raise InputError(f"law must be one of the codes {', '.join(map(str, LAWS))}, got {unknown[0]!r}")
        object.__setattr__(self, "shared", np.broadcast_to(np.asarray(self.shared, dtype=np.bool_), len(self.codes)))

    @property
    def unknown(self) -> bool:
        """Is a variance estimated?"""
        return STUDENT in self.codes or bool(self.shared.any())

    @property
    def kinds(self) -> list[int]:
        """Codes (L,) that tell which outcomes and means there are: where the law is that of a logarithm, positive ones.

        >>> LogNormal().laws(1, 1).kinds == Exponential().laws(1, 1).kinds
        True
        """
        return [EXPONENTIAL if q in self.logs else int(code) for q, code in enumerate(self.codes)]

    @property
    def deviations(self) -> Floats:
        """Standard deviations of one reward of the Gaussian objectives, (L,) or (K, L)."""
        return np.sqrt(self.scale if self.noise is None else self.noise)


class Family(ABC):
    """How outcomes are distributed."""

    @abstractmethod
    def laws(self, n_arms: int, n_objectives: int) -> Laws | None:
        """A law for each objective; None for a Gaussian of known covariance, which has kernels of its own."""

    def units(self, n_objectives: int) -> Units:
        """Which objectives are compared by their logarithms.

        >>> LogNormal().units(2), Bernoulli().units(2)
        (Units(logs=(0, 1)), Units(logs=()))
        """
        laws = self.laws(1, n_objectives)
        return Units() if laws is None else Units(laws.logs)

    def ordered(self, arms: Sequence[str], objectives: Sequence[str]) -> "Family":
        """The same family with what was given by name in the order of these names."""
        return self

    def check_means(self, means: Floats, objectives: Sequence[str]) -> None:
        """Refuse means outside the domain, naming objective, family and value."""
        laws = self.laws(means.shape[0], means.shape[1])
        if laws is None:
            return
        for q, code in enumerate(laws.kinds):
            for k, mean in enumerate(means[:, q]):
                if not in_domain(code, mean) or _limit(code, mean):
                    raise InputError(
                        f"mean of {objectives[q]!r} must be {_DOMAIN[code]}{_limit(code, mean)} for {laws.names[q]}, "
                        f"got {mean:g} (arm {k})"
                    )

    def check_reward(self, reward: Floats, objectives: Sequence[str]) -> None:
        """Refuse a reward outside the support, naming objective, family and value."""
        self.check_values(dict(zip(objectives, reward.tolist(), strict=True)), objectives)

    def check_rewards(self, rewards: Floats, objectives: Sequence[str]) -> None:
        """The same of many rewards (n, L) at once."""
        laws = self.laws(1, len(objectives))
        if laws is None:
            return
        for q, code in enumerate(laws.kinds):
            for row in np.flatnonzero(~_in_support(code, rewards[:, q]))[:1]:
                self.check_values({objectives[q]: float(rewards[row, q])}, objectives)

    def as_numbers(self, outcome: Any, n_objectives: int) -> Any:
        """The same outcome; True and False of yes-or-no objectives become 1 and 0.

        >>> Bernoulli().as_numbers([True, False], 2), Gaussian(variance=1.0).as_numbers([True], 1)
        ([1.0, 0.0], [True])
        """
        laws = self.laws(1, n_objectives)
        if laws is None or not isinstance(outcome, list | tuple | np.ndarray):
            return outcome
        if isinstance(outcome, np.ndarray) and outcome.dtype == bool:
            yes_or_no = all(code == BERNOULLI for code in laws.codes)
            return outcome.astype(np.float64) if yes_or_no else outcome
        if len(outcome) != n_objectives:
            return outcome
        return [
            float(value) if code == BERNOULLI and isinstance(value, bool | np.bool_) else value
            for value, code in zip(outcome, laws.codes, strict=True)
        ]

    def check_values(self, values: Mapping[str, float], objectives: Sequence[str]) -> None:
        """The same for some of the objectives."""
        laws = self.laws(1, len(objectives))
        if laws is None:
            return
        for q, (name, code) in enumerate(zip(objectives, laws.kinds, strict=True)):
            if name in values and not _in_support(code, values[name]):
                raise InputError(
                    f"reward of {name!r} must be {_SUPPORT[code]}{_limit(code, values[name])} for {laws.names[q]}, "
                    f"got {values[name]:g}"
                )

    def summary_values(self, values: Mapping[str, float], objectives: Sequence[str], n: int) -> dict[str, float]:
        """Means of n outcomes, freed of rounding where outcomes are whole numbers. Refuse means that cannot be.

        >>> Bernoulli().summary_values({"cured": 0.33333333}, ("cured",), 3)
        {'cured': 0.3333333333333333}
        """
        laws, found = self.laws(1, len(objectives)), dict(values)
        if laws is None:
            return found
        if laws.unknown:
            unknown = next(q for q, code in enumerate(laws.codes) if code == STUDENT or laws.shared[q])
            raise InputError(
                f"outcomes of {objectives[unknown]!r} must be told one by one for {laws.names[unknown]}, "
                f"got a mean of {n}: the variance is estimated from their squares"
            )
        for q, (name, code) in enumerate(zip(objectives, laws.codes, strict=True)):
            if name not in values:
                continue
            possible = True
            if code in (BERNOULLI, POISSON):
                total = round(values[name] * n)
                # Beside the digits that a user leaves out, the rounding of a large mean.
                possible = abs(values[name] * n - total) <= max(WHOLE, 2.0**-52 * abs(total))
                found[name] = total / n
            if not possible or not in_domain(code, found[name]) or _limit(code, found[name]):
                raise InputError(
                    f"mean of {name!r} must be that of {n} outcomes, each {_SUPPORT[code]}"
                    f"{_limit(code, values[name])}, for {laws.names[q]}, got {values[name]!r} (with all its digits?)"
                )
        return found


# How far a sum of whole numbers, found from their mean, may be from one.
WHOLE = 1e-6
# The largest count that a double holds exactly, as it does every smaller one.
LARGEST_COUNT = 2.0**53
_SUPPORT = {BERNOULLI: "0 or 1", POISSON: "0, 1, 2, ...", EXPONENTIAL: "positive"}
_DOMAIN = {BERNOULLI: "in [0, 1]", POISSON: "at least 0", EXPONENTIAL: "positive"}


def _in_support(code: int, value: Any) -> Any:
    """Of one value, or of an array of them."""
    if code == BERNOULLI:
        return (value == 0.0) | (value == 1.0)
    if code == POISSON:
        return (value >= 0.0) & (value == np.floor(value)) & (value <= LARGEST_COUNT)
    return value >= _checks.SMALLEST if code == EXPONENTIAL else np.isfinite(value)


def in_domain(code: int, mean: float) -> bool:
    """Is it a mean that the law of this code can have?"""
    if code == BERNOULLI:
        return 0.0 <= mean <= 1.0
    if code == POISSON:
        return mean >= 0.0
    return code != EXPONENTIAL or mean > 0.0


def range_of(code: int) -> tuple[float, float]:
    """The least and the largest mean that the law of this code can have, or come near to."""
    low = 0.0 if code in (BERNOULLI, POISSON, EXPONENTIAL) else -np.inf
    return low, 1.0 if code == BERNOULLI else np.inf


def _limit(code: int, value: float) -> str:
    """Why a count is too large, or a positive number too small."""
    if code == POISSON and value > LARGEST_COUNT:
        return ", at most 2^53 (larger counts cannot be told apart)"
    return f", at least {_checks.SMALLEST:g}" if code == EXPONENTIAL and 0.0 < value < _checks.SMALLEST else ""


@dataclass(frozen=True, eq=False)
class Gaussian(Family):
    """Gaussian rewards; one of

    - `variance`: a scalar, or one per objective (independent objectives)
    - `covariance`: (L, L) shared by the arms, or (K, L, L) with one per arm
    - `variance="unknown"`: independent objectives, a variance for each objective of each arm, estimated from its
      outcomes, or with `shared=True` a variance for each objective, the same for all arms, estimated from all outcomes
      (under a cone whose facets mix objectives `certified` needs the correlations to be the same for all arms, too);
      a simulation is told the true ones by `noise`: a scalar, (L,), or (K, L) if not shared

    What has names (a mapping, a Series, a DataFrame such as `frame.cov()`) is put in the order of the objectives, and
    of the arms, by the experiment or problem that it is given to.

    >>> Gaussian(variance=0.5).covariances(n_arms=3, n_objectives=2)
    array([[[0.5, 0. ],
            [0. , 0.5]]])
    >>> Gaussian(covariance=[[1.0, 0.3], [0.3, 2.0]])
    Gaussian(covariance (2, 2))
    >>> Gaussian(variance="unknown", noise=2.0)
    Gaussian(variance='unknown', noise=2.0)
    >>> Gaussian(variance="unknown", shared=True)
    Gaussian(variance='unknown', shared=True)
    """

    variance: ArrayLike | str | None = None
    covariance: ArrayLike | None = None
    noise: ArrayLike | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        self._put_names_aside()
        if (self.variance is None) == (self.covariance is None):
            came = "neither" if self.variance is None else "both"
            raise InputError(f"Gaussian needs exactly one of variance= and covariance=, got {came}")
        for name, given in (("noise", self.noise is not None), ("shared", self.shared is not False)):
            if given and not self.unknown:
                raise InputError(f"{name} must be left out unless the variance is 'unknown'")
        if not isinstance(self.shared, bool):
            raise InputError(f"shared must be True or False, got {self.shared!r}")
        if self.noise is not None:
            if self.shared and np.ndim(self.noise) > 1:
                raise InputError(f"noise must be a number or one for each objective if shared, got {self.noise!r}")
            shape = [("n_arms", None), ("n_objectives", None)][2 - np.ndim(self.noise) :]
            checked = (
                _checks.variance("noise", self.noise)
                if np.ndim(self.noise) == 0
                else _checks.variances("noise", _checks.real_array("noise", self.noise, *shape))
            )
            object.__setattr__(self, "noise", checked)
        if self.unknown:
            return
        if self.variance is not None:
            object.__setattr__(self, "variance", _checked_variance(self.variance))
        else:
            object.__setattr__(self, "covariance", _checked_covariance(self.covariance))

    def _put_names_aside(self) -> None:
        """Numbers in their own order, until `ordered`."""
        names: dict[str, _named.Axes] = {}
        for name in ("variance", "covariance", "noise"):
            plain, axes = _named.unlabelled(name, getattr(self, name))
            kept = tuple(None if labels is None or are_positions(labels) else labels for labels in axes)
            if any(labels is not None for labels in kept):
                names[name] = kept
            if any(labels is not None for labels in axes):
                object.__setattr__(self, name, plain)
            if name == "covariance" and name in names:
                # Rows are what columns are, whichever of them say so.
                *outer, rows, columns = (None, None, *kept)[-max(len(kept), 2) :]
                rows, columns = rows or columns, columns or rows
                if rows != columns:
                    order = _named.order("rows of covariance", rows or (), [*map(str, columns or ())])
                    object.__setattr__(self, name, np.asarray(plain).take(order, axis=-2))
                names[name] = (*outer, columns, columns)
        object.__setattr__(self, "_names", names)

    def ordered(self, arms: Sequence[str], objectives: Sequence[str]) -> "Gaussian":
        """The same with what was given by name in the order of these names.

        >>> Gaussian(variance={"cost": 4.0, "gain": 1.0}).ordered(("a", "b"), ("gain", "cost"))
        Gaussian(variance=[1.0, 4.0])
        """
        names: dict[str, _named.Axes] = self.__dict__["_names"]
        if not names:
            return self
        given = {"variance": self.variance, "covariance": self.covariance, "noise": self.noise}
        for name, axes in names.items():
            table = np.asarray(given[name])
            # Of a variance for each arm, a noise or a covariance, the first dimension is that of the arms.
            by_arm = table.ndim == (3 if name == "covariance" else 2)
            for axis, labels in enumerate(axes):
                if labels is not None:
                    known = arms if by_arm and axis == 0 else objectives
                    table = table.take(_named.order(f"names of {name}", labels, known), axis=axis)
            given[name] = table
        return Gaussian(**given, shared=self.shared)

    def __repr__(self) -> str:
        if self.covariance is not None:
            return f"Gaussian(covariance {np.shape(self.covariance)})"
        if self.unknown:
            known = "" if self.noise is None else f", noise={np.asarray(self.noise).tolist()}"
            return f"Gaussian(variance='unknown'{', shared=True' if self.shared else ''}{known})"
        return f"Gaussian(variance={np.asarray(self.variance).tolist()})"

    @property
    def unknown(self) -> bool:
        """Is the variance estimated?"""
        return isinstance(self.variance, str) and self.variance == "unknown"

    @property
    def single(self) -> bool:
        """Is it about any one objective?"""
        several = (value is not None and np.ndim(value) > 0 for value in (self.variance, self.noise))
        return self.covariance is None and not any(several)

    def laws(self, n_arms: int, n_objectives: int) -> Laws | None:
        """None if the covariance is known."""
        if not self.unknown:
            return None
        noise = None
        if self.noise is not None:
            given = np.asarray(self.noise, dtype=np.float64)
            if given.ndim == 1 and given.size != n_objectives:
                raise InputError(f"noise must have shape ({n_objectives} = n_objectives,), got {given.shape}")
            if given.ndim == 2 and given.shape != (n_arms, n_objectives) and n_arms > 1:
                raise InputError(f"noise must have shape ({n_arms} = n_arms, {n_objectives}), got {given.shape}")
            noise = np.broadcast_to(given if given.ndim < 2 or n_arms > 1 else given[:1], (n_arms, n_objectives))
        names = (f"Gaussian(variance='unknown'{', shared=True' if self.shared else ''})",) * n_objectives
        code = GAUSSIAN if self.shared else STUDENT
        return Laws(np.full(n_objectives, code), np.zeros(n_objectives), names, noise, self.shared)

    def covariances(self, n_arms: int, n_objectives: int) -> Floats:
        """(1, L, L) if the arms share a covariance, else (K, L, L).

        >>> Gaussian(variance=[1.0, 4.0]).covariances(2, 2).shape
        (1, 2, 2)
        """
        if self.covariance is None:
            variance: Floats = np.asarray(self.variance, dtype=np.float64)
            if variance.ndim == 1 and variance.size != n_objectives:
                raise InputError(f"variance must have shape ({n_objectives} = n_objectives,), got {variance.shape}")
            return np.diag(np.broadcast_to(variance, n_objectives)).astype(np.float64)[None]
        covariance = np.asarray(self.covariance)
        expected = (n_arms, n_objectives, n_objectives)[3 - covariance.ndim :]
        if covariance.shape != expected:
            words = "(n_arms, n_objectives, n_objectives)" if covariance.ndim == 3 else "(n_objectives, n_objectives)"
            raise InputError(f"covariance must have shape {expected} = {words}, got {covariance.shape}")
        return covariance.reshape(-1, n_objectives, n_objectives)

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other): the information per pull of `arm` against mean `other` when the truth is `mean`.

        >>> Gaussian(variance=2.0).divergence([0.0, 0.0], [2.0, 0.0])
        1.0
        """
        mean = _checks.real_array("mean", mean, ("n_objectives", None))
        other = _checks.real_array("other", other, ("n_objectives", mean.size))
        if self.unknown:
            return _sum_of_laws(self, mean, other, arm)
        shape = np.shape(np.asarray(self.covariance)) if self.covariance is not None else ()
        stack = self.covariances(shape[0] if len(shape) == 3 else 1, mean.size)
        covariance = stack[arm if len(stack) > 1 else 0]
        return float(0.5 * (mean - other) @ np.linalg.solve(covariance, mean - other))


@dataclass(frozen=True, eq=False)
class LogNormal(Family):
    """Positive outcomes whose logarithm is Gaussian, of unknown variance: times, sizes, concentrations.

    Options are compared by factors: means are geometric means, a tolerance is a share (`"5%"`), and the unit of an
    outcome does not matter. `shared` and `noise` (of the natural logarithm; for simulations) as in `Gaussian`.

    >>> LogNormal(), LogNormal(shared=True), LogNormal(noise=0.01)
    (LogNormal(), LogNormal(shared=True), LogNormal(noise=0.01))
    >>> one, other = LogNormal(noise=0.01).divergence([2.0], [3.0]), LogNormal(noise=0.01).divergence([200.0], [300.0])
    >>> round(one, 9) == round(other, 9)
    True
    """

    noise: ArrayLike | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        logarithm = Gaussian(variance="unknown", noise=self.noise, shared=self.shared)
        object.__setattr__(self, "_logarithm", logarithm)
        object.__setattr__(self, "noise", logarithm.noise)

    @property
    def logarithm(self) -> Gaussian:
        """The family of the logarithms."""
        found: Gaussian = self.__dict__["_logarithm"]
        return found

    def ordered(self, arms: Sequence[str], objectives: Sequence[str]) -> "LogNormal":
        """The same with what was given by name in the order of these names."""
        return LogNormal(noise=self.logarithm.ordered(arms, objectives).noise, shared=self.shared)

    def __repr__(self) -> str:
        known = [] if self.noise is None else [f"noise={np.asarray(self.noise).tolist()}"]
        return f"LogNormal({', '.join([*(['shared=True'] if self.shared else []), *known])})"

    @property
    def single(self) -> bool:
        """Is it about any one objective?"""
        return self.logarithm.single

    def laws(self, n_arms: int, n_objectives: int) -> Laws:
        """Those of the logarithms."""
        found = self.logarithm.laws(n_arms, n_objectives)
        assert found is not None
        names = (f"LogNormal{'(shared=True)' if self.shared else ''}",) * n_objectives
        return replace(found, names=names, logs=tuple(range(n_objectives)))

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other) of geometric means, summed over objectives: the information per pull of `arm`."""
        return _sum_of_laws(self, mean, other, arm)


class _Simple(Family):
    """A family without parameters: the same law for every objective."""

    code: ClassVar[int]

    def laws(self, n_arms: int, n_objectives: int) -> Laws:
        """The same law for every objective."""
        name = type(self).__name__
        return Laws(np.full(n_objectives, self.code), np.ones(n_objectives), (name,) * n_objectives)

    def divergence(self, mean: ArrayLike, other: ArrayLike, *, arm: int = 0) -> float:
        """d(mean, other), summed over objectives: the information per pull of `arm` against mean `other`."""
        return _sum_of_laws(self, mean, other, arm)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


@dataclass(frozen=True, eq=False, repr=False)
class Bernoulli(_Simple):
    """Outcomes 0 or 1; the mean is the chance of a 1.

    >>> round(Bernoulli().divergence([0.5], [0.25]), 4)
    0.1438
    """

    code: ClassVar[int] = BERNOULLI


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(_Simple):
    """Counts 0, 1, 2, ...

    >>> round(Poisson().divergence([2.0], [1.0]), 4)
    0.3863
    """

    code: ClassVar[int] = POISSON


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(_Simple):
    """Positive outcomes, such as times, with an exponential distribution; the parameter is the mean.

    >>> round(Exponential().divergence([2.0], [1.0]), 4)
    0.3069
    """

    code: ClassVar[int] = EXPONENTIAL


@dataclass(frozen=True, eq=False, repr=False)
class Exact(_Simple):
    """An objective without noise, such as a price: the first outcome of an arm is the truth.

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
        return _sum_of_laws(self, mean, other, arm)


FAMILIES: dict[str, type[Family]] = {
    "Gaussian": Gaussian,
    "Bernoulli": Bernoulli,
    "Poisson": Poisson,
    "Exponential": Exponential,
    "LogNormal": LogNormal,
    "Exact": Exact,
    "Product": Product,
}


def _sum_of_laws(family: Family, mean: ArrayLike, other: ArrayLike, arm: int) -> float:
    from prepex._kernels.laws.law import divergence

    mu = _checks.real_array("mean", mean, ("n_objectives", None))
    x = _checks.real_array("other", other, ("n_objectives", mu.size))
    for values in (mu, x):
        family.check_means(values[None], [f"objective {q}" for q in range(mu.size)])
    laws = family.laws(arm + 1, mu.size)
    assert laws is not None
    units = Units(laws.logs)
    mu, x = units.inner(mu), units.inner(x)
    scale = laws.scale if laws.noise is None else laws.noise[arm]
    if laws.unknown and laws.noise is None:
        raise InputError("noise must be given for a divergence of unknown variance")
    return float(sum(divergence(int(c), m, y, s) for c, m, y, s in zip(laws.codes, mu, x, scale, strict=True)))


def draw_noise(laws: Laws, rng: np.random.Generator, rows: int) -> Floats:
    """(rows, L): standard normal, standard exponential or uniform numbers, one row a reward whatever their number."""
    from scipy.special import ndtri

    uniform = rng.random((rows, len(laws.codes)))
    for q, code in enumerate(laws.codes):
        if code in (GAUSSIAN, STUDENT):
            uniform[:, q] = ndtri(np.maximum(uniform[:, q], 2.0**-54))
        elif code == EXPONENTIAL:
            uniform[:, q] = -np.log1p(-np.maximum(uniform[:, q], 2.0**-54))
    return uniform


def _checked_variance(variance: ArrayLike) -> Floats | float:
    if isinstance(variance, str):
        raise InputError(f"variance must be a number, one for each objective, or 'unknown', got {shown(variance)}")
    if np.ndim(variance) == 0:
        return _checks.variance("variance", variance)
    return _checks.variances("variance", _checks.real_array("variance", variance, ("n_objectives", None)))


def _checked_covariance(covariance: ArrayLike | None) -> Floats:
    shape = np.shape(np.asarray(covariance))
    size = shape[-1] if shape else None
    square = (("n_objectives", size), ("n_objectives", size))
    layout = (("n_arms", None), *square) if len(shape) == 3 else square
    return _checks.covariance("covariance", _checks.real_array("covariance", covariance, *layout))
