"""Backward recipes of the library, by rows and matrices: float64 references, as in ``row_references``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from row_references import (
    Array,
    Maker,
    Reference,
    Shape,
    always,
    largest,
    layer_norm,
    log_softmax,
    rms_norm,
    rows,
    scalars,
    softmax,
    units,
    weights,
)

ROWS = 5
"""Rows of the matrices."""

# Arguments


def probabilities(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """A row of probabilities for every item."""
    return softmax(rng.normal(0.0, 1.5, (*loops, n)))


def log_probabilities(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    return log_softmax(rng.normal(0.0, 1.5, (*loops, n)))


def ties(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """Small integers, so that several are the largest or smallest."""
    return rng.integers(-2, 3, (*loops, n)).astype(np.float64)


def labels(rng: np.random.Generator, loops: Shape, n: int) -> Array:
    """An index into a row for every item."""
    return rng.integers(0, n, loops)


def matrices(make: Maker) -> Maker:
    """The same for the rows of a matrix."""
    return lambda rng, loops, n: make(rng, (*loops, ROWS), n)


def between(low: float, high: float) -> Maker:
    """A scalar for every item."""
    return lambda rng, loops, n: rng.uniform(low, high, loops)


# References


def dot(x: Array, y: Array) -> Array:
    return (x * y).sum(-1, keepdims=True)


def softmax_backward(y: Array, gradient: Array, scale: Array | float = 1.0) -> Array:
    return scale * y * (gradient - dot(gradient, y))


def log_softmax_backward(y: Array, gradient: Array) -> Array:
    return gradient - np.exp(y) * gradient.sum(-1, keepdims=True)


def layer_norm_backward(x: Array, gradient: Array, epsilon: Array) -> Array:
    return layer_norm_saved(x, gradient, x.mean(-1), 1 / np.sqrt(x.var(-1) + epsilon))


def layer_norm_saved(x: Array, gradient: Array, mean: Array, scale: Array) -> Array:
    normal = (x - mean[..., None]) * scale[..., None]
    rest = gradient - gradient.mean(-1, keepdims=True)
    return scale[..., None] * (rest - normal * (gradient * normal).mean(-1, keepdims=True))


def layer_norm_parameters(x: Array, gradient: Array, epsilon: Array) -> tuple[Array, Array]:
    return (gradient * layer_norm(x, epsilon)).sum(-2), gradient.sum(-2)


def rms_norm_backward(x: Array, gradient: Array, epsilon: Array) -> Array:
    square = (x**2).mean(-1, keepdims=True) + epsilon
    return (gradient - x * dot(gradient, x) / (x.shape[-1] * square)) / np.sqrt(square)


def l2_normalize_backward(x: Array, gradient: Array, epsilon: Array) -> Array:
    length = np.sqrt(dot(x, x))
    y = x / np.maximum(length, epsilon)
    return (gradient - y * np.where(length > epsilon, dot(gradient, y), 0.0)) / np.maximum(length, epsilon)


def share(mask: Array, gradient: Array) -> Array:
    return mask * gradient[..., None] / mask.sum(-1, keepdims=True)


def reduce_max_backward(x: Array, gradient: Array) -> Array:
    return share(x == x.max(-1, keepdims=True), gradient)


def reduce_min_backward(x: Array, gradient: Array) -> Array:
    return share(x == x.min(-1, keepdims=True), gradient)


def onehot(logits: Array, label: Array) -> Array:
    return (np.arange(logits.shape[-1]) == label.astype(int)[..., None]).astype(np.float64)


def labelled(function: Callable[..., Array]) -> Callable[..., Array]:
    """With a label for the target, and smoothing if two numbers say how."""

    def of_label(logits: Array, label: Array, *rest: Array) -> Array:
        target = onehot(logits, label)
        if len(rest) == 2:
            target = target * rest[0] + rest[1]
        return function(logits, target, *(rest if len(rest) != 2 else ()))

    return of_label


def cross_entropy_backward(logits: Array, target: Array, gradient: Array) -> Array:
    """Of a target that sums to 1."""
    return (softmax(logits) - target) * gradient[..., None]


def cross_entropy_backward_of_any(logits: Array, target: Array, gradient: Array) -> Array:
    """Of any target, also one that does not sum to 1."""
    return (softmax(logits) * target.sum(-1, keepdims=True) - target) * gradient[..., None]


# Magnitudes


def spread(x: Array) -> Array:
    """How far a row's elements are from the largest: exponentials of differences are off by as many roundings."""
    return 1 + (x.max(-1, keepdims=True) - x.min(-1, keepdims=True))


def softmax_magnitude(y: Array, gradient: Array, scale: Array | float = 1.0) -> Array:
    return 2 * scale * largest(y) * largest(gradient)


