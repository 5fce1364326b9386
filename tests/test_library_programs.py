"""Every recipe of the library with core dimensions: well-formed, right in its numbers, found, run, and put back."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import backward_references
import loss_references
import numpy as np
import pytest
import row_references
from reference_programs import emitted, exactly, fused, fused_ops, held, run, tensor
from reference_programs import session as numpy_session
from row_references import Reference, several
from support import generic, mlir_opt
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

import xfuse
from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.emission import type_named
from xfuse.library import library_files
from xfuse.primitives.element_types import FLOATS, numpy_dtype
from xfuse.recipes import Recipe
from xfuse.shipped import shipped_recipes
from xfuse.signature import signature_of
from xfuse.validation import validate

REFERENCES: dict[str, Reference] = {
    **row_references.REFERENCES,
    **backward_references.REFERENCES,
    **loss_references.REFERENCES,
}
RECIPES = {recipe.name: recipe for recipe in shipped_recipes()}
FAMILIES = {RECIPES[name].family for name in REFERENCES}
EXTENTS = (1, 2, 5, 64, 257)
LOOPS = ((), (3,), (2, 3), (2, 1, 3))


# Form


@pytest.mark.parametrize("path", [p for p in library_files() if p.stem in FAMILIES], ids=lambda path: path.stem)
def test_a_file_opens_with_formula_signature_and_bodies(path: Path) -> None:
    """One library a file; its first recipe bears the file's name, and the comment explains every body."""
    text = path.read_text()
    comment = text.partition("#")[0]
    members = [recipe for recipe in RECIPES.values() if recipe.family == path.stem]
    assert text.startswith(f"// {path.stem}(")
    assert max(map(len, text.splitlines())) <= 120
    assert members[0].name == path.stem
    assert f"// {signature_of(members[0]).text}" in comment
    for recipe in members:
        assert recipe.name == path.stem or recipe.name.startswith(f"{path.stem}_")
        assert f"@{recipe.name} " in comment


def test_every_recipe_with_core_dimensions_has_a_reference() -> None:
    assert {name for name, recipe in RECIPES.items() if recipe.family in FAMILIES} == REFERENCES.keys()
    assert {name for name, recipe in RECIPES.items() if not recipe.is_scalar} == REFERENCES.keys()


@pytest.mark.parametrize("name", REFERENCES)
def test_recipes_are_valid_and_written_at_the_widest_type(name: str) -> None:
    recipe = RECIPES[name]
    validate(recipe)
    assert not recipe.is_scalar
    expected = ("f16", "bf16", "f32") if name == "smooth_l1_loss_torch" else FLOATS
    assert recipe.element_types == (("f16", "bf16") if name.endswith("_mixed") else expected)
    assert (recipe.accumulator == "f32") == name.endswith("_accumulating")
    assert signature_of(recipe).fits_gufunc or name not in row_references.REFERENCES
    assert all(node.kind != "opaque" for node in recipe.form().graph.nodes)


def test_identities_are_distinct() -> None:
    """No two recipes of the whole library are one."""
    seen: dict[str, str] = {}
    for name, recipe in RECIPES.items():
        assert seen.setdefault(recipe.identity, name) == name


def as_function(recipe: Recipe) -> func.FuncOp:
    body = recipe.op.body.clone()
    last = body.block.last_op
    assert last is not None
    Rewriter.replace_op(last, func.ReturnOp(*last.operands))
    return func.FuncOp(recipe.name, (body.block.arg_types, recipe.result_types), body)


