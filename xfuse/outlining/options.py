"""What bounds a cluster."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from xfuse.errors import UnsupportedError

ClusterKind = Literal["elementwise", "reduce"]

MOST_OPERANDS = 64
"""Operands and results together that a NumPy ufunc may have."""


@dataclass(frozen=True)
class OutlineOptions:
    """Bounds of a cluster. Raises `UnsupportedError` for numbers that no cluster can keep to.

    ``max_ops`` and ``min_ops`` count scalar ops, one for each op of a body; ``max_inputs`` bounds operands and results
    together; ``kinds`` are what may be in a cluster, views aside.
    """

    max_ops: int = 256
    max_inputs: int = MOST_OPERANDS
    min_ops: int = 2
    kinds: Collection[ClusterKind] = ("elementwise", "reduce")

    def __post_init__(self) -> None:
        if self.min_ops < 1 or self.max_ops < self.min_ops:
            raise UnsupportedError(
                f"expected 1 <= min-ops <= max-ops, got min-ops={self.min_ops} and max-ops={self.max_ops}"
            )
        if not 2 <= self.max_inputs <= MOST_OPERANDS:
            raise UnsupportedError(
                f"expected max-inputs, operands and results together, from 2 to {MOST_OPERANDS}, the most that a "
                f"NumPy ufunc has; got {self.max_inputs}"
            )
        unknown = sorted(set(self.kinds) - {"elementwise", "reduce"})
        if unknown or not self.kinds:
            raise UnsupportedError(
                f"expected kinds among elementwise and reduce, at least one, got {', '.join(unknown) or 'none'}"
            )
