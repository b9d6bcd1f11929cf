"""A database that somebody wrote into: one clear line, or the log in place of a damaged checkpoint."""

import json
import sqlite3
import tracemalloc
import zlib
from contextlib import closing

import pytest

from prepex import Experiment, Gaussian, InputError, Study
from prepex.study.events import canonical, digest
from prepex.study.log import _seal_of


@pytest.fixture
def place(tmp_path):
    """With a few outcomes and a checkpoint."""
    path = tmp_path / "trials.db"
    with Study.create(path, "dose", arms=("low", "high"), objectives=("x",), family=Gaussian(variance=1.0)) as study:
        for _ in range(6):
            study.tell(study.ask().token, [1.0])
        with study._session.writing("") as draft:
            study._session._save(draft.log, draft.state)
    return path


def write(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement, values)
        connection.commit()


USES = {
    "list": lambda path: Study.list(path),
    "status": lambda path: Study.open(path, "dose").status(),
    "verify": lambda path: Study.open(path, "dose").verify(),
    "observations": lambda path: Study.open(path, "dose").observations(0, 50),
    "ask": lambda path: Study.open(path, "dose").ask(),
}


@pytest.mark.parametrize("value", ["x", b"x", 2.5])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_position_that_is_no_number_is_said(place, use, value):
    write(place, "UPDATE prepex_studies SET position = ?", value)
    with pytest.raises(InputError, match="damaged"):
        use(place)


def test_an_event_without_its_data_is_said(place):
    with closing(sqlite3.connect(place)) as connection:
        event = json.loads(connection.execute("SELECT text FROM prepex_events WHERE position = 1").fetchone()[0])
    token = event["data"]["token"]
    text = canonical({**event, "data": {"token": token}})
    write(place, "UPDATE prepex_events SET text = ?, hash = ? WHERE position = 1", text, digest(text))
    with pytest.raises(InputError, match="damaged"):
        Study.open(place, "dose").observations(0, 50)
    with pytest.raises(InputError, match="damaged"):
        Study.open(place, "dose").correct(token, {"x": 2.0}, reason="typing error")


def test_a_first_event_without_its_data_is_said(place):
    with closing(sqlite3.connect(place)) as connection:
        event = json.loads(connection.execute("SELECT text FROM prepex_events WHERE position = 0").fetchone()[0])
    write(place, "UPDATE prepex_events SET text = ? WHERE position = 0", canonical({**event, "data": {}}))
    for use in USES.values():
        try:
            found = use(place)
            assert not found.ok  # an audit says it without an error
        except InputError as error:
            assert "damaged" in str(error) or "format" in str(error)


def saved(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT position, head, saved FROM prepex_checkpoints").fetchone()


def put(path, position, head, data):
    seal = _seal_of(position, head, data)
    write(path, "UPDATE prepex_checkpoints SET position = ?, saved = ?, digest = ?", position, data, seal)


def changed_line(data, **parts):
    head, _, rest = data.partition(b"\n")
    return json.dumps(json.loads(head) | parts).encode() + b"\n" + rest


def bomb(data, size=300_000_000):
    """The same document, and zeros without end."""
    head, _, rest = data.partition(b"\n")
    document = zlib.decompress(rest).partition(b"\n")[0]
    return head + b"\n" + zlib.compress(document + b"\n" + bytes(size), 9)


STRAY = {
    "nothing": lambda data: b"",
    "a list": lambda data: b"[" * 100_000,
    "no line": lambda data: changed_line(data, line=None),
    "a curve of words": lambda data: changed_line(data, curve={"entries": "x", "stride": 0, "points": [1]}),
    "a time that is none": lambda data: changed_line(data, time=5),
    "cut off": lambda data: data[:-5],
    "a bomb": bomb,
}


@pytest.mark.parametrize("change", STRAY.values(), ids=STRAY)
def test_the_log_is_read_in_place_of_a_damaged_checkpoint(place, change):
    position, head, data = saved(place)
    put(place, position, head, change(data))
    tracemalloc.start()
    with Study.open(place, "dose") as study:
        assert study.status().n_pulls == 6
        study.verify()
        study.tell(study.ask().token, [1.0])
        assert study.status().n_pulls == 7
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50e6


def test_a_checkpoint_of_another_kind_is_not_used(place):
    for column, value in (("saved", "text"), ("digest", "x"), ("position", "x")):
        write(place, f"UPDATE prepex_checkpoints SET {column} = ?", value)
        with Study.open(place, "dose") as study:
            assert study.status().n_pulls == 6
            study.verify()


def test_a_snapshot_with_more_or_fewer_numbers_is_refused():
    experiment = Experiment(2, 1, family=Gaussian(variance=1.0))
    experiment.tell_many([("arm 0", [1.0]), ("arm 1", [0.0])])
    whole = zlib.decompress(experiment.snapshot())
    again = Experiment(2, 1, family=Gaussian(variance=1.0))
    again.restore(zlib.compress(whole))
    for damaged in (whole + b"\0", whole[:-1], whole[:20]):
        with pytest.raises(InputError):
            again.restore(zlib.compress(damaged))
    with pytest.raises(InputError):
        again.restore(experiment.snapshot()[:-3])
    assert again.means.tolist() == [[1.0], [0.0]]
