"""The vocabulary: every tag of the reference system has a spelling that verifies, has a form and the right numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import context, generic
from xdsl.dialects.func import FuncOp

import xfuse
from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.canonical.build import element_name, static_shape
from xfuse.errors import KernelError, RecipeError
from xfuse.identify import body_form, identity
from xfuse.kernels import as_tuple
from xfuse.primitives.element_types import is_float, numpy_dtype
from xfuse.primitives.primitive import TypeRule
from xfuse.primitives.table import PRIMITIVES
from xfuse.primitives.vocabulary.spelling import FOLDER, Spelling
from xfuse.primitives.vocabulary.table import GROUPS, SEVERAL, VIEW, VOCABULARY
from xfuse.recipes import Recipe, parse_recipes
from xfuse.registry import RecipeRegistry
from xfuse.specialisation import instance_of
from xfuse_dialects.xfuse import FusedOp

ROOT = Path(__file__).resolve().parents[1]

TAGS = """
    Add Sub Mul Div Maximum Minimum Pow Rem
    Neg Abs Sqr Sqrt Rsqrt Recip Exp Log Sin Cos Tanh Sigmoid Silu Gelu GeluErf Relu Erf Step Floor Ceil Round Sign
    AddScalar MulScalar PowI Clamp Equal Ne Lt Le Gt Ge Where MaskedFill
    SumAll MaxAll MinAll MeanAll SumDim MaxDim MeanDim ReduceSumTo ReduceMaxTo CumSum MatMul
    Transpose Permute Reshape BroadcastTo Unsqueeze Squeeze Cast Slice Concat Flip Roll Pad Triu Tril
    IndexSelect Gather IndexAdd ScatterAdd LogSoftmaxLastDim Iota
    Const RuntimeScalar ReducedCount ScanPlaceholder Scan View Fused
