"""Variants of a recipe that give inner values as further results: what the escape policy ``yield`` fuses (rule R4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from xdsl.dialects.builtin import FunctionType, StringAttr, UnitAttr
from xdsl.ir import SSAValue

from xfuse.canonical.graph import Value
from xfuse.match.search import Place
from xfuse.recipes import Recipe
from xfuse_dialects.xfuse import YIELDING


@lru_cache(maxsize=4096)
def yielding(recipe: Recipe, element_type: str | None, nodes: tuple[int, ...]) -> Recipe | None:
    """The recipe that gives some inner nodes besides its results; None if none can be written.

    ``nodes`` are those of the recipe's form at an element type. The variant has the same ops under a name of its own,
    which says by number which of them give the further results.
    """
    values = recipe.values(element_type)
    op = recipe.op.clone()
    block = op.body.block
    last = block.last_op
    assert last is not None
    found: list[SSAValue] = []
    positions: list[str] = []
    for node in nodes:
        place = next(
            (
                (position, number)
                for position, inner in enumerate(recipe.op.body.block.ops)
                for number, result in enumerate(inner.results)
                if _is_whole(values.get(result), node)
            ),
            None,
        )
        if place is None:
            return None
        position, number = place
        found.append(list(block.ops)[position].results[number])
        positions.append(str(position))
    last.operands = [*last.operands, *found]
    inputs = op.function_type.inputs
    op.properties["function_type"] = FunctionType.from_lists(inputs.data, [each.type for each in last.operands])
    op.properties["sym_name"] = StringAttr(f"{recipe.name}_yielding_{'_'.join(positions)}")
    op.attributes[YIELDING] = UnitAttr()
    return Recipe(op, recipe.family)


def _is_whole(value: Value | None, node: int) -> bool:
    """Whether a value is a node as it is, neither repeated nor with its axes in another order."""
    return value is not None and value.node == node and value.index == tuple(range(len(value.extents)))


def inner_nodes(places: Mapping[int, Place], escaping: Iterable[int]) -> tuple[int, ...] | None:
    """The recipe's nodes that were found at some nodes of the program; None if one of these is no node of the match."""
    found: list[int] = []
    for wanted in dict.fromkeys(escaping):
        node = next((each for each, place in places.items() if place[0] == wanted), None)
        if node is None:
            return None
        found.append(node)
    return tuple(sorted(found))
