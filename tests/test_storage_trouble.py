"""Databases that are moved, replaced, restarted, made read-only or filled up: what was acknowledged is there, and the
server answers again by itself."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from benchmarks.postgres import restart, server
from prepex import Gaussian, Study
from prepex.server.app import make_app
from prepex.server.crew import Crew, LostError
from prepex.study import storage as storages
from prepex.study.storage import BusyError, ReadOnlyError, Storage

SETTINGS = {"arms": ("low", "high"), "objectives": ("gain",), "family": Gaussian(variance=1.0)}


@contextmanager
def client(storage, **options):
    app = make_app(storage, **options)
    with TestClient(app, base_url="http://127.0.0.1:8000") as web:
        yield web
    app.state.runner.close()


class Teller:
    """Tells, and remembers what was acknowledged."""

    def __init__(self, web):
        self.web, self.acknowledged = web, []

    def tell(self):
        """The status code."""
        answer = self.web.post("/api/studies/dose/ask", json={})
        if answer.status_code == 200:
            (ticket,) = answer.json()
            answer = self.web.post("/api/studies/dose/tell", json={"token": ticket["token"], "outcome": [1.0]})
            if answer.status_code == 200:
                self.acknowledged.append(ticket["token"])
        assert answer.status_code != 503 or int(answer.headers["Retry-After"]) > 0
        return answer.status_code

    def check(self, storage):
        with Study.open(storage, "dose") as study:
            assert study.verify().ok
            told = [event.data["token"] for event in study.events() if event.kind == "told"]
            assert set(self.acknowledged) <= set(told) and len(set(told)) == len(told)


@pytest.fixture(params=[0, 1], ids=["inline", "workers"])
def workers(request):
    return request.param


@pytest.fixture
def storage(tmp_path):
    path = str(tmp_path / "trials.db")
    Study.create(path, "dose", **SETTINGS).close()
    return path


# Moved and replaced


def test_moved_and_moved_back(storage, workers):
    with client(storage, workers=workers) as web:
        teller = Teller(web)
        assert [teller.tell() for _ in range(3)] == [200] * 3
        moved = Path(storage).rename(storage + ".moved")
        assert teller.tell() == 503
        answer = web.get("/api/studies/dose/status")
        assert answer.status_code == 503 and answer.headers["Retry-After"] == "5"
        moved.rename(storage)
        assert teller.tell() == 200 and web.get("/api/studies/dose/status").json()["n_pulls"] == 4
    teller.check(storage)


def test_replaced_by_a_copy(storage, workers, tmp_path):
    with client(storage, workers=workers) as web:
        teller = Teller(web)
        assert [teller.tell() for _ in range(3)] == [200] * 3
        with closing(sqlite3.connect(storage)) as old, closing(sqlite3.connect(tmp_path / "copy.db")) as new:
            old.backup(new)
        for end in ("", "-wal", "-shm"):
            Path(storage + end).unlink(missing_ok=True)
        shutil.move(tmp_path / "copy.db", storage)
        assert web.get("/api/studies/dose/status").json()["n_pulls"] == 3
        assert teller.tell() == 200 and web.get("/api/studies/dose/status").json()["n_pulls"] == 4
    teller.check(storage)


def test_a_script_is_told_that_its_file_was_replaced(storage, tmp_path):
    study = Study.open(storage, "dose")
    study.ask()
    shutil.copy(storage, tmp_path / "copy.db")
    Path(storage).unlink()
    shutil.move(tmp_path / "copy.db", storage)
    with pytest.raises(OSError, match="was replaced by another file while it was open"):
        study.ask()


# PostgreSQL


def test_a_database_that_is_restarted(workers):
    with server() as url:
        Study.create(url, "dose", **SETTINGS).close()
        with client(url, workers=workers) as web:
            teller = Teller(web)
            assert [teller.tell() for _ in range(3)] == [200] * 3
            restart(url)
            codes = [teller.tell() for _ in range(4)]
            assert set(codes) <= {200, 503} and codes[-1] == 200
            assert web.get("/api/studies/dose/status").json()["n_pulls"] >= len(teller.acknowledged) - 1
            assert web.get("/api/studies/dose/view").status_code == 200
        teller.check(url)


# Locks


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_wait_for_a_lock_ends(kind, tmp_path, request):
    url = str(tmp_path / "x.db") if kind == "sqlite" else request.getfixturevalue("postgres")
    for overview in Study.list(url) if kind == "postgresql" else ():
        Study.delete(url, overview.name, confirm=overview.name)
    slow = Study.create(url, "dose", **SETTINGS)
    quick = Study(Storage(url, patience=0.1), "dose")
    with slow._session.writing("somebody") as draft, pytest.raises(BusyError, match="is being written by somebody"):
        assert draft.next == 1 and quick.status().events == 1
        quick.ask()
    assert quick.ask().arm == "low"


# Read-only


SCRIPT = """
import json, os, sys, tempfile
from prepex import Gaussian
from prepex.study.storage import ReadOnlyError
from prepex.study.study import Study