""".split()
"""The 80 tags of the reference system, those among them that it declines."""
LACKING = ["MinDim", "ArgMaxDim", "ArgMinDim"]
"""What it has in graphs and not in recipes."""

SPELLINGS = {spelling.name: spelling for row in VOCABULARY.values() for spelling in row.spellings}
TEXTS = {name: spelling.text for name, spelling in SPELLINGS.items()} | {
    f"{name}_integer": spelling.integer_text for name, spelling in SPELLINGS.items() if spelling.integers
}
ALONE = {row.spellings[0].name: row for row in VOCABULARY.values() if row.alone is not None}


@cache
def recipe(name: str) -> Recipe:
    """The recipe of a spelling, or of its integer form."""
    (found,) = parse_recipes(TEXTS[name])
    assert found.name == name
    return found


def spelling(name: str) -> Spelling:
    """The spelling that a recipe, at floats or integers, is of."""
    return SPELLINGS[name.removesuffix("_integer")]


USES = [(name, use) for name in TEXTS for use in recipe(name).uses if use in (None, "f32", "f64", "i8", "i32", "i64")]


# The table


def test_every_tag_has_a_row() -> None:
    """All 80 tags, and what the reference system lacks; none twice."""
    assert len(TAGS) == len(set(TAGS)) == 80
    assert sorted(VOCABULARY) == sorted([*TAGS, *LACKING])
    assert sum(map(len, GROUPS.values())) == len(VOCABULARY)


def test_every_recipe_of_the_folder_is_a_spelling() -> None:
    """Nothing lies in the folder that no row shows."""
    own = {each.name for path in FOLDER.glob("*.mlir") for each in parse_recipes(path.read_text())}
    assert own == {name for name, each in SPELLINGS.items() if each.family is None}


@pytest.mark.parametrize("name", TEXTS)
def test_types_are_as_the_row_says(name: str) -> None:
    """The type rule holds at every element type; at integers its floats are integers."""
    rule = spelling(name).types
    if name.endswith("_integer"):
        rule = TypeRule(rule.text.replace("F", "I"))
    for use in recipe(name).uses:
        assert rule.check(*recipe(name).signature(use)) is None


@pytest.mark.parametrize("tag", TAGS + LACKING)
def test_arity_counts_tensor_operands(tag: str) -> None:
    """Scalar slots are attributes in the reference system; leaves read nothing there."""
    row = VOCABULARY[tag]
    for each in row.spellings:
        found = recipe(each.name)
        operands = len(found.argument_types) - len(found.scalar_slots)
        assert row.arity == (0 if tag in LEAVES else SEVERAL if row.arity == SEVERAL else operands)


LEAVES = {"RuntimeScalar", "ReducedCount", "ScanPlaceholder"}
"""Leaves that stand for a part of a recipe, which the spelling shows as a whole."""


# Identity


@pytest.mark.parametrize("name", TEXTS)
def test_law_l5_spellings_print_and_read_back(name: str) -> None:
    """The printed and the generic text are the same recipe."""
    module = xfuse.parse_module(TEXTS[name])
    for text in (str(module), generic(module)):
        assert identity(text) == identity(recipe(name))


@pytest.mark.parametrize("name", TEXTS)
def test_spellings_have_a_form_and_register(name: str) -> None:
    """A form at every element type; what is no recipe alone is refused, and the row says why."""
    found = recipe(name)
    assert len({found.form(use).text for use in found.uses}) == len(found.uses)
    registry = RecipeRegistry()
    if name.removesuffix("_integer") in ALONE:
        with pytest.raises(RecipeError, match=r"no arguments|arguments back|only the extents"):
            registry.register(found)
    else:
        registry.register(found)
        assert registry.region(name) is found


SAME = [
    {"Add", "AddScalar"},
    {"Mul", "MulScalar", "RuntimeScalar"},
    {"SumDim", "ReduceSumTo"},
    {"MaxDim", "ReduceMaxTo"},
    {"IndexSelect", "Gather"},
    {"IndexAdd", "ScatterAdd"},
    {"ScanPlaceholder", "Scan"},
    {"BroadcastTo", "Unsqueeze"},
]
"""Tags of one function: a slot only restricts matching; which axes are kept, and which an index runs along, is how
operands lie; a broadcast axis is one along which a value does not vary."""


def key(text: str) -> str:
    """A recipe's identity; that of a view is its instance key."""
    found = identity(text)
    return found.instance if found.name in VIEWS else found.recipe


VIEWS = {name for name, row in ALONE.items() if row.alone == VIEW}


def test_law_l5_no_two_tags_have_one_identity_but_those_of_one_function() -> None:
    """Nothing else is merged."""
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for row in VOCABULARY.values():
        for each in row.spellings:
            tags[key(each.text)].add(row.tag)
    assert sorted(map(sorted, (found for found in tags.values() if len(found) > 1))) == sorted(map(sorted, SAME))


