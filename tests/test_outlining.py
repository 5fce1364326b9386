"""What outlining puts together and what it leaves alone, on small programs."""

from __future__ import annotations

import numpy as np
import pytest
from random_programs import order_problem
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import xfuse
from xfuse.errors import UnsupportedError
from xfuse.outlining.options import OutlineOptions
from xfuse.outlining.order import GroupOrder
from xfuse.outlining.outline import Outlined
from xfuse.parser import default_context, parse_module
from xfuse.session import Session
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp, RecipeOp

T = "tensor<8x16xf32>"
ROW = "tensor<8xf32>"

SUM = f"""
%z = arith.constant 0.0 : f32
%e = tensor.empty() : {ROW}
%f = linalg.fill ins(%z : f32) outs(%e : {ROW}) -> {ROW}
"""


def total(name: str, of: str, axis: int = 1, kind: str = "arith.addf", type_: str = ROW, start: str = "%f") -> str:
    """A reduction of a tensor along one axis."""
    return (
        f"%{name} = linalg.reduce ins(%{of} : {T}) outs({start} : {type_}) dimensions = [{axis}] "
        f"(%in_{name}: f32, %acc_{name}: f32) {{\n%out_{name} = {kind} %in_{name}, %acc_{name} : f32\n"
        f"linalg.yield %out_{name} : f32\n}}"
    )


def function(body: str, result: str, type_: str = T, arguments: str = f"%x: {T}, %y: {T}", name: str = "main") -> str:
    return f"func.func @{name}({arguments}) -> {type_} {{\n{body}\nreturn {result} : {type_}\n}}\n"


def outlined(text: str, **options: object) -> tuple[ModuleOp, Outlined]:
    """A text outlined, verified, and checked to come back (L2, L7, L8)."""
    module = parse_module(text, context=default_context(allow_unregistered=True))
    original = module.clone()
    session = Session(library=False)
    found = session.outline(module, "numpy", OutlineOptions(**options))
    module.verify()
    assert order_problem(module) is None
    once = str(module)
    assert session.outline(module, "numpy", OutlineOptions(**options)).clusters == []
    assert str(module) == once
    back = module.clone()
    xfuse.decompose_all(back)
    xfuse.decompose_all(original)
    assert program_difference(original, back) is None
    return module, found


def names(found: Outlined) -> list[str]:
    return [cluster.recipe.name for cluster in found.clusters]


def fused(module: ModuleOp) -> list[FusedOp]:
    return [op for op in module.walk() if isinstance(op, FusedOp)]


def reasons(found: Outlined) -> set[tuple[str, str]]:
    return {(each.rule, each.reason) for each in found.left_out}


# What goes together


def test_an_elementwise_dag_is_one_cluster_at_scalar_rank() -> None:
    body = f"%a = arith.mulf %x, %y : {T}\n%b = arith.addf %a, %y : {T}\n%c = math.tanh %b : {T}"
    module, found = outlined(function(body, "%c"))
    (cluster,) = found.clusters
    assert names(found) == ["mul_add_tanh"]
    assert str(cluster.recipe.op.function_type) == "(f32, f32) -> f32"
    assert [op.name for op in cluster.ops] == ["arith.mulf", "arith.addf", "math.tanh"]
    assert cluster.scalar_ops == 3
    # Read: x, y | a, y | b, and written: a, b, c; then only x, y and c.
    assert cluster.saved_bytes == (8 - 3) * 8 * 16 * 4
    assert cluster.saved_seconds > 2e-6
    assert [op.label for op in fused(module)] == ["mul_add_tanh"]
    assert found.recipes == [cluster.recipe]


