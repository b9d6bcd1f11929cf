"""Bad requests, bad names, slow and fast clients, and storages that change or go away under a running server."""

import asyncio
import json
import logging
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from prepex import Gaussian, Study
from prepex.server.access import Keys
from prepex.server.app import make_app, serve
from prepex.study.check import check
from prepex.study.storage import Storage

SETTINGS = {"arms": ("low", "high"), "objectives": ("gain",), "family": Gaussian(variance=1.0)}
BODY = {"name": "new", "arms": ["low", "high"], "objectives": ["gain", "harm"], "variance": 0.25}


@pytest.fixture
def storage(tmp_path):
    path = str(tmp_path / "trials.db")
    Study.create(path, "dose", **SETTINGS).close()
    return path


def client(app, **headers):
    return TestClient(app, base_url="http://127.0.0.1:8000", headers=headers)


@pytest.fixture
def web(storage):
    with client(make_app(storage)) as found:
        yield found


# Creating


def test_a_study_is_created_as_the_library_does(web, storage):
    body = BODY | {"variance": [[1.0, 0.2], [0.2, 2.0]], "cone": {"angle": 120}, "minimise": ["harm"], "delta": 0.1}
    answer = web.post("/api/studies", json=body | {"rule": "frappe", "seed": 3, "max_pulls": 50, "lease": 60})
    assert answer.status_code == 201 and answer.json() == web.get("/api/studies/new/status").json()
    settings = web.get("/api/studies/new/certificate").json()["settings"]
    assert settings["labels"] == {"arms": ["low", "high"], "objectives": ["gain", "harm"], "minimise": ["harm"]}
    assert settings["family"]["covariance"] == [[1.0, 0.2], [0.2, 2.0]] and settings["delta"] == 0.1
    assert settings["sampling"]["name"] == "frappe" and settings["max_pulls"] == 50 and settings["seed"] == 3
    assert [event.actor for event in Study.open(storage, "new").events()] == ["local"]
    for k, cone in enumerate(({"facets": [[1, 0], [0, 1], [1, 1]]}, {"rays": [[1, 0], [0, 1]]}, None)):
        assert web.post("/api/studies", json=BODY | {"name": f"cone {k}", "cone": cone}).status_code == 201
    for threshold in ("certified", "heuristic", "kaufmann_koolen"):
        made = web.post("/api/studies", json=BODY | {"name": threshold, "threshold": threshold})
        assert made.status_code == 201 and made.json()["needed"] > 0
    counted = BODY | {"name": "counted", "arms": 3, "objectives": 2, "variance": [1.0, 2.0]}
    assert list(web.post("/api/studies", json=counted).json()["counts"]) == ["arm 0", "arm 1", "arm 2"]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"name": "dose"}, 409, "which exists already"),
        ({"delta": 2.0}, 400, "delta must be in (0, 1), got 2.0"),
        ({"variance": -1.0}, 400, "variance must be"),
        ({"variance": None}, 400, "variance or family must be given, got neither"),
        ({"family": ["bernoulli", "poisson"]}, 400, "variance or family must be given, got both"),
        ({"variance": None, "family": ["bernoulli"]}, 400, "families must be 2 = n_objectives, got 1"),
        ({"variance": None, "family": ["normal", "poisson"]}, 400, "family of 'gain' must be bernoulli"),
        ({"variance": [1.0, 1.0, 1.0]}, 400, "variance"),
        ({"variance": [[1.0, 2.0], [2.0, 1.0]]}, 400, "covariance"),
        ({"arms": ["a", "a"]}, 400, "arms must be different"),
        ({"arms": ["a", "a "]}, 400, "arms must differ by more than spaces"),
        ({"arms": ["low"]}, 400, "arms must be at least 2"),
        ({"minimise": ["other"]}, 400, "minimise must be one of 'gain', 'harm'"),
        ({"cone": {"angle": 400}}, 400, "degrees must be in (0, 180), got 400.0"),
        ({"cone": {"facets": [[1.0, 0.0, 0.0]]}}, 400, "cone"),
        ({"cone": {"rays": [[1, 0], [-1, 0], [0, 1]]}}, 400, "pointed"),
        ({"lease": 0}, 400, "lease must be in (0, 1e+09), got 0.0"),
        ({"max_pulls": 1}, 400, "max_pulls must be an integer of at least 2"),
        ({"arms": 10**6}, 422, "body.arms"),
        ({"arms": ["x"] * 1000}, 422, "body.arms"),
        ({"objectives": 100}, 422, "body.objectives"),
        ({"cone": {"rays": [[1.0, 0.0]] * 100}}, 422, "body.cone"),
        ({"cone": {"angle": 90, "rays": []}}, 422, "body.cone"),
        ({"seed": 10**30}, 422, "body.seed"),
        ({"rule": "oracle"}, 422, "body.rule"),
        ({"threshold": "own"}, 422, "body.threshold"),
        ({"other": 1}, 422, "body.other: Extra inputs are not permitted"),
        ({"name": "a/../b"}, 422, "no part '.' or '..'"),
        ({"name": "a\x00b"}, 422, "must be printable"),
        ({"name": "x" * 201}, 422, "at most 200"),
        ({"arms": ["a", "\x1b[31m"]}, 422, "must be printable"),
    ],
)
def test_bad_settings(web, storage, change, code, words):
    answer = web.post("/api/studies", json=BODY | change)
    assert answer.status_code == code and words in answer.json()["detail"]
    assert [entry.name for entry in Study.list(storage)] == ["dose"]


