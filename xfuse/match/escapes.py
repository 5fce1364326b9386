"""Where a fused op goes, and whether an inner value of the match is used outside it (rules R4, R5, R8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from xdsl.ir import Operation, SSAValue

from xfuse.canonical.operands import is_inside, operand_uses, top_of
from xfuse.match.refusal import describe
from xfuse.match.walk import Refused, Walk, is_literal, owners

Escape = Literal["refuse", "duplicate", "yield"]
"""What becomes of a match whose inner value is used outside it (rule R4).

It is refused; or the fused op gets copies of the ops that compute the value, which stay; or it gives the value as a
further result, by a variant of the recipe.
"""


def absorb_dead(walk: Walk) -> None:
    """Take in ops that read inner values of the match but that nothing reads: they go along and block nothing (R9).

    Only those that need nothing which the match does not have anyway.
    """
    outputs = set(walk.roots)
    readers = [use.operation for op in walk.covered for r in op.results if r not in outputs for use in r.uses]
    for reader in readers:
        user = top_of(reader, walk.block)
        if user is None or user in walk.covered:
            continue
        dead = _dead_users(walk, user)
        if dead is None or not all(_has_all(walk, op, dead) for op in dead):
            continue
        walk.covered.update(dead)
        for op in dead:
            for inner, index, shape_only in operand_uses(op):
                operand = inner.operands[index]
                owner = operand.owner
                if is_inside(operand, op) or (isinstance(owner, Operation) and owner in walk.covered):
                    continue
                table = walk.shape_uses if shape_only else walk.uses
                table.setdefault(operand, []).append((inner, index))


def _dead_users(walk: Walk, op: Operation) -> list[Operation] | None:
    """An op and everything that reads its results, if none of it has an effect or is read by the block's end."""
    dead = walk.program.dead(walk.block)
    if op not in dead:
        return None
    found = [op]
    seen = {op}
    for current in found:
        if current not in walk.order:
            return None
        for result in current.results:
            for use in result.uses:
                user = top_of(use.operation, walk.block)
                if user is not None and user not in seen:
                    seen.add(user)
                    found.append(user)
    return found


def _has_all(walk: Walk, op: Operation, dead: list[Operation]) -> bool:
    for inner, index, shape_only in operand_uses(op):
        operand = inner.operands[index]
        owner = operand.owner
        value = walk.program.value(operand)
        known = (
            is_inside(operand, op)
            or shape_only
            or operand in walk.uses
            or (value is not None and is_literal(walk, value))
            or (isinstance(owner, Operation) and (owner in walk.covered or owner in dead))
        )
        if not known:
            return False
    return True


def placement(walk: Walk) -> Operation:
    """The op before which the fused op goes: the last result's, or the first user of another result before that (R8).

    `assign` sees that all operands precede an op that is not the last result's own.
    """
    last = max(owners(walk.roots), key=lambda op: walk.order[op])
    first, place = last, walk.order[last]
    for root in walk.roots:
        for use in root.uses:
            user = top_of(use.operation, walk.block)
            if user is None or user in walk.covered:
                continue
            position = _position(walk, user)
            if position < place:
                first, place = user, position
    return first


def check_order(walk: Walk, before: Operation, operands: Iterable[SSAValue]) -> None:
    """Raise unless the operands of a fused op that goes before an op are defined there (rule R8)."""
    place = _position(walk, before)
    for operand in operands:
        owner = operand.owner
        if isinstance(owner, Operation) and owner.parent is walk.block and _position(walk, owner) >= place:
            text = "a result of the match is used before its last result can be computed"
            raise Refused("R8", "order", text, before)


def _position(walk: Walk, op: Operation) -> int:
    known = walk.order.get(op)
    return walk.block.get_operation_index(op) if known is None else known


def escaping(walk: Walk) -> Iterator[tuple[SSAValue, Operation]]:
    """The inner values of a match that are used outside it, in order, each with one of the users."""
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
                yield result, use.operation if user is None else user
                break


def check_escapes(walk: Walk) -> None:
    """Raise if an inner value is used outside the match; the message names the first."""
    found = list(escaping(walk))
    if found:
        value, user = found[0]
        op = value.owner
        assert isinstance(op, Operation)
        raise Refused(
            "R4",
            "escape",
            f"an inner value of the recipe, the result of {describe(op)}, is used outside the match by "
            f"{describe(user)}",
            op,
            [each for each, _ in found],
        )


def keep_escaping(walk: Walk) -> None:
    """Note the ops of a match that stay beside the fused op: those of escaping values, and what they are made of."""
    pending = [value.owner for value, _ in escaping(walk)]
    while pending:
        op = pending.pop()
        if isinstance(op, Operation) and op in walk.covered and op not in walk.kept:
            walk.kept.add(op)
            pending.extend(operand.owner for inner in op.walk() for operand in inner.operands)


def _all_inside(walk: Walk, op: Operation) -> bool:
    inside = walk.covered | walk.cloned
    return all(top_of(use.operation, walk.block) in inside for result in op.results for use in result.uses)
