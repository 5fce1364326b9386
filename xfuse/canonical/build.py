"""From ops to the value-numbered graph: scalars, constants, blocks; other dialects have build files of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ShapedType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from xfuse.canonical.folds import fold
from xfuse.canonical.graph import (
    BOUND,
    UNINITIALISED,
    UNIT,
    Attributes,
    Extent,
    Graph,
    Node,
    Reference,
    Value,
)
from xfuse.errors import UnsupportedError
from xfuse.primitives import literals
from xfuse.primitives.element_types import is_float, width
from xfuse.primitives.table import PRIMITIVES
from xfuse_dialects.vocabulary import is_admitted
from xfuse_dialects.xfuse import SCALAR, FusedOp, RecipeOp

Handler = Callable[["GraphBuilder", Operation], Sequence[Value]]
FusedHandler = Callable[["GraphBuilder", FusedOp], Sequence[Value] | None]
Resources = Mapping[str, bytes]

_FLOAT_NAMES: dict[type[Attribute], str] = {
    Float16Type: "f16",
    BFloat16Type: "bf16",
    Float32Type: "f32",
    Float64Type: "f64",
}
_PREDICATES = {"arith.cmpf": arith.CMPF_COMPARISON_OPERATIONS, "arith.cmpi": arith.CMPI_COMPARISON_OPERATIONS}
_DEFAULTS = {"fastmath": "none", "overflowFlags": "none"}


def element_name(type_: Attribute) -> str:
    """The name of a type's element type: "f32" for ``f32``, ``tensor<4xf32>`` and ``tensor<?xf32>`` alike."""
    element = scalar_type(type_)
    if isinstance(element, IntegerType):
        return f"i{cast(Any, element).width.data}"
    if isinstance(element, IndexType):
        return "index"
    return _FLOAT_NAMES.get(type(element)) or str(element)


def scalar_type(type_: Attribute) -> Attribute:
    """The element type of a shaped type; any other type is its own."""
    return cast(Any, type_).get_element_type() if isinstance(type_, ShapedType) else type_


def static_shape(type_: Attribute) -> tuple[int | None, ...]:
    """Extents of a type, None where dynamic; a scalar has none."""
    if not isinstance(type_, ShapedType):
        return ()
    return tuple(None if extent == DYNAMIC_INDEX else extent for extent in type_.get_shape())


