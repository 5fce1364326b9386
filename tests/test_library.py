"""The library of recipes: well-formed, free of doubles, right in its numbers, and found in real programs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from xfuse.backends.numpy.source import Writer
from xfuse.canonical.build import GraphBuilder, build_body
from xfuse.canonical.form import canonical_form
from xfuse.canonical.graph import Graph, Reference, Value
from xfuse.library import library_files
from xfuse.parser import default_context, load_module, parse_module
from xfuse.primitives import literals
from xfuse.primitives.element_types import FLOATS, is_float, numpy_dtype
from xfuse.primitives.table import PRIMITIVES
from xfuse.shipped import shipped_recipes
from xfuse_dialects.xfuse import SCALAR, LibraryOp, RecipeOp

CORPUS = Path(__file__).parent / "corpus"
PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
COUNT = 257

Array = NDArray[Any]


# The library, read once


@cache
def element_wise_files() -> list[Path]:
    """The files whose recipes have no core dimensions; the others have tests of their own."""
    others = {recipe.family for recipe in shipped_recipes() if not recipe.is_scalar}
    return [path for path in library_files() if path.stem not in others]


@cache
def recipes() -> dict[str, dict[str, RecipeOp]]:
    """All recipes by name, by family."""
    found: dict[str, dict[str, RecipeOp]] = {}
    for path in element_wise_files():
        (library,) = load_module(path).body.block.ops
        assert isinstance(library, LibraryOp)
        found[path.stem] = {op.sym_name.data: op for op in library.body.block.ops if isinstance(op, RecipeOp)}
    return found


RECIPES = {name: (family, recipe) for family, members in recipes().items() for name, recipe in members.items()}


def written_type(recipe: RecipeOp) -> str | None:
    """The element type that a polymorphic recipe is written at, the widest of its list."""
    return None if recipe.element_types is None else str(recipe.element_types.data[-1])


def element_types(recipe: RecipeOp) -> list[str | None]:
    """The element types that a recipe is good for; None stands for the written types."""
    return [None] if recipe.element_types is None else [str(each) for each in recipe.element_types.data]


def substitution(recipe: RecipeOp, element_type: str | None) -> dict[str, str]:
    written = written_type(recipe)
    return {} if written is None or element_type is None else {written: element_type}


def argument_names(recipe: RecipeOp) -> list[str]:
    names = [argument.name_hint for argument in recipe.body.block.args]
    assert all(names)
    return [str(name) for name in names]


def identity_text(recipe: RecipeOp) -> str:
    """The text that decides whether two recipes are one."""
    builder, results = build_body(recipe)
    written = written_type(recipe)
    names = {} if written is None else {written: "T"}
    return canonical_form(builder.graph, builder.argument_values, results, type_names=names).text


# Form


def test_files() -> None:
    """One library a file, named as the file; its first recipe bears that name too; a comment opens the file."""
    assert library_files() == sorted(library_files())
    for path in element_wise_files():
        text = path.read_text()
        assert text.startswith(f"// {path.stem}"), path
        assert max(map(len, text.splitlines())) <= 120, path
        (library,) = load_module(path).body.block.ops
        assert isinstance(library, LibraryOp)
        assert library.sym_name.data == path.stem
        assert next(iter(recipes()[path.stem])) == path.stem
        for name in recipes()[path.stem]:
            assert f"@{name}" in text.partition("xfuse.library")[0], f"{path.name} does not explain @{name}"


def test_names_are_unique() -> None:
    assert len(RECIPES) == sum(map(len, recipes().values()))
    for family, members in recipes().items():
        assert all(name == family or name.startswith(f"{family}_") for name in members)


def test_recipes_are_elementwise_and_written_at_the_widest_type() -> None:
    for name, (_, recipe) in RECIPES.items():
        builder, results = build_body(recipe)
        form = canonical_form(builder.graph, builder.argument_values, results)
        assert form.is_elementwise, name
        reached = builder.graph.reachable(result.node for result in results)
        assert all(value.node in reached for value in builder.argument_values), f"{name} has an unused argument"
        assert all(builder.graph.nodes[n].kind in {*PRIMITIVES, "argument", "constant"} for n in reached), name
        types = element_types(recipe)
        assert types in (
            [None],
            [*FLOATS],
            ["f16", "bf16", "f32"],
            ["f32", "f64"],
            ["f64"],
            ["i8", "i16", "i32", "i64"],
        )
        written = written_type(recipe)
        assert written is None or written in map(str, recipe.body.block.arg_types)


def test_identities_are_distinct() -> None:
    """No two recipes are one; but for the order of the arguments, axpy is fma with a constant factor."""
    seen: dict[str, str] = {}
    permuted: dict[str, str] = {}
    alike: set[frozenset[str]] = set()
    for name, (_, recipe) in RECIPES.items():
        assert seen.setdefault(identity_text(recipe), name) == name
        builder, results = build_body(recipe)
        written = written_type(recipe)
        types = {} if written is None else {written: "T"}
        if len(builder.argument_values) > 4:
            continue
        for order in itertools.permutations(builder.argument_values):
            other = permuted.setdefault(canonical_form(builder.graph, order, results, type_names=types).text, name)
            if other != name:
                alike.add(frozenset((name, other)))
    assert alike == {frozenset(("axpy", "fma"))}


def test_identity_survives_cse_and_renaming() -> None:
    for path in element_wise_files():
        module = load_module(path)
        for op in module.walk():
            for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)):
                value.name_hint = None
        module = parse_module(str(module))
        CommonSubexpressionElimination().apply(default_context(), module)
        again = {op.sym_name.data: op for op in module.walk() if isinstance(op, RecipeOp)}
        for name, recipe in recipes()[path.stem].items():
            assert identity_text(again[name]) == identity_text(recipe), name


# Numbers


def kernel(recipe: RecipeOp, element_type: str | None) -> Callable[..., tuple[Array, ...]]:
    """The recipe at an element type as a NumPy function."""
    builder, results = build_body(recipe, substitution=substitution(recipe, element_type))
    return Writer(builder.graph, builder.argument_values, results, elementwise=True).write().compile()


def rounding_errors(recipe: RecipeOp, element_type: str | None) -> float:
    """What the roundings of a recipe's ops and inexact literals come to, each relative to its own element type."""
    builder, results = build_body(recipe, substitution=substitution(recipe, element_type))
    total = 0.0
    for node in (builder.graph.nodes[n] for n in builder.graph.reachable(result.node for result in results)):
        if node.kind in PRIMITIVES and is_float(node.element_type):
            total += max(1.0, 2 * PRIMITIVES[node.kind].ulp) * 2.0 ** -PRECISION[node.element_type]
    for op in recipe.body.walk():
        if isinstance(op, arith.ConstantOp):
            type_ = builder.element_type(op.result.type)
            exact: float = op.value.value.data
            if is_float(type_) and literals.from_bits(literals.to_bits(exact, type_), type_) != exact:
                total += 2.0 ** -PRECISION[type_]
    return total


