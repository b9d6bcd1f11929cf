"""Machine code made by several processes: now, because it is waited for, or in the background."""

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

from prepex._kernels import engine
from prepex._kernels.digest import perhaps_on_disk

# Loaded where it is used: others are started before that second passes.
if TYPE_CHECKING:
    from prepex._kernels.compiler import Task

# Processes beside this one: each starts with a second of imports.
MOST_HELPERS = 3

_children: list[subprocess.Popen[bytes]] = []
_asked: set["Task"] = set()
_looks: dict[Any, float] = {}
_door = threading.Lock()


def in_turn(calls: Iterable[tuple[Any, tuple[Any, ...]]]) -> Generator[None, None, None]:
    """Make or load the machine code of these calls (kernel, arguments), on all cores.

    Returns after each of them: it can be made, while helpers go on with what the next ones need.
    """
    most = min(MOST_HELPERS, _cores() - 1)
    # If there surely is nothing on disk they are needed, and load the compiler while it is loaded here.
    helpers = [] if perhaps_on_disk() else _hire(most, background=False)
    try:
        from prepex._kernels.compiler import make, tasks_of

        turns = [tasks_of(kernel, args) for kernel, args in calls]
        # Who waits begins at the start of a turn, helpers at its end.
        tasks = dict.fromkeys(task for turn in turns for task in reversed(turn))
        missing = [task for task in tasks if not task.done and not task.on_disk]
        if missing:
            engine.say()
            most = min(most, len(missing) - 1)
            helpers += _hire(most - len(helpers), background=False)
            for place, helper in enumerate(helpers[:most]):
                _give(helper, missing, place)
        for turn in turns:
            for task in turn:
                make(task)
            yield
    finally:
        for helper in helpers:
            _stop(helper)


def prepare(calls: Iterable[tuple[Any, tuple[Any, ...]]]) -> None:
    """Make or load the machine code of all these calls."""
    for _ in in_turn(calls):
        pass


def consider(kernel: Any, kind: Any, args: tuple[Any, ...], spent: float) -> None:
    """A kernel has been interpreted for so long: load its machine code, or have it made."""
    now = time.monotonic()
    if now < _looks.get((kernel, kind), 0.0) or not _door.acquire(blocking=False):
        return
    try:
        from prepex._kernels.compiler import make, tasks_of

        _looks[kernel, kind] = now + engine.LOOK_EVERY
        tasks, working = tasks_of(kernel, args), _working()
        missing = [task for task in tasks if not task.done and not task.on_disk]
        if not missing or (spent > engine.WAIT_AFTER and not working):
            for task in tasks:
                make(task)
            kernel.ready[kind] = tasks[0].dispatcher
        elif spent > engine.COMPILE_AFTER and not working and not _asked.issuperset(missing):
            _asked.update(missing)
            for helper in _hire(1, background=True):
                _give(helper, missing[::-1], 0)
    finally:
        _door.release()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _working() -> bool:
    """Is a process compiling in the background? Those that are done are seen off."""
    for child in [child for child in _children if child.poll() is not None]:
        _stop(child)
    return bool(_children)


def _hire(most: int, *, background: bool) -> list[subprocess.Popen[bytes]]:
    """So many processes that will compile, if there can be any."""
    paths = os.pathsep.join(path for path in sys.path if path)
    hired: list[subprocess.Popen[bytes]] = []
    for _ in range(most if sys.executable else 0):
        try:
            child = subprocess.Popen(
                [sys.executable, "-m", "prepex._kernels.warm"],
                env=os.environ | {"PYTHONPATH": paths},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            break
        _children.append(child)
        hired.append(child)
        _send(child, background)
    return hired


def _give(helper: subprocess.Popen[bytes], tasks: list["Task"], place: int) -> None:
    """What it compiles, if there is a disk to keep it."""
    if all(task.dispatcher.stats.cache_path is not None for task in tasks):
        _send(helper, (place, tasks))


def _send(helper: subprocess.Popen[bytes], given: Any) -> None:
    assert helper.stdin is not None
    with contextlib.suppress(OSError):
        helper.stdin.write(pickle.dumps(given))
        helper.stdin.flush()


def _stop(child: subprocess.Popen[bytes]) -> None:
    """It ends when its input does."""
    with contextlib.suppress(OSError):
        assert child.stdin is not None
        child.stdin.close()
    try:
        child.wait(2.0)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    with contextlib.suppress(ValueError):  # another thread has seen it off
        _children.remove(child)


@atexit.register
def _stop_all() -> None:
    for child in list(_children):
        _stop(child)
