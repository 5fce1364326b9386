"""Where each node of a graph is computed: in the function itself, in a loop's body, or in one side of a branch.

A node stands in the innermost region around all its uses, moved out of loops that it does not depend on. A node that
may raise or never end is only computed where the program would compute it; where two regions share one, each does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xfuse.canonical.graph import Graph, Node, depth_of

END = sys.maxsize
"""The last use of what a region gives."""

UNSAFE = frozenset({"gather", "slice", "insert_slice", "insert", "reshape", "pad", "branch", "loop", "fused", "opaque"})
"""Kinds that may raise, or never end."""


@dataclass(eq=False)
class Region:
    """Lines that run together, as a part of the node ``owner``.

    ``certain``: whenever the parent runs, so does this. ``loop``: the depth of the loop that repeats it.
    """

    parent: Region | None = None
    owner: int = END
    certain: bool = False
    loop: int | None = None
    nesting: int = 0
    nodes: list[int] = field(default_factory=list[int])
    last_use: dict[int, int] = field(default_factory=dict[int, int])

    def within(self, other: Region) -> bool:
        """Whether this is a region inside another, or that one."""
        region: Region | None = self
        while region is not None and region is not other:
            region = region.parent
        return region is other

    def inner(self, owner: int, *, certain: bool = False, loop: int | None = None) -> Region:
        """A region for a part of a node that stands in this one."""
        return Region(self, owner, certain, loop, self.nesting + 1)


@dataclass(frozen=True)
class LoopRegions:
    """``scf.for``: ``ahead`` runs once if there is a trip, ``body`` every trip. ``scf.while``: ``ahead`` before every
    test, ``body`` after each that holds."""

    ahead: Region
    body: Region


@dataclass(frozen=True)
class BranchRegions:
    """One region per side."""

    then: Region
    otherwise: Region


class Plan:
    """The regions of a function and, in each, the nodes to compute, ascending, and the last node that reads each."""

    def __init__(
        self, graph: Graph, roots: Iterable[int], reads: Callable[[int], Sequence[int]], *, flat: bool = False
    ) -> None:
        self.graph = graph
        self.top = Region()
        self.loops: dict[tuple[int, Region], LoopRegions] = {}
        self.branches: dict[tuple[int, Region], BranchRegions] = {}
        self.group: dict[int, int] = {}
        """For a loop node, the node whose evaluation gives its value too."""
        self.members: dict[int, list[tuple[int, int]]] = {}
        """For such a node: the loop nodes that it gives, and the position of each among what it carries."""
        self.readers: dict[int, dict[Region, set[int]]] = {}
        """For carried leaves and what may overwrite them: which nodes read them where."""
        self._reads = reads
        self._flat = flat
        self._uses: dict[int, dict[Region, int]] = {}
        self._marks: dict[int, dict[Region, None]] = {}
        roots = list(roots)
        everything = graph.reachable(roots)
        self._safe: set[int] = set()
        for number in everything:
            node = graph.nodes[number]
            if node.kind not in UNSAFE and all(reference.node in self._safe for reference in node.references):
                self._safe.add(number)
        self._group_loops([number for number in everything if graph.nodes[number].kind == "loop"])
        for root in roots:
            self._use(root, self.top, END)
        for number in reversed(everything):
            if number in self._uses:
                self._place(number, graph.nodes[number])

    def _group_loops(self, numbers: Sequence[int]) -> None:
        families = self.graph.families
        by_family: dict[object, list[int]] = {}
        for number in numbers:
            if number in families:
                by_family.setdefault(families[number][0], []).append(number)
        for family in by_family.values():
            if any(self.graph.nodes[number].kind != "loop" for number in range(min(family), max(family))):
                continue
            family.sort(key=lambda number: -len(families[number][1]))
            for number in family:
                places = families[number][1]
                whole = next(n for n in family if n == number or set(places) <= set(families[n][1]))
                self.group[number] = whole
                self.members.setdefault(whole, []).append((number, families[whole][1].index(places[0])))

    # Uses

    def _use(self, number: int, region: Region, reader: int) -> None:
        uses = self._uses.setdefault(self.group.get(number, number), {})
        uses[region] = max(uses.get(region, 0), reader)
        if self.graph.nodes[number].kind in ("carried", "insert", "insert_slice"):
            self.readers.setdefault(number, {}).setdefault(region, set()).add(reader)

    def _place(self, number: int, node: Node) -> None:
        if node.kind in ("argument", "carried"):
            return
        uses = self._uses[number]
        if node.kind in ("constant", "dense") or self.top in uses:
            self._put(number, node, self.top, uses)
            return
        marks = self._marks.get(number, {})
        mask = self.graph.free(number)
        groups: dict[tuple[Region | None, ...], list[Region]] = {}
        for region in {**uses, **marks}:
            groups.setdefault(_binders(region, mask), []).append(region)
        settled: dict[Region, dict[Region, int]] = {}
        for regions in groups.values():
            for place, users in self._settle(number, regions):
                hoisted = self._hoist(place, mask, number in self._safe)
                settled.setdefault(hoisted, {}).update({user: uses[user] for user in users if user in uses})
        for place, users in settled.items():
            if users:
                self._put(number, node, place, users)

    def _settle(self, number: int, regions: Sequence[Region]) -> list[tuple[Region, Sequence[Region]]]:
        """The places to compute a node in that is used in some regions, each with the regions that it serves."""
        common = regions[0]
        for region in regions[1:]:
            common = _common(common, region)
        if number in self._safe or common in regions:
            return [(common, regions)]
        below: dict[Region, list[Region]] = {}
        for region in regions:
            below.setdefault(_child(common, region), []).append(region)
        owners = [child.owner for child in below]
        if len(set(owners)) != len(owners):  # both sides of one branch
            return [(common, regions)]
        return [each for group in below.values() for each in self._settle(number, group)]

    @staticmethod
    def _hoist(region: Region, mask: int, safe: bool) -> Region:
        """The outermost place that runs less often: out of loops on which the node does not depend."""
        best = current = region
        while current.parent is not None and (safe or current.certain):
            if current.loop is not None:
                if mask >> current.loop & 1:
                    break
                best = current.parent
            current = current.parent
        return best

    def _put(self, number: int, node: Node, region: Region, uses: dict[Region, int]) -> None:
        region.nodes.append(number)
        region.last_use[number] = max(
            reader if user is region else _child(region, user).owner for user, reader in uses.items()
        )
        if node.kind == "loop":
            self._loop(number, node, region)
        elif node.kind == "branch" and not self._flat:
            inner = self.branches[number, region] = BranchRegions(region.inner(number), region.inner(number))
            self._use(node.references[0].node, region, number)
            for position, side in enumerate((inner.then, inner.otherwise)):
                for read in (node.references[1 + position].node, *extent_operands(node, position, position + 1)):
                    self._use(read, side, END)
        else:
            for read in self._reads(number):
                self._use(read, region, number)
        for captured in self.graph.captured.get(number, ()):
            self._marks.setdefault(self.group.get(captured, captured), {})[region] = None

    def _loop(self, number: int, node: Node, region: Region) -> None:
        head, initial, following = loop_parts(node)
        count = len(initial)
        depth = depth_of(node)
        if len(head) == 3:
            ahead = region.inner(number)
            body = ahead.inner(number, certain=True, loop=depth)
        else:
            ahead = region.inner(number, certain=True, loop=depth)
            body = ahead.inner(number)
        self.loops[number, region] = LoopRegions(ahead, body)
        for read in (*following, *extent_operands(node, count, 2 * count)):
            self._use(read, body, END)
        for read in head:
            self._use(read, region if len(head) == 3 else ahead, number if len(head) == 3 else END)
        for read in (*initial, *extent_operands(node, 0, count)):
            self._use(read, region, number)


def loop_parts(node: Node) -> tuple[list[int], list[int], list[int]]:
    """A loop's bounds or condition, initial values and next values."""
    attributes: dict[str, Any] = dict(node.attributes)
    numbers = [reference.node for reference in node.references]
    head = 3 if attributes["op"] == "scf.for" else 1
    first, second = head + attributes["carried"], head + 2 * attributes["carried"]
    return numbers[:head], numbers[head:first], numbers[first:second]


