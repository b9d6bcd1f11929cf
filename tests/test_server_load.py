"""A server that holds: readers beside writers, computations that take too long, slow clients, news, and the end."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError

import numpy as np
import pytest
from fastapi.testclient import TestClient

from benchmarks.load import end_under_load
from prepex import Bernoulli, Gaussian, Product, Study
from prepex.server import served
from prepex.server.access import Keys
from prepex.server.app import make_app, make_server
from prepex.server.crew import TooLongError
from prepex.server.limits import Buckets, Limits
from prepex.server.wire import Wire
from prepex.study.log import Log
from prepex.study.storage import Storage

SETTINGS = {"arms": ("low", "high"), "objectives": ("gain",), "family": Gaussian(variance=1.0)}
# A loaded machine is slow, but what waits for a lock or a kernel waits far longer.
SOON = 3.0


class Web:
    """A server of a thread, with workers of its own."""

    def __init__(self, app, port):
        self.app, self.port = app, port

    def send(self, path, body=None, **headers):
        """(status, headers, document)"""
        data = None if body is None else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, sent)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return answer.status, answer.headers, json.loads(text) if text[:1] in (b"{", b"[") else text
        except HTTPError as error:
            with error:
                return error.code, error.headers, json.loads(error.read())

    def get(self, path, fresh=False):
        """The document; `fresh`: not one of some moments ago, however long a loaded machine takes."""
        status, headers, found = self.send(path)
        assert status == 200, found
        return self.get(path, fresh) if fresh and "Prepex-Stale" in headers else found


@contextmanager
def running(storage, *given, workers=2, wire=Wire, **options):
    app = make_app(storage, *given, workers=workers, **options)
    server = make_server(app, host="127.0.0.1", port=0)
    server.config.http = wire
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield Web(app, server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def locked(storage, name):
    """Somebody else writes a study, and takes their time."""
    place = Storage(storage)
    with place.writing() as connection:
        Log(connection, name, lock=True)
        yield
    place.close()


# Readers and writers


def test_readers_do_not_wait_for_writers(storage, monkeypatch):
    monkeypatch.setattr(served, "TURN", 0.5)
    with running(storage) as web:
        assert web.send("/api/studies", {"name": "dose", "arms": 2, "objectives": 1, "variance": 1.0})[0] == 201
        first, second = web.send("/api/studies/dose/ask", {"n": 2})[2]
        assert web.send("/api/studies/dose/tell", {"token": first["token"], "outcome": [1.0]})[2]["new"]
        told = {"token": second["token"], "outcome": [2.0]}
        with locked(storage, "dose"):
            # They wait for their turn, and must not keep readers from theirs.
            waiting = [threading.Thread(target=web.send, args=("/api/studies/dose/tell", told)) for _ in range(8)]
            for thread in waiting:
                thread.start()
            for path in ("/api/studies/dose/status", "/api/studies", "/", "/api/studies/dose/view"):
                start = time.monotonic()
                found = web.get(path)
                assert time.monotonic() - start < SOON
                assert path[-6:] != "status" or (found["n_pulls"], found["out"]) == (1, 1)
            start = time.monotonic()
            status, headers, found = web.send("/api/studies/dose/tell", told)
            assert (
                status == 503
                and headers["Retry-After"] == "1"
                and found["detail"].startswith("somebody else is writing")
            )
            assert time.monotonic() - start < 5 * SOON
            for thread in waiting:
                thread.join()
        assert web.send("/api/studies/dose/tell", told)[2]["new"], "what was refused did not happen"
        assert web.get("/api/studies/dose/status", fresh=True)["n_pulls"] == 2
    assert Study.open(storage, "dose").verify().ok


def test_readers_do_not_wait_for_what_is_computed(tmp_path):
    storage = str(tmp_path / "trials.db")
    Study.create(storage, "dose", **SETTINGS).close()
    with running(storage, workers=1) as web:
        before = web.get("/api/studies/dose/view", fresh=True)
        (ticket,) = web.send("/api/studies/dose/ask", {})[2]
        # A worker that does not go on is one that reads in a large import.
        (process,) = web.app.state.runner._processes.values()
        os.kill(process.pid, signal.SIGSTOP)
        start = time.monotonic()
        status, headers, found = web.send("/api/studies/dose/view")
        assert time.monotonic() - start < SOON
        assert status == 200 and headers["Prepex-Stale"] == "true" and found == before
        os.kill(process.pid, signal.SIGCONT)
        assert web.get("/api/studies/dose/view", fresh=True)["pulls"][0]["token"] == ticket["token"]


def test_a_large_import_by_somebody_else(storage, tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{('low', 'high')[k % 2]},{rng.normal():.6g}\n" for k in range(3_000))
    (tmp_path / "old.csv").write_text("arm,gain\n" + rows)
    study = Study.create(storage, "dose", **SETTINGS)
    with running(storage) as web:
        assert web.get("/api/studies/dose/status")["events"] == 1
        thread = threading.Thread(target=study.import_csv, args=(tmp_path / "old.csv",))
        thread.start()
        seen, end = set(), time.monotonic() + 60
        while 3_001 not in seen and time.monotonic() < end:
            start = time.monotonic()
            status, _, found = web.send("/api/studies/dose/status")
            assert status == 200 and time.monotonic() - start < SOON
            seen.add(found["events"])
            time.sleep(0.02)
            assert found["events"] in (1, 3_001) and found["imported"] == found["n_pulls"] == found["events"] - 1
        thread.join()
        assert seen == {1, 3_001}


def test_a_correction_does_not_keep_others_waiting(tmp_path):
    storage = str(tmp_path / "trials.db")
    with running(storage, workers=2) as web:
        Study.create(storage, "dose", **SETTINGS).close()
        tickets = web.send("/api/studies/dose/ask", {"n": 40})[2]
        for k, ticket in enumerate(tickets):
            assert web.send("/api/studies/dose/tell", {"token": ticket["token"], "outcome": [0.1 * k]})[0] == 200
        body = {"token": tickets[0]["token"], "outcome": [3.0], "reason": "typo"}
        assert web.send("/api/studies/dose/correct", body)[0] == 200
        status = web.get("/api/studies/dose/status", fresh=True)
        assert status["corrected"] == 1 and status["n_pulls"] == 40
        assert web.send("/api/studies/dose/void", {"token": tickets[1]["token"], "reason": "broken"})[0] == 200
        assert web.get("/api/studies/dose/status", fresh=True)["voided"] == 1
        assert web.send("/api/studies/dose/ask", {"n": 1})[0] == 200
    assert Study.open(storage, "dose").verify().ok


# What takes too long, or ends


def test_what_takes_too_long_is_stopped(tmp_path):
    storage = str(tmp_path / "trials.db")
    for name in ("heavy", "dose"):
        Study.create(storage, name, **SETTINGS).close()
    with running(storage) as web:
        (ticket,) = web.send("/api/studies/heavy/ask", {})[2]
        before = web.get("/api/studies/heavy/status")
        # A worker that does not go on is one that computes forever.
        (process,) = web.app.state.runner._processes.values()
        web.app.state.runner.limit = 4.0
        os.kill(process.pid, signal.SIGSTOP)
        answers, told = [], {"token": ticket["token"], "outcome": [1.0]}
        thread = threading.Thread(target=lambda: answers.append(web.send("/api/studies/heavy/tell", told)))
        thread.start()
        while not web.app.state.runner._busy:
            time.sleep(0.01)
        web.app.state.runner.limit = 60.0
        assert web.get("/api/studies/heavy/status") == before, "readers have the last answer meanwhile"
        assert web.send("/api/studies/dose/ask", {})[0] == 200, "and other studies go on"
        thread.join()
        status, headers, found = answers[0]
        assert status == 503 and headers["Retry-After"] == "300"
        assert found["detail"] == "this took longer than 4 s and was stopped"
        assert not process.is_alive()
        assert web.get("/api/studies/heavy/status") == before
        assert web.send("/api/studies/heavy/tell", told)[2]["new"]
        assert web.get("/api/studies/heavy/status", fresh=True)["n_pulls"] == 1


def test_an_answer_that_takes_too_long_is_not_tried_again_and_again(tmp_path):
    storage = str(tmp_path / "trials.db")
    Study.create(storage, "dose", **SETTINGS).close()
    calls = []

    class Slow:
        def submit(self, name, task, *given, first=False):
            calls.append(task)
            made = Future()
            made.set_running_or_notify_cancel()
            made.set_exception(TooLongError("this took longer than 2 s and was stopped"))
            return made

    found = served.Served(Storage(storage), "dose", Slow())
    for _ in range(3):
        with pytest.raises(TooLongError, match="took longer"):
            found.answer()
    assert calls == ["answer"]
    Study.open(storage, "dose").ask()
    with pytest.raises(TooLongError, match="took longer"):
        found.answer()
    assert calls == ["answer"] * 2, "a longer log is another matter"


def test_a_worker_that_is_killed_is_replaced(tmp_path):
    storage = str(tmp_path / "trials.db")
    Study.create(storage, "dose", **SETTINGS).close()
    with running(storage, workers=1) as web:
        for n in range(3):
            (ticket,) = web.send("/api/studies/dose/ask", {})[2]
            assert web.send("/api/studies/dose/tell", {"token": ticket["token"], "outcome": [1.0]})[0] == 200
            (process,) = web.app.state.runner._processes.values()
            process.kill()
            process.join()
            assert web.get("/api/studies/dose/status", fresh=True)["n_pulls"] == n + 1


def test_it_ends_soon_after_sigterm(tmp_path):
    # It is asked to end within 5 seconds; a loaded machine may need some more.
    assert end_under_load(str(tmp_path / "trials.db")) < 10.0


def test_it_ends_soon_with_pages_that_listen(tmp_path):
    with running(str(tmp_path / "trials.db")) as web:
        wire = socket.create_connection(("127.0.0.1", web.port))
        wire.sendall(b"GET /api/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"data: null" in receive(wire, b"data: null")
        start = time.monotonic()
    assert time.monotonic() - start < 2 * SOON
    wire.close()


# Slow clients


def receive(wire, until):
    found = b""
    wire.settimeout(30)
    while until not in found and (more := wire.recv(65536)):
        found += more
    return found


class Strict(Wire):
    headers_within, stalled_within, most = 1.0, 0.5, 40


def test_connections_without_a_request_are_dropped(tmp_path):
    with running(str(tmp_path / "trials.db"), wire=Strict) as web:
        slow = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(100)]
        for k, wire in enumerate(slow):
            wire.sendall((b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")[k % 3])
        for _ in range(5):
            start = time.monotonic()
            assert web.get("/api/studies") == [] and time.monotonic() - start < SOON
        for wire in slow:
            wire.settimeout(30)
            with suppress(ConnectionResetError):
                assert wire.recv(10) == b""
            wire.close()


def test_half_a_request_after_a_whole_one(tmp_path):
    with running(str(tmp_path / "trials.db"), wire=Strict) as web:
        wire = socket.create_connection(("127.0.0.1", web.port))
        wire.sendall(b"GET /api/studies HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert receive(wire, b"[]").endswith(b"[]")
        wire.sendall(b"GET /api/studies HTTP/1.1\r\nHost:")
        wire.settimeout(30)
        with suppress(ConnectionResetError):
            assert wire.recv(10) == b""
        wire.close()


def test_a_client_that_does_not_read_is_dropped(tmp_path):
    with running(str(tmp_path / "trials.db"), wire=Strict) as web:
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.connect(("127.0.0.1", web.port))
        # More than all buffers on the way can hold.
        wire.sendall(b"GET /plotly.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 8)
        time.sleep(2.0)
        size = 0
        with suppress(ConnectionResetError):
            while more := len(wire.recv(1 << 20)):
                size += more
        assert size < 8 * len(web.get("/plotly.js"))
        wire.close()


def test_a_page_is_not_starved_by_a_script(tmp_path):
    storage = str(tmp_path / "trials.db")
    Study.create(storage, "dose", **SETTINGS).close()
    with TestClient(make_app(storage, rate=0.001, burst=3.0), base_url="http://127.0.0.1:8000") as web:
        assert [web.get("/api/studies").status_code for _ in range(4)] == [200, 200, 200, 429]
        page = {"X-Prepex-Page": "1"}
        assert web.get("/api/studies/dose/view", headers=page).status_code == 200
        assert web.get("/").status_code == 200
        assert web.post("/api/studies/dose/ask", json={}, headers=page).status_code == 429, "it is for reading"


def test_there_is_an_end_to_requests_and_listeners():
    buckets = Buckets(Limits(busy=2, streams=1, all_busy=3, all_streams=2))
    with buckets.turn("ada") as one, buckets.turn("ada") as two, buckets.turn("ada") as three:
        assert (one, two, three[0]) == (None, None, 429)
        with buckets.turn("bo") as four, buckets.turn("cy") as five:
            assert four is None and five[0] == 503
        with buckets.turn("ada", stream=True) as listens, buckets.turn("ada", stream=True) as more:
            assert listens is None and more[0] == 429
    with buckets.turn("ada") as again:
        assert again is None


# News


def test_pages_hear_of_changes(storage, tmp_path):
    keys = Keys(tmp_path / "keys.json")
    token = keys.add("ada", "observer", studies=["mine"])
    study = Study.create(storage, "mine", **SETTINGS)
    other = Study.create(storage, "other", **SETTINGS)
    with running(storage, keys) as web, socket.create_connection(("127.0.0.1", web.port)) as wire:
        assert web.send("/api/changes")[0] == 401
        wire.sendall(
            b"GET /api/changes HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token.encode() + b"\r\n\r\n"
        )
        head = receive(wire, b"data: null")
        assert b"text/event-stream" in head and b"no-store" in head
        other.ask()
        study.ask()
        news = receive(wire, b"mine")
        assert b'data: ["mine"]' in news and b"other" not in news
        Study.delete(storage, "mine", confirm="mine")
        assert b'data: ["mine"]' in receive(wire, b"mine")
        keys.remove("ada")
        assert receive(wire, b"0\r\n\r\n").endswith(b"0\r\n\r\n"), "a token that is taken away ends at once"


# Types


@pytest.mark.parametrize("outcome", [[True], ["1.2"], {"gain": True}, {"gain": "1.2"}, {"gain": [1.0]}, [None], "1.2"])
def test_what_is_no_number_is_refused(tmp_path, outcome):
    storage = str(tmp_path / "trials.db")
    study = Study.create(storage, "dose", **SETTINGS)
    token = study.ask().token
    with TestClient(make_app(storage), base_url="http://127.0.0.1:8000") as web:
        answer = web.post("/api/studies/dose/tell", json={"token": token, "outcome": outcome})
        assert answer.status_code in (400, 422) and isinstance(answer.json()["detail"], str)
        assert web.post("/api/studies/dose/tell", json={"token": token, "outcome": [1]}).json()["new"]


@pytest.mark.parametrize(
    "change",
    [
        *({"variance": value} for value in ("0.25", True, ["1.0", 1.0], [[1.0, "0"], [0.0, 1.0]])),
        *({"delta": value} for value in ("0.1", True)),
        *({name: value} for name in ("seed", "max_pulls", "max_pending") for value in ("7", True, 7.0)),
        *({"arms": value} for value in ("3", True, 3.0, [1, 2])),
        *({"lease": value} for value in ("60", True)),
        *({"cone": value} for value in ({"angle": "120"}, {"angle": True}, {"facets": [["1", 0], [0, 1]]})),
        {"name": 7},
    ],
    ids=str,
)
def test_settings_are_not_guessed(tmp_path, change):
    body = {"name": "new", "arms": ["low", "high"], "objectives": ["gain", "harm"], "variance": 0.25}
    with TestClient(make_app(tmp_path / "trials.db"), base_url="http://127.0.0.1:8000") as web:
        assert web.post("/api/studies", json=body | change).status_code == 422
        for n in ("1", True, 1.0, 1.5):
            assert web.post("/api/studies/new/ask", json={"n": n}).status_code == 422
        assert web.post("/api/studies", json=body).status_code == 201


def test_yes_and_no_are_for_yes_or_no(tmp_path):
    storage = str(tmp_path / "trials.db")
    settings = SETTINGS | {"objectives": ("cured", "dose"), "family": Product([Bernoulli(), Gaussian(variance=1.0)])}
    study = Study.create(storage, "x", **settings)
    first, second = study.ask(2)
    with TestClient(make_app(storage), base_url="http://127.0.0.1:8000") as web:

        def tell(token, outcome):
            return web.post("/api/studies/x/tell", json={"token": token, "outcome": outcome}).status_code

        assert tell(first.token, {"cured": True, "dose": True}) == 400
        assert tell(first.token, {"cured": True, "dose": 1.5}) == 200
        assert tell(second.token, [False, 2]) == 200
    assert list(study.status().means.values()) == [(1.0, 1.5), (0.0, 2.0)]


# A command line that only starts it


def test_no_worker_is_left_behind(tmp_path):
    script = """
import sys
from prepex import Gaussian, Study
from prepex.server.app import make_app
app = make_app(sys.argv[1], workers=2)
Study.create(sys.argv[1], "x", arms=2, objectives=1, family=Gaussian(variance=1.0)).close()
runner = app.state.runner
assert runner.submit("x", "answer").result(60).status.n_pulls == 0
print([process.pid for process in runner._processes.values()][0], flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "trials.db")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    pid = int(done.stdout)
    end = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
