"""Races of commands: options, measures, trials, going on, failures, bad input."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Made

import pytest
from typer.testing import CliRunner

from prepex import Exact, Gaussian, InputError, Study
from prepex.cli import app
from prepex.foresight.forecast import Forecast
from prepex.racing.book import Book
from prepex.racing.commands import Commands
from prepex.racing.journal import Journal
from prepex.racing.loop import Budget, run
from prepex.racing.measures import Record, UnmeasuredError, parse_measure
from prepex.racing.opening import Task
from prepex.racing.options import Template, make_options, parse_values, parse_with
from prepex.racing.plan import make_plan
from prepex.racing.question import differences
from prepex.racing.same import spelled
from prepex.racing.sketch import sketch
from prepex.racing.trial import Result, Runs
from prepex.racing.view import look
from prepex.racing.words import tie_words, verdict

DRAWN = Path(__file__).with_name("drawn.py")


def draw(gain, size, noise=0.1):
    return f"{sys.executable} -S {DRAWN} {{seed}} {gain} {size} {noise}"


def invoke(*args, folder, code=0):
    shown = CliRunner().invoke(app, ["race", *map(str, args), "--storage", str(folder / "race.db")])
    assert shown.exit_code == code, shown.output + str(shown.exception)
    return shown.output


# Options


def test_templates_expand_to_products():
    made = make_options([Template("a {x} {y} {seed}", {"x": ["1", "2"], "y": ["p", "q"]}), Template("b", name="plain")])
    assert [option.name for option in made] == ["a 1 p {seed}", "a 1 q {seed}", "a 2 p {seed}", "a 2 q {seed}", "plain"]
    assert made[1].parameters == {"x": "1", "y": "q"}


def test_a_sample_of_a_large_grid_is_the_same_for_the_same_seed():
    template = Template("a {x} {y}", {"x": [*map(str, range(100))], "y": [*map(str, range(100))]})
    one, same, other = (make_options([template], sample=30, seed=seed) for seed in (1, 1, 2))
    assert len(one) == 30 and one == same and one != other


@pytest.mark.parametrize(
    ("templates", "words"),
    [
        ([Template("a"), Template("a")], "names of options must differ, got 'a' twice"),
        ([Template("a {x}"), Template("b")], r"got \{x\}; braces that are part of the command are doubled: \{\{x\}\}"),
        ([Template("a", {"x": ["1"]}), Template("b")], "'a' must use the parameter 'x'"),
        ([Template("a {x}", {"x": ["1", "2"]}, name="same")], "got 'same' twice"),
        ([Template("a")], "at least 2 options, got 1"),
        ([Template("a\nb"), Template("c")], "printable"),
    ],
)
def test_options_that_cannot_be(templates, words):
    with pytest.raises(InputError, match=words):
        make_options(templates)


@pytest.mark.parametrize("text", ["level", "=1", "level=", "le vel=1", "level=1,1", "seed=1,2", "level=3..1..1"])
def test_with_that_cannot_be(text):
    with pytest.raises(InputError, match=r"with must|values of"):
        parse_with(text)
    assert parse_values("level", "3..1") == ["3", "2", "1"]


# Measures


def record(text="", code=0):
    return Record(seconds=0.5, cpu=0.25, memory=1e6, code=code, output=7, text=text)


@pytest.mark.parametrize(
    ("name", "source", "text", "value"),
    [
        ("time", None, "", 0.5),
        ("cpu", None, "", 0.25),
        ("memory", None, "", 1e6),
        ("output", None, "", 7.0),
        ("exit", None, "", 1.0),
        ("loss", None, 'noise\n{"loss": 0.5}\n\n', 0.5),
        ("loss", "json:test.loss", '{"test": {"loss": 2}}', 2.0),
        ("right", None, '{"right": true}', 1.0),
        ("speed", r"regex:([\d.]+) MB/s", "1.5 MB/s, then 2.5 MB/s", 2.5),
        ("speed", r"regex:\d+$", "7\n8", 8.0),
    ],
)
def test_measures(name, source, text, value, tmp_path):
    assert parse_measure(name, source).read(record(text), {}, tmp_path) == value


def test_the_size_of_a_file(tmp_path):
    (tmp_path / "out-3.gz").write_bytes(b"12345")
    measure = parse_measure("size:out-{level}.gz")
    assert measure.read(record(), {"level": "3"}, tmp_path) == 5.0
    with pytest.raises(UnmeasuredError, match="there is no file"):
        measure.read(record(), {"level": "4"}, tmp_path)


@pytest.mark.parametrize(
    ("name", "source", "text", "words"),
    [
        ("loss", None, "no json", "last line must be a JSON object"),
        ("loss", None, '{"loss": 1' + "0" * 400 + "}", "must be a number"),
        ("loss", None, '{"cost": 1}', "prints no measure 'loss' .it prints 'cost'"),
        ("loss", None, '{"loss": "low"}', "'loss' must be a number, got 'low'"),
        ("loss", None, '{"loss": NaN}', "must be a finite number"),
        ("loss", None, '{"loss": null}', "must be a number, got None"),
        ("speed", r"regex:(\w+) MB/s", "fast MB/s", "must be a number, got 'fast'"),
        ("speed", r"regex:(\d+) MB/s", "", "is not found in its output"),
    ],
)
def test_runs_without_a_measure(name, source, text, words, tmp_path):
    with pytest.raises(UnmeasuredError, match=words):
        parse_measure(name, source).read(record(text), {}, tmp_path)


# Trials


def test_a_run_is_measured(tmp_path):
    found, words = Runs().run("echo out; echo err >&2; exit 3", shell=True, env={}, folder=tmp_path)
    assert (found.code, found.output, found.text, words) == (3, 4, "out\n", "err")
    assert 0.0 < found.seconds < 60.0


def test_environment_and_words_without_a_shell(tmp_path):
    found, _ = Runs().run("printenv GREETING", shell=False, env={"GREETING": "a b"}, folder=tmp_path)
    assert found.text == "a b\n"


def test_the_peak_of_memory_is_that_of_the_command(tmp_path):
    peaks = [
        Runs()
        .run(f"{sys.executable} -S -c 'x = bytearray({size})'", shell=True, env={}, folder=tmp_path, memory=True)[0]
        .memory
        for size in (0, 100_000_000)
    ]
    assert peaks[0] < 60e6 and 90e6 < peaks[1] - peaks[0] < 110e6


def test_a_run_that_hangs_is_ended_with_all_that_it_started(tmp_path):
    plan = make_plan([Template("sleep 600 & echo $! > pid; wait"), Template("true")], minimise=["time"], timeout="0.3s",
                     folder=tmp_path)  # fmt: skip
    result = Commands(plan).trial(Task(plan.options[0].name, "first", 0))
    assert result.problem == "it took longer than the timeout of 0.3 s"
    # The kernel may take a moment.
    for _ in range(100):
        state = Path(f"/proc/{int((tmp_path / 'pid').read_text())}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.02)
    raise AssertionError("it goes on")


def test_inputs_and_seeds_are_those_of_the_trial(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text(name)
    given = {"minimise": ["output"], "input": ["[abc]"], "folder": tmp_path}
    plan = make_plan([Template("echo {input} {seed} >> log"), Template("cat {input}")], **given)
    runner, name = Commands(plan), plan.options[0].name
    for number in (*range(20), 3):
        runner.trial(Task(name, "pull", number))
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[3] == lines[20] and len(set(lines)) == 20
    assert {line.split()[0] for line in lines} == {"a", "b", "c"}


def test_prepare_runs_before_every_trial(tmp_path):
    given = {"minimise": ["size:log"], "folder": tmp_path}
    plan = make_plan([Template("true", prepare="echo x >> log"), Template("false", prepare="exit 7")], **given)
    runner = Commands(plan)
    assert [runner.trial(Task("true", "pull", n)).values["size:log"] for n in range(3)] == [2.0, 4.0, 6.0]
    assert runner.trial(Task("false", "pull", 0)).problem == "its preparation, 'exit 7', ended with exit status 7"


# Whole races


def test_a_race_settles_and_the_same_command_says_it_again(tmp_path):
    given = [draw(1.0, 10), draw(2.0, 10), draw(1.2, 30), "-n", "a", "-n", "b", "-n", "c", "--maximise", "gain"]
    given += ["--minimise", "size", "--tolerance", "gain=0.5", "--jobs", "2"]
    shown = invoke(*given, folder=tmp_path)
    assert "Settled after" in shown and "1 of 3 options is worth keeping (certified, delta 0.05)" in shown
    study = Study.open(tmp_path / "race.db", "race")
    n = study.status().n_pulls
    assert study.recommendation.arms == ("b",)
    assert study.verify().ok
    study.close()
    assert f"Settled after {n} runs" in invoke(*given, folder=tmp_path)
    assert f"Settled after {n} runs" in invoke(*given, "--show", folder=tmp_path)
    document = json.loads(invoke(*given, "--export", "json", folder=tmp_path))
    assert document["answer"] == ["b"] and document["options"][0]["measures"]["size"]["exact"] is True
    assert document["options"][1]["measures"]["gain"]["mean"] == pytest.approx(2.0, abs=0.3)
    invoke(*given, "--export", tmp_path / "t.csv", "--export", tmp_path / "t.md", "--report", tmp_path / "r.html",
           folder=tmp_path)  # fmt: skip
    assert (tmp_path / "t.csv").read_text().splitlines()[
        0
    ] == "option,runs,state,probability,size,gain,size error,gain error"
    assert "| `b` |" in (tmp_path / "t.md").read_text()
    assert "race" in (tmp_path / "r.html").read_text()


def test_a_toml_file_has_all_of_it(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        f"""
        maximise = "gain"
        tolerance = {{ gain = 0.5 }}
        budget = 200
        [family]
        gain = "gaussian(0.01)"
        [[option]]
        command = {draw("{gain}", 10)!r}
        name = "gain {{gain}}"
        with = {{ gain = [1, 3] }}
        """.replace("'''", '"""')
    )
    shown = CliRunner().invoke(app, ["race", str(file)])
    assert shown.exit_code == 0, shown.output
    assert "gain 3: gain" in shown.output
    assert Study.open(tmp_path / "race.db", "mine").recommendation.arms == ("gain 3",)


