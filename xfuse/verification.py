"""Probing a kernel against its recipe before it is used (law L6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xfuse.backends.numpy.core import CoreFunction
from xfuse.backends.numpy.noise import Noise, epsilon
from xfuse.canonical.form import Form
from xfuse.canonical.graph import Node, op_name
from xfuse.canonical.scalar_ops import op_signature
from xfuse.errors import KernelError, UnsupportedError
from xfuse.kernels import Kernel, as_tuple
from xfuse.primitives import literals
from xfuse.primitives.element_types import is_float
from xfuse.primitives.table import PRIMITIVES
from xfuse.probes import core_probes, probes, strided
from xfuse.signature import CoreSignature

Array = Any

Evaluation = Callable[[Sequence[Array], int | None], list[Array]]
"""A recipe on arrays, op by op through the primitives table; with a seed every inexact op errs by what it may."""


def evaluation(form: Form, kernel: Kernel | None) -> Evaluation:
    """The evaluation of the form of a kernel's recipe; without a kernel the form is taken to be element-wise."""
    if kernel is None or kernel.signature is None:
        return lambda arrays, seed: evaluate(form, arrays, None if seed is None else Noise(seed))
    ranks = [len(each) for each in kernel.signature.arguments]
    noise = Noise(0)
    plain, noisy = (CoreFunction(form, ranks, kernel.flat, each) for each in (None, noise))

    def on_rows(arrays: Sequence[Array], seed: int | None) -> list[Array]:
        if seed is not None:
            noise.reseed(seed)
        results = (plain if seed is None else noisy)(*arrays)
        return [np.asarray(each) for each in as_tuple(results)]

    return on_rows


def evaluate(form: Form, arrays: Sequence[Array], noise: Noise | None = None) -> list[Array]:
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
            function: Any = primitive.numpy
            if isinstance(function, np.ufunc):
                value = function(*operands)
            else:
                value = function(op_signature(nodes, node), *operands)
            which: Any = dict(node.attributes).get("result")
            value = value if which is None else value[which]
            if noise is not None and primitive.ulp and is_float(node.element_type):
                value = noise.moved(value, node.element_type, primitive.ulp)
            values[number] = value
    return [np.asarray(values[result.node]) for result in form.results]


def tolerance(form: Form, evaluated: Evaluation, arrays: Sequence[Array], runs: int = 12) -> list[Array]:
    """How far a result may honestly be from the recipe's: the spread when every inexact op errs as declared.

    Zero, to the bit, where every op is exact.
    """
    base = [value.astype(np.float64) for value in evaluated(arrays, None)]
    if all(_is_exact(node) for node in form.graph.nodes):
        return [np.zeros(value.shape) for value in base]
    spread: list[Array] = [np.zeros(value.shape) for value in base]
    for run in range(runs):
        moved = evaluated(arrays, run)
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


def _is_exact(node: Node) -> bool:
    if node.kind == "reduce":
        return dict(node.attributes)["combine"] not in ("arith.addf", "arith.mulf")
    return node.kind not in PRIMITIVES or PRIMITIVES[node.kind].ulp == 0


def tiny(element_type: str) -> float:
    """The smallest positive normal number of an element type; 0 for integers."""
    return {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}.get(element_type, 0.0)


def mismatch(
    form: Form, arrays: Sequence[Array], results: Sequence[Array], evaluated: Evaluation | None = None
) -> str | None:
    """The first place where results are further from the recipe than `tolerance` allows, in words; None if nowhere.

    Without an ``evaluated`` the form is taken to be element-wise.
    """
    elementwise = evaluated is None
    evaluated = evaluated or evaluation(form, None)
    expected = evaluated(arrays, None)
    allowed = tolerance(form, evaluated, arrays)
    for number, (want, got, limit) in enumerate(zip(expected, results, allowed, strict=True)):
        got = np.asarray(got)
        if got.dtype != want.dtype:
            return f"result {number} has dtype {got.dtype}, expected {want.dtype}"
        if elementwise:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
            want, limit = np.broadcast_to(want, shape), np.broadcast_to(limit, shape)
        if got.shape != want.shape:
            return f"result {number} has shape {got.shape}, expected {want.shape}"
        wrong = ~_agrees(want, got, limit)
        if wrong.any():
            where = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            if elementwise:
                inputs = ", ".join(repr(np.broadcast_to(array, got.shape)[where]) for array in arrays)
            else:
                inputs = f"{tuple(map(int, where))} of arrays of shapes {', '.join(str(a.shape) for a in arrays)}"
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
    if kernel.signature is not None:
        return _probe_core(form, kernel, kernel.signature)
    columns = probes(kernel.arguments)
    problem = _trial(form, kernel, columns, twice=kernel.ufunc is None)
    if problem is not None or kernel.ufunc is not None:
        return problem
    for layout, arrays in _layouts(columns):
        problem = _trial(form, kernel, arrays)
        if problem is not None:
            return f"on {layout}: {problem}"
    return None


def _probe_core(form: Form, kernel: Kernel, signature: CoreSignature) -> str | None:
    """The probe of a kernel with core dimensions: sizes that the recipe cannot take are left out."""
    evaluated = evaluation(form, kernel)
    tried = 0
    for arrays in core_probes(kernel.arguments, signature, whole=bool(kernel.flat)):
        try:
            evaluated(arrays, None)
        except (KernelError, ValueError):
            continue
        tried += 1
        problem = _trial(form, kernel, arrays, evaluated, twice=tried == 1)
        if problem is None and tried % 2 == 0:
            problem = _trial(form, kernel, [strided(array) for array in arrays], evaluated)
        if problem is not None:
            return problem
    return None if tried else "no sizes of its core dimensions were found at which the recipe can be evaluated"


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


def _trial(
    form: Form, kernel: Kernel, arrays: Sequence[Array], evaluated: Evaluation | None = None, *, twice: bool = False
) -> str | None:
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
    return mismatch(form, originals, given[-1], evaluated)
