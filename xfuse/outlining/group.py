"""A group of ops that may become one fused op: how their axes run together, and what joining two of them saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.ir import SSAValue

from xfuse.cost import DEFAULT_EXTENT, bytes_of, seconds
from xfuse.spaces import NO_LOOP, Axes, Extents, Space

Classes = frozenset[int]


class Group:
    """Ops with the classes of their axes: axes that run together have one class, and no class is ever split or merged.

    ``extents`` are those of the classes. ``axes`` gives the class of each axis of every value that the ops read or
    make. ``reduced`` are the classes that a reduction binds: core dimensions of the recipe; every other class is a loop
    dimension, and a kernel does all its work at each point of the loops. ``free`` are classes that only views run
    along, which repeat a value: they may turn out to be any other class. ``work`` is the weight of the ops by the
    classes that they run along. ``made`` are the values that the ops make, ``read`` those that come from elsewhere.
    """

    __slots__ = ("_seconds", "axes", "extents", "free", "made", "members", "ops", "read", "reduced", "work")

    def __init__(self, number: int, space: Space, results: Sequence[SSAValue]) -> None:
        self.members = [number]
        self.ops = space.ops
        self.made: set[SSAValue] = set(results)
        self.read: set[SSAValue] = {value for value, _ in space.reads}
        class_of, extents = _classes_of_loops(space.extents)
        self.extents: list[int] = list(extents)
        self.axes: dict[SSAValue, Axes] = {}
        for value, axes in (*space.reads, *zip(results, space.results, strict=True)):
            self.axes.setdefault(value, tuple([class_of[loop] for loop in axes]))
        everything = frozenset(range(len(extents)))
        self.reduced: Classes = frozenset([class_of[loop] for loop in space.reduced]) - {NO_LOOP}
        run = {class_of[loop] for _, axes in space.reads for loop in axes}
        self.free: Classes = everything - run if space.kind == "view" else frozenset()
        self.work: dict[Classes, float] = {everything: space.weight} if space.weight else {}
        self._seconds: float | None = None

    def seconds_of_work(self) -> float:
        """The time that a kernel computes, each op at every point of all loops."""
        if self._seconds is None:
            self._seconds = seconds(0, _executed(self.work, self.extents, self.reduced | self.free), 0)
        return self._seconds

    def join(self, other: Group, both: Joined) -> None:
        """Take in the ops of another group."""
        for group, names in ((self, both.one), (other, both.other)):
            if group is self and names == range(len(names)):
                continue
            for value, axes in group.axes.items():
                if group is self or value not in self.axes:
                    self.axes[value] = tuple([NO_LOOP if axis == NO_LOOP else names[axis] for axis in axes])
        self.extents, self.reduced, self.free, self.work = both.extents, both.reduced, both.free, both.work
        self._seconds = None
        self.members += other.members
        self.ops += other.ops
        self.made |= other.made
        self.read |= other.read
        self.read -= self.made


@lru_cache(maxsize=4096)
def _classes_of_loops(loops: Extents) -> tuple[Mapping[int, int], Sequence[int]]:
    """The class of each loop of an op alone, none for those of extent one, and the extents of the classes."""
    class_of: dict[int, int] = {NO_LOOP: NO_LOOP}
    extents: list[int] = []
    for loop, extent in enumerate(loops):
        if extent == 1:
            class_of[loop] = NO_LOOP
        else:
            class_of[loop] = len(extents)
            extents.append(DEFAULT_EXTENT if extent is None else extent)
    return class_of, extents


def is_consistent(space: Space) -> bool:
    """Whether an op reads each value along one set of axes only: x - x^T makes two dimensions one."""
    seen: dict[SSAValue, Axes] = {}
    return all(seen.setdefault(value, axes) == axes for value, axes in space.reads)


class Joined(NamedTuple):
    """What the classes of two groups are in a group of both, and the state of that group's classes."""

    one: Sequence[int]
    other: Sequence[int]
    extents: list[int]
    reduced: Classes
    free: Classes
    work: dict[Classes, float]


