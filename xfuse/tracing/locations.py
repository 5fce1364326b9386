"""Where in the user's function something went wrong: errors that name its file, line and text."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NoReturn

import numpy as np

from xfuse.errors import TracingError

_OURS = tuple(os.path.dirname(os.path.abspath(path)) + os.sep for path in (__file__, str(np.__file__)))


def call(function: Callable[..., Any], arguments: Sequence[Any], name: str) -> Any:
    """Call the user's function: what stands between an error and this frame is the user's code. The name of the recipe
    is read off the frame."""
    return function(*arguments)


def fail(message: str) -> NoReturn:
    """Raise `TracingError` with the recipe's name and the lines of the user's code that led here, innermost first."""
    raise TracingError(located(message))


def located(message: str) -> str:
    """A message with the recipe that is traced and the lines of the user's code, innermost first."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- the only way to the caller's line
    lines: list[str] = []
    while frame is not None and frame.f_code is not call.__code__:
        if not frame.f_code.co_filename.startswith(_OURS):
            lines.append(_spelled(frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    if frame is None:  # nothing is traced
        return message
    where = "\n  called ".join(lines[:1] + lines[1:][-3:])
    return f"{frame.f_locals['name']}: {message}" + (f"\n  {where}" if where else "")


def at_definition(message: str, function: Callable[..., Any]) -> str:
    """A message with the line at which a function is defined."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return message
    line = code.co_firstlineno
    for number, text in _lines_from(code.co_filename, line):
        if text.lstrip().startswith(("def ", "async def ")) or "lambda" in text:
            line = number
            break
    return f"{message}\n  {_spelled(code.co_filename, line)}"


def _lines_from(path: str, first: int) -> Iterator[tuple[int, str]]:
    lines = linecache.getlines(path)
    for number in range(first, min(first + 50, len(lines) + 1)):
        yield number, lines[number - 1]


def _spelled(path: str, line: int) -> str:
    text = linecache.getline(path, line).strip()
    return f"at {path}, line {line}{f': {text}' if text else ''}"