def test_a_softmax_is_one_row_recipe() -> None:
    body = (
        f"%ninf = arith.constant -1.0e30 : f32\n{SUM}"
        f"%g = linalg.fill ins(%ninf : f32) outs(%e : {ROW}) -> {ROW}\n%w = tensor.empty() : {T}\n"
        + total("m", "x", kind="arith.maximumf", start="%g")
        + f"\n%mb = linalg.broadcast ins(%m : {ROW}) outs(%w : {T}) dimensions = [1]\n"
        + f"%d = arith.subf %x, %mb : {T}\n%p = math.exp %d : {T}\n"
        + total("s", "p")
        + f"\n%sb = linalg.broadcast ins(%s : {ROW}) outs(%w : {T}) dimensions = [1]\n%r = arith.divf %p, %sb : {T}"
    )
    module, found = outlined(function(body, "%r"))
    (cluster,) = found.clusters
    assert cluster.scalar_ops == 5
    assert [str(type_) for type_ in cluster.recipe.argument_types] == ["tensor<?xf32>"]
    assert cluster.after.bytes == 2 * 8 * 16 * 4
    assert len(fused(module)[0].inputs) == 1


def test_several_results_where_others_read_inner_values() -> None:
    other = f'%u = "test.use"(%a) : ({T}) -> {T}'
    body = f"%a = math.exp %x : {T}\n%b = arith.addf %a, %y : {T}\n{other}\n%c = arith.subf %b, %a : {T}"
    module, found = outlined(function(body, "%c"))
    (op,) = fused(module)
    assert len(op.outputs) == 2
    assert found.clusters[0].scalar_ops == 3


def test_reductions_along_different_axes_are_not_put_together() -> None:
    column = "tensor<16xf32>"
    body = (
        f"{SUM}%e2 = tensor.empty() : {column}\n%f2 = linalg.fill ins(%z : f32) outs(%e2 : {column}) -> {column}\n"
        f"%p = math.exp %x : {T}\n{total('s', 'p')}\n{total('t', 'p', 0, type_=column, start='%f2')}"
    )
    text = function(body, "%s, %t", f"{ROW}, {column}").replace(f"-> {ROW}, {column} {{", f"-> ({ROW}, {column}) {{")
    _, found = outlined(text, min_ops=1)
    assert sorted(names(found)) == ["exp_sum", "sum"]


def test_work_is_not_repeated_along_loops() -> None:
    """A costly op on a row is not done anew at each of many columns; a cheap one is, to save the call."""
    wide, narrow = "tensor<4096x64xf32>", "tensor<4096xf32>"
    for op, expected in (("math.powf %v, %v", 1), ("arith.mulf %v, %v", 2)):
        small = "tensor<4x64xf32>", "tensor<4xf32>"
        type_, row = (wide, narrow) if expected == 1 else small
        body = (
            f"%a = {op} : {row}\n%e = tensor.empty() : {type_}\n"
            f"%b = linalg.broadcast ins(%a : {row}) outs(%e : {type_}) dimensions = [1]\n"
            f"%c = arith.addf %x, %b : {type_}\n"
        )
        _, found = outlined(function(body, "%c", type_, f"%x: {type_}, %v: {row}"), min_ops=1)
        assert max(cluster.scalar_ops for cluster in found.clusters) == expected


def test_views_are_absorbed_and_no_operands() -> None:
    bias = "tensor<16xf32>"
    body = (
        f"%e = tensor.empty() : {T}\n%b = linalg.broadcast ins(%v : {bias}) outs(%e : {T}) dimensions = [0]\n"
        f"%a = arith.addf %x, %b : {T}\n%t = math.exp %a : {T}\n%q = tensor.empty() : tensor<16x8xf32>\n"
        f"%r = linalg.transpose ins(%t : {T}) outs(%q : tensor<16x8xf32>) permutation = [1, 0]"
    )
    module, _ = outlined(function(body, "%r", "tensor<16x8xf32>", f"%x: {T}, %v: {bias}"))
    (op,) = fused(module)
    assert {str(each.type) for each in op.inputs} == {T, bias}
    assert [str(each.type) for each in op.outputs] == ["tensor<16x8xf32>"]


