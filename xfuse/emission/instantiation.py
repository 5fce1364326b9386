"""Instantiating a recipe: its canonical form as plain ops, at the shapes of the values it is applied to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ShapedType, TensorType
from xdsl.ir import Operation, SSAValue, Use

from xfuse.canonical.build import element_name, static_shape
from xfuse.canonical.lift import UNLIFTABLE, lift
from xfuse.emission.elementwise import on_scalars, on_tensors
from xfuse.emission.generics import type_of
from xfuse.emission.shapes import fit
from xfuse.emission.writer import Emission
from xfuse.errors import DecomposeError, XfuseError
from xfuse.recipes import Recipe, spell_dtypes
from xfuse.signature import signature_of


@dataclass(frozen=True)
class Emitted:
    """Ops, not yet inserted anywhere, and the values among their results that are the recipe's results."""

    ops: list[Operation]
    results: list[SSAValue]


def emit(recipe: Recipe, inputs: Sequence[SSAValue]) -> Emitted:
    """A recipe as plain ops on some values: scalars, or tensors with loop dimensions in front of the core dimensions.

    An element-wise recipe on scalars is its own ops, on tensors one ``linalg.generic`` per result. A recipe with core
    dimensions is its canonical form at these shapes, a few ops per node: core dimensions of one name must have one
    extent, loop dimensions broadcast as those of NumPy's gufuncs do, and results have all loop dimensions in front.
    Extents are static where those of some operand are, dynamic ones in several operands are taken to be equal;
    whatever the recipe computes from extents is a literal where they are static.

    Raises `DecomposeError` for a wrong number of inputs, types that the recipe is not for, shapes that do not fit, an
    op outside the vocabulary in a recipe with core dimensions, and loop dimensions of a recipe that has to be applied
    to one item after the other.
    """
    before = [value.first_use for value in inputs]
    try:
        return _emit(recipe, inputs)
    except XfuseError as error:
        for value, first in zip(inputs, before, strict=True):
            _forget_uses(value, first)
        if isinstance(error, DecomposeError):
            raise
        types = ", ".join(str(value.type) for value in inputs)
        raise DecomposeError(f"recipe @{recipe.name} cannot be emitted on ({types}): {error}") from error


def try_emit(recipe: Recipe, inputs: Sequence[SSAValue]) -> Emitted | DecomposeError:
    """`emit`, with the error as a value."""
    try:
        return emit(recipe, inputs)
    except DecomposeError as error:
        return error


def _emit(recipe: Recipe, inputs: Sequence[SSAValue]) -> Emitted:
    for value in inputs:
        if isinstance(value.type, ShapedType) and not isinstance(value.type, TensorType):
            raise DecomposeError(f"recipe @{recipe.name} is emitted on scalars and ranked tensors, not on {value.type}")
    element_type = _element_type(recipe, inputs)
    if not recipe.is_scalar:
        return _instantiate(recipe, element_type, inputs)
    on_arrays = any(isinstance(value.type, TensorType) for value in inputs)
    return Emitted(*(on_tensors if on_arrays else on_scalars)(recipe, element_type, inputs))


def _forget_uses(value: SSAValue, first: Use | None) -> None:
    """Drop the uses of a value that came after one: those of ops that are of no use now."""
    made: list[Operation] = []
    for use in value.uses:
        if use is first:
            break
        made.append(use.operation)
    for op in made:
        op.drop_all_references()


def _element_type(recipe: Recipe, inputs: Sequence[SSAValue]) -> str | None:
    if len(inputs) != len(recipe.argument_types):
        raise DecomposeError(f"recipe @{recipe.name} takes {len(recipe.argument_types)} inputs, got {len(inputs)}")
    given = tuple(element_name(value.type) for value in inputs)
    for element_type in recipe.uses:
        if recipe.signature(element_type)[0] == given:
            return element_type
    known = "; ".join(spell_dtypes(*recipe.signature(each)) for each in recipe.uses)
    raise DecomposeError(f"recipe @{recipe.name} cannot take ({', '.join(given)}); it has {known}")


def _instantiate(recipe: Recipe, element_type: str | None, inputs: Sequence[SSAValue]) -> Emitted:
    shapes = fit(recipe, inputs)
    form = recipe.form(element_type, shapes=shapes.core)
    graph, arguments, results = form.graph, form.arguments, form.results
    looped = any(shapes.loops)
    if looped:
        kinds = [graph.nodes[number].kind for number in graph.reachable(result.node for result in results)]
        single = next((kind for kind in kinds if kind in UNLIFTABLE and kind not in ("carried", "accumulator")), None)
        if single is not None:
            raise DecomposeError(
                f"recipe @{recipe.name} has to be applied to one item of its loop dimensions after the other, as its "
                f"'{single}' takes an item as a whole; emit it on operands of its core rank, "
                f"{signature_of(recipe).text}"
            )
        graph, arguments, results = lift(graph, arguments, results, shapes.loops)
    casts: list[Operation] = []
    operands: list[SSAValue] = []
    for value, loops, core in zip(inputs, shapes.loops, shapes.core, strict=True):
        shape = (*loops, *core)
        if static_shape(value.type) != shape:
            known = [DYNAMIC_INDEX if extent is None else extent for extent in shape]
            cast = tensor.CastOp(value, TensorType(type_of(value).get_element_type(), known))
            casts.append(cast)
            value = cast.dest
        operands.append(value)
    on_scalars = [not looped and not isinstance(type_, ShapedType) for type_ in recipe.result_types]
    ops, found = Emission(graph, arguments, results, operands).make(on_scalars)
    return Emitted([*casts, *ops], found)
