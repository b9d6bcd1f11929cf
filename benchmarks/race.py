"""Races of real and of simulated commands.

`python -m benchmarks race`           nine gzip and seven xz levels, by time and size; `race-long`: 200 runs of each
`python -m benchmarks race-truth`     twenty races of commands that print drawn numbers, of which the truth is known
`python -m benchmarks race-kills`     a race that is killed at 30 random moments
`python -m benchmarks race-workers`   a process pool, and a Dask cluster of two worker processes
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import prepex as px
from prepex import Cone, Experiment, Settings, Study
from prepex.racing.book import Book
from prepex.racing.commands import Commands
from prepex.racing.journal import Journal
from prepex.racing.loop import Budget, run
from prepex.racing.opening import Task
from prepex.racing.options import Template
from prepex.racing.plan import Plan, make_plan
from prepex.sampling import Uniform
from prepex.tolerance import right_within

LEVELS = [
    Template("gzip -{level} -kc data", {"level": [*map(str, range(1, 10))]}, name="gzip -{level}"),
    Template("xz -{level} -kc data", {"level": [*map(str, range(7))]}, name="xz -{level}"),
]


def write_text(path: Path, size: int, seed: int = 1) -> None:
    """Words of made-up English, some often, some seldom: the same for the same seed."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(5000)]
    weights, made = [1 / k for k in range(1, 5001)], bytearray()
    while len(made) < size:
        made += (" ".join(rng.choices(words, weights=weights, k=2000)) + "\n").encode()
    path.write_bytes(bytes(made[:size]))


def play(plan: Plan, folder: Path, budget: Budget | None = None) -> tuple[Book, float]:
    """(the book of a race that ran to its end, seconds)."""
    book = Book(plan.question, folder / "race.db", "race", plan.spec, Journal(folder / "race.jsonl"))
    began = time.perf_counter()
    run(book, Commands(plan), jobs=plan.jobs, budget=budget or Budget())
    return book, time.perf_counter() - began


def command_of(folder: Path, *more: str) -> list[str]:
    """The race of levels as somebody types it."""
    given = [sys.executable, "-m", "prepex", "race"]
    for template in LEVELS:
        given += [template.command, "--with", f"level={','.join(template.values['level'])}", "-n", str(template.name)]
    given += ["--minimise", "time", "--minimise", "output", "--storage", str(folder / "race.db"), *more]
    return given


def levels(size: int = 150_000, tolerance: str = "5%", seconds: float = 180.0) -> None:
    """The race that the documentation shows, from the command line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder / "data", size)
        more = "--tolerance", f"time={tolerance}", "--warmup", "1", "--budget", f"{seconds:g}s"
        began, before = time.perf_counter(), os.times()
        shown = subprocess.run(command_of(folder, *more), cwd=folder, capture_output=True, text=True, check=False)
        spent, after = time.perf_counter() - began, os.times()
        print(shown.stdout, shown.stderr if shown.returncode not in (0, 3) else "", sep="")
        with Study.open(folder / "race.db", "race") as study:
            status = study.status()
            told = [seen.values["time"] for seen in study.observations(0, 2**50)[0] if seen.state == "told"]
        used = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"{status.n_pulls} runs in {spent:.1f} s; {sum(told):.1f} s of it in commands; processor {used:.1f} s")


def levels_long(size: int = 150_000, runs: int = 200) -> None:
    """Every level so many times, by turns: the truth, as far as a machine has one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder / "data", size)
        plan = make_plan(LEVELS, minimise=["time", "output"], folder=folder)
        runner, rng = Commands(plan), np.random.default_rng(0)
        seen: dict[str, list[float]] = {option.name: [] for option in plan.options}
        sizes: dict[str, float] = {}
        for turn in range(runs):
            for k in rng.permutation(len(plan.options)):
                result = runner.trial(Task(plan.options[int(k)].name, "pull", turn))
                seen[plan.options[int(k)].name].append(result.values["time"])
                sizes[plan.options[int(k)].name] = result.values["output"]
        runner.stop()
        means = {option: float(np.exp(np.log(times).mean())) for option, times in seen.items()}
        for option, times in seen.items():
            error = np.log(times).std(ddof=1) / np.sqrt(runs)
            print(f"  {option:8} {1e3 * means[option]:8.1f} ms ± {100 * error:.2f} % {sizes[option]:9,.0f} bytes")
        front = [a for a in means if not any(b != a and means[b] <= means[a] and sizes[b] <= sizes[a] for b in means)]
        near = [a for a in means if not any(means[b] * 1.05 < means[a] and sizes[b] <= sizes[a] for b in means)]
        print(f"Pareto set of these means: {', '.join(front)}")
        print(f"not beaten by 5 % or more: {', '.join(near)}")


