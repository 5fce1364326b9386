"""Rule R11 with split=true: matches that cross the border of a body have it taken apart first, and nothing else has."""

from __future__ import annotations

import pytest
from random_programs import order_problem
from rule_programs import (
    KINDS,
    PROGRAMS,
    RECIPES,
    TYPE,
    Kind,
    alone,
    body,
    check_numbers,
    function_of,
    main,
    session,
    shipped,
)
from support import CORPUS, context, parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp

import xfuse
from xfuse.decomposition import decompose_all
from xfuse.fusion import fuse
from xfuse.match.choose import Matches, find_matches
from xfuse.match.index import PatternIndex
from xfuse.passes.fuse import FusePass
from xfuse.session import Session
from xfuse.splitting import Splitter
from xfuse.testing import program_difference

every_kind = pytest.mark.parametrize("kind", KINDS)

RELU = ("%k = arith.constant 0.0 : f32", "%c = arith.maximumf %i0, %k : f32")
MORE = "%t = math.exp %c : f32"


def splits(module: ModuleOp, *wanted: str, own: Session | None = None) -> Matches:
    """What the first round found, fusing with split=true; it is what was wanted, by name.

    The result is in order (L8) and final (L7), decomposing gives the module as split (L2), the numbers stay (L3).
    """
    own = own or shipped()
    recipes, gate, index = own.registry.entries(), own.gate("numpy"), PatternIndex(own.registry.entries())
    original, split = module.clone(), module.clone()
    assert order_problem(split) is None

    def look() -> Matches:
        return find_matches(split, index, gate, explain=False)

    Splitter(index, gate).split(look(), look)
    split.verify()
    rounds = fuse(module, recipes, gate, split=True)
    assert sorted(match.recipe.name for each in rounds for match in each.chosen) == sorted(wanted)
    module.verify()
    assert order_problem(module) is None
    once = str(module)
    again = fuse(module, recipes, gate, split=True)
    assert not any(each.chosen or each.splits for each in again)
    assert str(module) == once
    back = module.clone()
    decompose_all(back)
    assert program_difference(split, back) is None
    if not any(each.splits for each in rounds):
        assert str(split) == str(original)
    check_numbers(original, module, own)
    return rounds[0]


def stays(module: ModuleOp, own: Session | None = None) -> None:
    """Nothing is fused, and the module is the same byte for byte."""
    text = str(module)
    assert not splits(module, own=own).splits
    assert str(module) == text


def ending_inside(kind: Kind, *more: str) -> ModuleOp:
    """The program of a kind, its last op in one body with a reader of it; more lines, the last of which returns."""
    operands, *made = ("%s %sums", "%c = arith.divf %i0, %i1 : f32") if kind == "row" else ("%s", *RELU)
    last = body("%r", operands, *made, MORE, "%t", type=TYPE[kind])
    return main(kind, *PROGRAMS[kind][:-1], last, *(more or (f"return %r : {TYPE[kind]}",)))


def texts(module: ModuleOp) -> list[str]:
    """The generics of a program, those aside that are in fused ops."""
    return [str(op) for op in function_of(module).body.block.ops if isinstance(op, GenericOp)]


@every_kind
def test_a_match_that_ends_inside_a_body(kind: Kind) -> None:
    name = RECIPES[kind][0]
    own = alone(name)
    assert not fuse(ending_inside(kind), own.registry.entries(), own.gate("numpy"))[0].chosen
    assert len(splits(ending_inside(kind), name, own=own).splits) == 1


@every_kind
def test_a_body_that_no_match_crosses_stays(kind: Kind) -> None:
    """A second body of two ops, of which one is even the last of the recipe, is the same byte for byte."""
    other = body("%other", "%r", *RELU, "%t = math.sqrt %c : f32", "%t", type=TYPE[kind])
    module = ending_inside(kind, other, f"return %other : {TYPE[kind]}")
    (kept,) = (text for text in texts(module) if text.startswith("%other"))
    splits(module, RECIPES[kind][0], own=alone(RECIPES[kind][0]))
    assert kept in texts(module)


@every_kind
def test_nothing_crosses_a_border(kind: Kind) -> None:
    other = body("%r", "%x" if kind != "matrix" else "%b", *RELU, MORE, "%t", type=TYPE[kind])
    stays(main(kind, other, f"return %r : {TYPE[kind]}"), alone(RECIPES[kind][0]))


