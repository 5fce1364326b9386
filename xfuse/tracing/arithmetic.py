"""Arithmetic and float functions on traced arrays.

Each is one op where MLIR has it. The others are the formula in their docstring, op by op.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from xfuse.primitives.element_types import is_float
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES
from xfuse.tracing.array import Array, function, tracer_of
from xfuse.tracing.locations import fail
from xfuse.tracing.pointwise import apply, compare, floor, known, literal_like, logical_and, made, maximum, where
from xfuse.tracing.promotion import any_array, convert, is_integer, operand, promoted
from xfuse.tracing.symbols import Symbol, number

_EXTENTS: dict[str, Callable[[Symbol, Symbol], Symbol]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def _extents(name: str, left: object, right: object) -> Symbol | None:
    """What is known of the result of arithmetic on extents."""
    one, other = known(left), known(right)
    if one is None or other is None:
        return None
    if name in _EXTENTS:
        return _EXTENTS[name](one, other)
    divisor = other.constant
    if divisor is None or divisor <= 0:
        return None
    quotient = one // divisor
    return quotient if name == "floor_divide" else one - quotient * number(divisor)


def _numbers(name: str, *values: Array) -> None:
    if values[-1].dtype == "i1":
        fail(f"xp.{name} of truth values; combine them with xp.logical_and, xp.logical_or or xp.logical_xor")


def _arithmetic(name: str, text: str, float_op: str, integer_op: str) -> Callable[[Any, Any], Any]:
    def traced(x1: Any, x2: Any, /) -> Any:
        symbol = _extents(name, x1, x2)
        if symbol is not None and symbol.constant is not None:
            return symbol.constant
        element_type, (x, y) = promoted(x1, x2)
        _numbers(name, x, y)
        result = apply(float_op if is_float(element_type) else integer_op, x, y)
        result.symbol = symbol
        return result

    return made(name, text, traced)


add = _arithmetic("add", "x1 + x2", "arith.addf", "arith.addi")
subtract = _arithmetic("subtract", "x1 - x2", "arith.subf", "arith.subi")
multiply = _arithmetic("multiply", "x1 x2", "arith.mulf", "arith.muli")


@function()
def divide(x1: Any, x2: Any, /) -> Any:
    """x1 / x2; of integers, at the recipe's float type."""
    _, (x, y) = promoted(x1, x2, floating=True)
    return apply("arith.divf", x, y)


@function()
def floor_divide(x1: Any, x2: Any, /) -> Any:
    """The quotient rounded down; of floats floor(x1 / x2)."""
    symbol = _extents("floor_divide", x1, x2)
    if symbol is not None and symbol.constant is not None:
        return symbol.constant
    element_type, (x, y) = promoted(x1, x2)
    _numbers("floor_divide", x, y)
    if is_float(element_type):
        return floor(x / y)
    result = apply("arith.divui" if _is_natural(symbol, x1) else "arith.floordivsi", x, y)
    result.symbol = symbol
    return result


@function()
def remainder(x1: Any, x2: Any, /) -> Any:
    """x1 - floor(x1 / x2) x2, which has the sign of x2; of integers 0 where x2 is 0."""
    symbol = _extents("remainder", x1, x2)
    if symbol is not None and symbol.constant is not None:
        return symbol.constant
    element_type, (x, y) = promoted(x1, x2)
    _numbers("remainder", x, y)
    if is_float(element_type):
        return x - floor(x / y) * y
    if _is_natural(symbol, x1):
        result = apply("arith.remui", x, y)
    else:
        rest = apply("arith.remsi", x, y)
        lies_beyond = logical_and(rest != literal_like(0, rest), (rest ^ y) < 0)
        result = where(lies_beyond, rest + y, rest)
    result.symbol = symbol
    return result


def _is_natural(symbol: Symbol | None, dividend: object) -> bool:
    """Whether both sides of a division are extents that are never negative."""
    given = known(dividend)
    return symbol is not None and given is not None and given.is_natural


@function()
def negative(x: Any, /) -> Any:
    """-x"""
    if known(x) is not None:
        return 0 - x
    _numbers("negative", x)
    return apply("arith.negf", x) if is_float(x.dtype) else apply("arith.subi", literal_like(0, x), x)


@function()
def positive(x: Any, /) -> Any:
    """x"""
    return x


@function()
def abs_(x: Any, /) -> Any:
    """|x|"""
    _numbers("abs", x)
    return apply("math.absf" if is_float(x.dtype) else "math.absi", x)


@function()
def sign(x: Any, /) -> Any:
    """1 or -1 with the sign of x; a zero and a NaN stay."""
    _numbers("sign", x)
    one, zero = literal_like(1, x), literal_like(0, x)
    if is_float(x.dtype):
        unit = apply("math.copysign", one, x)
        return where(compare("one", x, zero), unit, x)
    return where(x > 0, one, where(x < 0, literal_like(-1, x), zero))


@function()
def square(x: Any, /) -> Any:
    """x x"""
    return x * x


@function()
def reciprocal(x: Any, /) -> Any:
    """1 / x"""
    return 1 / x


# Powers


@function()
def pow_(x1: Any, x2: Any, /) -> Any:
    """x1 to the power of x2: ``math.powf``, of integers ``math.ipowi``, ``math.fpowi`` of a float and a traced
    integer."""
    base, exponent = operand(x1), operand(x2)
    if isinstance(exponent, Array) and is_integer(exponent.dtype) and isinstance(base, Array) and is_float(base.dtype):
        return _fpowi(base, convert(exponent, "i64") if exponent.dtype == "index" else exponent)
    element_type, (x, y) = promoted(x1, x2)
    _numbers("pow", x, y)
    return apply("math.powf" if is_float(element_type) else "math.ipowi", x, y)


