"""From the canonical graph to Python source on NumPy arrays: a line or a few per node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xfuse.backends.numpy import structural
from xfuse.backends.numpy.noise import Noise
from xfuse.backends.numpy.source_loops import NestedSource
from xfuse.backends.numpy.source_structural import Calls, StructuralSource
from xfuse.canonical.graph import Graph, Value
from xfuse.canonical.plan import Plan
from xfuse.errors import UnsupportedError
from xfuse.primitives.table import PRIMITIVES


@dataclass
class Source:
    """Python source of one function and the names it uses."""

    text: str
    namespace: dict[str, Any]
    name: str

    def compile(self) -> Callable[..., tuple[Any, ...]]:
        """The function: arrays in, a tuple of arrays out.

        Raises `UnsupportedError` for control flow nested deeper than Python takes.
        """
        namespace = dict(self.namespace)
        try:
            code = compile(self.text, f"<xfuse {self.name}>", "exec")
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise UnsupportedError(f"control flow is nested too deeply for Python source: {error}") from error
        exec(code, namespace)
        return namespace[self.name]


@dataclass
class Writer(StructuralSource, NestedSource):
    """Writes one function over a graph.

    With ``elementwise`` the arguments are arrays that broadcast against each other though the graph sees scalars, and
    the results are returned as they come. Otherwise arguments have the axes that the graph says, and results are laid
    out over theirs. ``calls`` holds the kernels of ``fused`` nodes by the name in their ``call`` attribute. With
    ``noise`` the result of every inexact op is moved by it.
    """

    graph: Graph
    arguments: Sequence[Value]
    results: Sequence[Value]
    name: str = "program"
    elementwise: bool = False
    calls: Calls = field(default_factory=dict[str, Callable[..., Any]])
    noise: Noise | None = None

    def write(self) -> Source:
        """The source. Raises `UnsupportedError` for an op that NumPy cannot evaluate, naming it."""
        roots = [result.node for result in self.results]
        if not self.elementwise:  # results are laid out over their extents
            symbols = [extent for result in self.results for extent in result.extents if not isinstance(extent, int)]
            roots.extend(number for kind, number, _ in symbols if kind == "value")
        everything = self.graph.reachable(roots)
        self._dependent = self._fold_dependent(everything)
        self._products = {n: p for n in everything if (p := self._contraction(self.graph.nodes[n])) is not None}
        if self.noise is not None:
            self._products = {}
        plan = Plan(self.graph, roots, self._reads, flat=self.elementwise)
        self._start(plan, {"structural": structural, "np": np, "noise": self.noise})
        for number, argument in enumerate(self.arguments):
            self._name(argument.node, f"a{number}")
            self._support[argument.node] = frozenset({number})
        with self._entered(plan.top):
            results = ", ".join(self._result(result) for result in self.results)
            self._line(f"return ({results},)" if results else "return ()")
        parameters = ", ".join(f"a{number}" for number in range(len(self.arguments)))
        text = "\n".join((f"def {self.name}({parameters}):", *self._lines, ""))
        return Source(text, self._namespace, self.name)

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

    def _fold_dependent(self, order: Sequence[int]) -> set[int]:
        """Nodes that can only be computed inside a fold."""
        dependent: set[int] = set()
        nodes = self.graph.nodes
        for number in order:
            node = nodes[number]
            if node.kind == "accumulator" or (
                node.kind != "fold" and any(reference.node in dependent for reference in node.references)
            ):
                dependent.add(number)
        return dependent

    def _result(self, value: Value) -> str:
        name = self._names[value.node]
        if self.elementwise:
            return name
        shape = self._extents(value.extents, ())
        node = self.graph.nodes[value.node]
        # What was computed into an array of its own need not be copied, if it is given away once.
        fresh = node.kind in PRIMITIVES or node.kind in ("fused", "reduce")
        fresh = fresh and [result.node for result in self.results].count(value.node) == 1
        return f"structural.finish({name}, {value.index}, {shape}, {node.element_type!r}, {fresh})"
