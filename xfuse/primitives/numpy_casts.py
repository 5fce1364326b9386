"""NumPy evaluations of the casts, and of select. No result shares memory with an operand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xfuse.primitives import element_types
from xfuse.primitives.numpy_integers import signed, stored, unsigned
from xfuse.primitives.primitive import Signature

Array = NDArray[Any]


def from_float64(x: Array, element_type: str) -> Array:
    """Float64 rounded to a float type, once."""
    if element_type != "bf16":
        return x.astype(element_types.numpy_dtype(element_type))
    # ml_dtypes goes through float32. Rounding that to odd keeps the second rounding honest.
    single = x.astype(np.float32)
    back = single.astype(np.float64)
    bits = single.view(np.uint32) - np.greater(np.absolute(back), np.absolute(x))
    odd = np.bitwise_or(bits.astype(np.uint32), np.not_equal(back, x)).astype(np.uint32)
    return odd.view(np.float32).astype(element_types.numpy_dtype(element_type))


def extf(signature: Signature, x: Array) -> Array:
    """The same number in a wider float type."""
    return x.astype(element_types.numpy_dtype(signature.result))


def truncf(signature: Signature, x: Array) -> Array:
    """Round to nearest even in a narrower float type."""
    if x.dtype == np.float64:
        return from_float64(x, signature.result)
    return x.astype(element_types.numpy_dtype(signature.result))


def fptosi(signature: Signature, x: Array) -> Array:
    """Round toward zero; saturates at the ends of the signed range, NaN gives 0."""
    half = 2 ** (element_types.width(signature.result) - 1)
    return stored(_saturated(x, -half, half - 1, np.dtype(np.int64)), signature.result)


def fptoui(signature: Signature, x: Array) -> Array:
    """Round toward zero; saturates at the ends of the unsigned range, NaN gives 0."""
    largest = 2 ** element_types.width(signature.result) - 1
    return stored(_saturated(x, 0, largest, np.dtype(np.uint64)), signature.result)


def _saturated(x: Array, low: int, high: int, dtype: np.dtype[Any]) -> Array:
    whole = np.trunc(x.astype(np.float64))
    too_low, too_high = np.less(whole, float(low)), np.greater_equal(whole, float(high + 1))
    # The cast itself is undefined outside the range, so nothing outside reaches it.
    safe = np.where(too_low | too_high | np.isnan(whole), 0.0, whole).astype(dtype)
    return np.where(too_high, dtype.type(high), np.where(too_low, dtype.type(low), safe))


def sitofp(signature: Signature, x: Array) -> Array:
    """A signed integer rounded to nearest even; a true ``i1`` is -1."""
    return _to_float(signed(x), signature.result)


def uitofp(signature: Signature, x: Array) -> Array:
    """An unsigned integer rounded to nearest even; a true ``i1`` is 1."""
    return _to_float(unsigned(x), signature.result)


def _to_float(x: Array, element_type: str) -> Array:
    if element_type != "bf16":
        return x.astype(element_types.numpy_dtype(element_type))
    if x.dtype.itemsize == 8:
        # Past 2^53 the low bits become one sticky bit, so that float64 holds all that bf16 looks at.
        sticky = (x >> 11 | np.not_equal(x & 0x7FF, 0).astype(x.dtype)) << 11
        exact = np.less_equal(x, 2**53) if x.dtype.kind == "u" else np.less_equal(x, 2**53) & (x >= -(2**53))
        x = np.where(exact, x, sticky)
    return from_float64(x.astype(np.float64), element_type)


def extsi(signature: Signature, x: Array) -> Array:
    """Sign-extend; a true ``i1`` is -1."""
    return signed(x).astype(element_types.numpy_dtype(signature.result))


def extui(signature: Signature, x: Array) -> Array:
    """Zero-extend; a true ``i1`` is 1."""
    return unsigned(x).astype(element_types.numpy_dtype(signature.result))


def trunci(signature: Signature, x: Array) -> Array:
    """The low bits."""
    return stored(np.positive(signed(x)), signature.result)


def index_cast(signature: Signature, x: Array) -> Array:
    """Sign-extend or truncate between index and an integer type."""
    return stored(np.positive(signed(x)), signature.result)


def bitcast(signature: Signature, x: Array) -> Array:
    """The same bits as another type of the same width."""
    return x.view(element_types.numpy_dtype(signature.result)).copy()


def select(signature: Signature, condition: Array, x: Array, y: Array) -> Array:
    """``x`` where the condition holds, else ``y``."""
    return np.where(condition, x, y)
