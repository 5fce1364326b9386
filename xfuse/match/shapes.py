"""Materialisable ops, which a match copies, and operands that only give a shape (rule R4)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xfuse.canonical.operands import is_inside, operand_uses
from xfuse.match.walk import Walk, is_literal
from xfuse.materialise import is_materialisable


def absorb_shapes(walk: Walk) -> None:
    """Clone what is materialisable into the region; the rest that only gives a shape becomes a shape operand."""
    for operand, uses in list(walk.shape_uses.items()):
        owner = operand.owner
        if isinstance(owner, Operation) and owner in walk.covered:
            del walk.shape_uses[operand]
            continue
        if operand in walk.uses:
            walk.uses[operand].extend(uses)
            del walk.shape_uses[operand]
            continue
        if clone_tree(walk, operand):
            del walk.shape_uses[operand]
    for operand in list(walk.uses):
        value = walk.program.value(operand)
        literal = value is not None and value.node not in walk.arguments and is_literal(walk, value)
        if literal and clone_tree(walk, operand):
            del walk.uses[operand]


def clone_tree(walk: Walk, operand: SSAValue) -> bool:
    """Clone the materialisable ops that an operand is made of; False, and nothing done, if one of them is not."""
    found: list[Operation] = []
    stack = [(operand, False)]
    while stack:
        ssa, shape_only = stack.pop()
        if ssa in walk.uses and ssa is not operand:
            continue
        owner = ssa.owner
        if isinstance(owner, Operation) and (owner in walk.covered or owner in found):
            continue
        if not isinstance(owner, Operation) or not is_materialisable(owner):
            if shape_only:
                continue  # it becomes a shape operand
            return False
        found.append(owner)
        read = [(user.operands[index], shape) for user, index, shape in operand_uses(owner)]
        stack.extend((each, shape) for each, shape in read if not is_inside(each, owner))
    walk.cloned.update(found)
    return True


def shape_operands(walk: Walk, inputs: Sequence[SSAValue], cloned: Sequence[Operation]) -> list[SSAValue]:
    """The operands that the region's ops take for their shape alone; ``cloned`` are the copied ops in order."""
    shapes = [operand for operand in walk.shape_uses if operand not in inputs]
    inside = walk.covered.union(cloned)
    for op in cloned:
        for user, index, _ in operand_uses(op):
            operand = user.operands[index]
            owner = operand.owner
            if is_inside(operand, op) or (isinstance(owner, Operation) and owner in inside):
                continue
            if operand not in inputs and operand not in shapes:
                shapes.append(operand)
    return shapes
