"""What a certificate states against what was computed, for check.py: every name and number, none of them used."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex.study.check_deal import pareto
from prepex.study.check_facts import Design, Facts
from prepex.study.check_laws import Sample
from prepex.study.check_read import plain
from prepex.study.check_tests import Found, Test

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Document = Mapping[str, Any]

# A mean, relative to the largest outcome, at most; a sum of squares.
MEAN, SQUARES = 1e-10, 1e-9
# Evidence of facets that differs by less is level.
LEVEL = 1e-6


@dataclass
class Result:
    """Every problem found; `notes`: what was checked, and what was not; `status`: of the study, if read."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    status: str = ""

    @property
    def ok(self) -> bool:
        """No problem."""
        return not self.problems

    def expect(self, what: str, good: bool, detail: str) -> None:
        """A problem unless good."""
        if not good:
            self.problems.append(plain(f"{what}: {detail}"))


class Precision(NamedTuple):
    """How far e may be off, and a value or price, relative to 1 + its size."""

    e: float
    value: float


def compare_data(given: Document, design: Design, facts: Facts, result: Result) -> None:
    """Counts, means, and what came after the pilot."""
    arms, tried = given["arms"], bool(np.all(facts.whole.n > 0))
    tested = given["settings"]["threshold"]["name"] == "certified" and (len(arms) > 1 or design.limited)
    tested = tested and testable(facts)
    result.expect("counts", [arm["n"] for arm in arms] == facts.whole.n.tolist(), "not those of the log")
    result.expect("arms", ("pareto" in arms[0]) == tried, "pareto must be stated when every arm was tried")
    result.expect(
        "arms", ("test" in arms[0]) == tested, "tests must be stated when every arm was tried after the pilot"
    )
    if not result.ok:
        return
    for k, arm in enumerate(arms):
        if arm["mean"] is not None:
            mean, stated = facts.whole.mean[k] + facts.origin, design.inner(np.array(arm["mean"]))
            # The logarithm of a number next to 1 has lost the digits that the number rounds.
            size = facts.peak + 0.01 * design.logs
            result.expect("mean", near(stated, mean, _rounding(facts.whole.n[k]), size), "not that of the log")
        for part in ("pilot", "after_pilot") if tested else ():
            if part in arm:
                _compare_part(arm[part], "late" if part == "after_pilot" else "pilot", k, design, facts, result)
    early = 0.0 if facts.pilot is None else facts.pilot.n.sum()
    good = not tested or design.pilot <= early <= design.longest
    result.expect("pilot", good, f"{early:g} outcomes, expected {design.pilot} to {design.longest}")


def _rounding(n: float) -> float:
    """Of a mean of n outcomes, each of which may have cost it a rounding."""
    return min(1e-15 * (100.0 + n), MEAN)


def _compare_part(part: Document, of: str, k: int, design: Design, facts: Facts, result: Result) -> None:
    sample: Sample = getattr(facts, of)
    n, origin, sizes = sample.n[k], facts.origin, np.abs(design.W)
    result.expect("n", part["n"] == n, "outcomes of pilot or after_pilot are not those of the log")
    unknown = np.array(design.unknown or [False], dtype=float)
    wanted = {
        "means": (sample.mean[k] + origin, _rounding(n), facts.peak),
        "scores": (sample.score[k] + design.W @ origin, _rounding(n), sizes @ facts.peak),
        "squares": (sample.square[k] * unknown, SQUARES, 1e-4 * n * facts.reach[k] ** 2 * unknown),
        "score_squares": (sample.line[k], SQUARES, 1e-4 * n * (sizes @ facts.reach[k]) ** 2),
    }
    for name, (value, tolerance, size) in wanted.items():
        if name in part:
            result.expect(name, near(part[name], value, tolerance, size), "not those of the log")


def testable(facts: Facts) -> bool:
    """Has every arm an outcome after the pilot?"""
    return facts.late is not None and bool(np.all(facts.late.n > 0))


