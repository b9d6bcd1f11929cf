"""Families: errors of `certified` and `heuristic`, stopping times, and the price of a round.

`python -m benchmarks families [n_runs]`
"""

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.rules import Run
from benchmarks.timing import side_by_side
from prepex import Bernoulli, Cone, Exponential, Gaussian, Poisson, Problem, Product, characteristic_time, simulate
from prepex._kernels.laws.law import variance
from prepex.instances import bernoulli, dose_finding
from prepex.numerals import measured
from prepex.runs import clopper_pearson
from prepex.sampling import FraPPE, InformationDirected, Uniform

console = Console(width=110)
ROUNDS = 4000


def certified_instances():
    """Name -> problem: a first look at every family."""
    right, wide, narrow = Cone.orthant(2), Cone.angle(120), Cone.angle(60)
    mixed = Product([Bernoulli(), Gaussian(variance=0.5)])
    rates = [[3.0, 1.0], [1.0, 3.0], [2.2, 2.2], [1.5, 0.9]]
    front = [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [0.2, 0.3]]
    return {
        "bernoulli": bernoulli(),
        "doses": dose_finding(),
        "doses, cone": dose_finding(Cone.angle(100)),
        "poisson": Problem(rates, family=Poisson(), cone=right),
        "poisson, narrow cone": Problem(rates, family=Poisson(), cone=narrow),
        "exponential": Problem(rates, family=Exponential(), cone=right),
        "exponential, cone": Problem(rates, family=Exponential(), cone=Cone.angle(100)),
        "mixed": Problem([[0.8, 0.0], [0.3, 1.0], [0.2, -0.3], [0.5, 0.3]], family=mixed, cone=right),
        "mixed, cone": Problem([[0.8, 0.0], [0.3, 1.0], [0.2, -0.3], [0.4, 0.1]], family=mixed, cone=wide),
        "unknown variance": Problem(front, family=Gaussian(variance="unknown", noise=0.2), cone=right),
    }


def random_instances(name, n=10, seed=0):
    """Ten instances of one family: orthant and two cones, four arms, neither trivial nor hours away."""
    rng = np.random.default_rng(seed)
    makers = {
        "bernoulli": (Bernoulli(), lambda: rng.uniform(0.1, 0.9, (4, 2))),
        "poisson": (Poisson(), lambda: rng.uniform(0.5, 4.0, (4, 2))),
        "exponential": (Exponential(), lambda: rng.uniform(1.0, 4.0, (4, 2))),
        "mixed": (
            Product([Bernoulli(), Gaussian(variance=0.3)]),
            lambda: np.column_stack([rng.uniform(0.1, 0.9, 4), rng.uniform(0, 1.5, 4)]),
        ),
        "unknown variance": (Gaussian(variance="unknown", noise=(0.2, 0.4)), lambda: rng.uniform(0, 1.5, (4, 2))),
        "shared variance": (
            Gaussian(variance="unknown", noise=(0.2, 0.4), shared=True),
            lambda: rng.uniform(0, 1.5, (4, 2)),
        ),
    }
    family, draw = makers[name]
    cones = [Cone.orthant(2), Cone.orthant(2), Cone.angle(120), Cone.angle(60)]
    while n:
        cone = cones[n % 4]
        problem = Problem(draw(), family=family, cone=cone)
        if 15.0 < characteristic_time(problem, tol=0.01).time < 80.0:
            n -= 1
            yield problem


def errors(n_runs):
    table = Table(
        "family", "threshold", "instances x runs", "errors", "worst 99 % upper", "mean pulls / floor",
        box=None, header_style="bold", title=f"delta 0.1, InformationDirected, {n_runs} runs an instance, seed 13",
    )  # fmt: skip
    names = ("bernoulli", "poisson", "exponential", "mixed", "unknown variance", "shared variance")
    for name in track(names, description="errors", console=console):
        for threshold in ("certified", "heuristic"):
            wrong, worst, ratios, total = 0, 0.0, [], 0
            for problem in random_instances(name):
                rule = InformationDirected()
                runs = simulate(
                    problem, sampling=rule, threshold=threshold, deltas=0.1, n_runs=n_runs, seed=13, n_jobs=-1
                )
                (cell,) = runs.summary()
                bad = round(cell.error_rate * cell.n_runs)
                wrong, total = wrong + bad, total + cell.n_runs
                worst = max(worst, clopper_pearson(bad, cell.n_runs)[1])
                ratios.append(cell.ratio_to_floor)
            table.add_row(
                name, threshold, f"10 x {n_runs}", f"{wrong}/{total}", f"{worst:.3f}", f"{np.mean(ratios):.2f}"
            )
    console.print(table)


def stopping_times(n_runs):
    table = Table(
        "rule", "delta", "mean pulls", "errors", "floor", box=None, header_style="bold",
        title=f"bernoulli, heuristic, {n_runs} runs, seed 0",
    )  # fmt: skip
    runs = simulate(
        bernoulli(), sampling=[FraPPE(), InformationDirected(), Uniform()], deltas=[0.1, 0.01], n_runs=n_runs, seed=0
    )
    for cell in runs.summary():
        table.add_row(
            cell.rule,
            f"{cell.delta:g}",
            measured(cell.mean, cell.standard_error, digits=1),
            f"{round(cell.error_rate * cell.n_runs)}/{cell.n_runs}",
            f"{cell.floor:,.0f}",
        )
    console.print(table)


def variances(family, means):
    """Of one reward at these means."""
    laws = family.laws(1, len(means))
    return [float(variance(int(c), m, s, 1e9)) for c, m, s in zip(laws.codes, means, laws.scale, strict=True)]


def timings():
    """A FraPPE round of a family against a Gaussian one with the same means and the variances at them."""
    table = Table("instance", "round", "Gaussian", "ratio", "bar", box=None, header_style="bold", title="FraPPE rounds")
    rng = np.random.default_rng(1)
    twenty = rng.uniform(0.1, 0.9, (20, 3))
    mixed = Product([Bernoulli(), Gaussian(variance=0.2), Poisson()])
    cases = {
        "bernoulli (5 x 2)": (bernoulli(), 4),
        "20 x 3, Bernoulli": (Problem(twenty, family=Bernoulli(), cone=Cone.orthant(3)), 4),
        "20 x 3, mixed": (Problem(twenty, family=mixed, cone=Cone.orthant(3)), 4),
        "bernoulli (5 x 2), 120 degrees": (bernoulli(Cone.angle(120)), 20),
        "20 x 3, Bernoulli, wide cone": (
            Problem(twenty, family=Bernoulli(), cone=Cone.from_facets(np.eye(3) + 0.3)), 20,
        ),
    }  # fmt: skip
    for name, (problem, bar) in cases.items():
        spread = np.mean([variances(problem.family, row) for row in problem.means], axis=0)
        plain = Problem(problem.means, family=Gaussian(variance=spread), cone=problem.cone)
        law, known = (Run(p, FraPPE(), ROUNDS, certified=False) for p in (problem, plain))
        ours, theirs = (seconds / ROUNDS for seconds in side_by_side(law, known, repeats=3))
        shown = f"{ours / theirs:.1f}"
        table.add_row(name, f"{ours * 1e6:.1f} us", f"{theirs * 1e6:.1f} us", shown, f"<= {bar}")
    console.print(table)


def main(n_runs=300):
    timings()
    stopping_times(n_runs)
    errors(n_runs)
