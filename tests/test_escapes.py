"""Rule R4: what becomes of a match whose inner value is used outside it."""

from __future__ import annotations

import random
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import Choices, RandomProgram, evaluate, order_problem, same_bits
from support import CORPUS, context
from xdsl.dialects.builtin import ModuleOp

import xfuse
from xfuse.decomposition import decompose_all
from xfuse.errors import ParsingError
from xfuse.fusion import fuse
from xfuse.parser import parse_module
from xfuse.recipes import Recipe, recipes_of
from xfuse.session import Session, fresh_session
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp

VARIANTS = CORPUS / "variants"
FAMILIES = {
    "relu_add": "add_relu",
    "gelu_tanh": "gelu_tanh",
    "silu_mul": "swiglu",
    "softmax": "softmax",
    "layernorm": "layer_norm_affine",
    "rmsnorm": "rms_norm_weighted",
}
SESSION = Session()
PRODUCT_SUM = """xfuse.recipe @product_sum(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
  %p = arith.mulf %x, %y : f64 %r = arith.addf %p, %x : f64 xfuse.yield %r : f64 }"""
PRODUCT_LESS = """xfuse.recipe @product_less(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
  %p = arith.mulf %x, %y : f64 %r = arith.subf %p, %x : f64 xfuse.yield %r : f64 }"""


def labels(module: ModuleOp) -> list[str | None]:
    return [op.label for op in module.walk() if isinstance(op, FusedOp)]


def duplicated(module: ModuleOp) -> list[list[int]]:
    ops = [op for op in module.walk() if isinstance(op, FusedOp)]
    return [[] if op.duplicated is None else list(op.duplicated.get_values()) for op in ops]


def function(body: str, results: int) -> ModuleOp:
    types = ", ".join(["tensor<4xf32>"] * results)
    return parse_module(
        f"func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> ({types}) {{\n{body}\n}}", "main.mlir", context()
    )


def own(module: ModuleOp, *recipes: str) -> None:
    """Fuse with some recipes and nothing else, escaping ops duplicated."""
    with fresh_session(library=False) as session:
        for recipe in recipes:
            session.register(recipe)
        fuse(module, session.registry.entries(), session.gate("numpy"), escape="duplicate")
    module.verify()
    assert order_problem(module) is None


@pytest.mark.parametrize("pattern", FAMILIES)
def test_the_corpus_escapes_match_under_duplicate(pattern: str) -> None:
    """Refused by default; found if copies are allowed; and the very spelling comes back, also through text (L2)."""
    module = xfuse.load_module(VARIANTS / pattern / "escape.mlir")
    original = module.clone()
    recipes, gate = SESSION.registry.select((FAMILIES[pattern],)), SESSION.gate("auto")
    assert not fuse(module, recipes, gate)[0].chosen
    fuse(module, recipes, gate, escape="duplicate")
    module.verify()
    assert order_problem(module) is None
    assert len(labels(module)) == 1
    assert duplicated(module) != [[]]
    once = str(module)
    assert not fuse(module, recipes, gate, escape="duplicate")[0].chosen
    assert str(module) == once
    reread = parse_module(once, context=context())
    for each in (module, reread):
        decompose_all(each)
        each.verify()
        assert program_difference(original, each) is None


def test_only_what_escapes_is_kept_with_what_it_is_made_of() -> None:
    """exp(-x) escapes from silu: the negation and the exponential stay, the rest is gone."""
    module = function(
        """%one = arith.constant dense<1.0> : tensor<4xf32>
      %n = arith.negf %x : tensor<4xf32>
      %e = math.exp %n : tensor<4xf32>
      %d = arith.addf %e, %one : tensor<4xf32>
      %r = arith.divf %x, %d : tensor<4xf32>
      return %r, %e : tensor<4xf32>, tensor<4xf32>""",
        2,
    )
    fuse(module, SESSION.registry.select(("silu",)), SESSION.gate("numpy"), escape="duplicate")
    (main,) = module.body.block.ops
    assert [op.name for op in main.regions[0].block.ops] == ["arith.negf", "math.exp", "xfuse.fused", "func.return"]
    assert duplicated(module) == [[1, 2]]


def test_two_matches_share_an_inner_value() -> None:
    """The second match takes in what the first one kept; each inner value comes back once (L2)."""
    module = function(
        """%p = arith.mulf %x, %y : tensor<4xf32>
      %a = arith.addf %p, %x : tensor<4xf32>
      %b = arith.subf %p, %x : tensor<4xf32>
      return %a, %b : tensor<4xf32>, tensor<4xf32>""",
        2,
    )
    original = module.clone()
    own(module, PRODUCT_SUM, PRODUCT_LESS)
    assert sorted(map(str, labels(module))) == ["product_less", "product_sum"]
    assert not any(op.name == "arith.mulf" and not isinstance(op.parent_op(), FusedOp) for op in module.walk())
    decompose_all(module)
    assert program_difference(original, module) is None


def test_a_path_may_leave_and_come_back() -> None:
    """R5 with copies: y of the match is computed from an inner value of it, which stays."""
    recipe = """xfuse.recipe @outer(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
      %e = math.exp %x : f64 %r = arith.mulf %e, %y : f64 xfuse.yield %r : f64 }"""
    module = function(
        """%e = math.exp %x : tensor<4xf32>
      %s = math.sin %e : tensor<4xf32>
      %r = arith.mulf %e, %s : tensor<4xf32>
      return %r : tensor<4xf32>""",
        1,
    )
    original = module.clone()
    own(module, recipe)
    assert labels(module) == ["outer"]
    decompose_all(module)
    assert program_difference(original, module) is None


