"""LLVM emissions: special values, error bounds against mpmath, and vector code without library calls."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from xfuse.backends.llvm import jit
from xfuse.backends.llvm.loops import build_loop
from xfuse.backends.llvm.target import Target
from xfuse.backends.llvm.ufunc import Loop, make_ufunc
from xfuse.errors import UnsupportedError
from xfuse.primitives import llvm_text
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.literals import to_bits
from xfuse.primitives.llvm_emissions import EMISSIONS
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES

mp = pytest.importorskip("mpmath")

HOST = jit.host_target()
BARE = Target(status_word=HOST.status_word)
"""This machine as if it had neither FMA nor half conversion nor wide vectors."""

INF, NAN = math.inf, math.nan
BOUNDS = {
    "exp": 2, "log": 2, "tanh": 2, "erf": 2,
    "exp2": 4, "expm1": 4, "log1p": 4, "log2": 4, "log10": 4, "sinh": 4, "cosh": 4, "rsqrt": 2,
}  # fmt: skip
EXACT = {
    "exp": mp.exp, "log": mp.log, "tanh": mp.tanh, "erf": mp.erf, "exp2": lambda x: mp.power(2, x), "expm1": mp.expm1,
    "log1p": mp.log1p, "log2": lambda x: mp.log(x, 2), "log10": mp.log10, "sinh": mp.sinh, "cosh": mp.cosh,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
}  # fmt: skip
LOGARITHMS = ("log", "log2", "log10", "rsqrt")


def loop_text(
    op: str, operands: Sequence[str], results: Sequence[str], target: Target, attributes: dict[str, str] | None = None
) -> str:
    signature = Signature(tuple(operands), tuple(results), attributes or {})

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        emitted = EMISSIONS[op](builder, signature, *names)
        return emitted if isinstance(emitted, tuple) else (emitted,)

    return build_loop(op, operands, results, body, target)


@cache
def kernel(
    op: str, operands: tuple[str, ...], results: tuple[str, ...], target: Target = HOST, predicate: str = ""
) -> np.ufunc:
    text = loop_text(op, operands, results, target, {"predicate": predicate} if predicate else None)
    types = (tuple(map(numpy_dtype, operands)), tuple(map(numpy_dtype, results)))
    return make_ufunc(op, [Loop(operands, results, *types, text)], "")


def unary(op: str, element_type: str, target: Target = HOST) -> np.ufunc:
    return kernel(f"math.{op}", (element_type,), (element_type,), target)


def same(got: Any, wanted: Any) -> bool:
    """Equal, zeros by sign, all NaNs one."""
    return (got != got and wanted != wanted) or (got == wanted and math.copysign(1, got) == math.copysign(1, wanted))


def samples(op: str, element_type: str, count: int) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(7)
    single = element_type == "f32"
    edge = {"exp": 88, "exp2": 127, "expm1": 88, "sinh": 89, "cosh": 89, "tanh": 10, "erf": 4}.get(op, 1.0)
    edge *= 1 if single or op in ("tanh", "erf") else 7.9
    parts = [
        generator.uniform(-edge, edge, count),
        generator.uniform(-1, 1, count),
        generator.uniform(0.5, 2, count),
        generator.choice([-1, 1], count) * 2.0 ** generator.uniform(-60, 3, count),
        2.0 ** generator.uniform(-148 if single else -1070, 127 if single else 1023, count),
    ]
    if op in ("exp", "exp2"):  # subnormal results
        unit = 1.0 if op == "exp2" else math.log(2)
        parts.append(generator.uniform(*((-149, -125) if single else (-1074, -1021)), count) * unit)
    x = np.concatenate(parts).astype(numpy_dtype(element_type))
    if op in LOGARITHMS:
        x = np.abs(x)
        return x[x > 0]
    if op == "log1p":
        return x[x > -1]
    return x[np.abs(x) <= edge] if op not in ("tanh", "erf") else x


def error_in_ulp(got: np.ndarray[Any, Any], exact: Sequence[Any]) -> float:
    worst = 0.0
    for value, true in zip(got, exact, strict=True):
        with np.errstate(all="ignore"):
            nearest = got.dtype.type(float(true))
        if not np.isfinite(nearest):
            assert value == nearest
            continue
        worst = max(worst, float(abs(mp.mpf(float(value)) - true) / mp.mpf(float(np.spacing(np.abs(nearest))))))
    return worst


@pytest.mark.parametrize("target", [HOST, BARE], ids=["host", "bare"])
@pytest.mark.parametrize("element_type", ["f32", "f64"])
@pytest.mark.parametrize("op", sorted(BOUNDS))
def test_error_bounds(op: str, element_type: str, target: Target) -> None:
    x = samples(op, element_type, 250)
    got = unary(op, element_type, target)(x)
    with mp.workprec(120):
        assert error_in_ulp(got, [EXACT[op](mp.mpf(float(value))) for value in x]) <= BOUNDS[op]


@pytest.mark.parametrize("op", ["exp", "log", "tanh", "erf", "exp2", "expm1", "log1p", "log2", "log10"])
def test_many_floats_against_double(op: str) -> None:
    x = samples(op, "f32", 40_000)
    if op == "erf":
        reference = np.vectorize(math.erf)(x.astype(np.float64))
    else:
        with np.errstate(all="ignore"):
            reference = getattr(np, op)(x.astype(np.float64))
    got = unary(op, "f32")(x)
    with np.errstate(all="ignore"):
        nearest = reference.astype(np.float32)
        finite = np.isfinite(nearest)
        error = np.abs(got.astype(np.float64) - reference) / np.spacing(np.abs(nearest))
    assert np.all(got[~finite] == nearest[~finite])
    assert error[finite].max() <= BOUNDS[op]


SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e5, INF), (-1e5, 0.0)],
    "exp2": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e5, INF), (-1e5, 0.0), (10, 1024), (-2, 0.25)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (NAN, NAN), (1e5, INF), (-1e5, -1), (1e-40, 1e-40)],
    "log": [(1, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (-1, NAN), (NAN, NAN), (-1e-7, NAN)],
    "log2": [(1, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (-1, NAN), (NAN, NAN), (8, 3), (0.125, -3)],
    "log10": [(1, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (-1, NAN), (NAN, NAN), (1000, 3), (10, 1)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1, -INF), (INF, INF), (-INF, NAN), (-2, NAN), (NAN, NAN), (1e-40, 1e-40)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (NAN, NAN), (50, 1), (-50, -1), (1e-40, 1e-40)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (NAN, NAN), (50, 1), (-50, -1)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (1e5, INF), (-1e5, -INF), (1e-40, 1e-40)],
    "cosh": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, INF), (NAN, NAN), (1e5, INF), (-1e5, INF)],
    "rsqrt": [(4, 0.5), (0.0, INF), (-0.0, -INF), (INF, 0.0), (-1, NAN), (NAN, NAN)],
    "sqrt": [(4, 2), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1, NAN), (NAN, NAN)],
    "round": [(0.5, 1), (-0.5, -1), (2.5, 3), (-0.2, -0.0), (INF, INF), (NAN, NAN)],
    "roundeven": [(0.5, 0.0), (-0.5, -0.0), (2.5, 2), (1.5, 2), (-0.2, -0.0), (NAN, NAN)],
    "floor": [(-0.0, -0.0), (-0.5, -1), (1.5, 1)],
    "ceil": [(-0.0, -0.0), (-0.5, -0.0), (1.5, 2)],
    "trunc": [(-0.0, -0.0), (-1.5, -1), (1.5, 1)],
    "sin": [(0.0, 0.0), (INF, NAN)],
    "cbrt": [(-8, -2), (-0.0, -0.0)],
}


@pytest.mark.parametrize("target", [HOST, BARE], ids=["host", "bare"])
@pytest.mark.parametrize("element_type", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("op", sorted(SPECIAL))
def test_special_values(op: str, element_type: str, target: Target) -> None:
    if element_type == "bf16":
        pytest.importorskip("ml_dtypes")
    function = unary(op, element_type, target)
    with np.errstate(all="ignore"):
        x, wanted = (np.array(column).astype(numpy_dtype(element_type)) for column in zip(*SPECIAL[op], strict=True))
    for value, result, true in zip(x, function(x), wanted, strict=True):
        assert same(float(result), float(true)), (float(value), float(result), float(true))


@pytest.mark.parametrize(
    ("element_type", "top", "smallest"), [("f32", 88.72283, 1e-45), ("f64", 709.782712893384, 5e-324)]
)
def test_exp_at_the_edges_of_the_range(element_type: str, top: float, smallest: float) -> None:
    function = unary("exp", element_type)
    assert np.isfinite(function(numpy_dtype(element_type).type(top)))
    assert np.isinf(function(numpy_dtype(element_type).type(top + 0.01)))
    assert float(function(numpy_dtype(element_type).type(math.log(smallest)))) == pytest.approx(smallest)
    assert np.isfinite(unary("sinh", element_type)(numpy_dtype(element_type).type(top + 0.69)))


@pytest.mark.parametrize("element_type", ["f32", "f64"])
@pytest.mark.parametrize("op", ["exp", "log", "tanh", "erf", "exp2", "expm1", "log1p", "log2", "log10", "sinh", "cosh"])
def test_own_math_is_vector_code_without_calls(op: str, element_type: str) -> None:
    text = loop_text(f"math.{op}", (element_type,), (element_type,), HOST)
    core = re.split(r"func_end\d+:", jit.assembly(text).partition("core:")[2])[0]
    assert core
    assert not re.search(r"^\s*(?:callq?|blr?|jalr?)\s", core, re.MULTILINE)
    optimised = jit.optimised_ir(text)
    lanes = HOST.vector_bytes // (4 if element_type == "f32" else 8)
    assert f"<{lanes} x {'float' if element_type == 'f32' else 'double'}>" in optimised
    if HOST.vector_bytes == 64:
        assert "%zmm" in core


def test_nothing_on_a_bare_machine_calls_fma_or_half_helpers() -> None:
    for op in ("math.exp", "math.log", "math.tanh", "math.erf", "arith.addf", "arith.divf"):
        for element_type in ("f16", "bf16", "f32", "f64"):
            signature = PRIMITIVES[op].arity * (element_type,)
            text = loop_text(op, signature, (element_type,), BARE)
            assert "half" not in re.sub(r"%\w+|^;.*", "", text)
            assert ".fma." not in text


def test_float_extrema_order_zeros_and_handle_nan() -> None:
    x = np.array([0.0, -0.0, NAN, 1.0, NAN, -INF, 2.0], np.float32)
    y = np.array([-0.0, 0.0, 1.0, NAN, NAN, INF, -3.0], np.float32)
    wanted = {
        "maximumf": [0.0, 0.0, NAN, NAN, NAN, INF, 2.0],
        "minimumf": [-0.0, -0.0, NAN, NAN, NAN, -INF, -3.0],
        "maxnumf": [0.0, 0.0, 1.0, 1.0, NAN, INF, 2.0],
        "minnumf": [-0.0, -0.0, 1.0, 1.0, NAN, -INF, -3.0],
    }
    for op, values in wanted.items():
        got = kernel(f"arith.{op}", ("f32", "f32"), ("f32",))(x, y)
        assert all(map(same, got.tolist(), values)), op


@pytest.mark.parametrize("op", ["maximumf", "minimumf", "maxnumf", "minnumf"])
@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, INF, -INF, NAN])
def test_float_extrema_with_a_literal(op: str, value: float) -> None:
    """A literal operand takes another path, which must not show, on either side."""
    signature = Signature(("f32", "f32"), ("f32",), {})
    literal = llvm_text.constant("float", value)

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        emission = EMISSIONS[f"arith.{op}"]
        return emission(builder, signature, names[0], literal), emission(builder, signature, literal, names[0])

    single = (numpy_dtype("f32"),)
    text = build_loop(op, ("f32",), ("f32", "f32"), body, HOST)
    function = make_ufunc(op, [Loop(("f32",), ("f32", "f32"), single, single * 2, text)], "")
    x = np.array([0.0, -0.0, 1.0, 2.0, -3.0, INF, -INF, NAN], np.float32)
    wanted = kernel(f"arith.{op}", ("f32", "f32"), ("f32",))(x, np.float32(value))
    for got in function(x):
        assert all(map(same, got.tolist(), wanted.tolist()))


@pytest.mark.parametrize("element_type", ["i1", "i8", "i16", "i32", "i64", "index"])
def test_integer_division_never_traps(element_type: str) -> None:
    dtype = numpy_dtype(element_type)
    corners = [True, False] if element_type == "i1" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1, -1, 2, -7]
    x, y = (grid.ravel() for grid in np.meshgrid(np.array(corners, dtype), np.array(corners, dtype)))
    for op in ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui"):
        name, signature = f"arith.{op}", Signature((element_type,) * 2, (element_type,), {})
        with np.errstate(all="raise"):
            got = kernel(name, *signature[:2])(x, y)
        with np.errstate(all="ignore"):
            wanted = PRIMITIVES[name].numpy(signature, x, y)
        np.testing.assert_array_equal(got, wanted, err_msg=op)
    if element_type == "i32":
        lowest = np.iinfo(np.int32).min
        assert kernel("arith.divsi", ("i32", "i32"), ("i32",))(np.int32(lowest), np.int32(-1)) == lowest
        assert kernel("arith.remsi", ("i32", "i32"), ("i32",))(np.int32(lowest), np.int32(-1)) == 0
        assert kernel("arith.divsi", ("i32", "i32"), ("i32",))(np.int32(5), np.int32(0)) == 0


def test_shifts_by_the_width_or_more() -> None:
    x = np.array([-1, -8, 5], np.int32)
    amounts = np.array([32, 100, -1], np.int32)
    assert not kernel("arith.shli", ("i32", "i32"), ("i32",))(x, amounts).any()
    assert not kernel("arith.shrui", ("i32", "i32"), ("i32",))(x, amounts).any()
    assert kernel("arith.shrsi", ("i32", "i32"), ("i32",))(x, amounts).tolist() == [-1, -1, 0]


@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("target", ["i1", "i8", "i32", "i64"])
def test_float_to_integer_saturates(source: str, target: str) -> None:
    x = np.array([NAN, INF, -INF, 1.5, -1.5, 1e30 if source != "f16" else 6e4, -200, 200.75], numpy_dtype(source))
    for op in ("arith.fptosi", "arith.fptoui"):
        with np.errstate(all="raise"):
            got = kernel(op, (source,), (target,))(x)
        with np.errstate(all="ignore"):
            wanted = PRIMITIVES[op].numpy(Signature((source,), (target,), {}), x)
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("target", [HOST, BARE], ids=["host", "bare"])
@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_narrowing_rounds_once(narrow: str, target: Target) -> None:
    """Numbers a hair off the middle of two narrow values, where rounding through float first goes wrong."""
    dtype = numpy_dtype(narrow)
    bits = np.arange(1, 31000 if narrow == "f16" else 32000, 7, dtype=np.uint16)
    low, high = bits.view(dtype).astype(np.float64), (bits + np.uint16(1)).view(dtype).astype(np.float64)
    middle = (low + high) / 2
    for value, wanted in ((np.nextafter(middle, np.inf), high), (np.nextafter(middle, 0), low)):
        got = kernel("arith.truncf", ("f64",), (narrow,), target)(value).astype(np.float64)
        np.testing.assert_array_equal(got, wanted)
    integers = np.array(
        [(1 << 60) + (1 << 52) + 1, (1 << 60) + (1 << 52), -((1 << 60) + (1 << 52) + 1), 2049], np.int64
    )
    signature = Signature(("i64",), (narrow,), {})
    got = kernel("arith.sitofp", ("i64",), (narrow,), target)(integers)
    with np.errstate(all="ignore"):
        wanted = PRIMITIVES["arith.sitofp"].numpy(signature, integers)
    np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("target", [HOST, BARE], ids=["host", "bare"])
@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_every_narrow_value_survives(narrow: str, target: Target) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(numpy_dtype(narrow))
    wide = kernel("arith.extf", (narrow,), ("f32",), target)(every)
    np.testing.assert_array_equal(wide, every.astype(np.float32))
    back = kernel("arith.truncf", ("f32",), (narrow,), target)(wide)
    number = ~np.isnan(wide)
    np.testing.assert_array_equal(back.view(np.uint16)[number], every.view(np.uint16)[number])
    assert np.isnan(back[~number].astype(np.float32)).all()


@pytest.mark.parametrize("target", [HOST, BARE], ids=["host", "bare"])
@pytest.mark.parametrize("element_type", ["f16", "bf16", "f32", "f64"])
def test_fma_rounds_once(element_type: str, target: Target) -> None:
    generator = np.random.default_rng(1)
    dtype = numpy_dtype(element_type)
    x, y = generator.standard_normal((2, 4000)).astype(dtype)
    z = (-(x.astype(np.float64) * y.astype(np.float64)) * (1 + generator.integers(-2, 3, 4000) * 2.0**-10)).astype(
        dtype
    )
    got = kernel("math.fma", (element_type,) * 3, (element_type,), target)(x, y, z)
    wanted = PRIMITIVES["math.fma"].numpy(Signature((element_type,) * 3, (element_type,), {}), x, y, z)
    np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 10, -20, 1000])
@pytest.mark.parametrize("element_type", ["f32", "f64"])
def test_powers_with_a_literal_exponent(element_type: str, exponent: int) -> None:
    dtype = (numpy_dtype(element_type),)

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        integer = EMISSIONS["math.fpowi"](
            builder, Signature((element_type, "i32"), (element_type,), {}), *names, str(exponent)
        )
        real = llvm_text.literal(element_type, to_bits(float(exponent), element_type))
        signature = Signature((element_type, element_type), (element_type,), {})
        return integer, EMISSIONS["math.powf"](builder, signature, *names, real)

    text = build_loop("power", (element_type,), (element_type, element_type), body, HOST)
    function = make_ufunc("power", [Loop((element_type,), (element_type, element_type), dtype, dtype * 2, text)], "")
    x = np.array([2.0, -1.5, 0.3, 0.0, -0.0, 1.001, INF, NAN], dtype[0])
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), exponent).astype(dtype[0])
    for got in function(x):
        np.testing.assert_allclose(got, wanted, rtol=4 * np.finfo(dtype[0]).eps)
        assert np.array_equal(np.signbit(got[:-1]), np.signbit(wanted[:-1]))


def test_integer_power() -> None:
    x, n = np.meshgrid(np.array([0, 1, -1, 2, -3, 10], np.int32), np.array([0, 1, 5, 40, -1, -2], np.int32))
    wanted = PRIMITIVES["math.ipowi"].numpy(Signature(("i32", "i32"), ("i32",), {}), x, n)
    np.testing.assert_array_equal(kernel("math.ipowi", ("i32", "i32"), ("i32",))(x, n), wanted)


def test_comparison_predicates() -> None:
    booleans = np.array([True, False])
    assert kernel("arith.cmpi", ("i1", "i1"), ("i1",), HOST, "slt")(booleans, ~booleans).tolist() == [True, False]
    assert kernel("arith.cmpi", ("i1", "i1"), ("i1",), HOST, "ult")(booleans, ~booleans).tolist() == [False, True]
    with pytest.raises(UnsupportedError, match="predicate 'between'"):
        kernel("arith.cmpf", ("f32", "f32"), ("i1",), HOST, "between")


def test_every_primitive_has_an_emission() -> None:
    assert set(EMISSIONS) == set(PRIMITIVES)


def test_agreement_with_numpy_on_random_bits() -> None:
    """Exact ops on all bit patterns alike, results by bits but for NaN (law L3)."""
    generator = np.random.default_rng(3)
    for op in ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minnumf"):
        for element_type in ("f16", "bf16", "f32", "f64"):
            dtype = numpy_dtype(element_type)
            x, y = generator.integers(0, 256, (2, 4000 * dtype.itemsize), dtype=np.uint8).view(dtype)
            signature = Signature((element_type,) * 2, (element_type,), {})
            evaluation: Callable[..., Any] = PRIMITIVES[op].numpy
            with np.errstate(all="ignore"):
                wanted = evaluation(x, y) if isinstance(evaluation, np.ufunc) else evaluation(signature, x, y)
            got = kernel(op, *signature[:2])(x, y)
            with np.errstate(all="ignore"):
                number = ~np.isnan(wanted.astype(np.float64))
                assert not np.any(number & np.isnan(got.astype(np.float64)))
            assert got[number].tobytes() == wanted[number].tobytes(), (op, element_type)


def test_text_is_the_same_from_run_to_run() -> None:
    texts = {loop_text("math.powf", ("f32", "f32"), ("f32",), HOST) for _ in range(3)}
    assert len(texts) == 1
    assert "declare float @powf(float, float) nounwind willreturn memory(none)" in texts.pop()


@pytest.mark.parametrize(
    ("llvm_type", "value", "text"),
    [
        ("float", 1.0, "0x3FF0000000000000"),
        ("float", 0.1, "0x3FB99999A0000000"),
        ("double", 0.1, "0x3FB999999999999A"),
        ("double", -INF, "0xFFF0000000000000"),
        ("float", NAN, "0x7FF8000000000000"),
        ("half", 1.0, "0xH3C00"),
        ("bfloat", 1.0, "0xR3F80"),
        ("i8", 255, "-1"),
        ("i64", -5, "-5"),
        ("i1", 1, "true"),
    ],
)
def test_constants_are_exact(llvm_type: str, value: float, text: str) -> None:
    assert llvm_text.constant(llvm_type, value) == text
