"""A cheap key of a cluster: clusters of one key have one form, so that only the first of them has to be built."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xfuse.outlining.boundary import Boundary

Key = tuple[object, ...]


class ClusterKeys:
    """Keys by structure: op names, properties, types, and which op or operand each op reads."""

    def __init__(self) -> None:
        self._numbers: dict[Attribute, int] = {}
        self._known: dict[int, tuple[Attribute, int]] = {}

    def key(self, boundary: Boundary) -> Key:
        """The key of a cluster; operands count in order of first use, results in program order."""
        numbers: dict[SSAValue, int] = {}
        for ssa in (*boundary.inputs, *boundary.shapes):
            numbers[ssa] = len(numbers)
        types = tuple([self._number(ssa.type) for ssa in numbers])
        ops = self._ops(boundary.body, numbers)
        outputs = tuple(numbers[ssa] for ssa in boundary.outputs)
        return (len(boundary.inputs), types, ops, outputs, boundary.same_extents)

    def _ops(self, ops: Sequence[Operation], numbers: dict[SSAValue, int]) -> Key:
        found: list[object] = []
        pending: list[Operation | Block] = list(reversed(ops))
        while pending:
            op = pending.pop()
            if isinstance(op, Block):
                for argument in op.args:
                    numbers[argument] = len(numbers)
                found.append(len(op.args))
                continue
            properties = tuple([(name, self._number(value)) for name, value in op.properties.items()])
            operands = tuple([numbers[operand] for operand in op.operands])
            types: list[int] = []
            for result in op.results:
                numbers[result] = len(numbers)
                types.append(self._number(result.type))
            found.append((op.name, properties, operands, *types))
            for region in op.regions:
                for block in region.blocks:
                    pending.extend(reversed(block.ops))
                    pending.append(block)
        return tuple(found)

    def _number(self, attribute: Attribute) -> int:
        """A number for an attribute; equal ones have one. Attributes are kept, so that their addresses stay theirs."""
        known = self._known.get(id(attribute))
        if known is None:
            number = self._numbers.setdefault(attribute, len(self._numbers))
            known = self._known[id(attribute)] = (attribute, number)
        return known[1]
