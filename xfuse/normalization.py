"""The element-wise part of a program in one spelling: ``linalg.generic`` with one scalar op each.

What is taken apart: arith and math ops on tensors, named element-wise linalg ops, and generics whose bodies hold
several scalar ops, of reductions the part that no accumulator goes into. Masks and other values made of indices alone
stay in the body that reads them, the products of a contraction in that of their sum. Scalar and splat constants become
scalars that bodies capture. The canonical form, and with it every identity, stays as it is.
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
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from xfuse.canonical.build import is_splat, scalar_type, static_shape
from xfuse.editing import Editor
from xfuse.emission.generics import PARALLEL, Generic, dim, empty, projection
from xfuse.match.program import program_blocks
from xfuse.postorder import postorder
from xfuse.primitives.table import PRIMITIVES
from xfuse_dialects.vocabulary import is_admitted


def normalize(module: Operation) -> int:
    """Rewrite a module in place; returns how many ops were taken apart. Doing it twice changes nothing more."""
    count = 0
    for block in program_blocks(module):
        for op in list(block.ops):
            replacement = taken_apart(op)
            if replacement is None:
                continue
            replacement.put_before(op)
            Editor().erase(op)
            count += 1
    return count


@dataclass
class Replacement:
    """The ops that stand for one that is taken apart, and what its results become.

    ``inner`` says what becomes of the values of its body, those aside that are copied to where they are read.
    """

    ops: list[Operation] = field(default_factory=list[Operation])
    results: list[SSAValue] = field(default_factory=list[SSAValue])
    inner: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def put_before(self, op: Operation) -> None:
        """Insert the ops before the one that they stand for, and have everything read their results."""
        editor = Editor()
        for new in self.ops:
            editor.insert_before(new, op)
        for old, result in zip(op.results, self.results, strict=True):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)


def taken_apart(op: Operation) -> Replacement | None:
    """What is to stand for an op, not yet inserted; None if it is in its normal spelling."""
    if op.name in PRIMITIVES:
        return _tensor_op(op)
    if isinstance(op, FillOp) or not isinstance(op, GenericOp | ElementwiseOperation) or not op.results:
        return None
    block = op.regions[0].block
    body = [inner for inner in block.ops if inner is not block.last_op]
    if any(inner.regions or len(inner.results) != 1 or not is_admitted(inner) for inner in body):
        return None
    iterators = [str(each.data) for each in op.get_iterator_types().data]
    if any(kind != "parallel" for kind in iterators):
        return _Bodies(op, block).split_reduction()
    if any(argument.uses for argument in block.args[len(op.inputs) :]):
        return None
    return _Bodies(op, block).split()


def _tensor_op(op: Operation) -> Replacement | None:
    """A scalar op that stands on tensors as one generic."""
    if len(op.results) != 1 or not is_tensor(op.results[0]):
        return None
    result = Replacement()
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
    """What one operand of a generic reads: a tensor through a map, or without one what bodies capture as it is."""

    value: SSAValue
    map: AffineMap | None = None

    def read(self, generic: Generic, result: Replacement) -> SSAValue:
        """What stands for it in a body."""
        if self.map is None:
            return self.value
        return generic.read(_captured(self.value, result) or self.value, self.map)


class _Bodies:
    """Takes a body apart: each op becomes a generic, values between them are tensors."""

    def __init__(self, op: LinalgStructuredOperation, block: Block) -> None:
        self.op = op
        self.block = block
        self.maps = [attribute.data for attribute in op.get_indexing_maps().data]
        self.loops = self.maps[0].num_dims
        self.result = Replacement()
        self.sizes = self._sizes()
        self.values: dict[SSAValue, _Operand] = {}
        inputs = len(op.inputs)
        for argument, value, map_ in zip(block.args[:inputs], op.inputs, self.maps, strict=False):
            self.values[argument] = _Operand(value, map_)

    def split(self) -> Replacement | None:
        """The ops that stand for a generic without reductions; None if it is to stay.

        What is made of indices and scalars alone stays with the op that reads it.
        """
        last = self.block.last_op
        assert last is not None
        body = [inner for inner in self.block.ops if inner is not last]
        inside = _made_of_indices(body)
        apart = [inner for inner in body if inner not in inside and not isinstance(inner, arith.ConstantOp)]
        whole = len(self.op.results) == 1 and isinstance(self.op, GenericOp)
        constants = any(isinstance(inner, arith.ConstantOp) for inner in body)
        if self.sizes is None or not body or (whole and len(apart) <= 1 and (inside or (apart and not constants))):
            return None
        if any(inner in inside for inner in (each.owner for each in last.operands)):
            return None
        inputs = len(self.op.inputs)
        for inner in body:
            if isinstance(inner, arith.ConstantOp):
                self._constant(inner)
            elif inner not in inside:
                self.values[inner.results[0]] = self._one(inner, last, inside)
        for number, yielded in enumerate(last.operands):
            found = self._operand(yielded)
            out_map = self.maps[inputs + number]
            out = self.op.outputs[number]
            if found.value.type == out.type and found.map == out_map and not isinstance(found.value, BlockArgument):
                self.result.results.append(found.value)
                continue
            self.result.results.append(_generic([found], None, self.op, out, out_map, self.result))
        self._note_inner()
        return self.result

    def split_reduction(self) -> Replacement | None:
        """The ops that stand for a generic with reductions; None if it is to stay.

        Taken out is what depends on no accumulator and no index, and is no larger than some tensor that it is computed
        from: the products that a contraction sums never become a tensor.
        """
        if self.sizes is None:
            return None
        last = self.block.last_op
        kept = [inner for inner in self.block.ops if not self._takes_out(inner)]
        if not self.result.ops:
            return None
        for inner in [inner for inner in kept if isinstance(inner, arith.ConstantOp)]:
            self._constant(inner)
        kept = [inner for inner in kept if not isinstance(inner, arith.ConstantOp)]
        read = {operand for inner in kept for operand in inner.operands}
        generic = Generic(self.op.get_iterator_types().data)
        inputs = len(self.op.inputs)
        arguments = self.block.args[:inputs]
        chosen = {value: each for value, each in self.values.items() if value in read and value not in arguments}
        given = {loop for each in chosen.values() for loop in _loops_of(each.map)}
        for argument in arguments:  # first what says how far a loop runs and nothing taken out does
            loops = set(_loops_of(self.values[argument].map)) - given
            given |= loops
            if loops or argument in read or not argument.uses:
                chosen[argument] = self.values[argument]
        known = {value: each.read(generic, self.result) for value, each in chosen.items()}
        for argument in self.block.args[inputs:]:
            known[argument] = generic.output(argument.type)
        for inner in kept:
            if inner is not last:
                generic.add(inner.clone(known))
        assert last is not None
        yielded = [known.get(value, value) for value in last.operands]
        made = generic.finish(self.op.outputs, self.maps[inputs:], yielded)
        made.location = self.op.location
        self.result.ops.append(made)
        self.result.results.extend(made.results)
        self._note_inner()
        self.result.inner.update((value, known[value]) for inner in kept for value in inner.results)
        return self.result

    def _note_inner(self) -> None:
        self.result.inner.update((value, each.value) for value, each in self.values.items())

    def _takes_out(self, inner: Operation) -> bool:
        """Make a generic of a reduction's op, if it is to be taken out of the body."""
        if inner.name not in PRIMITIVES or len(inner.results) != 1:
            return False
        operands: list[_Operand] = []
        for value in inner.operands:
            known = self.values.get(value)
            local = value in self.block.args or (
                isinstance(value.owner, Operation) and value.owner.parent is self.block
            )
            if known is None and local:
                if not isinstance(value.owner, arith.ConstantOp):
                    return False
                known = self._constant(value.owner)
            operands.append(known or _Operand(value))
        maps = [each.map for each in operands if each.map is not None]
        primitive = PRIMITIVES[inner.name]
        if not maps and primitive.speculatable:
            scalar = inner.clone({old: each.value for old, each in zip(inner.operands, operands, strict=True)})
            self.result.ops.append(scalar)
            self.values[inner.results[0]] = _Operand(scalar.results[0])
            return True
        frames = [_loops_of(map_) for map_ in maps]
        frame = sorted(max(frames, key=len, default=list[int]()))
        if not maps or not all(map(_is_projection, maps)) or any(set(each) - set(frame) for each in frames):
            return False
        if not primitive.speculatable and len(frame) < self.loops:  # would run where another loop never does
            return False
        narrowed = [_Operand(each.value, None if each.map is None else _narrowed(each.map, frame)) for each in operands]
        out = self._temporary(inner.results[0].type, frame)
        value = _generic(narrowed, inner, inner, out, AffineMap.identity(len(frame)), self.result)
        self.values[inner.results[0]] = _Operand(value, projection(self.loops, frame))
        return True

    def _constant(self, inner: arith.ConstantOp) -> _Operand:
        known = self.values.get(inner.result)
        if known is None:
            clone = inner.clone()
            self.result.ops.append(clone)
            known = self.values[inner.result] = _Operand(clone.result)
        return known

    def _one(self, inner: Operation, last: Operation, inside: set[Operation]) -> _Operand:
        yielded = [number for number, value in enumerate(last.operands) if value is inner.results[0]]
        if len(yielded) == 1:
            # The last op writes the result as the generic did, into the same tensor.
            out_map = self.maps[len(self.op.inputs) + yielded[0]]
            out: SSAValue = self.op.outputs[yielded[0]]
        else:
            out_map = AffineMap.identity(self.loops)
            out = self._temporary(inner.results[0].type, range(self.loops))
        made = _cone(inner, inside)
        operands = [self._operand(value) for each in made for value in each.operands if value.owner not in made]
        value = _generic(operands, inner, inner, out, out_map, self.result, made[:-1])
        return _Operand(value, out_map)

    def _operand(self, value: SSAValue) -> _Operand:
        return self.values.get(value) or _Operand(value)

    def _temporary(self, element: Attribute, loops: Sequence[int]) -> SSAValue:
        assert self.sizes is not None
        ops = self.result.ops
        sizes = [self.sizes[loop] for loop in loops]
        return empty(element, [size if isinstance(size, int) else dim(*size, ops) for size in sizes], ops)

    def _sizes(self) -> list[int | tuple[SSAValue, int]] | None:
        sizes: list[int | tuple[SSAValue, int] | None] = [None] * self.loops
        for value, map_ in zip((*self.op.inputs, *self.op.outputs), self.maps, strict=True):
            for axis, (expression, extent) in enumerate(zip(map_.results, static_shape(value.type), strict=True)):
                if isinstance(expression, AffineDimExpr):
                    known = sizes[expression.position]
                    if known is None or (extent is not None and not isinstance(known, int)):
                        sizes[expression.position] = (value, axis) if extent is None else extent
        found = [size for size in sizes if size is not None]
        return found if len(found) == self.loops else None


