"""Which nodes are computed in the bodies of the generics that read them, instead of as tensors of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xfuse.canonical.graph import Graph, Node, Reference
from xfuse.primitives.table import PRIMITIVES


@dataclass(frozen=True)
class Inlining:
    """``inlined`` are the nodes that only the body of their one reader computes.

    They are of two sorts. *Made of indices*: nothing but indices and scalars goes in, as into a mask or the index of
    a mirrored element. *Widened for a reduction*: larger than all tensors that they are computed from, as the
    products that a matrix product sums, or the windows of a convolution.
    """

    inlined: frozenset[int]
    dependent: frozenset[int]
    """The nodes that only a fold's body can compute: they depend on its accumulators."""

    def computes(self, number: int) -> bool:
        """Whether only bodies compute a node."""
        return number in self.inlined or number in self.dependent

    def reads(self, graph: Graph, number: int) -> list[int]:
        """The nodes that must stand as scalars or tensors where a node is computed."""
        reads: list[int] = []
        seen = {number}
        stack = [number]
        while stack:
            for reference in graph.nodes[stack.pop()].references:
                if not self.computes(reference.node):
                    reads.append(reference.node)
                elif reference.node not in seen:
                    seen.add(reference.node)
                    stack.append(reference.node)
        return reads


def choose(graph: Graph, roots: Sequence[int]) -> Inlining:
    """The nodes to inline in the cones of some roots."""
    nodes = graph.nodes
    order = graph.reachable(roots)
    functions, dependent = scalar_functions(graph, order)
    readers: dict[int, set[int]] = {root: {-1} for root in roots}
    for number in order:
        for reference in nodes[number].references:
            readers.setdefault(reference.node, set()).add(number)
    largest: dict[int, int] = {}  # how many axes the largest tensor has that a node would be computed from
    for number in order:
        node = nodes[number]
        largest[number] = 0 if node.kind == "index" else node.rank
        if number in functions and len(readers[number]) == 1:
            below = [largest[reference.node] for reference in node.references]
            if node.kind == "gather":  # reads its source as a tensor
                below[0] = nodes[node.references[0].node].rank
            largest[number] = max(below, default=0)
    inlined: set[int] = set()
    for number in reversed(order):
        if largest[number] >= nodes[number].rank or nodes[number].kind == "index" or number in dependent:
            continue
        (reader,) = readers[number]
        if reader < 0:
            continue
        whole = nodes[reader]
        read, read_in_body = (
            [each.node for each in some].count(number) for some in (whole.references, operands_of(whole))
        )
        made_of_indices = largest[number] == 0 and reader in functions
        in_body = made_of_indices or whole.kind in ("reduce", "fold") or reader in inlined or reader in dependent
        if in_body and read == read_in_body:
            inlined.add(number)
    return Inlining(frozenset(inlined), frozenset(dependent))


def scalar_functions(graph: Graph, order: Sequence[int]) -> tuple[set[int], set[int]]:
    """The nodes that a body can compute, and those of them that depend on a fold's accumulators, with these."""
    functions: set[int] = set()
    dependent: set[int] = set()
    for number in order:
        node = graph.nodes[number]
        if node.kind in PRIMITIVES or node.kind == "gather":
            functions.add(number)
        if node.kind == "accumulator" or (
            node.kind != "fold" and any(reference.node in dependent for reference in node.references)
        ):
            dependent.add(number)
    return functions, dependent


def operands_of(node: Node) -> Sequence[Reference]:
    """What a body reads of a node's references at one point; it takes the others as they are, or not at all."""
    if node.kind == "gather":
        return node.references[1:]
    if node.kind in ("reduce", "fold"):
        count = node.attributes[0][1] if node.kind == "fold" else 1
        assert isinstance(count, int)
        return node.references[:count]
    return node.references