def joined(one: Group, other: Group) -> Joined | None:
    """How the axes of two groups run together; None if that would make one class of two, or of two reductions.

    A free class may become any other one.
    """
    pairs = _pairs(one, other)
    if pairs is None:
        return None
    plain = _plainly_joined(one, other, pairs)
    if plain is not None:
        return plain
    count = len(one.extents)
    parent = list(range(count + len(other.extents)))

    def find(each: int) -> int:
        while parent[each] != each:
            each = parent[each]
        return each

    for new, old in pairs:
        parent[find(count + old)] = find(new)
    free = {*one.free, *(count + each for each in other.free)}
    extents: list[int] = []
    numbers: dict[int, int] = {}
    fixed: dict[int, list[int]] = {}
    for each in range(len(parent)):
        root = find(each)
        if root not in numbers:
            numbers[root] = len(extents)
            extents.append(one.extents[each] if each < count else other.extents[each - count])
        if each not in free:
            fixed.setdefault(numbers[root], []).append(each)
    for own in fixed.values():
        if len(own) > 2 or (len(own) == 2 and (own[0] < count) == (own[1] < count)):
            return None
    first = [numbers[find(each)] for each in range(count)]
    second = [numbers[find(count + each)] for each in range(len(other.extents))]
    reduced = frozenset(first[each] for each in one.reduced), frozenset(second[each] for each in other.reduced)
    if reduced[0] and reduced[1] and reduced[0] != reduced[1]:
        return None
    work: dict[Classes, float] = {}
    for group, names in ((one, first), (other, second)):
        for classes, weight in group.work.items():
            key = frozenset(names[each] for each in classes)
            work[key] = work.get(key, 0.0) + weight
    left = frozenset(range(len(extents))) - frozenset(fixed)
    return Joined(first, second, extents, reduced[0] | reduced[1], left, work)


def _plainly_joined(one: Group, other: Group, pairs: set[tuple[int, int]]) -> Joined | None:
    """The usual case: every class of ``other`` is one of ``one``, and nothing is free."""
    if one.free or other.free or len(pairs) != len(other.extents) or other.reduced:
        return None
    names = {old: new for new, old in pairs}
    if len(names) != len(pairs) or len(set(names.values())) != len(pairs):
        return None
    work = dict(one.work)
    for classes, weight in other.work.items():
        key = frozenset(names[each] for each in classes)
        work[key] = work.get(key, 0.0) + weight
    second = [names[each] for each in range(len(pairs))]
    return Joined(range(len(one.extents)), second, one.extents, one.reduced, one.free, work)


def _pairs(one: Group, other: Group) -> set[tuple[int, int]] | None:
    """Classes of two groups that a value of both gives one axis; None if one has no class there."""
    found: set[tuple[int, int]] = set()
    few, many = (other.axes, one.axes) if len(other.axes) < len(one.axes) else (one.axes, other.axes)
    for value, own in few.items():
        there = many.get(value)
        if there is not None:
            found.update(zip(there, own, strict=True) if few is other.axes else zip(own, there, strict=True))
    found.discard((NO_LOOP, NO_LOOP))
    return None if any(NO_LOOP in pair for pair in found) else found


def passed(one: Group, other: Group) -> list[SSAValue]:
    """The values that one of two groups makes and the other reads; ``other`` is the smaller one."""
    found = [value for value in other.read if value in one.made]
    found += [value for value in other.made if value in one.read]
    return found


def saving(one: Group, other: Group, both: Joined, leaves: Mapping[SSAValue, bool]) -> float:
    """Seconds that joining two groups saves, less than nothing if work is repeated for more than it saves.

    ``other`` is the smaller group. ``leaves`` says of the values that are `passed` whether something else reads them.
    """
    traffic = sum([bytes_of(value.type) for value in other.read if value in one.read])
    for value, is_read in leaves.items():
        traffic += bytes_of(value.type) * (1 if is_read else 2)
    if both.extents is one.extents and len(other.extents) == len(one.extents) and not one.reduced:
        return seconds(traffic, 0, 1)  # all run along the same loops
    together = seconds(0, _executed(both.work, both.extents, both.reduced | both.free), 0)
    return seconds(traffic, 0, 1) - (together - one.seconds_of_work() - other.seconds_of_work())


def _executed(work: Mapping[Classes, float], extents: Sequence[int], cores: Classes) -> float:
    """The weight of all that a kernel does: an op runs along the core dimensions that it has, and along all loops."""
    loops = 1
    for number, extent in enumerate(extents):
        if number not in cores:
            loops *= extent
    total = 0.0
    for classes, weight in work.items():
        points = loops
        for each in classes:
            if each in cores:
                points *= extents[each]
        total += weight * points
    return total
