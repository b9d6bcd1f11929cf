"""From a kernel to machine code, by numba, and to the disk and back. Loaded only when compiled code is wanted.

A primitive is replaced by the model's own, known Gaussian or laws, before numba sees it. Every name on disk
ends in a digest of all kernels and of the machine, so that code of other sources is never taken. A kernel is compiled
by one process at a time (a lock on a file): several share the work, and what one has compiled the others load.
"""

import contextlib
import gc
import math
import sys
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from numba import config, njit, typeof
from numba.core.compiler_lock import global_compiler_lock

from prepex._kernels import doors, gamma, jit
from prepex._kernels.digest import digest
from prepex._kernels.shortcuts import shortcuts
from prepex._kernels.table import PLACES, is_open, make_door, open_door, returned, settled

try:
    import fcntl
except ImportError:  # Windows: two processes may do the same work
    fcntl = None  # type: ignore[assignment]

# 1/0 is infinity ("no alternative"); no interpreter lock; `_nrt`: no reference counting.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}


class Task(NamedTuple):
    """A kernel and the types it is compiled for; another process can be told."""

    module: str
    name: str
    laws: bool
    types: tuple[Any, ...]

    @property
    def function(self) -> Any:
        """As it was written."""
        found = getattr(sys.modules[self.module], self.name)
        return getattr(found, "function", found)

    @property
    def dispatcher(self) -> Any:
        """Numba's object."""
        return dispatcher(self.function, self.laws)

    @property
    def on_disk(self) -> bool:
        """Is its machine code there?"""
        made = self.dispatcher
        folder = made.stats.cache_path
        return folder is not None and any(Path(folder).glob(f"*.{made.py_func.__qualname__}-*.nbc"))

    @property
    def done(self) -> bool:
        """Is its machine code in this process?"""
        return self.types in self.dispatcher.overloads


def task_of(target: Any, args: tuple[Any, ...]) -> Task:
    """What it takes to call a kernel with these arguments."""
    function = getattr(target, "function", target)
    laws = getattr(args[0], "with_laws", False) and depends(function)
    return Task(function.__module__, function.__name__, laws, tuple(settled(typeof(arg)) for arg in args))


def tasks_of(kernel: Any, args: tuple[Any, ...]) -> list[Task]:
    """The kernel and all doors that it needs. Who waits for them makes them in this order, helpers from the end."""
    needed = doors_of(getattr(kernel, "function", kernel), bool(getattr(args[0], "with_laws", False)))
    behind = (task_of(door, given) for door, given in doors.behind(args[0]) if door in needed)
    return [task_of(kernel, args), *behind]


@cache
def doors_of(function: Any, laws: bool) -> frozenset[Any]:
    """The doors that a kernel names, itself or through others: some it does not go through, for no course does."""
    found: set[Any] = set()
    for value in jit.globals_of(function):
        if isinstance(value, jit.ByModel):
            value = value.laws if laws else value.known
        if isinstance(value, jit.Kernel | FunctionType):
            found |= {value} & PLACES.keys()
            if isinstance(value, jit.Kernel) or value in jit.PARTS:
                found |= doors_of(getattr(value, "function", value), laws)
    return frozenset(found)


def make(task: Task) -> Any:
    """Compile or load, and open its door if it has one."""
    found = task.dispatcher
    found.compile(task.types)
    target = getattr(sys.modules[task.module], task.name)
    if target in PLACES and not is_open(PLACES[target] + task.laws):
        result = found.overloads[task.types]
        if result.signature.return_type != returned(task.function):
            raise TypeError(f"{task.name} must return what it says, got {result.signature.return_type}")
        address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        open_door(PLACES[target] + task.laws, address, result.signature)
    return found


@cache
def depends(function: Any) -> bool:
    """Does it call a primitive of a model, itself or through others, or is it a door with a place for each?"""
    if function in doors.OF_EACH_MODEL:
        return True
    for value in jit.globals_of(function):
        inside = getattr(value, "function", value)
        if isinstance(value, jit.ByModel):
            return True
        if (isinstance(value, jit.Kernel) or (isinstance(value, FunctionType) and value in jit.PARTS)) and depends(
            inside
        ):
            return True
    return False


@cache
def dispatcher(function: Any, laws: bool) -> Any:
    """A kernel on its own, kept on disk where that is possible."""
    made = _twin(function, laws)
    made.__qualname__ = f"{function.__qualname__}_{'laws' if laws else 'any'}_{digest()}"
    try:
        found = njit(cache=True, **OPTIONS)(made)
    except RuntimeError:  # no folder to write to
        return njit(**OPTIONS)(made)
    compile_alone = found.compile

    def compile_once(given: Any) -> Any:
        if given in found.overloads:
            return compile_alone(given)
        folder = Path(found.stats.cache_path)
        sweep(folder)
        # The compiler's own lock first: of two threads none may wait for the other's file.
        with alone(), lock(folder / f"{made.__qualname__}.lock"), uncollected(), shortcuts():
            return compile_alone(given)

    found.compile = compile_once
    return found


@cache
def _part(function: Any, laws: bool) -> Any:
    """A part of whatever calls it."""
    return njit(inline="always", **OPTIONS)(_twin(function, laws))


@cache
def _door(target: Any, laws: bool) -> Any:
    function = getattr(target, "function", target)
    return make_door(PLACES[target] + (laws and depends(function)), function)


def _twin(function: Any, laws: bool) -> Any:
    return jit.twin(function, partial(_compiled_name, laws=laws))


def _compiled_name(value: Any, laws: bool) -> Any:
    """What a global of a kernel means in compiled code."""
    if isinstance(value, jit.Kernel | FunctionType) and value in PLACES:
        return _door(value, laws)
    if isinstance(value, jit.Kernel):
        return dispatcher(value.function, laws and depends(value.function))
    if isinstance(value, FunctionType) and value in jit.PARTS:
        return _part(value, laws)
    if isinstance(value, jit.ByModel):
        return _compiled_name(value.laws if laws else value.known, laws)
    return _math() if value is math else value


@cache
def _math() -> ModuleType:
    """`math` with the log Gamma of gamma.py."""
    module = ModuleType("math")
    vars(module).update(vars(math) | {"lgamma": dispatcher(gamma.lgamma, False)})
    return module


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """One process at a time; without a lock where there can be none."""
    try:
        file = path.open("wb")
    except OSError:
        yield
        return
    with file:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


@cache
def sweep(folder: Path) -> None:
    """Remove machine code of other sources that nobody has made anew for a fortnight."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            ours = path.suffix in (".nbi", ".nbc", ".lock") or ".nbi.tmp." in path.name or ".nbc.tmp." in path.name
            if ours and digest() not in path.name and time.time() - path.stat().st_mtime > 14 * 86400:
                path.unlink()


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One thread at a time, and no vectors: loops are over few arms and facets, and a seventh of the time is saved."""
    with global_compiler_lock:
        usual, config.LOOP_VECTORIZE = config.LOOP_VECTORIZE, 0  # type: ignore[attr-defined]
        try:
            yield
        finally:
            config.LOOP_VECTORIZE = usual  # type: ignore[attr-defined]


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """The compiler makes much and little garbage: a tenth of its time goes into looking for it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
