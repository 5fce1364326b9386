"""Emitting recipes as plain ops: every recipe of the library, against its own match, its numbers and mlir-opt."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_programs import emitted_function
from support import generic, mlir_opt
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    MemRefType,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
    VectorType,
    f32,
    i64,
)
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, Region, SSAValue

import xfuse
from xfuse.canonical.build import scalar_type
from xfuse.emission import type_named
from xfuse.errors import DecomposeError, RecipeError
from xfuse.fusion import fuse
from xfuse.kernels import as_tuple
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe, parse_recipes
from xfuse.testing import program_difference
from xfuse.verification import mismatch, probes
from xfuse_dialects.xfuse import FusedOp

SESSION = xfuse.Session()
RECIPES = {recipe.name: recipe for recipe in SESSION.registry if recipe.is_scalar}
USES = [(name, use) for name, recipe in RECIPES.items() for use in recipe.uses]
AXPY = """xfuse.recipe @axpy(%a: f64, %x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
  %m = arith.mulf %a, %x : f64 %r = arith.addf %m, %y : f64 xfuse.yield %r : f64 }"""


def slot_value(number: int) -> float:
    return 0.375 + number / 8


def program(
    recipe: Recipe, types: Sequence[Attribute], name: str = "main", *, slots: Sequence[int] = ()
) -> func.FuncOp:
    """A function that is what `emit` makes of a recipe on arguments of some types, and on constants for some slots."""
    values = {n: slot_value(n) if isinstance(scalar_type(types[n]), AnyFloat) else n for n in slots}
    return emitted_function(recipe, types, name, values)


def module_of(*functions: func.FuncOp) -> ModuleOp:
    module = ModuleOp(list(functions))
    module.verify()
    return module


def types_of(recipe: Recipe, use: str | None, shape: Sequence[int] | None) -> list[Attribute]:
    names = recipe.signature(use)[0]
    return [type_named(name) if shape is None else TensorType(type_named(name), shape) for name in names]


SHAPES = {"scalars": None, "tensors": (4, 5), "dynamic": (4, DYNAMIC_INDEX)}


@pytest.fixture(scope="module")
def everything() -> dict[str, ModuleOp]:
    """Every recipe at every element type, on scalars, on tensors, and on tensors of unknown extents."""
    return {
        kind: module_of(
            *(program(RECIPES[name], types_of(RECIPES[name], use, shape), f"{name}_{use}") for name, use in USES)
        )
        for kind, shape in SHAPES.items()
    }


@pytest.mark.parametrize("kind", ["scalars", "tensors", "dynamic"])
def test_real_mlir_accepts_everything(everything: dict[str, ModuleOp], kind: str) -> None:
    """Law L8: verified by xDSL, and by real mlir-opt, which checks dominance and types."""
    done = subprocess.run([mlir_opt()], input=generic(everything[kind]), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("kind", ["scalars", "tensors", "dynamic"])
def test_what_is_emitted_is_read_back(everything: dict[str, ModuleOp], kind: str) -> None:
    """Law L5: the printed text parses and has the form of the recipe at its element type."""
    again = xfuse.parse_module(str(everything[kind]))
    found = {each.name: each.text for each in xfuse.identities(again)}
    for name, use in USES:
        assert found[f"{name}_{use}"] == RECIPES[name].form(use).text, (name, use)


@pytest.mark.parametrize("kind", ["scalars", "tensors", "dynamic"])
def test_laws_l1_l2_what_is_emitted_matches_and_decomposes(kind: str) -> None:
    """Every recipe is found in what it emits, and decomposing gives the same program back (laws L1, L2, L7)."""
    for name, use in USES:
        recipe = RECIPES[name]
        function = program(recipe, types_of(recipe, use, SHAPES[kind]), slots=recipe.scalar_slots)
        module_of(function)
        original = function.clone()
        rounds = fuse(function, [recipe], lambda recipe, dtypes: "any", explain=True)
        fused = [op for op in function.walk() if isinstance(op, FusedOp)]
        reasons = [str(refusal) for refusal in rounds[-1].refusals]
        assert [op.label for op in fused] == [name], (name, use, reasons, str(original))
        function.verify()
        once = str(function)
        fuse(function, [recipe], lambda recipe, dtypes: "any")
        assert str(function) == once
        assert SESSION.recipe_of(fused[0]) is recipe, (name, use)
        xfuse.decompose_all(function)
        assert program_difference(original, function) is None, (name, use)


def test_law_l3_what_is_emitted_runs_to_the_same_numbers() -> None:
    """Plain, and fused at the NumPy backend, against the primitives table."""
    for name, recipe in RECIPES.items():
        use = "f32" if "f32" in recipe.uses else recipe.uses[-1]
        shape = len(probes(recipe.signature(use)[0])[0])
        types, slots = types_of(recipe, use, (shape,)), recipe.scalar_slots
        module = module_of(program(recipe, types, slots=slots))
        arrays = probes(recipe.signature(use)[0])
        for slot in slots:
            is_float = arrays[slot].dtype.kind not in "iu"
            arrays[slot] = np.full_like(arrays[slot], slot_value(slot) if is_float else slot)
        given = [array for number, array in enumerate(arrays) if number not in slots]
        plain = xfuse.compile(module, "main", "numpy", SESSION)
        fuse(module, [recipe], SESSION.gate("numpy"))
        fused = xfuse.compile(module, "main", "numpy", SESSION)
        assert [row.kernel.name for row in fused.rows if row.kernel] == [name]
        assert not fused.inlined
        for compiled in (plain, fused):
            found = as_tuple(compiled(*given))
            assert mismatch(recipe.form(use), arrays, found) is None, (name, use)


# Shapes


def emitted(recipe: Recipe, *shapes: tuple[int, ...] | None) -> tuple[Any, ModuleOp]:
    """The results' shape of a recipe on tensors (or scalars, None) of f32, and the program."""
    types = [f32 if shape is None else TensorType(f32, shape) for shape in shapes]
    module = module_of(program(recipe, types))
    (function,) = module.body.block.ops
    assert isinstance(function, func.FuncOp)
    (result,) = function.function_type.outputs.data
    return (result.get_shape() if isinstance(result, TensorType) else None), module


