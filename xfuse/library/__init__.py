"""The recipes that come with xfuse: one file per family, whose first recipe bears the family's name."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from importlib import resources
from pathlib import Path

_RECIPE = re.compile(r"xfuse\.recipe @(\w+)")
_SCALAR_OP = re.compile(r"\b(?:arith|math)\.\w+")
_IMPLIED = frozenset({"arith.constant", "arith.extf", "arith.truncf", "arith.addi", "arith.muli"})
"""Ops that a program need not hold by name: literals, casts that vanish at some types, index arithmetic of bodies."""

_OF_EXTENTS = _IMPLIED | {
    f"arith.{name}"
    for name in (
        "index_cast sitofp uitofp subi divsi divui floordivsi ceildivsi remsi remui maxsi minsi maxui minui divf"
    ).split()
}
"""The same for a recipe that reads extents: a program of static shapes holds literals instead."""


def library_files() -> list[Path]:
    """The files of the library, one ``xfuse.library`` each, sorted by name."""
    with resources.as_file(resources.files(__name__)) as folder:
        return sorted(folder.glob("*.mlir"))


@cache
def recipe_ops(path: Path) -> dict[str, frozenset[str]]:
    """Names of a file's recipes, and of the scalar ops that a program must hold for the recipe to be found in it.

    Read off the text, which is twenty times quicker than parsing it.
    """
    parts = _RECIPE.split(path.read_text())
    ops = (
        frozenset(_SCALAR_OP.findall(body)) - (_OF_EXTENTS if "tensor.dim" in body else _IMPLIED)
        for body in parts[2::2]
    )
    return dict(zip(parts[1::2], ops, strict=True))


def files_for(ops: Collection[str], names: Collection[str] = ()) -> list[Path]:
    """The files with a recipe that a program of these ops may hold, or with a recipe or family of these names.

    All files if one of the names stands in none of them.
    """
    present, wanted = frozenset(ops), frozenset(names)
    tables = {path: recipe_ops(path) for path in library_files()}
    if not wanted <= {name for path, table in tables.items() for name in (path.stem, *table)}:
        return list(tables)
    return [
        path
        for path, table in tables.items()
        if not wanted.isdisjoint((path.stem, *table)) or any(needed <= present for needed in table.values())
    ]
