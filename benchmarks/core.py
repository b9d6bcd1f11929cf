"""The exact core: evidence from scratch, one-arm updates, scaling, memory, compilation."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numba import njit
from rich.console import Console
from rich.table import Table

from benchmarks.timing import side_by_side
from prepex import Cone, Gaussian, characteristic_time, evidence, instances
from prepex._kernels import ledger as kernels
from prepex._kernels.aging import move_known
from prepex._kernels.compiler import dispatcher
from prepex._kernels.instance import find_front, make_known

console = Console(width=118)
move, refresh = (dispatcher(kernel.function, False) for kernel in (move_known, kernels.refresh))


@njit(cache=True, error_model="numpy")
def bare_rounds(rng, truth, deviation, means, counts, gaps, arms):
    """The least any algorithm does a round: draw a reward, update a mean, rescan one row of pairwise gaps."""
    n_arms, n_objectives = truth.shape
    for a in arms:
        counts[a] += 1.0
        for q in range(n_objectives):
            reward = truth[a, q] + deviation[q] * rng.standard_normal()
            means[a, q] += (reward - means[a, q]) / counts[a]
        for k in range(n_arms):
            for q in range(n_objectives):
                gaps[k, q] = means[a, q] - means[k, q]


@njit(cache=True, error_model="numpy")
def ledger_rounds(rng, truth, deviation, means, ledger, arms, mean, shift):
    """The same draw, then evidence, its gradient and the Pareto set kept exactly up to date."""
    total = 0.0
    for a in arms:
        count = ledger.inst.N[a] + 1.0
        for q in range(truth.shape[1]):
            reward = truth[a, q] + deviation[q] * rng.standard_normal()
            shift[q] = (reward - means[a, q]) / count
            means[a, q] += shift[q]
            mean[q] = means[a, q]
        move(ledger, a, mean, shift, count)
        total += refresh(ledger, 0.0)
    return total


class Rounds:
    """A problem with diagonal covariance under the orthant, and arms pulled with given shares."""

    def __init__(self, truth, variance, shares, n_rounds, start, seed=0):
        self.truth, self.variance = np.ascontiguousarray(truth), np.asarray(variance, dtype=float)
        self.arms = np.random.default_rng(seed).choice(len(truth), size=n_rounds, p=shares)
        self.start = np.maximum(1.0, np.round(start * shares))

    def bare(self):
        rng = np.random.default_rng(1)
        means, counts = self.truth.copy(), self.start.copy()
        bare_rounds(rng, self.truth, np.sqrt(self.variance), means, counts, np.zeros_like(self.truth), self.arms)

    def ledger(self):
        rng = np.random.default_rng(1)
        deviation, n_objectives = np.sqrt(self.variance), self.truth.shape[1]
        means = self.truth + deviation * rng.normal(size=self.truth.shape) / np.sqrt(self.start)[:, None]
        ledger = kernels.open_ledger(make_known(np.diag(self.variance)[None], means, self.start))
        kernels.refresh(ledger, 0.0)
        scratch = np.zeros(n_objectives), np.zeros(n_objectives)
        ledger_rounds(rng, self.truth, deviation, means, ledger, self.arms, *scratch)
        return ledger


def verdict(value, limit):
    return f"[green]<= {limit:g}[/]" if value <= limit else f"[red]> {limit:g}[/]"


def from_scratch(table):
    rng = np.random.default_rng(0)
    means, counts = rng.normal(size=(200, 5)), rng.integers(20, 60, 200).astype(float)
    cone, family = Cone.orthant(5), Gaussian(variance=1.0)
    gram, given = np.eye(5)[None], {"facets": np.eye(5), "prec": np.eye(5)[None]}
    mask, front = np.zeros(200, dtype=bool), np.zeros(200, dtype=np.int64)

    def opened():
        return kernels.refresh(kernels.open_ledger(make_known(gram, means, counts, **given)), 0.0)

    filter_kernel, ledger_kernel, filter_call, evidence_call = side_by_side(
        lambda: find_front(means, mask, front),
        opened,
        lambda: cone.pareto_mask(means),
        lambda: evidence(means, counts, family=family, cone=cone),
        repeats=50,
    )
    about = f"K=200, L=5, |P|={int(mask.sum())}"
    ratio = ledger_kernel / filter_kernel
    table.add_row(
        "evidence from scratch / Pareto filter (kernels)",
        about,
        us(ledger_kernel),
        us(filter_kernel),
        f"{ratio:.1f}",
        verdict(ratio, 20),
    )
    ratio = evidence_call / filter_call
    table.add_row(
        "the same through the public calls",
        about,
        us(evidence_call),
        us(filter_call),
        f"{ratio:.1f}",
        verdict(ratio, 20),
    )


def one_arm_update(table):
    problem = instances.covboost()
    optimal = characteristic_time(problem).allocation
    cases = {
        "Cov-Boost, optimal shares": (optimal, 2000),
        "Cov-Boost, uniform shares": (np.full(20, 0.05), 2000),
        "Cov-Boost, first 20,000 pulls": (optimal, 1),
    }
    for about, (shares, start) in cases.items():
        rounds = Rounds(problem.means, np.asarray(problem.family.variance), shares, 20_000, start)
        bare, full = (seconds / 20_000 for seconds in side_by_side(rounds.bare, rounds.ledger))
        table.add_row(
            "one-arm update / bare round",
            f"K=20, L=3: {about}",
            us(full),
            us(bare),
            f"{full / bare:.1f}",
            verdict(full / bare, 15),
        )


def equal_front(n_arms, rng):
    """Five Pareto arms; all others clearly below."""
    front = np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0], [1.5, 1.5, 1.5], [2.0, 2.0, 0.5]])
    return np.vstack([front, rng.uniform(-3.0, -0.2, (n_arms - 5, 3))])


def scaling(table):
    times, sizes = {}, {}
    for n_arms in (20, 200, 2000):
        truth = equal_front(n_arms, np.random.default_rng(1))
        rounds = Rounds(truth, np.ones(3), np.full(n_arms, 1.0 / n_arms), 20_000, 20 * n_arms)
        ledger = rounds.ledger()
        assert ledger.inst.size[0] == 5
        times[n_arms] = side_by_side(rounds.ledger, repeats=3)[0] / 20_000
        sizes[n_arms] = sum(array.nbytes for array in arrays(ledger))
    for large in (200, 2000):
        ratio = times[large] / times[20]
        table.add_row(
            f"update at K={large} / at K=20",
            "|P|=5, L=3",
            us(times[large]),
            us(times[20]),
            f"{ratio:.1f}",
            verdict(ratio, large / 20),
        )
    ratio = sizes[2000] / sizes[200]
    table.add_row(
        "memory at K=2000 / at K=200",
        "all arrays of the ledger",
        f"{sizes[2000] / 1e3:.0f} kB",
        f"{sizes[200] / 1e3:.0f} kB",
        f"{ratio:.1f}",
        verdict(ratio, 10),
    )


def arrays(value):
    """All arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    return [array for entry in value for array in arrays(entry)] if isinstance(value, tuple) else []


