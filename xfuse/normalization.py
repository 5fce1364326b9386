"""The element-wise part of a program in one spelling: ``linalg.generic`` with one scalar op each.

What is taken apart: arith and math ops on tensors, named element-wise linalg ops, and generics without reductions whose
bodies hold several scalar ops. Scalar and splat constants become scalars that bodies capture. The canonical form, and
with it every identity, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation, LinalgStructuredOperation
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xfuse.canonical.build import scalar_type, static_shape
from xfuse.editing import Editor
from xfuse.emission.generics import PARALLEL, Generic, dim, empty
from xfuse.match.program import program_blocks
from xfuse.primitives.table import PRIMITIVES


def normalize(module: Operation) -> int:
    """Rewrite a module in place; returns how many ops were taken apart. Doing it twice changes nothing more."""
    count = 0
    for block in program_blocks(module):
        for op in list(block.ops):
            replacement = _replacement(op)
            if replacement is None:
                continue
            editor = Editor()
            for new in replacement.ops:
                editor.insert_before(new, op)
            for old, result in zip(op.results, replacement.results, strict=True):
                result.name_hint = old.name_hint
                old.replace_all_uses_with(result)
            editor.erase(op)
            count += 1
    return count


@dataclass
class _Replacement:
    ops: list[Operation] = field(default_factory=list[Operation])
    results: list[SSAValue] = field(default_factory=list[SSAValue])


def _replacement(op: Operation) -> _Replacement | None:
    if op.name in PRIMITIVES:
        return _tensor_op(op)
    if isinstance(op, FillOp) or not isinstance(op, GenericOp | ElementwiseOperation) or not op.results:
        return None
    block = op.regions[0].block
    body = [inner for inner in block.ops if inner is not block.last_op]
    several = len([inner for inner in body if not isinstance(inner, arith.ConstantOp)]) != 1 or len(op.results) != 1
    iterators = [str(each.data) for each in op.get_iterator_types().data]
    if any(kind != "parallel" for kind in iterators) or not body:
        return None
    if any(inner.name not in PRIMITIVES and not isinstance(inner, arith.ConstantOp) for inner in body):
        return None
    if isinstance(op, GenericOp) and not several and all(not isinstance(inner, arith.ConstantOp) for inner in body):
        return None
    if any(argument.uses for argument in block.args[len(op.inputs) :]):
        return None
    return _Bodies(op, block).split()


def _tensor_op(op: Operation) -> _Replacement | None:
    """A scalar op that stands on tensors as one generic."""
    if len(op.results) != 1 or not is_tensor(op.results[0]):
        return None
    result = _Replacement()
    rank = len(static_shape(op.results[0].type))
    identity = AffineMap.identity(rank)
    operands = [_Operand(value, identity) for value in op.operands]
    out = _empty_like(op.operands, op.results[0].type, result)
    result.results.append(_generic(operands, op, op, out, identity, result))
    return result


def is_tensor(value: SSAValue) -> bool:
    """Whether a value is a ranked tensor."""
    return value.type.name == TensorType.name


@dataclass
class _Operand:
    """What one operand of a generic reads: a tensor through a map, or a scalar captured as it is."""

    value: SSAValue
    map: AffineMap


class _Bodies:
    """Takes a body apart: each op becomes a generic over all loops, values between them whole tensors."""

    def __init__(self, op: LinalgStructuredOperation, block: Block) -> None:
        self.op = op
        self.block = block
        self.maps = [attribute.data for attribute in op.get_indexing_maps().data]
        self.loops = self.maps[0].num_dims
        self.result = _Replacement()
        self.sizes = self._sizes()
        self.values: dict[SSAValue, _Operand] = {}

    def split(self) -> _Replacement | None:
        """The ops that stand for the generic; None if an extent of its loops cannot be read off an operand."""
        if self.sizes is None:
            return None
        inputs = len(self.op.inputs)
        for argument, value, map_ in zip(self.block.args[:inputs], self.op.inputs, self.maps, strict=False):
            self.values[argument] = _Operand(value, map_)
        last = self.block.last_op
        assert last is not None
        for inner in self.block.ops:
            if inner is last:
                break
            if isinstance(inner, arith.ConstantOp):
                clone = inner.clone()
                self.result.ops.append(clone)
                self.values[inner.result] = _Operand(clone.result, AffineMap.identity(self.loops))
                continue
            self.values[inner.results[0]] = self._one(inner, last)
        for number, yielded in enumerate(last.operands):
            found = self._operand(yielded)
            out_map = self.maps[inputs + number]
            out = self.op.outputs[number]
            if found.value.type == out.type and found.map == out_map and not isinstance(found.value, BlockArgument):
                self.result.results.append(found.value)
                continue
            self.result.results.append(_generic([found], None, self.op, out, out_map, self.result))
        return self.result

    def _one(self, inner: Operation, last: Operation) -> _Operand:
        operands = [self._operand(value) for value in inner.operands]
        yielded = [number for number, value in enumerate(last.operands) if value is inner.results[0]]
        if len(yielded) == 1:
            # The last op writes the result as the generic did, into the same tensor.
            out_map = self.maps[len(self.op.inputs) + yielded[0]]
            out: SSAValue = self.op.outputs[yielded[0]]
        else:
            out_map = AffineMap.identity(self.loops)
            out = self._temporary(inner.results[0].type)
        value = _generic(operands, inner, inner, out, out_map, self.result)
        return _Operand(value, out_map)

    def _operand(self, value: SSAValue) -> _Operand:
        return self.values.get(value) or _Operand(value, AffineMap.identity(self.loops))

    def _temporary(self, element: Attribute) -> SSAValue:
        assert self.sizes is not None
        ops = self.result.ops
        return empty(element, [size if isinstance(size, int) else dim(*size, ops) for size in self.sizes], ops)

    def _sizes(self) -> list[int | tuple[SSAValue, int]] | None:
        sizes: list[int | tuple[SSAValue, int] | None] = [None] * self.loops
        for value, map_ in zip((*self.op.inputs, *self.op.outputs), self.maps, strict=True):
            for axis, (expression, extent) in enumerate(zip(map_.results, static_shape(value.type), strict=True)):
                if isinstance(expression, AffineDimExpr) and not isinstance(sizes[expression.position], int):
                    sizes[expression.position] = (value, axis) if extent is None else extent
        known = [size for size in sizes if size is not None]
        return known if len(known) == self.loops else None


def _empty_like(operands: Sequence[SSAValue], type_: Attribute, result: _Replacement) -> SSAValue:
    """An empty tensor of a type, dynamic extents read off an operand of the same shape."""
    source = next(value for value in operands if is_tensor(value))
    sizes = [
        dim(source, axis, result.ops) if extent is None else extent for axis, extent in enumerate(static_shape(type_))
    ]
    return empty(scalar_type(type_), sizes, result.ops)


def _generic(
    operands: Sequence[_Operand],
    scalar_op: Operation | None,
    origin: Operation,
    out: SSAValue,
    out_map: AffineMap,
    result: _Replacement,
) -> SSAValue:
    """One generic of one scalar op, or of none: then it copies its operand."""
    generic = Generic([PARALLEL] * out_map.num_dims)
    captured = [_captured(operand.value, result) or operand.value for operand in operands]
    values = [generic.read(value, operand.map) for value, operand in zip(captured, operands, strict=True)]
    element = scalar_type(out.type)
    generic.output(element)
    yielded = values[0]
    if scalar_op is not None:
        inner = scalar_op.create(
            operands=values,
            result_types=[element],
            properties=scalar_op.properties.copy(),
            attributes=scalar_op.attributes.copy(),
            location=scalar_op.location,
        )
        generic.add(inner)
        yielded = inner.results[0]
    made = generic.finish([out], [out_map], [yielded])
    made.location = origin.location
    result.ops.append(made)
    return made.results[0]


def _captured(value: SSAValue, result: _Replacement) -> SSAValue | None:
    """The scalar that a body captures in place of an operand: a scalar itself, or the element of a splat constant."""
    if not is_tensor(value):
        return value
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    attribute = owner.value
    if not isinstance(attribute, DenseIntOrFPElementsAttr) or not attribute.is_splat():
        return None
    element = scalar_type(value.type)
    number = attribute.get_values()[0]
    literal = FloatAttr(number, element) if isinstance(number, float) else IntegerAttr(number, element)  # type: ignore[arg-type] -- its type is the number's
    constant = arith.ConstantOp(literal)
    result.ops.append(constant)
    return constant.result