def test_another_race_of_the_same_name_is_refused(tmp_path):
    given = ["--maximise", "gain", "--jobs", "1", "--budget", "6"]
    invoke(draw(1.0, 1), draw(2.0, 1), "-n", "a", "-n", "b", *given, folder=tmp_path, code=3)
    shown = invoke(draw(1.0, 1), draw(3.0, 1), "-n", "a", "-n", "b", *given, folder=tmp_path, code=2)
    assert "must be this one to go on with it, got another: options: 'b' (" in shown
    shown = invoke(draw(1.0, 1), draw(2.0, 1), "-n", "a", "-n", "c", *given, folder=tmp_path, code=2)
    assert "'b' is only there; options: 'c' is only here" in shown
    shown = invoke(draw(1.0, 1), draw(2.0, 1), "-n", "a", "-n", "b", *given, "--timeout", "9s", folder=tmp_path, code=2)
    assert "got another: timeout (none there, 9.0 here). Another name" in shown
    # Without its journal the study itself is looked at.
    (tmp_path / "race.jsonl").unlink()
    shown = invoke(draw(1.0, 1), draw(2.0, 1), "-n", "a", "-n", "b", *given, "--delta", 0.1, folder=tmp_path, code=2)
    assert "delta (0.05 there, 0.1 here)" in shown


