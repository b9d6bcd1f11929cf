"""What the golden results are made of: live runs, simulated runs, evidence and bounds, as numbers in hexadecimal.

`tests/golden/*.json` keep them; `python tests/golden "why"` writes them anew.
"""

import hashlib
import json
import platform
from pathlib import Path

import numpy as np
from law_cases import random_law_case

from benchmarks import twice
from prepex import (
    Bernoulli,
    Cone,
    Exponential,
    Gaussian,
    Poisson,
    Problem,
    Product,
    characteristic_time,
    evidence,
    simulate,
)
from prepex._kernels import digest, engine
from prepex._kernels.ledger import refresh
from prepex.standing import Standing

from cases import CONES, sweep

FOLDER = Path(__file__).parent / "golden"
# Of each live run, and how many of every family, rule and threshold.
PULLS, ROUNDS = 50, 1


def text(number):
    """All digits."""
    return float(number).hex()


def live(run):
    """A live run: the arms, and what is known at its end."""
    experiment, reward = run.open(), run.rewards()
    arms = []
    for _ in range(run.n_pulls):
        arm = int(experiment.choose(1, np.zeros(4, dtype=np.int64))[0])
        arms.append(arm)
        experiment.tell(arm, reward(arm))
    course = experiment.course
    refresh(course.near, 0.0)  # a rule that follows the margin keeps no evidence
    told = {
        "arms": "".join(map(str, arms)),
        "counts": [int(n) for n in course.near.inst.N],
        "answer": [int(k) for k in np.flatnonzero(course.near.inst.mask)],
        "reached": text(experiment.reached),
        "evidence": text(course.near.real[0]),
        "gradient": [text(g) for g in course.near.gradient],
        "aim": [text(x) for x in course.aim],
    }
    if run.threshold == "certified":
        standing = Standing(experiment.setting, course, experiment.family, 0.05)
        if standing.testable:
            told["margin"], binding = text(standing.margin()[0]), standing.margin()[1]
            told["binding"] = [int(k) for k in binding]
            told["tests"] = [text(value) for value in standing.tests()]
    return told


def live_runs():
    """Every family, rule and threshold, under cones in turn, by name."""
    runs = twice.random_runs(seed=13, rounds=ROUNDS, n_pulls=PULLS)
    return {f"{run.family}, {run.rule}, {run.threshold}, {run.cone}, {run.seed}": run for run in runs}


MEANS = np.array([[0.8, 0.2], [0.3, 0.9], [0.2, 0.15], [0.5, 0.1]])
ANGLE = Cone.angle(120)
PROBLEMS = {
    "Gaussian": Problem(MEANS, family=Gaussian(variance=[0.04, 0.09]), cone=Cone.orthant(2)),
    "correlated": Problem(MEANS, family=Gaussian(covariance=[[0.1, 0.04], [0.04, 0.1]]), cone=ANGLE, minimise=(1,)),
    "per arm": Problem(
        MEANS,
        family=Gaussian(covariance=[np.array([[v, 0.02], [0.02, 0.1]]) for v in (0.1, 0.2, 0.05, 0.1)]),
        cone=ANGLE,
    ),
    "unknown": Problem(MEANS, family=Gaussian(variance="unknown", noise=0.1), cone=Cone.orthant(2), minimise=(0,)),
    "shared": Problem(MEANS, family=Gaussian(variance="unknown", shared=True, noise=0.1), cone=ANGLE),
    "Bernoulli": Problem(MEANS, family=Bernoulli(), cone=Cone.orthant(2), minimise=(1,)),
    "Bernoulli, cone": Problem(MEANS, family=Bernoulli(), cone=Cone.angle(100)),
    "Poisson": Problem(10 * MEANS, family=Poisson(), cone=Cone.orthant(2)),
    "Exponential": Problem(np.exp(3 * MEANS), family=Exponential(), cone=Cone.orthant(2), minimise=(0,)),
    "Product": Problem(
        MEANS, family=Product([Bernoulli(), Gaussian(variance="unknown", noise=0.1)]), cone=Cone.angle(80)
    ),
}
KNOWN = ("Gaussian", "correlated", "per arm")


