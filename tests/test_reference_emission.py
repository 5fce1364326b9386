"""Emission and decomposition as the reference modules' own tests have them: right types, shapes, literals and sharing.

Docstrings name the reference's tests; docs/reference-map.md lists all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference_programs import (
    Extents,
    emitted,
    found,
    function,
    fused,
    fused_ops,
    names,
    one,
    reference,
    run,
    session,
    shipped,
    spelled,
    spelling,
    tensor,
    types_at,
    values,
)
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block

import xfuse
from xfuse.errors import DecomposeError, ParsingError, RecipeError, ShapeError
from xfuse.identify import identity
from xfuse.kernels import as_tuple
from xfuse.primitives.element_types import numpy_dtype
from xfuse.testing import same_program

RESHAPES = {"tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"}
RELU_ADD = """xfuse.recipe @relu_add(%a: f64, %b: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
  %s = arith.addf %a, %b : f64 %z = arith.constant 0.0 : f64 %r = arith.maximumf %s, %z : f64
  xfuse.yield %r : f64 }"""


def results_of(module: ModuleOp) -> list[str]:
    """The result types of @main."""
    (main,) = module.body.block.ops
    assert isinstance(main, func.FuncOp)
    return [str(each) for each in main.function_type.outputs.data]


def each_item(function: Any, arrays: list[Any], ranks: list[int], loops: tuple[int, ...]) -> tuple[Any, ...]:
    """A function of core arrays, applied item by item over loop dimensions."""
    items = [
        as_tuple(function(*(a[at] if a.ndim > rank else a for a, rank in zip(arrays, ranks, strict=True))))
        for at in np.ndindex(*loops)
    ]
    return tuple(
        np.reshape(np.stack([item[n] for item in items]), (*loops, *items[0][n].shape)) for n in range(len(items[0]))
    )


# Every op is emitted with its attributes

REBUILT = {
    "tag_to_op_reconstructs_shape_changing_ops": [
        "slice",
        "slice_relative",
        "concat",
        "reshape_split",
        "reduce_max_to",
    ],
    "tag_to_op_reconstructs_reductions_dtype_and_matmul": ["mean_dim", "mat_mul", "cast", "lt"],
    "tag_to_op_reconstructs_masked_fill": ["masked_fill"],
    "tag_to_op_reconstructs_powi": ["powi"],
    "tag_to_op_reconstructs_max_dim": ["max_dim", "min_dim"],
    "shape_target_ops_represent_rank0_via_the_marker": ["reduce_sum_to", "sum_dim", "max_dim"],
}


@pytest.mark.parametrize("loops", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize(
    ("original", "name"), [(original, name) for original, names_ in REBUILT.items() for name in names_]
)
def test_ops_are_emitted_with_all_their_attributes(original: str, name: str, loops: tuple[int, ...]) -> None:
    """The reference's ``original``: emitted at three ranks, found again, and the numbers are NumPy's."""
    own, use = spelled(name), "f32"
    types = types_at(own, use, loops, 6)
    module = emitted(own, types)
    assert found(module, session(own)) == [name], original
    arrays = values(types)
    ranks = [len(type_.get_shape()) - len(loops) if isinstance(type_, TensorType) else 0 for type_ in types]
    wanted = each_item(reference(name), arrays, ranks, loops)
    for got, other in zip(as_tuple(run(module, session(own), *arrays)), wanted, strict=True):
        assert np.shape(got) == np.shape(other)
        np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(other, np.float64), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["sum_all", "max_all", "min_all", "mean_all"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 1, 3)], ids=str)
def test_a_result_without_axes(name: str, shape: tuple[int, ...]) -> None:
    """shape_target_ops_represent_rank0_via_the_marker: no marker is needed."""
    own = spelled(name)
    types = [tensor("f32", *shape)]
    module = emitted(own, types)
    assert results_of(module)[0] in ("f32", "tensor<f32>")
    assert found(module, session(own)) == [name]
    (x,) = values(types)
    np.testing.assert_allclose(run(module, session(own), x), reference(name)(x), rtol=1e-5)


def contraction(spec: str, extents: dict[str, int]) -> ModuleOp:
    """The einsum of two operands as one linalg.generic."""
    operands, result = spec.split("->")
    first, second = operands.split(",")
    letters = sorted(set(first + second), key=(result + first + second).index)
    kinds = ", ".join('"parallel"' if letter in result else '"reduction"' for letter in letters)
    domain = ", ".join(letters)
    maps = ", ".join(f"affine_map<({domain}) -> ({', '.join(own)})>" for own in (first, second, result))
    a, b, r = (f"tensor<{'x'.join(str(extents[letter]) for letter in own)}xf32>" for own in (first, second, result))
    return function(
        f"""%z = arith.constant 0.0 : f32 %e = tensor.empty() : T
        %i = linalg.fill ins(%z : f32) outs(%e : T) -> T
        %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
            ins(%x, %y : {a}, {b}) outs(%i : T) {{
        ^bb0(%p: f32, %q: f32, %s: f32):
          %m = arith.mulf %p, %q : f32
          %t = arith.addf %s, %m : f32
          linalg.yield %t : f32
        }} -> T
        return %r : T""",
        f"%x: {a}, %y: {b}",
        r,
    )


@pytest.mark.parametrize(
    ("spec", "matches"),
    [
        ("ik,kj->ij", True),
        ("bik,bkj->bij", True),
        ("bhik,bhkj->bhij", True),
        ("ki,kj->ij", True),
        ("ik,jk->ij", True),
        ("ik,kj->ji", True),
        ("ik,k->i", True),
        ("ikl,klj->ij", False),
        ("ik,ki->i", True),
    ],
)
def test_operands_of_a_product_have_roles_by_their_indices(spec: str, matches: bool) -> None:
    """tag_to_op_matmul_resolves_canonical_roles, tag_to_op_matmul_empty_roles_implicit_accept.

    Also tag_to_op_matmul_rejects_noncanonical_roles: transposed operands and results are views here, and the numbers
    are right; only a sum over two indices is another recipe.
    """
    extents = {letter: 2 + number for number, letter in enumerate("bhijkl")}
    module = contraction(spec, extents)
    given = session(spelled("mat_mul"))
    assert found(module, given) == (["mat_mul"] if matches else [])
    random = np.random.default_rng(0)
    first, second = spec.partition("->")[0].split(",")
    x, y = (random.standard_normal([extents[letter] for letter in own]).astype(np.float32) for own in (first, second))
    np.testing.assert_allclose(run(fused(module, given), given, x, y), np.einsum(spec, x, y), rtol=1e-4, atol=1e-5)


# Types and shapes


@pytest.mark.parametrize("use", ["f16", "bf16", "f32", "f64"])
def test_a_literal_has_the_operands_type(use: str) -> None:
    """masked_fill_region_registers_and_emits_with_operand_dtype: an f16 for f16 operands, its value kept."""
    given = session(spelling("masked_fill"))
    own = given.recipe("masked_fill")
    module = emitted(own, [tensor(use, 4), tensor("i1", 4)])
    assert f"2.000000e+00 : {use}" in str(module)
    assert results_of(module) == [f"tensor<4x{use}>"]
    x, mask = np.arange(4).astype(numpy_dtype(use)), np.array([True, False, False, True])
    got = run(module, given, x, mask)
    assert got.dtype == x.dtype
    assert got.astype(np.float64).tolist() == [2, 1, 2, 2]


def test_the_shape_of_a_reduction() -> None:
    """emit_gets_shape_right_for_a_reduction_region: [2, 5] gives [2]; with the axis kept, as a view of [2, 1]."""
    module = emitted(spelled("sum_dim"), [tensor("f32", 2, 5)])
    assert results_of(module) == ["tensor<2xf32>"]
    kept = emitted(spelled("reduce_sum_to"), [tensor("f32", 2, 5)])
    assert results_of(kept) in (["tensor<2xf32>"], ["tensor<2x1xf32>"])


@pytest.mark.parametrize(("name", "result"), [("cast", "f16"), ("cast_float_to_int", "i32"), ("lt", "i1")])
def test_the_type_of_a_cast(name: str, result: str) -> None:
    """emit_gets_dtype_right_for_a_cast_region: that of the target, and of a comparison a truth value."""
    own = spelled(name)
    assert results_of(emitted(own, types_at(own, "f32", (3,)))) == [f"tensor<3x{result}>"]


CAST_OVER_ADD = """xfuse.recipe @r(%x: f64, %y: f64) -> f16 attributes {element_types = [f32, f64]} {
  %s = arith.addf %x, %y : f64 %r = arith.truncf %s : f64 to f16 xfuse.yield %r : f16 }"""


def test_a_cast_over_a_sum_is_what_a_hand_would_write() -> None:
    """emit_matches_cast_over_add_reference: the sum at the operands' type, then the cast."""
    own = one(CAST_OVER_ADD)
    module = emitted(own, types_at(own, "f32"))
    by_hand = xfuse.parse_module("""func.func @main(%a: f32, %b: f32) -> f16 {
      %s = arith.addf %a, %b : f32 %r = arith.truncf %s : f32 to f16 return %r : f16 }""")
    assert same_program(module, by_hand)


