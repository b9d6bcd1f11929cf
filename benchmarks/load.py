"""A server under load: clients that read and write beside an import that holds the write lock; slow clients.

The clients, the server and the import are processes of this machine, and speak on 127.0.0.1 only. `source`: the folder
of another version's sources, to compare; `PREPEX_SOURCE` on the command line.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.postgres import server as postgres
from prepex import Gaussian, Study
from prepex.server.access import Keys

ARMS = tuple(f"arm {k}" for k in range(5))
OBJECTIVES = ("gain", "safety")
READS = ("status", "list", "page", "view", "events")


def environment(source: str | None) -> dict[str, str]:
    own = str(Path(__file__).parent.parent / "src")
    return os.environ | {"PYTHONPATH": source or own}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(storage: str, *words: str, source: str | None = None) -> Iterator[tuple[int, subprocess.Popen]]:
    """(port, process) of `prepex serve`."""
    port = free_port()
    command = [sys.executable, "-m", "prepex", "serve", "--storage", storage, "--port", str(port), *words]
    process = subprocess.Popen(command, env=environment(source), stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield port, process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_port(port: int, patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class Client:
    """HTTP on one connection, opened anew when it was closed."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.port = port
        self.head = f"Host: 127.0.0.1:{port}\r\n" + (f"Authorization: Bearer {token}\r\n" if token else "")
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None

    async def send(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict, bytes]:
        """(status, headers, body); status 0 if there is no answer."""
        for fresh in (False, True):
            try:
                return await asyncio.wait_for(self._send(method, path, body, headers), 90)
            except (OSError, EOFError, TimeoutError):
                # A connection that was kept may have been closed meanwhile.
                self.close()
                if fresh:
                    return 0, {}, b""
        raise AssertionError

    async def _send(self, method: str, path: str, body: object, headers: dict) -> tuple[int, dict, bytes]:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        content = b"" if body is None else json.dumps(body).encode()
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        kind = "Content-Type: application/json\r\n" if body is not None else ""
        head = f"{method} {path} HTTP/1.1\r\n{self.head}{kind}{more}Content-Length: {len(content)}\r\n\r\n"
        writer.write(head.encode() + content)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        found = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:]) if name}
        length = found.get("content-length")
        status = int(lines[0].split()[1])
        text = await reader.readexactly(int(length)) if length else b""
        if found.get("connection") == "close":
            self.close()
        return status, found, text


