"""Recipes that are matrix products over the right loops: NumPy has a better kernel for these than we make."""

from __future__ import annotations

from functools import lru_cache

from xfuse.recipes import Recipe


@lru_cache(maxsize=4096)
def is_contraction(recipe: Recipe) -> bool:
    """Whether a recipe sums a product of two arguments and reads neither these nor the product elsewhere.

    Over loop dimensions that the two do not share that is a matrix product, which NumPy leaves to BLAS.
    """
    form = recipe.form(recipe.uses[0])
    nodes = form.graph.nodes
    arguments = {value.node for value in form.arguments}
    readers: dict[int, int] = {}
    for number in form.closing.order:
        for child in {reference.node for reference in nodes[number].references}:
            readers[child] = readers.get(child, 0) + 1
    for number in form.closing.order:
        node = nodes[number]
        if node.kind != "reduce" or dict(node.attributes)["combine"] != "arith.addf":
            continue
        made = node.references[0].node
        product = nodes[made]
        factors = {reference.node for reference in product.references}
        if product.kind == "arith.mulf" and len(factors) == 2 and factors <= arguments:
            return all(readers[each] == 1 for each in (made, *factors))
    return False
