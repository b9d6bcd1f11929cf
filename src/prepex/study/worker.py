"""Who asks without a name: a thread of a process of a machine.

Someone who gives no name cannot be told from others by it. But a pull that was asked for by this very thread, or by a
process of this machine that is no longer there, was left behind, and may be handed out again.
"""

import hashlib
import os
import platform
import sys
import threading
from functools import cache
from pathlib import Path


def this_worker() -> str:
    """This thread.

    >>> this_worker() == this_worker(), left_behind(this_worker())
    (True, True)
    """
    pid = os.getpid()
    return f"{_machine()}:{pid}:{_started(pid)}:{threading.get_ident()}"


def left_behind(worker: str) -> bool:
    """Is it this thread, or a process of this machine that has ended?"""
    if worker == this_worker():
        return True
    machine, _, rest = worker.partition(":")
    pid, _, rest = rest.partition(":")
    return machine == _machine() and pid.isdecimal() and not _alive(int(pid), rest.partition(":")[0])


def _alive(pid: int, started: str) -> bool:
    if sys.platform == "win32":
        # There is no harmless question there: better a pull that somebody voids than one that two people do.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    # The number may belong to another process by now.
    return started == _started(pid)


@cache
def _machine() -> str:
    """A machine by its name, and no more of it than a few letters that mean nothing elsewhere."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _started(pid: int) -> str:
    """When a process began, where the system says so."""
    try:
        # The name of the program, in brackets, may have spaces; the 20th field behind it is the time.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