def test_delete_wants_the_name_once_more(web, storage):
    assert web.delete("/api/studies/dose").status_code == 422
    answer = web.delete("/api/studies/dose", params={"confirm": "Dose"})
    assert answer.status_code == 400 and "confirm must be the name of the study" in answer.json()["detail"]
    assert web.delete("/api/studies/dose", params={"confirm": "dose"}).json() == {"name": "dose"}
    assert web.delete("/api/studies/dose", params={"confirm": "dose"}).status_code == 404
    assert Study.list(storage) == []


# Names


NAMES = (
    ("a/status", "a"),
    ("a", "a/status"),
    ("a/status/status", "a/status"),
    ("x/events.jsonl", "x"),
    ("/leading", "trailing/"),
    ("a//b", "a/b"),
    ("ask?n=1#x", "ask"),
    ("dosis é 漢字 🙂", "dosis"),
    ("'; DROP TABLE prepex_studies; --", "x"),
    ("me", "studies"),
    ("  spaces  ", "spaces"),
)


@pytest.mark.parametrize(("name", "other"), NAMES)
def test_every_name_finds_its_own_study(web, name, other):
    from urllib.parse import quote

    for k, made in enumerate((name, other)):
        assert web.post("/api/studies", json=BODY | {"name": made, "arms": k + 2}).status_code == 201
    for k, made in enumerate((name, other)):
        for place in (quote(made, safe=""), "/".join(quote(part, safe="") for part in made.split("/"))):
            status = web.get(f"/api/studies/{place}/status").json()
            assert status["name"] == made and len(status["counts"]) == k + 2
            assert web.get(f"/api/studies/{place}/events").json()["events"][0]["data"]["name"] == made
    gone = web.delete(f"/api/studies/{quote(name, safe='')}", params={"confirm": name})
    assert gone.json() == {"name": name}
    assert {entry["name"] for entry in web.get("/api/studies").json()} == {"dose", other}


@pytest.mark.parametrize(
    "place", ["%00", "a%00b", "%ff%fe", "%ED%A0%80", "x" * 5000, "%0d%0aSet-Cookie:x", "", "%2e%2e"]
)
def test_names_that_cannot_be(web, place):
    for answer in (web.get(f"/api/studies/{place}/status"), web.post(f"/api/studies/{place}/ask", json={})):
        assert answer.status_code in (404, 405) and "set-cookie" not in answer.headers
    assert web.get(f"/api/studies/{place}/status/").status_code in (404, 405), "no redirects to guessed places"


# Bodies


