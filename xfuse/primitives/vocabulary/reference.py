"""NumPy functions that spellings are tested against, on arrays of core shapes, written for clarity."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

Array = Any


def erf(x: Array) -> Array:
    """The error function."""
    values = [math.erf(each) for each in np.asarray(x, np.float64).ravel()]
    return np.array(values, x.dtype).reshape(x.shape)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def gelu_tanh(x: Array) -> Array:
    """GELU by its tanh approximation (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016)."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def gelu_erf(x: Array) -> Array:
    """GELU, exact."""
    return 0.5 * x * (1 + erf(x / np.asarray(math.sqrt(2), x.dtype)))


def to_integer(x: Array) -> Array:
    """Rounded towards zero, saturating; a NaN is 0."""
    limits = np.iinfo(np.int32)
    return np.clip(np.nan_to_num(x.astype(np.float64)), limits.min, limits.max).astype(np.int32)


def filled(x: Array, mask: Array) -> Array:
    """2 where the mask holds."""
    return cast(Array, np.where(mask, x.dtype.type(2), x))


def maximum(x: Array) -> Array:
    """The greatest element, the least one of its type if there is none."""
    return np.max(x, initial=-np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min)


def minimum(x: Array) -> Array:
    """The least element, the greatest one of its type if there is none."""
    return np.min(x, initial=np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max)


def arg_maximum(x: Array) -> Array:
    """The first place of the maximum or of a NaN; 0 if there is nothing."""
    return np.int64(np.argmax(x) if x.size else 0)


def arg_minimum(x: Array) -> Array:
    """The first place of the minimum or of a NaN; 0 if there is nothing."""
    return np.int64(np.argmin(x) if x.size else 0)


def count(x: Array) -> Array:
    """How many elements there are, as one."""
    return x.dtype.type(x.size)


def mean(x: Array) -> Array:
    """The sum over the count."""
    return np.sum(x) / count(x)


def log_softmax(x: Array) -> Array:
    """x - log(sum(exp(x))), shifted by the maximum."""
    shifted = x - np.max(x, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted)))


def added_at(x: Array, at: Array, updates: Array) -> Array:
    """``x`` with each update added at its index."""
    result = x.copy()
    np.add.at(result, at, updates)
    return result


def scan(carry: Array, x: Array, a: Array, bound: float = math.inf) -> tuple[Array, Array]:
    """Every c' = a c + x, and the last; ends once a carry is above ``bound``."""
    found: list[Array] = []
    for each in x:
        if not carry <= bound:
            break
        carry = a * carry + each
        found.append(carry)
    return np.array(found, x.dtype), carry


def scan_final(carry: Array, x: Array, a: Array) -> Array:
    """The last carry."""
    return scan(carry, x, a)[1]


def scan_early_exit(carry: Array, x: Array, a: Array) -> Array:
    """The last carry, or the first above 8."""
    return scan(carry, x, a, 8)[1]
