"""An option that never varies, where its variance is unknown: no number of pulls is forecast, and the words say why."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from prepex import Cone, Experiment, Gaussian, LogNormal, Study, analyse
from prepex.cli import app
from prepex.stopping import Certified

NEVER = "baseline never varied in gain, in 20 outcomes: "


def told(family, n=20, constant=0.5, to=None, **options):
    names = ("good", "baseline")
    given = {"family": family, "threshold": Certified(pilot=3)} | options
    made = Experiment(names, ("gain",), **given) if to is None else to
    rng = np.random.default_rng(0)
    for _ in range(n):
        made.tell("good", [float(np.exp(0.2 * rng.standard_normal()))])
        made.tell("baseline", [constant])
    return made


@pytest.mark.parametrize("threshold", ["certified", Certified(pilot=3)])
@pytest.mark.parametrize(
    ("family", "advice"),
    [(Gaussian(variance="unknown"), "gain=shared"), (LogNormal(), "gain=lognormal(shared)")],
)
def test_no_number_is_forecast(family, advice, threshold):
    experiment = told(family, threshold=threshold)
    ahead = experiment.forecast()
    assert ahead.median is None and ahead.low is None and not ahead.lengths
    assert ahead.words.startswith(NEVER) and f"{advice} (one variance for all options)" in ahead.words
    assert "leave the option out" in ahead.words and "more pull" not in ahead.words
    assert experiment.why().endswith(ahead.words)
    assert ahead.to_document()["never"] == ahead.words


@pytest.mark.parametrize("family", [Gaussian(variance="unknown", shared=True), Gaussian(variance=0.04)])
def test_what_is_advised_settles_it(family):
    assert told(family).done


def test_no_option_that_varies():
    experiment = Experiment(("a", "b"), ("gain",), family=Gaussian(variance="unknown"))
    for _ in range(6):
        experiment.tell_many([("a", [1.0]), ("b", [2.0])])
    assert experiment.forecast().words.startswith("No option ever varied in gain: ")
    assert "gain=exact if it has no noise" in experiment.why()


def test_nothing_is_said_of_few_outcomes_or_where_facets_mix_objectives():
    assert "never varied" not in told(Gaussian(variance="unknown"), n=4).why()
    rng = np.random.default_rng(0)
    mixing = Experiment(
        ("a", "b"), ("x", "y"), family=Gaussian(variance="unknown"), cone=Cone.angle(120), threshold=Certified(pilot=3)
    )
    for _ in range(8):
        mixing.tell("a", [0.5, 3.0 + 0.5 * rng.standard_normal()])
        mixing.tell("b", [0.5, 2.0 + 0.5 * rng.standard_normal()])
    assert "never varied" not in mixing.why()


def test_an_analysis_says_it(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "trials.csv"
    rows = [f"good,{1 + 0.2 * rng.standard_normal()}\nbaseline,0.5" for _ in range(20)]
    path.write_text("\n".join(["option,gain", *rows]) + "\n")
    found = analyse(path, family={"gain": "unknown"})
    assert NEVER in str(found) and "more pulls (" not in str(found)
    document = found.to_document()
    assert document["forecast"]["never"].startswith(NEVER) and document["forecast"]["median"] is None
    found.report(tmp_path / "page.html")
    assert NEVER in (tmp_path / "page.html").read_text()


def test_a_study_says_it(tmp_path):
    path = tmp_path / "s.db"
    with Study.create(
        path, "s", arms=("good", "baseline"), objectives=("gain",), family=Gaussian(variance="unknown")
    ) as s:
        rng = np.random.default_rng(0)
        for _ in range(20):
            ticket = s.ask()
            s.tell(ticket.token, [0.5 if ticket.arm == "baseline" else rng.normal()])
        assert s.status().forecast.never and "baseline never varied in gain" in s.why()
        s.report(tmp_path / "s.html")
    assert "baseline never varied in gain" in (tmp_path / "s.html").read_text()
    run = CliRunner().invoke
    for command in ("status", "forecast", "why"):
        assert "baseline never varied in gain" in run(app, ["study", command, "s", "--storage", str(path)]).output
    shown = run(app, ["study", "forecast", "s", "--storage", str(path), "--format", "json"]).output
    assert json.loads(shown)["median"] is None