def test_a_match_that_begins_inside_a_body() -> None:
    """The sum stands behind an exponential in one body, the maximum alone in another."""
    module = xfuse.load_module(CORPUS.parent.parent / "docs" / "examples" / "body.mlir")
    assert len(splits(module, "add_relu", own=alone("add_relu")).splits) == 1


def test_a_match_that_begins_and_ends_inside_bodies() -> None:
    """Two bodies are taken apart for one match."""
    first = body("%s", "%x %y", "%e = math.exp %i0 : f32", "%a = arith.addf %e, %i1 : f32", "%a", type="!v")
    last = body("%r", "%s", *RELU, MORE, "%t", type="!v")
    found = splits(main("point", first, last, "return %r : !v"), "add_relu", own=alone("add_relu"))
    assert len(found.splits) == 2


def test_a_matrix_product_with_a_body_of_bias_relu_and_more() -> None:
    """The body holds a match of its own, which is smaller: the larger one wins, as without bodies (R7)."""
    lines = "%a = arith.addf %i0, %i1 : f32", *(line.replace("%i0", "%a") for line in RELU)
    last = body("%r", "%p %b", *lines, "%t = arith.mulf %c, %i1 : f32", "%t", type="!t")
    module = main("matrix", PROGRAMS["matrix"][0], last, "return %r : !t")
    assert len(splits(module, "fused_linear_relu", own=alone("fused_linear_relu", "add_relu")).splits) == 1
    assert len(texts(module)) == 1


def test_a_smaller_match_does_not_split_for_one_that_wins() -> None:
    """An op of a match inside the body is one of a smaller match across its border: the larger one stays inside."""
    inner = """xfuse.recipe @inner(%x: f32, %y: f32) -> f32 {
      %a = arith.addf %x, %y : f32 %e = math.exp %a : f32 %s = math.sin %e : f32 xfuse.yield %s : f32 }"""
    crossing = """xfuse.recipe @crossing(%x: f32, %y: f32) -> f32 {
      %m = math.cos %x : f32 %a = arith.addf %m, %y : f32 xfuse.yield %a : f32 }"""
    lines = (
        "%a = arith.addf %i0, %i1 : f32",
        "%e = math.exp %a : f32",
        "%u = math.sin %e : f32",
        "%v = math.tan %u : f32",
    )
    last = body("%r", "%s %y", *lines, "%v", type="!v")
    module = main("point", "%s = math.cos %x : !v", last, "return %r : !v")
    found = splits(module, "inner", own=session(inner, crossing))
    assert not found.splits
    assert len(texts(module)) == 1


def test_a_body_that_two_matches_cross() -> None:
    """@add_relu ends in it, @wave begins in it; both are fused."""
    wave = """xfuse.recipe @wave(%x: f32) -> f32 {
      %e = math.exp %x : f32 %s = math.sin %e : f32 xfuse.yield %s : f32 }"""
    own = session(str(shipped().recipe("add_relu").op), wave)
    module = ending_inside("point", "%v = math.sin %r : !v", "return %v : !v")
    assert len(splits(module, "add_relu", "wave", own=own).splits) == 1


def test_a_generic_of_several_results() -> None:
    """One result is of the recipe, the other of something else, and both are read."""
    several = """%s, %u = linalg.generic {indexing_maps = [#v, #v, #v, #v], iterator_types = ["parallel"]}
        ins(%x, %y : !v, !v) outs(%none, %none : !v, !v) {
    ^bb0(%i0: f32, %i1: f32, %o0: f32, %o1: f32):
      %a = arith.addf %i0, %i1 : f32
      %b = math.exp %i1 : f32
      linalg.yield %a, %b : f32, f32
    } -> (!v, !v)"""
    module = main("point", several, PROGRAMS["point"][1], "return %r, %u : !v, !v")
    assert len(splits(module, "add_relu", own=alone("add_relu")).splits) == 1


def scaled(literal: str, returned: str = "%r : !v") -> ModuleOp:
    """x k + y in two generics, with k in the body of the first."""
    lines = f"%k = arith.constant {literal} : f32", "%m = arith.mulf %i0, %k : f32"
    first = body("%s", "%x", *lines, "%m", type="!v")
    last = body("%r", "%s %y", "%a = arith.addf %i0, %i1 : f32", "%a", type="!v")
    return main("point", first, last, f"return {returned}")


SCALED = """xfuse.recipe @scaled(%x: f32, %y: f32, %k: f32 {xfuse.scalar}) -> f32 {
  %m = arith.mulf %x, %k : f32 %a = arith.addf %m, %y : f32 xfuse.yield %a : f32 }"""


