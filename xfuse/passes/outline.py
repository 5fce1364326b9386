"""The pass ``xfuse-outline``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xfuse.outlining.options import OutlineOptions
from xfuse.outlining.outline import Outlined, outline
from xfuse.passes.base import XfusePass
from xfuse.passes.options import check_backend, module_session
from xfuse.recipes import Recipe


@dataclass(frozen=True)
class OutlinePass(XfusePass):
    """Finds clusters of element-wise ops and reductions that nobody named, and makes recipes and fused ops of them.

    Fused ops that are there already are left as they are. ``xfuse-decompose`` puts the program back and drops the
    recipes that were made.
    """

    name = "xfuse-outline"

    max_ops: int = OutlineOptions.max_ops
    """The most scalar ops in a cluster, each op of a body counting one."""

    max_inputs: int = OutlineOptions.max_inputs
    """The most operands and results of a fused op together; NumPy's limit is 64."""

    min_ops: int = OutlineOptions.min_ops
    """The fewest scalar ops in a cluster. A single op on its own saves nothing."""

    kinds: tuple[Literal["elementwise", "reduce"], ...] = ("elementwise", "reduce")
    """What may be in a cluster. Views, such as broadcasts and transposes, may always."""

    backend: str = "auto"
    """Outline what this backend has kernels for; "auto": what any backend has."""

    gate: Literal["table", "none"] = "table"
    """What counts as a kernel: bound or promised rows, or nothing is asked."""

    explain: bool = False
    """Say on standard error what was outlined and saved, and what was left out and why."""

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""
        options = OutlineOptions(self.max_ops, self.max_inputs, self.min_ops, self.kinds)
        # Only names and kernels are asked of other recipes: the shipped ones are not needed.
        session = module_session(module, names=())
        if self.backend != "auto" and self.gate != "none":
            check_backend(session, self.backend)
        gate = session.gate(self.backend) if self.gate == "table" else _open_gate
        outlined = outline(module, session.registry, gate, options)
        if self.explain:
            _explain(outlined)


def _open_gate(recipe: Recipe, dtypes: object) -> str | None:
    return "none"


def _explain(outlined: Outlined) -> None:
    for cluster in outlined.clusters:
        print(
            f"outlined @{cluster.recipe.name} on {cluster.backend}: {cluster.scalar_ops} ops, saves "
            f"{cluster.saved_bytes} bytes, {cluster.saved_seconds * 1e6:.1f} us",
            file=sys.stderr,
        )
    for each in outlined.left_out:
        print(each, file=sys.stderr)
