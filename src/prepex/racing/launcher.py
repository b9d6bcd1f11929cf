"""Stands between a race and a command whose peak of memory is measured: `launcher.py NOTE COMMAND ...`.

The kernel counts the memory of a process from its parent's on, and that of a race is large. This one is small, so that
peaks above some ten megabytes are the command's own.
"""

import os
import sys
import time


def main() -> None:
    """Run the command, and write down what it took."""
    note, argv = sys.argv[1], sys.argv[2:]
    began = time.perf_counter()
    try:
        pid = os.posix_spawnp(argv[0], argv, os.environ)
    except OSError as error:
        words = str(error).replace("\\", "").replace('"', "'")
        with open(note, "w") as file:  # noqa: PTH123
            file.write(f'{{"error": "{words}"}}')
        return
    _, status, used = os.wait4(pid, 0)
    seconds = time.perf_counter() - began
    unit = 1 if sys.platform == "darwin" else 1024
    with open(note, "w") as file:  # noqa: PTH123
        file.write(
            f'{{"seconds": {seconds!r}, "cpu": {used.ru_utime + used.ru_stime!r}, '
            f'"memory": {float(used.ru_maxrss * unit)!r}, "code": {os.waitstatus_to_exitcode(status)}}}'
        )


if __name__ == "__main__":
    main()
