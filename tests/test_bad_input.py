"""Whatever is given to a Study, to the command line or to a cone: an InputError that says what was expected, or nothing
at all. Never an error of a library, and never a change."""

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Experiment, Gaussian, InputError, Product, Study, one, simulate
from prepex.instances import correlated
from prepex.sampling import Uniform
from prepex.study.storage import Storage
from prepex.whole_file import whole_file, write_whole

SETTINGS = {"arms": ("a", "b"), "objectives": ("x", "y"), "family": Gaussian(variance=1.0)}
STRANGE = [
    *(None, True, 0, 1, -1, 10**30, 10**5000, 2**63, 1.5, -0.5, 1e11, 1e300, 1e-300, math.nan, math.inf, -math.inf),
    *("", " ", "a", "\0", "\ud800", "é" * 300, "x" * 100_000, "certified", b"x", 1j, object, object(), lambda *_: "x"),
    *(
        [],
        [None],
        [[]],
        [[[1]]],
        ["a", "a"],
        ["a", "\ud800"],
        [1, "1"],
        {},
        {"a": 1},
        {7: 2},
        [10**5000, 1],
        set(),
        range(3),
        (1, 2, 3),
    ),
    *(np.array([]), np.zeros((2, 2)), np.float32(1), np.int64(3), Gaussian(variance=1.0), Cone.angle(90)),
]


def refused(*calls):
    """How many end in an InputError; a few may be fine, and a file system has its own errors."""
    count = 0
    for call in calls:
        try:
            call()
        except InputError as error:
            assert 10 < len(str(error)) < 1500
            count += 1
        except OSError as error:
            assert "File name too long" in str(error) or "directory" in str(error)
            count += 1
    return count


