"""LLVM emission of arith's arithmetic, comparisons and choices, and of math's exact functions.

One function per op, named after it. No instruction emitted here can trap or give poison that is used: divisors and
shift amounts are made safe first. The NumPy evaluations make the same choices.
"""

from __future__ import annotations

from collections.abc import Callable

from xfuse.errors import UnsupportedError
from xfuse.primitives.element_types import llvm_type, width
from xfuse.primitives.llvm_code import FloatCode
from xfuse.primitives.llvm_narrow import NARROW, odd_sum, round_double_to, round_to
from xfuse.primitives.llvm_text import literal_float, literal_integer
from xfuse.primitives.primitive import LLVMBuilder, LLVMEmission, Signature

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = tuple("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split())


def float_code(builder: LLVMBuilder, element_type: str) -> FloatCode:
    """The instructions on values of a float element type."""
    return FloatCode(builder, llvm_type(element_type))


# Integers -----------------------------------------------------------------------------------------------------------


def _integer(instruction: str) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
        return builder.emit(f"{instruction} {llvm_type(signature.result)} {x}, {y}")

    emission.__doc__ = f"LLVM's {instruction}: wraps, and is i1 arithmetic on i1."
    return emission


addi = _integer("add")
subi = _integer("sub")
muli = _integer("mul")
andi = _integer("and")
ori = _integer("or")
xori = _integer("xor")


def _choice(predicate: str) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
        kind = llvm_type(signature.result)
        holds = builder.emit(f"icmp {predicate} {kind} {x}, {y}")
        return builder.emit(f"select i1 {holds}, {kind} {x}, {kind} {y}")

    emission.__doc__ = f"The operand for which {predicate} holds against the other."
    return emission


minsi = _choice("slt")
maxsi = _choice("sgt")
minui = _choice("ult")
maxui = _choice("ugt")


def addui_extended(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> tuple[str, str]:
    """Sum, and whether it wrapped as an unsigned sum."""
    kind = llvm_type(signature.result)
    total = builder.emit(f"add {kind} {x}, {y}")
    return total, builder.emit(f"icmp ult {kind} {total}, {x}")


def _extended(extension: str) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> tuple[str, str]:
        narrow, bits = llvm_type(signature.result), width(signature.result)
        wide = f"i{2 * bits}"
        factors = [builder.emit(f"{extension} {narrow} {name} to {wide}") for name in (x, y)]
        product = builder.emit(f"mul {wide} {factors[0]}, {factors[1]}")
        high = builder.emit(f"lshr {wide} {product}, {bits}")
        return (
            builder.emit(f"trunc {wide} {product} to {narrow}"),
            builder.emit(f"trunc {wide} {high} to {narrow}"),
        )

    emission.__doc__ = f"Low and high half of the product of the operands after {extension}."
    return emission


mulsi_extended = _extended("sext")
mului_extended = _extended("zext")


class _Division:
    """Quotient and remainder that never trap: by 0 both are 0, INT_MIN / -1 is INT_MIN with remainder 0."""

    def __init__(self, builder: LLVMBuilder, kind: str, signed: bool, x: str, y: str) -> None:
        self.builder, self.kind, self.x, self.y = builder, kind, x, y
        self.by_zero = builder.emit(f"icmp eq {kind} {y}, 0")
        unsafe = self.by_zero
        if signed:
            lowest = builder.emit(f"icmp eq {kind} {x}, {builder.constant(kind, 1 << (int(kind[1:]) - 1))}")
            minus_one = builder.emit(f"icmp eq {kind} {y}, -1")
            unsafe = builder.emit(f"or i1 {unsafe}, {builder.emit(f'and i1 {lowest}, {minus_one}')}")
        # Dividing INT_MIN by 1 instead of -1 gives the wanted quotient and remainder at once.
        self.divisor = builder.emit(f"select i1 {unsafe}, {kind} 1, {kind} {y}")
        self.letter = "s" if signed else "u"

    def zero_if_by_zero(self, name: str) -> str:
        return self.builder.emit(f"select i1 {self.by_zero}, {self.kind} 0, {self.kind} {name}")

    def raw_quotient(self) -> str:
        return self.builder.emit(f"{self.letter}div {self.kind} {self.x}, {self.divisor}")

    def remainder(self) -> str:
        """0 whatever x is where the divisor is 0, as x mod 1 is."""
        return self.builder.emit(f"{self.letter}rem {self.kind} {self.x}, {self.divisor}")

    def adjusted(self, step: int, signs_equal: bool | None) -> str:
        """The quotient moved by ``step`` where the division left a remainder, and the signs are as asked."""
        builder, kind = self.builder, self.kind
        quotient = self.raw_quotient()
        product = builder.emit(f"mul {kind} {quotient}, {self.divisor}")
        moves = builder.emit(f"icmp ne {kind} {product}, {self.x}")
        if signs_equal is not None:
            signs = builder.emit(f"xor {kind} {self.x}, {self.divisor}")
            fits = builder.emit(f"icmp {'sge' if signs_equal else 'slt'} {kind} {signs}, 0")
            moves = builder.emit(f"and i1 {moves}, {fits}")
        moved = builder.emit(f"add {kind} {quotient}, {step}")
        chosen = builder.emit(f"select i1 {moves}, {kind} {moved}, {kind} {quotient}")
        return self.zero_if_by_zero(chosen)


def _quotient(signed: bool, finish: Callable[[_Division], str]) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
        kind = llvm_type(signature.result)
        if kind == "i1":  # -1 is also 1 here: true/true is true, anything else 0
            return builder.emit(f"and i1 {x}, {y}")
        return finish(_Division(builder, kind, signed, x, y))

    return emission


def _remainder(signed: bool) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
        kind = llvm_type(signature.result)
        if kind == "i1":
            return "false"
        return _Division(builder, kind, signed, x, y).remainder()

    return emission


divsi = _quotient(True, lambda division: division.zero_if_by_zero(division.raw_quotient()))
divui = _quotient(False, lambda division: division.zero_if_by_zero(division.raw_quotient()))
floordivsi = _quotient(True, lambda division: division.adjusted(-1, signs_equal=False))
ceildivsi = _quotient(True, lambda division: division.adjusted(1, signs_equal=True))
ceildivui = _quotient(False, lambda division: division.adjusted(1, signs_equal=None))
remsi = _remainder(True)
remui = _remainder(False)


def _shift(instruction: str) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
        kind, bits = llvm_type(signature.result), width(signature.result)
        if kind == "i1":  # the only amount but 0 is the width
            keep = builder.emit(f"xor i1 {y}, true")
            return builder.emit(f"and i1 {x}, {keep}")
        fits = builder.emit(f"icmp ult {kind} {y}, {bits}")
        shifted = builder.emit(f"{instruction} {kind} {x}, {y}")
        return builder.emit(f"select i1 {fits}, {kind} {shifted}, {kind} 0")

    emission.__doc__ = f"LLVM's {instruction}; an amount of the width or more gives 0."
    return emission


shli = _shift("shl")
shrui = _shift("lshr")


def shrsi(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
    """Arithmetic shift right; an amount of the width or more leaves the sign."""
    kind, bits = llvm_type(signature.result), width(signature.result)
    if kind == "i1":
        return x
    fits = builder.emit(f"icmp ult {kind} {y}, {bits}")
    amount = builder.emit(f"select i1 {fits}, {kind} {y}, {kind} {bits - 1}")
    return builder.emit(f"ashr {kind} {x}, {amount}")


def absi(builder: LLVMBuilder, signature: Signature, x: str) -> str:
    """Magnitude; INT_MIN stays."""
    kind = llvm_type(signature.result)
    if kind == "i1":
        return x
    return builder.call(kind, f"llvm.abs.{kind}", [(kind, x), ("i1", "false")])


def _count_zeros(function: str) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str) -> str:
        kind = llvm_type(signature.result)
        if kind == "i1":
            return builder.emit(f"xor i1 {x}, true")
        return builder.call(kind, f"llvm.{function}.{kind}", [(kind, x), ("i1", "false")])

    emission.__doc__ = f"LLVM's {function}; the width for 0."
    return emission


ctlz = _count_zeros("ctlz")
cttz = _count_zeros("cttz")


def ctpop(builder: LLVMBuilder, signature: Signature, x: str) -> str:
    """Number of set bits."""
    kind = llvm_type(signature.result)
    return x if kind == "i1" else builder.call(kind, f"llvm.ctpop.{kind}", [(kind, x)])


def ipowi(builder: LLVMBuilder, signature: Signature, x: str, n: str) -> str:
    """x to the n by repeated squaring, over all bits of the exponent; 1/x^-n rounded to zero where n is negative."""
    kind, bits = llvm_type(signature.result), width(signature.result)
    if kind == "i1":
        return builder.emit(f"or i1 {x}, {builder.emit(f'xor i1 {n}, true')}")
    known = literal_integer(n)
    if known is not None and known >= 0:
        return unrolled_power(known, x, builder.constant(kind, 1), lambda a, b: builder.emit(f"mul {kind} {a}, {b}"))
    result, square, left = builder.constant(kind, 1), x, n
    for bit in range(bits - 1):
        odd = builder.emit(f"trunc {kind} {left} to i1")
        product = builder.emit(f"mul {kind} {result}, {square}")
        result = builder.emit(f"select i1 {odd}, {kind} {product}, {kind} {result}")
        if bit < bits - 2:
            square = builder.emit(f"mul {kind} {square}, {square}")
            left = builder.emit(f"lshr {kind} {left}, 1")
    odd = builder.emit(f"trunc {kind} {n} to i1")
    is_one = builder.emit(f"icmp eq {kind} {x}, 1")
    is_minus_one = builder.emit(f"icmp eq {kind} {x}, -1")
    flips = builder.emit(f"select i1 {odd}, {kind} -1, {kind} 1")
    inverse = builder.emit(f"select i1 {is_minus_one}, {kind} {flips}, {kind} 0")
    inverse = builder.emit(f"select i1 {is_one}, {kind} 1, {kind} {inverse}")
    negative = builder.emit(f"icmp slt {kind} {n}, 0")
    return builder.emit(f"select i1 {negative}, {kind} {inverse}, {kind} {result}")


def unrolled_power(exponent: int, x: str, one: str, multiply: Callable[[str, str], str]) -> str:
    """x to a known exponent with the fewest squarings: left to right over its binary digits."""
    if exponent == 0:
        return one
    result = x
    for digit in bin(exponent)[3:]:
        result = multiply(result, result)
        if digit == "1":
            result = multiply(result, x)
    return result


# Floats -------------------------------------------------------------------------------------------------------------


def _rounded(function: Callable[..., str]) -> LLVMEmission:
    """An op computed in the register type and rounded to the element type after it.

    For f16 and bf16 that is one correct rounding of sum, difference, product, quotient and square root: float has more
    than twice their significant bits (Figueroa, "When is double rounding innocuous?").
    """

    def emission(builder: LLVMBuilder, signature: Signature, *operands: str) -> str:
        name = function(float_code(builder, signature.result), *operands)
        return round_to(builder, signature.result, name)

    emission.__doc__ = function.__doc__
    return emission


def _exact(function: Callable[..., str]) -> LLVMEmission:
    """An op whose result the element type always holds exactly."""

    def emission(builder: LLVMBuilder, signature: Signature, *operands: str) -> str:
        return function(float_code(builder, signature.result), *operands)

    emission.__doc__ = function.__doc__
    return emission


def _intrinsic(function: str) -> Callable[[FloatCode, str], str]:
    def emit(code: FloatCode, x: str) -> str:
        return code.intrinsic(function, x)

    emit.__doc__ = f"LLVM's intrinsic {function}."
    return emit


def _reciprocal_root(code: FloatCode, x: str) -> str:
    """1 / sqrt(x), each step rounded to the register type."""
    return code.divide(1.0, code.intrinsic("sqrt", x))


addf = _rounded(FloatCode.add)
subf = _rounded(FloatCode.subtract)
mulf = _rounded(FloatCode.multiply)
divf = _rounded(FloatCode.divide)
sqrt = _rounded(_intrinsic("sqrt"))
rsqrt = _rounded(_reciprocal_root)
negf = _exact(FloatCode.negate)
absf = _exact(FloatCode.absolute)
copysign = _exact(FloatCode.copysign)
ceil = _exact(_intrinsic("ceil"))
floor = _exact(_intrinsic("floor"))
trunc = _exact(_intrinsic("trunc"))
roundeven = _exact(_intrinsic("roundeven"))
round = _exact(_intrinsic("round"))


def fma(builder: LLVMBuilder, signature: Signature, x: str, y: str, z: str) -> str:
    """x*y + z in one rounding, by hardware or by exact products and sums rounded to odd."""
    kind = signature.result
    code = FloatCode(builder, "double")
    if kind not in NARROW and builder.has_fma:
        return float_code(builder, kind).intrinsic("fma", x, y, z)
    if kind == "f64":
        return code.library("fma", x, y, z)
    a, b, c = (builder.emit(f"fpext float {name} to double") for name in (x, y, z))
    return round_double_to(builder, kind, odd_sum(code, code.multiply(a, b), c))


def _extremum(largest: bool, ignores_nan: bool) -> LLVMEmission:
    """Maximum or minimum with -0 < +0, by compares and selects.

    A literal operand leaves one compare and one select: ties go to the operand that is right for zeros of either sign.
    """
    beats, ties = ("ogt", "and") if largest else ("olt", "or")

    def with_literal(code: FloatCode, x: str, value: float) -> str:
        # x wins a tie only where its zero, of unknown sign, may stand for the literal's.
        literal_wins_ties = not (value == 0 and (_negative(value) == largest))
        order = ("ole" if literal_wins_ties else "olt") if largest else ("oge" if literal_wins_ties else "ogt")
        if ignores_nan:
            order = "u" + order[1:]
        return code.select(code.compare(order, x, value), value, x)

    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
        code = float_code(builder, signature.result)
        for operand, other in ((y, x), (x, y)):
            value = literal_float(operand)
            if value is not None and value == value:
                return with_literal(code, other, value)
        chosen = code.select(code.compare(beats, x, y), x, y)
        tied = code.from_bits(code.integer_binary(ties, code.bits(x), code.bits(y)))
        chosen = code.select(code.compare("oeq", x, y), tied, chosen)
        if ignores_nan:
            return code.select(code.compare("uno", y, 0.0), x, chosen)
        return code.select(code.compare("uno", x, 0.0), x, chosen)

    return emission


def _negative(value: float) -> bool:
    return str(value)[0] == "-"


maximumf = _extremum(largest=True, ignores_nan=False)
minimumf = _extremum(largest=False, ignores_nan=False)
maxnumf = _extremum(largest=True, ignores_nan=True)
minnumf = _extremum(largest=False, ignores_nan=True)


# Choices ------------------------------------------------------------------------------------------------------------


def _comparison(instruction: str, known: tuple[str, ...]) -> LLVMEmission:
    def emission(builder: LLVMBuilder, signature: Signature, x: str, y: str) -> str:
        predicate = signature.attributes.get("predicate", "")
        if predicate not in known:
            raise UnsupportedError(f"predicate {predicate!r}: expected one of {', '.join(known)}")
        return builder.emit(f"{instruction} {predicate} {llvm_type(signature.operands[0])} {x}, {y}")

    emission.__doc__ = f"LLVM's {instruction}; index is i64, and a true i1 is -1 to signed predicates."
    return emission


cmpi = _comparison("icmp", INTEGER_PREDICATES)
cmpf = _comparison("fcmp", FLOAT_PREDICATES)


def select(builder: LLVMBuilder, signature: Signature, condition: str, x: str, y: str) -> str:
    """x where the condition holds, else y."""
    kind = llvm_type(signature.result)
    return builder.emit(f"select i1 {condition}, {kind} {x}, {kind} {y}")
