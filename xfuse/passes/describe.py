"""What a pass says of itself: its options with their values, defaults and docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import MISSING, fields
from typing import Any, Literal, NamedTuple, cast, get_args, get_origin, get_type_hints


class PassOption(NamedTuple):
    """An option as it is written in a pipeline; ``default`` is empty where nothing need be given."""

    name: str
    values: str
    default: str
    text: str


def pass_options(kind: type) -> list[PassOption]:
    """The options of a pass class, in order."""
    hints, texts = get_type_hints(kind), _field_docstrings(kind)
    return [
        PassOption(
            field.name.rstrip("_").replace("_", "-"),
            _values(hints[field.name]),
            _default(field.default),
            texts.get(field.name, ""),
        )
        for field in fields(kind)
    ]


def _values(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(map(str, get_args(hint)))
    if get_origin(hint) is tuple and get_origin(get_args(hint)[0]) is Literal:
        return f"{', '.join(map(str, get_args(get_args(hint)[0])))}, with commas between"
    return {bool: "true, false", str: "a string", int: "a number"}.get(hint, "strings, with commas between")


def _default(value: Any) -> str:
    if value is MISSING or value in ((), "", None):
        return ""
    if isinstance(value, tuple):
        return ",".join(map(str, cast(tuple[object, ...], value)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _field_docstrings(kind: type) -> dict[str, str]:
    """The strings under the fields of a class and of its bases."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.split(".")[0] != "xfuse":
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found[ast.unparse(field.target)] = " ".join(str(text.value.value).split())
    return found
