"""The primitives table: complete against xDSL, and its NumPy evaluations right for every type a row admits."""

from __future__ import annotations

import itertools
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects import math as xdsl_math

from xfuse.primitives.element_types import FLOATS, INTEGERS, is_float, is_integer, numpy_dtype, width
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES, signedness

OPERATIONS = {op.name: op for dialect in (arith.Arith, xdsl_math.Math) for op in dialect.operations}
PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LEAST_EXPONENT = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}
PREDICATES = {
    "arith.cmpi": arith.CMPI_COMPARISON_OPERATIONS,
    "arith.cmpf": arith.CMPF_COMPARISON_OPERATIONS,
}
WIDTHS: dict[str, Callable[[int, int], bool]] = {
    "arith.extf": lambda a, b: a < b,
    "arith.extsi": lambda a, b: a < b,
    "arith.extui": lambda a, b: a < b,
    "arith.truncf": lambda a, b: a > b,
    "arith.trunci": lambda a, b: a > b,
    "arith.bitcast": lambda a, b: a == b,
}


def evaluate(name: str, types: str, *arrays: Any, **attributes: str) -> Any:
    """One row on arrays, called as a backend calls it; no warning may come out."""
    left, right = types.split("->")
    signature = Signature(tuple(left.split(",")), tuple(right.split(",")), attributes)
    assert PRIMITIVES[name].types.check(signature.operands, signature.results) is None
    operands = [np.asarray(x, numpy_dtype(t)) for x, t in zip(arrays, signature.operands, strict=True)]
    evaluation = PRIMITIVES[name].numpy
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        return evaluation(*operands) if isinstance(evaluation, np.ufunc) else evaluation(signature, *operands)


def signatures(name: str) -> Iterator[Signature]:
    """Every use of a row that MLIR allows."""
    rule = PRIMITIVES[name].types
    letters = sorted({*rule.operands, *rule.results})
    for choice in itertools.product((*FLOATS, *INTEGERS), repeat=len(letters)):
        of = dict(zip(letters, choice, strict=True))
        operands, results = tuple(of[x] for x in rule.operands), tuple(of[x] for x in rule.results)
        if rule.check(operands, results) is not None:
            continue
        if name in WIDTHS and not WIDTHS[name](width(operands[0]), width(results[0])):
            continue
        for predicate in PREDICATES.get(name, [""]):
            yield Signature(operands, results, {"predicate": predicate} if predicate else {})


def specials(element_type: str) -> np.ndarray[Any, Any]:
    """The values where an element type is awkward."""
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return np.array([False, True])
    if is_integer(element_type):
        least = -(2 ** (width(element_type) - 1))
        return np.array([0, 1, -1, 2, 7, -7, least, least + 1, -least - 1, width(element_type)], dtype)
    tiny = 2.0 ** (LEAST_EXPONENT[element_type] - PRECISION[element_type] + 1)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e4, math.inf, -math.inf, math.nan, tiny, -3 * tiny]
    return np.array(values).astype(dtype)


def bits(x: Any) -> list[Any]:
    """Comparable content of an array: floats by bits, all NaNs alike."""
    x = np.atleast_1d(np.asarray(x))
    if x.dtype == np.bool_ or x.dtype.kind in "iu":
        return x.ravel().tolist()
    raw = x.view(f"i{x.dtype.itemsize}").ravel().tolist()
    return ["nan" if nan else each for each, nan in zip(raw, np.isnan(x).ravel().tolist(), strict=True)]


def same(got: Any, expected: Any, element_type: str) -> None:
    """Equal dtype and bits, all NaNs counting as one value."""
    assert got.dtype == numpy_dtype(element_type)
    assert bits(got) == bits(np.asarray(expected).astype(numpy_dtype(element_type)))


def nearest(exact: Fraction, element_type: str) -> float:
    """An exact number rounded to nearest even in a float type."""
    if exact == 0:
        return 0.0
    precision, least = PRECISION[element_type], LEAST_EXPONENT[element_type]
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    if abs(exact) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - precision + 1)
    rounded = round(exact / unit) * unit
    if abs(rounded) >= Fraction(2) ** (2 - least):
        return math.inf if exact > 0 else -math.inf
    return float(rounded)


def random_bits(element_type: str, count: int, seed: int) -> np.ndarray[Any, Any]:
    """Finite floats of all magnitudes."""
    dtype = numpy_dtype(element_type)
    raw = np.random.default_rng(seed).integers(0, 256, (2 * count, dtype.itemsize), np.uint8)
    x = raw.view(dtype)[:, 0]
    with np.errstate(all="ignore"):
        return x[np.isfinite(x)][:count]


# --- the table ---


def test_every_op_has_one_row_and_every_row_an_op() -> None:
    assert set(PRIMITIVES) == set(OPERATIONS) - {"arith.constant"}
    assert all(name == row.name for name, row in PRIMITIVES.items())


