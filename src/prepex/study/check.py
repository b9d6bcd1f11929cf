"""An independent check of a certificate, with its log or without. It needs numpy and shares no code with the rest:
this file, check_log.py for the log, and check_laws.py for families beyond the known Gaussian.

Everything is computed by definition (docs/certified.md): hashes, the order of the outcomes, the pilot's shares of
delta, and every test, each e-value by bisection on the slope of a convex function.

Legend
    K, L, m   arms, objectives, facets            W   facets (m, L)
    N, S      counts (K,) and mean facet scores (K, m) of all outcomes;  n, F: of those after the pilot
    var       variance of one outcome's facet score (K, m)
    price     in front, out of front, as rival (3, K)
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.study import check_laws
from prepex.study.check_laws import Sample
from prepex.study.check_log import Blocks, Outcomes, expand, list_blocks, read_log

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Pair = tuple[Floats, Floats]
Document = Mapping[str, Any]

# How far two computations of the same number may be apart, relative to 1 + its size.
CLOSE = 1e-7
# Without the log the pilot's means are differences of means, which lose digits.
DIFFERENCE = 1e-3
# Outcomes in one summary.
MOST = 1_000_000


@dataclass
class Result:
    """Every problem found; `notes`: what was checked, and what was not."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No problem."""
        return not self.problems

    def expect(self, what: str, good: bool, detail: str) -> None:
        """A problem unless good."""
        if not good:
            self.problems.append(f"{what}: {detail}")


@dataclass
class Design:
    """The settings that the statistics need."""

    arms: list[str]
    objectives: list[str]
    signs: Floats
    W: Floats
    var: Floats
    rho: Floats
    pilot: int
    delta: float
    laws: list[tuple[str, float]] | None

    @classmethod
    def read(cls, settings: Document) -> "Design":
        """From the settings of a study."""
        labels, family, threshold = settings["labels"], settings["family"], settings["threshold"]
        arms, objectives = list(labels["arms"]), list(labels["objectives"])
        K, L = len(arms), len(objectives)
        signs = np.array([-1.0 if name in labels["minimise"] else 1.0 for name in objectives])
        laws = check_laws.read_laws(family, L)
        covariance = np.array(family.get("covariance", np.eye(L)), dtype=float)
        if laws is None and "variance" in family:
            covariance = np.diag(np.broadcast_to(np.array(family["variance"], dtype=float), L))
        covariance = np.broadcast_to(covariance, (K, L, L)) * np.outer(signs, signs)
        W = np.array(settings["cone"]["facets"], dtype=float)
        var = np.einsum("fp,kpq,fq->kf", W, covariance, W)
        rho, pilot = np.ones(1), 0
        if threshold["name"] == "certified":
            rho = np.array(threshold["grid"], dtype=float)
            rounds = threshold["pilot"]
            pilot = K * (min(K, 20) if rounds is None else int(rounds))
        return cls(arms, objectives, signs, W, var, rho, pilot, float(settings["delta"]), laws)


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
    above = (S[:, None] >= S[None]).all(axis=2) & (S[:, None] > S[None]).any(axis=2)
    return np.asarray(~above.any(axis=0))


def pilot_prices(S: Floats, N: Floats, var: Floats) -> Floats:
    """-log of the shares that a pilot with these statistics gives; no pilot: equal shares."""
    K, m = S.shape
    if not N.any():
        return np.log(np.array([[K * m] * K, [K] * K, [max(K - 1, 1)] * K], dtype=float))
    front, V = pareto(S), var / N[:, None]
    ratio = 0.5 * np.maximum(S[:, None] - S[None], 0.0) ** 2 / (V[:, None] + V[None])
    c = np.empty(K)
    for i in range(K):
        others = np.arange(K) != i
        c[i] = ratio[i, others].max(axis=1).min(initial=np.inf) if front[i] else ratio[front, i].min(axis=1).max()
    doubt = np.exp(-2.0 * np.minimum(c, 300.0))
    rival = np.where(front, 1.0, doubt)
    share = 0.9 * doubt / doubt.sum() + 0.1 / K
    part = 0.9 * rival / rival.sum() + 0.1 / K
    return np.array([np.log(m / share), np.log((1.0 - part) / share), -np.log(part)])


def e_table(front: Bools, F: Floats, n: Floats, var: Floats, rho: Floats) -> Floats:
    """e_f(i over j) for i in front (K, K, m)."""
    K, m = F.shape
    i, j = (index.ravel() for index in np.indices((K, K)))
    i, j = i[front[i]], j[front[i]]
    counts = np.repeat(n[i], m), np.repeat(n[j], m)
    found = np.full((K, K, m), -np.inf)
    found[i, j] = e_values((F[i] - F[j]).ravel(), counts, (var[i].ravel(), var[j].ravel()), rho).reshape(-1, m)
    return found