def test_a_race_that_would_be_prepared_otherwise_says_so_once(tmp_path):
    def begin(*more, code):
        given = ["true", "sleep 0.001", "--minimise", "time", "--budget", "6", *more]
        return invoke(*given, folder=tmp_path, code=code)

    begin("--prepare", "echo {seed}", code=3)
    words = "got another: prepare ('echo {seed}' there, 'true' here). Another name"
    assert words in begin("--prepare", "true", code=2)
    assert "got another: prepare ('echo {seed}' there, none here). Another name" in begin(code=2)
    plain, shelled = ({"options": {"a": ["c", one, {}], "b": "d"}} for one in ("sync", "true"))
    assert differences(spelled(plain), spelled(shelled)) == ["prepare: 'a' ('sync' there, 'true' here)"]


FAILING = [
    (
        ["no-such-command-here", "true", "--minimise", "time"],
        "'no-such-command-here' failed: its command does not exist",
    ),
    (["no-such-command-here", "true", "--minimise", "time", "--no-shell"], "it could not be started"),
    (["echo hello; exit 4", "true", "--minimise", "time"], "it ended with exit status 4; its last words: hello"),
    (["echo 7", "echo 8", "--minimise", "loss"], "the last line must be a JSON object with 'loss'; its last words: "),
    (['echo \'{"loss": "x"}\'', "true", "--minimise", "loss"], "failed"),
    (["sleep 60", "sleep 61", "--minimise", "time", "--timeout", "200ms"], "longer than the timeout of 0.2 s"),
    (["kill -9 $$", "kill -9 $$ #", "--minimise", "time"], "it was ended by signal 9"),
]


@pytest.mark.parametrize(("given", "words"), FAILING)
def test_a_failure_is_one_line_that_names_the_option(given, words, tmp_path):
    shown = invoke(*given, "--seed", 3, folder=tmp_path, code=2)
    last = [line for line in shown.splitlines() if line.startswith("Error")]
    assert len(last) == 1 and words in last[0] and "option '" in last[0]


