"""Strict reading, for check.py: JSON that prepex could have written, and settings that it would have accepted.

Whatever is odd is refused: unknown or repeated fields, other types (True is no number, 1.0 no count), numbers that are
not finite, names that are not known. Nothing but Python and numpy.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

# Characters of a document, and of one event of a log after the first.
LONGEST, LONGEST_EVENT = 50_000_000, 1_000_000
# Lists and objects within each other.
DEEPEST = 12
# Outcomes, and whatever else is squared; variances, and what is positive.
LARGEST, SMALLEST = 1e100, 1e-100
# Outcomes in one summary; any other count; a seed.
MOST, COUNT, SEED = 1_000_000, 2**53 - 1, 2**128 - 1
# Every pair of arms is looked at on every facet.
MOST_ARMS, MOST_OBJECTIVES, MOST_FACETS = 2000, 100, 1000
# Characters of a name. Directions nearer than SAME are the same.
LONGEST_NAME, SAME = 1000, 1e-9
LAWS = ("Bernoulli", "Poisson", "Exponential")
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
}
SETTINGS = ("labels", "family", "cone", "sampling", "threshold", "delta", "seed", "max_pulls", "max_pending")
# Only where they are used.
MORE_SETTINGS = ("tolerance",)


class RefusedError(ValueError):
    """Prepex would not have written this."""


def refuse(where: str, expected: str, got: Any) -> NoReturn:
    """What was expected, what came."""
    shown = repr(got)
    raise RefusedError(f"{where}: must be {expected}, got {shown if len(shown) <= 80 else shown[:77] + '...'}")


def plain(text: str, most: int = 400) -> str:
    r"""Printable: what a file says must not steer a terminal or turn the reading direction.

    >>> plain("red \x1b[31m, backwards \u202e")
    'red \\x1b[31m, backwards \\u202e'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: most + 1])
    return shown if len(text) <= most else shown[:most] + "..."


# JSON


def parse(text: str | bytes, most: int = LONGEST) -> Any:
    """A document; no repeated key, no number that is not finite, not too deep, not too long.

    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    prepex.study.check_read.RefusedError: key 'a': must be there once, got 'twice'
    """
    if len(text) > most:
        refuse("text", f"at most {most:,} characters", len(text))
    try:
        given = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)
    except RefusedError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise RefusedError(f"not JSON: {str(error)[:80] or 'too deep'}") from None
    _require_shallow(given)
    return given


def _no_constant(name: str) -> NoReturn:
    refuse("number", "finite", name)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        refuse("number", "finite", text)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        refuse(f"key {Counter(name for name, _ in pairs).most_common(1)[0][0]!r}", "there once", "twice")
    return found


def _require_shallow(given: Any) -> None:
    level = [given]
    for _ in range(DEEPEST):
        level = [part for node in level for part in _parts(node)]
        if not level:
            return
    refuse("text", f"at most {DEEPEST} lists or objects within each other", "more")


