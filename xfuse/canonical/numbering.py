"""An order of a function's arguments and results that depends on what it computes, not on how it was written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from xfuse.canonical.form import Form
from xfuse.canonical.graph import BOUND, Node, Reference, is_commutative
from xfuse.postorder import postorder

_ROUNDS = 2
"""How often what is known of a node is spread to its operands and users."""


def canonical_order(form: Form) -> tuple[list[int], list[int], list[int]]:
    """The order in which to number arguments and results, and the nodes in order of evaluation.

    Two functions that differ in the numbering of arguments and results, and in the order of commutative operands, get
    orders under which their forms are equal, unless arguments are told apart by nothing within two steps of refinement.
    """
    numbering = _Numbering(form)
    results = sorted(range(len(form.results)), key=lambda k: (numbering.colours[form.results[k].node], k))
    visited = postorder([form.results[k].node for k in results], numbering.children)
    place = {number: position for position, number in enumerate(visited)}
    arguments = sorted(range(len(form.arguments)), key=lambda k: (place.get(form.arguments[k].node, len(place)), k))
    return arguments, results, visited


class _Numbering:
    """Digests of nodes that see neither the numbers of arguments nor the order of commutative operands."""

    def __init__(self, form: Form) -> None:
        self.nodes = form.graph.nodes
        self.order = form.closing.order
        self.roots = {value.node for value in form.results}
        self.patterns: dict[int, list[str]] = {}
        self.colours = {number: _digest(self._label(number, form)) for number in self.order}
        for _ in range(_ROUNDS):
            self._up()
            self._down()

    def children(self, number: int) -> list[int]:
        """The operands of a node, those of a commutative one in the order of their colours."""
        node = self.nodes[number]
        found = [reference.node for reference in node.references]
        return sorted(found, key=self.colours.__getitem__) if is_commutative(node) else found

    def _label(self, number: int, form: Form) -> list[object]:
        node = self.nodes[number]
        core = len(form.closing.core_parameters(number))
        attributes = () if node.kind in ("argument", "extent") else node.attributes
        self.patterns[number] = patterns = [self._pattern(reference, form) for reference in node.references]
        return [node.kind, node.element_type, core, attributes, sorted(patterns), number in self.roots]

    def _up(self) -> None:
        for number in self.order:
            below = [self.colours[child] for child in self.children(number)]
            self.colours[number] = _digest([self.colours[number], *below])

    def _down(self) -> None:
        above: dict[int, list[bytes]] = {number: [] for number in self.order}
        for number in reversed(self.order):
            self.colours[number] = _digest([self.colours[number], *sorted(above[number])])
            node: Node = self.nodes[number]
            commutes = is_commutative(node)
            for position, (reference, pattern) in enumerate(zip(node.references, self.patterns[number], strict=True)):
                if reference.node in above:
                    seen = [self.colours[number], 0 if commutes else position, pattern]
                    above[reference.node].append(_digest(seen))

    @staticmethod
    def _pattern(reference: Reference, form: Form) -> str:
        """How core dimensions are read; loop dimensions are no part of a form."""
        index = [reference.index[parameter] for parameter in form.closing.core_parameters(reference.node)]
        return "".join("b" if axis >= BOUND else "0" if axis < 0 else "i" for axis in index)


def _digest(parts: Sequence[object]) -> bytes:
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"|")
    return digest.digest()