BAD = [
    (["a {x}", "b", "--minimise", "time"], "{x}"),
    (["a", "a", "--minimise", "time"], "names of options must differ"),
    (["a", "b"], "a race must have an objective"),
    (["a", "b", "--minimise", "exit"], "exit must be maximised"),
    (["a", "b", "--minimise", "time", "--maximise", "time"], "each given once"),
    (["a", "b", "--minimise", "time", "--tolerance", "time=3"], "must be a share"),
    (["a", "b", "--minimise", "output", "--tolerance", "output=5%"], "tolerance of 'output' must be a number"),
    (
        ["a", "b", "--minimise", "time", "--tolerance", "cost=5%"],
        "tolerance must be of an objective, 'time', got 'cost'",
    ),
    (["a", "b", "--minimise", "time", "--at-most", "time=fast"], "at_most of 'time' must be a time, as in 30s"),
    (["a", "b", "--minimise", "time", "--budget", "soon"], "budget must be a time"),
    (["a", "b", "--minimise", "time", "--budget", "1"], "budget must be"),
    (["a", "b", "--minimise", "time", "--input", "nothing/*"], "which none matches"),
    (["a {input}", "b", "--minimise", "time"], "input must say which"),
    (["a", "b", "--minimise", "time", "--with", "x=1"], "'b' must use the parameter 'x'"),
    (["--with", "x=1", "a", "b", "--minimise", "time"], "which none has"),
    (["a", "b", "--minimise", "time", "-n", "one"], "names must be as many as commands, 2, got 1"),
    (["a", "b", "--minimise", "speed", "--measure", "speed=regex:("], "must be a regular expression"),
    (["a", "b", "--minimise", "time", "--measure", "speed=regex:x"], "must be minimised or maximised"),
    (["a", "b", "--minimise", "time", "--family", "time=odd"], "family of 'time' must be"),
    (["a", "b", "--minimise", "time", "--failed", "cost=3"], "failed must be of"),
    (["a", "b", "--minimise", "time", "--on-failure", "cry"], "on_failure must be 'stop' or 'retry'"),
    (["a", "b", "--minimise", "time", "--export", "table.xls"], "export must be json, csv or markdown"),
    (["a", "b", "--minimise", "time", "--report", "no/where/r.html"], "report must be in a folder that exists"),
    (["a", "b", "--minimise", "size:{x}"], "must use parameters that 'a' has"),
    (["nothing.toml"], "there must be a file 'nothing.toml'"),
    ([], "commands must be given"),
]


@pytest.mark.parametrize(("given", "words"), BAD)
def test_bad_input_is_refused_before_anything_runs(given, words, tmp_path):
    shown = invoke(*given, folder=tmp_path, code=2)
    assert words in shown and shown.count("Error") == 1
    assert not (tmp_path / "race.db").exists()


@pytest.mark.parametrize("text", ["x = [", "colour = 1", "minimise = 3", "option = 1", "[[option]]\nname = 'a'"])
def test_toml_files_that_cannot_be(text, tmp_path):
    (tmp_path / "race.toml").write_text(text)
    shown = CliRunner().invoke(app, ["race", str(tmp_path / "race.toml")])
    assert shown.exit_code == 2 and shown.output.count("Error") == 1


# Failures, noise where there seemed to be none, ends


def book_of(folder, name="race", **settings):
    plan = make_plan([Template("a"), Template("b")], folder=folder, **settings)
    return Book(plan.question, folder / "race.db", name, plan.spec, Journal(folder / "race.jsonl"))


def feed(book, values, n):
    """Run so many trials; values(task) gives what comes of each."""
    for _ in range(n):
        tasks = book.next(1)
        if not tasks:
            return
        found = values(tasks[0])
        book.take(tasks[0], found if isinstance(found, Result) else Result(found))


def test_a_failure_counts_with_the_values_that_stand_for_it(tmp_path):
    book = book_of(tmp_path, minimise=["loss"], failed={"loss": 9}, family={"loss": "gaussian(1)"})
    feed(book, lambda task: Result(problem="it broke") if task.option == "a" else {"loss": 1.0 + task.number % 2}, 6)
    assert set(book.values["a"]["loss"]) == {9.0}
    assert len(book.failures["a"]) == len(book.values["a"]["loss"]) >= 2
    book.close()
    again = book_of(tmp_path, minimise=["loss"], failed={"loss": 9}, family={"loss": "gaussian(1)"})
    assert len(again.failures["a"]) == len(again.values["a"]["loss"])
    again.close()


