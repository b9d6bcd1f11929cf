"""When a kernel is interpreted, and when it waits for its machine code.

Live use never waits for a compiler. A kernel is interpreted at first, which needs neither numba nor a second of
patience; the longer that takes, the more is done about it:

    LOAD_AFTER      machine code that is on disk is loaded
    COMPILE_AFTER   another process, of low priority, compiles what was used so far; once it is done, the code is loaded
    PATIENCE        a single call that takes longer than that compiles what it calls, and goes on with it

Work that is known to be large (a simulation, a bound, a long log, many arms) waits for the compiler at once:
`with waiting():`. Whoever ran it, the numbers are the same to the last bit.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

import numpy as np

# Seconds of interpretation of one kernel, and of a single call. To have something compiled takes numba, whose import
# alone stops a loop for a second: not for an experiment that ends soon.
LOAD_AFTER, COMPILE_AFTER, PATIENCE = 1.0, 8.0, 5.0
# If no other process can compile: seconds until it is waited for here.
WAIT_AFTER = 30.0
# Not worth interpreting: facet scores (arms times facets) of an instance, numbers in an array (points, a log).
MANY_SCORES, MANY_NUMBERS = 400, 4000
# Seconds between two looks for machine code.
LOOK_EVERY = 0.5
# The clock is looked at once in so many calls of a kernel by another.
TICKS = 500


class Kernel(Protocol):
    """What is known here of a kernel (jit.py)."""

    ready: dict[Any, Callable[..., Any]]
    spent: dict[Any, float]
    writes: bool

    @property
    def plain(self) -> Callable[..., Any]:
        """As Python runs it."""


class Here(threading.local):
    """Of this thread."""

    waiting: int = 0
    interpreting: int = 0
    deadline: float = np.inf
    ticks: int = TICKS
    told: bool = False
    # The first argument of the last call, and its arrays: a course is asked for them at every pull.
    first: Any = None
    inside: tuple[Any, ...] = ()
    # When to look at the disk again, and what was there.
    next_look: float = 0.0
    on_disk: bool = False


here = Here()
# Told, once, that something is being compiled: the command line prints it.
announce: Callable[[str], None] | None = None


@contextmanager
def waiting() -> Iterator[None]:
    """The work inside is large: compile first, however long it takes."""
    here.waiting += 1
    try:
        yield
    finally:
        here.waiting -= 1


@contextmanager
def interpreting() -> Iterator[None]:
    """Compile nothing, whatever it costs: kernels that are compiled already are interpreted too."""
    here.interpreting += 1
    try:
        yield
    finally:
        here.interpreting -= 1


def disabled() -> bool:
    """Is numba switched off, here or as numba documents it?"""
    return here.interpreting > 0 or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def large(args: tuple[Any, ...]) -> bool:
    """Are there many arms, or is there much of anything else?"""
    ledger = getattr(args[0], "near", args[0])
    scores = getattr(getattr(ledger, "inst", ledger), "S", None)
    if scores is not None and scores.size > MANY_SCORES:
        return True
    return any(isinstance(arg, np.ndarray) and arg.size > MANY_NUMBERS for arg in args)


def arrays(node: Any) -> Iterator[Any]:
    """All arrays that a kernel may write to."""
    if isinstance(node, tuple):
        for entry in node:
            yield from arrays(entry)
    elif isinstance(node, np.ndarray) and node.flags.writeable:
        yield node


def kept(args: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """Those arrays, each with a copy; some are in a course twice."""
    if here.first is not args[0]:
        here.first, here.inside = args[0], tuple({id(array): array for array in arrays(args[0])}.values())
    return [(array, array.copy()) for array in (*here.inside, *arrays(args[1:]))]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the kernel is done, as it does in machine code: none is left half way."""
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return
    noted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if noted:
        raise KeyboardInterrupt


def enter(kernel: Kernel, kind: Any, args: tuple[Any, ...]) -> Any:
    """Run a kernel that Python calls, one way or the other."""
    off = disabled()
    if not off:
        run = kernel.ready.get(kind)
        if run is None and (here.waiting or large(args)):
            run = wait_for(kernel, kind, args)
        if run is not None:
            return run(*args)
    began = time.perf_counter()
    here.deadline = np.inf if off else began + PATIENCE
    before = kept(args) if kernel.writes and not off else []
    try:
        with np.errstate(all="ignore"), nullcontext() if off else uninterrupted():
            answer = kernel.plain(*args)
    except (ArithmeticError, ValueError):
        # Python refuses a division by 0 that machine code does: all as it was, and once more.
        if off:
            raise
        for array, value in before:
            array[...] = value
        return wait_for(kernel, kind, args)(*args)
    spent = kernel.spent[kind] = kernel.spent.get(kind, 0.0) + time.perf_counter() - began
    if spent > LOAD_AFTER and not off:
        if spent > COMPILE_AFTER or seen_on_disk():
            from prepex._kernels import workshop

            workshop.consider(kernel, kind, args, spent)
    return answer


def seen_on_disk() -> bool:
    """May there be machine code? A look at the folder costs as much as a pull: once in a while."""
    now = time.perf_counter()
    if now >= here.next_look:
        from prepex._kernels.digest import perhaps_on_disk

        here.next_look, here.on_disk = now + LOOK_EVERY, perhaps_on_disk()
    return here.on_disk


def tick() -> bool:
    """Has the call that is being interpreted taken too long?"""
    here.ticks -= 1
    if here.ticks > 0:
        return False
    here.ticks = TICKS
    return time.perf_counter() > here.deadline


def prepare(calls: Iterable[tuple[Any, tuple[Any, ...]]]) -> None:
    """Make the machine code of several calls (kernel, arguments) at once, on all cores."""
    for _ in in_turn(calls):
        pass


def in_turn(calls: Iterable[tuple[Any, tuple[Any, ...]]]) -> Generator[None, None, None]:
    """The same, but it returns after each of them, while helpers make what the next ones need."""
    if disabled():
        yield from (None for _ in calls)
    else:
        from prepex._kernels import workshop

        yield from workshop.in_turn(calls)


def wait_for(kernel: Any, kind: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
    """The machine code of a kernel for such arguments: from the disk, or compiled now."""
    from prepex._kernels import compiler

    prepare([(kernel, args)])
    run: Callable[..., Any] = compiler.task_of(kernel, args).dispatcher
    kernel.ready[kind] = run
    return run


def say() -> None:
    """Tell whoever listens, once, that something is being compiled."""
    if announce is not None and not here.told:
        here.told = True
        announce("Compiling this kind of problem for this machine: once, up to half a minute; later it starts at once.")
