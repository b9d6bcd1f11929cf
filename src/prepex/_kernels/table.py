"""The table of the doors' addresses, and the call through it, in numba's terms.

Cached machine code names one symbol, `prepex_doors`: a function that returns where the table is in this process. A
place holds an address and the types it is for, so that a call with others, or before it is filled, is an error.
"""

import ctypes
import hashlib
from typing import Any, get_args, get_origin

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from prepex._kernels.doors import DOORS
from prepex._kernels.records import VOID

SYMBOL = "prepex_doors"
# Two places for each: Gaussian, and with laws.
PLACES = {door: 2 * place for place, door in enumerate(DOORS)}
entries = (ctypes.c_int64 * (4 * len(DOORS)))()
WORD = ir.IntType(64)


def is_open(place: int) -> bool:
    """Is there an address?"""
    return bool(entries[2 * place])


def open_door(place: int, address: int, sig: Any) -> None:
    """Compiled code of these types is at this address."""
    entries[2 * place + 1] = code_of(sig)
    entries[2 * place] = address


def code_of(sig: Any) -> int:
    """The types of a call, as a number."""
    text = ", ".join(str(kind) for kind in (sig.return_type, *sig.args))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)


def publish() -> Any:
    """Make the symbol known; what is returned must be kept."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = ir.Module(SYMBOL)
    module.triple = binding.get_process_triple()
    function = ir.Function(module, ir.FunctionType(VOID, []), SYMBOL + "_here")
    place = ir.Constant(WORD, ctypes.addressof(entries))
    ir.IRBuilder(function.append_basic_block()).ret(place.inttoptr(VOID))
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(str(module)), machine)
    engine.finalize_object()
    binding.add_symbol(SYMBOL, engine.get_function_address(function.name))
    return engine


_kept = publish()


def returned(function: Any) -> types.Type:
    """What a door returns, by its annotation: known before it is compiled."""
    said = function.__annotations__["return"]
    if said is None:
        return types.none
    return types.Tuple([_number(part) for part in get_args(said)]) if get_origin(said) is tuple else _number(said)


def _number(said: Any) -> types.Type:
    return {float: types.float64, bool: types.boolean}.get(said, types.int64)


def settled(given: types.Type) -> types.Type:
    """The type of an argument: no literals, and one kind of integer."""
    plain = types.unliteral(given)
    return types.int64 if isinstance(plain, types.Integer) else plain


def make_door(place: int, function: Any) -> Any:
    """What stands for a kernel in compiled code: a call through a place of the table."""

    def door(*args: Any) -> Any:
        raise NotImplementedError("only compiled code goes through doors")

    class Door(AbstractTemplate):
        key = door

        def generic(self, args: Any, kws: Any) -> Any:
            return signature(returned(function), *(settled(arg) for arg in args))

    infer_global(door, types.Function(Door))

    @lower_builtin(door, types.VarArg(types.Any))
    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        where = cgutils.get_or_insert_function(builder.module, ir.FunctionType(VOID, []), SYMBOL)
        words = builder.bitcast(builder.call(where, []), WORD.as_pointer())
        address, code = (
            builder.load(builder.gep(words, [ir.Constant(WORD, 2 * place + offset)])) for offset in range(2)
        )
        convention = context.call_conv
        wrong = builder.icmp_signed("!=", code, ir.Constant(WORD, code_of(sig)))
        with cgutils.if_unlikely(builder, wrong):
            message = f"{function.__name__} has no machine code for such arguments"
            convention.return_user_exc(builder, RuntimeError, (message,))
        kind = convention.get_function_type(sig.return_type, sig.args)
        pointer = builder.inttoptr(address, kind.as_pointer())
        status, value = convention.call_function(builder, pointer, sig.return_type, sig.args, args)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    return door
