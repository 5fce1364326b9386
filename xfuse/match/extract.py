"""From a match on values to the ops that carry it, taken whole (rules R3-R5, R8, R11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation, LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, FillOp, ReduceOp, TransposeOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from xfuse.canonical.build import GraphBuilder, shape_only
from xfuse.canonical.form import canonical_form
from xfuse.canonical.graph import UNINITIALISED, Value
from xfuse.materialise import is_materialisable
from xfuse.match.program import Program, is_pure
from xfuse.match.refusal import Refusal, describe
from xfuse.match.search import Binding, Pattern
from xfuse.parser import resource_blobs
from xfuse_dialects.xfuse import FusedOp, YieldOp

_MAX_ASSIGNMENTS = 256
_VIEW_OPS = frozenset(
    {
        "linalg.broadcast",
        "linalg.transpose",
        "linalg.fill",
        "tensor.splat",
        "tensor.cast",
        "tensor.expand_shape",
        "tensor.collapse_shape",
    }
)
Use = tuple[Operation, int]


class Refused(Exception):
    """Raised while extracting; becomes a `Refusal`."""

    def __init__(self, rule: str, reason: str, message: str, op: Operation | None = None):
        super().__init__(message)
        self.rule, self.reason, self.message, self.op = rule, reason, message, op


@dataclass
class Extraction:
    """Ops of one block that carry a match.

    ``covered`` are replaced by the fused op, in program order. ``spent`` are these and the materialisable ops of the
    block that the region copies, last first; ``copied`` are all ops of the region, in order. ``inputs`` has one SSA value per argument of the recipe, ``shapes`` those
    that only give a shape. ``outputs`` are the results. ``before`` is where the fused op goes.
    """

    pattern: Pattern
    block: Block
    covered: list[Operation]
    spent: list[Operation]
    copied: list[Operation]
    inputs: list[SSAValue]
    shapes: list[SSAValue]
    outputs: list[SSAValue]
    before: Operation
    slots: tuple[SSAValue, ...]
    body: Region | None = None

    @property
    def in_body(self) -> bool:
        """Whether the match lies within the body of one linalg op."""
        parent = self.block.parent_op()
        return isinstance(parent, LinalgStructuredOperation)

    def fused_op(self) -> FusedOp:
        """The fused op that stands for the match; the region is used up."""
        outputs = [output.type for output in self.outputs]
        body = self.body or build_region(self.copied, self.inputs, self.shapes, self.outputs, {})
        return FusedOp(self.pattern.recipe.name, self.inputs, self.shapes, outputs, body)


@dataclass
class _Walk:
    """The state of one walk from the results of a match back to its arguments."""

    program: Program
    pattern: Pattern
    block: Block
    order: Mapping[Operation, int]
    arguments: dict[int, list[int]]
    interior: set[int]
    roots: list[SSAValue]
    covered: set[Operation] = field(default_factory=set[Operation])
    uses: dict[SSAValue, list[Use]] = field(default_factory=dict[SSAValue, list[Use]])
    shape_uses: dict[SSAValue, list[Use]] = field(default_factory=dict[SSAValue, list[Use]])
    cloned: set[Operation] = field(default_factory=set[Operation])


def extract(
    program: Program, pattern: Pattern, binding: Binding, block: Block, order: Mapping[Operation, int], root: SSAValue
) -> Extraction | Refusal:
    """The ops that carry a match whose anchor is an SSA value of ``block``, or why they cannot be taken."""
    try:
        return _extract(program, pattern, binding, block, order, root)
    except Refused as error:
        return Refusal(pattern.recipe.name, error.rule, error.reason, error.message, error.op, len(binding.places))


def _extract(
    program: Program, pattern: Pattern, binding: Binding, block: Block, order: Mapping[Operation, int], root: SSAValue
) -> Extraction:
    places = binding.places
    interior = {places[n][0] for n in pattern.interior()}
    literals = {places[n][0] for n in places if pattern.nodes[n].kind == "constant"}
    by_node: dict[int, list[int]] = {}
    for node, number in pattern.arguments.items():
        by_node.setdefault(places[node][0], []).append(number)
    if interior & set(by_node):
        raise Refused("R5", "argument-inside", "an argument of the match is one of its own inner values")
    if len(interior) != len(pattern.interior()):
        raise Refused("R3", "shared-inside", "two inner values of the recipe are one value of the program")
    roots = _roots(program, pattern, binding, block, root)
    walk = _Walk(program, pattern, block, order, by_node, interior | literals, roots)
    _cover(walk)
    _absorb_shapes(walk)
    before = _placement(walk)
    _check_escapes(walk)
    return _assign(walk, before)


def _roots(
    program: Program, pattern: Pattern, binding: Binding, block: Block, root: SSAValue
) -> list[SSAValue]:
    """The SSA values that carry the results, in the recipe's order."""
    found: list[SSAValue] = []
    for position, node in enumerate(pattern.roots):
        if position == pattern.anchor:
            found.append(root)
            continue
        wanted = binding.places[node][0]
        carriers = [
            result
            for op in block.ops
            for result in op.results
            if (value := program.value(result)) is not None and value.node == wanted
        ]
        if not carriers:
            raise Refused("R11", "inside-body", f"result {position} of the recipe is computed only inside an op's body")
        used = [carrier for carrier in carriers if carrier.uses]
        found.append((used or carriers)[0])
    return found


