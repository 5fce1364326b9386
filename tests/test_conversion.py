"""Fused ops as the fewest generics: how many, the same function, accepted and run by real MLIR."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import real_mlir
from random_programs import Choices, RandomProgram, evaluate, order_problem, same_bits
from random_rows import RandomRows
from reference_programs import emitted, fused_ops, names, shipped, tensor, types_at, values
from support import CORPUS, FILES, PROGRAMS, calls_of, context, generic, mlir_opt, parsed, short
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, Region
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

import xfuse
from xfuse.canonical.build import element_name
from xfuse.conversion import convert_to_linalg, write_anew
from xfuse.errors import DecomposeError
from xfuse.fusion import fuse
from xfuse.kernels import as_tuple
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe
from xfuse.shipped import shipped_recipes
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp, YieldOp

LIBRARY = [recipe.name for recipe in shipped_recipes()]
STATIC, DYNAMIC = (4, 5), (None, 3)
NO_BOOLEANS_IN_MEMORY = {"dropout_residual": "its mask is a tensor of i1, which MLIR does not lower to LLVM"}
UNREAD = {"complex_phase": "holds complex numbers, which xfuse does not read"}


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.walk() if isinstance(op, FuncOp) and op.sym_name.data == "main")


def whole(module: ModuleOp) -> ModuleOp:
    """The same module, with all that @main does in one fused op."""
    main = main_of(module)
    old = main.body.block
    last = old.last_op
    assert isinstance(last, ReturnOp)
    results = list(last.arguments)
    last.detach()
    last.drop_all_references()
    new = Block(arg_types=old.arg_types)
    main.body.detach_block(old)
    old.add_op(YieldOp(results))
    fused = FusedOp(None, new.args, [], [value.type for value in results], Region(old))
    new.add_ops([fused, ReturnOp(*fused.results)])
    main.body.add_block(new)
    module.verify()
    return module


def instance(recipe: Recipe, loops: Sequence[int | None], use: str | None = None) -> ModuleOp | None:
    """One fused op of a recipe with these loop dimensions, slots constant; None if it has none or cannot be emitted."""
    use = use or ("f32" if "f32" in recipe.uses else recipe.uses[-1])
    slots = dict.fromkeys(recipe.scalar_slots, 0.5)
    try:
        module = emitted(recipe, types_at(recipe, use, loops), slots)
    except DecomposeError:
        return None
    fuse(module, [recipe], lambda recipe, dtypes: "any")
    return module if fused_ops(module) else None


def converted(module: ModuleOp) -> ModuleOp:
    """A converted copy, checked: verified, in order (L8), without fused ops, the same function (L5), and once is twice
    (L7)."""
    copy = module.clone()
    convert_to_linalg(copy)
    copy.verify()
    assert order_problem(copy) is None
    assert not fused_ops(copy)
    assert [each.text for each in xfuse.identities(copy)] == [each.text for each in xfuse.identities(module)]
    again = copy.clone()
    assert convert_to_linalg(again) == 0
    assert str(again) == str(copy)
    return copy


def count(module: ModuleOp) -> int:
    return names(module).count("linalg.generic")


def accepted(*modules: ModuleOp) -> None:
    for module in modules:
        done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr[:1000]}\n{module}"


def run_by_numpy(module: ModuleOp, arrays: Sequence[Any]) -> tuple[Any, ...]:
    return as_tuple(xfuse.compile(module, backend="numpy")(*arrays))


def is_exact(module: ModuleOp) -> bool:
    """Whether every op gives the same bits however it is computed: no rounding is left open, nothing is summed."""
    ops = [op.name for op in module.walk()]
    return not any(name in PRIMITIVES and PRIMITIVES[name].ulp for name in ops) and not any(
        "reduction" in str(op.properties["iterator_types"]) for op in module.walk() if isinstance(op, GenericOp)
    )


# How many generics

COUNTS: dict[tuple[str, tuple[int | None, ...]], int] = {
    # Element-wise: one a result, whatever the body holds.
    ("silu", STATIC): 1,
    ("gelu_tanh", STATIC): 1,
    ("gelu_erf", DYNAMIC): 1,
    ("batch_norm", STATIC): 1,
    ("adam", STATIC): 3,
    ("black_scholes", STATIC): 2,
    # Maximum; exponentials, which two others read; their sum; quotient.
    ("softmax", STATIC): 4,
    ("softmax", ()): 4,
    # Maximum; sum with the exponentials in its body; result.
    ("logsumexp", DYNAMIC): 3,
    # Sum; mean, divided once a row and not once an element; squares summed; root of the variance; quotient.
    ("layer_norm", STATIC): 5,
    # On one row what is computed once is a scalar outside of all bodies.
    ("layer_norm", ()): 3,
    ("layer_norm_affine", DYNAMIC): 5,
    ("rms_norm", STATIC): 3,
    ("kl_divergence", STATIC): 1,
    # The product stays a plain contraction, bias and activation are one more.
    ("fused_linear", STATIC): 2,
    ("fused_linear_gelu_tanh", STATIC): 2,
    # Slices are views; everything else is one body.
    ("causal_conv1d_silu_taps4", STATIC): 1,
    ("rotary", STATIC): 3,
}


@pytest.mark.parametrize(("name", "loops"), COUNTS, ids=str)
def test_known_recipes_are_this_many_generics(name: str, loops: Sequence[int | None]) -> None:
    module = instance(shipped(name), loops)
    assert module is not None
    assert count(converted(module)) == COUNTS[name, tuple(loops)]


def test_an_element_wise_recipe_is_one_generic_a_result() -> None:
    """At static and dynamic extents, and never more generics than the region had."""
    seen = 0
    for name in LIBRARY:
        recipe = shipped(name)
        for loops in (STATIC, DYNAMIC):
            module = instance(recipe, loops) if recipe.is_scalar else None
            if module is None:
                continue
            (fused,) = fused_ops(module)
            assert count(converted(module)) == len(fused.results), name
            seen += 1
    assert seen > 200


def test_a_costly_op_is_never_computed_in_a_wider_loop() -> None:
    """exp of a row is a tensor; adding to a row is done in the wider body."""
    for op, expected in (("math.exp %a : f32", 2), ("arith.addf %a, %a : f32", 1)):
        module = xfuse.parse_module(
            f"""
            func.func @main(%b: tensor<8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
              %r = xfuse.fused (%bb = %b : tensor<8xf32>, %xx = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {{
                %e = tensor.empty() : tensor<8xf32>
                %f = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                    iterator_types = ["parallel"]}} ins(%bb : tensor<8xf32>) outs(%e : tensor<8xf32>) {{
                ^bb0(%a: f32, %o: f32):
                  %y = {op}
                  linalg.yield %y : f32
                }} -> tensor<8xf32>
                %g = tensor.empty() : tensor<4x8xf32>
                %h = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>,
                    affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
                    ins(%f, %xx : tensor<8xf32>, tensor<4x8xf32>) outs(%g : tensor<4x8xf32>) {{
                ^bb0(%p: f32, %q: f32, %o: f32):
                  %z = arith.mulf %p, %q : f32
                  linalg.yield %z : f32
                }} -> tensor<4x8xf32>
                xfuse.yield %h : tensor<4x8xf32>
              }}
              func.return %r : tensor<4x8xf32>
            }}"""
        )
        assert count(converted(module)) == expected


# Every recipe of the library


@pytest.mark.parametrize("loops", [STATIC, DYNAMIC], ids=["static", "dynamic"])
def test_law_l3_every_recipe_is_the_same_function(loops: Sequence[int | None]) -> None:
    """The canonical form is the region's, mlir-opt takes it, and NumPy gives the same numbers."""
    functions: list[FuncOp] = []
    for name in LIBRARY:
        recipe = shipped(name)
        module = instance(recipe, loops)
        if module is None:
            continue
        plain = module.clone()
        xfuse.decompose_all(plain)
        result = converted(module)
        assert count(result) <= count(plain) or recipe.is_scalar, name
        arrays = values(list(main_of(module).function_type.inputs.data))
        one, other = run_by_numpy(plain, arrays), run_by_numpy(result, arrays)
        for left, right in zip(one, other, strict=True):
            assert same_bits(left, right), name
        kept = main_of(result)
        kept.detach()
        kept.properties["sym_name"] = type(kept.sym_name)(f"f{len(functions)}")
        functions.append(kept)
    assert len(functions) > 400
    accepted(ModuleOp(functions))


