"""Emission of the node kinds that change shapes: slices, reshapes, concatenation, padding, insertion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DenseArrayBase, IndexType, IntegerAttr, TensorType, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from xfuse.canonical.graph import BOUND, UNIT, Extent, Index, Node, Reference
from xfuse.emission.bodies import Tensors, differing
from xfuse.emission.generics import type_of
from xfuse.emission.values import Place, Size
from xfuse.errors import UnsupportedError

_Axes = Sequence[tuple[int, Size]]
"""For each axis of a tensor the parameter along it and its extent."""


class StructuralEmission(Tensors):
    """An ``emit_`` method per kind."""

    def emit_slice(self, number: int, node: Node) -> None:
        """``tensor.extract_slice``; axes of which one index is left are dropped."""
        attributes: dict[str, Any] = dict(node.attributes)
        source, scalars = node.references[0], node.references[1:]
        described: Sequence[Sequence[Extent]] = attributes["axes"]
        value, labels, sizes = self._ordered(source, [each[0] for each in described], scalars, units=True)
        fresh = iter(range(node.rank))
        parameters = [UNIT if each[2] == 1 else next(fresh) for each in described]
        places: list[tuple[Size, Size, Size]] = []
        kept: list[tuple[int, Size]] = []
        for label, size in zip(labels, sizes, strict=True):
            offset, length, stride = 0, 1 if label < 0 else size, 1
            if label >= BOUND:
                offset, length, stride = (self.size(each, scalars) for each in described[label - BOUND][1:])
                label = parameters[label - BOUND]
            places.append((offset, length, stride))
            if label >= 0:
                kept.append((label, length))
        offsets = [self.start_of(offset, length) for offset, length, _ in places]
        lengths, strides = ([self.static(each[k]) for each in places] for k in (1, 2))
        type_ = self.tensor_type(node.element_type, [size for _, size in kept])
        self._put(number, self.add(tensor.ExtractSliceOp(value, offsets, lengths, strides, type_)), kept)

    def emit_reshape(self, number: int, node: Node) -> None:
        """``tensor.collapse_shape`` or ``tensor.expand_shape``."""
        attributes: dict[str, Any] = dict(node.attributes)
        groups: Sequence[tuple[Sequence[Extent], Sequence[Extent]]] = attributes["groups"]
        source, scalars = node.references[0], node.references[1:]
        bound = [extent for before, _ in groups for extent in before]
        widths = [len(before) for before, _ in groups]
        value, labels, sizes = self._ordered(source, bound, scalars, widths=widths)
        expands = all(width == 1 for width in widths)
        if not expands and any(len(after) > 1 for _, after in groups):
            raise UnsupportedError("a reshape that both collapses and expands")
        firsts = accumulate((len(before) for before, _ in groups), initial=BOUND)
        starts = dict(zip(firsts, groups, strict=False))
        fresh = iter(range(node.rank))
        old: list[list[Size]] = []
        new: list[list[tuple[int, Size]]] = []
        for label, size in zip(labels, sizes, strict=True):
            if label in starts:
                old.append([size])
                new.append([(next(fresh), self.size(extent, scalars)) for extent in starts[label][1]])
            elif label >= BOUND:
                old[-1].append(size)
            else:
                old.append([size])
                new.append([(label, size)])
        if expands:
            value = self._expanded(node.element_type, value, [each for (each,) in old], new)
        else:
            for own, made in zip(old, new, strict=True):
                whole = _product(own)
                if len(own) > 1 and whole is not None:
                    made[0] = (made[0][0], whole)
            type_ = self.tensor_type(node.element_type, [size for ((_, size),) in new])
            properties = {"reassociation": _reassociation(list(map(len, old)))}
            value = self.add(
                tensor.CollapseShapeOp.create(operands=[value], result_types=[type_], properties=properties)
            )
        self._put(number, value, [each for made in new for each in made])

    def _expanded(self, element_type: str, value: SSAValue, old: Sequence[Size], new: Sequence[_Axes]) -> SSAValue:
        """``tensor.expand_shape``: an axis is static if and only if all that it becomes are."""
        agreed: list[Size] = []
        for size, made in zip(old, new, strict=True):
            whole = _product([each for _, each in made])
            agreed.append(made[0][1] if whole is None else whole if len(made) > 1 else size)
        value = self.cast(value, self.tensor_type(element_type, agreed))
        sizes = [size for made in new for _, size in made]
        type_ = self.tensor_type(element_type, sizes)
        dynamic = [self.size_value(size) for size in sizes if not isinstance(size, int)]
        op = tensor.ExpandShapeOp(value, dynamic, _reassociation(list(map(len, new))), type_.get_shape(), type_)
        return self.add(op)

    def emit_concat(self, number: int, node: Node) -> None:
        """``tensor.concat`` of parts that all have all axes."""
        attributes: dict[str, Any] = dict(node.attributes)
        count = len(attributes["parts"])
        parts, scalars = node.references[:count], node.references[count:]
        along = [self.size(extent, scalars) for extent in attributes["parts"]]
        sizes = self._sizes(parts)
        order: list[int] = list(range(node.rank))
        for part in reversed(parts):  # the layout of the first that has all axes
            own = [0 if axis >= BOUND else axis for axis in self._labels(part)]
            order = own if sorted(own) == list(range(node.rank)) else order
        values = [
            self.arranged(
                part,
                tuple(BOUND + k if axis == 0 else axis for axis in order),
                {**sizes, BOUND + k: along[k]},
                exact=[BOUND + k],
            )
            for k, part in enumerate(parts)
        ]
        total = sum(size for size in along if isinstance(size, int))
        known = all(isinstance(size, int) for size in along)
        shape = [(total if known else DYNAMIC_INDEX) if axis == 0 else _dimension(sizes[axis]) for axis in order]
        op = tensor.ConcatOp(values, order.index(0), TensorType(type_of(values[0]).get_element_type(), shape))
        self._put_as_typed(number, self.add(op), order, sizes)

    def emit_pad(self, number: int, node: Node) -> None:
        """``tensor.pad`` with a value that may depend on the place."""
        attributes: dict[str, Any] = dict(node.attributes)
        source, padding, *scalars = node.references
        described: Sequence[Sequence[Extent]] = attributes["axes"]
        count = len(described)
        sizes = {**self._sizes([padding]), **self._sizes([source])}
        sizes.update({BOUND + k: self.size(each[0], scalars) for k, each in enumerate(described)})
        wanted = (*range(count, node.rank), *range(BOUND, BOUND + count))
        own = self._labels(source)
        in_order = [label for label in own if label >= BOUND] == list(range(BOUND, BOUND + count))
        labels = own if in_order and sorted(own) == sorted(wanted) else wanted
        value = self.arranged(source, labels, sizes, exact=range(BOUND, BOUND + count))
        order = [axis - BOUND if axis >= BOUND else axis for axis in labels]
        low, high = (
            [self.static(self.size(described[p][side], scalars)) if p < count else 0 for p in order] for side in (1, 2)
        )
        block = Block(arg_types=[IndexType()] * len(order))
        filling = self.place(padding.node)
        points = {axis: block.args[position] for position, axis in enumerate(order)}
        if filling.value is None:
            axis = padding.index[0]
            yielded = self.index(0) if axis < 0 else points[axis]
        else:
            at = tuple(dict.fromkeys(label for label in self._labels(padding) if label >= 0))
            if filling.is_tensor:
                filling = Place(self.arranged(padding, at, sizes, exact=at), at, ())
            inside: list[Operation] = []
            yielded = self.element(filling, at, points, inside)
            block.add_ops(inside)
        block.add_op(tensor.YieldOp(yielded))
        shape = [
            DYNAMIC_INDEX if size == DYNAMIC_INDEX or not (isinstance(a, int) and isinstance(b, int)) else size + a + b
            for size, a, b in zip(type_of(value).get_shape(), low, high, strict=True)
        ]
        (static_low, low_values), (static_high, high_values) = _split(low), _split(high)
        type_ = TensorType(type_of(value).get_element_type(), shape)
        op = tensor.PadOp(value, low_values, high_values, Region(block), static_low, static_high, type_)
        self._put_as_typed(number, self.add(op), order, sizes)

    def emit_insert_slice(self, number: int, node: Node) -> None:
        """``tensor.insert_slice``, of a source without the axes of which one index is written."""
        attributes: dict[str, Any] = dict(node.attributes)
        rank, tensors = node.rank, 2 if attributes["initialised"] else 1
        scalars = node.references[tensors:]
        described: list[list[Size]] = [[self.size(each, scalars) for each in four] for four in attributes["axes"]]
        extents = [four[0] for four in described]
        lengths = {BOUND + axis: four[2] for axis, four in enumerate(described) if four[2] != 1}
        source = self.arranged(node.references[0], tuple(lengths), lengths)
        if tensors == 2:
            labels = tuple(range(BOUND + rank, BOUND + 2 * rank))
            target = self.arranged(node.references[1], labels, dict(zip(labels, extents, strict=True)), exact=labels)
        else:
            target = self.empty(node.element_type, extents)
        three = [
            _split([self.start_of(four[1], four[2]) for four in described]),
            *(_split([self.static(four[k]) for four in described]) for k in (2, 3)),
        ]
        names = ("static_offsets", "static_sizes", "static_strides")
        op = tensor.InsertSliceOp.build(
            operands=[source, target, *(dynamic for _, dynamic in three)],
            result_types=[target.type],
            properties={name: static for name, (static, _) in zip(names, three, strict=True)},
        )
        self._put_as_typed(number, self.add(op), range(rank), dict(enumerate(extents)))

    def emit_insert(self, number: int, node: Node) -> None:
        """``tensor.insert``."""
        attributes: dict[str, Any] = dict(node.attributes)
        count = 1 if attributes["initialised"] else 0
        scalars = node.references[count:]
        extents: Sequence[Extent] = attributes["axes"]
        labels = tuple(range(BOUND, BOUND + node.rank))
        sizes = {label: self.size(extent, scalars) for label, extent in zip(labels, extents, strict=True)}
        if count:
            target = self.arranged(node.references[0], labels, sizes)
        else:
            target = self.empty(node.element_type, list(sizes.values()))
        value, *at = (self.scalar(each.node) for each in scalars[: node.rank + 1])
        known = {**{label - BOUND: size for label, size in sizes.items()}}
        if count:
            known.update({axis - BOUND: size for axis, size in self._sizes([node.references[0]], bound=True).items()})
        self._put_as_typed(number, self.add(tensor.InsertOp(value, target, at)), range(node.rank), known)

    def emit_from_elements(self, number: int, node: Node) -> None:
        """``tensor.from_elements``."""
        shape: Sequence[int] = dict(node.attributes)["shape"]
        elements = [self.scalar(reference.node) for reference in node.references]
        type_ = self.tensor_type(node.element_type, shape)
        op = tensor.FromElementsOp(*elements, result_type=type_)
        self._put_as_typed(number, self.add(op), range(node.rank), dict(enumerate(shape)))

    # Layouts

    def _labels(self, reference: Reference) -> Index:
        """Along which index of the referring node each axis of a tensor lies; nothing for a scalar."""
        axes = self.place(reference.node).axes
        return tuple(UNIT if parameter < 0 else reference.index[parameter] for parameter in axes)

    def _sizes(self, references: Sequence[Reference], *, bound: bool = False) -> dict[int, Size]:
        """The extents of the referring node's own indices, or of those that it binds, static ones preferred."""
        found: dict[int, Size] = {}
        for reference in references:
            for label, size in zip(reference.index, self.place(reference.node).sizes, strict=True):
                if (label >= BOUND) == bound and label >= 0 and not isinstance(found.get(label), int):
                    found[label] = size if isinstance(size, int) else found.get(label, size)
        return found

    def _ordered(
        self,
        reference: Reference,
        bound: Sequence[Extent],
        scalars: Sequence[Reference],
        *,
        units: bool = False,
        widths: Sequence[int] = (),
    ) -> tuple[SSAValue, Index, list[Size]]:
        """A tensor, the label of each of its axes, and their extents: bound labels all there and ascending.

        With ``units`` axes of extent one may stay. ``widths`` are the sizes of groups that must lie side by side.
        """
        place = self.place(reference.node)
        own = self._labels(reference)
        named = [label for label in own if label >= 0]
        known = dict(zip(reference.index, place.sizes, strict=True))
        given = {BOUND + k: self.size(extent, scalars) for k, extent in enumerate(bound)}
        good = len(set(named)) == len(named) and [label for label in named if label >= BOUND] == list(given)
        first = BOUND
        for width in widths if good else ():
            start = named.index(first)
            good = good and named[start : start + width] == list(range(first, first + width))
            first += width
        if good and units and place.value is not None and not differing(known, given, given):
            return place.value, own, [1 if label < 0 else known[label] for label in own]
        labels = tuple(named) if good else (*(label for label in dict.fromkeys(named) if label < BOUND), *given)
        value = self.arranged(reference, labels, {**known, **given}, exact=given)
        static = {label: size for label, size in known.items() if isinstance(size, int)}
        sizes = {**known, **given, **static}
        return value, labels, [sizes[label] for label in labels]

    def _put(self, number: int, value: SSAValue, axes: _Axes) -> None:
        sizes = dict(axes)
        parameters = tuple(parameter for parameter, _ in axes)
        self.put(number, Place(value, parameters, tuple(sizes[parameter] for parameter in range(len(axes)))))

    def _put_as_typed(self, number: int, value: SSAValue, order: Sequence[int], sizes: Mapping[int, Size]) -> None:
        """A tensor with one axis a parameter: extents are those of its type, dynamic ones as known, or read off it."""
        found: list[tuple[int, Size]] = []
        for axis, (parameter, extent) in enumerate(zip(order, type_of(value).get_shape(), strict=True)):
            known = sizes.get(parameter, (value, axis))
            found.append(
                (parameter, extent if extent != DYNAMIC_INDEX else (value, axis) if isinstance(known, int) else known)
            )
        self._put(number, value, found)


def _product(sizes: Sequence[Size]) -> int | None:
    """The product of extents that are all static, else None."""
    known = [size for size in sizes if isinstance(size, int)]
    return math.prod(known) if len(known) == len(sizes) else None


def _dimension(size: Size) -> int:
    return size if isinstance(size, int) else DYNAMIC_INDEX


def _split(sizes: Sequence[int | SSAValue]) -> tuple[DenseArrayBase, list[SSAValue]]:
    """Numbers and values as ops hold them: the static ones, and apart from them the dynamic ones."""
    static = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    return DenseArrayBase.from_list(i64, static), [size for size in sizes if not isinstance(size, int)]


def _reassociation(widths: Sequence[int]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    groups: list[ArrayAttr[IntegerAttr]] = []
    first = 0
    for width in widths:
        groups.append(ArrayAttr([IntegerAttr(axis, i64) for axis in range(first, first + width)]))
        first += width
    return ArrayAttr(groups)
