"""Every recipe of the library with core dimensions, in programs at ranks core to core + 3: found, run, put back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import backward_references
import loss_references
import numpy as np
import pytest
import row_references
from reference_programs import emitted, fused, fused_ops, shipped, tensor
from row_references import Reference
from xdsl.ir import Attribute

import xfuse
from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.contractions import is_contraction
from xfuse.emission import type_named
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe

REFERENCES: dict[str, Reference] = {
    name: reference
    for table in (row_references.REFERENCES, backward_references.REFERENCES, loss_references.REFERENCES)
    for name, reference in table.items()
    if not shipped(name).is_scalar
}
LOOPS = ((), (3,), (2, 3), (2, 1, 3))


@cache
def session(name: str) -> xfuse.Session:
    made = xfuse.Session(library=False)
    made.register(shipped(name))
    return made


def operands(
    recipe: Recipe, element_type: str | None, loops: tuple[int, ...], dynamic: bool
) -> tuple[list[Attribute], dict[int, float], list[Any]]:
    """Types of arguments, values of scalar slots, and arrays for all arguments that are no slots."""
    reference = REFERENCES[recipe.name]
    rng = np.random.default_rng(len(loops))
    made = reference.arguments(rng, loops, max(6, reference.smallest))
    types: list[Attribute] = []
    slots: dict[int, float] = {}
    arrays: list[Any] = []
    for number, (array, held) in enumerate(zip(made, recipe.signature(element_type)[0], strict=True)):
        array = np.asarray(array).astype(numpy_dtype(held))
        written = recipe.argument_types[number]
        if number in recipe.scalar_slots:
            slots[number] = float(array)
            types.append(type_named(held))
            continue
        if array.ndim == 0 and not hasattr(written, "get_shape"):
            types.append(type_named(held))
        else:
            fixed = written.get_shape() if hasattr(written, "get_shape") else ()
            first = array.ndim - len(fixed)
            shape = [
                None if dynamic and (axis < first or fixed[axis - first] < 0) else extent
                for axis, extent in enumerate(array.shape)
            ]
            types.append(tensor(held, *shape))
        arrays.append(array)
    return types, slots, arrays


def check(recipe: Recipe, element_type: str | None, loops: tuple[int, ...], dynamic: bool) -> None:
    """Laws L1, L2, L3, L4, L7 and L8, and the declared error, for one program that is one instance of a recipe."""
    current = session(recipe.name)
    types, slots, arrays = operands(recipe, element_type, loops, dynamic)
    module = emitted(recipe, types, slots)
    copy = fused(module, current)
    (op,) = fused_ops(copy)
    instance = current.instance_of(op)
    assert instance is not None
    assert instance.recipe.identity == recipe.identity
    # An accumulating recipe is the plain one at wide types; element types that read alike are one.
    assert sum(recipe.signature(instance.element_type), ()) == sum(recipe.signature(element_type), ())
    program = xfuse.compile(copy, session=current)
    (row,) = program.rows
    assert (row.identity, row.dtypes) == (recipe.identity, sum(recipe.signature(element_type), ()))
    with_llvm = LLVMBackend().refusal(recipe, element_type) is None and not is_contraction(recipe)
    assert row.backend == ("llvm" if with_llvm else "numpy")
    results = program(*arrays)
    check_results(recipe, element_type, slots, arrays, results)


def check_results(
    recipe: Recipe, element_type: str | None, slots: dict[int, float], arrays: Sequence[Any], results: Any
) -> None:
    exact: list[Any] = []
    rest = iter(arrays)
    for number in range(len(recipe.argument_types)):
        array = np.asarray(slots[number]) if number in slots else next(rest)
        exact.append(array if array.dtype.kind in "biu" else array.astype(np.float64))
    main = element_type or recipe.signature(None)[1][0]
    errors = REFERENCES[recipe.name].errors(results, exact, main)
    assert max(errors) <= 1, errors


@pytest.mark.parametrize("name", REFERENCES)
def test_at_every_rank_dynamic_and_static(name: str) -> None:
    """DESIGN 3: a recipe at core rank applies over any loops, and a fused op resolves to the recipe's row."""
    recipe = shipped(name)
    element_type = "f32" if "f32" in recipe.uses else recipe.uses[0]
    for loops in LOOPS:
        for dynamic in (False, True):
            check(recipe, element_type, loops, dynamic)


@pytest.mark.parametrize("name", REFERENCES)
def test_at_every_element_type(name: str) -> None:
    """DESIGN 3: literals are rounded once to the type in use, and kernels are within the declared error."""
    recipe = shipped(name)
    for element_type in recipe.uses:
        check(recipe, element_type, (3,), dynamic=False)
