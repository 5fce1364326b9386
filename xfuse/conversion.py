"""Fused ops as the fewest ``linalg.generic`` ops: real MLIR takes it from there.

The region of a fused op is written anew from its canonical form, then put in its place. What no generic can express
(loops, slices, concatenation, padding, real reshapes) stands between the generics as plain ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xfuse.canonical.build import GraphBuilder
from xfuse.collector import paused_collector
from xfuse.decomposition import decompose_all
from xfuse.emission.writer import Emission
from xfuse.errors import XfuseError
from xfuse.match.program import LEAF_REGIONS
from xfuse.parser import resource_blobs
from xfuse_dialects.xfuse import FusedOp, LibraryOp, RecipeOp, YieldOp


def convert_to_linalg(module: Operation, wanted: Callable[[FusedOp], bool] = lambda _: True) -> int:
    """Replace every fused op that is wanted by the fewest generics that compute it; returns how many that were.

    Scalar fused ops become scalar ops. An op whose region has no canonical form, or holds a fused op that is not
    wanted, is decomposed: its region's ops stand as they are. Recipe definitions are left.
    """
    with paused_collector():
        chosen: set[FusedOp] = set()
        stack = [module]
        while stack:
            op = stack.pop()
            if isinstance(op, RecipeOp | LibraryOp):
                continue
            if isinstance(op, FusedOp) and wanted(op):
                chosen.add(op)
                if _is_written_anew(op, wanted):
                    write_anew(op)
            stack.extend(inner for region in op.regions for block in region.blocks for inner in block.ops)
        return decompose_all(module, chosen.__contains__)


def _is_written_anew(op: FusedOp, wanted: Callable[[FusedOp], bool]) -> bool:
    """Whether an op computes tensors, stands outside all bodies, and everything in it may be rewritten."""
    around = op.parent_op()
    while around is not None:
        if isinstance(around, LEAF_REGIONS):
            return False
        around = around.parent_op()
    inside = list(op.body.walk())
    if any(isinstance(inner, FusedOp) and not wanted(inner) for inner in inside):
        return False
    return any(
        isinstance(type_, TensorType) for inner in inside for type_ in (*inner.operand_types, *inner.result_types)
    )


def write_anew(op: FusedOp) -> bool:
    """Write the region of a fused op in the fewest generics; False if it has no canonical form, and stays as it is."""
    old = op.body.block
    new = Block(arg_types=old.arg_types)
    try:
        builder = GraphBuilder(resources=resource_blobs())
        arguments = [builder.argument(each) for each in old.args]
        results = builder.block(old)
        emission = Emission(builder.graph, arguments, results, new.args, fused=True)
        ops, values = emission.make([not isinstance(type_, TensorType) for type_ in op.outputs.types])
    except XfuseError:
        return False
    new.add_ops(ops)
    yielded: list[SSAValue] = []
    for value, wanted in zip(values, op.outputs.types, strict=True):
        if value.type != wanted:
            dynamic = tensor.CastOp(value, cast(TensorType[Attribute], wanted))
            new.add_op(dynamic)
            value = dynamic.dest
        yielded.append(value)
    new.add_op(YieldOp(yielded))
    for each in new.walk():
        each.location = op.location
    op.body.detach_block(old)
    old.erase()
    op.body.add_block(new)
    return True
