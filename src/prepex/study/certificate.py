"""The answer of a study with all that it rests on, as a JSON document that anyone can check (check.py).

Legend
    n, mean            outcomes of an arm, all of them; mean in the user's signs
    pilot              those that set the prices and the priors; only for families beyond the known Gaussian
    after_pilot        those that the tests use: how many, and their mean facet scores (of benefits); for such families
                       also the means, and, with an unknown variance, the sums of squares around both
    price              of the arm's tests: as one of the answer, as one outside it, and as a rival of such; with limits
                       also as one of the answer that meets them, and as one outside it that breaks one
    test               e, the evidence of the arm's status; value = e less its price; null: no evidence above 0.
                       better, worse, facet: two arms on a facet;  arm, limit: a limit of its own decides;
                       better, worse, limit: the other arm is no rival as it breaks a limit, or one only if it meets it
    margin             the least value; null: some arm has no test
"""

from typing import Any

import numpy as np

from prepex._kernels.course import Course
from prepex._kernels.instance import meets_limit
from prepex._kernels.laws.instance import squares
from prepex._kernels.laws.law import STUDENT
from prepex._kernels.margin import e_dominates, e_value
from prepex._kernels.mixture import ALONE, AS_RIVAL, BROKEN, IN_FRONT, OUT_OF_FRONT
from prepex.experiment import Experiment
from prepex.study.config import Config

FORMAT = "prepex certificate 2"
PRICES = (("in_front", IN_FRONT), ("out_of_front", OUT_OF_FRONT), ("as_rival", AS_RIVAL))
MORE_PRICES = (("alone", ALONE), ("broken", BROKEN))
# Evidence of facets that differs by less, relative to 1 + its size, is level.
LEVEL = 1e-6
# In place of evidence without end: what no mean can turn round. JSON has no infinity.
CERTAIN = 1e6


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
            # Of a posterior by draws nobody else can find the same number.
            by_draws = experiment.setting.posterior and experiment.setting.laws is not None
            evidence = None if by_draws else _finite(experiment.reached)
        elif experiment.testable and (len(arms) > 1 or len(course.price) > len(PRICES)):
            tests = _tests(course, labels.arms)
            for k, arm in enumerate(arms):
                names = (*PRICES, *MORE_PRICES) if len(course.price) > len(PRICES) else PRICES
                arm |= _samples(course, k)
                arm["price"] = {name: float(course.price[row, k]) for name, row in names}
                arm["test"] = tests[k]
            found = [test for test in tests if test is not None]
            if len(found) == len(arms):
                least = min(found, key=lambda test: float(test["value"]))
                margin, binding = least["value"], {k: least[k] for k in least if k not in ("e", "value")}
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
    """Every arm's test, by definition: min_j max_f for an arm of the answer, max_j min_f for another; with limits as
    in _kernels/margin.py.

    Only evidence above 0 is any: None for a test without it. (Where two scores are equal but for a rounding, e is minus
    infinity or a negative number, and no two computations need agree on which.) Of rows that are level, the first.
    """
    fresh, price, mask = course.fresh, course.price, course.near.inst.mask
    inst = fresh.inst
    (K, rows), m = inst.S.shape, inst.n_facets
    low, high = -np.inf, np.inf

    def e(test: Any, i: int, j: int) -> list[float]:
        """e_f(i over j) on every facet."""
        one, other = np.int64(i), np.int64(j)
        found = [float(test(fresh, one, other, np.int64(f), low, high)) for f in range(m)]
        return [min(one, CERTAIN) for one in found] if fresh.with_laws else found

    def met(k: int) -> list[float]:
        """That it meets a limit, of each."""
        return [float(fresh.alone[k, r - m]) if meets_limit(inst, k, r) else low for r in range(m, rows)]

    def broken(k: int) -> list[float]:
        """That it breaks it."""
        return [float(fresh.alone[k, r - m]) if inst.S[k, r] < 0.0 else low for r in range(m, rows)]

    def reasons(i: int, j: int) -> list[float]:
        """Why i's status holds, as far as j goes; j = i: its own limits."""
        if i == j:
            return [high] * m + met(i) if mask[i] else [low] * m + broken(i)
        return e(e_value, i, j) + broken(j) if mask[i] else e(e_dominates, j, i) + met(j)

    def paid(i: int, j: int, found: float) -> float:
        """One price after the other, as the margin does: rounding must not decide otherwise here."""
        if i == j:
            return found - float(price[ALONE if mask[i] else BROKEN, i])
        if mask[i]:
            return found - float(price[IN_FRONT, i])
        return found - float(price[AS_RIVAL, j]) - float(price[OUT_OF_FRONT, i])

    tests: list[dict[str, Any] | None] = []
    for i in range(K):
        rivals = [j for j in range(K) if (mask[i] or mask[j] if j != i else rows > m)]
        found = [(max if (j == i) != mask[i] else min)(reasons(i, j)) for j in rivals]
        values = [paid(i, j, one) for j, one in zip(rivals, found, strict=True)]
        if not mask[i]:
            # Evidence of 0 or less is none, whatever it costs.
            values = [value if one > 0.0 else low for value, one in zip(values, found, strict=True)]
        place = values.index(min(values) if mask[i] else max(values)) if rivals else -1
        if place < 0 or not found[place] > 0.0:
            tests.append(None)
            continue
        j, top = rivals[place], found[place]
        row = next(r for r, one in enumerate(reasons(i, j)) if one == top or abs(one - top) <= LEVEL * (1.0 + top))
        shown: dict[str, Any] = {"better": names[i if mask[i] else j], "worse": names[j if mask[i] else i]}
        shown = shown if i != j else {"arm": names[i]}
        tests.append(shown | ({"facet": row} if row < m else {"limit": row - m}) | {"e": top, "value": values[place]})
    return tests


def _samples(course: Course, k: int) -> dict[str, Any]:
    """What the tests know of arm k."""
    fresh, origin = course.fresh, course.origin
    # Scores of limits are written as those of facets are, whatever the limit.
    centre = course.near.inst.W @ origin + course.near.inst.level
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
