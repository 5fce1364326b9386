"""An extracted match, and the region of the fused op that is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, SymbolRefAttr, i32, i64
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from xfuse.canonical.build import GraphBuilder, shape_only
from xfuse.canonical.form import canonical_form
from xfuse.canonical.graph import Extent
from xfuse.canonical.operands import Use
from xfuse.construction import copy_name, make_block, make_op, replace_operands
from xfuse.editing import Editor
from xfuse.errors import UnsupportedError
from xfuse.match.pattern import Pattern
from xfuse.match.program import Program
from xfuse.match.walk import Refused
from xfuse.parser import resource_blobs
from xfuse.primitives.table import PRIMITIVES
from xfuse.specialisation import instance_of
from xfuse_dialects.xfuse import FusedOp, YieldOp


@dataclass(slots=True)
class Extraction:
    """Ops of one block that carry a match.

    ``covered`` are replaced by the fused op, in program order. ``copied`` are all ops of the region, in order: these,
    and the materialisable ops that it copies. ``inputs`` has one SSA
    value per argument of the recipe, ``shapes`` those that only give a shape. ``outputs`` are the results. ``before``
    is where the fused op goes. ``kept`` are covered too but stay, as others read what they compute.
    """

    pattern: Pattern
    block: Block
    covered: list[Operation]
    copied: list[Operation]
    inputs: Sequence[SSAValue]
    shapes: Sequence[SSAValue]
    outputs: Sequence[SSAValue]
    before: Operation
    slots: tuple[SSAValue, ...]
    body: Region | None = None
    same_extents: tuple[int, ...] = ()
    kept: frozenset[Operation] = frozenset()

    @property
    def is_early(self) -> bool:
        """Whether the fused op goes before the op of its last result, as something reads another result before that."""
        return self.before not in self.covered

    @property
    def in_body(self) -> bool:
        """Whether the match lies within the body of one linalg op."""
        parent = self.block.parent_op()
        return isinstance(parent, LinalgStructuredOperation)

    def fused_op(self) -> FusedOp:
        """The fused op that stands for the match; it has no region yet, for `make_region`, if the match has none."""
        duplicated: tuple[int, ...] = ()
        if self.kept:
            duplicated = tuple(position for position, op in enumerate(self.copied) if op in self.kept)
        label, segments = self.pattern.recipe.name, (len(self.inputs), len(self.shapes))
        fused = make_op(
            FusedOp,
            (*self.inputs, *self.shapes),
            [output.type for output in self.outputs],
            _properties(label, *segments, self.same_extents, duplicated),
        )
        if len(self.covered) == 1 or len(self.outputs) == 1:
            fused.location = self.before.location
        if self.body is not None:
            fused.add_region(self.body)
        return fused


def detached_fused_op(extraction: Extraction) -> FusedOp:
    """The fused op that would stand for a match, of copies of the ops; the program stays as it is."""
    fused = extraction.fused_op()
    if extraction.body is None:
        ops, inputs, shapes = extraction.copied, extraction.inputs, extraction.shapes
        fused.add_region(build_region(ops, inputs, shapes, extraction.outputs, {}))
    return fused


@cache
def _properties(
    label: str, inputs: int, shapes: int, same_extents: tuple[int, ...], duplicated: tuple[int, ...]
) -> Mapping[str, Attribute]:
    segments = DenseArrayBase.from_list(i32, [inputs, shapes])
    found: dict[str, Attribute] = {"recipe": SymbolRefAttr(label), AttrSizedOperandSegments.attribute_name: segments}
    for name, numbers in (("same_extents", same_extents), ("duplicated", duplicated)):
        if numbers:
            found[name] = DenseArrayBase.from_list(i64, numbers)
    return found


def make_region(extraction: Extraction, editor: Editor) -> tuple[Block, list[SSAValue]]:
    """A block of the ops of a match over arguments of its own, and the values that stand there for its results.

    Covered ops are moved, what stays in the program is copied.
    """
    values = (*extraction.inputs, *extraction.shapes)
    block = make_block(values)
    mapping: dict[SSAValue, SSAValue] = {}
    for outer, argument in zip(values, block.args, strict=True):
        mapping.setdefault(outer, argument)
    moved = set(extraction.covered).difference(extraction.kept)
    for op in extraction.copied:
        if op not in moved:
            block.add_op(_copy(op, mapping))
            continue
        for inner in op.walk() if op.regions else (op,):
            replace_operands(inner, mapping)
        editor.take_out(op)
        block.add_op(op)
    return block, [mapping.get(output, output) for output in extraction.outputs]


def _copy(op: Operation, mapping: dict[SSAValue, SSAValue]) -> Operation:
    if op.regions:
        return op.clone(mapping)
    if op.operands or len(op.results) != 1:
        return op.clone_without_regions(mapping)
    (old,) = op.results  # a constant, mostly
    copy = make_op(type(op), (), (old.type,), op.properties, op)
    (new,) = copy.results
    mapping[old] = new
    copy_name(old, new)
    return copy


def build_region(
    ops: Sequence[Operation],
    inputs: Sequence[SSAValue],
    shapes: Sequence[SSAValue],
    roots: Sequence[SSAValue],
    chosen: Mapping[Use, int],
) -> Region:
    """The region of a fused op: copies of ops over block arguments.

    ``chosen`` says for single operands which argument they read, -1 for a literal's own copy.
    """
    values = (*inputs, *shapes)
    block = make_block(values)
    mapping: dict[SSAValue, SSAValue] = {}
    for outer, argument in zip(values, block.args, strict=True):
        mapping.setdefault(outer, argument)
    clones: dict[Operation, Operation] = {}
    for op in ops:
        clone = _copy(op, mapping)
        if chosen:
            clones.update(zip(op.walk(), clone.walk(), strict=True))
        block.add_op(clone)
    for (op, index), number in chosen.items():
        clone = clones[op]
        if number >= 0:
            clone.operands[index] = block.args[number]
        else:
            clone.operands[index] = mapping[_cloned_result(op.operands[index], clones)]
    block.add_op(make_op(YieldOp, [mapping[root] for root in roots], (), {}))
    return Region(block)


def _cloned_result(ssa: SSAValue, clones: Mapping[Operation, Operation]) -> SSAValue:
    owner = ssa.owner
    if not isinstance(owner, Operation) or owner not in clones:
        raise Refused("R4", "literal", "a literal of the recipe cannot be copied into the region")
    return ssa


def definitions_first(ops: Iterable[Operation], known: Mapping[Operation, int]) -> list[Operation]:
    """Ops of enclosing and preceding blocks in an order in which each definition precedes its uses.

    ``known`` are positions of ops in their blocks, as far as they are known.
    """
    pending = sorted(ops, key=lambda op: _path(op, known), reverse=True)
    wanted = set(pending)
    placed: dict[Operation, None] = {}
    while pending:
        op = pending[-1]
        owners = [ssa.owner for each in op.walk() for ssa in each.operands]
        missing = [o for o in owners if isinstance(o, Operation) and o in wanted and o not in placed]
        if missing and op not in placed:
            pending.extend(missing)
            continue
        placed.setdefault(pending.pop())
    return list(placed)


def _path(op: Operation, known: Mapping[Operation, int]) -> tuple[int, ...]:
    """Where an op stands: positions of blocks and ops from the outermost op inwards."""
    path: list[int] = []
    current: Operation | None = op
    while current is not None and current.parent is not None:
        block = current.parent
        place = known.get(current)
        path.append(block.get_operation_index(current) if place is None else place)
        path.append(0 if block.parent is None else block.parent.get_block_index(block))
        current = block.parent_op()
    return tuple(reversed(path))


def is_evident(extraction: Extraction, program: Program) -> bool:
    """Whether the ops are the recipe because each of them is one node of the match, and nothing else is involved.

    Then the region has the very structure that the search compared: every argument is a value of its own, every other
    operand another op of the region or a literal. To be asked of a match whose arguments are different nodes.
    """
    if extraction.shapes or extraction.body is not None or extraction.pattern.recipe.has_flags:
        return False
    nodes = program.graph.nodes
    for op in extraction.copied:
        value = program.value(op.results[0]) if len(op.results) == 1 and not op.regions else None
        if value is None or value.node < 0:
            return False
        kind = nodes[value.node].kind
        if kind != op.name if op.name in PRIMITIVES else (op.name, kind) != ("arith.constant", "constant"):
            return False
    return True


def known_extents(inputs: Sequence[SSAValue], shapes: Sequence[SSAValue], program: Program) -> tuple[int, ...]:
    """Extents of shape operands that in the program are extents of inputs, four numbers each."""
    first: dict[Extent, tuple[int, int]] = {}
    for number, ssa in enumerate(inputs):
        value = program.value(ssa)
        for axis, extent in enumerate(value.extents if value is not None else ()):
            first.setdefault(extent, (number, axis))
    found: list[int] = []
    for number, ssa in enumerate(shapes):
        value = program.value(ssa)
        for axis, extent in enumerate(value.extents if value is not None else ()):
            if not isinstance(extent, int) and extent in first:
                found.extend((number, axis, *first[extent]))
    return tuple(found)


def is_instance(extraction: Extraction, known_instances: dict[tuple[object, ...], bool]) -> bool:
    """Whether the ops, taken whole, are the recipe: what the fused op's label claims must be true.

    ``known_instances`` holds what was found out of equal graphs.
    """
    numbers = extraction.same_extents
    known = {(s, a): (i, b) for s, a, i, b in zip(*(numbers[k::4] for k in range(4)), strict=True)}
    builder = GraphBuilder(fastmath=False, resources=resource_blobs())
    inputs, shapes, ops, outputs = extraction.inputs, extraction.shapes, extraction.copied, extraction.outputs
    if extraction.body is not None:
        block = extraction.body.block
        assert block.last_op is not None
        count = len(inputs)
        inputs, shapes = list(block.args[:count]), list(block.args[count:])
        ops, outputs = list(block.ops), list(block.last_op.operands)
    for value in inputs:
        builder.argument(value)
    for number, value in enumerate(shapes):
        builder.values[value] = shape_only(builder, value, number, known)
    for op in ops:
        builder.operation(op)
    results, pattern = [builder.values[output] for output in outputs], extraction.pattern
    key = (id(pattern), *builder.graph.nodes, *builder.argument_values, *results)
    answer = None if builder.graph.families else known_instances.get(key)  # loops are more than their nodes
    if answer is None:
        try:
            form = canonical_form(builder.graph, builder.argument_values, results)
        except UnsupportedError:
            found = None
        else:
            found = instance_of(pattern.recipe, form, (pattern.element_type,))
        answer = known_instances[key] = found is not None
    return answer