# Two normal numbers by Box and Muller, of a generator that is seeded with the trial's own seed.
AWK = (
    "awk -v seed={seed} 'BEGIN { srand(seed); for (k = 0; k < 5; k++) rand(); u = rand(); v = rand(); "
    "r = NOISE * sqrt(-2 * log(1 - u)); t = 6.283185307179586 * v; "
    'printf "{ \\"x\\": %.17g, \\"y\\": %.17g }\\n", MEAN_X + r * cos(t), MEAN_Y + r * sin(t) }\''
)


def _truth(rng: np.random.Generator, K: int) -> np.ndarray:
    """Some good options on an arc, the others behind them by more or less."""
    n = K // 6
    angle = np.sort(rng.uniform(0.1, 1.47, size=n))
    front = np.column_stack([np.cos(angle), np.sin(angle)]) * 3.0
    behind = front[rng.integers(n, size=K - n)] - rng.uniform(0.3, 3.0, size=(K - n, 1)) * rng.uniform(
        0.4, 1.0, (K - n, 2)
    )
    means: np.ndarray = np.vstack([front, behind])[rng.permutation(K)]
    return means


def truth(races: int = 20, K: int = 24, noise: float = 0.6, tolerance: float = 0.3, delta: float = 0.05) -> None:
    """Error against delta, and runs beside equal shares with the same threshold."""
    wrong, mine, equal = 0, [], []
    for number in range(races):
        rng = np.random.default_rng([20, number])
        means = _truth(rng, K)
        templates = []
        for k, (x, y) in enumerate(means):
            command = AWK.replace("MEAN_X", repr(float(x))).replace("MEAN_Y", repr(float(y)))
            templates.append(Template(command.replace("NOISE", repr(noise)), name=f"option {k}"))
        with tempfile.TemporaryDirectory() as name:
            given = {
                "maximise": ["x", "y"],
                "tolerance": {"x": tolerance, "y": tolerance},
                "seed": number,
                "delta": delta,
            }
            plan = make_plan(templates, folder=Path(name), jobs=2, **given)
            book, spent = play(plan, Path(name))
            assert book.study is not None
            answer, n = book.study.recommendation, book.study.status().n_pulls
            book.close()
        settings = plan.question.settings({})
        fair = _equal_shares(settings, means, noise, number)
        right = _right(means, [plan.question.options.index(arm) for arm in answer.arms], tolerance)
        wrong += not right
        mine.append(n)
        equal.append(fair)
        verdict = "right" if right else "WRONG"
        print(f"race {number}: {n} runs, {spent:.0f} s, {verdict}; equal shares {fair}", flush=True)
    ratio = np.array(equal) / np.array(mine)
    more = np.sum(equal) / np.sum(mine)
    print(f"{wrong} of {races} wrong at delta {delta}; {np.sum(mine)} runs, equal shares {np.sum(equal)}")
    print(f"equal shares take {more:.2f} times as many in all, median {np.median(ratio):.2f}, least {ratio.min():.2f}")


def _right(means: np.ndarray, chosen: list[int], tolerance: float) -> bool:
    mask = np.zeros(len(means), dtype=bool)
    mask[chosen] = True
    return bool(right_within(means @ Cone.orthant(2).facets.T, mask, np.full(2, tolerance)))


def _equal_shares(settings: Settings, means: np.ndarray, noise: float, seed: int, most: int = 200_000) -> int:
    """Runs until the same threshold is reached by turns, with drawn numbers of the same law."""
    given = {"family": settings.family, "tolerance": settings.tolerance, "delta": settings.delta, "seed": seed}
    named = settings.labels.arms, settings.labels.objectives
    experiment = Experiment(*named, sampling=Uniform(), threshold=settings.threshold, **given)
    rng, K = np.random.default_rng([21, seed]), len(means)
    while not experiment.done and experiment.n_pulls < most:
        arms = np.arange(600 * K) % K
        experiment.tell_log(arms, means[arms] + noise * rng.standard_normal((arms.size, 2)))
    return experiment.recommendation.n_pulls


