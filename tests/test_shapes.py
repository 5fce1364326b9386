"""Shape-relative values (design, section 3): what a recipe takes from extents, or a typed error."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

import xfuse
from xfuse.canonical.build import element_name
from xfuse.errors import (
    AxisOutOfRange,
    DivisionByZero,
    ExtentOverflow,
    NegativeExtent,
    OperandOutOfRange,
    RecipeError,
    ShapeError,
    ShapeMismatch,
    SliceOutOfRange,
    UnknownExtent,
    XfuseError,
)
from xfuse.kernels import as_tuple
from xfuse.library import library_files
from xfuse.parser import load_module, parse_module
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe, parse_recipes, recipes_of
from xfuse.shapes import resolve_shapes
from xfuse.shapes.arithmetic import Number, compare, evaluate, literal
from xfuse.signature import named_signature
from xfuse.validation import validate

CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(5))


def written(signature: str, body: str, name: str = "r") -> Recipe:
    """A recipe that need not be one that can be registered; ``%c0`` to ``%c4`` are there."""
    (recipe,) = parse_recipes(f"xfuse.recipe @{name}{signature} {{\n{CONSTANTS}\n{body}\n}}")
    return recipe


def valid(signature: str, body: str) -> Recipe:
    """A recipe that is valid."""
    recipe = written(signature, body)
    validate(recipe)
    return recipe


def error_of(kind: type[ShapeError], recipe: Recipe, *shapes: Sequence[int | None], **options: bool) -> ShapeError:
    """The error that resolving gives: of exactly this kind."""
    with pytest.raises(ShapeError) as raised:
        resolve_shapes(recipe, shapes, **options)
    assert type(raised.value) is kind, raised.value
    assert isinstance(raised.value, XfuseError)
    return raised.value


def parts(error: ShapeError) -> tuple[str, str | None, object]:
    return error.field, error.op, error.value


def sized(size: str, *more: str) -> str:
    """A body that gives a row of computed length, each element the index plus that of ``%x`` at 0."""
    return f"""
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    {size}
    {" ".join(more)}
    %e = tensor.empty(%size) : tensor<?xf64>
    %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
        outs(%e : tensor<?xf64>) {{
    ^bb0(%o: f64):
      %z = arith.constant 0 : index
      %v = tensor.extract %x[%z] : tensor<?xf64>
      %i = linalg.index 0 : index
      %ik = arith.index_cast %i : index to i64
      %f = arith.sitofp %ik : i64 to f64
      %s = arith.addf %v, %f : f64
      linalg.yield %s : f64
    }} -> tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>"""


ROW = "(%x: tensor<?xf64>) -> tensor<?xf64>"
SUM = """
%zero = arith.constant 0.0 : f64
%i0 = tensor.empty() : tensor<f64>
%i1 = linalg.fill ins(%zero : f64) outs(%i0 : tensor<f64>) -> tensor<f64>
%sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%x : tensor<?xf64>) outs(%i1 : tensor<f64>) {
^bb0(%a: f64, %b: f64):
  %t = arith.addf %a, %b : f64
  linalg.yield %t : f64
} -> tensor<f64>
%total = tensor.extract %sum[] : tensor<f64>
"""
MEAN = f"""{SUM}
%n = tensor.dim %x, %c0 : tensor<?xf64>
%k = arith.index_cast %n : index to i64
%f = arith.sitofp %k : i64 to f64
%mean = arith.divf %total, %f : f64
xfuse.yield %mean : f64"""
SCALAR = "(%x: tensor<?xf64>) -> f64"


def scaled(arithmetic: str) -> str:
    """A body that multiplies the sum by a computed scalar ``%s``."""
    return f"""{SUM}
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    {arithmetic}
    %k = arith.index_cast %s : index to i64
    %f = arith.sitofp %k : i64 to f64
    %y = arith.mulf %total, %f : f64
    xfuse.yield %y : f64"""


ROTATE_HALF = """
%n = tensor.dim %x, %c0 : tensor<?xf64>
%h = arith.divui %n, %c2 : index
%rest = arith.subi %n, %h : index
%low = tensor.extract_slice %x[0] [%h] [1] : tensor<?xf64> to tensor<?xf64>
%high = tensor.extract_slice %x[%h] [%rest] [1] : tensor<?xf64> to tensor<?xf64>
%e = tensor.empty(%n) : tensor<?xf64>
%one = tensor.insert_slice %high into %e[0] [%rest] [1] : tensor<?xf64> into tensor<?xf64>
%two = tensor.insert_slice %low into %one[%rest] [%h] [1] : tensor<?xf64> into tensor<?xf64>
xfuse.yield %two : tensor<?xf64>"""

OUTER = """
%m = tensor.dim %a, %c0 : tensor<?x?xf64>
%n = tensor.dim %a, %c1 : tensor<?x?xf64>
%p = tensor.dim %b, %c0 : tensor<?x?xf64>
%q = tensor.dim %b, %c1 : tensor<?x?xf64>
%rows = arith.maxsi %m, %p : index
%columns = arith.maxsi %n, %q : index
%e = tensor.empty(%rows, %columns) : tensor<?x?xf64>
%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    outs(%e : tensor<?x?xf64>) {
^bb0(%o: f64):
  %one = arith.constant 1 : index
  %i = linalg.index 0 : index
  %j = linalg.index 1 : index
  %m1 = arith.subi %m, %one : index
  %n1 = arith.subi %n, %one : index
  %p1 = arith.subi %p, %one : index
  %q1 = arith.subi %q, %one : index
  %ai = arith.minsi %i, %m1 : index
  %aj = arith.minsi %j, %n1 : index
  %bi = arith.minsi %i, %p1 : index
  %bj = arith.minsi %j, %q1 : index
  %x = tensor.extract %a[%ai, %aj] : tensor<?x?xf64>
  %y = tensor.extract %b[%bi, %bj] : tensor<?x?xf64>
  %s = arith.addf %x, %y : f64
  linalg.yield %s : f64
} -> tensor<?x?xf64>
xfuse.yield %r : tensor<?x?xf64>"""

SOFTMAX_SUM = """
%n = tensor.dim %x, %c0 : tensor<?xf64>
%zero = arith.constant 0.0 : f64
%i0 = tensor.empty() : tensor<f64>
%i1 = linalg.fill ins(%zero : f64) outs(%i0 : tensor<f64>) -> tensor<f64>
%sum = linalg.reduce ins(%x : tensor<?xf64>) outs(%i1 : tensor<f64>) dimensions = [0]
(%a : f64, %b : f64) {
  %t = arith.addf %a, %b : f64
  linalg.yield %t : f64
}
%e = tensor.empty(%n) : tensor<?xf64>
%wide = linalg.broadcast ins(%sum : tensor<f64>) outs(%e : tensor<?xf64>) dimensions = [0]
%r = arith.divf %x, %wide : tensor<?xf64>
xfuse.yield %r : tensor<?xf64>"""


# Target shapes


def test_the_shape_of_another_argument() -> None:
    """resolve_rel: same_as_bind0_tracks_the_bind_shape; emit_rel: rel_region_emits_polymorphically_across_shapes.

    One recipe, two shapes.
    """
    recipe = valid(
        "(%x: tensor<?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64>",
        SUM.replace("%total = tensor.extract %sum[] : tensor<f64>", "")
        + """
        %m = tensor.dim %y, %c0 : tensor<?x?xf64>
        %n = tensor.dim %y, %c1 : tensor<?x?xf64>
        %e = tensor.empty(%m, %n) : tensor<?x?xf64>
        %wide = linalg.broadcast ins(%sum : tensor<f64>) outs(%e : tensor<?x?xf64>) dimensions = [0, 1]
        %s = arith.mulf %wide, %y : tensor<?x?xf64>
        %t0 = tensor.empty(%n, %m) : tensor<?x?xf64>
        %t = linalg.transpose ins(%y : tensor<?x?xf64>) outs(%t0 : tensor<?x?xf64>) permutation = [1, 0]
        %d = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
            affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%s, %t : tensor<?x?xf64>, tensor<?x?xf64>) outs(%q : tensor<?x?xf64>) {
        ^bb0(%a: f64, %b: f64, %c: f64):
          %p = arith.mulf %a, %b : f64
          %v = arith.addf %p, %c : f64
          linalg.yield %v : f64
        } -> tensor<?x?xf64>
        xfuse.yield %d : tensor<?x?xf64>""".replace(
            "%d =",
            """%q0 = tensor.empty(%m, %m) : tensor<?x?xf64>
            %q = linalg.fill ins(%zero : f64) outs(%q0 : tensor<?x?xf64>) -> tensor<?x?xf64>
            %d =""",
        ),
    )
    for m, n in ((2, 3), (4, 5)):
        found = resolve_shapes(recipe, [(7,), (m, n)])
        assert found.values("target_shape") == [(m, n), (n, m), (m, m)]
        assert found.results == ((m, m),)
        assert found.loop == ()
        assert (n, m) in [tuple(each) for each in found.values("target_shape")]


def test_one_axis_replaced() -> None:
    """resolve_rel, `WithDim`: the loop dimension of one argument stays, the last axis is that of another."""
    recipe = valid(
        "(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64>",
        """
        %n = tensor.dim %a, %c0 : tensor<?xf64>
        %k = tensor.dim %b, %c0 : tensor<?xf64>
        %last = arith.subi %n, %c1 : index
        %e = tensor.empty(%k) : tensor<?xf64>
        %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
            iterator_types = ["parallel"]} ins(%b : tensor<?xf64>) outs(%e : tensor<?xf64>) {
        ^bb0(%y: f64, %o: f64):
          %i = linalg.index 0 : index
          %at = arith.minsi %i, %last : index
          %x = tensor.extract %a[%at] : tensor<?xf64>
          %s = arith.addf %x, %y : f64
          linalg.yield %s : f64
        } -> tensor<?xf64>
        xfuse.yield %r : tensor<?xf64>""",
    )
    found = resolve_shapes(recipe, [(2, 3), (5,)])
    assert found.values("target_shape") == [(2, 5)]
    assert found.results == ((2, 5),)
    assert found.dimensions == {"n": 3, "m": 5}
    assert resolve_shapes(recipe, [(4, 1, 3), (6, 5)]).results == ((4, 6, 5),)


@pytest.mark.parametrize(
    ("arithmetic", "size"),
    [
        ("%d = arith.muli %n, %c2 : index %size = arith.subi %d, %c1 : index", lambda n: 2 * n - 1),
        ("%size = arith.ceildivsi %n, %c2 : index", lambda n: -(-n // 2)),
        ("%size = arith.floordivsi %n, %c2 : index", lambda n: n // 2),
        ("%size = arith.remsi %n, %c3 : index", lambda n: n % 3),
        ("%size = arith.maxsi %n, %c4 : index", lambda n: max(n, 4)),
        ("%size = arith.minui %n, %c3 : index", lambda n: min(n, 3)),
        ("%p = arith.cmpi ult, %n, %c4 : index %size = arith.select %p, %c1, %n : index", lambda n: 1 if n < 4 else n),
        ("%size = arith.shli %n, %c1 : index", lambda n: 2 * n),
        (
            "%k = arith.index_cast %n : index to i32 %m = arith.muli %k, %k : i32 "
            "%size = arith.index_cast %m : i32 to index",
            lambda n: n * n,
        ),
    ],
    ids=["2 n - 1", "ceildiv", "floordiv", "rem", "max", "min", "select", "shift", "through i32"],
)
def test_expressions_for_each_dimension(arithmetic: str, size: Any) -> None:
    """resolve_rel, `Dims`: index arithmetic gives a result its extents, exactly."""
    recipe = valid(ROW, sized(arithmetic))
    for n in (1, 4, 7, 12):
        found = resolve_shapes(recipe, [(3, n)])
        assert found.values("target_shape") == [(3, size(n))]
        assert found.results == ((3, size(n)),)


def test_a_shape_of_rank_0() -> None:
    """Refused by the reference although sound: a target without axes, written as such."""
    assert resolve_shapes(valid(SCALAR, MEAN), [(5,)]).results == ((),)
    assert resolve_shapes(valid("(%x: f64) -> f64", "%r = math.exp %x : f64 xfuse.yield %r : f64"), [()]).results == (
        (),
    )


def test_the_maximum_of_two_arguments_axis_by_axis() -> None:
    """resolve_rel: two_operand_max_frame_declines_instead_of_a_partial_shape; emit_rel:
    two_operand_max_frame_region_declines_through_emit.

    The reference cannot say it and has to refuse; here it is index arithmetic like any other.
    """
    recipe = valid("(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64>", OUTER)
    found = resolve_shapes(recipe, [(2, 1), (1, 3)])
    assert found.values("target_shape") == [(2, 3)]
    assert found.results == ((2, 3),)


def test_a_frame_that_one_operand_has() -> None:
    """resolve_rel: frame_guard_does_not_fire_when_an_operand_carries_the_frame; here it is the same recipe."""
    recipe = valid("(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64>", OUTER)
    for a, b in (((2, 3), (1, 3)), ((1, 1), (2, 3)), ((2, 3), (2, 3)), ((2, 3), (1, 1))):
        assert resolve_shapes(recipe, [a, b]).results == ((2, 3),)


def test_a_shape_given_as_a_tensor() -> None:
    """`tensor.reshape` takes its shape from a tensor of integers."""
    recipe = written(
        "(%x: tensor<?x4xf64>) -> tensor<4x?xf64>",
        """%n = tensor.dim %x, %c0 : tensor<?x4xf64>
        %shape = tensor.from_elements %c4, %n : tensor<2xindex>
        %r = tensor.reshape %x(%shape) : (tensor<?x4xf64>, tensor<2xindex>) -> tensor<4x?xf64>
        xfuse.yield %r : tensor<4x?xf64>""",
    )
    assert resolve_shapes(recipe, [(3, 4)]).values("target_shape") == [(4, 3)]


def test_reshapes_splats_and_pads() -> None:
    recipe = written(
        "(%x: tensor<?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)",
        """%n = tensor.dim %x, %c0 : tensor<?xf64>
        %h = arith.divui %n, %c2 : index
        %g = arith.constant 2.0 : f64
        %a = tensor.expand_shape %x [[0, 1]] output_shape [%h, %c2] : tensor<?xf64> into tensor<?x?xf64>
        %b = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf64> into tensor<?xf64>
        %c = tensor.splat %g[%h] : tensor<?xf64>
        %d = tensor.pad %x low[%h] high[1] {
        ^bb0(%i: index):
          tensor.yield %g : f64
        } : tensor<?xf64> to tensor<?xf64>
        xfuse.yield %a, %b, %c, %d : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>""",
    )
    found = resolve_shapes(recipe, [(6,)])
    assert found.values("target_shape") == [(3, 2), (3,), (10,)]
    assert found.results == ((3, 2), (6,), (3,), (10,))
    assert parts(error_of(ShapeMismatch, recipe, (7,))) == ("target_shape", "op 8 (tensor.expand_shape)", (3, 2))


# Slices


def test_slices_from_extents() -> None:
    """resolve_rel: slice_bounds_track_the_bind_extent: half of 4 and of 8."""
    recipe = valid(ROW, ROTATE_HALF)
    for n in (4, 8):
        found = resolve_shapes(recipe, [(n,)])
        assert found.values("slice_start") == [(n // 2,), (n // 2,)]
        assert found.values("slice_len") == [(n // 2,)] * 4
        assert found.results == ((n,),)
    odd = resolve_shapes(recipe, [(3, 5)])
    assert odd.values("slice_start") == [(0, 2), (0, 3)]
    assert odd.values("slice_len") == [(3, 2), (3, 3), (3, 3), (3, 2)]


def test_the_last_element() -> None:
    recipe = valid(
        SCALAR,
        """%n = tensor.dim %x, %c0 : tensor<?xf64>
        %last = arith.subi %n, %c1 : index
        %y = tensor.extract %x[%last] : tensor<?xf64>
        %r = math.exp %y : f64
        xfuse.yield %r : f64""",
    )
    assert resolve_shapes(recipe, [(2, 5)]).values("slice_start") == [(0, 4)]
    assert parts(error_of(SliceOutOfRange, recipe, (0,))) == ("slice_start", "op 7 (tensor.extract)", -1)


SLICED = """%n = tensor.dim %x, %c0 : tensor<?xf64>
{}
%s = tensor.extract_slice %x[%start] [%len] [{}] : tensor<?xf64> to tensor<?xf64>
%r = math.exp %s : tensor<?xf64>
xfuse.yield %r : tensor<?xf64>"""


@pytest.mark.parametrize(
    ("start", "length", "step", "n", "wrong"),
    [
        ("%n, %c0", "%c0, %c0", 1, 3, None),
        ("%n, %c0", "%c1, %c0", 1, 3, ("slice_len", 1)),
        ("%n, %c1", "%c0, %c0", 1, 3, ("slice_start", 4)),
        ("%c0, %c0", "%n, %c1", 1, 3, ("slice_len", 4)),
        ("%c1, %c0", "%c2, %c0", 2, 4, None),
        ("%c1, %c0", "%c2, %c0", 2, 3, ("slice_len", 2)),
        ("%c3, %c0", "%c0, %c0", 2, 3, None),
    ],
)
def test_slices_end_within(start: str, length: str, step: int, n: int, wrong: tuple[str, int] | None) -> None:
    recipe = written(
        ROW, SLICED.format(f"%start = arith.addi {start} : index %len = arith.addi {length} : index", step)
    )
    if wrong is None:
        resolve_shapes(recipe, [(n,)])
    else:
        error = error_of(SliceOutOfRange, recipe, (n,))
        assert (error.field, error.value) == wrong


# Axes


def test_the_last_axis_at_any_rank() -> None:
    """resolve_rel: axis_last_resolves_per_tag; tag_to_op: max_dim_axis_last_resolves_to_rank_minus_one."""
    recipe = valid(ROW, SOFTMAX_SUM)
    for shape in ((5,), (3, 5), (2, 3, 5), (7, 2, 3, 5)):
        found = resolve_shapes(recipe, [shape])
        last = len(shape) - 1
        assert found.values("axis") == [last, last]  # tensor.dim, linalg.reduce
        assert found.values("dims") == [(last,)]  # linalg.broadcast
        assert found.values("target_shape") == [shape]
        assert found.results == (shape,)
        assert found.loop == shape[:-1]


def test_axes_that_are_added_and_dropped() -> None:
    """resolve_rel: axis_last_resolves_per_tag: unsqueeze appends, squeeze drops, concat joins the last axis."""
    recipe = written(
        "(%x: tensor<?xf64>) -> (tensor<?x1xf64>, tensor<?xf64>, tensor<1x?xf64>, tensor<?xf64>)",
        """%n = tensor.dim %x, %c0 : tensor<?xf64>
        %a = tensor.expand_shape %x [[0, 1]] output_shape [%n, 1] : tensor<?xf64> into tensor<?x1xf64>
        %b = tensor.collapse_shape %a [[0, 1]] : tensor<?x1xf64> into tensor<?xf64>
        %e = tensor.empty(%n) : tensor<1x?xf64>
        %c = linalg.transpose ins(%a : tensor<?x1xf64>) outs(%e : tensor<1x?xf64>) permutation = [1, 0]
        %d = tensor.concat dim(0) %x, %b : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
        xfuse.yield %a, %b, %c, %d : tensor<?x1xf64>, tensor<?xf64>, tensor<1x?xf64>, tensor<?xf64>""",
    )
    found = resolve_shapes(recipe, [(2, 3, 5)])
    assert [use.value for use in found.uses if use.field == "dims"] == [(3,), (3,), (0, 1, 3, 2)]
    assert found.values("axis") == [2, 2]
    assert found.results == ((2, 3, 5, 1), (2, 3, 5), (2, 3, 1, 5), (2, 3, 10))


def test_an_axis_that_is_not_there() -> None:
    """resolve_rel: axis_last_on_an_axisless_tag_or_without_a_child_declines: nothing to take the last axis of."""
    recipe = valid(ROW, SOFTMAX_SUM)
    assert parts(error_of(OperandOutOfRange, recipe, ())) == ("operands", None, 0)
    beyond = written(ROW, sized("%size = tensor.dim %x, %c1 : tensor<?xf64>"))
    assert parts(error_of(AxisOutOfRange, beyond, (2, 3))) == ("axis", "op 6 (tensor.dim)", 1)
    computed = "%a = arith.subi %c0, %c1 : index %size = tensor.dim %x, %a : tensor<?xf64>"
    assert parts(error_of(AxisOutOfRange, written(ROW, sized(computed)), (4,))) == ("axis", "op 7 (tensor.dim)", -1)
    by_extent = written(ROW, sized("%size = tensor.dim %x, %n : tensor<?xf64>"))
    assert error_of(AxisOutOfRange, by_extent, (4,)).value == 4
    assert resolve_shapes(by_extent, [(0,)]).results == ((0,),)
    assert parts(error_of(UnknownExtent, by_extent, (None,))) == ("axis", "op 6 (tensor.dim)", None)


# Scalars


def test_a_scalar_from_an_extent() -> None:
    """Emission: scalar_rel_is_shape_derived_not_a_cursor_slot; rms_norm_backward_recipe_uses_the_unsqueeze_keepdim_swap
    _and_shape_scalar.

    n = 5, then 7, and no slot.
    """
    recipe = valid(SCALAR, MEAN)
    for n in (5, 7):
        (use,) = [use for use in resolve_shapes(recipe, [(n,)]).uses if use.field == "scalar"]
        assert (use.op, use.value) == ("arith.sitofp", n)
        assert str(use) == f"op {use.number} (arith.sitofp): scalar = {n}"
    assert recipe.scalar_slots == ()


@pytest.mark.parametrize(
    ("op", "value"), [("floordivsi", -2), ("divsi", -1), ("ceildivsi", -1), ("remsi", -1), ("subi", -5)]
)
def test_division_rounds_as_its_op_says(op: str, value: int) -> None:
    """Floor division rounds towards minus infinity, the others as MLIR has it; scalars may be negative: -3 by 2."""
    recipe = valid(SCALAR, scaled(f"%m = arith.subi %c1, %n : index %s = arith.{op} %m, %c2 : index"))
    assert resolve_shapes(recipe, [(4,)]).values("scalar") == [value]


def test_extents_in_integer_data() -> None:
    """Where an extent meets data is where it is a scalar: no cast to float is needed, and a yield will do."""
    recipe = written(
        "(%x: tensor<?xi64>, %a: i64) -> (i64, index)",
        """%n = tensor.dim %x, %c0 : tensor<?xi64>
        %m = arith.addi %n, %c1 : index
        %k = arith.index_cast %m : index to i64
        %r = arith.muli %k, %a : i64
        xfuse.yield %r, %n : i64, index""",
    )
    found = [(use.op, use.value) for use in resolve_shapes(recipe, [(5,), ()]).uses if use.field == "scalar"]
    assert found == [("arith.muli", 6), ("xfuse.yield", 5)]


def test_literals_are_no_shape_relative_values() -> None:
    """resolve_rel: rel_free_attrs_pass_through_unchanged."""
    recipe = valid(
        "(%x: tensor<4xf64>) -> tensor<2xf64>",
        """%s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf64> to tensor<2xf64>
        %r = math.exp %s : tensor<2xf64>
        xfuse.yield %r : tensor<2xf64>""",
    )
    found = resolve_shapes(recipe, [(3, 4)])
    assert found.uses == ()
    assert found.results == ((3, 2),)
    assert str(found) == "results: (3, 2)"


# Errors


def test_wrong_operands() -> None:
    """resolve_rel: bind_out_of_range_is_a_typed_decline; recipe_bridge: decompose_via_recipe_bind_arity_mismatch."""
    recipe = valid(SCALAR, MEAN)
    assert parts(error_of(OperandOutOfRange, recipe)) == ("operands", None, 0)
    assert parts(error_of(OperandOutOfRange, recipe, (3,), (3,))) == ("operands", None, 2)
    for shape in (("3",), (2.5,), 7, None):
        with pytest.raises(OperandOutOfRange, match="operand 0 of recipe @r: expected a tuple of int or None"):
            resolve_shapes(recipe, [shape])
    assert parts(error_of(NegativeExtent, recipe, (3, -1))) == ("operands", None, -1)
    assert resolve_shapes(recipe, [(np.int64(3),)]).values("scalar") == [3]


def test_a_negative_extent() -> None:
    """resolve_rel: negative_result_is_a_typed_decline; emit_rel: try_emit_region_surfaces_typed_resolution_errors."""
    recipe = valid(ROW, sized("%size = arith.subi %n, %c4 : index"))
    assert resolve_shapes(recipe, [(4,)]).results == ((0,),)
    assert parts(error_of(NegativeExtent, recipe, (3,))) == (
        "target_shape",
        "op 10 (tensor.empty)".replace("10", "7"),
        -1,
    )
    sliced = written(ROW, SLICED.format("%start = arith.addi %c0, %c0 : index %len = arith.subi %n, %c4 : index", 1))
    assert parts(error_of(NegativeExtent, sliced, (2,))) == ("slice_len", "op 8 (tensor.extract_slice)", -2)


def test_a_negative_start() -> None:
    """emit_rel: decompose_rel_resolution_failure_is_a_fixpoint_not_a_crash: it registers, the shape is refused."""
    body = SLICED.format("%start = arith.subi %n, %c2 : index %len = arith.addi %c0, %c1 : index", 1)
    recipe = valid(ROW, body.replace("math.exp", "math.sqrt"))
    assert resolve_shapes(recipe, [(2,)]).values("slice_start") == [(0,)]
    assert parts(error_of(SliceOutOfRange, recipe, (1,))) == ("slice_start", "op 8 (tensor.extract_slice)", -1)


def test_division_by_zero() -> None:
    recipe = valid(ROW, sized("%m = arith.subi %n, %c3 : index %size = arith.divui %c4, %m : index"))
    assert resolve_shapes(recipe, [(5,)]).results == ((2,),)
    error = error_of(DivisionByZero, recipe, (3,))
    assert parts(error) == ("target_shape", "op 7 (arith.divui)", 0)
    assert str(error) == "op 7 (arith.divui) divides 4 by zero; target_shape of op 8 (tensor.empty) needs it"
    scalar = valid(SCALAR, scaled("%s = arith.remsi %c4, %n : index"))
    assert parts(error_of(DivisionByZero, scalar, (0,)))[0] == "scalar"


def test_division_by_zero_that_is_not_used() -> None:
    """A select guards against it, as in the program."""
    guarded = """%zero = arith.cmpi eq, %n, %c0 : index
    %q = arith.divui %c4, %n : index
    %size = arith.select %zero, %c0, %q : index"""
    recipe = valid(ROW, sized(guarded))
    assert [resolve_shapes(recipe, [(n,)]).results for n in (0, 1, 2)] == [((0,),), ((4,),), ((2,),)]
    dead = valid(ROW, sized("%size = arith.addi %n, %c0 : index", "%q = arith.divui %c4, %n : index"))
    assert resolve_shapes(dead, [(0,)]).results == ((0,),)


def test_overflow() -> None:
    """An expression whose value leaves 64 bits makes the reference panic; here it is a typed error."""
    big = "%big = arith.constant 4611686018427387904 : index"  # 2**62
    recipe = valid(ROW, sized(f"{big} %p = arith.muli %n, %big : index %size = arith.divui %p, %big : index"))
    assert resolve_shapes(recipe, [(1,)]).results == ((1,),)
    assert parts(error_of(ExtentOverflow, recipe, (2,))) == ("target_shape", "op 7 (arith.muli)", 2**63)
    narrow = "%k = arith.index_cast %n : index to i8 %size = arith.index_cast %k : i8 to index"
    assert resolve_shapes(valid(ROW, sized(narrow)), [(127,)]).results == ((127,),)
    assert parts(error_of(ExtentOverflow, valid(ROW, sized(narrow)), (128,))) == (
        "target_shape",
        "op 6 (arith.index_cast)",
        128,
    )
    collapsed = written(
        "(%x: tensor<?x?xf64>) -> tensor<?xf64>",
        """%r = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf64> into tensor<?xf64>
        xfuse.yield %r : tensor<?xf64>""",
    )
    assert error_of(ExtentOverflow, collapsed, (2**32, 2**31)).value == 2**63


def test_unknown_extents() -> None:
    """resolve_rel: symbolic_extent_is_a_surfaced_gap_decline; try_emit_region_surfaces_typed_resolution_errors."""
    recipe = valid(ROW, ROTATE_HALF)
    error = error_of(UnknownExtent, recipe, (None,))
    assert parts(error) == ("slice_len", "op 8 (tensor.extract_slice)", None)
    found = resolve_shapes(recipe, [(None,)], partial=True)
    assert found.values("slice_start") == [(None,), (None,)]
    assert found.values("target_shape") == [(None,)]
    assert found.results == ((None,),)
    assert error_of(UnknownExtent, valid(SCALAR, MEAN), (None,)).field == "scalar"
    assert error_of(UnknownExtent, valid(ROW, SOFTMAX_SUM), (None, 5)).field == "target_shape"
    assert resolve_shapes(valid(SCALAR, MEAN), [(None, 5)], partial=True).results == ((None,),)


def test_an_unknown_result_is_no_answer() -> None:
    """Without ``partial`` nothing in an answer is None, not even what is only passed on."""
    recipe = valid("(%x: f64, %y: f64) -> f64", "%r = arith.addf %x, %y : f64 xfuse.yield %r : f64")
    assert parts(error_of(UnknownExtent, recipe, (None, 3), ())) == ("target_shape", None, (None, 3))
    assert resolve_shapes(recipe, [(None, 3), (None, 1)], partial=True).results == ((None, 3),)


def test_an_unknown_extent_that_does_not_matter() -> None:
    """Arithmetic that is known all the same: n - n, 0 n, 2 n / 2; and an extent that another operand tells."""
    for arithmetic, n in (
        ("%size = arith.subi %n, %n : index", 0),
        ("%size = arith.muli %n, %c0 : index", 0),
        (
            "%d = arith.muli %n, %c2 : index %h = arith.divui %c4, %c2 : index %k = arith.floordivsi %d, %h : index "
            "%size = arith.subi %k, %n : index",
            0,
        ),
        ("%p = arith.cmpi sge, %n, %c0 : index %size = arith.select %p, %c3, %n : index", 3),
        ("%m = arith.maxsi %n, %c0 : index %size = arith.subi %m, %n : index", 0),
    ):
        assert resolve_shapes(written(ROW, sized(arithmetic)), [(None,)]).results == ((n,),)
    both = written(
        "(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64>",
        """%n = tensor.dim %x, %c0 : tensor<?xf64>
        %e = tensor.empty(%n) : tensor<?xf64>
        %r = linalg.add ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) -> tensor<?xf64>
        xfuse.yield %r : tensor<?xf64>""",
    )
    assert resolve_shapes(both, [(None,), (5,)]).results == ((5,),)


def test_extents_that_only_data_tells() -> None:
    recipe = written(
        "(%x: f64, %k: index) -> tensor<?xf64>",
        "%r = tensor.splat %x[%k] : tensor<?xf64> xfuse.yield %r : tensor<?xf64>",
    )
    error = error_of(UnknownExtent, recipe, (), ())
    assert parts(error) == ("target_shape", "op 5 (tensor.splat)", None)
    assert "depends on data" in str(error)
    assert resolve_shapes(recipe, [(), ()], partial=True).results == ((None,),)


def test_a_start_that_only_data_tells_is_no_shape_relative_value() -> None:
    recipe = written(
        "(%x: tensor<?xf64>, %k: index) -> tensor<2xf64>",
        """%s = tensor.extract_slice %x[%k] [2] [1] : tensor<?xf64> to tensor<2xf64>
        xfuse.yield %s : tensor<2xf64>""",
    )
    found = resolve_shapes(recipe, [(4,), ()])
    assert found.uses == ()
    assert found.results == ((2,),)


def test_core_dimensions_of_one_name() -> None:
    recipe = valid(
        "(%x: tensor<?xf64>, %y: tensor<?xf64>) -> f64",
        SUM.replace("ins(%x :", "ins(%p :").replace("%zero =", "%p = arith.mulf %x, %y : tensor<?xf64>\n%zero =")
        + "xfuse.yield %total : f64",
    )
    assert resolve_shapes(recipe, [(2, 3), (3,)]).results == ((2,),)
    error = error_of(ShapeMismatch, recipe, (3,), (4,))
    assert parts(error) == ("operands", None, (3, 4))
    assert str(error) == "dimension n of recipe @r (n),(n)->() is 3 in operand 0 and 4 in operand 1"
    # A core dimension of one does not broadcast, as in NumPy.
    error_of(ShapeMismatch, recipe, (1,), (4,))


def test_loop_dimensions_broadcast_as_numpys_do() -> None:
    recipe = valid("(%x: f64, %y: f64) -> f64", "%r = arith.addf %x, %y : f64 xfuse.yield %r : f64")
    for x, y in (((), (2,)), ((2, 1), (1, 3)), ((4, 1, 3), (2, 1)), ((0,), (1,)), ((5,), (5,)), ((1, 0), (3, 1))):
        assert resolve_shapes(recipe, [x, y]).results == (np.broadcast_shapes(x, y),)
    error = error_of(ShapeMismatch, recipe, (2, 3), (4, 1))
    assert parts(error) == ("operands", None, (4, 1))
    assert "loop dimensions (4, 1), which do not broadcast with (2, 3)" in str(error)
    for x, y in (((0,), (5,)), ((2,), (3,))):
        error_of(ShapeMismatch, recipe, x, y)


def test_static_extents() -> None:
    recipe = valid(
        "(%x: tensor<4xf64>) -> tensor<2xf64>",
        """%s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf64> to tensor<2xf64>
        %r = math.exp %s : tensor<2xf64>
        xfuse.yield %r : tensor<2xf64>""",
    )
    assert parts(error_of(ShapeMismatch, recipe, (5,))) == ("operands", None, 5)
    assert resolve_shapes(recipe, [(None,)]).results == ((2,),)


def test_ops_whose_operands_do_not_fit() -> None:
    cast = written(
        ROW,
        "%s = tensor.cast %x : tensor<?xf64> to tensor<4xf64> %r = tensor.cast %s : tensor<4xf64> to tensor<?xf64> "
        "xfuse.yield %r : tensor<?xf64>",
    )
    assert resolve_shapes(cast, [(None,)]).results == ((4,),)
    assert parts(error_of(ShapeMismatch, cast, (3,))) == ("target_shape", "op 5 (tensor.cast)", (4, 3))
    window = written(
        "(%x: tensor<?xf64>, %w: tensor<3xf64>) -> tensor<2xf64>",
        """%z = arith.constant dense<0.0> : tensor<2xf64>
        %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>,
            affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
            ins(%x, %w : tensor<?xf64>, tensor<3xf64>) outs(%z : tensor<2xf64>) {
        ^bb0(%a: f64, %b: f64, %c: f64):
          %p = arith.mulf %a, %b : f64
          %s = arith.addf %p, %c : f64
          linalg.yield %s : f64
        } -> tensor<2xf64>
        xfuse.yield %r : tensor<2xf64>""",
    )
    assert resolve_shapes(window, [(4,), (3,)]).results == ((2,),)
    assert resolve_shapes(window, [(9,), (3,)]).results == ((2,),)
    assert parts(error_of(ShapeMismatch, window, (3,), (3,))) == ("target_shape", "op 6 (linalg.generic)", (3, 3))


def test_every_kind_of_error_has_one_root_and_can_be_pickled() -> None:
    kinds = {
        *(AxisOutOfRange, DivisionByZero, ExtentOverflow, NegativeExtent),
        *(OperandOutOfRange, ShapeMismatch, SliceOutOfRange, UnknownExtent),
    }
    assert set(ShapeError.__subclasses__()) == kinds
    error = error_of(NegativeExtent, valid(ROW, sized("%size = arith.subi %n, %c4 : index")), (1,))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), parts(again)) == (type(error), str(error), parts(error))


def test_a_malformed_recipe_is_refused_not_a_crash() -> None:
    text = f"xfuse.recipe @r{ROW} {{ %e = tensor.empty() : tensor<?xf64> xfuse.yield %e : tensor<?xf64> }}"
    (recipe,) = recipes_of(parse_module(text, verify=False))
    with pytest.raises(RecipeError, match=r"@r: op 0 \(tensor.empty\) has 0 sizes as operands; expected 1"):
        resolve_shapes(recipe, [(3,)])


# Control flow, nested fused ops, flattened arguments


def test_a_branch_that_an_extent_decides() -> None:
    """Only the branch that is taken counts."""
    body = sized(
        """%small = arith.cmpi ult, %n, %c4 : index
        %size = scf.if %small -> (index) {
          %q = arith.addi %n, %c1 : index
          scf.yield %q : index
        } else {
          %q = arith.subi %n, %c4 : index
          scf.yield %q : index
        }"""
    )
    recipe = written(ROW, body)
    assert [resolve_shapes(recipe, [(n,)]).results for n in (1, 4, 6)] == [((2,),), ((0,),), ((2,),)]


def test_a_branch_that_data_decides() -> None:
    recipe = written(
        "(%x: tensor<?xf64>, %p: i1) -> (tensor<?xf64>, tensor<?xf64>)",
        """%n = tensor.dim %x, %c0 : tensor<?xf64>
        %h = arith.divui %n, %c2 : index
        %a, %b = scf.if %p -> (tensor<?xf64>, tensor<?xf64>) {
          %s = tensor.extract_slice %x[0] [%h] [1] : tensor<?xf64> to tensor<?xf64>
          scf.yield %s, %x : tensor<?xf64>, tensor<?xf64>
        } else {
          scf.yield %x, %x : tensor<?xf64>, tensor<?xf64>
        }
        xfuse.yield %a, %b : tensor<?xf64>, tensor<?xf64>""",
    )
    assert resolve_shapes(recipe, [(4,), ()], partial=True).results == ((None,), (4,))
    error_of(UnknownExtent, recipe, (4,), ())


def test_loops_keep_extents_that_every_turn_keeps() -> None:
    body = """%n = tensor.dim %x, %c0 : tensor<?xf64>
    %y, %z = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<?xf64>, tensor<?xf64>) {{
      %m = tensor.dim %b, %c0 : tensor<?xf64>
      %s = tensor.extract_slice %a[%i] [1] [1] : tensor<?xf64> to tensor<1xf64>
      %t = tensor.insert_slice %s into %a[0] [1] [1] : tensor<1xf64> into tensor<?xf64>
      {}
      scf.yield %t, %u : tensor<?xf64>, tensor<?xf64>
    }}
    xfuse.yield %y, %z : tensor<?xf64>, tensor<?xf64>"""
    results = "(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)"
    kept = written(results, body.format("%u = math.exp %b : tensor<?xf64>"))
    found = resolve_shapes(kept, [(4,)])
    assert found.results == ((4,), (4,))
    assert [str(use) for use in found.uses] == [
        "op 5 (tensor.dim): axis = 0",
        "op 6 (scf.for): scalar = 4",
        "op 7 (tensor.dim): axis = 0",
    ]
    grown = "%u = tensor.concat dim(0) %b, %s : (tensor<?xf64>, tensor<1xf64>) -> tensor<?xf64>"
    assert resolve_shapes(written(results, body.format(grown)), [(4,)], partial=True).results == ((4,), (None,))
    assert resolve_shapes(written(results, body.format(grown)), [(0,)]).results == ((0,), (0,))


def test_ops_inside_a_fused_op_count() -> None:
    recipe = written(
        ROW,
        """%y = xfuse.fused @exp_half(%a = %x : tensor<?xf64>, %two = %c2 : index) -> tensor<?xf64> {
          %z = arith.constant 0 : index
          %n = tensor.dim %a, %z : tensor<?xf64>
          %h = arith.divui %n, %two : index
          %s = tensor.extract_slice %a[0] [%h] [1] : tensor<?xf64> to tensor<?xf64>
          %r = math.exp %s : tensor<?xf64>
          xfuse.yield %r : tensor<?xf64>
        }
        xfuse.yield %y : tensor<?xf64>""",
    )
    found = resolve_shapes(recipe, [(2, 8)])
    assert found.values("slice_len") == [(2, 4)]
    assert found.results == ((2, 4),)


FLAT = f"(%x: tensor<?xf64> {{xfuse.flatten}}) -> f64 {{\n{CONSTANTS}\n{MEAN}\n}}"


def test_a_flattened_argument_counts_all_elements() -> None:
    (recipe,) = parse_recipes(f"xfuse.recipe @r{FLAT}")
    validate(recipe)
    for shape, count in (((2, 3, 4), 24), ((), 1), ((5,), 5), ((0, 7), 0)):
        found = resolve_shapes(recipe, [shape])
        assert found.values("scalar") == [count]
        assert found.loop == ()
        assert found.results == ((),)
    assert error_of(UnknownExtent, recipe, (2, None)).field == "scalar"


def test_flattened_arguments_are_of_one_shape() -> None:
    text = f"xfuse.recipe @r{FLAT}".replace(
        ") -> f64", ", %y: tensor<?xf64> {xfuse.flatten}, %w: tensor<?xf64>) -> f64"
    )
    text = text.replace("%zero =", "%p = arith.mulf %x, %y : tensor<?xf64>\n%zero =").replace("ins(%x :", "ins(%p :")
    text = text.replace(
        "xfuse.yield %mean",
        "%first = tensor.extract %w[%c0] : tensor<?xf64>\n%last = arith.mulf %mean, %first : f64\nxfuse.yield %last",
    )
    (recipe,) = parse_recipes(text)
    assert resolve_shapes(recipe, [(2, 3), (2, 3), (4,)]).values("scalar") == [6]
    assert error_of(ShapeMismatch, recipe, (2, 3), (3, 2), (4,)).value == (3, 2)
    # There are no loop dimensions.
    assert parts(error_of(OperandOutOfRange, recipe, (2, 3), (2, 3), (4, 4))) == ("operands", None, 2)


# Against programs


def as_program(recipe: Recipe) -> xfuse.CompiledProgram:
    """The ops of a recipe as a program, at their written types."""
    body = recipe.op.body.clone()
    last = body.block.last_op
    assert last is not None
    body.block.insert_op_before(func.ReturnOp(*last.operands), last)
    Rewriter.erase_op(last)
    return xfuse.compile(ModuleOp([func.FuncOp("main", (recipe.argument_types, recipe.result_types), body)]))


ROW_FILES = [path for path in library_files() if "tensor.dim" in path.read_text()]


@pytest.mark.parametrize("path", ROW_FILES, ids=lambda path: path.stem)
def test_the_library_gives_results_of_the_resolved_shapes(path: Path) -> None:
    """Families that read extents: what is resolved is what comes out when the ops run on arrays."""
    recipe = next(each for each in recipes_of(load_module(path, context())) if not each.is_scalar)
    signature = named_signature(recipe)
    names = [name for name in signature.names if not name.isdigit()]
    extents = {name: 12 - 2 * number for number, name in enumerate(names)}
    shapes = [tuple(int(name) if name.isdigit() else extents[name] for name in own) for own in signature.arguments]
    found = resolve_shapes(recipe, shapes)
    dtypes = [numpy_dtype(element_name(type_)) for type_ in recipe.argument_types]
    results = as_tuple(as_program(recipe)(*map(np.ones, shapes, dtypes)))
    assert tuple(np.shape(each) for each in results) == found.results
    if not recipe.flat:
        looped = resolve_shapes(recipe, [(3, *shape) for shape in shapes])
        assert looped.results == tuple((3, *shape) for shape in found.results)
        assert looped.values("scalar") == found.values("scalar")
        assert looped.values("axis") == [axis + 1 for axis in found.values("axis")]


# Properties


INDEX_OPS = (
    "addi subi muli divsi divui floordivsi ceildivsi ceildivui remsi remui maxsi minsi maxui minui andi ori xori shli "
    "shrsi shrui"
).split()


@given(
    st.sampled_from(INDEX_OPS),
    st.sampled_from(("index", "i64", "i32", "i8")),
    st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20),
    st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 70),
)
def test_arithmetic_is_that_of_the_primitives(op: str, type_: str, a: int, b: int) -> None:
    """Where nothing overflows and nothing divides by zero, values are what the table of primitives computes."""
    size = {"index": 64, "i64": 64, "i32": 32, "i8": 8}[type_]
    a, b = (((each + (1 << size - 1)) % (1 << size)) - (1 << size - 1) for each in (a, b))
    found = evaluate(f"arith.{op}", [type_, type_], type_, [literal(a), literal(b)], "here")
    assert found is not None
    assume(found.failure is None)
    kind = np.dtype(f"i{size // 8}")
    signature = Signature((type_, type_), (type_,), {})
    function = PRIMITIVES[f"arith.{op}"].numpy
    with np.errstate(all="ignore"):
        x, y = kind.type(a), kind.type(b)
        wanted = function(x, y) if isinstance(function, np.ufunc) else function(signature, x, y)
    assert found.known == int(wanted)


@given(st.sampled_from("eq ne slt sle sgt sge ult ule ugt uge".split()), st.integers(-9, 9), st.integers(-9, 9))
def test_comparisons_are_those_of_python(predicate: str, a: int, b: int) -> None:
    """Unsigned ones take negative numbers by their bits."""
    function = getattr(operator, predicate if predicate in ("eq", "ne") else predicate[1:])
    x, y = (a % 2**64, b % 2**64) if predicate.startswith("u") else (a, b)
    assert compare(predicate, "index", literal(a), literal(b)) == Number(int(function(x, y)))


@st.composite
def index_programs(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Some index arithmetic on two extents and literals: its text, and the names of its values."""
    names = ["%m", "%n", "%c0", "%c1", "%c2", "%c3"]
    lines: list[str] = []
    for number in range(draw(st.integers(1, 5))):
        a, b = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        op = draw(st.sampled_from(("addi", "subi", "muli", "divsi", "floordivsi", "remui", "maxsi", "minsi", "select")))
        name = f"%v{number}"
        if op == "select":
            predicate = draw(st.sampled_from(("eq", "slt", "sge", "ult")))
            other = draw(st.sampled_from(names))
            lines.append(f"%p{number} = arith.cmpi {predicate}, {a}, {b} : index")
            lines.append(f"{name} = arith.select %p{number}, {a}, {other} : index")
        else:
            lines.append(f"{name} = arith.{op} {a}, {b} : index")
        names.append(name)
    return "\n".join(lines), names


