"""Producer fusion: which nodes are computed in the bodies of their consumers, so that the fewest generics are left.

A node goes into the body of its consumers if it is read in one place only, at every point of that body's loops, or if
it is cheap. What costs more than reading an element back is computed once: it is a tensor if several bodies read it,
or one body at fewer indices than it has loops. Only what a few results share, and nothing else reads, is computed in
the body of each, as a generic has one result. Values without loops are scalars outside of all bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xfuse.canonical.graph import BOUND, Graph, Index, Node, Value
from xfuse.emission.inlining import Inlining, operands_of, scalar_functions
from xfuse.primitives.table import PRIMITIVES

CHEAP = 4.0
"""The most that is computed again to save a tensor, in additions: less than a division costs."""

MOST_RESULTS = 8
"""The most results that each compute what they share: more would make the ops many times as many."""

_GATHER_COST = 2.0
_WIDENING = frozenset({"arith.extf", "arith.extsi", "arith.extui"})

Use = tuple[int, Index]
"""A body, by the node that it computes, or by ``-1 - k`` for the copy that is result ``k``; and the loop, or axis of
extent one, along each parameter of what it reads."""


def fuse_producers(graph: Graph, standing: Sequence[int], spread: Sequence[Value]) -> Inlining:
    """The nodes to compute in the bodies of their consumers.

    ``standing`` are nodes that tensors or scalars are needed of. ``spread`` are results that lie otherwise than their
    nodes, repeated along an axis for example: each is a body of its own.
    """
    nodes = graph.nodes
    order = graph.reachable([*standing, *(result.node for result in spread)])
    computable, dependent = scalar_functions(graph, order)
    costs, widths = _costs(graph, order, computable), _widths(graph, order, computable)
    uses: dict[int, dict[Use, None]] = {number: {} for number in order}
    apart, results = set(standing), {*standing, *range(-len(spread), 0)}
    loops: dict[int, int] = {}
    contractions: set[int] = set()
    for position, result in enumerate(spread):
        uses[result.node][-1 - position, result.index] = None
        loops[-1 - position] = sum(extent != 1 for extent in result.extents)
    inlined: set[int] = set()
    for number in reversed(order):
        node = nodes[number]
        own = uses[number]
        if number in dependent:
            inside = True
        elif number not in computable or number in apart or not node.rank:
            inside = False
        else:
            whole = all(len({axis for axis in index if axis >= 0}) == loops[body] for body, index in own)
            narrowed = any(
                body in contractions and _narrows(node, index, loops[body], widths[number]) for body, index in own
            )
            bodies = {body for body, _ in own}
            once = len(own) == 1 or (len(own) == len(bodies) <= MOST_RESULTS and bodies <= results)
            inside = (once and whole) or (costs[number] <= CHEAP and not narrowed)
        if inside and number not in dependent:
            inlined.add(number)
        if inside:
            places = list(own)
        elif node.kind in ("reduce", "fold") or (number in computable and node.rank):
            loops[number] = node.rank + _bound(node)
            places = [(number, tuple(range(node.rank)))]
            if node.kind in ("reduce", "fold") and widths[number] < loops[number]:
                contractions.add(number)
        else:
            places = []
        read_in_body = operands_of(node) if places else ()
        others = list(node.references)
        for reference in read_in_body:
            others.remove(reference)
        apart.update(reference.node for reference in others)
        for reference in read_in_body:
            for body, index in places:
                uses[reference.node][body, _composed(reference.index, index)] = None
    return Inlining(frozenset(inlined), frozenset(dependent))


def _composed(index: Index, outer: Index) -> Index:
    return tuple(axis if axis < 0 or axis >= BOUND else outer[axis] for axis in index)


def _bound(node: Node) -> int:
    """How many loops a reduction has besides those along its own parameters."""
    if node.kind not in ("reduce", "fold"):
        return 0
    attributes: dict[str, Any] = dict(node.attributes)
    bound: int = attributes["bound"]
    return bound + len(attributes["repeated"]) if node.kind == "reduce" else bound


def _narrows(node: Node, index: Index, loops: int, width: int) -> bool:
    """Whether a contraction would compute a node again and again that could be a tensor no larger than its operands.

    Its body then is no plain sum of products. Only a widening cast stays, as mixed precision is written so.
    """
    read = {axis for axis in index if axis >= 0}
    return len(read) < loops and width >= node.rank and node.kind not in _WIDENING


def _costs(graph: Graph, order: Sequence[int], computable: set[int]) -> dict[int, float]:
    """What a node costs at one point with all that its body may compute for it; a costly narrower operand is read."""
    costs: dict[int, float] = {}
    for number in order:
        node = graph.nodes[number]
        cost = 0.0
        if number in computable:
            cost = _GATHER_COST if node.kind == "gather" else PRIMITIVES[node.kind].cost
            for reference in operands_of(node):
                below = costs[reference.node]
                narrow = graph.nodes[reference.node].rank < node.rank
                cost += 0.0 if narrow and below > CHEAP else below
        costs[number] = min(cost, 1e9)
    return costs


def _widths(graph: Graph, order: Sequence[int], computable: set[int]) -> dict[int, int]:
    """How many axes the largest tensor has that a node is computed from, in one body."""
    widths: dict[int, int] = {}
    for number in order:
        node = graph.nodes[number]
        if number in computable or node.kind in ("reduce", "fold"):
            below = [
                widths[reference.node] if reference.node in computable else graph.nodes[reference.node].rank
                for reference in operands_of(node)
                if graph.nodes[reference.node].kind != "index"
            ]
            if node.kind == "gather":
                below.append(graph.nodes[node.references[0].node].rank)
            widths[number] = max(below, default=0)
        else:
            widths[number] = node.rank
    return widths
