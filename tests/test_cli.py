"""The command line as a user types it."""

import json

import pytest
from typer.testing import CliRunner

from prepex._kernels import engine
from prepex.cli import app

runner = CliRunner()


def run(*words, code=0):
    result = runner.invoke(app, list(words))
    assert result.exit_code == code, result.output + str(result.exception)
    return result


def test_bound_covboost():
    shown = run("bound", "covboost").output
    for words in ("8 m1273 (BNT/BNT)", "18 m1273 (ChAd/ChAd)", "2,103.751", "3,698", "9,474", "0.3777"):
        assert words in shown


def test_bound_as_json():
    document = json.loads(run("bound", "covboost", "--delta", "0.1", "--delta", "0.01", "--format", "json").stdout)
    assert document["pareto_set"] == [8, 18]
    assert document["characteristic_time"] == pytest.approx(2103.751, rel=1e-5)
    assert [round(floor["pulls"]) for floor in document["floors"]] == [3698, 9474]
    assert document["gap"] <= 1e-6
    assert sum(document["allocation"].values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("cone", "size"),
    [
        ("angle:90", 26),
        ("angle:120", 14),
        ("orthant", 26),
        ("facets:1,0;0,1", 26),
        ("rays:1,0;0,1", 26),
        ("tradeoffs:throughput=0..1e9 area", 26),
    ],
)
def test_pareto_under_cones(cone, size):
    document = json.loads(run("pareto", "snw", "--cone", cone, "--format", "json").stdout)
    assert len(document[0]["pareto_set"]) == size


def test_pareto_table_and_plot(tmp_path):
    picture = tmp_path / "fronts.png"
    result = run("pareto", "snw", "--cone", "angle:90", "--cone", "angle:120", "--plot", str(picture))
    assert "26 of 206" in result.output and "14 of 206" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000


