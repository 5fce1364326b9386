"""The pass ``xfuse-normalize``."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xfuse.normalization import normalize
from xfuse.passes.base import XfusePass


@dataclass(frozen=True)
class NormalizePass(XfusePass):
    """Puts the element-wise part of a program into one spelling: ``linalg.generic`` with one scalar op each."""

    name = "xfuse-normalize"

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""
        normalize(module)
