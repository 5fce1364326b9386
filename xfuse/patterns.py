"""Fusing and decomposing as xDSL rewrite patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xfuse.decomposition import decompose
from xfuse.editing import PatternEditor
from xfuse.match.choose import Gate, PatternIndex, apply, matches_at
from xfuse.recipes import Recipe
from xfuse_dialects.xfuse import FusedOp, LibraryOp, RecipeOp


@dataclass
class FusePattern(RewritePattern):
    """Puts a fused op where an op is the root of a match of one recipe; used alone, it takes the first match.

    ``gate`` says which backend has a row for the recipe at a dtype tuple (`Session.gate`).
    """

    recipe: Recipe
    gate: Gate
    _index: PatternIndex | None = field(default=None, init=False, repr=False)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Fuse the match whose last op is ``op``, if there is one. Never looks inside a fused op (law L7)."""
        if inside_fused(op):
            return
        if self._index is None:
            self._index = PatternIndex((self.recipe,))
        found = matches_at(op, self._index, self.gate)
        if found is None:
            return
        apply([found], PatternEditor(rewriter))


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
