"""Recipes traced from Python functions: every function against NumPy, identities, and errors with their lines."""

from __future__ import annotations

import functools
import inspect
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import mlir_opt
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

import xfuse
from xfuse.backends.numpy.source import Writer
from xfuse.errors import KernelError, TracingError
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe, parse_recipes
from xfuse.tracing import TracedRecipe, xp
from xfuse.tracing.array import FUNCTIONS
from xfuse.tracing.symbols import named, number, parse_signature

Function = Callable[..., Any]


# Helpers


def trace(signature: str | None, function: Function, **options: Any) -> TracedRecipe:
    """Trace without validation: most cases here have loop dimensions, which a recipe may not have."""
    with patch("xfuse.tracing.decorator.validate"):
        return xfuse.recipe(signature, name="main", **options)(function)


def program(recipe: Recipe) -> str:
    """The recipe as a function ``@main`` of its core dimensions."""
    body = recipe.op.body.clone()
    last = body.block.last_op
    assert last is not None
    body.block.add_op(func.ReturnOp(*last.operands))
    last.detach()
    last.erase()
    return str(ModuleOp([func.FuncOp("main", (recipe.argument_types, recipe.result_types), body)]))


def run(recipe: Recipe, *arrays: Any) -> Any:
    """A recipe at its written types on arrays of its core dimensions, by way of its text."""
    return xfuse.compile(program(recipe), backend="numpy")(*arrays)


def run_at(recipe: Recipe, element_type: str, *arrays: Any) -> Any:
    """A recipe at an element type on arrays of its core dimensions."""
    form = recipe.form(element_type)
    kinds = recipe.signature(element_type)[0]
    given = [np.asarray(array, numpy_dtype(kind)) for array, kind in zip(arrays, kinds, strict=True)]
    with np.errstate(all="ignore"):
        found = Writer(form.graph, form.arguments, form.results).write().compile()(*given)
    return found[0] if len(found) == 1 else found


def assert_same(found: Any, expected: Any, rtol: float = 1e-13) -> None:
    """Equal shapes, and equal numbers but for rounding."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=0 if rtol == 0 else 1e-15)


def eagerly(function: Function, arrays: Any) -> Any:
    """The function on NumPy arrays, by NumPy."""
    with np.errstate(all="ignore"):
        return function(*arrays)


# Element-wise functions

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e-3, 37.25, np.inf, -np.inf, np.nan, 1e300, -3.0])
PAIRS = tuple(np.array(each) for each in zip(*((a, b) for a in SPECIAL for b in SPECIAL), strict=True))
UNIT = np.linspace(-1.0, 1.0, 41)

FLOAT_UNARY = """
    abs acos acosh asin asinh atan atanh cbrt ceil cos cosh erf exp exp2 expm1 floor isfinite isinf isnan log log10
    log1p log2 logical_not negative positive reciprocal relu round rsqrt sigmoid sign sin sinh sqrt square tan tanh
    trunc zeros_like ones_like
""".split()
FLOAT_BINARY = """
    add atan2 copysign divide equal fmax fmin greater greater_equal less less_equal logical_and logical_or
    logical_xor maximum minimum multiply not_equal pow subtract
""".split()
INTEGER_UNARY = (
    "abs bitwise_invert ceil floor isfinite isinf isnan logical_not negative round sign square trunc".split()
)
INTEGER_BINARY = """
    add bitwise_and bitwise_or bitwise_xor equal floor_divide greater greater_equal less less_equal logical_and
    logical_or logical_xor maximum minimum multiply not_equal remainder subtract
""".split()
INTEGERS = np.array([0, 1, -1, 2, -2, 3, 7, -7, 100, -128, 127, 2**31 - 1, -(2**31), 2**40, -(2**62)])
INTEGER_PAIRS = tuple(np.array(each) for each in zip(*((a, b) for a in INTEGERS for b in INTEGERS), strict=True))


@pytest.mark.parametrize("name", FLOAT_UNARY)
def test_float_function(name: str) -> None:
    function = getattr(xp, name)
    recipe = trace(None, lambda x: function(x), element_types="f64")
    for x in (SPECIAL, UNIT):
        assert_same(recipe(x), eagerly(function, [x]))


@pytest.mark.parametrize("name", FLOAT_BINARY)
def test_float_function_of_two(name: str) -> None:
    function = getattr(xp, name)
    recipe = trace(None, lambda x, y: function(x, y), element_types="f64")
    found, expected = recipe(*PAIRS), eagerly(function, PAIRS)
    assert_same(found, expected)


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        (lambda x, y: x // y, lambda x, y: np.floor(x / y)),
        (lambda x, y: x % y, lambda x, y: x - np.floor(x / y) * y),
        (xp.logaddexp, lambda x, y: np.maximum(x, y) + np.log1p(np.exp(-np.abs(x - y)))),
        (xp.hypot, lambda x, y: np.sqrt(x * x + y * y)),
        (lambda x, y: xp.fma(x, y, 0.5), lambda x, y: x * y + 0.5),
        (lambda x, y: divmod(x, y)[1], lambda x, y: x - np.floor(x / y) * y),
    ],
    ids=["floor_divide", "remainder", "logaddexp", "hypot", "fma", "divmod"],
)
def test_float_formula(function: Function, formula: Function) -> None:
    """These are the formula of their docstring, where NumPy's take another way."""
    recipe = trace(None, lambda x, y: function(x, y), element_types="f64")
    assert_same(recipe(*PAIRS), eagerly(formula, PAIRS))


@pytest.mark.parametrize("name", INTEGER_UNARY)
def test_integer_function(name: str) -> None:
    function = getattr(xp, name)
    recipe = trace(None, lambda x: function(x), element_types="i64")
    assert_same(recipe(INTEGERS), eagerly(function, [INTEGERS]), rtol=0)


@pytest.mark.parametrize("name", INTEGER_BINARY)
def test_integer_function_of_two(name: str) -> None:
    function = getattr(xp, name)
    recipe = trace(None, lambda x, y: function(x, y), element_types="i64")
    x, y = INTEGER_PAIRS
    if name == "floor_divide":  # NumPy gives 0 and a warning too; a sum that overflows wraps in both
        x, y = x[y != 0], y[y != 0]
    assert_same(recipe(x, y), eagerly(function, [x, y]), rtol=0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x << y,
        lambda x, y: x >> y,
        lambda x, y: xp.bitwise_left_shift(x, y),
        lambda x, y: xp.bitwise_right_shift(x, y),
        lambda x, y: xp.shift_right_logical(x, y),
    ],
    ids=["<<", ">>", "left", "right", "logical"],
)
def test_shifts(function: Function) -> None:
    x, by = np.array([1, -5, 2**62, -1]), np.array([0, 3, 1, 63])
    assert_same(trace(None, function, element_types="i64")(x, by), function(x, by), rtol=0)


def test_literals_are_told_apart_by_bits() -> None:
    """0 and -0 are two literals."""
    recipe = trace(None, lambda x: xp.stack([xp.copysign(x, 0.0), xp.copysign(x, -0.0)]))
    assert run(recipe, 2.0).tolist() == [2.0, -2.0]


# Core dimensions

N, M, K = 5, 3, 4
RNG = np.random.default_rng(7)
SIZES = {"n": N, "m": M, "k": K, "h": 2}


def arrays_for(signature: str) -> list[Any]:
    """Random arrays of the core dimensions."""
    shapes = [[eval(str(each), {}, SIZES) for each in group] for group in parse_signature(signature).arguments]
    return [np.asarray(RNG.normal(size=shape)) for shape in shapes]


