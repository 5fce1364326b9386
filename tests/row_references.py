"""What the row and matrix recipes of the library compute: float64 references, arguments to try, and error bounds.

A reference is a formula in NumPy, written apart from the recipes and stable where that matters. It takes the arguments
as float64 arrays with any leading dimensions and gives the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Shape = tuple[int, ...]
Maker = Callable[[np.random.Generator, Shape, int], Array]

PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
NARROW = ("f16", "bf16")
SMALLEST = {"f16": 2.0**-24, "bf16": 2.0**-133}
"""The smallest numbers above zero."""


@dataclass(frozen=True)
class Reference:
    """``makers`` make the arguments from a generator, a shape of leading dimensions, and n.

    The error of a result may be ``tolerance[element type]`` times its magnitude. ``magnitude`` gives those of all
    results; without it, a result's is its largest absolute value along the last axis. ``smallest`` is the least n that
    the reference is right for. With ``rounds`` a narrow result may be off by its own rounding on top.
    """

    function: Callable[..., Any]
    makers: tuple[Maker, ...]
    tolerance: Mapping[str, float]
    magnitude: Callable[..., Any] | None = None
    smallest: int = 1
    rounds: bool = False

    def accumulating(self, count: float) -> Reference:
        """The same where everything but the rounding of f16 and bf16 results is at f32 or wider."""
        return replace(self, tolerance={**units(count), **dict.fromkeys(NARROW, count * 2.0**-24)}, rounds=True)

    def arguments(self, rng: np.random.Generator, loops: Shape, n: int) -> list[Array]:
        """Arguments at float64 with these leading dimensions; gains and biases have none."""
        return [make(rng, loops, n) for make in self.makers]

    def results(self, arguments: Sequence[Array]) -> tuple[Array, ...]:
        """The results at float64."""
        return several(self.function(*arguments))

    def errors(self, got: Any, arguments: Sequence[Array], element_type: str) -> list[float]:
        """The error of each result as a multiple of what it may be; infinite for a wrong shape, type or special."""
        wanted = self.results(arguments)
        if self.magnitude is None:
            magnitudes = tuple(np.abs(each).max(-1, keepdims=True) if each.ndim else np.abs(each) for each in wanted)
        else:
            magnitudes = several(self.magnitude(*arguments))
        results = several(got)
        assert len(results) == len(wanted) == len(magnitudes)
        allowed = [np.asarray(each) * self.tolerance[element_type] for each in magnitudes]
        if self.rounds and element_type in NARROW:
            allowed = [a + _rounding(b, element_type) for a, b in zip(allowed, wanted, strict=True)]
        return [_error(np.asarray(a), b, c) for a, b, c in zip(results, wanted, allowed, strict=True)]


def several(values: Any) -> tuple[Array, ...]:
    """The results of a function that gives one, or a tuple of them."""
    return values if isinstance(values, tuple) else (values,)


def _rounding(wanted: Array, element_type: str) -> Array:
    """Half a unit in the last place, of numbers too small to be normal as well; a hundredth for a neighbour's."""
    return 1.01 * np.maximum(np.abs(wanted) * 2.0 ** -PRECISION[element_type], SMALLEST[element_type] / 2)


def _error(got: Array, wanted: Array, allowed: Array) -> float:
    if got.shape != wanted.shape:
        return math.inf
    exact = got.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (exact == wanted) | (np.isnan(exact) & np.isnan(wanted))
        error = np.where(same, 0.0, np.abs(exact - wanted) / np.maximum(allowed, 1e-300))
    error = np.where(np.isnan(error), math.inf, error)
    return float(error.max(initial=0.0))


# Arguments


def rows(spread: float = 2.0, centre: float = 0.5) -> Maker:
    """A row for every item of the leading dimensions."""
    return lambda rng, loops, n: rng.normal(centre, spread, (*loops, n))


def weights(spread: float = 0.5, centre: float = 1.0) -> Maker:
    """One row for all items."""
    return lambda rng, loops, n: rng.normal(centre, spread, n)


def channels(spread: float = 0.5, centre: float = 1.0) -> Maker:
    """One value for each of three channels, for all items."""
    return lambda rng, loops, n: rng.normal(centre, spread, 3)


