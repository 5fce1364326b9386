"""From the canonical form to plain ops: one op or a few per node, in the order of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from xfuse.canonical.graph import BOUND, UNIT, Graph, Index, Node, Reference, Value, op_name
from xfuse.canonical.plan import Plan
from xfuse.emission.bodies import Body
from xfuse.emission.control import ControlEmission
from xfuse.emission.generics import PARALLEL, REDUCTION
from xfuse.emission.inlining import Inlining, choose
from xfuse.emission.producers import fuse_producers
from xfuse.emission.scalars import owner, scalar_op, table, type_named
from xfuse.emission.structural import StructuralEmission
from xfuse.emission.values import Place, Size
from xfuse.errors import UnsupportedError
from xfuse.primitives.table import PRIMITIVES


class Emission(StructuralEmission, ControlEmission):
    """The ops of one function over a graph, on the values that are its arguments.

    Arguments that the graph has as tensors must be tensors of these extents. With ``fused`` there are as few generics
    as may be, else one for each node or nearly so. Raises `UnsupportedError` for a node that stands for an op outside
    the vocabulary.
    """

    def __init__(
        self,
        graph: Graph,
        arguments: Sequence[Value],
        results: Sequence[Value],
        inputs: Sequence[SSAValue],
        *,
        fused: bool = False,
    ) -> None:
        self.graph = graph
        self.inputs = inputs
        self.tests = []
        self._arguments = arguments
        self._results = results
        self._fused = fused

    def make(self, types: Sequence[bool]) -> tuple[list[Operation], list[SSAValue]]:
        """The ops and the results: tensors, or scalars where ``types`` says so."""
        self._layouts = self._chosen_layouts()
        inlining, roots = self._inlining()
        self.start(Plan(self.graph, roots, lambda number: inlining.reads(self.graph, number)), inlining)
        for number, (argument, value) in enumerate(zip(self._arguments, self.inputs, strict=True)):
            axes = tuple(range(len(argument.extents)))
            sizes = tuple(self.size(("argument", number, axis)) for axis in axes)
            self.put(argument.node, Place(value, axes, sizes))
        for number in reversed(self.plan.top.nodes):
            self.node(number)
        results = [self._result(result, scalar) for result, scalar in zip(self._results, types, strict=True)]
        return [*self.first, *self.ops], results

    def _inlining(self) -> tuple[Inlining, list[int]]:
        """What bodies compute, and the nodes that scalars or tensors are needed of."""
        extents = (extent for result in self._results for extent in result.extents)
        roots = [extent[1] for extent in extents if not isinstance(extent, int) and extent[0] == "value"]
        if not self._fused:
            roots = [*(result.node for result in self._results), *roots]
            return choose(self.graph, roots), roots
        spread = [r for r in self._results if r.node not in self._layouts and self.graph.nodes[r.node].rank]
        roots = [*(result.node for result in self._results if result not in spread), *roots]
        inlining = fuse_producers(self.graph, roots, spread)
        for result in spread:
            computed = inlining.computes(result.node)
            roots += inlining.reads(self.graph, result.node) if computed else [result.node]
        return inlining, roots

    def node(self, number: int) -> None:
        """Make the ops of one node."""
        node = self.graph.nodes[number]
        if node.kind in PRIMITIVES:
            self._pointwise(number, node)
            return
        make = getattr(self, f"emit_{node.kind}", None)
        if make is None:
            reason = self.graph.reasons.get(number)
            raise UnsupportedError(f"'{op_name(node)}' cannot be emitted: {reason or 'it is outside the vocabulary'}")
        make(number, node)

    # Results

    def _chosen_layouts(self) -> dict[int, Index]:
        """Which parameter lies along each axis of a node's tensor, where that of a result is known beforehand."""
        layouts: dict[int, Index] = {}
        for result in self._results:
            node = self.graph.nodes[result.node]
            placed = {axis: parameter for parameter, axis in enumerate(result.index) if axis >= 0}
            layout = tuple(placed.get(axis, UNIT) for axis in range(len(result.extents)))
            units = all(result.extents[axis] == 1 for axis, parameter in enumerate(layout) if parameter < 0)
            if units and len(placed) == node.rank > 0:
                layouts.setdefault(result.node, layout)
        return layouts

    def _layout(self, number: int, node: Node) -> Index:
        return self._layouts.get(number, tuple(range(node.rank)))

    def _result(self, result: Value, scalar: bool) -> SSAValue:
        if scalar:
            return self.scalar(result.node)
        labels = tuple(
            UNIT if extent == 1 and axis not in result.index else axis for axis, extent in enumerate(result.extents)
        )
        sizes = {axis: self.size(extent) for axis, extent in enumerate(result.extents)}
        reference = Reference(result.node, result.index)
        element_type = self.graph.nodes[result.node].element_type
        if self.inlining.computes(result.node):
            value = self.copied(reference, labels, sizes, element_type, [axis for axis in result.index if axis >= 0])
        else:
            value = self.arranged(reference, labels, sizes)
        return self.cast(value, self.tensor_type(element_type, [sizes[axis] for axis in range(len(labels))]))

    # Literals and leaves

    def emit_constant(self, number: int, node: Node) -> None:
        """``arith.constant`` of a scalar."""
        bits = node.attributes[0][1]
        assert isinstance(bits, int)
        self.put(number, Place(self.literal(node.element_type, bits), (), ()))

    def emit_dense(self, number: int, node: Node) -> None:
        """``arith.constant`` of a tensor."""
        attributes: dict[str, Any] = dict(node.attributes)
        op = table(node.element_type, attributes["shape"], attributes["data"])
        self.first.append(op)
        self.put(number, Place(op.result, tuple(range(node.rank)), attributes["shape"]))

    def emit_extent(self, number: int, node: Node) -> None:
        """``tensor.dim``."""
        self.put(number, Place(self.size_value(self.size_of_node(number)), (), ()))

    def emit_index(self, number: int, node: Node) -> None:
        """``linalg.index``, in each body that reads it."""
        extent: Any = node.attributes[0][1]
        self.put(number, Place(None, (0,), (self.size(extent, node.references),)))

    # Generics

    def _pointwise(self, number: int, node: Node) -> None:
        references = [reference.node for reference in node.references]
        scalar = not node.rank and not any(
            self.inlining.computes(each) or self.place(each).value is None for each in references
        )
        # Not fused, what is made of tensors is one, so that a recipe's result of extent one is found as a tensor.
        if not scalar or (not self._fused and any(self.place(each).is_tensor for each in references)):
            self._parallel(number, node)
            return
        operands = [self.scalar(each) for each in references]
        value = scalar_op(node.kind, node.element_type, node.attributes, operands)
        self.ops.append(owner(value))
        self.put(number, Place(value, (), ()))

    def emit_gather(self, number: int, node: Node) -> None:
        """``tensor.extract`` at every point."""
        source, *at = node.references
        if node.rank or not self.place(source.node).is_tensor or any(self.inlining.computes(each.node) for each in at):
            self._parallel(number, node)
            return
        place = self.place(source.node)
        indices = {BOUND + k: self.scalar(reference.node) for k, reference in enumerate(at)}
        along = [UNIT if parameter < 0 else source.index[parameter] for parameter in place.axes]
        self.put(number, Place(self.element(place, along, indices, self.ops), (), ()))

    def _parallel(self, number: int, node: Node) -> None:
        layout = self._layout(number, node)
        body = Body(self, [PARALLEL] * len(layout), number)
        value = body.value(number, tuple(layout.index(parameter) for parameter in range(node.rank)))
        self._finish(number, node, body, layout, [value])

    def emit_reduce(self, number: int, node: Node) -> None:
        """A generic with one combining op; copies are counted over an operand that only has their extents."""
        attributes: dict[str, Any] = dict(node.attributes)
        bound: int = attributes.pop("bound")
        combine: str = attributes.pop("combine")
        repeated: list[Size] = [self.size(extent, node.references) for extent in attributes.pop("repeated")]
        operand, initial = node.references[:2]
        body, layout, loop_of = self._reducing(number, node, bound, repeated)
        value = body.read(operand, loop_of)
        accumulator = body.generic.output(type_named(node.element_type))
        combined = scalar_op(combine, node.element_type, tuple(attributes.items()), [value, accumulator])
        body.generic.add(owner(combined))
        self._finish(number, node, body, layout, [combined], [initial])

    def emit_fold(self, number: int, node: Node) -> None:
        """A generic with one result for each accumulator that the first one needs."""
        attributes: dict[str, Any] = dict(node.attributes)
        count: int = attributes["accumulators"]
        bound: int = attributes["bound"]
        roots, initial = node.references[:count], node.references[count : 2 * count]
        body, layout, loop_of = self._reducing(number, node, bound, [])
        for k, extent in enumerate(attributes["repeated"]):
            if extent != -1:
                body.wanted[loop_of[BOUND + k]] = self.size(extent, node.references)
        for position, reference in enumerate(initial):
            element_type = self.graph.nodes[reference.node].element_type
            leaf = self.graph.find(Node("accumulator", element_type, (("number", position),), (), 0))
            accumulator = body.generic.output(type_named(element_type))
            if leaf is not None:
                body.known[leaf, ()] = accumulator
        values = [body.read(root, loop_of) for root in roots]
        self._finish(number, node, body, layout, values, initial)

    def _reducing(
        self, number: int, node: Node, bound: int, repeated: Sequence[Size]
    ) -> tuple[Body, Index, dict[int, int]]:
        """A body over a node's own loops, those that it binds, and those over copies; at least one is a reduction."""
        layout = self._layout(number, node)
        own = len(layout)
        count = bound + len(repeated)
        iterators = [*[PARALLEL] * own, *[REDUCTION] * max(1, count)]
        body = Body(self, iterators)
        loop_of = {parameter: loop for loop, parameter in enumerate(layout) if parameter >= 0}
        loop_of.update({BOUND + k: own + k for k in range(bound)})
        body.wanted.update({own + bound + k: size for k, size in enumerate(repeated if count else [1])})
        return body, layout, loop_of

    def _finish(
        self,
        number: int,
        node: Node,
        body: Body,
        layout: Index,
        yielded: Sequence[SSAValue],
        initial: Sequence[Reference] = (),
    ) -> None:
        first: dict[int, Size] = {}
        for reference in reversed(initial):
            first.update(zip(reference.index, self.place(reference.node).sizes, strict=True))
        sizes = dict(first)
        for loop, parameter in enumerate(layout):
            if parameter >= 0 and (parameter not in sizes or body.is_given(loop)):
                sizes[parameter] = body.size(loop)
        outputs = [self.arranged(reference, layout, sizes) for reference in initial]
        if not initial:
            outputs = [self.empty(node.element_type, [1 if p < 0 else sizes[p] for p in layout])]
            body.generic.output(type_named(node.element_type))
        outer = [1 if parameter < 0 else first.get(parameter, sizes[parameter]) for parameter in layout]
        op = body.finish(outputs, outer, yielded)
        known = tuple(sizes[parameter] for parameter in range(node.rank))
        self.put(number, Place(op.results[0], layout, known))
