"""Backward recipes, losses, convolutions and stencils: right in their numbers, and spelled as compilers spell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import backward_references
import loss_references
import numpy as np
import pytest
from derivatives import DERIVATIVES, Derivative
from row_references import Array
from support import CORPUS, parsed
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

import xfuse
from xfuse.canonical.build import GraphBuilder, element_name, static_shape
from xfuse.canonical.flatten import expand
from xfuse.canonical.form import canonical_form
from xfuse.decomposition import decompose_all
from xfuse.fusion import fuse
from xfuse.primitives import literals
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe
from xfuse.session import Session
from xfuse.shipped import shipped_recipes
from xfuse.testing import same_program
from xfuse_dialects.xfuse import FusedOp

REFERENCES = {**backward_references.REFERENCES, **loss_references.REFERENCES}
FAMILIES = {recipe.family for recipe in shipped_recipes() if recipe.name in REFERENCES}
RECIPES = {recipe.name: recipe for recipe in shipped_recipes()}
LOOPS = ((), (3,), (2, 1, 3))
SIZES = (1, 2, 5, 64, 257)


@cache
def session() -> Session:
    return Session()


def evaluate(name: str, element_type: str, arrays: Sequence[Any]) -> tuple[Array, ...]:
    """A recipe at an element type on arrays of any dtype, which are rounded to those of its signature."""
    recipe = RECIPES[name]
    given = [
        np.asarray(array).astype(numpy_dtype(type_))
        for array, type_ in zip(arrays, recipe.signature(element_type)[0], strict=True)
    ]
    results = session().kernel(recipe, element_type, backend="numpy")(*given)
    return results if isinstance(results, tuple) else (results,)


def test_every_backward_recipe_has_its_forward_formula() -> None:
    backward = {name for name, recipe in RECIPES.items() if recipe.family.endswith(("_backward", "_gradients"))}
    assert {derivative.recipe for derivative in DERIVATIVES} == backward


def results(module: ModuleOp, arrays: Sequence[Array], own: Session) -> tuple[Array, ...]:
    given = xfuse.compile(module, backend="numpy", session=own)(*arrays)
    return given if isinstance(given, tuple) else (given,)


# Numbers


@pytest.mark.parametrize("derivative", DERIVATIVES, ids=lambda each: each.recipe)
def test_derivatives(derivative: Derivative) -> None:
    """A backward recipe gives the differences of its forward formula, weighed by the gradient of the result."""
    rng = np.random.default_rng(11)
    x = derivative.draw(rng, 6)
    gradient = rng.normal(0.0, 1.0, np.shape(derivative.forward(x)))
    got = evaluate(derivative.recipe, "f64", derivative.arguments(x, gradient))[derivative.result].reshape(-1)
    step = 1e-5
    wanted = [
        np.sum(gradient * (derivative.forward(x + step * e) - derivative.forward(x - step * e))) / (2 * step)
        for e in np.eye(x.size)
    ]
    np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-8)


NAN, INF = float("nan"), float("inf")
SPECIALS: list[tuple[str, list[Any], Any]] = [
    ("reduce_max_backward reduce_max_backward_mask reduce_max_backward_jax", [[1, 4, 4], 3.0], [0, 1.5, 1.5]),
    ("reduce_min_backward reduce_min_backward_jax", [[4, 1, 1], 3.0], [0, 1.5, 1.5]),
    ("reduce_max_backward reduce_max_backward_mask", [[NAN, 1], 3.0], [NAN, NAN]),
    ("reduce_max_backward_jax", [[NAN, 1], 3.0], [0, 0]),
    ("softmax_backward_jax", [[-INF, 0], [1, 2]], [0, 0]),
    ("logsumexp_backward_jax", [[INF, 0], 1.0], [NAN, 0]),
    ("l2_normalize_backward l2_normalize_backward_accumulating", [[0, 0], [1, 2], 0.5], [2, 4]),
    ("layer_norm_backward layer_norm_backward_jax layer_norm_backward_jax_sqrt", [[4, 4], [1, -1], 0.25], [2, -2]),
    ("rms_norm_backward rms_norm_backward_jax rms_norm_backward_jax_sqrt", [[0, 0], [1, 2], 0.25], [2, 4]),
    ("softmax_cross_entropy_label softmax_cross_entropy_label_long", [[0, -INF], 0], 0),
    ("softmax_cross_entropy_label_select", [[0, -INF], 1], INF),
    ("softmax_cross_entropy_label_onehot", [[0, -INF], 0], NAN),
    ("softmax_cross_entropy_label_onehot softmax_cross_entropy_label_select", [[0], -1], 0),
    ("softmax_cross_entropy_backward_label softmax_cross_entropy_backward_label_onehot", [[0, 0], 1, 2.0], [1, -1]),
    ("kl_divergence_torch kl_divergence_xlogy kl_divergence_optax", [[-2, 0], [0, 1]], 0),
    ("kl_divergence_torch kl_divergence_xlogy", [[-2, 0], [NAN, 1]], NAN),
    ("kl_divergence_probabilities", [[0, 1], [0.5, 0.5]], NAN),
    ("clip_by_global_norm clip_by_global_norm_accumulating", [[0, 0], 1.0], [0, 0]),
    ("clip_by_global_norm", [[3, 4], 2.5], [1.5, 2]),
    ("clip_by_global_norm_epsilon", [[3, 4], 2.5, 5.0], [0.75, 1]),
    ("mse_loss mae_loss huber_loss_one", [[], []], NAN),
    ("mse_loss_sum mae_loss_sum kl_loss", [[], []], 0),
    ("huber_loss_one huber_loss_optax_one", [[INF, 0], [0, 0]], INF),
    ("sum_of_squares global_norm", [[]], 0),
    ("focal_loss_square", [[0, 0], [1, 0]], np.log(2) / 4),
    (
        "causal_conv1d_padded causal_conv1d_padded_taps4_jax",
        [[1, 0, 0, 0, 0], [4, 3, 2, 1], 0.5],
        [1.5, 2.5, 3.5, 4.5, 0.5],
    ),
    ("causal_conv1d causal_conv1d_taps4", [[0, 0, 0, 1, 0], [4, 3, 2, 1], 0.5], [1.5, 2.5]),
    ("laplacian laplacian_slices", [[[0, 1, 0], [2, 5, 3], [0, 4, 0]]], [[-10]]),
    ("heat_step heat_step_padded", [[[9, 1, 9], [2, 5, 3], [9, 4, 9]], 0.5], [[9, 1, 9], [2, 0, 3], [9, 4, 9]]),
    ("heat_step heat_step_padded", [[[1, 2], [3, 4]], 0.5], [[1, 2], [3, 4]]),
    ("heat_step_inner heat_step_inner_slices", [[[9, 1, 9], [2, 5, 3], [9, 4, 9]], 0.5], [[0]]),
    ("heat_step_periodic", [[[0, 0, 1]], 0.5], [[0.5, 0.5, 0]]),
]
"""Recipes, arguments, result."""


@pytest.mark.parametrize("special", SPECIALS, ids=lambda special: f"{special[0].split()[0]}-{special[1][0]}")
def test_special_values(special: tuple[str, list[Any], Any]) -> None:
    names, arguments, wanted = special
    for name in names.split():
        for element_type in ("f32", "f64"):
            (got,) = evaluate(name, element_type, arguments)
            expected = np.asarray(wanted).astype(numpy_dtype(element_type))
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=0, err_msg=f"{name} at {element_type}")


# Forms of real programs

SLOTS: Mapping[str, Mapping[str, float]] = {
    "mse_loss_backward_jax": {"count": 32},
    "huber_loss_optax": {"delta": 0.75},
    "softmax_cross_entropy_label_smooth": {"keep": 0.9, "rest": 0.0125},
    "cross_entropy_loss_smooth": {"keep": 0.9, "rest": 0.005},
    "kl_divergence_logits": {"temperature": 2.0, "factor": 4.0},
    "focal_loss_alpha": {"alpha": 0.25, "rest": 0.75},
    "smooth_l1_loss_torch": {"beta": 0.5, "half_beta": 0.25, "wide_beta": 0.5},
}
"""The literals that the programs have in the recipes' scalar slots."""


