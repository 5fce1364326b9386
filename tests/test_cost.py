"""The cost model: bytes, work and calls of ops, fused ops and modules, and the spaces that they are read off."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import xfuse
from xfuse.cost import (
    BYTES_PER_SECOND,
    DEFAULT_EXTENT,
    SECONDS_PER_CALL,
    Cost,
    bytes_of,
    cost_of,
    coverage,
    fusible_ops,
    module_cost,
)
from xfuse.parser import parse_module
from xfuse.primitives.table import PRIMITIVES
from xfuse.session import Session
from xfuse.spaces import NO_LOOP, space_of

T = "tensor<8x16xf32>"
SIZE = 8 * 16 * 4


def op_of(body: str, arguments: str = f"%x: {T}, %y: {T}") -> Operation:
    """The last op of a body."""
    module = parse_module(f"func.func @main({arguments}) {{\n{body}\nreturn\n}}")
    block = next(op for op in module.walk() if op.name == "func.func").regions[0].block
    last = block.last_op
    assert last is not None
    assert last.prev_op is not None
    return last.prev_op


EMPTY = f"%e = tensor.empty() : {T}\n"
GENERIC = (
    f"{EMPTY}%g = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, "
    'affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} '
    f"ins(%x, %v : {T}, tensor<16xf32>) outs(%e : {T}) {{\n^bb0(%p: f32, %q: f32, %o: f32):\n"
    f"%r = arith.addf %p, %q : f32\n%s = math.exp %r : f32\nlinalg.yield %s : f32\n}} -> {T}"
).replace("}} ins", "} ins")


@pytest.mark.parametrize(
    ("body", "arguments", "expected"),
    [
        (f"%r = arith.addf %x, %y : {T}", f"%x: {T}, %y: {T}", Cost(3 * SIZE, 128, 128.0, 1)),
        (f"%r = arith.addf %x, %x : {T}", f"%x: {T}", Cost(2 * SIZE, 128, 128.0, 1)),
        (f"%r = math.exp %x : {T}", f"%x: {T}", Cost(2 * SIZE, 128, 128 * PRIMITIVES["math.exp"].cost, 1)),
        ("%r = arith.addf %s, %s : f32", "%s: f32", Cost()),
        (f"%r = arith.constant dense<1.0> : {T}", "", Cost()),
        (EMPTY, "", Cost()),
        (
            f"{EMPTY}%r = linalg.fill ins(%s : f32) outs(%e : {T}) -> {T}",
            "%s: f32",
            Cost(SIZE, 0, 0.0, 1),
        ),
        (
            f"{EMPTY}%r = linalg.broadcast ins(%v : tensor<16xf32>) outs(%e : {T}) dimensions = [0]",
            "%v: tensor<16xf32>",
            Cost(SIZE + 64, 0, 0.0, 1),
        ),
        (GENERIC, f"%x: {T}, %v: tensor<16xf32>", Cost(2 * SIZE + 64, 256, 128 * 11.0, 1)),
        (
            "%r = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : " + T + " to tensor<2x3xf32>",
            f"%x: {T}",
            Cost(2 * 24, calls=1),
        ),
        (f"%r = tensor.cast %x : {T} to tensor<?x16xf32>", f"%x: {T}", Cost()),
    ],
)
def test_what_an_op_costs(body: str, arguments: str, expected: Cost) -> None:
    assert cost_of(op_of(body, arguments)) == expected


def test_dynamic_extents_and_small_types() -> None:
    types = op_of("%r = arith.addf %x, %x : tensor<?x2xf64>", "%x: tensor<?x2xf64>").result_types
    assert bytes_of(types[0]) == DEFAULT_EXTENT * 2 * 8
    bit = op_of("%r = arith.andi %x, %x : tensor<5xi1>", "%x: tensor<5xi1>").result_types
    assert bytes_of(bit[0]) == 5


def test_costs_add_up_and_take_time() -> None:
    cost = Cost(int(BYTES_PER_SECOND), 3, 0.0, 2)
    assert (cost + cost).seconds == pytest.approx(2 * cost.seconds)
    assert cost.seconds == pytest.approx(1 + 2 * SECONDS_PER_CALL)


def test_matrix_products_are_contractions_and_row_products_are_reductions() -> None:
    start = "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<8x8xf32>\n"
    start += "%f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>\n"
    product = op_of(
        start + f"%r = linalg.matmul ins(%x, %w : {T}, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>",
        f"%x: {T}, %w: tensor<16x8xf32>",
    )
    space = space_of(product)
    assert space is not None
    assert (space.kind, fusible_ops(product)) == ("contraction", 0)
    assert cost_of(product).flops == 2 * 8 * 8 * 16
    maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>"
    dot = op_of(
        f'%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}} '
        f"ins(%x, %y : {T}, {T}) outs(%a : tensor<8xf32>) {{\n^bb0(%p: f32, %q: f32, %o: f32):\n"
        "%m = arith.mulf %p, %q : f32\n%s = arith.addf %o, %m : f32\nlinalg.yield %s : f32\n} -> tensor<8xf32>",
        f"%x: {T}, %y: {T}, %a: tensor<8xf32>",
    )
    space = space_of(dot)
    assert space is not None
    assert (space.kind, space.reduced, fusible_ops(dot)) == ("reduce", (1,), 2)


def test_spaces_of_views() -> None:
    transposed = space_of(
        op_of(
            f"%e = tensor.empty() : tensor<16x8xf32>\n%r = linalg.transpose ins(%x : {T}) outs(%e : tensor<16x8xf32>) "
            "permutation = [1, 0]",
            f"%x: {T}",
        )
    )
    assert transposed is not None
    assert (transposed.kind, transposed.reads[0][1], transposed.results) == ("view", (1, 0), ((0, 1),))
    wide = space_of(
        op_of(
            "%r = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 16, 1] : " + T + " into tensor<8x16x1xf32>",
            f"%x: {T}",
        )
    )
    assert wide is not None
    assert (wide.reads[0][1], wide.results) == ((0, 1), ((0, 1, NO_LOOP),))
    real = op_of(f"%r = tensor.collapse_shape %x [[0, 1]] : {T} into tensor<128xf32>", f"%x: {T}")
    assert space_of(real) is None


@pytest.mark.parametrize(
    "body",
    [
        f"%r = tensor.concat dim(0) %x, %x : ({T}, {T}) -> tensor<16x16xf32>",
        f"{EMPTY}%r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>], "
        f'iterator_types = ["parallel", "parallel"]}} outs(%e : {T}) {{\n^bb0(%o: f32):\n%i = linalg.index 0 : index\n'
        f"%q = arith.index_cast %i : index to i32\n%f = arith.sitofp %q : i32 to f32\nlinalg.yield %f : f32\n}} -> {T}",
    ],
)
def test_what_has_no_space(body: str) -> None:
    op = op_of(body, f"%x: {T}")
    assert space_of(op) is None
    assert fusible_ops(op) == 0


def program() -> ModuleOp:
    return parse_module(
        f"func.func @main(%x: {T}, %y: {T}) -> {T} {{\n%a = arith.mulf %x, %y : {T}\n%b = math.exp %a : {T}\n"
        f"%c = arith.addf %b, %y : {T}\nreturn %c : {T}\n}}"
    )


def test_a_module_before_and_after() -> None:
    module = program()
    plain = module_cost(module)
    assert (plain.ops, plain.inside, plain.fused) == (3, 0, 0)
    assert plain.cost == Cost(8 * SIZE, 3 * 128, 12 * 128.0, 3)
    Session(library=False).outline(module, "numpy")
    text = str(module)
    found = coverage(module)
    assert str(module) == text
    assert (found.ops, found.inside, found.fused) == (3, 3, 1)
    assert (found.before, found.after) == (plain.cost, Cost(3 * SIZE, 3 * 128, 12 * 128.0, 1))
    assert (found.share, found.ops_per_fused) == (1.0, 3.0)
    assert found.traffic == pytest.approx(3 / 8)


def test_coverage_of_nothing() -> None:
    found = coverage(parse_module("func.func @main(%x: f32) -> f32 {\nreturn %x : f32\n}"))
    assert (found.share, found.ops_per_fused, found.traffic) == (1.0, 0.0, 1.0)


def test_fused_ops_in_bodies_count() -> None:
    generic = GENERIC.replace(
        "%r = arith.addf %p, %q : f32\n%s = math.exp %r : f32\n",
        "%s = xfuse.fused (%a = %p : f32, %b = %q : f32) -> f32 {\n%r = arith.addf %a, %b : f32\n"
        "%t = math.exp %r : f32\nxfuse.yield %t : f32\n}\n",
    )
    module = parse_module(f"func.func @main(%x: {T}, %v: tensor<16xf32>) -> {T} {{\n{generic}\nreturn %g : {T}\n}}")
    found = module_cost(module)
    assert (found.ops, found.inside, found.fused) == (2, 2, 1)
    assert found.cost == Cost(2 * SIZE + 64, 256, 128 * 11.0, 1)
    xfuse.decompose_all(module)
    assert module_cost(module).cost == found.cost
