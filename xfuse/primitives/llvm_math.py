"""LLVM emission of math's transcendental functions.

exp, log and what follows from them are branch-free polynomial code of our own, so that LLVM's loop vectoriser takes
them on every target; special values (NaN, infinities, zeros of both signs, subnormals) come out exact. f16 and bf16
are computed as float and rounded once more, which keeps them within 0.501 ulp. The rest calls the C math library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from xfuse.primitives import coefficients as table
from xfuse.primitives.element_types import llvm_type
from xfuse.primitives.llvm_code import FloatCode
from xfuse.primitives.llvm_functions import float_code, unrolled_power
from xfuse.primitives.llvm_narrow import round_double_to, round_to
from xfuse.primitives.llvm_text import literal_float, literal_integer
from xfuse.primitives.primitive import LLVMBuilder, LLVMEmission, Signature


@dataclass(frozen=True)
class _Constants:
    """Numbers that the argument reductions of one type need.

    ``ln2_high`` has so many trailing zero bits that its product with any exponent is exact (Cody and Waite, "Software
    Manual for the Elementary Functions"), ``log10_2_high`` likewise. Adding ``rounder``, 1.5 times the weight of the
    last bit of an integer, rounds to nearest and leaves that integer in the low bits.
    """

    rounder: float
    ln2_high: float
    ln2_low: float
    log10_2_high: float
    log10_2_low: float
    exp_range: tuple[float, float]
    exp2_range: tuple[float, float]
    expm1_low: float
    tanh_high: float
    erf_high: float
    erf_split: float
    smallest_normal: float


_SINGLE = _Constants(
    rounder=1.5 * 2.0**23,
    ln2_high=float.fromhex("0x1.62e4p-1"),
    ln2_low=float.fromhex("0x1.7f7d1cf79abcap-20"),
    log10_2_high=float.fromhex("0x1.344p-2"),
    log10_2_low=float.fromhex("0x1.3509f79fef312p-18"),
    exp_range=(-104.0, 89.0),
    exp2_range=(-151.0, 129.0),
    expm1_low=-20.0,
    tanh_high=9.25,
    erf_high=3.93,
    erf_split=0.9375,
    smallest_normal=2.0**-126,
)
_DOUBLE = _Constants(
    rounder=1.5 * 2.0**52,
    ln2_high=float.fromhex("0x1.62e42feep-1"),
    ln2_low=float.fromhex("0x1.a39ef35793c76p-33"),
    log10_2_high=float.fromhex("0x1.34413509p-2"),
    log10_2_low=float.fromhex("0x1.ef3fde623e256p-35"),
    exp_range=(-746.0, 710.0),
    exp2_range=(-1076.0, 1025.0),
    expm1_low=-40.0,
    tanh_high=20.0,
    erf_high=5.93,
    erf_split=1.0,
    smallest_normal=2.0**-1022,
)


def _constants(code: FloatCode) -> _Constants:
    return _SINGLE if code.single else _DOUBLE


def _own(algorithm: Callable[[FloatCode, str], str]) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str) -> str:
        return round_to(builder, signature.result, algorithm(float_code(builder, signature.result), x))

    emission.__doc__ = algorithm.__doc__
    return emission


def _library(function: str) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, *operands: str) -> str:
        name = float_code(builder, signature.result).library(function, *operands)
        return round_to(builder, signature.result, name)

    emission.__doc__ = f"The C library's {function}, called once per element."
    return emission


# Exponentials -------------------------------------------------------------------------------------------------------


def _nearest_integer(code: FloatCode, scaled: str) -> tuple[str, str]:
    """A float that already holds x + rounder, as the integer nearest to x: (as float, as integer)."""
    rounder = _constants(code).rounder
    as_float = code.subtract(scaled, rounder)
    return as_float, code.integer_binary("sub", code.bits(scaled), code.literal_bits(rounder))


def _reduce(code: FloatCode, x: str) -> tuple[str, str]:
    """x = n ln2 + r with |r| <= ln2/2, by Cody and Waite: (n, r)."""
    constants = _constants(code)
    as_float, n = _nearest_integer(code, code.multiply_add(x, math.log2(math.e), constants.rounder))
    r = code.multiply_add(as_float, -constants.ln2_high, x)
    return n, code.multiply_add(as_float, -constants.ln2_low, r)


def _expm1_reduced(code: FloatCode, r: str) -> str:
    """e^r - 1 for |r| <= ln2/2."""
    q = code.polynomial(table.EXP_F32 if code.single else table.EXP_F64, r)
    return code.multiply_add(q, code.multiply(r, r), r)


def _power_of_two(code: FloatCode, n: str) -> str:
    """2^n for an exponent of normal numbers."""
    biased = code.integer_binary("add", n, code.exponent_bias)
    return code.from_bits(code.integer_binary("shl", biased, code.fraction_bits))


def _scale(code: FloatCode, x: str, n: str) -> str:
    """x 2^n in two steps, so that overflow and subnormal results come out right and only the second rounds."""
    half = code.integer_binary("ashr", n, 1)
    rest = code.integer_binary("sub", n, half)
    return code.multiply(code.multiply(x, _power_of_two(code, half)), _power_of_two(code, rest))


def _exp(code: FloatCode, x: str) -> str:
    """e^x = 2^n e^r; at most 1 ulp off."""
    low, high = _constants(code).exp_range
    n, r = _reduce(code, code.at_most(code.at_least(x, low), high))
    return _scale(code, code.add(_expm1_reduced(code, r), 1.0), n)


def _exp2(code: FloatCode, x: str) -> str:
    """2^x = 2^n 2^r, where r = x - n is exact; at most 1 ulp off."""
    low, high = _constants(code).exp2_range
    x = code.at_most(code.at_least(x, low), high)
    as_float, n = _nearest_integer(code, code.add(x, _constants(code).rounder))
    r = code.subtract(x, as_float)
    q = code.polynomial(table.EXP2_F32 if code.single else table.EXP2_F64, r)
    return _scale(code, code.multiply_add(q, r, 1.0), n)


def _expm1(code: FloatCode, x: str) -> str:
    """e^x - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)), as fdlibm does; halved so that 2^(n-1) is always finite."""
    constants = _constants(code)
    n, r = _reduce(code, code.at_most(code.at_least(x, constants.expm1_low), constants.exp_range[1]))
    half = _power_of_two(code, code.integer_binary("sub", n, 1))
    result = code.multiply_add(_expm1_reduced(code, r), half, code.subtract(half, 0.5))
    return code.copysign(code.add(result, result), x)


def _half_exp(code: FloatCode, x: str) -> str:
    """e^x / 2 for x >= 0, finite wherever sinh and cosh are."""
    n, r = _reduce(code, code.at_most(x, _constants(code).exp_range[1] + 1))
    return _scale(code, code.add(_expm1_reduced(code, r), 1.0), code.integer_binary("sub", n, 1))


def _odd(code: FloatCode, rest: tuple[float, ...], x: str) -> str:
    """x + x z p(z) with z = x^2."""
    z = code.multiply(x, x)
    return code.multiply_add(code.multiply(code.polynomial(rest, z), z), x, x)


def _sinh(code: FloatCode, x: str) -> str:
    """An odd polynomial up to 1, E - 1/(4E) with E = e^|x|/2 beyond."""
    magnitude = code.absolute(x)
    half = _half_exp(code, magnitude)
    large = code.subtract(half, code.divide(0.25, half))
    small = _odd(code, table.SINH_F32 if code.single else table.SINH_F64, magnitude)
    return code.copysign(code.select(code.compare("olt", magnitude, 1.0), small, large), x)


def _cosh(code: FloatCode, x: str) -> str:
    """E + 1/(4E) with E = e^|x|/2."""
    half = _half_exp(code, code.absolute(x))
    return code.add(half, code.divide(0.25, half))


def _tanh(code: FloatCode, x: str) -> str:
    """An odd polynomial up to 5/8, t/(t+2) with t = e^(2|x|) - 1 beyond, as fdlibm does."""
    magnitude = code.at_most(code.absolute(x), _constants(code).tanh_high)
    n, r = _reduce(code, code.add(magnitude, magnitude))
    power = _power_of_two(code, n)
    t = code.multiply_add(_expm1_reduced(code, r), power, code.subtract(power, 1.0))
    large = code.divide(t, code.add(t, 2.0))
    small = _odd(code, table.TANH_F32 if code.single else table.TANH_F64, magnitude)
    return code.copysign(code.select(code.compare("olt", magnitude, 0.625), small, large), x)


def _erf(code: FloatCode, x: str) -> str:
    """x + x p(x^2) near 0, 1 - e^-(x + x q(x)) beyond, and 1 where nothing else rounds differently."""
    constants = _constants(code)
    magnitude = code.at_most(code.absolute(x), constants.erf_high)
    z = code.multiply(magnitude, magnitude)
    p = code.polynomial(table.ERF_SMALL_F32 if code.single else table.ERF_SMALL_F64, z)
    small = code.multiply_add(p, magnitude, magnitude)
    q = code.polynomial(table.ERF_LARGE_F32 if code.single else table.ERF_LARGE_F64, magnitude)
    n, r = _reduce(code, code.negate(code.multiply_add(q, magnitude, magnitude)))
    power = _power_of_two(code, n)
    large = code.subtract(1.0, code.multiply_add(_expm1_reduced(code, r), power, power))
    return code.copysign(code.select(code.compare("olt", magnitude, constants.erf_split), small, large), x)


# Logarithms ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Logarithm:
    """log(x) = exponent ln2 + log(1 + g), the last written as g + rest; not yet right for x <= 0, inf and NaN."""

    exponent: str
    g: str
    rest: Callable[[str | None], str]


def _split_logarithm(code: FloatCode, x: str) -> _Logarithm:
    """Split off the exponent so that sqrt(1/2) <= 1 + g < sqrt(2), as fdlibm's log does.

    ``rest(low)`` is log(1+g) - g + low, where ``low`` is a small term to be added before the larger ones. For float it
    is a polynomial in g, for double fdlibm's series in s = g/(2+g).
    """
    builder, bits = code.builder, code.fraction_bits
    subnormal = code.compare("olt", x, _constants(code).smallest_normal)
    scaled = code.select(subnormal, code.multiply(x, 2.0**bits), x)
    pattern = code.bits(scaled)
    # The bits of sqrt(1/2): subtracting them makes the exponent field count from there.
    offset = code.literal_bits(math.sqrt(0.5))
    exponent = code.integer_binary("ashr", code.integer_binary("sub", pattern, offset), bits)
    mantissa = code.from_bits(code.integer_binary("sub", pattern, code.integer_binary("shl", exponent, bits)))
    exponent = code.integer_binary("sub", exponent, code.integer_select(subnormal, bits, 0))
    as_float = builder.emit(f"sitofp {code.integer} {exponent} to {code.type}")
    g = code.subtract(mantissa, 1.0)

    def single_rest(low: str | None) -> str:
        square = code.multiply(g, g)
        cube = code.multiply(square, g)
        q = code.estrin(table.LOG_F32, g)
        tail = code.multiply(cube, q) if low is None else code.multiply_add(cube, q, low)
        return code.multiply_add(square, -0.5, tail)

    def double_rest(low: str | None) -> str:
        s = code.divide(g, code.add(g, 2.0))
        z = code.multiply(s, s)
        series = code.multiply(code.estrin(table.LOG_F64, z), z)
        half_square = code.multiply(code.multiply(g, 0.5), g)
        inner = code.add(half_square, series)
        tail = code.multiply(s, inner) if low is None else code.multiply_add(s, inner, low)
        return code.subtract(tail, half_square)

    return _Logarithm(as_float, g, single_rest if code.single else double_rest)


def _logarithm_edges(code: FloatCode, x: str, result: str) -> str:
    """-inf at zeros, NaN below, inf and NaN as they came."""
    result = code.select(code.compare("olt", x, math.inf), result, x)
    result = code.select(code.compare("oeq", x, 0.0), -math.inf, result)
    return code.select(code.compare("olt", x, 0.0), math.nan, result)


def _log_unchecked(code: FloatCode, x: str) -> str:
    parts = _split_logarithm(code, x)
    constants = _constants(code)
    rest = parts.rest(code.multiply(parts.exponent, constants.ln2_low))
    return code.multiply_add(parts.exponent, constants.ln2_high, code.add(rest, parts.g))


def _log(code: FloatCode, x: str) -> str:
    """Exponent times ln2 plus the logarithm of the rest, the smallest terms added first; at most 1 ulp off."""
    return _logarithm_edges(code, x, _log_unchecked(code, x))


def _log2(code: FloatCode, x: str) -> str:
    """The exponent plus the rest times log2(e); exact at powers of two."""
    parts = _split_logarithm(code, x)
    rest = code.add(parts.rest(None), parts.g)
    return _logarithm_edges(code, x, code.multiply_add(rest, math.log2(math.e), parts.exponent))


def _log10(code: FloatCode, x: str) -> str:
    """Exponent times log10(2) in two parts plus the rest times log10(e)."""
    parts = _split_logarithm(code, x)
    constants = _constants(code)
    rest = code.add(parts.rest(None), parts.g)
    low = code.multiply_add(rest, math.log10(math.e), code.multiply(parts.exponent, constants.log10_2_low))
    return _logarithm_edges(code, x, code.multiply_add(parts.exponent, constants.log10_2_high, low))


def _log1p(code: FloatCode, x: str) -> str:
    """log(u) + c/u, where u + c is 1 + x exactly (Knuth's TwoSum); the sign is that of x."""
    u = code.add(x, 1.0)
    virtual = code.subtract(u, 1.0)
    error = code.add(code.subtract(1.0, code.subtract(u, virtual)), code.subtract(x, virtual))
    correction = code.divide(error, u)
    # At -1 and infinity the correction is NaN, and log(u) right without it.
    correction = code.select(code.compare("uno", correction, 0.0), 0.0, correction)
    return code.copysign(code.add(_log(code, u), correction), x)


exp = _own(_exp)
exp2 = _own(_exp2)
expm1 = _own(_expm1)
sinh = _own(_sinh)
cosh = _own(_cosh)
tanh = _own(_tanh)
erf = _own(_erf)
log = _own(_log)
log2 = _own(_log2)
log10 = _own(_log10)
log1p = _own(_log1p)

sin = _library("sin")
cos = _library("cos")
tan = _library("tan")
asin = _library("asin")
acos = _library("acos")
atan = _library("atan")
atan2 = _library("atan2")
asinh = _library("asinh")
acosh = _library("acosh")
atanh = _library("atanh")
cbrt = _library("cbrt")


# Powers -------------------------------------------------------------------------------------------------------------

_LARGEST_UNROLLED = {"double": 3, "float": 64}
"""Exponents up to which repeated multiplication is as accurate as the library; floats multiply as doubles."""


def _known_power(builder: LLVMBuilder, element_type: str, x: str, exponent: int) -> str:
    """x to a known integer power by squaring, in double; of 1/x where the exponent is negative."""
    code = FloatCode(builder, "double")
    base = x if element_type == "f64" else builder.emit(f"fpext float {x} to double")
    if exponent < 0:
        base = code.divide(1.0, base)
    result = unrolled_power(abs(exponent), base, code.name(1.0), code.multiply)
    return round_double_to(builder, element_type, result)


def powf(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
    """The C library's pow; a literal integral exponent of small size becomes multiplications."""
    known = literal_float(y)
    limit = _LARGEST_UNROLLED[llvm_type(signature.result)]
    if known is not None and known.is_integer() and abs(known) <= limit:
        return _known_power(builder, signature.result, x, int(known))
    return _pow(builder, signature, x, y)


_pow = _library("pow")


def fpowi(builder: LLVMBuilder, signature: Signature, x: str, n: str) -> str:
    """x to an integer power: multiplications where the exponent is a small literal, else the C library's pow.

    Repeated squaring for any exponent would lose as many ulp as the exponent is large. pow takes |x| and the exponent
    as double; the sign is set from the exponent's last bit, which a double may not hold.
    """
    target, exponent_type = signature.result, llvm_type(signature.operands[1])
    known = literal_integer(n)
    if known is not None and abs(known) <= _LARGEST_UNROLLED[llvm_type(target)]:
        return _known_power(builder, target, x, known)
    code = FloatCode(builder, "double")
    base = x if target == "f64" else builder.emit(f"fpext float {x} to double")
    exponent = builder.emit(f"sitofp {exponent_type} {n} to double")
    magnitude = code.library("pow", code.absolute(base), exponent)
    odd = n if exponent_type == "i1" else builder.emit(f"trunc {exponent_type} {n} to i1")
    return round_double_to(builder, target, code.select(odd, code.copysign(magnitude, base), magnitude))
