"""What was fused, what was not and why, in lines for people (rule R10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from xdsl.ir import Operation

from xfuse.errors import UnsupportedError
from xfuse.locations import source_line
from xfuse.match.choose import Loss, Match, Matches, Split
from xfuse.match.pattern import Pattern
from xfuse.match.refusal import Refusal, describe, locate
from xfuse.recipes import Recipe
from xfuse.session import Session
from xfuse_dialects.xfuse import FusedOp, RecipeOp


def explanation(found: Matches, later: Sequence[Matches] = ()) -> Iterator[str]:
    """What a look at a module found: each split and match with its ops, each that lost and to what, each refusal.

    ``later`` are matches of further rounds; a refusal or loss that one of them makes good is left out. Refusals come
    with those first that got furthest.
    """
    yield from (spell_split(split) for matches in (found, *later) for split in matches.splits)
    chosen = [match for matches in (found, *later) for match in matches.chosen]
    yield from map(spell_match, chosen)
    made_good = {(match.recipe.name, match.root) for match in chosen}
    yield from (spell_loss(loss) for loss in found.lost if (loss.match.recipe.name, loss.match.root) not in made_good)
    refusals = (refusal for refusal in found.refusals if (refusal.recipe, refusal.root) not in made_good)
    yield from map(str, sorted(refusals, key=shortfall))


def shortfall(refusal: Refusal) -> tuple[float, int]:
    """Which share of the recipe was not found; of equal shares the larger recipe comes first."""
    return (1 - refusal.matched / max(1, refusal.size), -refusal.size)


def spell_split(split: Split) -> str:
    """In one line, a generic that was taken apart and what for."""
    return f"split {locate(split.op)}: @{split.match.recipe.name} crosses the border of its body (rule R11)"


def spell_match(match: Match) -> str:
    """A match in one line."""
    ops = ", ".join(map(describe, match.ops))
    return f"fused @{match.recipe.name} on {match.backend} at {locate(match.root)}: {ops}"


def spell_loss(loss: Loss) -> str:
    """In one line, a match that was not chosen and the one that was in its way."""
    match, other = loss.match, loss.to
    why = "covers more ops" if len(other.ops) > len(match.ops) else "ranks before it"
    return (
        f"@{match.recipe.name} lost (R7 overlap) at {locate(match.root)}: "
        f"@{other.recipe.name} at {describe(other.root)} {why}"
    )


def changed_regions(module: Operation, session: Session) -> Iterator[str]:
    """A line for each fused op that is no instance of the recipe its label names."""
    for op in module.walk():
        if not isinstance(op, FusedOp) or op.label is None or session.registry.region(op.label) is None:
            continue
        known = session.recipe_of(op)
        if known is None or known.name != op.label:
            now = "no recipe that is registered" if known is None else f"@{known.name}"
            yield f"region changed since fusing: {locate(op)} is labelled @{op.label}, its region is {now}"


def ops_at(module: Operation, place: str) -> list[Operation]:
    """The ops outside of recipes that stand in a line of the source, or whose result has a name.

    ``place`` is a line number, or a name with or without its ``%``. Raises `UnsupportedError` if there is none.
    """
    name = place.removeprefix("%")
    found = [op for op in _ops_outside_recipes(module) if _stands_at(op, name)]
    if not found:
        what = f"line {place}" if place.isdigit() else f"the name %{name}"
        raise UnsupportedError(f"no op with a result is at {what}; give a line, or a result's name, of the file")
    return found


def _ops_outside_recipes(module: Operation) -> Iterator[Operation]:
    stack = [module]
    while stack:
        op = stack.pop()
        if isinstance(op, RecipeOp | FusedOp):
            continue
        if op.results:
            yield op
        stack.extend(inner for region in op.regions for block in region.blocks for inner in block.ops)


def _stands_at(op: Operation, place: str) -> bool:
    if place.isdigit():
        line = source_line(op)
        return line is not None and line.rsplit(":", 2)[1] == place
    return any(result.name_hint == place for result in op.results)


def unseen(found: Matches, recipes: Sequence[Recipe], roots: Collection[Operation] | None) -> Iterator[str]:
    """A line for each recipe that no op was a candidate root for."""
    seen = {match.recipe.name for match in found.chosen}
    seen.update(loss.match.recipe.name for loss in found.lost)
    seen.update(refusal.recipe for refusal in found.refusals)
    for recipe in recipes:
        if recipe.name in seen or roots is not None:
            continue
        ends = Pattern.of(recipe, recipe.uses[0]).kind
        types = ", ".join(recipe.element_types) or "the types it is written for"
        yield f"@{recipe.name} has no candidate: it ends in {ends} on {types}, and no op outside fused ops does"