@pytest.mark.parametrize("name", PRIMITIVES)
def test_type_rule_counts_as_xdsl_does(name: str) -> None:
    definition = OPERATIONS[name].get_irdl_definition()
    assert PRIMITIVES[name].arity == len(definition.operands)
    assert len(PRIMITIVES[name].types.results) == len(definition.results)


def test_only_integer_division_is_not_speculatable() -> None:
    divisions = "divsi divui floordivsi ceildivsi ceildivui remsi remui"
    assert {row.name for row in PRIMITIVES.values() if not row.speculatable} == {
        f"arith.{x}" for x in divisions.split()
    }


def test_integer_rows_and_casts_are_exact() -> None:
    """Only float functions may err."""
    assert all(is_float(next(signatures(row.name)).result) for row in PRIMITIVES.values() if row.ulp)
    assert all(0 <= row.ulp <= 4 and row.cost > 0 for row in PRIMITIVES.values())


@pytest.mark.parametrize(
    ("name", "predicate", "expected"),
    [
        ("arith.cmpi", "slt", "signed"),
        ("arith.cmpi", "uge", "unsigned"),
        ("arith.cmpi", "eq", None),
        ("arith.divui", None, "unsigned"),
        ("arith.sitofp", None, "signed"),
        ("arith.addi", None, None),
    ],
)
def test_signedness_of_a_use(name: str, predicate: str | None, expected: str | None) -> None:
    signature = next(signatures(name))
    if predicate:
        signature = signature._replace(attributes={"predicate": predicate})
    assert signedness(PRIMITIVES[name], signature) == expected


def test_commutative_rows_commute() -> None:
    for row in PRIMITIVES.values():
        if row.commutative:
            for signature in signatures(row.name):
                x = specials(signature.operands[0])
                types = f"{','.join(signature.operands)}->{','.join(signature.results)}"
                one, other = evaluate(row.name, types, x[:, None], x), evaluate(row.name, types, x, x[:, None])
                for a, b in zip(*((r,) if len(signature.results) == 1 else r for r in (one, other)), strict=True):
                    assert bits(a) == bits(b), (row.name, types)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_dtype_and_shape_for_every_admitted_type(name: str) -> None:
    """On broadcast views, 0-d and empty arrays; no warning, no result in an operand's memory, 0-d equal to n-d."""
    for signature in signatures(name):
        types = f"{','.join(signature.operands)}->{','.join(signature.results)}"
        attributes = dict(signature.attributes)
        count = len(signature.operands)
        columns = [
            specials(t).reshape([-1 if k == position else 1 for k in range(count)])
            for position, t in enumerate(signature.operands)
        ]
        views = np.broadcast_arrays(*columns)
        scalars = [np.asarray(x[(-1,) * count]) for x in views]
        cases = {"columns": columns, "views": views, "scalars": scalars, "empty": [x[:0] for x in views]}
        results: dict[str, Any] = {}
        for case, arrays in cases.items():
            got = evaluate(name, types, *arrays, **attributes)
            results[case] = got if len(signature.results) > 1 else (got,)
            for array, result in zip(results[case], signature.results, strict=True):
                assert array.dtype == numpy_dtype(result), (types, case)
                assert array.shape == np.broadcast_shapes(*(x.shape for x in arrays)), (types, case)
                assert not any(np.may_share_memory(array, x) for x in arrays), (types, case)
        if PRIMITIVES[name].ulp == 0:
            for wide, view, scalar in zip(results["columns"], results["views"], results["scalars"], strict=True):
                assert bits(wide) == bits(view)
                assert bits(wide)[-1:] == bits(scalar)


# --- integers, against Python's ---


def _quotient(rounding: Callable[[Fraction], int]) -> Callable[[int, int, int], int]:
    return lambda x, y, w: rounding(Fraction(x, y)) if y else 0


def _remainder(x: int, y: int, w: int) -> int:
    return x - math.trunc(Fraction(x, y)) * y if y else 0


def _power(x: int, n: int, w: int) -> int:
    if n >= 0:
        return pow(x, n, 2**w)
    return math.trunc(Fraction(1, x) ** -n) if abs(x) == 1 else 0


