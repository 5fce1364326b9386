"""The rules that the regions of recipes and fused ops share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import ConditionallySpeculatable
from xdsl.utils.exceptions import VerifyException

from xfuse_dialects.vocabulary import is_admitted, is_hoistable

FUSED = "xfuse.fused"
YIELD = "xfuse.yield"


class SpeculatableIfBodyIs(ConditionallySpeculatable):
    """A fused op may be hoisted only if every op of its region may."""

    @classmethod
    def is_speculatable(cls, op: Operation) -> bool:
        return all(is_hoistable(inner) for region in op.regions for inner in region.walk() if inner.name != FUSED)


def verify_body(op: Operation, body: Region, inputs: Sequence[Attribute], outputs: Sequence[Attribute]) -> None:
    """The rules that recipe and fused op share: one block, typed arguments, a typed yield, only admitted ops."""
    if len(body.blocks) != 1:
        raise VerifyException(f"'{op.name}' (law L1) expected a region of one block, got {len(body.blocks)} blocks")
    block = body.block
    if tuple(block.arg_types) != tuple(inputs):
        raise VerifyException(
            f"'{op.name}' (law L1) expected block arguments of types ({_types(inputs)}), "
            f"got ({_types(block.arg_types)})"
        )
    terminator = block.last_op
    if terminator is None or terminator.name != YIELD:
        found = "nothing" if terminator is None else f"'{terminator.name}'"
        raise VerifyException(f"'{op.name}' (law L1) expected its region to end in 'xfuse.yield', got {found}")
    if tuple(terminator.operand_types) != tuple(outputs):
        raise VerifyException(
            f"'{op.name}' (law L1) expected 'xfuse.yield' of types ({_types(outputs)}), "
            f"got ({_types(terminator.operand_types)})"
        )
    _verify_ops(op, body, set())


def _verify_ops(op: Operation, region: Region, defined: set[SSAValue]) -> None:
    """Every op is admitted, and reads only what is defined before it in its region or in one around it.

    A fused op inside answers for its own region.
    """
    own: list[SSAValue] = []
    for block in region.blocks:
        own.extend(block.args)
        defined.update(block.args)
        for inner in block.ops:
            if isinstance(inner, UnregisteredOp):
                raise VerifyException(
                    f"'{op.name}' (law L1) holds the unregistered op '{inner.op_name.data}', which nothing proves pure"
                )
            if not is_admitted(inner):
                raise VerifyException(
                    f"'{op.name}' (law L1) holds '{inner.name}', which is outside the vocabulary and not provably pure"
                )
            if not defined.issuperset(inner.operands):
                raise VerifyException(
                    f"'{op.name}' (law L8) holds '{inner.name}', which reads a value before it is defined"
                )
            if inner.name != FUSED:
                for nested in inner.regions:
                    _verify_ops(op, nested, defined)
            own.extend(inner.results)
            defined.update(inner.results)
    defined.difference_update(own)


def _types(types: Iterable[Attribute]) -> str:
    return ", ".join(str(each) for each in types)