def test_real_mlir_takes_every_body() -> None:
    module = ModuleOp([as_function(RECIPES[name]) for name in REFERENCES])
    command = [mlir_opt(), "--canonicalize", "-o", "/dev/null"]
    done = subprocess.run(command, input=generic(module), text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


# Numbers


@pytest.mark.parametrize(("name", "use"), [(name, use) for name in REFERENCES for use in RECIPES[name].uses])
def test_numbers(name: str, use: str) -> None:
    """NumPy's evaluation is within the declared bound of float64, at every extent and over any leading dimensions."""
    recipe, reference = RECIPES[name], REFERENCES[name]
    kernel = NumPyBackend().compile(recipe, use)
    for n in EXTENTS:
        for loops in LOOPS:
            arrays = held(recipe, use, reference.arguments(np.random.default_rng(n), loops, n))
            got = kernel(*arrays)
            errors = reference.errors(got, exactly(arrays), use)
            assert max(errors) <= 1, f"{name} at {use}, n = {n}, loops {loops}: {errors} of the bound"
            assert [np.asarray(value).dtype for value in several(got)] == list(map(numpy_dtype, kernel.results))


# Round trips


def as_program(recipe: Recipe) -> ModuleOp:
    """A function of the recipe's ops at its written types; each scalar slot is the literal 0.5, or 2."""
    function = as_function(recipe)
    block = function.body.block
    for number in reversed(recipe.scalar_slots):
        argument = block.args[number]
        whole = isinstance(argument.type, IntegerType)
        literal = arith.ConstantOp(IntegerAttr(2, argument.type) if whole else FloatAttr(0.5, argument.type))
        assert block.first_op is not None
        block.insert_op_before(literal, block.first_op)
        argument.replace_all_uses_with(literal.result)
        block.erase_arg(argument)
    function.update_function_type()
    function.sym_name = StringAttr("main")
    return ModuleOp([function])


@pytest.mark.parametrize("name", REFERENCES)
def test_a_recipe_is_found_in_its_own_body(name: str) -> None:
    """The whole body is one match; decomposed it is the same program again (law L2), and it runs alike (law L3)."""
    recipe = RECIPES[name]
    plain = as_program(recipe)
    own = numpy_session(recipe)
    copy = fused(plain, own)
    (op,) = fused_ops(copy)
    assert op.label == name
    assert own.recipe_of(op) is recipe
    assert len(list(copy.walk())) - len(list(plain.walk())) == 2
    arrays = held(recipe, recipe.written_type, REFERENCES[name].arguments(np.random.default_rng(0), (), 6))
    arrays = [array for number, array in enumerate(arrays) if number not in recipe.scalar_slots]
    results = [several(run(module, own, *arrays)) for module in (copy, plain)]
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


# Programs


@cache
def session(name: str) -> xfuse.Session:
    made = xfuse.Session(library=False)
    made.register(RECIPES[name])
    return made


def operands(
    recipe: Recipe, element_type: str, loops: tuple[int, ...], dynamic: bool
) -> tuple[list[Attribute], dict[int, float], list[Any]]:
    """Types of arguments, values of scalar slots, and arrays for all arguments that are no slots."""
    reference = REFERENCES[recipe.name]
    made = reference.arguments(np.random.default_rng(len(loops)), loops, max(6, reference.smallest))
    types: list[Attribute] = []
    slots: dict[int, float] = {}
    arrays: list[Any] = []
    signature = recipe.signature(element_type)[0]
    for number, (array, type_) in enumerate(zip(held(recipe, element_type, made), signature, strict=True)):
        written = recipe.argument_types[number]
        fixed = written.get_shape() if isinstance(written, TensorType) else ()
        if number in recipe.scalar_slots:
            slots[number] = float(array)
            types.append(type_named(type_))
            continue
        first = array.ndim - len(fixed)
        shape = [
            None if dynamic and (axis < first or fixed[axis - first] < 0) else extent
            for axis, extent in enumerate(array.shape)
        ]
        types.append(tensor(type_, *shape) if shape or isinstance(written, TensorType) else type_named(type_))
        arrays.append(array)
    return types, slots, arrays


def check(recipe: Recipe, element_type: str, loops: tuple[int, ...], dynamic: bool) -> None:
    """Laws L1, L2, L3, L4, L7 and L8, and the declared error, for one program that is one instance of a recipe."""
    current = session(recipe.name)
    types, slots, arrays = operands(recipe, element_type, loops, dynamic)
    module = emitted(recipe, types, slots)
    copy = fused(module, current)
    (op,) = fused_ops(copy)
    instance = current.instance_of(op)
    assert instance is not None
    assert instance.recipe.identity == recipe.identity
    assert instance.element_type == element_type
    program = xfuse.compile(copy, session=current)
    (row,) = program.rows
    assert (row.identity, row.dtypes) == (recipe.identity, sum(recipe.signature(element_type), ()))
    with_llvm = LLVMBackend().refusal(recipe, element_type) is None and not recipe.family.startswith("fused_linear")
    assert row.backend == ("llvm" if with_llvm else "numpy")
    rest = iter(exactly(arrays))
    exact = [np.asarray(slots[n]) if n in slots else next(rest) for n in range(len(recipe.argument_types))]
    errors = REFERENCES[recipe.name].errors(program(*arrays), exact, element_type)
    assert max(errors) <= 1, errors


@pytest.mark.parametrize("name", REFERENCES)
def test_at_every_rank_dynamic_and_static(name: str) -> None:
    """DESIGN 3: a recipe at core rank applies over any loops, and a fused op resolves to the recipe's row."""
    recipe = RECIPES[name]
    element_type = "f32" if "f32" in recipe.uses else recipe.uses[0]
    for loops in LOOPS:
        for dynamic in (False, True):
            check(recipe, element_type, loops, dynamic)


@pytest.mark.parametrize("name", REFERENCES)
def test_at_every_element_type(name: str) -> None:
    """DESIGN 3: literals are rounded once to the type in use, and kernels are within the declared error."""
    recipe = RECIPES[name]
    for element_type in recipe.uses:
        check(recipe, element_type, (3,), dynamic=False)
