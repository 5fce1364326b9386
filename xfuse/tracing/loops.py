"""Loop nests: a scalar body over the points of traced arrays, as one ``linalg.generic`` or, on scalars, as it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.linalg.ops import FillOp, IndexOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from xfuse.canonical.graph import UNIT
from xfuse.emission import type_named
from xfuse.emission.generics import PARALLEL, REDUCTION, Generic, projection
from xfuse.tracing.array import Array, Extent, is_unit, same_extent, spell_shape
from xfuse.tracing.locations import fail
from xfuse.tracing.tracer import Tracer

Index = Callable[[int], SSAValue]
Body = Callable[[list[SSAValue], Index], SSAValue]
"""From the operands' scalars at a point, then the accumulator, and the index along any axis, to the result there."""


def tensor_type(shape: Sequence[Extent], element_type: str) -> TensorType[Attribute]:
    """The type of a whole array."""
    return TensorType(type_named(element_type), [e if isinstance(e, int) else DYNAMIC_INDEX for e in shape])


def extent_value(tracer: Tracer, extent: Extent) -> SSAValue:
    """An extent as a value of type index."""
    return tracer.index(extent) if isinstance(extent, int) else extent.value


def empty(tracer: Tracer, shape: Sequence[Extent], element_type: str) -> SSAValue:
    """A tensor of a shape, not to be read."""
    sizes = [extent.value for extent in shape if isinstance(extent, Array)]
    return tracer.add(tensor.EmptyOp(sizes, tensor_type(shape, element_type)))


def filled(tracer: Tracer, value: SSAValue, shape: Sequence[Extent], element_type: str) -> SSAValue:
    """A tensor of one scalar."""
    if element_type == "index":  # not for linalg.fill in xDSL
        sizes = [extent.value for extent in shape if isinstance(extent, Array)]
        return tracer.add(tensor.SplatOp(value, sizes, tensor_type(shape, element_type)))
    target = empty(tracer, shape, element_type)
    op = FillOp([value], [target], [target.type])
    tracer.add(op)
    return op.results[0]


def scalar(array: Array) -> SSAValue:
    """The value of an array whose tensor, if it is one, has a single element."""
    if not array.is_tensor:
        return array.value
    zero = array.tracer.index(0)
    return extracted(array, [zero] * len(array.places))


def extracted(array: Array, at: Sequence[SSAValue]) -> SSAValue:
    """One element of an array's tensor."""
    return array.tracer.add(tensor.ExtractOp(array.value, at, type_named(array.dtype)))


def covered(array: Array, rank: int | None = None) -> set[int]:
    """The axes, counted in a frame of some rank, along which an array varies."""
    offset = 0 if rank is None else rank - array.ndim
    return {offset + p for p in array.places if p is not None and not is_unit(array.shape[p])}


def broadcast_shapes(*shapes: Sequence[Extent]) -> tuple[Extent, ...]:
    """The shape that shapes broadcast to, as in NumPy; extents that are not known to be equal do not."""
    rank = max(map(len, shapes), default=0)
    result: list[Extent] = []
    for axis in range(-rank, 0):
        joined: Extent = 1
        for shape in shapes:
            if axis >= -len(shape):
                one = _join(joined, shape[axis])
                if one is None:
                    spelled = " and ".join(spell_shape(each) for each in shapes if each)
                    fail(f"shapes {spelled} do not broadcast: {_apart(joined, shape[axis])}")
                joined = one
        result.append(joined)
    return tuple(result)


def _join(left: Extent, right: Extent) -> Extent | None:
    if is_unit(left) or is_unit(right):
        return right if is_unit(left) else left
    if not same_extent(left, right):
        return None
    return right if _is_computed(left) and not _is_computed(right) else left


def _is_computed(extent: Extent) -> bool:
    return isinstance(extent, Array) and not isinstance(extent.value.owner, tensor.DimOp)


def _apart(left: Extent, right: Extent) -> str:
    one, other = spell_shape([left])[1:-2], spell_shape([right])[1:-2]
    if isinstance(left, int) and isinstance(right, int):
        return f"{one} is not {other}"
    return (
        f"{one} and {other} are not known to be equal; core dimensions that are equal have one name in the signature, "
        "and an extent that is known is a number there"
    )