SOME = (
    "silu gelu_tanh swiglu adam huber softmax softmax_backward logsumexp layer_norm layer_norm_affine rms_norm "
    "kl_divergence cosine_similarity masked_softmax_causal rotary fused_linear_relu causal_conv1d "
    "heat_step_periodic murmur_mix quantize mean_variance l2_normalize cross_entropy_loss"
).split()


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("loops", [(), (3,), (None, 2)], ids=str)
def test_real_mlir_runs_what_recipes_become(name: str, loops: Sequence[int | None]) -> None:
    """Lowered by mlir-opt, compiled, called: the numbers of the fused op with a kernel of ours."""
    recipe = shipped(name)
    module = instance(recipe, loops)
    assert module is not None, f"@{name} has no loop dimensions"
    arrays = values(list(main_of(module).function_type.inputs.data))
    expected = run_by_numpy(module, arrays)
    result = converted(module)
    exact = is_exact(result)
    for left, right in zip(real_mlir.run(result, *arrays), expected, strict=True):
        if exact:
            assert same_bits(left, right)
        else:
            np.testing.assert_allclose(left, right, rtol=2e-5, atol=2e-6)


# Real programs


@pytest.mark.parametrize("path", FILES, ids=short)
def test_every_program_of_the_corpus(path: Path) -> None:
    """Fused and converted by the pass: no fused op is left, the same function, and mlir-opt takes it."""
    module = parsed(path).clone()
    passes = Universe.get_multiverse().all_passes
    PassPipeline.parse_spec(passes, "xfuse-fuse").apply(context(), module)
    before = [each.text for each in xfuse.identities(module)]
    PassPipeline.parse_spec(passes, "convert-xfuse-to-linalg").apply(context(), module)
    module.verify()
    assert not fused_ops(module)
    assert [each.text for each in xfuse.identities(module)] == before
    accepted(module)