@pytest.mark.parametrize("pattern", FAMILIES)
def test_the_corpus_escapes_match_under_yield(pattern: str) -> None:
    """A variant of the recipe gives the escaping values too; it runs as a kernel, and the spelling comes back (L2)."""
    module = xfuse.load_module(VARIANTS / pattern / "escape.mlir")
    original = module.clone()
    session = Session()
    recipes, gate = session.registry.select((FAMILIES[pattern],)), session.gate("auto")
    fuse(module, recipes, gate, escape="yield")
    module.verify()
    assert order_problem(module) is None
    (label,) = labels(module)
    assert label is not None
    assert "_yielding_" in label
    (recipe,) = recipes_of(module)
    assert (recipe.name, len(recipe.result_types) > 1) == (label, True)
    once = str(module)
    assert not fuse(module, recipes, gate, escape="yield")[0].chosen
    assert str(module) == once
    run = xfuse.compile(parse_module(once, context=context()), session=session)
    assert [row.identity for row in run.rows] == [recipe.identity]
    inputs = list(np.load(VARIANTS / pattern / "inputs.npz").values())
    expected = list(np.load(VARIANTS / pattern / "outputs_escape.npz").values())
    results = run(*inputs)
    for result, wanted in zip(results, expected[: len(results)], strict=True):
        assert np.allclose(result, wanted, rtol=2e-5, atol=1e-6)
    for each in (module, parse_module(once, context=context())):
        decompose_all(each)
        each.verify()
        assert program_difference(original, each) is None


def test_a_variant_needs_a_kernel_of_its_own() -> None:
    """L4: it is gated like any other recipe; without a kernel the match is refused as the escape that it is."""
    module = xfuse.load_module(VARIANTS / "relu_add" / "escape.mlir")
    session = Session()
    recipes = session.registry.select(("add_relu",))

    def admits(recipe: Recipe, dtypes: object) -> str | None:
        return "numpy" if len(recipe.result_types) == 1 else None

    found = fuse(module, recipes, admits, escape="yield")[0]
    assert not found.chosen
    assert ("R4", "escape") in {(each.rule, each.reason) for each in found.refusals}


def test_variants_of_one_recipe_are_defined_once_each() -> None:
    """Two functions with one escape, one with another: two recipes, three fused ops; a name says which ops escape."""
    body = """%one = arith.constant dense<1.0> : tensor<4xf32>
      %n = arith.negf %x : tensor<4xf32>
      %e = math.exp %n : tensor<4xf32>
      %d = arith.addf %e, %one : tensor<4xf32>
      %r = arith.divf %x, %d : tensor<4xf32>"""
    text = "\n".join(
        f"func.func @{name}(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{\n{body}\n"
        f"return %r, %{escaping} : tensor<4xf32>, tensor<4xf32>\n}}"
        for name, escaping in (("f", "e"), ("g", "e"), ("h", "d"))
    )
    module = parse_module(text, context=context())
    original = module.clone()
    recipes = SESSION.registry.select(("silu",))
    fuse(module, recipes, SESSION.gate("numpy"), escape="yield")
    defined = [recipe.name for recipe in recipes_of(module)]
    assert len(set(defined)) == len(defined) == 2
    assert len(labels(module)) == 3
    assert set(labels(module)) == set(defined)
    decompose_all(module)
    assert program_difference(original, module) is None


@pytest.mark.parametrize("position", [-1, 2, 7])
def test_positions_that_the_region_lacks_do_not_verify(position: int) -> None:
    text = f"""func.func @main(%x: f32) -> f32 {{
      %r = xfuse.fused @f (%a = %x : f32) -> f32 attributes {{duplicated = array<i64: {position}>}} {{
        %n = arith.negf %a : f32
        %e = math.exp %n : f32
        xfuse.yield %e : f32
      }}
      return %r : f32
    }}"""
    with pytest.raises(ParsingError, match=r"duplicated names op .* of a region of 2 ops"):
        parse_module(text)
    parse_module(text.replace(f"<i64: {position}>", "<i64: 0, 1>"))


@settings(max_examples=120, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.tuples(st.integers(2, 6), st.integers(0, 2**32 - 1)), st.sampled_from(["duplicate", "yield"]))
def test_laws_of_random_programs_with_escapes(drawn: tuple[int, int], escape: Literal["duplicate", "yield"]) -> None:
    """L2, L3, L7 and L8 where escaping values are allowed."""
    size, seed = drawn
    program = RandomProgram(random.Random(seed), None, Choices(size=(1, size)))
    module = parse_module(program.text, context=context())
    original, arrays = module.clone(), program.arrays(seed)
    plain = evaluate(module, arrays)
    recipes, gate = SESSION.registry.entries(), SESSION.gate("numpy")
    fuse(module, recipes, gate, escape=escape)
    module.verify()
    assert order_problem(module) is None
    assert all(map(same_bits, plain, evaluate(module, arrays)))
    once = str(module)
    assert not fuse(module, recipes, gate, escape=escape)[0].chosen
    assert str(module) == once
    decompose_all(module)
    module.verify()
    assert program_difference(original, module) is None
