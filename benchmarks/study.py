"""Studies under stress: killed writers, crowds of workers, a million outcomes. The tests run the same, smaller.

Workers are forked from a process in which all is compiled, so that a kill hits their work and not their start.
"""

import os
import signal
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path

import numpy as np

from benchmarks.postgres import server
from prepex import Gaussian, Study
from prepex.study import audit
from prepex.study.calm import calm
from prepex.study.events import chained
from prepex.study.line import Line, list_entries
from prepex.study.state import _tell

ARMS = tuple(f"arm {k}" for k in range(5))


def create(url: str, name: str, **options):
    # Trials that take no time: hundreds may wait while one process has to wait for its turn.
    given = {"family": Gaussian(variance=1.0), "delta": 1e-9, "max_waiting": 10**6, **options}
    return Study.create(url, name, arms=ARMS, objectives=("gain", "safety"), **given)


def warm_up() -> None:
    with tempfile.TemporaryDirectory() as folder, create(f"{folder}/x.db", "x") as study:
        for _ in range(40):
            ticket = study.ask()
            study.tell(ticket.token, [0.0, 1.0])
        study.status()


def outcome(token: str) -> list[float]:
    """A value that anyone can compute from the token."""
    return [int(token.partition("-")[2], 16) % 1000 / 100, 1.0]