def simulated(name):
    """Compiled runs of a problem: stopping times and answers of every rule and threshold."""
    problem = PROBLEMS[name]
    rules = [rule for title, rule in twice.RULES.items() if title not in twice.OWN or name in KNOWN]
    runs = simulate(
        problem, sampling=rules, threshold=["heuristic", "certified"], deltas=[0.1, 0.01], n_runs=2, max_pulls=3000
    )
    return {
        f"{record.rule}, {', '.join(record.thresholds)}, {record.run}, {', '.join(map(str, record.deltas))}": [
            record.n_pulls,
            record.time.tolist(),
            ["".join(str(int(bit)) for bit in row) for row in record.answer.reshape(-1, problem.n_arms)],
        ]
        for record in runs.records
    }


def closest(found, slack):
    """Evidence and its pieces."""
    pieces = found.pieces(slack * found.value, at_most=20)
    return {
        "value": text(found.value),
        "set": list(found.pareto_set),
        "gradient": [text(g) for g in found.gradient],
        "pieces": [
            [piece.kind, piece.arm, piece.hub, text(piece.value), [text(x) for x in piece.means.ravel()]]
            for piece in pieces
        ],
    }


def instances():
    """Random instances: (means, counts, family, cone, minimise)."""
    for index, case in enumerate(sweep(per_cell=1, seed=17)):
        minimise = (0,) if index % 3 == 0 else ()
        yield case.means, case.counts, Gaussian(covariance=case.covariance), Cone(case.facets), minimise
    rng = np.random.default_rng(18)
    for cone in CONES:
        for law in ("gaussian", "bernoulli", "poisson", "exponential", "student"):
            for laws in ([law, law], [law, "gaussian", "bernoulli"]):
                case = random_law_case(rng, cone, laws, 5)
                yield case.means, case.counts, case.family, Cone(case.facets), ()


def all_evidence():
    """Of every instance, in order."""
    return [
        closest(evidence(means, counts, family=family, cone=cone, minimise=minimise), 1.0)
        for means, counts, family, cone, minimise in instances()
    ]


def bounds():
    """T* of the simulated problems."""
    found = {}
    for name, problem in PROBLEMS.items():
        bound = characteristic_time(problem)
        found[name] = [text(bound.lower), text(bound.upper), [text(w) for w in bound.allocation]]
    return found


def machine():
    """What last digits depend on: BLAS and the C library go by the processor."""
    text = [digest.processor(), np.__version__, *platform.libc_ver()]
    return hashlib.sha256("".join(text).encode()).hexdigest()[:12]


def read(name):
    """What is kept."""
    return json.loads((FOLDER / f"{name}.json").read_text())["results"]


def difference(found, kept, where=""):
    """Where the two differ, and how; None if they do not. Bit for bit on the machine that wrote them, else to 1e-6."""
    if isinstance(kept, dict | list):
        if type(found) is not type(kept) or len(found) != len(kept):
            return where, found, kept
        steps = kept if isinstance(kept, dict) else range(len(kept))
        inside = (difference(found[step], kept[step], f"{where}/{step}") for step in steps)
        return next((entry for entry in inside if entry), None)
    if isinstance(kept, str) and kept.startswith(("0x", "-0x")) and not SAME_MACHINE:
        one, other = float.fromhex(found), float.fromhex(kept)
        return None if np.isclose(one, other, rtol=1e-6, atol=1e-9) else (where, one, other)
    return None if found == kept else (where, found, kept)


SAME_MACHINE = json.loads((FOLDER / "live.json").read_text()).get("machine") == machine()


def write(reason):
    """Compute everything, compiled, and keep it."""
    with engine.waiting():
        made = {
            "live": {name: live(run) for name, run in live_runs().items()},
            "simulated": {name: simulated(name) for name in PROBLEMS},
            "evidence": all_evidence(),
            "bounds": bounds(),
        }
    for name, results in made.items():
        made_by = {"reason": reason, "machine": machine(), "results": results}
        lines = json.dumps(made_by, indent=0, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(lines + "\n")
