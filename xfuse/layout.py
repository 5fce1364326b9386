"""How a fused op's operands and results lie along its loop dimensions: instance data, handed to kernels as views."""

from __future__ import annotations

from dataclasses import dataclass

from xfuse.canonical.form import Form
from xfuse.canonical.graph import UNIT


@dataclass(frozen=True)
class Layout:
    """For an element-wise region: which axis of one frame each axis of an operand or result is, `UNIT` for none.

    ``results`` has `UNIT` for an axis of a result that its value does not vary along.
    """

    arguments: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int, ...], ...]
    rank: int


def elementwise_layout(form: Form) -> Layout:
    """The layout of an element-wise form. The frame's axes are those of the first result, then those of the others."""
    closing, frame = form.closing, dict[int, int]()

    def place(node: int, parameter: int) -> int:
        return frame.setdefault(closing.find(node, parameter), len(frame))

    results: list[tuple[int, ...]] = []
    for result in form.results:
        axis_of = {axis: parameter for parameter, axis in enumerate(result.index) if axis >= 0}
        results.append(
            tuple(place(result.node, axis_of[axis]) if axis in axis_of else UNIT for axis in range(len(result.extents)))
        )
    arguments = tuple(
        tuple(UNIT if axis < 0 else place(argument.node, parameter) for parameter, axis in enumerate(argument.index))
        for argument in form.arguments
    )
    return Layout(arguments, tuple(results), len(frame))
