"""Reading traced arrays at computed places, and parts of arrays put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import tensor
from xdsl.ir import SSAValue

from xfuse.tracing.array import Array, Extent, function, is_unit, same_extent, spell_shape, tracer_of
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import (
    Index,
    broadcast_shapes,
    covered,
    dense,
    extent_value,
    extracted,
    nest,
    tensor_type,
    view,
)
from xfuse.tracing.promotion import any_array, as_array, common_type, convert, is_float_like, is_integer, operand
from xfuse.tracing.reductions import Axis, axes_of, listed, one_axis
from xfuse.tracing.reshaping import ravel, reshape
from xfuse.tracing.tracer import Tracer
from xfuse.tracing.views import expand_dims, shape_of


@function()
def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Any:
    """Arrays one after the other along an axis; with None, their elements."""
    tracer = tracer_of(*arrays)
    element_type = common_type(tracer, [operand(each) for each in arrays])
    parts = [as_array(tracer, operand(each), element_type) for each in arrays]
    if axis is None:
        parts, axis = [ravel(each) for each in parts], 0
    rank = parts[0].ndim
    if not rank or any(each.ndim != rank for each in parts):
        spelled = ", ".join(spell_shape(each.shape) for each in parts)
        fail(f"xp.concat of arrays of shapes {spelled}; they must have the same number of axes, at least one")
    along = one_axis(axis, rank, "concat")
    total: Any = parts[0].shape[along]
    for each in parts[1:]:
        total = total + each.shape[along]
        for other in range(rank):
            if other != along and not same_extent(each.shape[other], parts[0].shape[other]):
                fail(
                    f"xp.concat along axis {along} of arrays of shapes {spell_shape(parts[0].shape)} and "
                    f"{spell_shape(each.shape)}, which differ along axis {other}"
                )
    if len(parts) == 1:
        return parts[0]
    shape = [total if position == along else extent for position, extent in enumerate(parts[0].shape)]
    values = [dense(each).value for each in parts]
    value = tracer.add(tensor.ConcatOp(values, along, tensor_type(shape, element_type)))
    return Array(tracer, value, element_type, shape, range(rank))


@function()
def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Any:
    """Arrays of one shape along a new axis."""
    tracer = tracer_of(*arrays)
    return concat([expand_dims(any_array(each, tracer), axis) for each in arrays], axis=axis)


# Reading elsewhere


Place = Callable[[list[SSAValue], Index], SSAValue]
"""From the operands' scalars at a point, and its index along any axis, to an index."""


def gather(
    x: Array,
    frame: Sequence[Extent],
    operands: Sequence[Array],
    at: Sequence[int | Place],
    element_axes: Sequence[int] = (),
) -> Array:
    """The elements of an array over a frame: its axis ``k`` is read at the frame's axis ``at[k]``, or at the index that
    ``at[k]`` computes from the operands' scalars. Loops run along ``element_axes`` where the array varies."""
    tracer = x.tracer
    read = [at[axis] for axis in covered(x)]
    axes = {place for place in read if isinstance(place, int)} | set(element_axes)

    def body(values: list[SSAValue], index: Index) -> SSAValue:
        places: list[SSAValue] = []
        for place in x.places:
            where = None if place is None else at[place]
            if where is None:
                places.append(tracer.index(0))
            else:
                places.append(index(where) if isinstance(where, int) else where(values, index))
        return extracted(x, places)

    return nest(tracer, operands, frame, x.dtype, body, axes=axes)


@function()
def flip(x: Any, /, axis: Axis = None) -> Any:
    """The order reversed along axes."""
    tracer = x.tracer
    flipped = [each for each in axes_of(x, axis, "flip") if each in covered(x)]
    if not flipped:
        return x
    at: list[Any] = list(range(x.ndim))
    for each in flipped:
        last = x.shape[each] - 1
        end = extent_value(tracer, last)
        at[each] = _from_end(tracer, end, each)
    return gather(x, x.shape, [], at, flipped)


def _from_end(tracer: Tracer, end: SSAValue, axis: int) -> Place:
    return lambda _, index: tracer.op("arith.subi", [end, index(axis)], "index")


