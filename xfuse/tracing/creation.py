"""Arrays that are made while tracing: counters and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xfuse.tracing.array import FUNCTIONS, Array, Extent, function, symbol_of, tracer_of
from xfuse.tracing.gathering import stack
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import Index, broadcast_view, nest
from xfuse.tracing.promotion import any_array, convert, operand, target_type
from xfuse.tracing.reductions import listed
from xfuse.tracing.tracer import Tracer
from xfuse.tracing.views import shape_of


def iota(tracer: Tracer, extent: Extent) -> Array:
    """0, 1, 2, … of type index."""

    def body(_: list[SSAValue], index: Index) -> SSAValue:
        return index(0)

    return nest(tracer, [], (extent,), "index", body, axes=[] if symbol_of(extent).constant == 1 else [0])


@function(creates=True)
def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    """Integers from ``start`` below ``stop``, or from 0 below ``start``. Bounds may come from extents.

    Their type is ``index``, which becomes that of whatever they meet.
    """
    tracer = tracer_of(start, stop, step)
    low, high = (0, start) if stop is None else (start, stop)
    bounds: list[Any] = list(shape_of((low, high, step), "arange"))
    low, high, step = bounds
    if not isinstance(step, int) or step <= 0:
        fail(f"xp.arange: the step must be a positive integer, got {step!r}")
    distance = high if isinstance(low, int) and low == 0 else high - low
    count = distance if step == 1 else (distance + (step - 1)) // step
    if isinstance(count, int):
        count = max(count, 0)
    numbers: Any = iota(tracer, count)
    if step != 1:
        numbers = numbers * step
    if not (isinstance(low, int) and low == 0):
        numbers = numbers + low
    return numbers if dtype is None else convert(numbers, target_type(tracer, dtype))


@function(creates=True)
def full(shape: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """One value over a shape, whose extents may come from those of arguments."""
    tracer = tracer_of(shape, fill_value)
    value = any_array(fill_value, tracer)
    if dtype is not None:
        value = convert(value, target_type(tracer, dtype))
    return broadcast_view(value, shape_of(shape, "full"))


@function(creates=True)
def zeros(shape: Any, *, dtype: Any = None) -> Any:
    """Zeros over a shape, of the recipe's own type."""
    return _constant(shape, 0, dtype)


@function(creates=True)
def ones(shape: Any, *, dtype: Any = None) -> Any:
    """Ones over a shape, of the recipe's own type."""
    return _constant(shape, 1, dtype)


def _constant(shape: Any, value: int, dtype: Any) -> Array:
    tracer = tracer_of(shape)
    kind = tracer.element_type if dtype is None else target_type(tracer, dtype)
    return Array(tracer, tracer.literal(value, kind), kind, shape_of(shape, "full"))


@function()
def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None) -> Any:
    """One value over the shape and at the type of an array."""
    kind = x.dtype if dtype is None else target_type(x.tracer, dtype)
    given = operand(fill_value)
    value = convert(given, kind) if isinstance(given, Array) else None
    if value is None:
        if isinstance(given, np.ndarray):
            fail("xp.full_like: the value must be a scalar")
        return Array(x.tracer, x.tracer.literal(given, kind), kind, x.shape)
    return broadcast_view(value, x.shape)


@function()
def zeros_like(x: Any, /, *, dtype: Any = None) -> Any:
    """Zeros over the shape and at the type of an array."""
    return full_like(x, 0, dtype=dtype)


@function()
def ones_like(x: Any, /, *, dtype: Any = None) -> Any:
    """Ones over the shape and at the type of an array."""
    return full_like(x, 1, dtype=dtype)


def coerced(value: Any, tracer: Tracer) -> Array:
    """A number, a table, or a list of traced arrays and numbers as one array."""
    if isinstance(value, list | tuple):
        return stack([coerced(each, tracer) for each in listed(value)])
    return any_array(value, tracer)


def _asarray(x: Any, /, *, dtype: Any = None) -> Any:
    return np.asarray(x, dtype)


@function(eager=_asarray)
def asarray(x: Any, /, *, dtype: Any = None) -> Any:
    """x as an array: itself, or a list of traced arrays and numbers."""
    return x if dtype is None else convert(x, target_type(x.tracer, dtype))


FUNCTIONS["coerced"] = coerced
