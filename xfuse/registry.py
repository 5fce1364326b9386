"""The registry of recipes: by identity, by name, by family."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from xfuse.errors import RecipeError
from xfuse.parser import load_module
from xfuse.recipes import Recipe, parse_recipes, recipes_of
from xfuse.validation import check_references, validate
from xfuse_dialects.xfuse import LibraryOp, RecipeOp


class RecipeRegistry:
    """Recipes in registration order. One identity is one entry; a family may hold several bodies."""

    def __init__(self) -> None:
        self._by_identity: Mapping[str, Recipe] = {}
        self._by_name: Mapping[str, Recipe] = {}
        self._write = threading.RLock()
        self.generation = 0
        """Grows by one with every change."""

    def register(self, recipe: Recipe | RecipeOp | str, *, replace: bool = False, version: int | None = None) -> Recipe:
        """Validate and store a recipe; returns the entry.

        A recipe of an identity that is registered already gives the old entry back, which then has two names. A name
        that stands for another recipe is refused unless ``replace=True``, or unless a ``version`` makes it a name of
        its own (``name.v2``). Raises `RecipeError`, `ParsingError` for bad text, and then nothing has been stored.
        """
        found = as_recipe(recipe)
        if version is not None:
            op = found.op.clone()
            op.properties["sym_name"] = StringAttr(f"{found.name}.v{version}")
            found = Recipe(op, found.family)
        return self.register_all([found], replace=replace)[0]

    def register_all(self, recipes: Sequence[Recipe], *, replace: bool = False) -> list[Recipe]:
        """Register several recipes, all or none."""
        for recipe in recipes:
            validate(recipe)
        with self._write:
            by_identity, by_name = dict(self._by_identity), dict(self._by_name)
            entries = [_enter(recipe, by_identity, by_name, replace) for recipe in recipes]
            check_references(entries, by_name)
            if by_identity != self._by_identity:
                self._publish(by_identity, by_name)
            else:  # at most a second name for an entry
                self._by_name = by_name
            return entries

    def adopt(self, recipe: Recipe) -> None:
        """Store an entry of another registry, which has validated it."""
        with self._write:
            self._publish({**self._by_identity, recipe.identity: recipe}, {**self._by_name, recipe.name: recipe})

    def _publish(self, by_identity: Mapping[str, Recipe], by_name: Mapping[str, Recipe]) -> None:
        self._by_identity, self._by_name = by_identity, by_name
        self.generation += 1

    def unregister(self, recipe: Recipe | str) -> None:
        """Remove a recipe, given by itself, its name or its identity; an unknown one is a `RecipeError`."""
        entry = recipe if isinstance(recipe, Recipe) else self.region(recipe)
        with self._write:
            if entry is None or self._by_identity.get(entry.identity) is not entry:
                raise RecipeError(f"no recipe {recipe if isinstance(recipe, str) else recipe.name} is registered")
            self._publish(
                {key: kept for key, kept in self._by_identity.items() if kept is not entry},
                {key: kept for key, kept in self._by_name.items() if kept is not entry},
            )

    def region(self, identity_or_name: str) -> Recipe | None:
        """The recipe of an identity or name, or None."""
        return self._by_identity.get(identity_or_name) or self._by_name.get(identity_or_name)

    def name(self, identity: str) -> str | None:
        """The name of the recipe of an identity, or None."""
        entry = self._by_identity.get(identity)
        return None if entry is None else entry.name

    def entries(self) -> tuple[Recipe, ...]:
        """All recipes in registration order."""
        return tuple(self._by_identity.values())

    def families(self) -> tuple[str, ...]:
        """Names of all families, in order of their first recipe."""
        return tuple(dict.fromkeys(recipe.family for recipe in self.entries()))

    def select(self, names: tuple[str, ...]) -> tuple[Recipe, ...]:
        """The recipes that names of families or of recipes stand for; an unknown name is a `RecipeError`."""
        for wanted in names:
            if wanted not in self._by_name and wanted not in self.families():
                raise RecipeError(
                    f"no recipe or family is named {wanted}; families are {', '.join(self.families()) or 'none'}"
                )
        named = {self._by_name[wanted].identity for wanted in names if wanted in self._by_name}
        return tuple(recipe for recipe in self.entries() if recipe.identity in named or recipe.family in names)

    def __iter__(self) -> Iterator[Recipe]:
        return iter(self.entries())

    def __len__(self) -> int:
        return len(self._by_identity)

    def __contains__(self, recipe: object) -> bool:
        if isinstance(recipe, Recipe):
            return recipe.identity in self._by_identity
        return isinstance(recipe, str) and self.region(recipe) is not None

    def load(self, path: str | Path) -> list[Recipe]:
        """Register all recipes of a file. All or none: a file with a bad recipe leaves nothing behind."""
        found = recipes_of(load_module(path))
        if not found:
            raise RecipeError(f"{path} holds no xfuse.recipe")
        return self.register_all(found)

    def save(self, path: str | Path) -> None:
        """Write all recipes as ``.mlir``, a library per family; `load` gives the same identities back."""
        Path(path).write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """All recipes as MLIR text."""
        libraries = [
            LibraryOp(family, [recipe.op.clone() for recipe in self.entries() if recipe.family == family])
            for family in self.families()
        ]
        return "".join(f"{library!s}\n" for library in libraries)


def _enter(recipe: Recipe, by_identity: dict[str, Recipe], by_name: dict[str, Recipe], replace: bool) -> Recipe:
    known = by_identity.get(recipe.identity)
    if known is not None:
        by_name.setdefault(recipe.name, known)  # a second name for one function
        return known
    named = by_name.get(recipe.name)
    if named is not None:
        if not replace:
            raise RecipeError(
                f"the name @{recipe.name} stands for another recipe ({named.identity[:12]}); pass "
                "replace=True to replace it, or a version"
            )
        if named.name == recipe.name:
            del by_identity[named.identity]
    by_identity[recipe.identity] = by_name[recipe.name] = recipe
    return recipe


def as_recipe(recipe: object) -> Recipe:
    """A recipe of an op, which is copied, or of the text of one."""
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, RecipeOp):
        return Recipe(recipe.clone(), recipe.sym_name.data)
    if isinstance(recipe, str):
        found = parse_recipes(recipe)
        if len(found) != 1:
            raise RecipeError(f"expected the text of one recipe, got {len(found)}; use register_all for several")
        return found[0]
    kind = f"'{recipe.name}'" if isinstance(recipe, Operation) else type(recipe).__name__
    raise RecipeError(f"expected a recipe, its op or its text, got {kind}")
