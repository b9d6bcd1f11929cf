"""The answer of a study with all that it rests on, as a JSON document that anyone can check (check.py).

Legend
    n, mean            outcomes of an arm, all of them; mean in the user's signs
    pilot              those that set the prices and the priors; only for families beyond the known Gaussian
    after_pilot        those that the tests use: how many, and their mean facet scores (of benefits); for such families
                       also the means, and the sums of squares around both
    price              of the arm's tests: as one of the answer, as one outside it, and as a rival of such
    test               e, the evidence of the arm's status; value = e less its price; margin = least value
"""

from typing import Any

import numpy as np

from prepex import __version__
from prepex._kernels.course import Course
from prepex._kernels.laws.fresh import LawFresh
from prepex._kernels.laws.instance import squares
from prepex._kernels.laws.law import STUDENT
from prepex._kernels.laws.margin import e_law
from prepex._kernels.margin import AS_RIVAL, IN_FRONT, OUT_OF_FRONT, e_value
from prepex.experiment import Experiment
from prepex.study.config import Config

FORMAT = "prepex certificate 1"


def make_certificate(config: Config, experiment: Experiment, position: int, head: str) -> dict[str, Any]:
    """The state of an experiment whose log ends at `position` with the hash `head`."""
    answer, course, labels = experiment.recommendation, experiment.course, experiment.labels
    counts, means = experiment.counts, experiment.means
    arms: list[dict[str, Any]] = [
        {"name": name, "n": int(counts[k]), "mean": means[k].tolist() if counts[k] else None}
        for k, name in enumerate(labels.arms)
    ]
    certified = experiment.setting.certified
    margin = binding = evidence = None
    if course is not None:
        for k, arm in enumerate(arms):
            arm["pareto"] = bool(course.near.inst.mask[k])
        if not certified:
            evidence = _finite(experiment.reached)
        elif experiment.testable:
            tests = _tests(course, labels.arms)
            for k, arm in enumerate(arms):
                names = (("in_front", IN_FRONT), ("out_of_front", OUT_OF_FRONT), ("as_rival", AS_RIVAL))
                arm |= _samples(course, k)
                arm["price"] = {name: _finite(float(course.price[row, k])) for name, row in names}
                arm["test"] = tests[k] | {"e": _finite(tests[k]["e"]), "value": _finite(tests[k]["value"])}
            if len(arms) > 1:
                binding = min(tests, key=lambda test: test["value"])
                margin, binding = _finite(binding["value"]), {k: binding[k] for k in ("better", "worse", "facet")}
    return {
        "format": FORMAT,
        "study": config.name,
        "version": __version__,
        "settings": dict(config.settings),
        "lease": config.lease,
        "log": {"events": position + 1, "hash": head},
        "answer": {
            "status": answer.status,
            "arms": list(answer.arms),
            "decided": list(answer.decided),
            "undecided": list(answer.undecided),
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


def _tests(course: Course, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Every arm's test, by definition: min_j max_f for an arm of the answer, max_j min_f for another."""
    fresh, grid, price, mask = course.fresh, course.grid, course.price, course.near.inst.mask
    K, m = course.near.inst.S.shape
    low, high = -np.inf, np.inf

    def e(i: int, j: int, f: int) -> float:
        one, other, facet = np.int64(i), np.int64(j), np.int64(f)
        if isinstance(fresh, LawFresh):
            return float(e_law(fresh, one, other, facet, high))
        return float(e_value(fresh, grid, one, other, facet, low, high))

    tests = []
    for i in range(K):
        rivals = [j for j in range(K) if j != i and (mask[i] or mask[j])]
        if not rivals:
            tests.append({"better": names[i], "worse": names[i], "facet": -1, "e": np.inf, "value": np.inf})
        elif mask[i]:
            value, j, f = min(max((e(i, j, f), j, f) for f in range(m)) for j in rivals)
            toll = float(price[IN_FRONT, i])
            tests.append({"better": names[i], "worse": names[j], "facet": f, "e": value, "value": value - toll})
        else:
            rows = [min((e(j, i, f), j, f) for f in range(m)) for j in rivals]
            value, j, f = max(rows, key=lambda row: row[0] - float(price[AS_RIVAL, row[1]]))
            toll = float(price[OUT_OF_FRONT, i] + price[AS_RIVAL, j])
            tests.append({"better": names[j], "worse": names[i], "facet": f, "e": value, "value": value - toll})
    return tests


def _samples(course: Course, k: int) -> dict[str, Any]:
    """What the tests know of arm k."""
    fresh = course.fresh
    if not isinstance(fresh, LawFresh):
        return {"after_pilot": {"n": int(fresh.N[k]), "scores": fresh.S[k].tolist()}}
    inst, arm = fresh.inst, np.int64(k)
    unknown = inst.law == STUDENT
    return {
        "pilot": {
            "n": int(fresh.pulls[k]),
            "means": fresh.mean[k].tolist(),
            "squares": fresh.square[k].tolist(),
            "scores": fresh.middle[k].tolist(),
            "score_squares": fresh.square_f[k].tolist(),
        },
        "after_pilot": {
            "n": int(inst.N[k]),
            "means": inst.M[k].tolist(),
            "squares": [float(squares(inst, arm, np.int64(q))) if own else 0.0 for q, own in enumerate(unknown)],
            "scores": inst.S[k].tolist(),
            "score_squares": inst.line[k].tolist(),
        },
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if np.isfinite(value) else None
