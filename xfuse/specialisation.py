"""Which recipe at which types and extents a region is: a recipe specialised so that it has the region's form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from xfuse.canonical.closing import argument_symbols
from xfuse.canonical.form import Form
from xfuse.canonical.graph import Extent, Value
from xfuse.errors import XfuseError
from xfuse.recipes import Recipe, Shape
from xfuse.signature import signature_of

_Axes = tuple[int | None, ...]


@dataclass(frozen=True)
class Instance:
    """A region as a recipe at an element type.

    ``arguments`` and ``results`` say for each core dimension of the recipe's which axis of the region's tensor it is;
    None for one of extent one, which may be any axis of that extent or none. All axes of a flattened argument are its
    core dimensions. ``form`` is the recipe's, specialised.
    """

    recipe: Recipe
    element_type: str | None
    arguments: tuple[_Axes, ...]
    results: tuple[_Axes, ...]
    form: Form


@lru_cache(maxsize=4096)
def reads_extents(recipe: Recipe) -> bool:
    """Whether a recipe computes with extents of its arguments, so that its form changes with them."""
    form = recipe.form(recipe.uses[0])
    nodes = (form.graph.nodes[number] for number in form.closing.order)
    return any(node.kind == "extent" or argument_symbols(node.attributes) for node in nodes)


def unit_shapes(recipe: Recipe, unit: Collection[str]) -> list[Shape | None]:
    """Shapes of the arguments in which some core dimensions have extent one and the others are unknown."""
    flat = recipe.flat
    return [
        (1 if own[0] in unit else None,) if number in flat else tuple(1 if name in unit else None for name in own)
        for number, own in enumerate(signature_of(recipe).arguments)
    ]


def instance_of(recipe: Recipe, form: Form, element_types: Sequence[str | None] | None = None) -> Instance | None:
    """The region of a form as an instance of a recipe, fast-math flags aside, or None if it is none.

    The form must be built without fast-math flags, as flags beyond the recipe's do not count (rule R6).
    ``element_types`` limits at which ones the recipe is tried.
    """
    if len(form.arguments) != len(recipe.argument_types) or len(form.results) != len(recipe.result_types):
        return None
    given = tuple(form.graph.nodes[value.node].element_type for value in (*form.arguments, *form.results))
    for element_type in recipe.uses if element_types is None else element_types:
        if sum(recipe.signature(element_type), ()) != given:
            continue
        for arguments, shapes in _placements(recipe, form):
            try:
                own = recipe.form(element_type, fastmath=False, shapes=shapes)
            except XfuseError:  # at these extents there is no such recipe
                continue
            results = _result_axes(form, own) if own.text == form.text else None
            if results is not None:
                return Instance(recipe, element_type, arguments, results, own)
    return None


def _placements(recipe: Recipe, form: Form) -> Iterator[tuple[tuple[_Axes, ...], list[Shape | None] | None]]:
    """Ways in which the region's axes can be the recipe's core dimensions, likely ones first, with their extents."""
    if recipe.is_scalar:
        yield tuple(() for _ in form.arguments), None
        return
    signature = signature_of(recipe)
    wide = [_core_axes(form, value) for value in form.arguments]
    flat = set(recipe.flat)
    names = list(dict.fromkeys(n for k, each in enumerate(signature.arguments) if k not in flat for n in each))
    known = reads_extents(recipe)
    for count in range(len(names) + 1):
        for unit in combinations(names, count):
            arguments: list[_Axes] = []
            shapes: list[Shape | None] = []
            for number, (own, axes, value) in enumerate(zip(signature.arguments, wide, form.arguments, strict=True)):
                if number in flat:
                    arguments.append(tuple(range(len(value.extents))))
                    shapes.append(tuple(_number(extent) for extent in value.extents))
                    continue
                left = iter(axes)
                if sum(name not in unit and name != "1" for name in own) != len(axes):
                    break
                placed = tuple(None if name in unit or name == "1" else next(left) for name in own)
                if any(a is not None and _differs(n, value.extents[a]) for n, a in zip(own, placed, strict=True)):
                    break
                if sum(name in unit for name in own) > value.extents.count(1):
                    break
                arguments.append(placed)
                shapes.append(tuple(1 if a is None else _number(value.extents[a]) if known else None for a in placed))
            else:
                yield tuple(arguments), shapes if unit or known or flat else None


def _differs(name: str, extent: Extent) -> bool:
    """Whether an extent is another than the fixed one that a dimension is named by."""
    return name.isdigit() and isinstance(extent, int) and extent != int(name)


def _number(extent: object) -> int | None:
    return extent if isinstance(extent, int) else None


def _core_axes(form: Form, value: Value) -> list[int]:
    """The axes of a value that are core dimensions, ascending."""
    return sorted(value.index[p] for p in form.closing.core_parameters(value.node) if value.index[p] >= 0)


def _result_axes(form: Form, own: Form) -> tuple[_Axes, ...] | None:
    """Which axis of a region's result each core dimension is; None if the extents are not the recipe's."""
    found: list[_Axes] = []
    for value, wanted in zip(form.results, own.results, strict=True):
        axes, core = iter(_core_axes(form, value)), set(_core_axes(own, wanted))
        placed = tuple(next(axes) if axis in core else None for axis in range(len(wanted.extents)))
        for axis, extent in zip(placed, wanted.extents, strict=True):
            given = 1 if axis is None else value.extents[axis]
            # A dimension that no axis has is of extent one; a recipe whose axis is longer repeats along a loop there.
            if given != extent and isinstance(given, int) and isinstance(extent, int):
                return None
        found.append(placed)
    return tuple(found)
