"""Forecasts: runs onwards are the live run, quantiles stand runs that were cut off, and nothing is changed."""

import json
from datetime import UTC, datetime
from itertools import count

import numpy as np
import pytest
from typer.testing import CliRunner

from prepex import Bernoulli, Experiment, Gaussian, InputError, Study
from prepex.cli import app
from prepex.foresight import onward
from prepex.foresight.forecast import Forecast, forecast
from prepex.foresight.onward import copy_of, run_on
from prepex.posterior_draws import Draws

TRUTH = np.array([[2.0, 0.0], [0.0, 2.0], [0.3, 0.2]])


def told(n=12, **options):
    given = {"family": Gaussian(covariance=[[1.0, 0.3], [0.3, 1.0]]), "threshold": "heuristic", "delta": 0.1, "seed": 3}
    experiment = Experiment(3, 2, **(given | options))
    rng = np.random.default_rng(1)
    for k in range(n):
        experiment.tell(k % 3, TRUTH[k % 3] + rng.normal(size=2))
    return experiment


@pytest.mark.parametrize("threshold", ["heuristic", "certified"])
@pytest.mark.parametrize("family", ["known", "unknown"])
def test_a_run_onwards_is_the_live_run(threshold, family, monkeypatch):
    """The same noise, told outcome by outcome to the experiment itself: it stops at the same pull."""
    variance = 1.0 if family == "known" else "unknown"
    experiment = told(family=Gaussian(variance=variance), threshold=threshold, tolerance=0.8)
    noise = np.random.default_rng(8).normal(size=(3000, 2))
    left = iter(noise.copy())
    take = lambda setting, seed: lambda rows: np.array([next(left) for _ in range(rows)])  # noqa: E731
    monkeypatch.setattr(onward, "noise_from", take)
    truths = Draws(TRUTH[None], np.full((1, 3, 2), 1.0))
    found = run_on(experiment.setting, experiment.course, experiment.delta, truths, (0,), most=3000)
    used = 0
    while not experiment.done:
        arm = experiment.choose(1, [0, 0, 0])[0]
        experiment.tell(arm, TRUTH[arm] + noise[used])
        used += 1
    assert found.stopped.all() and found.times.tolist() == [used]
    assert found.counts[0].sum() == used


def test_a_forecast_changes_nothing_and_is_kept_until_the_next_outcome():
    experiment = told(tolerance=0.8)
    before = experiment.snapshot()
    found = experiment.forecast(seconds=600)
    assert found is experiment.forecast() and experiment.snapshot() == before
    assert found.words in experiment.why() and found.low <= found.median <= found.high
    assert forecast(experiment.setting, experiment.course, 0.1, seed=3, seconds=np.inf).lengths == found.lengths
    experiment.tell(0, [2.0, 0.0])
    assert experiment.known_forecast is None and found.words not in experiment.why()


def test_what_has_nothing_to_say_says_nothing():
    assert Experiment(2, 1, family=Gaussian(variance=1.0)).forecast() is None
    constant = Experiment(2, 1, family=Gaussian(variance="unknown"), threshold="heuristic")
    constant.tell_many([(0, [1.0]), (1, [0.0]), (0, [1.0]), (1, [0.0])])
    assert constant.forecast() is None
    own = told(threshold=lambda counts, delta: 1e9)
    assert own.forecast() is None
    with pytest.raises(InputError, match="seconds must be"):
        told().forecast(seconds=-1)


def test_runs_that_were_cut_off_are_not_taken_for_short_ones():
    experiment = told(tolerance=None)
    cut = forecast(experiment.setting, experiment.course, 1e-6, seconds=1e-9)
    assert cut.lengths == () and cut.median is None and cut.followed == 0
    some = Forecast.of(100, [10, 20, 30, 70], 9, 50, budget=140)
    assert (some.low, some.median, some.high, some.chance) == (10, None, None, 3 / 9)
    assert some.lengths == (10, 20, 30) and some.words.startswith("More than 50 more pulls, but with a chance of 33 %")
    # Beyond what was followed nothing is known of a budget.
    assert Forecast.of(100, [10], 9, 50, budget=200).chance is None


def test_the_range_of_39_runs_holds_a_further_one_with_80_percent():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(4000):
        lengths = rng.exponential(1000.0, 40).astype(int)
        made = Forecast.of(0, lengths[:39], 39, None)
        held += made.low <= lengths[39] <= made.high
    assert held / 4000 == pytest.approx(0.8, abs=5 * 0.4 / np.sqrt(4000))


