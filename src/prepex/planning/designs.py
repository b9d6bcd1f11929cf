"""The study as it is set up, and what-ifs: the same with one thing changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from prepex import _checks
from prepex.agreement import fitted
from prepex.cone import Cone
from prepex.errors import InputError, shown
from prepex.family import Family, Gaussian, LogNormal, Product
from prepex.settings import Settings
from prepex.stopping import Certified, as_threshold
from prepex.tolerance import Eps, as_given, check_tolerance, in_words

WHAT = ("delta", "tolerance", "noise", "threshold", "cone")
AS_PLANNED = "as planned"


@dataclass(frozen=True, eq=False)
class Design:
    """Settings under a name. `noise`: what multiplies the variance of outcomes that a study estimates."""

    name: str
    settings: Settings
    noise: float = 1.0


def usual(settings: Settings) -> dict[str, list[Any]]:
    """What people ask first: half and double of what can be chosen."""
    found: dict[str, list[Any]] = {"delta": [0.2 if settings.delta == 0.1 else 0.1, settings.delta / 5.0]}
    if settings.tolerance is not None:
        found["tolerance"] = [Eps(factor * size for size in settings.tolerance) for factor in (0.5, 2.0)]
    if _has_noise(settings.family):
        found["noise"] = [0.5, 2.0]
    if isinstance(settings.threshold, Certified):
        found["threshold"] = ["heuristic"]
    return found


def make_designs(settings: Settings, what_if: Mapping[str, Sequence[Any]] | None) -> list[Design]:
    """The what-ifs, checked."""
    wanted = usual(settings) if what_if is None else what_if
    if not isinstance(wanted, Mapping):
        raise InputError(f"what_if must be a mapping from {', '.join(WHAT)} to values, got {shown(wanted)}")
    found = []
    for what, values in wanted.items():
        if what not in WHAT:
            raise InputError(f"what_if must be about {', '.join(WHAT)}, got {shown(what)}")
        single = isinstance(values, str | int | float | Cone | Mapping | Eps)
        listed = [values] if single else _checks.listed(f"what_if[{what!r}]", values, "values")
        found += [_changed(settings, what, value) for value in listed]
    return found


def _changed(settings: Settings, what: str, value: Any) -> Design:
    if what == "delta":
        delta = _checks.number("what_if['delta']", value, low=0.0, high=1.0)
        return Design(f"delta {delta:g}", replace(settings, delta=delta))
    if what == "tolerance":
        return _with_tolerance(settings, value)
    if what == "noise":
        factor = _checks.number("what_if['noise']", value, low=0.0)
        if not _has_noise(settings.family):
            raise InputError(f"what_if must not change the noise of {settings.family!r}: its means say all, got noise")
        return Design(
            f"noise variance x {factor:g}", replace(settings, family=_noisier(settings.family, factor)), factor
        )
    if what == "threshold":
        threshold = as_threshold(value)
        return _fitting(Design(f"threshold {threshold.name}", replace(settings, threshold=threshold)))
    cone = fitted(_checks.instance("what_if['cone']", value, Cone), settings.labels, settings.setting().units)
    if cone.n_objectives != len(settings.labels.objectives):
        raise InputError(f"what_if['cone'] must be over {len(settings.labels.objectives)} objectives, got {cone!r}")
    return _fitting(Design(f"cone {cone.name or 'of your own'}", replace(settings, cone=cone)))


def _with_tolerance(settings: Settings, value: Any) -> Design:
    units = settings.setting().units
    eps = check_tolerance(value, settings.cone, settings.labels, units)
    if eps is None:
        return _fitting(Design("no tolerance", replace(settings, tolerance=None)))
    size = in_words(as_given(eps, units), settings.labels.objectives)
    return _fitting(Design(f"tolerance {size}", replace(settings, tolerance=eps)))


def _fitting(design: Design) -> Design:
    """Refuse what does not go with the rest."""
    settings = design.settings
    check_tolerance(settings.tolerance, settings.cone, settings.labels, settings.setting().units)
    return design


def _has_noise(family: Family) -> bool:
    if isinstance(family, Product):
        return any(_has_noise(single) for single in family.families)
    return isinstance(family, Gaussian | LogNormal)


def _noisier(family: Family, factor: float) -> Family:
    """Known variances times a factor; what a study estimates is changed in its outcomes."""
    if isinstance(family, Product):
        return Product([_noisier(single, factor) for single in family.families])
    if isinstance(family, Gaussian) and not family.unknown:
        if family.covariance is not None:
            return Gaussian(covariance=factor * np.asarray(family.covariance))
        return Gaussian(variance=factor * np.asarray(family.variance, dtype=np.float64))
    return family
