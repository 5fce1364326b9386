"""What is known of whole numbers in a recipe before it runs: how far its dimensions reach, where its indices point.

A kernel cannot raise an error, so it must be certain that no index leaves its array: whatever cannot be shown here is
refused. An index is a few *cases*, each a linear expression with facts that hold in that case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

from xfuse.backends.llvm.rows_linear import Linear, atom, follows, number
from xfuse.canonical.graph import UNIT, Graph, Node
from xfuse.primitives import literals
from xfuse.primitives.element_types import is_integer, width
from xfuse.primitives.table import PRIMITIVES

_MOST_CASES = 32
_LARGEST_FACTOR = 1 << 16


class Case(NamedTuple):
    """One way in which a number comes about: its value, and expressions that are zero or more then."""

    value: Linear
    facts: tuple[Linear, ...] = ()


Cases = tuple[Case, ...]
Place = tuple[Linear, ...]
"""An index, one expression per parameter."""


class Ranges:
    """Reads index arithmetic. ``dimension`` says how far an argument's axis reaches."""

    def __init__(self, graph: Graph, dimension: Callable[[int, int], Linear]) -> None:
        self._nodes = graph.nodes
        self._dimension = dimension
        self._facts: dict[str, tuple[Linear, ...]] = {}
        self._wild: set[str] = set()
        self._known: dict[tuple[int, Place], Cases] = {}
        self.origins: dict[str, int] = {}
        """The node of each atom that is the value of a node without indices."""

    # What is asked

    def scalar(self, node: int) -> Linear:
        """A number that does not vary, as an expression of dimensions and of nodes that are in `origins`."""
        cases = self.cases(node, ())
        value = cases[0].value
        if len(cases) == 1 and all(name in self.origins or name not in self._facts for name, _ in value.terms):
            return value
        known = self._opaque(node, ())
        if len(cases) == 1:
            self._facts[known.terms[0][0]] = (known.minus(value), value.minus(known))
        self.origins[known.terms[0][0]] = node
        return known

    def parameter(self, position: int, size: Linear) -> Linear:
        """An index that runs over a dimension of this size."""
        name = f"index {position} below {size}"
        self._facts[name] = (atom(name), size.minus(1).minus(atom(name)))
        return atom(name)

    def holds(self, goal: Linear, facts: Sequence[Linear] = ()) -> bool:
        """Whether an expression is zero or more, given some facts."""
        known = list(facts)
        seen: set[str] = set()
        wanted = [name for each in (goal, *facts) for name, _ in each.terms]
        while wanted:
            name = wanted.pop()
            if name in seen:
                continue
            seen.add(name)
            told = self._facts.get(name, (atom(name),))  # a dimension is not negative
            known.extend(told)
            wanted.extend(other for each in told for other, _ in each.terms)
        return follows(goal, known)

    def equal(self, one: Linear, other: Linear) -> bool:
        """Whether two numbers are certainly the same."""
        return one == other or (self.holds(one.minus(other)) and self.holds(other.minus(one)))

    def within(self, cases: Cases, size: Linear) -> bool:
        """Whether a number is an index of a dimension in every case."""
        return all(
            self.holds(case.value, case.facts) and self.holds(size.minus(1).minus(case.value), case.facts)
            for case in cases
        )

    # Reading nodes

    def cases(self, node: int, place: Place) -> Cases:
        """The value of a node at an index."""
        key = (node, place)
        stack = [key]
        while stack:
            current = stack[-1]
            if current in self._known:
                stack.pop()
                continue
            missing = [each for each in self._operands(*current) if each not in self._known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._known[current] = self._read(*current)
        return self._known[key]

    def _operands(self, number_: int, place: Place) -> list[tuple[int, Place]]:
        node = self._nodes[number_]
        if node.kind not in PRIMITIVES or not is_integer(node.element_type):
            return []
        return [
            (each.node, tuple(number(0) if axis == UNIT else place[axis] for axis in each.index))
            for each in node.references
        ]

    def _read(self, number_: int, place: Place) -> Cases:
        node = self._nodes[number_]
        attributes: dict[str, Any] = dict(node.attributes)
        if node.kind == "constant":
            return (Case(number(int(literals.from_bits(attributes["bits"], node.element_type)))),)
        if node.kind == "extent" and "argument" in attributes:
            return (Case(self._dimension(attributes["argument"], attributes["axis"])),)
        if node.kind == "index":
            return (Case(place[0]),)
        operands = [self._known[each] for each in self._operands(number_, place)]
        if node.kind == "arith.select":
            return self._select(node, number_, place, operands)
        found: list[Case] = []
        # What is computed at an index is only computed if there is such an index.
        there = [fact for each in place for name, _ in each.terms for fact in self._facts.get(name, ())]
        for choice in product(*operands):
            given = tuple(fact for case in choice for fact in case.facts)
            values = [case.value for case in choice]
            made = self._computed(node, f"%{number_}.{len(found)}{_spelled(place)}", values, (*given, *there))
            found.extend(Case(case.value, (*given, *case.facts)) for case in made)
        if not found or len(found) > _MOST_CASES:
            return (Case(self._opaque(number_, place)),)
        value = found[0].value
        if len(found) == 1 and not place and value == atom(f"%{number_}.0"):
            self.origins[f"%{number_}.0"] = number_
        return tuple(found)

    def _opaque(self, number_: int, place: Place) -> Linear:
        """A number of which only the width is known."""
        return self._named(f"%{number_}{_spelled(place)}", self._nodes[number_].element_type)

    def _named(self, name: str, element_type: str) -> Linear:
        self._wild.add(name)
        bits = width(element_type) if is_integer(element_type) else 64
        if bits == 1:
            self._facts[name] = (atom(name), number(1).minus(atom(name)))
        elif bits < 64:
            low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
            self._facts[name] = (atom(name).minus(low), number(high).minus(atom(name)))
        else:
            self._facts[name] = ()
        return atom(name)

    def _computed(self, node: Node, name: str, values: Sequence[Linear], given: Sequence[Linear]) -> Cases:
        """The cases of an op on operands that are one expression each."""
        kind = node.kind.removeprefix("arith.")
        tame = node.element_type in ("index", "i64") and not any(self._is_wild(each) for each in values)
        if kind in ("addi", "subi") and tame:
            return (Case(values[0].plus(values[1], 1 if kind == "addi" else -1)),)
        if kind == "muli" and tame:
            for one, other in (values, values[::-1]):
                factor = other.literal
                if factor is not None and abs(factor) <= _LARGEST_FACTOR:
                    return (Case(one.times(factor)),)
        if kind in ("extsi", "extui", "index_cast") and self._widens(node, kind, values, given):
            return (Case(values[0]),)
        if kind in ("minsi", "maxsi") or (kind in ("minui", "maxui") and self._natural(values, given)):
            low, high = values if kind.startswith("min") else values[::-1]
            return Case(values[0], (high.minus(low),)), Case(values[1], (low.minus(high),))
        divided = self._divided(kind, name, values, given) if len(values) == 2 else None
        return (Case(self._named(name, node.element_type) if divided is None else divided),)

    def _is_wild(self, value: Linear) -> bool:
        """Whether a number may be anything, so that arithmetic on it may wrap around."""
        return any(name in self._wild and not self._facts[name] for name, _ in value.terms)

    def _widens(self, node: Node, kind: str, values: Sequence[Linear], given: Sequence[Linear]) -> bool:
        """Whether a cast keeps the number; a true i1 is -1 where it is read as signed."""
        source = self._nodes[node.references[0].node].element_type
        if width(node.element_type) < width(source):
            return False
        return kind == "extui" if source == "i1" else kind != "extui" or self._natural(values, given)

    def _natural(self, values: Sequence[Linear], given: Sequence[Linear]) -> bool:
        return all(self.holds(each, given) for each in values)

    def _divided(self, kind: str, name: str, values: Sequence[Linear], given: Sequence[Linear]) -> Linear | None:
        """A quotient, remainder or shift as an atom between bounds; None if nothing is known of it."""
        dividend, divisor = values
        by = divisor.literal
        if kind in ("shrsi", "shrui"):
            by = 1 << by if by is not None and 0 <= by <= 16 else None
        natural = self._natural([dividend], given)
        if kind in ("remsi", "remui"):
            if not self.holds(divisor.minus(1), given) or (kind == "remsi" and not natural):
                return None
            self._facts[name] = (atom(name), divisor.minus(1).minus(atom(name)))
            if by is None or not natural:
                return atom(name)
        if by is None or not 0 < by <= _LARGEST_FACTOR:
            return None
        if kind not in ("floordivsi", "ceildivsi", "shrsi") and not natural:
            return None
        if kind not in ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "shrsi", "shrui", "remsi", "remui"):
            return None
        quotient = atom(f"quotient {name}" if kind.startswith("rem") else name)
        rest = dividend.minus(quotient.times(by))  # from 0 up to the divisor, or from minus the divisor for a ceiling
        if kind.startswith("ceil"):
            rest = rest.times(-1)
        self._facts[quotient.terms[0][0]] = (rest, number(by - 1).minus(rest))
        return dividend.minus(quotient.times(by)) if kind.startswith("rem") else quotient

    # Choices

    def _select(self, node: Node, number_: int, place: Place, operands: Sequence[Cases]) -> Cases:
        condition = self._operands(number_, place)[0]
        found: list[Case] = []
        for cases, wanted in ((operands[1], True), (operands[2], False)):
            for facts in self._condition(*condition, wanted):
                found.extend(Case(case.value, (*case.facts, *facts)) for case in cases)
        return tuple(found) if len(found) <= _MOST_CASES else (Case(self._opaque(number_, place)),)

    def _condition(self, number_: int, place: Place, wanted: bool) -> list[tuple[Linear, ...]]:
        """Ways in which a condition can be as wanted, each with what holds then."""
        node = self._nodes[number_]
        operands = self._operands(number_, place)
        if node.kind in ("arith.andi", "arith.ori") and node.element_type == "i1":
            sides = [self._condition(*each, wanted) for each in operands]
            if (node.kind == "arith.andi") == wanted:
                return [(*one, *other) for one in sides[0] for other in sides[1]][:_MOST_CASES]
            return [*sides[0], *sides[1]]
        if node.kind == "arith.xori" and self._known.get(operands[1]) == (Case(number(1)),):
            return self._condition(*operands[0], not wanted)
        if node.kind != "arith.cmpi" or any(len(self._known[each]) != 1 for each in operands):
            return [()]
        one, other = (self._known[each][0].value for each in operands)
        return self._comparison(str(dict(node.attributes)["predicate"]), one, other, wanted)

    def _comparison(self, text: str, one: Linear, other: Linear, wanted: bool) -> list[tuple[Linear, ...]]:
        if text in ("eq", "ne"):
            if (text == "eq") == wanted:
                return [(one.minus(other), other.minus(one))]
            return [(one.minus(other).minus(1),), (other.minus(one).minus(1),)]
        if text[1:] in ("gt", "ge"):
            one, other, text = other, one, text[0] + ("lt" if text[1:] == "gt" else "le")
        below = 1 if text[1:] == "lt" else 0
        if text[0] == "u" and not self._natural((one, other), ()):
            # Below a number that is not negative only such numbers are.
            return [(one, other.minus(one).minus(below))] if wanted and self._natural((other,), ()) else [()]
        return [(other.minus(one).minus(below),)] if wanted else [(one.minus(other).minus(1 - below),)]


def _spelled(place: Place) -> str:
    return f"[{', '.join(map(str, place))}]" if place else ""
