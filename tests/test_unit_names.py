"""Objectives are named with their units or without, wherever a command line names them."""

import pytest
from typer.testing import CliRunner

from prepex import Gaussian, InputError, Study
from prepex.cli import app
from prepex.cli.source import parse_cone
from prepex.spoken import choose_family, parse_limits, parse_prior, parse_tolerance

NAMES = ("strength [MPa]", "cost [EUR]")
MEANS = "design,strength [MPa],cost [EUR]\nA,3,1\nB,2,0.5\nC,1,2\n"


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def trials(tmp_path):
    path = tmp_path / "trials.csv"
    rows = [f"{arm},{value + k % 5 / 10},{1 + k % 7 / 10}" for k in range(20) for arm, value in (("a", 1), ("b", 3))]
    path.write_text("\n".join(["option,strength [MPa],cost [EUR]", *rows]) + "\n")
    return path


@pytest.fixture
def means(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text(MEANS)
    return path


def test_a_limit_on_a_sum(trials):
    found = run("analyse", trials, "--minimise", "cost", "--limit", "strength + 2 cost <= 30")
    assert found.exit_code == 0, found.output
    assert "limits strength [MPa] + 2 cost [EUR] at most 30" in " ".join(found.stdout.split())
    wrong = run("analyse", trials, "--limit", "strenth <= 3")
    assert wrong.exit_code == 2 and "limits must name objectives" in wrong.stderr and "'strength'" in wrong.stderr


def test_the_cone_of_a_study(tmp_path):
    place = tmp_path / "s.db"
    made = run(
        "study", "create", "x", "--arm", "a", "--arm", "b", "--objective", NAMES[0], "--objective", NAMES[1],
        "--minimise", "cost", "--variance", "1", "--tolerance", "cost=0.1", "--at-most", "cost=9", "--limit",
        "cost - strength <= 9", "--storage", place,
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    study = Study.open(str(place), "x")
    assert study.picture()["design"]["minimise"] == (NAMES[1],)
    for k in range(4):
        study.tell(study.ask(actor="x"), [float(k), 1.0])
    found = run("study", "under", "x", "--cone", "tradeoffs:strength=0.5..1 cost", "--storage", place)
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize(
    "words",
    [
        ("--family", "cost=exponential", "--family", "strength=gaussian(1)"),
        ("--variance", "1", "--tolerance", "cost=0.1", "--minimise", "cost", "--limit", "cost + strength <= 9"),
        ("--variance", "1", "--at-most", "cost=1.5", "--uncertainty", "cost=0.1", "--what-if", "tolerance=cost=1"),
    ],
)
def test_a_plan(means, words):
    found = run("plan", means, *words, "--scenario", "guess", "--runs", "2", "--jobs", "1", "--threshold", "heuristic")
    assert found.exit_code == 0, found.output


def test_means(means):
    words = ("--minimise", "cost", "--at-most", "cost=1.5", "--cone", "tradeoffs:cost=0.5..1 strength")
    found = run("pareto", means, *words)
    assert found.exit_code == 0, found.output
    found = run("pareto", means, "--objective", "cost")
    assert found.exit_code == 0, found.output
    found = run("plan", means, "--objective", "cost", "--variance", "1", "--scenario", "guess", "--runs", "2")
    assert found.exit_code == 0, found.output
    found = run("bound", means, "--variance", "1", "--tolerance", "cost=0.1", "--minimise", "cost")
    assert found.exit_code == 0, found.output


def test_one_objective_twice_is_refused():
    with pytest.raises(InputError, match="must be given once"):
        choose_family(NAMES, ("", ""), ("cost=unknown", "cost [EUR]=shared"), [Gaussian(variance=1.0)])


@pytest.mark.parametrize(
    ("parse", "words"),
    [
        (lambda: parse_tolerance(["cost=0,3"]), r"with a decimal point \(0\.3\), got 'cost=0,3'"),
        (lambda: parse_tolerance(["cost=5,5%"]), r"with a decimal point \(5\.5%\)"),
        (lambda: parse_limits(["cost=4,5"], [], []), r"at_most must be a number with a decimal point \(4\.5\)"),
        (lambda: parse_limits([], ["cost=1,500"], []), r"with a decimal point \(1\.500, or 1500\)"),
        (lambda: parse_prior(["cost=1,5:2"]), r"with a decimal point \(1\.5\)"),
        (lambda: parse_cone("tradeoffs:strength=1,5..2 cost", NAMES), r"with a decimal point \(1\.5\)"),
    ],
)
def test_a_decimal_comma_is_refused_with_what_to_write(parse, words):
    with pytest.raises(InputError, match=words):
        parse()
