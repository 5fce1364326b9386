"""NumPy evaluation of the node kinds that are not scalar ops: reductions, gathers, reshapes, slices, padding.

Arrays come arranged: leading axes are those that the node binds, in its own order, the rest its passed-through
parameters, missing ones of extent one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from xfuse.errors import KernelError
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES

Array = Any
Slice = tuple[int, int, int, int]


def arrange(array: Array, index: Sequence[int], rank: int) -> Array:
    """A view of ``array`` in a frame of ``rank`` axes: its axis ``k`` lies along ``index[k]``, or is dropped if that
    is negative. Axes of the frame that it does not have become axes of extent one."""
    array = np.asarray(array)
    if any(axis < 0 for axis in index):
        array = array[tuple(0 if axis < 0 else slice(None) for axis in index)]
        index = [axis for axis in index if axis >= 0]
    while len(set(index)) != len(index):
        repeated = next(axis for axis in index if list(index).count(axis) > 1)
        first, second = [position for position, axis in enumerate(index) if axis == repeated][:2]
        array = np.diagonal(array, axis1=first, axis2=second)
        index = [axis for position, axis in enumerate(index) if position not in (first, second)] + [repeated]
    order = sorted(range(len(index)), key=lambda position: index[position])
    if order != list(range(len(order))):
        array = array.transpose(order)
    present = set(index)
    return array[tuple(slice(None) if axis in present else None for axis in range(rank))]


def evaluate(kind: str, element_type: str, *arrays: Array) -> Array:
    """A scalar op on arrays of one element type, by the primitives table."""
    function = PRIMITIVES[kind].numpy
    if isinstance(function, np.ufunc):
        return function(*arrays)
    return function(Signature((element_type,) * len(arrays), (element_type,), {}), *arrays)


_REDUCERS: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
}
_ORDERS_ZEROS = {"arith.maximumf": 1, "arith.maxnumf": 1, "arith.minimumf": -1, "arith.minnumf": -1}


def reduce(
    combine: str, element_type: str, operand: Array, initial: Array, bound: int, repeated: Sequence[int]
) -> Array:
    """Combine ``operand`` over its ``bound`` leading axes and ``repeated`` copies, starting from ``initial``.

    Sums of f16 and bf16 are held in f32 and rounded once; sums are NumPy's own, pairwise over all that is summed.
    """
    if repeated:
        operand = np.broadcast_to(operand, (*repeated, *operand.shape))
    axes = tuple(range(bound + len(repeated)))
    if any(operand.shape[axis] == 0 for axis in axes):
        return np.broadcast_to(initial, np.broadcast_shapes(initial.shape, operand.shape[len(axes) :]))
    if not axes:
        return evaluate(combine, element_type, initial, operand)
    if combine == "arith.addf":
        total = _sum(operand.astype(np.float32) if element_type in ("f16", "bf16") else operand, len(axes))
        return np.asarray(total + initial.astype(total.dtype)).astype(numpy_dtype(element_type))
    if element_type == "i1" and combine in ("arith.addi", "arith.muli"):
        combine = "arith.xori" if combine == "arith.addi" else "arith.andi"
    reducer = _REDUCERS.get(combine)
    if reducer is None or (element_type == "i1" and combine in ("arith.maxsi", "arith.minsi")):
        reduced = _pairwise(combine, element_type, operand, len(axes))
    else:
        reduced = reducer.reduce(operand, axis=axes, dtype=operand.dtype)
    sign = _ORDERS_ZEROS.get(combine)
    if sign is not None:
        wanted = (operand == 0) & (np.signbit(operand) == (sign < 0))
        zero = np.copysign(operand.dtype.type(0), operand.dtype.type(sign))
        reduced = cast(Array, np.where((reduced == 0) & wanted.any(axis=axes), zero, reduced))
    return evaluate(combine, element_type, initial, np.asarray(reduced, operand.dtype))


def _sum(operand: Array, count: int) -> Array:
    """The sum over the leading axes. NumPy sums pairwise along one axis only, the fast one."""
    moved = np.moveaxis(operand, tuple(range(count)), tuple(range(-count, 0)))
    kept = moved.ndim - count
    flat = np.ascontiguousarray(moved).reshape((*moved.shape[:kept], math.prod(moved.shape[kept:])))
    return np.add.reduce(flat, axis=-1)


def _pairwise(combine: str, element_type: str, operand: Array, bound: int) -> Array:
    """Any commutative op over the leading axes, in halves."""
    flat = operand.reshape((-1, *operand.shape[bound:]))
    while flat.shape[0] > 1:
        half = flat.shape[0] // 2
        combined = evaluate(combine, element_type, flat[:half], flat[half : 2 * half])
        flat = combined if flat.shape[0] % 2 == 0 else np.concatenate([combined, flat[2 * half :]])
    return flat[0]


def contract(
    left: Array, left_index: Sequence[int], right: Array, right_index: Sequence[int], rank: int, bound: int
) -> Array:
    """Sum of products over the last ``bound`` axes of a frame of ``rank + bound`` axes, by matrix multiplication.

    ``left_index`` and ``right_index`` say which axis of the frame each axis of an operand lies along. Each bound axis
    must occur in both operands, each other axis in one of them.
    """
    shared = set(left_index) & set(right_index)
    batch = sorted(axis for axis in shared if axis < rank)
    summed = sorted(axis for axis in shared if axis >= rank)
    rows = sorted(set(left_index) - shared)
    columns = sorted(set(right_index) - shared)
    a = _grouped(left, left_index, (batch, rows, summed))
    b = _grouped(right, right_index, (batch, summed, columns))
    product = np.matmul(a, b)
    axes = [*batch, *rows, *columns]
    sizes = {
        axis: size
        for array, index in ((left, left_index), (right, right_index))
        for axis, size in zip(index, array.shape, strict=True)
    }
    product = product.reshape([sizes[axis] for axis in axes])
    return arrange(product, axes, rank)


def _grouped(array: Array, index: Sequence[int], groups: Sequence[Sequence[int]]) -> Array:
    order = [list(index).index(axis) for group in groups for axis in group]
    shape = [math.prod(array.shape[list(index).index(axis)] for axis in group) for group in groups]
    return array.transpose(order).reshape(shape)


def gather(source: Array, passed: Sequence[int], at: Sequence[Array], rank: int) -> Array:
    """Elements of ``source``: its axis ``k`` is read along frame axis ``passed[k]``, or, where that is negative, at
    the computed index array ``at[-1 - passed[k]]`` of the frame. Raises `KernelError` for an index out of range."""
    places: list[Array] = []
    for axis, (where, size) in enumerate(zip(passed, source.shape, strict=True)):
        if where < 0:
            index = np.asarray(at[-1 - where])
            if index.size and (index.min() < 0 or index.max() >= size):
                raise KernelError(
                    f"tensor.extract reads outside its tensor: axis {axis} has extent {size}, "
                    f"indices reach from {index.min()} to {index.max()}"
                )
            places.append(index)
        else:
            shape = tuple(size if a == where else 1 for a in range(rank))
            places.append(cast(Array, np.arange(size)).reshape(shape))
    return source[tuple(places)]


def regroup(array: Array, groups: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Array:
    """A real reshape: the leading axes, group by group, from the first extents of a group to its second."""
    before = [extent for group, _ in groups for extent in group]
    after = [extent for _, group in groups for extent in group]
    rest = array.shape[len(before) :]
    return np.broadcast_to(array, (*before, *rest)).reshape((*after, *rest))


def take_slice(array: Array, axes: Sequence[Slice], dropped: Sequence[bool]) -> Array:
    """Leading axes at their slices, given as (extent, offset, size, stride); dropped ones lose the axis."""
    return array[tuple(_places(slice_, drop) for slice_, drop in zip(axes, dropped, strict=True))]


def _places(slice_: Slice, drop: bool) -> int | slice:
    extent, offset, size, stride = slice_
    if offset < 0 or stride < 1 or size < 0 or (size and offset + (size - 1) * stride >= extent):
        raise KernelError(
            f"a slice at offset {offset} of size {size} and stride {stride} reaches outside its axis of extent {extent}"
        )
    return offset if drop else slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride)


def insert_slice(source: Array, target: Array | None, axes: Sequence[Slice], *, keep: bool = True) -> Array:
    """``target``, or zeros, with ``source`` written where the slices say; without ``keep``, in the target's buffer."""
    shape = tuple(extent for extent, *_ in axes)
    if target is None:
        result = np.zeros(shape, source.dtype)
    else:
        result = np.array(np.broadcast_to(target, shape)) if keep else target
    result[tuple(_places(slice_, drop=False) for slice_ in axes)] = source
    return result


