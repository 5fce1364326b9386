"""Which indices of a cone are core and which are loop: closing them under "is passed as"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from xfuse.canonical.graph import BOUND, FRESH_INDEX_KINDS, Graph, Node, Value


class Closing:
    """Classes of the indices in the cones of some roots, down to the arguments.

    A class is *core* if it holds a bound index, an index that an op makes or reads, or two different indices of one
    node. Every other class is a *loop* class. Class numbers are arbitrary but equal within one class.
    """

    def __init__(self, graph: Graph, roots: Sequence[Value], arguments: Sequence[Value]) -> None:
        self.graph = graph
        self.roots = roots
        self.arguments = arguments
        self.order = graph.reachable([*(root.node for root in roots), *(argument.node for argument in arguments)])
        self._base: dict[int, int] = {}
        size = 0
        for number in self.order:
            self._base[number] = size
            size += graph.nodes[number].rank
        self._parent = list(range(size))
        self._close()

    def find(self, node: int, parameter: int) -> int:
        """The class of a node's parameter."""
        return self._find(self._base[node] + parameter)

    def is_core(self, node: int, parameter: int) -> bool:
        """Whether a node's parameter is of a core class."""
        return bool(self._core) and self._find(self._base[node] + parameter) in self._core

    def is_bound(self, node: int, parameter: int) -> bool:
        """Whether how far a node's parameter runs is part of a value.

        It is if some node binds its class, or if it is an axis of a result and no argument runs along it.
        """
        return bool(self._bound) and self._find(self._base[node] + parameter) in self._bound

    def core_parameters(self, node: int) -> list[int]:
        """The core parameters of a node, ascending."""
        if not self._core:
            return []
        base = self._base[node]
        return [p for p in range(self.graph.nodes[node].rank) if self._find(base + p) in self._core]

    def _find(self, slot: int) -> int:
        parent = self._parent
        while parent[slot] != slot:
            parent[slot] = parent[parent[slot]]
            slot = parent[slot]
        return slot

    def _close(self) -> None:
        parent, base, nodes = self._parent, self._base, self.graph.nodes
        if not parent:
            self._core: set[int] = set()
            self._bound: set[int] = set()
            return
        marked: list[int] = []
        bound: list[int] = []
        for number in self.order:
            node = nodes[number]
            own = base[number]
            for reference in node.references:
                other = base[reference.node]
                for parameter, axis in enumerate(reference.index):
                    if axis >= BOUND:
                        bound.append(other + parameter)
                    elif axis >= 0:
                        a, b = self._find(other + parameter), self._find(own + axis)
                        if a != b:
                            parent[a] = b
            if node.kind in ("dense", "index"):
                marked.extend(range(own, own + node.rank))
            elif node.kind in FRESH_INDEX_KINDS:
                fresh = node.attributes[0][1]
                assert isinstance(fresh, int)
                marked.extend(range(own, own + fresh))
            for argument, axis in argument_extents(node):
                marked.append(base[self.arguments[argument].node] + axis)
        for root in self.roots:
            fed: dict[int, int] = {}
            for parameter, axis in enumerate(root.index):
                if axis >= 0:
                    slot = base[root.node] + parameter
                    parent[self._find(slot)] = self._find(fed.setdefault(axis, slot))
        self._bound = {self._find(slot) for slot in bound}
        self._core = {self._find(slot) for slot in marked} | self._bound
        given = {self._find(base[a.node] + p) for a in self.arguments for p in range(nodes[a.node].rank)}
        shown = {self._find(base[root.node] + p) for root in self.roots for p in range(nodes[root.node].rank)}
        self._bound |= shown - given
        for number in self.order:
            node = nodes[number]
            if node.kind == "index" and self.is_bound(number, 0):
                extents = argument_symbols(node.attributes)
                self._core.update(self.find(self.arguments[argument].node, axis) for argument, axis in extents)
        for number in self.order:
            rank = nodes[number].rank
            if rank > 1:
                own = base[number]
                classes = [self._find(own + parameter) for parameter in range(rank)]
                if len(set(classes)) != rank:
                    self._core.update(c for c in classes if classes.count(c) > 1)


def argument_extents(node: Node) -> Iterator[tuple[int, int]]:
    """The (argument, axis) pairs whose extent a node's value depends on."""
    if node.kind == "extent":
        attributes: dict[str, Any] = dict(node.attributes)
        if "argument" in attributes:
            yield attributes["argument"], attributes["axis"]
        return
    for name, value in node.attributes:
        if name in ("repeated", "groups", "axes", "parts"):
            yield from _symbols(value)


def argument_symbols(attributes: object) -> list[tuple[int, int]]:
    """The (argument, axis) pairs that stand for extents anywhere in some attributes."""
    return list(_symbols(attributes))


def _symbols(value: object) -> Iterator[tuple[int, int]]:
    if isinstance(value, tuple):
        items = cast(tuple[Any, ...], value)
        if len(items) == 3 and items[0] == "argument":
            yield items[1], items[2]
        else:
            for item in items:
                yield from _symbols(item)
