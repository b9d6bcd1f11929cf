"""The command that creates the study of a plan, as a shell takes it."""

import re
import shlex

import numpy as np

from prepex.cone import Cone
from prepex.family import Exact, Family, Gaussian, LogNormal, Product
from prepex.limits import Limit
from prepex.planning.belief import without_noise
from prepex.sampling import RULES
from prepex.settings import Settings, hastened
from prepex.stopping import THRESHOLDS
from prepex.tolerance import as_given


def create_command(settings: Settings, name: str = "NAME") -> str | None:
    """`prepex study create ...`; None where words of a shell cannot say it (`unsayable`).

    >>> from prepex import Gaussian
    >>> create_command(Settings.make(("a", "b"), ("gain",), family=Gaussian(variance=1.0)), "doses")
    'prepex study create doses --arm a --arm b --objective gain --variance 1.0 --delta 0.05'
    """
    labels, avoid = settings.labels, settings.avoid_infeasible
    rule, threshold, spread = _parts(settings)
    if unsayable(settings) is not None or rule is None or threshold is None or spread is None:
        return None
    words = ["prepex", "study", "create", name]
    words += [part for arm in labels.arms for part in ("--arm", arm)]
    words += [part for objective in labels.objectives for part in ("--objective", objective)]
    words += [part for objective in labels.minimise for part in ("--minimise", objective)]
    words += spread
    words += _cone(settings.cone)
    if settings.tolerance is not None:
        for objective, size in zip(
            labels.objectives, as_given(settings.tolerance, settings.setting().units), strict=True
        ):
            words += ["--tolerance", f"{objective}={size}"]
    for limit in () if settings.limits is None else settings.limits.given:
        words += _limit(limit)
    words += ["--avoid-infeasible"] if avoid else []
    words += ["--delta", f"{settings.delta!r}"]
    words += [] if rule == "information" else ["--rule", rule]
    words += [] if threshold == "certified" else ["--threshold", threshold]
    words += [] if settings.seed == 0 else ["--seed", str(settings.seed)]
    words += [] if settings.max_pulls is None else ["--max-pulls", str(settings.max_pulls)]
    return shlex.join(words)


def unsayable(settings: Settings) -> str | None:
    """What of the settings no shell command says; None: all of it can be said.

    >>> from prepex import Gaussian
    >>> from prepex.stopping import Certified
    >>> given = {"arms": ("a", "b"), "objectives": ("gain",), "family": Gaussian(variance=1.0)}
    >>> unsayable(Settings.make(**given, threshold=Certified(pilot=3)))
    'the threshold certified(pilot=3), whose parameters are not the usual ones'
    """
    labels = settings.labels
    comma = next((entry for entry in (*labels.arms, *labels.objectives) if "," in entry), None)
    rule, threshold, spread = _parts(settings)
    if comma is not None:
        return f"the name {comma!r}, which has a comma"
    if settings.known is not None:
        return "values that are known and not told (--known-from reads them from a file)"
    if rule is None:
        return f"the rule {settings.sampling.name}, whose parameters are not the usual ones"
    if threshold is None:
        return f"the threshold {settings.threshold.name}, whose parameters are not the usual ones"
    return "noise that is correlated, a covariance" if spread is None else None


def _parts(settings: Settings) -> tuple[str | None, str | None, list[str] | None]:
    """(rule, threshold, options of the noise), None for each that a shell cannot say."""
    rule = next((key for key, kind in RULES.items() if settings.sampling == kind()), None)
    usual = {key: hastened(kind(), settings.avoid_infeasible) for key, kind in THRESHOLDS.items()}
    threshold = next((key for key, kind in usual.items() if settings.threshold == kind), None)
    return rule, threshold, _family(without_noise(settings.family), settings.labels.objectives)


def _cone(cone: Cone) -> list[str]:
    """By its angle if it has one; else by its facets, of which the last digit may be rounded anew."""
    if np.array_equal(cone.facets, Cone.orthant(cone.n_objectives).facets):
        return []
    angle = re.fullmatch(r"angle\((.+)\)", cone.name)
    if angle:
        return ["--cone", f"angle:{angle[1]}"]
    rows = ";".join(",".join(repr(float(entry)) for entry in row) for row in cone.facets)
    return ["--cone", f"facets:{rows}"]


def _family(family: Family, objectives: tuple[str, ...]) -> list[str] | None:
    if isinstance(family, Gaussian) and family.covariance is None and not family.unknown:
        variances = np.atleast_1d(np.asarray(family.variance, dtype=np.float64)).tolist()
        return ["--variance", ",".join(repr(variance) for variance in variances)]
    singles = family.families if isinstance(family, Product) else (family,) * len(objectives)
    words: list[str] = []
    for objective, single in zip(objectives, singles, strict=True):
        said = _single(single)
        if said is None:
            return None
        words += ["--family", f"{objective}={said}"]
    return words


def _single(family: Family) -> str | None:
    if isinstance(family, Gaussian):
        if family.covariance is not None:
            return None
        if family.unknown:
            return "shared" if family.shared else "unknown"
        return f"gaussian({float(np.asarray(family.variance))!r})"
    if isinstance(family, LogNormal):
        return "lognormal(shared)" if family.shared else "lognormal"
    return "exact" if isinstance(family, Exact) else type(family).__name__.lower()


def _limit(limit: Limit) -> list[str]:
    bound = limit.at_most if limit.at_least is None else limit.at_least
    if len(limit.weights) == 1 and limit.weights[0][1] == 1.0:
        side = "--at-most" if limit.at_least is None else "--at-least"
        return [side, f"{limit.weights[0][0]}={bound!r}"]
    text = ""
    for objective, weight in limit.weights:
        if weight:
            sign = "- " if weight < 0 else "+ " if text else ""
            text += f"{' ' if text else ''}{sign}{abs(weight)!r} {objective}"
    return ["--limit", f"{text} {'<=' if limit.at_least is None else '>='} {bound!r}"]
