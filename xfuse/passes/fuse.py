"""The pass ``xfuse-fuse``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, ModuleOp
from xdsl.ir import Attribute

from xfuse.errors import BackendUnavailable, NotBound, UnsupportedError
from xfuse.fuse import fuse
from xfuse.match.choose import Matches
from xfuse.passes.base import XfusePass
from xfuse.passes.options import choose_recipes, module_session
from xfuse.recipe import Recipe


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

    escape: Literal["refuse"] = "refuse"
    """What happens if an inner value of a match is used outside it."""

    strict: bool = False
    """Fail if an op was matched for which there is no kernel."""

    explain: bool = False
    """Say on standard error what was fused and what was not and why."""

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""
        session = module_session(module, self.library)
        if self.backend != "auto" and self.gate != "none":
            _check_backend(self.backend, {*session.backends, *(row.backend for row in session.table.rows())})
            reason = session.backends[self.backend].unavailable() if self.backend in session.backends else None
            if reason is not None and self.strict:
                raise BackendUnavailable(reason)
            if reason is not None:
                print(f"{self.name}: nothing is promised for backend {self.backend}: {reason}", file=sys.stderr)
        choose_recipes(session, self.only, self.except_)
        _warn_of_misread_literals(module)
        gate = session.gate(self.backend, promised=self.gate == "table")
        if self.gate == "none":
            gate = _open_gate
        rounds = fuse(module, session.registry.entries(), gate, explain=self.explain)
        if self.explain:
            _explain(rounds)
        missing = [refusal for refusal in rounds[-1].refusals if refusal.rule == "L4"] if rounds else []
        if self.strict and missing:
            raise NotBound("; ".join(str(refusal) for refusal in missing))


def _open_gate(recipe: Recipe, dtypes: object) -> str | None:
    return "none"


def _check_backend(name: str, known: set[str]) -> None:
    if name not in known:
        raise UnsupportedError(f"no backend is named {name!r}; known are {', '.join(sorted(known))}")


def _explain(rounds: list[Matches]) -> None:
    for matches in rounds:
        for match in matches.chosen:
            ops = ", ".join(op.name for op in match.ops)
            print(f"fused @{match.recipe.name} on {match.backend}: {ops}", file=sys.stderr)
    for refusal in rounds[-1].refusals if rounds else ():
        print(str(refusal), file=sys.stderr)


_SUSPICIOUS = {
    float(bits)
    for bits in (0xFF800000, 0x7F800000, 0x7FC00000, 0xFFC00000, 0xFC00, 0x7C00, 0x7E00, 0xFE00, 0xFF80, 0x7F80, 0x7FC0)
}


def _warn_of_misread_literals(module: ModuleOp) -> None:
    """A float that equals the integer of an infinity's or NaN's bits was most likely read as such by mistake."""
    for op in module.walk():
        if op.name != "arith.constant":
            continue
        value: Attribute | None = op.properties.get("value")
        if isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat():
            number = value.get_values()[0]
        elif isinstance(value, FloatAttr):
            number = value.value.data
        else:
            continue
        if isinstance(number, float) and number in _SUSPICIOUS:
            print(
                f"xfuse-fuse: warning: the constant {value} equals the bit pattern of an infinity or NaN read as an "
                "integer; xdsl-opt reads hexadecimal dense elements so: use -f xfuse-mlir",
                file=sys.stderr,
            )
            return
