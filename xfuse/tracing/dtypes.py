"""Element types by the names that NumPy and Python have for them."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np

from xfuse.primitives.element_types import FLOATS, INTEGERS, numpy_dtype

_NAMES = {"bool": "i1", "float": "f64", "int": "i64", "bfloat16": "bf16"} | {
    f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("int", "float") for bits in (8, 16, 32, 64)
}


def element_type_of(dtype: object) -> str | None:
    """The element type that a name ("f32", "float32"), a NumPy dtype or a Python type stands for; else None."""
    if isinstance(dtype, type) and issubclass(dtype, bool | int | float) and not issubclass(dtype, np.generic):
        dtype = dtype.__name__
    if not isinstance(dtype, str):
        if dtype is None:
            return None
        try:
            dtype = np.dtype(cast(Any, dtype)).name
        except TypeError:
            return None
    name = _NAMES.get(dtype, dtype)
    return name if name in FLOATS or name in INTEGERS else None


def looks_like_type(text: str) -> bool:
    """Whether a name is meant to be an element type, known or not."""
    return re.fullmatch(r"[a-z]+\d+", text) is not None


def for_numpy(dtype: Any) -> Any:
    """A dtype that NumPy knows, for one given by an element type's name."""
    found = element_type_of(dtype)
    return dtype if found is None else numpy_dtype(found)
