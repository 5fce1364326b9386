"""Values that a loop carries, as leaves of its body: what depends on them, and putting other nodes in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xfuse.canonical.graph import Graph, Node, Reference

INDUCTION = -1
"""The position of a loop's induction variable among its carried values."""


def depending(graph: Graph, roots: Iterable[int], depth: int) -> list[int]:
    """The nodes in the cones of the roots that depend on values carried at a depth, ascending."""
    bit = 1 << depth
    seen: set[int] = set()
    stack = [root for root in roots if root >= 0 and graph.free(root) & bit]
    while stack:
        number = stack.pop()
        if number not in seen:
            seen.add(number)
            stack.extend(r.node for r in graph.nodes[number].references if graph.free(r.node) & bit)
    return sorted(seen)


def positions(graph: Graph, root: int, depth: int) -> list[int]:
    """The carried values of a loop that a node depends on, ascending; the induction variable is none of them."""
    found = {
        position(graph.nodes[number])
        for number in depending(graph, [root], depth)
        if graph.nodes[number].kind == "carried"
    }
    return sorted(found - {INDUCTION})


def position(node: Node) -> int:
    """Which of its loop's values a ``carried`` leaf is."""
    found = dict(node.attributes)["position"]
    assert isinstance(found, int)
    return found


def carried(element_type: str, depth: int, position: int, rank: int) -> Node:
    """The leaf for a value that a loop of a depth carries."""
    return Node("carried", element_type, (("depth", depth), ("position", position)), (), rank)


def substitute(graph: Graph, roots: Sequence[int], depth: int, replaced: Mapping[int, int]) -> list[int]:
    """The roots with some leaves of a depth replaced by nodes of the same parameters."""
    replaced = {old: new for old, new in replaced.items() if old != new}
    if not replaced:
        return list(roots)
    mark = (depth, tuple(sorted(replaced.items())))
    new = dict(replaced)
    for number in depending(graph, roots, depth):
        node = graph.nodes[number]
        references = tuple(Reference(new.get(r.node, r.node), r.index) for r in node.references)
        if number in new or references == node.references:
            continue
        made = new[number] = graph.intern(node._replace(references=references))
        if number in graph.reasons:
            graph.reasons.setdefault(made, graph.reasons[number])
        if number in graph.captured:
            capture(graph, made, (new.get(each, each) for each in graph.captured[number]))
        if number in graph.families:
            family, places = graph.families[number]
            graph.families.setdefault(made, ((family, mark), places))
    return [new.get(root, root) for root in roots]


def capture(graph: Graph, number: int, nodes: Iterable[int]) -> None:
    """Note what is computed before a branch or loop; of an op met twice, what is computed before both."""
    known = graph.captured.get(number)
    graph.captured[number] = frozenset(nodes) if known is None else known.intersection(nodes)