@function()
def roll(x: Any, /, shift: Any, axis: Any = None) -> Any:
    """The elements moved along axes, those that leave at the end coming in at the front."""
    if axis is None:
        return roll(ravel(x), shift, 0) if x.ndim == 1 else reshape(roll(ravel(x), shift, 0), x.shape)
    if isinstance(axis, Sequence):
        along_each, shifts = listed(axis), listed(shift)
        if len(shifts) not in (1, len(along_each)):
            fail(f"xp.roll: {len(shifts)} shifts for {len(along_each)} axes")
        for number, each in enumerate(along_each):
            x = roll(x, shifts[number % len(shifts)], each)
        return x
    along = one_axis(axis, x.ndim, "roll")
    if along not in covered(x):
        return x
    tracer = x.tracer
    (amount,) = shape_of(shift, "roll")
    by, extent = extent_value(tracer, amount), extent_value(tracer, x.shape[along])

    def place(_: list[SSAValue], index: Index) -> SSAValue:
        moved = tracer.op("arith.subi", [index(along), by], "index")
        rest = tracer.op("arith.remsi", [moved, extent], "index")
        return tracer.op("arith.remsi", [tracer.op("arith.addi", [rest, extent], "index"), extent], "index")

    at: list[Any] = list(range(x.ndim))
    at[along] = place
    return gather(x, x.shape, [], at, [along])


@function()
def take(x: Any, indices: Any, /, axis: int | None = None) -> Any:
    """The elements at indices along an axis, which must lie in 0 .. n - 1; without an axis, of all elements."""
    tracer = tracer_of(x, indices)
    if axis is None:
        x, axis = ravel(x), 0
    along = one_axis(axis, x.ndim, "take")
    chosen = _indices(indices, tracer, "take")
    frame = [*x.shape[:along], *chosen.shape, *x.shape[along + 1 :]]
    at: list[Any] = [position if position < along else position + chosen.ndim - 1 for position in range(x.ndim)]
    at[along] = _chosen
    behind = view(chosen, [*range(chosen.ndim), *[None] * (x.ndim - along - 1)])
    return gather(x, frame, [behind], at)


@function()
def take_along_axis(x: Any, indices: Any, /, axis: int = -1) -> Any:
    """The elements at an index of their own along an axis; the other axes broadcast."""
    tracer = tracer_of(x, indices)
    chosen = _indices(indices, tracer, "take_along_axis")
    if chosen.ndim != x.ndim:
        fail(
            f"xp.take_along_axis: indices of shape {spell_shape(chosen.shape)} for an array of shape "
            f"{spell_shape(x.shape)}, which must have as many axes"
        )
    along = one_axis(axis, x.ndim, "take_along_axis")
    others = [1 if position == along else extent for position, extent in enumerate(x.shape)]
    frame = broadcast_shapes(others, chosen.shape)
    at: list[Any] = list(range(x.ndim))
    at[along] = _chosen
    return gather(x, frame, [chosen], at)


def _chosen(values: list[SSAValue], _: Index) -> SSAValue:
    return values[0]


def _indices(indices: Any, tracer: Any, name: str) -> Array:
    given = operand(indices)
    kind = common_type(tracer, [given])
    if not isinstance(given, Array) and not is_float_like(given):
        kind = "i64"
    chosen = as_array(tracer, given, kind)
    if not is_integer(chosen.dtype):
        fail(f"xp.{name}: indices must be integers, got {chosen.dtype}")
    return convert(chosen, "index")


# Triangles


@function()
def tril(x: Any, /, *, k: int = 0) -> Any:
    """x where the column is at most the row plus k, else 0."""
    return _triangle(x, k, "tril", "sle")


@function()
def triu(x: Any, /, *, k: int = 0) -> Any:
    """x where the column is at least the row plus k, else 0."""
    return _triangle(x, k, "triu", "sge")


def _triangle(x: Array, k: Any, name: str, predicate: str) -> Array:
    if x.ndim < 2:
        fail(f"xp.{name} of an array of shape {spell_shape(x.shape)}, which is no matrix")
    tracer = x.tracer
    (diagonal,) = shape_of(k, name)
    bound, zero = extent_value(tracer, diagonal), tracer.literal(0, x.dtype)
    row, column = x.ndim - 2, x.ndim - 1

    def body(values: list[SSAValue], index: Index) -> SSAValue:
        down, right = index(row), index(column)
        keep = tracer.compare(predicate, tracer.op("arith.subi", [right, down], "index"), bound, "index")
        return tracer.op("arith.select", [keep, values[0], zero], x.dtype)

    return nest(tracer, [x], x.shape, x.dtype, body, axes=[a for a in (row, column) if not is_unit(x.shape[a])])
