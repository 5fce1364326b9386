"""The cost model: what an op, a fused op and a whole module cost, by bytes moved, work done and calls made.

A plain op on tensors reads each operand once and writes its results. A fused op does the same with its own operands
and results; what it computes in between never reaches memory, and a view that it absorbed costs nothing. Numbers are
for choosing and reporting: they rank programs, they do not predict run times of one machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from xfuse.canonical.build import element_name, static_shape
from xfuse.canonical.operands import is_inside, operand_uses
from xfuse.decomposition import decompose_all
from xfuse.match.program import program_blocks
from xfuse.materialise import is_materialisable
from xfuse.primitives.element_types import FLOATS, INTEGERS, width
from xfuse.spaces import Space, space_of
from xfuse_dialects.xfuse import FusedOp, LibraryOp, RecipeOp

DEFAULT_EXTENT = 128
"""What a dynamic extent counts as, in elements."""

BYTES_PER_SECOND = 1e10
"""Memory traffic of one core, read and written alike."""

ADDITIONS_PER_SECOND = 8e9
"""Additions of one core on data in cache, vectorised; weights are in additions (`Primitive.cost`)."""

SECONDS_PER_CALL = 1e-6
"""Overhead of one op on whole tensors: the call, and making its result."""

_UNKNOWN_BYTES = 8
"""Size of an element whose type the table of primitives does not have."""

_FREE = frozenset(
    {"arith.constant", "tensor.empty", "tensor.dim", "tensor.cast", "tensor.expand_shape", "tensor.collapse_shape"}
    | {"tensor.extract", "tensor.from_elements"}
)
"""Ops that make no pass over memory: tables that are there already, shapes, other readings of one layout, scalars."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What some ops cost; costs add up.

    ``bytes`` are read and written in memory, ``flops`` are scalar ops done on elements, each counting one; ``weight``
    is the same work in additions, so that an exponential counts as the table of primitives has it; ``calls`` are ops
    on whole tensors.
    """

    bytes: int = 0
    flops: int = 0
    weight: float = 0.0
    calls: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.bytes + other.bytes, self.flops + other.flops, self.weight + other.weight, self.calls + other.calls
        )

    @property
    def seconds(self) -> float:
        """An estimate of the time on one core: the sum of traffic, work and calls."""
        return seconds(self.bytes, self.weight, self.calls)


@dataclass(frozen=True, slots=True)
class ModuleCost:
    """What a module's programs cost, each loop body counted once.

    ``ops`` counts element-wise and reducing scalar ops on tensors, one for each op of a body whatever the extents;
    ``inside`` are those of them that stand in fused ops, ``fused`` the number of fused ops, ones within others left
    out.
    """

    cost: Cost
    ops: int
    inside: int
    fused: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """A module with fused ops against the same module decomposed.

    ``ops``, ``inside`` and ``fused`` are as in `ModuleCost`; ``before`` and ``after`` are the costs without and with
    fused ops.
    """

    ops: int
    inside: int
    fused: int
    before: Cost
    after: Cost

    @property
    def share(self) -> float:
        """The part of the element-wise and reducing ops that stand in fused ops, 1 if there are none."""
        return self.inside / self.ops if self.ops else 1.0

    @property
    def ops_per_fused(self) -> float:
        """How many such ops a fused op holds on average, 0 if there are no fused ops."""
        return self.inside / self.fused if self.fused else 0.0

    @property
    def traffic(self) -> float:
        """Bytes moved with fused ops, as a part of those moved without; 1 if none are."""
        return self.after.bytes / self.before.bytes if self.before.bytes else 1.0


def seconds(traffic: float, weight: float, calls: float) -> float:
    """Seconds for so many bytes, additions and calls."""
    return traffic / BYTES_PER_SECOND + weight / ADDITIONS_PER_SECOND + calls * SECONDS_PER_CALL


def elements(extents: Iterable[int | None]) -> int:
    """The number of points of a shape or of loops; a dynamic extent counts as `DEFAULT_EXTENT`."""
    return math.prod(DEFAULT_EXTENT if extent is None else extent for extent in extents)


def element_bytes(type_: Attribute) -> int:
    """Bytes of one element of a type, as NumPy holds it: a bit is a byte."""
    name = element_name(type_)
    return (width(name) + 7) // 8 if name in FLOATS or name in INTEGERS or name == "index" else _UNKNOWN_BYTES


@lru_cache(maxsize=4096)
def bytes_of(type_: Attribute) -> int:
    """Bytes of a tensor; a scalar takes none, as it is in a register."""
    size = elements(static_shape(type_)) * element_bytes(type_)
    return size if isinstance(type_, TensorType) else 0


def cost_of(op: Operation) -> Cost:
    """What one op costs, the ops in regions of control flow left out, which are ops of their own.

    A constant costs nothing; a fill or broadcast of one writes its result.
    """
    if isinstance(op, FusedOp):
        return _fused_cost(op)
    if (
        op.name in _FREE
        or isinstance(op, RecipeOp | LibraryOp)
        or op.has_trait(IsTerminator, value_if_unregistered=False)
    ):
        return Cost()
    space = space_of(op)
    if space is not None:
        return cost_in_space(op, space)
    results = sum(bytes_of(each) for each in op.result_types)
    if op.name == "tensor.extract_slice":
        return Cost(2 * results, calls=1)
    if op.regions and not op.name.startswith(("linalg.", "tensor.")):
        return Cost()
    read = {use.operands[index] for use, index, shape_only in operand_uses(op) if not shape_only}
    traffic = results + sum(bytes_of(each.type) for each in read if not is_inside(each, op))
    return Cost(traffic, calls=1) if traffic else Cost()


def cost_in_space(op: Operation, space: Space) -> Cost:
    """What an op costs, given its iteration space."""
    if op.name in _FREE:
        return Cost()
    flops, weight = work_of(space)
    return Cost(_traffic((value for value, _ in space.reads), op.results), flops, weight, 1)


def cost_of_fused(op: FusedOp, work: Cost) -> Cost:
    """What a fused op costs, given what its ops cost one by one: their work, and the traffic of its own operands."""
    traffic = _traffic(op.inputs, op.outputs)
    return Cost(traffic, work.flops, work.weight, 1 if traffic else 0)


def _traffic(read: Iterable[SSAValue], written: Iterable[SSAValue]) -> int:
    """Bytes of some values read, each once, and of others written."""
    return sum(bytes_of(each.type) for each in {*read}) + sum(bytes_of(each.type) for each in written)


def work_of(space: Space) -> tuple[int, float]:
    """Scalar ops that an iteration space does on elements, and their weight in additions."""
    points = elements(space.extents)
    return space.ops * points, space.weight * points


def fusible_ops(op: Operation) -> int:
    """How many element-wise and reducing scalar ops on tensors an op stands for: one, or as many as its body has.

    Constants and what is copied like them (rule R4), views and contractions count nothing; neither do scalar ops.
    """
    space = space_of(op)
    if space is None or space.kind not in ("elementwise", "reduce") or is_materialisable(op):
        return 0
    return space.ops


def module_cost(module: Operation) -> ModuleCost:
    """What the programs of a module cost, and how much of them stands in fused ops. Recipes are no programs."""
    total = Cost()
    ops = inside = fused = 0
    for block in program_blocks(module):
        for op in block.ops:
            total += cost_of(op)
            if isinstance(op, FusedOp):
                count = _inner_ops(op.body.block)
                ops, inside, fused = ops + count, inside + count, fused + 1
                continue
            ops += fusible_ops(op)
            for scalar in _scalar_fused_ops(op):
                inside += sum(1 for inner in scalar.walk() if _is_scalar_op(inner))
                fused += 1
    return ModuleCost(total, ops, inside, fused)


def coverage(module: Operation) -> Coverage:
    """How much of a module stands in fused ops, and what that saves. The module is not changed."""
    after = module_cost(module)
    plain = module.clone()
    decompose_all(plain)
    before = module_cost(plain)
    return Coverage(before.ops, after.inside, after.fused, before.cost, after.cost)


def _is_scalar_op(op: Operation) -> bool:
    """Whether an op is a scalar op as bodies hold them."""
    return not op.regions and op.name.startswith(("arith.", "math.")) and op.name != "arith.constant"


def _scalar_fused_ops(op: Operation) -> Iterator[FusedOp]:
    """The fused ops in the body of a linalg op, ones within others left out."""
    if op.regions and op.name.startswith("linalg."):
        for inner in op.regions[0].block.ops:
            if isinstance(inner, FusedOp):
                yield inner


def _inner_ops(block: Block) -> int:
    count = 0
    pending = [block]
    while pending:
        for op in pending.pop().ops:
            if isinstance(op, FusedOp):
                pending.append(op.body.block)
            else:
                count += fusible_ops(op)
    return count


def _fused_cost(op: FusedOp) -> Cost:
    """Operands and results of a fused op, and the work of its region."""
    work = Cost()
    pending = [op.body.block]
    while pending:
        for inner in pending.pop().ops:
            if isinstance(inner, FusedOp):
                pending.append(inner.body.block)
                continue
            space = space_of(inner)
            if space is not None:
                work += cost_in_space(inner, space)
    return cost_of_fused(op, work)