D = DYNAMIC_INDEX


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ((None, None, None), None),
        (((), (), ()), ()),
        ((None, (3,), (3,)), (3,)),
        (((), (2, 3), (3,)), (2, 3)),
        (((2, 1), (1, 3), (1, 1)), (2, 3)),
        (((1,), (1,), (1,)), (1,)),
        (((4, 1, 3), (5, 1), (3,)), (4, 5, 3)),
        (((0, 3), (1, 3), (3,)), (0, 3)),
        (((1, 3), (0, 3), None), (0, 3)),
        (((D, 3), (D, 3), (3,)), (D, 3)),
        (((D,), (4,), None), (4,)),
        (((D, D), (1, D), (D, 1)), (D, D)),
        (((1, D), (D, 1), (1, 1)), (D, D)),
    ],
)
def test_shapes_broadcast_as_numpys_do(shapes: Sequence[tuple[int, ...] | None], expected: Any) -> None:
    """Operands of lower rank, extents of one, scalars, empty and dynamic ones; mlir-opt takes it all (law L8)."""
    (recipe,) = parse_recipes(AXPY)
    found, module = emitted(recipe, *shapes)
    assert found == expected
    done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    rng = np.random.default_rng(0)
    arrays = [
        rng.standard_normal(() if shape is None else tuple(7 if extent == D else extent for extent in shape)).astype(
            np.float32
        )
        for shape in shapes
    ]
    if (expected is not None and D in expected) or any(shape is not None and D in shape for shape in shapes):
        arrays = [array[..., :4] if expected == (4,) and array.ndim else array for array in arrays]
    result = xfuse.compile(module)(*arrays)
    np.testing.assert_array_equal(result, arrays[0] * arrays[1] + arrays[2], strict=expected is not None)


