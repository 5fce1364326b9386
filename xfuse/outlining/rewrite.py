"""Putting a fused op in place of a cluster: the ops themselves move into its region."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Block, Operation, Region, SSAValue, Use

from xfuse.canonical.operands import top_of
from xfuse.construction import copy_name, make_block, make_op, redirect, replace_operands
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
    outside = [_uses_outside(value, boundary) for value in outputs]
    block = make_block((*inputs, *shapes))
    mapping: dict[SSAValue, SSAValue] = {}
    for argument, outer in zip(block.args, (*inputs, *shapes), strict=True):
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
            for inner in op.walk() if op.regions else (op,):
                replace_operands(inner, mapping)
        else:
            op = op.clone(mapping)
        block.add_op(op)
    block.add_op(make_op(YieldOp, outputs, (), {}))
    for old, new, uses in zip(outputs, fused.outputs, outside, strict=True):
        copy_name(old, new)
        replaced[old] = new
        for use in uses:
            redirect(use, new)
    return fused


def _uses_outside(value: SSAValue, boundary: Boundary) -> list[Use]:
    taken, block = set(boundary.ops), boundary.ops[0].parent
    assert block is not None
    return [use for use in value.uses if top_of(use.operation, block) not in taken]


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
