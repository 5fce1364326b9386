"""Putting a fused op in place of a cluster: the ops themselves move into its region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from xfuse.canonical.operands import top_of
from xfuse.editing import Editor
from xfuse.outlining.boundary import Boundary
from xfuse.outlining.generalise import General
from xfuse_dialects.xfuse import FusedOp, YieldOp


def rewrite(boundary: Boundary, general: General, replaced: dict[SSAValue, SSAValue]) -> FusedOp:
    """Replace a cluster's ops by a fused op, where the first of them stood.

    ``replaced`` holds what became of the results of clusters that were rewritten before, and gets those of this one.
    """
    inputs = [replaced.get(each, each) for each in (boundary.inputs[number] for number in general.inputs)]
    shapes = [replaced.get(each, each) for each in boundary.shapes]
    outputs = [boundary.outputs[number] for number in general.outputs]
    readers = [_readers_outside(value, boundary) for value in outputs]
    block = Block(arg_types=[value.type for value in (*inputs, *shapes)])
    mapping: dict[SSAValue, SSAValue] = {}
    for argument, outer in zip(block.args, (*inputs, *shapes), strict=True):
        argument.name_hint = outer.name_hint
        mapping.setdefault(outer, argument)
    fused = FusedOp(general.recipe.name, inputs, shapes, [value.type for value in outputs], Region(block))
    if boundary.same_extents:
        fused.properties["same_extents"] = DenseArrayBase.from_list(i64, _renumbered(boundary, general))
    if len(boundary.ops) == 1 or len(outputs) == 1:
        fused.location = outputs[0].owner.location if isinstance(outputs[0].owner, Operation) else fused.location
    Editor().insert_before(fused, boundary.ops[0])
    taken = set(boundary.ops)
    for op in boundary.body:
        if op in taken:
            op.detach()
            _read(op, mapping)
        else:
            op = op.clone(mapping)
        block.add_op(op)
    block.add_op(YieldOp(outputs))
    for old, new, uses in zip(outputs, fused.outputs, readers, strict=True):
        new.name_hint = old.name_hint
        replaced[old] = new
        for user, index in uses:
            user.operands[index] = new
    return fused


def _readers_outside(value: SSAValue, boundary: Boundary) -> list[tuple[Operation, int]]:
    taken, block = set(boundary.ops), boundary.ops[0].parent
    assert block is not None
    found = [(use.operation, use.index) for use in value.uses]
    return [(op, index) for op, index in found if (op if op.parent is block else top_of(op, block)) not in taken]


def _read(op: Operation, mapping: Mapping[SSAValue, SSAValue]) -> None:
    """Let an op and its body read what stands for their operands in the region."""
    for inner in op.walk() if op.regions else (op,):
        for index, operand in enumerate(inner.operands):
            new = mapping.get(operand)
            if new is not None:
                inner.operands[index] = new


def _renumbered(boundary: Boundary, general: General) -> list[int]:
    """What is known of extents, by the recipe's order of inputs."""
    place = {number: position for position, number in enumerate(general.inputs)}
    numbers = list(boundary.same_extents)
    numbers[2::4] = [place[number] for number in numbers[2::4]]
    return numbers


def put_in_order(block: Block, order: Sequence[Operation]) -> None:
    """Let the ops of a block stand in this order; those not given stay in front of what follows them."""
    cursor = block.first_op
    for op in order:
        if cursor is op:
            cursor = op.next_op
            continue
        op.detach()
        if cursor is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, cursor)