def _cover(walk: _Walk) -> None:
    """Walk back from the results, op by op in reverse order, sorting operands into inner values and arguments."""
    pending: dict[Operation, int] = {}

    def take(op: Operation) -> None:
        if op not in walk.covered and op not in pending:
            pending[op] = walk.order[op]

    for root in walk.roots:
        owner = root.owner
        if not isinstance(owner, Operation) or owner.parent is not walk.block:
            raise Refused("R11", "inside-body", "a result of the recipe is not the result of an op of this block")
        take(owner)
    while pending:
        op = max(pending, key=lambda each: pending[each])
        del pending[op]
        walk.covered.add(op)
        if not is_pure(op):
            raise Refused("R9", "effect", "the op is not provably pure", op)
        for user, index, shape_only in operand_uses(op):
            operand = user.operands[index]
            if _inside(operand, op):
                continue
            if shape_only:
                walk.shape_uses.setdefault(operand, []).append((user, index))
            elif _is_external(walk, op, operand, take):
                walk.uses.setdefault(operand, []).append((user, index))
    _absorb_views(walk)


def _is_external(walk: _Walk, op: Operation, operand: SSAValue, take: Callable[[Operation], None]) -> bool:
    """Whether an operand is an argument or a literal; the op of an inner value is taken into the match."""
    value = walk.program.value(operand)
    node = UNINITIALISED if value is None else value.node
    if node in walk.arguments or (value is not None and _is_literal(walk.program, value)):
        return True
    if node not in walk.interior:
        raise Refused("R11", "outside-recipe", "the op also computes with a value that is no part of the recipe", op)
    owner = operand.owner
    if not isinstance(owner, Operation) or owner.parent is not walk.block:
        raise Refused(
            "R11",
            "inside-body",
            "an inner value of the recipe comes from outside this body; xfuse-normalize takes bodies apart",
            op,
        )
    take(owner)
    return False


def _absorb_views(walk: _Walk) -> None:
    """Read arguments through broadcasts and transposes at their source.

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
            elif owner.parent is walk.block and _only_read_inside(walk, operand) and owner not in _owners(walk.roots):
                walk.covered.add(owner)
            else:
                continue
            for user, index, shape in operand_uses(owner):
                if not _inside(user.operands[index], owner):
                    table = walk.shape_uses if shape else walk.uses
                    table.setdefault(user.operands[index], []).append((user, index))
            del walk.uses[operand]
            changed = True


def _view_source(walk: _Walk, operand: SSAValue, owner: Operation) -> SSAValue | None:
    """The value that an argument's operand is only a view of, or None."""
    value = walk.program.value(operand)
    if value is None or value.node not in walk.arguments:
        return None
    if owner.name not in _VIEW_OPS and not _is_copy(owner):
        return None
    data = [
        user.operands[index]
        for user, index, shape in operand_uses(owner)
        if not shape and not _inside(user.operands[index], owner)
    ]
    source = walk.program.value(data[0]) if len(data) == 1 else None
    return data[0] if source is not None and source.node == value.node else None


