"""Recipes that are matrix products over the right loops: NumPy has a better kernel for these than we make."""

from __future__ import annotations

from functools import lru_cache

from xfuse.recipes import Recipe


@lru_cache(maxsize=4096)
def is_contraction(recipe: Recipe) -> bool:
    """Whether a recipe sums a product of two arguments, widened or not, and reads neither these nor it elsewhere.

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
        sources = {nodes[each].references[0].node if nodes[each].kind == "arith.extf" else each for each in factors}
        if product.kind == "arith.mulf" and len(sources) == 2 and sources <= arguments:
            return all(readers[each] == 1 for each in (made, *factors, *sources))
    return False
