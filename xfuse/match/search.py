"""Rooted matching of an element-wise recipe on a program's graph (rules R1-R3, R6).

The state is a list of pairs still to be matched and a trail of bindings. Commutative nodes are choice points: the
search comes back to them with the bindings undone. Pairs that cannot match whatever is bound are remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xfuse.canonical.form import Form
from xfuse.canonical.graph import UNIT, Index, Node, Reference, is_commutative
from xfuse.match.program import Program
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe

STEPS_PER_NODE = 100
"""Default budget of a root: this many steps per node of the recipe (rule R1)."""

Place = tuple[int, Index]
"""A node of the program and, for each of its parameters, the axis of the root that feeds it."""

Shape = tuple[str, object]
"""A node at a glance: its kind, and the bits of a literal."""

_Todo = tuple[tuple[int, Place], "_Todo"] | None


@dataclass(frozen=True)
class Pattern:
    """A recipe at one element type, prepared for matching."""

    recipe: Recipe
    element_type: str | None
    form: Form
    roots: tuple[int, ...]
    anchor: int
    interior: tuple[int, ...]
    literals: tuple[int, ...]
    cone: tuple[int, ...]
    height: int
    gain: float
    arguments: Mapping[int, int]
    slots: frozenset[int]
    dtypes: tuple[str, ...]
    shape: tuple[Shape | None, ...]

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(recipe: Recipe, element_type: str | None) -> Pattern:
        """The pattern of a recipe. Its anchor is the result with the largest cone."""
        form = recipe.form(element_type)
        roots = tuple(result.node for result in form.results)
        cones = [len(form.graph.reachable([root])) for root in roots]
        anchor = cones.index(max(cones))
        arguments = {argument.node: number for number, argument in enumerate(form.arguments)}
        nodes = form.graph.nodes
        reachable = form.graph.reachable(roots)
        interior = tuple(n for n in reachable if nodes[n].kind not in ("argument", "constant"))
        below = [nodes[reference.node] for reference in nodes[roots[anchor]].references]
        return Pattern(
            recipe,
            element_type,
            form,
            roots,
            anchor,
            interior,
            tuple(n for n in reachable if nodes[n].kind == "constant"),
            tuple(n for n in form.graph.reachable([roots[anchor]]) if nodes[n].kind != "argument"),
            form.graph.height(roots[anchor]),
            sum(PRIMITIVES[nodes[n].kind].cost for n in interior if nodes[n].kind in PRIMITIVES),
            arguments,
            frozenset(recipe.scalar_slots),
            sum(recipe.signature(element_type), ()),
            tuple(None if node.kind == "argument" else shape_of(node) for node in below),
        )

    def is_plausible(self, shapes: Sequence[Shape], commutative: bool) -> bool:
        """A quick look at what the operands of a program's node are, before any search."""
        if len(shapes) != len(self.shape):
            return False
        straight = all(wanted is None or wanted == found for wanted, found in zip(self.shape, shapes, strict=True))
        if straight or len(shapes) != 2 or not commutative:
            return straight
        return all(wanted is None or wanted == found for wanted, found in zip(self.shape, shapes[::-1], strict=True))

    @property
    def nodes(self) -> list[Node]:
        """Nodes of the recipe's graph."""
        return self.form.graph.nodes

    @property
    def kind(self) -> str:
        """Kind of the node that the search starts at."""
        return self.nodes[self.roots[self.anchor]].kind

    @property
    def size(self) -> int:
        """How many nodes are neither arguments nor literals."""
        return len(self.interior)


@lru_cache(maxsize=4096)
def scalar_uses(recipe: Recipe) -> Sequence[tuple[str | None, tuple[str, ...]]]:
    """Element types of an element-wise recipe with the dtypes of its arguments and results; none for another recipe."""
    return [(use, sum(recipe.signature(use), ())) for use in recipe.uses] if recipe.is_scalar else []


def shape_of(node: Node) -> Shape:
    """What can be told of a node at a glance: its kind, and the bits of a literal."""
    return node.kind, node.attributes[0][1] if node.kind == "constant" else None


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
        frame = tuple(range(self.program.graph.nodes[node].rank))
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
        if not target.references:
            return todo
        children = [r.node for r in target.references]
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
        for child, where in zip(reversed(children), reversed(found), strict=True):
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
                pairs = [(a.node, b.node) for a, b in zip(left, right, strict=True)]
                if len(left) == 2 and is_commutative(self.pattern.nodes[p]):
                    pairs += [(left[0].node, right[1].node), (left[1].node, right[0].node)]
                missing = [pair for pair in pairs if pair not in memo]
                if missing:
                    stack.extend(missing)
                    continue
                known = [memo[pair] for pair in pairs]
                verdict = all(known[: len(left)]) or (len(known) == 4 and known[2] and known[3])
            memo[key] = verdict
            stack.pop()
        return memo[wanted, number]

    def _difference(self, wanted: int, number: int) -> tuple[int, int]:
        """Where a pair that cannot match first differs: follow the operands that cannot match either."""
        graph = self.program.graph
        while self._shallow(wanted, number) is None:
            left, right = self.pattern.nodes[wanted].references, graph.nodes[number].references
            pairs = [(a.node, b.node) for a, b in zip(left, right, strict=True)]
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
        if not nodes_agree(target, node):
            return False
        return None if target.references else True

    def _next_root(self) -> list[tuple[int, Place]] | None:
        """Where the next unbound result of the recipe could be; None if all are bound."""
        pattern = self.pattern
        root = next((root for root in pattern.roots if root not in self.places), None)
        if root is None:
            return None
        path = self._path_down(root)
        if path is None:
            return []
        bound = self.places[path[-1]]
        candidates = [bound[0]]
        for wanted in reversed(path[:-1]):
            users = {user for candidate in candidates for user in self.program.users(candidate)}
            target, nodes = pattern.nodes[wanted], self.program.graph.nodes
            candidates = sorted(user for user in users if nodes_agree(target, nodes[user]))
        places: list[tuple[int, Place]] = []
        for candidate in candidates:
            frame = self._frame_of(candidate, path, bound)
            if frame is not None:
                places.append((root, (candidate, frame)))
        return places

    def _path_down(self, root: int) -> list[int] | None:
        """A shortest chain of operands from an unbound result of the recipe to a bound node."""
        nodes = self.pattern.nodes
        paths = [[root]]
        seen = {root}
        for path in paths:
            for reference in nodes[path[-1]].references:
                if reference.node in self.places and nodes[reference.node].kind != "constant":
                    return [*path, reference.node]
                if reference.node not in seen:
                    seen.add(reference.node)
                    paths.append([*path, reference.node])
        return None

    def _frame_of(self, candidate: int, path: list[int], bound: Place) -> Index | None:
        """Axes of the root that a further result lies along, read off the bound node that it is computed from."""
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


def nodes_agree(target: Node, node: Node) -> bool:
    """Whether a program's node is the recipe's, operands aside: kind, types and every attribute (rule R6).

    Fast-math flags of the program may be a superset of the recipe's.
    """
    if target.kind != node.kind or target.element_type != node.element_type:
        return False
    if len(target.references) != len(node.references):
        return False
    if target.attributes == node.attributes:
        return True
    wanted, found = dict(target.attributes), dict(node.attributes)
    flags, given = (set(str(each.pop("fastmath", "")).split(",")) - {""} for each in (wanted, found))
    return wanted == found and flags <= given