CHANGES = {
    "powi": {"constant 3": "constant 2"},
    "masked_fill": {"constant 2.0": "constant 3.0"},
    "cast": {"f16": "bf16"},
    "cast_float_to_int": {"i32": "i16"},
    "cast_int_to_float": {"f32": "f64"},
    "cast_wide": {"f16": "bf16"},
    "equal": {"oeq": "ueq"},
    "sum_all": {" {xfuse.flatten}": ""},
    "max_dim": {"0xFFF0000000000000": "0.0"},
    "arg_max_dim": {"oeq": "ueq"},
    "transpose": {"[#columns, #rows]": "[#rows, #rows]"},
    "permute": {"(n, k, m)": "(n, m, k)"},
    "broadcast_to": {"tensor<4x?xf64>": "tensor<?x4xf64>", "(m, n) -> (m, n)": "(m, n) -> (n, m)"},
    "unsqueeze": {"tensor<1x?xf64>": "tensor<?x1xf64>", "[1, %n]": "[%n, 1]"},
    "squeeze": {"tensor<1x?xf64>": "tensor<?x1xf64>"},
    "reshape": {"?x?": "?x3"},
    "reshape_split": {"?x2x": "?x3x", "[%m, 2]": "[%m, 3]", "constant 2": "constant 3"},
    "slice": {"[1] [3] [1]": "[2] [3] [1]"},
    "slice_relative": {"constant 2": "constant 3"},
    "concat": {"%x, %y :": "%y, %x :"},
    "pad": {"low[1] high[2]": "low[2] high[1]"},
    "pad_reflect": {"%low = arith.constant 1": "%low = arith.constant 2"},
    "pad_replicate": {"%high = arith.constant 2": "%high = arith.constant 3"},
    "roll": {"constant 3": "constant 2"},
    "triu": {"%diagonal = arith.constant 1": "%diagonal = arith.constant 0"},
    "tril": {"%diagonal = arith.constant 1": "%diagonal = arith.constant 0"},
    "cum_sum": {"constant 0.0": "constant 1.0"},
    "scan_early_exit": {"constant 8.0": "constant 9.0"},
    "const": {"2.5": "3.5"},
    "fused": {"0.0": "1.0"},
}
"""An attribute of each spelling that has one, and another in its place."""


@pytest.mark.parametrize("name", CHANGES)
def test_law_l5_attributes_count(name: str) -> None:
    """Another axis, literal, shift, amount or type is another function."""
    changed = TEXTS[name]
    for old, new in CHANGES[name].items():
        assert old in changed
        changed = changed.replace(old, new)
    assert key(changed) != key(TEXTS[name])


# Numbers


def function(name: str, use: str | None, static: tuple[tuple[int, ...], ...] | None = None) -> str:
    """A spelling as the function @main at an element type: the recipe's own text.

    With ``static`` its arguments have those extents.
    """
    found = recipe(name)
    aliases, recipe_text = re.fullmatch(r"((?:#[^\n]*\n)*)(.*)", TEXTS[name], re.DOTALL).groups()
    head, body = re.fullmatch(r"xfuse\.recipe @\w+(.*?) \{\n(.*)\}\n", recipe_text, re.DOTALL).groups()
    head = re.sub(r" attributes \{.*\}| \{xfuse\.\w+\}", "", " ".join(head.split()))
    if static is not None:
        arguments, results = re.fullmatch(r"\((.*)\) -> (.*)", head).groups()
        given: list[str] = []
        casts: list[str] = []
        for argument, shape in zip(re.findall(r"(%\w+): ([^,]+)", arguments), static, strict=True):
            ssa, type_ = argument
            known = re.sub(r"<(?:\?x|\d+x)+", "<" + "".join(f"{extent}x" for extent in shape), type_)
            given.append(f"{ssa}_given: {known}" if known != type_ else f"{ssa}: {type_}")
            if known != type_:
                casts.append(f"  {ssa} = tensor.cast {ssa}_given : {known} to {type_}\n")
        head, body = f"({', '.join(given)}) -> {results}", "".join(casts) + body
    body = body[: body.rindex("xfuse.yield")] + body[body.rindex("xfuse.yield") :].replace("xfuse.yield", "func.return")
    text = f"{aliases}func.func @main{head} {{\n{body}}}\n"
    if found.written_type is not None and use is not None:
        text = re.sub(rf"{found.written_type}\b", use, text)
        if use == "f32":  # the infinities by their bits
            text = text.replace("0xFFF0000000000000", "0xFF800000").replace("0x7FF0000000000000", "0x7F800000")
    return text


@cache
def program(name: str, use: str | None, static: tuple[tuple[int, ...], ...] | None = None) -> Any:
    """A spelling, compiled."""
    return xfuse.compile(function(name, use, static))


FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -3.0, 1e-3, 40.0, float("inf"), -float("inf"), float("nan")]