@pytest.mark.parametrize("literal", ["0.1", "0.0", "0xFF800000"])
def test_the_literal_of_a_slot_in_a_body_becomes_an_operand(literal: str) -> None:
    """A constant inside its reader is no value that a fused op could have as its operand."""
    own = session(SCALED)
    (refusal,) = [each for each in own.match(scaled(literal), "numpy").refusals if each.reason == "alias"]
    assert "argument 2 is made inside the body of the op; split=true or xfuse-normalize moves it out" in str(refusal)
    assert refusal.op is not None
    assert refusal.op.results[0].name_hint == "s"
    assert len(splits(scaled(literal), "scaled", own=own).splits) == 1


def test_a_body_with_the_literal_of_a_slot_is_put_back_if_that_does_not_help() -> None:
    stays(scaled("0.1", "%r, %s : !v, !v"), session(SCALED))


@every_kind
def test_an_escape_stays_one(kind: Kind) -> None:
    """The inner value is read elsewhere too: taking the body apart would not help, so it is put back as it was."""
    type_ = TYPE[kind]
    stays(ending_inside(kind, f"return %r, %s : {type_}, {type_}"), alone(RECIPES[kind][0]))


def test_an_escape_is_split_for_where_it_may_be_duplicated() -> None:
    module = ending_inside("point", "return %r, %s : !v, !v")
    stays(module.clone(), alone("add_relu"))
    own = alone("add_relu")
    (first, *_) = fuse(module, own.registry.entries(), own.gate("numpy"), split=True, escape="duplicate")
    assert [match.recipe.name for match in first.chosen] == ["add_relu"]
    assert len(first.splits) == 1
    module.verify()


def test_several_bodies_are_put_back_if_the_last_one_does_not_help() -> None:
    """The first body lets the second one be seen, whose inner value escapes."""
    first = body("%s", "%x %y", "%e = math.exp %i0 : f32", "%a = arith.addf %e, %i1 : f32", "%a", type="!v")
    last = body("%r", "%s", *RELU, MORE, "%t", type="!v")
    stays(main("point", first, last, "return %r, %s : !v, !v"), alone("add_relu"))


def test_without_a_kernel_nothing_is_split() -> None:
    module, own = ending_inside("point"), alone("add_relu")
    text = str(module)
    rounds = fuse(module, own.registry.entries(), lambda recipe, dtypes: None, split=True)
    assert [refusal.reason for refusal in rounds[-1].refusals] == ["no-kernel"]
    assert str(module) == text


def test_the_call_and_the_pass(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = ending_inside("row"), ending_inside("row")
    before = str(one)
    assert "xfuse.fused" not in str(xfuse.fuse(one, ["softmax"], session=shipped()))
    assert str(one) == before
    xfuse.fuse(one, ["softmax"], session=shipped(), split=True)
    FusePass(only=("softmax",), split=True, explain=True).run(context(), other)
    assert str(one) == str(other)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("split '%r = linalg.generic' (main.mlir:")
    assert lines[0].endswith("@softmax crosses the border of its body (rule R11)")
    assert lines[1].startswith("fused @softmax on")


PROGRAMS_AFTER_FUSION = {
    "causal_attention": (0, 1, 1),
    "logreg_grad": (8, 10, 3),
    "lstm_cell": (1, 2, 1),
    "torch_gelu_ffn": (2, 4, 4),
    "torch_llama_rmsnorm_swiglu": (2, 3, 3),
    "torch_losses": (4, 6, 1),
    "transformer_4layer": (12, 20, 8),
    "layer_norm_affine": (1, 1, 0),
}
"""Fused ops of programs that MLIR fused, without and with splits, and the generics that are split."""


@pytest.mark.parametrize("name", PROGRAMS_AFTER_FUSION)
def test_programs_that_mlir_fused(name: str) -> None:
    module = parsed(CORPUS / "dev" / name / f"{name}.fused.mlir").clone()
    recipes, gate = shipped().registry.entries(), shipped().gate("auto")
    plain = fuse(module.clone(), recipes, gate)
    rounds = fuse(module, recipes, gate, split=True)
    module.verify()
    assert order_problem(module) is None
    counts = [sum(len(each.chosen) for each in found) for found in (plain, rounds)]
    assert (*counts, sum(len(each.splits) for each in rounds)) == PROGRAMS_AFTER_FUSION[name]
    once = str(module)
    assert not any(each.splits for each in fuse(module, recipes, gate, split=True))
    assert str(module) == once
