"""A function at its core rank: every node without its loop dimensions, the reverse of `lift`."""

from __future__ import annotations

from typing import Any, cast

from xfuse.canonical.form import Form
from xfuse.canonical.graph import BOUND, FRESH_INDEX_KINDS, UNIT, Extent, Graph, Node, Reference, Value
from xfuse.errors import UnsupportedError


def at_core_rank(form: Form) -> tuple[Graph, list[Value], list[Value]]:
    """The function of a form with the core dimensions of its arguments and results alone, in the order of their axes.

    Extents of arguments become unknown, as a recipe is for all of them; an extent that no argument has stays. Raises
    `UnsupportedError` for an op that makes indices of its own, and for an extent that is computed.
    """
    return _AtCoreRank(form).make()


class _AtCoreRank:
    """The new graph, and for each old node its number there and its core parameters."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.closing = form.closing
        self.graph = Graph()
        self.numbers: dict[int, int] = {}
        self.kept: dict[int, list[int]] = {}
        self.extents: dict[int, Extent] = {}
        """The extent of each class of core dimensions that an argument has."""

    def make(self) -> tuple[Graph, list[Value], list[Value]]:
        """The graph, its arguments and its results."""
        arguments = [self._argument(number, value) for number, value in enumerate(self.form.arguments)]
        for number in self.closing.order:
            if number not in self.numbers:
                self._node(number, self.form.graph.nodes[number])
        return self.graph, arguments, [self._result(value) for value in self.form.results]

    def _argument(self, number: int, value: Value) -> Value:
        kept = self.closing.core_parameters(value.node)
        if any(value.index[parameter] < 0 for parameter in kept):
            raise UnsupportedError(f"argument {number} has a core dimension along an axis of extent one")
        kept.sort(key=lambda parameter: value.index[parameter])
        for axis, parameter in enumerate(kept):
            self.extents.setdefault(self.closing.find(value.node, parameter), ("argument", number, axis))
        extents: tuple[Extent, ...] = tuple(("argument", number, axis) for axis in range(len(kept)))
        node = self.form.graph.nodes[value.node]._replace(rank=len(kept))
        self.kept[value.node] = kept
        self.numbers[value.node] = self.graph.intern(node)
        return Value(self.numbers[value.node], tuple(range(len(kept))), extents)

    def _node(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        if node.kind == "extent" and "argument" in attributes:
            argument, axis = int(attributes["argument"]), int(attributes["axis"])
            value = self.form.arguments[argument]
            kept = self.kept[value.node]
            if axis not in kept:
                raise UnsupportedError("an extent of a loop dimension is a value")
            pairs = (("argument", argument), ("axis", kept.index(axis)))
            self.kept[number] = []
            self.numbers[number] = self.graph.intern(Node("extent", "index", pairs, (), 0))
            return
        if node.kind in FRESH_INDEX_KINDS or node.kind in ("extent", "index", "dense", "fold", "gather", "carried"):
            raise UnsupportedError(f"'{node.kind}' makes or reads an index")
        kept = self.closing.core_parameters(number)
        place = {parameter: position for position, parameter in enumerate(kept)}
        references: list[Reference] = []
        for reference in node.references:
            index = [reference.index[parameter] for parameter in self.kept[reference.node]]
            own = tuple(axis if axis < 0 or axis >= BOUND else place[axis] for axis in index)
            references.append(Reference(self.numbers[reference.node], own))
        pairs = tuple((name, self._attribute(value)) for name, value in node.attributes)
        self.kept[number] = kept
        self.numbers[number] = self.graph.intern(
            Node(node.kind, node.element_type, pairs, tuple(references), len(kept))
        )

    def _attribute(self, value: object) -> object:
        if not isinstance(value, tuple):
            return value
        items = cast(tuple[Any, ...], value)
        if len(items) != 3 or items[0] != "argument":
            return tuple(self._attribute(item) for item in items)
        number, axis = int(items[1]), int(items[2])
        argument = self.form.arguments[number]
        known = self.extents.get(self.closing.find(argument.node, axis))
        if known is None:
            raise UnsupportedError("the extent of a loop dimension is part of a value")
        return known

    def _result(self, value: Value) -> Value:
        kept = self.kept[value.node]
        axes = sorted(value.index[parameter] for parameter in kept if value.index[parameter] >= 0)
        index = tuple(UNIT if value.index[p] < 0 else axes.index(value.index[p]) for p in kept)
        return Value(self.numbers[value.node], index, tuple(self._extent(value, axis) for axis in axes))

    def _extent(self, value: Value, axis: int) -> Extent:
        known = self.extents.get(self.closing.find(value.node, value.index.index(axis)))
        extent = value.extents[axis] if known is None else known
        if not isinstance(extent, int) and known is None:
            raise UnsupportedError("a result has an extent that no argument has")
        return extent
