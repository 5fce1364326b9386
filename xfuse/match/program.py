"""One block of a program as the matcher sees it: its graph, its ops in order, and who carries which value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ShapedType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, GenericOp, ReduceOp, TransposeOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator

from xfuse.canonical.build import GraphBuilder, build_body
from xfuse.canonical.extents import extent_values
from xfuse.canonical.graph import UNINITIALISED, Extent, Value
from xfuse.canonical.operands import is_inside, operand_uses, top_of
from xfuse.materialise import is_materialisable
from xfuse.parser import resource_blobs
from xfuse.postorder import postorder
from xfuse.primitives.table import PRIMITIVES
from xfuse_dialects.vocabulary import is_admitted
from xfuse_dialects.xfuse import FusedOp, LibraryOp, RecipeOp

LEAF_REGIONS = (FusedOp, RecipeOp, LibraryOp, LinalgStructuredOperation, ReduceOp, BroadcastOp, TransposeOp)


def program_blocks(module: Operation) -> Iterator[Block]:
    """All blocks that are matched on their own: bodies of functions and of control flow, not of linalg or fused ops."""
    stack = [module]
    while stack:
        op = stack.pop()
        if isinstance(op, LEAF_REGIONS):
            continue
        blocks = [block for region in op.regions for block in region.blocks]
        yield from blocks
        stack.extend(inner for block in reversed(blocks) for inner in reversed(list(block.ops)) if inner.regions)


class Program:
    """The graph of one block, or of some of its ops in order.

    Values from elsewhere are arguments, constants among them excepted.
    """

    def __init__(self, block: Block, ops: Sequence[Operation] | None = None) -> None:
        self.block = block
        self.ops = list(block.ops if ops is None else ops)
        self.position = {op: number for number, op in enumerate(self.ops)}
        self.builder = GraphBuilder(fused=_boundary, resources=resource_blobs())
        self.graph = self.builder.graph
        self.bodies: dict[Operation, Block] = {}
        self.unordered: Operation | None = None
        for argument in block.args:
            self.builder.argument(argument)
        for op in self.ops:
            self._read(op)
        self.known_instances: dict[tuple[object, ...], bool] = {}
        """Whether the ops of a match, by their pattern and graph, are the recipe; many matches have the same graph."""
        self._users: dict[int, list[int]] | None = None
        self._carrier: dict[int, SSAValue] | None = None
        self._extents: list[bool] = []
        self._dead: dict[Block, set[Operation]] = {}
        self._carriers: dict[Block, dict[int, list[SSAValue]]] = {}
        self._memos: dict[int, tuple[object, dict[tuple[int, int], bool]]] = {}

    def memo(self, pattern: object) -> dict[tuple[int, int], bool]:
        """What is known of (recipe node, program node) pairs that cannot match; the pattern is kept alive by it."""
        known = self._memos.get(id(pattern))
        if known is None:
            known = self._memos[id(pattern)] = (pattern, {})
        return known[1]

    def value(self, ssa: SSAValue) -> Value | None:
        """The value that an SSA value of this block, or of a linalg body in it, carries; None if there is none."""
        return self.builder.values.get(ssa)

    def carriers(self, block: Block) -> Mapping[int, Sequence[SSAValue]]:
        """The results of a block's ops, in order, by the node that they carry."""
        if block not in self._carriers:
            found = self._carriers[block] = {}
            for op in block.ops:
                for result in op.results:
                    value = self.builder.values.get(result)
                    if value is not None:
                        found.setdefault(value.node, []).append(result)
        return self._carriers[block]

    def carrier(self, node: int) -> SSAValue | None:
        """The first SSA value, in a linalg body or not, that carries a node."""
        if self._carrier is None:
            self._carrier = {}
            for ssa, value in self.builder.values.items():
                self._carrier.setdefault(value.node, ssa)
        return self._carrier.get(node)

    def dead(self, block: Block) -> set[Operation]:
        """The ops of a block without effect whose results nothing reads but other such ops."""
        if block not in self._dead:
            found = self._dead[block] = set()
            for op in reversed(list(block.ops)):
                if not op.has_trait(IsTerminator) and is_pure(op):
                    uses = (use.operation for result in op.results for use in result.uses)
                    if all(top_of(user, block) in found for user in uses):
                        found.add(op)
        return self._dead[block]

    def is_extent(self, node: int) -> bool:
        """Whether a node is a literal or computed from extents alone."""
        if self.graph.nodes[node].kind == "constant":
            return True
        if len(self._extents) < len(self.graph.nodes):
            self._extents = extent_values(self.graph)
        return self._extents[node]

    def users(self, node: int) -> list[int]:
        """The nodes that refer to a node."""
        if self._users is None:
            self._users = {}
            for number, each in enumerate(self.graph.nodes):
                for reference in each.references:
                    users = self._users.setdefault(reference.node, [])
                    if not users or users[-1] != number:
                        users.append(number)
        return self._users.get(node, [])

    def ancestor(self, op: Operation) -> Operation | None:
        """The op of this block that is or holds an op, or None."""
        current: Operation | None = op
        while current is not None and current.parent is not self.block:
            current = current.parent_op()
        return current

    def _read(self, op: Operation) -> None:
        if op.name in PRIMITIVES:
            try:
                self.builder.operation(op)
            except KeyError:  # an operand from elsewhere, as is seldom so
                pass
            else:
                return
        if not op.results and op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            return  # a function: what is in it is another program's
        known = self.builder.values
        for inner in op.walk() if op.regions else (op,):
            for operand in inner.operands:
                if operand in known:
                    continue
                owner = operand.owner
                if isinstance(owner, Operation):
                    parent = self.ancestor(owner)
                    if parent is op and owner is not op:
                        continue
                    if parent in self.position:
                        self.unordered = self.unordered or op
                elif self._inside(owner, op):
                    continue
                self._outside(operand)
        self.builder.operation(op)
        # The body of a named op is implied by its name: it is not printed, and must not change.
        if isinstance(op, GenericOp) and op.results:
            self.bodies[op] = op.regions[0].block

    @staticmethod
    def _inside(block: Block, op: Operation) -> bool:
        parent = block.parent_op()
        while parent is not None and parent is not op:
            parent = parent.parent_op()
        return parent is op

    def _outside(self, ssa: SSAValue) -> None:
        """A value from an enclosing block: what is materialisable is read as it is, everything else an argument."""
        known = self.builder.values
        waiting: set[SSAValue] = set()
        stack = [ssa]
        while stack:
            value = stack[-1]
            owner = value.owner
            if value in known:
                stack.pop()
                continue
            if isinstance(owner, Operation) and is_materialisable(owner):
                read = (user.operands[index] for user, index, _ in operand_uses(owner))
                missing = [each for each in read if each not in known and not is_inside(each, owner)]
                if not missing:
                    self.builder.operation(owner)
                    continue
                if value not in waiting:
                    waiting.add(value)
                    stack.extend(missing)
                    continue
            self.builder.argument(value)


