"""Where a program differs from a recipe, in words (rules R3, R6 and R10)."""

from __future__ import annotations

from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import BlockArgument, Operation

from xfuse.match.nearest import Nearest, nearest
from xfuse.match.pairs import Pairs
from xfuse.match.pattern import Pattern
from xfuse.match.program import Program
from xfuse.match.refusal import Refusal, describe, spell_node


def mismatch(program: Program, pattern: Pattern, node: int, root: Operation) -> Refusal:
    """Why no search found the recipe with its last op at ``root``, which computes ``node``."""
    near = nearest(Pairs(pattern, program), pattern.roots[pattern.anchor], node)
    at = _op_at(program, near) or root
    if near.kind == "argument":
        assert near.other is not None
        expected, found = _spell(program, near.other), _spell(program, near.found)
        text = f"{_wanted(pattern, near.wanted)} must be one value; it is {expected} in one place, {found} in another"
        rule, reason = "R3", "two-values"
    elif near.kind == "node":
        expected, found = _wanted(pattern, near.wanted), _spell(program, near.found)
        text = f"expected {expected}, found {found}"
        rule, reason = "R6", "mismatch"
    else:
        expected = found = ""
        text = "the ops are the recipe's, but they read a value along other axes or lack a further result"
        rule, reason = "R3", "axes"
    return Refusal(
        pattern.recipe.name, rule, reason, text, at, root, near.matched, pattern.size, expected=expected, found=found
    )


def _op_at(program: Program, near: Nearest) -> Operation | None:
    """The op that computes what was found, else the one that reads it."""
    for node in (near.found, near.reader):
        carrier = None if node is None or near.kind == "axes" else program.carrier(node)
        if carrier is not None and isinstance(carrier.owner, Operation):
            return _printed(carrier.owner)
    return None


def _printed(op: Operation) -> Operation:
    """An op that the program spells: the body of a named linalg op is implied by its name."""
    holder = op.parent_op()
    named = isinstance(holder, LinalgStructuredOperation) and not isinstance(holder, GenericOp)
    return holder if named and holder is not None else op


def _wanted(pattern: Pattern, node: int) -> str:
    """A node of the recipe as a message names it."""
    number = pattern.arguments.get(node)
    if number is None:
        return spell_node(pattern.nodes[node])
    name = pattern.recipe.op.body.block.args[number].name_hint or str(number)
    slot = "a scalar or splat constant for " if number in pattern.slots else ""
    return f"{slot}argument %{name} of the recipe : {pattern.nodes[node].element_type}"


def _spell(program: Program, node: int) -> str:
    """A node of the program as a message names it: a literal by its value, else what carries it."""
    if node < 0:
        return "a value that was never written"
    known = program.graph.nodes[node]
    carrier = program.carrier(node)
    if known.kind == "constant" or carrier is None:
        return spell_node(known)
    if isinstance(carrier, BlockArgument):
        return f"the argument %{carrier.name_hint or carrier.index} : {known.element_type}"
    assert isinstance(carrier.owner, Operation)
    kind, op = known.kind, _printed(carrier.owner)
    if program.ancestor(op) is None:
        return f"{describe(op)}, which stands outside this block"
    plain = kind in ("argument", "opaque") or (kind == op.name and not known.attributes)
    return describe(op) if plain else f"{spell_node(known)} of {describe(op)}"
