"""Files that are missing, of another kind, or that want to steer the terminal; readers that go away."""

import json
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from typer.testing import CliRunner

import prepex
from benchmarks.mutations import sealed
from prepex import Experiment, Gaussian, InputError, Study
from prepex.cli import app
from prepex.study.events import canonical


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "trials.db"
    with Study.create(path, "dose", arms=("low", "high"), objectives=("x",), family=Gaussian(variance=1.0)) as study:
        study.ask(2, actor="ada")
        study.export(tmp_path / "log.jsonl")
        (tmp_path / "certificate.json").write_text(json.dumps(study.certificate()))
    return path


def test_what_is_no_certificate_is_said_to_be_none(place):
    folder = place.parent
    (folder / "page.html").write_text("<html></html>")
    good = run("verify", folder / "certificate.json", "--log", folder / "log.jsonl")
    assert good.exit_code == 0
    for name, words in (
        ("log.jsonl", "got the log of a study: give it by --log"),
        ("page.html", "got a file of another kind"),
        ("none.json", "certificate must be a file, got none"),
        ("", "certificate must be a file, got a folder"),
    ):
        found = run("verify", folder / name)
        assert found.exit_code == 2 and words in found.output, found.output
        assert "NOT right" not in found.output and "Errno" not in found.output
    found = run("verify", folder / "certificate.json", "--log", folder / "none.jsonl")
    assert found.exit_code == 2 and "log must be a file, got none" in found.output
    # What was one is a wrong one.
    text = (folder / "certificate.json").read_text()
    (folder / "certificate.json").write_text(text[:-20])
    found = run("verify", folder / "certificate.json")
    assert found.exit_code == 1 and "NOT right" in found.output


@pytest.mark.parametrize("command", ["report", "export", "certificate"])
def test_a_folder_that_is_not_there_is_said(place, command):
    path = place.parent / "nowhere" / "file"
    found = run("study", command, "dose", path, "--storage", place)
    assert found.exit_code == 2 and "path must be in a folder that exists, got" in found.output
    found = run("study", command, "dose", place.parent, "--storage", place)
    assert found.exit_code == 2 and "path must be a file to write, got the folder" in found.output
    with pytest.raises(InputError, match="folder that exists"):
        Study.open(place, "dose").export(path)


def test_a_log_that_is_not_there_is_said_without_a_number(place):
    found = run("study", "restore", place.parent / "none.jsonl", "--storage", place)
    assert found.exit_code == 2 and "none.jsonl', got none" in found.output and "Errno" not in found.output


def test_nothing_out_of_a_database_steers_the_terminal(place):
    """A restored log is looked at event by event; a database is taken as it is, if its hashes are right."""
    with Study.open(place, "dose") as study:
        tickets = study.ask(2, actor="ada")
        study.tell(tickets[1].token, [1.0])
        events = [event._asdict() for event in study.events()]
    for event in events:
        event["actor"] = "ada\x1b]0;mine\x07\u202e"
    token = events[1]["data"]["token"] = "1-\x1b[2Jx"
    with closing(sqlite3.connect(place)) as connection:
        for line in sealed(events, 0):
            event = json.loads(line)
            head = event.pop("hash")
            row = canonical(event), head, event["position"]
            connection.execute("UPDATE prepex_events SET text = ?, hash = ? WHERE position = ?", row)
        connection.execute("UPDATE prepex_studies SET head = ?", (head,))
        connection.commit()
    for command in (
        ("list",),
        ("pulls", "dose"),
        *(("status", "dose"), ("why", "dose"), ("verify", "dose")),
        ("ask", "dose", "--actor", "bob"),
        ("tell", "dose", token, "1.0"),
    ):
        found = run("study", *command, "--storage", place)
        assert found.exit_code == 0, (command, found.output)
        assert "\\x1b" in found.output or command[0] in ("list", "verify", "ask"), (command, found.output)
        assert not {"\x1b", "\x07", "\u202e"} & {*found.output}, (command, found.output)


@pytest.mark.parametrize("letter", ["\x1b[31m", "\u202e", "\ud800", "\x00", "\n"], ids=ascii)
def test_names_are_printable_wherever_they_enter(tmp_path, letter):
    for names in ((f"a{letter}", "b"), ("x",)), (("a", "b"), (f"x{letter}",)):
        with pytest.raises(InputError, match="printable"):
            Experiment(*names, family=Gaussian(variance=1.0))
        with pytest.raises(InputError, match="printable"):
            Study.create(tmp_path / "s.db", "s", arms=names[0], objectives=names[1], family=Gaussian(variance=1.0))


def test_names_of_a_table_are_printable(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("arm,x,y\n\x1b[31mlow,1,2\nhigh,2,1\n")
    for command in (("pareto", path), ("bound", path, "--variance", "1")):
        found = run(*command)
        assert found.exit_code == 2 and "printable" in found.output and "\x1b" not in found.output


def test_a_reader_that_goes_away_hears_nothing(place):
    command = [sys.executable, "-m", "prepex", "study", "certificate", "dose", "--storage", str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("name", ["BlockedError", "NoStudyError", "NameTakenError"])
def test_errors_of_studies_are_at_hand(name):
    kind = getattr(prepex, name)
    assert issubclass(kind, InputError) and f"{kind.__module__}.{kind.__qualname__}" == f"prepex.{name}"
    assert name in prepex.__all__
    assert type(pickle.loads(pickle.dumps(kind("words")))) is kind


def test_a_gaussian_says_what_it_lacks():
    with pytest.raises(InputError, match="got neither"):
        Gaussian()
    with pytest.raises(InputError, match="got both"):
        Gaussian(variance=1.0, covariance=[[1.0]])


SUMMARY = "design,n,strength,strength_sd,cost,cost_sd\nA,30,5,1,3,0.2\nB,30,6,1,4,0.3\nC,28,4,2,5,0.1\n"


@pytest.mark.parametrize("words", [("pareto",), ("bound", "--variance", "1"), ("run", "--variance", "1")])
def test_counts_and_spreads_of_a_summary_are_no_objectives(words, tmp_path):
    path = tmp_path / "means.csv"
    path.write_text(SUMMARY)
    found = run(words[0], str(path), *words[1:], "--minimise", "cost")
    assert found.exit_code == 2
    assert "'n', 'strength_sd', 'cost_sd' look like counts and spreads, as `prepex analyse` reads them" in found.stderr
    assert "--objective 'strength' --objective 'cost', or use `prepex analyse`" in found.stderr


def test_who_names_a_count_or_a_spread_gets_it(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text(SUMMARY)
    for words in (("strength", "cost"), ("n", "cost"), ("strength", "strength_sd")):
        named = [part for name in words for part in ("--objective", name)]
        assert run("pareto", str(path), *named).exit_code == 0
    path.write_text("design,n,gain\nA,3,1\nB,2,2\n")
    assert run("pareto", str(path)).exit_code == 2
    assert run("pareto", str(path), "--minimise", "n").exit_code == 0
    path.write_text("design,n:poisson,gain\nA,3,1\nB,2,2\n")
    assert run("pareto", str(path)).exit_code == 0
    # Nothing else is there to be meant; and no spread is one of nothing.
    path.write_text("design,n\nA,3\nB,2\n")
    assert run("pareto", str(path)).exit_code == 0
    path.write_text("design,time_sd,gain\nA,3,1\nB,2,2\n")
    assert run("pareto", str(path)).exit_code == 0
