"""Putting fused ops in place of matches: what a match covers moves into the region of its fused op."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region, SSAValue

from xfuse.canonical.operands import top_of
from xfuse.construction import copy_name, make_op, redirect
from xfuse.editing import Editor
from xfuse.match.choose import Match
from xfuse.match.region import Extraction, make_region
from xfuse_dialects.xfuse import FusedOp, YieldOp


def apply(matches: Sequence[Match], editor: Editor | None = None) -> list[FusedOp]:
    """Rewrite chosen matches; returns the fused ops. Ops of the matches move into them, or are erased."""
    editor = editor or Editor()
    replaced: dict[SSAValue, SSAValue] = {}
    fused_ops: list[FusedOp] = []
    for match in matches:
        extraction = match.extraction
        extraction.inputs = [replaced.get(value, value) for value in extraction.inputs]
        if extraction.shapes:
            extraction.shapes = [replaced.get(value, value) for value in extraction.shapes]
        fused = extraction.fused_op()
        editor.insert_before(fused, extraction.before)
        made = None if extraction.body is not None else make_region(extraction, editor)
        body = fused.regions[0].block if made is None else made[0]
        for old, new in zip(extraction.outputs, fused.results, strict=True):
            copy_name(old, new)
            replaced[old] = new
            _replace(old, new, extraction, body)
        if made is not None:
            body.add_op(make_op(YieldOp, made[1], (), {}))
            fused.add_region(Region(body))
        _erase(extraction, editor)
        fused_ops.append(fused)
    return fused_ops


def _replace(old: SSAValue, new: SSAValue, extraction: Extraction, body: Block) -> None:
    """Have everything outside read the fused op's result, ops aside that stay and may stand before it."""
    for use in tuple(old.uses):
        user = use.operation
        if user.parent is body or (user.parent is not extraction.block and top_of(user, body) is not None):
            continue
        if extraction.kept and top_of(user, extraction.block) in extraction.kept:
            continue
        redirect(use, new)


def _erase(extraction: Extraction, editor: Editor) -> None:
    """Erase what is left of the ops of a match, and copied constants that nothing reads any more."""
    covered = set(extraction.covered) if extraction.body is not None else ()
    for op in reversed(extraction.copied):
        if op.parent is not extraction.block or op in extraction.kept:
            continue
        if op in covered or all(result.first_use is None for result in op.results):
            editor.erase(op)
