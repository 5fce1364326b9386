"""Whole numbers that are not known yet, as linear expressions, and what follows from inequalities between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Linear(NamedTuple):
    """``constant`` plus a sum of atoms, each with its factor; atoms are whole numbers known by a name."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    def plus(self, other: Linear | int, factor: int = 1) -> Linear:
        """The sum of this and ``factor`` times another."""
        if isinstance(other, int):
            return Linear(self.terms, self.constant + factor * other)
        factors = dict(self.terms)
        for atom, each in other.terms:
            factors[atom] = factors.get(atom, 0) + factor * each
        terms = tuple(sorted((atom, each) for atom, each in factors.items() if each))
        return Linear(terms, self.constant + factor * other.constant)

    def minus(self, other: Linear | int) -> Linear:
        """The difference."""
        return self.plus(other, -1)

    def times(self, factor: int) -> Linear:
        """A multiple."""
        return number(0).plus(self, factor)

    @property
    def literal(self) -> int | None:
        """The number, if it is known."""
        return None if self.terms else self.constant

    def __str__(self) -> str:
        parts = [atom if factor == 1 else f"{factor}*{atom}" for atom, factor in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


def number(value: int) -> Linear:
    """A number that is known."""
    return Linear((), value)


def atom(name: str) -> Linear:
    """A number known by its name."""
    return Linear(((name, 1),), 0)


_MOST_CONSTRAINTS = 500


def contradictory(constraints: Iterable[Linear]) -> bool:
    """Whether no whole numbers make all these expressions zero or more, as far as elimination can tell.

    Fourier and Motzkin's elimination of one atom after the other, each inequality tightened to whole numbers. False
    also means that there were too many inequalities.
    """
    left = {_tightened(each) for each in constraints}
    while True:
        if any(not each.terms and each.constant < 0 for each in left):
            return True
        left = {each for each in left if each.terms}
        if not left or len(left) > _MOST_CONSTRAINTS:
            return False
        chosen = min(sorted({name for each in left for name, _ in each.terms}), key=lambda name: _work(left, name))
        lower = [each for each in left if dict(each.terms).get(chosen, 0) > 0]
        upper = [each for each in left if dict(each.terms).get(chosen, 0) < 0]
        left = {each for each in left if chosen not in dict(each.terms)}
        left.update(_tightened(_without(chosen, low, high)) for low in lower for high in upper)


def _work(constraints: Iterable[Linear], name: str) -> int:
    factors = [dict(each.terms).get(name, 0) for each in constraints]
    return sum(each > 0 for each in factors) * sum(each < 0 for each in factors)


def _without(name: str, lower: Linear, upper: Linear) -> Linear:
    below, above = dict(lower.terms)[name], -dict(upper.terms)[name]
    return lower.times(above).plus(upper, below)


def _tightened(constraint: Linear) -> Linear:
    divisor = math.gcd(*(factor for _, factor in constraint.terms)) if constraint.terms else 1
    if divisor <= 1:
        return constraint
    return Linear(tuple((name, factor // divisor) for name, factor in constraint.terms), constraint.constant // divisor)


def follows(goal: Linear, facts: Sequence[Linear]) -> bool:
    """Whether ``goal`` is zero or more wherever all facts are."""
    return contradictory([*facts, number(-1).minus(goal)])
