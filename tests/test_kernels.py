"""Kernels of both backends (design, sections 7, 9 and 10; laws L3 and L10): numbers, arrays of all kinds, ufuncs."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import xfuse
from xfuse.errors import KernelError, NotBound, RecipeError, UnsupportedError
from xfuse.kernels import Kernel, as_tuple
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe
from xfuse.verification import evaluate, mismatch, probes

Array = Any
SESSION = xfuse.Session()
RECIPES = {recipe.name: recipe for recipe in SESSION.registry if recipe.is_scalar}
BF16 = np.dtype(ml_dtypes.bfloat16)
BACKENDS = ("numpy", "llvm")
SAMPLE = (
    "adam bias_gelu_tanh black_scholes clamp dequantize gelu_erf haversine huber lstm mish relu silu softplus swiglu"
).split()
"""Recipes to try at every element type; the others are tried at their main one."""

FMA = """xfuse.recipe @mul_add(%x: f64, %y: f64, %z: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
  %m = arith.mulf %x, %y : f64 %r = arith.addf %m, %z : f64 xfuse.yield %r : f64 }"""


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Law L10: no kernel warns or raises, however strict the caller's settings are."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def main_use(recipe: Recipe) -> str | None:
    return "f32" if "f32" in recipe.uses else recipe.uses[-1]


def kernel_of(recipe: Recipe, use: str | None, backend: str) -> Kernel:
    kernel = SESSION.lookup(recipe, backend, sum(recipe.signature(use), ())).kernel
    assert kernel is not None
    return kernel


def registered(text: str, session: xfuse.Session | None = None) -> tuple[xfuse.Session, Recipe]:
    session = session or xfuse.Session(library=False)
    return session, session.register(text)


def bits(array: Array) -> Array:
    array = np.ascontiguousarray(array)
    return array if array.dtype == np.bool_ else array.view(f"u{array.dtype.itemsize}")


def same_bits(one: Array, other: Array) -> None:
    """Equal dtype, shape and bits; all NaNs are one value (law L3)."""
    one, other = np.asarray(one), np.asarray(other)
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    with np.errstate(all="ignore"):
        nan = (one != one) & (other != other)
    assert np.array_equal(bits(np.where(nan, other, one)), bits(other))


# Numbers


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", RECIPES)
def test_law_l3_every_recipe(name: str, backend: str) -> None:
    """The same bits where every op is exact, else within the declared error, at special values in all pairings too."""
    recipe = RECIPES[name]
    uses = recipe.uses if name in SAMPLE else (main_use(recipe),)
    for use in uses:
        kernel = kernel_of(recipe, use, backend)
        assert kernel.dtypes == sum(recipe.signature(use), ())
        arrays = probes(kernel.arguments, seed=1)
        originals = [array.copy() for array in arrays]
        for array in arrays:
            array.flags.writeable = False
        results = as_tuple(kernel(*arrays))
        assert mismatch(recipe.form(use), originals, results) is None, (name, use)
        for array, original in zip(arrays, originals, strict=True):
            same_bits(array, original)
        for result in results:
            assert result.flags.writeable
            assert not any(np.may_share_memory(result, array) for array in arrays)


def test_every_promise_names_what_it_promises() -> None:
    """Every library recipe has a kernel on both backends at every element type that it is for."""
    for recipe in RECIPES.values():
        for use in recipe.uses:
            for backend in BACKENDS:
                assert SESSION.admissible(recipe, sum(recipe.signature(use), ()), backend) == backend, (
                    recipe.name,
                    use,
                )


DIVISION = ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui")
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("op", DIVISION)
def test_integer_division_has_no_traps(op: str, backend: str) -> None:
    """Section 10: x/0 is 0, INT_MIN/-1 is INT_MIN, both remainders 0; the process lives."""
    session, recipe = registered(
        f"""xfuse.recipe @{op}(%x: i64, %y: i64) -> i64 attributes {{element_types = [i8, i16, i32, i64]}} {{
          %r = arith.{op} %x, %y : i64 xfuse.yield %r : i64 }}"""
    )
    for use in recipe.element_types:
        dtype = numpy_dtype(use)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = np.array([5, -5, 0, low, high, low, low, 7, -7, 7, -7] * 9, dtype)
        y = np.array([0, 0, 0, 0, 0, -1, 1, 2, 2, -2, -2] * 9, dtype)
        result = session.kernel(recipe, use, backend=backend)(x, y)
        (expected,) = evaluate(recipe.form(use), [x, y])
        same_bits(result, expected)
        assert not result[:5].any()
        if op in ("divsi", "floordivsi", "ceildivsi"):
            assert result[5] == low
        if op in ("remsi", "remui"):
            assert not result[5] or op == "remui"
        signed = {
            "divsi": [3, -3, -3, 3],
            "floordivsi": [3, -4, -4, 3],
            "ceildivsi": [4, -3, -3, 4],
            "remsi": [1, -1, 1, -1],
        }
        if op in signed:
            assert result[7:11].tolist() == signed[op]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("use", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("op", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_nan_and_signed_zeros(op: str, use: str, backend: str) -> None:
    """Section 10: maximumf propagates NaN and puts -0 before +0; maxnumf ignores NaN."""
    session, recipe = registered(
        f"""xfuse.recipe @{op}(%x: f64, %y: f64) -> f64 attributes {{element_types = [f16, bf16, f32, f64]}} {{
          %r = arith.{op} %x, %y : f64 xfuse.yield %r : f64 }}"""
    )
    values = np.array([NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0**-24]).astype(numpy_dtype(use))
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    result = session.kernel(recipe, use, backend=backend)(x, y)
    (expected,) = evaluate(recipe.form(use), [x, y])
    if op in ("maximumf", "minimumf"):
        same_bits(result, expected)
        assert (result != result).sum() == 15
    else:
        assert (result != result).sum() == 1
    np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64))
    if op == "maximumf":
        zeros = result[(x == 0) & (y == 0)].astype(np.float64)
        assert np.signbit(zeros).tolist() == [False, False, False, True]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("use", ["f16", "bf16", "f32", "f64"])
def test_exact_ops_round_one_by_one(use: str, backend: str) -> None:
    """Law L3, section 10: no contraction, no reassociation; narrow floats round after every op."""
    session, recipe = registered(FMA)
    arrays = probes((use, use, use), seed=3)
    kernel = session.kernel(recipe, use, backend=backend)
    with np.errstate(all="ignore"):
        same_bits(kernel(*arrays), arrays[0] * arrays[1] + arrays[2])


@pytest.mark.parametrize("backend", BACKENDS)
def test_float_to_int_saturates(backend: str) -> None:
    """Section 10: NaN gives 0."""
    session, recipe = registered(
        """xfuse.recipe @cast(%x: f32) -> (i32, i8) {
          %a = arith.fptosi %x : f32 to i32 %b = arith.fptosi %x : f32 to i8 xfuse.yield %a, %b : i32, i8 }"""
    )
    x = np.float32([NAN, INF, -INF, 1e20, -1e20, -1.5, 1.5, 200.7, -200.7, -0.0])
    wide, narrow = session.kernel(recipe, backend=backend)(x)
    assert wide.tolist() == [0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), -1, 1, 200, -200, 0]
    assert narrow.tolist() == [0, 127, -128, 127, -128, -1, 1, 127, -128, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_shifts_by_the_width_or_more(backend: str) -> None:
    """Section 10: 0; an arithmetic shift to the right gives the sign."""
    session, recipe = registered(
        """xfuse.recipe @shifts(%x: i32, %n: i32) -> (i32, i32, i32) {
          %a = arith.shli %x, %n : i32 %b = arith.shrui %x, %n : i32 %c = arith.shrsi %x, %n : i32
          xfuse.yield %a, %b, %c : i32, i32, i32 }"""
    )
    x, n = np.int32([-8, 8, -8, 8, -8, 8]), np.int32([31, 31, 32, 32, -1, 100])
    left, logical, arithmetic = session.kernel(recipe, backend=backend)(x, n)
    assert left.tolist() == [0] * 6
    assert logical.tolist() == [1, 0, 0, 0, 0, 0]
    assert arithmetic.tolist() == [-1, 0, -1, 0, -1, 0]


# Arrays of all kinds


def zoo() -> dict[str, Callable[[np.dtype[Any]], list[Array]]]:
    """Two arrays of a dtype each, in some layout."""

    def values(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Array:
        rng = np.random.default_rng(seed)
        return (rng.standard_normal(shape) * 3).astype(dtype)

    def pair(shape: tuple[int, ...], other: tuple[int, ...] | None = None) -> Callable[[np.dtype[Any]], list[Array]]:
        return lambda dtype: [values(shape, dtype, 0), values(shape if other is None else other, dtype, 1)]

    def view(shape: tuple[int, ...], take: Callable[[Array], Array]) -> Callable[[np.dtype[Any]], list[Array]]:
        return lambda dtype: [take(values(shape, dtype, 0)), take(values(shape, dtype, 1))]

    def unaligned(dtype: np.dtype[Any]) -> list[Array]:
        def one(seed: int) -> Array:
            raw = np.zeros(37 * dtype.itemsize + 1, np.uint8)
            array = raw[1:].view(dtype)
            array[...] = values((37,), dtype, seed)
            assert dtype.itemsize == 1 or not array.flags.aligned
            return array

        return [one(0), one(1)]

    def field(dtype: np.dtype[Any]) -> list[Array]:
        """A stride that is no multiple of the item size."""
        packed = np.zeros(40, np.dtype([("tag", "u1"), ("v", dtype)]))
        packed["v"] = values((40,), dtype, 0)
        return [packed["v"], packed["v"][::-1]]

    def windows(dtype: np.dtype[Any]) -> list[Array]:
        base = values((50,), dtype, 0)
        strided = as_strided(base, (10, 8), (4 * dtype.itemsize, dtype.itemsize))
        return [strided, strided[::-1]]

    return {
        "0-d": pair(()),
        "0-d and an array": pair((), (5,)),
        "NumPy scalars": lambda dtype: [values((1,), dtype, 0)[0], values((1,), dtype, 1)[0]],
        "empty": pair((0,)),
        "empty among others": pair((3, 0), (1, 1)),
        "empty, higher rank": pair((2, 1, 0), (4, 1)),
        "one": pair((1,)),
        "ones": pair((1, 1), (1,)),
        "broadcast": pair((1, 3), (3, 1)),
        "broadcast tail": pair((7, 33), (33,)),
        "broadcast head": pair((7, 33), (7, 1)),
        "rank 4": pair((2, 1, 3, 1), (5, 1, 17)),
        "reversed": view((41,), lambda a: a[::-1]),
        "every third": view((100,), lambda a: a[::3]),
        "reversed in two dimensions": view((6, 9), lambda a: a[::-2, ::-1]),
        "transposed": view((6, 9), lambda a: a.T),
        "one transposed": lambda dtype: [values((6, 9), dtype, 0), values((9, 6), dtype, 1).T],
        "Fortran order": view((6, 9), np.asfortranarray),
        "column": view((70, 3), lambda a: a[:, 1]),
        "zero strides": view((5,), lambda a: np.broadcast_to(a, (4, 5))),
        "zero strides throughout": view((1,), lambda a: as_strided(a, (6, 5), (0, 0))),
        "size one with a strange stride": view((5,), lambda a: as_strided(a, (1, 5), (12345, a.itemsize))),
        "unaligned": unaligned,
        "field of a record": field,
        "overlapping windows": windows,
        "byte-swapped": lambda dtype: [values((37,), dtype, n).astype(dtype.newbyteorder()) for n in (0, 1)],
        "byte-swapped and reversed": view((37,), lambda a: a.astype(a.dtype.newbyteorder())[::-1]),
        "the same array twice": lambda dtype: [values((37,), dtype, 0)] * 2,
        **{f"{n} elements": pair((n,)) for n in (2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 511, 1023, 4097)},
    }  # fmt: skip


ZOO = zoo()


@pytest.fixture(scope="module")
def arithmetic() -> dict[tuple[str, str], Kernel]:
    """A kernel of exact ops per element type and backend."""
    session = xfuse.Session(library=False)
    floats = session.register(
        """xfuse.recipe @floats(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
          %m = arith.mulf %x, %y : f64 %s = arith.subf %m, %x : f64 %r = arith.maximumf %s, %y : f64
          xfuse.yield %r : f64 }"""
    )
    integers = session.register(
        """xfuse.recipe @integers(%x: i64, %y: i64) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
          %m = arith.muli %x, %y : i64 %s = arith.subi %m, %x : i64 %r = arith.maxsi %s, %y : i64
          xfuse.yield %r : i64 }"""
    )
    return {
        (use, backend): session.kernel(recipe, use, backend=backend)
        for recipe in (floats, integers)
        for use in recipe.element_types
        for backend in BACKENDS
    }


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", ZOO)
def test_law_l10_layouts(arithmetic: dict[tuple[str, str], Kernel], layout: str, backend: str) -> None:
    """What NumPy would give for contiguous native copies, in a native, writable array of its own; inputs untouched."""
    for use in ("f16", "bf16", "f32", "f64", "i8", "i32", "i64"):
        dtype = numpy_dtype(use)
        if layout.startswith("byte-swapped") and dtype.itemsize == 1:
            continue
        x, y = ZOO[layout](dtype)
        native = [np.array(array).astype(dtype) for array in (x, y)]
        for array in (x, y):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        with np.errstate(all="ignore"):
            m = native[0] * native[1]
            expected = np.maximum(m - native[0], native[1])
        result = arithmetic[use, backend](x, y)
        same_bits(result, expected)
        assert result.dtype.isnative
        assert result.shape == np.broadcast_shapes(np.shape(x), np.shape(y))
        if isinstance(result, np.ndarray):
            assert result.flags.writeable
            assert not any(np.may_share_memory(result, array) for array in (x, y))
        for array, copy in zip((x, y), native, strict=True):
            same_bits(np.array(array).astype(dtype), copy)


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_results_do_not_share_memory(backend: str) -> None:
    session, recipe = registered(
        """xfuse.recipe @several(%x: f32, %y: f32) -> (f32, f32, i1) {
          %a = arith.addf %x, %y : f32 %b = math.absf %x : f32 %c = arith.cmpf olt, %x, %y : f32
          xfuse.yield %a, %b, %c : f32, f32, i1 }"""
    )
    kernel = session.kernel(recipe, backend=backend)
    for shapes in (((), ()), ((3,), ()), ((2, 1), (1, 4)), ((0,), (1,)), ((1,), (6,))):
        x, y = (np.full(shape, value, np.float32) for shape, value in zip(shapes, (-1, 2), strict=True))
        results = kernel(x, y)
        assert [result.dtype for result in results] == [np.float32, np.float32, np.bool_]
        for result, expected in zip(results, (1, 1, True), strict=True):
            assert result.shape == np.broadcast_shapes(*shapes)
            assert (result == expected).all()
        for number, result in enumerate(results):
            if isinstance(result, np.ndarray):
                result[...] = 0
                for other in results[number + 1 :]:
                    assert other.all()
                for other in (x, y):
                    assert other.all()


def test_a_view_of_billions_of_elements_is_indexed_in_64_bits() -> None:
    """B24: the loops count in 64 bits."""
    for recipe in (RECIPES["relu"], RECIPES["axpy"]):
        source = kernel_of(recipe, "f32", "llvm").source
        header = source[source.index("define") :].partition("\n")[0]
        assert "ptr" in header
        assert "i32" not in header


# What is refused


@pytest.mark.parametrize("backend", BACKENDS)
def test_wrong_arrays_are_refused(backend: str) -> None:
    """B33, law L10: exact dtypes, nothing is converted silently; the message says what to do."""
    session, recipe = registered(FMA)
    kernel = session.kernel(recipe, "f32", backend=backend)
    x = np.ones(3, np.float32)
    for wrong in (
        np.ones(3),
        np.ones(3, np.float16),
        np.ones(3, BF16),
        np.ones(3, np.int32),
        np.ones(3, np.uint32),
        np.ones(3, np.bool_),
        np.ones(3, np.complex64),
        np.ones(3, object),
        np.array(["a", "b", "c"]),
        np.ones(3, [("v", np.float32)]),
        np.float64(1.0),
        np.int64(1),
        np.array(1.0),
        [1.0, 2.0, 3.0],
        None,
        "1.0",
        1j,
    ):
        with pytest.raises(
            KernelError, match=r"argument 1 of mul_add must have dtype float32 \(f32\), got .*astype\('float32'\)"
        ):
            kernel(x, wrong, x)
    with pytest.raises(KernelError, match="argument 1 of mul_add is no array"):
        kernel(x, [[1.0], [2.0, 3.0]], x)
    for count in (0, 1, 2, 4):
        with pytest.raises(KernelError, match=f"mul_add takes 3 arrays, got {count}"):
            kernel(*[x] * count)
    with pytest.raises(KernelError, match=r"do not broadcast: shapes \(3,\), \(2,\), \(3,\)"):
        kernel(x, np.ones(2, np.float32), x)
    with pytest.raises(TypeError):
        kernel(x, x, x, out=x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_python_scalars_take_the_dtype(backend: str) -> None:
    """Section 10: Python scalars take the array's type, and no others."""
    session, recipe = registered(FMA)
    for use in recipe.element_types:
        kernel = session.kernel(recipe, use, backend=backend)
        x = np.ones(3, numpy_dtype(use))
        for scalar in (2, 2.0, True, 0.1, -0.0, float("inf"), 10**6):
            with np.errstate(all="ignore"):
                expected = x * np.array(scalar, x.dtype) + x
            same_bits(kernel(x, scalar, x), expected)
        assert kernel(1, 2, 3).dtype == x.dtype
        with pytest.raises(KernelError, match="does not fit"):
            kernel(x, 10**400, x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_python_scalars_for_integers(backend: str) -> None:
    """An integer takes no float and nothing out of its range; a boolean takes a boolean only."""
    session, recipe = registered(
        """xfuse.recipe @choose(%c: i1, %x: i8, %y: i8) -> i8 {
          %r = arith.select %c, %x, %y : i8 xfuse.yield %r : i8 }"""
    )
    kernel = session.kernel(recipe, backend=backend)
    assert kernel(True, 5, -5) == 5
    assert kernel(np.array([True, False]), 127, -128).tolist() == [127, -128]
    for wrong in (
        (True, 128, 0),
        (True, 1.0, 0),
        (True, 0.5, 0),
        (True, NAN, 0),
        (1, 5, 5),
        (0.0, 5, 5),
        (True, -129, 0),
    ):
        with pytest.raises(KernelError, match="does not fit"):
            kernel(*wrong)
    with pytest.raises(KernelError, match="must have dtype bool"):
        kernel(np.uint8([1]), 5, 5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_of_the_other_signedness_are_taken_by_their_bits(backend: str) -> None:
    """MLIR's integers have no sign; those of another width are refused."""
    session, recipe = registered(
        """xfuse.recipe @quotient(%x: i64, %y: i64) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
          %r = arith.divui %x, %y : i64 xfuse.yield %r : i64 }"""
    )
    for use in recipe.element_types:
        kernel, dtype = session.kernel(recipe, use, backend=backend), numpy_dtype(use)
        unsigned = np.dtype(f"u{dtype.itemsize}")
        top = np.array([np.iinfo(unsigned).max, 7], unsigned)
        expected = [int(np.iinfo(unsigned).max) // 2, 3]
        for array in (top, top.view(dtype), top.astype(unsigned.newbyteorder()), np.repeat(top, 2)[::2]):
            result = kernel(array, 2)
            assert result.dtype == dtype
            assert result.view(unsigned).tolist() == expected
        other = np.ones(2, np.int64 if use != "i64" else np.int32)
        with pytest.raises(KernelError, match=f"must have dtype {dtype.name}"):
            kernel(other, 2)


# ufuncs


def made(text: str) -> np.ufunc:
    with xfuse.Session(library=False):
        return xfuse.ufunc(text)


def test_ufunc_is_numpys_own() -> None:
    """Seeds of section 1: a ten-line formula is a real ufunc."""
    function = made(FMA)
    assert isinstance(function, np.ufunc)
    assert (function.__name__, function.nin, function.nout) == ("mul_add", 3, 1)
    assert function.types[0] == "eee->e"
    assert {"fff->f", "ddd->d"} <= set(function.types)
    assert "mulf" in (function.__doc__ or "")
    assert function(2.0, 3.0, 4.0) == 10
    assert type(function(2.0, 3.0, 4.0)) is np.float64
    result = function(np.ones((2, 1)), np.arange(3), np.float32(1))
    same_bits(result, np.ones((2, 1)) * np.arange(3) + 1)


def test_ufunc_has_a_loop_for_every_element_type() -> None:
    """Section 10: it follows NumPy's promotion among its loops, the narrowest that takes the operands first."""
    function = made(FMA)
    for dtype in (np.float16, BF16, np.float32, np.float64):
        x = np.arange(5).astype(dtype)
        result = function(x, x, x)
        assert result.dtype == dtype
        same_bits(result, x * x + x)
    assert function(np.float16(1), np.float32(1), np.float16(1)).dtype == np.float32
    assert function(np.float32([1]), 2.0, 3).dtype == np.float32
    assert function(np.int8([1]), np.int8([1]), np.int8([1])).dtype == np.float16
    assert function(np.int32([1]), 1, 1).dtype == np.float64
    with pytest.raises(TypeError):
        function(np.complex64(1), 1, 1)
    with pytest.raises(TypeError):
        function(1.0, 2.0)
    with pytest.raises(TypeError):
        function(np.float64([1]), np.float64([1]), np.float64([1]), dtype=np.int32)
    assert function(np.float64([1.5]), 2, 1, dtype=np.float32, casting="same_kind").dtype == np.float32


@pytest.mark.parametrize(
    ("op", "loops"),
    [
        ("addi", {"bb->b", "BB->B", "hh->h", "HH->H", "ii->i", "II->I", "ll->l", "LL->L"}),
        ("maxsi", {"bb->b", "hh->h", "ii->i", "ll->l"}),
        ("maxui", {"BB->B", "HH->H", "II->I", "LL->L"}),
    ],
)
def test_integer_ufuncs(op: str, loops: set[str]) -> None:
    """Signless ops have loops for both kinds of integers, others for the one that they read."""
    function = made(
        f"""xfuse.recipe @{op}(%x: i64, %y: i64) -> i64 attributes {{element_types = [i8, i16, i32, i64]}} {{
          %r = arith.{op} %x, %y : i64 xfuse.yield %r : i64 }}"""
    )
    assert set(function.types) == loops
    if op != "maxui":
        assert function(np.int8([-3]), np.int8([2])).dtype == np.int8
    if op != "maxsi":
        high = np.uint32([2**32 - 2])
        result = function(high, np.uint32([1]))
        assert result.dtype == np.uint32
        assert result.tolist() == [2**32 - (1 if op == "addi" else 2)]


def test_a_boolean_ufunc() -> None:
    function = made("xfuse.recipe @differ(%x: i1, %y: i1) -> i1 { %r = arith.xori %x, %y : i1 xfuse.yield %r : i1 }")
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    same_bits(function(x, y), x ^ y)
    assert function.types == ["??->?"]


def test_mixed_types_and_several_results() -> None:
    function = made(
        """xfuse.recipe @choose(%c: i1, %x: f64, %n: i32) -> (f64, i1, i32)
           attributes {element_types = [f32, f64]} {
          %zero = arith.constant 0.0 : f64 %r = arith.select %c, %x, %zero : f64
          %p = arith.cmpf ogt, %x, %zero : f64 %m = arith.addi %n, %n : i32 xfuse.yield %r, %p, %m : f64, i1, i32 }"""
    )
    assert (function.nin, function.nout) == (3, 3)
    c, x, n = np.array([True, False, True]), np.float32([1.5, 2, -3]), np.int32([1, 2, 3])
    r, p, m = function(c, x, n)
    same_bits(r, np.float32([1.5, 0, -3]))
    same_bits(p, np.array([True, True, False]))
    same_bits(m, np.int32([2, 4, 6]))
    out = np.empty(3, np.float32)
    given = function(c, x, n, out=(out, None, None))
    assert given[0] is out
    same_bits(out, r)
    r, p, m = function(True, 2.0, np.int32(7))
    assert (r, p, m) == (2.0, True, 14)


def test_out_in_place_and_overlapping() -> None:
    """B19: as if the inputs were copied first; a read-only ``out`` is an error before anything is written."""
    function = made(FMA)
    for size in (1, 5, 64, 1000, 20_001):
        base = np.arange(size + 3, dtype=np.float32)
        for take in (
            lambda a: (a[:-3], a[:-3], a[:-3], a[:-3]),
            lambda a: (a[:-3], a[1:-2], a[2:-1], a[3:]),
            lambda a: (a[3:], a[2:-1], a[1:-2], a[:-3]),
            lambda a: (a[:-3][::-1], a[:-3], a[1:-2], a[:-3]),
            lambda a: (a[:-3], a[:-3][::-1], a[3:], a[1:-2][::-1]),
        ):
            x, y, z = (array.copy() for array in take(base)[:3])
            expected = x * y + z
            array = base.copy()
            x, y, z, out = take(array)
            assert function(x, y, z, out=out) is out
            same_bits(out, expected)
    square = np.arange(16.0).reshape(4, 4)
    expected = square.T * square + square
    function(square.T, square, square, out=square)
    same_bits(square, expected)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        function(1.0, 2.0, np.ones(3), out=frozen)
    assert not frozen.any()
    for out in (np.zeros(2), np.zeros((2, 3)).T):
        with pytest.raises(ValueError, match="broadcast"):
            function(1.0, 2.0, np.ones(3), out=out[:2])


def test_where() -> None:
    function = made(FMA)
    for size in (3, 100):
        mask = np.arange(size) % 3 == 0
        out = np.full(size, -1.0)
        function(np.arange(float(size)), 2.0, 1.0, out=out, where=mask)
        same_bits(out, np.where(mask, np.arange(size) * 2.0 + 1, -1))


def test_casting_rules() -> None:
    """``out`` of a narrower dtype needs ``casting``; so do inputs under casting='no'."""
    function = made(FMA)
    x = np.ones(3)
    narrow = np.zeros(3, np.float32)
    same_bits(function(x, x, x, out=narrow), np.float32([2, 2, 2]))  # same kind is NumPy's default
    with pytest.raises(TypeError, match="Cannot cast"):
        function(x, x, x, out=np.zeros(3, np.int32))
    with pytest.raises(TypeError):
        function(np.int32([1]), np.int32([1]), np.int32([1]), casting="no")
    with pytest.raises(TypeError, match="Cannot cast"):
        function(x, x, x, out=narrow, casting="safe")


def test_other_methods_of_ufuncs() -> None:
    function = made(
        """xfuse.recipe @plus(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
          %r = arith.addf %x, %y : f64 xfuse.yield %r : f64 }"""
    )
    x = np.arange(10.0)
    assert function.reduce(x) == 45
    same_bits(function.accumulate(x), np.cumsum(x))
    same_bits(function.outer(x, x), np.add.outer(x, x))
    total = np.zeros(3)
    function.at(total, [0, 0, 2], 1.0)
    assert total.tolist() == [2, 0, 1]
    same_bits(function.reduceat(x, [0, 5]), np.add.reduceat(x, [0, 5]))


def test_subclasses_and_protocols() -> None:
    """NumPy's own protocols reach other array types: ``__array_ufunc__`` is asked."""
    function = made(FMA)

    class Asked:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
            return ufunc.__name__, method, len(inputs)

    assert function(Asked(), 1.0, 2.0) == ("mul_add", "__call__", 3)
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    assert function(masked, 2.0, 1.0).data[0] == 3


def test_pickling() -> None:
    """Section 9: a ufunc travels to another process by its code, and NumPy's own are left to NumPy."""
    function = made(FMA)
    here = pickle.loads(pickle.dumps(function))
    assert here.types == function.types
    x = np.arange(5, dtype=np.float32)
    same_bits(here(x, x, x), function(x, x, x))
    assert pickle.loads(pickle.dumps(np.add)) is np.add
    program = (
        "import pickle, sys, numpy as np\n"
        "f = pickle.load(sys.stdin.buffer)\n"
        "x = np.arange(5, dtype=np.float32)\n"
        "print(f.__name__, f(x, x, x).tolist(), f.types)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(function), capture_output=True, check=False,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().strip() == f"mul_add {(x * x + x).tolist()} {function.types}"


def test_ufunc_of_names_and_of_what_has_none() -> None:
    with xfuse.Session() as session:
        silu = xfuse.ufunc("silu")
        assert silu(np.float32(0)) == 0
        assert xfuse.ufunc(session.recipe("silu")).types == silu.types
        with pytest.raises(RecipeError, match=r"has a loop dimension.* by its normal signature \(\)->\(\)"):
            xfuse.ufunc(
                """xfuse.recipe @rows(%x: tensor<?xf32>) -> tensor<?xf32> {
                  %r = arith.addf %x, %x : tensor<?xf32> xfuse.yield %r : tensor<?xf32> }"""
            )
        with pytest.raises(UnsupportedError, match="recipe @total: LLVM kernels cannot take a reduction"):
            xfuse.ufunc(
                """xfuse.recipe @total(%x: tensor<?xf32>) -> tensor<f32> {
                  %zero = arith.constant dense<0.0> : tensor<f32>
                  %r = linalg.reduce ins(%x : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
                    (%in: f32, %acc: f32) { %d = arith.subf %in, %acc : f32 linalg.yield %d : f32 }
                  xfuse.yield %r : tensor<f32> }"""
            )
        assert session.registry.region("rows") is None
        assert session.registry.region("total") is None, "a refused ufunc leaves nothing behind"
        with pytest.raises(xfuse.errors.ParsingError):
            xfuse.ufunc("nosuch")


def test_recipes_without_a_kernel_say_why() -> None:
    session, recipe = registered(
        """xfuse.recipe @magnitude(%x: f32, %y: f32) -> f32 {
          %c = complex.create %x, %y : complex<f32> %r = complex.abs %c : complex<f32> xfuse.yield %r : f32 }"""
    )
    for backend in BACKENDS:
        with pytest.raises(
            NotBound, match=rf"{backend} cannot make a kernel for @magnitude .*'complex\.\w+' is outside"
        ):
            session.lookup(recipe, backend, ("f32", "f32", "f32"))


def test_a_kernel_outlives_its_session() -> None:
    """B26: machine code stays while anything that calls it does."""
    function = registered(FMA)[0].kernel("mul_add", "f32", backend="llvm").ufunc
    gc.collect()
    assert function is not None
    assert function(np.float32(2), np.float32(3), np.float32(4)) == 10


def test_slots_are_arguments() -> None:
    """B44: a thousand values of a scalar slot are one kernel."""
    session = xfuse.Session()
    rows = [SESSION.lookup("axpy", "llvm", ("f32",) * 4) for _ in range(3)]
    assert len({id(row) for row in rows}) == 1
    kernel = rows[0].kernel
    assert kernel is not None
    x = np.float32([1, 2, 3])
    for scale in np.linspace(-1, 1, 50):
        same_bits(kernel(float(scale), x, x), np.float32(scale) * x + x)
    assert not session.table.rows()


def test_results_are_the_same_from_run_to_run() -> None:
    """Law L11: generated code is byte-identical."""
    texts = {
        (kernel_of(RECIPES[name], main_use(RECIPES[name]), backend)).source for name in SAMPLE for backend in BACKENDS
    }
    again = xfuse.Session()
    assert texts == {
        again.lookup(name, backend, sum(RECIPES[name].signature(main_use(RECIPES[name])), ())).kernel.source
        for name in SAMPLE
        for backend in BACKENDS
    }


def test_the_probe_set_has_what_it_takes() -> None:
    """Law L6: specials of every float, the extremes of every integer, and columns of one length."""
    for use in ("f16", "bf16", "f32", "f64"):
        (column,) = probes((use,))
        wide = column.astype(np.float64)
        assert np.isnan(wide).any()
        assert np.isinf(wide).any()
        assert (np.signbit(wide) & (wide == 0)).any()
    for use in ("i8", "i16", "i32", "i64"):
        (column,) = probes((use,))
        assert {np.iinfo(column.dtype).min, np.iinfo(column.dtype).max, 0, -1} <= set(column.tolist())
    columns: Sequence[Array] = probes(("f32", "i1", "i8"))
    assert len({len(column) for column in columns}) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_0d_operands_beside_others(backend: str) -> None:
    """A 0-d operand that feeds an early op alone broadcasts like any other."""
    kernel = xfuse.Session().kernel("swiglu", "f32", backend=backend)
    one, two = np.ones((), np.float32), np.ones(2, np.float32)
    assert np.allclose(kernel(one, two), 0.7310586)
    assert kernel(one, two).shape == kernel(two, one).shape == (2,)
    assert np.shape(kernel(one, one)) == ()
