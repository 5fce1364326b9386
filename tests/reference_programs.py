"""What the tests of the reference modules' behaviours share: recipes at some shapes as programs, fused and put back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from random_programs import order_problem
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, FloatAttr, IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

import xfuse
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.canonical.build import scalar_type
from xfuse.emission import type_named
from xfuse.primitives.element_types import is_float, numpy_dtype
from xfuse.recipes import Recipe, parse_recipes
from xfuse.shipped import shipped_recipes
from xfuse.signature import core_signature
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp

Extents = Sequence[int | None]


@cache
def one(text: str) -> Recipe:
    """The recipe of a text."""
    (recipe,) = parse_recipes(text)
    return recipe


@cache
def _spellings() -> dict[str, str]:
    from xfuse.primitives.vocabulary.table import VOCABULARY

    return {spelling.name: spelling.text for row in VOCABULARY.values() for spelling in row.spellings}


def spelling(name: str, changes: Mapping[str, str] | None = None) -> str:
    """The text of a spelling of the vocabulary, or with some words in the place of others."""
    text = _spellings()[name]
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    return text


def spelled(name: str) -> Recipe:
    """The recipe of a spelling of the vocabulary."""
    return one(spelling(name))


def reference(name: str) -> Callable[..., Any]:
    """What a spelling of the vocabulary computes from arrays of its arguments' core shapes, by NumPy."""
    from xfuse.primitives.vocabulary.table import VOCABULARY

    return next(each.numpy for row in VOCABULARY.values() for each in row.spellings if each.name == name)


@cache
def _library() -> dict[str, Recipe]:
    return {recipe.name: recipe for recipe in shipped_recipes()}


def shipped(name: str) -> Recipe:
    """A recipe of the library."""
    return _library()[name]


def session(*recipes: Recipe | str) -> xfuse.Session:
    """A session of these recipes alone, with the NumPy backend."""
    made = xfuse.Session(library=False, backends=[NumPyBackend()])
    for recipe in recipes:
        made.register(recipe)
    return made


def tensor(element_type: str, *shape: int | None) -> TensorType[Attribute]:
    """A tensor type; None is an unknown extent."""
    return TensorType(type_named(element_type), [DYNAMIC_INDEX if extent is None else extent for extent in shape])


def types_at(
    recipe: Recipe, element_type: str | None, loops: Extents = (), core: int | None = 6, **cores: int | None
) -> list[Attribute]:
    """Types of a recipe's arguments with these loop dimensions, and core dimensions of given extents by name.

    ``core`` is the extent of the others. Scalar slots, and all other arguments without dimensions, are scalars.
    """
    names = core_signature(recipe.form(element_type)).arguments
    found: list[Attribute] = []
    for number, (type_, own) in enumerate(zip(recipe.signature(element_type)[0], names, strict=True)):
        extents = [int(name) if name.isdigit() else cores.get(name, core) for name in own]
        shape = [] if number in recipe.scalar_slots else [*loops, *extents]
        scalar = not shape and not isinstance(recipe.argument_types[number], TensorType)
        found.append(type_named(type_) if scalar else tensor(type_, *shape))
    return found


def emitted_function(
    recipe: Recipe, types: Sequence[Attribute], name: str = "main", slots: Mapping[int, float] | None = None
) -> func.FuncOp:
    """A function that is what `emit` makes of a recipe on arguments of some types, some of them scalar constants."""
    slots = slots or {}
    own = [type_ for number, type_ in enumerate(types) if number not in slots]
    block = Block(arg_types=own)
    arguments = iter(block.args)
    inputs: list[SSAValue] = []
    for number, type_ in enumerate(types):
        if number not in slots:
            inputs.append(next(arguments))
            continue
        scalar = scalar_type(type_)
        whole = not isinstance(scalar, AnyFloat)
        constant = arith.ConstantOp(
            IntegerAttr(int(slots[number]), scalar) if whole else FloatAttr(slots[number], scalar)
        )
        block.add_op(constant)
        inputs.append(constant.result)
    made = xfuse.emit(recipe, inputs)
    block.add_ops(made.ops)
    block.add_op(func.ReturnOp(*made.results))
    return func.FuncOp(name, (own, [value.type for value in made.results]), Region(block))


def emitted(recipe: Recipe, types: Sequence[Attribute], slots: Mapping[int, float] | None = None) -> ModuleOp:
    """A module of `emitted_function` alone, verified."""
    module = ModuleOp([emitted_function(recipe, types, slots=slots)])
    module.verify()
    return module


def function(
    body: str, arguments: str = "%x: tensor<4xf32>, %y: tensor<4xf32>", results: str = "tensor<4xf32>"
) -> ModuleOp:
    """A function @main of one result from its text, in which ``T`` stands for the type of the result."""
    text = f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"
    return xfuse.parse_module(re.sub(r"\bT\b", results, text))


def fused_ops(module: ModuleOp) -> list[FusedOp]:
    """The fused ops of a module in order."""
    return [op for op in module.walk() if isinstance(op, FusedOp)]


def names(module: ModuleOp) -> list[str]:
    """The names of a module's ops in order."""
    return [op.name for op in module.walk()]


def fused(module: ModuleOp, given: xfuse.Session) -> ModuleOp:
    """A copy, fused, and checked: well-formed, in order (law L8), idempotent (L7), put back exactly (L2)."""
    copy = module.clone()
    xfuse.fuse(copy, session=given)
    copy.verify()
    assert order_problem(copy) is None
    again = xfuse.fuse(copy.clone(), session=given)
    assert program_difference(copy, again) is None
    back = copy.clone()
    xfuse.decompose_all(back)
    assert not fused_ops(back)
    assert program_difference(module, back) is None
    return copy


def found(module: ModuleOp, given: xfuse.Session) -> list[str]:
    """The recipes that fused ops are instances of, by region, in the order of the program."""
    return ["" if recipe is None else recipe.name for recipe in map(given.recipe_of, fused_ops(fused(module, given)))]


def run(module: ModuleOp, given: xfuse.Session, *arrays: Any) -> Any:
    """What a module gives with NumPy, its fused ops through rows of the table."""
    program = xfuse.compile(module, backend="numpy", session=given)
    assert len(program.rows) + len(program.inlined) >= min(1, len(fused_ops(module)))
    return program(*arrays)


def values(types: Sequence[Attribute], seed: int = 0) -> list[Any]:
    """Random arrays at some types: floats around 0, integers 0 and 1; unknown extents are 3."""
    random = np.random.default_rng(seed)
    made: list[Any] = []
    for type_ in types:
        shape = [3 if n == DYNAMIC_INDEX else n for n in type_.get_shape()] if isinstance(type_, TensorType) else []
        element_type = str(type_.get_element_type() if isinstance(type_, TensorType) else type_)
        array = random.standard_normal(shape) if is_float(element_type) else random.integers(0, 2, shape)
        made.append(np.asarray(array).astype(numpy_dtype(element_type)))
    return made


def held(recipe: Recipe, element_type: str | None, arrays: Sequence[Any]) -> list[Any]:
    """Arrays at the argument types of a recipe."""
    types, _ = recipe.signature(element_type)
    with np.errstate(all="ignore"):
        return [np.asarray(array).astype(numpy_dtype(t)) for array, t in zip(arrays, types, strict=True)]


def exactly(arrays: Sequence[Any]) -> list[Any]:
    """Float arrays at float64, others as they are."""
    return [a if a.dtype.kind in "biu" else a.astype(np.float64) for a in arrays]
