"""From an empty cache, in a copy of the package: the first tell, the quickstart, `prepex run`. And bits: 200 runs."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table

import prepex
from benchmarks import twice

console = Console(width=118)
TIMES = 5
QUICKSTART = """
import sys, time
import numpy as np
from prepex import Cone, Experiment, Gaussian

experiment = Experiment(
    arms=("low", "middle", "high"), objectives=("response", "side effects"), minimise=("side effects",),
    family=Gaussian(variance={variance}), cone=Cone.orthant(2), delta=0.05, seed=1,
)
truth, rng = {{"low": (0.2, 0.1), "middle": (1.0, 0.3), "high": (0.9, 1.0)}}, np.random.default_rng(0)
while not experiment.done:
    option = experiment.ask()
    experiment.tell(option, truth[option] + 0.5 * rng.standard_normal(2))
    if experiment.n_pulls in (1, 3):
        print(time.time())  # a tell, and the first that computes something: every option has been tried
"""


def quickstart(folder, variance):
    """Seconds from the start of the process: to the first tell, to the first with every option tried, to the end."""
    began = time.time()
    script = QUICKSTART.format(variance=variance)
    shown = subprocess.run([sys.executable, "-c", script], env=environment(folder), capture_output=True, text=True)
    if shown.returncode:
        raise RuntimeError(shown.stderr)
    first, tried = (float(line) - began for line in shown.stdout.split()[:2])
    return first, tried, time.time() - began


def command(folder, *words):
    """Seconds of a command: to the first line with a result, and to the end."""
    began, first = time.time(), None
    call = [sys.executable, "-u", "-m", "prepex", *words]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(call, env=environment(folder), text=True, **both) as running:
        for line in running.stdout:
            if first is None and "±" in line:
                first = time.time() - began
    if running.returncode or first is None:
        raise RuntimeError(f"{words}: status {running.returncode}")
    return first, time.time() - began


def environment(folder):
    """The copy, its cache in its own folder."""
    clean = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return clean | {"PYTHONPATH": str(folder)}


def empty(folder):
    """Forget all machine code."""
    for path in folder.rglob("*"):
        if path.suffix in (".nbi", ".nbc", ".lock"):
            path.unlink()


def main():
    table = Table("what", "limit", "cold: median", "worst", "warm", "ratio", title="Start-up", box=None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = Path(prepex.__file__).parent
        shutil.copytree(source, folder / "prepex", ignore=shutil.ignore_patterns("*.nb?", "*.lock"))
        quickstart(folder, 0.25)  # Python's own cache
        for what, variance in (("known variance", 0.25), ("unknown variance", "'unknown'")):
            cold = []
            for _ in range(TIMES):
                empty(folder)
                cold.append(quickstart(folder, variance))
            # Warm: with the machine code of all that it uses at hand.
            script = "from prepex._kernels import engine; engine.here.waiting = 1\n" + QUICKSTART
            subprocess.run(
                [sys.executable, "-c", script.format(variance=variance)], env=environment(folder), capture_output=True
            )
            warm = [quickstart(folder, variance) for _ in range(3)]
            for place, (part, limit) in enumerate((("first tell", 1), ("every option tried", 1), ("the end", 5))):
                row(table, f"quickstart, {what}: {part}", limit, [t[place] for t in cold], [t[place] for t in warm])
        words = "run", "covboost", "--runs", "30"
        cold = []
        for _ in range(TIMES):
            empty(folder)
            cold.append(command(folder, *words))
        warm = [command(folder, *words) for _ in range(3)]
        for place, (part, limit) in enumerate((("first result", 12), ("the end", None))):
            what = f"prepex {' '.join(words)}: {part}"
            row(table, what, limit, [t[place] for t in cold], [t[place] for t in warm])
    console.print(table)
    console.print(f"{TIMES} times each, seconds; on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


def row(table, what, limit, cold, warm):
    middle, base = statistics.median(cold), statistics.median(warm)
    colour = "default" if limit is None else "green" if max(cold) <= limit else "red"
    cells = f"{middle:.2f}", f"[{colour}]{max(cold):.2f}[/]", f"{base:.2f}", f"{middle / base:.1f}"
    table.add_row(what, "" if limit is None else f"<= {limit} s", *cells)


def bits():
    """Interpreted and compiled, pull by pull, on all cores."""
    runs = [run for seed in (1, 2) for run in twice.random_runs(seed, rounds=1, n_pulls=120)]
    given = Parallel(n_jobs=-1, return_as="generator")(delayed(run.first_difference)() for run in runs)
    different = 0
    for run, where in zip(track(runs, "interpreted and compiled", console=console), given, strict=True):
        if where is not None:
            different += 1
            console.print(f"[red]{run}: {where[1]} after pull {where[0]}[/]")
    console.print(f"interpreted = compiled, bit for bit: {len(runs) - different} of {len(runs)} random runs")