def test_a_view_that_others_read_stays_outside() -> None:
    bias = "tensor<16xf32>"
    body = (
        f"%e = tensor.empty() : {T}\n%b = linalg.broadcast ins(%v : {bias}) outs(%e : {T}) dimensions = [0]\n"
        f'%u = "test.use"(%b) : ({T}) -> {T}\n%a = arith.addf %x, %b : {T}\n%t = math.exp %a : {T}'
    )
    module, _ = outlined(function(body, "%t", T, f"%x: {T}, %v: {bias}"))
    (op,) = fused(module)
    assert [str(each.type) for each in op.inputs] == [T, T]


def test_constants_are_copied_and_tables_are_operands() -> None:
    table = ", ".join(f"{n}.0" for n in range(16))
    body = (
        f"%two = arith.constant dense<2.0> : {T}\n%t = arith.constant dense<[{table}]> : tensor<16xf32>\n"
        f"%a = arith.mulf %x, %two : {T}\n%b = arith.addf %a, %two : {T}\n"
        f"%e = tensor.empty() : {T}\n%w = linalg.broadcast ins(%t : tensor<16xf32>) outs(%e : {T}) dimensions = [0]\n"
        f"%c = arith.addf %b, %w : {T}"
    )
    module, found = outlined(function(body, "%c"))
    (op,) = fused(module)
    assert found.clusters[0].recipe.is_scalar
    assert {str(each.type) for each in op.inputs} == {T, "tensor<16xf32>"}
    assert [str(each) for each in op.body.block.ops if each.name == "arith.constant"] != []
    outside = [str(each) for each in module.walk() if each.name == "arith.constant" and each.parent_op() is not op]
    assert all("dense<2.0" not in each for each in outside)


# Names, recipes


def test_equal_clusters_are_one_recipe_however_they_are_spelled() -> None:
    """L5: operand order of commutative ops, order of arguments and flags do not count."""
    one = function(f"%a = arith.mulf %x, %y : {T}\n%b = arith.subf %a, %x : {T}", "%b", name="one")
    two = function(f"%a = arith.mulf %x, %y : {T}\n%b = arith.subf %a, %y : {T}", "%b", name="two")
    flags = function(f"%a = arith.mulf %y, %x fastmath<fast> : {T}\n%b = arith.subf %a, %x : {T}", "%b", name="three")
    column = "tensor<9xf32>"
    other = function(
        f"%a = arith.mulf %y, %x : {column}\n%b = arith.subf %a, %y : {column}",
        "%b",
        column,
        f"%x: {column}, %y: {column}",
        "four",
    )
    module, found = outlined(one + two + flags + other)
    assert names(found) == ["mul_sub"] * 4
    assert len(found.recipes) == 1
    assert len([op for op in module.body.block.ops if isinstance(op, RecipeOp)]) == 1
    assert "fastmath<fast>" in str(fused(module)[2])
    assert "fastmath<fast>" not in str(found.recipes[0].op)


def test_names_of_other_recipes_get_a_number() -> None:
    one = function(f"%a = arith.mulf %x, %y : {T}\n%b = arith.addf %a, %x : {T}", "%b", name="mul_add")
    two = function(f"%a = arith.mulf %x, %x : {T}\n%b = arith.addf %a, %y : {T}", "%b", name="two")
    _, found = outlined(one + two)
    assert names(found) == ["mul_add_2", "mul_add_3"]


def test_a_recipe_of_the_module_is_used() -> None:
    first = parse_module(function(f"%a = arith.mulf %x, %y : {T}\n%b = arith.addf %a, %x : {T}", "%b"))
    (recipe,) = Session(library=False).outline(first, "numpy").recipes
    mine = str(recipe.op).replace("@mul_add", "@mine").replace(" attributes {xfuse.outlined}", "")
    copy = function(f"%a = arith.mulf %y, %x : {T}\n%b = arith.addf %a, %y : {T}", "%b", name="other")
    module, found = outlined(mine + copy)
    assert (names(found), found.recipes) == (["mine"], [])
    assert [op.label for op in fused(module)] == ["mine"]


