"""An independent check of a certificate, with its log or without. It needs numpy, for odd cones scipy, and shares no
code with the rest: this file, check_read.py, check_settings.py, check_cone.py and check_form.py, which read strictly,
check_log.py for the log, check_facts.py for what the tests look at, check_tests.py for the tests themselves,
check_laws.py for families beyond the known Gaussian, check_penalty.py for their penalties, check_evidence.py with
check_star.py and check_posterior.py for other thresholds.

Everything is computed by definition (docs/certified.md): hashes, the order of the outcomes, the pilot's shares of
delta, and every test, each e-value by bisection on the slope of a convex function. Then every number and every name
that the certificate states is compared with what was computed; what it states is never used in its place.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.study import check_compare, check_evidence, check_laws, check_posterior, check_tests
from prepex.study.check_compare import Precision, Result, near, testable
from prepex.study.check_facts import Design, Facts, used_blocks
from prepex.study.check_form import require_form
from prepex.study.check_log import Record
from prepex.study.check_read import RefusedError, parse, plain, refuse, same

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Document = Mapping[str, Any]

# How far two computations of the same number may be apart, relative to 1 + its size; more where outcomes are large
# beside their noise, and digits are lost in both.
CLOSE = 1e-8
WORST = 1e-5
# Without the log the pilot's means are differences of means, which lose digits.
DIFFERENCE = 1e-3


def level(name: str, N: Floats, L: int, delta: float) -> float:
    """What the evidence must reach: log((1 + log t) / delta), or Theorem 7 of Kaufmann & Koolen (2021)."""
    if name == "heuristic":
        return math.log1p(math.log(N.sum())) - math.log(delta)

    def inverse(more: float) -> float:
        """The u >= 1 with u - log u = 1 + more, by bisection of u - 1: at most more + sqrt(2 more)."""
        low, high = 0.0, 1.01 * (more + math.sqrt(2.0 * more))
        for _ in range(100):
            v = 0.5 * (low + high)
            low, high = (v, high) if v - math.log1p(v) < more else (low, v)
        return 1.0 + low

    y = 0.5 * (inverse(-math.log(delta) / (N.size * L)) + math.log(math.pi**2 / 3.0))
    border, u = 1.0 / math.log(1.5), inverse(y - 1.0)
    cost = 2.0 * math.exp(1.0 / u) * u if y >= border - math.log(border) else 3.0 * (y + math.log(border))
    return N.size * L * cost + 3.0 * L * float(np.log1p(np.log(N)).sum())


# The certificate


def check(certificate: Document | str | bytes, log: Iterable[str] | None = None) -> Result:
    """Check a certificate, its text or what it says, and the log's lines if given."""
    return Checker(log).check(certificate)


