"""Explaining (rule R10): what matched, what nearly did, at which op it failed, what was expected and what was found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from reference_programs import emitted_function
from support import CORPUS
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, UnknownLoc, f32
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

import xfuse
from xfuse.cli import main
from xfuse.errors import UnsupportedError
from xfuse.explanation import changed_regions, explanation, ops_at
from xfuse.locations import source_line
from xfuse.match.choose import Matches, find_matches
from xfuse.match.index import PatternIndex
from xfuse.match.refusal import Refusal
from xfuse.parser import parse_module
from xfuse.recipes import Recipe
from xfuse.session import Session, fresh_session
from xfuse.shipped import shipped_recipes
from xfuse.testing import same_program
from xfuse_dialects.xfuse import FusedOp

VARIANTS = CORPUS / "variants"
ADD_RELU = """xfuse.recipe @add_relu(%x: f64, %b: f64) -> f64 attributes {element_types = [f32, f64]} {
  %zero = arith.constant 0.0 : f64 %s = arith.addf %x, %b : f64 %r = arith.maximumf %s, %zero : f64
  xfuse.yield %r : f64 }"""
RELU = """xfuse.recipe @relu(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
  %zero = arith.constant 0.0 : f64 %r = arith.maximumf %x, %zero : f64 xfuse.yield %r : f64 }"""


def look(module: ModuleOp, *names: str, at: str = "") -> Matches:
    """What the shipped recipes of some names or families come to in a module."""
    return Session().match(module, only=names, roots=ops_at(module, at) if at else None)


def nearest(found: Matches, recipe: str) -> Refusal:
    """The refusal of a recipe that got furthest."""
    return max((each for each in found.refusals if each.recipe == recipe), key=lambda each: each.matched)


def function(body: str, types: str = "tensor<4xf32>") -> ModuleOp:
    return parse_module(f"func.func @main(%x: {types}, %y: {types}) -> {types} {{\n{body}\n}}", "main.mlir")


# The corpus


@pytest.mark.parametrize(
    ("pattern", "recipe", "rule", "line", "expected", "found", "missing"),
    [
        ("relu_add", "add_relu", "R6", 4, "the literal 0.0 : f32", "the literal 1.0 : f32", 0),
        ("gelu_tanh", "gelu_tanh", "R6", 14, "arith.addf : f32", "'%v12 = arith.subf' (line 14)", 1),
        ("silu_mul", "swiglu", "R3", 4, "the argument %x : f32", "the argument %up : f32", 0),
        ("softmax", "softmax", "R3", 13, "'%v8 = math.exp' (line 14)", "'%v7 = arith.subf' (line 13)", 0),
        ("layernorm", "layer_norm_affine_rsqrt", "R3", 16, "'%v9 = arith.subf' (line 15)", "the argument %x : f32", 0),
        (
            "rmsnorm",
            "rms_norm_weighted_rsqrt",
            "R3",
            3,
            "the argument %weight : f32",
            "the argument %x : f32",
            0,
        ),
    ],
)
def test_a_near_miss_is_named(
    pattern: str, recipe: str, rule: str, line: int, expected: str, found: str, missing: int
) -> None:
    """R10: what the corpus changed in its near misses is what the refusal names."""
    path = VARIANTS / pattern / "near_miss.mlir"
    refusal = nearest(look(xfuse.load_module(path), recipe), recipe)
    assert (refusal.rule, refusal.expected, refusal.found) == (rule, expected, found)
    assert refusal.op is not None
    assert source_line(refusal.op) == f"{path}:{line}:5"
    assert refusal.size - refusal.matched == missing
    assert expected in str(refusal)
    assert found in str(refusal)


@pytest.mark.parametrize("pattern", ["relu_add", "gelu_tanh", "silu_mul", "softmax", "layernorm", "rmsnorm"])
def test_an_escape_is_named_with_its_user(pattern: str) -> None:
    """R4: the whole recipe matched, and who reads its inner value outside is said."""
    family = {
        "relu_add": "add_relu",
        "silu_mul": "swiglu",
        "layernorm": "layer_norm_affine",
        "rmsnorm": "rms_norm_weighted",
    }
    found = look(xfuse.load_module(VARIANTS / pattern / "escape.mlir"), family.get(pattern, pattern))
    refusal = next(each for each in found.refusals if each.rule == "R4")
    assert refusal.reason == "escape"
    assert refusal.matched == refusal.size
    assert "is used outside the match by" in str(refusal)


# One change


OTHER: dict[type[Operation], type[Operation]] = {
    arith.AddfOp: arith.MaximumfOp,
    arith.SubfOp: arith.MinimumfOp,
    arith.MulfOp: arith.MaximumfOp,
    arith.DivfOp: arith.MinimumfOp,
    math.ExpOp: math.TanhOp,
    math.TanhOp: math.ExpOp,
    arith.MaximumfOp: arith.MinimumfOp,
    arith.MinimumfOp: arith.MaximumfOp,
    arith.NegfOp: math.AbsFOp,
}


def programs() -> list[Recipe]:
    """Shipped element-wise recipes of one result, at f32."""
    return [
        recipe
        for recipe in shipped_recipes()
        if recipe.is_scalar
        and recipe.signature("f32" if "f32" in recipe.uses else None)[0] == ("f32",) * len(recipe.argument_types)
        and len(recipe.result_types) == 1
        and not recipe.scalar_slots
        and any(type(op) in OTHER for op in recipe.op.walk())
    ]


def other_op(op: Operation) -> Operation:
    """Another op on the same operands."""
    return OTHER[type(op)].create(
        operands=list(op.operands),
        result_types=list(op.result_types),
        properties=dict(op.properties) if type(op).__module__ == OTHER[type(op)].__module__ else {},
    )


@pytest.mark.parametrize("recipe", programs(), ids=lambda recipe: recipe.name)
def test_one_op_changed_is_the_op_at_fault(recipe: Recipe) -> None:
    """R10: in a program that is the recipe but for one op, the refusal at its end names that op and misses only it."""
    module = emitted_function(recipe, [f32] * len(recipe.argument_types))
    candidates = [op for op in module.walk() if type(op) in OTHER]
    op = random.Random(recipe.name).choice(candidates)
    changed = other_op(op)
    block = op.parent
    assert block is not None
    block.insert_op_before(changed, op)
    op.results[0].replace_all_uses_with(changed.results[0])
    Rewriter.erase_op(op)
    (end,) = (each for each in module.walk() if each.name == "func.return")
    root = end.operands[0].owner
    assert isinstance(root, Operation)
    found = find_matches(module, PatternIndex([recipe]), lambda *_: "any", roots=[root])
    assert not found.chosen
    (refusal,) = found.refusals
    assert refusal.rule == "R6", str(refusal)
    assert isinstance(refusal.op, type(changed)), "the changed op, or an equal one: equal ops are one value"
    assert refusal.size - refusal.matched == 1
    assert refusal.expected == f"{op.name} : f32"
    assert f"{changed.name}'" in refusal.found


@pytest.mark.parametrize("element_type", ["f16", "f32", "f64"])
def test_a_literal_changed_by_one_bit_is_named(element_type: str) -> None:
    """R6: literals are compared by bits, and the message spells both so that they differ."""
    tensor = f"tensor<4x{element_type}>"
    body = f"""%c = arith.constant dense<1.0e-7> : {tensor}
      %s = arith.addf %x, %y : {tensor}
      %r = arith.maximumf %s, %c : {tensor}
      return %r : {tensor}"""
    refusal = nearest(look(function(body, tensor), "add_relu"), "add_relu")
    assert refusal.expected == f"the literal 0.0 : {element_type}"
    assert refusal.found.startswith("the literal ")
    assert refusal.found != refusal.expected
    assert isinstance(refusal.op, arith.ConstantOp)


# What differs in other ways


def test_a_transposed_operand_lies_along_other_axes() -> None:
    """R3: x + b and then x with its axes swapped: the ops agree, the axes do not."""
    recipe = """xfuse.recipe @twice(%x: f64, %b: f64) -> f64 attributes {element_types = [f32, f64]} {
      %s = arith.addf %x, %b : f64 %r = arith.mulf %s, %x : f64 xfuse.yield %r : f64 }"""
    body = """%e = tensor.empty() : tensor<4x4xf32>
      %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
      %s = arith.addf %t, %y : tensor<4x4xf32>
      %r = arith.mulf %s, %x : tensor<4x4xf32>
      return %r : tensor<4x4xf32>"""
    with fresh_session(library=False) as session:
        session.register(recipe)
        found = session.match(function(body, "tensor<4x4xf32>"))
    (refusal,) = found.refusals
    assert (refusal.rule, refusal.reason, refusal.matched, refusal.size) == ("R3", "axes", 2, 2)


def test_what_lost_says_to_what() -> None:
    """R7: the larger match is chosen, the smaller one is listed with the one that was in its way."""
    body = """%c = arith.constant dense<0.0> : tensor<4xf32>
      %s = arith.addf %x, %y : tensor<4xf32>
      %r = arith.maximumf %s, %c : tensor<4xf32>
      return %r : tensor<4xf32>"""
    with fresh_session(library=False) as session:
        session.register(RELU)
        session.register(ADD_RELU)
        found = session.match(function(body))
    (match,), (loss,) = found.chosen, found.lost
    assert (match.recipe.name, loss.match.recipe.name, loss.to) == ("add_relu", "relu", match)
    lines = list(explanation(found))
    assert len(lines) == 2
    assert lines[0].startswith(
        "fused @add_relu on llvm at '%r = arith.maximumf' (main.mlir:4:7): '%s = arith.addf' (line 3)"
    )
    assert lines[1].startswith("@relu lost (R7 overlap) at '%r = arith.maximumf' (main.mlir:4:7): @add_relu at ")
    assert lines[1].endswith("covers more ops")


def test_at_compares_whatever_op_stands_there() -> None:
    """The user names the place: an op of another kind than the recipe ends in is compared too, and others are not."""
    body = """%c = arith.constant dense<0.0> : tensor<4xf32>
      %s = arith.addf %x, %y : tensor<4xf32>
      %q = arith.maximumf %y, %c : tensor<4xf32>
      %r = arith.minimumf %s, %c : tensor<4xf32>
      %z = arith.addf %q, %r : tensor<4xf32>
      return %z : tensor<4xf32>"""
    module = function(body)
    for at in ("5", "%r", "r"):
        found = look(module, "add_relu", at=at)
        refusal = nearest(found, "add_relu")
        assert {each.root for each in found.refusals} == {refusal.root}
        assert (refusal.expected, refusal.found) == ("arith.maximumf : f32", "'%r = arith.minimumf' (line 5)")
        assert (refusal.matched, refusal.size) == (1, 2)
    with pytest.raises(UnsupportedError, match="no op with a result is at the name %nosuch"):
        ops_at(module, "%nosuch")
    with pytest.raises(UnsupportedError, match="no op with a result is at line 99"):
        ops_at(module, "99")


def test_a_region_changed_since_fusing_is_said() -> None:
    """DESIGN 8: after folding an op may be no instance of its label's recipe; it is said, and it still decomposes."""
    body = """%c = arith.constant dense<0.0> : tensor<4xf32>
      %s = arith.addf %x, %y : tensor<4xf32>
      %r = arith.maximumf %s, %c : tensor<4xf32>
      return %r : tensor<4xf32>"""
    module = function(body)
    with fresh_session(library=False) as session:
        session.register(RELU)
        session.register(ADD_RELU)
        xfuse.fuse(module)
        (fused,) = (op for op in module.walk() if isinstance(op, FusedOp))
        assert not list(changed_regions(module, session))
        (add,) = (op for op in fused.body.block.ops if isinstance(op, arith.AddfOp))
        replacement = arith.SubfOp(*add.operands)
        fused.body.block.insert_op_before(replacement, add)
        add.result.replace_all_uses_with(replacement.result)
        Rewriter.erase_op(add)
        (line,) = changed_regions(module, session)
    assert line.startswith("region changed since fusing: ")
    assert line.endswith("is labelled @add_relu, its region is no recipe that is registered")


