"""Who computes. Kernels hold no interpreter lock and cannot be stopped from outside, so they run in processes of their
own: a task that takes too long is ended by ending its process, and the server itself never computes.

Legend
    task      a function of tasks.py with the name of a study and plain arguments
    place     a study; or its long tasks (APART), or its forecasts (AHEAD), so that its others go on
    home      the worker that has the state of a place in memory
    limit     seconds after which a task is stopped
"""

import multiprocessing
import os
import threading
import time
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol

from prepex.server.tasks import AHEAD, APART, TASKS, WRITES, Done
from prepex.server.worker import work
from prepex.study.storage import Storage
from prepex.study.study import Study

# Seconds after which another worker takes over the other studies of one that is busy.
TURN = 0.25
# Studies whose state is kept in memory; the one that was used least recently goes.
MOST_OPEN = 100


class TooLongError(Exception):
    """It was stopped; nothing happened."""


class LostError(Exception):
    """The process that did it is gone."""


class Runner(Protocol):
    """Does tasks."""

    def submit(self, name: str, task: str, *given: Any, first: bool = False) -> "Future[Any]":
        """Soon; `first`: before those that are not."""

    def start(self) -> None:
        """Get ready."""

    def close(self) -> None:
        """Stop everything, at once."""


class Inline:
    """In this process, at once: for tests, and where processes cannot be started. Nothing can be stopped."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._open: OrderedDict[str, Study] = OrderedDict()
        self._lock = threading.Lock()

    def submit(self, name: str, task: str, *given: Any, first: bool = False) -> "Future[Any]":
        """Now."""
        made: Future[Any] = Future()
        try:
            result = TASKS[task](self._study(name), *given)
            made.set_result(Done(result, None) if task in WRITES else result)
        except Exception as error:
            made.set_exception(error)
        return made

    def _study(self, name: str) -> Study:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
        # Not under the lock: a slow database must not stop the other studies.
        found = Study(self.storage, name)
        with self._lock:
            found = self._open.setdefault(name, found)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return found

    def start(self) -> None:
        """Always ready."""

    def close(self) -> None:
        """Nothing to stop."""


@dataclass
class Job:
    """A task that waits."""

    name: str
    task: str
    given: tuple[Any, ...]
    first: bool
    result: "Future[Any]" = field(default_factory=Future)

    @property
    def place(self) -> str:
        """Jobs of one place are done one after the other: those of a study, and apart from them its long ones."""
        if self.task in AHEAD:
            return f"{self.name}\0ahead"
        return f"{self.name}\0apart" if self.task in APART else self.name


class Crew:
    """Worker processes, each led by a thread. One study is computed by one worker at a time, but for tasks apart."""

    def __init__(self, storage: Storage, *, workers: int, limit: float) -> None:
        self.storage = storage.url.render_as_string(hide_password=False)
        self.workers, self.limit = workers, limit
        self._context = _context()
        self._changed = threading.Condition()
        self._jobs: list[Job] = []
        self._home: dict[str, int] = {}
        # worker -> (the place it computes for, since when)
        self._busy: dict[int, tuple[str, float]] = {}
        self._processes: dict[int, Any] = {}
        self._leaders = 0
        self._closed = False

    def submit(self, name: str, task: str, *given: Any, first: bool = False) -> "Future[Any]":
        """Soon, by the worker that knows the study, or one that is free."""
        job = Job(name, task, given, first)
        with self._changed:
            if self._closed:
                raise LostError("the server is ending")
            # In the order of arrival, those that are `first` before the others.
            self._jobs.insert(sum(other.first for other in self._jobs) if first else len(self._jobs), job)
            wanted = {other.place for other in self._jobs} | {place for place, _ in self._busy.values()}
            if len(wanted) > self._leaders:
                self._hire()
            self._changed.notify_all()
        return job.result

    def start(self) -> None:
        """Have one ready, before anyone waits for it."""
        with self._changed:
            self._hire()

    def _hire(self) -> None:
        if self._leaders < self.workers:
            threading.Thread(target=self._lead, args=(self._leaders,), daemon=True).start()
            self._leaders += 1

    def close(self) -> None:
        """Stop everything, at once."""
        with self._changed:
            self._closed = True
            jobs, self._jobs = self._jobs, []
            processes = list(self._processes.values())
            self._changed.notify_all()
        for process in processes:
            process.kill()
        for process in processes:
            process.join(1.0)
        for job in jobs:
            if job.result.set_running_or_notify_cancel():
                job.result.set_exception(LostError("the server is ending"))

    def _take(self, me: int) -> Job | None:
        """The first job that is for this worker."""
        now, taken = time.monotonic(), {place for place, _ in self._busy.values()}
        for job in self._jobs:
            if job.place in taken:
                continue
            home = self._home.get(job.place, me)
            if home == me or (home in self._busy and now - self._busy[home][1] > TURN):
                self._jobs.remove(job)
                return job
        return None

    def _lead(self, me: int) -> None:
        pipe: Connection | None = None
        with self._changed:
            ahead = not self._jobs
        if ahead:
            # Nobody waits yet. Else the first job starts it, and is under way from then on.
            with suppress(Exception):
                pipe = self._start(me)
        while True:
            with self._changed:
                while (job := self._take(me)) is None and not self._closed:
                    # Whether a home has been busy for long is a matter of time.
                    self._changed.wait(TURN if self._jobs else None)
                if job is None:
                    break
                self._busy[me], self._home[job.place] = (job.place, time.monotonic()), me
            try:
                if job.result.set_running_or_notify_cancel():
                    pipe = self._do(me, job, pipe)
            finally:
                with self._changed:
                    del self._busy[me]
                    self._changed.notify_all()
        if pipe is not None:
            pipe.close()

    def _do(self, me: int, job: Job, pipe: Connection | None) -> Connection | None:
        """One job; the pipe to the process, which is None when the process is gone."""
        message = job.name, job.task, job.given
        try:
            try:
                if pipe is None:
                    raise BrokenPipeError
                pipe.send(message)
            except OSError:
                # Not started yet, or ended while it was idle.
                if pipe is not None:
                    pipe.close()
                pipe = self._start(me)
                pipe.send(message)
            limit = self.limit
            if not pipe.poll(limit):
                self._stop(me, pipe)
                job.result.set_exception(TooLongError(f"this took longer than {limit:g} s and was stopped"))
                return None
            fine, result = pipe.recv()
        except Exception as error:
            # Whatever it was: the leader goes on, or its studies would wait forever.
            self._stop(me, pipe)
            job.result.set_exception(LostError(f"the process that computed it is gone: {error!r}"))
            return None
        if fine:
            job.result.set_result(result)
        else:
            job.result.set_exception(result)
        return pipe

    def _start(self, me: int) -> Connection:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(theirs, self.storage), daemon=True, name=f"prepex-{me}")
        process.start()
        theirs.close()
        with self._changed:
            self._processes[me] = process
            ended = self._closed
        if ended:
            process.kill()
            raise LostError("the server is ending")
        return ours

    def _stop(self, me: int, pipe: Connection | None) -> None:
        with self._changed:
            process = self._processes.pop(me, None)
            self._home = {name: home for name, home in self._home.items() if home != me}
        if process is not None:
            process.kill()
            process.join(5.0)
        if pipe is not None:
            pipe.close()


def default_workers() -> int:
    """More than the heavy studies that one expects at a time, so that the others go on."""
    return max(4, os.cpu_count() or 1)


def _context() -> Any:
    """New processes are copies of one that has loaded everything, where the system can do that: quick to start."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["prepex.server.worker"])
    return context
