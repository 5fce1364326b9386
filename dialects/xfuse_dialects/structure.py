"""What MLIR's verifiers ask of the vocabulary's ops and xDSL's do not: counts, ranks, axes, types of yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    ShapedType,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xfuse_dialects.vocabulary import LINALG_OPS, SCALAR_OPS, TENSOR_OPS

_ON_TENSORS = SCALAR_OPS | LINALG_OPS | TENSOR_OPS

Problems = Iterator[str]
"""What is wrong, found one by one; a rule may count on all that it asked for before."""


def structure_problem(op: Operation) -> str | None:
    """What is wrong with an op that xDSL's own verifier takes, or None. The op is known to be in the vocabulary."""
    return next(_problems(op), None)


def value_problem(type_: Attribute) -> str | None:
    """Why a type is none for an argument or result of a recipe, or None."""
    element = _element(type_)
    if isinstance(type_, ShapedType) and not isinstance(type_, TensorType):
        return f"is of type {type_}; expected a scalar or a ranked tensor"
    if isinstance(element, IntegerType) and element != IntegerType(cast(Any, element).width.data):
        return f"is of type {type_}; expected signless integers, the ops say how they read them"
    return None


def _problems(op: Operation) -> Problems:
    if op.name in _ON_TENSORS:
        for type_ in (*op.operand_types, *op.result_types):
            if isinstance(type_, ShapedType) and not isinstance(type_, TensorType):
                yield f"is on {type_}; expected scalars and ranked tensors"
    for type_ in op.result_types:
        for extent in type_.get_shape() if isinstance(type_, TensorType) else ():
            if extent < 0 and extent != DYNAMIC_INDEX:
                yield f"gives {type_}, whose extent {extent} is negative"
    if op.name in _CHECKS:
        yield from _CHECKS[op.name](op)
    elif op.name in SCALAR_OPS:
        yield from _scalar(op)
    elif isinstance(op, LinalgStructuredOperation):
        yield from _structured(op)


def _element(type_: Attribute) -> Attribute:
    """The element type of a shaped type; any other type is its own."""
    return cast(Attribute, cast(Any, type_).get_element_type()) if isinstance(type_, ShapedType) else type_


def _shape(type_: Attribute) -> tuple[int | None, ...]:
    """Extents of a type, None where dynamic; a scalar has none."""
    extents = type_.get_shape() if isinstance(type_, ShapedType) else ()
    return tuple(None if extent == DYNAMIC_INDEX else extent for extent in extents)


# Scalar ops


def _scalar(op: Operation) -> Problems:
    table = {"arith.cmpf": CMPF_COMPARISON_OPERATIONS, "arith.cmpi": CMPI_COMPARISON_OPERATIONS}.get(op.name)
    predicate = op.properties.get("predicate")
    if table is not None and isinstance(predicate, IntegerAttr) and not 0 <= predicate.value.data < len(table):
        yield f"has predicate {predicate.value.data}; expected 0 to {len(table) - 1}"
    operands = op.operand_types[1:] if op.name == "arith.select" else op.operand_types
    ranks = {len(_shape(type_)) if isinstance(type_, ShapedType) else -1 for type_ in (*operands, *op.result_types)}
    if len(ranks) > 1:
        yield f"mixes {_spelled([*operands, *op.result_types])}; expected scalars, or tensors of one shape"


def _constant(op: Operation) -> Problems:
    assert isinstance(op, arith.ConstantOp)
    value, element = op.value, _element(op.result.type)
    if not isinstance(element, IndexType | IntegerType | Float16Type | BFloat16Type | Float32Type | Float64Type):
        yield f"is of type {op.result.type}; expected integers, f16, bf16, f32 or f64"
    if (
        isinstance(element, IndexType)
        and isinstance(value, IntegerAttr)
        and not -(1 << 63) <= value.value.data < 1 << 63
    ):
        yield f"is {value.value.data}, which 64 bits cannot hold"


# Linalg


def _structured(op: LinalgStructuredOperation) -> Problems:
    outputs = [value.type for value in op.outputs]
    yield from _destination(op, outputs)
    kinds = [str(kind.data) for kind in op.get_iterator_types().data]
    for kind in kinds:
        if kind not in ("parallel", "reduction"):
            yield f"has a {kind} iterator; expected parallel or reduction"
    maps = [attribute.data for attribute in op.get_indexing_maps().data]
    for map_, type_ in zip(maps[len(op.inputs) :], outputs, strict=True):
        loops = [result.position for result in map_.results if isinstance(result, AffineDimExpr)]
        for axis, (result, extent) in enumerate(zip(map_.results, _shape(type_), strict=True)):
            unit = isinstance(result, AffineConstantExpr) and result.value == 0 and extent == 1
            if not isinstance(result, AffineDimExpr) and not unit:
                yield f"writes axis {axis} of its result at {result}; expected a loop, or 0 where the extent is 1"
        if len(set(loops)) != len(loops):
            yield f"writes its result at {map_}: only where two axes are equal"
        for loop in loops:
            if kinds[loop] == "reduction":
                yield f"reduces loop {loop}, which its result has an axis for"
    yield from _yielded(op.regions[0], [_element(type_) for type_ in outputs])