@cache
def arrays_of(name: str) -> list[Any]:
    main = main_of(parsed(CORPUS / "dev" / name / f"{name}.linalg.mlir"))
    found: list[Any] = []
    with np.load(CORPUS / "dev" / name / f"{name}.inputs.npz") as stored:
        for type_, key in zip(main.function_type.inputs.data, stored.files, strict=True):
            dtype = numpy_dtype(element_name(type_))
            array = stored[key]
            found.append(array.view(dtype) if array.dtype != dtype and array.itemsize == dtype.itemsize else array)
    return found


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in UNREAD])
def test_whole_programs_as_one_fused_op(name: str) -> None:
    """A function as one fused op: few generics, the very bits of the plain program, and real MLIR runs it."""
    plain = parsed(CORPUS / "dev" / name / f"{name}.linalg.mlir").clone()
    arrays = arrays_of(name)
    expected = run_by_numpy(plain, arrays)
    before = count(plain)
    module = whole(plain)
    assert write_anew(fused_ops(module.clone())[0])
    convert_to_linalg(module)
    module.verify()
    assert not fused_ops(module)
    assert count(module) <= before
    for left, right in zip(run_by_numpy(module, arrays), expected, strict=True):
        assert same_bits(left, right)
    if name in NO_BOOLEANS_IN_MEMORY:
        return
    for left, right in zip(real_mlir.run(module, *arrays), expected, strict=True):
        if np.asarray(right).dtype.kind in "biu":
            np.testing.assert_array_equal(left, right)
        else:
            scale = float(np.abs(np.asarray(right, np.float64)).max(initial=1e-6))
            np.testing.assert_allclose(np.asarray(left, np.float64), np.asarray(right, np.float64), atol=2e-6 * scale)


# Random programs


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_as_one_fused_op(seed: int) -> None:
    """All element types, spellings, unit dimensions, control flow: the same bits, and mlir-opt takes it."""
    program = RandomProgram(random.Random(seed), None, Choices())
    module = xfuse.parse_module(program.text)
    arrays = program.arrays(seed)
    expected = evaluate(module, arrays)
    result = converted(whole(module))
    for left, right in zip(evaluate(result, arrays), expected, strict=True):
        assert same_bits(left, right)
    accepted(result)


