"""Stored values that are put together from parts: joined, padded, partly replaced."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xfuse.backends.llvm.rows_index import Counter, Element, Place, Position, shifted, there
from xfuse.backends.llvm.rows_linear import Linear, number
from xfuse.backends.llvm.rows_space import Space
from xfuse.canonical.graph import BOUND

Key = tuple[object, Linear]


class Frame:
    """Where a node with some index classes is computed: inside which outer loops, at which counters."""

    def __init__(self, space: Space, outer: Sequence[int]) -> None:
        self.space = space
        self.outer = outer

    def place(self, keys: Sequence[Key]) -> tuple[int, Place, list[Key]]:
        """The depth, a counter for each key, and the keys that need loops of their own.

        Nothing loops over a dimension of one element.
        """
        classes = [key for key, _ in keys]
        depth = 0
        while depth < len(self.outer) and self.outer[depth] in classes:
            depth += 1
        loops: list[Key] = []
        place: list[Position] = []
        for key, size in keys:
            if key in self.outer[:depth]:
                place.append(Counter(self.outer.index(key), outer=True))
            elif size == number(1):
                place.append(0)
            else:
                place.append(Counter(len(loops)))
                loops.append((key, size))
        return depth, tuple(place), loops


@dataclass
class Part:
    """Some elements of a stored value: ``value`` at every point of the loops goes to ``target``; zeros without one."""

    depth: int
    loops: list[Key]
    value: Element | None
    target: Place


def parts(space: Space, frame: Frame, number_: int) -> list[Part]:
    """The parts of a stored node; where they overlap the later one counts."""
    return {"concat": _concat, "pad": _pad, "insert_slice": _insert_slice, "from_elements": _from_elements}[
        space.nodes[number_].kind
    ](space, frame, number_)


def _keys(space: Space, number_: int) -> list[Key]:
    """The loops over all elements of a node."""
    find = space.form.closing.find
    return [(find(number_, p), space.size(number_, p)) for p in range(space.nodes[number_].rank)]


def _concat(space: Space, frame: Frame, number_: int) -> list[Part]:
    node = space.nodes[number_]
    offset = number(0)
    found: list[Part] = []
    for k, size in enumerate(space.parts(node)):
        reference = node.references[k]
        keys = _keys(space, number_)
        keys[0] = (_source_class(space, number_, k, BOUND + k), size)
        depth, place, loops = frame.place(keys)
        at = tuple(0 if axis < 0 else place[0] if axis >= BOUND else place[axis] for axis in reference.index)
        target = (shifted(place[0], offset), *place[1:])
        found.append(Part(depth, loops, (reference.node, at), target))
        offset = offset.plus(size)
    return found


def _source_class(space: Space, number_: int, operand: int, axis: int) -> object:
    """The class of the index that a node binds in an operand, or a key of its own."""
    reference = space.nodes[number_].references[operand]
    if axis in reference.index:
        return space.form.closing.find(reference.node, reference.index.index(axis))
    return ("part", number_, operand, axis)


def _pad(space: Space, frame: Frame, number_: int) -> list[Part]:
    """The slabs before and behind the middle, one padded axis after the other, then the middle."""
    node = space.nodes[number_]
    source, padding = node.references[:2]
    margins = space.margins(node)
    found: list[Part] = []

    def part(first: int, sizes: Sequence[Linear], offsets: Sequence[Linear]) -> tuple[int, Place, Place, list[Key]]:
        keys = _keys(space, number_)
        for axis, size in enumerate(sizes):
            inner = axis < first
            keys[axis] = (_source_class(space, number_, 0, BOUND + axis) if inner else ("pad", number_, axis), size)
        depth, place, loops = frame.place(keys)
        count = len(sizes)
        target = (*(shifted(p, o) for p, o in zip(place[:count], offsets, strict=True)), *place[count:])
        return depth, place, target, loops

    for axis, (low, size, high) in enumerate(margins):
        for begin, count in ((number(0), low), (low.plus(size), high)):
            if count == number(0):
                continue
            sizes = [margins[a][1] if a < axis else count if a == axis else space.size(number_, a) for a in
                     range(len(margins))]  # fmt: skip
            offsets = [margins[a][0] if a < axis else begin if a == axis else number(0) for a in range(len(margins))]
            depth, _, target, loops = part(axis, sizes, offsets)
            found.append(Part(depth, loops, (padding.node, there(padding, target)), target))
    sizes, offsets = [size for _, size, _ in margins], [low for low, _, _ in margins]
    depth, place, target, loops = part(len(margins), sizes, offsets)
    at = tuple(0 if axis < 0 else place[axis - BOUND] if axis >= BOUND else place[axis] for axis in source.index)
    return [*found, Part(depth, loops, (source.node, at), target)]


def _insert_slice(space: Space, frame: Frame, number_: int) -> list[Part]:
    """The target, or zeros, and then the source over it."""
    node = space.nodes[number_]
    attributes: dict[str, Any] = dict(node.attributes)
    rank, keys, cuts = node.rank, _keys(space, number_), space.cuts(node)
    depth, place, loops = frame.place(keys)
    before: Element | None = None
    if attributes["initialised"]:
        target = node.references[1]
        before = (target.node, tuple(0 if axis < 0 else place[axis - BOUND - rank] for axis in target.index))
    found = [Part(depth, loops, before, place)]
    keys = [(_source_class(space, number_, 0, BOUND + axis), cut.size) for axis, cut in enumerate(cuts)]
    depth, place, loops = frame.place(keys)
    source = node.references[0]
    at = tuple(0 if axis < 0 else place[axis - BOUND] for axis in source.index)
    written = tuple(shifted(p, cut.offset, cut.stride) for p, cut in zip(place, cuts, strict=True))
    return [*found, Part(depth, loops, (source.node, at), written)]


def _from_elements(space: Space, frame: Frame, number_: int) -> list[Part]:
    node = space.nodes[number_]
    shape: Any = dict(node.attributes)["shape"]
    indices = itertools.product(*map(range, shape))
    return [
        Part(0, [], (reference.node, ()), tuple(at)) for reference, at in zip(node.references, indices, strict=True)
    ]
