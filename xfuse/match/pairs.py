"""What can be said of a node of a recipe and a node of a program alone: whether the one could be the other."""

from __future__ import annotations

from collections.abc import Iterator

from xfuse.canonical.graph import Node, is_commutative
from xfuse.match.pattern import Pattern, core_nodes_agree, nodes_agree
from xfuse.match.program import Program

Pair = tuple[int, int]
"""A node of a recipe and a node of a program."""


class Pairs:
    """Pairs of one recipe's and one program's nodes. What is found out is remembered with the program (rule R1)."""

    def __init__(self, pattern: Pattern, program: Program) -> None:
        self.pattern = pattern
        self.program = program
        self.memo = program.memo(pattern)

    def possible(self, wanted: int, number: int) -> bool:
        """Whether a pair could match if bindings and indices did not count."""
        memo = self.memo
        stack = [(wanted, number)]
        while stack:
            pair = stack[-1]
            if pair in memo:
                stack.pop()
                continue
            verdict = self.alone(*pair)
            if verdict is None:
                missing, verdict = self._operands(*pair)
                if missing:
                    stack.extend(missing)
                    continue
            memo[pair] = verdict
            stack.pop()
        return memo[wanted, number]

    def _operands(self, wanted: int, number: int) -> tuple[list[Pair], bool]:
        """Whether the operands of a pair could match, or the pairs to be asked for that first."""
        memo = self.memo
        for pairs in self.below(wanted, number):
            missing = [each for each in pairs if each not in memo]
            if missing:
                return missing, False
            if all(memo[each] for each in pairs):
                return [], True
        return [], False

    def below(self, wanted: int, number: int) -> Iterator[list[Pair]]:
        """The operands of a pair in pairs, then the other way round where the two may be swapped."""
        target = self.pattern.nodes[wanted]
        left, right = target.references, self.program.graph.nodes[number].references
        yield [(a.node, b.node) for a, b in zip(left, right, strict=not self.pattern.has_core)]
        if len(left) == 2 and len(right) == 2 and is_commutative(target):
            yield [(left[0].node, right[1].node), (left[1].node, right[0].node)]

    def alone(self, wanted: int, number: int) -> bool | None:
        """False or True where the two nodes alone decide, None where their operands must."""
        if number < 0:
            return False
        target, node = self.pattern.nodes[wanted], self.program.graph.nodes[number]
        argument = self.pattern.arguments.get(wanted)
        if argument is not None:
            return node.element_type == target.element_type and (
                argument not in self.pattern.slots or node.kind == "constant"
            )
        if wanted in self.pattern.extents:
            return node.element_type == target.element_type and self.program.is_extent(number)
        if not self.agree(wanted, node):
            return False
        return None if target.references else True

    def agree(self, wanted: int, node: Node) -> bool:
        """Whether a node of the program is one of the recipe, operands aside (rule R6)."""
        target = self.pattern.nodes[wanted]
        return core_nodes_agree(target, node) if self.pattern.has_core else nodes_agree(target, node)
