"""The NumPy backend: the reference, exactly the primitives table."""

from __future__ import annotations

from typing import Any

import numpy as np

from xfuse.backends.numpy.core import core_kernel, core_refusal
from xfuse.backends.numpy.source import Writer
from xfuse.canonical.graph import op_name
from xfuse.errors import UnsupportedError, XfuseError
from xfuse.kernels import Kernel
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe

_LEAVES = ("argument", "constant")


class NumPyBackend:
    """Python source over NumPy arrays, a line or a few per op."""

    name = "numpy"

    def unavailable(self) -> str | None:
        """NumPy is always there."""
        return None

    def refusal(self, recipe: Recipe, element_type: str | None) -> str | None:
        """Recipes of vocabulary ops are in; everything else is named."""
        return elementwise_refusal(recipe, element_type) if recipe.is_scalar else core_refusal(recipe, element_type)

    def compile(self, recipe: Recipe, element_type: str | None) -> Kernel:
        """The kernel of a recipe."""
        refusal = self.refusal(recipe, element_type)
        if refusal is not None:
            raise UnsupportedError(f"numpy cannot make a kernel for recipe @{recipe.name}: {refusal}")
        return self._elementwise(recipe, element_type) if recipe.is_scalar else core_kernel(recipe, element_type)

    def _elementwise(self, recipe: Recipe, element_type: str | None) -> Kernel:
        form = recipe.form(element_type)
        source = Writer(form.graph, form.arguments, form.results, "kernel", elementwise=True).write()
        function = source.compile()
        arguments, results = recipe.signature(element_type)
        dtypes = [numpy_dtype(each) for each in results]

        def call(*arrays: Any) -> Any:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
            # Buffers are reused through out=, which takes no scalars: what comes out of 0-d arrays.
            arrays = tuple(array.reshape(1) if array.ndim == 0 else array for array in arrays)
            values = function(*arrays)
            given = tuple(
                _own(np.asarray(value), shape, dtype, arrays) for value, dtype in zip(values, dtypes, strict=True)
            )
            return given[0] if len(given) == 1 else given

        return Kernel(recipe.name, self.name, arguments, results, call, source=source.text)


def _own(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any], arrays: tuple[Any, ...]) -> Any:
    """A result at its full shape, writable and its own."""
    if not shape:
        return value.reshape(()).astype(dtype)[()]
    if value.shape == shape and value.dtype == dtype and not any(np.may_share_memory(value, each) for each in arrays):
        return value
    return np.array(np.broadcast_to(value, shape), dtype)


def elementwise_refusal(recipe: Recipe, element_type: str | None) -> str | None:
    """Why a recipe is not an element-wise function of table ops at an element type, or None if it is."""
    try:
        form = recipe.form(element_type)
        for each in (*recipe.signature(element_type)[0], *recipe.signature(element_type)[1]):
            numpy_dtype(each)
    except XfuseError as error:
        return str(error)
    if not recipe.is_scalar or not form.is_elementwise:
        return "it has core dimensions; only element-wise recipes have kernels"
    reachable = form.graph.reachable(result.node for result in form.results)
    for number in reachable:
        node = form.graph.nodes[number]
        if node.kind == "opaque":
            return f"'{op_name(node)}' is outside the vocabulary; bind a kernel with trusted=True"
        if node.kind not in PRIMITIVES and node.kind not in _LEAVES:
            return f"'{node.kind}' has no element-wise evaluation"
    return None