def argument_types(recipe: RecipeOp, element_type: str | None) -> list[str]:
    swap = substitution(recipe, element_type)
    return [swap.get(str(each), str(each)) for each in recipe.body.block.arg_types]


def to_type(values: Array, element_type: str) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(numpy_dtype(element_type))


Sampler = tuple[float, float] | Callable[[np.random.Generator], Array]


def choice(*values: float) -> Sampler:
    return lambda rng: rng.choice(np.asarray(values), COUNT)


@dataclass
class Case:
    """What a family computes: the float64 reference, where its arguments come from, and how errors are weighed.

    The error of a body may be ``growth`` times its `rounding_errors`, relative to ``magnitude`` (by default that of
    the result), plus ``slack`` of that magnitude for the bodies that are named there.
    """

    reference: Callable[..., Any]
    samplers: Mapping[str, Sampler] = field(default_factory=dict)
    magnitude: Callable[..., Any] | None = None
    growth: float = 1.0
    derived: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    slack: Mapping[str, float] = field(default_factory=dict)


def erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[float])(x))


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def normal_cdf(x: Array) -> Array:
    return 0.5 * (1 + erf(x / math.sqrt(2)))


def clip(x: Array, lower: Array | float, upper: Array | float) -> Array:
    return np.minimum(np.maximum(x, lower), upper)


def huber(prediction: Array, target: Array, delta: Array | float = 1.0) -> Array:
    distance = np.abs(prediction - target)
    return np.where(distance <= delta, 0.5 * distance**2, delta * (distance - 0.5 * delta))


def smooth_l1(prediction: Array, target: Array, beta: Array) -> Array:
    distance = np.abs(prediction - target)
    return np.where(distance < beta, 0.5 * distance**2 / beta, distance - 0.5 * beta)


def black_scholes(spot: Array, strike: Array, time: Array, rate: Array, volatility: Array) -> tuple[Array, Array]:
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    discounted = strike * np.exp(-rate * time)
    d2 = d1 - spread
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)


def adam(
    parameter: Array,
    gradient: Array,
    first: Array,
    second: Array,
    rate: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    correction1: Array,
    correction2: Array,
    decay: Array | float = 0.0,
) -> tuple[Array, Array, Array]:
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient**2
    step = first / correction1 / (np.sqrt(second / correction2) + epsilon) + decay * parameter
    return parameter - rate * step, first, second


def sgd_momentum(
    parameter: Array, gradient: Array, velocity: Array, rate: Array, momentum: Array, decay: Array | float = 0.0
) -> tuple[Array, Array]:
    velocity = momentum * velocity + gradient + decay * parameter
    return parameter - rate * velocity, velocity


def haversine(latitude1: Array, longitude1: Array, latitude2: Array, longitude2: Array, diameter: Array) -> Array:
    p1, p2, turn = np.radians(latitude1), np.radians(latitude2), np.radians(longitude2 - longitude1)
    return diameter * np.arcsin(np.sqrt(np.sin((p2 - p1) / 2) ** 2 + np.cos(p1) * np.cos(p2) * np.sin(turn / 2) ** 2))


def bearing(latitude1: Array, longitude1: Array, latitude2: Array, longitude2: Array) -> Array:
    p1, p2, turn = np.radians(latitude1), np.radians(latitude2), np.radians(longitude2 - longitude1)
    east = np.sin(turn) * np.cos(p2)
    return np.degrees(np.arctan2(east, np.cos(p1) * np.sin(p2) - np.sin(p1) * np.cos(p2) * np.cos(turn)))


def lstm(input: Array, forget: Array, cell: Array, output: Array, state: Array) -> tuple[Array, Array]:
    state = sigmoid(forget) * state + sigmoid(input) * np.tanh(cell)
    return sigmoid(output) * np.tanh(state), state


def bce_with_logits(logit: Array, label: Array, weight: Array | float = 1.0) -> Array:
    return weight * label * softplus(-logit) + (1 - label) * softplus(logit)


def murmur_mix(x: Array, seed: Array | int = 0) -> Array:
    state = (x ^ seed).astype(np.uint32)
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return (state ^ (state >> np.uint32(16))).astype(np.int32)


def uniform_from_bits(x: Array) -> Array:
    return (x.astype(np.uint32) >> np.uint32(9)) / 2.0**23


def any_bits(rng: np.random.Generator) -> Array:
    return rng.integers(-(2**31), 2**31, COUNT)


SELU = (1.0507009873554804934193349852946, 1.6732632423543772848170429916717)
BOUNDS: dict[str, Sampler] = {"lower": (-4, 0), "upper": (0, 4)}
DEGREES: dict[str, Sampler] = {
    "latitude1": (-60, -10),
    "latitude2": (10, 60),
    "longitude1": (-60, 0),
    "longitude2": (0, 60),
}
TORCH_GELU = 1e-4
STEP: dict[str, Sampler] = {"rate": (0, 0.1), "momentum": (0.5, 1), "decay": (0, 0.1)}


def power_slope(x: Array, gradient: Array, exponent: Array | None = None, factor: Array | None = None) -> Array:
    power = exponent if factor is None else factor
    return power * x ** (power - 1.0) * gradient


def sigmoid_slope(gradient: Array, x: Array | None = None, y: Array | None = None) -> Array:
    y = sigmoid(x) if y is None else y
    return gradient * y * (1 - y)


def silu_slope(x: Array) -> Array:
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


def gelu_tanh_slope(x: Array) -> Array:
    beta = math.sqrt(2 / math.pi)
    tangent = np.tanh(beta * (x + 0.044715 * x**3))
    return (1 + tangent) / 2 + x / 2 * (1 - tangent**2) * beta * (1 + 3 * 0.044715 * x**2)


def sloped(slope: Callable[[Array], Array]) -> Callable[..., Array]:
    return lambda x, gradient: gradient * slope(x)


