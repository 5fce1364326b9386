"""What all xfuse passes share: option errors and failures that read well from ``xdsl-opt``."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Container, Generator, Iterable
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible
from xdsl.utils.exceptions import PassFailedException

from xfuse.errors import XfuseError


class Optioned(ArgSpecConvertible):
    """What is made of a name and options, as passes and targets are; option errors are sentences.

    Names of options that are Python keywords end in ``_`` as fields.
    """

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        """The object of a spec; raises `PassFailedException` with a sentence for an option that does not fit."""
        hints = get_type_hints(cls)
        kinds = {field.name: hints[field.name] for field in fields(cls)}
        parameters = {_field_name(key, kinds): value for key, value in spec.parameters.items()}
        for key, value in parameters.items():
            option = key.rstrip("_").replace("_", "-")
            if key not in kinds:
                known = ", ".join(sorted(name.rstrip("_").replace("_", "-") for name in kinds))
                raise _reported(PassFailedException(f"{spec.name} has no option {option!r}; its options are {known}"))
            try:
                super().from_spec(ArgSpec(spec.name, {key: value}))
            except ValueError as error:
                expected, got = _spell_kind(kinds[key]), _spell(value) or "nothing"
                text = f"{spec.name}: option {option!r} expected {expected}, got {got}"
                raise _reported(PassFailedException(text)) from error
        return super().from_spec(ArgSpec(spec.name, parameters))


class XfusePass(Optioned, ModulePass):
    """A module pass whose errors are sentences."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass; a failure of ours becomes a `PassFailedException` with its message."""
        with failures_reported(self.name):
            self.run(ctx, op)

    @abstractmethod
    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place."""


def _field_name(option: str, names: Container[str]) -> str:
    name = option.replace("-", "_")
    return f"{name}_" if f"{name}_" in names else name


def _spell_kind(kind: Any) -> str:
    """What values a type stands for, as they are written in a pipeline."""
    if get_origin(kind) is Literal:
        return _spell(get_args(kind), " or ")
    if get_origin(kind) is tuple and get_origin(get_args(kind)[0]) is Literal:
        return f"{_spell(get_args(get_args(kind)[0]), ' and ')} with commas between"
    if kind is bool:
        return "=true or =false"
    if kind is int:
        return "a whole number"
    return "a string, in quotes unless it is a word" if kind is str else "strings with commas between"


def _spell(values: Iterable[object], between: str = ",") -> str:
    return between.join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)


@contextmanager
def failures_reported(name: str) -> Generator[None]:
    """A failure of ours becomes a `PassFailedException` with its message."""
    try:
        yield
    except XfuseError as error:
        raise _reported(PassFailedException(f"{name}: {error}")) from error


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
