"""Indices of row recipes as expressions of loop counters, and which elements one element is computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xfuse.backends.llvm.rows_linear import Linear, number
from xfuse.backends.llvm.rows_space import Space
from xfuse.canonical.graph import BOUND, UNIT, Reference

STORED = frozenset({"concat", "pad", "insert_slice", "from_elements"})
"""Kinds whose elements are written, part by part, to where they are read from."""


class Counter(NamedTuple):
    """The counter of a loop: of the ``level``-th loop around what is computed, or of an ``outer`` one around all."""

    level: int
    outer: bool = False


class Shifted(NamedTuple):
    """``offset + stride * base``."""

    base: Position
    offset: Linear
    stride: int


class Computed(NamedTuple):
    """The value of a node."""

    node: int
    place: Place


Position = int | Counter | Shifted | Computed
Place = tuple[Position, ...]
Element = tuple[int, Place]
"""A node at one index for each of its parameters."""


def shifted(base: Position, offset: Linear, stride: int = 1) -> Position:
    """An index moved by an offset."""
    if isinstance(base, int) and offset.literal is not None:
        return offset.literal + stride * base
    return base if offset == number(0) and stride == 1 else Shifted(base, offset, stride)


def counters(position: Position) -> Iterator[Counter]:
    """The loop counters that an index depends on."""
    if isinstance(position, Counter):
        yield position
    elif isinstance(position, Shifted):
        yield from counters(position.base)
    elif isinstance(position, Computed):
        for each in position.place:
            yield from counters(each)


def elements_in(position: Position) -> Iterator[Element]:
    """The elements that an index is computed from."""
    if isinstance(position, Shifted):
        yield from elements_in(position.base)
    elif isinstance(position, Computed):
        yield position.node, position.place


def renumbered(position: Position, rename: Callable[[Counter], Counter]) -> Position:
    """An index with its loop counters replaced."""
    if isinstance(position, Counter):
        return rename(position)
    if isinstance(position, Shifted):
        return position._replace(base=renumbered(position.base, rename))
    if isinstance(position, Computed):
        return position._replace(place=tuple(renumbered(each, rename) for each in position.place))
    return position


def there(reference: Reference, place: Sequence[Position]) -> Place:
    """The index at which a plain reference reads, where the referring node is evaluated at ``place``."""
    return tuple(0 if axis == UNIT else place[axis] for axis in reference.index)


def operands(space: Space, element: Element) -> list[Element]:
    """The elements from which an element that is stored nowhere is computed, those that give its indices first."""
    number_, place = element
    node = space.nodes[number_]
    found = [each for position in place for each in elements_in(position)]
    if node.kind in ("argument", "constant", "dense", "extent", "index"):
        return found
    if node.kind == "slice":
        source = node.references[0]
        places = iter(place)
        bound = [shifted(next(places) if cut.kept else 0, cut.offset, cut.stride) for cut in space.cuts(node)]
        at = tuple(bound[axis - BOUND] if axis >= BOUND else 0 if axis < 0 else place[axis] for axis in source.index)
        return [*found, *(each for position in at for each in elements_in(position)), (source.node, at)]
    if node.kind == "gather":
        source, *indices = node.references
        computed = [(each.node, there(each, place)) for each in indices]
        at = tuple(
            Computed(*computed[axis - BOUND]) if axis >= BOUND else 0 if axis < 0 else place[axis]
            for axis in source.index
        )
        return [*found, *computed, (source.node, at)]
    # A reduction over nothing is its initial value combined with its operand.
    count = {"branch": 3, "reduce": 2}.get(node.kind, len(node.references))
    return [*found, *((each.node, there(each, place)) for each in node.references[:count])]
