"""Control flow and calls: evaluation against NumPy, and identity (law L5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from xfuse.backends.numpy.source import Writer
from xfuse.canonical.build import GraphBuilder
from xfuse.canonical.form import Form, canonical_form
from xfuse.canonical.graph import Value
from xfuse.errors import KernelError, UnsupportedError
from xfuse.parser import load_module, parse_module
from xfuse.primitives.element_types import numpy_dtype

CORPUS = Path(__file__).parent / "corpus"


def build(module: ModuleOp | str, name: str = "main") -> tuple[GraphBuilder, list[Value]]:
    """The graph of the function of a name."""
    if isinstance(module, str):
        module = parse_module(module)
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp) and op.sym_name.data == name)
    builder = GraphBuilder()
    for argument in function.body.block.args:
        builder.argument(argument)
    return builder, builder.block(function.body.block)


def source(text: str) -> str:
    builder, results = build(text)
    return Writer(builder.graph, builder.argument_values, results).write().text


def run(module: ModuleOp | str, *arguments: Any) -> Any:
    """The results of ``@main``; arguments take the element types of its parameters."""
    builder, results = build(module)
    types = [builder.graph.nodes[value.node].element_type for value in builder.argument_values]
    arrays = [np.asarray(given, numpy_dtype(type_)) for given, type_ in zip(arguments, types, strict=True)]
    copies = [array.copy() for array in arrays]
    found = Writer(builder.graph, builder.argument_values, results).write().compile()(*arrays)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    return found[0] if len(found) == 1 else found


def form(module: ModuleOp | str) -> Form:
    builder, results = build(module)
    return canonical_form(builder.graph, builder.argument_values, results)


def identity(module: ModuleOp | str) -> str:
    return form(module).identity


CUMULATIVE_SUM = """
func.func @main(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %empty = tensor.empty(%n) : tensor<?xf64>
  %sum, %all = scf.for %i = %c0 to %n step %c1 iter_args(%total = %zero, %out = %empty) -> (f64, tensor<?xf64>) {
    %v = tensor.extract %x[%i] : tensor<?xf64>
    %next = arith.addf %total, %v : f64
    %new = tensor.insert %next into %out[%i] : tensor<?xf64>
    scf.yield %next, %new : f64, tensor<?xf64>
  }
  return %all : tensor<?xf64>
}
"""


@pytest.mark.parametrize("size", [0, 1, 2, 17])
def test_cumulative_sum(size: int) -> None:
    x = np.random.default_rng(0).normal(size=size)
    np.testing.assert_array_equal(run(CUMULATIVE_SUM, x), np.cumsum(x))


def test_both_results_of_one_loop_are_computed_once() -> None:
    """A result carries only what it needs, and the loops of one op share one evaluation."""
    text = CUMULATIVE_SUM.replace("return %all :", "return %all, %sum :").replace(
        "tensor<?xf64>\n}", "tensor<?xf64>, f64\n}"
    )
    text = text.replace("-> tensor<?xf64> {\n  %c0", "-> (tensor<?xf64>, f64) {\n  %c0")
    x = np.arange(1.0, 6.0)
    every, total = run(text, x)
    np.testing.assert_array_equal(every, np.cumsum(x))
    assert total == 15.0
    assert source(text).count("for ") == 1


NESTED = """
func.func @main(%x: tensor<4x3xf64>, %n: index) -> (tensor<4xf64>, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %out = arith.constant dense<-1.0> : tensor<4xf64>
  %rows, %last = scf.for %i = %c0 to %n step %c1 iter_args(%r = %out, %l = %zero) -> (tensor<4xf64>, f64) {
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%acc = %l) -> (f64) {
      %v = tensor.extract %x[%i, %j] : tensor<4x3xf64>
      %w = math.absf %v : f64
      %k = arith.index_cast %i : index to i64
      %f = arith.sitofp %k : i64 to f64
      %p = arith.mulf %w, %f : f64
      %a = arith.addf %acc, %p : f64
      scf.yield %a : f64
    }
    %new = tensor.insert %s into %r[%i] : tensor<4xf64>
    scf.yield %new, %s : tensor<4xf64>, f64
  }
  return %rows, %last : tensor<4xf64>, f64
}
"""


@pytest.mark.parametrize("rows", [0, 1, 3, 4])
def test_nested_loops(rows: int) -> None:
    x = np.random.default_rng(1).normal(size=(4, 3))
    expected, total = np.full(4, -1.0), 0.0
    for i in range(rows):
        for j in range(3):
            total += abs(x[i, j]) * i
        expected[i] = total
    found, last = run(NESTED, x, rows)
    np.testing.assert_array_equal(found, expected)
    assert last == total


COLLATZ = """
func.func @main(%n: i64) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %value, %steps = scf.while (%v = %n, %s = %zero) : (i64, i64) -> (i64, i64) {
    %go = arith.cmpi ne, %v, %one : i64
    scf.condition(%go) %v, %s : i64, i64
  } do {
  ^bb0(%v: i64, %s: i64):
    %bit = arith.remsi %v, %two : i64
    %even = arith.cmpi eq, %bit, %zero : i64
    %new = scf.if %even -> (i64) {
      %half = arith.divsi %v, %two : i64
      scf.yield %half : i64
    } else {
      %triple = arith.muli %v, %three : i64
      %odd = arith.addi %triple, %one : i64
      scf.yield %odd : i64
    }
    %more = arith.addi %s, %one : i64
    scf.yield %new, %more : i64, i64
  }
  return %value, %steps : i64, i64
}
"""


@pytest.mark.parametrize("start", [1, 6, 27])
def test_while_with_two_carried_values(start: int) -> None:
    value, steps = start, 0
    while value != 1:
        value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
    assert run(COLLATZ, start) == (1, steps)


def test_while_that_forwards_other_values_than_it_carries() -> None:
    """The first region computes what the second one and the results are made of."""
    text = """
    func.func @main(%x: tensor<3xf32>, %limit: f32) -> (f32, tensor<3xf32>) {
      %c0 = arith.constant 0 : index
      %two = arith.constant dense<2.0> : tensor<3xf32>
      %s, %t = scf.while (%a = %x) : (tensor<3xf32>) -> (f32, tensor<3xf32>) {
        %d = arith.mulf %a, %two : tensor<3xf32>
        %e = tensor.extract %d[%c0] : tensor<3xf32>
        %go = arith.cmpf olt, %e, %limit : f32
        scf.condition(%go) %e, %d : f32, tensor<3xf32>
      } do {
      ^bb0(%e: f32, %d: tensor<3xf32>):
        %y = tensor.insert %e into %d[%c0] : tensor<3xf32>
        scf.yield %y : tensor<3xf32>
      }
      return %s, %t : f32, tensor<3xf32>
    }
    """
    first, values = run(text, [1, 2, 3], 20)
    assert first == 32
    np.testing.assert_array_equal(values, np.float32([32, 64, 96]))


@pytest.mark.parametrize(("lower", "upper", "step"), [(0, 0, 1), (5, 3, 2), (0, 5, 2), (-3, 4, 3), (2, 3, 100)])
def test_trip_counts(lower: int, upper: int, step: int) -> None:
    """Zero-trip loops give the initial values; bounds may be negative and need not be multiples of the step."""
    text = """
    func.func @main(%init: tensor<2xi64>, %l: index, %u: index, %s: index) -> (tensor<2xi64>, i64) {
      %zero = arith.constant 0 : i64
      %r:2 = scf.for %i = %l to %u step %s iter_args(%a = %init, %n = %zero) -> (tensor<2xi64>, i64) {
        %k = arith.index_cast %i : index to i64
        %m = arith.addi %n, %k : i64
        %t = tensor.splat %m : tensor<2xi64>
        %b = arith.addi %a, %t : tensor<2xi64>
        scf.yield %b, %m : tensor<2xi64>, i64
      }
      return %r#0, %r#1 : tensor<2xi64>, i64
    }
    """
    expected, total = np.array([10, 20]), 0
    for i in range(lower, upper, step):
        total += i
        expected = expected + total
    found, last = run(text, [10, 20], lower, upper, step)
    np.testing.assert_array_equal(found, expected)
    assert last == total


def test_step_must_be_positive() -> None:
    text = CUMULATIVE_SUM.replace("%c1 = arith.constant 1", "%c1 = arith.constant -1")
    with pytest.raises(KernelError, match="step -1"):
        run(text, [1.0])


def test_zero_trips_evaluate_nothing_of_the_body() -> None:
    """An invariant read stays behind the test whether there is a trip at all."""
    text = """
    func.func @main(%x: tensor<?xf64>, %n: index, %far: index) -> f64 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f64
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f64) {
        %v = tensor.extract %x[%far] : tensor<?xf64>
        %b = arith.addf %a, %v : f64
        scf.yield %b : f64
      }
      return %r : f64
    }
    """
    assert run(text, [2.0, 3.0], 4, 1) == 12
    assert run(text, [2.0, 3.0], 0, 7) == 0
    lines = source(text).splitlines()
    assert next(k for k, line in enumerate(lines) if "gather" in line) < next(
        k for k, line in enumerate(lines) if line.strip().startswith("for ")
    )


IF_TENSORS = """
func.func @main(%c: i1, %x: tensor<4x5xf32>, %y: tensor<5x4xf32>, %k: f32) -> (tensor<4x5xf32>, f32) {
  %a, %b = scf.if %c -> (tensor<4x5xf32>, f32) {
    %e = math.exp %x : tensor<4x5xf32>
    scf.yield %e, %k : tensor<4x5xf32>, f32
  } else {
    %empty = tensor.empty() : tensor<4x5xf32>
    %t = linalg.transpose ins(%y : tensor<5x4xf32>) outs(%empty : tensor<4x5xf32>) permutation = [1, 0]
    %n = arith.negf %k : f32
    scf.yield %t, %n : tensor<4x5xf32>, f32
  }
  return %a, %b : tensor<4x5xf32>, f32
}
"""


def test_if_with_tensors_and_scalars() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(4, 5)).astype("f4"), rng.normal(size=(5, 4)).astype("f4")
    then, scalar = run(IF_TENSORS, True, x, y, 3)
    np.testing.assert_array_equal(then, np.exp(x))
    assert scalar == 3
    otherwise, scalar = run(IF_TENSORS, False, x, y, 3)
    np.testing.assert_array_equal(otherwise, y.T)
    assert scalar == -3


@pytest.mark.parametrize("condition", [True, False])
def test_a_side_that_is_a_broadcast_is_there_at_every_point(condition: bool) -> None:
    text = """
    func.func @main(%c: i1, %x: tensor<?x3xf64>, %row: tensor<3xf64>) -> f64 {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x3xf64>
      %zero = arith.constant 0.0 : f64
      %a = scf.if %c -> (tensor<?x3xf64>) {
        scf.yield %x : tensor<?x3xf64>
      } else {
        %e = tensor.empty(%n) : tensor<?x3xf64>
        %b = linalg.broadcast ins(%row : tensor<3xf64>) outs(%e : tensor<?x3xf64>) dimensions = [0]
        scf.yield %b : tensor<?x3xf64>
      }
      %init = tensor.splat %zero : tensor<f64>
      %r = linalg.reduce ins(%a : tensor<?x3xf64>) outs(%init : tensor<f64>) dimensions = [0, 1]
      (%in: f64, %out: f64) {
        %sum = arith.addf %in, %out : f64
        linalg.yield %sum : f64
      }
      %s = tensor.extract %r[] : tensor<f64>
      return %s : f64
    }
    """
    x, row = np.arange(12.0).reshape(4, 3), np.array([1.0, 2.0, 3.0])
    assert run(text, condition, x, row) == (x.sum() if condition else 24)


@pytest.mark.parametrize("condition", [True, False])
def test_a_splat_against_a_transposed_side(condition: bool) -> None:
    text = """
    func.func @main(%c: i1, %y: tensor<3x?xf64>, %n: index) -> tensor<?x3xf64> {
      %c0 = arith.constant 0 : index
      %half = arith.constant 0.5 : f64
      %a = scf.if %c -> (tensor<?x3xf64>) {
        %s = tensor.splat %half[%n] : tensor<?x3xf64>
        scf.yield %s : tensor<?x3xf64>
      } else {
        %e = tensor.empty(%n) : tensor<?x3xf64>
        %t = linalg.transpose ins(%y : tensor<3x?xf64>) outs(%e : tensor<?x3xf64>) permutation = [1, 0]
        scf.yield %t : tensor<?x3xf64>
      }
      %i = tensor.insert %half into %a[%c0, %c0] : tensor<?x3xf64>
      return %i : tensor<?x3xf64>
    }
    """
    y = np.arange(12.0).reshape(3, 4)
    expected = np.full((4, 3), 0.5) if condition else y.T.copy()
    expected[0, 0] = 0.5
    np.testing.assert_array_equal(run(text, condition, y, 4), expected)


def test_sides_of_different_extents() -> None:
    text = """
    func.func @main(%c: i1, %x: tensor<?xf64>, %y: tensor<?xf64>) -> (tensor<?xf64>, index) {
      %c0 = arith.constant 0 : index
      %a = scf.if %c -> (tensor<?xf64>) {
        scf.yield %x : tensor<?xf64>
      } else {
        scf.yield %y : tensor<?xf64>
      }
      %n = tensor.dim %a, %c0 : tensor<?xf64>
      return %a, %n : tensor<?xf64>, index
    }
    """
    x, y = np.arange(3.0), np.arange(5.0)
    for condition, expected in ((True, x), (False, y)):
        found, size = run(text, condition, x, y)
        np.testing.assert_array_equal(found, expected)
        assert size == len(expected)


def test_only_the_taken_side_is_evaluated() -> None:
    """Neither reads outside a tensor nor endless loops of the other side happen, also where two branches share one."""
    text = """
    func.func @main(%x: tensor<?xf64>, %i: index) -> (f64, f64) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f64
      %true = arith.constant true
      %n = tensor.dim %x, %c0 : tensor<?xf64>
      %ok = arith.cmpi ult, %i, %n : index
      %a = scf.if %ok -> (f64) {
        %v = tensor.extract %x[%i] : tensor<?xf64>
        scf.yield %v : f64
      } else {
        scf.yield %zero : f64
      }
      %b = scf.if %ok -> (f64) {
        %v = tensor.extract %x[%i] : tensor<?xf64>
        %w = math.sqrt %v : f64
        scf.yield %w : f64
      } else {
        %odd = scf.if %ok -> (f64) {
          %r = scf.while (%s = %zero) : (f64) -> f64 {
            scf.condition(%true) %s : f64
          } do {
          ^bb0(%s: f64):
            %t = arith.addf %s, %zero : f64
            scf.yield %t : f64
          }
          scf.yield %r : f64
        } else {
          %u = arith.subf %zero, %zero : f64
          scf.yield %u : f64
        }
        scf.yield %odd : f64
      }
      return %a, %b : f64, f64
    }
    """
    assert run(text, [1.0, 4.0], 1) == (4, 2)
    assert run(text, [1.0, 4.0], 2) == (0, 0)


def test_a_chain_of_branches_stays_linear() -> None:
    lines = ["func.func @main(%c: i1, %x0: f64) -> f64 {"]
    for k in range(60):
        lines += [
            f"  %x{k + 1} = scf.if %c -> (f64) {{",
            f"    %a{k} = arith.addf %x{k}, %x{k} : f64",
            f"    scf.yield %a{k} : f64",
            "  } else {",
            f"    %b{k} = scf.if %c -> (f64) {{",
            f"      scf.yield %x{k} : f64",
            "    } else {",
            f"      %s{k} = math.sqrt %x{k} : f64",
            f"      scf.yield %s{k} : f64",
            "    }",
            f"    scf.yield %b{k} : f64",
            "  }",
        ]
    text = "\n".join([*lines, "  return %x60 : f64", "}"])
    assert source(text).count("\n") < 60 * 12
    assert run(text, True, 1.0) == 2.0**60
    assert run(text, False, 1.0) == 1.0


def test_slices_inside_a_loop() -> None:
    """A scan over rows, with a captured matrix and a slice that is written back."""
    text = """
    #row = affine_map<(d0) -> (d0)>
    func.func @main(%xs: tensor<6x3xf64>, %w: tensor<3xf64>) -> (tensor<6x3xf64>, tensor<3xf64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %ys = tensor.empty() : tensor<6x3xf64>
      %h0 = arith.constant dense<0.5> : tensor<3xf64>
      %e = tensor.empty() : tensor<3xf64>
      %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %h0, %out = %ys) -> (tensor<3xf64>, tensor<6x3xf64>) {
        %x = tensor.extract_slice %xs[%i, 0] [1, 3] [1, 1] : tensor<6x3xf64> to tensor<3xf64>
        %n = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
            ins(%x, %h, %w : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) {
        ^bb0(%a: f64, %b: f64, %c: f64, %o: f64):
          %p = arith.mulf %b, %c : f64
          %q = arith.addf %a, %p : f64
          linalg.yield %q : f64
        } -> tensor<3xf64>
        %new = tensor.insert_slice %n into %out[%i, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<6x3xf64>
        scf.yield %n, %new : tensor<3xf64>, tensor<6x3xf64>
      }
      return %r#1, %r#0 : tensor<6x3xf64>, tensor<3xf64>
    }
    """
    rng = np.random.default_rng(3)
    xs, w = rng.normal(size=(6, 3)), rng.normal(size=3)
    expected, h = np.empty((6, 3)), np.full(3, 0.5)
    for i in range(6):
        expected[i] = h = xs[i] + h * w
    found, last = run(text, xs, w)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(last, h)
    assert source(text).count("for ") == 1


def test_values_that_swap_and_values_that_stay() -> None:
    text = """
    func.func @main(%x: f64, %y: f64, %z: f64, %n: index) -> (f64, f64, f64) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z) -> (f64, f64, f64) {
        scf.yield %b, %a, %c : f64, f64, f64
      }
      return %r#0, %r#1, %r#2 : f64, f64, f64
    }
    """
    assert run(text, 1, 2, 3, 3) == (2, 1, 3)
    assert run(text, 1, 2, 3, 4) == (1, 2, 3)


def test_sibling_loops_with_equal_bodies_and_a_loop_in_a_loop_that_does_not_need_it() -> None:
    """Leaves of equal depth belong to the loop around them."""
    text = """
    func.func @main(%x: f64, %y: f64, %n: index) -> (f64, f64) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f64
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
        %b = arith.addf %a, %one : f64
        scf.yield %b : f64
      }
      %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (f64) {
        %inner = scf.for %j = %c0 to %n step %c1 iter_args(%c = %y) -> (f64) {
          %d = arith.addf %c, %one : f64
          scf.yield %d : f64
        }
        %b = arith.addf %a, %one : f64
        %e = arith.mulf %b, %inner : f64
        scf.yield %e : f64
      }
      return %p, %q : f64, f64
    }
    """
    p, q = run(text, 2.0, 1.0, 2)
    assert p == 4
    assert q == ((4 + 1) * 3 + 1) * 3
    hoisted = [line for line in source(text).splitlines() if line.strip().startswith("for ")]
    assert len(hoisted) == 3


def test_extents_that_change_from_trip_to_trip() -> None:
    text = """
    func.func @main(%x: tensor<?xf64>, %n: index) -> (tensor<?xf64>, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf64>) {
        %size = tensor.dim %a, %c0 : tensor<?xf64>
        %less = arith.subi %size, %c1 : index
        %b = tensor.extract_slice %a[1] [%less] [1] : tensor<?xf64> to tensor<?xf64>
        scf.yield %b : tensor<?xf64>
      }
      %size = tensor.dim %r, %c0 : tensor<?xf64>
      return %r, %size : tensor<?xf64>, index
    }
    """
    x = np.arange(7.0)
    for trips in (0, 1, 3):
        found, size = run(text, x, trips)
        np.testing.assert_array_equal(found, x[trips:])
        assert size == 7 - trips


CALLS = """
func.func private @square(%v: tensor<?xf64>) -> tensor<?xf64> {
  %r = arith.mulf %v, %v : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func private @both(%v: tensor<?xf64>, %w: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %a = func.call @square(%v) : (tensor<?xf64>) -> tensor<?xf64>
  %b = func.call @square(%w) : (tensor<?xf64>) -> tensor<?xf64>
  return %b, %a : tensor<?xf64>, tensor<?xf64>
}
func.func @main(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r:2 = func.call @both(%x, %y) : (tensor<?xf64>, tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %s = arith.subf %r#0, %r#1 : tensor<?xf64>
  return %s : tensor<?xf64>
}
"""


def test_calls_are_read_in_place() -> None:
    x, y = np.arange(3.0), np.arange(3.0) + 5
    np.testing.assert_array_equal(run(CALLS, x, y), y * y - x * x)
    inline = """
    func.func @main(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
      %a = arith.mulf %y, %y : tensor<?xf64>
      %b = arith.mulf %x, %x : tensor<?xf64>
      %s = arith.subf %a, %b : tensor<?xf64>
      return %s : tensor<?xf64>
    }
    """
    assert identity(CALLS) == identity(inline)


def test_calls_that_double_are_read_once_per_argument() -> None:
    parts = ["func.func private @f0(%v: f64) -> f64 {\n  %r = arith.addf %v, %v : f64\n  return %r : f64\n}"]
    parts += [
        f"func.func private @f{k + 1}(%v: f64) -> f64 {{\n"
        f"  %a = func.call @f{k}(%v) : (f64) -> f64\n  %b = func.call @f{k}(%v) : (f64) -> f64\n"
        "  %r = arith.addf %a, %b : f64\n  return %r : f64\n}"
        for k in range(40)
    ]
    parts.append("func.func @main(%x: f64) -> f64 {\n  %r = func.call @f40(%x) : (f64) -> f64\n  return %r : f64\n}")
    assert run("\n".join(parts), 1.0) == 2.0**41


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "func.func @main(%x: f64) -> f64 {\n  %r = func.call @main(%x) : (f64) -> f64\n  return %r : f64\n}",
            "@main",
        ),
        (
            """
            func.func private @even(%x: f64) -> f64 {
              %r = func.call @odd(%x) : (f64) -> f64
              return %r : f64
            }
            func.func private @odd(%x: f64) -> f64 {
              %r = func.call @even(%x) : (f64) -> f64
              return %r : f64
            }
            func.func @main(%x: f64) -> f64 {
              %r = func.call @even(%x) : (f64) -> f64
              return %r : f64
            }
            """,
            "@even",
        ),
    ],
)
def test_recursion_is_refused_by_name(text: str, name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"'func.call' .*'{name}'.* recursive"):
        run(text, 1.0)


def test_a_declared_function_is_refused_by_name() -> None:
    text = """
    func.func private @outside(f64) -> f64
    func.func @main(%x: f64) -> f64 {
      %r = func.call @outside(%x) : (f64) -> f64
      return %r : f64
    }
    """
    with pytest.raises(UnsupportedError, match="'@outside', which is no function with a body"):
        run(text, 1.0)


def test_deep_calls_are_refused_by_name() -> None:
    parts = ["func.func private @f0(%v: f64) -> f64 {\n  return %v : f64\n}"]
    parts += [
        f"func.func private @f{k + 1}(%v: f64) -> f64 {{\n"
        f"  %a = func.call @f{k}(%v) : (f64) -> f64\n  return %a : f64\n}}"
        for k in range(300)
    ]
    parts.append("func.func @main(%x: f64) -> f64 {\n  %r = func.call @f300(%x) : (f64) -> f64\n  return %r : f64\n}")
    with pytest.raises(UnsupportedError, match="'@f236' at a depth"):
        run("\n".join(parts), 1.0)


# Identity


LOOP = """
func.func @main(%x: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %n step %c2 iter_args(%a = %x) -> (tensor<?xf64>) {
    %e = math.exp %a : tensor<?xf64>
    %s = arith.addf %e, %x : tensor<?xf64>
    scf.yield %s : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%i =", "%other ="),
        ("%c2", "%two"),
        ("%s", "%q"),
        ("arith.addf %e, %x", "arith.addf %x, %e"),
        ("  %c0 = arith.constant 0 : index\n  %c2 = arith.constant 2 : index\n", None),
        ("?xf64", "7xf64"),
    ],
)
def test_names_and_order_are_no_part_of_identity(old: str, new: str | None) -> None:
    if new is None:
        new = "  %c2 = arith.constant 2 : index\n  %dead = math.exp %x : tensor<?xf64>\n"
        new += "  %c0 = arith.constant 0 : index\n"
    assert old in LOOP
    assert identity(LOOP.replace(old, new)) == identity(LOOP)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("constant 2 : index", "constant 3 : index"),
        ("constant 0 : index", "constant 1 : index"),
        ("to %n", "to %c2"),
        ("iter_args(%a = %x)", "iter_args(%a = %y)"),
        ("math.exp %a", "math.exp %x"),
        ("arith.addf %e, %x", "arith.mulf %e, %x"),
        ("arith.addf %e, %x", "arith.addf %e, %a"),
    ],
)
def test_bounds_step_init_and_body_are_part_of_identity(old: str, new: str) -> None:
    changed = LOOP.replace(old, new)
    assert changed != LOOP
    if "%y" in new:
        changed = changed.replace("%c0 =", "%y = arith.negf %x : tensor<?xf64>\n  %c0 =", 1)
    assert identity(changed) != identity(LOOP)


