"""Simulations: reproducible, honest, and saved."""

import csv
import json

import numpy as np
import pytest
from scipy.stats import binom

from prepex import characteristic_time, simulate, simulation
from prepex import runs as runs_module
from prepex.instances import correlated, covboost
from prepex.runs import clopper_pearson
from prepex.sampling import FraPPE, InformationDirected, Oracle, Uniform


@pytest.fixture(scope="module")
def runs():
    return simulate(
        correlated(0.2),
        sampling=[FraPPE(), InformationDirected(), Uniform()],
        threshold=["heuristic", "certified", "kaufmann_koolen"],
        deltas=[0.1, 0.01],
        n_runs=4,
        seed=1,
    )


def test_the_number_of_workers_does_not_matter(runs):
    again = simulate(
        correlated(0.2),
        sampling=[FraPPE(), InformationDirected(), Uniform()],
        threshold=["heuristic", "certified", "kaufmann_koolen"],
        deltas=[0.1, 0.01],
        n_runs=4,
        seed=1,
        n_jobs=2,
    )
    assert list(again.rows()) == list(runs.rows())


def test_a_run_depends_on_its_seed_and_number_alone(runs):
    alone = simulate(correlated(0.2), sampling=FraPPE(), threshold="heuristic", deltas=0.01, n_runs=2, seed=1)
    same = [
        row
        for row in runs.rows()
        if (row["rule"], row["threshold"], row["delta"]) == ("FraPPE", "heuristic", 0.01) and row["run"] < 2
    ]
    assert list(alone.rows()) == same
    other = simulate(correlated(0.2), sampling=FraPPE(), threshold="heuristic", deltas=0.01, n_runs=2, seed=2)
    assert list(other.rows()) != same


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_runs_of_a_rule_are_seen_as_soon_as_they_are_done(n_jobs):
    seen, finished, counts = [], [], []

    def arrived(part):
        seen.append(part)
        counts.append(len(finished))

    runs = simulate(
        correlated(),
        sampling=[InformationDirected(), Uniform()],
        threshold=["heuristic", "certified"],
        n_runs=3,
        seed=1,
        n_jobs=n_jobs,
        arrived=arrived,
        progress=lambda n: finished.extend([1] * n),
    )
    assert [row for part in seen for row in part.rows()] == list(runs.rows())
    # A rule that follows the margin runs once for each threshold.
    assert [part.records[0].thresholds for part in seen] == [("certified",), ("heuristic",), ("certified", "heuristic")]
    if n_jobs == 1:
        assert counts == [2, 5, 8]  # not at the end


def test_smaller_risks_and_stronger_thresholds_take_longer(runs):
    mean = {(cell.rule, cell.threshold, cell.delta): cell.mean for cell in runs.summary()}
    for rule in ("FraPPE", "Uniform"):
        for threshold in ("heuristic", "certified", "kaufmann_koolen"):
            assert mean[rule, threshold, 0.1] < mean[rule, threshold, 0.01]
        assert mean[rule, "heuristic", 0.1] < mean[rule, "certified", 0.1] < mean[rule, "kaufmann_koolen", 0.1]


def test_the_summary_is_what_the_rows_say(runs):
    rows = list(runs.rows())
    assert len(rows) == 3 * 3 * 2 * 4
    for cell in runs.summary():
        times = [
            row["stopping_time"]
            for row in rows
            if (row["rule"], row["threshold"], row["delta"]) == (cell.rule, cell.threshold, cell.delta)
        ]
        assert len(times) == cell.n_runs == 4
        assert cell.mean == np.mean(times) and cell.median == np.median(times)
        assert cell.standard_error == pytest.approx(np.std(times, ddof=1) / 2)
        assert cell.floor == runs.bound().floor(cell.delta) == runs.floor(cell.delta)
        assert cell.error_rate == 0 and cell.error_upper == pytest.approx(1 - 0.01 ** (1 / 4))


def test_a_run_that_hits_its_limit_is_censored_not_dropped():
    runs = simulate(covboost(), sampling=Uniform(), deltas=0.1, n_runs=3, max_pulls=500)
    (cell,) = runs.summary()
    assert cell.n_censored == 3 and cell.n_runs == 3 and cell.mean == 500
    assert [(row["stopped"], row["correct"]) for row in runs.rows()] == [(False, None)] * 3


def test_a_batch_never_goes_past_the_limit():
    runs = simulate(covboost(), sampling=Uniform(), deltas=0.1, n_runs=2, batch=70, max_pulls=200)
    assert all(not row["stopped"] and row["stopping_time"] <= 200 for row in runs.rows())


def test_the_papers_alternatives_say_that_they_have_no_guarantee():
    runs = simulate(covboost(), sampling=FraPPE(alternatives="paper"), deltas=0.1, n_runs=30)
    (cell,) = runs.summary()
    assert "no guarantee" in cell.rule
    assert cell.below_floor and cell.mean < cell.floor
    assert cell.error_lower > 0.1, "wrong far more often than delta"


