"""Kernels: what the binding table holds and a program calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xfuse.errors import KernelError
from xfuse.primitives.element_types import is_integer, numpy_dtype, width

Array = np.ndarray[Any, Any]
KernelFunction = Callable[..., Any]
"""Arrays that broadcast against each other in, one array or a tuple of arrays out."""


@dataclass(frozen=True)
class Kernel:
    """Something that computes a recipe at one dtype tuple.

    ``arguments`` and ``results`` are element type names. ``function`` takes one array per argument, broadcasting as
    NumPy ufuncs do, and returns the results. ``ufunc`` is that function where it is a `numpy.ufunc`. ``source`` is
    the code it was made from: Python or LLVM IR, empty for foreign kernels.
    """

    name: str
    backend: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    function: KernelFunction
    ufunc: np.ufunc | None = None
    source: str = ""

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Element types of the arguments, then of the results."""
        return (*self.arguments, *self.results)

    def __call__(self, *arrays: Any) -> Any:
        """Apply to arrays of exactly these dtypes (byte order aside; Python scalars are taken as the dtype).

        Returns an array, or a tuple of arrays where there are several results; shapes broadcast as in NumPy. Raises
        `KernelError`, before anything is computed, for a wrong count, dtype, or shapes that do not broadcast.
        """
        checked = check_arrays(self.name, self.arguments, arrays)
        with np.errstate(all="ignore"):
            results = self.function(*checked)
        return results


def check_arrays(name: str, element_types: Sequence[str], arrays: Sequence[Any]) -> list[Array]:
    """The arrays as a kernel takes them: native byte order, exact dtypes, shapes that broadcast.

    Integer arrays of the other signedness are taken by their bits, since MLIR's integers have no sign.
    """
    if len(arrays) != len(element_types):
        raise KernelError(f"{name} takes {len(element_types)} arrays, got {len(arrays)}")
    checked = [as_element_type(name, n, value, t) for n, (value, t) in enumerate(zip(arrays, element_types, strict=True))]
    try:
        np.broadcast_shapes(*(array.shape for array in checked))
    except ValueError as error:
        shapes = ", ".join(str(array.shape) for array in checked)
        raise KernelError(f"{name} got arrays that do not broadcast: shapes {shapes}") from error
    return checked


def as_element_type(name: str, number: int, value: Any, element_type: str) -> Array:
    """One argument as an array of an element type, by the rules of `check_arrays`; raises `KernelError`."""
    expected = numpy_dtype(element_type)
    if isinstance(value, bool | int | float):
        try:
            with np.errstate(over="ignore"):
                return np.asarray(value, expected)
        except (OverflowError, TypeError, ValueError) as error:
            raise KernelError(f"argument {number} of {name}: {value!r} does not fit {expected}") from error
    array = np.asarray(value)
    if array.dtype == expected:
        return array
    if array.dtype.newbyteorder("=") == expected:
        return array.astype(expected)
    if is_integer(element_type) and array.dtype.kind in "iu" and array.dtype.itemsize * 8 == width(element_type):
        return array.astype(array.dtype.newbyteorder("="), copy=False).view(expected)
    raise KernelError(
        f"argument {number} of {name} must have dtype {expected} ({element_type}), got {array.dtype}; nothing is "
        f"converted silently: pass array.astype({str(expected)!r}) if that is meant"
    )
