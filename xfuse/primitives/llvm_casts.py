"""LLVM emission of arith's casts. Every cast to a float rounds once, every cast to an integer saturates."""

from __future__ import annotations

from xfuse.errors import UnsupportedError
from xfuse.primitives.element_types import is_float, llvm_type, width
from xfuse.primitives.llvm_code import FloatCode
from xfuse.primitives.llvm_narrow import NARROW, from_bits, round_double_to, round_to, to_bits
from xfuse.primitives.primitive import LLVMBuilder, LLVMEmission, Signature


def _convert_float(builder: LLVMBuilder, signature: Signature, x: str) -> str:
    source, target = signature.operands[0], signature.result
    if source == target:
        return x
    if source == "f64":
        return round_double_to(builder, target, x)
    if target == "f64":
        return builder.emit(f"fpext float {x} to double")
    return x if target == "f32" else round_to(builder, target, x)


extf = _convert_float
truncf = _convert_float


def _float_to_integer(signed: bool) -> LLVMEmission:
    """Truncation that saturates; NaN gives 0.

    LLVM's own saturating intrinsics do not vectorise for every pair of types; a plain conversion does, and its poison
    outside the range is never selected.
    """
    letter = "s" if signed else "u"

    def emission(builder: LLVMBuilder, signature: Signature, x: str) -> str:
        code = FloatCode(builder, llvm_type(signature.operands[0]))
        kind, bits = llvm_type(signature.result), width(signature.result)
        if bits == 1:  # the range is -1..0 or 0..1
            return code.compare("ole" if signed else "oge", x, -1.0 if signed else 1.0)
        low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if signed else (0, 1 << bits)
        result = builder.emit(f"fpto{letter}i {code.type} {x} to {kind}")
        for predicate, bound, value in (("olt", low, low), ("oge", high, high - 1), ("uno", 0, 0)):
            outside = code.compare(predicate, x, float(bound))
            result = builder.emit(f"select i1 {outside}, {kind} {builder.constant(kind, value)}, {kind} {result}")
        return result

    return emission


fptosi = _float_to_integer(signed=True)
fptoui = _float_to_integer(signed=False)


def _integer_to_float(signed: bool) -> LLVMEmission:
    letter = "s" if signed else "u"

    def emission(builder: LLVMBuilder, signature: Signature, x: str) -> str:
        source, target = signature.operands[0], signature.result
        kind = llvm_type(source)
        if target not in NARROW:
            return builder.emit(f"{letter}itofp {kind} {x} to {llvm_type(target)}")
        if target == "f16" or width(source) <= 16:
            # Exact in float, or so large that the result is infinite either way.
            return round_to(builder, target, builder.emit(f"{letter}itofp {kind} {x} to float"))
        if width(source) == 64:
            x = _sticky(builder, signed, x)
        return round_double_to(builder, target, builder.emit(f"{letter}itofp {kind} {x} to double"))

    return emission


def _sticky(builder: LLVMBuilder, signed: bool, x: str) -> str:
    """An i64 with its low 12 bits replaced by one that says whether any was set, where double cannot hold it.

    Only whole multiples of 4096 can be halfway between two bf16 values of that size, so no rounding changes.
    """
    low = builder.emit(f"and i64 {x}, 4095")
    some = builder.emit(f"icmp ne i64 {low}, 0")
    bit = builder.emit(f"select i1 {some}, i64 2048, i64 0")
    high = builder.emit(f"and i64 {x}, -4096")
    replaced = builder.emit(f"or i64 {high}, {bit}")
    magnitude = builder.call("i64", "llvm.abs.i64", [("i64", x), ("i1", "false")]) if signed else x
    large = builder.emit(f"icmp ugt i64 {magnitude}, {1 << 53}")
    return builder.emit(f"select i1 {large}, i64 {replaced}, i64 {x}")


sitofp = _integer_to_float(signed=True)
uitofp = _integer_to_float(signed=False)


def _resize(extension: str) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str) -> str:
        source, target = llvm_type(signature.operands[0]), llvm_type(signature.result)
        if source == target:
            return x
        wider = width(signature.result) > width(signature.operands[0])
        return builder.emit(f"{extension if wider else 'trunc'} {source} {x} to {target}")

    emission.__doc__ = f"The low bits, or {extension} to a wider type."
    return emission


extsi = _resize("sext")
extui = _resize("zext")
trunci = _resize("sext")
index_cast = _resize("sext")


def bitcast(builder: LLVMBuilder, signature: Signature, x: str) -> str:
    """The same bits as another type of the same width."""
    source, target = signature.operands[0], signature.result
    if width(source) != width(target):
        raise UnsupportedError(f"arith.bitcast from {source} to {target}: the widths differ")
    if source == target or (not is_float(source) and not is_float(target)):
        return x
    if source in NARROW:
        x = to_bits(builder, source, x)
    elif is_float(source):
        return builder.emit(f"bitcast {llvm_type(source)} {x} to {llvm_type(target)}")
    if target in NARROW:
        return from_bits(builder, target, x)
    return x if source in NARROW else builder.emit(f"bitcast {llvm_type(source)} {x} to {llvm_type(target)}")
