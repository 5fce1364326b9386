"""Scalar ops at every point of traced arrays: comparison, choice, logic, bits, rounding, casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xfuse.primitives.element_types import is_float
from xfuse.tracing.array import Array, function, symbol_of, tracer_of
from xfuse.tracing.dtypes import for_numpy
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import broadcast_shapes, nest
from xfuse.tracing.promotion import any_array, convert, promoted, target_type
from xfuse.tracing.symbols import Symbol


def apply(op: str, *operands: Array, to: str | None = None) -> Array:
    """A scalar op at every point; its result has the last operand's type, or is ``to``."""
    tracer = operands[0].tracer
    element_type = to or operands[-1].dtype
    shape = broadcast_shapes(*(each.shape for each in operands))
    return nest(tracer, operands, shape, element_type, lambda values, _: tracer.op(op, values, element_type))


def compare(predicate: str, left: Array, right: Array) -> Array:
    """A comparison by predicate at every point."""
    tracer, kind = left.tracer, left.dtype
    shape = broadcast_shapes(left.shape, right.shape)
    return nest(tracer, [left, right], shape, "i1", lambda v, _: tracer.compare(predicate, v[0], v[1], kind))


def literal_like(value: bool | int | float, array: Array) -> Array:
    """A scalar literal of the type of an array."""
    return Array(array.tracer, array.tracer.literal(value, array.dtype), array.dtype)


def known(value: object) -> Symbol | None:
    """What is known of an extent or an integer literal; None of anything else."""
    if isinstance(value, Array):
        return value.symbol
    return symbol_of(value) if isinstance(value, int) and not isinstance(value, bool) else None


def made(name: str, text: str, traced: Callable[..., Any], eager: Callable[..., Any] | None = None) -> Any:
    """A function of the namespace by name and docstring."""
    traced.__name__ = traced.__qualname__ = name
    traced.__doc__ = text
    return function(eager=eager)(traced)


# Comparison


def _comparison(name: str, float_predicate: str, integer_predicate: str, text: str) -> Callable[[Any, Any], Any]:
    def traced(x1: Any, x2: Any, /) -> Any:
        one, other = known(x1), known(x2)
        difference = None if one is None or other is None else (one - other).constant
        if difference is not None:
            return bool(getattr(np, name)(difference, 0))
        element_type, (x, y) = promoted(x1, x2)
        predicate = float_predicate if is_float(element_type) else integer_predicate
        return compare(predicate.replace("s", "u") if element_type == "i1" else predicate, x, y)

    return made(name, text, traced)


less = _comparison("less", "olt", "slt", "x1 < x2; false at a NaN.")
less_equal = _comparison("less_equal", "ole", "sle", "x1 <= x2; false at a NaN.")
greater = _comparison("greater", "ogt", "sgt", "x1 > x2; false at a NaN.")
greater_equal = _comparison("greater_equal", "oge", "sge", "x1 >= x2; false at a NaN.")
equal = _comparison("equal", "oeq", "eq", "x1 == x2; false at a NaN.")
not_equal = _comparison("not_equal", "une", "ne", "x1 != x2; true at a NaN.")


# Choice


def _extreme(name: str, text: str, float_op: str, integer_op: str, truth_op: str) -> Callable[[Any, Any], Any]:
    def traced(x1: Any, x2: Any, /) -> Any:
        element_type, (x, y) = promoted(x1, x2)
        if element_type == "i1":
            return apply(truth_op, x, y)
        return apply(float_op if is_float(element_type) else integer_op, x, y)

    return made(name, text, traced)


maximum = _extreme(
    "maximum", "The larger; a NaN if either is, and -0 < +0.", "arith.maximumf", "arith.maxsi", "arith.ori"
)
minimum = _extreme(
    "minimum", "The smaller; a NaN if either is, and -0 < +0.", "arith.minimumf", "arith.minsi", "arith.andi"
)
fmax = _extreme("fmax", "The larger; the other where one is a NaN.", "arith.maxnumf", "arith.maxsi", "arith.ori")
fmin = _extreme("fmin", "The smaller; the other where one is a NaN.", "arith.minnumf", "arith.minsi", "arith.andi")


@function()
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """minimum(maximum(x, min), max); either bound may be None."""
    lifted = x if min is None else maximum(x, min)
    return lifted if max is None else minimum(lifted, max)


@function()
def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """x1 where the condition holds, else x2. Two literals are of the recipe's own type."""
    tracer = tracer_of(condition, x1, x2)
    test = convert(any_array(condition, tracer), "i1")
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        x1 = any_array(x1, tracer)
    element_type, (x, y) = promoted(x1, x2)
    shape = broadcast_shapes(test.shape, x.shape, y.shape)
    return nest(
        tracer, [test, x, y], shape, element_type, lambda values, _: tracer.op("arith.select", values, element_type)
    )


