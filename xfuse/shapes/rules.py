"""Shape rules of constants, nested fused ops and control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from xfuse.canonical.build import element_name
from xfuse.primitives.element_types import INTEGERS
from xfuse.shapes.arithmetic import DATA, Number, literal
from xfuse.shapes.reader import RULES, Abstract, Reader, Tensor, merge, unknown_value
from xfuse_dialects.xfuse import FusedOp, YieldOp

MAX_ELEMENTS = 64
"""The elements of larger constants are not kept: they are no shapes."""


def _integer(value: int, type_: Attribute) -> Number:
    return literal(value & 1 if element_name(type_) == "i1" else value)


def _constant(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, arith.ConstantOp)
    value, type_ = op.value, op.result.type
    known = unknown_value(type_)
    if isinstance(known, Number):
        return [_integer(value.value.data, type_) if isinstance(value, IntegerAttr) else DATA]
    elements: tuple[Number, ...] | None = None
    if isinstance(value, DenseIntOrFPElementsAttr) and element_name(type_) in INTEGERS and len(value) <= MAX_ELEMENTS:
        elements = tuple(_integer(int(each), type_) for each in cast(Any, value).iter_values())
    return [Tensor(known.shape, elements)]


def _fused(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, FusedOp)
    for inner, outer in zip(op.body.block.args, (*op.inputs, *op.shapes), strict=True):
        reader.values[inner] = reader.values[outer]
    return reader.block(op.body.block)


def _yield(reader: Reader, op: Operation) -> Sequence[Abstract]:
    if not isinstance(op.parent_op(), FusedOp):
        reader.as_data(op, op.operands)
    return []


def _terminator(reader: Reader, op: Operation) -> Sequence[Abstract]:
    return []


# Control flow


def _if(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, scf.IfOp)
    condition = reader.number(op.cond)
    reader.as_data(op, [op.cond])
    if condition.known is not None:
        region = op.true_region if condition.known & 1 else op.false_region
        return reader.block(region.block) if region.blocks else []
    then, otherwise = (
        reader.block(region.block) if region.blocks else [] for region in (op.true_region, op.false_region)
    )
    return [merge(a, b) for a, b in zip(then, otherwise, strict=True)]


def _for(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, scf.ForOp)
    reader.as_data(op, [op.lb, op.ub, op.step])
    initial = [reader.values[each] for each in op.iter_args]
    first, last = reader.number(op.lb).known, reader.number(op.ub).known
    if first is not None and last is not None and first >= last:
        return initial
    block = op.body.block
    reader.values[block.args[0]] = DATA

    def turn(carried: Sequence[Abstract]) -> Sequence[Abstract]:
        for argument, value in zip(block.args[1:], carried, strict=True):
            reader.values[argument] = value
        return reader.block(block)

    state = _settled(reader, initial, turn)
    return [merge(*pair) for pair in zip(initial, state, strict=True)]


def _while(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    passed: list[Abstract] = []

    def turn(carried: Sequence[Abstract]) -> Sequence[Abstract]:
        for argument, value in zip(before.args, carried, strict=True):
            reader.values[argument] = value
        passed[:] = reader.block(before)[1:]
        for argument, value in zip(after.args, passed, strict=True):
            reader.values[argument] = value
        return reader.block(after)

    _settled(reader, [reader.values[each] for each in op.arguments], turn)
    return list(passed)


def _settled(
    reader: Reader, initial: Sequence[Abstract], turn: Callable[[Sequence[Abstract]], Sequence[Abstract]]
) -> Sequence[Abstract]:
    """What a loop carries in every turn: integers are data, and extents that change are unknown."""
    state = [DATA if isinstance(value, Number) else Tensor(value.shape) for value in initial]
    while True:
        count = len(reader.uses)
        after = [merge(a, b) for a, b in zip(state, turn(state), strict=True)]
        after = [DATA if isinstance(value, Number) else value for value in after]
        if after == state:
            return state
        del reader.uses[count:]
        state = after


RULES.update(
    {
        "arith.constant": _constant,
        FusedOp.name: _fused,
        YieldOp.name: _yield,
        "scf.if": _if,
        "scf.for": _for,
        "scf.while": _while,
        **dict.fromkeys(("linalg.yield", "tensor.yield", "scf.yield", "scf.condition"), _terminator),
    }
)
