"""Files that are there as a whole: what stood there stays until all of the new is written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(path: Path, *, encoding: str = "utf-8", newline: str | None = None) -> Iterator[TextIO]:
    """Write to a file beside it, which takes its place at the end: a full disk costs no backup."""
    if path.exists() and not path.is_file():  # a pipe or a device has nothing to lose
        with path.open("w", encoding=encoding, newline=newline) as file:
            yield file
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding=encoding, newline=newline) as file:
            yield file
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """`Path.write_text`, all of it or nothing."""
    with whole_file(path) as file:
        file.write(text)
