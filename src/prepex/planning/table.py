"""Rows of a plan: one design under one scenario."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prepex.numerals import plural
from prepex.planning.trials import Trial
from prepex.runs import clopper_pearson


@dataclass(frozen=True)
class Row:
    """One design under one scenario.

    design, scenario   what was simulated, and on which truth
    n_runs, n_stopped  studies, and those that stopped by themselves within `most` pulls
    median, q90        pulls; None: more than `most`
    error              share of the stopped ones whose answer is wrong
    error_upper        upper end of its one-sided 99 % interval; error_lower: the lower
    chance             to stop within the budget; None without one
    by_arm             mean pulls of each arm
    lengths            pulls of the stopped ones, sorted
    """

    design: str
    scenario: str
    n_runs: int
    n_stopped: int
    most: int
    median: int | None
    q90: int | None
    error: float
    error_lower: float
    error_upper: float
    chance: float | None
    by_arm: tuple[float, ...]
    lengths: tuple[int, ...]

    @property
    def document(self) -> dict[str, Any]:
        """The numbers, without the single studies."""
        left_out = ("by_arm", "lengths")
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out}

    @property
    def words(self) -> str:
        """As a sentence."""
        wrong = round(self.error * self.n_stopped) if self.n_stopped else 0
        parts = [] if self.median is None else [f"{self.median:,} trials in the median"]
        if self.q90 is not None:
            parts.append(f"9 of 10 studies end within {self.q90:,}")
        else:
            parts.append(f"only {self.n_stopped} of {self.n_runs} studies end within {self.most:,} trials")
        said = f"{', '.join(parts)}; {wrong} of {plural(self.n_stopped, 'answer')} wrong"
        left = self.n_runs - self.n_stopped
        if self.q90 is not None and left:
            said += f", {left} of {self.n_runs} studies had not ended within {self.most:,}"
        return said


def make_row(design: str, scenario: str, trials: Sequence[Trial], most: int, budget: int | None) -> Row:
    """From studies at one delta."""
    lengths = sorted(int(trial.pulls[0]) for trial in trials if trial.pulls[0] > 0)
    n, wrong = len(trials), sum(bool(trial.wrong[0]) for trial in trials)
    lower, upper = clopper_pearson(wrong, len(lengths)) if lengths else (0.0, 1.0)
    chance = None
    if budget is not None:
        chance = sum(length <= budget for length in lengths) / n
    return Row(
        design=design,
        scenario=scenario,
        n_runs=n,
        n_stopped=len(lengths),
        most=most,
        median=quantile(lengths, n, 0.5),
        q90=quantile(lengths, n, 0.9),
        error=wrong / len(lengths) if lengths else float("nan"),
        error_lower=lower,
        error_upper=upper,
        chance=chance,
        by_arm=tuple(np.mean([trial.counts for trial in trials], axis=0).tolist()),
        lengths=tuple(lengths),
    )


def quantile(lengths: Sequence[int], n: int, share: float) -> int | None:
    """The smallest length within which a further study ends with this chance; None: it is beyond those that stopped.

    >>> quantile([10, 20, 30, 40], 4, 0.5), quantile([10, 20], 4, 0.9)
    (30, None)
    """
    place = int(np.ceil(share * (n + 1)))
    if len(lengths) == n > 0:
        # All have stopped: of few, the longest is the best that is known.
        place = min(place, n)
    return lengths[place - 1] if place <= len(lengths) else None
