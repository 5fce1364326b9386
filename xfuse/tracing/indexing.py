"""Indexing traced arrays: integers, slices, new axes, an ellipsis; bounds may be computed from extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import tensor
from xdsl.ir import SSAValue

from xfuse.tracing.array import Array, Extent, function, is_unit, same_extent, spell_shape, symbol_of
from xfuse.tracing.gathering import flip
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import covered, extent_value, extracted, tensor_type
from xfuse.tracing.promotion import convert, is_integer
from xfuse.tracing.reductions import whole_number


@dataclass(frozen=True)
class _Part:
    """What is taken of one axis: ``size`` elements from ``start`` on, ``step`` apart; size None drops the axis."""

    start: Extent
    size: Extent | None
    step: int = 1
    reverse: bool = False


@function()
def getitem(x: Any, key: Any, /) -> Any:
    """The operator ``x[key]``.

    Bounds beyond an extent that is known are cut off as in NumPy; others must lie within the extent that an array has
    later.
    """
    entries = _entries(x, list(cast(tuple[Any, ...], key)) if isinstance(key, tuple) else [key])
    parts: list[_Part] = []
    layout: list[int | None] = []
    for entry in entries:
        if entry is None:
            layout.append(None)
            continue
        axis = len(parts)
        part = _slice(x, axis, entry) if type(entry) is slice else _Part(_position(x, axis, entry), None)
        parts.append(part)
        if part.size is not None:
            layout.append(axis)
    return _laid_out(_taken(x, parts), parts, layout)


def _entries(x: Array, key: list[Any]) -> list[Any]:
    """One entry for each axis, and None for each new one."""
    taken = sum(each is not None and each is not Ellipsis for each in key)
    if taken > x.ndim:
        fail(f"{taken} indices for an array of shape {spell_shape(x.shape)}")
    gaps = sum(each is Ellipsis for each in key)
    if gaps > 1:
        fail("an index may have one ellipsis only")
    whole = [slice(None)] * (x.ndim - taken)
    found: list[Any] = []
    for each in key:
        if each is Ellipsis:
            found.extend(whole)
        else:
            found.append(each)
    return found if gaps else [*found, *whole]


def _position(x: Array, axis: int, entry: Any) -> Extent:
    """An integer index as an offset from the front."""
    if isinstance(entry, Array):
        if entry.ndim or not is_integer(entry.dtype):
            advice = "xp.where(mask, x, 0)" if entry.dtype == "i1" else "xp.take(x, indices, axis=...)"
            fail(f"a traced array of type {entry.dtype} and shape {spell_shape(entry.shape)} is no index; use {advice}")
        return convert(entry, "index") if entry.symbol is None else entry
    number = whole_number(entry)
    if number is None:
        fail(f"{entry!r} is no index of a traced array; expected integers, slices, None and an ellipsis")
    extent: Any = x.shape[axis]
    if isinstance(extent, int):
        if not -extent <= number < extent:
            fail(f"index {number} is out of range for axis {axis} of an array of shape {spell_shape(x.shape)}")
        return number % extent
    return number if number >= 0 else extent + number


def _slice(x: Array, axis: int, given: slice) -> _Part:
    step = _bound(1 if given.step is None else given.step)
    if not isinstance(step, int) or step == 0:
        fail(f"the step of a slice must be an integer other than 0, got {given.step!r}")
    extent: Any = x.shape[axis]
    start = None if given.start is None else _bound(given.start)
    stop = None if given.stop is None else _bound(given.stop)
    if all(each is None or isinstance(each, int) for each in (extent, start, stop)):
        return _known_slice(slice(start, stop, step), extent)
    if step > 0:
        low = _from_front(0 if start is None else start, extent)
        high = _from_front(extent if stop is None else stop, extent)
    else:
        low = 0 if stop is None else _from_front(stop, extent) + 1
        high = extent if start is None else _from_front(start, extent) + 1
    distance = high if isinstance(low, int) and low == 0 else high - low
    size: Any = distance if abs(step) == 1 else (distance + (abs(step) - 1)) // abs(step)
    if isinstance(size, int):
        size = max(size, 0)
    if step < -1:
        low = high - 1 - (size - 1) * -step
    return _Part(low, size, abs(step), step < 0)


def _known_slice(given: slice, extent: int) -> _Part:
    places = range(*given.indices(extent))
    if places.step > 0:
        return _Part(places.start if places else 0, len(places), places.step)
    return _Part(places[-1] if places else 0, len(places), -places.step, True)


def _from_front(bound: Any, extent: Any) -> Any:
    return extent + bound if isinstance(bound, int) and bound < 0 else bound


def _bound(value: Any) -> Any:
    if isinstance(value, Array):
        if value.symbol is None or value.ndim:
            fail(
                "the bound of a slice must be an integer or come from extents by + - * // and %, so that the shape is "
                "known; choose elements by data with xp.where or xp.take"
            )
        return value
    number = whole_number(value)
    if number is None:
        fail(f"the bound of a slice must be an integer, got {value!r}")
    return number


def _taken(x: Array, parts: Sequence[_Part]) -> Array:
    """The array with the same axes, each cut to its part; dropped ones have extent one."""
    shape = [1 if part.size is None else part.size for part in parts]
    wanted = [axis for axis in covered(x) if not _is_whole(x, axis, parts[axis])]
    # Along an axis of extent one the value repeats, also no times.
    places = [None if p is None or is_unit(x.shape[p]) else p for p in x.places]
    if not wanted:
        return Array(x.tracer, x.value, x.dtype, shape, places)
    tracer = x.tracer
    if all(place is None or parts[place].size is None for place in x.places):
        at = [tracer.index(0) if place is None else extent_value(tracer, parts[place].start) for place in x.places]
        return Array(tracer, extracted(x, at), x.dtype, shape)
    offsets: list[SSAValue | int] = []
    sizes: list[SSAValue | int] = []
    steps: list[SSAValue | int] = []
    extents: list[Extent] = []
    for place in x.places:
        part = _Part(0, 1) if place is None or is_unit(x.shape[place]) else parts[place]
        size = 1 if part.size is None else part.size
        whole = place is not None and place not in wanted
        offsets.append(0 if whole else _operand(part.start))
        sizes.append(_operand(x.shape[place] if whole and place is not None else size))
        steps.append(part.step)
        extents.append(size)
    kind = tensor_type(extents, x.dtype)
    value = tracer.add(tensor.ExtractSliceOp(x.value, offsets, sizes, steps, kind))
    return Array(tracer, value, x.dtype, shape, places)


def _is_whole(x: Array, axis: int, part: _Part) -> bool:
    if part.size is None or part.step != 1:
        return False
    return symbol_of(part.start).constant == 0 and same_extent(part.size, x.shape[axis])


def _operand(extent: Extent) -> SSAValue | int:
    return extent if isinstance(extent, int) else extent.value


def _laid_out(x: Array, parts: Sequence[_Part], layout: Sequence[int | None]) -> Array:
    reversed_axes = [axis for axis, part in enumerate(parts) if part.reverse and not is_unit(x.shape[axis])]
    turned = flip(x, tuple(reversed_axes)) if reversed_axes else x
    shape = [1 if axis is None else turned.shape[axis] for axis in layout]
    places = [layout.index(place) if place in layout else None for place in turned.places]
    return Array(turned.tracer, turned.value, turned.dtype, shape, places)
