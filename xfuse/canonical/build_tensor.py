"""Tensor ops to the graph: shapes, views, slices, padding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from xfuse.canonical.build import HANDLERS, GraphBuilder, element_name, static_shape, tensor_view
from xfuse.canonical.build_linalg import body_op, index_value
from xfuse.canonical.gather import gather
from xfuse.canonical.graph import BOUND, UNINITIALISED, UNIT, Extent, Node, Value
from xfuse.errors import UnsupportedError
from xfuse_dialects.structure import reassociation_groups


def _shape(builder: GraphBuilder, op: Operation, sizes: Sequence[SSAValue]) -> tuple[Extent, ...]:
    """The extents of an op's result, dynamic ones from its operands in order."""
    given = iter(sizes)
    return tuple(
        builder.extent_of(builder.values[next(given)]) if extent is None else extent
        for extent in static_shape(op.results[0].type)
    )


def _empty(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    return [Value(UNINITIALISED, (), _shape(builder, op, op.operands))]


def _splat(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    return [Value(builder.values[op.operands[0]].node, (), _shape(builder, op, op.operands[1:]))]


def _dim(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    axis = builder.extent_of(builder.values[op.operands[1]])
    extents = builder.values[op.operands[0]].extents
    if not isinstance(axis, int) or not 0 <= axis < len(extents):
        raise UnsupportedError("tensor.dim of a computed or impossible axis")
    return [builder.extent_value(extents[axis])]


def _cast(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    source = builder.values[op.operands[0]]
    shape = static_shape(op.results[0].type)
    if not shape and source.extents:
        raise UnsupportedError("tensor.cast to an unranked type")
    extents = tuple(old if new is None else new for old, new in zip(source.extents, shape, strict=True))
    return [tensor_view(source.node, source.index, extents)]


def _extract(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    at = [builder.values[operand] for operand in op.operands[1:]]
    return [gather(builder.graph, builder.values[op.operands[0]], at, ())]


def _from_elements(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    shape = tuple(extent for extent in static_shape(op.results[0].type) if extent is not None)
    elements = [builder.values[operand] for operand in op.operands]
    if len(elements) == 1:
        return [Value(elements[0].node, (), shape)]
    element_type = builder.element_type(op.results[0].type)
    node = builder.structural(
        "from_elements", element_type, (("shape", shape),), [], range(len(shape)), shape, elements
    )
    return [tensor_view(node.node, range(len(shape)), shape)]


def _regroup(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    """``expand_shape`` and ``collapse_shape``: index maps where only unit axes come and go, else a real reshape."""
    assert isinstance(op, tensor.ExpandShapeOp | tensor.CollapseShapeOp)
    expands = isinstance(op, tensor.ExpandShapeOp)
    source = builder.values[op.operands[0]]
    groups = reassociation_groups(op)
    extents: list[Extent] = []
    if expands:
        given = iter(op.operands[1:])
        extents = [
            builder.extent_of(builder.values[next(given)]) if e is None else e for e in static_shape(op.results[0].type)
        ]
    else:
        extents = [-1 if e is None else e for e in static_shape(op.results[0].type)]
    passed: dict[int, int] = {}
    hard: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for position, group in enumerate(groups):
        big = extents if expands else source.extents
        wide = tuple(axis for axis in group if big[axis] != 1)
        if len(wide) > 1:
            hard.append(((position,), wide) if expands else (wide, (position,)))
            continue
        for axis in wide:
            if expands:
                passed[position] = axis
                if not isinstance(extents[axis], int) or isinstance(source.extents[position], int):
                    extents[axis] = source.extents[position]
            else:
                passed[axis] = position
                extents[position] = source.extents[axis]
        if not wide and not expands:
            extents[position] = 1
    for before, (after, *_) in hard:
        if not expands and extents[after] == -1:
            sizes = [source.extents[axis] for axis in before]
            if not all(isinstance(size, int) for size in sizes):
                extents[after] = _product(builder, sizes)
            else:
                extents[after] = math.prod(size for size in sizes if isinstance(size, int))
    return [_reshaped(builder, builder.element_type(op.results[0].type), source, passed, hard, tuple(extents))]


def _reshape(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    """``tensor.reshape`` between known shapes, as if axes were collapsed and expanded."""
    source = builder.values[op.operands[0]]
    shape = static_shape(op.results[0].type)
    before = [axis for axis, extent in enumerate(source.extents) if extent != 1]
    after = [axis for axis, extent in enumerate(shape) if extent != 1]
    if not all(isinstance(extent, int) and extent for extent in (*source.extents, *shape)):
        raise UnsupportedError("tensor.reshape to or from an unknown or empty shape")
    if _count(source.extents, before) != _count(shape, after):
        raise UnsupportedError("tensor.reshape to another number of elements")
    passed: dict[int, int] = {}
    hard: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    while before or after:
        left, right = [before.pop(0)], [after.pop(0)]
        while (have := _count(source.extents, left)) != (want := _count(shape, right)):
            side, rest = (left, before) if have < want else (right, after)
            side.append(rest.pop(0))
        if len(left) > 1 and len(right) > 1:
            raise UnsupportedError("tensor.reshape of several axes into several others")
        if len(left) == len(right):
            passed[left[0]] = right[0]
        else:
            hard.append((tuple(left), tuple(right)))
    extents = tuple(extent for extent in shape if extent is not None)
    return [_reshaped(builder, builder.element_type(op.results[0].type), source, passed, hard, extents)]


def _count(extents: Sequence[Extent | None], axes: Sequence[int]) -> int:
    return math.prod(extent for extent in (extents[axis] for axis in axes) if isinstance(extent, int))


def _reshaped(
    builder: GraphBuilder,
    element_type: str,
    source: Value,
    passed: Mapping[int, int],
    hard: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    result: tuple[Extent, ...],
) -> Value:
    """A value with other axes: ``passed`` maps its axes to the result's, ``hard`` are the groups really reshaped."""
    touched = {axis for before, _ in hard for axis in before}
    if not touched & set(source.index):
        index = [UNIT if axis < 0 else passed.get(axis, UNIT) for axis in source.index]
        return tensor_view(source.node, index, result)
    original = _undone(builder, source, passed, hard, result)
    if original is not None:
        return original
    axes = dict(passed)
    scalars: list[Value] = []
    described: list[tuple[tuple[Extent, ...], tuple[Extent, ...]]] = []
    fresh: list[int] = []
    bound = 0
    for before, after in hard:
        for axis in before:
            axes[axis] = BOUND + bound
            bound += 1
        fresh.extend(after)
        described.append(
            (
                tuple(_described(source.extents[axis], scalars) for axis in before),
                tuple(_described(result[axis], scalars) for axis in after),
            )
        )
    axes.update({axis: UNIT for axis in range(len(source.extents)) if axis not in axes})
    attributes = (("groups", tuple(described)),)
    return builder.structural("reshape", element_type, attributes, [(source, axes)], fresh, result, scalars)


def _undone(
    builder: GraphBuilder,
    source: Value,
    passed: Mapping[int, int],
    hard: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    result: tuple[Extent, ...],
) -> Value | None:
    """What was reshaped, if the source is a reshape and these groups put each of its groups back."""
    node = builder.graph.nodes[source.node]
    if node.kind != "reshape":
        return None
    attributes: dict[str, Any] = dict(node.attributes)
    groups: Sequence[tuple[tuple[Extent, ...], tuple[Extent, ...]]] = attributes["groups"]
    given = dict(hard)
    shape = list(result)
    restored: list[int] = []
    made = 0
    for old, new in groups:
        axes = given.pop(source.index[made : made + len(new)], ())
        made += len(new)
        extents = [_actual(extent, node) for extent in old]
        differing = [k for k, axis in enumerate(axes) if result[axis] != extents[k]]
        known = all(isinstance(e, int) and e for k, e in enumerate(extents) if k not in differing)
        if len(axes) != len(old) or len(differing) > known:  # of a product the last factor follows from the others
            return None
        restored.extend(axes)
        for axis, extent in zip(axes, extents, strict=True):
            shape[axis] = result[axis] if isinstance(result[axis], int) else extent
    if given:
        return None
    inner = node.references[0]
    index: list[int] = []
    for axis in inner.index:
        if axis >= BOUND:
            index.append(restored[axis - BOUND])
        else:
            index.append(axis if axis < 0 else passed.get(source.index[axis], UNIT))
    return tensor_view(inner.node, index, tuple(shape))


def _actual(extent: Extent, node: Node) -> Extent:
    """An extent that a node's attribute describes, as a value has it."""
    if isinstance(extent, int) or extent[0] != "operand":
        return extent
    return ("value", node.references[1 + extent[1]].node, 0)


def _product(builder: GraphBuilder, sizes: Sequence[Extent]) -> Extent:
    value = builder.extent_value(1)
    for size in sizes:
        operands = [value, builder.extent_value(size)]
        if builder.graph.bits(value.node) == 1:
            value = operands[1]
        else:
            value = builder.graph.pointwise("arith.muli", "index", (), operands, ())
    return builder.extent_of(value)


def _sum(builder: GraphBuilder, sizes: Sequence[Extent]) -> Extent:
    """The sum of extents, the static ones first."""
    static = sum(size for size in sizes if isinstance(size, int))
    computed = [builder.extent_value(size) for size in sizes if not isinstance(size, int)]
    terms = [builder.extent_value(static), *computed] if static else computed
    if not terms:
        return static
    total = terms[0]
    for term in terms[1:]:
        total = builder.graph.pointwise("arith.addi", "index", (), (total, term), ())
    return builder.extent_of(total)


def _described(extent: Extent, scalars: list[Value]) -> Extent:
    """An extent as a node's attribute says it; a computed one becomes the k-th scalar operand of the node."""
    if isinstance(extent, int) or extent[0] != "value":
        return extent
    scalars.append(Value(extent[1], (), ()))
    return ("operand", len(scalars) - 1, 0)


def _sizes(builder: GraphBuilder, static: Sequence[int], dynamic: Iterator[SSAValue]) -> list[Extent]:
    return [builder.extent_of(builder.values[next(dynamic)]) if size == DYNAMIC_INDEX else size for size in static]


def _extract_slice(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, tensor.ExtractSliceOp)
    source = builder.values[op.source]
    offsets = _sizes(builder, op.static_offsets.get_values(), iter(op.offsets))
    sizes = _sizes(builder, op.static_sizes.get_values(), iter(op.sizes))
    strides = _sizes(builder, op.static_strides.get_values(), iter(op.strides))
    kept = _kept_axes(sizes, len(static_shape(op.result.type)))
    result = tuple(sizes[axis] for axis in kept)
    axes = {axis: kept.index(axis) if axis in kept else UNIT for axis in range(len(sizes))}
    scalars: list[Value] = []
    described: list[tuple[Extent, Extent, Extent, Extent]] = []
    fresh: list[int] = []
    for axis in range(len(sizes)):
        whole = offsets[axis] == 0 and strides[axis] == 1 and sizes[axis] == source.extents[axis]
        if whole or axis not in source.index:
            continue
        axes[axis] = BOUND + len(described)
        four = (source.extents[axis], offsets[axis], sizes[axis], strides[axis])
        extent, offset, size, stride = (_described(each, scalars) for each in four)
        described.append((extent, offset, size, stride))
        if sizes[axis] != 1:
            fresh.append(kept.index(axis))
    if not described:
        return [tensor_view(source.node, [UNIT if axis < 0 else axes[axis] for axis in source.index], result)]
    element_type = builder.element_type(op.result.type)
    attributes = (("axes", tuple(described)),)
    return [builder.structural("slice", element_type, attributes, [(source, axes)], fresh, result, scalars)]


def _kept_axes(sizes: Sequence[Extent], rank: int) -> list[int]:
    """Which axes a rank-reducing slice keeps: it drops unit axes, from the front as many as needed."""
    surplus = len(sizes) - rank
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        if size == 1 and surplus:
            surplus -= 1
        else:
            kept.append(axis)
    if surplus:
        raise UnsupportedError("a slice whose result drops an axis that is not of extent one")
    return kept


def _insert_slice(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, tensor.InsertSliceOp)
    source, target = builder.values[op.source], builder.values[op.dest]
    offsets = _sizes(builder, op.static_offsets.get_values(), iter(op.offsets))
    sizes = _sizes(builder, op.static_sizes.get_values(), iter(op.sizes))
    strides = _sizes(builder, op.static_strides.get_values(), iter(op.strides))
    kept = _kept_axes(sizes, len(source.extents))
    rank = len(sizes)
    if tuple(sizes) == target.extents and set(offsets) <= {0} and set(strides) <= {1}:  # nothing is left of the target
        return [tensor_view(source.node, [UNIT if axis < 0 else kept[axis] for axis in source.index], target.extents)]
    scalars: list[Value] = []
    described = tuple(
        tuple(_described(extent, scalars) for extent in (target.extents[a], offsets[a], sizes[a], strides[a]))
        for a in range(rank)
    )
    operands = [(source, {position: BOUND + axis for position, axis in enumerate(kept)})]
    if target.node != UNINITIALISED:
        operands.append((target, {axis: BOUND + rank + axis for axis in range(rank)}))
    attributes = (("axes", described), ("initialised", target.node != UNINITIALISED))
    element_type = builder.element_type(op.result.type)
    value = builder.structural("insert_slice", element_type, attributes, operands, range(rank), target.extents, scalars)
    return [tensor_view(value.node, range(rank), target.extents)]


def _insert(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    target = builder.values[op.operands[1]]
    scalars = [builder.values[op.operands[0]], *(builder.values[operand] for operand in op.operands[2:])]
    rank = len(target.extents)
    written = target.node != UNINITIALISED
    placed = [(target, {axis: BOUND + axis for axis in range(rank)})] if written else []
    lacking = [-1 if axis in target.index else extent for axis, extent in enumerate(target.extents)]
    described = tuple(_described(extent, scalars) for extent in lacking)
    attributes = (("axes", described), ("initialised", written))
    element_type = builder.element_type(op.results[0].type)
    value = builder.structural("insert", element_type, attributes, placed, range(rank), target.extents, scalars)
    return [tensor_view(value.node, range(rank), target.extents)]


def _concat(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, tensor.ConcatOp)
    axis = op.dim.value.data
    parts = [builder.values[operand] for operand in op.inputs]
    if len(parts) == 1:
        return parts
    scalars: list[Value] = []
    described = tuple(_described(part.extents[axis], scalars) for part in parts)
    known = static_shape(op.result.type)[axis]
    total = _sum(builder, [part.extents[axis] for part in parts]) if known is None else known
    extents = tuple(total if a == axis else parts[0].extents[a] for a in range(len(parts[0].extents)))
    operands = [
        (part, {a: BOUND + number if a == axis else a for a in range(len(extents))})
        for number, part in enumerate(parts)
    ]
    element_type = builder.element_type(op.result.type)
    return [builder.structural("concat", element_type, (("parts", described),), operands, [axis], extents, scalars)]


def _pad(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, tensor.PadOp)
    source = builder.values[op.source]
    low = _sizes(builder, op.static_low.get_values(), iter(op.low))
    high = _sizes(builder, op.static_high.get_values(), iter(op.high))
    shape = static_shape(op.result.type)
    result = tuple(
        _sum(builder, [source.extents[axis], low[axis], high[axis]]) if extent is None else extent
        for axis, extent in enumerate(shape)
    )
    padded = [axis for axis in range(len(shape)) if (low[axis], high[axis]) != (0, 0)]
    if not padded:
        return [source]
    block = op.region.block
    for axis, argument in enumerate(block.args):
        builder.values[argument] = index_value(builder, axis, result)
    for inner in list(block.ops)[:-1]:
        body_op(builder, inner, result)
    assert block.last_op is not None
    padding = builder.values[block.last_op.operands[0]]
    scalars: list[Value] = []
    described = tuple(
        tuple(_described(extent, scalars) for extent in (source.extents[a], low[a], high[a])) for a in padded
    )
    axes = {axis: BOUND + padded.index(axis) if axis in padded else axis for axis in range(len(shape))}
    operands = [(source, axes), (padding, {axis: axis for axis in range(len(shape))})]
    element_type = element_name(op.result.type)
    element_type = builder.substitution.get(element_type, element_type)
    return [builder.structural("pad", element_type, (("axes", described),), operands, padded, result, scalars)]


HANDLERS.update(
    {
        "tensor.empty": _empty,
        "tensor.splat": _splat,
        "tensor.dim": _dim,
        "tensor.cast": _cast,
        "tensor.extract": _extract,
        "tensor.from_elements": _from_elements,
        "tensor.expand_shape": _regroup,
        "tensor.collapse_shape": _regroup,
        "tensor.reshape": _reshape,
        "tensor.extract_slice": _extract_slice,
        "tensor.insert_slice": _insert_slice,
        "tensor.insert": _insert,
        "tensor.concat": _concat,
        "tensor.pad": _pad,
    }
)
