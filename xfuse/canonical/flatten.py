"""An argument whose one core dimension stands for all dimensions of an operand: expanding it to those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xfuse.canonical.closing import Closing
from xfuse.canonical.graph import BOUND, UNIT, Extent, Graph, Node, Reference, Value
from xfuse.errors import UnsupportedError
from xfuse.primitives.table import PRIMITIVES


def expand(
    graph: Graph, arguments: Sequence[Value], results: Sequence[Value], shapes: Mapping[int, Sequence[int | None]]
) -> tuple[Graph, list[Value], list[Value]]:
    """The function with the core dimension of some arguments replaced by the dimensions of an operand.

    ``shapes`` gives the operand's extents by argument number, None where dynamic. A flattened dimension is only ever
    read point by point or reduced; raises `UnsupportedError` where an op makes or reads its index.
    """
    expansion = _Expansion(graph, arguments, results, shapes)
    for number in expansion.closing.order:
        expansion.node(number)
    return expansion.graph, expansion.arguments, [expansion.value(result) for result in results]


class _Expansion:
    """The new graph, and for each old parameter the new ones that it became."""

    def __init__(
        self,
        old: Graph,
        arguments: Sequence[Value],
        results: Sequence[Value],
        shapes: Mapping[int, Sequence[int | None]],
    ) -> None:
        self.old = old
        self.graph = Graph()
        self.closing = Closing(old, results, arguments)
        self.shapes = shapes
        self.widths: dict[int, int] = {}
        self.products: dict[int, Value] = {}
        self.numbers: dict[int, int] = {}
        self.places: dict[int, list[Sequence[int]]] = {}
        self.arguments: list[Value] = []
        for number, argument in enumerate(arguments):
            self._argument(number, argument)

    def _argument(self, number: int, argument: Value) -> None:
        node = self.old.nodes[argument.node]
        shape = self.shapes.get(number)
        if shape is None:
            self.numbers[argument.node] = self.graph.intern(node)
            self.places[argument.node] = [(parameter,) for parameter in range(node.rank)]
            self.arguments.append(argument._replace(node=self.numbers[argument.node]))
            return
        extents: tuple[Extent, ...] = tuple(("argument", number, a) if e is None else e for a, e in enumerate(shape))
        wide = tuple(axis for axis, extent in enumerate(extents) if extent != 1)
        self.widths[self.closing.find(argument.node, 0)] = len(wide)
        new = self.numbers[argument.node] = self.graph.intern(node._replace(rank=len(extents)))
        self.places[argument.node] = [wide]
        index = tuple(axis if axis in wide else UNIT for axis in range(len(extents)))
        self.arguments.append(Value(new, index, extents))

    def node(self, number: int) -> None:
        if number in self.numbers:
            return
        node = self.old.nodes[number]
        attributes: dict[str, Any] = dict(node.attributes)
        if node.kind == "extent" and attributes.get("argument") in self.shapes:
            self.numbers[number] = self._product(attributes["argument"]).node
            self.places[number] = []
            return
        flat = [self._width(number, parameter) for parameter in range(node.rank)]
        if any(width is not None for width in flat) and node.kind not in PRIMITIVES and node.kind != "reduce":
            raise UnsupportedError(f"'{node.kind}' reads or makes the index of a flattened dimension")
        places: list[Sequence[int]] = []
        rank = 0
        for width in flat:
            places.append(range(rank, rank + (1 if width is None else width)))
            rank += 1 if width is None else width
        bounds: dict[int, Sequence[int]] = {}
        references = [self._reference(each, places, bounds) for each in node.references]
        if node.kind == "reduce":
            attributes["bound"] = sum(map(len, bounds.values()))
        elif any(len(each) != 1 for each in bounds.values()):
            raise UnsupportedError(f"'{node.kind}' takes a flattened dimension as a whole")
        pairs = tuple((name, self._attribute(value)) for name, value in attributes.items())
        self.numbers[number] = self.graph.intern(Node(node.kind, node.element_type, pairs, tuple(references), rank))
        self.places[number] = places

    def _width(self, number: int, parameter: int) -> int | None:
        return self.widths.get(self.closing.find(number, parameter))

    def _reference(
        self, reference: Reference, places: Sequence[Sequence[int]], bounds: dict[int, Sequence[int]]
    ) -> Reference:
        child = reference.node
        index = [UNIT] * self.graph.nodes[self.numbers[child]].rank
        for parameter, axis in enumerate(reference.index):
            if axis < 0:
                continue
            there = self.places[child][parameter]
            if axis >= BOUND and axis not in bounds:
                taken = sum(map(len, bounds.values()))
                bounds[axis] = range(BOUND + taken, BOUND + taken + len(there))
            for place, here in zip(there, bounds[axis] if axis >= BOUND else places[axis], strict=True):
                index[place] = here
        return Reference(self.numbers[child], tuple(index))

    def value(self, result: Value) -> Value:
        """A result, none of whose axes is flattened."""
        if any(self._width(result.node, parameter) is not None for parameter in range(len(result.index))):
            raise UnsupportedError("a result varies along a flattened dimension")
        return result._replace(node=self.numbers[result.node])

    def _product(self, argument: int) -> Value:
        """How many elements an operand has, as a node."""
        if argument not in self.products:
            product: Value | None = None
            for axis, extent in enumerate(self.shapes[argument]):
                if extent is None:
                    read = Node("extent", "index", (("argument", argument), ("axis", axis)), (), 0)
                    factor = Value(self.graph.intern(read), (), ())
                elif extent == 1:
                    continue
                else:
                    factor = self.graph.constant("index", extent)
                product = (
                    factor
                    if product is None
                    else self.graph.pointwise("arith.muli", "index", (), [product, factor], ())
                )
            self.products[argument] = product or self.graph.constant("index", 1)
        return self.products[argument]

    def _attribute(self, value: Any) -> Any:
        if not isinstance(value, tuple):
            return value
        found: list[Any] = []
        for item in cast(tuple[Any, ...], value):
            number = self._flattened(item)
            if number is None:
                found.append(self._attribute(item))
                continue
            found.extend(
                ("argument", number, axis) if extent is None else extent
                for axis, extent in enumerate(self.shapes[number])
                if extent != 1
            )
        return tuple(found)

    def _flattened(self, item: Any) -> int | None:
        """The argument whose flattened extent an item of an attribute is, or None."""
        if not isinstance(item, tuple):
            return None
        kind, *rest = cast(tuple[Any, ...], item) or (None,)
        return rest[0] if kind == "argument" and rest[0] in self.shapes else None