def test_recipes_go_with_their_last_fused_op() -> None:
    one = function(f"%a = arith.mulf %x, %y : {T}\n%b = arith.addf %a, %x : {T}", "%b", name="one")
    two = function(f"%a = math.exp %x : {T}\n%b = arith.addf %a, %x : {T}", "%b", name="two")
    module, found = outlined(one + two)
    assert len(found.recipes) == 2
    xfuse.decompose_all(module, lambda op: op.label == found.recipes[0].name)
    left = [op.sym_name.data for op in module.body.block.ops if isinstance(op, RecipeOp)]
    assert left == [found.recipes[1].name]
    # A recipe that somebody wrote stays.
    text = "xfuse.recipe @mine(%a: f32) -> f32 {\n%p = math.exp %a : f32\nxfuse.yield %p : f32\n}\n"
    own, _ = outlined(text + two)
    xfuse.decompose_all(own)
    assert [op.sym_name.data for op in own.body.block.ops if isinstance(op, RecipeOp)] == ["mine"]


# Limits


def test_limits_are_kept() -> None:
    chain = "".join(f"%v{n + 1} = math.exp %v{n} : {T}\n" for n in range(10))
    text = function(chain, "%v10", T, f"%v0: {T}")
    _, found = outlined(text, max_ops=4)
    assert [cluster.scalar_ops for cluster in found.clusters] == [4, 4, 2]
    _, found = outlined(text, max_ops=4, min_ops=3)
    assert [cluster.scalar_ops for cluster in found.clusters] == [4, 4]
    assert reasons(found) == {("cost", "min-ops")}
    arguments = ", ".join(f"%a{n}: {T}" for n in range(10))
    adding = "%s1 = arith.addf %a0, %a1 : " + T + "\n"
    adding += "".join(f"%s{n} = arith.addf %s{n - 1}, %a{n} : {T}\n" for n in range(2, 10))
    _, found = outlined(function(adding, "%s9", T, arguments), max_inputs=4)
    assert [len(cluster.fused.inputs) for cluster in found.clusters] == [3, 3, 3, 3][: len(found.clusters)]
    assert sum(cluster.scalar_ops for cluster in found.clusters) >= 8


def test_more_results_than_the_limit_are_split() -> None:
    body = f"%v0 = math.exp %x : {T}\n" + "".join(f"%v{n} = math.sin %v{n - 1} : {T}\n" for n in range(1, 8))
    uses = "".join(f'%u{n} = "test.use"(%v{n}) : ({T}) -> {T}\n' for n in range(8))
    _, found = outlined(function(body + uses, "%v7"), max_inputs=4)
    assert all(len(each.fused.inputs) + len(each.fused.outputs) <= 4 for each in found.clusters)
    assert sum(each.scalar_ops for each in found.clusters) == 8