def values(element_type: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Random elements; of floats some are special if there is room."""
    random = np.random.default_rng(seed)
    dtype = numpy_dtype(element_type)
    if element_type == "i1":
        return random.integers(0, 2, shape).astype(dtype)
    if not is_float(element_type):
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return random.normal(size=shape).astype(dtype)


def inputs(name: str, use: str | None) -> Iterator[tuple[Any, ...]]:
    """Arguments for a spelling: points for scalar ones, else rows of extents 0, 1 and more where they make sense."""
    found, base = recipe(name), name.removesuffix("_integer")
    types = found.signature(use)[0]
    if found.is_scalar:
        grid = [FLOATS if is_float(each) else values(each, (8,), seed).tolist() for seed, each in enumerate(types)]
        count = max(map(len, grid), default=1)
        for first in range(count):
            for second in range(count if len(types) > 1 else 1):
                places = (first, second, first + second)
                point = tuple(
                    numpy_dtype(each).type(own[place % len(own)])
                    for each, own, place in zip(types, grid, places, strict=False)
                )
                if name != "pow" or point != (-np.inf, 0.5):  # of scalars, not of arrays, NumPy makes that a NaN
                    yield point
        return
    for n in EXTENTS.get(base, (0, 1, 2, 7)):
        yield arguments_at(base, types, n)
    if base in NANS:
        for place in (0, 2):
            row = values(types[0], (5,))
            if is_float(types[0]):
                row[place:] = np.nan
            yield (row,)


EXTENTS = {
    "gather": (1, 2, 7),
    "index_select": (1, 2, 7),
    "slice": (4, 7),
    "reshape_split": (0, 2, 8),
    "pad_reflect": (3, 4, 7),
    "pad_replicate": (1, 2, 7),
}
"""Extents where not all make sense: something to read, room to reflect."""
NANS = {"max_dim", "min_dim", "arg_max_dim", "arg_min_dim", "max_all", "min_all", "reduce_max_to"}


def arguments_at(base: str, types: tuple[str, ...], n: int) -> tuple[Any, ...]:
    """The arguments of a spelling with core dimensions, the extent of its last one being ``n``."""
    if base in ("gather", "index_select"):
        return values(types[0], (n,)), numpy_dtype(types[1]).type(n - 1)
    if base == "index_add":
        count = 2 * n
        places = np.random.default_rng(n).integers(0, max(n, 1), count)
        return values(types[0], (n,)), places.astype(numpy_dtype(types[1])), values(types[2], (count,), 1)
    if base.startswith("scan"):
        return values(types[0], ()), values(types[1], (n,)), numpy_dtype(types[2]).type(3)
    if base == "iota":
        return (np.int64(n),)
    shapes = SHAPES.get(base, lambda n: ((n,), (n,)))(n)
    return tuple(values(each, shape, seed) for seed, (each, shape) in enumerate(zip(types, shapes, strict=False)))


SHAPES = {
    "concat": lambda n: ((n,), (3,)),
    "reshape": lambda n: ((3, n),),
    "transpose": lambda n: ((3, n),),
    "permute": lambda n: ((3, 2, n),),
    "triu": lambda n: ((3, n),),
    "tril": lambda n: ((3, n),),
    "squeeze": lambda n: ((1, n),),
}


def is_exact(name: str, use: str | None) -> bool:
    """Whether every op gives the one right result: then so must both sides, to the bit (law L3)."""
    form = recipe(name).form(use)
    for node in form.graph.nodes:
        if node.kind in PRIMITIVES and PRIMITIVES[node.kind].ulp:
            return False
        if node.kind == "reduce" and dict(node.attributes)["combine"] == "arith.addf":
            return False
    return True


def assert_right(name: str, use: str | None, found: Any, given: tuple[Any, ...]) -> None:
    """Results agree with the row's NumPy function: dtypes, shapes and numbers."""
    with np.errstate(all="ignore"):
        expected = as_tuple(spelling(name).numpy(*given))
    results = recipe(name).signature(use)[1]
    for one, other, element_type in zip(as_tuple(found), expected, results, strict=True):
        array, wanted = np.asarray(one), np.asarray(other)
        assert array.dtype == numpy_dtype(element_type)
        assert array.shape == wanted.shape
        if is_exact(name, use):
            np.testing.assert_array_equal(array, wanted.astype(array.dtype), str(given))
        else:
            eps = float(np.finfo(array.dtype).eps)
            np.testing.assert_allclose(array, wanted.astype(array.dtype), 32 * eps, 8 * eps, err_msg=str(given))


@pytest.mark.parametrize(("name", "use"), USES)
def test_law_l3_spellings_compute_what_numpy_does(name: str, use: str | None) -> None:
    """At every element type, and at extents 0, 1 and more, unknown when compiled."""
    run = program(name, use)
    for given in inputs(name, use):
        assert_right(name, use, run(*given), given)


@pytest.mark.parametrize(("name", "use"), [each for each in USES if "tensor<" in TEXTS[each[0]]])
def test_law_l3_at_extents_known_when_compiled(name: str, use: str | None) -> None:
    """The same, static."""
    for given in inputs(name, use):
        run = program(name, use, tuple(np.shape(each) for each in given))
        assert_right(name, use, run(*given), given)


@pytest.mark.parametrize("name", ["gather", "index_select", "index_add", "slice", "pad_reflect"])
def test_reading_outside_is_a_typed_error(name: str) -> None:
    """An index or slice beyond the extent is an error that says so, never another element."""
    row = np.arange(2.0)
    further: dict[str, tuple[Any, ...]] = {
        "gather": (np.int64(2),),
        "index_select": (np.int64(-1),),
        "index_add": (np.array([0, 5]), np.ones(2)),
    }
    with pytest.raises(KernelError, match="outside"):
        program(name, "f64")(row, *further.get(name, ()))


@pytest.mark.parametrize(("name", "use"), USES)
def test_llvm_kernels_compute_the_same(name: str, use: str | None) -> None:
    """Where the LLVM backend takes a spelling, its kernel agrees with NumPy; elsewhere it says why."""
    backend, found = LLVMBackend(), recipe(name)
    refusal = backend.refusal(found, use)
    if refusal is not None or name in ALONE:
        assert refusal != ""
        return
    kernel = backend.compile(found, use)
    for given in inputs(name, use):
        assert_right(name, use, kernel.call(*map(np.asarray, given)), given)


# Examples: lit_tests/vocabulary


@cache
def examples() -> dict[str, FusedOp]:
    """The fused ops of the lit tests by label."""
    found: dict[str, FusedOp] = {}
    for path in sorted((ROOT / "lit_tests" / "vocabulary").glob("*.mlir")):
        for op in xfuse.load_module(path, context()).walk():
            if isinstance(op, FusedOp) and op.label is not None and not isinstance(op.parent_op(), FusedOp):
                assert op.label not in found, op.label
                found[op.label] = op
    return found


def test_every_spelling_has_an_example() -> None:
    """One fused op in lit_tests/vocabulary a spelling, and no other."""
    assert sorted(examples()) == sorted(SPELLINGS)


@pytest.mark.parametrize("name", SPELLINGS)
def test_examples_are_instances(name: str) -> None:
    """An example is an instance of its tag's recipe, whatever rank and extents it has; a view has its form."""
    form = body_form(examples()[name], fastmath=False)
    if name in VIEWS:
        assert form.text == recipe(name).form("f32").text
    else:
        found = instance_of(recipe(name), form)
        assert found is not None
        assert found.recipe is recipe(name)


AT_MATRICES = {
    "sum_all": np.sum,
    "max_all": np.max,
    "min_all": np.min,
    "mean_all": np.mean,
    "sum_dim": lambda x: np.sum(x, 0),
    "max_dim": lambda x: np.max(x, 1),
    "min_dim": lambda x: np.min(x, 1),
    "mean_dim": lambda x: np.mean(x, 1),
    "reduce_sum_to": lambda x: np.sum(x, 1, keepdims=True),
    "reduce_max_to": lambda x: np.max(x, 1, keepdims=True),
    "arg_max_dim": lambda x: np.argmax(x, 1),
    "arg_min_dim": lambda x: np.argmin(x, 1),
    "mat_mul": np.matmul,
    "transpose": np.transpose,
    "permute": lambda x: x.transpose(1, 2, 0),
    "broadcast_to": lambda x: np.broadcast_to(x, (4, 5)),
    "unsqueeze": lambda x: x[None],
    "squeeze": np.squeeze,
    "reshape": lambda x: x.reshape(20, 6),
    "reshape_split": lambda x: x.reshape(4, 3, 2),
    "slice": lambda x: x[1:4],
    "slice_relative": lambda x: x[:, 3:],
    "concat": lambda x, y: np.concatenate((x, y), 1),
    "pad": lambda x: np.pad(x, ((0, 0), (1, 2))),
    "pad_reflect": lambda x: np.pad(x, ((0, 0), (1, 2)), "reflect"),
    "pad_replicate": lambda x: np.pad(x, ((0, 0), (1, 2)), "edge"),
    "iota": lambda: np.arange(8, dtype=np.float32),
    "flip": lambda x: np.flip(x, 0),
    "roll": lambda x: np.roll(x, 3, 1),
    "triu": lambda x: np.triu(x, 1),
    "tril": lambda x: np.tril(x, 1),
    "index_select": lambda x, i: np.take(x, i, 0),
    "gather": lambda x, i: np.take_along_axis(x, i, 0),
}
"""What the examples with core dimensions compute, as NumPy says it of matrices."""


@pytest.mark.parametrize("name", AT_MATRICES)
def test_law_l3_examples_compute_what_numpy_does(name: str) -> None:
    """With the fused op, and decomposed."""
    module = examples()[name].get_toplevel_object().clone()
    arrays: list[Any] = []
    main = next(op for op in module.walk() if isinstance(op, FuncOp) and op.sym_name.data == name)
    for seed, type_ in enumerate(main.function_type.inputs):
        shape = tuple(extent or 0 for extent in static_shape(type_))
        integers = np.random.default_rng(seed).integers(0, 4, shape)
        arrays.append(integers if element_name(type_) == "i64" else values("f32", shape, seed))
    expected = AT_MATRICES[name](*arrays)
    fused = xfuse.compile(module, name)(*arrays)
    xfuse.decompose_all(module)
    plain = xfuse.compile(module, name)(*arrays)
    for found in (fused, plain):
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


# Dynamic extents


def test_concatenation_to_an_unknown_extent() -> None:
    """Of three parts along an inner axis, one of extent one."""
    text = """func.func @main(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>, %z: tensor<?x1xf64>) -> tensor<?x?xf64> {
      %r = tensor.concat dim(1) %x, %y, %z : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x1xf64>) -> tensor<?x?xf64>
      func.return %r : tensor<?x?xf64>
    }"""
    run = xfuse.compile(text)
    for n in (0, 1, 3):
        parts = [values("f64", (2, width), width) for width in (n, 2, 1)]
        np.testing.assert_array_equal(run(*parts), np.concatenate(parts, 1))


def test_concatenation_has_the_extent_that_a_program_computes() -> None:
    """Law L5: the extent of a concatenation is the sum that index arithmetic gives."""
    text = """func.func @main(%x: tensor<?xf64>, %y: tensor<?xf64>) -> index {{
      %c0 = arith.constant 0 : index
      %m = tensor.dim %x, %c0 : tensor<?xf64>
      %n = tensor.dim %y, %c0 : tensor<?xf64>
      {}
      func.return %r : index
    }}"""
    computed = text.format("%r = arith.addi %m, %n : index")
    read = text.format(
        "%z = tensor.concat dim(0) %x, %y : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>\n"
        "%r = tensor.dim %z, %c0 : tensor<?xf64>"
    )
    assert identity(computed).text == identity(read).text


def test_padding_by_unknown_amounts() -> None:
    """Amounts that are arguments; the padding may depend on the place."""
    text = """func.func @main(%x: tensor<?x?xf64>, %low: index, %high: index) -> tensor<?x?xf64> {
      %r = tensor.pad %x low[%low, 1] high[2, %high] {
      ^bb0(%i: index, %j: index):
        %s = arith.addi %i, %j : index
        %t = arith.index_cast %s : index to i64
        %v = arith.sitofp %t : i64 to f64
        tensor.yield %v : f64
      } : tensor<?x?xf64> to tensor<?x?xf64>
      func.return %r : tensor<?x?xf64>
    }"""
    run = xfuse.compile(text)
    for low, high, width in ((0, 0, 3), (1, 2, 3), (3, 0, 0), (0, 1, 1)):
        x = values("f64", (2, width))
        expected = np.add.outer(np.arange(low + 4.0), np.arange(width + high + 1.0))
        expected[low : low + 2, 1 : 1 + width] = x
        np.testing.assert_array_equal(run(x, low, high), expected)
    with pytest.raises(KernelError, match=r"pads.*-1"):
        run(values("f64", (2, 3)), -1, 0)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (2, 0), (0, 3), (1, 2)])