# The command, and where ops stand


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``xfuse explain``: matches, losses and refusals, one a line; a mistake is one line on standard error."""
    path = VARIANTS / "relu_add" / "near_miss.mlir"
    assert main(["explain", str(path), "--recipe", "add_relu"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(
        f"@add_relu refused (R6 mismatch) at '%v2 = arith.constant' ({path}:4:5): expected the literal"
    )
    assert any(line.startswith("@add_relu_torch has no candidate: it ends in arith.select on ") for line in out)
    assert main(["explain", str(path), "--recipe", "nosuch"]) == 1
    assert "no recipe or family is named nosuch" in capsys.readouterr().err
    own = tmp_path / "own.mlir"
    own.write_text(f"{RELU}\n{path.read_text()}")
    assert main(["explain", str(own), "--recipe", "relu", "--library", str(own)]) == 0
    assert "@relu refused (R6 mismatch)" in capsys.readouterr().out


def test_ops_know_where_they_stand() -> None:
    """As from MLIR's parser: an op has the place of its first token, unless it says another."""
    text = """func.func @main(%x: f32) -> f32 {
  %a = arith.negf %x : f32
    %b = "math.exp"(%a) : (f32) -> f32
  %c = arith.negf %b : f32 loc("other.py":7:8)
  return %c : f32
}"""
    module = parse_module(text, "here.mlir")
    places = [source_line(op) for op in module.walk()][1:]
    assert places == ["here.mlir:1:1", "here.mlir:2:3", "here.mlir:3:5", "other.py:7:8", "here.mlir:5:3"]
    assert isinstance(module.location, UnknownLoc)
    moved = parse_module("\n" + text, "there.mlir")
    assert source_line(next(iter(moved.body.block.ops))) == "there.mlir:2:1"
    assert same_program(module, moved), "where an op stands is no part of what it says (L2)"
    assert not same_program(module, parse_module(text.replace('"other.py":7:8', '"other.py":7:9')))
