"""The server: endpoints, roles, limits, and pages."""

import stat

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from prepex import Gaussian, Study
from prepex.cli import app as commands
from prepex.sampling import PSIPS
from prepex.server import pages
from prepex.server.access import Keys
from prepex.server.app import make_app, serve
from prepex.study.check import check


@pytest.fixture
def storage(tmp_path):
    path = str(tmp_path / "trials.db")
    settings = {"arms": ("low", "high"), "objectives": ("gain",), "family": Gaussian(variance=0.01)}
    Study.create(path, "a/b c", **settings).close()
    return path


def client(app, **headers):
    return TestClient(app, base_url="http://127.0.0.1:8000", headers=headers)


def test_a_study_from_beginning_to_end(storage):
    with client(make_app(storage)) as web:
        assert [entry["name"] for entry in web.get("/api/studies").json()] == ["a/b c"]
        base = "/api/studies/a/b%20c"
        while tickets := web.post(f"{base}/ask", json={"n": 2}).json():
            for ticket in tickets:
                outcome = {"gain": 1.0 if ticket["arm"] == "high" else 0.0}
                assert web.post(f"{base}/tell", json={"token": ticket["token"], "outcome": outcome}).json()["new"]
        status = web.get(f"{base}/status").json()
        assert status["done"] and status["recommendation"]["arms"] == ["high"]
        assert "Stopped after" in web.get(f"{base}/why").json()["why"]
        assert check(web.get(f"{base}/certificate").json()).ok
        token = tickets[0]["token"] if tickets else "1-00000000"
        assert web.post(f"{base}/void", json={"token": token, "reason": "x"}).status_code == 400


def test_refusals(storage):
    with client(make_app(storage)) as web:
        base = "/api/studies/a/b%20c"
        (ticket,) = web.post(f"{base}/ask", json={}).json()
        told = {"token": ticket["token"], "outcome": [1.0]}
        web.post(f"{base}/tell", json=told)
        answer = web.post(f"{base}/tell", json=told | {"outcome": [2.0]})
        assert answer.status_code == 400 and "gain = 1.0, got gain = 2.0" in answer.json()["detail"]
        assert web.post(f"{base}/correct", json=told | {"outcome": [2.0], "reason": "typo"}).status_code == 200
        assert web.get("/api/studies/none/status").status_code == 404
        for body in ({"n": 0}, {"n": 10**9}, {"n": "x"}, [], None):
            assert web.post(f"{base}/ask", json=body).status_code == 422
        for outcome in ("x", {"gain": "x"}, None, {"gain": None}):
            assert web.post(f"{base}/tell", json=told | {"outcome": outcome}).status_code == 422
        assert web.post(f"{base}/tell", json=told | {"outcome": {"other": 1.0}}).status_code == 400
        assert web.get("/openapi.json").json()["info"]["title"] == "prepex"


def test_other_sites_are_refused(storage):
    with client(make_app(storage)) as web:
        assert web.get("/api/studies", headers={"Origin": "http://evil.example"}).status_code == 403
        assert web.get("/api/studies", headers={"Origin": "http://127.0.0.1:8000"}).status_code == 200
        assert web.get("/api/studies", headers={"Host": "evil.example"}).status_code == 403


def test_roles(storage, tmp_path):
    keys = Keys(tmp_path / "keys.json")
    tokens = {role: keys.add(f"the {role}", role) for role in ("observer", "worker", "owner")}
    text = keys.path.read_text()
    assert not any(token in text for token in tokens.values()), "only hashes are kept"
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    base, app = "/api/studies/a/b%20c", make_app(storage, keys)
    expected = {"observer": (200, 403, 403), "worker": (200, 200, 403), "owner": (200, 200, 400)}
    for role, codes in expected.items():
        with client(app, Authorization=f"Bearer {tokens[role]}") as web:
            void = web.post(f"{base}/void", json={"token": "9-0", "reason": "x"})
            found = web.get(f"{base}/status"), web.post(f"{base}/ask", json={}), void
            assert tuple(answer.status_code for answer in found) == codes
    for header in ("", "Bearer", "Bearer x", f"Basic {tokens['owner']}"):
        with client(app, Authorization=header) as web:
            assert web.get(f"{base}/status").status_code == 401
    assert [event.actor for event in Study.open(storage, "a/b c").events()] == ["", "the worker", "the owner"]
    keys.remove("the owner")
    assert keys.find(tokens["owner"]) is None


