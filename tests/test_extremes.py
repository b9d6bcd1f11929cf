"""What people who tried to break it found: extreme scales, forged certificates, parameters of other libraries."""

import json

import numpy as np
import pandas as pd
import pytest

from prepex import Bernoulli, Cone, Experiment, Exponential, Gaussian, InputError, Study, characteristic_time, evidence
from prepex.problem import Problem
from prepex.sampling import PSIPS, AcceleratedPreTS, Oracle
from prepex.stopping import Certified
from prepex.study.check import check


def test_exponential_means_that_are_many_decades_apart():
    ratio = 1e-18
    exact = ratio - 1.0 - np.log(ratio)
    assert Exponential().divergence([1e-9], [1e9]) == pytest.approx(exact, rel=1e-12)
    # Both are pulled to their mean, of which the small one is 2e-16.
    found = evidence([[1e-8], [1e8]], [5, 5], family=Exponential(), cone=Cone.orthant(1)).value
    middle = 0.5 * (1e-8 + 1e8)
    wanted = 5 * sum(mu / middle - 1.0 - np.log(mu / middle) for mu in (1e-8, 1e8))
    assert found == pytest.approx(wanted, rel=1e-9)
    bound = characteristic_time(Problem([[1e-7], [1e7]], family=Exponential(), cone=Cone.orthant(1)))
    assert 0.0 < bound.lower <= bound.upper


def test_a_forgery_is_refused_however_large_the_outcomes(tmp_path):
    study = Study.create(
        tmp_path / "x.db", "x", arms=3, objectives=2, family=Gaussian(variance=1.0), delta=1e-6, threshold="certified"
    )
    means = {"arm 0": (0.0, 0.0), "arm 1": (0.8, -0.8), "arm 2": (1e14, -1e14)}
    rng = np.random.default_rng(0)
    for _ in range(120):
        ticket = study.ask()
        study.tell(ticket.token, (np.array(means[ticket.arm]) + rng.normal(size=2)).tolist())
    genuine = study.certificate()
    assert genuine["answer"]["status"] == "running"
    answer = genuine["answer"] | {"status": "certified", "decided": ["arm 0", "arm 1", "arm 2"], "undecided": []}
    study.export(tmp_path / "log.jsonl")
    with (tmp_path / "log.jsonl").open(encoding="ascii", newline="\n") as lines:
        assert not check(genuine | {"answer": answer}, list(lines)).ok


def test_pending_pulls_in_a_series_go_by_name():
    experiment = Experiment(("a", "b"), 1, family=Gaussian(variance=1.0))
    assert experiment.ask(2, pending=pd.Series({"a": 1})) == experiment.ask(2, pending={"a": 1}) == ["b", "a"]


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": Oracle(allocation=np.array([0.5, 0.5]))},
        {"sampling": PSIPS(max_tries=np.int64(5)), "threshold": "own"},
        {"sampling": AcceleratedPreTS(gap=np.float32(0.5))},
        {"threshold": Certified(pilot=np.int64(2))},
        {"threshold": Certified(grid=np.array([1.0, 4.0]))},
    ],
)
def test_parameters_of_numpy_are_written_as_plain_numbers(options):
    experiment = Experiment(2, 1, family=Gaussian(variance=1.0), **options)
    again = Experiment.from_json(experiment.to_json())
    assert json.loads(again.to_json()) == json.loads(experiment.to_json())


def test_whole_numbers_are_those_that_every_reader_keeps():
    with pytest.raises(InputError, match="max_pulls must be an integer of at most 9007199254740991"):
        Experiment(2, 1, family=Gaussian(variance=1.0), max_pulls=2**60)


