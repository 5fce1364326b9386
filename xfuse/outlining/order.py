"""An order of groups of ops in which each comes after those it reads, kept while groups are joined (rule R5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_BITS = 256
"""Room between two labels at the start: what is moved in between halves it."""


class GroupOrder:
    """Groups of nodes ``0 .. n-1`` with their predecessors; at first each node is its own group, in order.

    ``predecessors`` gives the nodes that each node reads, all of them smaller than itself. Joining two groups is
    refused if a path leads from one to the other through a third, and after at most ``budget`` groups looked at. Groups
    only ever move forward, to the place of the first of those that they are joined with.
    """

    def __init__(self, predecessors: Sequence[Iterable[int]], budget: int = 64) -> None:
        count = len(predecessors)
        self._before: list[set[int]] = [set(each) for each in predecessors]
        self._parent = list(range(count))
        self._label = [(number + 1) << _BITS for number in range(count)]
        self._previous = list(range(-1, count - 1))
        self._next = [*range(1, count), -1]
        self._budget = budget

    def group(self, node: int) -> int:
        """The number of the group that holds a node."""
        parent = self._parent
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def in_order(self) -> list[int]:
        """The groups in order."""
        first = next((n for n in range(len(self._label)) if self._parent[n] == n and self._previous[n] < 0), -1)
        found: list[int] = []
        while first >= 0:
            found.append(first)
            first = self._next[first]
        return found

    def join(self, one: int, other: int) -> bool:
        """Make one group of two, which has the number of the earlier one; False, and nothing done, if it cannot be."""
        label = self._label
        early, late = (one, other) if label[one] < label[other] else (other, one)
        between = self._between(early, late)
        if between is None:
            return False
        for group in sorted(between, key=label.__getitem__):
            self._unlink(group)
            self._link_before(group, early)
        self._unlink(late)
        self._parent[late] = early
        before = self._before[early]
        before |= self._before[late]
        before.discard(early)
        before.discard(late)
        self._before[late] = set()
        return True

    def _between(self, early: int, late: int) -> list[int] | None:
        """The groups after ``early`` that ``late`` depends on; None if one of them depends on ``early``."""
        label, group = self._label, self.group
        least = label[early]
        found: dict[int, None] = {}
        stack = [late]
        while stack:
            current = stack.pop()
            for node in self._before[current]:
                before = group(node)
                if before == early:
                    if current != late:
                        return None
                elif before != current and before not in found and label[before] > least:
                    if len(found) >= self._budget:
                        return None
                    found[before] = None
                    stack.append(before)
        return list(found)

    def _unlink(self, group: int) -> None:
        previous, following = self._previous[group], self._next[group]
        if previous >= 0:
            self._next[previous] = following
        if following >= 0:
            self._previous[following] = previous

    def _link_before(self, group: int, place: int) -> None:
        previous = self._previous[place]
        low = self._label[previous] if previous >= 0 else 0
        if self._label[place] - low < 2:
            self._spread()
            low = self._label[previous] if previous >= 0 else 0
        self._label[group] = (low + self._label[place]) // 2
        self._previous[group], self._next[group] = previous, place
        self._previous[place] = group
        if previous >= 0:
            self._next[previous] = group

    def _spread(self) -> None:
        for number, group in enumerate(self.in_order()):
            self._label[group] = (number + 1) << _BITS