def nest(
    tracer: Tracer,
    operands: Sequence[Array],
    shape: Sequence[Extent],
    element_type: str,
    body: Body,
    *,
    axes: Collection[int] = (),
    reduced: Collection[int] = (),
    initial: SSAValue | None = None,
) -> Array:
    """The results of a body at all points of a frame of a shape that the operands broadcast to.

    The loops run along the axes that operands vary along, and along ``axes``; the result repeats along all others.
    Reduced axes, along which the body combines from ``initial``, have extent one in the result.
    """
    rank = len(shape)
    loops = sorted(set(axes).union(*(covered(each, rank) for each in operands)))
    left = tuple(1 if axis in reduced else extent for axis, extent in enumerate(shape))

    def unit_index(_: int) -> SSAValue:
        return tracer.index(0)

    if not loops:
        given = [scalar(each) for each in operands]
        value = body(given if initial is None else [*given, initial], unit_index)
        return Array(tracer, value, element_type, left)
    kept = [axis for axis in loops if axis not in reduced]
    kept_shape = [shape[axis] for axis in kept]
    generic = Generic([REDUCTION if axis in reduced else PARALLEL for axis in loops])
    inputs: dict[tuple[SSAValue, AffineMap], SSAValue] = {}
    values: list[SSAValue] = []
    for each in operands:
        if not covered(each):
            values.append(scalar(each))
            continue
        key = (each.value, _map(each, rank, loops))
        if key not in inputs:
            inputs[key] = generic.read(*key)
        values.append(inputs[key])
    if initial is None:
        target = empty(tracer, kept_shape, element_type)
    else:
        target = filled(tracer, initial, kept_shape, element_type)
    accumulator = generic.output(type_named(element_type))

    def index(axis: int) -> SSAValue:
        return tracer.add(IndexOp(loops.index(axis))) if axis in loops else tracer.index(0)

    with tracer.inside(generic.block):
        result = body(values if initial is None else [*values, accumulator], index)
    op = generic.finish([target], [projection(len(loops), [loops.index(axis) for axis in kept])], [result])
    made = Array(tracer, tracer.add(op), element_type, left, kept)
    return made if kept else Array(tracer, scalar(made), element_type, left)


def _map(array: Array, rank: int, loops: Sequence[int]) -> AffineMap:
    offset = rank - array.ndim
    axes = [UNIT if p is None or is_unit(array.shape[p]) else loops.index(offset + p) for p in array.places]
    return projection(len(loops), axes)


def view(array: Array, axes: Sequence[int | None], extents: Sequence[Extent] = ()) -> Array:
    """An array with other axes: old ones by number, or None for a new one, of extent one or the next of ``extents``.

    Old axes that are left out must be of extent one.
    """
    new = iter(extents)
    shape = [next(new, 1) if axis is None else array.shape[axis] for axis in axes]
    places = [None if place not in axes else list(axes).index(place) for place in array.places]
    return Array(array.tracer, array.value, array.dtype, shape, places)


def broadcast_view(array: Array, shape: Sequence[Extent]) -> Array:
    """An array over a shape that it broadcasts to."""
    offset = len(shape) - array.ndim
    # A place along an axis of extent one is dropped: there the array may repeat now.
    places = [None if p is None or is_unit(array.shape[p]) else offset + p for p in array.places]
    return Array(array.tracer, array.value, array.dtype, shape, places)


def dense(array: Array) -> Array:
    """The same array with a tensor that has its axes, in their order."""
    if array.is_tensor and array.places == tuple(range(array.ndim)):
        return array
    if not array.ndim:
        return Array(array.tracer, scalar(array), array.dtype)
    every = range(array.ndim)
    if not covered(array):
        value = filled(array.tracer, scalar(array), array.shape, array.dtype)
        return Array(array.tracer, value, array.dtype, array.shape, every)
    return nest(array.tracer, [array], array.shape, array.dtype, lambda values, _: values[0], axes=every)
