"""`prepex study` and `prepex verify`, as a user types them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prepex import Gaussian, Study
from prepex.cli import app
from prepex.cli import study as commands

runner = CliRunner()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREPEX_STORAGE", raising=False)
    return tmp_path


def run(*words, code=0, text=None):
    result = runner.invoke(app, list(map(str, words)), input=text)
    assert result.exit_code == code, result.output + str(result.exception)
    return result.output


def shown(*words):
    return json.loads(run(*words, "--format", "json"))


def create(*more):
    names = ("--arm", "low", "--arm", "high", "--objective", "gain", "--objective", "cost", "--minimise", "cost")
    return run("study", "create", "dose", *names, "--variance", "0.25", "--delta", "0.1", *more)


def test_a_study_from_beginning_to_end(folder):
    assert "prepex study ask dose" in create()
    rng = np.random.default_rng(0)
    for _ in range(50):
        result = runner.invoke(app, ["study", "ask", "dose", "-n", "4", "--format", "json", "--actor", "site A"])
        if result.exit_code == 3:
            break
        for ticket in json.loads(result.output):
            better = 2.0 if ticket["arm"] == "high" else 0.0
            gain, cost = rng.normal(better, 0.5), rng.normal(3.0 - better, 0.5)
            receipt = shown("study", "tell", "dose", ticket["token"], f"gain={gain}", f"cost={cost}")
            assert receipt["new"] and receipt["missing"] == []
    assert "Nothing to hand out. Stopped after" in run("study", "ask", "dose", code=3)
    status = shown("study", "status", "dose")
    assert status["done"] and status["recommendation"]["status"] == "certified"
    assert "certified" in run("study", "status", "dose") and "Pareto optimal" in run("study", "status", "dose")
    assert "Stopped after" in run("study", "why", "dose")
    assert "every hash and the state are right" in run("study", "verify", "dose")
    assert shown("study", "verify", "dose")["ok"]
    run("study", "certificate", "dose", "certificate.json")
    assert json.loads(run("study", "certificate", "dose"))["format"] == "prepex certificate 3"
    run("study", "export", "dose", "events.jsonl")
    assert "the certificate is right" in run("verify", "certificate.json", "--log", "events.jsonl")
    assert shown("verify", "certificate.json")["ok"]
    assert "restored dose" in run("study", "restore", "events.jsonl", "--storage", "copy.db")
    assert shown("study", "status", "dose", "--storage", "copy.db") == status
    wrong = (folder / "events.jsonl").read_text().replace("site A", "site B", 1)
    (folder / "wrong.jsonl").write_text(wrong)
    assert "NOT right" in run("verify", "certificate.json", "--log", "wrong.jsonl", code=1)
    run("study", "report", "dose", "report.html")
    page = (folder / "report.html").read_text()
    assert page.count("<svg") == 3 and "wrong with probability at most 0.1" in page and "http://www.w3.org" in page
    assert "src=" not in page and "<link" not in page, "self-contained"


def test_tell_correct_void_in_a_terminal():
    create("--lease", "24h")
    token, other = (ticket["token"] for ticket in shown("study", "ask", "dose", "-n", "2"))
    assert "still to come: cost" in run("study", "tell", "dose", token, "gain=1")
    assert "known already" in run("study", "tell", "dose", token, "gain=1")
    assert "taken" in run("study", "tell", "dose", token, "cost=-1.5")
    refused = run("study", "tell", "dose", token, "1", "2", code=2)
    assert "Error: outcome of" in refused and "cost = -1.5, got cost = 2.0" in refused
    run("study", "correct", "dose", token, "gain=2", "--reason", "typo")
    assert f"voided {other}" in run("study", "void", "dose", other, "--reason", "lost")
    words = f"{other} had been voided before, nothing changed; the reason then: lost"
    assert words in run("study", "void", "dose", other, "--reason", "spilled")
    status = shown("study", "status", "dose")
    assert status["means"]["low"] == [2.0, -1.5] and status["voided"] == 1 and status["corrected"] == 1
    assert "corrected 1" in run("study", "status", "dose")


def test_waiting_outcomes_are_shown():
    create()
    first, second = (ticket["token"] for ticket in shown("study", "ask", "dose", "-n", "2", "--actor", "bo"))
    run("study", "tell", "dose", second, "1", "2")
    assert f"1 told outcome waits for {first} (low, bo, since" in run("study", "status", "dose")


def test_arms_and_outcomes_from_files(folder):
    (folder / "arms.csv").write_text("option,price\nx [1],3\ny,4\n")
    words = ("--arms-from", "arms.csv", "--objective", "gain", "--variance", "1", "--storage", "other.db")
    run("study", "create", "files", *words, "--max-pulls", "9", "--cone", "orthant", "--rule", "uniform")
    (folder / "old.csv").write_text("arm,gain\nx [1],1\ny,2\n")
    assert "imported 2 outcomes" in run("study", "import", "files", "old.csv", "--storage", "other.db")
    assert "x [1]" in run("study", "status", "files", "--storage", "other.db")
    assert shown("study", "list", "--storage", "other.db")[0]["name"] == "files"
    assert "files" in run("study", "list", "--storage", "other.db")
    run("study", "delete", "files", "--confirm", "no", "--storage", "other.db", code=2)
    run("study", "delete", "files", "--confirm", "files", "--storage", "other.db")
    assert shown("study", "list", "--storage", "other.db") == []


def test_the_storage_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("PREPEX_STORAGE", "mine.db")
    create()
    assert shown("study", "list", "--storage", "mine.db")[0]["name"] == "dose"


def test_a_bare_create_asks(monkeypatch):
    assert "name must be given" in run("study", "create", code=2)

    class Terminal:
        @staticmethod
        def isatty():
            return True

    class System:
        stdin = Terminal()

    monkeypatch.setattr(commands, "sys", System)
    # A bad answer is asked for again, with the reason; no other is lost.
    named = "my study\nlow\nlow, high\ngain, cost\nprice\ncost\n0.25\nunkown\nunknown\n"
    answers = named + "angl:120\n\nprice=1\ngain=0.5, cost=2\nprice <= 3\ncost <= 9\n5\n0.1\n-3\n100\n1 day\n24h\n"
    shown_then = run("study", "create", text=answers)
    for words in (
        "arms must be at least 2",
        "minimise must be of",
        "family of 'cost' must be",
        "cone must be",
        "tolerance must be of",
        "limits must be on",
        "delta must",
    ):
        assert words in shown_then
    assert "max_pulls must be" in shown_then and "lease must be" in shown_then and "Created my study" in shown_then
    (found,) = shown("study", "list")
    assert found["n_arms"] == 2 and found["objectives"] == ["gain", "cost"] and found["delta"] == 0.1
    settings = Study.open("prepex.db", "my study").certificate()["settings"]
    assert settings["tolerance"] == [0.5, 2.0] and settings["limits"] == [{"weights": [0.0, 1.0], "at_most": 9.0}]
    family = settings["family"]
    assert [single["variance"] for single in family["families"]] == [0.25, "unknown"]


def test_a_family_for_each_objective():
    made = (
        "study",
        "create",
        "doses",
        "--arm",
        "10 mg",
        "--arm",
        "20 mg",
        "--objective",
        "cured",
        "--objective",
        "visits",
    )
    assert "family of 'visits' must be given" in run(*made, "--family", "cured=bernoulli", code=2)
    run(*made, "--family", "cured=bernoulli", "--family", "visits=poisson")
    (ticket,) = shown("study", "ask", "doses")
    words = run("study", "tell", "doses", ticket["token"], "cured=0.5", "visits=2", code=2)
    assert "reward of 'cured' must be 0 or 1 for Bernoulli, got 0.5" in " ".join(words.split())
    run("study", "tell", "doses", ticket["token"], "cured=1", "visits=2")
    (first,) = shown("study", "ask", "doses")
    assert shown("study", "ask", "doses")[0] == first | {"again": True}
    (second,) = shown("study", "ask", "doses", "--new")
    assert f"wait for {first['token']}" in run("study", "tell", "doses", second["token"], "cured=1", "visits=0")
    assert [pull["token"] for pull in shown("study", "pulls", "doses")] == [first["token"], second["token"]]
    assert first["token"] in run("study", "pulls", "doses")
    Path("old.csv").write_text("arm,cured,visits\n10 mg,1,2\n")
    assert "imported 1" in run("study", "import", "doses", "old.csv")
    assert "imported before" in run("study", "import", "doses", "old.csv", code=2)
    assert "imported 1" in run("study", "import", "doses", "old.csv", "--again")
    run("study", "report", "doses", "report.html")
    assert "cured: Bernoulli (0 or 1); visits: Poisson (counts)" in Path("report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("study", "status", "dose", "--storage", "none.db"), "storage must exist"),
        (("study", "status", "nobody"), "name must be a study of this storage ('dose'), got 'nobody'"),
        (("study", "create", "x", "--arm", "a", "--arm", "b"), "objectives must be given with --objective"),
        (("study", "create", "x"), "arms must be given with --arm or --arms-from"),
        (("study", "tell", "dose", "1-2", "x"), "values must be a number such as 0.31, with a decimal point, got 'x'"),
        (("study", "tell", "dose", "1-2", "gain=1", "gain=2"), "each objective once"),
        (("study", "tell", "dose", "1-2", "gain=1"), "token must be one that this study handed out"),
        (("study", "import", "dose", "none.csv"), "file must exist, got 'none.csv'"),
        (("verify", "none.json"), "certificate must be a file, got none: 'none.json'"),
    ],
)
def test_bad_words(words, message):
    create()
    assert message in run(*words, code=2)


def test_a_bad_lease():
    names = ("--arm", "a", "--arm", "b", "--objective", "gain", "--variance", "1")
    assert "lease must be a time with its unit" in run("study", "create", "x", *names, "--lease", "soon", code=2)


def test_without_the_extra_it_says_what_to_install():
    script = "import sys; sys.modules['sqlalchemy'] = None; from prepex.cli import app; app()"
    for words in (("study", "list"), ("study", "status", "x"), ("study", "create", "x")):
        done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
        assert done.returncode == 2 and "Error: studies need an extra: pip install 'prepex[study]'" in done.stderr


def test_a_check_needs_only_numpy():
    heavy = "('sqlalchemy', 'numba', 'scipy', 'prepex._kernels')"
    script = f"import sys, prepex.study.check; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_margin_below_zero_is_explained():
    x = np.random.default_rng(0).normal(size=24)
    Path("t.csv").write_text("arm,x\n" + "".join(f"{'ab'[k % 2]},{value}\n" for k, value in enumerate(x)))
    run("study", "create", "s", "--from", "t.csv", "--family", "x=unknown")
    found = shown("study", "status", "s")
    assert found["reached"] < 0
    assert "not yet: below 0 the weakest test" in " ".join(run("study", "status", "s").split())
    assert "(below 0: not yet more than looking often costs)" in " ".join(run("study", "why", "s").split())


def test_units_stand_beside_objectives_in_a_report(folder):
    study = Study.create("s.db", "s", arms=("a", "b"), objectives=("time",), family=Gaussian(variance=1.0))
    study.report("out.html", units={"time": "s"})
    assert "time [s] (max)" in Path("out.html").read_text()


def test_a_limit_that_changes_nothing_is_one_plain_line():
    words = ["--arm", "a", "--arm", "b", "--objective", "x", "--family", "x=bernoulli", "--at-most", "x=1.3"]
    found = runner.invoke(app, ["study", "create", "s", *words])
    assert found.exit_code == 0
    assert found.stderr.splitlines() == [
        "Warning: the limit 'x at most 1.3' changes nothing: every mean meets it; a mean of x is from 0 to 1"
    ]


def test_what_was_meant_is_said():
    create("--tolerance", "gain=0.5", "--at-most", "cost=9")
    assert "did you mean 'dose'?" in run("study", "status", "doses", code=2)
    base = ("study", "create", "s", "--arm", "a", "--arm", "b", "--objective", "cost", "--variance", "1")
    assert "(a share is for a LogNormal objective: --family cost=lognormal)" in run(
        *base, "--tolerance", "cost=5%", code=2
    )
    assert "must be a number without its unit" in run(*base, "--tolerance", "cost=2 EUR", code=2)
    for token, arm in [(t["token"], t["arm"]) for t in shown("study", "ask", "dose", "-n", "2")]:
        run("study", "tell", "dose", token, f"gain={len(arm)}", "cost=1")
    said = run("study", "under", "dose", "--cone", "angle:120")
    assert "The study's tolerance (0.5 in gain) does not apply here: every difference matters" in said
    assert "Its limits are not looked at either." in said


def test_a_study_from_a_table_takes_what_its_errors_advise(folder):
    rows = [(k % 2, f"{1 + k % 2},{100 + k}") for k in range(24)]
    Path("t.csv").write_text("who;lot;x\n" + "".join(f"{'aA'[k % 2]};b{arm};{x}\n" for k, (arm, x) in enumerate(rows)))
    assert "(--names merge)" in run("study", "create", "s", "--from", "t.csv", "--arm", "who", "--decimal", ",", code=2)
    assert "(--decimal ,)" in run("study", "create", "s", "--from", "t.csv", "--arm", "who", code=2)
    assert "--arm" in run("study", "create", "s", "--from", "t.csv", "--decimal", ",", code=2)
    read = ("--from", "t.csv", "--decimal", ",", "--pilot", "2")
    run("study", "create", "kept", *read, "--arm", "who", "--names", "keep")
    assert Study.open("prepex.db", "kept").experiment_now().labels.arms == ("a", "A")
    run("study", "create", "both", *read, "--arm", "who", "--arm", "lot", "--names", "keep")
    found = run("study", "create", "s", *read, "--arm", "who", "--arm-column", "lot", code=2)
    assert "got both" in found
    made = run("study", "create", "s", "--arm", "a", "--arm", "b", "--objective", "x", "--decimal", ",", code=2)
    assert "--decimal says how the table of --from is read" in made


def test_a_budget_that_the_pilot_takes_most_of_is_warned_of(folder):
    given = ["--arm", "a", "--arm", "b", "--arm", "c", "--objective", "strength", "--variance", "1"]
    told = run("study", "create", "short", *given, "--max-pulls", 11)
    assert "Warning: max_pulls is 11: nothing can be certified before 12 outcomes, as the first 9 only" in told
    told = run("study", "create", "hardly", *given, "--max-pulls", 14)
    assert "Warning: max_pulls is 14: little can be certified, as at least the first 9 outcomes (at most 192)" in told
    assert "(`prepex study extend` gives more)" in told
    assert "Warning" not in run("study", "create", "long", *given, "--max-pulls", 100)
    assert "Warning" not in run("study", "create", "other", *given, "--max-pulls", 11, "--threshold", "heuristic")
