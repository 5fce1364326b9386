"""Short spellings for LLVM instructions on one float type, so that algorithms read as formulas."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from xfuse.primitives.primitive import LLVMBuilder

Value = str | float
"""An LLVM name, or a number that becomes a literal of the type at hand."""


@dataclass(frozen=True)
class FloatCode:
    """Instructions on ``float`` or ``double`` and on the integers of the same width."""

    builder: LLVMBuilder
    type: str

    @property
    def single(self) -> bool:
        """Whether the type is ``float``."""
        return self.type == "float"

    @property
    def integer(self) -> str:
        """The integer type of the same width."""
        return "i32" if self.single else "i64"

    @property
    def fraction_bits(self) -> int:
        """Stored bits of the significand."""
        return 23 if self.single else 52

    @property
    def exponent_bias(self) -> int:
        """What the stored exponent exceeds the real one by."""
        return 127 if self.single else 1023

    def name(self, value: Value) -> str:
        """A name or literal for a value."""
        return value if isinstance(value, str) else self.builder.constant(self.type, value)

    def binary(self, instruction: str, a: Value, b: Value) -> str:
        return self.builder.emit(f"{instruction} {self.type} {self.name(a)}, {self.name(b)}")

    def add(self, a: Value, b: Value) -> str:
        return self.binary("fadd", a, b)

    def subtract(self, a: Value, b: Value) -> str:
        return self.binary("fsub", a, b)

    def multiply(self, a: Value, b: Value) -> str:
        return self.binary("fmul", a, b)

    def divide(self, a: Value, b: Value) -> str:
        return self.binary("fdiv", a, b)

    def negate(self, a: Value) -> str:
        return self.builder.emit(f"fneg {self.type} {self.name(a)}")

    def multiply_add(self, a: Value, b: Value, c: Value) -> str:
        """a*b + c, in one rounding where the target does so in hardware, else in two."""
        if self.builder.has_fma:
            return self.intrinsic("fma", a, b, c)
        return self.add(self.multiply(a, b), c)

    def intrinsic(self, function: str, *arguments: Value) -> str:
        suffix = "f32" if self.single else "f64"
        pairs = [(self.type, self.name(argument)) for argument in arguments]
        return self.builder.call(self.type, f"llvm.{function}.{suffix}", pairs)

    def library(self, function: str, *arguments: Value) -> str:
        """Call a function of the C math library; its float variant has the suffix ``f``."""
        pairs = [(self.type, self.name(argument)) for argument in arguments]
        return self.builder.call(self.type, function + ("f" if self.single else ""), pairs)

    def absolute(self, a: Value) -> str:
        return self.intrinsic("fabs", a)

    def copysign(self, magnitude: Value, sign: Value) -> str:
        return self.intrinsic("copysign", magnitude, sign)

    def compare(self, predicate: str, a: Value, b: Value) -> str:
        return self.builder.emit(f"fcmp {predicate} {self.type} {self.name(a)}, {self.name(b)}")

    def select(self, condition: str, a: Value, b: Value) -> str:
        return self.builder.emit(f"select i1 {condition}, {self.type} {self.name(a)}, {self.type} {self.name(b)}")

    def at_least(self, a: Value, low: float) -> str:
        """The larger of a and a number; NaN stays NaN."""
        return self.select(self.compare("olt", a, low), low, a)

    def at_most(self, a: Value, high: float) -> str:
        """The smaller of a and a number; NaN stays NaN."""
        return self.select(self.compare("ogt", a, high), high, a)

    def bits(self, a: Value) -> str:
        """The bits of a float as an integer."""
        return self.builder.emit(f"bitcast {self.type} {self.name(a)} to {self.integer}")

    def from_bits(self, a: str) -> str:
        """The float that has these bits."""
        return self.builder.emit(f"bitcast {self.integer} {a} to {self.type}")

    def integer_binary(self, instruction: str, a: str | int, b: str | int) -> str:
        return self.builder.emit(f"{instruction} {self.integer} {a}, {b}")

    def integer_select(self, condition: str, a: str | int, b: str | int) -> str:
        return self.builder.emit(f"select i1 {condition}, {self.integer} {a}, {self.integer} {b}")

    def horner(self, coefficients: Sequence[float], x: str) -> str:
        """A polynomial, lowest power first, by Horner's rule: fewest instructions."""
        total: Value = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            total = self.multiply_add(total, x, coefficient)
        return self.name(total)

    def estrin(self, coefficients: Sequence[float], x: str) -> str:
        """A polynomial, lowest power first, by Estrin's scheme: shortest chain of dependent instructions."""
        terms: list[Value] = list(coefficients)
        power = x
        while len(terms) > 1:
            terms = [
                self.multiply_add(terms[i + 1], power, terms[i]) if i + 1 < len(terms) else terms[i]
                for i in range(0, len(terms), 2)
            ]
            if len(terms) > 1:
                power = self.multiply(power, power)
        return self.name(terms[0])

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        """Horner for float, Estrin for the long polynomials of double."""
        return self.horner(coefficients, x) if self.single else self.estrin(coefficients, x)

    def literal_bits(self, value: float) -> int:
        """The bits of a number as a signed integer."""
        if self.single:
            return struct.unpack("<i", struct.pack("<f", value))[0]
        return struct.unpack("<q", struct.pack("<d", value))[0]
