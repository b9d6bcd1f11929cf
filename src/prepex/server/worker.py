"""A process that computes: it keeps studies in memory, does one thing after the other, and may be killed at any time.

Whatever happens to it, the log is the truth: what it had not written did not happen.
"""

import pickle
import signal
import time
import traceback
from collections import OrderedDict
from multiprocessing.connection import Connection
from typing import Any

from prepex.server.tasks import APART, TASKS, WRITES, Done
from prepex.study.storage import Storage
from prepex.study.study import Study

# Studies whose state one process keeps; the one that was used least recently goes.
MOST_OPEN = 50
# Seconds of an answer that costs little.
CHEAP = 0.01
# Seconds that a writer waits for its turn. Short: the process is free for others meanwhile, and is asked again; longer
# for one that has computed for long, and would do so again.
PATIENCE, APART_PATIENCE = 0.02, 5.0


class Bench:
    """The studies in memory."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._open: OrderedDict[str, Study] = OrderedDict()
        # Studies whose answer costs little: it comes with every change.
        self._cheap: set[str] = set()

    def do(self, name: str, task: str, given: tuple[Any, ...]) -> Any:
        """One task."""
        found = self._open.pop(name, None) or Study(self.storage, name)
        self._open[name] = found
        while len(self._open) > MOST_OPEN:
            self._cheap.discard(self._open.popitem(last=False)[0])
        if task not in WRITES:
            return self._timed(found, task, given)
        result = TASKS[task](found, *given)
        return Done(result, self._timed(found, "answer", ()) if name in self._cheap else None)

    def _timed(self, study: Study, task: str, given: tuple[Any, ...]) -> Any:
        start = time.monotonic()
        result = TASKS[task](study, *given)
        if task == "answer":
            (self._cheap.add if time.monotonic() - start < CHEAP else self._cheap.discard)(study.name)
        return result


def work(pipe: Connection, storage: str) -> None:
    """Answer (name, task, arguments) with (True, result) or (False, error), until the other end is closed."""
    # Ctrl-C is for the server, which ends this process by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    benches: dict[float, Bench] = {}
    while True:
        try:
            name, task, given = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            patience = APART_PATIENCE if task in APART else PATIENCE
            if patience not in benches:
                benches[patience] = Bench(Storage(storage, patience=patience, follow=True))
            answer: tuple[bool, Any] = True, benches[patience].do(name, task, given)
        except Exception as error:
            answer = False, portable(error)
        try:
            pipe.send(answer)
        except OSError:
            return


def portable(error: Exception) -> Exception:
    """An error that another process can raise, with a note of where it happened.

    >>> portable(ValueError("x")), portable(type("Local", (Exception,), {})("y"))
    (ValueError('x'), RuntimeError("Local('y')"))
    """
    note = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))
        sent = copy if isinstance(copy, Exception) else RuntimeError(repr(error))
    except Exception:
        sent = RuntimeError(repr(error))
    sent.add_note(note)
    return sent
