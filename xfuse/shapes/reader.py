"""Reading a region for its shapes: what every tensor's extents and every integer come to, op by op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.dialects.arith import CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import IntegerAttr, ShapedType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xfuse.canonical.build import element_name, static_shape
from xfuse.errors import NegativeExtent, ShapeError, ShapeMismatch, UnknownExtent
from xfuse.primitives.element_types import INTEGERS
from xfuse.shapes.arithmetic import DATA, UNKNOWN, Number, compare, differ, evaluate, literal, select
from xfuse_dialects.vocabulary import SCALAR_OPS

Extents = tuple[int | None, ...]


class ShapeUse(NamedTuple):
    """A value that an op takes from extents.

    ``number`` counts the ops of the region in order, those of inner regions included; ``op`` is the op's name.
    ``field`` and ``value`` are

    - ``target_shape``: the extents of the result;
    - ``slice_start``, ``slice_len``: first element and count, for each axis;
    - ``axis``: the axis that is read, reduced or concatenated along;
    - ``dims``: the axes that are added or dropped, or the order that they are brought in;
    - ``scalar``: the integer that goes into data.

    Shapes and axes are those with the loop dimensions in front. A value is None where an extent is unknown.
    """

    number: int
    op: str
    field: str
    value: int | Extents | None

    def __str__(self) -> str:
        return f"op {self.number} ({self.op}): {self.field} = {self.value}"


@dataclass(frozen=True)
class Tensor:
    """A tensor by its core extents; ``elements`` are known where it holds a few integers, a shape for instance."""

    shape: tuple[Number, ...]
    elements: tuple[Number, ...] | None = None


Abstract = Number | Tensor
Rule = Callable[["Reader", Operation], Sequence[Abstract]]

RULES: dict[str, Rule] = {}
"""How ops other than scalar ones are read; the rule files add theirs."""


class Reader:
    """Reads the ops of a region in order. ``loop`` are the loop dimensions in front of every core shape.

    With ``partial`` a value that depends on an unknown extent is None, else it is an error.
    """

    def __init__(self, region: Region, loop: Extents, *, partial: bool) -> None:
        self.numbers = {op: number for number, op in enumerate(region.walk())}
        self.loop = loop
        self.partial = partial
        self.values: dict[SSAValue, Abstract] = {}
        self.uses: list[ShapeUse] = []

    # Values

    def number(self, ssa: SSAValue) -> Number:
        """The value of a scalar."""
        value = self.values[ssa]
        return value if isinstance(value, Number) else DATA

    def tensor(self, ssa: SSAValue) -> Tensor:
        """The value of a tensor; a scalar is one without axes."""
        value = self.values[ssa]
        return value if isinstance(value, Tensor) else Tensor(())

    def mixed(self, static: Sequence[int | None], dynamic: Sequence[SSAValue]) -> list[Number]:
        """Sizes that are given as literals and, where those are None, as operands in order."""
        given = iter(dynamic)
        return [self.number(next(given)) if each is None else literal(each) for each in static]

    # Blocks

    def block(self, block: Block) -> list[Abstract]:
        """Read a block whose arguments are known; returns the values of the terminator's operands."""
        for op in block.ops:
            self.read(op)
        terminator = block.last_op
        return [] if terminator is None else [self.values[operand] for operand in terminator.operands]

    def read(self, op: Operation) -> None:
        """Read one op and keep the values of its results."""
        rule = RULES.get(op.name)
        if rule is not None:
            results = rule(self, op)
        elif op.name in SCALAR_OPS:
            results = self._scalar(op)
        else:
            results = self.unread(op)
        for ssa, value in zip(op.results, results, strict=True):
            if isinstance(value, Tensor):
                value = Tensor(self.typed(op, value.shape, ssa.type), value.elements)
            self.values[ssa] = value

    def unread(self, op: Operation) -> list[Abstract]:
        """The results of an op that no rule speaks of."""
        self.as_data(op, op.operands)
        return [unknown_value(result.type) for result in op.results]

    def _scalar(self, op: Operation) -> list[Abstract]:
        """An arith or math op, on scalars or on tensors of one shape."""
        values = [self.values[operand] for operand in op.operands]
        shapes = [value.shape for value in values if isinstance(value, Tensor)]
        if shapes:
            shape = self.joined(op, shapes)
            self.as_data(op, op.operands)
            return [Tensor(shape) for _ in op.results]
        operands = [value for value in values if isinstance(value, Number)]
        found = self._arithmetic(op, operands)
        if found is None or found.is_data:
            self.as_data(op, op.operands)
        return [DATA if found is None else found for _ in op.results]

    def _arithmetic(self, op: Operation, operands: Sequence[Number]) -> Number | None:
        if op.name == "arith.select":
            return select(operands)
        types = [element_name(operand.type) for operand in op.operands]
        if len(op.results) != 1 or not {element_name(op.results[0].type), *types} <= set(INTEGERS):
            return None
        if op.name == "arith.cmpi":
            predicate = op.properties["predicate"]
            assert isinstance(predicate, IntegerAttr)
            return compare(CMPI_COMPARISON_OPERATIONS[predicate.value.data], types[0], *operands)
        return evaluate(op.name, types, element_name(op.results[0].type), operands, self.place(op))

    # Shapes

    def joined(self, op: Operation, shapes: Sequence[Sequence[Number]]) -> tuple[Number, ...]:
        """The shape that all of these are."""
        found = list(shapes[0])
        for shape in shapes[1:]:
            found = [self.join(op, a, b, f"axis {axis}") for axis, (a, b) in enumerate(zip(found, shape, strict=True))]
        return tuple(found)

    def join(self, op: Operation, a: Number, b: Number, what: str) -> Number:
        """The one extent that two extents are: the one that is known better. Raises `ShapeMismatch` if they differ."""
        if differ(a, b):
            raise ShapeMismatch(
                f"{self.place(op)}: {what} is {spell(a)} by one operand or type and {spell(b)} by another",
                "target_shape",
                self.place(op),
                (a.known, b.known),
            )
        return min(a, b, key=lambda each: (each.known is None, each.constant is None))

    def typed(self, op: Operation, shape: Sequence[Number], type_: Attribute) -> tuple[Number, ...]:
        """A shape with the static extents of a type."""
        static = static_shape(type_)
        return tuple(
            extent if known is None else self.join(op, literal(known), extent, f"axis {axis} of the result")
            for axis, (extent, known) in enumerate(zip(shape, static, strict=True))
        )

    # Uses

    def place(self, op: Operation) -> str:
        """An op as messages show it."""
        return f"op {self.numbers[op]} ({op.name})"

    def failed(self, number: Number, field: str, op: Operation) -> ShapeError | None:
        """The error that a number is, now that a field of an op needs it."""
        failure = number.failure
        if failure is None:
            return None
        message = f"{failure.message}; {field} of {self.place(op)} needs it"
        return failure.kind(message, field, failure.op, failure.value)

    def need(self, op: Operation, field: str, numbers: Sequence[Number]) -> None:
        """Raise what is wrong with numbers that a field of an op needs."""
        for number in numbers:
            error = self.failed(number, field, op)
            if error is not None:
                raise error
            if field in ("target_shape", "slice_len") and number.upper is not None and number.upper < 0:
                raise NegativeExtent(
                    f"{self.place(op)}: {field} is {spell(number)}; an extent is 0 or more",
                    field,
                    self.place(op),
                    number.known,
                )
        if self.partial:
            return
        for number in numbers:
            if number.known is None and (field in ("target_shape", "slice_len") or not number.is_data):
                what = "an unknown extent; give shapes without None"
                if number.is_data:
                    what = "data, which shapes do not tell"
                message = f"{self.place(op)}: {field} depends on {what}, or ask for a partial answer"
                raise UnknownExtent(message, field, self.place(op))

    def use(self, op: Operation, field: str, numbers: Sequence[Number], lead: Extents) -> None:
        """Check numbers, one for each core axis, that a field needs, and note them if they come from extents.

        ``lead`` is what stands for the loop dimensions.
        """
        self.need(op, field, numbers)
        if any(number.relative for number in numbers) and not any(number.is_data for number in numbers):
            self.note(op, field, (*lead, *(number.known for number in numbers)))

    def as_data(self, op: Operation, operands: Sequence[SSAValue]) -> None:
        """Note the operands that carry an extent into data."""
        for operand in operands:
            number = self.values[operand]
            if isinstance(number, Number) and (number.relative or number.failure is not None):
                self.need(op, "scalar", [number])
                self.note(op, "scalar", number.known)

    def note(self, op: Operation, field: str, value: int | Extents | None) -> None:
        """Note a value for the answer."""
        self.uses.append(ShapeUse(self.numbers[op], op.name, field, value))

    def axes(self, axes: Sequence[int]) -> Extents:
        """Core axes as axes behind the loop dimensions."""
        return tuple(len(self.loop) + axis for axis in axes)


def unknown_value(type_: Attribute) -> Abstract:
    """A value of which only the type is known."""
    if not isinstance(type_, ShapedType):
        return DATA
    return Tensor(tuple(UNKNOWN if extent is None else literal(extent) for extent in static_shape(type_)))


def merge(one: Abstract, other: Abstract) -> Abstract:
    """What is known of a value that is one of two, which of them only data tells."""
    if one == other:
        return one
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        pairs = zip(one.shape, other.shape, strict=True)
        return Tensor(tuple(a if _same(a, b) else UNKNOWN for a, b in pairs))
    return DATA


def _same(a: Number, b: Number) -> bool:
    return a.constant is not None and (a.constant, a.terms) == (b.constant, b.terms)


def relative(number: Number) -> Number:
    """A number as one that comes from an extent."""
    return replace(number, relative=True)


def spell(number: Number) -> str:
    """A number as messages show it."""
    if number.constant is None:
        return "unknown"
    terms = [str(name) if factor == 1 else f"{factor}*{name}" for name, factor in number.terms]
    if number.constant or not terms:
        terms.append(str(number.constant))
    return " + ".join(terms)
