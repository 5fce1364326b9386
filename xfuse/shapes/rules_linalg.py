"""Shape rules of linalg ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ShapedType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from xfuse.canonical.build_linalg import STRUCTURED_OPS
from xfuse.errors import ShapeMismatch
from xfuse.shapes.arithmetic import DATA, UNKNOWN, Number, add, literal, multiply
from xfuse.shapes.reader import RULES, Abstract, Reader, Tensor, spell

_ONE = literal(1)


def _structured(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, LinalgStructuredOperation)
    maps = [attribute.data for attribute in op.get_indexing_maps().data]
    reduced = [axis for axis, kind in enumerate(op.get_iterator_types().data) if str(kind.data) == "reduction"]
    operands = [*op.inputs, *op.outputs]
    extents = _loops(reader, op, operands, maps)
    for axis in reader.axes(reduced):
        reader.note(op, "axis", axis)
    _body(reader, op.regions[0].block, op.inputs, extents)
    outputs = maps[len(op.inputs) :]
    return [Tensor(tuple(_result_extent(r, extents) for r in map_.results)) for map_ in outputs]


def _loops(reader: Reader, op: Operation, operands: Sequence[SSAValue], maps: Sequence[AffineMap]) -> list[Number]:
    """The extent of every loop, on which all operands agree."""
    extents: list[Number] = [UNKNOWN] * maps[0].num_dims
    for operand, map_ in zip(operands, maps, strict=True):
        for expression, extent in zip(map_.results, reader.tensor(operand).shape, strict=True):
            if isinstance(expression, AffineDimExpr):
                loop = expression.position
                extents[loop] = reader.join(op, extents[loop], extent, f"loop {loop}")
    if any(extent.lower is None or extent.lower < 1 for extent in extents):
        return extents  # perhaps nothing is read at all
    for operand, map_ in zip(operands, maps, strict=True):
        for axis, (expression, extent) in enumerate(zip(map_.results, reader.tensor(operand).shape, strict=True)):
            last = _greatest(expression, extents)
            over = add(last, extent, -1)
            if (over.lower is not None and over.lower >= 0) or (last.upper is not None and last.upper < 0):
                raise ShapeMismatch(
                    f"{reader.place(op)}: reads element {spell(last)} of axis {axis} of an operand, whose extent is "
                    f"{spell(extent)}",
                    "target_shape",
                    reader.place(op),
                    (last.known, extent.known),
                )
    return extents


def _greatest(expression: AffineExpr, extents: Sequence[Number]) -> Number:
    """The greatest value of a sum or product of loop indices."""
    if isinstance(expression, AffineConstantExpr):
        return literal(expression.value)
    if isinstance(expression, AffineDimExpr):
        return add(extents[expression.position], _ONE, -1)
    if isinstance(expression, AffineBinaryOpExpr):
        left, right = (_greatest(side, extents) for side in (expression.lhs, expression.rhs))
        if expression.kind is AffineBinaryOpKind.Add:
            return add(left, right)
        if expression.kind is AffineBinaryOpKind.Mul and right.known is not None and right.known >= 0:
            return multiply(left, right)
    return UNKNOWN


def _result_extent(expression: AffineExpr, extents: Sequence[Number]) -> Number:
    return extents[expression.position] if isinstance(expression, AffineDimExpr) else UNKNOWN


def _body(reader: Reader, block: Block, inputs: Sequence[SSAValue], extents: Sequence[Number]) -> None:
    """Read a body, where elements are data and scalar operands are what they are outside, unless it never runs."""
    if any(extent.known == 0 for extent in extents):
        return
    for argument in block.args:
        reader.values[argument] = DATA
    for argument, operand in zip(block.args, inputs, strict=False):
        if not isinstance(operand.type, ShapedType):
            reader.values[argument] = reader.values[operand]
    reader.block(block)


def _index(reader: Reader, op: Operation) -> Sequence[Abstract]:
    return [DATA]


def _fill(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, linalg.FillOp)
    reader.as_data(op, op.inputs)
    return [Tensor(reader.tensor(op.outputs[0]).shape)]


def _broadcast(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, linalg.BroadcastOp)
    added = op.dimensions.get_values()
    target = list(reader.tensor(op.init).shape)
    kept = [axis for axis in range(len(target)) if axis not in added]
    for axis, extent in zip(kept, reader.tensor(op.input).shape, strict=True):
        target[axis] = reader.join(op, target[axis], extent, f"axis {axis}")
    reader.note(op, "dims", reader.axes(added))
    return [Tensor(tuple(target))]


def _transpose(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, linalg.TransposeOp)
    source, order = reader.tensor(op.inputs[0]).shape, op.permutation.get_values()
    moved = tuple(source[axis] for axis in order)
    reader.note(op, "dims", (*range(len(reader.loop)), *reader.axes(order)))
    return [Tensor(reader.joined(op, [moved, reader.tensor(op.outputs[0]).shape]))]


def _reduce(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, linalg.ReduceOp)
    source, reduced = reader.tensor(op.input).shape, op.dimensions.get_values()
    kept = tuple(extent for axis, extent in enumerate(source) if axis not in reduced)
    for axis in reader.axes(reduced):
        reader.note(op, "axis", axis)
    _body(reader, op.region.block, (), source)
    return [Tensor(reader.joined(op, [kept, reader.tensor(op.init).shape]))]


RULES.update(
    {
        **dict.fromkeys((f"linalg.{name}" for name in STRUCTURED_OPS), _structured),
        "linalg.index": _index,
        "linalg.fill": _fill,
        "linalg.broadcast": _broadcast,
        "linalg.transpose": _transpose,
        "linalg.reduce": _reduce,
    }
)
