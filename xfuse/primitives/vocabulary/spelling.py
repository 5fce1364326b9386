"""Spellings: recipes in the libraries beside this file, with their types and what they compute."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from xfuse.primitives.primitive import TypeRule

FOLDER = Path(__file__).parent
"""The libraries of spellings, one file a group."""

Function = Callable[[], Any] | Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
"""A function on arrays that gives an array, or a tuple of several."""

_SHIPPED = FOLDER.parents[1] / "library"
_ALIAS = re.compile(r"^#(\w+) = .*\n", re.MULTILINE)
_RECIPE = re.compile(r"^  xfuse\.recipe @(\w+).*?^  \}\n", re.MULTILINE | re.DOTALL)
_AT_INTEGERS = {
    r"element_types = \[[^]]*\]": "element_types = [{types}]",
    r"@(\w+)\(": r"@\1_integer(",
    r"f64\b": "i64",
    r"\barith\.(add|sub|mul)f\b": r"arith.\1i",
    r"\barith\.(max|min)imumf\b": r"arith.\1si",
    r"\bmath\.absf\b": "math.absi",
    r"\bcmpf [ou](eq|ne)\b": r"cmpi \1",
    r"\bcmpf o(lt|le|gt|ge)\b": r"cmpi s\1",
    r"\b(\d+)\.0\b": r"\1",
    "0xFFF0000000000000": str(-(2**63)),
    "0x7FF0000000000000": str(2**63 - 1),
}
"""What differs between a recipe at floats and the same one at integers."""


@dataclass(frozen=True)
class Spelling:
    """One recipe that spells an operation.

    ``name`` is the recipe's. ``types`` has one letter an argument and result, whatever their core dimensions.
    ``numpy`` computes the results from arrays of the arguments' core shapes. ``integers`` are the element types that
    the recipe is good for with integer ops in place of the float ones. ``family`` names the shipped library that has
    the recipe.
    """

    name: str
    types: TypeRule
    numpy: Function
    integers: tuple[str, ...] = ()
    family: str | None = None

    @property
    def text(self) -> str:
        """The recipe."""
        return _recipes(FOLDER if self.family is None else _SHIPPED, self.family or "*")[self.name]

    @property
    def integer_text(self) -> str:
        """The recipe ``@name_integer``: the same at integers."""
        text = self.text
        for pattern, replacement in _AT_INTEGERS.items():
            text = re.sub(pattern, replacement.replace("{types}", ", ".join(self.integers)), text)
        return text


@cache
def _recipes(folder: Path, files: str) -> dict[str, str]:
    """The text of every recipe of some files by name, the aliases that it uses in front, without its indentation."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob(f"{files}.mlir")):
        library = path.read_text()
        aliases = list(_ALIAS.finditer(library))
        for match in _RECIPE.finditer(library):
            used = "".join(alias[0] for alias in aliases if re.search(rf"#{alias[1]}\b", match[0]))
            found[match[1]] = used + re.sub("^  ", "", match[0], flags=re.MULTILINE)
    return found
