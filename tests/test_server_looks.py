"""Over HTTP: a study under another cone, and the dialogue that finds one."""

import numpy as np
import pytest
from fastapi.testclient import TestClient

from prepex import Cone, Dialogue, Gaussian, LogNormal, Product, Study
from prepex.server.app import make_app

MEANS = {"a": (3.0, 5.0), "b": (2.0, 2.0), "c": (0.0, 1.0), "d": (0.5, 6.0)}


def make(tmp_path, family=None, noise=0.01, n=12):
    storage = str(tmp_path / "s.db")
    study = Study.create(
        storage, "s", arms=tuple(MEANS), objectives=("gain", "cost"), minimise=("cost",),
        family=family or Gaussian(variance=noise), delta=0.1, max_pulls=1000,
    )  # fmt: skip
    rows = "".join(f"{arm},{gain},{cost}\n" for _ in range(n) for arm, (gain, cost) in MEANS.items())
    (tmp_path / "t.csv").write_text("arm,gain,cost\n" + rows)
    study.import_csv(tmp_path / "t.csv")
    return study, TestClient(make_app(storage), base_url="http://127.0.0.1")


def test_a_study_under_another_cone(tmp_path):
    study, web = make(tmp_path)
    before = study.certificate()
    for body, cone in (
        ({"angle": 90.0}, Cone.angle(90)),
        ({"angle": 150.0}, Cone.angle(150)),
        ({"facets": [[1.0, 0.2], [0.2, 1.0]]}, Cone.from_facets([[1, 0.2], [0.2, 1]])),
        ({"rays": [[1.0, 0.0], [0.0, 1.0]]}, Cone.orthant(2)),
    ):
        found = web.post("/api/studies/s/under", json={"cone": body}).json()
        assert found["states"] == study.under(cone)
        mask = cone.pareto_mask(np.array(list(MEANS.values())) * (1, -1))
        assert found["looks"] == [name for name, optimal in zip(MEANS, mask, strict=True) if optimal]
        assert found["words"] == cone.words(("gain", "cost"), minimise=("cost",))
        assert "at least 90 %" in found["promise"] and "untouched" in found["promise"]
        assert "may be open here" in found["promise"]
    assert study.certificate() == before and study.status().events == before["log"]["events"]


def test_a_dialogue_is_that_of_the_library(tmp_path):
    study, web = make(tmp_path)
    rows = list(MEANS.values())
    talk = Dialogue(rows, arms=tuple(MEANS), objectives=("gain", "cost"), minimise=("cost",))
    said = []
    for answer in ("left", "neither", "right", "left"):
        found = web.post("/api/studies/s/dialogue", json={"statements": said}).json()
        pair = talk.question()
        assert found["left"] == list(talk.left) and np.allclose(found["facets"], talk.cone.facets)
        assert found["words"] == talk.cone.words(minimise=("cost",))
        if pair is None:
            assert found["question"] is None
            break
        one, other = found["question"]
        assert (one["arm"], other["arm"]) == pair and np.allclose(one["mean"], MEANS[pair[0]])
        talk.say(*pair, answer)
        first, second = (other, one) if answer == "right" else (one, other)
        said.append({"one": first["mean"], "other": second["mean"], "clear": answer != "neither"})
    assert said and study.status().events == study.certificate()["log"]["events"]


def test_a_contradiction_is_named_by_its_places(tmp_path):
    _, web = make(tmp_path)
    said = [{"one": [3, 5], "other": [2, 2]}, {"one": [2, 1], "other": [0, 1]}, {"one": [2, 2], "other": [3, 5]}]
    found = web.post("/api/studies/s/dialogue", json={"statements": said}).json()
    assert found == {"clash": [0, 2], "question": None, "left": [], "words": "", "facets": []}


def test_times_are_compared_by_factors(tmp_path):
    _, web = make(tmp_path, Product([Gaussian(variance=0.01), LogNormal()]))
    found = web.post("/api/studies/s/dialogue", json={"statements": [{"one": [3, 5], "other": [2, 2]}]}).json()
    ahead = np.array([1.0, -np.log(5 / 2)])
    cone = Cone.from_facets(found["facets"])
    assert cone.contains(ahead) and not cone.contains(ahead - (0.01, 0.0)) and "logarithms" in found["words"]
    assert (
        web.post("/api/studies/s/dialogue", json={"statements": [{"one": [3, -5], "other": [2, 2]}]}).status_code == 400
    )


@pytest.mark.parametrize(
    ("path", "body", "code", "words"),
    [
        ("under", {"cone": {"angle": 190.0}}, 400, "degrees"),
        ("under", {"cone": {"facets": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}}, 400, "over 2"),
        ("under", {"cone": {"angle": "90"}}, 422, "angle"),
        ("under", {}, 422, "cone"),
        ("dialogue", {"statements": [{"one": [1.0], "other": [2.0]}]}, 400, "2 = n_objectives values a side, got 1"),
        ("dialogue", {"statements": [{"one": [1e300, 0], "other": [-1e300, 1]}]}, 400, "at most 1e+50"),
        ("dialogue", {"statements": [{"one": [1, 0], "other": [1, 0]}]}, 400, "two different outcomes"),
        ("dialogue", {"statements": [{"one": [1, 0], "other": [0, 1], "clear": "yes"}]}, 422, "clear"),
        ("dialogue", {"statements": [{"one": [1, 0], "other": [0, 1]}] * 201}, 422, "200"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_refused(tmp_path, path, body, code, words):
    _, web = make(tmp_path)
    answer = web.post(f"/api/studies/s/{path}", json=body)
    assert answer.status_code == code and words in answer.json()["detail"], answer.text


def test_before_every_arm_was_tried(tmp_path):
    storage = str(tmp_path / "s.db")
    Study.create(storage, "s", arms=("a", "b"), objectives=("x", "y"), family=Gaussian(variance=1.0))
    web = TestClient(make_app(storage), base_url="http://127.0.0.1")
    for path, body in (("under", {"cone": {"angle": 90.0}}), ("dialogue", {})):
        answer = web.post(f"/api/studies/s/{path}", json=body)
        assert answer.status_code == 400 and "every arm must have been tried" in answer.json()["detail"]
