"""Shape rules of tensor ops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from xfuse.canonical.build import static_shape
from xfuse.errors import AxisOutOfRange, ExtentOverflow, NegativeExtent, ShapeMismatch, SliceOutOfRange
from xfuse.shapes.arithmetic import DATA, UNKNOWN, Number, add, differ, literal, multiply
from xfuse.shapes.reader import RULES, Abstract, Reader, Tensor, relative, spell, unknown_value
from xfuse_dialects.structure import reassociation_groups

_ONE = literal(1)


def _sizes(reader: Reader, op: Operation, dynamic: Sequence[SSAValue]) -> tuple[Number, ...]:
    """The extents of an op's result, those that its type leaves open from operands in order."""
    sizes = reader.mixed(static_shape(op.results[0].type), dynamic)
    reader.use(op, "target_shape", sizes, reader.loop)
    return tuple(sizes)


def _empty(reader: Reader, op: Operation) -> Sequence[Abstract]:
    return [Tensor(_sizes(reader, op, op.operands))]


def _splat(reader: Reader, op: Operation) -> Sequence[Abstract]:
    reader.as_data(op, op.operands[:1])
    return [Tensor(_sizes(reader, op, op.operands[1:]))]


def _dim(reader: Reader, op: Operation) -> Sequence[Abstract]:
    shape, axis = reader.tensor(op.operands[0]).shape, reader.number(op.operands[1])
    reader.need(op, "axis", [axis])
    if axis.known is None:
        return [DATA if axis.is_data else UNKNOWN]
    if not 0 <= axis.known < len(shape):
        raise AxisOutOfRange(
            f"{reader.place(op)}: axis {axis.known} of a tensor of {len(shape)} core dimensions",
            "axis",
            reader.place(op),
            axis.known,
        )
    reader.note(op, "axis", reader.axes([axis.known])[0])
    return [relative(shape[axis.known])]


def _cast(reader: Reader, op: Operation) -> Sequence[Abstract]:
    return [reader.tensor(op.operands[0])]


def _from_elements(reader: Reader, op: Operation) -> Sequence[Abstract]:
    return [Tensor(_sizes(reader, op, ()), tuple(reader.number(operand) for operand in op.operands))]


# Elements


def _extract(reader: Reader, op: Operation) -> Sequence[Abstract]:
    source, at = reader.tensor(op.operands[0]), [reader.number(operand) for operand in op.operands[1:]]
    _element(reader, op, source.shape, at)
    if source.elements is not None and len(at) == 1 and at[0].known is not None:
        return [source.elements[at[0].known]]
    return [DATA]


def _insert(reader: Reader, op: Operation) -> Sequence[Abstract]:
    reader.as_data(op, op.operands[:1])
    target = reader.tensor(op.operands[1])
    _element(reader, op, target.shape, [reader.number(operand) for operand in op.operands[2:]])
    return [Tensor(target.shape)]


def _element(reader: Reader, op: Operation, shape: Sequence[Number], at: Sequence[Number]) -> None:
    reader.use(op, "slice_start", at, (0,) * len(reader.loop))
    ones = [_ONE] * len(at)
    _within(reader, op, shape, at, ones, ones)


# Slices


def _within(
    reader: Reader,
    op: Operation,
    shape: Sequence[Number],
    starts: Sequence[Number],
    sizes: Sequence[Number],
    steps: Sequence[Number],
) -> None:
    """Refuse a slice that begins or ends outside whatever the unknown extents are."""
    for axis, (extent, start, size, step) in enumerate(zip(shape, starts, sizes, steps, strict=True)):
        begins = f"{reader.place(op)}: axis {axis} of extent {spell(extent)} is sliced from {spell(start)}"
        if (start.upper is not None and start.upper < 0) or _positive(add(start, extent, -1)):
            raise SliceOutOfRange(begins, "slice_start", reader.place(op), start.known)
        if step.upper is not None and step.upper < 1:
            raise SliceOutOfRange(
                f"{begins} by {spell(step)}; a step is 1 or more", "slice_len", reader.place(op), step.known
            )
        last = add(start, multiply(add(size, _ONE, -1), step))
        after = add(last, _ONE)  # with a step of one right for an empty slice, too
        if step.known != 1 and not _positive(size):
            continue
        if (_positive(size) and last.upper is not None and last.upper < 0) or _positive(add(after, extent, -1)):
            by = "" if step.known == 1 else f" by {spell(step)}"
            raise SliceOutOfRange(
                f"{begins}, {spell(size)} long{by}: it ends outside", "slice_len", reader.place(op), size.known
            )


