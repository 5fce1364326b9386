"""Which ops of a block go together: groups grow along values, in program order, wherever that saves time."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from xfuse.outlining.group import Group, joined, passed, saving
from xfuse.outlining.options import OutlineOptions
from xfuse.outlining.order import GroupOrder
from xfuse.outlining.scan import Scan


class Grouping:
    """The groups of one block. No path leaves a group and comes back (rule R5)."""

    def __init__(self, scan: Scan, options: OutlineOptions) -> None:
        self.scan = scan
        self.options = options
        self.order = GroupOrder(scan.before)
        self.groups: dict[int, Group] = {}
        for number, space in scan.spaces.items():
            self.groups[number] = Group(number, space, scan.ops[number].results)
            self._grow(number)

    def clusters(self) -> list[list[Operation]]:
        """The groups in order, each group's ops in program order."""
        found = (self.groups[number].members for number in self.order.in_order() if number in self.groups)
        return [[self.scan.ops[member] for member in sorted(members)] for members in found]

    def _grow(self, number: int) -> None:
        """Join an op with the groups of what it reads, one after the other."""
        scan = self.scan
        for value, _ in scan.spaces[number].reads:
            owner = value.owner
            if not isinstance(owner, Operation):
                continue
            place = scan.position.get(owner)
            if place in scan.spaces:
                own, there = self.order.group(number), self.order.group(place)
                if own != there:
                    self._try(there, own)

    def _try(self, first: int, second: int) -> None:
        one, other = self.groups[first], self.groups[second]
        if len(one.members) < len(other.members):  # so that the larger one is kept
            one, other = other, one
        options = self.options
        if one.ops + other.ops > options.max_ops:
            return
        both = joined(one, other)
        if both is None or not _has_few_inputs(one, other, options.max_inputs):
            return
        leaves = {value: not self._all_within(self.scan.readers(value), first, second) for value in passed(one, other)}
        if saving(one, other, both, leaves) <= 0 or not self.order.join(first, second):
            return
        one.join(other, both)
        del self.groups[first], self.groups[second]
        self.groups[self.order.group(first)] = one

    def _all_within(self, readers: Sequence[int], first: int, second: int) -> bool:
        return all(reader >= 0 and self.order.group(reader) in (first, second) for reader in readers)


def _has_few_inputs(one: Group, other: Group, limit: int) -> bool:
    """Whether a group of both reads fewer values than ``limit``."""
    few = len(one.read) + len(other.read) < limit
    return few or len((one.read | other.read) - one.made - other.made) < limit