@pytest.mark.parametrize(
    "shapes", [((2,), (3,), (1,)), ((2, 3), (2,), (1,)), ((0,), (2,), (2,)), ((D, 2), (D, 3), ()), ((4, 2), (2, 4), ())]
)
def test_shapes_that_do_not_broadcast_are_a_typed_refusal(shapes: Sequence[tuple[int, ...]]) -> None:
    """Seeds: a failure to emit is a typed error, never a partial shape; nothing is inserted."""
    (recipe,) = parse_recipes(AXPY)
    block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
    with pytest.raises(DecomposeError, match="do not broadcast"):
        xfuse.emit(recipe, block.args)
    error = xfuse.try_emit(recipe, block.args)
    assert isinstance(error, DecomposeError)
    assert "@axpy" in str(error)
    assert block.is_empty
    assert not any(argument.uses for argument in block.args)


def test_wrong_counts_and_types_are_a_typed_refusal() -> None:
    (recipe,) = parse_recipes(AXPY)
    block = Block(arg_types=[f32, f32, f32, f32, i64, type_named("f64")])
    a, b, c, d, integer, double = block.args
    for inputs, words in (
        ([], "takes 3 inputs, got 0"),
        ([a, b], "takes 3 inputs, got 2"),
        ([a, b, c, d], "takes 3 inputs, got 4"),
        ([a, b, integer], "cannot take (f32, f32, i64); it has (f16, f16, f16) -> f16; "),
        ([a, b, double], "cannot take (f32, f32, f64)"),
    ):
        error = xfuse.try_emit(recipe, inputs)
        assert isinstance(error, DecomposeError)
        assert words in str(error)


@pytest.mark.parametrize(
    "type_",
    [VectorType(f32, [4]), MemRefType(f32, [4]), UnrankedTensorType(f32)],
    ids=["vector", "memref", "unranked"],
)
def test_only_scalars_and_ranked_tensors(type_: Attribute) -> None:
    (recipe,) = parse_recipes(AXPY)
    block = Block(arg_types=[type_] * 3)
    error = xfuse.try_emit(recipe, block.args)
    assert isinstance(error, DecomposeError)
    assert str(type_) in str(error)


def test_several_results_are_one_generic_each_with_their_own_ops() -> None:
    """Section 4: one generic per result, as a multi-result one does not re-parse; each holds only what it needs."""
    (recipe,) = parse_recipes(
        """xfuse.recipe @both(%x: f32, %y: f32) -> (f32, i1) {
          %s = arith.addf %x, %y : f32 %c = arith.cmpf olt, %x, %y : f32 xfuse.yield %s, %c : f32, i1 }"""
    )
    function = program(recipe, [TensorType(f32, [4]), TensorType(f32, [4])])
    module_of(function)
    bodies = [[op.name for op in op.body.block.ops] for op in function.walk() if isinstance(op, GenericOp)]
    assert bodies == [["arith.addf", "linalg.yield"], ["arith.cmpf", "linalg.yield"]]
    assert [str(each) for each in function.function_type.outputs.data] == ["tensor<4xf32>", "tensor<4xi1>"]


def test_a_literal_beyond_the_range_of_an_element_type_becomes_infinite() -> None:
    """Section 3: a literal is its value at the written type, rounded once to the type in use."""
    (recipe,) = parse_recipes(
        """xfuse.recipe @big(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
          %c = arith.constant 1.0e300 : f64 %d = arith.constant 0.1 : f64
          %m = arith.minimumf %x, %c : f64 %r = arith.mulf %m, %d : f64 xfuse.yield %r : f64 }"""
    )
    for use in recipe.uses:
        module = module_of(program(recipe, types_of(recipe, use, (3,))))
        assert xfuse.identity(xfuse.parse_module(str(module))).text == recipe.form(use).text
        done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        assert use is not None
        array = np.array([-2.0, 1.0, 5.0]).astype(numpy_dtype(use))
        np.testing.assert_array_equal(xfuse.compile(module)(array), array * np.array(0.1).astype(array.dtype))


