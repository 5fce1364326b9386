"""Reading MLIR text: a parser that takes hexadecimal float elements as bits, and loaders for modules."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Builtin,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.parser.attribute_parser import AttrParser
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, VerifyException

from xfuse.errors import ParsingError
from xfuse.locations import text_location

_Parsed = TypeVar("_Parsed")

_BITS: dict[type, tuple[int, str]] = {
    Float16Type: (2, "<e"),
    BFloat16Type: (2, "<f"),
    Float32Type: (4, "<f"),
    Float64Type: (8, "<d"),
}
"""Bytes of a float type, and how its bits are read; bf16 is the upper half of f32."""


@dataclass
class _Element(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage] -- what is to be mended
    def to_type(  # pyright: ignore[reportIncompatibleMethodOverride] -- xDSL overloads it by type
        self, parser: AttrParser, type: AnyFloat | IntegerType | ComplexType
    ) -> float | int | tuple[float, float] | tuple[int, int]:
        text = self.span.text.lower()
        if isinstance(self.value, int) and isinstance(type, AnyFloat) and text.lstrip("-").startswith("0x"):
            layout = _BITS.get(type.__class__)
            if layout is not None:
                size, format_ = layout
                if text.startswith("-"):
                    parser.raise_error("a hexadecimal float is given by its bits; it has no sign", self.span)
                if self.value >> (8 * size):
                    parser.raise_error(f"hexadecimal float constant out of range for type {type}", self.span)
                bits = self.value << 16 if isinstance(type, BFloat16Type) else self.value
                packed = bits.to_bytes(4 if isinstance(type, BFloat16Type) else size, "little")
                return struct.unpack(format_, packed)[0]
        return super().to_type(parser, type)


class XfuseParser(Parser):
    """xDSL's parser with three mends, which also says where each op stands in the text.

    An op without ``loc(...)`` of its own gets the location of its first token, as from MLIR's parser; xDSL leaves it
    unknown.
    Hexadecimal elements of float ``dense<>`` are bits, as MLIR prints and means them. A resource handle that had to be
    renamed keeps its new name for the whole text; xDSL renames it at every mention, which parts it from its blob.
    ``(t0, t1)`` reads as a list of types where a bare list may stand, as after the arrow of a ``linalg.generic`` of
    several results: MLIR and xDSL print it so, and xDSL takes it for the start of a function type.
    """

    _TensorLiteralElement: ClassVar[type] = _Element  # pyright: ignore[reportIncompatibleVariableOverride] -- a class

    def __init__(self, ctx: Context, input: str | bytes, name: str = "<unknown>") -> None:
        super().__init__(ctx, input, name)
        self._file = StringAttr(name)
        text = self._current_token.span.input.content
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            line = bisect_right(self._line_starts, start)
            column = start - self._line_starts[line - 1] + 1
            op.location = text_location(self._file, line, column)
        return op

    def parse_comma_separated_list(
        self, delimiter: Parser.Delimiter, parse: Callable[[], _Parsed], context_msg: str = ""
    ) -> list[_Parsed]:
        start = self.pos
        if delimiter is Parser.Delimiter.NONE and parse == self.parse_attribute:
            elements = self.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parse, context_msg)
            if elements is not None and self.parse_optional_punctuation("->") is None:
                return elements
            self._resume_from(start)
        return super().parse_comma_separated_list(delimiter, parse, context_msg)

    def _parse_dialect_resource_handle(self, dialect_name: str, interface: OpAsmDialectInterface) -> str:
        key = self.parse_identifier(context_msg=" for resource handle")
        handles: dict[tuple[str, str], str] = self.__dict__.setdefault("_declared_handles", {})
        if (dialect_name, key) not in handles:
            handles[dialect_name, key] = interface.declare_resource(key)
            self.dialect_resources.add((dialect_name, handles[dialect_name, key]))
        return handles[dialect_name, key]


def default_context(*, allow_unregistered: bool = False) -> Context:
    """A context that knows every dialect of xDSL and of installed plugins, xfuse among them."""
    context = Context(allow_unregistered=allow_unregistered)
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    return context


def parse_module(text: str, name: str = "<text>", context: Context | None = None, *, verify: bool = True) -> ModuleOp:
    """Parse and verify a module. Its ops know where they stand in the text.

    Raises `ParsingError` with file, line and column where the text is not MLIR, and with the diagnostic where an op
    does not verify.
    """
    try:
        module = XfuseParser(context or default_context(), text, name).parse_module()
    except ParseError as error:
        raise ParsingError(f"{name} does not parse: {error}") from error
    except Exception as error:  # xDSL's parsers of ops fail in many ways on what they do not expect
        raise ParsingError(f"{name} does not parse: {spell_failure(error)}") from error
    if not verify:
        return module
    try:
        module.verify()
    except VerifyException as error:
        raise ParsingError(f"{name} does not verify: {str(error).strip()}") from error
    except Exception as error:
        raise ParsingError(f"{name} does not verify: {spell_failure(error, module)}") from error
    return module


def spell_failure(error: Exception, root: Operation | None = None) -> str:
    """What an exception that xDSL did not mean to raise says about text, or about the op under ``root`` at fault."""
    from xfuse_dialects.structure import structure_problem  # imports the vocabulary's dialects

    if isinstance(error.__context__, VerifyException):  # what failed is to print the op beside the message
        return str(error.__context__)
    said = f"{type(error).__name__}{f': {error}' if str(error) else ''}"
    for op in root.walk(region_first=True) if root is not None else ():
        try:
            op.verify(verify_nested_ops=False)
        except Exception:
            try:
                problem = structure_problem(op)
            except Exception:  # not even that can be told of it
                problem = None
            return f"'{op.name}' {problem or f'is malformed: xDSL fails on it with {said}'}"
    return f"xDSL fails on it with {said}"


def load_module(path: str | Path, context: Context | None = None) -> ModuleOp:
    """Parse and verify the module in a file; raises `ParsingError` also where the file cannot be read."""
    try:
        text = Path(path).read_text()
    except OSError as error:
        raise ParsingError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ParsingError(f"cannot read {path}: it is not UTF-8 text") from error
    return parse_module(text, str(path), context)


class _Blobs(Mapping[str, bytes]):
    """The blobs that ``dense_resource`` constants of parsed text refer to, without their alignment word."""

    def __getitem__(self, handle: str) -> bytes:
        return bytes.fromhex(_storage()[handle].removeprefix("0x"))[4:]

    def __iter__(self) -> Iterator[str]:
        return iter(_storage())

    def __len__(self) -> int:
        return len(_storage())


def _storage() -> dict[str, str]:
    interface = Builtin.get_interface(OpAsmDialectInterface)
    assert interface is not None
    return interface._blob_storage  # pyright: ignore[reportPrivateUsage] -- xDSL shows no blobs


_BLOBS = _Blobs()


def resource_blobs() -> Mapping[str, bytes]:
    """The blobs of all text parsed in this process, by handle."""
    return _BLOBS