def _only_read_inside(walk: _Walk, operand: SSAValue) -> bool:
    return all(_top(use.operation, walk.block) in walk.covered for use in operand.uses)


def _is_copy(op: Operation) -> bool:
    """A generic that only yields its one input, or one value from outside."""
    if op.name != "linalg.generic" or len(op.regions[0].blocks) != 1:
        return False
    block = op.regions[0].block
    return block.last_op is not None and block.last_op is block.first_op and len(op.results) == 1


def _owners(values: Iterable[SSAValue]) -> set[Operation]:
    return {value.owner for value in values if isinstance(value.owner, Operation)}


def _is_literal(program: Program, value: Value) -> bool:
    return value.node >= 0 and program.graph.nodes[value.node].kind == "constant"


def operand_uses(op: Operation) -> Iterator[tuple[Operation, int, bool]]:
    """Every operand that an op or its body reads: the op that names it, its position, and whether only for shape."""
    for index in range(len(op.operands)):
        yield op, index, _shape_only(op, index)
    for region in op.regions:
        for inner in region.walk():
            for index in range(len(inner.operands)):
                yield inner, index, False


def _shape_only(op: Operation, index: int) -> bool:
    if op.name == "tensor.empty" or op.name == "tensor.dim" and index == 0:
        return True
    if op.name == "tensor.splat":
        return index > 0
    if op.name in ("tensor.expand_shape",):
        return index > 0
    if isinstance(op, BroadcastOp | TransposeOp | FillOp | ElementwiseOperation):
        return index >= _inputs(op)
    if isinstance(op, LinalgStructuredOperation) and index >= _inputs(op):
        return not op.regions[0].block.args[index].uses
    return False


def _inputs(op: Operation) -> int:
    if isinstance(op, BroadcastOp | ReduceOp):
        return 1
    assert isinstance(op, LinalgStructuredOperation)
    return len(op.inputs)


def _inside(operand: SSAValue, op: Operation) -> bool:
    owner = operand.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None:
        parent = block.parent_op()
        if parent is op:
            return True
        block = None if parent is None else parent.parent
    return False


def _top(op: Operation, block: Block) -> Operation | None:
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


# Materialisable ops and shapes


def _absorb_shapes(walk: _Walk) -> None:
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
        if _clone_tree(walk, operand):
            del walk.shape_uses[operand]
    for operand in list(walk.uses):
        value = walk.program.value(operand)
        if value is not None and value.node not in walk.arguments and _is_literal(walk.program, value):
            if _clone_tree(walk, operand):
                del walk.uses[operand]


def _clone_tree(walk: _Walk, operand: SSAValue) -> bool:
    """Clone the materialisable ops that an operand is made of; False, and nothing done, if one of them is not."""
    found: list[Operation] = []
    stack = [operand]
    while stack:
        ssa = stack.pop()
        if ssa in walk.uses and ssa is not operand:
            continue
        owner = ssa.owner
        if not isinstance(owner, Operation):
            return False
        if owner in walk.covered or owner in found:
            continue
        if not is_materialisable(owner):
            return False
        found.append(owner)
        stack.extend(user.operands[index] for user, index, _ in operand_uses(owner) if not _inside(user.operands[index], owner))
    walk.cloned.update(found)
    return True


# Escapes and placement


