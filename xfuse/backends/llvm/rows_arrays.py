"""NumPy's arrays as a gufunc's inner loop gets them: pointers, sizes and steps in registers, copies between them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from xfuse.backends.llvm.loops import storage_bytes
from xfuse.backends.llvm.rows_text import Function
from xfuse.backends.llvm.staging import copy_declaration

HEAD = "ptr %arguments, ptr %dimensions, ptr %steps"
"""What a gufunc's inner loop is given, but for its own data."""

SPREAD = 127
"""Bytes that an item grows by when it is rounded up to whole cache lines and one more."""


def unit_axis(names: Sequence[str]) -> int | None:
    """The axis of an array that has no gaps in dense arrays: the last one of more than one element."""
    return next((axis for axis in reversed(range(len(names))) if names[axis] != "1"), None)


def checked(code: Function, op: str, one: str, other: str, excess: str) -> tuple[str, str]:
    """An unsigned sum or product, and whether it or one before it was too large."""
    code.module.declare(f"declare {{ i64, i1 }} @llvm.{op}.with.overflow.i64(i64, i64)")
    pair = code.emit(f"call {{ i64, i1 }} @llvm.{op}.with.overflow.i64(i64 {one}, i64 {other})")
    beyond = code.emit(f"extractvalue {{ i64, i1 }} {pair}, 1")
    return code.emit(f"extractvalue {{ i64, i1 }} {pair}, 0"), code.emit(f"or i1 {excess}, {beyond}")


@dataclass(frozen=True)
class Array:
    """An array: its number among NumPy's arguments, core dimensions by name, and registers."""

    number: int
    names: tuple[str, ...]
    element_type: str
    pointer: str
    outer: str
    steps: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Bytes of an element."""
        return storage_bytes(self.element_type)

    @property
    def kind(self) -> str:
        """The LLVM integer type of an element's size."""
        return f"i{8 * self.bytes}"

    @property
    def unit(self) -> int | None:
        """The axis that has no gaps in dense arrays."""
        return unit_axis(self.names)

    @property
    def loops(self) -> list[tuple[str, str]]:
        """Count and step of all loops over the array, that over the items first."""
        return [("%count", self.outer), *((f"%dim.{n}", step) for n, step in zip(self.names, self.steps, strict=True))]

    def item_bytes(self, code: Function, excess: str) -> tuple[str, str]:
        """Bytes of the elements of one item, and whether that or something before is too large a number."""
        taken = str(self.bytes)
        for name in self.names:
            taken, excess = checked(code, "umul", taken, f"%dim.{name}", excess)
        return taken, excess

    def packed(self, code: Function, pointer: str, *, spread: bool = False) -> Array:
        """An array like this one elsewhere, its items row-major without gaps.

        The items follow each other, or begin a little ``spread``, which takes `SPREAD` bytes more at most, so that no
        two steps through them meet the same sets of a cache again and again.
        """
        step, steps = str(self.bytes), list[str]()
        for name in reversed(self.names):
            steps.insert(0, step)
            step = code.emit(f"mul i64 {step}, %dim.{name}")
        if spread:
            step = code.emit(f"and i64 {code.emit(f'add i64 {step}, {SPREAD}')}, -64")
        return replace(self, pointer=pointer, outer=step, steps=tuple(steps))

    def chosen(self, code: Function, condition: str, other: Array) -> Array:
        """This array if a condition holds, else another."""
        pairs = zip((self.outer, *self.steps), (other.outer, *other.steps), strict=True)
        outer, *steps = [code.emit(f"select i1 {condition}, i64 {one}, i64 {two}") for one, two in pairs]
        return replace(self, outer=outer, steps=tuple(steps))

    def moved(self, code: Function, item: str) -> Array:
        """This array from an item on."""
        offset = code.emit(f"mul i64 {item}, {self.outer}")
        return replace(self, pointer=code.emit(f"getelementptr i8, ptr {self.pointer}, i64 {offset}"))

    def ends(self, code: Function) -> tuple[str, str]:
        """The addresses of the first byte and behind the last byte."""
        low = high = code.emit(f"ptrtoint ptr {self.pointer} to i64")
        for count, step in self.loops:
            last = code.emit(f"sub i64 {count}, 1")
            reach = code.emit(f"mul i64 {step}, {last}")
            down = code.emit(f"icmp slt i64 {reach}, 0")
            low = code.emit(f"add i64 {low}, {code.emit(f'select i1 {down}, i64 {reach}, i64 0')}")
            high = code.emit(f"add i64 {high}, {code.emit(f'select i1 {down}, i64 0, i64 {reach}')}")
        return low, code.emit(f"add i64 {high}, {self.bytes}")

    def same(self, code: Function, other: Array) -> str:
        """Whether two arrays are one, item by item and element by element."""
        if self.names != other.names or self.element_type != other.element_type:
            return "false"
        same = code.emit(f"icmp eq ptr {self.pointer}, {other.pointer}")
        for (_, one), (_, two) in zip(self.loops, other.loops, strict=True):
            same = code.emit(f"and i1 {same}, {code.emit(f'icmp eq i64 {one}, {two}')}")
        return same

    @contextmanager
    def each(self, code: Function) -> Generator[str]:
        """Loops over all elements; gives the address of one."""
        with ExitStack() as stack:
            offset = "0"
            for count, step in self.loops:
                index = stack.enter_context(code.plain_loop("each", count))
                offset = code.emit(f"add i64 {offset}, {code.emit(f'mul i64 {index}, {step}')}")
            yield code.emit(f"getelementptr i8, ptr {self.pointer}, i64 {offset}")

    def copy_from(self, code: Function, source: Array, count: str) -> None:
        """Copy some items of an array of these dimensions."""
        code.module.declare(copy_declaration(self.bytes))
        unit = self.unit
        with ExitStack() as stack:
            to, there = self.pointer, source.pointer
            for axis, name in enumerate(self.names):
                if axis == unit or name == "1":
                    continue
                index = stack.enter_context(code.plain_loop("axis", f"%dim.{name}"))
                offsets = [code.emit(f"mul i64 {index}, {step}") for step in (self.steps[axis], source.steps[axis])]
                to = code.emit(f"getelementptr i8, ptr {to}, i64 {offsets[0]}")
                there = code.emit(f"getelementptr i8, ptr {there}, i64 {offsets[1]}")
            size, inner, pace = ("1", "0", "0") if unit is None else (
                f"%dim.{self.names[unit]}", self.steps[unit], source.steps[unit]
            )  # fmt: skip
            code.line(
                f"call void @xfuse_copy{self.bytes}(ptr {to}, i64 {self.outer}, i64 {inner}, ptr {there}, "
                f"i64 {source.outer}, i64 {pace}, i64 {count}, i64 {size})"
            )


