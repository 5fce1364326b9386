"""Matching as the reference modules' own tests have it, and right where those modules match too much or too little.

Docstrings name the reference's tests; docs/reference-map.md lists all of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from reference_programs import (
    emitted,
    found,
    function,
    fused,
    fused_ops,
    names,
    one,
    run,
    session,
    spelled,
    spelling,
    types_at,
    values,
)
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr

import xfuse
from xfuse.errors import DecomposeError
from xfuse.kernels import as_tuple

RELU_ADD = """xfuse.recipe @relu_add(%a: f32, %b: f32) -> f32 {
  %s = arith.addf %a, %b : f32 %z = arith.constant 0.0 : f32 %r = arith.maximumf %s, %z : f32
  xfuse.yield %r : f32 }"""
TANH_RELU = """xfuse.recipe @tanh_relu(%a: f32) -> f32 {
  %z = arith.constant 0.0 : f32 %m = arith.maximumf %a, %z : f32 %r = math.tanh %m : f32 xfuse.yield %r : f32 }"""
ZERO = "%zero = arith.constant dense<0.0> : tensor<4xf32>\n"


def recipe(name: str, arguments: str, *lines: str) -> str:
    """A recipe on f32 scalars; the last line names the result, ``!`` in front of an argument marks a slot."""
    listed = ", ".join(
        f"%{each[1:]}: f32 {{xfuse.scalar}}" if each[0] == "!" else f"%{each}: f32" for each in arguments.split()
    )
    body = "\n".join(lines[:-1])
    return f"xfuse.recipe @{name}({listed}) -> f32 {{\n{body}\nxfuse.yield %{lines[-1]} : f32\n}}"


# Binding


def test_arguments_are_bound_in_their_order() -> None:
    """match_region_binds_relu_add, declarative_pattern_matches_and_fuses_relu_add."""
    module = function(ZERO + "%s = arith.addf %y, %x : T\n%r = arith.maximumf %s, %zero : T\nreturn %r : T")
    given = session(RELU_ADD.replace("addf %a, %b", "subf %a, %b"))
    assert found(module, given) == [], "the difference is another op"
    given = session(RELU_ADD)
    copy = fused(module, given)
    (op,) = fused_ops(copy)
    assert [value.name_hint for value in op.inputs] in (["x", "y"], ["y", "x"])
    ordered = function(ZERO + "%s = arith.subf %y, %x : T\n%r = arith.maximumf %s, %zero : T\nreturn %r : T")
    (op,) = fused_ops(fused(ordered, session(RELU_ADD.replace("addf", "subf"))))
    assert [value.name_hint for value in op.inputs] == ["y", "x"]
    x, y = np.float32([1, -2, 3, -4]), np.float32([-2, 1, 1, 1])
    np.testing.assert_array_equal(run(copy, given, x, y), np.maximum(x + y, 0))


@pytest.mark.parametrize("order", ["%e, %y", "%y, %e"])
def test_commutative_operands_bind_in_either_order(order: str) -> None:
    """match_region_commutative_order_independent."""
    given = session(recipe("r", "a b", "%e = math.exp %a : f32", "%p = arith.mulf %e, %b : f32", "p"))
    module = function(f"%e = math.exp %x : T\n%r = arith.mulf {order} : T\nreturn %r : T")
    (op,) = fused_ops(fused(module, given))
    assert [value.name_hint for value in op.inputs] == ["x", "y"]


@pytest.mark.parametrize("inner", ["subf", "mulf", "maximumf"])
def test_another_inner_op_is_no_match(inner: str) -> None:
    """match_region_rejects_wrong_interior_op."""
    body = ZERO + f"%s = arith.{inner} %x, %y : T\n%r = arith.maximumf %s, %zero : T\nreturn %r : T"
    assert found(function(body), session(RELU_ADD)) == []


def test_a_plain_division_is_no_softmax() -> None:
    """fuse_rule_does_not_fire_on_plain_div, declines_a_non_fused_node: no match, and nobody asks for a kernel."""
    with xfuse.Session() as given:
        matches = given.match(function("%r = arith.divf %x, %y : T\nreturn %r : T"), only=("softmax",))
    assert not matches.chosen
    assert not any(refusal.rule == "L4" for refusal in matches.refusals)


def test_no_recipes_no_change() -> None:
    """empty_registry_is_noop, no_adopted_op_emits_nothing."""
    module = function(ZERO + "%s = arith.addf %x, %y : T\n%r = arith.maximumf %s, %zero : T\nreturn %r : T")
    before = str(module)
    given = session()
    assert not given.match(module).chosen
    assert str(xfuse.fuse(module, session=given)) == before


# Slots


def scaled(first: str, second: str) -> str:
    """(x * first + y) * second."""
    return (
        f"%p = arith.constant dense<{first}> : T\n%q = arith.constant dense<{second}> : T\n"
        "%m = arith.mulf %x, %p : T\n%s = arith.addf %m, %y : T\n%r = arith.mulf %s, %q : T\nreturn %r : T"
    )


TWO_SLOTS = recipe(
    "two",
    "a !p b !q",
    "%m = arith.mulf %a, %p : f32",
    "%s = arith.addf %m, %b : f32",
    "%r = arith.mulf %s, %q : f32",
    "r",
)


def literals(match: xfuse.Match) -> list[float]:
    """The constants bound to the slots."""
    made: list[float] = []
    for value in match.scalars:
        assert isinstance(value.owner, arith.ConstantOp)
        attribute = value.owner.value
        made.append(
            attribute.value.data if isinstance(attribute, FloatAttr) else float(next(iter(attribute.get_values())))
        )
    return made


def test_live_scalars_in_argument_order() -> None:
    """match_region_extract_reads_live_scalars_in_pattern_pre_order: in the order that the author chose for arguments.

    So does scalar_cursor_fill_stays_pre_order_after_the_reorder, as far as there are cursors here.
    """
    module = function(scaled("0.5", "2.5"))
    given = session(TWO_SLOTS)
    (match,) = given.match(module).chosen
    assert literals(match) == [0.5, 2.5]
    swapped = session(
        TWO_SLOTS.replace(
            "%a: f32, %p: f32 {xfuse.scalar}, %b: f32, %q", "%q: f32 {xfuse.scalar}, %b: f32, %a: f32, %p"
        )
    )
    (match,) = swapped.match(module).chosen
    assert literals(match) == [2.5, 0.5]
    for each in (given, swapped):
        x, y = np.float32([1, 2, 3, 4]), np.float32([4, 3, 2, 1])
        np.testing.assert_array_equal(run(fused(module, each), each, x, y), (x * np.float32(0.5) + y) * np.float32(2.5))


def test_a_fused_op_carries_its_scalar() -> None:
    """emitted_arm_carries_the_extracted_live_scalar, decompose_fills_slots_from_the_node_scalars: as an operand."""
    given = session(recipe("scale", "a !s", "%e = math.exp %a : f32", "%r = arith.mulf %e, %s : f32", "r"))
    module = function(
        "%k = arith.constant dense<7.25> : T\n%e = math.exp %x : T\n%r = arith.mulf %e, %k : T\nreturn %r : T"
    )
    (match,) = given.match(module).chosen
    assert literals(match) == [7.25]
    copy = fused(module, given)
    (op,) = fused_ops(copy)
    assert isinstance(op.inputs[1].owner, arith.ConstantOp)
    x = np.float32([0, 1, 2, 3])
    np.testing.assert_array_equal(run(copy, given, x, x), np.exp(x) * np.float32(7.25))
    xfuse.decompose_all(copy)
    assert "7.25" in str(copy)
    assert names(copy).count("arith.mulf") == 1


def test_a_baked_literal_is_compared_and_not_extracted() -> None:
    """baked_scalar_is_a_pattern_constant_not_a_slot."""
    given = session(
        recipe("r", "a", "%k = arith.constant 2.5 : f32", "%e = math.exp %a : f32", "%r = arith.mulf %e, %k : f32", "r")
    )
    text = "%k = arith.constant dense<{}> : T\n%e = math.exp %x : T\n%r = arith.mulf %e, %k : T\nreturn %r : T"
    (match,) = given.match(function(text.format("2.5"))).chosen
    assert match.scalars == ()
    assert not given.match(function(text.format("2.0"))).chosen
    assert xfuse.count_scalar_slots(given.recipe("r")) == 0


# Attributes: what the reference's matcher ignores


NEAR_MISSES = {
    "cast to f16, cast to bf16": ("cast", {"f16": "bf16"}, 4),
    "slice 1 to 4, slice 0 to 2": ("slice", {"[1] [3] [1]": "[0] [2] [1]", "<3xf64>": "<2xf64>"}, 6),
    "roll by 3, roll by 1": ("roll", {"constant 3": "constant 1"}, 6),
    "pad 1 and 2, pad 2 and 1": ("pad", {"low[1] high[2]": "low[2] high[1]"}, 6),
    "upper triangle, with the diagonal": (
        "triu",
        {"%diagonal = arith.constant 1": "%diagonal = arith.constant 0"},
        None,
    ),
    "fill by 2, fill by 3": ("masked_fill", {"2.0": "3.0"}, 4),
    "third power, square": ("powi", {"constant 3": "constant 2"}, 4),
    "slice to the half, to a third": ("slice_relative", {"constant 2": "constant 3"}, 6),
}


@pytest.mark.parametrize("pair", NEAR_MISSES)
def test_every_attribute_is_compared(pair: str) -> None:
    """Wrong in the reference, where the program of the one matches the other. Each recipe finds itself.

    Also op_to_attrs_projects_new_first_order_params: the attributes are seen.
    """
    name, changes, extent = NEAR_MISSES[pair]
    right, wrong = spelled(name), one(spelling(name, changes))
    use = "f32" if "f32" in right.uses else right.uses[-1]
    loops = (2,) if right.is_scalar else ()
    for own, other in ((right, wrong), (wrong, right)):
        module = emitted(own, types_at(own, use, loops, extent, n=None if extent is None else extent, m=extent))
        assert found(module, session(own)) == [name]
        assert found(module, session(other)) == []


@pytest.mark.parametrize("axis", [0, 1])
def test_a_sum_over_the_last_axis_is_one_over_any(axis: int) -> None:
    """Wrong in the reference: SumDim(last) matches SumDim(0) and sums the wrong axis. Here the axis is a view."""
    kept = "d0" if axis else "d1"
    extent = 3 if axis else 4
    kinds = '["parallel", "reduction"]' if axis else '["reduction", "parallel"]'
    module = function(
        f"""%z = arith.constant 0.0 : f32 %e = tensor.empty() : tensor<{extent}xf32>
        %f = linalg.fill ins(%z : f32) outs(%e : tensor<{extent}xf32>) -> tensor<{extent}xf32>
        %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ({kept})>],
            iterator_types = {kinds}}} ins(%x : tensor<3x4xf32>) outs(%f : tensor<{extent}xf32>) {{
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %b, %a : f32
          linalg.yield %s : f32
        }} -> tensor<{extent}xf32>
        return %r : tensor<{extent}xf32>""",
        "%x: tensor<3x4xf32>",
        f"tensor<{extent}xf32>",
    )
    given = session(spelled("sum_dim"))
    assert found(module, given) == ["sum_dim"]
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(run(fused(module, given), given, x), x.sum(axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_broadcast_that_raises_the_rank_is_a_view(axis: int) -> None:
    """Wrong in the reference: BroadcastTo matches whatever the rank, and along which axis."""
    module = function(
        f"""%e = tensor.empty() : T
        %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
            affine_map<(i, j) -> ({"ij"[axis]})>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]}} ins(%x, %y : T, tensor<4xf32>) outs(%e : T) {{
        ^bb0(%a: f32, %b: f32, %o: f32):
          %s = arith.addf %a, %b : f32
          %z = arith.constant 0.0 : f32
          %m = arith.maximumf %s, %z : f32
          linalg.yield %m : f32
        }} -> T
        return %r : T""",
        "%x: tensor<4x4xf32>, %y: tensor<4xf32>",
        "tensor<4x4xf32>",
    )
    given = session(RELU_ADD)
    assert found(module, given) == ["relu_add"]
    x, y = np.arange(16, dtype=np.float32).reshape(4, 4) - 8, np.float32([1, 2, 3, 4])
    np.testing.assert_array_equal(
        run(fused(module, given), given, x, y), np.maximum(x + (y if axis else y[:, None]), 0)
    )


MINUS_TRANSPOSED = """xfuse.recipe @r(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf64>
  %e = tensor.empty(%n, %n) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.subf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64> }"""


@pytest.mark.parametrize(
    ("order", "matches"),
    [
        ("j, i, k", True),
        ("i, k, j", True),
        ("k, j, i", True),
        ("k, i, j", False),
        ("j, k, i", False),
        ("i, j, k", False),
    ],
)
def test_a_permutation_is_compared(order: str, matches: bool) -> None:
    """match_node_discriminates_on_perm_attr: x - x[permuted] is x minus its transpose only if two axes are swapped."""
    module = function(
        f"""%e = tensor.empty() : T
        %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> ({order})>,
            affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}}
            ins(%x, %x : T, T) outs(%e : T) {{
        ^bb0(%a: f32, %b: f32, %o: f32):
          %s = arith.subf %a, %b : f32
          linalg.yield %s : f32
        }} -> T
        return %r : T""",
        "%x: tensor<3x3x3xf32>",
        "tensor<3x3x3xf32>",
    )
    given = session(MINUS_TRANSPOSED)
    assert found(module, given) == (["r"] if matches else [])
    x = np.random.default_rng(0).standard_normal((3, 3, 3)).astype(np.float32)
    read = np.einsum(f"{order.replace(', ', '')}->ijk", x)
    np.testing.assert_array_equal(run(fused(module, given), given, x), x - read)


# Patterns that never match there


NEVER_THERE = [
    ("reduce_sum_to", (2,)),
    ("reduce_max_to", (2,)),
    ("cum_sum", ()),
    ("index_select", (2,)),
    ("gather", (2,)),
    ("index_add", ()),
    ("softmax", (2,)),
    ("scan", ()),
    ("scan_final", ()),
]


@pytest.mark.parametrize("extent", [5, None], ids=["static", "dynamic"])
@pytest.mark.parametrize(("name", "loops"), NEVER_THERE, ids=[name for name, _ in NEVER_THERE])
def test_what_the_reference_can_never_match(name: str, loops: tuple[int, ...], extent: int | None) -> None:
    """Wrong in the reference: these never match. Also softmax_last_dim_lower_then_fuse_round_trips."""
    own = spelled(name) if name != "softmax" else xfuse.Session().recipe("softmax")
    types = types_at(own, "f32", loops, extent)
    module = emitted(own, types)
    given = session(own)
    assert found(module, given) == [name]
    arrays = values(types)
    before, after = run(module, given, *arrays), run(fused(module, given), given, *arrays)
    for one_result, other in zip(as_tuple(before), as_tuple(after), strict=True):
        np.testing.assert_allclose(one_result, other, rtol=1e-6)


@pytest.mark.parametrize("order", ["%s, %x", "%x, %s"])
@pytest.mark.parametrize("inner", ["%x, %y", "%y, %x"])
def test_the_search_backtracks_over_the_whole_pattern(inner: str, order: str) -> None:
    """Wrong in the reference: sub(add(y, x), x) is sub(add(b0, b1), b0), and only with x taken away."""
    given = session(recipe("r", "a b", "%s = arith.addf %a, %b : f32", "%r = arith.subf %s, %a : f32", "r"))
    body = f"%s = arith.addf {inner} : T\n%r = arith.subf {order} : T\nreturn %r : T"
    assert found(function(body), given) == (["r"] if order.startswith("%s") else [])


@pytest.mark.parametrize("shared", [True, False], ids=["one exp", "two"])
@pytest.mark.parametrize("pattern", ["one", "two"])
def test_equal_ops_are_one_value_on_both_sides(pattern: str, shared: bool) -> None:
    """Wrong in the reference: whether mul(e, e) is mul(exp(b0), exp(b0)) depends on who counts the readers."""
    lines = ["%e = math.exp %a : f32", "%f = math.exp %a : f32", "%r = arith.mulf %e, %f : f32", "r"]
    given = session(
        recipe("r", "a", *lines)
        if pattern == "two"
        else recipe("r", "a", lines[0], "%r = arith.mulf %e, %e : f32", "r")
    )
    body = "%e = math.exp %x : T\n%f = math.exp %x : T\n%r = arith.mulf %e, %f : T\nreturn %r : T"
    module = function(body if not shared else "%e = math.exp %x : T\n%r = arith.mulf %e, %e : T\nreturn %r : T")
    assert found(module, given) == ["r"]


# Readers, roots and overlaps


def test_a_value_that_is_read_outside_stays() -> None:
    """match_region_declines_shared_interior: a second reader, and a result of the function, which is one too."""
    lines = ZERO + "%s = arith.addf %x, %y : T\n%r = arith.maximumf %s, %zero : T\n"
    returned = xfuse.parse_module(
        "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
        + (lines + "return %r, %s : T, T").replace(" T", " tensor<4xf32>")
        + "\n}"
    )
    read = function(lines + "%n = arith.negf %s : T\n%q = arith.mulf %r, %n : T\nreturn %q : T")
    for module in (returned, read):
        matches = session(RELU_ADD).match(module)
        assert not matches.chosen
        assert ("R4", "escape") in {(refusal.rule, refusal.reason) for refusal in matches.refusals}
        assert found(module, session(RELU_ADD)) == []


def test_a_dead_reader_does_not_block() -> None:
    """Wrong in the reference: unreachable nodes count as readers."""
    module = function(
        ZERO + "%s = arith.addf %x, %y : T\n%d = math.exp %s : T\n%r = arith.maximumf %s, %zero : T\nreturn %r : T"
    )
    assert found(module, session(RELU_ADD)) == ["relu_add"]


def test_the_root_may_be_the_result_of_the_function() -> None:
    """Wrong in the reference: a region at the output of the graph gets no fused arm.

    Also runtime_op_fuses_and_round_trips_through_the_pass and emits_a_fused_arm_for_an_adopted_region_match: one fused
    op, and the plain program comes back.
    """
    module = function(ZERO + "%s = arith.addf %x, %y : T\n%r = arith.maximumf %s, %zero : T\nreturn %r : T")
    given = session(RELU_ADD)
    copy = fused(module, given)
    assert [op.label for op in fused_ops(copy)] == ["relu_add"]
    assert "arith.addf" not in [op.name for op in next(iter(copy.body.block.ops)).regions[0].block.ops]


def test_overlapping_matches_do_not_fail() -> None:
    """Wrong in the reference: relu(add) and tanh(relu) together make the whole optimize fail."""
    module = function(
        ZERO + "%s = arith.addf %x, %y : T\n%m = arith.maximumf %s, %zero : T\n%r = math.tanh %m : T\nreturn %r : T"
    )
    for order in ([RELU_ADD, TANH_RELU], [TANH_RELU, RELU_ADD]):
        given = session(*order)
        matches = given.match(module)
        assert len(matches.chosen) == 1
        copy = fused(module, given)
        assert len(fused_ops(copy)) == 1
        x, y = np.float32([1, -2, 3, -4]), np.float32([-2, 1, 1, 1])
        np.testing.assert_array_equal(run(copy, given, x, y), run(module, given, x, y))


def test_the_larger_match_wins_not_the_first_registered() -> None:
    """Wrong in the reference: the first one wins (rule R7)."""
    whole = recipe(
        "whole",
        "a b",
        "%s = arith.addf %a, %b : f32",
        "%z = arith.constant 0.0 : f32",
        "%m = arith.maximumf %s, %z : f32",
        "%r = math.tanh %m : f32",
        "r",
    )
    module = function(
        ZERO + "%s = arith.addf %x, %y : T\n%m = arith.maximumf %s, %zero : T\n%r = math.tanh %m : T\nreturn %r : T"
    )
    for order in ([RELU_ADD, TANH_RELU, whole], [whole, TANH_RELU, RELU_ADD]):
        assert found(module, session(*order)) == ["whole"]


def test_a_later_argument_may_descend_from_an_earlier_one() -> None:
    """Wrong in the reference: the region mul(exp(b0), b1) on exp(x) * cos(x) is an invalid branch."""
    given = session(recipe("r", "a b", "%e = math.exp %a : f32", "%r = arith.mulf %e, %b : f32", "r"))
    module = function("%e = math.exp %x : T\n%c = math.cos %x : T\n%r = arith.mulf %e, %c : T\nreturn %r : T")
    copy = fused(module, given)
    (op,) = fused_ops(copy)
    assert op.inputs[1].owner.name == "math.cos"
    x = np.float32([0, 1, 2, 3])
    np.testing.assert_array_equal(run(copy, given, x, x), np.exp(x) * np.cos(x))


@pytest.mark.parametrize("predicate", ["olt", "ogt", "oeq"])
def test_comparisons_are_mirrored(predicate: str) -> None:
    """Wrong in the reference: a < b is b > a (rule R2)."""
    mirrored = {"olt": "ogt", "ogt": "olt", "oeq": "oeq"}[predicate]
    given = session(
        recipe("r", "a b", f"%c = arith.cmpf {predicate}, %a, %b : f32", "%r = arith.select %c, %a, %b : f32", "r")
    )
    module = xfuse.parse_module(
        f"func.func @main(%x: f32, %y: f32) -> f32 {{ %c = arith.cmpf {mirrored}, %y, %x : f32\n"
        "%r = arith.select %c, %x, %y : f32\nreturn %r : f32 }"
    )
    assert found(module, given) == ["r"]


# Vocabulary


@pytest.mark.parametrize("name", ["neg", "exp", "tanh", "maximum", "where", "lt", "cast"])
def test_functional_ops_have_nodes(name: str) -> None:
    """op_to_tag_projects_functional_ops_and_skips_structural: each op of the function is a node of the form."""
    own = spelled(name)
    module = emitted(own, types_at(own, "f32", (2,)))
    assert found(module, session(own)) == [name]


def test_structural_ops_leave_no_node() -> None:
    """op_to_tag_projects_functional_ops_and_skips_structural: an axis of extent 1 that comes and goes is a view."""
    module = function(
        ZERO
        + """%w = tensor.expand_shape %x [[0, 1]] output_shape [4, 1] : T into tensor<4x1xf32>
        %v = tensor.collapse_shape %w [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
        %s = arith.addf %v, %y : T
        %r = arith.maximumf %s, %zero : T
        return %r : T"""
    )
    assert found(module, session(RELU_ADD)) == ["relu_add"]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_maximum_along_an_axis(axis: int) -> None:
    """max_dim_projects_tag_and_axis: the combining op and the axis, and no other axis."""
    own = spelled("max_dim")
    module = emitted(own, types_at(own, "f32", (2, 3), 4))
    assert found(module, session(own)) == ["max_dim"]
    assert found(module, session(spelled("sum_dim"))) == []
    x = np.random.default_rng(axis).standard_normal((2, 3, 4)).astype(np.float32)
    np.testing.assert_array_equal(run(fused(module, session(own)), session(own), x), x.max(-1))


def test_too_few_values_are_a_typed_error() -> None:
    """decompose_via_recipe_bind_arity_mismatch_is_a_fixpoint: elsewhere in the reference it panics."""
    own = one(RELU_ADD)
    error = xfuse.try_emit(own, [])
    assert isinstance(error, DecomposeError)
    assert "takes 2 inputs, got 0" in str(error)


def test_a_row_of_indices_is_found_or_refused() -> None:
    """Wrong in the reference, which takes a region without arguments: here its length is one, a scalar slot."""
    own = spelled("iota")
    given = session(own)
    module = emitted(own, types_at(own, None), {0: 5.0})
    matches = given.match(module)
    assert [match.recipe.name for match in matches.chosen] == ["iota"] or matches.refusals
    np.testing.assert_array_equal(run(fused(module, given), given), np.arange(5, dtype=np.float32))
