"""NumPy evaluations of the integer primitives.

Integers are signless: an op reads its operands as `signed` or `unsigned`, computes, and `stored` keeps the low bits
of the result's type. So all sums wrap, and ``i1``, which NumPy keeps as bool, needs no rules of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xfuse.primitives import element_types
from xfuse.primitives.primitive import Signature

Array = NDArray[Any]


def signed(x: Array) -> Array:
    """Integers read as signed; a true ``i1`` is -1."""
    return np.negative(x.astype(np.int8)) if x.dtype == np.bool_ else x


def unsigned(x: Array) -> Array:
    """The bits of integers read as unsigned; a true ``i1`` is 1."""
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def stored(x: Array, element_type: str) -> Array:
    """The low bits of integers as the element type keeps them; may share memory with ``x``."""
    if element_type == "i1":
        return np.not_equal(np.bitwise_and(x, 1), 0)
    return x.astype(element_types.numpy_dtype(element_type), copy=False)


def addi(signature: Signature, x: Array, y: Array) -> Array:
    """Sum modulo 2^width."""
    return stored(np.add(signed(x), signed(y)), signature.result)


def subi(signature: Signature, x: Array, y: Array) -> Array:
    """Difference modulo 2^width."""
    return stored(np.subtract(signed(x), signed(y)), signature.result)


def muli(signature: Signature, x: Array, y: Array) -> Array:
    """Product modulo 2^width."""
    return stored(np.multiply(signed(x), signed(y)), signature.result)


def addui_extended(signature: Signature, x: Array, y: Array) -> tuple[Array, Array]:
    """Sum modulo 2^width, and whether the unsigned sum overflowed."""
    total = addi(signature, x, y)
    return total, np.less(unsigned(total), unsigned(x))


def mulsi_extended(signature: Signature, x: Array, y: Array) -> tuple[Array, Array]:
    """Low and high half of the signed product."""
    x, y = signed(x), signed(y)
    if element_types.width(signature.result) < 64:
        return _halves(signature, np.multiply(x, y, dtype=np.int64))
    low, high = _wide_product(unsigned(x), unsigned(y))
    high = high - np.where(x < 0, unsigned(y), 0) - np.where(y < 0, unsigned(x), 0)
    return stored(low, signature.result), stored(high, signature.result)


def mului_extended(signature: Signature, x: Array, y: Array) -> tuple[Array, Array]:
    """Low and high half of the unsigned product."""
    x, y = unsigned(x), unsigned(y)
    if element_types.width(signature.result) < 64:
        return _halves(signature, np.multiply(x, y, dtype=np.uint64))
    low, high = _wide_product(x, y)
    return stored(low, signature.result), stored(high, signature.result)


def _halves(signature: Signature, product: Array) -> tuple[Array, Array]:
    high = np.right_shift(product, element_types.width(signature.result))
    return stored(product, signature.result), stored(high, signature.result)


def _wide_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Low and high word of the product of 64-bit unsigned integers, by 32-bit halves."""
    half = np.uint64(0xFFFFFFFF)
    x_low, x_high = x & half, x >> 32
    y_low, y_high = y & half, y >> 32
    middle = x_high * y_low + (x_low * y_low >> 32)
    carry = x_low * y_high + (middle & half)
    return np.multiply(x, y), x_high * y_high + (middle >> 32) + (carry >> 32)


def divsi(signature: Signature, x: Array, y: Array) -> Array:
    """Quotient rounded toward zero; x/0 is 0 and INT_MIN/-1 is INT_MIN, as in NumPy's integer loops."""
    x, y = signed(x), signed(y)
    return stored(np.floor_divide(np.subtract(x, np.fmod(x, y)), y), signature.result)


def divui(signature: Signature, x: Array, y: Array) -> Array:
    """Unsigned quotient; x/0 is 0."""
    return stored(np.floor_divide(unsigned(x), unsigned(y)), signature.result)


def floordivsi(signature: Signature, x: Array, y: Array) -> Array:
    """Quotient rounded down; x/0 is 0 and INT_MIN/-1 is INT_MIN."""
    return stored(np.floor_divide(signed(x), signed(y)), signature.result)


def ceildivsi(signature: Signature, x: Array, y: Array) -> Array:
    """Quotient rounded up; x/0 is 0 and INT_MIN/-1 is INT_MIN."""
    return stored(_ceiling_quotient(signed(x), signed(y)), signature.result)