def _parts(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return [part for part in node.values() if isinstance(part, dict | list)]
    return [part for part in node if isinstance(part, dict | list)] if isinstance(node, list) else ()


def same(a: Any, b: Any) -> bool:
    """Equal in type and value, all the way down: True is not 1, and 1 is not 1.0.

    >>> same({"a": [1, 2.0]}, {"a": [1, 2.0]}), same(1, 1.0), same(True, 1)
    (True, False, False)
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


# Leaves


def fields(where: str, value: Any, needed: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """An object with these fields and no others."""
    if type(value) is not dict:
        refuse(where, "an object", value)
    missing = [name for name in needed if name not in value]
    if missing:
        refuse(where, f"an object with {missing[0]!r}", "none")
    for name in value:
        if name not in needed and name not in optional:
            refuse(where, "an object without other fields", name)
    return value


def listing(where: str, value: Any, size: int | None = None) -> list[Any]:
    """A list, of so many."""
    if type(value) is not list or (size is not None and len(value) != size):
        refuse(where, "a list" if size is None else f"a list of {size}", value)
    return value


def text(where: str, value: Any, most: int = 10_000) -> str:
    """A string."""
    if type(value) is not str or len(value) > most:
        refuse(where, f"text of at most {most} characters", value)
    return value


def choice(where: str, value: Any, known: Iterable[str]) -> str:
    """One of the known words."""
    if type(value) is not str or value not in known:
        refuse(where, f"one of {', '.join(known)}", value)
    return value


def whole(where: str, value: Any, low: int = 0, high: int = COUNT) -> int:
    """An integer."""
    if type(value) is not int or not low <= value <= high:
        refuse(where, f"a whole number from {low} to {high}", value)
    return value


def number(where: str, value: Any, low: float = -LARGEST, high: float = LARGEST, *, whole_too: bool = False) -> float:
    """A real number between low and high; at zero it must be beyond. `whole_too`: 1 stands for 1.0."""
    good = type(value) is float or (whole_too and type(value) is int and abs(value) < COUNT)
    if not good or not low <= value <= high or (low == 0.0 and value == 0.0):
        refuse(where, f"a number {'above 0' if low == 0.0 else f'from {low:g}'} to {high:g}", value)
    return float(value)


def numbers(where: str, value: Any, shape: Sequence[int | None], low: float = -LARGEST) -> Any:
    """An array of real numbers; None: of any length but 0."""
    rows = listing(where, value, shape[0])
    if not rows:
        refuse(where, "a list of numbers", value)
    if len(shape) == 1:
        return np.array([number(where, entry, low) for entry in rows])
    return np.array([numbers(where, row, shape[1:], low) for row in rows])


def words(where: str, value: Any) -> list[str]:
    """Different names, which a terminal can show."""
    given = [text(where, entry, LONGEST_NAME) for entry in listing(where, value)]
    for name in given:
        if not name.isprintable():
            refuse(where, "names of printable characters", name)
    if len({*given}) < len(given):
        refuse(where, "names that differ", given)
    return given


# Settings


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
    _require_cone(given["cone"], L)
    if "tolerance" in given:
        _require_tolerance(given)
    rule, threshold = given["sampling"], given["threshold"]
    _require_rule(rule, K)
    _require_threshold(threshold)
    number("delta", given["delta"], 0.0, math.nextafter(1.0, 0.0))
    whole("seed", given["seed"], high=SEED)
    if given["max_pulls"] is not None:
        whole("max_pulls", given["max_pulls"], K)
    whole("max_pending", given["max_pending"], 1)
    own = rule["name"] in OWN
    if (own and ("known" not in laws or "tolerance" in given)) or (threshold["name"] == "own" and not own):
        refuse("sampling", "a rule that fits family and threshold", rule["name"])
    if threshold["name"] == "kaufmann_koolen" and "unknown" in laws:
        refuse("threshold", "another one for an unknown variance", threshold["name"])
    # The pilot sets the priors; a variance takes two outcomes.
    least = 0 if "known" in laws else 2 if "unknown" in laws else 1
    if threshold["name"] == "certified" and threshold["pilot"] is not None and threshold["pilot"] < least:
        refuse("pilot", f"at least {least} for this family", threshold["pilot"])


def _require_family(given: Any, K: int, L: int) -> set[str]:
    """The kinds of its objectives: known (covariance of all), unknown (variance), law."""
    name = given.get("name") if type(given) is dict else None
    choice("family", name, ("Gaussian", "Product", *LAWS))
    if name in LAWS:
        fields("family", given, ("name",))
        return {"law"}
    if name == "Product":
        fields("family", given, ("name", "families"))
        for single in listing("families", given["families"], L):
            _require_single(single)
        unknown = any(single.get("variance") == "unknown" for single in given["families"])
        return {"unknown"} if unknown else {"law"}
    if "covariance" in given:
        fields("family", given, ("name", "covariance"))
        rows = listing("covariance", given["covariance"])
        stacked = bool(rows) and type(rows[0]) is list and bool(rows[0]) and type(rows[0][0]) is list
        array = numbers("covariance", rows, (K, L, L) if stacked else (L, L)).reshape(-1, L, L)
        size, other = np.abs(array).max(axis=(1, 2), keepdims=True), np.swapaxes(array, 1, 2)
        if np.any(np.abs(array - other) > 1e-12 * size + 1e-10 * np.abs(other)):
            refuse("covariance", "symmetric", given["covariance"])
        if np.any(np.linalg.eigvalsh(array)[:, 0] <= 1e-12 * size[:, 0, 0]):
            refuse("covariance", "positive definite", given["covariance"])
        for variance in np.diagonal(array, axis1=1, axis2=2).ravel().tolist():
            number("variance", variance, SMALLEST)
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
    choice("family", name, ("Gaussian", *LAWS))
    if name in LAWS:
        fields("family", given, ("name",))
        return
    fields("family", given, ("name", "variance"), ("shared",))
    if type(given["variance"]) is not str:
        fields("family", given, ("name", "variance"))
        number("variance", given["variance"], SMALLEST)
        return
    choice("variance", given["variance"], ("unknown",))
    if given.get("shared", True) is not True:
        refuse("shared", "true, or left out", given["shared"])


def _require_cone(given: Any, L: int) -> None:
    fields("cone", given, ("facets", "name"))
    facets = numbers("facets", given["facets"], (None, L))
    whole("facets", len(facets), 1, MOST_FACETS)
    if np.any(np.abs(np.linalg.norm(facets, axis=1) - 1.0) > SAME) or np.linalg.matrix_rank(facets, tol=SAME) < L:
        refuse("facets", "unit rows of a pointed cone", given["facets"])
    if _depth(facets) <= SAME:
        refuse("facets", "those of a cone with an interior", given["facets"])
    _require_cone_name(text("cone", given["name"]), facets)


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


def _depth(facets: Any) -> float:
    """How far inside all facets a point with entries of at most 1 can be: often the sum of the normals is."""
    ahead = facets.sum(axis=0)
    found = float((facets @ ahead).min() / max(np.abs(ahead).max(), 1e-300))
    if found > SAME:
        return found
    from scipy.optimize import linprog

    m, L = facets.shape
    inside = linprog(
        np.append(np.zeros(L), -1.0),
        A_ub=np.hstack([-facets, np.ones((m, 1))]),
        b_ub=np.zeros(m),
        bounds=[(-1, 1)] * L + [(None, 1)],
    )
    return float(-inside.fun)


def _require_cone_name(name: str, facets: Any) -> None:
    """A name says how the cone was made: it must be that cone."""
    m, L = facets.shape
    if name in ("", f"orthant({L})"):
        good = not name or np.array_equal(facets, np.eye(L))
    elif found := re.fullmatch(r"angle\(([0-9]{1,9}(\.[0-9]{1,12})?(e-[0-9]{1,3})?)\)", name, re.ASCII):
        # Six digits of the angle are in the name.
        angle = math.radians(float(found[1]))
        lean = 0.5 * angle - 0.25 * math.pi
        rows = np.array([[math.cos(lean), math.sin(lean)], [math.sin(lean), math.cos(lean)]])
        good = (
            f"{float(found[1]):g}" == found[1]
            and (m, L) == (2, 2)
            and np.abs(facets - rows).max() <= 5e-6 * angle + SAME
        )
    else:
        # Rates are not in the name, but more of everything is better whatever they are.
        good = bool(re.fullmatch(r"tradeoffs\(.*\)", name)) and name.isprintable() and facets.min() >= -SAME
    if not good:
        refuse("cone", "named as it was made", name)


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


def _require_threshold(given: Any) -> None:
    name = choice("threshold", given.get("name") if type(given) is dict else None, THRESHOLDS)
    fields("threshold", given, ("name", *THRESHOLDS[name]))
    if name == "certified":
        for rho in listing("grid", given["grid"]):
            number("grid", rho, 0.0, whole_too=True)
        if not given["grid"]:
            refuse("grid", "at least one constant", given["grid"])
        if given["pilot"] is not None:
            whole("pilot", given["pilot"])


def single_family(family: Mapping[str, Any], place: int) -> Any:
    """That of one objective."""
    return family["families"][place] if family["name"] == "Product" else family


def in_support(family: Mapping[str, Any], place: int, value: float, n: int) -> bool:
    """Can the family of an objective give this outcome, or this mean of n?"""
    single = single_family(family, place)
    if single["name"] == "Exponential":
        return value >= SMALLEST
    if single["name"] == "Gaussian":
        return n == 1 or single.get("variance") != "unknown"
    # Sums of whole numbers: a mean is their sum over n, to the last digit.
    total = round(value * n)
    return total >= 0 and total / n == value and (value <= 2.0**53 if single["name"] == "Poisson" else total <= n)
