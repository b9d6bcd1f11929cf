"""The check of the noise: alarms where they belong, and rarely elsewhere."""

import numpy as np
import pytest

import prepex as px
from prepex.labels import Labels
from prepex.noise import FIRST, _largest, check_noise

ARMS, LABELS = 4, Labels.make((4, 1), None, ("gain",))


def outcomes(rng, n=200, sd=1.0):
    who = rng.integers(0, ARMS, n)
    return who, (np.arange(ARMS)[who] + sd * rng.normal(size=n))[:, None]


def kinds(who, values, family, **more):
    return {alarm.kind for alarm in check_noise(who, values, labels=LABELS, family=family, **more).alarms}


@pytest.mark.parametrize("family", [px.Gaussian(variance=1.0), px.Gaussian(variance="unknown")], ids=repr)
def test_no_alarm_where_all_is_as_declared(family):
    rng = np.random.default_rng(1)
    # At most 1 % may have one: with 60, three or more have a chance of 0.3 % at the most.
    false = sum(bool(kinds(*outcomes(rng), family, tellers=list("ab" * 100))) for _ in range(60))
    assert false <= 2


@pytest.mark.parametrize("factor", [4.0, 36.0, 0.2])
def test_another_spread_is_noticed(factor):
    rng = np.random.default_rng(2)
    for _ in range(20):
        assert "spread" in kinds(*outcomes(rng, sd=np.sqrt(factor)), px.Gaussian(variance=1.0))


@pytest.mark.parametrize("family", [px.Gaussian(variance=1.0), px.Gaussian(variance="unknown")], ids=repr)
def test_drift_tails_and_tellers_are_noticed(family):
    rng = np.random.default_rng(3)
    who, x = outcomes(rng, 400)
    assert kinds(who, x + np.linspace(0.0, 6.0, 400)[:, None], family) & {"drift"}
    tellers = ["a" if t % 2 else "b" for t in range(400)]
    apart = np.where(np.arange(400) % 2, 2.0, -2.0)[:, None]
    assert "teller" in kinds(who, x + apart, family, tellers=tellers)
    assert "teller" not in kinds(who, x, family, tellers=tellers)
    wild = x + np.where(rng.random(400) < 0.03, 15.0, 0.0)[:, None] * rng.choice([-1.0, 1.0], (400, 1))
    assert "tails" in kinds(who, wild, px.Gaussian(variance="unknown"))


def test_looking_later_never_takes_an_alarm_back():
    rng = np.random.default_rng(4)
    who, x = outcomes(rng, 300, sd=2.0)
    found = check_noise(who, x, labels=LABELS, family=px.Gaussian(variance=1.0)).alarms[0]
    early = check_noise(who[: found.since], x[: found.since], labels=LABELS, family=px.Gaussian(variance=1.0))
    before = check_noise(who[: found.since - 1], x[: found.since - 1], labels=LABELS, family=px.Gaussian(variance=1.0))
    assert found.kind in {alarm.kind for alarm in early.alarms}
    assert found.kind not in {alarm.kind for alarm in before.alarms}


def test_the_largest_likelihood_is_that_of_its_definition():
    rng = np.random.default_rng(5)
    x = rng.normal(3.0, 2.0, 12)
    for declared in (4.0, None):
        for n in range(2, 13):
            part = x[:n]
            spread = np.sqrt(declared) if declared else part.std()
            slow = (-0.5 * ((part - part.mean()) / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi)).sum()
            assert _largest(x, declared)[n - 1] == pytest.approx(slow)


def test_logarithms_other_families_and_few_outcomes():
    rng = np.random.default_rng(6)
    who, x = outcomes(rng)
    labels = Labels.make((4, 3), None, ("time", "cured", "price"))
    family = px.Product([px.LogNormal(), px.Bernoulli(), px.Exact()])
    table = np.column_stack([np.exp(x[:, 0]), rng.integers(0, 2, 200), np.ones(200)])
    found = check_noise(who, table, labels=labels, family=family)
    assert found.checked == ("time",) and [spread.objective for spread in found.spreads] == ["time", "cured"]
    assert found.spreads[0].seen == pytest.approx(1.0, rel=0.2) and not found.alarms
    short = check_noise(who[:FIRST], x[:FIRST], labels=LABELS, family=px.Gaussian(variance=1.0))
    assert short.alarms == () and short.words == ""
    flat = check_noise(np.tile([0, 1], 20), np.ones((40, 1)), labels=LABELS, family=px.Gaussian(variance="unknown"))
    assert flat.alarms == ()


def test_a_study_says_that_its_variance_is_another(tmp_path, monkeypatch):
    import json

    from typer.testing import CliRunner

    from prepex.cli import app

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    rows = "arm,gain\n" + "".join(f"{'ab'[t % 2]},{6.0 * rng.normal()!r}\n" for t in range(60))
    (tmp_path / "t.csv").write_text(rows)
    study = px.Study.create("prepex.db", "s", arms=("a", "b"), objectives=("gain",), family=px.Gaussian(variance=1.0))
    study.import_csv("t.csv")
    found = study.check_noise()
    assert found.alarms[0].kind == "spread" and 4.0 < found.spreads[0].seen < 8.0
    assert "larger than declared" in study.picture()["noise"]
    study.report("out.html")
    assert "larger than declared" in (tmp_path / "out.html").read_text()
    shown = CliRunner().invoke(app, ["study", "status", "s"])
    assert "larger than declared" in " ".join(shown.output.split())
    plain = CliRunner().invoke(app, ["study", "noise", "s", "--format", "json"])
    assert plain.exit_code == 1 and json.loads(plain.output)["alarms"][0]["objective"] == "gain"
    words = ("study", "create", "t", "--arm", "a", "--arm", "b", "--objective", "gain")
    assert CliRunner().invoke(app, words).exit_code == 0
    assert px.Study.open("prepex.db", "t").picture()["design"]["family"] == "Gaussian(variance='unknown')"
    quiet = CliRunner().invoke(app, ["study", "noise", "t"])
    assert quiet.exit_code == 0 and "No alarm" in quiet.output
