"""The library's recipes as the reference modules' own tests have theirs: right at every rank, matched, and put back.

Docstrings and parameters name the reference's tests; docs/reference-map.md lists all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import backward_references
import numpy as np
import pytest
import row_references
from reference_programs import Extents, emitted, found, fused, fused_ops, names, run, session, shipped, tensor
from row_references import Reference, rows, units
from support import CORPUS, parsed
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.transforms.common_subexpression_elimination import cse

import xfuse
from xfuse.emission import type_named
from xfuse.identify import identity
from xfuse.kernels import as_tuple
from xfuse.primitives.element_types import numpy_dtype
from xfuse.signature import core_signature
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp

RESHAPES = {"tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"}
N = 6
REFERENCES = {
    **row_references.REFERENCES,
    **backward_references.REFERENCES,
    "powi_backward_cube": Reference(lambda x, gradient: gradient * 3 * x**2, (rows(), rows()), units(8)),
}
FAMILIES = {
    "softmax": "softmax",
    "rope": "rotary",
    "rms_norm": "rms_norm",
    "layer_norm": "layer_norm",
    "softmax_backward": "softmax_backward",
    "layer_norm_backward": "layer_norm_backward",
    "rms_norm_backward": "rms_norm_backward",
    "fused_linear": "fused_linear",
    "reduce_max_to_backward": "reduce_max_backward",
    "powi_backward": "powi_backward_cube",
}
"""The reference's recipes, and those here."""
POLYMORPHIC = """
    softmax_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    rope_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    rms_norm_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    layer_norm_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    softmax_backward_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    layer_norm_backward_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    rms_norm_backward_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    fused_linear_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    reduce_max_to_backward_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
    powi_backward_recipe_decompose_is_polymorphic_and_matches_frozen_legacy
""".split()
WRONG = """
    softmax_recipe_wrong_params_is_a_fixpoint_not_a_crash
    rope_recipe_wrong_params_is_a_fixpoint_not_a_crash
    rms_norm_recipe_wrong_params_is_a_fixpoint_not_a_crash
    layer_norm_recipe_wrong_params_is_a_fixpoint_not_a_crash
    softmax_backward_recipe_wrong_params_is_a_fixpoint_not_a_crash
    layer_norm_backward_recipe_wrong_params_is_a_fixpoint_not_a_crash
    fused_linear_recipe_wrong_params_is_a_fixpoint_not_a_crash
    reduce_max_to_backward_recipe_wrong_params_is_a_fixpoint_not_a_crash
    powi_backward_recipe_wrong_params_is_a_fixpoint_not_a_crash
""".split()


def here(original: str) -> str:
    """The recipe that a test of the reference is about."""
    return FAMILIES[original.partition("_recipe_")[0]]


def arguments(name: str, loops: tuple[int, ...], use: str = "f32") -> list[Any]:
    """Arrays for a recipe at an element type."""
    own = shipped(name)
    made = REFERENCES[name].arguments(np.random.default_rng(len(loops)), loops, N)
    return [
        np.asarray(array).astype(numpy_dtype(each)) for array, each in zip(made, own.signature(use)[0], strict=True)
    ]


def instance(name: str, arrays: Sequence[Any], use: str = "f32", dynamic: bool = False) -> ModuleOp:
    """A recipe emitted for arrays: scalar slots are constants, extents are static or unknown."""
    own = shipped(name)
    types: list[Attribute] = []
    for array, element_type in zip(arrays, own.signature(use)[0], strict=True):
        shape: Extents = [None] * array.ndim if dynamic else array.shape
        types.append(tensor(element_type, *shape) if array.ndim else type_named(element_type))
    return emitted(own, types, {number: float(arrays[number]) for number in own.scalar_slots})


def given_to(name: str, arrays: Sequence[Any]) -> list[Any]:
    """Of a recipe's arguments those that are no slots."""
    return [array for number, array in enumerate(arrays) if number not in shipped(name).scalar_slots]


def check_numbers(name: str, got: Any, arrays: Sequence[Any], use: str = "f32") -> None:
    """Within the bound that the library declares for the recipe."""
    exact = [array if array.dtype.kind in "biu" else array.astype(np.float64) for array in arrays]
    assert max(REFERENCES[name].errors(got, exact, use)) <= 1


