"""The one place that makes ``linalg.generic`` ops, and the tensors that they write into.

Instantiating a recipe, bringing a program into one spelling and tracing a Python function all end here. Named
element-wise linalg ops are not made: current MLIR has dropped most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, IndexType, IntegerAttr, TensorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

PARALLEL = IteratorTypeAttr.parallel()
REDUCTION = IteratorTypeAttr.reduction()


class Generic:
    """A ``linalg.generic`` in the making: its block, whose arguments stand for what it reads and writes."""

    def __init__(self, iterators: Sequence[IteratorTypeAttr]) -> None:
        self.block = Block()
        self._iterators = tuple(iterators)
        self._inputs: list[SSAValue] = []
        self._maps: list[AffineMap] = []

    def read(self, value: SSAValue, map_: AffineMap, *, first: bool = False) -> SSAValue:
        """The element of a tensor that the body sees; a scalar is captured as it is.

        ``first`` puts the operand in front of the others: its extents are then those of the loops.
        """
        if not isinstance(value.type, TensorType):
            return value
        position = 0 if first else len(self._inputs)
        self._inputs.insert(position, value)
        self._maps.insert(position, map_)
        return self.block.insert_arg(type_of(value).get_element_type(), position)

    def output(self, element_type: Attribute) -> SSAValue:
        """The body's argument for the next output, the operand of which is given at the end."""
        return self.block.insert_arg(element_type, len(self.block.args))

    def add(self, op: Operation) -> None:
        """Append an op to the body."""
        self.block.add_op(op)

    def finish(self, outputs: Sequence[SSAValue], maps: Sequence[AffineMap], yielded: Sequence[SSAValue]) -> GenericOp:
        """The op that writes what the body yields into its outputs."""
        self.block.add_op(LinalgYieldOp(*yielded))
        return GenericOp(
            self._inputs,
            outputs,
            Region(self.block),
            ArrayAttr([AffineMapAttr(map_) for map_ in (*self._maps, *maps)]),
            ArrayAttr(self._iterators),
            [output.type for output in outputs],
        )


def type_of(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value that is a tensor."""
    return cast(TensorType[Attribute], value.type)


def projection(loops: int, axes: Sequence[int]) -> AffineMap:
    """The map from loops to a tensor's axes, each along one loop, or, where negative, of extent one."""
    return AffineMap(
        loops, 0, tuple(AffineExpr.constant(0) if axis < 0 else AffineExpr.dimension(axis) for axis in axes)
    )


def dim(value: SSAValue, axis: int, ops: list[Operation]) -> SSAValue:
    """The extent of a tensor's axis."""
    position = arith.ConstantOp(IntegerAttr(axis, IndexType()))
    read = tensor.DimOp(value, position.result)
    ops += [position, read]
    return read.result


def empty(element_type: Attribute, sizes: Sequence[int | SSAValue], ops: list[Operation]) -> SSAValue:
    """A tensor to be written into, of static and computed extents."""
    shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    made = tensor.EmptyOp([size for size in sizes if not isinstance(size, int)], TensorType(element_type, shape))
    ops.append(made)
    return made.tensor
