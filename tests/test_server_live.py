"""A server that runs: names as a network carries them, raw requests, and the command line."""

import json
import socket
import threading
import time
import urllib.request
from urllib.error import HTTPError
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from prepex import Gaussian, Study
from prepex.cli import app as commands
from prepex.server.app import make_app, make_server

SETTINGS = {"arms": ("low", "high"), "objectives": ("gain",), "family": Gaussian(variance=1.0)}


@pytest.fixture
def address(tmp_path):
    """(host, port, storage)"""
    storage = str(tmp_path / "trials.db")
    server = make_server(make_app(storage, patience=0.5), host="127.0.0.1", port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield "127.0.0.1", port, storage
    server.should_exit = True
    thread.join()


def fetch(address, path):
    host, port, _ = address
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{path}") as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.parametrize(
    "names", [("100%", "100%25", "100%2525"), ("a%2Fb", "a/b", "a%252Fb"), ("a/status", "a", "é 漢/🙂")], ids=str
)
def test_names_are_decoded_once(address, names):
    for name in names:
        Study.create(address[2], name, **SETTINGS).close()
    for name in names:
        for place in (quote(name, safe=""), "/".join(quote(part, safe="") for part in name.split("/"))):
            code, body = fetch(address, f"/api/studies/{place}/status")
            assert code == 200 and json.loads(body)["name"] == name
    for place in ("%00", "%ff", "..", "%2e%2e", "a%0d%0ab"):
        assert fetch(address, f"/api/studies/{place}/status")[0] == 404


def raw(address, text):
    """The first line of the answer to bytes as they are."""
    with socket.create_connection(address[:2], timeout=10) as wire:
        wire.sendall(text)
        found = b""
        while b"\r\n" not in found and (more := wire.recv(4096)):
            found += more
    return found.partition(b"\r\n")[0]


def test_raw_requests(address):
    Study.create(address[2], "dose", **SETTINGS).close()
    post = b"POST /api/studies/dose/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    chunk = b"%x\r\n" % 60_000 + b"x" * 60_000 + b"\r\n"
    assert b" 413 " in raw(address, post + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 2)
    assert b" 413 " in raw(address, post + b"Content-Length: 99999999999\r\n\r\n")
    assert b" 408 " in raw(address, post + b"Content-Length: 8\r\n\r\n{")
    assert b" 200 " in raw(address, post + b"Content-Length: 2\r\n\r\n{}")
    for bad in (
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ):
        assert b" 400 " in raw(address, post + bad)
    assert b" 403 " in raw(address, b"GET /api/studies HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert b" 40" in raw(address, b"GET /api/studies HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 200_000 + b"\r\n\r\n")
    assert fetch(address, "/api/studies")[0] == 200


def test_from_a_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        done = CliRunner().invoke(commands, words)
        assert done.exit_code == code, done.output
        return done.output

    assert run("token", "Ada", "owner").startswith("prepex_")
    run("token", "site A", "worker", "--study", "doses", "--study", "other", "--days", "30")
    shown = run("tokens").splitlines()
    assert shown[0] == "Ada: owner of all studies" and shown[1].startswith(
        "site A: worker of 'doses', 'other', until 2"
    )
    rows = json.loads(run("tokens", "--format", "json"))
    assert [row["studies"] for row in rows] == [None, ["doses", "other"]] and "hash" not in rows[0]
    assert "days must be above 0" in run("token", "x", "worker", "--days", "-1", code=2)
    assert "took the token of Ada away" in run("token", "Ada", "none")
    assert "host must be this machine" in run("serve", "--host", "0.0.0.0", code=2)
