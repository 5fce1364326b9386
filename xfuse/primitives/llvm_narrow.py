"""f16 and bf16 values in ``float`` registers: rounding, and the way from and to 16 bits.

All conversions are branch-free integer code (round to nearest, ties to even), or the hardware's own for f16 where the
builder says ``fast_half``. Nothing here can end in a call of a compiler runtime helper.
"""

from __future__ import annotations

from xfuse.primitives.llvm_code import FloatCode
from xfuse.primitives.primitive import LLVMBuilder

NARROW = ("f16", "bf16")


def round_to(builder: LLVMBuilder, element_type: str, name: str) -> str:
    """Round a ``float`` to the nearest value of f16 or bf16; a value of another element type comes back as it is."""
    if element_type == "bf16":
        return _round_to_bfloat(FloatCode(builder, "float"), name)
    if element_type == "f16":
        if builder.fast_half:
            half = builder.emit(f"fptrunc float {name} to half")
            return builder.emit(f"fpext half {half} to float")
        return _round_to_half(FloatCode(builder, "float"), name)
    return name


def round_double_to(builder: LLVMBuilder, element_type: str, name: str) -> str:
    """Round a ``double`` to the register value of any float type, once."""
    if element_type == "f64":
        return name
    if element_type == "f32":
        return builder.emit(f"fptrunc double {name} to float")
    return round_to(builder, element_type, _double_to_odd_float(builder, name))


def to_bits(builder: LLVMBuilder, element_type: str, name: str) -> str:
    """The i16 that stores a ``float`` which is exactly an f16 or bf16 value."""
    code = FloatCode(builder, "float")
    if element_type == "bf16":
        return builder.emit(f"trunc i32 {code.integer_binary('lshr', code.bits(name), 16)} to i16")
    if builder.fast_half:
        half = builder.emit(f"fptrunc float {name} to half")
        return builder.emit(f"bitcast half {half} to i16")
    return _half_bits(code, name)


def from_bits(builder: LLVMBuilder, element_type: str, name: str) -> str:
    """The ``float`` that an i16 of f16 or bf16 bits stands for."""
    code = FloatCode(builder, "float")
    if element_type == "f16" and builder.fast_half:
        half = builder.emit(f"bitcast i16 {name} to half")
        return builder.emit(f"fpext half {half} to float")
    wide = builder.emit(f"zext i16 {name} to i32")
    if element_type == "bf16":
        return code.from_bits(code.integer_binary("shl", wide, 16))
    return _half_from_bits(code, wide)


def _double_to_odd_float(builder: LLVMBuilder, name: str) -> str:
    """Round a double to float "to odd": an inexact result has its last bit set.

    A second rounding to at least two bits fewer then gives what one rounding would (Boldo and Melquiond, "Emulation of
    a FMA and correctly rounded sums: proved algorithms using rounding to odd").
    """
    narrow, wide = FloatCode(builder, "float"), FloatCode(builder, "double")
    nearest = builder.emit(f"fptrunc double {name} to float")
    back = builder.emit(f"fpext float {nearest} to double")
    inexact = wide.compare("une", back, name)
    beyond = wide.compare("ogt", wide.absolute(back), wide.absolute(name))
    toward_zero = narrow.integer_binary("sub", narrow.bits(nearest), builder.emit(f"zext i1 {beyond} to i32"))
    return narrow.from_bits(narrow.integer_binary("or", toward_zero, builder.emit(f"zext i1 {inexact} to i32")))


def odd_sum(code: FloatCode, a: str, b: str) -> str:
    """a + b rounded to odd: the error of the sum (Knuth's TwoSum) says which neighbour has its last bit set."""
    total = code.add(a, b)
    virtual = code.subtract(total, a)
    error = code.add(code.subtract(a, code.subtract(total, virtual)), code.subtract(b, virtual))
    bits = code.bits(total)
    even = code.builder.emit(f"icmp eq {code.integer} {code.integer_binary('and', bits, 1)}, 0")
    inexact = code.compare("one", error, 0.0)
    adjust = code.builder.emit(f"and i1 {even}, {inexact}")
    grows = code.builder.emit(f"icmp sge {code.integer} {code.integer_binary('xor', bits, code.bits(error))}, 0")
    step = code.integer_select(adjust, code.integer_select(grows, 1, -1), 0)
    return code.from_bits(code.integer_binary("add", bits, step))