def slots_of(name: str) -> Mapping[str, float]:
    found = {"layer": {"epsilon": 1e-5}, "rms": {"epsilon": 1e-6}}
    return SLOTS.get(name) or found.get(name.partition("_")[0], {})


def recipe_text(recipe: Recipe, slots: Mapping[str, float], shapes: Sequence[Sequence[int | None]]) -> str:
    """The form at f32 on operands of these shapes, with literals in the scalar slots."""
    builder = GraphBuilder(substitution=recipe.substitution("f32"))
    block = recipe.op.body.block
    given = iter(shapes)
    flat: dict[int, tuple[int | None, ...]] = {}
    for number, argument in enumerate(block.args):
        name = argument.name_hint
        if name in slots:
            assert number in recipe.scalar_slots
            type_ = builder.element_type(argument.type)
            builder.values[argument] = builder.graph.constant(type_, literals.to_bits(slots[name], type_))
            continue
        shape, rank = tuple(next(given)), len(static_shape(argument.type))
        if number in recipe.flat:
            flat[len(builder.argument_values)] = shape
            shape = (int(np.prod([extent or 1 for extent in shape])),)
        builder.argument(argument, shape[len(shape) - rank :])
    results = builder.block(block)
    graph, arguments = builder.graph, builder.argument_values
    if flat:
        graph, arguments, results = expand(graph, arguments, results, flat)
    return canonical_form(graph, arguments, results).text


