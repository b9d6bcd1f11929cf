"""Corrections and voids while others work: the state is the one that a replay gives, whoever comes in between."""

import sqlite3
import threading

import numpy as np
import pytest

from prepex import Gaussian, Study
from prepex.study import foresee, session
from prepex.study.foresee import Foreseen
from prepex.study.state import State


def create(place, **options):
    given = {"family": Gaussian(variance=0.5), "delta": 1e-6, **options}
    return Study.create(place, "dose", arms=tuple("abc"), objectives=("u", "v"), **given)


def work(study, rng, n):
    tokens = []
    for _ in range(n):
        ticket = study.ask()
        study.tell(ticket.token, rng.standard_normal(2).tolist())
        tokens.append(ticket.token)
    return tokens


def same(study, place):
    """Is what an open study knows bit for bit what the log says?"""
    fresh = State.replay(Study.open(place, "dose").events())
    assert study.status() == Study.open(place, "dose").status()
    assert study._session.state.experiment.snapshot() == fresh.experiment.snapshot()
    assert study._session.state.line.to_document() == fresh.line.to_document()
    assert study.verify().ok and Study.open(place, "dose").verify().ok


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "trials.db")


@pytest.fixture
def between(monkeypatch):
    """Something that others do between the computation and the lock."""

    class Between:
        act = None
        replays = 0

    found = Between()
    settled = Foreseen.__init__

    def prepared(self, *given):
        settled(self, *given)
        act, found.act = found.act, None
        if act is not None:
            act()

    def counted(events):
        found.replays += 1
        return replay(events)

    replay = State.replay
    monkeypatch.setattr(foresee.Foreseen, "__init__", prepared)
    monkeypatch.setattr(session.State, "replay", counted)
    return found


@pytest.mark.parametrize("change", ["corrected", "voided"])
@pytest.mark.parametrize("lease", [None, 0.0001], ids=["no lease", "lease"])
def test_others_go_on_meanwhile(place, between, change, lease):
    study, rng = create(place, lease=lease), np.random.default_rng(0)
    tokens, other = work(study, rng, 20), Study.open(place, "dose")

    def meanwhile():
        work(other, rng, 5)
        other.ask(2)

    other.status()
    between.act, between.replays = meanwhile, 0
    if change == "corrected":
        study.correct(tokens[3], {"v": 7.0}, reason="typo")
    else:
        study.void(tokens[3], reason="lost")
    assert between.replays == 0, "nothing was replayed under the lock"
    same(study, place)
    assert study.status().n_pulls == 25 - (change == "voided")
    work(other, rng, 3)
    same(other, place)


MEANWHILE = {
    "another outcome is corrected": lambda study, tokens: study.correct(tokens[5], [1.0, 1.0], reason="x"),
    "the same, to something else": lambda study, tokens: study.correct(tokens[3], {"u": 9.0}, reason="x"),
    "the same, to the same": lambda study, tokens: study.correct(tokens[3], {"v": 7.0}, reason="x"),
    "another is voided": lambda study, tokens: study.void(tokens[0], reason="x"),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_more_of_the_past_changes_meanwhile(place, between, what):
    study, rng = create(place), np.random.default_rng(0)
    tokens, other = work(study, rng, 20), Study.open(place, "dose")
    between.act = lambda: MEANWHILE[what](other, tokens)
    study.correct(tokens[3], {"v": 7.0}, reason="typo")
    same(study, place)
    same(other, place)
    values = {event.pull: event.data["outcome"] for event in study.events() if event.kind == "corrected"}
    assert values[int(tokens[3].partition("-")[0])] in ({"v": 7.0}, {"u": 9.0}, {"u": 9.0, "v": 7.0})


def test_the_pull_is_voided_meanwhile(place, between):
    study, rng = create(place), np.random.default_rng(0)
    tokens, other = work(study, rng, 8), Study.open(place, "dose")
    between.act = lambda: other.void(tokens[3], reason="lost")
    with pytest.raises(ValueError, match="voided because: lost"):
        study.correct(tokens[3], {"v": 7.0}, reason="typo")
    same(study, place)
    between.act = lambda: other.void(tokens[4], reason="lost")
    study.void(tokens[4], reason="lost too")
    same(study, place)
    assert study.status().voided == 2


def test_the_study_is_another_one_meanwhile(place, between):
    study, rng = create(place), np.random.default_rng(0)
    tokens = work(study, rng, 8)

    def meanwhile():
        Study.delete(place, "dose", confirm="dose")
        work(create(place), rng, 12)

    between.act = meanwhile
    with pytest.raises(ValueError, match="token must be one that this study handed out"):
        study.correct(tokens[3], {"v": 7.0}, reason="typo")
    same(study, place)


def test_corrections_in_a_crowd(place):
    # A thread that the others keep from the lock may make all of them wait.
    study, rng = create(place, max_waiting=100), np.random.default_rng(0)
    tokens, failures = work(study, rng, 30), []

    def turn(k):
        try:
            own = Study.open(place, "dose") if k % 2 else study
            mine = np.random.default_rng(k)
            for step in range(3):
                work(own, mine, 2)
                own.correct(tokens[3 * k + step], mine.standard_normal(2).tolist(), reason="typo")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=turn, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and study.status().corrected == 18 and study.status().n_pulls == 66
    same(study, place)


def test_a_read_that_fails_leaves_nothing_half_applied(place, monkeypatch):
    study, rng = create(place), np.random.default_rng(0)
    work(study, rng, 5)
    other = Study.open(place, "dose")
    other.status()
    work(study, rng, 10)
    since = session.Log.since

    def broken(self, position, limit=None):
        for count, event in enumerate(since(self, position, limit)):
            if count == 7:
                raise sqlite3.OperationalError("the disk is gone")
            yield event

    with monkeypatch.context() as patch:
        patch.setattr(session.Log, "since", broken)
        with pytest.raises(sqlite3.OperationalError):
            other.status()
    same(other, place)


def test_a_file_that_was_deleted_or_replaced(place, tmp_path):
    from pathlib import Path

    study = create(place)
    study.ask()
    moved = Path(place).rename(tmp_path / "moved.db")
    with pytest.raises(OSError, match="is gone: it was deleted or moved while it was open"):
        study.ask()
    Path(place).write_bytes(moved.read_bytes())
    with pytest.raises(OSError, match="was replaced by another file"):
        study.ask()
    moved.replace(place)
    assert study.ask() is not None