def test_decompose_puts_the_ops_back() -> None:
    """decompose_region_re_emits_relu_add: Relu(Add(a, b)) at the shapes of the operands."""
    own = one(RELU_ADD)
    for shape in ((), (3,), (2, 5)):
        types = [tensor("f32", *shape)] * 2
        module = emitted(own, types)
        copy = fused(module, session(own))
        (op,) = fused_ops(copy)
        assert [str(value.type) for value in op.outputs] == [str(types[0])]
        xfuse.decompose_all(copy)
        assert same_program(module, copy)
        assert [name for name in names(copy) if name in ("arith.addf", "arith.maximumf")] == [
            "arith.addf",
            "arith.maximumf",
        ]


NESTED = """xfuse.recipe @outer(%x: tensor<?xf64>) -> f64 attributes {element_types = [f32, f64]} {
  %s = xfuse.fused @sum (%a = %x : tensor<?xf64>) -> f64 {
    %z = arith.constant 0.0 : f64
    %e = tensor.splat %z : tensor<f64>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
        iterator_types = ["reduction"]} ins(%a : tensor<?xf64>) outs(%e : tensor<f64>) {
    ^bb0(%p: f64, %q: f64):
      %t = arith.addf %q, %p : f64
      linalg.yield %t : f64
    } -> tensor<f64>
    %v = tensor.extract %r[] : tensor<f64>
    xfuse.yield %v : f64
  }
  %r = math.sqrt %s : f64
  xfuse.yield %r : f64 }"""


