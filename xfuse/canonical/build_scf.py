"""Control flow to the graph: ``scf.if``, ``scf.for``, ``scf.while``.

An ``scf.if`` is a point-wise ``branch`` on a scalar. A loop is one ``loop`` node per result, over only the values that
the result needs: the value that the loop carries at position 0 when it ends. Its references are, for ``scf.for``, the
bounds and the step, for ``scf.while`` the condition; then the initial values; then their next values. Inside, carried
values are ``carried`` leaves. An ``scf.while`` is read as a condition and next values of the state that enters its
first region; what it forwards is computed from the state once more behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from xfuse.canonical.build import HANDLERS, GraphBuilder, static_shape, tensor_view
from xfuse.canonical.carried import INDUCTION, capture, carried, positions, substitute
from xfuse.canonical.graph import BOUND, UNINITIALISED, UNIT, Attributes, Extent, Node, Reference, Value
from xfuse.canonical.operands import operand_uses
from xfuse.errors import UnsupportedError


def _if(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, scf.IfOp)
    condition = builder.values[op.cond]
    literal = builder.graph.bits(condition.node)
    if literal is not None:
        return builder.block((op.true_region if literal else op.false_region).block)
    captured = _captured_nodes(builder, _captured(op))
    then, otherwise = (builder.block(region.block) for region in (op.true_region, op.false_region))
    results = [
        _branch(builder, condition, pair, builder.element_type(ssa.type))
        for pair, ssa in zip(zip(then, otherwise, strict=True), op.results, strict=True)
    ]
    for result in results:
        if result.node != UNINITIALISED:
            capture(builder.graph, result.node, captured)
    return results


def _branch(builder: GraphBuilder, condition: Value, sides: tuple[Value, Value], element_type: str) -> Value:
    if all(side.node == UNINITIALISED for side in sides):
        return sides[0]
    if any(side.node == UNINITIALISED for side in sides):
        raise UnsupportedError("scf.if yields a value that was never written")
    then, otherwise = sides
    extents: list[Extent] = []
    for one, other in zip(then.extents, otherwise.extents, strict=True):
        if one != other:
            pair = (builder.extent_value(one), builder.extent_value(other))
            one = builder.extent_of(_branch(builder, condition, pair, "index"))
        extents.append(one)
    operands = [condition, then, otherwise]
    # The taken side must be there at every point, so the extents of axes that it lacks are part of the node.
    repeated = tuple(
        tuple(
            _described(side.extents[axis], operands)
            for axis in dict.fromkeys(other.index)
            if axis >= 0 and axis not in side.index
        )
        for side, other in ((then, otherwise), (otherwise, then))
    )
    attributes: Attributes = (("repeated", repeated),) if any(repeated) else ()
    return builder.graph.pointwise("branch", element_type, attributes, operands, tuple(extents))


def _described(extent: Extent, operands: list[Value]) -> Extent:
    """An extent as a node's attribute says it; a computed one becomes an operand of the node."""
    if isinstance(extent, int) or extent[0] != "value":
        return extent
    operands.append(Value(extent[1], (), ()))
    return ("operand", len(operands) - 1, 0)


# Loops


@dataclass
class _State:
    """What a loop carries: the region arguments, their initial values, and leaves for those that change."""

    depth: int
    types: Sequence[Attribute]
    initial: Sequence[Value]
    leaves: list[int | None]


def _for(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, scf.ForOp)
    if op.properties:
        raise UnsupportedError(f"scf.for with {', '.join(op.properties)}")
    block = op.body.block
    assert block.last_op is not None
    induction, *arguments = block.args
    captured = _captured(op)
    depth = _depth(builder, op, captured)
    fixed = [argument is yielded for argument, yielded in zip(arguments, block.last_op.operands, strict=True)]
    state = _enter(builder, depth, arguments, [builder.values[each] for each in op.iter_args], fixed)
    leaf = builder.graph.intern(carried(builder.element_type(induction.type), depth, INDUCTION, 0))
    builder.values[induction] = Value(leaf, (), ())
    following = builder.block(block)
    bounds = [builder.values[each] for each in (op.lb, op.ub, op.step)]
    wanted = [position for position, same in enumerate(fixed) if not same]
    final = _final_values(builder, "scf.for", state, bounds, following, wanted, captured)
    return [
        final[position] if position in final else builder.values[argument]
        for position, argument in enumerate(arguments)
    ]


