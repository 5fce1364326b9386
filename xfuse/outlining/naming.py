"""Names of recipes that nobody named, from what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xfuse.canonical.graph import Node

_MOST_PARTS = 6

_NAMES = {
    "maximumf": "max",
    "minimumf": "min",
    "maxnumf": "max",
    "minnumf": "min",
    "maxsi": "max",
    "maxui": "max",
    "minsi": "min",
    "minui": "min",
    "cmpf": "compare",
    "cmpi": "compare",
    "powf": "pow",
    "fpowi": "pow",
    "ipowi": "pow",
    "absf": "abs",
    "absi": "abs",
}
_REDUCTIONS = {"addf": "sum", "addi": "sum", "mulf": "product", "muli": "product"}
_CASTS = frozenset(
    "extf truncf extsi extui trunci sitofp uitofp fptosi fptoui index_cast bitcast".split()  # said by the types
)


def name_of(nodes: Sequence[Node]) -> str:
    """A name such as ``mul_add_tanh`` or ``sum_exp_sub`` from nodes in order of evaluation."""
    parts: list[str] = []
    for node in nodes:
        part = _part(node)
        if part is not None and part not in parts[-1:]:
            parts.append(part)
    return "_".join(parts[:_MOST_PARTS]) or "cast"


def _part(node: Node) -> str | None:
    if node.kind == "reduce":
        combine: Any = dict(node.attributes)["combine"]
        short = str(combine).split(".")[-1]
        return _REDUCTIONS.get(short) or _short(short)
    dialect, _, name = node.kind.partition(".")
    return None if not name or name in _CASTS else _short(name) if dialect == "arith" else _NAMES.get(name, name)


def _short(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    return (
        name[:-1] if name[-1] in "fi" and name[:3] in ("add", "sub", "mul", "div", "neg", "and", "xor", "ori") else name
    )


def unused_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """A name, or the first of ``name_2``, ``name_3`` ... that nothing else has."""
    found, number = name, 1
    while is_taken(found):
        number += 1
        found = f"{name}_{number}"
    return found
