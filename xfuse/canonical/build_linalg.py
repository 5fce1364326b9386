"""Linalg ops to the graph: every structured op is its maps and its body, whatever its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from xfuse.canonical.build import HANDLERS, GraphBuilder, static_shape, tensor_view
from xfuse.canonical.gather import gather
from xfuse.canonical.graph import (
    UNINITIALISED,
    UNIT,
    Attributes,
    Extent,
    Node,
    Reference,
    Value,
    local_frame,
)
from xfuse.errors import UnsupportedError
from xfuse.primitives.table import PRIMITIVES
from xfuse_dialects.xfuse import FusedOp

Positions = tuple[int | None, ...]
"""The loop that an indexing map reads along each axis of an operand, None where it is not one loop."""


class Loops(NamedTuple):
    """The iteration space of a structured op: its body at every point of a frame."""

    block: Block
    inputs: int
    initial: list[Value]
    reduced: tuple[int, ...]
    extents: tuple[Extent, ...]


def structured(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    """Any op with indexing maps, iterator types and a scalar body."""
    assert isinstance(op, LinalgStructuredOperation)
    maps = [attribute.data for attribute in op.get_indexing_maps().data]
    iterators = op.get_iterator_types().data
    reduced = tuple([axis for axis, kind in enumerate(iterators) if kind.data is IteratorType.REDUCTION])
    operands = list(op.operands)  # the inputs, then the outputs
    return _loops(builder, maps, reduced, operands, len(op.inputs), op.regions[0].block)


def _reduce(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, linalg.ReduceOp)
    rank = len(static_shape(op.input.type))
    reduced = set(op.dimensions.get_values())
    kept = AffineMap(rank, 0, tuple(AffineExpr.dimension(axis) for axis in range(rank) if axis not in reduced))
    maps = [AffineMap.identity(rank), kept]
    return _loops(builder, maps, tuple(sorted(reduced)), [op.input, op.init], 1, op.region.block)


def _broadcast(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, linalg.BroadcastOp)
    source = builder.values[op.input]
    extents = builder.values[op.init].extents
    added = op.dimensions.get_values()
    kept = [axis for axis in range(len(extents)) if axis not in added]
    return [tensor_view(source.node, [UNIT if axis < 0 else kept[axis] for axis in source.index], extents)]


def _transpose(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, linalg.TransposeOp)
    source = builder.values[op.inputs[0]]
    permutation = op.permutation.get_values()
    index = tuple(UNIT if axis < 0 else permutation.index(axis) for axis in source.index)
    return [Value(source.node, index, tuple(source.extents[axis] for axis in permutation))]


def _fill(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, linalg.FillOp)
    source = builder.values[op.inputs[0]]
    return [Value(source.node, (), builder.values[op.outputs[0]].extents)]


def _loops(
    builder: GraphBuilder,
    maps: Sequence[AffineMap],
    reduced: tuple[int, ...],
    operands: Sequence[SSAValue],
    inputs: int,
    block: Block,
) -> Sequence[Value]:
    """Read a body over the frame of its loops and give one value per result."""
    values = [builder.values[operand] for operand in operands]
    positions = [_positions(map_) for map_ in maps]
    for along, map_, value in zip(positions[inputs:], maps[inputs:], values[inputs:], strict=True):
        _check_output(along, map_, value)
    extents = _loop_extents(maps[0].num_dims, positions, values)
    lifted = [
        _lift(builder, value, along, map_, extents) for value, along, map_ in zip(values, positions, maps, strict=True)
    ]
    for argument, value in zip(block.args, lifted, strict=True):
        builder.values[argument] = value
    yielded = block.last_op
    assert yielded is not None
    if not reduced:
        for inner in block.ops:
            body_op(builder, inner, extents)
        results = [builder.values[operand] for operand in yielded.operands]
    else:
        results = _reductions(builder, Loops(block, inputs, lifted[inputs:], reduced, extents), yielded)
    return [_as_tensor(value, along, extents) for value, along in zip(results, positions[inputs:], strict=True)]


def _positions(map_: AffineMap) -> Positions:
    return tuple([result.position if isinstance(result, AffineDimExpr) else None for result in map_.results])


def _check_output(positions: Positions, map_: AffineMap, output: Value) -> None:
    """Every element of an output is written once: its axes are loops, each another one, or of extent one."""
    loops = [position for position in positions if position is not None]
    constant = [axis for axis, position in enumerate(positions) if position is None]
    if len(set(loops)) != len(loops) or any(output.extents[axis] != 1 for axis in constant):
        raise UnsupportedError(f"an output map that does not reach every element: {map_}")


def _loop_extents(count: int, positions: Sequence[Positions], values: Sequence[Value]) -> tuple[Extent, ...]:
    extents: list[Extent | None] = [None] * count
    for along, value in zip(positions, values, strict=True):
        for position, extent in zip(along, value.extents, strict=True):
            if position is not None:
                known = extents[position]
                if known is None or (not isinstance(known, int) and isinstance(extent, int)):
                    extents[position] = extent
    found = tuple([extent for extent in extents if extent is not None])
    if len(found) != count:
        raise UnsupportedError("a loop extent that no operand gives")
    return found


def _lift(
    builder: GraphBuilder, value: Value, positions: Positions, map_: AffineMap, extents: tuple[Extent, ...]
) -> Value:
    """An operand as the body sees it: a value over the frame of the loops."""
    if value.node == UNINITIALISED:
        return Value(UNINITIALISED, (), extents)
    index: list[int] = []
    for axis in value.index:
        position = UNIT if axis < 0 or value.extents[axis] == 1 else positions[axis]
        if position is None:
            break
        index.append(position)
    else:
        return tensor_view(value.node, index, extents)
    value = tensor_view(value.node, value.index, value.extents)
    at = [_affine(builder, result, extents) for result in map_.results]
    return gather(builder.graph, value, at, extents)


def _affine(builder: GraphBuilder, expression: AffineExpr, extents: tuple[Extent, ...]) -> Value:
    """An affine expression of loop indices as index arithmetic."""
    if isinstance(expression, AffineConstantExpr):
        return builder.graph.constant("index", expression.value, extents)
    if isinstance(expression, AffineDimExpr):
        return index_value(builder, expression.position, extents)
    if isinstance(expression, AffineBinaryOpExpr) and expression.kind in (
        AffineBinaryOpKind.Add,
        AffineBinaryOpKind.Mul,
    ):
        operands = [_affine(builder, side, extents) for side in (expression.lhs, expression.rhs)]
        kind = "arith.addi" if expression.kind is AffineBinaryOpKind.Add else "arith.muli"
        return builder.graph.pointwise(kind, "index", (), operands, extents)
    raise UnsupportedError(f"indexing map with {expression}")


def index_value(builder: GraphBuilder, axis: int, extents: tuple[Extent, ...]) -> Value:
    """The number of the current point along an axis of the frame."""
    extent = extents[axis]
    if extent == 1:
        return builder.graph.constant("index", 0, extents)
    references: tuple[Reference, ...] = ()
    if not isinstance(extent, int) and extent[0] == "value":
        references, extent = (Reference(extent[1], ()),), ("operand", 0, 0)
    return Value(builder.graph.intern(Node("index", "index", (("extent", extent),), references, 1)), (axis,), extents)


def _as_tensor(value: Value, positions: Positions, extents: tuple[Extent, ...]) -> Value:
    """A value over the loops as the result tensor that the output map lays out."""
    axis_of = {position: axis for axis, position in enumerate(positions)}
    shape = tuple([1 if position is None else extents[position] for position in positions])
    if value.node == UNINITIALISED:
        raise UnsupportedError("the body yields a value that was never written")
    if any(axis >= 0 and axis not in axis_of for axis in value.index):
        raise UnsupportedError("the body yields a value that varies along a loop outside the result")
    return tensor_view(value.node, [UNIT if axis < 0 else axis_of[axis] for axis in value.index], shape)


# Bodies


def body_op(builder: GraphBuilder, op: Operation, extents: tuple[Extent, ...]) -> None:
    """Read one op of a body and keep the values of its results over the frame."""
    if not op.results:
        builder.note_effect(op)
        return
    handler = _BODY_HANDLERS.get(op.name)
    if handler is not None:
        results = handler(builder, op, extents)
    else:
        operands = [builder.values[operand] for operand in op.operands]
        if any(operand.extents and operand.extents is not extents and operand.index for operand in operands):
            raise UnsupportedError(f"'{op.name}' reads a whole tensor inside a body")
        if op.name in PRIMITIVES:
            results = builder.scalar(op, operands, extents)
        elif op.regions or any(operand.node == UNINITIALISED for operand in operands):
            raise UnsupportedError(f"'{op.name}' inside a body")
        else:
            results = _opaque_scalar(builder, op, operands, extents)
    for ssa, value in zip(op.results, results, strict=True):
        builder.values[ssa] = value


def _opaque_scalar(
    builder: GraphBuilder, op: Operation, operands: Sequence[Value], extents: tuple[Extent, ...]
) -> Sequence[Value]:
    texts = tuple(sorted((name, str(value)) for name, value in {**op.properties, **op.attributes}.items()))
    attributes: Attributes = (("op", op.name), ("properties", texts))
    return [
        builder.graph.pointwise(
            "opaque", builder.element_type(ssa.type), (("fresh", 0), *attributes, ("result", number)), operands, extents
        )
        for number, ssa in enumerate(op.results)
    ]


def _body_constant(builder: GraphBuilder, op: Operation, extents: tuple[Extent, ...]) -> Sequence[Value]:
    return [builder.constant(op.properties["value"], op.results[0].type, extents)]


def _body_index(builder: GraphBuilder, op: Operation, extents: tuple[Extent, ...]) -> Sequence[Value]:
    assert isinstance(op, linalg.IndexOp)
    return [index_value(builder, op.dim.value.data, extents)]


def _body_extract(builder: GraphBuilder, op: Operation, extents: tuple[Extent, ...]) -> Sequence[Value]:
    source = builder.values[op.operands[0]]
    at = [builder.values[operand] for operand in op.operands[1:]]
    return [gather(builder.graph, source, at, extents)]


def _body_fused(builder: GraphBuilder, op: Operation, extents: tuple[Extent, ...]) -> Sequence[Value]:
    assert isinstance(op, FusedOp)
    if builder.fused is not None:
        results = builder.fused(builder, op)
        if results is not None:
            return [value._replace(extents=extents) for value in results]
    block = op.body.block
    for inner, outer in zip(block.args, (*op.inputs, *op.shapes), strict=True):
        builder.values[inner] = builder.values[outer]._replace(extents=extents)
    for inner in block.ops:
        body_op(builder, inner, extents)
    assert block.last_op is not None
    return [builder.values[operand] for operand in block.last_op.operands]


_BODY_HANDLERS: dict[str, Callable[[GraphBuilder, Operation, tuple[Extent, ...]], Sequence[Value]]] = {
    "arith.constant": _body_constant,
    "linalg.index": _body_index,
    "tensor.extract": _body_extract,
    FusedOp.name: _body_fused,
}


# Reductions


def _reductions(builder: GraphBuilder, space: Loops, yielded: Operation) -> list[Value]:
    accumulators = space.block.args[space.inputs :]
    dependent: set[SSAValue] = set(accumulators)
    for inner in space.block.ops:
        if any(operand in dependent for operand in inner.operands):
            dependent.update(inner.results)
        elif inner is not yielded:
            body_op(builder, inner, space.extents)
    results: list[Value] = []
    for number, root in enumerate(yielded.operands):
        value = _plain_reduction(builder, space, number, root, dependent)
        results.append(_fold_body(builder, space, number, yielded) if value is None else value)
    return results


def _plain_reduction(
    builder: GraphBuilder, space: Loops, number: int, root: SSAValue, dependent: set[SSAValue]
) -> Value | None:
    """``reduce``: one commutative op of the accumulator and a value free of it; None if the body is not that."""
    accumulator = space.block.args[space.inputs + number]
    combine = root.owner
    if not isinstance(combine, Operation) or len(combine.operands) != 2 or accumulator not in combine.operands:
        return None
    primitive = PRIMITIVES.get(combine.name)
    if primitive is None or not primitive.commutative or len(combine.results) != 1:
        return None
    others = [operand for operand in combine.operands if operand is not accumulator]
    if len(others) != 1 or others[0] in dependent:
        return None
    operand = builder.values[others[0]]
    initial = space.initial[number]
    if initial.node == UNINITIALISED or operand.node == UNINITIALISED:
        raise UnsupportedError("a reduction of or from a value that was never written")
    bound = [axis for axis in dict.fromkeys(operand.index) if axis in space.reduced]
    repeated = [space.extents[axis] for axis in space.reduced if axis not in bound and space.extents[axis] != 1]
    attributes = (("combine", combine.name), *builder.attributes(combine), ("bound", len(bound)))
    return _reducing(
        builder, "reduce", builder.element_type(root.type), attributes, repeated, [operand, initial], bound, space
    )


def _reducing(
    builder: GraphBuilder,
    kind: str,
    element_type: str,
    attributes: Attributes,
    repeated: Sequence[Extent],
    operands: Sequence[Value],
    bound: Sequence[int],
    space: Loops,
) -> Value:
    local, order = local_frame([operand.index for operand in operands], bound)
    references = [Reference(operand.node, index) for operand, index in zip(operands, local, strict=True)]
    extents: list[Extent] = []
    for extent in repeated:
        # A computed extent is an operand of the node, so that it is part of its cone.
        if not isinstance(extent, int) and extent[0] == "value":
            references.append(Reference(extent[1], ()))
            extent = ("operand", len(references) - 1, 0)
        extents.append(extent)
    extents.sort(key=str)
    node = Node(kind, element_type, (*attributes, ("repeated", tuple(extents))), tuple(references), len(order))
    return Value(builder.graph.intern(node), order, space.extents)


def _fold_body(builder: GraphBuilder, space: Loops, number: int, yielded: Operation) -> Value:
    """``fold``: any other body, as a graph over accumulator leaves; only the accumulators that the result needs."""
    accumulators = list(space.block.args[space.inputs :])
    needed = [number]
    for position in needed:
        for found in _accumulators_of(yielded.operands[position], accumulators, space.block):
            if found not in needed:
                needed.append(found)
    for position, which in enumerate(needed):
        element_type = builder.element_type(accumulators[which].type)
        leaf = builder.graph.intern(Node("accumulator", element_type, (("number", position),), (), 0))
        builder.values[accumulators[which]] = Value(leaf, (), space.extents)
    for which in range(len(accumulators)):
        if which not in needed:
            builder.values[accumulators[which]] = Value(UNINITIALISED, (), space.extents)
    for inner in space.block.ops:
        if inner is yielded:
            break
        operands = [builder.values.get(operand) for operand in inner.operands]
        if any(operand is None or operand.node == UNINITIALISED for operand in operands):
            for ssa in inner.results:
                builder.values[ssa] = Value(UNINITIALISED, (), space.extents)
            continue
        body_op(builder, inner, space.extents)
    initial = [space.initial[which] for which in needed]
    roots = [builder.values[yielded.operands[which]] for which in needed]
    if any(value.node == UNINITIALISED for value in (*initial, *roots)):
        raise UnsupportedError("a fold of or from a value that was never written")
    # Every reduced loop of extent other than one is bound, in loop order: a fold's order is part of its meaning.
    bound = [axis for axis in space.reduced if space.extents[axis] != 1]
    attributes: Attributes = (("accumulators", len(needed)), ("bound", len(bound)))
    used = {axis for value in roots for axis in value.index}
    repeated = [space.extents[axis] if axis not in used else -1 for axis in bound]
    references = [*roots, *initial]
    local, order = local_frame([value.index for value in references], bound)
    refs = [Reference(value.node, index) for value, index in zip(references, local, strict=True)]
    extents: list[Extent] = []
    for extent in repeated:
        if not isinstance(extent, int) and extent[0] == "value":
            refs.append(Reference(extent[1], ()))
            extent = ("operand", len(refs) - 1, 0)
        extents.append(extent)
    element_type = builder.element_type(yielded.operands[number].type)
    node = Node("fold", element_type, (*attributes, ("repeated", tuple(extents))), tuple(refs), len(order))
    return Value(builder.graph.intern(node), order, space.extents)


def _accumulators_of(root: SSAValue, accumulators: Sequence[SSAValue], block: Block) -> list[int]:
    found: set[int] = set()
    seen: set[SSAValue] = set()
    stack = [root]
    while stack:
        ssa = stack.pop()
        if ssa in accumulators:
            found.add(accumulators.index(ssa))
        elif ssa not in seen and isinstance(ssa.owner, Operation) and ssa.owner.parent is block:
            seen.add(ssa)
            stack.extend(ssa.owner.operands)
    return sorted(found)


STRUCTURED_OPS = (
    "generic matmul quantized_matmul add sub mul max min exp log sqrt select copy "
    "conv_2d_nchw_fchw conv_2d_nchw_fchw_q pooling_nchw_max"
).split()

HANDLERS.update({f"linalg.{name}": structured for name in STRUCTURED_OPS})
HANDLERS.update(
    {
        "linalg.reduce": _reduce,
        "linalg.broadcast": _broadcast,
        "linalg.transpose": _transpose,
        "linalg.fill": _fill,
    }
)
