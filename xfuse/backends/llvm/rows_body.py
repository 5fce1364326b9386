"""The passes of a row kernel as loops: the function that computes every item of NumPy's outer loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xfuse.backends.llvm.loops import storage_bytes, storage_type
from xfuse.backends.llvm.rows_arrays import HEAD, Arrays, checked
from xfuse.backends.llvm.rows_index import Counter
from xfuse.backends.llvm.rows_lanes import ROUNDS, Reduction, vector_properties
from xfuse.backends.llvm.rows_plan import Task
from xfuse.backends.llvm.rows_schedule import Pass, Schedule, Scratch
from xfuse.backends.llvm.rows_text import PLAIN, Function, Module, Scope
from xfuse.backends.llvm.rows_values import Values
from xfuse.primitives.element_types import llvm_type

SMALL = 8192
"""Bytes of scratch memory that are taken from the stack."""
_HEAVY = 12.0
"""From this cost of a point on two vectors are worked on at a time, else four."""
_MOST_LANES = 64


def build_body(module: Module, schedule: Schedule, name: str, *, dense: bool) -> str:
    """``name(arguments, dimensions, steps) -> i1``: all items; false, with nothing done, if memory is wanting.

    With ``dense`` the last axis of every array has no gaps. What comes out does not depend on that, to the bit.
    """
    return _Body(module, schedule, dense).text(name)


class _Body:
    def __init__(self, module: Module, schedule: Schedule, dense: bool) -> None:
        self.module = module
        self.target = module.target
        self.schedule = schedule
        self.space = schedule.plan.space
        self.code = Function(module)
        self.dense = dense
        self.values = Values(self.code, schedule, dense=dense)
        self.reserved: dict[str, str] = {}
        """Stack memory by name: its LLVM type."""
        self.scratch = {n: m for n, m in schedule.memory.items() if isinstance(m, Scratch)}

    def text(self, name: str) -> str:
        code, signature, form = self.code, self.space.signature, self.space.form
        types = [form.graph.nodes[value.node].element_type for value in (*form.arguments, *form.results)]
        arrays = Arrays((*signature.arguments, *signature.results), len(signature.arguments), types)
        arrays.load(code)
        if self.scratch:
            self._allocate()
        with code.plain_loop("item", "%count") as item:
            self.values.item = code.scope
            for array in range(len(types)):
                code.line(f"%o{array} = mul i64 {item}, %s{array}")
                code.line(f"%p{array} = getelementptr i8, ptr %b{array}, i64 %o{array}")
            for argument in self.space.form.arguments:
                if not argument.extents:  # read before any result may overwrite it
                    self.values.value((argument.node, ()))
            self._depth(0)
        if self.scratch:
            self._release()
        code.line("ret i1 true")
        if self.scratch:
            code.mark("wanting")
            code.line("ret i1 false")
        code.top.lines[:0] = [f"{name} = alloca {kind}, align 64" for name, kind in self.reserved.items()]
        return code.text(f"internal i1 @{name}({HEAD}) nounwind noinline")

    # Around the items

    def _allocate(self) -> None:
        """Memory for the stored values of one item, at once; each begins at a multiple of 64 bytes."""
        code = self.code
        total, excess = "0", "false"
        begins: dict[int, str] = {}
        for number, memory in self.scratch.items():
            begins[number] = total
            kind = self.values.storage(memory, number)
            taken = str({"double": 8, "float": 4}.get(kind) or storage_bytes(self.space.nodes[number].element_type))
            for size in memory.sizes:
                taken, excess = checked(code, "umul", taken, self.values.size(size)[0], excess)
            taken, excess = checked(code, "uadd", taken, "63", excess)
            taken = code.emit(f"and i64 {taken}, -64")
            total, excess = checked(code, "uadd", total, taken, excess)
        self.reserved["%small"] = f"[{SMALL} x i8]"
        fits = code.emit(f"icmp ule i64 {total}, {SMALL}")
        fits = code.emit(f"and i1 {fits}, {code.emit(f'xor i1 {excess}, true')}")
        code.line(f"br i1 {fits}, label %ready, label %more")
        before = code.scope.label
        code.mark("more")
        code.line(f"br i1 {excess}, label %wanting, label %ask")
        code.mark("ask")
        self.module.declare("declare ptr @malloc(i64) nounwind")
        self.module.declare("declare void @free(ptr) nounwind")
        code.line(f"%padded = add i64 {total}, 64")
        code.line("%memory = call ptr @malloc(i64 %padded)")
        code.line("%none = icmp eq ptr %memory, null")
        code.line("br i1 %none, label %wanting, label %given")
        code.mark("given")
        code.line("%address = ptrtoint ptr %memory to i64")
        code.line("%up = add i64 %address, 63")
        code.line("%rounded = and i64 %up, -64")
        code.line("%ahead = sub i64 %rounded, %address")
        code.line("%aligned = getelementptr i8, ptr %memory, i64 %ahead")
        code.line("br label %ready")
        code.mark("ready")
        code.line(f"%scratch = phi ptr [ %small, %{before} ], [ %aligned, %given ]")
        code.line(f"%taken = phi ptr [ null, %{before} ], [ %memory, %given ]")
        for number, begin in begins.items():
            code.line(f"%scratch.{number} = getelementptr i8, ptr %scratch, i64 {begin}")

    def _release(self) -> None:
        """Give memory back; ``free`` takes a null pointer."""
        self.code.line("call void @free(ptr %taken)")

    def _depth(self, depth: int) -> None:
        """The passes inside so many outer loops, then the next loop."""
        for each in self.schedule.passes[depth]:
            self._pass(each)
        outer = self.schedule.plan.outer
        if depth == len(outer) or not any(self.schedule.passes[depth + 1 :]):
            return
        with self.code.plain_loop("outer", self.values.size(outer[depth].size)[0]) as name:
            self.values.counters[Counter(depth, outer=True)] = (name, self.code.scope)
            self._depth(depth + 1)

    # One pass

    def _pass(self, each: Pass) -> None:
        if not each.loops:
            self._tasks(each, None)
            return
        self._level(each, 0)
        for level in range(len(each.loops)):
            self.values.counters.pop(Counter(level), None)

    def _level(self, each: Pass, level: int) -> None:
        """The loops of a pass from a level on, with the reductions that begin and end there."""
        here = each.parameters == level
        initial = self._begin(each) if here else []
        if level == len(each.loops) - 1:
            self._innermost(each, level)
        else:
            with self.code.plain_loop("index", self.values.size(each.loops[level].size)[0]) as name:
                self.values.counters[Counter(level)] = (name, self.code.scope)
                self._level(each, level + 1)
        if here:
            self._finish(each, initial)

    def _shape(self, each: Pass) -> tuple[int, int]:
        """Lanes in a vector, and vectors that are worked on together."""
        plan = self.schedule.plan
        bits = max(plan.widths[task] for task in each.tasks)
        lanes = min(max(self.target.vector_bytes * 8 // bits, 2), _MOST_LANES)
        together = 2 if sum(plan.costs[task] for task in each.tasks) >= _HEAVY else 4
        return lanes, max(min(together, _MOST_LANES // lanes), 1)

    def _innermost(self, each: Pass, level: int) -> None:
        code = self.code
        lanes, together = self._shape(each)
        size = self.values.size(each.loops[level].size)[0]
        rounds, first = self._rounds(size, lanes * together)
        counter = Counter(level)
        plain = self.module.loop(*PLAIN)
        if self._sums(each):
            if level > (each.parameters or 0):  # the lanes have gone over other rows before
                self._put_aside(each)
            with code.loop("chunk", "0", rounds, str(ROUNDS), close=lambda _: plain) as chunk:
                self._put_aside(each)
                end = code.emit(f"add i64 {chunk}, {ROUNDS}")
                shorter = code.emit(f"icmp slt i64 {end}, {rounds}")
                end = code.emit(f"select i1 {shorter}, i64 {end}, i64 {rounds}")
                with code.loop("round", chunk, end, close=lambda _: plain) as round_:
                    self._round(each, counter, round_)
                self._count(each, code.emit(f"sub i64 {end}, {chunk}"))
        else:
            with code.plain_loop("round", rounds) as round_:
                self._round(each, counter, round_)
        # What is left over, in vectors that are loaded and stored in part where the target can do that.
        masked = vector_properties(lanes, 1, masked=True) if self.target.vector_bytes >= 64 else PLAIN
        with code.loop("rest", first, size, close=self._close(masked)) as index:
            self.values.counters[counter] = (index, code.scope)
            self._tasks(each, code.emit(f"sub i64 {index}, {first}") if each.reductions else index)
        some = code.emit(f"icmp slt i64 {first}, {size}")
        self._count(each, code.emit(f"zext i1 {some} to i64"))

    def _round(self, each: Pass, counter: Counter, round_: str) -> None:
        """One element for each lane."""
        code = self.code
        lanes, together = self._shape(each)
        base = code.emit(f"mul i64 {round_}, {lanes * together}")
        with code.loop(
            "lane", "0", str(lanes * together), close=self._close(vector_properties(lanes, together))
        ) as lane:
            index = code.emit(f"add i64 {base}, {lane}")
            self.values.counters[counter] = (index, code.scope)
            self._tasks(each, lane)

    def _rounds(self, size: str, unit: int) -> tuple[str, str]:
        """How often a unit goes into a dimension, and how many elements those are."""
        top = self.code.top
        found = self.values.known(("rounds", size, unit))
        if found is None:
            rounds = self.code.emit(f"sdiv i64 {size}, {unit}", top)
            first = self.code.emit(f"mul nuw nsw i64 {rounds}, {unit}", top)
            self.values.keep(("rounds", size, unit), rounds, top)
            self.values.keep(("first", size, unit), first, top)
        rounds, first = (self.values.known((key, size, unit)) for key in ("rounds", "first"))
        assert rounds is not None
        assert first is not None
        return rounds[0], first[0]

    def _close(self, properties: Sequence[str]) -> Callable[[Scope], str]:
        """The metadata of an innermost loop: not for vectors if it calls a library or reads scattered elements."""

        def close(scope: Scope) -> str:
            calls = any(" call " in line and "@llvm." not in line for line in scope.lines)
            return self.module.loop(*(properties if self.dense and not calls else PLAIN))

        return close

    def _tasks(self, each: Pass, lane: str | None) -> None:
        """Everything at one point: first all values, then all writing, as results may lie where arguments do."""
        code, values, plan = self.code, self.values, self.schedule.plan
        writes: list[tuple[Task, str]] = []
        for task in each.tasks:
            if task.value is None:
                node = self.space.nodes[task.node]
                kind = llvm_type(node.element_type)
                name = "0.0" if kind in ("float", "double") else "false" if kind == "i1" else "0"
            else:
                name, _ = values.value(task.value, compute=task.computes)
            if not task.reduces:
                writes.append((task, name))
                continue
            assert lane is not None
            reduction, slot = self._reduction(each, task), self._lanes(each, task)
            before = reduction.load(code, slot, lane)
            code.builder.lines = code.scope.lines
            reduction.store(code, slot, lane, reduction.combined(code.builder, before, name))
        for task, name in writes:
            self._write(task, name, stored=task in plan.stored.get(task.node, ()))

    def _write(self, task: Task, name: str, *, stored: bool) -> None:
        values, element_type = self.values, self.space.nodes[task.node].element_type
        if stored:
            memory = self.schedule.memory.get(task.node)
            if memory is not None:
                pointer, _ = values.stored_at(memory, task.node, task.target)
                values.store(pointer, values.storage(memory, task.node), element_type, name)
            return
        assert task.output is not None
        pointer, _ = values.address(len(self.space.signature.arguments) + task.output, task.target)
        values.store(pointer, storage_type(element_type), element_type, name)

    # Reductions

    def _reduction(self, each: Pass, task: Task) -> Reduction:
        node = self.space.nodes[task.node]
        lanes, together = self._shape(each)
        given = dict(node.attributes)
        own = tuple((n, str(v)) for n, v in node.attributes if n not in ("combine", "bound", "repeated"))
        return Reduction(str(given["combine"]), node.element_type, own, lanes * together, lanes)

    def _lanes(self, each: Pass, task: Task) -> str:
        """The lanes of a reduction; passes take turns in using them."""
        reduction = self._reduction(each, task)
        name = f"%lanes{each.reductions.index(task)}.{reduction.stored}.{reduction.count}"
        self.reserved[name] = f"[{reduction.count} x {reduction.stored}]"
        return name

    def _sum(self, each: Pass, task: Task, chunks: str) -> str:
        """What the functions of a sum are given."""
        reduction = self._reduction(each, task)
        aside = f"%aside{each.reductions.index(task)}.{reduction.stored}.{reduction.count}"
        self.reserved[aside] = reduction.aside
        return f"ptr {self._lanes(each, task)}, ptr {aside}, i64 {chunks}"

    def _sums(self, each: Pass) -> list[Task]:
        return [task for task in each.reductions if self._reduction(each, task).is_sum]

    def _begin(self, each: Pass) -> list[str]:
        """Clear the lanes; gives the initial values, read before anything of the pass is written."""
        initial: list[str] = []
        for task in each.reductions:
            assert task.initial is not None
            initial.append(self.values.value(task.initial)[0])
            self._reduction(each, task).clear(self.code, self._lanes(each, task))
        if self._sums(each):
            self.reserved["%pending"] = self.reserved["%chunks"] = "i64"
            self.code.line("store i64 0, ptr %pending")
            self.code.line("store i64 0, ptr %chunks")
        return initial

    def _count(self, each: Pass, rounds: str) -> None:
        """Note that the lanes of sums took more rounds since they were last put aside."""
        if self._sums(each):
            before = self.code.emit("load i64, ptr %pending")
            self.code.line(f"store i64 {self.code.emit(f'add i64 {before}, {rounds}')}, ptr %pending")

    def _put_aside(self, each: Pass) -> None:
        """Put the lanes of sums aside if they have taken enough."""
        code = self.code
        pending = code.emit("load i64, ptr %pending")
        with code.when(code.emit(f"icmp sge i64 {pending}, {ROUNDS}"), "full"):
            chunks = code.emit("load i64, ptr %chunks")
            for task in self._sums(each):
                function = self._reduction(each, task).put_aside(self.module)
                code.line(f"call void {function}({self._sum(each, task, chunks)})")
            code.line(f"store i64 {code.emit(f'add i64 {chunks}, 1')}, ptr %chunks")
            code.line("store i64 0, ptr %pending")

    def _finish(self, each: Pass, initial: Sequence[str]) -> None:
        """Combine the lanes with each other and with the initial value."""
        code = self.code
        for task, begin in zip(each.reductions, initial, strict=True):
            reduction = self._reduction(each, task)
            if reduction.is_sum:
                given = self._sum(each, task, code.emit("load i64, ptr %chunks"))
                total = f"{reduction.sum_up(self.module)}({given})"
            else:
                total = f"{reduction.fold(self.module)}(ptr {self._lanes(each, task)})"
            total = code.emit(f"call {reduction.type} {total}")
            code.builder.lines = code.scope.lines
            total = reduction.rounded(code.builder, reduction.combined(code.builder, begin, total))
            self.values.keep((task.node, task.target), total)
            self._write(task, total, stored=True)
