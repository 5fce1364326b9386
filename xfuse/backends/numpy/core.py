"""NumPy kernels for recipes with core dimensions: one source for each way in which operands lie along the loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from xfuse.backends.numpy.noise import Noise
from xfuse.backends.numpy.source import Source, Writer
from xfuse.canonical.form import Form
from xfuse.canonical.graph import op_name
from xfuse.canonical.lift import is_liftable, lift
from xfuse.errors import XfuseError
from xfuse.kernels import Kernel
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe
from xfuse.signature import signature_of

_Loops = tuple[tuple[int | None, ...], ...]


@lru_cache(maxsize=4096)
def core_refusal(recipe: Recipe, element_type: str | None) -> str | None:
    """Why NumPy cannot evaluate a recipe with core dimensions at an element type, or None if it can."""
    try:
        form = recipe.form(element_type)
        for each in sum(recipe.signature(element_type), ()):
            numpy_dtype(each)
        for number in form.closing.order:
            node = form.graph.nodes[number]
            if node.kind == "opaque":
                return f"'{op_name(node)}' is outside the vocabulary; bind a kernel with trusted=True"
        Writer(form.graph, form.arguments, form.results).write()
    except XfuseError as error:
        return str(error)
    return None


def core_kernel(recipe: Recipe, element_type: str | None) -> Kernel:
    """The kernel of a recipe with core dimensions that `core_refusal` has nothing against."""
    form, signature = recipe.form(element_type), signature_of(recipe)
    arguments, results = recipe.signature(element_type)
    function = CoreFunction(form, [len(each) for each in signature.arguments], recipe.flat)
    source = function.source(tuple(() for _ in form.arguments)).text
    return Kernel(recipe.name, "numpy", arguments, results, function, None, source, signature, recipe.flat)


class CoreFunction:
    """A form with core dimensions as a function of arrays with loop dimensions in front, by NumPy's gufunc rule."""

    def __init__(self, form: Form, ranks: Sequence[int], flat: Sequence[int] = (), noise: Noise | None = None) -> None:
        self.form = form
        self.ranks = ranks
        self.flat = frozenset(flat)
        self.noise = noise
        self._liftable = is_liftable(form.graph, form.results)
        self._functions: dict[_Loops, Callable[..., tuple[Any, ...]]] = {}

    def source(self, loops: _Loops) -> Source:
        """The Python source for operands that have these loop axes: 1 where one does not vary, else None."""
        graph, arguments, results = lift(self.form.graph, self.form.arguments, self.form.results, loops)
        return Writer(graph, arguments, results, "kernel", noise=self.noise).write()

    def __call__(self, *arrays: Any) -> Any:
        """Arrays of the right dtypes whose dimensions fit; one array, or a tuple of them."""
        taken = [array.reshape(-1) if n in self.flat else array for n, array in enumerate(arrays)]
        shapes = [
            array.shape[: array.ndim - rank] if rank else array.shape
            for array, rank in zip(taken, self.ranks, strict=True)
        ]
        with np.errstate(all="ignore"):
            if self._liftable:
                loops = tuple(tuple(1 if extent == 1 else None for extent in shape) for shape in shapes)
                given = self._function(loops)(*taken)
            else:
                given = self._each(taken, shapes)
        values = tuple(value if value.ndim else value[()] for value in given)
        return values[0] if len(values) == 1 else values

    def _function(self, loops: _Loops) -> Callable[..., tuple[Any, ...]]:
        function = self._functions.get(loops)
        if function is None:
            if self._liftable:
                function = self.source(loops).compile()
            else:
                form = self.form
                function = (
                    Writer(form.graph, form.arguments, form.results, "kernel", noise=self.noise).write().compile()
                )
            self._functions[loops] = function
        return function

    def _each(self, arrays: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
        """One item of the loops after the other."""
        function = self._function(())
        shape = np.broadcast_shapes(*shapes)
        spread = [
            np.broadcast_to(array, (*shape, *array.shape[array.ndim - rank :]))
            for array, rank in zip(arrays, self.ranks, strict=True)
        ]
        items = [function(*(array[at] for array in spread)) for at in np.ndindex(shape)]
        if not items:  # their shapes are those of any item
            empty = function(*(np.zeros(array.shape[len(shape) :], array.dtype) for array in spread))
            return tuple(np.zeros((*shape, *value.shape), value.dtype) for value in empty)
        return tuple(
            np.stack([item[k] for item in items]).reshape((*shape, *items[0][k].shape)) for k in range(len(items[0]))
        )