def whole(array: Array, index: Sequence[int], extents: Sequence[int]) -> Array:
    """An array arranged over all axes of a frame, at the given extents where it lacks them (elsewhere -1)."""
    arranged = arrange(array, index, len(extents))
    shape = tuple(size if extent < 0 else extent for size, extent in zip(arranged.shape, extents, strict=True))
    return np.broadcast_to(arranged, shape)


def steps(lower: Array, upper: Array, step: Array) -> range:
    """The values of a loop's induction variable. Raises `KernelError` unless the step is positive."""
    if step <= 0:
        raise KernelError(f"scf.for with step {step}, which must be positive")
    return range(int(lower), int(upper), int(step))


def insert(target: Array, value: Array, *at: Array, keep: bool = True) -> Array:
    """``target`` with one element replaced; without ``keep``, in the target's buffer."""
    result = np.array(target) if keep else target
    place = tuple(int(index) for index in at)
    if any(not 0 <= index < size for index, size in zip(place, result.shape, strict=True)):
        raise KernelError(f"tensor.insert writes at {place}, outside a tensor of shape {result.shape}")
    result[place] = value
    return result


def concatenate(parts: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Parts one after the other along the leading axis, each of its size there."""
    rest = np.broadcast_shapes(*(part.shape[1:] for part in parts))
    return np.concatenate([np.broadcast_to(p, (size, *rest)) for p, size in zip(parts, sizes, strict=True)])


def pad(array: Array, padding: Array, axes: Sequence[tuple[int, int, int]]) -> Array:
    """Leading axes with (extent, low, high) padded by ``padding``, an array over the result's own frame.

    Raises `KernelError` for a negative amount.
    """
    for extent, low, high in axes:
        if low < 0 or high < 0:
            raise KernelError(f"tensor.pad pads an axis of extent {extent} by {low} and {high}, expected none below 0")
    rest = np.broadcast_shapes(array.shape[len(axes) :], padding.shape[len(axes) :])
    shape = (*(extent + low + high for extent, low, high in axes), *rest)
    result = np.array(np.broadcast_to(padding, shape))
    result[tuple(slice(low, low + extent) for extent, low, _ in axes)] = array
    return result


def from_elements(shape: Sequence[int], element_type: str, *elements: Array) -> Array:
    """A tensor of given elements, row-major."""
    return np.array([np.asarray(e)[()] for e in elements], numpy_dtype(element_type)).reshape(shape)


def finish(array: Array, index: Sequence[int], shape: Sequence[int], element_type: str, fresh: bool = False) -> Array:
    """A result: laid out over all its axes, contiguous, writable and its own.

    A ``fresh`` array that is all that already, and owns its memory, is given as it is.
    """
    dtype = numpy_dtype(element_type)
    if fresh and type(array) is np.ndarray and tuple(index) == tuple(range(len(shape))):
        given = array.shape == tuple(shape) and array.dtype == dtype
        if given and array.flags.owndata and array.flags.c_contiguous and array.flags.writeable:
            return array
    laid_out = np.broadcast_to(arrange(array, index, len(shape)), shape)
    return np.array(laid_out, dtype=dtype, order="C")
