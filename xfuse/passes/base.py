"""What all xfuse passes share: option errors and failures that read well from ``xdsl-opt``."""

from __future__ import annotations

import sys
from abc import abstractmethod
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Self

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import PassFailedException

from xfuse.errors import XfuseError


class XfusePass(ModulePass):
    """A module pass whose errors are sentences. Option names that are Python keywords end in ``_`` as fields."""

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        """The pass of a spec; raises `PassFailedException` that lists the options for one that does not fit."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        parameters = {
            key + "_" if key.replace("-", "_") + "_" in names else key: value for key, value in spec.parameters.items()
        }
        try:
            return super().from_spec(ArgSpec(spec.name, parameters))
        except ValueError as error:
            options = ", ".join(sorted(name.rstrip("_").replace("_", "-") for name in names))
            raise _reported(PassFailedException(f"{cls.name}: {error}. Its options are {options}.")) from error

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass; a failure of ours becomes a `PassFailedException` with its message."""
        try:
            self.run(ctx, op)
        except XfuseError as error:
            raise _reported(PassFailedException(f"{self.name}: {error}")) from error

    @abstractmethod
    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""


def _reported(error: PassFailedException) -> PassFailedException:
    """Under ``xdsl-opt`` an uncaught failure prints its message alone, without Python's traceback."""
    if Path(sys.argv[0]).stem != "xdsl-opt":
        return error
    previous = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        if isinstance(value, PassFailedException):
            print(f"error: {value}", file=sys.stderr)
        else:
            previous(kind, value, traceback)

    sys.excepthook = hook
    return error