def softmax(x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def layer_norm(x: Any, w: Any, eps: Any) -> Any:
    m = xp.mean(x, axis=-1, keepdims=True)
    v = xp.var(x, axis=-1, keepdims=True)
    return (x - m) / xp.sqrt(v + abs(eps)) * w


def rotary(x: Any, c: Any, s: Any) -> Any:
    half = x.shape[-1] // 2
    turned = xp.concat([-x[half:], x[:half]])
    return x * xp.concat([c, c]) + turned * xp.concat([s, s])


def causal(x: Any) -> Any:
    row, column = xp.arange(x.shape[0])[:, None], xp.arange(x.shape[1])
    return softmax(xp.where(column <= row, x, -xp.inf))


def pooled(x: Any) -> Any:
    return xp.mean(xp.reshape(x, (-1, 2)), axis=1)


CORE: dict[str, tuple[str, Function]] = {
    "softmax": ("(n)->(n)", softmax),
    "softmax rows": ("(m,n)->(m,n)", softmax),
    "layer_norm": ("(n),(n),()->(n)", layer_norm),
    "rotary": ("(2*h),(h),(h)->(2*h)", rotary),
    "causal": ("(m,n)->(m,n)", causal),
    "sum": ("(m,n)->()", lambda x: xp.sum(x)),
    "sum axis": ("(m,n)->(n)", lambda x: xp.sum(x, axis=0)),
    "sum axes": ("(m,n,k)->(n)", lambda x: xp.sum(x, axis=(0, -1))),
    "sum keepdims": ("(m,n)->(m,1)", lambda x: xp.sum(x, axis=-1, keepdims=True)),
    "sum all keepdims": ("(m,n)->(1,1)", lambda x: xp.sum(x, keepdims=True)),
    "sum of a repeated": ("(n),(m)->()", lambda x, y: xp.sum(xp.broadcast_to(x[:, None], (x.shape[0], y.shape[0])))),
    "sum of truth": ("(n)->()", lambda x: xp.sum(x > 0)),
    "prod": ("(m,n)->(m)", lambda x: xp.prod(x, axis=1)),
    "max": ("(m,n)->(n)", lambda x: xp.max(x, axis=0)),
    "min": ("(m,n)->()", lambda x: xp.min(x)),
    "mean": ("(m,n)->(n)", lambda x: xp.mean(x, axis=0)),
    "mean all": ("(m,n)->()", lambda x: x.mean()),
    "mean known": ("(4,n)->(n)", lambda x: xp.mean(x, axis=0)),
    "var": ("(m,n)->(m)", lambda x: xp.var(x, axis=1)),
    "var correction": ("(m,n)->(m)", lambda x: xp.var(x, axis=1, correction=1)),
    "std": ("(m,n)->()", lambda x: xp.std(x)),
    "any": ("(m,n)->(m)", lambda x: xp.any(x > 1, axis=1)),
    "all": ("(m,n)->(m)", lambda x: xp.all(x > -1, axis=1)),
    "argmax": ("(m,n)->(m)", lambda x: xp.argmax(x, axis=1)),
    "argmax keepdims": ("(m,n)->(m,1)", lambda x: xp.argmax(x, axis=1, keepdims=True)),
    "argmin": ("(m,n)->(n)", lambda x: xp.argmin(x, axis=0)),
    "argmax all": ("(m,n)->()", lambda x: xp.argmax(x)),
    "matmul": ("(m,n),(n,k)->(m,k)", lambda x, y: x @ y),
    "matmul batch": ("(k,m,n),(n,k)->(k,m,k)", lambda x, y: xp.matmul(x, y)),
    "matmul row": ("(n),(n,k)->(k)", lambda x, y: x @ y),
    "matmul column": ("(m,n),(n)->(m)", lambda x, y: x @ y),
    "matmul dot": ("(n),(n)->()", lambda x, y: x @ y),
    "matmul view": ("(m,n),(k,n)->(m,k)", lambda x, y: x @ y.T),
    "vecdot": ("(m,n),(n)->(m)", lambda x, y: xp.vecdot(x, y)),
    "tensordot": ("(m,n,k),(n,k)->(m)", lambda x, y: xp.tensordot(x, y)),
    "tensordot axes": ("(m,n),(k,m)->(n,k)", lambda x, y: xp.tensordot(x, y, axes=([0], [1]))),
    "outer": ("(m),(n)->(m,n)", lambda x, y: xp.outer(x, y)),
    "dot": ("(m,n),(n,k)->(m,k)", lambda x, y: xp.dot(x, y)),
    "broadcast": ("(m),(n)->(n,m)", lambda x, y: x + y[:, None]),
    "transpose": ("(m,n)->(n,m)", lambda x: x.T * 2),
    "transpose axes": ("(k,m,n)->(n,k,m)", lambda x: xp.transpose(x, (2, 0, 1)) + x.transpose(2, 0, 1)),
    "mT": ("(k,m,n)->(k,n,m)", lambda x: x.mT + xp.matrix_transpose(x)),
    "permute_dims": ("(k,m,n)->(n,k,m)", lambda x: xp.permute_dims(x, (2, 0, 1))),
    "swapaxes": ("(k,m,n)->(n,m,k)", lambda x: xp.swapaxes(x, 0, -1)),
    "moveaxis": ("(k,m,n)->(m,n,k)", lambda x: xp.moveaxis(x, 0, -1)),
    "expand_dims": ("(n)->(1,n,1)", lambda x: xp.expand_dims(x, (0, 2)) + 1),
    "squeeze": ("(1,n,1)->(n)", lambda x: xp.squeeze(x) + 1),
    "squeeze axis": ("(1,n,1)->(n,1)", lambda x: xp.squeeze(x, 0) + 1),
    "broadcast_to": ("(n),(m,n)->(m,n)", lambda x, y: xp.broadcast_to(x, y.shape) - y),
    "broadcast_to known": ("(n)->(4,n)", lambda x: xp.broadcast_to(x, (4, x.shape[0]))),
    "broadcast of a scalar": ("(n),()->(n)", lambda x, s: xp.broadcast_to(s, x.shape)),
    "reshape rows": ("(m,n)->(k)", lambda x: xp.reshape(x, (-1,))),
    "reshape pairs": ("(2*h)->(h,2)", lambda x: xp.reshape(x, (-1, 2))),
    "reshape pairs of unknown": ("(k)->(p,2)", lambda x: xp.reshape(x, (-1, 2))),
    "reshape known": ("(4,6)->(3,8)", lambda x: xp.reshape(x, (3, 8)) * 2),
    "reshape within": ("(m,2*h,k)->(m,h,2,k)", lambda x: x.reshape(x.shape[0], -1, 2, x.shape[2])),
    "reshape front": ("(m,n,k)->(j,k)", lambda x: x.reshape(-1, x.shape[2])),
    "reshape unit": ("(m,1,n)->(1,m,n,1)", lambda x: x.reshape(1, x.shape[0], -1, 1) + 1),
    "reshape split and merged": ("(2,n,3)->(6,n)", lambda x: xp.reshape(xp.permute_dims(x, (0, 2, 1)), (6, -1))),
    "ravel": ("(m,n)->(k)", lambda x: x.ravel() + xp.ravel(x)),
    "pooled": ("(2*h)->(h)", pooled),
    "concat": ("(m,n),(k,n)->(m+k,n)", lambda x, y: xp.concat([x, y])),
    "concat axis": ("(m,n),(m,k)->(m,n+k)", lambda x, y: xp.concat([x, y], axis=-1)),
    "concat three": ("(n),(3)->(2*n+3)", lambda x, y: xp.concat([x, y, x])),
    "concat None": ("(m,n),(k)->(m*n+k)", lambda x, y: xp.concat([x, y], axis=None)),
    "concat view": ("(m,n),(n,m)->(2*m,n)", lambda x, y: xp.concat([x, y.T])),
    "stack": ("(n),(n)->(2,n)", lambda x, y: xp.stack([x, y])),
    "stack last": ("(n),(n)->(n,2)", lambda x, y: xp.stack([x, y], axis=-1)),
    "stack scalars": ("(),()->(2)", lambda x, y: xp.stack([x, y])),
    "flip": ("(m,n)->(m,n)", lambda x: xp.flip(x)),
    "flip axis": ("(m,n)->(m,n)", lambda x: xp.flip(x, axis=1)),
    "flip of a view": ("(m,n)->(n,m)", lambda x: xp.flip(x.T, axis=1)),
    "roll": ("(m,n)->(m,n)", lambda x: xp.roll(x, 2, axis=1)),
    "roll back": ("(n)->(n)", lambda x: xp.roll(x, -7, axis=0)),
    "roll axes": ("(m,n)->(m,n)", lambda x: xp.roll(x, (1, -1), axis=(0, 1))),
    "roll all": ("(m,n)->(m,n)", lambda x: xp.roll(x, 4)),
    "take": ("(m,n)->(m,3)", lambda x: xp.take(x, np.array([2, 0, 4]), axis=1)),
    "take a table": ("(m,n)->(2,2,n)", lambda x: xp.take(x, np.array([[2, 0], [1, 1]]), axis=0)),
    "take one": ("(n)->()", lambda x: xp.take(x, 3)),
    "take along": ("(m,n)->(m,1)", lambda x: xp.take_along_axis(x, xp.argmax(x, axis=1, keepdims=True), 1)),
    "tril": ("(m,n)->(m,n)", lambda x: xp.tril(x)),
    "tril k": ("(m,n)->(m,n)", lambda x: xp.tril(x, k=1)),
    "triu": ("(m,n)->(m,n)", lambda x: xp.triu(x)),
    "triu k": ("(k,m,n)->(k,m,n)", lambda x: xp.triu(x, k=-1)),
    "cumulative_sum": ("(n)->(n)", lambda x: xp.cumulative_sum(x)),
    "cumulative_sum rows": ("(m,n)->(m,n)", lambda x: xp.cumulative_sum(x, axis=1)),
    "cumulative_sum columns": ("(m,n,k)->(m,n,k)", lambda x: xp.cumulative_sum(x, axis=0)),
    "cumulative_sum unit": ("(1,n)->(1,n)", lambda x: xp.cumulative_sum(x, axis=1)),
    "cumulative_prod": ("(m,n)->(m,n)", lambda x: xp.cumulative_prod(x, axis=1)),
    "slice": ("(n)->(2)", lambda x: x[1:3]),
    "slice to the end": ("(n)->(n-1)", lambda x: x[1:]),
    "slice from the end": ("(n)->(2)", lambda x: x[-2:]),
    "slice before the end": ("(n)->(n-1)", lambda x: x[:-1]),
    "slice steps": ("(n)->((n+1)//2)", lambda x: x[::2]),
    "slice steps from": ("(n)->(n//2)", lambda x: x[1::2]),
    "slice half": ("(n)->(n//2)", lambda x: x[: x.shape[-1] // 2]),
    "slice other half": ("(n)->(n-n//2)", lambda x: x[x.shape[-1] // 2 :]),
    "slice reversed": ("(n)->(n)", lambda x: x[::-1]),
    "slice reversed part": ("(n)->(n-1)", lambda x: x[:0:-1]),
    "slice reversed steps": ("(n)->((n+1)//2)", lambda x: x[::-2]),
    "slice known": ("(6)->(2)", lambda x: x[-1:0:-3]),
    "slice beyond": ("(6)->(4)", lambda x: x[2:100]),
    "slice nothing": ("(6)->(0)", lambda x: x[4:2]),
    "slice unit away": ("(1,n)->(0,n)", lambda x: x[1:]),
    "slice axes": ("(m,n,k)->(m-1,n,2)", lambda x: x[1:, ..., :2]),
    "slice of a view": ("(m,n)->(2,m)", lambda x: x.T[1:3]),
    "slice of a repeated": ("(n)->(m,2)", lambda x: xp.broadcast_to(x, (3, x.shape[0]))[:, :2]),
    "index": ("(m,n)->(n)", lambda x: x[1]),
    "index last": ("(m,n)->(m)", lambda x: x[:, -1]),
    "index all": ("(m,n)->()", lambda x: x[0, 2]),
    "index computed": ("(n)->()", lambda x: x[x.shape[0] // 2]),
    "index new axes": ("(n)->(1,n,1)", lambda x: x[None, :, None] * 1),
    "index and slice": ("(m,n,k)->(n-1)", lambda x: x[1, 1:, 0]),
    "index a scalar": ("()->()", lambda x: x[...] + 1),
    "arange": ("(n)->(n)", lambda x: x * xp.arange(x.shape[0])),
    "arange from": ("(n)->(n)", lambda x: x + xp.arange(2, x.shape[0] + 2)),
    "arange steps": ("(n)->(n)", lambda x: x + xp.arange(0, 3 * x.shape[0], 3)),
    "arange known": ("(5)->(5)", lambda x: x + xp.arange(5)),
    "arange dtype": ("(n)->(n)", lambda x: x * xp.arange(x.shape[0], dtype="i32") + xp.arange(3, dtype=xp.int8)[1]),
    "astype": (
        "(n)->(n)",
        lambda x: xp.astype(xp.astype(3 * x, "i8"), xp.float64) + xp.astype(x, bool) + x.astype(int),
    ),
    "arange floats": ("(n)->(n)", lambda x: xp.exp(xp.arange(x.shape[0], dtype=float)) * x),
    "zeros_like": ("(n)->(n)", lambda x: xp.zeros_like(x) - x),
    "ones_like": ("(m,n)->(m)", lambda x: xp.sum(xp.ones_like(x), axis=1) + x[:, 0]),
    "full_like": ("(n)->(n)", lambda x: xp.full_like(x, 2.5)),
    "full": ("(n)->(n)", lambda x: xp.full(x.shape, 0.5)),
    "zeros and ones": ("(n)->(n+2)", lambda x: xp.concat([xp.zeros((1,)), x, xp.ones((1,))])),
    "list": ("(),()->()", lambda x, y: xp.sum([x, y, 2.0]) + xp.max([[x, y], [y, 1]])),
    "number": ("(n)->(n)", lambda x: xp.broadcast_to(2.5, x.shape) * x + xp.take(np.array([3.0, 4.0]), x.shape[0] % 2)),
    "asarray": ("(),()->(2)", lambda x, y: xp.asarray([x, y])),
    "unpacked": ("(3)->(3)", lambda x: xp.stack([each * (i + 1) for i, each in enumerate(x)])),
    "table": ("(3)->(3)", lambda x: x * np.array([1.0, 0.25, -2.0])),
    "extent as a number": ("(n)->(n)", lambda x: x / x.shape[-1]),
    "extent under a root": ("(n)->(n)", lambda x: x * (1 / xp.sqrt(x.shape[-1]))),
    "extent arithmetic": ("(n)->(n)", lambda x: x * (x.shape[0] * 2 + 1) - (x.shape[0] % 3) * (7 - x.shape[0]) // 2),
    "size": ("(m,n)->(m,n)", lambda x: x / x.size),
    "where": ("(n),(n),(n)->(n)", lambda x, y, z: xp.where(x > 0, y, z)),
    "where of literals": ("(n)->(n)", lambda x: xp.where(x > 0, 1, 0) * x + xp.where(x < 0, 0.5, 2)),
    "clip": ("(n)->(n)", lambda x: xp.clip(x, -0.5, 0.5)),
    "clip method": ("(n)->(n)", lambda x: x.clip(None, 0.5)),
    "norm": ("(n)->(n)", lambda x: x / xp.sqrt(xp.sum(x * x))),
    "log_softmax": ("(n)->(n)", lambda x: x - xp.max(x) - xp.log(xp.sum(xp.exp(x - xp.max(x))))),
}


@pytest.mark.parametrize("name", CORE)
def test_core_function(name: str) -> None:
    """The traced recipe gives what the function gives on NumPy arrays; the signature's result shapes are checked."""
    signature, function = CORE[name]
    arrays = arrays_for(signature)
    assert_same(run(trace(signature, function), *arrays), eagerly(function, arrays), rtol=1e-12)


SMALL = """
    layer_norm rotary sum mean var matmul tensordot broadcast transpose reshape_pairs pooled concat stack flip roll tril
    cumulative_sum slice_half slice_steps slice_reversed arange where any all
""".split()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("sizes", [(0, 3, 2, 0), (1, 1, 1, 1), (1, 4, 3, 3), (2, 0, 1, 1)])
@pytest.mark.parametrize("name", SMALL)
def test_core_function_on_extents_0_and_1(name: str, sizes: tuple[int, ...]) -> None:
    """An extent of one that is only known later is no broadcast, and nothing is needed of an empty axis."""
    signature, function = CORE[name.replace("_", " ") if name not in CORE else name]
    with patch.dict(SIZES, zip("nmkh", sizes, strict=True)):
        arrays = arrays_for(signature)
    assert_same(run(trace(signature, function), *arrays), eagerly(function, arrays), rtol=1e-12)


def test_core_functions_are_valid_for_mlir() -> None:
    """Real mlir-opt takes every op that is emitted."""
    texts = [program(trace(signature, function)) for signature, function in CORE.values()]
    done = subprocess.run(
        [mlir_opt(), "--split-input-file", "--verify-each"],
        input="\n// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# Identities

LIBRARY = Path(xfuse.__file__).parent / "library"


def library(name: str, family: str | None = None) -> Recipe:
    """A shipped recipe, read from its file."""
    for stem in sorted(path.stem for path in LIBRARY.glob("*.mlir") if name.startswith(path.stem)):
        for each in parse_recipes((LIBRARY / f"{stem}.mlir").read_text()):
            if each.name == name:
                return each
    raise LookupError(name)


def normalised(x: Any, epsilon: Any) -> Any:
    return (x - xp.mean(x)) / xp.sqrt(xp.var(x) + epsilon)


def log_softmax(x: Any) -> Any:
    shifted = x - xp.max(x)
    return shifted - xp.log(xp.sum(xp.exp(shifted)))


def masked(scores: Any, scale: Any, fill: Any, integer: str) -> Any:
    query = xp.arange(scores.shape[0], dtype=integer)[:, None]
    key = xp.arange(scores.shape[1], dtype=integer)
    return softmax(xp.where(query >= key, scores * scale, fill))


def murmur(x: Any, seed: Any) -> Any:
    x = x ^ seed
    x = (x ^ xp.shift_right_logical(x, 16)) * 0x85EBCA6B
    x = (x ^ xp.shift_right_logical(x, 13)) * 0xC2B2AE35
    return x ^ xp.shift_right_logical(x, 16)


def padded_convolution(x: Any, weight: Any, bias: Any) -> Any:
    place = xp.arange(x.shape[0])[:, None] + xp.arange(weight.shape[0]) - (weight.shape[0] - 1)
    window = xp.where(place >= 0, xp.take(x, xp.maximum(place, 0)), 0)
    return xp.sum(weight * window, axis=1) + bias


def max_backward(x: Any, gradient: Any) -> Any:
    mask = xp.where(x == xp.max(x), 1, 0)
    return mask * (gradient / xp.sum(mask))


SAME: dict[str, tuple[str | None, Function, dict[str, Any]]] = {
    "silu": (None, lambda x: x * (1 / (1 + xp.exp(-x))), {}),
    "silu_div": (None, lambda x: x / (1 + xp.exp(-x)), {}),
    "silu_div_sub": (None, lambda x: x / (1 + xp.exp(0 - x)), {}),
    "silu_tanh": (None, lambda x: x * (0.5 * (1 + xp.tanh(0.5 * x))), {}),
    "gelu_tanh": (
        None,
        lambda x: 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        {},
    ),
    "gelu_tanh_jax": (
        None,
        lambda x: x * (0.5 * (1 + xp.tanh(xp.sqrt(2 / xp.pi) * (x + 0.044715 * (x * x * x))))),
        {},
    ),
    "gelu_tanh_powf": (
        None,
        lambda x: 0.5 * x * (1 + xp.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3.0))),
        {},
    ),
    "swiglu": (None, lambda gate, up: gate * xp.sigmoid(gate) * up, {}),
    "sigmoid": (None, xp.sigmoid, {}),
    "relu": (None, xp.relu, {}),
    "relu_where": (None, lambda x: xp.where(x > 0, x, 0), {}),
    "relu_integer": (None, xp.relu, {"element_types": ("i8", "i16", "i32", "i64")}),
    "clamp": (None, lambda x, lower, upper: xp.clip(x, lower, upper), {"scalars": ("lower", "upper")}),
    "log_add_exp": (None, xp.logaddexp, {}),
    "softplus": (None, lambda x: xp.log1p(xp.exp(x)), {}),
    "softplus_threshold": (None, lambda x: xp.where(x > 20, x, xp.log1p(xp.exp(x))), {}),
    "lerp_convex": (None, lambda start, end, weight: (1 - weight) * start + weight * end, {}),
    "murmur_mix": (None, murmur, {"element_types": None, "types": {"x": "i32", "seed": "i32"}}),
    "softmax": ("(n)->(n)", softmax, {}),
    "softmax_accumulating": ("(n)->(n)", softmax, {"accumulator": "f32"}),
    "log_softmax": ("(n)->(n)", log_softmax, {}),
    "layer_norm": ("(n),()->(n)", normalised, {"scalars": "epsilon"}),
    "layer_norm_affine": (
        "(n),(n),(n),()->(n)",
        lambda x, gamma, beta, epsilon: normalised(x, epsilon) * gamma + beta,
        {"scalars": "epsilon"},
    ),
    "rms_norm": ("(n),()->(n)", lambda x, epsilon: x / xp.sqrt(xp.mean(x * x) + epsilon), {"scalars": "epsilon"}),
    "group_norm": (
        "(n,m),(n),(n),()->(n,m)",
        lambda x, gamma, beta, epsilon: normalised(x, epsilon) * gamma[:, None] + beta[:, None],
        {"scalars": "epsilon"},
    ),
    "rotary": (
        "(n),(n),(n)->(n)",
        lambda x, c, s: x * c + xp.concat([-x[x.shape[0] // 2 :], x[: x.shape[0] // 2]]) * s,
        {},
    ),
    "masked_softmax_causal": (
        "(n,m),(),()->(n,m)",
        lambda scores, scale, fill: masked(scores, scale, fill, "index"),
        {"scalars": ("scale", "fill")},
    ),
    "masked_softmax_causal_jax": (
        "(n,m),(),()->(n,m)",
        lambda scores, scale, fill: masked(scores, scale, fill, "i32"),
        {"scalars": ("scale", "fill")},
    ),
    "softmax_cross_entropy": ("(n),(n)->()", lambda x, target: -xp.sum(target * log_softmax(x)), {}),
    "softmax_cross_entropy_label_onehot": (
        "(n),()->()",
        lambda x, label: -xp.sum(xp.astype(xp.arange(x.shape[0]) == label, x.dtype) * log_softmax(x)),
        {"types": {"label": "i32"}},
    ),
    "fused_linear": ("(n),(n),()->()", lambda x, weight, bias: x @ weight + bias, {}),
    "causal_conv1d_padded": ("(n),(k),()->(n)", padded_convolution, {}),
    "cosine_similarity_plain": (
        "(n),(n)->()",
        lambda x, y: xp.sum(x * y) / (xp.sqrt(xp.sum(x * x)) * xp.sqrt(xp.sum(y * y))),
        {},
    ),
    "mean_variance": ("(n)->(),()", lambda x: (xp.mean(x), xp.var(x)), {}),
    "global_norm": (None, lambda x: xp.sqrt(xp.sum(x * x)), {"flatten": "x"}),
    "global_norm_torch": (None, lambda x: xp.pow(xp.sum(xp.pow(abs(x), 2.0)), 0.5), {"flatten": "x"}),
    "reduce_max_backward": ("(n),()->(n)", max_backward, {}),
}


@pytest.mark.parametrize("name", SAME)
def test_identity_is_that_of_the_text(name: str) -> None:
    """A recipe from Python and the same one written in MLIR have one identity, and say the same of their arguments."""
    signature, function, options = SAME[name]
    written = library(name)
    traced = xfuse.recipe(signature, name=name, **options)(function)
    assert traced.text == written.text
    assert traced.identity == written.identity
    assert traced.element_types == written.element_types
    assert traced.scalar_slots == written.scalar_slots


@pytest.mark.parametrize("name", [*CORE, *SAME])
def test_text_loads_back(name: str) -> None:
    """A traced recipe prints as MLIR that has its identity and its marks."""
    if name in SAME and name not in CORE:
        signature, function, options = SAME[name]
        traced = xfuse.recipe(signature, name="main", **options)(function)
    else:
        traced = trace(*CORE[name])
    (loaded,) = parse_recipes(str(traced.op))
    assert loaded.text == traced.text
    assert str(loaded.op) == str(traced.op)


@pytest.mark.parametrize("element_type", ["f16", "bf16", "f32", "f64"])
def test_every_element_type(element_type: str) -> None:
    """A recipe is traced once and good for all its element types; literals follow, rounded once."""

    @xfuse.recipe("(n),(n),()->(n)", accumulator="f32", scalars="eps")
    def norm(x: Any, w: Any, eps: Any) -> Any:
        return layer_norm(x, w, eps) * 0.1

    x, w = RNG.normal(size=33), RNG.normal(size=33)
    given = [np.asarray(each, numpy_dtype(element_type)) for each in (x, w, 1e-3)]
    expected = eagerly(layer_norm, [each.astype(np.float64) for each in given]) * 0.1
    found = run_at(norm, element_type, *given)
    assert found.dtype == numpy_dtype(element_type)
    rounding = {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-6, "f64": 1e-13}[element_type]
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=rounding, atol=rounding)


# The decorator


@xfuse.recipe
def gate(x: Any, y: Any) -> Any:
    """x sigmoid(y)"""
    return x * xp.sigmoid(y)


def test_a_traced_recipe_is_a_recipe() -> None:
    assert isinstance(gate, Recipe)
    assert (gate.name, gate.family) == ("gate", "gate")
    assert gate.element_types == ("f16", "bf16", "f32", "f64")
    assert (gate.__name__, gate.__doc__) == ("gate", "x sigmoid(y)")
    assert gate.__wrapped__(0.5, 1.0) == 0.5 / (1 + math.exp(-1.0))
    assert [argument.name_hint for argument in gate.op.body.block.args] == ["x", "y"]


def test_a_traced_recipe_works_in_a_session() -> None:
    """Registering, identity, kernels, ufunc and fusing take it as any recipe."""
    with xfuse.Session(library=False) as session:
        assert xfuse.register(gate) is gate
        assert xfuse.name(gate.identity) == "gate"
        x, y = RNG.normal(size=(2, 7))
        expected = x / (1 + np.exp(-y))
        np.testing.assert_allclose(session.kernel(gate, "f64", "f64", "f64", backend="numpy")(x, y), expected)
        np.testing.assert_allclose(xfuse.ufunc(gate)(x, y), expected, rtol=1e-14)
        module = xfuse.fuse(f"func.func @main(%x: f64, %y: f64) -> f64 {{\n{body_text(gate)}\n}}")
        assert [op.name for op in module.walk() if op.name == "xfuse.fused"] == ["xfuse.fused"]


def body_text(recipe: Recipe) -> str:
    """The ops of a recipe as those of a function."""
    lines = str(recipe.op).splitlines()[1:-1]
    return "\n".join(lines).replace("xfuse.yield", "func.return")


def test_calling_on_arrays_with_loop_dimensions() -> None:
    """A recipe with core dimensions loops over all in front of them; a flattened argument is taken whole."""
    rows = xfuse.recipe("(n)->(n)", name="rows")(softmax)
    norm = xfuse.recipe(flatten="x", name="norm")(lambda x: xp.sqrt(xp.sum(x * x)))
    x = RNG.normal(size=(2, 3, 5))
    assert_same(rows(x), softmax(x), rtol=1e-12)
    assert_same(norm(x), np.sqrt(np.sum(x * x)), rtol=1e-12)


def test_calling_on_arrays() -> None:
    """Arrays give the element type; numbers follow; the results are the recipe's."""
    x = np.float32([0.5, -1.0])
    found = gate(x, 2)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, x / (1 + np.exp(-np.float32(2))), rtol=1e-6)
    assert gate(0.5, 1.0) == gate(np.float64(0.5), np.float64(1.0))
    with pytest.raises(KernelError, match=r"@gate has no form for arguments \(f32, f64\)"):
        gate(x, np.float64(2.0))
    with pytest.raises(KernelError, match="@gate takes 2 arguments, got 1"):
        gate(x)
    with pytest.raises(KernelError, match="by position"):
        gate(x, y=x)


def test_a_recipe_in_a_recipe_is_traced_in_its_place() -> None:
    @xfuse.recipe
    def twice(x: Any, y: Any) -> Any:
        return gate(gate(x, y), y=y)

    @xfuse.recipe(name="twice")
    def by_hand(x: Any, y: Any) -> Any:
        return x * xp.sigmoid(y) * xp.sigmoid(y)

    assert twice.identity == by_hand.identity


def test_loops_helpers_closures_and_defaults_are_traced() -> None:
    coefficients = [0.5, -0.25, 0.125]

    def horner(x: Any, *, terms: Any) -> Any:
        result = 0.0
        for each in reversed(terms):
            result = result * x + each
        return result

    @xfuse.recipe(element_types=("f32", "f64"))
    def polynomial(x: Any, scale: float = 2.0, *, shift: float = 1.0) -> Any:
        return horner(x, terms=coefficients) * scale + shift

    @xfuse.recipe(name="polynomial", element_types=("f32", "f64"))
    def by_hand(x: Any) -> Any:
        return ((((0.0 * x) + 0.125) * x - 0.25) * x + 0.5) * 2.0 + 1.0

    assert len(polynomial.argument_types) == 1
    x = np.linspace(-1, 1, 9)
    np.testing.assert_array_equal(polynomial(x), by_hand(x))


def test_a_parameter_with_a_default_is_an_argument_if_spoken_of() -> None:
    def scaled(x: Any, s: float = 2.0) -> Any:
        return x * s

    assert len(xfuse.recipe(scaled).argument_types) == 1
    assert xfuse.recipe(scalars="s")(scaled).scalar_slots == (1,)
    assert len(xfuse.recipe("(),()->()")(scaled).argument_types) == 2
    assert len(xfuse.recipe("()->()")(scaled).argument_types) == 1


def test_argument_types() -> None:
    """Annotations and ``types`` give arguments types of their own; other annotations say nothing."""

    @xfuse.recipe("(n),(),()->()", types={"start": np.int64})
    def pick(x: np.ndarray, mask: "i1", start: int) -> Any:  # noqa: F821, UP037 -- a string here names an element type
        return xp.where(mask, x[start], xp.sum(x))

    assert pick.signature("f32") == (("f32", "i1", "i64"), ("f32",))
    assert run(pick, np.arange(5.0), True, 3) == 3.0
    assert run(pick, np.arange(5.0), False, 3) == 10.0

    @xfuse.recipe
    def counted(x: Any, k: "i32", flag: bool, n: np.int16) -> Any:  # noqa: F821, UP037 -- a string here names an element type
        return x * k + n - flag

    assert counted.signature("f64")[0] == ("f64", "i32", "i1", "i16")
    np.testing.assert_array_equal(
        counted(np.array([0.5, 1.5]), np.int32([2, 3]), np.array([True, False]), np.int16([7, -7])), [7.0, -2.5]
    )


def test_integer_recipes() -> None:
    """Literals, extremes and casts follow an integer type; given unsigned, a literal is taken by its bits."""

    @xfuse.recipe("(n)->(),()", element_types=("i8", "i16", "i32", "i64"))
    def extremes(x: Any) -> Any:
        return xp.max(x), xp.min(x)

    @xfuse.recipe(element_types=("i8", "i32"))
    def scramble(x: Any) -> Any:
        return (x ^ 0xFFFFFFFF) * 3

    for bits in (8, 16, 32, 64):
        found = run_at(extremes, f"i{bits}", np.array([5, -7, 11], f"int{bits}"))
        assert [int(each) for each in found] == [11, -7]
        nothing = run_at(extremes, f"i{bits}", np.zeros(0, f"int{bits}"))
        assert [int(each) for each in nothing] == [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
    np.testing.assert_array_equal(scramble(np.int8([1, -5])), [-6, 12])


def test_division_of_integers_is_at_the_float_type() -> None:
    half = xfuse.recipe(name="half", element_types=("i32", "i64"))(lambda x: x / 2)
    assert half.signature("i32")[1] == ("f64",)
    assert half(np.int32([3, 5])).tolist() == [1.5, 2.5]


def test_powers() -> None:
    """The operator with a literal exponent is what it says; the function is always powf."""
    ops: dict[str, Function] = {
        "arith.mulf": lambda x: x**2,
        "arith.mulf arith.mulf": lambda x: x**3,
        "math.fpowi": lambda x: x**5,
        "arith.divf": lambda x: x**-1,
        "math.sqrt": lambda x: x**0.5,
        "math.powf": lambda x: x**3.0,
        "math.powf ": lambda x: xp.pow(x, 2),
        "math.powf  ": lambda x: 2**x,
        "arith.addf": lambda x: x**1 + x**0,
    }
    for expected, function in ops.items():
        recipe = xfuse.recipe(name="power")(function)
        names = [op.name for op in recipe.op.body.block.ops if op.name not in ("arith.constant", "xfuse.yield")]
        assert " ".join(names) == expected.strip()
        x = np.array([0.5, 2.0, 3.0])
        np.testing.assert_allclose(recipe(x), function(x), rtol=1e-15)


def test_literals_are_weak_and_exact() -> None:
    """A literal takes the array's type and is rounded to it once."""
    recipe = xfuse.recipe(name="tenth", element_types=("f16", "f32", "f64"))(lambda x: x * 0.1 + np.float32(0.5) + True)
    np.testing.assert_array_equal(recipe(np.float32([3])), np.float32([3]) * np.float32(0.1) + np.float32(0.5) + 1)
    constants = [op for op in recipe.op.body.block.ops if op.name == "arith.constant"]
    assert [op.value.value.data for op in constants] == [0.1, 0.5, 1.0]


def test_constants_are_computed_before_tracing() -> None:
    """Functions of numbers alone are NumPy's, and leave a literal."""
    recipe = xfuse.recipe(name="c")(lambda x: x * xp.sqrt(2 / xp.pi) + xp.maximum(1, 2) + xp.erf(0.5))
    kinds = [op.name for op in recipe.op.body.block.ops]
    assert kinds.count("arith.constant") == 3
    assert not any(kind.startswith("math.") for kind in kinds)
    np.testing.assert_allclose(xp.erf(np.array([0.5])), [math.erf(0.5)], rtol=1e-15)
    assert xp.sigmoid(0.0) == 0.5
    assert xp.relu(np.array([-1.0, 2.0])).tolist() == [0.0, 2.0]


# Extents


def test_symbols_decide_equality() -> None:
    n, m, two = named("n"), named("m"), number(2)
    assert (n - n // 2) + n // 2 == n
    assert (n * two) // 2 == n
    assert (n * two + number(3)) // 2 == n + number(1)
    assert (n * m).divide(m) == n
    assert n // 2 != m // 2
    assert str(n // 2 * two - m * number(3) + number(1)) == "-3*m + 2*(n//2) + 1"
    assert str(parse_signature("(n),( n//2 ),(),(2*h,3)->(n)")) == "(n),(n//2),(),(2*h,3)->(n)"


SYMBOLS = st.recursive(
    st.sampled_from(["n", "m", "1", "2", "3"]),
    lambda inner: st.one_of(
        st.builds(lambda a, b, op: f"({a} {op} {b})", inner, inner, st.sampled_from("+-*")),
        st.builds(lambda a, d: f"({a} // {d})", inner, st.integers(1, 5)),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(SYMBOLS, st.integers(0, 9), st.integers(0, 9))
def test_symbols_compute_what_they_say(text: str, n: int, m: int) -> None:
    """The normal form of an expression has its value."""
    (((symbol,),),) = (parse_signature(f"({text})->()").arguments,)
    known = {"n": n, "m": m}
    assert eval(str(symbol), {}, known) == eval(text, {}, known)


def test_extents_that_are_equal_compare_equal() -> None:
    """Python may decide on extents where the signature settles it."""

    def checked(x: Any, y: Any, z: Any) -> Any:
        assert x.shape == y.shape
        assert x.shape[0] == y.shape[0]
        assert x.shape[0] + 1 != x.shape[0]
        assert x.shape[0] * 2 > x.shape[0] * 2 - 1
        assert len(z) == z.shape[0] == 3
        return x + y + xp.sum(z)

    recipe = trace("(n),(n),(3)->(n)", checked)
    assert run(recipe, np.ones(2), np.ones(2), np.ones(3)).tolist() == [5.0, 5.0]


# NumPy's own functions

NUMPY: dict[str, tuple[str, Function]] = {
    "exp": ("()->()", lambda x: np.exp(x)),
    "ufuncs": ("(n),(n)->(n)", lambda x, y: np.add(np.arctan2(x, y), np.true_divide(np.absolute(x), np.power(y, 2.0)))),
    "more ufuncs": ("(n),(n)->(n)", lambda x, y: np.hypot(np.rint(x), np.fmin(x, y))),
    "comparison": ("(n)->(n)", lambda x: np.where(np.logical_and(x > 0, np.isfinite(x)), x, np.negative(x))),
    "scalar on the left": ("(n)->(n)", lambda x: np.float64(2) * x - np.array([1.0])[0]),
    "table on the left": ("(3)->(3)", lambda x: np.array([1.0, 2.0, 3.0]) / x),
    "matmul": ("(m,n),(n,k)->(m,k)", lambda x, y: np.matmul(x, y)),
    "sum": ("(m,n)->(m)", lambda x: np.sum(x, axis=1)),
    "positional": ("(m,n)->(m)", lambda x: np.sum(x, 1) + np.mean(x, -1)),
    "keepdims": ("(m,n)->(m,n)", lambda x: x - np.max(x, axis=-1, keepdims=True)),
    "ddof": ("(n)->()", lambda x: np.var(x, ddof=1) + np.std(x)),
    "amax": ("(m,n)->(m)", lambda x: np.amax(x, axis=1) - np.amin(x, axis=1)),
    "reduce": ("(m,n)->(n)", lambda x: np.add.reduce(x) + np.maximum.reduce(x, axis=0)),
    "accumulate": ("(n)->(n)", lambda x: np.add.accumulate(x) + np.cumsum(x)),
    "concatenate": ("(m,n),(k,n)->(m+k,n)", lambda x, y: np.concatenate([x, y], axis=0)),
    "stack": ("(n),(n)->(n,2)", lambda x, y: np.stack([x, y], -1)),
    "clip": ("(n)->(n)", lambda x: np.clip(x, -0.5, 0.5)),
    "transpose": ("(k,m,n)->(n,k,m)", lambda x: np.transpose(x, (2, 0, 1))),
    "T": ("(m,n)->(n,m)", lambda x: np.transpose(x) + np.swapaxes(x, 0, 1)),
    "reshape": ("(2*h)->(h,2)", lambda x: np.reshape(x, (-1, 2))),
    "flip": ("(n)->(n)", lambda x: np.flip(x) + np.roll(x, 1)),
    "tril": ("(m,n)->(m,n)", lambda x: np.tril(x, -1) + np.triu(x)),
    "argmax": ("(m,n)->(m)", lambda x: np.argmax(x, axis=1)),
    "take": ("(n)->(2)", lambda x: np.take(x, np.array([1, 0]))),
    "broadcast_to": ("(n)->(4,n)", lambda x: np.broadcast_to(x, (4, x.shape[0]))),
    "like": ("(n)->(n)", lambda x: np.zeros_like(x) + np.full_like(x, 2.0)),
    "tensordot": ("(m,n),(n,k)->(m,k)", lambda x, y: np.tensordot(x, y, axes=1) + np.dot(x, y)),
    "methods": ("(m,n)->()", lambda x: x.sum() + x.max() + x.mean() + x.T.prod() + x.std() + x.ravel().min()),
    "more methods": ("(m,n)->(n)", lambda x: x.astype(np.int64).sum(axis=0) + x.T.dot(x[:, 0]) + x.argmin()),
}


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_function(name: str) -> None:
    """NumPy's functions and a traced array's methods stand for those of the namespace."""
    signature, function = NUMPY[name]
    arrays = arrays_for(signature)
    assert_same(run(trace(signature, function), *arrays), eagerly(function, arrays), rtol=1e-12)


# Errors


def bad_sum(x: Any, y: Any) -> Any:
    return x + y


def helper_sum(x: Any, y: Any) -> Any:
    z = x * 2
    return bad_sum(z, y)


def branch(x: Any) -> Any:
    if x > 0:
        return x + 1
    return -x


def branch_on_extent(x: Any) -> Any:
    return xp.sum(x) if x.shape[0] > 4 else xp.max(x)


def chained(x: Any) -> Any:
    return xp.where(0 < x < 1, x, 0)


def either(x: Any) -> Any:
    return max(x, 0)


def mutate(x: Any) -> Any:
    x[0] = 1
    return x


def loop_over_extent(x: Any) -> Any:
    total = 0
    for i in range(x.shape[0]):
        total = total + x[i]
    return total


def iterate(x: Any) -> Any:
    return sum(each for each in x)


ERRORS: dict[str, tuple[str | None, Function, dict[str, Any], str, str]] = {
    "broadcast": (
        "(n),(m)->(n)",
        bad_sum,
        {},
        r"shapes \(n,\) and \(m,\) do not broadcast: n and m are not known to",
        r"return x \+ y",
    ),
    "broadcast of numbers": ("(2),(3)->(3)", bad_sum, {}, "do not broadcast: 2 is not 3", r"return x \+ y"),
    "broadcast of both": ("(n),(3)->(n)", bad_sum, {}, "an extent that is known is a number there", r"return x \+ y"),
    "helper": ("(n),(m)->(n)", helper_sum, {}, "do not broadcast", "called at .*: return bad_sum\\(z, y\\)"),
    "if": (None, branch, {}, "depends on data while tracing, so `if`.* choose with xp.where", "if x > 0:"),
    "if on an extent": ("(n)->()", branch_on_extent, {}, "truth value of a traced array", "x.shape\\[0\\] > 4"),
    "chained": (None, chained, {}, "chained comparisons .* xp.logical_and", "0 < x < 1"),
    "builtin max": (None, either, {}, "truth value", r"max\(x, 0\)"),
    "mutation": ("(n)->(n)", mutate, {}, r"cannot be changed in place .*xp.where\(condition, new, x\)", r"x\[0\] = 1"),
    "range": (
        "(n)->()",
        loop_over_extent,
        {},
        r"range\(\) .* Python loops run over known numbers",
        r"range\(x.shape\[0\]\)",
    ),
    "iteration": ("(n)->()", iterate, {}, r"iteration over a traced array of shape \(n,\)", "for each in x"),
    "iteration of a scalar": (None, lambda x: list(x), {}, r"of shape \(\)", r"list\(x\)"),
    "float": (None, lambda x: math.exp(x), {}, r"float\(\) needs a number", r"math.exp\(x\)"),
    "int": (None, lambda x: int(x), {}, r"int\(\) needs a number.*xp.astype", r"int\(x\)"),
    "complex": (None, lambda x: complex(x), {}, "no complex numbers", r"complex\(x\)"),
    "complex literal": (None, lambda x: x * 2j, {}, r"cannot compute with 2j of type complex", r"x \* 2j"),
    "text": (None, lambda x: x + "a", {}, "cannot compute with 'a' of type str", 'x \\+ "a"'),
    "index": (None, lambda x: [1, 2][x], {}, "Python index", r"\[1, 2\]\[x\]"),
    "len": (
        "(n)->(n)",
        lambda x: x * len(x),
        {},
        r"len\(\) of an array of shape \(n,\): use x.shape\[0\]",
        r"len\(x\)",
    ),
    "len of a scalar": (None, lambda x: x * len(x), {}, r"len\(\) of a traced scalar", r"len\(x\)"),
    "round to digits": (None, lambda x: round(x, 2), {}, "scale, xp.round and scale back", r"round\(x, 2\)"),
    "asarray": (None, lambda x: np.asarray(x), {}, "no data yet", r"np.asarray\(x\)"),
    "unknown function": (None, lambda x: xp.sigmod(x), {}, "no 'sigmod'; near names are sigmoid", r"xp.sigmod\(x\)"),
    "unknown method": (None, lambda x: x.avg(), {}, "a traced array has no 'avg'", r"x.avg\(\)"),
    "unknown ufunc": (None, lambda x: np.spacing(x), {}, "np.spacing cannot be traced", r"np.spacing\(x\)"),
    "near ufunc": (
        None,
        lambda x: np.log1p(np.sinc(x)),
        {},
        "np.sinc cannot be traced; near names are .*sin",
        r"np.sinc\(x\)",
    ),
    "unknown NumPy function": (
        "(n)->()",
        lambda x: np.median(x),
        {},
        "np.median cannot be traced; near names are mean",
        "median",
    ),
    "linalg": ("(n)->()", lambda x: np.linalg.norm(x), {}, "traced", "norm"),
    "out": (None, lambda x: np.exp(x, out=np.zeros(1)), {}, "with out=: traced arrays cannot be written", "out="),
    "where option": (None, lambda x: np.exp(x, where=False), {}, "with where= cannot be traced", "where="),
    "ufunc method": (
        "(n)->()",
        lambda x: np.subtract.reduce(x),
        {},
        "np.subtract.reduce cannot be traced; known",
        "reduce",
    ),
    "other ufunc method": ("(n)->()", lambda x: np.add.outer(x, x), {}, "np.add.outer cannot", "outer"),
    "arguments": (
        None,
        lambda x: xp.exp(x, 2),
        {},
        r"xp.exp: too many positional arguments; its arguments are \(x",
        r"xp.exp\(x, 2\)",
    ),
    "axis": ("(n)->()", lambda x: xp.sum(x, axis=1), {}, "axis 1 is out of range for an array of 1 dim", "axis=1"),
    "axis twice": ("(m,n)->()", lambda x: xp.sum(x, axis=(0, -2)), {}, "axis -2 is given twice", "axis="),
    "traced axis": (
        "(n)->()",
        lambda x: xp.sum(x, axis=x.shape[0]),
        {},
        "axis must be an integer that is known",
        "axis=",
    ),
    "dtype": (None, lambda x: xp.astype(x, "f99"), {}, "'f99' is no element type; expected one of f16", "f99"),
    "mixed floats": (None, lambda x: x + xp.astype(x, "f32"), {}, "types f64 and f32 are mixed", "astype"),
    "mixed integers": (
        None,
        lambda x: x + xp.astype(x, "i16"),
        {"element_types": ("i8", "i32")},
        "i32 and i16 are mixed, and i32 follows the use",
        "astype",
    ),
    "truth": (
        None,
        lambda x: (x > 0) + (x < 1),
        {},
        "xp.add of truth values; combine them with xp.logical_and",
        "x < 1",
    ),
    "bits of floats": (None, lambda x: x & 1, {}, "xp.bitwise_and of f64", "x & 1"),
    "literal too large": (
        None,
        lambda x: x + 2**33,
        {"element_types": "i32"},
        "8589934592 is beyond the range of i32",
        "2",
    ),
    "float literal": (None, lambda x: xp.full_like(x, 0.5), {"element_types": "i32"}, "0.5 is no i32", "full_like"),
    "huge literal": (None, lambda x: x + 10**400, {}, "beyond the range of f64", "400"),
    "matmul": ("(m,n),(m)->(m)", lambda x, y: x @ y, {}, "the summed axes are not known to be equal, n and m", "@"),
    "matmul scalar": (None, lambda x: x @ x, {}, r"xp.matmul of a scalar; use \*", "@"),
    "concat": ("(m,n),(n)->(n)", lambda x, y: xp.concat([x, y]), {}, "same number of axes", "concat"),
    "concat apart": ("(m,n),(m,k)->(m,n)", lambda x, y: xp.concat([x, y]), {}, "differ along axis 1", "concat"),
    "reshape": (
        "(n)->(n)",
        lambda x: xp.reshape(x, (3, 4)),
        {},
        "not known to have as many elements: n and 12",
        "reshape",
    ),
    "reshape -1": (
        "(n),(m)->(n)",
        lambda x, y: x.reshape(-1, y.shape[0]),
        {},
        "cannot be told: n elements by m",
        "reshape",
    ),
    "reshape -1 twice": ("(n)->(n)", lambda x: x.reshape(-1, -1), {}, "at most one of them -1", "reshape"),
    "reshape by data": (
        "(n)->(n)",
        lambda x: x.reshape(xp.sum(x)),
        {},
        "come from the shape of an argument",
        "reshape",
    ),
    "squeeze": ("(n)->(n)", lambda x: xp.squeeze(x, 0), {}, "axis 0 .* is not of extent one", "squeeze"),
    "permute": ("(m,n)->(m)", lambda x: xp.permute_dims(x, (0, 0)), {}, "no order of the axes", "permute"),
    "broadcast_to": (
        "(m,n)->(n)",
        lambda x: xp.broadcast_to(x, x.shape[1:]),
        {},
        "does not broadcast to",
        "broadcast_to",
    ),
    "mT": ("(n)->(n)", lambda x: x.mT, {}, "which is no matrix", "mT"),
    "indices": ("(n)->()", lambda x: x[0, 1], {}, r"2 indices for an array of shape \(n,\)", r"x\[0, 1\]"),
    "index range": ("(3)->()", lambda x: x[3], {}, "index 3 is out of range for axis 0", r"x\[3\]"),
    "index list": ("(n)->(n)", lambda x: x[[0, 1]], {}, r"\[0, 1\] is no index", r"x\[\[0, 1\]\]"),
    "index mask": ("(n)->(n)", lambda x: x[x > 0], {}, r"is no index; use xp.where", r"x\[x > 0\]"),
    "index array": ("(n)->(n)", lambda x: x[xp.arange(x.shape[0])], {}, "use xp.take", r"x\[xp"),
    "slice by data": (
        "(n),()->(n)",
        lambda x, k: x[:k],
        {"types": {"k": "i32"}},
        "bound of a slice must be an int",
        r"x\[:k\]",
    ),
    "slice step": ("(n)->(n)", lambda x: x[:: x.shape[0]], {}, "step of a slice must be an integer", "x\\["),
    "slice bound": ("(n)->(n)", lambda x: x[:1.5], {}, "must be an integer, got 1.5", "1.5"),
    "ellipses": ("(n)->(n)", lambda x: x[..., ...], {}, "one ellipsis only", r"\.\.\."),
    "take": ("(n)->(n)", lambda x: xp.take(x, x), {}, "indices must be integers, got f64", "take"),
    "cumulative": ("(m,n)->(n)", lambda x: xp.cumulative_sum(x), {}, "say along which axis", "cumulative_sum"),
    "arange": ("(n)->(n)", lambda x: x * xp.arange(0, x.shape[0], -1), {}, "step must be a positive", "arange"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_line(name: str) -> None:
    """What cannot be traced is refused with the recipe, the reason, and the file, line and text of the user's code."""
    signature, function, options, message, text = ERRORS[name]
    with pytest.raises(TracingError, match=f"(?s)main: .*{message}.*{text}") as caught:
        trace(signature, function, **options)
    first = str(caught.value).splitlines()[1]
    assert first.startswith(f"  at {__file__}, line ")
    number_of_line = int(first.split("line ")[1].split(":")[0])
    source = Path(__file__).read_text().splitlines()[number_of_line - 1].strip()
    assert first.endswith(source)


DEFINITIONS: dict[str, tuple[str | None, Function, dict[str, Any], str]] = {
    "nothing": (None, lambda x: None, {}, "returned nothing; is a `return` missing?"),
    "a number": (None, lambda x: (x, 2.5), {}, "result 1 is 2.5, which is no traced array"),
    "a dictionary": (None, lambda x: {"y": x}, {}, "which is no traced array"),
    "no results": (None, lambda x: [], {}, "empty sequence"),
    "count of results": ("()->(),()", lambda x: x + 1, {}, "has 2 results, but the function returned 1"),
    "shape of a result": ("(n),(m)->(n)", lambda x, y: y + 1, {}, r"result 0 has shape \(m,\), but .* says \(n\)"),
    "rank of a result": ("(n)->(n)", lambda x: xp.sum(x), {}, r"result 0 has shape \(\), but"),
    "new name twice": ("(n)->(k),(k)", lambda x: (x[1:] + 1, x[2:] + 1), {}, r"result 1 has shape \(n - 2,\)"),
    "signature": ("(n)", lambda x: x, {}, "has no '->'"),
    "signature names": ("n->n", lambda x: x, {}, "expected core dimensions in parentheses"),
    "signature dimension": ("(n?)->(n)", lambda x: x, {}, "expected a name, an integer or an expression"),
    "signature count": ("(n),(n)->(n)", lambda x: x, {}, "has 2 arguments, but the function takes 1"),
    "signature count with defaults": (
        "()->()",
        lambda x, y, z=1: x,
        {},
        "has 1 arguments, but the function takes 2 to 3",
    ),
    "element type": (None, lambda x: x, {"element_types": "f63"}, "'f63' is no element type"),
    "accumulator": (None, lambda x: x, {"accumulator": "f33"}, "accumulator 'f33' is no element type"),
    "argument type": (None, lambda x: x, {"types": {"x": "u8"}}, "argument x has the type 'u8'"),
    "scalars": (None, lambda x: x, {"scalars": "y"}, "scalars= names 'y', which is no argument; arguments are x"),
    "name": (None, lambda x: x, {"name": "a b"}, "'a b' is no name"),
    "variable arguments": (None, lambda *x: x, {}, r"parameter \*x of the function"),
    "identity": (None, lambda x: x, {}, "gives one of its arguments back as result 0"),
    "constant": (None, lambda x: xp.zeros_like(x), {}, "does not use its argument 0|is a constant"),
    "unused": (None, lambda x, y: x + 1, {}, "does not use its argument 1"),
    "loop dimension": ("(n)->(n)", lambda x: x + 1, {}, r"loop dimension.*normal signature \(\)->\(\)"),
    "scalar slot of rank 1": ("(n)->()", lambda x: xp.sum(x), {"scalars": "x"}, "'xfuse.scalar' expected a scalar"),
    "mixed element types": (None, lambda x: x + 1, {"element_types": ("f32", "i32")}, "only floats or only integers"),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_errors_of_the_definition_name_its_line(name: str) -> None:
    """What is wrong with the options, the results or the recipe as a whole names the line of the function."""
    signature, function, options, message = DEFINITIONS[name]
    line = inspect.getsourcelines(function)[1]
    with pytest.raises(TracingError, match=f"(?s)^{options.get('name', 'some')}: .*{message}.*line {line}"):
        xfuse.recipe(signature, **{"name": "some", **options})(function)


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(TracingError, match="needs name="):
        xfuse.recipe(lambda x: x + 1)
    with pytest.raises(TracingError, match="needs name="):
        xfuse.recipe(functools.partial(lambda x, y: x + y, y=1))
    partial = functools.partial(lambda x, y: x + y, y=1)
    assert xfuse.recipe(name="partial")(partial)(2.0) == 3.0


def test_errors_have_a_cause_where_a_rule_refused() -> None:
    """The registry's own error is passed on."""
    with pytest.raises(TracingError) as caught:
        xfuse.recipe(name="some")(lambda x: x)
    assert type(caught.value.__cause__).__name__ == "RecipeError"


def test_unknown_names_are_attribute_errors_too() -> None:
    """So that hasattr works, on the namespace and on arrays."""
    assert not hasattr(xp, "nosuch")

    @xfuse.recipe
    def probing(x: Any) -> Any:
        assert not hasattr(x, "nosuch")
        assert not hasattr(x, "__array_interface__")
        return x + 1

    assert probing(1.0) == 2.0


def test_arrays_do_not_leave_their_trace() -> None:
    """A traced array that is kept is of no use later."""
    kept: list[Any] = []

    @xfuse.recipe
    def leaking(x: Any) -> Any:
        kept.append(x)
        return x + 1

    with pytest.raises(TracingError, match="of another recipe, or of a recipe that has been traced already"):
        xfuse.recipe(name="later")(lambda x: x + kept[0])
    with pytest.raises(TracingError, match="of another recipe"):
        xp.exp(kept[0])
    assert repr(trace("(n)->(n)", lambda x: kept.append(x.shape) or x + 1)) == "Recipe(@main)"
    assert repr(kept[1]) == "(<traced extent n>,)"
    assert repr(kept[0]) == "<traced f64 array of shape ()>"
    assert leaking(1.0) == 2.0


def test_a_failed_trace_leaves_nothing_behind() -> None:
    """The next trace starts afresh."""
    with pytest.raises(TracingError):
        xfuse.recipe(name="bad")(lambda x: x + "a")
    with pytest.raises(ZeroDivisionError):
        xfuse.recipe(name="bad")(lambda x: x / (1 // 0))
    assert xp.exp(0.0) == 1.0
    assert xfuse.recipe(name="good")(lambda x: x + 1)(1.0) == 2.0


# The package


def test_every_function_has_a_docstring_and_a_case() -> None:
    """The namespace is what these tests go through."""
    names = {name for name in dir(xp) if inspect.isfunction(getattr(xp, name))}
    assert all(getattr(xp, name).__doc__ for name in names)
    text = Path(__file__).read_text()
    for name in names:
        tables = [*FLOAT_UNARY, *FLOAT_BINARY, *INTEGER_UNARY, *INTEGER_BINARY]
        assert name in tables or f"xp.{name}(" in text or f"xp.{name}," in text, name
    assert names <= set(FUNCTIONS)
    page = (Path(__file__).parents[1] / "docs" / "tracing.md").read_text()
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_tracing_is_imported_when_first_used() -> None:
    """Neither the plugin nor the package's other names load it."""
    code = (
        "import sys, xfuse, xfuse.universe; xfuse.parse_module; "
        "before = 'xfuse.tracing' in sys.modules; xfuse.recipe, xfuse.xp; print(before, 'xfuse.tracing' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


# Random functions

LEAVES = st.sampled_from(["x", "y", "0.5", "2", "-3"])
UNARY = [
    "-{}",
    "abs({})",
    "xp.sqrt({})",
    "xp.floor({})",
    "xp.tanh({})",
    "{} ** 2",
    "xp.where({} > 0, x, y)",
    "xp.sign({})",
]
BINARY = [
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / {}",
    "xp.maximum({}, {})",
    "xp.where({} < {}, x, 1)",
    "np.minimum({}, {})",
]


def trees(leaves: Any, unary: list[str], binary: list[str]) -> Any:
    """Expressions as text."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda form, a: f"({form.format(a)})", st.sampled_from(unary), inner),
            st.builds(lambda form, a, b: f"({form.format(a, b)})", st.sampled_from(binary), inner, inner),
        ),
        max_leaves=10,
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=150, deadline=None)
@given(trees(LEAVES, UNARY, BINARY))
def test_random_expressions(text: str) -> None:
    """A traced expression of scalars gives NumPy's numbers."""
    function = eval(f"lambda x, y: x * 1 + y * 0 + {text}", {"xp": xp, "np": np, "abs": abs})
    x, y = np.array([0.25, -1.5, 3.0, -0.0, 1e8]), np.array([2.0, 0.5, -0.75, 1.0, -1e-8])
    assert_same(trace(None, function, element_types="f64")(x, y), eagerly(function, [x, y]))


MATRICES = st.sampled_from(["x", "y", "x[:, ::-1]", "xp.tril(y)", "z", "z[None, :]", "w[:, None]", "1.5", "y.T.T"])
ROWS = [
    "-{}",
    "{} - xp.max({}, keepdims=True)".replace("{} -", "x -"),
    "xp.sum(x * {}, axis=1, keepdims=True)",
    "xp.mean(y + {}, axis=0)",
    "xp.flip(x + {}, axis=0)",
    "xp.cumulative_sum(x * {}, axis=1)",
    "(x + {}) @ (x.T @ x)",
    "xp.concat([x, y + {}], axis=1)[:, x.shape[1] :]",
    "xp.reshape(xp.permute_dims(x + {}, (1, 0)), (-1,)).reshape(x.shape[1], -1).T",
    "xp.take(x + {}, np.array([0]), axis=0)",
]


@settings(max_examples=60, deadline=None)
@given(trees(MATRICES, ROWS, ["{} + {}", "{} * {}", "xp.where({} > {}, x, y)", "xp.minimum({}, {})"]))
def test_random_expressions_of_arrays(text: str) -> None:
    """A traced expression of arrays with core dimensions gives NumPy's numbers."""
    function = eval(f"lambda x, y, z, w: x + {text} + 0 * (y + z + w[:, None])", {"xp": xp, "np": np})
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=shape) for shape in ((M, N), (M, N), (N,), (M,))]
    found = run(trace("(m,n),(m,n),(n),(m)->(m,n)", function), *arrays)
    np.testing.assert_allclose(found, function(*arrays), rtol=1e-9, atol=1e-9)
