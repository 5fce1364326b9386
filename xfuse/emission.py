"""Emitting a recipe as plain ops on given values: instantiation at concrete types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ShapedType,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xfuse.canonical.build import element_name, static_shape
from xfuse.errors import DecomposeError
from xfuse.primitives import literals
from xfuse.primitives.element_types import width
from xfuse.recipes import Recipe, spell_dtypes

_FLOAT_TYPES: dict[str, Attribute] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}


def type_named(element_type: str) -> Attribute:
    """The xDSL type of an element type name."""
    if element_type in _FLOAT_TYPES:
        return _FLOAT_TYPES[element_type]
    return IndexType() if element_type == "index" else IntegerType(int(element_type[1:]))


@dataclass(frozen=True)
class Emitted:
    """Ops, not yet inserted anywhere, and the values among their results that are the recipe's results."""

    ops: list[Operation]
    results: list[SSAValue]


def emit(recipe: Recipe, inputs: Sequence[SSAValue]) -> Emitted:
    """A recipe as plain ops on some values: scalars, or tensors that broadcast as NumPy arrays do.

    On scalars the ops are the recipe's own; on tensors each result is one ``linalg.generic``. Extents that are dynamic
    in several operands are taken to be equal. Raises `DecomposeError` for a wrong number of inputs, types that the
    recipe is not for, or shapes that do not broadcast.
    """
    if not recipe.is_scalar:
        raise DecomposeError(f"recipe @{recipe.name} has core dimensions; only element-wise recipes can be emitted")
    for value in inputs:
        if isinstance(value.type, ShapedType) and not isinstance(value.type, TensorType):
            raise DecomposeError(f"recipe @{recipe.name} is emitted on scalars and ranked tensors, not on {value.type}")
    element_type = _element_type(recipe, inputs)
    if any(isinstance(value.type, TensorType) for value in inputs):
        return _on_tensors(recipe, element_type, inputs)
    return Emitted(*body_ops(recipe, element_type, inputs))


def try_emit(recipe: Recipe, inputs: Sequence[SSAValue]) -> Emitted | DecomposeError:
    """`emit`, with the error as a value."""
    try:
        return emit(recipe, inputs)
    except DecomposeError as error:
        return error


def _element_type(recipe: Recipe, inputs: Sequence[SSAValue]) -> str | None:
    if len(inputs) != len(recipe.argument_types):
        raise DecomposeError(f"recipe @{recipe.name} takes {len(recipe.argument_types)} inputs, got {len(inputs)}")
    given = tuple(element_name(value.type) for value in inputs)
    for element_type in recipe.uses:
        if recipe.signature(element_type)[0] == given:
            return element_type
    known = "; ".join(spell_dtypes(*recipe.signature(each)) for each in recipe.uses)
    raise DecomposeError(f"recipe @{recipe.name} cannot take ({', '.join(given)}); it has {known}")


def body_ops(
    recipe: Recipe, element_type: str | None, inputs: Sequence[SSAValue]
) -> tuple[list[Operation], list[SSAValue]]:
    """Copies of a recipe's ops at an element type, on scalars: literals rounded, casts between equal types gone."""
    written = recipe.written_type
    new = None if element_type is None or written is None else type_named(element_type)
    block = recipe.op.body.block
    mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, inputs, strict=True))
    ops: list[Operation] = []
    for op in block.ops:
        if op is block.last_op:
            break
        clone = op.clone_without_regions(mapping) if not op.regions else op.clone(mapping)
        if new is None or written is None:
            ops.append(clone)
            continue
        for old_result, result in zip(op.results, clone.results, strict=True):
            if element_name(old_result.type) == written:
                result._type = new  # pyright: ignore[reportPrivateUsage]
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
    last = block.last_op
    assert last is not None
    return ops, [mapping[value] for value in last.operands]


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


def _on_tensors(recipe: Recipe, element_type: str | None, inputs: Sequence[SSAValue]) -> Emitted:
    shapes = [static_shape(value.type) for value in inputs]
    rank = max(map(len, shapes))
    ops: list[Operation] = []
    extents = [_extent(recipe, inputs, shapes, axis - rank) for axis in range(rank)]
    extents = [extent if isinstance(extent, int) else _dim(*extent, ops) for extent in extents]
    shape = [extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in extents]
    dynamic = [extent for extent in extents if not isinstance(extent, int)]
    maps = [AffineMapAttr(_map(own, shape, rank)) for own in shapes]
    identity = AffineMapAttr(AffineMap.identity(rank))
    results: list[SSAValue] = []
    element_types = recipe.signature(element_type)[1]
    tensors = [value for value in inputs if isinstance(value.type, TensorType)]
    tensor_maps = [m for m, value in zip(maps, inputs, strict=True) if isinstance(value.type, TensorType)]
    for number, name in enumerate(element_types):
        result_type = TensorType(type_named(name), shape)
        empty = tensor.EmptyOp(dynamic, result_type)
        block = Block(arg_types=[type_named(element_name(value.type)) for value in tensors] + [type_named(name)])
        scalars = iter(block.args)
        own = [next(scalars) if isinstance(value.type, TensorType) else value for value in inputs]
        body, values = body_ops(recipe, element_type, own)
        block.add_ops(_cone(body, values[number]))
        block.add_op(LinalgYieldOp(values[number]))
        generic = GenericOp(
            tensors,
            [empty.tensor],
            Region(block),
            ArrayAttr([*tensor_maps, identity]),
            ArrayAttr([IteratorTypeAttr.parallel()] * rank),
            [result_type],
        )
        ops += [empty, generic]
        results.append(generic.results[0])
    return Emitted(ops, results)


def _extent(
    recipe: Recipe, inputs: Sequence[SSAValue], shapes: Sequence[Sequence[int | None]], axis: int
) -> int | tuple[SSAValue, int]:
    """One extent of the result, the last being -1: static if any operand has it so, else an axis of an operand."""
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


def _dim(value: SSAValue, axis: int, ops: list[Operation]) -> SSAValue:
    position = arith.ConstantOp(IntegerAttr(axis, IndexType()))
    dim = tensor.DimOp(value, position.result)
    ops += [position, dim]
    return dim.result


def _map(own: Sequence[int | None], shape: Sequence[int], rank: int) -> AffineMap:
    offset = rank - len(own)
    results = tuple(
        AffineExpr.constant(0) if extent == 1 and shape[offset + axis] != 1 else AffineExpr.dimension(offset + axis)
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