@pytest.mark.parametrize("seed", range(40))
def test_random_rows_as_one_fused_op(seed: int) -> None:
    """Reductions, folds, slices, padding, reshapes at computed extents; real MLIR gives the numbers of NumPy."""
    text = RandomRows(seed).text().replace("xfuse.recipe", "func.func").replace("xfuse.yield", "func.return")
    module = xfuse.parse_module(text.replace("@random", "@main"))
    shapes = [(4,), (3,), (4, 3), ()]
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.standard_normal(shape)) for shape in shapes]
    expected = evaluate(module, arrays)
    result = converted(whole(module))
    accepted(result)
    for left, right in zip(real_mlir.run(result, *arrays), expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-11)


# What is left, and what falls back

MODULE = """
xfuse.recipe @double(%x: f32) -> f32 {
  %inner = xfuse.fused @half (%a = %x : f32) -> f32 {
    %h = arith.mulf %a, %a : f32
    xfuse.yield %h : f32
  }
  %r = arith.addf %inner, %inner : f32
  xfuse.yield %r : f32
}
func.func @main(%x: tensor<4xf32>, %s: f32, %n: index) -> (tensor<4xf32>, f32, tensor<4xf32>) {
  %0 = xfuse.fused @square (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = arith.mulf %a, %a fastmath<contract> : tensor<4xf32>
    %2 = xfuse.fused @minus (%b = %1 : tensor<4xf32>) -> tensor<4xf32> {
      %3 = arith.negf %b : tensor<4xf32>
      xfuse.yield %3 : tensor<4xf32>
    }
    xfuse.yield %2 : tensor<4xf32>
  }
  %4 = xfuse.fused @scalar (%a_1 = %s : f32) -> f32 {
    %5 = math.exp %a_1 : f32
    xfuse.yield %5 : f32
  }
  %e = tensor.empty() : tensor<4xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %7 = xfuse.fused @inside (%a_2 = %p : f32) -> f32 {
      %8 = math.sin %a_2 : f32
      xfuse.yield %8 : f32
    }
    linalg.yield %7 : f32
  } -> tensor<4xf32>
  func.return %0, %4, %6 : tensor<4xf32>, f32, tensor<4xf32>
}
"""


def labels(module: ModuleOp) -> list[str | None]:
    return [op.label for op in fused_ops(module)]


def test_recipes_are_left_and_everything_else_is_converted() -> None:
    """Nested, scalar, and inside a body; fast-math flags stay (law L3)."""
    module = xfuse.parse_module(MODULE)
    assert convert_to_linalg(module) == 3
    module.verify()
    assert labels(module) == ["half"]
    assert count(module) == 2
    assert str(module).count("fastmath<contract>") == 1
    accepted(ModuleOp([main_of(module).clone()]))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ("only=square,minus", ["half", "scalar", "inside"]),
        ("only=square", ["half", "minus", "scalar", "inside"]),
        ("except=minus", ["half", "minus"]),
        ("except=scalar,inside", ["half", "scalar", "inside"]),
        ("only=nothing", ["half", "square", "minus", "scalar", "inside"]),
    ],
)
def test_labels_choose(options: str, left: Sequence[str]) -> None:
    """A region that holds a fused op to be left is decomposed."""
    module = xfuse.parse_module(MODULE)
    passes = Universe.get_multiverse().all_passes
    PassPipeline.parse_spec(passes, f"convert-xfuse-to-linalg{{{options}}}").apply(context(), module)
    module.verify()
    assert labels(module) == left


def test_a_region_without_a_form_is_decomposed() -> None:
    """Law L1: an op outside the vocabulary that is provably pure stands as it is."""
    text = """
    func.func @main(%x: tensor<4xf32>, %y: f32) -> (tensor<4xf32>, f32) {
      %r, %c = xfuse.fused (%a = %x : tensor<4xf32>, %b = %y : f32) -> (tensor<4xf32>, f32) {
        %z = complex.create %b, %b : complex<f32>
        %i = complex.im %z : complex<f32>
        %s = arith.addf %a, %a : tensor<4xf32>
        xfuse.yield %s, %i : tensor<4xf32>, f32
      }
      func.return %r, %c : tensor<4xf32>, f32
    }"""
    module = xfuse.parse_module(text)
    plain = module.clone()
    assert not write_anew(fused_ops(module.clone())[0])
    assert convert_to_linalg(module) == 1
    xfuse.decompose_all(plain)
    assert program_difference(plain, module) is None