def compare_front(front: Bools, design: Design, facts: Facts, result: Result) -> None:
    """Every arm that is stated to look Pareto optimal does, and no other. Scores that are level go either way; with a
    tolerance the answer may be the pilot's."""
    m, level, off = design.n_facets, design.levels(facts.origin), facts.rounding(design)
    if design.closed and design.slack.any() and facts.pilot is not None and facts.pilot.n.all():
        early = facts.pilot.score - level
        if np.array_equal(front, pareto(early[:, :m], np.asarray((early[:, m:] >= 0).all(axis=1)))):
            return
    S, over = facts.whole.score[:, :m], facts.whole.score[:, m:] - level[m:]
    # Without noise, on its limit is within it, and level is not behind.
    met = (over > off[:, m:]) | (design.certain[m:] & (over >= off[:, m:]))
    surely, maybe = np.asarray(np.all(met, axis=1)), np.asarray(np.all(over >= -off[:, m:], axis=1))
    for k, arm in enumerate(design.arms):
        ahead, others, close = S - S[k], np.arange(len(S)) != k, off[:, :m] + off[k, :m]
        above = (ahead > close) | (design.certain[:m] & (ahead >= close))
        beaten = np.any(above.all(axis=1) & (ahead > close).any(axis=1) & surely)
        behind = np.any((ahead >= -close).all(axis=1) & maybe & others) or not surely[k]
        result.expect("pareto", bool(maybe[k] and not beaten if front[k] else behind), f"not so of {arm}")


def compare_tests(given: Document, front: Bools, found: Found, result: Result, off: Precision) -> None:
    """Prices, tests, and the one that binds."""
    arms, tests, m = given["arms"], found.tests, found.averages.m
    place = {arm["name"]: k for k, arm in enumerate(arms)}
    names = [*place]
    for k, (arm, test) in enumerate(zip(arms, tests, strict=True)):
        for name, right in (("plain", found.plain[k]), ("closed", found.closed[k])):
            got = arm["price"][name]
            result.expect(f"price of {arm['name']}", near(got, right, off.value), f"{right:.9g}, got {got}")
        stated, what = arm["test"], f"test of {arm['name']}"
        if stated is None or test is None:
            # Evidence of 0 but for a rounding may be stated or not.
            size = test.e if test is not None else 0.0 if stated is None else stated["e"]
            result.expect(what, size <= off.e, f"{in_words(test, names, m)}, got {in_words(stated, names, m)}")
            continue
        # Better and worse; of an arm and a limit of its own, that arm twice.
        better, worse = (place[stated.get(name, stated.get("arm"))] for name in ("better", "worse"))
        row = stated["facet"] if "facet" in stated else m + stated["limit"]
        own = k == (better if front[k] else worse) and (better == worse or bool(front[better]))
        good = own and _attains(found, front, k, worse if front[k] else better, row, test.e, off.e)
        good = good and near(stated["e"], test.e, off.e) and near(stated["value"], test.value, off.value)
        result.expect(what, good, f"{in_words(test, names, m)}, got {in_words(stated, names, m)}")
    binding, least = given["binding"], min(-math.inf if test is None else test.value for test in tests)
    if binding is not None and result.ok:
        held = [
            {name: part for name, part in (arm["test"] or {}).items() if name not in ("e", "value")} for arm in arms
        ]
        binds = (test is not None and near(test.value, least, off.e) for test in tests)
        good = any(one == binding and close for one, close in zip(held, binds, strict=True))
        result.expect("binding", good, f"not the test with the least value, {least:.9g}")


def _attains(found: Found, front: Bools, k: int, other: int, row: int, e: float, close: float) -> bool:
    """Is a test of arm k decided against this arm, on this row? Where several rows are level, on the first."""
    averages, m, level = found.averages, found.averages.m, max(LEVEL, close)
    if front[k] and other == k:
        return _first(averages.meets[k], averages.meets[k].min(), row - m) and near(averages.meets[k].min(), e, level)
    with np.errstate(divide="ignore"):
        if front[k]:
            parts, weight = averages.in_front(np.array([k]), np.array([other]))
            terms = parts[0] + np.log(weight[0])
            terms = np.where(parts[0] > 0, terms, -np.inf)
            return near(averages.join(parts, weight)[0], e, level) and _first(terms, terms.max(), row)
        members = np.flatnonzero(front)
        every = averages.over(members, k) if members.size else np.zeros((0, m + averages.meets.shape[1]))
        reasons = np.append(averages.breaks[k], every.min(axis=1, initial=np.inf))
        weights = np.append(averages.deal.limits()[k], averages.deal.rivals(k)[members])
        terms, c = reasons + np.log(weights), averages.meets.shape[1]
    if other == k:
        return near(terms[:c].max(), terms.max(), level) and _first(terms[:c], terms[:c].max(), row - m)
    n = int(np.flatnonzero(members == other)[0])
    return near(terms[c + n], terms.max(), level) and _first(every[n], every[n].min(), row)


