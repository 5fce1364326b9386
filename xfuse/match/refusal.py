"""Why something that looked like a match is none: refusals are values (rule R10)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation


@dataclass(frozen=True)
class Refusal:
    """A candidate root that was turned down.

    ``rule`` is the number of the matching rule ("R4"), ``reason`` one word for it ("escape"), ``message`` a sentence
    with what was expected and found, ``op`` the op at fault if it is one, ``matched`` how many ops of the recipe
    were found before it failed.
    """

    recipe: str
    rule: str
    reason: str
    message: str
    op: Operation | None = None
    matched: int = 0

    def __str__(self) -> str:
        where = "" if self.op is None else f" at {describe(self.op)}"
        return f"@{self.recipe} refused ({self.rule} {self.reason}){where}: {self.message}"


def describe(op: Operation) -> str:
    """An op as a message names it: its results' names and its own."""
    names = ", ".join(f"%{result.name_hint}" if result.name_hint else "%?" for result in op.results)
    return f"'{names} = {op.name}'" if names else f"'{op.name}'"