SIGNED: dict[str, Callable[[int, int, int], int]] = {
    "arith.addi": lambda x, y, w: x + y,
    "arith.subi": lambda x, y, w: x - y,
    "arith.muli": lambda x, y, w: x * y,
    "arith.andi": lambda x, y, w: x & y,
    "arith.ori": lambda x, y, w: x | y,
    "arith.xori": lambda x, y, w: x ^ y,
    "arith.divsi": _quotient(math.trunc),
    "arith.floordivsi": _quotient(math.floor),
    "arith.ceildivsi": _quotient(math.ceil),
    "arith.remsi": _remainder,
    "arith.minsi": lambda x, y, w: min(x, y),
    "arith.maxsi": lambda x, y, w: max(x, y),
    "arith.shrsi": lambda x, y, w: x >> min(y % 2**w, w - 1),
    "math.ipowi": _power,
}
UNSIGNED: dict[str, Callable[[int, int, int], int]] = {
    "arith.divui": _quotient(math.trunc),
    "arith.ceildivui": _quotient(math.ceil),
    "arith.remui": _remainder,
    "arith.minui": lambda x, y, w: min(x, y),
    "arith.maxui": lambda x, y, w: max(x, y),
    "arith.shli": lambda x, y, w: x << y if y < w else 0,
    "arith.shrui": lambda x, y, w: x >> y if y < w else 0,
}


def as_signed(x: int, bit_width: int) -> int:
    """The low bits of an integer in two's complement."""
    x %= 2**bit_width
    return x - 2**bit_width if x >= 2 ** (bit_width - 1) else x


def integer_samples(element_type: str) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return specials("i1")
    info = np.iinfo(dtype)
    random = [*rng.integers(info.min, info.max, 12, dtype, endpoint=True), *rng.integers(-9, 9, 4)]
    return np.concatenate([specials(element_type), np.array(random, dtype)])


def logical_values(x: Any, element_type: str) -> list[int]:
    """Signed values; a true i1 is -1."""
    return [-int(v) if element_type == "i1" else int(v) for v in np.asarray(x).ravel().tolist()]


@pytest.mark.parametrize("element_type", INTEGERS)
@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_integer_op_agrees_with_python_integers(name: str, element_type: str) -> None:
    """Wrapping, x/0 = 0, INT_MIN/-1 = INT_MIN, shifts by the width or more, i1 as one-bit integers."""
    x = integer_samples(element_type)
    w = width(element_type)
    got = evaluate(name, f"{element_type},{element_type}->{element_type}", x[:, None], x)
    values = logical_values(x, element_type)
    if name in UNSIGNED:
        values = [v % 2**w for v in values]
    reference = (SIGNED | UNSIGNED)[name]
    assert logical_values(got, element_type) == [as_signed(reference(a, b, w), w) for a in values for b in values]


@pytest.mark.parametrize("element_type", INTEGERS)
def test_extended_ops_give_low_and_high(element_type: str) -> None:
    """Products of the full width, also at 64 bits, and the carry of a sum."""
    x = integer_samples(element_type)
    w = width(element_type)
    pair = f"{element_type},{element_type}->{element_type}"
    values = logical_values(x, element_type)
    for name, read in (("arith.mulsi_extended", lambda v: v), ("arith.mului_extended", lambda v: v % 2**w)):
        low, high = evaluate(name, f"{pair},{element_type}", x[:, None], x)
        products = [read(a) * read(b) for a in values for b in values]
        assert logical_values(low, element_type) == [as_signed(p, w) for p in products]
        assert logical_values(high, element_type) == [as_signed(p >> w, w) for p in products]
    total, carry = evaluate("arith.addui_extended", f"{pair},i1", x[:, None], x)
    sums = [a % 2**w + b % 2**w for a in values for b in values]
    assert logical_values(total, element_type) == [as_signed(s, w) for s in sums]
    assert carry.ravel().tolist() == [s >= 2**w for s in sums]


@pytest.mark.parametrize("element_type", INTEGERS)
def test_bit_counts_and_absolute_value(element_type: str) -> None:
    """ctlz and cttz of 0 are the width; the absolute value of INT_MIN is INT_MIN."""
    x = integer_samples(element_type)
    w = width(element_type)
    values = [v % 2**w for v in logical_values(x, element_type)]
    unary = f"{element_type}->{element_type}"
    expected = {
        "math.ctlz": [w - v.bit_length() for v in values],
        "math.cttz": [(v & -v).bit_length() - 1 if v else w for v in values],
        "math.ctpop": [v.bit_count() for v in values],
        "math.absi": [abs(as_signed(v, w)) for v in values],
    }
    for name, right in expected.items():
        got = logical_values(evaluate(name, unary, x), element_type)
        assert got == [as_signed(v, w) for v in right], name


@pytest.mark.parametrize("element_type", INTEGERS)
@pytest.mark.parametrize("predicate", arith.CMPI_COMPARISON_OPERATIONS)
def test_cmpi_reads_by_predicate(predicate: str, element_type: str) -> None:
    """True is below False when signed, above when unsigned."""
    x = integer_samples(element_type)
    values = logical_values(x, element_type)
    if predicate[0] == "u":
        values = [v % 2 ** width(element_type) for v in values]
    compare = getattr(operator, predicate if predicate in ("eq", "ne") else predicate[1:])
    got = evaluate("arith.cmpi", f"{element_type},{element_type}->i1", x[:, None], x, predicate=predicate)
    assert got.ravel().tolist() == [compare(a, b) for a in values for b in values]


