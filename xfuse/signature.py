"""Core dimensions of a recipe: its normal signature, as NumPy spells that of a gufunc."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import StringAttr

from xfuse.canonical.form import Form
from xfuse.canonical.graph import Extent, Value
from xfuse.errors import RecipeError
from xfuse.recipes import Recipe

_NAME = re.compile(r"\w+")
_GROUP = re.compile(r"\([^)]*\)")
_DIMENSIONS = r"\s*\(\s*(?:(?:[A-Za-z_]\w*|\d+)\s*(?:,\s*(?:[A-Za-z_]\w*|\d+)\s*)*)?\)\s*"
_SIDE = rf"{_DIMENSIONS}(?:,{_DIMENSIONS})*"
_SIGNATURE = re.compile(f"{_SIDE}->{_SIDE}", re.ASCII)

_NAMES = "nmkpqrstuvwxyzabcdefghijl"


@dataclass(frozen=True)
class CoreSignature:
    """Which core dimensions each argument and result has, one name an axis, outermost first.

    Axes that run together have one name; an axis of fixed extent is named by that extent. ``text`` is the signature as
    NumPy spells it: ``(n),(n),()->(n)``.
    """

    arguments: tuple[tuple[str, ...], ...]
    results: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        """The signature as NumPy spells it."""
        left, right = (",".join(f"({','.join(each)})" for each in side) for side in (self.arguments, self.results))
        return f"{left}->{right}"

    @property
    def names(self) -> tuple[str, ...]:
        """All names in order of first use, fixed extents included."""
        return tuple(dict.fromkeys(name for each in (*self.arguments, *self.results) for name in each))

    @property
    def fits_gufunc(self) -> bool:
        """Whether every dimension of a result is one of an argument, or fixed, as NumPy's gufuncs want it."""
        known = {name for each in self.arguments for name in each}
        return all(name in known or name.isdigit() for each in self.results for name in each)


@lru_cache(maxsize=4096)
def signature_of(recipe: Recipe) -> CoreSignature:
    """The normal signature of a recipe."""
    return core_signature(recipe.form(recipe.uses[0]))


def core_signature(form: Form) -> CoreSignature:
    """The normal signature of a recipe's form.

    Every axis of an argument or result is one of its core dimensions, as recipes are written at their core rank.
    """
    found: dict[object, str] = {}
    fixed: set[str] = set()

    def name_of(key: object, extent: Extent) -> str:
        if key not in found:
            if isinstance(extent, int):
                found[key] = str(extent)
                fixed.add(str(extent))
            else:
                found[key] = _NAMES[(len(found) - len(fixed)) % len(_NAMES)]
        return found[key]

    def dimensions(value: Value, number: int) -> tuple[str, ...]:
        parameters = {axis: parameter for parameter, axis in enumerate(value.index) if axis >= 0}
        spelled: list[str] = []
        for axis, extent in enumerate(value.extents):
            if not isinstance(extent, int) and extent[0] == "argument":  # as long as that argument's dimension
                given_by = form.arguments[extent[1]]
                spelled.append(name_of(form.closing.find(given_by.node, extent[2]), extent))
            elif axis in parameters:
                spelled.append(name_of(form.closing.find(value.node, parameters[axis]), extent))
            else:
                spelled.append(name_of(("repeated", extent if isinstance(extent, int) else (number, axis)), extent))
        return tuple(spelled)

    arguments = tuple(dimensions(value, number) for number, value in enumerate(form.arguments))
    results = tuple(dimensions(value, len(arguments) + number) for number, value in enumerate(form.results))
    return CoreSignature(arguments, results)


def named_signature(recipe: Recipe) -> CoreSignature:
    """The normal signature of a recipe under the names that its attribute ``signature`` gives, if it has one.

    Raises `RecipeError` if the attribute is no signature, or is not the normal one but for the names.
    """
    normal = signature_of(recipe)
    attribute = recipe.op.attributes.get("signature")
    if attribute is None:
        return normal
    if not isinstance(attribute, StringAttr):
        raise RecipeError(f"recipe @{recipe.name}: expected its signature to be a string, got {attribute}")
    try:
        given = parse_signature(attribute.data)
    except RecipeError as error:
        raise RecipeError(f"recipe @{recipe.name}: {error}") from error
    if _renames(normal, given):
        return given
    raise RecipeError(
        f"recipe @{recipe.name} says that its signature is {given.text}; its normal signature is {normal.text}, "
        "in which only the names are free"
    )


def parse_signature(text: str) -> CoreSignature:
    """A signature from how NumPy spells it: names, or numbers for fixed extents. Raises `RecipeError`."""
    if _SIGNATURE.fullmatch(text) is None:
        raise RecipeError(f"{text!r} is no signature; expected one such as '(n),(n),()->(n)'")
    sides = (tuple(tuple(_NAME.findall(group)) for group in _GROUP.findall(side)) for side in text.split("->"))
    return CoreSignature(*sides)


def _renames(normal: CoreSignature, given: CoreSignature) -> bool:
    """Whether two signatures differ in the names of dimensions alone."""
    ours, theirs = (*normal.arguments, *normal.results), (*given.arguments, *given.results)
    if (len(normal.arguments), *map(len, ours)) != (len(given.arguments), *map(len, theirs)):
        return False
    pairs = {(a, b) for one, other in zip(ours, theirs, strict=True) for a, b in zip(one, other, strict=True)}
    fixed = all(a == b for a, b in pairs if a.isdigit() or b.isdigit())
    return fixed and len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
