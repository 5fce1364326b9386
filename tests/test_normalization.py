"""One spelling for the element-wise part of a program: what is taken apart, what stays, and what is found then."""

from __future__ import annotations

import random
import subprocess
from functools import cache

import numpy as np
import pytest
from random_programs import Choices, RandomProgram, evaluate, order_problem, same_bits
from random_rows import RandomRows
from reference_programs import fused_ops
from support import CORPUS, PROGRAMS, generic, mlir_opt, parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp

import xfuse
from xfuse.normalization import normalize
from xfuse.testing import program_difference

HEAD = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>
"""


@cache
def session() -> xfuse.Session:
    return xfuse.Session()


def bodies(module: ModuleOp) -> list[list[str]]:
    """The ops of each generic's body, without its yield."""
    return [[op.name for op in each.body.block.ops][:-1] for each in module.walk() if isinstance(each, GenericOp)]


def normal(module: ModuleOp) -> ModuleOp:
    """A normalised copy, checked: the same function (L5), in order (L8), verified, and twice is once (L7)."""
    copy = module.clone()
    normalize(copy)
    copy.verify()
    assert order_problem(copy) is None
    assert [each.text for each in xfuse.identities(copy)] == [each.text for each in xfuse.identities(module)]
    again = copy.clone()
    assert normalize(again) == 0
    assert program_difference(copy, again) is None
    return copy


def accepted(module: ModuleOp) -> None:
    done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr[:1000]}\n{module}"


def reduction(maps: str, ins: str, arguments: str, body: str) -> ModuleOp:
    """A reduction over the second of two loops, of %x: tensor<4x?xf32> and others."""
    return xfuse.parse_module(
        f"""{HEAD}
        func.func @main(%x: tensor<4x?xf32>, %b: tensor<?xf32>, %s: f32, %z: tensor<f32>, %k: i32,
            %a: tensor<4xf32>) -> tensor<4xf32> {{
          %r = linalg.generic {{indexing_maps = [{maps}, #row], iterator_types = ["parallel", "reduction"]}}
              ins({ins}) outs(%a : tensor<4xf32>) {{
          ^bb0({arguments}, %acc: f32):
            {body}
            linalg.yield %out : f32
          }} -> tensor<4xf32>
          func.return %r : tensor<4xf32>
        }}"""
    )


def test_the_prologue_of_a_reduction_is_taken_out_op_by_op() -> None:
    module = reduction(
        "#id, #column",
        "%x, %b : tensor<4x?xf32>, tensor<?xf32>",
        "%p: f32, %q: f32",
        """%e = math.exp %q : f32
           %m = arith.mulf %p, %e fastmath<contract> : f32
           %c = arith.constant 2.0 : f32
           %d = arith.divf %m, %c : f32
           %out = arith.addf %acc, %d : f32""",
    )
    result = normal(module)
    assert bodies(result) == [["math.exp"], ["arith.mulf"], ["arith.divf"], ["arith.addf"]]
    types = [str(op.results[0].type) for op in result.walk() if isinstance(op, GenericOp)]
    assert types == ["tensor<?xf32>", "tensor<4x?xf32>", "tensor<4x?xf32>", "tensor<4xf32>"]
    assert str(result).count("fastmath<contract>") == 1
    accepted(result)
    rng = np.random.default_rng(0)
    x, b = rng.standard_normal((4, 5)).astype(np.float32), rng.standard_normal(5).astype(np.float32)
    arrays = [x, b, np.float32(0), np.float32(0), np.int32(0), np.zeros(4, np.float32)]
    (one,), (other,) = evaluate(module, arrays), evaluate(result, arrays)
    assert same_bits(one, other)


def test_scalars_of_a_prologue_are_computed_once_outside() -> None:
    result = normal(
        reduction(
            "#id, #none",
            "%x, %z : tensor<4x?xf32>, tensor<f32>",
            "%p: f32, %q: f32",
            """%c = arith.sitofp %k : i32 to f32
               %d = arith.addf %q, %c : f32
               %m = arith.divf %p, %d : f32
               %out = arith.maximumf %m, %acc : f32""",
        )
    )
    assert bodies(result) == [["arith.addf"], ["arith.divf"], ["arith.maximumf"]]
    assert [op.name for op in result.walk() if op.name == "arith.sitofp"]
    accepted(result)