def test_carried_values_without_influence_are_no_part_of_identity() -> None:
    """Neither values that the result does not need, nor the place of a value, nor one that never changes."""
    more = """
    func.func @main(%x: tensor<?xf64>, %n: index) -> tensor<?xf64> {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %one = arith.constant 1.0 : f64
      %r:3 = scf.for %i = %c0 to %n step %c2 iter_args(%k = %one, %b = %x, %a = %x)
          -> (f64, tensor<?xf64>, tensor<?xf64>) {
        %e = math.exp %a : tensor<?xf64>
        %s = arith.addf %e, %b : tensor<?xf64>
        %m = arith.addf %k, %k : f64
        scf.yield %m, %b, %s : f64, tensor<?xf64>, tensor<?xf64>
      }
      return %r#2 : tensor<?xf64>
    }
    """
    assert identity(more) == identity(LOOP)
    x = np.linspace(-2, -1, 4)
    np.testing.assert_array_equal(run(more, x, 3), run(LOOP, x, 3))


def test_the_place_of_a_loop_is_no_part_of_identity() -> None:
    """A loop inside another one that it does not read is the same loop outside."""
    template = """
    func.func @main(%x: f64, %n: index) -> f64 {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {outside}
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {{
        {inside}
        %b = arith.mulf %a, %p : f64
        scf.yield %b : f64
      }}
      return %r : f64
    }}
    """
    loop = """
      %p = scf.for %j = %c0 to %n step %c1 iter_args(%c = %x) -> (f64) {
        %d = arith.addf %c, %c : f64
        scf.yield %d : f64
      }
    """
    texts = [template.format(outside=loop, inside=""), template.format(outside="", inside=loop)]
    assert identity(texts[0]) == identity(texts[1])
    assert [run(text, 1.5, 3) for text in texts] == [1.5 * 12**3] * 2