def groups(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """Three channels of n positions for every item."""
    return rng.normal(0.5, 2.0, (*loops, 3, n))


def scores(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """Queries by n keys for every item: more queries than keys, or fewer."""
    return rng.normal(0.0, 2.0, (*loops, 5, n))


def masks(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """True for two of three, and at one place at least of every row."""
    mask = rng.random((*loops, n)) < 2 / 3
    mask[..., n // 2 : n // 2 + 1] = True
    return mask


def hidden(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """The same, for masks that say what to leave out."""
    return ~masks(rng, loops, n)


def biases(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """Additive masks: 0, or a large negative number."""
    return np.where(masks(rng, loops, n), 0.0, -1e4)


def scalars(spread: float = 1.0) -> Maker:
    """A scalar for every item."""
    return lambda rng, loops, n: rng.normal(0.0, spread, loops)


def always(value: float) -> Maker:
    """A scalar slot."""
    return lambda rng, loops, n: np.asarray(value)


# Bounds


def units(count: float, narrow: float | None = None) -> dict[str, float]:
    """So many units in the last place of each element type; another number at f16 and bf16."""
    return {t: (narrow if narrow is not None and t in NARROW else count) * 2.0**-p for t, p in PRECISION.items()}


# References


def softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def logsumexp(x: Array) -> Array:
    largest = x.max(-1)
    shift = np.where(np.isinf(largest), 0.0, largest)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x - shift[..., None]).sum(-1)) + shift


def log_softmax(x: Array) -> Array:
    return x - logsumexp(x)[..., None]


def largest(x: Array) -> Array:
    return np.abs(x).max(-1, keepdims=True)


def log_softmax_magnitude(x: Array) -> Array:
    """Of the differences from the maximum, which are rounded, and of log n."""
    return (x.max(-1, keepdims=True) - x.min(-1, keepdims=True)) + math.log(x.shape[-1]) + 1.0


def logsumexp_magnitude(x: Array) -> Array:
    return np.abs(x).max(-1) + math.log(x.shape[-1])


def layer_norm(x: Array, epsilon: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


def layer_norm_affine(x: Array, gamma: Array, beta: Array, epsilon: Array) -> Array:
    return layer_norm(x, epsilon) * gamma + beta


def layer_norm_magnitude(x: Array, *rest: Array) -> Array:
    """Of x beside its spread: how roundings of x and of its mean come out; then gain and bias."""
    gamma, beta, epsilon = rest if len(rest) == 3 else (np.ones(1), np.zeros(1), rest[0])
    return largest(x) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * np.abs(gamma) + np.abs(beta)


def moments_magnitude(x: Array, *rest: Array) -> Array:
    """The same where the variance is a difference of two moments."""
    square, spread = (x**2).mean(-1, keepdims=True), x.var(-1, keepdims=True) + rest[-1]
    return layer_norm_magnitude(x, *rest) * square / spread


def standardize(x: Array, epsilon: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + epsilon)


def standardize_magnitude(x: Array, epsilon: Array) -> Array:
    return largest(x) / (x.std(-1, keepdims=True) + epsilon)


def rms_norm(x: Array, epsilon: Array) -> Array:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon)


def rms_norm_weighted(x: Array, weight: Array, epsilon: Array) -> Array:
    return rms_norm(x, epsilon) * weight


def added(norm: Callable[..., Array]) -> Callable[..., tuple[Array, Array]]:
    """A norm behind the addition of a residual: the sum and the normalised row."""
    return lambda x, residual, *rest: (x + residual, norm(x + residual, *rest))


def added_magnitude(norm: Callable[..., Array]) -> Callable[..., tuple[Array, Array]]:
    """The sum may cancel: the magnitude is that of the terms."""

    def magnitude(x: Array, residual: Array, *rest: Array) -> tuple[Array, Array]:
        terms, result = largest(x) + largest(residual), x + residual
        return terms, norm(result, *rest) * terms / largest(result)

    return magnitude


def rms_norm_magnitude(x: Array, weight: Array, epsilon: Array) -> Array:
    return np.abs(rms_norm(x, epsilon)).max(-1, keepdims=True) * np.abs(weight)


def group_norm(x: Array, gamma: Array, beta: Array, epsilon: Array) -> Array:
    flat = x.reshape(*x.shape[:-2], -1)
    return layer_norm(flat, epsilon).reshape(x.shape) * gamma[:, None] + beta[:, None]


def group_norm_magnitude(x: Array, gamma: Array, beta: Array, epsilon: Array) -> Array:
    flat = x.reshape(*x.shape[:-2], -1)
    return layer_norm_magnitude(flat, epsilon)[..., None] * np.abs(gamma)[:, None] + np.abs(beta)[:, None]


def group_moments_magnitude(x: Array, gamma: Array, beta: Array, epsilon: Array) -> Array:
    flat = x.reshape(*x.shape[:-2], -1)
    return moments_magnitude(flat, epsilon)[..., None] * np.abs(gamma)[:, None] + np.abs(beta)[:, None]


def norm(x: Array) -> Array:
    return np.sqrt((x**2).sum(-1, keepdims=True))


def l2_normalize(x: Array, epsilon: Array) -> Array:
    return x / np.maximum(norm(x), epsilon)


def l2_normalize_sum(x: Array, epsilon: Array) -> Array:
    return x / np.sqrt((x**2).sum(-1, keepdims=True) + epsilon)


def cosine_similarity(x: Array, y: Array, epsilon: Array) -> Array:
    return (x / np.maximum(norm(x), epsilon) * (y / np.maximum(norm(y), epsilon))).sum(-1)


def cosine_product(x: Array, y: Array, epsilon: Array) -> Array:
    return (x * y).sum(-1) / np.maximum(norm(x) * norm(y), epsilon)[..., 0]


def one(*arguments: Array) -> Array:
    return np.ones(1)


def mean_square(x: Array) -> Array:
    return (x**2).mean(-1)


def mean_absolute(x: Array) -> Array:
    return np.abs(x).mean(-1)


def sample_variance(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return ((x - x.mean(-1, keepdims=True)) ** 2).sum(-1) / np.float64(x.shape[-1] - 1)


def sample_magnitude(x: Array) -> Array:
    return 2 * (x**2).mean(-1)


def linear(activation: Callable[[Array], Array]) -> Callable[..., Array]:
    return lambda x, weight, bias: activation((x * weight).sum(-1) + bias)


def linear_magnitude(x: Array, weight: Array, bias: Array) -> Array:
    """The terms of the sum, which may cancel; activations have slopes of 1.13 at most."""
    return np.abs(x * weight).sum(-1) + np.abs(bias)


def silu(z: Array) -> Array:
    return z / (1 + np.exp(-z))


def relu(z: Array) -> Array:
    return np.maximum(z, 0)


def gelu_tanh(z: Array) -> Array:
    return 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def gelu_tanh_torch(z: Array) -> Array:
    """With the factor that torch-mlir writes for sqrt(2/pi)."""
    return 0.5 * z * (1 + np.tanh(0.7977240352174656 * (z + 0.044715 * z**3)))


def gelu_erf(z: Array) -> Array:
    return 0.5 * z * (1 + np.asarray(np.vectorize(math.erf, otypes=[float])(z / math.sqrt(2))))


def masked_softmax(values: Array, mask: Array, scale: Array, fill: Array) -> Array:
    return softmax(np.where(mask, values * scale, fill))


def causal_softmax(values: Array, scale: Array, fill: Array) -> Array:
    queries, keys = values.shape[-2:]
    return masked_softmax(values, np.tri(queries, keys, dtype=bool), scale, fill)


def rotary(x: Array, cosine: Array, sine: Array) -> Array:
    half = x.shape[-1] // 2
    return x * cosine + np.concatenate([-x[..., half:], x[..., :half]], -1) * sine


def rotary_magnitude(x: Array, cosine: Array, sine: Array) -> Array:
    return largest(x) * (np.abs(cosine) + np.abs(sine))


# The table

ROW = (rows(),)
NORMED = (rows(), always(1e-5))
AFFINE = (rows(), weights(), weights(0.5, 0.0), always(1e-5))
ADDED = (rows(), rows(1.0, 0.0), weights(), weights(0.5, 0.0), always(1e-5))
WEIGHTED = (rows(), weights(), always(1e-3))
ADDED_WEIGHTED = (rows(), rows(1.0, 0.0), weights(), always(1e-3))
GROUPS = (groups, channels(), channels(0.5, 0.0), always(1e-5))
LINEAR = (rows(1.0, 0.0), rows(1.0, 0.0), scalars())
MASKED = (rows(), masks, always(0.25), always(-1e4))
FILLED = (rows(), hidden, always(0.25), always(-1e4))
CAUSAL = (scores, always(0.25), always(-np.inf))
BIASED = (rows(), biases, always(0.25))
TURNED = (rows(), rows(1.0, 0.0), rows(1.0, 0.0))
PAIR = (rows(), rows(), always(1e-6))


def _all(reference: Reference, family: str, *bodies: str) -> dict[str, Reference]:
    return {f"{family}{body}": reference for body in bodies}


def _linear(name: str, activation: Callable[[Array], Array], *bodies: str) -> dict[str, Reference]:
    plain = Reference(linear(activation), LINEAR, units(8), linear_magnitude)
    exact = plain.accumulating(8)
    return {**{f"{name}{body}": plain for body in ("", *bodies)}, f"{name}_accumulating": exact}


_SOFTMAX = Reference(softmax, ROW, units(16))
_LOG = Reference(log_softmax, ROW, units(8), log_softmax_magnitude)
_LOGSUM = Reference(logsumexp, ROW, units(8), logsumexp_magnitude)
_LAYER = Reference(layer_norm, NORMED, units(8), layer_norm_magnitude)
_AFFINE = Reference(layer_norm_affine, AFFINE, units(8), layer_norm_magnitude)
_ADDED = Reference(added(layer_norm_affine), ADDED, units(8), added_magnitude(layer_norm_magnitude))
_RMS = Reference(rms_norm, NORMED, units(8))
_WEIGHTED = Reference(rms_norm_weighted, WEIGHTED, units(8), rms_norm_magnitude)
_ADDED_RMS = Reference(added(rms_norm_weighted), ADDED_WEIGHTED, units(8), added_magnitude(rms_norm_magnitude))
_GROUP = Reference(group_norm, GROUPS, units(8), group_norm_magnitude)
_STANDARD = Reference(standardize, NORMED, units(8), standardize_magnitude)
_L2 = Reference(l2_normalize, (rows(), always(1e-6)), units(8))
_COSINE = Reference(cosine_similarity, PAIR, units(8), one)
_MEAN = Reference(lambda x: x.mean(-1), ROW, units(8), mean_absolute)
_VARIANCE = Reference(lambda x: x.var(-1), ROW, units(8), mean_square)
_SAMPLE = Reference(sample_variance, ROW, units(8), sample_magnitude)
_BOTH = Reference(lambda x: (x.mean(-1), x.var(-1)), ROW, units(8), lambda x: (mean_absolute(x), mean_square(x)))
_MASKED = Reference(masked_softmax, MASKED, units(16))
_FILLED = Reference(lambda x, mask, scale, fill: masked_softmax(x, ~mask, scale, fill), FILLED, units(16))
_BIASED = Reference(lambda x, bias, scale: softmax(x * scale + bias), BIASED, units(16))
_CAUSAL = Reference(causal_softmax, CAUSAL, units(16))
_ROTARY = Reference(rotary, TURNED, units(4), rotary_magnitude)


REFERENCES: dict[str, Reference] = {
    **_all(_SOFTMAX, "softmax", "", "_reciprocal", "_mlir", "_unshifted", "_of_log"),
    "softmax_accumulating": _SOFTMAX.accumulating(16),
    **_all(_LOG, "log_softmax", ""),
    "log_softmax_logsumexp": replace(_LOG, magnitude=lambda x: log_softmax_magnitude(x) + largest(x)),
    "log_softmax_of_softmax": replace(_LOG, makers=(rows(0.5),)),
    "log_softmax_accumulating": _LOG.accumulating(8),
    **_all(_LOGSUM, "logsumexp", "", "_jax", "_torch"),
    "logsumexp_unshifted": replace(_LOGSUM, magnitude=lambda x: logsumexp_magnitude(x) + 1.0),
    "logsumexp_accumulating": _LOGSUM.accumulating(8),
    **_all(_LAYER, "layer_norm", "", "_rsqrt", "_share"),
    "layer_norm_moments": replace(_LAYER, magnitude=moments_magnitude),
    "layer_norm_accumulating": _LAYER.accumulating(8),
    **_all(_AFFINE, "layer_norm_affine", "", "_rsqrt", "_gain_first", "_share"),
    **_all(replace(_AFFINE, magnitude=moments_magnitude), "layer_norm_affine", "_moments", "_flax"),
    "layer_norm_affine_accumulating": _AFFINE.accumulating(8),
    **_all(_ADDED, "add_layer_norm", "", "_rsqrt"),
    **_all(
        replace(_ADDED, magnitude=added_magnitude(moments_magnitude), tolerance=units(16)),
        "add_layer_norm",
        "_moments",
        "_flax",
    ),
    "add_layer_norm_accumulating": _ADDED.accumulating(8),
    **_all(_STANDARD, "standardize", "", "_share"),
    **_all(_RMS, "rms_norm", "", "_rsqrt", "_torch", "_share"),
    "rms_norm_accumulating": _RMS.accumulating(8),
    **_all(_WEIGHTED, "rms_norm_weighted", "", "_rsqrt", "_flax", "_torch", "_share", "_mixed", "_torch_mixed"),
    "rms_norm_weighted_accumulating": _WEIGHTED.accumulating(8),
    **_all(_ADDED_RMS, "add_rms_norm", "", "_rsqrt", "_flax", "_torch", "_mixed", "_torch_mixed"),
    "add_rms_norm_accumulating": _ADDED_RMS.accumulating(8),
    **_all(_GROUP, "group_norm", "", "_rsqrt"),
    "group_norm_flax": replace(_GROUP, magnitude=group_moments_magnitude),
    "group_norm_accumulating": _GROUP.accumulating(8),
    **_all(_L2, "l2_normalize", "", "_torch"),
    "l2_normalize_squared": replace(_L2, function=lambda x, epsilon: l2_normalize(x, np.sqrt(epsilon))),
    **_all(replace(_L2, function=l2_normalize_sum), "l2_normalize", "_sum", "_sum_rsqrt"),
    "l2_normalize_plain": replace(_L2, function=lambda x: x / norm(x), makers=ROW),
    **_all(_COSINE, "cosine_similarity", "", "_torch", "_norms"),
    "cosine_similarity_product": replace(_COSINE, function=cosine_product),
    "cosine_similarity_plain": replace(
        _COSINE, function=lambda x, y: cosine_product(x, y, np.zeros(())), makers=ROW * 2
    ),
    **_all(_MEAN, "mean", "", "_share"),
    "mean_accumulating": _MEAN.accumulating(8),
    **_all(_VARIANCE, "variance", "", "_moments", "_moments_clamped", "_share"),
    "variance_accumulating": _VARIANCE.accumulating(8),
    "sample_variance": _SAMPLE,
    "sample_variance_accumulating": _SAMPLE.accumulating(8),
    **_all(_BOTH, "mean_variance", "", "_moments", "_moments_clamped", "_share"),
    "mean_variance_accumulating": _BOTH.accumulating(8),
    **_linear("fused_linear", lambda z: z),
    **_linear("fused_linear_relu", relu, "_torch", "_onto_bias"),
    **_linear("fused_linear_silu", silu, "_div", "_onto_bias"),
    **_linear("fused_linear_gelu_tanh", gelu_tanh, "_jax", "_onto_bias"),
    "fused_linear_gelu_tanh_torch": Reference(linear(gelu_tanh_torch), LINEAR, units(8), linear_magnitude),
    **_linear("fused_linear_gelu_erf", gelu_erf, "_torch", "_onto_bias"),
    "masked_softmax": _MASKED,
    "masked_softmax_div": replace(
        _MASKED, function=lambda x, mask, scale, fill: masked_softmax(x, mask, 1 / scale, fill)
    ),
    "masked_softmax_unscaled": replace(
        _MASKED,
        function=lambda x, mask, fill: masked_softmax(x, mask, np.ones(()), fill),
        makers=(*MASKED[:2], MASKED[3]),
    ),
    "masked_softmax_filled": _FILLED,
    "masked_softmax_filled_div": replace(
        _FILLED, function=lambda x, mask, scale, fill: masked_softmax(x, ~mask, 1 / scale, fill)
    ),
    "masked_softmax_accumulating": _MASKED.accumulating(16),
    "masked_softmax_additive": _BIASED,
    "masked_softmax_additive_div": replace(_BIASED, function=lambda x, bias, scale: softmax(x / scale + bias)),
    "masked_softmax_additive_accumulating": _BIASED.accumulating(16),
    **_all(_CAUSAL, "masked_softmax_causal", "", "_jax"),
    **_all(
        replace(_CAUSAL, function=lambda x, scale, fill: causal_softmax(x, 1 / scale, fill)),
        "masked_softmax_causal",
        "_div",
        "_jax_div",
    ),
    "masked_softmax_causal_jax_unscaled": replace(
        _CAUSAL, function=lambda x, fill: causal_softmax(x, np.ones(()), fill), makers=(CAUSAL[0], CAUSAL[2])
    ),
    "masked_softmax_causal_accumulating": _CAUSAL.accumulating(16),
    "rotary": _ROTARY,
    "rotary_accumulating": _ROTARY.accumulating(4),
}
"""By recipe."""