def test_pareto_with_limits(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("arm,gain,cost\nA,1,5\nB,2,6\nC,3,9\nD,0,8\n")
    words = ("pareto", str(path), "--minimise", "cost")
    names = lambda *more: json.loads(run(*words, *more, "--format", "json").stdout)[0]["pareto_names"]  # noqa: E731
    assert names() == ["A", "B", "C"]
    assert names("--at-most", "cost=7") == ["A", "B"] and names("--at-least", "gain=2", "--at-most", "cost=7") == ["B"]
    assert names("--limit", "gain + cost <= 6") == ["A"] and names("--at-most", "cost=1") == []
    shown = run(*words, "--at-most", "cost=8", "--plot", str(tmp_path / "x.png")).output
    assert "Limits: cost at most 8" in shown and "2 of the 3 arms that meet them are Pareto optimal" in shown
    run(*words, "--at-most", "price=8", code=2)


def test_who_waits_for_a_compiler_sees_each_rule_when_it_is_there(monkeypatch):
    words = ("run", "correlated", "--rule", "information", "--rule", "uniform", "--runs", "5")
    monkeypatch.setattr(engine.here, "told", True)
    result = run(*words)
    lines = [line for line in result.stderr.splitlines() if "threshold heuristic, delta 0.1" in line]
    assert [line.partition(":")[0] for line in lines] == ["InformationDirected", "Uniform"]
    for line in lines:
        rule, _, mean = line.partition(":")
        # The table has the same numbers.
        row = next(row for row in result.stdout.splitlines() if row.strip().startswith(rule))
        assert mean.split(" pulls")[0].split() == row.split()[1:4] and "0/5 errors" in line
    assert "errors (" not in run(*words[:4], "--runs", "5").stderr  # one rule: the table is next
    assert run(*words, "--format", "json").stderr == ""
    monkeypatch.setattr(engine.here, "told", False)
    assert run(*words).stderr == ""


def test_run_prints_the_floor_and_the_errors(tmp_path):
    saved, picture = tmp_path / "runs.csv", tmp_path / "runs.png"
    words = ("run", "correlated", "--rule", "information", "--rule", "uniform", "--delta", "0.1", "--runs", "5")
    shown = run(*words, "--save", str(saved), "--plot", str(picture)).output
    for expected in ("floor 213 pulls", "InformationDirected", "Uniform", "0/5", "No proof bounds"):
        assert expected in shown
    assert len(saved.read_text().splitlines()) == 11 and picture.read_bytes().startswith(b"\x89PNG")
    document = json.loads(run(*words, "--format", "json").stdout)
    assert [cell["rule"] for cell in document["summary"]] == ["InformationDirected", "Uniform"]
    assert all(cell["error_rate"] == 0 for cell in document["summary"])


def test_run_flags_the_papers_alternatives():
    shown = run("run", "covboost", "--rule", "frappe", "--alternatives", "paper", "--runs", "5").output
    assert "no guarantee" in shown and "below the floor" in shown


def test_instances():
    assert "covboost" in run("instances").output
    assert {e["name"] for e in json.loads(run("instances", "--format", "json").stdout)} == {
        "covboost",
        "correlated",
        "bernoulli",
        "dose_finding",
        "snw",
    }


def test_a_family_for_each_column(tmp_path):
    path = tmp_path / "doses.csv"
    path.write_text("dose,cured:bernoulli,cost:gaussian(2.0),visits\nA,0.6,1.0,2\nB,0.4,0.2,1\nC,0.3,2.0,3\n")
    words = ("bound", str(path), "--minimise", "cost", "--minimise", "visits", "--format", "json")
    document = json.loads(run(*words, "--family", "visits=poisson").stdout)
    assert document["family"] == "Product([Bernoulli(), Gaussian(variance=2.0), Poisson()])"
    assert document["pareto_names"] == ["A", "B"]
    assert "family of 'visits' must be given" in run(*words, code=2).stderr
    assert "must read OBJECTIVE=FAMILY" in run(*words, "--family", "size=poisson", code=2).stderr
    assert "family of 'visits' must be bernoulli" in run(*words, "--family", "visits=cauchy", code=2).stderr
    document = json.loads(run(*words, "--family", "visits=gaussian(1)", "--family", "cured=gaussian(1)").stdout)
    assert document["family"].startswith("Product([Gaussian(variance=1.0), Gaussian(variance=2.0)")


def test_own_file(tmp_path):
    path = tmp_path / "designs.csv"
    path.write_text("design,speed,cost\n[red],3.0,1.0\nB,1.0,0.2\nC,0.5,2.0\n")
    shown = run("pareto", str(path), "--minimise", "cost").output
    assert "[red]" in shown and "2 of 3 arms" in shown
    document = json.loads(
        run("bound", str(path), "--minimise", "cost", "--variance", "0.5,1", "--format", "json").stdout
    )
    assert document["pareto_names"] == ["[red]", "B"] and document["minimise"] == ["cost"]
    assert "[red]" in run("bound", str(path), "--minimise", "cost", "--variance", "1").output
    single = json.loads(run("bound", str(path), "--objective", "speed", "--variance", "1", "--format", "json").stdout)
    assert single["pareto_set"] == [0]


def test_ties_and_single_arms_are_told(tmp_path):
    path = tmp_path / "tie.csv"
    path.write_text("x,y\n1,2\n1,2\n")
    assert "tie exactly" in run("bound", str(path), "--variance", "1").output
    assert (
        json.loads(run("bound", str(path), "--variance", "1", "--format", "json").stdout)["characteristic_time"] is None
    )
    path.write_text("x,y\n1,2\n")
    assert "single arm" in run("bound", str(path), "--variance", "1").output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bound", "covid"), "instance must be one of covboost"),
        (("bound", "covboost", "--delta", "2"), "delta must be in (0, 1), got 2.0"),
        (("bound", "covboost", "--cone", "angle:120"), "cone must be over 3 objectives, got 'angle:120' over 2"),
        (("bound", "covboost", "--cone", "orthant:7"), "takes no argument"),
        (("bound", "covboost", "--cone", "wide"), "cone must be orthant"),
        (("bound", "covboost", "--cone", "facets:1,0;1"), "rows of equal length"),
        (("bound", "covboost", "--cone", "facets:a,b"), "numbers separated by commas, got 'a,b'"),
        (("bound", "covboost", "--cone", "angle:"), "a number of degrees, as in angle:120, got ''"),
        (("pareto", "snw", "--cone", "tradeoffs:area"), "must read A=0.5..2 B, got 'area'"),
        (("pareto", "snw", "--cone", "tradeoffs:area=1..2 weight"), "trade-off must be one of 'area', 'throughput'"),
        (("bound", "covboost", "--variance", "1"), "are for a CSV file of your own"),
        (("bound", "nothing.csv", "--variance", "1"), "file must exist, got 'nothing.csv'"),
        (("bound", "nothing.csv"), "file must exist, got 'nothing.csv'"),
        (("pareto", "covboost", "--plot", "x.png"), "must have 2 objectives to be drawn, got 3"),
        (("pareto", "snw", "--plot", "no/such/folder/x.png"), "path must be a writable png"),
        (("bound", "covboost", "--tol", "0"), "tol must be in"),
        (("run", "covboost", "--rule", "guess"), "rule must be one of frappe, information"),
        (("run", "covboost", "--threshold", "guess"), "threshold must be one of certified"),
        (("run", "covboost", "--alternatives", "all"), "alternatives must be 'complete' or 'paper', got 'all'"),
        (("run", "covboost", "--runs", "0"), "n_runs must be an integer of at least 1"),
        (("run", "covboost", "--max-pulls", "5"), "max_pulls must be an integer of at least 20"),
        (("run", "covboost", "--delta", "0"), "deltas must be in"),
        (("run", "correlated", "--runs", "1", "--save", "x.txt"), "path must end in .csv"),
        (("run", "correlated", "--runs", "1", "--plot", "x.zzz"), "path must end in .png"),
        (("run", "correlated", "--runs", "1", "--save", "no/such/x.csv"), "in a folder that exists"),
        (("run", "correlated", "--runs", "1", "--jobs", "0"), "n_jobs must be a number of processes"),
    ],
)
def test_bad_input_is_one_clear_line(words, message):
    result = run(*words, code=2)
    assert message in result.stderr and "Traceback" not in result.output


def test_version_and_help():
    assert run("--version").output.startswith("prepex ")
    for words in ((), ("bound",), ("pareto",), ("instances",)):
        assert "Usage" in run(*words, "--help").output
