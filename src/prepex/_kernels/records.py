"""How numba sees the named tuples of the kernels: one pointer each.

Its own named tuples travel by value: every call with a `Course` would pass some seven hundred numbers, and most of the
time of the compiler would go into that.
"""

import hashlib
import sys
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


def layout(context: Any, record: Record) -> ir.LiteralStructType:
    """What the pointer points to."""
    return ir.LiteralStructType([context.get_value_type(entry) for entry in record.entries.values()])


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
    place = list(record.entries).index(name)
    pointer = builder.bitcast(value, layout(context, record).as_pointer())
    return load(builder, cgutils.gep_inbounds(builder, pointer, 0, place))


def load(builder: Any, pointer: Any) -> Any:
    """Part by part, as only the load of a single number can be marked as of something that never changes."""
    kind = pointer.type.pointee
    if isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        value: Any = ir.Constant(kind, ir.Undefined)
        for place in range(len(kind)):
            entry = load(builder, cgutils.gep_inbounds(builder, pointer, 0, place))
            value = builder.insert_value(value, entry, place)
        return value
    value = builder.load(pointer)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@unbox(Record)
def unbox_record(record: Record, obj: Any, c: Any) -> NativeValue:
    """From Python: the entries go to the stack of the caller."""
    place = cgutils.alloca_once(c.builder, layout(c.context, record))
    failed = cgutils.false_bit
    for index, entry in enumerate(record.entries.values()):
        native = c.unbox(entry, c.pyapi.tuple_getitem(obj, index))
        c.builder.store(native.value, cgutils.gep_inbounds(c.builder, place, 0, index))
        failed = c.builder.or_(failed, native.is_error)
    return NativeValue(c.builder.bitcast(place, VOID), is_error=failed)


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