def _fpowi(base: Array, exponent: Array) -> Array:
    return apply("math.fpowi", base, exponent, to=base.dtype)


@function()
def power_of(x1: Any, x2: Any, /) -> Any:
    """The operator ``x1 ** x2``.

    A literal exponent 0 gives 1, 1 gives x, 2 gives x x, 3 gives (x x) x, of floats -1 gives 1 / x and 0.5 sqrt(x), as
    NumPy has it. Any other integer literal is ``math.fpowi``, everything else as `pow`; so is 3.0.
    """
    exponent = operand(x2)
    base = any_array(x1, tracer_of(x1, x2))
    if isinstance(exponent, bool) or not isinstance(exponent, int | float):
        return pow_(base, x2)
    if exponent == 0:
        return Array(base.tracer, base.tracer.literal(1, base.dtype), base.dtype, base.shape)
    if exponent == 1:
        return base
    if exponent == 2:
        return base * base
    if is_float(base.dtype):
        if exponent == -1:
            return 1 / base
        if exponent == 0.5:
            return sqrt(base)
    if isinstance(exponent, int):
        if exponent == 3:
            return base * base * base
        if is_float(base.dtype):
            return _fpowi(base, Array(base.tracer, base.tracer.literal(exponent, "i64"), "i64"))
    return pow_(base, exponent)


# Float functions


def _float_function(op: str, text: str, eager: Callable[..., Any] | None = None) -> Callable[[Any], Any]:
    def traced(x: Any, /) -> Any:
        _, (y,) = promoted(x, floating=True)
        return apply(op, y)

    return made(op.removeprefix("math."), text, traced, eager)


def _evaluated(op: str) -> Callable[..., Any]:
    """A float op on NumPy arrays and numbers, by the primitives table."""

    def evaluate(*values: Any) -> Any:
        arrays = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in values))
        return PRIMITIVES[op].numpy(Signature(("f64",) * len(arrays), ("f64",), {}), *arrays)[()]

    return evaluate


exp = _float_function("math.exp", "e to the power of x.")
exp2 = _float_function("math.exp2", "2 to the power of x.")
expm1 = _float_function("math.expm1", "exp(x) - 1, accurate near 0.")
log = _float_function("math.log", "The natural logarithm.")
log1p = _float_function("math.log1p", "log(1 + x), accurate near 0.")
log2 = _float_function("math.log2", "The logarithm to base 2.")
log10 = _float_function("math.log10", "The logarithm to base 10.")
sqrt = _float_function("math.sqrt", "The square root.")
cbrt = _float_function("math.cbrt", "The cube root.")
rsqrt = _float_function("math.rsqrt", "1 / sqrt(x), as one op.", _evaluated("math.rsqrt"))
erf = _float_function("math.erf", "The error function.", _evaluated("math.erf"))
sin = _float_function("math.sin", "The sine.")
cos = _float_function("math.cos", "The cosine.")
tan = _float_function("math.tan", "The tangent.")
asin = _float_function("math.asin", "The inverse sine.")
acos = _float_function("math.acos", "The inverse cosine.")
atan = _float_function("math.atan", "The inverse tangent.")
sinh = _float_function("math.sinh", "The hyperbolic sine.")
cosh = _float_function("math.cosh", "The hyperbolic cosine.")
tanh = _float_function("math.tanh", "The hyperbolic tangent.")
asinh = _float_function("math.asinh", "The inverse hyperbolic sine.")
acosh = _float_function("math.acosh", "The inverse hyperbolic cosine.")
atanh = _float_function("math.atanh", "The inverse hyperbolic tangent.")


def _two_floats(op: str, name: str, text: str) -> Callable[[Any, Any], Any]:
    def traced(x1: Any, x2: Any, /) -> Any:
        _, (x, y) = promoted(x1, x2, floating=True)
        return apply(op, x, y)

    return made(name, text, traced)


atan2 = _two_floats("math.atan2", "atan2", "The angle of the point (x2, x1).")
copysign = _two_floats("math.copysign", "copysign", "|x1| with the sign of x2.")


@function(eager=_evaluated("math.fma"))
def fma(x1: Any, x2: Any, x3: Any, /) -> Any:
    """x1 x2 + x3, rounded once."""
    _, operands = promoted(x1, x2, x3, floating=True)
    return apply("math.fma", *operands)


@function()
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """maximum(x1, x2) + log1p(exp(-|x1 - x2|)); a NaN where both are the same infinity."""
    _, (x, y) = promoted(x1, x2, floating=True)
    return maximum(x, y) + log1p(exp(-abs(x - y)))


@function()
def hypot(x1: Any, x2: Any, /) -> Any:
    """sqrt(x1 x1 + x2 x2), which overflows beyond the root of the largest number."""
    _, (x, y) = promoted(x1, x2, floating=True)
    return sqrt(x * x + y * y)


def _sigmoid(x: Any, /) -> Any:
    return np.divide(1.0, np.add(1.0, np.exp(np.negative(x))))


@function(eager=_sigmoid)
def sigmoid(x: Any, /) -> Any:
    """1 / (1 + exp(-x))"""
    return 1 / (1 + exp(-x))


def _relu(x: Any, /) -> Any:
    return np.maximum(x, 0)


@function(eager=_relu)
def relu(x: Any, /) -> Any:
    """maximum(x, 0); a NaN stays."""
    return maximum(x, 0)
