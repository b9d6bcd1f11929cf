"""The settings of a study, for check.py: such as prepex would have accepted. Nothing but Python and numpy.

Legend
    K, L    arms, objectives
    laws    the kinds of the objectives: known (covariance of all), unknown (variance), law
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.study.check_cone import require_cone
from prepex.study.check_read import (
    SEED,
    SMALLEST,
    choice,
    fields,
    listing,
    number,
    numbers,
    refuse,
    whole,
    words,
)

# Every pair of arms is looked at on every facet.
MOST_ARMS, MOST_OBJECTIVES = 2000, 100
LAWS = ("Bernoulli", "Poisson", "Exponential", "Exact")
RULES: dict[str, tuple[str, ...]] = {
    "frappe": (),
    "information": ("follow",),
    "prets": ("gap",),
    "tns": (),
    "oracle": ("allocation",),
    "uniform": (),
    "psips": ("max_tries",),
    "ape": (),
    "auer": (),
}
OWN = ("psips", "ape", "auer")
THRESHOLDS: dict[str, tuple[str, ...]] = {
    "certified": ("grid", "pilot"),
    "heuristic": (),
    "kaufmann_koolen": (),
    "own": (),
    "posterior": ("prior",),
}
SETTINGS = ("labels", "family", "cone", "sampling", "threshold", "delta", "seed", "max_pulls", "max_pending")
# Only where they are used.
MORE_SETTINGS = ("tolerance", "limits", "avoid_infeasible", "known")
# Means that a family can have.
POSITIVE = (0.0, math.inf)
RANGES = {"Bernoulli": (0.0, 1.0), "Poisson": POSITIVE, "Exponential": POSITIVE}


def require_settings(given: Any) -> None:
    """Settings of a study that prepex would have created."""
    fields("settings", given, SETTINGS, MORE_SETTINGS)
    labels = fields("labels", given["labels"], ("arms", "objectives", "minimise"))
    arms, objectives = words("arms", labels["arms"]), words("objectives", labels["objectives"])
    minimised = words("minimise", labels["minimise"])
    if minimised != [name for name in objectives if name in minimised]:
        refuse("minimise", "objectives in their order", minimised)
    K, L = whole("arms", len(arms), 1, MOST_ARMS), whole("objectives", len(objectives), 1, MOST_OBJECTIVES)
    laws = _require_family(given["family"], K, L)
    signs = np.array([-1.0 if name in minimised else 1.0 for name in objectives])
    require_cone(given["cone"], objectives, signs, logarithmic(given["family"], L))
    if "tolerance" in given:
        _require_tolerance(given)
    if "limits" in given:
        _require_limits(given, L)
    rule, threshold = given["sampling"], given["threshold"]
    _require_rule(rule, K)
    _require_threshold(threshold, given["family"], laws, L)
    number("delta", given["delta"], 0.0, math.nextafter(1.0, 0.0))
    whole("seed", given["seed"], high=SEED)
    if given["max_pulls"] is not None:
        whole("max_pulls", given["max_pulls"], K)
    whole("max_pending", given["max_pending"], 1)
    own = rule["name"] in OWN
    more = "tolerance" in given or "limits" in given
    if (own and ("known" not in laws or more)) or (threshold["name"] == "own" and not own):
        refuse("sampling", "a rule that fits family and threshold", rule["name"])
    if threshold["name"] == "kaufmann_koolen" and "unknown" in laws:
        refuse("threshold", "another one for an unknown variance", threshold["name"])
    if "known" in given:
        _require_known(given["known"], given["family"], arms, objectives)
    if "avoid_infeasible" in given:
        possible = "limits" in given and threshold["name"] == "certified"
        if given["avoid_infeasible"] is not True or not possible:
            refuse("avoid_infeasible", "true, with limits and the certified threshold", given["avoid_infeasible"])
    # The pilot sets the priors; a variance takes two outcomes.
    least = 0 if "known" in laws else 2 if "unknown" in laws else 1
    if threshold["name"] == "certified" and threshold["pilot"] is not None and threshold["pilot"] < least:
        refuse("pilot", f"at least {least} for this family", threshold["pilot"])


def _require_family(given: Any, K: int, L: int) -> set[str]:
    """The kinds of its objectives: known (covariance of all), unknown (variance), law."""
    name = given.get("name") if type(given) is dict else None
    choice("family", name, ("Gaussian", "LogNormal", "Product", *LAWS))
    if name in LAWS:
        fields("family", given, ("name",))
        return {"law"}
    if name == "LogNormal":
        _require_single(given)
        return {"unknown"}
    if name == "Product":
        fields("family", given, ("name", "families"))
        for single in listing("families", given["families"], L):
            _require_single(single)
        kinds = [single.get("variance") or single["name"] for single in given["families"]]
        unknown = "unknown" in kinds or "LogNormal" in kinds
        return {"unknown"} if unknown else {"law"}
    if "covariance" in given:
        fields("family", given, ("name", "covariance"))
        rows = listing("covariance", given["covariance"])
        stacked = bool(rows) and type(rows[0]) is list and bool(rows[0]) and type(rows[0][0]) is list
        array = numbers("covariance", rows, (K, L, L) if stacked else (L, L)).reshape(-1, L, L)
        _require_covariances(array, given["covariance"])
        return {"known"}
    fields("family", given, ("name", "variance"), ("shared",))
    if type(given["variance"]) is str:
        _require_single(given)
        return {"unknown"}
    fields("family", given, ("name", "variance"))
    if type(given["variance"]) is list:
        numbers("variance", given["variance"], (L,), SMALLEST)
    else:
        number("variance", given["variance"], SMALLEST)
    return {"known"}


def _require_single(given: Any) -> None:
    """The family of one objective."""
    name = given.get("name") if type(given) is dict else None
    choice("family", name, ("Gaussian", "LogNormal", *LAWS))
    if name in LAWS:
        fields("family", given, ("name",))
        return
    if name == "LogNormal":
        if fields("family", given, ("name",), ("shared",)).get("shared", True) is not True:
            refuse("shared", "true, or left out", given["shared"])
        return
    fields("family", given, ("name", "variance"), ("shared",))
    if type(given["variance"]) is not str:
        fields("family", given, ("name", "variance"))
        number("variance", given["variance"], SMALLEST)
        return
    choice("variance", given["variance"], ("unknown",))
    if given.get("shared", True) is not True:
        refuse("shared", "true, or left out", given["shared"])


def _require_tolerance(given: Any) -> None:
    """At least 0 for every objective, above 0 for one, and a difference that the cone calls better."""
    facets, L = np.array(given["cone"]["facets"]), len(given["labels"]["objectives"])
    size = numbers("tolerance", given["tolerance"], (L,))
    if size.min() < 0.0 or size.max() <= 0.0:
        refuse("tolerance", "at least 0, and not 0 everywhere", given["tolerance"])
    if (facets @ size).min() < -1e-12 * size.max():
        refuse("tolerance", "a difference that the cone calls better", given["tolerance"])
    for place, one in enumerate(size.tolist()):
        if one >= 1.0 and single_family(given["family"], place)["name"] == "Bernoulli":
            refuse("tolerance", "below 1 where outcomes are 0 or 1", one)


def _require_known(known: Any, family: Any, arms: list[str], objectives: list[str]) -> None:
    """Values of some arms, of objectives without noise."""
    if type(known) is not dict or not known:
        refuse("known", "values of objectives by name, or left out", known)
    for objective, values in known.items():
        choice("known", objective, objectives)
        if single_family(family, objectives.index(objective))["name"] != "Exact":
            refuse("known", "of objectives without noise", objective)
        if type(values) is not dict or not values:
            refuse("known", "values of arms by name", values)
        for arm, value in values.items():
            choice("known", arm, arms)
            number("known", value)


def _require_limits(given: Any, L: int) -> None:
    """Each on a sum of objectives, and all of them possible together."""
    for limit in listing("limits", given["limits"]):
        side = "at_most" if type(limit) is dict and "at_most" in limit else "at_least"
        fields("limit", limit, ("weights", side))
        if not np.any(numbers("weights", limit["weights"], (L,))):
            refuse("weights", "not 0 everywhere", limit["weights"])
        number(side, limit[side])
    if not given["limits"]:
        refuse("limits", "at least one, or left out", given["limits"])
    logs = logarithmic(given["family"], L)
    for limit in given["limits"]:
        weights, bound = np.array(limit["weights"]), limit.get("at_most", limit.get("at_least"))
        single = np.count_nonzero(weights) == 1
        if np.any(weights[logs]) and not (single and bound / weights.sum() > 0.0):
            refuse("limit", "on a LogNormal objective alone, and positive", limit)
    rows, level = read_limits(given["limits"], logs)
    ranges = [RANGES.get(single_family(given["family"], q)["name"], (-math.inf, math.inf)) for q in range(L)]
    if not _possible(rows, level, np.array(ranges)):
        refuse("limits", "possible together", given["limits"])


def logarithmic(family: Mapping[str, Any], L: int) -> Any:
    """Which objectives are compared by their logarithms (L,)."""
    return np.array([single_family(family, q)["name"] == "LogNormal" for q in range(L)])


def read_limits(limits: Any, logs: Any) -> tuple[Any, Any]:
    """(rows g (c, L), h (c,)): an arm meets a limit if g . mean >= h, means of logarithms where these count.

    A row of one objective is a unit vector; others are scaled by a power of two, which rounds nothing.
    """
    rows, level = [], []
    for limit in limits:
        weights, sign = np.array(limit["weights"], dtype=float), -1.0 if "at_most" in limit else 1.0
        bound = limit["at_most" if "at_most" in limit else "at_least"]
        alone = np.count_nonzero(weights) == 1
        size = sign * (abs(weights.sum()) if alone else 2.0 ** math.floor(math.log2(np.abs(weights).max())))
        if np.any(weights[logs]):
            own = float(weights[logs].sum())
            bound = own * math.log(bound / own)
        rows.append(weights / size)
        level.append(bound / size)
    return np.array(rows), np.array(level, dtype=float)


def _possible(rows: Any, level: Any, ranges: Any) -> bool:
    """Is there a point within the ranges that meets all limits? Those on one objective narrow its range."""
    low, high = ranges.T.copy()
    single = (rows != 0.0).sum(axis=1) == 1
    for g, h in zip(rows[single], level[single]):
        q = int(np.flatnonzero(g)[0])
        low[q], high[q] = (max(low[q], h), high[q]) if g[q] > 0 else (low[q], min(high[q], -h))
    if single.all() or np.any(low > high):
        return bool(np.all(low <= high))
    from scipy.optimize import linprog

    sizes = np.abs(np.concatenate([level, low, high]))
    unit = max(sizes[np.isfinite(sizes)].max(), SMALLEST)
    bounds = list(zip(low / unit, high / unit))
    return bool(linprog(np.zeros(len(low)), -rows[~single], -level[~single] / unit, bounds=bounds).status == 0)


def _require_rule(given: Any, K: int) -> None:
    name = choice("sampling", given.get("name") if type(given) is dict else None, RULES)
    fields("sampling", given, ("name", "alternatives", *RULES[name]))
    choice("alternatives", given["alternatives"], ("complete", "paper"))
    if name == "information":
        choice("follow", given["follow"], ("auto", "evidence", "margin"))
    elif name == "prets":
        number("gap", given["gap"], 0.0, math.nextafter(1.0, 0.0))
    elif name == "oracle":
        for share in listing("allocation", given["allocation"], K):
            number("allocation", share, 0.0, whole_too=True)
    elif name == "psips":
        whole("max_tries", given["max_tries"], 1)


def _require_threshold(given: Any, family: Any, laws: set[str], L: int) -> None:
    name = choice("threshold", given.get("name") if type(given) is dict else None, THRESHOLDS)
    fields("threshold", given, ("name", *THRESHOLDS[name]), ("closed",) if name == "certified" else ())
    if name == "certified":
        if type(given.get("closed", False)) is not bool:
            refuse("closed", "true or false", given["closed"])
        for rho in listing("grid", given["grid"]):
            number("grid", rho, 0.0, whole_too=True)
        if not given["grid"]:
            refuse("grid", "at least one constant", given["grid"])
        if given["pilot"] is not None:
            whole("pilot", given["pilot"])
    elif name == "posterior" and given["prior"] is not None:
        _require_prior(given["prior"], L)
        if "known" not in laws:
            _require_conjugate(given["prior"], family, L)


def _require_covariances(array: NDArray[np.float64], given: Any) -> None:
    """Of shape (n, L, L)."""
    size, other = np.abs(array).max(axis=(1, 2), keepdims=True), np.swapaxes(array, 1, 2)
    if np.any(np.abs(array - other) > 1e-12 * size + 1e-10 * np.abs(other)):
        refuse("covariance", "symmetric", given)
    if np.any(np.linalg.eigvalsh(array)[:, 0] <= 1e-12 * size[:, 0, 0]):
        refuse("covariance", "positive definite", given)
    for variance in np.diagonal(array, axis1=1, axis2=2).ravel().tolist():
        number("variance", variance, SMALLEST)


def _require_prior(given: Any, L: int) -> None:
    """One that is a distribution; None where nothing is known of an objective."""
    fields("prior", given, ("mean", "spread", "covariance", "noise", "weight"))
    for mean in listing("mean", given["mean"], L):
        number("mean", mean, whole_too=True)
    for name in ("spread", "noise"):
        for size in listing(name, given[name], L) if given[name] is not None else ():
            if size is not None:
                number(name, size, SMALLEST, whole_too=True)
    if (given["spread"] is None) == (given["covariance"] is None):
        refuse("prior", "either spread or covariance", given)
    number("weight", given["weight"], 0.0, whole_too=True)
    if given["covariance"] is not None:
        for row in listing("covariance", given["covariance"], L):
            for entry in listing("covariance", row, L):
                number("covariance", entry, whole_too=True)
        _require_covariances(np.array([given["covariance"]], dtype=float), given["covariance"])


def _require_conjugate(prior: Any, family: Any, L: int) -> None:
    """One that is a distribution of means of these laws."""
    if prior["covariance"] is not None:
        refuse("prior", "of spreads: a covariance is for Gaussians of known covariance", prior["covariance"])
    for q, (mean, spread) in enumerate(zip(prior["mean"], prior["spread"])):
        single = single_family(family, q)
        name = single["name"]
        if spread is None or name == "Exact":
            continue
        if name != "Gaussian" and mean <= 0.0:
            refuse("prior", f"one of {name} means, which are positive", mean)
        if name == "Bernoulli" and not (mean < 1.0 and mean * (1.0 - mean) / float(spread) ** 2 > 1.0):
            refuse("prior", "one of Bernoulli means: below 1, with a spread that these can have", [mean, spread])
        unknown = name == "LogNormal" or single.get("variance") == "unknown"
        if unknown and (prior["noise"] is None or prior["noise"][q] is None):
            refuse("prior", "one with noise where the variance is unknown", prior["noise"])


def single_family(family: Mapping[str, Any], place: int) -> Any:
    """That of one objective."""
    return family["families"][place] if family["name"] == "Product" else family


def in_support(family: Mapping[str, Any], place: int, value: float, n: int) -> bool:
    """Can the family of an objective give this outcome, or this mean of n?"""
    single = single_family(family, place)
    if single["name"] in ("Exponential", "LogNormal"):
        return value >= SMALLEST and (n == 1 or single["name"] == "Exponential")
    if single["name"] == "Exact":
        return True
    if single["name"] == "Gaussian":
        return n == 1 or single.get("variance") != "unknown"
    # Sums of whole numbers: a mean is their sum over n, to the last digit.
    total = round(value * n)
    return total >= 0 and total / n == value and (value <= 2.0**53 if single["name"] == "Poisson" else total <= n)
