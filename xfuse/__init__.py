"""xfuse: fused ops whose region is their recipe, for xDSL.

Everything public is here; ``xdsl-opt`` imports this package at every start, so names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xfuse.api import Adoption as Adoption
    from xfuse.api import BindingTable as BindingTable
    from xfuse.api import CompiledProgram as CompiledProgram
    from xfuse.api import DecomposePattern as DecomposePattern
    from xfuse.api import FusePattern as FusePattern
    from xfuse.api import Identity as Identity
    from xfuse.api import Kernel as Kernel
    from xfuse.api import Match as Match
    from xfuse.api import Matches as Matches
    from xfuse.api import Recipe as Recipe
    from xfuse.api import RecipeRegistry as RecipeRegistry
    from xfuse.api import Refusal as Refusal
    from xfuse.api import ResolvedShapes as ResolvedShapes
    from xfuse.api import Row as Row
    from xfuse.api import Session as Session
    from xfuse.api import ShapeUse as ShapeUse
    from xfuse.api import adopt as adopt
    from xfuse.api import available as available
    from xfuse.api import available_in as available_in
    from xfuse.api import bind as bind
    from xfuse.api import compile as compile
    from xfuse.api import count_scalar_slots as count_scalar_slots
    from xfuse.api import current_session as current_session
    from xfuse.api import decompose_all as decompose_all
    from xfuse.api import entries as entries
    from xfuse.api import identities as identities
    from xfuse.api import kernel as kernel
    from xfuse.api import load_module as load_module
    from xfuse.api import lookup as lookup
    from xfuse.api import name as name
    from xfuse.api import parse_module as parse_module
    from xfuse.api import region as region
    from xfuse.api import register as register
    from xfuse.api import resolve_shapes as resolve_shapes
    from xfuse.api import try_emit as try_emit
    from xfuse.api import ufunc as ufunc
    from xfuse.api import unregister as unregister
    from xfuse.tracing import TracedRecipe as TracedRecipe
    from xfuse.tracing import recipe as recipe
    from xfuse.tracing import xp as xp

__version__ = "0.1.0"

_PUBLIC = frozenset(
    "Adoption BindingTable CompiledProgram DecomposePattern FusePattern Identity Kernel Match Matches Recipe "
    "RecipeRegistry Refusal ResolvedShapes Row Session ShapeUse adopt available available_in bind compile "
    "count_scalar_slots current_session decompose decompose_all emit entries fuse identities identity kernel "
    "load_module lookup name parse_module region register resolve_shapes try_emit ufunc unregister".split()
)


_TRACING = frozenset(("TracedRecipe", "recipe", "xp"))


def __getattr__(name: str) -> Any:
    if name in _TRACING:
        return getattr(import_module("xfuse.tracing"), name)
    if name not in _PUBLIC:
        raise AttributeError(f"module 'xfuse' has no attribute {name!r}")
    return getattr(import_module("xfuse.api"), name)


def __dir__() -> list[str]:
    return sorted(_PUBLIC | _TRACING | set(globals()))