def test_a_failure_is_tried_again_and_then_ends_the_race(tmp_path):
    book = book_of(tmp_path, minimise=["loss"], on_failure="retry")
    tasks = []

    def broken(task):
        tasks.append(task)
        return Result(problem="it broke", words="oh")

    with pytest.raises(InputError, match=r"option '.' failed 3 times: it broke; its last words: oh"):
        feed(book, broken, 10)
    # The same trial, with another seed, which decides the input too.
    assert [replace(task, attempt=0) for task in tasks] == [tasks[0]] * 3
    assert len({task.seed(0) for task in tasks}) == 3
    book.close()
    # What failed is no outcome: the same trial comes first when it goes on, with a draw of its own.
    again = book_of(tmp_path, minimise=["loss"], on_failure="retry")
    assert again.next(1) == [replace(tasks[0], attempt=3)]
    again.close()


def test_a_failure_of_a_seed_or_an_input_is_got_past(tmp_path):
    """Of a pull of the study too, and the same when the race is repeated."""

    def run_all(place):
        plan = {"minimise": ["loss"], "on_failure": "retry", "family": {"loss": "gaussian(1)"}}
        place.mkdir()
        book, seen = book_of(place, **plan), []

        def broken(task):
            seen.append((task.option, task.seed(0)))
            odd = task.seed(0) % 3 == 0
            return Result(problem="not with this seed") if odd else {"loss": float(task.option == "a")}

        feed(book, broken, 40)
        book.close()
        return seen, book.failures

    one, failures = run_all(tmp_path / "one")
    assert sum(map(len, failures.values())) >= 5
    assert run_all(tmp_path / "other")[0] == one


def test_by_default_a_repaired_option_is_run_with_the_seed_that_it_failed_with(tmp_path):
    tasks = []
    with pytest.raises(InputError, match="failed: it broke"):
        book = book_of(tmp_path, minimise=["loss"])
        feed(book, lambda task: tasks.append(task) or Result(problem="it broke"), 1)
    book.close()
    again = book_of(tmp_path, minimise=["loss"])
    assert again.next(1) == tasks
    again.close()


def steady(task):
    return {"output": 10.0 if task.option == "a" else 20.0, "loss": 1.0 + (task.number * 7 % 5) / 10}


def _killed_before(add, self, kind, **entry):
    if kind == "varies":
        raise KeyboardInterrupt
    add(self, kind, **entry)


def test_what_varies_after_all_has_noise_from_then_on(tmp_path):
    """In every pull's place: with two out at once, one that is held waits for the other."""
    book = book_of(tmp_path, minimise=["output", "loss"])
    feed(book, steady, 6)
    assert isinstance(book.families["output"], Exact) and book.study.status().imported == 6
    feed(book, steady, 3)
    first, second = book.next(2)
    book.take(first, Result({"output": 11.0, "loss": 1.0}))
    assert book.study.name == "race" and not book.next(1)
    before = {option: [*seen["loss"]] for option, seen in book.values.items()}
    book.take(second, Result(steady(second)))
    assert book.study.name == "race (output varies)"
    assert isinstance(book.families["output"], Gaussian) and book.study.status().n_pulls == 11
    assert 11.0 in book.values[first.option]["output"]
    assert sum(map(len, before.values())) + 2 == sum(len(seen["loss"]) for seen in book.values.values())
    assert "is not constant" in book.notes[0]
    book.close()
    again = book_of(tmp_path, minimise=["output", "loss"])
    assert again.study.name == "race (output varies)" and again.study.status().n_pulls == 11
    again.close()


def test_killed_while_noise_is_let_in(tmp_path, monkeypatch):
    """At any step: all outcomes are there when it goes on."""
    for step in ("journal", "create", "import"):
        folder = tmp_path / step
        folder.mkdir()
        book = book_of(folder, minimise=["output", "loss"])
        feed(book, steady, 8)

        def killed(*args, **given):
            raise KeyboardInterrupt

        if step == "journal":
            monkeypatch.setattr(Journal, "add", lambda *a, add=Journal.add, **e: _killed_before(add, *a, **e))
        else:
            monkeypatch.setattr(Study, "create" if step == "create" else "import_csv", killed)
        with pytest.raises(KeyboardInterrupt):
            feed(book, lambda task: {"output": 11.0, "loss": 1.0}, 1)
        monkeypatch.undo()
        book.journal.close()
        again = book_of(folder, minimise=["output", "loss"])
        assert again.study.name == "race (output varies)" and again.study.status().n_pulls == 9, step
        again.close()


def test_a_variance_that_will_never_be_known_is_said(tmp_path):
    book = book_of(tmp_path, minimise=["loss"])
    feed(book, lambda task: {"loss": 3.0 if task.option == "a" else 2.0 + task.number / 100}, 40)
    with pytest.raises(InputError, match=r"loss must vary in every option .* runs of 'a', while others vary"):
        book.require_variation()
    book.close()


