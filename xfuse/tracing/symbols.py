"""Extents while tracing: integer expressions of named core dimensions, in a normal form that decides equality."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Union

from xfuse.errors import TracingError

Atom = Union[str, "Floor"]
_Terms = tuple[tuple[tuple[Atom, ...], int], ...]


@dataclass(frozen=True)
class Floor:
    """A quotient rounded down, by a positive integer, that does not come out."""

    numerator: Symbol
    divisor: int

    def __str__(self) -> str:
        inner = str(self.numerator)
        return f"{inner if inner.isidentifier() else f'({inner})'}//{self.divisor}"


@dataclass(frozen=True)
class Symbol:
    """A sum of products of names and floor quotients, each product with its coefficient."""

    terms: _Terms = ()

    @property
    def constant(self) -> int | None:
        """The integer that the symbol is, or None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @property
    def is_name(self) -> bool:
        """Whether the symbol is a core dimension's name alone."""
        return len(self.terms) == 1 and self.terms[0][1] == 1 and list(map(type, self.terms[0][0])) == [str]

    @property
    def is_natural(self) -> bool:
        """Whether no term is negative, so that the value is none for any extents."""
        return all(
            count >= 0 and all(isinstance(atom, str) or atom.numerator.is_natural for atom in atoms)
            for atoms, count in self.terms
        )

    def __add__(self, other: Symbol) -> Symbol:
        found = dict(self.terms)
        for atoms, count in other.terms:
            found[atoms] = found.get(atoms, 0) + count
        return _normal(found)

    def __sub__(self, other: Symbol) -> Symbol:
        return self + _normal({atoms: -count for atoms, count in other.terms})

    def __mul__(self, other: Symbol) -> Symbol:
        found: dict[tuple[Atom, ...], int] = {}
        for left, count in self.terms:
            for right, times in other.terms:
                atoms = tuple(sorted((*left, *right), key=str))
                found[atoms] = found.get(atoms, 0) + count * times
        return _normal(found)

    def __floordiv__(self, divisor: int) -> Symbol:
        whole = {atoms: count // divisor for atoms, count in self.terms if atoms == () or count % divisor == 0}
        rest = _normal({atoms: count for atoms, count in self.terms if atoms and count % divisor})
        if rest.terms:
            # What does not come out stays together with the constant: floor((a + b) / d) is no sum of floors.
            left = whole.pop((), 0) * divisor + dict(self.terms).get((), 0) % divisor
            whole[()] = left // divisor
            rest = rest + number(left % divisor)
            return _normal(whole) + Symbol((((Floor(rest, divisor),), 1),))
        return _normal(whole)

    def divide(self, other: Symbol) -> Symbol | None:
        """The exact quotient by a single product, or None if it does not come out."""
        if len(other.terms) != 1:
            return number(1) if self == other else None
        ((atoms, times),) = other.terms
        found: dict[tuple[Atom, ...], int] = {}
        for own, count in self.terms:
            left = list(own)
            for atom in atoms:
                if atom not in left:
                    return None
                left.remove(atom)
            if count % times:
                return None
            found[tuple(left)] = count // times
        return _normal(found)

    def __str__(self) -> str:
        text = ""
        for atoms, count in self.terms:
            alone = len(atoms) == 1 and count == 1
            product = "*".join(f"({atom})" if isinstance(atom, Floor) and not alone else str(atom) for atom in atoms)
            size = product if abs(count) == 1 and product else f"{abs(count)}{f'*{product}' if product else ''}"
            text += f" {'-' if count < 0 else '+'} {size}" if text else f"{'-' if count < 0 else ''}{size}"
        return text or "0"


def number(value: int) -> Symbol:
    """The symbol of an integer."""
    return Symbol((((), value),)) if value else Symbol()


def named(name: str) -> Symbol:
    """The symbol of a core dimension."""
    return Symbol((((name,), 1),))


def product(symbols: Iterable[Symbol]) -> Symbol:
    """The product of some symbols."""
    result = number(1)
    for each in symbols:
        result = result * each
    return result


def _normal(terms: Mapping[tuple[Atom, ...], int]) -> Symbol:
    kept = [(atoms, count) for atoms, count in terms.items() if count]
    return Symbol(tuple(sorted(kept, key=lambda term: (-len(term[0]), tuple(map(str, term[0]))))))


@dataclass(frozen=True)
class Dimensions:
    """A signature: the core dimensions of each argument and result; ``results`` is None where nothing is said of
    them."""

    arguments: tuple[tuple[Symbol, ...], ...]
    results: tuple[tuple[Symbol, ...], ...] | None

    def __str__(self) -> str:
        sides = (self.arguments, self.results or ())
        left, right = (",".join(f"({','.join(map(str, each))})" for each in side) for side in sides)
        return f"{left}->{right}"


def parse_signature(text: str) -> Dimensions:
    """A gufunc signature: ``(m,n),(n)->(m)``. A dimension may also be an integer, or an expression of names and
    integers with ``+ - * //``, which says what an argument's extent is known to be: ``(2*h),(h)->(2*h)``.

    Raises `TracingError` for text that is none.
    """
    left, arrow, right = text.partition("->")
    if not arrow:
        raise TracingError(f"signature {text!r} has no '->'; expected one like '(m,n),(n)->(m)'")
    return Dimensions(_side(left, text), _side(right, text))


def _side(text: str, signature: str) -> tuple[tuple[Symbol, ...], ...]:
    groups: list[str] = []
    depth, start = 0, 0
    for position, letter in enumerate(f"{text},"):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            groups.append(text[start:position].strip())
            start = position + 1
    for each in groups:
        if not re.fullmatch(r"\(.*\)", each):
            raise TracingError(
                f"signature {signature!r}: expected core dimensions in parentheses, '()' for a scalar, got {each!r}"
            )
    return tuple(
        tuple(_dimension(each.strip(), signature) for each in group[1:-1].split(",") if group[1:-1].strip())
        for group in groups
    )


def _dimension(text: str, signature: str) -> Symbol:
    try:
        return _evaluate(ast.parse(text, mode="eval").body)
    except (SyntaxError, LookupError):
        raise TracingError(
            f"signature {signature!r}: expected a name, an integer or an expression of them with + - * //, got {text!r}"
        ) from None


def _evaluate(tree: ast.expr) -> Symbol:
    match tree:
        case ast.Name(id=name):
            return named(name)
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return number(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _evaluate(left) + _evaluate(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _evaluate(left) - _evaluate(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _evaluate(left) * _evaluate(right)
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int(divisor))) if divisor > 0:
            return _evaluate(left) // divisor
        case _:
            raise LookupError(ast.dump(tree))
