"""Element-wise recipes: copies of their ops on scalars, or in the body of one generic per result on tensors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xfuse.canonical.build import element_name, static_shape
from xfuse.emission.generics import PARALLEL, Generic, dim, empty
from xfuse.emission.scalars import type_named
from xfuse.errors import DecomposeError
from xfuse.primitives import literals
from xfuse.primitives.element_types import width
from xfuse.recipes import Recipe
from xfuse_dialects.xfuse import FusedOp, YieldOp


def on_scalars(
    recipe: Recipe, element_type: str | None, inputs: Sequence[SSAValue]
) -> tuple[list[Operation], list[SSAValue]]:
    """Copies of a recipe's ops at an element type, on scalars: literals rounded, casts between equal types gone.

    A recipe that accumulates at a wider type is computed at that one.
    """
    written, wide = recipe.written_type, recipe.accumulator
    narrow = element_type
    if element_type is not None and wide is not None and width(wide) > width(element_type):
        element_type = wide
    new = None if element_type is None or written is None else type_named(element_type)
    block = recipe.op.body.block
    ops: list[Operation] = []
    mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, inputs, strict=True))

    def cast(kind: type[arith.ExtFOp | arith.TruncFOp], written_value: SSAValue, type_: Attribute) -> SSAValue:
        value = mapping[written_value]
        if narrow == element_type or element_name(written_value.type) != written:
            return value
        op = kind.create(operands=[value], result_types=[type_])
        ops.append(op)
        return op.results[0]

    if new is not None:
        slots = recipe.scalar_slots
        mapping.update((a, cast(arith.ExtFOp, a, new)) for n, a in enumerate(block.args) if n not in slots)
    last = block.last_op
    assert last is not None
    pending = [op for op in reversed(list(block.ops)) if op is not last]
    while pending:
        op = pending.pop()
        if isinstance(op, FusedOp):  # a nested one is its region
            inner = op.body.block
            mapping.update((argument, mapping[v]) for argument, v in zip(inner.args, op.operands, strict=True))
            pending.extend(reversed(list(inner.ops)))
            continue
        if isinstance(op, YieldOp):
            nested = op.parent_op()
            assert nested is not None
            mapping.update((result, mapping[v]) for result, v in zip(nested.results, op.operands, strict=True))
            continue
        clone = op.clone_without_regions(mapping) if not op.regions else op.clone(mapping)
        if new is None or written is None:
            ops.append(clone)
            continue
        for old_result, result in zip(op.results, clone.results, strict=True):
            if element_name(old_result.type) == written:
                result._type = new  # pyright: ignore[reportPrivateUsage] -- xDSL has no setter
        if isinstance(clone, arith.ConstantOp) and element_name(op.results[0].type) == written:
            clone = arith.ConstantOp(_rounded(recipe, clone.value, element_name(new), new))
            mapping[op.results[0]] = clone.result
        if isinstance(clone, arith.ExtFOp | arith.TruncFOp):
            source = clone.operands[0]
            before, after = element_name(source.type), element_name(clone.results[0].type)
            kind = arith.ExtFOp if width(after) > width(before) else arith.TruncFOp
            if before == after:
                mapping[op.results[0]] = source
                clone.erase()
                continue
            if clone.name != kind.name:  # a cast to the written type may widen, to a narrower one it may not
                type_, attributes = clone.results[0].type, clone.attributes
                clone.erase()
                clone = kind.create(operands=[source], result_types=[type_], attributes=attributes)
                mapping[op.results[0]] = clone.results[0]
        ops.append(clone)
    if narrow is None or new is None:
        return ops, [mapping[value] for value in last.operands]
    return ops, [cast(arith.TruncFOp, value, type_named(narrow)) for value in last.operands]


def _rounded(
    recipe: Recipe, value: Attribute, element_type: str, type_: Attribute
) -> FloatAttr[AnyFloat] | IntegerAttr[IntegerType]:
    """A literal at another element type: rounded once if it is a float, else its low bits."""
    if isinstance(value, FloatAttr) and isinstance(type_, AnyFloat):
        bits = literals.to_bits(value.value.data, element_type)
        return FloatAttr(float(literals.from_bits(bits, element_type)), type_)
    if isinstance(value, IntegerAttr):
        return IntegerAttr(value.value.data, width(element_type), truncate_bits=True)
    raise DecomposeError(f"recipe @{recipe.name}: the literal {value} cannot follow another element type")


def on_tensors(
    recipe: Recipe, element_type: str | None, inputs: Sequence[SSAValue]
) -> tuple[list[Operation], list[SSAValue]]:
    """One generic per result, over the loops that the operands broadcast to."""
    shapes = [static_shape(value.type) for value in inputs]
    rank = max(map(len, shapes))
    ops: list[Operation] = []
    found = [_extent(recipe, inputs, shapes, axis - rank) for axis in range(rank)]
    extents = [extent if isinstance(extent, int) else dim(*extent, ops) for extent in found]
    maps = [_map(own, [extent == 1 for extent in extents]) for own in shapes]
    results: list[SSAValue] = []
    for number, name in enumerate(recipe.signature(element_type)[1]):
        out = empty(type_named(name), extents, ops)
        generic = Generic([PARALLEL] * rank)
        own = [generic.read(value, map_) for value, map_ in zip(inputs, maps, strict=True)]
        generic.output(type_named(name))
        body, values = on_scalars(recipe, element_type, own)
        for op in _cone(body, values[number]):
            generic.add(op)
        made = generic.finish([out], [AffineMap.identity(rank)], [values[number]])
        ops.append(made)
        results.append(made.results[0])
    return ops, results


def _extent(
    recipe: Recipe, inputs: Sequence[SSAValue], shapes: Sequence[Sequence[int | None]], axis: int
) -> int | tuple[SSAValue, int]:
    """One extent of the results, the last being -1: static if any operand has it so, else an axis of an operand."""
    static: int | None = None
    source: tuple[SSAValue, int] | None = None
    for value, shape in zip(inputs, shapes, strict=True):
        if axis < -len(shape):
            continue
        extent = shape[axis]
        if extent is None:
            source = source or (value, axis + len(shape))
        elif extent != 1:
            if static not in (None, extent):
                spelled = ", ".join(str(each.type) for each in inputs)
                raise DecomposeError(
                    f"recipe @{recipe.name} cannot be emitted on shapes that do not broadcast: {spelled}"
                )
            static = extent
    if static is not None or source is None:
        return 1 if static is None else static
    return source


def _map(own: Sequence[int | None], units: Sequence[bool]) -> AffineMap:
    rank = len(units)
    offset = rank - len(own)
    results = tuple(
        AffineExpr.constant(0) if extent == 1 and not units[offset + axis] else AffineExpr.dimension(offset + axis)
        for axis, extent in enumerate(own)
    )
    return AffineMap(rank, 0, results)


def _cone(ops: Sequence[Operation], result: SSAValue) -> list[Operation]:
    own, needed = set(ops), set[Operation]()
    stack = [result.owner]
    while stack:
        owner = stack.pop()
        if isinstance(owner, Operation) and owner in own and owner not in needed:
            needed.add(owner)
            stack.extend(operand.owner for operand in owner.operands)
    for op in reversed(ops):
        if op not in needed:
            op.erase()
    return [op for op in ops if op in needed]
