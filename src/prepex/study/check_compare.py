"""What a certificate states against what was computed, for check.py: every name and number, none of them used."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prepex.study.check_facts import Design, Facts
from prepex.study.check_form import prices_of
from prepex.study.check_laws import Sample
from prepex.study.check_read import plain
from prepex.study.check_tests import Found, Test, dominating

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
    result.expect("pilot", not tested or early == design.pilot, f"{early:g} outcomes, expected {design.pilot}")


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
        "squares": (sample.square[k] * unknown, SQUARES, 1e-4 * n * facts.reach**2 * unknown),
        "score_squares": (sample.line[k], SQUARES, 1e-4 * n * (sizes @ facts.reach) ** 2),
    }
    for name, (value, tolerance, size) in wanted.items():
        if name in part:
            result.expect(name, near(part[name], value, tolerance, size), "not those of the log")


def testable(facts: Facts) -> bool:
    """Has every arm an outcome after the pilot?"""
    return facts.late is not None and bool(np.all(facts.late.n > 0))


def compare_front(front: Bools, design: Design, facts: Facts, result: Result) -> None:
    """Every arm that is stated to look Pareto optimal does, and no other. Scores that are level go either way."""
    m, level, off = design.n_facets, design.levels(facts.origin), facts.rounding(design)
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
    arms, (price, pairs, meets, breaks, tests) = given["arms"], found
    place, m = {arm["name"]: k for k, arm in enumerate(arms)}, pairs.n_facets
    names = [*place]

    def parties(stated: Document) -> tuple[int, int]:
        """Better and worse; of an arm and a limit of its own, that arm twice."""
        return place[stated.get("better", stated.get("arm"))], place[stated.get("worse", stated.get("arm"))]

    known = sorted({parties(arm["test"]) for arm in arms if arm["test"]})
    i, j = np.array(known, dtype=np.int64).reshape(-1, 2).T
    table = pairs.of(i, j)
    rows, over = dict(zip(known, table)), dict(zip(known, dominating(pairs, i, j, table)))
    for k, (arm, test) in enumerate(zip(arms, tests, strict=True)):
        for name, right in zip(prices_of(len(price) > 3), price[:, k], strict=True):
            got = arm["price"][name]
            result.expect(f"price of {arm['name']}", near(got, right, off.value), f"{right:.9g}, got {got}")
        stated, what = arm["test"], f"test of {arm['name']}"
        if stated is None or test is None:
            # Evidence of 0 but for a rounding may be stated or not.
            size = test.e if test is not None else 0.0 if stated is None else stated["e"]
            result.expect(what, size <= off.e, f"{in_words(test, names, m)}, got {in_words(stated, names, m)}")
            continue
        (better, worse), f = parties(stated), stated["facet"] if "facet" in stated else m + stated["limit"]
        if better == worse:
            own, row, toll = better == k, meets[k] if front[k] else breaks[k], price[3 if front[k] else 4, k]
            extreme, f = row.min() if front[k] else row.max(), f - m
        elif front[k]:
            own, row, toll = better == k, np.append(rows[better, worse], breaks[worse]), price[0, k]
            extreme = row.max()
        else:
            own, row = worse == k and bool(front[better]), np.append(over[better, worse], meets[better])
            extreme, toll = row.min(), price[2, better] + price[1, k]
        # Of facets that are level the first; within a rounding of that, one or the other.
        level = [int(np.argmax(np.abs(row - extreme) <= share * LEVEL * (1.0 + abs(extreme)))) for share in (0.9, 1.1)]
        good = own and f in level and near(stated["e"], extreme, off.e)
        good = good and near(extreme - toll, test.value, off.e) and near(stated["value"], test.value, off.value)
        result.expect(what, good, f"{in_words(test, names, m)}, got {in_words(stated, names, m)}")
    binding, least = given["binding"], min(-math.inf if test is None else test.value for test in tests)
    if binding is not None and result.ok:
        held = [
            {name: part for name, part in (arm["test"] or {}).items() if name not in ("e", "value")} for arm in arms
        ]
        binds = (test is not None and near(test.value, least, off.e) for test in tests)
        good = any(one == binding and close for one, close in zip(held, binds, strict=True))
        result.expect("binding", good, f"not the test with the least value, {least:.9g}")


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
