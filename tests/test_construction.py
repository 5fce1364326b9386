"""What is made in the quick way is what xDSL's own constructors and setters make, field by field."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, TensorType, UnitAttr, f32, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xfuse.construction import copy_name, make_block, make_op, redirect, replace_operands, replace_uses
from xfuse.match.region import _properties as fused_properties
from xfuse_dialects.xfuse import FusedOp, YieldOp

ROW = TensorType(f32, [8])


def values(*types: Attribute) -> tuple[SSAValue, ...]:
    return Block(arg_types=types or (ROW, ROW)).args


def assert_same(made: Operation, created: Operation) -> None:
    """Every field of two ops says the same, what refers to the ops themselves aside."""
    assert type(made) is type(created)
    for field in fields(Operation):
        one, other = getattr(made, field.name), getattr(created, field.name)
        if field.name == "results":
            assert type(one) is type(other)
            assert [(r.type, r.index, r.name_hint, r.first_use) for r in one] == [
                (r.type, r.index, r.name_hint, r.first_use) for r in other
            ]
            assert all(result.op is made for result in one)
        elif field.name == "_operand_uses":
            assert type(one) is type(other)
            assert [use.index for use in one] == [use.index for use in other]
            assert all(use.operation is made for use in one)
        else:
            assert type(one) is type(other), field.name
            assert one == other, field.name


def uses(value: SSAValue) -> list[tuple[Operation, int]]:
    """The uses of a value, whose list is sound in both directions."""
    found: list[tuple[Operation, int]] = []
    use: Any = value.first_use
    before = None
    while use is not None:
        assert use._prev_use is before
        assert use.operation.operands[use.index] is value
        found.append((use.operation, use.index))
        before, use = use, use._next_use
    return found


def test_a_fused_op() -> None:
    x, y = values()
    properties = fused_properties("add", 2, 0, (), ())
    made = make_op(FusedOp, (x, y), [ROW, f32], properties)
    assert_same(made, FusedOp.create(operands=(x, y), result_types=[ROW, f32], properties=properties))
    made.properties["recipe"] = StringAttr("other")
    assert properties["recipe"] != StringAttr("other")


def test_one_value_read_twice() -> None:
    (x,) = values(ROW)
    made = make_op(YieldOp, [x, x], (), {})
    assert sorted(index for _, index in uses(x)) == [0, 1]
    assert_same(made, YieldOp.create(operands=[x, x]))


def test_attributes_and_location_are_those_of_another_op() -> None:
    old = arith.ConstantOp.from_int_and_width(3, 32)
    old.attributes["tag"] = UnitAttr()
    old.location = FileLineColLoc(StringAttr("a.mlir"), IntAttr(3), IntAttr(7))
    made = make_op(arith.ConstantOp, (), (i32,), old.properties, old)
    created = arith.ConstantOp.create(
        result_types=(i32,), properties=old.properties, attributes=old.attributes, location=old.location
    )
    assert_same(made, created)
    made.attributes.clear()
    assert "tag" in old.attributes


def test_kinds_that_are_made_so_have_no_property_with_a_default() -> None:
    for kind in (FusedOp, YieldOp, arith.ConstantOp):
        definition = kind.get_irdl_definition()
        given = [*definition.properties.values(), *definition.attributes.values()]
        assert not any(getattr(each, "default_value", None) for each in given)


def test_no_op_that_is_emitted_has_an_attribute_with_a_default() -> None:
    """Of properties the defaults are given (see `scalar_op`); of attributes nobody would."""
    kinds = [op for dialect in (arith.Arith, math.Math) for op in dialect.operations]
    assert len(kinds) > 60
    for kind in kinds:
        assert not any(getattr(each, "default_value", None) for each in kind.get_irdl_definition().attributes.values())


def test_a_block() -> None:
    x, y = values(ROW, i32)
    x.name_hint = "x"
    made, created = make_block((x, y)), Block(arg_types=(ROW, i32))
    assert type(made.args) is type(created.args)
    assert [(a.type, a.index, a.location, a.first_use) for a in made.args] == [
        (a.type, a.index, a.location, a.first_use) for a in created.args
    ]
    assert [argument.name_hint for argument in made.args] == ["x", None]
    assert all(argument.block is made for argument in made.args)
    assert made.first_op is None


def test_a_name_is_copied_if_there_is_one() -> None:
    x, y = values()
    x.name_hint = "x"
    copy_name(x, y)
    assert y.name_hint == "x"
    x.name_hint = None
    copy_name(x, y)
    assert y.name_hint == "x"


def test_operands_are_replaced() -> None:
    x, y, z = values(ROW, ROW, ROW)
    first, second = arith.AddfOp(x, y), arith.MulfOp(x, x)
    replace_operands(second, {x: z, y: x})
    assert list(second.operands) == [z, z]
    assert uses(x) == [(first, 0)]
    assert sorted(index for _, index in uses(z)) == [0, 1]
    replace_operands(first, {x: y, y: x})
    assert list(first.operands) == [y, x]
    assert (uses(x), uses(y)) == ([(first, 1)], [(first, 0)])
    assert type(first._operands) is type(arith.AddfOp(x, y)._operands)


def test_one_use_is_redirected() -> None:
    x, y = values()
    op = arith.AddfOp(x, x)
    (use,) = [each for each in x.uses if each.index == 1]
    redirect(use, y)
    assert list(op.operands) == [x, y]
    assert (uses(x), uses(y)) == ([(op, 0)], [(op, 1)])


@pytest.mark.parametrize("readers", [0, 1, 3])
def test_all_uses_are_replaced_and_names_are_not(readers: int) -> None:
    x, y = values()
    x.name_hint = "x"
    ops = [arith.AddfOp(x, y) for _ in range(readers)]
    replace_uses(x, y)
    assert uses(x) == []
    assert sorted(index for _, index in uses(y)) == [0] * readers + [1] * readers
    assert all(list(op.operands) == [y, y] for op in ops)
    assert y.name_hint is None


def test_a_value_is_replaced_by_itself() -> None:
    x, y = values()
    op = arith.AddfOp(x, y)
    replace_uses(x, x)
    assert uses(x) == [(op, 0)]
