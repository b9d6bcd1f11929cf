"""Long logs make many objects, none of which is part of a cycle: Python's collector of cycles need not look."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def calm() -> Iterator[None]:
    """The collector rests, which takes 40 % of the time of a long log; memory is given back as always.

    >>> with calm():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
