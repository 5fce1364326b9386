"""Arrays to try a kernel on: special values and random ones, at all sorts of sizes (law L6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xfuse.primitives.element_types import is_float, numpy_dtype, width
from xfuse.signature import CoreSignature

Array = Any

_SPECIAL_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 20.0, -90.0, 1e-3, 1e30, -1e30)
_EDGES = (np.inf, -np.inf, np.nan)
_SAMPLES = 512


def probes(element_types: Sequence[str], seed: int = 0) -> list[Array]:
    """One array per element type: special values in every pairing that fits, then random ones."""
    generator = np.random.default_rng(seed)
    columns: list[Array] = []
    for number, element_type in enumerate(element_types):
        special = _special(element_type)
        shifted = np.concatenate([np.roll(special, shift * (number + 1)) for shift in range(len(special))])
        columns.append(np.concatenate([shifted, _random(element_type, generator)]))
    shortest = min(len(column) for column in columns)
    return [column[-shortest:] for column in columns]


def _special(element_type: str) -> Array:
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return np.array([False, True, True, False])
    if is_float(element_type):
        with np.errstate(all="ignore"):
            return np.array((*_SPECIAL_FLOATS, *_EDGES), np.float64).astype(dtype)
    top = 1 << (width(element_type) - 1)
    return np.array((0, 1, -1, 2, -3, 7, top - 1, -top), dtype)


def _random(element_type: str, generator: np.random.Generator) -> Array:
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return generator.integers(0, 2, _SAMPLES).astype(np.bool_)
    if is_float(element_type):
        scale = np.repeat((0.1, 1.0, 8.0, 60.0), _SAMPLES // 4)
        return (generator.standard_normal(_SAMPLES) * scale).astype(dtype)
    top = 1 << (width(element_type) - 1)
    return generator.integers(-top, top - 1, _SAMPLES, endpoint=True).astype(dtype)


_SIZES = ((5, 3, 2), (1, 1, 1), (67, 4, 3), (2, 130, 5), (8, 8, 8), (300, 2, 2), (0, 2, 1))
"""Sizes of core dimensions in order of their first use."""

_LOOPS = (((), ()), ((4,), (4,)), ((2, 1), (3,)))
"""Loop dimensions of arguments, in turns."""


def core_probes(
    element_types: Sequence[str], signature: CoreSignature, *, whole: bool = False
) -> Iterator[list[Array]]:
    """Arrays for a kernel with core dimensions, one per argument, at sizes of each that it may or may not be able to
    take. ``whole`` says that there are no loop dimensions."""
    names = [name for name in signature.names if not name.isdigit()]
    generator = np.random.default_rng(0)
    for sizes in _SIZES:
        extents = {name: sizes[number % len(sizes)] for number, name in enumerate(names)}
        for loops in _LOOPS[:1] if whole else _LOOPS:
            for special in (False, True):
                arrays: list[Array] = []
                for number, (element_type, own) in enumerate(zip(element_types, signature.arguments, strict=True)):
                    core = [int(name) if name.isdigit() else extents[name] for name in own]
                    shape = (*loops[number % len(loops)], *core)
                    below = min(extents.values(), default=1)
                    arrays.append(_core_probe(element_type, shape, below, special, generator))
                yield arrays


def _core_probe(
    element_type: str, shape: tuple[int, ...], below: int, special: bool, generator: np.random.Generator
) -> Array:
    """Random values; with ``special`` one of them at an edge. Integers may be indices, and are kept small."""
    dtype = numpy_dtype(element_type)
    if not is_float(element_type):
        return np.asarray(generator.integers(0, 2 if element_type == "i1" else max(1, below), shape)).astype(dtype)
    scale = generator.choice((0.1, 1.0, 8.0))
    array = np.array(generator.standard_normal(shape) * scale, dtype)
    if special and array.size:
        edge = generator.choice(np.array((*_SPECIAL_FLOATS, *_EDGES), np.float64))
        with np.errstate(all="ignore"):
            array.reshape(-1)[generator.integers(0, array.size)] = edge.astype(dtype)
    return array


def strided(array: Array) -> Array:
    """The same values, every axis backwards with gaps, read-only."""
    spread = np.zeros(tuple(2 * size for size in array.shape), array.dtype)
    view = spread[(..., *(slice(None, None, -2) for _ in array.shape))]
    view[...] = array
    view.flags.writeable = False
    return view