@pytest.mark.parametrize(
    ("name", "x", "y", "expected"),
    [
        ("arith.divsi", -7, 2, -3),
        ("arith.floordivsi", -7, 2, -4),
        ("arith.ceildivsi", -7, 2, -3),
        ("arith.ceildivsi", 7, 2, 4),
        ("arith.divsi", 5, 0, 0),
        ("arith.floordivsi", -5, 0, 0),
        ("arith.ceildivsi", -5, 0, 0),
        ("arith.divui", -5, 0, 0),
        ("arith.ceildivui", -5, 0, 0),
        ("arith.divsi", -128, -1, -128),
        ("arith.floordivsi", -128, -1, -128),
        ("arith.ceildivsi", -128, -1, -128),
        ("arith.remsi", -128, -1, 0),
        ("arith.remsi", -7, 0, 0),
        ("arith.remsi", -7, 2, -1),
        ("arith.divui", -1, 2, 127),
        ("arith.ceildivui", -1, 2, -128),
        ("arith.remui", -1, 16, 15),
        ("arith.addi", 127, 1, -128),
        ("arith.shli", 1, 8, 0),
        ("arith.shli", 1, -1, 0),
        ("arith.shrui", -1, 8, 0),
        ("arith.shrsi", -2, 100, -1),
        ("arith.shrsi", 2, -1, 0),
        ("arith.maxui", -1, 1, -1),
        ("arith.maxsi", -1, 1, 1),
        ("math.ipowi", 3, 5, -13),
        ("math.ipowi", -1, -3, -1),
        ("math.ipowi", -1, -2, 1),
        ("math.ipowi", 1, -9, 1),
        ("math.ipowi", 2, -1, 0),
        ("math.ipowi", 0, -1, 0),
        ("math.ipowi", 0, 0, 1),
    ],
)
def test_integer_rule_at_i8(name: str, x: int, y: int, expected: int) -> None:
    """The rules of integer arithmetic one by one, with the right value written out."""
    same(evaluate(name, "i8,i8->i8", x, y), expected, "i8")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("arith.addi", [0, 1, 1, 0]),
        ("arith.subi", [0, 1, 1, 0]),
        ("arith.muli", [0, 0, 0, 1]),
        ("arith.divsi", [0, 0, 0, 1]),
        ("arith.remsi", [0, 0, 0, 0]),
        ("arith.maxsi", [0, 0, 0, 1]),
        ("arith.minsi", [0, 1, 1, 1]),
        ("arith.maxui", [0, 1, 1, 1]),
        ("arith.minui", [0, 0, 0, 1]),
        ("arith.shli", [0, 0, 1, 0]),
        ("arith.shrsi", [0, 0, 1, 1]),
    ],
)
def test_i1_is_a_one_bit_integer(name: str, expected: list[int]) -> None:
    """On (0,0), (0,1), (1,0), (1,1): sums are xor, products and; signed, True is -1."""
    same(evaluate(name, "i1,i1->i1", [0, 0, 1, 1], [0, 1, 0, 1]), np.array(expected, bool), "i1")


# --- casts and choices ---


def test_i1_casts() -> None:
    """A true i1 is -1 to the signed casts and 1 to the unsigned ones."""
    for element_type in ("i8", "i64"):
        same(evaluate("arith.extsi", f"i1->{element_type}", [False, True]), [0, -1], element_type)
        same(evaluate("arith.extui", f"i1->{element_type}", [False, True]), [0, 1], element_type)
    same(evaluate("arith.index_cast", "i1->index", [False, True]), [0, -1], "index")
    for element_type in FLOATS:
        same(evaluate("arith.sitofp", f"i1->{element_type}", [False, True]), [0.0, -1.0], element_type)
        same(evaluate("arith.uitofp", f"i1->{element_type}", [False, True]), [0.0, 1.0], element_type)


