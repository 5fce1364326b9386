"""Things in an order in which each comes after those that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def postorder(roots: Sequence[T], below: Callable[[T], Sequence[T]]) -> list[T]:
    """The roots and all that is below them, each thing once, behind what is below it; first things first.

    There is no recursion, and a circle is cut where it is entered.
    """
    order: list[T] = []
    entered: set[T] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        current, ready = stack.pop()
        if ready:
            order.append(current)
        elif current not in entered:
            entered.add(current)
            stack.append((current, True))
            stack.extend((each, False) for each in reversed(below(current)) if each not in entered)
    return order
