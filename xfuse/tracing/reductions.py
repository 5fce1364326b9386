"""Reductions of traced arrays over some or all axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from xfuse.primitives.element_types import is_float, width
from xfuse.tracing.arithmetic import sqrt
from xfuse.tracing.array import Array, Extent, function, is_unit, size_of
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import Body, covered, dense, nest, view
from xfuse.tracing.promotion import convert, target_type
from xfuse.tracing.tracer import Tracer

Axis = int | Sequence[int] | None


def listed(given: Any) -> tuple[Any, ...]:
    """A sequence, or one of something, as a tuple."""
    return tuple(cast(Sequence[Any], given)) if isinstance(given, Sequence) else (given,)


def whole_number(value: Any) -> int | None:
    """An integer of Python or NumPy, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return None
    return int(cast(int, value))


def axes_of(array: Array, axis: Axis, name: str) -> tuple[int, ...]:
    """Axes counted from the front, ascending; None stands for all."""
    if axis is None:
        return tuple(range(array.ndim))
    found: set[int] = set()
    for each in listed(axis):
        number = one_axis(each, array.ndim, name)
        if number in found:
            fail(f"xp.{name}: axis {each} is given twice")
        found.add(number)
    return tuple(sorted(found))


def one_axis(axis: object, ndim: int, name: str) -> int:
    """An axis counted from the front."""
    number = whole_number(axis)
    if number is None:
        fail(f"xp.{name}: axis must be an integer that is known while tracing, got {axis!r}")
    if not -ndim <= number < ndim:
        fail(f"xp.{name}: axis {number} is out of range for an array of {ndim} dimensions")
    return number % ndim


def reduce(
    operands: Sequence[Array],
    shape: Sequence[Extent],
    axes: Collection[int],
    initial: SSAValue,
    body: Body,
    element_type: str,
    keepdims: bool = False,
) -> Array:
    """Combine over some axes of the shape that the operands broadcast to."""
    tracer = operands[0].tracer
    rank = len(shape)
    loops = set[int]().union(*(covered(each, rank) for each in operands))
    if any(axis not in loops and not is_unit(shape[axis]) for axis in axes):
        # Every copy counts, so there must be an operand that says how many there are.
        first = Array(tracer, operands[0].value, operands[0].dtype, shape, _places(operands[0], rank))
        operands = [dense(first), *operands[1:]]
    result = nest(tracer, operands, shape, element_type, body, reduced=axes, initial=initial)
    if keepdims:
        return result
    return view(result, [axis for axis in range(rank) if axis not in axes])


def _places(array: Array, rank: int) -> list[int | None]:
    return [None if p is None or is_unit(array.shape[p]) else p + rank - array.ndim for p in array.places]


def extreme_literal(tracer: Tracer, element_type: str, sign: int) -> SSAValue:
    """The least (-1) or the greatest (1) value of an element type."""
    if is_float(element_type):
        return tracer.literal(sign * math.inf, element_type)
    if element_type == "i1":
        return tracer.literal(sign > 0, "i1")
    if element_type == tracer.element_type and tracer.is_generic:
        # As bits of any width: all ones, shifted by one, is the greatest.
        ones, one = tracer.literal(-1, element_type), tracer.literal(1, element_type)
        greatest = tracer.op("arith.shrui", [ones, one], element_type)
        return greatest if sign > 0 else tracer.op("arith.xori", [greatest, ones], element_type)
    half = 1 << (width(element_type) - 1)
    return tracer.literal(half - 1 if sign > 0 else -half, element_type)


def _combine(op: str) -> Callable[[Tracer, str], Body]:
    return lambda tracer, element_type: lambda values, _: tracer.op(op, values, element_type)


def _reduced(x: Array, name: str, axis: Axis, keepdims: bool, op: str, initial: SSAValue) -> Array:
    return reduce(
        [x], x.shape, axes_of(x, axis, name), initial, _combine(op)(x.tracer, x.dtype), x.dtype, bool(keepdims)
    )


def _no_index(x: Array) -> Array:
    return convert(x, "i64") if x.dtype == "index" else x