def test_integer_casts_extend_and_truncate() -> None:
    same(evaluate("arith.extsi", "i8->i32", [-128, 127]), [-128, 127], "i32")
    same(evaluate("arith.extui", "i8->i32", [-128, 127]), [128, 127], "i32")
    same(evaluate("arith.trunci", "i32->i8", [0x1FF, 0x80]), [-1, -128], "i8")
    same(evaluate("arith.trunci", "i32->i1", [2, 3, -1]), [False, True, True], "i1")
    same(evaluate("arith.index_cast", "index->i32", [2**31, -1]), [-(2**31), -1], "i32")
    same(evaluate("arith.index_cast", "i8->index", [-2]), [-2], "index")


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", [t for t in INTEGERS if t != "index"])
def test_float_to_integer_saturates(source: str, target: str) -> None:
    """Toward zero, ends of the range beyond it, NaN gives 0."""
    x = np.concatenate(
        [specials(source), random_bits(source, 400, 1), (2.0 ** np.arange(-2, 15)).astype(numpy_dtype(source))]
    )
    x = np.concatenate([x, np.negative(x)])
    w = width(target)
    for name, low, high in (
        ("arith.fptosi", -(2 ** (w - 1)), 2 ** (w - 1) - 1),
        ("arith.fptoui", 0, 2**w - 1),
    ):
        expected: list[int] = []
        for v in x.astype(np.float64).tolist():
            whole = 0 if math.isnan(v) else (high if v > 0 else low) if math.isinf(v) else math.trunc(v)
            expected.append(as_signed(max(low, min(high, whole)), w))
        assert logical_values(evaluate(name, f"{source}->{target}", x), target) == expected, name


def test_float_to_integer_at_64_bits() -> None:
    """2^63 is no int64 and 2^64 no uint64; the largest doubles below are."""
    x = [2.0**63, 2.0**63 - 1024, -(2.0**63), 2.0**64, 2.0**64 - 2048, -0.9]
    most, least = 2**63 - 1, -(2**63)
    same(evaluate("arith.fptosi", "f64->i64", x), [most, 2**63 - 1024, least, most, most, 0], "i64")
    same(evaluate("arith.fptoui", "f64->i64", x), [least, 2**63 - 1024, 0, -1, -2048, 0], "i64")


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", [t for t in INTEGERS if t != "index"])
def test_integer_to_float_rounds_once(source: str, target: str) -> None:
    """Nearest even from the exact integer; ml_dtypes alone would round bf16 twice."""
    x = integer_samples(source)
    if width(source) >= 32:
        ties = [s * (2**k + 2 ** (k - p) + d) for k in (25, 29) for p in (8, 11) for d in (-1, 0, 1) for s in (1, -1)]
        x = np.concatenate([x, np.array(ties, x.dtype)])
    if width(source) == 64:
        ties = [s * (2**k + 2 ** (k - p) + d) for k in (54, 62) for p in (8, 24) for d in (-1, 0, 1) for s in (1, -1)]
        x = np.concatenate([x, np.array(ties, x.dtype)])
    values = logical_values(x, source)
    for name, modulus in (("arith.sitofp", None), ("arith.uitofp", 2 ** width(source))):
        exact = [Fraction(v % modulus if modulus else v) for v in values]
        same(evaluate(name, f"{source}->{target}", x), [nearest(v, target) for v in exact], target)


def test_float_casts_round_once() -> None:
    """extf is exact; truncf is one rounding to nearest even, also from f64 to bf16."""
    for signature in signatures("arith.truncf"):
        (source,), target = signature.operands, signature.result
        near_ties = [1 + 2.0**-p + d for p in (8, 11) for d in (0.0, 2.0**-20, -(2.0**-20), 2.0**-40, -(2.0**-40))]
        x = np.concatenate(
            [specials(source), random_bits(source, 500, 2), np.array(near_ties).astype(numpy_dtype(source))]
        )
        expected = [
            nearest(Fraction(v), target) if math.isfinite(v) and v else v for v in x.astype(np.float64).tolist()
        ]
        got = evaluate("arith.truncf", f"{source}->{target}", x)
        assert bits(np.absolute(got)) == bits(np.absolute(np.array(expected)).astype(numpy_dtype(target)))
        assert np.array_equal(np.signbit(got.astype(float))[~np.isnan(x)], np.signbit(x.astype(float))[~np.isnan(x)])
    for signature in signatures("arith.extf"):
        x = specials(signature.operands[0])
        got = evaluate("arith.extf", f"{signature.operands[0]}->{signature.result}", x)
        assert bits(got.astype(np.float64)) == bits(x.astype(np.float64))


def test_bitcast_keeps_bits() -> None:
    same(evaluate("arith.bitcast", "f32->i32", [1.0, -0.0]), [0x3F800000, -(2**31)], "i32")
    same(evaluate("arith.bitcast", "i16->bf16", [0x3F80]), [1.0], "bf16")
    same(evaluate("arith.bitcast", "f16->bf16", [1.0]), [2.0**-7], "bf16")
    same(evaluate("arith.bitcast", "i64->f64", [0x3FF0000000000000]), [1.0], "f64")


def test_select_takes_sides_by_condition() -> None:
    same(evaluate("arith.select", "i1,bf16,bf16->bf16", [True, False], [1.0, 2.0], [3.0, 4.0]), [1.0, 4.0], "bf16")