def extent_operands(node: Node, first: int, last: int) -> list[int]:
    """The nodes that compute extents in some entries of a node's attribute ``repeated``."""
    attributes: dict[str, Any] = dict(node.attributes)
    entries = attributes.get("repeated", ())[first:last]
    return [
        node.references[int(extent[1])].node
        for entry in entries
        for extent in entry
        if not isinstance(extent, int) and extent[0] == "operand"
    ]


def _binders(region: Region, mask: int) -> tuple[Region | None, ...]:
    """For each depth that a node depends on, the loop around a region that binds it there."""
    found: dict[int, Region] = {}
    depths = [depth for depth in range(mask.bit_length()) if mask >> depth & 1]
    current: Region | None = region if depths else None
    while current is not None:
        if current.loop is not None:
            found.setdefault(current.loop, current)
        current = current.parent
    return tuple(found.get(depth) for depth in depths)


def _common(one: Region, other: Region) -> Region:
    while one is not other:
        if one.nesting >= other.nesting:
            assert one.parent is not None
            one = one.parent
        else:
            assert other.parent is not None
            other = other.parent
    return one


def _child(ancestor: Region, region: Region) -> Region:
    """The region right under an ancestor that holds ``region``."""
    while region.parent is not ancestor:
        assert region.parent is not None
        region = region.parent
    return region
