"""The value-numbered graph under the canonical form: point-wise nodes over index parameters.

A node is a function of index parameters ``0 .. rank-1``. A reference to another node gives one index for each of that
node's parameters: a parameter of the referring node, an index that the referring node binds (``BOUND + k``), or
``UNIT``, the only index of an axis of extent one. Equal nodes are one node, so equal values have equal numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from xfuse.primitives.table import PRIMITIVES

UNIT = -1
"""Index of an axis of extent one."""

BOUND = 1 << 16
"""Indices from here on are bound by the referring node (a reduction, a slice, a gather)."""

UNINITIALISED = -1
"""Node number of a value that must not be read (``tensor.empty``)."""

Index = tuple[int, ...]
Extent = int | tuple[str, int, int]
"""Static extent, or a symbol: ``("argument", number, axis)`` or ``("value", node, 0)`` for a computed one."""

Attributes = tuple[tuple[str, Any], ...]
"""What a node says of itself by name: texts, numbers, bytes, tuples of such, as its kind has it."""


class Reference(NamedTuple):
    """A use of a node: its number and one index for each of its parameters."""

    node: int
    index: Index  # pyright: ignore[reportIncompatibleMethodOverride] -- nobody searches a reference or value


class Node(NamedTuple):
    """One value-numbered function.

    ``kind`` is an op name of the primitives table, or one of `STRUCTURAL`. ``element_type`` is that of the value.
    """

    kind: str
    element_type: str
    attributes: Attributes
    references: tuple[Reference, ...]
    rank: int


class Value(NamedTuple):
    """A view of a node as a tensor: which axis feeds each parameter, and the extents of all axes.

    An axis that feeds no parameter is a broadcast axis. Scalars have no axes.
    """

    node: int
    index: Index  # pyright: ignore[reportIncompatibleMethodOverride] -- nobody searches a reference or value
    extents: tuple[Extent, ...]


STRUCTURAL = frozenset(
    {
        "argument",
        "constant",
        "dense",
        "extent",
        "index",
        "reduce",
        "fold",
        "accumulator",
        "gather",
        "reshape",
        "slice",
        "pad",
        "insert_slice",
        "concat",
        "insert",
        "from_elements",
        "branch",
        "loop",
        "carried",
        "fused",
        "opaque",
    }
)
"""Node kinds that are not scalar ops."""

FRESH_INDEX_KINDS = frozenset(
    {"reshape", "slice", "pad", "insert_slice", "concat", "insert", "from_elements", "loop", "opaque"}
)
"""Kinds that make indices of their own: attribute ``fresh`` says how many leading parameters those are."""

COMPARES = frozenset({"arith.cmpf", "arith.cmpi"})

MIRRORED_PREDICATES = {
    "ogt": "olt",
    "oge": "ole",
    "ugt": "ult",
    "uge": "ule",
    "sgt": "slt",
    "sge": "sle",
}
SYMMETRIC_PREDICATES = frozenset({"oeq", "one", "ord", "ueq", "une", "uno", "eq", "ne"})


def is_commutative(node: Node) -> bool:
    """Whether the two operands of a node may be swapped without changing one bit of its value (rule R2)."""
    return _commutes(node.kind, node.attributes)


def _commutes(kind: str, attributes: Attributes) -> bool:
    primitive = PRIMITIVES.get(kind)
    if primitive is None:
        return False
    if primitive.commutative:
        return True
    return kind in COMPARES and dict(attributes)["predicate"] in SYMMETRIC_PREDICATES


class Graph:
    """A growing set of value-numbered nodes; children always have smaller numbers than the nodes that use them."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._frames: dict[tuple[Index, ...], tuple[tuple[Index, ...], Index]] = {}
        self._free: list[int] = []
        self._heights: list[int] = []
        self.reasons: dict[int, str] = {}
        """Why an op that the builder knows became an opaque node."""
        self.unread: dict[int, str] = {}
        """Opaque nodes that stand for one op alone, by its name: it has effects, or a region that nothing reads."""
        self.captured: dict[int, frozenset[int]] = {}
        """Nodes that the program computes before a branch or loop and reads inside: a hint, no part of identity."""
        self.families: dict[int, tuple[object, tuple[int, ...]]] = {}
        """Loop nodes of one op: what they share, and the op's own position of each value that the node carries."""

    def intern(self, node: Node) -> int:
        """The number of a node equal to this one."""
        number = self._numbers.get(node)
        if number is None:
            number = len(self.nodes)
            self.nodes.append(node)
            self._numbers[node] = number
        return number

    def find(self, node: Node) -> int | None:
        """The number of a node, if the graph has it."""
        return self._numbers.get(node)

    def pointwise(
        self,
        kind: str,
        element_type: str,
        attributes: Attributes,
        operands: Sequence[Value],
        extents: tuple[Extent, ...],
    ) -> Value:
        """A node that applies a scalar op at every point of the frame that its operands share.

        Operands' indices and ``extents`` speak of the axes of one frame. Parameters are numbered by first use.
        """
        if kind in COMPARES:
            attributes, operands = _mirror(attributes, operands)
        if len(operands) == 2 and operands[1][:2] < operands[0][:2] and _commutes(kind, attributes):
            operands = operands[::-1]  # so that a + b and b + a are one node
        indices = tuple([operand.index for operand in operands])
        frame = self._frames.get(indices)
        if frame is None:
            frame = self._frames[indices] = local_frame(indices)
        local, order = frame
        references = tuple([Reference(o.node, i) for o, i in zip(operands, local, strict=True)])
        return Value(self.intern(Node(kind, element_type, attributes, references, len(order))), order, extents)

    def constant(self, element_type: str, bits: int, extents: tuple[Extent, ...] = ()) -> Value:
        """A literal by bits, as a splat over the extents."""
        return Value(self.intern(Node("constant", element_type, (("bits", bits),), (), 0)), (), extents)

    def bits(self, number: int) -> int | None:
        """The bits of a node that is a literal, else None."""
        if number < 0:
            return None
        node = self.nodes[number]
        return node.attributes[0][1] if node.kind == "constant" else None

    def height(self, number: int) -> int:
        """How many references the longest way down from a node has."""
        heights = self._heights
        for node in self.nodes[len(heights) :] if number >= len(heights) else ():
            heights.append(1 + max((heights[each.node] for each in node.references if each.node >= 0), default=-1))
        return heights[number]

    def free(self, number: int) -> int:
        """Which loops' carried values a node depends on and does not bind: bit ``k`` for loops of depth ``k``."""
        while len(self._free) < len(self.nodes):
            node = self.nodes[len(self._free)]
            mask = 0
            for reference in node.references:
                mask |= self._free[reference.node]
            if node.kind == "carried":
                mask = 1 << depth_of(node)
            elif node.kind == "loop":
                mask &= ~(1 << depth_of(node))
            self._free.append(mask)
        return self._free[number]

    def reachable(self, roots: Iterable[int]) -> list[int]:
        """All node numbers in the cones of the roots, ascending, hence definitions before uses."""
        seen: set[int] = set()
        stack = [root for root in roots if root >= 0]
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                stack.extend(ref.node for ref in self.nodes[number].references if ref.node not in seen)
        return sorted(seen)


