"""Which sub-expressions of the patterns each node of a program may be, all patterns at once (rule R1).

A term is a node of a pattern with what is below it to some depth, indices aside; equal ones of several patterns are one
term. The terms that a node may be depend on the node alone and on the terms of its operands, so that nodes of one kind
over operands of equal terms are looked at once: what is found does not cost more with more patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xfuse.canonical.graph import Attributes, Graph, Node, is_commutative
from xfuse.match.pattern import Pattern, core_nodes_agree, nodes_agree
from xfuse.primitives.table import PRIMITIVES

Possible = frozenset[int]
"""The terms that a node may be."""

DEPTH = 6
"""How far down terms look. Deeper ones would tell more patterns apart, but a long pattern would have too many."""

_Key = tuple[str, str, Attributes, bool, tuple[int, ...]]
_ANY, _SLOT, _EXTENT = "any value", "any constant", "any extent"
_NO_OPERAND = -1
_MOST_SEEN = 10_000


class _Term(NamedTuple):
    number: int
    node: Node
    has_core: bool
    commutative: bool
    below: tuple[int, ...]


class NodeClass(NamedTuple):
    """Nodes of programs that are not told apart: those that may be the same terms."""

    number: int
    possible: Possible
    literal: bool
    of_extents: bool
    """Whether it is computed from extents alone (see `extent_values`)."""


class Terms:
    """The terms of some patterns, and what is known of the nodes of programs by their kind and operands."""

    def __init__(self) -> None:
        self._terms: dict[_Key, int] = {}
        self._kinds: set[tuple[str, str]] = set()
        self._above: dict[tuple[str, str, int], list[_Term]] = {}
        self._leaves: set[int] = set()
        self._patterns: dict[int, tuple[Pattern, Mapping[int, int]]] = {}
        self._seen: dict[tuple[object, ...], NodeClass] = {}
        self._classes: dict[tuple[Possible, bool, bool], NodeClass] = {}
        self._unreadable = self._intern(frozenset(), False, False)

    def of(self, pattern: Pattern) -> Mapping[int, int]:
        """The term of each node of a pattern that a search may come to, as far down as terms look."""
        known = self._patterns.get(id(pattern))
        if known is None:
            made: dict[tuple[int, int], int] = {}
            found = {number: self._add(pattern, number, DEPTH, made) for number in pattern.heights}
            known = self._patterns[id(pattern)] = (pattern, found)
        return known[1]

    def patterns(self) -> Iterator[Pattern]:
        """The patterns whose terms these are."""
        return (pattern for pattern, _ in self._patterns.values())

    def classify(self, graph: Graph) -> list[NodeClass]:
        """The class of each node of a program, with the terms that it may be of all patterns known so far."""
        if len(self._seen) > _MOST_SEEN:  # an index may serve many programs
            self._seen.clear()
        seen, kinds, unreadable = self._seen, self._kinds, self._unreadable
        classes: list[NodeClass] = []
        for node in graph.nodes:
            kind, element_type, attributes, references, rank = node
            key: tuple[object, ...]
            if (kind, element_type) in kinds:
                below = [classes[each.node] if each.node >= 0 else unreadable for each in references]
                key = (kind, element_type, attributes, rank == 0, *[each.number for each in below])
            elif rank or kind not in PRIMITIVES:
                below, key = [], (kind, element_type)
            else:
                below = [classes[each.node] if each.node >= 0 else unreadable for each in references]
                key = (kind, element_type, *[each.number for each in below])
            found = seen.get(key)
            if found is None:
                found = seen[key] = self._class(node, below)
            classes.append(found)
        return classes

    def _class(self, node: Node, below: Sequence[NodeClass]) -> NodeClass:
        literal = node.kind == "constant"
        if node.kind in PRIMITIVES and not node.rank:
            of_extents = all(each.of_extents or each.literal for each in below) and any(e.of_extents for e in below)
        else:
            of_extents = node.kind == "extent"
        leaves = [_ANY, *[_SLOT] * literal, *[_EXTENT] * (literal or of_extents)]
        found = {term.number for kind in leaves for term in self._above.get((kind, node.element_type, _NO_OPERAND), ())}
        given = [each.possible for each in below]
        for operand in {_NO_OPERAND}.union(*given):
            for term in self._above.get((node.kind, node.element_type, operand), ()):
                agree = core_nodes_agree if term.has_core else nodes_agree
                if agree(term.node, node) and _fits(term, given):
                    found.add(term.number)
        return self._intern(frozenset(found), literal, of_extents)

    def _intern(self, possible: Possible, literal: bool, of_extents: bool) -> NodeClass:
        key = (possible, literal, of_extents)
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = NodeClass(len(self._classes), *key)
        return found

    def _add(self, pattern: Pattern, number: int, depth: int, known: dict[tuple[int, int], int]) -> int:
        node, argument = pattern.nodes[number], pattern.arguments.get(number)
        if argument is not None:
            return self._term(_SLOT if argument in pattern.slots else _ANY, node)
        if number in pattern.extents:
            return self._term(_EXTENT, node)
        depth = min(depth, pattern.heights[number])
        if depth == 0 and node.references:
            return self._term(_ANY, node)
        found = known.get((number, depth))
        if found is None:
            below = tuple(self._add(pattern, each, depth - 1, known) for each in pattern.below[number])
            found = known[number, depth] = self._term(node.kind, node, pattern.has_core, below)
        return found

    def _term(self, kind: str, node: Node, has_core: bool = False, below: tuple[int, ...] = ()) -> int:
        key = (kind, node.element_type, node.attributes if kind == node.kind else (), has_core, below)
        number = self._terms.get(key)
        if number is None:
            number = self._terms[key] = len(self._terms)
            term = _Term(number, node, has_core, is_commutative(node), below)
            # Under the operand that tells most: what is no more than some value of a type would be found everywhere.
            # With core dimensions a program may lack operands that only say how far an index runs.
            least = below[0] if below and not has_core else _NO_OPERAND
            known = next((each for each in below if each not in self._leaves), least)
            self._above.setdefault((kind, node.element_type, known), []).append(term)
            self._kinds.add((kind, node.element_type))
            if kind in (_ANY, _SLOT, _EXTENT):
                self._leaves.add(number)
            self._seen.clear()
        return number


def _fits(term: _Term, below: Sequence[Possible]) -> bool:
    """Whether a node over these operands may be a term of its kind, in either order where the term has none."""
    wanted = term.below
    if all(number in each for number, each in zip(wanted, below, strict=not term.has_core)):
        return True
    return term.commutative and len(wanted) == 2 == len(below) and wanted[0] in below[1] and wanted[1] in below[0]
