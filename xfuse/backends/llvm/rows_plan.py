"""What a row kernel computes in which order: every result, reduction and stored value as a *task*.

A node that is read at several places is stored if it is costly, and computed anew at each place if it is cheap.
Dimensions that every node only passes along, such as the rows of a matrix whose iota they are read by, are loops around
everything (`Plan.outer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xfuse.backends.llvm.rows_index import STORED, Counter, Element, Place, Position, counters, operands, there
from xfuse.backends.llvm.rows_linear import Linear
from xfuse.backends.llvm.rows_parts import Frame, parts
from xfuse.backends.llvm.rows_space import Space
from xfuse.canonical.graph import BOUND, FRESH_INDEX_KINDS, UNIT
from xfuse.primitives.element_types import width
from xfuse.primitives.llvm_narrow import NARROW
from xfuse.primitives.table import PRIMITIVES

COSTLY = 8.0
"""From this cost on a value that is read twice is stored: what a pass over a row in the cache costs, about."""
_DEAREST = 1e6


class Loop(NamedTuple):
    """A loop over a dimension; loops with equal keys over it may be one."""

    key: object
    size: Linear


@dataclass(eq=False)
class Task:
    """Something computed at every point of its loops, which stand inside the first ``depth`` outer ones.

    The element ``value`` is stored at ``target`` in the node's buffer or in an output, or, if it ``reduces``, combined
    over the loops from ``parameters`` on, starting from ``initial``. With ``computes`` the value is the node itself,
    which everybody else reads from where it is stored. Without a value zeros are stored.
    """

    node: int
    depth: int
    loops: tuple[Loop, ...]
    parameters: int
    value: Element | None
    target: Place
    computes: bool = False
    reduces: bool = False
    initial: Element | None = None
    output: int | None = None
    after: Task | None = None
    """A task that stores to the same place and must come first."""

    @property
    def elements(self) -> list[Element]:
        """What the task reads from outside."""
        return [each for each in (self.value, self.initial) if each is not None]


@dataclass(eq=False)
class Plan:
    """The tasks of a recipe, in an order that computes everything before it is read."""

    space: Space
    outer: tuple[Loop, ...]
    tasks: list[Task] = field(default_factory=list[Task])
    reads: dict[int, list[tuple[Task, Place]]] = field(default_factory=dict[int, list[tuple[Task, Place]]])
    """For stored nodes and arguments: which task reads them at which index."""
    stored: dict[int, list[Task]] = field(default_factory=dict[int, list[Task]])
    """For stored nodes: the tasks that compute them."""
    widths: dict[Task, int] = field(default_factory=dict[Task, int])
    """Bits of the widest value that a task computes with."""
    costs: dict[Task, float] = field(default_factory=dict[Task, float])
    """What one point of a task costs, in additions."""


def make_plan(space: Space) -> Plan:
    """The plan for a form."""
    return _Planner(space).plan


class _Planner:
    def __init__(self, space: Space) -> None:
        self.space = space
        self.nodes = space.nodes
        self.closing = space.form.closing
        self.places: dict[int, dict[tuple[Task, Place], None]] = {}
        outer = self._outer()
        self.plan = Plan(space, tuple(Loop(each, self._size(each)) for each in outer))
        self.frame = Frame(space, outer)
        self.cost = self._costs()
        for number in range(len(space.form.results)):
            self._add(self._result(number))
        for number in reversed(self.closing.order):
            if number in self.places:
                self._settle(number)
        self.plan.tasks.sort(key=self._position)

    def _position(self, task: Task) -> tuple[int, bool]:
        return task.node, not (task.computes or task.reduces)

    # Outer loops

    def _outer(self) -> list[int]:
        """Classes of indices that are only passed along, in the order of the widest array's axes, but for the last."""
        form, find = self.space.form, self.closing.find
        spoiled: set[int] = set()
        for number in self.closing.order:
            node = self.nodes[number]
            own = [find(number, parameter) for parameter in range(node.rank)]
            spoiled.update(each for each in own if own.count(each) > 1)
            if node.kind in FRESH_INDEX_KINDS:
                fresh: Any = node.attributes[0][1]
                spoiled.update(own[:fresh])
            for reference in node.references:
                spoiled.update(
                    find(reference.node, parameter)
                    for parameter, axis in enumerate(reference.index)
                    if axis == UNIT or axis >= BOUND
                )
        axes: list[list[int]] = []
        for value in (*form.arguments, *form.results):
            classes = {axis: find(value.node, parameter) for parameter, axis in enumerate(value.index) if axis >= 0}
            axes.append([classes[axis] for axis in sorted(classes)])
        widest = max(map(len, axes))
        full = [each for each in axes if len(each) == widest]
        last = {each[-1] for each in full if each}
        return [each for each in dict.fromkeys(c for a in full for c in a) if each not in spoiled | last]

    def _size(self, wanted: int) -> Linear:
        for number in self.closing.order:
            for parameter in range(self.nodes[number].rank):
                if self.closing.find(number, parameter) == wanted:
                    return self.space.size(number, parameter)
        raise AssertionError("a class has a member")

    # Costs

    def _costs(self) -> dict[int, float]:
        """What it costs to compute each node anew, from what is stored or given."""
        cost: dict[int, float] = {}
        for number in self.closing.order:
            node = self.nodes[number]
            own = PRIMITIVES[node.kind].cost if node.kind in PRIMITIVES else 0.0
            below = 0.0 if self._is_stored(number) else sum(cost[each.node] for each in node.references)
            cost[number] = min(own + below, _DEAREST)
        return cost

    def _is_stored(self, number: int) -> bool:
        """Whether a node is stored whatever it costs."""
        node = self.nodes[number]
        if node.kind == "reduce":
            attributes: dict[str, Any] = dict(node.attributes)
            return bool(attributes["bound"] or attributes["repeated"])
        return node.kind in STORED

    # Tasks

    def _result(self, number: int) -> Task:
        value = self.space.form.results[number]
        keys: list[tuple[object, Linear]] = []
        for axis, extent in enumerate(value.extents):
            fed = [parameter for parameter, at in enumerate(value.index) if at == axis]
            if fed:
                keys.append((self.closing.find(value.node, fed[0]), self.space.size(value.node, fed[0])))
            else:
                keys.append((("result", number, axis), self.space.extent(extent, ())))
        depth, target, loops = self.frame.place(keys)
        at = tuple(0 if axis < 0 else target[axis] for axis in value.index)
        return Task(value.node, depth, tuple(Loop(*each) for each in loops), len(loops), (value.node, at), target,
                    output=number)  # fmt: skip

    def _settle(self, number: int) -> None:
        """Decide where a node is computed, of which all readers are known."""
        node = self.nodes[number]
        places = self.places[number]
        for task, _ in places:
            self._noted(task, number)
        if node.kind == "argument":
            self.plan.reads[number] = list(places)
        elif self._is_stored(number) or self._worth_storing(number):
            self.plan.reads[number] = list(places)
            self._store(number)
        else:
            for task, place in places:
                self.plan.costs[task] += self._own_cost(number)
                for child, at in operands(self.space, (number, place)):
                    self.places.setdefault(child, {})[task, at] = None

    def _worth_storing(self, number: int) -> bool:
        """Whether a costly node is read at several places, or would be computed again at each step of a loop."""
        node, places = self.nodes[number], self.places[number]
        if self.cost[number] < COSTLY or node.kind not in PRIMITIVES:
            return False
        keys = [(self.closing.find(number, p), self.space.size(number, p)) for p in range(node.rank)]
        if not self.frame.place(keys)[2]:
            return False  # computed once for each item
        return len(places) > 1 or any(self._repeats(place) for _, place in places)

    @staticmethod
    def _repeats(place: Place) -> bool:
        levels = {each.level for position in place for each in counters(position) if not each.outer}
        return bool(levels) and levels != set(range(max(levels) + 1))

    def _store(self, number: int) -> None:
        direct = self._output_of(number)
        if direct is not None:
            self.plan.tasks = [task for task in self.plan.tasks if task.output != direct]
            self.plan.reads[number] = [each for each in self.plan.reads[number] if each[0].output != direct]
        previous: Task | None = None
        for task in self._tasks(number):
            task.output, task.after = direct, previous
            previous = task if self.nodes[number].kind == "insert_slice" else None
            self.plan.stored.setdefault(number, []).append(task)
            self._add(task)

    def _output_of(self, number: int) -> int | None:
        """The result that a stored node is, axis by axis."""
        for position, value in enumerate(self.space.form.results):
            whole = value.node == number and sorted(value.index) == list(range(len(value.extents)))
            if whole and self.nodes[number].rank:
                return position
        return None

    def _tasks(self, number: int) -> list[Task]:
        node = self.nodes[number]
        if node.kind in STORED:
            return [
                Task(number, part.depth, tuple(Loop(*each) for each in part.loops), len(part.loops), part.value,
                     part.target)
                for part in parts(self.space, self.frame, number)
            ]  # fmt: skip
        keys = [(self.closing.find(number, p), self.space.size(number, p)) for p in range(node.rank)]
        depth, target, own = self.frame.place(keys)
        loops = [Loop(*each) for each in own]
        if node.kind != "reduce":
            return [Task(number, depth, tuple(loops), len(loops), (number, target), target, computes=True)]
        operand, initial = node.references[:2]
        parameters = len(loops)
        loops += [Loop(("repeated", number, k), size) for k, size in enumerate(self.space.repeated(node))]
        bound: dict[int, Position] = {}
        order = [axis for axis in operand.index if axis >= BOUND]
        for axis in sorted(dict.fromkeys(order), key=lambda axis: self._is_inner(operand.node, operand.index, axis)):
            parameter = operand.index.index(axis)
            bound[axis] = Counter(len(loops))
            loops.append(Loop(self.closing.find(operand.node, parameter), self.space.size(operand.node, parameter)))
        at = tuple(0 if a < 0 else bound[a] if a >= BOUND else target[a] for a in operand.index)
        begin = (initial.node, there(initial, target))
        return [Task(number, depth, tuple(loops), parameters, (operand.node, at), target, reduces=True, initial=begin)]

    def _is_inner(self, node: int, index: Sequence[int], axis: int) -> bool:
        """Whether a reduced index is the last axis of some argument, so that it should run in the innermost loop."""
        wanted = self.closing.find(node, index.index(axis))
        return any(
            argument.index and argument.index[-1] >= 0
            and self.closing.find(argument.node, len(argument.index) - 1) == wanted
            for argument in self.space.form.arguments
        )  # fmt: skip

    def _add(self, task: Task) -> None:
        self.plan.tasks.append(task)
        self.plan.widths[task] = 8
        self.plan.costs[task] = 0.0
        self._noted(task, task.node)
        for number, place in task.elements:
            if task.computes:
                self.plan.costs[task] += self._own_cost(number)
                for child, at in operands(self.space, (number, place)):
                    self.places.setdefault(child, {})[task, at] = None
            else:
                self.places.setdefault(number, {})[task, place] = None

    def _noted(self, task: Task, number: int) -> None:
        """Note that a task has to do with values of a node's element type."""
        if self.nodes[number].rank or task.loops == ():
            self.plan.widths[task] = max(self.plan.widths[task], width(self._held_in(number)))

    def _held_in(self, number: int) -> str:
        """The element type of a node in registers."""
        element_type = self.nodes[number].element_type
        return "f32" if element_type in NARROW else element_type

    def _own_cost(self, number: int) -> float:
        node = self.nodes[number]
        return PRIMITIVES[node.kind].cost if node.kind in PRIMITIVES and node.rank else 0.0