def is_splat(value: DenseIntOrFPElementsAttr[Any]) -> bool:
    """Whether there are elements and all have the same bits: 0 and -0 are equal as numbers, and no NaN is its own."""
    data, count = value.data.data, len(value)
    return count > 0 and data == data[: len(data) // count] * count


def tensor_view(node: int, index: Sequence[int], extents: tuple[Extent, ...]) -> Value:
    """A value whose axes of extent one feed no parameter."""
    return Value(node, tuple(UNIT if axis >= 0 and extents[axis] == 1 else axis for axis in index), extents)


def joined_extents(values: Sequence[Value]) -> tuple[Extent, ...]:
    """The extents that values of one shape agree on, static ones preferred."""
    extents: tuple[Extent, ...] = ()
    for value in values:
        if not extents:
            extents = value.extents
        elif value.extents and value.extents != extents:
            extents = tuple(b if isinstance(b, int) else a for a, b in zip(extents, value.extents, strict=True))
    return extents


class GraphBuilder:
    """Reads ops in order and keeps the value of every SSA value that it has seen.

    ``substitution`` replaces element types by name (a recipe written at f64, read at f32): literals of a replaced type
    are rounded once to the new type and casts between equal types vanish. With ``fastmath=False`` fast-math flags are
    not part of a node. ``fused`` decides about fused ops: it returns their results, or None to read their region.
    ``resources`` holds the blobs of ``dense_resource`` constants.
    """

    def __init__(
        self,
        *,
        substitution: Mapping[str, str] | None = None,
        fastmath: bool = True,
        fused: FusedHandler | None = None,
        resources: Resources | None = None,
    ) -> None:
        self.graph = Graph()
        self.values: dict[SSAValue, Value] = {}
        self.substitution = substitution or {}
        self.fastmath = fastmath
        self.fused = fused
        self.resources = resources or {}
        self.effects: list[Operation] = []
        self.argument_values: list[Value] = []
        self.call_stack: list[Operation] = []
        self.call_results: dict[tuple[Operation, tuple[Value, ...]], Sequence[Value]] = {}
        self.symbols: dict[Operation, Mapping[str, Operation]] = {}
        self._element_names: dict[Attribute, str] = {}

    # Types and attributes

    def element_type(self, type_: Attribute) -> str:
        """Element type by name, after substitution."""
        # Most are tensors of floats; the hash of a whole type would cost more than all else that is done for an op.
        element: Attribute = cast(Any, type_).element_type if type(type_) is TensorType else type_
        name = _FLOAT_NAMES.get(type(element))
        if name is None:
            name = self._element_names.get(element)
            if name is None:
                name = self._element_names[element] = element_name(element)
        return self.substitution.get(name, name)

    def attributes(self, op: Operation) -> Attributes:
        """The properties of an op that are not at their default, as sorted (name, text) pairs."""
        found: list[tuple[str, object]] = []
        for name, value in op.properties.items():
            if name == "predicate":
                assert isinstance(value, IntegerAttr)
                found.append((name, _PREDICATES[op.name][value.value.data]))
            elif name in _DEFAULTS:
                flags: Collection[object] = cast(Any, value).data  # both kinds of flags have it
                if flags and (name != "fastmath" or self.fastmath):
                    found.append((name, ",".join(sorted(map(str, flags)))))
            elif name not in ("operandSegmentSizes", "resultSegmentSizes"):
                found.append((name, str(value)))
        if len(found) > 1:
            found.sort()
        return tuple(found)

    # Arguments

    def argument(
        self, ssa: SSAValue, extents: Sequence[int | None] | None = None, element_type: str | None = None
    ) -> Value:
        """Make an SSA value the next argument. ``extents`` may replace dynamic extents by known ones.

        With an ``element_type`` the argument has that one and is widened where it is read.
        """
        number = len(self.argument_values)
        static = static_shape(ssa.type)
        known = static if extents is None else (s if e is None else e for s, e in zip(static, extents, strict=True))
        symbolic = tuple(("argument", number, axis) if e is None else e for axis, e in enumerate(known))
        read_at = self.element_type(ssa.type)
        held_at = element_type or read_at
        node = self.graph.intern(Node("argument", held_at, (("number", number),), (), len(symbolic)))
        value = tensor_view(node, range(len(symbolic)), symbolic)
        self.argument_values.append(value)
        if held_at != read_at:
            self.values[ssa] = self.graph.pointwise("arith.extf", read_at, (), [value], symbolic)
        else:
            self.values[ssa] = value
        return value

    # Blocks and ops

    def block(self, block: Block) -> list[Value]:
        """Read a block whose arguments are known; returns the values of the terminator's operands."""
        for op in block.ops:
            self.operation(op)
        terminator = block.last_op
        return [] if terminator is None else [self.values[operand] for operand in terminator.operands]

    def operation(self, op: Operation) -> None:
        """Read one op and keep the values of its results."""
        outputs = op.results
        if not outputs:
            self.note_effect(op)
            return
        try:
            results = self._results(op)
        except UnsupportedError as error:
            results = self.opaque(op)
            for value in results:
                self.graph.reasons.setdefault(value.node, str(error))
        for ssa, value in zip(outputs, results, strict=True):
            self.values[ssa] = value

    def note_effect(self, op: Operation) -> None:
        """Keep an op without results that is not known to do nothing."""
        if not op.has_trait(IsTerminator, value_if_unregistered=False):
            self.effects.extend(inner for inner in op.walk() if not is_admitted(inner))

    def _results(self, op: Operation) -> Sequence[Value]:
        name = op.name
        if name in PRIMITIVES:
            values = self.values
            operands = [values[operand] for operand in op.operands]
            return self.scalar(op, operands, joined_extents(operands))
        handler = HANDLERS.get(name)
        return self.opaque(op) if handler is None else handler(self, op)

    def scalar(self, op: Operation, operands: Sequence[Value], extents: tuple[Extent, ...]) -> Sequence[Value]:
        """A scalar op at every point of a frame."""
        kind = op.name
        for operand in operands:
            if operand.node == UNINITIALISED:
                raise UnsupportedError(f"'{kind}' reads a value that was never written")
        attributes = self.attributes(op) if op.properties else ()
        result, *more = op.results
        element_type = self.element_type(result.type)
        if more:
            return [
                self.graph.pointwise(
                    kind, self.element_type(ssa.type), (*attributes, ("result", number)), operands, extents
                )
                for number, ssa in enumerate(op.results)
            ]
        if kind in ("arith.extf", "arith.truncf"):
            operand = operands[0]
            source = self.graph.nodes[operand.node].element_type
            if source == element_type:
                return [operand._replace(extents=extents)]
            if is_float(source) and is_float(element_type):
                # A substitution may turn one cast into the other.
                kind = "arith.extf" if width(element_type) > width(source) else "arith.truncf"
        folded = fold(self.graph, kind, element_type, attributes, operands)
        if folded is not None:
            return [folded._replace(extents=extents)]
        return [self.graph.pointwise(kind, element_type, attributes, operands, extents)]

    def constant(self, value: Attribute, type_: Attribute, extents: tuple[Extent, ...] | None = None) -> Value:
        """The value of an ``arith.constant``: a literal by bits, or a table of them."""
        shape = static_shape(type_)
        own: tuple[Extent, ...] = tuple(extent for extent in shape if extent is not None)
        extents = own if extents is None else extents
        element_type = self.element_type(type_)
        if 0 in own:  # nothing is left of a splat's literal
            empty = Node("dense", element_type, (("shape", own), ("data", b"")), (), len(own))
            return tensor_view(self.graph.intern(empty), range(len(own)), own)
        if isinstance(value, DenseIntOrFPElementsAttr) and is_splat(cast(Any, value)):
            first: Any = next(value.iter_values())
            return self.graph.constant(element_type, literals.to_bits(first, element_type), extents)
        if isinstance(value, FloatAttr | IntegerAttr):
            return self.graph.constant(
                element_type, literals.to_bits(cast(Any, value).value.data, element_type), extents
            )
        if isinstance(value, DenseIntOrFPElementsAttr):
            size = max(1, (width(element_type) + 7) // 8)
            data = b"".join(
                literals.to_bits(cast(float, item), element_type).to_bytes(size, "little")
                for item in value.iter_values()
            )
        elif isinstance(value, DenseResourceAttr):
            handle = value.resource_handle.data
            data = self.resources.get(handle, b"")
            if not data:
                raise UnsupportedError(f"constant refers to the resource '{handle}', whose blob is not at hand")
            if self.element_type(type_) != element_name(type_):
                raise UnsupportedError("a dense_resource constant cannot follow another element type")
        else:
            raise UnsupportedError(f"constant {value} is not in the vocabulary")
        node = self.graph.intern(Node("dense", element_type, (("shape", own), ("data", data)), (), len(own)))
        return tensor_view(node, range(len(own)), own)

    # Nodes that make axes of their own

    def structural(
        self,
        kind: str,
        element_type: str,
        attributes: Attributes,
        operands: Sequence[tuple[Value, Mapping[int, int]]],
        fresh: Sequence[int],
        extents: tuple[Extent, ...],
        scalars: Sequence[Value] = (),
    ) -> Value:
        """A node with the result axes ``fresh`` as its own indices.

        Each operand comes with a map from its axes to result axes, or to ``BOUND + k`` for axes that the node binds.
        Result axes that are not fresh pass through. ``scalars`` are further operands without axes.
        """
        mapped: list[tuple[int, ...]] = []
        order = {axis: position for position, axis in enumerate(fresh)}
        for value, axes in operands:
            if value.node == UNINITIALISED:
                raise UnsupportedError(f"{kind} reads a value that was never written")
            index = tuple(UNIT if axis < 0 else axes[axis] for axis in value.index)
            index = tuple(
                UNIT if 0 <= axis < BOUND and extents[axis] == 1 and axis not in order else axis for axis in index
            )
            mapped.append(index)
            for axis in index:
                if 0 <= axis < BOUND and axis not in order:
                    order[axis] = len(order)
        references = [
            Reference(value.node, tuple(axis if axis < 0 or axis >= BOUND else order[axis] for axis in index))
            for (value, _), index in zip(operands, mapped, strict=True)
        ]
        references.extend(Reference(value.node, ()) for value in scalars)
        node = Node(kind, element_type, (("fresh", len(fresh)), *attributes), tuple(references), len(order))
        return Value(self.graph.intern(node), tuple(order), extents)

    def opaque(self, op: Operation) -> Sequence[Value]:
        """Results of an op that the table does not know: equal only to those of an equal op on equal values."""
        operands = [self.values[operand] for operand in op.operands if operand in self.values]
        key: object = str(op.name)
        whole = len(operands) == len(op.operands) and all(o.node != UNINITIALISED for o in operands)
        unread = bool(op.regions) or not whole or not is_admitted(op)
        if unread:  # equal to nothing else, and without a canonical form
            key = (op.name, len(self.graph.nodes))
            operands = []
        texts = tuple(sorted((name, str(value)) for name, value in {**op.properties, **op.attributes}.items()))
        bound = 0
        placed: list[tuple[Value, Mapping[int, int]]] = []
        for operand in operands:
            placed.append((operand, {axis: BOUND + bound + axis for axis in range(len(operand.extents))}))
            bound += len(operand.extents)
        results: list[Value] = []
        for number, ssa in enumerate(op.results):
            shape = static_shape(ssa.type)
            attributes: Attributes = (("op", key), ("properties", texts), ("result", number))
            value = self.structural(
                "opaque", self.element_type(ssa.type), attributes, placed, range(len(shape)), (0,) * len(shape)
            )
            if unread:
                self.graph.unread[value.node] = op.name
            results.append(self.with_extents(value.node, shape))
        return results

    def unknown(self, ssa: SSAValue, attributes: Attributes) -> Value:
        """A value that nothing is known of; ``attributes`` say which one it is."""
        shape = static_shape(ssa.type)
        fresh = ("fresh", len(shape))
        node = Node("opaque", self.element_type(ssa.type), (fresh, *attributes), (), len(shape))
        return self.with_extents(self.graph.intern(node), shape)

    def with_extents(self, node: int, shape: Sequence[int | None]) -> Value:
        """A node that is a whole tensor; dynamic extents become nodes that read them off it."""
        extents: list[Extent] = []
        for axis, extent in enumerate(shape):
            if extent is not None:
                extents.append(extent)
                continue
            whole = tuple(BOUND + position for position in range(len(shape)))
            read = Node("extent", "index", (("axis", axis),), (Reference(node, whole),), 0)
            extents.append(("value", self.graph.intern(read), 0))
        return tensor_view(node, range(len(shape)), tuple(extents))

    def extent_value(self, extent: Extent) -> Value:
        """An extent as a scalar of type index."""
        if isinstance(extent, int):
            return self.graph.constant("index", extent)
        kind, number, axis = extent
        if kind == "value":
            return Value(number, (), ())
        node = Node("extent", "index", (("argument", number), ("axis", axis)), (), 0)
        return Value(self.graph.intern(node), (), ())

    def extent_of(self, value: Value) -> Extent:
        """The extent that a scalar of type index stands for."""
        bits = self.graph.bits(value.node)
        if bits is not None:
            return int(literals.from_bits(bits, "index"))
        node = self.graph.nodes[value.node]
        attributes = dict(node.attributes)
        if node.kind == "extent" and "argument" in attributes:
            return ("argument", attributes["argument"], attributes["axis"])
        return ("value", value.node, 0)


def _constant(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, arith.ConstantOp)
    return [builder.constant(op.value, op.result.type)]


def _fused(builder: GraphBuilder, op: Operation) -> Sequence[Value]:
    assert isinstance(op, FusedOp)
    if builder.fused is not None:
        results = builder.fused(builder, op)
        if results is not None:
            return results
    for inner, outer in zip(op.body.block.args, (*op.inputs, *op.shapes), strict=True):
        builder.values[inner] = builder.values[outer]
    return builder.block(op.body.block)


HANDLERS: dict[str, Handler] = {"arith.constant": _constant, FusedOp.name: _fused}
"""How each op that is not a plain scalar op is read; the other build files add theirs."""


def build_body(
    op: RecipeOp | FusedOp,
    *,
    substitution: Mapping[str, str] | None = None,
    extents: Sequence[Sequence[int | None] | None] | None = None,
    fastmath: bool = True,
    resources: Resources | None = None,
    storage: Mapping[str, str] | None = None,
) -> tuple[GraphBuilder, list[Value]]:
    """The graph of a recipe's or fused op's region: its block arguments are the arguments.

    Shape operands of a fused op are no arguments. ``storage`` gives for written element types the narrower ones that
    arguments, scalar slots aside, and results are held at. Returns the builder and the values of the results.
    """
    storage = storage or {}
    builder = GraphBuilder(substitution=substitution, fastmath=fastmath, resources=resources)
    block = op.body.block
    count = len(op.inputs) if isinstance(op, FusedOp) else len(block.args)
    for position, argument in enumerate(block.args[:count]):
        known = None if extents is None else extents[position]
        held_at = storage.get(element_name(argument.type))
        builder.argument(argument, known, None if held_at is None or _is_slot(op, position) else held_at)
    known = op.known_extents if isinstance(op, FusedOp) else {}
    for number, argument in enumerate(block.args[count:]):
        builder.values[argument] = shape_only(builder, argument, number, known)
    results = builder.block(block)
    for position, type_ in enumerate(block.last_op.operand_types if storage and block.last_op else ()):
        narrow, wide = storage.get(element_name(type_)), results[position]
        if narrow is not None:
            results[position] = builder.graph.pointwise("arith.truncf", narrow, (), [wide], wide.extents)
    return builder, results


def _is_slot(op: RecipeOp | FusedOp, position: int) -> bool:
    return isinstance(op, RecipeOp) and SCALAR in op.marks(position)


def shape_only(
    builder: GraphBuilder, ssa: SSAValue, number: int, known: Mapping[tuple[int, int], tuple[int, int]]
) -> Value:
    """The value of a shape operand: extents without content, or an index.

    ``known`` says which of its extents are extents of arguments, as (shape operand, axis) to (argument, axis).
    """
    value = builder.unknown(ssa, (("shape operand", number),))
    if not isinstance(ssa.type, ShapedType):
        return value
    extents = list(value.extents)
    for (shape, axis), (argument, other) in known.items():
        if shape == number:
            extents[axis] = builder.argument_values[argument].extents[other]
    return Value(UNINITIALISED, (), tuple(extents))