def program_text(path: Path, results: Sequence[int] = ()) -> tuple[str, list[tuple[int | None, ...]]]:
    """The form of a program, or of some of its results, and the shapes of the arguments that it takes."""
    (function,) = (op for op in parsed(path).walk() if isinstance(op, func.FuncOp))

    def build(arguments: Sequence[Any]) -> tuple[GraphBuilder, list[Any]]:
        builder = GraphBuilder()
        for argument in arguments:
            builder.argument(argument)
        values = builder.block(function.body.block)
        return builder, [values[number] for number in results] or values

    builder, values = build(function.args)
    reached = builder.graph.reachable(value.node for value in values)
    used = [a for a, value in zip(function.args, builder.argument_values, strict=True) if value.node in reached]
    builder, values = build([*used, *(a for a in function.args if a not in used)])
    form = canonical_form(builder.graph, builder.argument_values[: len(used)], values)
    return form.text, [static_shape(argument.type) for argument in used]


GRADIENTS = sorted((CORPUS / "gradients").glob("*.mlir"))


@pytest.mark.parametrize("path", GRADIENTS, ids=lambda path: path.stem)
def test_forms_that_jax_lowers_to(path: Path) -> None:
    """The recipe that a program is named after has the program's form."""
    text, shapes = program_text(path)
    assert recipe_text(RECIPES[path.stem], slots_of(path.stem), shapes) == text


def test_every_body_named_after_jax_is_shown() -> None:
    assert len(GRADIENTS) > 50
    families = {recipe.family for name, recipe in RECIPES.items() if name in {path.stem for path in GRADIENTS}}
    named = {name for name, recipe in RECIPES.items() if recipe.family in families and "_jax" in name}
    assert named <= {path.stem for path in GRADIENTS} | {"tanh_backward_jax", "mae_loss_backward_jax", "huber_loss_jax"}


@pytest.mark.parametrize(
    ("name", "program", "results"),
    [
        ("layer_norm_affine_gradients_jax", "layernorm_backward", [0, 1, 2]),
        ("layer_norm_affine_backward_jax", "layernorm_backward", [0]),
        ("layer_norm_parameters_backward_jax", "layernorm_backward", [1, 2]),
        ("cross_entropy_loss_smooth", "cross_entropy_onehot", [0]),
        ("kl_divergence_logits", "kl_divergence", [0]),
        ("huber_loss_one", "huber_loss", [1]),
        ("smooth_l1_loss_torch", "torch_losses", [0]),
    ],
)
@pytest.mark.parametrize("spelling", ["linalg", "fused"])
def test_forms_of_whole_results(name: str, program: str, results: Sequence[int], spelling: str) -> None:
    text, shapes = program_text(CORPUS / "dev" / program / f"{program}.{spelling}.mlir", results)
    assert recipe_text(RECIPES[name], slots_of(name), shapes) == text


# Real programs fused


def example(type_: Attribute, rng: np.random.Generator) -> Array:
    name, shape = element_name(type_), static_shape(type_)
    values = rng.integers(0, 8, shape) if name == "i32" else rng.uniform(0.1, 1.0, shape)
    return np.asarray(values).astype(numpy_dtype(name))


@pytest.mark.parametrize("path", GRADIENTS, ids=lambda path: path.stem)
def test_programs_are_one_match(path: Path) -> None:
    """Fused, a program is the one recipe; it decomposes to itself (law L2) and gives the same numbers (law L3)."""
    plain = parsed(path)
    module = plain.clone()
    fuse(module, session().registry.entries(), session().gate("numpy"))
    found = [op for op in module.walk() if isinstance(op, FusedOp)]
    assert [session().recipe_of(op) for op in found] == [session().recipe(path.stem)]
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    rng = np.random.default_rng(5)
    arrays = [example(argument.type, rng) for argument in function.args]
    for a, b in zip(*(results(each, arrays, session()) for each in (module, plain.clone())), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    decompose_all(module)
    assert same_program(plain, module)


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("layernorm_backward", ["layer_norm_affine_gradients_jax"]),
        ("cross_entropy_onehot", ["cross_entropy_loss_smooth"]),
        ("kl_divergence", ["kl_divergence_logits"]),
        ("clip_scale", ["clip_by_global_norm_matrix_epsilon"]),
        ("heat_stencil", ["laplacian_slices"]),
        ("logreg_grad", ["softplus_backward_saved", "sum_of_squares"]),
        ("ppo_loss", ["mse_loss"]),
        ("torch_losses", ["smooth_l1_loss_torch", "kl_loss_batchmean"]),
    ],
)
def test_found_in_the_corpus(program: str, wanted: Sequence[str]) -> None:
    matches = session().match(parsed(CORPUS / "dev" / program / f"{program}.linalg.mlir").clone(), backend="numpy")
    assert set(wanted) <= {match.recipe.name for match in matches.chosen}