@pytest.mark.parametrize("use", ["f32", "f64"])
def test_a_nested_fused_op_is_emitted(use: str) -> None:
    """emit_reconstructs_nested_fused_shape_and_dtype: its shape and type follow those of the operands."""
    own = one(NESTED)
    module = emitted(own, [tensor(use, 3, 4)])
    assert results_of(module) == [f"tensor<3x{use}>"]
    x = np.arange(12).reshape(3, 4).astype(numpy_dtype(use))
    np.testing.assert_allclose(run(module, session(own), x), np.sqrt(x.sum(-1)), rtol=1e-6)


@pytest.mark.parametrize("use", ["f32", "f64"])
def test_a_nested_fused_op_on_scalars_is_emitted(use: str) -> None:
    """emit_reconstructs_nested_fused_shape_and_dtype: also at an element type that the recipe is not written at."""
    own = one("""xfuse.recipe @outer(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
      %s = xfuse.fused @inner (%a = %x : f64) -> f64 {
        %z = arith.constant 0.0 : f64 %m = arith.maximumf %a, %z : f64 xfuse.yield %m : f64 }
      %r = math.sqrt %s : f64
      xfuse.yield %r : f64 }""")
    for types in ([tensor(use, 3)], types_at(own, use)):
        module = emitted(own, types)
        assert identity(module).text == own.form(use).text or isinstance(types[0], TensorType)
        assert run(module, session(own), *values(types)) is not None


def test_without_operands_there_is_no_op() -> None:
    """emit_zero_operand_representable_region_is_panic_free: no recipe without arguments; too few are an error."""
    with pytest.raises(RecipeError, match="no arguments"):
        session("xfuse.recipe @r() -> f32 { %c = arith.constant 1.0 : f32 xfuse.yield %c : f32 }")
    for count in (0, 1, 3):
        error = xfuse.try_emit(one(RELU_ADD), Block(arg_types=[tensor("f32", 2)] * count).args)
        assert isinstance(error, DecomposeError)
        assert f"takes 2 inputs, got {count}" in str(error)


