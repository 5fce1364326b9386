"""Element types by their MLIR name ("f32", "i8", "i1", "index"): what xDSL, NumPy and LLVM call them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from xfuse.errors import BackendUnavailable, UnsupportedError

FLOATS = ("f16", "bf16", "f32", "f64")
"""Float element types, narrowest first."""

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")
"""Integer element types. MLIR integers are signless; ``index`` is 64 bits wide, ``i1`` a boolean."""

_WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "index": "int64",
}
_LLVM = {"f16": "float", "bf16": "float", "f32": "float", "f64": "double", "index": "i64"}


def is_float(element_type: str) -> bool:
    """Whether the named type is one of `FLOATS`."""
    return element_type in FLOATS


def is_integer(element_type: str) -> bool:
    """Whether the named type is one of `INTEGERS`, ``i1`` and ``index`` included."""
    return element_type in INTEGERS


def width(element_type: str) -> int:
    """Bits of one element; ``i1`` counts as one bit though NumPy stores a byte."""
    return _WIDTHS[element_type]


@cache
def numpy_dtype(element_type: str) -> np.dtype[Any]:
    """The native NumPy dtype of an element type; integers are signed, ``i1`` is bool, ``bf16`` comes from ml_dtypes.

    Raises `UnsupportedError` for a type that NumPy cannot hold, `BackendUnavailable` for bf16 without ml_dtypes.
    """
    if element_type == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            raise BackendUnavailable(
                "element type bf16 needs the package ml_dtypes; install it with: pip install 'xfuse[llvm]'"
            ) from None
        return np.dtype(ml_dtypes.bfloat16)
    if element_type not in _NUMPY:
        raise UnsupportedError(f"element type {element_type} has no NumPy dtype; known are {', '.join(_WIDTHS)}")
    return np.dtype(_NUMPY[element_type])


def llvm_type(element_type: str) -> str:
    """The LLVM IR type of a value of this element type in a register.

    f16 and bf16 values travel as ``float`` that hold an exactly representable value: each op rounds its result
    (`xfuse.primitives.llvm_narrow.round_to`), loads and stores convert from and to 16 bits. LLVM's own half and
    bfloat arithmetic may call runtime helpers that no process has.
    """
    return _LLVM.get(element_type, element_type)