def _round_to_bfloat(code: FloatCode, name: str) -> str:
    """Add half of the last kept bit, less one if that bit is even, and cut; a NaN is made quiet instead."""
    bits = code.bits(name)
    last = code.integer_binary("and", code.integer_binary("lshr", bits, 16), 1)
    nearest = code.integer_binary("add", code.integer_binary("add", bits, 0x7FFF), last)
    quiet = code.integer_binary("or", bits, 0x00400000)
    chosen = code.integer_select(code.compare("uno", name, 0.0), quiet, nearest)
    return code.from_bits(code.integer_binary("and", chosen, -0x10000))


def _round_to_half(code: FloatCode, name: str) -> str:
    """Round a float to 11 bits, or to a multiple of 2^-24 below 2^-14, by adding and taking away a large power of two.

    Adding 1.5 * 2^13 * 2^e to a number of exponent e drops its last 13 bits in the adder's own rounding; what exceeds
    the largest half (65520 and more) becomes infinite.
    """
    magnitude = code.absolute(name)
    exponent = code.integer_binary("and", code.bits(magnitude), 0x7F800000)
    low = code.builder.emit(f"icmp slt i32 {exponent}, {(127 - 14) << 23}")
    exponent = code.integer_select(low, (127 - 14) << 23, exponent)
    magic = code.from_bits(code.integer_binary("add", exponent, (13 << 23) | 0x400000))
    rounded = code.subtract(code.add(magnitude, magic), magic)
    rounded = code.select(code.compare("oge", magnitude, 65520.0), float("inf"), rounded)
    return code.copysign(code.select(code.compare("uno", name, 0.0), float("nan"), rounded), name)


def _half_bits(code: FloatCode, name: str) -> str:
    """The f16 bits of a float that is exactly an f16 value: rebias the exponent, or scale where it is subnormal."""
    bits = code.bits(name)
    magnitude = code.absolute(name)
    normal = code.integer_binary("sub", code.integer_binary("lshr", code.bits(magnitude), 13), (127 - 15) << 10)
    scaled = code.multiply(magnitude, 2.0**24)
    small = code.compare("olt", magnitude, 2.0**-14)
    subnormal = code.builder.emit(f"fptosi float {code.select(small, scaled, 0.0)} to i32")
    result = code.integer_select(small, subnormal, normal)
    # Infinity and NaN keep their payload under the top exponent.
    special = code.builder.emit(f"icmp sge i32 {code.bits(magnitude)}, {0x7F800000}")
    payload = code.integer_binary("and", code.integer_binary("lshr", bits, 13), 0x3FF)
    result = code.integer_select(special, code.integer_binary("or", payload, 0x7C00), result)
    sign = code.integer_binary("and", code.integer_binary("lshr", bits, 16), 0x8000)
    return code.builder.emit(f"trunc i32 {code.integer_binary('or', result, sign)} to i16")


def _half_from_bits(code: FloatCode, wide: str) -> str:
    """The float of f16 bits: shifting them into place leaves the exponent 112 too small, which a multiplication mends.

    The multiplication also normalises subnormals; infinities and NaN get the top exponent set by hand.
    """
    magnitude = code.integer_binary("shl", code.integer_binary("and", wide, 0x7FFF), 13)
    scaled = code.multiply(code.from_bits(magnitude), 2.0**112)
    special = code.builder.emit(f"icmp uge i32 {magnitude}, {0x7C00 << 13}")
    top = code.integer_binary("or", magnitude, 0x7F800000)
    result = code.integer_select(special, top, code.bits(scaled))
    sign = code.integer_binary("shl", code.integer_binary("and", wide, 0x8000), 16)
    return code.from_bits(code.integer_binary("or", result, sign))