def test_law_l5_how_far_a_result_runs_counts(low: int, high: int) -> None:
    """Two rows of the same values and different lengths are two functions, where no argument gives the length."""
    text = TEXTS["pad_replicate"]
    text = text.replace("%low = arith.constant 1", f"%low = arith.constant {low}")
    text = text.replace("%high = arith.constant 2", f"%high = arith.constant {high}")
    longer = text.replace(f"%high = arith.constant {high}", f"%high = arith.constant {high + 1}")
    assert identity(text).recipe != identity(longer).recipe
    named = text.replace("%size", "%length").replace("xfuse.recipe @pad_replicate", "xfuse.recipe @other")
    assert identity(text).recipe == identity(named).recipe


@pytest.mark.parametrize("name", ["cum_sum", "scan", "index_add"])
def test_a_loop_keeps_the_extents_that_no_trip_changes(name: str) -> None:
    """What a loop only writes elements of has the extent that it began with, so that it fits what else has that."""
    form = recipe(name).form()
    row = form.arguments[1 if name == "scan" else 0]
    assert form.results[0].extents == row.extents


@pytest.mark.parametrize("trips", [0, 1, 2])
def test_a_loop_that_forwards_a_transposed_value(trips: int) -> None:
    """The extents of what an scf.while gives are those of the value forwarded, not of the one carried."""
    text = """func.func @main(%x: tensor<?x?xf64>, %n: index) -> tensor<?x?xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %k, %r = scf.while (%i = %c0, %t = %x) : (index, tensor<?x?xf64>) -> (index, tensor<?x?xf64>) {
        %go = arith.cmpi slt, %i, %n : index
        %a = tensor.dim %t, %c0 : tensor<?x?xf64>
        %b = tensor.dim %t, %c1 : tensor<?x?xf64>
        %e = tensor.empty(%b, %a) : tensor<?x?xf64>
        %u = linalg.transpose ins(%t : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) permutation = [1, 0]
        scf.condition(%go) %i, %u : index, tensor<?x?xf64>
      } do {
      ^bb0(%i: index, %t: tensor<?x?xf64>):
        %j = arith.addi %i, %c1 : index
        scf.yield %j, %t : index, tensor<?x?xf64>
      }
      func.return %r : tensor<?x?xf64>
    }"""
    x = values("f64", (2, 3))
    np.testing.assert_array_equal(xfuse.compile(text)(x, trips), x if trips % 2 else x.T)