class Tally:
    """What came, and when."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.codes: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()

    def note(self, kind: str, seconds: float, status: int, headers: dict) -> None:
        self.codes[str(status)] += 1
        self.seconds.setdefault(kind, []).append(seconds)
        if status in (429, 503):
            if "retry-after" not in headers:
                self.errors[f"{status} without Retry-After"] += 1
        elif status not in (200, 304):
            self.errors[f"{kind}: {status}"] += 1

    def report(self) -> dict:
        def numbers(kinds: tuple[str, ...]) -> dict:
            all_of_them = np.array([value for kind in kinds for value in self.seconds.get(kind, [])])
            if not all_of_them.size:
                return {}
            p50, p99 = np.quantile(all_of_them, [0.5, 0.99])
            share = float(np.mean(all_of_them <= 0.1))
            return {
                "n": int(all_of_them.size),
                "p50_ms": round(1e3 * p50, 1),
                "p99_ms": round(1e3 * p99, 1),
                "max_ms": round(1e3 * float(all_of_them.max()), 1),
                "within_100_ms": round(share, 4),
            }

        found = {"reads": numbers(READS), "writes": numbers(("ask", "tell"))}
        found |= {kind: numbers((kind,)) for kind in READS}
        return found | {"codes": dict(self.codes), "errors": dict(self.errors)}


async def play(port: int, token: str, end: float, tally: Tally, seed: int, told: list[str]) -> None:
    """A client: mostly reads, some pulls, a little time in between."""
    client, rng, tag = Client(port, token), np.random.default_rng(seed), ""
    paths = {"status": "/api/studies/loaded/status", "list": "/api/studies", "page": "/"}
    paths |= {"view": "/api/studies/loaded/view", "events": "/api/studies/loaded/events?after=0&limit=20"}

    async def timed(kind: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict, bytes]:
        start = time.perf_counter()
        answer = await client.send(method, path, body, **headers)
        tally.note(kind, time.perf_counter() - start, answer[0], answer[1])
        return answer

    while time.monotonic() < end:
        kind = str(rng.choice([*READS, "pull"], p=[0.25, 0.15, 0.1, 0.25, 0.1, 0.15]))
        if kind == "pull":
            status, _, text = await timed("ask", "POST", "/api/studies/loaded/ask", {"n": 1})
            for ticket in json.loads(text) if status == 200 else ():
                body = {"token": ticket["token"], "outcome": [float(rng.normal()), 1.0]}
                # An outcome is told until it is taken, as a client would.
                while (await timed("tell", "POST", "/api/studies/loaded/tell", body))[0] != 200:
                    if time.monotonic() > end + 60:
                        break
                    await asyncio.sleep(1.0)
                else:
                    told.append(ticket["token"])
        else:
            more = {"If_None_Match": tag} if kind == "view" and tag else {}
            status, headers, _ = await timed(kind, "GET", paths[kind], **more)
            tag = headers.get("etag", tag) if kind == "view" else tag
        await asyncio.sleep(rng.exponential(0.05))
    client.close()


def write_rows(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    lines = (
        f"{ARMS[k]},{x:.6g},{y:.6g}\n" for k, (x, y) in zip(rng.integers(5, size=rows), rng.normal(size=(rows, 2)))
    )
    path.write_text("arm,gain,safety\n" + "".join(lines))


def load(
    storage: str,
    folder: Path,
    *,
    seconds: float = 60.0,
    clients: int = 20,
    rows: int = 100_000,
    source: str | None = None,
) -> dict:
    """Clients beside imports, one after the other, into another study and into the one that is read."""
    settings = {"objectives": OBJECTIVES, "family": Gaussian(variance=1.0), "delta": 1e-9}
    for name in ("loaded", "beside"):
        Study.create(storage, name, arms=ARMS, **settings).close()
    keys = Keys(folder / "keys.json")
    tokens = [keys.add(f"client {k}", "worker") for k in range(clients)]
    write_rows(folder / "old.csv", rows)
    tally, told, imports = Tally(), list[str](), 0

    async def run(port: int) -> None:
        nonlocal imports
        warm = Client(port, tokens[0])
        for _ in range(20):
            (ticket,) = json.loads((await warm.send("POST", "/api/studies/loaded/ask", {"n": 1}))[2])
            await warm.send("POST", "/api/studies/loaded/tell", {"token": ticket["token"], "outcome": [0.0, 1.0]})
            await warm.send("GET", "/api/studies/loaded/view")
            await warm.send("GET", "/api/studies/loaded/status")
        warm.close()
        end = time.monotonic() + seconds
        crowd = [asyncio.create_task(play(port, token, end, tally, k, told)) for k, token in enumerate(tokens)]
        while time.monotonic() < end:
            name = ("beside", "loaded")[imports % 2]
            command = [sys.executable, "-m", "prepex", "study", "import", name, str(folder / "old.csv"), "--again"]
            process = await asyncio.create_subprocess_exec(
                *command, "--storage", storage, env=environment(source), stdout=subprocess.DEVNULL
            )
            if await process.wait():
                tally.errors["import failed"] += 1
            imports += 1
        await asyncio.gather(*crowd)

    with serving(storage, "--keys", str(keys.path), source=source) as (port, _):
        asyncio.run(run(port))
    with Study.open(storage, "loaded") as study:
        kept = {event.data["token"] for event in study.events() if event.kind == "told"}
    lost = [token for token in told if token not in kept]
    return tally.report() | {"imports": imports, "acknowledged": len(told), "lost": len(lost)}


def half_open(storage: str, n: int = 500, *, source: str | None = None) -> dict:
    """Connections that send half a header: how long others wait meanwhile, and how many of them are left."""
    with serving(storage, source=source) as (port, _):
        slow = []
        for _ in range(n):
            wire = socket.create_connection(("127.0.0.1", port), timeout=10)
            wire.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            slow.append(wire)
        tally = Tally()

        async def reads() -> None:
            client = Client(port)
            for _ in range(100):
                start = time.perf_counter()
                status, headers, _ = await client.send("GET", "/api/studies")
                tally.note("list", time.perf_counter() - start, status, headers)
                await asyncio.sleep(0.02)
            client.close()

        asyncio.run(reads())
        start, left = time.monotonic(), n
        while left and time.monotonic() - start < 30:
            time.sleep(0.5)
            left = sum(is_open(wire) for wire in slow)
        for wire in slow:
            wire.close()
        return tally.report()["list"] | {"codes": dict(tally.codes), "half_open_left": left}


def is_open(wire: socket.socket) -> bool:
    wire.setblocking(False)
    try:
        return bool(wire.recv(1024))
    except BlockingIOError:
        return True
    except OSError:
        return False


def end_under_load(storage: str, *, source: str | None = None) -> float:
    """Seconds from SIGTERM to the end of a server that computes something heavy and has clients that wait."""
    rng = np.random.default_rng(0)
    settings = {"arms": 300, "objectives": 8, "family": Gaussian(variance=1.0), "threshold": "heuristic"}
    with Study.create(storage, "heavy", **settings) as study:
        study.tell_many([(ticket.token, rng.normal(size=8).tolist()) for ticket in study.ask(300)])
    with serving(storage, source=source) as (port, process):
        clients = [Client(port) for _ in range(5)]

        async def busy() -> float:
            tasks = [asyncio.create_task(client.send("GET", "/api/studies/heavy/status")) for client in clients]
            await asyncio.sleep(3.0)
            start = time.monotonic()
            process.send_signal(signal.SIGTERM)
            while process.poll() is None and time.monotonic() - start < 120:
                await asyncio.sleep(0.02)
            seconds = time.monotonic() - start
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for client in clients:
                client.close()
            return seconds

        return asyncio.run(busy())


def main() -> None:
    source = os.environ.get("PREPEX_SOURCE")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place in ("sqlite", "postgresql"):
            (folder / place).mkdir()
        found = load(str(folder / "sqlite" / "x.db"), folder / "sqlite", source=source)
        print("20 clients for 60 s beside imports, SQLite:", json.dumps(found, indent=1), flush=True)
        with postgres() as url:
            found = load(url, folder / "postgresql", source=source)
            print("20 clients for 60 s beside imports, PostgreSQL:", json.dumps(found, indent=1), flush=True)
        print("500 half-open connections:", half_open(str(folder / "slow.db"), source=source), flush=True)
        seconds = end_under_load(str(folder / "end.db"), source=source)
        print(f"SIGTERM under load: {seconds:.2f} s", flush=True)