@function()
def sum_(x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """The sum over axes, from 0. Truth values are counted as i64; ``dtype`` converts first."""
    y = _as_numbers(x, dtype)
    op = "arith.addf" if is_float(y.dtype) else "arith.addi"
    return _reduced(y, "sum", axis, keepdims, op, y.tracer.literal(0, y.dtype))


@function()
def prod(x: Any, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """The product over axes, from 1. Truth values are taken as i64; ``dtype`` converts first."""
    y = _as_numbers(x, dtype)
    op = "arith.mulf" if is_float(y.dtype) else "arith.muli"
    return _reduced(y, "prod", axis, keepdims, op, y.tracer.literal(1, y.dtype))


def _as_numbers(x: Array, dtype: object) -> Array:
    if dtype is not None:
        return _no_index(convert(x, target_type(x.tracer, dtype)))
    return convert(x, "i64") if x.dtype in ("i1", "index") else x


@function()
def max_(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The largest over axes, from the least value of the type, which is what nothing gives; a NaN wins."""
    y = _no_index(x)
    op = "arith.maximumf" if is_float(y.dtype) else "arith.ori" if y.dtype == "i1" else "arith.maxsi"
    return _reduced(y, "max", axis, keepdims, op, extreme_literal(y.tracer, y.dtype, -1))


@function()
def min_(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The smallest over axes, from the greatest value of the type, which is what nothing gives; a NaN wins."""
    y = _no_index(x)
    op = "arith.minimumf" if is_float(y.dtype) else "arith.andi" if y.dtype == "i1" else "arith.minsi"
    return _reduced(y, "min", axis, keepdims, op, extreme_literal(y.tracer, y.dtype, 1))


@function()
def any_(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Whether some value over axes is true or not zero."""
    y = convert(x, "i1")
    return _reduced(y, "any", axis, keepdims, "arith.ori", y.tracer.literal(False, "i1"))


@function()
def all_(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Whether all values over axes are true or not zero."""
    y = convert(x, "i1")
    return _reduced(y, "all", axis, keepdims, "arith.andi", y.tracer.literal(True, "i1"))


def _count(x: Array, axes: Sequence[int]) -> Any:
    """How many elements some axes have: a number where it is known, else an extent."""
    return size_of([x.shape[axis] for axis in axes])


def _floating(x: Array) -> Array:
    return x if is_float(x.dtype) else convert(x, x.tracer.float_type)


@function()
def mean(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The sum over axes divided by how many there are, which is a literal where the extents are known."""
    y = _floating(x)
    return sum_(y, axis, keepdims=keepdims) / _count(y, axes_of(y, axis, "mean"))


@function()
def var(x: Any, /, axis: Axis = None, *, correction: int = 0, keepdims: bool = False) -> Any:
    """The sum of (x - mean)(x - mean) over axes, divided by how many there are less ``correction``."""
    y = _floating(x)
    axes = axes_of(y, axis, "var")
    difference = y - mean(y, axes, keepdims=True)
    count = _count(y, axes)
    return sum_(difference * difference, axes, keepdims=keepdims) / (count - correction if correction else count)


@function()
def std(x: Any, /, axis: Axis = None, *, correction: int = 0, keepdims: bool = False) -> Any:
    """The square root of `var`."""
    return sqrt(var(x, axis, correction=correction, keepdims=keepdims))


@function()
def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The first position of the largest value or of a NaN, as i64; of nothing 0. Over all axes it is row-major."""
    return _position(x, axis, keepdims, max_)


@function()
def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The first position of the smallest value or of a NaN, as i64; of nothing 0. Over all axes it is row-major."""
    return _position(x, axis, keepdims, min_)


def _position(x: Array, axis: int | None, keepdims: bool, extreme: Callable[..., Any]) -> Array:
    y = convert(_no_index(x), "i64") if x.dtype == "i1" else _no_index(x)
    tracer, kind = y.tracer, y.dtype
    axes = axes_of(y, axis, extreme.__name__.replace("m", "argm", 1))
    best = extreme(y, axes, keepdims=True)
    beyond = convert(_extent_array(tracer, _count(y, axes)), "i64").value

    def body(values: list[SSAValue], index: Callable[[int], SSAValue]) -> SSAValue:
        value, wanted, first = values
        place = _row_major(y, axes, index)
        found = tracer.compare("oeq" if is_float(kind) else "eq", value, wanted, kind)
        if is_float(kind):
            nan = tracer.compare("uno", value, value, kind)
            found = tracer.op("arith.ori", [found, nan], "i1")
        candidate = tracer.op("arith.select", [found, place, beyond], "i64")
        return tracer.op("arith.minsi", [candidate, first], "i64")

    return reduce([y, best], y.shape, axes, beyond, body, "i64", keepdims)


def _row_major(x: Array, axes: Sequence[int], index: Callable[[int], SSAValue]) -> SSAValue:
    tracer = x.tracer
    place: SSAValue | None = None
    for axis in axes:
        own = index(axis)
        if place is None:
            place = own
            continue
        extent = _extent_array(tracer, x.shape[axis]).value
        place = tracer.op("arith.addi", [tracer.op("arith.muli", [place, extent], "index"), own], "index")
    return tracer.op("arith.index_cast", [place if place is not None else tracer.index(0)], "i64")


def _extent_array(tracer: Tracer, extent: Extent) -> Array:
    return extent if isinstance(extent, Array) else Array(tracer, tracer.index(extent), "index")
