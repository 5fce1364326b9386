"""What a row of the primitives table is asked with: the types and attributes of a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xfuse.canonical.graph import Node
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES


def op_signature(nodes: Sequence[Node], node: Node) -> Signature:
    """Types and attributes of a scalar op's node, or of the op that a reduction combines by."""
    given: dict[str, Any] = dict(node.attributes)
    if node.kind == "reduce":
        own = {name: str(value) for name, value in given.items() if name not in ("combine", "bound", "repeated")}
        return Signature((node.element_type,) * 2, (node.element_type,), own)
    types = tuple(nodes[reference.node].element_type for reference in node.references)
    results = PRIMITIVES[node.kind].types.results_of(types, node.element_type)
    return Signature(types, results, {name: str(value) for name, value in given.items() if name != "result"})