def _placement(walk: _Walk) -> Operation:
    """The last result's op: all operands precede it, and no user of an earlier result may (rules R5, R8)."""
    last = max(_owners(walk.roots), key=lambda op: walk.order[op])
    for root in walk.roots:
        for use in root.uses:
            user = _top(use.operation, walk.block)
            if user is None or user in walk.covered:
                continue
            if _position(walk, user) < walk.order[last]:
                raise Refused("R8", "order", "a result of the match is used before its last result is computed", user)
    return last


def _position(walk: _Walk, op: Operation) -> int:
    known = walk.order.get(op)
    return walk.block.get_operation_index(op) if known is None else known


def _check_escapes(walk: _Walk) -> None:
    outputs = set(walk.roots)
    for op in walk.covered:
        for result in op.results:
            if result in outputs:
                continue
            for use in result.uses:
                user = _top(use.operation, walk.block)
                # Without a user in this block the use is in another block of the region, hence outside the match.
                if user is not None and (user in walk.covered or user in walk.cloned and _all_inside(walk, user)):
                    continue
                raise Refused(
                    "R4",
                    "escape",
                    f"an inner value of the recipe, the result of {describe(op)}, is used outside the match by "
                    f"{describe(use.operation if user is None else user)}",
                    op,
                )


def _all_inside(walk: _Walk, op: Operation) -> bool:
    inside = walk.covered | walk.cloned
    return all(_top(use.operation, walk.block) in inside for result in op.results for use in result.uses)


# Arguments and region


def _assign(walk: _Walk, before: Operation) -> Extraction:
    """Give every remaining operand its argument. Where two arguments are one value, the region decides."""
    pattern, program = walk.pattern, walk.program
    carriers: dict[int, SSAValue] = {}
    open_uses: list[tuple[SSAValue, Use, tuple[int, ...]]] = []
    for operand, uses in walk.uses.items():
        value = program.value(operand)
        numbers = walk.arguments.get(UNINITIALISED if value is None else value.node)
        if not numbers:
            raise Refused("R11", "outside-recipe", "an operand of the match is no part of the recipe", uses[0][0])
        literal = value is not None and value.node in walk.interior
        if len(numbers) == 1 and not literal:
            number = numbers[0]
            if carriers.setdefault(number, operand) is not operand:
                raise Refused(
                    "R3", "two-carriers", f"argument {number} is carried by two values; run cse first", uses[0][0]
                )
            continue
        choices = tuple(numbers) + ((-1,) if literal else ())
        open_uses.extend((operand, use, choices) for use in uses)
    if not open_uses:
        return _checked(walk, before, carriers, {})
    for choice in islice(product(*(choices for _, _, choices in open_uses)), _MAX_ASSIGNMENTS):
        chosen: dict[Use, int] = {}
        taken = dict(carriers)
        fits = True
        for (operand, use, _), number in zip(open_uses, choice, strict=True):
            chosen[use] = number
            if number >= 0 and taken.setdefault(number, operand) is not operand:
                fits = False
        if not fits or len(taken) != len(pattern.arguments):
            continue
        try:
            return _checked(walk, before, taken, chosen)
        except Refused:
            continue
    raise Refused("R3", "alias", "several arguments are one value, and the ops read it through fewer operands than that")


def _checked(
    walk: _Walk, before: Operation, carriers: Mapping[int, SSAValue], chosen: Mapping[Use, int]
) -> Extraction:
    pattern = walk.pattern
    missing = [n for n in range(len(pattern.arguments)) if n not in carriers]
    if missing:
        raise Refused("R3", "alias", f"no operand of the match carries argument {missing[0]} alone")
    inputs = [carriers[n] for n in range(len(pattern.arguments))]
    literal_trees = {operand for operand, uses in walk.uses.items() if any(chosen.get(use) == -1 for use in uses)}
    cloned = set(walk.cloned)
    for operand in literal_trees:
        if not _clone_tree(walk, operand):
            raise Refused("R4", "literal", "a literal of the recipe cannot be copied into the region")
    shapes = _shape_operands(walk, inputs, walk.cloned)
    order = walk.order
    local = {op for op in (*walk.covered, *walk.cloned) if op in order}
    extraction = Extraction(
        pattern,
        walk.block,
        sorted(walk.covered, key=lambda op: order[op]),
        sorted(local, key=lambda op: order[op], reverse=True),
        _definitions_first(op for op in walk.cloned if op not in order) + sorted(local, key=lambda op: order[op]),
        inputs,
        shapes,
        list(walk.roots),
        before,
        tuple(inputs[number] for number in sorted(pattern.slots)),
    )
    if chosen:
        extraction.body = build_region(extraction.copied, inputs, shapes, walk.roots, chosen)
    if not _is_instance(extraction):
        walk.cloned = cloned
        raise Refused("R3", "instance", "the ops that carry the match, taken whole, are not the recipe")
    return extraction


