"""Views of traced arrays: the same values along other axes, which are no ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xfuse.tracing.array import Array, Extent, function, is_unit, same_extent, spell_shape
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import broadcast_shapes, broadcast_view, view
from xfuse.tracing.reductions import Axis, axes_of, listed, one_axis, whole_number


def shape_of(shape: Any, name: str) -> tuple[Extent, ...]:
    """A shape as given: one extent, or several, each a number or an extent of an array."""
    found: list[Extent] = []
    for each in listed(shape):
        if isinstance(each, Array) and each.symbol is not None:
            found.append(each)
        elif (number := whole_number(each)) is not None:
            found.append(number)
        else:
            fail(f"xp.{name}: expected extents that are integers or come from the shape of an argument, got {each!r}")
    return tuple(found)


@function()
def expand_dims(x: Any, /, axis: Axis = 0) -> Any:
    """New axes of extent one, numbered in the result."""
    count = len(axis) if isinstance(axis, Sequence) else 1
    new = axes_of(view(x, [*range(x.ndim), *[None] * count]), axis, "expand_dims")
    old = iter(range(x.ndim))
    return view(x, [None if position in new else next(old) for position in range(x.ndim + count)])


@function()
def squeeze(x: Any, /, axis: Axis = None) -> Any:
    """Without axes of extent one: those given, or all that are known to be."""
    gone = axes_of(x, axis, "squeeze") if axis is not None else [a for a in range(x.ndim) if is_unit(x.shape[a])]
    for each in gone:
        if not is_unit(x.shape[each]):
            fail(f"xp.squeeze: axis {each} of an array of shape {spell_shape(x.shape)} is not of extent one")
    return view(x, [a for a in range(x.ndim) if a not in gone])


@function()
def permute_dims(x: Any, /, axes: Sequence[int]) -> Any:
    """The axes in another order."""
    order = [one_axis(axis, x.ndim, "permute_dims") for axis in axes]
    if sorted(order) != list(range(x.ndim)):
        fail(f"xp.permute_dims: {tuple(axes)} is no order of the axes of an array of shape {spell_shape(x.shape)}")
    return view(x, order)


@function()
def transpose(x: Any, /, axes: Sequence[int] | None = None) -> Any:
    """The axes reversed, or in the order given."""
    return permute_dims(x, tuple(reversed(range(x.ndim))) if axes is None else axes)


@function()
def transpose_to(x: Any, /, *axes: Any) -> Any:
    """`transpose` as a method, which also takes the axes one by one."""
    return transpose(x, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


@function()
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes swapped."""
    if x.ndim < 2:
        fail(f"xp.matrix_transpose of an array of shape {spell_shape(x.shape)}, which is no matrix")
    return swapaxes(x, -1, -2)


@function()
def swapaxes(x: Any, axis1: int, axis2: int, /) -> Any:
    """Two axes swapped."""
    order = list(range(x.ndim))
    one, other = one_axis(axis1, x.ndim, "swapaxes"), one_axis(axis2, x.ndim, "swapaxes")
    order[one], order[other] = order[other], order[one]
    return view(x, order)


@function()
def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Axes moved to other positions."""
    moved, to = ([one_axis(axis, x.ndim, "moveaxis") for axis in listed(each)] for each in (source, destination))
    if len(moved) != len(to) or len(set(moved)) != len(moved) or len(set(to)) != len(to):
        fail(f"xp.moveaxis: cannot move axes {source} to {destination}")
    rest = iter(axis for axis in range(x.ndim) if axis not in moved)
    return view(x, [moved[to.index(position)] if position in to else next(rest) for position in range(x.ndim)])


@function()
def broadcast_to(x: Any, /, shape: Any) -> Any:
    """The array repeated over a shape."""
    wanted = shape_of(shape, "broadcast_to")
    reached = broadcast_shapes(x.shape, wanted)
    if len(reached) != len(wanted) or not all(map(same_extent, reached, wanted)):
        fail(f"xp.broadcast_to: shape {spell_shape(x.shape)} does not broadcast to {spell_shape(wanted)}")
    return broadcast_view(x, wanted)
