"""The guarantees and the rules side by side: `python -m benchmarks compare [n_runs] [delta]`.

For every instance and every way to stop: mean pulls over the floor T* kl(delta, 1 - delta), and wrong answers. A rule
that has not stopped after MOST pulls is said so; PSIPS and APE are for Gaussians of known covariance.
"""

import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from prepex import Cone, Gaussian, Problem, instances, simulate
from prepex.sampling import APE, PSIPS, InformationDirected, TnS

MOST, SEED = 200_000, 31
WAYS = {
    "certified": (InformationDirected(), "certified"),
    "posterior": (InformationDirected(), "posterior"),
    "heuristic": (InformationDirected(), "heuristic"),
    "PSIPS": (PSIPS(), "heuristic"),
    "APE": (APE(), "heuristic"),
    "TnS": (TnS(), "heuristic"),
}


def some_of_snw(n_arms=12):
    """Arms of SNW at equal distances in its table."""
    whole = instances.snw()
    keep, labels = np.linspace(0, len(whole.means) - 1, n_arms).astype(int), whole.labels
    named = {"objectives": labels.objectives, "minimise": labels.minimise}
    return Problem(whole.means[keep], family=whole.family, cone=whole.cone, **named)


def random_instances(n=20):
    """Gaussian means, 3 to 8 arms, 2 or 3 objectives, orthant and other cones; those whose floor is at most 2,000."""
    rng, found = np.random.default_rng(SEED), []
    from prepex import characteristic_time

    while len(found) < n:
        K, L = int(rng.integers(3, 9)), int(rng.integers(2, 4))
        cone = Cone.angle(float(rng.uniform(60, 130))) if L == 2 and rng.random() < 0.5 else Cone.orthant(L)
        problem = Problem(rng.normal(size=(K, L)), family=Gaussian(variance=1.0), cone=cone)
        if characteristic_time(problem).value < 1000.0:
            found.append(problem)
    return found


def problems():
    made = {
        "Cov-Boost": [instances.covboost()],
        **{f"correlated({rho:g})": [instances.correlated(rho)] for rho in (-0.5, 0.0, 0.5)},
        "Bernoulli": [instances.bernoulli()],
        "dose finding": [instances.dose_finding()],
        "SNW, 12 arms": [some_of_snw()],
        "20 random": random_instances(),
    }
    return made


def cell(problem, way, delta, n_runs):
    """(pulls over floor of each run, wrong, runs that stopped), or None where the rule is not for the family."""
    rule, threshold = WAYS[way]
    if rule.stops_itself and not (isinstance(problem.family, Gaussian) and not problem.family.unknown):
        return None
    runs = simulate(
        problem, sampling=rule, threshold=threshold, deltas=delta, n_runs=n_runs, seed=SEED, max_pulls=MOST, n_jobs=1
    )
    (summary,) = runs.summary()
    rows = list(runs.rows())
    times = [row["stopping_time"] / summary.floor for row in rows if row["stopped"]]
    return times, sum(not row["correct"] for row in rows if row["stopped"]), len(times)


def main(n_runs=None, delta=None):
    given = [word for word in sys.argv[2:] if word.replace(".", "").isdigit()]
    n_runs = n_runs or (int(given[0]) if given else 40)
    delta = delta or (float(given[1]) if len(given) > 1 else 0.1)
    table = Table(
        "instance", *WAYS, "posterior below PSIPS?", box=None, header_style="bold",
        title=f"mean pulls / floor (wrong of runs), delta {delta:g}, seed {SEED}",
    )  # fmt: skip
    for name, several in problems().items():
        each = n_runs if len(several) == 1 else max(1, n_runs // 4)
        texts, means = [], {}
        for way in WAYS:
            cells = [cell(problem, way, delta, each) for problem in several]
            if cells[0] is None:
                texts.append("-")
                continue
            times = np.array([time for part in cells if part for time in part[0]])
            wrong, stopped = (sum(part[at] for part in cells if part) for at in (1, 2))
            means[way] = times.mean() if times.size else np.inf
            error = times.std() / np.sqrt(max(times.size, 1))
            late = each * len(several) - stopped
            texts.append(f"{means[way]:.2f} ± {error:.2f} ({wrong}/{stopped})" + (f", {late} not" if late else ""))
        verdict = "-" if "PSIPS" not in means else "yes" if means["posterior"] < means["PSIPS"] else "NO"
        table.add_row(name, *texts, verdict)
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
