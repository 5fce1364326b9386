"""Kernels: what the binding table holds and a program calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from xfuse.errors import KernelError
from xfuse.primitives.element_types import is_integer, numpy_dtype, width
from xfuse.signature import CoreSignature

Array = np.ndarray[Any, Any]
KernelFunction = Callable[..., Any]
"""Arrays that broadcast against each other in, one array or a tuple of arrays out."""


@dataclass(frozen=True, repr=False)
class Kernel:
    """Something that computes a recipe at one dtype tuple.

    ``arguments`` and ``results`` are element type names. ``function`` takes one array per argument, broadcasting as
    NumPy ufuncs do, and returns the results. ``ufunc`` is that function where it is a `numpy.ufunc`. ``source`` is
    the code it was made from: Python or LLVM IR, empty for foreign kernels. ``signature`` are the core dimensions, if
    there are any: then arrays have loop dimensions in front of them, by NumPy's rule for gufuncs, but for arguments in
    ``flat``, which are taken whole whatever their dimensions.
    """

    name: str
    backend: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    function: KernelFunction
    ufunc: np.ufunc | None = None
    source: str = ""
    signature: CoreSignature | None = None
    flat: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"Kernel(@{self.name}, ({', '.join(self.arguments)}) -> ({', '.join(self.results)}), {self.backend})"

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Element types of the arguments, then of the results."""
        return (*self.arguments, *self.results)

    def __call__(self, *arrays: Any) -> Any:
        """Apply to arrays of exactly these dtypes (byte order aside; Python scalars are taken as the dtype).

        Returns an array, or a tuple of arrays where there are several results; shapes broadcast as in NumPy. Results
        share no memory with the arguments. Raises `KernelError`, before anything is computed, for a wrong count, dtype,
        or shapes that do not broadcast.
        """
        ufunc = self.ufunc
        # Code of ours raises no floating-point warnings, and NumPy checks the shapes; the rest is a look at the dtypes.
        if ufunc is not None and ufunc is self.function and self.source and self._fit(arrays):
            try:
                return ufunc(*arrays)
            except ValueError:
                pass
        checked = self.check(arrays)
        with np.errstate(all="ignore"):
            results = self.call(*checked)
        return results[0] if len(results) == 1 else results

    @cached_property
    def _dtypes(self) -> tuple[np.dtype[Any], ...]:
        return tuple(map(numpy_dtype, self.arguments))

    def _fit(self, arrays: tuple[Any, ...]) -> bool:
        """Whether these are plain arrays and NumPy scalars of exactly the right dtypes, as they mostly are."""
        if len(arrays) != len(self.arguments):
            return False
        for array, dtype in zip(arrays, self._dtypes, strict=True):
            kind: Any = array.__class__
            if not (kind is np.ndarray or issubclass(kind, np.generic)) or array.dtype is not dtype:
                return False
        return True

    def check(self, arrays: Sequence[Any]) -> list[Array]:
        """The arrays as the kernel takes them, by the rules of `check_arrays`; raises `KernelError`."""
        return check_arrays(self.name, self.arguments, arrays, self.signature, self.flat)

    def call(self, *arrays: Any) -> tuple[Any, ...]:
        """Apply to arrays that are known to fit; what foreign code gives is checked and copied where it is not its own.

        Raises `KernelError` if the results are not what the recipe's are.
        """
        values: Any = self.function(*arrays)
        if self.source:  # made by a backend of ours
            return values if len(self.results) > 1 else (values,)
        given = as_tuple(values)
        if len(given) != len(self.results):
            raise KernelError(f"kernel {self.name} gave {len(given)} results, expected {len(self.results)}")
        shapes = self._result_shapes(arrays)
        return tuple(
            self._own(number, value, name, shape, arrays)
            for number, (value, name, shape) in enumerate(zip(given, self.results, shapes, strict=True))
        )

    def _result_shapes(self, arrays: Sequence[Array]) -> list[tuple[int, ...] | None]:
        """The shape of each result; None for one with a core dimension that no argument has."""
        if self.signature is None:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
            return [shape] * len(self.results)
        loops, sizes = loop_shape(self.name, self.signature, self.flat, arrays)
        found: list[tuple[int, ...] | None] = []
        for names in self.signature.results:
            core = [sizes.get(name, int(name) if name.isdigit() else -1) for name in names]
            found.append(None if -1 in core else (*loops, *core))
        return found

    def _own(
        self, number: int, value: Any, element_type: str, shape: tuple[int, ...] | None, arrays: Sequence[Array]
    ) -> Any:
        result, dtype = np.asarray(value), numpy_dtype(element_type)
        if result.dtype != dtype:
            raise KernelError(f"kernel {self.name} gave result {number} of dtype {result.dtype}, expected {dtype}")
        if shape is not None and result.shape != shape:
            raise KernelError(f"kernel {self.name} gave result {number} of shape {result.shape}, expected {shape}")
        if not result.flags.writeable or any(np.may_share_memory(result, array) for array in arrays):
            return np.array(result)
        return result


