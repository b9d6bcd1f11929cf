"""What the pages on races tell people to type, typed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOWTO = Path(__file__).parent.parent / "docs" / "howto"


def _short(text):
    """With budgets that a test has time for."""
    return re.sub(r'(budget(?: = "| ))\d+s', r"\g<1>6s", text)


def console(page):
    """The commands of a page's console blocks, in order, each with its lines."""
    for block in re.findall(r"```console\n(.*?)```", _short((HOWTO / page).read_text()), flags=re.S):
        yield from re.split(r"^\$ ", block, flags=re.M)[1:]


@pytest.fixture
def shell(tmp_path):
    """Runs what is typed, with this interpreter's commands first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, called in (("python", ""), ("prepex", "-m prepex ")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {called}"$@"\n')
        script.chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def run(command):
        return subprocess.run(command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    return run


def test_compression_levels(shell, tmp_path):
    text = _short((HOWTO / "race.md").read_text())
    (tmp_path / "levels.toml").write_text(re.findall(r"```toml\n(.*?)```", text, flags=re.S)[0])
    typed = [*console("race.md")]
    assert len(typed) == 3 and "--budget 6s" in typed[1]
    for command in typed:
        shown = shell(command)
        # A loaded machine may not settle it within the budget of the page.
        assert shown.returncode in ((0, 3) if "race" in command.split()[1] else (0,)), shown.stderr
    assert (tmp_path / "race.db").exists() and "xz -0 -kc data" in shown.stdout
    again = shell(typed[1].replace("--budget 6s", "--show"))
    assert "gzip -1" in again.stdout and re.search(r"ettled after \d+ runs", again.stdout)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_program_that_is_compiled(shell):
    for command in console("race-kernel.md"):
        shown = shell(command)
        assert shown.returncode in (0, 3), shown.stderr
    assert "block 512, -O3" in shown.stdout and "ettled after" in shown.stdout