def _positive(number: Number) -> bool:
    return number.lower is not None and number.lower > 0


def _slice(
    reader: Reader, op: tensor.ExtractSliceOp | tensor.InsertSliceOp, shape: Sequence[Number]
) -> tuple[Number, ...]:
    """Check and note a slice of a tensor of this shape; returns its sizes."""
    starts = reader.mixed(_open(op.static_offsets.get_values()), op.offsets)
    sizes = reader.mixed(_open(op.static_sizes.get_values()), op.sizes)
    steps = reader.mixed(_open(op.static_strides.get_values()), op.strides)
    reader.use(op, "slice_start", starts, (0,) * len(reader.loop))
    reader.use(op, "slice_len", sizes, reader.loop)
    reader.need(op, "slice_len", [step for step in steps if step.failure is not None])
    _within(reader, op, shape, starts, sizes, steps)
    return tuple(sizes)


def _extract_slice(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, tensor.ExtractSliceOp)
    sizes = _slice(reader, op, reader.tensor(op.source).shape)
    return [Tensor(_reduced(reader, op, sizes, len(static_shape(op.result.type))))]


def _insert_slice(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, tensor.InsertSliceOp)
    target = reader.tensor(op.dest).shape
    source = reader.tensor(op.source).shape
    reader.joined(op, [_reduced(reader, op, _slice(reader, op, target), len(source)), source])
    return [Tensor(target)]


def _reduced(reader: Reader, op: Operation, sizes: Sequence[Number], rank: int) -> tuple[Number, ...]:
    """The sizes without as many unit axes as the rank leaves out, from the front."""
    surplus = len(sizes) - rank
    kept: list[Number] = []
    for size in sizes:
        if surplus and size.known == 1 and not size.relative:
            surplus -= 1
        else:
            kept.append(size)
    if surplus:
        raise ShapeMismatch(
            f"{reader.place(op)}: a slice of sizes {', '.join(map(spell, sizes))} cannot have {rank} dimensions; only "
            "those of size 1 are dropped",
            "target_shape",
            reader.place(op),
            rank,
        )
    return tuple(kept)


def _open(values: Iterable[int]) -> list[int | None]:
    return [None if value == DYNAMIC_INDEX else value for value in values]


# Reshapes


def _product(reader: Reader, op: Operation, sizes: Sequence[Number]) -> Number:
    found = reduce(multiply, sizes, _ONE)
    if found.known is not None and found.known >= 1 << 63:
        raise ExtentOverflow(
            f"{reader.place(op)}: {' * '.join(map(spell, sizes))} elements are more than i64 can count",
            "target_shape",
            reader.place(op),
            found.known,
        )
    return found


def _same_count(reader: Reader, op: Operation, before: Sequence[Number], after: Sequence[Number]) -> None:
    old, new = _product(reader, op, before), _product(reader, op, after)
    if differ(old, new):
        raise ShapeMismatch(
            f"{reader.place(op)}: {_spelled(before)} has {spell(old)} elements, {_spelled(after)} has {spell(new)}",
            "target_shape",
            reader.place(op),
            tuple(each.known for each in after),
        )


def _spelled(shape: Sequence[Number]) -> str:
    return f"({', '.join(map(spell, shape))})"


