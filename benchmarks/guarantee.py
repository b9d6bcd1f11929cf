"""The error of `certified` on varied instances: `python -m benchmarks guarantee [n_runs]`."""

import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from prepex import Cone, Gaussian, Problem, simulate
from prepex.instances import correlated
from prepex.sampling import InformationDirected
from prepex.stopping import Certified


def instances():
    """Name -> problem: orthant, acute, obtuse, m > L, correlated and per-arm covariances, near-ties."""
    rng = np.random.default_rng(20)
    right, three = Cone.orthant(2), Cone.orthant(3)
    square = Cone.from_facets([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]])
    front = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6], [0.3, 0.2], [-0.2, 0.4]])
    cube = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 0.3], [0.3, 0.4, 1.0], [0.0, 0.1, 0.0], [0.5, -0.4, 0.1]])
    tilted = [[1.0, 0.6], [0.6, 1.0]]
    roots = rng.normal(size=(5, 2, 2))
    own = roots @ np.swapaxes(roots, 1, 2) + 0.3 * np.eye(2)

    def problem(means, cone, **family):
        return Problem(means, family=Gaussian(**(family or {"variance": 0.25})), cone=cone)

    return {
        "orthant": problem(front, right),
        "orthant, 3 objectives": problem(cube, three),
        "one objective": problem(front[:, :1], Cone.orthant(1)),
        "acute": problem(front, Cone.angle(50)),
        "very acute": problem(front, Cone.angle(20)),
        "obtuse": problem(front, Cone.angle(130)),
        "very obtuse": problem(front, Cone.angle(165)),
        "obtuse, 3 objectives": problem(cube, Cone.from_facets(np.eye(3) + 0.4)),
        "acute, 3 objectives": problem(cube, Cone.from_facets(np.eye(3) - 0.2)),
        "many facets": problem(cube, square),
        "many facets, correlated": problem(cube, square, covariance=0.2 * np.eye(3) + 0.1),
        "correlated": correlated(0.5),
        "anticorrelated": correlated(-0.8),
        "correlated, obtuse": problem(front, Cone.angle(120), covariance=np.array(tilted) * 0.3),
        "per-arm covariance": problem(front, right, covariance=0.2 * own),
        "per-arm covariance, acute": problem(front, Cone.angle(70), covariance=0.2 * own),
        "near-tie": problem([[1.0, 0.0], [0.0, 1.0], [0.93, -0.07]], right, variance=0.05),
        "near-duplicates": problem([[1.0, 0.9], [0.9, 1.0], [0.2, 0.1]], right, variance=0.05),
        "all Pareto": problem([[0.0, 1.0], [0.4, 0.7], [0.7, 0.4], [1.0, 0.0]], right, variance=0.1),
        "one dominates all": problem([[1.0, 1.0], [0.6, 0.5], [0.5, 0.7], [0.4, 0.4]], right, variance=0.1),
        "two arms": problem([[0.3, 0.0], [0.0, 0.2]], right, variance=0.1),
        "unequal variances": problem(front, right, variance=(0.05, 1.0)),
    }


def run_certified(problem, *, delta, n_runs, seed, n_jobs=1):
    return simulate(
        problem,
        sampling=InformationDirected(),
        threshold="certified",
        deltas=delta,
        n_runs=n_runs,
        seed=seed,
        n_jobs=n_jobs,
    )


class TooEarly(Certified):
    """Stops at a margin below the certified one: what a broken threshold would do."""

    margin = -8.0

    def level(self, delta, shape):
        return self.margin


def wrong_at(problem, *, margin, n_runs, seed):
    """Which runs are wrong when stopped at the given margin, with a pilot so short that its answer is often wrong."""
    early = type("Early", (TooEarly,), {"margin": margin})(pilot=2)
    runs = simulate(problem, sampling=InformationDirected(), threshold=early, deltas=0.999, n_runs=n_runs, seed=seed)
    return [not row["correct"] for row in runs.rows()]


def main(n_runs=300):
    table = Table(
        "instance", "floor", "mean pulls", "errors", "99 % upper", "errors at margin -8", box=None, header_style="bold",
        title=f"certified, delta 0.1, {n_runs} runs each, seed 11",
    )  # fmt: skip
    worst = 0.0
    for name, problem in instances().items():
        runs = run_certified(problem, delta=0.1, n_runs=n_runs, seed=11, n_jobs=2)
        (cell,) = runs.summary()
        early = wrong_at(problem, margin=-8.0, n_runs=min(n_runs, 100), seed=11)
        worst = max(worst, cell.error_upper)
        table.add_row(
            name,
            f"{cell.floor:,.0f}",
            f"{cell.mean:,.0f} ± {cell.standard_error:,.0f}",
            f"{round(cell.error_rate * cell.n_runs)}/{cell.n_runs}",
            f"{cell.error_upper:.3f}",
            f"{sum(early)}/{len(early)}",
        )
    console = Console(width=110)
    console.print(table)
    console.print(f"largest 99 % upper bound: {worst:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
