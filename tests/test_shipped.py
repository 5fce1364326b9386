"""The quick look at the shipped files' text, which decides what a pass loads, agrees with the recipes themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from xfuse.errors import RecipeError
from xfuse.fusion import fuse
from xfuse.library import files_for, library_files, recipe_ops
from xfuse.parser import load_module, parse_module
from xfuse.passes.options import choose_recipes, module_session
from xfuse.recipes import recipes_of
from xfuse.session import Session
from xfuse.shipped import shipped_recipes

CORPUS = Path(__file__).parent / "corpus" / "dev"
SMALL = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %d = arith.subf %x, %y : tensor<4xf32>
  %r = math.tanh %d : tensor<4xf32>
  return %r : tensor<4xf32>
}"""


@pytest.mark.parametrize("path", library_files(), ids=lambda path: path.stem)
def test_the_ops_read_off_the_text_are_needed_by_the_form(path: Path) -> None:
    """Else a recipe could be left out of a pass that would have found it."""
    recipes = recipes_of(load_module(path))
    assert [recipe.name for recipe in recipes] == list(recipe_ops(path))
    for recipe in recipes:
        for element_type in recipe.uses:
            form = recipe.form(element_type)
            nodes = [form.graph.nodes[number] for number in form.graph.reachable(r.node for r in form.results)]
            kinds = {node.kind for node in nodes} | {dict(node.attributes).get("combine") for node in nodes}
            assert recipe_ops(path)[recipe.name] <= kinds


def test_only_files_that_may_matter_are_chosen() -> None:
    assert [path.stem for path in files_for({"arith.subf", "math.tanh"})] == ["tanh_sub"]
    assert {"tanh_sub", "relu"} <= {path.stem for path in files_for({"arith.subf", "math.tanh"}, ["relu_torch"])}
    assert files_for((), ["no_such_recipe"]) == library_files()


@pytest.mark.parametrize("name", ["adam_step", "black_scholes", "torch_losses", "activations_multi"])
@pytest.mark.parametrize("spelling", ["linalg", "tensor"])
def test_a_program_is_fused_alike_with_the_whole_library(name: str, spelling: str) -> None:
    narrow = load_module(CORPUS / name / f"{name}.{spelling}.mlir")
    whole = narrow.clone()
    with Session():
        session = module_session(narrow, names=())
    fuse(narrow, session.registry.entries(), session.gate())
    everything = Session()
    assert len(session.registry) < len(everything.registry)
    fuse(whole, everything.registry.entries(), everything.gate())
    assert str(narrow) == str(whole)


def test_an_unknown_name_is_still_an_error_that_lists_the_families() -> None:
    with Session():
        session = module_session(parse_module(SMALL), names=("nonesuch",))
    with pytest.raises(RecipeError, match="swiglu"):
        choose_recipes(session, ("nonesuch",), ())


def test_shipped_recipes_are_parsed_once() -> None:
    assert all(a is b for a, b in zip(shipped_recipes(), shipped_recipes(), strict=True))