def _destination(op: Operation, outputs: Sequence[Attribute]) -> Problems:
    if list(op.result_types) != list(outputs):
        yield f"gives {_spelled(op.result_types)}; expected the types of its outs, {_spelled(outputs)}"


def _yielded(region: Region, types: Sequence[Attribute]) -> Problems:
    last = region.block.last_op
    found = [] if last is None else list(last.operand_types)
    if found != list(types):
        yield f"has a body that yields {_spelled(found)}; expected {_spelled(types)}"


def _one_to_one(op: Operation, source: Sequence[SSAValue], target: Sequence[SSAValue]) -> Problems:
    if (len(source), len(target)) != (1, 1):
        yield f"has {len(source)} ins and {len(target)} outs; expected one each"
    yield from _destination(op, [value.type for value in target])
    if _element(source[0].type) != _element(target[0].type):
        yield f"goes from {source[0].type} to {target[0].type}; expected one element type"


def _fill(op: Operation) -> Problems:
    assert isinstance(op, linalg.FillOp)
    yield from _one_to_one(op, op.inputs, op.outputs)


def _transpose(op: Operation) -> Problems:
    assert isinstance(op, linalg.TransposeOp)
    yield from _one_to_one(op, op.inputs, op.outputs)
    order = list(op.permutation.get_values())
    if sorted(order) != list(range(len(_shape(op.inputs[0].type)))):
        yield f"has permutation {order}, which is none of {len(_shape(op.inputs[0].type))} axes"


def _broadcast(op: Operation) -> Problems:
    assert isinstance(op, linalg.BroadcastOp)
    yield from _one_to_one(op, [op.input], [op.init])
    yield from _distinct_axes(op.dimensions.get_values(), len(_shape(op.init.type)))


def _reduce(op: Operation) -> Problems:
    assert isinstance(op, linalg.ReduceOp)
    yield from _one_to_one(op, [op.input], [op.init])
    yield from _distinct_axes(op.dimensions.get_values(), len(_shape(op.input.type)))
    element = _element(op.init.type)
    if list(op.region.block.arg_types) != [element, element]:
        yield f"has a body of ({_spelled(op.region.block.arg_types)}); expected ({element}, {element})"
    yield from _yielded(op.region, [element])


def _distinct_axes(axes: Sequence[int], rank: int) -> Problems:
    for axis in axes:
        if not 0 <= axis < rank:
            yield f"has dimension {axis}; expected 0 to {rank - 1}"
    if len(set(axes)) != len(axes):
        yield f"has a dimension twice among {', '.join(map(str, axes))}"


def _index(op: Operation) -> Problems:
    assert isinstance(op, linalg.IndexOp)
    around = op.parent_op()
    loops = len(around.get_iterator_types()) if isinstance(around, LinalgStructuredOperation) else 0
    if not 0 <= op.dim.value.data < loops:
        yield f"asks for loop {op.dim.value.data} of {loops}"


# Tensors


def _empty(op: Operation) -> Problems:
    yield from _dynamic(_shape(op.results[0].type), len(op.operands))


def _dynamic(shape: Sequence[int | None], given: int) -> Problems:
    wanted = shape.count(None)
    if given != wanted:
        yield f"has {given} sizes as operands; expected {wanted}, one for each dynamic extent of its result"


def _same_element(op: Operation, source: SSAValue) -> Problems:
    if _element(source.type) != _element(op.results[0].type):
        yield f"goes from {source.type} to {op.results[0].type}; expected one element type"


def _cast(op: Operation) -> Problems:
    yield from _same_element(op, op.operands[0])


def _from_elements(op: Operation) -> Problems:
    shape = _shape(op.results[0].type)
    known = [extent for extent in shape if extent is not None]
    if len(known) != len(shape) or prod(known) != len(op.operands):
        yield f"gives {op.results[0].type} from {len(op.operands)} elements"


def _indexed(tensor_: SSAValue, count: int) -> Problems:
    rank = len(_shape(tensor_.type))
    if count != rank:
        yield f"has {count} indices for a tensor of {rank} axes"


def _extract(op: Operation) -> Problems:
    yield from _indexed(op.operands[0], len(op.operands) - 1)


def _insert(op: Operation) -> Problems:
    yield from _indexed(op.operands[1], len(op.operands) - 2)


def _sliced(op: tensor.ExtractSliceOp | tensor.InsertSliceOp, whole: SSAValue, part: SSAValue) -> Problems:
    rank = len(_shape(whole.type))
    for name, values in (("offsets", op.static_offsets), ("sizes", op.static_sizes), ("strides", op.static_strides)):
        if len(values.get_values()) != rank:
            yield f"has {len(values.get_values())} {name} for a tensor of {rank} axes"
    for step in op.static_strides.get_values():
        if step < 1 and step != DYNAMIC_INDEX:
            yield f"has a stride of {step}; expected 1 or more"
    if len(_shape(part.type)) > rank:
        yield f"has a slice of {len(_shape(part.type))} axes in a tensor of {rank}"
    if _element(whole.type) != _element(part.type):
        yield f"has {part.type} as a slice of {whole.type}; expected one element type"


