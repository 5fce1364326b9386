"""The pass ``convert-xfuse-to-linalg``."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xfuse.conversion import convert_to_linalg
from xfuse.passes.base import XfusePass
from xfuse.patterns import DecomposePattern


@dataclass(frozen=True)
class ConvertToLinalgPass(XfusePass):
    """Turns each fused op into the fewest `linalg.generic` ops; what no generic can express becomes plain ops."""

    name = "convert-xfuse-to-linalg"

    only: tuple[str, ...] = ()
    """Convert only fused ops with these labels."""

    except_: tuple[str, ...] = ()
    """Leave fused ops with these labels alone. On the command line: ``except``."""

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""
        convert_to_linalg(module, DecomposePattern(self.only, self.except_).wants)