@pytest.mark.parametrize("scale", [1e-90, 1e-30, 1e-20, 1e20, 1e60])
@pytest.mark.parametrize("cone", [Cone.orthant(2), Cone.angle(120), Cone.angle(60)])
def test_waiting_times_in_any_unit(cone, scale):
    means, counts = np.array([[1.0, 2.0], [2.0, 1.0], [0.5, 0.5]]), [10, 10, 10]
    plain = evidence(means, counts, family=Exponential(), cone=cone).value
    assert evidence(scale * means, counts, family=Exponential(), cone=cone).value == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian(variance=1e150), r"variance must be from 1e-100 to 1e\+100, got 1e\+150"),
        (lambda: Gaussian(variance=1e-308), "variance must be from 1e-100"),
        (lambda: Gaussian(variance=[1.0, 1e-200]), r"got 1e-200 at position \(1,\)"),
        (lambda: Gaussian(covariance=[[1e-150, 0.0], [0.0, 1e-150]]), "covariance must be from 1e-100"),
        (lambda: Gaussian(variance="unknown", noise=1e-200), "noise must be from 1e-100"),
        (lambda: Gaussian(variance=np.bool_(True)), "variance must be a number"),
        (
            lambda: Experiment(("a" * 1001, "b"), 1, family=Gaussian(variance=1.0)),
            "at most 1000 characters, got one of 1001",
        ),
    ],
)
def test_what_the_checker_would_not_read_is_not_made(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("reward", "words"),
    [
        ([True, 0.5], r"got \[True, 0.5\]"),
        (np.array([True, 0.5], dtype=object), "must be numbers"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), "must be numbers"),
        (np.array([1.0, 2.0], dtype=complex), "must be numbers"),
        (np.ma.masked_array([1.0, 2.0], mask=[False, True]), "no masked entries"),
    ],
)
def test_rewards_that_only_look_like_numbers(reward, words):
    experiment = Experiment(2, 2, family=Gaussian(variance=1.0))
    with pytest.raises(InputError, match=words):
        experiment.tell(0, reward)
    assert experiment.n_pulls == 0


def test_a_log_of_yes_and_no():
    told, logged = (Experiment(2, 2, family=Bernoulli()) for _ in range(2))
    rows = np.array([[True, False], [False, False], [True, True]])
    for arm, row in zip((0, 1, 0), rows, strict=True):
        told.tell(arm, row)
    logged.tell_log([0, 1, 0], rows)
    assert told.snapshot() == logged.snapshot()
    with pytest.raises(InputError, match="rewards must be numbers"):
        Experiment(2, 2, family=Gaussian(variance=1.0)).tell_log([0, 1, 0], rows)


def test_waiting_times_next_to_nothing():
    with pytest.raises(InputError, match="must be positive, at least 1e-100 for Exponential"):
        Experiment(2, 1, family=Exponential()).tell(0, [5e-324])


@pytest.mark.parametrize("family", [Gaussian(variance="unknown"), Gaussian(variance="unknown", shared=True)])
def test_a_pilot_too_short_for_a_variance(family):
    with pytest.raises(InputError, match=r"pilot must be at least 2 rounds for .*, got 1"):
        Experiment(2, 1, family=family, threshold=Certified(pilot=1))
    assert Experiment(2, 1, family=family, threshold=Certified(pilot=2)).n_pulls == 0


def test_whole_numbers_in_certificates_fit_every_reader(tmp_path):
    settings = {"sampling": Oracle(allocation=(2**60, 2**61)), "threshold": Certified(grid=(2**60,))}
    study = Study.create(tmp_path / "x.db", "x", arms=2, objectives=1, family=Gaussian(variance=1.0), **settings)
    study.tell(study.ask().token, [1.0])
    assert check(json.loads(json.dumps(study.certificate()))).ok
    (tmp_path / "old.csv").write_text("arm,objective 0\narm 0,1\n")
    for wrong in (np.array([1, 2]), "no", 1):
        with pytest.raises(InputError, match="again must be True or False"):
            study.import_csv(tmp_path / "old.csv", again=wrong)
        with pytest.raises(InputError, match="new must be True or False"):
            study.ask(new=wrong)


def test_certificates_of_waiting_times_in_any_unit(tmp_path):
    settings = {"family": Exponential(), "cone": Cone.angle(120), "threshold": "heuristic"}
    study = Study.create(tmp_path / "x.db", "x", arms=3, objectives=2, **settings)
    rng = np.random.default_rng(0)
    for _ in range(12):
        study.tell(study.ask().token, (1e-40 * rng.exponential(size=2)).tolist())
    study.export(tmp_path / "log.jsonl")
    result = check(study.certificate(), (tmp_path / "log.jsonl").read_text().splitlines(keepends=True))
    assert result.ok, result.problems
