"""Literals by bits: from Python numbers to the bits of an element type and back, each rounded once."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from xfuse.errors import UnsupportedError
from xfuse.primitives.element_types import is_float, is_integer, numpy_dtype, width

_FLOAT_LAYOUTS = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}


def to_bits(value: float | int, element_type: str) -> int:
    """The bits of a number at an element type, as a non-negative integer.

    Floats are rounded to nearest even, to infinity beyond the range; integers keep their low bits.
    """
    if is_integer(element_type):
        return int(value) & ((1 << width(element_type)) - 1)
    if element_type == "bf16":
        return _bf16_bits(float(value))
    if element_type not in _FLOAT_LAYOUTS:
        raise UnsupportedError(f"a literal of element type {element_type} is not in the vocabulary")
    floating, integral = _FLOAT_LAYOUTS[element_type]
    try:
        packed = struct.pack(floating, value)
    except OverflowError:
        packed = struct.pack(floating, math.copysign(math.inf, value))
    return struct.unpack(integral, packed)[0]


def _bf16_bits(value: float) -> int:
    if math.isnan(value):
        return 0x7FC0 | (0x8000 if math.copysign(1.0, value) < 0 else 0)
    sign = 0x8000 if math.copysign(1.0, value) < 0 else 0
    value = abs(value)
    if math.isinf(value):
        return sign | 0x7F80
    # One rounding, at the place of the eighth significant bit or of the smallest subnormal.
    exponent = max(math.frexp(value)[1], -125) - 8 if value else -133
    rounded = round(math.ldexp(value, -exponent))
    bits = struct.unpack("<I", struct.pack("<f", min(math.ldexp(rounded, exponent), 3.3961775e38)))[0]
    overflows = math.ldexp(rounded, exponent) > 3.3895313892515355e38
    return sign | (0x7F80 if overflows else bits >> 16)


def from_bits(bits: int, element_type: str) -> float | int:
    """The number that the bits stand for; integers are signed, ``i1`` is 0 or 1."""
    if is_float(element_type):
        if element_type == "bf16":
            return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
        floating, integral = _FLOAT_LAYOUTS[element_type]
        return struct.unpack(floating, struct.pack(integral, bits))[0]
    if element_type == "i1":
        return bits & 1
    size = width(element_type)
    return bits - (1 << size) if bits >> (size - 1) else bits


def to_scalar(bits: int, element_type: str) -> Any:
    """The NumPy scalar of these bits."""
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return np.bool_(bits & 1)
    return np.array(bits, dtype=f"u{dtype.itemsize}").view(dtype)[()]


def array_bits(array: np.ndarray[Any, Any], element_type: str) -> int:
    """The bits of a NumPy scalar or 0-d array of this element type."""
    if element_type == "i1":
        return int(bool(array))
    dtype = numpy_dtype(element_type)
    return int(np.asarray(array, dtype).reshape(()).view(f"u{dtype.itemsize}"))


def spell(bits: int, element_type: str) -> str:
    """The literal as people read it, with its bits where a float is not finite."""
    value = from_bits(bits, element_type)
    if isinstance(value, float) and not math.isfinite(value):
        return f"0x{bits:0{width(element_type) // 4}X}"
    return repr(value)
