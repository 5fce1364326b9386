"""Recipes from plain Python functions: ``@xfuse.recipe`` and the namespace ``xfuse.xp``."""

from __future__ import annotations

from xfuse.tracing import namespace as xp
from xfuse.tracing.decorator import TracedRecipe, recipe

__all__ = ["TracedRecipe", "recipe", "xp"]
