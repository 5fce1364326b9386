"""Recipes by what a place in a program must look like for a search to be worth while (rule R1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xfuse.canonical.graph import Graph, Node, is_commutative
from xfuse.match.pattern import Pattern, Shape, dtypes_of_uses, patterns_of, shape_of
from xfuse.recipes import Recipe


class Entry(NamedTuple):
    """A pattern, the number of its recipe, and the shapes of its nodes as a set of bits."""

    number: int
    pattern: Pattern
    shapes: int


@dataclass
class PatternIndex:
    """Recipes by the kind and element type of the node that a search for them starts at; forms are built on demand."""

    recipes: Sequence[Recipe]
    _by_type: dict[str, dict[str, list[Entry]]] = field(default_factory=dict[str, dict[str, list[Entry]]])
    _likely: dict[tuple[str, str, tuple[Shape, ...]], Sequence[Entry]] = field(
        default_factory=dict[tuple[str, str, tuple[Shape, ...]], Sequence[Entry]]
    )
    _bits: dict[Shape, int] = field(default_factory=dict[Shape, int])

    def at(self, kind: str, element_type: str) -> Sequence[Entry]:
        """Patterns whose anchor is of this kind and type."""
        if element_type not in self._by_type:
            self._by_type[element_type] = self._build(element_type)
        return self._by_type[element_type].get(kind, ())

    def every(self, element_type: str) -> Sequence[Entry]:
        """For each recipe the patterns whose anchor is of this type, or all if none is, whatever they end in."""
        found: list[Entry] = []
        for number, recipe in enumerate(self.recipes):
            patterns = [Pattern.of(recipe, use) for use in recipe.uses]
            same = [each for each in patterns if each.nodes[each.roots[each.anchor]].element_type == element_type]
            found.extend(Entry(number, pattern, 0) for pattern in same or patterns)
        return found

    def likely(self, node: Node, nodes: Sequence[Node]) -> Sequence[Entry]:
        """Those of them that a look at the node's operands does not rule out."""
        shapes = tuple(shape_of(nodes[each.node]) for each in node.references if each.node >= 0)
        key = (node.kind, node.element_type, shapes)
        found = self._likely.get(key)
        if found is None:
            commutative = is_commutative(node)
            known = self.at(node.kind, node.element_type)
            found = self._likely[key] = [each for each in known if each.pattern.is_plausible(shapes, commutative)]
        return found

    def cones(self, graph: Graph) -> list[int]:
        """For each node of a program, which shapes of the patterns built so far are in its cone, as a set of bits."""
        found: list[int] = []
        for node in graph.nodes:
            bits = self._bits.get(shape_of(node), 0)
            for reference in node.references:
                if reference.node >= 0:
                    bits |= found[reference.node]
            found.append(bits)
        return found

    def _build(self, element_type: str) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for number, recipe in enumerate(self.recipes):
            for use, dtypes in dtypes_of_uses(recipe):
                if element_type not in dtypes:
                    continue
                for pattern in patterns_of(recipe, use):
                    root = pattern.nodes[pattern.roots[pattern.anchor]]
                    if root.element_type == element_type:
                        found.setdefault(root.kind, []).append(Entry(number, pattern, self._shapes(pattern)))
        return found

    def _shapes(self, pattern: Pattern) -> int:
        bits = 0
        for number in pattern.cone:
            bits |= self._bits.setdefault(shape_of(pattern.nodes[number]), 1 << len(self._bits))
        return bits
