"""Reshaping traced arrays: groups of axes that become other groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import tensor
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64

from xfuse.tracing.array import Array, Extent, function, is_unit, size_of, spell_shape, symbol_of
from xfuse.tracing.locations import fail
from xfuse.tracing.loops import dense, extent_value, tensor_type, view
from xfuse.tracing.symbols import Symbol, number, product
from xfuse.tracing.views import shape_of


@function()
def reshape(x: Any, /, shape: Any) -> Any:
    """The elements, row-major, in another shape; one extent may be -1.

    Extents of which nothing but a remainder is unknown are taken to come out: ``(n)`` as ``(-1, 2)`` has n//2 rows.
    """
    source = [extent for extent in x.shape if not is_unit(extent)]
    target, rest = _resolved(x, list(shape_of(shape, "reshape")))
    big = [extent for extent in target if not is_unit(extent)]
    left = view(x, [axis for axis in range(x.ndim) if not is_unit(x.shape[axis])])
    inner = None
    if rest is not None and not is_unit(target[rest]):
        inner = sum(not is_unit(extent) for extent in target[:rest])
    groups = _groups(x, source, big, inner)
    result = _regrouped(left, source, big, groups)
    old = iter(range(len(big)))
    return view(result, [None if is_unit(extent) else next(old) for extent in target])


def _resolved(x: Array, shape: list[Extent]) -> tuple[list[Extent], int | None]:
    """The shape with its -1, if there is one, computed, and where that was."""
    unknown = [axis for axis, extent in enumerate(shape) if isinstance(extent, int) and extent == -1]
    negative = [extent for extent in shape if isinstance(extent, int) and extent < -1]
    if len(unknown) > 1 or negative:
        fail(f"xp.reshape to {spell_shape(shape)}: expected extents, at most one of them -1")
    total = product(map(symbol_of, x.shape))
    rest = product(symbol_of(extent) for axis, extent in enumerate(shape) if axis not in unknown)
    if not unknown:
        if total != rest:
            fail(
                f"xp.reshape: shapes {spell_shape(x.shape)} and {spell_shape(shape)} are not known to have as many "
                f"elements: {total} and {rest}"
            )
        return shape, None
    size: Any = x.size
    known = size_of([extent for axis, extent in enumerate(shape) if axis not in unknown])
    quotient = _quotient(x, size, known, total.divide(rest))
    if quotient is None:
        fail(f"xp.reshape: the -1 in {spell_shape(shape)} cannot be told: {total} elements by {rest}")
    shape[unknown[0]] = quotient
    return shape, unknown[0]


def _quotient(x: Array, size: Any, known: Any, exact: Symbol | None) -> Extent | None:
    if exact is not None and exact.constant is not None:
        return exact.constant
    if exact is not None:
        same = [extent for extent in x.shape if symbol_of(extent) == exact]
        if same:
            return same[0]
    if isinstance(known, int):
        return size // known if known > 0 and not (isinstance(size, int) and size % known) else None
    if exact is None:
        return None
    tracer = x.tracer
    value = tracer.op("arith.divui", [extent_value(tracer, size), known.value], "index")
    return Array(tracer, value, "index", symbol=exact)


def _groups(
    x: Array, source: Sequence[Extent], target: Sequence[Extent], rest: int | None
) -> list[tuple[list[int], list[int]]]:
    """Which axes become which: the finest groups in order, the one of the -1 last to be told."""
    front: list[tuple[list[int], list[int]]] = []
    back: list[tuple[list[int], list[int]]] = []
    i, j, k, m = 0, 0, len(source), len(target)
    while (i < k or j < m) and (rest is None or j < rest):
        group = _match(source[i:k], target[j : m if rest is None else rest])
        if group is None:
            break
        front.append((list(range(i, i + group[0])), list(range(j, j + group[1]))))
        i, j = i + group[0], j + group[1]
    while rest is not None and m > rest + 1:
        group = _match(source[i:k][::-1], target[rest + 1 : m][::-1])
        if group is None:
            break
        k, m = k - group[0], m - group[1]
        back.insert(0, (list(range(k, k + group[0])), list(range(m, m + group[1]))))
    if (i < k) != (j < m):
        fail(f"xp.reshape of an array of shape {spell_shape(x.shape)} to {spell_shape(target)} cannot be told apart")
    return [*front, *([(list(range(i, k)), list(range(j, m)))] if i < k else []), *back]


def _match(source: Sequence[Extent], target: Sequence[Extent]) -> tuple[int, int] | None:
    """How many leading extents of each have the same product, as few as possible."""
    best: tuple[int, int] | None = None
    products: dict[Symbol, int] = {}
    total = number(1)
    for count, extent in enumerate(source, 1):
        total = total * symbol_of(extent)
        products.setdefault(total, count)
    total = number(1)
    for count, extent in enumerate(target, 1):
        total = total * symbol_of(extent)
        if total in products:
            best = (products[total], count)
            break
    return best


def _regrouped(
    x: Array, source: Sequence[Extent], target: Sequence[Extent], groups: Sequence[tuple[list[int], list[int]]]
) -> Array:
    if all(len(before) == len(after) == 1 for before, after in groups):
        return Array(x.tracer, x.value, x.dtype, target, x.places)
    tracer = x.tracer
    value = dense(x).value
    middle: list[Extent] = []
    for before, after in groups:
        if len(before) == 1:
            middle.append(source[before[0]])
        elif len(after) == 1:
            middle.append(target[after[0]])
        else:
            middle.append(size_of([source[axis] for axis in before]))
    if any(len(before) > 1 for before, _ in groups):
        op = tensor.CollapseShapeOp(
            operands=[value],
            result_types=[tensor_type(middle, x.dtype)],
            properties={"reassociation": _reassociation(before for before, _ in groups)},
        )
        value = tracer.add(op)
    if any(len(after) > 1 for _, after in groups):
        sizes = [extent.value for extent in target if isinstance(extent, Array)]
        kind = tensor_type(target, x.dtype)
        after = _reassociation(after for _, after in groups)
        value = tracer.add(tensor.ExpandShapeOp(value, sizes, after, list(kind.get_shape()), kind))
    return Array(tracer, value, x.dtype, target, range(len(target)))


def _reassociation(groups: Any) -> ArrayAttr[ArrayAttr[IntegerAttr[Any]]]:
    return ArrayAttr([ArrayAttr([IntegerAttr(axis, i64) for axis in group]) for group in groups])


@function()
def reshape_to(x: Any, /, *shape: Any) -> Any:
    """`reshape` as a method, which also takes the extents one by one."""
    return reshape(x, shape[0] if len(shape) == 1 else shape)


@function()
def ravel(x: Any, /) -> Any:
    """All elements, row-major, along one axis."""
    return reshape(x, (-1,))
