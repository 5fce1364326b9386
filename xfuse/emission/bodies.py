"""Bodies of generics: what a node is at one point of the loops, from what stands for the nodes that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import tensor
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.ir import SSAValue

from xfuse.canonical.build import element_name
from xfuse.canonical.graph import BOUND, UNIT, Index, Node, Reference
from xfuse.emission.generics import PARALLEL, Generic, projection
from xfuse.emission.inlining import operands_of
from xfuse.emission.scalars import owner, scalar_op, type_named
from xfuse.emission.values import Place, Size, Values

Key = tuple[int, Index]
"""A node at a point: one loop for each of its parameters, `UNIT` for the only index of an axis of extent one."""


@dataclass
class Body:
    """One generic in the making. It computes a ``root`` itself, and what the values' inlining says."""

    values: Tensors
    iterators: Sequence[IteratorTypeAttr]
    root: int | None = None
    known: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])
    wanted: dict[int, Size] = field(default_factory=dict[int, Size])
    """Extents that loops must have, by the very symbol: how far indices run and are passed on may be part of a form."""

    def __post_init__(self) -> None:
        self.generic = Generic(self.iterators)
        self.loops = len(self.iterators)
        self._given: list[Size | None] = [None] * self.loops
        self._indices: dict[int, SSAValue] = {}

    def read(self, reference: Reference, loop_of: Mapping[int, int]) -> SSAValue:
        """What a reference gives; ``loop_of`` names the loops of the referring node's indices."""
        return self.value(reference.node, tuple(UNIT if axis < 0 else loop_of[axis] for axis in reference.index))

    def value(self, number: int, index: Index) -> SSAValue:
        """A node at a point."""
        stack: list[Key] = [(number, index)]
        while stack:
            key = stack[-1]
            if key in self.known:
                stack.pop()
                continue
            node = self.values.graph.nodes[key[0]]
            if key[0] != self.root and not self.values.inlining.computes(key[0]):
                self.known[key] = self._leaf(*key)
                continue
            operands = [_key(reference, key[1]) for reference in operands_of(node)]
            missing = [each for each in operands if each not in self.known]
            if missing:
                stack.extend(reversed(missing))
                continue
            given = [self.known[each] for each in operands]
            self.known[key] = self._gather(node, key[1], given) if node.kind == "gather" else self._scalar(node, given)
        return self.known[number, index]

    def _scalar(self, node: Node, operands: Sequence[SSAValue]) -> SSAValue:
        value = scalar_op(node.kind, node.element_type, node.attributes, operands)
        self.generic.add(owner(value))
        return value

    def _leaf(self, number: int, index: Index) -> SSAValue:
        place = self.values.place(number)
        if place.value is None:
            if index[0] < 0:
                return self.values.index(0)
            self.wanted.setdefault(index[0], place.sizes[0])
            return self._index(index[0])
        if not place.is_tensor:
            return place.value
        axes = tuple(UNIT if parameter < 0 else index[parameter] for parameter in place.axes)
        for parameter, axis in zip(place.axes, axes, strict=True):
            if axis >= 0:
                self._give(axis, place.sizes[parameter])
        return self.generic.read(place.value, projection(self.loops, axes))

    def _gather(self, node: Node, index: Index, at: Sequence[SSAValue]) -> SSAValue:
        source = node.references[0]
        place = self.values.place(source.node)
        if not place.is_tensor:
            value = self.values.arranged(source, source.index, {})
            place = Place(value, tuple(range(len(source.index))), place.sizes)
        indices: list[SSAValue] = []
        for parameter in place.axes:
            axis = UNIT if parameter < 0 else source.index[parameter]
            if axis >= BOUND:
                indices.append(at[axis - BOUND])
                continue
            loop = UNIT if axis < 0 else index[axis]
            if loop >= 0:
                # An index that is passed on runs over the very extent of the axis that it reads.
                self.wanted[loop] = place.sizes[parameter]
            indices.append(self.values.index(0) if loop < 0 else self._index(loop))
        assert place.value is not None
        op = tensor.ExtractOp(place.value, indices, type_named(node.element_type))
        self.generic.add(op)
        return op.result

    def _index(self, loop: int) -> SSAValue:
        if loop not in self._indices:
            op = IndexOp(loop)
            self.generic.add(op)
            self._indices[loop] = op.result
        return self._indices[loop]

    # Extents

    def _give(self, loop: int, size: Size) -> None:
        """An operand says how far a loop runs: the first one that is static, else the first one."""
        before = self._given[loop]
        if before is None or (not isinstance(before, int) and isinstance(size, int)):
            self._given[loop] = size

    def is_given(self, loop: int) -> bool:
        """Whether an operand or an index says how far a loop runs."""
        return self._given[loop] is not None or loop in self.wanted

    def size(self, loop: int) -> Size:
        """How far a loop runs, once everything has been read."""
        given = self._given[loop]
        wanted = self.wanted.get(loop)
        if isinstance(given, int) or wanted is None:
            assert given is not None, "a loop that nothing runs along"
            return given
        return wanted

    def finish(self, outputs: Sequence[SSAValue], sizes: Sequence[Size], yielded: Sequence[SSAValue]) -> GenericOp:
        """The op, appended to the block; outputs have axes of these extents along the first loops."""
        axes = range(len(sizes))
        for loop, size in enumerate(sizes):
            self._give(loop, size)
        lacking = [
            loop
            for loop, given in enumerate(self._given)
            if given is None or differing({loop: given}, {loop: self.size(loop)}, [loop])
        ]
        if lacking:
            element_type = element_name(outputs[0].type)
            only_shape = self.values.empty(element_type, [self.size(loop) for loop in lacking])
            self.generic.read(only_shape, projection(self.loops, tuple(lacking)), first=True)
        op = self.generic.finish(outputs, [projection(self.loops, tuple(axes))] * len(outputs), yielded)
        self.values.add(op)
        return op


