"""What voids do to `certified`, by their reason: `python -m benchmarks voids`.

Two options that truly tie, so that every stop is false. Each day brings outcomes of both; some are voided.

    no outcome      half of them, by the toss of a coin
    those before    an outcome of a, if all outcomes of a before it are below the mean together; of b, if above
    others          an outcome of a, if the *other* outcomes of a on its day are below the mean together; of b, if above
    its own         an outcome of a, if it is below the mean; of b, if above
"""

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from prepex import Experiment, Gaussian
from prepex.runs import clopper_pearson
from prepex.stopping import Certified

REASONS = ("no outcome", "those before", "others", "its own")
DELTA, DAYS = 0.1, 60


def false_stop(reason: str, per_day: int, seed: int) -> bool:
    """Does a study ever stop, in its log as it finally stands?"""
    rng = np.random.default_rng(seed)
    experiment = Experiment(2, 1, family=Gaussian(variance=1.0), delta=DELTA, threshold=Certified(pilot=0))
    experiment.tell_many([("arm 0", rng.normal(size=1)), ("arm 1", rng.normal(size=1))])
    total = np.zeros(2)
    for _ in range(DAYS):
        kept: list[tuple[int, float]] = []
        for arm, side in enumerate((1.0, -1.0)):
            day = rng.normal(size=per_day)
            if reason == "others":
                counts = side * (day.sum() - day) > 0.0
            elif reason == "its own":
                counts = side * day > 0.0
            elif reason == "no outcome":
                counts = rng.random(per_day) < 0.5
            else:
                counts = np.zeros(per_day, dtype=bool)
                for at, value in enumerate(day):
                    counts[at] = side * total[arm] >= 0.0
                    # A voided outcome is seen all the same.
                    total[arm] += value
            kept += [(arm, value) for value in day[counts]]
        if kept:
            experiment.tell_log([arm for arm, _ in kept], [[value] for _, value in kept])
        if experiment.done:
            return True
    return False


def false_stops(reason: str, *, per_day: int = 50, runs: int = 100) -> int:
    """How many of so many studies stop."""
    return sum(false_stop(reason, per_day, seed) for seed in range(runs))


def main(runs: int = 200) -> None:
    """A row for each reason."""
    table: Any = Table("voided because of", "false stops", "99 % bounds", title=f"a tie, delta {DELTA:g}, {DAYS} days")
    for reason in REASONS:
        wrong = false_stops(reason, runs=runs)
        lower, upper = clopper_pearson(wrong, runs)
        table.add_row(reason, f"{wrong}/{runs}", f"{lower:.3f} to {upper:.3f}")
    Console().print(table)