def log_softmax_magnitude(y: Array, gradient: Array) -> Array:
    return largest(gradient) + np.exp(y).max(-1, keepdims=True) * np.abs(gradient).sum(-1, keepdims=True)


def layer_norm_magnitude(x: Array, gradient: Array, epsilon: Array) -> Array:
    """Of x beside its spread, and of terms that cancel where there are few elements."""
    scale = 1 / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return scale * largest(gradient) * (1 + (largest(x) * scale) ** 2)


def layer_norm_saved_magnitude(x: Array, gradient: Array, mean: Array, scale: Array) -> Array:
    normal = (x - mean[..., None]) * scale[..., None]
    return scale[..., None] * largest(gradient) * (1 + largest(x) * scale[..., None]) * (1 + largest(normal))


def parameters_magnitude(x: Array, gradient: Array, epsilon: Array) -> tuple[Array, Array]:
    scale = 1 / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    terms = np.abs(gradient) * (np.abs(layer_norm(x, epsilon)) + largest(x) * scale)
    return terms.sum(-2), np.abs(gradient).sum(-2)


def rms_norm_magnitude(x: Array, gradient: Array, epsilon: Array) -> Array:
    return 2 * largest(gradient) / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * np.sqrt(x.shape[-1])


def l2_magnitude(x: Array, gradient: Array, epsilon: Array) -> Array:
    return 2 * np.sqrt(dot(gradient, gradient)) / np.maximum(np.sqrt(dot(x, x)), epsilon)


def softmax_difference_magnitude(logits: Array, target: Array, gradient: Array) -> Array:
    return np.abs(gradient)[..., None] * (1 + (logits.max(-1) - logits.min(-1)))[..., None]


# The table


def bodies(name: str, reference: Reference, *bodies: str, **others: Reference) -> dict[str, Reference]:
    """Bodies that compute one function of the same arguments; the textbook's once more with an accumulator."""
    exact = reference.accumulating(8)
    return {
        **{f"{name}{body}": reference for body in ("", *bodies)},
        f"{name}_accumulating": exact,
        **{f"{name}_{body}": other for body, other in others.items()},
    }


X, G = rows(), rows(1.0, 0.0)
UP = scalars()
EPSILON = always(1e-3)

_SOFTMAX = Reference(softmax_backward, (probabilities, G), units(1), softmax_magnitude)
_LOG_SOFTMAX = Reference(log_softmax_backward, (log_probabilities, G), units(4), log_softmax_magnitude)
_LOGSUMEXP = Reference(
    lambda x, g: softmax(x) * g[..., None],
    (X, UP),
    units(4),
    lambda x, g: np.abs(g)[..., None] * softmax(x).max(-1, keepdims=True) * spread(x),
)
_LAYER = Reference(layer_norm_backward, (X, G, EPSILON), units(3), layer_norm_magnitude)
_SAVED = Reference(layer_norm_saved, (X, G, scalars(), between(0.5, 1.0)), units(4), layer_norm_saved_magnitude)
_AFFINE = Reference(
    lambda x, gamma, g, epsilon: layer_norm_backward(x, gamma * g, epsilon),
    (X, weights(), G, EPSILON),
    units(3),
    lambda x, gamma, g, epsilon: layer_norm_magnitude(x, gamma * g, epsilon),
)
_PARAMETERS = Reference(layer_norm_parameters, (matrices(X), matrices(G), EPSILON), units(6), parameters_magnitude)
_RMS = Reference(rms_norm_backward, (X, G, EPSILON), units(4), rms_norm_magnitude)
_WEIGHTED = Reference(
    lambda x, weight, g, epsilon: rms_norm_backward(x, weight * g, epsilon),
    (X, weights(), G, EPSILON),
    units(4),
    lambda x, weight, g, epsilon: rms_norm_magnitude(x, weight * g, epsilon),
)
_WEIGHT = Reference(
    lambda x, g, epsilon: (g * rms_norm(x, epsilon)).sum(-2),
    (matrices(X), matrices(G), EPSILON),
    units(8),
    lambda x, g, epsilon: np.abs(g * rms_norm(x, epsilon)).sum(-2),
)
_GRADIENTS = Reference(
    lambda x, gamma, g, epsilon: (layer_norm_backward(x, gamma * g, epsilon), *layer_norm_parameters(x, g, epsilon)),
    (matrices(X), weights(), matrices(G), EPSILON),
    units(6),
    lambda x, gamma, g, epsilon: (
        layer_norm_magnitude(x, gamma * g, epsilon),
        *parameters_magnitude(x, g, epsilon),
    ),
)
_WEIGHT_GRADIENTS = Reference(
    lambda x, weight, g, epsilon: (
        rms_norm_backward(x, weight * g, epsilon),
        (g * rms_norm(x, epsilon)).sum(-2),
    ),
    (matrices(X), weights(), matrices(G), EPSILON),
    units(8),
    lambda x, weight, g, epsilon: (
        rms_norm_magnitude(x, weight * g, epsilon),
        np.abs(g * rms_norm(x, epsilon)).sum(-2),
    ),
)
_L2 = Reference(l2_normalize_backward, (X, G, EPSILON), units(3), l2_magnitude)
_MAXIMUM = Reference(reduce_max_backward, (ties, UP), units(2))
_CROSS_BACK = Reference(cross_entropy_backward, (X, probabilities, UP), units(3), softmax_difference_magnitude)
_LABEL_BACK = Reference(labelled(cross_entropy_backward), (X, labels, UP), units(3), softmax_difference_magnitude)