# One recipe at every rank


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("loops", [(), (3,), (2, 3), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("original", POLYMORPHIC)
def test_a_recipe_is_polymorphic_and_matches_itself(original: str, loops: tuple[int, ...], dynamic: bool) -> None:
    """The reference's ``original``: emitted at ranks from the core's on, fused, put back exactly, with right numbers.

    The reference compares with builders frozen by hand, bit by bit; here the reference is the formula at float64, and
    the fused program that of the plain one.
    """
    name = here(original)
    arrays = arguments(name, loops)
    module = instance(name, arrays, dynamic=dynamic)
    given = session(shipped(name))
    assert found(module, given) == [name]
    copy = fused(module, given)
    program = xfuse.compile(copy, backend="numpy", session=given)
    assert [row.identity for row in program.rows] == [shipped(name).identity]
    assert not program.inlined
    plain = run(module, given, *given_to(name, arrays))
    for got in (program(*given_to(name, arrays)), plain):
        check_numbers(name, got, arrays)


@pytest.mark.parametrize("use", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("name", FAMILIES.values())
def test_a_recipe_matches_itself_at_every_element_type(name: str, use: str) -> None:
    """The reference's recipes are of f32."""
    arrays = arguments(name, (2,), use)
    module = instance(name, arrays, use)
    given = session(shipped(name))
    assert found(module, given) == [name]
    check_numbers(name, run(fused(module, given), given, *given_to(name, arrays)), arrays, use)


@pytest.mark.parametrize("name", FAMILIES.values())
def test_among_the_whole_library(name: str) -> None:
    """softmax_last_dim_lower_then_fuse_round_trips: with all recipes at hand, the one that was emitted is found."""
    module = instance(name, arguments(name, (2, 3)))
    with xfuse.Session() as given:
        assert found(module, given) == [name]


WORDS = (("arith.divf", "arith.mulf"), ("arith.mulf", "arith.addf"), ("arith.addf", "arith.subf"))


@pytest.mark.parametrize("original", WRONG)
def test_a_fused_op_that_is_no_instance_of_its_label(original: str) -> None:
    """The reference's ``original``: parameters that do not fit are another region here. It runs and decomposes."""
    name = here(original)
    arrays = arguments(name, (2, 3))
    given = session(shipped(name))
    right = fused(instance(name, arrays), given)
    text = str(right)
    old, new = next((old, new) for old, new in WORDS if old in text)
    wrong = xfuse.parse_module(text.replace(old, new))
    (op,) = fused_ops(wrong)
    assert op.label == name
    assert given.recipe_of(op) is None
    program = xfuse.compile(wrong, backend="numpy", session=given)
    assert not program.rows
    assert len(program.inlined) == 1
    plain = wrong.clone()
    xfuse.decompose_all(plain)
    assert not fused_ops(plain)
    rest = given_to(name, arrays)
    for one_result, other in zip(as_tuple(program(*rest)), as_tuple(run(plain, given, *rest)), strict=True):
        np.testing.assert_array_equal(one_result, other)
    again = plain.clone()
    xfuse.decompose_all(again)
    assert str(again) == str(plain), "law L7"


def test_an_op_that_nobody_knows_is_no_recipe() -> None:
    """decompose_via_recipe_declines_an_unknown_token_recipe: it is refused, and nothing is emitted or registered."""
    text = 'xfuse.recipe @r(%x: f32) -> f32 { %r = "test.clamp"(%x) : (f32) -> f32 xfuse.yield %r : f32 }'
    given = session()
    with pytest.raises((xfuse.errors.RecipeError, xfuse.errors.ParsingError), match=r"test\.clamp"):
        given.register(text)
    assert not given.registry.entries()


# What is emitted


def kinds(module: ModuleOp) -> dict[str, int]:
    """How often each scalar op and structural op stands in a module."""
    found_names = names(module)
    return {name: found_names.count(name) for name in found_names}


SPELLED = {
    "softmax_recipe_emits_the_nine_node_shared_spelling": {
        "arith.maximumf": 1,
        "arith.subf": 1,
        "math.exp": 1,
        "arith.addf": 1,
        "arith.divf": 1,
    },
    "rms_norm_recipe_uses_the_unsqueeze_keepdim_swap": {"math.sqrt": 1, "arith.divf": 2, "arith.mulf": 1},
    "layer_norm_recipe_uses_the_unsqueeze_keepdim_swap": {"arith.subf": 1, "math.sqrt": 1, "arith.divf": 3},
    "softmax_backward_recipe_uses_the_sumdim_unsqueeze_swap": {"arith.addf": 1, "arith.subf": 1, "arith.mulf": 2},
    "layer_norm_backward_recipe_uses_the_unsqueeze_keepdim_swap": {},
    "rms_norm_backward_recipe_uses_the_unsqueeze_keepdim_swap_and_shape_scalar": {},
    "reduce_max_to_backward_recipe_shares_mask_and_has_no_reshape": {"arith.cmpf": 1},
    "powi_backward_recipe_is_a_direct_mirror_with_carrier_exponent": {},
    "rope_recipe_elides_the_noop_prep_reshape_at_equal_rank": {"arith.negf": 1, "arith.mulf": 2, "arith.addf": 1},
    "rope_recipe_is_byte_identical_to_legacy_at_rank_raise": {"arith.negf": 1, "arith.mulf": 2, "arith.addf": 1},
    "fused_linear_recipe_drives_withdim_broadcast_with_a_d4_pad": {"arith.mulf": 1, "arith.addf": 2},
}


@pytest.mark.parametrize("original", SPELLED)
def test_each_value_is_computed_once_and_nothing_is_reshaped(original: str) -> None:
    """The reference's ``original``, on the ops that are emitted: kept axes and other ranks are views of no cost."""
    name = here(original)
    module = instance(name, arguments(name, (2, 3)))
    counted = kinds(module)
    assert not RESHAPES & counted.keys()
    assert {kind: counted.get(kind, 0) for kind in SPELLED[original]} == SPELLED[original]
    assert str(instance(name, arguments(name, (2, 3)))) == str(module), "law L11"


@pytest.mark.parametrize("name", FAMILIES.values())
def test_cse_finds_nothing_in_what_is_emitted(name: str) -> None:
    """layer_norm_backward_recipe_open_slot_xhat_is_recomputed_then_cse_recollapses: here it is never recomputed."""
    module = instance(name, arguments(name, (2, 3)))
    before = kinds(module)
    cse(module)
    after = kinds(module)
    trivial = ("arith.constant", "tensor.empty", "tensor.dim", "linalg.fill", "tensor.splat", "linalg.yield")
    assert {kind: count for kind, count in before.items() if kind not in trivial} == {
        kind: count for kind, count in after.items() if kind not in trivial
    }


@pytest.mark.parametrize("extent", [5, 7, None])
def test_a_count_is_taken_from_the_shape(extent: int | None) -> None:
    """rms_norm_backward_recipe_uses_the_unsqueeze_keepdim_swap_and_shape_scalar: n is a literal, or is read."""
    own = shipped("rms_norm_backward")
    assert core_signature(own.form()).text == "(n),(n),()->(n)"
    module = emitted(own, [tensor("f32", 2, extent), tensor("f32", 2, extent), type_named("f32")], {2: 1e-3})
    if extent is None:
        assert "tensor.dim" in names(module)
    else:
        assert f"{float(extent):.6e} : f32" in str(module)
        assert "tensor.dim" not in names(module)
    assert found(module, session(own)) == ["rms_norm_backward"]


@pytest.mark.parametrize("tables", [(N,), (3, N), (2, 3, N), (2, 1, N)], ids=str)
def test_tables_of_another_rank_are_read_in_place(tables: tuple[int, ...]) -> None:
    """rope_recipe_is_byte_identical_to_legacy_at_rank_raise, rope_recipe_elides_the_noop_prep_reshape_at_equal_rank."""
    own = shipped("rotary")
    x, cosine, sine = (np.random.default_rng(k).standard_normal(s) for k, s in enumerate([(2, 3, N), tables, tables]))
    arrays = [array.astype(np.float32) for array in (x, cosine, sine)]
    module = instance("rotary", arrays)
    assert not RESHAPES & set(names(module))
    assert found(module, session(own)) == ["rotary"]
    half = np.concatenate([-arrays[0][..., N // 2 :], arrays[0][..., : N // 2]], -1)
    np.testing.assert_allclose(
        run(module, session(own), *arrays), arrays[0] * arrays[1] + half * arrays[2], rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("batch", [(), (2,)], ids=["2-D", "batched"])
def test_a_linear_layer_with_its_bias(batch: tuple[int, ...]) -> None:
    """fused_linear_recipe_decompose_is_polymorphic_and_matches_frozen_legacy: rows and columns are loop dimensions.

    Also fused_linear_recipe_drives_withdim_broadcast_with_a_d4_pad: the bias has the product's last axis alone.
    """
    own = shipped("fused_linear")
    random = np.random.default_rng(0)
    x, weight, bias = (random.standard_normal(shape).astype(np.float32) for shape in ((*batch, 4, 1, N), (5, N), (5,)))
    module = instance("fused_linear", [x, weight, bias])
    assert not RESHAPES & set(names(module))
    assert found(module, session(own)) == ["fused_linear"]
    wanted = x[..., 0, :] @ weight.T + bias
    np.testing.assert_allclose(
        run(fused(module, session(own)), session(own), x, weight, bias), wanted, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("exponent", [3, 2, 5, 1, 0, -2])
def test_derivatives_of_powers(exponent: int) -> None:
    """powi_backward_recipe_decompose_is_polymorphic_and_matches_frozen_legacy, at the reference's exponents.

    Also powi_backward_recipe_is_a_direct_mirror_with_carrier_exponent: the exponents are slots, one of them an integer.
    """
    own = shipped("powi_backward_baked")
    assert xfuse.count_scalar_slots(own) == 2
    types = [tensor("f32", 2, 4)] * 2 + [type_named("f32"), type_named("i32")]
    module = emitted(own, types, {2: float(exponent), 3: exponent - 1})
    assert not RESHAPES & set(names(module))
    assert names(module).count("math.fpowi") == 1
    given = session(own)
    # By x * 1 = x, a fold of the key, the derivative of x^1 is another function: it has one product less.
    assert found(module, given) == ([] if exponent == 1 else ["powi_backward_baked"])
    x, gradient = np.random.default_rng(1).uniform(0.5, 2.0, (2, 2, 4)).astype(np.float32)
    wanted = gradient * exponent * x ** np.float32(exponent - 1)
    np.testing.assert_allclose(run(fused(module, given), given, x, gradient), wanted, rtol=1e-5)


# Slots of the norms


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm"])
def test_epsilon_flows_through_its_slot(name: str) -> None:
    """rms_norm_recipe_eps_flows_through_the_open_slot, layer_norm_recipe_eps_flows_through_the_open_slot."""
    own = shipped(name)
    x = np.float32([[1e-3, -2e-3, 0, 1e-3, 3e-3, 1e-3]])
    results: list[Any] = []
    for epsilon in (1e-5, 1e-2):
        module = emitted(own, [tensor("f32", 1, N), type_named("f32")], {1: epsilon})
        (match,) = session(own).match(module).chosen
        assert match.recipe.identity == own.identity
        assert len(match.scalars) == 1
        results.append(run(fused(module, session(own)), session(own), x))
        check_numbers(name, results[-1], [x, np.asarray(np.float32(epsilon))])
    assert not np.allclose(*results, rtol=0.1)


# Against programs that others wrote


@pytest.mark.parametrize(
    ("original", "name", "slots", "path"),
    [
        ("emit_matches_softmax_last_dim_decompose", "softmax", {}, "variants/softmax/arith.mlir"),
        ("emit_matches_softmax_last_dim_decompose", "softmax", {}, "variants/softmax/from_jax.mlir"),
        (
            "emit_matches_layer_norm_last_dim_decompose",
            "layer_norm_affine_rsqrt",
            {3: 1e-5},
            "variants/layernorm/arith.mlir",
        ),
        (
            "emit_matches_layer_norm_last_dim_decompose",
            "layer_norm_affine_moments",
            {3: 1e-5},
            "variants/layernorm/from_jax.mlir",
        ),
    ],
)
def test_what_is_emitted_is_what_compilers_write(original: str, name: str, slots: dict[int, float], path: str) -> None:
    """The reference's ``original``: node for node the program of another author, in another spelling (law L5)."""
    theirs = parsed(CORPUS / path)
    (main,) = theirs.body.block.ops
    types = list(main.function_type.inputs.data)
    for number in slots:
        types.insert(number, type_named("f32"))
    module = emitted(shipped(name), types, slots)
    assert identity(module).text == identity(theirs).text, original


def test_a_rotation_written_by_hand() -> None:
    """emit_matches_rope_decompose: x cos + concat(-x[h:], x[:h]) sin, written with static slices."""
    t, h = "tensor<2x6xf32>", "tensor<2x3xf32>"
    theirs = xfuse.parse_module(f"""func.func @main(%x: {t}, %cos: {t}, %sin: {t}) -> {t} {{
      %low = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : {t} to {h}
      %high = tensor.extract_slice %x[0, 3] [2, 3] [1, 1] : {t} to {h}
      %n = arith.negf %high : {h}
      %half = tensor.concat dim(1) %n, %low : ({h}, {h}) -> {t}
      %a = arith.mulf %x, %cos : {t}
      %b = arith.mulf %half, %sin : {t}
      %r = arith.addf %b, %a : {t}
      return %r : {t} }}""")
    own = shipped("rotary")
    module = emitted(own, [tensor("f32", 2, 6)] * 3)
    assert identity(module).text == identity(theirs).text
    assert found(theirs, session(own)) == ["rotary"]


def test_the_reference_cannot_match_its_own_softmax() -> None:
    """Wrong in the reference: exp is read twice inside, by the sum and by the ratio, so that it never matches again."""
    own = shipped("softmax")
    module = emitted(own, [tensor("f32", 4, N)])
    copy = fused(module, session(own))
    (op,) = fused_ops(copy)
    assert isinstance(op, FusedOp)
    (exponentials,) = [
        inner.results[0] for inner in op.body.block.ops if "math.exp" in {each.name for each in inner.walk()}
    ]
    assert len(list(exponentials.uses)) == 2
    xfuse.decompose_all(copy)
    assert program_difference(module, copy) is None
    assert re.search(r"math\.exp", str(copy))
