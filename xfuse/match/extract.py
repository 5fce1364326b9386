"""From a match on values to the ops that carry it, taken whole (rules R3-R5, R8, R11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl.ir import Block, Operation, OpResult, SSAValue

from xfuse.canonical.graph import Value
from xfuse.canonical.operands import top_of
from xfuse.match.assign import assign
from xfuse.match.escapes import Escape, absorb_dead, check_escapes, keep_escaping, placement
from xfuse.match.pattern import Pattern
from xfuse.match.program import Program
from xfuse.match.refusal import Refusal
from xfuse.match.region import Extraction
from xfuse.match.search import Binding
from xfuse.match.shapes import absorb_shapes
from xfuse.match.walk import Refused, Walk, cover
from xfuse.materialise import is_materialisable


def extract(
    program: Program,
    pattern: Pattern,
    binding: Binding,
    block: Block,
    order: Mapping[Operation, int],
    root: SSAValue,
    escape: Escape = "refuse",
) -> Extraction | Refusal:
    """The ops that carry a match whose anchor is an SSA value of ``block``, or why they cannot be taken."""
    try:
        return _extract(program, pattern, binding, block, order, root, escape)
    except Refused as error:
        top = root.owner if isinstance(root.owner, Operation) else None
        size = pattern.size
        found = Refusal(pattern.recipe.name, error.rule, error.reason, error.message, error.op, top, size, size)
        return replace(found, escaping=error.values) if error.values else found


def _extract(
    program: Program,
    pattern: Pattern,
    binding: Binding,
    block: Block,
    order: Mapping[Operation, int],
    root: SSAValue,
    escape: Escape,
) -> Extraction:
    places = binding.places
    # What only an extent is computed of need not be there; the form will tell.
    interior = {places[n][0] for n in pattern.interior if n in places}
    literals = {places[n][0] for n in pattern.literals if n in places}
    by_node: dict[int, list[int]] = {}
    for node, number in pattern.arguments.items():
        if node not in places:
            text = f"argument {number} of the recipe only gives an extent, which is a literal here"
            raise Refused("R3", "unbound", text)
        by_node.setdefault(places[node][0], []).append(number)
    inside = next((node for node in by_node if node in interior), None)
    if inside is not None:
        op = _op_of(program, block, inside)
        raise Refused("R5", "argument-inside", "an argument of the match is one of its own inner values", op)
    computed = [places[n][0] for n in pattern.computed if n in places]
    if len(set(computed)) != len(computed):
        last = next(node for place, node in reversed([*enumerate(computed)]) if node in computed[:place])
        op = _op_of(program, block, last)
        raise Refused("R3", "shared-inside", "two inner values of the recipe are one value of the program", op)
    roots = _roots(program, pattern, binding, block, root)
    if any(isinstance(each.owner, Operation) and is_materialisable(each.owner) for each in roots):
        raise Refused("R4", "constant", "what the recipe would compute is a constant")
    extents = {places[n][0] for n in pattern.extents if n in places}
    inner = interior | literals | extents
    last = [each if each is root else _last_copy(program, block, each) for each in roots]
    if any(each is not first for each, first in zip(last, roots, strict=True)):
        try:
            return _taken(Walk(program, pattern, block, order, by_node, inner, extents, last), escape)
        except Refused:
            pass  # what is wrong is told of the first ones
    return _taken(Walk(program, pattern, block, order, by_node, inner, extents, roots), escape)


def _taken(walk: Walk, escape: Escape) -> Extraction:
    """The ops between the results of a match and its arguments, taken whole."""
    cover(walk)
    absorb_dead(walk)
    absorb_shapes(walk)
    before = placement(walk)
    if escape == "duplicate":
        keep_escaping(walk)
    else:
        check_escapes(walk)
    return assign(walk, before)


def _roots(program: Program, pattern: Pattern, binding: Binding, block: Block, root: SSAValue) -> list[SSAValue]:
    """The SSA values that carry the results, in the recipe's order."""
    found: list[SSAValue] = []
    for position, node in enumerate(pattern.roots):
        if position == pattern.anchor:
            found.append(root)
            continue
        wanted = binding.places[node][0]
        carriers = program.carriers(block).get(wanted)
        if not carriers:
            text = (
                f"result {position} of the recipe is computed only inside a body; split=true or xfuse-normalize takes"
            )
            raise Refused("R11", "inside-body", f"{text} it apart", _op_of(program, block, wanted))
        used = [carrier for carrier in carriers if carrier.uses]
        found.append((used or carriers)[0])
    return found


def _op_of(program: Program, block: Block, node: int) -> Operation | None:
    """The op that computes a node: one of the block if there is one, else one in a body."""
    carriers = program.carriers(block).get(node)
    carrier = carriers[0] if carriers else program.carrier(node)
    return carrier.owner if carrier is not None and isinstance(carrier.owner, Operation) else None


def _last_copy(program: Program, block: Block, carrier: SSAValue) -> SSAValue:
    """The last of a value's copies, if each is all that reads the one before, extents aside; else the value itself.

    What is between two of them may be laid out otherwise: a transpose that another undoes.
    """
    wanted = program.value(carrier)
    current, found = carrier, carrier
    while wanted is not None:
        readers = {top_of(use.operation, block) for use in current.uses if use.operation.name != "tensor.dim"}
        reader = readers.pop() if len(readers) == 1 else None
        if reader is None or len(reader.results) != 1 or not reader.results[0].uses:
            break
        current = reader.results[0]
        value = program.value(current)
        if value is None or value.node != wanted.node:
            break
        if value == wanted and current.type == carrier.type:
            found = current
    return found


def carriers_of(program: Program, block: Block) -> Iterator[tuple[OpResult, Value]]:
    """The results of a block's ops with the values they carry, in program order."""
    values = program.builder.values
    for op in block.ops:
        for result in op.results:
            value = values.get(result)
            if value is not None and value.node >= 0:
                yield result, value