def mse_slope(
    prediction: Array, target: Array, gradient: Array, factor: Array | None = None, count: Array | None = None
) -> Array:
    return (2 / count if factor is None else factor) * (prediction - target) * gradient


def away_from_zero(rng: np.random.Generator) -> Array:
    return rng.uniform(0.5, 2, COUNT) * rng.choice([-1, 1], COUNT)


def exp_moved(f: Callable[[Array], Array]) -> Callable[..., Array]:
    return lambda x, bias: f(x + bias)


CASES: dict[str, Case] = {
    "relu": Case(lambda x: np.maximum(x, 0)),
    "relu6": Case(lambda x: clip(x, 0, 6)),
    "clamp": Case(clip, BOUNDS),
    "sigmoid": Case(sigmoid, magnitude=lambda x: 1.0),
    "silu": Case(lambda x: x * sigmoid(x), magnitude=lambda x: abs(x)),
    "swiglu": Case(lambda gate, up: gate * sigmoid(gate) * up, magnitude=lambda gate, up: abs(gate * up)),
    "glu": Case(lambda x, gate: x * sigmoid(gate)),
    "gated_tanh": Case(lambda x, gate: np.tanh(x) * sigmoid(gate)),
    "gelu_tanh": Case(gelu_tanh, magnitude=lambda x: abs(x), slack={"gelu_tanh_torch": TORCH_GELU}),
    "gelu_erf": Case(lambda x: x * normal_cdf(x), magnitude=lambda x: abs(x)),
    "geglu": Case(
        lambda gate, up: gelu_tanh(gate) * up,
        magnitude=lambda gate, up: abs(gate * up),
        slack={"geglu_torch": TORCH_GELU},
    ),
    "geglu_erf": Case(lambda gate, up: gate * normal_cdf(gate) * up, magnitude=lambda gate, up: abs(gate * up)),
    "quick_gelu": Case(lambda x: x * sigmoid(1.702 * x), {"x": (-5, 5)}, lambda x: abs(x)),
    "softplus": Case(softplus, magnitude=lambda x: 1 + abs(x)),
    "mish": Case(lambda x: x * np.tanh(softplus(x)), magnitude=lambda x: abs(x)),
    "log_sigmoid": Case(lambda x: -softplus(-x)),
    "log_add_exp": Case(lambda x, y: np.logaddexp(x, y), magnitude=lambda x, y: abs(x) + abs(y) + 1),
    "hard_sigmoid": Case(lambda x: clip(x + 3, 0, 6) / 6, magnitude=lambda x: 1.0),
    "hard_swish": Case(lambda x: x * clip(x + 3, 0, 6) / 6, magnitude=lambda x: abs(x)),
    "leaky_relu": Case(lambda x, slope=0.01: np.where(x >= 0, x, slope * x), {"slope": (0, 1)}),
    "elu": Case(
        lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
        {"alpha": (0.5, 2)},
        lambda x, **_: 2 + x * (x > 0),
    ),
    "selu": Case(lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x)), magnitude=lambda x: 2 + abs(x)),
    "softsign": Case(lambda x: x / (1 + abs(x))),
    "hard_shrink": Case(lambda x, threshold: np.where(abs(x) > threshold, x, 0), {"threshold": (0, 4)}),
    "add_relu": Case(lambda x, y: np.maximum(x + y, 0)),
    "bias_relu6": Case(lambda x, bias: clip(x + bias, 0, 6)),
    "bias_gelu_tanh": Case(
        exp_moved(gelu_tanh),
        magnitude=lambda x, bias: abs(x) + abs(bias),
        slack={"bias_gelu_tanh_torch": TORCH_GELU},
    ),
    "bias_gelu_erf": Case(exp_moved(lambda x: x * normal_cdf(x)), magnitude=lambda x, bias: abs(x) + abs(bias)),
    "bias_silu": Case(
        exp_moved(lambda x: x * sigmoid(x)), {"x": (-5, 5), "bias": (-5, 5)}, lambda x, bias: abs(x) + abs(bias)
    ),
    "bias_sigmoid": Case(exp_moved(sigmoid), {"x": (-5, 5), "bias": (-5, 5)}, lambda x, bias: 1 + abs(x)),
    "bias_tanh": Case(exp_moved(np.tanh), magnitude=lambda x, bias: 1 + abs(x)),
    "bias_softplus": Case(exp_moved(softplus), {"x": (-5, 5), "bias": (-5, 5)}, lambda x, bias: 1 + abs(x) + abs(bias)),
    "scale_clip": Case(lambda x, scale, lower, upper: clip(x * scale, lower, upper), BOUNDS),
    "clip_scale": Case(lambda x, lower, upper, scale: clip(x, lower, upper) * scale, BOUNDS),
    "clip_by_norm": Case(
        lambda x, limit, sum_of_squares, epsilon: x * np.minimum(limit / (np.sqrt(sum_of_squares) + epsilon), 1),
        {"limit": (0.5, 2), "sum_of_squares": (0, 9), "epsilon": (0.01, 0.1)},
    ),
    "fma": Case(lambda x, y, z: x * y + z, magnitude=lambda x, y, z: abs(x * y) + abs(z)),
    "axpy": Case(lambda x, y, a: a * x + y, magnitude=lambda x, y, a: abs(a * x) + abs(y)),
    "axpby": Case(lambda x, y, a, b: a * x + b * y, magnitude=lambda x, y, a, b: abs(a * x) + abs(b * y)),
    "gradient_step": Case(
        lambda parameter, gradient, rate: parameter - rate * gradient,
        magnitude=lambda parameter, gradient, rate: abs(parameter) + abs(rate * gradient),
    ),
    "lerp": Case(
        lambda start, end, weight: start + weight * (end - start),
        {"weight": (0, 1)},
        lambda start, end, weight: abs(start) + abs(end),
    ),
    "squared_difference": Case(lambda x, y: (x - y) ** 2, growth=2),
    "tanh_sub": Case(lambda x, y: np.tanh(x - y)),
    "logit": Case(lambda p: np.log(p / (1 - p)), {"p": (0.05, 0.95)}, lambda p: 2.0),
    "huber": Case(
        huber,
        {"delta": (0.5, 2)},
        lambda prediction, target, delta=1.0: abs(prediction) + abs(target) + delta,
        growth=4,
        derived={"half_delta": lambda delta, **_: delta / 2},
    ),
    "smooth_l1": Case(
        smooth_l1,
        {"beta": (0.5, 2)},
        lambda prediction, target, beta: abs(prediction) + abs(target) + beta,
        derived={"half_beta": lambda beta, **_: beta / 2, "wide_beta": lambda beta, **_: beta},
    ),
    "bce_with_logits": Case(
        bce_with_logits,
        {"label": choice(0, 0.25, 1), "weight": (0.5, 2)},
        lambda logit, label, weight=1.0: (1 + weight) * (1 + abs(logit)),
    ),
    "normal_cdf": Case(normal_cdf, magnitude=lambda x: 1.0),
    "black_scholes": Case(
        black_scholes,
        {"spot": (80, 120), "strike": (80, 120), "time": (0.1, 2), "rate": (0, 0.05), "volatility": (0.1, 0.6)},
        lambda spot, strike, **_: spot + strike,
    ),
    "adam": Case(
        adam,
        {
            "second": (0.01, 1),
            "rate": (0, 0.1),
            "beta1": choice(0.5, 0.75, 0.875),
            "beta2": choice(0.5, 0.9375),
            "epsilon": (0.001, 0.01),
            "correction1": (0.25, 1),
            "correction2": (0.25, 1),
            "decay": (0, 0.1),
        },
        lambda parameter, gradient, first, second, **_: (
            1 + abs(parameter) + abs(first) + gradient**2 + 10 * abs(gradient)
        ),
        derived={"gain1": lambda beta1, **_: 1 - beta1, "gain2": lambda beta2, **_: 1 - beta2},
    ),
    "sgd_momentum": Case(
        sgd_momentum, STEP, lambda parameter, gradient, velocity, **_: abs(parameter) + abs(gradient) + abs(velocity)
    ),
    "sgd_nesterov": Case(
        lambda parameter, gradient, velocity, rate, momentum: (
            parameter - rate * (gradient + momentum * (momentum * velocity + gradient)),
            momentum * velocity + gradient,
        ),
        STEP,
        lambda parameter, gradient, velocity, **_: abs(parameter) + abs(gradient) + abs(velocity),
    ),
    "haversine": Case(haversine, {**DEGREES, "diameter": (1, 2)}, lambda **_: 1.0, growth=4),
    "bearing": Case(bearing, DEGREES, lambda **_: 180.0),
    "quantize": Case(
        lambda x, scale, zero_point, lower, upper: clip(np.rint(x / scale) + zero_point, lower, upper),
        {
            "x": lambda rng: rng.integers(-64, 64, COUNT) / 8,
            "scale": choice(0.25, 0.5),
            "zero_point": choice(-3, 0, 5),
            "lower": choice(-16, -8),
            "upper": choice(7, 15),
        },
        growth=0,
    ),
    "dequantize": Case(
        lambda x, zero_point, scale: (x - zero_point) * scale,
        {"x": lambda rng: rng.integers(-100, 100, COUNT), "zero_point": choice(-3, 0, 5), "scale": (0.01, 1)},
    ),
    "lstm": Case(
        lambda input, forget, cell, output, state: lstm(input, forget, cell, output, state),
        magnitude=lambda state, **_: 1 + abs(state),
        growth=2,
    ),
    "dropout_residual": Case(
        lambda residual, x, keep, rate, bias=0.0: residual + np.where(keep, (x + bias) / rate, 0),
        {"keep": choice(0, 1), "rate": (0.5, 1)},
        lambda residual, x, rate, keep, bias=0.0: abs(residual) + (abs(x) + abs(bias)) / rate,
    ),
    "batch_norm": Case(
        lambda x, mean, variance, gamma, beta, epsilon: (x - mean) / np.sqrt(variance + epsilon) * gamma + beta,
        {"variance": (0.1, 4), "epsilon": (0.001, 0.01)},
        lambda x, mean, variance, gamma, beta, epsilon: abs((x - mean) * gamma) / np.sqrt(variance) + abs(beta),
    ),
    "srgb_to_linear": Case(
        lambda x: np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4),
        {"x": lambda rng: np.concatenate([rng.uniform(0, 0.039, 100), rng.uniform(0.042, 1, COUNT - 100)])},
        growth=3,
    ),
    "lab_companding": Case(
        lambda x: np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116),
        {"x": lambda rng: np.concatenate([rng.uniform(0, 0.0085, 100), rng.uniform(0.0092, 1, COUNT - 100)])},
    ),
    "murmur_mix": Case(murmur_mix, {"x": any_bits, "seed": any_bits}, growth=0),
    "uniform_from_bits": Case(uniform_from_bits, {"x": any_bits}, growth=0),
    "ppo_surrogate": Case(
        lambda new, old, advantage, lower, upper: np.minimum(
            np.exp(new - old) * advantage, clip(np.exp(new - old), lower, upper) * advantage
        ),
        {"new": (-3, 0), "old": (-3, 0), "lower": (0.5, 0.9), "upper": (1.1, 1.5)},
        growth=4,
    ),
    "powi": Case(
        lambda x, exponent: x**exponent, {"x": away_from_zero, "exponent": choice(-2, -1, 0, 1, 2, 3, 5)}, growth=2
    ),
    "powi_backward": Case(
        power_slope,
        {
            "x": away_from_zero,
            "exponent": choice(-2, -1, 0, 1, 2, 3, 5),
            "factor": choice(-2, -1, 1, 2, 3, 5),
        },
        derived={"lower": lambda factor, **_: factor - 1},
    ),
    "relu_backward": Case(lambda x, gradient: gradient * (x > 0)),
    "sigmoid_backward": Case(sigmoid_slope, {"x": (-5, 5), "y": (0, 1)}, lambda gradient, **_: abs(gradient), growth=2),
    "tanh_backward": Case(
        lambda y, gradient: gradient * (1 - y**2), {"y": (-1, 1)}, lambda y, gradient: 2 * abs(gradient)
    ),
    "silu_backward": Case(sloped(silu_slope), {"x": (-5, 5)}, lambda x, gradient: abs(gradient) * (1 + abs(x))),
    "gelu_tanh_backward": Case(
        sloped(gelu_tanh_slope), {"x": (-5, 5)}, lambda x, gradient: abs(gradient) * (1 + x**2), growth=2
    ),
    "gelu_erf_backward": Case(
        sloped(lambda x: normal_cdf(x) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)),
        {"x": (-5, 5)},
        lambda x, gradient: abs(gradient) * (1 + abs(x)),
    ),
    "softplus_backward": Case(
        lambda x, gradient: gradient * sigmoid(x),
        {"x": (-5, 5)},
        lambda x, gradient: abs(gradient) * (1 + abs(x)),
        growth=2,
        derived={"softplus": lambda x, **_: softplus(x)},
    ),
    "bce_with_logits_backward": Case(
        lambda logit, label, gradient: gradient * (sigmoid(logit) - label),
        {"logit": (-5, 5), "label": choice(0, 0.25, 1)},
        lambda logit, label, gradient: abs(gradient) * (2 + abs(logit)),
        derived={"negative": lambda gradient, **_: -gradient},
    ),
    "mse_loss_backward": Case(
        mse_slope,
        {"factor": (0.01, 1), "count": choice(4, 64, 100)},
        lambda prediction, target, gradient, factor=None, count=1: (
            (abs(prediction) + abs(target)) * abs(gradient) * (2 / count if factor is None else factor)
        ),
    ),
    "mae_loss_backward": Case(lambda prediction, target, gradient: gradient * np.sign(prediction - target)),
    "huber_loss_backward": Case(
        lambda prediction, target, gradient, delta: gradient * clip(prediction - target, -delta, delta),
        {"delta": (0.5, 2)},
        lambda prediction, target, gradient, delta: abs(gradient) * (abs(prediction) + abs(target)),
    ),
}
OWN_REFERENCE: dict[str, Callable[..., Any]] = {
    "powi_cube": lambda x: x**3,
    "powi_fourth": lambda x: x**4,
    "powi_fourth_chain": lambda x: x**4,
    "powi_backward_square": lambda x, gradient: 2 * x * gradient,
    "powi_backward_cube": lambda x, gradient: 3 * x**2 * gradient,
    "powi_backward_fourth": lambda x, gradient: 4 * x**3 * gradient,
    "lstm_forget_bias": lambda input, forget, cell, output, state: lstm(input, forget + 1, cell, output, state),
}
"""References of the few bodies that stand for a shifted function of their family."""


