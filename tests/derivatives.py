"""Of which forward formula each backward recipe is the derivative, so that it can be compared with differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from backward_references import ROWS, labelled
from loss_references import cross_entropy, huber
from row_references import (
    Array,
    gelu_erf,
    gelu_tanh,
    l2_normalize,
    layer_norm,
    log_softmax,
    logsumexp,
    relu,
    rms_norm,
    silu,
    softmax,
)


@dataclass(frozen=True)
class Derivative:
    """A backward recipe, and the forward formula that it differentiates.

    ``forward`` takes a vector x of n elements; ``arguments`` makes the recipe's from x and the gradient of the forward
    result. ``result`` is the number of the recipe's result that is the gradient of x. x is drawn by ``draw``.
    """

    recipe: str
    forward: Callable[[Array], Array]
    arguments: Callable[[Array, Array], tuple[Any, ...]]
    result: int = 0
    draw: Callable[[np.random.Generator, int], Array] = lambda rng, n: rng.normal(0.3, 1.2, n)


def _derivatives(
    forward: Callable[[Array], Array],
    recipes: Mapping[str, Callable[[Array, Array], tuple[Any, ...]]],
    **changes: Any,
) -> list[Derivative]:
    return [Derivative(name, forward, arguments, **changes) for name, arguments in recipes.items()]


def _plain(x: Array, g: Array) -> tuple[Any, ...]:
    return x, g


def _names(family: str, *bodies: str) -> list[str]:
    return [f"{family}_backward{body}" for body in bodies]


def _same(arguments: Callable[[Array, Array], tuple[Any, ...]], *names: str) -> dict[str, Any]:
    return dict.fromkeys(names, arguments)


def _positive(rng: np.random.Generator, n: int) -> Array:
    return rng.uniform(0.5, 2.0, n)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    return np.log1p(np.exp(x))


EPS = 1e-3
GAIN = np.random.default_rng(3).normal(1.0, 0.5, 64)
OTHER = np.random.default_rng(4).normal(0.0, 1.0, 64)
TARGET = softmax(OTHER[:6])
SHEET = np.random.default_rng(5).normal(0.0, 1.0, (ROWS, 6))


LAYER_GRADIENTS = [f"layer_norm_affine_gradients{body}" for body in ("", "_jax", "_jax_shared", "_accumulating")]
RMS_GRADIENTS = [f"rms_norm_weighted_gradients{body}" for body in ("", "_jax", "_accumulating")]


def _gain(x: Array) -> Array:
    return GAIN[: x.size]


def _other(x: Array) -> Array:
    return OTHER[: x.size]


def _moments(x: Array) -> tuple[Any, Any]:
    return x.mean(), 1 / np.sqrt(x.var() + EPS)


DERIVATIVES: list[Derivative] = [
    *_derivatives(
        softmax,
        {
            **_same(lambda x, g: (softmax(x), g), *_names("softmax", "", "_torch", "_accumulating")),
            "softmax_backward_jax": _plain,
        },
    ),
    *_derivatives(lambda x: softmax(0.25 * x), {"softmax_backward_scaled": lambda x, g: (softmax(0.25 * x), g, 0.25)}),
    *_derivatives(
        log_softmax,
        {
            **_same(lambda x, g: (log_softmax(x), g), *_names("log_softmax", "", "_accumulating")),
            **_same(_plain, *_names("log_softmax", "_input", "_jax")),
        },
    ),
    *_derivatives(logsumexp, _same(_plain, *_names("logsumexp", "", "_jax", "_accumulating"))),
    *_derivatives(
        lambda x: layer_norm(x, np.float64(EPS)),
        {
            **_same(
                lambda x, g: (x, g, EPS),
                *_names("layer_norm", "", "_jax", "_jax_shared", "_jax_var", "_jax_sqrt", "_accumulating"),
            ),
            **_same(lambda x, g: (x, g, *_moments(x)), *_names("layer_norm", "_saved", "_torch")),
        },
    ),
    *_derivatives(
        lambda x: layer_norm(x, np.float64(EPS)) * _gain(x) + 0.5,
        {
            **_same(
                lambda x, g: (x, _gain(x), g, EPS),
                *_names("layer_norm_affine", "", "_terms", "_jax", "_jax_shared", "_accumulating"),
            ),
            "layer_norm_affine_backward_torch": lambda x, g: (x, _gain(x), g, *_moments(x)),
        },
    ),
    *_derivatives(
        lambda gamma: layer_norm(SHEET, np.float64(EPS)) * gamma + 0.5,
        _same(lambda gamma, g: (SHEET, g, EPS), *_names("layer_norm_parameters", "", "_jax", "_accumulating")),
    ),
    *_derivatives(
        lambda beta: layer_norm(SHEET, np.float64(EPS)) * 1.5 + beta,
        _same(lambda beta, g: (SHEET, g, EPS), *_names("layer_norm_parameters", "", "_jax", "_accumulating")),
        result=1,
    ),
    *_derivatives(
        lambda gamma: layer_norm(OTHER[:6], np.float64(EPS)) * gamma,
        {"layer_norm_affine_backward_terms": lambda gamma, g: (OTHER[:6], gamma, g, EPS)},
        result=1,
    ),
    *_derivatives(
        lambda x: layer_norm(x.reshape(2, 3), np.float64(EPS)) * GAIN[:3] + 0.5,
        _same(lambda x, g: (x.reshape(2, 3), GAIN[:3], g, EPS), *LAYER_GRADIENTS),
    ),
    *_derivatives(
        lambda gamma: layer_norm(SHEET, np.float64(EPS)) * gamma + 0.5,
        _same(lambda gamma, g: (SHEET, gamma, g, EPS), *LAYER_GRADIENTS),
        result=1,
    ),
    *_derivatives(
        lambda beta: layer_norm(SHEET, np.float64(EPS)) * GAIN[:6] + beta,
        _same(lambda beta, g: (SHEET, GAIN[:6], g, EPS), *LAYER_GRADIENTS),
        result=2,
    ),
    *_derivatives(
        lambda x: rms_norm(x.reshape(2, 3), np.float64(EPS)) * GAIN[:3],
        _same(lambda x, g: (x.reshape(2, 3), GAIN[:3], g, EPS), *RMS_GRADIENTS),
    ),
    *_derivatives(
        lambda weight: rms_norm(SHEET, np.float64(EPS)) * weight,
        _same(lambda weight, g: (SHEET, weight, g, EPS), *RMS_GRADIENTS),
        result=1,
    ),
    *_derivatives(
        lambda x: rms_norm(x, np.float64(EPS)),
        _same(lambda x, g: (x, g, EPS), *_names("rms_norm", "", "_jax", "_jax_sqrt", "_accumulating")),
    ),
    *_derivatives(
        lambda x: rms_norm(x, np.float64(EPS)) * _gain(x),
        _same(lambda x, g: (x, _gain(x), g, EPS), *_names("rms_norm_weighted", "", "_terms", "_jax", "_accumulating")),
    ),
    *_derivatives(
        lambda weight: rms_norm(OTHER[:6], np.float64(EPS)) * weight,
        {"rms_norm_weighted_backward_terms": lambda weight, g: (OTHER[:6], weight, g, EPS)},
        result=1,
    ),
    *_derivatives(
        lambda weight: rms_norm(SHEET, np.float64(EPS)) * weight,
        _same(lambda weight, g: (SHEET, g, EPS), *_names("rms_norm_weight", "", "_jax", "_accumulating")),
    ),
    *_derivatives(
        lambda x: l2_normalize(x, np.float64(EPS)),
        {
            **_same(lambda x, g: (x, g, EPS), *_names("l2_normalize", "", "_accumulating")),
            "l2_normalize_backward_saved": lambda x, g: (l2_normalize(x, np.float64(EPS)), g, np.sqrt(x @ x)),
        },
    ),
    *_derivatives(  # epsilon above the length of x
        lambda x: l2_normalize(x, np.float64(100.0)),
        _same(lambda x, g: (x, g, 100.0), *_names("l2_normalize", "", "_accumulating")),
    ),
    *_derivatives(lambda x: x.max(-1), _same(_plain, *_names("reduce_max", "", "_mask", "_jax"))),
    *_derivatives(lambda x: x.min(-1), _same(_plain, *_names("reduce_min", "", "_jax"))),
    *_derivatives(
        lambda x: cross_entropy(x, TARGET),
        _same(lambda x, g: (x, TARGET, g), *_names("softmax_cross_entropy", "", "_jax", "_accumulating")),
    ),
    *_derivatives(
        lambda x: cross_entropy(x, 3 * TARGET - 0.25),
        {"softmax_cross_entropy_backward_jax": lambda x, g: (x, 3 * TARGET - 0.25, g)},
    ),
    *_derivatives(
        lambda x: labelled(cross_entropy)(x, np.asarray(2)),
        _same(lambda x, g: (x, 2, g), *_names("softmax_cross_entropy", "_label", "_label_onehot")),
    ),
    # Element-wise
    *_derivatives(relu, _same(_plain, *_names("relu", "", "_torch", "_mask", "_maximum"))),
    *_derivatives(
        sigmoid,
        {
            **_same(lambda x, g: (sigmoid(x), g), *_names("sigmoid", "", "_left", "_square")),
            "sigmoid_backward_jax": _plain,
        },
    ),
    *_derivatives(np.tanh, _same(lambda x, g: (np.tanh(x), g), *_names("tanh", "", "_jax", "_fpowi"))),
    *_derivatives(silu, _same(_plain, *_names("silu", "", "_torch", "_jax"))),
    *_derivatives(gelu_tanh, _same(_plain, *_names("gelu_tanh", "", "_jax"))),
    *_derivatives(gelu_erf, _same(_plain, *_names("gelu_erf", "", "_torch"))),
    *_derivatives(
        softplus,
        {
            **_same(_plain, *_names("softplus", "", "_jax")),
            "softplus_backward_saved": lambda x, g: (x, g, softplus(x)),
        },
    ),
    *_derivatives(
        lambda x: softplus(x) - _gain(x) * x,
        {
            **_same(lambda x, g: (x, _gain(x), g), *_names("bce_with_logits", "", "_jax")),
            "bce_with_logits_backward_baked": lambda x, g: (x, _gain(x), g, -g),
        },
    ),
    *_derivatives(
        lambda x: np.mean((x - _other(x)) ** 2),
        {
            "mse_loss_backward": lambda x, g: (x, _other(x), g, 2 / x.size),
            "mse_loss_backward_jax": lambda x, g: (x, _other(x), g, float(x.size)),
        },
    ),
    *_derivatives(
        lambda x: np.mean(np.abs(x - _other(x))),
        _same(lambda x, g: (x, _other(x), g / x.size), *_names("mae_loss", "", "_jax")),
    ),
    *_derivatives(
        lambda x: np.mean(huber(np.abs(x - _other(x)), 0.75)),
        _same(lambda x, g: (x, _other(x), g / x.size, 0.75), *_names("huber_loss", "", "_select")),
    ),
    *(
        each
        for exponent in (3, 2, 5, 1, 0, -2)
        for each in _derivatives(
            lambda x, k=exponent: x ** float(k),
            {
                "powi_backward": lambda x, g, k=exponent: (x, g, k),
                **_same(lambda x, g, k=exponent: (x, g, float(k), k - 1), *_names("powi", "_baked", "_torch")),
            },
            draw=_positive,
        )
    ),
    *_derivatives(lambda x: x**2, {"powi_backward_square": _plain}),
    *_derivatives(lambda x: x**3, {"powi_backward_cube": _plain}),
    *_derivatives(lambda x: x**4, {"powi_backward_fourth": _plain}),
]
"""Every body of every backward family, row and element-wise."""