def _unit_axes(shape: Sequence[int | None], groups: Sequence[Sequence[int]]) -> list[int]:
    """The axes of extent one that a reshape adds or drops: of a group of nothing else all but the first."""
    found: list[int] = []
    for group in groups:
        units = [axis for axis in group if shape[axis] == 1]
        found.extend(units[1:] if len(units) == len(group) else units)
    return found


def _expand(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, tensor.ExpandShapeOp)
    source, groups = reader.tensor(op.src).shape, reassociation_groups(op)
    sizes = reader.mixed(static_shape(op.result.type), op.dynamic_output_shape)
    added = _unit_axes(static_shape(op.result.type), groups)
    if added:
        reader.note(op, "dims", reader.axes(added))
    reader.use(op, "target_shape", sizes, reader.loop)
    for extent, group in zip(source, groups, strict=True):
        _same_count(reader, op, [extent], [sizes[axis] for axis in group])
    return [Tensor(tuple(sizes))]


def _collapse(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, tensor.CollapseShapeOp)
    source, groups = reader.tensor(op.src).shape, reassociation_groups(op)
    dropped = _unit_axes(static_shape(op.src.type), groups)
    if dropped:
        reader.note(op, "dims", reader.axes(dropped))
    return [Tensor(tuple(_product(reader, op, [source[axis] for axis in group]) for group in groups))]


def _reshape(reader: Reader, op: Operation) -> Sequence[Abstract]:
    source, given = reader.tensor(op.operands[0]).shape, reader.tensor(op.operands[1]).elements
    if given is None:
        known = unknown_value(op.results[0].type)
        assert isinstance(known, Tensor)
        given = tuple(DATA if extent.known is None else extent for extent in known.shape)
    reader.use(op, "target_shape", given, reader.loop)
    _same_count(reader, op, source, given)
    return [Tensor(given)]


# Joining and padding


def _concat(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, tensor.ConcatOp)
    axis = op.dim.value.data
    shapes = [reader.tensor(operand).shape for operand in op.inputs]
    reader.note(op, "axis", reader.axes([axis])[0])
    total = reduce(add, (shape[axis] for shape in shapes))
    others = reader.joined(op, [(*shape[:axis], *shape[axis + 1 :]) for shape in shapes])
    return [Tensor((*others[:axis], total, *others[axis:]))]


def _pad(reader: Reader, op: Operation) -> Sequence[Abstract]:
    assert isinstance(op, tensor.PadOp)
    low = reader.mixed(_open(op.static_low.get_values()), op.low)
    high = reader.mixed(_open(op.static_high.get_values()), op.high)
    for number in (*low, *high):
        if number.upper is not None and number.upper < 0:
            message = f"{reader.place(op)}: pads by {spell(number)}; an amount is 0 or more"
            raise NegativeExtent(message, "target_shape", reader.place(op), number.known)
    reader.need(op, "target_shape", [*low, *high])
    source = reader.tensor(op.source).shape
    shape = [add(add(extent, before), after) for extent, before, after in zip(source, low, high, strict=True)]
    if op.low or op.high:
        reader.use(op, "target_shape", shape, reader.loop)
    for argument in op.region.block.args:
        reader.values[argument] = DATA
    reader.block(op.region.block)
    return [Tensor(tuple(shape))]


RULES.update(
    {
        "tensor.empty": _empty,
        "tensor.splat": _splat,
        "tensor.dim": _dim,
        "tensor.cast": _cast,
        "tensor.extract": _extract,
        "tensor.insert": _insert,
        "tensor.from_elements": _from_elements,
        "tensor.extract_slice": _extract_slice,
        "tensor.insert_slice": _insert_slice,
        "tensor.expand_shape": _expand,
        "tensor.collapse_shape": _collapse,
        "tensor.reshape": _reshape,
        "tensor.concat": _concat,
        "tensor.pad": _pad,
    }
)