def _key(reference: Reference, index: Index) -> Key:
    return reference.node, tuple(UNIT if axis < 0 else index[axis] for axis in reference.index)


def differing(known: Mapping[int, Size], wanted: Mapping[int, Size], labels: Iterable[int]) -> list[int]:
    """The labels whose extent is known by another symbol than the wanted one, and not static."""
    return [k for k in labels if k in known and known[k] != wanted[k] and not isinstance(known[k], int)]


class Tensors(Values):
    """Tensors laid out as an op needs them."""

    def arranged(
        self, reference: Reference, labels: Index, sizes: Mapping[int, Size], *, exact: Iterable[int] = ()
    ) -> SSAValue:
        """What a reference gives as a tensor with one axis for each label, in this order.

        Labels are indices of the referring node, or `UNIT` for an axis of extent one; those that the reference does
        not have get their extent from ``sizes``, and so do those in ``exact``, where the symbol of an extent matters.
        """
        place = self.place(reference.node)
        element_type = self.graph.nodes[reference.node].element_type
        own = tuple(UNIT if parameter < 0 else reference.index[parameter] for parameter in place.axes)
        known = dict(zip(reference.index, place.sizes, strict=True))
        other = differing(known, sizes, exact)
        if place.is_tensor and place.value is not None and not other:
            if own == labels:
                return place.value
            if tuple(axis for axis in own if axis >= 0) == labels:
                return self._squeezed(element_type, place, own)
        if (
            place.value is not None and not place.is_tensor and element_type != "index"
        ):  # which linalg.fill does not take
            out = self.empty(element_type, [1 if label < 0 else sizes[label] for label in labels])
            return self.add(FillOp([place.value], [out]))
        return self.copied(reference, labels, sizes, element_type, [k for k in labels if k in known and k not in other])

    def copied(
        self,
        reference: Reference,
        labels: Index,
        sizes: Mapping[int, Size],
        element_type: str,
        known: Sequence[int] = (),
    ) -> SSAValue:
        """What a reference gives as a new tensor, computed at every index; extents of ``known`` labels are read off."""
        body = Body(self, [PARALLEL] * len(labels))
        loop_of = {label: loop for loop, label in enumerate(labels) if label >= 0}
        body.wanted.update(
            {loop: sizes[label] for label, loop in loop_of.items() if label in sizes and label not in known}
        )
        value = body.read(reference, loop_of)
        extents: list[Size] = []
        for loop, label in enumerate(labels):
            extents.append(1 if label < 0 else body.size(loop) if label in known else sizes[label])
        out = self.empty(element_type, extents)
        body.generic.output(type_named(element_type))
        return body.finish([out], extents, [value]).results[0]

    def _squeezed(self, element_type: str, place: Place, own: Index) -> SSAValue:
        """A tensor without its axes of extent one."""
        assert place.value is not None
        sizes: list[Size] = [
            1 if axis < 0 else place.sizes[parameter] for axis, parameter in zip(own, place.axes, strict=True)
        ]
        kept = [size for size, axis in zip(sizes, own, strict=True) if axis >= 0]
        type_ = self.tensor_type(element_type, kept)
        count = len(own)
        given = [self.static(size) for size in sizes]
        offsets = [self.start_of(0, size) for size in sizes]
        return self.add(tensor.ExtractSliceOp(place.value, offsets, given, [1] * count, type_))

    def start_of(self, offset: Size, length: Size) -> int | SSAValue:
        """Where a slice starts. MLIR takes a literal start for out of bounds where nothing is left behind it."""
        return self.index(offset) if isinstance(offset, int) and length == 0 else self.static(offset)