def test_an_option_that_always_fails_is_said_and_what_helps_does(tmp_path):
    """However few runs the others get: it is the constant one that counts."""

    def values(task):
        noise = 0.1 * random.Random(task.number).gauss(0, 1)
        return Result(problem="it broke") if task.option == "a" else {"loss": 1.0 + noise}

    given = {"minimise": ["loss"], "failed": {"loss": 9}}
    book = book_of(tmp_path, **given)
    feed(book, values, 40)
    view = look(book)
    assert not book.done and view.left.startswith("a never varied in loss, in ") and "more runs" not in view.left
    assert "1 of 2 options looks worth keeping, 2 are open; a never varied" in verdict(view)
    with pytest.raises(
        InputError, match=r"loss must vary .* as it always fails .*: leave the option out, or .*=shared"
    ):
        book.require_variation()
    book.close()
    other = tmp_path / "shared"
    other.mkdir()
    book = book_of(other, **given, family={"loss": "shared"})
    feed(book, values, 40)
    assert book.done and look(book).front[0].option == "b"
    book.close()


def test_a_value_for_failures_leaves_what_every_option_repeats_exact(tmp_path):
    """A failure that comes later is a value that differs: noise is let in, and nothing is lost."""
    given = {"minimise": ["output", "loss"], "failed": {"output": 99, "loss": 9}}
    book = book_of(tmp_path, **given)
    feed(book, steady, 7)
    assert isinstance(book.families["output"], Exact) and isinstance(book.families["loss"], Gaussian)
    feed(book, lambda task: Result(problem="it broke"), 1)
    assert book.study.name == "race (output varies)" and book.study.status().n_pulls == 8
    assert any(99.0 in seen["output"] for seen in book.values.values()) and "then 99" in book.notes[0]
    book.close()


def test_a_family_that_was_said_is_kept(tmp_path):
    book = book_of(tmp_path, minimise=["output"], family={"output": "exact"})
    with pytest.raises(InputError, match="must be the same in every run, as its family exact says"):
        feed(book, lambda task: {"output": float(task.number)}, 10)
    book.close()


def test_errors_of_the_first_rounds_name_the_option_and_its_value(tmp_path):
    book = book_of(tmp_path, minimise=["loss"])
    book.take(book.next(1)[0], Result({"loss": 1.0}))
    task = book.next(1)[0]
    with pytest.raises(
        InputError, match=rf"option '{task.option}' failed: loss must be .* 1e\+150; its last words: ok"
    ):
        book.take(task, Result({"loss": 1e150}, words="ok"))
    book.close()
    # One that was written down all the same, by whatever program.
    journal = tmp_path / "race.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    firsts = [{**lines[-1], "number": n, "option": "ab"[n % 2], "values": {"loss": 10.0**n}} for n in range(6)]
    firsts[3]["values"]["loss"] = 1e150
    journal.write_text("".join(json.dumps(line) + "\n" for line in [*lines[:-1], *firsts]))
    plan = make_plan([Template("a"), Template("b")], folder=tmp_path, minimise=["loss"])
    with (
        closing(Journal(journal)) as kept,
        pytest.raises(InputError, match=r"^option 'b', first rounds: outcome 'loss' must be at most .* got 1e\+150$"),
    ):
        Book(plan.question, tmp_path / "race.db", "race", plan.spec, kept)


@pytest.mark.parametrize("measure", ["time", "gain"])
def test_a_slip_in_the_first_command_is_mended_by_typing_it_again(measure, tmp_path):
    given = ["-n", "a", "-n", "b", "--minimise", measure, "--budget", "2", "--jobs", "1"]
    assert "does not exist" in invoke("drwan 1", "drwan 2", *given, folder=tmp_path, code=2)
    shown = invoke(draw(1.0, 1), draw(2.0, 1), *given, folder=tmp_path, code=3)
    assert "Not settled" in shown


def test_a_value_that_its_family_cannot_have_names_the_option(tmp_path):
    book = book_of(tmp_path, maximise=["right"])
    feed(book, lambda task: {"right": float(task.number % 2)}, 6)
    with pytest.raises(
        InputError, match=r"option '.' failed: reward of 'right' must be 0 or 1 .* another family may fit"
    ):
        feed(book, lambda task: {"right": 0.5}, 1)
    book.close()
    (tmp_path / "other").mkdir()
    book = book_of(tmp_path / "other", maximise=["right", "output"], family={"right": "lognormal"})
    with pytest.raises(InputError, match=r"option '.' failed: reward of 'right' must be positive"):
        feed(book, lambda task: {"right": 0.0, "output": 1.0}, 1)
    book.close()


