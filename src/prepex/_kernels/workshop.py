"""Machine code made by several processes: now, because it is waited for, or in the background."""

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

from prepex._kernels import engine
from prepex._kernels.compiler import Task, make, tasks_of

# Processes beside this one: each starts with a second of imports.
MOST_HELPERS = 3
# How often a kernel that is being interpreted looks whether its machine code is there, in seconds.
LOOK_EVERY = 0.5

_children: list[subprocess.Popen[bytes]] = []
_asked: set[Task] = set()
_looks: dict[Any, float] = {}
_door = threading.Lock()


def prepare(calls: Iterable[tuple[Any, tuple[Any, ...]]]) -> None:
    """Make or load the machine code of these calls (kernel, arguments), on all cores."""
    tasks = dict.fromkeys(task for kernel, args in calls for task in tasks_of(kernel, args))
    wanted = [task for task in tasks if not task.done]
    missing = [task for task in wanted if not task.on_disk]
    helpers: list[subprocess.Popen[bytes]] = []
    if missing:
        engine.say()
        for place in range(min(MOST_HELPERS, _cores() - 1, len(missing) - 1)):
            helpers += _start(missing, place, background=False)
    try:
        for task in wanted:
            make(task)
    finally:
        for helper in helpers:
            _stop(helper)
    for task in tasks:
        make(task)


def consider(kernel: Any, kind: Any, args: tuple[Any, ...], spent: float) -> None:
    """A kernel has been interpreted for so long: load its machine code, or have it made."""
    now = time.monotonic()
    if now < _looks.get((kernel, kind), 0.0) or not _door.acquire(blocking=False):
        return
    try:
        _looks[kernel, kind] = now + LOOK_EVERY
        tasks, working = tasks_of(kernel, args), _working()
        missing = [task for task in tasks if not task.done and not task.on_disk]
        if not missing or (spent > engine.WAIT_AFTER and not working):
            for task in tasks:
                make(task)
            kernel.ready[kind] = tasks[0].dispatcher
        elif spent > engine.COMPILE_AFTER and not working and not _asked.issuperset(missing):
            _asked.update(missing)
            _start(missing, 0, background=True)
    finally:
        _door.release()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _working() -> bool:
    """Is a process compiling in the background? Those that are done are seen off."""
    for child in [child for child in _children if child.poll() is not None]:
        _stop(child)
    return bool(_children)


def _start(tasks: list[Task], place: int, *, background: bool) -> list[subprocess.Popen[bytes]]:
    """A process that compiles these, if there can be one and there is a disk to keep them."""
    if not sys.executable or any(task.dispatcher.stats.cache_path is None for task in tasks):
        return []
    paths = os.pathsep.join(path for path in sys.path if path)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "prepex._kernels.warm"],
            env=os.environ | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _children.append(child)
        assert child.stdin is not None
        child.stdin.write(pickle.dumps((place, background)) + pickle.dumps(tasks))
        child.stdin.flush()
    except OSError:
        return []
    return [child]


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
