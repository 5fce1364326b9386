"""Element types: what operands of different ones become, and conversions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import SSAValue

from xfuse.emission import type_named
from xfuse.primitives.element_types import FLOATS, INTEGERS, is_float, width
from xfuse.tracing.array import Array
from xfuse.tracing.dtypes import element_type_of
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import nest
from xfuse.tracing.tracer import Tracer, scalar_attribute


def target_type(tracer: Tracer, dtype: object) -> str:
    """The element type to convert to; Python's float is the recipe's own."""
    if dtype is float:
        return tracer.float_type
    found = element_type_of(dtype)
    if found is None:
        fail(f"{dtype!r} is no element type; expected one of {', '.join((*FLOATS, *INTEGERS))}, or x.dtype of an array")
    return found


def is_integer(element_type: str) -> bool:
    """Whether an element type is an integer but no truth value."""
    return not is_float(element_type) and element_type != "i1"


Weak = bool | int | float | np.ndarray[Any, Any]
"""What takes the type of the arrays that it meets."""


def operand(value: Any) -> Array | Weak:
    """An operand as a traced array or something weak."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = cast(Any, value).item()
    if isinstance(value, Array | bool | int | float):
        return value
    array = cast(np.ndarray[Any, Any], value) if isinstance(value, np.ndarray) else None
    if array is None or array.dtype.kind not in "biuf":
        fail(f"a recipe cannot compute with {value!r} of type {type(cast(object, value)).__name__}")
    return array


def is_float_like(value: Weak) -> bool:
    """Whether something weak is no integer."""
    return value.dtype.kind == "f" if isinstance(value, np.ndarray) else isinstance(value, float)


def common_type(tracer: Tracer, operands: Sequence[Array | Weak], *, floating: bool = False) -> str:
    """The element type that operands have together. Literals are weak; integers become floats where they meet them.

    Fails for two float types, or for two integer types of which one follows the use: which is wider is not known.
    """
    strong = [each.dtype for each in operands if isinstance(each, Array)]
    weak = [each for each in operands if not isinstance(each, Array)]
    floats = [each for each in dict.fromkeys(strong) if is_float(each)]
    if len(floats) > 1:
        fail(f"operands of types {' and '.join(floats)} are mixed; convert one of them with xp.astype")
    if floats:
        return floats[0]
    if floating or any(map(is_float_like, weak)):
        return tracer.float_type
    integers = [each for each in dict.fromkeys(strong) if each != "index"]
    numbers = [each for each in integers if each != "i1"]
    if len(numbers) > 1 and tracer.is_generic and tracer.element_type in numbers:
        fail(
            f"operands of types {' and '.join(numbers)} are mixed, and {tracer.element_type} follows the use; "
            "convert one of them with xp.astype"
        )
    if numbers:
        return max(numbers, key=width)
    if not all(isinstance(each, bool) or (isinstance(each, np.ndarray) and each.dtype.kind == "b") for each in weak):
        if "index" in strong:
            return "index"
        return "i64" if integers else tracer.element_type
    return "i1" if integers or not strong else "index"


def promoted(*values: object, floating: bool = False) -> tuple[str, list[Array]]:
    """The common element type of operands, and the operands as arrays of it."""
    operands = [operand(value) for value in values]
    tracer = next(each.tracer for each in operands if isinstance(each, Array))
    element_type = common_type(tracer, operands, floating=floating)
    return element_type, [as_array(tracer, each, element_type) for each in operands]


def as_array(tracer: Tracer, value: Array | Weak, element_type: str) -> Array:
    """An operand as an array of an element type."""
    if isinstance(value, Array):
        return convert(value, element_type)
    if isinstance(value, np.ndarray):
        return _table(tracer, value, element_type)
    return Array(tracer, tracer.literal(value, element_type), element_type)


def _table(tracer: Tracer, value: np.ndarray[Any, Any], element_type: str) -> Array:
    if element_type == "index":
        return convert(_table(tracer, value, "i64"), "index")
    items = [scalar_attribute(each, element_type).value.data for each in value.ravel().tolist()]
    kind: Any = TensorType(type_named(element_type), value.shape)
    op = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(kind, items))
    tracer.block.add_op(op)
    return Array(tracer, op.result, element_type, value.shape, range(value.ndim))


def any_array(value: object, tracer: Tracer) -> Array:
    """An array, or a literal as one: a float one of the recipe's own type, an integer of its own or i64."""
    given = operand(value)
    if isinstance(given, Array):
        return given
    return as_array(tracer, given, common_type(tracer, [given]))


def convert(array: Array, element_type: str) -> Array:
    """An array at another element type.

    Integers are signed, a truth value is 0 or 1, and a number is true unless it is zero. To an integer, floats round
    toward zero, saturate at the ends of the range, and a NaN gives 0.
    """
    source = array.dtype
    if source == element_type:
        return array
    other = element_type if source == "index" else source
    if "index" in (source, element_type) and (is_float(other) or other == "i1"):
        return convert(convert(array, "i64"), element_type)
    if {source, element_type} == {"f16", "bf16"}:
        return convert(convert(array, "f32"), element_type)
    tracer = array.tracer
    if element_type == "i1":
        zero = tracer.literal(0, source)
        predicate = "une" if is_float(source) else "ne"
        return nest(
            tracer, [array], array.shape, "i1", lambda values, _: tracer.compare(predicate, values[0], zero, source)
        )
    name = _cast(source, element_type)

    def body(values: list[SSAValue], _: object) -> SSAValue:
        return tracer.op(name, values, element_type)

    return nest(tracer, [array], array.shape, element_type, body)


def _cast(source: str, target: str) -> str:
    if "index" in (source, target):
        return "arith.index_cast"
    wider = width(target) > width(source)
    if is_float(source):
        if not is_float(target):
            return "arith.fptosi"
        return "arith.extf" if wider else "arith.truncf"
    unsigned = source == "i1"
    if is_float(target):
        return "arith.uitofp" if unsigned else "arith.sitofp"
    if not wider:
        return "arith.trunci"
    return "arith.extui" if unsigned else "arith.extsi"