def _boundary(builder: GraphBuilder, op: FusedOp) -> list[Value]:
    """A fused op is never looked into (law L7): its results are values of their own, equal to nothing else."""
    serial = len(builder.graph.nodes)
    scalar = not any(isinstance(ssa.type, ShapedType) for ssa in op.results)
    scalar = scalar and not any(isinstance(ssa.type, ShapedType) for ssa in op.inputs)
    operands = [builder.values[operand] for operand in op.inputs] if scalar else []
    results: list[Value] = []
    for number, ssa in enumerate(op.results):
        attributes: Any = (("fresh", 0), ("op", op.name), ("serial", serial), ("result", number))
        if scalar and all(operand.node != UNINITIALISED for operand in operands):
            extents = next((operand.extents for operand in operands if operand.extents), ())
            value = builder.graph.pointwise("opaque", builder.element_type(ssa.type), attributes, operands, extents)
        else:
            value = builder.unknown(ssa, attributes[1:])
        results.append(value)
    if any(not isinstance(extent, int) for value in results for extent in value.extents):
        results = [
            value._replace(extents=extents)
            for value, extents in zip(results, _extents_of(builder, op, results), strict=True)
        ]
    return results


def _extents_of(builder: GraphBuilder, op: FusedOp, results: Sequence[Value]) -> list[tuple[Extent, ...]]:
    """The extents of a fused op's results, those that are an operand's in terms of the program."""
    _, inner = build_body(op, resources=resource_blobs())

    def outer(known: Extent, unknown: Extent) -> Extent:
        if not isinstance(known, int) and known[0] == "argument":
            return builder.values[op.inputs[known[1]]].extents[known[2]]
        return unknown

    return [tuple(map(outer, value.extents, result.extents)) for value, result in zip(inner, results, strict=True)]


def is_pure(op: Operation) -> bool:
    """Whether an op and all ops in its regions may stand in a recipe."""
    return all(is_admitted(inner) for inner in op.walk()) if op.regions else is_admitted(op)


def backward_slice(op: Operation, limit: int) -> list[Operation]:
    """An op and the ops of its block that it is computed from, at most ``limit`` of them, in program order."""
    block = op.parent
    assert block is not None

    def read_by(current: Operation) -> list[Operation]:
        owners = [operand.owner for inner in current.walk() for operand in inner.operands]
        return [owner for owner in owners if isinstance(owner, Operation) and owner.parent is block]

    found = {op}
    queue = [op]
    for current in queue:
        for owner in read_by(current):
            if owner not in found and len(found) < limit:
                found.add(owner)
                queue.append(owner)
    return postorder([op], lambda current: [owner for owner in reversed(read_by(current)) if owner in found])