# Slots and shape-derived scalars


SCALED = """xfuse.recipe @scaled(%x: f64, %s: f64 {xfuse.scalar}) -> f64 attributes {element_types = [f32, f64]} {
  %m = arith.mulf %x, %s : f64 %r = math.exp %m : f64 xfuse.yield %r : f64 }"""
BOTH_SCALED = """xfuse.recipe @both(%x: f64, %s: f64 {xfuse.scalar}, %t: f64 {xfuse.scalar}) -> f64
    attributes {element_types = [f32, f64]} {
  %e = math.exp %x : f64 %p = arith.mulf %e, %s : f64 %q = arith.mulf %e, %t : f64 %r = arith.addf %p, %q : f64
  xfuse.yield %r : f64 }"""


def test_slots_register_and_count() -> None:
    """slot_template_registers_and_counts."""
    assert xfuse.count_scalar_slots(session(SCALED).recipe("scaled")) == 1
    assert xfuse.count_scalar_slots(session(BOTH_SCALED).recipe("both")) == 2


def test_a_live_scalar_reaches_its_op() -> None:
    """decompose_fills_slots_from_the_node_scalars: 2.5 comes out as the factor."""
    own = one(SCALED)
    module = emitted(own, types_at(own, "f32", (4,)), {1: 2.5})
    copy = fused(module, session(own))
    assert len(fused_ops(copy)) == 1
    xfuse.decompose_all(copy)
    assert same_program(module, copy)
    x = np.float32([0, 1, -1, 2])
    np.testing.assert_array_equal(run(copy, session(own), x), np.exp(x * np.float32(2.5)))


@pytest.mark.parametrize(("first", "second"), [(2.0, 3.0), (2.0, 2.0)])
def test_equal_subtrees_with_slots_stay_apart(first: float, second: float) -> None:
    """emit_does_not_share_subtrees_with_open_scalar_slots: two products, though both are by a slot."""
    own = one(BOTH_SCALED)
    module = emitted(own, types_at(own, "f32", (3,)), {1: first, 2: second})
    matches = session(own).match(module)
    if first == second:  # then the program has one product, and two is what the recipe says
        assert ("R3", "shared-inside") in {(refusal.rule, refusal.reason) for refusal in matches.refusals}
    else:
        (match,) = matches.chosen
        assert len(match.scalars) == 2
        assert found(module, session(own)) == ["both"]
    x = np.float32([0, 1, 2])
    wanted = np.exp(x) * np.float32(first) + np.exp(x) * np.float32(second)
    np.testing.assert_array_equal(run(fused(module, session(own)), session(own), x), wanted)


def test_equal_subtrees_without_slots_are_one_value() -> None:
    """emit_shares_repeated_slot_free_subtrees: one Exp for two on rows; on scalars the author's own ops."""
    text = """xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf64>
      %c1 = arith.constant 1 : index
      %last = arith.subi %n, %c1 : index
      %e = math.exp %x : tensor<?xf64>
      %f = math.exp %x : tensor<?xf64>
      %low = tensor.extract_slice %e[0] [%last] [1] : tensor<?xf64> to tensor<?xf64>
      %high = tensor.extract_slice %f[1] [%last] [1] : tensor<?xf64> to tensor<?xf64>
      %r = arith.addf %low, %high : tensor<?xf64>
      xfuse.yield %r : tensor<?xf64> }"""
    own = one(text)
    module = emitted(own, [tensor("f32", 5)])
    assert names(module).count("math.exp") == 1
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_allclose(run(module, session(own), x), np.exp(x)[:-1] + np.exp(x)[1:], rtol=1e-6)
    twice, once = (
        one(
            f"xfuse.recipe @r(%x: f32) -> f32 {{ %e = math.exp %x : f32 %f = math.exp %x : f32\n"
            f"%r = arith.addf %e, {second} : f32 xfuse.yield %r : f32 }}"
        )
        for second in ("%f", "%e")
    )
    assert twice.identity == once.identity


