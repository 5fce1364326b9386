"""Which tasks of a row kernel share a pass over the data, and where what they store lies.

A stored value needs no memory if everything that reads it does so at the same point of the same pass. It lies in the
row of a result where that is not written before its last reading, else in scratch memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xfuse.backends.llvm.rows_index import Counter, Element, Place, renumbered
from xfuse.backends.llvm.rows_linear import Linear
from xfuse.backends.llvm.rows_plan import Loop, Plan, Task


@dataclass(eq=False)
class Pass:
    """Loops inside the first ``depth`` outer ones, and the tasks that are computed at each of their points.

    Reductions begin and end inside the first ``parameters`` loops.
    """

    depth: int
    loops: tuple[Loop, ...]
    tasks: list[Task] = field(default_factory=list[Task])
    parameters: int | None = None

    @property
    def reductions(self) -> list[Task]:
        """The tasks that reduce."""
        return [task for task in self.tasks if task.reduces]


@dataclass(frozen=True)
class Scratch:
    """Memory of a stored value: the sizes of its dimensions, and the node's parameters that they are for."""

    parameters: tuple[int, ...]
    sizes: tuple[Linear, ...]


@dataclass(frozen=True)
class Row:
    """A result that holds a stored value: for each of the result's axes the parameter that runs along it."""

    output: int
    parameters: tuple[int, ...]


@dataclass(eq=False)
class Schedule:
    """The passes in order for each depth, where stored values lie (nowhere if they are only passed on in registers),
    and the pairs of a result and an argument that may be the very same memory."""

    plan: Plan
    passes: list[list[Pass]]
    memory: dict[int, Scratch | Row] = field(default_factory=dict[int, Scratch | Row])
    in_place: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])


def make_schedule(plan: Plan) -> Schedule:
    """The schedule of a plan."""
    return _Scheduler(plan).schedule