def sample(case: Case, names: Sequence[str], types: Sequence[str], rng: np.random.Generator) -> dict[str, Array]:
    """Arguments by name, at the types of the recipe; derived ones follow from the others."""
    found: dict[str, Array] = {}
    for name, type_ in zip(names, types, strict=True):
        if name in case.derived:
            continue
        sampler = case.samplers.get(name, (-8, 8))
        values = sampler(rng) if callable(sampler) else rng.uniform(*sampler, COUNT)
        if sampler == (-8, 8):
            values[:16] *= 1e-4
        if not is_float(type_) and name not in case.samplers:
            values = np.rint(values)
        found[name] = to_type(values, type_)
    for name, type_ in zip(names, types, strict=True):
        if name in case.derived:
            needed = {key: value.astype(np.float64) for key, value in found.items()}
            found[name] = to_type(case.derived[name](**needed), type_)
    return {name: found[name] for name in names}


def exactly(values: Mapping[str, Array], case: Case) -> dict[str, Array]:
    """The arguments of the reference: exact, without the derived ones."""
    exact: dict[str, Array] = {}
    for name, value in values.items():
        if name in case.derived or name.startswith("gain"):
            continue
        whole = value.dtype.kind in "iu"
        exact[name] = value.astype(bool) if value.dtype == bool else value.astype(np.int64 if whole else np.float64)
    return exact


