"""NumPy evaluations of the float primitives that no plain ufunc gets right for every float type."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xfuse.primitives.numpy_casts import from_float64
from xfuse.primitives.numpy_integers import signed
from xfuse.primitives.primitive import Signature

Array = NDArray[Any]


def maximumf(signature: Signature, x: Array, y: Array) -> Array:
    """The larger; NaN if either is, and -0 < +0."""
    return np.where(_both_zero(x, y), np.add(x, y), np.maximum(x, y))


def minimumf(signature: Signature, x: Array, y: Array) -> Array:
    """The smaller; NaN if either is, and -0 < +0."""
    return np.where(_both_zero(x, y), _negative_sum(x, y), np.minimum(x, y))


def maxnumf(signature: Signature, x: Array, y: Array) -> Array:
    """The larger; the other operand if one is NaN, and -0 < +0."""
    return np.where(_both_zero(x, y), np.add(x, y), np.fmax(x, y))


def minnumf(signature: Signature, x: Array, y: Array) -> Array:
    """The smaller; the other operand if one is NaN, and -0 < +0."""
    return np.where(_both_zero(x, y), _negative_sum(x, y), np.fmin(x, y))


def _both_zero(x: Array, y: Array) -> Array:
    return np.equal(x, 0) & np.equal(y, 0)


def _negative_sum(x: Array, y: Array) -> Array:
    """Of two zeros: -0 unless both are +0."""
    return np.negative(np.subtract(np.negative(x), y))


def round_(signature: Signature, x: Array) -> Array:
    """To the nearest integer, halves away from zero."""
    magnitude = np.absolute(x)
    whole = np.floor(magnitude)
    half = np.asarray(0.5, x.dtype)
    up = np.greater_equal(np.subtract(magnitude, whole), half)
    return np.copysign(np.add(whole, up.astype(x.dtype)), x)


def rsqrt(signature: Signature, x: Array) -> Array:
    """1/sqrt(x): two roundings in float64, within 2 ulp; narrower types through float64, rounded once."""
    return from_float64(np.divide(1.0, np.sqrt(x.astype(np.float64))), signature.result)


_erf = np.frompyfunc(math.erf, 1, 1)


def erf(signature: Signature, x: Array) -> Array:
    """The error function of the C library, in float64 and rounded once."""
    return from_float64(np.asarray(_erf(x.astype(np.float64)), np.float64), signature.result)


_PRODUCTS: dict[int, Callable[[Array], Array]] = {
    2: lambda base: np.multiply(base, base),
    3: lambda base: np.multiply(np.multiply(base, base), base),
    4: lambda base: np.square(np.multiply(base, base)),
    -1: lambda base: np.divide(1.0, base),
}


def fpowi(signature: Signature, x: Array, n: Array) -> Array:
    """x to the integer n, in float64 and rounded once: products for n = 2, 3, 4, the reciprocal for -1, else pow."""
    base, n = x.astype(np.float64), signed(n)
    if n.size == 1 and int(n.reshape(())) in _PRODUCTS:  # a literal exponent, as compilers write squares
        return from_float64(_PRODUCTS[int(n.reshape(()))](base), signature.result)
    magnitude = np.absolute(base)
    low = np.where((n > 2**53) | (n < -(2**53)), np.fmod(n, 2048), 0) if n.dtype.itemsize == 8 else np.zeros_like(n)
    power = np.power(magnitude, np.subtract(n, low).astype(np.float64))
    if np.any(low):  # n has more bits than float64 and is split into two exponents that have not
        power = power * np.power(magnitude, low.astype(np.float64))
    power = np.where(np.equal(n & 1, 0), power, np.copysign(power, base))
    for exponent, product in _PRODUCTS.items():
        power = np.where(np.equal(n, exponent), product(base), power)
    return from_float64(power, signature.result)


def fma(signature: Signature, x: Array, y: Array, z: Array) -> Array:
    """x*y + z, rounded once for every type."""
    if signature.result == "f64":
        return _fma_float64(x, y, z)
    product = np.multiply(x.astype(np.float64), y.astype(np.float64))
    return from_float64(_to_odd(*_two_sum(product, z.astype(np.float64))), signature.result)


def _fma_float64(x: Array, y: Array, z: Array) -> Array:
    """Boldo and Melquiond, "Emulation of FMA and correctly rounded sums" (2008), guarded where exponents run out."""
    plain = np.add(np.multiply(x, y), z)
    product, product_error = _two_product(x, y)
    high, high_error = _two_sum(z, product_error)
    total, total_error = _two_sum(product, high)
    emulated = np.add(total, _to_odd(*_two_sum(high_error, total_error)))

    factors_finite = np.isfinite(x) & np.isfinite(y)
    ordinary = factors_finite & np.isfinite(z) & np.not_equal(x, 0) & np.not_equal(y, 0)
    result = np.asarray(np.where(ordinary, emulated, np.where(factors_finite & ~np.isfinite(z), z, plain)))

    largest = np.maximum(np.maximum(np.absolute(x), np.absolute(y)), np.maximum(np.absolute(product), np.absolute(z)))
    tiny = np.less(np.absolute(product), 2.0**-960) & np.less(np.absolute(z), 2.0**-800)
    extreme = ordinary & (np.greater(largest, 2.0**990) | tiny)
    if np.any(extreme):
        operands = (np.broadcast_to(operand, result.shape)[extreme].tolist() for operand in (x, y, z))
        result[extreme] = [_fma_exactly(*each) for each in zip(*operands, strict=True)]
    return result


def _fma_exactly(x: float, y: float, z: float) -> float:
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum and its error, exactly (Knuth)."""
    total = np.add(x, y)
    y_part = np.subtract(total, x)
    x_part = np.subtract(total, y_part)
    return total, np.add(np.subtract(x, x_part), np.subtract(y, y_part))


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded product and its error, exactly unless exponents run out (Dekker)."""
    product = np.multiply(x, y)
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    error = np.subtract(np.multiply(x_high, y_high), product)
    error = np.add(np.add(error, np.multiply(x_high, y_low)), np.multiply(x_low, y_high))
    return product, np.add(error, np.multiply(x_low, y_low))


def _split(x: Array) -> tuple[Array, Array]:
    """Two halves of 26 bits that add up to x (Veltkamp)."""
    scaled = np.multiply(x, 2.0**27 + 1)
    high = np.subtract(scaled, np.subtract(scaled, x))
    return high, np.subtract(x, high)


def _to_odd(total: Array, error: Array) -> Array:
    """A rounded sum and its error as one number, rounded to odd: inexact results get an odd last bit."""
    bits = total.view(np.int64)
    inexact = np.less(error, 0) | np.greater(error, 0)  # an infinite sum has a NaN error
    outward = np.equal(np.greater(error, 0), np.greater(total, 0))
    moved = np.add(bits, np.where(outward, 1, -1))
    return np.where(inexact & np.equal(bits & 1, 0), moved, bits).view(np.float64)


_CMPF: dict[str, Callable[[Array, Array], Array]] = {
    "oeq": np.equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "one": lambda x, y: np.less(x, y) | np.greater(x, y),
    "ord": lambda x, y: np.equal(x, x) & np.equal(y, y),
    "false": lambda x, y: np.not_equal(x, x) & np.equal(x, y),
}
_NEGATED = {
    "ueq": "one",
    "ugt": "ole",
    "uge": "olt",
    "ult": "oge",
    "ule": "ogt",
    "une": "oeq",
    "uno": "ord",
    "true": "false",
}


def cmpf(signature: Signature, x: Array, y: Array) -> Array:
    """Comparison by predicate: ``o`` is false and ``u`` true where an operand is NaN."""
    predicate = signature.attributes["predicate"]
    if predicate in _NEGATED:
        return np.logical_not(_CMPF[_NEGATED[predicate]](x, y))
    return _CMPF[predicate](x, y)
