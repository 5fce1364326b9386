"""Types, literals and scalar ops as IR, from the names and bits that the canonical form has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xfuse.canonical.build import element_name
from xfuse.canonical.graph import Attributes
from xfuse.construction import make_op
from xfuse.errors import DecomposeError
from xfuse.primitives import literals
from xfuse.primitives.table import PRIMITIVES

_FLOAT_TYPES: dict[str, AnyFloat] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}
_OPS = {
    op.name: op for dialect in (arith.Arith, math.Math) for op in dialect.operations if issubclass(op, IRDLOperation)
}


def type_named(element_type: str) -> Attribute:
    """The xDSL type of an element type name."""
    if element_type in _FLOAT_TYPES:
        return _FLOAT_TYPES[element_type]
    return IndexType() if element_type == "index" else IntegerType(int(element_type[1:]))


def literal(element_type: str, bits: int) -> arith.ConstantOp:
    """The ``arith.constant`` of these bits."""
    value = literals.from_bits(bits, element_type)
    if element_type in _FLOAT_TYPES:
        return arith.ConstantOp(FloatAttr(float(value), _FLOAT_TYPES[element_type]))
    type_: Any = type_named(element_type)
    return arith.ConstantOp(IntegerAttr(int(value), type_))


def table(element_type: str, shape: Sequence[int], data: bytes) -> arith.ConstantOp:
    """The ``arith.constant`` of a tensor whose elements are these bytes, row-major and little-endian."""
    type_: Any = TensorType(type_named(element_type), shape)
    return arith.ConstantOp(DenseIntOrFPElementsAttr(type_, BytesAttr(data)))


def scalar_op(kind: str, element_type: str, attributes: Attributes, operands: Sequence[SSAValue]) -> SSAValue:
    """A new scalar op's result: the one that the attribute ``result`` names, if it has several.

    Fast-math and overflow flags are those of the attributes. The op is the owner of the value.
    """
    properties = dict(_default_properties(kind))
    which = 0
    for name, value in attributes:
        if name == "result":
            assert isinstance(value, int)
            which = value
        else:
            properties[name] = _property(kind, name, str(value))
    given = [element_name(operand.type) for operand in operands]
    types = [type_named(each) for each in PRIMITIVES[kind].types.results_of(given, element_type)]
    return make_op(_OPS[kind], operands, types, properties).results[which]


@cache
def _default_properties(kind: str) -> Mapping[str, Attribute]:
    definitions = _OPS[kind].get_irdl_definition().properties
    return {name: each.default_value for name, each in definitions.items() if each.default_value is not None}


def _property(kind: str, name: str, text: str) -> Attribute:
    if name == "predicate":
        names = arith.CMPF_COMPARISON_OPERATIONS if kind == "arith.cmpf" else arith.CMPI_COMPARISON_OPERATIONS
        return IntegerAttr(list(names).index(text), i64)
    if name == "fastmath":
        return FastMathFlagsAttr([FastMathFlag(flag) for flag in text.split(",")])
    if name == "overflowFlags":
        return IntegerOverflowAttr([IntegerOverflowFlag(flag) for flag in text.split(",")])
    raise DecomposeError(f"'{kind}' with the property {name} = {text} cannot be emitted")


def owner(value: SSAValue) -> Operation:
    """The op that a value is a result of."""
    assert isinstance(value.owner, Operation)
    return value.owner
