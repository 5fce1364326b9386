"""Reductions in lanes: several accumulators side by side, which are combined in one fixed order at the end.

Lane ``k`` of ``L`` takes every ``L``-th element from the ``k``-th on, whatever the vector registers are, so the result
depends on nothing but the elements.

A lane of a float sum is put aside after a few elements: in double where it is a float, else as a sum and its error
(Knuth's TwoSum; Ogita, Rump and Oishi, "Accurate sum and dot product"). So no more than some `ROUNDS` roundings lie on
the way of an element, fewer than in NumPy's pairwise sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xfuse.backends.llvm.rows_text import GROUP, Function, Module, Scope
from xfuse.primitives.element_types import llvm_type, width
from xfuse.primitives.llvm_narrow import NARROW, round_to
from xfuse.primitives.llvm_text import constant
from xfuse.primitives.primitive import LLVMBuilder, Signature
from xfuse.primitives.table import PRIMITIVES

ROUNDS = 16
"""Elements that a lane of a float sum takes before it is put aside."""

_FLOAT_IDENTITIES = {
    "arith.addf": -0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": float("-inf"),
    "arith.minimumf": float("inf"),
    "arith.maxnumf": float("nan"),
    "arith.minnumf": float("nan"),
}
_INTEGER_IDENTITIES = {
    "arith.addi": "zero",
    "arith.muli": "one",
    "arith.ori": "zero",
    "arith.xori": "zero",
    "arith.andi": "all",
    "arith.maxui": "zero",
    "arith.minui": "all",
    "arith.maxsi": "lowest",
    "arith.minsi": "highest",
}

_FOLDS = {
    "arith.maximumf": "fmaximum",
    "arith.minimumf": "fminimum",
    "arith.addi": "add",
    "arith.muli": "mul",
    "arith.ori": "or",
    "arith.xori": "xor",
    "arith.andi": "and",
    "arith.maxui": "umax",
    "arith.minui": "umin",
    "arith.maxsi": "smax",
    "arith.minsi": "smin",
}
_BOOLEAN_FOLDS = {
    "arith.addi": "xor",
    "arith.muli": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
    "arith.andi": "and",
    "arith.maxui": "or",
    "arith.minui": "and",
    "arith.maxsi": "and",
    "arith.minsi": "or",
}
"""On booleans in bytes; a true one is -1 where it is read as signed."""
_SUM = "ptr captures(none) %lanes, ptr captures(none) %aside, i64 %count"

COMBINES = frozenset({*_FLOAT_IDENTITIES, *_INTEGER_IDENTITIES})
"""The ops that lanes can be combined by."""


def identity(combine: str, element_type: str) -> str:
    """The register value that changes nothing when it is combined with another, not even the sign of a zero."""
    kind = llvm_type(element_type)
    if combine in _FLOAT_IDENTITIES:
        return constant(kind, _FLOAT_IDENTITIES[combine])
    top = 1 << (width(element_type) - 1)
    values = {"zero": 0, "one": 1, "all": -1, "lowest": top, "highest": top - 1}
    return constant(kind, values[_INTEGER_IDENTITIES[combine]])


def vector_properties(lanes: int, interleave: int, *, masked: bool = False) -> tuple[str, ...]:
    """Metadata of a loop whose iterations are independent of each other, to be run in whole vectors."""
    properties = [
        '!"llvm.loop.parallel_accesses", !0',
        f'!"llvm.loop.vectorize.width", i32 {lanes}',
        f'!"llvm.loop.interleave.count", i32 {interleave}',
        '!"llvm.loop.vectorize.enable", i1 true',
        '!"llvm.loop.unroll.disable"',
    ]
    if masked:
        properties.append('!"llvm.loop.vectorize.predicate.enable", i1 true')
    return tuple(properties)


@dataclass(frozen=True)
class Reduction:
    """How a reduction combines: the op, the element type of its value and its attributes.

    ``count`` lanes are worked on ``lanes`` at a time.
    """

    combine: str
    element_type: str
    attributes: tuple[tuple[str, str], ...]
    count: int
    lanes: int

    @property
    def held_in(self) -> str:
        """The element type of the lanes: sums of f16 and bf16 are held in f32 and rounded once."""
        return "f32" if self.combine == "arith.addf" and self.element_type in NARROW else self.element_type

    @property
    def type(self) -> str:
        """The LLVM type of a lane in a register."""
        return llvm_type(self.held_in)

    @property
    def stored(self) -> str:
        """The LLVM type of a lane in memory."""
        return "i8" if self.type == "i1" else self.type

    @property
    def is_sum(self) -> bool:
        """Whether it is a float sum, whose lanes are put aside."""
        return self.combine == "arith.addf"

    @property
    def aside(self) -> str:
        """The LLVM type of what is put aside: doubles, or first all sums, then all errors."""
        return f"[{self.count * (1 if self.type == 'float' else 2)} x double]"

    @property
    def _key(self) -> tuple[str, str, tuple[tuple[str, str], ...], int, int]:
        return self.combine, self.held_in, self.attributes, self.count, self.lanes

    def combined(self, builder: LLVMBuilder, one: str, other: str) -> str:
        """Two values combined."""
        emission = PRIMITIVES[self.combine].llvm
        assert emission is not None
        attributes: Mapping[str, str] = dict(self.attributes)
        return emission(builder, Signature((self.held_in,) * 2, (self.held_in,), attributes), one, other)

    def rounded(self, builder: LLVMBuilder, name: str) -> str:
        """A total at the reduction's own element type."""
        return name if self.held_in == self.element_type else round_to(builder, self.element_type, name)

    # In memory

    def load(self, code: Function, pointer: str, index: str) -> str:
        """A lane."""
        slot = code.emit(f"getelementptr inbounds {self.stored}, ptr {pointer}, i64 {index}")
        raw = code.emit(f"load {self.stored}, ptr {slot}, {GROUP}")
        return code.emit(f"icmp ne i8 {raw}, 0") if self.type == "i1" else raw

    def store(self, code: Function, pointer: str, index: str, value: str) -> None:
        """Set a lane."""
        if self.type == "i1":
            value = code.emit(f"zext i1 {value} to i8")
        slot = code.emit(f"getelementptr inbounds {self.stored}, ptr {pointer}, i64 {index}")
        code.line(f"store {self.stored} {value}, ptr {slot}, {GROUP}")

    def clear(self, code: Function, pointer: str) -> None:
        """Make all lanes the identity."""
        with code.loop("clear", "0", str(self.count), close=self._closed(code.module)) as lane:
            self.store(code, pointer, lane, identity(self.combine, self.held_in))

    def _closed(self, module: Module, count: int | None = None) -> Callable[[Scope], str]:
        count = self.count if count is None else count
        lanes = min(self.lanes, count)
        suffix = module.loop(*vector_properties(lanes, max(count // lanes, 1)))

        def close(_: Scope) -> str:
            return suffix

        return close

    # Functions that all kernels of a module share

    def fold(self, module: Module) -> str:
        """``fold(lanes) -> value``: the lanes combined until one is left, where any order gives the same bits."""
        name = f"@fold.{self._name}"

        def make() -> tuple[str, str]:
            code = Function(module)
            whole = self._whole_fold(code)
            result = self._fold_by_halves(code) if whole is None else whole
            code.line(f"ret {self.type} {result}")
            return name, code.text(f"internal {self.type} {name}(ptr captures(none) %lanes) nounwind noinline")

        return module.function(("fold", self._key), make)

    def _whole_fold(self, code: Function) -> str | None:
        """LLVM's own reduction of a vector, where there is one that does just what the op does."""
        op = _BOOLEAN_FOLDS.get(self.combine) if self.type == "i1" else _FOLDS.get(self.combine)
        if op is None:
            return None
        vector, suffix = (
            f"<{self.count} x {self.stored}>",
            {"float": "f32", "double": "f64"}.get(self.type, self.stored),
        )
        function = f"@llvm.vector.reduce.{op}.v{self.count}{suffix}"
        code.module.declare(f"declare {self.stored} {function}({vector})")
        lanes = code.emit(f"load {vector}, ptr %lanes, align 64")
        result = code.emit(f"call {self.stored} {function}({vector} {lanes})")
        return code.emit(f"trunc i8 {result} to i1") if self.type == "i1" else result

    def _fold_by_halves(self, code: Function) -> str:
        half = self.count // 2
        while half > 2:
            with code.loop("lane", "0", str(half), close=self._closed(code.module, half)) as lane:
                other = code.emit(f"add i64 {lane}, {half}")
                one, two = self.load(code, "%lanes", lane), self.load(code, "%lanes", other)
                code.builder.lines = code.scope.lines
                self.store(code, "%lanes", lane, self.combined(code.builder, one, two))
            half //= 2
        left = [self.load(code, "%lanes", str(lane)) for lane in range(2 * half)]
        while half:
            code.builder.lines = code.scope.lines
            left = [self.combined(code.builder, one, two) for one, two in zip(left, left[half:], strict=False)]
            half //= 2
        return left[0]

    def put_aside(self, module: Module) -> str:
        """``put_aside(lanes, aside, count)``: add the lanes to what was put aside ``count`` times, and clear them."""
        name = f"@put_aside.{self._name}"

        def make() -> tuple[str, str]:
            code = Function(module)
            vector = f"<{self.count} x double>"
            total, error = self._with_lanes(code)
            code.line(f"store {vector} {total}, ptr %aside, align 64")
            if error is not None:
                code.line(f"store {vector} {error}, ptr {self._errors(code)}, align 64")
            clear = f"splat ({self.type} {identity(self.combine, self.held_in)})"
            code.line(f"store <{self.count} x {self.type}> {clear}, ptr %lanes, align 64")
            code.line("ret void")
            return name, code.text(f"internal void {name}({_SUM}) nounwind noinline")

        return module.function(("put_aside", self._key), make)

    def sum_up(self, module: Module) -> str:
        """``sum_up(lanes, aside, count) -> value``: the lanes and what was put aside ``count`` times, in halves."""
        name = f"@sum_up.{self._name}"

        def make() -> tuple[str, str]:
            code = Function(module)
            total, error = self._with_lanes(code)
            count = self.count
            while count > 1:
                halves = [_half(code, total, count, side) for side in (0, 1)]
                errors = [_half(code, error, count, side) for side in (0, 1)] if error is not None else []
                count //= 2
                total, rest = _exact_sum(code, count, *halves)
                if errors:
                    error = code.emit(f"fadd <{count} x double> {errors[0]}, {errors[1]}")
                    error = code.emit(f"fadd <{count} x double> {error}, {rest}")
            result = code.emit(f"extractelement <1 x double> {total}, i64 0")
            if error is None:
                result = code.emit(f"fptrunc double {result} to float")
            else:  # an error of zero must not change the sign of a zero, nor one of NaN an infinite sum
                rest = code.emit(f"extractelement <1 x double> {error}, i64 0")
                matters = code.emit(f"fcmp one double {rest}, 0.0")
                better = code.emit(f"fadd double {result}, {rest}")
                result = code.emit(f"select i1 {matters}, double {better}, double {result}")
            code.line(f"ret {self.type} {result}")
            return name, code.text(f"internal {self.type} {name}({_SUM}) nounwind noinline")

        return module.function(("sum_up", self._key), make)

    def _with_lanes(self, code: Function) -> tuple[str, str | None]:
        """The lanes added to what was put aside, as doubles; for doubles also the errors."""
        vector = f"<{self.count} x double>"
        first = code.emit("icmp eq i64 %count, 0")
        lanes = code.emit(f"load <{self.count} x {self.type}>, ptr %lanes, align 64")
        before = self._before(code, first, "%aside")
        if self.type == "float":
            wide = code.emit(f"fpext <{self.count} x float> {lanes} to {vector}")
            return code.emit(f"fadd {vector} {before}, {wide}"), None
        total, rest = _exact_sum(code, self.count, before, lanes)
        error = self._before(code, first, self._errors(code))
        return total, code.emit(f"fadd {vector} {error}, {rest}")

    def _errors(self, code: Function) -> str:
        """Where the errors are put aside."""
        return code.emit(f"getelementptr inbounds double, ptr %aside, i64 {self.count}")

    def _before(self, code: Function, first: str, pointer: str) -> str:
        """What was put aside before, negative zeros at first."""
        vector = f"<{self.count} x double>"
        old = code.emit(f"freeze {vector} {code.emit(f'load {vector}, ptr {pointer}, align 64')}")
        return code.emit(f"select i1 {first}, {vector} splat (double -0.0), {vector} {old}")

    @property
    def _name(self) -> str:
        flags = "".join(f".{value}" for _, value in self.attributes)
        return f"{self.combine}.{self.held_in}.{self.count}.{self.lanes}{flags}".replace(",", ".")


def _half(code: Function, vector: str, count: int, side: int) -> str:
    """One half of a vector of doubles."""
    lanes = ", ".join(f"i32 {lane}" for lane in range(side * count // 2, (side + 1) * count // 2))
    kind = f"<{count} x double>"
    return code.emit(f"shufflevector {kind} {vector}, {kind} poison, <{count // 2} x i32> <{lanes}>")


def _exact_sum(code: Function, count: int, one: str, other: str) -> tuple[str, str]:
    """The sums of two vectors of doubles and their rounding errors."""
    kind = f"<{count} x double>"
    total = code.emit(f"fadd {kind} {one}, {other}")
    virtual = code.emit(f"fsub {kind} {total}, {one}")
    left = code.emit(f"fsub {kind} {one}, {code.emit(f'fsub {kind} {total}, {virtual}')}")
    return total, code.emit(f"fadd {kind} {left}, {code.emit(f'fsub {kind} {other}, {virtual}')}")
