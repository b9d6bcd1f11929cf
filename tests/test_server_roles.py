"""Who may do what, over every route that there is."""

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from prepex import Gaussian, Study
from prepex.server.access import ROLES, Keys
from prepex.server.app import make_app

SECRET = "xyzzy"
BASE = "/api/studies/{name}"
# The least role for every operation. A new route must be written down here.
NEEDS = {
    ("get", "/api/me"): "observer",
    ("get", "/api/changes"): "observer",
    ("get", "/api/studies"): "observer",
    ("post", "/api/studies"): "owner",
    ("delete", BASE): "owner",
    ("get", BASE + "/status"): "observer",
    ("get", BASE + "/why"): "observer",
    ("get", BASE + "/forecast"): "observer",
    ("get", BASE + "/certificate"): "observer",
    ("get", BASE + "/view"): "observer",
    ("get", BASE + "/events"): "observer",
    ("get", BASE + "/events.jsonl"): "owner",
    ("get", BASE + "/observations.csv"): "observer",
    ("post", BASE + "/ask"): "worker",
    ("post", BASE + "/tell"): "worker",
    ("post", BASE + "/correct"): "owner",
    ("post", BASE + "/void"): "owner",
    ("post", BASE + "/extend"): "owner",
    ("post", BASE + "/under"): "observer",
    ("post", BASE + "/dialogue"): "observer",
}
SETTINGS = {"arms": ("low", "high"), "objectives": ("gain",), "family": Gaussian(variance=1.0), "max_pulls": 100_000}


def told_number(token):
    """It grows with every pull."""
    return int(token.partition("-")[0])


class World:
    """A server with two studies, and tokens of every role for all of them, and for the first alone."""

    def __init__(self, folder):
        self.storage = str(folder / "trials.db")
        self.study = Study.create(self.storage, "mine", **SETTINGS)
        hidden = SETTINGS | {"arms": (f"{SECRET} a", f"{SECRET} b"), "objectives": (f"{SECRET} gain",)}
        self.other = Study.create(self.storage, f"other {SECRET}", actor=SECRET, **hidden)
        self.other.ask(3, actor=SECRET)
        self.keys = Keys(folder / "keys.json")
        self.all = {role: self.keys.add(role, role) for role in ROLES}
        self.few = {role: self.keys.add(f"{role} of mine", role, studies=["mine", "new"]) for role in ROLES}
        self.app = make_app(self.storage, self.keys, burst=1e6)
        # Nobody waits for news here.
        self.app.state.feed.longest = 0.0

    def web(self, token=""):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return TestClient(self.app, base_url="http://lab.example.org", headers=headers)

    def request(self, web, method, path, name="mine"):
        """A request that is right in every other way."""
        told = self.study.ask(actor="a site")
        if path.endswith("correct"):
            self.study.tell(told.token, [1.0])
        if path.endswith(("under", "dialogue")):
            self.study.tell(told.token, [1.0])
            self.study.tell(self.study.ask(actor="a site").token, [0.0])
        body = {
            "/api/studies": {"name": "new", "arms": 2, "objectives": 1, "variance": 1.0},
            BASE + "/ask": {"n": 1},
            BASE + "/tell": {"token": told.token, "outcome": [1.0]},
            BASE + "/correct": {"token": told.token, "outcome": [2.0], "reason": "typo"},
            BASE + "/void": {"token": told.token, "reason": "lost"},
            BASE + "/extend": {"max_pulls": 200_000 + told_number(told.token), "reason": "a second grant"},
            BASE + "/under": {"cone": {"facets": [[1.0]]}},
            BASE + "/dialogue": {"statements": []},
        }.get(path)
        words = {"json": body} if method == "post" else {}
        if method == "delete":
            words["params"] = {"confirm": name}
        answer = web.request(method.upper(), path.replace("{name}", name), **words)
        self.study.void(told.token, reason="only a test") if method != "delete" else None
        return answer


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def operations(app):
    paths = app.openapi()["paths"]
    return {(method, path) for path, methods in paths.items() for method in methods}


def test_every_route_is_written_down(world):
    assert operations(world.app) == set(NEEDS)
    routes = [route for route in _routes(world.app) if route.path.startswith("/api")]
    assert {(m.lower(), r.path.replace(":path", "")) for r in routes for m in r.methods} == set(NEEDS)


def _routes(app):
    found, todo = [], list(app.router.routes)
    while todo:
        route = todo.pop()
        if isinstance(route, APIRoute):
            found.append(route)
        inner = getattr(route, "original_router", None)
        todo += list(getattr(inner, "routes", ()))
    return found


