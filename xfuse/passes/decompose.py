"""The pass ``xfuse-decompose``."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xfuse.decomposition import decompose_all
from xfuse.passes.base import XfusePass
from xfuse.passes.options import check_backend, module_session
from xfuse.patterns import DecomposePattern
from xfuse_dialects.xfuse import FusedOp


@dataclass(frozen=True)
class DecomposePass(XfusePass):
    """Turns fused ops back into the ops of their regions, exactly (laws L1 and L2)."""

    name = "xfuse-decompose"

    only: tuple[str, ...] = ()
    """Decompose only fused ops with these labels."""

    except_: tuple[str, ...] = ()
    """Leave fused ops with these labels alone. On the command line: ``except``."""

    unbound_for: str = ""
    """Decompose only fused ops for which this backend has no kernel, bound or promised."""

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""
        pattern = DecomposePattern(self.only, self.except_)
        if not self.unbound_for:
            decompose_all(module, pattern.wants)
            return
        session = module_session(module)
        check_backend(session, self.unbound_for)

        def unbound(fused: FusedOp) -> bool:
            return pattern.wants(fused) and session.admissible_instance(fused, self.unbound_for) is None

        decompose_all(module, unbound)