def arm_tests(front: Bools, e: Floats, price: Floats) -> Floats:
    """Every arm's test less its price; the margin is the least."""
    value = np.full(len(front), np.inf)
    for k in range(len(front)):
        if front[k]:
            value[k] = np.delete(e[k], k, axis=0).max(axis=1).min(initial=np.inf) - price[0, k]
        else:
            value[k] = (e[front, k].min(axis=1) - price[2, front]).max() - price[1, k]
    return value


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


def check(certificate: Document, log: Iterable[str] | None = None) -> Result:
    """Check a certificate, and the log's lines if given."""
    result = Result()
    try:
        _check(certificate, log, result)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        result.problems.append(f"certificate: damaged: {error!r}")
    return result


def _check(certificate: Document, log: Iterable[str] | None, result: Result) -> None:
    if certificate["format"] != "prepex certificate 1":
        raise ValueError(f"format {certificate['format']!r}")
    settings, answer, arms = certificate["settings"], certificate["answer"], certificate["arms"]
    design = Design.read(settings)
    result.expect("arms", [arm["name"] for arm in arms] == design.arms, "not those of the settings")
    result.expect("delta", answer["delta"] == design.delta, "not that of the settings")
    N = np.array([arm["n"] for arm in arms], dtype=float)
    result.expect("n_pulls", N.sum() == answer["n_pulls"], "not the sum of the counts")
    outcomes = None if log is None else _check_log(certificate, log, design, result)
    if result.problems:
        return
    if not np.all(N > 0):
        result.expect("status", answer["status"] in ("running", "inconclusive"), "arms without an outcome")
        return
    means = np.array([arm["mean"] for arm in arms], dtype=float)
    S = means * design.signs @ design.W.T
    if outcomes is not None:
        whole = _sample(outcomes, design)
        result.expect("counts", np.array_equal(whole.n, N), "not those of the log")
        result.expect("means", _near(whole.mean, means, CLOSE), "not those of the log")
        S = whole.score
    if settings["threshold"]["name"] == "own":
        result.notes.append("the rule's own test and answer are not checked, only the data")
        return
    front = pareto(S)
    names = [name for name, inside in zip(design.arms, front) if inside]
    result.expect("answer", answer["arms"] == names, f"the Pareto set of the means is {names}, got {answer['arms']}")
    complete = settings["sampling"]["alternatives"] == "complete"
    if settings["threshold"]["name"] != "certified":
        _check_level(certificate, N, len(design.objectives), complete, result)
        return
    if len(arms) == 1:
        result.notes.append("with one arm there is nothing to decide")
        return
    if answer["status"] == "certified":
        result.expect("sampling", complete, "alternatives of the paper")
    if "after_pilot" not in arms[0]:
        result.expect("status", answer["status"] in ("running", "inconclusive"), "no outcomes after the pilot")
        return
    _check_tests(certificate, design, (N, S), outcomes, front, result)


def _check_level(certificate: Document, N: Floats, L: int, complete: bool, result: Result) -> None:
    """Thresholds on the evidence, which is a search over all alternatives and too long to repeat here."""
    name, status = certificate["settings"]["threshold"]["name"], certificate["answer"]["status"]
    needed = level(name, N, L, certificate["answer"]["delta"])
    evidence = math.inf if certificate["evidence"] is None else certificate["evidence"]
    result.expect("needed", _near(needed, certificate["needed"], CLOSE), f"{needed:.9g}, got {certificate['needed']}")
    stopped = ("certified" if name == "kaufmann_koolen" and complete else "heuristic",)
    allowed = stopped if evidence >= needed else ("running", "inconclusive")
    result.expect("status", status in allowed, f"evidence {evidence:.6g}, needed {needed:.6g}, got {status}")
    result.notes.append(f"evidence {evidence:.6g} is NOT recomputed, but taken as stated; needed {needed:.6g} is")


def _check_log(certificate: Document, log: Iterable[str], design: Design, result: Result) -> Outcomes | None:
    events = read_log(log, result.problems)
    size, head = certificate["log"]["events"], certificate["log"]["hash"]
    if not result.problems and (len(events) < size or size < 1 or events[size - 1]["hash"] != head):
        result.problems.append(f"log: event {size - 1} has not the hash {head} of the certificate")
    if result.problems:
        return None
    config = events[0]["data"]
    same = config["settings"] == certificate["settings"] and config["lease"] == certificate["lease"]
    result.expect("settings", same and config["name"] == certificate["study"], "not those of the log")
    found, wanted = list_blocks(events[:size], design.objectives), certificate["answer"]["n_pulls"]
    used = _check_blocks(found, wanted, design, result)
    if result.problems:
        return None
    result.notes.append(f"{size} events of the log checked")
    return expand(used)


