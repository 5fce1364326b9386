"""The elements of a row recipe as scalar instructions, each computed in the outermost loop that it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xfuse.backends.llvm.loops import storage_type
from xfuse.backends.llvm.rows_arrays import unit_axis
from xfuse.backends.llvm.rows_index import Computed, Counter, Element, Place, Position, Shifted, elements_in, operands
from xfuse.backends.llvm.rows_linear import Linear, number
from xfuse.backends.llvm.rows_schedule import Row, Schedule, Scratch
from xfuse.backends.llvm.rows_text import GROUP, Function, Scope
from xfuse.backends.llvm.scalars import emit_op
from xfuse.primitives.element_types import llvm_type
from xfuse.primitives.llvm_narrow import NARROW, from_bits, to_bits
from xfuse.primitives.llvm_text import literal

Located = tuple[str, Scope]
"""A register, and the scope that it is computed in."""


class Values:
    """Emits elements into a function at the current scope or one around it, each once.

    The function has arrays as registers: ``%p0``, ``%s0`` (pointer, outer step) and ``%c0.1`` (step of core axis 1) of
    NumPy's argument 0, ``%dim.n`` for the size of dimension n, ``%scratch.5`` for the memory of node 5. With ``dense``
    the last axis of every array that is longer than one element is known to have no gaps.
    """

    def __init__(self, code: Function, schedule: Schedule, *, dense: bool) -> None:
        self.code = code
        self.schedule = schedule
        self.space = schedule.plan.space
        self.nodes = self.space.nodes
        self.dense = dense
        self.counters: dict[Counter, Located] = {}
        self.item: Scope | None = None
        """The scope of one item of the outer loop, in which the pointers are known."""
        signature = self.space.signature
        self.axes = (*signature.arguments, *signature.results)

    # Look-up

    def known(self, key: object) -> Located | None:
        """A register that is already computed in this scope or around it."""
        for scope in self.code.scope:
            name = scope.memo.get(key)
            if name is not None:
                return name, scope
        return None

    def keep(self, key: object, name: str, scope: Scope | None = None) -> Located:
        """Note a register of a scope."""
        scope = scope or self.code.scope
        scope.memo[key] = name
        return name, scope

    @staticmethod
    def inner(places: Sequence[Located], otherwise: Scope) -> Scope:
        """The innermost of some scopes."""
        return max((scope for _, scope in places), key=lambda scope: scope.depth, default=otherwise)

    # Whole numbers

    def size(self, value: Linear) -> Located:
        """A number that does not vary."""
        if value.literal is not None:
            return str(value.literal), self.code.top
        found = self.known(value)
        if found is not None:
            return found
        parts: list[tuple[Located, int]] = []
        for name, factor in value.terms:
            node = self.space.ranges.origins.get(name)
            parts.append(((f"%dim.{name}", self.code.top) if node is None else self.value((node, ())), factor))
        scope = self.inner([part for part, _ in parts], self.code.top)
        total = ""
        for (name, _), factor in parts:
            term = name if factor == 1 else self.code.emit(f"mul i64 {name}, {factor}", scope)
            total = self.code.emit(f"add i64 {total}, {term}", scope) if total else term
        if value.constant:
            total = self.code.emit(f"add i64 {total}, {value.constant}", scope)
        return self.keep(value, total, scope)

    def position(self, position: Position) -> Located:
        """An index."""
        if isinstance(position, int):
            return str(position), self.code.top
        if isinstance(position, Counter):
            return self.counters[position]
        if isinstance(position, Computed):
            return self.value((position.node, position.place))
        found = self.known(position)
        return found if found is not None else self._shifted(position)

    def _shifted(self, position: Shifted) -> Located:
        parts = [self.position(position.base), self.size(position.offset)]
        scope = self.inner(parts, self.code.top)
        name = parts[0][0]
        if position.stride != 1:
            name = self.code.emit(f"mul i64 {name}, {position.stride}", scope)
        if position.offset.literal != 0:
            name = self.code.emit(f"add i64 {name}, {parts[1][0]}", scope)
        return self.keep(position, name, scope)

    # Elements

    def value(self, element: Element, *, compute: bool = False) -> Located:
        """The value of a node at an index; with ``compute`` it is not read from where it is stored."""
        stack = [element]
        while stack:
            current = stack[-1]
            if self.known(current) is not None:
                stack.pop()
                continue
            reads = self._is_stored(current[0]) and not (compute and current == element)
            below = [each for position in current[1] for each in _elements_in(position)]
            below = below if reads else operands(self.space, current)
            missing = [each for each in below if self.known(each) is None]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            name, scope = self._read(current) if reads else self._compute(current, below)
            self.keep(current, name, scope)
        found = self.known(element)
        assert found is not None
        return found

    def _is_stored(self, number: int) -> bool:
        return number in self.schedule.plan.stored

    def _read(self, element: Element) -> Located:
        """A stored value, from memory."""
        number, place = element
        memory = self.schedule.memory[number]
        pointer, scope = self.stored_at(memory, number, place)
        return self.load(pointer, self.storage(memory, number), self.nodes[number].element_type, scope), scope

    def storage(self, memory: Scratch | Row, number: int) -> str:
        """The LLVM type that a stored value has in memory; narrow floats keep their registers' type in scratch."""
        element_type = self.nodes[number].element_type
        return llvm_type(element_type) if element_type in NARROW and isinstance(memory, Scratch) else storage_type(
            element_type
        )  # fmt: skip

    def stored_at(self, memory: Scratch | Row, number: int, place: Place) -> Located:
        """The address of an element of a stored node."""
        at = [place[parameter] for parameter in memory.parameters]
        if isinstance(memory, Row):
            return self.address(len(self.space.signature.arguments) + memory.output, at)
        assert self.item is not None
        first = (f"%scratch.{number}", self.code.top)
        return self._in_table(first, at, memory.sizes, self.storage(memory, number))

    def _in_table(self, table: Located, at: Sequence[Position], sizes: Sequence[Linear], kind: str) -> Located:
        """The address in a dense table, row-major."""
        index: Located | None = None
        for position, size in zip(at, sizes, strict=True):
            here = self.position(position)
            if index is None:
                index = here
                continue
            key = ("row", index[0], size, here[0])
            found = self.known(key)
            if found is None:
                scope = self.inner([index, here], self.code.top)
                first = self.code.emit(f"mul i64 {index[0]}, {self.size(size)[0]}", scope)
                found = self.keep(key, self.code.emit(f"add i64 {first}, {here[0]}", scope), scope)
            index = found
        if index is None:
            return table
        scope = self.inner([table, index], self.code.top)
        return self.code.emit(f"getelementptr inbounds {kind}, ptr {table[0]}, i64 {index[0]}", scope), scope

    def load(self, pointer: str, stored: str, element_type: str, scope: Scope) -> str:
        """A register from memory."""
        raw = self.code.emit(f"load {stored}, ptr {pointer}, align 1, {GROUP}", scope)
        if element_type == "i1":
            return self.code.emit(f"icmp ne i8 {raw}, 0", scope)
        return from_bits(self.code.builder, element_type, raw) if stored == "i16" != element_type else raw

    def store(self, pointer: str, stored: str, element_type: str, name: str) -> None:
        """A register to memory, in the current scope."""
        if element_type == "i1":
            name = self.code.emit(f"zext i1 {name} to i8")
        elif stored == "i16" != element_type:
            self.code.builder.lines = self.code.scope.lines
            name = to_bits(self.code.builder, element_type, name)
        self.code.line(f"store {stored} {name}, ptr {pointer}, align 1, {GROUP}")

    def address(self, array: int, at: Sequence[Position]) -> Located:
        """The address of an element of NumPy's argument."""
        assert self.item is not None
        found: Located = (f"%p{array}", self.item)
        order = list(range(len(at)))
        unit = unit_axis(self.axes[array]) if self.dense else None
        if unit is not None:
            order.remove(unit)
            order.append(unit)
        for count, axis in enumerate(order, 1):
            if at[axis] == 0:
                continue
            key = ("address", array, tuple((each, at[each]) for each in order[:count]))
            known = self.known(key)
            if known is None:
                known = self.keep(key, *self._step(array, axis, at[axis], found, axis == unit))
            found = known
        return found

    def _step(self, array: int, axis: int, at: Position, start: Located, dense: bool) -> Located:
        index = self.position(at)
        scope = self.inner([start, index], self.code.top)
        if dense:
            kind = storage_type(self.element_type(array))
            return self.code.emit(f"getelementptr inbounds {kind}, ptr {start[0]}, i64 {index[0]}", scope), scope
        offset = self.code.emit(f"mul i64 {index[0]}, %c{array}.{axis}", scope)
        return self.code.emit(f"getelementptr i8, ptr {start[0]}, i64 {offset}", scope), scope

    def element_type(self, array: int) -> str:
        """The element type of NumPy's argument."""
        form = self.space.form
        return self.nodes[(*form.arguments, *form.results)[array].node].element_type

    # Nodes

    def _compute(self, element: Element, below: Sequence[Element]) -> Located:
        number, place = element
        node = self.nodes[number]
        attributes: dict[str, Any] = dict(node.attributes)
        if node.kind == "constant":
            return literal(node.element_type, attributes["bits"]), self.code.top
        if node.kind == "extent":
            return self.size(self.space.dimension(attributes["argument"], attributes["axis"]))
        if node.kind == "index":
            return self.position(place[0])
        if node.kind == "argument":
            pointer, scope = self.address(attributes["number"], place)
            return self.load(pointer, storage_type(node.element_type), node.element_type, scope), scope
        if node.kind == "dense":
            return self._dense(node.element_type, attributes, place)
        given = [self.value(each) for each in below[len(below) - self._arity(number) :]]
        if node.kind in ("slice", "gather"):
            return given[0]
        names = [name for name, _ in given]
        scope = self.inner(given, self.code.top)
        builder = self.code.builder
        builder.lines = scope.lines
        if node.kind == "branch":
            kind = llvm_type(node.element_type)
            return builder.emit(f"select i1 {names[0]}, {kind} {names[1]}, {kind} {names[2]}"), scope
        results = emit_op(builder, self.space.form, number, names)
        which: int = attributes.get("result", 0)
        for position, name in enumerate(results):  # the op's other results are computed already
            twin = node._replace(attributes=tuple((n, position if n == "result" else v) for n, v in node.attributes))
            other = self.space.form.graph.find(twin)
            if position != which and other is not None and not self._is_stored(other):
                self.keep((other, place), name, scope)
        return results[which], scope

    def _arity(self, number: int) -> int:
        """How many of a node's operands are no indices; they stand last."""
        node = self.nodes[number]
        if node.kind in ("slice", "gather"):
            return 1
        return {"branch": 3, "reduce": 2}.get(node.kind, len(node.references))

    def _dense(self, element_type: str, attributes: dict[str, Any], place: Place) -> Located:
        data: bytes = attributes["data"]
        constants = self.code.module.constants
        text = "".join(f"\\{byte:02X}" for byte in data)
        body = f' = private unnamed_addr constant [{len(data)} x i8] c"{text}", align 64'
        name = next((line.partition(" ")[0] for line in constants if line.endswith(body)), None)
        if name is None:
            name = f"@table{len(constants)}"
            constants.append(name + body)
        stored = storage_type(element_type)
        pointer, scope = self._in_table((name, self.code.top), place, list(map(number, attributes["shape"])), stored)
        return self.load(pointer, stored, element_type, scope), scope


def _elements_in(position: Position) -> list[Element]:
    return list(elements_in(position))