CMPF_HOLDS = {
    "false": "", "oeq": "=", "ogt": ">", "oge": "=>", "olt": "<", "ole": "<=", "one": "<>", "ord": "<=>",
    "ueq": "=?", "ugt": ">?", "uge": "=>?", "ult": "<?", "ule": "<=?", "une": "<>?", "uno": "?", "true": "<=>?",
}  # fmt: skip
"""Of less, equal, greater and unordered, those for which a predicate holds."""


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize("predicate", arith.CMPF_COMPARISON_OPERATIONS)
def test_cmpf_predicates(predicate: str, element_type: str) -> None:
    """Ordered predicates are false for NaN, unordered ones true; -0 equals +0."""
    x, y = [1.0, -0.0, 3.0, math.nan, 1.0], [2.0, 0.0, 2.0, 1.0, math.nan]
    got = evaluate("arith.cmpf", f"{element_type},{element_type}->i1", x, y, predicate=predicate)
    assert got.tolist() == [relation in CMPF_HOLDS[predicate] for relation in "<=>??"]


# --- floats ---

EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "arith.addf": lambda x, y: x + y,
    "arith.subf": lambda x, y: x - y,
    "arith.mulf": lambda x, y: x * y,
    "arith.divf": lambda x, y: x / y,
}


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize("name", EXACT)
def test_arithmetic_is_correctly_rounded(name: str, element_type: str) -> None:
    """Narrow floats round after every op, subnormals included."""
    x, y = random_bits(element_type, 1000, 3), random_bits(element_type, 1000, 4)
    x[500:] = np.random.default_rng(5).standard_normal(500).astype(x.dtype)
    y[500:] = np.random.default_rng(6).standard_normal(500).astype(x.dtype)
    y[np.equal(y, 0)] = 1
    got = evaluate(name, f"{element_type},{element_type}->{element_type}", x, y)
    pairs = zip(x.astype(float).tolist(), y.astype(float).tolist(), strict=True)
    expected = [nearest(EXACT[name](Fraction(a), Fraction(b)), element_type) for a, b in pairs]
    assert np.array_equal(got.astype(float), np.array(expected))


@pytest.mark.parametrize("element_type", FLOATS)
def test_sqrt_is_correctly_rounded(element_type: str) -> None:
    x = np.absolute(random_bits(element_type, 500, 7))
    got = evaluate("math.sqrt", f"{element_type}->{element_type}", x)
    with mpmath.workprec(200):
        expected = [nearest(_fraction(mpmath.sqrt(mpmath.mpf(v))), element_type) for v in x.astype(float).tolist()]
    assert got.astype(float).tolist() == expected


def _fraction(x: Any) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize(
    ("name", "nan_wins", "zero"),
    [
        ("arith.maximumf", True, 0.0),
        ("arith.minimumf", True, -0.0),
        ("arith.maxnumf", False, 0.0),
        ("arith.minnumf", False, -0.0),
    ],
)
def test_min_max_order_zeros_and_treat_nan(name: str, nan_wins: bool, zero: float, element_type: str) -> None:
    """-0 < +0; maximumf and minimumf propagate NaN, maxnumf and minnumf ignore it."""
    types = f"{element_type},{element_type}->{element_type}"
    nan = math.nan
    got = evaluate(name, types, [0.0, -0.0, 0.0, -0.0], [-0.0, 0.0, 0.0, -0.0])
    same(got, [zero, zero, 0.0, -0.0], element_type)
    same(
        evaluate(name, types, [nan, 1.0, nan], [1.0, nan, nan]),
        [nan] * 3 if nan_wins else [1.0, 1.0, nan],
        element_type,
    )
    greater, smaller = (2.0, 0.0) if "max" in name else (-3.0, -math.inf)
    same(evaluate(name, types, [2.0, -0.0, -math.inf], [-3.0, 0.0, 0.0]), [greater, zero, smaller], element_type)


@pytest.mark.parametrize("element_type", FLOATS)
def test_rounding_ops(element_type: str) -> None:
    """round takes halves away from zero, roundeven to even; signs of zero stay."""
    unary = f"{element_type}->{element_type}"
    x = [0.5, -0.5, 1.5, 2.5, -2.5, -0.25, 0.25, -0.0, math.inf, -math.inf, math.nan, 127.0]
    inf, nan = math.inf, math.nan
    for name, expected in {
        "math.round": [1.0, -1.0, 2.0, 3.0, -3.0, -0.0, 0.0, -0.0, inf, -inf, nan, 127.0],
        "math.roundeven": [0.0, -0.0, 2.0, 2.0, -2.0, -0.0, 0.0, -0.0, inf, -inf, nan, 127.0],
        "math.floor": [0.0, -1.0, 1.0, 2.0, -3.0, -1.0, 0.0, -0.0, inf, -inf, nan, 127.0],
        "math.ceil": [1.0, -0.0, 2.0, 3.0, -2.0, -0.0, 1.0, -0.0, inf, -inf, nan, 127.0],
        "math.trunc": [0.0, -0.0, 1.0, 2.0, -2.0, -0.0, 0.0, -0.0, inf, -inf, nan, 127.0],
    }.items():
        same(evaluate(name, unary, x), expected, element_type)
    below_half = np.nextafter(np.asarray(0.5, numpy_dtype(element_type)), np.asarray(0.0, numpy_dtype(element_type)))
    odd = 2.0 ** (PRECISION[element_type] - 1) + 1
    same(evaluate("math.round", unary, [float(below_half), odd, -odd]), [0.0, odd, -odd], element_type)


