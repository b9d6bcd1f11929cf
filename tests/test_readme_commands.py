"""What the README tells to type on the command line: the commands and options exist, and so do the files they name."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from prepex.cli import app

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()
# Lines of code blocks, those that go on joined.
TYPED = [
    line.removeprefix("$ ").split("   #")[0].split("  #")[0].strip()
    for line in re.sub(r"\\\n\s*", " ", TEXT).splitlines()
    if re.match(r"(\$ )?prepex ", line)
]
# Files that stand for a reader's own.
OWN = {"designs.csv", "certificate.json", "events.jsonl"}


def test_there_are_commands():
    assert len(TYPED) > 12


@pytest.mark.parametrize("line", TYPED)
def test_a_command_and_its_options_exist(line):
    words = shlex.split(line)[1:]
    command, group = get_command(app), []
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
        group.append(command.name)
    assert group, line
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known
    for word in words:
        if word.endswith((".csv", ".json", ".jsonl")) and word not in OWN:
            assert (ROOT / word).is_file()


def test_the_first_door(monkeypatch):
    monkeypatch.chdir(ROOT)
    shown = CliRunner().invoke(app, ["analyse", "examples/alloys.csv", "--minimise", "cost", "--format", "json"])
    assert shown.exit_code == 0, shown.output
    assert '"E"' in shown.output


def test_the_file_to_race_on_is_made(tmp_path):
    """By the line before the race, in any shell with a Python."""
    block = next(part for part in re.findall(r"```console\n(.*?)```", TEXT, flags=re.S) if "prepex race" in part)
    first = block.splitlines()[0].removeprefix("$ ")
    made = first.replace("python ", f"{shlex.quote(sys.executable)} ", 1)
    subprocess.run(made, shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "data").stat().st_size > 10**5
