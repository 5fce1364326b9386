"""Probing a kernel against its recipe before it is used (law L6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xfuse.canonical.form import Form
from xfuse.errors import KernelError, UnsupportedError
from xfuse.kernels import Kernel
from xfuse.primitives import literals
from xfuse.primitives.element_types import is_float, numpy_dtype, width
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import op_name

Array = Any

_SPECIAL_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 20.0, -90.0, 1e-3, 1e30, -1e30)
_EDGES = (np.inf, -np.inf, np.nan)
_SAMPLES = 512


def evaluate(form: Form, arrays: Sequence[Array], noise: np.random.Generator | None = None) -> list[Array]:
    """An element-wise form on arrays, op by op through the primitives table.

    With ``noise`` every result of an inexact op is moved by up to its declared error, up or down at random.
    """
    nodes = form.graph.nodes
    values: dict[int, Array] = {argument.node: a for argument, a in zip(form.arguments, arrays, strict=True)}
    with np.errstate(all="ignore"):
        for number in form.graph.reachable(result.node for result in form.results):
            node = nodes[number]
            if number in values:
                continue
            if node.kind == "constant":
                bits = node.attributes[0][1]
                assert isinstance(bits, int)
                values[number] = literals.to_scalar(bits, node.element_type)
                continue
            primitive = PRIMITIVES.get(node.kind)
            if primitive is None:
                raise UnsupportedError(f"'{op_name(node)}' is not in the primitives table")
            operands = [values[reference.node] for reference in node.references]
            attributes = {name: str(value) for name, value in node.attributes}
            which = attributes.pop("result", None)
            types = tuple(nodes[reference.node].element_type for reference in node.references)
            results = (node.element_type,)
            if which is not None:
                results = (types[0], node.element_type if which == "1" else types[0])
            function: Any = primitive.numpy
            if isinstance(function, np.ufunc):
                value = function(*operands)
            else:
                value = function(Signature(types, results, attributes), *operands)
            value = value if which is None else value[int(which)]
            if noise is not None and primitive.ulp and is_float(node.element_type):
                value = _moved(value, node.element_type, primitive.ulp, noise)
            values[number] = value
    return [np.asarray(values[result.node]) for result in form.results]


def _moved(value: Any, element_type: str, ulp: float, noise: np.random.Generator) -> Array:
    wide: Array = np.asarray(value, np.float64)
    relative = epsilon(element_type) * ulp
    moved = np.asarray(wide * (1 + relative * noise.choice((-1.0, 1.0), size=value.shape)))
    np.copyto(moved, wide, where=~np.isfinite(wide))
    return moved.astype(value.dtype)


def epsilon(element_type: str) -> float:
    """Distance from 1 to the next float of an element type."""
    return {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}[element_type]


def probes(element_types: Sequence[str], seed: int = 0) -> list[Array]:
    """One array per element type: special values in every pairing that fits, then random ones."""
    generator = np.random.default_rng(seed)
    columns: list[Array] = []
    for number, element_type in enumerate(element_types):
        special = _special(element_type)
        shifted = np.concatenate([np.roll(special, shift * (number + 1)) for shift in range(len(special))])
        columns.append(np.concatenate([shifted, _random(element_type, generator)]))
    shortest = min(len(column) for column in columns)
    return [column[-shortest:] for column in columns]


def _special(element_type: str) -> Array:
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return np.array([False, True, True, False])
    if is_float(element_type):
        with np.errstate(all="ignore"):
            return np.array((*_SPECIAL_FLOATS, *_EDGES), np.float64).astype(dtype)
    top = 1 << (width(element_type) - 1)
    return np.array((0, 1, -1, 2, -3, 7, top - 1, -top), dtype)


def _random(element_type: str, generator: np.random.Generator) -> Array:
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return generator.integers(0, 2, _SAMPLES).astype(np.bool_)
    if is_float(element_type):
        scale = np.repeat((0.1, 1.0, 8.0, 60.0), _SAMPLES // 4)
        return (generator.standard_normal(_SAMPLES) * scale).astype(dtype)
    top = 1 << (width(element_type) - 1)
    return generator.integers(-top, top - 1, _SAMPLES, endpoint=True).astype(dtype)


def tolerance(form: Form, arrays: Sequence[Array], runs: int = 6) -> list[Array]:
    """How far a result may honestly be from `evaluate`'s: the spread when every inexact op errs as declared.

    Zero, to the bit, where every op is exact.
    """
    base = [value.astype(np.float64) for value in evaluate(form, arrays)]
    if all(PRIMITIVES[n.kind].ulp == 0 for n in form.graph.nodes if n.kind in PRIMITIVES):
        return [np.zeros(value.shape) for value in base]
    spread: list[Array] = [np.zeros(value.shape) for value in base]
    for run in range(runs):
        moved = evaluate(form, arrays, np.random.default_rng(run))
        for number, (value, original) in enumerate(zip(moved, base, strict=True)):
            wide = value.astype(np.float64)
            same = (wide == original) | (np.isnan(wide) & np.isnan(original))
            with np.errstate(all="ignore"):
                difference = np.abs(wide - original)
            # Where an error turns a finite value into inf or NaN, the result says nothing.
            difference = np.where(same, 0, np.where(np.isfinite(difference), difference, np.inf))
            spread[number] = np.maximum(spread[number], difference)
    slack: list[Array] = []
    for total, original, result in zip(spread, base, form.results, strict=True):
        element_type = form.graph.nodes[result.node].element_type
        unit = epsilon(element_type) if is_float(element_type) else 0.0
        with np.errstate(all="ignore"):
            rounding = np.where(np.isfinite(original), 4 * unit * np.abs(original), 0)
            slack.append(4 * total + rounding + tiny(element_type))
    return slack


def tiny(element_type: str) -> float:
    """The smallest positive normal number of an element type; 0 for integers."""
    return {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}.get(element_type, 0.0)


def mismatch(form: Form, arrays: Sequence[Array], results: Sequence[Array]) -> str | None:
    """The first place where results are further from the recipe than `tolerance` allows, in words; None if nowhere."""
    expected = evaluate(form, arrays)
    allowed = tolerance(form, arrays)
    for number, (want, got, limit) in enumerate(zip(expected, results, allowed, strict=True)):
        got = np.asarray(got)
        if got.dtype != want.dtype:
            return f"result {number} has dtype {got.dtype}, expected {want.dtype}"
        if got.shape != np.broadcast_shapes(*(array.shape for array in arrays)):
            return f"result {number} has shape {got.shape}, expected {want.shape}"
        want = np.broadcast_to(want, got.shape)
        wrong = ~_agrees(want, got, np.broadcast_to(limit, got.shape))
        if wrong.any():
            where = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            inputs = ", ".join(repr(np.broadcast_to(array, got.shape)[where]) for array in arrays)
            return f"result {number} at ({inputs}): expected {want[where]!r}, got {got[where]!r}"
    return None


def _agrees(want: Array, got: Array, limit: Array) -> Array:
    if want.dtype.kind in "iub":
        return want == got
    a, b = want.astype(np.float64), got.astype(np.float64)
    same = (a == b) & ((a != 0) | (np.signbit(a) == np.signbit(b)) | (limit > 0))
    with np.errstate(all="ignore"):
        return same | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= limit) | np.isinf(limit)


def probe(form: Form, kernel: Kernel) -> str | None:
    """Run a kernel on the probe set; what is wrong with it in words, or None if it agrees with its recipe.

    A kernel that NumPy does not drive as a ufunc must also cope with scalars, empty arrays, broadcasting, any strides
    and read-only arrays, and give new memory every time.
    """
    columns = probes(kernel.arguments)
    problem = _trial(form, kernel, columns, twice=kernel.ufunc is None)
    if problem is not None or kernel.ufunc is not None:
        return problem
    for layout, arrays in _layouts(columns):
        problem = _trial(form, kernel, arrays)
        if problem is not None:
            return f"on {layout}: {problem}"
    return None


def _layouts(columns: Sequence[Array]) -> Iterator[tuple[str, list[Array]]]:
    yield "arrays of shape ()", [column[-1:].reshape(()) for column in columns]
    yield "empty arrays", [column[:0] for column in columns]
    yield "strided arrays", [column[::-3] for column in columns]
    shapes = [(4, 1), (1, 5)] if len(columns) > 1 else [(4, 5)]
    spread: list[Array] = []
    for number, column in enumerate(columns):
        shape = shapes[number % len(shapes)]
        array = column[-(shape[0] * shape[1]) :].reshape(shape)
        array.flags.writeable = False
        spread.append(array)
    yield "read-only arrays that broadcast", spread


def _trial(form: Form, kernel: Kernel, arrays: Sequence[Array], *, twice: bool = False) -> str | None:
    originals = [array.copy() for array in arrays]
    given: list[tuple[Any, ...]] = []
    for _ in range(1 + twice):
        try:
            results = kernel(*arrays)
        except KernelError as error:
            return str(error)
        except Exception as error:  # a kernel is foreign code: whatever it raises is its verdict
            return f"it raised {type(error).__name__}: {error}"
        given.append(results if len(kernel.results) > 1 else (results,))
        for number, (array, original) in enumerate(zip(arrays, originals, strict=True)):
            if array.tobytes() != original.tobytes():
                return f"it wrote into its argument {number}"
    if any(np.may_share_memory(a, b) for earlier in given[:-1] for a in earlier for b in given[-1]):
        return "it gives the same memory back on every call"
    return mismatch(form, originals, given[-1])