def test_kinds() -> None:
    body = f"{SUM}%a = math.exp %x : {T}\n%b = math.sin %a : {T}\n{total('s', 'b')}"
    _, found = outlined(function(body, "%s", ROW), kinds=("elementwise",))
    assert [[op.name for op in cluster.ops] for cluster in found.clusters] == [["math.exp", "math.sin"]]
    _, found = outlined(function(body, "%s", ROW), kinds=("reduce",), min_ops=1)
    assert [[op.name for op in cluster.ops] for cluster in found.clusters] == [["linalg.reduce"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_ops": 0}, "min-ops=0"),
        ({"max_ops": 3, "min_ops": 4}, "min-ops=4 and max-ops=3"),
        ({"max_inputs": 65}, "got 65"),
        ({"kinds": ("matmul",)}, "got matmul"),
        ({"kinds": ()}, "got none"),
    ],
)
def test_bounds_that_nothing_keeps_to(options: dict[str, object], words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        OutlineOptions(**options)


# What is left alone


SQUARE = "tensor<8x8xf32>"
ZEROS = (
    f"%z = arith.constant 0.0 : f32\n%e = tensor.empty() : {SQUARE}\n"
    f"%f = linalg.fill ins(%z : f32) outs(%e : {SQUARE}) -> {SQUARE}\n"
)
PRODUCT = f"{SQUARE}, {SQUARE}) outs(%f : {SQUARE}) -> {SQUARE}"


def test_no_cycle_through_an_op_outside() -> None:
    """R5: a sum reads exp(x) and a product of it; they are two clusters, or the product would read its own reader."""
    body = (
        f"%a = math.exp %x : {SQUARE}\n{ZEROS}%m = linalg.matmul ins(%a, %y : {PRODUCT}\n"
        f"%b = arith.addf %a, %m : {SQUARE}\n%c = math.tanh %b : {SQUARE}"
    )
    module, found = outlined(function(body, "%c", SQUARE, f"%x: {SQUARE}, %y: {SQUARE}"))
    assert [[op.name for op in cluster.ops] for cluster in found.clusters] == [["arith.addf", "math.tanh"]]
    assert reasons(found) == {("cost", "min-ops")}
    assert any(op.name == "linalg.matmul" for op in module.walk())


def test_ops_move_if_a_cluster_needs_it() -> None:
    """A reader of an early result stands before a late op of the cluster: the block is put in order (L8)."""
    body = (
        f"{ZEROS}%a = math.exp %x : {SQUARE}\n"
        f"%u = linalg.matmul ins(%a, %y : {PRODUCT}\n%v = linalg.matmul ins(%y, %y : {PRODUCT}\n"
        f"%b = arith.addf %a, %v : {SQUARE}\n%c = linalg.matmul ins(%b, %u : {PRODUCT}"
    )
    module, found = outlined(function(body, "%c", SQUARE, f"%x: {SQUARE}, %y: {SQUARE}"))
    assert [[op.name for op in cluster.ops] for cluster in found.clusters] == [["math.exp", "arith.addf"]]
    order = [op.name for op in module.walk() if isinstance(op, FusedOp) or op.name == "linalg.matmul"]
    assert order == ["linalg.matmul", "xfuse.fused", "linalg.matmul", "linalg.matmul"]


def test_effects_keep_their_order() -> None:
    memory = "memref<8xf32>"
    body = (
        f"%i = arith.constant 0 : index\n%a = math.exp %x : {T}\nmemref.store %s, %m[%i] : {memory}\n"
        f"%l = memref.load %m[%i] : {memory}\n%b = math.sin %a : {T}\nmemref.store %l, %m[%i] : {memory}"
    )
    module, found = outlined(function(body, "%b", T, f"%x: {T}, %s: f32, %m: {memory}"))
    assert names(found) == ["exp_sin"]
    order = [op.name for op in module.walk() if op.name.startswith("memref")]
    assert order == ["memref.store", "memref.load", "memref.store"]


def test_fused_ops_are_boundaries() -> None:
    text = function(
        f"%a = math.exp %x : {T}\n%b = xfuse.fused (%q = %a : {T}) -> {T} {{\n%r = math.sin %q : {T}\n"
        f"%s = math.cos %r : {T}\nxfuse.yield %s : {T}\n}}\n%c = arith.addf %b, %a : {T}\n%d = math.sqrt %c : {T}",
        "%d",
    )
    module, found = outlined(text)
    assert names(found) == ["add_sqrt"]
    assert [op.label for op in fused(module)] == [None, "add_sqrt"]


def test_a_fused_op_in_a_body_travels_with_it() -> None:
    generic = (
        f"%e = tensor.empty() : {T}\n%g = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, "
        f'affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%x : {T}) outs(%e : {T}) {{\n'
        "^bb0(%p: f32, %o: f32):\n%q = xfuse.fused (%r = %p : f32) -> f32 {\n%s = math.sin %r : f32\n"
        f"%t = math.cos %s : f32\nxfuse.yield %t : f32\n}}\nlinalg.yield %q : f32\n}} -> {T}\n%h = math.exp %g : {T}"
    )
    module, found = outlined(function(generic, "%h"))
    assert [cluster.scalar_ops for cluster in found.clusters] == [3]
    assert names(found) == ["sin_cos_exp"]
    assert len(fused(module)) == 2


def test_a_value_read_along_two_sets_of_axes_is_no_elementwise_op() -> None:
    square = "tensor<8x8xf32>"
    body = (
        f"%e = tensor.empty() : {square}\n%t = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, "
        "affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], "
        f'iterator_types = ["parallel", "parallel"]}} ins(%x, %x : {square}, {square}) outs(%e : {square}) {{\n'
        "^bb0(%p: f32, %q: f32, %o: f32):\n%r = arith.subf %p, %q : f32\nlinalg.yield %r : f32\n"
        f"}} -> {square}\n%a = math.exp %t : {square}\n%b = math.sin %a : {square}"
    )
    _, found = outlined(function(body, "%b", square, f"%x: {square}"))
    assert names(found) == ["exp_sin"]


def test_dead_ops_stay_and_block_nothing() -> None:
    body = f"%a = math.exp %x : {T}\n%dead = math.sin %a : {T}\n%dead2 = math.sin %dead : {T}\n%b = math.cos %a : {T}"
    module, found = outlined(function(body, "%b"))
    assert [[op.name for op in cluster.ops] for cluster in found.clusters] == [["math.exp", "math.cos"]]
    assert sum(op.name == "math.sin" for op in module.walk()) == 2


def test_equal_ops_that_others_read_are_parted() -> None:
    body = (
        f"%a = math.exp %x : {T}\n%b = arith.addf %a, %y : {T}\n%c = arith.addf %a, %y : {T}\n"
        f'%d = arith.mulf %b, %c : {T}\n%u = "test.use"(%b, %c) : ({T}, {T}) -> {T}'
    )
    _, found = outlined(function(body, "%d"))
    assert [[op.name for op in cluster.ops] for cluster in found.clusters] == [
        ["math.exp", "arith.addf"],
        ["arith.addf", "arith.mulf"],
    ]


def test_scalars_are_left_to_others() -> None:
    body = "%a = math.exp %x : f32\n%b = math.sin %a : f32"
    _, found = outlined(function(body, "%b", "f32", "%x: f32"))
    assert (found.clusters, found.left_out) == ([], [])


def test_a_recipe_without_a_kernel_is_left_out() -> None:
    """L4: the gate is asked, and says no."""
    module = parse_module(function(f"%a = math.exp %x : {T}\n%b = math.sin %a : {T}", "%b"))
    before = str(module)
    found = Session(library=False, backends=[]).outline(module)
    assert reasons(found) == {("L4", "no-kernel")}
    assert (found.clusters, found.recipes, str(module)) == ([], [], before)


def test_unknown_types_have_no_kernel() -> None:
    type_ = "tensor<4xcomplex<f32>>"
    wide = "tensor<4xi128>"
    text = function(f"%a = arith.addi %x, %x : {wide}\n%b = arith.muli %a, %x : {wide}", "%b", wide, f"%x: {wide}")
    _, found = outlined(text + f"func.func @none(%x: {type_}) -> {type_} {{\nreturn %x : {type_}\n}}")
    assert found.clusters == []
    assert found.left_out


# Programs of all shapes


def test_control_flow_and_several_functions() -> None:
    text = f"""
    func.func private @outside({T}) -> {T}
    func.func @loop(%x: {T}, %n: index) -> {T} {{
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %two = arith.constant dense<2.0> : {T}
      %a = math.exp %x : {T}
      %b = arith.addf %a, %x : {T}
      %r = scf.for %i = %0 to %n step %1 iter_args(%s = %b) -> ({T}) {{
        %c = arith.mulf %s, %two : {T}
        %d = arith.addf %c, %a : {T}
        scf.yield %d : {T}
      }}
      %q = func.call @outside(%r) : ({T}) -> {T}
      %t = arith.mulf %q, %r : {T}
      %v = math.tanh %t : {T}
      return %v : {T}
    }}
    func.func @blocks(%x: {T}, %k: i1) -> {T} {{
      %a = math.exp %x : {T}
      %b = math.sin %a : {T}
      cf.cond_br %k, ^bb1(%b : {T}), ^bb2
    ^bb1(%p: {T}):
      %c = math.cos %p : {T}
      %d = arith.addf %c, %a : {T}
      return %d : {T}
    ^bb2:
      return %b : {T}
    }}
    """
    module, found = outlined(text)
    assert sorted(names(found)) == ["cos_add", "exp_add", "exp_sin", "mul_add", "mul_tanh"]
    assert len(fused(module)) == 5


def test_a_dead_end_of_unknown_ops() -> None:
    text = f"""
    "test.region"() ({{
      %x = "test.source"() : () -> {T}
      %a = math.exp %x : {T}
      %b = math.sin %a : {T}
      "test.sink"(%b) : ({T}) -> ()
    }}) : () -> ()
    """
    _, found = outlined(text)
    assert names(found) == ["exp_sin"]


def test_dynamic_extents() -> None:
    row, type_ = "tensor<?xf32>", "tensor<?x?xf32>"
    body = (
        f"%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n%n = tensor.dim %x, %0 : {type_}\n"
        f"%m = tensor.dim %x, %1 : {type_}\n%e = tensor.empty(%n, %m) : {type_}\n"
        f"%b = linalg.broadcast ins(%v : {row}) outs(%e : {type_}) dimensions = [0]\n"
        f"%a = arith.addf %y, %b : {type_}\n%r = math.exp %a : {type_}"
    )
    module, _ = outlined(function(body, "%r", type_, f"%x: {type_}, %y: {type_}, %v: {row}"))
    (op,) = fused(module)
    assert {str(each.type) for each in op.inputs} == {type_, row}
    session = Session(library=False)
    other = parse_module(function(body, "%r", type_, f"%x: {type_}, %y: {type_}, %v: {row}"))
    session.outline(other, "numpy")
    program = xfuse.compile(other, backend="numpy", session=session)
    x, v = np.ones((3, 5), np.float32), np.arange(5, dtype=np.float32)
    np.testing.assert_allclose(program(x, x, v), np.exp(x + v), rtol=1e-6)
    assert not program.inlined


def test_a_value_used_before_its_definition_is_an_error_and_nothing_changes() -> None:
    text = function(f"%a = math.exp %x : {T}\n%b = math.sin %a : {T}", "%b")
    module = parse_module(text)
    block = next(op for op in module.walk() if op.name == "func.func").regions[0].block
    first: Operation | None = block.first_op
    assert first is not None
    second = first.next_op
    assert second is not None
    second.detach()
    block.insert_op_before(second, first)
    before = str(module)
    with pytest.raises(UnsupportedError, match=r"law L8"):
        Session(library=False).outline(module)
    assert str(module) == before


# The order of groups


def test_joining_keeps_an_order() -> None:
    """Two groups with a third between them are not joined; what a later one needs moves in front of an earlier one."""
    order = GroupOrder([[], [0], [0, 1], []])
    assert not order.join(0, 2)  # 0 -> 1 -> 2
    assert order.join(0, 1)
    assert order.join(order.group(0), 2)
    order = GroupOrder([[], [], [1], [0, 2]])
    assert order.join(0, 3)
    assert order.in_order() == [1, 2, 0]
    assert order.group(3) == 0


def test_joining_in_one_gap_again_and_again() -> None:
    """Labels run out between two groups, and are spread anew."""
    count = 3000
    order = GroupOrder([[], *([[n - 2, n - 1] if n % 2 == 0 else [] for n in range(1, count)])], budget=8)
    for number in range(2, count, 2):
        assert order.join(order.group(number), order.group(number - 2))
    found = order.in_order()
    assert found[-2:] != []
    assert set(found) == {0, *range(1, count, 2)}
    assert found[-1] == (count - 1 if (count - 1) % 2 else 0)
