"""Fusing a module: match, choose, rewrite, until nothing more is found (law L7)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xfuse.collector import paused_collector
from xfuse.match.choose import Gate, Match, Matches, find_matches
from xfuse.match.escapes import Escape
from xfuse.match.index import index_of
from xfuse.match.rewrite import apply
from xfuse.recipes import Recipe
from xfuse.splitting import Splitter
from xfuse_dialects.xfuse import YIELDING, RecipeOp


def fuse(
    module: Operation,
    recipes: Sequence[Recipe],
    gate: Gate,
    *,
    budget: int | None = None,
    explain: bool = False,
    escape: Escape = "refuse",
    split: bool = False,
) -> list[Matches]:
    """Put a fused op in place of every chosen match of some recipes; returns what each round found.

    A round that may have left something, since a match lost to an overlapping one or was refused, is followed by
    another. The last round's refusals are those that remain; with ``explain`` they hold every root that differs from
    the recipe's, and where. ``escape`` says what becomes of a match whose inner value is used outside it (rule R4).
    With ``split`` a generic is taken apart first where a match crosses the border of its body (rule R11).
    """
    index = index_of(recipes)
    splitter = Splitter(index, gate, budget, escape) if split else None

    def look() -> Matches:
        return find_matches(module, index, gate, budget=budget, explain=explain, escape=escape)

    rounds: list[Matches] = []
    while True:
        with paused_collector():
            found = look() if splitter is None else splitter.split(look(), look)
            apply(found.chosen)
            _define(module, found.chosen)
        rounds.append(found)
        # What one round leaves unsaid, since another match has the value, may be what the next one splits for.
        if not found.chosen or (found.settled and not explain and not split):
            return rounds


def _define(module: Operation, matches: Sequence[Match]) -> None:
    """Put the recipes that matching made at the beginning of the module, so that it says what its labels mean."""
    made = [match.recipe for match in matches if YIELDING in match.recipe.op.attributes]
    if not made or not isinstance(module, ModuleOp):
        return
    known = {op.sym_name.data for op in module.body.block.ops if isinstance(op, RecipeOp)}
    for recipe in made:
        if recipe.name in known:
            continue
        known.add(recipe.name)
        first = module.body.block.first_op
        if first is None:
            module.body.block.add_op(recipe.op.clone())
        else:
            module.body.block.insert_op_before(recipe.op.clone(), first)
