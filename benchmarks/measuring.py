"""Timing calls in turn, and tables of the results."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Call = Callable[[], Any]


@dataclass
class Table:
    """Numbers under headings. Cells are texts or floats; a heading ends in the unit."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    note: str = ""

    def text(self) -> str:
        """The table for people."""
        lines = [self.heads, *(tuple(map(spelled, row)) for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.heads))]
        left = [isinstance(row, str) for row in (self.rows[0] if self.rows else self.heads)]
        body = [
            "  ".join(
                cell.ljust(width) if is_text else cell.rjust(width)
                for cell, width, is_text in zip(line, widths, left, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([f"== {self.title}", *body, *([self.note] if self.note else [])])

    def data(self) -> dict[str, Any]:
        """The table for programs."""
        return {"title": self.title, "columns": list(self.heads), "rows": [list(row) for row in self.rows]}


def spelled(cell: object) -> str:
    """A cell as people read it: three digits are enough."""
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.2f}" if abs(cell) >= 0.1 else f"{cell:.2g}"


def medians(calls: Sequence[Call], rounds: int, seconds: float = 0.004) -> list[float]:
    """Median seconds of each call. The calls take turns, so that a busy machine hurts all of them alike.

    A call is repeated in each round until it has taken about ``seconds``.
    """
    repeats: list[int] = []
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        repeats.append(max(1, int(seconds / max(time.perf_counter() - start, 1e-7))))
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, count, taken in zip(calls, repeats, samples, strict=True):
            start = time.perf_counter()
            for _ in range(count):
                call()
            taken.append((time.perf_counter() - start) / count)
    return [statistics.median(taken) for taken in samples]


def once(call: Call) -> tuple[float, Any]:
    """Seconds of one call, and what it gave. Garbage of what went before is collected first."""
    gc.collect()
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result
