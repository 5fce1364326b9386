"""The index space of a row recipe: how far each index runs, and that every element that is read exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xfuse.backends.llvm.rows_linear import Linear, atom, number
from xfuse.backends.llvm.rows_ranges import Ranges
from xfuse.canonical.form import Form
from xfuse.canonical.graph import BOUND, UNIT, Extent, Node, Reference
from xfuse.errors import UnsupportedError
from xfuse.primitives.table import PRIMITIVES
from xfuse.signature import CoreSignature


class Cut:
    """Which indices of a source a slice reads: ``offset + stride * i`` for ``i`` below ``size``; ``kept`` if there is
    an ``i``, else the one at the offset."""

    def __init__(self, offset: Linear, size: Linear, stride: int, kept: bool) -> None:
        self.offset, self.size, self.stride, self.kept = offset, size, stride, kept


class Space:
    """Sizes of the dimensions behind a form's indices. Making it raises `UnsupportedError`, with a reason for people,
    if some index may leave its array, or where one dimension has two sizes that may differ."""

    def __init__(self, form: Form, signature: CoreSignature) -> None:
        self.form = form
        self.signature = signature
        self.nodes = form.graph.nodes
        self.ranges = Ranges(form.graph, self.dimension)
        self._sizes: dict[int, Linear] = {}
        self._counted: dict[int, Linear] = {}
        for node in form.closing.order:
            self._measure(node)
        for node in form.closing.order:
            self._check(node)
        for result, value in enumerate(form.results):
            for parameter, axis in enumerate(value.index):
                if axis >= 0:
                    self._same(self.size(value.node, parameter), self._named(signature.results[result][axis]))

    # Sizes

    @staticmethod
    def _named(name: str) -> Linear:
        return number(int(name)) if name.isdigit() else atom(name)

    def dimension(self, argument: int, axis: int) -> Linear:
        """The size of an argument's axis."""
        return self._named(self.signature.arguments[argument][axis])

    def extent(self, extent: Extent, operands: Sequence[Reference]) -> Linear:
        """The size that a node's attribute speaks of, ``("operand", k, 0)`` being the k-th of some operands."""
        if isinstance(extent, int):
            return number(extent)
        kind, which, axis = extent
        if kind == "argument":
            return self.dimension(which, axis)
        return self.ranges.scalar(operands[which].node if kind == "operand" else which)

    def size(self, node: int, parameter: int) -> Linear:
        """How far an index parameter of a node runs."""
        found = self.form.closing.find(node, parameter)
        size = self._sizes.get(found, self._counted.get(found))
        if size is None:
            raise UnsupportedError(f"nothing says how far an index of '{self.nodes[node].kind}' runs")
        return size

    def repeated(self, node: Node) -> list[Linear]:
        """The sizes of the dimensions that a reduction's operand does not vary along."""
        attributes: dict[str, Any] = dict(node.attributes)
        return [self.extent(each, node.references) for each in attributes["repeated"]]

    def cuts(self, node: Node) -> list[Cut]:
        """How a slice, or a write to a slice, lies in each axis that it speaks of."""
        cuts: list[Cut] = []
        for four in dict[str, Any](node.attributes)["axes"]:
            _, offset, size, stride = (self.extent(each, _scalars(node)) for each in four)
            if stride.literal is None or stride.literal < 1:
                raise UnsupportedError(f"a slice has the stride {stride}, which must be a number from 1 on")
            cuts.append(Cut(offset, size, stride.literal, four[2] != 1))
        return cuts

    def margins(self, node: Node) -> list[tuple[Linear, Linear, Linear]]:
        """What ``pad`` puts before and behind each padded axis, and the axis's size in the middle."""
        found: list[tuple[Linear, Linear, Linear]] = []
        for three in dict[str, Any](node.attributes)["axes"]:
            size, low, high = (self.extent(each, _scalars(node)) for each in three)
            found.append((low, size, high))
        return found

    def parts(self, node: Node) -> list[Linear]:
        """The sizes of what ``concat`` joins, along the joined axis."""
        return [self.extent(each, _scalars(node)) for each in dict[str, Any](node.attributes)["parts"]]

    def _measure(self, node: int) -> None:
        """Note how far the indices run that a node reads or makes."""
        kind, attributes = self.nodes[node].kind, dict[str, Any](self.nodes[node].attributes)
        sizes: list[Linear] = []
        if kind == "argument":
            sizes = [self.dimension(attributes["number"], axis) for axis in range(self.nodes[node].rank)]
        elif kind in ("dense", "from_elements"):
            sizes = list(map(number, attributes["shape"]))
        elif kind == "slice":
            sizes = [cut.size for cut in self.cuts(self.nodes[node]) if cut.kept]
        elif kind == "insert_slice":
            sizes = [self.extent(four[0], _scalars(self.nodes[node])) for four in attributes["axes"]]
        elif kind == "pad":
            sizes = [low.plus(size).plus(high) for low, size, high in self.margins(self.nodes[node])]
        elif kind == "concat":
            total = number(0)
            for part in self.parts(self.nodes[node]):
                total = total.plus(part)
            sizes = [total]
        elif kind == "index":
            extent = self.extent(attributes["extent"], self.nodes[node].references)
            self._counted.setdefault(self.form.closing.find(node, 0), extent)
        for parameter, size in enumerate(sizes):
            self._certain(size)
            known = self._sizes.setdefault(self.form.closing.find(node, parameter), size)
            self._same(known, size)

    def _same(self, one: Linear, other: Linear) -> None:
        if not self.ranges.equal(one, other):
            raise UnsupportedError(
                f"the sizes {one} and {other} meet in one dimension, and nothing shows that they are equal"
            )

    def _certain(self, size: Linear) -> None:
        if not self.ranges.holds(size):
            raise UnsupportedError(f"a dimension has the size {size}, which nothing shows to be zero or more")
        for name, _ in size.terms:
            node = self.ranges.origins.get(name)
            if node is not None and not self._is_static(node):
                raise UnsupportedError("a dimension has a size that is computed from an argument's elements")

    def _is_static(self, root: int) -> bool:
        cone = (self.nodes[each] for each in self.form.graph.reachable([root]))
        return all(not each.rank and (each.kind in PRIMITIVES or each.kind in ("constant", "extent")) for each in cone)

    # Every read is inside

    def _check(self, number_: int) -> None:
        node = self.nodes[number_]
        for reference in node.references:
            for parameter, axis in enumerate(reference.index):
                if axis == UNIT and node.kind != "extent":
                    self._inside(number(0), self.size(reference.node, parameter), "the only element of a dimension")
        if node.kind in ("slice", "insert_slice"):
            self._check_cuts(number_, node)
        elif node.kind == "pad":
            for low, _, high in self.margins(node):
                self._certain(low)
                self._certain(high)
        elif node.kind == "concat":
            for part in self.parts(node):
                self._certain(part)
        elif node.kind == "gather":
            self._check_gather(number_, node)

    def _inside(self, index: Linear, size: Linear, what: str) -> None:
        if not (self.ranges.holds(index) and self.ranges.holds(size.minus(1).minus(index))):
            raise UnsupportedError(f"{what} is read at {index}, and nothing shows that this is inside its size {size}")

    def _check_cuts(self, number_: int, node: Node) -> None:
        source = node.references[0]
        for position, cut in enumerate(self.cuts(node)):
            size = self.size(number_, position) if node.kind == "insert_slice" else None
            for parameter, axis in enumerate(source.index):
                if axis == BOUND + position and node.kind == "slice":
                    size = self.size(source.node, parameter)
                elif axis == BOUND + position:
                    self._same(self.size(source.node, parameter), cut.size)
            if size is None:
                continue
            self._certain(cut.size)
            last = cut.offset.plus(cut.size.minus(1), cut.stride)
            some = [cut.size.minus(1)]
            if not (self.ranges.holds(cut.offset) and self.ranges.holds(size.minus(1).minus(last), some)):
                raise UnsupportedError(
                    f"a slice at offset {cut.offset} of size {cut.size} and stride {cut.stride} is not shown to lie "
                    f"inside its axis of size {size}"
                )

    def _check_gather(self, number_: int, node: Node) -> None:
        source, *at = node.references
        place = tuple(self.ranges.parameter(k, self.size(number_, k)) for k in range(node.rank))
        for parameter, axis in enumerate(source.index):
            if axis < BOUND:
                continue
            reference = at[axis - BOUND]
            there = tuple(number(0) if each == UNIT else place[each] for each in reference.index)
            size = self.size(source.node, parameter)
            if not self.ranges.within(self.ranges.cases(reference.node, there), size):
                raise UnsupportedError(
                    f"elements are read at computed indices (tensor.extract) that are not shown to lie inside their "
                    f"axis of size {size}, and a ufunc cannot report one that does not"
                )


def _scalars(node: Node) -> Sequence[Reference]:
    """The operands of a node that are computed extents."""
    attributes: dict[str, Any] = dict(node.attributes)
    if node.kind == "insert_slice":
        return node.references[2 if attributes["initialised"] else 1 :]
    return node.references[{"slice": 1, "pad": 2}.get(node.kind, len(attributes.get("parts", ()))) :]
