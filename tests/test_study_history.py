"""The history of a study: the same however it is looked at, small however long the study is."""

import numpy as np
import pytest

from prepex import Gaussian, Study
from prepex.study import state
from prepex.study.history import POINTS
from prepex.study.state import State

MEANS = {"a": (-1.0, -1.0), "b": (1.0, 0.0), "c": (0.0, 1.0)}


@pytest.fixture
def study(tmp_path):
    return Study.create(tmp_path / "x.db", "x", arms=tuple(MEANS), objectives=2, family=Gaussian(variance=1.0))


def work(study, n, seed=0):
    rng, tokens = np.random.default_rng(seed), []
    for _ in range(n):
        if (ticket := study.ask()) is None:
            break
        study.tell(ticket.token, (MEANS[ticket.arm] + rng.standard_normal(2)).tolist())
        tokens.append(ticket.token)
    return tokens


def fresh(study, tmp_path):
    with Study.open(tmp_path / "x.db", "x") as another:
        return another.history()


def test_looking_often_or_once_is_the_same(study, tmp_path):
    for part in range(30):
        work(study, 7, seed=part)
        study.history()
    past, status = study.history(), study.status()
    assert past == fresh(study, tmp_path)
    assert past.points[-1][1:] == (status.reached, status.needed) and past.points[-1].n == status.n_pulls
    assert past.points[0].reached is None, "not every arm had been tried"


def test_a_changed_past_is_told_again(study, tmp_path):
    tokens = work(study, 60)
    before = study.history()
    study.correct(tokens[40], [3.0, 3.0], reason="typo")
    after = study.history()
    assert after == fresh(study, tmp_path) and after.points[:40] == before.points[:40] != after.points
    study.void(tokens[20], reason="broken")
    assert study.history() == fresh(study, tmp_path) and study.history().n_pulls == 59
    # Twice between two looks, the earlier outcome last.
    study.void(tokens[50], reason="broken")
    study.correct(tokens[5], [3.0, 3.0], reason="typo")
    assert study.history() == fresh(study, tmp_path) and study.history().n_pulls == 58


def import_many(tmp_path, n):
    rng, rows = np.random.default_rng(0), ["arm,gain"]
    rows += [f"{'ab'[k % 2]},{rng.standard_normal()!r}" for k in range(n)]
    (tmp_path / "old.csv").write_text("\n".join(rows))
    study = Study.create(tmp_path / "x.db", "x", arms=("a", "b"), objectives=("gain",), family=Gaussian(variance=1.0))
    study.import_csv(tmp_path / "old.csv")
    return study


def test_long_studies_have_few_points(tmp_path):
    study = import_many(tmp_path, 30_000)
    past = study.history()
    assert past == fresh(study, tmp_path) and past.n_pulls == 30_000 and study.verify().ok
    assert POINTS / 2 < len(past.points) <= POINTS + 1
    assert [point.n for point in past.points] == [256 * k for k in range(1, len(past.points))] + [30_000]


def test_many_at_once_and_one_by_one_are_the_same(study, tmp_path):
    work(study, 450)
    rows = [event.data["outcome"] for event in study.events() if event.kind == "told"]
    arms = [event.data["arm"] for event in study.events() if event.kind == "asked"]
    lines = ["arm,objective 0,objective 1"]
    lines += [f"{'abc'[arm]},{','.join(map(repr, row.values()))}" for arm, row in zip(arms, rows)]
    (tmp_path / "old.csv").write_text("\n".join(lines))
    again = Study.create(tmp_path / "y.db", "x", arms=tuple(MEANS), objectives=2, family=Gaussian(variance=1.0))
    again.import_csv(tmp_path / "old.csv")
    assert again.history() == study.history() and study.verify().ok


def test_a_fresh_process_does_not_replay(tmp_path, monkeypatch):
    past = import_many(tmp_path, 3000).history()

    def replay(*_):
        raise AssertionError("the checkpoint was to be used")

    monkeypatch.setattr(State, "replay", replay)
    told = []
    monkeypatch.setattr(state, "_tell", lambda _, entries, long: told.extend(entries))
    with Study.open(tmp_path / "x.db", "x") as another:
        assert another.history() == past and another.picture()["history"]["points"] == past.points
    assert told == []


def test_another_study_of_the_same_name(study, tmp_path):
    work(study, 20)
    assert study.history().n_pulls == 20
    Study.delete(tmp_path / "x.db", "x", confirm="x")
    Study.create(tmp_path / "x.db", "x", arms=("u", "v"), objectives=1, family=Gaussian(variance=1.0))
    assert study.history().n_pulls == 0