@pytest.fixture
def storage(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Storage("x.db", create=True)


@pytest.mark.parametrize(
    "key",
    [
        *("arms", "objectives", "family", "cone", "delta", "sampling", "threshold", "minimise"),
        *("seed", "max_pulls", "max_pending", "lease", "actor"),
    ],
)
def test_create(storage, key):
    """What is refused leaves nothing behind; what is not refused gives a study that works."""

    def attempt(k, value):
        study = Study.create(storage, f"study {k}", **SETTINGS | {key: value})
        ticket = study.ask()
        study.tell(ticket.token, [1.0] * len(study.status().objectives))
        study.why(), study.picture(), study.certificate()
        made.append(k)

    made: list[int] = []
    many = [v for v in STRANGE if key not in ("arms", "objectives") or not isinstance(v, int | np.integer) or v < 9]
    assert refused(*(lambda k=k, v=v: attempt(k, v) for k, v in enumerate(many))) > 20
    assert [study.name for study in Study.list(storage)] == [f"study {k}" for k in made]


def test_names_places_and_files(storage):
    study = Study.create(storage, "work", **SETTINGS)
    for value in STRANGE:
        calls = (
            lambda v=value: Study.open("x.db", v),
            lambda v=value: Study.open(v, "work"),
            lambda v=value: Study.list(v),
            lambda v=value: Study.delete(storage, v, confirm=v),
            lambda v=value: Study.delete(storage, "work", confirm=v),
            lambda v=value: Study.delete(v, "work", confirm="work"),
            lambda v=value: Study.restore("y.db", v),
            lambda v=value: study.import_csv(v),
        )
        assert refused(*calls) == len(calls)
        refused(
            *(
                lambda v=value: Study.create(v, "other", **SETTINGS),
                lambda v=value: Study.create(storage, v, **SETTINGS),
            )
        )
        refused(*(lambda v=value: study.export(v) if not isinstance(v, int) else None, lambda v=value: study.report(v)))


def test_pulls_and_reports(storage):
    study = Study.create(storage, "work", **SETTINGS)
    Path("old.csv").write_text("arm,x,y\na,1,2\n")
    out, told = study.ask(2)
    study.tell(told.token, [1.0, 2.0])
    events = study.status().events
    for value in STRANGE:
        reports = (
            lambda v=value: study.tell(v, [1.0, 2.0]),
            lambda v=value: study.tell(out.token, v),
            lambda v=value: study.tell_many([v]),
            lambda v=value: study.tell_many([(out.token, [1.0, 2.0]), v]),
            lambda v=value: study.correct(v, [1.0, 2.0], reason="x"),
            lambda v=value: study.correct(told.token, v, reason="x"),
            lambda v=value: study.void(v, reason="x"),
            lambda v=value: study.import_csv("old.csv", arm=v),
        )
        assert refused(*reports) == len(reports)
        if not isinstance(value, str):
            strangers = (
                lambda v=value: study.ask(actor=v),
                lambda v=value: study.void(out.token, reason=v),
                lambda v=value: study.correct(told.token, [3.0, 3.0], reason=v),
            )
            assert refused(*strangers) == len(strangers)
        refused(
            lambda v=value: list(study.events(v)),
            lambda v=value: list(study.events(limit=v)),
            lambda v=value: study.observations(v, 5),
            lambda v=value: study.observations(0, v),
        )
    assert study.status().events == events and study.verify().ok


@pytest.mark.parametrize("lease", [0, -1.0, 1e9, 1e11, 1e300, math.nan, math.inf, 10**400, "90", True])
def test_a_lease_that_the_calendar_cannot_hold(storage, lease):
    with pytest.raises(InputError, match=r"lease must be .*in \(0, 1e\+09\)"):
        Study.create(storage, "work", lease=lease, **SETTINGS)
    study = Study.create(storage, "long", lease=9.9e8, **SETTINGS)
    assert study.ask().until.startswith("20") and study.picture()["pulls"][0]["until"] is not None


def test_whole_numbers_that_fit_nowhere():
    for name in ("max_pulls", "max_pending", "seed"):
        with pytest.raises(InputError, match=f"{name} must be an integer of at most"):
            Experiment(2, 1, family=Bernoulli(), **{name: 10**40})
    with pytest.raises(InputError, match="max_pulls must be an integer of at most"):
        simulate(correlated(), sampling=Uniform(), max_pulls=10**30)
    entropy = np.random.SeedSequence().entropy
    assert Experiment(2, 1, family=Bernoulli(), seed=entropy).seed == entropy


@pytest.mark.parametrize(
    "given", ["orthant", 2, None, [[1, 0], [0, 1]], np.eye(2) * 2, np.eye(2, dtype=int), np.ones(2)]
)
def test_a_cone_is_made_by_one_of_its_ways(given):
    with pytest.raises(InputError, match=r"must be made by Cone\.orthant\(2\), Cone\.angle\(120\), Cone\.from_facets"):
        Cone(given)


def test_cones_and_families():
    for value in STRANGE:
        if not isinstance(value, int):
            refused(lambda v=value: Cone.orthant(v))
        refused(
            lambda v=value: Cone.angle(v),
            lambda v=value: Cone.from_facets(v),
            lambda v=value: Cone.from_rays(v),
            lambda v=value: Cone.tradeoffs(v, one("a").is_worth(at_least=1, of="b")),
            lambda v=value: Cone.tradeoffs(("a", "b"), one(v).is_worth(at_least=1, of="b")),
            lambda v=value: Cone.tradeoffs(("a", "b"), one("a").is_worth(at_most=1, of=v)),
            lambda v=value: one("a").is_worth(at_least=v, of="b"),
            lambda v=value: one("a").is_worth(at_most=v, of="b"),
            lambda v=value: one("a").is_worth(between=v, of="b"),
            lambda v=value: Gaussian(variance=v),
            lambda v=value: Gaussian(covariance=v),
            lambda v=value: Gaussian(variance="unknown", noise=v),
            lambda v=value: Product(v),
        )


@pytest.mark.parametrize(
    "text", ["", "{}\n", "[]\n", "5\n", "null\n", "\u00e9\n", '{"a":\n', "[" * 100_000, "\0", "x" * 100_000]
)
def test_a_log_that_is_none(storage, text):
    Path("log.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="must be a log that prepex exported"):
        Study.restore("new.db", "log.jsonl")
    assert not Path("new.db").exists()


def test_a_log_with_right_hashes_that_no_study_could_go_on_with(storage):
    """Every event forged in turn, sealed again: refused, and nothing is left behind."""
    from prepex.study.events import GENESIS, seal

    study = Study.create(storage, "work", **SETTINGS)
    study.tell(study.ask().token, [1.0, 2.0])
    events = list(study.events())
    forgeries = [
        (0, {}),
        (0, {"format": "prepex study 1"}),
        (0, dict(events[0].data) | {"name": ["x"]}),
        (0, dict(events[0].data) | {"name": "\ud800"}),
        (0, dict(events[0].data) | {"settings": None}),
        (0, dict(events[0].data) | {"lease": "x"}),
        (0, dict(events[0].data) | {"lease": 1e11}),
        (1, {}),
        (1, {"token": "1-x", "arm": 7}),
        (1, {"token": "1-x", "arm": "a"}),
        (2, {}),
        (2, {"token": "1-x", "outcome": 5}),
    ]
    for place, data in forgeries:
        lines, previous = [], GENESIS
        for event in events:
            new = data if event.position == place else event.data
            kept = {"time": event.time, "actor": event.actor, "version": event.version, "pull": event.pull}
            sealed = seal(event.position, previous, event.kind, data=new, **kept)
            lines.append(sealed.line + "\n")
            previous = sealed.hash
        Path("log.jsonl").write_text("".join(lines))
        with pytest.raises(InputError):
            Study.restore("new.db", "log.jsonl")
        assert not Path("new.db").exists() or not Study.list("new.db")


@pytest.mark.parametrize(
    "reward",
    [
        np.array(["5", 1.0], dtype=object),
        np.array([np.datetime64("2020-01-01"), 1.0], dtype=object),
        [np.datetime64("2020"), 1],
        bytearray(b"ab"),
        memoryview(b"ab"),
    ],
    ids=("text", "a date", "a year", "bytes", "memory"),
)
def test_what_only_converts_to_numbers_is_no_outcome(reward):
    experiment = Experiment(**SETTINGS)
    with pytest.raises(InputError, match="must be numbers"):
        experiment.tell("a", reward)
    experiment.tell("a", np.array([Fraction(1, 2), Decimal("0.5")], dtype=object))
    assert experiment.n_pulls == 1


def test_a_file_is_replaced_by_a_whole_one_only(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("a good backup")
    with pytest.raises(OSError, match="full"), whole_file(path) as file:
        file.write("half")
        raise OSError("the disk is full")
    assert path.read_text() == "a good backup" and [*tmp_path.iterdir()] == [path]
    other = tmp_path / "link.jsonl"
    other.symlink_to(path)
    write_whole(other, "new")
    assert path.read_text() == "new" and other.is_symlink()
    write_whole(Path("/dev/null"), "gone")
    assert not Path("/dev/null").is_file()
