"""What stands for nodes while a graph becomes ops: scalars and tensors, literals, extents, and blocks of ops."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xfuse.canonical.graph import UNIT, Extent, Graph, Index, Reference
from xfuse.canonical.plan import Plan, Region
from xfuse.emission.generics import dim, empty, type_of
from xfuse.emission.inlining import Inlining
from xfuse.emission.scalars import literal, type_named
from xfuse.errors import UnsupportedError

Size: TypeAlias = int | SSAValue | tuple[SSAValue, int]
"""An extent: static, a value of type index, or that of a tensor's axis, which nobody has asked for yet."""


class Place(NamedTuple):
    """What stands for a node.

    ``axes`` says which parameter lies along each axis of a tensor, `UNIT` for an axis of extent one that no parameter
    has; a scalar has none. ``sizes`` are the extents of the parameters. Without a ``value`` the node is the index along
    its parameter, which each body makes for itself.
    """

    value: SSAValue | None
    axes: Index
    sizes: tuple[Size, ...]

    @property
    def is_tensor(self) -> bool:
        """Whether a tensor stands for the node."""
        return self.value is not None and isinstance(self.value.type, TensorType)


class Values:
    """The ops made so far, block by block, and what stands for each node in them.

    Literals and extents of arguments come first of all, so that every block sees them.
    """

    graph: Graph
    inputs: Sequence[SSAValue]

    def start(self, plan: Plan, inlining: Inlining) -> None:
        """Begin in the outermost region."""
        self.plan = plan
        self.inlining = inlining
        self.region = plan.top
        self.first: list[Operation] = []
        self.ops: list[Operation] = []
        self._literals: dict[tuple[str, int], SSAValue] = {}
        self._first_extents: dict[tuple[SSAValue, int], SSAValue] = {}
        self._known: dict[object, object] = {}
        self._undo: list[tuple[object, object]] = []

    def node(self, number: int) -> None:
        """Make the ops of one node."""
        raise NotImplementedError  # the emission, which knows all kinds of nodes, overrides this

    # Blocks

    @contextmanager
    def entered(
        self, regions: Sequence[Region], block: Block, places: Mapping[int, Place] | None = None
    ) -> Generator[None]:
        """Make the nodes of some regions in a block; what stands for nodes there is forgotten behind it."""
        region, ops, mark = self.region, self.ops, len(self._undo)
        self.ops = []
        for number, place in (places or {}).items():
            self.put(number, place)
        for inner in regions:
            self.region = inner
            for number in reversed(inner.nodes):
                self.node(number)
        yield
        block.add_ops(self.ops)
        self.region, self.ops = region, ops
        while len(self._undo) > mark:
            key, before = self._undo.pop()
            if before is None:
                del self._known[key]
            else:
                self._known[key] = before

    def put(self, number: int, place: Place) -> None:
        """Let something stand for a node, up to the end of the block."""
        self._set(number, place)

    def place(self, number: int) -> Place:
        """What stands for a node."""
        found = self._known.get(number)
        if found is None:
            found = self.missing(number)
        assert isinstance(found, Place)
        return found

    def missing(self, number: int) -> Place:
        """What stands for a node that this block does not know."""
        raise AssertionError(f"node {number} is used before it is made")

    def _set(self, key: object, value: object) -> None:
        self._undo.append((key, self._known.get(key)))
        self._known[key] = value

    def add(self, op: Operation) -> SSAValue:
        """Append an op and give its first result."""
        self.ops.append(op)
        return op.results[0]

    # Scalars

    def literal(self, element_type: str, bits: int) -> SSAValue:
        """A literal as a scalar."""
        known = self._literals.get((element_type, bits))
        if known is None:
            op = literal(element_type, bits)
            self.first.append(op)
            known = self._literals[element_type, bits] = op.result
        return known

    def index(self, value: int) -> SSAValue:
        """A literal of type index."""
        return self.literal("index", value & ((1 << 64) - 1))

    def scalar(self, number: int) -> SSAValue:
        """A node without parameters as a scalar."""
        place = self.place(number)
        return self.element(place, [UNIT] * len(place.axes), {}, self.ops)

    def element(
        self, place: Place, at: Sequence[int], indices: Mapping[int, SSAValue], ops: list[Operation]
    ) -> SSAValue:
        """The element of a tensor at one index an axis, 0 where negative; a scalar is its own."""
        value = place.value
        assert value is not None
        if not isinstance(value.type, TensorType):
            return value
        places = [self.index(0) if axis < 0 else indices[axis] for axis in at]
        op = tensor.ExtractOp(value, places, type_of(value).get_element_type())
        ops.append(op)
        return op.result

    # Extents

    def size(self, extent: Extent, references: Sequence[Reference] = ()) -> Size:
        """An extent as the graph has it; ``references`` are what ("operand", k, 0) counts."""
        if isinstance(extent, int):
            return extent
        kind, number, axis = extent
        if kind == "argument":
            value = self.inputs[number]
            known = type_of(value).get_shape()[axis]
            return (value, axis) if known == DYNAMIC_INDEX else known
        if kind == "operand":
            number = references[number].node
        return self.size_of_node(number)

    def size_of_node(self, number: int) -> Size:
        """The extent that a node of type index gives."""
        node = self.graph.nodes[number]
        if node.rank:
            raise UnsupportedError("an extent that differs from item to item of the loop dimensions")
        if node.kind != "extent":
            return self.scalar(number)
        attributes = dict(node.attributes)
        axis = attributes["axis"]
        assert isinstance(axis, int)
        if "argument" in attributes:
            argument = attributes["argument"]
            assert isinstance(argument, int)
            return self.size(("argument", argument, axis))
        return self.place(node.references[0].node).sizes[axis]

    def size_value(self, size: Size) -> SSAValue:
        """An extent as a value of type index."""
        if isinstance(size, int):
            return self.index(size)
        if isinstance(size, SSAValue):
            return size
        value, axis = size
        if value in self.inputs:
            if size not in self._first_extents:
                position = self.index(axis)
                op = tensor.DimOp(value, position)
                self.first.append(op)
                self._first_extents[size] = op.result
            return self._first_extents[size]
        known = self._known.get(size)
        if known is None:
            known = dim(value, axis, self.ops)
            self._set(size, known)
        return cast(SSAValue, known)

    def static(self, size: Size) -> int | SSAValue:
        """An extent as ops take it: a number, or a value of type index."""
        return size if isinstance(size, int) else self.size_value(size)

    def empty(self, element_type: str, sizes: Sequence[Size]) -> SSAValue:
        """A tensor to be written into."""
        return empty(type_named(element_type), [self.static(size) for size in sizes], self.ops)

    @staticmethod
    def tensor_type(element_type: str, sizes: Sequence[Size]) -> TensorType[Attribute]:
        """The type of a tensor of these extents."""
        shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
        return TensorType(type_named(element_type), shape)

    def cast(self, value: SSAValue, type_: TensorType[Attribute]) -> SSAValue:
        """A tensor at another type of its shape."""
        return value if value.type == type_ else self.add(tensor.CastOp(value, type_))
