"""Rooted matching of a recipe on a program's graph (rules R1-R3, R6).

The state is a list of pairs still to be matched and a trail of bindings. Commutative nodes are choice points: the
search comes back to them with the bindings undone. Pairs that cannot match whatever is bound are remembered.

The search for an element-wise recipe compares how each value lies along the axes of the root. For one with core
dimensions it compares nodes alone and takes extents for equal; that the ops found are the recipe at some extents is
then seen from their form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from xfuse.canonical.graph import UNIT, Index, Reference
from xfuse.match.index import Reading
from xfuse.match.pairs import Pairs
from xfuse.match.pattern import Pattern
from xfuse.match.terms import DEPTH

STEPS_PER_NODE = 100
"""Default budget of a root: this many steps per node of the recipe (rule R1)."""

Place = tuple[int, Index]
"""A node of the program and, for each of its parameters, the axis of the root that feeds it."""

_IDENTITY = tuple(range(64))
"""The frame of the root itself, up to any rank: in it a reference's index is that of its place."""

_Todo = tuple[tuple[int, Place], "_Todo"] | None


class Binding(NamedTuple):
    """Which node of the program each node of the recipe was found at, and the frame it is read in."""

    places: Mapping[int, Place]
    steps: int


class Search:
    """One search for a pattern, started at one node of a program."""

    def __init__(self, pattern: Pattern, reading: Reading, budget: int | None = None) -> None:
        self.pattern = pattern
        self.program = reading.program
        self.terms = reading.terms.of(pattern)
        self.classes = reading.classes
        self._pairs: Pairs | None = None
        self.budget = (budget or STEPS_PER_NODE) * max(1, pattern.size)
        self.steps = 0
        self.exhausted = False
        self.places: dict[int, Place] = {}
        self.trail: list[int] = []

    @property
    def pairs(self) -> Pairs:
        """What is known of pairs of nodes beyond their terms; most searches need none of it."""
        if self._pairs is None:
            self._pairs = Pairs(self.pattern, self.program)
        return self._pairs

    def all_at(self, node: int) -> Iterator[Binding]:
        """All bindings with the anchor at a node, in the order of the search, as far as the budget goes."""
        pattern = self.pattern
        root = pattern.roots[pattern.anchor]
        frame = () if pattern.has_core else tuple(range(self.program.graph.nodes[node].rank))
        return self._run(((root, (node, frame)), None))

    def _run(self, todo: _Todo) -> Iterator[Binding]:
        choices: list[tuple[int, _Todo]] = []
        while True:
            failed = False
            while todo is not None:
                self.steps += 1
                if self.steps > self.budget:
                    self.exhausted = True
                    return
                (wanted, place), todo = todo
                step = self._step(wanted, place, todo, choices)
                if step is False:
                    failed = True
                    break
                todo = step
            if not failed:
                starts = self._next_root()
                if starts is None:
                    yield Binding(dict(self.places), self.steps)
                elif starts:
                    mark = len(self.trail)
                    choices.extend((mark, (start, None)) for start in starts[1:][::-1])
                    todo = (starts[0], None)
                    continue
            if not choices:
                return
            mark, todo = choices.pop()
            self._undo(mark)

    def _undo(self, mark: int) -> None:
        while len(self.trail) > mark:
            del self.places[self.trail.pop()]

    def _bind(self, wanted: int, place: Place) -> None:
        self.places[wanted] = place
        self.trail.append(wanted)

    def _step(self, wanted: int, place: Place, todo: _Todo, choices: list[tuple[int, _Todo]]) -> _Todo | Literal[False]:
        """Match one pair; the list of what is left, or False."""
        known = self.places.get(wanted)
        if known is not None:
            return todo if known == place else False
        number, frame = place
        if not self._possible(wanted, number):
            return False
        self._bind(wanted, place)
        pattern = self.pattern
        children = pattern.below[wanted]
        if not children:
            return todo
        references = self.program.graph.nodes[number].references
        if pattern.has_core:
            found: list[Place] = [(r.node, ()) for r in references]
        elif frame == _IDENTITY[: len(frame)]:
            found = list(references)
        else:
            found = [(r.node, in_frame(r, frame)) for r in references]
        if wanted in pattern.commutative:
            left, right = children
            straight = self._possible(left, found[0][0]) and self._possible(right, found[1][0])
            crossed = self._possible(left, found[1][0]) and self._possible(right, found[0][0])
            if crossed and straight and found[0] != found[1]:
                other: _Todo = ((left, found[1]), ((right, found[0]), todo))
                choices.append((len(self.trail), other))
            elif crossed and not straight:
                found.reverse()
            elif not straight:
                return False
        # Extents that only one of the two computes come last.
        for child, where in reversed(list(zip(children, found, strict=not pattern.has_core))):
            if pattern.below[child]:
                todo = ((child, where), todo)
            elif not self._leaf(child, where):
                return False
        return todo

    def _leaf(self, wanted: int, place: Place) -> bool:
        """Match a pair that has nothing below it."""
        self.steps += 1
        known = self.places.get(wanted)
        if known is not None:
            return known == place
        if not self._possible(wanted, place[0]):
            return False
        self._bind(wanted, place)
        return True

    def _possible(self, wanted: int, number: int) -> bool:
        """Whether a pair could match if bindings and indices did not count."""
        if number < 0 or self.terms[wanted] not in self.classes[number].possible:
            return False
        return self.pattern.heights[wanted] <= DEPTH or self.pairs.possible(wanted, number)

    def _next_root(self) -> list[tuple[int, Place]] | None:
        """Where the next unbound result of the recipe could be; None if all are bound."""
        pattern = self.pattern
        root = next((root for root in pattern.roots if root not in self.places), None)
        if root is None:
            return None
        path = self._path_down(root)
        if path is None:
            return self._anywhere(root)
        bound = self.places[path[-1]]
        candidates = [bound[0]]
        for wanted in reversed(path[:-1]):
            users = {user for candidate in candidates for user in self.program.users(candidate)}
            nodes = self.program.graph.nodes
            candidates = sorted(user for user in users if self.pairs.agree(wanted, nodes[user]))
        places: list[tuple[int, Place]] = []
        for candidate in candidates:
            frame = self._frame_of(candidate, path, bound)
            if frame is not None:
                places.append((root, (candidate, frame)))
        return places

    def _anywhere(self, root: int) -> list[tuple[int, Place]]:
        """Every place of a result that has nothing in common with those found, along the same axes."""
        nodes, rank = self.program.graph.nodes, self.pattern.nodes[root].rank
        frame = () if self.pattern.has_core else tuple(range(rank))
        return [
            (root, (number, frame))
            for number, node in enumerate(nodes)
            if self.pairs.agree(root, node) and (self.pattern.has_core or node.rank == rank)
        ]

    def _path_down(self, root: int) -> list[int] | None:
        """A shortest chain of operands from an unbound result of the recipe to a bound node."""
        nodes = self.pattern.nodes
        paths = [[root]]
        seen = {root}
        for path in paths:
            for reference in nodes[path[-1]].references:
                known = reference.node in self.places and reference.node not in self.pattern.extents
                if known and nodes[reference.node].kind != "constant":
                    return [*path, reference.node]
                if reference.node not in seen:
                    seen.add(reference.node)
                    paths.append([*path, reference.node])
        return None

    def _frame_of(self, candidate: int, path: list[int], bound: Place) -> Index | None:
        """Axes of the root that a further result lies along, read off the bound node that it is computed from."""
        if self.pattern.has_core:
            return ()
        graph = self.program.graph
        maps: list[tuple[int, Index]] = [(candidate, tuple(range(graph.nodes[candidate].rank)))]
        for _ in path[1:]:
            maps = [(r.node, in_frame(r, frame)) for n, frame in maps for r in graph.nodes[n].references]
        for number, index in maps:
            if number == bound[0] and len(index) == len(bound[1]):
                frame = [-2] * graph.nodes[candidate].rank
                for parameter, axis in zip(index, bound[1], strict=True):
                    if parameter >= 0:
                        frame[parameter] = axis
                if -2 not in frame:
                    return tuple(frame)
        return None


def in_frame(reference: Reference, frame: Index) -> Index:
    """A reference's index in terms of the root's axes."""
    return tuple(UNIT if axis < 0 else frame[axis] if axis < len(frame) else axis for axis in reference.index)
