"""Putting recipes back: a fused op becomes the ops of its region again (laws L1 and L2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue

from xfuse.collector import paused_collector
from xfuse.construction import copy_name, replace_uses
from xfuse.editing import Editor
from xfuse.materialise import Known
from xfuse_dialects.xfuse import OUTLINED, YIELDING, FusedOp, RecipeOp, YieldOp


def decompose(
    op: Operation, known: Known | None = None, editor: Editor | None = None, copies: list[Operation] | None = None
) -> Sequence[SSAValue]:
    """Replace a fused op by the ops of its region; returns the values that stand for its results.

    Anything but a fused op comes back unchanged: its results. A constant or other materialisable op of the region is
    not put back where an equal one stands before the fused op in its block; ``known`` may hold
    those. Nor is an op that was duplicated, if its equal is still in the block; those that find none are added to
    ``copies``, as another fused op may hold it. ``editor`` makes the changes.
    """
    if not isinstance(op, FusedOp):
        return op.results
    editor = editor or Editor()
    if known is None:
        known = Known()
        for before in _preceding(op):
            known.remember(before)
    block = op.regions[0].block
    terminator = block.last_op
    assert isinstance(terminator, YieldOp)
    for inner, outer in zip(block.args, op.operands, strict=True):
        replace_uses(inner, outer)
    duplicated: set[int] = set(op.duplicated.get_values()) if op.duplicated is not None else set()
    position, following = -1, block.first_op
    while following is not None and following is not terminator:
        position, inner, following = position + 1, following, following.next_op
        copyable = known.is_materialisable(inner)
        equal = known.equal(inner) if copyable else None
        if equal is not None:
            for old, new in zip(inner.results, equal.results, strict=True):
                replace_uses(old, new)
            editor.erase(inner)
            continue
        inner.detach()
        editor.insert_before(inner, op)
        if copyable:
            known.remember(inner)
        if position in duplicated and not copyable and not _unite(inner, known, editor) and copies is not None:
            copies.append(inner)
    results = list(terminator.operands)
    for old, new in zip(op.results, results, strict=True):
        if new.name_hint is None:
            copy_name(old, new)
        replace_uses(old, new)
    editor.erase(terminator)
    editor.erase(op)
    return results


def decompose_all(module: Operation, wanted: Callable[[FusedOp], bool] = lambda _: True) -> int:
    """Decompose every fused op that is wanted, nested ones included; returns how many there were.

    Recipes that passes made of the program go with their last fused op.
    """
    with paused_collector():
        count = _decompose_all(module, wanted)
        if count:
            _drop_made(module)
        return count


def _decompose_all(module: Operation, wanted: Callable[[FusedOp], bool]) -> int:
    count = 0
    blocks = [block for region in module.regions for block in region.blocks]
    while blocks:
        block = blocks.pop()
        known = Known()
        copies: list[Operation] = []
        op = block.first_op
        while op is not None:
            if isinstance(op, FusedOp) and wanted(op):
                before = op.prev_op
                decompose(op, known, copies=copies)
                count += 1
                op = block.first_op if before is None else before.next_op
                continue
            known.remember(op)
            blocks.extend(inner for region in op.regions for inner in region.blocks)
            op = op.next_op
        for copy in copies:
            _unite(copy, known, Editor())
    return count


def _unite(copy: Operation, known: Known, editor: Editor) -> bool:
    """Erase the later one of a duplicated op and its equal in the block, if that has one; says so."""
    if not copy.operands or len(copy.regions) > 1:
        return False
    key = known.key(copy)
    for use in copy.operands[0].uses:
        other = use.operation
        if other is copy or other.parent is not copy.parent or other.name != copy.name or known.key(other) != key:
            continue
        first, second = (other, copy) if other.is_before_in_block(copy) else (copy, other)
        for old, new in zip(second.results, first.results, strict=True):
            replace_uses(old, new)
        editor.erase(second)
        return True
    return False


def _drop_made(module: Operation) -> None:
    """Erase the recipes made by passes that no fused op is labelled with any more."""
    made = [
        op
        for op in _top_ops(module)
        if isinstance(op, RecipeOp) and (OUTLINED in op.attributes or YIELDING in op.attributes)
    ]
    if made:
        used = {op.label for op in module.walk() if isinstance(op, FusedOp)}
        for op in made:
            if op.sym_name.data not in used:
                Editor().erase(op)


def _top_ops(module: Operation) -> list[Operation]:
    return [op for region in module.regions for block in region.blocks for op in block.ops]


def _preceding(op: Operation) -> Iterator[Operation]:
    block: Block | None = op.parent
    if block is None:
        return
    for each in block.ops:
        if each is op:
            return
        yield each