def _first(values: Floats, best: float, row: int) -> bool:
    """Is it the first of those that are level with the best? Within a rounding of that, one or the other."""
    spare = LEVEL * (1.0 + abs(best))
    return row in [int(np.argmax(np.abs(values - best) <= share * spare)) for share in (0.9, 1.1)]


def in_words(test: Test | Document | None, names: list[str], n_facets: int) -> str:
    """A test as it was computed, or as it is stated.

    >>> in_words(Test(1.5, 2.0, 0, 1, 0), ["a", "b"], 2), in_words({"arm": "b", "limit": 0, "e": 1, "value": 1}, [], 1)
    ('a over b on facet 0, e 2, value 1.5', 'b on limit 0, e 1, value 1')
    """
    if test is None:
        return "none"
    if isinstance(test, Test):
        row = ("facet", test.row) if test.row < n_facets else ("limit", test.row - n_facets)
        who = {"arm": names[test.better]} if test.better == test.worse else {}
        who = who or {"better": names[test.better], "worse": names[test.worse]}
        return in_words(who | dict([row]) | {"e": test.e, "value": test.value}, names, n_facets)
    what = "facet" if "facet" in test else "limit"
    sides = test["arm"] if "arm" in test else f"{test['better']} over {test['worse']}"
    return f"{sides} on {what} {test[what]}, e {test['e']:.9g}, value {test['value']:.9g}"


def compare_reached(given: Document, name: str, reached: float, result: Result, off: Precision) -> None:
    """The margin or the evidence, whichever there is; the other is null, and so is what is not finite."""
    for kind in ("margin", "evidence"):
        expected, got = reached if kind == name and math.isfinite(reached) else None, given[kind]
        good = got is None if expected is None else got is not None and near(got, expected, off.value)
        result.expect(kind, good, f"{expected}, got {got}")


def compare_status(
    given: Document, values: list[float], reached: float, needed: float, result: Result, close: float
) -> None:
    """The status that follows from the values, and the arms that are decided."""
    answer, settings = given["answer"], given["settings"]
    spare, complete = close * (1.0 + needed), settings["sampling"]["alternatives"] == "complete"
    proven = settings["threshold"]["name"] in ("certified", "kaufmann_koolen") and complete
    stop, budget = "certified" if proven else "heuristic", settings["max_pulls"]
    go_on = "running" if budget is None or answer["n_pulls"] < budget else "inconclusive"
    allowed = ([stop] if reached >= needed - spare else []) + ([go_on] if reached < needed + spare else [])
    result.expect("status", answer["status"] in allowed, f"{' or '.join(allowed)}, got {answer['status']}")
    stopped, undecided = answer["status"] == stop, {*answer["undecided"]}
    for name, value in zip(settings["labels"]["arms"], values, strict=True):
        sure, open_ = stopped or value >= needed + spare, not stopped and value < needed - spare
        good = name not in undecided if sure else name in undecided if open_ else True
        result.expect("decided", good, f"not so of {name}: {value:.9g}, needed {needed:.9g}")
    what = "margin" if settings["threshold"]["name"] == "certified" else "evidence"
    result.notes.append(f"{what} {reached:.6g}, needed {needed:.6g}")


def near(a: Any, b: Any, tolerance: float, scale: Any = 1.0) -> bool:
    """Within the tolerance, relative to scale and size; whatever is not finite is near to nothing."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    finite = np.all(np.isfinite(a)) and np.all(np.isfinite(b))
    return bool(finite and np.all(np.abs(a - b) <= tolerance * (scale + np.abs(b)) + 1e-300))
