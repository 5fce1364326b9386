"""A function over core dimensions as one over loop dimensions too: every node gains the loops that it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xfuse.canonical.graph import (
    BOUND,
    FRESH_INDEX_KINDS,
    UNIT,
    Attributes,
    Extent,
    Graph,
    Index,
    Node,
    Reference,
    Value,
)
from xfuse.errors import UnsupportedError

UNLIFTABLE = frozenset(
    {"loop", "carried", "branch", "insert", "insert_slice", "from_elements", "opaque", "fused", "accumulator", "fold"}
)
"""Kinds whose evaluation is about one item at a time: they read or carry whole tensors."""


def is_liftable(graph: Graph, results: Sequence[Value]) -> bool:
    """Whether `lift` can take a function; else it has to be applied to one item of the loops after the other."""
    return all(graph.nodes[n].kind not in UNLIFTABLE for n in graph.reachable(result.node for result in results))


def lift(
    graph: Graph, arguments: Sequence[Value], results: Sequence[Value], loops: Sequence[Sequence[Extent | None]]
) -> tuple[Graph, list[Value], list[Value]]:
    """The function over arguments with loop axes in front.

    ``loops`` gives for each argument the extents of its leading axes, aligned at the last as NumPy aligns them: 1 where
    it does not vary, None where the extent is to be read off the argument. Results have all loop axes in front.
    Raises `UnsupportedError` for a node kind that cannot be lifted.
    """
    rank = max(map(len, loops), default=0)
    lifted = _Lifted(graph, rank)
    for argument, own in zip(arguments, loops, strict=True):
        lifted.argument(argument, own)
    for number in graph.reachable(result.node for result in results):
        lifted.node(number)
    return lifted.graph, lifted.arguments, [lifted.result(result) for result in results]


class _Lifted:
    """The new graph, and for each old node its number there, its loops, and where its old parameters went."""

    def __init__(self, old: Graph, rank: int) -> None:
        self.old = old
        self.graph = Graph()
        self.rank = rank
        self.arguments: list[Value] = []
        self.extents: list[Extent] = [1] * rank
        self._numbers: dict[int, int] = {}
        self._loops: dict[int, tuple[int, ...]] = {}
        self._places: dict[int, tuple[int, ...]] = {}
        self._shifts: list[int] = []

    def argument(self, argument: Value, own: Sequence[Extent | None]) -> None:
        number, count = len(self.arguments), len(own)
        offset = self.rank - count
        self._shifts.append(count)
        loops: list[Extent] = [("argument", number, a) if e is None else e for a, e in enumerate(own)]
        varying = [axis for axis, extent in enumerate(loops) if extent != 1]
        for axis in varying:
            if self.extents[offset + axis] == 1 or isinstance(loops[axis], int):
                self.extents[offset + axis] = loops[axis]
        node = self.old.nodes[argument.node]
        extents = (*loops, *(self._extent(each) for each in argument.extents))
        new = self.graph.intern(Node("argument", node.element_type, (("number", number),), (), len(extents)))
        self._numbers[argument.node] = new
        self._loops[argument.node] = tuple(offset + axis for axis in varying)
        # An argument's parameters are its axes; along those of extent one it is read at their only index.
        self._places[argument.node] = (*varying, *(count + parameter for parameter in range(node.rank)))
        core = (UNIT if axis < 0 else count + axis for axis in argument.index)
        index = (*(axis if axis in varying else UNIT for axis in range(count)), *core)
        self.arguments.append(Value(new, index, extents))

    def node(self, number: int) -> None:
        if number in self._numbers:
            return
        node = self.old.nodes[number]
        if node.kind in UNLIFTABLE:
            raise UnsupportedError(f"'{node.kind}' is applied to one item at a time")
        attributes: Attributes = tuple((name, self._attribute(value)) for name, value in node.attributes)
        loops = tuple(sorted({axis for each in node.references for axis in self._loops[each.node]}))
        if node.kind == "extent":  # the same for all items
            loops, attributes = (), self._extent_attributes(node)
        fresh = 0
        if node.kind in FRESH_INDEX_KINDS:
            count = node.attributes[0][1]
            assert isinstance(count, int)
            fresh = count
        # Loops go in front, behind the indices that the node makes.
        own = [p if p < fresh else p + len(loops) for p in range(node.rank)]
        references = [self._reference(each, loops, fresh, own) for each in node.references]
        new = Node(node.kind, node.element_type, attributes, tuple(references), node.rank + len(loops))
        self._numbers[number] = self.graph.intern(new)
        self._loops[number] = loops
        self._places[number] = (*(fresh + k for k in range(len(loops))), *own)

    def result(self, result: Value) -> Value:
        loops = self._loops[result.node]
        places = self._places[result.node]
        index = [UNIT] * self.graph.nodes[self._numbers[result.node]].rank
        for place, axis in zip(places, loops, strict=False):
            index[place] = axis
        for place, axis in zip(places[len(loops) :], result.index, strict=True):
            index[place] = axis if axis < 0 else axis + self.rank
        extents = (*self.extents, *(self._extent(each) for each in result.extents))
        return Value(self._numbers[result.node], tuple(index), extents)

    def _reference(self, reference: Reference, loops: Index, fresh: int, own: Sequence[int]) -> Reference:
        child = reference.node
        index = [UNIT] * self.graph.nodes[self._numbers[child]].rank
        count = len(self._loops[child])
        for place, axis in zip(self._places[child], self._loops[child], strict=False):
            index[place] = fresh + loops.index(axis) if axis in loops else UNIT
        for place, axis in zip(self._places[child][count:], reference.index, strict=True):
            index[place] = axis if axis < 0 or axis >= BOUND else own[axis]
        return Reference(self._numbers[child], tuple(index))

    def _extent_attributes(self, node: Node) -> Attributes:
        found: dict[str, Any] = dict(node.attributes)
        axis: int = found["axis"]
        if "argument" in found:
            axis += self._shifts[int(found["argument"])]
        else:
            child = node.references[0].node
            axis = self._places[child][len(self._loops[child]) + axis]
        pairs: dict[str, object] = {**found, "axis": axis}
        return tuple(pairs.items())

    def _extent(self, extent: Extent) -> Extent:
        if isinstance(extent, int):
            return extent
        kind, number, axis = extent
        if kind == "argument":
            return (kind, number, axis + self._shifts[number])
        if kind == "value":
            for each in self.old.reachable([number]):  # an extent need not be in the cone of a value
                self.node(each)
            return (kind, self._numbers[number], axis)
        return extent

    def _attribute(self, value: object) -> object:
        if isinstance(value, tuple):
            items = cast(tuple[Any, ...], value)
            if len(items) == 3 and items[0] in ("argument", "value"):
                return self._extent(items)
            return tuple(self._attribute(item) for item in items)
        return value
