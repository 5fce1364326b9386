"""A glance at everything that a node is computed from, before a search for a very long pattern (rule R1)."""

from __future__ import annotations

from collections.abc import Iterable

from xfuse.canonical.graph import Graph, Node
from xfuse.match.pattern import Pattern

LONG = 64
"""Height from which on a pattern is worth the glance: a search for a shorter one is soon at its end."""

Shape = tuple[str, object]
"""A node at a glance: its kind, and the bits of a literal."""


class Cones:
    """For each node of a program how far down it reaches, and which shapes of some patterns' nodes are in its cone."""

    def __init__(self, graph: Graph, patterns: Iterable[Pattern]) -> None:
        self._graph = graph
        self._bits: dict[Shape, int] = {}
        self._wanted = {id(pattern): self._shapes(pattern) for pattern in patterns}
        self._found: list[int] = []
        for node in graph.nodes:
            bits = self._bits.get(_shape_of(node), 0)
            for reference in node.references:
                if reference.node >= 0:
                    bits |= self._found[reference.node]
            self._found.append(bits)

    def may_hold(self, pattern: Pattern, number: int) -> bool:
        """Whether one of the patterns may end in a node."""
        tall = self._graph.height(number) >= pattern.height
        return tall and not self._wanted[id(pattern)] & ~self._found[number]

    def _shapes(self, pattern: Pattern) -> int:
        bits = 0
        for number in pattern.cone:
            bits |= self._bits.setdefault(_shape_of(pattern.nodes[number]), 1 << len(self._bits))
        return bits


def _shape_of(node: Node) -> Shape:
    return node.kind, node.attributes[0][1] if node.kind == "constant" else None
