"""Certificates and logs that somebody made by hand: what no study could have is refused by the checker as by the
reader, and no small file costs much memory or time."""

import copy
import json
import tracemalloc
from datetime import datetime, timedelta

import numpy as np
import pytest

from benchmarks.mutations import sealed
from prepex import Cone, Exponential, Gaussian, InputError, Poisson, Study
from prepex.study.check import check
from prepex.study.check_log import Record
from prepex.study.config import MOST_ARMS

TURNED = Cone.angle(160).facets.tolist()


def forged(folder, *path, value, **settings):
    """(certificate, lines) of a new study, one setting of which was changed in both, with hashes that are right."""
    given = {"arms": ("a", "b"), "objectives": ("x", "y"), "family": Gaussian(variance=1.0), "lease": 60.0} | settings
    study = Study.create(folder / "made.db", "s", **given)
    study.export(folder / "log.jsonl")
    certificate = json.loads(json.dumps(study.certificate()))
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for document in (certificate, events[0]["data"]) if path else ():
        node = document
        for name in path[:-1]:
            node = node[name]
        node[path[-1]] = copy.deepcopy(value)
    lines = sealed(events, 0)
    certificate["log"]["hash"] = json.loads(lines[-1])["hash"]
    (folder / "forged.jsonl").write_text("".join(lines))
    return certificate, lines


def test_one_that_nobody_touched_is_right(tmp_path):
    certificate, lines = forged(tmp_path, value=None)
    assert check(certificate, lines).ok
    assert Study.restore(tmp_path / "again.db", tmp_path / "forged.jsonl").status().n_pulls == 0


IMPOSSIBLE = {
    "the name of another cone": (("cone", "facets"), TURNED),
    "the name of an angle": (("cone", "name"), "angle(160)"),
    "an angle to seven digits": (("cone", "name"), "angle(90.00001)"),
    "a name of its own": (("cone", "name"), "harmless"),
    "trade-offs that want less": (("cone",), {"name": "tradeoffs(x, y)", "facets": Cone.angle(60).facets.tolist()}),
    "an empty cone": (("cone",), {"name": "", "facets": [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]}),
    "a flat cone": (("cone",), {"name": "", "facets": [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]}),
    "rows that are no unit": (("cone",), {"name": "", "facets": [[1.0, 0.0], [0.0, 1.0 + 1e-7]]}),
    "too many facets": (("cone",), {"name": "", "facets": [[1.0, 0.0], [0.0, 1.0]] * 501}),
    "hardly any variance": (("family", "variance"), 1e-300),
    "hardly any of one": (("family", "variance"), [1.0, 1e-101]),
    "a covariance almost singular": (
        ("family",),
        {"name": "Gaussian", "covariance": [[1.0, 1.0 - 1e-14], [1.0 - 1e-14, 1.0]]},
    ),
    "a long name": (("labels", "arms"), ["a" * 1001, "b"]),
    "half a character": (("labels", "arms"), ["a\ud800", "b"]),
    "a name that steers a terminal": (("labels", "objectives"), ["x", "y\x1b[31m"]),
    "a name that turns the reading direction": (("labels", "arms"), ["a", "\u202eb"]),
    "too many arms": (("labels", "arms"), [f"a{k}" for k in range(MOST_ARMS + 1)]),
    "an endless seed": (("seed",), 10**4000),
    "a seed too large": (("seed",), 2**128),
    "too many pulls out": (("max_pending",), 2**53),
}


