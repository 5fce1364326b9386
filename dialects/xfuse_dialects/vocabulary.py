"""The ops that a recipe may hold, by name. What they mean is said in the primitives table of xfuse."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free, is_speculatable

SCALAR_OPS = frozenset(op.name for dialect in (arith.Arith, math.Math) for op in dialect.operations)
"""Every arith and math op."""

LINALG_OPS = frozenset(
    f"linalg.{name}"
    for name in (
        "generic index yield fill copy broadcast transpose reduce matmul quantized_matmul add sub mul max min exp log "
        "sqrt select conv_2d_nchw_fchw conv_2d_nchw_fchw_q pooling_nchw_max"
    ).split()
)
TENSOR_OPS = frozenset(
    f"tensor.{name}"
    for name in (
        "empty dim cast splat extract insert extract_slice insert_slice expand_shape collapse_shape reshape concat "
        "pad yield from_elements"
    ).split()
)
SCF_OPS = frozenset(f"scf.{name}" for name in ("for", "while", "if", "yield", "condition"))

VOCABULARY = SCALAR_OPS | LINALG_OPS | TENSOR_OPS | SCF_OPS | {"xfuse.fused", "xfuse.yield"}
"""Names of all ops that a recipe's region may hold without further proof that they are pure."""

NOT_SPECULATABLE = frozenset(
    {f"arith.{name}" for name in ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui")}
    | {"math.ipowi", "scf.while", "scf.for"}
)
"""Vocabulary ops that must not run where the program would not have run them: they may trap or never end."""


def is_admitted(op: Operation) -> bool:
    """Whether an op may stand in a recipe: it is in the vocabulary, or its traits prove that it has no effects."""
    return op.name in VOCABULARY or is_side_effect_free(op)


def is_hoistable(op: Operation) -> bool:
    """Whether an op, its regions aside, may run where the program would not have run it."""
    if op.name in VOCABULARY:
        return op.name not in NOT_SPECULATABLE
    return is_speculatable(op)