PROGRAM = """%m = tensor.dim %x, %c0 : tensor<?x?xf64>
%n = tensor.dim %x, %c1 : tensor<?x?xf64>
{}
%s = tensor.extract_slice %x[{}, 0] [{}, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
%e = tensor.empty({}) : tensor<?xf64>
%z = arith.constant 1.0 : f64
%t = linalg.fill ins(%z : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
{} %s, %t : tensor<?x?xf64>, tensor<?xf64>"""


@given(index_programs(), st.data())
def test_what_resolves_is_what_runs_and_what_can_never_resolve_is_known_at_registration(
    program: tuple[str, list[str]], data: st.DataObject
) -> None:
    """Three readings of one recipe agree: at concrete shapes, at unknown ones, and as a program on arrays."""
    text, names = program
    start, length, size = (data.draw(st.sampled_from(names)) for _ in range(3))
    header = "(%x: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>)"
    recipe = written(header, PROGRAM.format(text, start, length, size, "xfuse.yield"))
    shapes = [(m, n) for m in range(4) for n in range(4)]
    try:
        unknown = resolve_shapes(recipe, [(None, None)], partial=True)
    except ShapeError:
        unknown = None
    run = None
    for shape in shapes:
        try:
            found = resolve_shapes(recipe, [shape])
        except ShapeError:
            continue
        assert unknown is not None, f"refused for all shapes, yet {shape} works"
        partial = [*unknown.results, *(use.value for use in unknown.uses)]
        concrete = [*found.results, *(use.value for use in found.uses)]
        for some, exact in zip(partial, concrete, strict=True):
            pairs = zip(some, exact, strict=True) if isinstance(some, tuple) else ((some, exact),)
            assert all(a is None or a == b for a, b in pairs)
        if run is None:
            body = PROGRAM.format(text, start, length, size, "func.return")
            run = xfuse.compile(parse_module(f"func.func @main{header} {{ {CONSTANTS} {body} }}"))
        results = run(np.zeros(shape))
        assert tuple(each.shape for each in results) == found.results
