"""Moving results by what an honest implementation may be off, to see how far a function's result then is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xfuse.primitives.element_types import is_float

Array = Any


def epsilon(element_type: str) -> float:
    """Distance from 1 to the next float of an element type."""
    return {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}[element_type]


class Noise:
    """Errors of random sign, as large as they may be for even seeds, up to that for odd ones."""

    def __init__(self, seed: int) -> None:
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Begin again with the errors of another seed."""
        self._generator = np.random.default_rng(seed)
        self._partial = seed % 2 == 1

    def moved(self, value: Array, element_type: str, ulp: float) -> Array:
        """The result of an op that may be ``ulp`` units in the last place off."""
        wide: Array = np.asarray(value, np.float64)
        return self._shifted(value, wide, epsilon(element_type) * ulp * np.abs(wide))

    def reduced(
        self,
        value: Array,
        combine: str,
        element_type: str,
        operand: Array,
        initial: Array,
        bound: int,
        repeated: Sequence[int],
    ) -> Array:
        """A sum or product taken in any order; see `xfuse.backends.numpy.structural.reduce` for the operands.

        A sum may be off by a few units in the last place of the sum of absolute values, as pairwise summation is; a
        product by one for each factor (Higham, Accuracy and Stability of Numerical Algorithms, chapters 3 and 4).
        """
        if not is_float(element_type):
            return value
        wide: Array = np.asarray(value, np.float64)
        copies = float(np.prod(repeated)) if repeated else 1.0
        axes = tuple(range(bound))
        absolute: Array = np.abs(np.asarray(operand, np.float64))
        if combine == "arith.addf":
            size = absolute.sum(axis=axes) * copies + np.abs(np.asarray(initial, np.float64))
            return self._shifted(value, wide, 2 * epsilon(element_type) * size)
        count = float(np.prod([absolute.shape[axis] for axis in axes])) * copies
        return self._shifted(value, wide, epsilon(element_type) * count * np.abs(wide))

    def _shifted(self, value: Array, wide: Array, amount: Array) -> Array:
        # Amounts in between make the exact ops behind round otherwise, which counts where the whole errors cancel.
        shape: tuple[int, ...] = wide.shape
        part: Array = 2 * self._generator.random(shape) - 1
        if not self._partial:
            part = np.copysign(1.0, part)
        moved: Array = np.asarray(wide + amount * part)
        np.copyto(moved, wide, where=~np.isfinite(wide) | ~np.isfinite(moved))
        return moved.astype(np.asarray(value).dtype)