def ceildivui(signature: Signature, x: Array, y: Array) -> Array:
    """Unsigned quotient rounded up; x/0 is 0."""
    return stored(_ceiling_quotient(unsigned(x), unsigned(y)), signature.result)


def _ceiling_quotient(x: Array, y: Array) -> Array:
    quotient = np.floor_divide(x, y)
    return np.add(quotient, np.not_equal(np.remainder(x, y), 0), dtype=quotient.dtype)


def remsi(signature: Signature, x: Array, y: Array) -> Array:
    """Remainder with the sign of x; that of x/0 and of INT_MIN/-1 is 0."""
    return stored(np.fmod(signed(x), signed(y)), signature.result)


def remui(signature: Signature, x: Array, y: Array) -> Array:
    """Unsigned remainder; that of x/0 is 0."""
    return stored(np.remainder(unsigned(x), unsigned(y)), signature.result)


def minsi(signature: Signature, x: Array, y: Array) -> Array:
    """The smaller as signed numbers."""
    return stored(np.minimum(signed(x), signed(y)), signature.result)


def maxsi(signature: Signature, x: Array, y: Array) -> Array:
    """The larger as signed numbers."""
    return stored(np.maximum(signed(x), signed(y)), signature.result)


def minui(signature: Signature, x: Array, y: Array) -> Array:
    """The smaller as unsigned numbers."""
    return stored(np.minimum(unsigned(x), unsigned(y)), signature.result)


def maxui(signature: Signature, x: Array, y: Array) -> Array:
    """The larger as unsigned numbers."""
    return stored(np.maximum(unsigned(x), unsigned(y)), signature.result)


def absi(signature: Signature, x: Array) -> Array:
    """Absolute value; INT_MIN stays."""
    return stored(np.absolute(signed(x)), signature.result)


def ipowi(signature: Signature, x: Array, n: Array) -> Array:
    """x to the n modulo 2^width; for negative n, 1/x^-n rounded toward zero, with 1/0 = 0."""
    x, n = signed(x), signed(n)
    power = np.power(unsigned(x), unsigned(np.where(n < 0, np.zeros_like(n), n)))
    unit = np.where(np.equal(np.absolute(x), 1), np.where(np.equal(n & 1, 0), np.ones_like(x), x), np.zeros_like(x))
    return stored(np.where(n < 0, unit, power.view(x.dtype)), signature.result)


def shli(signature: Signature, x: Array, y: Array) -> Array:
    """Left shift; an amount of the width or more, read unsigned, gives 0."""
    return stored(np.left_shift(unsigned(x), unsigned(y)), signature.result)


def shrui(signature: Signature, x: Array, y: Array) -> Array:
    """Logical right shift; an amount of the width or more, read unsigned, gives 0."""
    return stored(np.right_shift(unsigned(x), unsigned(y)), signature.result)


def shrsi(signature: Signature, x: Array, y: Array) -> Array:
    """Arithmetic right shift; an amount of the width or more, read unsigned, gives the sign."""
    x = signed(x)
    most = np.minimum(unsigned(y), 8 * x.dtype.itemsize - 1)
    return stored(np.right_shift(x, most.astype(x.dtype)), signature.result)


def ctlz(signature: Signature, x: Array) -> Array:
    """Leading zero bits; the width for 0."""
    if signature.result == "i1":
        return np.logical_not(x)
    smeared = unsigned(x)
    for shift in (1, 2, 4, 8, 16, 32):
        smeared = np.bitwise_or(smeared, np.right_shift(smeared, shift))
    return stored(np.bitwise_count(np.bitwise_not(smeared)), signature.result)


def cttz(signature: Signature, x: Array) -> Array:
    """Trailing zero bits; the width for 0."""
    if signature.result == "i1":
        return np.logical_not(x)
    bits = unsigned(x)
    return stored(np.bitwise_count(np.bitwise_and(np.bitwise_not(bits), np.subtract(bits, 1))), signature.result)


def ctpop(signature: Signature, x: Array) -> Array:
    """Number of set bits."""
    return stored(np.bitwise_count(unsigned(x)), signature.result)


_ORDER = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def cmpi(signature: Signature, x: Array, y: Array) -> Array:
    """Comparison by predicate: ``eq`` and ``ne``, or ``s`` or ``u`` for signed or unsigned and an order."""
    predicate = signature.attributes["predicate"]
    if predicate in ("eq", "ne"):
        return _ORDER[predicate](x, y)
    read = signed if predicate[0] == "s" else unsigned
    return _ORDER[predicate[1:]](read(x), read(y))