def op_name(node: Node) -> str:
    """The name of the op that a node stands for, as messages show it."""
    if node.kind != "opaque":
        return node.kind
    name: Any = dict(node.attributes).get("op", node.kind)
    return name if isinstance(name, str) else str(name[0])


def depth_of(node: Node) -> int:
    """The depth of a loop, or of the loop that a carried value belongs to."""
    depth = dict(node.attributes)["depth"]
    assert isinstance(depth, int)
    return depth


def local_frame(indices: Sequence[Index], bound: Sequence[int] = ()) -> tuple[tuple[Index, ...], Index]:
    """Number the axes of a frame by first use, longest index first, so that whole operands keep their layout.

    Returns the indices in local numbering and the axes in order; axes in ``bound`` become ``BOUND + position``.
    """
    order: dict[int, int] = {}
    for index in sorted(indices, key=len, reverse=True):
        for axis in index:
            if axis >= 0 and axis not in order and axis not in bound:
                order[axis] = len(order)
    local = tuple(
        tuple(axis if axis < 0 else BOUND + bound.index(axis) if axis in bound else order[axis] for axis in index)
        for index in indices
    )
    return local, tuple(order)


def _mirror(attributes: Attributes, operands: Sequence[Value]) -> tuple[Attributes, Sequence[Value]]:
    predicate = dict(attributes)["predicate"]
    mirrored = MIRRORED_PREDICATES.get(str(predicate))
    if mirrored is None:
        return attributes, operands
    swapped = tuple((name, mirrored if name == "predicate" else value) for name, value in attributes)
    return swapped, operands[::-1]