def look(path):
    study = Study.open(path, "dose")
    found = {"events": study.status().events, "names": [entry.name for entry in Study.list(path)]}
    found |= {"log": [event.kind for event in study.events()], "ok": study.verify().ok}
    try:
        study.ask()
    except ReadOnlyError as error:
        found["refused"] = str(error)
    study.close()
    return found

with tempfile.TemporaryDirectory() as folder:
    Study.create(folder + "/x.db", "dose", arms=2, objectives=1, family=Gaussian(variance=1.0)).close()
    assert "refused" not in look(folder + "/x.db")
# Root may do anything, so it becomes nobody; all that must be loaded has been.
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print(json.dumps([look(path) for path in sys.argv[1:]]))
"""


def test_what_may_only_be_read_can_be_read():
    top, studies = Path(tempfile.mkdtemp(prefix="prepex-read-only-")), []
    cases = [
        (file, folder, waits) for file, folder in ((0o444, 0o777), (0o444, 0o555), (0o644, 0o555)) for waits in (0, 1)
    ]
    places = [top / f"{file:o} {folder:o} {waits}" for file, folder, waits in cases]
    try:
        top.chmod(0o755)
        for place, (file, folder, waits) in zip(places, cases):
            place.mkdir()
            studies.append(Study.create(place / "trials.db", "dose", **SETTINGS))
            studies[-1].ask()
            if not waits:
                # What was written beside the database is in it then, and the files beside it are gone.
                studies[-1].close()
            (place / "trials.db").chmod(file)
            place.chmod(folder)
        command = [sys.executable, "-c", SCRIPT, *(str(place / "trials.db") for place in places)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for found in json.loads(done.stdout):
            assert found["events"] == 2 and found["log"] == ["config", "asked"] and found["names"] == ["dose"]
            assert found["ok"] and "can be read, but not written" in found["refused"]
    finally:
        for study in studies:
            study.close()
        for place in places:
            place.chmod(0o755)
        shutil.rmtree(top)


def test_a_server_of_what_may_only_be_read_for_a_while(storage, monkeypatch):
    with client(storage) as web:
        teller = Teller(web)
        assert teller.tell() == 200
    real, writable = os.access, False
    monkeypatch.setattr(storages.os, "access", lambda path, mode: (writable or mode != os.W_OK) and real(path, mode))
    with client(storage) as web:
        again = Teller(web)
        assert web.get("/api/studies/dose/status").json()["n_pulls"] == 1
        assert web.get("/api/studies/dose/view").status_code == web.get("/api/studies").status_code == 200
        answer = web.post("/api/studies/dose/ask", json={})
        assert answer.status_code == 503 and answer.headers["Retry-After"] == "10"
        assert "can be read, but not written" in answer.json()["detail"]
        writable = True
        assert again.tell() == 200 and web.get("/api/studies/dose/status").json()["n_pulls"] == 2
    teller.check(storage)
    again.check(storage)


def test_postgresql_that_may_only_be_read(postgres):
    for overview in Study.list(postgres):
        Study.delete(postgres, overview.name, confirm=overview.name)
    Study.create(postgres, "dose", **SETTINGS).close()
    only = f"{postgres}&options=-c%20default_transaction_read_only%3Don"
    with Study.open(only, "dose") as study:
        assert study.status().events == 1
        with pytest.raises(ReadOnlyError, match="can be read, but not written"):
            study.ask()


# Filled up


def test_a_disk_that_is_full(storage, monkeypatch):
    real, most = storages._set_up_sqlite, 0

    def small(connection):
        made = real(connection)
        made.execute(f"PRAGMA max_page_count = {most or 1_000_000}")
        return made

    monkeypatch.setattr(storages, "_set_up_sqlite", small)
    with closing(sqlite3.connect(storage)) as connection:
        most = connection.execute("PRAGMA page_count").fetchone()[0] + 4
    with client(storage) as web:
        teller, codes = Teller(web), []
        while 503 not in codes[-1:]:
            codes.append(teller.tell())
        assert len(codes) > 3 and teller.tell() == 503, "it is still full"
        before = web.get("/api/studies/dose/status").json()
        assert before["n_pulls"] == len(teller.acknowledged), "reading goes on"
    most = 0
    with client(storage) as web:
        teller.web = web
        assert teller.tell() == 200
        assert web.get("/api/studies/dose/status").json()["n_pulls"] >= before["n_pulls"]
    teller.check(storage)


def test_a_disk_that_is_full_for_a_while(storage, tmp_path):
    """The workers too: files of this process may not grow beyond a size, and then may."""
    script = """