def _of_input(reference: Reference) -> Reference:
    """The derivative of a softmax or log-softmax from its argument."""
    function = reference.function
    own = softmax if reference is _SOFTMAX else log_softmax
    magnitude = reference.magnitude
    assert magnitude is not None
    return replace(
        reference,
        function=lambda x, g: function(own(x), g),
        makers=(X, G),
        magnitude=lambda x, g: magnitude(own(x), g) * spread(x),
    )


REFERENCES: dict[str, Reference] = {
    **bodies(
        "softmax_backward",
        _SOFTMAX,
        "_torch",
        scaled=replace(_SOFTMAX, makers=(*_SOFTMAX.makers, always(0.25))),
        jax=_of_input(_SOFTMAX),
    ),
    **bodies("log_softmax_backward", _LOG_SOFTMAX, input=_of_input(_LOG_SOFTMAX), jax=_of_input(_LOG_SOFTMAX)),
    **bodies("logsumexp_backward", _LOGSUMEXP, "_jax"),
    **bodies("layer_norm_backward", _LAYER, "_jax", "_jax_shared", "_jax_var", "_jax_sqrt", saved=_SAVED, torch=_SAVED),
    **bodies(
        "layer_norm_affine_backward",
        _AFFINE,
        "_jax",
        "_jax_shared",
        terms=replace(
            _AFFINE,
            function=lambda x, gamma, g, epsilon: (
                layer_norm_backward(x, gamma * g, epsilon),
                g * layer_norm(x, epsilon),
            ),
            magnitude=lambda x, gamma, g, epsilon: (
                layer_norm_magnitude(x, gamma * g, epsilon),
                layer_norm_magnitude(x, g, epsilon) * largest(x),
            ),
        ),
        torch=replace(
            _SAVED,
            function=lambda x, gamma, g, mean, scale: layer_norm_saved(x, gamma * g, mean, scale),
            makers=(X, weights(), *_SAVED.makers[1:]),
            magnitude=lambda x, gamma, g, mean, scale: layer_norm_saved_magnitude(x, gamma * g, mean, scale),
        ),
    ),
    **bodies("layer_norm_parameters_backward", _PARAMETERS, "_jax"),
    **bodies("layer_norm_affine_gradients", _GRADIENTS, "_jax", "_jax_shared"),
    **bodies("rms_norm_weighted_gradients", _WEIGHT_GRADIENTS, "_jax"),
    **bodies("rms_norm_backward", _RMS, "_jax", "_jax_sqrt"),
    **bodies(
        "rms_norm_weighted_backward",
        _WEIGHTED,
        "_jax",
        terms=replace(
            _WEIGHTED,
            function=lambda x, weight, g, epsilon: (
                rms_norm_backward(x, weight * g, epsilon),
                g * rms_norm(x, epsilon),
            ),
            magnitude=lambda x, weight, g, epsilon: (
                rms_norm_magnitude(x, weight * g, epsilon),
                largest(g) * largest(rms_norm(x, epsilon)),
            ),
        ),
    ),
    **bodies("rms_norm_weight_backward", _WEIGHT, "_jax"),
    **bodies(
        "l2_normalize_backward",
        _L2,
        saved=Reference(
            lambda y, g, norm: (g - y * dot(g, y)) / norm[..., None],
            (probabilities, G, between(0.5, 2.0)),
            units(3),
            lambda y, g, norm: (largest(g) + largest(y) * np.abs(dot(np.abs(g), y))) / norm[..., None],
        ),
    ),
    "reduce_max_backward": _MAXIMUM,
    "reduce_max_backward_mask": _MAXIMUM,
    "reduce_max_backward_jax": _MAXIMUM,
    "reduce_min_backward": replace(_MAXIMUM, function=reduce_min_backward),
    "reduce_min_backward_jax": replace(_MAXIMUM, function=reduce_min_backward),
    **bodies(
        "softmax_cross_entropy_backward",
        _CROSS_BACK,
        jax=replace(_CROSS_BACK, function=cross_entropy_backward_of_any),
        label=_LABEL_BACK,
        label_onehot=_LABEL_BACK,
    ),
}
"""By recipe."""
