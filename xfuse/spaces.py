"""Iteration spaces: the loops that one op runs along, and which axis of an operand or result lies along which.

Ops are read one by one, without a graph: this is what clustering and the cost model need of each op of a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from xdsl.dialects import linalg, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from xfuse.canonical.build import static_shape
from xfuse.primitives.table import PRIMITIVES
from xfuse_dialects.xfuse import FusedOp, YieldOp

Kind = Literal["elementwise", "reduce", "view", "contraction"]

NO_LOOP = -1
"""Where no loop runs along an axis: its extent is one, or the op does not read along it."""

Axes = tuple[int, ...]
Extents = tuple[int | None, ...]


class Space(NamedTuple):
    """The iteration space of one op.

    ``extents`` are those of the loops, None where dynamic. ``reads`` are the values that the op computes with, each
    with the loop along each of its axes; ``results`` says the same of the op's results. ``reduced`` are the loops that
    it reduces along. ``ops`` counts the scalar ops at each point, ``weight`` sums their costs, in additions.

    A ``view`` computes nothing: its result is its operand, laid out otherwise. A ``contraction`` sums products of two
    operands of which none runs along all loops, as a matrix product does.
    """

    kind: Kind
    extents: Extents
    reads: tuple[tuple[SSAValue, Axes], ...]
    results: tuple[Axes, ...]
    reduced: Axes = ()
    ops: int = 0
    weight: float = 0.0


def space_of(op: Operation) -> Space | None:
    """The iteration space of an op on tensors, or None for one that is not point-wise, a reduction or a view."""
    results = op.results
    for result in results:
        if not isinstance(result.type, TensorType):
            return None
    primitive = PRIMITIVES.get(op.name)
    if primitive is not None:
        (first, *_) = results
        shape, axes = _shape_and_axes(first.type)
        reads = tuple([(each, axes if isinstance(each.type, TensorType) else ()) for each in op.operands])
        return Space("elementwise", shape, reads, (axes,) * len(results), (), 1, primitive.cost)
    if not results:
        return None
    match op:
        case linalg.ops.TransposeOp():
            shape = static_shape(op.results[0].type)
            permutation = op.permutation.get_values()
            along = _along(shape)
            axes = tuple(along[permutation.index(axis)] for axis in range(len(shape)))
            return _view(op.inputs[0], axes, shape)
        case linalg.ops.BroadcastOp():
            shape = static_shape(op.results[0].type)
            added, along = op.dimensions.get_values(), _along(shape)
            return _view(op.input, tuple(along[axis] for axis in range(len(shape)) if axis not in added), shape)
        case linalg.ops.FillOp() | tensor.SplatOp():
            return _view(op.operands[0], (), static_shape(op.results[0].type))
        case tensor.CastOp():
            return _cast(op)
        case tensor.ExpandShapeOp() | tensor.CollapseShapeOp():
            return _unit_reshape(op)
        case linalg.ops.ReduceOp():
            rank = len(static_shape(op.input.type))
            reduced = tuple(op.dimensions.get_values())
            kept = AffineMap(rank, 0, tuple(AffineDimExpr(axis) for axis in range(rank) if axis not in reduced))
            return _loops(op, [AffineMap.identity(rank), kept], reduced, [op.input, op.init], 1)
        case LinalgStructuredOperation():
            maps = [each.data for each in op.get_indexing_maps().data]
            reduced = tuple(k for k, each in enumerate(op.get_iterator_types().data) if str(each.data) == "reduction")
            return _loops(op, maps, reduced, [*op.inputs, *op.outputs], len(op.inputs))
        case _:
            return None


@lru_cache(maxsize=4096)
def _shape_and_axes(type_: Attribute) -> tuple[Extents, Axes]:
    shape = static_shape(type_)
    return shape, _along(shape)


def _along(shape: Extents) -> Axes:
    return tuple(NO_LOOP if extent == 1 else axis for axis, extent in enumerate(shape))


def _view(source: SSAValue, axes: Axes, shape: Extents) -> Space:
    return Space("view", shape, ((source, axes),), (_along(shape),))


def _cast(op: tensor.CastOp) -> Space | None:
    shapes = static_shape(op.source.type), static_shape(op.dest.type)
    if len(shapes[0]) != len(shapes[1]):  # from or to a tensor without a rank
        return None
    shape = tuple(a if b is None else b for a, b in zip(*shapes, strict=True))
    return _view(op.source, _along(shape), shape)


def _unit_reshape(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> Space | None:
    """A reshape that adds or drops axes of extent one; None for a real one."""
    source, result = static_shape(op.operands[0].type), static_shape(op.results[0].type)
    groups = [[each.value.data for each in group.data] for group in op.reassociation.data]
    axes = [NO_LOOP] * len(source)
    for number, group in enumerate(groups):
        if isinstance(op, tensor.ExpandShapeOp):
            wide = [axis for axis in group if result[axis] != 1]
            pairs = [(number, axis) for axis in wide]
        else:
            wide = [axis for axis in group if source[axis] != 1]
            pairs = [(axis, number) for axis in wide]
        if len(wide) > 1:
            return None
        for own, other in pairs:
            if source[own] != result[other]:
                return None
            axes[own] = other
    return _view(op.operands[0], tuple(axes), result)


def _loops(
    op: Operation, maps: Sequence[AffineMap], reduced: Axes, operands: Sequence[SSAValue], inputs: int
) -> Space | None:
    block = op.regions[0].block
    shapes = [static_shape(each.type) for each in operands]
    extents: list[int | str | None] = ["unknown"] * maps[0].num_dims
    for map_, shape in zip(maps, shapes, strict=True):
        seen: set[int] = set()
        for result, extent in zip(map_.results, shape, strict=True):
            if isinstance(result, AffineDimExpr) and result.position not in seen:
                seen.add(result.position)
                if extents[result.position] in ("unknown", None):
                    extents[result.position] = extent
            elif not (isinstance(result, AffineConstantExpr) and result.value == 0 and extent == 1):
                return None
    known = tuple(each for each in extents if not isinstance(each, str))
    if len(known) != len(extents):
        return None
    axes = [
        tuple(
            each.position if isinstance(each, AffineDimExpr) and known[each.position] != 1 else NO_LOOP
            for each in map_.results
        )
        for map_ in maps
    ]
    body = _body(block)
    if body is None:
        return None
    count, weight, captured = body
    results = tuple(axes[inputs:])
    wide = tuple(loop for loop in reduced if known[loop] != 1)
    if any(set(each) & set(wide) for each in results):
        return None
    reads = [(value, own) for value, own, argument in zip(operands, axes, block.args, strict=True) if argument.uses]
    reads += [(value, ()) for value in captured]
    if reduced:
        if not all(_combines(block, inputs + number) for number in range(len(results))):
            return None
        kind: Kind = "contraction" if _is_product(block, axes, inputs, len(known)) else "reduce"
        return Space(kind, known, tuple(reads), results, wide, count, weight)
    view = not count and len(results) == 1
    return Space("view" if view else "elementwise", known, tuple(reads), results, (), count, weight)


def _body(block: Block) -> tuple[int, float, list[SSAValue]] | None:
    """Scalar ops of a body, their weight, and the scalars that it captures; None if it does anything else."""
    count, weight = 0, 0.0
    captured: dict[SSAValue, None] = {}
    for op in block.ops:
        primitive = PRIMITIVES.get(op.name)
        if primitive is not None:
            count += 1
            weight += primitive.cost
        elif isinstance(op, FusedOp):
            inner = _body(op.body.block)
            if inner is None or op.shapes:
                return None
            count += inner[0]
            weight += inner[1]
        elif op.name != "arith.constant" and op.name != "linalg.yield" and not isinstance(op, YieldOp):
            return None
        for operand in op.operands:
            owner = operand.owner
            if (owner if isinstance(owner, Block) else owner.parent) is not block:
                if isinstance(operand.type, TensorType):
                    return None
                captured[operand] = None
    return count, weight, list(captured)


def _combines(block: Block, position: int) -> bool:
    """Whether an output is reduced by one commutative op of its accumulator and a value free of accumulators."""
    accumulator, last = block.args[position], block.last_op
    assert last is not None
    root = last.operands[position - (len(block.args) - len(last.operands))]
    op = root.owner
    if not isinstance(op, Operation) or op.parent is not block:
        return False
    primitive = PRIMITIVES.get(op.name)
    if primitive is None or not primitive.commutative or len(op.operands) != 2 or len(op.results) != 1:
        return False
    alone = [use.operation for use in accumulator.uses] == [op] and len(list(root.uses)) == 1
    return alone and accumulator in op.operands


def _is_product(block: Block, axes: Sequence[Axes], inputs: int, loops: int) -> bool:
    """Whether a reduction sums products of two operands that do not both run along all loops."""
    last = block.last_op
    assert last is not None
    combine = last.operands[0].owner
    assert isinstance(combine, Operation)
    if inputs < 2 or combine.name not in ("arith.addf", "arith.addi"):
        return False
    for operand in combine.operands:
        product = operand.owner
        if not isinstance(product, Operation) or product.name not in ("arith.mulf", "arith.muli"):
            continue
        factors = [_through_casts(each) for each in product.operands]
        read = {each.index for each in factors if isinstance(each, BlockArgument) and each.index < inputs}
        if len(read) == 2:
            return any(len({axis for axis in axes[each] if axis >= 0}) < loops for each in read)
    return False


def _through_casts(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, Operation) and value.owner.name in ("arith.extf", "arith.extsi", "arith.truncf"):
        value = value.owner.operands[0]
    return value
