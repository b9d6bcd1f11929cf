"""The core as a user meets it: the installed command, from simulation to a study, its certificate and its server.

`make lowest` and `make newest` run this file with the lowest versions that pyproject.toml names, and with the newest
Python. So it needs nothing but prepex, its extras `study`, `server`, `plot` and `frame`, and pytest.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.error import URLError

import pytest


@pytest.fixture
def run(tmp_path):
    """Run `prepex ...` in a folder of its own."""
    own = {name: value for name, value in os.environ.items() if name != "PREPEX_STORAGE"}

    def call(*words, code=0):
        command = [sys.executable, "-m", "prepex", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=own)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + (done.stderr if code else "")

    return call


def test_simulations_and_bounds(run, tmp_path):
    (tmp_path / "means.csv").write_text("arm,gain,safety\na,2,0\nb,0,2\nc,-1,-1\n")
    options = ("means.csv", "--variance", "0.25")
    words = (
        "--rule",
        "information",
        "--rule",
        "uniform",
        "--runs",
        "5",
        "--save",
        "runs.csv",
        "--plot",
        "x.png",
        "--format",
        "json",
    )
    found = json.loads(run("run", *options, *words))
    assert found["pareto_names"] == ["a", "b"]
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 11 and (tmp_path / "x.png").stat().st_size > 1000
    bound = json.loads(run("bound", *options, "--format", "json"))
    low, high = found["certified"]
    assert low <= bound["characteristic_time"] <= high
    assert "a" in run("bound", *options) and "a" in run("pareto", *options[:1])


def test_a_study_to_its_certificate(run, tmp_path):
    names = ("--arm", "low", "--arm", "high", "--objective", "gain", "--variance", "0.25", "--delta", "0.1")
    run("study", "create", "dose", *names)
    (ticket,) = json.loads(run("study", "ask", "dose", "--format", "json"))
    assert "taken" in run("study", "tell", "dose", ticket["token"], "gain=0")
    (tmp_path / "old.csv").write_text("arm,gain\n" + "high,2.5\nlow,0\n" * 40)
    assert "imported 80 outcomes" in run("study", "import", "dose", "old.csv")
    assert "Nothing to hand out" in run("study", "ask", "dose", code=3)
    assert "certified" in run("study", "status", "dose")
    assert "every hash and the state are right" in run("study", "verify", "dose")
    run("study", "certificate", "dose", "certificate.json")
    run("study", "export", "dose", "events.jsonl")
    run("study", "report", "dose", "report.html")
    assert "the certificate is right" in run("verify", "certificate.json", "--log", "events.jsonl")
    # What must fail, fails.
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    certificate["arms"][0]["n"] += 1
    (tmp_path / "wrong.json").write_text(json.dumps(certificate))
    assert "NOT right" in run("verify", "wrong.json", code=1)
    (tmp_path / "bad.json").write_text("no certificate")
    run("verify", "bad.json", code=2)
    assert "Error: " in run("study", "tell", "dose", "1-00000000", "0", code=2)
    assert "No such option" in run("study", "status", "dose", "--no-such-option", code=2)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def fetch(place, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(place, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, answer.read()


def test_a_server(run, tmp_path):
    run("study", "create", "dose", "--arm", "low", "--arm", "high", "--objective", "gain", "--variance", "1")
    port = free_port()
    server = subprocess.Popen([sys.executable, "-m", "prepex", "serve", "--port", str(port)], cwd=tmp_path)
    try:
        here = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                code, body = fetch(f"{here}/api/studies/dose/status")
                break
            except URLError:
                assert server.poll() is None
                time.sleep(0.1)
        assert code == 200 and json.loads(body)["n_pulls"] == 0
        (ticket,) = json.loads(fetch(f"{here}/api/studies/dose/ask", {})[1])
        assert fetch(f"{here}/api/studies/dose/tell", {"token": ticket["token"], "outcome": [1.0]})[0] == 200
        # On a busy machine the answer of a moment ago may come first, marked as such.
        for _ in range(600):
            n_pulls = json.loads(fetch(f"{here}/api/studies/dose/status")[1])["n_pulls"]
            if n_pulls:
                break
            time.sleep(0.1)
        assert n_pulls == 1
        assert b"<html" in fetch(f"{here}/")[1]
    finally:
        server.terminate()
        assert server.wait(30) in (0, -15)


def test_an_experiment_in_frames():
    pandas = pytest.importorskip("pandas")
    from prepex import Experiment, Gaussian

    experiment = Experiment(2, ("gain", "cost"), family=Gaussian(variance=1.0), minimise=("cost",))
    experiment.tell_log([0, 1], pandas.DataFrame({"cost": [1.0, 2.0], "gain": [3.0, 4.0]}))
    assert experiment.means.tolist() == [[3.0, 1.0], [4.0, 2.0]]


def test_the_version():
    done = subprocess.run([sys.executable, "-m", "prepex", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("prepex ")