class _Scheduler:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.passes: list[list[Pass]] = [[] for _ in range(len(plan.outer) + 1)]
        self.where: dict[Task, int] = {}
        self.levels: dict[Task, tuple[int, ...]] = {}
        self.read_by: dict[Task, list[tuple[int, Place]]] = {}
        for node, readers in plan.reads.items():
            for task, place in readers:
                self.read_by.setdefault(task, []).append((node, place))
        for task in plan.tasks:
            self._place(task)
        self._renumber()
        self.schedule = Schedule(plan, self.passes)
        self._allocate()
        self._find_in_place()

    # Passes

    def _place(self, task: Task) -> None:
        sources = [
            (other, place)
            for node, place in self.read_by.get(task, ())
            for other in self.plan.stored.get(node, ())
            if other.depth == task.depth and other is not task
        ]
        first = max((self.where[other] + (not other.computes) for other, _ in sources), default=0)
        if task.after is not None:
            first = max(first, self.where[task.after] + 1)
        passes = self.passes[task.depth]
        for position in range(first, len(passes)):
            levels = _match(passes[position], task)
            if levels is None:
                continue
            here = [(other, place) for other, place in sources if self.where[other] == position]
            if all(_moved(place, levels) == _moved(other.target, self.levels[other]) for other, place in here):
                self._enter(task, position, levels)
                return
        passes.append(Pass(task.depth, task.loops))
        self._enter(task, len(passes) - 1, tuple(range(len(task.loops))))

    def _enter(self, task: Task, position: int, levels: tuple[int, ...]) -> None:
        entered = self.passes[task.depth][position]
        entered.tasks.append(task)
        if task.reduces:
            entered.parameters = task.parameters
        self.where[task], self.levels[task] = position, levels

    def _renumber(self) -> None:
        """Say loop counters by the levels of the pass."""
        for node, readers in self.plan.reads.items():
            self.plan.reads[node] = [(task, _moved(place, self.levels[task])) for task, place in readers]
        for task, levels in self.levels.items():
            task.value, task.initial = _moved_element(task.value, levels), _moved_element(task.initial, levels)
            task.target = _moved(task.target, levels)

    # Memory

    def _allocate(self) -> None:
        taken: set[int] = set()
        for node, tasks in self.plan.stored.items():
            first, readers = tasks[0], self.plan.reads[node]
            if first.output is not None:
                index = self.plan.space.form.results[first.output].index
                order = sorted(range(len(index)), key=index.__getitem__)
                self.schedule.memory[node] = Row(first.output, tuple(order))
                continue
            if first.reduces and not first.parameters:
                continue
            together = all(r.depth == first.depth and self.where[r] == self.where[first] for r, _ in readers)
            if first.computes and together:
                continue
            row = self._free_row(node, first, taken) if first.computes else None
            if row is not None:
                taken.add(row.output)
            self.schedule.memory[node] = row or self._scratch(node, first)

    def _scratch(self, node: int, task: Task) -> Scratch:
        own = [p for p, at in enumerate(task.target) if not (isinstance(at, Counter) and at.outer)]
        return Scratch(tuple(own), tuple(self.plan.space.size(node, p) for p in own))

    def _free_row(self, node: int, task: Task, taken: set[int]) -> Row | None:
        """A result of the same dimensions and element type that is written after, or with, the last reading."""
        form = self.plan.space.form
        find, nodes = form.closing.find, form.graph.nodes
        own = {find(node, parameter): parameter for parameter in range(nodes[node].rank)}
        for output, value in enumerate(form.results):
            axes = {axis: find(value.node, p) for p, axis in enumerate(value.index) if axis >= 0}
            classes = [axes.get(axis) for axis in range(len(value.extents))]
            if (
                output in taken
                or nodes[value.node].element_type != nodes[node].element_type
                or sorted(own) != sorted(each for each in classes if each is not None)
                or len(own) != nodes[node].rank
                or None in classes
            ):
                continue
            order = tuple(own[each] for each in classes if each is not None)
            if all(self._precedes(node, order, writer) for writer in self._writers(output)):
                return Row(output, order)
        return None

    def _writers(self, output: int) -> list[Task]:
        return [task for task in self.plan.tasks if task.output == output]

    def _precedes(self, node: int, order: Sequence[int], writer: Task) -> bool:
        return all(
            reader.depth == writer.depth
            and (
                self.where[reader] < self.where[writer]
                or (self.where[reader] == self.where[writer] and tuple(place[p] for p in order) == writer.target)
            )
            for reader, place in self.plan.reads[node]
        )

    def _find_in_place(self) -> None:
        """A result may be an argument's memory if no element of that is read after it was overwritten."""
        form = self.plan.space.form
        writes: dict[int, list[tuple[Task, Place]]] = {}
        for task in self.plan.tasks:
            if task.output is not None:
                memory = self.schedule.memory.get(task.node)
                direct = memory is not None and task in self.plan.stored.get(task.node, ())
                target = task.target
                if direct and isinstance(memory, Row):
                    target = tuple(task.target[p] for p in memory.parameters)
                writes.setdefault(task.output, []).append((task, target))
        for node, memory in self.schedule.memory.items():
            task = self.plan.stored[node][0]
            if isinstance(memory, Row) and task.output is None:
                writes.setdefault(memory.output, []).append((task, tuple(task.target[p] for p in memory.parameters)))
        for number, argument in enumerate(form.arguments):
            reads = self.plan.reads.get(argument.node, [])
            for output, written in writes.items():
                if all(self._harmless(write, read) for write in written for read in reads):
                    self.schedule.in_place.add((output, number))

    def _harmless(self, write: tuple[Task, Place], read: tuple[Task, Place]) -> bool:
        (writer, target), (reader, place) = write, read
        if len(target) != len(place):
            return not place
        if reader.depth != writer.depth:
            return reader.depth < writer.depth
        outer = [Counter(level, outer=True) for level in range(writer.depth)]
        if any(each not in target or place[target.index(each)] != each for each in outer):
            return False
        return self.where[reader] < self.where[writer] or (self.where[reader] == self.where[writer] and place == target)


def _match(pass_: Pass, task: Task) -> tuple[int, ...] | None:
    """The level in a pass for each loop of a task, or None if they do not fit."""
    if len(pass_.loops) != len(task.loops):
        return None
    if not task.reduces:
        return _levels(range(len(task.loops)), task.loops, pass_.loops)
    if pass_.parameters not in (None, task.parameters):
        return None
    split = task.parameters
    outside = _levels(range(split), task.loops[:split], pass_.loops)
    inside = _levels(range(split, len(task.loops)), task.loops[split:], pass_.loops)
    return None if outside is None or inside is None else (*outside, *inside)


def _levels(free: range, wanted: Sequence[Loop], loops: Sequence[Loop]) -> tuple[int, ...] | None:
    """Levels for some loops: those of the same dimension first, else any of the same size."""
    left = list(free)
    found: list[int | None] = [None] * len(wanted)
    for same_dimension in (True, False):
        for position, loop in enumerate(wanted):
            fits = (n for n in left if loop.size == loops[n].size and (loop.key == loops[n].key or not same_dimension))
            level = next(fits, None)
            if found[position] is None and level is not None:
                found[position] = level
                left.remove(level)
    levels = tuple(each for each in found if each is not None)
    return levels if len(levels) == len(found) else None


def _moved(place: Place, levels: Sequence[int]) -> Place:
    return tuple(
        renumbered(each, lambda counter: counter if counter.outer else Counter(levels[counter.level])) for each in place
    )


def _moved_element(element: Element | None, levels: Sequence[int]) -> Element | None:
    return None if element is None else (element[0], _moved(element[1], levels))
