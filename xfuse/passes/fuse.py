"""The pass ``xfuse-fuse``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xfuse.errors import BackendUnavailable, NotBound
from xfuse.explanation import changed_regions, explanation
from xfuse.fusion import fuse
from xfuse.match.choose import find_matches
from xfuse.match.escapes import Escape
from xfuse.match.index import index_of
from xfuse.passes.base import XfusePass
from xfuse.passes.misread import warn_of_misread_literals
from xfuse.passes.options import check_backend, choose_recipes, module_session
from xfuse.recipes import Recipe


@dataclass(frozen=True)
class FusePass(XfusePass):
    """Finds recipes, however they are spelled, and puts fused ops in their place.

    The recipes are those that the module defines, then those of ``library`` or, without it, the shipped ones.
    """

    name = "xfuse-fuse"

    library: str = ""
    """A file of recipes to use instead of the shipped ones. Paths need quotes."""

    only: tuple[str, ...] = ()
    """Use only recipes or families with these names."""

    except_: tuple[str, ...] = ()
    """Do not use recipes or families with these names. On the command line: ``except``."""

    backend: str = "auto"
    """Fuse what this backend has kernels for; "auto": what any backend has."""

    gate: Literal["table", "bound", "none"] = "table"
    """What counts as a kernel: bound or promised rows, bound rows only, or nothing is asked."""

    escape: Escape = "refuse"
    """What becomes of a match whose inner value is used outside it: none; the ops that compute it stay as well; or it
    is a further result, by a variant of the recipe."""

    split: bool = False
    """Take a linalg.generic apart first where a match crosses the border of its body; decomposing gives its parts."""

    strict: bool = False
    """Fail if an op was matched for which there is no kernel."""

    explain: bool = False
    """Say on standard error what was fused and what was not and why."""

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""
        # An explanation is of every recipe, a rewrite needs only those that may be found.
        names = None if self.explain else (*self.only, *self.except_)
        session = module_session(module, self.library, names)
        if self.backend != "auto" and self.gate != "none":
            check_backend(session, self.backend)
            reason = session.backends[self.backend].unavailable() if self.backend in session.backends else None
            if reason is not None and self.strict:
                raise BackendUnavailable(reason)
            if reason is not None:
                print(f"{self.name}: nothing is promised for backend {self.backend}: {reason}", file=sys.stderr)
        choose_recipes(session, self.only, self.except_)
        warn_of_misread_literals(self.name, module)
        gate = session.gate(self.backend, promised=self.gate == "table")
        if self.gate == "none":
            gate = _open_gate
        recipes = session.registry.entries()
        before = None
        if self.explain and not self.split:
            before = find_matches(module, index_of(recipes), gate, escape=self.escape)
        # What is said with a split is of the program as it was split.
        rounds = fuse(module, recipes, gate, escape=self.escape, split=self.split, explain=self.explain and self.split)
        if self.explain:
            for line in (*explanation(before or rounds[0], rounds[1:]), *changed_regions(module, session)):
                print(line, file=sys.stderr)
        missing = [refusal for refusal in rounds[-1].refusals if refusal.rule == "L4"] if rounds else []
        if self.strict and missing:
            raise NotBound("; ".join(str(refusal) for refusal in missing))


def _open_gate(recipe: Recipe, dtypes: object) -> str | None:
    return "none"
