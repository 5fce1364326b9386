"""Emission of branches and loops: ``scf.if``, ``scf.for`` and ``scf.while``, one op for all values of one loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from xfuse.canonical.carried import INDUCTION, carried
from xfuse.canonical.graph import BOUND, Extent, Node, Reference, depth_of
from xfuse.canonical.plan import loop_parts
from xfuse.emission.bodies import Tensors
from xfuse.emission.generics import type_of
from xfuse.emission.values import Place, Size


@dataclass
class _Test:
    """The first region of an ``scf.while``: ``places`` are what it computes, ``values`` what it passes on of that."""

    after: Block
    places: dict[int, Place]
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    passed: dict[int, Place] = field(default_factory=dict[int, Place])


class ControlEmission(Tensors):
    """An ``emit_`` method per kind."""

    tests: list[_Test]

    def missing(self, number: int) -> Place:
        """A node that a loop around computes before its test: the test passes it on."""
        for test in reversed(self.tests):
            if number in test.passed:
                return test.passed[number]
            place = test.places.get(number)
            if place is None:
                continue
            if place.value is not None:
                test.values.append(place.value)
                inside = test.after.insert_arg(place.value.type, len(test.after.args))
                place = _typed(inside, place.axes)
            test.passed[number] = place
            return place
        return super().missing(number)

    # Branches

    def emit_branch(self, number: int, node: Node) -> None:
        """``scf.if``."""
        attributes: dict[str, Any] = dict(node.attributes)
        condition, *sides = node.references[:3]
        regions = self.plan.branches[number, self.region]
        repeated: Sequence[Sequence[Extent]] = attributes.get("repeated", ((), ()))
        test = self.scalar(condition.node)
        blocks = [Block(), Block()]
        values: list[SSAValue] = []
        for side, given, region, block in zip(sides, repeated, (regions.then, regions.otherwise), blocks, strict=True):
            lacking = [axis for axis in range(node.rank) if axis not in side.index]
            with self.entered([region], block):
                sizes = {axis: self.size(e, node.references) for axis, e in zip(lacking, given, strict=True)}
                values.append(self._item(side, range(node.rank), sizes))
        one, other = (value.type for value in values)
        type_: Attribute = one
        if one != other:
            type_ = _loose(values[0], [a != b for a, b in zip(_shape(one), _shape(other), strict=True)])
        for block, value in zip(blocks, values, strict=True):
            block.add_op(scf.YieldOp(*_cast(block, [value], [type_])))
        op = scf.IfOp(test, [type_], Region(blocks[0]), Region(blocks[1]))
        self.add(op)
        self.put(number, _typed(op.results[0], range(node.rank)))

    # Loops

    def emit_loop(self, number: int, node: Node) -> None:
        """``scf.for`` or ``scf.while``; what it carries keeps the order that the recipe has it in."""
        attributes: dict[str, Any] = dict(node.attributes)
        count: int = attributes["carried"]
        head, *_ = loop_parts(node)
        family = self.graph.families.get(number)
        places = range(count) if family is None else family[1]
        order = sorted(range(count), key=lambda position: places[position])
        initial = node.references[len(head) : len(head) + count]
        following = node.references[len(head) + count : len(head) + 2 * count]
        repeated: Sequence[Sequence[Extent]] = attributes["repeated"]
        members = self.plan.members.get(number, [(number, 0)])
        values: list[SSAValue] = []
        leaves: list[int | None] = []
        for position in order:
            rank = len(repeated[position])
            element_type = self.graph.nodes[initial[position].node].element_type
            leaf = self.graph.find(carried(element_type, depth_of(node), position, rank))
            unwritten = position in attributes["unwritten"]
            value = self._state(node, initial[position], repeated[position], unwritten=unwritten)
            if isinstance(value.type, TensorType):
                nodes = [leaf, *(member for member, each in members if each == position)]
                grows = [any(self._grows(each, axis, rank) for each in nodes) for axis in range(rank)]
                value = self.cast(value, _loose(value, grows))
            values.append(value)
            leaves.append(leaf)

        def next_values() -> list[SSAValue]:
            return [self._state(node, following[p], repeated[count + p], unwritten=False) for p in order]

        make = self._for if attributes["op"] == "scf.for" else self._while
        results = make(number, head, values, leaves, next_values)
        for member, position in members:
            self.put(member, _typed(results[order.index(position)], range(len(repeated[position]))))

    def _for(
        self,
        number: int,
        head: Sequence[int],
        values: Sequence[SSAValue],
        leaves: Sequence[int | None],
        next_values: Callable[[], list[SSAValue]],
    ) -> Sequence[SSAValue]:
        lower, upper, step = (self.scalar(each) for each in head)
        regions = self.plan.loops[number, self.region]
        types = [value.type for value in values]
        block = Block(arg_types=[lower.type, *types])
        known = _leaves(leaves, block.args[1:])
        step_type = self.graph.nodes[head[0]].element_type
        counter = self.graph.find(carried(step_type, depth_of(self.graph.nodes[number]), INDUCTION, 0))
        if counter is not None:
            known[counter] = _typed(block.args[0], ())
        with self.entered([regions.ahead, regions.body], block, known):
            following = next_values()
        block.add_op(scf.YieldOp(*_cast(block, following, types)))
        op = scf.ForOp(lower, upper, step, values, Region(block))
        self.ops.append(op)
        return op.results

    def _while(
        self,
        number: int,
        head: Sequence[int],
        values: Sequence[SSAValue],
        leaves: Sequence[int | None],
        next_values: Callable[[], list[SSAValue]],
    ) -> Sequence[SSAValue]:
        regions = self.plan.loops[number, self.region]
        types = [value.type for value in values]
        before, after = Block(arg_types=types), Block(arg_types=types)
        with self.entered([regions.ahead], before, _leaves(leaves, before.args)):
            condition = self.scalar(head[0])
            test = _Test(after, {each: self.place(each) for each in regions.ahead.nodes})
        self.tests.append(test)
        with self.entered([regions.body], after, _leaves(leaves, after.args)):
            following = next_values()
        self.tests.pop()
        before.add_op(scf.ConditionOp(condition, *before.args[: len(types)], *test.values))
        after.add_op(scf.YieldOp(*_cast(after, following, types)))
        op = scf.WhileOp(values, [argument.type for argument in after.args], Region(before), Region(after))
        self.ops.append(op)
        return op.results

    def _state(self, node: Node, reference: Reference, extents: Sequence[Extent], *, unwritten: bool) -> SSAValue:
        """What a loop carries, with all axes; without content if nobody has written it."""
        sizes = {
            BOUND + axis: self.size(extent, node.references) for axis, extent in enumerate(extents) if extent != -1
        }
        # Axes of extent one are no parameters of the value, but axes of what is carried.
        sizes.update({BOUND + axis: 1 for axis in range(len(extents)) if extents[axis] == -1} | sizes)
        if unwritten and extents:
            element_type = self.graph.nodes[reference.node].element_type
            return self.empty(element_type, [sizes[BOUND + axis] for axis in range(len(extents))])
        return self._item(reference, range(BOUND, BOUND + len(extents)), sizes)

    def _item(self, reference: Reference, labels: Sequence[int], sizes: Mapping[int, Size]) -> SSAValue:
        return self.arranged(reference, tuple(labels), sizes) if labels else self.scalar(reference.node)

    def _grows(self, number: int | None, axis: int, rank: int) -> bool:
        """Whether a carried value has a dynamic extent: then the graph has a node that reads it."""
        if number is None:
            return False
        whole = tuple(range(BOUND, BOUND + rank))
        return self.graph.find(Node("extent", "index", (("axis", axis),), (Reference(number, whole),), 0)) is not None


def _typed(value: SSAValue, axes: Sequence[int]) -> Place:
    """A value whose type says its extents; dynamic ones are read off it."""
    found: dict[int, Size] = {
        parameter: (value, axis) if extent == DYNAMIC_INDEX else extent
        for axis, (parameter, extent) in enumerate(zip(axes, _shape(value.type), strict=True))
    }
    return Place(value, tuple(axes), tuple(found[parameter] for parameter in sorted(found) if parameter >= 0))


def _leaves(leaves: Sequence[int | None], arguments: Sequence[SSAValue]) -> dict[int, Place]:
    found: dict[int, Place] = {}
    for leaf, argument in zip(leaves, arguments, strict=True):
        if leaf is not None:
            found[leaf] = _typed(argument, range(len(_shape(argument.type))))
    return found


def _shape(type_: Attribute) -> Sequence[int]:
    return type_.get_shape() if isinstance(type_, TensorType) else ()


def _loose(value: SSAValue, dynamic: Sequence[bool]) -> TensorType[Attribute]:
    """A tensor's type with some extents dynamic."""
    type_ = type_of(value)
    shape = [DYNAMIC_INDEX if free else extent for free, extent in zip(dynamic, type_.get_shape(), strict=True)]
    return TensorType(type_.get_element_type(), shape)


def _cast(block: Block, values: Sequence[SSAValue], types: Sequence[Attribute]) -> list[SSAValue]:
    """Values at the types that leave a block."""
    found: list[SSAValue] = []
    for value, type_ in zip(values, types, strict=True):
        if value.type != type_:
            op = tensor.CastOp(value, cast(TensorType[Attribute], type_))
            block.add_op(op)
            value = op.dest
        found.append(value)
    return found
