"""The LLVM backend: recipes as real `numpy.ufunc` objects, generalised ones where they have core dimensions."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from xfuse.backends.llvm.loops import build_loop
from xfuse.backends.llvm.rows import build_rows, rows_refusal
from xfuse.backends.llvm.scalars import emit
from xfuse.backends.llvm.target import Target
from xfuse.backends.numpy.backend import elementwise_refusal
from xfuse.canonical.form import Form
from xfuse.canonical.scalar_ops import op_signature
from xfuse.errors import BackendUnavailable, UnsupportedError, XfuseError
from xfuse.kernels import Kernel, as_tuple
from xfuse.primitives.element_types import is_integer, numpy_dtype
from xfuse.primitives.llvm_text import TextBuilder
from xfuse.primitives.table import PRIMITIVES, signedness
from xfuse.recipes import Recipe
from xfuse.signature import signature_of

MISSING = "the LLVM backend needs the package llvmlite; install it with: pip install 'xfuse[llvm]'"


@cache
def _has_llvmlite() -> bool:
    try:
        return importlib.util.find_spec("llvmlite") is not None
    except (ImportError, ValueError):  # an import hook forbids it
        return False


class LLVMBackend:
    """Machine code for the host, made by LLVM from IR text."""

    name = "llvm"

    def unavailable(self) -> str | None:
        """Whether llvmlite can be found; it is not imported."""
        return None if _has_llvmlite() else MISSING

    def refusal(self, recipe: Recipe, element_type: str | None) -> str | None:
        """Recipes whose ops all have an LLVM emission at these types.

        Those with core dimensions must have the signature of a ufunc and read nothing that may lie outside its array.
        """
        return _elementwise_refusal(recipe, element_type) if recipe.is_scalar else _row_refusal(recipe, element_type)

    def compile(self, recipe: Recipe, element_type: str | None) -> Kernel:
        """The kernel: a ufunc of one dtype tuple (and the same bits unsigned, where the ops allow it).

        For a recipe with flattened arguments that is the ufunc over the flattened operands.
        """
        if self.unavailable() is not None:
            raise BackendUnavailable(MISSING)
        refusal = self.refusal(recipe, element_type)
        if refusal is not None:
            raise UnsupportedError(f"llvm cannot make a kernel for recipe @{recipe.name}: {refusal}")
        from xfuse.backends.llvm.jit import host_target
        from xfuse.backends.llvm.ufunc import make_ufunc

        loops = recipe_loops(recipe, element_type, host_target())
        ufunc = make_ufunc(recipe.name, loops, recipe.text, _signature_text(recipe))
        arguments, results = recipe.signature(element_type)
        function = _at_dtypes(ufunc, loops[0].operand_dtypes, arguments, results)
        if recipe.flat:
            function = _flattened(function, recipe.flat)
        signature = None if recipe.is_scalar else signature_of(recipe)
        return Kernel(recipe.name, self.name, arguments, results, function, ufunc, loops[0].ir, signature, recipe.flat)

    def ufunc(self, recipe: Recipe) -> np.ufunc:
        """One `numpy.ufunc` with a loop for every element type that the recipe is for and NumPy can hold.

        Raises `UnsupportedError` if there is none, naming the reason for the last one, and `BackendUnavailable`.
        """
        if self.unavailable() is not None:
            raise BackendUnavailable(MISSING)
        from xfuse.backends.llvm.jit import host_target
        from xfuse.backends.llvm.ufunc import make_ufunc

        loops: list[Any] = []
        reason: str | None = None
        for element_type in sorted(recipe.uses, key=lambda each: _preference(each)):
            refusal = self.refusal(recipe, element_type)
            reason = refusal or reason
            if refusal is None:
                loops.extend(recipe_loops(recipe, element_type, host_target()))
        if not loops:
            raise UnsupportedError(f"llvm cannot make a ufunc for recipe @{recipe.name}: {reason}")
        return make_ufunc(recipe.name, loops, recipe.text, _signature_text(recipe))


_ORDER = ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64")


def _preference(element_type: str | None) -> int:
    """NumPy takes the first loop that the operands can be cast to: the narrowest comes first."""
    return _ORDER.index(element_type) if element_type in _ORDER else 0


def _signature_text(recipe: Recipe) -> str | None:
    return None if recipe.is_scalar else signature_of(recipe).text


def _elementwise_refusal(recipe: Recipe, element_type: str | None) -> str | None:
    refusal = elementwise_refusal(recipe, element_type)
    if refusal is not None:
        return refusal
    form = recipe.form(element_type)
    names = [f"%x{number}" for number in range(len(form.arguments))]
    try:
        emit(form, TextBuilder(), names)
    except XfuseError as error:
        return str(error)
    return None


@lru_cache(maxsize=4096)
def _row_refusal(recipe: Recipe, element_type: str | None) -> str | None:
    try:
        arguments, results = recipe.signature(element_type)
        for each in (*arguments, *results):
            numpy_dtype(each)
        return rows_refusal(recipe.form(element_type), signature_of(recipe), arguments, results)
    except XfuseError as error:
        return str(error)


def recipe_loops(recipe: Recipe, element_type: str | None, target: Target) -> Sequence[Any]:
    """The inner loops of a recipe at an element type; signed and unsigned integers are loops over the same code."""
    from xfuse.backends.llvm.ufunc import Loop

    form = recipe.form(element_type)
    arguments, results = recipe.signature(element_type)
    if recipe.is_scalar:
        text = build_loop(recipe.name, arguments, results, lambda builder, names: emit(form, builder, names), target)
    else:
        text = build_rows(recipe.name, form, signature_of(recipe), arguments, results, target)
    loops: list[Any] = []
    for unsigned in _signednesses(form):
        operand_dtypes = tuple(_dtype(each, unsigned) for each in arguments)
        result_dtypes = tuple(_dtype(each, unsigned) for each in results)
        if all(loop.operand_dtypes != operand_dtypes for loop in loops):
            loops.append(Loop(arguments, results, operand_dtypes, result_dtypes, text))
    return loops


def _dtype(element_type: str, unsigned: bool) -> np.dtype[Any]:
    dtype = numpy_dtype(element_type)
    return np.dtype(f"u{dtype.itemsize}") if unsigned and is_integer(element_type) and element_type != "i1" else dtype


def _signednesses(form: Form) -> tuple[bool, ...]:
    """Which NumPy integers a form is for: signed, unsigned, or both where no op tells them apart."""
    read: set[str | None] = set()
    for number in form.graph.reachable(result.node for result in form.results):
        node = form.graph.nodes[number]
        kind = str(dict(node.attributes)["combine"]) if node.kind == "reduce" else node.kind
        if kind in PRIMITIVES:
            read.add(signedness(PRIMITIVES[kind], op_signature(form.graph.nodes, node)))
    if "signed" in read:
        return (False,)
    return (True,) if "unsigned" in read else (False, True)


def _at_dtypes(
    ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]], arguments: Sequence[str], results: Sequence[str]
) -> Callable[..., Any]:
    """The ufunc on arrays of the element types' own dtypes, where it was made for unsigned integers by their bits."""
    own = [numpy_dtype(each) for each in arguments]
    wanted = [numpy_dtype(each) for each in results]
    if list(dtypes) == own:
        return ufunc

    def call(*arrays: Any) -> Any:
        values: Any = ufunc(*(np.asarray(array).view(dtype) for array, dtype in zip(arrays, dtypes, strict=True)))
        given = tuple(np.asarray(value).view(dtype)[()] for value, dtype in zip(as_tuple(values), wanted, strict=True))
        return given[0] if len(given) == 1 else given

    return call


def _flattened(function: Callable[..., Any], flat: Sequence[int]) -> Callable[..., Any]:
    """A function of flat arrays as one of arrays with any dimensions, which it takes whole."""

    def call(*arrays: Any) -> Any:
        return function(*(np.reshape(array, -1) if n in flat else array for n, array in enumerate(arrays)))

    return call
