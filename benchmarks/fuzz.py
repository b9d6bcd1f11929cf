"""Damaged files of every kind: each is read, or refused in one line, never with a traceback.

`python -m benchmarks fuzz` makes 10,000; tests/test_study_mutations.py some hundreds. A `Kind` of file is genuine ones,
and how a program reads them; add another to `kinds`.
"""

import json
import random
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.mutations import ANYTHING, Case, make_case, nodes, others, plans, replaced
from prepex import Experiment, Gaussian, InputError, Product, Study
from prepex.cli.source import read_problem
from prepex.study.check import check

OUTCOMES = (
    b"arm,u,v\na,1.5,-2e3\nb,0.25,7\n",
    b"arm;u;v;n\na;1,5;2;1\nb;0,25;7;1\n",
    b'\xef\xbb\xbfarm\tu\tv\r\n"a"\t1\t2\r\n\r\nb\t3\t4\r\n',
)
MEANS = (b"name,u,v\nlow,1,2\nhigh,2,1\n", b"# a comment\nu;v\n1,5;2\n2,5;1\n")


class Kind(NamedTuple):
    """A kind of file.

    genuine   bytes of whole files
    read      raises nothing but InputError and OSError, whatever it is given
    """

    name: str
    genuine: Sequence[bytes]
    read: Callable[[bytes], Any]


def damaged(whole: bytes, rng: random.Random) -> bytes:
    """Bytes changed, cut, doubled or inserted; or one part of a JSON document, or of one line of them, replaced."""
    choice = rng.random()
    if choice < 0.55:
        lines = whole.split(b"\n") if choice < 0.2 else [whole]
        place = rng.randrange(len(lines))
        try:
            document = json.loads(lines[place])
        except (ValueError, RecursionError):
            return damaged(whole, rng)
        for _ in range(rng.choice((1, 1, 1, 3))):
            at, part = rng.choice([*nodes(document)])
            document = replaced(document, at, rng.choice([*others(part)] if rng.random() < 0.7 else ANYTHING))
        lines[place] = json.dumps(document).encode()
        return b"\n".join(lines)
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at, kind = rng.randrange(len(data) + 1), rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = rng.choice((b"[" * 5000, b'{"a":' * 3000, b"\x00", b"\xff\xfe", b"\r", b"9" * 5000, b"1e999"))
        elif kind == 2:
            del data[at : at + rng.choice((1, 10, 1000))]
        elif kind == 3:
            data[at:at] = data[at : at + rng.choice((10, 1000))]
        else:
            data[at:] = b""
    return bytes(data)


def run(kind: Kind, n: int, rng: random.Random) -> tuple[Counter[str], list[str]]:
    """(what became of n damaged files, tracebacks)."""
    found, falls = Counter[str](), list[str]()
    for _ in range(n):
        text = damaged(rng.choice(kind.genuine), rng)
        try:
            kind.read(text)
            found["read"] += 1
        except (InputError, OSError) as error:
            found["refused"] += 1
            if not str(error):
                falls.append(f"{kind.name}: an error without words")
        except Exception:
            found["FELL THROUGH"] += 1
            falls.append(f"{kind.name}: {traceback.format_exc(limit=-4)}")
    return found, falls


def kinds(folder: Path, cases: Sequence[Case]) -> list[Kind]:
    """Certificates with and without their logs, logs, JSON experiments, snapshots, tables."""
    experiments = [experiment() for experiment in (_gaussian, _mixed, _empty)]
    documents = [experiment.to_json().encode() for experiment in experiments]
    case = cases[0]
    log = "".join(case.lines).encode()
    shot = experiments[0].snapshot()
    head, _, numbers = zlib.decompress(shot).partition(b"\n")

    def restore(snapshot: bytes) -> None:
        experiment = _gaussian()
        experiment.restore(snapshot)
        repr(experiment)

    def read_log(text: bytes) -> None:
        lines = text.decode("latin-1").splitlines(keepends=True)
        if check(case.certificate, lines).ok and text != log:
            raise AssertionError("a changed log was accepted")

    def import_log(text: bytes) -> None:
        path = folder / "log.jsonl"
        path.write_bytes(text)
        place = folder / "restored.db"
        place.unlink(missing_ok=True)
        Study.restore(place, path).close()

    two = {"arms": ("a", "b"), "objectives": ("u", "v"), "family": Gaussian(variance=1.0)}
    study = Study.create(folder / "tables.db", "tables", **two)

    def import_table(text: bytes) -> None:
        path = folder / "table.csv"
        path.write_bytes(text)
        study.import_csv(path, again=True)

    def read_means(text: bytes) -> None:
        path = folder / "means.csv"
        path.write_bytes(text)
        read_problem(str(path), order_only=True)

    return [
        Kind("certificates", [json.dumps(case.certificate, indent=1).encode() for case in cases], check),
        Kind("certificates with a log", [json.dumps(case.certificate).encode()], lambda text: check(text, case.lines)),
        Kind("logs", [log], read_log),
        Kind("logs to restore", [log], import_log),
        Kind("experiments", documents, lambda text: Experiment.from_json(text.decode("utf-8", "replace"))),
        Kind("snapshots", [shot], restore),
        # With good check sums.
        Kind("heads of snapshots", [head], lambda text: restore(zlib.compress(text + b"\n" + numbers))),
        Kind("outcomes in a table", OUTCOMES, import_table),
        Kind("means in a table", MEANS, read_means),
    ]


def _gaussian() -> Experiment:
    made = Experiment(("a", "b"), ("u", "v"), family=Gaussian(variance=[1.0, 2.0]), delta=0.1, max_pulls=100)
    for turn in range(8):
        made.tell("ab"[turn % 2], [1.0 + turn, -0.5 * turn])
    made.tell_summary("a", 5, [2.0, -0.25])
    return made


def _mixed() -> Experiment:
    family = Product([Gaussian(variance="unknown", shared=True), Gaussian(variance="unknown")])
    made = Experiment(2, 2, family=family, minimise=(1,), threshold="heuristic")
    for turn in range(6):
        made.tell(turn % 2, [0.3 * turn, 1.0 / (turn + 1.0)])
    return made


def _empty() -> Experiment:
    made = Experiment(("x", "y", "z"), ("gain",), family=Gaussian(variance=1.0))
    made.tell("y", [0.5])
    return made


def small_cases(folder: Path) -> list[Case]:
    """Three certificates with short logs."""
    wanted = ("variance, certified, running", "Bernoulli, heuristic, inconclusive", "unknown, certified, running")
    return [make_case(*plan, folder) for plan in plans() if plan[0] in wanted]


def main(n: int = 10_000) -> None:
    """So many files, as many of each kind."""
    began, rng = time.perf_counter(), random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        every = kinds(folder, small_cases(folder))
        fallen: list[str] = []
        for kind in every:
            found, falls = run(kind, -(-n // len(every)), rng)
            fallen += falls
            print(f"{kind.name:25s} {dict(found)}", flush=True)
    print(f"{n:,} files, {len(fallen)} fell through; {time.perf_counter() - began:.0f} s")
    for fall in fallen[:20]:
        print(fall)