@pytest.fixture
def asked(monkeypatch):
    """The tolerances at which T* was computed."""
    tolerances = []

    def watched(problem, tol=1e-6, **asked):
        tolerances.append(tol)
        return characteristic_time(problem, tol, **asked)

    for module in (simulation, runs_module):
        monkeypatch.setattr(module, "characteristic_time", watched)
    return tolerances


def test_the_floor_is_computed_when_it_is_asked_for_and_once(asked, tmp_path):
    runs = simulate(correlated(), sampling=[Uniform(), FraPPE()], deltas=[0.1, 0.01], n_runs=2)
    runs.save(tmp_path / "runs.csv")
    runs.error_curve()
    assert asked == []
    runs.summary()
    runs.summary(0.01)
    assert asked == [runs_module.FLOOR_TOL]
    runs.summary(1e-6)
    runs.floor(0.1)
    assert asked == [runs_module.FLOOR_TOL, 1e-6]


def test_the_floor_is_a_floor_at_any_tolerance():
    runs = simulate(correlated(), sampling=Uniform(), n_runs=1)
    loose, tight = runs.floor(0.1, 0.3), runs.floor(0.1, 1e-6)
    assert 0.7 * tight < loose < tight
    with pytest.raises(ValueError, match="tol must be in"):
        runs.summary(2.0)


def test_only_the_oracle_needs_the_optimal_allocation_before_the_runs(asked):
    simulate(correlated(), sampling=Oracle(allocation=(0.2,) * 5), n_runs=1)
    assert asked == []
    simulate(correlated(), sampling=Oracle(), n_runs=1)
    assert asked == [1e-6]


def test_error_curves():
    runs = simulate(correlated(), sampling=[Uniform()], deltas=0.1, n_runs=40, moments=(5, 30, 400))
    ((moments, wrong),) = runs.error_curve().values()
    assert moments.tolist() == [5, 30, 400]
    assert wrong[0] > wrong[2] and np.all((wrong >= 0) & (wrong <= 1))


def test_functions_as_thresholds_equal_the_named_ones():
    def heuristic(counts, delta):
        return np.log((1 + np.log(counts.sum())) / delta)

    ours = simulate(correlated(), sampling=FraPPE(), threshold="heuristic", deltas=0.1, n_runs=2, seed=3)
    theirs = simulate(correlated(), sampling=FraPPE(), threshold=heuristic, deltas=0.1, n_runs=2, seed=3)
    assert [r["stopping_time"] for r in ours.rows()] == [r["stopping_time"] for r in theirs.rows()]


def test_files(runs, tmp_path):
    for ending in ("csv", "json", "parquet"):
        runs.save(tmp_path / f"runs.{ending}")
    rows = list(runs.rows())
    assert len(json.loads((tmp_path / "runs.json").read_text())) == len(rows)
    with (tmp_path / "runs.csv").open() as file:
        assert [int(row["stopping_time"]) for row in csv.DictReader(file)] == [row["stopping_time"] for row in rows]
    assert len(runs.to_frame()) == len(rows)
    with pytest.raises(ValueError, match=r"path must end in .csv, .json, .parquet, got"):
        runs.save(tmp_path / "runs.txt")
    with pytest.raises(ValueError, match="path must be writable"):
        runs.save(tmp_path / "no" / "runs.csv")


def test_clopper_pearson_by_its_definition():
    for wrong, total in ((0, 50), (3, 50), (50, 50), (17, 400)):
        lower, upper = clopper_pearson(wrong, total)
        if wrong < total:
            assert binom.cdf(wrong, total, upper) == pytest.approx(0.01)
        if wrong > 0:
            assert binom.sf(wrong - 1, total, lower) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deltas": 1.5}, r"deltas must be in \(0, 1\), got 1.5"),
        ({"deltas": []}, "deltas must have at least one entry, got none"),
        ({"deltas": [0.1, 0.1]}, "deltas must be different from each other, got 0.1 twice"),
        ({"sampling": []}, "sampling must have at least one entry"),
        ({"sampling": [Uniform(), Uniform()]}, r"sampling must be different from each other, got Uniform\("),
        ({"sampling": "frappe"}, "sampling must be a sequence of rules, got 'frappe'"),
        ({"threshold": ["heuristic", "heuristic"]}, "threshold must be different"),
        ({"threshold": []}, "threshold must have at least one entry"),
        ({"n_jobs": 0}, "n_jobs must be a number of processes, or -1 for all cores, got 0"),
        ({"n_jobs": "2"}, "n_jobs must be a number of processes"),
        ({"moments": (10, 2000), "max_pulls": 100}, "moments must be at most 100 = max_pulls, got 2000"),
        ({"batch": 1000, "max_pulls": 100}, "batch must be at most 100 = max_pulls, got 1000"),
        ({"n_runs": 0}, "n_runs must be an integer of at least 1"),
        ({"max_pulls": 3}, "max_pulls must be an integer of at least 5"),
        ({"threshold": "sure"}, "threshold must be one of"),
        ({"batch": 0}, "batch must be an integer of at least 1"),
        ({"moments": (2,)}, "moments must be an integer of at least 5"),
        ({"sampling": Oracle(allocation=(1.0, 1.0))}, "allocation must have shape"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        simulate(correlated(), **{"sampling": Uniform(), "n_runs": 1, **options})
