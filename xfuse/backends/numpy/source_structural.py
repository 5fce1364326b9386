"""Source for the node kinds that are not scalar ops: literals, extents, reductions, gathers, slices, padding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xfuse.backends.numpy.source_expressions import Expressions
from xfuse.canonical.graph import BOUND, Extent, Node, Reference
from xfuse.errors import UnsupportedError
from xfuse.primitives import literals
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.table import PRIMITIVES

Calls = Mapping[str, Callable[..., Any]]
Factors = tuple[tuple[int, ...], tuple[int, ...]]


class StructuralSource(Expressions):
    """A ``_write_`` method per kind. ``_products`` holds the sums that are matrix products, with how factors lie."""

    calls: Calls
    _products: dict[int, Factors]

    def _write_argument(self, number: int, node: Node) -> None:
        raise UnsupportedError("an argument that the function does not have")

    def _write_constant(self, number: int, node: Node) -> None:
        bits = node.attributes[0][1]
        assert isinstance(bits, int)
        self._name(number, self._constant(literals.to_scalar(bits, node.element_type), "c"))

    def _write_dense(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        dtype = numpy_dtype(node.element_type)
        array = np.frombuffer(attributes["data"], dtype).reshape(attributes["shape"])
        self._name(number, self._constant(array, "d"))

    def _write_extent(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        if "argument" in attributes:
            source = f"a{attributes['argument']}"
        else:
            source = self._names[node.references[0].node]
        self._assign(number, f"np.int64({source}.shape[{attributes['axis']}])")

    def _write_index(self, number: int, node: Node) -> None:
        extent: Any = node.attributes[0][1]
        self._assign(number, f"np.arange({self._extent(extent, node.references)})")

    def _write_reduce(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        operand, initial = node.references[:2]
        bound, rank = attributes["bound"], node.rank
        start = self._full(initial.node, initial.index, rank)
        if number in self._products:
            left, right = self._products[number]
            names = [self._names[r.node] for r in self.graph.nodes[operand.node].references]
            product = f"structural.contract({names[0]}, {left}, {names[1]}, {right}, {rank}, {bound})"
            total = self._constant(PRIMITIVES[attributes["combine"]].numpy, "add_")
            self._assign(number, f"{total}({start}, {product})")
            return
        index = [axis if axis < 0 else axis - BOUND if axis >= BOUND else axis + bound for axis in operand.index]
        text = self._full(operand.node, index, rank + bound)
        repeated = self._extents(attributes["repeated"], node.references)
        call = f"{attributes['combine']!r}, {node.element_type!r}, {text}, {start}, {bound}, {repeated}"
        self._assign(number, f"structural.reduce({call})")
        if self.noise is not None and attributes["combine"] in ("arith.addf", "arith.mulf"):
            self._assign(number, f"noise.reduced({self._names[number]}, {call})")

    def _contraction(self, node: Node) -> Factors | None:
        """For a sum of products that is a matrix product: how the axes of both factors lie in the node's frame.

        Each bound axis must be in both factors, and each factor must have an axis that is not summed.
        """
        if node.kind != "reduce" or node.element_type not in ("f32", "f64"):
            return None
        attributes: dict[str, Any] = dict(node.attributes)
        operand = node.references[0]
        product = self.graph.nodes[operand.node]
        if attributes["combine"] != "arith.addf" or product.kind != "arith.mulf" or attributes["repeated"]:
            return None
        left, right = (
            tuple(axis if axis < 0 else outer_axis(operand.index[axis], node.rank) for axis in reference.index)
            for reference in product.references
        )
        summed = set(range(node.rank, node.rank + attributes["bound"]))
        if not summed or any(axis < 0 for axis in (*left, *right)):
            return None
        if len(set(left)) != len(left) or len(set(right)) != len(right):
            return None
        if not summed <= set(left) & set(right) or not set(left) - summed or not set(right) - summed:
            return None
        return left, right

    def _write_gather(self, number: int, node: Node) -> None:
        source, *at = node.references
        if any(axis < 0 for axis in source.index):
            kept = [axis for axis in source.index if axis >= 0]
            first = f"structural.arrange({self._names[source.node]}, {self._dropped(source.index)}, {len(kept)})"
        else:
            kept, first = list(source.index), self._names[source.node]
        passed = tuple(-1 - (axis - BOUND) if axis >= BOUND else axis for axis in kept)
        arrays = ", ".join(self._full(reference.node, reference.index, node.rank) for reference in at)
        self._assign(number, f"structural.gather({first}, {passed}, ({arrays},), {node.rank})")

    @staticmethod
    def _dropped(index: Sequence[int]) -> tuple[int, ...]:
        position = iter(range(len(index)))
        return tuple(axis if axis < 0 else next(position) for axis in index)

    def _led(self, reference: Reference, bound: int, fresh: int, rank: int) -> str:
        """An operand with its bound axes in front and the node's passed-through parameters behind."""
        index = [
            axis if axis < 0 else axis - BOUND if axis >= BOUND else axis - fresh + bound for axis in reference.index
        ]
        return self._full(reference.node, index, bound + rank - fresh)

    def _scalars(self, node: Node, tensors: int) -> Sequence[Reference]:
        return node.references[tensors:]

    def _quadruples(self, axes: Sequence[Sequence[Extent]], scalars: Sequence[Reference]) -> str:
        return f"({''.join(self._extents(four, scalars) + ', ' for four in axes)})"

    def _write_reshape(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        groups, scalars = attributes["groups"], self._scalars(node, 1)
        bound = sum(len(before) for before, _ in groups)
        text = "".join(
            f"({self._extents(before, scalars)}, {self._extents(after, scalars)}), " for before, after in groups
        )
        operand = self._led(node.references[0], bound, attributes["fresh"], node.rank)
        self._assign(number, f"structural.regroup({operand}, ({text}))")

    def _write_slice(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        axes, scalars = attributes["axes"], self._scalars(node, 1)
        operand = self._led(node.references[0], len(axes), attributes["fresh"], node.rank)
        dropped = tuple(size == 1 for _, _, size, _ in axes)
        self._assign(number, f"structural.take_slice({operand}, {self._quadruples(axes, scalars)}, {dropped})")

    def _write_pad(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        axes, scalars = attributes["axes"], self._scalars(node, 2)
        source, padding = node.references[:2]
        operand = self._led(source, len(axes), attributes["fresh"], node.rank)
        filling = self._full(padding.node, padding.index, node.rank)
        self._assign(number, f"structural.pad({operand}, {filling}, {self._quadruples(axes, scalars)})")

    def _write_insert_slice(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        rank = len(attributes["axes"])
        tensors = 2 if attributes["initialised"] else 1
        scalars = self._scalars(node, tensors)
        source = self._full(node.references[0].node, unbound(node.references[0].index), rank)
        target = "None"
        if tensors == 2:
            index = [axis if axis < 0 else axis - rank for axis in unbound(node.references[1].index)]
            target = self._full(node.references[1].node, index, rank)
        axes = self._quadruples(attributes["axes"], scalars)
        keep = ", keep=False" if (number, self._region) in self._overwriting else ""
        self._assign(number, f"structural.insert_slice({source}, {target}, {axes}{keep})")

    def _write_insert(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        extents, count = attributes["axes"], 1 if attributes["initialised"] else 0
        scalars = node.references[count:]
        target = f"np.zeros({self._extents(extents, scalars)}, {numpy_dtype(node.element_type).name!r})"
        if count:
            target = self._whole(node.references[0].node, unbound(node.references[0].index), extents, scalars)
        operands = ", ".join(self._names[reference.node] for reference in scalars[: len(extents) + 1])
        keep = ", keep=False" if (number, self._region) in self._overwriting else ""
        self._assign(number, f"structural.insert({target}, {operands}{keep})")

    def _write_concat(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        count = len(attributes["parts"])
        scalars = self._scalars(node, count)
        parts: list[str] = []
        for reference in node.references[:count]:
            index = [axis if axis < 0 else 0 if axis >= BOUND else axis for axis in reference.index]
            parts.append(self._full(reference.node, index, node.rank))
        sizes = self._extents(attributes["parts"], scalars)
        self._assign(number, f"structural.concatenate(({', '.join(parts)},), {sizes})")

    def _write_from_elements(self, number: int, node: Node) -> None:
        shape = dict(node.attributes)["shape"]
        elements = ", ".join(self._names[reference.node] for reference in node.references)
        self._assign(number, f"structural.from_elements({shape}, {node.element_type!r}, {elements})")

    def _write_fused(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        call = str(attributes["call"])
        if call not in self._names:
            kernel = self._constant(self.calls[call], "kernel_")
            operands = ", ".join(self._kernel_operands(node, attributes))
            self._name(call, f"r{self._names[number][1:]}")
            self._line(f"{self._names[call]} = {kernel}({operands})")
        self._assign(number, f"{self._names[call]}[{attributes['result']}]")

    def _kernel_operands(self, node: Node, attributes: Mapping[str, Any]) -> list[str]:
        if "loops" not in attributes:
            return [self._operand(reference, node.rank) for reference in node.references]
        loops: int = attributes["loops"]
        found: list[str] = []
        for reference, sizes in zip(node.references, attributes["sizes"], strict=False):
            index = [axis - BOUND + loops if axis >= BOUND else axis for axis in reference.index]
            if all(size == -1 for size in sizes):
                found.append(self._full(reference.node, index, len(sizes)))
            else:
                found.append(self._whole(reference.node, index, sizes, node.references))
        return found


def outer_axis(axis: int, rank: int) -> int:
    """The axis of a frame in which a node's bound indices follow its own ``rank`` parameters."""
    return axis - BOUND + rank if axis >= BOUND else axis


def unbound(index: Sequence[int]) -> list[int]:
    """The bound indices of a reference by their numbers."""
    return [axis if axis < 0 else axis - BOUND for axis in index]
