"""Values that are computed from extents: the divisor of a mean, half of a row."""

from __future__ import annotations

from xfuse.canonical.graph import Graph
from xfuse.primitives.table import PRIMITIVES


def extent_values(graph: Graph) -> list[bool]:
    """For each node whether it is computed from extents and literals alone, an extent among them."""
    found: list[bool] = []
    for node in graph.nodes:
        if node.kind in PRIMITIVES and not node.rank:
            below = [each.node for each in node.references]
            plain = all(n >= 0 and (found[n] or graph.nodes[n].kind == "constant") for n in below)
            found.append(plain and any(found[n] for n in below))
        else:
            found.append(node.kind == "extent")
    return found
