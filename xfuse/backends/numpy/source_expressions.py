"""Expressions of the generated source: arrays as views in a frame, extents, scalar ops, and what names are in use."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from xfuse.backends.numpy.noise import Noise
from xfuse.canonical.graph import Extent, Graph, Node, Reference, op_name
from xfuse.canonical.plan import Plan, Region
from xfuse.canonical.scalar_ops import op_signature
from xfuse.errors import UnsupportedError
from xfuse.primitives.element_types import is_float
from xfuse.primitives.table import PRIMITIVES

VIEWS = frozenset({"arith.select", "arith.bitcast", "arith.index_cast", "arith.extf", "arith.truncf"})
"""Scalar ops whose result may share memory with an operand."""


class Expressions:
    """Lines of one function, region by region, and the expressions in them."""

    graph: Graph
    elementwise: bool
    noise: Noise | None

    def _start(self, plan: Plan, namespace: dict[str, Any]) -> None:
        self._plan = plan
        self._namespace = namespace
        self._lines: list[str] = []
        self._indent = ""
        self._region = plan.top
        self._names: dict[int | str, str] = {}
        self._undo: list[tuple[int | str, str | None]] = []
        self._issued: dict[int, int] = {}
        self._owned: set[int] = set()
        self._shared: set[int] = set()
        self._support: dict[int, frozenset[int]] = {}
        self._overwriting: set[tuple[int, Region]] = set()

    def _reads(self, number: int) -> list[int]:
        """The nodes whose arrays are read where a node is computed."""
        raise NotImplementedError  # the writer of source, which knows what is an array, overrides this

    @contextmanager
    def _entered(
        self, region: Region, names: Mapping[int, str] | None = None, first: str = "", indent: str = "    "
    ) -> Generator[None]:
        """Write the nodes of a region, after a first line; names given meanwhile are forgotten behind it."""
        outer = (self._region, self._owned, self._indent, len(self._undo))
        self._region, self._owned, self._indent = region, set(), self._indent + indent
        for key, text in (names or {}).items():
            self._name(key, text)
        if first:
            self._line(first)
        for number in reversed(region.nodes):
            self._node(number, self.graph.nodes[number])
        yield
        self._region, self._owned, self._indent, mark = outer
        while len(self._undo) > mark:
            key, text = self._undo.pop()
            if text is None:
                del self._names[key]
            else:
                self._names[key] = text

    def _name(self, key: int | str, text: str) -> None:
        self._undo.append((key, self._names.get(key)))
        self._names[key] = text

    def _fresh(self, number: int) -> str:
        """A variable for a node; a node that several regions compute has several."""
        count = self._issued[number] = self._issued.get(number, 0) + 1
        return f"t{number}" if count == 1 else f"t{number}_{count}"

    def _line(self, text: str) -> None:
        self._lines.append(self._indent + text)

    def _assign(self, number: int, text: str) -> None:
        self._line(f"{self._names[number]} = {text}")

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

    def _whole(self, number: int, index: Sequence[int], extents: Sequence[Extent], scalars: Sequence[Reference]) -> str:
        """A node's array with all axes of a frame, at their extents where it lacks them."""
        if list(index) == list(range(len(extents))):
            return self._names[number]
        sizes = self._extents(extents, scalars)
        return f"structural.whole({self._names[number]}, {tuple(index)}, {sizes})"

    # Nodes

    def _node(self, number: int, node: Node) -> None:
        self._name(number, self._fresh(number))
        handler = getattr(self, f"_write_{node.kind}", None) if "." not in node.kind else None
        if handler is not None:
            handler(number, node)
        elif node.kind in PRIMITIVES:
            operands = [self._operand(reference, node.rank) for reference in node.references]
            self._assign(number, self._pointwise(node, operands, number))
            if self.noise is not None and PRIMITIVES[node.kind].ulp and is_float(node.element_type):
                moved = f"noise.moved({self._names[number]}, {node.element_type!r}, {PRIMITIVES[node.kind].ulp})"
                self._assign(number, moved)
        elif node.kind == "opaque":
            raise UnsupportedError(self._refusal(number, node))
        else:
            raise UnsupportedError(f"the NumPy backend cannot evaluate '{node.kind}'")
        reads = dict.fromkeys(self._reads(number))
        self._support[number] = frozenset().union(*(self._support[read] for read in reads if read in self._support))
        if node.kind == "reduce":  # its operand is used up, its initial value may be the result
            self._shared.add(node.references[1].node)
        elif node.kind not in PRIMITIVES or node.kind in VIEWS:
            self._shared.update(reads)
        self._owned.add(number)
        dead = [read for read in reads if read in self._owned and self._region.last_use[read] == number]
        self._owned.difference_update(dead)
        freed = [self._names[read] for read in dead if self._names[read].startswith("t")]
        if freed:
            self._line(f"del {', '.join(freed)}")

    def _refusal(self, number: int, node: Node) -> str:
        op = op_name(node)
        reason = self.graph.reasons.get(number)
        if reason is not None:
            return f"'{op}' cannot be evaluated: {reason}"
        return f"'{op}' is outside the vocabulary and no kernel is bound for it"

    def _operand(self, reference: Reference, rank: int) -> str:
        return self._arranged(reference.node, reference.index, rank)

    def _pointwise(self, node: Node, operands: Sequence[str], number: int | None = None) -> str:
        function = PRIMITIVES[node.kind].numpy
        if isinstance(function, np.ufunc):
            target = self._reusable(node, operands, number)
            out = f", out={target}" if target else ""
            return f"{self._constant(function, function.__name__ + '_')}({', '.join(operands)}{out})"
        signature = op_signature(self.graph.nodes, node)
        which = f"[{dict(node.attributes)['result']}]" if len(signature.results) > 1 else ""
        short = node.kind.replace(".", "_") + "_"
        call = f"{self._constant(function, short)}({self._constant(signature, 's')}, {', '.join(operands)})"
        return call + which

    def _reusable(self, node: Node, operands: Sequence[str], number: int | None) -> str | None:
        """An operand's buffer that the result may overwrite: ours, dead after this line, of its shape and type."""
        if number is None:
            return None
        support: frozenset[int] = frozenset[int]().union(
            *(self._support.get(r.node, frozenset[int]()) for r in node.references)
        )
        for reference, text in zip(node.references, operands, strict=True):
            child = self.graph.nodes[reference.node]
            if (
                reference.node in self._owned
                and self._region.last_use[reference.node] == number
                and reference.node not in self._shared
                and text == self._names[reference.node]
                and child.element_type == node.element_type
                and child.kind in PRIMITIVES
                and self._support[reference.node]
                and child.kind not in VIEWS
            ):
                if self.elementwise and self._support[reference.node] == support:
                    return text if self._array_sized(support) else None
                if not self.elementwise and node.rank and reference.index == tuple(range(node.rank)):
                    return text
        return None

    def _array_sized(self, support: frozenset[int]) -> bool:
        # A 0-d result comes back as a scalar, which cannot be written to; element-wise kernels make inputs 1-d.
        return bool(support)
