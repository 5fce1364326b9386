"""The NumPy source of straight-line tensor programs: buffers, views and extents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects import func

from xfuse.backends.numpy.source import Writer
from xfuse.canonical.build import GraphBuilder
from xfuse.canonical.form import canonical_form
from xfuse.parser import parse_module


def build(text: str) -> tuple[GraphBuilder, Any]:
    (function,) = (op for op in parse_module(text).walk() if isinstance(op, func.FuncOp))
    builder = GraphBuilder()
    for argument in function.body.block.args:
        builder.argument(argument)
    return builder, builder.block(function.body.block)


def run(text: str, *arguments: Any) -> tuple[Any, ...]:
    builder, results = build(text)
    return Writer(builder.graph, builder.argument_values, results).write().compile()(*arguments)


def test_a_buffer_that_a_view_shares_is_not_reused() -> None:
    text = """
    func.func @main(%x: tensor<6xf64>) -> (tensor<2xf64>, tensor<6xf64>) {
      %a = arith.addf %x, %x : tensor<6xf64>
      %s = tensor.extract_slice %a[1] [2] [1] : tensor<6xf64> to tensor<2xf64>
      %b = arith.mulf %a, %a : tensor<6xf64>
      %t = arith.negf %s : tensor<2xf64>
      return %t, %b : tensor<2xf64>, tensor<6xf64>
    }
    """
    x = np.arange(6.0)
    part, whole = run(text, x)
    np.testing.assert_array_equal(part, [-2, -4])
    np.testing.assert_array_equal(whole, 4 * x * x)


def test_a_result_whose_extent_is_computed() -> None:
    text = """
    func.func @main(%x: f64, %n: index) -> tensor<?xf64> {
      %m = arith.addi %n, %n : index
      %r = tensor.splat %x[%m] : tensor<?xf64>
      return %r : tensor<?xf64>
    }
    """
    (found,) = run(text, np.float64(2), np.int64(3))
    np.testing.assert_array_equal(found, np.full(6, 2.0))


@pytest.mark.parametrize("target", ["tensor.splat %v : tensor<4xf64>", "tensor.empty() : tensor<4xf64>"])
def test_insert_into_a_tensor_without_elements_of_its_own(target: str) -> None:
    text = f"""
    func.func @main(%v: f64, %w: f64, %i: index) -> f64 {{
      %t = {target}
      %r = tensor.insert %w into %t[%i] : tensor<4xf64>
      %e = tensor.extract %r[%i] : tensor<4xf64>
      return %e : f64
    }}
    """
    assert run(text, np.float64(1), np.float64(2), np.int64(3)) == (2,)
    larger = text.replace("4xf64", "5xf64")
    identities = {
        canonical_form(builder.graph, builder.argument_values, results).identity
        for builder, results in map(build, (text, larger))
    }
    assert len(identities) == 2
