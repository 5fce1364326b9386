"""The best partial match of a recipe at a place, and where it ends (rule R10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xfuse.canonical.graph import is_commutative
from xfuse.match.pairs import Pair, Pairs

_MOST = 1 << 30
"""A weight beyond which alignments are not told apart: shared nodes count again wherever they are read."""

Kind = Literal["node", "argument", "axes"]


@dataclass(frozen=True)
class Nearest:
    """How far a recipe can be laid over a program from one node down.

    ``matched`` counts the recipe's nodes that agree, arguments, literals and extents aside. ``wanted`` and ``found``
    are the recipe's and the program's node at the first difference, ``reader`` the program's node that reads the
    latter (None at the place itself). ``kind`` says what differs: the nodes; what an argument, read before as the
    node ``other``, is read as here; or nothing but the axes along which values lie.
    """

    matched: int
    wanted: int
    found: int
    reader: int | None
    kind: Kind
    other: int | None = None


def nearest(pairs: Pairs, wanted: int, number: int) -> Nearest:
    """The partial match that agrees on the most nodes, at each commutative node in the better order."""
    weights = _weights(pairs, wanted, number)
    interior = set(pairs.pattern.interior)
    seen: dict[int, int] = {}
    first: Nearest | None = None
    stack: list[tuple[int, int, int | None]] = [(wanted, number, None)]
    while stack:
        target, node, reader = stack.pop()
        known = seen.get(target)
        if known is not None:
            if known != node and first is None:
                literal = pairs.pattern.nodes[target].kind == "constant"  # one of them is another literal, or none
                kind, other = ("node", None) if literal else ("argument", known)
                first = Nearest(0, target, node, reader, kind, other)
            continue
        verdict = pairs.alone(target, node)
        if verdict is False:
            first = first or Nearest(0, target, node, reader, "node")
        else:
            seen[target] = node
        orders = _below(pairs, target, node, verdict)
        if orders:
            best = max(orders, key=lambda order: sum(weights.get(pair, 0) for pair in order))
            stack.extend((below, found, node) for below, found in reversed(best))
    matched = len(interior.intersection(seen))
    if first is None:
        return Nearest(matched, wanted, number, None, "axes")
    return Nearest(matched, first.wanted, first.found, first.reader, first.kind, first.other)


def _weights(pairs: Pairs, wanted: int, number: int) -> dict[Pair, int]:
    """For each pair that a match may come to, on how many nodes the two agree from there down."""
    weights: dict[Pair, int] = {}
    stack = [(wanted, number)]
    while stack:
        pair = stack[-1]
        if pair in weights:
            stack.pop()
            continue
        verdict = pairs.alone(*pair)
        orders = _below(pairs, pair[0], pair[1], verdict)
        missing = [each for order in orders for each in order if each not in weights]
        if missing:
            stack.extend(missing)
            continue
        below = max((sum(weights[each] for each in order) for order in orders), default=0)
        weights[pair] = min((verdict is not False) + below, _MOST)
        stack.pop()
    return weights


def _below(pairs: Pairs, wanted: int, number: int, verdict: bool | None) -> list[list[Pair]]:
    """The orders in which to compare the operands of a pair; one op in place of another may still have the same."""
    if verdict is True or number < 0:
        return []
    if verdict is None:
        return list(pairs.below(wanted, number))
    target, node = pairs.pattern.nodes[wanted], pairs.program.graph.nodes[number]
    wide = len(target.references)
    if wide != len(node.references) or wanted in pairs.pattern.extents or wanted in pairs.pattern.arguments:
        return []
    straight = [(a.node, b.node) for a, b in zip(target.references, node.references, strict=True)]
    if wide != 2 or not (is_commutative(target) or is_commutative(node)):
        return [straight]
    (a, b), (c, d) = straight
    return [straight, [(a, d), (c, b)]]
