"""Where ops stand in the text that they were read from."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, BuiltinAttribute, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.printer import Printer


@irdl_attr_definition
class TextLocation(ParametrizedAttribute, BuiltinAttribute):
    """The place of an op's first token, for an op whose text has no ``loc(...)``.

    It prints like any other location. It is no part of what a program says: two ops that differ in it alone are equal
    (law L2), as they are where it was never noted.
    """

    name = "xfuse.text_location"

    place: FileLineColLoc = param_def()

    def print_builtin(self, printer: Printer) -> None:
        """Print as the location that it is."""
        self.place.print_builtin(printer)


def text_location(file: StringAttr, line: int, column: int) -> LocationAttr:
    """The location of a token; line and column count from one."""
    # xDSL lists the kinds of locations, and prints any attribute.
    return cast(LocationAttr, TextLocation(FileLineColLoc(file, IntAttr(line), IntAttr(column))))


def _text_place(op: Operation) -> FileLineColLoc | None:
    location: Attribute = op.location
    return location.place if isinstance(location, TextLocation) else None


_UNKNOWN = UnknownLoc()


def spelled_location(op: Operation) -> Attribute:
    """The location that an op's text spells out; unknown if it spells none."""
    return op.location if _text_place(op) is None else _UNKNOWN


def source_line(op: Operation) -> str | None:
    """Where an op stands in its source, as "file:line:column"; None if it does not say."""
    location = _text_place(op) or op.location
    while isinstance(location, NameLoc | CallSiteLoc):
        location = location.location if isinstance(location, NameLoc) else location.callee
    if not isinstance(location, FileLineColLoc):
        return None
    return f"{location.filename.data}:{location.line.data}:{location.column.data}"
