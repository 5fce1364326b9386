"""Recipes by what a place in a program must look like for a search to be worth while (rule R1)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xfuse.match.cones import LONG, Cones
from xfuse.match.pattern import Pattern, dtypes_of_uses, patterns_of
from xfuse.match.program import Program
from xfuse.match.terms import Terms
from xfuse.recipes import Recipe

Order = tuple[int, float, int, int, int, int]


class Entry(NamedTuple):
    """A pattern, and its place in the order of choice."""

    pattern: Pattern
    order: Order

    @staticmethod
    def of(pattern: Pattern, recipe: int) -> Entry:
        """Most ops, gain, the plainest recipe, the number of the recipe come first (rule R7).

        Plainest is: the fewest dimensions that are of extent one, then results, then arguments.
        """
        plain = (pattern.unit, len(pattern.roots), len(pattern.arguments))
        return Entry(pattern, (-pattern.size, -pattern.gain, *plain, recipe))


class Reading:
    """A program, and what tells which patterns may end at its nodes."""

    def __init__(self, program: Program, terms: Terms) -> None:
        self.program = program
        self.terms = terms
        self.classes = terms.classify(program.graph)
        self._cones: Cones | None = None
        self._alone: dict[int, Reading] = {}

    def alone(self, pattern: Pattern) -> Reading:
        """The program read for one pattern that is none of the index, as that of a recipe made on the way."""
        known = self._alone.get(id(pattern))
        if known is None:
            terms = Terms()
            terms.of(pattern)
            known = self._alone[id(pattern)] = Reading(self.program, terms)
        return known

    def may_hold(self, pattern: Pattern, number: int) -> bool:
        """Whether a pattern, if it is a long one, may end in a node."""
        if pattern.height < LONG:
            return True
        if self._cones is None:
            self._cones = Cones(self.program.graph, (each for each in self.terms.patterns() if each.height >= LONG))
        return self._cones.may_hold(pattern, number)


@dataclass(eq=False)
class PatternIndex:
    """Recipes by the kind and element type of the node that a search for them starts at; forms are built on demand."""

    recipes: Sequence[Recipe]
    terms: Terms = field(default_factory=Terms)
    _by_type: dict[str, dict[str, list[Entry]]] = field(default_factory=dict[str, dict[str, list[Entry]]])
    _likely: dict[tuple[str, str, int], Sequence[Entry]] = field(
        default_factory=dict[tuple[str, str, int], Sequence[Entry]]
    )

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
            found.extend(Entry.of(pattern, number) for pattern in same or patterns)
        return found

    def read(self, program: Program, *, every: bool = False) -> Reading:
        """A program with what tells the patterns that may end at a node; with ``every`` also those of `every`."""
        places = {(node.kind, node.element_type) for node in program.graph.nodes}
        for kind, element_type in places:
            for entry in self.at(kind, element_type) if kind not in ("argument", "constant") else ():
                self.terms.of(entry.pattern)
        for element_type in {element_type for _, element_type in places} if every else ():
            for entry in self.every(element_type):
                self.terms.of(entry.pattern)
        return Reading(program, self.terms)

    def likely(self, reading: Reading, number: int) -> Sequence[Entry]:
        """The patterns that may end in a node of a program."""
        node, found = reading.program.graph.nodes[number], reading.classes[number]
        key = (node.kind, node.element_type, found.number)
        entries = self._likely.get(key)
        if entries is None:
            entries = self._likely[key] = [
                each for each in self.at(node.kind, node.element_type) if self._root(each.pattern) in found.possible
            ]
        return entries

    def _root(self, pattern: Pattern) -> int:
        return self.terms.of(pattern)[pattern.roots[pattern.anchor]]

    def _build(self, element_type: str) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for number, recipe in enumerate(self.recipes):
            for use, dtypes in dtypes_of_uses(recipe):
                if element_type not in dtypes:
                    continue
                for pattern in patterns_of(recipe, use):
                    root = pattern.nodes[pattern.roots[pattern.anchor]]
                    if root.element_type == element_type:
                        found.setdefault(root.kind, []).append(Entry.of(pattern, number))
        return found


_MOST_KEPT = 8


class _Kept(threading.local):
    def __init__(self) -> None:
        self.indices: list[PatternIndex] = []


_KEPT = _Kept()


def index_of(recipes: Sequence[Recipe]) -> PatternIndex:
    """The index of some recipes. The last few are kept for the next call in the same thread.

    To prepare the patterns of the whole library takes as long as to fuse a program of some thousand ops, and many
    programs are smaller than that.
    """
    given, kept = tuple(recipes), _KEPT.indices
    index = next((each for each in kept if each.recipes == given), None)
    if index is None:
        index = PatternIndex(given)
    else:
        kept.remove(index)
    kept.append(index)
    del kept[:-_MOST_KEPT]
    return index
