"""From the canonical graph to Python source on NumPy arrays: a line or a few per node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xfuse.backends.numpy import structural
from xfuse.canonical.graph import BOUND, Extent, Graph, Node, Reference, Value
from xfuse.errors import UnsupportedError
from xfuse.primitives import literals
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES

Calls = Mapping[str, Callable[..., Any]]


@dataclass
class Source:
    """Python source of one function and the names it uses."""

    text: str
    namespace: dict[str, Any]
    name: str

    def compile(self) -> Callable[..., tuple[Any, ...]]:
        """The function: arrays in, a tuple of arrays out."""
        namespace = dict(self.namespace)
        exec(compile(self.text, f"<xfuse {self.name}>", "exec"), namespace)
        return namespace[self.name]


@dataclass
class Writer:
    """Writes one function over a graph.

    With ``elementwise`` the arguments are arrays that broadcast against each other though the graph sees scalars, and
    the results are returned as they come. Otherwise arguments have the axes that the graph says, and results are laid
    out over theirs. ``calls`` holds the kernels of ``fused`` nodes by the name in their ``call`` attribute.
    """

    graph: Graph
    arguments: Sequence[Value]
    results: Sequence[Value]
    name: str = "program"
    elementwise: bool = False
    calls: Calls = field(default_factory=dict[str, Callable[..., Any]])

    def write(self) -> Source:
        """The source. Raises `UnsupportedError` for an op that NumPy cannot evaluate, naming it."""
        self._namespace: dict[str, Any] = {"structural": structural, "np": np}
        self._lines: list[str] = []
        self._names: dict[int, str] = {}
        self._owned: set[int] = set()
        self._support: dict[int, frozenset[int]] = {}
        self._indent = "    "
        everything = self.graph.reachable(result.node for result in self.results)
        self._dependent = self._loop_dependent(everything)
        self._products = {n: p for n in everything if (p := self._contraction(self.graph.nodes[n])) is not None}
        order = self._order()
        for number, argument in enumerate(self.arguments):
            self._names[argument.node] = f"a{number}"
            self._support[argument.node] = frozenset({number})
        self._last_use = self._last_uses(order)
        for position, number in enumerate(order):
            node = self.graph.nodes[number]
            if number not in self._names:
                self._node(number, node, position)
        results = ", ".join(self._result(result) for result in self.results)
        parameters = ", ".join(f"a{number}" for number in range(len(self.arguments)))
        body = "\n".join(self._lines)
        text = f"def {self.name}({parameters}):\n{body}\n{self._indent}return ({results},)\n"
        return Source(text, self._namespace, self.name)

    # Order and liveness

    def _reads(self, number: int) -> list[int]:
        """The nodes whose arrays are read where a node is computed."""
        if number in self._products:
            node = self.graph.nodes[number]
            product = self.graph.nodes[node.references[0].node]
            return [reference.node for reference in (*product.references, *node.references[1:])]
        reads: list[int] = []
        seen = {number}
        stack = [number]
        while stack:  # what a fold's body reads is read where the fold stands
            for reference in self.graph.nodes[stack.pop()].references:
                if reference.node not in self._dependent:
                    reads.append(reference.node)
                elif reference.node not in seen:
                    seen.add(reference.node)
                    stack.append(reference.node)
        return reads

    def _order(self) -> list[int]:
        needed: set[int] = set()
        stack = [result.node for result in self.results]
        while stack:
            number = stack.pop()
            if number not in needed:
                needed.add(number)
                stack.extend(self._reads(number))
        return sorted(needed)

    def _last_uses(self, order: Sequence[int]) -> dict[int, int]:
        last: dict[int, int] = {}
        for position, number in enumerate(order):
            last.update(dict.fromkeys(self._reads(number), position))
        last.update(dict.fromkeys((result.node for result in self.results), len(order)))
        return last

    def _loop_dependent(self, order: Sequence[int]) -> set[int]:
        """Nodes that can only be computed inside a fold or a loop."""
        dependent: set[int] = set()
        nodes = self.graph.nodes
        for number in order:
            node = nodes[number]
            if node.kind == "accumulator" or (
                node.kind != "fold" and any(reference.node in dependent for reference in node.references)
            ):
                dependent.add(number)
        return dependent

    # Expressions

    def _line(self, text: str) -> None:
        self._lines.append(self._indent + text)

    def _constant(self, value: Any, hint: str = "k") -> str:
        name = f"{hint}{len(self._namespace)}"
        self._namespace[name] = value
        return name

    def _arranged(self, number: int, index: Sequence[int], rank: int) -> str:
        """A node's array as a view in a frame of ``rank`` axes, without leading axes that it does not have."""
        name = self._names[number]
        if not index:
            return name
        if list(index) == list(range(rank)):
            return name
        if any(axis < 0 for axis in index) or len(set(index)) != len(index):
            return f"structural.arrange({name}, {tuple(index)}, {rank})"
        order = sorted(range(len(index)), key=lambda position: index[position])
        if order != list(range(len(order))):
            name = f"{name}.transpose({', '.join(map(str, order))})"
        first = min(index)
        if list(range(first, rank)) == sorted(index):
            return name
        places = ", ".join(":" if axis in index else "None" for axis in range(first, rank))
        return f"{name}[{places}]"

    def _full(self, number: int, index: Sequence[int], rank: int) -> str:
        """A node's array with every axis of a frame present."""
        if list(index) == list(range(rank)):
            return self._names[number]
        return f"structural.arrange({self._names[number]}, {tuple(index)}, {rank})"

    def _extent(self, extent: Extent, scalars: Sequence[Reference]) -> str:
        if isinstance(extent, int):
            return str(extent)
        kind, number, axis = extent
        if kind == "argument":
            return f"a{number}.shape[{axis}]"
        if kind == "operand":
            return f"int({self._names[scalars[number].node]})"
        return f"int({self._names[number]})"

    def _extents(self, extents: Sequence[Extent], scalars: Sequence[Reference]) -> str:
        return f"({''.join(self._extent(extent, scalars) + ', ' for extent in extents)})"

    # Nodes

    def _node(self, number: int, node: Node, position: int) -> None:
        name = self._names[number] = f"t{number}"
        handler = getattr(self, f"_write_{node.kind}", None) if "." not in node.kind else None
        if handler is not None:
            handler(number, node)
        elif node.kind in PRIMITIVES:
            self._line(f"{name} = {self._pointwise(node, [self._operand(r, node.rank) for r in node.references], position)}")
        elif node.kind == "opaque":
            op = dict(node.attributes).get("op")
            op = op[0] if isinstance(op, tuple) else op
            raise UnsupportedError(f"'{op}' is outside the vocabulary and no kernel is bound for it")
        else:
            raise UnsupportedError(f"the NumPy backend cannot evaluate '{node.kind}'")
        reads = dict.fromkeys(self._reads(number))
        self._support[number] = frozenset().union(*(self._support[read] for read in reads if read in self._support))
        self._owned.add(number)
        dead = [read for read in reads if read in self._owned and self._last_use[read] == position]
        self._owned.difference_update(dead)
        freed = [self._names[read] for read in dead if self._names[read].startswith("t")]
        if freed:
            self._line(f"del {', '.join(freed)}")

    def _operand(self, reference: Reference, rank: int) -> str:
        return self._arranged(reference.node, reference.index, rank)

    def _pointwise(self, node: Node, operands: Sequence[str], position: int | None = None) -> str:
        function = PRIMITIVES[node.kind].numpy
        types = tuple(self.graph.nodes[reference.node].element_type for reference in node.references)
        if isinstance(function, np.ufunc):
            target = self._reusable(node, operands, position)
            out = f", out={target}" if target else ""
            return f"{self._constant(function, function.__name__ + '_')}({', '.join(operands)}{out})"
        attributes = {name: str(value) for name, value in node.attributes if name != "result"}
        count = len(PRIMITIVES[node.kind].types.results)
        signature = Signature(types, (node.element_type,), attributes)
        which = ""
        if count > 1:
            second = (node.element_type,) * count if node.kind != "arith.addui_extended" else (types[0], "i1")
            signature = Signature(types, second, attributes)
            which = f"[{dict(node.attributes)['result']}]"
        short = node.kind.replace(".", "_") + "_"
        call = f"{self._constant(function, short)}({self._constant(signature, 's')}, {', '.join(operands)})"
        return call + which

    def _reusable(self, node: Node, operands: Sequence[str], position: int | None) -> str | None:
        """An operand's buffer that the result may overwrite: ours, dead after this line, of its shape and type."""
        if position is None:
            return None
        support = frozenset().union(*(self._support.get(r.node, frozenset()) for r in node.references))
        for reference, text in zip(node.references, operands, strict=True):
            child = self.graph.nodes[reference.node]
            if (
                reference.node in self._owned
                and self._last_use[reference.node] == position
                and text == self._names[reference.node]
                and child.element_type == node.element_type
                and child.kind in PRIMITIVES
                and self._support[reference.node]
                and not self._is_view(child)
            ):
                if self.elementwise and self._support[reference.node] == support:
                    return text if self._array_sized(support) else None
                if not self.elementwise and node.rank and reference.index == tuple(range(node.rank)):
                    return text
        return None

    def _array_sized(self, support: frozenset[int]) -> bool:
        # A 0-d result comes back as a scalar, which cannot be written to; element-wise kernels make inputs 1-d.
        return bool(support)

    @staticmethod
    def _is_view(node: Node) -> bool:
        return node.kind in ("arith.select", "arith.bitcast", "arith.index_cast", "arith.extf", "arith.truncf")

    def _write_argument(self, number: int, node: Node) -> None:
        raise UnsupportedError("an argument that the function does not have")

    def _write_constant(self, number: int, node: Node) -> None:
        bits = node.attributes[0][1]
        assert isinstance(bits, int)
        self._names[number] = self._constant(literals.to_scalar(bits, node.element_type), "c")

    def _write_dense(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        dtype = numpy_dtype(node.element_type)
        array = np.frombuffer(attributes["data"], dtype).reshape(attributes["shape"])
        self._names[number] = self._constant(array, "d")

    def _write_extent(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        if "argument" in attributes:
            source = f"a{attributes['argument']}"
        else:
            source = self._names[node.references[0].node]
        self._line(f"t{number} = np.int64({source}.shape[{attributes['axis']}])")

    def _write_index(self, number: int, node: Node) -> None:
        extent: Any = node.attributes[0][1]
        self._line(f"t{number} = np.arange({self._extent(extent, node.references)})")

    def _write_reduce(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        operand, initial, *scalars = node.references
        bound, rank = attributes["bound"], node.rank
        start = self._full(initial.node, initial.index, rank)
        if number in self._products:
            left, right = self._products[number]
            names = [self._names[r.node] for r in self.graph.nodes[operand.node].references]
            product = f"structural.contract({names[0]}, {left}, {names[1]}, {right}, {rank}, {bound})"
            total = self._constant(PRIMITIVES[attributes["combine"]].numpy, "add_")
            self._line(f"t{number} = {total}({start}, {product})")
            return
        index = [axis if axis < 0 else axis - BOUND if axis >= BOUND else axis + bound for axis in operand.index]
        text = self._full(operand.node, index, rank + bound)
        repeated = self._extents(attributes["repeated"], node.references)
        call = f"{attributes['combine']!r}, {node.element_type!r}, {text}, {start}, {bound}, {repeated}"
        self._line(f"t{number} = structural.reduce({call})")

    def _contraction(self, node: Node) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
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
            tuple(axis if axis < 0 else self._outer(operand.index[axis], node.rank) for axis in reference.index)
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

    @staticmethod
    def _outer(axis: int, rank: int) -> int:
        return axis - BOUND + rank if axis >= BOUND else axis

    def _write_fold(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        count, bound, rank = attributes["accumulators"], attributes["bound"], node.rank
        roots = node.references[:count]
        total = rank + bound

        def place(reference: Reference, frame: Sequence[int]) -> tuple[int, ...]:
            return tuple(axis if axis < 0 else frame[axis] for axis in reference.index)

        # Frame of every node of the body: which axis of the fold's own frame each of its parameters is.
        frames: dict[int, tuple[int, ...]] = {
            root.node: tuple(axis if axis < 0 else self._outer(axis, rank) for axis in root.index) for root in roots
        }
        body = [n for n in self.graph.reachable(root.node for root in roots) if n in self._dependent]
        outside: dict[tuple[int, tuple[int, ...]], str] = {}
        for inner in reversed(body):
            for reference in self.graph.nodes[inner].references:
                frame = place(reference, frames[inner])
                if reference.node in self._dependent:
                    frames[reference.node] = frame
                else:
                    outside.setdefault((reference.node, frame), f"x{number}_{len(outside)}")
        for root in roots:
            if root.node not in self._dependent:
                outside.setdefault((root.node, frames[root.node]), f"x{number}_{len(outside)}")
        for (source, frame), name in outside.items():
            self._line(f"{name} = {self._full(source, frame, total)}")
        sizes = f"n{number}"
        shapes = "".join(f"{name}.shape[{rank}:], " for name in outside.values())
        given = "".join(
            "1, " if extent == -1 else f"{self._extent(extent, node.references)}, " for extent in attributes["repeated"]
        )
        self._line(f"{sizes} = np.broadcast_shapes({shapes}({given}))")
        for name in outside.values():
            self._line(f"{name} = np.broadcast_to({name}, {name}.shape[:{rank}] + {sizes})")
        accumulators = [f"v{number}_{k}" for k in range(count)]
        for name, reference in zip(accumulators, node.references[count : 2 * count], strict=True):
            self._line(f"{name} = {self._full(reference.node, reference.index, rank)}")
        self._line(f"for b{number} in np.ndindex({sizes}):")
        inside = self._indent
        self._indent += "    "
        names: dict[int, str] = {}

        def operand(reference: Reference, frame: Sequence[int]) -> str:
            child = self.graph.nodes[reference.node]
            if child.kind == "accumulator":
                which = child.attributes[0][1]
                return accumulators[which]  # type: ignore[index]
            if reference.node in self._dependent:
                return names[reference.node]
            return f"{outside[(reference.node, place(reference, frame))]}[(..., *b{number})]"

        for inner in body:
            child = self.graph.nodes[inner]
            if child.kind == "accumulator":
                continue
            if child.kind not in PRIMITIVES:
                raise UnsupportedError(f"the NumPy backend cannot evaluate '{child.kind}' inside a fold")
            names[inner] = f"t{number}_{inner}"
            operands = [operand(reference, frames[inner]) for reference in child.references]
            self._line(f"{names[inner]} = {self._pointwise(child, operands)}")
        new = [
            names.get(root.node) or operand(Reference(root.node, tuple(range(len(frames[root.node])))), frames[root.node])
            for root in roots
        ]
        self._line(f"{', '.join(accumulators)} = {', '.join(new)}")
        self._indent = inside
        self._line(f"t{number} = np.asarray({accumulators[0]})")

    def _write_gather(self, number: int, node: Node) -> None:
        source, *at = node.references
        if any(axis < 0 for axis in source.index):
            kept = [axis for axis in source.index if axis >= 0]
            first = f"structural.arrange({self._names[source.node]}, {self._dropped(source.index)}, {len(kept)})"
        else:
            kept, first = list(source.index), self._names[source.node]
        passed = tuple(-1 - (axis - BOUND) if axis >= BOUND else axis for axis in kept)
        arrays = ", ".join(self._full(reference.node, reference.index, node.rank) for reference in at)
        self._line(f"t{number} = structural.gather({first}, {passed}, ({arrays},), {node.rank})")

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
        self._line(f"t{number} = structural.regroup({operand}, ({text}))")

    def _write_slice(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        axes, scalars = attributes["axes"], self._scalars(node, 1)
        operand = self._led(node.references[0], len(axes), attributes["fresh"], node.rank)
        dropped = tuple(size == 1 for _, _, size, _ in axes)
        self._line(f"t{number} = structural.take_slice({operand}, {self._quadruples(axes, scalars)}, {dropped})")

    def _write_pad(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        axes, scalars = attributes["axes"], self._scalars(node, 2)
        source, padding = node.references[:2]
        operand = self._led(source, len(axes), attributes["fresh"], node.rank)
        filling = self._full(padding.node, padding.index, node.rank)
        self._line(f"t{number} = structural.pad({operand}, {filling}, {self._quadruples(axes, scalars)})")

    def _write_insert_slice(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        rank = len(attributes["axes"])
        tensors = 2 if attributes["initialised"] else 1
        scalars = self._scalars(node, tensors)
        source = self._full(node.references[0].node, self._unbound(node.references[0].index), rank)
        target = "None"
        if tensors == 2:
            index = [axis if axis < 0 else axis - rank for axis in self._unbound(node.references[1].index)]
            target = self._full(node.references[1].node, index, rank)
        axes = self._quadruples(attributes["axes"], scalars)
        self._line(f"t{number} = structural.insert_slice({source}, {target}, {axes})")

    @staticmethod
    def _unbound(index: Sequence[int]) -> list[int]:
        return [axis if axis < 0 else axis - BOUND for axis in index]

    def _write_insert(self, number: int, node: Node) -> None:
        target, *scalars = node.references
        whole = self._full(target.node, self._unbound(target.index), len(target.index))
        rest = ", ".join(self._names[reference.node] for reference in scalars)
        self._line(f"t{number} = structural.insert({whole}, {rest})")

    def _write_concat(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        count = len(attributes["parts"])
        scalars = self._scalars(node, count)
        parts: list[str] = []
        for reference in node.references[:count]:
            index = [axis if axis < 0 else 0 if axis >= BOUND else axis for axis in reference.index]
            parts.append(self._full(reference.node, index, node.rank))
        sizes = self._extents(attributes["parts"], scalars)
        self._line(f"t{number} = structural.concatenate(({', '.join(parts)},), {sizes})")

    def _write_from_elements(self, number: int, node: Node) -> None:
        shape = dict(node.attributes)["shape"]
        elements = ", ".join(self._names[reference.node] for reference in node.references)
        self._line(f"t{number} = structural.from_elements({shape}, {node.element_type!r}, {elements})")

    def _write_fused(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        whole = f"r{attributes['call']}"
        if whole not in self._namespace:
            self._namespace[whole] = None
            kernel = self._constant(self.calls[attributes["call"]], "kernel_")
            operands = ", ".join(self._operand(reference, node.rank) for reference in node.references)
            self._line(f"{whole} = {kernel}({operands})")
        self._line(f"t{number} = {whole}[{attributes['result']}]")

    # Results

    def _result(self, value: Value) -> str:
        name = self._names[value.node]
        if self.elementwise:
            return name
        shape = self._extents(value.extents, ())
        element_type = self.graph.nodes[value.node].element_type
        return f"structural.finish({name}, {value.index}, {shape}, {element_type!r})"
