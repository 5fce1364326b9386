"""Sums of products of traced arrays: matrix products, dot products, tensor contractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xfuse.primitives.element_types import is_float
from xfuse.tracing.array import Array, Extent, function, same_extent, spell_shape
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import broadcast_shapes, view
from xfuse.tracing.promotion import promoted
from xfuse.tracing.reductions import one_axis, reduce


def contract(x: Array, y: Array, x_axes: Sequence[int | None], y_axes: Sequence[int | None], bound: int) -> Array:
    """Sum the products of two arrays over the last ``bound`` axes of a frame; ``x_axes`` and ``y_axes`` give for each
    axis of the frame the axis of the array that lies along it."""
    tracer = x.tracer
    left, right = view(x, x_axes), view(y, y_axes)
    shape = broadcast_shapes(left.shape, right.shape)
    kind = x.dtype
    multiply, combine = ("arith.mulf", "arith.addf") if is_float(kind) else ("arith.muli", "arith.addi")

    def body(values: list[SSAValue], _: object) -> SSAValue:
        product = tracer.op(multiply, values[:2], kind)
        return tracer.op(combine, [product, values[2]], kind)

    axes = range(len(shape) - bound, len(shape))
    return reduce([left, right], shape, axes, tracer.literal(0, kind), body, kind)


def _operands(name: str, x1: object, x2: object) -> tuple[Array, Array]:
    element_type, (x, y) = promoted(x1, x2)
    if element_type == "i1":
        fail(f"xp.{name} of truth values; convert them with xp.astype")
    return x, y


def _same(name: str, x: Array, y: Array, left: Extent, right: Extent) -> None:
    if not same_extent(left, right):
        fail(
            f"xp.{name} of arrays of shapes {spell_shape(x.shape)} and {spell_shape(y.shape)}: the summed axes are not "
            f"known to be equal, {spell_shape([left])[1:-2]} and {spell_shape([right])[1:-2]}"
        )


@function()
def matmul(x1: Any, x2: Any, /) -> Any:
    """The matrix product of the last two axes; an array of one axis is a row on the left, a column on the right."""
    x, y = _operands("matmul", x1, x2)
    if not x.ndim or not y.ndim:
        fail("xp.matmul of a scalar; use *")
    row, column = x.ndim > 1, y.ndim > 1
    _same("matmul", x, y, x.shape[-1], y.shape[-2 if column else -1])
    batch = max(x.ndim - 2, y.ndim - 2, 0)
    x_axes = [*_batch(x, batch), *([x.ndim - 2] if row else []), *([None] if column else []), x.ndim - 1]
    y_axes = [*_batch(y, batch), *([None] if row else []), *([y.ndim - 1] if column else [])]
    return contract(x, y, x_axes, [*y_axes, y.ndim - 2 if column else y.ndim - 1], 1)


def _batch(array: Array, count: int) -> list[int | None]:
    own = max(array.ndim - 2, 0)
    return [None] * (count - own) + list(range(own))


@function()
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of products along an axis; the other axes broadcast."""
    x, y = _operands("vecdot", x1, x2)
    one, other = one_axis(axis, x.ndim, "vecdot"), one_axis(axis, y.ndim, "vecdot")
    _same("vecdot", x, y, x.shape[one], y.shape[other])
    rank = max(x.ndim, y.ndim) - 1

    def axes(array: Array, summed: int) -> list[int | None]:
        kept = [a for a in range(array.ndim) if a != summed]
        return [*[None] * (rank - len(kept)), *kept, summed]

    return contract(x, y, axes(x, one), axes(y, other), 1)


@function()
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sum of products over the last ``axes`` of one and the first of the other, or over given axes of each."""
    x, y = _operands("tensordot", x1, x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            fail(f"xp.tensordot over {axes} axes of arrays of shapes {spell_shape(x.shape)} and {spell_shape(y.shape)}")
        axes = (list(range(x.ndim - axes, x.ndim)), list(range(axes)))
    one, other = ([each] if isinstance(each, int) else list(each) for each in axes)
    if len(one) != len(other):
        fail(f"xp.tensordot over {len(one)} axes of one array and {len(other)} of the other")
    left = [one_axis(axis, x.ndim, "tensordot") for axis in one]
    right = [one_axis(axis, y.ndim, "tensordot") for axis in other]
    for a, b in zip(left, right, strict=True):
        _same("tensordot", x, y, x.shape[a], y.shape[b])
    x_kept = [axis for axis in range(x.ndim) if axis not in left]
    y_kept = [axis for axis in range(y.ndim) if axis not in right]
    x_axes: list[int | None] = [*x_kept, *[None] * len(y_kept), *left]
    return contract(x, y, x_axes, [*[None] * len(x_kept), *y_kept, *right], len(left))


@function()
def dot(x1: Any, x2: Any, /) -> Any:
    """The sum of products over the last axis of one and the last but one, or only, of the other."""
    x, y = _operands("dot", x1, x2)
    if not x.ndim or not y.ndim:
        return x * y
    return tensordot(x, y, axes=([x.ndim - 1], [max(y.ndim - 2, 0)]))


@function()
def outer(x1: Any, x2: Any, /) -> Any:
    """All products of the elements of two arrays of one axis."""
    x, y = _operands("outer", x1, x2)
    if x.ndim != 1 or y.ndim != 1:
        fail(f"xp.outer of arrays of shapes {spell_shape(x.shape)} and {spell_shape(y.shape)}; they must have one axis")
    return view(x, [0, None]) * y