def _while(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    condition, yielded = before.last_op, after.last_op
    assert isinstance(condition, scf.ConditionOp)
    assert yielded is not None
    captured = _captured(op)
    depth = _depth(builder, op, captured)
    fixed: list[bool] = []
    for argument, back in zip(before.args, yielded.operands, strict=True):
        fixed.append(isinstance(back, BlockArgument) and back.owner is after and condition.args[back.index] is argument)
    initial = [builder.values[each] for each in op.arguments]
    state = _enter(builder, depth, before.args, initial, fixed)
    test, *passed = builder.block(before)
    for argument, value in zip(after.args, passed, strict=True):
        builder.values[argument] = value
    following = builder.block(after)
    graph = builder.graph
    needed = sorted({p for value in passed for p in _read(builder, value, depth, range(len(value.extents)))})
    final = _final_values(builder, "scf.while", state, [test], following, needed, captured)
    ends = {leaf: final[p].node for p, leaf in enumerate(state.leaves) if p in final and leaf is not None}
    known: dict[Extent, Extent] = {}
    for position, value in final.items():
        leaf = state.leaves[position]
        assert leaf is not None
        inside = builder.with_extents(leaf, static_shape(state.types[position]))
        known.update(zip(inside.extents, value.extents, strict=True))
    results: list[Value] = []
    for value in passed:
        dynamic = _computed(value, range(len(value.extents)))
        made = substitute(graph, [value.node, *dynamic], depth, ends) if value.node >= 0 else [value.node, *dynamic]
        moved = dict(zip(dynamic, made[1:], strict=True))
        extents = tuple(
            e if isinstance(e, int) or e[0] != "value" else known.get(e, ("value", moved[e[1]], 0))
            for e in value.extents
        )
        results.append(tensor_view(made[0], value.index, extents))
    return results


def _computed(value: Value, axes: Iterable[int]) -> list[int]:
    """The nodes that compute extents of some axes of a value."""
    extents = [value.extents[axis] for axis in axes]
    return [extent[1] for extent in extents if not isinstance(extent, int) and extent[0] == "value"]


def _read(builder: GraphBuilder, value: Value, depth: int, axes: Iterable[int] | None = None) -> list[int]:
    """The carried values that a value and the extents of some axes depend on: by default, axes that its node lacks."""
    if axes is None:
        axes = [axis for axis in range(len(value.extents)) if axis not in value.index]
    nodes = [node for node in (value.node, *_computed(value, axes)) if node >= 0]
    return sorted({position for node in nodes for position in positions(builder.graph, node, depth)})


def _captured(op: Operation) -> list[SSAValue]:
    """The values from outside that what an op's regions yield is computed of, each once.

    What only gives a static shape is none, nor what dead ops read: how a program spells a function would show.
    """
    blocks: set[Block] = {block for inner in op.walk() for region in inner.regions for block in region.blocks}
    found: dict[SSAValue, None] = {}
    seen: set[Operation] = set()
    ends = (block.last_op for region in op.regions for block in region.blocks)
    stack = [ssa for last in ends if last is not None for ssa in reversed(last.operands)]
    while stack:
        ssa = stack.pop()
        owner = ssa.owner
        if (owner.parent if isinstance(owner, Operation) else owner) not in blocks:
            found[ssa] = None
        elif isinstance(owner, Operation) and owner not in seen:
            seen.add(owner)
            for user, index, shape in operand_uses(owner):
                read = user.operands[index]
                if not shape or None in static_shape(read.type):
                    stack.append(read)
    return list(found)


def _captured_nodes(builder: GraphBuilder, captured: Sequence[SSAValue]) -> list[int]:
    return [builder.values[each].node for each in captured if builder.values[each].node >= 0]


def _depth(builder: GraphBuilder, op: Operation, captured: Sequence[SSAValue]) -> int:
    """One more than the depth of the innermost loop whose values this one reads: not how the program nests them."""
    free = builder.graph.free
    mask = 0
    for each in (*op.operands, *captured):
        value = builder.values[each]
        if value.node >= 0:
            mask |= free(value.node)
        for node in _computed(value, range(len(value.extents))):
            mask |= free(node)
    return mask.bit_length()


def _enter(
    builder: GraphBuilder, depth: int, arguments: Sequence[SSAValue], initial: Sequence[Value], fixed: Sequence[bool]
) -> _State:
    """Give the region arguments their values: leaves, or the initial values of those that never change."""
    leaves: list[int | None] = []
    for position, (argument, value, same) in enumerate(zip(arguments, initial, fixed, strict=True)):
        if same:
            builder.values[argument] = value
            leaves.append(None)
            continue
        shape = static_shape(argument.type)
        node = builder.graph.intern(carried(builder.element_type(argument.type), depth, position, len(shape)))
        builder.values[argument] = builder.with_extents(node, shape)
        leaves.append(node)
    return _State(depth, [argument.type for argument in arguments], initial, leaves)


def _final_values(
    builder: GraphBuilder,
    kind: str,
    state: _State,
    head: Sequence[Value],
    following: Sequence[Value],
    wanted: Sequence[int],
    captured: Sequence[SSAValue],
) -> dict[int, Value]:
    """The ``loop`` nodes that give what the loop carries at its end, by position."""
    graph = builder.graph
    inside = head if kind == "scf.while" else ()
    reads = {p: _read(builder, value, state.depth) for p, value in enumerate(following) if value.node >= 0}
    tested = sorted({position for value in inside for position in _read(builder, value, state.depth)})
    nodes: list[tuple[int, Node, tuple[int, ...]]] = []
    for position in wanted:
        order = [position, *(p for p in tested if p != position)]
        for each in order:
            if each not in reads:
                raise UnsupportedError(f"{kind} yields a value that was never written")
            order.extend(p for p in reads[each] if p not in order)
        nodes.append((position, _node(builder, kind, state, head, following, order), tuple(order)))
    # All of one op stand side by side, so that whatever reads one of them comes after each of them.
    family = object()
    numbers: dict[int, int] = {}
    for position, node, order in nodes:
        number = numbers[position] = graph.intern(node)
        graph.families.setdefault(number, (family, order))
        capture(graph, number, _captured_nodes(builder, captured))
    return {p: _ending(builder, state, p, number, following[p]) for p, number in numbers.items()}


def _ending(builder: GraphBuilder, state: _State, position: int, number: int, following: Value) -> Value:
    """What a loop carries at its end: along axes that no trip changes, it has the extents of the initial value."""
    leaf = state.leaves[position]
    assert leaf is not None
    shape = static_shape(state.types[position])
    own, inside = builder.with_extents(number, shape), builder.with_extents(leaf, shape)
    extents = tuple(
        start if before == after else end
        for start, before, after, end in zip(
            state.initial[position].extents, inside.extents, following.extents, own.extents, strict=True
        )
    )
    return tensor_view(number, range(len(shape)), extents)


def _node(
    builder: GraphBuilder,
    kind: str,
    state: _State,
    head: Sequence[Value],
    following: Sequence[Value],
    order: Sequence[int],
) -> Node:
    """The loop over some of the carried values, renumbered in this order."""
    graph = builder.graph
    replaced: dict[int, int] = {}
    for new, old in enumerate(order):
        leaf = state.leaves[old]
        assert leaf is not None
        shape = static_shape(state.types[old])
        replaced[leaf] = graph.intern(carried(builder.element_type(state.types[old]), state.depth, new, len(shape)))
    unwritten = tuple(new for new, old in enumerate(order) if state.initial[old].node == UNINITIALISED)
    initial = [
        _unwritten(builder, state, old) if state.initial[old].node == UNINITIALISED else state.initial[old]
        for old in order
    ]
    values = [*head, *initial, *(following[old] for old in order)]
    scalars: list[int] = []
    repeated: list[tuple[Extent, ...]] = []
    for value in values[len(head) :]:
        given: list[Extent] = []
        for axis, extent in enumerate(value.extents):
            if axis in value.index or extent == 1:
                extent = -1
            elif not isinstance(extent, int) and extent[0] == "value":
                scalars.append(extent[1])
                extent = ("operand", len(values) + len(scalars) - 1, 0)
            given.append(extent)
        repeated.append(tuple(given))
    numbers = substitute(graph, [*(value.node for value in values), *scalars], state.depth, replaced)
    references = [
        Reference(number, tuple(UNIT if axis < 0 else BOUND + axis for axis in value.index))
        for number, value in zip(numbers, values, strict=False)
    ]
    references.extend(Reference(number, ()) for number in numbers[len(values) :])
    first = state.types[order[0]]
    rank = len(static_shape(first))
    attributes: Attributes = (
        ("fresh", rank),
        ("op", kind),
        ("depth", state.depth),
        ("carried", len(order)),
        ("repeated", tuple(repeated)),
        ("unwritten", unwritten),
    )
    return Node("loop", builder.element_type(first), attributes, tuple(references), rank)


def _unwritten(builder: GraphBuilder, state: _State, position: int) -> Value:
    """What stands for an initial value without content: zeros, told from written ones by the node's attribute."""
    zero = builder.graph.constant(builder.element_type(state.types[position]), 0)
    return tensor_view(zero.node, (), state.initial[position].extents)


HANDLERS.update({"scf.if": _if, "scf.for": _for, "scf.while": _while})
