"""Which operand of a match is which argument of the recipe (rule R3)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product

from xdsl.ir import Operation, SSAValue

from xfuse.canonical.graph import UNINITIALISED
from xfuse.canonical.operands import Use
from xfuse.match.escapes import check_order
from xfuse.match.region import Extraction, build_region, definitions_first, is_evident, is_instance, known_extents
from xfuse.match.shapes import clone_tree, shape_operands
from xfuse.match.walk import Refused, Walk

_MAX_ASSIGNMENTS = 256


def assign(walk: Walk, before: Operation) -> Extraction:
    """Give every remaining operand its argument. Where two arguments are one value, the region decides."""
    pattern, program = walk.pattern, walk.program
    carriers: dict[int, SSAValue] = {}
    open_uses: list[tuple[SSAValue, Use, tuple[int, ...]]] = []
    for operand, uses in walk.uses.items():
        value = program.value(operand)
        numbers = walk.arguments.get(UNINITIALISED if value is None else value.node)
        if not numbers:
            raise Refused("R11", "outside-recipe", "an operand of the match is no part of the recipe", uses[0][0])
        literal = value is not None and value.node in walk.interior
        if len(numbers) == 1 and not literal:
            number = numbers[0]
            if carriers.setdefault(number, operand) is not operand:
                raise Refused(
                    "R3", "two-carriers", f"argument {number} is carried by two values; run cse first", uses[0][0]
                )
            continue
        choices = tuple(numbers) + ((-1,) if literal else ())
        open_uses.extend((operand, use, choices) for use in uses)
    if not open_uses:
        return _checked(walk, before, carriers, {})
    for choice in islice(product(*(choices for _, _, choices in open_uses)), _MAX_ASSIGNMENTS):
        chosen: dict[Use, int] = {}
        taken = dict(carriers)
        fits = True
        for (operand, use, _), number in zip(open_uses, choice, strict=True):
            chosen[use] = number
            if number >= 0 and taken.setdefault(number, operand) is not operand:
                fits = False
        if not fits or len(taken) != len(pattern.arguments):
            continue
        try:
            return _checked(walk, before, taken, chosen)
        except Refused:
            continue
    text = "several arguments are one value, and the ops read it through fewer operands than that"
    raise Refused("R3", "alias", text, open_uses[0][1][0])


def _holder(walk: Walk, number: int) -> Operation | None:
    """The first op of the match in whose body the value of an argument is made, as a literal may be."""
    for op in sorted(walk.covered, key=walk.order.__getitem__):
        for inner in op.walk() if op.regions else ():
            values = [walk.program.value(result) for result in inner.results if inner is not op]
            if any(value is not None and number in walk.arguments.get(value.node, ()) for value in values):
                return op
    return None


def _checked(walk: Walk, before: Operation, carriers: Mapping[int, SSAValue], chosen: Mapping[Use, int]) -> Extraction:
    pattern = walk.pattern
    missing = [n for n in range(len(pattern.arguments)) if n not in carriers]
    if missing:
        number = missing[0]
        holder = _holder(walk, number)
        if holder is not None:
            text = f"argument {number} is made inside the body of the op; split=true or xfuse-normalize moves it out"
            raise Refused("R3", "alias", text, holder)
        raise Refused("R3", "alias", f"no operand of the match carries argument {number} alone")
    inputs = [carriers[n] for n in range(len(pattern.arguments))]
    cloned = set(walk.cloned)
    for operand, uses in walk.uses.items() if chosen else ():
        if any(chosen.get(use) == -1 for use in uses) and not clone_tree(walk, operand):
            raise Refused("R4", "literal", "a literal of the recipe cannot be copied into the region")
    order = walk.order
    covered = sorted(walk.covered, key=order.__getitem__)
    copied = sorted({op for op in (*covered, *walk.cloned) if op in order}, key=order.__getitem__)
    outer = definitions_first((op for op in walk.cloned if op not in order), walk.program.position)
    shapes = shape_operands(walk, inputs, [op for op in (*outer, *copied) if op in walk.cloned])
    if before not in walk.covered:
        check_order(walk, before, (*inputs, *shapes))
    extraction = Extraction(
        pattern,
        walk.block,
        covered,
        outer + copied,
        inputs,
        shapes,
        list(walk.roots),
        before,
        tuple(inputs[number] for number in sorted(pattern.slots)),
        kept=frozenset(walk.kept),
    )
    if chosen:
        extraction.body = build_region(extraction.copied, inputs, shapes, walk.roots, chosen)
    known = walk.program.known_instances
    evident = is_evident(extraction, walk.program) and all(len(numbers) == 1 for numbers in walk.arguments.values())
    if not evident and not is_instance(extraction, known):
        extraction.same_extents = known_extents(inputs, shapes, walk.program) if pattern.extents else ()
        if extraction.same_extents and is_instance(extraction, known):
            return extraction
        walk.cloned = cloned
        raise Refused("R3", "instance", "the ops that carry the match, taken whole, are not the recipe")
    return extraction