class Checker:
    """Checks certificates against one log, which is read once; or none."""

    def __init__(self, log: Iterable[str] | None = None) -> None:
        self.lines = None if log is None else list(log)
        self.refused = ""
        self._record = Record()
        self._facts: dict[tuple[int, int], tuple[Facts, int, int]] = {}
        if self.lines is not None:
            try:
                self._record = Record.read(self.lines)
            except RefusedError as error:
                self.refused = str(error)

    def check(self, certificate: Document | str | bytes) -> Result:
        """Every problem of a certificate."""
        result = Result()
        try:
            # What a program hands over is written down first, so that it is read as strictly as a file.
            given = certificate if isinstance(certificate, str | bytes) else json.dumps(certificate, allow_nan=False)
            with np.errstate(all="ignore"):
                self._check(parse(given), result)
        except RefusedError as error:
            result.problems.append(plain(str(error)))
        except (ArithmeticError, TypeError, ValueError, RecursionError, MemoryError) as error:
            result.problems.append(plain(f"certificate: cannot be computed: {error!r}"))
        return result

    def _check(self, given: Document, result: Result) -> None:
        design = require_form(given)
        result.status = given["answer"]["status"]
        if self.lines is None:
            facts = Facts.stated(given["arms"], design)
            result.notes.append(
                "without its log: only that the certificate fits itself. NOT checked: that these are outcomes of this "
                "study, their order, the name of the study, and the hash"
            )
        else:
            facts = self._observed(given, design)
            result.notes.append(f"{given['log']['events']} events of the log checked")
        check_compare.compare_data(given, design, facts, result)
        if result.ok:
            _check_answer(given, design, facts, result, CLOSE if self.lines is not None else DIFFERENCE)

    def _observed(self, given: Document, design: Design) -> Facts:
        """The outcomes of the log that the answer rests on."""
        if self.refused:
            raise RefusedError(self.refused)
        size, hashes = given["log"]["events"], self._record.hashes
        if size > len(hashes) or hashes[size - 1] != given["log"]["hash"]:
            refuse("log", f"event {size - 1} with the hash {given['log']['hash']}", "another, or none")
        record = self._record if size == len(hashes) else Record.read((self.lines or [])[:size])
        for name, own in (("settings", "settings"), ("lease", "lease"), ("name", "study")):
            if not same(record.config[name], given[own]):
                refuse(own, "that of the log", given[own])
        answer, limit = given["answer"], given["settings"]["max_pulls"]
        key = size, answer["n_pulls"]
        if key not in self._facts:
            blocks = record.blocks()
            used, before = used_blocks(blocks, answer["n_pulls"], design)
            self._facts[key] = Facts.observed(used, design), before, sum(block[2] for block in blocks)
        facts, before, total = self._facts[key]
        if answer["status"] == "running" and answer["n_pulls"] != total:
            refuse("n_pulls", f"all {total} outcomes of a study that is running", answer["n_pulls"])
        if limit is not None and before >= limit:
            refuse("n_pulls", f"no outcome after the budget of {limit}", answer["n_pulls"])
        return facts


def _check_answer(given: Document, design: Design, facts: Facts, result: Result, coarse: float) -> None:
    """Pareto set, tests, status, and who is decided."""
    name, N = given["settings"]["threshold"]["name"], facts.whole.n
    if name == "own":
        result.expect("status", False, "the rule's own test is not known to this check, which confirms the data alone")
        return
    needed = -math.log(design.delta)
    if name == "posterior":
        _check_posterior(given, design, facts, result, needed, coarse)
        return
    if name != "certified":
        needed = level(name, np.maximum(N, 1.0), len(design.objectives), design.delta)
    result.expect("needed", near(given["needed"], needed, CLOSE), f"{needed:.9g}, got {given['needed']}")
    values, reached, off = [-math.inf] * len(design.arms), -math.inf, Precision(CLOSE, coarse)
    if np.all(N > 0):
        front = np.array([arm["pareto"] for arm in given["arms"]])
        check_compare.compare_front(front, design, facts, result)
        if not result.ok:
            return
        off = _precision(design, facts, coarse)
        if name != "certified":
            if any(design.unknown) and coarse > CLOSE:
                result.notes.append("NOT checked, without the log: evidence and status, which need the variances")
                return
            off = Precision(off.e, off.e)
            complete = given["settings"]["sampling"]["alternatives"] == "complete"
            # Of what cannot be because of objectives without noise a study may know no more than a bound.
            for joint in (False, True) if design.exact else (False,):
                key = front.tobytes() + bytes([joint])
                if key not in facts.known:
                    found = check_evidence.arm_values(design, facts, front, needed, not complete, joint)
                    facts.known[key] = found
                values, reached = facts.known[key]
                trial = Result()
                check_compare.compare_reached(given, "evidence", reached, trial, off)
                check_compare.compare_status(given, values, reached, needed, trial, off.value)
                if trial.ok:
                    break
        elif len(front) == 1 and not design.limited:
            values = [math.inf if testable(facts) else -math.inf]
        elif testable(facts):
            own = Result()
            reached, values = _check_tests(given, design, facts, front, own, off)
            if not own.ok and coarse > CLOSE and facts.level_pilot(design):
                result.notes.append(
                    "NOT checked, without the log: tests and status: options are level in the pilot but for a rounding"
                )
                return
            result.problems += own.problems
    if name == "certified" and len(values) == 1:
        reached = values[0] if not design.limited else reached
    check_compare.compare_reached(given, "margin" if name == "certified" else "evidence", reached, result, off)
    check_compare.compare_status(given, values, reached, needed, result, off.value)