import json, resource, sys
sys.path[:0] = sys.argv[2:]
from test_storage_trouble import Teller, client
with client(sys.argv[1], workers=1) as web:
    teller = Teller(web)
    codes = [teller.tell() for _ in range(3)]
    (process,) = web.app.state.runner._processes.values()
    limits = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    codes.append(teller.tell())
    read = web.get("/api/studies/dose/status").json()["n_pulls"]
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    codes += [teller.tell() for _ in range(3)]
    teller.check(sys.argv[1])
    print(json.dumps([codes, read, web.get("/api/studies/dose/status").json()["out"]]))
"""
    here = Path(__file__).parent
    command = [sys.executable, "-c", script, storage, str(here), str(here.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    codes, read, _ = json.loads(done.stdout)
    assert codes == [200, 200, 200, 503, 200, 200, 200] and read == 3


def test_workers_are_asked_by_the_same_rules(storage):
    crew = Crew(Storage(storage), workers=4, limit=60.0)
    try:
        with pytest.raises(ValueError, match="name must be a study"):
            crew.submit("nobody", "answer").result(60)
        jobs = [crew.submit("dose", "ask", 1, "ada", True) for _ in range(20)]
        tickets = [job.result(60).result[0] for job in jobs]
        assert len({ticket.token for ticket in tickets}) == 20
        assert len(crew._processes) == 1, "one study needs one worker"
        void = crew.submit("dose", "void", tickets[0].token, "lost", "ada")
        voided = void.result(60).result
        assert (voided.token, voided.new, voided.reason) == (tickets[0].token, True, "lost")
    finally:
        crew.close()
    with pytest.raises(LostError):
        crew.submit("dose", "answer")


def test_a_turn_is_tried_for_often_and_no_longer_than_the_patience(tmp_path):
    path = str(tmp_path / "trials.db")
    place, asked = Storage(path, create=True, patience=0.2), []
    with place.reading() as connection:
        connection.connection.driver_connection.set_trace_callback(asked.append)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="written by somebody else"), place.writing():
            pass
    # SQLite alone would begin once, and try in ever longer steps.
    assert asked.count("BEGIN IMMEDIATE") > 2
    with place.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 200
    place.close()