def test_integer_recipes_follow_their_element_type() -> None:
    """Literals keep their low bits."""
    (recipe,) = parse_recipes(
        """xfuse.recipe @mix(%x: i64) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
          %c = arith.constant 81985529216486895 : i64 %r = arith.xori %x, %c : i64 xfuse.yield %r : i64 }"""
    )
    for use in recipe.uses:
        module = module_of(program(recipe, types_of(recipe, use, (3,))))
        assert xfuse.identity(module).text == recipe.form(use).text
        assert use is not None
        array = np.array([-1, 0, 5], numpy_dtype(use))
        mask = np.array([81985529216486895]).astype(array.dtype)
        np.testing.assert_array_equal(xfuse.compile(module)(array), array ^ mask)


def test_casts_turn_or_vanish_with_the_element_type() -> None:
    """Section 3: casts vanish where the types coincide; where a narrower type meets a fixed one, they turn."""
    (recipe,) = parse_recipes(
        """xfuse.recipe @accumulate(%x: f64, %y: f32) -> f64 attributes {element_types = [f16, f32, f64]} {
          %w = arith.truncf %x : f64 to f32 %s = arith.addf %w, %y : f32 %r = arith.extf %s : f32 to f64
          xfuse.yield %r : f64 }"""
    )
    casts = {"f64": ["arith.truncf", "arith.extf"], "f32": [], "f16": ["arith.extf", "arith.truncf"]}
    for use in recipe.uses:
        assert use is not None
        function = program(recipe, types_of(recipe, use, None))
        module_of(function)
        assert [op.name for op in function.walk() if op.name in ("arith.truncf", "arith.extf")] == casts[use]
        inside = set(function.walk())
        for value in (*function.body.block.args, *(result for op in inside for result in op.results)):
            assert all(each.operation in inside for each in value.uses), "no op outside the program reads its values"
        assert xfuse.identity(function).text == recipe.form(use).text


def test_recipes_by_name_and_unknown_ones() -> None:
    with xfuse.Session(library=False) as session:
        session.register(AXPY)
        block = Block(arg_types=[f32] * 3)
        assert [op.name for op in xfuse.emit("axpy", block.args).ops] == ["arith.mulf", "arith.addf"]
        with pytest.raises(RecipeError, match="no recipe nosuch is registered"):
            xfuse.emit("nosuch", block.args)


def test_a_value_may_stand_for_several_arguments() -> None:
    """Rule R3: a call with one value twice reads it twice."""
    (recipe,) = parse_recipes(AXPY)
    block = Block(arg_types=[TensorType(f32, [4])])
    (x,) = block.args
    result = xfuse.emit(recipe, [x, x, x])
    block.add_ops(result.ops)
    block.add_op(func.ReturnOp(*result.results))
    module = module_of(func.FuncOp("main", ([x.type], [x.type]), Region(block)))
    array = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(xfuse.compile(module)(array), array * array + array)


def test_emit_is_linear() -> None:
    """Law L9: a recipe of thousands of ops, on scalars and on tensors."""
    count = 4000
    lines = "\n".join(f"%v{n + 1} = arith.addf %v{n}, %x : f32" for n in range(count))
    (recipe,) = parse_recipes(
        f"xfuse.recipe @long(%x: f32) -> f32 {{ %v0 = arith.negf %x : f32\n{lines}\nxfuse.yield %v{count} : f32 }}"
    )
    for type_ in (f32, TensorType(f32, [2])):
        function = program(recipe, [type_])
        assert sum(op.name == "arith.addf" for op in function.walk()) == count


