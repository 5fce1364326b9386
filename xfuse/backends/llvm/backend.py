"""The LLVM backend: element-wise recipes as real `numpy.ufunc` objects."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from xfuse.backends.llvm.loops import build_loop
from xfuse.backends.llvm.target import Target
from xfuse.backends.numpy.backend import elementwise_refusal
from xfuse.canonical.form import Form
from xfuse.errors import BackendUnavailable, UnsupportedError, XfuseError
from xfuse.kernels import Kernel, as_tuple
from xfuse.primitives.element_types import is_integer, numpy_dtype
from xfuse.primitives.llvm_text import TextBuilder, literal
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES, signedness
from xfuse.recipes import Recipe

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
        """Element-wise recipes whose ops all have an LLVM emission at these types."""
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

    def compile(self, recipe: Recipe, element_type: str | None) -> Kernel:
        """The kernel: a ufunc of one dtype tuple (and the same bits unsigned, where the ops allow it)."""
        if self.unavailable() is not None:
            raise BackendUnavailable(MISSING)
        refusal = self.refusal(recipe, element_type)
        if refusal is not None:
            raise UnsupportedError(f"llvm cannot make a kernel for recipe @{recipe.name}: {refusal}")
        from xfuse.backends.llvm.jit import host_target
        from xfuse.backends.llvm.ufunc import make_ufunc

        loops = recipe_loops(recipe, element_type, host_target())
        ufunc = make_ufunc(recipe.name, loops, recipe.text)
        arguments, results = recipe.signature(element_type)
        function = _at_dtypes(ufunc, loops[0].operand_dtypes, arguments, results)
        return Kernel(recipe.name, self.name, arguments, results, function, ufunc, loops[0].ir)

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
        return make_ufunc(recipe.name, loops, recipe.text)


_ORDER = ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64")


def _preference(element_type: str | None) -> int:
    """NumPy takes the first loop that the operands can be cast to: the narrowest comes first."""
    return _ORDER.index(element_type) if element_type in _ORDER else 0


def recipe_loops(recipe: Recipe, element_type: str | None, target: Target) -> Sequence[Any]:
    """The inner loops of a recipe at an element type; signed and unsigned integers are loops over the same code."""
    from xfuse.backends.llvm.ufunc import Loop

    form = recipe.form(element_type)
    arguments, results = recipe.signature(element_type)
    text = build_loop(recipe.name, arguments, results, lambda builder, names: emit(form, builder, names), target)
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
    read = {signedness(PRIMITIVES[node.kind], signature_of(form, n)) for n, node in _operations(form)}
    if "signed" in read:
        return (False,)
    return (True,) if "unsigned" in read else (False, True)


def _operations(form: Form) -> list[tuple[int, Any]]:
    reachable = form.graph.reachable(result.node for result in form.results)
    return [(number, form.graph.nodes[number]) for number in reachable if form.graph.nodes[number].kind in PRIMITIVES]


def signature_of(form: Form, number: int) -> Signature:
    """Types and attributes of a scalar op's node."""
    node = form.graph.nodes[number]
    types = tuple(form.graph.nodes[reference.node].element_type for reference in node.references)
    attributes = {name: str(value) for name, value in node.attributes if name != "result"}
    results = (node.element_type,)
    if len(PRIMITIVES[node.kind].types.results) > 1:
        results = (types[0], "i1" if node.kind == "arith.addui_extended" else types[0])
    return Signature(types, results, attributes)


def emit(form: Form, builder: TextBuilder, names: Sequence[str]) -> list[str]:
    """Emit an element-wise form as scalar instructions; returns the names of its results.

    Raises `UnsupportedError` for an op that has no LLVM emission at its types.
    """
    values: dict[int, str] = {argument.node: name for argument, name in zip(form.arguments, names, strict=True)}
    several: dict[tuple[str, tuple[str, ...]], Sequence[str]] = {}
    for number in form.graph.reachable(result.node for result in form.results):
        node = form.graph.nodes[number]
        if number in values:
            continue
        if node.kind == "constant":
            bits = node.attributes[0][1]
            assert isinstance(bits, int)
            values[number] = literal(node.element_type, bits)
            continue
        emission = PRIMITIVES[node.kind].llvm if node.kind in PRIMITIVES else None
        if emission is None:
            raise UnsupportedError(f"'{node.kind}' has no LLVM emission")
        operands = tuple(values[reference.node] for reference in node.references)
        signature = signature_of(form, number)
        which = dict(node.attributes).get("result")
        if which is None:
            values[number] = emission(builder, signature, *operands)
            continue
        key = (node.kind, operands)
        if key not in several:
            several[key] = emission(builder, signature, *operands)
        assert isinstance(which, int)
        values[number] = several[key][which]
    return [values[result.node] for result in form.results]


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
