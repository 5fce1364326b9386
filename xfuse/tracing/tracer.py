"""The block that a function is traced into: emitting ops, literals and loop nests."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xfuse.emission import type_named
from xfuse.primitives import literals
from xfuse.primitives.element_types import is_float, width
from xfuse.tracing.locations import fail

_OPS: dict[str, type[Operation]] = {op.name: op for dialect in (arith.Arith, math.Math) for op in dialect.operations}
_CURRENT: ContextVar[Tracer | None] = ContextVar("xfuse_tracer", default=None)


class Tracer:
    """Collects the ops of one recipe.

    ``element_type`` is the type that the recipe is written at; ``is_generic`` says whether it follows the use.
    """

    def __init__(self, name: str, element_type: str, element_types: Sequence[str]) -> None:
        self.name = name
        self.element_type = element_type
        self.is_generic = len(element_types) > 1
        self.block = Block()
        self._blocks = [self.block]
        self._literals: dict[tuple[str, int], SSAValue] = {}

    @property
    def float_type(self) -> str:
        """The float type that integers become: the recipe's own, or f64 if that is an integer."""
        return self.element_type if is_float(self.element_type) else "f64"

    def add(self, op: Operation) -> SSAValue:
        """Append an op to the innermost block; its first result."""
        self._blocks[-1].add_op(op)
        return op.results[0]

    def op(self, name: str, operands: Sequence[SSAValue], element_type: str, **properties: Attribute) -> SSAValue:
        """Append a scalar op of arith or math."""
        kind = _OPS[name]
        return self.add(kind.create(operands=operands, result_types=[type_named(element_type)], properties=properties))

    def compare(self, predicate: str, left: SSAValue, right: SSAValue, element_type: str) -> SSAValue:
        """Append a comparison."""
        kind = arith.CmpfOp if is_float(element_type) else arith.CmpiOp
        return self.add(kind(left, right, predicate))

    def literal(self, value: bool | int | float, element_type: str) -> SSAValue:
        """A literal, which stands in the outermost block."""
        attribute = scalar_attribute(value, element_type)
        key = (element_type, literals.to_bits(value, element_type))
        if key not in self._literals:
            op = arith.ConstantOp(attribute)
            self.block.add_op(op)
            self._literals[key] = op.result
        return self._literals[key]

    def index(self, value: int) -> SSAValue:
        """A literal of type index."""
        return self.literal(value, "index")

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append to another block meanwhile."""
        self._blocks.append(block)
        try:
            yield
        finally:
            self._blocks.pop()

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Be the current tracer meanwhile."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def drop_dead_ops(self) -> None:
        """Erase what no result needs."""
        for op in reversed(list(self.block.ops)):
            if op.results and not any(result.uses for result in op.results):
                op.detach()
                op.erase()


def current_tracer() -> Tracer | None:
    """The tracer of the recipe that is being traced."""
    return _CURRENT.get()


def scalar_attribute(value: bool | int | float, element_type: str) -> FloatAttr[Any] | IntegerAttr[Any]:
    """A number as a literal of an element type. Integers may be given signed or unsigned."""
    if is_float(element_type):
        try:
            kind: Any = type_named(element_type)
            return FloatAttr(float(value), kind)
        except OverflowError:
            fail(f"the integer {value} is beyond the range of {element_type}")
    if isinstance(value, float) and not value.is_integer():
        fail(f"the literal {value!r} is no {element_type}; convert the array to a float type with xp.astype")
    bits, whole = width(element_type), int(value)
    low, high = (0, 1) if bits == 1 else (-(1 << (bits - 1)), (1 << bits) - 1)
    if not low <= whole <= high:
        fail(f"the literal {whole} is beyond the range of {element_type}, which is {low} to {high}")
    if element_type == "index":
        return IntegerAttr(whole, IndexType())
    return IntegerAttr(whole, bits, truncate_bits=True)
