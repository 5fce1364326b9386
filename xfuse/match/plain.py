"""The ops that carry a match in the common case: each of them is one scalar op's node, and nothing else is involved.

Whatever is not so plain is left to the walk, which also tells what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Block, Operation, OpResult, SSAValue

from xfuse.match.pattern import Pattern
from xfuse.match.program import Program
from xfuse.match.region import Extraction
from xfuse.match.search import Binding
from xfuse.match.walk import may_be_view
from xfuse.materialise import is_materialisable


def extract_plain(
    program: Program, pattern: Pattern, binding: Binding, block: Block, order: Mapping[Operation, int], root: SSAValue
) -> Extraction | None:
    """The ops of a match whose result is an SSA value of ``block``; None if they are not plain.

    They are if every inner value of the recipe is the result of an op of its own that nothing else reads, every literal
    a constant of the block, and every argument one value of the program, read as it is.
    """
    if not pattern.is_plain or not isinstance(root, OpResult):
        return None
    values, nodes, places = program.builder.values, program.graph.nodes, binding.places
    arguments = {places[node][0]: number for node, number in pattern.arguments.items()}
    inner = {places[node][0] for node in pattern.interior}
    literals = {places[node][0] for node in pattern.literals}
    if len(arguments) != len(pattern.arguments) or len(inner) != len(pattern.interior):
        return None
    if not inner.isdisjoint(arguments) or not literals.isdisjoint(arguments):
        return None
    inputs: dict[int, SSAValue] = {}
    covered: dict[int, Operation] = {}  # by id, as hashing an op is a call
    constants: dict[int, Operation] = {}
    last = root.op
    pending = [last]
    for op in pending:
        if id(op) in covered:
            continue
        if op.parent is not block or op.regions or len(op.results) != 1:
            return None
        (result,) = op.results
        value = values.get(result)
        if value is None or value.node not in inner or nodes[value.node].kind != op.name:
            return None
        covered[id(op)] = op
        for operand in op.operands:
            value = values.get(operand)
            if value is None or value.node < 0:
                return None
            number = arguments.get(value.node)
            if number is not None:
                if inputs.setdefault(number, operand) is not operand:
                    return None
                if isinstance(operand, OpResult) and may_be_view(operand.op):
                    return None
            elif not isinstance(operand, OpResult):
                return None
            elif value.node in inner:
                pending.append(operand.op)
            elif operand.op.name == "arith.constant" and operand.op.parent is block:
                constants[id(operand.op)] = operand.op
            else:
                return None
    if len(inputs) != len(arguments) or is_materialisable(last):
        return None
    for op in covered.values():
        for result in op.results if op is not last else ():
            for use in result.uses:
                if id(use.operation) not in covered:
                    return None
    found = sorted(covered.values(), key=order.__getitem__)
    copied = sorted((*found, *constants.values()), key=order.__getitem__) if constants else found
    given = [inputs[number] for number in range(len(inputs))]
    slots = tuple(inputs[number] for number in sorted(pattern.slots))
    return Extraction(pattern, block, found, copied[::-1], copied, given, [], [root], last, slots)
