"""Scalar LLVM IR as text: fresh names, exact constants, sorted declarations."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from xfuse.primitives import element_types, literals

_PURE = "nounwind willreturn memory(none)"


class TextBuilder:
    """Collects scalar instructions; the implementation of `xfuse.primitives.primitive.LLVMBuilder`.

    ``prefix`` starts every name made here, so that the output of several builders can stand in one function. Equal
    calls give equal text: names are counted, declarations sorted.
    """

    def __init__(self, prefix: str = "v", *, has_fma: bool = False, fast_half: bool = False) -> None:
        self.prefix = prefix
        self.has_fma = has_fma
        self.fast_half = fast_half
        self.lines: list[str] = []
        self._declarations: dict[str, str] = {}
        self._count = 0

    def emit(self, instruction: str) -> str:
        """Append ``%name = instruction`` and return the fresh ``%name``."""
        name = f"%{self.prefix}{self._count}"
        self._count += 1
        self.lines.append(f"{name} = {instruction}")
        return name

    def constant(self, llvm_type: str, value: float | int) -> str:
        """The literal of an LLVM type, exact to the bit."""
        return constant(llvm_type, value)

    def call(self, result: str, function: str, arguments: Sequence[tuple[str, str]]) -> str:
        """Call a pure external function or an intrinsic, declaring it; arguments are (LLVM type, value) pairs."""
        types = ", ".join(llvm_type for llvm_type, _ in arguments)
        attributes = "" if function.startswith("llvm.") else f" {_PURE}"
        self._declarations[function] = f"declare {result} @{function}({types}){attributes}"
        values = ", ".join(f"{llvm_type} {value}" for llvm_type, value in arguments)
        return self.emit(f"call {result} @{function}({values})")

    @property
    def declarations(self) -> list[str]:
        """A declaration for every function called, sorted by its name."""
        return [self._declarations[name] for name in sorted(self._declarations)]

    @property
    def calls_libraries(self) -> bool:
        """Whether any function called is not an intrinsic, so that it runs once per element."""
        return any(not name.startswith("llvm.") for name in self._declarations)


def constant(llvm_type: str, value: float | int) -> str:
    """The literal of an LLVM type: integers wrapped to their width, floats by their bits.

    A float is rounded once from the given number; NaN keeps its sign.
    """
    if llvm_type[0] == "i":
        bits = int(value) & ((1 << int(llvm_type[1:])) - 1)
        return _integer_literal(llvm_type, bits)
    if llvm_type in ("half", "bfloat"):
        letter, element_type = ("H", "f16") if llvm_type == "half" else ("R", "bf16")
        return f"0x{letter}{literals.to_bits(value, element_type):04X}"
    if llvm_type == "float":
        value = literals.from_bits(literals.to_bits(value, "f32"), "f32")
    return f"0x{literals.to_bits(value, 'f64'):016X}"


def literal(element_type: str, bits: int) -> str:
    """The register value of a literal of an element type, given by its bits (`xfuse.primitives.literals`)."""
    llvm_type = element_types.llvm_type(element_type)
    if element_types.is_integer(element_type):
        return _integer_literal(llvm_type, bits)
    return constant(llvm_type, literals.from_bits(bits, element_type))


def _integer_literal(llvm_type: str, bits: int) -> str:
    if llvm_type == "i1":
        return "true" if bits else "false"
    width = int(llvm_type[1:])
    return str(bits - (1 << width) if bits >> (width - 1) else bits)


def literal_float(name: str) -> float | None:
    """The value of a float literal made by `constant`, None for anything else."""
    if name.startswith("0x") and len(name) == 18:
        return struct.unpack("<d", struct.pack("<Q", int(name, 16)))[0]
    return None


def literal_integer(name: str) -> int | None:
    """The signed value of an integer literal, None for anything else; i1 ``true`` is -1."""
    if name in ("true", "false"):
        return -1 if name == "true" else 0
    digits = name.removeprefix("-")
    return int(name) if digits.isdecimal() else None
