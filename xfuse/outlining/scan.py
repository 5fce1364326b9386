"""One block as the clustering sees it: which ops may be clustered, and which ops each one reads."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from xfuse.canonical.operands import top_of
from xfuse.match.program import is_pure
from xfuse.outlining.constants import is_copied
from xfuse.outlining.group import is_consistent
from xfuse.outlining.options import OutlineOptions
from xfuse.spaces import Space, space_of

_FEW = 8
"""Readers of a value that are looked at, to see whether they are all in one cluster."""


class Scan:
    """A block's ops by position, their spaces, and what they read.

    ``spaces`` holds the ops that may be clustered, without the constants that they read. ``before`` gives for each op
    the positions of the ops that it depends on, seen through ops that are copied to wherever they are read (rule R4).
    Ops that are not provably pure depend on one another in order. ``constants`` are the ops that are copied,
    ``too_large`` those whose body alone is too much. ``unordered`` is an op that reads a value before its definition.
    """

    def __init__(self, block: Block, options: OutlineOptions) -> None:
        self.block = block
        self.ops = list(block.ops)
        self.position = {op: number for number, op in enumerate(self.ops)}
        self.spaces: dict[int, Space] = {}
        self.constants: set[int] = set()
        self.before: list[set[int]] = []
        self.unordered: Operation | None = None
        self.too_large: list[int] = []
        self._options = options
        self._readers: dict[SSAValue, list[int]] = {}
        effect = -1
        others: set[Operation] = set()
        for number, op in enumerate(self.ops):
            if is_copied(op, others):
                self.constants.add(number)
            else:
                others.add(op)
                space = space_of(op)
                if space is not None:
                    self._consider(number, space)
            before = self._before(number, op)
            if not is_pure(op):
                before.update([effect] if effect >= 0 else [])
                effect = number
            self.before.append(before)
        if self.ops and self.ops[-1].has_trait(IsTerminator, value_if_unregistered=False):
            self.before[-1] = set(range(len(self.ops) - 1))
        self._drop_dead()

    def _consider(self, number: int, space: Space) -> None:
        kind = space.kind
        if kind == "contraction" or (kind != "view" and kind not in self._options.kinds) or not is_consistent(space):
            return
        if space.ops > self._options.max_ops:
            self.too_large.append(number)
            return
        reads = [each for each in space.reads if not self._is_constant(each[0])]
        if len(reads) < len(space.reads):
            space = space._replace(reads=tuple(reads))
        if space.reads or space.kind != "view":
            self.spaces[number] = space

    def _is_constant(self, value: SSAValue) -> bool:
        """Whether a value is copied into the clusters that read it, hence no operand of theirs."""
        owner = value.owner
        if not isinstance(owner, Operation):
            return False
        place = self.position.get(owner)
        return is_copied(owner) if place is None else place in self.constants

    def _before(self, number: int, op: Operation) -> set[int]:
        found: set[int] = set()
        for inner in op.walk() if op.regions else (op,):
            for operand in inner.operands:
                owner = operand.owner
                if not isinstance(owner, Operation):
                    continue
                place = self.position.get(owner)
                if place is None:
                    continue
                if place >= number:
                    self.unordered = self.unordered or op
                elif place in self.constants:
                    found |= self.before[place]
                else:
                    found.add(place)
        return found

    def _drop_dead(self) -> None:
        """Take out ops that nothing with an effect depends on: they stay where they are."""
        dead: set[Operation] = set()
        for number in range(len(self.ops) - 1, -1, -1):
            op = self.ops[number]
            if number not in self.spaces and not is_pure(op):
                continue
            if op.has_trait(IsTerminator, value_if_unregistered=False):
                continue
            if all(top_of(use.operation, self.block) in dead for result in op.results for use in result.uses):
                dead.add(op)
                self.spaces.pop(number, None)

    def readers(self, value: SSAValue) -> list[int]:
        """Positions of the ops of this block that read a value, -1 for one elsewhere; at most a few of them."""
        found = self._readers.get(value)
        if found is None:
            found = self._readers[value] = []
            for use in value.uses:
                user = top_of(use.operation, self.block)
                if user is None or len(found) > _FEW:
                    found.append(-1)
                    break
                found.append(self.position[user])
        return found