def test_branches_keep_loop_axes() -> None:
    """A branch is point-wise: the form does not depend on the rank; its sides are not interchangeable."""
    text = """
    func.func @main(%c: i1, %x: T, %y: T) -> T {
      %r = scf.if %c -> (T) {
        %e = math.exp %x : T
        scf.yield %e : T
      } else {
        scf.yield %y : T
      }
      return %r : T
    }
    """
    forms = {identity(text.replace("T", type_)) for type_ in ("f64", "tensor<?xf64>", "tensor<3x4xf64>")}
    assert len(forms) == 1
    swapped = text.replace("yield %e", "yield %t").replace("yield %y", "yield %e").replace("yield %t", "yield %y")
    moved = swapped.replace("        %e = math.exp %x : T\n", "").replace("%r =", "%e = math.exp %x : T\n %r =")
    assert identity(moved.replace("T", "f64")) not in forms


def test_while_identity() -> None:
    renamed = COLLATZ.replace("%v", "%first").replace("%s ", "%count ").replace("%s)", "%count)")
    renamed = renamed.replace("%s:", "%count:").replace("%s,", "%count,")
    assert "%count" in renamed
    assert identity(renamed) == identity(COLLATZ)
    assert identity(COLLATZ.replace("cmpi ne", "cmpi sgt")) != identity(COLLATZ)


