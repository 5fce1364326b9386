"""Which ops carry a match: a walk from its results back to its arguments, ops taken whole (rules R3, R9, R11)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from xfuse.canonical.graph import UNINITIALISED, Value
from xfuse.canonical.operands import Use, is_inside, operand_uses, top_of
from xfuse.match.pattern import Pattern
from xfuse.match.program import Program, is_pure
from xfuse.materialise import VIEWS, is_materialisable

_RESHAPES = frozenset({"tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"})
_VIEW_OPS = VIEWS | {"linalg.generic", "tensor.concat", "tensor.from_elements", "tensor.insert_slice", "tensor.pad"}


class Refused(Exception):
    """Raised while extracting; becomes a `Refusal`."""

    def __init__(
        self, rule: str, reason: str, message: str, op: Operation | None = None, values: Sequence[SSAValue] = ()
    ):
        super().__init__(message)
        self.rule, self.reason, self.message, self.op, self.values = rule, reason, message, op, tuple(values)


@dataclass
class Walk:
    """The state of one walk from the results of a match back to its arguments."""

    program: Program
    pattern: Pattern
    block: Block
    order: Mapping[Operation, int]
    arguments: dict[int, list[int]]
    interior: set[int]
    extents: set[int]
    roots: list[SSAValue]
    covered: set[Operation] = field(default_factory=set[Operation])
    uses: dict[SSAValue, list[Use]] = field(default_factory=dict[SSAValue, list[Use]])
    shape_uses: dict[SSAValue, list[Use]] = field(default_factory=dict[SSAValue, list[Use]])
    cloned: set[Operation] = field(default_factory=set[Operation])
    kept: set[Operation] = field(default_factory=set[Operation])


def cover(walk: Walk) -> None:
    """Walk back from the results, op by op in reverse order, sorting operands into inner values and arguments."""
    pending: list[tuple[int, Operation]] = []
    seen: set[Operation] = set()

    def take(op: Operation) -> None:
        if op not in seen:
            seen.add(op)
            heapq.heappush(pending, (-walk.order[op], op))

    for root in walk.roots:
        owner = root.owner
        if not isinstance(owner, Operation) or owner.parent is not walk.block:
            raise Refused("R11", "inside-body", "a result of the recipe is not the result of an op of this block")
        take(owner)
    while pending:
        _, op = heapq.heappop(pending)
        walk.covered.add(op)
        if not is_pure(op):
            raise Refused("R9", "effect", "the op is not provably pure", op)
        for user, index, shape_only in operand_uses(op):
            operand = user.operands[index]
            if is_inside(operand, op):
                continue
            if shape_only or _is_unwritten(walk, operand):
                walk.shape_uses.setdefault(operand, []).append((user, index))
            elif _is_external(walk, op, operand, take):
                walk.uses.setdefault(operand, []).append((user, index))
    _absorb_views(walk)


def _is_unwritten(walk: Walk, operand: SSAValue) -> bool:
    """Whether an operand is a tensor of a shape and nothing else, as a loop may begin with."""
    value = walk.program.value(operand)
    return value is not None and value.node == UNINITIALISED


def _is_external(walk: Walk, op: Operation, operand: SSAValue, take: Callable[[Operation], None]) -> bool:
    """Whether an operand is an argument or a literal; the op of an inner value is taken into the match."""
    value = walk.program.value(operand)
    node = UNINITIALISED if value is None else value.node
    if node in walk.arguments or (value is not None and is_literal(walk, value)):
        return True
    if node not in walk.interior and not _undoes_reshape(op, operand):
        raise Refused("R11", "outside-recipe", "the op also computes with a value that is no part of the recipe", op)
    owner = operand.owner
    if not isinstance(owner, Operation) or owner.parent is not walk.block:
        raise Refused(
            "R11",
            "inside-body",
            "an inner value of the recipe comes from outside this body; split=true or xfuse-normalize takes it apart",
            op,
        )
    take(owner)
    return False


def _undoes_reshape(op: Operation, operand: SSAValue) -> bool:
    """Whether an op reshapes what another reshape gives: if one undoes the other, what is between is of no matter."""
    owner = operand.owner
    return op.name in _RESHAPES and isinstance(owner, Operation) and owner.name in _RESHAPES


def _absorb_views(walk: Walk) -> None:
    """Read arguments through views of them at their source.

    A view that only the match reads is taken into it; one that makes a constant is copied into the region.
    """
    changed = True
    while changed:
        changed = False
        for operand in list(walk.uses):
            owner = operand.owner
            if not isinstance(owner, Operation) or owner in walk.covered or owner in walk.cloned:
                continue
            source = _view_source(walk, operand, owner)
            if source is None:
                continue
            if is_materialisable(owner):
                walk.cloned.add(owner)
            elif owner.parent is walk.block and _only_read_inside(walk, operand) and owner not in owners(walk.roots):
                walk.covered.add(owner)
            else:
                continue
            for user, index, shape in operand_uses(owner):
                read = user.operands[index]
                if not is_inside(read, owner):
                    table = walk.shape_uses if shape or _is_unwritten(walk, read) else walk.uses
                    table.setdefault(read, []).append((user, index))
            del walk.uses[operand]
            changed = True


def _view_source(walk: Walk, operand: SSAValue, owner: Operation) -> SSAValue | None:
    """The value that an argument's operand is only a view of, or None."""
    value = walk.program.value(operand)
    if value is None or len(walk.arguments.get(value.node, ())) != 1:
        return None  # through a view, two arguments of one value would have a single operand between them
    if not may_be_view(owner) or len(owner.results) != 1 or not is_pure(owner):
        return None
    source: SSAValue | None = None
    for user, index, shape in operand_uses(owner):
        read = user.operands[index]
        if shape or read is source or is_inside(read, owner) or _is_unwritten(walk, read):
            continue
        given = walk.program.value(read)
        if given is None or (given.node == value.node and source is not None):
            return None
        if given.node == value.node:
            source = read
        elif not is_literal(walk, given):
            return None
    return source


def may_be_view(op: Operation) -> bool:
    """Whether what an op gives may be only a view of another value, through which an argument is read at its source."""
    return op.name in _VIEW_OPS


def _only_read_inside(walk: Walk, operand: SSAValue) -> bool:
    """Whether only the match reads a value, what it copies (extents, empty tensors) included."""
    found = [operand]
    for ssa in found:
        for use in ssa.uses:
            user = top_of(use.operation, walk.block)
            if user in walk.covered:
                continue
            if user is None or not is_materialisable(user) or any(_is_argument(walk, each) for each in user.results):
                return False
            found.extend(each for each in user.results if each not in found)
    return True


def _is_argument(walk: Walk, ssa: SSAValue) -> bool:
    value = walk.program.value(ssa)
    return value is not None and value.node in walk.arguments


def owners(values: Iterable[SSAValue]) -> set[Operation]:
    return {value.owner for value in values if isinstance(value.owner, Operation)}


def is_literal(walk: Walk, value: Value) -> bool:
    """Whether a value is a literal or an extent, or one that the match takes for an extent: a copy is as good."""
    if value.node < 0:
        return False
    node = walk.program.graph.nodes[value.node]
    if node.kind == "constant" or value.node in walk.extents:
        return True
    return node.element_type == "index" and walk.program.is_extent(value.node)