def as_tuple(values: Any) -> tuple[Array, ...]:
    return values if isinstance(values, tuple) else (values,)


PAIRS = [
    pytest.param(name, element_type, id=f"{name}-{element_type or 'written'}")
    for name, (_, recipe) in RECIPES.items()
    for element_type in element_types(recipe)
]


def test_every_family_has_a_reference() -> None:
    assert CASES.keys() == recipes().keys()


@pytest.mark.parametrize(("name", "element_type"), PAIRS)
def test_numbers(name: str, element_type: str | None) -> None:
    """A body agrees with its family's reference up to the roundings that its ops make at the element type."""
    family, recipe = RECIPES[name]
    case = CASES[family]
    types = argument_types(recipe, element_type)
    values = sample(case, argument_names(recipe), types, np.random.default_rng(7))
    exact = exactly(values, case)
    with np.errstate(all="ignore"):
        got = kernel(recipe, element_type)(*values.values())
        expected = as_tuple(OWN_REFERENCE.get(name, case.reference)(**exact))
    assert len(got) == len(expected) == len(recipe.function_type.outputs)
    swap = substitution(recipe, element_type)
    for result, wanted, type_ in zip(got, expected, recipe.function_type.outputs.data, strict=True):
        result_type = swap.get(str(type_), str(type_))
        assert result.dtype == numpy_dtype(result_type)
        if not is_float(result_type):
            np.testing.assert_array_equal(result.astype(np.int64), wanted)
            continue
        scale = abs(wanted) if case.magnitude is None else case.magnitude(**exact)
        bound = (case.growth * rounding_errors(recipe, element_type) + case.slack.get(name, 0)) * scale
        bound = np.broadcast_to(bound + (2.0**-24 if result_type == "f16" else 2.0**-126), result.shape)
        error = abs(result.astype(np.float64) - wanted)
        worst = int(np.argmax(error - bound))
        assert error[worst] <= bound[worst], (
            f"{name} at {element_type}: got {result[worst]}, expected {wanted[worst]} for "
            f"{ {key: value[worst] for key, value in values.items()} }, "
            f"{error[worst] / bound[worst]:.3g} times the bound"
        )