def _shape_operands(walk: _Walk, inputs: Sequence[SSAValue], cloned: Iterable[Operation]) -> list[SSAValue]:
    shapes = [operand for operand in walk.shape_uses if operand not in inputs]
    inside = walk.covered | set(cloned)
    for op in cloned:
        for user, index, _ in operand_uses(op):
            operand = user.operands[index]
            owner = operand.owner
            if _inside(operand, op) or isinstance(owner, Operation) and owner in inside:
                continue
            if operand not in inputs and operand not in shapes:
                shapes.append(operand)
    return shapes


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
    block = Block(arg_types=[value.type for value in (*inputs, *shapes)])
    mapping: dict[SSAValue, SSAValue] = {}
    for argument, outer in zip(block.args, (*inputs, *shapes), strict=True):
        argument.name_hint = outer.name_hint
        mapping.setdefault(outer, argument)
    clones: dict[Operation, Operation] = {}
    for op in ops:
        clone = op.clone(mapping)
        if chosen:
            clones.update(zip(op.walk(), clone.walk(), strict=True))
        block.add_op(clone)
    for (op, index), number in chosen.items():
        clone = clones[op]
        if number >= 0:
            clone.operands[index] = block.args[number]
        else:
            clone.operands[index] = mapping[_cloned_result(op.operands[index], clones)]
    block.add_op(YieldOp([mapping[root] for root in roots]))
    return Region(block)


def _cloned_result(ssa: SSAValue, clones: Mapping[Operation, Operation]) -> SSAValue:
    owner = ssa.owner
    if not isinstance(owner, Operation) or owner not in clones:
        raise Refused("R4", "literal", "a literal of the recipe cannot be copied into the region")
    return ssa


def _definitions_first(ops: Iterable[Operation]) -> list[Operation]:
    """Ops of enclosing and preceding blocks in an order in which each definition precedes its uses."""
    pending = sorted(ops, key=_path, reverse=True)
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


def _path(op: Operation) -> tuple[int, ...]:
    """Where an op stands: positions of blocks and ops from the outermost op inwards."""
    path: list[int] = []
    current: Operation | None = op
    while current is not None and current.parent is not None:
        block = current.parent
        path.append(block.get_operation_index(current))
        path.append(0 if block.parent is None else block.parent.get_block_index(block))
        current = block.parent_op()
    return tuple(reversed(path))


def _is_instance(extraction: Extraction) -> bool:
    """Whether the ops, taken whole, are the recipe: what the fused op's label claims must be true."""
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
        builder.values[value] = shape_only(builder, value, number)
    for op in ops:
        builder.operation(op)
    form = canonical_form(builder.graph, builder.argument_values, [builder.values[output] for output in outputs])
    pattern = extraction.pattern
    return form.text == pattern.recipe.form(pattern.element_type, fastmath=False).text


def carriers_of(program: Program, block: Block) -> Iterator[tuple[SSAValue, Value]]:
    """The results of a block's ops with the values they carry, in program order."""
    for op in block.ops:
        for result in op.results:
            value = program.value(result)
            if value is not None and value.node >= 0 and not isinstance(result, BlockArgument):
                yield result, value
