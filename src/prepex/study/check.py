"""An independent check of a certificate, with its log or without. It needs numpy, for odd cones scipy, and shares no
code with the rest: this file, check_read.py, check_settings.py and check_form.py, which read strictly, check_log.py for
the log, check_facts.py for what the tests look at, check_laws.py for families beyond the known Gaussian,
check_evidence.py for other thresholds.

Everything is computed by definition (docs/certified.md): hashes, the order of the outcomes, the pilot's shares of
delta, and every test, each e-value by bisection on the slope of a convex function. Then every number and every name
that the certificate states is compared with what was computed; what it states is never used in its place.

Legend
    K, L, m   arms, objectives, facets            W   facets (m, L)
    N, S      counts (K,) and mean facet scores (K, m) of all outcomes;  n, F: of those after the pilot
    var       variance of one outcome's facet score (K, m)
    slack     of a tolerance: the score of the better arm of a test is raised by it (m,)
    price     in front, out of front, as rival (3, K)
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.study import check_compare, check_evidence, check_laws
from prepex.study.check_compare import Pairs, Precision, Result, Test, near, testable
from prepex.study.check_facts import Design, Facts, used_blocks
from prepex.study.check_form import require_form
from prepex.study.check_laws import Sample
from prepex.study.check_log import Record
from prepex.study.check_read import RefusedError, parse, plain, refuse, same

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Pair = tuple[Floats, Floats]
Document = Mapping[str, Any]

# How far two computations of the same number may be apart, relative to 1 + its size; more where outcomes are large
# beside their noise, and digits are lost in both.
CLOSE = 1e-8
WORST = 1e-5
# Pairs of arms that are looked at together: all of them may not fit.
BLOCK = 4096
# Without the log the pilot's means are differences of means, which lose digits.
DIFFERENCE = 1e-3


# The mathematics


def log_half_normal(z: Floats) -> Pair:
    """g(z) = log 2 Phi(z) + z^2 / 2, and its slope z + phi(z) / Phi(z)."""
    near = np.maximum(z, -3.0)
    twice_phi = np.array([math.erfc(x) for x in (near * -math.sqrt(0.5)).ravel().tolist()]).reshape(near.shape)
    square = 0.5 * near * near
    value = np.log(twice_phi) + square
    slope = near + math.sqrt(2.0 / math.pi) * np.exp(-square) / twice_phi
    far = z < -3.0
    if far.any():
        # Phi(-v) = phi(v) / (v + 1 / (v + 2 / (v + ...))), and the slope is that fraction less v.
        v = rest = -z[far]
        for k in range(30, 1, -1):
            rest = v + k / rest
        value[far] = 0.5 * math.log(2.0 / math.pi) - np.log(v + 1.0 / rest)
        slope[far] = 1.0 / rest
    return value, slope


def e_values(gap: Floats, counts: Pair, var: Pair, rho: Floats) -> Floats:
    """min_y log 1/J sum_rho exp(A_i(y) + A_j(gap - y)) for many pairs at once; -inf where gap <= 0."""
    answer = np.full(gap.shape, -np.inf)
    use = gap > 0
    if not use.any():
        return answer
    # z = rate * u, rate = N / (s sqrt(N + rho)); one row for each pair, one column for each rho.
    rate = [(N / np.sqrt(v))[use, None] / np.sqrt(N[use, None] + rho) for N, v in zip(counts, var)]
    cost = sum(0.5 * np.log(rho / (N[use, None] + rho)) for N in counts)
    wide = 3.0 / np.minimum(rate[0].min(axis=1), rate[1].min(axis=1))
    low, high = -wide, gap[use] + wide

    def at(y: Floats) -> Pair:
        up, up_slope = log_half_normal(rate[0] * y[:, None])
        down, down_slope = log_half_normal(rate[1] * (gap[use] - y)[:, None])
        total = up + down + cost
        top = total.max(axis=1)
        weight = np.exp(total - top[:, None])
        slope = (weight * (rate[0] * up_slope - rate[1] * down_slope)).sum(axis=1) / weight.sum(axis=1)
        return top + np.log(weight.mean(axis=1)), slope

    for _ in range(46):
        y = 0.5 * (low + high)
        _, slope = at(y)
        low, high = np.where(slope < 0, y, low), np.where(slope < 0, high, y)
    answer[use] = at(0.5 * (low + high))[0]
    return answer


def pareto(S: Floats) -> Bools:
    """Which rows no other row dominates."""
    return np.array([not np.any((row <= S).all(axis=1) & (row < S).any(axis=1)) for row in S])


def pilot_prices(S: Floats, N: Floats, var: Floats, slack: Floats) -> Floats:
    """-log of the shares that a pilot with these statistics gives; no pilot: equal shares."""
    K, m = S.shape
    if not N.any():
        return np.log(np.array([[K * m] * K, [K] * K, [max(K - 1, 1)] * K], dtype=float))
    front, V = pareto(S), var / N[:, None]
    c = np.empty(K)
    for i in range(K):
        # How far i is ahead of the others, or those of the front of i.
        others, sign = (np.arange(K) != i, 1.0) if front[i] else (front, -1.0)
        ratio = 0.5 * np.maximum(sign * (S[i] - S[others]) + slack, 0.0) ** 2 / (V[i] + V[others])
        c[i] = ratio.max(axis=1).min(initial=np.inf) if front[i] else ratio.min(axis=1).max()
    doubt = np.exp(-2.0 * np.minimum(c, 300.0))
    rival = np.where(front, 1.0, doubt)
    share = 0.9 * doubt / doubt.sum() + 0.1 / K
    part = 0.9 * rival / rival.sum() + 0.1 / K
    return np.array([np.log(m / share), np.log((1.0 - part) / share), -np.log(part)])


class Gaps:
    """e of known Gaussians."""

    def __init__(self, late: Sample, var: Floats, rho: Floats, slack: Floats) -> None:
        self.late, self.var, self.rho, self.slack = late, var, rho, slack

    def of(self, i: Ints, j: Ints) -> Floats:
        """e_f(i over j) of so many pairs (n, m)."""
        F, n, m = self.late.score, self.late.n, self.var.shape[1]
        counts, var = (np.repeat(n[i], m), np.repeat(n[j], m)), (self.var[i].ravel(), self.var[j].ravel())
        return e_values((F[i] - F[j] + self.slack).ravel(), counts, var, self.rho).reshape(-1, m)


def arm_tests(front: Bools, e: Pairs, price: Floats) -> list[Test | None]:
    """Every arm's test; the margin is the least value. None: no evidence above 0."""
    K = len(front)
    found: list[Test | None] = [None] * K
    ahead: list[Test | None] = [None] * K
    step = max(BLOCK // K, 1)
    for first in range(0, int(front.sum()), step):
        block = np.flatnonzero(front)[first : first + step]
        i, j = np.repeat(block, K), np.tile(np.arange(K), block.size)
        i, j = i[i != j], j[i != j]
        table = e.of(i, j)
        most, least = table.argmax(axis=1).tolist(), table.argmin(axis=1).tolist()
        for a, b, row, f, g in zip(i.tolist(), j.tolist(), table, most, least):
            here = Test(float(row[f] - price[0, a]), float(row[f]), a, b, f)
            ahead[a] = min(ahead[a] or here, here)
            if not front[b] and row[g] > 0:
                here = Test(float(row[g] - price[2, a] - price[1, b]), float(row[g]), a, b, g)
                found[b] = max(found[b] or here, here)
    return [own if own is not None and own.e > 0 else other for own, other in zip(ahead, found)]


def level(name: str, N: Floats, L: int, delta: float) -> float:
    """What the evidence must reach: log((1 + log t) / delta), or Theorem 7 of Kaufmann & Koolen (2021)."""
    if name == "heuristic":
        return math.log((1.0 + math.log(N.sum())) / delta)

    def inverse(y: float) -> float:
        """The u >= 1 with u - log u = y: the fixed point of y + log u."""
        u = y + 1.0
        for _ in range(10_000):
            u = y + math.log(u)
        return u

    y = 0.5 * (inverse(1.0 - math.log(delta) / (N.size * L)) + math.log(math.pi**2 / 3.0))
    border, u = 1.0 / math.log(1.5), inverse(y)
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
            if front.tobytes() not in facts.known:
                found = check_evidence.arm_values(design, facts, front, needed, paper=not complete)
                facts.known[front.tobytes()] = found
            values, reached = facts.known[front.tobytes()]
        elif len(front) == 1:
            values = [math.inf if testable(facts) else -math.inf]
        elif testable(facts):
            values = _check_tests(given, design, facts, front, result, off)
    if name == "certified":
        reached = min(values)
    check_compare.compare_reached(given, "margin" if name == "certified" else "evidence", reached, result, off)
    check_compare.compare_status(given, values, reached, needed, result, off.value)


def _check_tests(
    given: Document, design: Design, facts: Facts, front: Bools, result: Result, off: Precision
) -> list[float]:
    """Prices and tests, computed anew; each arm's value."""
    if front.tobytes() not in facts.known:
        facts.known[front.tobytes()] = _compute_tests(design, facts, front)
    price, e, tests = facts.known[front.tobytes()]
    check_compare.compare_tests(given, front, price, e, tests, result, off)
    return [-math.inf if test is None else test.value for test in tests]


def _compute_tests(design: Design, facts: Facts, front: Bools) -> tuple[Floats, Pairs, list[Test | None]]:
    """Prices, e of pairs on every facet, and every arm's test."""
    pilot, late = facts.pilot, facts.late
    assert pilot is not None and late is not None
    var = design.var if design.laws is None else check_laws.variances(design.laws, design.W, pilot)
    price = pilot_prices(pilot.score, pilot.n, var, design.slack)
    e: Pairs = Gaps(late, var, design.rho, design.slack)
    if design.laws is not None:
        e = check_laws.Tests(design.laws, design.W, design.slack, pilot, late)
    return price, e, arm_tests(front, e, price)


def _precision(design: Design, facts: Facts, coarse: float) -> Precision:
    """How far e, and values with their prices, may be off: more if outcomes are large beside the noise of a mean."""
    peak, sample = np.abs(design.W) @ facts.reach, facts.late if facts.late is not None else facts.whole
    var = design.var if design.laws is None else check_laws.variances(design.laws, design.W, facts.pilot or facts.whole)
    noise = np.sqrt(var / sample.n[:, None])
    lost = float(np.max(np.where((noise > 0) & np.isfinite(noise), peak / noise, 0.0), initial=0.0))
    # Not without a limit: where more is lost nothing can be confirmed, and a certificate is refused.
    close = min(CLOSE * (1.0 + 1e-6 * lost), WORST)
    return Precision(close, max(close, coarse) if design.laws is None else close)
