"""Which ops a cluster copies: constants and extents (rule R4), tables of constants excepted."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation

from xfuse.materialise import is_materialisable, is_table


def is_copied(op: Operation, others: Collection[Operation] = ()) -> bool:
    """Whether an op is copied into a cluster that reads it.

    A table is an operand of the cluster instead: inside, it would make core dimensions of its axes. ``others`` are ops
    known not to be copied, and what is made of them is none either.
    """
    return is_materialisable(op, others) and not _holds_table(op)


def _holds_table(op: Operation) -> bool:
    stack, seen = [op], {op}
    while stack:
        current = stack.pop()
        if current.name in ("tensor.empty", "tensor.dim"):
            continue
        if current.name == "arith.constant":
            if is_table(current.properties["value"]):
                return True
            continue
        for inner in current.walk() if current.regions else (current,):
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner not in seen:
                    seen.add(owner)
                    stack.append(owner)
    return False
