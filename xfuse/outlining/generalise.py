"""From a cluster to the recipe that it is an instance of, written at its core rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from xfuse.canonical.build import GraphBuilder, shape_only
from xfuse.canonical.form import Form, canonical_form
from xfuse.canonical.numbering import canonical_order
from xfuse.emission.definition import define
from xfuse.errors import XfuseError
from xfuse.match.choose import Gate
from xfuse.outlining.boundary import Boundary
from xfuse.outlining.naming import name_of, unused_name
from xfuse.parser import resource_blobs
from xfuse.recipes import Recipe
from xfuse.registry import RecipeRegistry
from xfuse.specialisation import instance_of
from xfuse.validation import validate
from xfuse_dialects.xfuse import OUTLINED


@dataclass(frozen=True)
class General:
    """The recipe of a cluster: ``inputs`` and ``outputs`` say which of the cluster's each of the recipe's is."""

    recipe: Recipe
    backend: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class NotGeneral:
    """Why a cluster has no recipe: the number of a rule or law, one word, and a sentence.

    ``cut`` is how many of its ops may stay together, from the first, as far as is known.
    """

    rule: str
    reason: str
    message: str
    cut: int | None = None


class Generaliser:
    """Makes recipes of clusters; equal clusters have one (law L5).

    ``recipes`` are those that the module defines already, ``is_taken`` says which names stand for something else.
    Recipes are registered as they are made.
    """

    def __init__(
        self, registry: RecipeRegistry, gate: Gate, recipes: Sequence[Recipe], is_taken: Callable[[str], bool]
    ) -> None:
        self.registry = registry
        self.gate = gate
        self.made: list[Recipe] = []
        self._is_taken = is_taken
        self._by_identity = {recipe.identity: recipe for recipe in recipes}
        self._names: set[str] = set()

    def generalise(self, boundary: Boundary) -> General | NotGeneral:
        """The recipe of a cluster, or why there is none."""
        try:
            first = form_of(boundary, range(len(boundary.inputs)), range(len(boundary.outputs)))
            twice = _given_twice(boundary, first)
            if twice is not None:
                return twice
            inputs, outputs, order = canonical_order(first)
            form = first if _is_in_order(inputs) and _is_in_order(outputs) else form_of(boundary, inputs, outputs)
            if any(
                not isinstance(each, int) and each[0] == "value" for result in form.results for each in result.extents
            ):
                return NotGeneral("L4", "extent", "a result has an extent that no operand has: only its ops compute it")
            recipe = self._recipe(form, name_of([first.graph.nodes[number] for number in order]))
        except XfuseError as error:
            return NotGeneral("L5", "recipe", str(error))
        if instance_of(recipe, form, (None,)) is None:
            return NotGeneral("L5", "instance", "it is no instance of what it would be at its core rank")
        dtypes = sum(recipe.signature(None), ())
        backend = self.gate(recipe, dtypes)
        if backend is None:
            return NotGeneral("L4", "no-kernel", f"no kernel is bound or promised for ({', '.join(dtypes)})")
        if recipe.identity not in self._by_identity:
            self._by_identity[recipe.identity] = recipe
            self._names.add(recipe.name)
            if self.registry.region(recipe.identity) is None:
                self.registry.adopt(recipe)
            else:  # there under another name
                self.registry.register(recipe)
            self.made.append(recipe)
        return General(recipe, backend, tuple(inputs), tuple(outputs))

    def _recipe(self, form: Form, name: str) -> Recipe:
        """The recipe of a form: one that is there, or a new one. Raises `XfuseError` if it cannot be a recipe."""
        name = unused_name(name, self._stands_for_another)
        recipe = Recipe(define(form, name, {OUTLINED: UnitAttr()}), name)
        known = self._by_identity.get(recipe.identity)
        if known is not None:
            return known
        validate(recipe, ops=False)
        return recipe

    def _stands_for_another(self, name: str) -> bool:
        return name in self._names or self._is_taken(name) or self.registry.region(name) is not None


def _is_in_order(numbers: Sequence[int]) -> bool:
    return list(numbers) == list(range(len(numbers)))


def _given_twice(boundary: Boundary, form: Form) -> NotGeneral | None:
    """A value that two ops of a cluster compute and that others read from both: they cannot be in one recipe."""
    seen: set[int] = set()
    for output, value in zip(boundary.outputs, form.results, strict=True):
        if value.node in seen:
            cut = next(place for place, op in enumerate(boundary.ops) if output in op.results)
            return NotGeneral("L5", "twice", "two of its results are one value; run cse first", cut or None)
        seen.add(value.node)
    return None


def form_of(boundary: Boundary, inputs: Sequence[int], outputs: Sequence[int]) -> Form:
    """The form of a cluster without fast-math flags, its operands and results in the given order.

    Raises `UnsupportedError` if it has none.
    """
    builder = GraphBuilder(fastmath=False, resources=resource_blobs())
    for number in inputs:
        builder.argument(boundary.inputs[number])
    place = {number: position for position, number in enumerate(inputs)}
    numbers = boundary.same_extents
    known = {
        (shape, axis): (place[number], other)
        for shape, axis, number, other in zip(*(numbers[k::4] for k in range(4)), strict=True)
    }
    for number, value in enumerate(boundary.shapes):
        builder.values[value] = shape_only(builder, value, number, known)
    for op in boundary.body:
        builder.operation(op)
    results: list[SSAValue] = [boundary.outputs[number] for number in outputs]
    return canonical_form(builder.graph, builder.argument_values, [builder.values[each] for each in results])
