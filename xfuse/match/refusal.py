"""Why something that looked like a match is none: refusals are values (rule R10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from xfuse.canonical.graph import Node
from xfuse.locations import source_line
from xfuse.primitives import literals
from xfuse.primitives.table import PRIMITIVES


@dataclass(frozen=True)
class Refusal:
    """A candidate root that was turned down.

    ``rule`` is the number of the matching rule ("R4"), ``reason`` one word for it ("escape"), ``message`` a sentence
    with what was expected and found. ``op`` is the op at fault and ``root`` the one at which the recipe would have
    ended, if they are ops. Of the recipe's ``size`` ops ``matched`` were found in the best partial match. ``expected``
    and ``found`` are the two things that differ, where two things do. ``escaping`` are the inner values that are used
    outside the match.
    """

    recipe: str
    rule: str
    reason: str
    message: str
    op: Operation | None = None
    root: Operation | None = None
    matched: int = 0
    size: int = 0
    expected: str = ""
    found: str = ""
    escaping: tuple[SSAValue, ...] = ()

    def __str__(self) -> str:
        op = self.op or self.root
        where = "" if op is None else f" at {locate(op)}"
        partly = f"; {self.matched} of the recipe's {self.size} ops match" if self.matched < self.size else ""
        return f"@{self.recipe} refused ({self.rule} {self.reason}){where}: {self.message}{partly}"


def describe(op: Operation) -> str:
    """An op as a message names it: its results' names, its own, and its place in its text, else in its block."""
    spelled = _named(op)
    place = source_line(op)
    if place is not None:
        return f"{spelled} (line {place.rsplit(':', 2)[1]})"
    if "=" in spelled or not op.results or op.parent is None:
        return spelled
    return f"{spelled} (op {op.parent.get_operation_index(op)} of its block)"


def locate(op: Operation) -> str:
    """The same with the file that it stands in."""
    place = source_line(op)
    return describe(op) if place is None else f"{_named(op)} ({place})"


def _named(op: Operation) -> str:
    names = ", ".join(f"%{result.name_hint}" for result in op.results if result.name_hint)
    return f"'{names} = {op.name}'" if names else f"'{op.name}'"


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
    kind = f"a reduction by {attributes['combine']}" if node.kind == "reduce" else node.kind
    if node.kind == "reduce":
        attributes = {name: value for name, value in attributes.items() if name not in _OF_REDUCTIONS}
    elif node.kind not in PRIMITIVES:
        attributes = {}
    return f"{kind}{''.join(f' {name} = {value}' for name, value in attributes.items())} : {node.element_type}"


_OF_REDUCTIONS = frozenset({"combine", "bound", "repeated"})
"""Attributes of a reduction that are not those of the op that it combines by."""