NAN, INF = math.nan, math.inf
Rows = list[tuple[tuple[float, ...], float, dict[str, float]]]
SPECIALS: dict[str, Rows] = {
    "relu": [((NAN,), NAN, {"relu_where": 0}), ((-INF,), 0, {}), ((INF,), INF, {}), ((-0.0,), 0, {})],
    "relu6": [
        ((NAN,), NAN, {"relu6_torch": 6, "relu6_torch_hardtanh": 0, "relu6_torch_clamp": 0}),
        ((-INF,), 0, {}),
        ((INF,), 6, {}),
    ],
    "clamp": [
        ((NAN, -1, 2), NAN, {"clamp_torch": -1, "clamp_torch_hardtanh": -1}),
        ((-INF, -1, 2), -1, {}),
        ((INF, -1, 2), 2, {}),
        ((0.5, -INF, INF), 0.5, {}),
    ],
    "sigmoid": [((NAN,), NAN, {}), ((INF,), 1, {"sigmoid_ratio": NAN}), ((-INF,), 0, {}), ((0,), 0.5, {})],
    "silu": [((NAN,), NAN, {}), ((INF,), INF, {}), ((-INF,), NAN, {}), ((0,), 0, {}), ((-0.0,), -0.0, {})],
    "swiglu": [((NAN, 1), NAN, {}), ((INF, 1), INF, {}), ((0, 5), 0, {}), ((1, NAN), NAN, {})],
    "glu": [((2, INF), 2, {}), ((2, -INF), 0, {}), ((NAN, 0), NAN, {})],
    "gated_tanh": [((INF, INF), 1, {}), ((-INF, 0), -0.5, {}), ((NAN, 0), NAN, {})],
    "gelu_tanh": [((NAN,), NAN, {}), ((INF,), INF, {}), ((-INF,), NAN, {}), ((0,), 0, {}), ((-0.0,), -0.0, {})],
    "gelu_erf": [((NAN,), NAN, {}), ((INF,), INF, {}), ((-INF,), NAN, {}), ((0,), 0, {}), ((-0.0,), -0.0, {})],
    "quick_gelu": [((NAN,), NAN, {}), ((INF,), INF, {}), ((0,), 0, {})],
    "softplus": [((NAN,), NAN, {}), ((INF,), INF, {}), ((-INF,), 0, {})],
    "mish": [((NAN,), NAN, {}), ((INF,), INF, {}), ((-INF,), NAN, {}), ((0,), 0, {})],
    "log_sigmoid": [((NAN,), NAN, {}), ((INF,), 0, {}), ((-INF,), -INF, {})],
    "log_add_exp": [
        ((NAN, 0), NAN, {}),
        ((0, -INF), 0, {}),
        ((INF, 0), INF, {}),
        ((-INF, -INF), NAN, {"log_add_exp_jax": -INF}),
    ],
    "hard_sigmoid": [((NAN,), NAN, {"hard_sigmoid_torch": 0}), ((INF,), 1, {}), ((-INF,), 0, {}), ((0,), 0.5, {})],
    "hard_swish": [((NAN,), NAN, {}), ((INF,), INF, {}), ((-INF,), NAN, {}), ((0,), 0, {})],
    "elu": [((NAN, 1), NAN, {}), ((INF, 1), INF, {}), ((-INF, 1), -1, {}), ((0, 1), 0, {})],
    "leaky_relu": [((NAN, 0.25), NAN, {}), ((INF, 0.25), INF, {}), ((-INF, 0.25), -INF, {}), ((0, 0.25), 0, {})],
    "selu": [((NAN,), NAN, {}), ((INF,), INF, {}), ((0,), 0, {})],
    "softsign": [((NAN,), NAN, {}), ((INF,), NAN, {}), ((0,), 0, {})],
    "hard_shrink": [((NAN, 1), 0, {}), ((INF, 1), INF, {}), ((1, 1), 0, {})],
    "add_relu": [((NAN, 0), NAN, {"add_relu_where": 0}), ((-INF, 1), 0, {}), ((INF, -INF), NAN, {"add_relu_where": 0})],
    "logit": [((0,), -INF, {}), ((1,), INF, {}), ((0.5,), 0, {}), ((2,), NAN, {}), ((NAN,), NAN, {})],
    "normal_cdf": [((NAN,), NAN, {}), ((INF,), 1, {}), ((-INF,), 0, {}), ((0,), 0.5, {})],
    "huber": [((INF, 0, 1, 0.5), INF, {}), ((NAN, 0, 1, 0.5), NAN, {}), ((1, 1, 1, 0.5), 0, {})],
    "squared_difference": [((INF, 0), INF, {}), ((INF, INF), NAN, {}), ((1, 1), 0, {})],
    "clip_by_norm": [((3, 1, 0, 0), 3, {}), ((3, 1, INF, 0), 0, {})],
    "relu_backward": [
        ((NAN, 3), 0, {}),
        ((0, 3), 0, {"relu_backward_maximum": 1.5}),
        ((INF, 3), 3, {}),
        ((-1, INF), 0, {"relu_backward_mask": NAN, "relu_backward_maximum": NAN}),
        ((1, NAN), NAN, {}),
    ],
    "sigmoid_backward": [((0, 3), 0, {"sigmoid_backward_jax": 0.75}), ((NAN, 1), NAN, {})],
    "tanh_backward": [((0, 3), 3, {}), ((1, 3), 0, {}), ((-1, 3), 0, {}), ((NAN, 1), NAN, {})],
    "softplus_backward": [
        ((INF, 3, INF), NAN, {"softplus_backward_jax": 3, "softplus_backward_saved": 3}),
        ((-INF, 3, 0), 0, {}),
        ((NAN, 3, NAN), NAN, {}),
    ],
    "mae_loss_backward": [
        ((2, 2, 3), 0, {"mae_loss_backward_jax": 3}),
        ((2, 1, 3), 3, {}),
        ((1, 2, 3), -3, {}),
        ((NAN, 1, 3), 0, {"mae_loss_backward_jax": -3}),
    ],
    "huber_loss_backward": [((INF, 0, 3, 1), 3, {}), ((-INF, 0, 3, 1), -3, {}), ((1, 1, 3, 1), 0, {})],
}
"""Per family: arguments, result, and what other bodies give. A result of -0 is told from 0. A body with fewer
arguments has the others baked."""


@pytest.mark.parametrize("family", SPECIALS)
def test_special_values(family: str) -> None:
    for name, recipe in recipes()[family].items():
        if not all(is_float(type_) for type_ in map(str, recipe.body.block.arg_types)):
            continue
        for element_type in element_types(recipe):
            run = kernel(recipe, element_type)
            types = argument_types(recipe, element_type)
            for given, wanted, others in SPECIALS[family]:
                arguments = [to_type(np.array([value]), type_) for value, type_ in zip(given, types, strict=False)]
                with np.errstate(all="ignore"):
                    (result,) = run(*arguments)
                expected = others.get(name, wanted)
                got = float(result[0])
                assert got == expected or (math.isnan(got) and math.isnan(expected)), (
                    f"{name} at {element_type} of {given}"
                )
                if expected == 0 and math.copysign(1, expected) < 0:
                    assert math.copysign(1, got) < 0, f"{name} at {element_type} of {given}"


# Occurrences in real programs