@pytest.mark.parametrize("case", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_settings_that_no_study_has_are_refused(tmp_path, case):
    path, value = case
    certificate, lines = forged(tmp_path, "settings", *path, value=value)
    for result in (check(certificate, lines), check(certificate)):
        assert not result.ok and "cannot be computed" not in result.problems[0], result.problems
    with pytest.raises(InputError):
        Study.restore(tmp_path / "again.db", tmp_path / "forged.jsonl")


def test_a_lease_beyond_the_calendar_is_refused(tmp_path):
    certificate, lines = forged(tmp_path, "lease", value=1e50)
    assert not check(certificate).ok and not check(certificate, lines).ok


@pytest.mark.parametrize("pilot", [0, 1])
def test_a_pilot_that_is_too_short_for_a_variance_is_refused(tmp_path, pilot):
    unknown = Gaussian(variance="unknown")
    certificate, _ = forged(tmp_path, "settings", "threshold", "pilot", value=pilot, family=unknown)
    assert "pilot" in check(certificate).problems[0]


@pytest.mark.parametrize(("family", "value"), [(Exponential(), 1e-200), (Poisson(), 2.0**60)], ids=repr)
def test_outcomes_that_a_study_refuses_are_refused(tmp_path, family, value):
    study = Study.create(tmp_path / "s.db", "s", arms=2, objectives=("x",), family=family)
    study.tell(study.ask().token, [1.0])
    study.export(tmp_path / "log.jsonl")
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    Record.read(sealed(events, 0))
    events[-1]["data"]["outcome"]["x"] = value
    with pytest.raises(ValueError, match="possible"):
        Record.read(sealed(events, 0))


@pytest.mark.parametrize(
    "cone",
    [
        Cone.orthant(3),
        Cone.angle(90),
        Cone.angle(400 / 3),
        Cone.angle(1e-4),
        Cone.angle(179.999),
        Cone.from_rays([[1, 0.2, 0], [0, 1, 0], [0.3, 0, 1], [1, 1, -0.2]]),
        Cone.from_facets([[1.0, 0.0], [-1.0, 1e-3]]),
        Cone.tradeoffs(("x", "y")),
    ],
    ids=repr,
)
def test_every_cone_that_can_be_made_is_taken(tmp_path, cone):
    certificate, lines = forged(tmp_path, value=None, objectives=tuple("xyz"[: cone.n_objectives]), cone=cone)
    assert check(certificate, lines).ok
    assert Study.restore(tmp_path / "again.db", tmp_path / "forged.jsonl").status().n_pulls == 0


@pytest.mark.parametrize(
    ("facets", "name", "words"),
    [
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], "", "flat"),
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], "", "empty"),
        ([[1.0, 0.0]], "", "pointed"),
        (TURNED, "orthant(2)", "name"),
        (TURNED, "angle(120)", "name"),
        (TURNED, "angle(nan)", "name"),
        (TURNED, "mine", "name"),
    ],
)
def test_a_cone_made_by_hand_is_a_cone_and_says_which(facets, name, words):
    with pytest.raises(InputError, match=words):
        Cone(np.array(facets), name)


def test_a_study_has_no_more_arms_than_can_be_checked(tmp_path):
    with pytest.raises(InputError, match="at most 2,000, got 2,001"):
        Study.create(tmp_path / "s.db", "s", arms=MOST_ARMS + 1, objectives=1, family=Gaussian(variance=1.0))


def test_many_arms_need_little_memory(tmp_path):
    """A table of all pairs of them would."""
    arms = [f"a{k}" for k in range(MOST_ARMS)]
    certificate, _ = forged(tmp_path, "settings", "labels", "arms", value=arms)
    certificate["arms"] = [
        {"name": arm, "n": 1, "mean": [float(k), -float(k)], "pareto": True} for k, arm in enumerate(arms)
    ]
    certificate["answer"] |= {"arms": arms, "undecided": arms, "n_pulls": len(arms)}
    tracemalloc.start()
    result = check(certificate)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # What it says is possible: every arm looks Pareto optimal.
    assert result.ok, result.problems
    assert most < 30e6


def test_no_memory_is_no_traceback(tmp_path, monkeypatch):
    certificate, _ = forged(tmp_path, value=None)

    def full(*_):
        raise MemoryError

    monkeypatch.setattr("prepex.study.check.require_form", full)
    assert "MemoryError" in check(certificate).problems[0]


def swinging(folder, n, step):
    """The lines of a log: n pulls, then n more while the clock goes back and ahead, or back all the time."""
    _, lines = forged(folder, value=None, lease=None, max_pending=10**6)
    events, time = [json.loads(lines[0])], datetime.fromisoformat("2900-01-01T00:00:00.000000+00:00")
    for k in range(1, 2 * n + 1):
        moved = timedelta(0) if k <= n else step(k)
        data = {"token": f"{k}-00000000", "arm": 0}
        when = (time + moved).isoformat(timespec="microseconds")
        events.append({**events[0], "position": k, "kind": "asked", "pull": k, "data": data, "time": when})
    return sealed(events, 0)


@pytest.mark.parametrize(
    "step",
    [lambda k: timedelta(days=-90 if k % 2 else -30), lambda k: timedelta(days=-2 * k)],
    ids=["there and back", "always back"],
)
def test_a_clock_that_goes_back_often_takes_no_time(tmp_path, step, monkeypatch):
    """Counted, not timed: how often a pull that is out is looked at."""
    lines = swinging(tmp_path, 300, step)
    record, moves = Record(), 0
    from prepex.study import check_log

    def counting(heap):
        nonlocal moves
        moves += 1
        return original(heap)

    original = check_log.heappop
    monkeypatch.setattr(check_log, "heappop", counting)
    for line in lines:
        record.add(line)
    assert 100 < moves <= len(lines)
    last = record.stamp.at
    assert all(pull.time.now() - last <= check_log.DAY for pull in record.pulls.values())
    # Nobody walks a long way twice.
    assert all(pull.time.moved is None or pull.time.moved.moved is None for pull in record.pulls.values())