def _check_blocks(blocks: Blocks, wanted: int, design: Design, result: Result) -> Blocks:
    """Those that the answer rests on: whole summaries only, all after the pilot, where a mean is enough."""
    used, total, tried = Blocks(), 0, set[int]()
    unknown = any(law in check_laws.UNKNOWN for law, _ in design.laws or ())
    for arm, values, n in blocks:
        if total >= wanted:
            break
        if n != 1:
            good = isinstance(n, int) and 1 < n <= MOST and not unknown
            result.expect("summary", good, f"{n!r} outcomes in one, which these settings do not allow")
            ready = total >= design.pilot and len(tried) == len(design.arms)
            result.expect("summary", ready, f"after {total} outcomes, before the pilot was over")
            if result.problems:
                return used
        used.append((arm, values, n))
        total += n
        tried.add(arm)
    result.expect("n_pulls", total >= wanted, f"the log has {total} outcomes, got {wanted}")
    result.expect("n_pulls", total <= wanted, f"{wanted} outcomes end inside a summary")
    return used


def _check_tests(
    certificate: Document, design: Design, whole: Pair, outcomes: Outcomes | None, front: Bools, result: Result
) -> None:
    arms, (N, S) = certificate["arms"], whole
    n = np.array([arm["after_pilot"]["n"] for arm in arms], dtype=float)
    F = np.array([arm["after_pilot"]["scores"] for arm in arms], dtype=float)
    var, W, parts = design.var, design.W * design.signs, None
    price = np.array([[arm["price"][row] for arm in arms] for row in ("in_front", "out_of_front", "as_rival")])
    early, tolerance = N - n, DIFFERENCE
    result.expect("pilot", early.sum() == design.pilot and bool(np.all(n > 0)), f"not {design.pilot} outcomes")
    if result.problems:
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        pilot = (N[:, None] * S - n[:, None] * F) / early[:, None]
    if outcomes is not None:
        first = np.unique([k for k, _ in outcomes], return_index=True)[1].tolist()
        order = [*first, *sorted({*range(len(outcomes))} - {*first})]
        head, late = (
            _sample([outcomes[t] for t in part], design) for part in (order[: design.pilot], order[design.pilot :])
        )
        result.expect("after_pilot", np.array_equal(late.n, n), "not those of the log")
        result.expect("after_pilot", _near(late.score, F, CLOSE), "scores are not those of the log")
        F, tolerance = late.score, CLOSE
        if design.pilot:
            parts, pilot = (head, late), head.score
    if design.laws is not None:
        parts = parts or (Sample.read(arms, "pilot"), Sample.read(arms, "after_pilot"))
        var, pilot = check_laws.variances(design.laws, W, parts[0]), parts[0].score
    expected = pilot_prices(pilot, early, var)
    result.expect("price", _near(expected, price, tolerance), "not what the pilot gives")
    # The theorem needs shares that sum to at most one; the rest is taste.
    share = design.W.shape[0] * np.exp(-price[0])
    result.expect("price", share.sum() <= 1.0 + 1e-9, f"shares of delta sum to {share.sum():g}")
    if design.laws is not None and parts is not None:
        e = check_laws.Tests(design.laws, W, *parts).table(front)
    else:
        e = e_table(front, F, n, var, design.rho)
    value = arm_tests(front, e, price)
    given = np.array([np.inf if arm["test"]["value"] is None else arm["test"]["value"] for arm in arms])
    for k, arm in enumerate(arms):
        # A test that does not hold at all is written as null, like one that needs nothing.
        same = not np.isfinite(value[k]) if arm["test"]["value"] is None else _near(value[k], given[k], CLOSE)
        result.expect(f"test of {arm['name']}", same, f"{value[k]:.9g}, got {given[k]:.9g}")
    margin, stated = float(value.min()), certificate["margin"]
    result.expect("margin", stated is None or _near(margin, stated, CLOSE), f"{margin:.9g}, got {stated}")
    needed = math.log(1.0 / design.delta)
    result.expect("needed", _near(needed, certificate["needed"], CLOSE), f"{needed:.9g}, got {certificate['needed']}")
    passed, status = margin >= needed - CLOSE, certificate["answer"]["status"]
    result.expect(
        "status", passed == (status == "certified"), f"margin {margin:.6g}, needed {needed:.6g}, got {status}"
    )
    result.notes.append(f"margin {margin:.6g}, needed {needed:.6g}")


def _sample(outcomes: Outcomes, design: Design) -> Sample:
    values = np.array([row for _, row in outcomes]).reshape(len(outcomes), len(design.objectives))
    return Sample.of(np.array([k for k, _ in outcomes], dtype=int), values, len(design.arms), design.W * design.signs)


def _near(a: Any, b: Any, tolerance: float) -> bool:
    return bool(np.all(np.abs(np.asarray(a) - np.asarray(b)) <= tolerance * (1.0 + np.abs(np.asarray(b)))))