def kills(n: int = 30, K: int = 6) -> None:
    """One race, ended by SIGKILL at random moments, and then let go on to its end; beside it one that is left alone."""
    rng, answers = np.random.default_rng(3), []
    means = [[k / 2, 5.0 - k * k / 8] for k in range(K)]
    given = [sys.executable, "-m", "prepex", "race"]
    for k, (x, y) in enumerate(means):
        given += [
            AWK.replace("MEAN_X", repr(x)).replace("MEAN_Y", repr(y)).replace("NOISE", "0.8"),
            "-n",
            f"option {k}",
        ]
    given += ["--maximise", "x", "--maximise", "y", "--tolerance", "x=0.1", "--tolerance", "y=0.1", "--jobs", "2", "-q"]
    with tempfile.TemporaryDirectory() as name:
        for part, lives in (("alone", 0), ("killed", n)):
            place = str(Path(name) / f"{part}.db")
            killed = 0
            while killed < lives:
                child = subprocess.Popen([*given, "--storage", place], stdout=-3, stderr=-3, start_new_session=True)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(timeout=float(rng.uniform(0.5, 3.0)))
                    print(f"it ended by itself after {killed} kills")
                    break
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                killed += 1
            shown = subprocess.run([*given, "--storage", place], capture_output=True, text=True, check=True).stdout
            answers.append(_look(place, part, killed))
            print(shown.splitlines()[0])
    print("the same answer" if answers[0] == answers[1] else f"DIFFERENT answers: {answers}")


def _look(place: str, part: str, killed: int) -> tuple[str, ...]:
    """Every outcome is there once, and is what the seed of its own place gives."""
    with Study.open(place, "race") as study:
        events = [*study.events()]
        asked = {event.pull for event in events if event.kind == "asked"}
        told = [event.pull for event in events if event.kind == "told"]
        first = sum(event.kind == "imported" for event in events)
        lines = [json.loads(line) for line in Path(place.replace(".db", f".{'race'}.jsonl")).read_text().splitlines()]
        rounds = [line["number"] for line in lines if line["kind"] == "first"]
        ok = study.verify().ok
        print(
            f"{part}: {killed} kills; {len(asked)} pulls asked for, {len(told)} told, {len(set(told))} different, "
            f"{len(asked - set(told))} left at the stop; first rounds {first} imported, {len(rounds)} run, "
            f"{len(set(rounds))} different; log {'right' if ok else 'WRONG'}"
        )
        return tuple(study.recommendation.arms)


# Seconds that a trial of a function takes.
BUSY = 0.1


def noisy(x: float, y: float, seed: int) -> dict[str, float]:
    """A trial that keeps a worker busy for a while, and says which one it was."""
    rng, end = random.Random(seed), time.perf_counter() + BUSY
    while time.perf_counter() < end:
        pass
    with contextlib.suppress(OSError):
        (Path(os.environ["RACE_WORKERS"]) / str(os.getpid())).open("a").write("x")
    return {"x": rng.gauss(x, 0.5), "y": rng.gauss(y, 0.5)}


def workers() -> None:
    """The same settings in a process pool and on a Dask cluster of two worker processes."""
    from distributed import Client, LocalCluster

    options = {f"option {k}": partial(noisy, k / 2, 5.0 - k * k / 4) for k in range(6)}
    given = {"objectives": ("x", "y"), "tolerance": 0.3, "seed": 5}
    for part in ("process pool", "dask"):
        with tempfile.TemporaryDirectory() as name:
            os.environ["RACE_WORKERS"] = name
            began = time.perf_counter()
            if part == "process pool":
                with ProcessPoolExecutor(2) as pool:
                    found = px.race(options, executor=pool, **given)
            else:
                with (
                    LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
                    Client(cluster) as client,
                ):
                    found = px.race(options, executor=client.get_executor(), **given)
            spent = time.perf_counter() - began
            shares = {path.name: path.stat().st_size for path in Path(name).iterdir()}
        busy = BUSY * sum(shares.values()) / 2 / spent
        print(f"{part}: {found.status}, {', '.join(found.answer)}; {found.n_trials} trials, {spent:.1f} s; ", end="")
        print(f"trials by worker {sorted(shares.values())}, each busy {100 * busy:.0f} % of all the time")
