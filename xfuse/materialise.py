"""Materialisable ops: constants, splats, empty tensors and extents, of which a copy is as good as the original (R4)."""

from __future__ import annotations

from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

Key = tuple[object, ...]

_ALWAYS = frozenset({"arith.constant", "tensor.empty", "tensor.dim"})
_OF_CONSTANTS = frozenset(
    {
        "linalg.fill",
        "linalg.broadcast",
        "linalg.transpose",
        "tensor.splat",
        "tensor.cast",
        "tensor.expand_shape",
        "tensor.collapse_shape",
        "tensor.from_elements",
    }
)


def is_materialisable(op: Operation) -> bool:
    """Whether an op may be copied at will: it makes a constant, an empty tensor or an extent."""
    stack = [op]
    seen: set[Operation] = set()
    while stack:
        current = stack.pop()
        if current in seen or current.name in _ALWAYS:
            continue
        seen.add(current)
        if current.name == "linalg.generic":
            if not _only_yields(current):
                return False
        elif current.name not in _OF_CONSTANTS:
            return False
        for ssa in _data(current):
            owner = ssa.owner
            if not isinstance(owner, Operation) or owner.name in ("tensor.empty", "tensor.dim"):
                return False
            stack.append(owner)
    return True


def _only_yields(op: Operation) -> bool:
    """Whether a generic's body holds nothing but constants and its yield."""
    block = op.regions[0].block
    return all(inner is block.last_op or inner.name == "arith.constant" for inner in block.ops)


def _data(op: Operation) -> list[SSAValue]:
    """The values that an op's result is made of, leaving out those that only give a shape."""
    if op.name == "linalg.generic":
        block = op.regions[0].block
        assert block.last_op is not None
        yielded: list[SSAValue] = []
        for ssa in block.last_op.operands:
            if isinstance(ssa, BlockArgument) and ssa.owner is block:
                yielded.append(op.operands[ssa.index])
            elif not (isinstance(ssa.owner, Operation) and ssa.owner.parent is block):
                yielded.append(ssa)
        return yielded
    return list(op.operands) if op.name == "tensor.from_elements" else [op.operands[0]]


def key_of(op: Operation) -> Key:
    """What two materialisable ops have in common if they are equal: all that they are, and where they come from."""
    block = op.regions[0].block if op.regions and op.regions[0].blocks else None
    body = () if block is None else tuple(_body_key(block, inner) for inner in block.ops)
    return (op.name, _attributes(op), tuple(map(id, op.operands)), tuple(op.result_types), body, op.location)


def _attributes(op: Operation) -> tuple[tuple[str, Attribute], ...]:
    return tuple(sorted({**op.properties, **op.attributes}.items(), key=lambda each: each[0]))


def _body_key(block: Block, op: Operation) -> Key:
    operands: list[object] = []
    for ssa in op.operands:
        owner = ssa.owner
        if isinstance(ssa, BlockArgument) and owner is block:
            operands.append(("argument", ssa.index))
        elif isinstance(owner, Operation) and owner.parent is block:
            operands.append(_body_key(block, owner))
        else:
            operands.append(id(ssa))
    return (op.name, _attributes(op), tuple(operands), tuple(op.result_types), op.location)
