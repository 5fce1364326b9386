"""Cumulative sums and products of traced arrays, as loops that carry values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import Block, SSAValue

from xfuse.primitives.element_types import is_float
from xfuse.tracing.array import Array, Extent, function, is_unit, spell_shape
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import dense, empty, extent_value, extracted, tensor_type
from xfuse.tracing.pointwise import apply
from xfuse.tracing.promotion import convert, target_type
from xfuse.tracing.reductions import one_axis


@function(eager=np.cumsum)
def cumulative_sum(x: Any, /, axis: int | None = None, dtype: Any = None) -> Any:
    """The sums of all elements up to each along an axis, in order from 0."""
    return _cumulative(x, axis, dtype, "cumulative_sum", 0, "arith.addf", "arith.addi")


@function(eager=np.cumprod)
def cumulative_prod(x: Any, /, axis: int | None = None, dtype: Any = None) -> Any:
    """The products of all elements up to each along an axis, in order from 1."""
    return _cumulative(x, axis, dtype, "cumulative_prod", 1, "arith.mulf", "arith.muli")


def _cumulative(
    x: Array, axis: int | None, dtype: Any, name: str, neutral: int, float_op: str, integer_op: str
) -> Array:
    if dtype is not None:
        x = convert(x, target_type(x.tracer, dtype))
    if x.dtype in ("i1", "index"):
        x = convert(x, "i64")
    if axis is None:
        if x.ndim != 1:
            fail(f"xp.{name} of an array of shape {spell_shape(x.shape)}: say along which axis")
        axis = 0
    along = one_axis(axis, x.ndim, name)
    op = float_op if is_float(x.dtype) else integer_op
    start = x.tracer.literal(neutral, x.dtype)
    x = dense(x)
    if all(is_unit(extent) for position, extent in enumerate(x.shape) if position != along):
        return _scalars(x, along, start, op)
    return _slices(x, along, start, op)


_Body = Callable[[SSAValue, SSAValue, SSAValue], tuple[SSAValue, SSAValue]]
"""From a position, the total and the result so far to the next total and result."""


def _loop(x: Array, extent: Extent, carried: SSAValue, body: _Body) -> Array:
    """Carry a total and the result over the positions along an axis."""
    tracer = x.tracer
    bounds = [tracer.index(0), extent_value(tracer, extent), tracer.index(1)]
    target = empty(tracer, x.shape, x.dtype)
    block = Block(arg_types=[IndexType(), carried.type, target.type])
    position, total, result = block.args
    with tracer.inside(block):
        block.add_op(scf.YieldOp(*body(position, total, result)))
    op = scf.ForOp(bounds[0], bounds[1], bounds[2], [carried, target], block)
    tracer.add(op)
    return Array(tracer, op.results[1], x.dtype, x.shape, range(x.ndim))


def _scalars(x: Array, along: int, start: SSAValue, op: str) -> Array:
    tracer, zero = x.tracer, x.tracer.index(0)

    def body(position: SSAValue, total: SSAValue, result: SSAValue) -> tuple[SSAValue, SSAValue]:
        at = [position if axis == along else zero for axis in range(x.ndim)]
        value = tracer.op(op, [total, extracted(x, at)], x.dtype)
        return value, tracer.add(tensor.InsertOp(value, result, at))

    return _loop(x, x.shape[along], start, body)


def _slices(x: Array, along: int, start: SSAValue, op: str) -> Array:
    tracer = x.tracer
    shape: list[Extent] = [1 if axis == along else extent for axis, extent in enumerate(x.shape)]
    kind = tensor_type(shape, x.dtype)
    steps = [1] * x.ndim
    sizes = [extent if isinstance(extent, int) else extent.value for extent in shape]
    begin = dense(Array(tracer, start, x.dtype, shape))

    def body(position: SSAValue, total: SSAValue, result: SSAValue) -> tuple[SSAValue, SSAValue]:
        offsets = [position if axis == along else 0 for axis in range(x.ndim)]
        row = tracer.add(tensor.ExtractSliceOp(x.value, offsets, sizes, steps, kind))
        every = range(x.ndim)
        value = dense(
            apply(op, Array(tracer, total, x.dtype, shape, every), Array(tracer, row, x.dtype, shape, every))
        ).value
        return value, tracer.add(_insert_slice(value, result, along, position, sizes))

    return _loop(x, x.shape[along], begin.value, body)


def _insert_slice(
    source: SSAValue, target: SSAValue, along: int, position: SSAValue, sizes: Sequence[SSAValue | int]
) -> tensor.InsertSliceOp:
    rank = len(sizes)
    return tensor.InsertSliceOp.get(
        source,
        target,
        static_offsets=[DYNAMIC_INDEX if axis == along else 0 for axis in range(rank)],
        static_sizes=[size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes],
        static_strides=[1] * rank,
        offsets=[position],
        sizes=[size for size in sizes if not isinstance(size, int)],
    )
