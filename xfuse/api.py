"""The public calls of the package that act on the current session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.decomposition import decompose as decompose
from xfuse.decomposition import decompose_all as decompose_all
from xfuse.emission import Emitted
from xfuse.emission import emit as _emit
from xfuse.emission import try_emit as _try_emit
from xfuse.errors import DecomposeError
from xfuse.fusion import fuse as _fuse
from xfuse.identify import Identity as Identity
from xfuse.identify import identities as identities
from xfuse.identify import identity as identity
from xfuse.kernels import Kernel as Kernel
from xfuse.match.choose import Match as Match
from xfuse.match.choose import Matches as Matches
from xfuse.match.refusal import Refusal as Refusal
from xfuse.parser import load_module as load_module
from xfuse.parser import parse_module as parse_module
from xfuse.patterns import DecomposePattern as DecomposePattern
from xfuse.patterns import FusePattern as FusePattern
from xfuse.recipes import Recipe as Recipe
from xfuse.registry import RecipeRegistry as RecipeRegistry
from xfuse.registry import as_recipe
from xfuse.runtime import CompiledProgram as CompiledProgram
from xfuse.runtime import compile as compile
from xfuse.session import Adoption as Adoption
from xfuse.session import Session as Session
from xfuse.session import current_session as current_session
from xfuse.shapes import ResolvedShapes as ResolvedShapes
from xfuse.shapes import ShapeUse as ShapeUse
from xfuse.shapes import resolve_shapes as _resolve_shapes
from xfuse.table import BindingTable as BindingTable
from xfuse.table import Row as Row
from xfuse.table import Snapshot
from xfuse.validation import validate
from xfuse_dialects.xfuse import RecipeOp


def register(recipe: Recipe | RecipeOp | str, *, replace: bool = False, version: int | None = None) -> Recipe:
    """`Session.register` on the current session."""
    return current_session().register(recipe, replace=replace, version=version)


def unregister(recipe: Recipe | str) -> None:
    """`Session.unregister` on the current session."""
    current_session().unregister(recipe)


def region(identity_or_name: str) -> Recipe | None:
    """The recipe of an identity or name in the current session, or None."""
    return current_session().registry.region(identity_or_name)


def name(identity: str) -> str | None:
    """The name of the recipe of an identity in the current session, or None."""
    return current_session().registry.name(identity)


def entries() -> tuple[Recipe, ...]:
    """All recipes of the current session, in registration order."""
    return current_session().registry.entries()


def count_scalar_slots(recipe: Recipe | str) -> int:
    """How many arguments of a recipe bind only constants; a match gives their values in argument order."""
    return len(current_session().recipe(recipe).scalar_slots if isinstance(recipe, str) else recipe.scalar_slots)


def emit(recipe: Recipe | str, inputs: Sequence[SSAValue]) -> Emitted:
    """A recipe as plain ops on some values; raises `DecomposeError`. See `xfuse.emission.emit`."""
    return _emit(_recipe(recipe), inputs)


def try_emit(recipe: Recipe | str, inputs: Sequence[SSAValue]) -> Emitted | DecomposeError:
    """`emit`, with the error as a value."""
    return _try_emit(_recipe(recipe), inputs)


def resolve_shapes(
    recipe: Recipe | str, shapes: Sequence[Sequence[SupportsIndex | None]], *, partial: bool = False
) -> ResolvedShapes:
    """What a recipe takes from extents, at operands of these shapes. See `xfuse.shapes.resolve_shapes`."""
    return _resolve_shapes(_recipe(recipe), shapes, partial=partial)


def bind(
    recipe: Recipe | str,
    kernel: Kernel | Callable[..., Any],
    dtypes: Sequence[str] | None = None,
    backend: str | None = None,
    **options: Any,
) -> Row:
    """`Session.bind` on the current session."""
    return current_session().bind(recipe, kernel, dtypes, backend, **options)


def lookup(recipe: Recipe | str, backend: str = "auto", dtypes: Sequence[str] | None = None) -> Row:
    """`Session.lookup` on the current session."""
    return current_session().lookup(recipe, backend, dtypes)


def available(recipe: Recipe | str, backend: str) -> bool:
    """`Session.available` on the current session."""
    return current_session().available(recipe, backend)


def available_in(rows: Snapshot | BindingTable, recipe: Recipe | str, backend: str) -> bool:
    """`Session.available_in` on the current session: reads only the table passed in."""
    return current_session().available_in(rows, recipe, backend)


def adopt(
    name: str,
    recipe: Recipe | RecipeOp | str,
    kernel: Kernel | Callable[..., Any],
    dtypes: Sequence[str] | None = None,
    backend: str | None = None,
    *,
    trusted: bool = False,
) -> Adoption:
    """`Session.adopt` on the current session."""
    return current_session().adopt(name, recipe, kernel, dtypes, backend, trusted=trusted)


def kernel(recipe: Recipe | str, *dtypes: str, backend: str = "auto") -> Kernel:
    """`Session.kernel` on the current session."""
    return current_session().kernel(recipe, *dtypes, backend=backend)


def ufunc(recipe: Recipe | RecipeOp | str) -> np.ufunc:
    """A real `numpy.ufunc` with a compiled loop for every element type that an element-wise recipe is good for.

    ``recipe`` is a recipe, its op, its MLIR text, or the name of a registered one. NumPy does broadcasting, casting,
    ``out=`` and overlap. Raises `BackendUnavailable` without llvmlite, `UnsupportedError` for a recipe that is not
    element-wise.
    """
    session = current_session()
    known = session.registry.region(recipe) if isinstance(recipe, str) else None
    entry = known or as_recipe(recipe)
    if known is None:
        validate(entry)
    backend = session.backends.get("llvm")
    made = (backend if isinstance(backend, LLVMBackend) else LLVMBackend()).ufunc(entry)
    if known is None:
        session.register(entry)
    return made


def fuse(
    module: ModuleOp | str,
    only: Sequence[str] = (),
    backend: str = "auto",
    session: Session | None = None,
    *,
    split: bool = False,
) -> ModuleOp:
    """Fuse what the session's recipes match, in place; returns the module. ``only`` names recipes or families.

    With ``split`` a generic is taken apart first where a match crosses the border of its body (rule R11).
    """
    session = session or current_session()
    module = parse_module(module) if isinstance(module, str) else module
    recipes = session.registry.select(tuple(only)) if only else session.registry.entries()
    _fuse(module, recipes, session.gate(backend), split=split)
    return module


def _recipe(recipe: Recipe | str) -> Recipe:
    return current_session().recipe(recipe) if isinstance(recipe, str) else recipe