def test_limits(storage):
    with client(make_app(storage, rate=0.001, burst=3.0, largest=1000)) as web:
        body = {"token": "1-0", "outcome": {"gain": 1.0}, "more": "x" * 2000}
        assert web.post("/api/studies/a/b%20c/tell", json=body).status_code == 413
        codes = [web.get("/api/studies").status_code for _ in range(4)]
        assert codes == [200, 200, 429, 429]


def test_pages(storage):
    with client(make_app(storage)) as web:
        page = web.get("/")
        assert page.status_code == 200 and "Content-Security-Policy" in page.headers
        assert "http" not in page.text, "nothing is loaded from elsewhere"
        scripts = [web.get(f"/static/{path.name}").text for path in pages.FOLDER.glob("*.js")]
        assert len(scripts) > 8
        assert not any(word in text for text in scripts for word in ("innerHTML", "http:", "eval("))
        for name in ("none.js", "..%2Fapp.py", "%2Fetc%2Fpasswd"):
            assert web.get(f"/static/{name}").status_code == 404
        assert len(web.get("/plotly.js").text) > 1_000_000
        assert len(web.get("/plotly.js", headers={"Accept-Encoding": "identity"}).text) > 1_000_000


def test_beyond_this_machine_only_with_tokens(storage, tmp_path):
    with pytest.raises(ValueError, match=r"host must be this machine where there are no tokens, got '0.0.0.0'"):
        serve(storage, host="0.0.0.0", port=1, keys=None)
    with pytest.raises(ValueError, match="keys must hold at least one token"):
        serve(storage, host="0.0.0.0", port=1, keys=Keys(tmp_path / "none.json"))


def test_tokens_from_a_shell(tmp_path):
    path, runner = tmp_path / "keys.json", CliRunner()
    shown = runner.invoke(commands, ["token", "ada", "worker", "--keys", str(path)])
    assert Keys(path).find(shown.output.strip()).role == "worker"
    for words in (["ada", "worker"], ["bo", "king"], ["nobody", "none"]):
        assert runner.invoke(commands, ["token", *words, "--keys", str(path)]).exit_code == 2
    assert runner.invoke(commands, ["token", "ada", "none", "--keys", str(path)]).exit_code == 0
    assert Keys(path).holders() == ()


def test_the_view_of_a_study(storage, tmp_path):
    keys = Keys(tmp_path / "keys.json")
    tokens = {role: keys.add(f"the {role}", role) for role in ("observer", "worker")}
    app, place = make_app(storage, keys), "/api/studies/a/b%20c/view"
    study = Study.open(storage, "a/b c")
    first, second = study.ask(2, actor="site A")
    study.tell(second.token, [1.0])
    with client(app, Authorization=f"Bearer {tokens['worker']}") as web:
        answer = web.get(place)
        view, tag = answer.json(), answer.headers["etag"]
        assert [pull["token"] for pull in view["pulls"]] == [first.token, second.token]
        assert [pull["state"] for pull in view["pulls"]] == ["out", "waits"] and first.token in view["why"]
        assert view["arms"][0]["radius"] is None and view["history"]["points"] == []
        assert web.get(place, headers={"If-None-Match": tag}).status_code == 304
        study.tell(first.token, [0.0])
        view = web.get(place, headers={"If-None-Match": tag}).json()
        assert [arm["mean"] for arm in view["arms"]] == [[0.0], [1.0]]
        assert [point[0] for point in view["history"]["points"]] == [1, 2]
    study.ask()
    with client(app, Authorization=f"Bearer {tokens['observer']}") as web:
        masked = web.get(place)
        assert [pull["token"] for pull in masked.json()["pulls"]] == ["5"], "a number, but no token"
    with client(app, Authorization=f"Bearer {tokens['worker']}") as web:
        assert web.get(place, headers={"If-None-Match": masked.headers["etag"]}).status_code == 200


@pytest.mark.parametrize("threshold", ["heuristic", "kaufmann_koolen", "certified", "own"])
@pytest.mark.parametrize("arms", [2, 3])
def test_every_study_has_a_view_at_every_time(tmp_path, threshold, arms):
    storage, rule = str(tmp_path / "x.db"), PSIPS() if threshold == "own" else None
    settings = {"arms": arms, "objectives": 2, "family": Gaussian(variance=1.0), "max_pulls": 20}
    study = Study.create(storage, "x", threshold=threshold, sampling=rule, **settings)
    with client(make_app(storage)) as web:
        for n in range(21):
            view = web.get("/api/studies/x/view").json()
            assert view["n_pulls"] == view["history"]["n_pulls"] == n
            if (ticket := study.ask()) is None:
                break
            study.tell(ticket.token, [float(n % 3), float(n % 2)])
        study.report(tmp_path / "report.html")
    assert "<svg" in (tmp_path / "report.html").read_text()
