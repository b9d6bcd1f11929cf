"""What somebody types to `prepex study`, and what it answers: numbers below zero, lists, unknown variances, the end."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from prepex import Gaussian, Product, Study, analyse
from prepex.cli import app
from prepex.cli.source import read_problem

runner = CliRunner()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREPEX_STORAGE", raising=False)
    return tmp_path


def run(*words, code=0):
    result = runner.invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output + repr(result.exception)
    return " ".join(result.output.split())


def make(*more, name="dose", code=0):
    arms = ("--arm", "low", "--arm", "high", "--objective", "gain", "--objective", "cost", "--minimise", "cost")
    return run("study", "create", name, *arms, *more, code=code)


# Numbers below zero


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-1.0", "2.0"), {"gain": -1.0, "cost": 2.0}),
        (("-1", "-2"), {"gain": -1.0, "cost": -2.0}),
        (("-.5", "-1e-3"), {"gain": -0.5, "cost": -0.001}),
        (("--actor", "me", "-1", "+2", "--format", "json"), {"gain": -1.0, "cost": 2.0}),
        (("-1", "--actor", "me", "-2"), {"gain": -1.0, "cost": -2.0}),
        (("--", "-1", "2"), {"gain": -1.0, "cost": 2.0}),
        (("cost=-3", "gain=-1e2"), {"gain": -100.0, "cost": -3.0}),
    ],
)
def test_outcomes_below_zero(words, told):
    make("--variance", "1")
    token = Study.open("prepex.db", "dose").ask().token
    run("study", "tell", "dose", token, *words)
    (first,) = Study.open("prepex.db", "dose").observations(0, 9)[0]
    assert first.values == told
    run("study", "correct", "dose", token, "-7", "-8", "--reason", "typo")
    assert Study.open("prepex.db", "dose").observations(0, 9)[0][0].values == {"gain": -7.0, "cost": -8.0}


@pytest.mark.parametrize("word", ["--formt", "-x", "-inf", "-nan", "1_000", "\u0661", "0x1", "1,5", "", "-", "--1"])
def test_what_is_no_number_and_no_option(word):
    make("--variance", "1")
    token = Study.open("prepex.db", "dose").ask().token
    assert "values must be" in run("study", "tell", "dose", token, "1", word, code=2)


def test_help_is_one_letter():
    for words in ((), ("study",), ("study", "tell"), ("run",)):
        assert "Usage" in run(*words, "-h")


# Lists


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        (
            "--arm",
            "low,middle,high",
            "--arm low --arm middle --arm high, got 'low,middle,high'; a name that has a comma",
        ),
        ("--arm", "10 mg, 20 mg", "--arm '10 mg' --arm '20 mg'"),
        ("--objective", "gain,cost", "--objective gain --objective cost"),
        ("--minimise", "gain,cost", "--minimise gain --minimise cost"),
    ],
)
def test_a_list_in_one_option_is_refused_with_the_way(option, value, hint):
    assert hint in make(option, value, "--variance", "1", code=2)


def test_a_name_with_a_comma_comes_from_a_file(folder):
    (folder / "arms.csv").write_text('city;price\n"Paris, France";1,5\nRome;2\n')
    run("study", "create", "x", "--arms-from", "arms.csv", "--objective", "gain", "--variance", "1")
    assert list(Study.open("prepex.db", "x").status().counts) == ["Paris, France", "Rome"]
    (folder / "arms.csv").write_text("city,price\nRome,1\n,2\n")
    words = ("--arms-from", "arms.csv", "--objective", "gain", "--variance", "1")
    assert "line 3: city must name an option, got an empty cell" in run("study", "create", "y", *words, code=2)


# Variances


@pytest.mark.parametrize(
    ("text", "family", "words"),
    [
        ("unknown", Gaussian(variance="unknown"), "Gaussian of unknown variance, each objective"),
        (
            "shared",
            Gaussian(variance="unknown", shared=True),
            "Gaussian of unknown variance, the same for all options, each objective",
        ),
        (
            "unknown, 0.5",
            Product([Gaussian(variance="unknown"), Gaussian(variance=0.5)]),
            "gain: Gaussian of unknown variance; cost: Gaussian of variance 0.5",
        ),
        ("0.5,2", Gaussian(variance=[0.5, 2.0]), "Gaussian of variance 0.5 (gain), 2 (cost)"),
        ("0.5", Gaussian(variance=0.5), "Gaussian of variance 0.5, each objective"),
    ],
)
def test_variances_known_and_unknown(text, family, words):
    assert f"outcomes: {words} cone" in make("--variance", text)
    assert repr(Study.open("prepex.db", "dose").picture()["design"]["family"]) == repr(repr(family))


@pytest.mark.parametrize("text", ["unkown", "bernoulli", "1,2,3", "-1", "0", "nan", "1_0", "unknown(", ""])
def test_bad_variances(text):
    assert "variance must be" in make("--variance", text, code=2)


def test_a_simulation_needs_the_truth(folder):
    (folder / "means.csv").write_text("name,x\na,1\nb,2\n")
    assert "unknown(2.0)" in run("run", "means.csv", "--variance", "unknown", "--runs", "1", code=2)
    family = read_problem("means.csv", variance="unknown(2.0)").family
    assert repr(family) == "Gaussian(variance='unknown', noise=2.0)"
    shown = run("run", "means.csv", "--variance", "2", "--runs", "2", "--rule", "uniform")
    assert "To simulate one: --threshold certified --delta 0.05" in shown
    assert "To simulate one" not in run(
        *("run", "means.csv", "--variance", "2", "--runs", "2", "--rule", "uniform", "--delta", "0.1")
    )


# What is fixed, what is out, and the end


def test_create_says_what_it_fixes():
    shown = make(*("--variance", "0.25", "--max-pulls", "50", "--lease", "24h", "--cone", "angle:120", "--seed", "7"))
    for words in (
        *("2 options: 'low', 'high'", "gain (max), cost (min)", "Gaussian of variance 0.25", "angle(120)"),
        "delta: 0.05",
        *("threshold: certified", "rule: information, seed 7", "budget: 50 outcomes", "lease: 86400 seconds"),
    ):
        assert words in shown
    shown = make("--variance", "1", "--threshold", "heuristic", "--cone", "facets:1,0.5;0.5,1", name="other")
    assert "heuristic (no proof bounds its error)" in shown and "cone: facets [[" in shown and "budget: none" in shown
    document = json.loads(runner.invoke(app, ["study", "create", "third", *_words(), "--format", "json"]).output)
    assert document["arms"] == ["low", "high"] and document["design"]["delta"] == 0.05


def _words():
    return ["--arm", "low", "--arm", "high", "--objective", "gain", "--variance", "1"]


def test_no_pull_is_left_out_without_a_word():
    make("--variance", "1")
    tokens = [ticket.token for ticket in Study.open("prepex.db", "dose").ask(205)]
    shown = run("study", "pulls", "dose")
    assert tokens[199] in shown and tokens[200] not in shown and "and 5 more, of 205: --all lists them all" in shown
    shown = run("study", "pulls", "dose", "--all")
    assert all(token in shown for token in tokens) and "more, of" not in shown
    listed = json.loads(runner.invoke(app, ["study", "pulls", "dose", "--format", "json"]).output)
    assert [pull["token"] for pull in listed] == tokens


def test_ask_after_the_end():
    make("--variance", "0.01")
    study, rng = Study.open("prepex.db", "dose"), np.random.default_rng(0)
    spare = study.ask(2)
    for ticket in spare[:1]:
        study.tell(ticket.token, [0.0, 1.0])
    study.void(spare[1].token, reason="lost")
    while (ticket := study.ask()) is not None:
        good = float(ticket.arm == "high")
        study.tell(ticket.token, rng.normal([good, 1 - good], 0.1).tolist())
    events = study.status().events
    assert study.ask(3) == [] and study.status().events == events
    shown = run("study", "ask", "dose", code=3)
    assert "Nothing to hand out. Stopped after" in shown and "This is the study's answer" in shown
    assert "prepex study report dose report.html" in shown


def test_ask_when_the_budget_is_out_and_when_it_is_spent():
    make("--variance", "1", "--max-pulls", "2", name="my dose")
    study = Study.open("prepex.db", "my dose")
    first, second = study.ask(5)
    assert "The rest of the budget is out" in run("study", "ask", "my dose", code=3)
    assert "prepex study pulls 'my dose'" in run("study", "ask", "my dose", code=3)
    for ticket in (first, second):
        study.tell(ticket.token, [0.0, 0.0])
    assert "Its budget is spent" in run("study", "ask", "my dose", code=3)


# Anything at all


BAD = ["", "-1", "1e400", "nan", "10" * 30, "x" * 3000, "\u0661", "\udc80", "é;,\n", "a=b"]


def test_no_word_ends_in_a_traceback(folder):
    make("--variance", "1")
    token = Study.open("prepex.db", "dose").ask().token
    (folder / "means.csv").write_text("name,x,y\na,1,2\nb,2,1\n")
    base = ("study", "create", "new", *_words())
    lines = [
        *((*base, option, "{}") for option in ("--arm", "--objective", "--minimise", "--family", "--cone", "--delta")),
        *((*base, option, "{}") for option in ("--rule", "--threshold", "--seed", "--max-pulls", "--lease", "--actor")),
        *((*base, "--storage", "{}/x"), ("study", "create", "{}", *_words()), (*base[:-1], "{}")),
        ("study", "create", "new", "--arms-from", "{}", "--objective", "gain", "--variance", "1"),
        *(("study", command, "{}") for command in ("ask", "status", "pulls", "why", "verify", "certificate", "tell")),
        *(
            ("study", "tell", "dose", "{}", "1"),
            ("study", "tell", "dose", token, "{}"),
            ("study", "ask", "dose", "-n", "{}"),
        ),
        *(("study", "import", "dose", "{}"), ("study", "import", "dose", "means.csv", "--arm-column", "{}")),
        *(("study", "void", "dose", "{}", "--reason", "x"), ("study", "void", "dose", token, "--reason", "{}")),
        *(
            ("study", "restore", "{}"),
            ("study", "delete", "dose", "--confirm", "{}"),
            ("study", "list", "--storage", "{}"),
        ),
        *(("pareto", "{}"), ("pareto", "means.csv", "--cone", "{}"), ("pareto", "means.csv", "--objective", "{}")),
        *(("bound", "means.csv", "--variance", "{}"), ("bound", "means.csv", "--variance", "1", "--delta", "{}")),
        *(("bound", "means.csv", "--family", "{}"), ("bound", "means.csv", "--family", "x={}")),
        *(("verify", "{}"), ("verify", "means.csv", "--log", "{}"), ("token", "{}", "worker"), ("token", "x", "{}")),
        *(("token", "x", "worker", "--days", "{}"), ("tokens", "--keys", "{}")),
        *(("run", "means.csv", "--variance", "1", "--runs", "1", option, "{}") for option in ("--rule", "--threshold")),
        *(("run", "means.csv", "--variance", "1", "--runs", "1", option, "{}") for option in ("--save", "--seed")),
    ]
    odd = []
    for line in lines:
        for bad in BAD:
            result = runner.invoke(app, [word.replace("{}", bad) if word != token else word for word in line])
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                odd.append((line, bad, repr(result.exception)[:200]))
    assert not odd, f"{len(odd)}: {odd[:20]}"


def test_an_interpreter_of_its_own_accepts_a_minus():
    """Click's runner and a shell are not the same."""
    make("--variance", "1")
    token = Study.open("prepex.db", "dose").ask().token
    words = [sys.executable, "-m", "prepex", "study", "tell", "dose", token, "-1.0", "2.0"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and "taken" in done.stdout


def test_with_a_tolerance_a_probability_is_that_of_being_within_it(tmp_path):
    """Of two options that are level one is out, with a high probability of being within the tolerance of the front."""
    rng = np.random.default_rng(0)
    rows = [(name, mean + 0.1 * rng.normal()) for _ in range(30) for name, mean in (("a", 1.0), ("b", 0.9), ("c", 0.0))]
    table = tmp_path / "t.csv"
    table.write_text("arm,x\n" + "".join(f"{name},{value!r}\n" for name, value in rows))
    storage = str(tmp_path / "s.db")
    given = {"arms": ("a", "b", "c"), "objectives": ("x",), "family": Gaussian(variance=0.01), "delta": 1e-9}
    study = Study.create(storage, "s", **given, tolerance=0.3)
    study.import_csv(table)
    words = (
        "the probability, given the outcomes, that the option is within the tolerance of the front; out all the same, "
        "as one that is kept is at least as good, within the tolerance, in everything: b"
    )
    assert study.status().states["b"] == "out" and study.status().chances == words
    assert f"optimal: {words}" in run("study", "status", "s", "--storage", storage)
    study.report(tmp_path / "r.html")
    assert f"optimal: {words}" in (tmp_path / "r.html").read_text()
    found = analyse(table, tolerance=0.3, family="gaussian(0.01)")
    assert f"Probability: {words}." in str(found)
    assert "Probability:" not in str(analyse(table, family="gaussian(0.01)"))
