"""The guarantees and the rules side by side: `python -m benchmarks compare [n_runs] [delta ..] [--save FILE.csv]`.

For every instance and every way to stop: mean pulls over the floor T* kl(delta, 1 - delta), and wrong answers with
their interval. A run that has not ended after MOST pulls is counted with these, so that the mean is a lower bound then.
PSIPS and APE are for Gaussians of known covariance.
"""

import csv
import sys
from pathlib import Path

import numpy as np

from prepex import Cone, Gaussian, Problem, characteristic_time, instances, simulate
from prepex.runs import clopper_pearson
from prepex.sampling import APE, PSIPS, InformationDirected, TnS

MOST, SEED, N_RUNS = 200_000, 31, 100
WAYS = {
    "certified": (InformationDirected(), "certified"),
    "posterior": (InformationDirected(), "posterior"),
    "heuristic": (InformationDirected(), "heuristic"),
    "PSIPS": (PSIPS(), "heuristic"),
    "APE": (APE(), "heuristic"),
    "TnS": (TnS(), "heuristic"),
}
NUMBERS = {"mean": float, "error": float, "wrong": int, "runs": int, "not_ended": int}


def some_of_snw(n_arms=12):
    """Arms of SNW at equal distances in its table."""
    whole = instances.snw()
    keep, labels = np.linspace(0, len(whole.means) - 1, n_arms).astype(int), whole.labels
    named = {"objectives": labels.objectives, "minimise": labels.minimise}
    return Problem(whole.means[keep], family=whole.family, cone=whole.cone, **named)


def random_instances(n=20):
    """Gaussian means, 3 to 8 arms, 2 or 3 objectives, orthant and other cones; those whose T* is below 1,000."""
    rng, found = np.random.default_rng(SEED), []
    while len(found) < n:
        K, L = int(rng.integers(3, 9)), int(rng.integers(2, 4))
        cone = Cone.angle(float(rng.uniform(60, 130))) if L == 2 and rng.random() < 0.5 else Cone.orthant(L)
        problem = Problem(rng.normal(size=(K, L)), family=Gaussian(variance=1.0), cone=cone)
        if characteristic_time(problem).time < 1000.0:
            found.append(problem)
    return found


def problems():
    return {
        "Cov-Boost": [instances.covboost()],
        **{f"correlated({rho:g})": [instances.correlated(rho)] for rho in (-0.5, 0.0, 0.5)},
        "Bernoulli": [instances.bernoulli()],
        "dose finding": [instances.dose_finding()],
        "SNW, 12 arms": [some_of_snw()],
        "20 random": random_instances(),
    }


def cell(several, way, delta, n_runs):
    """Pulls over the floor, errors, and what did not end; None where the rule is not for these."""
    rule, threshold = WAYS[way]
    ratios, wrong, ended = [], 0, 0
    for problem in several:
        if rule.stops_itself and not (isinstance(problem.family, Gaussian) and not problem.family.unknown):
            return None
        given = {"deltas": delta, "n_runs": n_runs, "seed": SEED, "max_pulls": MOST, "n_jobs": -1}
        rows = list(simulate(problem, sampling=rule, threshold=threshold, **given).rows())
        stopped = [row for row in rows if row["stopped"]]
        floor = characteristic_time(problem).floor(delta)
        ratios += [(row["stopping_time"] if row["stopped"] else MOST) / floor for row in rows]
        wrong += sum(not row["correct"] for row in stopped)
        ended += len(stopped)
    runs = len(ratios)
    error = float(np.std(ratios)) / np.sqrt(runs)
    return {"mean": float(np.mean(ratios)), "error": error, "wrong": wrong, "runs": runs, "not_ended": runs - ended}


def compare(n_runs, delta):
    """Rows of instance, floor, way and what it came to; an instance at a time."""
    for name, several in problems().items():
        each = n_runs if len(several) == 1 else max(1, n_runs // 5)
        floors = [characteristic_time(problem).floor(delta) for problem in several]
        floor = f"{floors[0]:,.0f}" if len(floors) == 1 else f"{min(floors):,.0f} to {max(floors):,.0f}"
        cells = {way: cell(several, way, delta, each) for way in WAYS}
        yield [
            {"delta": delta, "instance": name, "floor": floor, "way": way, **made}
            for way, made in cells.items()
            if made is not None
        ]


def header():
    return "| instance | floor | " + " | ".join(WAYS) + " |\n" + "|---" * (2 + len(WAYS)) + "|"


def line(rows):
    """A line of the table, in Markdown."""
    texts = {row["way"]: in_words(**{name: row[name] for name in NUMBERS}) for row in rows}
    return f"| {rows[0]['instance']} | {rows[0]['floor']} | " + " | ".join(texts.get(way, "-") for way in WAYS) + " |"


def in_words(mean, error, wrong, runs, not_ended):
    """
    >>> in_words(2.0, 0.1, 1, 100, 0)
    '2.00 ± 0.10, 1/100 (0.0 to 5.4 %)'
    """
    low, high = clopper_pearson(wrong, runs, 0.975)
    text = f"{mean:.2f} ± {error:.2f}, {wrong}/{runs} ({100 * low:.1f} to {100 * high:.1f} %)"
    return f"≥ {text}, {not_ended} not ended" if not_ended else text


def stored(path):
    """Rows saved by this program, by delta and instance."""
    found = {}
    with Path(path).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            row |= {name: kind(row[name]) for name, kind in NUMBERS.items()}
            found.setdefault(float(row["delta"]), {}).setdefault(row["instance"], []).append(row)
    return found


def main():
    """A table in Markdown for each delta, a line as soon as it is there."""
    given = sys.argv[2:]
    save = given[given.index("--save") + 1] if "--save" in given else None
    numbers = [word for word in given if word.replace(".", "", 1).isdigit()]
    n_runs, deltas = int(numbers[0]) if numbers else N_RUNS, [float(word) for word in numbers[1:]] or [0.1]
    saved = []
    for delta in deltas:
        print(f"\nmean pulls / floor, wrong answers (95 % interval); delta {delta:g}, {n_runs} runs, seed {SEED}\n")
        print(header())
        for rows in compare(n_runs, delta):
            print(line(rows), flush=True)
            saved += rows
            if save:
                _save(saved, Path(save))


def _save(rows, path):
    """All there is so far: it takes a while, and may be cut off."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