def bound_text(recipe: RecipeOp, element_type: str, slots: Mapping[str, float]) -> str:
    """The form of a recipe at an element type with literals in some of its scalar slots."""
    builder = GraphBuilder(substitution=substitution(recipe, element_type))
    for position, (name, argument) in enumerate(zip(argument_names(recipe), recipe.body.block.args, strict=True)):
        if name in slots:
            assert SCALAR in recipe.marks(position), f"{name} is no scalar slot"
            type_ = builder.element_type(argument.type)
            builder.values[argument] = builder.graph.constant(type_, literals.to_bits(slots[name], type_))
        else:
            builder.argument(argument)
    results = builder.block(recipe.body.block)
    return canonical_form(builder.graph, builder.argument_values, results).text


def cut_text(graph: Graph, arguments: Sequence[int], results: Sequence[int]) -> str:
    """The form of the element-wise ops between some nodes and others."""
    part = Graph()
    fresh: dict[int, Value] = {}

    def make(number: int, references: Sequence[Value]) -> Value:
        node = graph.nodes[number]
        if node.kind == "constant":
            return part.constant(node.element_type, int(str(node.attributes[0][1])))
        assert node.kind in PRIMITIVES, f"{node.kind} is not element-wise"
        return part.pointwise(node.kind, node.element_type, node.attributes, references, ())

    for position, number in enumerate(arguments):
        node = graph.nodes[number]._replace(kind="argument", attributes=(("number", position),), references=(), rank=0)
        fresh[number] = Value(part.intern(node), (), ())

    def visit(number: int) -> None:
        stack = [number]
        while stack:
            top = stack[-1]
            references: Sequence[Reference] = () if top in fresh else graph.nodes[top].references
            missing = [reference.node for reference in references if reference.node not in fresh]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if top not in fresh:
                fresh[top] = make(top, [fresh[reference.node] for reference in references])

    for number in results:
        visit(number)
    return canonical_form(part, [fresh[n] for n in arguments], [fresh[n] for n in results]).text


