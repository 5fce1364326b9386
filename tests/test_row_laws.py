"""The laws over random recipes with core dimensions: found in what they emit, run alike, put back."""

from __future__ import annotations

import numpy as np
import pytest
from random_rows import SEEDS, programs, random_recipe
from reference_programs import fused, fused_ops, session

import xfuse
from xfuse.kernels import as_tuple


@pytest.mark.parametrize("seed", SEEDS)
def test_random_rows_are_found_run_and_put_back(seed: int) -> None:
    """Laws L1, L2, L3, L7, L8: what is emitted is one match, with the recipe's own kernel, or refused by a rule."""
    recipe, has_fold = random_recipe(seed)
    current = session(recipe)
    found = 0
    cases = programs(recipe, has_fold)
    for module, shapes in cases:
        copy = fused(module, current)
        ops = fused_ops(copy)
        if not ops:
            reasons = {(refusal.rule, refusal.reason) for refusal in current.match(module).refusals}
            assert reasons & {("R3", "two-carriers"), ("R3", "instance"), ("R8", "order")}
            continue
        found += 1
        instance = current.recipe_of(ops[0])
        assert instance is not None
        assert instance.identity == recipe.identity
        rng = np.random.default_rng(seed)
        arrays = [np.asarray(rng.standard_normal(shape)) for shape in shapes]
        plain = as_tuple(xfuse.compile(module, backend="numpy", session=current)(*arrays))
        program = xfuse.compile(copy, backend="numpy", session=current)
        assert len(program.rows) == 1, program.inlined
        for one, other in zip(plain, as_tuple(program(*arrays)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert found >= len(cases) / 3
