"""Source for folds, loops and branches: nested blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xfuse.backends.numpy.source_expressions import VIEWS, Expressions
from xfuse.backends.numpy.source_structural import outer_axis, unbound
from xfuse.canonical.carried import INDUCTION, carried
from xfuse.canonical.graph import UNIT, Extent, Node, Reference, depth_of
from xfuse.canonical.plan import END, LoopRegions, loop_parts
from xfuse.errors import UnsupportedError
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.table import PRIMITIVES


class NestedSource(Expressions):
    """A ``_write_`` method per kind. ``_dependent`` holds the nodes that only a fold's body can compute."""

    _dependent: set[int]

    # Loops and branches

    def _write_branch(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        condition, *sides = node.references[:3]
        if self.elementwise:
            operands = ", ".join(self._operand(reference, node.rank) for reference in node.references[:3])
            self._assign(number, f"np.where({operands})")
            return
        name = self._names[number]
        regions = self._plan.branches[number, self._region]
        repeated = attributes.get("repeated", ((), ()))
        test = f"if {self._names[condition.node]}:"
        for side, given, region in zip(sides, repeated, (regions.then, regions.otherwise), strict=True):
            self._line(test)
            test = "else:"
            with self._entered(region):
                lacking = iter(given)
                extents = [-1 if axis in side.index else next(lacking) for axis in range(node.rank)]
                self._line(f"{name} = {self._whole(side.node, side.index, extents, node.references)}")

    def _write_loop(self, number: int, node: Node) -> None:
        if self.elementwise:
            raise UnsupportedError("the NumPy backend cannot evaluate loops point by point")
        attributes: dict[str, Any] = dict(node.attributes)
        regions = self._plan.loops[number, self._region]
        count: int = attributes["carried"]
        repeated: Sequence[Sequence[Extent]] = attributes["repeated"]
        head, *_ = loop_parts(node)
        tag = self._names[number][1:]
        states = [f"v{tag}_{position}" for position in range(count)]
        references: Sequence[Reference] = node.references[len(head) : len(head) + 2 * count]

        def values(first: int) -> list[str]:
            return [
                self._whole(reference.node, unbound(reference.index), extents, node.references)
                for reference, extents in zip(
                    references[first : first + count], repeated[first : first + count], strict=True
                )
            ]

        initial = values(0)
        for position in range(count):
            if self._overwrites(node, position, regions):
                self._overwriting.add((references[count + position].node, regions.body))
                initial[position] = f"np.array({initial[position]})"
        self._line(f"{', '.join(states)} = {', '.join(initial)}")
        leaves = self._leaves(node, references, states)
        if attributes["op"] == "scf.for":
            bounds = ", ".join(self._names[each] for each in head)
            index, dtype = f"i{tag}", numpy_dtype(self.graph.nodes[head[0]].element_type)
            leaf = self.graph.find(carried(self.graph.nodes[head[0]].element_type, depth_of(node), INDUCTION, 0))
            if leaf is not None:
                leaves[leaf] = index
            self._line(f"r{tag} = structural.steps({bounds})")
            self._line(f"if r{tag}:")
            with self._entered(regions.ahead):
                self._line(f"for {index} in r{tag}:")
                typed = f"{index} = {self._constant(dtype.type, dtype.name + '_')}({index})"
                with self._entered(regions.body, leaves, typed):
                    self._line(f"{', '.join(states)} = {', '.join(values(count))}")
        else:
            self._line("while True:")
            with self._entered(regions.ahead, leaves):
                self._line(f"if not {self._names[head[0]]}:")
                self._line("    break")
                with self._entered(regions.body, indent=""):
                    self._line(f"{', '.join(states)} = {', '.join(values(count))}")
        for member, position in self._plan.members.get(number, [(number, 0)]):
            self._name(member, states[position])

    def _leaves(self, node: Node, references: Sequence[Reference], states: Sequence[str]) -> dict[int, str]:
        """The variables of the leaves that stand for what a loop carries."""
        found: dict[int, str] = {}
        attributes: dict[str, Any] = dict(node.attributes)
        for position, (state, extents) in enumerate(zip(states, attributes["repeated"], strict=False)):
            element_type = self.graph.nodes[references[position].node].element_type
            leaf = self.graph.find(carried(element_type, depth_of(node), position, len(extents)))
            if leaf is not None:
                found[leaf] = state
        return found

    def _overwrites(self, node: Node, position: int, regions: LoopRegions) -> bool:
        """Whether a carried tensor may be changed in its own buffer: each trip ends with writing some elements of it,
        and nothing else that reads it, before or after the change, could share the buffer."""
        head, initial, following = loop_parts(node)
        number = following[position]
        made = self.graph.nodes[number]
        if made.kind not in ("insert", "insert_slice") or not dict(made.attributes)["initialised"]:
            return False
        target = made.references[0 if made.kind == "insert" else 1]
        leaf = self.graph.find(carried(made.element_type, depth_of(node), position, made.rank))
        reference = node.references[len(head) + len(initial) + position]
        if leaf is None or target.node != leaf or number not in regions.body.nodes or following.count(number) > 1:
            return False
        if any(UNIT in each or list(each) != sorted(each) for each in (reference.index, target.index)):
            return False
        readers = self._plan.readers
        for region, found in (*readers[leaf].items(), *readers[number].items()):
            inside = region in (regions.ahead, regions.body)
            if not inside and region.within(regions.ahead):
                return False
            if inside and any(each not in (number, END) and not self._copies(each) for each in found):
                return False
        late = max(readers[leaf].get(regions.body, {END})) > number
        return not late and END not in readers[leaf].get(regions.ahead, ())

    def _copies(self, number: int) -> bool:
        """Whether a node's array never shares memory with one that the node reads."""
        node = self.graph.nodes[number]
        return node.kind in ("gather", "insert", "extent") or (node.kind in PRIMITIVES and node.kind not in VIEWS)

    # Folds

    def _body(self, roots: Sequence[Reference]) -> list[int]:
        """The nodes that a fold's body computes, ascending; another fold that it reads has a body of its own."""
        seen: set[int] = set()
        stack = [root.node for root in roots]
        while stack:
            number = stack.pop()
            if number in self._dependent and number not in seen:
                seen.add(number)
                stack.extend(reference.node for reference in self.graph.nodes[number].references)
        return sorted(seen)

    def _write_fold(self, number: int, node: Node) -> None:
        attributes: dict[str, Any] = dict(node.attributes)
        tag = self._names[number][1:]
        count, bound, rank = attributes["accumulators"], attributes["bound"], node.rank
        roots = node.references[:count]
        total = rank + bound

        def place(reference: Reference, frame: Sequence[int]) -> tuple[int, ...]:
            return tuple(axis if axis < 0 else frame[axis] for axis in reference.index)

        # Frame of every node of the body: which axis of the fold's own frame each of its parameters is.
        frames: dict[int, tuple[int, ...]] = {
            root.node: tuple(axis if axis < 0 else outer_axis(axis, rank) for axis in root.index) for root in roots
        }
        body = self._body(roots)
        outside: dict[tuple[int, tuple[int, ...]], str] = {}
        for inner in reversed(body):
            for reference in self.graph.nodes[inner].references:
                frame = place(reference, frames[inner])
                if reference.node in self._dependent:
                    frames[reference.node] = frame
                else:
                    outside.setdefault((reference.node, frame), f"x{tag}_{len(outside)}")
        for root in roots:
            if root.node not in self._dependent:
                outside.setdefault((root.node, frames[root.node]), f"x{tag}_{len(outside)}")
        for (source, frame), name in outside.items():
            self._line(f"{name} = {self._full(source, frame, total)}")
        sizes = f"n{tag}"
        shapes = "".join(f"{name}.shape[{rank}:], " for name in outside.values())
        given = "".join(
            "1, " if extent == -1 else f"{self._extent(extent, node.references)}, " for extent in attributes["repeated"]
        )
        self._line(f"{sizes} = np.broadcast_shapes({shapes}({given}))")
        for name in outside.values():
            self._line(f"{name} = np.broadcast_to({name}, {name}.shape[:{rank}] + {sizes})")
        accumulators = [f"v{tag}_{k}" for k in range(count)]
        for name, reference in zip(accumulators, node.references[count : 2 * count], strict=True):
            self._line(f"{name} = {self._full(reference.node, reference.index, rank)}")
        self._line(f"for b{tag} in np.ndindex({sizes}):")
        inside = self._indent
        self._indent += "    "
        names: dict[int, str] = {}

        def operand(reference: Reference, frame: Sequence[int]) -> str:
            child = self.graph.nodes[reference.node]
            if child.kind == "accumulator":
                which: int = child.attributes[0][1]
                return accumulators[which]
            if reference.node in self._dependent:
                return names[reference.node]
            return f"{outside[(reference.node, place(reference, frame))]}[(..., *b{tag})]"

        for inner in body:
            child = self.graph.nodes[inner]
            if child.kind == "accumulator":
                continue
            if child.kind not in PRIMITIVES:
                raise UnsupportedError(f"the NumPy backend cannot evaluate '{child.kind}' inside a fold")
            names[inner] = f"t{tag}_{inner}"
            operands = [operand(reference, frames[inner]) for reference in child.references]
            self._line(f"{names[inner]} = {self._pointwise(child, operands)}")
        new = [
            names.get(root.node)
            or operand(Reference(root.node, tuple(range(len(frames[root.node])))), frames[root.node])
            for root in roots
        ]
        self._line(f"{', '.join(accumulators)} = {', '.join(new)}")
        self._indent = inside
        self._assign(number, f"np.asarray({accumulators[0]})")
