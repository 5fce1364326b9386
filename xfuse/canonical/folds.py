"""The closed list of bit-exact folds that a key applies when a node is made; regions are never changed by them.

Literals in exact scalar ops are computed by the primitives table itself. Beyond that: select on a literal, x - (+0),
x + (-0), x * 1, x / 1, maximumf(x, -inf), minimumf(x, +inf). All NaNs count as one value. Nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from xfuse.canonical.graph import Attributes, Graph, Value
from xfuse.errors import XfuseError
from xfuse.primitives import literals
from xfuse.primitives.element_types import is_float
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES

_NEUTRAL: dict[str, tuple[float, bool]] = {
    "arith.addf": (-0.0, True),
    "arith.subf": (0.0, False),
    "arith.mulf": (1.0, True),
    "arith.divf": (1.0, False),
    "arith.maximumf": (float("-inf"), True),
    "arith.minimumf": (float("inf"), True),
}
"""The literal that leaves the other operand as it is, and whether it may also stand on the left."""


def fold(graph: Graph, kind: str, element_type: str, attributes: Attributes, operands: Sequence[Value]) -> Value | None:
    """The value that a scalar op folds to, or None. Its extents are those of an operand and must be replaced."""
    nodes = graph.nodes
    for operand in operands:
        if operand.node >= 0 and nodes[operand.node].kind == "constant":
            break
    else:
        return None
    bits = [graph.bits(operand.node) for operand in operands]
    if kind == "arith.select" and bits[0] is not None:
        return operands[1 if bits[0] else 2]
    neutral = _NEUTRAL.get(kind)
    if neutral is not None:
        _, either_side = neutral
        wanted = _neutral_bits(kind, element_type)
        if bits[1] == wanted:
            return operands[0]
        if either_side and bits[0] == wanted:
            return operands[1]
    known = [b for b in bits if b is not None]
    if len(known) == len(bits):
        return _evaluate(graph, kind, element_type, attributes, operands, known)
    return None


@cache
def _neutral_bits(kind: str, element_type: str) -> int:
    return literals.to_bits(_NEUTRAL[kind][0], element_type)


def _evaluate(
    graph: Graph, kind: str, element_type: str, attributes: Attributes, operands: Sequence[Value], bits: Sequence[int]
) -> Value | None:
    primitive = PRIMITIVES[kind]
    if primitive.ulp != 0:
        return None
    types = tuple(graph.nodes[operand.node].element_type for operand in operands)
    if primitive.types.check(types, (element_type,)) is not None:
        return None
    try:
        scalars = [literals.to_scalar(b, t) for b, t in zip(bits, types, strict=True)]
    except XfuseError:  # bf16 without ml_dtypes: the node stays as it is
        return None
    signature = Signature(types, (element_type,), {name: str(value) for name, value in attributes})
    with np.errstate(all="ignore"):
        evaluate = primitive.numpy
        result = evaluate(*scalars) if isinstance(evaluate, np.ufunc) else evaluate(signature, *scalars)
    if is_float(element_type) and np.isnan(result):
        return None
    return graph.constant(element_type, literals.array_bits(result, element_type))