@pytest.mark.parametrize("spelling", ["linalg", "fused", "named", "tensor"])
def test_newton_loop_of_the_corpus(spelling: str) -> None:
    """Four spellings of one program are one form, and give the stored outputs."""
    folder = CORPUS / "dev" / "newton_fori_loop"
    module = load_module(folder / f"newton_fori_loop.{spelling}.mlir")
    assert identity(module) == identity(load_module(folder / "newton_fori_loop.linalg.mlir"))
    inputs, outputs = (np.load(folder / f"newton_fori_loop.{name}.npz") for name in ("inputs", "outputs"))
    found = run(module, *(inputs[key] for key in inputs.files))
    (key,) = outputs.files
    np.testing.assert_allclose(found, outputs[key], rtol=1e-6)


def test_branch_of_unit_axes() -> None:
    """A branch between tensors of extent one drops the axes that its node does not have."""
    import xfuse

    program = xfuse.compile(
        """func.func @main(%x: tensor<1xi8>, %p: i1) -> tensor<1xi8> {
          %y = arith.addi %x, %x : tensor<1xi8>
          %r = scf.if %p -> (tensor<1xi8>) { scf.yield %x : tensor<1xi8> } else { scf.yield %y : tensor<1xi8> }
          return %r : tensor<1xi8>
        }"""
    )
    assert program(np.full(1, 3, np.int8), True).tolist() == [3]
    assert program(np.full(1, 3, np.int8), False).tolist() == [6]


@pytest.mark.parametrize("given", ["%outer", "%y"])
def test_what_gives_a_loop_only_a_shape_is_no_dependence(given: str) -> None:
    """Law L5: an unread ``outs``, a dead op: neither makes an inner loop depend on the outer one."""

    def text(unread: str, dead: str) -> str:
        return f"""
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %two = arith.constant 2 : index
          %end = scf.for %i = %zero to %two step %one iter_args(%outer = %y) -> (tensor<4xf32>) {{
            %r = scf.for %j = %zero to %two step %one iter_args(%inner = %x) -> (tensor<4xf32>) {{
              %s = linalg.add ins(%inner, %y : tensor<4xf32>, tensor<4xf32>) outs({unread} : tensor<4xf32>)
                -> tensor<4xf32>
              %d = arith.addf %inner, {dead} : tensor<4xf32>
              scf.yield %s : tensor<4xf32>
            }}
            scf.yield %r : tensor<4xf32>
          }}
          func.return %end : tensor<4xf32>
        }}"""

    assert identity(text(given, "%outer")) == identity(text("%x", "%x"))
