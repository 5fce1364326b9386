"""Reading MLIR text: a parser that takes hexadecimal float elements as bits, and loaders for modules."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

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
)
from xdsl.parser import Parser
from xdsl.parser.attribute_parser import AttrParser
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, VerifyException

from xfuse.errors import ParsingError


@dataclass
class _Element(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | ComplexType
    ) -> float | int | tuple[float, float] | tuple[int, int]:
        hexadecimal = isinstance(self.value, int) and self.span.text.lower().startswith("0x")
        if hexadecimal and isinstance(type, AnyFloat):
            bits = self.value
            assert isinstance(bits, int)
            if isinstance(type, Float32Type):
                return struct.unpack("<f", struct.pack("<I", bits))[0]
            if isinstance(type, Float64Type):
                return struct.unpack("<d", struct.pack("<Q", bits))[0]
            if isinstance(type, Float16Type):
                return struct.unpack("<e", struct.pack("<H", bits))[0]
            if isinstance(type, BFloat16Type):
                return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
        return super().to_type(parser, type)


class XfuseParser(Parser):
    """xDSL's parser with two mends.

    Hexadecimal elements of float ``dense<>`` are bits, as MLIR prints and means them. A resource handle that had to be
    renamed keeps its new name for the whole text; xDSL renames it at every mention, which parts it from its blob.
    """

    _TensorLiteralElement: ClassVar[type] = _Element  # pyright: ignore[reportIncompatibleVariableOverride]

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


def parse_module(text: str, name: str = "<text>", context: Context | None = None) -> ModuleOp:
    """Parse and verify a module.

    Raises `ParsingError` with file, line and column where the text is not MLIR, and with the diagnostic where an op
    does not verify.
    """
    try:
        module = XfuseParser(context or default_context(), text, name).parse_module()
    except ParseError as error:
        raise ParsingError(f"{name} does not parse: {error}") from error
    try:
        module.verify()
    except VerifyException as error:
        raise ParsingError(f"{name} does not verify: {str(error).strip()}") from error
    return module


def load_module(path: str | Path, context: Context | None = None) -> ModuleOp:
    """Parse and verify the module in a file; raises `ParsingError` also where the file cannot be read."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ParsingError(f"cannot read {path}: {error}") from error
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
    return interface._blob_storage  # pyright: ignore[reportPrivateUsage]


_BLOBS = _Blobs()


def resource_blobs() -> Mapping[str, bytes]:
    """The blobs of all text parsed in this process, by handle."""
    return _BLOBS
