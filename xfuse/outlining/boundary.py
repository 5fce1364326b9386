"""What crosses the border of a cluster: its operands, its results, and the constants that it copies (rule R4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from xfuse.canonical.build import static_shape
from xfuse.canonical.operands import is_inside, operand_uses, top_of
from xfuse.match.region import definitions_first
from xfuse.outlining.constants import is_copied
from xfuse.spaces import Space


@dataclass
class Boundary:
    """Ops of a block that are to become one fused op.

    ``ops`` are taken, in program order; ``body`` holds these and the materialisable ops that are copied, in an order
    in which definitions precede uses. ``inputs`` are read, in order of first use, ``shapes`` only give a shape.
    ``outputs`` are read by others. ``same_extents`` is as the fused op has it.
    """

    ops: list[Operation]
    body: list[Operation]
    inputs: list[SSAValue]
    shapes: list[SSAValue]
    outputs: list[SSAValue]
    same_extents: tuple[int, ...] = ()


def boundary_of(ops: Sequence[Operation], block: Block, position: dict[Operation, int]) -> Boundary:
    """The boundary of some ops given in program order."""
    taken = set(ops)
    inputs: dict[SSAValue, None] = {}
    shapes: dict[SSAValue, None] = {}
    copied: dict[Operation, None] = {}
    pending = list(reversed(ops))
    while pending:
        op = pending.pop()
        for user, index, shape_only in operand_uses(op):
            operand = user.operands[index]
            owner = operand.owner
            if is_inside(operand, op) or (isinstance(owner, Operation) and (owner in taken or owner in copied)):
                continue
            if isinstance(owner, Operation) and is_copied(owner):
                copied[owner] = None
                pending.append(owner)
            elif shape_only:
                shapes[operand] = None
            else:
                inputs[operand] = None
    outer = definitions_first((op for op in copied if op.parent is not block), position)
    here = sorted([*ops, *(op for op in copied if op.parent is block)], key=position.__getitem__)
    outputs: list[SSAValue] = [
        result for op in ops for result in op.results if _is_read_outside(result, block, taken, copied)
    ]
    body = [*outer, *here]
    return Boundary(list(ops), body, list(inputs), [each for each in shapes if each not in inputs], outputs)


def is_read_outside(value: SSAValue, block: Block, taken: set[Operation]) -> bool:
    """Whether an op that is not taken reads a value."""
    return _is_read_outside(value, block, taken, {})


def _is_read_outside(value: SSAValue, block: Block, taken: set[Operation], copied: dict[Operation, None]) -> bool:
    for use in value.uses:
        op = top_of(use.operation, block)
        if op in taken:
            continue
        # A copied extent of a value is no reader of it if all that reads the extent is taken or copied, too.
        if op is None or op not in copied or _leaves(op, block, taken, copied):
            return True
    return False


def _leaves(op: Operation, block: Block, taken: set[Operation], copied: dict[Operation, None]) -> bool:
    stack, seen = [op], {op}
    while stack:
        for result in stack.pop().results:
            for use in result.uses:
                user = top_of(use.operation, block)
                if user is None or (user not in taken and user not in copied):
                    return True
                if user in copied and user not in seen:
                    seen.add(user)
                    stack.append(user)
    return False


def has_dynamic_shapes(boundary: Boundary) -> bool:
    """Whether some shape operand has an extent that its type does not say."""
    return any(None in static_shape(each.type) for each in boundary.shapes)


def without_loose_views(ops: Sequence[Operation], spaces: dict[Operation, Space], block: Block) -> list[Operation]:
    """A cluster without the views at its border that it would have to give as results, computing nothing there.

    A view of an operand that others read as well stays outside, and so does a view that only others read of a value
    which they read anyway.
    """
    taken = set(ops)
    for op in ops:
        loose = spaces[op].kind == "view" and not _made_inside(spaces[op], taken)
        if loose and any(is_read_outside(result, block, taken) for result in op.results):
            taken.discard(op)
    for op in reversed(ops):
        if op not in taken or spaces[op].kind != "view":
            continue
        source = spaces[op].reads[0][0]
        inside = any(top_of(use.operation, block) in taken for result in op.results for use in result.uses)
        others = {top_of(use.operation, block) for use in source.uses} - taken - {op}
        if not inside and (others or not _made_inside(spaces[op], taken)):
            taken.discard(op)
    return [op for op in ops if op in taken]


def _made_inside(space: Space, taken: set[Operation]) -> bool:
    return any(value.owner in taken for value, _ in space.reads)


def parts_of(ops: Sequence[Operation]) -> list[list[Operation]]:
    """A cluster's connected parts: ops that hand a value on or read one in common, each part in program order."""
    number = {op: place for place, op in enumerate(ops)}
    parts = {place: [place] for place in range(len(ops))}
    part = list(range(len(ops)))
    reader: dict[SSAValue, int] = {}
    for op, place in number.items():
        for user, index, shape_only in operand_uses(op):
            operand = user.operands[index]
            owner = operand.owner
            if shape_only or is_inside(operand, op):
                continue
            made = number.get(owner) if isinstance(owner, Operation) else None
            if made is None and isinstance(owner, Operation) and is_copied(owner):
                continue
            near = reader.setdefault(operand, place) if made is None else made
            if part[near] != part[place]:
                few, many = sorted((part[near], part[place]), key=lambda each: len(parts[each]))
                for each in parts[few]:
                    part[each] = many
                parts[many] += parts.pop(few)
    return [[ops[place] for place in sorted(each)] for each in sorted(parts.values(), key=min)]
