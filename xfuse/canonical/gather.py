"""Reading a tensor at computed places (``tensor.extract``, affine maps that are no projections)."""

from __future__ import annotations

from collections.abc import Sequence

from xfuse.canonical.graph import BOUND, UNINITIALISED, UNIT, Extent, Graph, Node, Reference, Value
from xfuse.errors import UnsupportedError


def gather(graph: Graph, source: Value, at: Sequence[Value], extents: tuple[Extent, ...]) -> Value:
    """The element of ``source`` at one computed index per axis, over a frame.

    An axis that is read at the frame's own index, over the whole extent, is passed as it is; where all axes are, the
    read is a plain reference.
    """
    if source.node == UNINITIALISED or any(index.node == UNINITIALISED for index in at):
        raise UnsupportedError("reads a value that was never written")
    computed = [
        axis
        for axis in dict.fromkeys(source.index)
        if axis >= 0 and _direct(graph, source, axis, at[axis], extents) is None
    ]
    frame: dict[int, int] = {}

    def local(axis: int) -> int:
        return UNIT if axis < 0 else frame.setdefault(axis, len(frame))

    passed = [
        UNIT if axis < 0 else BOUND + computed.index(axis) if axis in computed else at[axis].index[0]
        for axis in source.index
    ]
    if not computed:
        return Value(source.node, tuple(passed), extents)
    references = [Reference(source.node, tuple(axis if axis >= BOUND else local(axis) for axis in passed))]
    references.extend(Reference(at[axis].node, tuple(local(a) for a in at[axis].index)) for axis in computed)
    element_type = graph.nodes[source.node].element_type
    node = Node("gather", element_type, (("bound", len(computed)),), tuple(references), len(frame))
    return Value(graph.intern(node), tuple(frame), extents)


def _direct(graph: Graph, source: Value, axis: int, index: Value, extents: tuple[Extent, ...]) -> int | None:
    if graph.nodes[index.node].kind != "index" or len(index.index) != 1:
        return None
    return index.index[0] if extents[index.index[0]] == source.extents[axis] else None
