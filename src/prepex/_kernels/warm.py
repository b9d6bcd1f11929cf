"""Compile kernels for another process: `python -m prepex._kernels.warm`. Its input says what, and its end is ours."""

import contextlib
import importlib
import os
import pickle
import sys
import threading


def leave_with_parent() -> None:
    """The input stays open as long as the parent lives and waits."""
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> None:
    """Compile the tasks in their order; of several helpers each begins elsewhere."""
    if pickle.load(sys.stdin.buffer):  # in the background
        with contextlib.suppress(OSError, AttributeError):
            os.nice(10)
    # Before it is known what to compile: who asks for it is loading the same.
    importlib.import_module("prepex._kernels.compiler")
    try:
        place, tasks = pickle.load(sys.stdin.buffer)
    except EOFError:  # nothing to do after all
        return
    threading.Thread(target=leave_with_parent, daemon=True).start()
    for task in tasks[place:] + tasks[:place]:
        task.dispatcher.compile(task.types)


if __name__ == "__main__":
    main()
