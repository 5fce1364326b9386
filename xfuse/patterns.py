"""Fusing and decomposing as xDSL rewrite patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xfuse.decomposition import decompose
from xfuse.editing import PatternEditor
from xfuse.match.choose import matches_at
from xfuse.match.index import PatternIndex
from xfuse.match.rewrite import apply
from xfuse.recipes import Recipe
from xfuse_dialects.xfuse import FusedOp, LibraryOp, RecipeOp


class Admitting(Protocol):
    """What knows which backend has a row for a recipe: a session, or a binding table."""

    def admissible(self, recipe: Recipe, dtypes: Sequence[str], backend: str) -> str | None:
        """The backend that has a row for a recipe at exactly these dtypes, or None (law L4)."""
        ...


@dataclass
class FusePattern(RewritePattern):
    """Puts a fused op where an op is the root of a match of one recipe; used alone, it takes the first match.

    ``table`` is a session, or a binding table whose rows alone then count: the recipe is fused only at dtypes for which
    it has a row on ``backend`` ("auto": on any).
    """

    recipe: Recipe
    table: Admitting
    backend: str = "auto"
    _index: PatternIndex | None = field(default=None, init=False, repr=False)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Fuse the match whose last op is ``op``, if there is one. Never looks inside a fused op (law L7)."""
        if inside_fused(op):
            return
        if self._index is None:
            self._index = PatternIndex((self.recipe,))
        found = matches_at(op, self._index, self._gate)
        if found is None:
            return
        apply([found], PatternEditor(rewriter))

    def _gate(self, recipe: Recipe, dtypes: Sequence[str]) -> str | None:
        return self.table.admissible(recipe, dtypes, self.backend)


@dataclass
class DecomposePattern(RewritePattern):
    """Puts the recipe back in place of a fused op.

    ``only`` and ``excluded`` hold labels; a fused op without a label is decomposed unless ``only`` is given.
    """

    only: Sequence[str] = ()
    excluded: Sequence[str] = ()

    def wants(self, op: FusedOp) -> bool:
        """Whether a fused op is to be decomposed."""
        if self.only and op.label not in self.only:
            return False
        return op.label not in self.excluded

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Decompose ``op`` if it is a fused op that is wanted; anything else stays as it is."""
        if isinstance(op, FusedOp) and self.wants(op):
            decompose(op, editor=PatternEditor(rewriter))


def inside_fused(op: Operation) -> bool:
    """Whether an op lies in a fused op, a recipe or a library."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, FusedOp | RecipeOp | LibraryOp):
            return True
        parent = parent.parent_op()
    return False
