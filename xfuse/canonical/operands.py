"""What ops read: their operands and those of their bodies, and which of them only give a shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation, LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, FillOp, ReduceOp, TransposeOp
from xdsl.ir import Block, Operation, SSAValue

Use = tuple[Operation, int]
"""An op and the position of one of its operands."""

_GIVEN_A_SHAPE = (BroadcastOp, TransposeOp, FillOp, ElementwiseOperation, LinalgStructuredOperation)
_READ_A_SHAPE = frozenset({"tensor.empty", "tensor.dim", "tensor.splat", "tensor.expand_shape", "tensor.reshape"})


def operand_uses(op: Operation) -> Sequence[tuple[Operation, int, bool]]:
    """Every operand that an op or its body reads: the op that names it, its position, and whether only for shape."""
    count = len(op.operands)
    if op.name in _READ_A_SHAPE or _is_given_a_shape(type(op)):
        inputs = _inputs(op) if isinstance(op, _GIVEN_A_SHAPE) else 0
        found = [(op, index, _shape_only(op, index, inputs)) for index in range(count)]
    else:
        found = [(op, index, False) for index in range(count)]
    for region in op.regions:
        for inner in region.walk():
            found.extend((inner, index, False) for index in range(len(inner.operands)))
    return found


@cache
def _is_given_a_shape(kind: type[Operation]) -> bool:
    return issubclass(kind, _GIVEN_A_SHAPE)


def _shape_only(op: Operation, index: int, inputs: int) -> bool:
    if op.name == "tensor.empty":
        return True
    if op.name == "tensor.dim":
        return index == 0
    if op.name in ("tensor.splat", "tensor.expand_shape", "tensor.reshape"):
        return index > 0
    if isinstance(op, BroadcastOp | TransposeOp | FillOp | ElementwiseOperation):
        return index >= inputs
    if index >= inputs and isinstance(op, LinalgStructuredOperation):
        return not op.regions[0].block.args[index].uses
    return False


def _inputs(op: Operation) -> int:
    if isinstance(op, BroadcastOp | ReduceOp):
        return 1
    assert isinstance(op, LinalgStructuredOperation)
    return len(op.inputs)


def is_inside(operand: SSAValue, op: Operation) -> bool:
    """Whether a value is made in a region of an op, as deep as may be."""
    if not op.regions:
        return False
    owner = operand.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None:
        parent = block.parent_op()
        if parent is op:
            return True
        block = None if parent is None else parent.parent
    return False


def top_of(op: Operation, block: Block) -> Operation | None:
    """The op of a block that is or holds an op, or None."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current