def test_what_does_not_exist_is_not_shown(tmp_path):
    given = ["a", "b", "--minimise", "time", "--show"]
    assert "there must be a race to show" in invoke(*given, folder=tmp_path, code=2)
    Study.create(tmp_path / "race.db", "other", arms=2, objectives=1, family=Gaussian(variance=1.0)).close()
    assert "got none of the name 'race'" in invoke(*given, folder=tmp_path, code=2)


def test_a_race_is_shown_without_its_commands(tmp_path):
    given = [draw(1.0, 1), draw("{g}", 1), "--with", "g=2.0,3.0", "--maximise", "gain", "--jobs", 1]
    invoke(*given, "--budget", 6, "--study", "mine", folder=tmp_path, code=3)
    shown = invoke("--show", "--study", "mine", folder=tmp_path, code=3)
    assert shown == invoke(*given, "--show", "--study", "mine", folder=tmp_path, code=3)
    assert json.loads(invoke("--show", "--study", "mine", "--export", "json", folder=tmp_path, code=3))["runs"] == 6
    words = r"--show must come with the commands of the race, or its TOML file, got none, and none are kept beside .*"
    assert re.search(words + "'other'", invoke("--show", "--study", "other", folder=tmp_path, code=2))
    shown = invoke("--show", "--study", "mine", "--at-most", "gain=3", folder=tmp_path, code=2)
    assert "got none but --at-most: leave it out, or type the whole command line" in shown
    file = tmp_path / "mine.toml"
    file.write_text('minimise = ["time"]\nbudget = 4\n[[option]]\ncommand = "true"\n[[option]]\ncommand = "sleep 0"\n')
    invoke(file, "--study", "file", folder=tmp_path, code=3)
    assert "sleep 0" in invoke("--show", "--study", "file", folder=tmp_path, code=3)


def test_an_outcome_that_is_held_keeps_the_race_open(tmp_path):
    """The stop of a study that has a measure without noise is not believed once the measure has been seen to vary."""
    book = book_of(tmp_path, minimise=["output", "loss"])
    feed(book, lambda task: steady(task) | {"loss": (1.0 if task.option == "a" else 50.0) + task.number % 3}, 6)
    first, *others = book.next(12)
    book.take(first, Result({"output": 11.0, "loss": 1.0}))
    for task in others:
        book.take(task, Result(steady(task) | {"loss": (1.0 if task.option == "a" else 50.0) + task.number % 3}))
        assert not book.done or "varies" in book.study.name
    assert "varies" in book.study.name
    book.close()


def test_what_is_left_is_a_range(tmp_path, monkeypatch):
    book = book_of(tmp_path, minimise=["loss"])
    assert look(book).left == "first rounds: 0 of 6 runs"
    feed(book, lambda task: {"loss": 1.0 + (task.number * 7 % 5) / 10}, 8)
    monkeypatch.setattr(Study, "forecast", lambda self, **given: Forecast.of(8, range(10, 110), 100, None))
    book.look_ahead(0.1)
    assert look(book).left.endswith("19 to 100 more runs (8 of 10 times)")
    book.close()


def test_two_at_once_are_refused(tmp_path):
    book = book_of(tmp_path, minimise=["loss"])
    with pytest.raises(InputError, match="must not be running already"):
        book_of(tmp_path, minimise=["loss"])
    # To look at it is allowed.
    feed(book, lambda task: {"loss": 1.0 + task.number}, 4)
    assert "first rounds: 4 of 6 runs" in invoke("a", "b", "--minimise", "loss", "--show", folder=tmp_path, code=3)
    book.close()


def test_a_budget_of_runs_counts_all_of_them(tmp_path):
    plan = make_plan([Template(draw(1, 1, 9)), Template(draw(1.01, 1, 9))], maximise=["gain"], folder=tmp_path, jobs=2)
    for budget in (8, 13):
        journal = Journal(tmp_path / "race.jsonl")
        book = Book(plan.question, tmp_path / "race.db", "race", plan.spec, journal)
        assert not run(book, Commands(plan), jobs=2, budget=Budget(outcomes=budget))
        assert book.study.status().n_pulls == budget
        book.close()


def test_a_machine_that_slows_down_is_said(tmp_path):
    book = book_of(tmp_path, minimise=["time"], family={"time": "lognormal"})
    clock = iter(range(10**6))
    noise = lambda k: 1.0 + (k * 37 % 11) / 1000  # noqa: E731
    feed(book, lambda task: {"time": noise(k := next(clock)) * (1.0 + k / 400)}, 200)
    assert len(book.watch.times) >= 6 and "has become slower by" in book.notes[-1]
    book.close()