def test_shape_operands_and_result_types() -> None:
    """Operands that only give a shape, an extent that the region hides, and a broadcast and a transposed result."""
    text = """
    #id = affine_map<(i, j) -> (i, j)>
    #t = affine_map<(i, j) -> (j, i)>
    #row = affine_map<(i, j) -> (j)>
    func.func @main(%x: tensor<3x?xf32>, %b: tensor<?xf32>, %o: tensor<?x3xf32>, %n: index)
        -> (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
      %r, %w, %v = xfuse.fused (%a = %x : tensor<3x?xf32>, %c = %b : tensor<?xf32>)
          shapes (%out = %o : tensor<?x3xf32>, %m = %n : index)
          -> (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
        %y = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
            ins(%a : tensor<3x?xf32>) outs(%out : tensor<?x3xf32>) {
        ^bb0(%p: f32, %q: f32):
          %s = arith.addf %p, %p : f32
          linalg.yield %s : f32
        } -> tensor<?x3xf32>
        %zero = arith.constant 0 : index
        %k = tensor.dim %c, %zero : tensor<?xf32>
        %e = tensor.empty(%m, %k) : tensor<?x?xf32>
        %z = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
            ins(%c : tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
        ^bb0(%p: f32, %q: f32):
          %s = arith.mulf %p, %p : f32
          linalg.yield %s : f32
        } -> tensor<?x?xf32>
        %u = tensor.cast %y : tensor<?x3xf32> to tensor<?x?xf32>
        xfuse.yield %y, %z, %u : tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>
      }
      func.return %r, %w, %v : tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>
    }"""
    module = xfuse.parse_module(text)
    assert write_anew(fused_ops(module.clone())[0])
    result = module.clone()
    convert_to_linalg(result)
    result.verify()
    accepted(result)
    assert count(result) == 2
    rng = np.random.default_rng(0)
    x, b = rng.standard_normal((3, 5)).astype(np.float32), rng.standard_normal(6).astype(np.float32)
    arrays = [x, b, np.zeros((5, 3), np.float32), np.int64(2)]
    expected = [(x + x).T, np.broadcast_to(b * b, (2, 6)), (x + x).T]
    for found in (run_by_numpy(result, arrays), real_mlir.run(result, *arrays)):
        for left, right in zip(found, expected, strict=True):
            np.testing.assert_array_equal(left, right)


def test_extents_of_one_come_and_go() -> None:
    """Element-wise on tensors of one element is scalar ops and a fill; a kept dimension is a map."""
    for name, shape in (("silu", (1, 1)), ("silu", (1, 5)), ("silu", ())):
        types = [tensor("f32", *shape)]
        module = emitted(shipped(name), types)
        fuse(module, [shipped(name)], lambda recipe, dtypes: "any")
        assert fused_ops(module)
        result = converted(module)
        assert count(result) == (1 if 5 in shape else 0)
        accepted(result)
        array = np.full(shape, 0.7, np.float32)
        np.testing.assert_allclose(real_mlir.run(result, array)[0], array / (1 + np.exp(-array)), rtol=1e-6)


# Laws of the conversion itself


def test_law_l11_the_text_is_the_same_from_run_to_run() -> None:
    found = {str(converted(module)) for _ in range(3) if (module := instance(shipped("softmax"), STATIC)) is not None}
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["chain", "results"])
def test_law_l9_conversion_is_linear(kind: str) -> None:
    """Four times the ops take about four times the work, also where many results share theirs."""
    calls: list[int] = []
    for size in (400, 1600):
        lines, live = list[str](), "%x"
        for number in range(size):
            lines.append(f"%v{number} = arith.addf {live}, %y : tensor<?xf32>")
            live = f"%v{number}"
            lines.append(f"%w{number} = arith.mulf %y, {live} : tensor<?xf32>")
        given = [f"%w{number}" for number in range(size)] if kind == "results" else [live]
        types = ", ".join(["tensor<?xf32>"] * len(given))
        module = xfuse.parse_module(
            f"func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> ({types}) {{\n" + "\n".join(lines)
            + f"\nfunc.return {', '.join(given)} : {types}\n}}"
        )  # fmt: skip
        module = whole(module)
        calls.append(calls_of(partial(convert_to_linalg, module))[0])
        ops = Counter(names(module))
        assert ops["arith.addf"] <= 12 * size
        assert kind == "results" or ops["linalg.generic"] == 1
    assert calls[1] < 5 * calls[0]
