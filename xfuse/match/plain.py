"""Matches in the common case, values and ops at once: each op is one scalar op's node, and nothing else is involved.

Whatever is not so plain is left to the search and the walk, which also tell what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Operation, OpResult, SSAValue

from xfuse.canonical.graph import COMPARES
from xfuse.match.index import Reading
from xfuse.match.pattern import LITERAL, Pattern
from xfuse.match.region import Extraction
from xfuse.match.walk import may_be_view
from xfuse.materialise import is_materialisable


def match_plain(
    reading: Reading, pattern: Pattern, block: Block, order: Mapping[Operation, int], root: OpResult
) -> Extraction | None:
    """The first match that a search would find at an SSA value of ``block``, if it is plain; else None.

    It is if every inner value of the recipe is the result of an op of its own that nothing else reads, every literal
    a constant of the block, and every argument one value of the program, read as it is. No index is compared, since
    scalar ops read all their operands along the same axes.
    """
    roles = pattern.roles
    if roles is None:
        return None
    values, nodes, classes = reading.program.builder.values, reading.program.graph.nodes, reading.classes
    terms, below = reading.terms.of(pattern), pattern.below
    bound: dict[int, SSAValue] = {}
    found: set[int] = set()
    computed: dict[int, OpResult] = {}  # by id of the op, as hashing an op is a call
    constants: list[Operation] = []
    todo: list[tuple[int, SSAValue]] = [(pattern.roots[pattern.anchor], root)]
    while todo:
        wanted, ssa = todo.pop()
        if wanted in bound:
            if bound[wanted] is not ssa:
                return None
            continue
        bound[wanted] = ssa
        value = values.get(ssa)
        if value is None or value.node < 0 or terms[wanted] not in classes[value.node].possible:
            return None
        found.add(value.node)
        role = roles[wanted]
        if role >= 0:
            if isinstance(ssa, OpResult) and may_be_view(ssa.op):
                return None
            continue
        if not isinstance(ssa, OpResult) or ssa.op.parent is not block:
            return None
        op = ssa.op
        if role == LITERAL:
            if op.name != "arith.constant":
                return None
            constants.append(op)
            continue
        # A compare may stand the other way round in the graph.
        if op.name != nodes[value.node].kind or op.name in COMPARES or op.regions or len(op.results) != 1:
            return None
        computed[id(op)] = ssa
        operands: Sequence[SSAValue] = op.operands
        if wanted in pattern.commutative:
            operands = _ordered(operands, terms, below[wanted], reading)
        todo.extend(zip(below[wanted], operands, strict=True))
    if len(found) != len(bound) or (not nodes[values[root].node].rank and is_materialisable(root.op)):
        return None
    for result in computed.values():
        if result is not root and any(id(use.operation) not in computed for use in result.uses):
            return None
    covered = sorted([result.op for result in computed.values()], key=order.__getitem__)
    copied = sorted((*covered, *constants), key=order.__getitem__) if constants else covered
    inputs = [bound[node] for node in pattern.arguments]
    slots = tuple(inputs[number] for number in sorted(pattern.slots)) if pattern.slots else ()
    return Extraction(pattern, block, covered, copied, inputs, (), (root,), root.op, slots)


def _ordered(
    operands: Sequence[SSAValue], terms: Mapping[int, int], wanted: Sequence[int], reading: Reading
) -> Sequence[SSAValue]:
    """The operands of a commutative op in the order in which a search would try them first."""
    values, classes = reading.program.builder.values, reading.classes
    first, second = operands
    left, right = values.get(first), values.get(second)
    if left is None or right is None or left.node < 0 or right.node < 0:
        return operands
    if right.node < left.node:
        first, second, left, right = second, first, right, left
    straight = terms[wanted[0]] in classes[left.node].possible and terms[wanted[1]] in classes[right.node].possible
    return (first, second) if straight else (second, first)
