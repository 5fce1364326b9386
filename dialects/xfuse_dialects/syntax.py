"""Pieces of the dialect's textual syntax."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, BlockArgument, Region
from xdsl.parser import Parser
from xdsl.printer import Printer


def print_results(printer: Printer, types: Sequence[Attribute]) -> None:
    """`` -> T`` or `` -> (T, U)``."""
    printer.print_string(" -> ")
    if len(types) == 1:
        printer.print_attribute(types[0])
    else:
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)


def parse_results(parser: Parser) -> Sequence[Attribute]:
    """What `print_results` writes."""
    parser.parse_punctuation("->")
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


def parse_attributes(parser: Parser, properties: Sequence[str]) -> dict[str, Attribute]:
    """An optional attribute dictionary, which may not name properties that have a syntax of their own."""
    start = parser.pos
    parsed = parser.parse_optional_attr_dict_with_keyword()
    attributes = {} if parsed is None else dict(parsed.data)
    for name in properties:
        if name in attributes:
            parser.raise_error(f"'{name}' is a property, not an attribute; it has a syntax of its own", start)
    return attributes


def parse_optional_symbol(parser: Parser) -> SymbolRefAttr | None:
    """``@name`` or ``@library::@name``, if there is one."""
    root = parser.parse_optional_symbol_name()
    if root is None:
        return None
    nested: list[StringAttr] = []
    while parser.parse_optional_punctuation(":") is not None:
        parser.parse_punctuation(":")
        nested.append(parser.parse_symbol_name())
    return SymbolRefAttr(root, nested)


def entry_arguments(body: Region) -> Sequence[BlockArgument]:
    """The arguments of a region's first block; none if it has no block."""
    return () if body.blocks.first is None else body.blocks.first.args
