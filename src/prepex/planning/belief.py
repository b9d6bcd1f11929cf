"""What is thought of the true means before a study: a guess with its uncertainty, or what a pilot leaves possible.

Everything inside is as courses see it (units.py): logarithms where outcomes are compared by them.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex import _checks, _named
from prepex._checks import Floats
from prepex.errors import InputError, shown
from prepex.experiment import Experiment
from prepex.family import BERNOULLI, EXACT, EXPONENTIAL, POISSON, STUDENT, Family, Gaussian, LogNormal, Product
from prepex.foresight.forecast import LENT
from prepex.labels import Labels
from prepex.posterior_draws import Draws, Seen, draw_means, seen
from prepex.settings import Settings


@dataclass(frozen=True, eq=False)
class Belief:
    """Means (K, L), their uncertainty (K, L), and variances of one outcome (K, L) where a study estimates them.

    pilot   what was seen, of a pilot; then its posterior is drawn from, and the others are its centre
    """

    settings: Settings
    means: Floats
    spread: Floats
    variances: Floats
    pilot: Seen | None = None

    @property
    def sure(self) -> bool:
        """Is nothing uncertain?"""
        return self.pilot is None and not self.spread.any()

    @property
    def outer_means(self) -> Floats:
        """In the user's units."""
        return self.settings.setting().units.outer(self.means)

    @property
    def outer_spread(self) -> Floats:
        """As it was given: in the user's units, a share of what is compared by factors."""
        logs = list(self.settings.setting().units.logs)
        found = self.spread.copy()
        found[:, logs] = np.expm1(found[:, logs])
        return found

    def draw(self, n: int, rng: np.random.Generator) -> Draws:
        """Possible truths."""
        if self.pilot is not None:
            return draw_means(self.settings.setting(), self.pilot, n, rng, lent=LENT)
        found = np.tile(self.means, (n, 1, 1))
        laws = self.settings.setting().laws
        for q in range(self.means.shape[1]):
            code = None if laws is None else int(laws.codes[q])
            mean, spread = self.means[:, q], self.spread[:, q]
            on = np.flatnonzero(spread > 0.0)
            if on.size:
                found[:, on, q] = _around(code, mean[on], spread[on], n, rng)
        return Draws(found, np.tile(self.variances, (n, 1, 1)))

    @property
    def centre(self) -> Draws:
        """The guess itself, once."""
        return Draws(self.means[None].copy(), self.variances[None].copy())