def test_ctrl_c_ends_the_runs_and_says_that_nothing_is_lost(tmp_path):
    args = [sys.executable, "-m", "prepex", "race", "sleep 60.25", "sleep 61.25", "--minimise", "time"]
    with subprocess.Popen(
        [*args, "--storage", str(tmp_path / "race.db")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # In the background of a shell Ctrl-C would be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as child:
        # Its second line comes before the first run.
        seen = [child.stdout.readline() for _ in range(3)]
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        shown = child.communicate(timeout=60)[0]
    assert child.returncode == 130 and "Nothing is lost: the same command goes on." in shown, seen
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert not {"sleep 60.25", "sleep 61.25"} & {line.strip() for line in running}


# Killed


def test_killed_at_random_moments_nothing_is_lost_or_counted_twice(tmp_path):
    """The larger measurement: `python -m benchmarks race-kills`."""
    command = f"{draw('{gain}', 10, 0.3)} --with gain=1.0,1.5,2.0 --maximise gain --minimise size --jobs 2 -q"
    args = [sys.executable, "-m", "prepex", "race", *command.partition(" --with ")[::2]]
    args = [*args[:5], "--with", *args[5].split(), "--tolerance", "gain=0.1", "--storage", str(tmp_path / "race.db")]
    for life in (1.5, 2.5):
        child = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(life)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    shown = subprocess.run(args, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    with Study.open(tmp_path / "race.db", "race") as study:
        assert study.verify().ok
        told = [event for event in study.events() if event.kind == "told"]
        arms = [f"{DRAWN} {{seed}} {gain} 10 0.3" for gain in ("1.0", "1.5", "2.0")]
        assert [arm.endswith(arms[2]) for arm in study.recommendation.arms] == [True]
        assert len({event.pull for event in told}) == len(told) == study.status().n_pulls - 9
        # What was told of a pull is what its own seed gives.
        for event in told:
            seen = study.observations(event.pull, event.pull)[0][0]
            mean = float(seen.arm.split()[-3])
            assert seen.values["gain"] == random.Random(Task(seen.arm, "pull", event.pull).seed(0)).gauss(mean, 0.3)


# Words


def test_a_tolerance_names_who_is_level_and_who_was_left_out():
    def row(option, state, probability):
        return Made(option=option, state=state, probability=probability)

    ties = [("a", f"b{i}") for i in range(7)]
    rows = [row("a", "in", 1.0), row("b0", "out", 0.98), row("c", "out", 0.0), row("d", "out", None)]
    view = Made(status=Made(recommendation=Made(near_ties=ties, arms=("a",), covered=())), rows=rows, done=True)
    level, left = tie_words(view)
    assert level == "Level within the tolerance: a and b0, a and b1, a and b2, a and b3, a and b4 and 2 more."
    assert left == "Left out, as one that is kept is at least as good, within the tolerance, in everything: b0."
    view.done = False
    assert tie_words(view) == [level]
    view.rows = [*rows, row("e", "open", 0.9), row("f", "open", 0.2)]
    assert tie_words(view) == [level, "Probably as good within the tolerance as one that looks worth keeping: e."]
    view.status = None
    assert tie_words(view) == []


def test_one_is_singular():
    answer = Made(arms=("a",), status="running", delta=0.05)
    rows = [Made(option="a", state="open"), Made(option="b", state="out")]
    view = Made(status=Made(recommendation=answer), rows=rows, done=False, n=1, left="too early")
    assert verdict(view) == "Not settled after 1 run: 1 of 2 options looks worth keeping, 1 is open; too early."


def test_a_report_reads_like_the_terminal(tmp_path):
    invoke(
        *["true", "sleep 0.05; echo a", "--minimise", "time", "--minimise", "output", "--tolerance", "time=20%"],
        *["--budget", "45s", "--report", tmp_path / "race.html"],
        folder=tmp_path,
    )
    page = (tmp_path / "race.html").read_text()
    assert re.search(r'<td class="number">[\d.]+ m?s ± [\d.]+%</td>', page)
    assert '<td class="number">2 B</td>' in page and "within a factor 1." not in page
    assert "45 s each time it is started" in page and "outcomes a day" not in page


def test_the_picture_in_a_terminal_says_what_its_marks_are(tmp_path):
    book = book_of(tmp_path, minimise=["loss", "cost"])
    feed(book, lambda task: {"loss": float(task.option == "b") + task.number % 3, "cost": 1.0 + task.number % 2}, 40)
    view = look(book)
    book.close()
    one = replace(view, rows=tuple(replace(row, state="out") for row in view.rows))
    kept = [row.option for row in one.front]
    legend = sketch(one)[-1]
    assert legend.startswith(f"a {kept[0]}") and ("· other options" in legend) == (len(kept) == 1)
    assert len(kept) == 1