class Arrays:
    """All arrays of a gufunc, in the order of NumPy's arguments: the first ``inputs`` are operands."""

    def __init__(self, axes: Sequence[tuple[str, ...]], inputs: int, types: Sequence[str]) -> None:
        self.inputs = inputs
        self.types = types
        self.names = tuple(dict.fromkeys(name for each in axes for name in each))
        self.count_steps = len(axes) + sum(map(len, axes))
        self.arrays = [
            Array(number, own, kind, f"%b{number}", f"%s{number}", tuple(f"%c{number}.{a}" for a in range(len(own))))
            for number, (own, kind) in enumerate(zip(axes, types, strict=True))
        ]

    def load(self, code: Function) -> None:
        """Put pointers, sizes and steps into registers."""
        code.line("%count = load i64, ptr %dimensions")
        for position, name in enumerate(self.names, 1):
            code.line(f"%at.{name} = getelementptr i64, ptr %dimensions, i64 {position}")
            code.line(f"%dim.{name} = load i64, ptr %at.{name}")
        position = len(self.arrays)
        for array in self.arrays:
            number = array.number
            code.line(f"%a{number} = getelementptr ptr, ptr %arguments, i64 {number}")
            code.line(f"{array.pointer} = load ptr, ptr %a{number}")
            code.line(f"%t{number} = getelementptr i64, ptr %steps, i64 {number}")
            code.line(f"{array.outer} = load i64, ptr %t{number}")
            for axis, step in enumerate(array.steps):
                code.line(f"%t{number}.{axis} = getelementptr i64, ptr %steps, i64 {position}")
                code.line(f"{step} = load i64, ptr %t{number}.{axis}")
                position += 1

    def write_steps(self, code: Function, arrays: Sequence[Array], table: str) -> None:
        """Write steps as NumPy hands them over."""
        position = len(arrays)
        for array in arrays:
            for where, step in ((array.number, array.outer), *enumerate(array.steps, position)):
                slot = code.emit(f"getelementptr i64, ptr {table}, i64 {where}")
                code.line(f"store i64 {step}, ptr {slot}")
            position += len(array.steps)