@pytest.mark.parametrize(("method", "path"), NEEDS, ids=lambda word: word.replace("/api/studies", ""))
def test_the_role_decides(world, method, path):
    least = NEEDS[method, path]
    with world.web() as web:
        assert world.request(web, method, path).status_code == 401
    before = [entry.name for entry in Study.list(world.storage)]
    for tokens in (world.all, world.few):
        for role in ROLES:
            if ROLES.index(role) < ROLES.index(least):
                with world.web(tokens[role]) as web:
                    answer = world.request(web, method, path)
                    assert answer.status_code == 403
                    assert answer.json()["detail"] == f"this needs the role {least}, got {role}"
    assert [entry.name for entry in Study.list(world.storage)] == before
    expected = 201 if (method, path) == ("post", "/api/studies") else 200
    with world.web(world.few[least]) as web:
        assert world.request(web, method, path).status_code == expected


@pytest.mark.parametrize(("method", "path"), [word for word in NEEDS if "{name}" in word[1]], ids=str)
def test_what_a_token_is_not_for_does_not_exist(world, method, path):
    for role in ROLES:
        with world.web(world.few[role]) as web:
            hidden = world.request(web, method, path, f"other {SECRET}")
            unknown = world.request(web, method, path, "nobody")
            assert (hidden.status_code, hidden.content) == (404, unknown.content)
            assert sorted(hidden.headers) == sorted(unknown.headers) and SECRET not in hidden.text
    assert world.other.status().events == 4


def test_lists_and_names(world):
    with world.web(world.few["owner"]) as web:
        assert [entry["name"] for entry in web.get("/api/studies").json()] == ["mine"]
        me = {"name": "owner of mine", "role": "owner", "studies": ["mine", "new"], "expires": None}
        assert web.get("/api/me").json() == me
        body = {"arms": 2, "objectives": 1, "variance": 1.0}
        for name in (f"other {SECRET}", "nobody"):
            answer = web.post("/api/studies", json=body | {"name": name})
            assert answer.status_code == 403 and "not for one of this name" in answer.json()["detail"]
        assert web.post("/api/studies", json=body | {"name": "new"}).status_code == 201
        assert web.post("/api/studies", json=body | {"name": "new"}).status_code == 409
    with world.web(world.all["observer"]) as web:
        assert len(web.get("/api/studies").json()) == 3 and web.get("/api/me").json()["studies"] is None


def test_observers_see_no_tokens_of_pulls(world):
    first, second = world.study.ask(2, actor="Leeds")
    world.study.tell(second.token, [1.0])
    paths = ("/status", "/why", "/certificate", "/events", "/observations.csv")
    for role, shown in (("observer", False), ("worker", True), ("owner", True)):
        with world.web(world.all[role]) as web:
            text = "".join(web.get(f"/api/studies/mine{path}").text for path in paths)
            assert (first.token in text, second.token in text) == (shown, shown)
            assert web.get("/api/studies/mine/status").json()["blocker"]["token"].partition("-")[0] == "1"
    with world.web(world.all["observer"]) as web:
        assert "waits for the pull 1 of low, asked for by Leeds" in web.get("/api/studies/mine/why").json()["why"]


def test_a_token_that_ends_or_is_taken_away(world, monkeypatch):
    from datetime import UTC, datetime, timedelta

    short = world.keys.add("guest", "observer", expires=datetime.now(UTC) + timedelta(hours=1))
    with world.web(short) as web:
        assert web.get("/api/me").json()["expires"] is not None

        class Later(datetime):
            @classmethod
            def now(cls, zone=None):
                return datetime.now(zone) + timedelta(hours=2)

        with monkeypatch.context() as patch:
            patch.setattr("prepex.server.access.datetime", Later)
            assert web.get("/api/me").status_code == 401
        assert web.get("/api/me").status_code == 200
        Keys(world.keys.path).remove("guest")
        assert web.get("/api/me").status_code == 401
    with pytest.raises(ValueError, match="expires must be in the future"):
        world.keys.add("late", "observer", expires=datetime.now(UTC))


def test_damaged_keys_stop_everything_and_say_nothing(world):
    world.keys.path.write_text('[{"name": "x", "role": "king", "hash": ""}]')
    with world.web(world.all["owner"]) as web:
        answer = web.get("/api/studies")
        assert answer.status_code == 503 and str(world.keys.path) not in answer.text
    world.keys.path.unlink()
    with world.web(world.all["owner"]) as web:
        assert web.get("/api/studies").status_code == 401