@pytest.mark.parametrize(
    ("maps", "ins", "arguments", "body", "kept"),
    [
        (  # the combining op alone
            "#id",
            "%x : tensor<4x?xf32>",
            "%p: f32",
            "%out = arith.addf %p, %acc : f32",
            ["arith.addf"],
        ),
        (  # a product larger than its operands
            "#row, #column",
            "%a, %b : tensor<4xf32>, tensor<?xf32>",
            "%p: f32, %q: f32",
            "%m = arith.mulf %p, %q : f32 %out = arith.addf %acc, %m : f32",
            ["arith.mulf", "arith.addf"],
        ),
        (  # made of an index
            "#id",
            "%x : tensor<4x?xf32>",
            "%p: f32",
            """%i = linalg.index 1 : index %w = arith.index_cast %i : index to i32 %f = arith.sitofp %w : i32 to f32
               %m = arith.mulf %p, %f : f32 %out = arith.addf %acc, %m : f32""",
            ["linalg.index", "arith.index_cast", "arith.sitofp", "arith.mulf", "arith.addf"],
        ),
        (  # made of the accumulator
            "#id",
            "%x : tensor<4x?xf32>",
            "%p: f32",
            "%m = arith.mulf %acc, %s : f32 %out = arith.addf %m, %p : f32",
            ["arith.mulf", "arith.addf"],
        ),
    ],
    ids=["plain", "contraction", "index", "accumulator"],
)
def test_reductions_that_stay(maps: str, ins: str, arguments: str, body: str, kept: list[str]) -> None:
    assert bodies(normal(reduction(maps, ins, arguments, body))) == [kept]


def test_a_division_that_may_trap_is_not_run_more_often() -> None:
    """An integer division that not every loop reaches stays where a loop without trips never runs it."""
    module = xfuse.parse_module(
        f"""{HEAD}
        func.func @main(%x: tensor<4x?xi32>, %b: tensor<4xi32>, %a: tensor<4xi32>) -> tensor<4xi32> {{
          %r = linalg.generic {{indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}}
              ins(%x, %b : tensor<4x?xi32>, tensor<4xi32>) outs(%a : tensor<4xi32>) {{
          ^bb0(%p: i32, %q: i32, %acc: i32):
            %d = arith.divsi %q, %q : i32
            %m = arith.muli %d, %p : i32
            %out = arith.addi %acc, %m : i32
            linalg.yield %out : i32
          }} -> tensor<4xi32>
          func.return %r : tensor<4xi32>
        }}"""
    )
    assert bodies(normal(module)) == [["arith.divsi", "arith.muli", "arith.addi"]]


def test_several_accumulators_share_one_prologue() -> None:
    module = xfuse.parse_module(
        f"""{HEAD}
        func.func @main(%x: tensor<4x8xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
          %r, %t = linalg.generic {{indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}}
              ins(%x : tensor<4x8xf32>) outs(%a, %b : tensor<4xf32>, tensor<4xf32>) {{
          ^bb0(%p: f32, %one: f32, %two: f32):
            %e = math.exp %p : f32
            %u = arith.addf %one, %e : f32
            %v = arith.maximumf %two, %e : f32
            linalg.yield %u, %v : f32, f32
          }} -> (tensor<4xf32>, tensor<4xf32>)
          func.return %r, %t : tensor<4xf32>, tensor<4xf32>
        }}"""
    )
    assert bodies(normal(module)) == [["math.exp"], ["arith.addf", "arith.maximumf"]]


