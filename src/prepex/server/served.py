"""A study as the server has it: what is read comes from the last published answer, and never waits for who writes.

Every answer belongs to a head of the log. A reader looks up the head, which nobody can lock; if the published answer is
of this head it is the answer, else it is computed anew. If that takes more than a moment, because the worker is busy or
a large import must be read in, the reader gets the last one: whole, and marked as one of some moments ago. Where an
answer costs little it comes with every change (worker.py), so that who has written sees it.
"""

import threading
import time
from concurrent.futures import Future, wait
from typing import Any

from prepex.server.crew import LostError, Runner, TooLongError
from prepex.server.tasks import APART, Ahead, Answer, Done, View
from prepex.study.storage import BusyError, Storage
from prepex.study.study import Study

# Seconds that a reader waits for a newer answer than the last one.
GLANCE = 0.06
# Seconds that a request waits for its turn: to be computed, or to write.
TURN = 5.0
# Seconds between two tries to write.
AGAIN = 0.05
# Seconds in which what has taken too long is not tried again, unless the log has grown.
PAUSE = 300.0


class Published:
    """The last answer of one kind."""

    def __init__(self, served: "Served", task: str) -> None:
        self.served, self.task = served, task
        self.last: Any = None
        self._asked: list[Future[Any]] = []
        # (the head at which it took too long, when to try again, what is said)
        self._refused: tuple[str, float, Exception] = ("", 0.0, TooLongError())
        self._lock = threading.Lock()

    def get(self) -> tuple[Any, bool]:
        """(the answer now, True), or (the last one, False)."""
        head = self.served.head()
        with self._lock:
            last = self.last
            if last is not None and last.head == head:
                return last, True
            if self._refused[0] == head and time.monotonic() < self._refused[1]:
                if last is not None:
                    return last, False
                raise self._refused[2]
            # One that has not begun will see this head; one that has begun may not.
            asked = next((each for each in self._asked if not each.running() and not each.done()), None)
        if asked is None:
            asked = self._ask(head)
        done, _ = wait([asked], TURN if last is None else GLANCE)
        if not done and last is None and asked.running():
            # Nothing to show yet, and it is under way: it ends by itself, or is stopped.
            wait([asked])
        if asked.done():
            try:
                return asked.result(), True
            except (TooLongError, LostError, BusyError):
                if last is None:
                    raise
                return last, False
        if last is None:
            raise BusyError("the study waits for its turn to be computed")
        return last, False

    def accept(self, answer: Answer) -> None:
        """One that came with a change, unless there is a newer one."""
        with self._lock:
            if self.last is None or answer.status.events >= self.last.status.events:
                self.last = answer

    def _ask(self, head: str, first: bool = True) -> "Future[Any]":
        made = self.served.runner.submit(self.served.name, self.task, first=first)
        with self._lock:
            self._asked.append(made)
        made.add_done_callback(lambda _: self._publish(made, head))
        return made

    def _publish(self, asked: "Future[Any]", head: str) -> None:
        with self._lock:
            self._asked.remove(asked)
            if asked.cancelled():
                return
            error = asked.exception()
            if error is None:
                self.last = asked.result()
            elif isinstance(error, TooLongError):
                self._refused = head, time.monotonic() + PAUSE, error


class Outlook(Published):
    """The forecast: it takes seconds, and nobody waits for it. Asked for again until it is known."""

    def get(self) -> tuple[Any, bool]:
        """(the forecast now, True), or (the last one or None, False): it is being computed."""
        head = self.served.head()
        with self._lock:
            last, busy = self.last, bool(self._asked)
            if last is not None and last.head == head and (last.done or last.forecast is not None):
                return last, True
            if self._refused[0] == head and time.monotonic() < self._refused[1]:
                return last, True
        if not busy:
            wait([self._ask(head, first=False)], GLANCE)
            with self._lock:
                last = self.last
        return last, last is not None and last.head == head and (last.done or last.forecast is not None)


class Served:
    """One study."""

    def __init__(self, storage: Storage, name: str, runner: Runner) -> None:
        self.study, self.name, self.runner = Study(storage, name), name, runner
        self._turn = threading.Lock()
        self._answer, self._view = Published(self, "answer"), Published(self, "view")
        self._outlook = Outlook(self, "forecast")

    def head(self) -> str:
        """The last hash of the log."""
        return self.study.head()

    def answer(self) -> tuple[Answer, bool]:
        """How it stands; False: there is a newer answer, but not yet."""
        return self._answer.get()

    def view(self) -> tuple[View, bool]:
        """What the dashboard draws; False: there is a newer view, but not yet."""
        return self._view.get()

    def forecast(self) -> tuple[Ahead | None, bool]:
        """How many more outcomes; False: not yet, or there is a newer one to come."""
        return self._outlook.get()

    def compute(self, task: str, *given: Any) -> Any:
        """Something else to read."""
        return self._result(task, given, time.monotonic() + TURN)

    def write(self, task: str, *given: Any) -> Any:
        """A change. While somebody else writes it is tried again for a while; then BusyError."""
        end = time.monotonic() + TURN
        if task in APART:
            return self._noted(self._result(task, given, end))
        # Those of this server take turns here, and not where they would keep a worker from its readers.
        if not self._turn.acquire(timeout=TURN):
            raise BusyError("the study waits for its turn to be written")
        try:
            while True:
                try:
                    done = self._result(task, given, end)
                    break
                except BusyError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(AGAIN)
            return self._noted(done)
        finally:
            self._turn.release()

    def _noted(self, done: Done) -> Any:
        if done.answer is not None:
            self._answer.accept(done.answer)
        return done.result

    def _result(self, task: str, given: tuple[Any, ...], end: float) -> Any:
        future = self.runner.submit(self.name, task, *given)
        wait([future], max(end - time.monotonic(), 0.0))
        if not future.done() and future.cancel():
            raise BusyError("the study waits for its turn to be computed")
        return future.result()
