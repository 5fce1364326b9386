"""``func.call`` to the graph: the callee is read in the place of the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from xfuse.canonical.build import HANDLERS, GraphBuilder
from xfuse.canonical.graph import Value
from xfuse.errors import UnsupportedError

MAX_CALL_DEPTH = 64
"""Calls nested deeper than this are refused: each takes some frames of Python's stack."""


def _call(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, func.CallOp)
    name = op.callee.string_value()
    callee = _callee(builder, op, name)
    if not isinstance(callee, func.FuncOp) or len(callee.body.blocks) != 1:
        raise UnsupportedError(f"func.call of '@{name}', which is no function with a body of one block")
    if callee in builder.call_stack:
        raise UnsupportedError(f"func.call of '@{name}', which is recursive")
    if len(builder.call_stack) == MAX_CALL_DEPTH:
        raise UnsupportedError(f"func.call of '@{name}' at a depth of more than {MAX_CALL_DEPTH} calls")
    arguments = tuple(builder.values[operand] for operand in op.arguments)
    known = builder.call_results.get((callee, arguments))
    if known is not None:
        return known
    block = callee.body.block
    for argument, value in zip(block.args, arguments, strict=True):
        builder.values[argument] = value
    builder.call_stack.append(callee)
    try:
        results = builder.block(block)
    finally:
        builder.call_stack.pop()
    builder.call_results[callee, arguments] = results
    return results


def _callee(builder: GraphBuilder, op: Operation, name: str) -> Operation | None:
    """The op that a symbol names in the nearest symbol table around an op that has it."""
    table = op.parent_op()
    while table is not None:
        if table.has_trait(SymbolTable):
            symbols = builder.symbols.get(table)
            if symbols is None:
                symbols = builder.symbols[table] = _symbols(table)
            if name in symbols:
                return symbols[name]
        table = table.parent_op()
    return None


def _symbols(table: Operation) -> Mapping[str, Operation]:
    found: dict[str, Operation] = {}
    for region in table.regions:
        for block in region.blocks:
            for op in block.ops:
                symbol = op.properties.get("sym_name", op.attributes.get("sym_name"))
                if isinstance(symbol, StringAttr):
                    found[symbol.data] = op
    return found


HANDLERS["func.call"] = _call