def _extract_slice(op: Operation) -> Problems:
    assert isinstance(op, tensor.ExtractSliceOp)
    yield from _sliced(op, op.source, op.result)


def _insert_slice(op: Operation) -> Problems:
    assert isinstance(op, tensor.InsertSliceOp)
    yield from _sliced(op, op.dest, op.source)


def reassociation_groups(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> list[tuple[int, ...]]:
    """The axes of the tensor of higher rank, by the axis of the other one that they are together."""
    return [tuple(axis.value.data for axis in group.data) for group in op.reassociation.data]


def _reassociation(
    op: tensor.ExpandShapeOp | tensor.CollapseShapeOp, wide: Sequence[int | None], narrow: Sequence[int | None]
) -> Problems:
    groups = reassociation_groups(op)
    if not groups and not narrow and all(extent == 1 for extent in wide):
        return
    if len(groups) != len(narrow) or [axis for group in groups for axis in group] != list(range(len(wide))):
        yield f"has reassociation {[list(group) for group in groups]} between {len(narrow)} and {len(wide)} axes"
    if not all(groups):
        yield "has an empty group of axes"


def _expand(op: Operation) -> Problems:
    assert isinstance(op, tensor.ExpandShapeOp)
    yield from _same_element(op, op.src)
    shape = _shape(op.result.type)
    if [None if each == DYNAMIC_INDEX else each for each in op.static_output_shape.get_values()] != list(shape):
        yield f"has an output_shape that is not that of its result, {op.result.type}"
    yield from _dynamic(shape, len(op.dynamic_output_shape))
    yield from _reassociation(op, shape, _shape(op.src.type))


def _collapse(op: Operation) -> Problems:
    assert isinstance(op, tensor.CollapseShapeOp)
    yield from _same_element(op, op.src)
    yield from _reassociation(op, _shape(op.src.type), _shape(op.result.type))


def _concat(op: Operation) -> Problems:
    assert isinstance(op, tensor.ConcatOp)
    yield from _distinct_axes([op.dim.value.data], len(_shape(op.result.type)))


def _pad(op: Operation) -> Problems:
    assert isinstance(op, tensor.PadOp)
    yield from _same_element(op, op.source)
    for name, static, given in (("low", op.static_low, op.low), ("high", op.static_high, op.high)):
        if static.get_values().count(DYNAMIC_INDEX) != len(given):
            yield f"has {len(given)} operands as {name}; expected {static.get_values().count(DYNAMIC_INDEX)}"
    if len(_shape(op.result.type)) != len(_shape(op.source.type)):
        yield f"goes from {op.source.type} to {op.result.type}; expected one rank"
    if any(not isinstance(type_, IndexType) for type_ in op.region.block.arg_types):
        yield f"has a body of ({_spelled(op.region.block.arg_types)}); expected index arguments"
    yield from _yielded(op.region, [_element(op.result.type)])


# Control flow


def _for(op: Operation) -> Problems:
    assert isinstance(op, scf.ForOp)
    made_by = op.step.owner
    step = made_by.value if isinstance(made_by, arith.ConstantOp) else None
    if isinstance(step, IntegerAttr) and step.value.data < 1:
        yield f"has a step of {step.value.data}; expected 1 or more"


def _if(op: Operation) -> Problems:
    assert isinstance(op, scf.IfOp)
    for region in (op.true_region, op.false_region):
        if len(region.blocks) > 1 or (op.results and not region.blocks):
            yield f"has a region of {len(region.blocks)} blocks; expected one"
        if op.results:
            yield from _yielded(region, op.result_types)


def _while(op: Operation) -> Problems:
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    yield from _arguments(before, [value.type for value in op.arguments])
    yield from _arguments(after, op.result_types)
    if not isinstance(before.last_op, scf.ConditionOp):
        yield "has a first region that does not end in 'scf.condition'"
        return
    if list(before.last_op.args.types) != list(op.result_types):
        yield f"passes on {_spelled(before.last_op.args.types)}; expected {_spelled(op.result_types)}"
    yield from _yielded(op.after_region, [value.type for value in op.arguments])


def _arguments(block: Block, types: Sequence[Attribute]) -> Problems:
    if list(block.arg_types) != list(types):
        yield f"has a region of ({_spelled(block.arg_types)}); expected ({_spelled(types)})"


def _spelled(types: Sequence[Attribute]) -> str:
    return ", ".join(str(each) for each in types) or "nothing"


_CHECKS: dict[str, Callable[[Operation], Problems]] = {
    "arith.constant": _constant,
    "linalg.fill": _fill,
    "linalg.transpose": _transpose,
    "linalg.broadcast": _broadcast,
    "linalg.reduce": _reduce,
    "linalg.index": _index,
    "tensor.empty": _empty,
    "tensor.cast": _cast,
    "tensor.from_elements": _from_elements,
    "tensor.extract": _extract,
    "tensor.insert": _insert,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.expand_shape": _expand,
    "tensor.collapse_shape": _collapse,
    "tensor.concat": _concat,
    "tensor.pad": _pad,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
}
