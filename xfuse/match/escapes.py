"""Where a fused op goes, and whether an inner value of the match is used outside it (rules R4, R5, R8)."""

from __future__ import annotations

from xdsl.ir import Operation

from xfuse.match.operands import top_of
from xfuse.match.refusal import describe
from xfuse.match.walk import Refused, Walk, owners


def placement(walk: Walk) -> Operation:
    """The last result's op: all operands precede it, and no user of an earlier result may (rules R5, R8)."""
    last = max(owners(walk.roots), key=lambda op: walk.order[op])
    for root in walk.roots:
        for use in root.uses:
            user = top_of(use.operation, walk.block)
            if user is None or user in walk.covered:
                continue
            if _position(walk, user) < walk.order[last]:
                raise Refused("R8", "order", "a result of the match is used before its last result is computed", user)
    return last


def _position(walk: Walk, op: Operation) -> int:
    known = walk.order.get(op)
    return walk.block.get_operation_index(op) if known is None else known


def check_escapes(walk: Walk) -> None:
    outputs = set(walk.roots)
    for op in sorted(walk.covered, key=walk.order.__getitem__):
        for result in op.results:
            if result in outputs:
                continue
            for use in result.uses:
                user = top_of(use.operation, walk.block)
                # Without a user in this block the use is in another block of the region, hence outside the match.
                if user is not None and (user in walk.covered or (user in walk.cloned and _all_inside(walk, user))):
                    continue
                raise Refused(
                    "R4",
                    "escape",
                    f"an inner value of the recipe, the result of {describe(op)}, is used outside the match by "
                    f"{describe(use.operation if user is None else user)}",
                    op,
                )


def _all_inside(walk: Walk, op: Operation) -> bool:
    inside = walk.covered | walk.cloned
    return all(top_of(use.operation, walk.block) in inside for result in op.results for use in result.uses)
