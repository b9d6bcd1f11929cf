"""The answer of a study with all that it rests on, as a JSON document that anyone can check (check.py).

Legend
    n, mean            outcomes of an arm, all of them; mean in the user's signs
    pilot              those that set the prices and the priors; only for families beyond the known Gaussian
    after_pilot        those that the tests use: how many, and their mean facet scores (of benefits); for such families
                       also the means, and, with an unknown variance, the sums of squares around both
    price              of the arm's tests: as one of the answer, as one outside it, and as a rival of such
    test               e, the evidence of the arm's status; value = e less its price; null: no evidence above 0
    margin             the least value; null: some arm has no test
"""

from typing import Any

import numpy as np

from prepex._kernels.course import Course
from prepex._kernels.laws.instance import squares
from prepex._kernels.laws.law import STUDENT
from prepex._kernels.margin import e_value
from prepex._kernels.mixture import AS_RIVAL, IN_FRONT, OUT_OF_FRONT
from prepex.experiment import Experiment
from prepex.study.config import Config

FORMAT = "prepex certificate 2"
# Evidence of facets that differs by less, relative to 1 + its size, is level.
LEVEL = 1e-6


def make_certificate(config: Config, experiment: Experiment, position: int, head: str) -> dict[str, Any]:
    """The state of an experiment whose log ends at `position` with the hash `head`."""
    answer, course, labels = experiment.recommendation, experiment.course, experiment.labels
    counts, means = experiment.counts, experiment.means
    arms: list[dict[str, Any]] = [
        {"name": name, "n": int(counts[k]), "mean": means[k].tolist() if counts[k] else None}
        for k, name in enumerate(labels.arms)
    ]
    decided = set(answer.decided)
    margin = binding = evidence = None
    if course is not None:
        for k, arm in enumerate(arms):
            arm["pareto"] = bool(course.near.inst.mask[k])
        if not experiment.setting.certified:
            evidence = _finite(experiment.reached)
        elif experiment.testable and len(arms) > 1:
            tests = _tests(course, labels.arms)
            for k, arm in enumerate(arms):
                names = (("in_front", IN_FRONT), ("out_of_front", OUT_OF_FRONT), ("as_rival", AS_RIVAL))
                arm |= _samples(course, k)
                arm["price"] = {name: float(course.price[row, k]) for name, row in names}
                arm["test"] = tests[k]
            found = [test for test in tests if test is not None]
            if len(found) == len(arms):
                least = min(found, key=lambda test: float(test["value"]))
                margin, binding = least["value"], {k: least[k] for k in ("better", "worse", "facet")}
            if answer.status in ("running", "inconclusive"):
                passed = [test is not None and test["value"] >= experiment.needed for test in tests]
                decided = {name for name, good in zip(labels.arms, passed, strict=True) if good}
    return {
        "format": FORMAT,
        "study": config.name,
        "settings": dict(config.settings),
        "lease": config.lease,
        "log": {"events": position + 1, "hash": head},
        "answer": {
            "status": answer.status,
            "arms": list(answer.arms),
            "decided": [name for name in labels.arms if name in decided],
            "undecided": [name for name in labels.arms if name not in decided],
            "delta": answer.delta,
            "n_pulls": answer.n_pulls,
        },
        "theorem": experiment.setting.threshold.theorem,
        "needed": experiment.needed,
        "margin": margin,
        "evidence": evidence,
        "binding": binding,
        "arms": arms,
    }


def _tests(course: Course, names: tuple[str, ...]) -> list[dict[str, Any] | None]:
    """Every arm's test, by definition: min_j max_f for an arm of the answer, max_j min_f for another.

    Only evidence above 0 is any: None for a test without it. (Where two scores are equal but for a rounding, e is minus
    infinity or a negative number, and no two computations need agree on which.) Of facets that are level, the first.
    """
    fresh, price, mask = course.fresh, course.price, course.near.inst.mask
    K, m = len(mask), course.near.inst.n_facets
    low, high = -np.inf, np.inf

    def e(i: int, j: int, f: int) -> float:
        one, other, facet = np.int64(i), np.int64(j), np.int64(f)
        return float(e_value(fresh, one, other, facet, low, high))

    def first(i: int, j: int, extreme: float) -> int:
        found = [e(i, j, f) for f in range(m)]
        return next(f for f in range(m) if found[f] == extreme or abs(found[f] - extreme) <= LEVEL * (1.0 + extreme))

    tests: list[dict[str, Any] | None] = []
    for i in range(K):
        rivals = [j for j in range(K) if j != i and (mask[i] or mask[j])]
        if mask[i]:
            value, other = min((max(e(i, j, f) for f in range(m)), j) for j in rivals)
            better, worse, paid = i, other, value - float(price[IN_FRONT, i])
        else:
            rows = [(min(e(j, i, f) for f in range(m)), j) for j in rivals]
            rows = [row for row in rows if row[0] > 0.0] or rows[:1]
            value, other = max(rows, key=lambda row: row[0] - float(price[AS_RIVAL, row[1]]))
            # One price after the other, as the margin does: rounding must not decide otherwise here.
            better, worse, paid = other, i, value - float(price[AS_RIVAL, other]) - float(price[OUT_OF_FRONT, i])
        if value > 0.0:
            facet = first(better, worse, value)
            shown = {"better": names[better], "worse": names[worse], "facet": facet, "e": value, "value": paid}
        tests.append(shown if value > 0.0 else None)
    return tests


def _samples(course: Course, k: int) -> dict[str, Any]:
    """What the tests know of arm k."""
    fresh, origin, centre = course.fresh, course.origin, course.near.inst.W @ course.origin
    inst, arm = fresh.inst, np.int64(k)
    if not fresh.with_laws:
        return {"after_pilot": {"n": int(inst.N[k]), "scores": (inst.S[k] + centre).tolist()}}
    pilot = {"n": int(fresh.pulls[k]), "means": (fresh.mean[k] + origin).tolist()}
    late = {"n": int(inst.N[k]), "means": (inst.M[k] + origin).tolist()}
    pilot["scores"], late["scores"] = (fresh.middle[k] + centre).tolist(), (inst.S[k] + centre).tolist()
    unknown = inst.law == STUDENT
    if unknown.any():
        own = [float(squares(inst, arm, np.int64(q))) if free else 0.0 for q, free in enumerate(unknown)]
        pilot |= {"squares": fresh.square[k].tolist(), "score_squares": fresh.square_f[k].tolist()}
        late |= {"squares": own, "score_squares": inst.line[k].tolist()}
    return {"pilot": pilot, "after_pilot": late}


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if np.isfinite(value) else None
