"""Kernels: plain Python functions that run as they are, and as machine code where that is worth the wait.

    kernel    what Python calls, or a helper with several callers: compiled on its own and kept on disk
    reader    a kernel that only reads
    part      a helper that becomes part of the kernel that calls it
    by_model  one name for a primitive of both models, known Gaussian and laws: the first argument decides, in compiled
              code at the time when it is compiled

Both ways give the same bits. Python's own arithmetic is that of the machine; what is not is made so here: `np` and
`math` mean `plain.py` in a kernel that is interpreted, so that exp and log are those of the C library, as they are in
compiled code, and neither overflow nor a logarithm of 0 raises.

Two rules keep the hot path fast and the first call short.
1. Kernels never allocate: all scratch space comes in as an argument. Numba's reference counting can then be left
   out altogether, which makes a round three times faster.
2. Numba emits machine code for a kernel together with all that it calls, so a deep chain is compiled once for
   every link above it. A helper of one kernel is therefore inlined, and costs nothing on its own.
"""

from collections.abc import Callable, Iterator
from functools import update_wrapper
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

from prepex._kernels import engine, plain

F = TypeVar("F", bound=Callable[..., Any])

PARTS: set[Any] = set()
HOME = __name__.rpartition(".")[0]


class Kernel:
    """A function that is interpreted until its machine code is at hand."""

    def __init__(self, function: Any, *, writes: bool = True) -> None:
        update_wrapper(self, function)
        self.function = function
        self.writes = writes
        # Without kernels inside it is soon done: others call it as Python runs it, and no clock is looked at.
        self.leaf = not calls_kernels(function)
        # By the kind of the first argument.
        self.ready: dict[Any, Callable[..., Any]] = {}
        self.spent: dict[Any, float] = {}
        self._plain: Callable[..., Any] | None = None

    @property
    def plain(self) -> Callable[..., Any]:
        """As Python runs it."""
        if self._plain is None:
            self._plain = interpreted(self.function)
        return self._plain

    def __call__(self, *args: Any) -> Any:
        kind = kind_of(args[0])
        run = None if engine.here.interpreting else self.ready.get(kind)
        return engine.enter(self, kind, args) if run is None else run(*args)

    def inner(self, *args: Any) -> Any:
        """Called by another kernel that is interpreted."""
        if self.ready and not engine.here.interpreting:
            run = self.ready.get(kind_of(args[0]))
            if run is not None:
                return run(*args)
        if engine.tick():
            return engine.wait_for(self, kind_of(args[0]), args)(*args)
        return (self._plain or self.plain)(*args)

    def __repr__(self) -> str:
        return f"<kernel {self.function.__module__}.{self.function.__qualname__}>"


def kind_of(first: Any) -> Any:
    """What a kernel is compiled for, in short: a course says it, else it is the class of the first argument."""
    return getattr(first, "compiled_for", None) or type(first)


def globals_of(function: Any) -> Iterator[Any]:
    """What the names in a function stand for, those of a module of kernels among them.

    A field of the same name as a global counts as well: rather too many than to look at every instruction.
    """
    scope, names = function.__globals__, function.__code__.co_names
    for name in names:
        value = scope.get(name)
        yield value
        if isinstance(value, ModuleType) and value.__name__.startswith(HOME):
            yield from (getattr(value, inside, None) for inside in names)


def calls_kernels(function: Any) -> bool:
    """Does it call a kernel, itself or through its parts?"""
    return any(
        isinstance(value, Kernel | ByModel)
        or (isinstance(value, FunctionType) and value in PARTS and calls_kernels(value))
        for value in globals_of(function)
    )


def kernel(function: F) -> F:
    """Compiled on its own, and kept on disk."""
    return cast(F, Kernel(function))


def reader(function: F) -> F:
    """A kernel that changes nothing."""
    return cast(F, Kernel(function, writes=False))


def part(function: F) -> F:
    """A helper that becomes part of the kernel that calls it."""
    PARTS.add(function)
    return function


class ByModel:
    """A primitive that each model has its own function for: everything above is written once."""

    def __init__(self, known: Callable[..., Any], laws: Callable[..., Any]) -> None:
        self.known, self.laws = known, laws

    def __call__(self, first: Any, *args: Any) -> Any:
        return (self.laws if first.with_laws else self.known)(first, *args)


def by_model(*, known: Callable[..., Any], laws: Callable[..., Any]) -> Any:
    """What `known` does to a known Gaussian, and `laws` to other laws: the first argument says `with_laws`."""
    return ByModel(known, laws)


def twin(function: Any, swap: Callable[[Any], Any]) -> Any:
    """The same function with other globals."""
    code, scope = function.__code__, dict(function.__globals__)
    for name in code.co_names:
        if name in scope:
            value = scope[name]
            inside = isinstance(value, ModuleType) and value.__name__.startswith(HOME)
            scope[name] = _proxy(value, code.co_names, swap) if inside else swap(value)
    made = FunctionType(code, scope, function.__name__, function.__defaults__, function.__closure__)
    made.__qualname__, made.__doc__ = function.__qualname__, function.__doc__
    return made


def _proxy(module: ModuleType, names: tuple[str, ...], swap: Callable[[Any], Any]) -> ModuleType:
    """A module of kernels, for a function that names them by it."""
    proxy = ModuleType(module.__name__)
    for name in names:
        if hasattr(module, name):
            setattr(proxy, name, swap(getattr(module, name)))
    return proxy


def interpreted(function: Any) -> Callable[..., Any]:
    """As Python runs it."""
    known: dict[Any, Any] = {}

    def swap(value: Any) -> Any:
        if isinstance(value, Kernel):
            return value.plain if value.leaf else value.inner
        if isinstance(value, ModuleType):
            return plain.MODULES.get(value.__name__, value)
        if isinstance(value, ByModel):
            return ByModel(swap(value.known), swap(value.laws))
        if isinstance(value, FunctionType) and value in PARTS:
            if value not in known:
                known[value] = twin(value, swap)
            return known[value]
        return value

    return cast(Callable[..., Any], twin(function, swap))