def _around(code: int | None, mean: Floats, spread: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Draws (n, K) of a mean that can be no other than such a law has."""
    size = n, len(mean)
    if code == BERNOULLI:
        strength = mean * (1.0 - mean) / spread**2 - 1.0
        return np.asarray(rng.beta(mean * strength, (1.0 - mean) * strength, size))
    if code in (POISSON, EXPONENTIAL):
        return np.asarray(rng.gamma((mean / spread) ** 2, spread**2 / mean, size))
    return np.asarray(mean + spread * rng.standard_normal(size))


def from_guess(means: Any, settings: Settings, uncertainty: Any = None) -> Belief:
    """A table of means (K, L) in the user's units, and how far off they may be."""
    labels, shape = settings.labels, (len(settings.labels.arms), len(settings.labels.objectives))
    table, arms, objectives = _named.of_table("guess", means, None, None)
    checked = in_order("guess", table, arms, objectives, labels)
    settings.family.check_means(checked, labels.objectives)
    _require_known(checked, settings)
    setting = settings.setting()
    inner = np.array(setting.units.inner(checked))
    spread = _spread(uncertainty, settings, inner)
    return Belief(settings, inner, spread, noise_of(settings.family, shape))


def in_order(name: str, table: Any, arms: Any, objectives: Any, labels: Labels) -> Floats:
    """Rows and columns by name, where they have names."""
    found = _checks.real_array(
        name, table, ("n_arms", len(labels.arms)), ("n_objectives", len(labels.objectives)), known=labels.objectives
    )
    if arms is not None:
        found = found[_named.order(f"rows of {name}", tuple(map(str, arms)), labels.arms)]
    if objectives is not None:
        found = found[:, _named.order(f"columns of {name}", tuple(map(str, objectives)), labels.objectives)]
    return np.array(found)


def _require_known(means: Floats, settings: Settings) -> None:
    """What is known without noise is no matter of guessing."""
    labels = settings.labels
    for objective, values in (settings.known or {}).items():
        for arm, value in values.items():
            guessed = means[labels.arms.index(arm), labels.objectives.index(objective)]
            if guessed != value:
                raise InputError(
                    f"guess of {objective!r} of {arm!r} must be what is known of it, {value:g}, got {guessed:g}"
                )


def _spread(uncertainty: Any, settings: Settings, inner: Floats) -> Floats:
    """Standard deviations (K, L), of logarithms where outcomes are compared so."""
    labels, setting = settings.labels, settings.setting()
    if uncertainty is None:
        return np.zeros(inner.shape)
    named = _named.by_name("uncertainty", uncertainty, labels.objectives)
    if named is not None:
        given = [named.get(name, 0.0) for name in labels.objectives]
    elif isinstance(uncertainty, int | float | str | np.number):
        given = [uncertainty] * len(labels.objectives)
    else:
        given = uncertainty
    if not isinstance(given, np.ndarray) and np.ndim(np.asarray(given, dtype=object)) == 1:
        given = [
            _size(size, name, q in setting.units.logs) for q, (size, name) in enumerate(zip(given, labels.objectives))
        ]
    array = np.asarray(given, dtype=np.float64)
    if array.ndim == 1:
        array = np.broadcast_to(array, inner.shape) if array.size == inner.shape[1] else array
    found = np.array(
        _checks.real_array("uncertainty", array, ("n_arms", inner.shape[0]), ("n_objectives", inner.shape[1]))
    )
    if np.any(found < 0.0):
        raise InputError(f"uncertainty must be at least 0, got {found.min():g}")
    _require_possible(found, inner, settings)
    return found


def _size(size: Any, name: str, by_factor: bool) -> float:
    """As it is compared: a share where outcomes are compared by factors."""
    if isinstance(size, str) and size.endswith("%") and by_factor:
        return math.log1p(_checks.number(f"uncertainty of {name!r}", float(size[:-1]), low=0.0, closed=True) / 100.0)
    if isinstance(size, str) or (by_factor and size != 0):
        what = 'a share, as in "10%"' if by_factor else "a number, in its units"
        raise InputError(f"uncertainty of {name!r} must be {what}, got {shown(size)}")
    return _checks.number(f"uncertainty of {name!r}", size, low=0.0, closed=True)


def _require_possible(spread: Floats, inner: Floats, settings: Settings) -> None:
    """No mean of such a law is so uncertain."""
    laws, labels = settings.setting().laws, settings.labels
    if laws is None:
        return
    for q, code in enumerate(laws.codes):
        name, mean = labels.objectives[q], inner[:, q]
        if code == EXACT and spread[:, q].any():
            raise InputError(f"uncertainty of {name!r} must be 0, as it has no noise and is known, got more")
        wide = (spread[:, q] > 0.0) & (spread[:, q] ** 2 >= mean * (1.0 - mean))
        if code == BERNOULLI and np.any(wide):
            k = int(np.argmax(wide))
            most = math.sqrt(max(mean[k] * (1.0 - mean[k]), 0.0))
            raise InputError(
                f"uncertainty of {name!r} must be below sqrt(p (1 - p)) of a chance p, {most:.3g} for "
                f"{labels.arms[k]!r} with {mean[k]:g}, got {spread[k, q]:g}"
            )
        sure = (spread[:, q] > 0.0) & (mean <= 0.0)
        if code in (POISSON, EXPONENTIAL) and np.any(sure):
            k = int(np.argmax(sure))
            raise InputError(
                f"uncertainty of {name!r} must be 0 where its mean is 0, as for {labels.arms[k]!r}, "
                f"got {spread[k, q]:g}"
            )


def noise_of(family: Family, shape: tuple[int, int]) -> Floats:
    """Variances (K, L) of one outcome, where a study estimates them; else 1."""
    laws = family.laws(*shape)
    if laws is None or not laws.unknown:
        return np.ones(shape)
    if laws.noise is None:
        raise InputError(
            "noise must be given to plan with an unknown variance: Gaussian(variance='unknown', noise=4.0), or "
            f"unknown(4) in a shell; of a LogNormal, of the logarithm; got {family!r}"
        )
    return np.array(np.where(np.logical_or(laws.codes == STUDENT, laws.shared), laws.noise, 1.0))


def without_noise(family: Family) -> Family:
    """As a study takes it, which estimates what a plan is told."""
    if isinstance(family, Gaussian) and family.unknown:
        return Gaussian(variance="unknown", shared=family.shared)
    if isinstance(family, LogNormal):
        return LogNormal(shared=family.shared)
    return Product([without_noise(single) for single in family.families]) if isinstance(family, Product) else family


def with_noise(family: Family, variances: Floats) -> Family:
    """The same family, told the variances (K, L) that it estimates: for the closest alternative of a truth."""
    if isinstance(family, Product):
        singles = enumerate(family.families)
        return Product([_told(single, float(variances[:, q].mean())) for q, single in singles])
    shared = getattr(family, "shared", False)
    return _told(family, variances.mean(axis=0) if shared else variances)


def _told(family: Family, noise: Any) -> Family:
    if isinstance(family, LogNormal):
        return LogNormal(noise=noise, shared=family.shared)
    if isinstance(family, Gaussian) and family.unknown:
        return Gaussian(variance="unknown", noise=noise, shared=family.shared)
    return family


def from_pilot(pilot: Experiment, settings: Settings) -> Belief:
    """What the outcomes of an experiment leave possible. Arms and objectives must be the same."""
    for name in ("arms", "objectives"):
        ours, theirs = getattr(settings.labels, name), getattr(pilot.labels, name)
        if ours != theirs:
            raise InputError(f"{name} must be those of the pilot, {_checks.quoted(theirs)}, got {_checks.quoted(ours)}")
    if pilot.course is None:
        missing = [name for name, n in zip(pilot.labels.arms, pilot.counts, strict=True) if n == 0]
        raise InputError(f"pilot must have tried every arm, got no outcome of {', '.join(missing)}")
    if pilot.setting.units != settings.setting().units:
        raise InputError(f"family must compare as the pilot's does, {pilot.family!r}, got {settings.family!r}")
    given = seen(pilot.course)
    free = float((given.counts - 1.0).sum())
    laws = settings.setting().laws
    variances = np.ones(given.means.shape)
    if laws is not None and laws.unknown:
        unknown = np.logical_or(laws.codes == STUDENT, laws.shared)
        squares = given.squares
        if not squares[:, unknown].any(axis=0).all() or free <= 0.0:
            raise InputError(
                "pilot must have two outcomes of an option that differ, for every unknown variance, got none"
            )
        variances = np.where(unknown, np.broadcast_to(squares.sum(axis=0) / free, variances.shape), 1.0)
    return Belief(settings, given.means, np.zeros(given.means.shape), variances, given)
