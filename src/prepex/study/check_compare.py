"""What a certificate states against what was computed, for check.py: every name and number, none of them used."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prepex.study.check_facts import Design, Facts
from prepex.study.check_form import PRICES
from prepex.study.check_laws import Sample
from prepex.study.check_read import plain

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Document = Mapping[str, Any]

# A mean, relative to the largest outcome, at most; a sum of squares; scores nearer than TIED of the largest are level.
MEAN, SQUARES, TIED = 1e-10, 1e-9, 1e-12
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


class Test(NamedTuple):
    """Of one arm's status; value = e less its price."""

    value: float
    e: float
    better: int
    worse: int
    facet: int


class Pairs(Protocol):
    """e of pairs of arms, computed when it is asked for: with many arms a table of all would not fit."""

    def of(self, i: Ints, j: Ints) -> Floats:
        """e_f(i over j) of so many pairs (n, m)."""


def compare_data(given: Document, design: Design, facts: Facts, result: Result) -> None:
    """Counts, means, and what came after the pilot."""
    arms, tried = given["arms"], bool(np.all(facts.whole.n > 0))
    tested = given["settings"]["threshold"]["name"] == "certified" and len(arms) > 1 and testable(facts)
    result.expect("counts", [arm["n"] for arm in arms] == facts.whole.n.tolist(), "not those of the log")
    result.expect("arms", ("pareto" in arms[0]) == tried, "pareto must be stated when every arm was tried")
    result.expect(
        "arms", ("test" in arms[0]) == tested, "tests must be stated when every arm was tried after the pilot"
    )
    if not result.ok:
        return
    for k, arm in enumerate(arms):
        if arm["mean"] is not None:
            mean = facts.whole.mean[k] + facts.origin
            result.expect(
                "mean", near(arm["mean"], mean, _rounding(facts.whole.n[k]), facts.peak), "not that of the log"
            )
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
    S = facts.whole.score
    level_ = TIED * (np.abs(design.W) @ facts.reach)
    for k, arm in enumerate(design.arms):
        ahead = S - S[k]
        # k itself is level with k.
        beaten, behind = (ahead > level_).all(axis=1).any(), (ahead >= -level_).all(axis=1).sum() > 1
        result.expect("pareto", bool(not beaten if front[k] else behind), f"not so of {arm}")


def compare_tests(
    given: Document, front: Bools, price: Floats, e: Pairs, tests: list[Test | None], result: Result, off: Precision
) -> None:
    """Prices, tests, and the one that binds."""
    arms = given["arms"]
    place = {arm["name"]: k for k, arm in enumerate(arms)}
    stated_pairs = [(place[arm["test"]["better"]], place[arm["test"]["worse"]]) for arm in arms if arm["test"]]
    rows = dict(zip(stated_pairs, e.of(*np.array(stated_pairs, dtype=np.int64).reshape(-1, 2).T)))
    for k, (arm, test) in enumerate(zip(arms, tests, strict=True)):
        for name, right in zip(PRICES, price[:, k], strict=True):
            got = arm["price"][name]
            result.expect(f"price of {arm['name']}", near(got, right, off.value), f"{right:.9g}, got {got}")
        stated, what = arm["test"], f"test of {arm['name']}"
        if stated is None or test is None:
            # Evidence of 0 but for a rounding may be stated or not.
            size = test.e if test is not None else 0.0 if stated is None else stated["e"]
            result.expect(what, size <= off.e, f"{test}, got {stated}")
            continue
        better, worse, f = place[stated["better"]], place[stated["worse"]], stated["facet"]
        row = rows[better, worse]
        own = better == k if front[k] else worse == k and bool(front[better])
        extreme = row.max() if front[k] else row.min()
        toll = price[0, k] if front[k] else price[2, better] + price[1, k]
        # Of facets that are level the first; within a rounding of that, one or the other.
        level = [int(np.argmax(np.abs(row - extreme) <= share * LEVEL * (1.0 + abs(extreme)))) for share in (0.9, 1.1)]
        good = own and f in level and near(stated["e"], extreme, off.e)
        good = good and near(extreme - toll, test.value, off.e) and near(stated["value"], test.value, off.value)
        result.expect(what, good, f"{test}, got {stated}")
    binding, least = given["binding"], min(-math.inf if test is None else test.value for test in tests)
    if binding is not None and result.ok:
        held = [arm["test"] and {name: arm["test"][name] for name in binding} for arm in arms]
        binds = (test is not None and near(test.value, least, off.e) for test in tests)
        good = any(one == binding and close for one, close in zip(held, binds, strict=True))
        result.expect("binding", good, f"not the test with the least value, {least:.9g}")


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
