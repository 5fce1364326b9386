"""How a recipe's operands fit together: core dimensions by name, loop dimensions by NumPy's rule for gufuncs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xfuse.canonical.build import static_shape
from xfuse.errors import DecomposeError
from xfuse.recipes import Recipe, Shape
from xfuse.shapes import resolve_shapes
from xfuse.signature import signature_of


@dataclass(frozen=True)
class Fit:
    """The extents of each operand, static wherever those of any operand are, None elsewhere.

    ``core`` are those of the core dimensions, all dimensions for a flattened argument; ``loops`` those of the loop
    dimensions in front of them, aligned at the last: 1 where an operand is repeated.
    """

    core: tuple[Shape, ...]
    loops: tuple[Shape, ...]


def fit(recipe: Recipe, inputs: Sequence[SSAValue]) -> Fit:
    """How operands fit a recipe; extents that are dynamic are taken to be what they have to be.

    Raises a `ShapeError` for an operand of too few dimensions, core dimensions of one name that differ, loop dimensions
    that do not broadcast, and anything that the recipe cannot do at these extents, whatever the unknown ones are.
    """
    shapes = [static_shape(value.type) for value in inputs]
    resolved = resolve_shapes(recipe, shapes, partial=True)
    signature = signature_of(recipe)
    flat: dict[str, Shape] = {}
    for number in recipe.flat:
        (name,) = signature.arguments[number]
        known = flat.get(name, shapes[number])
        flat[name] = tuple(b if a is None else a for a, b in zip(known, shapes[number], strict=True))
    core: list[Shape] = []
    loops: list[Shape] = []
    for number, (own, names) in enumerate(zip(shapes, signature.arguments, strict=True)):
        if number in recipe.flat:
            core.append(flat[names[0]])
            loops.append(())
            continue
        if any(name in flat for name in names):
            raise DecomposeError(
                f"recipe @{recipe.name}, {signature.text}: argument {number} shares a flattened dimension with another "
                "one; mark it as flattened, too"
            )
        count = len(own) - len(names)
        joined = resolved.loop[len(resolved.loop) - count :]
        core.append(tuple(resolved.dimensions[name] for name in names))
        loops.append(tuple(extent if extent == 1 else known for extent, known in zip(own[:count], joined, strict=True)))
    return Fit(tuple(core), tuple(loops))