def test_nothing_of_the_recipe_is_shared_with_what_is_emitted() -> None:
    """A program may be changed freely: its attributes are its own."""
    (recipe,) = parse_recipes(AXPY)
    text = str(recipe.op)
    block = Block(arg_types=[f32] * 3)
    result = xfuse.emit(recipe, block.args)
    for op in result.ops:
        op.attributes["note"] = DenseArrayBase.from_list(i64, [1])
    values: list[SSAValue] = result.results
    assert values[0].type == f32
    assert str(recipe.op) == text


def test_an_element_wise_recipe_computes_at_the_type_it_says() -> None:
    """``xfuse.accumulator``: at narrower types arguments are widened and results rounded once; else nothing changes."""
    (recipe,) = parse_recipes(
        """xfuse.recipe @polynomial(%x: f64 {xfuse.accumulator = f32}, %y: f64 {xfuse.accumulator = f32}, %n: i32)
            -> (f64, i1) attributes {element_types = [f16, bf16, f32, f64]} {
          %c = arith.constant 0.1 : f64 %m = arith.mulf %x, %c : f64 %s = arith.addf %m, %y : f64
          %b = arith.cmpf olt, %s, %y : f64 %f = arith.sitofp %n : i32 to f64 %r = arith.addf %s, %f : f64
          xfuse.yield %r, %b : f64, i1 }"""
    )
    for use in recipe.uses:
        assert use is not None
        narrow = use in ("f16", "bf16")
        for shape in (None, (3,), (D,)):
            module = module_of(program(recipe, types_of(recipe, use, shape)))
            assert xfuse.identity(xfuse.parse_module(str(module))).text == recipe.form(use).text
            casts = [op.name for op in module.walk() if op.name in ("arith.extf", "arith.truncf")]
            whole = ["arith.extf", "arith.extf", "arith.truncf"]
            expected = whole if shape is None else [*whole, "arith.extf", "arith.extf"]  # one body per result
            assert casts == (expected if narrow else []), (use, shape)
            done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[:2000]
        arrays = [np.array([0.3, -2.0, 1e3]).astype(numpy_dtype(use)) for _ in range(2)]
        numbers = np.array([1, -2, 3], np.int32)
        computed = np.dtype(np.float32) if narrow else arrays[0].dtype
        x, y = (array.astype(computed) for array in arrays)
        found, _ = xfuse.compile(module_of(program(recipe, types_of(recipe, use, (3,)))))(*arrays, numbers)
        expected = (x * np.array(0.1).astype(computed) + y + numbers.astype(computed)).astype(arrays[0].dtype)
        np.testing.assert_array_equal(found, expected)


def test_a_refusal_leaves_nothing_behind() -> None:
    """Seeds: whatever goes wrong, the values that were given have the uses that they had."""
    (recipe,) = parse_recipes(
        """xfuse.recipe @table(%x: f64, %i: index) -> f64 attributes {element_types = [f32, f64]} {
          %n = arith.negf %x : f64
          %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf64>
          %v = tensor.extract %t[%i] : tensor<2xf64>
          %r = arith.addf %n, %v : f64 xfuse.yield %r : f64 }"""
    )
    block = Block(arg_types=[f32, type_named("index")])
    before = arith.NegfOp(block.args[0])
    block.add_op(before)
    error = xfuse.try_emit(recipe, block.args)
    assert isinstance(error, DecomposeError)
    assert "literal" in str(error)
    assert [use.operation for use in block.args[0].uses] == [before]


def test_one_place_makes_generics() -> None:
    """Section 4: instantiation and normalisation share the one emitter of ``linalg.generic``."""
    package = Path(xfuse.__file__).parent
    files = [package / "normalization.py", *sorted((package / "emission").glob("*.py"))]
    assert [path.name for path in files if "GenericOp(" in path.read_text()] == ["generics.py"]
    users = [path.name for path in files if "from xfuse.emission.generics import" in path.read_text()]
    assert {"normalization.py", "elementwise.py", "bodies.py"} <= set(users)