def fork(url: str, name: str, pulls: int | None) -> tuple[int, int]:
    """(process, pipe) of a worker that writes each token after its report has been acknowledged."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return process, reader
    code = 1
    try:
        os.close(reader)
        study = Study.open(url, name)
        done = 0
        while pulls is None or done < pulls:
            ticket = study.ask(actor=f"worker {os.getpid()}")
            if not study.tell(ticket.token, outcome(ticket.token)).new:
                raise RuntimeError(f"{ticket.token} was told before")
            os.write(writer, (ticket.token + "\n").encode())
            done += 1
        code = 0
    except BaseException as error:
        print(f"worker: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def wait_for(reader: int, lines: int) -> bytes:
    """What the worker wrote until so many lines were there."""
    got = b""
    while got.count(b"\n") < lines:
        more = os.read(reader, 4096)
        if not more:
            raise RuntimeError("the worker ended by itself")
        got += more
    return got


def drain(reader: int, before: bytes = b"") -> list[str]:
    with os.fdopen(reader, "rb") as pipe:
        lines = (before + pipe.read()).decode().split("\n")
    return lines[:-1]  # what follows the last newline was not written in full


def problems(study: Study, acknowledged: list[str]) -> list[str]:
    """Outcomes lost or doubled, tokens handed out twice, damage."""
    events = list(study.events())
    asked = Counter(event.data["token"] for event in events if event.kind == "asked")
    told = Counter(event.data["token"] for event in events if event.kind == "told")
    wrong = {e.data["token"] for e in events if e.kind == "told"} & {
        e.data["token"]
        for e in events
        if e.kind == "told" and list(e.data["outcome"].values()) != outcome(e.data["token"])
    }
    found = [f"{token} lost" for token in acknowledged if told[token] == 0]
    found += [f"{token} doubled" for token, times in (asked + told).items() if max(asked[token], told[token]) > 1]
    found += [f"{token} acknowledged twice" for token, times in Counter(acknowledged).items() if times > 1]
    found += [f"{token} with a wrong value" for token in wrong]
    return found + list(study.verify().problems)


def kills(url: str, trials: int, seed: int = 0) -> dict:
    """Kill -9 a writing process at random points; nothing acknowledged may be lost or doubled."""
    warm_up()
    rng, acknowledged, opens = np.random.default_rng(seed), [], []
    # Pulls of killed workers give up their place soon.
    create(url, "killed", lease=0.2).close()
    for trial in range(trials):
        process, reader = fork(url, "killed", None)
        # Every third is killed while it opens the study, the others at work: after some reports, and any moment later.
        before = b"" if trial % 3 == 0 else wait_for(reader, int(rng.integers(1, 6)))
        time.sleep(rng.uniform(0.0, 0.02))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        acknowledged += drain(reader, before)
        start = time.perf_counter()
        with Study.open(url, "killed") as study:
            study.status()
            study.void(study.ask().token, reason="only to see that it works")
        opens.append(time.perf_counter() - start)
    with Study.open(url, "killed") as study:
        return {
            "kills": trials,
            "acknowledged": len(acknowledged),
            "problems": problems(study, acknowledged),
            "median_open": float(np.median(opens)),
            "slowest_open": max(opens),
        }


def crowd(url: str, workers: int, pulls: int, name: str = "crowded") -> dict:
    """Many processes ask and tell at once: tokens unique, none lost, no error."""
    warm_up()
    create(url, name).close()
    start = time.perf_counter()
    crew = [fork(url, name, pulls) for _ in range(workers)]
    tokens = [token for _, reader in crew for token in drain(reader)]
    failures = sum(os.waitpid(process, 0)[1] != 0 for process, _ in crew)
    seconds = time.perf_counter() - start
    with Study.open(url, name) as study:
        status = study.status()
        found = problems(study, tokens)
        if status.n_pulls != workers * pulls:
            found.append(f"{status.n_pulls} outcomes instead of {workers * pulls}")
    return {
        "pulls": len(tokens),
        "failures": failures,
        "problems": found,
        "seconds": seconds,
        "per_second": len(tokens) / seconds,
    }


def million(folder: Path, n: int = 1_000_000) -> dict:
    """A study with many outcomes: how long it takes to fill, to open, and to ask; a small one beside it."""
    warm_up()
    rng, url = np.random.default_rng(0), str(folder / "million.db")
    path = folder / "old.csv"
    rows = zip(rng.integers(len(ARMS), size=n), rng.standard_normal((n, 2)))
    path.write_text("arm,gain,safety\n" + "".join(f"{ARMS[k]},{x:.6g},{y:.6g}\n" for k, (x, y) in rows))
    found: dict = {"outcomes": n}
    for name, use in (("small", False), ("large", True)):
        study = create(url, name)
        if use:
            start = time.perf_counter()
            study.import_csv(path)
            found["import_seconds"] = time.perf_counter() - start
        study.close()
        start = time.perf_counter()
        with Study.open(url, name) as study:
            study.status()
            found[f"open_{name}"] = time.perf_counter() - start
    # In turns: the disk's mood hits both alike.
    asks: dict[str, list[float]] = {"small": [], "large": []}
    opened = [Study.open(url, name) for name in asks]
    for _ in range(100):
        for study in opened:
            start = time.perf_counter()
            ticket = study.ask()
            asks[study.name].append(time.perf_counter() - start)
            study.tell(ticket.token, outcome(ticket.token))
    return found | {f"ask_{name}": float(np.median(times)) for name, times in asks.items()}


def past_of(folder: Path, n: int) -> Path:
    """A file of outcomes."""
    rng, path = np.random.default_rng(0), folder / f"past {n}.csv"
    rows = zip(rng.integers(len(ARMS), size=n), rng.standard_normal((n, 2)))
    path.write_text("arm,gain,safety\n" + "".join(f"{ARMS[k]},{x:.6g},{y:.6g}\n" for k, (x, y) in rows))
    return path


def long_log(folder: Path, n: int = 200_000) -> dict:
    """Import and verification of a long log: seconds by the clock and of this process's own computing.

    us_per_event   of a verification, with the share of its parts: the log alone (read, parsed, hashed, compared with
                   its canonical text), its pulls and their order, and the kernels
    """
    warm_up()
    found: dict = {"outcomes": n}

    def timed(name: str, call) -> float:
        clock, own = time.perf_counter(), time.process_time()
        call()
        own = time.process_time() - own
        found[name] = {"seconds": round(time.perf_counter() - clock, 2), "own": round(own, 2)}
        return own / n * 1e6

    with create(str(folder / "long.db"), "long") as study:
        timed("import", lambda: study.import_csv(past_of(folder, n)))
        whole = min(timed("verify", study.verify) for _ in range(3))
        with study._session.glancing() as log, calm():
            alone = timed("log alone", lambda: deque(chained(audit._exact(log)), maxlen=0))
            config = study._session.state.config
            line = Line(tuple(study._session.state.line.objectives), len(ARMS))
            entries: dict = {}
            ordered = timed("with pulls", lambda: entries.update(list_entries(line, chained(audit._exact(log)))))
        told = list(entries.values())
        kernels = timed("kernels", lambda: _tell(config.experiment(), told, True))
    shares = {"log": alone, "pulls": ordered - alone, "telling": kernels}
    return found | {"us_per_event": round(whole, 1), "shares": {name: round(us, 1) for name, us in shares.items()}}


def correction(folder: Path, n: int = 1_000_000) -> dict:
    """How long a correction of the first of many outcomes takes, and how long it keeps another process waiting."""
    warm_up()
    rng, url, path, end = np.random.default_rng(0), str(folder / "corrected.db"), folder / "past.csv", folder / "end"
    rows = zip(rng.integers(len(ARMS), size=n), rng.standard_normal((n, 2)))
    path.write_text("arm,gain,safety\n" + "".join(f"{ARMS[k]},{x:.6g},{y:.6g}\n" for k, (x, y) in rows))
    with create(url, "corrected") as study:
        study.import_csv(path)
        token = next(event.data["token"] for event in study.events() if event.kind == "imported")
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        slowest, pulls, study = 0.0, 0, Study.open(url, "corrected")
        while not end.exists():
            start = time.perf_counter()
            ticket = study.ask()
            study.tell(ticket.token, outcome(ticket.token))
            slowest, pulls = max(slowest, time.perf_counter() - start), pulls + 1
        os.write(writer, f"{slowest} {pulls}\n".encode())
        os._exit(0)
    os.close(writer)
    time.sleep(2.0)
    with Study.open(url, "corrected") as study:
        study.status()
        start, own = time.perf_counter(), time.process_time()
        study.correct(token, [0.0, 0.0], reason="to see how long it takes")
        seconds, own = time.perf_counter() - start, time.process_time() - own
        time.sleep(2.0)
        end.touch()
        slowest, pulls = drain(reader)[0].split()
        os.waitpid(process, 0)
        fine = study.verify().ok
    waiting = {"slowest_pull_of_another": float(slowest), "pulls_meanwhile": int(pulls)}
    return {"outcomes": n, "correct_seconds": seconds, "correct_own": own, **waiting, "verified": fine}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print("200 kills of a writing process, SQLite:", kills(f"{folder}/kill.db", 200), flush=True)
        print("32 processes x 100 pulls, SQLite:", crowd(f"{folder}/crowd.db", 32, 100), flush=True)
        with server() as url:
            print("32 processes x 100 pulls, PostgreSQL:", crowd(url, 32, 100), flush=True)
            print("200 kills of a writing process, PostgreSQL:", kills(url, 200), flush=True)
        print("import and verification:", long_log(Path(folder)), flush=True)
        print("a large study:", million(Path(folder)), flush=True)
        print("a correction in a large study:", correction(Path(folder)), flush=True)
