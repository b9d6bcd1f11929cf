"""Shortcuts through numba: the same kernels, compiled in two thirds of the time.

Most of the time of a first compile is spent by numba itself, in Python, and much of that on what our kernels do not
need or on what was known already:

    lifetimes     where each variable dies, after every pass: only reference counting asks for it, and there is none
    signatures    what `x + y` of two floats returns, found anew by trying a dozen templates for every sum
    assignments   single assignment, one variable at a time: every block is rewritten, not only those that name it
    copies        of a part that was read for this one place, and is thrown away after it: none

A shortcut is taken where the function that it replaces is, line by line, one that we know; else numba's own is used.
All that is replaced is put back when the compiler's lock is given up, so that other users of numba see nothing of it.
"""

import contextlib
import copy
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from numba.core import inline_closurecall, ir, postproc, ssa, transforms
from numba.core.targetconfig import ConfigStack
from numba.core.types import functions

_lifetimes = postproc.PostProcessor.run
_signature = functions.BaseFunction.get_call_type
_run_ssa = ssa._run_ssa


def lifetimes(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """In place of PostProcessor.run: who asks for a lifetime has it computed, and no variable is deleted."""
    flags, func_ir = ConfigStack().top_or_none(), self.func_ir
    if flags is None or flags.nrt or func_ir.is_generator:
        _lifetimes(self, emit_dels, extend_lifetimes)
        return
    func_ir.blocks = transforms.canonicalize_cfg(func_ir.blocks)
    func_ir.variable_lifetime = postproc.VariableLifetime(func_ir.blocks)
    func_ir.generator_info = None


class Signatures:
    """In place of BaseFunction.get_call_type: each asked for once, by function, types and the compiler's flags."""

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}
        # Flags, by their identity: what they say takes as long to read as a signature to find.
        self.flags: dict[int, tuple[Any, str]] = {}

    def find(self, function: Any, context: Any, args: Any, kws: Any) -> Any:
        """The signature of a call."""
        flags = ConfigStack().top_or_none()
        if kws or flags is None:
            return _signature(function, context, args, kws)
        said = self.flags.get(id(flags))
        if said is None:
            said = self.flags[id(flags)] = flags, flags.summary()
        key = function, args, said[1]
        if key not in self.known:
            self.known[key] = _signature(function, context, args, kws)
        return self.known[key]


class Assignments:
    """In place of ssa._run_ssa and ssa._run_block_rewrite: blocks that do not name a variable stay as they are."""

    def __init__(self) -> None:
        # The variables that each block named at first: later ones are new names of these.
        self.names: dict[int, set[str]] = {}

    def run(self, blocks: Any) -> Any:
        """Single assignment of all variables."""
        self.names = {
            label: {var.name for stmt in block.body for var in stmt.list_vars()} for label, block in blocks.items()
        }
        return _run_ssa(blocks)

    def rewrite(self, blocks: Any, states: Any, handler: Any) -> Any:
        """One pass for one variable."""
        found = {}
        for label, block in blocks.items():
            found[label] = block
            if states["varname"] in self.names[label]:
                states["label"], states["block"] = label, block
                found[label] = ir.Block(scope=block.scope, loc=block.loc)
                found[label].body = [
                    (handler.on_assign if isinstance(stmt, ir.Assign) else handler.on_other)(states, stmt)
                    for stmt in block.body
                ]
        return found


class NoCopies:
    """`copy`, where nothing needs to be copied."""

    @staticmethod
    def deepcopy(block: Any) -> Any:
        """The same."""
        return block


def inline_function(self: Any, caller_ir: Any, block: Any, i: Any, function: Any, arg_typs: Any = None) -> Any:
    """In place of InlineWorker.inline_function: the part was read for this call, and becomes part of the caller."""
    callee_ir, names = self.run_untyped_passes(function), vars(inline_closurecall)
    names["copy"] = NoCopies
    try:
        return self.inline_ir(caller_ir, block, i, callee_ir, function.__code__.co_freevars, arg_typs=arg_typs)
    finally:
        names["copy"] = copy


class Shortcut(NamedTuple):
    """What stands for names of `owner`, and digests of the functions, `also` some others, that it was written for."""

    owner: Any
    instead: dict[str, Callable[..., Any]]
    also: tuple[str, ...]
    written_for: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Are they the functions that we know?"""
        return self.digest() in self.written_for

    def digest(self) -> str:
        """Of their sources."""
        try:
            text = "".join(inspect.getsource(getattr(self.owner, name)) for name in (*self.instead, *self.also))
        except (OSError, AttributeError):
            return ""
        return hashlib.sha256("".join(text.split()).encode()).hexdigest()[:12]


@cache
def every() -> tuple[Shortcut, ...]:
    """All shortcuts."""
    signatures, assignments = Signatures(), Assignments()

    def find_signature(self: Any, context: Any, args: Any, kws: Any) -> Any:
        return signatures.find(self, context, args, kws)

    rewritten: dict[str, Callable[..., Any]] = {"_run_ssa": assignments.run, "_run_block_rewrite": assignments.rewrite}
    return (
        Shortcut(postproc.PostProcessor, {"run": lifetimes}, (), ("ce1210f56f0f",)),
        Shortcut(functions.BaseFunction, {"get_call_type": find_signature}, (), ("d77a4142d0d3",)),
        Shortcut(ssa, rewritten, ("_run_ssa_block_pass", "_fresh_vars", "_fix_ssa_vars"), ("631d2b36c1de",)),
        Shortcut(
            inline_closurecall.InlineWorker,
            {"inline_function": inline_function},
            ("inline_ir", "run_untyped_passes"),
            ("0164dc8dd5e6",),
        ),
    )


@cache
def fitting() -> tuple[Shortcut, ...]:
    """Those that this numba leaves open."""
    return tuple(shortcut for shortcut in every() if shortcut.fits)


_taken = 0


@contextlib.contextmanager
def shortcuts() -> Iterator[None]:
    """Take them. Only under the compiler's lock; a kernel that is compiled for another one has them already."""
    global _taken
    usual: list[tuple[Any, str, Any]] = []
    if not _taken:
        usual = [(short.owner, name, getattr(short.owner, name)) for short in fitting() for name in short.instead]
        for short in fitting():
            for name, function in short.instead.items():
                setattr(short.owner, name, function)
    _taken += 1
    try:
        yield
    finally:
        _taken -= 1
        for owner, name, function in usual:
            setattr(owner, name, function)
