"""Rounds and the first compile of this tree against those of another one, taken in turns.

`python -m benchmarks against FOLDER`: FOLDER is a checkout of another version, with `src` and `benchmarks` in it. Each
tree has a process of its own, which runs its own `benchmarks.rules.Run`; the clock is that process's processor time.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

console = Console(width=118)
REPEATS = 7
WORKER = """
import sys, time
import numpy as np
from benchmarks.core import Rounds
from benchmarks.families import Run
from prepex import Bernoulli, Cone, Gaussian, Poisson, Problem, Product, instances
from prepex.sampling import FraPPE, InformationDirected

covboost, n = instances.covboost(), 10_000
twenty = np.random.default_rng(1).uniform(0.1, 0.9, (20, 3))
bare = Rounds(covboost.means, np.asarray(covboost.family.variance), np.full(20, 0.05), n, 1)
jobs = {"bare round": (n, bare.bare)}
for rule in (InformationDirected(follow="evidence"), InformationDirected(follow="margin"), FraPPE()):
    for certified in (False, True):
        if certified or getattr(rule, "follow", "") != "margin":
            name = f"Cov-Boost, {type(rule).__name__}, {getattr(rule, 'follow', '') or 'pieces'}, " + (
                "certified" if certified else "heuristic")
            jobs[name] = n, Run(covboost, rule, n, certified=certified)
families = {
    "bernoulli (5 x 2)": instances.bernoulli(),
    "20 x 3, Bernoulli": Problem(twenty, family=Bernoulli(), cone=Cone.orthant(3)),
    "20 x 3, mixed": Problem(
        twenty, family=Product([Bernoulli(), Gaussian(variance=0.2), Poisson()]), cone=Cone.orthant(3)),
    "bernoulli, 120 degrees": instances.bernoulli(Cone.angle(120)),
    "4 x 2, unknown variance": Problem(
        [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [0.2, 0.3]],
        family=Gaussian(variance="unknown", noise=0.2), cone=Cone.orthant(2)),
}
for name, problem in families.items():
    for rule in (InformationDirected(), FraPPE()):
        for certified in (False, True):
            what = f"{name}, {rule.name.split('(')[0]}, " + ("certified" if certified else "heuristic")
            jobs[what] = 4000, Run(problem, rule, 4000, certified=certified)
for _, job in jobs.values():
    job()  # compiled, or loaded
print(*jobs, sep="\\n")
print("", flush=True)
for name in map(str.strip, sys.stdin):
    rounds, job = jobs[name]
    began = time.process_time()
    job()
    print((time.process_time() - began) / rounds * 1e6, flush=True)
"""
COMPILE = """
import numpy as np
from prepex import Bernoulli, Cone, Gaussian, Problem, simulate
from prepex.sampling import FraPPE, InformationDirected
family = {family}
problem = Problem([[0.8, 0.2], [0.3, 0.7], [0.2, 0.1]], family=family, cone=Cone.orthant(2))
simulate(problem, sampling={rule}, threshold="certified", deltas=0.1, n_runs=1, max_pulls=200)
"""


def environment(tree):
    clean = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return clean | {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}


class Tree:
    """A process that runs one tree's rounds."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER], cwd=folder, env=environment(folder), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def names(self):
        return [line.strip() for line in iter(self.process.stdout.readline, "\n")]

    def time(self, name):
        """Microseconds a round."""
        print(name, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def rounds(other, own):
    trees = [Tree(other), Tree(own)]
    names, _ = (tree.names() for tree in trees)
    table = Table("rounds", "other, us", "this, us", "ratio", "less the bare round", box=None, header_style="bold")
    scale = None
    for name in names:
        taken = [[tree.time(name) for tree in trees] for _ in range(REPEATS)]
        before, now = (min(column) for column in zip(*taken))
        ratio = statistics.median(new / old for old, new in taken)
        scale = ratio if scale is None else scale
        table.add_row(name, f"{before:.2f}", f"{now:.2f}", f"{ratio:.2f}", f"{ratio / scale:.2f}")
    for tree in trees:
        tree.process.stdin.close()
        tree.process.wait()
    console.print(table)
    console.print(f"ratio: this / other, the median of {REPEATS} pairs; then divided by that of the bare rounds")


def compile_seconds(tree, family, rule):
    """Processor seconds, helpers included, of one simulation from an empty cache, less those of the next one."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(
            tree / "src" / "prepex", Path(name) / "prepex", ignore=shutil.ignore_patterns("*.nb?", "*.lock")
        )
        taken = []
        for _ in range(2):
            began = os.times()
            script = COMPILE.format(family=family, rule=rule)
            subprocess.run([sys.executable, "-c", script], env=environment(tree) | {"PYTHONPATH": name}, check=True)
            ended = os.times()
            taken.append(sum(ended[2:4]) - sum(began[2:4]))
    return taken[0] - taken[1]


def compiling(other, own):
    table = Table("first compile, a simulation", "other, s", "this, s", box=None, header_style="bold")
    for family in ("Gaussian(variance=1.0)", "Bernoulli()"):
        for rule in ("InformationDirected()", "FraPPE()"):
            found = [compile_seconds(tree, family, rule) for tree in (other, own)]
            table.add_row(f"{family}, {rule}", *(f"{seconds:.1f}" for seconds in found))
    console.print(table)
    console.print("processor seconds of all processes, from an empty cache, less those of a second run")


def main(other=None, *parts):
    own = Path(__file__).parent.parent
    if other is None or not (Path(other) / "benchmarks" / "rules.py").is_file():
        sys.exit("against needs the folder of another checkout")
    other = Path(other).resolve()
    if not parts or "rounds" in parts:
        rounds(other, own)
    if not parts or "compile" in parts:
        compiling(other, own)


if __name__ == "__main__":
    main(*sys.argv[1:])
