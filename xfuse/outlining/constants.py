"""Which ops a cluster copies: constants and extents (rule R4), tables of constants excepted."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr
from xdsl.ir import Attribute, Operation

from xfuse.materialise import is_materialisable


def is_copied(op: Operation) -> bool:
    """Whether an op is copied into a cluster that reads it.

    A table is an operand of the cluster instead: inside, it would make core dimensions of its axes.
    """
    return is_materialisable(op) and not _holds_table(op)


def _holds_table(op: Operation) -> bool:
    stack, seen = [op], {op}
    while stack:
        current = stack.pop()
        if current.name in ("tensor.empty", "tensor.dim"):
            continue
        if current.name == "arith.constant":
            if _is_table(current.properties["value"]):
                return True
            continue
        for inner in current.walk() if current.regions else (current,):
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner not in seen:
                    seen.add(owner)
                    stack.append(owner)
    return False


def _is_table(value: Attribute) -> bool:
    """Whether a constant has elements of different bits."""
    if isinstance(value, DenseResourceAttr):
        return True
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return False
    dense = cast(Any, value)
    data, count = dense.data.data, len(dense)
    size = len(data) // count if count else 0
    return data[:size] != data[size : 2 * size] if count > 1 and len(data) == 2 * size else data != data[:size] * count
