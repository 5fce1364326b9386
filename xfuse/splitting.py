"""Taking apart the generics whose bodies' borders a match crosses, and no others (rule R11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, SSAValue

from xfuse.canonical.operands import is_inside
from xfuse.match.choose import Gate, Match, Matches, Split, attempts_at
from xfuse.match.escapes import Escape
from xfuse.match.index import PatternIndex
from xfuse.match.refusal import Refusal
from xfuse.normalization import Replacement, taken_apart

_CROSSING = frozenset({"inside-body", "outside-recipe", "escape", "alias"})
"""Why ops are refused that a match would take only a part of, or in which it finds an argument as a literal."""


@dataclass
class Splitter:
    """Takes generics apart where that lets a recipe match.

    A refusal names a generic of which the recipe is only a part. That generic is taken apart and the place looked at
    again, which may name another one; if no match comes of it, all of them are put back.
    """

    index: PatternIndex
    gate: Gate
    budget: int | None = None
    escape: Escape = "refuse"
    _alone: dict[str, PatternIndex | None] = field(default_factory=dict[str, PatternIndex | None])

    def split(self, found: Matches, look: Callable[[], Matches]) -> Matches:
        """Take apart what matches need that ``found`` refuses; gives what is found then, by a look.

        A split stays only if its match is among those that the look chooses (rule R7).
        """
        splits: list[Split] = []
        barred: set[tuple[str, Operation | None]] = set()
        while True:
            trials = list(self._trials(found.refusals, barred))
            if not trials:
                found.splits = splits
                return found
            after = look()
            chosen = {(match.recipe.name, match.root) for match in after.chosen}
            lost = [trial for trial in trials if (trial.match.recipe.name, trial.match.root) not in chosen]
            if not lost:
                found = after
                splits.extend(Split(part.op, trial.match) for trial in trials for part in trial.parts)
                continue
            for trial in reversed(trials):
                _put_back(trial.parts)
            barred.update(_place(trial.refusal) for trial in lost)

    def _trials(self, refusals: Sequence[Refusal], barred: set[tuple[str, Operation | None]]) -> Iterator[_Trial]:
        """Splits that let a recipe match, the largest recipes first; no two of them touch the same ops."""
        tried = set(barred)
        claimed: set[Operation] = set()
        for refusal in sorted(refusals, key=lambda each: -each.size):
            place = _place(refusal)
            if refusal.root is None or place in tried or claimed.intersection(_around(refusal.root)):
                continue
            tried.add(place)
            trial = self._try(refusal, claimed)
            if trial is not None:
                claimed.update(trial.match.ops, (part.op for part in trial.parts))
                yield trial

    def _try(self, refusal: Refusal, claimed: set[Operation]) -> _Trial | None:
        parts: list[_Part] = []
        root, current = refusal.root, refusal
        while True:
            generic = _crossed(current)
            part = None if generic is None or generic in claimed else _Part.of(generic)
            if part is None or root is None:
                _put_back(parts)
                return None
            parts.append(part)
            root = part.follow(root)
            found = self._look_at(root, refusal.recipe)
            match = next((each for each in found if isinstance(each, Match)), None)
            if match is not None:
                return _Trial(refusal, parts, match)
            refused = (each for each in found if isinstance(each, Refusal) and _crossed(each) is not None)
            current = next(refused, current)

    def _look_at(self, root: Operation | None, name: str) -> list[Match | Refusal]:
        if name not in self._alone:
            recipe = next((each for each in self.index.recipes if each.name == name), None)
            self._alone[name] = None if recipe is None else PatternIndex((recipe,))
        index = self._alone[name]
        if root is None or index is None:
            return []
        return attempts_at(root, index, self.gate, budget=self.budget, escape=self.escape)


@dataclass
class _Trial:
    refusal: Refusal
    parts: list[_Part]
    match: Match


@dataclass
class _Part:
    """A generic that was taken apart, and all that it takes to put it back."""

    op: Operation
    replacement: Replacement
    uses: list[tuple[int, Operation, int]]
    names: list[str | None]
    operands: list[tuple[Operation, list[SSAValue]]]

    @staticmethod
    def of(op: Operation) -> _Part | None:
        """Take a generic apart, if it can be."""
        replacement = None if op.parent is None else taken_apart(op)
        if replacement is None:
            return None
        uses = [(n, use.operation, use.index) for n, result in enumerate(op.results) for use in result.uses]
        names = [result.name_hint for result in replacement.results]
        outer = [each for each in op.walk() if any(not is_inside(value, op) for value in each.operands)]
        part = _Part(op, replacement, uses, names, [(each, list(each.operands)) for each in outer])
        replacement.put_before(op)
        op.detach()
        for each in outer:  # it is no use of them any more
            each.operands = ()
        return part

    def put_back(self) -> None:
        """Have everything as it was."""
        for each, operands in self.operands:
            each.operands = operands
        first = self.replacement.ops[0]
        assert first.parent is not None
        first.parent.insert_op_before(self.op, first)
        for number, user, index in self.uses:
            user.operands[index] = self.op.results[number]
        for result, name in zip(self.replacement.results, self.names, strict=True):
            result.name_hint = name
        for made in reversed(self.replacement.ops):
            made.detach()
            made.erase()

    def follow(self, op: Operation) -> Operation | None:
        """The op that computes now what an op computed before; None if there is no such one."""
        if op is self.op:
            value = self.replacement.results[0]
        elif op.parent_op() is self.op:
            value = self.replacement.inner.get(op.results[0])
        else:
            return op
        return value.owner if value is not None and isinstance(value.owner, Operation) else None


def _put_back(parts: Sequence[_Part]) -> None:
    for part in reversed(parts):
        part.put_back()


def _place(refusal: Refusal) -> tuple[str, Operation | None]:
    return refusal.recipe, refusal.root


def _crossed(refusal: Refusal) -> GenericOp | None:
    """The generic of which a match is only a part, by what its refusal says."""
    if refusal.reason not in _CROSSING:
        return None
    op = refusal.op or refusal.root
    if refusal.reason == "inside-body" and op is not None and not isinstance(op, GenericOp):
        op = op.parent_op()
    if not isinstance(op, GenericOp):
        return None
    # Taken apart, a body has no constants any more.
    made = refusal.reason != "alias" or any(inner.name == "arith.constant" for inner in op.regions[0].block.ops)
    return op if made else None


def _around(op: Operation) -> tuple[Operation, ...]:
    holder = op.parent_op()
    return (op,) if holder is None else (op, holder)
