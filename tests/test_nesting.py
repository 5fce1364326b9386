"""Fused ops within fused ops, recipes made of recipes, and how deep they may go (laws L1, L5 and L7)."""

from __future__ import annotations

import pytest
from random_programs import order_problem
from support import context
from xdsl.dialects.builtin import f32
from xdsl.dialects.math import ExpOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

import xfuse
from xfuse.errors import ParsingError
from xfuse.fusion import fuse
from xfuse.parser import parse_module
from xfuse.session import fresh_session
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import MOST_NESTED, FusedOp, YieldOp

SIGMOID = """xfuse.recipe @sigmoid(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
  %one = arith.constant 1.0 : f64 %n = arith.negf %x : f64 %e = math.exp %n : f64
  %d = arith.addf %e, %one : f64 %r = arith.divf %one, %d : f64 xfuse.yield %r : f64 }"""
GATE = """xfuse.recipe @gate(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
  %s = xfuse.fused @sigmoid (%a = %y : f64) -> f64 {
    %one = arith.constant 1.0 : f64 %n = arith.negf %a : f64 %e = math.exp %n : f64
    %d = arith.addf %e, %one : f64 %q = arith.divf %one, %d : f64 xfuse.yield %q : f64 }
  %r = arith.mulf %x, %s : f64 xfuse.yield %r : f64 }"""
PROGRAM = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %n = arith.negf %y : tensor<4xf32>
  %e = math.exp %n : tensor<4xf32>
  %d = arith.addf %one, %e : tensor<4xf32>
  %s = arith.divf %one, %d : tensor<4xf32>
  %r = arith.mulf %s, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}"""


def nested(depth: int) -> str:
    """A program of an exponential in so many fused ops within each other."""
    lines = ["func.func @main(%x: f32) -> f32 {"]
    for level in range(depth):
        outer = f"%x{level - 1}" if level else "%x"
        lines.append(f"%r{level} = xfuse.fused @n{level} (%x{level} = {outer} : f32) -> f32 {{")
    lines.append(f"%e = math.exp %x{depth - 1} : f32\nxfuse.yield %e : f32\n}}")
    lines.extend(f"xfuse.yield %r{level + 1} : f32\n}}" for level in reversed(range(depth - 1)))
    return "\n".join([*lines, "return %r0 : f32\n}"])


def test_l1_all_levels_decompose() -> None:
    """As deep as may be: parsed, printed, verified, identified and taken apart."""
    module = parse_module(nested(MOST_NESTED), context=context())
    plain = parse_module(
        "func.func @main(%x: f32) -> f32 { %e = math.exp %x : f32 return %e : f32 }", context=context()
    )
    assert program_difference(parse_module(str(module), context=context()), module) is None
    assert xfuse.identity(module).recipe == xfuse.identity(plain).recipe
    assert xfuse.decompose_all(module) == MOST_NESTED
    assert program_difference(plain, module) is None


@pytest.mark.parametrize("depth", [MOST_NESTED + 1, 200, 2000])
def test_deeper_is_a_diagnostic(depth: int) -> None:
    """No recursion error of Python: the place, the limit, and what to do."""
    with pytest.raises(ParsingError, match=f"expected at most {MOST_NESTED} fused ops within each other, got more; "):
        parse_module(nested(depth), "deep.mlir", context())


def test_deeper_does_not_verify() -> None:
    """The same for ops made in Python."""
    block = Block(arg_types=[f32])
    inner = ExpOp(block.args[0])
    block.add_ops([inner, YieldOp([inner.result])])
    made: list[FusedOp] = []
    for _ in range(MOST_NESTED + 1):
        outer = Block(arg_types=[f32])
        made.append(FusedOp("f", [outer.args[0]], [], [f32], Region(block)))
        outer.add_ops([made[-1], YieldOp([made[-1].outputs[0]])])
        block = outer
    made[1].verify(verify_nested_ops=False)
    with pytest.raises(VerifyException, match=f"expected at most {MOST_NESTED} fused ops within each other"):
        made[0].verify(verify_nested_ops=False)


def test_l5_a_recipe_made_of_recipes_is_what_they_stand_for() -> None:
    """It finds the plain spelling, ranks before the recipe that it is made of, and its program comes back (L2)."""
    module = parse_module(PROGRAM, context=context())
    original = module.clone()
    with fresh_session(library=False) as session:
        for recipe in (SIGMOID, GATE):
            session.register(recipe)
        fuse(module, session.registry.entries(), session.gate("numpy"))
        (op,) = (op for op in module.walk() if isinstance(op, FusedOp))
        assert op.label == "gate"
        found = session.recipe_of(op)
        assert found is not None
        assert found.name == "gate"
    assert order_problem(module) is None
    xfuse.decompose_all(module)
    assert program_difference(original, module) is None


def test_l7_a_fused_op_is_no_part_of_a_match() -> None:
    """What is inside stays inside: a program whose sigmoid is fused already is no instance of the gate to be found."""
    module = parse_module(PROGRAM, context=context())
    with fresh_session(library=False) as session:
        sigmoid = session.register(SIGMOID)
        fuse(module, [sigmoid], session.gate("numpy"))
        once = str(module)
        session.register(GATE)
        assert not fuse(module, session.registry.entries(), session.gate("numpy"))[0].chosen
    assert str(module) == once
