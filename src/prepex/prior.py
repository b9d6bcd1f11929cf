"""What is believed about the true means before the first pull: the prior of `Posterior`, and of probabilities.

All arms have the same prior, independently. Of an objective with known variance it is Normal(mean, spread^2), or
Normal(mean, covariance) of all objectives together; of others the conjugate law with that mean and spread:

    Bernoulli            Beta(a, b)
    Poisson              Gamma(a, rate b) of the mean
    Exponential          inverse Gamma(a, b) of the mean
    unknown variance     variance ~ inverse Gamma(w/2, w noise^2 / 2), mean | variance ~ Normal(m, variance / c),
                         c = (noise / spread)^2
Flat is their limit: every mean is as likely as any other (of an Exponential, every logarithm of the mean; of an unknown
variance, every logarithm of it). Of a LogNormal `spread` and `noise` are of the natural logarithm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prepex import _checks, _named
from prepex._checks import Floats
from prepex._given import pairs
from prepex.errors import InputError
from prepex.family import BERNOULLI, EXACT, EXPONENTIAL, POISSON, STUDENT, Family, Laws
from prepex.labels import Labels

Given = ArrayLike | Mapping[str, float | None] | None


@dataclass(frozen=True)
class Prior:
    """A belief about the means of every arm, in the units of the objectives.

    mean         one number for each objective, in their order or by name
    spread       standard deviations, likewise; None for an objective of which nothing is known
    covariance   in place of `spread` a matrix (L, L), for Gaussians of known covariance
    noise        where a variance is unknown: a guess of the standard deviation of one outcome
    weight       how many outcomes this guess is worth

    >>> Prior(mean=[60.0, 3.0], spread=[10.0, 1.0])
    Prior(mean=(60.0, 3.0), spread=(10.0, 1.0), covariance=None, noise=None, weight=1.0)
    >>> Prior(mean=[60.0], spread=[-1.0])
    Traceback (most recent call last):
    ...
    prepex.InputError: spread of a prior must be positive numbers, or None where nothing is known, got -1.0
    """

    mean: Any
    spread: Any = None
    covariance: Any = None
    noise: Any = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if (self.spread is None) == (self.covariance is None):
            came = "neither" if self.spread is None else "both"
            raise InputError(f"a prior needs exactly one of spread= and covariance=, got {came}")
        for name in ("mean", "spread", "noise"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _entries(name, getattr(self, name)))
        if self.covariance is not None:
            given = _checks.real_array("covariance of a prior", self.covariance, ("L", None), ("L", None))
            if given.shape[0] != given.shape[1]:
                raise InputError(f"covariance of a prior must be square, got shape {given.shape}")
            checked = _checks.covariance("covariance of a prior", given)
            object.__setattr__(self, "covariance", tuple(map(tuple, checked.tolist())))
        weight = _checks.sized("weight of a prior", _checks.number("weight of a prior", self.weight, low=0.0))
        object.__setattr__(self, "weight", weight)

    @classmethod
    def of(cls, given: Any) -> "Prior | None":
        """From itself, a document, or {objective: (mean, spread)}; objectives left out are flat.

        >>> Prior.of({"strength": (60, 10)}).spread
        {'strength': 10.0}
        """
        if given is None or isinstance(given, Prior):
            return given
        if not isinstance(given, Mapping) or not given:
            raise InputError(f"prior must be a Prior, or {{objective: (mean, spread)}}, got {given!r}")
        if "mean" in given and set(given) <= {"mean", "spread", "covariance", "noise", "weight"}:
            return cls(**given)
        pairs = {}
        for name, pair in given.items():
            if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
                raise InputError(f"prior of {name!r} must be (mean, spread), got {pair!r}")
            pairs[name] = pair
        means, spreads = ({name: pair[part] for name, pair in pairs.items()} for part in (0, 1))
        return cls(mean=means, spread=spreads)

    def ordered(self, labels: Labels, family: Family) -> "Prior":
        """In the order of the objectives; refuses what is no distribution of their means.

        >>> from prepex import Bernoulli
        >>> labels = Labels.make((2, 1), objectives=("cured",))
        >>> Prior.of({"cured": (0.5, 0.6)}).ordered(labels, Bernoulli())
        Traceback (most recent call last):
        ...
        prepex.InputError: prior of 'cured' must be one of Bernoulli means: a spread below 0.5, got mean 0.5, spread 0.6
        """
        L = len(labels.objectives)
        given: dict[str, Any] = {"weight": self.weight}
        for name in ("mean", "spread", "noise"):
            value = getattr(self, name)
            if isinstance(value, dict):
                known = _named.by_name(f"{name} of a prior", value, labels.objectives) or {}
                value = tuple(known.get(objective, 0.0 if name == "mean" else None) for objective in labels.objectives)
            if value is not None and len(value) != L:
                raise InputError(f"{name} of a prior must have {L} = n_objectives numbers, got {len(value)}")
            given[name] = value
        if self.covariance is not None and len(self.covariance) != L:
            size = len(self.covariance)
            raise InputError(f"covariance of a prior must have shape ({L}, {L} = n_objectives), got ({size}, {size})")
        made = Prior(**given, covariance=self.covariance)
        laws = family.laws(len(labels.arms), L)
        if laws is None:
            return made
        if made.covariance is not None:
            raise InputError(f"covariance of a prior must come with Gaussians of known covariance, got {family!r}")
        numbers(made, laws, labels.objectives)
        return made


def _entries(name: str, value: Any) -> Any:
    """A tuple, or a mapping from names; numbers, or None where nothing is known."""
    words = f"{name} of a prior"
    given = pairs(value)
    if given is not None:
        found = {key: _entry(words, name, entry) for key, entry in given}
        if len(found) < len(given):
            raise InputError(f"{words} must have each name once, got {[key for key, _ in given]}")
        return found
    if isinstance(value, str) or not np.iterable(value):
        raise InputError(f"{words} must be one number for each objective, in their order or by name, got {value!r}")
    return tuple(_entry(words, name, entry) for entry in value)


def _entry(words: str, name: str, value: Any) -> float | None:
    if value is None and name != "mean":
        return None
    if name == "mean":
        return _checks.sized(words, value)
    try:
        checked = _checks.number(words, value)
    except InputError:
        checked = -1.0
    if not checked > 0.0:
        raise InputError(f"{words} must be positive numbers, or None where nothing is known, got {value!r}")
    return _checks.variance(words, checked)


def numbers(prior: Prior | None, laws: Laws, objectives: Sequence[str] = ()) -> Floats:
    """The conjugate prior of each objective (L, 4), inner units:

    BERNOULLI, POISSON, EXPONENTIAL   (a, b, 0, 0)
    GAUSSIAN of known variance        (mean, 1 / spread^2, 0, 0)
    unknown variance                  (mean, c, w, w noise^2); flat: w = -1, of which the flat mean takes one outcome

    >>> from prepex import Bernoulli
    >>> numbers(None, Bernoulli().laws(1, 1)).tolist()
    [[1.0, 1.0, 0.0, 0.0]]
    """
    found = np.zeros((len(laws.codes), 4))
    for q, code in enumerate(laws.codes):
        unknown = code == STUDENT or bool(laws.shared[q])
        spread = None if prior is None else prior.spread[q]
        if spread is None:
            flat = {BERNOULLI: (1.0, 1.0, 0.0, 0.0), POISSON: (1.0, 0.0, 0.0, 0.0)}
            found[q] = (0.0, 0.0, -1.0, 0.0) if unknown else flat.get(int(code), (0.0,) * 4)
            continue
        assert prior is not None
        name = objectives[q] if objectives else str(q)
        found[q] = _conjugate(int(code), unknown, prior, q, name, laws)
    return found


def _conjugate(code: int, unknown: bool, prior: Prior, q: int, name: str, laws: Laws) -> tuple[float, ...]:
    mean, spread = prior.mean[q], prior.spread[q]

    def refuse(what: str) -> InputError:
        return InputError(
            f"prior of {name!r} must be one of {laws.names[q]} means: {what}, got mean {mean:g}, spread {spread:g}"
        )

    if q in laws.logs:
        if not mean > 0.0:
            raise refuse("a positive mean")
        mean = math.log(mean)
    if code == EXACT:
        return (0.0,) * 4
    if unknown:
        noise = None if prior.noise is None else prior.noise[q]
        if noise is None or not prior.weight > 0.0:
            raise InputError(
                f"noise of a prior must be given for {name!r}, whose variance is unknown: a guess of the standard "
                f"deviation of one outcome, worth `weight` outcomes, got noise {noise!r}, weight {prior.weight:g}"
            )
        return mean, (noise / spread) ** 2, prior.weight, prior.weight * noise**2
    if code == BERNOULLI:
        if not 0.0 < mean < 1.0:
            raise refuse("a mean between 0 and 1")
        size = mean * (1.0 - mean) / spread**2 - 1.0
        if not size > 0.0:
            raise refuse(f"a spread below {math.sqrt(mean * (1.0 - mean)):.3g}")
        return mean * size, (1.0 - mean) * size, 0.0, 0.0
    if code in (POISSON, EXPONENTIAL) and not mean > 0.0:
        raise refuse("a positive mean")
    if code == POISSON:
        return (mean / spread) ** 2, mean / spread**2, 0.0, 0.0
    if code == EXPONENTIAL:
        a = 2.0 + (mean / spread) ** 2
        return a, mean * (a - 1.0), 0.0, 0.0
    return mean, spread**-2, 0.0, 0.0


@dataclass(frozen=True, eq=False)
class Whitened:
    """The prior of Gaussians of known covariance, where noise and prior are both diagonal: with cov = A A' and the
    prior's precision A^-T diag(pull) A^-1, the posterior after n outcomes of mean x is

        Normal(x - A diag(pull / (n + pull)) A^-1 (x - m), A diag(1 / (n + pull)) A')

    axes   A, of the shared covariance or of each arm; zero for objectives without noise     (1 or K, L, L)
    back   A^-1                                                                               (1 or K, L, L)
    pull   how many outcomes the prior is worth; 0: flat                                      (1 or K, L)
    mean   m                                                                                  (L,)
    """

    axes: Floats
    back: Floats
    pull: Floats
    mean: Floats


def whitened(prior: Prior | None, covariances: Floats) -> Whitened:
    """For covariances (1 or K, L, L).

    >>> whitened(Prior(mean=[0.0], spread=[2.0]), np.array([[[1.0]]])).pull.tolist()
    [[0.25]]
    """
    A, L = covariances.shape[:2]
    precision, mean = np.zeros((L, L)), np.zeros(L)
    if prior is not None:
        mean = np.array(prior.mean)
        if prior.covariance is not None:
            precision = np.linalg.inv(np.array(prior.covariance))
        else:
            precision = np.diag([0.0 if spread is None else spread**-2 for spread in prior.spread])
    axes, back, pull = np.zeros((A, L, L)), np.zeros((A, L, L)), np.zeros((A, L))
    for a, covariance in enumerate(covariances):
        noisy = np.flatnonzero(np.diagonal(covariance) > 0.0)
        inner = np.ix_(noisy, noisy)
        root = np.linalg.cholesky(covariance[inner])
        if prior is not None:
            # On objectives without noise the prior says nothing: they are known.
            worth, turn = np.linalg.eigh(root.T @ precision[inner] @ root)
            pull[a, noisy], root = np.maximum(worth, 0.0), root @ turn
        axes[a][inner] = root
        back[a][inner] = np.linalg.inv(root)
    return Whitened(axes, back, pull, mean)