def test_a_scalar_from_an_extent_is_no_slot() -> None:
    """scalar_rel_is_shape_derived_not_a_cursor_slot: 5, then 7; unknown extents are read at run time."""
    own = spelled("mean_dim")
    assert xfuse.count_scalar_slots(own) == 0
    for extent in (5, 7):
        module = emitted(own, [tensor("f32", 2, extent)])
        assert f"{float(extent):.6e} : f32" in str(module)
        assert found(module, session(own)) == ["mean_dim"]
    module = emitted(own, [tensor("f32", 2, None)])
    assert "tensor.dim" in names(module)
    assert "arith.sitofp" in names(module)
    x = np.random.default_rng(0).standard_normal((2, 9)).astype(np.float32)
    np.testing.assert_allclose(run(module, session(own), x), x.mean(-1), rtol=1e-5)


@pytest.mark.parametrize(("operands", "arguments"), [("%x", "%a: f32, %b: f32"), ("%x, %y", "%a: f32")])
def test_a_wrong_number_of_operands_does_not_verify(operands: str, arguments: str) -> None:
    """decompose_slot_count_mismatch_is_a_fixpoint_not_a_crash: a fused op has an operand for each argument, slots too.

    Wrong in the reference: with too few inputs it panics while it decomposes.
    """
    count = operands.count("%")
    text = f"""func.func @main(%x: f32, %y: f32) -> f32 {{
      %r = "xfuse.fused"({operands}) <{{recipe = @scaled, operandSegmentSizes = array<i32: {count}, 0>}}> ({{
      ^bb0({arguments}):
        %m = arith.mulf %a, {arguments[-7:-5]} : f32
        xfuse.yield %m : f32
      }}) : ({", ".join(["f32"] * count)}) -> f32
      return %r : f32 }}"""
    with pytest.raises(ParsingError, match="law L1"):
        xfuse.parse_module(text)


# Shapes that do not fit


def test_ranks_are_raised_without_reshapes() -> None:
    """broadcast_rank_raise_materializes_the_legacy_reshape_pad, concrete_broadcast_rank_raise_also_pads.

    An operand of lower rank is read by its own indices: there is nothing to pad.
    """
    own = one(RELU_ADD)
    for shapes in (((2, 3), (3,)), ((3,), (2, 3)), ((4, 2, 3), (3,)), ((2, 3), ())):
        module = emitted(own, [tensor("f32", *shape) for shape in shapes])
        assert not RESHAPES & set(names(module))
        x, y = values([tensor("f32", *shape) for shape in shapes])
        np.testing.assert_array_equal(run(module, session(own), x, y), np.maximum(x + y, 0))
        assert found(module, session(own)) == ["relu_add"]


def test_neither_operand_has_the_frame() -> None:
    """Wrong in the reference: the sum of [2, 1] and [1, 3] has the shape [2, 1]."""
    own = one(RELU_ADD)
    module = emitted(own, [tensor("f32", 2, 1), tensor("f32", 1, 3)])
    assert results_of(module) == ["tensor<2x3xf32>"]
    x, y = np.float32([[1], [2]]), np.float32([[1, -2, 3]])
    np.testing.assert_array_equal(run(module, session(own), x, y), np.maximum(x + y, 0))


def test_a_product_of_shapes_that_do_not_fit_is_a_typed_error() -> None:
    """Wrong in the reference: [2, 3] times [5, 7] emits a [2, 3] product."""
    own = spelled("mat_mul")
    error = xfuse.try_emit(own, Block(arg_types=[tensor("f32", 2, 3), tensor("f32", 5, 7)]).args)
    assert isinstance(error, DecomposeError)
    assert "3" in str(error)
    assert "7" in str(error)


def test_a_rank_that_is_too_low_is_a_typed_error() -> None:
    """Wrong in the reference: a shape like that of a rank-0 operand panics."""
    for name in ("softmax", "layer_norm", "rotary"):
        own = shipped(name)
        types = [tensor("f32")] * len(own.argument_types)
        error = xfuse.try_emit(own, Block(arg_types=types).args)
        assert isinstance(error, DecomposeError)
        assert name in str(error)


HALVED = """xfuse.recipe @tail(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %start = arith.subi %n, %c4 : index
  %e = math.exp %x : tensor<?xf64>
  %r = tensor.extract_slice %e[%start] [%c4] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %r : tensor<?xf64> }"""


