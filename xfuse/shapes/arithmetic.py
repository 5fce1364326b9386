"""Integers that may depend on extents: exact where everything is known, else a sum of unknown extents, or unknown."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xfuse.errors import DivisionByZero, ExtentOverflow, ShapeError
from xfuse.primitives.element_types import width

Terms = tuple[tuple[Hashable, int], ...]


class Failure(NamedTuple):
    """Arithmetic that went wrong. It is an error only once its value is needed: a select may pass it by."""

    kind: type[ShapeError]
    message: str
    op: str
    value: int | None


@dataclass(frozen=True)
class Number:
    """``constant`` plus, for each of ``terms``, an unknown extent times a factor; unknown without a ``constant``.

    ``relative`` tells what depends on extents alone from literals and, where it is unknown, from what is computed from
    data.
    """

    constant: int | None
    terms: Terms = ()
    relative: bool = False
    failure: Failure | None = None

    @property
    def known(self) -> int | None:
        """The exact value, or None."""
        return None if self.terms else self.constant

    @property
    def is_data(self) -> bool:
        """Whether it is computed from data."""
        return self.constant is None and not self.relative and self.failure is None

    @property
    def lower(self) -> int | None:
        """The least value that it can have, if there is one: extents are not negative."""
        return self.constant if all(factor > 0 for _, factor in self.terms) else None

    @property
    def upper(self) -> int | None:
        """The greatest value that it can have, if there is one."""
        return self.constant if all(factor < 0 for _, factor in self.terms) else None


DATA = Number(None)
"""A value that shapes say nothing about."""

UNKNOWN = Number(None, relative=True)
"""An extent that nothing is known of."""


def literal(value: int) -> Number:
    """A number that is written in the program."""
    return Number(value)


def symbol(name: Hashable) -> Number:
    """An extent that is not known but has a name."""
    return Number(0, ((name, 1),), relative=True)


def add(a: Number, b: Number, factor: int = 1) -> Number:
    """``a + factor * b``."""
    if a.constant is None or b.constant is None:
        return _unknown((a, b))
    terms = dict(a.terms)
    for name, count in b.terms:
        terms[name] = terms.get(name, 0) + factor * count
    left = tuple(sorted(((n, c) for n, c in terms.items() if c), key=str))
    return Number(a.constant + factor * b.constant, left, a.relative or b.relative)


def multiply(a: Number, b: Number) -> Number:
    """``a * b``; unknown if neither is known."""
    if a.known is None:
        a, b = b, a
    if a.known is None or b.constant is None:
        return _unknown((a, b))
    terms = tuple((name, count * a.known) for name, count in b.terms if a.known)
    return Number(a.known * b.constant, terms, a.relative or b.relative)


def differ(a: Number, b: Number) -> bool:
    """Whether two numbers differ whatever the unknown extents are."""
    difference = add(a, b, -1)
    low, high = difference.lower, difference.upper
    return (low is not None and low > 0) or (high is not None and high < 0)


def _unknown(operands: Sequence[Number]) -> Number:
    """What is computed from operands that are not all known: data if one of them is."""
    return DATA if any(each.is_data for each in operands) else UNKNOWN


# Ops


def evaluate(name: str, types: Sequence[str], result: str, operands: Sequence[Number], place: str) -> Number | None:
    """An op on integers of the named element types; None if it is no integer arithmetic. ``place`` is for messages.

    Numbers are signed except that ``i1`` is 0 or 1. What depends on an extent must stay within its type; literals of
    types other than ``index`` wrap, as all data does.
    """
    for operand in operands:
        if operand.failure is not None:
            return operand
    if name in _LINEAR:
        found = _LINEAR[name](*operands)
    elif name in _CASTS:
        found, unsigned = operands[0], _CASTS[name]
        if found.known is None:
            return _unknown(operands) if unsigned and (found.lower is None or found.lower < 0) else found
        value = _unsigned(found.known, types[0]) if unsigned else found.known
        return _fit(Number(value, relative=found.relative), result, place, unsigned=unsigned)
    elif name in _BINARY:
        found = _binary(name, types[0], operands, place)
    else:
        return None
    return found if found.known is None else _fit(found, result, place)


def compare(predicate: str, type_: str, a: Number, b: Number) -> Number:
    """An integer comparison, 0 or 1; decided also where the operands differ by a known sign."""
    for operand in (a, b):
        if operand.failure is not None:
            return operand
    relative = a.relative or b.relative
    if predicate.startswith("u"):
        if a.known is None or b.known is None:
            return _unknown((a, b))
        a, b = literal(_unsigned(a.known, type_)), literal(_unsigned(b.known, type_))
        predicate = f"s{predicate[1:]}"
    difference = add(a, b, -1)
    low, high = difference.lower, difference.upper
    if difference.constant is None:
        return _unknown((a, b))
    decided: bool | None = None
    if low is not None and low == high:
        decided = _COMPARE[predicate](low, 0)
    elif low is not None and low > 0:
        decided = _COMPARE[predicate](1, 0)
    elif high is not None and high < 0:
        decided = _COMPARE[predicate](-1, 0)
    elif (low == 0 and predicate in ("sge", "slt")) or (high == 0 and predicate in ("sle", "sgt")):
        decided = predicate in ("sge", "sle")
    return UNKNOWN if decided is None else Number(int(decided), relative=relative)


def select(operands: Sequence[Number]) -> Number:
    """The second or third operand, as the first says; what is not chosen may be a failure."""
    condition, then, otherwise = operands
    if condition.failure is not None:
        return condition
    if condition.known is not None or then == otherwise:
        chosen = otherwise if condition.known == 0 else then
        if chosen.constant is None or chosen.failure is not None:
            return chosen
        return replace(chosen, relative=chosen.relative or condition.relative)
    return _unknown(operands)


def _binary(name: str, type_: str, operands: Sequence[Number], place: str) -> Number:
    a, b = operands
    relative = a.relative or b.relative
    if name in _DIVISIONS and b.known == 0:
        if type_ != "index" and (a.is_data or not relative):  # data, of which a quotient by zero is 0
            return DATA if a.known is None else literal(0)
        spelled = "a number" if a.known is None else str(a.known)
        return Number(None, failure=Failure(DivisionByZero, f"{place} divides {spelled} by zero", place, 0))
    if a.known is not None and b.known is not None:
        return Number(_BINARY[name](a.known, b.known, width(type_)), relative=relative)
    difference = add(a, b, -1)
    low, high = difference.lower, difference.upper
    if name in ("arith.maxsi", "arith.minsi"):
        greatest = name == "arith.maxsi"
        if low is not None and low >= 0:
            return replace(a if greatest else b, relative=relative)
        if high is not None and high <= 0:
            return replace(b if greatest else a, relative=relative)
    if name in ("arith.divsi", "arith.floordivsi", "arith.ceildivsi") and b.known and a.constant is not None:
        exact = a.constant % b.known == 0 and all(factor % b.known == 0 for _, factor in a.terms)
        if exact:
            terms = tuple((n, factor // b.known) for n, factor in a.terms)
            return Number(a.constant // b.known, terms, relative)
    return _unknown(operands)


def _fit(number: Number, type_: str, place: str, *, unsigned: bool = False) -> Number:
    """A known number as its type holds it."""
    value = number.known
    assert value is not None
    size = width(type_)
    if type_ == "i1":
        return Number(value & 1, relative=number.relative)
    fits = 0 <= value < 1 << size if unsigned else -(1 << size - 1) <= value < 1 << size - 1
    if not fits and (number.relative or type_ == "index"):
        bits = "i64" if type_ == "index" else type_
        message = f"{place} gives {value}, which {bits} cannot hold"
        return Number(None, failure=Failure(ExtentOverflow, message, place, value))
    return Number(_signed(value, size), relative=number.relative)


def _signed(value: int, size: int) -> int:
    bits = value & (1 << size) - 1
    return bits - (1 << size) if bits >> size - 1 else bits


def _unsigned(value: int, type_: str) -> int:
    return value & (1 << width(type_)) - 1


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _on_bits(function: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    """A function of unsigned numbers, given signed ones."""

    def on_bits(a: int, b: int, size: int) -> int:
        mask = (1 << size) - 1
        return _signed(function(a & mask, b & mask), size)

    return on_bits


_LINEAR: Mapping[str, Callable[[Number, Number], Number]] = {
    "arith.addi": add,
    "arith.subi": lambda a, b: add(a, b, -1),
    "arith.muli": multiply,
}

_CASTS = {
    "arith.index_cast": False,
    "arith.index_castui": True,
    "arith.extsi": False,
    "arith.extui": True,
    "arith.trunci": False,
}
"""Casts between integers, and whether they read the operand as unsigned."""

_DIVISIONS: Mapping[str, Callable[[int, int, int], int]] = {
    "arith.divsi": lambda a, b, _: _truncated(a, b),
    "arith.floordivsi": lambda a, b, _: a // b,
    "arith.ceildivsi": lambda a, b, _: -(-a // b),
    "arith.remsi": lambda a, b, _: a - b * _truncated(a, b),
    "arith.divui": _on_bits(lambda a, b: a // b),
    "arith.ceildivui": _on_bits(lambda a, b: -(-a // b)),
    "arith.remui": _on_bits(lambda a, b: a % b),
}

_BINARY: Mapping[str, Callable[[int, int, int], int]] = {
    **_DIVISIONS,
    "arith.maxsi": lambda a, b, _: max(a, b),
    "arith.minsi": lambda a, b, _: min(a, b),
    "arith.maxui": _on_bits(max),
    "arith.minui": _on_bits(min),
    "arith.andi": lambda a, b, _: a & b,
    "arith.ori": lambda a, b, _: a | b,
    "arith.xori": lambda a, b, _: a ^ b,
    # A shift by the width or more gives 0, or the sign.
    "arith.shli": lambda a, b, size: a << b if 0 <= b < size else 0,
    "arith.shrsi": lambda a, b, size: a >> (b if 0 <= b < size else size),
    "arith.shrui": _on_bits(lambda a, b: a >> min(b, 64)),
}

_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
}