class Program:
    """A program of the corpus, and its values by short names.

    ``arg2`` is an argument of the function and ``ret0`` a result; ``slice1`` the second ``tensor.extract_slice``;
    ``generic3`` the result of the fourth ``linalg.generic``, ``generic3.1`` its second operand, and
    ``generic3:arith.select`` the last op of that name in its body, ``generic3:arith.select-1`` the one before.
    """

    def __init__(self, path: str) -> None:
        module = load_module(CORPUS / path)
        (self.function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
        self.builder = GraphBuilder()
        for argument in self.function.args:
            self.builder.argument(argument)
        self.results = self.builder.block(self.function.body.block)
        self.generics = [op for op in self.function.body.block.ops if isinstance(op, GenericOp)]
        self.slices = [op for op in self.function.body.block.ops if isinstance(op, tensor.ExtractSliceOp)]

    def node(self, name: str) -> int:
        if name.startswith("arg"):
            return self.builder.argument_values[int(name[3:])].node
        if name.startswith("ret"):
            return self.results[int(name[3:])].node
        if name.startswith("slice"):
            return self.builder.values[self.slices[int(name[5:])].results[0]].node
        name, _, inside = name.removeprefix("generic").partition(":")
        if inside:
            kind, _, before = inside.partition("-")
            ops: list[Operation] = [op for op in self.generics[int(name)].body.block.ops if op.name == kind]
            return self.builder.values[ops[-1 - int(before or 0)].results[0]].node
        name, _, operand = name.partition(".")
        op = self.generics[int(name)]
        return self.builder.values[op.operands[int(operand)] if operand else op.results[0]].node


@cache
def program(path: str) -> Program:
    return Program(path)


SPELLINGS = (
    "arith",
    "arith_commuted",
    "arith_dyn_rows",
    "elementwise_to_linalg",
    "elementwise_to_linalg_dyn",
    "from_jax",
    "fused",
    "generalized",
    "implicit_broadcast",
    "named",
)
VARIANTS = {
    "relu_add": dict.fromkeys(SPELLINGS, "add_relu"),
    "gelu_tanh": {**dict.fromkeys(SPELLINGS, "gelu_tanh"), "from_jax": "gelu_tanh_jax"},
    "silu_mul": {
        **dict.fromkeys(SPELLINGS, "swiglu"),
        "generalized": "swiglu_div_sub",
        "named": "swiglu_div_sub",
    },
}


@pytest.mark.parametrize("pattern", VARIANTS)
def test_whole_variants(pattern: str) -> None:
    """Each spelling of one function is some body of its family at f32, argument for argument; near misses are none."""
    for spelling, name in VARIANTS[pattern].items():
        read = program(f"variants/{pattern}/{spelling}.mlir")
        builder = read.builder
        text = canonical_form(builder.graph, builder.argument_values, read.results).text
        assert text == bound_text(RECIPES[name][1], "f32", {}), spelling
    near = program(f"variants/{pattern}/near_miss.mlir")
    text = canonical_form(near.builder.graph, near.builder.argument_values, near.results).text
    for name, (_, recipe) in RECIPES.items():
        if "f32" in element_types(recipe) and len(recipe.body.block.args) == len(near.builder.argument_values):
            assert text != bound_text(recipe, "f32", {}), name


@dataclass
class Found:
    """An occurrence of a recipe: where its arguments and results are in a program, and its scalar slots' literals."""

    recipe: str
    program: str
    arguments: str
    results: str
    slots: Mapping[str, float] = field(default_factory=dict)


ACTIVATIONS, TORCH_LOSSES, ADAM = "activations_multi", "torch_losses", "adam_step"
ADAM_SLOTS = {
    "rate": 1e-3,
    "beta1": 0.9,
    "gain1": 0.1,
    "beta2": 0.999,
    "gain2": 1e-3,
    "epsilon": 1e-8,
    "decay": 0.01,
}
OCCURRENCES = [
    Found("elu_jax_one", ACTIVATIONS, "arg0", "ret0"),
    Found("hard_swish", ACTIVATIONS, "arg0", "ret1"),
    Found("leaky_relu", ACTIVATIONS, "arg0", "ret2", {"slope": 0.1}),
    Found("mish_jax", ACTIVATIONS, "arg0", "ret3"),
    Found("relu", ACTIVATIONS, "arg0", "ret4"),
    Found("selu_jax", ACTIVATIONS, "arg0", "ret5"),
    Found("silu", ACTIVATIONS, "arg0", "ret6"),
    Found("softplus_jax", ACTIVATIONS, "arg0", "ret7"),
    Found("softsign", ACTIVATIONS, "arg0", "ret8"),
    Found("lstm_forget_bias", "lstm_cell", "slice0 slice1 slice2 slice3 arg2", "ret0 ret1"),
    Found("gated_tanh", "lstm_cell", "ret1 slice3", "ret0"),
    Found("bias_gelu_tanh_jax", "gelu_tanh_bias", "generic0.0 arg2", "ret0"),
    Found("bias_gelu_tanh_jax", "transformer_4layer", "generic20.0 generic20.1", "generic20"),
    Found("bias_gelu_tanh_jax_mixed", "bf16_dense", "generic0 arg2", "ret0"),
    Found("add_relu", "relu_mlp", "generic0.0 arg0", "generic0"),
    Found("add_relu", "dyn_mlp_softmax", "generic0.0 arg2", "generic0"),
    Found("add_relu_torch", "torch_conv_bn_relu", "generic0.0 generic0:arith.addf-1", "ret0"),
    Found("relu_torch", "torch_conv_bn_relu", "generic0:arith.addf", "ret0"),
    Found("bias_gelu_erf_torch", "torch_gelu_ffn", "generic4.0 generic4.1", "generic4:arith.mulf-1"),
    Found("swiglu", "torch_llama_rmsnorm_swiglu", "generic2.0 generic2.1", "generic2"),
    Found("adam_jax", ADAM, "arg0 arg2 arg4 arg6 generic5 generic6", "ret0 ret2 ret4", ADAM_SLOTS),
    Found("adam_jax", ADAM, "arg1 arg3 arg5 arg7 generic5 generic6", "ret1 ret3 ret5", ADAM_SLOTS),
    Found("axpby", ADAM, "arg4 arg2", "ret2", {"a": 0.9, "b": 0.1}),
    Found("huber_one", "huber_loss", "arg0 arg1", "ret0"),
    Found("huber_jax", "huber_loss", "arg0 arg1", "ret0", {"delta": 1.0, "half_delta": 0.5}),
    Found(
        "smooth_l1_torch",
        TORCH_LOSSES,
        "arg0 arg1",
        "generic0:arith.select",
        {"beta": 0.5, "half_beta": 0.25, "wide_beta": 0.5},
    ),
    Found("bce_with_logits_torch_weighted", TORCH_LOSSES, "arg2 arg3 arg4", "ret1"),
    Found("log_sigmoid_torch", TORCH_LOSSES, "arg2", "generic2:arith.subf-3"),
    Found("clamp", "clip_scale", "arg0", "generic0", {"lower": -2.5, "upper": 2.5}),
    Found("clip_by_norm", "clip_scale", "generic0 arg1 generic1", "ret0", {"epsilon": 1e-6}),
    Found("clip_scale", "dyn_elementwise", "arg0", "generic0:arith.mulf", {"lower": -2, "upper": 2, "scale": 0.5}),
    Found("hard_shrink", "dyn_elementwise", "generic0 arg2", "generic1:arith.select"),
    Found("black_scholes_jax", "black_scholes", "arg0 arg1 arg2 arg3 arg4", "ret0 ret1"),
    Found("haversine_jax", "haversine", "arg0 arg1 arg2 arg3", "ret0", {"diameter": 2 * 6371.0088}),
    Found("bearing", "haversine", "arg0 arg1 arg2 arg3", "ret1"),
    Found("quantize", "quantize_dequantize", "arg0 arg1 arg2", "ret0", {"lower": -128, "upper": 127}),
    Found("dequantize", "quantize_dequantize", "ret0 arg2 arg1", "ret1"),
    Found("dropout_residual_bias", "dropout_residual", "arg2 arg0 arg1 arg3", "ret0", {"rate": 0.9}),
    Found(
        "batch_norm_jax", "batchnorm_inference", "arg0 arg1 arg2 arg3 arg4", "generic0:arith.addf", {"epsilon": 1e-3}
    ),
    Found("relu6", "batchnorm_inference", "generic0:arith.addf", "ret0"),
    Found(
        "batch_norm_torch",
        "torch_conv_bn_relu",
        "generic0.1 arg4 arg5 arg2 arg3",
        "generic0:arith.addf-1",
        {"epsilon": 1e-5},
    ),
    Found("softplus_jax", "logreg_grad", "generic1", "generic2"),
    Found("bce_with_logits_jax", "logreg_grad", "generic1 arg3", "generic3:arith.subf"),
    Found("srgb_to_linear", "srgb_to_lab", "arg0", "generic0:arith.select"),
    Found("lab_companding", "srgb_to_lab", "generic1:arith.divf", "generic1"),
    Found("murmur_mix", "hash_mix_u32", "arg0 arg1", "ret0"),
    Found("uniform_from_bits", "hash_mix_u32", "ret0", "ret1"),
    Found(
        "ppo_surrogate",
        "ppo_loss",
        "arg0 arg1 generic2",
        "generic8",
        {"lower": 0.8, "upper": 1.2},
    ),
]


@pytest.mark.parametrize("found", OCCURRENCES, ids=lambda found: f"{found.recipe}-{found.program}-{found.results}")
def test_occurrences(found: Found) -> None:
    """The part of a real program has the form of the recipe at its types, literals by bits."""
    read = program(f"dev/{found.program}/{found.program}.fused.mlir")
    arguments = [read.node(name) for name in found.arguments.split()]
    results = [read.node(name) for name in found.results.split()]
    _, recipe = RECIPES[found.recipe]
    element_type = read.builder.graph.nodes[results[-1]].element_type
    if found.recipe == "quantize":
        element_type = "f32"
    assert cut_text(read.builder.graph, arguments, results) == bound_text(recipe, element_type, found.slots)


def test_literals() -> None:
    """A literal written at f64 has, rounded once, the bits that compilers give the constant at f32."""
    printed = {
        "gelu_tanh": {0.7978845608028654: "0.797884583", 0.044715: "4.471500e-02"},
        "gelu_tanh_torch": {0.7977240352174656: "7.977240e-01"},
        "gelu_erf_torch": {math.sqrt(2): "1.41421354"},
        "selu": {SELU[0]: "1.05070102", SELU[1]: "1.67326319"},
    }
    for name, constants in printed.items():
        _, recipe = RECIPES[name]
        values = [float(op.value.value.data) for op in recipe.body.walk() if isinstance(op, arith.ConstantOp)]
        for value, text in constants.items():
            assert value in values
            assert literals.to_bits(value, "f32") == literals.to_bits(float(text), "f32")
