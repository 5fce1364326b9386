"""Why something that looked like a match is none: refusals are values (rule R10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from xfuse.canonical.graph import Node
from xfuse.primitives import literals
from xfuse.primitives.table import PRIMITIVES


@dataclass(frozen=True)
class Refusal:
    """A candidate root that was turned down.

    ``rule`` is the number of the matching rule ("R4"), ``reason`` one word for it ("escape"), ``message`` a sentence
    with what was expected and found, ``op`` the op at fault if it is one, ``matched`` how many ops of the recipe
    were found before it failed.
    """

    recipe: str
    rule: str
    reason: str
    message: str
    op: Operation | None = None
    matched: int = 0

    def __str__(self) -> str:
        where = "" if self.op is None else f" at {describe(self.op)}"
        return f"@{self.recipe} refused ({self.rule} {self.reason}){where}: {self.message}"


def describe(op: Operation) -> str:
    """An op as a message names it: its results' names and its own; a nameless one by its place in its block."""
    names = ", ".join(f"%{result.name_hint}" for result in op.results if result.name_hint)
    if names or not op.results or op.parent is None:
        return f"'{names} = {op.name}'" if names else f"'{op.name}'"
    return f"'{op.name}' (op {op.parent.get_operation_index(op)} of its block)"


def spell_node(node: Node) -> str:
    """A node of the canonical graph as a message names it."""
    if node.kind == "constant":
        bits = node.attributes[0][1]
        assert isinstance(bits, int)
        return f"the literal {literals.spell(bits, node.element_type)} : {node.element_type}"
    if node.kind == "dense":
        return f"a table of constants : {node.element_type}"
    attributes: dict[str, Any] = dict(node.attributes)
    if node.kind == "opaque":
        op = attributes.get("op", "an unknown value")
        return f"'{op[0] if isinstance(op, tuple) else op}' : {node.element_type}"
    spelled = "".join(f" {name} = {value}" for name, value in attributes.items()) if node.kind in PRIMITIVES else ""
    return f"{node.kind}{spelled} : {node.element_type}"
