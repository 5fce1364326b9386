"""The canonical form of a function: its text, and the SHA-256 over it that is its identity (law L5)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from xfuse.canonical.closing import Closing
from xfuse.canonical.graph import (
    BOUND,
    FRESH_INDEX_KINDS,
    UNINITIALISED,
    UNIT,
    Graph,
    Node,
    Reference,
    Value,
    is_commutative,
)
from xfuse.errors import UnsupportedError
from xfuse.primitives import literals
from xfuse.primitives.element_types import FLOATS, INTEGERS

VERSION = 1
"""Number of the text format; a change of it changes every identity."""


@dataclass(frozen=True)
class Form:
    """The canonical form of some results over shared arguments.

    ``text`` decides equality; ``identity`` is its SHA-256 in hexadecimal and only names it.
    """

    graph: Graph
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    closing: Closing
    text: str

    @cached_property
    def identity(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def is_elementwise(self) -> bool:
        """Whether no argument and no result has a core dimension and every op is point-wise."""
        nodes = self.graph.nodes
        return not any(
            self.closing.core_parameters(number) or nodes[number].kind in ("reduce", "fold", "gather", "loop")
            for number in self.closing.order
        )


def canonical_form(
    graph: Graph,
    arguments: Sequence[Value],
    results: Sequence[Value],
    *,
    type_names: Mapping[str, str] | None = None,
    header: Sequence[str] = (),
) -> Form:
    """The form of ``results`` as functions of ``arguments``.

    ``type_names`` renames element types in the text (a polymorphic recipe's own type becomes "T"); ``header`` lines
    become part of the text. Raises `UnsupportedError` if a result depends on an op that cannot be told from another
    one: one with effects, or with a region that xfuse cannot read; or if it was never written.
    """
    for position, result in enumerate(results):
        if result.node == UNINITIALISED:
            raise UnsupportedError(f"result {position} is a tensor that was never written")
    closing = Closing(graph, results, arguments)
    for number in closing.order:
        op = graph.unread.get(number)
        if op is not None:
            reason = graph.reasons.get(number, "it has effects or a region that xfuse cannot read")
            raise UnsupportedError(f"'{op}' has no canonical form: {reason}")
    writer = _Writer(closing, type_names or {})
    return Form(graph, tuple(arguments), tuple(results), closing, writer.text(header))


class _Writer:
    """Writes the text: operands of commutative ops sorted, indices numbered by first use, loop indices erased."""

    def __init__(self, closing: Closing, type_names: Mapping[str, str]) -> None:
        self.closing = closing
        self.nodes = closing.graph.nodes
        self.type_names = type_names
        self.parameters: dict[int, list[int]] = {}
        self.digests: dict[int, bytes] = {}
        self.heads: dict[int, str] = {}
        self.operands: dict[int, list[tuple[int, str]]] = {}
        for number in closing.order:
            self._describe(number, self.nodes[number])

    def text(self, header: Sequence[str]) -> str:
        closing = self.closing
        lines = [f"xfuse form {VERSION}", *header]
        names: dict[int, str] = {}
        for number, argument in enumerate(closing.arguments):
            names[argument.node] = f"%a{number}"
            core = len(self.parameters[argument.node])
            lines.append(f"%a{number} = {self.heads[argument.node]}{f' core {core}' if core else ''}")
        for root in closing.roots:
            self._emit(root.node, names, lines)
        for root in closing.roots:
            axes = [root.index[parameter] for parameter in self.parameters[root.node]]
            ranks = sorted(axis for axis in axes if axis >= 0)
            index = ", ".join("0" if axis < 0 else str(ranks.index(axis)) for axis in axes)
            lines.append(f"result {names[root.node]}{f'[{index}]' if axes else ''}")
        return "\n".join(lines) + "\n"

    def _emit(self, root: int, names: dict[int, str], lines: list[str]) -> None:
        stack = [(root, False)]
        while stack:
            number, ready = stack.pop()
            if number in names:
                continue
            operands = self.operands[number]
            if not ready:
                stack.append((number, True))
                stack.extend((child, False) for child, _ in reversed(operands) if child not in names)
                continue
            name = names[number] = f"%{len(names) - len(self.closing.arguments)}"
            inside = ", ".join(f"{names[child]}{index}" for child, index in operands)
            lines.append(f"{name} = {self.heads[number]}{f' ({inside})' if inside else ''}")

    def _describe(self, number: int, node: Node) -> None:
        core = self.closing.core_parameters(number)
        self.heads[number] = self._head(node)
        references = node.references
        if node.kind == "index":
            # The extent of an iota says how far it runs, which matters only to a node that binds it.
            if self.closing.is_bound(number, 0):
                self.heads[number] += f" {{extent = {self._run(number, node)}}}"
            else:
                references = ()
        best: tuple[list[tuple[bytes, str]], list[int], Sequence[Reference]] | None = None
        if len(references) == 2 and is_commutative(node):
            first, second = (self.digests[reference.node] for reference in references)
            if first > second:
                references = references[::-1]
            elif first == second and core:
                other = references[::-1]
                described, order = self._operands(node, other, core)
                best = (described, order, other)
        described, order = self._operands(node, references, core)
        if best is not None and best[0] < described:
            described, order, references = best
        self.parameters[number] = order
        self.operands[number] = [
            (reference.node, index) for reference, (_, index) in zip(references, described, strict=True)
        ]
        head = self.heads[number]
        if node.kind == "argument":
            head += str(node.attributes[0][1])
        digest = hashlib.blake2b(head.encode(), digest_size=16)
        for child, index in described:
            digest.update(child)
            digest.update(index.encode())
        self.digests[number] = digest.digest()

    def _operands(
        self, node: Node, references: Sequence[Reference], core: Sequence[int]
    ) -> tuple[list[tuple[bytes, str]], list[int]]:
        """Each operand's digest and index text, and this node's core parameters in canonical order."""
        if not core and node.kind not in ("reduce", "fold", "gather") and node.kind not in FRESH_INDEX_KINDS:
            return [(self.digests[reference.node], "") for reference in references], []
        order: list[int] = []
        if node.kind in ("argument", "dense", "index", "carried"):
            order.extend(core)
        elif node.kind in FRESH_INDEX_KINDS:
            fresh = node.attributes[0][1]
            assert isinstance(fresh, int)
            order.extend(range(fresh))
        bound: list[int] = []
        described: list[tuple[bytes, str]] = []
        for reference in references:
            parts: list[str] = []
            for parameter in self.parameters[reference.node]:
                axis = reference.index[parameter]
                if axis == UNIT:
                    parts.append("0")
                elif axis >= BOUND:
                    if node.kind == "reduce":
                        if axis not in bound:
                            bound.append(axis)
                        parts.append(f"b{bound.index(axis)}")
                    else:
                        parts.append(f"b{axis - BOUND}")
                else:
                    if axis not in order:
                        order.append(axis)
                    parts.append(f"p{order.index(axis)}")
            described.append((self.digests[reference.node], f"[{', '.join(parts)}]" if parts else ""))
        return described, order

    def _head(self, node: Node) -> str:
        name = self.type_names.get(node.element_type, node.element_type)
        if node.kind == "constant":
            bits = node.attributes[0][1]
            assert isinstance(bits, int)
            return f"constant {name} 0x{bits:X}{self._spelled(bits, node.element_type)}"
        attributes = node.attributes
        if node.kind in ("argument", "index"):
            return f"{node.kind} {name}"
        if node.kind == "extent":
            values: dict[str, Any] = dict(attributes)
            if "argument" in values:
                return f"extent index {self._extent('argument', values['argument'], values['axis'])}"
        if not attributes:
            return f"{node.kind} {name}"
        inside = ", ".join(f"{key} = {self._value(value)}" for key, value in attributes)
        return f"{node.kind} {name} {{{inside}}}"

    def _run(self, number: int, node: Node) -> str:
        """How far a bound iota runs: as far as an argument's core dimension that it runs along, else its extent."""
        closing = self.closing
        wanted = closing.find(number, 0)
        for candidate, argument in enumerate(closing.arguments):
            for position, parameter in enumerate(closing.core_parameters(argument.node)):
                if closing.find(argument.node, parameter) == wanted:
                    return f"extent(%a{candidate}, {position})"
        return self._value(node.attributes[0][1])

    @staticmethod
    def _spelled(bits: int, element_type: str) -> str:
        known = element_type in FLOATS or element_type in INTEGERS
        return f" ({literals.spell(bits, element_type)})" if known else ""

    def _value(self, value: object) -> str:
        if isinstance(value, bytes):
            return f"sha256:{hashlib.sha256(value).hexdigest()}"
        if isinstance(value, tuple):
            items = cast(tuple[Any, ...], value)
            if len(items) == 3 and items[0] == "argument":
                return self._extent(*items)
            return f"({', '.join(self._value(item) for item in items)})"
        return str(value)

    def _extent(self, _: str, number: int, axis: int) -> str:
        """An extent by the first core dimension of an argument that has it: axis numbers are no part of a form."""
        closing = self.closing
        wanted = closing.find(closing.arguments[number].node, axis)
        for candidate, argument in enumerate(closing.arguments):
            for position, parameter in enumerate(closing.core_parameters(argument.node)):
                if closing.find(argument.node, parameter) == wanted:
                    return f"extent(%a{candidate}, {position})"
        return f"extent(%a{number}, axis {axis})"