BAD = {
    "not JSON": b"{'n': 1}",
    "cut": b'{"token": "1-0", "outcome": ',
    "empty": b"",
    "NaN": b'{"token": "1-0", "outcome": [NaN], "n": NaN}',
    "infinite": b'{"token": "1-0", "outcome": [-Infinity], "n": Infinity}',
    "overflow": b'{"token": "1-0", "outcome": [1e999], "n": 1e999}',
    "huge": b'{"token": "1-0", "outcome": [' + b"9" * 4000 + b'], "n": ' + b"9" * 4000 + b"}",
    "huger": b'{"n": ' + b"9" * 20_000 + b"}",
    "deep": b"[" * 30_000 + b"]" * 30_000,
    "deep objects": b'{"outcome":' * 5000 + b"1" + b"}" * 5000,
    "surrogates": b'{"token": "\\ud800", "outcome": {"\\udfff": 1}, "n": "\\ud800"}',
    "surrogate names": b'{"token": "1-0", "outcome": {"\\udfff": "x"}, "\\ud800": 1}',
    "null bytes": b'{"token": "\\u0000", "outcome": {"\\u0000": 1}, "reason": "\\u0000"}',
    "not UTF-8": b'{"token": "\xff\xfe"}',
    "another form": b"n=1&token=2",
    "true": b"true",
    "twice": b'{"n": 1, "n": "x"}',
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_bad_bodies(web, body):
    for path in ("/api/studies", *(f"/api/studies/dose/{what}" for what in ("ask", "tell", "correct", "void"))):
        for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
            answer = web.post(path, content=body, headers={"Content-Type": kind})
            assert answer.status_code in (400, 422) and isinstance(answer.json()["detail"], str)
            assert "Traceback" not in answer.text and len(answer.text) < 5000
    assert web.get("/api/studies/dose/status").json()["events"] == 1


def test_reasons_and_outcomes(web):
    (ticket,) = web.post("/api/studies/dose/ask", json={}).json()
    for outcome in ([1e200], {"gain": 1e101}, {}, [], [1, 2], {"other": 1}, {"\x00": 1}, {"g" * 5000: 1}):
        answer = web.post("/api/studies/dose/tell", json={"token": ticket["token"], "outcome": outcome})
        assert answer.status_code in (400, 422)
    for reason in ("", " ", "x" * 2001, "a\x1b[31m", "a\x00"):
        answer = web.post("/api/studies/dose/void", json={"token": ticket["token"], "reason": reason})
        assert answer.status_code == 422
    good = {"token": ticket["token"], "reason": "two\nlines, é"}
    assert web.post("/api/studies/dose/void", json=good).json() == {**good, "new": True}
    again = web.post("/api/studies/dose/void", json={**good, "reason": "another"})
    assert again.status_code == 200 and again.json() == {**good, "new": False}
    assert web.post("/api/studies/dose/ask", json={"n": 1, "key": "k"}).status_code == 200
    refused = web.post("/api/studies/dose/ask", json={"n": 2, "key": "k"})
    assert refused.status_code == 400 and "n must be 1 as in the first request with the key 'k', got 2" in refused.text


# Limits


def test_a_body_without_a_length_is_counted(storage):
    def pieces(n):
        yield b'{"n": 1, "x": "'
        for _ in range(n):
            yield b"x" * 100
        yield b'"}'

    with client(make_app(storage, largest=1000)) as web:
        kind = {"Content-Type": "application/json"}
        assert web.post("/api/studies/dose/ask", content=pieces(50), headers=kind).status_code == 413
        assert web.post("/api/studies/dose/ask", content=pieces(1), headers=kind).status_code == 422
        assert web.post("/api/studies/dose/ask", content=b"x" * 1001, headers=kind).status_code == 413
        assert web.post("/", content=pieces(50)).status_code == 413, "pages too"


def test_the_rate_is_that_of_the_holder(storage, tmp_path):
    keys = Keys(tmp_path / "keys.json")
    ada, bo = keys.add("ada", "observer"), keys.add("bo", "observer")
    app = make_app(storage, keys, rate=0.001, burst=3.0)

    def codes(token, n, **headers):
        with client(app, Authorization=f"Bearer {token}", **headers) as web:
            return [web.get("/api/me").status_code for _ in range(n)]

    assert codes(ada, 4) == [200, 200, 200, 429]
    assert codes(bo, 2) == [200, 200], "another holder at the same address"
    assert codes(ada, 1, **{"X-Forwarded-For": "192.0.2.7", "X-Real-IP": "192.0.2.7", "Forwarded": "for=x"}) == [429]
    assert codes("wrong", 4) == [401, 401, 401, 429], "guesses are those of the address"
    assert codes("wronger", 1) == [429]
    with client(app) as web:
        answer = web.get("/api/me")
        assert answer.status_code == 429 and answer.headers["Retry-After"] == "1"


async def talk(app, messages, path="/api/studies/dose/ask", **scope):
    """(status, body) of a request whose messages the test sends by hand."""
    sent, todo = [], list(messages)

    async def receive():
        if todo:
            return todo.pop(0)
        await asyncio.sleep(3600)

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:8000"), (b"content-type", b"application/json")]
    given = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    client = {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000), "scheme": "http", "http_version": "1.1"}
    await app({**given, **client, "headers": headers, "asgi": {"version": "3.0"}, **scope}, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return (sent[0]["status"], body) if sent else (None, b"")


def test_slow_and_lost_clients(storage):
    app = make_app(storage, patience=0.05)
    part = {"type": "http.request", "body": b'{"n": 1}', "more_body": True}
    assert asyncio.run(talk(app, [part]))[0] == 408
    # What a client that left had sent is not taken for the whole.
    assert asyncio.run(talk(app, [part, {"type": "http.disconnect"}])) == (None, b"")
    assert Study.open(storage, "dose").status().events == 1


def test_nobody_takes_all_the_threads(storage):
    app = make_app(storage, busy=2, patience=0.2)
    part = {"type": "http.request", "body": b"", "more_body": True}

    async def crowd():
        return await asyncio.gather(*(talk(app, [part]) for _ in range(5)))

    assert sorted(status for status, _ in asyncio.run(crowd())) == [408, 408, 429, 429, 429]
    assert asyncio.run(talk(app, [part]))[0] == 408, "and they are given back"


# Other sites


def test_requests_of_other_pages(storage):
    with client(make_app(storage)) as web:
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:9999"},
            {"Host": "evil.example"},
            {"Host": "127.0.0.1.evil.example"},
            {"Host": "127.0.0.1@evil.example"},
            {"Host": ""},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            for answer in (
                web.get("/api/studies", headers=headers),
                web.post("/api/studies", json=BODY, headers=headers),
            ):
                assert answer.status_code == 403 and "access-control-allow-origin" not in answer.headers
        for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Host": "localhost:8000"}, {"Host": "[::1]:8000"}):
            assert web.get("/api/studies", headers=headers).status_code == 200
        assert web.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200, "a link from elsewhere"
        asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        assert web.options("/api/studies", headers=asked).status_code == 403


def test_every_answer_is_guarded(storage):
    with client(make_app(storage)) as web:
        answers = [web.get(path) for path in ("/", "/docs", "/api/studies", "/api/none", "/none", "/openapi.json")]
        answers += [web.get("/api/studies", headers={"Host": "evil.example"}), web.post("/api/studies", json=1)]
        for answer in answers:
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer" and "server" not in answer.headers
            if "/api" in str(answer.url):
                assert answer.headers["Cache-Control"] == "no-store"


def test_the_reference_loads_nothing_from_elsewhere(web):
    page, script = web.get("/docs").text, web.get("/docs.js").text
    assert "://" not in page + script and "innerHTML" not in script and 'src="docs.js"' in page
    assert "<script>" not in page, "the policy allows none"


# Files


def test_files(web, storage, tmp_path):
    names = {"arms": ["=1+1", "-x", "@sum", "+y", "plain"], "objectives": ["=o", "p"]}
    web.post("/api/studies", json=BODY | {"name": "=files"} | names)
    study = Study.open(storage, "=files")
    first, second, third, *_ = study.ask(5, actor="=actor")
    study.tell_many([(first.token, [-1.5, 2.0]), (second.token, {"=o": 1.0}), (third.token, [1.0, 1.0])])
    study.correct(first.token, {"p": 3.0}, reason="typo", actor="bo")
    study.void(third.token, reason="lost")
    answer = web.get("/api/studies/=files/observations.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="observations.csv"'
    rows = [line.split(",") for line in answer.text.split("\r\n")]
    assert rows[0] == ["pull", "arm", "state", "asked", "asked by", "told", "told by", "n", "'=o", "p"]
    assert [row[:3] for row in rows[1:6]] == [
        ["1", "'=1+1", "told"],
        ["2", "'-x", "partly"],
        ["3", "'@sum", "voided"],
        ["4", "'+y", "out"],
        ["5", "plain", "out"],
    ]
    assert rows[1][4] == "'=actor" and rows[1][6:] == ["bo", "1", "-1.5", "3.0"] and rows[3][8:] == ["", ""]
    log = web.get("/api/studies/=files/events.jsonl")
    study.export(tmp_path / "log.jsonl")
    assert log.text == (tmp_path / "log.jsonl").read_text()
    assert check(web.get("/api/studies/=files/certificate").json(), log.text.splitlines(keepends=True)).ok


def test_long_files_come_in_pieces(web, storage, monkeypatch):
    study = Study.open(storage, "dose")
    for _ in range(10):
        study.tell_many([(ticket.token, [0.5]) for ticket in study.ask(5)])

    def files():
        return [web.get(f"/api/studies/dose/{name}").text for name in ("events.jsonl", "observations.csv")]

    whole = files()
    assert len(whole[0].splitlines()) == 101 and len(whole[1].splitlines()) == 51
    for piece in (1, 7, 100, 101):
        monkeypatch.setattr("prepex.server.downloads.PIECE", piece)
        assert files() == whole
    found, after = [], -1
    while True:
        page = web.get("/api/studies/dose/events", params={"after": after, "limit": 30}).json()
        found += page["events"]
        if not page["more"]:
            break
        after = page["events"][-1]["position"]
    assert [event["position"] for event in found] == list(range(101))
    assert found[-1]["hash"] == web.get("/api/studies/dose/status").json()["head"]
    beyond = web.get("/api/studies/dose/events", params={"after": 10**15}).json()
    assert beyond == {"events": [], "arms": {}, "more": False}
    for bad in ({"after": -2}, {"limit": 0}, {"limit": 1001}, {"after": "x"}, {"after": 10**30}):
        assert web.get("/api/studies/dose/events", params=bad).status_code == 422


def test_a_file_never_mixes_two_studies(web, storage, monkeypatch):
    monkeypatch.setattr("prepex.server.downloads.PIECE", 2)
    from prepex.server import downloads
    from prepex.study.log import NoStudyError

    study = Study.open(storage, "dose")
    study.ask(6)
    for make in (downloads.log_lines, downloads.table):
        pieces = make(Study.open(storage, "dose"))
        next(pieces), next(pieces)
        Study.delete(storage, "dose", confirm="dose")
        Study.create(storage, "dose", **SETTINGS | {"arms": ("other", "another")}).ask(9)
        with pytest.raises(NoStudyError):
            list(pieces)


# Storages that change under the server


def test_a_study_that_was_deleted_and_made_anew(web, storage):
    base = "/api/studies/dose"
    for ticket in web.post(f"{base}/ask", json={"n": 4}).json():
        web.post(f"{base}/tell", json={"token": ticket["token"], "outcome": [1.0]})
    assert web.get(f"{base}/status").json()["n_pulls"] == 4
    Study.delete(storage, "dose", confirm="dose")
    for path in ("status", "why", "certificate", "events", "events.jsonl", "observations.csv"):
        assert web.get(f"{base}/{path}").status_code == 404
    assert web.post(f"{base}/ask", json={}).status_code == 404
    # A log of the same length, a longer and a shorter one; SQLite gives the same number to the next study.
    for pulls in (8, 20, 0):
        Study.create(storage, "dose", **SETTINGS | {"arms": ("x", "y", "z")}).ask(pulls) if pulls else Study.create(
            storage, "dose", **SETTINGS | {"arms": ("x", "y", "z")}
        )
        status = web.get(f"{base}/status").json()
        assert list(status["counts"]) == ["x", "y", "z"] and status["n_pulls"] == 0 and status["out"] == pulls
        (ticket,) = web.post(f"{base}/ask", json={}).json()
        assert ticket["arm"] in "xyz"
        assert Study.open(storage, "dose").verify().ok
        Study.delete(storage, "dose", confirm="dose")


def test_another_study_under_the_number_of_a_deleted_one(web, storage):
    assert web.get("/api/studies/dose/status").status_code == 200
    opened = Study.open(storage, "dose")
    opened.status()
    Study.delete(storage, "dose", confirm="dose")
    Study.create(storage, "secret", **SETTINGS).ask(3)
    assert web.get("/api/studies/dose/status").status_code == 404
    with pytest.raises(ValueError, match="one that has been deleted"):
        opened.status()


def test_deleting_while_others_work(storage):
    app, codes = make_app(storage, burst=1e6), []

    def work():
        with client(app) as web:
            for _ in range(15):
                answer = web.post("/api/studies/dose/ask", json={})
                codes.append(answer.status_code)
                for ticket in answer.json() if answer.status_code == 200 else ():
                    told = {"token": ticket["token"], "outcome": [0.1]}
                    codes.append(web.post("/api/studies/dose/tell", json=told).status_code)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    with client(app) as web:
        for _ in range(5):
            codes.append(web.delete("/api/studies/dose", params={"confirm": "dose"}).status_code)
            codes.append(web.post("/api/studies", json=BODY | {"name": "dose", "objectives": ["gain"]}).status_code)
    for thread in threads:
        thread.join()
    assert set(codes) <= {200, 201, 400, 404} and codes.count(200) > 5
    assert Study.open(storage, "dose").verify().ok


def test_on_postgresql(postgres):
    for overview in Study.list(postgres):
        Study.delete(postgres, overview.name, confirm=overview.name)
    with client(make_app(postgres)) as web:
        assert web.post("/api/studies", json=BODY | {"name": "a/é"}).status_code == 201
        assert web.post("/api/studies", json=BODY | {"name": "a/é"}).status_code == 409
        (ticket,) = web.post("/api/studies/a/é/ask", json={}).json()
        told = {"token": ticket["token"], "outcome": {"gain": 1.0, "harm": 2.0}}
        assert web.post("/api/studies/a/é/tell", json=told).json()["new"]
        assert web.post("/api/studies/a/é/correct", json=told | {"outcome": {"gain": 3.0}, "reason": "x"}).is_success
        assert "1,low,told," in web.get("/api/studies/a/é/observations.csv").text
        assert len(web.get("/api/studies/a/é/events.jsonl").text.splitlines()) == 4
        for place in ("%00", "a%00b", "%ED%A0%80", "'; DROP TABLE prepex_events; --"):
            assert web.get(f"/api/studies/{place}/status").status_code == 404
        for k in range(3):
            Study.delete(postgres, "a/é", confirm="a/é")
            assert web.get("/api/studies/a/é/status").status_code == 404
            Study.create(postgres, "a/é", **SETTINGS).ask(5 * k + 1)
            assert web.get("/api/studies/a/é/status").json()["out"] == 5 * k + 1


def test_a_storage_that_is_gone(web, storage):
    assert web.get("/api/studies/dose/status").status_code == 200
    moved = Path(storage).rename(storage + ".moved")
    for answer in (
        web.get("/api/studies"),
        web.get("/api/studies/dose/status"),
        web.get("/api/studies/dose/events.jsonl"),
        web.post("/api/studies/dose/ask", json={}),
        web.post("/api/studies", json=BODY),
        web.delete("/api/studies/dose", params={"confirm": "dose"}),
    ):
        assert answer.status_code == 503
        assert answer.json() == {"detail": "the storage cannot be used at the moment"}
    Path(storage).write_text("another file")
    assert web.get("/api/studies/dose/status").status_code == 503
    Path(storage).unlink()
    moved.rename(storage)
    assert web.get("/api/studies/dose/status").json()["events"] == 1


@pytest.mark.parametrize(
    "error",
    [
        sa.exc.OperationalError("SELECT secret", {}, Exception("no route to postgresql://lab:secret@db/trials")),
        sa.exc.ProgrammingError("SELECT secret", {}, Exception("secret")),
        sa.exc.DataError("SELECT secret", {}, Exception("secret")),
        OSError("/srv/secret.db"),
        PermissionError("/srv/secret.db"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_goes_wrong_inside_stays_inside(web, monkeypatch, error):
    @contextmanager
    def broken(self):
        raise error
        yield

    monkeypatch.setattr(Storage, "reading", broken)
    monkeypatch.setattr(Storage, "writing", broken)
    for answer in (web.get("/api/studies"), web.get("/api/studies/dose/status"), web.post("/api/studies", json=BODY)):
        assert answer.status_code == 503 and "secret" not in answer.text


def test_a_bug_says_nothing(storage, monkeypatch, caplog):
    monkeypatch.setattr(Study, "standing", lambda self: {}["secret"])
    with client(make_app(storage)) as web:
        answer = web.get("/api/studies/dose/status")
        assert answer.status_code == 500 and answer.json() == {"detail": "something went wrong inside the server"}
        assert "Content-Security-Policy" in answer.headers
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == ["a bug of the server"]


@pytest.mark.parametrize("error", [ValueError("secret"), OverflowError("secret"), UnicodeError("secret")])
def test_an_internal_value_error_is_the_servers_fault(storage, monkeypatch, error):
    """A 400 would blame the user."""

    def broken(*_, **__):
        raise error

    token = Study.open(storage, "dose").ask().token
    monkeypatch.setattr(Study, "tell_many", broken)
    with client(make_app(storage)) as web:
        answer = web.post("/api/studies/dose/tell", json={"token": token, "outcome": [0.5]})
        assert answer.status_code == 500 and "secret" not in answer.text


def test_keys_that_others_may_write(storage, tmp_path):
    keys = Keys(tmp_path / "keys.json")
    keys.add("ada", "owner")
    keys.path.chmod(0o620)
    with pytest.raises(ValueError, match="must be writable by its owner alone, got the mode 620"):
        serve(storage, host="127.0.0.1", port=1, keys=keys)
    assert [json.loads(keys.path.read_text())[0]["name"]] == ["ada"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("keys")] == ["keys.json"]


# Bodies


def test_a_name_that_is_there_twice_is_refused(web, storage):
    one, two = (ticket["token"] for ticket in web.post("/api/studies/dose/ask", json={"n": 2}).json())
    text = f'{{"token": "{one}", "token": "{two}", "outcome": [1.0]}}'
    deep = f'{{"token": "{one}", "outcome": {{"gain": 1.0, "gain": 2.0}}}}'
    for body, name in ((text, "token"), (deep, "gain")):
        answer = web.post("/api/studies/dose/tell", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["detail"] == f"body must have every name once, got {name!r} 2 times"
    assert all(event.kind != "told" for event in Study.open(storage, "dose").events())
    assert web.post("/api/studies/dose/tell", json={"token": one, "outcome": [1.0]}).status_code == 200


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({"gain": "1.2"}, "body.outcome.gain: must be true or false, or must be a number"),
        ([None], "body.outcome.0: must be true or false, or must be a number"),
        (5, "body.outcome: must be an object of names and values, or must be a list"),
    ],
)
def test_an_outcome_of_the_wrong_kind_is_refused_in_words(web, outcome, words):
    answer = web.post("/api/studies/dose/tell", json={"token": "1-00000000", "outcome": outcome})
    assert answer.status_code == 422 and answer.json()["detail"] == words
