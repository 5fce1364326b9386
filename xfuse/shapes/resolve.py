"""From a recipe and the shapes of its operands to concrete values, or a typed error."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import SupportsIndex

from xdsl.dialects.builtin import ShapedType

from xfuse.canonical.build import static_shape
from xfuse.canonical.form import Form
from xfuse.errors import NegativeExtent, OperandOutOfRange, RecipeError, ShapeMismatch, UnknownExtent
from xfuse.recipes import Recipe
from xfuse.shapes import rules, rules_linalg, rules_tensor
from xfuse.shapes.arithmetic import DATA, Number, symbol
from xfuse.shapes.reader import Extents, Reader, ShapeUse, Tensor
from xfuse.signature import CoreSignature, core_signature, signature_of
from xfuse_dialects.structure import structure_problem

_RULES = (rules, rules_linalg, rules_tensor)  # imported for what they register


@dataclass(frozen=True)
class ResolvedShapes:
    """What a recipe's extents come to on operands of some shapes.

    ``loop`` are the loop dimensions that the operands broadcast to, ``dimensions`` the core dimensions by their name in
    the normal signature, ``uses`` the values that ops take from extents, in the order of the ops, and ``results`` the
    whole shapes of the results. An extent is None only in a partial answer.
    """

    loop: Extents
    dimensions: Mapping[str, int | None]
    uses: tuple[ShapeUse, ...]
    results: tuple[Extents, ...]

    def values(self, field: str) -> list[int | Extents | None]:
        """The values of one field, in the order of the ops."""
        return [use.value for use in self.uses if use.field == field]

    def __str__(self) -> str:
        spelled = ", ".join(map(str, self.results))
        return "\n".join([*map(str, self.uses), f"results: {spelled}"])


def resolve_shapes(
    recipe: Recipe, shapes: Sequence[Sequence[SupportsIndex | None]], *, partial: bool = False
) -> ResolvedShapes:
    """Resolve all that a recipe takes from extents, for operands of these shapes, one for each argument.

    An extent is None where it is not known. Dimensions in front of an argument's core dimensions are loop dimensions;
    those of all operands broadcast as NumPy's do. Values that depend on an unknown extent are errors, or None if the
    answer may be ``partial``. Nothing but shapes is looked at, and nothing is changed.

    Raises a `ShapeError`: `OperandOutOfRange` for a wrong number of operands or too few dimensions, `ShapeMismatch` for
    core dimensions of one name that differ, loop dimensions that do not broadcast and extents that an op wants equal,
    `AxisOutOfRange`, `SliceOutOfRange`, `NegativeExtent`, `DivisionByZero`, `ExtentOverflow` and `UnknownExtent` for
    values that an op cannot use. Division by zero and overflow count only where the value is used. Raises `RecipeError`
    or `UnsupportedError` for a recipe that is malformed or has no canonical form.
    """
    _check_structure(recipe)
    signature = signature_of(recipe)
    given = _checked(recipe, shapes)
    loop, cores = _split(recipe, given)
    bound = _bind(recipe, signature, cores)
    known = {name: extent.known for name, extent in bound.items()}
    reader = Reader(recipe.op.body, loop, partial=partial)
    _enter(reader, recipe, signature, bound)
    results = reader.block(recipe.op.body.block)
    flat = _flattened(recipe, signature, given)
    found: list[Extents] = []
    for number, (value, names) in enumerate(zip(results, signature.results, strict=True)):
        core = [extent.known for extent in value.shape] if isinstance(value, Tensor) else []
        whole = list(loop)
        for name, extent in zip(names, core, strict=True):
            whole.extend(flat.get(name, (extent,)))
        if not partial and None in whole:
            spelled = ", ".join("?" if extent is None else str(extent) for extent in whole)
            raise UnknownExtent(
                f"result {number} of recipe @{recipe.name} has shape ({spelled}); give shapes without None, or ask for "
                "a partial answer",
                "target_shape",
                None,
                tuple(whole),
            )
        found.append(tuple(whole))
    return ResolvedShapes(loop, known, tuple(reader.uses), tuple(found))


def check_for_all_shapes(recipe: Recipe, form: Form) -> None:
    """Raise the `ShapeError` that a recipe is bound to give, whatever the shapes of its operands."""
    signature = core_signature(form)
    cores = [static_shape(type_) for type_ in recipe.argument_types]
    bound = _bind(recipe, signature, cores)
    reader = Reader(recipe.op.body, (), partial=True)
    _enter(reader, recipe, signature, bound)
    reader.block(recipe.op.body.block)


def _enter(reader: Reader, recipe: Recipe, signature: CoreSignature, bound: Mapping[str, Number]) -> None:
    """Give the arguments their core shapes."""
    for argument, names in zip(recipe.op.body.block.args, signature.arguments, strict=True):
        shaped = isinstance(argument.type, ShapedType)
        reader.values[argument] = Tensor(tuple(bound[name] for name in names)) if shaped else DATA


def _check_structure(recipe: Recipe) -> None:
    """Refuse an op that no rule can read."""
    for number, op in enumerate(recipe.op.body.walk()):
        problem = structure_problem(op)
        if problem is not None:
            raise RecipeError(f"recipe @{recipe.name}: op {number} ({op.name}) {problem}")


# Operands


def _checked(recipe: Recipe, shapes: Sequence[Sequence[SupportsIndex | None]]) -> list[Extents]:
    wanted = len(recipe.argument_types)
    if len(shapes) != wanted:
        raise OperandOutOfRange(
            f"recipe @{recipe.name} has {wanted} arguments, got shapes of {len(shapes)} operands",
            "operands",
            None,
            len(shapes),
        )
    found: list[Extents] = []
    for number, shape in enumerate(shapes):
        try:
            extents = tuple(None if extent is None else operator.index(extent) for extent in shape)
        except TypeError as error:
            raise OperandOutOfRange(
                f"operand {number} of recipe @{recipe.name}: expected a tuple of int or None as shape, got {shape!r}",
                "operands",
                None,
                number,
            ) from error
        for extent in extents:
            if extent is not None and extent < 0:
                raise NegativeExtent(
                    f"operand {number} of recipe @{recipe.name} has shape {extents}; an extent is 0 or more",
                    "operands",
                    None,
                    extent,
                )
        found.append(extents)
    return found


def _split(recipe: Recipe, shapes: Sequence[Extents]) -> tuple[Extents, list[Extents]]:
    """The loop dimensions of all operands together, and the core dimensions of each."""
    flat, loop = set(recipe.flat), ()
    cores: list[Extents] = []
    for number, (shape, type_) in enumerate(zip(shapes, recipe.argument_types, strict=True)):
        if number in flat:
            known = [extent for extent in shape if extent is not None]
            cores.append((prod(known) if len(known) == len(shape) else None,))
            continue
        rank = len(static_shape(type_))
        if len(shape) < rank or (flat and len(shape) > rank):
            exactly = "exactly" if flat else "at least"
            raise OperandOutOfRange(
                f"operand {number} of recipe @{recipe.name} has shape {shape}; expected {exactly} {rank} dimensions",
                "operands",
                None,
                number,
            )
        split = len(shape) - rank
        loop = _broadcast(recipe, number, loop, shape[:split])
        cores.append(shape[split:])
    return loop, cores


def _broadcast(recipe: Recipe, number: int, loop: Extents, own: Extents) -> Extents:
    rank = max(len(loop), len(own))
    pairs = zip((1,) * (rank - len(loop)) + loop, (1,) * (rank - len(own)) + own, strict=True)
    found: list[int | None] = []
    for one, other in pairs:
        if one == other or other == 1:
            found.append(one)
        elif one == 1 or one is None:
            found.append(other)
        elif other is None:
            found.append(one)
        else:
            raise ShapeMismatch(
                f"operand {number} of recipe @{recipe.name} has loop dimensions {own}, which do not broadcast with "
                f"{loop} of the operands before it",
                "operands",
                None,
                own,
            )
    return tuple(found)


def _flattened(recipe: Recipe, signature: CoreSignature, shapes: Sequence[Extents]) -> dict[str, Extents]:
    """The whole shapes that flattened dimensions stand for."""
    found: dict[str, Extents] = {}
    for number in recipe.flat:
        (name,) = signature.arguments[number]
        before, shape = found.setdefault(name, shapes[number]), shapes[number]
        if len(before) != len(shape) or any(a != b for a, b in zip(before, shape, strict=True) if None not in (a, b)):
            raise ShapeMismatch(
                f"operand {number} of recipe @{recipe.name} is flattened from shape {shape}, another from {before}; "
                "what shares a dimension must be of one shape",
                "operands",
                None,
                shape,
            )
        found[name] = tuple(b if a is None else a for a, b in zip(before, shape, strict=True))
    return found


def _bind(recipe: Recipe, signature: CoreSignature, cores: Sequence[Extents]) -> dict[str, Number]:
    """The core dimensions by name: known where some operand or the written type says how long one is."""
    known: dict[str, tuple[int, int]] = {}
    for number, (names, core, type_) in enumerate(zip(signature.arguments, cores, recipe.argument_types, strict=True)):
        for axis, (name, extent, static) in enumerate(zip(names, core, static_shape(type_), strict=True)):
            if static is not None and extent not in (None, static):
                raise ShapeMismatch(
                    f"operand {number} of recipe @{recipe.name}: core dimension {axis} is {extent}; the recipe is "
                    f"written for {static}",
                    "operands",
                    None,
                    extent,
                )
            extent = static if extent is None else extent
            if extent is None:
                continue
            before = known.setdefault(name, (extent, number))
            if before[0] != extent:
                raise ShapeMismatch(
                    f"dimension {name} of recipe @{recipe.name} {signature.text} is {before[0]} in operand {before[1]} "
                    f"and {extent} in operand {number}",
                    "operands",
                    None,
                    (before[0], extent),
                )
    return {
        name: Number(known[name][0], relative=True) if name in known else symbol(name)
        for name in dict.fromkeys(name for names in signature.arguments for name in names)
    }
