"""How a fused op's operands and results lie along its loop and core dimensions: instance data, handed on as views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xfuse.canonical.form import Form
from xfuse.canonical.graph import UNIT, Value


@dataclass(frozen=True)
class CoreLayout:
    """For a region with core dimensions: the place of each axis of an operand or result.

    Places below ``loops`` are loop dimensions; from there on they are an operand's own core dimensions in order, and
    ``cores`` says how many those are. `UNIT` stands for an axis of extent one that is no core dimension.
    """

    arguments: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int, ...], ...]
    loops: int
    argument_cores: tuple[int, ...]
    result_cores: tuple[int, ...]


def core_layout(
    form: Form, arguments: Sequence[Sequence[int | None]], results: Sequence[Sequence[int | None]]
) -> CoreLayout:
    """The layout of a form whose core dimensions lie at the given axes; None for one that no axis has."""
    closing, frame = form.closing, dict[int, int]()

    def places(value: Value, core: Sequence[int | None]) -> list[int]:
        parameter = {axis: number for number, axis in enumerate(value.index) if axis >= 0}
        return [
            -2 - core.index(axis)
            if axis in core
            else frame.setdefault(closing.find(value.node, parameter[axis]), len(frame))
            if axis in parameter
            else UNIT
            for axis in range(len(value.extents))
        ]

    def final(found: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(len(frame) - 2 - place if place < UNIT else place for place in each) for each in found)

    left = [places(value, core) for value, core in zip(form.arguments, arguments, strict=True)]
    right = [places(value, core) for value, core in zip(form.results, results, strict=True)]
    return CoreLayout(final(left), final(right), len(frame), tuple(map(len, arguments)), tuple(map(len, results)))


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