FIRST_CALL = """
import time
start = time.perf_counter()
from prepex import Cone, Gaussian, evidence
evidence([[2, 1], [0, 3], [1, 0]], [1, 2, 3], family=Gaussian(variance=1), cone=Cone.orthant(2)).value
print(time.perf_counter() - start)
"""
IMPORT = "import time; start = time.perf_counter(); import prepex; print(time.perf_counter() - start)"


def start_up(table):
    """Compilation, loading from the cache, import: each in a fresh process."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(cache))}

        def seconds(script):
            answer = subprocess.run(
                [sys.executable, "-c", script], env=environment, capture_output=True, check=True, text=True
            )
            return float(answer.stdout)

        first, later, bare = (
            seconds(FIRST_CALL),
            min(seconds(FIRST_CALL) for _ in range(3)),
            min(seconds(IMPORT) for _ in range(3)),
        )
    for what, value, limit in (
        ("first evidence after install, imports included, s", first, 1),
        ("first evidence of a later process, imports included, s", later, 1),
        ("import prepex, s", bare, 0.5),
    ):
        table.add_row(what, "fresh process", f"{value:.3f} s", "", "", verdict(value, limit))


def us(seconds):
    return f"{seconds * 1e6:.2f} us"


def main():
    table = Table(
        "what", "case", "time", "against", "ratio", "bar", title="The exact core", box=None, header_style="bold"
    )
    began = time.perf_counter()
    for part in (from_scratch, one_arm_update, scaling, start_up):
        part(table)
    console.print(table)
    console.print(f"seeds fixed in benchmarks/core.py; took {time.perf_counter() - began:.0f} s")