@function()
def isnan(x: Any, /) -> Any:
    """Whether x is a NaN."""
    return compare("uno", x, x) if is_float(x.dtype) else _everywhere(x, False)


@function()
def isinf(x: Any, /) -> Any:
    """|x| == inf"""
    return abs(x) == float("inf") if is_float(x.dtype) else _everywhere(x, False)


@function()
def isfinite(x: Any, /) -> Any:
    """|x| < inf"""
    return abs(x) < float("inf") if is_float(x.dtype) else _everywhere(x, True)


def _everywhere(x: Array, value: bool) -> Array:
    return Array(x.tracer, x.tracer.literal(value, "i1"), "i1", x.shape)


# Logic and bits


def _logical(name: str, text: str, op: str) -> Callable[[Any, Any], Any]:
    def traced(x1: Any, x2: Any, /) -> Any:
        tracer = tracer_of(x1, x2)
        return apply(op, *(convert(any_array(each, tracer), "i1") for each in (x1, x2)))

    return made(name, text, traced)


logical_and = _logical("logical_and", "Whether both hold.", "arith.andi")
logical_or = _logical("logical_or", "Whether at least one holds.", "arith.ori")
logical_xor = _logical("logical_xor", "Whether exactly one holds.", "arith.xori")


@function()
def logical_not(x: Any, /) -> Any:
    """Whether x does not hold."""
    return bitwise_invert(convert(x, "i1"))


def _bitwise(name: str, text: str, op: str) -> Callable[[Any, Any], Any]:
    def traced(x1: Any, x2: Any, /) -> Any:
        element_type, (x, y) = promoted(x1, x2)
        if is_float(element_type):
            fail(f"xp.{name} of {element_type}; it takes integers and truth values")
        return apply(op, x, y)

    return made(name, text, traced)


bitwise_and = _bitwise("bitwise_and", "x1 & x2", "arith.andi")
bitwise_or = _bitwise("bitwise_or", "x1 | x2", "arith.ori")
bitwise_xor = _bitwise("bitwise_xor", "x1 ^ x2", "arith.xori")
bitwise_left_shift = _bitwise("bitwise_left_shift", "x1 << x2; 0 from the width on.", "arith.shli")
bitwise_right_shift = _bitwise(
    "bitwise_right_shift", "x1 >> x2 with the sign, which is what is left from the width on.", "arith.shrsi"
)


def _shift_right_logical(x1: Any, x2: Any, /) -> Any:
    array = np.asarray(x1)
    return np.right_shift(array.view(f"u{array.dtype.itemsize}"), np.asarray(x2, f"u{array.dtype.itemsize}")).view(
        array.dtype
    )


@function(eager=_shift_right_logical)
def shift_right_logical(x1: Any, x2: Any, /) -> Any:
    """x1 >> x2 of the bits, zeros coming in; 0 from the width on."""
    element_type, (x, y) = promoted(x1, x2)
    if is_float(element_type):
        fail(f"xp.shift_right_logical of {element_type}; it takes integers")
    return apply("arith.shrui", x, y)


@function()
def bitwise_invert(x: Any, /) -> Any:
    """~x"""
    if is_float(x.dtype):
        fail(f"xp.bitwise_invert of {x.dtype}; it takes integers and truth values")
    return apply("arith.xori", x, literal_like(1 if x.dtype == "i1" else -1, x))


# Rounding and casts


def _rounding(name: str, text: str, op: str) -> Callable[[Any], Any]:
    def traced(x: Any, /) -> Any:
        return apply(op, x) if is_float(x.dtype) else x

    return made(name, text, traced)


floor = _rounding("floor", "The next integer below.", "math.floor")
ceil = _rounding("ceil", "The next integer above.", "math.ceil")
trunc = _rounding("trunc", "The integer part.", "math.trunc")
round_ = _rounding("round", "The nearest integer, halves to even.", "math.roundeven")


def _astype(x: Any, dtype: Any, /) -> Any:
    return np.asarray(x).astype(for_numpy(dtype))


@function(eager=_astype)
def astype(x: Any, dtype: Any, /) -> Any:
    """x at another element type, given by name, by NumPy or Python type, or as the ``dtype`` of an array.

    Floats round to nearest; to integers toward zero, saturating, a NaN to 0; a number is true unless it is zero.
    """
    return convert(x, target_type(x.tracer, dtype))
