"""What the runtime figures share: instances that grow with the front kept, and exponents."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prepex.cone import Cone
from prepex.family import Gaussian
from prepex.instances import correlated
from prepex.problem import Problem
from prepex.reproduce.algorithms import Algorithm
from prepex.reproduce.cell import Row, select

RHO = 0.9


def growing(n_arms: int, n_objectives: int, seed: int) -> Problem:
    """The correlated instance with more dominated arms and more objectives, and the same Pareto set.

    Arms beyond the fifth lie below one of the two Pareto arms; objectives beyond the second are copies of the first
    two, each with noise of its own, correlated 0.9 with that of every other.

    >>> [growing(n, length, seed=0).pareto_set for n, length in ((5, 2), (40, 2), (25, 14))]
    [(3, 4), (3, 4), (3, 4)]
    """
    base = correlated(RHO)
    rng = np.random.default_rng(np.random.SeedSequence((seed, n_arms)))
    above = base.means[list(base.pareto_set)][np.arange(n_arms - base.n_arms) % len(base.pareto_set)]
    means = np.concatenate([base.means, above - rng.uniform(0.3, 2.0, size=above.shape)])
    covariance = np.full((n_objectives, n_objectives), RHO) + (1 - RHO) * np.eye(n_objectives)
    return Problem(
        means[:, np.arange(n_objectives) % 2],
        family=Gaussian(covariance=covariance),
        cone=Cone.orthant(n_objectives),
    )


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope of log time against log size: 1 is linear growth.

    >>> round(exponent([5, 10, 20], [2.0, 4.0, 8.0]), 6)
    1.0
    """
    if len(set(sizes)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def medians(rows: Sequence[Row], algorithm: Algorithm, axis: str) -> tuple[list[float], list[float]]:
    """Sizes along `axis` (n_arms or n_objectives), and the median microseconds a round at each."""
    mine = select(rows, rule=algorithm.rule.name)
    sizes = sorted({row[axis] for row in mine})
    return sizes, [float(np.median([row["us_per_round"] for row in select(mine, **{axis: size})])) for size in sizes]


def draw(axes: Any, rows: Sequence[Row], algorithms: Sequence[Algorithm], axis: str) -> None:
    """Median times of each algorithm, with its exponent in the legend."""
    for algorithm in algorithms:
        sizes, times = medians(rows, algorithm, axis)
        if sizes:
            label = f"{algorithm.name} (exponent {exponent(sizes, times):.2f})"
            axes.plot(
                sizes, times, color=algorithm.colour, linestyle=algorithm.line, marker="o", markersize=4, label=label
            )
