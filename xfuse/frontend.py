"""The frontend ``-f xfuse-mlir``: MLIR text with hexadecimal float elements read as bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from xfuse.parser import XfuseParser


@dataclass(frozen=True)
class XfuseFrontend(Frontend):
    """Reads what MLIR prints: ``dense<0xFF800000> : tensor<f32>`` is a splat of -inf, not of 4.28e9."""

    name = "xfuse-mlir"

    no_implicit_module: bool = False
    """Expect a module, instead of wrapping the text in one."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        """Parse a stream into a module."""
        return XfuseParser(ctx, input.read(), input_name).parse_module(not self.no_implicit_module)
