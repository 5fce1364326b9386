"""Row and matrix recipes of the library: well-formed, right in their numbers, and the forms that real programs have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_programs import held
from row_references import REFERENCES, several
from support import CORPUS, parsed
from xdsl.dialects import func
from xdsl.dialects.linalg.ops import GenericOp

from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.canonical.build import GraphBuilder
from xfuse.canonical.form import Form, canonical_form
from xfuse.canonical.graph import UNIT, Extent, Graph, Node, Reference, Value
from xfuse.kernels import Kernel
from xfuse.parser import resource_blobs
from xfuse.primitives import literals
from xfuse.primitives.element_types import FLOATS, numpy_dtype
from xfuse.recipes import Recipe
from xfuse.session import Session
from xfuse.shipped import shipped_recipes
from xfuse.signature import core_signature

RECIPES = {recipe.name: recipe for recipe in shipped_recipes()}
FAMILIES = sorted({RECIPES[name].family for name in REFERENCES})
NAMES = [recipe.name for recipe in RECIPES.values() if recipe.family in FAMILIES]


@cache
def kernel(name: str, element_type: str | None) -> Kernel:
    """A recipe as a function of arrays with leading dimensions, evaluated by NumPy."""
    return NumPyBackend().compile(RECIPES[name], element_type)


# Form


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("_accumulating")])
def test_an_accumulating_body_is_a_plain_one_between_casts(name: str) -> None:
    """At f32 and f64 it is another body of the family; below, only arguments and results are narrow."""
    recipe = RECIPES[name]
    for element_type in ("f32", "f64"):
        others = [RECIPES[other] for other in NAMES if RECIPES[other].family == recipe.family and other != name]
        forms = {other.form(element_type).text for other in others if element_type in other.uses}
        assert recipe.form(element_type).text in forms
    for element_type in ("f16", "bf16"):
        form = recipe.form(element_type)
        narrow = {n for n in form.closing.order if form.graph.nodes[n].element_type == element_type}
        held = [value.node for n, value in enumerate(form.arguments) if n not in recipe.scalar_slots]
        held.extend(value.node for value in form.results)
        assert narrow == {n for n in held if form.graph.nodes[n].element_type != "i1"}


# Numbers


@pytest.mark.parametrize("name", NAMES)
def test_empty_rows(name: str) -> None:
    """A row without elements gives an empty row, and a value that its sums and maxima start from."""
    element_type = RECIPES[name].uses[-1]
    arrays = held(
        RECIPES[name], element_type, [make(np.random.default_rng(0), (2,), 0) for make in REFERENCES[name].makers]
    )
    results = several(kernel(name, element_type)(*arrays))
    signature = core_signature(RECIPES[name].form())
    for value, core in zip(results, signature.results, strict=True):
        assert value.shape[:1] == (2,)
        assert value.size == 0 or not core


NAN, INF = float("nan"), float("inf")


@dataclass
class Special:
    """What some recipes give for one row; ``rest`` are the further arguments."""

    names: str
    row: Sequence[float]
    wanted: Sequence[float] | float
    rest: Sequence[Any] = ()
    element_types: Sequence[str] = ("f32", "f64")


SPECIALS = [
    Special("softmax softmax_reciprocal softmax_of_log softmax_accumulating", [NAN, 1.0], [NAN, NAN]),
    Special("softmax softmax_reciprocal softmax_of_log softmax_accumulating", [-INF, -INF], [NAN, NAN]),
    Special("softmax softmax_reciprocal softmax_mlir softmax_of_log", [-INF, 3.0], [0.0, 1.0], (), FLOATS),
    Special("softmax softmax_reciprocal softmax_mlir softmax_of_log", [6e4, 6e4], [0.5, 0.5], (), FLOATS),
    Special("softmax_unshifted", [1e3, 1e3], [NAN, NAN]),
    Special("log_softmax log_softmax_accumulating", [0.0, -6e4], [0.0, -6e4]),
    Special("log_softmax_of_softmax", [0.0, -6e4], [0.0, -INF]),
    Special("log_softmax log_softmax_logsumexp log_softmax_of_softmax", [-INF, 0.0], [-INF, 0.0]),
    Special("logsumexp logsumexp_accumulating", [INF, 0.0], NAN),
    Special("logsumexp_jax logsumexp_torch logsumexp_unshifted", [INF, 0.0], INF),
    Special("logsumexp_jax logsumexp_torch logsumexp_unshifted", [-INF, -INF], -INF),
    Special("logsumexp logsumexp_jax logsumexp_torch logsumexp_unshifted", [NAN, 0.0], NAN),
    Special("logsumexp logsumexp_jax logsumexp_torch", [6e4, -6e4], 6e4),
    Special("layer_norm layer_norm_rsqrt layer_norm_moments layer_norm_share", [4.0, 4.0], [0.0, 0.0], [1e-5], FLOATS),
    Special("standardize standardize_share", [4.0, 4.0], [0.0, 0.0], [1e-5]),
    Special("rms_norm rms_norm_rsqrt rms_norm_torch rms_norm_share", [0.0, 0.0], [0.0, 0.0], [1e-5], FLOATS),
    Special("l2_normalize l2_normalize_torch l2_normalize_squared", [0.0, -0.0], [0.0, 0.0], [1e-6], FLOATS),
    Special("l2_normalize_plain", [0.0, 0.0], [NAN, NAN]),
    Special("cosine_similarity cosine_similarity_norms cosine_similarity_product", [0.0, 0.0], 0.0, [[1.0, 2.0], 1e-6]),
    Special("cosine_similarity_plain", [0.0, 0.0], NAN, [[1.0, 2.0]]),
    Special("sample_variance", [3.0], NAN),
    Special("variance_moments_clamped", [0.1, 0.1, 0.1], 0.0),
    Special("masked_softmax", [1.0, 7.0], [0.5, 0.5], [[False, False], 1.0, -1e4], FLOATS),
    Special("masked_softmax", [1.0, 7.0], [NAN, NAN], [[False, False], 1.0, -INF], FLOATS),
    Special("masked_softmax_filled", [1.0, 7.0], [1.0, 0.0], [[False, True], 1.0, -INF], FLOATS),
    Special("fused_linear_relu fused_linear_relu_torch", [NAN], NAN, [[1.0], 0.0], FLOATS),
    Special("rotary", [1.0, 2.0], [-2.0, 1.0], [[0.0, 0.0], [1.0, 1.0]], FLOATS),
]


@pytest.mark.parametrize("special", SPECIALS, ids=lambda special: f"{special.names.split()[0]}-{special.row}")
def test_special_values(special: Special) -> None:
    for name in special.names.split():
        for element_type in special.element_types:
            got = kernel(name, element_type)(*held(RECIPES[name], element_type, [special.row, *special.rest]))
            wanted = np.asarray(special.wanted).astype(numpy_dtype(element_type)).astype(np.float64)
            assert np.array_equal(np.asarray(got).astype(np.float64), wanted, equal_nan=True), f"{name}, {element_type}"


def test_causal_rows_see_the_keys_up_to_their_own() -> None:
    """More queries than keys, or fewer: query i never sees a key after i."""
    for queries, keys in ((3, 3), (5, 2), (2, 5)):
        for name in ("masked_softmax_causal", "masked_softmax_causal_jax"):
            got = kernel(name, "f64")(np.zeros((queries, keys)), np.float64(1), np.float64(-INF))
            seen = np.minimum(np.arange(1, queries + 1), keys)[:, None]
            assert np.array_equal(got, np.where(np.tri(queries, keys, dtype=bool), 1 / seen, 0))


# Forms of real programs


class Program:
    """A program of the corpus as a graph, and its values by short names.

    ``arg2`` is an argument of the function and ``ret0`` a result; ``generic3`` the result of the fourth
    ``linalg.generic`` and ``generic3.1`` its second operand; a number is a literal of the first result's element type.
    """

    def __init__(self, path: str) -> None:
        functions = [op for op in parsed(CORPUS / path).walk() if isinstance(op, func.FuncOp)]
        self.block = functions[0].body.block
        self.builder = GraphBuilder(resources=resource_blobs())
        for argument in self.block.args:
            self.builder.argument(argument)
        self.results = self.builder.block(self.block)
        self.generics = [op for op in self.block.ops if isinstance(op, GenericOp)]

    def value(self, name: str, element_type: str) -> Value:
        """A value by its short name."""
        if name.startswith("arg"):
            return self.builder.argument_values[int(name[3:])]
        if name.startswith("ret"):
            return self.results[int(name[3:])]
        if name.startswith("generic"):
            number, _, operand = name[7:].partition(".")
            op = self.generics[int(number)]
            return self.builder.values[op.operands[int(operand)] if operand else op.results[0]]
        bits = literals.to_bits(float(name), element_type)
        node = self.builder.graph.find(Node("constant", element_type, (("bits", bits),), (), 0))
        assert node is not None, f"no literal {name}"
        return Value(node, (), ())


@cache
def program(path: str) -> Program:
    return Program(path)


def cut(graph: Graph, arguments: Sequence[Value], results: Sequence[Value]) -> Form:
    """The form of what lies between some values of a program of static shapes and others."""
    part = Graph()
    numbers: dict[int, int] = {}
    inputs: list[Value] = []
    for position, argument in enumerate(arguments):
        node = graph.nodes[argument.node]
        extents: list[Extent] = [1] * node.rank
        for parameter, axis in enumerate(argument.index):
            extents[parameter] = 1 if axis == UNIT else argument.extents[axis]
        made = Node("argument", node.element_type, (("number", position),), (), node.rank)
        numbers[argument.node] = part.intern(made)
        inputs.append(Value(numbers[argument.node], tuple(range(node.rank)), tuple(extents)))
    stack = [value.node for value in results]
    while stack:
        references = graph.nodes[stack[-1]].references
        missing = [each.node for each in references if each.node not in numbers]
        if stack[-1] in numbers or not missing:
            number = stack.pop()
            if number not in numbers:
                kept = tuple(Reference(numbers[each.node], each.index) for each in references)
                numbers[number] = part.intern(graph.nodes[number]._replace(references=kept))
        else:
            stack.extend(missing)
    return canonical_form(part, inputs, [value._replace(node=numbers[value.node]) for value in results])


@dataclass
class Found:
    """Where a recipe's arguments and results are in a program; ``shapes`` are the extents of its core dimensions."""

    recipe: str
    path: str
    arguments: str
    results: str
    shapes: dict[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The form of that part of the program."""
        read = program(self.path)
        graph = read.builder.graph
        element_type = graph.nodes[read.value(self.results.split()[0], "f32").node].element_type
        chosen = [
            [read.value(name, element_type) for name in names.split()] for names in (self.arguments, self.results)
        ]
        return cut(graph, *chosen).text


def specialised(recipe: Recipe, element_type: str | None, extents: dict[str, int]) -> str:
    """The form of a recipe whose core dimensions have these extents, by name."""
    signature = core_signature(recipe.form(element_type))
    shapes = [tuple(extents.get(name) for name in names) for names in signature.arguments]
    return recipe.form(element_type, shapes=shapes).text


SPELLINGS = (
    "arith arith_commuted arith_dyn_rows elementwise_to_linalg from_jax fused generalized implicit_broadcast named"
).split()
PATTERNS = {
    "softmax": ("arg0", dict.fromkeys(SPELLINGS, "softmax")),
    "layernorm": (
        "arg0 arg1 arg2 1e-5",
        {
            **dict.fromkeys(SPELLINGS, "layer_norm_affine_rsqrt"),
            "from_jax": "layer_norm_affine_moments",
            "generalized": "layer_norm_affine_share",
            "named": "layer_norm_affine_share",
        },
    ),
    "rmsnorm": (
        "arg0 arg1 1e-6",
        {
            **dict.fromkeys(SPELLINGS, "rms_norm_weighted_rsqrt"),
            "generalized": "rms_norm_weighted_share",
            "named": "rms_norm_weighted_share",
        },
    ),
}
VARIANTS = [
    Found(recipe, f"variants/{pattern}/{spelling}.mlir", arguments, "ret0", {"n": 32})
    for pattern, (arguments, recipes) in PATTERNS.items()
    for spelling, recipe in recipes.items()
]


def _dev(recipe: str, name: str, arguments: str, results: str, **shapes: int) -> Found:
    return Found(recipe, f"dev/{name}/{name}.linalg.mlir", arguments, results, shapes)


TRANSFORMER, LOSSES = "transformer_4layer", "torch_losses"
OCCURRENCES = [
    _dev("softmax", "softmax_rows", "arg0", "ret0"),
    _dev("softmax", "causal_attention", "generic10", "generic17"),
    _dev("softmax", "dyn_mlp_softmax", "generic7", "ret0"),
    _dev("softmax", LOSSES, "arg0", "generic33"),
    _dev("softmax", TRANSFORMER, "generic30", "generic37"),
    _dev("softmax_of_log", "kl_divergence", "generic9", "generic18"),
    _dev("log_softmax", "kl_divergence", "generic0", "generic8"),
    _dev("log_softmax", "cross_entropy_onehot", "arg0", "generic14"),
    _dev("log_softmax", LOSSES, "arg2", "generic28"),
    _dev("masked_softmax_causal_jax_div", "causal_attention", "generic2 generic4 -1e9", "generic17", n=16, m=16),
    _dev("masked_softmax_div", "causal_attention", "generic2 generic8 generic4 -1e9", "generic17"),
    _dev("masked_softmax_causal_jax_div", TRANSFORMER, "generic24 2.828427 -3.4028235e38", "generic37", n=12, m=12),
    _dev("layer_norm_affine_rsqrt", "layer_norm_affine", "arg0 arg1 arg2 1e-5", "ret0", n=32),
    _dev("layer_norm_rsqrt", "layer_norm_affine", "arg0 1e-5", "generic15", n=32),
    _dev("layer_norm_affine_rsqrt", "torch_gelu_ffn", "arg0 generic11.1 generic12.1 1e-5", "generic12", n=16),
    _dev("layer_norm_affine", TRANSFORMER, "arg0 arg4 arg3 1e-5", "generic19", n=16),
    _dev("add_layer_norm", TRANSFORMER, "arg0 generic40.1 arg6 arg5 1e-5", "generic40 generic56", n=16),
    _dev("layer_norm_rsqrt", "layernorm_backward", "arg0 1e-5", "generic13", n=32),
    _dev("standardize", "ppo_loss", "arg2 1e-8", "generic18", n=200),
    _dev("variance", "ppo_loss", "arg2", "generic14", n=200),
    _dev("mean", "ppo_loss", "arg2", "generic1", n=200),
    _dev("rms_norm_weighted_rsqrt", "rms_norm", "arg0 arg1 1e-6", "ret0", n=40),
    _dev("rms_norm_weighted_torch", "torch_llama_rmsnorm_swiglu", "arg0 arg1 1e-6", "generic6", n=16),
    _dev("rms_norm_torch", "torch_llama_rmsnorm_swiglu", "arg0 1e-6", "generic5", n=16),
    _dev("l2_normalize", "l2_normalize", "arg0 1e-12", "ret0"),
    _dev("l2_normalize_torch", LOSSES, "arg0 1e-8", "generic51"),
    _dev("cosine_similarity_torch", LOSSES, "arg1 arg0 1e-8", "generic53"),
    _dev("fused_linear", "relu_mlp", "generic2 arg3 arg1", "ret0"),
    _dev("fused_linear_relu", "dyn_mlp_softmax", "arg0 arg1 arg2", "generic4"),
    _dev("fused_linear_gelu_tanh_jax", "gelu_tanh_bias", "arg1 arg0 arg2", "ret0"),
    _dev("fused_linear_gelu_tanh_jax", TRANSFORMER, "generic56 arg7 arg1", "generic67"),
    _dev("fused_linear_gelu_tanh_accumulating", "bf16_dense", "arg0 arg1 arg2", "ret0"),
]


@pytest.mark.parametrize(
    "found", [*VARIANTS, *OCCURRENCES], ids=lambda found: f"{found.recipe}-{Path(found.path).stem}"
)
def test_occurrences(found: Found) -> None:
    """A part of a real program has the form of the recipe at its types and extents, its scalars being arguments."""
    recipe = RECIPES[found.recipe]
    assert found.text in [specialised(recipe, element_type, found.shapes) for element_type in recipe.uses]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_near_misses_are_no_recipe(pattern: str) -> None:
    arguments, recipes = PATTERNS[pattern]
    near = Found("", f"variants/{pattern}/near_miss.mlir", arguments, "ret0").text
    family = RECIPES[recipes["arith"]].family
    members = [recipe for recipe in RECIPES.values() if recipe.family == family]
    assert near not in [specialised(recipe, "f32", {"n": 32}) for recipe in members if "f32" in recipe.uses]


MATCHED = {
    **{
        f"variants/{pattern}/{spelling}.mlir": recipe
        for pattern, (_, recipes) in PATTERNS.items()
        for spelling, recipe in recipes.items()
    },
    "variants/softmax/arith_fastmath.mlir": "softmax",
    "variants/softmax/elementwise_to_linalg_dyn.mlir": "softmax",
    "variants/layernorm/elementwise_to_linalg_dyn.mlir": "layer_norm_affine_rsqrt",
    "variants/rmsnorm/elementwise_to_linalg_dyn.mlir": "rms_norm_weighted_rsqrt",
    "dev/softmax_rows/softmax_rows.linalg.mlir": "softmax",
    "dev/rms_norm/rms_norm.linalg.mlir": "rms_norm_weighted_rsqrt",
    "dev/l2_normalize/l2_normalize.linalg.mlir": "l2_normalize",
    "dev/gelu_tanh_bias/gelu_tanh_bias.linalg.mlir": "fused_linear_gelu_tanh_jax",
    "dev/bf16_dense/bf16_dense.linalg.mlir": "fused_linear_gelu_tanh_accumulating",
}


@pytest.mark.parametrize("path", MATCHED)
def test_a_whole_program_is_one_match(path: str) -> None:
    """The recipe covers the program, and it is the only match."""
    matches = Session().match(parsed(CORPUS / path).clone())
    assert [match.recipe.name for match in matches.chosen] == [MATCHED[path]]
