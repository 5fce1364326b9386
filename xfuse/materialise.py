"""Materialisable ops: constants, splats, empty tensors, extents and what is computed of those alone (R4).

A copy of one is as good as the original.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr, ShapedType
from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from xfuse.locations import spelled_location
from xfuse.primitives.table import PRIMITIVES

Key = tuple[object, ...]

_ALWAYS = frozenset({"arith.constant", "tensor.empty", "tensor.dim"})
VIEWS = frozenset(
    {
        "linalg.fill",
        "linalg.copy",
        "linalg.broadcast",
        "linalg.transpose",
        "tensor.splat",
        "tensor.cast",
        "tensor.expand_shape",
        "tensor.collapse_shape",
        "tensor.reshape",
        "tensor.extract_slice",
    }
)
"""Ops that lay out elements of their first operand, and compute nothing."""
_EXACT = frozenset(name for name, primitive in PRIMITIVES.items() if not primitive.ulp)
_MOST_OPS = 16
"""Constants and extents are computed with a few ops; looking further would make a long chain slow."""
_MOST_WIDE_OPS = 4


def is_materialisable(op: Operation, others: Collection[Operation] = ()) -> bool:
    """Whether an op may be copied at will: it makes a constant, an empty tensor or an extent.

    Or it computes such exactly, as the divisor of a mean is, of a single element or of tensors of equal elements.
    ``others`` are ops known not to be such, and what is made of them is none.
    """
    if op.name in _ALWAYS:
        return True
    first = _data(op)
    if first is None:
        return False
    for ssa in first:  # decides for most ops; `isinstance` of an abstract class takes long
        if type(ssa) is BlockArgument or ssa.owner in others:
            return False
    stack = [op]
    seen: set[Operation] = set()
    sources: list[Operation] = []
    wide = False
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        if current.name in _ALWAYS:
            sources.append(current)
            continue
        seen.add(current)
        data = first if current is op else _data(current)
        if data is None:
            return False
        wide = wide or (_computes(current) and not _is_single(current))
        if len(seen) > (_MOST_WIDE_OPS if wide else _MOST_OPS):
            return False
        if current.name == "tensor.from_elements":
            sources.append(current)
        for ssa in data:
            owner = ssa.owner
            if not isinstance(owner, Operation) or (owner.name == "tensor.empty" and current.name not in VIEWS):
                return False
            stack.append(owner)
    return not wide or not any(map(_makes_table, sources))


def _data(op: Operation) -> Sequence[SSAValue] | None:
    """The values that an op's result is made of, leaving out those that only give a shape; None for other ops."""
    if op.name in VIEWS:
        return op.operands[:1]
    if op.name == "tensor.from_elements" or op.name in _EXACT:
        return op.operands
    if op.name == "tensor.extract":
        return op.operands if _is_single(op) else None
    return _body_data(op) if isinstance(op, GenericOp | ElementwiseOperation) else None


def _computes(op: Operation) -> bool:
    """Whether an op, or its body, does more than to lay out elements that are there."""
    bodies = (inner for region in op.regions for inner in region.block.ops)
    return op.name == "tensor.extract_slice" or any(each.name in _EXACT for each in (op, *bodies))


def _is_single(op: Operation) -> bool:
    """Whether all results are scalars or tensors without axes."""
    for result in op.results:
        type_: Attribute = result.type
        if _is_shaped(type(type_)) and cast(ShapedType, type_).get_shape():
            return False
    return True


@cache
def _is_shaped(kind: type[Attribute]) -> bool:
    return issubclass(kind, ShapedType)


def _makes_table(op: Operation) -> bool:
    return is_table(op.properties["value"]) if op.name == "arith.constant" else len(op.operands) > 1


def is_table(value: Attribute) -> bool:
    """Whether a constant has elements of different bits."""
    if isinstance(value, DenseResourceAttr):
        return True
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return False
    dense = cast(Any, value)
    data, count = dense.data.data, len(dense)
    size = len(data) // count if count else 0
    return data[:size] != data[size : 2 * size] if count > 1 and len(data) == 2 * size else data != data[:size] * count


def _body_data(op: Operation) -> Sequence[SSAValue] | None:
    """What the body of an op without reductions gives, if it is computed of ops' results alone."""
    if isinstance(op, GenericOp) and any(each.data is IteratorType.REDUCTION for each in op.iterator_types):
        return None
    block = op.regions[0].block
    found: list[SSAValue] = []
    for inner in block.ops:
        if inner.name not in _EXACT and inner.name not in ("arith.constant", "tensor.extract", "linalg.yield"):
            return None
        for ssa in inner.operands:
            outer = op.operands[ssa.index] if isinstance(ssa, BlockArgument) and ssa.owner is block else ssa
            if isinstance(outer, BlockArgument):
                return None
            if outer is not ssa or (isinstance(ssa.owner, Operation) and ssa.owner.parent is not block):
                found.append(outer)
    return found


class Known:
    """The materialisable ops that stand in a block, the first of its kind each, for reuse by those that come later."""

    def __init__(self) -> None:
        self._ops: dict[Key, Operation] = {}
        self._same: dict[SSAValue, SSAValue] = {}
        self._others: set[Operation] = set()

    def is_materialisable(self, op: Operation) -> bool:
        """Whether an op is materialisable; to be asked of a block's ops in order."""
        found = is_materialisable(op, self._others)
        if not found:
            self._others.add(op)
        return found

    def equal(self, op: Operation) -> Operation | None:
        """A materialisable op that is known and equal to this one, made of equal ones."""
        return self._ops.get(self.key(op))

    def remember(self, op: Operation) -> None:
        """Note an op, if it is materialisable."""
        if self.is_materialisable(op):
            first = self._ops.setdefault(self.key(op), op)
            if first is not op:
                self._same.update(zip(op.results, first.results, strict=True))

    def key(self, op: Operation) -> Key:
        """What two ops of at most one region have in common if they are equal, materialisable operands by content."""
        block = op.regions[0].block if op.regions and op.regions[0].blocks else None
        body = () if block is None else tuple(self._body_key(block, inner) for inner in block.ops)
        operands = tuple(id(self._same.get(operand, operand)) for operand in op.operands)
        return (op.name, _attributes(op), operands, tuple(op.result_types), body, spelled_location(op))

    def _body_key(self, block: Block, op: Operation) -> Key:
        operands: list[object] = []
        for ssa in op.operands:
            owner = ssa.owner
            if isinstance(ssa, BlockArgument) and owner is block:
                operands.append(("argument", ssa.index))
            elif isinstance(owner, Operation) and owner.parent is block:
                operands.append(self._body_key(block, owner))
            else:
                operands.append(id(self._same.get(ssa, ssa)))
        return (op.name, _attributes(op), tuple(operands), tuple(op.result_types), spelled_location(op))


def _attributes(op: Operation) -> tuple[tuple[str, Attribute], ...]:
    found = {**op.properties, **op.attributes} if op.attributes else op.properties
    return tuple(sorted(found.items(), key=itemgetter(0)) if len(found) > 1 else found.items())
