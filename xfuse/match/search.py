"""Rooted matching of a recipe on a program's graph (rules R1-R3, R6).

The state is a list of pairs still to be matched and a trail of bindings. Commutative nodes are choice points: the
search comes back to them with the bindings undone. Pairs that cannot match whatever is bound are remembered.

The search for an element-wise recipe compares how each value lies along the axes of the root. For one with core
dimensions it compares nodes alone and takes extents for equal; that the ops found are the recipe at some extents is
then seen from their form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xfuse.canonical.graph import UNIT, Index, Node, Reference, is_commutative
from xfuse.match.pattern import Pattern, core_nodes_agree, nodes_agree
from xfuse.match.program import Program

STEPS_PER_NODE = 100
"""Default budget of a root: this many steps per node of the recipe (rule R1)."""

Place = tuple[int, Index]
"""A node of the program and, for each of its parameters, the axis of the root that feeds it."""

_Todo = tuple[tuple[int, Place], "_Todo"] | None


@dataclass(frozen=True)
class Binding:
    """Which node of the program each node of the recipe was found at, and the frame it is read in."""

    places: Mapping[int, Place]
    steps: int


@dataclass
class Attempt:
    """What a search came to: a binding, or how far it got and why it ended."""

    binding: Binding | None = None
    best: int = 0
    failure: tuple[int, int] | None = None
    exhausted: bool = False


class Search:
    """One search for a pattern, started at one node of a program."""

    def __init__(self, pattern: Pattern, program: Program, budget: int | None = None) -> None:
        self.pattern = pattern
        self.program = program
        self.memo = program.memo(pattern)
        self.budget = (budget or STEPS_PER_NODE) * max(1, pattern.size)
        self.steps = 0
        self.places: dict[int, Place] = {}
        self.trail: list[int] = []
        self.best = 0
        self.failure: tuple[int, int] | None = None

    def at(self, node: int) -> Attempt:
        """The first binding with the anchor at a node of the program."""
        return next(self.all_at(node), self._failed(False))

    def all_at(self, node: int) -> Iterator[Attempt]:
        """All bindings with the anchor at a node, in the order of the search; the last attempt may be exhausted."""
        pattern = self.pattern
        root = pattern.roots[pattern.anchor]
        frame = () if pattern.has_core else tuple(range(self.program.graph.nodes[node].rank))
        todo: _Todo = ((root, (node, frame)), None)
        yield from self._run(todo)

    def _failed(self, exhausted: bool) -> Attempt:
        return Attempt(None, self.best, self.failure, exhausted)

    def _run(self, todo: _Todo) -> Iterator[Attempt]:
        choices: list[tuple[int, _Todo]] = []
        while True:
            failed = False
            while todo is not None:
                self.steps += 1
                if self.steps > self.budget:
                    yield self._failed(True)
                    return
                (wanted, place), todo = todo
                step = self._step(wanted, place, todo, choices)
                if step is False:
                    failed = True
                    break
                todo = None if step is True else step
            if not failed:
                other = self._next_root()
                if other is None:
                    yield Attempt(Binding(dict(self.places), self.steps), len(self.places))
                    failed = True
                else:
                    mark = len(self.trail)
                    starts = other
                    for start in starts[1:][::-1]:
                        choices.append((mark, (start, None)))
                    if starts:
                        todo = (starts[0], None)
                        continue
                    failed = True
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
        self.best = max(self.best, len(self.places))

    def _step(self, wanted: int, place: Place, todo: _Todo, choices: list[tuple[int, _Todo]]) -> _Todo | bool:
        """Match one pair; the list of what is left, or False."""
        pattern, nodes = self.pattern, self.program.graph.nodes
        known = self.places.get(wanted)
        if known is not None:
            return todo if known == place else self._fail(wanted, place[0])
        number, frame = place
        if number < 0:
            return self._fail(wanted, number)
        argument = pattern.arguments.get(wanted)
        node = nodes[number]
        if argument is not None:
            if node.element_type != pattern.nodes[wanted].element_type:
                return self._fail(wanted, number)
            if argument in pattern.slots and node.kind != "constant":
                return self._fail(wanted, number)
            self._bind(wanted, place)
            return todo
        if not self._possible(wanted, number):
            return self._fail(*self._difference(wanted, number))
        self._bind(wanted, place)
        target = pattern.nodes[wanted]
        if not target.references or wanted in pattern.extents:
            return todo
        children = [r.node for r in target.references]
        if pattern.has_core:
            found: list[Place] = [(r.node, ()) for r in node.references]
        else:
            found = [(r.node, in_frame(r, frame)) for r in node.references]
        if len(children) == 2 and is_commutative(target):
            straight = self._possible(children[0], found[0][0]) and self._possible(children[1], found[1][0])
            crossed = self._possible(children[0], found[1][0]) and self._possible(children[1], found[0][0])
            if crossed and straight and found[0] != found[1]:
                other: _Todo = ((children[0], found[1]), ((children[1], found[0]), todo))
                choices.append((len(self.trail), other))
            elif crossed and not straight:
                found.reverse()
            elif not straight:
                return self._fail(wanted, number)
        # Extents that only one of the two computes come last.
        for child, where in reversed(list(zip(children, found, strict=not pattern.has_core))):
            todo = ((child, where), todo)
        return todo

    def _fail(self, wanted: int, number: int) -> bool:
        if self.failure is None or len(self.places) >= self.best:
            self.failure = (wanted, number)
        return False

    def _possible(self, wanted: int, number: int) -> bool:
        """Whether a pair could match if bindings and indices did not count; remembered per program."""
        memo = self.memo
        graph = self.program.graph
        stack = [(wanted, number)]
        while stack:
            p, n = stack[-1]
            key = (p, n)
            if key in memo:
                stack.pop()
                continue
            verdict = self._shallow(p, n)
            if verdict is None:
                left, right = self.pattern.nodes[p].references, graph.nodes[n].references
                pairs = [(a.node, b.node) for a, b in zip(left, right, strict=not self.pattern.has_core)]
                if len(left) == 2 and is_commutative(self.pattern.nodes[p]):
                    pairs += [(left[0].node, right[1].node), (left[1].node, right[0].node)]
                missing = [pair for pair in pairs if pair not in memo]
                if missing:
                    stack.extend(missing)
                    continue
                known = [memo[pair] for pair in pairs]
                crossed = len(left) == 2 and len(known) == 4 and known[2] and known[3]
                verdict = all(known[: min(len(left), len(right))]) or crossed
            memo[key] = verdict
            stack.pop()
        return memo[wanted, number]

    def _difference(self, wanted: int, number: int) -> tuple[int, int]:
        """Where a pair that cannot match first differs: follow the operands that cannot match either."""
        graph = self.program.graph
        while self._shallow(wanted, number) is None:
            left, right = self.pattern.nodes[wanted].references, graph.nodes[number].references
            pairs = [(a.node, b.node) for a, b in zip(left, right, strict=not self.pattern.has_core)]
            if len(left) == 2 and is_commutative(self.pattern.nodes[wanted]):
                crossed = [(left[0].node, right[1].node), (left[1].node, right[0].node)]
                if sum(map(self._holds, crossed)) > sum(map(self._holds, pairs)):
                    pairs = crossed
            wrong = [pair for pair in pairs if not self._possible(*pair)]
            if not wrong:
                break
            wanted, number = wrong[0]
        return wanted, number

    def _holds(self, pair: tuple[int, int]) -> bool:
        return self._possible(*pair)

    def _shallow(self, wanted: int, number: int) -> bool | None:
        """False or True where the two nodes alone decide, None where their operands must."""
        if number < 0:
            return False
        target, node = self.pattern.nodes[wanted], self.program.graph.nodes[number]
        argument = self.pattern.arguments.get(wanted)
        if argument is not None:
            return node.element_type == target.element_type and (
                argument not in self.pattern.slots or node.kind == "constant"
            )
        if wanted in self.pattern.extents:
            return node.element_type == target.element_type and self.program.is_extent(number)
        if not self._agree(wanted, node):
            return False
        return None if target.references else True

    def _agree(self, wanted: int, node: Node) -> bool:
        target = self.pattern.nodes[wanted]
        return core_nodes_agree(target, node) if self.pattern.has_core else nodes_agree(target, node)

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
            candidates = sorted(user for user in users if self._agree(wanted, nodes[user]))
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
            if self._agree(root, node) and (self.pattern.has_core or node.rank == rank)
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
