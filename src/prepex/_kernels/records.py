"""How numba sees the named tuples of the kernels: one pointer each.

Its own named tuples travel by value: every call with a `Course` would pass some seven hundred numbers, and most of the
time of the compiler would go into that.
"""

import hashlib
import sys
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from prepex._kernels import jit, own

VOID = ir.IntType(8).as_pointer()
# Fields of an array as numba lays it out, each a word, shape and strides one for each axis.
NITEMS, ITEMSIZE, DATA, SHAPE, STRIDES = 2, 3, 4, 5, 6


class Record(types.Type):
    """A named tuple: a pointer to its entries."""

    def __init__(self, kind: type, entries: tuple[types.Type, ...]) -> None:
        self.kind = kind
        self.entries = dict(zip(kind._fields, entries))  # type: ignore[attr-defined]
        text = hashlib.sha256(", ".join(str(entry) for entry in entries).encode()).hexdigest()[:12]
        super().__init__(name=f"{kind.__name__}_{text}")


@register_model(Record)
class RecordModel(models.OpaqueModel):
    """One pointer."""


@cache
def places(context: Any, record: Record) -> tuple[int, ...]:
    """Where its entries are, in words of 8 bytes from the pointer; at last, where they end."""
    found = [0]
    for entry in record.entries.values():
        found.append(found[-1] + -(-context.get_abi_sizeof(context.get_value_type(entry)) // 8))
    return tuple(found)


def room(context: Any, record: Record) -> int:
    """Words of its entries and, behind them, of the records among them."""
    inner = sum(room(context, entry) for entry in record.entries.values() if isinstance(entry, Record))
    return places(context, record)[-1] + inner


def at_word(builder: Any, pointer: Any, word: int, kind: ir.Type) -> Any:
    """A pointer to something of this kind, some words further."""
    place = builder.gep(pointer, [ir.Constant(ir.IntType(64), 8 * word)], inbounds=True) if word else pointer
    return builder.bitcast(place, kind.as_pointer())


@infer_getattr
class RecordAttribute(AttributeTemplate):
    """The type of an entry."""

    key = Record

    def generic_resolve(self, record: Record, name: str) -> types.Type | None:  # type: ignore[override]
        """None if there is no such entry."""
        return record.entries.get(name)


@lower_getattr_generic(Record)
def get_entry(context: Any, builder: Any, record: Record, value: Any, name: str) -> Any:
    """Load an entry. The tuple itself never changes, whatever its arrays do: the load may be moved anywhere."""
    entry = record.entries[name]
    word = places(context, record)[list(record.entries).index(name)]
    if not isinstance(entry, types.Array):
        return load(builder, value, word, context.get_value_type(entry))
    # As numba lays an array out. Nobody owns what kernels see, and the distance between two numbers is known.
    data, one = context.get_value_type(entry), ir.IntType(64)
    size = ir.Constant(one, context.get_abi_sizeof(context.get_data_type(entry.dtype)))
    array: Any = ir.Constant(data, None)
    array = builder.insert_value(array, size, ITEMSIZE)
    array = builder.insert_value(array, size, (STRIDES, entry.ndim - 1))
    array = builder.insert_value(array, load(builder, value, word + NITEMS, one), NITEMS)
    array = builder.insert_value(array, load(builder, value, word + DATA, data.elements[DATA]), DATA)
    for axis in range(entry.ndim):
        shape = load(builder, value, word + SHAPE + axis, one)
        array = builder.insert_value(array, shape, (SHAPE, axis))
    for axis in range(entry.ndim - 1):
        stride = load(builder, value, word + SHAPE + entry.ndim + axis, one)
        array = builder.insert_value(array, stride, (STRIDES, axis))
    return array


def load(builder: Any, pointer: Any, word: int, kind: ir.Type) -> Any:
    """One number of something that never changes."""
    value = builder.load(at_word(builder, pointer, word, kind))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@unbox(Record)
def unbox_record(record: Record, obj: Any, c: Any) -> NativeValue:
    """From Python: the entries go to the stack of the caller."""
    words = ir.ArrayType(ir.IntType(64), room(c.context, record))
    place = c.builder.bitcast(cgutils.alloca_once(c.builder, words), VOID)
    failed = c.builder.call(filler(c.context, c.builder.module, record), [obj, place])
    return NativeValue(place, is_error=failed)


def filler(context: Any, module: Any, entry: types.Type) -> Any:
    """A function (object, where to) -> has it failed? Once for each type.

    A course has some two hundred arrays: the same lines for each of them would take the compiler seconds.
    """
    name = f"prepex_fill_{hashlib.sha256(str(entry).encode()).hexdigest()[:16]}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(cgutils.bool_t, [VOID, VOID]), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    pyapi, (obj, place) = context.get_python_api(builder), function.args
    if isinstance(entry, Record):
        builder.ret(_fill_record(context, builder, pyapi, entry, obj, place))
    else:
        native = pyapi.to_native_value(entry, obj)
        builder.store(native.value, at_word(builder, place, 0, native.value.type))
        builder.ret(native.is_error)
    return function


def _fill_record(context: Any, builder: Any, pyapi: Any, record: Record, obj: Any, place: Any) -> Any:
    failed, own = cgutils.false_bit, places(context, record)
    free = own[-1]
    for index, (entry, word) in enumerate(zip(record.entries.values(), own)):
        target = at_word(builder, place, word, VOID.pointee)
        if isinstance(entry, Record):
            target = at_word(builder, place, free, VOID.pointee)
            free += room(context, entry)
            builder.store(target, at_word(builder, place, word, VOID))
        part = builder.call(filler(context, builder.module, entry), [pyapi.tuple_getitem(obj, index), target])
        failed = builder.or_(failed, part)
    return failed


def typeof_record(value: Any, context: Any) -> Record:
    """The type of a named tuple."""
    return Record(type(value), tuple(typeof_impl(entry, context) for entry in value))


def named_tuples() -> set[type]:
    """Those of all kernels; `own` imports all of them."""
    assert own.__name__.startswith(jit.HOME)
    modules = [module for name, module in sys.modules.items() if name.startswith(jit.HOME)]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return {value for value in values if issubclass(value, tuple) and hasattr(value, "_fields")}


for named_tuple in named_tuples():
    typeof_impl.register(named_tuple)(typeof_record)
