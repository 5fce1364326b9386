"""Scalar ops of a form as LLVM instructions, by the primitives table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xfuse.canonical.form import Form
from xfuse.canonical.scalar_ops import op_signature
from xfuse.errors import UnsupportedError
from xfuse.primitives.llvm_text import TextBuilder, literal
from xfuse.primitives.table import PRIMITIVES


def emit_op(builder: TextBuilder, form: Form, number: int, operands: Sequence[str]) -> tuple[str, ...]:
    """The registers of an op's results, or of two values combined as a reduction does.

    Raises `UnsupportedError` for an op that has no LLVM emission at its types.
    """
    node = form.graph.nodes[number]
    kind = str(dict(node.attributes)["combine"]) if node.kind == "reduce" else node.kind
    emission = PRIMITIVES[kind].llvm if kind in PRIMITIVES else None
    if emission is None:
        raise UnsupportedError(f"'{kind}' has no LLVM emission")
    names: Any = emission(builder, op_signature(form.graph.nodes, node), *operands)
    return (names,) if isinstance(names, str) else tuple(names)


def emit(form: Form, builder: TextBuilder, names: Sequence[str]) -> list[str]:
    """Emit an element-wise form as scalar instructions; returns the names of its results.

    Raises `UnsupportedError` for an op that has no LLVM emission at its types.
    """
    values: dict[int, str] = {argument.node: name for argument, name in zip(form.arguments, names, strict=True)}
    several: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
    for number in form.graph.reachable(result.node for result in form.results):
        node = form.graph.nodes[number]
        if number in values:
            continue
        if node.kind == "constant":
            bits = node.attributes[0][1]
            assert isinstance(bits, int)
            values[number] = literal(node.element_type, bits)
            continue
        operands = tuple(values[reference.node] for reference in node.references)
        given: dict[str, Any] = dict(node.attributes)
        if "result" not in given:
            values[number] = emit_op(builder, form, number, operands)[0]
            continue
        key = (node.kind, operands)
        if key not in several:
            several[key] = emit_op(builder, form, number, operands)
        values[number] = several[key][given["result"]]
    return [values[result.node] for result in form.results]
