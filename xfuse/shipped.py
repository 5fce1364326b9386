"""The shipped recipes, parsed once per process and file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path

from xdsl.context import Context

from xfuse.collector import paused_collector
from xfuse.library import files_for, library_files
from xfuse.parser import default_context, parse_module
from xfuse.recipes import Recipe, recipes_of


def shipped_recipes() -> list[Recipe]:
    """All recipes that come with xfuse, in order. Tests verify and validate them; a start does not."""
    return _load(library_files())


def shipped_recipes_for(ops: Collection[str], names: Collection[str] = ()) -> list[Recipe]:
    """Those that a program of these ops may hold, and those of some names; more where they share a file."""
    return _load(files_for(ops, names))


def _load(paths: Iterable[Path]) -> list[Recipe]:
    with paused_collector():
        return [recipe for path in paths for recipe in _recipes(path)]


@cache
def _recipes(path: Path) -> tuple[Recipe, ...]:
    return tuple(recipes_of(parse_module(path.read_text(), str(path), _context(), verify=False)))


@cache
def _context() -> Context:
    return default_context()