def test_elements_read_at_computed_places_are_an_op_like_any_other() -> None:
    """A mirrored element: its index stays with the read, the rest of the body is taken apart."""
    module = xfuse.parse_module(
        """
        func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %n = arith.constant 7 : index
          %e = tensor.empty() : tensor<8xf32>
          %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
          ^bb0(%p: f32, %o: f32):
            %i = linalg.index 0 : index
            %j = arith.subi %n, %i : index
            %v = tensor.extract %x[%j] : tensor<8xf32>
            %a = arith.addf %v, %p : f32
            %t = math.tanh %a : f32
            linalg.yield %t : f32
          } -> tensor<8xf32>
          func.return %r : tensor<8xf32>
        }"""
    )
    result = normal(module)
    assert bodies(result) == [["linalg.index", "arith.subi", "tensor.extract"], ["arith.addf"], ["math.tanh"]]
    accepted(result)
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_allclose(xfuse.compile(result)(x), np.tanh(x + x[::-1]), rtol=1e-6)


def test_fused_ops_are_left() -> None:
    """Neither a fused op nor a body that holds one is taken apart (law L7)."""
    module = xfuse.parse_module(
        """
        func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %f = xfuse.fused (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
            %1 = math.exp %a : tensor<8xf32>
            xfuse.yield %1 : tensor<8xf32>
          }
          %e = tensor.empty() : tensor<8xf32>
          %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"]} ins(%f : tensor<8xf32>) outs(%e : tensor<8xf32>) {
          ^bb0(%p: f32, %o: f32):
            %2 = xfuse.fused (%b = %p : f32) -> f32 {
              %3 = math.sin %b : f32
              xfuse.yield %3 : f32
            }
            %4 = arith.addf %2, %p : f32
            linalg.yield %4 : f32
          } -> tensor<8xf32>
          func.return %f, %r : tensor<8xf32>, tensor<8xf32>
        }"""
    )
    text = str(module)
    assert normalize(module) == 0
    assert str(module) == text


# Real and random programs


def found(module: ModuleOp) -> tuple[int, int]:
    """How many matches there are, and how many roots are refused because their ops are inside bodies."""
    inside = sum(refusal.reason == "inside-body" for refusal in session().match(module).refusals)
    copy = module.clone()
    xfuse.fuse(copy, session=session())
    return len(fused_ops(copy)), inside


AFTER_FUSION = {
    "causal_attention": ((0, 11), (1, 6)),
    "kl_divergence": ((1, 8), (1, 2)),
    "logreg_grad": ((8, 12), (10, 8)),
    "lstm_cell": ((1, 4), (2, 1)),
    "nbody_forces": ((0, 3), (1, 1)),
    "rms_norm": ((1, 4), (1, 0)),
    "torch_llama_rmsnorm_swiglu": ((2, 5), (3, 2)),
    "torch_losses": ((4, 20), (6, 11)),
}
"""Matches and refusals `inside-body` in programs that MLIR fused, before and after normalising."""


@pytest.mark.parametrize("name", AFTER_FUSION)
def test_recipes_inside_bodies_are_found_after_normalising(name: str) -> None:
    module = parsed(CORPUS / "dev" / name / f"{name}.fused.mlir")
    assert (found(module), found(normal(module))) == AFTER_FUSION[name]


def test_all_fused_spellings_together_hold_more_matches_after_normalising() -> None:
    before = after = 0
    for name in PROGRAMS:
        module = parsed(CORPUS / "dev" / name / f"{name}.fused.mlir").clone()
        before += len(fused_ops(xfuse.fuse(module.clone(), session=session())))
        normalize(module)
        after += len(fused_ops(xfuse.fuse(module, session=session())))
    assert after >= before + 15, (before, after)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_keep_every_bit(seed: int) -> None:
    program = RandomProgram(random.Random(seed), None, Choices())
    module = xfuse.parse_module(program.text)
    arrays = program.arrays(seed)
    result = normal(module)
    for one, other in zip(evaluate(module, arrays), evaluate(result, arrays), strict=True):
        assert same_bits(one, other)
    accepted(result)


@pytest.mark.parametrize("seed", range(30))
def test_random_rows_keep_every_bit(seed: int) -> None:
    text = RandomRows(seed).text().replace("xfuse.recipe", "func.func").replace("xfuse.yield", "func.return")
    module = xfuse.parse_module(text.replace("@random", "@main"))
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.standard_normal(shape)) for shape in ((4,), (3,), (4, 3), ())]
    result = normal(module)
    for one, other in zip(evaluate(module, arrays), evaluate(result, arrays), strict=True):
        assert same_bits(one, other)
    accepted(result)
