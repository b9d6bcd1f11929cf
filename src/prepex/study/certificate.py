"""The answer of a study with all that it rests on, as a JSON document that anyone can check (check.py).

Legend
    n, mean            outcomes of an arm, all of them; mean in the user's signs
    pilot              those that set the prices and the priors; only for families beyond the known Gaussian
    after_pilot        those that the tests use: how many, and their mean facet scores (of benefits); for such families
                       also the means, and, with an unknown variance, the sums of squares around both
    price              of the arm's test: plain, on its own, and closed, as one of all
    test               e, the evidence of the arm's status, the log of an average; value = e less its closed price;
                       null: no evidence above 0. Where its largest term is:
                       better, worse, facet: two arms on a facet;  arm, limit: a limit of its own;
                       better, worse, limit: the other arm is no rival as it breaks a limit, or one only if it meets it
    margin             the least value; null: some arm has no test
    decided            of a study that goes on: the arms whose e less their plain price is enough; of a posterior, none
"""

from typing import Any

import numpy as np

from prepex._kernels.alone import has_limits, weakest_met
from prepex._kernels.course import Course
from prepex._kernels.deal import closed_price, moved, plain_price, weigh_broken
from prepex._kernels.instance import Bools, meets_limit
from prepex._kernels.laws.instance import squares
from prepex._kernels.laws.law import STUDENT
from prepex._kernels.margin import e_dominates, join_front, take_answer, test_out
from prepex.experiment import Experiment
from prepex.study.config import Config

FORMAT = "prepex certificate 3"
# Evidence that differs by less, relative to 1 + its size, is level.
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
        mask = experiment.answer_mask
        for k, arm in enumerate(arms):
            arm["pareto"] = bool(mask[k])
        if not experiment.setting.certified:
            # Of a posterior by draws nobody else can find the same number.
            by_draws = experiment.setting.posterior and experiment.setting.laws is not None
            evidence = None if by_draws else _finite(experiment.reached)
            if experiment.setting.posterior and answer.status != "posterior":
                # By draws, too: before the stop a certificate states none.
                decided = set()
        elif experiment.testable and (len(arms) > 1 or has_limits(course.near.inst)):
            prices, tests = _tests(course, labels.arms, mask)
            for k, arm in enumerate(arms):
                arm |= _samples(course, k)
                arm["price"], arm["test"] = prices[k], tests[k]
            found = [test for test in tests if test is not None]
            if len(found) == len(arms):
                least = min(found, key=lambda test: float(test["value"]))
                margin, binding = least["value"], {k: least[k] for k in least if k not in ("e", "value")}
            if answer.status in ("running", "inconclusive"):
                pairs = zip(tests, prices, strict=True)
                passed = [test is not None and test["e"] - price["plain"] >= experiment.needed for test, price in pairs]
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


def _tests(
    course: Course, names: tuple[str, ...], mask: Bools
) -> tuple[list[dict[str, float]], list[dict[str, Any] | None]]:
    """(Every arm's prices, every arm's test) for an answer: min_j of averages for an arm of it, an average for another.

    Only evidence above 0 is any: None for a test without it. (Where two scores are equal but for a rounding, e is minus
    infinity or a negative number, and no two computations need agree on which.)
    """
    fresh, deal, room, near = course.fresh, course.deal, course.scratch, course.near.inst
    inst, m = fresh.inst, fresh.inst.n_facets
    own = not np.array_equal(mask, near.mask)
    take_answer(inst, deal, near, own)
    h = moved(deal, inst.mask)
    prices, tests = list[dict[str, float]](), list[dict[str, Any] | None]()
    for i in range(len(names)):
        arm = np.int64(i)
        prices.append({"plain": float(plain_price(deal, arm)), "closed": float(closed_price(deal, inst, arm, h))})
        if mask[i]:
            found: list[tuple[float, Any, int]] = [(*weakest_met(fresh, arm), i)] if has_limits(inst) else []
            others = (j for j in range(len(names)) if j != i)
            found += [(*join_front(fresh, deal, arm, np.int64(j), room, np.inf), j) for j in others]
            e, row, other = min(found, key=lambda one: float(one[0]))
            if other != i:
                # Its terms, once more.
                join_front(fresh, deal, arm, np.int64(other), room, np.inf)
                row = _first(room.term.tolist(), max)
            else:
                row = m + _first(_lone(fresh, i, True), min)
        else:
            e, rival, row = test_out(fresh, deal, arm, np.int64(-1), room, np.inf)
            other = int(rival)
            if other == i:
                weigh_broken(deal, inst, arm, room.weight)
                row = m + _first([one + np.log(v) for one, v in zip(_lone(fresh, i, False), room.weight[m:])], max)
            elif other >= 0:
                level = [float(e_dominates(fresh, rival, arm, np.int64(f), -np.inf, np.inf)) for f in range(m)]
                row = _first(level + _lone(fresh, other, True), min)
        if not e > 0.0:
            tests.append(None)
            continue
        shown: dict[str, Any] = {"better": names[i if mask[i] else other], "worse": names[other if mask[i] else i]}
        shown = shown if i != other else {"arm": names[i]}
        where = {"facet": int(row)} if row < m else {"limit": int(row) - m}
        tests.append(shown | where | {"e": float(e), "value": float(e) - prices[i]["closed"]})
    take_answer(inst, deal, near, False)
    return prices, tests


def _first(values: list[float], extreme: Any) -> int:
    """The first of those that are level with the largest, or the least."""
    best = extreme(values)
    return next(n for n, value in enumerate(values) if value == best or abs(value - best) <= LEVEL * (1.0 + abs(best)))


def _lone(fresh: Any, k: int, meets: bool) -> list[float]:
    """Evidence that an arm meets each limit, or breaks it."""
    inst, found = fresh.inst, list[float]()
    for row in range(inst.n_facets, inst.S.shape[1]):
        side = meets_limit(inst, k, row) if meets else inst.S[k, row] < 0.0
        found.append(float(fresh.alone[k, row - inst.n_facets]) if side else -np.inf)
    return found


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