def as_tuple(values: Any) -> tuple[Any, ...]:
    """What a function of one or several results gave, as a tuple."""
    return cast(tuple[Any, ...], values) if isinstance(values, tuple) else (values,)


def loop_shape(
    name: str, signature: CoreSignature, flat: Sequence[int], arrays: Sequence[Array]
) -> tuple[tuple[int, ...], dict[str, int]]:
    """The shape of the loop dimensions and the size of each core dimension; raises `KernelError` if they do not fit."""
    loops: list[tuple[int, ...]] = []
    sizes: dict[str, int] = {}
    whole: dict[str, tuple[int, ...]] = {}
    for number, (array, names) in enumerate(zip(arrays, signature.arguments, strict=True)):
        shape = array.shape
        if number in flat:
            if whole.setdefault(names[0], shape) != shape:
                wanted = whole[names[0]]
                raise KernelError(
                    f"argument {number} of {name} has shape {shape}, expected {wanted}: all are taken whole"
                )
            shape = (array.size,)
        if len(shape) < len(names):
            raise KernelError(
                f"argument {number} of {name} needs at least {len(names)} dimensions ({', '.join(names)}), got shape "
                f"{shape}; the signature is {signature.text}"
            )
        loops.append(shape[: len(shape) - len(names)])
        for dimension, size in zip(names, shape[len(shape) - len(names) :], strict=True):
            known = sizes.setdefault(dimension, int(dimension) if dimension.isdigit() else size)
            if size != known:
                raise KernelError(
                    f"argument {number} of {name} has size {size} in its core dimension {dimension}, expected {known}; "
                    f"the signature is {signature.text}"
                )
    try:
        return np.broadcast_shapes(*loops), sizes
    except ValueError as error:
        spelled = ", ".join(map(str, loops))
        raise KernelError(f"{name} got arrays whose loop dimensions do not broadcast: {spelled}") from error


def check_arrays(
    name: str,
    element_types: Sequence[str],
    arrays: Sequence[Any],
    signature: CoreSignature | None = None,
    flat: Sequence[int] = (),
) -> list[Array]:
    """The arrays as a kernel takes them: native byte order, exact dtypes, dimensions that fit each other.

    Integer arrays of the other signedness are taken by their bits, since MLIR's integers have no sign.
    """
    if len(arrays) != len(element_types):
        raise KernelError(f"{name} takes {len(element_types)} arrays, got {len(arrays)}")
    given = enumerate(zip(arrays, element_types, strict=True))
    checked = [as_element_type(name, number, value, type_) for number, (value, type_) in given]
    if signature is not None:
        loop_shape(name, signature, flat, checked)
        return checked
    try:
        np.broadcast_shapes(*(array.shape for array in checked))
    except ValueError as error:
        shapes = ", ".join(str(array.shape) for array in checked)
        raise KernelError(f"{name} got arrays that do not broadcast: shapes {shapes}") from error
    return checked


def as_element_type(name: str, number: int, value: Any, element_type: str) -> Array:
    """One argument as an array of an element type, by the rules of `check_arrays`; raises `KernelError`."""
    expected = numpy_dtype(element_type)
    if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
        if not _fits(value, element_type):
            raise KernelError(f"argument {number} of {name}: {value!r} does not fit {expected} ({element_type})")
        try:
            with np.errstate(over="ignore"):
                return np.asarray(value, expected)
        except (OverflowError, TypeError, ValueError) as error:
            raise KernelError(f"argument {number} of {name}: {value!r} does not fit {expected}") from error
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise KernelError(f"argument {number} of {name} is no array: {error}") from error
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


def _fits(value: bool | int | float, element_type: str) -> bool:
    """Whether a Python scalar is of the element type's kind: an integer takes no float, a boolean nothing else."""
    if element_type == "i1":
        return isinstance(value, bool)
    return isinstance(value, int) if is_integer(element_type) else True