def _made_of_indices(body: Sequence[Operation]) -> set[Operation]:
    """The ops of a body into which nothing goes but indices of loops and scalars from outside."""
    made: set[Operation] = set()
    constants = {inner for inner in body if isinstance(inner, arith.ConstantOp)}
    inside = set(body)
    for inner in body:
        owners = [value.owner for value in inner.operands]
        scalars = all(
            owner in made or owner in constants or (isinstance(owner, Operation) and owner not in inside)
            for owner in owners
        )
        if isinstance(inner, IndexOp) or (
            inner.name in PRIMITIVES and scalars and any(owner in made for owner in owners)
        ):
            made.add(inner)
    return made


def _cone(op: Operation, inside: set[Operation]) -> list[Operation]:
    """An op, and before it those of some ops that it is computed from, in order."""

    def below(current: Operation) -> list[Operation]:
        owners = (value.owner for value in current.operands)
        return [owner for owner in owners if isinstance(owner, Operation) and owner in inside]

    return postorder([op], below)


def _is_projection(map_: AffineMap) -> bool:
    """Whether a tensor is read at indices of loops alone, and at 0."""
    return all(isinstance(each, AffineDimExpr | AffineConstantExpr) for each in map_.results)


def _loops_of(map_: AffineMap | None) -> list[int]:
    """The loops whose indices are those of a tensor."""
    results = () if map_ is None else map_.results
    return list(dict.fromkeys(each.position for each in results if isinstance(each, AffineDimExpr)))