def test_a_copy_goes_on_by_itself():
    experiment = told(threshold="certified")
    copy = copy_of(experiment.setting, experiment.course, experiment.delta)
    experiment.tell(0, [9.0, 9.0])
    assert copy.near.inst.N.tolist() == [4.0, 4.0, 4.0] and copy.M[0, 0] != experiment.course.M[0, 0]


@pytest.fixture
def study(tmp_path):
    made = Study.create(
        tmp_path / "s.db", "cures", arms=("a", "b"), objectives=("cured",), family=Bernoulli(), threshold="heuristic",
        max_pulls=400,
    )  # fmt: skip
    for k in range(10):
        ticket = made.ask(actor="x")
        made.tell(ticket, [float(ticket.arm == "a" or k % 4 == 0)])
    return made


def test_a_study_says_when(study, tmp_path):
    assert study.status().forecast is None
    found = study.forecast(seconds=600)
    assert found.rate > 1000 and found.dates[1] is not None
    # A date says something where outcomes take their time.
    assert "At the recent rate" not in found.words
    assert "At the recent rate, 20 outcomes a day" in found.at_rate(20.0, datetime.now(UTC)).words
    assert 0.0 <= found.chance <= 1.0 and "within the budget of 400" in found.words
    assert study.status().forecast.median == found.median
    study.report(tmp_path / "report.html")
    assert f"About {found.median:,} more pulls" in (tmp_path / "report.html").read_text()
    again = Study.open(tmp_path / "s.db", "cures")
    shown = CliRunner().invoke(
        app, ["study", "forecast", "cures", "--storage", str(tmp_path / "s.db"), "--format", "json", "--seconds", "600"]
    )
    assert json.loads(shown.stdout)["median"] == found.median == again.forecast(seconds=600).median
    shown = CliRunner().invoke(app, ["study", "status", "cures", "--storage", str(tmp_path / "s.db")])
    assert "prepex study forecast cures" in shown.stdout
    first = next(event.data["token"] for event in study.events() if event.kind == "asked")
    study.correct(first, [0.0], reason="misread")
    assert study.status().forecast is None
    while not study.done:
        study.tell(study.ask(actor="x"), [1.0 if study.pulls()[0].arm == "a" else 0.0])
    assert study.forecast() is None


def test_the_server_computes_it_apart(study, tmp_path):
    pytest.importorskip("fastapi")
    from fastapi.testclient import TestClient

    from prepex.server.app import make_app

    with TestClient(make_app(tmp_path / "s.db"), base_url="http://127.0.0.1:8000") as client:
        study.forecast()  # the machine code is there now
        found = client.get("/api/studies/cures/forecast")
        assert found.status_code == 200, found.text
        found = found.json()
        assert found["computing"] is False and found["forecast"]["n_pulls"] == 10
        assert client.get("/api/studies/none/forecast").status_code == 404
        assert client.get("/api/studies/cures/status").json()["forecast"]["median"] == found["forecast"]["median"]
        assert client.get("/api/studies/cures/view").json()["forecast"]["words"].startswith("About")


def test_the_same_seed_gives_the_same_forecast_however_slow_the_machine_is(monkeypatch):
    """The clock jumps: the work that is counted does not."""
    experiment = told(tolerance=None, threshold="certified")
    made = []
    for step in (1e-9, 1e-5):
        now = count(0.0, step)
        monkeypatch.setattr(onward.time, "perf_counter", lambda now=now: float(next(now)))
        made.append(forecast(experiment.setting, experiment.course, 1e-6, seconds=0.05))
    monkeypatch.undo()
    assert made[0] == made[1] and made[0].seconds is None and 0 < made[0].followed < 50 * 12 + 2000
    assert "stopped after" not in made[0].words


def test_what_the_clock_cuts_off_says_so(monkeypatch):
    experiment = told(tolerance=None, threshold="certified")
    now = count(0.0, 0.01)
    monkeypatch.setattr(onward.time, "perf_counter", lambda: float(next(now)))
    found = forecast(experiment.setting, experiment.course, 1e-6, seconds=2.0)
    monkeypatch.undo()
    assert found.seconds == 2.0 and found.words.endswith("The runs were stopped after 2 s.")
    assert found.to_document()["seconds"] == 2.0


def test_work_is_spent_to_the_end_and_no_further():
    experiment = told(tolerance=None, threshold="certified")
    setting = experiment.setting
    truths = Draws(np.repeat(TRUTH[None], 5, axis=0), np.full((5, 3, 2), 1.0))
    effort = 1000 * onward.weight_of(setting) * 5
    found = run_on(setting, experiment.course, 1e-9, truths, (0,), most=3000, effort=effort)
    assert not found.late and found.times[~found.stopped].tolist() == [1000] * int((~found.stopped).sum())
    assert found.times.sum() * onward.weight_of(setting) <= effort
