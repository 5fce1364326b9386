"""Making and changing ops of parts that are known to be right, in a fraction of the time that xDSL's own ways take.

What is made is what those make, field by field.
"""

# The fields are private to xDSL, whose setters renew all of them where one changes.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue, Use
from xdsl.ir.core import SSAValues

_Op = TypeVar("_Op", bound=Operation)


def make_op(
    kind: type[_Op],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute],
    like: Operation | None = None,
) -> _Op:
    """An op without regions and successors; its attributes and location are those of ``like``.

    The same as ``kind.create``, if every property that has a default is given. That one takes some five times as long,
    as it resets what a new op does not have yet, and looks for defaults.
    """
    op = kind.__new__(kind)
    op._operands = SSAValues(operands)
    op._operand_uses = tuple([Use(op, index) for index in range(len(operands))])
    for operand, use in zip(operands, op._operand_uses, strict=True):
        operand.add_use(use)
    op.results = SSAValues([OpResult(type_, op, index) for index, type_ in enumerate(result_types)])
    op.properties = dict(properties)
    if like is None:
        op.attributes, op.location = {}, UNKNOWN_LOC
    else:
        op.attributes, op.location = dict(like.attributes), like.location
    return op


def make_block(values: Sequence[SSAValue]) -> Block:
    """An empty block with an argument for each of some values, of its type and name.

    The same as ``Block(arg_types=...)``, which looks up the default location for each argument.
    """
    block = Block()
    arguments: list[BlockArgument] = []
    for index, value in enumerate(values):
        argument = BlockArgument(value.type, block, index, UNKNOWN_LOC)
        copy_name(value, argument)
        arguments.append(argument)
    block._args = tuple(arguments)
    return block


def copy_name(source: SSAValue, target: SSAValue) -> None:
    """Give a value the name of another one, whose name was checked when it was set, if that has one."""
    if source._name is not None:
        target._name = source._name


def replace_operands(op: Operation, mapping: Mapping[SSAValue, SSAValue]) -> None:
    """Have an op read other values in place of some. The same as setting ``op.operands`` but for the order of uses."""
    operands = [mapping.get(operand, operand) for operand in op._operands]
    for old, new, use in zip(op._operands, operands, op._operand_uses, strict=True):
        if new is not old:
            old.remove_use(use)
            new.add_use(use)
    op._operands = SSAValues(operands)


def redirect(use: Use, value: SSAValue) -> None:
    """Have one operand read another value. The same as setting the operand."""
    op, index = use._operation, use._index
    op._operands[index].remove_use(use)
    operands = list(op._operands)
    operands[index] = value
    op._operands = SSAValues(operands)
    value.add_use(use)


def replace_uses(old: SSAValue, new: SSAValue) -> None:
    """Have everything that reads a value read another one. Unlike ``replace_all_uses_with`` names stay as they are."""
    if old is not new:
        while old.first_use is not None:
            redirect(old.first_use, new)