def _narrowed(map_: AffineMap, frame: Sequence[int]) -> AffineMap:
    """A map over some of the loops alone."""
    results = [
        AffineExpr.dimension(frame.index(each.position)) if isinstance(each, AffineDimExpr) else each
        for each in map_.results
    ]
    return AffineMap(len(frame), 0, tuple(results))


def _empty_like(operands: Sequence[SSAValue], type_: Attribute, result: Replacement) -> SSAValue:
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
    result: Replacement,
    before: Sequence[Operation] = (),
) -> SSAValue:
    """One generic of one scalar op, or of none: then it copies its operand.

    ``before`` are ops that the scalar op's body computes first; operands are those of all of them that none of them is.
    """
    generic = Generic([PARALLEL] * out_map.num_dims)
    values = [operand.read(generic, result) for operand in operands]
    element = scalar_type(out.type)
    generic.output(element)
    yielded = values[0] if values else None
    if scalar_op is not None:
        given = iter(values)
        made_here: dict[SSAValue, SSAValue] = {}
        for op in (*before, scalar_op):
            inner = op.create(
                operands=[made_here[value] if value in made_here else next(given) for value in op.operands],
                result_types=[element if op is scalar_op else op.results[0].type],
                properties=op.properties.copy(),
                attributes=op.attributes.copy(),
                location=op.location,
            )
            generic.add(inner)
            made_here[op.results[0]] = yielded = inner.results[0]
    assert yielded is not None
    made = generic.finish([out], [out_map], [yielded])
    made.location = origin.location
    result.ops.append(made)
    return made.results[0]


def _captured(value: SSAValue, result: Replacement) -> SSAValue | None:
    """The scalar that a body captures in place of an operand: a scalar itself, or the element of a splat constant."""
    if not is_tensor(value):
        return value
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    attribute = owner.value
    if not isinstance(attribute, DenseIntOrFPElementsAttr) or not is_splat(attribute):
        return None
    element = scalar_type(value.type)
    number = attribute.get_values()[0]
    literal = FloatAttr(number, element) if isinstance(number, float) else IntegerAttr(number, element)  # type: ignore[arg-type] -- its type is the number's
    constant = arith.ConstantOp(literal)
    result.ops.append(constant)
    return constant.result
