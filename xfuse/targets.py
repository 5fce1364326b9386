"""The target ``xfuse-report``: the report on a module, as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from xfuse.passes.base import Optioned, failures_reported
from xfuse.passes.options import check_backend, module_session
from xfuse.reporting import Refusals, report


@dataclass(frozen=True)
class ReportTarget(Optioned, Target):
    """What of a module is fused, what is not and why, what that saves, and which kernels are there or wanted."""

    name = "xfuse-report"

    library: str = ""
    """A file of recipes to use instead of the shipped ones. Paths need quotes."""

    backend: str = "auto"
    """Where kernels are wanted; "auto": anywhere."""

    refusals: Refusals = "near"
    """Which refusals to list: those that got at least half-way, all, or none (quickest)."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write the report, with a newline at its end."""
        with failures_reported(self.name):
            session = module_session(module, self.library)
            if self.backend != "auto":
                check_backend(session, self.backend)
            found = report(module, session, self.backend, self.refusals)
        json.dump(found, output, indent=2)
        output.write("\n")
