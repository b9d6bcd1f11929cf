"""One run of a command: how long, how much, what it printed. Runs may go on side by side in threads."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from prepex.racing.measures import Record

# Bytes of standard output in which measures are looked for, and characters of last words.
LONGEST_TEXT, LONGEST_WORDS = 10**6, 300
LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True)
class Result:
    """What came of a trial: values of the measures, or a problem and the last words of the run.

    words   None of what does not print, as a function
    """

    values: Mapping[str, float] = field(default_factory=dict)
    problem: str | None = None
    words: str | None = ""
    seconds: float = 0.0

    @property
    def failure(self) -> str:
        """The problem, and its last words.

        >>> Result(problem="it broke", words="oh").failure, Result(problem="it broke").failure
        ('it broke; its last words: oh', 'it broke; it printed nothing')
        >>> Result(problem="it must return a number, got 'fast'", words=None).failure
        "it must return a number, got 'fast'"
        """
        if self.words is None:
            return str(self.problem)
        return f"{self.problem}; {f'its last words: {self.words}' if self.words else 'it printed nothing'}"


class BrokenRunError(Exception):
    """A run that was not one: it could not start, or took too long. Says why, with its last words."""

    def __init__(self, problem: str, words: str = "", seconds: float = 0.0) -> None:
        super().__init__(problem)
        self.words, self.seconds = words, seconds


class Runs:
    """The runs that are going on, so that all can be ended."""

    def __init__(self) -> None:
        self._alive: set[int] = set()
        self._lock = threading.Lock()
        self._over = False

    def run(
        self,
        command: str,
        *,
        shell: bool,
        env: Mapping[str, str],
        folder: Path,
        timeout: float | None = None,
        memory: bool = False,
    ) -> tuple[Record, str]:
        """(what was measured, last words)."""
        argv = ["/bin/sh", "-c", command] if shell else shlex.split(command)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.NamedTemporaryFile() as note:
            called = [sys.executable, "-I", "-S", str(LAUNCHER), note.name, *argv] if memory else argv
            began = time.perf_counter()
            process = self._start(called, env=env, folder=folder, out=out, err=err)
            late = threading.Event()
            timer = None if timeout is None else threading.Timer(timeout, _end, (process.pid, late))
            if timer is not None:
                timer.start()
            # Measured by the kernel, for this child and those that it waited for.
            _, status, used = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            if timer is not None:
                timer.cancel()
            with self._lock:
                self._alive.discard(process.pid)
            _end(process.pid)
            size, text = _tail(out)
            words = last_words(_tail(err)[1]) or last_words(text)
            if late.is_set():
                raise BrokenRunError(f"it took longer than the timeout of {timeout:g} s", words, seconds)
            code, cpu, peak = process.returncode, used.ru_utime + used.ru_stime, None
            if memory:
                seconds, cpu, peak, code = _noted(note, words)
            return Record(seconds, cpu, peak, code, size, text), words

    def _start(
        self, argv: Sequence[str], *, env: Mapping[str, str], folder: Path, out: IO[bytes], err: IO[bytes]
    ) -> "subprocess.Popen[bytes]":
        given = {**os.environ, **env}
        with self._lock:
            if self._over:
                raise BrokenRunError("the race is over")
            try:
                # A session of its own: it, and all that it starts, can be ended together.
                process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    cwd=folder,
                    env=given,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise BrokenRunError(f"it could not be started: {error}") from None
            self._alive.add(process.pid)
            return process

    def stop(self) -> None:
        """End all that is running, and start nothing more."""
        with self._lock:
            self._over = True
            for pid in self._alive:
                _end(pid)


def _end(pid: int, late: threading.Event | None = None) -> None:
    if late is not None:
        late.set()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _noted(note: Any, words: str) -> tuple[float, float, float, int]:
    """What the launcher wrote."""
    try:
        found = json.loads(Path(note.name).read_text())
    except ValueError:
        raise BrokenRunError("it was ended from outside", words) from None
    if "error" in found:
        raise BrokenRunError(f"it could not be started: {found['error']}", words)
    return found["seconds"], found["cpu"], found["memory"], found["code"]


def _tail(file: IO[bytes]) -> tuple[int, str]:
    """(how long it is, its end)."""
    size = os.fstat(file.fileno()).st_size
    file.seek(max(size - LONGEST_TEXT, 0))
    return size, file.read().decode("utf-8", "replace")


def last_words(text: str) -> str:
    """The last line that says something, or its end.

    >>> last_words("first\\nlast  \\n\\n"), last_words("")
    ('last', '')
    """
    line = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    return line if len(line) <= LONGEST_WORDS else "..." + line[-LONGEST_WORDS:]