def test_extents_that_do_not_resolve_are_a_typed_error() -> None:
    """decompose_rel_resolution_failure_is_a_fixpoint_not_a_crash, try_emit_region_surfaces_typed_resolution_errors.

    The start of the last four elements is negative in a row of three: registered, refused for that shape, and a fused
    op never stands there.
    """
    given = session(HALVED)
    own = given.recipe("tail")
    (block,) = [Block(arg_types=[tensor("f32", 3)])]
    error = xfuse.try_emit(own, block.args)
    assert isinstance(error, DecomposeError)
    assert isinstance(error.__cause__, ShapeError)
    assert "-1" in str(error)
    assert block.is_empty
    with pytest.raises(ShapeError):
        xfuse.resolve_shapes(own, [(None,)])
    module = emitted(own, [tensor("f32", 2, 5)])
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    np.testing.assert_allclose(run(module, given, x), np.exp(x)[:, 1:], rtol=1e-6)


@pytest.mark.parametrize("shape", [(2, 4), (4, 6), (2, 3, 8)], ids=str)
def test_one_region_at_several_shapes(shape: Extents) -> None:
    """rel_region_emits_polymorphically_across_shapes: half of the extent, whatever it is."""
    own = spelled("slice_relative")
    types = [tensor("f32", *shape)]
    module = emitted(own, types)
    (x,) = values(types)
    ranks = [1]
    (wanted,) = each_item(reference("slice_relative"), [x], ranks, x.shape[:-1])
    np.testing.assert_array_equal(run(module, session(own), x), wanted)
    assert found(module, session(own)) == ["slice_relative"]


# Scans and views


@pytest.mark.parametrize("name", ["scan", "scan_final", "scan_early_exit"])
def test_scans_are_recipes(name: str) -> None:
    """tag_to_op_reconstructs_scan_and_placeholder, scan_recipe_validates_as_representable.

    Also scan_recipe_reemits_to_the_same_base_map_as_the_imperative_scan: emitted, a scan has its form at that shape.
    """
    own = spelled(name)
    assert session(own).recipe(name) is own
    types = types_at(own, "f32", (), 5)
    module = emitted(own, types)
    shapes = [tuple(type_.get_shape()) if isinstance(type_, TensorType) else () for type_ in types]
    assert identity(module).text == own.form("f32", shapes=shapes).text
    arrays = values(types)
    for got, wanted in zip(
        as_tuple(run(module, session(own), *arrays)), as_tuple(reference(name)(*arrays)), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("slot", [0, 1])
def test_each_result_of_a_scan_is_a_value(slot: int) -> None:
    """scan_view_slot0_reemits_to_the_same_base_map, scan_view_slot1_reemits_to_the_same_base_map.

    Also view_scan_recipe_validates_as_representable: a recipe that returns one of a scan's two values, all the carries
    or the last one, registers, and is emitted at that value's own shape.
    """
    text = spelling("scan")
    both, types = text[text.index("xfuse.yield") :], ("tensor<?xf64>", "f64")
    kept = ("%all", "%last")[slot]
    single = text.replace(both, f"xfuse.yield {kept} : {types[slot]}\n}}\n").replace(
        "(tensor<?xf64>, f64) attributes", f"{types[slot]} attributes"
    )
    own = session(single).recipe("scan")
    assert own.identity != spelled("scan").identity
    arguments = types_at(own, "f32", (), 5)
    module = emitted(own, arguments)
    shapes = [tuple(type_.get_shape()) if isinstance(type_, TensorType) else () for type_ in arguments]
    assert identity(module).text == own.form("f32", shapes=shapes).text
    arrays = values(arguments)
    np.testing.assert_allclose(run(module, session(own), *arrays), reference("scan")(*arrays)[slot], rtol=1e-5)


def test_a_carried_value_has_its_declared_type() -> None:
    """scan_placeholder_recipe_emits_its_declared_shape: that of the first carry, at the operands' element type."""
    own = spelled("scan_final")
    for use in ("f32", "f64"):
        module = emitted(own, types_at(own, use, (), 5))
        (loop,) = [op for op in module.walk() if op.name == "scf.for"]
        assert str(loop.regions[0].block.args[1].type) in (use, f"tensor<{use}>")


def test_decompose_leaves_everything_else_alone() -> None:
    """What is no fused op is the same op afterwards (law L1)."""
    module = function("%r = arith.addf %x, %y : T\nreturn %r : T")
    before = list(module.walk())
    xfuse.decompose_all(module)
    assert list(module.walk()) == before