def test_sign_ops() -> None:
    for t in FLOATS:
        same(evaluate("arith.negf", f"{t}->{t}", [0.0, -0.0, 2.0]), [-0.0, 0.0, -2.0], t)
        same(evaluate("math.absf", f"{t}->{t}", [-0.0, -math.inf, 2.0]), [0.0, math.inf, 2.0], t)
        same(evaluate("math.copysign", f"{t},{t}->{t}", [1.0, -2.0, 0.0], [-0.0, 0.0, -3.0]), [-1.0, 2.0, -0.0], t)


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize("kind", ["random", "moderate", "cancelling", "underflowing"])
def test_fma_rounds_once(kind: str, element_type: str) -> None:
    """Correctly rounded, whatever cancels, overflows or underflows."""
    dtype = numpy_dtype(element_type)
    rng = np.random.default_rng(8)
    x, y, z = (random_bits(element_type, 400, seed) for seed in (9, 10, 11))
    if kind != "random":
        x, y, z = (rng.standard_normal(400).astype(dtype) for _ in range(3))
    with np.errstate(all="ignore"):
        if kind == "underflowing":
            x = np.ldexp(x.astype(float), LEAST_EXPONENT[element_type] // 2 - 5).astype(dtype)
            y = np.ldexp(y.astype(float), LEAST_EXPONENT[element_type] // 2).astype(dtype)
        if kind != "moderate" and kind != "random":
            z = np.negative(np.multiply(x, y))
    got = evaluate("math.fma", f"{','.join([element_type] * 3)}->{element_type}", x, y, z).astype(float)
    triples = zip(*(a.astype(float).tolist() for a in (x, y, z)), strict=True)
    for value, (a, b, c) in zip(got.tolist(), triples, strict=True):
        if math.isfinite(c):
            assert value == nearest(Fraction(a) * Fraction(b) + Fraction(c), element_type)


def test_fma_just_below_a_tie() -> None:
    """1 + ulp + (ulp/2)(1 - tiny) rounds down; rounding in float64 on the way would make it a tie and round up."""
    for t, ulp, tiny in (("f32", 2.0**-23, 2.0**-20), ("f64", 2.0**-52, 2.0**-30)):
        got = evaluate("math.fma", f"{t},{t},{t}->{t}", [ulp / 2 * (1 + tiny)], [1 - tiny], [1 + ulp])
        same(got, [1 + ulp], t)


def test_fma_special_values() -> None:
    """Infinities, NaN and signed zeros as in IEEE 754; an overflowing product under an infinite addend is no NaN."""
    inf, nan = math.inf, math.nan
    x = [1e300, inf, inf, 0.0, -0.0, 1.0, 1e200, 2.0, nan, 1e300, -1e-300]
    y = [1e300, 2.0, 2.0, 3.0, 3.0, 1.0, 1e200, 3.0, 1.0, 1e300, 1e-300]
    z = [-inf, 1.0, -inf, -0.0, -0.0, -1.0, inf, nan, 1.0, -1e308, 0.0]
    right = [-inf, inf, nan, 0.0, -0.0, 0.0, inf, nan, nan, inf, -0.0]
    same(evaluate("math.fma", "f64,f64,f64->f64", x, y, z), right, "f64")


@pytest.mark.parametrize("element_type", FLOATS)
def test_fpowi_small_exponents_are_products(element_type: str) -> None:
    """x**2 has the bits of x*x, x**-1 those of 1/x, x**0 is 1 even for NaN."""
    x = np.concatenate([specials(element_type), random_bits(element_type, 200, 12)])
    types = f"{element_type},i32->{element_type}"
    with np.errstate(all="ignore"):
        same(evaluate("math.fpowi", types, x, 2), np.multiply(x, x), element_type)
        same(evaluate("math.fpowi", types, x, -1), np.divide(np.ones_like(x), x), element_type)
    same(evaluate("math.fpowi", types, x, 1), x, element_type)
    same(evaluate("math.fpowi", types, x, 0), np.ones_like(x), element_type)
    same(evaluate("math.fpowi", f"{element_type},i1->{element_type}", 4.0, True), 0.25, element_type)


def test_fpowi_signs_and_wide_exponents() -> None:
    """The sign goes by the exponent's last bit, also past 2^53; exponents of 64 bits lose nothing."""
    inf = math.inf
    x, n = [-0.0, -0.0, -2.0, -2.0, -inf, -1.0, -1.0], [-3, 3, 5, -4, -3, 2**62 + 1, -(2**63)]
    same(evaluate("math.fpowi", "f64,i64->f64", x, n), [-inf, -0.0, -32.0, 0.0625, -0.0, -1.0, 1.0], "f64")
    same(evaluate("math.fpowi", "f64,i64->f64", [0.0, inf, 0.5], [-(2**62) - 1] * 3), [inf, 0.0, inf], "f64")
    got = float(evaluate("math.fpowi", "f64,i64->f64", 1 + 2.0**-52, 2**59 + 2047))
    with mpmath.workprec(200):
        exact = mpmath.mpf(1 + 2.0**-52) ** (2**59 + 2047)
        assert abs(got - exact) <= PRIMITIVES["math.fpowi"].ulp * math.ulp(got)


MPMATH: dict[str, Callable[..., Any]] = {
    **{f"math.{f}": getattr(mpmath, f) for f in "exp expm1 log log10 log1p sin cos tan asin acos atan".split()},
    **{f"math.{f}": getattr(mpmath, f) for f in "sinh cosh tanh asinh acosh atanh erf atan2".split()},
    "math.cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "math.exp2": lambda x: mpmath.mpf(2) ** x,
    "math.log2": lambda x: mpmath.log(x, 2),
    "math.rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "math.powf": lambda x, y: x**y,
    "math.fpowi": lambda x, n: x ** int(n),
}
EXPONENTIAL = ("math.exp", "math.exp2", "math.expm1", "math.sinh", "math.cosh")
DOMAINS = {
    **dict.fromkeys(("math.log", "math.log2", "math.log10", "math.rsqrt"), (0.0, math.inf)),
    **dict.fromkeys(("math.asin", "math.acos", "math.atanh"), (-1.0, 1.0)),
    "math.log1p": (-1.0, math.inf),
    "math.acosh": (1.0, math.inf),
}


def test_every_inexact_row_is_measured() -> None:
    assert {row.name for row in PRIMITIVES.values() if row.ulp} == {*MPMATH, "math.fma"}


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize("name", MPMATH)
def test_error_within_declared_ulp(name: str, element_type: str) -> None:
    """Against mpmath, in units in the last place of the result type, on all magnitudes and near the hard points."""
    rng = np.random.default_rng(13)
    x = np.concatenate(
        [
            random_bits(element_type, 60, 14).astype(float),
            rng.uniform(-1, 1, 60),
            rng.uniform(-80, 80, 60),
            1 + rng.uniform(-1e-2, 1e-2, 30),
            np.pi / 2 * rng.integers(-20, 20, 30),
        ]
    )
    low, high = DOMAINS.get(name, (-math.inf, math.inf))
    with np.errstate(all="ignore"):
        x = x.astype(numpy_dtype(element_type))
    values = x.astype(float)
    x = x[(values > low) & (values < high)]
    operands = [x]
    types = f"{element_type}->{element_type}"
    if name == "math.powf":
        operands = [np.absolute(x), rng.uniform(-9, 9, len(x)).astype(x.dtype)]
        types = f"{element_type},{types}"
    elif name == "math.fpowi":
        operands = [x, rng.integers(-9, 10, len(x)).astype(np.int32)]
        types = f"{element_type},i32->{element_type}"
    elif name == "math.atan2":
        operands = [x, rng.permutation(x)]
        types = f"{element_type},{types}"
    got = evaluate(name, types, *operands).astype(float).tolist()
    precision, least = PRECISION[element_type], LEAST_EXPONENT[element_type]
    largest = (2 - 2.0 ** (1 - precision)) * 2.0 ** (1 - least)
    for value, *at in zip(got, *(o.astype(float).tolist() for o in operands), strict=True):
        # mpmath would compute astronomic exponentials, and has no 0 to a negative power.
        if (name in EXPONENTIAL and abs(at[0]) > 1e5) or (name in ("math.powf", "math.fpowi") and at[0] == 0):
            continue
        with mpmath.workprec(1200 if name in ("math.sin", "math.cos", "math.tan") else 160):
            exact = MPMATH[name](*map(mpmath.mpf, at))
            if abs(exact) > largest:
                assert math.isinf(value) or abs(value) == largest, at
                continue
            exponent = mpmath.frexp(exact)[1] - 1 if exact else least
            unit = mpmath.ldexp(1, max(exponent, least) - precision + 1)
            assert abs(value - exact) <= PRIMITIVES[name].ulp * unit, at
