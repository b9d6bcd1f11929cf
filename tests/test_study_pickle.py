"""A study goes to other processes by name; they open it themselves."""

import copy
import multiprocessing
import pickle

import joblib
import pytest

from prepex import Gaussian, InputError, Study
from prepex.study import storage as storages


@pytest.fixture
def study(tmp_path):
    return Study.create(
        tmp_path / "trials? #1 100%.db", "dose", arms=("a", "b"), objectives=("x",), family=Gaussian(variance=1.0)
    )


def work(study, value):
    ticket = study.ask(actor=f"worker {value}")
    study.tell(ticket.token, [float(value)])
    return ticket.token


def test_processes_that_share_nothing(study):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        tokens = pool.starmap(work, [(study, k) for k in range(6)])
    assert len(set(tokens)) == 6 and study.status().n_pulls == 6 and study.verify().ok


def test_joblib(study):
    tokens = joblib.Parallel(n_jobs=2)(joblib.delayed(work)(study, k) for k in range(6))
    assert len(set(tokens)) == 6 and study.status().n_pulls == 6 and study.verify().ok


def test_a_relative_path_means_the_same_file_from_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {"arms": 2, "objectives": 1, "family": Gaussian(variance=1.0)}
    kept = pickle.dumps(Study.create("trials.db", "dose", **settings))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(kept).ask().arm == "arm 0"


def test_it_is_opened_on_first_use(study, monkeypatch, tmp_path):
    kept = pickle.dumps(study)
    assert len(kept) < 500, "no state and no connection"
    opened = []
    monkeypatch.setattr(storages.Storage, "_migrate", lambda self: opened.append(self.url))
    again = pickle.loads(kept)
    assert repr(again) == repr(study) and again.name == "dose"
    again.close()
    assert not opened
    assert again.status() == study.status() and len(opened) == 1
    twin = copy.deepcopy(study)
    assert twin._session is not study._session and twin.head() == study.head()


def test_a_study_that_is_gone_says_so(study, tmp_path):
    kept = pickle.dumps(study)
    study.close()
    Study.delete(tmp_path / "trials? #1 100%.db", "dose", confirm="dose")
    again = pickle.loads(kept)
    for _ in range(2):
        with pytest.raises(InputError, match="name must be a study of this storage"):
            again.status()


def test_the_password_of_a_database_is_kept_and_not_shown():
    url = "postgresql://lab:secret@nowhere/trials"
    study = Study.__new__(Study)
    study.__setstate__({"name": "dose", "place": str(storages.as_url(url).render_as_string(hide_password=False))})
    assert "secret" not in repr(study) and "secret" in pickle.loads(pickle.dumps(study))._place