def _check_posterior(
    given: Document, design: Design, facts: Facts, result: Result, needed: float, coarse: float
) -> None:
    """The bound, or its like by draws of this check's own."""
    result.expect("needed", near(given["needed"], needed, CLOSE), f"{needed:.9g}, got {given['needed']}")
    left = given["answer"]["undecided" if given["answer"]["status"] == "posterior" else "decided"]
    result.expect("decided", not left, f"all options at the stop and none before it, got {plain(str(left), 80)}")
    prior = given["settings"]["threshold"]["prior"]
    front = np.array([arm.get("pareto", False) for arm in given["arms"]])
    if np.any(facts.whole.n == 0):
        compare_status(given, needed, -math.inf, result, CLOSE)
        return
    check_compare.compare_front(front, design, facts, result)
    if not result.ok:
        return
    if design.laws is None:
        wrong = check_posterior.bound(design, facts, front, prior)
        reached = -math.log(wrong) if wrong > 0.0 else math.inf
        off = _precision(design, facts, coarse)
        check_compare.compare_reached(given, "evidence", reached, result, Precision(off.e, off.e))
        compare_status(given, needed, reached, result, off.e)
        result.notes.append(f"probability of a wrong answer at most {math.exp(-reached):.3g}, allowed {design.delta:g}")
        return
    if any(design.unknown) and coarse > CLOSE:
        result.notes.append("NOT checked, without the log: the posterior and status, which need the variances")
        return
    check_compare.compare_reached(given, "evidence", -math.inf, result, Precision(CLOSE, CLOSE))
    found = check_posterior.drawn(design, facts, front, prior)
    # A look may or may not have passed where the probability is small enough; it has not where it is too large.
    small = found is not None and found[0] <= design.delta + 4.0 * found[1]
    compare_status(given, needed, needed if small else -math.inf, result, CLOSE)
    share = "not known: the posterior is no distribution" if found is None else f"about {found[0]:.3g}"
    result.notes.append(f"probability of a wrong answer {share}, by draws of this check")
    result.notes.append("taken as given: the draws of the study's own looks, and with them at which look it stopped")


def compare_status(given: Document, needed: float, reached: float, result: Result, close: float) -> None:
    """Of a posterior whose bound is known."""
    answer, budget = given["answer"], given["settings"]["max_pulls"]
    spare = close * (1.0 + needed)
    go_on = "running" if budget is None or answer["n_pulls"] < budget else "inconclusive"
    allowed = (["posterior"] if reached >= needed - spare else []) + ([go_on] if reached < needed + spare else [])
    result.expect("status", answer["status"] in allowed, f"{' or '.join(allowed)}, got {answer['status']}")


def _check_tests(
    given: Document, design: Design, facts: Facts, front: Bools, result: Result, off: Precision
) -> tuple[float, list[float]]:
    """Prices and tests, computed anew: the margin, and each arm's evidence less its price on its own."""
    if front.tobytes() not in facts.known:
        facts.known[front.tobytes()] = check_tests.compute(design, facts, front)
    found = facts.known[front.tobytes()]
    check_compare.compare_tests(given, front, found, result, off)
    margin = min(-math.inf if test is None else test.value for test in found.tests)
    pairs = zip(found.tests, found.plain.tolist(), strict=True)
    return margin, [-math.inf if test is None else test.e - paid for test, paid in pairs]


def _precision(design: Design, facts: Facts, coarse: float) -> Precision:
    """How far e, and values with their prices, may be off: more if outcomes are large beside the noise of a mean."""
    peak = facts.reach @ np.abs(design.W.T) + np.abs(design.levels(facts.origin))
    sample = facts.late if facts.late is not None else facts.whole
    var = design.var if design.laws is None else check_laws.variances(design.laws, design.W, facts.pilot or facts.whole)
    noise = np.sqrt(var / sample.n[:, None])
    lost = float(np.max(np.where((noise > 0) & np.isfinite(noise), peak / noise, 0.0), initial=0.0))
    # Not without a limit: where more is lost nothing can be confirmed, and a certificate is refused.
    close = min(CLOSE * (1.0 + 1e-6 * lost), WORST)
    if design.laws is not None:
        return Precision(close, close)
    # Without the log the weights of what is averaged are as coarse as the prices.
    return Precision(max(close, coarse) if design.closed and design.pilot else close, max(close, coarse))
