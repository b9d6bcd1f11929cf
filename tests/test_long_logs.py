"""Long logs: read many events at a time, with the same result and the same refusals as one by one."""

import gc
import hashlib
import json
import random

import pytest

from prepex import Bernoulli, Gaussian, InputError, Study
from prepex._kernels import engine
from prepex.study import log as logs
from prepex.study import state
from prepex.study.events import GENESIS, canonical, linked, read, read_all, read_many, seal

NASTY = ("", "Ada", 'say "yes"', "back\\slash", "é 漢", "tab\there", "},{", '","kind":"told', "\x7f", "line\nbreak")


def chain(n, actors=("Ada",), seed=0):
    rng, events, previous = random.Random(seed), [], GENESIS
    for k in range(n):
        data = {"outcome": {"gain": rng.gauss(0, 1), "b": rng.choice([1, -0.0, 1e300])}, "token": f"{k}-0", "arm": k}
        made = {"time": "2030-01-01T00:00:00.000000+00:00", "actor": rng.choice(actors), "version": "1"}
        events.append(seal(k, previous, "imported", pull=rng.choice([k, None]), data=data, **made))
        previous = events[-1].hash
    return events


def columns(events):
    return [event.text for event in events], [event.hash for event in events]


@pytest.mark.parametrize("actor", NASTY)
def test_many_at_once_are_read_as_one_by_one(actor):
    events = chain(50, ("Ada", actor))
    texts, hashes = columns(events)
    assert list(read_all(texts, hashes)) == events == [read(*pair) for pair in zip(texts, hashes)]
    assert read_many(texts, hashes, exact=True) in (events, None)
    assert list(linked(read_all(texts, hashes))) == events


def test_plain_events_take_the_quick_way():
    events = chain(50)
    assert read_many(*columns(events)) == read_many(*columns(events), exact=True) == events


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"arm":3', '"arm":3.0'),
        ('"arm":3', '"arm":03'),
        ('"arm":3', '"arm": 3'),
        ('"arm":3', '"arm":3,"arm":3'),
        ('"arm":3', '"arm":NaN'),
        ('"arm":3', '"arm":true'),
        ('"position":3', '"position":03'),
        ('"position":3', '"position":3,"position":3'),
        ('"actor":"Ada"', '"actor":"\\u0041da"'),
        ('{"actor"', '{ "actor"'),
        ('"version":"1"', '"version":"1","x":1'),
        ('"arm":3', '"arm":{}'),
    ],
)
def test_exactly_the_canonical_text(old, new):
    """What is read exactly is what would be written, and nothing else."""
    texts, hashes = columns(chain(6))
    assert texts[3].count(old) == 1
    texts[3] = texts[3].replace(old, new)
    found = read_many(texts, hashes, exact=True)
    assert found is None or [event.text for event in found] == texts


def test_no_event_reaches_into_the_next():
    """Two texts that are no events, but would be if one were put behind the other with a comma."""
    first, second = chain(2)
    head, tail = (text.split(canonical(event.data)) for event, text in ((first, first.text), (second, second.text)))
    broken = [head[0] + '{"arm":[{}' + head[1], tail[0] + '{}]},{"arm":1}' + tail[1]]
    assert json.loads('[{"arm":[{},{}]},{"arm":1}]') == [{"arm": [{}, {}]}, {"arm": 1}]
    assert read_many(broken, [first.hash, second.hash]) is None
    with pytest.raises(InputError, match="damaged"):
        list(read_all(broken, [first.hash, second.hash]))


def test_damage_is_reached_only_after_what_comes_before():
    texts, hashes = columns(chain(5))
    texts[3] = texts[3][:-1]
    found = iter(read_all(texts, hashes))
    assert [next(found).position for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError, match="damaged"):
        next(found)


# Imports


def create(folder, family, name="x"):
    return Study.create(folder / "x.db", name, arms=("a", "b"), objectives=("gain",), family=family)


def test_a_file_is_known_by_a_question_to_the_database(tmp_path, monkeypatch):
    study, path = create(tmp_path, Gaussian(variance=1.0)), tmp_path / "old.csv"
    path.write_text("arm,gain\na,1\nb,2\n")
    study.import_csv(path)
    # Whoever writes its digest elsewhere has not imported it.
    digest = hashlib.sha256(b"arm,gain\na,3\n").hexdigest()
    study.void(study.ask().token, reason=f'"digest":"{digest}"')
    path.with_name("new.csv").write_text("arm,gain\na,3\n")
    monkeypatch.setattr(logs.Log, "since", lambda *_: pytest.fail("the whole log was read"))
    with pytest.raises(InputError, match="got a file that was imported before"):
        study.import_csv(path)
    assert study.import_csv(path.with_name("new.csv")) == 1
    assert study.import_csv(path, again=True) == 2


def test_values_of_a_file_are_looked_at_together(tmp_path, monkeypatch):
    study, path = create(tmp_path, Bernoulli()), tmp_path / "old.csv"
    path.write_text("arm,gain\n" + "a,1\nb,0\n" * 50)
    looks = []
    monkeypatch.setattr("prepex.study.ingest._value", lambda *given: looks.append(given))
    assert study.import_csv(path) == 100 and not looks
    monkeypatch.undo()
    for cell, words in (("0.5", "must be 0 or 1"), ("1e200", "must be at most 1e\\+100")):
        path.write_text("arm,gain\n" + "a,1\nb,0\n" * 50 + f"a,{cell}\n")
        with pytest.raises(InputError, match=f"line 102: .*{words}"):
            study.import_csv(path)


def test_a_long_log_waits_for_machine_code(tmp_path, monkeypatch):
    study, path = create(tmp_path, Gaussian(variance=1.0)), tmp_path / "old.csv"
    path.write_text("arm,gain\n" + "a,1\nb,0\n" * 50)
    seen = []
    monkeypatch.setattr(state, "_tell", lambda *_: seen.append((engine.here.waiting, gc.isenabled())))
    monkeypatch.setattr(state, "LONG", 100)
    monkeypatch.setattr(engine.here, "waiting", 0)
    study.import_csv(path)
    assert set(seen) == {(1, False)} and engine.here.waiting == 0 and gc.isenabled()
